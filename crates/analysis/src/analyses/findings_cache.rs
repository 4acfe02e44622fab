//! Cache of findings in the user's cache folder. When the same dumps are opened again, the findings need no heap state.
//!
//! Findings are kept as typed cells, not as text: a later version may show them in another way.

use super::finding::Finding;
use super::interface::{Analysis, Description, Findings};
use super::leak_verdict::LeakVerdict;
use super::parameters::Arguments;
use crate::structures;
use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, RowKind, TableHeader};
use crate::timeline::{Source, TimeWindow, Unit};
use memory_city_formats::AnswerKey;
use serde::{Deserialize, Serialize};

/// The inputs of findings, beside the arguments and the points in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowsFrom {
    /// More than can be written down, or it costs nothing to find out again.
    Anything,
    /// The heap states alone, under any grouping.
    HeapStates,
    /// The heap states, and how they are grouped and measured.
    Groups,
}

/// The key of the findings of an analysis, where they are kept.
pub(super) fn key(
    analysis: &dyn Analysis,
    description: &Description,
    document: &Source,
    window: TimeWindow,
    arguments: &Arguments,
) -> Option<AnswerKey> {
    let grouped = match analysis.follows_from() {
        FollowsFrom::Anything => return None,
        FollowsFrom::HeapStates => false,
        FollowsFrom::Groups => true,
    };
    let TimeWindow { from, to } = window;
    let described = structures::fingerprint();
    document.heaps()?.answer_key(&format!("{} {from}-{to} {arguments:?} {described:x}", description.id), grouped)
}

/// Findings in the form of the cache.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredFindings {
    title: Option<String>,
    answers: Vec<String>,
    tables: Vec<StoredTable>,
    found: Vec<Finding>,
    notes: Vec<String>,
    verdict: Option<LeakVerdict>,
}

#[derive(Serialize, Deserialize)]
struct StoredTable {
    id: String,
    title: String,
    columns: Vec<StoredColumn>,
    kinds: Vec<(String, String, String)>,
    nested: bool,
    rows: Vec<(usize, u32, Vec<StoredCell>)>,
    left_out: Option<(u64, String)>,
    empty_text: String,
}

#[derive(Serialize, Deserialize)]
struct StoredColumn {
    id: String,
    title: String,
    of_program: bool,
    kind: StoredKind,
    explanation: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum StoredKind {
    Text,
    Number(Counted),
    Change(Counted),
    Percent,
    Time,
    Uptime,
    Node,
    Series(Counted),
}

/// [`Unit`], as a number.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Counted {
    Objects,
    Bytes,
    Count,
    Millis,
}

#[derive(Serialize, Deserialize)]
enum StoredCell {
    Empty,
    Text(String),
    Number(u64),
    Change(i64),
    Percent(f64),
    Time(u64),
    Node { key: String, name: String, path: String },
    Series(Vec<u64>),
}

impl From<Unit> for Counted {
    fn from(unit: Unit) -> Counted {
        match unit {
            Unit::Objects => Counted::Objects,
            Unit::Bytes => Counted::Bytes,
            Unit::Count => Counted::Count,
            Unit::Millis => Counted::Millis,
        }
    }
}

impl From<Counted> for Unit {
    fn from(unit: Counted) -> Unit {
        match unit {
            Counted::Objects => Unit::Objects,
            Counted::Bytes => Unit::Bytes,
            Counted::Count => Unit::Count,
            Counted::Millis => Unit::Millis,
        }
    }
}

impl From<CellKind> for StoredKind {
    fn from(kind: CellKind) -> StoredKind {
        match kind {
            CellKind::Text => StoredKind::Text,
            CellKind::Number(unit) => StoredKind::Number(unit.into()),
            CellKind::Change(unit) => StoredKind::Change(unit.into()),
            CellKind::Percent => StoredKind::Percent,
            CellKind::Time => StoredKind::Time,
            CellKind::Uptime => StoredKind::Uptime,
            CellKind::Node => StoredKind::Node,
            CellKind::Series(unit) => StoredKind::Series(unit.into()),
        }
    }
}

