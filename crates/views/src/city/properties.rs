//! Invariants of all cities, tested on random trees, and small cities written out.

use super::testing::{TestTree, at, configs, inner, leaf, trees};
use super::{Appearance, AreaMode, CITY_SIZE, CityConfig, CityPlan, Look, PlotKind, Rect};
use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::timeline::{Amount, Metric, MetricInfo, NodeId, TimePoint, Timeline, Unit};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Cells of one district without their shared edges; none may touch another.
fn overlapping(cells: &[Rect]) -> Option<(Rect, Rect)> {
    let mut by_x: Vec<Rect> = cells.iter().map(|c| c.scaled(1.0 - 1e-9)).filter(|c| c.w.min(c.h) > 1e-4).collect();
    by_x.sort_by(|a, b| a.x.total_cmp(&b.x));
    for (i, a) in by_x.iter().enumerate() {
        for b in by_x[i + 1..].iter().take_while(|b| b.x < a.x + a.w) {
            if b.y < a.y + a.h && a.y < b.y + b.h {
                return Some((*a, *b));
            }
        }
    }
    None
}

/// Cells by the key of their group; `+` marks a More plot.
fn cells(plan: &CityPlan, timeline: &Timeline) -> BTreeMap<String, Rect> {
    let plots = plan.plots.iter().enumerate().map(|(i, p)| match plan.kind(i) {
        PlotKind::Building(node) => (timeline.key(node), p.cell),
        PlotKind::More { parent, .. } => (timeline.key(parent) + "+", p.cell),
    });
    let districts = plan.districts.iter().map(|d| (timeline.key(d.node) + "#", d.cell));
    plots.chain(districts).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn area_per_value_is_one_constant_at_every_depth(tree in trees(), config in configs()) {
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &config);
        for i in 0..plan.plots.len() {
            let base = plan.base(i, config.gap).area();
            let share = plan.base_area(plan.max_value(i) as f64);
            match plan.kind(i) {
                PlotKind::Building(node) => {
                    prop_assert_eq!(timeline.peak(node, config.metric), plan.max_value(i));
                    prop_assert!(close(base, share), "{base} {share}");
                }
                // Never smaller than its share, possibly larger to be visible.
                PlotKind::More { .. } => prop_assert!(base >= share * (1.0 - 1e-9)),
            }
        }
        // At every time, not only at the maximum.
        for t in 0..timeline.times() {
            for i in 0..plan.plots.len() {
                if let Some(node) = plan.building(i) {
                    let area = plan.base(i, plan.side(&timeline, i, t)).area();
                    let expected = plan.base_area(timeline.value(t, node, config.metric) as f64);
                    prop_assert!((area - expected).abs() <= 1e-9 * expected, "{area} {expected}");
                }
            }
        }
    }

    #[test]
    fn districts_are_filled_and_nothing_overlaps(tree in trees(), config in configs()) {
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &config);
        let city = Rect::new(-CITY_SIZE / 2.0, -CITY_SIZE / 2.0, CITY_SIZE, CITY_SIZE);
        prop_assert_eq!(plan.districts[0].cell, city);
        for (d, contents) in plan.districts.iter().zip(&plan.contents) {
            let inside: Vec<Rect> = plan.plots[contents.plots.clone()].iter().map(|p| p.cell)
                .chain(plan.districts[contents.districts.clone()].iter().map(|d| d.cell)).collect();
            let block = d.cell.scaled(config.border);
            for cell in &inside {
                prop_assert!(block.contains(cell, 1e-9));
            }
            prop_assert_eq!(overlapping(&inside), None);
            if !inside.is_empty() {
                prop_assert!(close(inside.iter().map(Rect::area).sum(), block.area()));
            }
            for p in &plan.plots[contents.plots.clone()] {
                prop_assert_eq!((p.ground(), p.level), (d.top, d.level + 1));
            }
        }
    }

    #[test]
    fn the_current_base_lies_centred_in_its_plot_with_its_shape(tree in trees(), config in configs()) {
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &config);
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        for t in 0..timeline.times() {
            for (i, state) in appearance.states(&plan, &timeline, t).into_iter().enumerate() {
                let (cell, scale) = (plan.plots[i].cell, plan.side(&timeline, i, t));
                prop_assert!((0.0..=config.gap + 1e-7).contains(&scale));
                // What is drawn and picked is the same within a step of the record, and never rounds to nothing.
                let standing = appearance.standing(state);
                prop_assert!((f64::from(standing.side) - scale).abs() < 2e-5);
                let step = f64::from(appearance.height_unit()) / 65535.0;
                prop_assert!((f64::from(standing.height) - plan.height(i, scale)).abs() <= step);
                prop_assert_eq!(scale == 0.0, plan.amount(&timeline, i, t).objects == 0);
                let base = plan.base(i, scale);
                prop_assert!(cell.contains(&base, 1e-12));
                prop_assert!((base.centre().0 - cell.centre().0).abs() < 1e-9);
                prop_assert!((base.w * cell.h - base.h * cell.w).abs() < 1e-9 * cell.w.max(cell.h).powi(2));
                if !plan.is_more(i) {
                    prop_assert!(close(plan.height(i, scale), 2.0 * base.area().sqrt()));
                }
            }
        }
        // A plot that never reaches its gap would waste space reserved for it.
        for i in 0..plan.plots.len() {
            let most = (0..timeline.times()).map(|t| plan.side(&timeline, i, t)).fold(0.0, f64::max);
            prop_assert!((most - config.gap).abs() < 1e-6);
        }
    }

    #[test]
    fn nothing_is_lost(tree in trees(), config in configs()) {
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &config);
        let nodes = (0..timeline.len()).map(|i| NodeId(i as u32));
        for node in nodes.clone() {
            let valued = timeline.peak(node, config.metric) > 0;
            let placed = plan.plot_of(node).is_some() || plan.district_of(node).is_some();
            prop_assert!(placed == valued || node == NodeId::ROOT);
        }
        // What plots stand for adds up to the heap at every time.
        for t in 0..timeline.times() {
            let sum: u64 = (0..plan.plots.len()).map(|i| plan.amount(&timeline, i, t).objects).sum();
            prop_assert_eq!(sum, timeline.amount(t, NodeId::ROOT).objects);
        }
        let limit = config.child_count.unwrap_or(usize::MAX);
        for i in 0..plan.plots.len() {
            let PlotKind::More { parent, count } = plan.kind(i) else {
                prop_assert!(plan.pruned(i).is_empty());
                continue;
            };
            prop_assert_eq!(plan.pruned(i).len(), count as usize);
            let own = |n: &&NodeId| plan.plot_of(**n) != Some(i) && timeline.peak(**n, config.metric) > 0;
            let kept: Vec<NodeId> = timeline.children(parent).iter().filter(own).copied().collect();
            prop_assert_eq!(kept.len(), limit);
            let value = |n: &NodeId| timeline.peak(*n, config.metric);
            let smallest = kept.iter().map(value).min().unwrap_or(u64::MAX);
            prop_assert!(plan.pruned(i).iter().all(|n| value(n) <= smallest));
            prop_assert!(plan.pruned(i).is_sorted_by_key(|n| std::cmp::Reverse(value(n))));
        }
    }

    #[test]
    fn neither_order_nor_unit_nor_zeros_change_the_city(tree in trees(), config in configs()) {
        let timeline = tree.timeline();
        let expected = cells(&CityPlan::new(&timeline, &config), &timeline);
        for other in [tree.mirrored(), tree.with_zeros(), tree.times_factor(16)] {
            let timeline = other.timeline();
            prop_assert_eq!(&cells(&CityPlan::new(&timeline, &config), &timeline), &expected);
        }
    }

    #[test]
    fn solid_buildings_are_those_that_grow_most(tree in trees(), config in configs(), n in 0usize..12) {
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &config);
        let solid = plan.solid(&timeline, n, None);
        let growth = |node| timeline.growth(node, config.metric);
        strongest(&plan, &solid, n, growth)?;
    }

    /// With a base, a decrease counts as much as an increase of the same size.
    #[test]
    fn solid_buildings_of_both_ways_are_those_that_change_most(
        tree in trees(), config in configs(), n in 0usize..12, base in 0usize..4,
    ) {
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &config);
        let base = base.min(timeline.times() - 1);
        let solid = plan.solid(&timeline, n, Some(base));
        let change = |node| {
            let value = |t: usize| timeline.value(t, node, config.metric) as i64;
            let above = (0..timeline.times()).map(|t| value(t) - value(base)).max().unwrap_or(0);
            above.max(value(base) - value(timeline.times() - 1))
        };
        strongest(&plan, &solid, n, change)?;
    }
}

