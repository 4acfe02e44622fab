//! Time: which point in time is shown, automatic play, and the progress of the animated step. Shared by all views.
//!
//! It knows how many points in time there are, and nothing of what is shown at them: views follow it.

use super::action::Action;
use super::app::{Awake, Stage};
use super::document::{Closed, Document, Grew, Opened};
use super::settings::Settings;
use bevy::prelude::*;

/// The shown point in time.
#[derive(Resource, Default)]
pub struct Clock {
    /// Index of the point in time that is shown or moved to.
    pub time: usize,
    /// Whether time steps by itself.
    pub playing: bool,
    /// How many points in time there are.
    times: usize,
    /// Seconds the current state has been shown while playing.
    shown_for: f32,
    /// Progress of the step, 0 to 1; 1 when it is done.
    progress: f32,
    /// Somebody else says how far the step is.
    held: bool,
}

impl Clock {
    /// Index of the last point in time.
    pub fn last(&self) -> usize {
        self.times.saturating_sub(1)
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

    /// Is so far on the way to `time`, and stays there until somebody says otherwise: for pictures of a step.
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
    *clock = Clock { times: document.timeline().map_or(0, |t| t.times()), ..Clock::default() };
    let last = clock.last();
    clock.jump(last);
}

fn grew(_: On<Grew>, document: Res<Document>, mut clock: ResMut<Clock>) {
    // Who looks at the last time goes on with it; who looks back stays there.
    let follows = clock.time >= clock.last();
    clock.times = document.timeline().map_or(0, |t| t.times());
    let last = clock.last();
    if clock.time > last {
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
    settings: Res<Settings>,
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
                clock.playing = !clock.playing && last > 0;
                clock.shown_for = 0.0;
                // Playing from the end starts over: otherwise nothing would happen.
                if clock.playing && clock.time == last {
                    clock.step_to(0);
                }
            }
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
        clock.shown_for += delta;
        if clock.shown_for >= settings.interval {
            if clock.time >= last {
                clock.playing = false;
            } else {
                let to = clock.time + 1;
                clock.step_to(to);
            }
        }
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
