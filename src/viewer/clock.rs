//! The clock of the viewer: the shown point in time, automatic play, and the progress of the animated step. Shared by all views.
//!
//! It knows the number of points in time, and nothing of their content: views follow it.

use super::action::Action;
use super::document::{Closed, Document, Grew, Opened};
use super::frame::{Awake, Stage};
use super::settings::Settings;
use bevy::prelude::*;
use memory_city_analysis::timeline::TimePoint;

/// The shown point in time.
#[derive(Resource, Default)]
pub struct Clock {
    /// Index of the point in time that is shown or moved to.
    pub time: usize,
    /// Whether time steps by itself.
    pub playing: bool,
    /// The part of the run that a person has chosen, by its first and last point in time: it is played, and charts rank by it. Chosen in
    /// one view, it is that of all.
    range: Option<(usize, usize)>,
    /// How many points in time there are.
    times: usize,
    /// Their identities.
    points: Vec<Moment>,
    /// Seconds the current state has been shown while playing.
    shown_for: f32,
    /// Progress of the step, 0 to 1; 1 when it is done.
    progress: f32,
    /// Whether the progress of the step is set from outside.
    held: bool,
}

/// Identity of a point in time among those of the same program: its time, its name, and for a garbage collection whether it is its end.
type Moment = (u64, String, Option<bool>);

fn moment(point: &TimePoint) -> Moment {
    (point.millis, point.label.clone(), point.gc.as_ref().map(|gc| gc.end))
}

impl Clock {
    /// Remembers the points in time, to find the shown moment again among later ones.
    fn take_points(&mut self, points: &[TimePoint]) {
        self.times = points.len();
        self.points = points.iter().map(moment).collect();
    }

    /// A clock of so many points in time, at the first.
    #[cfg(test)]
    pub(crate) fn of(times: usize) -> Clock {
        Clock { times, ..Clock::default() }
    }

    /// Index of the last point in time.
    pub fn last(&self) -> usize {
        self.times.saturating_sub(1)
    }

    /// The first and last point in time of the chosen part; of the whole run where none is chosen.
    pub fn range(&self) -> (usize, usize) {
        let (first, last) = self.range.unwrap_or((0, self.last()));
        (first.min(self.last()), last.min(self.last()))
    }

    /// The chosen part, where one is.
    pub fn chosen(&self) -> Option<(usize, usize)> {
        self.range.map(|_| self.range()).filter(|(first, last)| first < last)
    }

    /// Chooses the part between two points in time, in either order; the whole run for a part of one, or `None`.
    pub fn set_range(&mut self, range: Option<(usize, usize)>) {
        let range = range.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b)));
        if self.range != range {
            self.range = range;
            match range {
                Some((first, last)) => tracing::debug!("window of time: {} to {}", first + 1, last + 1),
                None => tracing::debug!("window of time: all"),
            }
        }
    }

    /// Lets `seconds` pass while playing, each state shown for `interval`. Intervals shorter than a frame skip states. Stops at the end,
    /// or begins again.
    fn play_on(&mut self, seconds: f32, interval: f32, repeat: bool) {
        let (first, last) = self.range();
        let interval = interval.max(0.005);
        self.shown_for += seconds;
        if self.shown_for < interval {
            return;
        }
        let steps = (self.shown_for / interval) as usize;
        let left = self.shown_for - steps as f32 * interval;
        if self.time >= last {
            if repeat && first < last { self.step_to(first) } else { self.playing = false }
        } else {
            let to = self.time.max(first).saturating_add(steps).min(last);
            self.step_to(to);
            self.shown_for = left;
        }
    }

    /// Shows `time` at once.
    pub fn jump(&mut self, time: usize) {
        self.time = time.min(self.last());
        (self.progress, self.held) = (1.0, false);
        self.shown_for = 0.0;
    }

    /// Moves to `time` in one animated step.
    pub fn step_to(&mut self, time: usize) {
        let time = time.min(self.last());
        if time != self.time {
            self.time = time;
            self.progress = 0.0;
            self.shown_for = 0.0;
        }
    }

    /// Sets the progress of the step to `time`, and holds it until it is set again: for pictures of a step.
    pub fn hold(&mut self, time: usize, progress: f32) {
        self.step_to(time);
        (self.progress, self.held) = (progress, progress < 1.0);
    }

    /// Progress of the step with a soft start and end, 0 to 1.
    pub fn eased(&self) -> f32 {
        let x = self.progress.clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    }

    /// Whether the picture changes without input.
    pub fn moving(&self) -> bool {
        self.playing || self.progress < 1.0
    }
}

fn opened(_: On<Opened>, document: Res<Document>, mut clock: ResMut<Clock>) {
    // Open on the change: the last state, where growth is visible.
    *clock = Clock::default();
    clock.take_points(document.timeline().map_or(&[], |timeline| timeline.points()));
    let last = clock.last();
    clock.jump(last);
}

