//! Nothing is lost: neither in the rest nor in a level of detail.

use super::*;
use crate::group::MemoryTree;
use crate::timeline::{Amount, TimePoint};
use proptest::prelude::*;

fn timeline(times: &[Vec<u64>]) -> Timeline {
    let tree = |values: &Vec<u64>| {
        let mut tree = MemoryTree::new();
        for (n, &value) in values.iter().enumerate() {
            let of = tree.child(0, &"Type".into(), &format!("T{n:02}").into());
            let below = tree.child(of, &"Site".into(), &format!("S{}", n % 2).into());
            tree.add_up(&[below as u32], Amount { objects: value, bytes: 8 * value });
        }
        tree
    };
    let trees: Vec<MemoryTree> = times.iter().map(tree).collect();
    Timeline::from_trees(times.iter().map(|_| TimePoint::default()).collect(), &trees)
}

fn names(timeline: &Timeline, chart: &TrendChart) -> Vec<String> {
    chart.series.iter().map(|series| timeline.name(series.node).to_owned()).collect()
}

#[test]
fn each_order_puts_its_own_first() {
    let timeline = timeline(&[vec![100, 10, 0, 50], vec![0, 10, 90, 50], vec![101, 30, 5, 50]]);
    let window = TimeWindow::whole(&timeline);
    for (order, wanted) in [
        (TrendOrder::Start, ["T00", "T03", "T01", "T02"]),
        (TrendOrder::End, ["T00", "T03", "T01", "T02"]),
        (TrendOrder::Average, ["T00", "T03", "T02", "T01"]),
        (TrendOrder::Growth, ["T01", "T02", "T00", "T03"]),
        (TrendOrder::RelativeGrowth, ["T02", "T01", "T00", "T03"]),
    ] {
        let rules = TrendRules { metric: Metric::Objects, order, top: 9 };
        let chart = chart(&timeline, NodeId::ROOT, window, rules);
        assert_eq!(names(&timeline, &chart), wanted, "{order:?}");
        assert_eq!((chart.others, chart.rest), (0, vec![0, 0, 0]));
    }
    assert!(TrendOrder::ALL.iter().all(|(name, order)| TrendOrder::of(name) == Some(*order)));
}

/// The chart below shows the parts of what was chosen above.
#[test]
fn a_series_opens_as_the_next_chart() {
    let timeline = timeline(&[vec![1, 2], vec![3, 4]]);
    let window = TimeWindow::whole(&timeline);
    let above = chart(&timeline, NodeId::ROOT, window, TrendRules::default());
    let below = chart(&timeline, above.series[0].node, window, TrendRules::default());
    assert_eq!(below.whole, above.series[0].values);
    assert_eq!(below.series[0].values, below.whole);
}

#[test]
fn what_is_left_out_lies_between_the_first_and_the_last() {
    let point = |millis: u64| TimePoint { millis, ..TimePoint::default() };
    let points: Vec<TimePoint> = [0, 400, 900, 1000, 1900, 2500, 2600, 100, 3000].map(point).to_vec();
    let whole = TimeWindow { from: 0, to: 8 };
    assert_eq!(Thinning::All.times(&points, whole).len(), 9);
    assert_eq!(Thinning::Every(3).times(&points, whole), [0, 3, 6, 8]);
    assert_eq!(Thinning::Every(0).times(&points, whole).len(), 9, "none is every one");
    assert_eq!(Thinning::Every(100).times(&points, TimeWindow { from: 2, to: 7 }), [2, 7]);
    // The clock goes back at the eighth: whatever it says, that is one more.
    assert_eq!(Thinning::Seconds(1).times(&points, whole), [0, 3, 5, 7, 8]);
    assert_eq!(Thinning::Seconds(u64::MAX).times(&points, TimeWindow { from: 0, to: 6 }), [0, 6]);
    assert_eq!(Thinning::Seconds(5).times(&points, TimeWindow { from: 4, to: 4 }), [4]);
    assert_eq!((spread(&[3, 5, 9], 2), spread(&[3, 5, 9], 0)), (vec![3, 9], vec![3, 9]));
    assert_eq!((spread(&[], 4), spread(&[7], 4)), (vec![], vec![7]));
    assert_eq!(GroupSizes::order(&[1, 4, 6, 9]), [1, 9, 4, 6]);
    assert_eq!((GroupSizes::order(&[2, 3]), GroupSizes::order(&[])), (vec![2, 3], vec![]));
    assert!(GroupSizes::most_times(usize::MAX / 64) == 2 && GroupSizes::most_times(1000) > 1000);
}

