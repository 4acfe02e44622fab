//! The ways from GC roots to a group, and the memory that cutting one of them would free: found off the frame, shared by the list and the
//! city.
//!
//! The ways stay those of the group that they were asked for while others are selected: their steps are there to be walked. They follow
//! time, and further metrics of the same trees.

mod found_paths;
mod saved_paths;

pub use found_paths::{CutChoice, FoundPaths, PathRow, find, first_question, freed};
pub use saved_paths::SavedPaths;

use super::action::Action;
use super::clock::Clock;
use super::document::{Closed, Document, Grew, Opened};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::keys;
use super::notices::Notices;
use super::selection::Selection;
use bevy::prelude::*;
use found_paths::{FIRST_SHARE, MOST_STEPS, no_objects, shares};
use memory_city_analysis::ownership::{Freed, WayKind, WayQuestion};
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Snapshot;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// State of a cut.
pub enum CutState {
    /// It is being found out.
    Looking(Job<Result<Freed>>),
    /// This would be freed.
    Freed(Arc<Freed>),
    /// It could not be found out: why.
    Failed(String),
}

/// A cut that is shown.
pub struct CutView {
    /// The cut.
    pub choice: CutChoice,
    /// Its name for people.
    pub title: String,
    /// Its result.
    pub state: CutState,
    /// By group, inner ones too: the part of its bytes that would be freed, 0 to 1.
    pub shares: HashMap<NodeId, f32>,
}

/// Input of the search for ways.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PathRequest {
    time: usize,
    nodes: Vec<NodeId>,
    question: WayQuestion,
}

/// The ways to a group.
#[derive(Resource)]
pub struct RootPaths {
    /// Which ways.
    pub kind: WayKind,
    /// Percent of the group's objects that must be reached through a step.
    pub share: u64,
    /// The groups that they are the ways to, by key; empty when there are none to show.
    subject: Vec<String>,
    nodes: Vec<NodeId>,
    asked: Option<PathRequest>,
    job: Option<Job<Result<FoundPaths>>>,
    found: Option<Arc<FoundPaths>>,
    error: Option<String>,
    /// Changes with every result.
    version: u64,
    /// The step that the mouse is over in a list.
    pub hovered: Option<usize>,
    /// The row that was chosen last.
    pub chosen: Option<CutChoice>,
    cut: Option<CutView>,
    cut_version: u64,
    /// A cut to make as soon as the ways are known.
    cut_wish: Option<CutChoice>,
    /// Whether the list shall come to the front.
    pub opens: bool,
    /// Brought by a picture, which asks for nothing.
    given: bool,
}

/// A new number, unique in this process.
fn next_version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Default for RootPaths {
    fn default() -> Self {
        RootPaths {
            kind: WayKind::Interesting,
            share: FIRST_SHARE,
            subject: Vec::new(),
            nodes: Vec::new(),
            asked: None,
            job: None,
            found: None,
            error: None,
            version: 0,
            hovered: None,
            chosen: None,
            cut: None,
            cut_version: 0,
            cut_wish: None,
            opens: false,
            given: false,
        }
    }
}

impl RootPaths {
    /// The groups whose ways are shown; empty when none are.
    pub fn subject(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The ways, once they are known; those of the time before, while the next are looked for.
    pub fn found(&self) -> Option<&Arc<FoundPaths>> {
        self.found.as_ref()
    }

    /// Differs whenever other ways are shown.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How far the search is.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.job.as_ref().map(Job::snapshot)
    }

    /// Why there are none.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The cut that is shown.
    pub fn cut(&self) -> Option<&CutView> {
        self.cut.as_ref()
    }

    /// The freed memory, once it is known, and a number that differs whenever it does.
    pub fn freed(&self) -> Option<(&Freed, &CutView, u64)> {
        let cut = self.cut.as_ref()?;
        match &cut.state {
            CutState::Freed(freed) => Some((freed, cut, self.cut_version)),
            CutState::Looking(_) | CutState::Failed(_) => None,
        }
    }

    /// Takes away the cut, or the ways. Returns whether there was any.
    pub fn escape(&mut self) -> bool {
        if self.cut.take().is_some() {
            tracing::debug!("cut: undone");
            return true;
        }
        let any = !self.subject.is_empty();
        self.close();
        any
    }

