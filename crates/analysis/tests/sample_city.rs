//! The sample series holds what its README says: the program's own counts, dump by dump.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, Metric, NodeId, Timeline};
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
