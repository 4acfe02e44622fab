//! Neighbours on the same machine: what they put into `/tmp` under the names of other people's processes.

use super::{finish, memory_city, record, samples_and_gaps, text, with_jdk};
use memory_city_testing::jvm::Program;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

/// As many processes as the test may start, and others beside it meanwhile.
const PROCESSES: u32 = 4000;

/// Pipes and links that are called as the performance data of processes to come keep neither the recorder nor its program waiting, nor who
/// lists, watches or attaches.
#[test]
fn pipes_named_as_processes_keep_nobody_waiting() {
    with_jdk("pipes_named_as_processes", |jdk, class_path, temporary| {
        // The first that are looked at.
        let neighbour = tempfile::Builder::new().prefix("hsperfdata_").tempdir_in("/tmp").expect("a folder");
        let last = std::fs::read_to_string("/proc/sys/kernel/ns_last_pid").ok().and_then(|pid| pid.trim().parse().ok());
        let first = last.unwrap_or_else(std::process::id);
        for pid in first + 1..first + PROCESSES {
            let place = neighbour.path().join(pid.to_string());
            match pid % 3 {
                0 => symlink("/dev/zero", place).expect("linked"),
                _ => rustix::fs::mkfifoat(rustix::fs::CWD, place, rustix::fs::Mode::RUSR).expect("a pipe"),
            }
        }
        std::fs::set_permissions(neighbour.path(), PermissionsExt::from_mode(0o755)).expect("for all");
        // Another user's, where this is root; else as bad as one's own can be.
        let _ = chown(neighbour.path(), Some(12_345), None);
        let folder = temporary.join("trace");
        let done = record(jdk, &folder, &["--interval", "4KB"], &["-cp", class_path, "Leaks", "persons", "2000"]);
        assert!(done.status.success() && samples_and_gaps(&folder).0 > 0, "{}", text(&done.stderr));
        let running = Program::start(jdk, &["-XX:+EnableDynamicAgentLoading"], class_path, "Resting");
        let pid = running.pid.to_string();
        let listed = finish(&mut memory_city(&["jvms"]));
        assert!(text(&listed.stdout).contains(&pid), "{}", text(&listed.stdout));
        let output = |name: &str| temporary.join(name).to_string_lossy().into_owned();
        for words in [
            ["watch", &pid, "--for", "1s", "-o", &output("watched.mcity")],
            ["attach", &pid, "--for", "1s", "-o", &output("attached")],
        ] {
            let done = finish(&mut memory_city(&words));
            assert!(done.status.success() && Path::new(words[5]).exists(), "{}", text(&done.stderr));
        }
    });
}
