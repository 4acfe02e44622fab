//! Reader of collections. Each class of collections is one line in the profile of the heap state. Sizes come from fields, storage arrays
//! are read once, and a collection built on another one (a `HashSet` on its map) counts as one with it.

use crate::analyses::objects::type_name;
use crate::ownership::Filling;
use memory_city_formats::values::{FieldPlace, FieldValue, HeapValues, InstanceFields, ObjectRecord};
use memory_city_heap::Storage::{Exact, Fields, Linked, List, Of, Table};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ContainerKind, HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// Where the fields of a type of collections lie.
#[derive(Clone, Copy)]
struct ContainerPlaces {
    kind: &'static ContainerKind,
    size: Option<FieldPlace>,
    storage: Option<FieldPlace>,
    head: Option<FieldPlace>,
    tail: Option<FieldPlace>,
    cells: Option<FieldPlace>,
    load: Option<FieldPlace>,
}

/// A collection.
#[derive(Clone, Copy)]
pub(super) struct Container {
    pub(super) object: ObjectId,
    kind: &'static ContainerKind,
    /// Elements; entries of maps.
    pub(super) size: u64,
    /// The array or collection that it is made of.
    pub(super) storage: Option<ObjectId>,
    /// Further numbers that its size is the sum of.
    cells: Option<ObjectId>,
    pub(super) load: Option<f32>,
    pub(super) slots: u64,
    pub(super) empty_slots: u64,
    /// Its own bytes, those of its array, and of the collection it is made of.
    pub(super) bytes: u64,
    pub(super) wasted: u64,
}

/// The places of the fields of a type, where it is a collection that is known.
fn places(values: &HeapValues, of: TypeId) -> Option<ContainerPlaces> {
    let types = values.heap().types();
    let above = |t: &TypeId| types.get(t.0 as usize)?.superclass;
    let mut levels = std::iter::successors(Some(of), above).take(1000);
    let collections = &values.heap().profile().collections;
    let known = levels.find_map(|t| collections.kinds.iter().find(|k| k.class == types[t.0 as usize].name))?;
    let first =
        |names: &[&str]| names.iter().find_map(|name| values.layouts().place_in(values.heap(), of, known.class, name));
    // Fields of the class itself come first; Scala's are in traits that it is made of.
    let first = |names: &[&str]| first(names).or_else(|| names.iter().find_map(|name| values.place(of, name)));
    let storage = match known.storage {
        List(names, _) | Exact(names) | Table(names, _) => first(names),
        Of(name) => first(&[name]),
        Linked | Fields => None,
    };
    Some(ContainerPlaces {
        kind: known,
        size: first(known.size),
        storage,
        head: first(collections.ring[0]),
        tail: first(collections.ring[1]),
        cells: first(collections.cells),
        load: first(collections.load),
    })
}

/// Bytes of a reference in arrays of the heap, by how large the longest one is.
fn reference_bytes(heap: &HeapState, all: &[Container]) -> u64 {
    let arrays = all.iter().filter_map(|c| Some((u64::from(heap.array_length(c.storage?)?), c.storage?)));
    match arrays.max() {
        // Header and padding take 12 to 31 bytes.
        Some((length, array)) if length > 1 && heap.size_of(array) >= 8 * length + 12 => 8,
        _ => 4,
    }
}

/// Counts the elements of a collection that has a field for each. A plain object marks an empty field.
fn elements_in_fields(heap: &HeapState, fields: &InstanceFields<'_>) -> u64 {
    let is_empty = |o: &ObjectId| heap.profile().types.empty.contains(&type_name(heap, *o));
    fields.iter().filter_map(|f| f.value.object()).filter(|o| !is_empty(o)).count() as u64
}

/// The load factor as a fraction; Scala counts in thousandths.
fn load_factor(value: FieldValue) -> Option<f32> {
    match value {
        FieldValue::Float(fraction) => Some(fraction),
        FieldValue::Int(thousandths) => Some(thousandths as f32 / 1000.0),
        _ => None,
    }
}

/// Reads all collections of the heap state.
pub(super) fn read(values: &HeapValues, progress: &Progress) -> Result<Vec<Container>> {
    let heap = values.heap();
    let known: Vec<Option<ContainerPlaces>> =
        (0..heap.types().len() as u32).map(|t| places(values, TypeId(t))).collect();
    let mut wanted = BitSet::new(heap.object_count());
    for o in heap.objects().filter(|&o| known[heap.type_of(o).0 as usize].is_some()) {
        wanted.insert(o.0);
    }
    let found: Vec<Mutex<Vec<Container>>> = (0..64).map(|_| Mutex::default()).collect();
    let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
        let (ObjectRecord::Instance(fields), Some(places)) = (record, known[heap.type_of(o).0 as usize]) else {
            return;
        };
        let number = |place: Option<FieldPlace>| place.and_then(|p| fields.at(p)?.integer());
        let object = |place: Option<FieldPlace>| place.and_then(|p| fields.at(p)?.object());
        let storage = object(places.storage);
        let length = || storage.and_then(|s| heap.array_length(s)).map_or(0, u64::from);
        let size = match (number(places.size), places.kind.storage) {
            (Some(n), _) => u64::try_from(n).unwrap_or(0),
            (None, Exact(_)) => length(),
            (None, List(..)) => match (number(places.head), number(places.tail)) {
                // A ring.
                (Some(head), Some(tail)) if length() > 0 => (tail - head).rem_euclid(length() as i64) as u64,
                _ => 0,
            },
            (None, Fields) => elements_in_fields(heap, fields),
            _ => 0,
        };
        let container = Container {
            object: o,
            kind: places.kind,
            size,
            storage,
            cells: object(places.cells),
            load: places.load.and_then(|p| fields.at(p)).and_then(load_factor),
            slots: 0,
            empty_slots: 0,
            bytes: heap.size_of(o),
            wasted: 0,
        };
        found[o.0 as usize / 64 % 64].lock().unwrap_or_else(|e| e.into_inner()).push(container);
    };
    values.scan(Some(&wanted), &visit, progress)?;
    let lists = found.into_iter().flat_map(|list| list.into_inner().unwrap_or_else(|e| e.into_inner()));
    let mut all: Vec<Container> = lists.collect();
    all.sort_unstable_by_key(|c| c.object);
    // A damaged dump may have an object twice.
    all.dedup_by_key(|c| c.object);
    add_cells(values, &mut all, progress)?;
    if heap.is_redacted() {
        // The numbers went with the texts.
        let filling = Filling::new(heap);
        for container in all.iter_mut().filter(|container| container.size == 0) {
            container.size = filling.elements(container.object).unwrap_or(0);
        }
    }
    let nulls = nulls_of_tables(values, &all, progress)?;
    let mut seen = BitSet::new(heap.object_count());
    let width = reference_bytes(heap, &all);
    for container in &mut all {
        container.measure(heap, &nulls, width, &mut seen);
    }
    Ok(merge_inner(heap, all))
}

