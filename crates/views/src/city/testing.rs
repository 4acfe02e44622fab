//! Timelines for the tests of this module: written as trees, or drawn at random.

use super::{AreaMode, CityConfig, Cone};
use glam::Vec3;
use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::timeline::{Amount, Metric, NodeId, TimePoint, Timeline};
use proptest::prelude::*;
use std::sync::Arc;

/// A node with the objects of a leaf per point in time; the values of inner nodes are sums.
#[derive(Clone, Debug)]
pub(crate) struct TestTree {
    pub name: String,
    pub values: Vec<u64>,
    pub children: Vec<TestTree>,
}

pub(crate) fn leaf(name: &str, values: &[u64]) -> TestTree {
    TestTree { name: name.to_owned(), values: values.to_owned(), children: Vec::new() }
}

pub(crate) fn inner(name: &str, children: Vec<TestTree>) -> TestTree {
    TestTree { name: name.to_owned(), values: Vec::new(), children }
}

impl TestTree {
    fn value(&self, t: usize) -> u64 {
        match self.children.is_empty() {
            true => self.values.get(t).copied().unwrap_or(0),
            false => self.children.iter().map(|c| c.value(t)).sum(),
        }
    }
    fn times(&self) -> usize {
        self.children.iter().map(TestTree::times).fold(self.values.len(), usize::max)
    }
    /// The tree with every value multiplied.
    pub fn times_factor(&self, factor: u64) -> TestTree {
        TestTree {
            name: self.name.clone(),
            values: self.values.iter().map(|v| v * factor).collect(),
            children: self.children.iter().map(|c| c.times_factor(factor)).collect(),
        }
    }
    /// The tree with children in the opposite order.
    pub fn mirrored(&self) -> TestTree {
        TestTree { children: self.children.iter().rev().map(TestTree::mirrored).collect(), ..self.clone() }
    }
    /// The tree with a leaf of value 0 more in every inner node.
    pub fn with_zeros(&self) -> TestTree {
        let mut children: Vec<TestTree> = self.children.iter().map(TestTree::with_zeros).collect();
        if !children.is_empty() {
            children.insert(children.len() / 2, leaf("a nought", &[]));
        }
        TestTree { children, ..self.clone() }
    }
    /// The tree as a timeline; a leaf of `v` objects has `16 v` bytes.
    pub fn timeline(&self) -> Timeline {
        let role: Arc<str> = Arc::from("Group");
        let point = TimePoint::default();
        let times = self.times().max(1);
        let trees: Vec<MemoryTree> = (0..times)
            .map(|t| {
                let mut memory = MemoryTree::new();
                let mut open = vec![(self, 0)];
                while let Some((tree, node)) = open.pop() {
                    let objects = tree.value(t);
                    memory.add(node, Amount { objects, bytes: objects * 16 });
                    for child in &tree.children {
                        open.push((child, memory.child(node, &role, &Arc::from(child.name.as_str()))));
                    }
                }
                memory
            })
            .collect();
        Timeline::from_trees(vec![point; times], &trees)
    }
}

/// Node by key.
pub(crate) fn at(timeline: &Timeline, key: &str) -> NodeId {
    timeline.find(key).unwrap_or_else(|| panic!("no node {key}"))
}

/// Random trees of up to four levels, three points in time, values over twelve decades.
pub(crate) fn trees() -> impl Strategy<Value = TestTree> {
    let value = prop_oneof![1 => Just(0u64), 6 => (0.0..12.0f64).prop_map(|e| 10f64.powf(e) as u64)];
    let leaves = prop::collection::vec(value, 3).prop_map(|values| TestTree {
        name: String::new(),
        values,
        children: Vec::new(),
    });
    let nested = leaves.prop_recursive(3, 60, 9, |below| {
        prop::collection::vec(below, 1..9).prop_map(|children| TestTree {
            name: String::new(),
            values: Vec::new(),
            children,
        })
    });
    prop::collection::vec(nested, 1..9).prop_map(|children| {
        let mut root = TestTree { name: String::new(), values: Vec::new(), children };
        name(&mut root, "Heap".to_owned());
        root
    })
}

fn name(tree: &mut TestTree, name_here: String) {
    for (i, child) in tree.children.iter_mut().enumerate() {
        // Not in the order of the list, so that ties by name are put to the test.
        name(child, format!("{}{i}", ["q", "c", "z", "a"][i % 4]));
    }
    tree.name = name_here;
}

pub(crate) fn configs() -> impl Strategy<Value = CityConfig> {
    let area_mode = prop_oneof![Just(AreaMode::Linear), Just(AreaMode::Sqrt)];
    let child_count = prop_oneof![2 => Just(None), 1 => (0usize..6).prop_map(Some)];
    let metric = prop_oneof![Just(Metric::Objects), Just(Metric::Bytes)];
    (area_mode, child_count, metric, 0.8..1.0f64, 0.5..1.0f64).prop_map(
        |(area_mode, child_count, metric, border, gap)| CityConfig {
            area_mode,
            metric,
            child_count,
            border,
            gap,
            window: None,
        },
    )
}

/// A reference between two places, with a radius at each.
pub(crate) fn cone(
    (from, radius_from): (Vec3, f32),
    (to, radius_to): (Vec3, f32),
    incoming: bool,
    other: usize,
) -> Cone {
    Cone {
        from,
        to,
        radius_from,
        radius_to,
        incoming,
        other,
        other_node: None,
        referencing: 1,
        referenced: 1,
        references: 1,
        share_from: 1.0,
        share_to: 1.0,
    }
}
