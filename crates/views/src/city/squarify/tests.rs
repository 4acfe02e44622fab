//! Tests of [`super`].

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
        // Zeros become points where the layout ends, whatever their place in the input.
        (&[0., 6., 0., 2.], (4., 2.), &[[3., 2., 3., 2.], [0., 0., 3., 2.], [3., 2., 3., 2.], [3., 0., 4., 2.]]),
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
