//! Writer of any series as a recording: each of its points becomes a walk. Facts that a recording cannot hold are listed.

use super::cohorts;
use super::count_stream::CONVERTED;
use super::names::stack_in;
use super::save_objects::{ObjectKeys, Stopped, write_objects};
use super::scan::error_of;
use super::walks::SeenWalk;
use crate::event::GcKind;
use crate::lives::GcHistory;
use crate::series::HeapSeries;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::texts::several;
use memory_city_heap::unfinished::{FileReaders, Unfinished};
use memory_city_heap::{HeapState, ObjectId, RootKind, Strength, TypeKind};
use memory_city_wire::{
    ClassRow, CollectionKind, GcRow, LoaderRow, ObjectNaming, OriginRow, ReferentStrength, RunRow, ThreadRow,
    TraceOptions, TraceTables, TraceWriter, WalkIdentityRow, WalkInferredRow, WalkMirrorRow, WalkReferentRow,
    WalkRootRow, WalkSampleRow, WalkStartRow, WireError,
};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The result of a save.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedRecording {
    /// Walks.
    pub walks: usize,
    /// Objects of all walks.
    pub objects: u64,
    /// References of all walks.
    pub references: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Facts of the source that the file lacks, for people.
    pub left_out: Vec<String>,
}

/// How hard chunks are packed: files that are written once and kept.
const LEVEL: i32 = 3;
/// Names, methods and frames, each.
const MOST_NAMES: usize = 1 << 24;

/// Writes the points of a series as a recording in one file, which is complete or not there.
///
/// # Errors
/// When a state cannot be loaded, the file cannot be written, or the work was cancelled.
pub fn save(series: &dyn HeapSeries, points: &[usize], output: &Path, progress: &Progress) -> Result<SavedRecording> {
    // As for every recording: this user alone may read it.
    let (file, place) = Unfinished::begin_for(output, FileReaders::OwnerAlone)?;
    let options = TraceOptions { level: LEVEL, ..TraceOptions::default() };
    let writer = TraceWriter::on_file(file, output, options).map_err(error_of)?;
    let mut saver = Saver::new(writer);
    let first = points.iter().map(|&p| series.points()[p].millis).min().unwrap_or(0);
    let is_trace = series.recording().is_some();
    saver.run(series, if is_trace { 0 } else { first })?;
    saver.collections(series, progress)?;
    let mut classes = Vec::new();
    for &point in points {
        progress.check()?;
        let heap = series.load(point, progress)?;
        let fields = match series.values(point, progress)? {
            Some(values) => Some(values.reference_fields(progress)?),
            None => None,
        };
        let info = &series.points()[point];
        progress.begin(format!("Writing {}", info.label), heap.object_count() as u64);
        let since = if is_trace { info.millis } else { info.millis - first };
        let start = WalkStartRow {
            time: since.saturating_mul(1_000_000),
            gc: info.gc.as_ref().filter(|_| is_trace).map(|_| point as u64 / 2),
            before_gc: info.gc.as_ref().is_some_and(|gc| !gc.end),
            label: info.label.clone(),
            taken: (!is_trace).then_some(info.millis),
            ..WalkStartRow::default()
        };
        let seen = SeenWalk { fields: fields.as_ref(), ..SeenWalk::default() };
        saver.walk(&heap, start, &seen, progress)?;
        // All states of a trace have its types: any of them tells their numbers.
        if is_trace && points.last() == Some(&point) {
            classes = saver.classes(&heap);
        }
    }
    if let Some(recording) = series.recording().filter(|_| !points.is_empty()) {
        cohorts::write(recording, &classes, &mut saver, progress)?;
    }
    let mut saved = saver.saved;
    saved.left_out = left_out(series, points);
    if saver.tables.left_out() > 0 {
        saved.left_out.push(format!("{} names, methods or frames: there are too many", saver.tables.left_out()));
    }
    saver.writer.finish("converted").map_err(error_of)?;
    place.complete(output)?;
    saved.bytes = std::fs::metadata(output).map_err(|e| Error::io(output, e))?.len();
    Ok(saved)
}

