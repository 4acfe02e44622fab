//! Trend charts as a table for spreadsheets, value by value.

use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, TableHeader};
use crate::timeline::{MetricInfo, NodeId, Timeline, by_uptime};

/// A chart that is shown.
pub struct ShownTrends<'c> {
    /// The group whose children the series are.
    pub parent: NodeId,
    /// The metric.
    pub metric: &'c MetricInfo,
    /// The series with their values, one for each of `times`; without a group where it stands for all others.
    pub series: Vec<(Option<NodeId>, &'c [u64])>,
    /// The points in time that have values, ascending; all of them where there are none.
    pub times: Option<&'c [usize]>,
}

/// A row for each value of each series, charts and series in their order. Of the group itself there are no rows.
pub fn trends_table(timeline: &Timeline, charts: &[ShownTrends<'_>]) -> ResultTable {
    let points = timeline.points();
    let is_uptime = by_uptime(points);
    let unit = charts.first().map_or(crate::timeline::Unit::Count, |chart| chart.metric.unit);
    let count = CellKind::Number(crate::timeline::Unit::Count);
    let columns = vec![
        Column::new("chart", "Chart", CellKind::Node, "The group whose parts the chart shows"),
        Column::new("metric", "Metric", CellKind::Text, "What is measured"),
        Column::new("group", "Group", CellKind::Node, "The group; empty for all that are not shown by themselves"),
        Column::new("part", "Part", CellKind::Text, "group: one of its groups; rest: all others together"),
        Column::new("time", "Time", count, "The point in time, counted from 1"),
        Column::new("taken", "Taken", if is_uptime { CellKind::Uptime } else { CellKind::Time }, "When that is"),
        Column::new("value", "Value", CellKind::Number(unit), "Its value"),
    ];
    let name = |node: NodeId| Cell::Node(NodeLink::new(timeline, node));
    let mut rows = Vec::new();
    for chart in charts {
        for (node, values) in &chart.series {
            for (at, &value) in values.iter().enumerate() {
                let time = chart.times.map_or(Some(at), |times| times.get(at).copied());
                let Some((time, point)) = time.and_then(|time| Some((time, points.get(time)?))) else { continue };
                let cells = vec![
                    name(chart.parent),
                    Cell::Text(chart.metric.id.to_string()),
                    node.map_or(Cell::Empty, name),
                    Cell::Text(if node.is_some() { "group" } else { "rest" }.to_owned()),
                    Cell::Number(time as u64 + 1),
                    Cell::Time(point.millis),
                    Cell::Number(value),
                ];
                rows.push(Row { cells, ..Row::default() });
            }
        }
    }
    let header = TableHeader { id: "trends".into(), title: "Trends".into(), columns, ..TableHeader::default() };
    ResultTable { header, rows, left_out: None, empty_text: "No chart is shown.".into() }
}
