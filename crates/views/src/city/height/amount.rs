//! The amount at the time shown, whatever areas tell: what is large in another metric rises. The scale is a square root, as
//! that of areas: a group of a hundredth is not lost beside one of a half.

use super::super::look::Values;
use super::{HeightRule, HeightScale};

/// The height of the largest amount, world units: a quarter of the city's side.
const HIGHEST: f64 = 25.0;
/// The height of what has nothing of it.
const LOWEST: f64 = 0.3;

pub(super) fn rule() -> HeightRule {
    HeightRule {
        id: "amount",
        title: "Amount",
        explanation: "Buildings are as high as the square root of their amount: choose another metric than that of the areas",
        measures: true,
        scale,
    }
}

fn scale(values: &Values<'_>) -> HeightScale {
    let peak = |values: &Values<'_>, plot: usize| (0..values.times()).map(|t| values.value(plot, t)).max().unwrap_or(0);
    let most = values.largest(|plot| peak(values, plot)).max(1) as f64;
    let height = move |value: u64| LOWEST + (HIGHEST - LOWEST) * (value as f64 / most).sqrt().min(1.0);
    HeightScale {
        height: Box::new(move |_, sample, _| height(sample.value)),
        peak: Box::new(move |values, plot| height(peak(values, plot))),
    }
}
