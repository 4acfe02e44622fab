//! Exact recordings see every way to make an object.

#![cfg(target_os = "linux")]

mod common;

use common::{Trace, run, with_jdks};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_testing::jvm;
use memory_city_testing::root;
use memory_city_wire::{ChunkKind, SampleRow};

const ROUNDS: u64 = 3000;

#[test]
fn exact_recordings_see_every_way_to_make_an_object() {
    let source = std::fs::read_to_string(root().join("tests/java/Ways.java")).expect("the source");
    // The line of the program that has this text, as frames are written.
    let line = |text: &str| {
        let at = source.lines().position(|l| l.contains(text)).unwrap_or_else(|| panic!("{text}"));
        format!("Ways.main:{}", at + 1)
    };
    with_jdks("exact_recordings_see_every_way", |jdk, class_path, temporary| {
        let folder = temporary.join("exact");
        let options =
            AgentOptions { folder: folder.clone(), sampling: SamplingMode::All, walks: 0, ..AgentOptions::default() };
        let printed = run(jdk, &options, class_path, &["Ways", &ROUNDS.to_string()]);
        assert!(printed.contains(&format!("done {ROUNDS}")), "{printed}");
        let trace = Trace::read(&folder);
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
            ("Ways$Pair[]", 4, 78, ROUNDS),
            ("Ways$Choice[]", 4, 79, 3 * ROUNDS),
            ("Ways$Choice[][]", 4, 3, ROUNDS),
            ("Ways$Captured[]", 4, 80, ROUNDS),
            ("java.lang.Object[][]", 4, 81, ROUNDS),
            // Regions of their own.
            ("long[]", 8, 300_000, ROUNDS / 100),
        ] {
            let size = (16 + element * length as u64).next_multiple_of(8);
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
        // The first time it is linked, which makes others.
        let texts = at("java.lang.String", "\" of many\"");
        jvm::say(&format!("  {} samples, {texts} texts", trace.samples.len()));
        assert!((ROUNDS..ROUNDS + 1000).contains(&texts), "{texts} texts put together");
        assert_eq!(wrong, Vec::<String>::new());
    });
}
