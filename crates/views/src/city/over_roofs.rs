//! Lifts curves that run from roof to roof over the roofs between, so that they cut through no building.
//!
//! May not: know the curves.

use super::look::Appearance;
use super::pick::HitTarget;
use super::plan::CityPlan;
use super::states::Standing;
use glam::Vec3;

/// How far above the roofs of others, beyond its own thickness.
const CLEAR: f32 = 0.15;
/// Heights that differ by less are the same.
const SAME: f32 = 1e-3;
/// Over more roofs than this, one higher than the other, a piece goes at the height of the highest of all.
const MOST_ROOFS: usize = 64;

/// The roofs of a city at a time.
pub struct Roofs<'a> {
    plan: &'a CityPlan,
    appearance: &'a Appearance,
    standing: &'a dyn Fn(usize) -> Standing,
}

impl<'a> Roofs<'a> {
    /// The roofs of the buildings as they are drawn.
    pub fn new(plan: &'a CityPlan, appearance: &'a Appearance, standing: &'a dyn Fn(usize) -> Standing) -> Roofs<'a> {
        Roofs { plan, appearance, standing }
    }

    /// The height of the roof or ground at a point, seen from above; `None` outside of the city.
    pub fn at(&self, point: Vec3) -> Option<f32> {
        let above = point.with_y((self.appearance.tallest() as f32).max(point.y) + 1.0);
        let hit = self.appearance.pick(self.plan, self.standing, above, Vec3::NEG_Y);
        hit.map(|hit| hit.point.y)
    }

    /// The highest roof that a level line from one point to the other would run into, if it began at `from`; that if there is none.
    fn between(&self, a: Vec3, b: Vec3, from: f32) -> f32 {
        let along = (b - a).with_y(0.0);
        let length = along.length();
        let mut height = from;
        for _ in 0..MOST_ROOFS {
            let hit = self.appearance.pick(self.plan, self.standing, a.with_y(height + SAME), along);
            let Some(hit) = hit.filter(|hit| (hit.point - a).with_y(0.0).length() <= length) else { return height };
            let roof = match hit.target {
                HitTarget::Plot(plot) => self.plan.plots[plot].ground() as f32 + (self.standing)(plot).height,
                HitTarget::District(district) => self.plan.districts[district].top as f32,
            };
            if roof <= height + SAME {
                return height;
            }
            height = roof;
        }
        self.appearance.tallest() as f32
    }

    /// Lifts a way, whose ends are on roofs, over all that is higher than it, as a bow that has no dent. Where something higher stands
    /// close to an end, it goes straight up there first. Each point is with its radius.
    pub fn lift(&self, way: &mut Vec<(Vec3, f32)>) {
        let (Some(&first), Some(&last)) = (way.first(), way.last()) else { return };
        let mut heights: Vec<f32> = way.iter().map(|(at, _)| at.y).collect();
        let below: Vec<f32> = way.iter().map(|(at, _)| self.at(*at).unwrap_or(0.0)).collect();
        let ends = [first, last].map(|(end, _)| end.y + SAME);
        let middle = way.len() / 2;
        for (i, pair) in way.windows(2).enumerate() {
            let ((a, r0), (b, r1)) = (pair[0], pair[1]);
            let low = a.y.min(b.y);
            let under = low.max(below[i]).max(below[i + 1]);
            let mut height = self.between(a, b, under);
            // It lies on the roof that it comes from.
            if height > low && height > ends[usize::from(i >= middle)] {
                height += r0.max(r1) + CLEAR;
            }
            heights[i] = heights[i].max(height);
            heights[i + 1] = heights[i + 1].max(height);
        }
        let mut run = vec![0.0];
        for pair in way.windows(2) {
            run.push(run[run.len() - 1] + (pair[1].0 - pair[0].0).with_y(0.0).length());
        }
        let bow = without_dents(&run, &heights);
        way.iter_mut().zip(&bow).for_each(|((at, _), height)| at.y = *height);
        if bow[bow.len() - 1] > ends[1] {
            way.push(last);
        }
        if bow[0] > ends[0] {
            way.insert(0, first);
        }
    }
}

/// The least heights that are nowhere below these, and bend downwards only.
fn without_dents(run: &[f32], heights: &[f32]) -> Vec<f32> {
    let mut hull: Vec<usize> = Vec::new();
    for i in 0..run.len() {
        while let [.., a, b] = hull[..] {
            // Whether the last one is on or below the line from the one before to this.
            let below = (heights[b] - heights[a]) * (run[i] - run[a]) <= (heights[i] - heights[a]) * (run[b] - run[a]);
            if !below {
                break;
            }
            hull.pop();
        }
        hull.push(i);
    }
    let mut bow = heights.to_vec();
    for pair in hull.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        for i in a + 1..b {
            let share = (run[i] - run[a]) / (run[b] - run[a]).max(f32::MIN_POSITIVE);
            bow[i] = bow[i].max(heights[a] + (heights[b] - heights[a]) * share.clamp(0.0, 1.0));
        }
    }
    bow
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cone, inner, leaf};
    use super::super::{CityConfig, Cone, Look, ReferenceShape, cone_ways, route::Leg};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No point of a curve is inside a building, whatever the buildings.
        #[test]
        fn ways_cut_through_no_building(
            sizes in prop::collection::vec(prop::collection::vec(1u64..100_000, 1..8), 1..6),
            pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 1..6),
            half in any::<bool>(),
        ) {
            let district = |(d, sizes): (usize, &Vec<u64>)| {
                let building = |(b, &size): (usize, &u64)| leaf(&format!("{d}.{b}"), &[size / 2, size]);
                inner(&format!("d{d}"), sizes.iter().enumerate().map(building).collect())
            };
            let timeline = inner("Heap", sizes.iter().enumerate().map(district).collect()).timeline();
            let plan = CityPlan::new(&timeline, &CityConfig { child_count: None, ..CityConfig::default() });
            let appearance = Appearance::new(&plan, &timeline, &Look::default());
            let time = usize::from(!half);
            let standing = |plot: usize| appearance.standing(appearance.state(&plan, &timeline, plot, time));
            let roofs = Roofs::new(&plan, &appearance, &standing);
            let roof = |plot: usize| {
                let base = plan.base(plot, f64::from(standing(plot).side));
                let top = plan.plots[plot].ground() + f64::from(standing(plot).height);
                Vec3::new((base.x + base.w / 2.0) as f32, top as f32, (base.y + base.h / 2.0) as f32)
            };
            let ends: Vec<(usize, usize, bool)> = pairs
                .iter()
                .map(|(a, b, incoming)| (a.index(plan.plots.len()), b.index(plan.plots.len()), *incoming))
                .filter(|(a, b, _)| a != b)
                .collect();
            let cones: Vec<Cone> = ends.iter().map(|&(a, b, incoming)| cone((roof(a), 0.3), (roof(b), 0.6), incoming, b)).collect();
            let mut ways = Vec::new();
            for shape in [ReferenceShape::Arcs, ReferenceShape::Bundled] {
                ways.extend(cone_ways(&plan, &cones, shape, 16, Some(&roofs)));
            }
            for &(a, b, _) in &ends {
                let leg = Leg { from: roof(a), to: roof(b), share: 0.5, steps: Vec::new() };
                ways.push(leg.arc(18, Some(&roofs)).into_iter().map(|at| (at, 0.1)).collect());
            }
            for way in &ways {
                for (at, s) in way.windows(2).flat_map(|pair| (0..=20).map(move |s| (pair, s as f32 / 20.0))) {
                    let at = at[0].0 + (at[1].0 - at[0].0) * s;
                    for plot in 0..plan.plots.len() {
                        let (base, top) = (plan.base(plot, f64::from(standing(plot).side)), roof(plot).y);
                        let inside = |v: f32, low: f64, size: f64| f64::from(v) > low + 0.01 && f64::from(v) < low + size - 0.01;
                        let within = inside(at.x, base.x, base.w) && inside(at.z, base.y, base.h);
                        prop_assert!(!within || at.y >= top - 0.02, "{at} is in plot {plot}, whose roof is at {top}: {way:?}");
                    }
                }
            }
        }

        #[test]
        fn a_bow_is_above_all_and_bends_downwards_only(heights in prop::collection::vec(0.0..50.0f32, 2..30), gaps in prop::collection::vec(0.0..5.0f32, 30)) {
            let run: Vec<f32> = gaps.iter().take(heights.len()).scan(0.0, |sum, gap| { *sum += gap; Some(*sum) }).collect();
            let bow = without_dents(&run, &heights);
            prop_assert!(bow.iter().zip(&heights).all(|(bow, height)| bow >= height));
            for i in 1..bow.len() - 1 {
                let (left, right) = (run[i] - run[i - 1], run[i + 1] - run[i]);
                prop_assert!((bow[i] - bow[i - 1]) * right >= (bow[i + 1] - bow[i]) * left - 0.01, "{i}: {bow:?}");
            }
        }
    }
}
