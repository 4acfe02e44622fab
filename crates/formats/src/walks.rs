//! Writes heap states as walks of the recorder's trace format: everything that a heap state knows but the origins of its
//! objects, which recordings tell by samples.
//!
//! Reads nothing: what comes from files is read by the formats.

use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, NO_LENGTH, ObjectId, Strength, TypeKind};
use memory_city_wire::{
    ClassRow, LoaderRow, ObjectNaming, ReferentStrength, TraceTables, TraceWriter, WalkEndRow, WalkInferredRow,
    WalkMirrorRow, WalkObject, WalkReferentRow, WalkRootRow, WalkSampleRow, WalkStartRow, WireError,
};
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of a walk besides the heap state.
#[derive(Clone, Debug, Default)]
pub struct WalkFacts<'a> {
    /// When, collections, label. Its number, and what follows from the heap state, are filled in.
    pub start: WalkStartRow,
    /// Which objects are which samples.
    pub samples: &'a [(ObjectId, u64)],
    /// For how long the program stood still, nanoseconds.
    pub pause: Option<u64>,
    /// Live samples whose object was not found.
    pub unlinked: u64,
}

/// The names of a stream of walks: classes and loaders keep their numbers from walk to walk.
pub struct WalkStream {
    tables: TraceTables,
    loaders: HashMap<(Arc<str>, Option<u32>), u32>,
    /// By name and loader: those that are called the same are told apart by the order in which heap states list them.
    classes: HashMap<(String, Arc<str>), Vec<ClassRow>>,
}

/// Strings that a stream of walks may have: names of classes, details of roots.
const MOST_STRINGS: usize = 4_000_000;
/// Rows that are gathered before they are written.
const BATCH: usize = 1 << 14;

impl Default for WalkStream {
    fn default() -> Self {
        Self::new()
    }
}

impl WalkStream {
    /// Without names yet.
    pub fn new() -> WalkStream {
        WalkStream { tables: TraceTables::new(MOST_STRINGS), loaders: HashMap::new(), classes: HashMap::new() }
    }

    /// Writes a heap state as the next walk. Takes O(objects + references) time, and memory for the names and one chunk.
    ///
    /// # Errors
    /// When the disk refuses, or the work was cancelled: then the walk is broken off, which readers see.
    pub fn write(
        &mut self,
        writer: &mut TraceWriter,
        heap: &HeapState,
        facts: WalkFacts<'_>,
        progress: &Progress,
    ) -> Result<WalkEndRow> {
        let classes = self.classes_of(heap);
        let roots = self.roots_of(heap);
        let fields: Vec<Option<u32>> = heap.inferred_references().iter().map(|r| self.tables.string(r.field)).collect();
        self.tables.write_new(writer).map_err(wrong)?;
        let sizes = heap.type_sizes();
        let alignment = u64::from(sizes.alignment.max(1));
        let has_addresses = heap.objects().all(|o| heap.address(o).is_some_and(|a| a.is_multiple_of(alignment)));
        let start = WalkStartRow {
            naming: ObjectNaming::Order,
            alignment: sizes.alignment.max(1),
            reference: sizes.reference,
            all_alive: false,
            has_addresses,
            has_references: true,
            has_roots: true,
            note: heap.warnings().iter().map(|w| w.message.as_str()).collect::<Vec<_>>().join("; "),
            ..facts.start
        };
        let mut walk = writer.begin_walk(start).map_err(wrong)?;
        let odd: HashMap<u32, u64> = heap.odd_sizes().map(|(o, size)| (o.0, size)).collect();
        let (types, lengths) = heap.types_and_lengths();
        let mut inferred = heap.inferred_references();
        let mut keys = Vec::new();
        progress.begin("Writing the walk", heap.object_count() as u64);
        for o in heap.objects() {
            if o.0.is_multiple_of(1 << 16) {
                progress.check()?;
                progress.advance(1 << 16);
            }
            keys.clear();
            keys.extend(heap.references(o).iter().map(|to| u64::from(to.0)));
            while let Some((first, rest)) = inferred.split_first()
                && first.from <= o
            {
                // One entry of the list is the inferred one, which is written apart.
                if let Some(at) = keys.iter().position(|key| *key == u64::from(first.to.0)) {
                    keys.remove(at);
                }
                inferred = rest;
            }
            let i = o.0 as usize;
            let object = WalkObject {
                id: 0,
                address: if has_addresses { heap.address(o).unwrap_or(0) / alignment } else { 0 },
                class: classes[types[i] as usize],
                length: (lengths[i] != NO_LENGTH).then_some(lengths[i]),
                size: odd.get(&o.0).copied(),
                origin: None,
            };
            walk.object(&object, &keys).map_err(wrong)?;
        }
        let number = walk.number();
        for batch in roots.chunks(BATCH) {
            let rows: Vec<WalkRootRow> = batch.iter().map(|row| WalkRootRow { walk: number, ..row.clone() }).collect();
            walk.roots(&rows).map_err(wrong)?;
        }
        let mirror = |t: usize| Some((classes[t], heap.mirror_of(memory_city_heap::TypeId(t as u32))?));
        let mirrors = (0..heap.types().len()).filter_map(mirror);
        let mirrors: Vec<WalkMirrorRow> =
            mirrors.map(|(class, object)| WalkMirrorRow { walk: number, class, object: u64::from(object.0) }).collect();
        walk.rows(&mirrors).map_err(wrong)?;
        for batch in heap.referents().all().chunks(BATCH) {
            let row = |r: &memory_city_heap::Referent| WalkReferentRow {
                walk: number,
                from: u64::from(r.from.0),
                to: u64::from(r.to.0),
                strength: strength(r.strength),
            };
            walk.rows(&batch.iter().map(row).collect::<Vec<_>>()).map_err(wrong)?;
        }
        let inferred = heap.inferred_references().iter().zip(&fields).filter_map(|(r, field)| {
            Some(WalkInferredRow { walk: number, from: u64::from(r.from.0), to: u64::from(r.to.0), field: (*field)? })
        });
        walk.rows(&inferred.collect::<Vec<_>>()).map_err(wrong)?;
        for batch in facts.samples.chunks(BATCH) {
            let row =
                |(o, sample): &(ObjectId, u64)| WalkSampleRow { walk: number, object: u64::from(o.0), sample: *sample };
            walk.rows(&batch.iter().map(row).collect::<Vec<_>>()).map_err(wrong)?;
        }
        walk.finish(facts.pause, facts.unlinked).map_err(wrong)
    }

