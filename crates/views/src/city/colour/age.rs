//! Colour mode: how long each group has existed without a gap. The newest groups are dark and stand out; those that were always there are
//! gray.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::values::Values;
use super::{ColourMode, ColourScale, each};

/// Brown (#5A3A0A) over sand (#A98F5A) to gray (#D1D1D1).
const AGE: [[f32; 3]; 3] =
    [[0.102242, 0.042311, 0.003035], [0.396755, 0.274677, 0.102242], [0.637597, 0.637597, 0.637597]];

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "age",
        title: "Age",
        explanation: "For how much of the time until now each group has been there: brown is new, gray was always there",
        measures: false,
        metric: None,
        scale,
    }
}

/// Milliseconds from one time to another where the input knows times, else how many states lie between.
fn span(values: &Values<'_>, from: usize, to: usize) -> u64 {
    let at = |t: usize| values.timeline.points().get(t).map_or(0, |point| point.millis);
    if timed(values) { at(to).saturating_sub(at(from)) } else { to.saturating_sub(from) as u64 }
}

/// Whether times ascend, and so tell how long something has been there.
fn timed(values: &Values<'_>) -> bool {
    let points = values.timeline.points();
    points.windows(2).all(|pair| pair[0].millis < pair[1].millis) && points.iter().skip(1).all(|point| point.millis > 0)
}

fn scale(values: &Values<'_>) -> ColourScale {
    let mark = |(position, text): (f32, &str)| Mark { position, value: f64::from(position), text: text.to_owned() };
    let marks = match values.times() {
        0 | 1 => vec![mark((1.0, "there is one state"))],
        _ => [(0.0, "new"), (0.5, "half the time"), (1.0, "always")].map(mark).to_vec(),
    };
    ColourScale {
        legend: Legend { title: "There without a gap for".to_owned(), gradient: Gradient::new(&AGE), marks },
        position: each(move |values, sample| {
            let since = (0..=sample.time).rev().take_while(|&t| values.value(sample.plot, t) > 0).last();
            match (since, span(values, 0, sample.time)) {
                (Some(0), _) => 1.0,
                (Some(since), all) => span(values, since, sample.time) as f64 / all.max(1) as f64,
                (None, _) => 0.0,
            }
        }),
    }
}
