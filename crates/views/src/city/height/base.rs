//! Twice the square root of the base area (Memory Cities, "building height"): a building grows in all directions.

use super::super::look::Values;
use super::{HeightRule, HeightScale};

pub(super) fn rule() -> HeightRule {
    HeightRule {
        id: "base",
        title: "Size",
        explanation: "Buildings are twice as high as their base is wide",
        measures: false,
        scale,
    }
}

fn scale(_: &Values<'_>) -> HeightScale {
    HeightScale {
        height: Box::new(|values, sample, side| values.plan.height(sample.plot, side)),
        peak: Box::new(|values, plot| values.plan.max_height(plot)),
    }
}
