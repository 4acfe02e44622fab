//! Colour mode without colours: all buildings are gray.

use super::super::legend::{Gradient, Legend};
use super::super::mapping::GROWTH;
use super::super::values::Values;
use super::{ColourMode, ColourScale, each};

pub(super) fn mode() -> ColourMode {
    ColourMode {
        id: "none",
        title: "None",
        explanation: "All buildings are gray",
        measures: false,
        metric: None,
        scale,
    }
}

fn scale(_: &Values<'_>) -> ColourScale {
    ColourScale {
        legend: Legend {
            title: "Colours are off".to_owned(),
            gradient: Gradient::new(&GROWTH[..1]),
            marks: Vec::new(),
        },
        position: each(|_, _| 0.0),
    }
}
