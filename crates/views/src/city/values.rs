//! A city's values over time: one per plot and time, in the chosen metric.
//!
//! Read by colour modes and height rules. May not: know the meaning of the values.

use super::part::CityPart;
use super::plan::CityPlan;
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use rayon::prelude::*;

/// Plots that are computed at once, so that their data stays in the cache of a core.
pub(super) const AT_ONCE: usize = 512;
pub(super) const OF_A_CORE: usize = 16 * AT_ONCE;

/// The value of one plot at one time: looked up once for side, height and colour.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The plot.
    pub plot: usize,
    /// The point in time.
    pub time: usize,
    /// The value at the time.
    pub value: u64,
    /// The value at the base: the first point in time where no other was chosen.
    pub base: u64,
}

impl Sample {
    /// The value minus that of the base.
    #[inline]
    pub fn growth(&self) -> i64 {
        growth(self.base, self.value)
    }
}

/// How much more one value is than another.
#[inline]
pub(super) fn growth(before: u64, after: u64) -> i64 {
    let signed = |value: u64| value.min(i64::MAX as u64) as i64;
    signed(after) - signed(before)
}

/// Some plots, in some order.
#[derive(Clone, Copy, Debug)]
pub enum Plots<'a> {
    /// Neighbours from the first on, and their number.
    Run(u32, usize),
    /// These.
    Of(&'a [u32]),
}

impl<'a> Plots<'a> {
    /// Their number.
    pub(super) fn len(self) -> usize {
        match self {
            Plots::Run(_, len) => len,
            Plots::Of(plots) => plots.len(),
        }
    }

    /// The same plots in blocks of [`AT_ONCE`], the last as long as it is.
    pub(super) fn blocks(self) -> impl Iterator<Item = Plots<'a>> {
        let part = move |at: usize| {
            let len = AT_ONCE.min(self.len() - at);
            match self {
                Plots::Run(first, _) => Plots::Run(first + at as u32, len),
                Plots::Of(plots) => Plots::Of(&plots[at..at + len]),
            }
        };
        (0..self.len()).step_by(AT_ONCE).map(part)
    }

    /// Something of each, from a column of something of all plots.
    pub(super) fn of<T: Copy, U>(self, column: &[T], into: &mut Vec<U>, of: impl Fn(T) -> U) {
        into.clear();
        match self {
            Plots::Run(first, len) => into.extend(column[first as usize..][..len].iter().map(|&one| of(one))),
            Plots::Of(plots) => into.extend(plots.iter().map(|&plot| of(column[plot as usize]))),
        }
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = usize> + Clone + 'a {
        let (run, these) = match self {
            Plots::Run(first, len) => (first as usize..first as usize + len, [].as_slice()),
            Plots::Of(plots) => (0..0, plots),
        };
        run.chain(these.iter().map(|&plot| plot as usize))
    }
}

/// The values of some plots at one time and at the base. Numbers of one kind lie beside each other, so that a processor computes several at
/// once.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    /// The plots, in the order of all that is here.
    pub plots: Plots<'a>,
    /// The values at the time.
    pub values: &'a [u64],
    /// Whether there is a More plot among them.
    pub has_more: bool,
    bases: &'a [u64],
    time: usize,
}

impl<'a> Samples<'a> {
    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = Sample> + 'a {
        let all = self.plots.iter().zip(self.values).zip(self.bases);
        all.map(move |((plot, &value), &base)| Sample { plot, time: self.time, value, base })
    }

    /// Pairs of the value at the base and the value at the time.
    pub fn pairs(self) -> impl Iterator<Item = (u64, u64)> + 'a {
        self.bases.iter().copied().zip(self.values.iter().copied())
    }
}

/// Room for [`Samples`], so that nothing is allocated from some plots to the next.
#[derive(Default)]
pub struct SampleRoom {
    nodes: Vec<NodeId>,
    values: Vec<u64>,
    bases: Vec<u64>,
    /// A buffer for values that the caller did not ask for.
    firsts: Vec<u64>,
}

/// A city's values over time, as colour modes and height rules read them: in units of the metric chosen for them, which may differ from the
/// metric of the areas.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// The plots.
    pub plan: &'a CityPlan,
    /// The trees the city was laid out for.
    pub timeline: &'a Timeline,
    metric: Metric,
    base: usize,
}

