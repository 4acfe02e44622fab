//! The search for the leak, the place in the program where objects accumulate: done in the background as soon as a program with a later
//! state is open. And the way to that place.
//!
//! The answer is that of the detectors that make the verdict; nothing is computed here. It is about a program, not about a grouping:
//! another grouping leaves it unchanged, and more points in time start the search again. For a live program the search starts only when a
//! person asks for the place, as each would go through all walks again.

use super::action::Action;
use super::document::{Closed, Document, OpenDocument, Opened};
use super::frame::{Awake, Stage};
use super::hint::HintStep;
use super::job::Job;
use super::loading::Loading;
use super::notices::Notices;
use super::selection::{Select, Selection};
use super::settings::Settings;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use memory_city_analysis::analyses::{self, Findings, LeakPlace, LeakVerdict, TimeWindow};
use memory_city_analysis::group;
use memory_city_analysis::timeline::{NodeId, Source};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::{Progress, Snapshot};
use std::sync::Arc;

/// The grouping in which each place is a node.
const OWNERS: &str = "owner";
const LOOKED_FOR: &str = "What leaks is still being looked for";

/// State of the search for the leak.
#[derive(Default)]
pub enum FindingState {
    /// No search was started, or the input has no answer.
    #[default]
    Nothing,
    /// It is being found out.
    Looking(Job<Result<Findings>>),
    /// Something leaks.
    Leaks(Box<LeakPlace>),
    /// No place does: the heap is well, grows as a whole, or could not be judged.
    NoPlace(LeakVerdict),
    /// It could not be found out: why.
    Failed(String),
}

/// The leak of the open program.
#[derive(Resource, Default)]
pub struct LeakSearch {
    known: FindingState,
    /// The points in time it was found for.
    of: Option<(u64, usize)>,
    opened: u64,
    hidden: bool,
    /// Only a line: the place was shown, or the selection would be covered by the card.
    folded: bool,
    /// Whether it has made room for the selection once: it does not fold again after a person unfolds it.
    made_room: bool,
    /// It made room once since the pane is small.
    made_small: bool,
    /// A person asked for all that is known: also where that covers much of the city.
    all: bool,
    /// The place to be shown once objects are grouped by owner.
    wanted: Option<String>,
    /// All that was found with it: also for the pane of analyses.
    findings: Option<Arc<Findings>>,
    /// Of a program that goes on: to be looked for once objects are grouped by owner, and shown.
    sought: bool,
}

impl LeakSearch {
    /// The result, unless it was put away.
    pub fn shown(&self) -> Option<&FindingState> {
        Some(&self.known).filter(|known| !self.hidden && !matches!(known, FindingState::Nothing))
    }

    /// The result, also where it was put away.
    pub fn known(&self) -> &FindingState {
        &self.known
    }

    /// The findings of an analysis with its defaults, once the search is over and if they are all there is.
    pub fn findings_of(&self, id: &str) -> Option<&Arc<Findings>> {
        let is_all = || analyses::deciding().all(|detector| detector.describe().id == id);
        self.findings.as_ref().filter(|_| is_all())
    }

    /// The verdict over the whole input, where the search is over.
    pub fn verdict(&self) -> Option<&LeakVerdict> {
        self.findings.as_ref()?.verdict.as_ref()
    }

    /// Whether it was put away.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// How far the search is.
    pub fn snapshot(&self) -> Option<Snapshot> {
        match &self.known {
            FindingState::Looking(job) => Some(job.snapshot()),
            _ => None,
        }
    }

    /// Ends the search.
    pub fn cancel(&mut self) {
        if let FindingState::Looking(job) = &self.known {
            job.cancel();
            (self.known, self.sought) = (FindingState::Nothing, false);
        }
    }

    /// Whether only a line is shown of it.
    pub fn is_folded(&self) -> bool {
        self.folded
    }

    /// Makes room, once, where it would cover most of the city.
    pub fn make_small(&mut self) {
        if !self.made_small && matches!(self.known, FindingState::Leaks(_)) {
            (self.made_small, self.folded) = (true, true);
        }
    }

