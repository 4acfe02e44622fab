//! A leaking place in the words of windows and pages: the place, its growth, its share of the whole growth, and its start. It is read from
//! a finding; nothing is searched here.

use super::interface::Findings;
use super::verdict::Verdict;
use crate::ownership::grows_between;
use crate::tabular::{Cell, CellKind, bytes_text, count_text};
use crate::timeline::{Metric, NodeId, Timeline, Unit, brief, shortened};

/// The text for an input that has no owners.
pub const OWNER_UNKNOWN: &str = "The owners are not known";
/// Letters of a place in large letters.
const HEADLINE: usize = 64;
/// Letters of a name that a report has given.
const TITLE: usize = 106;

/// A place that accumulates, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeakPlace {
    /// The owner of the growth.
    pub place: String,
    /// Its name in the first line of a report; empty where there is none.
    pub title: String,
    /// The elements it fills up with.
    pub elements: String,
    /// Elements at the first and at the last point in time.
    pub counts: (String, String),
    /// The growth pattern of its collection; empty if unknown.
    pub pattern: String,
    /// Retained bytes at the first and at the last point in time.
    pub retained: (String, String),
    /// The increase.
    pub growth: String,
    /// Part of the growth of the whole heap, 0 to 1.
    pub share: f32,
    /// Bytes that it keeps alive at the last point in time.
    pub bytes: u64,
    /// The path from the GC root, step by step, with fields if the input has them; empty if unknown.
    pub way: Vec<String>,
    /// Its key when grouped by owner.
    pub owner: String,
    /// Its rank among all places: 0 for the one where most accumulates.
    pub number: usize,
    /// The number of more places.
    pub others: u64,
    /// Notes that a reader must know.
    pub notes: Vec<String>,
    /// Since when it grows: between these two points in time it had its first twentieth of all that it grew.
    pub since: Option<(usize, usize)>,
    /// How many points in time it was found in, where there may be more by now.
    pub until: Option<usize>,
}

impl LeakPlace {
    /// One of the places that are found, the one where most accumulates first.
    pub fn of(findings: &Findings, number: usize) -> Option<LeakPlace> {
        let finding = findings.found.get(number)?;
        let place = finding.place.clone().unwrap_or_default();
        let text = |id: &str, text: fn(u64) -> String| finding.number(id).map_or_else(String::new, |n| text(n as u64));
        // What the collection itself counts, where there is one: its elements fill it up with keys and values.
        // One of several that are as large as ever says nothing: then there are more of them.
        let grew = match (finding.number("entries_first"), finding.number("entries")) {
            (Some(first), Some(last)) => last > first,
            (_, last) => last.is_some(),
        };
        let counts = if grew { ["entries_first", "entries"] } else { ["first", "last"] };
        let [first, last] = counts.map(|id| text(id, count_text));
        let growth = finding.number("growth").map(|bytes| Cell::Change(bytes as i64));
        let left_out = findings.tables.first().and_then(|table| table.left_out.as_ref()).map_or(0, |(n, _)| *n);
        Some(LeakPlace {
            title: shortened(&finding.signature, TITLE),
            place: place.name,
            elements: place.elements,
            pattern: place.pattern,
            counts: (first, last),
            retained: (text("retained_first", bytes_text), text("retained", bytes_text)),
            growth: growth.map_or_else(String::new, |growth| growth.text(CellKind::Change(Unit::Bytes))),
            bytes: finding.number("retained").unwrap_or(0.0) as u64,
            share: (finding.number("share").unwrap_or(0.0) / 100.0).clamp(0.0, 1.0) as f32,
            way: place.path,
            owner: place.owner,
            number,
            others: findings.found.len() as u64 - 1 + left_out,
            notes: findings.notes.clone(),
            since: finding.since.and_then(|(from, next)| Some((from.checked_sub(1)?, next.checked_sub(1)?))),
            until: None,
        })
    }

    /// Its name in large letters: that of the first line of a report.
    pub fn name(&self) -> String {
        if self.title.is_empty() { headline(&self.place).0 } else { self.title.clone() }
    }

    /// The node of its place in trees that are grouped by owner: the place itself, or its nearest existing ancestor.
    pub fn node_in(owner: &str, timeline: &Timeline) -> Option<NodeId> {
        let root = timeline.key(NodeId::ROOT);
        let mut key = if owner == root || owner.starts_with(&format!("{root}#")) {
            owner.to_owned()
        } else {
            format!("{root}#{owner}")
        };
        loop {
            match timeline.find(&key) {
                Some(node) => return Some(node).filter(|node| *node != NodeId::ROOT),
                None => key.truncate(key.rfind('#')?),
            }
        }
    }

