//! The JVMs that run on this machine, from the performance data that each keeps in `/tmp/hsperfdata_USER/PID`. Those in containers have a
//! `/tmp` and a number of their own: `/proc` of this machine shows both to users who may look at the process.

use super::process::{command_line, inner_pid, owner};
use memory_city_agent::perfdata::{PerfData, perf_files};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The kernel's folder of processes.
const PROCESSES: &str = "/proc";

/// Letters of a command line that are shown.
const LONGEST_PROGRAM: usize = 80;

/// A JVM that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningJvm {
    /// Its process, by its number here.
    pub pid: u32,
    /// The main class, or the path of the jar, with what follows it.
    pub program: String,
    /// `17.0.9+9`.
    pub version: String,
    /// For how long it has run.
    pub age: Option<Duration>,
    /// Bytes of heap in use, as of its last collection.
    pub used: Option<u64>,
    /// Whether it runs in a container: it sees other files, or other processes, than we do.
    pub in_container: bool,
}

impl RunningJvm {
    /// The program without its arguments, and without packages and folders: `Main`, `app`.
    pub fn short_name(&self) -> String {
        short_name(&self.program)
    }

    /// The program for one line of a table: shortened, without the control characters that a command line may have. A prefix says whether
    /// it runs in a container.
    pub fn program_text(&self) -> String {
        let place = if self.in_container { "(in a container) " } else { "" };
        let program = self.program.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_PROGRAM);
        place.chars().chain(program).collect()
    }

    /// Whether loading an agent writes a warning to the program's standard error: Java 21 and newer, without an option on agents.
    pub fn warns_of_agents(&self) -> bool {
        let words = command_line(Path::new(&format!("/proc/{}", self.pid)));
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

/// Whether it warns, by its version and its command line, whose words end with 0.
fn warns(version: &str, command_line: &[u8]) -> bool {
    let digits = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let is_told = |word: &[u8]| word.ends_with(b"EnableDynamicAgentLoading") && word.starts_with(b"-XX:");
    digits.parse::<u32>().is_ok_and(|major| major >= 21) && !command_line.split(|byte| *byte == 0).any(is_told)
}

/// The name of a program by the first word of its command: `com.acme.Main`, `/opt/app.jar` as `Main`, `app`.
pub fn short_name(program: &str) -> String {
    let first = program.split(' ').next().unwrap_or_default();
    match first.contains('/') || first.ends_with(".jar") {
        true => file_name(Path::new(first)),
        false => for_files(first.rsplit('.').next().unwrap_or_default()),
    }
}

/// The same of an executed file: `start` of `./start.sh`, `my-app-1.2` of `/opt/my-app-1.2.jar`.
pub fn file_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let of_script = [".jar", ".sh", ".bash", ".zsh", ".ksh", ".py", ".rb", ".pl"];
    for_files(of_script.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name))
}

/// With letters alone that the names of files may have, and never hidden.
fn for_files(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = name.trim_start_matches('.').chars().map(plain).take(40).collect();
    if name.is_empty() { "java".into() } else { name }
}

/// All JVMs that keep performance data (without `-XX:-UsePerfData`) and that this user may look at, those in containers too, by process id.
pub fn running() -> Vec<RunningJvm> {
    running_by(Path::new(PROCESSES), Path::new("/tmp"))
}

/// The same, from two folders: the kernel's folder of processes, and that of temporary files.
fn running_by(processes: &Path, temporary: &Path) -> Vec<RunningJvm> {
    let contained = contained(processes);
    let is_contained = |pid: u32| contained.iter().any(|(other, _)| *other == pid);
    // A number that is found here is one of here.
    let here =
        perf_files(temporary).into_iter().filter(|(pid, _)| !is_contained(*pid)).filter_map(|(pid, folder_of)| {
            // In the folder of another user it is none of the process's.
            let status = std::fs::read_to_string(processes.join(pid.to_string()).join("status")).ok()?;
            let (owner, _) = owner(&status).filter(|(owner, _)| *owner == folder_of)?;
            of(&processes.join(pid.to_string()), pid, || PerfData::of(temporary, pid, owner))
        });
    let elsewhere = contained.iter().filter_map(|(pid, status)| {
        let process = processes.join(pid.to_string());
        let (inner, (owner, _)) = (inner_pid(status).unwrap_or(*pid), owner(status)?);
        let found = of(&process, *pid, || PerfData::of(&process.join("root/tmp"), inner, owner))?;
        Some(RunningJvm { in_container: true, ..found })
    });
    let mut found: Vec<RunningJvm> = here.chain(elsewhere).collect();
    found.sort_by_key(|jvm| jvm.pid);
    found
}

/// Processes in containers, by their numbers here, with their status from the kernel.
fn contained(processes: &Path) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir(processes).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())));
    let elsewhere = numbered.filter(|(_, process)| is_elsewhere(processes, process));
    let state = |process: PathBuf| std::fs::read_to_string(process.join("status")).unwrap_or_default();
    elsewhere.map(|(pid, process)| (pid, state(process))).collect()
}

