//! Analysis `dominators`: the dominator tree from the roots or one object down, with the objects that each alone keeps alive.

use super::object_rows::OwnerRows;
use super::objects::{address_text, history, object};
use super::paths::{rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, Parameter, ParameterKind, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, RowKind, TableHeader};
use crate::timeline::{Amount, Source, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(DominatorTree)
}

struct DominatorTree;

const OBJECT: usize = 0;
const TYPE: usize = 1;
const LEFT_OUT: usize = 2;

impl Analysis for DominatorTree {
    fn describe(&self) -> Description {
        let number = Parameter::number;
        Description {
            id: "dominators",
            title: "Dominator tree",
            explanation: "What an object alone keeps alive at the last point in time, and what these do, down to some \
                depth; from the GC roots or one object on; those that retain most first, one by one or by type.",
            needs: &[Need::Objects],
            parameters: vec![
                Parameter {
                    id: "object",
                    title: "Object",
                    explanation: "The address of the object to begin at, such as 0x7f00a8; the GC roots where it is empty",
                    kind: ParameterKind::Text { default: "" },
                },
                Parameter {
                    id: "by",
                    title: "By",
                    explanation: "object: one by one; type: those of one type that the same object owns together",
                    kind: ParameterKind::Choice { default: "object", choices: &["object", "type"] },
                },
                number("top", "Rows", "How many are listed below each; the others are counted", 10, 1, 100_000),
                number("depth", "Depth", "How many levels are unfolded; by type always one", 2, 1, 100),
                number("most", "All rows", "How many rows are listed in all", 1_000, 1, 1_000_000),
                soft_parameter(),
            ],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let (heap, dominators) = history(document)?.dominators(window.to, rules(arguments), progress)?;
        let start = match arguments.word("object").trim() {
            "" => None,
            text => Some(object(&heap, text)?),
        };
        let mut writer = TreeRows {
            heap: &heap,
            dominators: &dominators,
            objects: OwnerRows::new(&heap, &dominators),
            top: arguments.count("top"),
            rows: Vec::new(),
        };
        progress.check()?;
        let left_out = match arguments.word("by") {
            "type" => {
                writer.by_type(start);
                None
            }
            _ => writer.unfold(start, arguments.count("depth") as u32, arguments.count("most"), progress)?,
        };
        let header = TableHeader {
            id: "dominators".into(),
            title: match start {
                Some(o) => format!("What {} alone keeps alive", address_text(&heap, o)),
                None => "Dominator tree, from the GC roots".into(),
            },
            columns: columns(),
            kinds: kinds(),
            nested: true,
        };
        let empty_text = "It alone keeps nothing else alive.".to_owned();
        let table = ResultTable { header, rows: writer.rows, left_out, empty_text };
        Ok(Findings { tables: vec![table], ..Findings::default() })
    }
}

fn columns() -> Vec<Column> {
    let (bytes, objects) = (CellKind::Number(Unit::Bytes), CellKind::Number(Unit::Objects));
    let mut columns = OwnerRows::name_columns().to_vec();
    columns.push(Column::new("objects", "Objects", objects, "How many objects the row stands for"));
    columns.extend(OwnerRows::retained_columns("What would be freed if they were, themselves included"));
    columns.push(Column::new("bytes", "Bytes", bytes, "Their shallow bytes"));
    columns
}

fn kinds() -> Vec<RowKind> {
    let kind = |id: &str, explanation: &str, sentence: &str| RowKind {
        id: id.into(),
        explanation: explanation.into(),
        sentence: sentence.into(),
    };
    vec![
        kind(
            "object",
            "An object that the one above alone keeps alive",
            "{type} {object}: retained {retained} ({share}), {retained_objects} objects",
        ),
        kind(
            "type",
            "Objects of one type that the one above alone keeps alive",
            "{type} x {objects}: retained {retained} ({share}), {retained_objects} objects",
        ),
        kind("left_out", "What is not listed", "and further ones: {objects}, retained {retained} ({share})"),
    ]
}

struct TreeRows<'a> {
    heap: &'a HeapState,
    dominators: &'a Dominators,
    objects: OwnerRows<'a>,
    top: usize,
    rows: Vec<Row>,
}

