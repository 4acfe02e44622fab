//! The table against oracles that know neither columns nor keys: every row as text and numbers of its own.

use super::*;
use crate::group::MemoryTree;
use crate::timeline::{Amount, MetricInfo, TimePoint, Unit};
use crate::units::{SUFFIXES, SuffixKind};
use proptest::prelude::*;
use std::collections::HashSet;

const NAMES: [&str; 8] = ["java", "util", "HashMap", "HashMap$Node", "hash", "Ünïcode[]", "say \"hi\"\\", "a b"];
const ROLES: [&str; 2] = ["Package", "Type"];

/// A tree over some times, with a further metric: by node its parent, name, role, and what it has at each time.
type Plan = Vec<(usize, usize, usize, Vec<u64>)>;

fn plans(times: usize) -> impl Strategy<Value = Plan> {
    let values = prop::collection::vec(prop_oneof![Just(0), 0..50u64, 0..3_000_000u64], times);
    prop::collection::vec((0..40usize, 0..NAMES.len(), 0..ROLES.len(), values), 0..40)
}

fn timeline(times: usize, plan: &Plan) -> Arc<Timeline> {
    let trees: Vec<MemoryTree> = (0..times)
        .map(|t| {
            let mut tree = MemoryTree::new();
            let mut nodes = vec![0usize];
            for (parent, name, role, values) in plan {
                let node = tree.child(nodes[parent % nodes.len()], &ROLES[*role].into(), &NAMES[*name].into());
                tree.add_up(&[node as u32], Amount { objects: values[t] / 10, bytes: values[t] });
                nodes.push(node);
            }
            tree
        })
        .collect();
    let plain = Timeline::from_trees(vec![TimePoint::default(); times], &trees);
    let info = MetricInfo::new("deep size", "Deep size", Unit::Millis);
    Arc::new(plain.with_metric(info, |t, node| (t as u64 + 1) * u64::from(node.0) % 7))
}

fn table(timeline: &Arc<Timeline>, metric: Metric) -> TreeTable {
    TreeTable::new(Arc::clone(timeline), None, metric, &Progress::new()).expect("a table")
}

/// Filters over what every such timeline has.
fn filters() -> impl Strategy<Value = Filter> {
    let numbers = prop::sample::select(vec![
        "objects",
        "bytes",
        "deep size",
        "growth",
        "growth_objects",
        "growth_bytes",
        "growth_percent",
        "share",
        "first_bytes",
        "peak_objects",
        "level",
        "children",
    ]);
    let comparisons = prop::sample::select(vec![
        FilterComparison::Less,
        FilterComparison::AtMost,
        FilterComparison::Equal,
        FilterComparison::Unequal,
        FilterComparison::AtLeast,
        FilterComparison::More,
    ]);
    let number = prop_oneof![-20..3000i32, Just(0)].prop_map(|n| f64::from(n) / 4.0);
    let compare = (numbers, comparisons, number, 0..SUFFIXES.len()).prop_map(|(column, comparison, number, suffix)| {
        // A suffix that does not fit is refused when it is read: that is another test.
        let fits = match (column, SUFFIXES[suffix].2) {
            (_, SuffixKind::Anything) => true,
            ("growth" | "growth_objects" | "growth_bytes" | "growth_percent" | "share", SuffixKind::Percent) => true,
            ("bytes" | "growth" | "growth_bytes" | "first_bytes", kind) => kind == SuffixKind::Bytes,
            ("deep size", kind) => kind == SuffixKind::Millis,
            _ => false,
        };
        let number = Quantity { number, suffix: if fits { suffix } else { 0 } };
        Filter::Compare { column: column.into(), comparison, number }
    });
    let matchings =
        prop::sample::select(vec![Matching::Contains, Matching::ContainsNot, Matching::Is, Matching::IsNot]);
    let texts = prop_oneof![
        prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        prop::sample::select(vec!["HASH", "java", "type", "", "$", "ü", "\\", "\"'`", "a\tb\n"])
            .prop_map(str::to_owned),
    ];
    let columns = prop::sample::select(vec!["name", "role", "path"]);
    let text = (columns, matchings, texts).prop_map(|(column, matching, text)| Filter::Text {
        column: column.into(),
        matching,
        text,
    });
    prop_oneof![compare, text].prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|filter| Filter::Not(Box::new(filter))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Filter::And),
            prop::collection::vec(inner, 2..4).prop_map(Filter::Or),
        ]
    })
}

