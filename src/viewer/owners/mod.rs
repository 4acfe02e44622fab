//! The owners of the selection, which keep it alive: found off the frame for the shown time, shared by all views. And the walk along them
//! by *follow the owner*, owner by owner up to the root.
//!
//! The walk follows the objects of the group where it began: its new objects since the first point in time if the input knows them, all
//! otherwise. If the input has no objects it goes from group to group, by the most references, and says so.

mod walk;

pub use walk::{OwnerWalk, WalkStop};

use super::action::Action;
use super::clock::Clock;
use super::document::{Closed, Document, Grew, Opened};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::keys;
use super::notices::Notices;
use super::references::{NOT_TOLD, References};
use super::selection::{Select, Selection};
use super::settings::Settings;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use memory_city_analysis::ownership::chain::{GroupOwners, Owners};
use memory_city_analysis::timeline::{Metric, NodeId, Source, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::{Progress, Snapshot};
use std::collections::VecDeque;
use std::sync::Arc;
use walk::OwnerQuestion;

/// The engine for a document and a time, and its result.
type OwnerAnswer = Result<(Arc<Owners>, GroupOwners)>;

/// Most steps up.
const LONGEST: usize = 200;
/// Answers that are kept.
const KEPT: usize = 64;

/// The owners of the selection, and the walk.
#[derive(Resource, Default)]
pub struct OwnersOf {
    engine: Option<(usize, Arc<Owners>)>,
    job: Option<(OwnerQuestion, Job<OwnerAnswer>)>,
    known: VecDeque<(OwnerQuestion, Arc<GroupOwners>)>,
    failed: Option<(OwnerQuestion, String)>,
    /// The selection at the shown time.
    question: Option<OwnerQuestion>,
    /// Enter was pressed before the owners were known.
    waits: bool,
    walk: Option<OwnerWalk>,
    /// Brought by a picture, which asks for nothing.
    given: Option<Arc<GroupOwners>>,
}

/// State of the search for the owners of the selection.
pub enum OwnersKnown {
    /// The input has no objects, or nothing is selected.
    Nothing,
    /// They are being found.
    Looking(Option<Snapshot>),
    /// They are known.
    Known(Arc<GroupOwners>),
    /// They could not be found: why.
    Failed(String),
}

impl OwnersOf {
    /// State of the search for the owners of the selection.
    pub fn known(&self) -> OwnersKnown {
        if let Some(given) = &self.given {
            return OwnersKnown::Known(Arc::clone(given));
        }
        let Some(question) = &self.question else { return OwnersKnown::Nothing };
        if let Some(found) = self.of(question) {
            return OwnersKnown::Known(found);
        }
        match &self.failed {
            Some((of, why)) if of == question => OwnersKnown::Failed(why.clone()),
            _ => OwnersKnown::Looking(self.job.as_ref().map(|(_, job)| job.snapshot())),
        }
    }

    fn of(&self, question: &OwnerQuestion) -> Option<Arc<GroupOwners>> {
        self.known.iter().find(|(of, _)| of == question).map(|(_, found)| Arc::clone(found))
    }

    /// The walk, if there is one.
    pub fn walk(&self) -> Option<&OwnerWalk> {
        self.walk.as_ref()
    }

    /// Whether a walk begins as soon as owners are known.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Goes to a stop of the walk.
    pub fn go_to(&mut self, stop: usize, timeline: &Timeline, selection: &mut Mut<Selection>) {
        if let Some(walk) = &mut self.walk
            && let Some(to) = walk.stops.get(stop)
        {
            (walk.at, walk.ended) = (stop, false);
            select(timeline, selection, &to.nodes);
        }
    }

    /// Ends the walk.
    pub fn leave(&mut self) {
        (self.walk, self.waits) = (None, false);
    }

    /// Shows owners found elsewhere, for pictures without a window.
    pub fn preset(&mut self, found: GroupOwners) {
        self.given = Some(Arc::new(found));
    }

    /// Goes one step up, or ends. Returns a message about it.
    fn advance(&mut self, timeline: &Timeline, selection: &mut Mut<Selection>) -> Option<String> {
        let walk = self.walk.as_mut()?;
        match walk.stops.get(walk.at + 1) {
            Some(stop) => {
                walk.at += 1;
                tracing::debug!("owner: {}", stop.nodes.first().map_or_else(String::new, |&n| timeline.key(n)));
                select(timeline, selection, &stop.nodes);
                None
            }
            None => {
                walk.ended = true;
                tracing::debug!("owner: {}", walk.end);
                Some(walk.end.clone())
            }
        }
    }
}

fn select(timeline: &Timeline, selection: &mut Mut<Selection>, nodes: &[NodeId]) {
    match nodes {
        [node] => selection.select(timeline, *node),
        several => selection.select_all(timeline, several.iter().copied()),
    }
}

fn question(document: &Document, selection: &Selection, clock: &Clock, settings: &Settings) -> Option<OwnerQuestion> {
    let open = document.get().filter(|open| open.source.heaps().is_some())?;
    let nodes = selection.outermost(&open.timeline);
    let by_bytes = settings.metric_in(&open.timeline) != Metric::Objects;
    (!nodes.is_empty()).then_some(OwnerQuestion { time: clock.time, nodes, by_bytes })
}

fn find(source: &Source, engine: Option<Arc<Owners>>, question: &OwnerQuestion, progress: &Progress) -> OwnerAnswer {
    let Some(history) = source.heaps() else {
        return Err(Error::Unusable { what: "The input has no objects".into(), remedy: "Open heap dumps".into() });
    };
    let engine = match engine {
        Some(engine) => engine,
        None => Arc::new(Owners::new(history, 0, question.time, progress)?),
    };
    let found = engine.of(history, &question.nodes, question.by_bytes, LONGEST, progress)?;
    Ok((engine, found))
}

/// The owners of some groups at a time, as the window finds them.
///
/// # Errors
/// When the input has no objects, cannot be read again, or the work was cancelled.
pub fn owners_of(
    source: &Source,
    time: usize,
    nodes: &[NodeId],
    by_bytes: bool,
    progress: &Progress,
) -> Result<GroupOwners> {
    let question = OwnerQuestion { time, nodes: nodes.to_vec(), by_bytes };
    find(source, None, &question, progress).map(|(_, found)| found)
}

/// Asks for the owners of the selection and takes them when they come; keeps the walk where the selection is.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn update(
    document: Res<Document>,
    (clock, settings, references): (Res<Clock>, Res<Settings>, Res<References>),
    mut selection: ResMut<Selection>,
    mut owners: ResMut<OwnersOf>,
    mut notices: ResMut<Notices>,
    windows: Query<(), With<PrimaryWindow>>,
    mut awake: ResMut<Awake>,
) {
    let owners = &mut *owners;
    // Pictures without a window do not ask: they bring what they show.
    let Some(open) = document.get().filter(|_| !windows.is_empty()) else { return };
    owners.question = question(&document, &selection, &clock, &settings);
    if let Some((of, job)) = &owners.job {
        awake.wait_if(true);
        if let Some(outcome) = job.poll() {
            let of = of.clone();
            owners.job = None;
            match outcome {
                Ok(Ok((engine, found))) => {
                    owners.engine = Some((of.time, engine));
                    if owners.known.len() >= KEPT {
                        owners.known.pop_front();
                    }
                    tracing::debug!("owners: {} groups, {} roots", found.owners.len(), found.chain.roots.len());
                    owners.known.push_back((of, Arc::new(found)));
                }
                Ok(Err(Error::Cancelled)) => {}
                Ok(Err(error)) => owners.failed = Some((of, error.to_string())),
                Err(panic) => owners.failed = Some((of, panic)),
            }
        }
    }
    let Some(now) = owners.question.clone() else {
        owners.leave();
        owners.job = None;
        return;
    };
    if owners.walk.as_ref().is_some_and(|walk| walk.question.time != now.time) {
        owners.leave();
    }
    if let Some(walk) = &mut owners.walk {
        match walk.stop_of(&now.nodes) {
            Some(at) if at == walk.at => {}
            Some(at) => (walk.at, walk.ended) = (at, false),
            None => owners.walk = None,
        }
    }
    if let Some(found) = owners.of(&now) {
        if std::mem::take(&mut owners.waits) {
            owners.walk = Some(OwnerWalk::new(&now, &found));
            if let Some(end) = owners.advance(&open.timeline, &mut selection.reborrow()) {
                notices.tell(end);
            }
        }
        return;
    }
    if let Some((of, why)) = &owners.failed
        && *of == now
    {
        if std::mem::take(&mut owners.waits) {
            notices.tell(why.clone());
        }
        return;
    }
    // While time runs, what is passed is not asked for. References come first: both would load the state.
    let waits = clock.moving() || references.snapshot().is_some();
    let made = owners.engine.as_ref().filter(|(of, _)| *of == now.time);
    // What makes the engine for this time goes on, whatever was selected when it began: the next question needs it.
    let goes_on = |of: &OwnerQuestion| *of == now || made.is_none() && of.time == now.time;
    if !owners.job.as_ref().is_some_and(|(of, _)| goes_on(of)) && !waits {
        let engine = made.map(|(_, engine)| Arc::clone(engine));
        if engine.is_none() {
            owners.engine = None;
        }
        let (source, asked) = (Arc::clone(&open.source), now.clone());
        owners.job = Some((now, Job::behind_frames(move |progress| find(&source, engine, &asked, progress))));
        awake.keep_if(true);
    }
    // References and a moving clock bring frames of their own.
    awake.wait_if(true);
}

