//! Marks over the plots: the outline of the older state (its ghost), the sign of change, and a mark on buildings drawn lower than they are.
//! All are readable without colour.
//!
//! While nothing is compared, a building that lost much since the first state has a sign too: growth has colours, and shrinking none. May
//! not: draw.

use super::change::{Change, direction, sign};
use super::look::Appearance;
use super::plan::CityPlan;
use super::states::PlotState;
use super::values::{AT_ONCE, OF_A_CORE, Plots, SampleRoom, Values};
use memory_city_analysis::timeline::{NodeId, Timeline};
use rayon::prelude::*;

/// A group that has lost so much of the largest heap since the first state has a sign, though nothing is compared.
pub const NOTABLE_LOSS: f64 = 0.01;

/// The plots that can have lost so much: they had it at first, so there are a hundred of them at most.
#[derive(Default)]
pub(super) struct MayShrink {
    plots: Vec<u32>,
    least: u64,
}

impl MayShrink {
    /// Finds them: linear in the plots.
    pub(super) fn find(plan: &CityPlan, timeline: &Timeline) -> MayShrink {
        let metric = plan.config().metric;
        let heap = (0..timeline.times()).map(|t| timeline.value(t, NodeId::ROOT, metric)).max().unwrap_or(0);
        let least = ((heap as f64 * NOTABLE_LOSS).ceil() as u64).max(1);
        let plots = (0..plan.plots.len()).into_par_iter().with_min_len(2048);
        let has_it = |&plot: &usize| plan.building(plot).is_some_and(|node| timeline.value(0, node, metric) >= least);
        let plots =
            if timeline.times() < 2 { Vec::new() } else { plots.filter(has_it).map(|plot| plot as u32).collect() };
        MayShrink { plots, least }
    }

    /// The plots with a sign at time `t`, and the sign.
    fn signs<'a>(
        &'a self,
        plan: &'a CityPlan,
        timeline: &'a Timeline,
        t: usize,
    ) -> impl Iterator<Item = (usize, u16)> + 'a {
        let metric = plan.config().metric;
        self.plots.iter().filter_map(move |&plot| {
            let node = plan.building(plot as usize)?;
            let (before, now) = (timeline.value(0, node, metric), timeline.value(t, node, metric));
            (before.saturating_sub(now) >= self.least).then(|| (plot as usize, direction(before, now)))
        })
    }
}

impl Appearance {
    /// How many buildings have a sign that they have shrunk since the first state, and that they are gone, while nothing is compared.
    pub fn lost(&self, plan: &CityPlan, timeline: &Timeline, t: usize) -> [usize; 2] {
        self.may_shrink().signs(plan, timeline, t).fold([0, 0], |[shrunk, gone], (_, sign)| match sign {
            sign::VANISHED => [shrunk, gone + 1],
            _ => [shrunk + 1, gone],
        })
    }

    /// The change of a plot from the base to time `t`, with the difference, in the metric of the areas. No change without a base.
    pub fn change(&self, plan: &CityPlan, timeline: &Timeline, plot: usize, t: usize) -> (Change, i64) {
        let Some(base) = self.base() else { return Default::default() };
        let sample = Values::of_areas(plan, timeline).since(base).sample(plot, t);
        (Change::of(sample.base, sample.value), sample.growth())
    }

    /// The marks at time `t`, by plot. Side and height are those of the older state where it differs (its ghost); `colour` has the bits of
    /// [`sign`]. Empty if there is nothing to show: no comparison, no capped building, and no building that lost as much as
    /// [`NOTABLE_LOSS`].
    ///
    /// # Panics
    /// As [`Appearance::states`].
    pub fn overlay(&self, plan: &CityPlan, timeline: &Timeline, t: usize) -> Vec<PlotState> {
        let base = self.base().filter(|&base| base != t);
        let shrunk: Vec<(usize, u16)> = self.may_shrink().signs(plan, timeline, t).collect();
        if base.is_none() && !self.caps() && shrunk.is_empty() {
            return Vec::new();
        }
        let mut all = PlotState::none(plan.plots.len());
        let part = |(part, over): (usize, &mut [PlotState])| {
            let plots = Plots::Run((part * OF_A_CORE) as u32, over.len());
            self.fill_over(plan, timeline, plots, (base, t), over);
        };
        all.par_chunks_mut(OF_A_CORE).enumerate().for_each(part);
        for (plot, sign) in shrunk {
            self.add_loss(plan, timeline, (plot, sign), &mut all[plot]);
        }
        if all.iter().all(|over| *over == PlotState::default()) { Vec::new() } else { all }
    }

