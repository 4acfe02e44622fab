//! Layout: divides the ground into cells, from the maxima of a tree. Runs once per city, in three sweeps over levels.
//!
//! 1. Downwards: which children of each node get a slot, largest first; the rest are pruned into one More slot.
//! 2. Upwards: weights. A leaf weighs its mapped maximum. A district weighs the sum of its children divided by the square of its border
//!    factor, so that its border takes no space from the buildings inside.
//! 3. Downwards: cells, by [`squarify_sorted`] inside each district's inner block.
//!
//! All children of one district are one range of the slot columns, so districts of a level work in parallel on disjoint parts and nothing
//! is allocated per node. There is no recursion: the input decides the depth, and the stack is limited.

use super::config::{BORDERED_LEVELS, CityConfig};
use super::part::CityPart;
use super::rect::Rect;
use super::squarify::{squarify_sorted, suffix_sums};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

/// The least share of a More slot of the slots beside it, so that it can be seen and clicked.
const MORE_SHARE: f64 = 0.004;
/// Parts of a level smaller than this are not worth another task.
const SLOTS_PER_TASK: usize = 4096;

/// The use of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupant {
    Building(NodeId),
    /// Index into [`Blocks::blocks`].
    District(u32),
    /// Index into [`Blocks::mores`].
    More(u32),
}

/// An inner node with space in the city.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub node: NodeId,
    pub level: u32,
    /// Its children in the slot columns.
    pub slots: Range<usize>,
    /// Its children among the blocks.
    pub blocks: Range<usize>,
    /// Its own slot in its parent; unused for the root.
    slot: usize,
    pub cell: Rect,
}

/// The pruned children of one node.
#[derive(Clone, Debug)]
pub(super) struct MoreBlock {
    pub parent: NodeId,
    /// Part of [`Blocks::pruned`].
    pub nodes: Range<usize>,
    /// Their largest sum over time.
    pub max: u64,
}

/// The result: districts with their cells and the slots of each in descending order of weight.
pub(super) struct Blocks {
    pub blocks: Vec<Block>,
    pub mores: Vec<MoreBlock>,
    pub pruned: Vec<NodeId>,
    /// Descending by weight within each block; ties by node, a More slot last.
    pub occupants: Vec<Occupant>,
    pub cells: Vec<Rect>,
    /// Base area per unit of mapped value, before the gap.
    pub area_per_unit: f64,
}

/// The largest value of each node over the times that the ground is divided for.
pub(super) enum Peaks<'a> {
    /// All times: known already.
    Whole(&'a Timeline, Metric),
    /// Some: by node.
    Window(Vec<u64>),
}

