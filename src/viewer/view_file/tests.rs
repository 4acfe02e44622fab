//! Tests of view files: a written file reads back the same, and a file of another kind is an error that says so.

use super::*;
use crate::saved_view::ViewReach;
use bevy::math::Vec3;
use memory_city_views::city::ReferenceShape;
use memory_city_views::city::height::HeightCurve;

fn view() -> ViewFile {
    let settings =
        Settings { opacity: 0.15, shadows: false, reference_shape: ReferenceShape::Bundled, ..Settings::default() };
    ViewFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        data: vec!["dumps".into()],
        grouping: "package>type".into(),
        classifiers: BTreeMap::from([(
            "view-test-odd".into(),
            "if o.size % 2 == 1 { \"odd\" } else { \"even\" }".into(),
        )]),
        packages: Some("com.acme,org.x".into()),
        unreachable: true,
        gc_starts: false,
        time: 3,
        camera: CameraPose { eye: Vec3::new(0.1, 1.0 / 3.0, 77.7), yaw: 0.123_456_79, pitch: -0.7 },
        size: (801, 503),
        scale: 1.5,
        selected: vec!["Heap#a#b".into()],
        filter: "bytes > 1MB".into(),
        parts: vec![PartKey { key: "Heap#a".into(), beyond: 40 }],
        marks: BTreeMap::from([("Heap#a".into(), MarkNote { colour: 2, note: "why?".into() })]),
        bookmarks: Vec::new(),
        shadows: false,
        plan: true,
        base: Some(2),
        window: Some((1, 3)),
        range: Some((2, 3)),
        multiples: 4,
        ways: serde_json::from_value(serde_json::json!({
            "groups": ["Heap#a"], "kind": "owners", "share": 10, "cut": {"root": "Static field: a.B.c"}
        }))
        .ok(),
        compare: Some(CompareWish::Run { data: vec!["/elsewhere/fixed".into()], align: "gcs".into(), at: 7 }),
        seen: None,
        settings: saved_settings::of(&settings),
    }
}

#[test]
fn what_is_written_is_read_exactly() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("dumps");
    let path = folder.path().join("a.mcview");
    let compare = Some(CompareWish::Run { data: vec![folder.path().join("after")], align: "end".into(), at: 0 });
    let written = ViewFile { data: vec![data.clone(), "/elsewhere/x".into()], compare, ..view() };
    written.write(&path).expect("written");
    assert!(ViewFile::is_one(&path));
    let read = ViewFile::read(&path).expect("read");
    assert_eq!(read.outside().len(), 1, "what lies elsewhere");
    let read = read.within(ViewReach::Anywhere).expect("allowed");
    assert_eq!(read, written, "to the last bit of the camera");
    let text = std::fs::read_to_string(&path).expect("text");
    assert!(
        text.contains("\"after\"") && text.contains("\"dumps\"") && !text.contains(&*data.to_string_lossy()),
        "{text}"
    );
    let settings = read.settings(Settings::default());
    assert_eq!((settings.opacity, settings.reference_shape), (0.15, ReferenceShape::Bundled));
    assert_eq!(
        (settings.grouping.as_str(), settings.include_unreachable, settings.shadows),
        ("package>type", true, false)
    );
    assert_eq!(settings.parts, written.parts);
    assert_eq!((settings.base, settings.window, settings.multiples), (Some(1), Some((0, 2)), 4));
    // What the view has not is not taken from what was set before.
    let plain = ViewFile {
        base: None,
        window: None,
        multiples: 0,
        settings: saved_settings::of(&Settings::default()),
        ..written
    };
    // As many as `--multiples` takes.
    for (kept, shown) in [(6, 6), (64, 64), (1, 0), (65, 0)] {
        assert_eq!(ViewFile { multiples: kept, ..plain.clone() }.settings(Settings::default()).multiples, shown);
    }
    let before = Settings { base: Some(3), multiples: 9, curve: Some(HeightCurve::Log), ..settings };
    let of_plain = plain.settings(before);
    assert_eq!((of_plain.base, of_plain.window, of_plain.multiples, of_plain.curve), (None, None, 0, None));
}

/// A person's own grouping is shown on machines that do not have it.
#[test]
fn what_its_grouping_needs_is_made_known() {
    let path = Path::new("a.mcview");
    assert!(group::grouping("type>view-test-odd").is_err());
    let view = ViewFile { grouping: "type>view-test-odd".into(), ..view() };
    let wrong = ViewFile { classifiers: BTreeMap::from([("view-test-odd".into(), "if {".into())]), ..view.clone() };
    assert!(wrong.make_known(path).expect_err("no script").to_string().contains("a.mcview"));
    view.make_known(path).expect("known");
    let made = group::grouping("type>view-test-odd").expect("a grouping");
    assert_eq!(written(&made), ("type>view-test-odd".to_owned(), view.classifiers.clone()));
    let chosen = || group::registry().domain().chosen_here().map(<[String]>::to_vec);
    assert_eq!(chosen(), Some(vec!["com.acme".to_owned(), "org.x".to_owned()]));
    // Nobody has said which they are; a file of an earlier version says nothing.
    ViewFile { packages: None, ..view.clone() }.make_known(path).expect("known");
    assert!(chosen().is_some());
    ViewFile { packages: Some(String::new()), ..view }.make_known(path).expect("known");
    assert!(chosen().is_none());
}

#[test]
fn what_is_no_view_file_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.mcview");
    view().write(&path).expect("written");
    let good = std::fs::read_to_string(&path).expect("text");
    let later = good.replace("\"version\": 1", "\"version\": 2");
    let strange = good.replace("\"filter\"", "\"filtre\"");
    let mut none: serde_json::Value = serde_json::from_str(&good).expect("JSON");
    none["data"] = serde_json::json!([]);
    for text in ["", "{}", "[1]", &good[..good.len() / 2], &later, &strange, &none.to_string()] {
        std::fs::write(&path, text).expect("written");
        let error = ViewFile::read(&path).expect_err(text).to_string();
        assert!(error.contains("a.mcview"), "{error}");
    }
    std::fs::write(&path, "JAVA PROFILE 1.0.2").expect("written");
    assert!(!ViewFile::is_one(&path) && !ViewFile::is_one(folder.path()));
}

/// Dumps that were taken again lie under the same names.
#[test]
fn other_data_is_told() {
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::{Amount, TimePoint, Timeline};
    let data = |bytes: &[u64]| {
        let trees: Vec<MemoryTree> = bytes
            .iter()
            .map(|&bytes| {
                let mut tree = MemoryTree::new();
                tree.add_up(&[0], Amount { objects: 2, bytes });
                tree
            })
            .collect();
        Timeline::from_trees(vec![TimePoint::default(); trees.len()], &trees)
    };
    let seen = SeenData::of(&data(&[10, 20]), 1);
    let difference = |bytes: &[u64]| seen.difference(&data(bytes));
    assert_eq!(difference(&[10, 20]), None);
    assert_eq!(difference(&[99, 20]), None, "what is shown is the same");
    assert!(difference(&[10, 21]).is_some_and(|text| text.ends_with("2 objects of 21 bytes at 2, and 2 of 20 then")));
    assert!(difference(&[20]).is_some_and(|text| text.ends_with("1 point in time, and 2 then")));
}
