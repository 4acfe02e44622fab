//! The colours of the city, in linear-light RGB, 0 to 1, as shaders expect it.
//!
//! The eight base colours were chosen together: any two stay apart under simulated protanopia, deuteranopia and tritanopia (tested below).
//! Lightness falls along the growth gradient, so the order shows in gray too.

use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use rayon::prelude::*;

/// The selected building: blue (#2B71FA).
pub const SELECTED_COLOUR: [f32; 3] = [0.024158, 0.165132, 0.955973];
/// References to the selection, which keep it alive: purple (#7C1BB2).
pub const INCOMING_COLOUR: [f32; 3] = [0.201556, 0.010960, 0.445201];
/// References from the selection, which it keeps alive: green (#57D95E).
pub const OUTGOING_COLOUR: [f32; 3] = [0.095307, 0.693872, 0.111932];
/// The ways from GC roots to a group: amber (#FFB800), as nothing else in the city is.
pub const ROUTE_COLOUR: [f32; 3] = [1.000000, 0.479320, 0.000000];
/// Colour of objects that would be freed: light cyan (#50D0FF).
pub const FREED_COLOUR: [f32; 3] = [0.080220, 0.630757, 1.000000];
/// Colour of objects that would stay, shown beside those that would be freed: a dark gray blue (#414B5A).
pub const QUIET_COLOUR: [f32; 3] = [0.052861, 0.070360, 0.102242];
/// More plots: a gray blue between the districts' (#5A6A86).
pub const MORE_COLOUR: [f32; 3] = [0.102242, 0.144128, 0.238398];
/// Colours of marked buildings: magenta (#BB33CC), green (#66FF66), cream (#FFEEBB), violet (#551188), ice (#CCFFFF), mauve (#887799).
/// Found by search: for every eye they stay apart from each other and from the colours with a meaning.
pub const MARK_COLOURS: [[f32; 3]; 6] = [
    [0.496933, 0.033105, 0.603827],
    [0.132868, 1.000000, 0.132868],
    [1.000000, 0.854993, 0.496933],
    [0.090842, 0.005605, 0.246201],
    [0.603827, 1.000000, 1.000000],
    [0.246201, 0.184475, 0.318547],
];
/// The growth gradient at 0, 1/2 and 1: gray (#D1D1D1), orange (#E66000), red (#B20617).
pub const GROWTH: [[f32; 3]; 3] =
    [[0.637597, 0.637597, 0.637597], [0.791298, 0.116971, 0.000000], [0.445201, 0.001821, 0.008568]];
/// Less than at the base: teal (#006070).
pub const SHRUNK_COLOUR: [f32; 3] = [0.000000, 0.116971, 0.162029];
/// The district gradient: the whole heap (#1A2E47) and the deepest level (#84A2C9).
pub const DISTRICT: [[f32; 3]; 2] = [[0.010330, 0.027321, 0.063010], [0.230740, 0.361307, 0.584078]];

/// The colour of a position on the growth scale: gray, orange, red, linear in between. Outside 0 to 1 the ends.
pub fn growth_colour(position: f32) -> [f32; 3] {
    let p = if position.is_nan() { 0.0 } else { position.clamp(0.0, 1.0) * 2.0 };
    if p < 1.0 { mix(GROWTH[0], GROWTH[1], p) } else { mix(GROWTH[1], GROWTH[2], p - 1.0) }
}

/// The colour of districts at a level of a city with `levels` district levels ([`super::CityPlan::levels`]): dark blue for
/// the whole heap, light blue for the deepest.
pub fn district_colour(level: u32, levels: u32) -> [f32; 3] {
    super::theme::CityTheme::Dark.district(level, levels)
}

/// The largest growth of any building over the whole window, at the red end of the gradient. 0 if none grew.
pub fn max_growth(timeline: &Timeline, metric: Metric) -> u64 {
    let growth = |i: usize| {
        let node = NodeId(i as u32);
        if timeline.is_leaf(node) { timeline.growth(node, metric).max(0) as u64 } else { 0 }
    };
    (0..timeline.len()).into_par_iter().with_min_len(4096).map(growth).max().unwrap_or(0)
}