/// `n` buildings are opaque, and none of the others is stronger than any of them.
fn strongest(plan: &CityPlan, solid: &[bool], n: usize, strength: impl Fn(NodeId) -> i64) -> Result<(), TestCaseError> {
    let of = |wanted: bool| -> Vec<i64> {
        let plots = (0..plan.plots.len()).filter(|&plot| solid[plot] == wanted);
        plots.filter_map(|plot| plan.building(plot)).map(&strength).collect()
    };
    let (opaque, clear) = (of(true), of(false));
    prop_assert_eq!(opaque.len(), n.min(opaque.len() + clear.len()));
    prop_assert!(opaque.iter().all(|a| clear.iter().all(|b| a >= b)));
    Ok(())
}

fn small() -> TestTree {
    inner(
        "Heap",
        vec![
            inner("java.lang", vec![leaf("String", &[100, 400, 900]), leaf("char[]", &[100, 300, 400])]),
            inner("app", vec![leaf("Cache", &[1, 1, 1]), leaf("Entry", &[0, 50, 25]), leaf("Late", &[9, 0, 0])]),
        ],
    )
}

#[test]
fn a_district_reserves_the_maxima_of_its_buildings_even_where_its_own_maximum_is_smaller() {
    // x and y are never there together: the district never has more than 100, its buildings reserve 200.
    let tree =
        inner("Heap", vec![inner("d", vec![leaf("x", &[100, 0]), leaf("y", &[0, 100])]), leaf("z", &[100, 100])]);
    let timeline = tree.timeline();
    let plan = CityPlan::new(&timeline, &CityConfig { area_mode: AreaMode::Linear, ..CityConfig::default() });
    let area = |key| plan.plots[plan.plot_of(at(&timeline, key)).unwrap()].cell.area();
    for key in ["Heap#d#x", "Heap#d#y"] {
        assert!(close(area(key), area("Heap#z")));
    }
}

