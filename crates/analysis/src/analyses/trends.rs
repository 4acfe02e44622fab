//! Analysis `trends`: the children of a group over time, the largest by themselves and the rest as one, for trend charts.

use super::{Analysis, Arguments, Description, Findings, Parameter, ParameterKind, TimeWindow, change};
use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, TableHeader, count_text};
use crate::timeline::{ClosureMetric, ClosureRequest, NodeId, Source, Unit, by_uptime};
use crate::trends::{GroupSizes, Thinning, TrendOrder, USUAL_SIZES, chart_at, spread};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Trends)
}

struct Trends;

const ORDERS: &[&str] = &["growth", "relative-growth", "start", "end", "average"];

impl Analysis for Trends {
    fn describe(&self) -> Description {
        Description {
            id: "trends",
            title: "Trends",
            explanation: "The groups in a group over time, as a trend chart draws them: the strongest by themselves, all others as \
                one. With the key of a group its own groups.",
            needs: &[],
            parameters: vec![
                Parameter {
                    id: "group",
                    title: "Group",
                    explanation: "The key of the group whose groups are followed; empty for the whole heap",
                    kind: ParameterKind::Text { default: "" },
                },
                Parameter {
                    id: "order",
                    title: "Order",
                    explanation: "Which groups come first: by absolute or relative growth from the first to the last point in time, by \
                        their value at either, or on average",
                    kind: ParameterKind::Choice { default: "growth", choices: ORDERS },
                },
                Parameter {
                    id: "top",
                    title: "Series",
                    explanation: "How many groups are followed by themselves; the others are one",
                    kind: ParameterKind::Number { default: 5, least: 0, most: 1_000_000 },
                },
                Parameter {
                    id: "points",
                    title: "Value by value",
                    explanation: "Whether each value is a row of a second table, for spreadsheets",
                    kind: ParameterKind::Choice { default: "no", choices: &["no", "yes"] },
                },
                Parameter {
                    id: "metric",
                    title: "Metric",
                    explanation: "What is measured. Deep and retained sizes (retained, retained-objects, deep, deep-objects) are \
                        found at some points in time where the input does not have them",
                    kind: ParameterKind::Metric { default: "bytes" },
                },
                Parameter {
                    id: "times",
                    title: "Sizes at",
                    explanation: "At how many points in time deep and retained sizes are found, evenly spread, the first and the last \
                        always",
                    kind: ParameterKind::Number { default: USUAL_SIZES as u64, least: 2, most: 1_000_000 },
                },
                Parameter {
                    id: "every",
                    title: "Every n-th",
                    explanation: "Only every n-th point in time, and the last",
                    kind: ParameterKind::Number { default: 1, least: 1, most: 1_000_000 },
                },
                Parameter {
                    id: "seconds",
                    title: "Seconds between",
                    explanation: "At most one point in time in so many seconds of the program, in place of every n-th; 0 for no limit",
                    kind: ParameterKind::Number { default: 0, least: 0, most: 1_000_000_000 },
                },
            ],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        progress.check()?;
        let timeline = document.timeline();
        let key = arguments.word("group");
        let parent = match key {
            "" => NodeId::ROOT,
            key => document.find(key).ok_or_else(|| Error::Unusable {
                what: format!("There is no group {key:?} in this input"),
                remedy: "Take a key from --format json, or from the panel of the group".into(),
            })?,
        };
        let rules = (TrendOrder::of(arguments.word("order")).unwrap_or_default(), arguments.count("top"));
        let thinning = match arguments.number("seconds") {
            0 => Thinning::Every(arguments.count("every")),
            seconds => Thinning::Seconds(seconds),
        };
        let mut times = thinning.times(timeline.points(), window);
        let mut notes = Vec::new();
        let word = arguments.word("metric");
        let to_find = ClosureMetric::of(word).ok().filter(|metric| {
            ClosureMetric::CLOSURES.contains(metric) && timeline.metric(word).is_none() && document.heaps().is_some()
        });
        let sizes = match to_find {
            Some(metric) => {
                let sizes = sizes(document, &times, arguments.count("times"), metric, progress)?;
                times = sizes.times();
                Some((sizes, metric))
            }
            None => None,
        };
        if times.len() < window.times().count() {
            notes.push(format!(
                "Charted at {} of {} points in time.",
                count_text(times.len() as u64),
                count_text(window.times().count() as u64)
            ));
        }
        let (chart, info) = match &sizes {
            Some((sizes, metric)) => {
                let value = |time: usize, node: NodeId| sizes.value(time, node, *metric);
                (chart_at(timeline, parent, &times, window, rules, value), metric.info())
            }
            None => {
                let metric = arguments.metric("metric", timeline)?;
                let value = |time: usize, node: NodeId| timeline.value(time, node, metric);
                (chart_at(timeline, parent, &times, window, rules, value), timeline.metric_info(metric))
            }
        };
        let (unit, is_shared) = (info.unit, ClosureMetric::of(&info.id).is_ok());
        let name = |node| Cell::Node(NodeLink::new(timeline, node));
        let mut all: Vec<(Cell, &'static str, &[u64])> = vec![(name(parent), "whole", &chart.whole)];
        all.extend(chart.series.iter().map(|series| (name(series.node), "group", &series.values[..])));
        // What objects share would be counted twice, or not at all.
        if !is_shared && (chart.others > 0 || chart.rest.iter().any(|&value| value > 0)) {
            all.push((Cell::Empty, "rest", &chart.rest));
        }
        let row = |(name, kind, values): &(Cell, &'static str, &[u64])| {
            let (first, last) = (values.first().copied().unwrap_or(0), values.last().copied().unwrap_or(0));
            let mean = values.iter().map(|&value| u128::from(value)).sum::<u128>() / values.len().max(1) as u128;
            Row {
                cells: vec![
                    name.clone(),
                    Cell::Text((*kind).to_owned()),
                    Cell::Number(first),
                    Cell::Number(last),
                    Cell::Change(change(first, last)),
                    if first > 0 {
                        Cell::Percent(100.0 * change(first, last) as f64 / first as f64)
                    } else {
                        Cell::Empty
                    },
                    Cell::Number(mean as u64),
                    Cell::Series(values.to_vec()),
                ],
                ..Row::default()
            }
        };
        let columns = vec![
            Column::new("group", "Group", CellKind::Node, "The group; empty for all that are not listed"),
            Column::new(
                "part",
                "Part",
                CellKind::Text,
                "whole: the group itself; group: one of its groups; rest: all others together",
            ),
            Column::new("first", "First", CellKind::Number(unit), "Its value at the first point in time"),
            Column::new("last", "Last", CellKind::Number(unit), "At the last"),
            Column::new("growth", "Growth", CellKind::Change(unit), "Last minus first"),
            Column::new("growth_percent", "Growth, %", CellKind::Percent, "Relative to the first"),
            Column::new("average", "Average", CellKind::Number(unit), "The mean over the points in time"),
            Column::new("values", "Over time", CellKind::Series(unit), "Its value at each point in time"),
        ];
        let title = format!("Trends of {} ({})", timeline.display_name(parent), info.title);
        let header = TableHeader { id: "trends".into(), title, columns, ..TableHeader::default() };
        let trends = ResultTable { header, rows: all.iter().map(row).collect(), ..ResultTable::default() };
        notes.push(match is_shared {
            true => format!(
                "{} groups are not listed: sizes of groups that share objects do not add up.",
                count_text(chart.others as u64)
            ),
            false => format!("{} groups are in the rest.", count_text(chart.others as u64)),
        });
        if chart.overlaps && !is_shared {
            notes.push(
                "Objects are in several of these groups: they add up to more than the group they are in.".to_owned(),
            );
        }
        let mut tables = vec![trends];
        if arguments.word("points") == "yes" {
            tables.push(points_table(document, &times, &all, unit));
        }
        Ok(Findings { tables, notes, ..Findings::default() })
    }
}

/// The closures of groups at some of these times.
fn sizes(
    document: &Source,
    times: &[usize],
    most: usize,
    metric: ClosureMetric,
    progress: &Progress,
) -> Result<GroupSizes> {
    let request = ClosureRequest::of(&[metric], KeepRules::default());
    let wanted = spread(times, most.min(GroupSizes::most_times(document.timeline().len())));
    let mut sizes = GroupSizes::new(request);
    let ahead = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    document.closures_at(&wanted, ahead, request, progress, &mut |time, found| {
        if let Some(found) = found {
            sizes.add(time, found);
        }
    })?;
    Ok(sizes)
}

/// The same values, one to a row: for spreadsheets.
fn points_table(document: &Source, times: &[usize], all: &[(Cell, &'static str, &[u64])], unit: Unit) -> ResultTable {
    let points = document.timeline().points();
    let is_uptime = by_uptime(points);
    let columns = vec![
        Column::new("time", "Time", CellKind::Number(Unit::Count), "The point in time, counted from 1"),
        Column::new("taken", "Taken", if is_uptime { CellKind::Uptime } else { CellKind::Time }, "When that is"),
        Column::new("group", "Group", CellKind::Node, "The group; empty for all that are not listed"),
        Column::new("part", "Part", CellKind::Text, "whole, group or rest"),
        Column::new("value", "Value", CellKind::Number(unit), "Its value"),
    ];
    let rows = times.iter().enumerate().flat_map(|(at, &time)| {
        all.iter().map(move |(name, kind, values)| Row {
            cells: vec![
                Cell::Number(time as u64 + 1),
                Cell::Time(points[time].millis),
                name.clone(),
                Cell::Text((*kind).to_owned()),
                Cell::Number(values[at]),
            ],
            ..Row::default()
        })
    });
    ResultTable {
        header: TableHeader {
            id: "trend_points".into(),
            title: "Trends, value by value".into(),
            columns,
            ..TableHeader::default()
        },
        rows: rows.collect(),
        ..ResultTable::default()
    }
}
