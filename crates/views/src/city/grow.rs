//! Extends a city by new points in time without moving the buildings on screen.
//!
//! The rule: no plot moves. A building that outgrows its plot makes the scale of the whole city smaller, so that area per
//! mapped value stays one constant and everything fits. A group that is new joins the More plot of its district where
//! there is one; otherwise it has no place until the ground is divided anew ([`CityPlan::new`]). A More plot that
//! overflows is drawn full: it is a sign, not a measure.

use super::plan::NodePlaces;
use super::plan::{CityPlan, District};
use super::plot::MorePlot;
use memory_city_analysis::timeline::{NodeId, Timeline};
use rayon::prelude::*;

impl CityPlan {
    /// The same ground for a timeline that continues the one it was laid out for. `None` if that had groups that this one lacks, or if this
    /// city shows a part of the heap.
    pub fn grown(&self, before: &Timeline, now: &Timeline) -> Option<CityPlan> {
        if self.part != super::part::CityPart::default() {
            return None;
        }
        let node = matched(before, now)?;
        let new = |old: NodeId| node[old.index()];
        let mut plan = self.clone();
        plan.places = NodePlaces::nowhere(now.len());
        plan.pruned.clear();
        plan.mores.clear();
        plan.unplaced.clear();
        for (i, District { node, .. }) in plan.districts.iter_mut().enumerate() {
            *node = new(*node);
            plan.places.put_in(node.index(), i);
        }
        plan.occupants.renumber(new);
        for plot in 0..plan.plots.len() {
            if let Some(node) = plan.building(plot) {
                plan.places.put_on(node.index(), plot);
            }
        }
        let mut inside: Vec<Vec<NodeId>> = Vec::with_capacity(self.mores.len());
        for more in &self.mores {
            let nodes: Vec<NodeId> = self.pruned[more.nodes.clone()].iter().map(|&n| new(n)).collect();
            nodes.iter().for_each(|n| plan.places.put_on(n.index(), more.plot));
            inside.push(nodes);
        }
        plan.place_newcomers(now, &self.mores, &mut inside);
        for (more, nodes) in self.mores.iter().zip(inside) {
            let start = plan.pruned.len();
            let range = start..start + nodes.len();
            plan.mores.push(MorePlot::new(now, (more.plot, new(more.parent)), range, &nodes, self.config.metric));
            plan.pruned.extend(nodes);
        }
        plan.outgrowth = plan.outgrown(now).max(self.outgrowth);
        plan.max_growth = super::mapping::max_growth(now, plan.config.metric);
        Some(plan)
    }

    /// Places new nodes, parents before children: on the plot of the group they belong to, in a More plot, or nowhere.
    fn place_newcomers(&mut self, now: &Timeline, mores: &[MorePlot], inside: &mut [Vec<NodeId>]) {
        let metric = self.config.metric;
        for node in now.nodes().skip(1) {
            let i = node.index();
            if self.places.has(i) || now.peak(node, metric) == 0 {
                continue;
            }
            let Some(parent) = now.parent(node) else { continue };
            if let Some(plot) = self.places.plot(parent.index()) {
                self.places.put_on(i, plot);
                continue;
            }
            let Some(district) = self.district_of(parent) else { continue };
            let plots = &self.contents[district].plots;
            let first = mores.partition_point(|m| m.plot < plots.start);
            match mores.get(first).filter(|m| plots.contains(&m.plot)) {
                Some(more) => {
                    self.places.put_on(i, more.plot);
                    inside[first].push(node);
                }
                None => self.unplaced.push(node),
            }
        }
    }

    /// How much smaller the scale must be for the building that has most outgrown its plot: a factor of areas.
    fn outgrown(&self, now: &Timeline) -> f64 {
        let metric = self.config.metric;
        let f = |v: u64| self.config.area_mode.of(v as f64);
        let factor = |plot: usize| match self.building(plot) {
            Some(node) => f(now.peak(node, metric)) / f(self.max_value(plot).max(1)),
            None => 1.0,
        };
        (0..self.plots.len()).into_par_iter().with_min_len(4096).map(factor).reduce(|| 1.0, f64::max)
    }

    /// Groups that came after the ground was divided and have no place on it; groups below them are not listed.
    pub fn unplaced(&self) -> &[NodeId] {
        &self.unplaced
    }

