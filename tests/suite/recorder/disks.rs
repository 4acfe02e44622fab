//! Disks that are full before recording begins: no recording, a message with the reason, and a program that runs as
//! usual.

use super::endings::may_mount;
use super::*;

/// Full from the start, or with room for a part of the beginning: no message claims a recording.
#[test]
fn a_disk_that_is_full_from_the_start_is_the_reason() {
    with_jdk("a_disk_that_is_full_from_the_start", |jdk, class_path, temporary| {
        for (free, how) in [0, 4, 8].into_iter().flat_map(|free| [(free, "record"), (free, "attach")]) {
            let what = format!("JDK {} {how}, {free} KB", jdk.version);
            let disk = temporary.join(format!("{how}-{free}"));
            std::fs::create_dir_all(&disk).expect("a folder");
            let (city, disk) = (env!("CARGO_BIN_EXE_memory-city"), disk.display());
            let program = format!("'{}' -Xmx64m -cp '{class_path}' Ending", java(jdk));
            let command = match how {
                "record" => format!("'{city}' record -o '{disk}/rec' -- {program} return 500"),
                _ => format!(
                    "{program} wait >/dev/null 2>&1 &\npid=$!\nsleep 2\n'{city}' attach $pid --for 1s -o '{disk}/rec'\n\
                     code=$?\nkill -0 $pid && echo runs && kill -9 $pid\n(exit $code)"
                ),
            };
            let line = format!(
                "mount -t tmpfs -o size=100k none '{disk}' || exit 99\n\
                 dd if=/dev/zero of='{disk}/full' bs=1k count={} 2>/dev/null\n{command}\n\
                 code=$?\nls -A '{disk}'\nexit $code",
                100 - free
            );
            if !may_mount("a_disk_that_is_full_from_the_start") {
                return;
            }
            let done = finish(Command::new("unshare").args(["-rm", "sh", "-c", &line]));
            let (printed, said) = (text(&done.stdout), text(&done.stderr));
            assert_eq!(done.status.code(), Some(1), "{what}: {printed} {said}");
            assert!(said.contains("No space left on device"), "{what}: {said}");
            assert!(said.contains("Make room on that disk"), "{what}: {said}");
            assert!(!said.contains("Open it:") && !said.contains("was killed"), "{what}: {said}");
            assert!(how == "record" || printed.contains("runs"), "{what}: {printed} {said}");
            assert!(free == 0 || how == "attach" || printed.contains("done"), "{what}: {printed} {said}");
            assert!(!printed.lines().any(|line| line == "rec"), "{what}: {printed}");
        }
    });
}
