//! How much memory a city of the window takes, all of it: plan, look, boxes, names, what steps need, states, what is compared.
#![cfg(feature = "viewer")]

use memory_city::viewer::city::City;
use memory_city::viewer::settings::Settings;
use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::timeline::{Amount, TimePoint, Timeline};
use memory_city_testing::allocated::{Counting, held};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TIMES: usize = 8;

/// Districts of so many buildings each; at each time all of them are others.
fn timeline(districts: usize, buildings: usize) -> Timeline {
    let (district, building): (Arc<str>, Arc<str>) = (Arc::from("District"), Arc::from("Building"));
    let tree = |time: u64| {
        let mut tree = MemoryTree::new();
        for d in 0..districts {
            let above = tree.child(0, &district, &Arc::from(format!("d{d}")));
            for b in 0..buildings {
                let leaf = tree.child(above, &building, &Arc::from(format!("b{b}")));
                let objects = 1 + (d * 7 + b * 7919) as u64 % 10_007 * (1 + time);
                tree.add_up(&[leaf as u32], Amount { objects, bytes: objects * 24 });
            }
        }
        tree
    };
    let trees: Vec<MemoryTree> = (0..TIMES as u64).map(tree).collect();
    Timeline::from_trees(vec![TimePoint::default(); TIMES], &trees)
}

#[test]
fn a_whole_city_takes_a_hundred_bytes_a_building_and_eight_for_each_time_that_is_kept() {
    // Threads of the pool allocate when they begin.
    rayon::broadcast(|_| ());
    for (districts, buildings) in [(200, 1000), (4000, 50)] {
        let timeline = Arc::new(timeline(districts, buildings));
        for base in [None, Some(0)] {
            let settings = Settings { prune: false, base, ..Settings::default() };
            let (of_city, mut city) = held(|| City::new(&timeline, &settings));
            let boxes = city.boxes.records.len() as f64;
            let count = city.plan.plots.len() as f64;
            assert_eq!(city.plan.plots.len(), districts * buildings, "every building has a plot");
            let each = of_city as f64 / count;
            assert!(each <= 100.0, "{districts} x {buildings}: {each} bytes a building");
            // The first times: with what a step needs besides, and what stands over the boxes of two times, which is eight bytes a
            // building for each where a time is compared with another. Sums of blocks are all that is kept besides; blocks are few.
            let (of_step, _) = held(|| [0, 1, 2].map(|t| drop(city.states(t))));
            let (of_more, _) = held(|| (3..TIMES).for_each(|t| drop(city.states(t))));
            let more = of_more as f64 / boxes / (TIMES - 3) as f64;
            let besides = of_step as f64 / boxes - 3.0 * 8.0;
            println!(
                "{districts} x {buildings}, base {base:?}: {each:.1}, besides three times {besides:.1}, each more {more:.2}"
            );
            let most = if base.is_some() { 1.0 + 2.0 * 8.0 } else { 1.0 };
            assert!(besides <= most, "base {base:?}: a step needs {besides} bytes a building besides its states");
            assert!(more <= 8.01, "base {base:?}: {more} bytes a building for each time more");
        }
    }
}
