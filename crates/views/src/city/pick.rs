//! Picking: the first building or district that a ray meets, found without a test of all of them.
//!
//! Plots and district slabs are in implicit trees of bounding boxes, in the order of a walk through the district hierarchy, so that
//! neighbours share a box. The boxes of plots reach as high as the plots ever get; a building that is low or absent now has a test of its
//! own.

use super::plan::CityPlan;
use super::states::Standing;
use glam::{DVec3, Vec3};
use std::cmp::Reverse;
use std::ops::Range;

/// The thing that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HitTarget {
    /// Index into [`CityPlan::plots`]: a building or a More plot.
    Plot(usize),
    /// Index into [`CityPlan::districts`]: the slab.
    District(usize),
}

/// Where a ray ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The thing at that place.
    pub target: HitTarget,
    /// Along the ray, in units of the length of `direction`.
    pub distance: f32,
    /// The point.
    pub point: Vec3,
}

impl CityPlan {
    /// See [`super::Appearance::pick`]. Sides above the city's gap factor count as that factor, which no state exceeds.
    pub(super) fn pick(
        &self,
        index: &PickIndex,
        standing: impl Fn(usize) -> Standing,
        origin: Vec3,
        direction: Vec3,
    ) -> Option<Hit> {
        let ray = Ray::new(origin, direction)?;
        let mut nearest = f64::INFINITY;
        let mut target = None;
        index.slabs.cast(&ray, &mut nearest, |district, limit| {
            // Where an outer and an inner slab meet at a face, the one found first stays.
            let entry = self.slab(district).entry(&ray).filter(|&entry| entry < limit)?;
            target = Some(HitTarget::District(district));
            Some(entry)
        });
        index.plots.cast(&ray, &mut nearest, |plot, limit| {
            // On a tie (a building's foot on its slab) the building is meant.
            let entry = self.solid_box(plot, standing(plot))?.entry(&ray).filter(|&entry| entry <= limit)?;
            target = Some(HitTarget::Plot(plot));
            Some(entry)
        });
        let target = target?;
        Some(Hit { target, distance: nearest as f32, point: origin + direction * nearest as f32 })
    }

    /// The box of a district's slab.
    fn slab(&self, district: usize) -> Bounds {
        let d = &self.districts[district];
        let c = d.cell;
        Bounds { low: DVec3::new(c.x, d.base, c.y), high: DVec3::new(c.x + c.w, d.top, c.y + c.h) }
    }

    /// The box of the building on a plot; `None` without one.
    fn solid_box(&self, plot: usize, standing: Standing) -> Option<Bounds> {
        // Also false for sides that are not numbers.
        if standing.side > 0.0 {
            // States come in steps: half of one more than the gap is the gap.
            let side = f64::from(standing.side).min(self.config.gap + 1e-5);
            let (c, ground) = (self.base(plot, side), self.plots[plot].ground());
            let top = ground + f64::from(standing.height).max(0.0);
            Some(Bounds { low: DVec3::new(c.x, ground, c.y), high: DVec3::new(c.x + c.w, top, c.y + c.h) })
        } else {
            None
        }
    }
}

/// The two box trees of a city.
#[derive(Clone, Debug, Default)]
pub(super) struct PickIndex {
    plots: BoxTree,
    slabs: BoxTree,
}

