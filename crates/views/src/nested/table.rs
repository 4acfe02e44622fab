//! Nested pictures as a table for spreadsheets, a row for each cell.

use super::{NestedPart, NestedPicture, NestedPlan};
use memory_city_analysis::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, TableHeader};
use memory_city_analysis::timeline::Timeline;

/// Writes pictures of one time, each with its name. Rows lie below the cell that they are a part of, and the parts of a cell add up to it.
/// `time` is an index.
pub fn nested_table(
    timeline: &Timeline,
    plan: &NestedPlan,
    time: usize,
    pictures: &[(&str, &NestedPicture)],
) -> ResultTable {
    let info = timeline.metric_info(plan.config().metric);
    let columns = vec![
        Column::new("group", "Group", CellKind::Node, "The group that it is or is a part of"),
        Column::new(
            "picture",
            "Picture",
            CellKind::Text,
            "local: the group that was gone into; global: the whole tree",
        ),
        Column::new(
            "part",
            "Part",
            CellKind::Text,
            "group: all of it; other: its groups without a part of their own; itself: what is in none of its groups",
        ),
        Column::new(
            "groups",
            "Groups",
            CellKind::Number(memory_city_analysis::timeline::Unit::Count),
            "How many groups it stands for",
        ),
        Column::new("value", info.title.to_string(), CellKind::Number(info.unit), "How much it is"),
        Column::new("share", "Share", CellKind::Percent, "Of the whole picture"),
        Column::new("share_above", "Share above", CellKind::Percent, "Of what it is a part of"),
        Column::new(
            "time",
            "Time",
            CellKind::Number(memory_city_analysis::timeline::Unit::Count),
            "The point in time, counted from 1",
        ),
    ];
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (name, picture) in pictures {
        left_out += picture.left_out as u64;
        let whole = picture.cells.first().map_or(0.0, |cell| cell.value);
        let share = |value: f64, of: f64| if of > 0.0 { Cell::Percent(100.0 * value / of) } else { Cell::Empty };
        // Depth first, so that each row follows the one that it is a part of.
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); picture.cells.len()];
        for (at, cell) in picture.cells.iter().enumerate().skip(1) {
            parts[cell.above as usize].push(at);
        }
        let mut waiting: Vec<usize> = if picture.cells.is_empty() { Vec::new() } else { vec![0] };
        while let Some(at) = waiting.pop() {
            waiting.extend(parts[at].iter().rev());
            let cell = &picture.cells[at];
            if at > 0 && cell.value <= 0.0 {
                continue;
            }
            let (part, groups) = match cell.part {
                NestedPart::Group(_) => ("group", 1),
                NestedPart::Other(node) => ("other", plan.in_other(node)),
                NestedPart::Itself(_) => ("itself", 1),
            };
            let cells = vec![
                Cell::Node(NodeLink::new(timeline, cell.part.group())),
                Cell::Text((*name).to_owned()),
                Cell::Text(part.to_owned()),
                Cell::Number(groups as u64),
                Cell::Number(cell.value.round().max(0.0) as u64),
                share(cell.value, whole),
                share(cell.value, picture.cells[cell.above as usize].value),
                Cell::Number(time as u64 + 1),
            ];
            rows.push(Row { depth: cell.level, cells, ..Row::default() });
        }
    }
    let header = TableHeader {
        id: "parts".into(),
        title: format!("Parts ({})", info.title),
        columns,
        nested: true,
        ..TableHeader::default()
    };
    ResultTable {
        header,
        rows,
        left_out: Some((left_out, "parts that are too small to be told apart".to_owned())).filter(|(n, _)| *n > 0),
        empty_text: "There is nothing at this time.".into(),
    }
}
