//! Levels of detail: which parts of a city to draw for a given camera.
//!
//! A [`DetailTree`] has a node for every district and for runs of neighbouring plots in it, each with its bounds. For a camera,
//! [`DetailTree::choose`] drops the parts that are out of sight and sorts the rest from front to back. Where all buildings of a node are
//! smaller than a pixel, one **block** stands for them: a solid of their mean height and colour. Pixels that each show a random one of
//! several buildings are noise, and cost as much as the buildings.
//!
//! The tree is built once for a layout. Only the states of the blocks change with time ([`DetailTree::states`], [`DetailTree::update`]),
//! eight bytes each. May not: draw, or know how its answers are drawn.

use super::plan::CityPlan;
use super::states::PlotState;
use glam::{Mat4, Vec3, Vec4};
use rayon::prelude::*;
use std::ops::Range;

/// Buildings of a run at most, in large cities.
const LARGEST_RUN: usize = 64;
/// Runs below one node, and so on upwards.
const FAN: usize = 8;
/// Fewer buildings are never a block.
const SMALLEST_BLOCK: u32 = 8;
/// A block with parts is at most this wide on screen: changes from place to place within it must stay visible.
const WIDEST_BLOCK: f32 = 4.0;
/// Buildings this many times as high as a pixel are towers, and stay themselves however thin they are.
const TOWER: f32 = 3.5;

const NONE: u32 = u32::MAX;

/// The constant part of the block that stands for all buildings below a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetailBlock {
    /// Lowest and highest x and z of the cells.
    pub low: [f32; 2],
    /// See `low`.
    pub high: [f32; 2],
    /// The height of its ground, world units.
    pub ground: f32,
    /// Side of a cell on average, world units.
    pub cell: f32,
    /// Levels of its district below the root.
    pub level: u32,
}

#[derive(Clone, Debug)]
struct DetailNode {
    low: Vec3,
    high: Vec3,
    /// Side of the largest cell, and the highest a building ever gets.
    largest: f32,
    tallest: f32,
    /// All cells together, square units.
    area: f32,
    buildings: u32,
    /// Its own plots, where it is a leaf.
    plots: Range<u32>,
    /// Its own slab, where it is a district.
    district: u32,
    children: Range<u32>,
    block: u32,
    level: u32,
}

/// The nodes of a city, parents before children.
#[derive(Clone, Debug, Default)]
pub struct DetailTree {
    nodes: Vec<DetailNode>,
    /// The node of each block.
    blocks: Vec<u32>,
    /// The first plot of each node that has plots of its own, and the node; ascending.
    leaves: Vec<(u32, u32)>,
    /// Most plots that are drawn in one go.
    grain: u32,
}

/// The camera that a city is seen from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetailView {
    /// World to clip space; depth is ignored.
    pub clip_from_world: Mat4,
    /// The eye, world units.
    pub eye: Vec3,
    /// Height of the picture, pixels.
    pub height: f32,
    /// Buildings whose bases cover less than the square of this many pixels become part of a block; 0 for no blocks.
    pub smallest: f32,
}

/// The parts of a city to draw. Ranges may be drawn in one go; near ones come first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DetailChoice {
    /// Districts; inner ones, which lie higher, before those around them.
    pub districts: Vec<Range<u32>>,
    /// Plots.
    pub plots: Vec<Range<u32>>,
    /// Blocks, by number.
    pub blocks: Vec<Range<u32>>,
}

impl DetailChoice {
    /// How many boxes that is.
    pub fn boxes(&self) -> usize {
        let all = self.districts.iter().chain(&self.plots).chain(&self.blocks);
        all.map(|range| range.len()).sum()
    }
}

impl DetailTree {
    /// The tree of a layout. `peak` is the height of a plot that it never exceeds, world units. Linear in the plots.
    pub fn new(plan: &CityPlan, peak: impl Fn(usize) -> f64 + Sync) -> DetailTree {
        let run = (plan.plots.len() / 1024).clamp(1, LARGEST_RUN);
        let grain = (plan.plots.len() / 192).clamp(1, 8192) as u32;
        Self::with_runs(plan, peak, run, grain)
    }

