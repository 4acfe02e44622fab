//! The charts' numbers against the tables that are tested elsewhere, on recorded runs.

use super::*;
use crate::group::GroupOptions;
use crate::timeline::{Metric, NodeId};
use memory_city_testing::root;

fn source(name: &str) -> Source {
    let path = root().join("tests/data/anttracks").join(name);
    let options = GroupOptions { include_unreachable: true, gc_starts: true };
    Source::open(&[path], "type", options, &Progress::new()).expect("the trace")
}

#[test]
fn spaces_and_levels_are_those_of_the_trees() {
    let source = source("churn-parallel");
    let timeline = source.timeline();
    let facts = RunFacts::of(&source, TimeWindow::whole(timeline), 0, &Progress::new()).expect("facts");
    let spaces = facts.spaces.as_ref().expect("traces say where objects are");
    assert_eq!((spaces.len(), facts.collections.len()), (facts.measures.gcs.len(), facts.measures.gcs.len()));
    let history = source.heaps().expect("heaps");
    for time in 0..timeline.times() {
        let moment = history.moment(time);
        let (gc, side) = (moment / 2, moment % 2);
        assert_eq!(spaces[gc][side].all(), timeline.value(time, NodeId::ROOT, Metric::Bytes), "at {time}");
        let record = &facts.collections[gc];
        assert_eq!([record.before, record.after][side], Some(spaces[gc][side].all()));
    }
    // A young collection empties eden.
    assert!(spaces.iter().all(|[before, after]| after.eden <= before.eden));
    assert!(spaces[0][0].eden > 0 && spaces[0][1].eden == 0 && spaces.iter().any(|[_, after]| after.old > 0));
}

#[test]
fn what_came_and_went_adds_up() {
    let source = source("churn-parallel");
    let facts = RunFacts::of(&source, TimeWindow::whole(source.timeline()), 0, &Progress::new()).expect("facts");
    let lives = facts.lives.as_ref().expect("births");
    assert!(facts.lives_are_exact);
    let mut in_use = 0.0;
    for (gc, of) in lives.iter().enumerate() {
        in_use += of.born.bytes;
        // Some is born, for the recording, while a collection runs: what it finds, and what it allocates itself.
        let before = facts.collections[gc].before.expect("counted") as f64;
        assert!(before <= in_use, "before {gc}: {before} of {in_use}");
        in_use -= of.died.bytes;
        assert_eq!(facts.collections[gc].after.map(|bytes| bytes as f64), Some(in_use), "after {gc}");
        assert!(of.died_young.bytes <= of.born.bytes);
        if let Some(allocated) = facts.allocated(gc) {
            assert!(allocated <= of.born.bytes, "allocated before {gc}");
        }
    }
    let by_thread: f64 = facts.threads.iter().map(|of| of.born.objects).sum();
    let born: f64 = lives.iter().map(|of| of.born.objects).sum();
    assert_eq!(by_thread, born);
    assert!(facts.threads.windows(2).all(|w| w[0].born.bytes >= w[1].born.bytes));
    let table = facts.table();
    assert_eq!(table.rows.len(), facts.collections.len());
    assert!(table.rows.iter().all(|row| row.cells.len() == table.header.columns.len()));
}

#[test]
fn windows_snap_to_collections_and_find_their_points() {
    let source = source("churn-parallel");
    let facts = RunFacts::of(&source, TimeWindow::whole(source.timeline()), 0, &Progress::new()).expect("facts");
    let gcs = &facts.measures.gcs;
    let (from, to) = facts.snapped(gcs[4].end + 1, gcs[1].end + 1);
    assert_eq!((from, to), (gcs[1].end, gcs[4].end));
    assert_eq!(facts.gcs_between(from, to), 2..5);
    assert_eq!(facts.snapped(0, u64::MAX), (facts.measures.began, facts.ended));
    let points = facts.points(source.timeline(), from, to).expect("points");
    let millis = |time: usize| source.timeline().points()[time].millis;
    assert!(millis(points.from) <= from / NANOS && millis(points.to) >= to / NANOS);
    let numbers = facts.statistics(facts.measures.began, facts.ended);
    let of = |name: &str| &*numbers.iter().find(|s| s.name == name).expect(name).text;
    assert!(of("Collections").starts_with(&gcs.len().to_string()), "{numbers:?}");
    assert!(of("Collecting").ends_with("%)"));
}

#[test]
fn the_overview_as_a_table_has_every_point_of_both_charts() {
    let source = source("churn-parallel");
    let facts = RunFacts::of(&source, TimeWindow::whole(source.timeline()), 0, &Progress::new()).expect("facts");
    let table = facts.overview_table();
    let numbers = |at: usize| -> Vec<f64> {
        let number = |cell: &crate::tabular::Cell| cell.plain().parse().ok();
        table.rows.iter().filter_map(|row| number(&row.cells[at])).collect()
    };
    let levels: Vec<f64> = facts.measures.levels.iter().map(|level| level.bytes as f64).collect();
    assert_eq!(numbers(1), levels);
    let overhead: Vec<f64> = (0..facts.collections.len()).map(|gc| 100.0 * facts.overhead(gc)).collect();
    assert_eq!(numbers(2), overhead);
    assert!(numbers(0).is_sorted());
}
