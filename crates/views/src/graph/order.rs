//! The columns of a graph picture, and the order of boxes within them.

use super::{GraphItem, GraphLink, GraphPicture};
use memory_city_analysis::object_graph::GroupGraph;
use rustc_hash::FxHashMap;

/// A link that is drawn as an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DrawnLink {
    pub link: GraphLink,
    pub from: GraphItem,
    pub to: GraphItem,
}

/// The column of each box. Kinds of roots have one of their own, left of all others.
pub(super) struct BoxColumns {
    boxes: Vec<usize>,
    kinds: usize,
    count: usize,
}

impl BoxColumns {
    pub fn of(graph: &GroupGraph, kinds: usize) -> BoxColumns {
        let mut there: Vec<i32> = graph.boxes.iter().map(|b| b.column).collect();
        there.sort_unstable();
        there.dedup();
        let first = usize::from(kinds > 0);
        // Steps in which nothing was added have no column.
        let place = |column: i32| first + there.binary_search(&column).unwrap_or(0);
        let boxes = graph.boxes.iter().map(|b| place(b.column)).collect();
        BoxColumns { boxes, kinds, count: first + there.len() }
    }
}

/// A box, or a place at which an arrow passes a column.
struct OrderNode {
    item: Option<GraphItem>,
    level: usize,
    height: f64,
    /// Where it was in the picture before.
    kept: Option<f64>,
}

/// Boxes and passing arrows, column by column.
pub(super) struct GraphOrder {
    nodes: Vec<OrderNode>,
    places: FxHashMap<GraphItem, usize>,
    /// By column: its nodes from top to bottom.
    pub levels: Vec<Vec<usize>>,
    /// By link: the nodes it passes, from its begin to its end.
    pub chains: Vec<Vec<usize>>,
    /// By node: its neighbours in the column before, and in the one after.
    near: Vec<[Vec<usize>; 2]>,
}

/// How tall the room of a passing arrow is.
const PASSING: f64 = 14.0;

/// How often the order is gone through.
const SWEEPS: usize = 12;

impl GraphOrder {
    pub fn new(columns: &BoxColumns, links: &[DrawnLink], height: impl Fn(GraphItem) -> f64) -> GraphOrder {
        let kinds = (0..columns.kinds).map(|k| (GraphItem::Roots(k), 0));
        let boxes = columns.boxes.iter().enumerate().map(|(b, &level)| (GraphItem::Box(b), level));
        let mut order = GraphOrder {
            nodes: Vec::new(),
            places: FxHashMap::default(),
            levels: vec![Vec::new(); columns.count.max(1)],
            chains: Vec::with_capacity(links.len()),
            near: Vec::new(),
        };
        for (item, level) in kinds.chain(boxes) {
            let node = order.add(Some(item), level, height(item));
            order.places.insert(item, node);
        }
        for link in links {
            let (from, to) = (order.node(link.from), order.node(link.to));
            let (a, b) = (order.level(from), order.level(to));
            let mut chain = vec![from];
            let between: Vec<usize> = if a < b { (a + 1..b).collect() } else { (b + 1..a).rev().collect() };
            for level in between {
                chain.push(order.add(None, level, PASSING));
            }
            chain.push(to);
            for pair in chain.windows(2) {
                let (left, right) = match order.level(pair[0]) <= order.level(pair[1]) {
                    true => (pair[0], pair[1]),
                    false => (pair[1], pair[0]),
                };
                if order.level(left) != order.level(right) {
                    order.near[left][1].push(right);
                    order.near[right][0].push(left);
                }
            }
            order.chains.push(chain);
        }
        order
    }

    fn add(&mut self, item: Option<GraphItem>, level: usize, height: f64) -> usize {
        let node = self.nodes.len();
        self.nodes.push(OrderNode { item, level, height, kept: None });
        self.near.push([Vec::new(), Vec::new()]);
        self.levels[level].push(node);
        node
    }

    pub fn node(&self, item: GraphItem) -> usize {
        self.places[&item]
    }

    pub fn level(&self, node: usize) -> usize {
        self.nodes[node].level
    }

