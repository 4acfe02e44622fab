//! Comparisons: another run beside the open one, or two times of it. A comparison is a document of its own, with two points in time,
//! shown in the place of the run that it was made from. Every view shows it, and the city has the earlier state as its base. Ending it
//! brings the run back, unchanged.
//!
//! Work is done by jobs; [`made`] builds the result. A document carries its comparison as prepared data, however it is opened: by an
//! action, a view file, the command line.

mod shown_comparison;

pub use shown_comparison::{CompareWish, FirstRun, ShownComparison, draft, open};

use super::action::Action;
use super::clock::Clock;
use super::dock::Dock;
use super::document::{self, Arrival, Closed, Document, Draft, Grew, Opened, Preparations};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::notices::Notices;
use super::selection::Selection;
use super::settings::{PartKey, Settings};
use super::view::Views;
use super::view_file::AwaitedView;
use bevy::prelude::*;
use memory_city_analysis::timeline::Source;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Snapshot;
use std::sync::Arc;

/// State of the view before a document made room for a comparison.
#[derive(Clone)]
struct WayBack {
    time: usize,
    range: Option<(usize, usize)>,
    base: Option<usize>,
    colour: String,
    window: Option<(usize, usize)>,
    parts: Vec<PartKey>,
    selected: Vec<String>,
}

/// Purpose of a job.
enum ComparisonAim {
    /// A comparison of the open input.
    New,
    /// The same at another place.
    Other,
    /// Brings back the earlier document.
    Back,
}

/// The comparison that is shown, if any, and work on one.
#[derive(Resource, Default)]
pub struct OpenComparison {
    shown: Option<Arc<ShownComparison>>,
    job: Option<(ComparisonAim, Job<Result<Draft>>)>,
    back: Option<WayBack>,
    /// State of the view to restore, once its document is there.
    returns: Option<WayBack>,
    /// A comparison that a person asked for.
    pub wish: Option<CompareWish>,
    /// The wanted grouping of both sides.
    pub regroup: Option<String>,
    /// A comparison to make with the next document: from the command line, or a view file.
    pub with_next: Option<CompareWish>,
    /// Whether the view with table and curves is wanted in front.
    pub show_view: bool,
    /// Why the last one could not be made.
    pub failed: Option<String>,
    /// Something was opened before.
    has_opened: bool,
}

impl OpenComparison {
    /// The comparison on screen.
    pub fn shown(&self) -> Option<&Arc<ShownComparison>> {
        self.shown.as_ref()
    }

    /// How far work on one is.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.job.as_ref().map(|(_, job)| job.snapshot())
    }

    /// Stops work on one. Returns whether there was any.
    pub fn escape(&mut self) -> bool {
        if let Some((_, job)) = &self.job {
            job.cancel();
        }
        self.job.is_some()
    }

    fn taken(&mut self, document: &mut Document) -> bool {
        let shown: Option<Arc<ShownComparison>> = document.prepared().take(shown_comparison::ID);
        if let Some(shown) = &shown {
            tracing::debug!("comparison: {}", shown.told.sentence);
        }
        let is_one = shown.is_some();
        self.shown = shown;
        is_one
    }
}

fn opened(
    _: On<Opened>,
    mut document: ResMut<Document>,
    mut comparison: ResMut<OpenComparison>,
    mut settings: ResMut<Settings>,
    awaited: Res<AwaitedView>,
) {
    if comparison.taken(&mut document) {
        if comparison.back.is_none() {
            // Opened as a comparison: the way back leads to the run as if it had been opened alone.
            comparison.back = Some(WayBack {
                time: usize::MAX,
                range: None,
                base: None,
                colour: settings.colour.clone(),
                window: None,
                parts: Vec::new(),
                selected: Vec::new(),
            });
        }
        // The first run is what the second is compared with.
        settings.compare_with(Some(0));
        settings.window = None;
    } else {
        // Times of one input are none of another. What the first is opened with was asked for, by a command, and so is what a view file says.
        if comparison.has_opened && awaited.0.is_none() {
            if settings.base.is_some() {
                settings.compare_with(None);
            }
            settings.window = None;
        }
        // Another program: nothing leads back from it.
        (comparison.back, comparison.failed) = (None, None);
    }
    comparison.has_opened = true;
}

