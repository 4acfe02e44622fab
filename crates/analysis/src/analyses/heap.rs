//! Analysis `heap`: the size of the heap at each point in time, with its collection.

use super::{Analysis, Arguments, Description, Findings, TimeWindow};
use crate::tabular::{
    Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, gc_kind_text, gc_kinds_explained,
};
use crate::timeline::{Amount, GcNoun, Metric, NodeId, Source, Timeline, Unit, by_uptime, is_repeated};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(HeapOverTime)
}

struct HeapOverTime;

impl Analysis for HeapOverTime {
    fn describe(&self) -> Description {
        Description {
            id: "heap",
            title: "Heap over time",
            explanation: "The size of the heap at each point in time; of traces, the collection that ended there, of recordings \
                the last one before.",
            needs: &[],
            parameters: Vec::new(),
        }
    }

    fn run(&self, document: &Source, window: TimeWindow, _: &Arguments, progress: &Progress) -> Result<Findings> {
        let timeline = document.timeline();
        let points = &timeline.points()[window.from..=window.to];
        // What cannot be known of a kind of input has no column.
        let trace = by_uptime(timeline.points());
        // Walks are points of their own, whatever they come after.
        let all_gc = points.iter().all(|p| p.gc.is_some());
        let noun = document.gc_noun();
        let one = noun.one();
        let what = match (all_gc, noun) {
            (false, _) => "State",
            (true, GcNoun::Collections) => "GC",
            (true, GcNoun::Pauses) => "Pause",
        };
        let taken = if trace { CellKind::Uptime } else { CellKind::Time };
        let starts = points.iter().any(|p| p.gc.as_ref().is_some_and(|gc| !gc.end));
        let mut columns = vec![
            Column::new(
                "label",
                what,
                CellKind::Text,
                match noun {
                    GcNoun::Collections => "The file, or the garbage collection",
                    GcNoun::Pauses => "The file, or the pause of a garbage collection",
                },
            ),
            Column::new("taken", if trace { "At" } else { "Taken" }, taken, "When it was; 0 when that is not known"),
        ];
        let metrics: Vec<_> = timeline.metrics().collect();
        for &metric in &metrics {
            let info = timeline.metric_info(metric);
            let explanation = format!("{} of all that is grouped", info.title);
            columns.push(Column::new(&*info.id, &*info.title, CellKind::Number(info.unit), explanation));
        }
        let unreachable = "that no root reaches, counted apart";
        // What counts by class have in them that is dead nobody knows.
        let garbage = match trace {
            // Some walks of a recording may have no collection before them: nothing but this is told of them.
            true => !all_gc && document.heaps().is_some_and(|heaps| !heaps.is_recorded()),
            false => document.heaps().is_some() || points.iter().any(|point| point.unreachable != Amount::default()),
        };
        if trace {
            columns.extend([
                Column::new(
                    "gc_kind",
                    "Kind",
                    CellKind::Text,
                    format!(
                        "{}. What is known of a {one} stands at the first point after it",
                        gc_kinds_explained(noun)
                    ),
                ),
                Column::new("gc_cause", "Cause", CellKind::Text, "Why it was collected"),
                Column::new(
                    "pause",
                    if noun.is_pauses() { "Duration" } else { "Pause" },
                    CellKind::Number(Unit::Millis),
                    format!("How long the {one} took"),
                ),
                Column::new("freed", "Freed", CellKind::Number(Unit::Objects), format!("Objects that the {one} freed")),
            ]);
        }
        if garbage {
            columns.extend([
                Column::new(
                    "unreachable_objects",
                    "Unreachable objects",
                    CellKind::Number(Unit::Objects),
                    format!("Objects {unreachable}"),
                ),
                Column::new(
                    "unreachable",
                    "Unreachable",
                    CellKind::Number(Unit::Bytes),
                    format!("Bytes {unreachable}"),
                ),
            ]);
        }
        if starts {
            let explanation = format!("Whether this is the start or the end of the {one}");
            columns.push(Column::new("moment", "Moment", CellKind::Text, explanation));
        }
        let mut rows = Vec::with_capacity(points.len());
        for (at, (point, t)) in points.iter().zip(window.times()).enumerate() {
            progress.check()?;
            let mut cells = vec![Cell::Text(point.label.clone()), Cell::Time(point.millis)];
            cells.extend(metrics.iter().map(|&m| Cell::Number(timeline.value(t, NodeId::ROOT, m))));
            match &point.gc {
                Some(gc) if !is_repeated(points, at) => cells.extend([
                    Cell::Text(gc_kind_text(gc.kind, gc.one_pause).into()),
                    Cell::Text(gc.cause.clone()),
                    Cell::Number(gc.duration),
                    gc.freed.map_or(Cell::Empty, Cell::Number),
                ]),
                _ if trace => cells.extend(std::iter::repeat_n(Cell::Empty, 4)),
                _ => {}
            }
            if garbage {
                cells.extend([Cell::Number(point.unreachable.objects), Cell::Number(point.unreachable.bytes)]);
            }
            if starts {
                let moment = |end| Cell::Text(if end { "end" } else { "start" }.into());
                cells.push(point.gc.as_ref().map_or(Cell::Empty, |gc| moment(gc.end)));
            }
            rows.push(Row { cells, ..Row::default() });
        }
        let header =
            TableHeader { id: "times".into(), title: "Heap over time".into(), columns, ..TableHeader::default() };
        let answers =
            spikes(timeline, window).into_iter().map(|(t, text)| format!("{} {text}", timeline.points()[t].label));
        Ok(Findings {
            answers: answers.collect(),
            tables: vec![ResultTable { header, rows, ..ResultTable::default() }],
            ..Findings::default()
        })
    }
}

