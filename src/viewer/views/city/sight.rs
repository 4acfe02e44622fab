//! The part of the city that is drawn from the camera's pose: the detail tree's choice in boxes, made anew when the camera or the city
//! changes.

use crate::viewer::city::{CameraRig, City, Sharpness};
use crate::viewer::scene::renderer::DrawPlan;
use glam::Mat4;
use memory_city_views::city::DetailView;
use std::ops::Range;
use std::sync::Arc;

/// Up to this many opaque plots are always drawn: a growing one is never part of a block.
const MOST_KEPT: usize = 4096;

/// With more boxes than this, buildings have to be larger by the factor below to be drawn alone. A software GPU keeps a queue of boxes to
/// draw; for most of a million boxes it takes a gigabyte.
const MANY: usize = 400_000;
const COARSER: f32 = 1.5;

/// While boxes move, those that are part of a block where they go are drawn too, but not where there are more than that.
const MOST_ALONE: usize = 200_000;

/// Input of a plan.
#[derive(Clone, PartialEq)]
pub(super) struct SightKey {
    layout: u64,
    /// Whether boxes are on the way to their places: all are drawn then, but of very many only those that are drawn alone at their new
    /// places.
    moving: bool,
    smallest: f32,
    clip_from_world: Mat4,
    height: f32,
    opacity: f32,
    shadows: bool,
}

/// Input of the boxes that are drawn besides.
#[derive(Clone, PartialEq)]
struct AloneKey {
    marks: [Option<u32>; 2],
    marked: bool,
    /// Version of the kept boxes.
    kept: u64,
}

/// The last plan, with its input.
#[derive(Default)]
pub(super) struct DrawnSight {
    /// The part that follows from the camera alone, without the boxes that are drawn alone.
    seen: Option<(SightKey, DrawPlan)>,
    made: Option<(AloneKey, Arc<DrawPlan>)>,
    kept: Vec<u32>,
    keeps: u64,
}

impl DrawnSight {
    /// Sets the boxes that are drawn alone though they are in a block, ascending. Too many are ignored: their blocks show them.
    pub fn keep(&mut self, mut boxes: Vec<u32>) {
        if boxes.len() > MOST_KEPT {
            boxes.clear();
        }
        if self.kept != boxes {
            self.kept = boxes;
            self.keeps += 1;
        }
    }

    /// The boxes to draw. `marks` are boxes that are never part of a block, `marked` says whether boxes have colours or flags of their
    /// own.
    pub fn plan(
        &mut self,
        city: &City,
        rig: &CameraRig,
        (opacity, shadows): (f32, bool),
        sharpness: &Sharpness,
        (marks, marked): ([Option<u32>; 2], bool),
    ) -> Arc<DrawPlan> {
        let key = SightKey {
            layout: city.layout,
            moving: city.boxes.version != city.layout,
            smallest: sharpness.smallest * if city.order.boxes() > MANY { COARSER } else { 1.0 },
            clip_from_world: rig.clip_from_world(),
            height: rig.pixels_high() * sharpness.now,
            opacity,
            shadows,
        };
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != key) {
            let chosen = choose(city, rig, &key);
            self.seen = Some((key, chosen));
            self.made = None;
        }
        let alone = AloneKey { marks, marked, kept: self.keeps };
        match (&self.made, &self.seen) {
            (Some((made, plan)), _) if *made == alone => Arc::clone(plan),
            (_, Some((_, seen))) => {
                let mut plan = DrawPlan { marked, ..seen.clone() };
                add_alone(city, &mut plan, self.kept.iter().copied().chain(marks.into_iter().flatten()));
                let plan = Arc::new(plan);
                self.made = Some((alone, Arc::clone(&plan)));
                plan
            }
            _ => Arc::default(),
        }
    }
}

/// Adds boxes that must not be merged into a block. A box that is in the plan already is not drawn twice.
fn add_alone(city: &City, plan: &mut DrawPlan, boxes: impl Iterator<Item = u32>) {
    if plan.blocks.is_empty() {
        return;
    }
    let see_through = city.order.see_through();
    let mut alone: Vec<u32> = boxes.filter(|at| see_through.contains(&(*at as usize))).collect();
    alone.sort_unstable();
    alone.dedup();
    for range in &plan.clear {
        let [first, end] = [range.start, range.end].map(|at| alone.partition_point(|&other| other < at));
        alone.drain(first..end);
    }
    plan.clear.extend(alone.into_iter().map(|at| at..at + 1));
}

fn choose(city: &City, rig: &CameraRig, key: &SightKey) -> DrawPlan {
    let order = &city.order;
    let as_boxes = |range: Range<usize>| range.start as u32..range.end as u32;
    let mut plan =
        DrawPlan { boxes: order.boxes() as u32, opacity: key.opacity, shadows: key.shadows, ..DrawPlan::default() };
    if key.moving && city.boxes.records.len() <= MOST_ALONE {
        plan.solid.push(as_boxes(order.opaque()));
        plan.slabs.push(0..order.districts() as u32);
        plan.clear.push(as_boxes(order.see_through()));
        return plan;
    }
    let choice = city.appearance.detail().choose(&DetailView {
        clip_from_world: key.clip_from_world,
        eye: rig.eye(),
        height: key.height,
        smallest: key.smallest,
    });
    let keeps_all = order.opaque().len() <= MOST_KEPT;
    if keeps_all {
        plan.solid.push(as_boxes(order.opaque()));
    }
    for plots in choice.plots {
        let (solid, clear) = order.boxes_of(plots);
        if !solid.is_empty() && !keeps_all {
            plan.solid.push(solid);
        }
        if !clear.is_empty() {
            plan.clear.push(clear);
        }
    }
    let first = order.boxes() as u32;
    plan.blocks.extend(choice.blocks.into_iter().map(|blocks| first + blocks.start..first + blocks.end));
    plan.slabs = choice.districts;
    plan
}
