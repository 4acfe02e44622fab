//! The plan of a city: plots and districts that never move, computed once from the maxima over time.
//!
//! The values that change with time are in [`super::PlotState`]; nothing here changes.

use super::config::{BORDERED_LEVELS, CITY_SIZE, CityConfig, DISTRICT_HEIGHT, MORE_HEIGHT};
use super::layout::{self, Blocks, Occupant, Peaks};
use super::part::CityPart;
use super::plot::{MorePlot, MoreSummary, Occupants, Plot, PlotKind, sums};
use super::rect::Rect;
use memory_city_analysis::timeline::{Amount, NodeId, Timeline};
use rayon::prelude::*;
use std::ops::Range;

/// Height of the upper side of a district at a depth of `level` below the root.
pub(super) fn top_of(level: u32) -> f64 {
    f64::from(level.min(BORDERED_LEVELS) + 1) * DISTRICT_HEIGHT
}

/// An inner node: a slab under everything that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct District {
    /// The node.
    pub node: NodeId,
    /// The slab's outline.
    pub cell: Rect,
    /// Levels below the root; the whole heap is 0.
    pub level: u32,
    /// Height of the slab's underside.
    pub base: f64,
    /// Height of its upper side, on which its buildings and inner districts stand.
    pub top: f64,
}

/// A laid out city. See the module documentation of [`crate::city`] for the vocabulary.
#[derive(Clone, Debug)]
pub struct CityPlan {
    pub(super) config: CityConfig,
    pub(super) part: CityPart,
    /// Buildings and More plots; those of one district are neighbours, in descending order of value.
    pub plots: Vec<Plot>,
    /// Districts, outer before inner; the first is the whole heap.
    pub districts: Vec<District>,
    pub(super) occupants: Occupants,
    pub(super) contents: Vec<Contents>,
    pub(super) mores: Vec<MorePlot>,
    /// Largest growth of any building, first to last point in time; the top of the colour scale.
    pub(super) max_growth: u64,
    pub(super) pruned: Vec<NodeId>,
    pub(super) places: NodePlaces,
    /// Groups that came after the ground was divided.
    pub(super) unplaced: Vec<NodeId>,
    /// How much smaller areas are than they were when the ground was divided.
    pub(super) outgrowth: f64,
    pub(super) area_per_unit: f64,
}

/// The plots and districts directly in a district.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub plots: Range<usize>,
    pub districts: Range<usize>,
}

/// Where each node is: on a plot, in a district of its own, or nowhere. Four bytes a node.
#[derive(Clone, Debug)]
pub(super) struct NodePlaces {
    by_node: Vec<u32>,
    /// The outermost district, which is also the building on it where it is one group; and its node.
    outermost: Option<(usize, usize)>,
}

/// Marks the number of a district; all other numbers are plots.
const OF_DISTRICT: u32 = 1 << 31;
const NOWHERE: u32 = u32::MAX;

impl NodePlaces {
    pub fn nowhere(nodes: usize) -> NodePlaces {
        NodePlaces { by_node: vec![NOWHERE; nodes], outermost: None }
    }

    /// Whether a node is anywhere.
    pub fn has(&self, node: usize) -> bool {
        self.by_node.get(node).is_some_and(|&place| place != NOWHERE)
    }

    pub fn plot(&self, node: usize) -> Option<usize> {
        self.by_node.get(node).filter(|&&place| place & OF_DISTRICT == 0).map(|&place| place as usize)
    }

    pub fn district(&self, node: usize) -> Option<usize> {
        if let Some((outermost, district)) = self.outermost
            && outermost == node
        {
            return Some(district);
        }
        let is = |place: &&u32| **place & OF_DISTRICT != 0 && **place != NOWHERE;
        self.by_node.get(node).filter(is).map(|&place| (place & !OF_DISTRICT) as usize)
    }

    pub fn put_on(&mut self, node: usize, plot: usize) {
        self.by_node[node] = plot as u32;
    }