/// Follows the owner, and goes back.
fn act(
    mut actions: MessageReader<Action>,
    document: Res<Document>,
    (clock, settings, references): (Res<Clock>, Res<Settings>, Res<References>),
    mut selection: ResMut<Selection>,
    mut owners: ResMut<OwnersOf>,
    mut notices: ResMut<Notices>,
) {
    let Some(open) = document.get() else {
        actions.clear();
        return;
    };
    let owners = &mut *owners;
    for action in actions.read() {
        match action {
            Action::Back => match &mut owners.walk {
                Some(walk) if walk.ended => walk.ended = false,
                _ => selection.back(&open.timeline),
            },
            Action::FollowOwner => {
                if selection.node().is_none() {
                    let key = keys::key(Action::FollowOwner);
                    notices.tell(format!("Select a building first, then {key} follows what keeps it alive"));
                    continue;
                }
                let Some(now) = question(&document, &selection, &clock, &settings) else {
                    follow_groups(&open.timeline, &references, &mut selection.reborrow(), &mut notices);
                    continue;
                };
                let goes_on = owners.walk.as_ref().is_some_and(|walk| walk.stop_of(&now.nodes).is_some());
                if !goes_on {
                    match owners.of(&now) {
                        Some(found) => owners.walk = Some(OwnerWalk::new(&now, &found)),
                        None => {
                            owners.waits = true;
                            continue;
                        }
                    }
                }
                if let Some(end) = owners.advance(&open.timeline, &mut selection.reborrow()) {
                    notices.tell(end);
                }
            }
            _ => {}
        }
    }
}

