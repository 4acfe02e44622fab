//! The VM looks at how the recorder calls it (`-Xcheck:jni`), and has nothing to say.

use super::*;

/// What the VM prints of a library that uses JNI as it must not.
const FAULTS: [&str; 4] =
    ["WARNING in native method", "FATAL ERROR in native method", "JNI local refs", "WARNING: JNI"];

fn assert_checked(jdk: &Jdk, what: &str, done: &Output, code: i32) {
    let said = format!("{}{}", text(&done.stdout), text(&done.stderr));
    assert_eq!(done.status.code(), Some(code), "{}, {what}: {said}", jdk.home.display());
    for fault in FAULTS {
        assert!(!said.contains(fault), "{}, {what}: {said}", jdk.home.display());
    }
}

/// Recorded from the start, with walks and class histograms, and with every allocation: names, weak references and what asks for
/// dumps and counts are checked then.
#[test]
fn a_recorded_program_has_no_faults_of_jni() {
    with_jdks("a_recorded_program_has_no_faults_of_jni", |jdk, class_path, temporary| {
        let folder = temporary.join("recorded");
        let program = ["-Xcheck:jni", "-Xmx300m", "-Xmn20m", "-cp", class_path];
        let options = ["--walk-every", "500ms", "--walk-share", "50", "--histogram-every", "200ms"];
        let leaky = [&program[..], &["Leaky"]].concat();
        let done = record_until(jdk, &folder, &options, (&leaky, 4000), |folder| has_walks(folder, 2));
        assert_checked(jdk, "recorded", &done, 0);
        assert!(has_walks(&folder, 2), "{}", text(&done.stderr));
        let folder = temporary.join("every");
        let counted = [&program[..], &["Counted", "5000"]].concat();
        let done = record(jdk, &folder, &["--every-allocation"], &counted);
        assert_checked(jdk, "every allocation", &done, 0);
        let folder = temporary.join("all");
        // The walk at its end, of few objects: the more there are, the longer the VM counts references at each call. It is left out
        // where it would hold the program up for long, as on a busy machine.
        let counted = (&[&program[..], &["Counted"]].concat()[..], 5000);
        let done = record_until(jdk, &folder, &["--identity", "all"], counted, |folder| has_walks(folder, 1));
        assert_checked(jdk, "all objects followed", &done, 0);
        assert!(has_walks(&folder, 1), "{}", text(&done.stderr));
    });
}

/// Attached to, left and attached to again.
#[test]
fn a_program_that_is_attached_to_has_no_faults_of_jni() {
    with_jdks("a_program_that_is_attached_to_has_no_faults_of_jni", |jdk, class_path, temporary| {
        let mut command = jdk.tool("java");
        // Longer than the recordings take on any machine; it is ended when they are done.
        command.args(["-Xcheck:jni", "-Xmx300m", "-Xmn20m", "-cp", class_path, "Leaks", "healthy", "300000"]);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let program = spawned.expect("java runs");
        let pid = program.id().to_string();
        wait_until("the program", || text(&finish(&mut memory_city(&["jvms"])).stdout).contains(&pid));
        let attach = |name: &str| {
            let folder = temporary.join(name);
            let output = folder.to_string_lossy();
            let words = ["attach", &pid, "--for", "4s", "--walk-every", "500ms", "--walk-share", "50", "-o", &output];
            let said = text(&finish(&mut memory_city(&words)).stderr);
            (has_walks(&folder, 1), said)
        };
        let recordings = ["first", "second"].map(attach);
        // SAFETY: no pointers; the process was started here and not waited for.
        unsafe { libc::kill(program.id() as i32, libc::SIGTERM) };
        let done = program.wait_with_output().expect("its words");
        for (walked, said) in recordings {
            assert!(walked, "{said}{}{}", text(&done.stdout), text(&done.stderr));
        }
        assert_checked(jdk, "attached", &done, 128 + libc::SIGTERM);
    });
}
