//! The graph and its picture, made by jobs: begun anew for another selection, extended at a person's wish. The earlier picture stays
//! until the next one is ready, and moves into it.

use crate::viewer::clock::Clock;
use crate::viewer::document::{Document, OpenDocument};
use crate::viewer::frame::Awake;
use crate::viewer::job::Job;
use crate::viewer::panels::PanelState;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;
use memory_city_analysis::analyses;
use memory_city_analysis::object_graph::{GraphLimits, GraphStep, GroupGraph, HeldOver, MapGraph, ObjectGraph};
use memory_city_analysis::timeline::{Metric, NodeId, Source};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::{Progress, Snapshot};
use memory_city_views::graph::{GraphConfig, GraphPicture};
use std::sync::Arc;

/// Seconds in which one picture moves into the next.
const MOVES: f32 = 0.3;

/// Groups that a step adds to a graph of trees.
const MOST_GROUPS: usize = 9;

/// Source of a graph: objects, or the trees' references between groups.
enum GraphOf {
    Objects(Box<ObjectGraph>),
    Groups(MapGraph),
}

impl GraphOf {
    fn new(source: &Source, time: usize, selected: &[NodeId], progress: &Progress) -> Result<GraphOf> {
        if source.heaps().is_none() {
            return MapGraph::new(source, time, selected, progress).map(GraphOf::Groups);
        }
        let (rules, limits) = (KeepRules::default(), GraphLimits::default());
        let graph = ObjectGraph::new(source, time, selected, rules, limits, progress)?;
        Ok(GraphOf::Objects(Box::new(graph)))
    }

    fn graph(&self) -> &GroupGraph {
        match self {
            GraphOf::Objects(graph) => graph.graph(),
            GraphOf::Groups(graph) => graph.graph(),
        }
    }

    /// Does a step. Returns how many groups it left out.
    fn step(&mut self, source: &Source, step: GraphStep, of: usize, progress: &Progress) -> Result<usize> {
        match (self, step) {
            (GraphOf::Objects(graph), step) => graph.apply(step, of, progress).map(|()| 0),
            (GraphOf::Groups(graph), GraphStep::PointsTo) => graph.points_to(source, of, MOST_GROUPS, progress),
            (GraphOf::Groups(graph), GraphStep::PointedFrom) => graph.pointed_from(source, of, MOST_GROUPS, progress),
            (GraphOf::Groups(_), _) => Err(Error::Unusable {
                what: "Trees that another program counted say which groups refer to which, not which objects".into(),
                remedy: "Open heap dumps or a trace to follow objects up to their roots".into(),
            }),
        }
    }

    fn held(&self, focus: usize, progress: &Progress) -> Result<Option<HeldOver>> {
        match self {
            GraphOf::Objects(graph) => graph.held_over(focus, progress).map(Some),
            GraphOf::Groups(_) => Ok(None),
        }
    }
}

/// Wish of the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphWish {
    /// The graph of the present selection, at the time that is shown.
    Anew,
    /// A step from a box.
    Step(GraphStep, usize),
    /// How much of a box is held over each arrow, or not any more.
    Ownership(Option<usize>),
}

/// Result of a job: the graph as far as it came, held amounts, its picture, and omissions.
struct GraphWork {
    graph: Option<GraphOf>,
    held: Option<HeldOver>,
    picture: Arc<GraphPicture>,
    outcome: Result<usize>,
}

/// The graph on screen.
#[derive(Resource, Default)]
pub struct DrawnGraph {
    graph: Option<GraphOf>,
    picture: Arc<GraphPicture>,
    before: Option<Arc<GraphPicture>>,
    /// How far the picture before has moved into this one.
    progress: f32,
    job: Option<Job<GraphWork>>,
    /// Whether that makes the first picture of a selection.
    begins: bool,
    held: Option<HeldOver>,
    /// The point in time that it is of.
    pub(super) time: usize,
    /// Its metric.
    metric: Option<Metric>,
    /// When that was selected which it began with; a later selection within the graph counts as followed too.
    pub(super) followed: Tick,
    /// How many steps a person has made: then it is not begun anew by itself.
    pub(super) steps: usize,
    /// How many groups the last step left out.
    pub(super) left_out: usize,
    /// The box that steps begin with.
    pub(super) chosen: Option<usize>,
    /// Place of the picture, once a person has moved it.
    pub(super) fit: Option<memory_city_views::graph::GraphFit>,
    pub(super) wish: Option<GraphWish>,
    /// Why there is none, or why a step could not be done.
    pub(super) error: Option<String>,
    pub(super) seen: bool,
}

