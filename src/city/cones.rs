//! Cones between the selected group and the others: straight frustums whose radii tell, at each end, the share of the
//! objects there that take part. 1 % of A referring to 80 % of B is thin at A and thick at B.

use super::plan::{CityPlan, PlotKind};
use crate::timeline::references::{Edge, ReferenceMap};
use crate::timeline::{NodeId, Timeline};
use glam::Vec3;
use std::collections::HashMap;

/// At most so many cones are made for each direction; the thinnest are left out, and counted.
pub const MOST_CONES: usize = 24;

/// A cone. `from` refers to `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// The referring end.
    pub from: Vec3,
    /// The referred end.
    pub to: Vec3,
    /// Radius at the referring end.
    pub radius_from: f32,
    /// Radius at the referred end.
    pub radius_to: f32,
    /// Whether it comes into the selected group.
    pub incoming: bool,
    /// The plot at the other end.
    pub other: usize,
    /// Objects that refer.
    pub referencing: u64,
    /// Objects that are referred to.
    pub referenced: u64,
}

/// The cones of a selection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cones {
    /// Strongest first, incoming before outgoing.
    pub cones: Vec<Cone>,
    /// How many more there would be.
    pub left_out: usize,
}

/// The thinnest end that can be seen.
const THIN: f32 = 0.07;
/// The thickest end: a cone must not hide its building.
const THICK: f32 = 1.8;

/// The cones of `selected` at time `t`. Groups that share a "N more" plot share a cone.
pub fn cones(plan: &CityPlan, timeline: &Timeline, t: usize, selected: NodeId, map: &ReferenceMap) -> Cones {
    let states = plan.states(timeline, t);
    let scale = |plot: usize| states.get(plot).map(|s| f64::from(s.scale)).unwrap_or(0.0);
    let Some(hub) = anchor(plan, selected, &scale) else { return Cones::default() };
    let own = timeline.amount(t, selected).objects.max(1);
    let mut result = Cones::default();
    for (edges, incoming) in [(&map.incoming, true), (&map.outgoing, false)] {
        let mut merged = merge(plan, edges);
        result.left_out += merged.len().saturating_sub(MOST_CONES);
        merged.truncate(MOST_CONES);
        for (plot, referencing, referenced) in merged {
            if plan.plot_of(selected) == Some(plot) {
                continue;
            }
            let end = plot_anchor(plan, plot, scale(plot));
            let there = match plan.plots[plot].kind {
                PlotKind::Building(node) => timeline.amount(t, node).objects,
                PlotKind::More { .. } => plan.pruned(plot).iter().map(|&n| timeline.amount(t, n).objects).sum(),
            };
            let radius = |end: &Anchor, involved: u64, all: u64| {
                let share = (involved as f64 / all.max(1) as f64).min(1.0) as f32;
                (end.reach.min(THICK) * share).max(THIN)
            };
            let (mine, theirs) = if incoming { (referenced, referencing) } else { (referencing, referenced) };
            let (near, far) = (radius(&hub, mine, own), radius(&end, theirs, there));
            let (from, to, radius_from, radius_to) =
                if incoming { (end.place, hub.place, far, near) } else { (hub.place, end.place, near, far) };
            result.cones.push(Cone { from, to, radius_from, radius_to, incoming, other: plot, referencing, referenced });
        }
    }
    result
}

/// Edges by the plot at the other end, strongest first.
fn merge(plan: &CityPlan, edges: &[Edge]) -> Vec<(usize, u64, u64)> {
    let mut by_plot: HashMap<usize, (u64, u64)> = HashMap::new();
    for edge in edges {
        if let Some(plot) = plan.plot_of(edge.other) {
            let sum = by_plot.entry(plot).or_default();
            sum.0 += edge.referencing;
            sum.1 += edge.referenced;
        }
    }
    let mut merged: Vec<_> = by_plot.into_iter().map(|(plot, (a, b))| (plot, a, b)).collect();
    merged.sort_unstable_by(|a, b| (b.1 + b.2).cmp(&(a.1 + a.2)).then(a.0.cmp(&b.0)));
    merged
}

struct Anchor {
    place: Vec3,
    /// Largest radius that fits the building.
    reach: f32,
}

fn plot_anchor(plan: &CityPlan, plot: usize, scale: f64) -> Anchor {
    let p = &plan.plots[plot];
    let (x, z) = p.cell.centre();
    // Just below the roof: the end is inside the building and seen from above.
    let y = p.ground + plan.height(plot, scale) * 0.9;
    let reach = p.cell.w.min(p.cell.h) * scale * 0.45;
    Anchor { place: Vec3::new(x as f32, y as f32, z as f32), reach: reach as f32 }
}

fn anchor(plan: &CityPlan, node: NodeId, scale: &impl Fn(usize) -> f64) -> Option<Anchor> {
    if let Some(plot) = plan.plot_of(node) {
        return Some(plot_anchor(plan, plot, scale(plot)));
    }
    let district = &plan.districts[plan.district_of(node)?];
    let (x, z) = district.cell.centre();
    let reach = district.cell.w.min(district.cell.h) * 0.45;
    Some(Anchor { place: Vec3::new(x as f32, district.top as f32, z as f32), reach: reach as f32 })
}
