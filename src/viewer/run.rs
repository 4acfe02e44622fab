//! The run as a whole, analysed in the background: its collections, its memory, and its suspicious windows, which every chart marks.
//!
//! The facts are [`memory_city_analysis::run`]'s; this module only finds the points in time between which a window lies.

use super::document::{Closed, Document, Opened};
use super::finding::LeakSearch;
use super::frame::{Awake, Stage};
use super::job::Job;
use super::loading::Loading;
use super::panels::PanelState;
use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;
use memory_city_analysis::analyses::{LeakVerdict, TimeWindow};
use memory_city_analysis::run::RunFacts;
use memory_city_analysis::timeline::{Timeline, by_uptime};
use memory_city_analysis::trends::CountsBetween;
use memory_city_analysis::windows::WindowRules;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_views::overview::{TimeAxis, WindowKind, window_marks};
use std::sync::Arc;

/// Most collections of the whole heap after which the memory reachable from roots is computed.
const STATES: usize = 60;
/// Runs with more points in time are looked at twice: first without these states, which are replayed one by one.
const LONG: usize = 1000;

const NANOS: u64 = 1_000_000;

/// A suspicious window, between two points in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspectWindow {
    /// Which kind.
    pub kind: WindowKind,
    /// The first point in time.
    pub from: usize,
    /// The last.
    pub to: usize,
    /// Description, a sentence.
    pub text: String,
}

/// A look at a run.
#[derive(Clone, Copy)]
struct RunLook {
    /// When the document came that it is of.
    document: Tick,
    /// Whether a search with states follows.
    is_first: bool,
}

/// Result of a search.
type Looked = (RunFacts, Option<CountsBetween>);

/// Facts about the open run.
#[derive(Resource, Default)]
pub struct OpenRun {
    facts: Option<Arc<RunFacts>>,
    /// When the document came that they are of.
    of: Option<Tick>,
    /// The document of which everything is known but the part that needs states.
    first_of: Option<Tick>,
    /// Counts by class between its points in time.
    between: Option<Arc<CountsBetween>>,
    job: Option<(RunLook, Job<Result<Looked>>)>,
    /// The thresholds.
    rules: WindowRules,
    suspects: Vec<SuspectWindow>,
    error: Option<String>,
    /// Whether a view has looked at it: a picture of the city alone does not pay for it.
    wanted: bool,
}

impl OpenRun {
    /// For who draws it: it is found out from now on.
    pub fn asked(&mut self) -> &mut OpenRun {
        self.wanted = true;
        self
    }

    /// The facts, once they are known.
    pub fn facts(&self) -> Option<&Arc<RunFacts>> {
        self.facts.as_ref()
    }

    /// Counts by class between its points in time, if there are any.
    pub fn between(&self) -> Option<&Arc<CountsBetween>> {
        self.between.as_ref()
    }

    /// The windows beyond their thresholds.
    pub fn suspects(&self) -> &[SuspectWindow] {
        &self.suspects
    }

    /// The thresholds.
    pub fn rules(&self) -> WindowRules {
        self.rules
    }

    /// Sets other thresholds: windows are found anew at once.
    pub fn set_rules(&mut self, rules: WindowRules, timeline: &Timeline) {
        self.rules = rules;
        self.find(timeline);
    }

    /// Why nothing is known.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// A run with some windows.
    #[cfg(test)]
    pub(crate) fn of(suspects: Vec<SuspectWindow>) -> OpenRun {
        OpenRun { suspects, ..OpenRun::default() }
    }

    fn find(&mut self, timeline: &Timeline) {
        self.suspects.clear();
        let Some(facts) = &self.facts else { return };
        let moments = Moments::new(timeline, facts);
        let (from, to) = (facts.measures.began, facts.ended.max(facts.measures.began + 1));
        let axis = TimeAxis { from, to, x: 0.0, w: 1.0, is_epoch: facts.measures.is_epoch };
        for mark in window_marks(facts, &self.rules, &axis).into_iter().filter(|mark| mark.is_suspicious) {
            let (from, to) = (moments.point(mark.from), moments.point(mark.to));
            if from < to {
                self.suspects.push(SuspectWindow { kind: mark.kind, from, to, text: mark.text });
            }
        }
    }

    fn take(&mut self, look: RunLook, outcome: Result<Looked>, timeline: &Timeline) {
        match look.is_first && outcome.is_ok() {
            true => self.first_of = Some(look.document),
            false => self.of = Some(look.document),
        }
        match outcome {
            Ok((facts, between)) => {
                (self.facts, self.error) = (Some(Arc::new(facts)), None);
                self.between = between.map(Arc::new);
                self.find(timeline);
                tracing::debug!("run: {} suspicious windows", self.suspects.len());
            }
            Err(Error::Cancelled) => {}
            Err(error) => self.error = Some(error.to_string()),
        }
    }
}

