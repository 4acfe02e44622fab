//! The layout: computed once from the max tree, so that nothing ever moves; and the states per point in time.
//!
//! Borders between districts are proportional and inflated bottom up: a district's cell weighs the sum of its
//! children's cells divided by the square of [`CityConfig::border`], and its children are laid out in the cell
//! scaled by it. So ground per value is one constant in the whole city, at every depth. Leaves weigh their own
//! maximum, even where their district's maximum is smaller than the sum: maxima of different times.

use super::pick::PickTree;
use super::squarify::Scratch;
use crate::timeline::{Metric, NodeId, Timeline};
use rayon::prelude::*;
use std::collections::HashMap;

/// Side of the whole city, world units.
pub const CITY_SIZE: f64 = 100.0;

/// Height of one district slab, world units.
const SLAB: f64 = 0.4;

/// Height of a "N more" plot, world units: flat, it stands for many groups.
const MORE_HEIGHT: f64 = 0.25;

/// How ground follows value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AreaMode {
    /// Area proportional to the value.
    Linear,
    /// Area proportional to the square root of the value.
    #[default]
    Sqrt,
}

impl AreaMode {
    /// The area, up to the city's constant, that a value gets.
    pub fn area(self, value: u64) -> f64 {
        match self {
            AreaMode::Linear => value as f64,
            AreaMode::Sqrt => (value as f64).sqrt(),
        }
    }
}

/// What a layout depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CityConfig {
    /// How ground follows value.
    pub area_mode: AreaMode,
    /// Which value.
    pub metric: Metric,
    /// How many of the largest children of a node get a plot of their own; `None` for all.
    pub child_count: Option<usize>,
    /// Linear share of a district's cell that its children get, 0..1.
    pub border: f64,
    /// Linear share of a plot's cell that is built on at its maximum, 0..1.
    pub gap: f64,
}

impl Default for CityConfig {
    fn default() -> Self {
        CityConfig {
            area_mode: AreaMode::default(),
            metric: Metric::default(),
            child_count: Some(40),
            border: 0.95,
            gap: 0.9,
        }
    }
}

/// A rectangle on the ground: the corner with the smallest coordinates, and the size.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

impl Rect {
    /// The same centre and aspect ratio, sides scaled.
    pub fn scaled(&self, by: f64) -> Rect {
        let (w, h) = (self.w * by, self.h * by);
        Rect { x: self.x + (self.w - w) / 2.0, y: self.y + (self.h - h) / 2.0, w, h }
    }

    /// The centre.
    pub fn centre(&self) -> (f64, f64) {
        (self.x + self.w / 2.0, self.y + self.h / 2.0)
    }
}

/// What stands on a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotKind {
    /// The building of a leaf.
    Building(NodeId),
    /// Everything pruned from a district.
    More {
        /// The district.
        parent: NodeId,
        /// How many of its children.
        count: u32,
    },
}

/// A reserved rectangle. It never moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plot {
    /// What stands on it.
    pub kind: PlotKind,
    /// The reserved rectangle.
    pub cell: Rect,
    /// Level of the node; the root is 0.
    pub level: u32,
    /// Height of the slab it stands on.
    pub ground: f64,
    /// The value its cell is reserved for.
    pub max_value: u64,
}

/// A flat district around its children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct District {
    /// The inner node.
    pub node: NodeId,
    /// Its rectangle.
    pub cell: Rect,
    /// Its level; the root is 0.
    pub level: u32,
    /// Height of its foot.
    pub base: f64,
    /// Height of its surface.
    pub top: f64,
}

/// A plot at one point in time.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PlotState {
    /// Linear share of the cell that is built on; 0 when the group is absent.
    pub scale: f32,
    /// Position on the growth gradient, 0..=1.
    pub growth: f32,
}

