//! The graph as one table for spreadsheets, a row for each box, arrow and kind of roots.

use super::{GroupGraph, HeldOver};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, RowKind, TableHeader};
use crate::timeline::{Timeline, Unit};

/// Places of the kinds of rows.
const BOX: usize = 0;
const ARROW: usize = 1;
const ROOT: usize = 2;

impl GroupGraph {
    /// All of it. Boxes are numbered from 1; `held` fills the last column, where it was found.
    pub fn table(&self, timeline: &Timeline, held: Option<&HeldOver>) -> ResultTable {
        let count = CellKind::Number(Unit::Count);
        let objects = CellKind::Number(Unit::Objects);
        let columns = vec![
            Column::new("box", "Box", count, "The number of the box; of an arrow the box that refers"),
            Column::new("name", "Name", CellKind::Text, "The group of its objects; of roots their kind"),
            Column::new("key", "Key", CellKind::Text, "The keys of its groups"),
            Column::new("to", "To box", count, "The box that is referred to, or held by a root"),
            Column::new("to_name", "To", CellKind::Text, "Its group"),
            Column::new(
                "step",
                "Step",
                CellKind::Change(Unit::Count),
                "Steps from the selection: below 0 what refers to it",
            ),
            Column::new("objects", "Objects", objects, "Objects in the box; of roots how many they hold"),
            Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
            Column::new("referencing", "Referencing", objects, "How many objects refer"),
            Column::new("referenced", "Referenced", objects, "How many objects are referred to"),
            Column::new(
                "references",
                "References",
                count,
                "References of an arrow; of a box those within it; of roots how many roots",
            ),
            Column::new(
                "held",
                "Held",
                objects,
                "How many objects of the box that ownership is asked for are held over it",
            ),
        ];
        let kind = |id: &str, explanation: &str| RowKind {
            id: id.into(),
            explanation: explanation.into(),
            sentence: String::new(),
        };
        let kinds = vec![
            kind("box", "Objects that share a group"),
            kind("arrow", "References from the objects of one box to those of another"),
            kind("root", "GC roots of one kind that hold objects of a box"),
        ];
        let number = |at: usize| Cell::Number(at as u64 + 1);
        let name = |at: usize| Cell::Text(self.boxes.get(at).map(|of| of.name.clone()).unwrap_or_default());
        let over = |counts: fn(&HeldOver) -> &[u64], at: usize| {
            held.and_then(|held| counts(held).get(at)).map_or(Cell::Empty, |&n| Cell::Number(n))
        };
        let boxes = self.boxes.iter().enumerate().map(|(at, of)| {
            let keys: Vec<String> = of.groups.iter().map(|&node| timeline.key(node)).collect();
            let cells = vec![
                number(at),
                Cell::Text(of.name.clone()),
                Cell::Text(keys.join(" + ")),
                Cell::Empty,
                Cell::Empty,
                Cell::Change(of.column.into()),
                Cell::Number(of.amount.objects),
                Cell::Number(of.amount.bytes),
                Cell::Empty,
                Cell::Empty,
                Cell::Number(of.internal),
                Cell::Empty,
            ];
            Row { kind: BOX, cells, ..Row::default() }
        });
        let arrows = self.arrows.iter().enumerate().map(|(at, of)| {
            let cells = vec![
                number(of.from),
                name(of.from),
                Cell::Empty,
                number(of.to),
                name(of.to),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Number(of.referencing),
                Cell::Number(of.referenced),
                Cell::Number(of.references),
                over(|held| &held.arrows, at),
            ];
            Row { kind: ARROW, cells, ..Row::default() }
        });
        let roots = self.roots.iter().enumerate().map(|(at, of)| {
            let cells = vec![
                Cell::Empty,
                Cell::Text(of.kind.clone()),
                Cell::Empty,
                number(of.held),
                name(of.held),
                Cell::Empty,
                of.objects.map_or(Cell::Empty, Cell::Number),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Number(of.roots),
                over(|held| &held.roots, at),
            ];
            Row { kind: ROOT, cells, ..Row::default() }
        });
        let header = TableHeader { id: "graph".into(), title: "Graph".into(), columns, kinds, nested: false };
        ResultTable {
            header,
            rows: boxes.chain(arrows).chain(roots).collect(),
            left_out: None,
            empty_text: "Nothing is selected.".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GraphArrow, GraphBox, GraphRoot};
    use super::*;
    use crate::timeline::Amount;

    #[test]
    fn every_box_arrow_and_root_is_a_row_and_the_sums_are_theirs() {
        let of = |name: &str, objects| GraphBox {
            groups: Vec::new(),
            name: name.into(),
            other: 0,
            is_selected: false,
            column: 0,
            amount: Amount { objects, bytes: 10 * objects },
            internal: 1,
            beyond: 0,
            before: 0,
        };
        let graph = GroupGraph {
            boxes: vec![of("A", 3), of("B", 4)],
            arrows: vec![GraphArrow { from: 0, to: 1, referencing: 2, referenced: 3, references: 5 }],
            roots: vec![GraphRoot { kind: "JNI".into(), held: 0, roots: 7, objects: Some(1), places: Vec::new() }],
        };
        let held = HeldOver { focus: 1, objects: 4, arrows: vec![4], roots: vec![2] };
        let timeline = Timeline::from_trees(Vec::new(), &[]);
        let table = graph.table(&timeline, Some(&held));
        assert!(table.rows.iter().all(|row| row.cells.len() == table.header.columns.len()));
        let sum = |id: &str, kind: usize| -> u64 {
            let at = table.header.column(id).expect(id);
            let numbers = table.rows.iter().filter(|row| row.kind == kind).map(|row| match row.cells[at] {
                Cell::Number(n) => n,
                _ => 0,
            });
            numbers.sum()
        };
        assert_eq!((sum("objects", BOX), sum("bytes", BOX), sum("references", ARROW)), (7, 70, 5));
        assert_eq!((sum("held", ARROW), sum("held", ROOT), sum("references", ROOT)), (4, 2, 7));
    }
}
