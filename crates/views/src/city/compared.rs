//! Comparison of two points in time: how many groups grew, shrank, appeared and vanished, and by how much together.
//!
//! May not: draw.

use super::change::{Change, is_slight};
use super::plan::CityPlan;
use super::values::OF_A_CORE;
use super::values::{Plots, SampleRoom, Values};
use memory_city_analysis::timeline::{NodeId, Timeline};
use rayon::prelude::*;

/// How many groups changed in one way, and by how much together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeSum {
    /// Groups.
    pub groups: u64,
    /// The sum of the differences without their sign, in units of the city's metric.
    pub amount: u64,
}

/// Two points in time compared, group by group: each building, and each of those that share a More plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// More than in the base.
    pub grown: ChangeSum,
    /// Less.
    pub shrunk: ChangeSum,
    /// Not in the base.
    pub appeared: ChangeSum,
    /// Only in the base.
    pub vanished: ChangeSum,
    /// Groups that are there and have the same value.
    pub same: ChangeSum,
    /// Groups that grew or shrank by too little to be drawn, see [`SLIGHT_CHANGE`].
    pub slight: u64,
}

impl Comparison {
    /// Compares time `t` with time `base`, in the metric of the areas. Linear in the groups.
    ///
    /// # Panics
    /// If one of them is not a time of the timeline.
    pub fn between(plan: &CityPlan, timeline: &Timeline, base: usize, t: usize) -> Comparison {
        let values = Values::of_areas(plan, timeline).since(base);
        let parts = (0..plan.plots.len().div_ceil(OF_A_CORE)).into_par_iter();
        let sums = parts.map(|part| {
            let mut sum = Comparison::default();
            let plots = part * OF_A_CORE..plan.plots.len().min((part + 1) * OF_A_CORE);
            let mut room = SampleRoom::default();
            for plots in Plots::Run(plots.start as u32, plots.len()).blocks() {
                let samples = values.samples(plots, t, &mut room);
                if !samples.has_more {
                    samples.pairs().for_each(|of| sum.add(of));
                    continue;
                }
                for (plot, of) in plots.iter().zip(samples.pairs()) {
                    sum.of_plot(&values, plot, of, t, Comparison::add);
                }
            }
            sum
        });
        sums.reduce(Comparison::default, Comparison::and)
    }

    /// The comparison of the same base with time `t`, updated from the one with time `from` and the plots that differ. Exact unless a sum
    /// overflowed. Linear in these plots.
    ///
    /// # Panics
    /// As [`Comparison::between`].
    #[must_use]
    pub fn moved(
        mut self,
        plan: &CityPlan,
        timeline: &Timeline,
        (base, from, t): (usize, usize, usize),
        changed: &[u32],
    ) -> Comparison {
        let values = Values::of_areas(plan, timeline).since(base);
        let mut room = SampleRoom::default();
        for plots in Plots::Of(changed).blocks() {
            for (t, count) in [(from, Comparison::remove as fn(&mut Comparison, (u64, u64))), (t, Comparison::add)] {
                let samples = values.samples(plots, t, &mut room);
                for (plot, of) in plots.iter().zip(samples.pairs()) {
                    self.of_plot(&values, plot, of, t, count);
                }
            }
        }
        self
    }

    /// Counts a building, which has this at the base and then, or each group of a More plot.
    fn of_plot(
        &mut self,
        values: &Values<'_>,
        plot: usize,
        of: (u64, u64),
        t: usize,
        count: impl Fn(&mut Comparison, (u64, u64)),
    ) {
        let at = |t: usize, node: NodeId| values.timeline.value(t, node, values.metric());
        match values.is_more(plot) {
            false => count(self, of),
            true => {
                values.plan.pruned(plot).iter().for_each(|&node| count(self, (at(values.base(), node), at(t, node))))
            }
        }
    }

    fn add(&mut self, of: (u64, u64)) {
        if let Some((sum, amount, slight)) = self.counted(of) {
            (sum.groups, sum.amount) = (sum.groups + 1, sum.amount.saturating_add(amount));
            self.slight += slight;
        }
    }

    fn remove(&mut self, of: (u64, u64)) {
        if let Some((sum, amount, slight)) = self.counted(of) {
            (sum.groups, sum.amount) = (sum.groups.saturating_sub(1), sum.amount.saturating_sub(amount));
            self.slight = self.slight.saturating_sub(slight);
        }
    }

    /// Where a group counts, by how much, and whether it is slight; nowhere when it is at neither time.
    fn counted(&mut self, (before, after): (u64, u64)) -> Option<(&mut ChangeSum, u64, u64)> {
        let change = Change::of(before, after);
        let slight = matches!(change, Change::Grown | Change::Shrunk) && is_slight(before, after);
        let sum = match change {
            Change::Grown => &mut self.grown,
            Change::Shrunk => &mut self.shrunk,
            Change::Appeared => &mut self.appeared,
            Change::Vanished => &mut self.vanished,
            Change::Same if after == 0 => return None,
            Change::Same => &mut self.same,
        };
        Some((sum, before.abs_diff(after), u64::from(slight)))
    }

    fn and(self, other: Comparison) -> Comparison {
        let sum = |a: ChangeSum, b: ChangeSum| ChangeSum {
            groups: a.groups + b.groups,
            amount: a.amount.saturating_add(b.amount),
        };
        Comparison {
            grown: sum(self.grown, other.grown),
            shrunk: sum(self.shrunk, other.shrunk),
            appeared: sum(self.appeared, other.appeared),
            vanished: sum(self.vanished, other.vanished),
            same: sum(self.same, other.same),
            slight: self.slight + other.slight,
        }
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        [self.grown, self.shrunk, self.appeared, self.vanished].iter().all(|sum| sum.groups == 0)
    }

    /// The same with base and shown time in each other's place.
    #[must_use]
    pub fn reversed(self) -> Comparison {
        Comparison { grown: self.shrunk, shrunk: self.grown, appeared: self.vanished, vanished: self.appeared, ..self }
    }
}