    fn with_runs(plan: &CityPlan, peak: impl Fn(usize) -> f64 + Sync, run: usize, grain: u32) -> DetailTree {
        let mut tree = DetailTree { nodes: Vec::new(), blocks: Vec::new(), leaves: Vec::new(), grain };
        if plan.districts.is_empty() {
            return tree;
        }
        // What a node is made for: a district, or a run of plots.
        enum Part {
            District(usize),
            Run(Range<usize>, u32),
        }
        let mut parts = vec![Part::District(0)];
        let mut at = 0;
        while at < parts.len() {
            let first = parts.len() as u32;
            let node = match &parts[at] {
                Part::District(district) => {
                    let (d, contents) = (&plan.districts[*district], &plan.contents[*district]);
                    let own = contents.plots.clone();
                    let c = d.cell;
                    let mut node = DetailNode::empty(d.level);
                    node.district = *district as u32;
                    node.low = Vec3::new(c.x as f32, d.base as f32, c.y as f32);
                    node.high = Vec3::new((c.x + c.w) as f32, d.top as f32, (c.y + c.h) as f32);
                    if contents.districts.is_empty() && own.len() <= run {
                        node.plots = own.start as u32..own.end as u32;
                    } else {
                        let level = d.level;
                        parts.extend(split(own, run).map(|range| Part::Run(range, level)));
                        parts.extend(contents.districts.clone().map(Part::District));
                    }
                    node
                }
                Part::Run(range, level) => {
                    let (range, level) = (range.clone(), *level);
                    let mut node = DetailNode::empty(level);
                    if range.len() <= run {
                        node.plots = range.start as u32..range.end as u32;
                    } else {
                        parts.extend(split(range, run).map(|range| Part::Run(range, level)));
                    }
                    node
                }
            };
            tree.nodes.push(DetailNode { children: first..parts.len() as u32, ..node });
            at += 1;
        }
        tree.nodes.par_iter_mut().with_min_len(64).for_each(|node| {
            for plot in node.plots.clone() {
                node.add_plot(plan, plot as usize, &peak);
            }
        });
        for i in (0..tree.nodes.len()).rev() {
            let (above, below) = tree.nodes.split_at_mut(i + 1);
            let node = &mut above[i];
            for child in node.children.clone() {
                node.add(&below[child as usize - i - 1]);
            }
            if node.buildings >= SMALLEST_BLOCK {
                node.block = 0;
            }
        }
        for (i, node) in tree.nodes.iter_mut().enumerate().filter(|(_, node)| node.block == 0) {
            node.block = tree.blocks.len() as u32;
            tree.blocks.push(i as u32);
        }
        let leaves = tree.nodes.iter().enumerate().filter(|(_, node)| !node.plots.is_empty());
        tree.leaves = leaves.map(|(i, node)| (node.plots.start, i as u32)).collect();
        tree.leaves.sort_unstable();
        tree
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The constant parts of the blocks, in the order of their numbers.
    pub fn blocks(&self) -> impl Iterator<Item = DetailBlock> + '_ {
        self.blocks.iter().map(|&node| {
            let node = &self.nodes[node as usize];
            // Where it is a district, its own slab is drawn below it.
            let ground = if node.district == NONE { node.low.y } else { node.ground() };
            DetailBlock {
                low: [node.low.x, node.low.z],
                high: [node.high.x, node.high.z],
                ground,
                cell: (node.area / node.buildings.max(1) as f32).sqrt(),
                level: node.level,
            }
        })
    }

    /// The state of every block for these states of the plots. `side` is the mean side of a building, `height` the mean height, `colour`
    /// the mean position of the buildings above the start of the gradient, `opacity` their share. Each building is weighted by its base.
    /// Linear in the plots.
    pub fn states(&self, plots: &[PlotState]) -> Vec<PlotState> {
        self.states_of(&self.sums(&|range: Range<usize>| plots[range].iter().copied()))
    }

    /// The sums behind the states of blocks, kept so that [`DetailTree::update`] can follow single plots. `plots` returns the states of
    /// neighbouring plots. Linear in the plots.
    pub fn sums<I: Iterator<Item = PlotState>>(&self, plots: &(impl Fn(Range<usize>) -> I + Sync)) -> DetailSums {
        DetailSums(self.nodes.par_iter().with_min_len(64).map(|node| node.sums(plots)).collect())
    }

    /// The state of a plot was `from` and is `to`.
    pub fn update(&self, sums: &mut DetailSums, plot: usize, from: PlotState, to: PlotState) {
        let leaf = self.leaves.partition_point(|&(first, _)| first as usize <= plot);
        let Some(&(_, node)) = leaf.checked_sub(1).and_then(|leaf| self.leaves.get(leaf)) else { return };
        for ((sum, was), is) in sums.0[node as usize].iter_mut().zip(parts_of(from)).zip(parts_of(to)) {
            *sum = *sum - was + is;
        }
    }

    /// See [`DetailTree::states`]. Linear in the nodes.
    pub fn states_of(&self, sums: &DetailSums) -> Vec<PlotState> {
        let nodes = self.nodes.par_iter().zip(&sums.0).with_min_len(2048);
        let mut means: Vec<Mean> = nodes.map(|(node, sums)| node.mean(*sums)).collect();
        for i in (0..self.nodes.len()).rev() {
            for child in self.nodes[i].children.clone() {
                let below = means[child as usize];
                means[i].add(&below);
            }
        }
        self.blocks.par_iter().with_min_len(2048).map(|&node| means[node as usize].state()).collect()
    }

