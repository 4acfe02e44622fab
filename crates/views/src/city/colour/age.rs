//! For how long each group has been there without a gap: what came last is dark and stands out, what was always there is gray.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::look::Values;
use super::{ColourMode, ColourScale};
use memory_city_analysis::analyses::uptime_text;

/// Brown (#5A3A0A) over sand (#A98F5A) to gray (#D1D1D1).
const AGE: [[f32; 3]; 3] =
    [[0.102242, 0.042311, 0.003035], [0.396755, 0.274677, 0.102242], [0.637597, 0.637597, 0.637597]];

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "age",
        title: "Age",
        explanation: "For how long each group has been there: brown is new, gray was there from the first state on",
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
    let all = span(values, 0, values.times().saturating_sub(1));
    let timed = timed(values);
    let mark = |position: f32| {
        let value = all as f64 * f64::from(position);
        let text = match (position, timed) {
            (0.0, _) => "new".to_owned(),
            (_, true) => uptime_text(value.round() as u64),
            (_, false) => format!("{value:.0} states"),
        };
        Mark { position, value, text }
    };
    let marks = match all {
        0 => vec![Mark { position: 0.0, value: 0.0, text: "there is one state".to_owned() }],
        _ => [0.0, 0.5, 1.0].map(mark).to_vec(),
    };
    ColourScale {
        legend: Legend { title: "There without a gap for".to_owned(), gradient: Gradient::new(&AGE), marks },
        position: Box::new(move |values, sample| {
            let since = (0..=sample.time).rev().take_while(|&t| values.value(sample.plot, t) > 0).last();
            let age = since.map_or(0, |since| span(values, since, sample.time));
            age as f64 / all.max(1) as f64
        }),
    }
}
