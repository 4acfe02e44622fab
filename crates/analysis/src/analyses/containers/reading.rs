//! Collections of a heap state, as the descriptions of data structures say: their elements, and the arrays that these lie in. A collection
//! made of another one (a `HashSet` of its map) counts as one with it.

use crate::analyses::objects::type_name;
use crate::ownership::Filling;
use crate::structures::{StructureFill, descriptions, fills};
use memory_city_formats::values::{DetailLimits, FieldValue, HeapValues, ObjectContents, ObjectDetails};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{Descriptions, FoundStructures, HeldBy, StructureRules};
use memory_city_heap::{BitSet, HeapState, ObjectId};

/// A collection.
#[derive(Clone, Copy)]
pub(super) struct Container {
    pub(super) object: ObjectId,
    /// Elements; entries of maps.
    pub(super) size: u64,
    pub(super) slots: u64,
    pub(super) empty_slots: u64,
    /// Its own bytes and those of its parts that no other has, and of the collection it is made of.
    pub(super) bytes: u64,
    pub(super) wasted: u64,
}

impl Container {
    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }
}

/// The collections of a heap state.
pub(super) struct Containers {
    pub(super) all: Vec<Container>,
    /// Described ones whose number of elements is not known.
    pub(super) uncounted: Vec<ObjectId>,
}

/// Bytes of a reference in arrays of the heap, by how large the longest of these is.
fn reference_bytes(heap: &HeapState, fills: &[StructureFill]) -> u64 {
    let arrays = fills.iter().filter_map(|fill| Some((u64::from(heap.array_length(fill.array?)?), fill.array?)));
    match arrays.max() {
        // Header and padding take 12 to 31 bytes.
        Some((length, array)) if length > 1 && heap.size_of(array) >= 8 * length + 12 => 8,
        _ => 4,
    }
}

/// Reads all collections of the heap state.
///
/// # Errors
/// When cancelled, or when a description breaks the language.
pub(super) fn read(values: &HeapValues, progress: &Progress) -> Result<Containers> {
    let heap = values.heap();
    let descriptions = descriptions(heap.profile())?;
    let rules = StructureRules::new(heap, &descriptions, progress)?;
    let found = FoundStructures::new(heap, &rules, None, progress)?;
    let fills = fills(heap, Some(values), &rules, &found, progress)?;
    // A wrapper, or the key set that a map refers to, shows another collection and is none itself.
    let is_view = |at: usize, inner: ObjectId| {
        let (head, views) = (found.heads()[at], heap.profile().collections.views);
        views.iter().any(|beginning| type_name(heap, head).starts_with(beginning))
            || heap.references(inner).contains(&head)
    };
    let mut inner_of: Vec<Option<usize>> = vec![None; fills.len()];
    let mut left_out = vec![false; fills.len()];
    for (at, fill) in fills.iter().enumerate() {
        let Some(made_of) = fill.made_of else { continue };
        match found.heads().binary_search(&made_of) {
            // Of two sets of one map, the first has its bytes.
            Ok(inner) if !is_view(at, made_of) => {
                inner_of[at] = Some(inner).filter(|_| !std::mem::replace(&mut left_out[inner], true));
            }
            Ok(_) => left_out[at] = true,
            // What it is made of has no description.
            Err(_) => {}
        }
    }
    // Of a list that is its first cell, and the rest a list again, the first counts. A cell has no parts; a map that knows the one around it has.
    for (at, &head) in found.heads().iter().enumerate() {
        let rest = |to: &&ObjectId| **to != head && heap.type_of(**to) == heap.type_of(head);
        if fills[at].made_of.is_none()
            && found.extents()[at].parts == 0
            && let Some(at) =
                heap.references(head).iter().find(rest).and_then(|to| found.heads().binary_search(to).ok())
        {
            left_out[at] = true;
        }
    }
    let mut bytes: Vec<u64> = found.heads().iter().map(|&head| heap.size_of(head)).collect();
    for o in heap.objects().filter(|&o| found.is_part(o)) {
        if let HeldBy::One(at) = found.holders_of(o) {
            bytes[at as usize] += heap.size_of(o);
        }
    }
    let (width, by_references) = (reference_bytes(heap, &fills), Filling::new(heap));
    let (mut all, mut uncounted) = (Vec::new(), Vec::new());
    let mut seen = BitSet::new(heap.object_count());
    for at in (0..fills.len()).filter(|&at| !left_out[at]) {
        if at.is_multiple_of(1 << 12) {
            progress.check()?;
        }
        let object = found.heads()[at];
        let counted = || by_references.elements(object).filter(|_| heap.is_redacted());
        let Some(size) = fills[at].elements.or_else(counted) else {
            uncounted.push(object);
            continue;
        };
        let mut container = Container { object, size, slots: 0, empty_slots: 0, bytes: 0, wasted: 0 };
        let mut next = Some(at);
        while let Some(at) = next {
            container.bytes += bytes[at];
            next = inner_of[at];
            if next.is_none() {
                container.add_array(heap, &fills[at], found.extents()[at].entries > 0, width, &mut seen);
            }
        }
        all.push(container);
    }
    Ok(Containers { all, uncounted })
}

impl Container {
    /// Adds the slots of an array. The room in one that several collections share is the first's.
    fn add_array(&mut self, heap: &HeapState, fill: &StructureFill, has_entries: bool, width: u64, seen: &mut BitSet) {
        let Some(array) = fill.array else { return };
        let Some(length) = heap.array_length(array).map(u64::from) else { return };
        self.slots = length;
        self.empty_slots = match fill.capacity {
            // Chains of entries leave more slots empty; a null that is an element leaves none.
            Some(_) if has_entries => length.saturating_sub(heap.references(array).len() as u64),
            Some(capacity @ 1..) => length.saturating_sub(self.size.saturating_mul(length / capacity)),
            // Its length is the number of elements.
            _ => 0,
        };
        if seen.insert(array.0) {
            self.wasted = self.empty_slots * width;
        }
    }
}

/// The load factors of hash tables as fractions, where their descriptions say in which field they are. Scala counts in thousandths.
///
/// # Errors
/// When cancelled, or when a description breaks the language.
pub(super) fn load_factors(values: &HeapValues, of: &[ObjectId], progress: &Progress) -> Result<Vec<Option<f32>>> {
    let heap = values.heap();
    let descriptions: Descriptions = descriptions(heap.profile())?;
    let rules = StructureRules::new(heap, &descriptions, progress)?;
    // A set has its map's.
    let table = |&o: &ObjectId| {
        let has_load = |o: &ObjectId| rules.of(heap.type_of(*o)).is_some_and(|of| !of.load().is_empty());
        Some(o).filter(has_load).or_else(|| heap.references(o).iter().copied().find(has_load))
    };
    let tables: Vec<Option<ObjectId>> = of.iter().map(table).collect();
    let asked: Vec<ObjectId> = tables.iter().flatten().copied().collect();
    let mut details = values.details(&asked, DetailLimits::default(), progress)?.into_iter();
    let factor = |details: ObjectDetails| {
        let ObjectContents::Instance(fields) = &details.contents else { return None };
        let paths = rules.of(heap.type_of(details.object))?.load();
        let named = paths.iter().find_map(|path| fields.iter().find(|field| *field.name == path.steps()[0].field))?;
        match named.value {
            FieldValue::Float(fraction) => Some(fraction),
            FieldValue::Int(thousandths) => Some(thousandths as f32 / 1000.0),
            _ => None,
        }
    };
    Ok(tables.into_iter().map(|table| table.and_then(|_| details.next()).and_then(factor)).collect())
}