    /// Puts the ways away.
    pub fn close(&mut self) {
        *self = RootPaths { kind: self.kind, share: self.share, version: next_version(), ..RootPaths::default() };
    }

    /// Shows the ways to some groups.
    pub fn show(&mut self, timeline: &Timeline, nodes: Vec<NodeId>) {
        self.close();
        self.subject = nodes.iter().map(|&node| timeline.key(node)).collect();
        self.nodes = nodes;
        self.opens = true;
    }

    /// The shown ways, to be shown again; `None` if there are none.
    pub fn kept(&self) -> Option<SavedPaths> {
        let cut = self.cut.as_ref().map(|cut| cut.choice.clone());
        (!self.subject.is_empty()).then(|| SavedPaths::new(self.subject.clone(), self.kind, self.share, cut))
    }

    /// Shows ways that were kept, as far as there are their groups. Returns how many there are not.
    pub fn show_kept(&mut self, timeline: &Timeline, kept: &SavedPaths) -> usize {
        let nodes: Vec<NodeId> = kept.groups.iter().filter_map(|key| timeline.find(key)).collect();
        let missing = kept.groups.len() - nodes.len();
        if !nodes.is_empty() {
            let WayQuestion { kind, share, .. } = kept.question();
            self.show(timeline, nodes);
            (self.kind, self.share, self.opens) = (kind, share, false);
            self.cut_wish = kept.cut.clone().filter(|_| missing == 0);
        }
        missing
    }

    /// Takes ways found elsewhere, for pictures without a window.
    pub fn preset(&mut self, timeline: &Timeline, nodes: Vec<NodeId>, found: FoundPaths) {
        self.show(timeline, nodes);
        self.given = true;
        self.take(found);
    }

    /// Takes a cut found elsewhere, for pictures without a window.
    pub fn preset_cut(&mut self, timeline: &Timeline, time: usize, choice: CutChoice, freed: Freed) {
        let title = self.title(&choice);
        let shares = shares(timeline, time, &freed);
        self.cut_version = next_version();
        self.cut = Some(CutView { choice, title, state: CutState::Freed(Arc::new(freed)), shares });
    }

    fn take(&mut self, found: FoundPaths) {
        self.found = Some(Arc::new(found));
        self.version = next_version();
        self.hovered = None;
    }

    /// Name of the cut, for people.
    pub fn title(&self, choice: &CutChoice) -> String {
        match choice {
            CutChoice::Root(text) => text.clone(),
            CutChoice::Step(at) => {
                let Some(step) = self.found.as_ref().and_then(|found| found.ways.steps.get(*at)) else {
                    return String::new();
                };
                step.text()
            }
        }
    }

    /// Shows the memory that a cut would free; the same cut again takes it back.
    pub fn toggle_cut(&mut self, source: &Arc<Source>, choice: CutChoice) {
        if self.cut.take().is_some_and(|cut| cut.choice == choice) {
            tracing::debug!("cut: undone");
            return;
        }
        let Some(found) = self.found.clone() else { return };
        let title = self.title(&choice);
        let (source, wanted) = (Arc::clone(source), choice.clone());
        let job = Job::behind_frames(move |progress| freed(&source, &found, &wanted, progress));
        self.cut_version = next_version();
        self.cut = Some(CutView { choice, title, state: CutState::Looking(job), shares: HashMap::new() });
    }
}

