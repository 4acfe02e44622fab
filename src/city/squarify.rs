//! Squarified treemaps: one level of rectangles whose areas are proportional to values and that are close to squares.
//!
//! The algorithm is that of Bruls, Huizing and van Wijk, "Squarified Treemaps" (VisSym 2000): values in descending
//! order are added to a row along the shorter side of what is left, as long as the worst aspect ratio of the row does
//! not get worse. Two conventions the paper leaves open are fixed here, as in d3: equality continues a row, and in a
//! square remainder the row stands upright along the west side.
//!
//! Numerics: sums are suffix sums built from the smallest value up, the remaining rectangle is kept as corner and
//! extent and shrinks by products, never by subtracting from a running total. A million values over twelve decades
//! keep their areas to about 1e-14, where the running total of the textbook version loses the small ones entirely.
//!
//! This module knows no tree and no time.

use super::Rect;

/// Why values cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LayoutError {
    /// A value is not a number or is infinite.
    #[error("value {index} is {value}, expected a finite number")]
    NotFinite {
        /// Its position in the input.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// A value is below zero.
    #[error("value {index} is {value}, expected zero or more")]
    Negative {
        /// Its position in the input.
        index: usize,
        /// What it is.
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
/// With the remaining rectangle's sides `short` and `long`, a value `v` in a row with the sum `s` is
/// `short * v / s` by `long * s / total`; the larger of the two ratios of these is what the paper calls worst.
/// Zeros would be lines; they end a row.
fn row_end(values: &[f64], start: usize, total: f64, w: f64, h: f64) -> (usize, f64) {
    let (short, long) = if w < h { (w, h) } else { (h, w) };
    // A line has no aspect ratios: everything goes into one row.
    let unit = if long > 0.0 { total * (short / long) } else { 0.0 };
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values, the area to fill, and the expected rectangles as corners (x0, y0, x1, y1).
    type Published = (&'static [f64], (f64, f64), &'static [[f64; 4]]);

    fn published() -> Vec<Published> {
        const T: f64 = 7.0 / 3.0;
        vec![
            // The example of the paper (figure 5): 6 x 4, areas 6 6 4 3 2 2 1.
            (
                &[6., 6., 4., 3., 2., 2., 1.],
                (6., 4.),
                &[
                    [0., 0., 3., 2.],
                    [0., 2., 3., 4.],
                    [3., 0., 33. / 7., T],
                    [33. / 7., 0., 6., T],
                    [3., T, 21. / 5., 4.],
                    [21. / 5., T, 27. / 5., 4.],
                    [27. / 5., T, 6., 4.],
                ],
            ),
            // The same upright.
            (
                &[6., 6., 4., 3., 2., 2., 1.],
                (4., 6.),
                &[
                    [0., 0., 2., 3.],
                    [2., 0., 4., 3.],
                    [0., 3., T, 33. / 7.],
                    [0., 33. / 7., T, 6.],
                    [T, 3., 4., 21. / 5.],
                    [T, 21. / 5., 4., 27. / 5.],
                    [T, 27. / 5., 4., 6.],
                ],
            ),
            (&[1., 1., 1.], (3., 3.), &[[0., 0., 2., 1.5], [0., 1.5, 2., 3.], [2., 0., 3., 3.]]),
            (&[1.; 4], (2., 2.), &[[0., 0., 1., 1.], [0., 1., 1., 2.], [1., 0., 2., 1.], [1., 1., 2., 2.]]),
            // Zeros vanish at the far corner, whatever their place in the input.
            (&[0., 6., 0., 2.], (4., 2.), &[[4., 0., 4., 0.], [0., 0., 3., 2.], [4., 0., 4., 0.], [3., 0., 4., 2.]]),
            // One value far above the rest.
            (
                &[1000., 1., 1., 1.],
                (10., 10.),
                &[
                    [0., 0., 10000. / 1003., 10.],
                    [10000. / 1003., 0., 10., 10. / 3.],
                    [10000. / 1003., 10. / 3., 10., 20. / 3.],
                    [10000. / 1003., 20. / 3., 10., 10.],
                ],
            ),
            // Degenerate areas: a line is divided along its length, a point stays a point.
            (&[3., 1.], (0., 4.), &[[0., 0., 0., 3.], [0., 3., 0., 4.]]),
            (&[3., 1.], (4., 0.), &[[0., 0., 3., 0.], [3., 0., 4., 0.]]),
            (&[3., 1.], (0., 0.), &[[0.; 4], [0.; 4]]),
            (&[0., 0.], (4., 4.), &[[0.; 4], [0.; 4]]),
            (&[5.], (4., 2.), &[[0., 0., 4., 2.]]),
            (&[], (4., 2.), &[]),
        ]
    }

    #[test]
    fn published_layouts() {
        for (values, (w, h), expected) in published() {
            let cells = squarify(values, Rect::new(0., 0., w, h)).unwrap();
            assert_eq!(cells.len(), expected.len());
            for (cell, e) in cells.iter().zip(expected) {
                let corners = [cell.x, cell.y, cell.x + cell.w, cell.y + cell.h];
                for (found, e) in corners.iter().zip(e) {
                    assert!((found - e).abs() < 1e-12, "{values:?} in {w} x {h}: {corners:?}, expected {e:?}");
                }
            }
        }
    }

    #[test]
    fn published_aspect_ratios() {
        let values = [6., 6., 4., 3., 2., 2., 1.];
        let cells = squarify(&values, Rect::new(0., 0., 6., 4.)).unwrap();
        let worst = cells.iter().map(Rect::aspect).fold(0., f64::max);
        let mean = cells.iter().map(|c| c.aspect() * c.area()).sum::<f64>() / 24.0;
        assert!((worst - 25.0 / 9.0).abs() < 1e-12);
        assert!((mean - 1.550926).abs() < 1e-6);
    }

    #[test]
    fn invalid_input_is_named() {
        let unit = Rect::new(0., 0., 1., 1.);
        assert!(matches!(squarify(&[1., f64::NAN], unit), Err(LayoutError::NotFinite { index: 1, .. })));
        assert!(matches!(squarify(&[f64::INFINITY], unit), Err(LayoutError::NotFinite { index: 0, .. })));
        assert_eq!(squarify(&[1., 2., -3.], unit), Err(LayoutError::Negative { index: 2, value: -3. }));
        assert!(matches!(squarify(&[1.], Rect::new(0., 0., -1., 1.)), Err(LayoutError::Area(_))));
        assert!(matches!(squarify(&[1.], Rect::new(f64::NAN, 0., 1., 1.)), Err(LayoutError::Area(_))));
        // Values at the ends of the range of doubles are scaled, not overflown.
        let huge = squarify(&[f64::MAX, f64::MAX / 2.], unit).unwrap();
        assert!((huge[0].area() - 2. / 3.).abs() < 1e-12);
        let tiny = squarify(&[f64::MIN_POSITIVE, f64::MIN_POSITIVE], unit).unwrap();
        assert!((tiny[0].area() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn areas_stay_exact_over_twelve_decades_and_a_hundred_thousand_values() {
        // A fixed linear congruential sequence: the same values on every platform.
        let mut seed = 1u64;
        let values: Vec<f64> = (0..100_000)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                10f64.powf(12.0 * (seed >> 11) as f64 / (1u64 << 53) as f64)
            })
            .collect();
        let mut descending = values.clone();
        descending.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = descending.iter().rev().sum();
        let area = Rect::new(-50., -50., 100., 100.);
        let cells = squarify(&values, area).unwrap();
        for (cell, v) in cells.iter().zip(&values) {
            let expected = v / total * area.area();
            assert!((cell.area() / expected - 1.0).abs() < 1e-12, "{v}: {} instead of {expected}", cell.area());
            assert!(area.contains(cell, 1e-10));
        }
    }

    /// The algorithm as the paper prints it: recursive rows, `worst` recomputed from the row, exact arithmetic not
    /// attempted. Returns cells for descending values.
    fn textbook(values: &[f64], area: Rect) -> Vec<Rect> {
        let scale = area.area() / values.iter().sum::<f64>();
        let areas: Vec<f64> = values.iter().map(|v| v * scale).collect();
        let worst = |row: &[f64], side: f64| {
            let s: f64 = row.iter().sum();
            row.iter().map(|r| (side * side * r / (s * s)).max(s * s / (side * side * r))).fold(0., f64::max)
        };
        let (mut out, mut rest, mut start) = (Vec::new(), area, 0);
        while start < areas.len() {
            let side = rest.w.min(rest.h);
            let mut end = start + 1;
            while end < areas.len() && worst(&areas[start..=end], side) <= worst(&areas[start..end], side) {
                end += 1;
            }
            let row: f64 = areas[start..end].iter().sum();
            let thick = row / side;
            let mut along = 0.0;
            for a in &areas[start..end] {
                let len = a / thick;
                out.push(if rest.w < rest.h {
                    Rect::new(rest.x + along, rest.y, len, thick)
                } else {
                    Rect::new(rest.x, rest.y + along, thick, len)
                });
                along += len;
            }
            if rest.w < rest.h {
                (rest.y, rest.h) = (rest.y + thick, rest.h - thick);
            } else {
                (rest.x, rest.w) = (rest.x + thick, rest.w - thick);
            }
            start = end;
        }
        out
    }

    fn values() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec((0.0..12.0f64).prop_map(|e| 10f64.powf(e)), 1..80)
    }

    /// Sweep along x over the cells' interiors, with a relative tolerance.
    fn overlap(cells: &[Rect]) -> Option<(Rect, Rect)> {
        let mut by_x: Vec<Rect> = cells.iter().map(|c| c.scaled(1.0 - 1e-9)).collect();
        by_x.sort_by(|a, b| a.x.total_cmp(&b.x));
        for (i, a) in by_x.iter().enumerate() {
            let to_the_right = by_x[i + 1..].iter().take_while(|b| b.x < a.x + a.w);
            for b in to_the_right {
                if b.y < a.y + a.h && a.y < b.y + b.h {
                    return Some((*a, *b));
                }
            }
        }
        None
    }

    proptest! {
        #[test]
        fn areas_are_proportional_and_disjoint(values in values(), w in 0.1..500.0f64, h in 0.1..500.0f64) {
            let area = Rect::new(-w / 3.0, 7.0, w, h);
            let cells = squarify(&values, area).unwrap();
            let total: f64 = values.iter().sum();
            for (cell, v) in cells.iter().zip(&values) {
                prop_assert!((cell.area() / (v / total * w * h) - 1.0).abs() < 1e-9);
                prop_assert!(area.contains(cell, 1e-9));
            }
            // Cells thinner than the spacing of doubles at their coordinates are judged by area alone.
            let solid: Vec<Rect> = cells.into_iter().filter(|c| c.w.min(c.h) > 1e-4).collect();
            prop_assert_eq!(overlap(&solid), None);
        }

        #[test]
        fn agrees_with_the_textbook(mut values in prop::collection::vec(1.0..1000.0f64, 1..40)) {
            values.sort_by(|a, b| b.total_cmp(a));
            let area = Rect::new(0., 0., 160., 90.);
            for (a, b) in squarify(&values, area).unwrap().iter().zip(textbook(&values, area)) {
                for d in [a.x - b.x, a.y - b.y, a.w - b.w, a.h - b.h] {
                    prop_assert!(d.abs() < 1e-6, "{:?} and {:?}", a, b);
                }
            }
        }

        #[test]
        fn transposing_the_area_transposes_the_cells(values in values(), w in 1.0..100.0f64, ratio in 1.01..9.0f64) {
            let wide = squarify(&values, Rect::new(0., 0., w * ratio, w)).unwrap();
            let tall = squarify(&values, Rect::new(0., 0., w, w * ratio)).unwrap();
            for (a, b) in wide.iter().zip(&tall) {
                prop_assert_eq!(*a, Rect::new(b.y, b.x, b.h, b.w));
            }
        }

        #[test]
        fn the_unit_of_values_and_of_the_area_does_not_matter(values in values(), power in -20i32..20) {
            let area = Rect::new(0., 0., 6., 4.);
            let cells = squarify(&values, area).unwrap();
            let f = 2f64.powi(power);
            let scaled: Vec<f64> = values.iter().map(|v| v * f).collect();
            prop_assert_eq!(&squarify(&scaled, area).unwrap(), &cells);
            let larger = squarify(&values, Rect::new(0., 0., 6. * f, 4. * f)).unwrap();
            for (a, b) in larger.iter().zip(&cells) {
                prop_assert_eq!(*a, Rect::new(b.x * f, b.y * f, b.w * f, b.h * f));
            }
        }

        #[test]
        fn zeros_and_the_order_of_the_input_change_nothing(values in values(), place in 0usize..80, turn in 0usize..80) {
            let area = Rect::new(0., 0., 6., 4.);
            let cells = squarify(&values, area).unwrap();
            let place = place % (values.len() + 1);
            let mut with_zero = values.clone();
            with_zero.insert(place, 0.0);
            let mut found = squarify(&with_zero, area).unwrap();
            prop_assert_eq!(found.remove(place).area(), 0.0);
            prop_assert_eq!(&found, &cells);
            let turn = turn % values.len();
            let mut turned = values.clone();
            turned.rotate_left(turn);
            let mut expected = cells.clone();
            expected.rotate_left(turn);
            prop_assert_eq!(squarify(&turned, area).unwrap(), expected);
        }
    }
}
