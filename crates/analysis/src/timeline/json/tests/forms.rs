//! Tests of every form of the format, with optional parts left out.

use super::super::{Collector, identify, read};
use super::{document, read_text, shown, warned};
use crate::timeline::NodeId;
use crate::timeline::references::Edge;
use memory_city_heap::progress::Progress;
use std::path::Path;

const A: &str = r#"{"name": "Heap", "role": "Heap", "objects": 3, "bytes": 72, "children": [
    {"name": "String", "role": "Type", "objects": 3, "bytes": 72}]}"#;

#[test]
fn one_time() {
    let source = read_text(document(&format!(r#""label": "first", "timestamp": 1000, "tree": {A}"#))).unwrap();
    assert_eq!(shown(&source.timeline), "\"first\" at 1000\n  Heap (Heap) 3 72\n  Heap#String (Type) 3 72\n");
    assert_eq!(warned(&source), [""; 0]);
}

#[test]
fn fields_in_any_order_and_null_is_nothing() {
    let text = r#"{"tree": {"children": [{"bytes": 2, "children": null, "key": null, "objects": 1.0, "role": "T", "name": "a"},
        {"children": [{"objects": 1e1, "bytes": 5, "name": "c"}], "bytes": null, "name": "b"}]},
        "timestamp": "1970-01-01T01:00:01.5+01:00", "version": 1, "format": "memory-city", "points-to": null}"#;
    let source = read_text(text).unwrap();
    let expected =
        "\"test\" at 1500\n  Heap (Heap) 11 7\n  Heap#a (T) 1 2\n  Heap#b (Group) 10 5\n  Heap#b#c (Group) 10 5\n";
    assert_eq!(shown(&source.timeline), expected);
}

#[test]
fn several_times_in_a_document_in_lines_and_one_after_the_other() {
    let times = [
        r#""timestamp": 1, "tree": {"name": "R", "objects": 1, "bytes": 1}"#,
        r#""timestamp": 2, "tree": {"name": "R", "objects": 2, "bytes": 2}"#,
    ];
    let listed = document(&format!(r#""times": [{{{}}}, {{{}}}]"#, times[0], times[1]));
    let head = document("\"tool\": 3").replace(", \"tool\": 3", "");
    let forms = [
        listed.clone(),
        format!("\u{feff}  {listed}\n\n"),
        format!("{}\n{{{}}}\n", document(times[0]), times[1]),
        format!("{}{{{}}}", document(times[0]), times[1]),
        format!("{head}\n{{{}}}\n\n\r\n{{{}}}", times[0], times[1].replace(',', ",\n")),
    ];
    for form in forms {
        let source = read_text(form.clone()).unwrap();
        let expected = "\"test #1\" at 1\n  R (Heap) 1 1\n\"test #2\" at 2\n  R (Heap) 2 2\n";
        assert_eq!(shown(&source.timeline), expected, "{form}");
        assert!(warned(&source).is_empty(), "{form}");
    }
}

#[test]
fn a_folder_with_maps_and_packed_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let tree = |objects: u64| {
        document(&format!(
            r#""tree": {{"children": [{{"name": "A", "objects": {objects}, "bytes": 1}}, {{"name": "B", "objects": 9, "bytes": 1}}]}}"#
        ))
    };
    write("gc-10.json", tree(10).as_bytes());
    write("gc-2.json.zst", &zstd::encode_all(tree(2).as_bytes(), 1).unwrap());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, tree(1).as_bytes()).unwrap();
    write("gc-1.json.gz", &gzip.finish().unwrap());
    write("README.md", b"about");
    write("other.json", b"[1, 2]");
    write("pointed-from-maps/gc-2.json", br#"{"Heap#B": {"Heap#A": 2}}"#);
    write("points-to-maps/gc-2.json", br#"{"Heap#A": {"Heap#B": 7}}"#);
    write("points-to-maps/gc-10.json", document(r#""points-to": {"Heap#A": {"Heap#B": 3}}"#).as_bytes());
    write("points-to-maps/gc-11.json", b"{}");
    let source = read(&[folder.path().to_owned()], &Progress::new()).unwrap();
    let labels: Vec<&str> = source.timeline.points().iter().map(|p| p.label.as_str()).collect();
    assert_eq!(labels, ["gc-1", "gc-2", "gc-10"]);
    let (a, b) = (source.timeline.find("Heap#A").unwrap(), source.timeline.find("Heap#B").unwrap());
    assert_eq!(source.references(0, a), None);
    let edge = |other, referencing, referenced| Edge { other, referencing, referenced, references: 7 };
    assert_eq!(source.references(1, a).unwrap().outgoing, [edge(b, 2, 7)]);
    assert_eq!(source.references(1, b).unwrap().incoming, [edge(a, 2, 7)]);
    assert_eq!(source.references(1, NodeId::ROOT).unwrap().internal, 7);
    assert_eq!(source.references(2, b).unwrap().incoming, [Edge { references: 3, ..edge(a, 3, 3) }]);
    let warnings = warned(&source);
    assert_eq!(warnings.len(), 3, "{warnings:#?}");
    assert!(warnings[0].starts_with("skipped: no memory tree"), "{warnings:#?}");
    assert!(warnings[1].starts_with("pairs of groups with the number of objects at one end only: 1,"), "{warnings:#?}");
    assert!(
        warnings[2].starts_with("files with reference maps that belong to no file with one time: 1."),
        "{warnings:#?}"
    );
}

#[test]
fn keys_match_over_time_and_name_groups_in_maps() {
    let time = |objects: u64, name: &str| {
        format!(
            r#"{{"tree": {{"children": [{{"key": "k1", "name": "m()", "objects": 1, "bytes": 1}},
            {{"key": "k2", "name": "{name}", "objects": {objects}, "bytes": 1}}, {{"name": "x", "objects": 5, "bytes": 1}}]}},
            "pointed-from": {{"k2": {{"Heap#x": {{"referencing": 1, "referenced": 4, "references": 9}}}}}},
            "roots": {{"k2": {{"Thread: main": 2}}}}}}"#
        )
    };
    let source = read_text(document(&format!("\"times\": [{}, {}]", time(4, "m()"), time(6, "renamed")))).unwrap();
    let timeline = &source.timeline;
    assert_eq!(timeline.len(), 4);
    let k2 = timeline.find("Heap#m() [k2]").unwrap();
    assert_eq!([0, 1].map(|t| timeline.amount(t, k2).objects), [4, 6]);
    let map = source.references(1, k2).unwrap();
    let x = timeline.find("Heap#x").unwrap();
    assert_eq!(map.incoming, [Edge { other: x, referencing: 1, referenced: 4, references: 9 }]);
    assert_eq!(map.roots, [("Thread: main".to_owned(), 2)]);
    assert_eq!(source.references(0, NodeId::ROOT).unwrap().roots, [("Thread: main".to_owned(), 2)]);
    assert!(warned(&source).is_empty());
}

