//! Which JVMs run here, from the performance data that each keeps in `/tmp/hsperfdata_USER/PID`.

use memory_city_agent::perfdata::{PerfData, perf_files};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Letters of a command line that are shown.
const LONGEST_PROGRAM: usize = 80;

/// A JVM that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningJvm {
    /// Its process.
    pub pid: u32,
    /// The main class, or the path of the jar, with what follows it.
    pub program: String,
    /// `17.0.9+9`.
    pub version: String,
    /// For how long it has run.
    pub age: Option<Duration>,
    /// Bytes of heap in use, as of its last collection.
    pub used: Option<u64>,
}

impl RunningJvm {
    /// The program without its arguments, and without packages and folders: `Main`, `app`.
    pub fn short_name(&self) -> String {
        short_name(&self.program)
    }

    /// The program for one line of a table: no control characters, which a command line may have, and not all of a long one.
    pub fn program_text(&self) -> String {
        self.program.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_PROGRAM).collect()
    }

    /// Whether it writes a warning to the program's standard error when an agent is loaded while it runs: Java 21 and newer, where nobody has
    /// said what is to be with agents.
    pub fn warns_of_agents(&self) -> bool {
        let words = std::fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        warns(&self.version, &words)
    }

    /// For how long it has run: `1:15`, `2h 01m`, or `?`.
    pub fn age_text(&self) -> String {
        match self.age.map(|age| age.as_secs()) {
            None => "?".into(),
            Some(s) if s < 3600 => format!("{}:{:02}", s / 60, s % 60),
            Some(s) => format!("{}h {:02}m", s / 3600, s / 60 % 60),
        }
    }
}

/// By version and command line, whose words end with 0.
fn warns(version: &str, command_line: &[u8]) -> bool {
    let digits = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let is_told = |word: &[u8]| word.ends_with(b"EnableDynamicAgentLoading") && word.starts_with(b"-XX:");
    digits.parse::<u32>().is_ok_and(|major| major >= 21) && !command_line.split(|byte| *byte == 0).any(is_told)
}

/// The name of a program by the first word of its command: `com.acme.Main`, `/opt/app.jar` as `Main`, `app`.
pub fn short_name(program: &str) -> String {
    let first = program.split(' ').next().unwrap_or_default();
    let last = match first.rsplit('/').next().unwrap_or_default() {
        jar if jar.ends_with(".jar") => jar.trim_end_matches(".jar"),
        class => class.rsplit('.').next().unwrap_or_default(),
    };
    let name: String = last.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(40).collect();
    if name.is_empty() { "java".into() } else { name }
}

/// All JVMs that keep performance data (without `-XX:-UsePerfData`) and that this user may look at, by process id.
pub fn running() -> Vec<RunningJvm> {
    perf_files(Path::new("/tmp")).into_iter().filter_map(|(pid, file)| of(pid, &file)).collect()
}

fn of(pid: u32, file: &Path) -> Option<RunningJvm> {
    // Files of JVMs that were killed stay behind, and another program may have their number.
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    if !maps.contains("libjvm.so") {
        return None;
    }
    let data = PerfData::read(file)?;
    let seconds = data.number("sun.rt.createVmEndTime").filter(|t| *t > 0);
    let started = seconds.and_then(|_| std::fs::metadata(PathBuf::from(format!("/proc/{pid}"))).ok()?.modified().ok());
    let used = (0..4).flat_map(|g| (0..6).map(move |s| format!("sun.gc.generation.{g}.space.{s}.used")));
    let used: Vec<i64> = used.filter_map(|name| data.number(&name)).collect();
    Some(RunningJvm {
        pid,
        program: data.text("sun.rt.javaCommand").unwrap_or_default(),
        version: data.text("java.property.java.vm.version").unwrap_or_default(),
        age: started.and_then(|s| s.elapsed().ok()),
        used: (!used.is_empty()).then(|| used.iter().map(|u| (*u).max(0) as u64).sum()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_versions_warn_where_nobody_has_said_otherwise() {
        let told = b"java\0-XX:+EnableDynamicAgentLoading\0Main\0";
        for (version, command, expected) in [
            ("17.0.9+9", &b"java\0Main\0"[..], false),
            ("21.0.2+13-LTS", b"java\0Main\0", true),
            ("25+36", b"java\0Main\0EnableDynamicAgentLoading\0", true),
            ("25+36", told, false),
            ("", b"", false),
        ] {
            assert_eq!(warns(version, command), expected, "{version}");
        }
    }

    #[test]
    fn programs_have_short_names() {
        for (program, name) in [
            ("com.acme.Main --port 80", "Main"),
            ("/opt/my app", "my"),
            ("/opt/shop-2.1.jar x", "shop-2-1"),
            ("Main", "Main"),
            ("", "java"),
            ("org.apache.catalina.startup.Bootstrap start", "Bootstrap"),
        ] {
            assert_eq!(short_name(program), name, "{program}");
        }
    }
}