/// Starts wanted searches and takes their results.
fn update(
    document: Res<Document>,
    clock: Res<Clock>,
    mut ways: ResMut<RootPaths>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let ways = &mut *ways;
    let Some(open) = document.get().filter(|_| !ways.subject.is_empty() && !ways.given) else { return };
    awake.wait_if(ways.job.is_some());
    if let Some(outcome) = ways.job.as_ref().and_then(Job::poll) {
        ways.job = None;
        match outcome {
            Ok(Ok(found)) => {
                let steps = found.ways.steps.len() - 1;
                tracing::debug!("ways: {steps} steps to {}", ways.subject.join(" + "));
                ways.take(found);
                if let Some(choice) = ways.cut_wish.take() {
                    ways.toggle_cut(&open.source, choice);
                }
            }
            Ok(Err(Error::Cancelled)) => {}
            Ok(Err(error)) => ways.error = Some(error.to_string()),
            Err(panic) => ways.error = Some(panic),
        }
    }
    if let Some(cut) = &mut ways.cut
        && let CutState::Looking(job) = &cut.state
    {
        awake.wait_if(true);
        if let Some(outcome) = job.poll() {
            ways.cut_version = next_version();
            cut.state = match outcome {
                Ok(Ok(freed)) => {
                    tracing::debug!("cut: {}: {} objects, {} bytes", cut.title, freed.total.objects, freed.total.bytes);
                    let time = ways.found.as_ref().map_or(clock.time, |found| found.time);
                    cut.shares = shares(&open.timeline, time, &freed);
                    CutState::Freed(Arc::new(freed))
                }
                Ok(Err(error)) => CutState::Failed(error.to_string()),
                Err(panic) => CutState::Failed(panic),
            };
        }
    }
    let question = WayQuestion { kind: ways.kind, share: ways.share, most: MOST_STEPS, rules: KeepRules::default() };
    let now = PathRequest { time: clock.time, nodes: ways.nodes.clone(), question };
    if ways.asked.as_ref() == Some(&now) || clock.moving() {
        return;
    }
    if open.source.heaps().is_none() {
        notices.tell(no_objects());
        ways.close();
        return;
    }
    if ways.asked.as_ref().is_some_and(|before| before.time != now.time) && ways.cut.take().is_some() {
        notices.tell("The cut was that of another point in time: it is undone");
    }
    ways.chosen = None;
    (ways.asked, ways.error) = (Some(now.clone()), None);
    let source = Arc::clone(&open.source);
    ways.job = Some(Job::behind_frames(move |progress| find(&source, now.time, &now.nodes, now.question, progress)));
    awake.keep_if(true);
}

/// Shows the ways or puts them away, and cuts.
fn act(
    mut actions: MessageReader<Action>,
    document: Res<Document>,
    selection: Res<Selection>,
    mut ways: ResMut<RootPaths>,
    mut notices: ResMut<Notices>,
) {
    let Some(open) = document.get() else {
        actions.clear();
        return;
    };
    let ways = &mut *ways;
    for action in actions.read() {
        match action {
            Action::RootPaths => {
                let nodes = selection.outermost(&open.timeline);
                let is_step = |node: &NodeId| {
                    ways.found.as_ref().is_some_and(|found| found.route.iter().any(|step| step.node == Some(*node)))
                };
                if !ways.subject.is_empty() && (nodes.is_empty() || nodes == ways.nodes || nodes.iter().all(is_step)) {
                    ways.close();
                } else if nodes.is_empty() {
                    let key = keys::key(Action::RootPaths);
                    notices.tell(format!("Select a building first, then {key} shows the ways from the GC roots to it"));
                } else if open.source.heaps().is_none() {
                    notices.tell(no_objects());
                } else {
                    ways.show(&open.timeline, nodes);
                }
            }
            Action::Cut => match ways.chosen.clone() {
                Some(choice) => ways.toggle_cut(&open.source, choice),
                None => {
                    let [show, cut] = [Action::RootPaths, Action::Cut].map(keys::key);
                    notices.tell(match ways.subject.is_empty() {
                        true => format!(
                            "{show} shows the ways to the selection; choose a step or root in their list, then {cut} cuts it"
                        ),
                        false => format!("Choose a step or a root in the list of ways first: {cut} cuts it"),
                    });
                }
            },
            _ => {}
        }
    }
}

fn grew(_: On<Grew>, document: Res<Document>, mut ways: ResMut<RootPaths>, mut notices: ResMut<Notices>) {
    let Some(timeline) = document.timeline() else { return };
    if ways.subject.is_empty() {
        return;
    }
    let nodes: Vec<NodeId> = ways.subject.iter().filter_map(|key| timeline.find(key)).collect();
    if nodes.len() < ways.subject.len() {
        notices.tell("The groups whose ways were shown are not in these trees");
        ways.close();
    } else {
        // Steps are found again: they lie in other groups now.
        ways.show(timeline, nodes);
        ways.opens = false;
    }
}

/// The ways to groups.
pub struct RootPathsPlugin;

impl Plugin for RootPathsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RootPaths>()
            .add_observer(|_: On<Opened>, mut ways: ResMut<RootPaths>| ways.close())
            .add_observer(grew)
            .add_observer(|_: On<Closed>, mut ways: ResMut<RootPaths>| ways.close())
            .add_systems(Update, update.in_set(Stage::Derive))
            .add_systems(Update, act.in_set(Stage::Act));
    }
}
