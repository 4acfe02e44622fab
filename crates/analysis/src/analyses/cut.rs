//! Analysis `cut`: the objects that would be freed without a reference, a field or a root.

use super::interface::{Analysis, Description, Findings, Need};
use super::objects::{history, object};
use super::parameters::{Arguments, Parameter, ParameterKind};
use super::paths::{rules, soft_parameter};
use crate::ownership::Freed;
use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Amount, History, NodeId, Source, TimeWindow, Unit};
use memory_city_formats::values::{FieldValue, HeapValues, ObjectRecord};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{CutSet, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, RootKind, TypeId};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(CutIt)
}

struct CutIt;

impl Analysis for CutIt {
    fn describe(&self) -> Description {
        Description {
            id: "cut",
            title: "Cut",
            explanation: "What would be freed at the last point in time, exactly, by type and by group, if references or GC roots were \
                not there.",
            needs: &[Need::Objects],
            parameters: vec![
                Parameter {
                    id: "cut",
                    title: "Cut",
                    explanation: "What is thought away: all references from one object to another (`0x7f00a8 -> 0x7f0100`), \
                        a field (`com.acme.Cache.entries`: static, or of all instances of the class and its subclasses), or \
                        a root as reports name it (`Local variable: thread \"main\", com.acme.Main.run() line 12`)",
                    kind: ParameterKind::Text { default: "" },
                },
                Parameter {
                    id: "top",
                    title: "Rows",
                    explanation: "How many types and groups are listed, those with most bytes first",
                    kind: ParameterKind::Number { default: 20, least: 1, most: 1_000_000 },
                },
                soft_parameter(),
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
        let history = history(document)?;
        let rules = rules(arguments);
        let text = arguments.word("cut").trim();
        let top = arguments.count("top");
        if text.is_empty() {
            let freed = Freed::without(history, window.to, &CutSet::new(), rules, progress)?;
            let mut nothing = findings(document, &freed, "anything", top);
            nothing.notes = vec!["Say what is cut: a reference, a field or a root.".to_owned()];
            return Ok(nothing);
        }
        let (cut, what) = named_cut(history, window.to, rules, text, progress)?;
        let freed = Freed::without(history, window.to, &cut, rules, progress)?;
        Ok(findings(document, &freed, &what, top))
    }
}

/// Parses the name of a reference, a field or a root as the analysis `cut` takes it, at a point in time. Returns the cut, and its name for
/// people.
///
/// # Errors
/// When it names nothing, the input cannot be read again, or the work was cancelled.
pub fn named_cut(
    history: &History,
    time: usize,
    rules: KeepRules,
    text: &str,
    progress: &Progress,
) -> Result<(CutSet, String)> {
    let heap = history.heap(time, progress)?;
    match text.split_once("->") {
        Some((from, to)) if !text.contains('"') => {
            let (from, to) = (object(&heap, from)?, object(&heap, to)?);
            between(&heap, from, to, text)
        }
        _ => match of_root(&heap, text) {
            Some(found) => Ok(found),
            None => of_field(&heap, history.values(time, progress)?.as_ref(), rules, text, progress),
        },
    }
}

fn nothing(what: String) -> Error {
    Error::Unusable {
        what,
        remedy:
            "Give two addresses with -> between them, a class with a field (com.acme.Cache.entries), or a root as the \
                 analyses growth and paths name it"
                .into(),
    }
}

/// All references from one object to another, and a text about them.
fn between(heap: &HeapState, from: ObjectId, to: ObjectId, text: &str) -> Result<(CutSet, String)> {
    let count = heap.references(from).iter().filter(|&&target| target == to).count();
    if count == 0 {
        return Err(nothing(format!("{text}: the first object does not refer to the second")));
    }
    let mut cut = CutSet::new();
    cut.references(from, to);
    Ok((cut, format!("{count} references")))
}

/// The roots of a text, but for static fields that are references of class objects.
fn of_root(heap: &HeapState, text: &str) -> Option<(CutSet, String)> {
    let mut cut = CutSet::new();
    let mut count = 0u64;
    for (number, root) in (0u32..).zip(heap.roots()) {
        let is_root = root.kind != RootKind::StaticField || !heap.has_class_objects();
        if is_root && (root.detail == text || root.text() == text) {
            cut.root(number);
            count += 1;
        }
    }
    (count > 0).then(|| (cut, format!("{} roots", count_text(count))))
}

/// The references by a field, static or of all instances.
fn of_field(
    heap: &HeapState,
    values: Option<&HeapValues>,
    rules: KeepRules,
    text: &str,
    progress: &Progress,
) -> Result<(CutSet, String)> {
    let of_static = format!("{}: ", RootKind::StaticField.title());
    let text = text.strip_prefix(&of_static).unwrap_or(text);
    let unknown = || nothing(format!("There is no root and no field {text} that refers to anything"));
    let (class, field) = text.rsplit_once('.').ok_or_else(unknown)?;
    let Some(values) = values else {
        return of_named_static(heap, class, text).ok_or_else(|| {
            nothing(format!(
                "{text}: no root and no static field of that name holds anything, and the input does not say what fields of \
                 objects hold"
            ))
        });
    };
    let found = field_references(heap, values, rules, (class, field), progress)?.references;
    if found.is_empty() {
        return Err(unknown());
    }
    let mut cut = CutSet::new();
    found.iter().for_each(|&(from, to)| cut.reference(from, to));
    Ok((cut, format!("{} references", count_text(found.len() as u64))))
}

/// The references in a field, static or of all instances of a class and its subclasses; the class declares or inherits it.
pub(super) struct FieldReferences {
    /// Pairs of referring object and target; empty fields have none.
    pub references: Vec<(ObjectId, ObjectId)>,
    /// True if the class or any of its objects has such a field.
    pub is_there: bool,
}

/// Finds the references in a field. Reads the objects of the class.
///
/// # Errors
/// When the input cannot be read again, or the work was cancelled.
pub(super) fn field_references(
    heap: &HeapState,
    values: &HeapValues,
    rules: KeepRules,
    (class, field): (&str, &str),
    progress: &Progress,
) -> Result<FieldReferences> {
    let types = heap.types();
    let is_class: Vec<bool> = types.iter().map(|t| *t.name == *class).collect();
    let mut wanted = BitSet::new(heap.object_count());
    (0..types.len() as u32).map(TypeId).filter(|t| is_class[t.0 as usize]).for_each(|t| {
        if let Some(class) = heap.mirror_of(t) {
            wanted.insert(class.0);
        }
    });
    let mut is_above = vec![false; types.len()];
    for t in (0..types.len()).filter(|&t| is_class[t]) {
        heap.supertypes(TypeId(t as u32)).skip(1).for_each(|above| is_above[above.0 as usize] = true);
    }
    let inherits: Vec<bool> = (0..types.len()).map(|t| inherits(heap, &is_class, t)).collect();
    for o in heap.objects().filter(|&o| inherits[heap.type_of(o).0 as usize]) {
        wanted.insert(o.0);
    }
    let (found, has_field) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let visit = |from: ObjectId, record: &ObjectRecord<'_>| {
        let mut here = Vec::new();
        match record {
            ObjectRecord::Instance(fields) => {
                let named = |of: &[bool]| fields.iter().any(|f| of[f.class.0 as usize] && **f.name == *field);
                // Chains name a field by the class of the object that has it, which may inherit it.
                let declared = if named(&is_class) { &is_class } else { &is_above };
                let of_class = fields.iter().filter(|f| declared[f.class.0 as usize] && **f.name == *field);
                let of_class = of_class.inspect(|_| has_field.store(true, Ordering::Relaxed));
                here.extend(of_class.filter_map(|f| target(f.value)).filter(|&to| keeps(heap, rules, field, from, to)));
            }
            ObjectRecord::Class(statics) => {
                let named = statics.statics.iter().filter(|(name, _)| **name == *field);
                let named = named.inspect(|_| has_field.store(true, Ordering::Relaxed));
                here.extend(named.filter_map(|(_, value)| target(*value)));
            }
            ObjectRecord::ObjectArray(_) | ObjectRecord::PrimitiveArray(_) => {}
        }
        if !here.is_empty() {
            let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
            found.extend(here.into_iter().map(|to| (from, to)));
        }
    };
    values.scan(Some(&wanted), &visit, progress)?;
    let references = found.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(FieldReferences { references, is_there: has_field.into_inner() })
}

/// A static field in an input without field values, such as a recording. The roots of that name hold its target, and classes of that name
/// refer to it, once for each field that does.
fn of_named_static(heap: &HeapState, class: &str, text: &str) -> Option<(CutSet, String)> {
    let named = heap.roots().iter().filter(|root| root.kind == RootKind::StaticField && root.detail == text);
    let held: BTreeSet<ObjectId> = named.map(|root| root.object).collect();
    let of_class = (0..).map(TypeId).zip(heap.types()).filter(|(_, of)| *of.name == *class);
    let classes: BTreeSet<ObjectId> = of_class.filter_map(|(t, _)| heap.mirror_of(t)).collect();
    let mut cut = CutSet::new();
    let mut count = 0u64;
    for &from in &classes {
        for &to in held.iter().filter(|to| heap.references(from).contains(to)) {
            cut.reference(from, to);
            count += 1;
        }
    }
    (count > 0).then(|| (cut, format!("{} references", count_text(count))))
}

fn target(value: FieldValue) -> Option<ObjectId> {
    match value {
        FieldValue::Object(to) => Some(to),
        _ => None,
    }
}

/// Whether the field is no referent that keeps nothing: then another field to the same object would be cut in its place.
fn keeps(heap: &HeapState, rules: KeepRules, field: &str, from: ObjectId, to: ObjectId) -> bool {
    let mut referents = heap.referents().of(from).iter().filter(|r| r.to == to && field == "referent");
    referents.all(|r| rules.keeps(r.strength))
}

/// True if a type is one of the wanted ones, or below one.
fn inherits(heap: &HeapState, wanted: &[bool], t: usize) -> bool {
    heap.supertypes(TypeId(t as u32)).any(|t| wanted[t.0 as usize])
}

fn findings(document: &Source, freed: &Freed, what: &str, top: usize) -> Findings {
    let heap = &*freed.heap;
    let mut by_type: Vec<Amount> = vec![Amount::default(); heap.types().len()];
    for o in freed.objects.iter().map(ObjectId) {
        by_type[heap.type_of(o).0 as usize] += Amount { objects: 1, bytes: heap.size_of(o) };
    }
    let mut types: Vec<usize> = (0..by_type.len()).filter(|&t| by_type[t].objects > 0).collect();
    let name = |t: usize| &heap.types()[t].name;
    types.sort_by(|&a, &b| {
        let size = |t: usize| (by_type[t].bytes, by_type[t].objects);
        size(b).cmp(&size(a)).then_with(|| name(a).cmp(name(b)))
    });
    let all = freed.total.bytes;
    let columns = |what: &str, title: &str, kind, explanation: &str| {
        vec![
            Column::new(what, title, kind, explanation),
            Column::new("objects", "Objects", CellKind::Number(Unit::Objects), "How many"),
            Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
            Column::new("share", "Share", CellKind::Percent, "Of all bytes that would be freed"),
        ]
    };
    let cells = |name: Cell, amount: Amount| {
        let share = if all == 0 { Cell::Empty } else { Cell::Percent(100.0 * amount.bytes as f64 / all as f64) };
        vec![name, Cell::Number(amount.objects), Cell::Number(amount.bytes), share]
    };
    let by_type = types
        .iter()
        .take(top)
        .map(|&t| Row { cells: cells(Cell::Text(name(t).to_string()), by_type[t]), ..Row::default() });
    let timeline = document.timeline();
    let listed: Vec<NodeId> = freed.groups.iter().take(top).map(|(node, _)| *node).collect();
    let by_group = freed.groups.iter().zip(timeline.names_apart(&listed)).map(|(&(node, amount), name)| Row {
        cells: cells(Cell::Node(NodeLink { name, ..NodeLink::new(timeline, node) }), amount),
        ..Row::default()
    });
    let table = |id: &str, title: String, columns, rows: Vec<Row>, all: usize, what: &str| ResultTable {
        header: TableHeader { id: id.into(), title, columns, ..TableHeader::default() },
        left_out: Some(((all - rows.len()) as u64, what.to_owned())),
        rows,
        empty_text: "Nothing: whatever is cut, something else keeps it all.".into(),
    };
    let types = table(
        "freed",
        "What would be freed".into(),
        columns("type", "Type", CellKind::Text, "Type of objects that would be freed"),
        by_type.collect(),
        types.len(),
        "types",
    );
    let groups = table(
        "freed_groups",
        format!("What would be freed, grouped by {}", document.grouping_id()),
        columns(
            "group",
            "Group",
            CellKind::Node,
            "The group of objects that would be freed; what is in several is in each",
        ),
        by_group.collect(),
        freed.groups.len(),
        "groups",
    );
    let (objects, bytes) = (count_text(freed.total.objects), bytes_text(all));
    let note = format!("Without {what}: {objects} objects, {bytes} would be freed.");
    Findings { tables: vec![types, groups], notes: vec![note], ..Findings::default() }
}
