//! Colour mode: growth since the first point in time, as a share of the largest growth of any building: gray, orange, red.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::mapping::GROWTH;
use super::super::values::{Values, growth};
use super::{ColourMode, ColourScale, metric_name, since, text};

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "growth",
        title: "Growth",
        explanation: "How much each group has grown since the first state, or the base: gray, orange, red; red is at least 5 % of the heap",
        measures: true,
        metric: None,
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    let largest = values.max_growth();
    // A floor: where all growth is little against the heap, nothing is red.
    let most = values.growth_scale(largest);
    let marks = match most {
        0 => vec![Mark { position: 0.0, value: 0.0, text: "nothing grows".to_owned() }],
        _ => {
            let mark = |share: f64| {
                let value = most as f64 * share;
                let text = match share {
                    0.0 => "0 or less".to_owned(),
                    _ => format!("+{}", text(values, value.round() as u64)),
                };
                Mark { position: share as f32, value, text }
            };
            [0.0, 0.5, 1.0].map(mark).to_vec()
        }
    };
    // Many are scaled by it, and a processor multiplies sooner than it divides.
    let scale = if most > 0 { 1.0 / most as f32 } else { 0.0 };
    let floor = values.floor_text("red", most > largest);
    let title = format!("Growth {}, {}{floor}", since(values), metric_name(values));
    ColourScale {
        legend: Legend { title, gradient: Gradient::new(&GROWTH), marks },
        // Shrinking looks like no growth; a peak above the largest growth overall looks like that.
        position: Box::new(move |_, samples, positions| {
            // Two loops: the second for several at once.
            positions.iter_mut().zip(samples.pairs()).for_each(|(into, (base, now))| *into = growth(base, now) as f32);
            positions.iter_mut().for_each(|position| *position = (*position * scale).clamp(0.0, 1.0));
        }),
    }
}