impl TreeRows<'_> {
    fn row(&mut self, kind: usize, depth: u32, names: [Cell; 2], objects: u64, retained: Amount, bytes: Cell) {
        let mut cells = names.to_vec();
        cells.push(Cell::Number(objects));
        cells.extend(self.objects.retained(retained));
        cells.push(bytes);
        self.rows.push(Row { kind, depth, cells });
    }

    /// The objects owned by an object, by type, the largest retained size first.
    fn by_type(&mut self, start: Option<ObjectId>) {
        let mut types: FxHashMap<TypeId, (u64, Amount, u64)> = FxHashMap::default();
        for o in self.dominators.owned(start) {
            let (objects, retained, bytes) = types.entry(self.heap.type_of(o)).or_default();
            *objects += 1;
            *retained += self.dominators.retained(o);
            *bytes += self.heap.size_of(o);
        }
        let mut types: Vec<(TypeId, (u64, Amount, u64))> = types.into_iter().collect();
        types.sort_by_key(|(t, (_, retained, _))| (std::cmp::Reverse(retained.bytes), *t));
        let rest = types.split_off(self.top.min(types.len()));
        for (t, (objects, retained, bytes)) in types {
            let name = Cell::Text(self.heap.types()[t.0 as usize].name.to_string());
            self.row(TYPE, 0, [name, Cell::Empty], objects, retained, Cell::Number(bytes));
        }
        let sum = rest.iter().fold((0, Amount::default()), |(objects, mut retained), (_, other)| {
            retained += other.1;
            (objects + other.0, retained)
        });
        if sum.0 > 0 {
            self.row(LEFT_OUT, 0, [Cell::Empty, Cell::Empty], sum.0, sum.1, Cell::Empty);
        }
    }

    /// The objects owned by an object, one by one, and in turn by these. Returns the amount that is left out because there are too many
    /// rows.
    fn unfold(
        &mut self,
        start: Option<ObjectId>,
        depth: u32,
        most: usize,
        progress: &Progress,
    ) -> Result<Option<(u64, String)>> {
        let mut open = self.level(start, 0);
        let mut dropped = 0u64;
        while let Some(entry) = open.pop() {
            progress.check()?;
            if self.rows.len() >= most {
                dropped += 1;
                continue;
            }
            match entry {
                TreeRow::Object(o, level) => {
                    let names = self.objects.names(o);
                    let retained = self.dominators.retained(o);
                    self.row(OBJECT, level, names, 1, retained, Cell::Number(self.heap.size_of(o)));
                    if level + 1 < depth {
                        open.extend(self.level(Some(o), level + 1));
                    }
                }
                TreeRow::Rest(objects, retained, level) => {
                    self.row(LEFT_OUT, level, [Cell::Empty, Cell::Empty], objects, retained, Cell::Empty);
                }
            }
        }
        Ok(Some((dropped, "rows: ask for fewer below each, or for more in all".to_owned())))
    }

    /// The rows below an object, the last first.
    fn level(&self, of: Option<ObjectId>, level: u32) -> Vec<TreeRow> {
        let mut owned = self.dominators.owned(of);
        let mut entries: Vec<TreeRow> = owned.by_ref().take(self.top).map(|o| TreeRow::Object(o, level)).collect();
        let listed = entries.iter().fold(Amount::default(), |mut sum, entry| {
            if let TreeRow::Object(o, _) = entry {
                sum += self.dominators.retained(*o);
            }
            sum
        });
        let more = self.dominators.owned_count(of) - entries.len() as u64;
        if more > 0 {
            // All that it retains but itself and what is listed.
            let (all, own) = match of {
                Some(o) => (self.dominators.retained(o), Amount { objects: 1, bytes: self.heap.size_of(o) }),
                None => (self.dominators.total(), Amount::default()),
            };
            let rest = Amount {
                objects: all.objects.saturating_sub(own.objects + listed.objects),
                bytes: all.bytes.saturating_sub(own.bytes + listed.bytes),
            };
            entries.push(TreeRow::Rest(more, rest, level));
        }
        entries.reverse();
        entries
    }
}

/// A row to come.
enum TreeRow {
    Object(ObjectId, u32),
    /// The number of unlisted objects, and their retained amount.
    Rest(u64, Amount, u32),
}
