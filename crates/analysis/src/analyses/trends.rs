//! The children of a group over time, the strongest by themselves and the rest as one: what a trend chart draws.

use super::{Analysis, Arguments, Description, Findings, Parameter, ParameterKind, TimeWindow, change};
use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, TableHeader, count_text};
use crate::timeline::{NodeId, Source, Unit};
use crate::trends::{TrendOrder, TrendRules, chart};
use memory_city_heap::error::{Error, Result};
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
                    explanation: "What is measured",
                    kind: ParameterKind::Metric { default: "bytes" },
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
        let metric = arguments.metric("metric", timeline)?;
        let key = arguments.word("group");
        let parent = match key {
            "" => NodeId::ROOT,
            key => document.find(key).ok_or_else(|| Error::Unusable {
                what: format!("There is no group {key:?} in this input"),
                remedy: "Take a key from --format json, or from the panel of the group".into(),
            })?,
        };
        let order = TrendOrder::of(arguments.word("order")).unwrap_or_default();
        let chart = chart(timeline, parent, window, TrendRules { metric, order, top: arguments.count("top") });
        let unit = timeline.metric_info(metric).unit;
        let name = |node| Cell::Node(NodeLink::new(timeline, node));
        let mut all: Vec<(Cell, &'static str, &[u64])> = vec![(name(parent), "whole", &chart.whole)];
        all.extend(chart.series.iter().map(|series| (name(series.node), "group", &series.values[..])));
        if chart.others > 0 || chart.rest.iter().any(|&value| value > 0) {
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
        let title = format!("Trends of {} ({})", timeline.display_name(parent), timeline.metric_info(metric).title);
        let header = TableHeader { id: "trends".into(), title, columns, ..TableHeader::default() };
        let trends = ResultTable { header, rows: all.iter().map(row).collect(), ..ResultTable::default() };
        let mut notes = vec![format!("{} groups are in the rest.", count_text(chart.others as u64))];
        if chart.overlaps {
            notes.push(
                "Objects are in several of these groups: they add up to more than the group they are in.".to_owned(),
            );
        }
        let mut tables = vec![trends];
        if arguments.word("points") == "yes" {
            tables.push(points_table(document, window, &all, unit));
        }
        Ok(Findings { tables, notes, ..Findings::default() })
    }
}

/// The same values, one to a row: for spreadsheets.
fn points_table(
    document: &Source,
    window: TimeWindow,
    all: &[(Cell, &'static str, &[u64])],
    unit: Unit,
) -> ResultTable {
    let points = document.timeline().points();
    let is_uptime = window.times().all(|time| points[time].gc.is_some());
    let columns = vec![
        Column::new("time", "Time", CellKind::Number(Unit::Count), "The point in time, counted from 1"),
        Column::new("taken", "Taken", if is_uptime { CellKind::Uptime } else { CellKind::Time }, "When that is"),
        Column::new("group", "Group", CellKind::Node, "The group; empty for all that are not listed"),
        Column::new("part", "Part", CellKind::Text, "whole, group or rest"),
        Column::new("value", "Value", CellKind::Number(unit), "Its value"),
    ];
    let rows = window.times().enumerate().flat_map(|(at, time)| {
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