    /// Shows all of it again.
    pub fn unfold(&mut self) {
        (self.folded, self.all) = (false, true);
    }

    /// Whether a person asked for all that is known.
    pub fn shows_all(&self) -> bool {
        self.all
    }

    /// The first sentences alone again.
    pub fn shorten(&mut self) {
        self.all = false;
    }

    /// Makes room for the first group that is selected.
    fn make_room(&mut self) {
        if !self.made_room && matches!(self.known, FindingState::Leaks(_)) {
            (self.made_room, self.folded) = (true, true);
        }
    }

    /// Finds it at once, for pictures without a window; as a line where something is selected.
    ///
    /// # Errors
    /// When the input cannot be read again, or the work was cancelled.
    pub fn preset(&mut self, source: &Source, selected: bool, progress: &Progress) -> Result<()> {
        let window = TimeWindow::whole(source.timeline());
        if analyses::can_decide(source, window).is_ok() {
            let found = analyses::decide(source, window, progress)?;
            self.findings = Some(Arc::new(found.clone()));
            self.known = known(Ok(Ok(found)));
        }
        if selected {
            self.make_room();
        }
        Ok(())
    }

    /// Whether the city shows the place of the card, or is on the way: that place is the selection among the owners.
    pub fn is_where_it_tells(&self, open: Option<&OpenDocument>, selected: Option<NodeId>) -> bool {
        let (FindingState::Leaks(leak), Some(open)) = (&self.known, open) else { return self.wanted.is_some() };
        let there = |node| LeakPlace::node_in(&leak.owner, &open.timeline) == Some(node);
        self.wanted.is_some() || open.made_with.grouping == OWNERS && selected.is_some_and(there)
    }

    /// Why there is no other place to turn to.
    fn no_other(&self) -> &'static str {
        match &self.known {
            FindingState::Leaks(_) => "No other place is known that leaks",
            FindingState::Looking(_) => LOOKED_FOR,
            FindingState::Nothing | FindingState::NoPlace(_) | FindingState::Failed(_) => {
                "No place is known that leaks"
            }
        }
    }

    /// All owners that were found, the first one first.
    pub fn owners(&self) -> impl Iterator<Item = LeakPlace> + '_ {
        (0..).map_while(|number| LeakPlace::of(self.findings.as_ref()?, number)).filter(|place| !place.owner.is_empty())
    }

    /// Turns to the next of several places, after the last to the first. Returns it, if there is another.
    fn turn(&mut self) -> Option<&LeakPlace> {
        let (FindingState::Leaks(leak), Some(findings)) = (&self.known, &self.findings) else { return None };
        let next = leak.number + 1;
        self.turn_to(if LeakPlace::of(findings, next).is_some() { next } else { 0 })
    }

    /// Turns to a place by its number. Returns it, if that is another one.
    pub fn turn_to(&mut self, number: usize) -> Option<&LeakPlace> {
        let (FindingState::Leaks(leak), Some(findings)) = (&mut self.known, &self.findings) else { return None };
        let next = LeakPlace::of(findings, number)?;
        if next.number == leak.number {
            return None;
        }
        let (notes, until) = (std::mem::take(&mut leak.notes), leak.until);
        **leak = LeakPlace { notes, until, ..next };
        // Folded it says which one it is as well, and stands before nothing.
        self.hidden = false;
        Some(leak)
    }

    /// Whether a place is about to be shown.
    pub fn is_going(&self) -> bool {
        self.wanted.is_some() || self.sought
    }

    /// Whether the result for a live program is older than the document, or missing.
    fn is_behind(&self, open: &OpenDocument) -> bool {
        let nothing = matches!(self.known, FindingState::Nothing);
        open.live.is_some() && (nothing || self.of != Some((self.opened, open.timeline.times())))
    }

    /// Shows the result, or the reason why there is none.
    fn end_search(&mut self, notices: &mut Notices) {
        let (_, times) = self.of.unwrap_or_default();
        match &mut self.known {
            FindingState::Leaks(leak) => {
                leak.until = Some(times);
                leak.notes.push(format!(
                    "Found in the first {times} walks; asked for again, it is looked for in all there are then"
                ));
                self.wanted = Some(leak.owner.clone());
            }
            FindingState::NoPlace(verdict) => notices.tell(verdict.line()),
            FindingState::Failed(why) => notices.tell(why.clone()),
            FindingState::Nothing | FindingState::Looking(_) => {}
        }
    }
}

