//! Tick labels below charts over time: as many points in time as there is room for, in words that tell them apart.

use super::theme;
use bevy_egui::egui::{Align2, Color32, FontId, Painter, Pos2};
use memory_city_analysis::timeline::TimePoint;

/// Letters of a point in time.
const LETTERS: usize = 22;
/// Room between two of them.
const GAP: f32 = 14.0;

/// Paints labels of the points in time from `seen.0` to `seen.1`, at the positions given by `x`, upon `bottom`. The first and the last
/// are labelled, and as many in between, at equal distances, as there is room for.
pub fn paint(
    painter: &Painter,
    points: &[TimePoint],
    (first, last): (usize, usize),
    x: &dyn Fn(usize) -> f32,
    bottom: f32,
    font: &FontId,
    colour: Color32,
) {
    if points.is_empty() || last >= points.len() || first > last {
        return;
    }
    let ends = [&*points[first].label, &*points[last].label];
    let width = |text: String| painter.layout_no_wrap(text, font.clone(), colour).size().x;
    // All of a series are written alike: the ends tell how much room one takes.
    let words = apart(&ends);
    let widest = words.iter().map(|text| width(text.clone())).fold(0.0, f32::max) + GAP;
    let room = (x(last) - x(first)).max(0.0);
    let shown = chosen(first, last, (room / widest.max(1.0)) as usize + 1);
    let labels: Vec<&str> = shown.iter().map(|&time| &*points[time].label).collect();
    let mut right = f32::NEG_INFINITY;
    for (&time, text) in shown.iter().zip(apart(&labels)) {
        let galley = painter.layout_no_wrap(text, font.clone(), colour);
        // In the middle below its point, but not beyond the ends.
        let (low, high) = (x(first), x(last) - galley.size().x);
        let left = (x(time) - galley.size().x / 2.0).clamp(low.min(high), high.max(low));
        if left > right || time == last && left > right - GAP {
            right = left + galley.size().x + GAP;
            painter.galley(Align2::LEFT_BOTTOM.anchor_size(Pos2::new(left, bottom), galley.size()).min, galley, colour);
        }
    }
}

/// At most `most` points at equal distances, both ends among them.
fn chosen(first: usize, last: usize, most: usize) -> Vec<usize> {
    let length = last - first;
    let steps = length.min(most.max(2) - 1).max(1);
    // A distance that all have is better than one more point.
    let steps = (steps.div_ceil(3)..=steps).rev().find(|steps| length.is_multiple_of(*steps)).unwrap_or(steps);
    let mut times: Vec<usize> = (0..=steps).map(|step| first + length * step / steps).collect();
    times.dedup();
    times
}

/// Names without their common beginning and end: `run-01.hprof.gz` and `run-16.hprof.gz` are `01` and `16`. Numbers are not taken apart.
fn apart(names: &[&str]) -> Vec<String> {
    let whole = || names.iter().map(|name| theme::shortened(name, LETTERS)).collect();
    let Some((one, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else { return whole() };
    let chars: Vec<char> = one.chars().collect();
    let alike = |from_end: bool| -> usize {
        let of =
            |name: &str| -> Vec<char> { if from_end { name.chars().rev().collect() } else { name.chars().collect() } };
        let mine = of(one);
        others.iter().map(|other| mine.iter().zip(of(other)).take_while(|(a, b)| **a == *b).count()).min().unwrap_or(0)
    };
    let (mut begin, mut end) = (alike(false), alike(true));
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.');
    while begin > 0 && joins(chars[begin - 1]) {
        begin -= 1;
    }
    // The end of a file's name is no part of a number.
    let number =
        |at: usize| joins(chars[at]) && (chars[at] != '.' || chars.get(at + 1).is_some_and(char::is_ascii_digit));
    while end > 0 && number(chars.len() - end) {
        end -= 1;
    }
    let cut: Option<Vec<String>> = names
        .iter()
        .map(|name| {
            let letters = name.chars().count();
            let kept = letters.checked_sub(begin + end).filter(|kept| *kept > 0)?;
            Some(theme::shortened(&name.chars().skip(begin).take(kept).collect::<String>(), LETTERS))
        })
        .collect();
    cut.unwrap_or_else(whole)
}

#[cfg(test)]
mod tests {
    use super::{apart, chosen};

    #[test]
    fn names_are_cut_to_what_tells_them_apart() {
        assert_eq!(apart(&["person-leak-01.hprof.gz", "person-leak-09.hprof.gz"]), ["01", "09"]);
        assert_eq!(apart(&["a-1.hprof", "a-12.hprof", "b-3.hprof"]), ["a-1", "a-12", "b-3"]);
        assert_eq!(apart(&["GC 3", "GC 45"]), ["3", "45"]);
        assert_eq!(apart(&["one", "one"]), ["one", "one"], "nothing tells them apart");
        assert_eq!(apart(&["12:03:04", "12:03:59"]), ["12:03:04", "12:03:59"]);
        assert_eq!(apart(&["after 1.50 s", "after 2.50 s"]), ["1.50", "2.50"]);
        assert_eq!(apart(&["1.25 s", "1.50 s"]), ["1.25", "1.50"]);
        assert_eq!(apart(&["alone.hprof"]), ["alone.hprof"]);
        assert_eq!(apart(&["", "x"]), ["", "x"]);
    }

    #[test]
    fn both_ends_are_chosen_and_never_more_than_there_is_room_for() {
        assert_eq!(chosen(0, 15, 6), [0, 3, 6, 9, 12, 15]);
        assert_eq!(chosen(0, 15, 100).len(), 16);
        assert_eq!(chosen(3, 3, 9), [3]);
        for (last, most) in [(1, 1), (7, 3), (999, 8), (13, 5)] {
            let times = chosen(0, last, most);
            assert!(
                times.len() <= most.max(2) && times.first() == Some(&0) && times.last() == Some(&last),
                "{times:?}"
            );
            assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
