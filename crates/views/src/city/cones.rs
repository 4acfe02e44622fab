//! References of a selection as cones: straight frustums with an independent radius at either end. The radius shows the share of the
//! objects there that takes part: if 1 % of A references 80 % of B, the cone is thin at A and thick at B.

use super::look::Appearance;
use super::plan::CityPlan;
use super::rect::Rect;
use glam::Vec3;
use memory_city_analysis::timeline::references::{Edge, ReferenceMap};
use memory_city_analysis::timeline::{NodeId, Timeline};
use std::collections::BTreeMap;

/// No end is thinner than this, in units, so that every cone can be seen.
pub const MIN_RADIUS: f64 = 0.1;
/// No end is thicker than this, in units, so that a cone at the largest building does not hide the city.
pub const MAX_RADIUS: f64 = 3.0;

/// One bundle of references between the selection and another plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// Centre of the end at the referencing side.
    pub from: Vec3,
    /// Centre of the end at the referenced side.
    pub to: Vec3,
    /// Radius at the referencing side.
    pub radius_from: f32,
    /// Radius at the referenced side.
    pub radius_to: f32,
    /// Whether the selection is the referenced side (purple); otherwise it is the referencing side (green).
    pub incoming: bool,
    /// The plot at the other end.
    pub other: usize,
    /// The node there; `None` for a More plot, where cones to several nodes are one.
    pub other_node: Option<NodeId>,
    /// Objects at the referencing side that take part.
    pub referencing: u64,
    /// Objects at the referenced side that take part.
    pub referenced: u64,
    /// Single references.
    pub references: u64,
    /// Share of the objects at the referencing side, 0 to 1.
    pub share_from: f32,
    /// Share of the objects at the referenced side, 0 to 1.
    pub share_to: f32,
}

/// The cones of a selection, and how many there would be more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cones {
    /// Most objects first, incoming before outgoing.
    pub cones: Vec<Cone>,
    /// How many more there would be, in the directions that are wanted.
    pub left_out: usize,
    /// Single references of all bundles, those that are left out among them.
    pub references: u64,
    /// Single references of those that are left out.
    pub left_out_references: u64,
    /// Groups that take part but get no cone, since the selection's own plot stands for them too.
    pub same_plot: usize,
    /// Groups that take part but have no plot: those outside the part of the heap that is a city of its own.
    pub elsewhere: usize,
    /// Single references from and to these; they are not among the others.
    pub elsewhere_references: u64,
}

/// Cones for each direction, by default.
pub const USUAL_CONES: usize = 24;
/// More cannot be asked for.
pub const MOST_CONES: usize = 400;

/// The cones to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedCones {
    /// Most cones for each direction; the others are counted.
    pub most: usize,
    /// References to the selection.
    pub incoming: bool,
    /// References from the selection.
    pub outgoing: bool,
}

/// References of `selected` (a building, a pruned node or a district) at time `t` as cones, those with the most
/// objects involved first. Of a direction that is not wanted there is nothing, in no count either.
///
/// Ends lie at the centres of roofs, for districts on the slab. A radius is the share of the objects there that take part, times half the
/// shorter side of the building's current base, within [`MIN_RADIUS`] and [`MAX_RADIUS`]. Cones to nodes of one More plot are merged. One
/// object of the selection may refer to several of these, so the number of objects at the selection's end is then an upper bound.
pub fn cones(
    plan: &CityPlan,
    timeline: &Timeline,
    appearance: &Appearance,
    t: usize,
    selected: NodeId,
    map: &ReferenceMap,
    wanted: WantedCones,
) -> Cones {
    let mut result = Cones::default();
    let now = Now { plan, timeline, appearance, t };
    let Some(here) = End::of_node(&now, selected) else { return result };
    let directions = [(true, &map.incoming, wanted.incoming), (false, &map.outgoing, wanted.outgoing)];
    for (incoming, edges, _) in directions.into_iter().filter(|(.., wanted)| *wanted) {
        let (mut bundles, apart) = bundles(plan, here.plot, edges);
        result.same_plot += apart.same_plot;
        result.elsewhere += apart.elsewhere;
        result.elsewhere_references = result.elsewhere_references.saturating_add(apart.references);
        bundles.sort_by(|a, b| b.involved().cmp(&a.involved()).then(a.plot.cmp(&b.plot)));
        let beyond = bundles.len().saturating_sub(wanted.most);
        let references = |all: &[Bundle]| all.iter().map(|b| b.references).fold(0, u64::saturating_add);
        result.references = result.references.saturating_add(references(&bundles));
        let left_out = references(&bundles[bundles.len() - beyond..]);
        result.left_out_references = result.left_out_references.saturating_add(left_out);
        result.left_out += beyond;
        let drawn = bundles.into_iter().take(wanted.most);
        result.cones.extend(drawn.map(|bundle| bundle.cone(&now, &here, incoming)));
    }
    result
}