/// The step of a hint that shows the owner of what leaks most, where it is known and the city does not show it.
pub fn step_to_owner(world: &World) -> Option<HintStep> {
    let search = world.resource::<LeakSearch>();
    let selected = world.get_resource::<Selection>().and_then(Selection::node);
    let there = search.is_where_it_tells(world.resource::<Document>().get(), selected);
    let known = matches!(search.known(), FindingState::Leaks(leak) if !leak.owner.is_empty());
    (known && !there).then(|| HintStep::action("Show what leaks most", Action::ShowOwner).opens("city"))
}

/// Why the owners of a document cannot be shown as groups, for people; `Ok` where they can.
pub fn owners_offered(source: &Source) -> std::result::Result<(), String> {
    let grouping = group::grouping(OWNERS).map_err(|error| error.to_string())?;
    source.offers(&grouping)
}

fn known(outcome: std::result::Result<Result<Findings>, String>) -> FindingState {
    match outcome {
        Ok(Ok(findings)) => match LeakPlace::of(&findings, 0) {
            Some(leak) => FindingState::Leaks(Box::new(leak)),
            None => FindingState::NoPlace(findings.verdict.unwrap_or_default()),
        },
        Ok(Err(Error::Cancelled)) => FindingState::Nothing,
        Ok(Err(error)) => FindingState::Failed(error.to_string()),
        Err(panic) => FindingState::Failed(panic),
    }
}

/// Looks for it when a program was opened, or has more points in time, and takes the answer.
fn follow(
    mut finding: ResMut<LeakSearch>,
    document: Res<Document>,
    loading: Res<Loading>,
    windows: Query<(), With<PrimaryWindow>>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let finding = &mut *finding;
    if let FindingState::Looking(job) = &finding.known {
        awake.wait_if(true);
        if let Some(outcome) = job.poll() {
            finding.findings = outcome.as_ref().ok().and_then(|found| found.as_ref().ok()).cloned().map(Arc::new);
            finding.known = known(outcome);
            match &finding.known {
                FindingState::Leaks(leak) => tracing::debug!("leak: {}", leak.place),
                FindingState::NoPlace(verdict) => tracing::debug!("leak: none: {}", verdict.line()),
                FindingState::Failed(why) => tracing::warn!("what leaks cannot be found: {why}"),
                FindingState::Nothing | FindingState::Looking(_) => {}
            }
            if std::mem::take(&mut finding.sought) {
                finding.end_search(&mut notices);
            }
        }
    }
    // While a trace is read there is more to come; pictures without a window do not ask.
    let Some(open) = document.get().filter(|_| !loading.active() && !windows.is_empty()) else { return };
    let looks = matches!(finding.known, FindingState::Looking(_));
    if open.live.is_some() && (looks || !finding.sought || open.made_with.grouping != OWNERS) {
        return;
    }
    let of = (finding.opened, open.timeline.times());
    if finding.of == Some(of) {
        return;
    }
    finding.of = Some(of);
    (finding.known, finding.findings) = (FindingState::Nothing, None);
    let window = TimeWindow::whole(&open.timeline);
    let can = analyses::can_decide(&open.source, window);
    if let Err(why) = &can
        && std::mem::take(&mut finding.sought)
    {
        notices.tell(why.to_string());
    }
    if can.is_ok() {
        let source = Arc::clone(&open.source);
        finding.known =
            FindingState::Looking(Job::behind_frames(move |progress| analyses::decide(&source, window, progress)));
        awake.keep_if(true);
    }
}

