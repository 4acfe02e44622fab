//! Colours of the city, linear RGB. Growth goes gray, orange, red as in the source; the districts' blues, the blue of
//! the selection, the purple and green of cones differ from them in hue and lightness.

use crate::timeline::{Metric, NodeId, Timeline};

/// An sRGB byte triple as linear RGB.
const fn srgb(r: u8, g: u8, b: u8) -> [f32; 3] {
    // A polynomial stands in for the power function, which is not const: within 0.003 of it.
    const fn linear(byte: u8) -> f32 {
        let s = byte as f32 / 255.0;
        s * (s * (s * 0.305_306 + 0.682_171_1) + 0.012_522_878)
    }
    [linear(r), linear(g), linear(b)]
}

/// The selected building.
pub const SELECTED_COLOUR: [f32; 3] = srgb(58, 134, 255);
/// Cones that come in: these keep the selected building alive.
pub const INCOMING_COLOUR: [f32; 3] = srgb(172, 92, 240);
/// Cones that go out: these are kept alive by it.
pub const OUTGOING_COLOUR: [f32; 3] = srgb(60, 186, 104);
/// Plots of pruned groups.
pub const MORE_COLOUR: [f32; 3] = srgb(84, 100, 130);

const GROWTH: [[f32; 3]; 3] = [srgb(168, 172, 180), srgb(250, 160, 48), srgb(226, 28, 30)];
const DISTRICT_DARK: [f32; 3] = srgb(24, 40, 78);
const DISTRICT_LIGHT: [f32; 3] = srgb(122, 164, 214);

fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
}

/// The growth gradient: gray at 0, orange at 0.5, red at 1; clamped.
pub fn growth_colour(position: f32) -> [f32; 3] {
    let p = position.clamp(0.0, 1.0) * 2.0;
    if p <= 1.0 { mix(GROWTH[0], GROWTH[1], p) } else { mix(GROWTH[1], GROWTH[2], p - 1.0) }
}

/// A district by level, dark blue at the bottom, light blue at the top of `levels`.
pub fn district_colour(level: u32, levels: u32) -> [f32; 3] {
    let share = if levels > 1 { level as f32 / (levels - 1) as f32 } else { 0.0 };
    mix(DISTRICT_DARK, DISTRICT_LIGHT, share.min(1.0) * 0.8)
}

/// Sky above, sky at the horizon, ground.
pub fn palette() -> [[f32; 3]; 3] {
    [srgb(14, 22, 44), srgb(74, 90, 124), srgb(26, 33, 48)]
}

/// The largest growth of any building over the whole window: what the red end of the gradient stands for. At least 0.
pub fn max_growth(timeline: &Timeline, metric: Metric) -> u64 {
    (0..timeline.len() as u32)
        .map(NodeId)
        .filter(|&n| timeline.is_leaf(n))
        .map(|n| timeline.growth(n, metric))
        .max()
        .unwrap_or(0)
        .max(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_has_its_stops_and_clamps() {
        assert_eq!(growth_colour(0.0), GROWTH[0]);
        assert_eq!(growth_colour(-3.0), GROWTH[0]);
        assert_eq!(growth_colour(0.5), GROWTH[1]);
        assert_eq!(growth_colour(9.0), GROWTH[2]);
    }

    #[test]
    fn meanings_differ_in_lightness_or_hue_even_without_red_or_green() {
        // Simulated dichromacy: the missing cone's channel is replaced (Viénot, Brettel, Mollon 1999, linear RGB).
        let protan = |c: [f32; 3]| {
            let rg = 0.112_38 * c[0] + 0.887_62 * c[1];
            [rg, rg, 0.004_01 * c[0] - 0.004_01 * c[1] + c[2]]
        };
        let deutan = |c: [f32; 3]| {
            let rg = 0.292_75 * c[0] + 0.707_25 * c[1];
            [rg, rg, -0.022_34 * c[0] + 0.022_34 * c[1] + c[2]]
        };
        let meanings =
            [GROWTH[0], GROWTH[1], GROWTH[2], SELECTED_COLOUR, INCOMING_COLOUR, OUTGOING_COLOUR, DISTRICT_DARK];
        for see in [&|c| c, &protan, &deutan] as [&dyn Fn([f32; 3]) -> [f32; 3]; 3] {
            for (i, &a) in meanings.iter().enumerate() {
                for &b in &meanings[..i] {
                    let (p, q) = (see(a), see(b));
                    let distance: f32 =
                        (0..3).map(|k| (p[k].max(0.0).sqrt() - q[k].max(0.0).sqrt()).powi(2)).sum::<f32>().sqrt();
                    assert!(distance > 0.12, "{a:?} and {b:?} look alike: {distance}");
                }
            }
        }
    }
}
