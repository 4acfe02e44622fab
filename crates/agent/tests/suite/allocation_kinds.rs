//! Exact recordings see every way to make an object.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, with_jdks};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_testing::jvm::{self, Jdk};
use memory_city_testing::root;
use memory_city_wire::{ChunkKind, SampleRow};
use std::path::Path;

const ROUNDS: u64 = 3000;
/// Files of a folder that is listed.
const LISTED: u64 = 3;

/// With the default collector, and with another one on each JDK.
#[test]
fn exact_recordings_see_every_way_to_make_an_object() {
    with_jdks("exact_recordings_see_every_way", |jdk, class_path, temporary| {
        let collectors = jdk.collectors();
        let another = &collectors[jdk.version as usize % collectors.len()];
        for (name, flags) in [("default", &[][..]), ("another", another)] {
            sees_every_way(jdk, flags, class_path, &temporary.join(name));
        }
    });
}

/// Under each of them, and however it is run: `make recorder-test`.
#[test]
#[ignore = "takes a minute: `make recorder-test`"]
fn exact_recordings_see_every_way_under_every_collector() {
    with_jdks("exact_recordings_under_every_collector", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().iter().enumerate() {
            sees_every_way(jdk, flags, class_path, &temporary.join(format!("exact-{number}")));
        }
        // By the interpreter alone, by each compiler from the first call on.
        for (name, flags) in [
            ("interpreted", &["-Xint"][..]),
            ("first compiler", &["-Xcomp", "-XX:TieredStopAtLevel=1"]),
            ("second compiler", &["-Xcomp", "-XX:-TieredCompilation"]),
        ] {
            sees_every_way(jdk, flags, class_path, &temporary.join(name));
        }
    });
}

/// Bytes of an array, by the size of an element (0 for a reference).
fn array_size(flags: &[&str], element: u64, length: u64) -> u64 {
    // ZGC has no short references, and compact headers are shorter by the four bytes that arrays of small elements begin with.
    let reference = if flags.contains(&"-XX:+UseZGC") { 8 } else { 4 };
    let element = if element == 0 { reference } else { element };
    let header = if flags.contains(&"-XX:+UseCompactObjectHeaders") { 12u64.next_multiple_of(element) } else { 16 };
    (header + element * length).next_multiple_of(8)
}