    /// The outermost district first, and all districts before anything that is put on a plot.
    pub fn put_in(&mut self, node: usize, district: usize) {
        self.by_node[node] = district as u32 | OF_DISTRICT;
        self.outermost.get_or_insert((node, district));
    }
}

impl CityPlan {
    /// Lays out the whole timeline. Nodes that never have a value in the chosen metric get no space; for them
    /// [`CityPlan::plot_of`] is `None`. Factors outside the ranges of [`CityConfig`] are brought into them.
    pub fn new(timeline: &Timeline, config: &CityConfig) -> CityPlan {
        CityPlan::of_part(timeline, config, CityPart::default())
    }

    /// The same for a part of the heap: everything outside has no place. Colours describe the part alone.
    pub fn of_part(timeline: &Timeline, config: &CityConfig, part: CityPart) -> CityPlan {
        let within = |v: f64, low: f64, default: f64| if v.is_finite() { v.clamp(low, 1.0) } else { default };
        let d = CityConfig::default();
        let config =
            CityConfig { border: within(config.border, 0.5, d.border), gap: within(config.gap, 0.1, d.gap), ..*config };
        let mut plan = CityPlan {
            config,
            part,
            plots: Vec::new(),
            districts: Vec::new(),
            occupants: Occupants::default(),
            contents: Vec::new(),
            mores: Vec::new(),
            max_growth: 0,
            pruned: Vec::new(),
            places: NodePlaces::nowhere(timeline.len()),
            unplaced: Vec::new(),
            outgrowth: 1.0,
            area_per_unit: 0.0,
        };
        if timeline.len() == 0 {
            return plan;
        }
        let city = Rect::new(-CITY_SIZE / 2.0, -CITY_SIZE / 2.0, CITY_SIZE, CITY_SIZE);
        let peaks = Peaks::new(timeline, &config);
        let within = layout::times(timeline, &config).unwrap_or(0..=timeline.times().saturating_sub(1));
        let blocks = layout::lay_out(timeline, &peaks, &config, part, city, |nodes| {
            let sums = sums(timeline, nodes, config.metric);
            within.clone().filter_map(|t| sums.get(t)).copied().max().unwrap_or(0)
        });
        plan.settle(timeline, &peaks, blocks);
        plan.place_below_plots(timeline, &peaks);
        plan.max_growth = match part == CityPart::default() {
            true => super::mapping::max_growth(timeline, config.metric),
            false => plan.max_growth_within(timeline),
        };
        plan
    }

    /// Turns blocks and slots into districts and plots.
    fn settle(&mut self, timeline: &Timeline, peaks: &Peaks<'_>, blocks: Blocks) {
        let metric = self.config.metric;
        let Blocks { blocks, mores, pruned, occupants, cells, area_per_unit } = blocks;
        let mut plot_slots: Vec<u32> = Vec::with_capacity(occupants.len() + 1 - blocks.len());
        self.plots.reserve_exact(plot_slots.capacity());
        for level in blocks.chunk_by(|a, b| a.level == b.level) {
            let top = top_of(level[0].level);
            let level_start = plot_slots.len();
            for block in level {
                let base = top - DISTRICT_HEIGHT;
                self.places.put_in(block.node.index(), self.districts.len());
                self.districts.push(District { node: block.node, cell: block.cell, level: block.level, base, top });
                let start = plot_slots.len();
                let is_plot = |slot: &usize| !matches!(occupants[*slot], Occupant::District(_));
                plot_slots.extend(block.slots.clone().filter(is_plot).map(|slot| slot as u32));
                self.contents.push(Contents { plots: start..plot_slots.len(), districts: block.blocks.clone() });
            }
            let plot = |&slot: &u32| Plot { cell: cells[slot as usize], level: level[0].level + 1 };
            self.plots.par_extend(plot_slots[level_start..].par_iter().with_min_len(2048).map(plot));
        }
        self.occupants.reserve(plot_slots.len());
        for (index, &slot) in plot_slots.iter().enumerate() {
            match occupants[slot as usize] {
                Occupant::Building(node) => {
                    self.occupants.push(Some(node), peaks.of(node));
                    self.places.put_on(node.index(), index);
                }
                Occupant::More(more) => {
                    let more = &mores[more as usize];
                    let nodes = more.nodes.clone();
                    self.occupants.push(None, more.max);
                    pruned[nodes.clone()].iter().for_each(|n| self.places.put_on(n.index(), index));
                    let place = (index, more.parent);
                    self.mores.push(MorePlot::new(timeline, place, nodes.clone(), &pruned[nodes], metric));
                }
                Occupant::District(_) => unreachable!("plot slots hold no districts"),
            }
        }
        self.pruned = pruned;
        self.area_per_unit = area_per_unit;
    }