#[test]
fn states_follow_the_specification() {
    let timeline = small().timeline();
    let plan = CityPlan::new(&timeline, &CityConfig { gap: 1.0, ..CityConfig::default() });
    let appearance = Appearance::new(&plan, &timeline, &Look::default());
    let state = |key, t| appearance.state(&plan, &timeline, plan.plot_of(at(&timeline, key)).unwrap(), t);
    // sqrt mode: side = (v / max) ^ 1/4; colour = growth so far over the largest growth, String's 800.
    for (key, t, scale, growth) in [
        ("Heap#java.lang#String", 0, (100.0f64 / 900.0).powf(0.25), 0.0),
        ("Heap#java.lang#String", 1, (400.0f64 / 900.0).powf(0.25), 300.0 / 800.0),
        ("Heap#java.lang#String", 2, 1.0, 1.0),
        ("Heap#java.lang#char[]", 2, 1.0, 300.0 / 800.0),
        ("Heap#app#Cache", 2, 1.0, 0.0),
        ("Heap#app#Entry", 0, 0.0, 0.0),
        ("Heap#app#Entry", 1, 1.0, 50.0 / 800.0),
        ("Heap#app#Late", 1, 0.0, 0.0), // shrinking is no growth
    ] {
        let s = state(key, t);
        let side = f64::from(appearance.standing(s).side);
        assert!((side - scale).abs() < 2e-5 && (f64::from(s.colour()) - growth).abs() < 2e-5, "{key} {t} {s:?}");
    }
}

