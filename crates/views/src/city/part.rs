//! A part of the heap as a city of its own: a district, or the groups behind "n more".

use super::plan::CityPlan;
use memory_city_analysis::timeline::{NodeId, Timeline};

/// The part of the heap that a city shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CityPart {
    /// The node whose children are the outermost districts and buildings.
    pub root: NodeId,
    /// Number of its largest children to leave out, to see the groups behind a More plot.
    pub beyond: usize,
}

impl Default for CityPart {
    /// All of it.
    fn default() -> Self {
        CityPart { root: NodeId::ROOT, beyond: 0 }
    }
}

impl CityPlan {
    /// The part of the heap that it shows.
    pub fn part(&self) -> CityPart {
        self.part
    }

    /// The part that the More plot of a district stands for; `None` where there is no such plot.
    pub fn part_of_more(&self, district: NodeId) -> Option<CityPart> {
        self.more_of(district)?;
        let before = if district == self.part.root { self.part.beyond } else { 0 };
        Some(CityPart { root: district, beyond: before + self.config.child_count? })
    }

    /// The district that a plot belongs to directly.
    pub fn district_around(&self, plot: usize) -> usize {
        // Plots of a district are neighbours, and districts lie in the order of their plots.
        self.contents.partition_point(|c| c.plots.end <= plot).min(self.contents.len().saturating_sub(1))
    }

    /// Largest growth of any leaf that has a place here.
    pub(super) fn max_growth_within(&self, timeline: &Timeline) -> u64 {
        let leaves = timeline.nodes().filter(|&node| self.plot_of(node).is_some() && timeline.is_leaf(node));
        leaves.map(|node| timeline.growth(node, self.config.metric).max(0) as u64).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{configs, trees};
    use super::super::{CITY_SIZE, PlotKind};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The children of a city's outermost district that have a place in it, pruned or not.
    fn outermost(plan: &CityPlan, timeline: &Timeline) -> BTreeSet<NodeId> {
        let has_place = |n: &&NodeId| plan.plot_of(**n).is_some() || plan.district_of(**n).is_some();
        timeline.children(plan.part().root).iter().filter(has_place).copied().collect()
    }

    proptest! {
        #[test]
        fn what_is_behind_more_is_a_city_of_its_own(tree in trees(), config in configs()) {
            let timeline = tree.timeline();
            let whole = CityPlan::new(&timeline, &config);
            prop_assert_eq!(whole.part(), CityPart::default());
            for plot in 0..whole.plots.len() {
                let PlotKind::More { parent, .. } = whole.kind(plot) else { continue };
                let pruned = whole.pruned(whole.more_of(parent).unwrap());
                let part = whole.part_of_more(parent).unwrap();
                let plan = CityPlan::of_part(&timeline, &config, part);
                prop_assert_eq!(outermost(&plan, &timeline), pruned.iter().copied().collect::<BTreeSet<_>>());
                prop_assert_eq!(plan.districts[0].node, parent);
                prop_assert!((plan.districts[0].cell.area() - CITY_SIZE * CITY_SIZE).abs() < 1e-6, "it fills the ground");
                // And so on: in the end everything has a plot of its own.
                if let Some(next) = plan.part_of_more(parent).filter(|_| config.child_count != Some(0)) {
                    let rest = CityPlan::of_part(&timeline, &config, next);
                    prop_assert!(outermost(&rest, &timeline).is_subset(&outermost(&plan, &timeline)));
                    prop_assert!(outermost(&rest, &timeline).len() < pruned.len());
                }
            }
        }

        #[test]
        fn a_district_is_a_city_of_its_own(tree in trees(), config in configs()) {
            let timeline = tree.timeline();
            let whole = CityPlan::new(&timeline, &config);
            for district in &whole.districts {
                let plan = CityPlan::of_part(&timeline, &config, CityPart { root: district.node, beyond: 0 });
                for node in timeline.nodes() {
                    let inside = timeline.is_within(node, district.node);
                    let placed = |plan: &CityPlan| plan.plot_of(node).is_some() || plan.district_of(node).is_some();
                    prop_assert_eq!(placed(&plan), inside && placed(&whole), "{}", timeline.key(node));
                }
            }
        }
    }
}