    /// Nodes below a pruned node (or below a building) are found at its plot.
    fn place_below_plots(&mut self, timeline: &Timeline, peaks: &Peaks<'_>) {
        if self.mores.is_empty() {
            return;
        }
        for i in 1..timeline.len() {
            if !self.places.has(i) {
                let node = NodeId(i as u32);
                if peaks.of(node) > 0
                    && let Some(parent) = timeline.parent(node)
                    && let Some(plot) = self.places.plot(parent.index())
                {
                    self.places.put_on(i, plot);
                }
            }
        }
    }

    /// At a time outside the window that the ground was divided for: how many buildings are larger than their plots, and how many
    /// groups have none. Both 0 at other times.
    pub fn outside(&self, timeline: &Timeline, t: usize) -> (usize, usize) {
        if layout::times(timeline, &self.config).is_none_or(|window| window.contains(&t)) {
            return (0, 0);
        }
        let larger = |&plot: &usize| !self.is_more(plot) && self.value(timeline, t, plot) > self.max_value(plot);
        let without = |&node: &NodeId| {
            let placed = self.plot_of(node).is_some() || self.district_of(node).is_some();
            !placed && timeline.is_leaf(node) && timeline.value(t, node, self.config.metric) > 0
        };
        ((0..self.plots.len()).filter(larger).count(), timeline.nodes().filter(without).count())
    }

    /// The kind of building on a plot.
    pub fn kind(&self, plot: usize) -> PlotKind {
        match (self.building(plot), self.more(plot)) {
            (Some(node), _) => PlotKind::Building(node),
            (None, Some(more)) => PlotKind::More { parent: more.parent, count: more.nodes.len() as u32 },
            (None, None) => unreachable!("what is no building is a More plot"),
        }
    }

    /// The group of the building on a plot; `None` for a More plot.
    #[inline]
    pub fn building(&self, plot: usize) -> Option<NodeId> {
        self.occupants.building(plot)
    }

    /// Whether it is a More plot.
    #[inline]
    pub fn is_more(&self, plot: usize) -> bool {
        self.building(plot).is_none()
    }

    /// The largest value of a plot over time when the ground was divided, in units of the metric (not mapped). For a More plot it is the
    /// largest sum.
    #[inline]
    pub fn max_value(&self, plot: usize) -> u64 {
        self.occupants.max_value(plot)
    }

    /// The configuration of the layout.
    pub fn config(&self) -> &CityConfig {
        &self.config
    }

    /// The plot of a leaf; of a pruned node, or one below it, the More plot that stands for it. `None` for districts
    /// and for nodes that never had a value.
    pub fn plot_of(&self, node: NodeId) -> Option<usize> {
        self.places.plot(node.index())
    }

    /// The district of an inner node that has space of its own.
    pub fn district_of(&self, node: NodeId) -> Option<usize> {
        self.places.district(node.index())
    }

    /// The More plot of a district, where there is one.
    pub fn more_of(&self, parent: NodeId) -> Option<usize> {
        // Mores are in the order of their districts.
        let district = self.district_of(parent)?;
        let plots = &self.contents[district].plots;
        let first = self.mores.partition_point(|m| m.plot < plots.start);
        self.mores.get(first).filter(|m| plots.contains(&m.plot)).map(|m| m.plot)
    }

