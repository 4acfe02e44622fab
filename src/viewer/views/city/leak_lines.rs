//! What leaks, in words: the place, how much it grows, how much of the whole that is, and since when. Draws nothing.

use crate::viewer::finding::LeakPlace;
use crate::viewer::panels::theme;
use memory_city_analysis::analyses::Verdict;
use memory_city_analysis::ownership::grows_between;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};

/// Letters of a place in large letters.
const HEADLINE: usize = 64;

/// What it is and how fast, in words.
#[derive(Debug, PartialEq)]
pub(super) struct LeakLines {
    /// The end of the place, in large letters.
    pub place: String,
    /// Which of several places it is.
    pub which: String,
    /// What the place lies in, where both together are too long.
    pub below: Option<String>,
    /// How much it grows, how much of the whole, since when.
    pub sentence: String,
    /// How much of the whole and since when, where there is little room.
    pub brief: String,
}

/// The lines of a place that grows since `since`, a point in time.
pub(super) fn of(leak: &LeakPlace, timeline: &Timeline, since: Option<usize>) -> LeakLines {
    let last = timeline.times().saturating_sub(1);
    // What it keeps alive is of the last time that was looked at.
    let until = leak.until.map(|times| times.saturating_sub(1)).filter(|&until| until < last);
    let then = until.map_or("at the end".to_owned(), |until| format!("at {}/{}", until + 1, timeline.times()));
    let of_heap = match timeline.amount(until.unwrap_or(last), NodeId::ROOT).bytes {
        0 => String::new(),
        heap => format!(", {:.0} % of the heap {then}", (100.0 * leak.bytes as f64 / heap as f64).min(100.0)),
    };
    let since = since.map(|t| format!(", since {}/{}", t + 1, timeline.times())).unwrap_or_default();
    let (place, below) = headline(&leak.place);
    let share = format!("{:.0} %", 100.0 * leak.share);
    let which = if leak.others > 0 { format!("{} of {}", leak.number + 1, leak.others + 1) } else { String::new() };
    let (place, sentence, brief) = match last == 0 {
        true => {
            let sentence = format!("keeps {} alive, {share} of the heap", leak.retained.1);
            (place, sentence, format!("{share} of the heap"))
        }
        false => {
            let rest = format!("{share} of all growth{of_heap}{since}");
            (format!("{place} grows"), format!("{}, {rest}", leak.growth), rest)
        }
    };
    LeakLines { place, which, below, sentence, brief }
}

/// The point in time from which a place grows. Linear in the groups.
///
/// The analysis knows between which of the times that it looked at that is; at which of those between them the trees tell: a place with most
/// of all growth grows since what grows most does. Of another the trees say so where they are grouped by owner, and else by the types of what
/// it fills up with. Where none of these lies between the two, it is the first of them.
pub(super) fn since(leak: &LeakPlace, timeline: &Timeline, verdict: &Verdict) -> Option<usize> {
    let known = |t: &usize| leak.since.is_none_or(|(from, next)| (from..next.max(from + 1)).contains(t));
    let by_types = || {
        let types = types(&leak.elements);
        // Of groups inside each other that have one name, the outer one has all.
        let is_one = |node: NodeId| types.contains(&timeline.name(node));
        let nodes = timeline.nodes().filter(|&node| {
            is_one(node) && !timeline.path(node).into_iter().any(|above| above != node && is_one(above))
        });
        grows_from(timeline, &nodes.collect::<Vec<_>>())
    };
    let most = verdict.since.filter(|_| leak.share > 0.5).filter(known);
    let of_owner = || grows_from(timeline, &[timeline.find(&leak.owner)?]).filter(known);
    most.or_else(of_owner).or_else(|| by_types().filter(known)).or(leak.since.map(|(from, _)| from))
}

