//! The pictures of the nested view, made by jobs while the ones before stay on screen.

use super::{LOCAL_RINGS, Nested};
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::frame::Awake;
use crate::viewer::job::Job;
use crate::viewer::notices::Notices;
use crate::viewer::panels::PanelState;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_views::nested::{NestedConfig, NestedPicture, NestedPlan, SiblingOrder, heap_scale};
use std::sync::Arc;

/// Input of a plan.
type PlanOf = (Metric, SiblingOrder);

/// Input of the pictures.
#[derive(Clone, Debug, PartialEq)]
struct PictureOf {
    plan: PlanOf,
    time: usize,
    top: NodeId,
    times: Vec<usize>,
}

/// Plan and pictures of a moment.
pub struct MadePicture {
    pub plan: Arc<NestedPlan>,
    local: NestedPicture,
    global: NestedPicture,
    /// Small pictures, each with its time and scale.
    pub small: Vec<(usize, f64, NestedPicture)>,
}

/// The pictures on screen, and those on their way.
#[derive(Default)]
pub struct Pictures {
    made: Option<(PictureOf, MadePicture)>,
    /// Local and global picture of the time before, while there is a step from there.
    before: Option<(NestedPicture, NestedPicture)>,
    job: Option<(PictureOf, Job<MadePicture>)>,
}

impl Pictures {
    /// The finished pictures, if there are any.
    pub fn made(&self) -> Option<&MadePicture> {
        self.made.as_ref().map(|(_, made)| made)
    }

    /// The local picture, so far on the way to the time that is shown.
    pub fn local(&self, progress: f64) -> Option<NestedPicture> {
        let now = &self.made()?.local;
        Some(self.before.as_ref().map_or_else(|| now.clone(), |(before, _)| before.between(now, progress)))
    }

    /// The picture of the whole tree, likewise.
    pub fn global(&self, progress: f64) -> Option<NestedPicture> {
        let now = &self.made()?.global;
        Some(self.before.as_ref().map_or_else(|| now.clone(), |(_, before)| before.between(now, progress)))
    }

    /// Plan, time, and both pictures as they are when nothing moves any more.
    pub fn shown(&self) -> Option<(&NestedPlan, usize, &NestedPicture, &NestedPicture)> {
        self.made.as_ref().map(|(of, made)| (&*made.plan, of.time, &made.local, &made.global))
    }

    fn take(&mut self, of: PictureOf, made: MadePicture) {
        let before = self.made.take();
        // Going elsewhere is no step in time.
        self.before = before
            .filter(|(was, _)| was.time != of.time && was.plan == of.plan && was.top == of.top)
            .map(|(_, made)| (made.local, made.global));
        self.made = Some((of, made));
    }
}

/// Follows document, time, metric and the choices in the view.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn follow(
    mut nested: ResMut<Nested>,
    document: Res<Document>,
    (clock, settings, panels): (Res<Clock>, Res<Settings>, Res<PanelState>),
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let nested = &mut *nested;
    let Some(timeline) = document.timeline() else { return };
    if !std::mem::take(&mut nested.seen) {
        return;
    }
    let of = PictureOf {
        plan: (settings.metric_in(timeline), nested.order),
        time: clock.time,
        top: nested.top(timeline),
        times: nested.times.clone(),
    };
    let pictures = &mut nested.pictures;
    if pictures.job.as_ref().is_some_and(|(aim, _)| *aim != of) {
        pictures.job = None;
    }
    if let Some(outcome) = pictures.job.as_ref().and_then(|(_, job)| job.poll())
        && let Some((of, _)) = pictures.job.take()
    {
        match outcome {
            Ok(made) => pictures.take(of, made),
            Err(panic) => notices.tell(panic),
        }
    }
    let shown = pictures.made.as_ref().is_some_and(|(had, _)| *had == of);
    if pictures.job.is_none() && !shown {
        let at_hand = pictures.made.as_ref().filter(|(had, _)| had.plan == of.plan).map(|(_, made)| made.plan.clone());
        let timeline = Arc::clone(timeline);
        if panels.still {
            // A picture is taken now.
            let made = make(&timeline, &of, at_hand);
            pictures.take(of, made);
        } else {
            let aim = of.clone();
            pictures.job = Some((aim, Job::behind_frames(move |_| make(&timeline, &of, at_hand))));
        }
    }
    awake.wait_if(pictures.job.is_some());
}

fn make(timeline: &Timeline, of: &PictureOf, at_hand: Option<Arc<NestedPlan>>) -> MadePicture {
    let (metric, order) = of.plan;
    let plan = at_hand.unwrap_or_else(|| {
        Arc::new(NestedPlan::new(timeline, NestedConfig { metric, order, ..NestedConfig::default() }))
    });
    let picture = |time: usize, top: NodeId, levels: u32| NestedPicture::new(&plan, timeline, time, top, levels);
    let small = of.times.iter().filter(|&&t| t < timeline.times());
    let small = small.map(|&t| (t, heap_scale(&plan, timeline, t), picture(t, of.top, LOCAL_RINGS - 1))).collect();
    MadePicture {
        local: picture(of.time, of.top, LOCAL_RINGS - 1),
        global: picture(of.time, NodeId::ROOT, u32::MAX),
        small,
        plan,
    }
}