/// Facts of a series that a recording does not hold.
fn left_out(series: &dyn HeapSeries, points: &[usize]) -> Vec<String> {
    let mut all = Vec::new();
    let others = series.points().len() - points.len();
    if others > 0 {
        all.push(format!("{others} other points in time"));
    }
    if series.recording().is_none() {
        all.push(
            "the values of fields and of primitive arrays, and which of several fields holds an object of a class"
                .into(),
        );
    }
    let warnings = series.warnings().len();
    if warnings > 0 {
        all.push(format!("{} about the input", several(warnings as u64, "warning", "warnings")));
    }
    all
}

/// The identity of a class: name, name of the loader, and its index among the equal ones in its heap state.
type ClassKey = (String, Arc<str>, u32);

pub(super) struct Saver {
    pub(super) writer: TraceWriter,
    pub(super) tables: TraceTables,
    classes: HashMap<(ClassKey, Vec<u32>), u32>,
    loaders: HashMap<(Arc<str>, u32), u32>,
    threads: HashMap<(u32, Arc<str>), u32>,
    origins: FxHashMap<OriginKey, u32>,
    saved: SavedRecording,
}

/// The written form of an origin.
type OriginKey = (Option<u32>, Option<u32>, u32, Option<u32>, u32);

impl Saver {
    pub(super) fn new(writer: TraceWriter) -> Saver {
        Saver {
            writer,
            tables: TraceTables::new(MOST_NAMES),
            classes: HashMap::new(),
            loaders: HashMap::new(),
            threads: HashMap::new(),
            origins: FxHashMap::default(),
            saved: SavedRecording::default(),
        }
    }

    fn run(&mut self, series: &dyn HeapSeries, started: u64) -> Result<()> {
        let source = series.points().first().map(|p| p.path.display().to_string()).unwrap_or_default();
        let fact = |key: &str, value: String| RunRow { key: key.into(), value };
        let mut facts = vec![
            fact("recording.started", started.to_string()),
            fact("recording.mode", CONVERTED.into()),
            fact("converted.from", source),
        ];
        if series.recording().is_some() {
            facts.push(fact("vm.started", "0".into()));
        }
        self.writer.write(&facts).map_err(error_of)
    }

    fn collections(&mut self, series: &dyn HeapSeries, progress: &Progress) -> Result<()> {
        let Some(recording) = series.recording() else { return Ok(()) };
        let history = GcHistory::of_trace(recording, progress)?;
        let rows: Vec<GcRow> = recording
            .collections
            .iter()
            .zip(&history.collections)
            .zip(0u64..)
            .map(|((gc, seen), number)| GcRow {
                number,
                start: gc.start.saturating_mul(1_000_000),
                duration: gc.end.saturating_sub(gc.start).saturating_mul(1_000_000),
                kind: match gc.kind {
                    GcKind::Minor => CollectionKind::Minor,
                    GcKind::Major => CollectionKind::Major,
                },
                cause: recording.program.causes.get(gc.cause as usize).and_then(|cause| self.tables.string(cause)),
                before: seen.before,
                after: seen.after,
                freed: Some(gc.freed),
                source_number: Some(u64::from(gc.number)),
                ..GcRow::default()
            })
            .collect();
        self.tables.write_new(&mut self.writer).map_err(error_of)?;
        self.writer.write(&rows).map_err(error_of)
    }

