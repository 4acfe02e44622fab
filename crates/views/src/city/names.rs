//! Choice of the buildings that get a name: the largest and those that grow most, a program's own before those of libraries. Buildings
//! without a name are counted district by district: each building is named or counted.

use super::plan::CityPlan;
use super::plot::PlotKind;
use memory_city_analysis::group;
use memory_city_analysis::timeline::{NodeId, Timeline};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::Arc;

/// Factor for the size of a group of the program's own.
pub const OWN_FIRST: f64 = 8.0;
/// Most buildings of a city that can have a name; they are found once.
const MOST_CANDIDATES: usize = 2048;

/// The buildings that may have names, and how many buildings each district has.
#[derive(Clone, Debug, Default)]
pub struct Nameable {
    /// Plots, with whether they are the program's own.
    candidates: Vec<(u32, bool)>,
    /// Buildings that belong directly to each district.
    buildings: Vec<u32>,
    /// The district around each district; the outermost has itself.
    around: Vec<u32>,
}

impl Nameable {
    /// The buildings of a whole city, for all times. `own` tells if a building is the program's own; it is called for a few thousand.
    /// Linear in the plots.
    pub fn new(plan: &CityPlan, timeline: &Timeline, own: impl Fn(NodeId) -> bool) -> Nameable {
        let metric = plan.config().metric;
        // What is largest, and what grows most, whatever the time.
        let best = |of: &(dyn Fn(NodeId) -> u64 + Sync)| {
            let rank = |plot: usize| Some((Reverse(of(plan.building(plot)?)), plot as u32));
            let plots = (0..plan.plots.len()).into_par_iter().with_min_len(4096);
            let mut all: Vec<_> = plots.filter_map(rank).collect();
            if all.len() > MOST_CANDIDATES {
                all.select_nth_unstable(MOST_CANDIDATES - 1);
                all.truncate(MOST_CANDIDATES);
            }
            all.into_iter().map(|(_, plot)| plot).collect::<Vec<_>>()
        };
        let mut plots = best(&|node| timeline.peak(node, metric));
        plots.extend(best(&|node| timeline.growth(node, metric).unsigned_abs()));
        plots.sort_unstable();
        plots.dedup();
        let node_of = |plot: u32| match plan.kind(plot as usize) {
            PlotKind::Building(node) | PlotKind::More { parent: node, .. } => node,
        };
        let candidates = plots.into_iter().map(|plot| (plot, own(node_of(plot)))).collect();
        let buildings =
            plan.contents.iter().map(|c| c.plots.clone().filter(|&plot| !plan.is_more(plot)).count() as u32);
        let mut around = vec![0; plan.districts.len()];
        for (outer, contents) in plan.contents.iter().enumerate() {
            contents.districts.clone().for_each(|inner| around[inner] = outer as u32);
        }
        Nameable { candidates, buildings: buildings.collect(), around }
    }

    /// The same with groups of the program's own packages as its own, as they are known to this process.
    pub fn of_program(plan: &CityPlan, timeline: &Timeline) -> Nameable {
        let domain = Arc::clone(group::registry().domain());
        let own = |node: NodeId| {
            let path = timeline.path(node);
            let of_role =
                |role: &'static str| path.iter().filter(move |&&n| timeline.role(n) == role).map(|&n| timeline.name(n));
            // Where packages are districts, classes may be named without them.
            match of_role("Type").next() {
                Some(class) if class.contains('.') => domain.covers(timeline.profile(), class),
                class => {
                    let parts: Vec<&str> = of_role("Package").chain(class).collect();
                    !parts.is_empty() && domain.covers(timeline.profile(), &parts.join("."))
                }
            }
        };
        Nameable::new(plan, timeline, own)
    }