pub(super) fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_named_srgb_colours() {
        let named = [
            (0x2B71FA, SELECTED_COLOUR),
            (0x7C1BB2, INCOMING_COLOUR),
            (0x57D95E, OUTGOING_COLOUR),
            (0xD1D1D1, GROWTH[0]),
            (0xE66000, GROWTH[1]),
            (0xB20617, GROWTH[2]),
            (0x006070, SHRUNK_COLOUR),
            (0xFFB800, ROUTE_COLOUR),
            (0x50D0FF, FREED_COLOUR),
            (0x414B5A, QUIET_COLOUR),
            (0x5A6A86, MORE_COLOUR),
            (0x1A2E47, DISTRICT[0]),
            (0x84A2C9, DISTRICT[1]),
            (0xBB33CC, MARK_COLOURS[0]),
            (0x66FF66, MARK_COLOURS[1]),
            (0xFFEEBB, MARK_COLOURS[2]),
            (0x551188, MARK_COLOURS[3]),
            (0xCCFFFF, MARK_COLOURS[4]),
            (0x887799, MARK_COLOURS[5]),
        ];
        for (hex, colour) in named {
            for (i, channel) in colour.into_iter().enumerate() {
                let srgb = (hex >> (16 - 8 * i) & 0xFF) as f32 / 255.0;
                assert!((srgb_to_linear(srgb) - channel).abs() < 2e-5, "{hex:06X} {channel}");
                assert!((linear_to_srgb(channel) - srgb).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn gradients_reach_their_ends_and_stay_there() {
        for (position, colour) in [
            (-1.0, GROWTH[0]),
            (0.0, GROWTH[0]),
            (0.5, GROWTH[1]),
            (1.0, GROWTH[2]),
            (7.0, GROWTH[2]),
            (f32::NAN, GROWTH[0]),
        ] {
            assert_eq!(growth_colour(position), colour);
        }
        assert_eq!(district_colour(0, 1), DISTRICT[0]);
        assert_eq!(district_colour(0, 0), DISTRICT[0]);
        for levels in 2..30 {
            assert_eq!(district_colour(0, levels), DISTRICT[0]);
            assert_eq!(district_colour(levels - 1, levels), DISTRICT[1]);
            assert_eq!(district_colour(levels + 5, levels), DISTRICT[1]);
        }
    }

    /// Linear light as the eye distinguishes it: Oklab (Ottosson 2020).
    fn oklab([r, g, b]: [f32; 3]) -> [f32; 3] {
        let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).max(0.0).cbrt();
        let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).max(0.0).cbrt();
        let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).max(0.0).cbrt();
        [
            0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
            1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
            0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
        ]
    }

    /// Full colour vision and simulated protanopia, deuteranopia and tritanopia: Machado, Oliveira and Fernandes,
    /// "A Physiologically-based Model for Simulation of Color Vision Deficiency" (TVCG 2009), severity 1.
    const EYES: [[[f32; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    ];

    fn seen(eye: &[[f32; 3]; 3], c: [f32; 3]) -> [f32; 3] {
        oklab(eye.map(|row| (row[0] * c[0] + row[1] * c[1] + row[2] * c[2]).clamp(0.0, 1.0)))
    }

    #[test]
    fn every_two_colours_stay_apart_for_every_eye() {
        let base = [
            SELECTED_COLOUR,
            INCOMING_COLOUR,
            OUTGOING_COLOUR,
            GROWTH[0],
            GROWTH[1],
            GROWTH[2],
            SHRUNK_COLOUR,
            DISTRICT[0],
            DISTRICT[1],
        ];
        for (e, eye) in EYES.iter().enumerate() {
            for (i, a) in base.iter().enumerate() {
                for (j, b) in base.iter().enumerate().skip(i + 1) {
                    let (a, b) = (seen(eye, *a), seen(eye, *b));
                    let apart = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt();
                    assert!(apart > 0.1, "eye {e}: colours {i} and {j} are only {apart} apart");
                }
            }
        }
    }

    /// The least distance of any two of some colours, for any eye.
    fn apart(colours: &[[f32; 3]]) -> f32 {
        let mut least = f32::INFINITY;
        for eye in &EYES {
            for (i, a) in colours.iter().enumerate() {
                for b in &colours[i + 1..] {
                    let (a, b) = (seen(eye, *a), seen(eye, *b));
                    least = least.min(a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt());
                }
            }
        }
        least
    }

    /// Paths from roots, objects freed by a cut, and marks: each against everything visible beside it. Paths and cones are never shown
    /// together, and during a cut everything else is quiet.
    #[test]
    fn ways_cuts_and_marks_stay_apart_for_every_eye() {
        let growth = [0.0, 0.25, 0.5, 0.75, 1.0].map(growth_colour);
        let ground = [SELECTED_COLOUR, DISTRICT[0], DISTRICT[1]];
        let buildings = [&growth[..], &ground, &[SHRUNK_COLOUR]].concat();
        let least =
            |one: [f32; 3], others: &[[f32; 3]]| others.iter().map(|other| apart(&[one, *other])).fold(9.0, f32::min);
        // Ways are arcs and pins, not walls: of the shades between the colours of growth one may look like them to some eye.
        let beside_ways = [&GROWTH[..], &ground, &[SHRUNK_COLOUR]].concat();
        assert!(least(ROUTE_COLOUR, &beside_ways) > 0.1, "{}", least(ROUTE_COLOUR, &beside_ways));
        let beside_cuts = [&ground[..], &[QUIET_COLOUR, ROUTE_COLOUR]].concat();
        assert!(least(FREED_COLOUR, &beside_cuts) > 0.1, "{}", least(FREED_COLOUR, &beside_cuts));
        assert!(least(FREED_COLOUR, &buildings) > 0.07, "{}", least(FREED_COLOUR, &buildings));
        assert!(apart(&MARK_COLOURS) > 0.08, "{}", apart(&MARK_COLOURS));
        for mark in MARK_COLOURS {
            assert!(least(mark, &buildings) > 0.08, "{mark:?} {}", least(mark, &buildings));
            assert!(least(mark, &[INCOMING_COLOUR, OUTGOING_COLOUR, ROUTE_COLOUR]) > 0.05, "{mark:?}");
        }
    }

    /// Steps of every palette and mode. Values twice as far apart on the scale can be told apart by every eye, and the ends differ at least
    /// as black and gray do. On scales that go both ways, the ends differ as any two colours of different meaning: signs show the direction
    /// as well.
    #[test]
    fn gradients_of_every_mode_and_palette_can_be_read_by_every_eye() {
        use super::super::testing::{inner, leaf};
        use super::super::{Appearance, CityConfig, CityPlan, Look, colour};
        let timeline = inner("Heap", vec![leaf("a", &[1, 5]), leaf("b", &[4, 2])]).timeline();
        let plan = CityPlan::new(&timeline, &CityConfig::default());
        for mode in colour::modes().iter().filter(|mode| mode.id != "none") {
            for palette in &colour::PALETTES {
                let look = Look { colour: mode.id.into(), palette: palette.id.into(), ..Look::default() };
                let appearance = Appearance::new(&plan, &timeline, &look);
                let gradient = &appearance.legend().gradient;
                let what = (mode.id, palette.id);
                let thirds: Vec<[f32; 3]> = [0.0, 0.5, 1.0].map(|at| gradient.at(at)).to_vec();
                assert!(apart(&thirds) > 0.12, "{what:?} {}", apart(&thirds));
                let least = if matches!(mode.id, "change" | "relative") { 0.14 } else { 0.25 };
                assert!(apart(&[gradient.at(0.0), gradient.at(1.0)]) > least, "{what:?}");
            }
        }
    }

    /// The colours of every mode differ from the selection, from references and from the floor, by night and by day; checked in the modes'
    /// own colours, which are the default. By day floors lie between grays that mean something, so the required distance is smaller.
    #[test]
    fn colours_of_every_mode_stay_apart_from_what_else_is_in_the_city() {
        use super::super::testing::{inner, leaf};
        use super::super::theme::DISTRICT_BY_DAY;
        use super::super::{Appearance, CityConfig, CityPlan, Look, colour};
        let [low, high] = DISTRICT_BY_DAY;
        let by_day = [low, mix(low, high, 0.5), high];
        let by_night = [SELECTED_COLOUR, INCOMING_COLOUR, OUTGOING_COLOUR, DISTRICT[0], DISTRICT[1]];
        let others: Vec<_> = by_night.map(|c| (c, 0.095)).into_iter().chain(by_day.map(|c| (c, 0.08))).collect();
        let timeline = inner("Heap", vec![leaf("a", &[1, 5]), leaf("b", &[4, 2])]).timeline();
        let plan = CityPlan::new(&timeline, &CityConfig::default());
        for mode in colour::modes() {
            let look = Look { colour: mode.id.into(), ..Look::default() };
            let gradient = Appearance::new(&plan, &timeline, &look).legend().gradient.clone();
            for (position, (other, least)) in
                [0.0, 0.5, 1.0].into_iter().flat_map(|p| others.iter().map(move |o| (p, o)))
            {
                let apart = apart(&[gradient.at(position), *other]);
                assert!(apart > *least, "{} at {position} and {other:?} are only {apart} apart", mode.id);
            }
        }
        let things = [&MARK_COLOURS[..], &[SELECTED_COLOUR, INCOMING_COLOUR, OUTGOING_COLOUR, SHRUNK_COLOUR]].concat();
        for (district, thing) in by_day.iter().flat_map(|district| things.iter().map(move |thing| (district, thing))) {
            assert!(apart(&[*district, *thing]) > 0.08, "{district:?} {thing:?}");
        }
    }

    #[test]
    fn growth_gets_darker_step_by_step_for_every_eye() {
        for eye in &EYES {
            let lightness: Vec<f32> = (0..=10).map(|i| seen(eye, growth_colour(i as f32 / 10.0))[0]).collect();
            assert!(lightness.is_sorted_by(|a, b| a > b), "{lightness:?}");
            assert!(lightness[0] - lightness[10] > 0.3);
        }
    }
}