    /// The mean of every block over the pairs (value, weight) that `of` returns for its plots; 0 where all weights are 0. Linear in the
    /// plots.
    pub fn means_of(&self, of: &(impl Fn(usize) -> (f64, f64) + Sync)) -> Vec<f64> {
        let own = |node: &DetailNode| {
            node.plots
                .clone()
                .map(|plot| of(plot as usize))
                .fold((0.0, 0.0), |(weights, all), (weight, value)| (weights + weight, all + weight * value))
        };
        let mut sums: Vec<(f64, f64)> = self.nodes.par_iter().with_min_len(64).map(own).collect();
        for i in (0..self.nodes.len()).rev() {
            for child in self.nodes[i].children.clone() {
                let below = sums[child as usize];
                sums[i] = (sums[i].0 + below.0, sums[i].1 + below.1);
            }
        }
        let mean = |(weights, all): (f64, f64)| if weights > 0.0 { all / weights } else { 0.0 };
        self.blocks.iter().map(|&node| mean(sums[node as usize])).collect()
    }

    /// The parts to draw for a view.
    pub fn choose(&self, view: &DetailView) -> DetailChoice {
        let mut choice = DetailChoice::default();
        if self.nodes.is_empty() {
            return choice;
        }
        let eye = Sight::new(view);
        let mut districts: Vec<u32> = Vec::new();
        // Nearest on top.
        let mut open: Vec<u32> = vec![0];
        let mut near: Vec<(f32, u32)> = Vec::new();
        while let Some(i) = open.pop() {
            let node = &self.nodes[i as usize];
            let Some(depth) = eye.depth(node.low, node.high) else { continue };
            if node.district != NONE {
                districts.push(node.district);
            }
            let pixels = eye.pixels / depth;
            // Seen from aslant a base covers less than its side squared.
            let aslant = pixels * eye.slope(node.low, node.high);
            if node.block != NONE
                && node.largest * aslant < view.smallest
                && node.tallest * pixels < TOWER * view.smallest
                && (node.children.is_empty() || (node.high - node.low).max_element() * pixels <= WIDEST_BLOCK)
            {
                join(&mut choice.blocks, node.block..node.block + 1, u32::MAX);
                continue;
            }
            if !node.plots.is_empty() {
                join(&mut choice.plots, node.plots.clone(), self.grain);
            }
            near.clear();
            near.extend(node.children.clone().map(|child| {
                let node = &self.nodes[child as usize];
                (view.eye.distance_squared(view.eye.clamp(node.low, node.high)), child)
            }));
            near.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            open.extend(near.iter().map(|&(_, child)| child));
        }
        districts.sort_unstable_by(|a, b| b.cmp(a));
        for district in districts {
            join(&mut choice.districts, district..district + 1, u32::MAX);
        }
        choice
    }
}

/// Adds a range; one that lies beside the last is joined with it, up to `most`.
fn join(ranges: &mut Vec<Range<u32>>, range: Range<u32>, most: u32) {
    if let Some(last) = ranges.last_mut()
        && (last.end - last.start) + (range.end - range.start) <= most
    {
        if last.end == range.start {
            last.end = range.end;
            return;
        }
        if range.end == last.start {
            last.start = range.start;
            return;
        }
    }
    ranges.push(range);
}

/// Cuts a range into at most [`FAN`] parts whose lengths are `run` times a power of [`FAN`].
fn split(range: Range<usize>, run: usize) -> impl Iterator<Item = Range<usize>> {
    let mut part = run;
    while part * FAN < range.len() {
        part *= FAN;
    }
    range.clone().step_by(part).map(move |start| start..(start + part).min(range.end))
}

impl DetailNode {
    fn empty(level: u32) -> DetailNode {
        DetailNode {
            low: Vec3::INFINITY,
            high: Vec3::NEG_INFINITY,
            largest: 0.0,
            tallest: 0.0,
            area: 0.0,
            buildings: 0,
            plots: 0..0,
            district: NONE,
            children: 0..0,
            block: NONE,
            level,
        }
    }

    /// The upper side of its slab.
    fn ground(&self) -> f32 {
        self.low.y + super::config::DISTRICT_HEIGHT as f32
    }