    /// The marks of some plots at time `t`, ascending, in their order, as in [`Appearance::overlay`].
    ///
    /// # Panics
    /// As [`Appearance::states`].
    pub fn overlay_of(&self, plan: &CityPlan, timeline: &Timeline, plots: &[u32], t: usize) -> Vec<PlotState> {
        let base = self.base().filter(|&base| base != t);
        let mut all = vec![PlotState::default(); plots.len()];
        let part = |(plots, over): (&[u32], &mut [PlotState])| {
            self.fill_over(plan, timeline, Plots::Of(plots), (base, t), over);
        };
        plots.par_chunks(OF_A_CORE).zip(all.par_chunks_mut(OF_A_CORE)).for_each(part);
        for (plot, sign) in self.may_shrink().signs(plan, timeline, t) {
            if let Ok(at) = plots.binary_search(&(plot as u32)) {
                self.add_loss(plan, timeline, (plot, sign), &mut all[at]);
            }
        }
        all
    }

    /// Adds the marks of some plots at time `t` to an empty buffer: signs and outlines, if there is a base other than `t`.
    fn fill_over(
        &self,
        plan: &CityPlan,
        timeline: &Timeline,
        plots: Plots<'_>,
        (base, t): (Option<usize>, usize),
        over: &mut [PlotState],
    ) {
        let (mut older, mut room) = (Vec::new(), SampleRoom::default());
        for (plots, over) in plots.blocks().zip(over.chunks_mut(AT_ONCE)) {
            if let Some(base) = base {
                older.resize(plots.len(), PlotState::default());
                self.fill(plan, timeline, plots, false, base, &mut older);
                let samples = Values::of_areas(plan, timeline).since(base).samples(plots, t, &mut room);
                for ((over, older), (before, now)) in over.iter_mut().zip(&older).zip(samples.pairs()) {
                    over.colour = direction(before, now);
                    if over.colour != 0 && before > 0 {
                        (over.side, over.height) = (older.side, older.height);
                    }
                }
            }
            if self.caps() {
                let capped = |&(plot, _): &(usize, &mut PlotState)| self.is_capped(plan, timeline, plot, t);
                plots.iter().zip(over).filter(capped).for_each(|(_, over)| over.colour |= sign::CAPPED);
            }
        }
    }

