//! Squarified treemap of one level (Bruls, Huizing, van Wijk, "Squarified Treemaps", VisSym 2000).
//!
//! Rows run along the shorter side of what is left; a row takes the next value while that does not worsen its
//! worst aspect ratio (equality continues the row; a square remainder is cut into a column). Remaining sums are
//! suffix sums built from the smallest value up, and the remaining rectangle is kept as position and size and
//! shrunk by factors, never by differences: areas stay exact to about 1e-14 over twenty decades of values.

use super::Rect;

/// Divides `area` among `values`, which must be finite, not negative, and sorted descending.
/// `out` receives one rectangle a value; zeros get rectangles without area.
///
/// # Errors
/// The index of the first value that is negative, not finite, or larger than the one before it.
pub fn squarify(values: &[f64], area: Rect, out: &mut Vec<Rect>) -> Result<(), usize> {
    let unfit = |i: usize| !values[i].is_finite() || values[i] < 0.0 || (i > 0 && values[i] > values[i - 1]);
    if let Some(bad) = (0..values.len()).find(|&i| unfit(i)) {
        return Err(bad);
    }
    let mut scratch = Scratch::default();
    scratch.divide(values, area, out);
    Ok(())
}

/// Buffers that are reused from node to node.
#[derive(Default)]
pub(super) struct Scratch {
    rest: Vec<f64>,
}

impl Scratch {
    /// [`squarify`] without the checks.
    pub(super) fn divide(&mut self, values: &[f64], area: Rect, out: &mut Vec<Rect>) {
        let n = values.len();
        self.rest.clear();
        self.rest.resize(n + 1, 0.0);
        for i in (0..n).rev() {
            self.rest[i] = self.rest[i + 1] + values[i];
        }
        let rest = &self.rest;
        let Rect { mut x, mut y, mut w, mut h } = area;
        let mut i = 0;
        while i < n {
            if rest[i] <= 0.0 {
                out.extend((i..n).map(|_| Rect { x, y, w: 0.0, h: 0.0 }));
                return;
            }
            let short = w.min(h);
            let (end, sum) = row(&values[i..], short * short * rest[i] / (w * h).max(f64::MIN_POSITIVE));
            let end = i + end;
            let taken = sum / rest[i];
            let left = rest[end] / rest[i];
            let mut before = 0.0;
            if w < h {
                let thick = h * taken;
                for &v in &values[i..end] {
                    out.push(Rect { x: x + w * (before / sum), y, w: w * (v / sum), h: thick });
                    before += v;
                }
                y += thick;
                h *= left;
            } else {
                let thick = w * taken;
                for &v in &values[i..end] {
                    out.push(Rect { x, y: y + h * (before / sum), w: thick, h: h * (v / sum) });
                    before += v;
                }
                x += thick;
                w *= left;
            }
            i = end;
        }
    }
}