impl PickIndex {
    /// `peak` is the height of a plot that it never exceeds.
    pub(super) fn new(plan: &CityPlan, peak: impl Fn(usize) -> f64) -> PickIndex {
        // Depth first: a district, its plots, then the districts inside it.
        let (mut plots, mut slabs) = (NumberRuns::default(), NumberRuns::default());
        let mut open: Vec<usize> = if plan.districts.is_empty() { Vec::new() } else { vec![0] };
        while let Some(district) = open.pop() {
            slabs.push(district..district + 1);
            let contents = &plan.contents[district];
            plots.push(contents.plots.clone());
            let first = open.len();
            open.extend(contents.districts.clone());
            open[first..].sort_by_cached_key(|&inner| Reverse(place_on_curve(plan, district, inner)));
        }
        let tallest_box = |plot: usize| {
            let p = &plan.plots[plot];
            let c = p.cell;
            // States come in steps, and may round up.
            let top = p.ground() + peak(plot) * 1.001 + 0.01;
            Bounds { low: DVec3::new(c.x, p.ground(), c.y), high: DVec3::new(c.x + c.w, top, c.y + c.h) }
        };
        PickIndex { plots: BoxTree::new(plots, tallest_box), slabs: BoxTree::new(slabs, |d| plan.slab(d)) }
    }
}

/// The position of the middle of a district on a curve that fills the outer district (Morton order). Districts are numbered by name, so
/// consecutive numbers may be at opposite ends of the city.
fn place_on_curve(plan: &CityPlan, outer: usize, inner: usize) -> u32 {
    let (outer, inner) = (plan.districts[outer].cell, plan.districts[inner].cell);
    // A float becomes the nearest number that there is, and no number 0.
    let along = |from: f64, size: f64, at: f64| ((at - from) / size * 65536.0) as u16;
    let spread = |at: u16| (0..16).fold(0u32, |bits, bit| bits | (u32::from(at >> bit & 1) << (2 * bit)));
    let (x, y) = (inner.x + inner.w / 2.0, inner.y + inner.h / 2.0);
    spread(along(outer.x, outer.w, x)) | spread(along(outer.y, outer.h, y)) << 1
}

/// A ray with precomputed values for the box test.
struct Ray {
    origin: DVec3,
    inverse: DVec3,
}

impl Ray {
    /// `None` for a ray without a direction.
    fn new(origin: Vec3, direction: Vec3) -> Option<Ray> {
        let usable = origin.is_finite() && direction.is_finite() && direction != Vec3::ZERO;
        usable.then(|| Ray { origin: origin.as_dvec3(), inverse: direction.as_dvec3().recip() })
    }
}

/// An axis-parallel box.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    /// Distance at which the ray enters (0 from inside), by the slab method.
    fn entry(&self, ray: &Ray) -> Option<f64> {
        let (mut near, mut far) = (0.0f64, f64::INFINITY);
        for axis in 0..3 {
            if ray.inverse[axis].is_infinite() {
                // Parallel to these faces: between them all the way, or never. (0 times infinity is no distance.)
                if ray.origin[axis] < self.low[axis] || ray.origin[axis] > self.high[axis] {
                    return None;
                }
                continue;
            }
            let a = (self.low[axis] - ray.origin[axis]) * ray.inverse[axis];
            let b = (self.high[axis] - ray.origin[axis]) * ray.inverse[axis];
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        (near <= far).then_some(near)
    }
}

/// A box around others, in single precision: never smaller than its content.
#[derive(Clone, Copy, Debug)]
struct Around {
    low: Vec3,
    high: Vec3,
}

impl From<Bounds> for Around {
    fn from(of: Bounds) -> Around {
        // Rounding moves a face by at most half a step of the number it becomes.
        let low = of.low.to_array().map(|v| (v as f32).next_down());
        let high = of.high.to_array().map(|v| (v as f32).next_up());
        Around { low: Vec3::from_array(low), high: Vec3::from_array(high) }
    }
}