impl<'a> Values<'a> {
    /// Values of the metric that areas are made of.
    pub fn of_areas(plan: &'a CityPlan, timeline: &'a Timeline) -> Values<'a> {
        Values { plan, timeline, metric: plan.config().metric, base: 0 }
    }

    /// The same compared with another time than the first.
    #[must_use]
    pub fn since(self, base: usize) -> Values<'a> {
        Values { base, ..self }
    }

    /// The time that growth is counted from.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The same in another metric.
    #[must_use]
    pub fn measured_in(self, metric: Metric) -> Values<'a> {
        Values { metric, ..self }
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    fn is_of_areas(&self) -> bool {
        self.metric == self.plan.config().metric
    }

    /// Largest growth of any building from the base to the last point in time; 0 if none grew. With the last time as base: to any other.
    /// Linear in the nodes if the metric is not that of the areas, or the base not the first time.
    pub fn max_growth(&self) -> u64 {
        let last = self.times().saturating_sub(1);
        match self.base {
            0 if self.is_of_areas() => self.plan.max_growth(),
            0 if self.plan.part() == CityPart::default() => super::mapping::max_growth(self.timeline, self.metric),
            0 => self.largest(|plot| self.value(plot, last).saturating_sub(self.value(plot, 0))),
            base => {
                let at_most = |plot: usize| if base == last { self.peak(plot) } else { self.value(plot, last) };
                self.largest(|plot| at_most(plot).saturating_sub(self.value(plot, base)))
            }
        }
    }

    /// The growth at the red end. For a part of the heap as a city of its own, it is large growth within that part.
    pub fn growth_scale(&self, largest: u64) -> u64 {
        analyses::growth_scale(self.timeline, self.metric, self.plan.part().root, largest)
    }

    /// Where the floor of [`Values::growth_scale`] is the end of the scale, that in words, behind a title; nothing otherwise.
    pub fn floor_text(&self, end: &str, is_floor: bool) -> String {
        match self.plan.part().root {
            _ if !is_floor => String::new(),
            NodeId::ROOT => format!(", {end}: 5 % of the heap"),
            _ => format!(", {end}: 5 % of this part"),
        }
    }

    /// Largest difference between any two times of any building, whatever the base.
    pub fn max_difference(&self) -> u64 {
        self.largest(|plot| {
            let low = (0..self.times()).map(|t| self.value(plot, t)).min().unwrap_or(0);
            self.peak(plot) - low
        })
    }

    /// The largest value of a plot over all times.
    pub fn peak(&self, plot: usize) -> u64 {
        match self.plan.building(plot) {
            Some(node) => self.timeline.peak(node, self.metric),
            None => (0..self.times()).map(|t| self.value(plot, t)).max().unwrap_or(0),
        }
    }

    /// The number of points in time.
    pub fn times(&self) -> usize {
        self.timeline.times()
    }

    /// The values of a plot at time `t` and at the base.
    #[inline]
    pub fn sample(&self, plot: usize, t: usize) -> Sample {
        let (value, base) = match self.plan.building(plot) {
            // The first time is where a search begins anyway.
            _ if self.base == 0 && self.is_of_areas() => self.plan.value_and_first(self.timeline, t, plot),
            Some(node) if self.base == 0 => self.timeline.value_and_first(t, node, self.metric),
            _ => (self.value(plot, t), self.value(plot, self.base)),
        };
        Sample { plot, time: t, value, base }
    }

    /// The same for many plots.
    pub fn samples<'s>(&self, plots: Plots<'s>, t: usize, room: &'s mut SampleRoom) -> Samples<'s> {
        let SampleRoom { nodes, values, bases, firsts } = room;
        let has_more = self.plan.occupants.nodes_of(plots, nodes);
        values.resize(plots.len(), 0);
        bases.resize(plots.len(), 0);
        self.timeline.values_and_firsts(t, nodes, self.metric, (values, bases));
        if self.base > 0 {
            firsts.resize(plots.len(), 0);
            self.timeline.values_and_firsts(self.base, nodes, self.metric, (bases, firsts));
        }
        if has_more {
            let all = plots.iter().zip(values.iter_mut().zip(&mut *bases));
            for (plot, (value, base)) in all.filter(|&(plot, _)| self.plan.is_more(plot)) {
                (*value, *base) = (self.value(plot, t), self.value(plot, self.base));
            }
        }
        Samples { plots, values, bases, has_more, time: t }
    }

    /// The value of a plot at time `t`.
    pub fn value(&self, plot: usize, t: usize) -> u64 {
        match self.plan.building(plot) {
            _ if self.is_of_areas() => self.plan.value(self.timeline, t, plot),
            Some(node) => self.timeline.value(t, node, self.metric),
            None => {
                let values = self.plan.pruned(plot).iter().map(|&node| self.timeline.value(t, node, self.metric));
                values.fold(0, u64::saturating_add)
            }
        }
    }

    /// The whole heap at time `t`.
    pub fn heap(&self, t: usize) -> u64 {
        self.timeline.value(t, NodeId::ROOT, self.metric())
    }

    /// True if a plot stands for several pruned groups: flat under any height rule.
    pub fn is_more(&self, plot: usize) -> bool {
        self.plan.is_more(plot)
    }

    /// Something of each building (not More plots).
    pub fn of_buildings(&self, of: impl Fn(usize) -> u64 + Sync + Send) -> Vec<u64> {
        let plots = (0..self.plan.plots.len()).into_par_iter().with_min_len(2048);
        plots.filter(|&p| !self.is_more(p)).map(of).collect()
    }

    /// The largest of something over all buildings (not More plots); 0 without any.
    pub fn largest(&self, of: impl Fn(usize) -> u64 + Sync + Send) -> u64 {
        let plots = (0..self.plan.plots.len()).into_par_iter().with_min_len(2048);
        plots.filter(|&p| !self.is_more(p)).map(of).max().unwrap_or(0)
    }
}