/// A laid out city.
#[derive(Debug)]
pub struct CityPlan {
    /// All plots.
    pub plots: Vec<Plot>,
    /// All districts, parents before children.
    pub districts: Vec<District>,
    config: CityConfig,
    /// Per node: its plot, or that of what it was pruned into.
    plot_of: Vec<u32>,
    district_of: HashMap<NodeId, u32>,
    more_of: HashMap<NodeId, (u32, Vec<NodeId>)>,
    pub(super) plot_tree: PickTree,
    pub(super) district_tree: PickTree,
}

const NONE: u32 = u32::MAX;

impl CityPlan {
    /// Lays out a timeline.
    pub fn new(timeline: &Timeline, config: &CityConfig) -> Self {
        let mut builder = Builder {
            timeline,
            config,
            weights: weights(timeline, config),
            scratch: Scratch::default(),
            cells: Vec::new(),
            values: Vec::new(),
            plots: Vec::with_capacity(timeline.len()),
            districts: Vec::new(),
            pruned: Vec::new(),
        };
        let whole = Rect { x: -CITY_SIZE / 2.0, y: -CITY_SIZE / 2.0, w: CITY_SIZE, h: CITY_SIZE };
        builder.lay_out(whole);
        let Builder { plots, districts, pruned, .. } = builder;

        let mut plot_of = vec![NONE; timeline.len()];
        for (i, plot) in plots.iter().enumerate() {
            if let PlotKind::Building(node) = plot.kind {
                plot_of[node.index()] = i as u32;
            }
        }
        let mut more_of = HashMap::new();
        for (plot, parent, nodes) in pruned {
            for &node in &nodes {
                plot_of[node.index()] = plot;
            }
            more_of.insert(parent, (plot, nodes));
        }
        let district_of: HashMap<NodeId, u32> =
            districts.iter().enumerate().map(|(i, d)| (d.node, i as u32)).collect();
        if !more_of.is_empty() {
            // What lies below a pruned node was pruned with it. Parents come before their children.
            for n in 1..timeline.len() as u32 {
                let node = NodeId(n);
                if plot_of[node.index()] == NONE
                    && !district_of.contains_key(&node)
                    && let Some(parent) = timeline.parent(node)
                {
                    plot_of[node.index()] = plot_of[parent.index()];
                }
            }
        }
        let mut plan = CityPlan {
            plot_tree: PickTree::default(),
            district_tree: PickTree::default(),
            plots,
            districts,
            config: *config,
            plot_of,
            district_of,
            more_of,
        };
        plan.plot_tree = PickTree::new((0..plan.plots.len()).map(|p| plan.plot_box(p, config.gap)));
        plan.district_tree = PickTree::new((0..plan.districts.len()).map(|d| plan.district_box(d)));
        plan
    }

    /// What it was laid out with.
    pub fn config(&self) -> &CityConfig {
        &self.config
    }

    /// The plot of a node: its building's, or that of the "N more" it was pruned into. `None` for districts.
    pub fn plot_of(&self, node: NodeId) -> Option<usize> {
        self.plot_of.get(node.index()).copied().filter(|&p| p != NONE).map(|p| p as usize)
    }

    /// The district of an inner node.
    pub fn district_of(&self, node: NodeId) -> Option<usize> {
        self.district_of.get(&node).map(|&d| d as usize)
    }

    /// The "N more" plot of a district.
    pub fn more_of(&self, parent: NodeId) -> Option<usize> {
        self.more_of.get(&parent).map(|&(plot, _)| plot as usize)
    }

