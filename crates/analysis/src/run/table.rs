//! The collections of a run as tables for CSV, with the data of the charts.

use super::{NANOS, RunFacts};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, gc_kind_text, gc_kinds_explained};
use crate::timeline::Unit;
use std::collections::BTreeMap;

impl RunFacts {
    /// A row for each collection; of a run without, one for each level.
    pub fn table(&self) -> ResultTable {
        if self.collections.is_empty() {
            return self.levels_table();
        }
        let count = CellKind::Number(Unit::Count);
        let bytes = CellKind::Number(Unit::Bytes);
        let noun = self.noun();
        let what = if noun.is_pauses() { "Pause" } else { "GC" };
        let length = if noun.is_pauses() { "Duration (µs)" } else { "Pause (µs)" };
        let mut columns = vec![
            Column::new("gc", what, count, format!("The {}'s own number", noun.one())),
            Column::new("kind", "Kind", CellKind::Text, gc_kinds_explained(noun)),
            Column::new("cause", "Cause", CellKind::Text, "Why it came"),
            Column::new("begins", "Begins", CellKind::Uptime, "When it begins"),
            Column::new("ends", "Ends", CellKind::Uptime, "When it ends"),
            Column::new("pause_us", length, count, "How long it takes"),
            Column::new(
                "overhead",
                "Overhead",
                CellKind::Percent,
                "Its share of the time since the end of the one before",
            ),
            Column::new("before", "Before", bytes, "Bytes in use at its start"),
            Column::new("after", "After", bytes, "Bytes in use at its end"),
            Column::new("allocated", "Allocated", bytes, "Bytes allocated since the one before"),
            Column::new("survived", "Survived", CellKind::Percent, "Share of the bytes in use that survived"),
            Column::new(
                "new_survived",
                "New survived",
                CellKind::Percent,
                "Share of the bytes allocated before it that survived",
            ),
        ];
        if self.spaces.is_some() {
            for (id, name) in [("eden", "Eden"), ("survivor", "Survivor"), ("old", "Old")] {
                columns.push(Column::new(
                    format!("{id}_before"),
                    format!("{name} before"),
                    bytes,
                    "Bytes there at its start",
                ));
                columns.push(Column::new(
                    format!("{id}_after"),
                    format!("{name} after"),
                    bytes,
                    "Bytes there at its end",
                ));
            }
        }
        let number = |value: Option<u64>| value.map_or(Cell::Empty, Cell::Number);
        let percent = |share: Option<f64>| share.map_or(Cell::Empty, |share| Cell::Percent(100.0 * share));
        let row = |gc: usize| {
            let of = &self.collections[gc];
            let mut cells = vec![
                Cell::Number(of.number),
                of.kind.map_or(Cell::Empty, |kind| Cell::Text(gc_kind_text(kind, of.one_pause).to_owned())),
                Cell::Text(of.cause.clone()),
                Cell::Time(of.start / NANOS),
                Cell::Time(of.end / NANOS),
                Cell::Number(of.end.saturating_sub(of.start) / 1000),
                percent(Some(self.overhead(gc))),
                number(of.before),
                number(of.after),
                number(self.allocated(gc).map(|bytes| bytes as u64)),
                percent(self.survived(gc)),
                percent(self.survived_new(gc)),
            ];
            if let Some(spaces) = &self.spaces {
                let [before, after] = spaces[gc];
                for (before, after) in
                    [(before.eden, after.eden), (before.survivor, after.survivor), (before.old, after.old)]
                {
                    cells.extend([Cell::Number(before), Cell::Number(after)]);
                }
            }
            Row { cells, ..Row::default() }
        };
        self.titled(columns, (0..self.collections.len()).map(row).collect())
    }

    /// The data of the two overview charts, by time: memory, and GC overhead. A cell is empty where a chart has no point.
    pub fn overview_table(&self) -> ResultTable {
        let measures = &self.measures;
        let moment = if measures.is_epoch { CellKind::Time } else { CellKind::Uptime };
        let columns = vec![
            Column::new("time", "Time", moment, "When"),
            Column::new("bytes", "Memory", CellKind::Number(Unit::Bytes), measures.levels_are.clone()),
            Column::new(
                "overhead",
                "GC overhead",
                CellKind::Percent,
                format!("Share of the time since the {0} before that a {0} takes", self.noun().one()),
            ),
        ];
        let mut by_time: BTreeMap<u64, [Cell; 2]> = BTreeMap::new();
        let mut place = |time: u64, at: usize, cell: Cell| {
            by_time.entry(time).or_insert([Cell::Empty, Cell::Empty])[at] = cell;
        };
        measures.levels.iter().for_each(|level| place(level.time, 0, Cell::Number(level.bytes)));
        for (gc, of) in measures.gcs.iter().enumerate() {
            place(of.end, 1, Cell::Percent(100.0 * self.overhead(gc)));
        }
        let row = |(time, [bytes, overhead]): (u64, [Cell; 2])| Row {
            cells: vec![Cell::Time(time / NANOS), bytes, overhead],
            ..Row::default()
        };
        self.titled(columns, by_time.into_iter().map(row).collect())
    }

    fn levels_table(&self) -> ResultTable {
        let moment = if self.measures.is_epoch { CellKind::Time } else { CellKind::Uptime };
        let columns = vec![
            Column::new("time", "Time", moment, "When"),
            Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), self.measures.levels_are.clone()),
        ];
        let row = |level: &crate::windows::MemoryLevel| Row {
            cells: vec![Cell::Time(level.time / NANOS), Cell::Number(level.bytes)],
            ..Row::default()
        };
        self.titled(columns, self.measures.levels.iter().map(row).collect())
    }

    fn titled(&self, columns: Vec<Column>, rows: Vec<Row>) -> ResultTable {
        let header = TableHeader { id: "run".into(), title: "Run".into(), columns, ..TableHeader::default() };
        ResultTable { header, rows, left_out: None, empty_text: "Nothing is known of the run.".into() }
    }
}
