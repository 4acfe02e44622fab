//! The sample series holds what its README says: the program's own counts, dump by dump.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, Metric, NodeId, Timeline};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use std::sync::Arc;

/// Persons, sessions and imported rows after each step, as `PersonLeak` printed them.
const PRINTED: [(u64, u64, u64); 16] = [
    (250, 250, 3650),
    (400, 150, 3300),
    (500, 100, 2950),
    (650, 150, 2600),
    (950, 300, 2250),
    (1400, 450, 1900),
    (2100, 700, 1550),
    (3000, 900, 1200),
    (4100, 1100, 850),
    (5400, 1300, 500),
    (6800, 1400, 150),
    (8400, 1600, 0),
    (9900, 1500, 0),
    (11100, 1200, 0),
    (11900, 800, 0),
    (12400, 500, 0),
];

/// The one group whose name ends so; classes may be shown with or without their package.
fn leaf(timeline: &Timeline, ending: &str) -> NodeId {
    let is_it = |&node: &NodeId| timeline.is_leaf(node) && timeline.name(node).ends_with(ending);
    let found: Vec<NodeId> = timeline.nodes().filter(is_it).collect();
    assert_eq!(found.len(), 1, "groups that end with {ending}");
    found[0]
}

#[test]
fn every_dump_holds_what_the_program_kept() {
    let folder = root().join("sample-data/person-leak");
    let progress = Progress::new();
    let series = memory_city_formats::open(&[folder], &progress).expect("the sample");
    let history = History::build(Arc::from(series), "type", GroupOptions::default(), &progress).expect("a history");
    assert_eq!(history.warnings(), []);
    let timeline = history.timeline();
    assert_eq!(timeline.times(), PRINTED.len());
    for (t, (persons, sessions, rows)) in PRINTED.into_iter().enumerate() {
        let found = ["Person", "LinkedList$Node", "Sessions$Session", "Import$Row", "PageCache$Page"]
            .map(|class| timeline.amount(t, leaf(timeline, class)).objects);
        assert_eq!(found, [persons, persons, sessions, rows, 400], "dump {}", t + 1);
    }
    let strings = leaf(timeline, "lang.String");
    assert_eq!(timeline.growth(strings, Metric::Objects), 24_334, "the strongest growth, and a symptom");
}

/// The tree is made once for whoever asks next; it reaches no more than what is reachable, and less where soft references
/// do not keep.
#[test]
fn the_dominator_tree_of_a_time_is_shared() {
    let folder = root().join("sample-data/person-leak");
    let progress = Progress::new();
    let series = memory_city_formats::open(&[folder], &progress).expect("the sample");
    let history = History::build(Arc::from(series), "type", GroupOptions::default(), &progress).expect("a history");
    let tree = |time, rules| history.dominators(time, rules, &progress).expect("a tree");
    let (heap, first) = tree(3, KeepRules::default());
    assert_eq!(first.total().objects, first.top_down().count() as u64);
    assert!(first.total().objects <= heap.object_count() as u64);
    let (_, without_soft) = tree(3, KeepRules::SOFT_AS_WEAK);
    assert!(without_soft.total().objects < first.total().objects);
    assert!(Arc::ptr_eq(&first, &tree(3, KeepRules::default()).1), "the last two are kept");
    let (later, _) = tree(9, KeepRules::default());
    assert!(later.object_count() > heap.object_count());
    let again = tree(3, KeepRules::default());
    assert!(!Arc::ptr_eq(&first, &again.1), "and no more than two");
    assert!(again.1.top_down().eq(first.top_down()), "objects have the same numbers again");
}
