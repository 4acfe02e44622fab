//! Colour mode: the age of each group's objects, in garbage collections survived. It works for a single heap state too, if the input
//! records births.

use super::amount::amounts;
use super::{ColourMode, ColourScale};
use crate::city::values::Values;

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "objects-age",
        title: "Age of objects",
        explanation: "How many collections the objects of each group have survived, on average: gray is young, violet old",
        measures: false,
        metric: Some("age"),
        scale,
    }
}

fn scale(values: &Values<'_>) -> ColourScale {
    amounts(values, "age", "Collections survived, mean of the objects")
}
