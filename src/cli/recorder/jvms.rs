//! `jvms`: the JVMs that run here. Commands that need one and are not told which choose the only one there is.

use super::leftovers;
use clap::Args;
use memory_city::jvm::list::{RunningJvm, running};
use memory_city_analysis::tabular::bytes_text;
use memory_city_heap::error::{Error, Result};
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

/// The JVM that is meant: the one that is named, or the only one.
///
/// # Errors
/// When none is named and there is none, or there are several: then they are listed.
pub fn choose(pid: Option<u32>) -> Result<u32> {
    if let Some(pid) = pid {
        return Ok(pid);
    }
    match &running()[..] {
        [] => Err(Error::Unusable {
            what: "No JVM of this user runs here".into(),
            remedy: "Start one with `memory-city record -- java ...`, or give the process id".into(),
        }),
        [one] => Ok(one.pid),
        several => Err(Error::Unusable {
            what: format!("Several JVMs run here:\n{}", table(several)),
            remedy: "Give the process id of one".into(),
        }),
    }
}

fn table(all: &[RunningJvm]) -> String {
    let row = |jvm: &RunningJvm| {
        let used = jvm.used.map_or_else(|| "?".into(), bytes_text);
        format!("{:>8}  {:>9}  {:>8}  {:<12}  {}\n", jvm.pid, used, jvm.age_text(), jvm.version, jvm.program_text())
    };
    let head = format!("{:>8}  {:>9}  {:>8}  {:<12}  {}\n", "PID", "heap", "age", "JVM", "program");
    if all.is_empty() { String::new() } else { head + all.iter().map(row).collect::<String>().as_str() }
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
            version: "17.0.9+9".into(),
            age,
            used,
        };
        insta::assert_snapshot!(table(&[
            jvm(7, "com.acme.Main --port 80", Some(Duration::from_secs(75)), Some(12 << 20)),
            jvm(4_194_303, "/opt/shop.jar\n", Some(Duration::from_secs(7265)), None),
        ]));
    }
}
