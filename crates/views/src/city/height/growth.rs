//! Height rule: growth since the base. Growing groups rise, others stay low however large they are.

use super::super::values::Values;
use super::{CurveScale, HeightCurve, HeightMetric, HeightRule, HeightScale, HeightWish, each};
use std::sync::Arc;

pub(super) fn rule() -> HeightRule {
    HeightRule {
        id: "growth",
        title: "Growth",
        explanation: "Buildings are as high as they have grown since the base; what does not grow stays low",
        measures: HeightMetric::OfAreas,
        curve: Some(HeightCurve::Linear),
        scale,
    }
}

fn scale(values: &Values<'_>, wish: HeightWish) -> HeightScale {
    let most =
        |values: &Values<'_>, plot: usize| values.peak(plot).saturating_sub(values.sample(plot, values.base()).value);
    let curve = Arc::new(CurveScale::new(wish.curve, wish.cap, values.of_buildings(|plot| most(values, plot))));
    let (of_peak, of_growth) = (Arc::clone(&curve), Arc::clone(&curve));
    let axis = curve.axis(values, "+");
    let growth = |growth: i64| growth.max(0) as u64;
    HeightScale {
        height: each(move |_, sample, _| of_growth.height(growth(sample.growth()))),
        peak: Box::new(move |values, plot| of_peak.height(most(values, plot))),
        axis,
        capped: curve
            .caps()
            .then(|| -> super::CappedOf { Box::new(move |_, sample| curve.is_capped(growth(sample.growth()))) }),
    }
}
