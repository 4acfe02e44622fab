//! Curves along which references are drawn: arcs over the roofs, straight cones, or arcs bundled towards one district. Also finds the curve
//! nearest to a point of the picture.

use super::cones::{Cone, MIN_RADIUS};
use super::over_roofs::Roofs;
use super::plan::CityPlan;
use glam::{Mat4, Vec2, Vec3};
use std::collections::BTreeMap;

/// How references run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferenceShape {
    /// Over the roofs: they cut through no building.
    #[default]
    Arcs,
    /// Straight cones, as in the paper.
    Straight,
    /// Arcs of one direction to one district keep together for most of their way.
    Bundled,
}

impl ReferenceShape {
    /// All of them.
    pub const ALL: [ReferenceShape; 3] = [ReferenceShape::Arcs, ReferenceShape::Straight, ReferenceShape::Bundled];

    /// Its name in files and on the command line.
    pub fn id(self) -> &'static str {
        match self {
            ReferenceShape::Arcs => "arcs",
            ReferenceShape::Straight => "straight",
            ReferenceShape::Bundled => "bundled",
        }
    }

    /// The shape with this id.
    pub fn of(id: &str) -> Option<ReferenceShape> {
        ReferenceShape::ALL.into_iter().find(|shape| shape.id() == id)
    }
}

/// Points of a way from the referencing end to the referenced one, both included, each with the radius there.
pub type ConeWay = Vec<(Vec3, f32)>;

/// An arc rises by so much, and by this part of its length, but not higher.
const RISE: (f32, f32, f32) = (1.2, 0.24, 18.0);
/// Arcs are so much thinner than straight cones: they are longer, and nothing hides them.
const ARC_THICKNESS: f32 = 0.4;
/// Bundled arcs run together for this part of the way.
const TOGETHER: f32 = 0.72;

/// The curve of each cone, in the order of the cones. A straight cone is a single piece; others have `pieces`. One more piece lifts an end
/// straight up first, over `roofs`. Two cones between the same buildings lie beside each other.
pub fn cone_ways(
    plan: &CityPlan,
    cones: &[Cone],
    shape: ReferenceShape,
    pieces: usize,
    roofs: Option<&Roofs<'_>>,
) -> Vec<ConeWay> {
    let pieces = pieces.max(2);
    let mut ways = flat_ways(plan, cones, shape, pieces);
    if let Some(roofs) = roofs.filter(|_| shape != ReferenceShape::Straight) {
        ways.iter_mut().for_each(|way| roofs.lift(way));
    }
    ways
}

/// The same as if there were no other building.
fn flat_ways(plan: &CityPlan, cones: &[Cone], shape: ReferenceShape, pieces: usize) -> Vec<ConeWay> {
    match shape {
        ReferenceShape::Straight => cones.iter().map(|cone| straight(cone, cones)).collect(),
        ReferenceShape::Arcs => cones.iter().map(|cone| way(cone, pieces, |s| arc(cone, s))).collect(),
        ReferenceShape::Bundled => {
            let mut hubs: BTreeMap<(bool, usize), (Vec3, f32)> = BTreeMap::new();
            let hub_of = |cone: &Cone| (cone.incoming, plan.district_around(cone.other));
            for cone in cones {
                let hub = hubs.entry(hub_of(cone)).or_insert((Vec3::ZERO, 0.0));
                *hub = (hub.0 + other_end(cone), hub.1 + 1.0);
            }
            let bundled = |cone: &Cone| {
                let (sum, n) = hubs[&hub_of(cone)];
                match n > 1.0 {
                    true => way(cone, pieces, |s| bundle(cone, sum / n, s)),
                    false => way(cone, pieces, |s| arc(cone, s)),
                }
            };
            cones.iter().map(bundled).collect()
        }
    }
}

fn other_end(cone: &Cone) -> Vec3 {
    if cone.incoming { cone.from } else { cone.to }
}

fn way(cone: &Cone, pieces: usize, at: impl Fn(f32) -> Vec3) -> ConeWay {
    let point = |i: usize| {
        let s = i as f32 / pieces as f32;
        let thick = cone.radius_from + (cone.radius_to - cone.radius_from) * s;
        (at(s), (thick * ARC_THICKNESS).max(MIN_RADIUS as f32))
    };
    (0..=pieces).map(point).collect()
}

