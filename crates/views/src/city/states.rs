//! What changes with time: one small record per plot, everything else stays where it is.

use super::{CityPlan, PlotKind};
use memory_city_analysis::timeline::{NodeId, Timeline};
use rayon::prelude::*;
use std::cmp::Reverse;

/// A plot at one point in time, as the GPU wants it: eight bytes, to be interpolated linearly between two times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct PlotState {
    /// Side of the current base as a fraction of the cell's side: `gap * sqrt(f(value) / f(maximum))`, 0 when absent;
    /// smaller by the same factor everywhere once a building has outgrown its plot ([`CityPlan::outgrowth`]).
    pub scale: f32,
    /// Position on the growth colour scale, 0 to 1: growth since the first point in time over the largest growth of
    /// any building in the whole window.
    pub growth: f32,
}

impl CityPlan {
    /// The state of every plot at time `t`.
    ///
    /// # Panics
    /// If `t` is not a time of the timeline, or the timeline is not the one the city was laid out for.
    pub fn states(&self, timeline: &Timeline, t: usize) -> Vec<PlotState> {
        (0..self.plots.len()).into_par_iter().with_min_len(2048).map(|plot| self.state(timeline, plot, t)).collect()
    }

    /// The state of one plot at time `t`; panics as [`CityPlan::states`].
    pub fn state(&self, timeline: &Timeline, plot: usize, t: usize) -> PlotState {
        let metric = self.config.metric;
        let p = &self.plots[plot];
        let (now, growth) = match p.kind {
            PlotKind::Building(node) => {
                (timeline.value(t, node, metric), timeline.growth_until(t, node, metric) as f64)
            }
            PlotKind::More { .. } => {
                let value = |t| self.value(timeline, t, plot);
                (value(t), value(t) as f64 - value(0) as f64)
            }
        };
        let f = |v: f64| self.config.area_mode.of(v);
        let room = f(p.max_value as f64) * self.outgrowth;
        // Only a More plot can hold more than it has room for.
        let share = if now == 0 { 0.0 } else { (f(now as f64) / room).min(1.0) };
        let scale = self.config.gap * share.sqrt();
        PlotState { scale: scale as f32, growth: self.growth_position(growth) as f32 }
    }

    /// Where a growth (in units of the metric) is on the colour scale. Shrinking is 0; a peak above the largest
    /// overall growth is 1; if nothing grew over the window, everything is 0.
    pub fn growth_position(&self, growth: f64) -> f64 {
        if self.max_growth == 0 { 0.0 } else { (growth / self.max_growth as f64).clamp(0.0, 1.0) }
    }

    /// Which plots are opaque: the `n` buildings that grow most over the whole window, whatever the time shown. Equal
    /// growth goes to the larger maximum, then by key, so that a single dump shows its largest buildings.
    /// A More plot is opaque if it holds a leaf that grows and would be among the `n` if it had a plot.
    pub fn solid(&self, timeline: &Timeline, n: usize) -> Vec<bool> {
        let metric = self.config.metric;
        let mut solid = vec![false; self.plots.len()];
        let rank = |node: NodeId| (Reverse(timeline.growth(node, metric)), Reverse(timeline.peak(node, metric)));
        let mut buildings: Vec<(NodeId, usize)> = self
            .plots
            .iter()
            .enumerate()
            .filter_map(|(i, p)| if let PlotKind::Building(node) = p.kind { Some((node, i)) } else { None })
            .collect();
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
                && matches!(self.plots[plot].kind, PlotKind::More { .. })
                && timeline.is_leaf(node)
                && timeline.growth(node, metric) > 0
                && weakest.is_none_or(|w| rank(node) < w)
            {
                solid[plot] = true;
            }
        }
        solid
    }
}