/// So many times as much as its neighbours is a spike.
const SPIKE: u64 = 3;
/// Spikes that are named one by one, the highest first.
const MOST: usize = 3;

/// The states that are many times as large as those before and after them, and what they consist of, the highest first.
fn spikes(timeline: &Timeline, window: TimeWindow) -> Vec<(usize, String)> {
    let bytes = |t: usize, node| timeline.value(t, node, Metric::Bytes);
    let is_state = |t: &usize| timeline.points()[*t].gc.as_ref().is_none_or(|gc| gc.end);
    let states: Vec<usize> = window.times().filter(is_state).collect();
    let mut found: Vec<(u64, usize, usize)> = states
        .windows(3)
        .filter_map(|near| {
            let [before, here, after] = [near[0], near[1], near[2]];
            let beside = if bytes(before, NodeId::ROOT) > bytes(after, NodeId::ROOT) { before } else { after };
            let all = bytes(here, NodeId::ROOT);
            (all > 0 && all >= SPIKE.saturating_mul(bytes(beside, NodeId::ROOT))).then_some((all, here, beside))
        })
        .collect();
    found.sort_unstable_by_key(|&(all, here, _)| (std::cmp::Reverse(all), here));
    let sentence = |(all, here, beside): (u64, usize, usize)| {
        let more = |node: NodeId| bytes(here, node).saturating_sub(bytes(beside, node));
        let leaves = timeline.nodes().filter(|&node| timeline.is_leaf(node));
        let most = leaves.max_by_key(|&node| (more(node), std::cmp::Reverse(node)));
        let of = most.filter(|&node| more(node) > 0).map_or(String::new(), |node| {
            format!("; {} has {} of what came and went", timeline.display_name(node), bytes_text(more(node)))
        });
        let times = all as f64 / bytes(beside, NodeId::ROOT).max(1) as f64;
        (here, format!("is a spike: {}, {times:.1} times as much as the states beside it{of}.", bytes_text(all)))
    };
    found.into_iter().take(MOST).map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MemoryTree;
    use crate::timeline::TimePoint;

    #[test]
    fn a_state_many_times_as_large_as_its_neighbours_is_named_with_what_it_consists_of() {
        let said = |of: &[(u64, u64)]| {
            let tree = |&(a, b): &(u64, u64)| {
                let mut tree = MemoryTree::new();
                for (name, bytes) in [("A", a), ("B", b)] {
                    let node = tree.child(0, &"Type".into(), &name.into());
                    tree.add_up(&[node as u32], Amount { objects: 1, bytes });
                }
                tree
            };
            let trees: Vec<MemoryTree> = of.iter().map(tree).collect();
            let timeline = Timeline::from_trees(vec![TimePoint::default(); of.len()], &trees);
            spikes(&timeline, TimeWindow::whole(&timeline))
        };
        let found = said(&[(1000, 1000), (1000, 9000), (1000, 1500), (1000, 1500)]);
        assert_eq!(
            found,
            [(
                1,
                "is a spike: 10.0 kB, 4.0 times as much as the states beside it; B has 7.50 kB of what came and went."
                    .to_owned()
            )]
        );
        for calm in
            [&[(1000, 1000), (1000, 4000), (1000, 1000)][..], &[(1, 0), (9000, 0)], &[(1, 0), (900, 0), (1000, 0)]]
        {
            assert!(said(calm).is_empty(), "{calm:?}");
        }
    }
}