impl DrawnGraph {
    /// The drawn graph.
    pub(super) fn graph(&self) -> Option<&GroupGraph> {
        self.graph.as_ref().map(GraphOf::graph)
    }

    /// Amounts held over arrows, if a person asked for them.
    pub(super) fn held(&self) -> Option<&HeldOver> {
        self.held.as_ref()
    }

    /// Whether there is nothing to be drawn.
    pub(super) fn is_empty(&self) -> bool {
        self.picture.boxes.is_empty()
    }

    /// Whether a job runs.
    pub(super) fn works(&self) -> bool {
        self.job.is_some()
    }

    /// How far that is.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        self.job.as_ref().map(Job::snapshot)
    }

    /// Cancels the job: the graph stays unchanged, or as far as it came.
    pub(super) fn cancel(&mut self) {
        if let Some(job) = &self.job {
            job.cancel();
        }
    }

    /// The box that ownership is shown of.
    pub(super) fn owned(&self) -> Option<usize> {
        self.held.as_ref().map(|held| held.focus)
    }

    /// Whether objects are known, not only groups.
    pub(super) fn has_objects(&self) -> bool {
        matches!(self.graph, Some(GraphOf::Objects(_)))
    }

    /// The chosen box, else the first that was selected.
    pub(super) fn chosen_or_first(&self) -> Option<usize> {
        let boxes = self.graph()?.boxes.len();
        self.chosen.filter(|&at| at < boxes).or((boxes > 0).then_some(0))
    }

    /// The picture on the way from the one before.
    pub(super) fn shown(&self) -> Arc<GraphPicture> {
        match &self.before {
            Some(before) if self.progress < 1.0 => {
                let t = f64::from(self.progress);
                Arc::new(GraphPicture::between(before, &self.picture, t * t * (3.0 - 2.0 * t)))
            }
            _ => Arc::clone(&self.picture),
        }
    }

    /// Starts work on the graph: off the frame, or at once for a picture without a window.
    fn start(
        &mut self,
        open: &OpenDocument,
        at_once: bool,
        work: impl FnOnce(Option<GraphOf>, &Source, &Progress) -> GraphWork + Send + 'static,
    ) {
        let (graph, source) = (self.graph.take(), Arc::clone(&open.source));
        self.begins = graph.is_none();
        if at_once {
            let done = work(graph, &source, &Progress::new());
            self.take(done);
        } else {
            self.job = Some(Job::behind_frames(move |progress| work(graph, &source, progress)));
        }
    }

    fn take(&mut self, work: GraphWork) {
        let begins = std::mem::take(&mut self.begins);
        self.before = (!begins && !self.picture.boxes.is_empty()).then(|| std::mem::take(&mut self.picture));
        self.progress = if self.before.is_some() { 0.0 } else { 1.0 };
        self.picture = work.picture;
        self.graph = work.graph;
        self.held = work.held;
        match work.outcome {
            Ok(left_out) => (self.left_out, self.error) = (left_out, None),
            Err(Error::Cancelled) => {}
            Err(error) => self.error = Some(error.to_string()),
        }
        if begins {
            (self.chosen, self.fit, self.steps) = (None, None, 0);
        }
    }
}

