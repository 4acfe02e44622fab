//! Nothing is lost where a bar stands for several collections.

use super::*;
use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::timeline::{GcPoint, TimePoint};
use proptest::prelude::*;

fn strip(gcs: Vec<(f64, u64, u64, u64, u16)>) -> GcStrip {
    let mut causes = CauseNumbers::default();
    let gc = |(number, (at, pause, reclaimed, survived, cause)): (usize, (f64, u64, u64, u64, u16))| StripGc {
        at,
        pause,
        reclaimed: Some(reclaimed),
        survived: Some(survived),
        cause: causes.number(&format!("cause {cause}"), pause),
        kind: Some(GcKind::Minor),
        one_pause: false,
        number: number as u64,
    };
    let gcs = gcs.into_iter().enumerate().map(gc).collect();
    GcStrip { gcs, ..GcStrip::default() }.finish(causes)
}

#[test]
fn causes_are_ranked_by_what_they_took_and_tooltips_say_what_is_summed() {
    let strip = strip(vec![(0.0, 2_000_000, 10, 5, 0), (0.5, 9_000_000, 20, 6, 1), (9.0, 1_000_000, 30, 7, 0)]);
    let names: Vec<&str> = strip.causes().iter().map(|cause| &*cause.name).collect();
    assert_eq!(names, ["cause 1", "cause 0"]);
    let bars = strip.bars((0.0, 10.0), 40.0);
    assert_eq!(bars.bars.len(), 2, "two of them are nearer than bars can be");
    let told = strip.told(&bars.bars[0]).join("\n");
    assert!(told.starts_with("2 collections, 0 to 1\n"), "{told}");
    assert!(told.contains("Longest pause: 9.0 ms (cause 1); all together 11.0 ms"), "{told}");
    assert!(told.contains("Reclaimed: 30 B, the sum of all") && told.contains("Survived: 11 B, the sum"), "{told}");
    let alone = strip.told(&bars.bars[1]).join("\n");
    assert!(alone.contains("minor collection 2\ncause 0\nPause: 1.0 ms\nReclaimed: 30 B\nSurvived: 7 B"), "{alone}");
    assert_eq!((bars.most_bytes, bars.most_pause), (41, 9_000_000));
    let none = GcStrip::default().bars((0.0, 10.0), 40.0);
    assert!(none.bars.is_empty() && none.width > 0.0);
}

/// Where records are pauses, nothing is called a collection, and none is full.
#[test]
fn pauses_are_called_so() {
    let gc = |number| GcPoint {
        number,
        kind: GcKind::Major,
        one_pause: true,
        cause: "Warmup".to_owned(),
        duration: 2,
        end: true,
        freed: None,
    };
    let points = (3..6).map(|number| TimePoint { gc: Some(gc(number)), ..TimePoint::default() }).collect();
    let strip = GcStrip::of_points(&Timeline::from_trees(points, &vec![MemoryTree::new(); 3]));
    assert_eq!(strip.noun(), GcNoun::Pauses);
    let told = |width: f64| strip.told(&strip.bars((0.0, 2.0), width).bars[0]).remove(0);
    assert_eq!((told(400.0), told(2.0)), ("pause 3 of a major collection".to_owned(), "3 pauses, 3 to 5".to_owned()));
}

#[test]
fn a_collection_that_several_walks_follow_is_one() {
    let gc = |number| GcPoint {
        number,
        kind: GcKind::Minor,
        one_pause: false,
        cause: String::new(),
        duration: 2,
        end: true,
        freed: None,
    };
    let point = |gc| TimePoint { gc, ..TimePoint::default() };
    let points = vec![point(Some(gc(1))), point(Some(gc(2))), point(Some(gc(2))), point(None), point(Some(gc(3)))];
    let trees = vec![MemoryTree::new(); points.len()];
    let strip = GcStrip::of_points(&Timeline::from_trees(points, &trees));
    let found: Vec<(f64, u64)> = strip.gcs().iter().map(|gc| (gc.at, gc.number)).collect();
    assert_eq!(found, [(0.0, 1), (1.0, 2), (4.0, 3)]);
}

proptest! {
    #[test]
    fn every_seen_collection_is_in_one_bar(
        gcs in prop::collection::vec((0.0..100.0f64, 0..1000u64, 0..1000u64, 0..1000u64, 0..4u16), 0..300),
        from in 0.0..50.0f64, length in 1.0..60.0f64, width in 1.0..900.0f64,
    ) {
        let strip = strip(gcs);
        let seen: Vec<&StripGc> = strip.gcs().iter().filter(|gc| gc.at >= from && gc.at <= from + length).collect();
        let found = strip.bars((from, from + length), width);
        prop_assert_eq!(found.bars.iter().map(|bar| bar.gcs.len()).sum::<usize>(), seen.len());
        prop_assert_eq!(found.bars.iter().map(|bar| bar.reclaimed).sum::<u64>(), seen.iter().filter_map(|gc| gc.reclaimed).sum::<u64>());
        prop_assert_eq!(found.bars.iter().map(|bar| bar.survived).sum::<u64>(), seen.iter().filter_map(|gc| gc.survived).sum::<u64>());
        prop_assert_eq!(found.most_pause, seen.iter().map(|gc| gc.pause).max().unwrap_or(0));
        prop_assert!(found.bars.len() <= (width / LEAST) as usize + 1);
        for bar in &found.bars {
            prop_assert!(bar.x >= -1e-6 && bar.x <= width + 1e-6);
            let longest = strip.gcs()[bar.gcs.clone()].iter().find(|gc| gc.pause == bar.pause).expect("one of them");
            prop_assert_eq!(longest.cause, bar.cause);
        }
        prop_assert!(found.bars.windows(2).all(|pair| pair[0].gcs.end == pair[1].gcs.start && pair[0].x < pair[1].x));
    }
}