/// The step without objects: to the group that refers to most of the selected one.
fn follow_groups(timeline: &Timeline, references: &References, selection: &mut Mut<Selection>, notices: &mut Notices) {
    let Some(node) = selection.node() else { return };
    if references.unknown {
        notices.tell(NOT_TOLD);
        return;
    }
    let Some(map) = references.of(node) else { return };
    match map.incoming.first() {
        Some(edge) => {
            let other = edge.other;
            selection.select(timeline, other);
            notices.tell(
                "From group to group: the input tells which group refers to which, not which objects. This one refers most",
            );
        }
        None => notices.tell("No other group refers to this one: the end of the chain. Its GC roots are listed"),
    }
}

/// The owners of the selection.
pub struct OwnersPlugin;

impl Plugin for OwnersPlugin {
    fn build(&self, app: &mut App) {
        let reset = |owners: &mut OwnersOf| *owners = OwnersOf::default();
        app.init_resource::<OwnersOf>()
            .add_observer(move |_: On<Opened>, mut owners: ResMut<OwnersOf>| reset(&mut owners))
            .add_observer(move |_: On<Grew>, mut owners: ResMut<OwnersOf>| reset(&mut owners))
            .add_observer(move |_: On<Closed>, mut owners: ResMut<OwnersOf>| reset(&mut owners))
            .add_systems(Update, update.in_set(Stage::Derive).after(super::references::update_references))
            .add_systems(Update, act.in_set(Stage::Act));
    }
}
