//! Values of objects, read from the records of a dump on demand ([`crate::values`]).
//!
//! Only the declared fields of classes, the address ranges of the pieces of the file, and the stacks of threads are kept: some dozens of
//! bytes a field and a frame, nothing by object. Loading a dump produces them as a by-product. For a heap state from elsewhere, one pass
//! over the dump finds them again.

use super::census::{self, Census};
use super::cursor::Cursor;
use super::header::DumpHeader;
use super::index::DumpIndex;
use super::limits::{DumpLimits, check_tables};
use super::segment::{self, ClassRecord, RootRecord, Visitor};
use super::tags::root;
use crate::values::{
    ClassFields, FieldValue, HeapValues, InstanceFields, ObjectRecord, OwnField, PrimitiveElements, RecordSource,
    RecordTables, ReferenceElements, ThreadStack, TypeLayouts, ValueKind, VisitRecord,
};
use ahash::AHashMap;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, TypeId};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The tables kept of a dump to find values in it.
pub(super) struct DumpTables {
    id_size: usize,
    /// Bytes of the dump: another length is another dump.
    length: usize,
    /// Pieces of heap records, with the lowest and highest address of their objects.
    pieces: Vec<(Range<usize>, u64, u64)>,
    /// Own instance fields by class object id.
    fields: AHashMap<u64, Arc<[OwnField]>>,
    /// Names of fields, static ones among them, by id.
    names: AHashMap<u64, Arc<str>>,
    threads: Vec<KeptThread>,
}

/// A thread of a dump, by addresses.
struct KeptThread {
    object: u64,
    frames: Arc<[Arc<str>]>,
    locals: Vec<(Option<u32>, u64)>,
}

/// The threads among the roots, with their stacks and the objects in variables.
fn threads(bytes: &[u8], index: &DumpIndex, census: &Census) -> Vec<KeptThread> {
    // Most threads of a pool stand at the same place: each text is kept once, and each stack.
    let mut texts: AHashMap<u64, Arc<str>> = AHashMap::new();
    let mut stacks: AHashMap<u32, Arc<[Arc<str>]>> = AHashMap::new();
    let mut threads: Vec<KeptThread> = Vec::new();
    let mut by_serial: AHashMap<u32, usize> = AHashMap::new();
    for root in census.roots.iter().filter(|r| r.tag == root::THREAD_OBJECT) {
        if by_serial.contains_key(&root.thread) {
            continue;
        }
        let frame = |&id: &u64| Arc::clone(texts.entry(id).or_insert_with(|| index.kept_frame(bytes, id).into()));
        let stack = || index.frames(root.frame).iter().map(frame).collect();
        let frames = Arc::clone(stacks.entry(root.frame).or_insert_with(stack));
        by_serial.insert(root.thread, threads.len());
        threads.push(KeptThread { object: root.object, frames, locals: Vec::new() });
    }
    // Variables of Java and of native code; objects that are only somewhere on a stack.
    let on_stack =
        |r: &&RootRecord| matches!(r.tag, root::JNI_LOCAL | root::JAVA_FRAME | root::NATIVE_STACK | root::THREAD_BLOCK);
    for root in census.roots.iter().filter(on_stack) {
        if let Some(&at) = by_serial.get(&root.thread) {
            threads[at].locals.push((Some(root.frame).filter(|f| *f != u32::MAX), root.object));
        }
    }
    threads
}

impl DumpTables {
    pub(super) fn new(bytes: &[u8], header: &DumpHeader, index: &DumpIndex, census: &Census) -> DumpTables {
        let mut tables = DumpTables {
            id_size: header.id_size,
            length: bytes.len(),
            pieces: census.spans.clone(),
            fields: AHashMap::with_capacity(census.records.len()),
            names: AHashMap::new(),
            threads: threads(bytes, index, census),
        };
        // Pieces are met in the order in which threads finish.
        tables.pieces.sort_unstable_by_key(|(piece, ..)| piece.start);
        for record in &census.records {
            let mut name = |id: u64| {
                let text =
                    || index.keep(index.string(bytes, id).unwrap_or_else(|| format!("(unnamed 0x{id:x})"))).into();
                Arc::clone(tables.names.entry(id).or_insert_with(text))
            };
            for (id, ..) in &record.statics {
                name(*id);
            }
            let fields = record.field_names.iter().zip(&record.fields);
            let own = fields.map(|(&id, &kind)| OwnField { name: name(id), kind: ValueKind::of_dump(kind) }).collect();
            tables.fields.insert(record.id, own);
        }
        tables
    }

