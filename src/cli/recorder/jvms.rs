//! The command `jvms`: lists the JVMs that run on this machine. Other commands choose one with [`choose`]: the only one there is, or the
//! one that a person picks at the terminal.

use clap::Args;
use dialoguer::Select;
use dialoguer::console::{Term, truncate_str};
use memory_city::jvm::list::{RunningJvm, running};
use memory_city::terminal;
use memory_city_analysis::tabular::bytes_text;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::{cell_text, printable, shortened};
use std::io::IsTerminal;
use std::process::ExitCode;

#[derive(Args)]
pub struct JvmsArgs {}

/// Prints them.
pub fn jvms(_: &JvmsArgs) -> Result<ExitCode> {
    let all = running();
    if all.is_empty() {
        terminal::status("No JVM of this user runs here (those started with -XX:-UsePerfData do not show).");
    }
    table(&all).into_iter().for_each(terminal::result);
    Ok(ExitCode::SUCCESS)
}

/// The JVM that is meant: the one that is named, the only one, or the one that is chosen from a list.
///
/// # Errors
/// When no JVM is named, and none runs, or several run and there is no terminal to choose at: the error lists them.
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
        several => Err(Error::Shown {
            what: "Several JVMs run here".into(),
            lines: table(several),
            remedy: "Give the process id of one".into(),
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

/// Lines, with a head.
fn table(all: &[RunningJvm]) -> Vec<String> {
    let widest = widest(all);
    let head = format!("{:>8}  {:>9}  {:>8}  {:<widest$}  {}", "PID", "heap", "age", "JVM", "program");
    if all.is_empty() {
        return Vec::new();
    }
    std::iter::once(head).chain(all.iter().map(|jvm| row(jvm, widest))).collect()
}

/// The width of the column with the versions.
fn widest(all: &[RunningJvm]) -> usize {
    all.iter().map(|jvm| version(jvm).chars().count()).max().unwrap_or(0).max(12)
}

fn row(jvm: &RunningJvm, widest: usize) -> String {
    let used = jvm.used.map_or_else(|| "?".into(), bytes_text);
    let program = cell_text(&jvm.program_text());
    format!("{:>8}  {:>9}  {:>8}  {:<widest$}  {program}", jvm.pid, used, jvm.age_text(), version(jvm))
}

/// The version as the JVM gives it: any text.
fn version(jvm: &RunningJvm) -> String {
    printable(&shortened(&jvm.version, 60)).into_owned()
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
        let lines = table(&[
            jvm(7, "com.acme.Main --port 80", Some(Duration::from_secs(75)), Some(12 << 20)),
            jvm(9, "com.acme.Shop", None, None),
            jvm(4_194_303, "/opt/shop.jar\n", Some(Duration::from_secs(7265)), None),
        ]);
        insta::assert_snapshot!(lines.join("\n"));
    }
}
