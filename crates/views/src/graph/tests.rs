//! Boxes do not overlap, arrows begin and end at their boxes, numbers are the graph's, what was there keeps its order.

use super::*;
use memory_city_analysis::object_graph::{GraphArrow, GraphBox, GraphRoot};
use memory_city_analysis::timeline::{Amount, NodeId};
use proptest::prelude::*;

fn of(name: &str, column: i32, objects: u64) -> GraphBox {
    GraphBox {
        groups: vec![NodeId(1)],
        name: name.to_owned(),
        other: 0,
        is_selected: column == 0,
        column,
        amount: Amount { objects, bytes: 24 * objects },
        internal: 0,
        beyond: 0,
        before: 0,
    }
}

fn arrow(from: usize, to: usize, referencing: u64, referenced: u64) -> GraphArrow {
    GraphArrow { from, to, referencing, referenced, references: referencing.max(referenced) }
}

fn root(kind: &str, held: usize, objects: u64) -> GraphRoot {
    let places = vec![(format!("{kind}: a.B.c"), objects)];
    GraphRoot { kind: kind.to_owned(), held, roots: objects, objects: Some(objects), places }
}

/// Persons in a list of a static field, with their names.
fn persons() -> GroupGraph {
    GroupGraph {
        boxes: vec![of("Person", 0, 1000), of("Node", -1, 1000), of("LinkedList", -2, 1), of("String", 1, 800)],
        arrows: vec![arrow(1, 0, 1000, 1000), arrow(2, 1, 1, 2), arrow(0, 3, 10, 800)],
        roots: vec![root("Static field", 2, 1), root("Local variable", 0, 1)],
    }
}

fn graphs() -> impl Strategy<Value = GroupGraph> {
    (1usize..14).prop_flat_map(|n| {
        (
            prop::collection::vec((-3i32..3, 1u64..5000), n),
            prop::collection::btree_set((0..n, 0..n), 0..3 * n),
            prop::collection::btree_set((0usize..3, 0..n), 0..4),
        )
            .prop_map(|(boxes, arrows, roots)| GroupGraph {
                boxes: boxes.iter().enumerate().map(|(i, &(c, objects))| of(&format!("b{i}"), c, objects)).collect(),
                arrows: arrows
                    .into_iter()
                    .filter(|(a, b)| a != b)
                    .map(|(a, b)| arrow(a, b, 1 + boxes[a].1 / 2, 1))
                    .collect(),
                roots: roots.into_iter().map(|(k, b)| root(["Static field", "Monitor", "JNI"][k], b, 1)).collect(),
            })
    })
}

fn shapes(picture: &GraphPicture) -> Vec<(GraphItem, &BoxShape)> {
    let boxes = picture.boxes.iter().enumerate().map(|(i, shape)| (GraphItem::Box(i), shape));
    boxes.chain(picture.roots.iter().enumerate().map(|(i, shape)| (GraphItem::Roots(i), shape))).collect()
}

