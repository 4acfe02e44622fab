//! What of the city is drawn from where the camera is: the detail tree's choice in boxes, made anew when the camera or the
//! city is another one.

use super::laid_out::City;
use super::rig::CameraRig;
use super::sharpness::Sharpness;
use crate::viewer::scene::renderer::DrawPlan;
use glam::Mat4;
use memory_city_views::city::DetailView;
use std::ops::Range;
use std::sync::Arc;

/// Up to this many opaque plots are drawn wherever they are: what grows is never part of a block.
const MOST_KEPT: usize = 4096;

/// Where there are more boxes than this, buildings have to be larger by so much to be drawn alone: a software GPU holds a queue of
/// what it has not drawn yet, and that of most of a million boxes takes a gigabyte.
const MANY: usize = 400_000;
const COARSER: f32 = 1.5;

/// While boxes move, those that are part of a block where they go are drawn too, but not where there are more than that.
const MOST_ALONE: usize = 200_000;

/// What a plan was made for.
#[derive(Clone, PartialEq)]
pub(super) struct SightKey {
    layout: u64,
    /// Boxes stand elsewhere than the layout says: all are drawn, but of very many those alone that are where they go.
    moving: bool,
    smallest: f32,
    clip_from_world: Mat4,
    height: f32,
    opacity: f32,
    shadows: bool,
}

/// Which boxes are drawn besides.
#[derive(Clone, PartialEq)]
struct AloneKey {
    marks: [Option<u32>; 2],
    marked: bool,
    /// Which boxes are kept.
    kept: u64,
}

/// The plan that was made last, and what it was made of.
#[derive(Default)]
pub(super) struct DrawnSight {
    /// Without what is drawn alone: all of it follows from where the camera is.
    seen: Option<(SightKey, DrawPlan)>,
    made: Option<(AloneKey, Arc<DrawPlan>)>,
    kept: Vec<u32>,
    keeps: u64,
}

impl DrawnSight {
    /// Boxes that are drawn besides where they are in a block, ascending: of very many none, a block tells of them.
    pub fn keep(&mut self, mut boxes: Vec<u32>) {
        if boxes.len() > MOST_KEPT {
            boxes.clear();
        }
        if self.kept != boxes {
            self.kept = boxes;
            self.keeps += 1;
        }
    }

    /// What is drawn. `marks` are boxes that are never part of a block, `marked` says whether boxes have colours or flags of their own.
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

/// Adds boxes that are not to be lost in a block. What is drawn with those beside it is not drawn twice.
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