/// The types in a list of elements, such as `1,200 com.acme.Order (3 at first), 7 byte[] (0 at first)`.
fn types(elements: &str) -> Vec<&str> {
    let name = |part: &'_ str| -> Option<(usize, usize)> {
        let from =
            part.find(' ').filter(|&at| part[..at].starts_with(|c: char| c.is_ascii_digit())).map_or(0, |at| at + 1);
        let to = part.find(" (").unwrap_or(part.len());
        (from < to).then_some((from, to))
    };
    elements.split(", ").filter_map(|part| name(part).map(|(from, to)| &part[from..to])).collect()
}

/// The point in time from which groups grow together. `None` where they do not.
fn grows_from(timeline: &Timeline, nodes: &[NodeId]) -> Option<usize> {
    let bytes =
        |t: usize| nodes.iter().map(|&node| timeline.value(t, node, Metric::Bytes)).fold(0, u64::saturating_add);
    grows_between(&(0..timeline.times()).map(bytes).collect::<Vec<_>>()).map(|(since, _)| since)
}

/// What a place is called in large letters: its end, which is what is to be looked at; and what it lies in, where both together
/// are too long, or where that says only that several share it.
pub(super) fn headline(place: &str) -> (String, Option<String>) {
    let brief = theme::brief(place);
    let parts: Vec<&str> = brief.split(" › ").collect();
    let shared = parts.iter().rposition(|part| part.starts_with("shared")).map_or(0, |at| at + 1);
    if shared < parts.len() && parts[shared..].join(" › ").chars().count() <= HEADLINE {
        let below = Some(parts[..shared].join(" › ")).filter(|below| !below.is_empty());
        return (parts[shared..].join(" › "), below);
    }
    let mut length = 0;
    let fits = parts.iter().rev().take_while(|part| {
        length += part.chars().count() + 3;
        length <= HEADLINE
    });
    // Of a single long name as much as there is room for.
    let first = parts.len() - fits.count().clamp(1, parts.len());
    let below = Some(parts[..first].join(" › ")).filter(|below| !below.is_empty());
    (parts[first..].join(" › "), below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::analyses::verdict;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::{Amount, TimePoint};

    /// Bytes of texts, which grow most and late, and of orders, at four times.
    const BYTES: [(u64, u64); 4] = [(4000, 1000), (4000, 1100), (4000, 3000), (9000, 4000)];

    fn series(times: usize) -> Timeline {
        let trees: Vec<MemoryTree> = BYTES[..times]
            .iter()
            .map(|&(texts, orders)| {
                let mut tree = MemoryTree::new();
                for (name, bytes) in [("java.lang.String", texts), ("com.acme.Order", orders)] {
                    let node = tree.child(0, &"Type".into(), &name.into());
                    tree.add_up(&[node as u32], Amount { objects: 1, bytes });
                }
                tree
            })
            .collect();
        Timeline::from_trees(vec![TimePoint::default(); times], &trees)
    }

    fn leak(share: f32) -> LeakPlace {
        LeakPlace {
            place: "com.acme.Shop.orders › java.util.ArrayList".into(),
            elements: "1,200 com.acme.Order (3 at first)".into(),
            growth: "+3.00 kB".into(),
            retained: ("1.00 kB".into(), "4.00 kB".into()),
            bytes: 4000,
            share,
            ..LeakPlace::default()
        }
    }

    /// What the first lines say, whatever part of the growth it is.
    fn said(leak: &LeakPlace, timeline: &Timeline) -> LeakLines {
        let verdict = verdict(timeline, Metric::Bytes);
        of(leak, timeline, since(leak, timeline, &verdict))
    }

    #[test]
    fn the_lines_say_what_grows_how_much_of_the_whole_and_since_when() {
        let timeline = series(4);
        let most = said(&leak(0.9), &timeline);
        assert_eq!(most.place, "Shop.orders › ArrayList grows");
        assert_eq!(most.sentence, "+3.00 kB, 90 % of all growth, 31 % of the heap at the end, since 3/4");
        assert_eq!(most.brief, "90 % of all growth, 31 % of the heap at the end, since 3/4");
        let one_of_three = LeakPlace { others: 2, ..leak(0.9) };
        assert_eq!((most.which.as_str(), said(&one_of_three, &timeline).which.as_str()), ("", "1 of 3"));
        // What grows most is another place's: since when this one grows is told by what it fills up with.
        let third = said(&leak(0.375), &timeline);
        assert_eq!(third.sentence, "+3.00 kB, 38 % of all growth, 31 % of the heap at the end, since 2/4");
    }

    #[test]
    fn grouped_by_owner_the_place_itself_says_since_when() {
        let timeline = series(4);
        let texts = timeline.nodes().find(|&node| timeline.name(node) == "java.lang.String").expect("a group");
        let of_owner = LeakPlace { owner: timeline.key(texts), ..leak(0.3) };
        assert!(said(&of_owner, &timeline).sentence.ends_with(", since 3/4"), "not that of its elements");
    }

    #[test]
    fn the_trees_say_no_more_than_which_of_the_times_between_two_it_is() {
        let timeline = series(4);
        let within = |from: usize, next: usize| said(&LeakPlace { since: Some((from, next)), ..leak(0.9) }, &timeline);
        assert!(within(0, 3).brief.ends_with(", since 3/4"), "what grows most does since then");
        assert!(within(1, 2).brief.ends_with(", since 2/4"), "that is another's: its elements do since then");
        assert!(within(0, 1).brief.ends_with(", since 1/4"), "these are others: it is known from the place itself");
        let unknown = LeakPlace { elements: String::new(), since: Some((1, 3)), ..leak(0.3) };
        assert!(said(&unknown, &timeline).brief.ends_with(", since 2/4"));
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let timeline = series(4);
        let unknown = LeakPlace { elements: "9 com.acme.Other (1 at first)".into(), ..leak(0.3) };
        assert_eq!(said(&unknown, &timeline).sentence, "+3.00 kB, 30 % of all growth, 31 % of the heap at the end");
        let earlier = said(&LeakPlace { until: Some(2), ..leak(0.9) }, &timeline);
        assert_eq!(earlier.brief, "90 % of all growth, 78 % of the heap at 2/4, since 3/4");
        let single = said(&leak(0.8), &series(1));
        assert_eq!(single.place, "Shop.orders › ArrayList");
        assert_eq!(single.sentence, "keeps 4.00 kB alive, 80 % of the heap");
    }

    #[test]
    fn elements_are_types() {
        assert_eq!(types("1,200 com.acme.Order (3 at first), 7 byte[] (0 at first)"), ["com.acme.Order", "byte[]"]);
        assert_eq!(types("12 a.B (1 at first), 3 other kinds"), ["a.B", "other kinds"]);
        assert_eq!(types("java.util.HashMap"), ["java.util.HashMap"]);
        assert!(types("").is_empty());
    }

    #[test]
    fn of_a_long_place_the_end_comes_first() {
        let short = "com.acme.Cache.entries › java.util.HashMap";
        assert_eq!(headline(short), ("Cache.entries › HashMap".into(), None));
        let manager = "shared by more than 3 › org.apache.StandardManager › java.util.HashMap";
        assert_eq!(headline(manager), ("StandardManager › HashMap".into(), Some("shared by more than 3".into())));
        assert_eq!(headline("shared by more than 3").0, "shared by more than 3");
        let owner = "shared by thread Worker-#, local variable of com.acme.Server.run and thread main, local variable of b.C.main";
        let (place, below) = headline(&format!("{owner} › com.acme.Gateway › java.util.ArrayList"));
        assert_eq!(place, "Gateway › ArrayList");
        assert!(below.is_some_and(|below| below.contains("shared by thread")));
        let (place, below) = headline(&"x".repeat(200));
        assert_eq!((place.len(), below), (200, None));
    }
}