proptest! {
    #[test]
    fn boxes_stand_apart_and_arrows_meet_them(graph in graphs()) {
        let picture = GraphPicture::new(&graph, &GraphConfig::default(), None, None);
        let all = shapes(&picture);
        let whole = Rect::new(0.0, 0.0, picture.size.0, picture.size.1);
        for (i, (item, shape)) in all.iter().enumerate() {
            prop_assert!(whole.contains(&shape.rect, 1e-6), "{:?} in {:?}", shape.rect, whole);
            let (x, y) = shape.rect.centre();
            prop_assert_eq!(picture.item_at(x, y), Some(*item));
            for (_, other) in &all[..i] {
                let (a, b) = (shape.rect, other.rect);
                let apart = a.x + a.w <= b.x + 1e-6 || b.x + b.w <= a.x + 1e-6 || a.y + a.h <= b.y + 1e-6 || b.y + b.h <= a.y + 1e-6;
                prop_assert!(apart, "{a:?} and {b:?}");
            }
        }
        prop_assert_eq!(picture.links.len() + picture.left_out, graph.arrows.len() + graph.roots.len());
        for (i, link) in picture.links.iter().enumerate() {
            let on = |item: GraphItem, p: &PathPoint| {
                let r = picture.shape(item).expect("a box").rect;
                let side = (p.x - r.x).abs() < 1e-6 || (p.x - r.x - r.w).abs() < 1e-6;
                side && p.y - p.width / 2.0 >= r.y - 1e-6 && p.y + p.width / 2.0 <= r.y + r.h + 1e-6
            };
            let (first, last) = (link.path[0], link.path[link.path.len() - 1]);
            prop_assert!(on(link.from, &first) && on(link.to, &last), "{link:?}");
            for point in &link.path {
                prop_assert!(point.width > 0.0 && point.width <= MOST_WIDTH);
                prop_assert!(point.x >= -1e-6 && point.y >= -1e-6 && point.x <= whole.w + 1e-6 && point.y <= whole.h + 1e-6);
            }
            let found = picture.link_at(link.path[8].x, link.path[8].y, 3.0).expect("an arrow");
            let far = route::distance(&picture.links[found].path, link.path[8].x, link.path[8].y);
            prop_assert!(found == i || far <= 1e-6, "another arrow lies there too");
        }
        // Who refers stands to the left of what it refers to, as steps say.
        for (a, b) in picture.boxes.iter().zip(&graph.boxes).flat_map(|x| picture.boxes.iter().zip(&graph.boxes).map(move |y| (x, y))) {
            prop_assert_eq!(a.1.column < b.1.column, a.0.rect.x < b.0.rect.x);
        }
        prop_assert!(picture.roots.iter().all(|root| root.column == 0));
    }

    /// The picture of a graph that has been extended: boxes of before are in the same order in their columns.
    #[test]
    fn what_was_there_keeps_its_order(graph in graphs(), kept in 1usize..14) {
        let kept = kept.min(graph.boxes.len());
        let mut small = graph.clone();
        small.boxes.truncate(kept);
        small.arrows.retain(|a| a.from < kept && a.to < kept);
        small.roots.retain(|r| r.held < kept);
        let before = GraphPicture::new(&small, &GraphConfig::default(), None, None);
        let after = GraphPicture::new(&graph, &GraphConfig::default(), None, Some(&before));
        for a in 0..kept {
            for b in (0..kept).filter(|&b| graph.boxes[a].column == graph.boxes[b].column) {
                let above = |picture: &GraphPicture| picture.boxes[a].rect.y < picture.boxes[b].rect.y;
                prop_assert_eq!(above(&before), above(&after));
            }
        }
        prop_assert_eq!(&GraphPicture::between(&before, &after, 1.0), &after);
        let begin = GraphPicture::between(&before, &after, 0.0);
        for (a, b) in begin.boxes.iter().zip(&before.boxes) {
            prop_assert!((a.rect.y - b.rect.y).abs() < 1e-6 && (a.rect.x - b.rect.x).abs() < 1e-6);
        }
    }

    /// The order that is found crosses no more often than that in which boxes were added.
    #[test]
    fn untangling_never_makes_it_worse(graph in graphs()) {
        let kinds = kinds(&graph);
        let columns = BoxColumns::of(&graph, kinds.len());
        let (links, _) = links(&graph, &kinds, 1000);
        let mut order = order::GraphOrder::new(&columns, &links, |_| LEAST_HEIGHT);
        let before = order.crossings();
        let naive = {
            let mut count = 0;
            let rank = |n: usize| order.levels.iter().find_map(|row| row.iter().position(|&m| m == n)).expect("there");
            let mut ends: Vec<(usize, usize, usize)> = Vec::new();
            for (level, row) in order.levels.iter().enumerate() {
                for &n in row {
                    ends.extend(order.near(n, 1).iter().map(|&m| (level, n, m)));
                }
            }
            for (i, a) in ends.iter().enumerate() {
                for b in &ends[..i] {
                    let crossing = (rank(a.1) < rank(b.1) && rank(a.2) > rank(b.2)) || (rank(a.1) > rank(b.1) && rank(a.2) < rank(b.2));
                    count += u64::from(a.0 == b.0 && crossing);
                }
            }
            count
        };
        prop_assert_eq!(before, naive);
        order.untangle();
        prop_assert!(order.crossings() <= before);
    }
}

