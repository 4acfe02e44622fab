//! What colours mean, as data: the picture's legend is drawn from this, and tests hold it to the colours of buildings.

use super::colour::Palette;
use super::{CityPlan, PlotState};
use rayon::prelude::*;

/// A gradient: colours at equal distances, linear in between. Linear-light RGB, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    colours: Vec<[f32; 3]>,
    kind: GradientKind,
}

/// What a gradient is for: a palette has colours for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GradientKind {
    /// From nothing to the most.
    Sequential,
    /// From less over the same to more.
    Diverging,
    /// One colour, whatever the palette.
    Single,
}

impl Gradient {
    /// How many colours shaders take: a gradient through two, three or five colours is drawn exactly.
    pub const STOPS: usize = 5;

    /// A gradient through these colours; at least one.
    pub fn new(colours: &[[f32; 3]]) -> Gradient {
        assert!(!colours.is_empty(), "a gradient has a colour");
        let kind = if colours.len() == 1 { GradientKind::Single } else { GradientKind::Sequential };
        Gradient { colours: colours.to_vec(), kind }
    }

    /// One from less over the same to more: the middle colour says that nothing is different.
    pub fn diverging(colours: &[[f32; 3]]) -> Gradient {
        Gradient { kind: GradientKind::Diverging, ..Gradient::new(colours) }
    }

    /// The gradient in another palette, where that has colours of its own.
    #[must_use]
    pub fn in_palette(&self, palette: &Palette) -> Gradient {
        let of = match self.kind {
            GradientKind::Sequential => palette.sequential,
            GradientKind::Diverging => palette.diverging,
            GradientKind::Single => None,
        };
        of.map_or_else(|| self.clone(), |colours| Gradient { colours: colours.to_vec(), kind: self.kind })
    }

    /// The colour at a position; outside 0 to 1 that of the ends.
    pub fn at(&self, position: f32) -> [f32; 3] {
        let last = self.colours.len() - 1;
        let p = if position.is_nan() { 0.0 } else { position.clamp(0.0, 1.0) * last as f32 };
        let low = (p as usize).min(last.saturating_sub(1));
        let (a, b) = (self.colours[low], self.colours[(low + 1).min(last)]);
        let mix = p - low as f32;
        std::array::from_fn(|i| a[i] * (1.0 - mix) + b[i] * mix)
    }

    /// The gradient as shaders take it: [`Gradient::STOPS`] colours at equal distances.
    pub fn stops(&self) -> [[f32; 3]; Self::STOPS] {
        std::array::from_fn(|i| self.at(i as f32 / (Self::STOPS - 1) as f32))
    }
}

/// One mark of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Place on the gradient, 0 to 1.
    pub position: f32,
    /// What that place means: the value in units of the city's metric, or of the mode's own.
    pub value: f64,
    /// The same for people, with its unit.
    pub text: String,
}

/// What the colours of a city mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// What is coloured: `Growth since the first state, bytes`.
    pub title: String,
    /// The colours.
    pub gradient: Gradient,
    /// Ascending by position. Empty where colours mean nothing; a single one where all buildings have one colour.
    pub marks: Vec<Mark>,
}

/// How many buildings have which colour at one time: the legend draws it over the gradient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColourHistogram {
    /// Buildings by place on the gradient, in parts of equal width.
    pub counts: [u32; ColourHistogram::PARTS],
}

impl ColourHistogram {
    /// Parts of the gradient.
    pub const PARTS: usize = 32;

    /// Of the buildings that are there; More plots have no colour of their own. Linear in the plots.
    pub fn new(plan: &CityPlan, state: impl Fn(usize) -> PlotState + Sync) -> ColourHistogram {
        let plots = (0..plan.plots.len()).into_par_iter().with_min_len(8192);
        let counted = plots.fold(
            || [0u32; Self::PARTS],
            |mut counts, plot| {
                let state = state(plot);
                if state.side > 0 && !plan.is_more(plot) {
                    counts[(usize::from(state.colour) * Self::PARTS) >> 16] += 1;
                }
                counts
            },
        );
        let counts = counted.reduce(|| [0; Self::PARTS], |a, b| std::array::from_fn(|i| a[i] + b[i]));
        ColourHistogram { counts }
    }

    /// How many there are.
    pub fn buildings(&self) -> u32 {
        self.counts.iter().sum()
    }
}