    fn loader(&mut self, heap: &HeapState, loader: u32, depth: usize) -> Option<u32> {
        let of = heap.loaders().all.get(loader as usize)?;
        // Loaders of damaged dumps may be their own ancestors.
        let parent = of.parent.filter(|_| depth < 100).and_then(|p| self.loader(heap, p, depth + 1));
        let key = (Arc::clone(&of.name), parent);
        if let Some(&number) = self.loaders.get(&key) {
            return Some(number);
        }
        let name = self.tables.string(&of.name)?;
        let number = self.tables.loader(LoaderRow { name, parent, ..LoaderRow::default() });
        self.loaders.insert(key, number);
        Some(number)
    }

    /// The numbers of the types of a heap state.
    fn classes_of(&mut self, heap: &HeapState) -> Vec<u32> {
        let sizes = heap.type_sizes();
        let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
        let mut numbers: Vec<Option<u32>> = vec![None; heap.types().len()];
        let mut rows = Vec::with_capacity(numbers.len());
        for (t, of) in heap.types().iter().enumerate() {
            let loader = heap.loaders().of_type.get(t).copied().flatten().and_then(|l| self.loader(heap, l, 0));
            let fields = sizes.fields.get(t).copied();
            let row = ClassRow {
                id: 0,
                name: self.tables.string(&of.name).unwrap_or(0),
                kind: match of.kind {
                    TypeKind::Instance => 0,
                    TypeKind::ObjectArray => 1,
                    TypeKind::PrimitiveArray => 2,
                },
                superclass: None,
                loader,
                loader_name: self.tables.string(&of.loader),
                base: sizes.base.get(t).copied().unwrap_or(0),
                element: sizes.element.get(t).copied().unwrap_or(0),
                has_layout: fields.is_some(),
                header: fields.map_or(0, |f| f.header),
                primitive: fields.map_or(0, |f| f.primitive),
                references: fields.map_or(0, |f| f.references),
            };
            let turn = seen.entry((&of.name, &of.loader)).or_default();
            let known = self.classes.entry((of.name.clone(), Arc::clone(&of.loader))).or_default();
            // A class that looks the same is the same: what differs in anything but the superclass is another.
            let same = |k: &ClassRow| ClassRow { id: 0, superclass: None, ..k.clone() } == row;
            let at = known.iter().enumerate().skip(*turn).find(|(_, k)| same(k)).map(|(at, _)| at);
            let at = at.unwrap_or_else(|| {
                known.push(ClassRow { id: self.tables.class(row.clone()), ..row.clone() });
                known.len() - 1
            });
            *turn = at + 1;
            numbers[t] = Some(known[at].id);
            rows.push(known[at].clone());
        }
        // Superclasses may be listed behind their subclasses.
        for (of, row) in heap.types().iter().zip(rows) {
            let superclass = of.superclass.and_then(|s| numbers.get(s.0 as usize).copied().flatten());
            if superclass.is_some() && superclass != row.superclass {
                let known = self.classes.get_mut(&(of.name.clone(), Arc::clone(&of.loader)));
                if let Some(known) = known.and_then(|all| all.iter_mut().find(|k| k.id == row.id)) {
                    known.superclass = superclass;
                }
                self.tables.class_again(ClassRow { superclass, ..row });
            }
        }
        numbers.into_iter().map(|n| n.unwrap_or(0)).collect()
    }

    fn roots_of(&mut self, heap: &HeapState) -> Vec<WalkRootRow> {
        let roots = heap.roots().iter().map(|root| WalkRootRow {
            object: u64::from(root.object.0),
            kind: root.kind as u32,
            detail: if root.detail.is_empty() { None } else { self.tables.string(&root.detail) },
            ..WalkRootRow::default()
        });
        roots.collect()
    }
}

fn strength(strength: Strength) -> ReferentStrength {
    match strength {
        Strength::Soft => ReferentStrength::Soft,
        Strength::Weak => ReferentStrength::Weak,
        Strength::Phantom => ReferentStrength::Phantom,
        Strength::Finalizer => ReferentStrength::Finalizer,
    }
}

fn wrong(error: WireError) -> Error {
    Error::Unusable {
        what: format!("The trace cannot be written: {error}"),
        remedy: "Make room on the disk, or write to another one".into(),
    }
}
