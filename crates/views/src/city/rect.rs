//! Rectangles of the city plane. Knows nothing of plots, districts or values.

use glam::Vec3;

/// An axis-parallel rectangle kept as corner and extent: extents stay precise however small a plot is, which
/// differences of large coordinates would not.
///
/// City units; `x` is the world's x, `y` the world's z (south is positive), the city is centred on (0, 0).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// West edge.
    pub x: f64,
    /// North edge.
    pub y: f64,
    /// Extent along x.
    pub w: f64,
    /// Extent along y.
    pub h: f64,
}

impl Rect {
    /// A rectangle with this corner and extent.
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Rect {
        Rect { x, y, w, h }
    }
    /// Width times height.
    pub fn area(&self) -> f64 {
        self.w * self.h
    }
    /// The middle, as (x, y).
    pub fn centre(&self) -> (f64, f64) {
        (self.x + self.w / 2.0, self.y + self.h / 2.0)
    }
    /// The same rectangle scaled about its centre; keeps the aspect ratio.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Rect {
        let (w, h) = (self.w * factor, self.h * factor);
        Rect { x: self.x + (self.w - w) / 2.0, y: self.y + (self.h - h) / 2.0, w, h }
    }
    /// The longer side over the shorter; infinite for a line, 1 for a point.
    pub fn aspect(&self) -> f64 {
        let (long, short) = (self.w.max(self.h), self.w.min(self.h));
        if long == short { 1.0 } else { long / short }
    }
    /// Whether `other` lies inside, with `tolerance` units to spare on each side.
    pub fn contains(&self, other: &Rect, tolerance: f64) -> bool {
        other.x >= self.x - tolerance
            && other.y >= self.y - tolerance
            && other.x + other.w <= self.x + self.w + tolerance
            && other.y + other.h <= self.y + self.h + tolerance
    }
    /// The centre as a point of the world at height `y` (world y is up).
    pub fn centre_at(&self, y: f64) -> Vec3 {
        let (cx, cz) = self.centre();
        Vec3::new(cx as f32, y as f32, cz as f32)
    }
}