#[test]
fn districts_add_up_what_is_in_them() {
    let text = document(
        r#""tree": {"children": [
            {"name": "p", "children": [{"name": "A", "objects": 3, "bytes": 1}, {"name": "B", "objects": 4, "bytes": 1}]},
            {"name": "C", "objects": 5, "bytes": 1}]},
        "points-to": {"Heap#C": {"Heap#p#A": {"referencing": 4, "referenced": 1}, "Heap#p#B": {"referencing": 3, "referenced": 2}},
                      "Heap#p#A": {"Heap#p#B": {"referencing": 1, "referenced": 1, "references": 8}}}"#,
    );
    let source = read_text(text).unwrap();
    let map = source.references(0, source.timeline.find("Heap#p").unwrap()).unwrap();
    let c = source.timeline.find("Heap#C").unwrap();
    // C has 5 objects: 4 and 3 of them refer to the parts, so no more than 5 refer to the whole.
    assert_eq!(map.incoming, [Edge { other: c, referencing: 5, referenced: 3, references: 7 }]);
    assert_eq!((map.outgoing.len(), map.internal), (0, 8));
}

/// Trees of other programs may list what weak references lead to.
#[test]
fn weak_references_keep_nothing() {
    let text = document(
        r#""tree": {"children": [{"name": "java.lang.ref.WeakReference", "objects": 4, "bytes": 1},
            {"name": "java.lang.ref.ReferenceQueue", "objects": 1, "bytes": 1}, {"name": "A", "objects": 3, "bytes": 1}]},
        "points-to": {"Heap#java.lang.ref.WeakReference": {"Heap#A": {"referencing": 3, "referenced": 3, "references": 3},
            "Heap#java.lang.ref.ReferenceQueue": {"referencing": 4, "referenced": 1}}}"#,
    );
    let source = read_text(text).unwrap();
    let of = |key: &str| source.references(0, source.timeline.find(key).unwrap()).unwrap();
    assert_eq!((of("Heap#A").incoming.len(), of("Heap#A").weak), (0, (3, 0)));
    assert_eq!(of("Heap#java.lang.ref.ReferenceQueue").incoming.len(), 1);
}

#[test]
fn what_is_told_by_its_first_bytes() {
    let table: [(&[u8], bool); 11] = [
        (br#"{"format": "memory-city""#, true),
        (b"\xef\xbb\xbf \n{ \"format\"\n:\t\"memory-city\",", true),
        (br#"{"color": 1, "format":"memory-city"}"#, true),
        (br#"{"tree": {"name""#, true),
        (br#"{"times": ["#, true),
        (br#"{"format": "other", "tree": {}}"#, false),
        (br#"{"version": 1, "name": "npm"}"#, false),
        (br#"[{"format": "memory-city"}]"#, false),
        (b"JAVA PROFILE 1.0.2\0", false),
        (b"{", false),
        (b"", false),
    ];
    for (bytes, expected) in table {
        assert_eq!(identify(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn ten_thousand_levels() {
    const DEEP: usize = 10_000;
    let mut text = document("\"tree\": ");
    text.pop();
    for _ in 0..DEEP {
        text.push_str(r#"{"name":"f","children":["#);
    }
    text.push_str(r#"{"name":"f","objects":1,"bytes":2}"#);
    text.push_str(&"]}".repeat(DEEP));
    text.push('}');
    let source = read_text(text).unwrap();
    assert_eq!(source.timeline.len(), DEEP + 1);
    let mut out = Vec::new();
    super::super::write(&source.timeline, None, Default::default(), &mut out, Path::new("out"), &Progress::new())
        .unwrap();
    let again = read_text(out).unwrap();
    assert_eq!(again.timeline.level(NodeId(DEEP as u32)), DEEP as u32);
}

#[test]
fn cancelled_in_the_middle() {
    let nodes = vec![r#"{"name":"a","objects":1,"bytes":1}"#; 10_000].join(",");
    let text = document(&format!(r#""tree": {{"children": [{nodes}]}}"#));
    let progress = Progress::new();
    progress.cancel();
    let input = memory_city_heap::input::Input::from_bytes(Path::new("test.json"), text.into_bytes());
    let result = Collector::default().add_input(&input, &progress);
    assert!(matches!(result, Err(memory_city_heap::error::Error::Cancelled)));
}
