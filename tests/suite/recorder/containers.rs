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

/// The first process in its own namespace, with another `/tmp`. It is listed by its number here, with its place, and
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

/// A service with a `/tmp` of its own sees another folder under the name of ours. A message says so at once, and
/// nothing is made there.
#[test]
fn a_folder_that_the_program_sees_otherwise_is_refused() {
    with_jdk("a_folder_that_the_program_sees_otherwise", |jdk, class_path, temporary| {
        let [hidden, seen] = ["hidden", "seen"].map(|name| temporary.join(name));
        std::fs::create_dir(&hidden).expect("made");
        std::fs::create_dir(&seen).expect("made");
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", "mount -t tmpfs none \"$1\" && shift && exec \"$@\"", "sh"]).arg(&hidden);
        command.args([&java(jdk), "-Xmx100m", "-XX:+EnableDynamicAgentLoading", "-cp", class_path, "Leaky"]);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let Ok(mut outer) = spawned else { return jvm::say("  there is no unshare") };
        let mut line = String::new();
        let mut printed = std::io::BufReader::new(outer.stdout.take().expect("its output"));
        std::io::BufRead::read_line(&mut printed, &mut line).expect("its first line");
        let Some(pid) = line.trim().strip_prefix("ready ").and_then(|pid| pid.parse::<u32>().ok()) else {
            let done = outer.wait_with_output().expect("its words");
            return jvm::say(&format!("  nobody but root may mount a disk here: {}", text(&done.stderr)));
        };
        // There is no container of processes: it is the one that was started.
        let killed = KilledAtEnd(pid);
        let attach = |below: &Path| {
            let output = below.join("trace").to_string_lossy().into_owned();
            finish(&mut memory_city(&["attach", &pid.to_string(), "--for", "2s", "-o", &output]))
        };
        let begun = Instant::now();
        let said = text(&attach(&hidden).stderr);
        assert!(said.contains(&format!("Process {pid} sees another folder at ")), "{said}");
        assert!(said.contains("with --output name one that both see"), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(20) && !hidden.join("trace").exists(), "{said}");
        let inside = PathBuf::from(format!("/proc/{pid}/root{}", hidden.display()));
        assert_eq!(std::fs::read_dir(inside).expect("its own folder").count(), 0, "{said}");
        let done = attach(&seen);
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert!(ends(&seen.join("trace")).contains(&"recording was ended from outside".to_owned()));
        drop(killed);
        outer.wait().expect("a status");
    });
}