    /// The same of a dump that was not loaded here. Costs one pass over it.
    ///
    /// # Errors
    /// When it is no dump, or the work was cancelled.
    pub(super) fn read(input: &Input, progress: &Progress) -> Result<DumpTables> {
        let bytes = input.bytes();
        let header = DumpHeader::read(&input.path, bytes)?;
        let limits = DumpLimits::default();
        let index = DumpIndex::read(&input.path, bytes, &header, limits.memory);
        let heap_bytes: usize = index.pieces.iter().map(|p| p.len()).sum();
        progress.begin(format!("Looking for classes in {}", input.path.display()), heap_bytes as u64);
        let census = census::census(input, &header, &index, None, limits.memory, progress)?;
        check_tables(&input.path, &census, limits)?;
        let tables = DumpTables::new(bytes, &header, &index, &census);
        index.check_texts(&input.path)?;
        Ok(tables)
    }
}

impl RecordTables for DumpTables {
    fn open(self: Arc<Self>, input: Input) -> Result<Box<dyn RecordSource>> {
        if input.bytes().len() != self.length {
            return Err(Error::Unusable {
                what: format!(
                    "{} has changed since it was read: it had {} bytes, and has {}",
                    input.path.display(),
                    self.length,
                    input.bytes().len()
                ),
                remedy: "Open it again".into(),
            });
        }
        Ok(Box::new(DumpRecords { input, tables: self }))
    }
}

/// The values of a dump's objects, for a heap state that was read from the same bytes. Costs a pass over the dump; a series
/// ([`crate::HeapSeries::values`]) keeps the tables from loading the state.
///
/// # Errors
/// When it is no dump, or the work was cancelled.
pub fn values(input: Input, heap: Arc<HeapState>, progress: &Progress) -> Result<HeapValues> {
    let tables = Arc::new(DumpTables::read(&input, progress)?);
    Ok(HeapValues::new(heap, tables.open(input)?))
}

struct DumpRecords {
    input: Input,
    tables: Arc<DumpTables>,
}

impl RecordSource for DumpRecords {
    fn threads(&self, heap: &HeapState) -> Vec<ThreadStack> {
        let stack = |thread: &KeptThread| {
            let locals = thread.locals.iter().filter_map(|&(frame, address)| Some((frame, heap.object_at(address)?)));
            let mut locals: Vec<_> = locals.collect();
            locals.sort_unstable();
            Some(ThreadStack { object: heap.object_at(thread.object)?, frames: Arc::clone(&thread.frames), locals })
        };
        let mut threads: Vec<ThreadStack> = self.tables.threads.iter().filter_map(stack).collect();
        threads.sort_by_key(|thread| thread.object);
        threads
    }

    fn layouts(&self, heap: &HeapState) -> TypeLayouts {
        let none: Arc<[OwnField]> = Arc::new([]);
        let class_object = |t: usize| heap.mirror_of(TypeId(t as u32)).and_then(|o| heap.address(o));
        let own = |t: usize| class_object(t).and_then(|id| self.tables.fields.get(&id)).unwrap_or(&none);
        let own = (0..heap.types().len()).map(|t| Arc::clone(own(t))).collect();
        TypeLayouts::new(self.tables.id_size, own, heap)
    }

