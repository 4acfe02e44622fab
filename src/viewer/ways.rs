//! The ways from GC roots to a group, and what would be freed if one of them were cut: found off the frame, shared by the list
//! and the city.
//!
//! The ways stay those of the group that they were asked for, whatever is selected meanwhile: their steps are there to be
//! walked. They follow time, and further metrics of the same trees.

use super::action::Action;
use super::app::{Awake, Stage};
use super::clock::Clock;
use super::document::{Closed, Document, Grew, Opened};
use super::job::Job;
use super::notices::Notices;
use super::selection::Selection;
use bevy::prelude::*;
use memory_city_analysis::analyses::named_cut;
use memory_city_analysis::ownership::{Freed, GroupWays, PathEnd, WayKind, WayQuestion, WayStep};
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::{Progress, Snapshot};
use memory_city_views::city::RouteStep;
use std::collections::HashMap;
use std::sync::Arc;

/// Why documents without objects have no ways.
const NO_OBJECTS: &str =
    "The input has trees, not objects: there are no ways from roots. Enter goes from group to group";

/// What is cut.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CutChoice {
    /// All references by which a step holds the one below.
    Step(usize),
    /// A root, by its text.
    Root(String),
}

/// What is known of a cut.
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
    /// What is cut.
    pub choice: CutChoice,
    /// The same for people.
    pub title: String,
    /// What comes of it.
    pub state: CutState,
    /// By group, inner ones too: the part of its bytes that would be freed, 0 to 1.
    pub shares: HashMap<NodeId, f32>,
}

/// What ways were found for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    revision: u64,
    time: usize,
    nodes: Vec<NodeId>,
    question: WayQuestion,
}

/// Ways that were found, and what the city needs of them.
pub struct FoundWays {
    /// The ways.
    pub ways: GroupWays,
    /// The point in time.
    pub time: usize,
    /// Their steps as the city takes them.
    pub route: Vec<RouteStep>,
    /// The list, row by row: each step below the one that it holds.
    pub rows: Vec<(u32, WayRow)>,
}

/// A row of the list of ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayRow {
    /// A step; the first is the group.
    Step(usize),
    /// A root of a step, by number.
    Root(usize, usize),
    /// Holders of a step that are not followed.
    LeftOut(usize),
    /// Why nothing is above a step.
    End(usize),
}

/// The ways to a group.
#[derive(Resource)]
pub struct Ways {
    /// Which ways.
    pub kind: WayKind,
    /// Percent of the group's objects that must be reached through a step.
    pub share: u64,
    /// The groups that they are the ways to, by key; empty when there are none to show.
    subject: Vec<String>,
    nodes: Vec<NodeId>,
    asked: Option<Asked>,
    job: Option<Job<Result<FoundWays>>>,
    found: Option<Arc<FoundWays>>,
    error: Option<String>,
    /// Differs for whatever is found.
    version: u64,
    /// The step that the mouse is over in a list.
    pub hovered: Option<usize>,
    /// The row that was chosen last.
    pub chosen: Option<CutChoice>,
    cut: Option<CutView>,
    cut_version: u64,
    /// The list shall come to the front.
    pub opens: bool,
}

impl Default for Ways {
    fn default() -> Self {
        Ways {
            kind: WayKind::Interesting,
            share: 5,
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
            opens: false,
        }
    }
}

/// Steps at most.
const MOST_STEPS: usize = 40;

