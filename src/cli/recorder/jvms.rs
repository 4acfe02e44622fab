//! `jvms`: the JVMs that run here. Commands that need one and are not told which take the only one there is, or let people on a
//! terminal choose.

use clap::Args;
use dialoguer::Select;
use dialoguer::console::{Term, truncate_str};
use memory_city::jvm::leftovers;
use memory_city::jvm::list::{RunningJvm, running};
use memory_city_analysis::tabular::bytes_text;
use memory_city_heap::error::{Error, Result};
use std::io::IsTerminal;
use std::process::ExitCode;

#[derive(Args)]
pub struct JvmsArgs {}

/// Prints them.
pub fn jvms(_: &JvmsArgs) -> Result<ExitCode> {
    let all = running();
    if all.is_empty() {
        eprintln!("No JVM of this user runs here (those started with -XX:-UsePerfData do not show).");
    }
    print!("{}", table(&all));
    leftovers::finish_forgotten();
    Ok(ExitCode::SUCCESS)
}

/// The JVM that is meant: the one that is named, the only one, or the one that is chosen from a list.
///
/// # Errors
/// When none is named and there is none, or there are several and nobody at a terminal to choose: then they are listed.
pub fn choose(pid: Option<u32>) -> Result<u32> {
    if let Some(pid) = pid {
        return Ok(pid);
    }
    match &running()[..] {
        [] => Err(Error::Unusable {
            what: "No JVM of this user runs here (those started with -XX:-UsePerfData do not show)".into(),
            remedy: "Start one with `memory-city record -- java ...`, or give the process id".into(),
        }),
        [one] => Ok(one.pid),
        several if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() => ask(several),
        several => Err(Error::Unusable {
            what: "Several JVMs run here".into(),
            remedy: format!("Give the process id of one:\n{}", table(several).trim_end()),
        }),
    }
}

/// Lets people choose, by arrows and Enter.
fn ask(several: &[RunningJvm]) -> Result<u32> {
    let terminal = Term::stderr();
    // A line that wraps could not be drawn again in place; the list puts two letters before each.
    let width = usize::from(terminal.size().1).saturating_sub(3);
    let widest = widest(several);
    let rows: Vec<String> = several.iter().map(|jvm| row(jvm, widest)).collect();
    let rows = rows.iter().map(|row| truncate_str(row, width, "…"));
    let prompt = "Several JVMs run here. Arrows and Enter choose one, Escape none";
    let chosen = Select::new().with_prompt(prompt).items(rows).default(0).report(false).interact_on_opt(&terminal);
    let chosen = chosen.ok().flatten().and_then(|at| several.get(at));
    chosen.map(|jvm| jvm.pid).ok_or_else(|| Error::Unusable {
        what: "No JVM was chosen".into(),
        remedy: "Choose one with Enter, or give the process id".into(),
    })
}

fn table(all: &[RunningJvm]) -> String {
    let widest = widest(all);
    let head = format!("{:>8}  {:>9}  {:>8}  {:<widest$}  {}\n", "PID", "heap", "age", "JVM", "program");
    let line = |jvm| row(jvm, widest) + "\n";
    if all.is_empty() { String::new() } else { head + all.iter().map(line).collect::<String>().as_str() }
}

/// The width of the column with the versions.
fn widest(all: &[RunningJvm]) -> usize {
    all.iter().map(|jvm| jvm.version.chars().count()).max().unwrap_or(0).max(12)
}

fn row(jvm: &RunningJvm, widest: usize) -> String {
    let used = jvm.used.map_or_else(|| "?".into(), bytes_text);
    format!("{:>8}  {:>9}  {:>8}  {:<widest$}  {}", jvm.pid, used, jvm.age_text(), jvm.version, jvm.program_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn jvms_are_a_table() {
        let jvm = |pid, program: &str, age, used| RunningJvm {
            pid,
            program: program.into(),
            version: if pid == 9 { "17.0.9+9-Debian-1" } else { "17.0.9+9" }.into(),
            age,
            used,
            in_container: pid == 9,
        };
        insta::assert_snapshot!(table(&[
            jvm(7, "com.acme.Main --port 80", Some(Duration::from_secs(75)), Some(12 << 20)),
            jvm(9, "com.acme.Shop", None, None),
            jvm(4_194_303, "/opt/shop.jar\n", Some(Duration::from_secs(7265)), None),
        ]));
    }
}