    pub fn height(&self, node: usize) -> f64 {
        self.nodes[node].height
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_passing(&self, node: usize) -> bool {
        self.nodes[node].item.is_none()
    }

    /// Neighbours in the column before (0) or after (1).
    pub fn near(&self, node: usize, side: usize) -> &[usize] {
        &self.near[node][side]
    }

    /// Boxes that were in a picture keep their order among each other.
    pub fn keep(&mut self, before: Option<&GraphPicture>) {
        let Some(before) = before else { return };
        // Places of kinds of roots follow from the graph; those of boxes stay. Both are met again by what they are.
        for node in &mut self.nodes {
            let shape = node.item.and_then(|item| match item {
                GraphItem::Box(_) => before.shape(item),
                GraphItem::Roots(_) => None,
            });
            node.kept = shape.map(|shape| shape.rect.y + shape.rect.h / 2.0);
        }
        for level in 0..self.levels.len() {
            self.restore(level);
        }
    }

    /// Puts the kept nodes into their order, at the places that they take now.
    fn restore(&mut self, level: usize) {
        let nodes = &self.nodes;
        let row = &mut self.levels[level];
        let slots: Vec<usize> = (0..row.len()).filter(|&i| nodes[row[i]].kept.is_some()).collect();
        let mut kept: Vec<usize> = slots.iter().map(|&i| row[i]).collect();
        let y = |node: usize| nodes[node].kept.unwrap_or(0.0);
        kept.sort_by(|&a, &b| y(a).total_cmp(&y(b)).then(a.cmp(&b)));
        for (slot, node) in slots.into_iter().zip(kept) {
            row[slot] = node;
        }
    }

    /// Goes through the columns to and fro, and puts each node at the mean place of its neighbours; keeps the order with the fewest
    /// crossings.
    pub fn untangle(&mut self) {
        let mut best = (self.crossings(), self.levels.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            let side = sweep % 2;
            let count = self.levels.len();
            for i in 0..count {
                let level = if side == 0 { i } else { count - 1 - i };
                self.sort_by_neighbours(level, side);
                self.restore(level);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.levels.clone());
            }
        }
        self.levels = best.1;
    }

    fn sort_by_neighbours(&mut self, level: usize, side: usize) {
        let rank = self.ranks();
        let mut row: Vec<(f64, usize, usize)> = self.levels[level]
            .iter()
            .enumerate()
            .map(|(at, &node)| {
                let near = &self.near[node][side];
                let mean = match near.len() {
                    0 => at as f64,
                    n => near.iter().map(|&other| rank[other] as f64).sum::<f64>() / n as f64,
                };
                (mean, at, node)
            })
            .collect();
        row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.levels[level] = row.into_iter().map(|(.., node)| node).collect();
    }

    /// By node: its place in its column.
    fn ranks(&self) -> Vec<usize> {
        let mut rank = vec![0; self.nodes.len()];
        for row in &self.levels {
            for (at, &node) in row.iter().enumerate() {
                rank[node] = at;
            }
        }
        rank
    }

    /// How many pairs of arrows cross between columns.
    pub fn crossings(&self) -> u64 {
        let rank = self.ranks();
        let mut crossings = 0;
        for row in &self.levels {
            let mut ends: Vec<(usize, usize)> = Vec::new();
            for &node in row {
                ends.extend(self.near[node][1].iter().map(|&other| (rank[node], rank[other])));
            }
            ends.sort_unstable();
            crossings += inversions(&ends);
        }
        crossings
    }
}

/// Pairs whose second parts are in the opposite order. A tree of sums: O(n log n).
fn inversions(ends: &[(usize, usize)]) -> u64 {
    let most = ends.iter().map(|e| e.1).max().unwrap_or(0) + 1;
    let mut sums = vec![0u64; most + 1];
    let mut crossings = 0;
    for (seen, &(_, to)) in ends.iter().enumerate() {
        let (mut at, mut below) = (to + 1, 0);
        while at > 0 {
            below += sums[at];
            at &= at - 1;
        }
        crossings += seen as u64 - below;
        let mut at = to + 1;
        while at <= most {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    crossings
}