/// Whether a filter holds for a node, as a person would work it out.
fn holds(timeline: &Timeline, chosen: Metric, node: NodeId, filter: &Filter) -> bool {
    let last = timeline.times() - 1;
    match filter {
        Filter::Not(inner) => !holds(timeline, chosen, node, inner),
        Filter::And(parts) => parts.iter().all(|part| holds(timeline, chosen, node, part)),
        Filter::Or(parts) => parts.iter().any(|part| holds(timeline, chosen, node, part)),
        Filter::Text { column, matching, text } => {
            let above = std::iter::successors(Some(node), |&n| timeline.parent(n));
            let texts: Vec<&str> = match column.as_str() {
                "name" => vec![timeline.name(node)],
                "role" => vec![timeline.role(node)],
                _ => above.map(|n| timeline.name(n)).collect(),
            };
            let contains = |s: &&str| s.to_lowercase().contains(&text.to_lowercase());
            match matching {
                Matching::Contains => texts.iter().any(contains),
                Matching::ContainsNot => !texts.iter().any(contains),
                Matching::Is => texts.contains(&text.as_str()),
                Matching::IsNot => !texts.contains(&text.as_str()),
            }
        }
        Filter::Compare { column, comparison, number } => {
            let percent = SUFFIXES[number.suffix].0 == "%";
            let growth = |metric| {
                let (a, b) = (timeline.value(0, node, metric) as f64, timeline.value(last, node, metric) as f64);
                match percent || column == "growth_percent" {
                    false => b - a,
                    true if a == 0.0 && b == 0.0 => 0.0,
                    true => (b - a) * 100.0 / a,
                }
            };
            let left = match column.as_str() {
                "objects" => timeline.value(last, node, Metric::Objects) as f64,
                "bytes" => timeline.value(last, node, Metric::Bytes) as f64,
                "deep size" => timeline.value(last, node, Metric::Column(0)) as f64,
                "growth_objects" => growth(Metric::Objects),
                "growth_bytes" => growth(Metric::Bytes),
                "growth" | "growth_percent" => growth(chosen),
                "share" => {
                    let all = timeline.value(last, NodeId::ROOT, chosen) as f64;
                    let share = timeline.value(last, node, chosen) as f64 * 100.0 / all;
                    if all == 0.0 { 0.0 } else { share }
                }
                "first_bytes" => timeline.value(0, node, Metric::Bytes) as f64,
                "peak_objects" => timeline.max(node).objects as f64,
                "level" => f64::from(timeline.level(node)),
                _ => timeline.nodes().filter(|&n| timeline.parent(n) == Some(node)).count() as f64,
            };
            let right = number.number * SUFFIXES[number.suffix].1;
            match comparison {
                FilterComparison::Less => left < right,
                FilterComparison::AtMost => left <= right,
                FilterComparison::Equal => left == right,
                FilterComparison::Unequal => left != right,
                FilterComparison::AtLeast => left >= right,
                FilterComparison::More => left > right,
            }
        }
    }
}

/// The rows of a tree, by recursion over rows of numbers that are compared as such.
fn naive_rows(
    timeline: &Timeline,
    node: NodeId,
    kept: &dyn Fn(NodeId) -> bool,
    open: &dyn Fn(NodeId) -> bool,
    before: &dyn Fn(NodeId, NodeId) -> std::cmp::Ordering,
    rows: &mut Vec<NodeId>,
) {
    let below: Vec<NodeId> = timeline.nodes().filter(|&n| timeline.is_within(n, node)).collect();
    if !below.iter().any(|&n| kept(n)) {
        return;
    }
    rows.push(node);
    if open(node) {
        let mut children: Vec<NodeId> = timeline.nodes().filter(|&n| timeline.parent(n) == Some(node)).collect();
        children.sort_by(|&a, &b| before(a, b));
        children.into_iter().for_each(|child| naive_rows(timeline, child, kept, open, before, rows));
    }
}

const SORTS: [&str; 9] =
    ["bytes", "objects", "growth", "growth_percent", "share", "name", "role", "deep size", "children"];

fn before(timeline: &Timeline, column: &str, a: NodeId, b: NodeId) -> std::cmp::Ordering {
    let last = timeline.times() - 1;
    let value = |n, metric| timeline.value(last, n, metric);
    let growth = |n| timeline.growth(n, Metric::Bytes);
    let percent = |n| {
        let first = timeline.value(0, n, Metric::Bytes) as f64;
        let growth = growth(n) as f64;
        if growth == 0.0 && first == 0.0 { 0.0 } else { growth * 100.0 / first }
    };
    match column {
        "bytes" | "share" => value(a, Metric::Bytes).cmp(&value(b, Metric::Bytes)),
        "objects" => value(a, Metric::Objects).cmp(&value(b, Metric::Objects)),
        "deep size" => value(a, Metric::Column(0)).cmp(&value(b, Metric::Column(0))),
        "growth" => growth(a).cmp(&growth(b)),
        "growth_percent" => percent(a).partial_cmp(&percent(b)).expect("numbers"),
        "name" => timeline.name(a).cmp(timeline.name(b)),
        "role" => timeline.role(a).cmp(timeline.role(b)),
        _ => timeline.children(a).len().cmp(&timeline.children(b).len()),
    }
}