fn straight(cone: &Cone, all: &[Cone]) -> ConeWay {
    let both = all.iter().any(|c| c.other == cone.other && c.incoming != cone.incoming);
    let aside = (cone.to - cone.from).cross(Vec3::Y).normalize_or_zero();
    let shift = if both { aside * cone.radius_from.max(cone.radius_to) } else { Vec3::ZERO };
    vec![(cone.from + shift, cone.radius_from), (cone.to + shift, cone.radius_to)]
}

fn rise(along: Vec3) -> f32 {
    let flat = Vec2::new(along.x, along.z).length();
    (RISE.0 + RISE.1 * flat).min(RISE.2)
}

/// A parabola over the straight line; to one side of it, by the direction, so that the way back lies beside it.
fn arc(cone: &Cone, s: f32) -> Vec3 {
    let along = cone.to - cone.from;
    let flat = Vec3::new(along.x, 0.0, along.z);
    let aside = flat.cross(Vec3::Y).normalize_or_zero() * (0.06 * flat.length()).min(2.5);
    let bow = 4.0 * s * (1.0 - s);
    cone.from + along * s + Vec3::Y * (bow * rise(along)) + aside * bow
}

/// A cubic curve from the selection towards the middle of the district, and on to the other end.
fn bundle(cone: &Cone, hub: Vec3, s: f32) -> Vec3 {
    let (here, there) = if cone.incoming { (cone.to, cone.from) } else { (cone.from, cone.to) };
    // The same wherever in the district it ends: that is what keeps them together.
    let up = Vec3::Y * (1.6 * rise(hub - here));
    let middle = here + (hub - here) * TOGETHER + up;
    let (a, b) = (here + (middle - here) * 0.5 + up * 0.4, middle);
    let s = if cone.incoming { 1.0 - s } else { s };
    let r = 1.0 - s;
    here * (r * r * r) + a * (3.0 * r * r * s) + b * (3.0 * r * s * s) + there * (s * s * s)
}

/// The curve that lies under a point of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearWay {
    /// Place of the way.
    pub way: usize,
    /// The point of it that is nearest in the picture.
    pub at: Vec3,
    /// How far that is in the picture, pixels, beyond its thickness; 0 on it.
    pub off: f32,
}

/// The way that is nearest to a point of the picture, within `reach` pixels of its surface; the nearest to the eye of those that are
/// on it. `size` is that of the picture in pixels, y of `at` grows downwards.
pub fn nearest_way(ways: &[ConeWay], clip_from_world: Mat4, size: Vec2, at: Vec2, reach: f32) -> Option<NearWay> {
    let mut best: Option<(NearWay, f32)> = None;
    for (number, way) in ways.iter().enumerate() {
        for pair in way.windows(2) {
            let ((a, radius_a), (b, radius_b)) = (pair[0], pair[1]);
            let (from, to) = (clip_from_world * a.extend(1.0), clip_from_world * b.extend(1.0));
            if from.w <= 0.05 || to.w <= 0.05 {
                continue;
            }
            let pixel = |clip: glam::Vec4| {
                Vec2::new((clip.x / clip.w * 0.5 + 0.5) * size.x, (0.5 - clip.y / clip.w * 0.5) * size.y)
            };
            let (p, q) = (pixel(from), pixel(to));
            let along = q - p;
            let s = if along.length_squared() > 1e-9 {
                ((at - p).dot(along) / along.length_squared()).clamp(0.0, 1.0)
            } else {
                0.0
            };
            // How many pixels a unit of the world is there.
            let w = from.w + (to.w - from.w) * s;
            let scale = 0.5 * size.y * clip_from_world.row(1).truncate().length() / w;
            let thick = (radius_a + (radius_b - radius_a) * s) * scale;
            let off = ((p + along * s).distance(at) - thick).max(0.0);
            if off > reach {
                continue;
            }
            let near = NearWay { way: number, at: a + (b - a) * s, off };
            let nearer = |(other, depth): &(NearWay, f32)| (off, w) < (other.off, *depth);
            if best.as_ref().is_none_or(nearer) {
                best = Some((near, w));
            }
        }
    }
    best.map(|(near, _)| near)
}

#[cfg(test)]
mod tests {
    use super::super::camera::{Lens, home};
    use super::super::testing::{self, inner, leaf};
    use super::super::{CityConfig, MAX_RADIUS};
    use super::*;
    use proptest::prelude::*;

