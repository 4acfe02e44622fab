//! The tables and sentences about growing structures.

use super::JudgedStructure;
use crate::structures::{ChangedPart, FollowedKey, HeadFollowing, StructureGrowth, StructuresApart, change};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::Unit;
use memory_city_heap::Amount;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const SHARE: &str = "Of what the whole heap grew by; where it shrank, of that";

/// What GC roots keep at both times.
#[derive(Clone, Copy)]
pub(super) struct HeapGrowth(pub [Amount; 2]);

impl HeapGrowth {
    /// A change as a share of that of the heap.
    fn share(self, ends: [u64; 2]) -> Cell {
        match change(self.0.map(|heap| heap.bytes)) {
            0 => Cell::Empty,
            all => Cell::Percent(100.0 * change(ends) as f64 / all.unsigned_abs() as f64),
        }
    }

    /// The growth of the heap, in a sentence.
    pub fn text(self, ends: [&str; 2]) -> String {
        let [before, after] = self.0;
        let bytes = change([before.bytes, after.bytes]);
        let objects = Cell::Change(change([before.objects, after.objects])).text(CellKind::Change(Unit::Objects));
        let what = if bytes < 0 { "shrank" } else { "grew" };
        let of = bytes_text(bytes.unsigned_abs());
        format!("From {} to {}, the heap {what} by {of} ({objects} objects).", ends[0], ends[1])
    }
}

/// A structure that is listed.
pub(super) struct NamedStructure<'a> {
    pub of: &'a JudgedStructure,
    pub name: String,
    pub address: String,
    /// What keeps it alive.
    pub owners: String,
}

/// Ids, titles and explanations of the sizes, in the order of [`NamedStructure::sizes`].
const SIZES: [(&str, &str, &str); 4] = [
    ("retained", "Retained", "What it alone keeps alive"),
    ("structure", "Structure", "The structure itself: head, parts and contents"),
    ("deep_structure", "Deep structure", "The same with the structures inside"),
    ("deep", "Deep", "All that is reached from it"),
];

impl NamedStructure<'_> {
    fn sizes(&self) -> [[Amount; 2]; 4] {
        let JudgedStructure { growth, sizes, .. } = self.of;
        [growth.retained, sizes.map(|s| s.structure), sizes.map(|s| s.deep_structure), sizes.map(|s| s.deep)]
    }

    /// How it changes, and the next step.
    pub fn text(&self, scale: HeapGrowth) -> [String; 2] {
        let JudgedStructure { growth, sizes, pattern } = self.of;
        let (what, ends) = match pattern.is_shared {
            true if pattern.what == ChangedPart::Data => ("it reaches", sizes.map(|s| s.deep)),
            true => ("it has", sizes.map(|s| s.deep_structure)),
            false => ("it alone keeps", growth.retained),
        };
        let bytes = ends.map(|end| end.bytes);
        let by = Cell::Change(change(bytes)).text(CellKind::Change(Unit::Bytes));
        let share = match scale.share(bytes) {
            Cell::Percent(percent) => format!(" ({percent:.1} % of the heap's change)"),
            _ => String::new(),
        };
        let elements = match growth.elements {
            [Some(before), Some(after)] => format!(", {} -> {} elements", count_text(before), count_text(after)),
            _ => String::new(),
        };
        let first = format!("{}, kept by {}: {what} {by}{share}{elements}.", self.name, self.owners);
        [first, format!("  {}: {}", pattern.text(), pattern.next_step())]
    }
}

/// The structures in the given order.
pub(super) fn growing_table(
    listed: &[NamedStructure<'_>],
    by_place: bool,
    scale: HeapGrowth,
    left_out: u64,
) -> ResultTable {
    let row = |named: &NamedStructure<'_>| {
        let JudgedStructure { growth, pattern, .. } = named.of;
        let mut cells = vec![Cell::Text(named.name.clone())];
        match by_place {
            true => cells.extend(growth.structures.map(Cell::Number)),
            false => cells.push(Cell::Text(named.address.clone())),
        }
        cells.push(Cell::Text(pattern.text().to_owned()));
        cells.extend(growth.elements.map(|n| n.map_or(Cell::Empty, Cell::Number)));
        cells.push(Cell::Change(growth.at_home));
        for ends in named.sizes() {
            let (objects, bytes) = (ends.map(|end| end.objects), ends.map(|end| end.bytes));
            cells.extend([Cell::Change(change(bytes)), scale.share(bytes), Cell::Change(change(objects))]);
        }
        cells.push(Cell::Text(named.owners.clone()));
        Row { cells, ..Row::default() }
    };
    let rows = listed.iter().map(row).collect();
    let (id, title) = ("growing".into(), "Growing data structures".into());
    let header = TableHeader { id, title, columns: columns(by_place), ..TableHeader::default() };
    let left_out = Some((left_out, "structures that change less".to_owned()));
    ResultTable { header, rows, left_out, empty_text: "No data structure is there at both times.".to_owned() }
}