/// Length and sum of the next row. `short2` is the square of the shorter side in units of value: with it the worst
/// aspect ratio of a row of sum s, largest a and smallest b is max(short2 a / s², s² / (short2 b)).
fn row(values: &[f64], short2: f64) -> (usize, f64) {
    let largest = values[0];
    let (mut sum, mut best) = (0.0, f64::INFINITY);
    for (j, &v) in values.iter().enumerate() {
        let next = sum + v;
        let square = next * next;
        let worst = (short2 * largest / square).max(square / (short2 * v));
        if worst > best {
            return (j, sum);
        }
        best = worst;
        sum = next;
    }
    (values.len(), sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn divide(values: &[f64], w: f64, h: f64) -> Vec<Rect> {
        let mut out = Vec::new();
        squarify(values, Rect { x: 0.0, y: 0.0, w, h }, &mut out).expect("fit values");
        out
    }

    /// Corners, as the published tables give them.
    fn corners(rects: &[Rect]) -> Vec<[f64; 4]> {
        rects.iter().map(|r| [r.x, r.y, r.x + r.w, r.y + r.h]).collect()
    }

    fn assert_corners(values: &[f64], w: f64, h: f64, expected: &[[f64; 4]]) {
        let got = corners(&divide(values, w, h));
        assert_eq!(got.len(), expected.len());
        for (g, e) in got.iter().zip(expected) {
            for k in 0..4 {
                assert!((g[k] - e[k]).abs() < 1e-12, "{values:?} in {w}x{h}: {got:?} should be {expected:?}");
            }
        }
    }

    #[test]
    fn the_published_example() {
        let example = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let expected = [
            [0.0, 0.0, 3.0, 2.0],
            [0.0, 2.0, 3.0, 4.0],
            [3.0, 0.0, 33.0 / 7.0, 7.0 / 3.0],
            [33.0 / 7.0, 0.0, 6.0, 7.0 / 3.0],
            [3.0, 7.0 / 3.0, 21.0 / 5.0, 4.0],
            [21.0 / 5.0, 7.0 / 3.0, 27.0 / 5.0, 4.0],
            [27.0 / 5.0, 7.0 / 3.0, 6.0, 4.0],
        ];
        assert_corners(&example, 6.0, 4.0, &expected);
        // Transposed: the same decisions along the other axis.
        let transposed = expected.map(|[x0, y0, x1, y1]| [y0, x0, y1, x1]);
        assert_corners(&example, 4.0, 6.0, &transposed);
    }

    #[test]
    fn small_cases() {
        let thirds = [[0.0, 0.0, 2.0, 1.5], [0.0, 1.5, 2.0, 3.0], [2.0, 0.0, 3.0, 3.0]];
        assert_corners(&[1.0; 3], 3.0, 3.0, &thirds);
        let units = [[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 2.0], [1.0, 0.0, 2.0, 1.0], [1.0, 1.0, 2.0, 2.0]];
        assert_corners(&[1.0; 4], 2.0, 2.0, &units);
        assert_corners(&[6.0, 2.0, 0.0], 4.0, 2.0, &[[0.0, 0.0, 3.0, 2.0], [3.0, 0.0, 4.0, 2.0], [4.0, 0.0, 4.0, 0.0]]);
        let big = divide(&[1000.0, 1.0, 1.0, 1.0], 10.0, 10.0);
        assert!((big[0].w - 9.970_089_730_807_578).abs() < 1e-9);
        assert!((big[1].h - 10.0 / 3.0).abs() < 1e-9);
        assert!(divide(&[], 1.0, 1.0).is_empty());
        assert_eq!(divide(&[5.0], 2.0, 3.0), [Rect { x: 0.0, y: 0.0, w: 2.0, h: 3.0 }]);
    }

    #[test]
    fn unfit_values_are_refused() {
        let area = Rect { x: 0.0, y: 0.0, w: 1.0, h: 1.0 };
        for (values, bad) in
            [(vec![1.0, f64::NAN], 1), (vec![-1.0], 0), (vec![1.0, 2.0], 1), (vec![f64::INFINITY], 0)]
        {
            assert_eq!(squarify(&values, area, &mut Vec::new()), Err(bad), "{values:?}");
        }
    }

    fn values() -> impl Strategy<Value = Vec<f64>> {
        // Twelve decades.
        prop::collection::vec((0.0..27.6f64).prop_map(f64::exp), 1..300).prop_map(|mut v| {
            v.sort_by(|a, b| b.total_cmp(a));
            v
        })
    }

    proptest! {
        #[test]
        fn areas_are_proportional_and_inside(values in values(), w in 0.1..1000.0f64, h in 0.1..1000.0f64) {
            let rects = divide(&values, w, h);
            let total: f64 = values.iter().rev().sum();
            for (r, v) in rects.iter().zip(&values) {
                let exact = v / total * w * h;
                prop_assert!((r.w * r.h - exact).abs() <= exact * 1e-12);
                prop_assert!(r.x >= -1e-9 && r.y >= -1e-9 && r.x + r.w <= w * (1.0 + 1e-12) && r.y + r.h <= h * (1.0 + 1e-12));
            }
        }

        #[test]
        fn rectangles_do_not_overlap(values in values(), w in 1.0..50.0f64, h in 1.0..50.0f64) {
            let rects = divide(&values, w, h);
            for (i, a) in rects.iter().enumerate() {
                for b in &rects[..i] {
                    let overlap_x = (a.x + a.w).min(b.x + b.w) - a.x.max(b.x);
                    let overlap_y = (a.y + a.h).min(b.y + b.h) - a.y.max(b.y);
                    prop_assert!(overlap_x <= 1e-9 || overlap_y <= 1e-9, "{a:?} {b:?}");
                }
            }
        }

        #[test]
        fn transposing_the_area_transposes_the_layout(values in values(), w in 1.0..50.0f64, h in 1.0..50.0f64) {
            prop_assume!((w - h).abs() > 1e-6);
            let (a, b) = (divide(&values, w, h), divide(&values, h, w));
            // A remainder that is square to the last bit is cut into a column either way: compare up to there.
            for (p, q) in a.iter().zip(&b) {
                if (p.w - q.h).abs() > 1e-6 { break; }
                prop_assert!((p.x - q.y).abs() < 1e-6 && (p.y - q.x).abs() < 1e-6);
            }
        }

        #[test]
        fn scaling_all_values_changes_nothing(values in values(), factor in 1e-6..1e6f64) {
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            for (p, q) in divide(&values, 16.0, 9.0).iter().zip(divide(&scaled, 16.0, 9.0)) {
                // Rounding may tip a decision that is a tie; everything before it is the same.
                if (p.x - q.x).abs() > 1e-6 || (p.y - q.y).abs() > 1e-6 { break; }
                prop_assert!((p.w - q.w).abs() < 1e-6 || (p.h - q.h).abs() < 1e-6);
            }
        }

        #[test]
        fn a_zero_changes_nothing(values in values()) {
            let mut with_zero = values.clone();
            with_zero.push(0.0);
            let (a, b) = (divide(&values, 16.0, 9.0), divide(&with_zero, 16.0, 9.0));
            prop_assert_eq!(&a[..], &b[..values.len()]);
        }
    }
}