    /// How many elements it has, where that is known; of several states at first and at last.
    pub fn elements_text(&self, single: bool) -> Option<String> {
        match &self.counts {
            (_, last) if last.is_empty() => None,
            (first, last) if single || first.is_empty() => Some(format!("{last} elements")),
            (first, last) => {
                let pattern = if self.pattern.is_empty() { String::new() } else { format!(": {}", self.pattern) };
                Some(format!("{last} elements ({first} at first){pattern}"))
            }
        }
    }

    /// The amounts that it keeps alive at first and at last; the sentence of a single state has that already.
    pub fn kept_text(&self, single: bool) -> Option<String> {
        (!single).then(|| format!("{} kept alive ({} at first)", self.retained.1, self.retained.0))
    }

    /// The elements it fills up with, unless the place names them itself.
    pub fn filled_with(&self, single: bool) -> Option<String> {
        let told = single || self.elements.is_empty() || self.place.ends_with(&self.elements);
        (!told).then(|| format!("Fills up with {}", self.elements))
    }

    /// The steps of the way to it, each a line of its own.
    pub fn steps(&self) -> impl Iterator<Item = String> {
        self.way.iter().enumerate().map(|(at, step)| if at == 0 { step.clone() } else { format!("› {step}") })
    }

    /// The point in time from which a place grows. Linear in the groups.
    ///
    /// The analysis knows the start only between two of its points in time; the trees narrow it. A place with most of all growth starts
    /// with the group that grows most. For another, trees grouped by owner have the start, and other trees have it by the types of its
    /// elements. If none of these lies between the two points, the result is the first of them.
    pub fn since(&self, timeline: &Timeline, verdict: &Verdict) -> Option<usize> {
        let known = |t: &usize| self.since.is_none_or(|(from, next)| (from..next.max(from + 1)).contains(t));
        let by_types = || {
            let types = types(&self.elements);
            // Of groups inside each other that have one name, the outer one has all.
            let is_one = |node: NodeId| types.contains(&timeline.name(node));
            let nodes = timeline.nodes().filter(|&node| {
                is_one(node) && !timeline.path(node).into_iter().any(|above| above != node && is_one(above))
            });
            grows_from(timeline, &nodes.collect::<Vec<_>>())
        };
        let most = verdict.since.filter(|_| self.share > 0.5).filter(known);
        let of_owner = || grows_from(timeline, &[timeline.find(&self.owner)?]).filter(known);
        most.or_else(of_owner).or_else(|| by_types().filter(known)).or(self.since.map(|(from, _)| from))
    }
}

/// The place and its speed, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct LeakLines {
    /// The end of the place, in large letters.
    pub place: String,
    /// Its rank among several places.
    pub which: String,
    /// The parent of the place, if both together are too long.
    pub below: Option<String>,
    /// How much it grows, how much of the whole, since when.
    pub sentence: String,
    /// How much of the whole and since when, where there is little room.
    pub brief: String,
}

