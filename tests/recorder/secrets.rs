//! No value of a program is in any file of a trace, however it was recorded and however that ended.

use super::*;

/// What `Leaky` holds in a string, in bytes, characters, and a number; what it is given in an argument, a property and the
/// environment.
const SECRETS: [&str; 7] = [
    "zq-secret-",
    "zq-bytes-of-a-password-0815",
    "zq-characters-of-a-key",
    "zq-numbe",
    "zq-argument-of-the-program",
    "zq-property-of-the-program",
    "zq-environment-of-the-program",
];

#[test]
fn no_secret_of_the_program_is_in_any_file() {
    with_jdks("no_secret_of_the_program", |jdk, class_path, temporary| {
        let property = format!("-Dzq={}", SECRETS[5]);
        let words = |millis: &'static str| ["-Xmx300m", &property, "-cp", class_path, "Leaky", millis, SECRETS[4]];

        // The program ends.
        let folder = temporary.join("ended");
        let (output, java) = (folder.to_string_lossy().into_owned(), java(jdk));
        let begin = |output: &str, millis: &'static str| {
            let mut command = memory_city(&["record", "-o", output, "--walk-every", "500ms", "--", &java]);
            command.args(words(millis)).env("ZQ", SECRETS[6]);
            command
        };
        for millis in ["4000", "12000", "36000"] {
            let _ = std::fs::remove_dir_all(&folder);
            let done = finish(&mut begin(&output, millis));
            assert!(done.status.success(), "{}", text(&done.stderr));
            // A busy machine leaves time for fewer.
            if has_walks(&folder, 2) {
                break;
            }
        }
        has_no_secret(&folder, 2);

        // Program and recording process are killed together: what is left of a walk becomes one when the trace is opened.
        let folder = temporary.join("killed");
        let output = folder.to_string_lossy().into_owned();
        let mut command = begin(&output, "600000");
        let mut recorder = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        // The next one is only asked for when one was taken.
        wait_until("walks", || AgentStatus::read(&folder).is_some_and(|s| s.walks > 1));
        let program = AgentStatus::read(&folder).expect("its state").pid;
        for process in [recorder.id(), program] {
            // SAFETY: no pointers; both are processes that this test has started and that have not been waited for.
            unsafe { libc::kill(process as i32, libc::SIGKILL) };
        }
        recorder.wait().expect("a status");
        wait_until("its end", || !Path::new(&format!("/proc/{program}")).exists());
        assert!(of_trace(&["report"], &folder).0.contains("Leaky$Session"));
        has_no_secret(&folder, 1);

        // Attached to, and watched.
        let flags = ["-Xmx300m", "-XX:+EnableDynamicAgentLoading", &property];
        let program = Program::start_with(jdk, &flags, class_path, "Leaky", &["600000", SECRETS[4]]);
        let (pid, folder) = (program.pid.to_string(), temporary.join("attached"));
        let output = folder.to_string_lossy();
        for time in ["3s", "9s", "27s"] {
            let _ = std::fs::remove_dir_all(&folder);
            let words = ["attach", &pid, "--for", time, "--walk-every", "500ms", "-o", &output];
            let done = finish(&mut memory_city(&words));
            assert!(done.status.success(), "{}", text(&done.stderr));
            if has_walks(&folder, 1) {
                break;
            }
        }
        has_no_secret(&folder, 1);
        let folder = temporary.join("watched");
        std::fs::create_dir(&folder).expect("a folder");
        let file = folder.join("watched.mcity");
        let output = file.to_string_lossy();
        let done = finish(&mut memory_city(&["watch", &pid, "--every", "500ms", "--for", "1s", "-o", &output]));
        assert!(done.status.success(), "{}", text(&done.stderr));
        has_no_secret(&folder, 0);
    });
}

/// Every file of a trace: its bytes as they are, and what is packed in chunks. So many walks are in it at least.
fn has_no_secret(folder: &Path, walks: usize) {
    use std::os::unix::fs::PermissionsExt;
    let secrets: Vec<Vec<u8>> = SECRETS
        .iter()
        .flat_map(|secret| {
            let wide: Vec<u8> = secret.bytes().flat_map(|byte| [byte, 0]).collect();
            let turned: Vec<u8> = secret.bytes().rev().collect();
            [secret.as_bytes().to_vec(), wide, turned]
        })
        .collect();
    let none_in = |bytes: &[u8], what: &dyn std::fmt::Debug| {
        for secret in &secrets {
            let found = memchr::memmem::find(bytes, secret).is_some();
            assert!(!found, "{} in {what:?}", String::from_utf8_lossy(secret));
        }
    };
    let (mut files, mut found) = (vec![folder.to_owned()], 0);
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|e| e.path()));
            continue;
        }
        assert_eq!(path.metadata().expect("facts").permissions().mode() & 0o777, 0o600, "{}", path.display());
        none_in(&std::fs::read(&path).expect("a file"), &path);
        if path.extension().is_some_and(|e| e == "mcity") {
            for_chunks_of(&path, &mut |chunk| {
                found += usize::from(chunk.kind() == ChunkKind::WALK_END);
                none_in(&chunk.payload().expect("a payload"), &(&path, chunk.kind()));
            });
        }
    }
    assert!(found >= walks, "{found} walks in {}", folder.display());
}
