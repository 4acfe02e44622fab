//! The ways from GC roots to a group, drawn over the roofs, and the memory that a cut would free: as records for the GPU.

use crate::viewer::city::City;
use crate::viewer::panels::theme::pack;
use crate::viewer::root_paths::{CutChoice, FoundPaths, RootPaths};
use crate::viewer::scene::Versioned;
use crate::viewer::scene::records::{BoxRecord, CUT, ConeRecord, LIT, PAINTED, PaintedBox, SELECTED, share};
use crate::viewer::selection::{Marks, Selection, Target};
use glam::Vec3;
use memory_city_analysis::ownership::RootStep;
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::{self, Lit, Routes};
use std::collections::{BTreeMap, HashMap};

/// Input of the routes.
#[derive(Clone, PartialEq)]
pub struct RouteKey {
    layout: u64,
    ways: u64,
    time: usize,
    hovered: Option<usize>,
    cut: Option<CutChoice>,
}

/// Pieces of an arc.
const PIECES: usize = 18;
/// Height of the mark of a root, and its radius, in units.
const PIN: (f32, f32) = (5.5, 1.25);

pub(super) fn route_key(city: &City, ways: &RootPaths, _: &FoundPaths, time: usize) -> RouteKey {
    let cut = ways.cut().map(|cut| cut.choice.clone());
    RouteKey { layout: city.layout, ways: ways.version(), time, hovered: ways.hovered, cut }
}

/// The routes of the shown ways. Cut references are dashed; the one under the mouse in the list is lit.
pub(super) fn records(city: &mut City, ways: &RootPaths, found: &FoundPaths, time: usize) -> (Vec<ConeRecord>, Routes) {
    let states = city.states(time);
    let standing = |plot: usize| city.appearance.standing(states.of(plot));
    let roofs = city::Roofs::new(&city.plan, &city.appearance, &standing);
    let routes = city::routes(&city.plan, &city.timeline, &city.appearance, time, &found.route);
    let mut records = Vec::new();
    let colour = pack(city::ROUTE_COLOUR);
    let mut add = |start: Vec3, end: Vec3, radii: (f32, f32), lit: bool| {
        records.push(ConeRecord {
            start: start.extend(radii.0).to_array(),
            end: end.extend(radii.1).to_array(),
            paint: [colour, u32::from(lit)],
        });
    };
    let is_lit = |steps: &[usize]| ways.hovered.is_some_and(|step| steps.contains(&step));
    let cut = ways.cut().map(|cut| &cut.choice);
    for leg in &routes.legs {
        let lit = is_lit(&leg.steps);
        let radius = leg.radius() * if lit { 1.5 } else { 1.0 };
        let dashed = matches!(cut, Some(CutChoice::Step(at)) if leg.steps.contains(at));
        let arc = leg.arc(PIECES, Some(&roofs));
        let last = arc.len() - 2;
        for (i, pair) in arc.windows(2).enumerate() {
            // The last piece is the head of an arrow: it says who holds whom.
            if i == last {
                add(pair[0], pair[1], (2.8 * radius, 0.02), lit);
            } else if !dashed || i % 3 == 0 {
                add(pair[0], pair[1], (radius, radius), lit);
            }
        }
    }
    for pin in &routes.pins {
        let lit = is_lit(&pin.steps);
        add(pin.at + Vec3::Y * 0.2, pin.at + Vec3::Y * PIN.0, (0.03, PIN.1), lit);
    }
    (records, routes)
}

/// Names of the roots: above their marks, each with the amount that it holds.
pub(super) fn root_names(routes: &Routes, found: &FoundPaths) -> Vec<(Vec3, NodeId, String)> {
    let name = |pin: &city::Pin| {
        let roots = pin.steps.iter().flat_map(|&step| &found.ways.steps[step].roots);
        let weight = |root: &RootStep| found.ways.weight(root.reached, root.keeps);
        // The first of equals, as they are listed.
        let best = roots.clone().rev().max_by(|a, b| weight(a).total_cmp(&weight(b)))?;
        let others = roots.map(|root| &root.text).filter(|text| **text != best.text);
        let others = others.collect::<std::collections::BTreeSet<_>>().len();
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        let node = pin.steps.iter().find_map(|&step| found.route[step].node).unwrap_or(NodeId::ROOT);
        Some((pin.at + Vec3::Y * (PIN.0 + 0.3), node, format!("{}{more}", best.text)))
    };
    routes.pins.iter().filter_map(name).collect()
}

/// Least share of a block that is lit if anything in it is meant.
const LEAST_OF_A_BLOCK: f32 = 0.04;

/// Marks of boxes beside the state of the city.
pub(super) struct BoxMarks<'a> {
    /// The selection, if it has several groups; a single one is marked by its number, and no box changes.
    pub selection: &'a Selection,
    /// Groups with colours of their own.
    pub marks: &'a Marks,
    /// How much of each group would be freed.
    pub freed: Option<&'a HashMap<NodeId, f32>>,
    /// Groups found by the search.
    pub lit: Option<&'a Lit>,
}