impl LeakLines {
    /// The title above them, for so many points in time.
    pub fn title(times: usize) -> &'static str {
        if times < 2 { "WHAT FILLS THE HEAP" } else { "WHAT LEAKS" }
    }

    /// The lines of a place that grows since `since`, a point in time.
    pub fn of(leak: &LeakPlace, timeline: &Timeline, since: Option<usize>) -> LeakLines {
        let last = timeline.times().saturating_sub(1);
        // What it keeps alive is of the last time that was looked at.
        let until = leak.until.map(|times| times.saturating_sub(1)).filter(|&until| until < last);
        let then = until.map_or("at the end".to_owned(), |until| format!("at {} of {}", until + 1, timeline.times()));
        let of_heap = match timeline.amount(until.unwrap_or(last), NodeId::ROOT).bytes {
            0 => String::new(),
            heap => format!(", {:.0} % of the heap {then}", (100.0 * leak.bytes as f64 / heap as f64).min(100.0)),
        };
        let since = since.map(|t| format!(", since {} of {}", t + 1, timeline.times())).unwrap_or_default();
        let (place, below) = match leak.title.is_empty() {
            true => headline(&leak.place),
            false => (leak.title.clone(), Some(brief(&leak.place)).filter(|below| *below != leak.title)),
        };
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

/// The place in large letters: its end, which is the part to look at. Its parent is separate if both together are too long, or if it only
/// shows that several share the place.
fn headline(place: &str) -> (String, Option<String>) {
    let brief = brief(place);
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
    use crate::analyses::verdict;
    use crate::group::MemoryTree;
    use crate::timeline::{Amount, TimePoint};

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

    /// The first lines, whatever part of the growth it is.
    fn said(leak: &LeakPlace, timeline: &Timeline) -> LeakLines {
        let verdict = verdict(timeline, Metric::Bytes);
        LeakLines::of(leak, timeline, leak.since(timeline, &verdict))
    }

    #[test]
    fn the_lines_say_what_grows_how_much_of_the_whole_and_since_when() {
        let timeline = series(4);
        let most = said(&leak(0.9), &timeline);
        assert_eq!(most.place, "Shop.orders › ArrayList grows");
        assert_eq!(most.sentence, "+3.00 kB, 90 % of all growth, 31 % of the heap at the end, since 3 of 4");
        assert_eq!(most.brief, "90 % of all growth, 31 % of the heap at the end, since 3 of 4");
        let one_of_three = LeakPlace { others: 2, ..leak(0.9) };
        assert_eq!((most.which.as_str(), said(&one_of_three, &timeline).which.as_str()), ("", "1 of 3"));
        // What grows most is another place's: since when this one grows is told by what it fills up with.
        let third = said(&leak(0.375), &timeline);
        assert_eq!(third.sentence, "+3.00 kB, 38 % of all growth, 31 % of the heap at the end, since 2 of 4");
    }

    #[test]
    fn the_place_has_the_name_of_the_first_line() {
        let titled = LeakPlace { title: "Shop.orders (ArrayList)".into(), ..leak(0.9) };
        let said = said(&titled, &series(4));
        assert_eq!(
            (&*said.place, said.below.as_deref()),
            ("Shop.orders (ArrayList) grows", Some("Shop.orders › ArrayList"))
        );
        // What was not counted at first is left out.
        let counts = (String::new(), "30,000".to_owned());
        assert_eq!(LeakPlace { counts, ..leak(0.9) }.elements_text(false).as_deref(), Some("30,000 elements"));
    }

    #[test]
    fn grouped_by_owner_the_place_itself_says_since_when() {
        let timeline = series(4);
        let texts = timeline.nodes().find(|&node| timeline.name(node) == "java.lang.String").expect("a group");
        let of_owner = LeakPlace { owner: timeline.key(texts), ..leak(0.3) };
        assert!(said(&of_owner, &timeline).sentence.ends_with(", since 3 of 4"), "not that of its elements");
    }

    #[test]
    fn the_trees_say_no_more_than_which_of_the_times_between_two_it_is() {
        let timeline = series(4);
        let within = |from: usize, next: usize| said(&LeakPlace { since: Some((from, next)), ..leak(0.9) }, &timeline);
        assert!(within(0, 3).brief.ends_with(", since 3 of 4"), "what grows most does since then");
        assert!(within(1, 2).brief.ends_with(", since 2 of 4"), "that is another's: its elements do since then");
        assert!(within(0, 1).brief.ends_with(", since 1 of 4"), "these are others: it is known from the place itself");
        let unknown = LeakPlace { elements: String::new(), since: Some((1, 3)), ..leak(0.3) };
        assert!(said(&unknown, &timeline).brief.ends_with(", since 2 of 4"));
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let timeline = series(4);
        let unknown = LeakPlace { elements: "9 com.acme.Other (1 at first)".into(), ..leak(0.3) };
        assert_eq!(said(&unknown, &timeline).sentence, "+3.00 kB, 30 % of all growth, 31 % of the heap at the end");
        let earlier = said(&LeakPlace { until: Some(2), ..leak(0.9) }, &timeline);
        assert_eq!(earlier.brief, "90 % of all growth, 78 % of the heap at 2 of 4, since 3 of 4");
        let single = said(&leak(0.8), &series(1));
        assert_eq!(single.place, "Shop.orders › ArrayList");
        assert_eq!(single.sentence, "keeps 4.00 kB alive, 80 % of the heap");
    }

    #[test]
    fn what_is_known_beside_the_place() {
        let way = ["thread main", "orders: java.util.ArrayList"].map(str::to_owned).to_vec();
        let known = LeakPlace { counts: ("3".into(), "1,200".into()), way, ..leak(0.9) };
        assert_eq!(known.elements_text(false).as_deref(), Some("1,200 elements (3 at first)"));
        let pattern = "container growth, sole owner".to_owned();
        let told = LeakPlace { pattern, ..known.clone() }.elements_text(false);
        assert_eq!(told.as_deref(), Some("1,200 elements (3 at first): container growth, sole owner"));
        assert_eq!(known.kept_text(false).as_deref(), Some("4.00 kB kept alive (1.00 kB at first)"));
        assert_eq!((known.elements_text(true).as_deref(), known.kept_text(true)), (Some("1,200 elements"), None));
        assert_eq!(leak(0.9).elements_text(false), None);
        assert_eq!(known.filled_with(false).as_deref(), Some("Fills up with 1,200 com.acme.Order (3 at first)"));
        assert_eq!(LeakPlace { elements: "java.util.ArrayList".into(), ..known.clone() }.filled_with(false), None);
        // Who is to mend it needs the steps in the middle: there the field is that a program can let go of.
        assert_eq!(known.steps().collect::<Vec<_>>(), ["thread main", "› orders: java.util.ArrayList"]);
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
