//! Routes over the roofs: the paths from GC roots to a group, with a leg from each step to the one that it holds.
//!
//! Steps on one building are one stop; steps that go the same way between two buildings are one leg. So the number of legs is the number of
//! changes of building, whatever the number of objects. Steps without a leg are counted.

use super::look::Appearance;
use super::over_roofs::Roofs;
use super::plan::CityPlan;
use glam::Vec3;
use memory_city_analysis::timeline::{NodeId, Timeline};
use std::collections::BTreeMap;

/// Most legs; those through which least is reached are left out, and counted.
pub const MOST_LEGS: usize = 32;
/// Most marked roots.
pub const MOST_PINS: usize = 12;
/// Radius of a leg through which all of the group is reached, and of the thinnest, in units.
pub const LEG_RADII: (f32, f32) = (0.55, 0.14);
/// No leg rises higher above its ends than this, in units.
const HIGHEST: f32 = 16.0;

/// A step of the ways: objects that hold those of the step below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouteStep {
    /// The step that it holds: a place in the list, smaller than its own. The first one is the group.
    pub below: usize,
    /// The group that it lies in.
    pub node: Option<NodeId>,
    /// The share of the group that is reached through it, 0 to 1.
    pub share: f32,
    /// The share that is reached from roots that hold it directly, 0 to 1; 0 without such roots.
    pub rooted: f32,
}

/// A leg from one building to the building that it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// The roof of the holder.
    pub from: Vec3,
    /// The roof at the held end.
    pub to: Vec3,
    /// The share of the group that is reached through it, 0 to 1: the largest of several steps that go the same way.
    pub share: f32,
    /// The steps that go this way: places in the list.
    pub steps: Vec<usize>,
}

/// A root that holds objects of a building.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The roof.
    pub at: Vec3,
    /// The share of the group that is reached from there, 0 to 1.
    pub share: f32,
    /// The steps that roots hold there.
    pub steps: Vec<usize>,
}

/// Routes, and the counts of everything they leave out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routes {
    /// Legs, the largest share first.
    pub legs: Vec<Leg>,
    /// Roots, those from which most is reached first.
    pub pins: Vec<Pin>,
    /// The groups that they pass, each once, in the order of the steps.
    pub stops: Vec<NodeId>,
    /// Steps from a building to itself.
    pub inside: usize,
    /// Steps that no building stands for: passed over, the leg goes on to the next one below.
    pub nowhere: usize,
    /// Legs and pins beyond those that are made.
    pub left_out: usize,
}

/// The building of a step, for comparison, and its roof.
type Stop = (StopKey, Vec3);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StopKey {
    Plot(usize),
    District(usize),
}

/// The routes of some steps at time `t`. Ends lie at the centres of roofs; for districts, on the slab.
pub fn routes(plan: &CityPlan, timeline: &Timeline, appearance: &Appearance, t: usize, steps: &[RouteStep]) -> Routes {
    let mut found = Routes::default();
    let stop = |node: NodeId| -> Option<Stop> {
        if let Some(plot) = plan.plot_of(node) {
            let standing = appearance.standing(appearance.state(plan, timeline, plot, t));
            let roof = plan.plots[plot].ground() + f64::from(standing.height);
            return Some((StopKey::Plot(plot), plan.base(plot, f64::from(standing.side)).centre_at(roof)));
        }
        let at = plan.district_of(node)?;
        let district = &plan.districts[at];
        Some((StopKey::District(at), district.cell.centre_at(district.top)))
    };
    // Of each step where it is, or where the next one below is.
    let mut stops: Vec<Option<Stop>> = Vec::with_capacity(steps.len());
    let mut legs: BTreeMap<(StopKey, StopKey), Leg> = BTreeMap::new();
    let mut pins: BTreeMap<StopKey, Pin> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        let below = if at == 0 { None } else { stops.get(step.below).copied().flatten() };
        let own = step.node.and_then(stop);
        match (own, step.node) {
            (Some(_), Some(node)) if !found.stops.contains(&node) => found.stops.push(node),
            (Some(_), _) => {}
            (None, _) => found.nowhere += 1,
        }
        if let (Some((here, from)), Some((there, to))) = (own, below) {
            if here == there {
                found.inside += 1;
            } else {
                let new = || Leg { from, to, share: 0.0, steps: Vec::new() };
                let leg = legs.entry((here, there)).or_insert_with(new);
                leg.share = leg.share.max(step.share);
                leg.steps.push(at);
            }
        }
        let own = own.or(below);
        if let Some((here, roof)) = own.filter(|_| step.rooted > 0.0) {
            let pin = pins.entry(here).or_insert_with(|| Pin { at: roof, share: 0.0, steps: Vec::new() });
            pin.share = pin.share.max(step.rooted);
            pin.steps.push(at);
        }
        stops.push(own);
    }
    found.legs = legs.into_values().collect();
    found.pins = pins.into_values().collect();
    found.legs.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.steps.cmp(&b.steps)));
    found.pins.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.steps.cmp(&b.steps)));
    found.left_out = found.legs.len().saturating_sub(MOST_LEGS) + found.pins.len().saturating_sub(MOST_PINS);
    found.legs.truncate(MOST_LEGS);
    found.pins.truncate(MOST_PINS);
    found
}

impl Leg {
    /// Half its thickness, in units.
    pub fn radius(&self) -> f32 {
        let (thick, thin) = LEG_RADII;
        thin + (thick - thin) * self.share.clamp(0.0, 1.0)
    }

