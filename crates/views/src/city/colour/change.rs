//! Colour mode: more or less than at the base. Teal is less, gray the same, orange and red more. The scale is the largest difference
//! between any two times, and at least 5 % of the heap. So it does not depend on the times compared, and swapping base and time mirrors it.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::values::Values;
use super::palette::LESS_AND_MORE;
use super::{ColourMode, ColourScale, difference, each, metric_name, since};

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "change",
        title: "More or less",
        explanation: "More or less than at the base: teal is less, gray the same, orange and red more; the ends are at least 5 % of the heap",
        measures: true,
        metric: None,
        scale,
    }
}

/// A root stretches small changes, on both sides alike.
fn place(share: f64) -> f64 {
    0.5 + 0.5 * share.signum() * share.abs().sqrt().min(1.0)
}

fn scale(values: &Values<'_>) -> ColourScale {
    let largest = values.max_difference();
    // A floor: where all differences are little against the heap, nothing is red or teal.
    let most = values.growth_scale(largest);
    let mark = |share: f64| {
        let value = most as f64 * share;
        Mark { position: place(share) as f32, value, text: difference(values, value.round() as i64) }
    };
    let marks = match most {
        0 => vec![Mark { position: 0.5, value: 0.0, text: "nothing is different".to_owned() }],
        _ => [-1.0, 0.0, 1.0].map(mark).to_vec(),
    };
    let floor = values.floor_text("ends", most > largest);
    let title = format!("More or less {}, {}{floor}", since(values), metric_name(values));
    ColourScale {
        legend: Legend { title, gradient: Gradient::diverging(&LESS_AND_MORE), marks },
        position: each(move |_, sample| match sample.growth() {
            0 => 0.5,
            growth => place(growth as f64 / most.max(1) as f64),
        }),
    }
}
