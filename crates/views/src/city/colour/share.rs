//! Colour mode: share of the whole heap at the time shown, from gray to blue-green. The scale is a square root, as it is for areas: a group
//! of a hundredth stays visible beside one of a half.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::values::{Sample, Values};
use super::{ColourMode, ColourScale, each, metric_name};

/// Gray (#D1D1D1), and two greens that get darker (#2E7E14, #0B4F4A).
const SHARE: [[f32; 3]; 3] =
    [[0.637597, 0.637597, 0.637597], [0.027321, 0.208637, 0.006995], [0.003347, 0.078187, 0.068478]];

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "share",
        title: "Share of the heap",
        explanation: "How much of the whole heap each group is at the time shown: gray to green",
        measures: true,
        metric: None,
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    let share = |values: &Values<'_>, sample: &Sample| match values.heap(sample.time) {
        0 => 0.0,
        heap => sample.value as f64 / heap as f64,
    };
    // The largest share of any building at any time, in parts of a billion so that it can be compared.
    const PARTS: f64 = 1e9;
    let most = values.largest(|plot| {
        let shares = (0..values.times()).map(|t| share(values, &values.sample(plot, t)));
        (shares.fold(0.0, f64::max) * PARTS) as u64
    }) as f64
        / PARTS;
    let mark = |position: f64| {
        let value = most * position * position;
        Mark { position: position as f32, value, text: format!("{:.1} %", value * 100.0) }
    };
    let marks = if most > 0.0 { [0.0, 0.5, 1.0].map(mark).to_vec() } else { Vec::new() };
    let title = format!("Share of the heap now, {}", metric_name(values));
    ColourScale {
        legend: Legend { title, gradient: Gradient::new(&SHARE), marks },
        position: each(move |values, sample| match most > 0.0 {
            true => (share(values, sample) / most).sqrt().clamp(0.0, 1.0),
            false => 0.0,
        }),
    }
}