    /// The classes of a heap state, by type.
    fn classes(&mut self, heap: &HeapState) -> Vec<u32> {
        let loaders = heap.loaders();
        let mut nth: HashMap<&str, u32> = HashMap::new();
        let mut loader_ids: Vec<u32> = Vec::new();
        for loader in &loaders.all {
            let nth = nth.entry(&loader.name).or_default();
            *nth += 1;
            let name = self.tables.string(&loader.name).unwrap_or(0);
            let tables = &mut self.tables;
            let id = *self.loaders.entry((Arc::clone(&loader.name), *nth)).or_insert_with(|| {
                // Its parent may come later in the list: said again below.
                tables.loader(LoaderRow { name, ..LoaderRow::default() })
            });
            loader_ids.push(id);
        }
        for (loader, &id) in loaders.all.iter().zip(&loader_ids) {
            if let Some(&parent) = loader.parent.and_then(|parent| loader_ids.get(parent as usize)) {
                let name = self.tables.string(&loader.name).unwrap_or(0);
                self.tables.loader_again(LoaderRow { id, name, parent: Some(parent) });
            }
        }
        let sizes = heap.type_sizes();
        let mut nth: HashMap<(&str, &str), u32> = HashMap::new();
        let mut ids: Vec<u32> = Vec::with_capacity(heap.types().len());
        let mut new: Vec<(usize, ClassRow)> = Vec::new();
        for (t, of) in heap.types().iter().enumerate() {
            let nth = nth.entry((&of.name, &of.loader)).or_default();
            *nth += 1;
            let fields = sizes.fields.get(t).copied().unwrap_or_default();
            let loader = loaders.of_type.get(t).copied().flatten().and_then(|l| loader_ids.get(l as usize)).copied();
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
                has_layout: !sizes.fields.is_empty(),
                header: fields.header,
                primitive: fields.primitive,
                references: fields.references,
            };
            let shape = vec![row.kind, row.base, row.element, row.header, row.primitive, row.references];
            let key = ((of.name.clone(), Arc::clone(&of.loader), *nth), shape);
            let tables = &mut self.tables;
            ids.push(*self.classes.entry(key).or_insert_with(|| {
                let id = tables.reserve_class();
                new.push((t, ClassRow { id, ..row }));
                id
            }));
        }
        for (t, mut row) in new {
            row.superclass = heap.types()[t].superclass.and_then(|of| ids.get(of.0 as usize)).copied();
            self.tables.class_again(row);
        }
        ids
    }

    /// A stack, by its frames, innermost first.
    pub(super) fn stack(&mut self, frames: &[Arc<str>]) -> Option<u32> {
        stack_in(&mut self.tables, frames)
    }

    pub(super) fn thread(&mut self, index: u32, name: &Arc<str>) -> Option<u32> {
        let id = self.tables.string(name)?;
        let tables = &mut self.tables;
        let new = || tables.thread(ThreadRow { name: id, ..ThreadRow::default() });
        Some(*self.threads.entry((index, Arc::clone(name))).or_insert_with(new))
    }

    fn origin(&mut self, row: OriginRow) -> u32 {
        let key = (row.stack, row.thread, row.allocator, row.birth, row.space);
        let tables = &mut self.tables;
        *self.origins.entry(key).or_insert_with(|| tables.origin(row))
    }

    /// The origins of a heap state by the class of origin that [`HeapState::origin_class`] gives.
    fn origins(&mut self, heap: &HeapState, progress: &Progress) -> Result<FxHashMap<u32, Option<u32>>> {
        let mut known: FxHashMap<u32, Option<u32>> = FxHashMap::default();
        if !heap.has_sites() {
            return Ok(known);
        }
        for o in heap.objects() {
            if o.0 % (1 << 16) == 0 {
                progress.check()?;
            }
            let class = heap.origin_class(o);
            if known.contains_key(&class) {
                continue;
            }
            let frames = heap.allocation_site(o);
            let row = match heap.origins().map(|origins| (origins, *origins.of(o.0 as usize))) {
                None if frames.is_empty() => None,
                None => Some(OriginRow { stack: self.stack(frames), ..OriginRow::default() }),
                Some((_, origin)) if !origin.was_recorded() => None,
                Some((origins, origin)) => Some(OriginRow {
                    id: 0,
                    stack: self.stack(frames),
                    thread: match origin.thread.0 {
                        0 => None,
                        index => self.thread(index, origins.thread(origin.thread)),
                    },
                    allocator: origin.allocator as u32,
                    birth: Some(origin.birth),
                    space: origin.space as u32,
                }),
            };
            known.insert(class, row.map(|row| self.origin(row)));
        }
        Ok(known)
    }

    /// Writes a walk.
    pub(super) fn walk(
        &mut self,
        heap: &HeapState,
        start: WalkStartRow,
        seen: &SeenWalk<'_>,
        progress: &Progress,
    ) -> Result<SavedWalk> {
        let classes = self.classes(heap);
        let origins = self.origins(heap, progress)?;
        let keys = ObjectKeys::of(heap);
        let details: Vec<Option<u32>> = heap
            .roots()
            .iter()
            .map(|root| match root.kind {
                // The file has numbers of kinds, not their words.
                RootKind::Own { .. } => self.tables.string(&root.text()),
                _ => self.tables.string(&root.detail),
            })
            .collect();
        for ((from, to), names) in seen.fields.unwrap_or(heap.reference_fields()).all() {
            let [from, to] = [from, to].map(|of| classes[of.0 as usize]);
            self.tables.fields(from, to, names.iter().map(|name| &**name));
        }
        let hidden = heap.inferred_references();
        let hidden_names: Vec<u32> = hidden.iter().map(|r| self.tables.string(r.field).unwrap_or(0)).collect();
        self.tables.write_new(&mut self.writer).map_err(error_of)?;
        let is_walk = heap.origins().is_none_or(|origins| origins.is_walk);
        let start = WalkStartRow {
            gcs: heap.origins().map_or(start.gcs, |origins| origins.gcs),
            naming: if keys.by_id { ObjectNaming::Id } else { ObjectNaming::Order },
            alignment: heap.type_sizes().alignment,
            reference: heap.type_sizes().reference,
            unit: keys.unit,
            all_alive: !is_walk,
            has_addresses: keys.has_addresses,
            has_references: heap.reference_count() > 0,
            has_roots: !heap.roots().is_empty(),
            ..start
        };
        let mut walk = self.writer.begin_walk(start).map_err(error_of)?;
        let number = walk.number();
        write_objects(&mut walk, heap, &keys, &classes, &origins, progress).map_err(|error| match error {
            Stopped::Wire(error) => error_of(error),
            Stopped::Engine(error) => error,
        })?;
        let key = |o: ObjectId| keys.key(heap, o);
        let mirrors: Vec<WalkMirrorRow> = (0..heap.types().len())
            .filter_map(|t| {
                let object = key(heap.mirror_of(memory_city_heap::TypeId(t as u32))?);
                Some(WalkMirrorRow { walk: number, class: classes[t], object })
            })
            .collect();
        let referents = heap.referents().all().iter().map(|r| WalkReferentRow {
            walk: number,
            from: key(r.from),
            to: key(r.to),
            strength: match r.strength {
                Strength::Soft => ReferentStrength::Soft,
                Strength::Weak => ReferentStrength::Weak,
                Strength::Phantom => ReferentStrength::Phantom,
                Strength::Finalizer => ReferentStrength::Finalizer,
            },
        });
        let inferred = hidden.iter().zip(&hidden_names).map(|(r, &field)| WalkInferredRow {
            walk: number,
            from: key(r.from),
            to: key(r.to),
            field,
        });
        let roots = heap.roots().iter().zip(&details).map(|(root, &detail)| WalkRootRow {
            walk: number,
            object: key(root.object),
            kind: root.kind.number().into(),
            detail,
            ..WalkRootRow::default()
        });
        walk.rows(&mirrors).map_err(error_of)?;
        walk.rows(&referents.collect::<Vec<_>>()).map_err(error_of)?;
        walk.rows(&inferred.collect::<Vec<_>>()).map_err(error_of)?;
        walk.roots(&roots.collect::<Vec<_>>()).map_err(error_of)?;
        for samples in seen.samples.chunks(1 << 14) {
            let row = |&(o, sample): &(ObjectId, u64)| WalkSampleRow { walk: number, object: key(o), sample };
            walk.rows(&samples.iter().map(row).collect::<Vec<_>>()).map_err(error_of)?;
        }
        let known = heap.origins().map_or(&[][..], |origins| &origins.followed);
        let known = known.iter().zip(heap.objects()).filter(|(id, _)| **id != 0).map(|(id, o)| (o, *id));
        let all: Vec<(ObjectId, u64)> = seen.identities.iter().copied().chain(known).collect();
        for identities in all.chunks(1 << 14) {
            let row = |&(o, identity): &(ObjectId, u64)| WalkIdentityRow { walk: number, object: key(o), identity };
            walk.rows(&identities.iter().map(row).collect::<Vec<_>>()).map_err(error_of)?;
        }
        walk.note_unlinked(seen.unlinked, seen.unlinked_classes);
        walk.note_late(seen.late);
        let end = match walk.finish(seen.pause) {
            Ok(end) => end,
            Err(WireError::WalkTooLarge { needed, .. }) => return Ok(SavedWalk::TooLarge { needed }),
            Err(error) => return Err(error_of(error)),
        };
        self.saved.walks += 1;
        self.saved.objects += end.objects;
        self.saved.references += end.references + hidden.len() as u64;
        Ok(SavedWalk::Written { objects: end.objects })
    }
}

/// The outcome of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedWalk {
    /// It is in the trace.
    Written {
        /// Its objects.
        objects: u64,
    },
    /// The trace has a bound within which there is no room for it, even where nothing else is left: it is left out, and counted.
    TooLarge {
        /// The least bound within which there is, bytes.
        needed: u64,
    },
}