/// A city at one time.
struct Now<'a> {
    plan: &'a CityPlan,
    timeline: &'a Timeline,
    appearance: &'a Appearance,
    t: usize,
}

/// One side of a cone.
struct End {
    plot: Option<usize>,
    anchor: Vec3,
    base: Rect,
    objects: u64,
}

impl End {
    fn of_plot(now: &Now<'_>, plot: usize) -> End {
        let Now { plan, timeline, appearance, t } = *now;
        let standing = appearance.standing(appearance.state(plan, timeline, plot, t));
        let base = plan.base(plot, f64::from(standing.side));
        let roof = plan.plots[plot].ground() + f64::from(standing.height);
        let objects = plan.amount(timeline, plot, t).objects;
        End { plot: Some(plot), anchor: base.centre_at(roof), base, objects }
    }

    fn of_node(now: &Now<'_>, node: NodeId) -> Option<End> {
        let Now { plan, timeline, t, .. } = *now;
        if let Some(plot) = plan.plot_of(node) {
            let objects = timeline.amount(t, node).objects;
            return Some(End { objects, ..End::of_plot(now, plot) });
        }
        let district = &plan.districts[plan.district_of(node)?];
        let objects = timeline.amount(t, node).objects;
        Some(End { plot: None, anchor: district.cell.centre_at(district.top), base: district.cell, objects })
    }

    fn share(&self, objects: u64) -> f64 {
        if self.objects == 0 { 0.0 } else { (objects as f64 / self.objects as f64).min(1.0) }
    }

    fn radius(&self, share: f64) -> f32 {
        let half = self.base.w.min(self.base.h) / 2.0;
        (share * half.min(MAX_RADIUS)).max(MIN_RADIUS) as f32
    }
}

/// References to or from one plot.
struct Bundle {
    plot: usize,
    node: Option<NodeId>,
    referencing: u64,
    referenced: u64,
    references: u64,
}

impl Bundle {
    fn involved(&self) -> u64 {
        self.referencing.saturating_add(self.referenced)
    }

    fn cone(self, now: &Now<'_>, here: &End, incoming: bool) -> Cone {
        let there = End::of_plot(now, self.plot);
        let (from, to) = if incoming { (&there, here) } else { (here, &there) };
        let (referencing, referenced) = (self.referencing.min(from.objects), self.referenced.min(to.objects));
        let (share_from, share_to) = (from.share(referencing), to.share(referenced));
        Cone {
            from: from.anchor,
            to: to.anchor,
            radius_from: from.radius(share_from),
            radius_to: to.radius(share_to),
            incoming,
            other: self.plot,
            other_node: self.node,
            referencing,
            referenced,
            references: self.references,
            share_from: share_from as f32,
            share_to: share_to as f32,
        }
    }
}

/// Edges by the plot of their other end, and the number of those that end on the selection's own plot or have none.
fn bundles(plan: &CityPlan, own_plot: Option<usize>, edges: &[Edge]) -> (Vec<Bundle>, WithoutCone) {
    let mut by_plot: BTreeMap<usize, Bundle> = BTreeMap::new();
    let mut apart = WithoutCone::default();
    for edge in edges {
        match plan.plot_of(edge.other) {
            Some(plot) if Some(plot) != own_plot => {
                let bundle = by_plot.entry(plot).or_insert(Bundle {
                    plot,
                    node: Some(edge.other),
                    referencing: 0,
                    referenced: 0,
                    references: 0,
                });
                if bundle.node != Some(edge.other) {
                    bundle.node = None;
                }
                bundle.referencing = bundle.referencing.saturating_add(edge.referencing);
                bundle.referenced = bundle.referenced.saturating_add(edge.referenced);
                bundle.references = bundle.references.saturating_add(edge.references);
            }
            Some(_) => apart.same_plot += 1,
            None => {
                apart.elsewhere += 1;
                apart.references = apart.references.saturating_add(edge.references);
            }
        }
    }
    (by_plot.into_values().collect(), apart)
}

