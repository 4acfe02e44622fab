//! Palettes: the colours of all modes at once. The first has the modes' own colours, with growth as in the paper; it is the default, and
//! tested for every kind of colour blindness. The others get steadily lighter or darker.

use super::super::mapping::{GROWTH, SHRUNK_COLOUR};

/// Colours for gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Palette {
    /// Short name for command lines and settings.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// A sentence about its look, for people.
    pub explanation: &'static str,
    /// Colours from nothing to the maximum, linear-light RGB; `None`: the mode's own.
    pub sequential: Option<&'static [[f32; 3]]>,
    /// Colours from less over the same to more, likewise.
    pub diverging: Option<&'static [[f32; 3]]>,
}

/// Less, the same, more: dark teal (#006070), teal (#1F97A8), gray (#D1D1D1), orange (#E66000), red (#B20617). Teal is as light as orange,
/// so that a decrease is as visible as an increase of the same size.
pub(super) const LESS_AND_MORE: [[f32; 3]; 5] =
    [SHRUNK_COLOUR, [0.013702, 0.309469, 0.391572], GROWTH[0], GROWTH[1], GROWTH[2]];

/// After viridis (van der Walt and Smith, matplotlib), without its darkest end: #414487, #2A788E, #22A884, #7AD151, #FDE725.
const VIRIDIS: [[f32; 3]; 5] = [
    [0.052861, 0.057805, 0.242281],
    [0.023153, 0.187821, 0.270498],
    [0.015996, 0.391572, 0.230740],
    [0.194618, 0.637597, 0.082283],
    [0.982251, 0.799103, 0.018500],
];
/// After cividis (Nuñez, Anderton and Renslow 2018), likewise: #35466B, #5D6370, #878479, #B6A871, #FEE838.
const CIVIDIS: [[f32; 3]; 5] = [
    [0.035601, 0.061246, 0.147027],
    [0.109462, 0.124772, 0.162029],
    [0.242281, 0.230740, 0.191202],
    [0.467784, 0.391572, 0.165132],
    [0.991102, 0.806952, 0.039546],
];
/// Blue (#0072B2), gray (#D1D1D1), amber (#E69F00): Okabe and Ito's.
const BLUE_AND_AMBER: [[f32; 3]; 3] =
    [[0.000000, 0.168269, 0.445201], [0.637597, 0.637597, 0.637597], [0.791298, 0.346704, 0.000000]];
/// Light (#E8E8E8) to dark (#242424), and both sides of a middle gray (#8C8C8C).
const GRAY: [[f32; 3]; 2] = [[0.806952, 0.806952, 0.806952], [0.017642, 0.017642, 0.017642]];
const GRAY_BOTH: [[f32; 3]; 3] =
    [[0.017642, 0.017642, 0.017642], [0.262251, 0.262251, 0.262251], [0.871367, 0.871367, 0.871367]];

/// All palettes, the default first.
pub const PALETTES: [Palette; 4] = [
    Palette {
        id: "paper",
        title: "as in the paper",
        explanation: "Growth is gray, orange, red; each mode has its own colours. Safe for colour blindness",
        sequential: None,
        diverging: None,
    },
    Palette {
        id: "viridis",
        title: "viridis",
        explanation: "Blue over green to yellow, the more the lighter",
        sequential: Some(&VIRIDIS),
        diverging: Some(&BLUE_AND_AMBER),
    },
    Palette {
        id: "cividis",
        title: "cividis",
        explanation: "Blue over gray to yellow, the more the lighter: looks the same to most colour-blind eyes",
        sequential: Some(&CIVIDIS),
        diverging: Some(&BLUE_AND_AMBER),
    },
    Palette {
        id: "gray",
        title: "gray",
        explanation: "Without hues: the more the darker, for printing",
        sequential: Some(&GRAY),
        diverging: Some(&GRAY_BOTH),
    },
];

/// The palette of an id, or the default.
pub fn palette(id: &str) -> &'static Palette {
    PALETTES.iter().find(|palette| palette.id == id).unwrap_or(&PALETTES[0])
}