/// Shows the place, puts the answer away or brings it back.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn act(
    mut finding: ResMut<LeakSearch>,
    mut actions: ParamSet<(MessageReader<Action>, MessageWriter<Action>)>,
    document: Res<Document>,
    loading: Res<Loading>,
    mut settings: ResMut<Settings>,
    mut selection: ResMut<Selection>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let finding = &mut *finding;
    let asked: Vec<Action> = actions.p0().read().copied().collect();
    for action in asked {
        match action {
            Action::ShowOwner => match &finding.known {
                FindingState::Looking(_) => notices.tell(LOOKED_FOR),
                // Another place than the first that somebody has turned to stays the one that is meant.
                FindingState::Leaks(leak) if leak.number > 0 => {
                    finding.wanted = Some(leak.owner.clone());
                    show_owners(&mut settings);
                }
                _ if document.get().is_some_and(|open| finding.is_behind(open) && open.source.can_regroup()) => {
                    (finding.sought, finding.of, finding.hidden) = (true, None, false);
                    show_owners(&mut settings);
                }
                FindingState::Leaks(leak) => {
                    finding.wanted = Some(leak.owner.clone());
                    show_owners(&mut settings);
                }
                FindingState::NoPlace(verdict) => notices.tell(verdict.line()),
                FindingState::Failed(why) => notices.tell(why.clone()),
                FindingState::Nothing if document.get().is_none() => notices.tell("Nothing is open"),
                FindingState::Nothing => {
                    notices.tell("What leaks is not known: that takes several heap dumps, or a trace")
                }
            },
            Action::Finding => (finding.hidden, finding.folded) = (!finding.hidden, false),
            Action::NextPlace => {
                let there = finding.is_where_it_tells(document.get(), selection.node());
                let next = finding.turn().map(|leak| leak.owner.clone());
                match next {
                    // The city goes where the card is: each would tell of another place.
                    Some(owner) if there => {
                        finding.wanted = Some(owner);
                        show_owners(&mut settings);
                    }
                    Some(owner) => tracing::debug!("leak: {owner}"),
                    None => notices.tell(finding.no_other()),
                }
            }
            _ => {}
        }
    }
    if selection.node().is_some() {
        finding.make_room();
    }
    if !finding.is_going() {
        return;
    }
    awake.wait_if(true);
    let Some(open) = document.get() else { return };
    let Some(owner) = &finding.wanted else {
        if open.made_with.grouping != OWNERS && (settings.grouping != OWNERS || loading.refuses(&settings)) {
            // As below.
            finding.sought = false;
            settings.grouping.clone_from(&open.made_with.grouping);
        }
        return;
    };
    if open.made_with.grouping == OWNERS {
        match LeakPlace::node_in(owner, &open.timeline) {
            Some(node) => {
                selection.select(&open.timeline, node);
                finding.folded = true;
                // The city is that of these trees: they came together.
                actions.p1().write(Action::Focus);
            }
            None => notices.tell("The place is not among the owners at this time"),
        }
        finding.wanted = None;
    } else if settings.grouping != OWNERS || loading.refuses(&settings) {
        // Another grouping was chosen meanwhile, or this one cannot be had: why was told.
        finding.wanted = None;
        settings.grouping.clone_from(&open.made_with.grouping);
    }
}

/// The owners are to be shown, where something else is.
fn show_owners(settings: &mut ResMut<Settings>) {
    if settings.grouping != OWNERS {
        OWNERS.clone_into(&mut settings.grouping);
    }
}

fn opened(_: On<Opened>, mut finding: ResMut<LeakSearch>) {
    *finding = LeakSearch { opened: finding.opened + 1, ..LeakSearch::default() };
}

fn closed(_: On<Closed>, mut finding: ResMut<LeakSearch>) {
    *finding = LeakSearch { opened: finding.opened + 1, ..LeakSearch::default() };
}

/// Search for the leak.
pub struct FindingPlugin;

impl Plugin for FindingPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<LeakSearch>()
            .add_observer(opened)
            .add_observer(closed)
            .add_systems(Update, follow.in_set(Stage::Derive))
            .add_systems(Update, act.in_set(Stage::Act));
    }
}

#[cfg(test)]
pub(crate) mod tests;
