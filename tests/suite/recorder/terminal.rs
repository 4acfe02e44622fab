//! Keys pressed while a program is recorded on a terminal: the program hears them as without the recorder.

use super::*;
use std::io::{Read, Write};

/// Runs a command on a terminal of its own, and presses keys when it has printed something: each once, in their order. Returns what stands
/// there at the end.
fn on_terminal(line: &str, keys: &[(&str, &[u8])]) -> String {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("exec {line}"), "/dev/null"]).env("TERM", "xterm");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let (mut pressed, mut printed) = (child.stdin.take().expect("keys"), child.stdout.take().expect("a screen"));
    let (mut said, mut from, mut keys) = (String::new(), 0, keys.iter());
    let (mut next, mut bytes) = (keys.next(), [0; 4096]);
    while let Ok(count @ 1..) = printed.read(&mut bytes) {
        said += &String::from_utf8_lossy(&bytes[..count]);
        while let Some((awaited, key)) = next
            && let Some(at) = said[from..].find(awaited)
        {
            from += at + awaited.len();
            pressed.write_all(key).expect("somebody listens");
            next = keys.next();
        }
    }
    child.wait().expect("a status");
    assert!(next.is_none(), "{next:?} was never printed: {said}");
    said
}

fn recorder() -> &'static str {
    env!("CARGO_BIN_EXE_memory-city")
}

/// The terminal tells all that run on it: programs that tell one Ctrl+C from two hear one.
#[test]
fn ctrl_c_on_a_terminal_is_heard_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("counts.sh");
    let counts = "n=0\ntrap 'n=$((n + 1)); echo told $n' INT\necho ready\ni=0\n\
        while [ $i -lt 20 ]; do sleep 0.1; i=$((i + 1)); done\necho heard $n\n";
    std::fs::write(&script, counts).expect("written");
    let trace = folder.path().join("trace");
    let line = |command: &str| format!("'{}' record -o '{}' -- {command}", recorder(), trace.display());
    let counting = format!("sh '{}'", script.display());
    let said = on_terminal(&line(&counting), &[("ready", &b"\x03"[..])]);
    assert!(said.contains("heard 1"), "{said}");
    // What is no part of what runs in front of the terminal hears it from nobody else.
    let said = on_terminal(&line(&format!("setsid {counting}")), &[("ready", &b"\x03"[..])]);
    assert!(said.contains("heard 1"), "{said}");
}

/// Ctrl+\ is how Java prints its threads: it does, and the recording goes on with it.
#[test]
fn ctrl_backslash_prints_threads_and_recording_goes_on() {
    with_jdk("ctrl_backslash_prints_threads", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let line = format!(
            "'{}' record -o '{}' -- '{}' -Xmx100m -cp '{class_path}' Leaky 3000",
            recorder(),
            folder.display(),
            java(jdk)
        );
        let said = on_terminal(&line, &[("ready ", &b"\x1c"[..])]);
        assert!(said.contains("Full thread dump") && said.contains("Recorded for "), "{said}");
        assert!(ends(&folder).contains(&"the program ended".to_owned()), "{said}");
    });
}