impl Around {
    fn union(self, other: Around) -> Around {
        Around { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn entry(&self, ray: &Ray) -> Option<f64> {
        Bounds { low: self.low.as_dvec3(), high: self.high.as_dvec3() }.entry(ray)
    }
}

/// Numbers in an order of their own, most of them one more than the one before: kept as runs.
#[derive(Clone, Debug, Default)]
struct NumberRuns {
    /// Place in the order, and number, where a run begins.
    runs: Vec<(u32, u32)>,
    len: usize,
}

impl NumberRuns {
    fn push(&mut self, numbers: Range<usize>) {
        if numbers.is_empty() {
            return;
        }
        let start = numbers.start as u32;
        let goes_on = self.runs.last().is_some_and(|&(at, first)| first + (self.len as u32 - at) == start);
        if !goes_on {
            self.runs.push((self.len as u32, start));
        }
        self.len += numbers.len();
    }

    /// The numbers at some places of the order.
    fn at(&self, places: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let mut run = self.runs.partition_point(|&(at, _)| at as usize <= places.start).saturating_sub(1);
        (places.start..places.end.min(self.len)).map(move |place| {
            run += usize::from(self.runs.get(run + 1).is_some_and(|&(at, _)| at as usize <= place));
            let (at, first) = self.runs[run];
            first as usize + (place - at as usize)
        })
    }
}

/// Children per box.
const FAN: usize = 8;

/// Boxes around runs of [`FAN`] items, boxes around runs of those, and so on to a single one. The tree is implied by
/// the positions; nothing points anywhere.
#[derive(Clone, Debug, Default)]
struct BoxTree {
    items: NumberRuns,
    /// Boxes by level, from those around single items up to the one around everything.
    layers: Vec<Vec<Around>>,
}

impl BoxTree {
    fn new(items: NumberRuns, bounds: impl Fn(usize) -> Bounds) -> BoxTree {
        let around = |run: &[Around]| run.iter().copied().reduce(Around::union);
        let mut layers: Vec<Vec<Around>> = Vec::new();
        if items.len > 0 {
            let of_run =
                |start: usize| items.at(start..start + FAN).map(|i| Around::from(bounds(i))).reduce(Around::union);
            let mut layer: Vec<Around> = Vec::with_capacity(items.len.div_ceil(FAN));
            layer.extend((0..items.len).step_by(FAN).filter_map(of_run));
            while layer.len() > 1 {
                let mut above = Vec::with_capacity(layer.len().div_ceil(FAN));
                above.extend(layer.chunks(FAN).filter_map(around));
                layers.push(std::mem::replace(&mut layer, above));
            }
            layers.push(layer);
        }
        BoxTree { items, layers }
    }

    /// Calls `test` for items whose boxes the ray enters before `nearest`. `test` returns the distance of its own hit, which becomes the
    /// new `nearest` if it is not farther. Nearer boxes come first.
    fn cast(&self, ray: &Ray, nearest: &mut f64, mut test: impl FnMut(usize, f64) -> Option<f64>) {
        let mut open: Vec<(f64, usize, usize)> = Vec::new();
        if let Some(top) = self.layers.len().checked_sub(1)
            && let Some(entry) = self.layers[top][0].entry(ray)
        {
            open.push((entry, top, 0));
        }
        while let Some((entry, layer, index)) = open.pop() {
            if entry > *nearest {
                continue;
            }
            if layer == 0 {
                for item in self.items.at(index * FAN..(index + 1) * FAN) {
                    if let Some(hit) = test(item, *nearest) {
                        *nearest = nearest.min(hit);
                    }
                }
                continue;
            }
            let below = &self.layers[layer - 1];
            let mark = open.len();
            for (child, bounds) in below.iter().enumerate().skip(index * FAN).take(FAN) {
                if let Some(entry) = bounds.entry(ray)
                    && entry <= *nearest
                {
                    open.push((entry, layer - 1, child));
                }
            }
            // The nearest last, where it is taken next.
            open[mark..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{configs, trees};
    use super::super::{Appearance, Look};
    use super::*;
    use proptest::prelude::*;

    /// Distance at which a ray enters a box, by its six faces: an independent way to the same answer.
    fn by_faces(low: DVec3, high: DVec3, origin: DVec3, direction: DVec3) -> Option<f64> {
        let inside = |p: DVec3, but: usize| (0..3).all(|i| i == but || (low[i] <= p[i] && p[i] <= high[i]));
        if inside(origin, 3) {
            return Some(0.0);
        }
        let faces = (0..3).flat_map(|axis| [(axis, low[axis]), (axis, high[axis])]);
        let hits = faces.filter_map(|(axis, at)| {
            let distance = (at - origin[axis]) / direction[axis];
            (distance >= 0.0 && distance.is_finite() && inside(origin + direction * distance, axis)).then_some(distance)
        });
        hits.min_by(f64::total_cmp)
    }

    /// Every box of the city at these scales.
    fn all_boxes(plan: &CityPlan, standing: &[Standing]) -> Vec<(HitTarget, DVec3, DVec3)> {
        let mut boxes = Vec::new();
        for (i, d) in plan.districts.iter().enumerate() {
            let c = d.cell;
            boxes.push((HitTarget::District(i), DVec3::new(c.x, d.base, c.y), DVec3::new(c.x + c.w, d.top, c.y + c.h)));
        }
        for (i, p) in plan.plots.iter().enumerate() {
            let scale = f64::from(standing[i].side);
            let (w, h) = (p.cell.w * scale, p.cell.h * scale);
            let (cx, cz) = (p.cell.x + p.cell.w / 2.0, p.cell.y + p.cell.h / 2.0);
            let top = p.ground() + f64::from(standing[i].height);
            if scale > 0.0 {
                boxes.push((
                    HitTarget::Plot(i),
                    DVec3::new(cx - w / 2.0, p.ground(), cz - h / 2.0),
                    DVec3::new(cx + w / 2.0, top, cz + h / 2.0),
                ));
            }
        }
        boxes
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn the_nearest_of_all_is_found(
            tree in trees(),
            config in configs(),
            mix in 0.0..1.0f32,
            rule in any::<bool>(),
            origin in prop::array::uniform3(-90.0..90.0f32),
            goal in prop::array::uniform3(-50.0..50.0f32),
        ) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            let look = Look { height: ["base", "growth"][usize::from(rule)].into(), ..Look::default() };
            let appearance = Appearance::new(&plan, &timeline, &look);
            let at = |t| appearance.states(&plan, &timeline, t).into_iter().map(|s| appearance.standing(s));
            let standing: Vec<Standing> = at(0).zip(at(1)).map(|(a, b)| a.lerp(b, mix)).collect();
            let origin = Vec3::from_array(origin) + Vec3::Y * 60.0;
            let goal = Vec3::new(goal[0], goal[1] * 0.1, goal[2]);
            let direction = goal - origin;
            let found = appearance.pick(&plan, |p| standing[p], origin, direction);
            let boxes = all_boxes(&plan, &standing);
            let hit = |(target, low, high): &(HitTarget, DVec3, DVec3)| {
                by_faces(*low, *high, origin.as_dvec3(), direction.as_dvec3()).map(|distance| (*target, distance))
            };
            let nearest = boxes.iter().filter_map(hit).min_by(|a, b| a.1.total_cmp(&b.1));
            match (found, nearest) {
                (None, None) => {}
                (Some(found), Some((target, distance))) => {
                    let error = (f64::from(found.distance) - distance).abs();
                    prop_assert!(error < 1e-6, "{found:?}, but {target:?} at {distance}");
                    prop_assert!((found.point - (origin + direction * found.distance)).length() < 1e-3);
                }
                // A ray along an edge may go either way.
                (found, nearest) => {
                    let grazes = |grow: f64| boxes.iter().any(|(_, low, high)| {
                        by_faces(*low - grow, *high + grow, origin.as_dvec3(), direction.as_dvec3()).is_some()
                    });
                    prop_assert!(grazes(1e-6) != grazes(-1e-6), "{found:?} {nearest:?}");
                }
            }
        }
    }

    /// The number of tests follows from the buildings along the ray, not from the size of the city. Districts are numbered by name: boxes
    /// around consecutive numbers would each be half a city.
    #[test]
    fn few_plots_are_asked_for() {
        use super::super::testing::{inner, leaf};
        // By name there is no order in the sizes, which is that of the layout.
        let size = |district: u64, plot: u64| 1 + (district * 7919 + plot * 104_729) % 10_007;
        let plots = |d: u64| (0..50).map(|p| leaf(&format!("{d}-{p}"), &[size(d, p)])).collect::<Vec<_>>();
        let timeline = inner("Heap", (0..400).map(|d| inner(&format!("d{d}"), plots(d))).collect()).timeline();
        let config = super::super::CityConfig { child_count: None, ..Default::default() };
        let plan = CityPlan::new(&timeline, &config);
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        let states = appearance.states(&plan, &timeline, 0);
        assert_eq!(states.len(), 20_000);
        let asked = std::cell::Cell::new(0);
        let standing = |plot: usize| {
            asked.set(asked.get() + 1);
            appearance.standing(states[plot])
        };
        let eye = Vec3::new(0.0, 70.0, 95.0);
        let mut most = 0;
        for (x, z) in (0..900).map(|i| ((i % 30) as f32 * 3.0 - 45.0, (i / 30) as f32 * 3.0 - 45.0)) {
            asked.set(0);
            assert!(appearance.pick(&plan, standing, eye, Vec3::new(x, 0.5, z) - eye).is_some());
            most = most.max(asked.get());
        }
        assert!((1..200).contains(&most), "{most} of 20,000");
    }

    #[test]
    fn straight_down_and_along_faces() {
        use super::super::testing::{inner, leaf};
        let timeline = inner("Heap", vec![leaf("a", &[10, 0]), leaf("b", &[10, 10])]).timeline();
        let plan = CityPlan::new(&timeline, &super::super::CityConfig::default());
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        let states = [0, 1].map(|t| appearance.states(&plan, &timeline, t));
        let above = |plot: usize| plan.plots[plot].cell.centre_at(200.0);
        let at = |t: usize, origin, direction| {
            appearance.pick(&plan, |p| appearance.standing(states[t][p]), origin, direction)
        };
        for (plot, state) in states[0].iter().enumerate() {
            let hit = at(0, above(plot), Vec3::NEG_Y).unwrap();
            assert_eq!(hit.target, HitTarget::Plot(plot));
            let roof = plan.plots[plot].ground() + f64::from(appearance.standing(*state).height);
            assert!((f64::from(hit.point.y) - roof).abs() < 1e-3);
        }
        // A building that is not there now lets the ray through to its district.
        let a = plan.plot_of(memory_city_analysis::timeline::NodeId(1)).unwrap();
        assert_eq!(at(1, above(a), Vec3::NEG_Y).unwrap().target, HitTarget::District(0));
        // Beside the city, away from it, nowhere at all.
        assert_eq!(at(0, Vec3::new(80.0, 50.0, 0.0), Vec3::NEG_Y), None);
        assert_eq!(at(0, above(0), Vec3::Y), None);
        for bad in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
            assert_eq!(at(0, above(0), bad), None);
            assert_eq!(at(0, bad * f32::NAN, Vec3::NEG_Y), None);
        }
        // Exactly in the plane of the city's edge, and along its upper side.
        assert_eq!(at(0, Vec3::new(-50.0, 9.0, 0.0), Vec3::NEG_Y).unwrap().target, HitTarget::District(0));
        let top = plan.districts[0].top as f32;
        assert!(at(0, Vec3::new(-90.0, top * 0.5, 0.0), Vec3::X).is_some());
        let nowhere = Standing { side: f32::NAN, height: f32::NAN };
        let hit = appearance.pick(&plan, |_| nowhere, above(0), Vec3::NEG_Y).unwrap();
        assert_eq!(hit.target, HitTarget::District(0));
    }
}