    /// The nodes gathered in a plot, largest first; empty for buildings.
    pub fn pruned(&self, plot: usize) -> &[NodeId] {
        match self.plots.get(plot).map(|p| p.kind) {
            Some(PlotKind::More { parent, .. }) => self.more_of.get(&parent).map(|(_, n)| &n[..]).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// The linear share of its cell a building takes at its maximum.
    pub fn full_scale(&self) -> f64 {
        self.config.gap
    }

    /// Height of what stands on a plot at a scale: twice the square root of its base area (spec: "Visual mapping").
    pub fn height(&self, plot: usize, scale: f64) -> f64 {
        let plot = &self.plots[plot];
        match plot.kind {
            PlotKind::More { .. } => MORE_HEIGHT,
            PlotKind::Building(_) => 2.0 * (plot.cell.w * plot.cell.h).sqrt() * scale,
        }
    }

    /// What stands on a plot at time `t`, in the metric of the layout.
    pub fn value(&self, timeline: &Timeline, t: usize, plot: usize) -> u64 {
        match self.plots[plot].kind {
            PlotKind::Building(node) => timeline.amount(t, node).get(self.config.metric),
            PlotKind::More { .. } => {
                self.pruned(plot).iter().map(|&n| timeline.amount(t, n).get(self.config.metric)).sum()
            }
        }
    }

    /// All plots at time `t`. The scale makes the built area proportional to the mapped value; the growth position is
    /// (now - first) / largest growth of any building, clamped to 0..1 (spec: "Visual mapping").
    pub fn states(&self, timeline: &Timeline, t: usize) -> Vec<PlotState> {
        let metric = self.config.metric;
        let most = super::max_growth(timeline, metric).max(1) as f64;
        (0..self.plots.len())
            .into_par_iter()
            .with_min_len(4096)
            .map(|p| {
                let plot = &self.plots[p];
                let value = self.value(timeline, t, p);
                let share = self.config.area_mode.area(value) / self.config.area_mode.area(plot.max_value);
                let growth = match plot.kind {
                    PlotKind::Building(node) => {
                        (timeline.growth_until(t, node, metric) as f64 / most).clamp(0.0, 1.0) as f32
                    }
                    PlotKind::More { .. } => 0.0,
                };
                let scale = if value == 0 { 0.0 } else { (self.config.gap * share.min(1.0).sqrt()) as f32 };
                PlotState { scale, growth }
            })
            .collect()
    }

    /// Which plots are opaque: the `n` buildings with the strongest growth over the whole window.
    pub fn solid(&self, timeline: &Timeline, n: usize) -> Vec<bool> {
        let mut ranked: Vec<(i64, NodeId, usize)> = self
            .plots
            .iter()
            .enumerate()
            .filter_map(|(i, p)| match p.kind {
                PlotKind::Building(node) => Some((timeline.growth(node, self.config.metric), node, i)),
                PlotKind::More { .. } => None,
            })
            .collect();
        let strongest_first = |a: &(i64, NodeId, usize), b: &(i64, NodeId, usize)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        if n > 0 && n < ranked.len() {
            ranked.select_nth_unstable_by(n - 1, strongest_first);
        }
        let mut solid = vec![false; self.plots.len()];
        for &(_, _, plot) in ranked.iter().take(n) {
            solid[plot] = true;
        }
        solid
    }
}

/// Cell weight of every node: leaves their mapped maximum, districts the inflated sum of what is laid out in them.
fn weights(timeline: &Timeline, config: &CityConfig) -> Vec<f64> {
    let n = timeline.len();
    let mut weights: Vec<f64> = (0..n as u32)
        .into_par_iter()
        .with_min_len(8192)
        .map(|i| config.area_mode.area(timeline.max(NodeId(i)).get(config.metric)))
        .collect();
    let inflate = 1.0 / (config.border * config.border);
    // Children come after their parents, so backwards every child is done before its parent.
    for i in (0..n as u32).rev() {
        let node = NodeId(i);
        let children = timeline.children(node);
        if children.is_empty() {
            continue;
        }
        let (kept, more) = split(timeline, config, children);
        // Small ones first: the sum stays exact over many decades.
        let mut parts: Vec<f64> = kept.iter().map(|c| weights[c.index()]).collect();
        parts.extend(more.as_ref().map(|m| config.area_mode.area(m.max_value)));
        parts.sort_unstable_by(f64::total_cmp);
        weights[node.index()] = parts.iter().sum::<f64>() * inflate;
    }
    weights
}

struct More {
    nodes: Vec<NodeId>,
    max_value: u64,
}

/// The children that get space, and those that share a plot. Nodes that never hold anything get nothing.
fn split(timeline: &Timeline, config: &CityConfig, children: &[NodeId]) -> (Vec<NodeId>, Option<More>) {
    let value = |n: &NodeId| timeline.max(*n).get(config.metric);
    let mut kept: Vec<NodeId> = children.iter().copied().filter(|n| value(n) > 0).collect();
    let Some(most) = config.child_count.filter(|&most| kept.len() > most) else { return (kept, None) };
    kept.sort_unstable_by(|a, b| value(b).cmp(&value(a)).then(a.cmp(b)));
    let nodes = kept.split_off(most);
    let max_value = nodes.iter().map(value).fold(0, u64::saturating_add);
    (kept, Some(More { nodes, max_value }))
}

struct Builder<'a> {
    timeline: &'a Timeline,
    config: &'a CityConfig,
    weights: Vec<f64>,
    scratch: Scratch,
    cells: Vec<Rect>,
    values: Vec<f64>,
    plots: Vec<Plot>,
    districts: Vec<District>,
    pruned: Vec<(u32, NodeId, Vec<NodeId>)>,
}

#[derive(Clone, Copy)]
enum Item {
    Node(NodeId),
    More,
}

impl Builder<'_> {
    fn lay_out(&mut self, whole: Rect) {
        // An explicit stack: trees may be deep.
        let mut open = vec![(NodeId::ROOT, whole, 0u32)];
        while let Some((node, cell, level)) = open.pop() {
            let base = f64::from(level) * SLAB;
            let top = base + SLAB;
            self.districts.push(District { node, cell, level, base, top });
            let children = self.timeline.children(node);
            if children.is_empty() {
                // A heap of a single group: the root is its only building.
                let max_value = self.timeline.max(node).get(self.config.metric);
                if max_value > 0 {
                    let cell = cell.scaled(self.config.border);
                    let kind = PlotKind::Building(node);
                    self.plots.push(Plot { kind, cell, level: level + 1, ground: top, max_value });
                }
                continue;
            }
            let (kept, more) = split(self.timeline, self.config, children);
            let mut items: Vec<(f64, Item)> =
                kept.iter().map(|&n| (self.weights[n.index()], Item::Node(n))).collect();
            if let Some(more) = &more {
                items.push((self.config.area_mode.area(more.max_value), Item::More));
            }
            let order = |a: &(f64, Item), b: &(f64, Item)| {
                let rank = |item: Item| match item {
                    Item::Node(n) => n.0,
                    Item::More => u32::MAX,
                };
                b.0.total_cmp(&a.0).then(rank(a.1).cmp(&rank(b.1)))
            };
            if items.len() > 50_000 {
                items.par_sort_unstable_by(order);
            } else {
                items.sort_unstable_by(order);
            }
            self.values.clear();
            self.values.extend(items.iter().map(|i| i.0));
            self.cells.clear();
            let inner = cell.scaled(self.config.border);
            self.scratch.divide(&self.values, inner, &mut self.cells);
            let mut more = more;
            for (&(_, item), &cell) in items.iter().zip(&self.cells) {
                let (kind, max_value) = match item {
                    Item::Node(n) if self.timeline.is_leaf(n) => {
                        (PlotKind::Building(n), self.timeline.max(n).get(self.config.metric))
                    }
                    Item::Node(n) => {
                        open.push((n, cell, level + 1));
                        continue;
                    }
                    Item::More => match more.take() {
                        Some(m) => {
                            let count = m.nodes.len() as u32;
                            self.pruned.push((self.plots.len() as u32, node, m.nodes));
                            (PlotKind::More { parent: node, count }, m.max_value)
                        }
                        None => continue,
                    },
                };
                self.plots.push(Plot { kind, cell, level: level + 1, ground: top, max_value });
            }
        }
    }
}
