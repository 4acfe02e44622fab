//! Colour mode: how many objects refer to those of each group.

use super::amount::amounts;
use super::{ColourMode, ColourScale};
use crate::city::values::Values;

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "referrers",
        title: "Referrers",
        explanation: "How many objects of other groups refer to each group: gray to violet",
        measures: false,
        metric: Some("referrers"),
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    amounts(values, "referrers", "Objects of other groups that refer to it")
}