    /// The most relevant buildings at time `t`, at most `most`, in descending order. Relevance is the share of the largest value, or of the
    /// largest growth or shrinking until then, whichever is larger. Buildings of the program's own count [`OWN_FIRST`] times, and only they
    /// count where libraries are folded. A building that is absent at that time has no name.
    pub fn relevant(&self, plan: &CityPlan, timeline: &Timeline, t: usize, most: usize, folded: bool) -> Vec<usize> {
        let metric = plan.config().metric;
        let mut all: Vec<(f64, f64, bool, u32)> = Vec::with_capacity(self.candidates.len());
        let (mut largest, mut strongest) = (1.0f64, 1.0f64);
        for &(plot, own) in self.candidates.iter().filter(|(_, own)| *own || !folded) {
            let Some(node) = plan.building(plot as usize) else { continue };
            let (now, first) = timeline.value_and_first(t, node, metric);
            if now == 0 {
                continue;
            }
            let change = now.abs_diff(first) as f64;
            largest = largest.max(now as f64);
            strongest = strongest.max(change);
            all.push((now as f64, change, own, plot));
        }
        let weight = |&(now, change, own, _): &(f64, f64, bool, u32)| {
            (now / largest).max(change / strongest) * if own { OWN_FIRST } else { 1.0 }
        };
        all.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.3.cmp(&b.3)));
        all.truncate(most);
        all.into_iter().map(|(.., plot)| plot as usize).collect()
    }

    /// Whether a building is one of the program's own, as far as it may have a name.
    pub fn is_own(&self, plot: usize) -> bool {
        let at = self.candidates.binary_search_by_key(&plot, |&(candidate, _)| candidate as usize);
        at.is_ok_and(|at| self.candidates[at].1)
    }

    /// True if any building is the program's own. Otherwise libraries cannot be folded.
    pub fn knows_own(&self) -> bool {
        self.candidates.iter().any(|(_, own)| *own)
    }

    /// The number of buildings without a name, for each named district; those of unnamed districts count in the nearest named one around
    /// them. `named` are the plots with names, `districts` the named districts. Buildings in no named district come last, under `None`.
    pub fn unnamed(&self, plan: &CityPlan, named: &[usize], districts: &[usize]) -> Vec<(Option<usize>, u64)> {
        let mut rest: Vec<u64> = self.buildings.iter().map(|&n| u64::from(n)).collect();
        for &plot in named {
            if let Some(rest) = rest.get_mut(plan.district_around(plot)).filter(|rest| **rest > 0) {
                *rest -= 1;
            }
        }
        let mut is_named = vec![false; rest.len()];
        districts.iter().for_each(|&d| is_named[d] = true);
        let mut outside = 0;
        let mut found = Vec::new();
        // Inner districts stand behind those around them.
        for district in (0..rest.len()).rev() {
            let count = rest[district];
            if is_named[district] {
                found.push((Some(district), count));
            } else if district == 0 {
                outside += count;
            } else {
                rest[self.around[district] as usize] += count;
            }
        }
        found.reverse();
        found.push((None, outside));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::CityConfig;
    use super::super::testing::{at, configs, inner, leaf, trees};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn large_grown_and_own_groups_come_first() {
        let tree = inner(
            "Heap",
            vec![
                leaf("large", &[1000, 1000]),
                leaf("grown", &[1, 400]),
                leaf("own", &[200, 200]),
                leaf("small", &[150, 150]),
                leaf("gone", &[900, 0]),
            ],
        );
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &CityConfig::default());
        let own = at(&timeline, "Heap#own");
        let nameable = Nameable::new(&plan, &timeline, |node| node == own);
        let of = |t, most, folded| -> Vec<String> {
            let plots = nameable.relevant(&plan, &timeline, t, most, folded);
            plots
                .iter()
                .map(|&p| match plan.kind(p) {
                    PlotKind::Building(node) => timeline.name(node).to_owned(),
                    PlotKind::More { .. } => unreachable!("buildings only"),
                })
                .collect()
        };
        let names = |t, most| of(t, most, false);
        assert_eq!(of(1, 9, true), ["own"], "libraries are folded");
        let plot = |name: &str| plan.plot_of(at(&timeline, name)).expect("a plot");
        assert!(nameable.knows_own() && nameable.is_own(plot("Heap#own")) && !nameable.is_own(plot("Heap#large")));
        assert_eq!(names(1, 9), ["own", "large", "grown", "small"], "what is gone has no roof");
        assert_eq!(names(0, 2), ["own", "large"]);
        assert_eq!(names(0, 9)[2], "gone");
    }

    proptest! {
        #[test]
        fn each_building_is_named_or_counted(tree in trees(), config in configs(), pick in any::<u64>()) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            let nameable = Nameable::new(&plan, &timeline, |_| false);
            let all: Vec<usize> = (0..plan.plots.len()).filter(|&p| !plan.is_more(p)).collect();
            let chosen = |i: usize| pick.rotate_left(i as u32 % 64) & 1 == 1;
            let named: Vec<usize> = all.iter().copied().filter(|&p| chosen(p)).collect();
            let districts: Vec<usize> = (0..plan.districts.len()).filter(|&d| chosen(d * 7 + 3)).collect();
            let counted = nameable.unnamed(&plan, &named, &districts);
            prop_assert_eq!(counted.iter().map(|(_, n)| *n).sum::<u64>() as usize + named.len(), all.len());
            // A building counts in the innermost district with a name around it.
            for &(district, count) in &counted {
                let around = |plot: usize| {
                    let Some(node) = plan.building(plot) else { unreachable!() };
                    let above = std::iter::successors(Some(node), |&n| timeline.parent(n));
                    above.filter_map(|n| plan.district_of(n)).find(|d| districts.contains(d))
                };
                let expected = all.iter().filter(|p| !named.contains(p) && around(**p) == district).count();
                prop_assert_eq!(count as usize, expected, "{:?}", district);
            }
        }
    }
}
