//! Colour mode: growth as a factor. A small group that became eight times as large stands out as much as a large one would.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::values::Values;
use super::palette::LESS_AND_MORE;
use super::{ColourMode, ColourScale, each, metric_name, since};

/// The factor at the ends of the scale.
const MOST: f64 = 8.0;

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "relative",
        title: "Relative growth",
        explanation: "How many times as large each group is as at the base: teal is less, gray the same, orange and red more",
        measures: true,
        metric: None,
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    let mark = |(position, value, text): (f32, f64, &str)| Mark { position, value, text: text.to_owned() };
    let title = format!("Growth {}, factor of {}", since(values), metric_name(values));
    let marks = [(0.0, 1.0 / MOST, "an eighth"), (0.5, 1.0, "the same"), (1.0, MOST, "8 times, or new")];
    ColourScale {
        legend: Legend { title, gradient: Gradient::diverging(&LESS_AND_MORE), marks: marks.map(mark).to_vec() },
        position: each(|_, sample| match (sample.base, sample.value) {
            (base, value) if base == value => 0.5,
            (0, _) => 1.0,
            (base, value) => 0.5 + 0.5 * ((value as f64 / base as f64).ln() / MOST.ln()).clamp(-1.0, 1.0),
        }),
    }
}