#[test]
fn pruned_children_share_one_plot_that_tells_what_it_stands_for() {
    let timeline = small().timeline();
    let config = CityConfig { child_count: Some(1), ..CityConfig::default() };
    let plan = CityPlan::new(&timeline, &config);
    let (heap, lang) = (NodeId::ROOT, at(&timeline, "Heap#java.lang"));
    let app = at(&timeline, "Heap#app");
    let more = plan.plot_of(app).unwrap();
    assert_eq!(plan.kind(more), PlotKind::More { parent: heap, count: 1 });
    assert_eq!(plan.plot_of(at(&timeline, "Heap#app#Entry")), Some(more), "what is below a pruned node is there too");
    assert_eq!(plan.district_of(app), None);
    assert_eq!((plan.more_of(heap), plan.more_of(app)), (Some(more), None));
    let summary = plan.more_summary(&timeline, more, 1).unwrap();
    assert_eq!((summary.children, summary.leaves, summary.amount.objects), (1, 3, 51));
    assert!((summary.share - 51.0 / 751.0).abs() < 1e-12);
    assert_eq!(plan.max_value(more), 51, "the largest sum, not the sum of the largest");
    assert!(matches!(plan.kind(plan.plot_of(at(&timeline, "Heap#java.lang#char[]")).unwrap()),
        PlotKind::More { parent, count: 1 } if parent == lang));
    // Entry grows by 25: with two solid buildings asked for and one shown, its More plot stands out for it.
    assert!(plan.solid(&timeline, 2, None)[more]);
    assert!(!plan.solid(&timeline, 0, None)[more]);
}

#[test]
fn cities_of_nothing_and_of_one_group() {
    let nothing = leaf("Heap", &[0, 0]).timeline();
    let plan = CityPlan::new(&nothing, &CityConfig::default());
    assert_eq!((plan.plots.len(), plan.districts.len(), plan.levels()), (0, 1, 1));
    let appearance = Appearance::new(&plan, &nothing, &Look::default());
    assert!(appearance.states(&plan, &nothing, 0).is_empty());
    assert_eq!(appearance.legend().marks.len(), 1);
    let one = leaf("Heap", &[5, 7]).timeline();
    let plan = CityPlan::new(&one, &CityConfig::default());
    assert_eq!((plan.plots.len(), plan.districts.len()), (1, 1));
    assert_eq!((plan.plot_of(NodeId::ROOT), plan.district_of(NodeId::ROOT)), (Some(0), Some(0)));
}

#[test]
fn a_chain_of_ten_thousand_districts_keeps_its_building() {
    let n = 10_000;
    let mut tree = MemoryTree::new();
    let mut node = 0;
    let amount = Amount { objects: 3, bytes: 48 };
    tree.add(node, amount);
    for i in 0..n {
        node = tree.child(node, &Arc::from("Level"), &Arc::from(format!("{i}")));
        tree.add(node, amount);
    }
    let point = TimePoint::default();
    let timeline = Timeline::from_trees(vec![point], &[tree]);
    let plan = CityPlan::new(&timeline, &CityConfig::default());
    assert_eq!((plan.districts.len(), plan.plots.len()), (n as usize, 1));
    assert!(plan.plots[0].cell.w > 20.0 && plan.plots[0].ground() < 15.0);
    assert_eq!(plan.levels(), n);
}

#[test]
fn factors_out_of_range_are_brought_into_it() {
    let timeline = small().timeline();
    for bad in [f64::NAN, 0.0, -1.0, 7.0, f64::INFINITY] {
        let plan = CityPlan::new(&timeline, &CityConfig { border: bad, gap: bad, ..CityConfig::default() });
        assert!(plan.plots.iter().all(|p| p.cell.area() > 0.0));
        assert!((0.5..=1.0).contains(&plan.config.border) && (0.1..=1.0).contains(&plan.config.gap));
    }
}

