//! Plot states: one small record per plot with everything that changes with time.

use super::config::AreaMode;
use super::plan::CityPlan;
use super::values::Samples;
use bytemuck::{Pod, Zeroable};
use memory_city_analysis::timeline::{NodeId, Timeline};
use rayon::prelude::*;
use std::cmp::Reverse;

/// A plot at one point in time, eight bytes, to be interpolated linearly between two times. The GPU draws it and picking hits it. Each
/// field is a share of 1 in steps of 1/65535.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct PlotState {
    /// Side of the current base as a fraction of the cell's side, 0 when absent ([`CityPlan::side`]).
    pub side: u16,
    /// Height as a fraction of [`super::Appearance::height_unit`].
    pub height: u16,
    /// Position on the gradient of the colour mode.
    pub colour: u16,
    /// Opacity.
    pub opacity: u16,
}

/// A building on a plot, as numbers to compute with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// Side of the base as a fraction of the cell's side; 0 when nothing stands there.
    pub side: f32,
    /// Height above the ground of the plot, world units.
    pub height: f32,
}

impl Standing {
    /// The state `mix` of the way from `self` to `other`.
    pub fn lerp(self, other: Standing, mix: f32) -> Standing {
        let one = |a: f32, b: f32| a + (b - a) * mix;
        Standing { side: one(self.side, other.side), height: one(self.height, other.height) }
    }
}

/// The largest number of a state.
const FULL: f32 = 65535.0;

impl PlotState {
    /// The state of a district slab: it fills its cell, hides everything behind it, and has its colour and height from elsewhere.
    pub const SLAB: PlotState = PlotState { side: u16::MAX, height: 0, colour: 0, opacity: u16::MAX };

    /// The states `mix` of the way from some to others, on all cores.
    pub fn between(from: &[PlotState], to: &[PlotState], mix: f32) -> Vec<PlotState> {
        let one = |(from, to): (&PlotState, &PlotState)| if from == to { *from } else { from.lerp(*to, mix) };
        from.par_iter().zip(to).with_min_len(1 << 14).map(one).collect()
    }

    /// States of so many empty plots. On all cores: most of it is memory that the system hands out for the first time.
    pub fn none(plots: usize) -> Vec<PlotState> {
        rayon::iter::repeat_n(PlotState::default(), plots).with_min_len(1 << 15).collect()
    }

    /// Values are shares of 1. A side above 0 never becomes 0, so that it stays visible. NaN becomes 0.
    #[inline]
    pub fn new(side: f32, height: f32, colour: f32, opacity: f32) -> PlotState {
        // By hand, since this is done for every plot at every step in time, for several at once where the compiler sees how: rounded in a
        // number of at least 2^23, whose last bits are those of the whole number, and put together in halves.
        const WHOLE: f32 = (1u32 << 23) as f32;
        let units = |share: f32| {
            let share = if share > 0.0 { share } else { 0.0 };
            let share = if share < 1.0 { share } else { 1.0 };
            (share * FULL + WHOLE).to_bits() & 0xffff
        };
        let side_units = units(side);
        let side_units = if side_units == 0 && side > 0.0 { 1 } else { side_units };
        let halves = [side_units | units(height) << 16, units(colour) | units(opacity) << 16];
        bytemuck::cast(halves.map(u32::to_le))
    }

    /// The state `mix` of the way from `self` to `other`.
    pub fn lerp(self, other: PlotState, mix: f32) -> PlotState {
        // Rounded: none of them is below 0.
        let one = |a: u16, b: u16| (f32::from(a) + (f32::from(b) - f32::from(a)) * mix + 0.5) as u16;
        PlotState {
            side: one(self.side, other.side),
            height: one(self.height, other.height),
            colour: one(self.colour, other.colour),
            opacity: one(self.opacity, other.opacity),
        }
    }

    /// Position on the gradient, 0 to 1.
    pub fn colour(self) -> f32 {
        f32::from(self.colour) / FULL
    }

    /// Side and height where full height is `unit` world units.
    #[inline]
    pub fn standing(self, unit: f32) -> Standing {
        let share = |v: u16| f32::from(v) / FULL;
        Standing { side: share(self.side), height: share(self.height) * unit }
    }
}

/// A count as a fraction. A processor turns numbers with a sign into those, and others by a detour.
#[inline]
pub(super) fn real(count: u64) -> f32 {
    count.min(i64::MAX as u64) as i64 as f32
}

impl CityPlan {
    /// Side of the building's base at time `t`, as a fraction of its cell's side: `gap * sqrt(f(value) / f(maximum))`, 0 when absent.
    /// Smaller by the same factor everywhere once a building of a live city has outgrown its plot.
    ///
    /// # Panics
    /// If `t` is not a time of the timeline, or the timeline is not the one the city was laid out for.
    pub fn side(&self, timeline: &Timeline, plot: usize, t: usize) -> f64 {
        self.side_of(plot, self.value(timeline, t, plot))
    }

