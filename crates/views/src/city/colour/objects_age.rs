//! How old the objects of each group are, in garbage collections survived: of one state, too, where the input knows births.

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