    fn scan(
        &self,
        heap: &HeapState,
        layouts: &TypeLayouts,
        wanted: Option<&BitSet>,
        visit: &VisitRecord<'_>,
        progress: &Progress,
    ) -> Result<()> {
        let may_hold = |(_, low, high): &&(Range<usize>, u64, u64)| match (heap.object_at(*low), heap.object_at(*high))
        {
            // Objects are numbered by address.
            (Some(low), Some(high)) => wanted.is_none_or(|wanted| (low.0..=high.0).any(|o| wanted.contains(o))),
            // No objects; a damaged piece is looked at all the same.
            _ => low <= high,
        };
        let pieces: Vec<_> = self.tables.pieces.iter().filter(may_hold).collect();
        let stage = format!("Reading values from {}", self.input.path.display());
        progress.begin(stage, pieces.iter().map(|(piece, ..)| piece.len() as u64).sum());
        pieces.par_iter().try_for_each(|(piece, ..)| {
            progress.check()?;
            let mut reader = ReadRecords { tables: &self.tables, heap, layouts, wanted, visit };
            // Where it stops was said when the heap state was made.
            let _ = segment::walk(self.input.bytes(), piece.clone(), self.tables.id_size, &mut reader);
            self.input.release(piece.clone());
            progress.advance(piece.len() as u64);
            Ok(())
        })
    }
}

/// Hands on the records of wanted objects.
struct ReadRecords<'a> {
    tables: &'a DumpTables,
    heap: &'a HeapState,
    layouts: &'a TypeLayouts,
    wanted: Option<&'a BitSet>,
    visit: &'a VisitRecord<'a>,
}

impl ReadRecords<'_> {
    #[inline(always)]
    fn meet<'r>(&self, id: u64, record: impl FnOnce(TypeId) -> ObjectRecord<'r>) {
        let Some(o) = self.heap.object_at(id) else { return };
        if self.wanted.is_none_or(|wanted| wanted.contains(o.0)) {
            (self.visit)(o, &record(self.heap.type_of(o)));
        }
    }

    fn class_record(&self, record: &ClassRecord) {
        let id_size = self.tables.id_size;
        let value = |kind: u8, value: u64| {
            let kind = ValueKind::of_dump(kind)?;
            let bytes = value.to_be_bytes();
            FieldValue::read(kind, &bytes[8 - kind.width(id_size)..], id_size, self.heap)
        };
        let statics: Vec<(Arc<str>, FieldValue)> = record
            .statics
            .iter()
            .filter_map(|(name, kind, v)| Some((Arc::clone(self.tables.names.get(name)?), value(*kind, *v)?)))
            .collect();
        let links = [
            ("superclass", record.superclass),
            ("class loader", record.loader),
            ("signers", record.signers),
            ("protection domain", record.domain),
        ]
        .map(|(link, id)| (link, FieldValue::reference(id, self.heap)));
        self.meet(record.id, |_| {
            let of = self.heap.object_at(record.id).and_then(|o| self.layouts.type_of_class(o));
            ObjectRecord::Class(ClassFields { of, statics: &statics, links: &links })
        });
    }
}

impl Visitor for ReadRecords<'_> {
    fn class(&mut self, cursor: &mut Cursor<'_>, id_size: usize) -> Option<()> {
        let record = segment::read_class(cursor, id_size)?;
        self.class_record(&record);
        Some(())
    }

    #[inline(always)]
    fn instance(&mut self, id: u64, _: u32, _: u64, values: &[u8]) {
        let (heap, layouts) = (self.heap, self.layouts);
        self.meet(id, |of| ObjectRecord::Instance(InstanceFields { heap, layouts, of, values }));
    }

    #[inline(always)]
    fn object_array(&mut self, id: u64, _: u32, _: u64, bytes: &[u8]) {
        let (heap, id_size) = (self.heap, self.tables.id_size);
        self.meet(id, |_| ObjectRecord::ObjectArray(ReferenceElements { heap, id_size, bytes }));
    }

    #[inline(always)]
    fn primitive_array(&mut self, id: u64, _: u32, kind: u8, length: u32, bytes: &[u8]) {
        let Some(kind) = ValueKind::of_dump(kind) else { return };
        self.meet(id, |_| ObjectRecord::PrimitiveArray(PrimitiveElements { kind, length, bytes }));
    }
}
