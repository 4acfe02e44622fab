//! Which building or district a ray meets first.
//!
//! Boxes lie in layout order, where neighbours in the list are neighbours on the ground. So a tree over runs of the
//! list has tight bounds and needs no sorting: eight boxes a node, eight nodes a node. The bounds hold each building
//! at its full size, so the tree is made once and serves all times.

use super::plan::CityPlan;
use glam::Vec3;

/// What a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// What it is.
    pub target: HitTarget,
    /// Distance from the ray's origin in lengths of its direction.
    pub distance: f32,
}

/// A plot or a district, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitTarget {
    /// Index into [`CityPlan::plots`].
    Plot(usize),
    /// Index into [`CityPlan::districts`].
    District(usize),
}

/// A box in the world.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Bounds {
    fn join(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Where a ray enters, if it does (slab method). `inverse` is 1 / direction.
    fn enter(&self, origin: Vec3, inverse: Vec3) -> Option<f32> {
        let a = (self.low - origin) * inverse;
        let b = (self.high - origin) * inverse;
        // A ray that runs inside a face gives 0 * infinity: min and max pass over the NaN.
        let near = a.x.min(b.x).max(a.y.min(b.y)).max(a.z.min(b.z));
        let far = a.x.max(b.x).min(a.y.max(b.y)).min(a.z.max(b.z));
        (near <= far && far >= 0.0).then_some(near.max(0.0))
    }
}

const FAN: usize = 8;

/// Bounds of runs of boxes, level by level, leaves first.
#[derive(Debug, Default)]
pub struct PickTree {
    count: usize,
    levels: Vec<Vec<Bounds>>,
}

impl PickTree {
    /// Over boxes in list order.
    pub fn new(boxes: impl Iterator<Item = Bounds>) -> Self {
        let boxes: Vec<Bounds> = boxes.collect();
        let count = boxes.len();
        let mut levels = Vec::new();
        let mut below = boxes;
        while below.len() > 1 {
            let above: Vec<Bounds> =
                below.chunks(FAN).map(|run| run[1..].iter().fold(run[0], |a, &b| a.join(b))).collect();
            levels.push(above.clone());
            below = above;
        }
        PickTree { count, levels }
    }

    /// The nearest box below `limit`, asking `exact` for where the ray enters box `i` now.
    fn nearest(&self, origin: Vec3, inverse: Vec3, exact: impl Fn(usize) -> Option<f32>) -> Option<(usize, f32)> {
        let mut best: Option<(usize, f32)> = None;
        let closer = |best: &Option<(usize, f32)>, d: f32| best.is_none_or(|(_, b)| d < b);
        // (level, index): level 0 nodes hold boxes.
        let mut open: Vec<(usize, usize)> = match self.levels.len() {
            0 => {
                return (0..self.count).filter_map(|i| exact(i).map(|d| (i, d))).min_by(|a, b| a.1.total_cmp(&b.1));
            }
            n => vec![(n - 1, 0)],
        };
        while let Some((level, index)) = open.pop() {
            let Some(enter) = self.levels[level][index].enter(origin, inverse) else { continue };
            if !closer(&best, enter) {
                continue;
            }
            if level == 0 {
                for i in index * FAN..((index + 1) * FAN).min(self.count) {
                    if let Some(d) = exact(i)
                        && closer(&best, d)
                    {
                        best = Some((i, d));
                    }
                }
            } else {
                let below = self.levels[level - 1].len();
                open.extend((index * FAN..((index + 1) * FAN).min(below)).map(|i| (level - 1, i)));
            }
        }
        best
    }
}

impl CityPlan {
    /// The world box of a plot at a scale.
    pub(super) fn plot_box(&self, plot: usize, scale: f64) -> Bounds {
        let p = &self.plots[plot];
        let base = p.cell.scaled(scale);
        Bounds {
            low: Vec3::new(base.x as f32, p.ground as f32, base.y as f32),
            high: Vec3::new(
                (base.x + base.w) as f32,
                (p.ground + self.height(plot, scale)) as f32,
                (base.y + base.h) as f32,
            ),
        }
    }

    /// The world box of a district slab.
    pub(super) fn district_box(&self, district: usize) -> Bounds {
        let d = &self.districts[district];
        Bounds {
            low: Vec3::new(d.cell.x as f32, d.base as f32, d.cell.y as f32),
            high: Vec3::new((d.cell.x + d.cell.w) as f32, d.top as f32, (d.cell.y + d.cell.h) as f32),
        }
    }

    /// What a ray meets first, with every plot at the scale that `scale` says (0: nothing stands there).
    pub fn pick(&self, scale: impl Fn(usize) -> f32, origin: Vec3, direction: Vec3) -> Option<Hit> {
        let inverse = direction.recip();
        let plot = self.plot_tree.nearest(origin, inverse, |plot| {
            let now = scale(plot);
            if now <= 0.0 { None } else { self.plot_box(plot, f64::from(now)).enter(origin, inverse) }
        });
        let district = self.district_tree.nearest(origin, inverse, |d| self.district_box(d).enter(origin, inverse));
        let plot = plot.map(|(i, distance)| Hit { target: HitTarget::Plot(i), distance });
        let district = district.map(|(i, distance)| Hit { target: HitTarget::District(i), distance });
        match (plot, district) {
            (Some(p), Some(d)) => Some(if p.distance <= d.distance { p } else { d }),
            (p, d) => p.or(d),
        }
    }
}