impl Ways {
    /// The groups whose ways are shown; empty when none are.
    pub fn subject(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The ways, once they are known; those of the time before, while the next are looked for.
    pub fn found(&self) -> Option<&Arc<FoundWays>> {
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

    /// What would be freed, once that is known, and a number that differs whenever it does.
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
        *self = Ways { kind: self.kind, share: self.share, version: self.version + 1, ..Ways::default() };
    }

    /// Shows the ways to some groups.
    pub fn show(&mut self, timeline: &Timeline, nodes: Vec<NodeId>) {
        self.close();
        self.subject = nodes.iter().map(|&node| timeline.key(node)).collect();
        self.nodes = nodes;
        self.opens = true;
    }

    /// Takes ways that somebody found, for pictures without a window.
    pub fn preset(&mut self, timeline: &Timeline, nodes: Vec<NodeId>, found: FoundWays) {
        self.show(timeline, nodes);
        self.take(found);
    }

    /// Takes a cut that somebody found, for pictures without a window.
    pub fn preset_cut(&mut self, timeline: &Timeline, time: usize, choice: CutChoice, freed: Freed) {
        let title = self.title(&choice);
        let shares = shares(timeline, time, &freed);
        self.cut_version += 1;
        self.cut = Some(CutView { choice, title, state: CutState::Freed(Arc::new(freed)), shares });
    }

    fn take(&mut self, found: FoundWays) {
        self.found = Some(Arc::new(found));
        self.version += 1;
        self.hovered = None;
    }

    /// What is cut, for people.
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

    /// Shows what would be freed without something, or no longer.
    pub fn toggle_cut(&mut self, source: &Arc<Source>, choice: CutChoice) {
        if self.cut.take().is_some_and(|cut| cut.choice == choice) {
            tracing::debug!("cut: undone");
            return;
        }
        let Some(found) = self.found.clone() else { return };
        let title = self.title(&choice);
        let (source, wanted) = (Arc::clone(source), choice.clone());
        let job = Job::start(move |progress| freed(&source, &found, &wanted, progress));
        self.cut_version += 1;
        self.cut = Some(CutView { choice, title, state: CutState::Looking(job), shares: HashMap::new() });
    }
}

/// What would be freed without a step or a root of some ways, at their time.
///
/// # Errors
/// When the input cannot be read again, there is no such root, or the work was cancelled.
pub fn freed(source: &Source, found: &FoundWays, choice: &CutChoice, progress: &Progress) -> Result<Freed> {
    let history = source
        .heaps()
        .ok_or_else(|| Error::Unusable { what: NO_OBJECTS.into(), remedy: "Open heap dumps or a trace".into() })?;
    let rules = KeepRules::default();
    let cut = match choice {
        CutChoice::Step(at) => found.ways.cut(*at),
        CutChoice::Root(text) => named_cut(history, found.time, rules, text, progress)?.0,
    };
    Freed::without(history, found.time, &cut, rules, progress)
}

/// The ways to some groups at a time, as the window finds them.
///
/// # Errors
/// When the input has no objects, cannot be read again, or the work was cancelled.
pub fn find(
    source: &Source,
    time: usize,
    nodes: &[NodeId],
    question: WayQuestion,
    progress: &Progress,
) -> Result<FoundWays> {
    let history = source
        .heaps()
        .ok_or_else(|| Error::Unusable { what: NO_OBJECTS.into(), remedy: "Open heap dumps or a trace".into() })?;
    let ways = GroupWays::find(history, time, nodes, question, progress)?;
    let whole = ways.about().objects.max(1) as f32;
    let share = |objects: u64| objects as f32 / whole;
    let mut route = Vec::with_capacity(ways.steps.len());
    for step in &ways.steps {
        let rooted = step.roots.iter().map(|root| share(root.reached.objects)).fold(0.0, f32::max);
        route.push(RouteStep { below: step.below, node: step.node, share: share(step.reached.objects), rooted });
    }
    let rows = rows(&ways.steps);
    Ok(FoundWays { ways, time, route, rows })
}

/// The rows of the list, nested as the steps are. Nothing recurses.
fn rows(steps: &[WayStep]) -> Vec<(u32, WayRow)> {
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    (1..steps.len()).for_each(|at| above[steps[at].below].push(at));
    let mut rows = Vec::new();
    let mut open = vec![(0u32, WayRow::Step(0))];
    while let Some((depth, row)) = open.pop() {
        rows.push((depth, row));
        let WayRow::Step(at) = row else { continue };
        let step = &steps[at];
        rows.extend((0..step.roots.len()).map(|root| (depth + 1, WayRow::Root(at, root))));
        if matches!(step.end, PathEnd::Nothing | PathEnd::NotFollowed) && step.reached.objects > 0 {
            open.push((depth + 1, WayRow::End(at)));
        }
        if step.left_out.0 > 0 {
            open.push((depth + 1, WayRow::LeftOut(at)));
        }
        open.extend(above[at].iter().rev().map(|&next| (depth + 1, WayRow::Step(next))));
    }
    rows
}

/// The question that is asked with the settings of a first start.
pub fn first_question() -> WayQuestion {
    let ways = Ways::default();
    WayQuestion { kind: ways.kind, share: ways.share, most: MOST_STEPS, rules: KeepRules::default() }
}

/// By group, inner ones too: the part of its bytes that would be freed.
fn shares(timeline: &Timeline, time: usize, freed: &Freed) -> HashMap<NodeId, f32> {
    let mut bytes: HashMap<NodeId, u64> = HashMap::new();
    for &(node, amount) in &freed.groups {
        for at in std::iter::successors(Some(node), |&n| timeline.parent(n)) {
            *bytes.entry(at).or_default() += amount.bytes;
        }
    }
    let share = |(node, bytes): (NodeId, u64)| {
        let all = timeline.amount(time, node).bytes.max(1);
        (node, (bytes as f64 / all as f64).min(1.0) as f32)
    };
    bytes.into_iter().map(share).collect()
}

/// Asks for what is wanted and takes it when it comes.
fn update(
    document: Res<Document>,
    clock: Res<Clock>,
    mut ways: ResMut<Ways>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let ways = ways.bypass_change_detection();
    let Some(open) = document.get().filter(|_| !ways.subject.is_empty()) else { return };
    awake.keep_if(ways.job.is_some());
    if let Some(outcome) = ways.job.as_ref().and_then(Job::poll) {
        ways.job = None;
        match outcome {
            Ok(Ok(found)) => {
                let steps = found.ways.steps.len() - 1;
                tracing::debug!("ways: {steps} steps to {}", ways.subject.join(" + "));
                ways.take(found);
            }
            Ok(Err(Error::Cancelled)) => {}
            Ok(Err(error)) => ways.error = Some(error.to_string()),
            Err(panic) => ways.error = Some(panic),
        }
    }
    if let Some(cut) = &mut ways.cut
        && let CutState::Looking(job) = &cut.state
    {
        awake.keep_if(true);
        if let Some(outcome) = job.poll() {
            ways.cut_version += 1;
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
    let now = Asked { revision: document.revision(), time: clock.time, nodes: ways.nodes.clone(), question };
    if ways.asked.as_ref() == Some(&now) || clock.moving() {
        return;
    }
    if open.source.heaps().is_none() {
        notices.tell(NO_OBJECTS);
        ways.close();
        return;
    }
    if ways.asked.as_ref().is_some_and(|before| before.time != now.time) && ways.cut.take().is_some() {
        notices.tell("The cut was that of another point in time: it is undone");
    }
    ways.chosen = None;
    (ways.asked, ways.error) = (Some(now.clone()), None);
    let source = Arc::clone(&open.source);
    ways.job = Some(Job::start(move |progress| find(&source, now.time, &now.nodes, now.question, progress)));
    awake.keep_if(true);
}

/// Shows the ways or puts them away, and cuts.
fn act(
    mut actions: MessageReader<Action>,
    document: Res<Document>,
    selection: Res<Selection>,
    mut ways: ResMut<Ways>,
    mut notices: ResMut<Notices>,
) {
    let Some(open) = document.get() else {
        actions.clear();
        return;
    };
    let ways = ways.bypass_change_detection();
    for action in actions.read() {
        match action {
            Action::Ways => {
                let nodes = selection.outermost(&open.timeline);
                let is_step = |node: &NodeId| {
                    ways.found.as_ref().is_some_and(|found| found.route.iter().any(|step| step.node == Some(*node)))
                };
                if !ways.subject.is_empty() && (nodes.is_empty() || nodes == ways.nodes || nodes.iter().all(is_step)) {
                    ways.close();
                } else if nodes.is_empty() {
                    notices.tell("Select a building first, then U shows the ways from the GC roots to it");
                } else if open.source.heaps().is_none() {
                    notices.tell(NO_OBJECTS);
                } else {
                    ways.show(&open.timeline, nodes);
                }
            }
            Action::Cut => match ways.chosen.clone() {
                Some(choice) => ways.toggle_cut(&open.source, choice),
                None if ways.subject.is_empty() => notices
                    .tell("U shows the ways to the selection; choose a step or root in their list, then Del cuts it"),
                None => notices.tell("Choose a step or a root in the list of ways first: Del cuts it"),
            },
            _ => {}
        }
    }
}

fn grew(_: On<Grew>, document: Res<Document>, mut ways: ResMut<Ways>, mut notices: ResMut<Notices>) {
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
pub struct WaysPlugin;

impl Plugin for WaysPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Ways>()
            .add_observer(|_: On<Opened>, mut ways: ResMut<Ways>| ways.close())
            .add_observer(grew)
            .add_observer(|_: On<Closed>, mut ways: ResMut<Ways>| ways.close())
            .add_systems(Update, update.in_set(Stage::Derive))
            .add_systems(Update, act.in_set(Stage::Act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::timeline::AUTO;
    use std::path::Path;

    /// On the sample: what the city draws passes only groups that hold an object of a step, in every grouping; what a step
    /// frees is what its field frees.
    #[test]
    fn the_route_passes_groups_of_real_paths_and_a_cut_frees_what_its_field_does() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak");
        for grouping in [AUTO, "type", "owner", "package>type"] {
            let progress = Progress::new();
            let source = Source::open(std::slice::from_ref(&sample), grouping, Default::default(), &progress)
                .expect("the sample");
            let (timeline, history) = (source.timeline(), source.heaps().expect("dumps"));
            let time = timeline.times() - 1;
            let node = timeline.nodes().find(|&n| timeline.is_leaf(n) && timeline.name(n).ends_with("Person"));
            let node = node.expect("persons");
            let found = find(&source, time, &[node], first_question(), &progress).expect("ways");
            assert!(found.route.len() > 1, "{grouping}");
            for (at, step) in found.route.iter().enumerate() {
                let Some(of) = step.node else { continue };
                let here = history.objects_of(time, &[of], &progress).expect("objects").objects;
                assert!(found.ways.objects(at).iter().any(|o| here.contains(o.0)), "{grouping}: step {at}");
            }
            let item = found.ways.steps.iter().position(|step| step.text() == "java.util.LinkedList$Node.item");
            let item = CutChoice::Step(item.expect("nodes hold persons"));
            let by_step = freed(&source, &found, &item, &progress).expect("freed");
            let field = CutChoice::Root("java.util.LinkedList$Node.item".into());
            let by_field = freed(&source, &found, &field, &progress).expect("freed");
            // The field of all nodes; other lists may hold other things.
            assert!(by_step.total.objects <= by_field.total.objects && by_step.total.objects > 12_400, "{grouping}");
            let root = CutChoice::Root("Static field: register.store.PersonRegistry.PERSONS".into());
            let by_root = freed(&source, &found, &root, &progress).expect("freed");
            assert_eq!(by_root.total.objects, 6 * 12_400 + 1, "{grouping}");
            let sum: u64 = by_root.groups.iter().map(|(_, amount)| amount.bytes).sum();
            assert_eq!(sum + by_root.elsewhere.bytes, by_root.total.bytes, "{grouping}: each object in one group");
            let shares = shares(timeline, time, &by_root);
            assert!(shares.values().all(|share| (0.0..=1.0).contains(share)) && shares[&node] > 0.99, "{grouping}");
        }
    }
}