/// The boxes of a city with marks.
pub(super) struct MarkedBoxes {
    /// All of them, where each shows how much of it is meant; otherwise those of the city.
    pub boxes: Versioned<BoxRecord>,
    /// Boxes with a paint of their own.
    pub painted: Versioned<PaintedBox>,
    /// Boxes that are never merged into a block, ascending.
    pub kept: Vec<u32>,
}

/// Puts marks on the boxes of a city. Without a cut or a search the cost is that of the marks, however large the city is.
pub(super) fn marked_boxes(city: &City, of: &BoxMarks<'_>, time: usize) -> MarkedBoxes {
    let mut meant = Vec::new();
    let boxes = match of.freed.is_some() || of.lit.is_some() {
        true => shared_boxes(city, of, time, &mut meant),
        false => city.boxes.clone(),
    };
    let mut painted: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
    for &node in of.marks.nodes() {
        let Some(mark) = of.marks.get(&city.timeline.key(node)) else { continue };
        let colour = pack(city::MARK_COLOURS[mark.colour % city::MARK_COLOURS.len()]);
        let at = city.box_of(Target::Node(node));
        // What shares a plot with others cannot colour it.
        if let Some(at) = at.filter(|&at| city.target_of_box(at as usize) == Some(Target::Node(node)))
            && let Some(record) = boxes.records.get(at as usize)
        {
            painted.insert(at, [colour, record.paint[1] | PAINTED]);
        }
    }
    if of.selection.nodes().len() > 1 {
        for node in of.selection.nodes() {
            let at = city.box_of(Target::Node(node));
            if let Some((at, record)) = at.and_then(|at| Some((at, boxes.records.get(at as usize)?))) {
                painted.entry(at).or_insert(record.paint)[1] |= SELECTED;
            }
        }
    }
    let mut kept: Vec<u32> =
        painted.keys().copied().filter(|at| (*at as usize) < city.order.boxes()).chain(meant).collect();
    kept.sort_unstable();
    kept.dedup();
    let painted: Vec<PaintedBox> = painted.into_iter().map(|(at, paint)| PaintedBox { at, paint }).collect();
    let has_marks = !of.marks.all().is_empty() || of.selection.nodes().len() > 1;
    let painted = if has_marks { Versioned::new(painted) } else { Versioned::default() };
    MarkedBoxes { boxes, painted, kept }
}

/// All boxes, each with the share of it that is meant. `meant` receives those with any.
fn shared_boxes(city: &City, of: &BoxMarks<'_>, time: usize, meant: &mut Vec<u32>) -> Versioned<BoxRecord> {
    let mut boxes = city.boxes.records.to_vec();
    let flags = CUT | if of.freed.is_some() { 0 } else { LIT };
    let share_of = |node: &NodeId| match (of.freed, of.lit) {
        (Some(freed), _) => freed.get(node).copied(),
        (None, lit) => lit.and_then(|lit| lit.shares.get(node).copied()),
    };
    let mut of_plot = vec![0.0; city.plan.plots.len()];
    for (at, record) in boxes.iter_mut().enumerate() {
        let of = match city.target_of_box(at) {
            Some(Target::Node(node)) => share_of(&node).unwrap_or(0.0),
            Some(Target::More(parent)) => share_of_rest(city, parent, share_of, time),
            // Blocks come after all others.
            None => break,
        };
        record.paint[1] |= flags;
        if let Some(plot) = city.order.plot_of(at) {
            of_plot[plot] = f64::from(of);
            record.paint[1] |= share(of);
            if of > 0.0 {
                meant.push(at as u32);
            }
        }
    }
    // A block shows how much of the ground of its buildings is meant: a little of it at least.
    let ground = |plot: usize| {
        let cell = city.plan.plots[plot].cell;
        (cell.w * cell.h, of_plot[plot])
    };
    let first = city.order.boxes();
    for (record, of) in boxes[first..].iter_mut().zip(city.appearance.detail().means_of(&ground)) {
        let least = if of > 0.0 { LEAST_OF_A_BLOCK } else { 0.0 };
        record.paint[1] |= flags | share((of as f32).max(least));
    }
    Versioned::new(boxes)
}

/// The meant share, in bytes, of the groups that share a plot.
fn share_of_rest(city: &City, parent: NodeId, share: impl Fn(&NodeId) -> Option<f32>, time: usize) -> f32 {
    let Some(plot) = city.plan.more_of(parent) else { return 0.0 };
    let (mut freed, mut all) = (0.0, 0.0);
    for node in city.plan.pruned(plot) {
        let bytes = city.timeline.amount(time, *node).bytes as f64;
        all += bytes;
        freed += bytes * f64::from(share(node).unwrap_or(0.0));
    }
    if all > 0.0 { (freed / all) as f32 } else { 0.0 }
}
