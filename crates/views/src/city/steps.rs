//! Steps from one time to another: the plots that differ, so that a step costs as much as it changes.

use super::height;
use super::look::Appearance;
use super::plan::CityPlan;
use memory_city_analysis::timeline::{ChangesByTime, Metric, Timeline};

/// Colour modes and height rules whose answer depends only on the plot's value at that time, and on numbers that are the same at all times.
/// Any other may change for every plot at every step.
const OF_THE_PLOT_ALONE: [&[&str]; 2] =
    [&["growth", "change", "overall", "relative", "fill", "none"], &["base", "growth", "amount", "classes"]];
/// If more than one in this many nodes changes, all plots are computed: a pass in order costs less than a search for each.
const FEW: usize = 16;

/// The nodes that change at each time, as far as a step is quicker with them. If all of a million buildings change at each of many times,
/// the list would take more memory than the city.
pub fn changes_for_steps(plan: &CityPlan, timeline: &Timeline) -> ChangesByTime {
    timeline.changes_by_time(plan.plots.len() / FEW)
}

impl Appearance {
    /// Whether the state of a plot follows from its own objects and bytes alone.
    fn follows_amounts(&self, plan: &CityPlan) -> bool {
        let [colours, heights] = OF_THE_PLOT_ALONE;
        let is_amount = |metric: Metric| matches!(metric, Metric::Bytes | Metric::Objects);
        let (colour_metric, height_metric) = self.metrics();
        colours.contains(&self.colour_mode())
            && heights.contains(&height::rule(&self.look().height).id)
            && [plan.config().metric, colour_metric, height_metric].into_iter().all(is_amount)
    }

    /// The plots whose state at time `to` may be another than at time `from`, ascending; `None` where computing all is as good.
    pub fn changed_plots(&self, plan: &CityPlan, changes: &ChangesByTime, from: usize, to: usize) -> Option<Vec<u32>> {
        if !self.follows_amounts(plan) {
            return None;
        }
        let between = from.min(to) + 1..from.max(to) + 1;
        let mut left = plan.plots.len() / FEW;
        let mut plots = Vec::new();
        for t in between {
            let nodes = changes.of(t)?;
            left = left.checked_sub(nodes.len())?;
            plots.extend(nodes.filter_map(|node| plan.plot_of(node)).map(|plot| plot as u32));
        }
        plots.sort_unstable();
        plots.dedup();
        Some(plots)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{configs, trees};
    use super::super::{Comparison, Look, PlotState, colour};
    use super::*;
    use memory_city_analysis::timeline::NodeId;
    use proptest::prelude::*;

    proptest! {
        /// Against computing every plot at every time, for all modes and rules.
        #[test]
        fn what_does_not_change_keeps_its_state(
            tree in trees(),
            config in configs(),
            mode in 0..colour::modes().len(),
            rule in 0..height::rules().len(),
            base in prop::option::of(0usize..3),
        ) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            let (colour, height) = (colour::modes()[mode].id.to_owned(), height::rules()[rule].id.to_owned());
            let look = Look { colour, height, base, ..Look::default() };
            let appearance = Appearance::new(&plan, &timeline, &look);
            let (changes, detail) = (timeline.changes_by_time(usize::MAX), appearance.detail());
            for from in 0..timeline.times() {
                let was: Vec<PlotState> = appearance.states(&plan, &timeline, from);
                for to in 0..timeline.times() {
                    let is = appearance.states(&plan, &timeline, to);
                    // Few plots: the limit is left out of this.
                    let many = changes_between(&plan, &changes, from, to);
                    if !appearance.follows_amounts(&plan) {
                        prop_assert!(appearance.changed_plots(&plan, &changes, from, to).is_none());
                        continue;
                    }
                    if let Some(few) = appearance.changed_plots(&plan, &changes, from, to) {
                        prop_assert_eq!(&few, &many);
                    }
                    let mut sums = detail.sums(&|plots: std::ops::Range<usize>| was[plots].iter().copied());
                    let mut now = was.clone();
                    let states = appearance.states_of(&plan, &timeline, &many, to);
                    for (plot, state) in many.into_iter().map(|plot| plot as usize).zip(states) {
                        now[plot] = state;
                        prop_assert_eq!(appearance.state(&plan, &timeline, plot, to), state);
                        detail.update(&mut sums, plot, was[plot], now[plot]);
                    }
                    prop_assert_eq!(&now, &is);
                    // So does what stands over it, and what both come to together.
                    let of_all = |t: usize| match appearance.overlay(&plan, &timeline, t) {
                        none if none.is_empty() => vec![PlotState::default(); plan.plots.len()],
                        all => all,
                    };
                    let changed = changes_between(&plan, &changes, from, to);
                    let mut over = of_all(from);
                    for (plot, now) in changed.iter().zip(appearance.overlay_of(&plan, &timeline, &changed, to)) {
                        over[*plot as usize] = now;
                    }
                    prop_assert_eq!(over, of_all(to));
                    if let Some(base) = appearance.base() {
                        let between = |t: usize| Comparison::between(&plan, &timeline, base, t);
                        prop_assert_eq!(between(from).moved(&plan, &timeline, (base, from, to), &changed), between(to));
                    }
                    prop_assert_eq!(detail.states_of(&sums), detail.states(&is));
                }
            }
        }

        #[test]
        fn changes_are_those_of_amounts(tree in trees()) {
            let timeline = tree.timeline();
            let changes = timeline.changes_by_time(usize::MAX);
            for t in 0..timeline.times() {
                let before = |node: NodeId| if t > 0 { timeline.amount(t - 1, node) } else { Default::default() };
                let found: Vec<NodeId> = changes.of(t).expect("all of them").collect();
                let differ: Vec<NodeId> = timeline.nodes().filter(|&n| timeline.amount(t, n) != before(n)).collect();
                prop_assert_eq!(found, differ);
            }
            prop_assert!(changes.of(timeline.times()).is_none());
            // Where more change than is asked for there is no list; the others are the same.
            let few = timeline.changes_by_time(3);
            for t in 0..timeline.times() {
                let all: Vec<NodeId> = changes.of(t).expect("all of them").collect();
                let found: Option<Vec<NodeId>> = few.of(t).map(Iterator::collect);
                prop_assert_eq!(found, (all.len() <= 3).then_some(all));
            }
        }
    }

    /// A word that names nothing would let every step look at all plots, and nothing would say so.
    #[test]
    fn what_follows_amounts_is_there() {
        let [colours, heights] = OF_THE_PLOT_ALONE;
        assert!(colours.iter().all(|id| colour::modes().iter().any(|mode| mode.id == *id)), "{colours:?}");
        assert!(heights.iter().all(|id| height::rules().iter().any(|rule| rule.id == *id)), "{heights:?}");
    }

    fn changes_between(plan: &CityPlan, changes: &ChangesByTime, from: usize, to: usize) -> Vec<u32> {
        let nodes =
            (from.min(to) + 1..=from.max(to)).flat_map(|t| changes.of(t).into_iter().flatten().collect::<Vec<_>>());
        let mut plots: Vec<u32> = nodes.filter_map(|node| plan.plot_of(node)).map(|plot| plot as u32).collect();
        plots.sort_unstable();
        plots.dedup();
        plots
    }
}
