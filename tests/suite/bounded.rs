//! Files of a few kilobytes that ask for gigabytes end in an error that says what to do, not with a signal. The program may use
//! so many addresses and no more.
#![cfg(target_os = "linux")]

use memory_city_testing::hprof_writer::Dump;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packs what `write` writes.
fn packed(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    let file = std::fs::File::create(path).expect("a file");
    let mut gzip =
        Command::new("gzip").arg("-1").stdin(Stdio::piped()).stdout(file).spawn().expect("gzip is installed");
    let mut out = std::io::BufWriter::new(gzip.stdin.take().expect("a pipe"));
    write(&mut out).and_then(|()| out.flush()).expect("written");
    drop(out);
    assert!(gzip.wait().expect("ended").success());
}

/// What `report` says of a file, and its exit code, in two gigabytes.
fn report(path: &Path) -> (Option<i32>, String) {
    let limited = "ulimit -v 2000000; exec \"$0\" report \"$1\"";
    let output = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_memory-city")])
        .arg(path)
        .env("MEMORY_CITY_CACHE", "")
        .output()
        .expect("the program runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn millions_of_times_in_a_small_file_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("times.jsonl.gz");
    packed(&path, |out| {
        out.write_all(b"{\"format\":\"memory-city\",\"version\":1,\"tree\":{\"objects\":1,\"bytes\":8}}\n")?;
        (0..10_000_000).try_for_each(|_| out.write_all(b"{\"tree\":{\"objects\":1,\"bytes\":8}}\n"))
    });
    assert!(std::fs::metadata(&path).expect("a file").len() < 2_000_000);
    let (code, said) = report(&path);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("times.jsonl.gz at byte ") && said.contains("Open fewer times"), "{said}");
}

#[test]
fn millions_of_classes_in_a_small_dump_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("classes.hprof.gz");
    let mut dump = Dump::new(2, 8, 0);
    (1..3_000_000u64).for_each(|class| {
        dump.instance(0x10_0000 + 16 * class, 0, class << 16, &[]);
    });
    packed(&path, |out| out.write_all(&dump.finish()));
    let (code, said) = report(&path);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("classes.hprof.gz") && said.contains("more memory"), "{said}");
}

/// The limit is kept or the command is refused with the amount, whichever sets it: never a signal.
#[test]
fn a_limit_is_kept_or_refused_with_the_amount() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nodes.hprof");
    let mut dump = Dump::new(2, 8, 0);
    dump.load_class(1, 0x1400, "com/acme/Node").string(0x20, "next").class(0x1400, 0, 0, &[], &[(0x20, 2)]);
    let at = |i: u64| 0x10_0000 + 16 * i;
    let count = 1_400_000;
    (0..count).for_each(|i| {
        dump.instance(at(i), 0, 0x1400, &[(2, if i + 1 < count { at(i + 1) } else { 0 })]);
    });
    dump.root(0x05, at(0), &[]);
    std::fs::write(&path, dump.finish()).expect("written");
    for (limits, command, expected, said) in [
        ("--memory 5MB", "report", 1, "Reading "),
        ("--memory 60MB", "report", 1, "owners of 1,400,00"),
        ("--memory 1GB", "report", 0, ""),
        ("ulimit -v 300000", "report", 1, "ulimit -v"),
        ("ulimit -v 300000", "analyse biggest", 1, "ulimit -v"),
    ] {
        let (shell, option) = if limits.starts_with("ulimit") { (limits, "") } else { ("true", limits) };
        let output = Command::new("sh")
            .args(["-c", &format!("{shell}; exec \"$0\" {command} \"$1\" {option}"), env!("CARGO_BIN_EXE_memory-city")])
            .arg(&path)
            .env("MEMORY_CITY_CACHE", "")
            .output()
            .expect("the program runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{limits} {command}: {error}");
        assert!(error.contains(said), "{limits} {command}: {error}");
    }
}

/// Records that are too short, one after the other: their warnings are counted, not kept.
#[test]
fn a_hundred_million_damaged_records_are_a_few_warnings() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("short.hprof.gz");
    packed(&path, |out| {
        out.write_all(&Dump::new(2, 8, 0).finish()[..31])?;
        // A name without the id that it begins with.
        let block = [1u8, 0, 0, 0, 0, 0, 0, 0, 0].repeat(1000);
        (0..40_000).try_for_each(|_| out.write_all(&block))
    });
    let (code, said) = report(&path);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.lines().count() < 60 && said.contains("short.hprof.gz"), "{said}");
}

/// Parts beside a dump that unpack to more than memory holds.
#[test]
fn parts_of_a_dump_are_held_to_the_memory_there_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole.hprof");
    std::fs::write(&path, &Dump::new(2, 8, 0).finish()[..31]).expect("a dump without a heap");
    packed(&folder.path().join("whole.hprof.p0"), |out| {
        let zeros = vec![0; 1 << 20];
        (0..1500).try_for_each(|_| out.write_all(&zeros))
    });
    let (code, said) = report(&path);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("whole.hprof.p0") && said.contains("memory does not hold"), "{said}");
}
