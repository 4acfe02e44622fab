//! Time: which point in time is shown, automatic play, and the progress of the animated step.

use super::action::Action;
use super::scene::Versioned;
use super::settings::Settings;
use super::shown::{City, Shown};
use bevy::prelude::*;
use memory_city_views::city::PlotState;

/// The shown point in time.
#[derive(Resource, Default)]
pub struct Clock {
    /// Index of the point in time the city shows or is moving to.
    pub time: usize,
    /// Whether time steps by itself.
    pub playing: bool,
    /// Seconds the current state has been shown while playing.
    shown_for: f32,
    /// Progress of the step, 1 when it is done.
    pub progress: f32,
    /// States at the start of the step.
    pub before: Versioned<PlotState>,
    /// States at its end.
    pub after: Versioned<PlotState>,
}

impl Clock {
    /// Shows `time` at once.
    pub fn jump(&mut self, city: &mut City, time: usize) {
        self.time = time.min(city.times().saturating_sub(1));
        self.before = city.states(self.time).records;
        self.after = self.before.clone();
        self.progress = 1.0;
        self.shown_for = 0.0;
    }

    /// Moves to `time` in one animated step.
    pub fn step_to(&mut self, city: &mut City, time: usize) {
        let time = time.min(city.times().saturating_sub(1));
        if time == self.time {
            return;
        }
        let eased = self.eased();
        if eased >= 1.0 {
            self.before = self.after.clone();
        } else if eased > 0.0 {
            // A step into a running step starts from what is on screen.
            let (from, to) = (&self.before.records, &self.after.records);
            self.before = Versioned::new(from.iter().zip(to.iter()).map(|(a, b)| a.lerp(*b, eased)).collect());
        }
        self.time = time;
        self.after = city.states(time).records;
        self.progress = 0.0;
        self.shown_for = 0.0;
    }

    /// Progress with a soft start and end.
    pub fn eased(&self) -> f32 {
        let x = self.progress.clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    }

    /// Whether the picture changes without input.
    pub fn moving(&self) -> bool {
        self.playing || self.progress < 1.0
    }

    /// After the boxes were reordered or laid out anew: the same time, in the new order.
    pub fn refresh(&mut self, city: &mut City) {
        let time = self.time;
        self.jump(city, time);
    }
}

/// Handles the time actions and lets time pass.
pub fn run_clock(
    mut clock: ResMut<Clock>,
    mut shown: ResMut<Shown>,
    settings: Res<Settings>,
    time: Res<Time>,
    mut actions: MessageReader<Action>,
) {
    let Some(city) = shown.bypass_change_detection().0.as_mut() else {
        actions.clear();
        return;
    };
    let last = city.times().saturating_sub(1);
    for action in actions.read() {
        match action {
            Action::Next => {
                let to = (clock.time + 1).min(last);
                clock.step_to(city, to);
            }
            Action::Previous => {
                let to = clock.time.saturating_sub(1);
                clock.step_to(city, to);
            }
            Action::First => clock.step_to(city, 0),
            Action::Last => clock.step_to(city, last),
            Action::Play => {
                clock.playing = !clock.playing && last > 0;
                clock.shown_for = 0.0;
                // Playing from the end starts over: otherwise nothing would happen.
                if clock.playing && clock.time == last {
                    clock.step_to(city, 0);
                }
            }
            _ => {}
        }
    }
    let delta = time.delta_secs();
    if clock.progress < 1.0 {
        let speed = if settings.animation > 0.0 { delta / settings.animation } else { 1.0 };
        clock.progress = (clock.progress + speed).min(1.0);
    }
    if clock.playing {
        clock.shown_for += delta;
        if clock.shown_for >= settings.interval {
            if clock.time >= last {
                clock.playing = false;
            } else {
                let to = clock.time + 1;
                clock.step_to(city, to);
            }
        }
    }
}