#[test]
fn a_small_graph_is_read_from_left_to_right() {
    let graph = persons();
    let picture = GraphPicture::new(&graph, &GraphConfig::default(), None, None);
    let x = |name: &str| shapes(&picture).iter().find(|(_, s)| s.title == name).expect(name).1.rect.x;
    let order = ["Static field", "LinkedList", "Node", "Person", "String"].map(x);
    assert!(order.windows(2).all(|w| w[0] < w[1]), "{order:?}");
    assert_eq!(x("Static field"), x("Local variable"));
    assert_eq!(picture.boxes[0].tint, GraphTint::Selected);
    assert_eq!(
        picture.roots.iter().map(|r| r.tint).collect::<Vec<_>>(),
        [GraphTint::StaticRoot, GraphTint::ThreadRoot]
    );
    assert_eq!(picture.boxes[0].line, "1,000 objects, 24.0 kB");
    // 1 % of the persons refer to all the strings: thin at the left, thick at the right.
    let names = picture.links.iter().find(|l| l.link == GraphLink::Arrow(2)).expect("an arrow");
    assert_eq!(names.label, "10 to 800");
    assert_eq!(names.details[1], "10 of 1,000 refer to all 800");
    let ends = (names.path[0].width, names.path[names.path.len() - 1].width);
    assert_eq!(ends, (LEAST_WIDTH + (MOST_WIDTH - LEAST_WIDTH) * 0.01, MOST_WIDTH));
    // A line that is straight for a person: the chain lies at one height.
    let y = |i: usize| picture.boxes[i].rect.centre().1;
    assert!((y(1) - y(2)).abs() < 40.0 && (y(0) - y(1)).abs() < 40.0);
    let fit = GraphFit::new(&picture, Rect::new(0.0, 40.0, 1280.0, 600.0), 20.0);
    for (_, shape) in shapes(&picture) {
        let (x, y) = fit.there(shape.rect.x, shape.rect.y);
        assert!(x >= 20.0 - 1e-6 && y >= 60.0 - 1e-6 && x + shape.rect.w * fit.scale <= 1260.0 + 1e-6);
        let (px, py) = fit.back(x, y);
        assert!((px - shape.rect.x).abs() < 1e-9 && (py - shape.rect.y).abs() < 1e-9);
    }
    let near = fit.zoomed(2.0, 300.0, 300.0);
    let (a, b) = (fit.back(300.0, 300.0), near.back(300.0, 300.0));
    assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9 && near.scale == 2.0 * fit.scale);
}

#[test]
fn ownership_replaces_the_numbers_of_arrows() {
    let graph = persons();
    let held = HeldOver { focus: 3, objects: 800, arrows: vec![790, 800, 800], roots: vec![800, 0] };
    let picture = GraphPicture::new(&graph, &GraphConfig::default(), Some(&held), None);
    let link = |which: GraphLink| picture.links.iter().find(|l| l.link == which).expect("an arrow");
    assert_eq!(link(GraphLink::Arrow(0)).label, "790");
    assert_eq!(link(GraphLink::Arrow(0)).details.last().expect("a line"), "790 of 800 String held over this");
    assert!(link(GraphLink::Root(1)).is_dim && link(GraphLink::Root(1)).label.is_empty());
    let width = |which: GraphLink| link(which).path[0].width;
    assert_eq!(width(GraphLink::Root(0)), MOST_WIDTH);
    assert!(width(GraphLink::Arrow(0)) < MOST_WIDTH);
}

#[test]
fn arrows_that_are_too_many_are_counted() {
    let graph = persons();
    let config = GraphConfig { most_links: 2, ..GraphConfig::default() };
    let picture = GraphPicture::new(&graph, &config, None, None);
    let links: Vec<GraphLink> = picture.links.iter().map(|l| l.link).collect();
    assert_eq!((links, picture.left_out), (vec![GraphLink::Arrow(0), GraphLink::Arrow(2)], 3));
    let empty = GraphPicture::new(&GroupGraph::default(), &config, None, None);
    assert_eq!((empty.size, empty.boxes.len()), ((0.0, 0.0), 0));
}