/// Conversion between times of a run, nanoseconds, and points in time.
pub struct Moments {
    /// By point, on the clock of the run.
    times: Vec<u64>,
}

impl Moments {
    /// Points of recordings have times of day, their collections times since the program started: the first state is known by both.
    pub fn new(timeline: &Timeline, facts: &RunFacts) -> Moments {
        let points = timeline.points();
        let of_day = !by_uptime(points);
        let first = points.first().map_or(0, |point| point.millis.saturating_mul(NANOS));
        let offset = match facts.measures.levels.first() {
            Some(level) if of_day && !facts.measures.is_epoch => first.saturating_sub(level.time),
            _ => 0,
        };
        let time = |millis: u64| millis.saturating_mul(NANOS).saturating_sub(offset);
        Moments { times: points.iter().map(|point| time(point.millis)).collect() }
    }

    /// When a point in time is.
    pub fn time(&self, point: usize) -> u64 {
        self.times.get(point).copied().unwrap_or(0)
    }

    /// Place of a time among the points: 2.5 is in the middle between the third and the fourth. `None` before the first and after the
    /// last, by more than the millisecond that points know.
    pub fn place(&self, time: u64) -> Option<f64> {
        let (first, last) = (*self.times.first()?, *self.times.last()?);
        if time.saturating_add(NANOS) < first || time > last.saturating_add(NANOS) {
            return None;
        }
        let after = self.times.partition_point(|at| *at < time).min(self.times.len() - 1);
        let before = after.saturating_sub(1);
        let (from, to) = (self.time(before), self.time(after));
        let share = time.saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64;
        Some(before as f64 + share.min((after - before) as f64))
    }

    /// The point in time that is nearest.
    pub fn point(&self, time: u64) -> usize {
        let after = self.times.partition_point(|at| *at < time).min(self.times.len().saturating_sub(1));
        let before = after.saturating_sub(1);
        if self.time(after).abs_diff(time) <= self.time(before).abs_diff(time) { after } else { before }
    }
}

fn look(
    document: Res<Document>,
    (panels, loading, leak): (Res<PanelState>, Option<Res<Loading>>, Option<Res<LeakSearch>>),
    mut run: ResMut<OpenRun>,
    mut awake: ResMut<Awake>,
) {
    let run = &mut *run;
    let Some(open) = document.get() else { return };
    // One verdict: where nothing accumulates, no window is a leak.
    let is_well = leak.and_then(|leak| leak.verdict().map(LeakVerdict::is_well)).unwrap_or(false);
    if run.rules.is_well != is_well {
        run.set_rules(WindowRules { is_well, ..run.rules }, &open.timeline);
    }
    if let Some(outcome) = run.job.as_ref().and_then(|(_, job)| job.poll())
        && let Some((look, _)) = run.job.take()
    {
        match outcome {
            Ok(outcome) => run.take(look, outcome, &open.timeline),
            Err(panic) => (run.of, run.error) = (Some(look.document), Some(panic)),
        }
    }
    let of = document.last_changed();
    let times = open.timeline.times();
    if run.wanted && run.of != Some(of) && run.job.is_none() && times > 1 {
        let source = Arc::clone(&open.source);
        // While more is being read, what replays it from the beginning waits; of a long run it comes second.
        let is_opening = loading.is_some_and(|loading| loading.is_opening());
        let is_first = !panels.still && !is_opening && times > LONG && run.first_of != Some(of);
        let states = if is_opening || is_first { 0 } else { STATES };
        let look = RunLook { document: of, is_first };
        let work = move |progress: &Progress| {
            let facts = RunFacts::of(&source, TimeWindow { from: 0, to: times - 1 }, states, progress)?;
            Ok((facts, CountsBetween::of(&source)))
        };
        if panels.still {
            let outcome = work(&Progress::new());
            run.take(look, outcome, &open.timeline);
        } else {
            // The overview waits for what is found first; the rest may take its time.
            let job = if is_first { Job::start(work) } else { Job::behind_frames(work) };
            run.job = Some((look, job));
        }
    }
    awake.wait_if(run.job.is_some());
}

/// Keeps the facts about the run.
pub struct RunPlugin;

impl Plugin for RunPlugin {
    fn build(&self, app: &mut App) {
        let forget = |run: &mut OpenRun| *run = OpenRun { rules: run.rules, ..OpenRun::default() };
        app.init_resource::<OpenRun>()
            .add_observer(move |_: On<Opened>, mut run: ResMut<OpenRun>| forget(&mut run))
            .add_observer(move |_: On<Closed>, mut run: ResMut<OpenRun>| forget(&mut run))
            .add_systems(Update, look.in_set(Stage::Derive));
    }
}