    fn add_plot(&mut self, plan: &CityPlan, plot: usize, peak: &impl Fn(usize) -> f64) {
        let p = &plan.plots[plot];
        let (c, height) = (p.cell, peak(plot));
        self.low = self.low.min(Vec3::new(c.x as f32, p.ground() as f32, c.y as f32));
        let top = Vec3::new((c.x + c.w) as f32, (p.ground() + height) as f32, (c.y + c.h) as f32);
        self.high = self.high.max(top);
        let area = c.area() as f32;
        self.largest = self.largest.max(area.sqrt());
        self.tallest = self.tallest.max(height as f32);
        self.area += area;
        self.buildings += 1;
    }

    fn add(&mut self, child: &DetailNode) {
        (self.low, self.high) = (self.low.min(child.low), self.high.max(child.high));
        (self.largest, self.tallest) = (self.largest.max(child.largest), self.tallest.max(child.tallest));
        self.area += child.area;
        self.buildings += child.buildings;
    }

    /// The sums of its own plots.
    fn sums<I: Iterator<Item = PlotState>>(&self, plots: &impl Fn(Range<usize>) -> I) -> [u64; 4] {
        let own = plots(self.plots.start as usize..self.plots.end as usize);
        own.fold([0; 4], |mut sums, state| {
            sums.iter_mut().zip(parts_of(state)).for_each(|(sum, part)| *sum += part);
            sums
        })
    }

    fn mean(&self, sums: [u64; 4]) -> Mean {
        // Neighbours have cells of about the same size.
        let count = self.plots.len().max(1) as f32;
        let cell = self.area / count;
        let [base, height, coloured, colour] = sums.map(|sum| sum as f32 * cell);
        Mean { area: if self.plots.is_empty() { 0.0 } else { self.area }, base, height, coloured, colour }
    }
}

/// The share of one plot in the sums: its base, its base times its height, and both again for its colour if it has one.
#[inline]
fn parts_of(state: PlotState) -> [u64; 4] {
    let base = (u64::from(state.side) * u64::from(state.side)) >> 16;
    let coloured = if state.colour > 0 { base } else { 0 };
    [base, base * u64::from(state.height), coloured, coloured * u64::from(state.colour)]
}

/// Sums over the plots of each node of a [`DetailTree`] at one time.
#[derive(Clone, Debug, Default)]
pub struct DetailSums(Vec<[u64; 4]>);

/// Sums over buildings, each times its base.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    area: f32,
    base: f32,
    height: f32,
    coloured: f32,
    colour: f32,
}

impl Mean {
    fn add(&mut self, other: &Mean) {
        self.area += other.area;
        self.base += other.base;
        self.height += other.height;
        self.coloured += other.coloured;
        self.colour += other.colour;
    }

    fn state(&self) -> PlotState {
        let share = |part: f32, of: f32| if of > 0.0 { part / of } else { 0.0 };
        const UNIT: f32 = 65535.0;
        PlotState::new(
            share(self.base, self.area * UNIT).sqrt(),
            share(self.height, self.base) / UNIT,
            share(self.colour, self.coloured) / UNIT,
            share(self.coloured, self.base),
        )
    }
}

/// The parts of a view that decide about nodes.
struct Sight {
    /// Inside is where these are not negative: left, right, bottom, top, ahead.
    planes: [Vec4; 5],
    /// Pixels of a world unit at depth 1.
    pixels: f32,
    eye: Vec3,
}

impl Sight {
    fn new(view: &DetailView) -> Sight {
        let (x, y, w) = (view.clip_from_world.row(0), view.clip_from_world.row(1), view.clip_from_world.row(3));
        let pixels = y.truncate().length() * view.height / 2.0;
        Sight { planes: [w + x, w - x, w + y, w - y, w], pixels, eye: view.eye }
    }

    /// Side of a square on screen with the area of a level square of side 1 somewhere in the box, at most.
    fn slope(&self, low: Vec3, high: Vec3) -> f32 {
        let down = (self.eye.y - low.y).max(0.0);
        let nearest = self.eye.clamp(low, high);
        let along = Vec3::new(self.eye.x - nearest.x, 0.0, self.eye.z - nearest.z).length();
        (down / down.hypot(along).max(1e-6)).sqrt()
    }

    /// How far ahead the nearest part of a box is; `None` when all of it is out of sight.
    fn depth(&self, low: Vec3, high: Vec3) -> Option<f32> {
        let side = |plane: &Vec4, towards: bool| {
            let positive = plane.truncate().cmpgt(Vec3::ZERO);
            let (a, b) = if towards { (high, low) } else { (low, high) };
            plane.truncate().dot(Vec3::select(positive, a, b)) + plane.w
        };
        if self.planes.iter().any(|plane| side(plane, true) < 0.0) {
            return None;
        }
        Some(side(&self.planes[4], false).max(0.01))
    }
}

#[cfg(test)]
mod tests;
