//! Nothing is lost, nothing changes places, nothing lies outside of what it is a part of.

use super::*;
use crate::city::Rect;
use crate::city::testing::{inner, leaf, trees};
use proptest::prelude::*;

fn orders() -> impl Strategy<Value = SiblingOrder> {
    prop_oneof![Just(SiblingOrder::Start), Just(SiblingOrder::End), Just(SiblingOrder::Growth)]
}

fn configs() -> impl Strategy<Value = NestedConfig> {
    (orders(), 0.0..1.0f64, 1usize..10).prop_map(|(order, share, most)| NestedConfig {
        metric: Metric::Objects,
        order,
        share,
        most,
    })
}

/// The parts of a cell.
fn parts(picture: &NestedPicture, of: usize) -> Vec<NestedCell> {
    let parts = picture.cells.iter().enumerate().skip(1).filter(|(_, cell)| cell.above as usize == of);
    parts.map(|(_, cell)| *cell).collect()
}

proptest! {
    #[test]
    fn rows_of_the_table_add_up_to_the_row_above_them(tree in trees(), config in configs(), t in 0usize..3) {
        use memory_city_analysis::tabular::Cell;
        let timeline = tree.timeline();
        let plan = NestedPlan::new(&timeline, config);
        let picture = NestedPicture::new(&plan, &timeline, t, NodeId::ROOT, u32::MAX);
        let table = nested_table(&timeline, &plan, t, &[("global", &picture)]);
        let at = table.header.column("value").expect("a column");
        let value = |row: usize| match table.rows[row].cells[at] {
            Cell::Number(n) => n as i64,
            _ => panic!("a number"),
        };
        prop_assert_eq!(value(0), timeline.value(t, NodeId::ROOT, Metric::Objects) as i64);
        for row in 0..table.rows.len() {
            let depth = table.rows[row].depth;
            let below: Vec<usize> = (row + 1..table.rows.len())
                .take_while(|&below| table.rows[below].depth > depth)
                .filter(|&below| table.rows[below].depth == depth + 1)
                .collect();
            let sum: i64 = below.iter().map(|&below| value(below)).sum();
            // Rounded where parts overlap.
            prop_assert!(below.is_empty() || (sum - value(row)).abs() <= below.len() as i64, "{} of {}", sum, value(row));
        }
    }

    #[test]
    fn parts_sum_up_to_their_group_and_fill_it(tree in trees(), config in configs(), t in 0usize..3) {
        let timeline = tree.timeline();
        let plan = NestedPlan::new(&timeline, config);
        let picture = NestedPicture::new(&plan, &timeline, t, NodeId::ROOT, u32::MAX);
        prop_assert_eq!(picture.left_out, 0);
        for (at, cell) in picture.cells.iter().enumerate() {
            let NestedPart::Group(node) = cell.part else { continue };
            prop_assert_eq!(cell.value, timeline.value(t, node, Metric::Objects) as f64);
            let parts = parts(&picture, at);
            if parts.is_empty() {
                prop_assert!(!plan.has_parts(node));
                continue;
            }
            let sum: f64 = parts.iter().map(|part| part.value).sum();
            prop_assert!((sum - cell.value).abs() <= 1e-9 * cell.value.max(1.0), "{} of {}", sum, cell.value);
            let mut edge = cell.start;
            for part in &parts {
                prop_assert!((part.start - edge).abs() < 1e-9 && part.end >= part.start);
                prop_assert!(part.end <= cell.end + 1e-9);
                edge = part.end;
            }
            if cell.value > 0.0 {
                prop_assert!((edge - cell.end).abs() < 1e-9);
                let share = (cell.end - cell.start) / cell.value;
                prop_assert!(parts.iter().all(|p| ((p.end - p.start) - p.value * share).abs() < 1e-9));
            }
            let groups = parts.iter().filter(|p| matches!(p.part, NestedPart::Group(_))).count();
            prop_assert!(groups <= config.most.max(1) + 1);
        }
    }

    #[test]
    fn cells_are_the_same_at_all_times_in_the_order_that_was_asked_for(tree in trees(), config in configs()) {
        let timeline = tree.timeline();
        let plan = NestedPlan::new(&timeline, config);
        let picture = |t: usize| NestedPicture::new(&plan, &timeline, t, NodeId::ROOT, u32::MAX);
        let last = timeline.times() - 1;
        let first = picture(0);
        for t in 1..=last {
            let other = picture(t);
            let which = |p: &NestedPicture| p.cells.iter().map(|c| (c.part, c.level, c.above, c.branch)).collect::<Vec<_>>();
            prop_assert_eq!(which(&first), which(&other));
            let half = first.between(&other, 0.5);
            for ((h, a), b) in half.cells.iter().zip(&first.cells).zip(&other.cells) {
                prop_assert!((h.start - (a.start + b.start) / 2.0).abs() < 1e-9);
                prop_assert!((h.end - (a.end + b.end) / 2.0).abs() < 1e-9);
            }
        }
        for node in timeline.nodes() {
            let key = |n: NodeId| match config.order {
                SiblingOrder::Start => timeline.value(0, n, Metric::Objects) as i64,
                SiblingOrder::End => timeline.value(last, n, Metric::Objects) as i64,
                SiblingOrder::Growth => timeline.growth(n, Metric::Objects),
            };
            let kept = plan.kept(node);
            prop_assert!(kept.windows(2).all(|w| key(w[0]) >= key(w[1])));
            // What is left out comes after all that is kept.
            let least = kept.iter().map(|&n| key(n)).min();
            let there = |n: NodeId| (0..=last).any(|t| timeline.value(t, n, Metric::Objects) > 0);
            let out: Vec<NodeId> =
                timeline.children(node).iter().copied().filter(|n| !kept.contains(n) && there(*n)).collect();
            prop_assert_eq!(out.len(), plan.in_other(node));
            prop_assert!(out.len() != 1);
            prop_assert!(out.iter().all(|&n| Some(key(n)) <= least));
        }
    }

    #[test]
    fn points_in_an_outline_find_their_cell(tree in trees(), sunburst: bool, scale in 0.1..1.0f64) {
        let timeline = tree.timeline();
        let plan = NestedPlan::new(&timeline, NestedConfig { metric: Metric::Objects, ..NestedConfig::default() });
        let picture = NestedPicture::new(&plan, &timeline, 0, NodeId::ROOT, 2);
        let shape = if sunburst { NestedShape::Sunburst } else { NestedShape::Icicle };
        let target = NestedTarget { room: Rect::new(10.0, 20.0, 400.0, 300.0), rings: 3, scale };
        for (at, cell) in picture.cells.iter().enumerate().filter(|(_, cell)| cell.end - cell.start > 1e-6) {
            let outline = shape.outline(&target, cell).expect("three rings");
            let (x, y) = outline.middle();
            let within = target.room;
            prop_assert!(x >= within.x && x <= within.x + within.w && y >= within.y && y <= within.y + within.h);
            prop_assert_eq!(shape.cell_at(&target, &picture, x, y), Some(at));
            for (x, y) in outline.points(0.1) {
                prop_assert!(x >= within.x - 1e-6 && x <= within.x + within.w + 1e-6);
                prop_assert!(y >= within.y - 1e-6 && y <= within.y + within.h + 1e-6);
            }
        }
    }
}