fn sees_every_way(jdk: &Jdk, flags: &[&str], class_path: &str, folder: &Path) {
    let source = std::fs::read_to_string(root().join("tests/java/Ways.java")).expect("the source");
    // The line of the program that has this text, as frames are written.
    let line = |text: &str| {
        let at = source.lines().position(|l| l.contains(text)).unwrap_or_else(|| panic!("{text}"));
        format!("Ways.main:{}", at + 1)
    };
    let options =
        AgentOptions { folder: folder.to_owned(), sampling: SamplingMode::All, walks: 0, ..AgentOptions::default() };
    // What the program lists, and the link beside it.
    let files = tempfile::tempdir().expect("a folder");
    let listed = files.path().join("listed");
    std::fs::create_dir(&listed).expect("made");
    (0..LISTED).for_each(|n| std::fs::write(listed.join(n.to_string()), "").expect("written"));
    std::os::unix::fs::symlink("anywhere", files.path().join("link")).expect("a link");
    let mut command = jdk.tool("java");
    command.args(flags).args(["-Xmx300m", &agent(&options), "-cp", class_path, "Ways", &ROUNDS.to_string()]);
    command.arg(&listed);
    let printed = jvm::output(&mut command);
    assert!(printed.contains(&format!("done {ROUNDS}")), "{flags:?}: {printed}");
    let trace = Trace::read(folder);
    let lost = trace.losses.iter().filter(|l| l.what == u32::from(ChunkKind::SAMPLES.0));
    assert_eq!(lost.count(), 0, "{:?}", trace.losses);
    let count = |of: &dyn Fn(&SampleRow, &str) -> bool| {
        trace.samples.iter().filter(|sample| of(sample, trace.class(sample))).count() as u64
    };
    let mut wrong = Vec::new();
    let mut is = |what: &str, found: u64, expected: u64| {
        if found != expected {
            wrong.push(format!("{what}: {found} instead of {expected}"));
        }
    };
    for (class, expected) in [
        ("Plain", ROUNDS),
        ("ByReflection", ROUNDS),
        ("ByHandle", ROUNDS),
        ("Uninitialized", ROUNDS),
        ("Cloned", ROUNDS + 1),
        ("Nested", ROUNDS),
        ("Nested$Inner", ROUNDS),
        ("Pair", ROUNDS),
        ("Supplied", ROUNDS),
        ("Streamed", 2 * ROUNDS),
        ("Thrown", ROUNDS),
        ("Deserialized", ROUNDS / 100 + 1),
    ] {
        is(class, count(&|_, of| of == format!("Ways${class}")), expected);
    }
    // A lambda that captures is an object each time, one that does not is one.
    is("lambdas", count(&|_, of| of.starts_with("Ways$$Lambda")), ROUNDS + 1);
    // Arrays by their lengths: nothing else makes such.
    for (class, element, length, expected) in [
        ("boolean[]", 1, 71, ROUNDS),
        ("byte[]", 1, 10_001, ROUNDS),
        ("char[]", 2, 72, ROUNDS),
        ("short[]", 2, 77, ROUNDS + 1),
        ("int[]", 4, 73, ROUNDS),
        ("long[]", 8, 74, ROUNDS),
        ("float[]", 4, 75, ROUNDS),
        ("double[]", 8, 76, ROUNDS),
        ("Ways$Pair[]", 0, 78, ROUNDS),
        ("Ways$Choice[]", 0, 79, 3 * ROUNDS),
        ("Ways$Choice[][]", 0, 3, ROUNDS),
        ("Ways$Captured[]", 0, 80, ROUNDS),
        ("java.lang.Object[][]", 0, 81, ROUNDS),
        // Regions of their own.
        ("long[]", 8, 300_000, ROUNDS / 100),
    ] {
        let size = array_size(flags, element, length);
        let what = format!("{class} of {length}");
        is(&what, count(&|sample, of| of == class && sample.size == size), expected);
    }
    // What others make too, by the line that led to it.
    let at = |class: &str, text: &str| {
        let line = line(text);
        count(&|sample, of| of == class && trace.stack(sample).contains(&line))
    };
    is("boxed longs", at("java.lang.Long", "Long.valueOf(1_000_000L"), ROUNDS);
    is("boxed doubles", at("java.lang.Double", "(double) number"), ROUNDS);
    // Small numbers are kept by the class library.
    is("boxed arguments", at("java.lang.Integer", "lengths(number"), ROUNDS - 128);
    is("variable arguments", at("java.lang.Object[]", "lengths(number"), ROUNDS);
    // What native code makes by JNI, with the native method on top. JDKs name some of them with a 0 at the end, some without.
    let by_native = |class: &str, native: &str, text: &str| {
        let (line, top) = (line(text), [format!("{native}:0"), format!("{native}0:0")]);
        count(&|sample, of| {
            let stack = trace.stack(sample);
            of == class && stack.first().is_some_and(|first| top.contains(first)) && stack.contains(&line)
        })
    };
    let (list, read_link) = ("java.io.UnixFileSystem.list", "sun.nio.fs.UnixNativeDispatcher.readlink");
    is("texts by JNI", by_native("java.lang.String", list, "folder.list()"), LISTED * ROUNDS);
    is("their characters", by_native("byte[]", list, "folder.list()"), LISTED * ROUNDS);
    // One while it reads, which is longer, and one that it returns.
    is("arrays of objects by JNI", by_native("java.lang.String[]", list, "folder.list()"), 2 * ROUNDS);
    is("arrays of bytes by JNI", by_native("byte[]", read_link, "readSymbolicLink(link)"), ROUNDS);
    let of_missing = by_native("sun.nio.fs.UnixException", read_link, "readSymbolicLink(missing)");
    is("objects by JNI", of_missing, ROUNDS);
    // Where a compiler puts texts together by itself, frames of that line may be missing: these are counted, not demanded.
    let texts = at("java.lang.String", "\" of many\"");
    jvm::say(&format!("  {} samples, {texts} texts put together", trace.samples.len()));
    assert_eq!(wrong, Vec::<String>::new());
}