    /// The pruned children a More plot stands for, largest maximum first; empty for buildings.
    pub fn pruned(&self, plot: usize) -> &[NodeId] {
        self.more(plot).map_or(&[], |m| &self.pruned[m.nodes.clone()])
    }

    /// The groups behind a More plot at time `t`; `None` for buildings.
    pub fn more_summary(&self, timeline: &Timeline, plot: usize, t: usize) -> Option<MoreSummary> {
        let more = self.more(plot)?;
        let mut leaves = 0;
        let mut open: Vec<NodeId> = self.pruned[more.nodes.clone()].to_vec();
        while let Some(node) = open.pop() {
            let children = timeline.children(node);
            leaves += usize::from(children.is_empty());
            open.extend_from_slice(children);
        }
        let amount = more.totals[t];
        let value = more.values[t];
        let heap = timeline.value(t, NodeId::ROOT, self.config.metric);
        let share = if heap > 0 { value as f64 / heap as f64 } else { 0.0 };
        Some(MoreSummary { children: more.nodes.len(), leaves, amount, share })
    }

    /// Objects and bytes of a plot at time `t`: those of its leaf, or the sum over the groups of a More plot.
    pub fn amount(&self, timeline: &Timeline, plot: usize, t: usize) -> Amount {
        match self.building(plot) {
            Some(node) => timeline.amount(t, node),
            None => self.more(plot).map_or(Amount::default(), |m| m.totals[t]),
        }
    }

    /// The value of a plot at time `t`, in the metric of the layout.
    pub fn value(&self, timeline: &Timeline, t: usize, plot: usize) -> u64 {
        match self.building(plot) {
            Some(node) => timeline.value(t, node, self.config.metric),
            None => self.more(plot).map_or(0, |m| m.values[t]),
        }
    }

    /// The same, and at the first point in time.
    #[inline]
    pub(super) fn value_and_first(&self, timeline: &Timeline, t: usize, plot: usize) -> (u64, u64) {
        match self.building(plot) {
            Some(node) => timeline.value_and_first(t, node, self.config.metric),
            None => self.more(plot).map_or((0, 0), |m| (m.values[t], m.values[0])),
        }
    }

    pub(super) fn more(&self, plot: usize) -> Option<&MorePlot> {
        self.mores.binary_search_by_key(&plot, |m| m.plot).ok().map(|i| &self.mores[i])
    }

    /// Number of district levels, 0 for an empty city: the range of [`super::district_colour`].
    pub fn levels(&self) -> u32 {
        self.districts.iter().map(|d| d.level + 1).max().unwrap_or(0)
    }

    /// Base area of a building with this value (objects or bytes, as the city's metric says), in square units.
    pub fn base_area(&self, value: f64) -> f64 {
        self.config.area_mode.of(value) * self.area_per_unit / self.outgrowth * self.config.gap * self.config.gap
    }

    /// The rectangle a plot's base covers at a scale (see [`super::PlotState`]).
    pub fn base(&self, plot: usize, scale: f64) -> Rect {
        self.plots[plot].cell.scaled(scale)
    }

    /// Height of the building on a plot at a scale: `2 * sqrt(base area)`; a More plot is flat.
    pub fn height(&self, plot: usize, scale: f64) -> f64 {
        match self.is_more(plot) {
            _ if scale <= 0.0 => 0.0,
            false => 2.0 * scale * self.plots[plot].cell.area().sqrt(),
            true => MORE_HEIGHT,
        }
    }

    /// The height a plot reaches at its maximum.
    pub fn max_height(&self, plot: usize) -> f64 {
        self.height(plot, self.config.gap)
    }

    /// Largest growth of any building from the first to the last point in time, in units of the metric; 0 if none grew.
    pub fn max_growth(&self) -> u64 {
        self.max_growth
    }
}
