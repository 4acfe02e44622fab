//! Parts of a window in pixels, and the tiles in which changes are marked.
//!
//! May not: know what is drawn there.

use bevy_egui::egui::{Rect, pos2};

/// Side of a tile, pixels: changes are marked tile by tile. GPUs in software draw tiles of this size.
const TILE: u32 = 64;
/// With more parts than this, one around all of them costs less.
const MOST_PARTS: usize = 16;

/// A part of the window, pixels: left, top, and the right and the bottom that are no longer in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowPart {
    pub left: u32,
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
}

impl WindowPart {
    /// Corner and size as a part.
    pub fn of([x, y, width, height]: [u32; 4]) -> WindowPart {
        WindowPart { left: x, top: y, right: x + width, bottom: y + height }
    }

    pub fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    /// The intersection of both.
    pub fn common(self, other: WindowPart) -> WindowPart {
        WindowPart {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// The least part that holds both.
    fn around(self, other: WindowPart) -> WindowPart {
        WindowPart {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// This without the other: the parts above it, below it, beside it.
    pub fn without(self, other: WindowPart) -> impl Iterator<Item = WindowPart> {
        let hole = self.common(other);
        let all = if hole.is_empty() {
            [self, WindowPart::default(), WindowPart::default(), WindowPart::default()]
        } else {
            [
                WindowPart { bottom: hole.top, ..self },
                WindowPart { top: hole.bottom, ..self },
                WindowPart { right: hole.left, top: hole.top, bottom: hole.bottom, ..self },
                WindowPart { left: hole.right, top: hole.top, bottom: hole.bottom, ..self },
            ]
        };
        all.into_iter().filter(|part| !part.is_empty())
    }

    /// In points.
    pub fn rect(self, pixels: f32) -> Rect {
        let point = |x: u32, y: u32| pos2(x as f32 / pixels, y as f32 / pixels);
        Rect::from_min_max(point(self.left, self.top), point(self.right, self.bottom))
    }
}

/// Tiles of a window, some of which are marked.
pub struct WindowTiles {
    size: (u32, u32),
    wide: usize,
    marked: Vec<bool>,
}

impl WindowTiles {
    /// Tiles of a window of this size, in pixels; none is marked.
    pub fn new(size: (u32, u32)) -> WindowTiles {
        let count = |side: u32| side.div_ceil(TILE) as usize;
        WindowTiles { size, wide: count(size.0), marked: vec![false; count(size.0) * count(size.1)] }
    }

    /// Marks all tiles that a part touches.
    pub fn mark(&mut self, part: WindowPart) {
        let part = part.common(WindowPart::of([0, 0, self.size.0, self.size.1]));
        if part.is_empty() {
            return;
        }
        let tiles = |from: u32, to: u32| (from / TILE) as usize..to.div_ceil(TILE) as usize;
        for row in tiles(part.top, part.bottom) {
            let row = row * self.wide;
            self.marked[row..][tiles(part.left, part.right)].fill(true);
        }
    }

    /// The marked tiles, as parts that do not overlap.
    pub fn parts(&self) -> Vec<WindowPart> {
        let mut parts: Vec<WindowPart> = Vec::new();
        let edge = |tiles: usize, side: u32| (tiles as u32 * TILE).min(side);
        for (y, row) in self.marked.chunks(self.wide.max(1)).enumerate() {
            let (top, bottom) = (edge(y, self.size.1), edge(y + 1, self.size.1));
            let mut x = 0;
            for run in row.chunk_by(|a, b| a == b) {
                let (left, right) = (edge(x, self.size.0), edge(x + run.len(), self.size.0));
                x += run.len();
                if !run[0] {
                    continue;
                }
                let above = |part: &&mut WindowPart| (part.left, part.right, part.bottom) == (left, right, top);
                match parts.iter_mut().find(above) {
                    Some(part) => part.bottom = bottom,
                    None => parts.push(WindowPart { left, top, right, bottom }),
                }
            }
        }
        if parts.len() > MOST_PARTS {
            parts = parts.into_iter().reduce(WindowPart::around).into_iter().collect();
        }
        parts
    }
}
