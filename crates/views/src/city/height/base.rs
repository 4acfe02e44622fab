//! Height rule: twice the square root of the base area (Memory Cities, "building height"). A building grows in all directions.

use super::super::values::Values;
use super::curve::{round_numbers, ticks};
use super::{HeightAxis, HeightMetric, HeightRule, HeightScale, HeightWish};
use crate::city::colour::text;

pub(super) fn rule() -> HeightRule {
    HeightRule {
        id: "base",
        title: "Size",
        explanation: "Buildings are twice as high as their base is wide",
        measures: HeightMetric::None,
        curve: None,
        scale,
    }
}

fn scale(values: &Values<'_>, _: HeightWish) -> HeightScale {
    let most = values.largest(|plot| values.plan.max_value(plot));
    let height = |amount: u64| 2.0 * values.plan.base_area(amount as f64).sqrt();
    let areas = values.measured_in(values.plan.config().metric);
    HeightScale {
        height: Box::new(|values, _, sides, heights| {
            values.plan.heights_of(sides, heights);
        }),
        peak: Box::new(|values, plot| values.plan.max_height(plot)),
        axis: HeightAxis {
            ticks: ticks(&round_numbers(most), height, |amount| text(&areas, amount)),
            capped_above: None,
        },
        capped: None,
    }
}