    fn cones() -> impl Strategy<Value = Vec<Cone>> {
        let end = || (-50.0..50.0f32, 0.5..30.0f32, -50.0..50.0f32, MIN_RADIUS as f32..MAX_RADIUS as f32);
        prop::collection::vec((end(), any::<bool>(), 0usize..6), 1..20).prop_map(|all| {
            let here = (Vec3::new(3.0, 4.0, 5.0), 0.5);
            let cone = |((x, y, z, r), incoming, other): ((f32, f32, f32, f32), bool, usize)| {
                let there = (Vec3::new(x, y, z), r);
                let (from, to) = if incoming { (there, here) } else { (here, there) };
                testing::cone(from, to, incoming, other)
            };
            all.into_iter().map(cone).collect()
        })
    }

    fn plan() -> CityPlan {
        let district = |name: &str| inner(name, (0..3).map(|i| leaf(&format!("{name}{i}"), &[10 + i])).collect());
        let timeline = inner("Heap", vec![district("a"), district("b")]).timeline();
        CityPlan::new(&timeline, &CityConfig::default())
    }

    proptest! {
        #[test]
        fn ways_join_the_roofs(cones in cones(), pieces in 2usize..30) {
            let plan = plan();
            for shape in ReferenceShape::ALL {
                let ways = cone_ways(&plan, &cones, shape, pieces, None);
                prop_assert_eq!(ways.len(), cones.len());
                for (cone, way) in cones.iter().zip(&ways) {
                    let ((first, r0), (last, r1)) = (way[0], way[way.len() - 1]);
                    let factor = if shape == ReferenceShape::Straight { 1.0 } else { ARC_THICKNESS };
                    let thick = |radius: f32| (radius * factor).max(MIN_RADIUS as f32);
                    prop_assert_eq!((r0, r1), (thick(cone.radius_from), thick(cone.radius_to)), "as the shares say");
                    let moved = if shape == ReferenceShape::Straight { 1.01 * r0.max(r1) } else { 1e-3 };
                    prop_assert!(first.distance(cone.from) <= moved && last.distance(cone.to) <= moved);
                    prop_assert!(way.iter().all(|(at, r)| at.is_finite() && *r >= r0.min(r1) - 1e-4 && *r <= r0.max(r1) + 1e-4));
                    if shape == ReferenceShape::Arcs {
                        let inner = &way[1..way.len() - 1];
                        let line = |i: usize| cone.from.y + (cone.to.y - cone.from.y) * (i + 1) as f32 / pieces as f32;
                        prop_assert!(inner.iter().enumerate().all(|(i, (at, _))| at.y > line(i)), "over the straight line");
                    }
                }
            }
        }

        #[test]
        fn what_is_under_the_mouse_is_on_the_way(cones in cones(), which in any::<prop::sample::Index>(), s in 0.05..0.95f32) {
            let ways = cone_ways(&plan(), &cones, ReferenceShape::Arcs, 16, None);
            let size = Vec2::new(1280.0, 720.0);
            let lens = Lens { fov: 0.6, aspect: size.x / size.y, margins: [0.0; 4] };
            let clip = lens.clip_from_world(&home(40.0, &lens));
            let way = &ways[which.index(ways.len())];
            let at = way[(s * 16.0) as usize].0;
            let p = clip * at.extend(1.0);
            prop_assume!(p.w > 1.0);
            let pixel = Vec2::new((p.x / p.w * 0.5 + 0.5) * size.x, (0.5 - p.y / p.w * 0.5) * size.y);
            let near = nearest_way(&ways, clip, size, pixel, 4.0).expect("it is on one");
            prop_assert!(near.off < 0.01);
            prop_assert_eq!(nearest_way(&ways, clip, size, Vec2::new(-4000.0, -4000.0), 4.0), None);
        }
    }

    #[test]
    fn bundled_ways_are_nearer_to_each_other_on_their_way() {
        let plan = plan();
        let district = plan.district_around(0);
        let others: Vec<usize> = (0..plan.plots.len()).filter(|&p| plan.district_around(p) == district).collect();
        assert!(others.len() > 1);
        let end = |x: f32, z: f32| (Vec3::new(x, 2.0, z), 0.2);
        let cone = |other: usize, z: f32| testing::cone(end(-40.0, 0.0), end(40.0, z), false, other);
        let cones = [cone(others[0], -8.0), cone(others[1], 8.0)];
        let apart = |shape| {
            let ways = cone_ways(&plan, &cones, shape, 10, None);
            ways[0][5].0.distance(ways[1][5].0)
        };
        assert!(apart(ReferenceShape::Bundled) < 0.5 * apart(ReferenceShape::Arcs));
    }

    #[test]
    fn shapes_have_names() {
        for shape in ReferenceShape::ALL {
            assert_eq!(ReferenceShape::of(shape.id()), Some(shape));
        }
        assert_eq!(ReferenceShape::of("wiggly"), None);
    }
}