/// Whether a process sees other files or processes than this one. Unknown for a process that this user may not look at.
fn is_elsewhere(processes: &Path, process: &Path) -> bool {
    let differs = |space: &str| {
        let of = |process: &Path| std::fs::read_link(process.join("ns").join(space)).ok();
        of(process).zip(of(&processes.join("self"))).is_some_and(|(its, ours)| its != ours)
    };
    differs("mnt") || differs("pid")
}

fn of(process: &Path, pid: u32, data: impl FnOnce() -> Option<PerfData>) -> Option<RunningJvm> {
    // Files of JVMs that were killed stay behind, and another program may have their number.
    let maps = std::fs::read_to_string(process.join("maps")).ok()?;
    if !maps.contains("libjvm.so") {
        return None;
    }
    let data = data()?;
    let seconds = data.number("sun.rt.createVmEndTime").filter(|t| *t > 0);
    let started = seconds.and_then(|_| std::fs::metadata(process).ok()?.modified().ok());
    let used = (0..4).flat_map(|g| (0..6).map(move |s| format!("sun.gc.generation.{g}.space.{s}.used")));
    let used: Vec<i64> = used.filter_map(|name| data.number(&name)).collect();
    Some(RunningJvm {
        pid,
        program: data.text("sun.rt.javaCommand").unwrap_or_default(),
        version: data.text("java.property.java.vm.version").unwrap_or_default(),
        age: started.and_then(|s| s.elapsed().ok()),
        used: (!used.is_empty()).then(|| used.iter().map(|u| (*u).max(0) as u64).sum()),
        in_container: false,
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

    /// A folder like `/proc`, with processes that see the files here and some that do not.
    #[test]
    fn jvms_in_containers_are_those_of_their_own_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let (processes, temporary) = (folder.path().join("proc"), folder.path().join("tmp"));
        let own = std::os::unix::fs::MetadataExt::uid(&folder.path().metadata().expect("it"));
        // The smallest performance data there is.
        let data = [&[0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1][..], &[0; 24]].concat();
        let keep = |below: &Path, pid: u32| {
            let place = below.join("hsperfdata_me");
            std::fs::create_dir_all(&place).expect("made");
            std::fs::write(place.join(pid.to_string()), &data).expect("written");
        };
        let process = |name: &str, spaces: [u32; 2], inner: &str, maps: &str| {
            let place = processes.join(name);
            std::fs::create_dir_all(place.join("ns")).expect("made");
            for (space, number) in ["mnt", "pid"].iter().zip(spaces) {
                std::os::unix::fs::symlink(format!("{space}:[{number}]"), place.join("ns").join(space))
                    .expect("linked");
            }
            std::fs::write(place.join("maps"), maps).expect("written");
            let status = format!("Name:\tx\nUid:\t0\t{own}\t0\t0\nGid:\t0\t0\t0\t0\nNSpid:\t{inner}\n");
            std::fs::write(place.join("status"), status).expect("written");
            place
        };
        let java = "7f00-7f01 r-xp 0 08:01 4 /opt/java/lib/server/libjvm.so\n";
        process("self", [1, 2], "5", "");
        process("5", [1, 2], "5", "7f00-7f01 r-xp 0 08:01 4 /usr/bin/memory-city\n");
        process("20", [1, 2], "20", java);
        keep(&temporary, 20);
        // Left by one that was killed.
        keep(&temporary, 21);
        let inside = process("30", [3, 4], "30\t1", java);
        keep(&inside.join("root/tmp"), 1);
        // Its number here is that of a file which is none of its own.
        process("31", [3, 4], "31\t9", java);
        keep(&temporary, 31);
        // No program of Java, and one that keeps no data.
        keep(&process("32", [3, 4], "32\t2", "").join("root/tmp"), 2);
        process("33", [3, 2], "33", java);
        // A pipe that somebody has named as the data of a process to come.
        let pipe = temporary.join("hsperfdata_you");
        std::fs::create_dir(&pipe).expect("made");
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe.join("34"), rustix::fs::Mode::RUSR).expect("a pipe");
        process("34", [1, 2], "34", java);
        let found = running_by(&processes, &temporary);
        let found: Vec<(u32, bool)> = found.iter().map(|jvm| (jvm.pid, jvm.in_container)).collect();
        assert_eq!(found, [(20, false), (30, true)]);
        assert!(is_elsewhere(&processes, &inside) && !is_elsewhere(&processes, &processes.join("20")));
        assert!(!is_elsewhere(&processes, &processes.join("99")), "nothing is known of it");
    }

    #[test]
    fn programs_have_short_names() {
        for (program, name) in [
            ("com.acme.Main --port 80", "Main"),
            ("/opt/my app", "my"),
            ("/opt/shop-2.1.jar x", "shop-2.1"),
            ("my-app-1.2.3.jar", "my-app-1.2.3"),
            ("/opt/.hidden", "hidden"),
            ("Main", "Main"),
            ("", "java"),
            ("org.apache.catalina.startup.Bootstrap start", "Bootstrap"),
        ] {
            assert_eq!(short_name(program), name, "{program}");
        }
    }
}