fn grew(_: On<Grew>, mut document: ResMut<Document>, mut comparison: ResMut<OpenComparison>) {
    // More of the same comparison says so; anything else leaves it as it is.
    let before = comparison.shown.clone();
    if !comparison.taken(&mut document) {
        comparison.shown = before;
    }
}

/// Looks at the open document, starts requested work, and installs the results.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn work(
    mut actions: MessageReader<Action>,
    mut comparison: ResMut<OpenComparison>,
    document: Res<Document>,
    (mut settings, preparations): (ResMut<Settings>, Res<Preparations>),
    (clock, selection): (Res<Clock>, Res<Selection>),
    mut notices: ResMut<Notices>,
    mut commands: Commands,
    mut awake: ResMut<Awake>,
) {
    let comparison = &mut *comparison;
    let mut ends = false;
    for action in actions.read() {
        match action {
            Action::EndComparison => ends = true,
            Action::DifferenceTrees => match difference_wish(&document, &settings, &clock, comparison) {
                Ok(wish) => comparison.wish = Some(wish),
                Err(why) => notices.tell(why),
            },
            _ => {}
        }
    }
    if let Some(outcome) = comparison.job.as_ref().and_then(|(_, job)| job.poll())
        && let Some((making, _)) = comparison.job.take()
    {
        match outcome {
            Ok(Ok(draft)) => {
                let arrival = if matches!(making, ComparisonAim::Other) { Arrival::Anew } else { Arrival::Opened };
                if matches!(making, ComparisonAim::Back) {
                    comparison.returns = comparison.back.take();
                }
                // Both runs may have been grouped anew: the settings say how, when it is done.
                if settings.grouping != draft.made_with.grouping {
                    settings.grouping.clone_from(&draft.made_with.grouping);
                }
                document::install_later(&mut commands, draft, arrival);
            }
            Ok(Err(Error::Cancelled)) => notices.tell("Comparing was cancelled: what was there stays"),
            Ok(Err(error)) => comparison.failed = Some(error.to_string()),
            Err(panic) => comparison.failed = Some(panic),
        }
        if let Some(why) = &comparison.failed {
            tracing::debug!("comparison failed: {why}");
            notices.tell(format!("It could not be compared: {why}"));
        }
    }
    awake.wait_if(comparison.job.is_some());
    let Some(open) = document.get() else { return };
    if ends && let Some(shown) = comparison.shown.clone() {
        let preparations = preparations.clone();
        let job = Job::start(move |_| {
            let FirstRun { title, source, made_with } = shown.first.clone();
            Ok(Draft::new(title, source, None, &made_with, &preparations, Arrival::Opened))
        });
        comparison.job = Some((ComparisonAim::Back, job));
        return;
    }
    if let (Some(grouping), Some(shown)) = (comparison.regroup.take(), comparison.shown.clone()) {
        let preparations = preparations.clone();
        let job = Job::start(move |progress| {
            let mut first = shown.first.clone();
            first.made_with.grouping = grouping;
            let anew = |source: &Arc<Source>| -> Result<Arc<Source>> {
                let made_with = &first.made_with;
                source.regroup(&made_with.grouping, made_with.group_options(), progress).map(Arc::new)
            };
            let source = anew(&first.source)?;
            let second =
                shown.told.second.as_ref().map(|(name, source)| Ok((name.clone(), anew(source)?))).transpose()?;
            first.source = source;
            draft(first, shown.wish.clone(), second, &preparations, Arrival::Anew, progress)
        });
        comparison.job = Some((ComparisonAim::Other, job));
        return;
    }
    let Some(wish) = comparison.wish.take() else { return };
    if open.live.is_some() {
        notices
            .tell("A program that still sends cannot be compared: record it first, or save it with  memory-city push");
        return;
    }
    comparison.failed = None;
    let (first, second, making) = match &comparison.shown {
        // Another place, or another second run, beside the same first one.
        Some(shown) => {
            let same = |shown: &&Arc<ShownComparison>| match (&shown.wish, &wish) {
                (CompareWish::Run { data, .. }, CompareWish::Run { data: wanted, .. }) => data == wanted,
                _ => false,
            };
            let second = Some(shown).filter(same).and_then(|shown| shown.told.second.clone());
            (shown.first.clone(), second, ComparisonAim::Other)
        }
        None => {
            comparison.back = Some(WayBack {
                time: clock.time,
                range: clock.chosen(),
                base: settings.base,
                colour: settings.colour.clone(),
                window: settings.window,
                parts: settings.parts.clone(),
                selected: selection.nodes().map(|node| open.timeline.key(node)).collect(),
            });
            let first = FirstRun {
                title: open.title.clone(),
                source: Arc::clone(&open.source),
                made_with: open.made_with.clone(),
            };
            (first, None, ComparisonAim::New)
        }
    };
    let arrival = if matches!(making, ComparisonAim::Other) { Arrival::Anew } else { Arrival::Opened };
    let preparations = preparations.clone();
    let job = Job::start(move |progress| draft(first, wish, second, &preparations, arrival, progress));
    comparison.job = Some((making, job));
}