/// References that get no cone.
#[derive(Default)]
struct WithoutCone {
    same_plot: usize,
    /// Groups without a plot, and their references.
    elsewhere: usize,
    references: u64,
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, inner, leaf};
    use super::super::{CityConfig, Look, PlotKind};
    use super::*;

    /// Under the look of a first start.
    fn cones(plan: &CityPlan, timeline: &Timeline, t: usize, selected: NodeId, map: &ReferenceMap) -> Cones {
        let appearance = Appearance::new(plan, timeline, &Look::default());
        let wanted = WantedCones { most: USUAL_CONES, incoming: true, outgoing: true };
        super::cones(plan, timeline, &appearance, t, selected, map, wanted)
    }

    fn edge(other: NodeId, referencing: u64, referenced: u64) -> Edge {
        Edge { other, referencing, referenced, references: referencing.max(referenced) }
    }

    fn map(incoming: Vec<Edge>, outgoing: Vec<Edge>) -> ReferenceMap {
        ReferenceMap { incoming, outgoing, ..ReferenceMap::default() }
    }

    /// Two equal buildings A and B of 1000 objects, and a small one.
    fn city(child_count: Option<usize>) -> (Timeline, CityPlan) {
        let tree =
            inner("Heap", vec![leaf("A", &[0, 1000]), leaf("B", &[500, 1000]), leaf("C", &[1, 1]), leaf("D", &[1, 1])]);
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &CityConfig { child_count, ..CityConfig::default() });
        (timeline, plan)
    }

    #[test]
    fn few_to_many_is_thin_at_one_end_and_thick_at_the_other() {
        let (timeline, plan) = city(None);
        let [a, b] = ["Heap#A", "Heap#B"].map(|key| at(&timeline, key));
        // 1 % of A references 80 % of B.
        let found = cones(&plan, &timeline, 1, a, &map(vec![], vec![edge(b, 10, 800)]));
        let [cone] = found.cones[..] else { panic!("{found:?}") };
        assert!(!cone.incoming && cone.other == plan.plot_of(b).unwrap() && cone.other_node == Some(b));
        assert_eq!((cone.share_from, cone.share_to), (0.01, 0.8));
        assert_eq!((cone.radius_from, cone.radius_to), (MIN_RADIUS as f32, (0.8 * MAX_RADIUS) as f32));
        let roof = |n: NodeId| {
            let plot = plan.plot_of(n).unwrap();
            plan.plots[plot].cell.centre_at(plan.plots[plot].ground() + plan.max_height(plot))
        };
        assert!((cone.from - roof(a)).length() < 1e-3 && (cone.to - roof(b)).length() < 1e-3);
        // The same references seen from B are incoming and keep their direction.
        let seen_from_b = cones(&plan, &timeline, 1, b, &map(vec![edge(a, 10, 800)], vec![]));
        let [other] = seen_from_b.cones[..] else { panic!("{seen_from_b:?}") };
        assert!(other.incoming && other.other == plan.plot_of(a).unwrap());
        assert_eq!(
            (other.from, other.to, other.radius_from, other.radius_to),
            (cone.from, cone.to, cone.radius_from, cone.radius_to)
        );
    }

    #[test]
    fn shares_are_of_the_time_shown() {
        let (timeline, plan) = city(None);
        let [b, c] = ["Heap#B", "Heap#C"].map(|key| at(&timeline, key));
        let share = |t| cones(&plan, &timeline, t, b, &map(vec![edge(c, 1, 250)], vec![])).cones[0].share_to;
        assert_eq!((share(0), share(1)), (0.5, 0.25));
    }

    #[test]
    fn no_end_is_wider_than_its_building_unless_that_is_invisible() {
        let (timeline, plan) = city(None);
        let [a, c] = ["Heap#A", "Heap#C"].map(|key| at(&timeline, key));
        for (t, wanted) in [(0, MIN_RADIUS as f32), (1, 0.0)] {
            let found = cones(&plan, &timeline, t, c, &map(vec![edge(a, 1000, 1)], vec![]));
            let cone = found.cones[0];
            let plot = plan.plot_of(c).unwrap();
            let base = plan.base(plot, plan.side(&timeline, plot, t));
            assert!(f64::from(cone.radius_to) <= base.w.min(base.h) / 2.0 * 1.0001 + 1e-6);
            // A is not there at time 0.
            assert!(t == 1 || cone.radius_from == wanted);
        }
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let leaves: Vec<_> = (1..=30).map(|i| leaf(&format!("g{i:02}"), &[100])).collect();
        let timeline = inner("Heap", leaves).timeline();
        let plan = CityPlan::new(&timeline, &CityConfig::default());
        let selected = at(&timeline, "Heap#g01");
        let to_all = |n: u32| (1..=n).map(|i| edge(at(&timeline, &format!("Heap#g{i:02}")), 1, u64::from(i))).collect();
        let found = cones(&plan, &timeline, 0, selected, &map(to_all(30), to_all(27)));
        // The selection itself has no cone; of the other 29 and 26 those with the most objects are made.
        assert_eq!((found.left_out, found.same_plot), (5 + 2, 2));
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        let of_one = |incoming, outgoing| {
            let wanted = WantedCones { most: USUAL_CONES, incoming, outgoing };
            let found = super::cones(&plan, &timeline, &appearance, 0, selected, &map(to_all(30), to_all(27)), wanted);
            (found.cones.len(), found.left_out, found.references, found.left_out_references)
        };
        // Group 2 has two references, group 30 thirty; the weakest have no cone.
        assert_eq!(of_one(true, false), (24, 5, (2..=30).sum(), (2..=6).sum()));
        assert_eq!(of_one(false, true), (24, 2, (2..=27).sum(), 2 + 3));
        assert_eq!(of_one(false, false), (0, 0, 0, 0));
        assert_eq!(found.cones.len(), 2 * USUAL_CONES);
        assert_eq!(found.cones[0].other_node, Some(at(&timeline, "Heap#g30")));
        assert!(found.cones[..USUAL_CONES].iter().all(|c| c.incoming && c.referenced > 6));
    }

    #[test]
    fn cones_to_pruned_groups_are_one() {
        let (timeline, plan) = city(Some(2));
        let [a, c, d] = ["Heap#A", "Heap#C", "Heap#D"].map(|key| at(&timeline, key));
        let found = cones(&plan, &timeline, 1, a, &map(vec![edge(c, 1, 600), edge(d, 1, 700)], vec![]));
        let [cone] = found.cones[..] else { panic!("{found:?}") };
        assert!(matches!(plan.kind(cone.other), PlotKind::More { count: 2, .. }));
        assert_eq!((cone.other_node, cone.referencing, cone.referenced), (None, 2, 1000));
        assert_eq!((cone.share_from, cone.share_to), (1.0, 1.0));
        // The selection itself may be pruned.
        let from_d = cones(&plan, &timeline, 1, d, &map(vec![edge(c, 1, 1)], vec![edge(a, 1, 1)]));
        assert_eq!((from_d.cones.len(), from_d.same_plot), (1, 1));
    }

    /// In a city of a part of the heap, references that leave the part have no building: they are counted, not forgotten.
    #[test]
    fn references_that_leave_the_city_are_counted() {
        let timeline =
            inner("Heap", vec![inner("In", vec![leaf("a", &[10]), leaf("b", &[20])]), leaf("Out", &[30])]).timeline();
        let [district, a, b, out] = ["Heap#In", "Heap#In#a", "Heap#In#b", "Heap#Out"].map(|key| at(&timeline, key));
        let part = super::super::CityPart { root: district, beyond: 0 };
        let plan = CityPlan::of_part(&timeline, &CityConfig::default(), part);
        let found = cones(&plan, &timeline, 0, a, &map(vec![edge(b, 1, 2), edge(out, 3, 4)], vec![edge(out, 5, 5)]));
        assert_eq!((found.cones.len(), found.left_out, found.same_plot), (1, 0, 0));
        assert_eq!((found.references, found.elsewhere, found.elsewhere_references), (2, 2, 4 + 5));
    }

    #[test]
    fn a_district_is_a_group_too() {
        let (timeline, plan) = city(None);
        let b = at(&timeline, "Heap#B");
        let found = cones(&plan, &timeline, 1, NodeId::ROOT, &map(vec![edge(b, 10, 1001)], vec![]));
        assert_eq!(found.cones[0].share_to, 0.5);
        let nothing = leaf("Heap", &[0]).timeline();
        let empty = CityPlan::new(&nothing, &CityConfig::default());
        assert_eq!(cones(&empty, &nothing, 0, NodeId(7), &map(vec![], vec![])), Cones::default());
    }
}
