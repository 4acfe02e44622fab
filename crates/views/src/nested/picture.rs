//! The view below one node at one time, as intervals within intervals.

use super::{NestedPlan, parts_of};
use memory_city_analysis::timeline::{NodeId, Timeline};

/// The thing that a cell stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NestedPart {
    /// A group.
    Group(NodeId),
    /// The children of a group that have no part of their own.
    Other(NodeId),
    /// The amount of a group that is in none of its children.
    Itself(NodeId),
}

impl NestedPart {
    /// The group that it is or that it is a part of.
    pub fn group(self) -> NodeId {
        match self {
            NestedPart::Group(node) | NestedPart::Other(node) | NestedPart::Itself(node) => node,
        }
    }
}

/// A part of a picture: an interval of the whole, at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NestedCell {
    /// The thing it stands for.
    pub part: NestedPart,
    /// Levels below the node at which the picture begins.
    pub level: u32,
    /// Where it begins, as a share of the whole, 0 to 1.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// Its value, in units of the metric; an interpolated one between two times.
    pub value: f64,
    /// The place of the cell it lies in; its own for the first.
    pub above: u32,
    /// The place among the parts of the first cell of the one that it lies in, for colours: the same at all times.
    pub branch: u32,
}

/// The cells below a node at one time, the outer before the inner, siblings in their order. Pictures of one plan below one node to one
/// depth have the same cells at all times; some have no extent.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedPicture {
    /// The cells.
    pub cells: Vec<NestedCell>,
    /// How many cells are left out because there would be too many: those of the innermost levels.
    pub left_out: usize,
}

impl NestedPicture {
    /// The most cells of a picture: more could not be told apart.
    pub const MOST_CELLS: usize = 20_000;

    /// The picture below `top` at time `t`, so many levels deep. Work grows with all children of the groups that are shown.
    pub fn new(plan: &NestedPlan, timeline: &Timeline, t: usize, top: NodeId, levels: u32) -> NestedPicture {
        let value = |node: NodeId| match timeline.times() {
            0 => 0.0,
            _ => timeline.value(t, node, plan.config.metric) as f64,
        };
        let first = NestedCell {
            part: NestedPart::Group(top),
            level: 0,
            start: 0.0,
            end: 1.0,
            value: value(top),
            above: 0,
            branch: 0,
        };
        let mut picture = NestedPicture { cells: vec![first], left_out: 0 };
        let mut at = 0;
        while let Some(&cell) = picture.cells.get(at) {
            if let NestedPart::Group(node) = cell.part
                && cell.level < levels
                && plan.has_parts(node)
            {
                picture.divide(plan, timeline, at as u32, node, &value);
            }
            at += 1;
        }
        picture
    }

    /// Adds the parts of a group.
    fn divide(
        &mut self,
        plan: &NestedPlan,
        timeline: &Timeline,
        at: u32,
        node: NodeId,
        value: &impl Fn(NodeId) -> f64,
    ) {
        let cell = self.cells[at as usize];
        let kept = plan.kept(node);
        let count = kept.len() + usize::from(plan.in_other(node) > 0) + 1;
        if self.cells.len() + count > NestedPicture::MOST_CELLS {
            self.left_out += count;
            return;
        }
        let all: f64 = parts_of(timeline, node).map(value).sum();
        let values: Vec<f64> = kept.iter().map(|&child| value(child)).collect();
        let of_kept: f64 = values.iter().sum();
        let itself = (cell.value - all).max(0.0);
        let total = all + itself;
        let per_unit = if total > 0.0 { (cell.end - cell.start) / total } else { 0.0 };
        let mut sum = 0.0;
        let mut add = |part: NestedPart, value: f64, place: usize| {
            let edge = |sum: f64| (cell.start + sum * per_unit).min(cell.end);
            let start = edge(sum);
            sum += value;
            let end = edge(sum);
            let branch = if cell.level == 0 { place as u32 } else { cell.branch };
            self.cells.push(NestedCell { part, level: cell.level + 1, start, end, value, above: at, branch });
        };
        for (place, (&child, &value)) in kept.iter().zip(&values).enumerate() {
            add(NestedPart::Group(child), value, place);
        }
        if plan.in_other(node) > 0 {
            add(NestedPart::Other(node), (all - of_kept).max(0.0), kept.len());
        }
        // Always there, so that pictures of all times have the same cells.
        add(NestedPart::Itself(node), itself, kept.len() + 1);
    }

    /// The picture between two of one plan, node and depth; `progress` from 0 (this) to 1 (the other). Pictures that do not belong together
    /// are not mixed: the nearer one is shown.
    #[must_use]
    pub fn between(&self, other: &NestedPicture, progress: f64) -> NestedPicture {
        let same = self.cells.len() == other.cells.len()
            && self.cells.iter().zip(&other.cells).all(|(a, b)| a.part == b.part && a.level == b.level);
        if !same || progress <= 0.0 || progress >= 1.0 {
            return if progress < 0.5 { self.clone() } else { other.clone() };
        }
        let mix = |a: f64, b: f64| a + (b - a) * progress;
        let cells = self.cells.iter().zip(&other.cells).map(|(a, b)| NestedCell {
            start: mix(a.start, b.start),
            end: mix(a.end, b.end),
            value: mix(a.value, b.value),
            ..*a
        });
        NestedPicture { cells: cells.collect(), left_out: self.left_out.max(other.left_out) }
    }

    /// How many levels there are below the first cell.
    pub fn depth(&self) -> u32 {
        self.cells.iter().map(|cell| cell.level).max().unwrap_or(0)
    }

    /// The cell of a group, where it has one.
    pub fn cell_of(&self, node: NodeId) -> Option<usize> {
        self.cells.iter().position(|cell| cell.part == NestedPart::Group(node))
    }

    /// True if a cell is `outer` or lies in it.
    pub fn lies_in(&self, cell: usize, outer: usize) -> bool {
        let mut at = cell;
        while at > outer {
            at = self.cells[at].above as usize;
        }
        at == outer
    }
}

/// How large the picture of a time is, along each axis that is scaled, 0 to 1: the largest heap of all times takes all the room.
pub fn heap_scale(plan: &NestedPlan, timeline: &Timeline, t: usize) -> f64 {
    match (plan.peak, timeline.times()) {
        (0, _) | (_, 0) => 1.0,
        (peak, _) => timeline.value(t, NodeId::ROOT, plan.config.metric) as f64 / peak as f64,
    }
}
