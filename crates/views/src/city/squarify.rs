//! Squarified treemaps: one level of rectangles whose areas are proportional to values and that are close to squares.
//!
//! The algorithm is that of Bruls, Huizing and van Wijk, "Squarified Treemaps" (VisSym 2000). Values in descending order are added to a row
//! along the shorter side of the remaining rectangle, as long as the worst aspect ratio of the row does not get worse. The paper leaves two
//! conventions open, fixed here as in d3: equality continues a row, and in a square remainder the row stands upright along the west side.
//!
//! Numerics: sums are suffix sums built from the smallest value up. The remaining rectangle is kept as corner and extent and shrinks by
//! products, never by subtracting from a running total. A million values over twelve decades keep their areas to about 1e-14, where the
//! running total of the textbook version loses the small ones entirely.
//!
//! This module knows no tree and no time.

use super::rect::Rect;

/// Why values cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LayoutError {
    /// A value is not a number or is infinite.
    #[error("value {index} is {value}, expected a finite number")]
    NotFinite {
        /// Its position in the input.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value is below zero.
    #[error("value {index} is {value}, expected zero or more")]
    Negative {
        /// Its position in the input.
        index: usize,
        /// The value.
        value: f64,
    },
    /// The sum of the values leaves the range of numbers.
    #[error("the values add up to more than a double can hold; scale them down")]
    TooLarge,
    /// The rectangle to fill has a negative, infinite or undefined corner or extent.
    #[error("the area to fill is {0:?}, expected finite numbers and extents of zero or more")]
    Area(Rect),
}

/// Fills `area` with one rectangle per value; the result has the order of the input.
///
/// Values may come in any order and may be zero (a zero gets a point where the layout ends); equal values keep the
/// order of the input. If all are zero, all get a point.
///
/// # Errors
/// Values that are negative, infinite or not numbers, and areas likewise.
pub fn squarify(values: &[f64], area: Rect) -> Result<Vec<Rect>, LayoutError> {
    for (index, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(LayoutError::NotFinite { index, value });
        }
        if value < 0.0 {
            return Err(LayoutError::Negative { index, value });
        }
    }
    if ![area.x, area.y, area.w, area.h].iter().all(|v| v.is_finite()) || area.w < 0.0 || area.h < 0.0 {
        return Err(LayoutError::Area(area));
    }
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_by(|&a, &b| values[b as usize].total_cmp(&values[a as usize]));
    let mut sorted: Vec<f64> = order.iter().map(|&i| values[i as usize]).collect();
    // Ratios of rows square a sum of values; a power of two brings the largest to about 1 and changes no digit.
    let largest = sorted.first().copied().unwrap_or(0.0);
    if largest > 0.0 {
        let exponent = largest.log2().floor().clamp(-1000.0, 1000.0);
        let unit = (-exponent).exp2();
        sorted.iter_mut().for_each(|v| *v *= unit);
    }
    let mut sums = vec![0.0; sorted.len()];
    if !suffix_sums(&sorted, &mut sums).is_finite() {
        return Err(LayoutError::TooLarge);
    }
    let mut cells = vec![Rect::default(); sorted.len()];
    squarify_sorted(&sorted, &sums, area, &mut cells);
    let mut out = vec![Rect::default(); values.len()];
    for (&i, &cell) in order.iter().zip(&cells) {
        out[i as usize] = cell;
    }
    Ok(out)
}

/// Writes `sums[i] = values[i] + values[i + 1] + …`, added from the end, and returns the sum of all.
///
/// # Panics
/// If the slices differ in length.
pub fn suffix_sums(values: &[f64], sums: &mut [f64]) -> f64 {
    assert_eq!(values.len(), sums.len());
    let mut sum = 0.0;
    for (s, v) in sums.iter_mut().zip(values).rev() {
        sum += v;
        *s = sum;
    }
    sum
}

/// The layout itself, without allocation: `values` descending, finite and not negative, `sums` their
/// [`suffix_sums`], one cell per value.
///
/// # Panics
/// If the slices differ in length.
pub fn squarify_sorted(values: &[f64], sums: &[f64], area: Rect, cells: &mut [Rect]) {
    assert!(values.len() == sums.len() && values.len() == cells.len());
    let n = values.len();
    let Rect { mut x, mut y, mut w, mut h } = area;
    let mut i = 0;
    while i < n && sums[i] > 0.0 {
        let total = sums[i];
        let (end, row) = row_end(values, i, total, w, h);
        let taken = row / total;
        let left = if end < n { sums[end] / total } else { 0.0 };
        let mut before = 0.0;
        if w < h {
            let thick = h * taken;
            for (cell, &v) in cells[i..end].iter_mut().zip(&values[i..end]) {
                *cell = Rect { x: x + w * (before / row), y, w: w * (v / row), h: thick };
                before += v;
            }
            y += thick;
            h *= left;
        } else {
            let thick = w * taken;
            for (cell, &v) in cells[i..end].iter_mut().zip(&values[i..end]) {
                *cell = Rect { x, y: y + h * (before / row), w: thick, h: h * (v / row) };
                before += v;
            }
            x += thick;
            w *= left;
        }
        i = end;
    }
    cells[i..].fill(Rect { x, y, w: 0.0, h: 0.0 });
}

/// Where the row that starts at `start` ends, and the sum of its values. `total` is the sum of all from `start` on.
///
/// With the remaining rectangle's sides `short` and `long`, a value `v` in a row with the sum `s` is `short * v / s` by `long * s / total`.
/// The larger of the two ratios of these is the paper's worst ratio. Zeros would be lines; they end a row.
fn row_end(values: &[f64], start: usize, total: f64, w: f64, h: f64) -> (usize, f64) {
    let (short, long) = if w < h { (w, h) } else { (h, w) };
    let unit = total * (short / long);
    if unit.is_nan() || unit <= 0.0 {
        // A line has no aspect ratios; rows of one value divide it along its length.
        return (start + 1, values[start]);
    }
    let largest = values[start];
    let mut row = 0.0;
    let mut best = f64::INFINITY;
    let mut end = start;
    while end < values.len() && values[end] > 0.0 {
        let smallest = values[end];
        let longer = row + smallest;
        let square = longer * longer;
        let worst = (unit * largest / square).max(square / (unit * smallest));
        if worst > best {
            break;
        }
        best = worst;
        row = longer;
        end += 1;
    }
    (end, row)
}

#[cfg(test)]
mod tests;