proptest! {
    #[test]
    fn what_a_filter_prints_is_read_as_the_same_filter(filter in filters()) {
        let table = table(&timeline(2, &Vec::new()), Metric::Bytes);
        let text = filter.to_string();
        match table.filter(&text) {
            Ok(read) => prop_assert_eq!(read, filter, "{}", text),
            Err(error) => prop_assert!(false, "{}", error.pointing(&text)),
        }
    }

    #[test]
    fn a_filter_finds_what_a_look_at_each_row_finds(
        plan in plans(3),
        filter in filters(),
        metric in prop::sample::select(vec![Metric::Objects, Metric::Bytes, Metric::Column(0)]),
    ) {
        // Growth is counted in what the metric counts.
        let refit = |text: String| if metric == Metric::Bytes { text } else { text.replace("growth ", "growth_bytes ") };
        let timeline = timeline(3, &plan);
        let table = table(&timeline, metric);
        let filter = table.filter(&refit(filter.to_string())).expect("a filter");
        let arrangement = Arrangement { filter: Some(filter.clone()), shape: TableShape::Nodes, ..Arrangement::default() };
        let view = table.rebuild(&arrangement, &Progress::new()).expect("a view");
        let found: Vec<NodeId> = timeline.nodes().filter(|&n| holds(&timeline, metric, n, &filter)).collect();
        prop_assert_eq!(view.matched, found.len() as u64);
        prop_assert_eq!(view.rows, found);
    }

    #[test]
    fn rows_are_those_of_a_plain_walk(
        plan in plans(2),
        filter in prop::option::of(filters()),
        column in prop::sample::select(SORTS.to_vec()),
        descending: bool,
        deepest in prop::option::of(0..4u32),
        closed in prop::option::of(prop::collection::hash_set(0..40u32, 0..20)),
    ) {
        let timeline = timeline(2, &plan);
        let table = table(&timeline, Metric::Bytes);
        let opened: Option<HashSet<NodeId>> = closed.map(|c| c.into_iter().map(NodeId).collect());
        let arrangement = Arrangement {
            sort: Some(table.sort(column, descending).expect("a column")),
            filter: filter.clone(),
            shape: TableShape::Tree,
            expanded: opened.clone().map_or(Expanded::All, Expanded::Nodes),
            deepest,
        };
        let view = table.rebuild(&arrangement, &Progress::new()).expect("a view");
        let found = |n: NodeId| filter.as_ref().is_none_or(|f| holds(&timeline, Metric::Bytes, n, f));
        let open = |n: NodeId| {
            timeline.level(n) < deepest.unwrap_or(99)
                && (filter.is_some() || opened.as_ref().is_none_or(|opened| opened.contains(&n)))
        };
        let order = |a: NodeId, b: NodeId| {
            let order = before(&timeline, column, a, b);
            (if descending { order.reverse() } else { order }).then(a.cmp(&b))
        };
        let mut rows = Vec::new();
        naive_rows(&timeline, NodeId::ROOT, &found, &open, &order, &mut rows);
        prop_assert_eq!(&view.rows, &rows);
        // Nothing is cut without being counted.
        let kept = |&n: &NodeId| timeline.nodes().any(|m| timeline.is_within(m, n) && found(m));
        let too_deep = timeline.nodes().filter(kept).filter(|&n| timeline.level(n) > deepest.unwrap_or(99)).count();
        prop_assert_eq!(view.too_deep, too_deep as u64);

        let flat = Arrangement { shape: TableShape::Leaves, ..arrangement };
        let view = table.rebuild(&flat, &Progress::new()).expect("a view");
        let mut leaves: Vec<NodeId> = timeline.nodes().filter(|&n| timeline.is_leaf(n) && found(n)).collect();
        prop_assert_eq!(view.matched, leaves.len() as u64);
        leaves.retain(|&n| timeline.level(n) <= deepest.unwrap_or(99));
        leaves.sort_by(|&a, &b| order(a, b));
        prop_assert_eq!(view.rows, leaves);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-z0-9 ()!~=<>&|\"'`.%üß_-]{0,60}") {
        let table = table(&timeline(1, &Vec::new()), Metric::Bytes);
        if let Err(error) = table.filter(&text) {
            prop_assert!(text.is_char_boundary(error.at));
            prop_assert!(!error.pointing(&text).is_empty());
        }
    }
}