    /// The factor by which areas are smaller than the ground allowed when it was divided: 1 until a building outgrows its plot.
    pub fn outgrowth(&self) -> f64 {
        self.outgrowth
    }
}

/// The node of the later timeline for each of the earlier one; `None` when one is missing.
fn matched(before: &Timeline, now: &Timeline) -> Option<Vec<NodeId>> {
    let mut node = vec![NodeId::ROOT; before.len()];
    for old in before.nodes().skip(1) {
        let parent = node[before.parent(old)?.index()];
        node[old.index()] = now.child(parent, before.role(old), before.name(old))?;
    }
    Some(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::city::{AreaMode, CityConfig};
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::Metric;
    use memory_city_analysis::timeline::{TimePoint, TimelineBuilder};
    use memory_city_heap::Amount;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Groups of two levels, by number, with their objects.
    fn tree(groups: &[(u8, u8, u32)]) -> MemoryTree {
        let mut tree = MemoryTree::new();
        let (outer, inner): (Arc<str>, Arc<str>) = (Arc::from("Package"), Arc::from("Type"));
        for &(package, class, objects) in groups {
            let at = tree.child(0, &outer, &Arc::from(format!("p{package}")));
            let at = tree.child(at, &inner, &Arc::from(format!("c{class}")));
            tree.add_up(&[at as u32], Amount { objects: u64::from(objects), bytes: 8 * u64::from(objects) });
        }
        tree
    }

    fn timeline(trees: &[Vec<(u8, u8, u32)>]) -> Timeline {
        let mut builder = TimelineBuilder::default();
        trees.iter().for_each(|groups| builder.add(TimePoint::default(), &tree(groups)));
        builder.finish()
    }

    proptest! {
        /// Nothing moves, areas stay comparable, everything fits, and every group is somewhere or listed.
        #[test]
        fn what_stands_stays(
            trees in prop::collection::vec(prop::collection::vec((0..4u8, 0..12u8, 1..5000u32), 1..30), 2..6),
            linear: bool,
            children in prop::option::of(2..6usize),
        ) {
            let area_mode = if linear { AreaMode::Linear } else { AreaMode::Sqrt };
            let config =
                CityConfig { area_mode, metric: Metric::Objects, child_count: children, ..CityConfig::default() };
            let mut before = timeline(&trees[..1]);
            let mut plan = CityPlan::new(&before, &config);
            let first = plan.clone();
            for times in 2..=trees.len() {
                let now = timeline(&trees[..times]);
                plan = plan.grown(&before, &now).expect("only more");
                before = now;
            }
            prop_assert!(plan.outgrowth() >= 1.0);
            for (a, b) in first.plots.iter().zip(&plan.plots) {
                prop_assert_eq!((a.cell, a.ground()), (b.cell, b.ground()));
            }
            // Area per mapped value is one constant, at each time.
            let mut unit = None;
            for t in 0..trees.len() {
                for plot in 0..plan.plots.len() {
                    let side = plan.side(&before, plot, t);
                    prop_assert!(side <= config.gap * (1.0 + 1e-6));
                    let Some(node) = plan.building(plot) else { continue };
                    let objects = before.amount(t, node).objects;
                    if objects > 0 {
                        let own = plan.base(plot, side).area() / area_mode.of(objects as f64);
                        let unit = *unit.get_or_insert(own);
                        prop_assert!((own / unit - 1.0).abs() < 1e-4, "{} {}", own, unit);
                        prop_assert!((own * area_mode.of(objects as f64) / plan.base_area(objects as f64) - 1.0).abs() < 1e-4);
                    }
                }
            }
            for node in before.nodes().skip(1).filter(|&n| before.max(n).objects > 0) {
                let above = std::iter::successors(Some(node), |&n| before.parent(n));
                let listed = above.into_iter().any(|n| plan.unplaced().contains(&n));
                let placed = plan.plot_of(node).is_some() || plan.district_of(node).is_some();
                prop_assert!(placed != listed, "{}", before.key(node));
            }
        }
    }

    #[test]
    fn another_program_does_not_stand_on_the_same_ground() {
        let (a, b) = (timeline(&[vec![(1, 1, 5)]]), timeline(&[vec![(2, 1, 5)]]));
        assert!(CityPlan::new(&a, &CityConfig::default()).grown(&a, &b).is_none());
    }
}
