//! How much memory a city takes, as it is allocated: nothing that is kept can be forgotten in this count.

use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::timeline::{Amount, TimePoint, Timeline};
use memory_city_testing::allocated::{Counting, held};
use memory_city_views::city::{Appearance, CityConfig, CityPlan, Look, PlotState};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Districts of so many buildings each, at two times.
fn timeline(districts: usize, buildings: usize) -> Timeline {
    let (district, building): (Arc<str>, Arc<str>) = (Arc::from("District"), Arc::from("Building"));
    let trees = [1u64, 2].map(|time| {
        let mut tree = MemoryTree::new();
        for d in 0..districts {
            let above = tree.child(0, &district, &Arc::from(format!("d{d}")));
            for b in 0..buildings {
                let leaf = tree.child(above, &building, &Arc::from(format!("b{b}")));
                let objects = 1 + (d * 7 + b * 7919) as u64 % 10_007 * time;
                tree.add_up(&[leaf as u32], Amount { objects, bytes: objects * 24 });
            }
        }
        tree
    });
    Timeline::from_trees(vec![TimePoint::default(); 2], &trees)
}

/// A box for the GPU (`BoxRecord` of the viewer, whose size a test there tells).
const BOX: f64 = 32.0;

#[test]
fn a_building_or_district_takes_a_hundred_bytes_and_eight_for_each_time() {
    // Threads of the pool allocate when they begin.
    rayon::broadcast(|_| ());
    for (districts, buildings) in [(200, 1000), (4000, 50), (1, 200_000)] {
        let timeline = timeline(districts, buildings);
        let config = CityConfig { child_count: None, ..CityConfig::default() };
        let (of_plan, plan) = held(|| CityPlan::new(&timeline, &config));
        let count = (plan.plots.len() + plan.districts.len()) as f64;
        assert_eq!(plan.plots.len(), districts * buildings, "every building has a plot");
        let (of_look, appearance) = held(|| Appearance::new(&plan, &timeline, &Look::default()));
        let blocks = appearance.detail().len() as f64;
        let each = |bytes: usize| bytes as f64 / count;
        let boxes = BOX * (count + blocks) / count;
        let all = each(of_plan) + each(of_look) + boxes;
        println!(
            "{districts} x {buildings}: plan {:.1}, look {:.1}, boxes {boxes:.1}: {all:.1}",
            each(of_plan),
            each(of_look)
        );
        assert!(all <= 100.0, "{all} bytes: {} + {} + {boxes}", each(of_plan), each(of_look));

        let (of_states, states) = held(|| (0..2).map(|t| appearance.states(&plan, &timeline, t)).collect::<Vec<_>>());
        assert_eq!(size_of::<PlotState>(), 8);
        assert!(each(of_states) <= 8.0 * states.len() as f64 + 0.01, "{} bytes for two times", each(of_states));
    }
}
