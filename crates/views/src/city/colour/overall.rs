//! Colour mode: growth from the first point in time to the last, the same at every time shown.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::mapping::GROWTH;
use super::super::values::Values;
use super::{ColourMode, ColourScale, each, metric_name, text};

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "overall",
        title: "Overall growth",
        explanation: "How much each group grows from the first state to the last, at every time the same: gray, orange, red; red is at least 5 % of the heap",
        measures: true,
        metric: None,
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    let values = values.since(0);
    let largest = values.max_growth();
    // A floor: where all growth is little against the heap, nothing is red.
    let most = values.growth_scale(largest);
    let mark = |share: f64| {
        let value = most as f64 * share;
        let text =
            if share == 0.0 { "0 or less".to_owned() } else { format!("+{}", text(&values, value.round() as u64)) };
        Mark { position: share as f32, value, text }
    };
    let marks = match most {
        0 => vec![Mark { position: 0.0, value: 0.0, text: "nothing grows".to_owned() }],
        _ => [0.0, 0.5, 1.0].map(mark).to_vec(),
    };
    let floor = values.floor_text("red", most > largest);
    let title = format!("Growth from first to last, {}{floor}", metric_name(&values));
    ColourScale {
        legend: Legend { title, gradient: Gradient::new(&GROWTH), marks },
        position: each(move |values, sample| {
            let last = values.times().saturating_sub(1);
            let growth = values.since(0).sample(sample.plot, last).growth();
            if most == 0 { 0.0 } else { (growth as f64 / most as f64).clamp(0.0, 1.0) }
        }),
    }
}
