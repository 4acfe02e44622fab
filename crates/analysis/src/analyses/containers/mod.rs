//! Analysis of collections and maps: their number of elements, and their room for elements. [`reading`] reads them.

mod reading;

use super::objects::{Largest, address_text, group, group_parameter, history, text_cell, type_name, values};
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text, several};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::HeapValues;
use memory_city_heap::ObjectId;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use reading::{Container, Containers, load_factors, read};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(ContainerAnalysis)
}

struct ContainerAnalysis;

impl Analysis for ContainerAnalysis {
    fn describe(&self) -> Description {
        let number = |id, title, explanation, default, most| Parameter {
            id,
            title,
            explanation,
            kind: ParameterKind::Number { default, least: 0, most },
        };
        Description {
            id: "containers",
            title: "Collections and maps",
            explanation: "The collections and maps at the last point in time, as descriptions of data structures say: how \
                many elements they have, how much of their arrays is used, which are empty or sparse, and the bytes that \
                empty slots take.",
            needs: &[Need::Objects, Need::Values],
            parameters: vec![
                group_parameter("The key of the group whose collections are looked at; all where it is empty"),
                number(
                    "top",
                    "Rows",
                    "How many single collections are listed, those that waste most first",
                    20,
                    100_000,
                ),
                number(
                    "sparse",
                    "Sparse below",
                    "Percent of its slots: a collection that uses fewer is sparse",
                    25,
                    100,
                ),
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
        let node = group(document, arguments.word("group"))?;
        let values = values(document, window.to, progress)?;
        let heap = values.heap();
        if heap.lacks_references() {
            return Err(Error::Unusable {
                what: "The references were taken out of this dump: how many elements a collection has is not known"
                    .into(),
                remedy: "Use a dump from which texts alone were taken out, or one as the VM wrote it".into(),
            });
        }
        let Containers { mut all, uncounted } = read(&values, progress)?;
        // The same objects that the city shows.
        let set = history(document)?.objects_of(window.to, &[node], progress)?;
        all.retain(|c| set.objects.contains(c.object.0));
        let uncounted = uncounted.iter().filter(|o| set.objects.contains(o.0)).count() as u64;
        let sparse = arguments.number("sparse");
        let mut kinds: BTreeMap<&str, ContainerSum> = BTreeMap::new();
        let mut sizes: BTreeMap<u32, ContainerSum> = BTreeMap::new();
        let mut sum = ContainerSum::default();
        let mut worst = Largest::new(arguments.count("top"));
        for (i, container) in all.iter().enumerate() {
            progress.check()?;
            for into in [
                kinds.entry(type_name(heap, container.object)).or_default(),
                sizes.entry(size_class(container.size)).or_default(),
                &mut sum,
            ] {
                into.add(container, sparse);
            }
            if container.wasted > 0 {
                worst.add((container.wasted, Reverse(i)));
            }
        }
        let worst: Vec<Container> = worst.sorted().map(|(_, Reverse(i))| all[i]).collect();
        let wasting = all.iter().filter(|c| c.wasted > 0).count();
        let mut by_kind: Vec<_> = kinds.into_iter().collect();
        by_kind.sort_by_key(|(name, sum)| (Reverse(sum.wasted), Reverse(sum.bytes), *name));
        let tables = vec![
            sum_table(
                "kinds",
                "Collections by class",
                Column::new(
                    "type",
                    "Class",
                    CellKind::Text,
                    "The class; a set that is made of a map counts with its map",
                ),
                by_kind.into_iter().map(|(name, sum)| (name.to_owned(), sum)),
            ),
            worst_table(&values, &worst, (wasting - worst.len()) as u64, progress)?,
            sum_table(
                "sizes",
                "Collections by number of elements",
                Column::new("elements_range", "Elements each", CellKind::Text, "How many elements a collection has"),
                sizes.into_iter().map(|(class, sum)| (size_class_text(class), sum)),
            ),
        ];
        let redacted = heap.is_redacted().then(|| {
            "Values were taken out of this dump: where numbers are among them, elements are counted by references."
                .to_owned()
        });
        let notes = [
            format!(
                "{} collections and maps take {} with their arrays and entries, without elements: {} of it are empty slots of their arrays; {} \
                 collections are empty and take {}.",
                count_text(sum.count),
                bytes_text(sum.bytes),
                bytes_text(sum.wasted),
                count_text(sum.empty),
                bytes_text(sum.empty_bytes)
            ),
            "Parts that several share count with none of them. Hash tables have empty slots by design: a full one has about half of \
             its slots empty."
                .to_owned(),
        ];
        let uncounted = (uncounted > 0).then(|| {
            let more = several(uncounted, "more collection", "more collections");
            format!("{more}: neither a field nor the parts say how many elements there are.")
        });
        let notes = redacted.into_iter().chain(notes).chain(uncounted).collect();
        Ok(Findings { tables, notes, ..Findings::default() })
    }
}

/// 0, 1, 2 to 3, 4 to 7 and so on.
fn size_class(size: u64) -> u32 {
    u64::BITS - size.leading_zeros()
}

fn size_class_text(class: u32) -> String {
    match class {
        0 => "0".to_owned(),
        1 => "1".to_owned(),
        class => {
            let least = 1u64 << (class - 1);
            format!("{} to {}", count_text(least), count_text(least.saturating_mul(2).wrapping_sub(1)))
        }
    }
}

/// Sums over collections.
#[derive(Clone, Copy, Default)]
struct ContainerSum {
    count: u64,
    elements: u64,
    slots: u64,
    empty_slots: u64,
    empty: u64,
    empty_bytes: u64,
    sparse: u64,
    bytes: u64,
    wasted: u64,
}

impl ContainerSum {
    fn add(&mut self, c: &Container, sparse: u64) {
        self.count += 1;
        self.elements = self.elements.saturating_add(c.size);
        self.slots += c.slots;
        self.empty_slots += c.empty_slots;
        self.bytes += c.bytes;
        self.wasted += c.wasted;
        if c.is_empty() {
            self.empty += 1;
            self.empty_bytes += c.bytes;
        } else if (c.slots - c.empty_slots) * 100 < c.slots * sparse {
            self.sparse += 1;
        }
    }
}

fn percent_used(slots: u64, empty: u64) -> Cell {
    match slots {
        0 => Cell::Empty,
        slots => Cell::Percent(100.0 * (slots - empty) as f64 / slots as f64),
    }
}

fn sum_table(id: &str, title: &str, first: Column, rows: impl Iterator<Item = (String, ContainerSum)>) -> ResultTable {
    let (bytes, count) = (CellKind::Number(Unit::Bytes), CellKind::Number(Unit::Count));
    let columns = vec![
        first,
        Column::new("count", "Collections", CellKind::Number(Unit::Objects), "How many there are"),
        Column::new("elements", "Elements", count, "Elements, or entries of maps, in all of them"),
        Column::new("slots", "Slots", count, "Length of all their arrays; linked collections have none"),
        Column::new("used", "Used", CellKind::Percent, "Share of the slots that hold something"),
        Column::new("wasted", "Wasted", bytes, "Bytes of slots that hold nothing"),
        Column::new("empty", "Empty", count, "Collections without an element"),
        Column::new("empty_bytes", "Bytes of empty", bytes, "Bytes of those with their arrays"),
        Column::new(
            "sparse",
            "Sparse",
            count,
            "Collections that use a small part of their slots; empty ones not counted",
        ),
        Column::new(
            "bytes",
            "Bytes",
            bytes,
            "Bytes of the collections with their arrays and entries, without elements",
        ),
    ];
    let row = |(name, sum): (String, ContainerSum)| Row {
        cells: vec![
            Cell::Text(name),
            Cell::Number(sum.count),
            Cell::Number(sum.elements),
            Cell::Number(sum.slots),
            percent_used(sum.slots, sum.empty_slots),
            Cell::Number(sum.wasted),
            Cell::Number(sum.empty),
            Cell::Number(sum.empty_bytes),
            Cell::Number(sum.sparse),
            Cell::Number(sum.bytes),
        ],
        ..Row::default()
    };
    ResultTable {
        header: TableHeader { id: id.into(), title: title.into(), columns, ..TableHeader::default() },
        rows: rows.map(row).collect(),
        empty_text: "There is no collection that a description covers.".into(),
        ..ResultTable::default()
    }
}

/// Single collections, with the field that holds each.
fn worst_table(values: &HeapValues, worst: &[Container], left: u64, progress: &Progress) -> Result<ResultTable> {
    let heap = values.heap();
    let holder = |c: &Container| heap.referrers(c.object).first().copied();
    let pairs: Vec<_> = worst.iter().filter_map(|c| Some((holder(c)?, c.object))).collect();
    let mut places = values.reference_places(&pairs, progress)?.into_iter();
    let (bytes, count) = (CellKind::Number(Unit::Bytes), CellKind::Number(Unit::Count));
    let columns = vec![
        Column::new("address", "Address", CellKind::Text, "Where it is; names it in this state of the heap"),
        Column::new("type", "Type", CellKind::Text, "Its class"),
        Column::new("elements", "Elements", count, "Its elements, or entries"),
        Column::new("slots", "Slots", count, "Length of its array"),
        Column::new("used", "Used", CellKind::Percent, "Share of the slots that hold something"),
        Column::new(
            "load",
            "Load factor",
            CellKind::Percent,
            "How full a hash table may be before it grows, as its map was told",
        ),
        Column::new("wasted", "Wasted", bytes, "Bytes of slots that hold nothing"),
        Column::new("place", "Held by", CellKind::Text, "The first field or element that refers to it"),
    ];
    let objects: Vec<ObjectId> = worst.iter().map(|c| c.object).collect();
    let loads = load_factors(values, &objects, progress)?;
    let rows = worst.iter().zip(loads).map(|(c, load)| Row {
        cells: vec![
            Cell::Text(address_text(heap, c.object)),
            Cell::Text(type_name(heap, c.object).to_owned()),
            Cell::Number(c.size),
            Cell::Number(c.slots),
            percent_used(c.slots, c.empty_slots),
            load.filter(|l| l.is_finite()).map_or(Cell::Empty, |l| Cell::Percent(f64::from(l) * 100.0)),
            Cell::Number(c.wasted),
            text_cell(holder(c).and_then(|_| places.next().flatten()).map(|p| p.to_string())),
        ],
        ..Row::default()
    });
    Ok(ResultTable {
        rows: rows.collect(),
        header: TableHeader {
            id: "wasteful".into(),
            title: "Collections that waste most".into(),
            columns,
            ..TableHeader::default()
        },
        left_out: (left > 0).then(|| (left, "collections with empty slots".to_owned())),
        empty_text: "No collection has an empty slot.".into(),
    })
}
