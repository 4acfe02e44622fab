//! Colours and the legend that explains them. Colours are linear-light RGB, 0 to 1, as shaders want them.
//!
//! The eight base colours were chosen together: under simulated protanopia, deuteranopia and tritanopia every two of
//! them stay apart (tested below), and along the growth gradient lightness falls, so that the order shows in gray too.

use super::CityPlan;
use crate::timeline::Metric;

/// The selected building: blue (#0A33E6).
pub const SELECTED: [f32; 3] = [0.003035, 0.033105, 0.791298];
/// References to the selection, which keep it alive: purple (#AA62FF).
pub const INCOMING: [f32; 3] = [0.401978, 0.122139, 1.0];
/// References from the selection, which it keeps alive: green (#37946A).
pub const OUTGOING: [f32; 3] = [0.038204, 0.296138, 0.144128];
/// The growth gradient at 0, 1/2 and 1: gray (#D0D0D0), orange (#FFA322), red (#AC0606).
pub const GROWTH: [[f32; 3]; 3] =
    [[0.630757, 0.630757, 0.630757], [1.0, 0.366253, 0.015996], [0.412543, 0.001821, 0.001821]];
/// The district gradient: the whole heap (#142444) and the deepest level (#80A4CF).
pub const DISTRICT: [[f32; 3]; 2] = [[0.006995, 0.017642, 0.057805], [0.215861, 0.371238, 0.623960]];

/// The colour of a position on the growth scale: gray, orange, red, linear in between. Outside 0 to 1 the ends.
pub fn growth_colour(position: f32) -> [f32; 3] {
    let p = if position.is_nan() { 0.0 } else { position.clamp(0.0, 1.0) * 2.0 };
    if p < 1.0 { mix(GROWTH[0], GROWTH[1], p) } else { mix(GROWTH[1], GROWTH[2], p - 1.0) }
}

/// The colour of districts at a level of a city with `levels` district levels ([`CityPlan::levels`]): dark blue for
/// the whole heap, light blue for the deepest.
pub fn district_colour(level: u32, levels: u32) -> [f32; 3] {
    let deepest = levels.saturating_sub(1).max(1);
    mix(DISTRICT[0], DISTRICT[1], level.min(deepest) as f32 / deepest as f32)
}

fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    std::array::from_fn(|i| a[i] * (1.0 - t) + b[i] * t)
}

/// One channel of sRGB (0 to 1) as linear light (IEC 61966-2-1).
pub fn srgb_to_linear(v: f32) -> f32 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// One channel of linear light (0 to 1) as sRGB (IEC 61966-2-1).
pub fn linear_to_srgb(v: f32) -> f32 {
    if v <= 0.0031308 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

/// One stop of a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColourStop {
    /// Place on the scale, 0 to 1.
    pub position: f32,
    /// What that place means: growth since the first point in time, in units of the metric.
    pub value: f64,
    /// Its colour, linear light.
    pub colour: [f32; 3],
}

/// What the growth colours mean in this city.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowthLegend {
    /// The unit of the values.
    pub metric: Metric,
    /// Ascending. One stop, gray for 0, when no building grew over the window.
    pub stops: Vec<ColourStop>,
}

impl CityPlan {
    /// The growth scale with `steps` equal parts (at least 1) and the values at their ends. Positions and colours come
    /// from the functions that colour the buildings. Shrinking looks like no growth, and a building whose growth in
    /// between exceeds the largest overall growth looks like the last stop.
    pub fn growth_legend(&self, steps: usize) -> GrowthLegend {
        let stop = |value: f64| {
            let position = self.growth_position(value) as f32;
            ColourStop { position, value, colour: growth_colour(position) }
        };
        let steps = steps.clamp(1, 64);
        let stops = match self.max_growth() {
            0 => vec![stop(0.0)],
            max => (0..=steps).map(|i| stop(max as f64 * i as f64 / steps as f64)).collect(),
        };
        GrowthLegend { metric: self.config.metric, stops }
    }
}
