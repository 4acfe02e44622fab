//! A recording that goes on is followed under any grouping: what was read stays, and of the walks only those that are new are read.

use memory_city_analysis::analyses::sampled_shares;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::json::TreesOfRecording;
use memory_city_analysis::timeline::{
    Amount, ClosureMetric, ClosureRequest, History, NodeId, RecordingFolder, Source, Timeline, json,
};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_testing::shop::Shop;
use memory_city_wire::{ChunkKind, PartReader, Piece, TraceOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All groups with their amounts at each time, by key; those without any are not told.
fn told(timeline: &Timeline) -> BTreeMap<String, Vec<Amount>> {
    let amounts = |node: NodeId| (0..timeline.times()).map(|time| timeline.amount(time, node)).collect::<Vec<_>>();
    let all = timeline.nodes().map(|node| (timeline.key(node), amounts(node)));
    all.filter(|(_, amounts)| amounts.iter().any(|amount| *amount != Amount::default())).collect()
}

fn follow(folder: &Path, grouping: &str) -> History {
    let recording = RecordingFolder::of(folder).expect("a recording");
    History::follow(&recording, grouping, GroupOptions::default(), &Progress::new()).expect("its walks")
}

fn grown(history: &History) -> Option<History> {
    history.grown(&Progress::new()).expect("it can be read")
}

fn parts(folder: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("a file").path()).collect();
    parts.sort();
    parts
}

/// Damages the objects of all walks that are there: whoever reads them again finds none.
fn damage_walks(folder: &Path) -> usize {
    let mut damaged = 0;
    for part in parts(folder) {
        let mut bytes = std::fs::read(&part).expect("a part");
        let pieces = PartReader::new(&part, &bytes).expect("a part");
        let objects = pieces.filter_map(|piece| match piece {
            Piece::Chunk(chunk) if chunk.kind() == ChunkKind::WALK_OBJECTS => {
                Some((chunk.offset + chunk.length()) as usize)
            }
            _ => None,
        });
        for end in objects.collect::<Vec<_>>() {
            bytes[end - 1] ^= 0x55;
            damaged += 1;
        }
        // In place, as the file is mapped and its writer goes on with it.
        use std::os::unix::fs::FileExt;
        std::fs::OpenOptions::new().write(true).open(&part).expect("a part").write_all_at(&bytes, 0).expect("written");
    }
    damaged
}

#[test]
fn walks_that_come_are_added_as_if_all_were_read_at_once() {
    let temporary = tempfile::tempdir().expect("a folder");
    for grouping in ["package-type", "thread > type", "age > type", "rooted > type", "type"] {
        let folder = temporary.path().join(grouping.replace([' ', '>'], "_"));
        let mut shop = Shop::begin(&folder, TraceOptions::default());
        shop.walk(4, 10);
        let mut followed = follow(&folder, grouping);
        for carts in [8, 8, 3, 20] {
            shop.walk(carts, 10);
            followed = grown(&followed).expect("a further walk");
            let (now, fresh) = (followed.timeline(), follow(&folder, grouping));
            assert_eq!(now.points(), fresh.timeline().points(), "{grouping}");
            assert_eq!(told(now), told(fresh.timeline()), "{grouping}");
            assert_eq!(followed.offers(followed.grouping()), Ok(()));
            assert_eq!(followed.warnings(), [], "that it goes on is known");
        }
        assert!(grown(&followed).is_none(), "{grouping}: nothing has come");
        let carts = told(followed.timeline()).into_iter().filter(|(key, _)| key.ends_with("Cart"));
        let last: u64 = carts.map(|(_, amounts)| amounts[4].objects).sum();
        assert_eq!(last, 20, "{grouping}");
    }
}

#[test]
fn only_new_walks_are_read() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("shop");
    let mut shop = Shop::begin(&folder, TraceOptions::default());
    shop.walk(4, 0);
    shop.walk(6, 0);
    let first = follow(&folder, "type");
    assert!(damage_walks(&folder) >= 2);
    shop.walk(10, 0);
    let now = grown(&first).expect("a further walk");
    let carts = |history: &History| {
        let timeline = history.timeline();
        let cart = timeline.nodes().find(|&node| timeline.name(node) == "shop.Cart").expect("carts");
        (0..timeline.times()).map(|time| timeline.amount(time, cart).objects).collect::<Vec<_>>()
    };
    assert_eq!(carts(&now), [4, 6, 10], "what was read before stays as it was");
    assert_eq!(carts(&follow(&folder, "type")), [0, 0, 10], "and is not there any more");
}

/// Retained amounts stay known for the walks for which they were found.
#[test]
fn what_was_found_of_walks_goes_on_with_them() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("shop");
    let mut shop = Shop::begin(&folder, TraceOptions::default());
    shop.walk(4, 0);
    let metrics = [ClosureMetric::Retained];
    let rules = KeepRules::default();
    let first = follow(&folder, "type").with_closures(&metrics, rules, &Progress::new()).expect("found");
    damage_walks(&folder);
    // A name before all others: the nodes have other numbers then.
    shop.walk(6, 3);
    let now = grown(&first).expect("a further walk");
    let now = now.with_closures(&metrics, rules, &Progress::new()).expect("found");
    let timeline = now.timeline();
    let list = timeline.nodes().find(|&node| timeline.name(node) == "shop.Cart[]").expect("lists");
    let request = ClosureRequest::of(&metrics, rules);
    for (time, carts) in [4u64, 6].into_iter().enumerate() {
        let found = now.closures_of(time, &[list], request, &Progress::new()).expect("known");
        assert_eq!(found[0].retained.objects, carts + 1, "time {time}");
    }
}

