//! Tests of mistakes: each gives a message with file, place and remedy, or is corrected with a warning.

use super::super::format::LEVELS;
use super::{document, read_text, shown, warned};

/// The error, as people see it.
fn refused(text: impl Into<Vec<u8>>) -> String {
    match read_text(text) {
        Err(error) => error.to_string(),
        Ok(source) => panic!("read as {}", shown(&source.timeline)),
    }
}

#[test]
fn refused_with_place_and_remedy() {
    let tree = |inside: &str| document(&format!("\n\"tree\": {{\"children\": [{inside}]}}"));
    let table: Vec<(&str, Vec<u8>)> = vec![
        ("negative", tree(r#"{"name": "a", "objects": -3, "bytes": 1}"#).into()),
        ("fractional", tree(r#"{"name": "a", "objects": 1, "bytes": 1.5}"#).into()),
        ("too large", tree(r#"{"name": "a", "objects": 1, "bytes": 9007199254740992}"#).into()),
        ("a text for a number", tree(r#"{"name": "a", "objects": "12", "bytes": 1}"#).into()),
        ("sums too large", tree(&[r#"{"name": "a", "objects": 9007199254740991, "bytes": 1}"#; 2].join(",")).into()),
        ("no counts", tree(r#"{"name": "b", "objects": 1, "bytes": 2}, {"name": "a"}"#).into()),
        ("no name", tree(r#"{"objects": 1, "bytes": 1}"#).into()),
        ("a number for a node", tree("7").into()),
        ("a field twice", tree(r#"{"name": "a", "objects": 1, "objects": 2}"#).into()),
        ("children no list", tree(r#"{"name": "a", "children": {}}"#).into()),
        ("not UTF-8", [document("\"label\": \"").as_bytes(), b"\xe9\"}"].concat()),
        ("UTF-16", b"\xff\xfe{\0\"\0".to_vec()),
        ("half a surrogate", tree(r#"{"name": "\ud800", "objects": 1}"#).into()),
        ("a comma too many", tree(r#"{"name": "a", "objects": 1,}"#).into()),
        ("cut off", tree("").trim_end_matches("]}}").into()),
        ("more behind it", format!("{} , 1", document("\"tree\": {\"objects\": 1}")).into()),
        ("no format", r#"{"tree": {"objects": 1}}"#.into()),
        ("no version", r#"{"format": "memory-city", "tree": {"objects": 1}}"#.into()),
        ("another format", r#"{"format": "trees", "version": 1}"#.into()),
        ("a later version", r#"{"format": "memory-city", "version": 2}"#.into()),
        ("no time", document("\"times\": []").into()),
        ("nothing at all", Vec::new()),
        ("a time without tree", document("\"times\": [{\"label\": \"a\"}]").into()),
        ("tree and times", document(r#""tree": {"objects": 1}, "times": []"#).into()),
        ("timestamp in text", document(r#""times": [{"timestamp": "noon"}]"#).into()),
        ("timestamp in nanoseconds", document(r#""timestamp": 1700000000000000000"#).into()),
        ("negative in a map", document(r#""points-to": {"Heap#A": {"Heap#B": {"referenced": -1}}}"#).into()),
        ("a list for a map", document(r#""points-to": {"Heap#A": [1]}"#).into()),
        ("a pair without a number", document(r#""points-to": {"Heap#A": {"Heap#B": {}}}"#).into()),
        (
            "the third line of lines",
            format!(
                "{}\n{{\"tree\": {{\"objects\": 1, \"bytes\": 1}}}}\n{{\"tree\": {{\"objects\": true}}}}",
                document("\"tree\": {\"objects\": 1, \"bytes\": 1}")
            )
            .into(),
        ),
    ];
    let all: Vec<String> = table.into_iter().map(|(what, text)| format!("{what}:\n  {}", refused(text))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn deeper_than_the_limit() {
    let deep = document(&format!("\"tree\": {}", r#"{"name":"f","children":["#.repeat(LEVELS + 2)));
    insta::assert_snapshot!(refused(deep));
    // What is left out may nest as it likes.
    let other = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let source = read_text(document(&format!(r#""other": {other}, "tree": {{"objects": 1, "bytes": 1}}"#))).unwrap();
    assert_eq!(source.timeline.len(), 1);
}

/// Each group is told apart by all names above it: a file of a few megabytes may ask for gigabytes of paths.
#[test]
fn paths_take_no_more_than_they_may() {
    let level = format!(r#"{{"name":"{}","children":["#, "x".repeat(10_000));
    let tree = |leaves: usize| {
        let leaves = (0..leaves).map(|leaf| format!(r#"{{"name":"{leaf}","objects":1,"bytes":8}}"#));
        let leaves = leaves.collect::<Vec<_>>().join(",");
        document(&format!("\"tree\": {}{leaves}{}", level.repeat(400), "]}".repeat(400)))
    };
    let said = refused(tree(20_000));
    assert!(said.contains("test.json at byte ") && said.contains("each with all names above it"), "{said}");
    assert!(said.contains("fewer levels, or shorter names"), "{said}");
    assert!(read_text(tree(2)).is_ok(), "a long path is read");
}

#[test]
fn put_right_with_a_warning() {
    let tree = |inside: &str| document(&format!("\"tree\": {{\"children\": [{inside}]}}"));
    let a = r#"{"name": "a", "objects": 1, "bytes": 2}"#;
    let parent = r#"{"name": "p", "objects": 1, "bytes": 9, "children": [
        {"name": "a", "objects": 2, "bytes": 3}, {"name": "b", "objects": 3, "bytes": 4}]}"#;
    let times = |list: &[&str]| {
        let times: Vec<String> = list.iter().map(|t| format!("{{{t} \"tree\": {a}}}")).collect();
        document(&format!("\"times\": [{}]", times.join(",")))
    };
    let table: Vec<(&str, String)> = vec![
        ("a parent with less than its children", tree(parent)),
        ("the same where groups overlap", tree(parent).replace("\"tree\"", "\"overlaps\": true, \"tree\"")),
        ("the same name and role twice", tree(&format!("{a}, {a}"))),
        ("the same name in two roles", tree(&format!("{a}, {}", a.replace("{", "{\"role\": \"Type\", ")))),
        ("one count only", tree(r#"{"name": "a", "objects": 3}, {"name": "b", "bytes": 4}"#)),
        ("out of order", times(&["\"label\": \"x\", \"timestamp\": 7,", "\"label\": \"y\", \"timestamp\": 5,"])),
        ("without timestamps", times(&["\"label\": \"x\",", "\"label\": \"y\","])),
        (
            "one without a timestamp",
            times(&["\"label\": \"x\", \"timestamp\": 7,", "\"label\": \"y\",", "\"label\": \"z\", \"timestamp\": 5,"]),
        ),
        (
            "unknown fields",
            tree(&a.replace("{", "{\"color\": [{}], ")).replace("\"tree\"", "\"tool\": \"t\", \"tree\""),
        ),
        ("cut off after a time", format!("{}\n{{\"tree\": {{\"na", tree(a))),
        (
            "maps that name nothing",
            document(&format!(r#""points-to": {{"Heap#no": {{"Heap#a": 1}}}}, "tree": {{"children": [{a}]}}"#)),
        ),
        (
            "the same key in two places",
            tree(
                r#"{"name": "a", "key": "k", "objects": 1, "bytes": 1}, {"name": "p", "children": [{"name": "b", "key": "k", "objects": 2, "bytes": 2}]}"#,
            ),
        ),
        (
            "maps that contradict each other",
            document(&format!(
                r#""points-to": {{"Heap": {{"Heap#a": {{"referencing": 1, "referenced": 2}}}}}},
                "pointed-from": {{"Heap#a": {{"Heap": {{"referencing": 3, "referenced": 2}}}}}}, "tree": {{"children": [{a}]}}"#
            )),
        ),
    ];
    let shown = |(what, text): (&str, String)| {
        let source = read_text(text).unwrap_or_else(|e| panic!("{what}: {e}"));
        format!("{what}:\n{}{}\n", shown(&source.timeline), warned(&source).join("\n"))
    };
    let all: Vec<String> = table.into_iter().map(shown).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn many_small_times_with_different_nodes_are_refused_before_memory_ends() {
    let mut text = document("\"tree\": {\"objects\": 1, \"bytes\": 1}");
    for i in 0..300 {
        text.push_str(&format!(
            "\n{{\"tree\": {{\"children\": [{{\"name\": \"{i}\", \"objects\": 1, \"bytes\": 1}}]}}}}"
        ));
    }
    let mut collector = super::super::Collector::default();
    collector.limit_memory(50_000);
    let input = memory_city_heap::input::Input::from_bytes(std::path::Path::new("test.json"), text.into_bytes());
    let error = collector.add_input(&input, &memory_city_heap::progress::Progress::new()).unwrap_err().to_string();
    assert!(error.contains("different nodes") && error.contains("Open fewer times"), "{error}");
}

#[test]
fn what_is_said_of_samples_is_both_counts() {
    for (said, expected) in [
        (r#"{"samples": 3, "objects": 2}"#, "samples: 3, objects: 2"),
        (r#"{"samples": 3}"#, "samples: 3, objects: none"),
        (r#"{"objects": 3}"#, "samples: none, objects: 3"),
        ("[3, 4]", r#"{"samples": 30, "objects": 1200}"#),
    ] {
        let text =
            super::document(&format!(r#""sampled": {said}, "tree": {{"name": "Heap", "objects": 2, "bytes": 9}}"#));
        let error = super::read_text(text.into_bytes()).err().expect("refused").to_string();
        assert!(error.contains("sampled") && error.contains(expected), "{said}: {error}");
    }
}

/// Documents to be damaged: every field of the format is in one of them.
const SOUND: [&str; 4] = [
    include_str!("../../../../../../sample-data/json/one-time.json"),
    include_str!("../../../../../../sample-data/json/all-times.json"),
    include_str!("../../../../../../sample-data/json/lines.jsonl"),
    r#"{"format": "memory-city", "version": 1, "label": "a", "overlaps": true, "nested-roles": ["T", null], "unreachable": {"objects": 1, "bytes": 16}, "sampled": {"samples": 1, "objects": 2},
       "gc": {"number": 1, "kind": "major", "cause": "", "duration": 1, "end": false, "freed": 2, "pause": true},
       "tree": {"key": "r", "children": [{"name": "\\u00e9#", "role": "T", "key": "k", "objects": 2, "bytes": 9}]},
       "points-to": {"r": {"k": 1}}, "pointed-from": {"k": {"r": {"referencing": 1, "referenced": 2, "references": 3}}},
       "roots": {"k": {"x": 1}}}"#,
];

/// Inputs that often break parsers.
const BITS: [&[u8]; 12] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b",",
    b"-1",
    b"1e400",
    b"null",
    b"\\ud800",
    b"\xff",
    b"\"children\":[{\"name\":\"a\",",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1500))]

    /// Cut, overwritten, doubled: an error that names the file, or trees that come back the same.
    #[test]
    fn damage_is_told_or_harmless(
        which in 0..SOUND.len(),
        edits in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), 0..9usize, 0..BITS.len()), 1..4),
    ) {
        let mut bytes = SOUND[which].as_bytes().to_vec();
        for (place, kind, bit) in edits {
            // A cut and a gap can leave nothing to damage: an empty file is a case of its own.
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match kind {
                0 => bytes.truncate(at.max(1)),
                1 => drop(bytes.drain(at..(at + 7).min(bytes.len()))),
                2 => bytes.extend_from_within(at..),
                3 => bytes[at] = bytes[at].wrapping_add(1),
                _ => drop(bytes.splice(at..at, BITS[bit].iter().copied())),
            }
        }
        match read_text(bytes) {
            Err(error) => proptest::prop_assert!(error.to_string().contains("test.json")),
            Ok(source) => {
                let mut text = Vec::new();
                let references = |t: usize| Ok(source.time_references(t));
                let progress = memory_city_heap::progress::Progress::new();
                let (form, name) = (super::super::Form::Lines, std::path::Path::new("out"));
                super::super::write(&source.timeline, Some(&references), form, &mut text, name, &progress).unwrap();
                let again = read_text(text.clone()).unwrap();
                let text = String::from_utf8_lossy(&text);
                proptest::prop_assert_eq!(shown(&again.timeline), shown(&source.timeline), "{}", text);
                // A time that is not known cannot be written.
                let other = |w: &memory_city_heap::error::Warning| !w.message.starts_with("times without a timestamp");
                proptest::prop_assert!(!again.warnings.iter().any(other), "{:?} {}", again.warnings, text);
            }
        }
    }
}
