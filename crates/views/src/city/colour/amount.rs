//! Colour modes for the amount of one fixed metric. The scale is a square root, as it is for areas.

use super::super::legend::{Gradient, Legend, Mark};
use super::super::values::Values;
use super::{ColourScale, each, text};

/// Gray (#D1D1D1) over rose (#B0688E) to plum (#983058).
const AMOUNT: [[f32; 3]; 3] =
    [[0.637597, 0.637597, 0.637597], [0.434154, 0.138432, 0.270498], [0.313989, 0.029557, 0.097587]];

/// The scale of metric `id`, which stands in `values` if the trees have it.
pub(super) fn amounts(values: &Values<'_>, id: &str, title: &str) -> ColourScale {
    let found = *values.timeline.metric_info(values.metric()).id == *id;
    let most = if found { values.largest(|plot| values.peak(plot)) } else { 0 };
    let mark = |position: f64| {
        let value = most as f64 * position * position;
        Mark { position: position as f32, value, text: text(values, value.round() as u64) }
    };
    let (title, marks) = match (found, most) {
        // Heap states are asked first; an input of trees alone may never know.
        (false, _) => (format!("{title}: not known of this input yet"), Vec::new()),
        (true, 0) => (title.to_owned(), vec![Mark { position: 0.0, value: 0.0, text: "nothing".to_owned() }]),
        (true, _) => (title.to_owned(), [0.0, 0.5, 1.0].map(mark).to_vec()),
    };
    ColourScale {
        legend: Legend { title, gradient: Gradient::new(&AMOUNT), marks },
        position: each(move |_, sample| match most {
            0 => 0.0,
            _ => (sample.value as f64 / most as f64).sqrt().min(1.0),
        }),
    }
}