fn columns(by_place: bool) -> Vec<Column> {
    let (count, objects) = (CellKind::Number(Unit::Count), CellKind::Number(Unit::Objects));
    let mut columns = vec![Column::new("type", "Type", CellKind::Text, "Type of the head")];
    match by_place {
        true => columns.extend([
            Column::new("structures_before", "Structures before", objects, "How many its place had at the first time"),
            Column::new("structures", "Structures", objects, "How many it has at the last"),
        ]),
        false => columns.push(Column::new("object", "Object", CellKind::Text, "Its address at the last time")),
    }
    columns.extend([
        Column::new("pattern", "Pattern", CellKind::Text, "How it grows, or shrinks"),
        Column::new(
            "elements_before",
            "Elements before",
            count,
            "At the first time; empty where nothing says how many",
        ),
        Column::new("elements", "Elements", count, "At the last time"),
        Column::new(
            "at_home",
            "At home",
            CellKind::Change(Unit::Bytes),
            "Change of what it alone keeps, without the structures inside it that are followed themselves",
        ),
    ]);
    for (id, title, explanation) in SIZES {
        columns.extend([
            Column::new(id, title, CellKind::Change(Unit::Bytes), format!("Change: {explanation}")),
            Column::new(format!("{id}_share"), format!("{title}, share"), CellKind::Percent, SHARE),
            Column::new(
                format!("{id}_objects"),
                format!("{title}, objects"),
                CellKind::Change(Unit::Objects),
                "Change in objects",
            ),
        ]);
    }
    columns.push(Column::new(
        "owners",
        "Owners",
        CellKind::Text,
        "What alone keeps it alive, upwards; at last the root",
    ));
    columns
}

/// The contents of a structure at two times.
#[derive(Default)]
pub(super) struct StructureContents {
    /// By type and allocation site.
    pub groups: BTreeMap<(String, String), [Amount; 2]>,
    /// Whether sites are known at all.
    pub have_sites: bool,
}

impl StructureContents {
    /// As a table, what changes most first.
    pub fn table(self, of: &str, scale: HeapGrowth, top: usize) -> ResultTable {
        let StructureContents { groups, have_sites } = self;
        let mut sorted: Vec<_> = groups.into_iter().collect();
        let weight = |ends: &[Amount; 2]| change(ends.map(|end| end.bytes)).unsigned_abs();
        sorted.sort_by(|a, b| weight(&b.1).cmp(&weight(&a.1)).then_with(|| a.0.cmp(&b.0)));
        let left_out = sorted.len().saturating_sub(top) as u64;
        sorted.truncate(top);
        let row = |((name, site), ends): ((String, String), [Amount; 2])| {
            let mut cells = vec![Cell::Text(name)];
            if have_sites {
                cells.push(Cell::Text(site));
            }
            let (objects, bytes) = (ends.map(|end| end.objects), ends.map(|end| end.bytes));
            cells.extend(objects.map(Cell::Number));
            cells.push(Cell::Change(change(objects)));
            cells.extend(bytes.map(Cell::Number));
            cells.extend([Cell::Change(change(bytes)), scale.share(bytes)]);
            Row { cells, ..Row::default() }
        };
        let (count, size) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
        let mut columns = vec![Column::new("type", "Type", CellKind::Text, "Type of the contents")];
        if have_sites {
            columns.push(Column::new("site", "Allocation site", CellKind::Text, "Where they were allocated"));
        }
        columns.extend([
            Column::new("objects_before", "Before", count, "How many there were at the first point in time"),
            Column::new("objects", "After", count, "How many there are at the last"),
            Column::new("objects_change", "Change", CellKind::Change(Unit::Objects), "The second minus the first"),
            Column::new("bytes_before", "Bytes before", size, "Their shallow bytes at the first point in time"),
            Column::new("bytes", "Bytes after", size, "Their shallow bytes at the last"),
            Column::new("bytes_change", "Change of bytes", CellKind::Change(Unit::Bytes), "The second minus the first"),
            Column::new("share", "Share", CellKind::Percent, SHARE),
        ]);
        let rows = sorted.into_iter().map(row).collect();
        let title = format!("Contents of {of}, structures inside it included");
        let header = TableHeader { id: "contents".into(), title, columns, ..TableHeader::default() };
        let left_out = Some((left_out, "types that change less".to_owned()));
        ResultTable { header, rows, left_out, empty_text: "It is empty at both times.".into() }
    }
}