/// The difference of base and shown time; of the first and the shown one where there is no base.
fn difference_wish(
    document: &Document,
    settings: &Settings,
    clock: &Clock,
    comparison: &OpenComparison,
) -> std::result::Result<CompareWish, String> {
    if comparison.shown.is_some() {
        return Err("A comparison is shown: end it first".to_owned());
    }
    let times = document.timeline().map_or(0, |timeline| timeline.times());
    let (first, last) = clock.range();
    let base = settings.base.filter(|base| *base < times).unwrap_or(first);
    let other = if base == clock.time { last } else { clock.time };
    if base == other || times < 2 {
        return Err("Only one state is open: open a second one of the same program, taken later".to_owned());
    }
    Ok(CompareWish::Times { from: base.min(other) + 1, to: base.max(other) + 1 })
}

/// Restores the state of the view from before a comparison.
fn come_back(
    mut comparison: ResMut<OpenComparison>,
    document: Res<Document>,
    (mut clock, mut settings): (ResMut<Clock>, ResMut<Settings>),
    mut selection: ResMut<Selection>,
) {
    if comparison.returns.is_none() || comparison.shown.is_some() {
        return;
    }
    let Some(back) = comparison.returns.take() else { return };
    let Some(open) = document.get() else { return };
    clock.jump(back.time);
    clock.set_range(back.range);
    settings.compare_with(back.base);
    settings.set_colour(&back.colour);
    settings.window = back.window;
    if settings.parts != back.parts {
        settings.parts = back.parts;
    }
    let nodes: Vec<_> = back.selected.iter().filter_map(|key| open.timeline.find(key)).collect();
    if !nodes.is_empty() {
        selection.select_all(&open.timeline, nodes);
    }
    tracing::debug!("comparison: ended");
}

fn show_view(mut comparison: ResMut<OpenComparison>, mut dock: ResMut<Dock>, views: Res<Views>) {
    if !comparison.show_view {
        return;
    }
    comparison.show_view = false;
    if let Some(view) = views.get(shown_comparison::ID) {
        dock.bring_to_front(view, &views);
    }
}

/// Comparisons.
pub struct ComparisonPlugin;

impl Plugin for ComparisonPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<OpenComparison>()
            .add_observer(opened)
            .add_observer(grew)
            .add_observer(|_: On<Closed>, mut comparison: ResMut<OpenComparison>| comparison.shown = None)
            .add_systems(Update, work.in_set(Stage::Load))
            .add_systems(Update, (come_back, show_view).in_set(Stage::Act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of one input are none of another; those that the first is opened with were asked for.
    #[test]
    fn what_was_compared_in_one_input_is_not_carried_to_another() {
        let mut app = App::new();
        app.init_resource::<Document>().init_resource::<OpenComparison>().init_resource::<Settings>();
        app.init_resource::<AwaitedView>();
        app.add_observer(opened);
        let look = |app: &App| {
            let settings = app.world().resource::<Settings>();
            (settings.base, settings.window, settings.colour.clone())
        };
        let mut settings = app.world_mut().resource_mut::<Settings>();
        settings.compare_with(Some(3));
        settings.window = Some((1, 4));
        app.world_mut().trigger(Opened);
        assert_eq!(look(&app), (Some(3), Some((1, 4)), "change".to_owned()));
        app.world_mut().trigger(Opened);
        assert_eq!(look(&app), (None, None, "growth".to_owned()));
        // Who has chosen a colour has chosen it for whatever comes.
        app.world_mut().resource_mut::<Settings>().set_colour("change");
        app.world_mut().trigger(Opened);
        assert_eq!(look(&app).2, "change");
    }
}
