//! Colour mode: how much of its plot a building fills. A plot is reserved for the largest size the building ever has.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::values::Values;
use super::{ColourMode, ColourScale, each, metric_name};

/// Green (#0B4F4A, #2E7E14) where little is left, gray (#D1D1D1) at the maximum over time.
const FILL: [[f32; 3]; 3] =
    [[0.003347, 0.078187, 0.068478], [0.027321, 0.208637, 0.006995], [0.637597, 0.637597, 0.637597]];

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "fill",
        title: "Fill of the plot",
        explanation: "How much each group is of the most it ever was, for which its plot is reserved: green is nearly empty, gray full",
        measures: true,
        metric: None,
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    let mark =
        |position: f32| Mark { position, value: f64::from(position), text: format!("{:.0} %", position * 100.0) };
    let title = format!("Now of the most it ever is, {}", metric_name(values));
    ColourScale {
        legend: Legend { title, gradient: Gradient::new(&FILL), marks: [0.0, 0.5, 1.0].map(mark).to_vec() },
        position: each(|values, sample| sample.value as f64 / values.peak(sample.plot).max(1) as f64),
    }
}