/// How many structures, and how many bytes they alone keep.
fn sum(apart: &FxHashMap<FollowedKey, StructuresApart>) -> (String, String) {
    let structures = count_text(apart.values().map(|of| of.structures).sum());
    (structures, bytes_text(apart.values().fold(0u64, |sum, of| sum.saturating_add(of.bytes))))
}

/// The structures of the last time that the first does not have, by type.
pub(super) fn new_structures(
    new: &FxHashMap<FollowedKey, StructuresApart>,
    name: impl Fn(FollowedKey) -> Option<String>,
    top: usize,
) -> ResultTable {
    let mut by_type: BTreeMap<String, StructuresApart> = BTreeMap::new();
    for (&key, of) in new {
        let Some(name) = name(key) else { continue };
        let sum = by_type.entry(name).or_default();
        sum.structures += of.structures;
        sum.bytes = sum.bytes.saturating_add(of.bytes);
    }
    let mut sorted: Vec<_> = by_type.into_iter().collect();
    sorted.sort_by_key(|(_, of)| (Reverse(of.bytes), Reverse(of.structures)));
    let left_out = sorted.len().saturating_sub(top) as u64;
    sorted.truncate(top);
    let row = |(name, of): (String, StructuresApart)| Row {
        cells: vec![Cell::Text(name), Cell::Number(of.structures), Cell::Number(of.bytes)],
        ..Row::default()
    };
    let columns = vec![
        Column::new("type", "Type", CellKind::Text, "Type of the head"),
        Column::new("count", "New", CellKind::Number(Unit::Objects), "How many are new"),
        Column::new(
            "retained",
            "Retained",
            CellKind::Number(Unit::Bytes),
            "What they alone keep, without new structures inside them",
        ),
    ];
    let header =
        TableHeader { id: "new".into(), title: "New data structures".into(), columns, ..TableHeader::default() };
    ResultTable {
        header,
        rows: sorted.into_iter().map(row).collect(),
        left_out: Some((left_out, "types of structures that keep less".to_owned())),
        empty_text: "None is new.".into(),
    }
}

/// How many structures came and went, in a sentence each.
pub(super) fn apart_text(
    new: &FxHashMap<FollowedKey, StructuresApart>,
    gone: &FxHashMap<FollowedKey, StructuresApart>,
) -> String {
    if new.is_empty() && gone.is_empty() {
        return "No structure is new or gone.".to_owned();
    }
    let [(new, keep), (gone, kept)] = [new, gone].map(sum);
    format!("{new} structures are new: they alone keep {keep}. {gone} are gone, which alone kept {kept}.")
}

/// How structures were followed, and how many, in a sentence or two.
pub(super) fn following_text(following: &HeadFollowing, all: &[StructureGrowth]) -> String {
    let n = count_text(all.iter().map(|of| of.structures[0].min(of.structures[1])).sum());
    match following {
        HeadFollowing::Identity { unknown: 0 } => format!("{n} structures are there at both times, by identity."),
        HeadFollowing::Identity { unknown } => format!(
            "{n} structures are there at both times, by identity. {} have none in this input, and count as new or gone.",
            count_text(*unknown)
        ),
        HeadFollowing::Place(_) => format!(
            "{n} structures are there at both times, by owner, field and type: this input gives objects no identity. Of \
             several in one place, an average one is compared."
        ),
    }
}
