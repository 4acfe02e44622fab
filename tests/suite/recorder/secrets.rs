//! No value of a program is in any file of a trace, however it was recorded and however that ended.

use super::*;

/// Secrets of `Leaky`: a string, bytes, characters, an array of numbers, a number of a class and one of an object, an
/// argument, a property and the environment.
const SECRETS: [&str; 9] = [
    "zq-secret-",
    "zq-bytes-of-a-password-0815",
    "zq-characters-of-a-key",
    "zq-numbe",
    "zq-class",
    "zq-objec",
    ARGUMENT,
    PROPERTY,
    ENVIRONMENT,
];
const ARGUMENT: &str = "zq-argument-of-the-program";
const PROPERTY: &str = "zq-property-of-the-program";
const ENVIRONMENT: &str = "zq-environment-of-the-program";

/// The property that is one of them.
fn property() -> String {
    format!("-Dzq={PROPERTY}")
}

/// The command that records `Leaky` with all of them.
fn begin(jdk: &Jdk, class_path: &str, folder: &Path, options: &[&str], millis: &str) -> Command {
    let (output, java, property) = (folder.to_string_lossy(), java(jdk), property());
    let program = ["--", &java, "-Xmx300m", &property, "-cp", class_path, "Leaky", millis, ARGUMENT];
    let often = ["record", "-o", &output, "--walk-every", "500ms", "--walk-share", "50"];
    let words = [&often[..], options, &program].concat();
    let mut command = memory_city(&words);
    command.env("ZQ", ENVIRONMENT);
    command
}

/// The program ends, with two walks at least. None of them is in what that leaves, nor in what it is converted to.
fn ends_without_secrets(jdk: &Jdk, class_path: &str, folder: &Path, options: &[&str]) {
    // After half a minute its memory is full.
    for millis in ["3000", "9000", "20000"] {
        let _ = std::fs::remove_dir_all(folder);
        let done = finish(&mut begin(jdk, class_path, folder, options, millis));
        assert!(done.status.success(), "{}", text(&done.stderr));
        // A busy machine leaves time for fewer.
        if has_walks(folder, 2) {
            break;
        }
    }
    has_no_secret(folder, 2);
    for (ending, walks) in [("mcity", 2), ("json", 0)] {
        let one = folder.with_extension(ending);
        let done = finish(&mut memory_city(&["convert", &folder.to_string_lossy(), "-o", &one.to_string_lossy()]));
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert!(file_has_no_secret(&one) >= walks, "{}", one.display());
        // The program's types are in what was searched.
        let (report, said) = of_trace(&["report", "--tree", "--format", "csv"], &one);
        assert!(report.contains("Leaky$Session"), "{}: {said}", one.display());
    }
}

/// RootPaths to record that tell more of a program than samples do.
#[test]
fn no_secret_is_in_what_tells_of_every_object() {
    with_jdks("no_secret_is_in_what_tells_of_every_object", |jdk, class_path, temporary| {
        for (name, options) in [("identity", &["--identity", "all"][..]), ("exact", &["--every-allocation"])] {
            ends_without_secrets(jdk, class_path, &temporary.join(name), options);
        }
    });
}

#[test]
fn no_secret_of_the_program_is_in_any_file() {
    with_jdks("no_secret_of_the_program", |jdk, class_path, temporary| {
        ends_without_secrets(jdk, class_path, &temporary.join("ended"), &[]);

        // Program and recording process are killed together: what is left of a walk becomes one when that is asked for.
        let folder = temporary.join("killed");
        let mut command = begin(jdk, class_path, &folder, &[], "600000");
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
        // What works beside them ends a little later.
        wait_until("the end of all who work there", || {
            !of_trace(&["finish"], &folder).1.contains("somebody is at work there")
        });
        let (done, said) = of_trace(&["finish"], &folder);
        assert!(done.starts_with(&*folder.to_string_lossy()), "{said}");
        assert!(of_trace(&["report"], &folder).0.contains("Leaky$Session"));
        has_no_secret(&folder, 1);

        // Attached to, and watched.
        let flags = ["-Xmx300m", "-XX:+EnableDynamicAgentLoading", &property()];
        let program = Program::start_with(jdk, &flags, class_path, "Leaky", &["600000", ARGUMENT]);
        // All of them but what the program has not asked for are in its heap, and would be found where a dump stays.
        let dump = temporary.join("found.hprof");
        program.dump(&dump, &["-all"]);
        let dump = std::fs::read(dump).expect("a dump");
        let missing: Vec<&str> = SECRETS.into_iter().filter(|secret| !is_in(&dump, secret)).collect();
        assert_eq!(missing, [ENVIRONMENT]);
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

/// Every file of a trace, which its user alone can read. So many walks are in it at least.
fn has_no_secret(folder: &Path, walks: usize) {
    use std::os::unix::fs::PermissionsExt;
    let (mut files, mut found) = (vec![folder.to_owned()], 0);
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|e| e.path()));
            continue;
        }
        assert_eq!(path.metadata().expect("facts").permissions().mode() & 0o777, 0o600, "{}", path.display());
        found += file_has_no_secret(&path);
    }
    assert!(found >= walks, "{found} walks in {}", folder.display());
}

/// Whether a text is in some bytes: byte for byte, as characters of two bytes in either order, or the wrong way round, as numbers may be.
fn is_in(bytes: &[u8], text: &str) -> bool {
    let [wide, big] = [[0, 1], [1, 0]].map(|order| {
        let both = |byte: u8| order.map(|at| [byte, 0][at]);
        text.bytes().flat_map(both).collect::<Vec<u8>>()
    });
    let turned: Vec<u8> = text.bytes().rev().collect();
    [text.as_bytes(), &wide, &big, &turned].into_iter().any(|form| memchr::memmem::find(bytes, form).is_some())
}

/// A file: its bytes as they are, and what is packed in chunks. How many walks are in it.
fn file_has_no_secret(path: &Path) -> usize {
    let none_in = |bytes: &[u8], what: &dyn std::fmt::Debug| {
        for secret in SECRETS {
            assert!(!is_in(bytes, secret), "{secret} in {what:?}");
        }
    };
    none_in(&std::fs::read(path).expect("a file"), &path);
    let mut walks = 0;
    if path.extension().is_some_and(|e| e == "mcity") {
        for_chunks_of(path, &mut |chunk| {
            walks += usize::from(chunk.kind() == ChunkKind::WALK_END);
            none_in(&chunk.payload().expect("a payload"), &(path, chunk.kind()));
        });
    }
    walks
}
