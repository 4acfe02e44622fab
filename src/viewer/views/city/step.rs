//! The animated step between two points in time: the states on the GPU, as records.

use crate::viewer::city::Shown;
use crate::viewer::clock::Clock;
use crate::viewer::scene::Versioned;
use bevy::prelude::*;
use memory_city_views::city::PlotState;

/// The step on screen.
#[derive(Resource, Default)]
pub struct TimeStep {
    /// States at the start of the step.
    pub before: Versioned<PlotState>,
    /// States at its end.
    pub after: Versioned<PlotState>,
    /// Marks over the boxes at its end.
    pub over: Versioned<PlotState>,
    time: usize,
    layout: u64,
    eased: f32,
}

impl TimeStep {
    /// The point in time at its end.
    pub fn time(&self) -> usize {
        self.time
    }
}

/// Follows time and layout.
pub fn follow_clock(mut shown: ResMut<Shown>, clock: Res<Clock>, mut step: ResMut<TimeStep>) {
    let Some(city) = shown.0.as_mut() else {
        *step = TimeStep::default();
        return;
    };
    let last = city.times().saturating_sub(1);
    let time = clock.time.min(last);
    let eased = clock.eased();
    if step.layout != city.layout {
        // Another layout, at once; when time moves on with it, from where time was.
        let from = if eased < 1.0 { step.time.min(last) } else { time };
        step.before = city.states(from).records;
        step.after = city.states(time).records;
        step.layout = city.layout;
    } else if step.time != time {
        step.after = if eased >= 1.0 {
            step.before = city.states(time).records;
            step.before.clone()
        } else {
            if step.eased >= 1.0 {
                step.before = step.after.clone();
            } else if step.eased > 0.0 {
                // A step into a running step starts from what is on screen.
                let (from, to) = (&step.before.records, &step.after.records);
                step.before = Versioned::new(PlotState::between(from, to, step.eased));
            }
            city.states(time).records
        };
    }
    step.over = city.states(time).over;
    step.time = time;
    step.eased = eased;
}