/// A recording with a bound lets go of its first walks; what follows it lets go of them too, and reads no other walk again.
#[test]
fn walks_that_are_gone_go_here_too() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("shop");
    let mut shop = Shop::begin(&folder, TraceOptions { part_bytes: 64 << 10, ..TraceOptions::default() });
    for carts in [4, 6] {
        shop.walk(carts, 80_000);
    }
    let first = follow(&folder, "thread > type");
    assert_eq!(first.timeline().times(), 2);
    for carts in [8, 0, 10] {
        shop.walk(carts, 80_000);
    }
    let before = grown(&first).expect("further walks");
    // The parts of the first three walks go.
    let parts = parts(&folder);
    let starts = |part: &PathBuf| {
        let bytes = std::fs::read(part).expect("a part");
        let pieces = PartReader::new(part, &bytes).expect("a part");
        pieces.filter(|p| matches!(p, Piece::Chunk(c) if c.kind() == ChunkKind::WALK_START)).count()
    };
    assert!(parts.iter().all(|part| starts(part) <= 1), "each walk has parts of its own");
    let mut walks = 0;
    for part in &parts {
        walks += starts(part);
        if walks <= 3 {
            std::fs::remove_file(part).expect("gone");
        }
    }
    shop.walk(12, 80_000);
    let now = grown(&before).expect("other walks");
    assert_eq!(now.timeline().times(), 3);
    let fresh = follow(&folder, "thread > type");
    assert_eq!(now.timeline().points(), fresh.timeline().points());
    // Of the samples of walks that are gone nothing is left in what is read afresh: the writer would have kept those.
    let of_types = |history: &History| {
        let timeline = history.timeline();
        let is_cart = |&node: &NodeId| timeline.name(node) == "shop.Cart";
        let carts = |time| timeline.nodes().filter(is_cart).map(|node| timeline.amount(time, node).objects).sum();
        (0..timeline.times()).map(carts).collect::<Vec<u64>>()
    };
    assert_eq!(of_types(&now), [0, 10, 12]);
    assert_eq!(of_types(&fresh), [0, 10, 12]);
    shop.walk(14, 80_000);
    assert_eq!(of_types(&grown(&now).expect("a further walk")), [0, 10, 12, 14]);
}

/// Trees that were sent are grouped anew from the walks of their recording, if that is the one; others as their writer grouped them.
#[test]
fn sent_trees_of_a_recording_are_grouped_anew() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("shop");
    let mut shop = Shop::begin(&folder, TraceOptions::default());
    shop.walk(4, 0);
    let sent = |recording: Option<RecordingFolder>| {
        let text = r#"{"format":"memory-city","version":1,"tree":{"children":[{"name":"A","objects":1,"bytes":9}]}}"#;
        let file = temporary.path().join("sent.json");
        std::fs::write(&file, text).expect("written");
        let mut trees = json::read(&[file], &Progress::new()).expect("trees");
        trees.recording = recording.map(|recording| TreesOfRecording { recording, grouping: "package-type".into() });
        Source::Trees(trees)
    };
    let recording = RecordingFolder::of(&folder).expect("a recording");
    let regroup = |source: &Source| source.regroup("thread > type", GroupOptions::default(), &Progress::new());
    let source = sent(Some(recording.clone()));
    assert!(source.can_regroup());
    assert_eq!(source.grouping_id(), "package-type");
    let followed = regroup(&source).expect("its walks");
    assert_eq!(followed.followed_recording(), Some(&recording));
    assert!(told(followed.timeline()).keys().any(|key| key.contains("worker-2")));
    assert!(followed.grown(&Progress::new()).expect("read").is_none());
    shop.walk(5, 0);
    let again = followed.regroup("type", GroupOptions::default(), &Progress::new()).expect("its walks");
    assert_eq!(again.timeline().times(), 2, "with what has come since");
    assert_eq!(again.followed_recording(), Some(&recording));

    // Where what is selected was allocated is told by the recording that they were made of, at the walk that they are.
    let label = followed.timeline().points()[0].label.clone();
    let text = format!(
        r#"{{"format":"memory-city","version":1,"times":[{{"label":"{label}","tree":{{"children":[{{"name":"shop","role":"Package",
        "children":[{{"name":"Cart","role":"Type","objects":4,"bytes":96}}]}}]}}}},{{"label":"gone","tree":{{"children":[
        {{"name":"shop","role":"Package","children":[{{"name":"Cart","role":"Type","objects":9,"bytes":216}}]}}]}}}}]}}"#
    );
    let file = temporary.path().join("walks.json");
    std::fs::write(&file, text).expect("written");
    let mut trees = json::read(&[file], &Progress::new()).expect("trees");
    trees.recording = Some(TreesOfRecording { recording: recording.clone(), grouping: "package-type".into() });
    let source = Source::Trees(trees);
    let carts = source.timeline().nodes().find(|&node| source.timeline().name(node) == "Cart").expect("carts");
    let shares = |time| sampled_shares(&source, carts, time, &Progress::new()).expect("read");
    let found = shares(0).expect("samples");
    assert_eq!((found.class.as_str(), found.samples), ("shop.Cart", 2));
    assert_eq!(shares(1), None, "that walk is not there");

    let others = sent(None);
    assert!(!others.may_have_samples());
    assert!(!others.can_regroup() && regroup(&others).is_err());
    let another = RecordingFolder { recording: [7; 16], ..recording.clone() };
    let refused = regroup(&sent(Some(another))).err().expect("another recording");
    assert!(refused.to_string().contains("another recording"), "{refused}");
    let nowhere = RecordingFolder { folder: temporary.path().join("nowhere"), ..recording };
    let refused = regroup(&sent(Some(nowhere))).err().expect("no recording");
    assert!(refused.to_string().contains("The recording is not here"), "{refused}");
    assert!(RecordingFolder::of(temporary.path()).is_err());
}