    /// The same for a value of the city's metric.
    pub(super) fn side_of(&self, plot: usize, now: u64) -> f64 {
        // Of a quotient it is the quotient of both. Only a More plot can hold more than it has room for.
        let share = self.config.area_mode.of(self.share_of(plot, now)) / self.outgrowth;
        self.config.gap * share.min(1.0).sqrt()
    }

    /// A value as a share of the plot's largest.
    #[inline]
    pub(super) fn share_of(&self, plot: usize, now: u64) -> f64 {
        now as f64 / self.max_value(plot).max(1) as f64
    }

    /// [`CityPlan::share_of`] of many, as exact as a [`PlotState`] needs it, and the largest values they are shares of.
    pub(super) fn shares_of(&self, samples: Samples<'_>, shares: &mut Vec<f32>, largest: &mut Vec<f32>) {
        self.occupants.max_values_of(samples.plots, largest);
        shares.clear();
        shares.extend(samples.values.iter().map(|&now| real(now)));
        shares.iter_mut().zip(largest.iter()).for_each(|(share, largest)| *share /= largest);
    }

    /// Turns shares of the largest values into sides, as exact as a [`PlotState`] needs them: a processor computes several at once.
    pub(super) fn sides_of(&self, shares: &mut [f32]) {
        let (gap, scale) = (self.config.gap as f32, (1.0 / self.outgrowth) as f32);
        let side = |mapped: f32| gap * (mapped * scale).min(1.0).sqrt();
        match self.config.area_mode {
            AreaMode::Linear => shares.iter_mut().for_each(|share| *share = side(*share)),
            AreaMode::Sqrt => shares.iter_mut().for_each(|share| *share = side(share.sqrt())),
        }
    }

    /// [`CityPlan::height`] of many buildings, written over their largest values: twice the side of the base. The side follows from the
    /// largest value, as the cell does, and is nearer to hand.
    pub(super) fn heights_of(&self, sides: &[f32], heights: &mut [f32]) {
        let twice = 2.0 * self.area_per_unit.sqrt() as f32;
        let all = heights.iter_mut().zip(sides);
        match self.config.area_mode {
            AreaMode::Linear => all.for_each(|(height, side)| *height = twice * side * height.sqrt()),
            AreaMode::Sqrt => all.for_each(|(height, side)| *height = twice * side * height.sqrt().sqrt()),
        }
    }

    /// The opaque plots: the `n` buildings that grow most over the whole window, whatever the time shown. Equal growth goes to the larger
    /// maximum, then by key, so that a single dump shows its largest buildings. A More plot is opaque if it holds a leaf that grows and
    /// would be among the `n` if it had a plot.
    ///
    /// With a `base`, the buildings that come furthest above it or end furthest below it.
    pub fn solid(&self, timeline: &Timeline, n: usize, base: Option<usize>) -> Vec<bool> {
        let metric = self.config.metric;
        let mut solid = vec![false; self.plots.len()];
        let last = timeline.times().saturating_sub(1);
        let change = |node: NodeId| match base {
            None => timeline.growth(node, metric),
            Some(base) => {
                let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
                let value = |t: usize| signed(timeline.value(t, node, metric));
                let more = signed(timeline.peak(node, metric)) - value(base);
                more.max(value(base) - value(last))
            }
        };
        let rank = |node: NodeId| (Reverse(change(node)), Reverse(timeline.peak(node, metric)));
        let building = |plot: usize| Some((self.building(plot)?, plot));
        let mut buildings: Vec<(NodeId, usize)> = (0..self.plots.len()).filter_map(building).collect();
        if n == 0 {
            return solid;
        }
        if buildings.len() > n {
            buildings.select_nth_unstable_by(n - 1, |a, b| rank(a.0).cmp(&rank(b.0)).then(a.0.cmp(&b.0)));
            buildings.truncate(n);
        }
        buildings.iter().for_each(|&(_, plot)| solid[plot] = true);
        let weakest = if buildings.len() == n { buildings.iter().map(|&(node, _)| rank(node)).max() } else { None };
        for i in (0..timeline.len()).filter(|_| !self.mores.is_empty()) {
            let node = NodeId(i as u32);
            if let Some(plot) = self.plot_of(node)
                && self.is_more(plot)
                && timeline.is_leaf(node)
                && change(node) > 0
                && weakest.is_none_or(|w| rank(node) < w)
            {
                solid[plot] = true;
            }
        }
        solid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_small_and_never_lose_a_building() {
        assert_eq!(size_of::<PlotState>(), 8);
        for (side, share) in [(0.0, 0.0), (1.0, 1.0), (1e-9, 0.5), (0.25, 0.75)] {
            let state = PlotState::new(side as f32, share as f32, share as f32, share as f32);
            assert_eq!(state.side == 0, side == 0.0, "{side}");
            let standing = state.standing(10.0);
            assert!((f64::from(standing.side) - side).abs() < 2e-5);
            assert!((f64::from(standing.height) - 10.0 * share).abs() < 2e-4);
        }
        let (a, b) = (PlotState::default(), PlotState::SLAB);
        assert_eq!((a.lerp(b, 0.0), a.lerp(b, 1.0)), (a, b));
    }
}
