//! Colour mode: the retained size of each group, which would be freed with it. It does not depend on the metric of the areas.

use super::amount::amounts;
use super::{ColourMode, ColourScale};
use crate::city::values::Values;

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "retained",
        title: "Retained",
        explanation: "How much would be freed if the whole group were: gray to violet",
        measures: false,
        metric: Some("retained"),
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    amounts(values, "retained", "Would be freed with it, bytes")
}