impl<'a> Peaks<'a> {
    /// Linear in the nodes and the times of the window, where there is one.
    pub fn new(timeline: &'a Timeline, config: &CityConfig) -> Peaks<'a> {
        let metric = config.metric;
        match times(timeline, config) {
            None => Peaks::Whole(timeline, metric),
            Some(window) => {
                let peak = |node| window.clone().map(|t| timeline.value(t, NodeId(node), metric)).max().unwrap_or(0);
                Peaks::Window((0..timeline.len() as u32).into_par_iter().with_min_len(2048).map(peak).collect())
            }
        }
    }

    pub fn of(&self, node: NodeId) -> u64 {
        match self {
            Peaks::Whole(timeline, metric) => timeline.peak(node, *metric),
            Peaks::Window(peaks) => peaks[node.index()],
        }
    }
}

/// The times of the window, within those there are; `None` where there is none.
pub(super) fn times(timeline: &Timeline, config: &CityConfig) -> Option<std::ops::RangeInclusive<usize>> {
    let last = timeline.times().saturating_sub(1);
    config.window.filter(|_| timeline.times() > 0).map(|(from, to)| from.min(to).min(last)..=from.max(to).min(last))
}

/// Whether a node ends a branch of the city: it has no child that ever had a value.
fn ends_branch(timeline: &Timeline, peaks: &Peaks<'_>, node: NodeId) -> bool {
    timeline.children(node).iter().all(|&c| peaks.of(c) == 0)
}

/// Lays out all nodes of `part` inside `city`. `more_max` gives the largest sum over time of pruned nodes.
pub(super) fn lay_out(
    timeline: &Timeline,
    peaks: &Peaks<'_>,
    config: &CityConfig,
    part: CityPart,
    city: Rect,
    more_max: impl Fn(&[NodeId]) -> u64,
) -> Blocks {
    let mut b = choose(timeline, peaks, config, part, city, more_max);
    let n = b.occupants.len();
    let mut levels: Vec<Range<usize>> = Vec::new();
    for (i, block) in b.blocks.iter().enumerate() {
        match levels.get_mut(block.level as usize) {
            Some(range) => range.end = i + 1,
            None => levels.push(i..i + 1),
        }
    }

    let mut weights = mapped_values(peaks, config, &b);
    let mut keys = vec![WeightKey(0); n];
    let mut sums = vec![0.0; n];
    let occupants = std::mem::take(&mut b.occupants);
    for level in levels.iter().rev() {
        let blocks = &b.blocks[level.clone()];
        let columns = LayoutColumns { keys: &mut keys, weights: &mut weights, sums: &mut sums, cells: &mut b.cells };
        for_each_block(blocks, columns.narrowed(blocks), &|block, c| weigh(&occupants, block, c));
        for block in blocks.iter().filter(|block| block.slots.start < block.slots.end) {
            let scale = border(config, block.level);
            let inflated = sums[block.slots.start] / (scale * scale);
            if block.level > 0 {
                weights[block.slot] = inflated;
            }
        }
    }

    for level in &levels {
        let (above, below) = b.blocks.split_at_mut(level.end);
        let blocks = &above[level.clone()];
        let columns = LayoutColumns { keys: &mut keys, weights: &mut weights, sums: &mut sums, cells: &mut b.cells };
        for_each_block(blocks, columns.narrowed(blocks), &|block, c| {
            squarify_sorted(c.weights, c.sums, block.cell.scaled(border(config, block.level)), c.cells);
        });
        for block in blocks {
            if block.blocks.is_empty() {
                continue;
            }
            for slot in block.slots.clone() {
                if let Occupant::District(child) = occupants[keys[slot].slot()] {
                    below[child as usize - level.end].cell = b.cells[slot];
                }
            }
        }
    }

    let root = &b.blocks[0];
    let total = sums.first().copied().unwrap_or(0.0);
    let inner = root.cell.scaled(border(config, 0));
    b.area_per_unit = if total > 0.0 { inner.area() / total } else { 0.0 };
    b.occupants = keys.par_iter().with_min_len(SLOTS_PER_TASK).map(|key| occupants[key.slot()]).collect();
    b
}

/// The linear factor of a district's inner block.
fn border(config: &CityConfig, level: u32) -> f64 {
    if level < BORDERED_LEVELS { config.border } else { 1.0 }
}

/// First sweep: blocks and slots, level by level; slots still in the order of the tree.
fn choose(
    timeline: &Timeline,
    peaks: &Peaks<'_>,
    config: &CityConfig,
    part: CityPart,
    city: Rect,
    more_max: impl Fn(&[NodeId]) -> u64,
) -> Blocks {
    // Siblings are numbered by name: ties go by key.
    let rank = |n: NodeId| (Reverse(peaks.of(n)), n);
    let root = Block { node: part.root, level: 0, slots: 0..0, blocks: 0..0, slot: 0, cell: city };
    let mut b = Blocks {
        blocks: vec![root],
        mores: Vec::new(),
        pruned: Vec::new(),
        occupants: Vec::new(),
        cells: Vec::new(),
        area_per_unit: 0.0,
    };
    let mut kept: Vec<NodeId> = Vec::new();
    let mut next = 0;
    while next < b.blocks.len() {
        let (node, level) = (b.blocks[next].node, b.blocks[next].level);
        let (first_slot, first_block) = (b.occupants.len(), b.blocks.len());
        kept.clear();
        kept.extend(timeline.children(node).iter().filter(|c| peaks.of(**c) > 0));
        if next == 0 && part.beyond > 0 {
            kept.sort_unstable_by_key(|&n| rank(n));
            kept.drain(..part.beyond.min(kept.len()));
            kept.sort_unstable();
        }
        let limit = config.child_count.unwrap_or(usize::MAX);
        let mut more = None;
        if kept.len() > limit {
            if limit > 0 {
                kept.select_nth_unstable_by_key(limit - 1, |&n| rank(n));
            }
            let start = b.pruned.len();
            b.pruned.extend(kept.drain(limit..));
            b.pruned[start..].par_sort_unstable_by_key(|&n| rank(n));
            kept.sort_unstable();
            more = Some(Occupant::More(b.mores.len() as u32));
            let max = more_max(&b.pruned[start..]);
            b.mores.push(MoreBlock { parent: node, nodes: start..b.pruned.len(), max });
        }
        if next == 0 && part.beyond == 0 && kept.is_empty() && more.is_none() && peaks.of(node) > 0 {
            b.occupants.push(Occupant::Building(node)); // a heap that is not grouped at all
        }
        for &child in &kept {
            if ends_branch(timeline, peaks, child) {
                b.occupants.push(Occupant::Building(child));
            } else {
                let slot = b.occupants.len();
                b.occupants.push(Occupant::District(b.blocks.len() as u32));
                b.blocks.push(Block {
                    node: child,
                    level: level + 1,
                    slots: 0..0,
                    blocks: 0..0,
                    slot,
                    cell: Rect::default(),
                });
            }
        }
        b.occupants.extend(more);
        b.blocks[next].slots = first_slot..b.occupants.len();
        b.blocks[next].blocks = first_block..b.blocks.len();
        next += 1;
    }
    b.cells = vec![Rect::default(); b.occupants.len()];
    b
}

/// Mapped maxima of buildings and More slots, per slot; zero for districts, whose weight is their children's.
fn mapped_values(peaks: &Peaks<'_>, config: &CityConfig, b: &Blocks) -> Vec<f64> {
    let mapped = |value: u64| config.area_mode.of(value as f64);
    b.occupants
        .par_iter()
        .with_min_len(SLOTS_PER_TASK)
        .map(|o| match *o {
            Occupant::Building(node) => mapped(peaks.of(node)),
            Occupant::More(more) => mapped(b.mores[more as usize].max),
            Occupant::District(_) => 0.0,
        })
        .collect()
}

/// A weight and its slot as one number, ascending as weights descend, equal weights by slot. Comparing one number needs no branches, which
/// makes sorting a million of them several times as fast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WeightKey(u128);

impl WeightKey {
    /// Bits of positive doubles ascend with the numbers.
    fn new(weight: f64, slot: usize) -> WeightKey {
        WeightKey(u128::from(!weight.to_bits()) << 64 | slot as u128)
    }
    fn weight(self) -> f64 {
        f64::from_bits(!((self.0 >> 64) as u64))
    }
    fn slot(self) -> usize {
        self.0 as u64 as usize
    }
}

/// The slots of some neighbouring blocks.
struct LayoutColumns<'a> {
    keys: &'a mut [WeightKey],
    weights: &'a mut [f64],
    sums: &'a mut [f64],
    cells: &'a mut [Rect],
}