impl From<StoredKind> for CellKind {
    fn from(kind: StoredKind) -> CellKind {
        match kind {
            StoredKind::Text => CellKind::Text,
            StoredKind::Number(unit) => CellKind::Number(unit.into()),
            StoredKind::Change(unit) => CellKind::Change(unit.into()),
            StoredKind::Percent => CellKind::Percent,
            StoredKind::Time => CellKind::Time,
            StoredKind::Uptime => CellKind::Uptime,
            StoredKind::Node => CellKind::Node,
            StoredKind::Series(unit) => CellKind::Series(unit.into()),
        }
    }
}

impl From<&Cell> for StoredCell {
    fn from(cell: &Cell) -> StoredCell {
        match cell {
            Cell::Empty => StoredCell::Empty,
            Cell::Text(text) => StoredCell::Text(text.clone()),
            Cell::Number(n) => StoredCell::Number(*n),
            Cell::Change(n) => StoredCell::Change(*n),
            Cell::Percent(p) => StoredCell::Percent(*p),
            Cell::Time(t) => StoredCell::Time(*t),
            Cell::Node(NodeLink { key, name, path }) => {
                StoredCell::Node { key: key.clone(), name: name.clone(), path: path.clone() }
            }
            Cell::Series(values) => StoredCell::Series(values.clone()),
        }
    }
}

impl From<StoredCell> for Cell {
    fn from(cell: StoredCell) -> Cell {
        match cell {
            StoredCell::Empty => Cell::Empty,
            StoredCell::Text(text) => Cell::Text(text),
            StoredCell::Number(n) => Cell::Number(n),
            StoredCell::Change(n) => Cell::Change(n),
            StoredCell::Percent(p) => Cell::Percent(p),
            StoredCell::Time(t) => Cell::Time(t),
            StoredCell::Node { key, name, path } => Cell::Node(NodeLink { key, name, path }),
            StoredCell::Series(values) => Cell::Series(values),
        }
    }
}

impl StoredFindings {
    /// The findings to write; `None` for findings with warnings, which name files by their present path.
    pub(super) fn of(findings: &Findings) -> Option<StoredFindings> {
        findings.warnings.is_empty().then(|| StoredFindings {
            title: findings.title.clone(),
            answers: findings.answers.clone(),
            tables: findings.tables.iter().map(StoredTable::of).collect(),
            found: findings.found.clone(),
            notes: findings.notes.clone(),
            verdict: findings.verdict.clone(),
        })
    }

    /// The findings; `None` where rows do not fit their columns.
    pub(super) fn findings(self) -> Option<Findings> {
        let StoredFindings { title, answers, tables, found, notes, verdict } = self;
        let tables = tables.into_iter().map(StoredTable::table).collect::<Option<_>>()?;
        Some(Findings { title, answers, tables, found, verdict, notes, warnings: Vec::new() })
    }
}

impl StoredTable {
    fn of(table: &ResultTable) -> StoredTable {
        let TableHeader { id, title, columns, kinds, nested } = &table.header;
        let column = |c: &Column| StoredColumn {
            id: c.id.clone(),
            title: c.title.clone(),
            of_program: c.of_program,
            kind: c.kind.into(),
            explanation: c.explanation.clone(),
        };
        let kind = |k: &RowKind| (k.id.clone(), k.explanation.clone(), k.sentence.clone());
        let row = |r: &Row| (r.kind, r.depth, r.cells.iter().map(StoredCell::from).collect());
        StoredTable {
            id: id.clone(),
            title: title.clone(),
            columns: columns.iter().map(column).collect(),
            kinds: kinds.iter().map(kind).collect(),
            nested: *nested,
            rows: table.rows.iter().map(row).collect(),
            left_out: table.left_out.clone(),
            empty_text: table.empty_text.clone(),
        }
    }

