//! Height rule: the amount at the time shown. With another metric than the areas, the large groups of that metric rise.

use super::super::values::Values;
use super::{CurveScale, HeightCurve, HeightMetric, HeightRule, HeightScale, HeightWish, each};
use std::sync::Arc;

pub(super) fn rule() -> HeightRule {
    HeightRule {
        id: "amount",
        title: "Amount",
        explanation: "Buildings are as high as their amount: choose another metric than that of the areas",
        measures: HeightMetric::OfAreas,
        curve: Some(HeightCurve::Sqrt),
        scale,
    }
}

fn scale(values: &Values<'_>, wish: HeightWish) -> HeightScale {
    let curve = Arc::new(CurveScale::new(wish.curve, wish.cap, values.of_buildings(|plot| values.peak(plot))));
    let (of_peak, of_amount) = (Arc::clone(&curve), Arc::clone(&curve));
    let axis = curve.axis(values, "");
    HeightScale {
        height: each(move |_, sample, _| of_amount.height(sample.value)),
        peak: Box::new(move |values, plot| of_peak.height(values.peak(plot))),
        axis,
        capped: curve.caps().then(|| -> super::CappedOf { Box::new(move |_, sample| curve.is_capped(sample.value)) }),
    }
}
