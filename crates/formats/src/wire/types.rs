//! Conversion of a walk's classes to types, for the classes of its stream that the walk uses.

use super::names::StreamTables;
use ahash::{AHashMap, AHashSet};
use memory_city_heap::{FieldBytes, HeapType, Loader, Loaders, TypeId, TypeKind, TypeSizes};
use memory_city_wire::ClassRow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The classes of a stream as types.
pub(super) struct Types {
    pub(super) types: Vec<HeapType>,
    pub(super) loaders: Loaders,
    pub(super) sizes: TypeSizes,
    pub(super) number: AHashMap<u32, u32>,
    /// The same for small ids, which is asked for each object; `u32::MAX` where there is none.
    dense: Vec<u32>,
    /// Classes without a name.
    pub(super) lost: u64,
}

impl Types {
    /// The types of the classes that a walk uses, with their superclasses and loaders.
    pub(super) fn of(tables: &StreamTables, used: AHashSet<u32>, alignment: u32, reference: u32) -> Types {
        let used = with_all(used, |class| tables.classes.get(&class)?.superclass);
        let used_rows: Vec<&ClassRow> = tables.classes.values().filter(|row| used.contains(&row.id)).collect();
        let loaders_used = used_rows.iter().filter_map(|row| row.loader).collect();
        let loaders_used = with_all(loaders_used, |loader| tables.loaders.get(&loader)?.parent);
        let number: AHashMap<u32, u32> = used_rows.iter().map(|row| row.id).zip(0..).collect();
        let loader_rows = || tables.loaders.values().filter(|row| loaders_used.contains(&row.id));
        let loader_number: BTreeMap<u32, u32> = loader_rows().map(|row| row.id).zip(0..).collect();
        let loaders: Vec<Loader> = loader_rows()
            .map(|row| Loader {
                name: tables.string(row.name),
                parent: row.parent.and_then(|parent| loader_number.get(&parent).copied()),
            })
            .collect();
        let rows = || used_rows.iter().copied();
        let loader_of = |row: &ClassRow| row.loader.and_then(|l| loader_number.get(&l).copied());
        let bootstrap: Arc<str> = Arc::from("bootstrap");
        let types = rows()
            .map(|row| HeapType {
                name: tables.string(row.name).to_string(),
                kind: match row.kind {
                    1 => TypeKind::ObjectArray,
                    2 => TypeKind::PrimitiveArray,
                    _ => TypeKind::Instance,
                },
                superclass: row.superclass.and_then(|of| number.get(&of).copied()).map(TypeId),
                loader: match (loader_of(row), row.loader_name) {
                    (_, Some(name)) => tables.string(name),
                    (Some(loader), None) => Arc::clone(&loaders[loader as usize].name),
                    (None, None) => Arc::clone(&bootstrap),
                },
            })
            .collect();
        let fields = rows()
            .map(|row| FieldBytes { header: row.header, primitive: row.primitive, references: row.references })
            .collect();
        let alignment = if alignment.is_power_of_two() && alignment <= 1 << 12 { alignment } else { 1 };
        Types {
            types,
            sizes: TypeSizes {
                base: rows().map(|row| row.base.min(LARGEST_BASE)).collect(),
                element: rows().map(|row| row.element.min(LARGEST_ELEMENT)).collect(),
                alignment,
                fields: if rows().any(|row| row.has_layout) { fields } else { Vec::new() },
                reference,
            },
            loaders: match loaders.is_empty() {
                true => Loaders::default(),
                false => Loaders { of_type: rows().map(loader_of).collect(), all: loaders },
            },
            dense: dense(&number),
            number,
            lost: 0,
        }
    }

    /// Appends them to those of other streams: their numbers count from the first of them.
    pub(super) fn append_to(self, all: &mut Vec<HeapType>) {
        let first = all.len() as u32;
        let moved = |TypeId(of)| TypeId(first + of);
        all.extend(self.types.into_iter().map(|of| HeapType { superclass: of.superclass.map(moved), ..of }));
    }

    /// The number of a class. One whose name was lost gets a type that says so.
    pub(super) fn number(&mut self, class: u32) -> u32 {
        if let Some(&number) = self.dense.get(class as usize)
            && number != u32::MAX
        {
            return number;
        }
        if let Some(&number) = self.number.get(&class) {
            return number;
        }
        let number = self.types.len() as u32;
        self.number.insert(class, number);
        self.lost += 1;
        self.types.push(HeapType {
            name: format!("(lost class {class})"),
            kind: TypeKind::Instance,
            superclass: None,
            loader: Arc::from("bootstrap"),
        });
        self.sizes.base.push(0);
        self.sizes.element.push(0);
        if !self.sizes.fields.is_empty() {
            self.sizes.fields.push(FieldBytes::default());
        }
        if !self.loaders.all.is_empty() {
            self.loaders.of_type.push(None);
        }
        number
    }
}

/// These, and all that `next` leads to; a cycle is there once.
fn with_all(first: AHashSet<u32>, next: impl Fn(u32) -> Option<u32>) -> AHashSet<u32> {
    let mut open: Vec<u32> = first.iter().copied().collect();
    let mut all = first;
    while let Some(one) = open.pop() {
        if let Some(further) = next(one)
            && all.insert(further)
        {
            open.push(further);
        }
    }
    all
}

/// No instance has more bytes: in files there may stand anything.
const LARGEST_BASE: u32 = 1 << 31;
/// The largest size of an array's element, bytes.
const LARGEST_ELEMENT: u32 = 255;

/// Ids beyond these are looked up otherwise.
const MOST_DENSE: usize = 1 << 20;

fn dense(number: &AHashMap<u32, u32>) -> Vec<u32> {
    let longest = number.keys().map(|&id| id as usize + 1).filter(|&length| length <= MOST_DENSE).max();
    let mut dense = vec![u32::MAX; longest.unwrap_or(0)];
    for (&id, &number) in number {
        if let Some(place) = dense.get_mut(id as usize) {
            *place = number;
        }
    }
    dense
}
