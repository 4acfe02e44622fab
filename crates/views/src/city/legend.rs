//! The legend of the colours, as data. The picture draws it, and tests compare it with the colours of buildings.

use super::colour::Palette;
use super::mapping::FREED_COLOUR;
use super::states::PlotState;

/// A gradient: colours at equal distances, linear in between. Linear-light RGB, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    colours: Vec<[f32; 3]>,
    kind: GradientKind,
}

/// The kind of scale of a gradient: a palette has colours for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GradientKind {
    /// From nothing to the maximum.
    Sequential,
    /// From less over the same to more.
    Diverging,
    /// One colour, for any palette.
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

    /// Whether it goes both ways from the middle.
    pub fn is_diverging(&self) -> bool {
        self.kind == GradientKind::Diverging
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
    /// The value at that place, in units of the city's metric or of the mode's own.
    pub value: f64,
    /// The same for people, with its unit.
    pub text: String,
}

/// The meaning of a city's colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// The title: `Growth since the first state, bytes`.
    pub title: String,
    /// The colours.
    pub gradient: Gradient,
    /// Ascending by position. Empty where colours mean nothing; a single one where all buildings have one colour.
    pub marks: Vec<Mark>,
}

impl Legend {
    /// The legend of a cut: the freed share of each building, from all kept to all freed.
    pub fn of_cut(stays: [f32; 3]) -> Legend {
        let mark =
            |share: f64, text: &str| Mark { position: freed_position(share as f32), value: share, text: text.into() };
        Legend {
            title: "What the cut would free of each building".to_owned(),
            gradient: Gradient::new(&[stays, FREED_COLOUR]),
            marks: vec![mark(0.0, "stays"), mark(0.25, "25 %"), mark(1.0, "freed")],
        }
    }
}

/// The position of a building between kept and freed, 0 to 1, by its freed share: a little shows already. `shaders/boxes.wgsl` mixes
/// colours the same way.
pub fn freed_position(share: f32) -> f32 {
    share.clamp(0.0, 1.0).sqrt()
}

/// How many buildings have which colour at one time: the legend draws it over the gradient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColourHistogram {
    /// Buildings by place on the gradient, in parts of equal width.
    pub counts: [u32; ColourHistogram::PARTS],
}

impl ColourHistogram {
    /// Parts of the gradient.
    pub const PARTS: usize = 32;

    /// Counts all plots, More plots too: these have no colour of their own, see [`ColourHistogram::remove`]. Linear in the states.
    pub fn of(states: &[PlotState]) -> ColourHistogram {
        // Four counts side by side, each with as many places again for what is not there: neighbours often have one colour, and a count
        // that was just written has to be waited for.
        const WIDTH: usize = 2 * ColourHistogram::PARTS;
        let mut counts = [0u32; 4 * WIDTH];
        let mut count = |lane: usize, state: &PlotState| {
            let absent = usize::from(state.side == 0) * Self::PARTS;
            // The bits that there are: nothing has to be compared.
            counts[(lane * WIDTH + absent + Self::part(*state)) % (4 * WIDTH)] += 1;
        };
        let (fours, rest) = states.as_chunks::<4>();
        for [a, b, c, d] in fours {
            count(0, a);
            count(1, b);
            count(2, c);
            count(3, d);
        }
        rest.iter().for_each(|state| count(0, state));
        ColourHistogram { counts: std::array::from_fn(|i| (0..4).map(|lane| counts[lane * WIDTH + i]).sum()) }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: ColourHistogram) -> ColourHistogram {
        ColourHistogram { counts: std::array::from_fn(|i| self.counts[i] + other.counts[i]) }
    }

    /// One more.
    pub fn add(&mut self, state: PlotState) {
        self.counts[Self::part(state)] += u32::from(state.side > 0);
    }

    /// One less of those that were counted.
    pub fn remove(&mut self, state: PlotState) {
        let count = &mut self.counts[Self::part(state)];
        *count = count.saturating_sub(u32::from(state.side > 0));
    }

    #[inline]
    fn part(state: PlotState) -> usize {
        (usize::from(state.colour) * Self::PARTS) >> 16
    }

    /// Their number.
    pub fn buildings(&self) -> u32 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_of_a_cut_has_what_stays_at_one_end_and_what_goes_at_the_other() {
        let stays = [0.1, 0.2, 0.3];
        let legend = Legend::of_cut(stays);
        assert_eq!((legend.gradient.at(0.0), legend.gradient.at(1.0)), (stays, FREED_COLOUR));
        for mark in &legend.marks {
            assert_eq!(mark.position, freed_position(mark.value as f32), "{}", mark.text);
        }
        // Building by building, as the city counts them.
        let mut counted = ColourHistogram::default();
        for share in [0.0, 0.0, 1.0, 0.25, 7.0] {
            let colour = (freed_position(share) * f32::from(u16::MAX)).round() as u16;
            counted.add(PlotState { side: 1, colour, ..PlotState::default() });
        }
        let (last, middle) = (ColourHistogram::PARTS - 1, ColourHistogram::PARTS / 2);
        assert_eq!([0, middle, last].map(|part| counted.counts[part]), [2, 1, 2]);
    }
}