fn grew(_: On<Grew>, document: Res<Document>, mut clock: ResMut<Clock>) {
    // Who looks at the last time goes on with it; who looks back stays there.
    let follows = clock.time >= clock.last();
    let shown = clock.points.get(clock.time).cloned();
    clock.take_points(document.timeline().map_or(&[], |timeline| timeline.points()));
    let last = clock.last();
    // Points may have come between: the moment that is shown stays, not its number.
    let same = shown.and_then(|shown| clock.points.iter().position(|point| *point == shown));
    if let Some(same) = same.filter(|same| !follows && *same != clock.time) {
        clock.jump(same);
    } else if clock.time > last {
        clock.jump(last);
    } else if follows {
        clock.step_to(last);
    }
}

fn closed(_: On<Closed>, mut clock: ResMut<Clock>) {
    *clock = Clock { progress: 1.0, ..Clock::default() };
}

/// Handles the time actions and lets time pass.
fn run_clock(
    mut clock: ResMut<Clock>,
    mut settings: ResMut<Settings>,
    time: Res<Time>,
    mut actions: MessageReader<Action>,
    mut awake: ResMut<Awake>,
) {
    let last = clock.last();
    for action in actions.read() {
        match action {
            Action::Next => {
                let to = clock.time + 1;
                clock.step_to(to);
            }
            Action::Previous => {
                let to = clock.time.saturating_sub(1);
                clock.step_to(to);
            }
            Action::First => clock.step_to(0),
            Action::Last => clock.step_to(last),
            Action::Play => {
                let (first, last) = clock.range();
                clock.playing = !clock.playing && last > first;
                clock.shown_for = 0.0;
                // Playing from the end starts over: otherwise nothing would happen.
                if clock.playing && !(first..last).contains(&clock.time) {
                    clock.step_to(first);
                }
            }
            Action::Repeat => settings.repeat = !settings.repeat,
            _ => {}
        }
    }
    awake.keep_if(clock.moving());
    let delta = time.delta_secs();
    if clock.progress < 1.0 && !clock.held {
        let speed = if settings.animation > 0.0 && !settings.reduced_motion { delta / settings.animation } else { 1.0 };
        clock.progress = (clock.progress + speed).min(1.0);
    }
    if clock.playing {
        // After a stall it goes on where it was.
        clock.play_on(delta.min(0.25), settings.interval, settings.repeat);
    }
}

/// Time.
pub struct ClockPlugin;

impl Plugin for ClockPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Clock { progress: 1.0, ..Clock::default() })
            .add_observer(opened)
            .add_observer(grew)
            .add_observer(closed)
            .add_systems(Update, run_clock.in_set(Stage::Act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: usize) -> Clock {
        Clock { progress: 1.0, playing: true, ..Clock::of(times) }
    }

    #[test]
    fn play_stays_in_its_range_stops_at_the_end_or_begins_again() {
        let mut once = clock(20);
        once.set_range(Some((9, 4)));
        once.step_to(4);
        let mut seen = Vec::new();
        for _ in 0..40 {
            seen.push(once.time);
            once.play_on(0.1, 0.1, false);
        }
        seen.dedup();
        assert_eq!(seen, [4, 5, 6, 7, 8, 9]);
        assert!(!once.playing);
        let mut over = clock(20);
        over.set_range(Some((4, 6)));
        over.step_to(4);
        let mut seen = Vec::new();
        for _ in 0..7 {
            seen.push(over.time);
            over.play_on(0.1, 0.1, true);
        }
        assert_eq!(seen, [4, 5, 6, 4, 5, 6, 4]);
        over.set_range(Some((3, 3)));
        assert!(over.chosen().is_none() && over.range() == (0, 19));
    }

    #[test]
    fn fifty_times_as_fast_passes_a_hundred_states_in_a_second() {
        let mut clock = clock(5000);
        for _ in 0..60 {
            clock.play_on(1.0 / 60.0, 0.01, false);
        }
        assert!((98..=101).contains(&clock.time), "{}", clock.time);
    }

    #[test]
    fn the_moment_is_found_again_when_points_come_between() {
        let point = |millis: u64, end: bool| TimePoint {
            millis,
            label: format!("{millis}"),
            gc: Some(memory_city_formats::GcPoint {
                number: 1,
                kind: memory_city_formats::event::GcKind::Major,
                one_pause: false,
                cause: String::new(),
                duration: 1,
                end,
                freed: Some(0),
            }),
            ..TimePoint::default()
        };
        let mut clock = clock(3);
        clock.take_points(&[point(10, true), point(20, true), point(30, true)]);
        assert_eq!(clock.points[1], moment(&point(20, true)));
        assert_ne!(
            clock.points[1],
            moment(&point(20, false)),
            "the start of a collection is another moment than its end"
        );
    }
}