    fn table(self) -> Option<ResultTable> {
        let columns: Vec<Column> = self
            .columns
            .into_iter()
            .map(|c| Column { of_program: c.of_program, ..Column::new(c.id, c.title, c.kind.into(), c.explanation) })
            .collect();
        let kind = |(id, explanation, sentence)| RowKind { id, explanation, sentence };
        let kinds: Vec<RowKind> = self.kinds.into_iter().map(kind).collect();
        let fits = |(kind, _, cells): &(usize, u32, Vec<StoredCell>)| {
            cells.len() == columns.len() && (kinds.is_empty() || *kind < kinds.len())
        };
        if !self.rows.iter().all(fits) {
            return None;
        }
        let row = |(kind, depth, cells): (usize, u32, Vec<StoredCell>)| Row {
            kind,
            depth,
            cells: cells.into_iter().map(Cell::from).collect(),
        };
        let rows = self.rows.into_iter().map(row).collect();
        let header = TableHeader { id: self.id, title: self.title, columns, kinds, nested: self.nested };
        Some(ResultTable { header, rows, left_out: self.left_out, empty_text: self.empty_text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::{Certainty, Evidence, EvidenceUnit, FoundPlace, NextStep};

    #[test]
    fn findings_are_read_as_they_were_written() {
        let units = [Unit::Objects, Unit::Bytes, Unit::Count, Unit::Millis];
        let cells = [
            (CellKind::Text, Cell::Text("a".into())),
            (CellKind::Percent, Cell::Percent(f64::INFINITY)),
            (CellKind::Time, Cell::Time(7)),
            (CellKind::Uptime, Cell::Empty),
            (CellKind::Node, Cell::Node(NodeLink { key: "Heap#a".into(), name: "a".into(), path: "Heap › a".into() })),
        ]
        .into_iter()
        .chain(units.into_iter().flat_map(|unit| {
            [
                (CellKind::Number(unit), Cell::Number(u64::MAX)),
                (CellKind::Change(unit), Cell::Change(i64::MIN)),
                (CellKind::Series(unit), Cell::Series(vec![1, 2])),
            ]
        }));
        let (kinds, cells): (Vec<CellKind>, Vec<Cell>) = cells.unzip();
        let header = TableHeader {
            id: "t".into(),
            title: "T".into(),
            columns: kinds.iter().map(|&kind| Column::new("c", "C", kind, "what")).collect(),
            kinds: vec![RowKind { id: "k".into(), explanation: "e".into(), sentence: "{c}".into() }],
            nested: true,
        };
        let rows = vec![Row { kind: 0, depth: 3, cells }];
        let table = ResultTable { header, rows, left_out: Some((2, "x".into())), empty_text: "none".into() };
        let path = vec!["thread main".into(), "orders: java.util.ArrayList".into()];
        let found = Finding {
            details: vec!["a".into()],
            place: Some(FoundPlace { path, ..FoundPlace::default() }),
            evidence: vec![Evidence { id: "share".into(), value: 0.1, unit: EvidenceUnit::Percent }],
            since: Some((2, 3)),
            certainty: Certainty::Estimated,
            next: NextStep::with("paths", "group", "a"),
            ..Finding::default()
        };
        let findings = Findings {
            title: Some("title".into()),
            answers: vec!["yes".into()],
            tables: vec![table],
            found: vec![found],
            notes: vec!["note".into()],
            verdict: Some(LeakVerdict::not_judged("why")),
            warnings: Vec::new(),
        };
        let stored = StoredFindings::of(&findings).expect("no warnings");
        assert_eq!(stored.findings().as_ref(), Some(&findings));
        let mut wrong = StoredFindings::of(&findings).expect("no warnings");
        wrong.tables[0].rows[0].2.pop();
        assert!(wrong.findings().is_none(), "a cell is missing");
        let mut wrong = StoredFindings::of(&findings).expect("no warnings");
        wrong.tables[0].rows[0].0 = 1;
        assert!(wrong.findings().is_none(), "there is no such kind of row");
    }
}
