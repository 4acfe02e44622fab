//! Height rule: a second metric in five classes of height, tiny to huge. It shows bytes where the areas show objects, and objects
//! otherwise. Five steps can be read at a glance, exact heights cannot. Each class ends at a fourth of the one above.

use super::super::colour::text;
use super::super::values::Values;
use super::curve::{HIGHEST, HeightTick};
use super::{HeightAxis, HeightMetric, HeightRule, HeightScale, HeightWish, each};

/// The classes, from low to high.
const CLASSES: [&str; 5] = ["tiny", "small", "medium", "large", "huge"];
/// Heights of the classes, as shares of the highest.
const HEIGHTS: [f64; 5] = [0.06, 0.22, 0.42, 0.68, 1.0];

pub(super) fn rule() -> HeightRule {
    HeightRule {
        id: "classes",
        title: "Size class",
        explanation: "Five heights, tiny to huge, of another metric: bytes where objects give the areas, and the other way round",
        measures: HeightMetric::Other,
        curve: None,
        scale,
    }
}

/// The class of an amount where `most` is the largest: 4 from a fourth of that, 3 from a fourth of a fourth, and so on.
fn class(amount: u64, most: u64) -> usize {
    let lower = std::iter::successors(Some(most), |limit| Some(limit / 4)).skip(1).take(4);
    4 - lower.take_while(|&limit| amount < limit.max(1)).count()
}

fn scale(values: &Values<'_>, _: HeightWish) -> HeightScale {
    let most = values.largest(|plot| values.peak(plot));
    let height = move |amount: u64| HIGHEST * HEIGHTS[class(amount, most)];
    let tick = |(place, name): (usize, &&str)| {
        let least = most >> (2 * (4 - place));
        let text = match place {
            0 => (*name).to_owned(),
            _ => format!("{name}, {} and more", text(values, least.max(1))),
        };
        // A class that nothing can be in is none.
        (place == 0 || least > 0).then(|| HeightTick { height: HIGHEST * HEIGHTS[place], text })
    };
    HeightScale {
        height: each(move |_, sample, _| height(sample.value)),
        peak: Box::new(move |values, plot| height(values.peak(plot))),
        axis: HeightAxis {
            // The lower the class, the less room there is for its words.
            ticks: if most == 0 { Vec::new() } else { CLASSES.iter().enumerate().filter_map(tick).collect() },
            capped_above: None,
        },
        capped: None,
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn a_class_is_a_fourth_of_the_one_above() {
        for (amount, expected) in
            [(1024, 4), (256, 4), (255, 3), (64, 3), (63, 2), (16, 2), (15, 1), (4, 1), (3, 0), (0, 0)]
        {
            assert_eq!(class(amount, 1024), expected, "{amount}");
        }
        assert_eq!((class(0, 0), class(1, 1), class(0, 1), class(u64::MAX, u64::MAX)), (0, 4, 0, 4));
    }
}
