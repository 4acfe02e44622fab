//! The shapes of a nested picture on a plane: rings of a disk, or columns.

use super::{NestedCell, NestedPicture};
use crate::city::Rect;
use std::f64::consts::{FRAC_PI_2, TAU};

/// How nesting is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NestedShape {
    /// The whole is a disk in the middle, each level a ring around it.
    #[default]
    Sunburst,
    /// The whole is a column at the left, each level one to its right.
    Icicle,
}

/// Where a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NestedTarget {
    /// The room there is. `y` grows downwards.
    pub room: Rect,
    /// Levels for which there are rings or columns, the first cell's included; at least one.
    pub rings: u32,
    /// Share of the room that is used, 0 to 1 ([`heap_scale`](super::heap_scale)): areas are in this proportion.
    pub scale: f64,
}

/// The outline of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outline {
    /// A part of a ring, or of a disk where `inner` is 0. Angles are radians, clockwise from the top where `y` grows downwards.
    Ring {
        /// The middle of the disk.
        centre: (f64, f64),
        /// Inner radius.
        inner: f64,
        /// Outer radius.
        outer: f64,
        /// Where it begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// A rectangle.
    Box(Rect),
}

impl NestedShape {
    /// Where a cell is; `None` where there is no ring for its level.
    pub fn outline(self, target: &NestedTarget, cell: &NestedCell) -> Option<Outline> {
        let rings = target.rings.max(1);
        if cell.level >= rings {
            return None;
        }
        let scale = target.scale.clamp(0.0, 1.0);
        let room = target.room;
        Some(match self {
            NestedShape::Sunburst => {
                let radius = room.w.min(room.h) / 2.0 * scale.sqrt();
                let ring = radius / f64::from(rings);
                let inner = ring * f64::from(cell.level);
                let (from, to) = (cell.start * TAU, cell.end * TAU);
                Outline::Ring { centre: room.centre(), inner, outer: inner + ring, from, to }
            }
            NestedShape::Icicle => {
                let column = room.w / f64::from(rings);
                let height = room.h * scale;
                let bottom = room.y + room.h;
                let top = bottom - height + cell.start * height;
                let x = room.x + column * f64::from(cell.level);
                Outline::Box(Rect::new(x, top, column, (cell.end - cell.start) * height))
            }
        })
    }

    /// The cell at a point. Time follows the number of cells.
    pub fn cell_at(self, target: &NestedTarget, picture: &NestedPicture, x: f64, y: f64) -> Option<usize> {
        picture.cells.iter().position(|cell| self.outline(target, cell).is_some_and(|outline| outline.contains(x, y)))
    }
}

impl Outline {
    /// True if a point is in it. The lower edges belong to it, the upper ones do not.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        match *self {
            Outline::Box(r) => x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h,
            Outline::Ring { centre, inner, outer, from, to } => {
                let (dx, dy) = (x - centre.0, y - centre.1);
                let distance = dx.hypot(dy);
                let angle = (dy.atan2(dx) + FRAC_PI_2).rem_euclid(TAU);
                distance >= inner && distance < outer && angle >= from && angle < to
            }
        }
    }

    /// Its middle, where a name may stand.
    pub fn middle(&self) -> (f64, f64) {
        match *self {
            Outline::Box(r) => r.centre(),
            Outline::Ring { centre, inner: 0.0, .. } => centre,
            Outline::Ring { centre, inner, outer, from, to } => point(centre, (inner + outer) / 2.0, (from + to) / 2.0),
        }
    }

    /// Width and height of the largest name in it, roughly: of a ring along the radius, and across it at its middle.
    pub fn room(&self) -> (f64, f64) {
        match *self {
            Outline::Box(r) => (r.w, r.h),
            Outline::Ring { inner: 0.0, outer, .. } => (outer * 1.6, outer),
            Outline::Ring { inner, outer, from, to, .. } => (outer - inner, (to - from) * (inner + outer) / 2.0),
        }
    }

    /// Points along it, clockwise; arcs within `error` of the plane's units. A ring that goes all the way round has its outer circle
    /// first, then the inner one backwards.
    pub fn points(&self, error: f64) -> Vec<(f64, f64)> {
        match *self {
            Outline::Box(r) => {
                vec![(r.x, r.y), (r.x + r.w, r.y), (r.x + r.w, r.y + r.h), (r.x, r.y + r.h)]
            }
            Outline::Ring { centre, inner, outer, from, to } => {
                let steps = arc_steps(outer, to - from, error);
                let angle = |step: usize| from + (to - from) * step as f64 / steps as f64;
                let arc = |radius: f64| (0..=steps).map(move |step| point(centre, radius, angle(step)));
                match inner > 0.0 {
                    true => arc(outer).chain(arc(inner).rev()).collect(),
                    false if to - from >= TAU => arc(outer).collect(),
                    false => arc(outer).chain([centre]).collect(),
                }
            }
        }
    }
}

/// The point at an angle from the top.
fn point(centre: (f64, f64), radius: f64, angle: f64) -> (f64, f64) {
    (centre.0 + radius * angle.sin(), centre.1 - radius * angle.cos())
}

/// How many straight lines an arc takes so that none is further from it than `error`.
fn arc_steps(radius: f64, angle: f64, error: f64) -> usize {
    let error = error.max(1e-3);
    if radius <= error {
        return 1;
    }
    let step = 2.0 * (1.0 - error / radius).acos();
    ((angle / step).ceil() as usize).clamp(1, 720)
}