/// Follows selection and time, and carries out a person's wishes.
pub(super) fn follow(
    mut drawn: ResMut<DrawnGraph>,
    document: Res<Document>,
    (settings, panels, clock): (Res<Settings>, Res<PanelState>, Res<Clock>),
    selection: Res<Selection>,
    time: Res<Time>,
    mut awake: ResMut<Awake>,
) {
    let drawn = &mut *drawn;
    let Some(open) = document.get() else { return };
    if drawn.progress < 1.0 {
        drawn.progress =
            if settings.reduced_motion { 1.0 } else { (drawn.progress + time.delta_secs() / MOVES).min(1.0) };
    }
    if let Some(outcome) = drawn.job.as_ref().and_then(Job::poll) {
        drawn.job = None;
        match outcome {
            Ok(work) => {
                drawn.take(work);
                let boxes = drawn.graph().map_or(0, |graph| graph.boxes.len());
                tracing::debug!("graph: {boxes} boxes, {} arrows", drawn.picture.links.len());
            }
            Err(panic) => drawn.error = Some(panic),
        }
    }
    awake.wait_if(drawn.job.is_some());
    awake.keep_if(drawn.progress < 1.0);
    if !std::mem::take(&mut drawn.seen) || drawn.job.is_some() {
        return;
    }
    let metric = match settings.metric_in(&open.timeline) {
        Metric::Objects => Metric::Objects,
        _ => Metric::Bytes,
    };
    let moved = drawn.followed != selection.last_changed() || drawn.time != clock.time || drawn.metric != Some(metric);
    let wish = drawn.wish.take().or((moved && drawn.steps == 0).then_some(GraphWish::Anew));
    let Some(wish) = wish else { return };
    let config = GraphConfig { metric, ..GraphConfig::default() };
    let before = Arc::clone(&drawn.picture);
    match wish {
        GraphWish::Anew => {
            (drawn.followed, drawn.time, drawn.metric) = (selection.last_changed(), clock.time, Some(metric));
            let mut nodes: Vec<NodeId> = selection.nodes().collect();
            if nodes.is_empty() && panels.still {
                nodes.extend(analyses::top_growing(&open.timeline, metric, 1));
            }
            (drawn.graph, drawn.held, drawn.before, drawn.error, drawn.steps) = (None, None, None, None, 0);
            if nodes.is_empty() {
                drawn.picture = Arc::default();
                return;
            }
            let time = clock.time;
            drawn.start(open, panels.still, move |_, source, progress| begin(source, time, &nodes, &config, progress));
        }
        GraphWish::Step(step, of) => {
            drawn.steps += 1;
            let owned = drawn.owned();
            drawn.start(open, panels.still, move |graph, source, progress| {
                let Some(mut graph) = graph else { return GraphWork::nothing(before) };
                let outcome = graph.step(source, step, of, progress);
                GraphWork::of(graph, outcome, owned, Some(&before), &config, progress)
            });
        }
        GraphWish::Ownership(of) => drawn.start(open, panels.still, move |graph, _, progress| {
            let Some(graph) = graph else { return GraphWork::nothing(before) };
            GraphWork::of(graph, Ok(0), of, Some(&before), &config, progress)
        }),
    }
}

/// Makes a graph of the groups, their referrers, and the groups that they refer to.
fn begin(source: &Source, time: usize, nodes: &[NodeId], config: &GraphConfig, progress: &Progress) -> GraphWork {
    let mut graph = match GraphOf::new(source, time, nodes, progress) {
        Ok(graph) => graph,
        Err(error) => return GraphWork { outcome: Err(error), ..GraphWork::nothing(Arc::default()) },
    };
    // Boxes are added behind those that were selected, and may split what a step before has added.
    let mut outcome = Ok(0);
    for of in 0..graph.graph().boxes.len() {
        for step in [GraphStep::PointedFrom, GraphStep::PointsTo] {
            outcome = outcome.and_then(|left_out| Ok(left_out + graph.step(source, step, of, progress)?));
        }
    }
    GraphWork::of(graph, outcome, None, None, config, progress)
}

impl GraphWork {
    fn nothing(picture: Arc<GraphPicture>) -> GraphWork {
        GraphWork { graph: None, held: None, picture, outcome: Ok(0) }
    }

    /// The picture of a graph, and who owns a box of it.
    fn of(
        graph: GraphOf,
        outcome: Result<usize>,
        owned: Option<usize>,
        before: Option<&GraphPicture>,
        config: &GraphConfig,
        progress: &Progress,
    ) -> GraphWork {
        let (held, outcome) = match owned.map(|of| graph.held(of, progress)) {
            None => (None, outcome),
            Some(Ok(held)) => (held, outcome),
            Some(Err(error)) => (None, outcome.and(Err(error))),
        };
        let picture = Arc::new(GraphPicture::new(graph.graph(), config, held.as_ref(), before));
        GraphWork { graph: Some(graph), held, picture, outcome }
    }
}