    /// The sign of a loss since the first state.
    fn add_loss(&self, plan: &CityPlan, timeline: &Timeline, (plot, sign): (usize, u16), over: &mut PlotState) {
        over.colour |= sign;
        if sign == self::sign::VANISHED {
            // Nothing stands there but what stood there.
            let first = self.state(plan, timeline, plot, 0);
            (over.side, over.height) = (first.side, first.height);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{configs, inner, leaf, trees};
    use super::super::{Appearance, CityConfig, Comparison, Look};
    use super::*;
    use memory_city_analysis::timeline::Metric;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

        #[test]
        fn a_time_compared_with_itself_is_empty_and_swapping_negates(tree in trees(), config in configs()) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            let seen_from = |base: usize| {
                let look = Look { base: Some(base), colour: "change".into(), ..Look::default() };
                Appearance::new(&plan, &timeline, &look)
            };
            let all: Vec<Appearance> = (0..timeline.times()).map(seen_from).collect();
            for a in 0..timeline.times() {
                let itself = Comparison::between(&plan, &timeline, a, a);
                prop_assert!(itself.is_empty() && itself.slight == 0);
                prop_assert!(all[a].overlay(&plan, &timeline, a).is_empty());
                for b in 0..timeline.times() {
                    let there = Comparison::between(&plan, &timeline, a, b);
                    let back = Comparison::between(&plan, &timeline, b, a);
                    prop_assert_eq!(there, back.reversed());
                    for plot in 0..plan.plots.len() {
                        let (change, delta) = all[a].change(&plan, &timeline, plot, b);
                        prop_assert_eq!((change.reversed(), -delta), all[b].change(&plan, &timeline, plot, a));
                        // The colour is as far from the middle on the other side.
                        let forth = all[a].state(&plan, &timeline, plot, b).colour();
                        let back = all[b].state(&plan, &timeline, plot, a).colour();
                        if !plan.is_more(plot) {
                            prop_assert!((forth + back - 1.0).abs() < 4e-5, "{} {}", forth, back);
                        }
                    }
                    // And the signs point the other way.
                    let turned = |code: u16| [0, 3, 4, 1, 2, 6, 5][usize::from(code)];
                    let signs = |base: usize, t: usize| {
                        let mut signs: Vec<u16> =
                            all[base].overlay(&plan, &timeline, t).iter().map(|over| over.colour & sign::DIRECTION).collect();
                        signs.resize(plan.plots.len(), 0);
                        signs
                    };
                    let turned_back: Vec<u16> = signs(b, a).into_iter().map(turned).collect();
                    prop_assert_eq!(signs(a, b), turned_back);
                }
            }
        }

        #[test]
        fn what_is_counted_adds_up_to_the_heap(tree in trees(), config in configs()) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            prop_assume!(matches!(config.metric, Metric::Objects | Metric::Bytes));
            for (a, b) in (0..timeline.times()).flat_map(|a| (0..timeline.times()).map(move |b| (a, b))) {
                let sums = Comparison::between(&plan, &timeline, a, b);
                let more = i128::from(sums.grown.amount) + i128::from(sums.appeared.amount);
                let less = i128::from(sums.shrunk.amount) + i128::from(sums.vanished.amount);
                let heap = |t| i128::from(timeline.value(t, NodeId::ROOT, config.metric));
                prop_assert_eq!(more - less, heap(b) - heap(a));
            }
        }

        #[test]
        fn a_ghost_is_the_older_state_of_what_is_different(tree in trees(), config in configs()) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            let last = timeline.times() - 1;
            let appearance = Appearance::new(&plan, &timeline, &Look { base: Some(last), ..Look::default() });
            for t in 0..last {
                let over = appearance.overlay(&plan, &timeline, t);
                for (plot, over) in over.iter().enumerate() {
                    let (then, now) = (plan.value(&timeline, last, plot), plan.value(&timeline, t, plot));
                    let ghost = over.side > 0;
                    let different = then.abs_diff(now) as f64 >= 0.01 * then.max(now) as f64 && then != now;
                    prop_assert_eq!(ghost, different && then > 0);
                    if ghost {
                        let older = appearance.state(&plan, &timeline, plot, last);
                        prop_assert_eq!((over.side, over.height), (older.side, older.height));
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_lost_much_of_the_heap_has_a_sign_though_nothing_is_compared() {
        // Half gone, a little gone, all gone, grown, too little of the heap to be told.
        let of = [[4000, 1900], [3000, 2600], [2000, 0], [1000, 9000], [500, 410]];
        let leaves = of.iter().zip('a'..).map(|(values, name)| leaf(&name.to_string(), values)).collect();
        let timeline = inner("all", leaves).timeline();
        let plan = CityPlan::new(&timeline, &CityConfig { metric: Metric::Objects, ..CityConfig::default() });
        let signs = |look: &Look, t: usize| -> Vec<u16> {
            let appearance = Appearance::new(&plan, &timeline, look);
            let over = appearance.overlay(&plan, &timeline, t);
            let of = |node: NodeId| plan.plot_of(node).and_then(|plot| over.get(plot)).map_or(0, |over| over.colour);
            let signs: Vec<u16> = timeline.children(NodeId::ROOT).iter().map(|node| of(*node)).collect();
            assert_eq!(appearance.lost(&plan, &timeline, t), if t == 0 || signs == [0; 5] { [0, 0] } else { [2, 1] });
            signs
        };
        assert_eq!(signs(&Look::default(), 1), [sign::HALVED, sign::SHRUNK, sign::VANISHED, 0, 0]);
        assert_eq!(signs(&Look::default(), 0), [0; 5]);
        let other = Look { colour: "share".into(), ..Look::default() };
        assert_eq!(signs(&other, 1), [0; 5], "colours that tell something else have no signs");
    }
}