/// Adds the numbers of cells to the sizes they are parts of.
fn add_cells(values: &HeapValues, all: &mut [Container], progress: &Progress) -> Result<()> {
    let heap = values.heap();
    let cells = |c: &Container| c.cells.map_or(&[][..], |array| heap.references(array));
    let numbers: Mutex<FxHashMap<ObjectId, i64>> = Mutex::default();
    let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
        let ObjectRecord::Instance(fields) = record else { return };
        let counted = heap.profile().collections.counted;
        let value = fields.iter().find(|f| counted.contains(&&**f.name)).and_then(|f| f.value.integer());
        if let Some(n) = value {
            numbers.lock().unwrap_or_else(|e| e.into_inner()).insert(o, n);
        }
    };
    values.scan_few(all.iter().flat_map(cells).copied(), &visit, progress)?;
    let numbers = numbers.into_inner().unwrap_or_else(|e| e.into_inner());
    for container in all {
        let more: i64 =
            cells(container).iter().filter_map(|cell| numbers.get(cell)).fold(0, |a, &n| a.saturating_add(n));
        container.size = container.size.saturating_add_signed(more);
    }
    Ok(())
}

/// The number of nulls in each array that is a hash table.
fn nulls_of_tables(values: &HeapValues, all: &[Container], progress: &Progress) -> Result<FxHashMap<ObjectId, u64>> {
    let tables = all.iter().filter(|c| matches!(c.kind.storage, Table(..))).filter_map(|c| c.storage);
    let nulls: Mutex<FxHashMap<ObjectId, u64>> = Mutex::default();
    let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
        if let ObjectRecord::ObjectArray(elements) = record {
            let count = elements.nulls() as u64;
            nulls.lock().unwrap_or_else(|e| e.into_inner()).insert(o, count);
        }
    };
    values.scan_few(tables, &visit, progress)?;
    Ok(nulls.into_inner().unwrap_or_else(|e| e.into_inner()))
}

impl Container {
    /// Slots and bytes. An array that several collections share is counted with the first.
    fn measure(&mut self, heap: &HeapState, nulls: &FxHashMap<ObjectId, u64>, width: u64, seen: &mut BitSet) {
        let known = self.kind;
        let Some(array) = self.storage.filter(|_| !matches!(known.storage, Of(_))) else { return };
        let Some(length) = heap.array_length(array) else { return };
        let length = u64::from(length);
        self.slots = length;
        self.empty_slots = match known.storage {
            Table(_, slots) => match nulls.get(&array) {
                // A key whose value is null has two slots all the same.
                Some(&nulls) if slots == 1 => nulls.min(length),
                _ => length.saturating_sub(self.size.saturating_mul(u64::from(slots))),
            },
            List(_, slots) => length.saturating_sub(self.size.saturating_mul(u64::from(slots))),
            _ => 0,
        };
        if seen.insert(array.0) {
            self.bytes += heap.size_of(array);
            self.wasted = self.empty_slots * width;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }
}

/// Merges each collection with the one that it is made of. Views of a collection that it refers to itself (the key set of a map) are left
/// out, and collections made of something unknown.
fn merge_inner(heap: &HeapState, all: Vec<Container>) -> Vec<Container> {
    let place: FxHashMap<ObjectId, usize> = all.iter().enumerate().map(|(i, c)| (c.object, i)).collect();
    let mut left_out = vec![false; all.len()];
    let mut merged = all.clone();
    for (i, outer) in all.iter().enumerate() {
        if !matches!(outer.kind.storage, Of(_)) {
            continue;
        }
        let inner = outer.storage.and_then(|inner| place.get(&inner).copied());
        let Some(at) = inner.filter(|&at| at != i && !heap.references(all[at].object).contains(&outer.object)) else {
            left_out[i] = true;
            continue;
        };
        let (inner, into) = (&all[at], &mut merged[i]);
        (into.size, into.slots, into.empty_slots, into.load) = (inner.size, inner.slots, inner.empty_slots, inner.load);
        // Of two sets of one map, the first has its bytes.
        if !std::mem::replace(&mut left_out[at], true) {
            into.bytes += inner.bytes;
            into.wasted = inner.wasted;
        }
    }
    merged.into_iter().zip(left_out).filter(|(_, left_out)| !left_out).map(|(c, _)| c).collect()
}