impl<'a> LayoutColumns<'a> {
    /// Cuts the columns of the whole city down to those of some neighbouring blocks.
    fn narrowed(self, blocks: &[Block]) -> LayoutColumns<'a> {
        let (start, end) = match blocks {
            [first, .., last] => (first.slots.start, last.slots.end),
            [only] => (only.slots.start, only.slots.end),
            [] => (0, 0),
        };
        self.split(end).0.split(start).1
    }
    fn split(self, at: usize) -> (LayoutColumns<'a>, LayoutColumns<'a>) {
        let (k, keys) = self.keys.split_at_mut(at);
        let (w, weights) = self.weights.split_at_mut(at);
        let (s, sums) = self.sums.split_at_mut(at);
        let (c, cells) = self.cells.split_at_mut(at);
        (LayoutColumns { keys: k, weights: w, sums: s, cells: c }, LayoutColumns { keys, weights, sums, cells })
    }
}

/// Calls `work` for every block with its own slots, halving until a task is small.
fn for_each_block(blocks: &[Block], columns: LayoutColumns, work: &(impl Fn(&Block, LayoutColumns) + Sync)) {
    match blocks {
        [] => {}
        [only] => work(only, columns),
        _ if columns.keys.len() <= SLOTS_PER_TASK => {
            let mut rest = columns;
            for block in blocks {
                let (mine, others) = rest.split(block.slots.len());
                work(block, mine);
                rest = others;
            }
        }
        _ => {
            let (left, right) = blocks.split_at(blocks.len() / 2);
            let (l, r) = columns.split(right[0].slots.start - left[0].slots.start);
            rayon::join(|| for_each_block(left, l, work), || for_each_block(right, r, work));
        }
    }
}

/// Sorts the slots of one block by weight and adds them up.
fn weigh(occupants: &[Occupant], block: &Block, c: LayoutColumns) {
    let first = block.slots.start;
    if let (Some(Occupant::More(_)), [others @ .., more]) = (occupants[block.slots.clone()].last(), &mut *c.weights) {
        *more = more.max(others.iter().sum::<f64>() * MORE_SHARE);
    }
    for (i, (key, weight)) in c.keys.iter_mut().zip(c.weights.iter()).enumerate() {
        *key = WeightKey::new(*weight, first + i);
    }
    if c.keys.len() > SLOTS_PER_TASK {
        c.keys.par_sort_unstable();
    } else {
        c.keys.sort_unstable();
    }
    for (weight, key) in c.weights.iter_mut().zip(c.keys.iter()) {
        *weight = key.weight();
    }
    suffix_sums(c.weights, c.sums);
}