    /// Points of an arc over the roofs between its ends, both included. It cuts through no building, and legs to and fro lie apart. Longer
    /// legs rise higher.
    pub fn arc(&self, pieces: usize, roofs: Option<&Roofs<'_>>) -> Vec<Vec3> {
        let along = self.to - self.from;
        let flat = Vec3::new(along.x, 0.0, along.z);
        let rise = (1.5 + 0.3 * flat.length()).min(HIGHEST);
        // To one side, by the direction: the way back lies beside it.
        let aside = flat.cross(Vec3::Y).normalize_or_zero() * (0.08 * flat.length()).min(3.0);
        let pieces = pieces.max(1);
        let point = |i: usize| {
            let s = i as f32 / pieces as f32;
            let bow = 4.0 * s * (1.0 - s);
            (self.from + along * s + Vec3::Y * (bow * rise) + aside * bow, self.radius())
        };
        let mut way: Vec<_> = (0..=pieces).map(point).collect();
        if let Some(roofs) = roofs {
            roofs.lift(&mut way);
        }
        way.into_iter().map(|(at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, inner, leaf};
    use super::super::{CityConfig, Look};
    use super::*;
    use proptest::prelude::*;

    fn step(below: usize, node: Option<NodeId>, share: f32, rooted: f32) -> RouteStep {
        RouteStep { below, node, share, rooted }
    }

    fn city(leaves: usize, children: Option<usize>) -> (Timeline, CityPlan, Appearance) {
        let leaves = (0..leaves).map(|i| leaf(&format!("g{i:02}"), &[0, 10 * (i as u64 + 1)])).collect();
        let timeline = inner("Heap", leaves).timeline();
        let plan = CityPlan::new(&timeline, &CityConfig { child_count: children, ..CityConfig::default() });
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        (timeline, plan, appearance)
    }

    #[test]
    fn a_route_goes_from_the_root_over_the_roofs_to_the_group() {
        let (timeline, plan, appearance) = city(3, None);
        let [a, b, c] = ["Heap#g00", "Heap#g01", "Heap#g02"].map(|key| at(&timeline, key));
        let steps = [
            step(0, Some(a), 1.0, 0.0),
            step(0, Some(b), 0.5, 0.0),
            step(1, Some(b), 0.5, 0.0),
            step(2, None, 0.5, 0.0),
            step(3, Some(c), 0.25, 0.25),
        ];
        let found = routes(&plan, &timeline, &appearance, 1, &steps);
        assert_eq!((found.inside, found.nowhere, found.left_out), (1, 1, 0));
        assert_eq!(found.stops, [a, b, c]);
        // What has no building is passed over: c holds b.
        assert_eq!(found.legs.iter().map(|leg| &leg.steps[..]).collect::<Vec<_>>(), [&[1][..], &[4]]);
        assert_eq!((found.legs[0].from, found.legs[1].to), (found.legs[1].to, found.legs[0].from));
        assert_eq!((found.pins.len(), found.pins[0].at, &found.pins[0].steps[..]), (1, found.legs[1].from, &[4][..]));
        let arc = found.legs[0].arc(8, None);
        assert!((arc[0] - found.legs[0].from).length() < 1e-4 && (arc[8] - found.legs[0].to).length() < 1e-4);
        assert!(arc[4].y > arc[0].y.max(arc[8].y), "it rises above both roofs");
        assert!(found.legs[0].radius() > found.legs[1].radius());
    }

    proptest! {
        /// For any steps: legs run between groups of steps only, and every step is drawn or counted.
        #[test]
        fn every_step_is_a_leg_or_counted(
            of in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(0usize..45), 0u8..=100, 0u8..3), 1..80),
            children in prop::option::of(1usize..20),
        ) {
            let (timeline, plan, appearance) = city(45, children);
            let node = |i: usize| at(&timeline, &format!("Heap#g{i:02}"));
            let steps: Vec<RouteStep> = of
                .iter()
                .enumerate()
                .map(|(i, (below, of, share, root))| {
                    let below = if i == 0 { 0 } else { below.index(i) };
                    let rooted = if *root == 0 { f32::from(*share) / 100.0 } else { 0.0 };
                    step(below, of.map(node), f32::from(*share) / 100.0, rooted)
                })
                .collect();
            let found = routes(&plan, &timeline, &appearance, 1, &steps);
            prop_assert!(found.legs.len() <= MOST_LEGS && found.pins.len() <= MOST_PINS);
            let plot = |i: usize| steps[i].node.and_then(|n| plan.plot_of(n));
            // The next one below that has a building.
            let below = |i: usize| {
                let mut at = steps[i].below;
                while at != 0 && plot(at).is_none() {
                    at = steps[at].below;
                }
                plot(at)
            };
            let mut wanted = std::collections::BTreeSet::new();
            let (mut inside, mut nowhere) = (0, 0);
            for i in 0..steps.len() {
                match (plot(i), if i == 0 { None } else { below(i) }) {
                    (None, _) => nowhere += 1,
                    (Some(a), Some(b)) if a == b => inside += 1,
                    (Some(a), Some(b)) => { wanted.insert((a, b)); }
                    (Some(_), None) => {}
                }
            }
            prop_assert_eq!((found.inside, found.nowhere), (inside, nowhere));
            let drawn: usize = found.legs.len() + found.pins.len();
            prop_assert!(drawn + found.left_out >= wanted.len());
            for leg in &found.legs {
                prop_assert!(!leg.steps.is_empty());
                for &i in &leg.steps {
                    prop_assert!(leg.share >= steps[i].share && wanted.contains(&(plot(i).unwrap(), below(i).unwrap())));
                }
            }
            for node in &found.stops {
                prop_assert!(steps.iter().any(|step| step.node == Some(*node)));
            }
        }
    }
}