#[test]
fn errors_say_where_and_what_would_be_right() {
    let table = table(&timeline(2, &Vec::new()), Metric::Bytes);
    for (text, at, part) in [
        ("", 0, "expected a column"),
        ("bytes > ", 8, "it ends here, expected a number"),
        ("bytes > 1MB and grwth > 20%", 16, "there is no column grwth; there are name, role, objects, bytes"),
        ("bytes > 1MX", 9, "MX is no unit; there are % k M G B kB"),
        ("objects > 1MB", 10, "objects is counted in objects, not in MB"),
        ("share > 1MB", 8, "share is counted in percent, not in MB"),
        ("bytes > 20%", 8, "bytes is counted in bytes, not in %"),
        ("name > 3", 7, "name is text: write a text in quotes"),
        ("name > 'x'", 5, "name is text: compare it with ~"),
        ("bytes ~ 3", 6, "bytes is a number: compare it with <"),
        ("bytes > 'x'", 8, "bytes is a number"),
        ("(bytes > 1", 10, "expected `)`"),
        ("bytes > 1 bytes", 10, "found bytes, expected the end"),
        ("name ~ \"x", 7, "has no partner"),
        ("ü ~ 1", 0, "there is no column ü"),
        ("name ~ 'ü' and ? > 1", 16, "means nothing here"),
        ("bytes 1", 6, "found 1, expected an operator"),
    ] {
        let error = table.filter(text).expect_err(text);
        assert!(error.message.contains(part), "{text}: {error}");
        assert_eq!(error.at, at, "{text}: {error}");
    }
    let umlaut = table.filter("name ~ 'ü' and ? > 1").expect_err("an error");
    assert_eq!(umlaut.character, 15, "places are told in characters");
    let long = vec!["bytes > 1"; 50_000].join(" and ");
    assert!(table.filter(&long).is_ok());
    for (part, said) in [
        ("(", "100 levels"),
        ("not ", "100 levels"),
        ("!", "100 levels"),
        ("bytes > 1 and ", "it ends here"),
        ("'\\", "has no partner"),
        ("`", "expected an operator"),
        ("a", "it ends here"),
        ("1", "it ends here"),
        ("1k", "is no unit"),
        ("~", "expected a column"),
    ] {
        let error = table.filter(&part.repeat(1_000_000 / part.len())).expect_err(part);
        assert!(error.message.contains(said), "{part}: {}", error.pointing(""));
    }
}

#[test]
fn both_ways_of_writing_mean_the_same() {
    let table = table(&timeline(2, &Vec::new()), Metric::Bytes);
    for (one, other) in [
        ("bytes > 1MB", "1mb < bytes"),
        ("bytes >= 1 AND NOT share == 2%", "(bytes >= 1) && ! (share = 2%)"),
        ("name ~ HashMap", "name ~ 'HashMap'"),
        ("bytes > 1_000_000", "bytes > 1000000"),
        ("`deep size` > 3s or objects < 2k", "`deep size` > 3s || 2k > objects"),
        ("bytes > 1 and bytes > 2 or bytes > 3", "(bytes > 1 and bytes > 2) or bytes > 3"),
    ] {
        assert_eq!(table.filter(one).expect(one), table.filter(other).expect(other));
    }
}

#[test]
fn a_wish_to_stop_is_heard() {
    let plan = vec![(0, 0, 0, vec![1, 2])];
    let progress = Progress::new();
    progress.cancel();
    let timeline = timeline(2, &plan);
    assert!(matches!(TreeTable::new(Arc::clone(&timeline), None, Metric::Bytes, &progress), Err(Error::Cancelled)));
    let table = table(&timeline, Metric::Bytes);
    assert!(matches!(table.rebuild(&Arrangement::default(), &progress), Err(Error::Cancelled)));
}

#[test]
fn amounts_of_memory_are_read_as_people_write_them() {
    for (text, bytes) in [
        ("4GB", 4_000_000_000),
        ("4 GiB", 4 << 30),
        ("512mib", 512 << 20),
        ("1.5g", 1_500_000_000),
        ("1_000", 1000),
        ("0", 0),
    ] {
        assert_eq!(super::parse_bytes(text), Some(bytes), "{text}");
    }
    for wrong in ["", "GB", "4%", "4s", "-4GB", "4GBs", "1e9", "99999999999TB", "four"] {
        assert_eq!(super::parse_bytes(wrong), None, "{wrong}");
    }
}