/// A chart at fewer times is the chart of all with times left out.
#[test]
fn fewer_times_have_the_same_values_and_ranks_within_the_window() {
    let timeline = timeline(&[vec![9, 1, 0], vec![8, 9, 1], vec![7, 0, 2], vec![6, 0, 50], vec![5, 2, 3]]);
    let value = |time: usize, node: NodeId| timeline.value(time, node, Metric::Objects);
    let ranked = |window: TimeWindow, times: &[usize]| {
        chart_at(&timeline, NodeId::ROOT, times, window, (TrendOrder::Growth, 1), value)
    };
    let all = TimeWindow::whole(&timeline);
    let found = ranked(all, &[0, 2, 4]);
    assert_eq!((names(&timeline, &found), &found.series[0].values[..]), (vec!["T02".to_owned()], &[0, 2, 3][..]));
    assert_eq!((&found.whole[..], &found.rest[..], found.others), (&[10, 9, 10][..], &[10, 7, 7][..], 2));
    let window = TimeWindow { from: 0, to: 1 };
    assert_eq!(names(&timeline, &ranked(window, &[0, 1, 4])), ["T01"]);
    // None of the charted times is in it: all of them rank.
    assert_eq!(names(&timeline, &ranked(TimeWindow { from: 3, to: 3 }, &[0, 4])), ["T02"]);
    assert_eq!(ranked(all, &[]).whole, [] as [u64; 0]);
}

proptest! {
    #[test]
    fn shown_and_rest_are_the_whole(
        times in prop::collection::vec(prop::collection::vec(0..100u64, 12), 1..9), top in 0..14usize, order in 0..5usize,
    ) {
        let timeline = timeline(&times);
        let rules = TrendRules { metric: Metric::Bytes, order: TrendOrder::ALL[order].1, top };
        let chart = chart(&timeline, NodeId::ROOT, TimeWindow::whole(&timeline), rules);
        prop_assert!(!chart.overlaps);
        prop_assert_eq!(chart.series.len() + chart.others, timeline.children(NodeId::ROOT).len());
        for (t, values) in times.iter().enumerate() {
            let shown: u64 = chart.series.iter().map(|series| series.values[t]).sum();
            prop_assert_eq!(shown + chart.rest[t], chart.whole[t]);
            prop_assert_eq!(chart.whole[t], 8 * values.iter().sum::<u64>());
        }
    }

    #[test]
    fn no_spike_is_lost_at_any_level(values in prop::collection::vec(0..1000u64, 0..70), a in 0..70usize, b in 0..80usize, pieces in 0..90usize) {
        let levels = MinMaxLevels::new(&values);
        let here = values.get(a..b.min(values.len())).unwrap_or(&[]);
        let both = |values: &[u64]| Some((*values.iter().min()?, *values.iter().max()?));
        prop_assert_eq!(levels.between(a, b), both(here));
        let found = levels.pieces(a, b, pieces);
        prop_assert_eq!(found.len(), pieces.min(here.len()));
        if pieces > 0 {
            prop_assert_eq!(found.iter().copied().reduce(|x, y| (x.0.min(y.0), x.1.max(y.1))), both(here));
        }
    }
}

#[test]
fn rows_of_the_table_add_up_to_the_group_at_every_time() {
    use crate::tabular::Cell;
    let timeline = timeline(&[vec![100, 10, 0, 50], vec![0, 10, 90, 50], vec![101, 30, 5, 50]]);
    let rules = TrendRules { top: 2, ..TrendRules::default() };
    let chart = chart(&timeline, NodeId::ROOT, TimeWindow::whole(&timeline), rules);
    let mut series: Vec<(Option<NodeId>, &[u64])> =
        chart.series.iter().map(|series| (Some(series.node), &series.values[..])).collect();
    series.push((None, &chart.rest));
    let metric = &timeline.metric_info(Metric::Bytes);
    let shown = ShownTrends { parent: NodeId::ROOT, metric, series, times: None };
    let table = trends_table(&timeline, &[shown]);
    let [time, value] = ["time", "value"].map(|id| table.header.column(id).expect("a column"));
    for t in 0..3 {
        let here = table.rows.iter().filter(|row| row.cells[time] == Cell::Number(t as u64 + 1));
        let sum: u64 = here
            .map(|row| match row.cells[value] {
                Cell::Number(n) => n,
                _ => panic!("a number"),
            })
            .sum();
        assert_eq!(sum, timeline.value(t, NodeId::ROOT, Metric::Bytes));
    }
    assert_eq!(table.rows.len(), 9);
}