#[test]
fn the_legend_says_what_the_colours_are() {
    let timeline = small().timeline();
    let plan = CityPlan::new(&timeline, &CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
    let appearance = Appearance::new(&plan, &timeline, &Look::default());
    let legend = appearance.legend();
    assert_eq!(legend.title, "Growth since the first state, bytes");
    let marks: Vec<(f32, f64, &str)> = legend.marks.iter().map(|m| (m.position, m.value, &*m.text)).collect();
    assert_eq!(marks, [(0.0, 0.0, "0 or less"), (0.5, 6400.0, "+6.40 kB"), (1.0, 12800.0, "+12.8 kB")]);
    for position in [0.0, 0.1, 0.5, 0.75, 1.0] {
        assert_eq!(legend.gradient.at(position), super::growth_colour(position));
    }
}

/// A healthy program: differences are small against the heap, and nothing is red or teal in any mode of growth.
#[test]
fn little_growth_is_no_alarm_in_any_mode_of_growth() {
    let tree = inner("Heap", vec![leaf("cache", &[100_000, 100_000, 100_000]), leaf("log", &[10, 30, 50])]);
    let timeline = tree.timeline();
    let plan = CityPlan::new(&timeline, &CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
    let log = plan.plot_of(at(&timeline, "Heap#log")).expect("a plot");
    for (mode, same) in [("growth", 0.0), ("overall", 0.0), ("change", 0.5)] {
        for base in [None, Some(0), Some(1)] {
            let look = Look { colour: mode.into(), base, ..Look::default() };
            let appearance = Appearance::new(&plan, &timeline, &look);
            assert!(appearance.legend().title.contains("5 % of the heap"), "{}", appearance.legend().title);
            for t in 0..3 {
                let position = appearance.state(&plan, &timeline, log, t).colour();
                // A root stretches what is little; a twentieth of the heap is 125 times as much.
                assert!((position - same).abs() < 0.05, "{mode} since {base:?} at {t}: {position}");
            }
        }
    }
    // And where it is much it is red.
    let tree = inner("Heap", vec![leaf("cache", &[100_000, 100_000]), leaf("log", &[10, 20_000])]);
    let timeline = tree.timeline();
    let plan = CityPlan::new(&timeline, &CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
    let log = plan.plot_of(at(&timeline, "Heap#log")).expect("a plot");
    for mode in ["growth", "overall", "change"] {
        let appearance = Appearance::new(&plan, &timeline, &Look { colour: mode.into(), ..Look::default() });
        assert!(appearance.state(&plan, &timeline, log, 1).colour() > 0.999, "{mode}");
    }
}

/// One state has no growth to tell: its colours are shares of the heap, and the legend says so.
#[test]
fn one_state_is_coloured_by_share() {
    let one = inner("Heap", vec![leaf("a", &[30]), leaf("b", &[70])]).timeline();
    let plan = CityPlan::new(&one, &CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
    let title = |mode: &str| {
        let appearance = Appearance::new(&plan, &one, &Look { colour: mode.into(), ..Look::default() });
        appearance.legend().title.clone()
    };
    for mode in ["growth", "change", "overall", "relative", "share"] {
        assert!(title(mode).starts_with("Share of the heap"), "{mode}: {}", title(mode));
    }
    assert_ne!(title("fill"), title("share"));
}

/// Every building that is there has its place in the histogram of the legend, and no other has.
#[test]
fn the_histogram_counts_every_building_once() {
    let timeline = small().timeline();
    for child_count in [None, Some(1)] {
        let plan = CityPlan::new(&timeline, &CityConfig { child_count, ..CityConfig::default() });
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        for t in 0..timeline.times() {
            let states = appearance.states(&plan, &timeline, t);
            let mut histogram = super::ColourHistogram::of(&states);
            (0..plan.plots.len()).filter(|&p| plan.is_more(p)).for_each(|more| histogram.remove(states[more]));
            let buildings = (0..plan.plots.len()).filter(|&p| !plan.is_more(p));
            let there: Vec<usize> = buildings.filter(|&p| plan.value(&timeline, t, p) > 0).collect();
            assert_eq!(histogram.buildings() as usize, there.len());
            for plot in there {
                let part = (states[plot].colour() * super::ColourHistogram::PARTS as f32) as usize;
                assert!(histogram.counts[part.min(super::ColourHistogram::PARTS - 1)] > 0);
            }
        }
    }
}

/// Every colour mode: buildings at a mark of the legend have the value that the mark names.
#[test]
fn marks_of_every_legend_are_where_buildings_of_that_value_are() {
    let mut timeline = small().timeline();
    // What some modes tell of, each with numbers of its own.
    for (i, mode) in super::colour::modes().iter().enumerate() {
        if let Some(id) = mode.metric {
            let info = MetricInfo::new(id, id, Unit::Count);
            let of = timeline.clone();
            let value = |t: usize, node: NodeId| (of.value(t, node, Metric::Bytes) * (i as u64 + 3) + t as u64) % 1009;
            timeline = timeline.with_metric(info, value);
        }
    }
    let plan = CityPlan::new(&timeline, &CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
    let mut told = std::collections::BTreeSet::new();
    for mode in super::colour::modes() {
        let appearance = Appearance::new(&plan, &timeline, &Look { colour: mode.id.into(), ..Look::default() });
        let marks = &appearance.legend().marks;
        assert!(mode.id == "none" || marks.len() > 1, "{}: {marks:?}", mode.id);
        assert!(marks.is_sorted_by(|a, b| a.position < b.position && a.value < b.value), "{}", mode.id);
        for plot in 0..plan.plots.len() {
            for t in 0..timeline.times() {
                let position = appearance.state(&plan, &timeline, plot, t).colour();
                let value = plan.value(&timeline, t, plot) as f64;
                let value = match mode.id {
                    "growth" => (value - plan.value(&timeline, 0, plot) as f64).max(0.0),
                    "share" => value / timeline.value(t, NodeId::ROOT, Metric::Bytes) as f64,
                    "change" => value - plan.value(&timeline, 0, plot) as f64,
                    "overall" => {
                        let of = |t| plan.value(&timeline, t, plot) as f64;
                        (of(timeline.times() - 1) - of(0)).max(0.0)
                    }
                    "relative" => match plan.value(&timeline, 0, plot) as f64 {
                        first if first == value => 1.0,
                        first => (value / first).clamp(0.125, 8.0),
                    },
                    "fill" => value / plan.max_value(plot) as f64,
                    "age" => {
                        let there = (0..=t).rev().take_while(|&t| plan.value(&timeline, t, plot) > 0).count();
                        if there == t + 1 { 1.0 } else { there.saturating_sub(1) as f64 / t.max(1) as f64 }
                    }
                    "none" => {
                        assert_eq!(position, 0.0);
                        continue;
                    }
                    id => {
                        let (Some(metric), Some(node)) =
                            (mode.metric.and_then(|id| timeline.metric(id)), plan.building(plot))
                        else {
                            assert!(mode.metric.is_some(), "nothing is said here of {id}");
                            continue;
                        };
                        told.insert(mode.id);
                        timeline.value(t, node, metric) as f64
                    }
                };
                for mark in marks {
                    let (below, above) = (position < mark.position - 1e-4, position > mark.position + 1e-4);
                    assert!(!below || value < mark.value, "{} {value} {mark:?}", mode.id);
                    assert!(!above || value > mark.value, "{} {value} {mark:?}", mode.id);
                }
            }
        }
    }
    assert_eq!(told.into_iter().collect::<Vec<_>>(), ["objects-age", "referrers", "retained"]);
}

/// Every height rule: no building exceeds the peak of its rule, and every present building has a height.
#[test]
fn heights_stay_below_their_peaks() {
    let timeline = small().timeline();
    let plan = CityPlan::new(&timeline, &CityConfig::default());
    let values = super::Values::of_areas(&plan, &timeline);
    for rule in super::height::rules() {
        for (curve, cap) in
            super::height::HeightCurve::ALL.into_iter().flat_map(|curve| [(curve, false), (curve, true)])
        {
            // Size classes are of the other metric by themselves.
            let measured = match rule.measures {
                super::height::HeightMetric::Other => values.measured_in(Metric::Bytes),
                _ => values,
            };
            let scale = (rule.scale)(&measured, super::height::HeightWish { curve, cap });
            let look = Look { height: rule.id.into(), curve: Some(curve), cap, ..Look::default() };
            let appearance = Appearance::new(&plan, &timeline, &look);
            assert_eq!(appearance.height_axis(), &scale.axis);
            assert!(scale.axis.ticks.is_sorted_by(|a, b| a.height < b.height), "{} {:?}", rule.id, scale.axis);
            for plot in 0..plan.plots.len() {
                let peak = (scale.peak)(&measured, plot);
                for t in 0..timeline.times() {
                    let standing = appearance.standing(appearance.state(&plan, &timeline, plot, t));
                    assert_eq!(standing.side > 0.0, standing.height > 0.0, "{}", rule.id);
                    assert!(f64::from(standing.height) <= peak * 1.001 + 1e-3, "{} {standing:?} {peak}", rule.id);
                }
                let peak = if values.is_more(plot) { super::MORE_HEIGHT } else { peak };
                assert!(plan.plots[plot].ground() + peak <= appearance.tallest() + 1e-9);
            }
        }
    }
}

/// Axes name heights that buildings of that amount have.
#[test]
fn ticks_are_where_buildings_of_that_amount_end() {
    let tree =
        inner("Heap", (0..40u64).map(|i| leaf(&format!("G{i:02}"), &[1 + i, (1 + i) * (1 + i) * 1000])).collect());
    let timeline = tree.timeline();
    let plan =
        CityPlan::new(&timeline, &CityConfig { metric: Metric::Objects, child_count: None, ..CityConfig::default() });
    for (rule, curve) in [("base", None), ("amount", None), ("amount", Some(super::height::HeightCurve::Log))] {
        let appearance = Appearance::new(&plan, &timeline, &Look { height: rule.into(), curve, ..Look::default() });
        let ticks = &appearance.height_axis().ticks;
        assert!((2..=6).contains(&ticks.len()), "{rule} {ticks:?}");
        for tick in ticks {
            let amount: u64 = tick.text.replace(',', "").parse().expect("a count");
            for plot in 0..plan.plots.len() {
                let value = plan.value(&timeline, 1, plot);
                let height = f64::from(appearance.standing(appearance.state(&plan, &timeline, plot, 1)).height);
                assert!(
                    (value >= amount) == (height >= tick.height - 2e-3),
                    "{rule} {value} {amount} {height} {tick:?}"
                );
            }
        }
    }
    // Bytes tiny to huge while objects give the areas, and the other way round.
    for (areas, said) in [(Metric::Objects, "bytes"), (Metric::Bytes, "objects")] {
        let plan = CityPlan::new(&timeline, &CityConfig { metric: areas, ..CityConfig::default() });
        let appearance = Appearance::new(&plan, &timeline, &Look { height: "classes".into(), ..Look::default() });
        assert_eq!(appearance.height_title(), Some(&*format!("Size class, {said}")));
        assert_eq!(appearance.height_axis().ticks.len(), 5);
    }
}

/// One building in fifty may be higher than it is drawn; it says so, and the others can be compared.
#[test]
fn an_outlier_is_capped_and_marked() {
    let tree = inner(
        "Heap",
        (0..20u64).map(|i| leaf(&format!("G{i:02}"), &[if i == 7 { 100_000 } else { 10 + i }])).collect(),
    );
    let timeline = tree.timeline();
    let plan = CityPlan::new(&timeline, &CityConfig { metric: Metric::Objects, ..CityConfig::default() });
    let linear = Some(super::height::HeightCurve::Linear);
    for cap in [true, false] {
        let look = Look { height: "amount".into(), curve: linear, cap, ..Look::default() };
        let appearance = Appearance::new(&plan, &timeline, &look);
        assert_eq!(appearance.height_axis().capped_above.is_some(), cap);
        let over = appearance.overlay(&plan, &timeline, 0);
        let marked = over.iter().filter(|over| over.colour & super::sign::CAPPED != 0).count();
        assert_eq!(marked, usize::from(cap));
        let other = plan.plot_of(at(&timeline, "Heap#G19")).unwrap();
        let height = appearance.standing(appearance.state(&plan, &timeline, other, 0)).height;
        assert_eq!(height > 20.0, cap, "{height}");
    }
}

/// Areas, heights and colours in three metrics: each is what it would be alone.
#[test]
fn areas_heights_and_colours_are_measured_apart() {
    let plain = small().timeline();
    // Another column, in which other groups are large: nothing like objects or bytes.
    let column = |t: usize, node: NodeId| (u64::from(node.0) * 37 + 11) % 23 * (t as u64 * 5 + 1);
    let info =
        memory_city_analysis::timeline::MetricInfo::new("kept", "Kept", memory_city_analysis::timeline::Unit::Count);
    let timeline = plain.with_metric(info, column);
    let metric = timeline.metric("kept").expect("the column");
    let plan = CityPlan::new(&timeline, &CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
    let look = |colour: &str, height: &str, of: [Option<&str>; 2]| Look {
        colour: colour.into(),
        height: height.into(),
        colour_metric: of[0].map(Into::into),
        height_metric: of[1].map(Into::into),
        ..Look::default()
    };
    let before = Appearance::new(&plan, &timeline, &look("growth", "base", [None, None]));
    let most_growth = super::max_growth(&timeline, metric);
    let buildings = || {
        (0..plan.plots.len()).filter_map(|plot| match plan.kind(plot) {
            PlotKind::Building(node) => Some((plot, node)),
            PlotKind::More { .. } => None,
        })
    };
    let times = timeline.times();
    let largest = buildings().flat_map(|(_, node)| (0..times).map(move |t| (t, node)));
    let largest = largest.map(|(t, node)| timeline.value(t, node, metric)).max().expect("values");
    let apart = Appearance::new(&plan, &timeline, &look("growth", "amount", [Some("kept"), Some("kept")]));
    assert_eq!(apart.height_title(), Some("Amount, kept (square root)"));
    assert_eq!(before.height_title(), None);
    // The scale of growth as a height ends where any building ever is.
    let grown_at =
        |(t, node): (usize, NodeId)| timeline.value(t, node, metric).saturating_sub(timeline.value(0, node, metric));
    let most_height = buildings().flat_map(|(_, node)| (0..times).map(move |t| (t, node))).map(grown_at).max();
    let most_height = most_height.expect("values");
    let heights = Appearance::new(&plan, &timeline, &look("share", "growth", [None, Some("kept")]));
    for t in 0..times {
        for (plot, node) in buildings() {
            let (old, new) = (before.state(&plan, &timeline, plot, t), apart.state(&plan, &timeline, plot, t));
            assert_eq!((old.side, old.opacity), (new.side, new.opacity), "areas stay");
            let standing = apart.standing(new);
            if standing.side <= 0.0 {
                continue;
            }
            let value = timeline.value(t, node, metric) as f64;
            let grown = (value - timeline.value(0, node, metric) as f64).max(0.0);
            assert!((f64::from(new.colour()) - (grown / most_growth as f64).min(1.0)).abs() < 1e-3);
            let height = 0.3 + 24.7 * (value / largest as f64).sqrt();
            assert!((f64::from(standing.height) - height).abs() < 2e-3, "{} {height}", standing.height);
            let height = 0.3 + 24.7 * (grown / most_height as f64).min(1.0);
            let standing = heights.standing(heights.state(&plan, &timeline, plot, t));
            assert!((f64::from(standing.height) - height).abs() < 2e-3, "{} {height}", standing.height);
        }
    }
    // What the trees do not have (yet) is that of the areas.
    let unknown = Appearance::new(&plan, &timeline, &look("growth", "base", [Some("no-such"), Some("no-such")]));
    assert_eq!(unknown.states(&plan, &timeline, times - 1), before.states(&plan, &timeline, times - 1));
}
