//! Growth since the first point in time: what grows rises, what does not stays low, however large it is.

use super::super::look::Values;
use super::{HeightRule, HeightScale};

/// The height of what grows most, world units: a quarter of the city's side.
const HIGHEST: f64 = 25.0;
/// The height of what does not grow.
const LOWEST: f64 = 0.3;

pub(super) fn rule() -> HeightRule {
    HeightRule {
        id: "growth",
        title: "Growth",
        explanation: "Buildings are as high as they have grown since the first state; what does not grow stays low",
        measures: true,
        scale,
    }
}

fn scale(values: &Values<'_>) -> HeightScale {
    let most = values.max_growth();
    let height = move |growth: i64| match most {
        0 => LOWEST,
        _ => LOWEST + (HIGHEST - LOWEST) * (growth as f64 / most as f64).clamp(0.0, 1.0),
    };
    HeightScale {
        height: Box::new(move |_, sample, _| height(sample.growth())),
        peak: Box::new(move |values, plot| {
            let growths = (0..values.times()).map(|t| values.sample(plot, t).growth());
            height(growths.max().unwrap_or(0))
        }),
    }
}
