//! JVMs that see other files and processes than we do, as in containers.

use super::*;

/// Ends a process that only its parent ends with otherwise.
struct KilledAtEnd(u32);

impl Drop for KilledAtEnd {
    fn drop(&mut self) {
        // SAFETY: no pointers; the process was started here, and its parent waits for it.
        unsafe { libc::kill(self.0 as i32, libc::SIGKILL) };
    }
}

/// The first process of its own world, whose `/tmp` is another one: it is listed by its number here, with a word on where it is, and
/// watched from here.
#[test]
fn a_program_in_a_container_is_listed_and_watched() {
    with_jdk("a_program_in_a_container", |jdk, class_path, temporary| {
        // What it needs lies where it can see it.
        let classes = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        for file in std::fs::read_dir(class_path).expect("the classes").flatten() {
            let name = file.file_name();
            if name.to_string_lossy().starts_with("Leaky") {
                std::fs::copy(file.path(), classes.path().join(name)).expect("copied");
            }
        }
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
            "sh",
            "-c",
            "mount -t tmpfs none /tmp && exec \"$@\"",
            "sh",
        ]);
        command.args([&java(jdk), "-Xmx100m", "-cp"]).arg(classes.path()).arg("Leaky");
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let Ok(mut outer) = spawned else { return jvm::say("  there is no unshare") };
        let mut line = String::new();
        let mut printed = std::io::BufReader::new(outer.stdout.take().expect("its output"));
        std::io::BufRead::read_line(&mut printed, &mut line).expect("its first line");
        if line.is_empty() {
            let done = outer.wait_with_output().expect("its words");
            return jvm::say(&format!("  no container can be made here: {}", text(&done.stderr)));
        }
        assert_eq!(line.trim(), "ready 1", "the first of its world");
        let children = format!("/proc/{0}/task/{0}/children", outer.id());
        let pid: u32 = std::fs::read_to_string(children).expect("its child").trim().parse().expect("a number");
        let killed = KilledAtEnd(pid);
        let listed = text(&finish(&mut memory_city(&["jvms"])).stdout);
        let row = listed.lines().find(|line| line.trim_start().starts_with(&format!("{pid} "))).unwrap_or_default();
        assert!(row.contains("(in a container) Leaky"), "{pid}: {listed}");
        assert_eq!(listed.matches("Leaky").count(), listed.lines().filter(|line| line.contains("Leaky")).count());
        let file = temporary.join("watched.mcity");
        let (number, output) = (pid.to_string(), file.to_string_lossy());
        let done = finish(&mut memory_city(&["watch", &number, "--every", "300ms", "--for", "1s", "-o", &output]));
        assert!(done.status.success(), "{}", text(&done.stderr));
        let counts = text(&finish(&mut memory_city(&["analyse", "counts", &output])).stdout);
        assert!(counts.contains("Leaky$Session"), "{counts}");
        drop(killed);
        outer.wait().expect("a status");
    });
}