/// The source's rule on a node of twelve children: nine, and the rest.
#[test]
fn wide_nodes_have_nine_children_or_nine_tenths() {
    let many: Vec<_> = (1..=12).map(|i| leaf(&format!("n{i:02}"), &[100, 100 + i])).collect();
    let few = vec![leaf("big", &[10, 900]), leaf("mid", &[10, 70]), leaf("low", &[10, 20]), leaf("dot", &[0, 10])];
    let timeline = inner("Heap", vec![inner("many", many), inner("few", few)]).timeline();
    let plan = NestedPlan::new(&timeline, NestedConfig { metric: Metric::Objects, ..NestedConfig::default() });
    let node = |name: &str| timeline.find(&format!("Heap#{name}")).expect("it is there");
    let names = |of: &str| plan.kept(node(of)).iter().map(|&n| timeline.name(n)).collect::<Vec<_>>();
    assert_eq!(names("many"), ["n12", "n11", "n10", "n09", "n08", "n07", "n06", "n05", "n04"]);
    assert_eq!(plan.in_other(node("many")), 3);
    // 910 of 1,030 are less than nine tenths.
    assert_eq!(names("few"), ["big", "mid"]);
    assert_eq!(plan.in_other(node("few")), 2);
    assert_eq!(heap_scale(&plan, &timeline, 1), 1.0);
    assert!((heap_scale(&plan, &timeline, 0) - 1230.0 / 2278.0).abs() < 1e-9);
}

/// What belongs to a group itself, and objects that several children share.
#[test]
fn a_group_has_parts_of_its_own_and_shared_children_fit() {
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::{Amount, TimePoint};
    let mut tree = MemoryTree::new();
    let amount = |objects| Amount { objects, bytes: objects };
    let (role, names) = ("Type".into(), ["own", "shared"].map(std::sync::Arc::from));
    let own = tree.child(0, &role, &names[0]);
    let shared = tree.child(0, &role, &names[1]);
    tree.add(0, amount(20));
    for (parent, sizes) in [(own, [3, 2]), (shared, [8, 8])] {
        tree.add(parent, amount(10));
        for (i, size) in sizes.into_iter().enumerate() {
            let child = tree.child(parent, &role, &std::sync::Arc::from(format!("c{i}")));
            tree.add(child, amount(size));
        }
    }
    let timeline = Timeline::from_trees(vec![TimePoint::default()], &[tree]);
    let plan = NestedPlan::new(&timeline, NestedConfig { share: 1.0, ..NestedConfig::default() });
    let picture = NestedPicture::new(&plan, &timeline, 0, NodeId::ROOT, 2);
    let of = |key: &str| picture.cell_of(timeline.find(key).expect("it is there")).expect("a cell");
    let extent = |cell: NestedCell| cell.end - cell.start;
    let own = parts(&picture, of("Heap#own"));
    assert_eq!(own.iter().map(|c| c.value).collect::<Vec<_>>(), [3.0, 2.0, 5.0]);
    assert!(matches!(own[2].part, NestedPart::Itself(_)) && (extent(own[2]) - 0.25).abs() < 1e-12);
    let shared = parts(&picture, of("Heap#shared"));
    assert_eq!(shared.iter().map(|c| c.value).collect::<Vec<_>>(), [8.0, 8.0, 0.0]);
    assert!((extent(shared[0]) - 0.25).abs() < 1e-12, "{shared:?}");
    assert!(picture.lies_in(of("Heap#own#c0"), of("Heap#own")));
    assert!(!picture.lies_in(of("Heap#own#c0"), of("Heap#shared")));
}
