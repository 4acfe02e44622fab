//! HPROF heap dumps, which every JVM and Android can write.
//!
//! A dump is read in passes over its memory-mapped bytes, each on all cores. First come the top level ([`index`]) and a census of classes
//! and addresses ([`census`]), from which classes and exact sizes follow ([`classes`], [`sizes`]). Types and references ([`graph`]), roots
//! ([`roots`]) and thread names ([`names`]) are next. The values of fields are read again on demand ([`values`]).
//!
//! The objects are instances, arrays, and one object for each loaded class (its `java.lang.Class` mirror). The VM's own histogram agrees in
//! counts and bytes for every class but `java.lang.Class`. Dumps hold the mirrors as class records without size, so their size is estimated
//! from the class's static fields and the distance to the next object.

mod census;
mod classes;
mod cursor;
mod format;
mod graph;
mod header;
mod hidden;
mod index;
mod judging;
pub(crate) mod leftovers;
mod limits;
mod loaders;
mod names;
mod peers;
mod roots;
mod segment;
mod sizes;
mod tags;
mod values;

pub(crate) use format::format;
pub(crate) use header::DumpHeader;
use index::DumpIndex;
pub use index::element_name;
pub use limits::DumpLimits;
use limits::{check_tables, condense, without_objects};
use peers::Reading;
pub use peers::{Peer, PeerStep};
use segment::{ClassRecord, RootRecord};
use values::DumpTables;
pub use values::values;

use crate::JVM;
use crate::budget::memory_text;
use crate::foreign::damaged;
use crate::values::{HeapValues, RecordTables};
use ahash::AHashMap;
use census::Census;
use classes::ClassTable;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    AddressMap, AddressSet, AllocationSite, HeapColumns, HeapState, Inference, ObjectId, ReferenceFields,
    TooManyAddresses, TypeKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use std::sync::Arc;

/// Reads a dump.
///
/// # Errors
/// When it is no dump at all, holds more than [`DumpLimits`] allow, or the work was cancelled. A damaged or cut dump gives its readable
/// part, with warnings.
pub fn load(input: &Input, progress: &Progress) -> Result<HeapState> {
    load_within(input, DumpLimits::default(), progress)
}

/// As [`load`], with custom limits.
///
/// # Errors
/// As [`load`].
pub fn load_within(input: &Input, limits: DumpLimits, progress: &Progress) -> Result<HeapState> {
    load_with_tables(input, limits, Reading::default(), progress).map(|(heap, _)| heap)
}

/// Reads a dump as a step of a comparison with another tool wants it: see [`Peer`].
///
/// # Errors
/// As [`load`].
pub fn load_as(step: &PeerStep, input: &Input, progress: &Progress) -> Result<HeapState> {
    load_with_tables(input, DumpLimits::default(), step.reading(), progress).map(|(heap, _)| heap)
}

/// Reads a dump that a recorder had taken, which held objects by JNI global references so that it can tell where they are.
///
/// The heap state is as if those references had not been there; beside it, of each of the `handles` that the dump has, the
/// object. Handles are as the dump writes them: without the marks that JNI puts into the lowest three bits. A handle that
/// the dump lacks is in neither.
///
/// # Errors
/// As [`load`].
pub fn load_held(
    input: &Input,
    handles: &FxHashSet<u64>,
    progress: &Progress,
) -> Result<(HeapState, FxHashMap<u64, ObjectId>)> {
    let (heap, _, held) = load_without(input, DumpLimits::default(), Reading::default(), handles, progress)?;
    let found = held_objects(&heap, held);
    Ok((heap, found))
}

/// The objects held by a recorder that are in the heap state, by handle.
fn held_objects(heap: &HeapState, held: HeldAddresses) -> FxHashMap<u64, ObjectId> {
    held.into_iter().filter_map(|(handle, address)| Some((handle, heap.object_at(address)?))).collect()
}

/// A dump that a recorder had taken, as [`load_held`] reads it.
pub struct HeldDump {
    /// The heap state.
    pub heap: Arc<HeapState>,
    /// By handle: the object.
    pub held: FxHashMap<u64, ObjectId>,
    /// The fields that hold objects, by types: a walk keeps only these of the dump's records.
    pub fields: ReferenceFields,
}

/// As [`load_held`], with the names of fields. Costs a second pass over the records.
///
/// # Errors
/// As [`load`].
pub fn load_walk(input: Input, handles: &FxHashSet<u64>, progress: &Progress) -> Result<HeldDump> {
    let (heap, tables, held) = load_without(&input, DumpLimits::default(), Reading::default(), handles, progress)?;
    let held = held_objects(&heap, held);
    let heap = Arc::new(heap);
    let fields = HeapValues::new(Arc::clone(&heap), Arc::new(tables).open(input)?).reference_fields(progress)?;
    Ok(HeldDump { heap, held, fields })
}

/// As [`load_within`], with the tables to find the values of objects later.
fn load_with_tables(
    input: &Input,
    limits: DumpLimits,
    reading: Reading,
    progress: &Progress,
) -> Result<(HeapState, DumpTables)> {
    load_without(input, limits, reading, &FxHashSet::default(), progress).map(|(heap, tables, _)| (heap, tables))
}

/// A running JVM has at least so many objects, and leaves out references to far fewer (JDK 17 and 25: 600 to 830).
const OF_A_VM: u64 = 20_000;
const ARCHIVED: u64 = 2_000;

/// Handles and addresses of the objects that a recorder held.
type HeldAddresses = Vec<(u64, u64)>;

/// Without the JNI global references of these handles; beside the rest, handle and address of each of them that is there.
fn load_without(
    input: &Input,
    limits: DumpLimits,
    reading: Reading,
    handles: &FxHashSet<u64>,
    progress: &Progress,
) -> Result<(HeapState, DumpTables, HeldAddresses)> {
    let bytes = input.bytes();
    let header = DumpHeader::read(&input.path, bytes)?;
    if let Some(damage) = damaged(bytes) {
        return Err(damage.error(&input.path));
    }
    let mut index = DumpIndex::read(&input.path, bytes, &header, limits.memory);
    let heap_bytes: usize = index.pieces.iter().map(|p| p.len()).sum();
    progress.begin(progress.snapshot().stage, 3 * heap_bytes as u64);
    // Objects lie at multiples of eight. Should a dump disagree, every address gets a slot.
    let (mut census, addresses) = match take_census(input, &header, &index, 3, limits, progress)? {
        (census, _) if census.misaligned => take_census(input, &header, &index, 0, limits, progress)?,
        done => done,
    };
    if census.objects == 0 {
        return Err(without_objects(&input.path, bytes.len() as u64));
    }
    check_tables(&input.path, &census, limits)?;
    graph::make_sure_of_columns(&input.path, addresses.len() as u64, census.traced)?;
    let mut held = Vec::new();
    census.roots.retain(|root| {
        let ours = root.tag == tags::root::JNI_GLOBAL && handles.contains(&root.handle);
        if ours {
            held.push((root.handle, root.object));
        }
        !ours
    });
    let mut classes = ClassTable::new(input, &header, &index, &census, limits, progress)?;
    let graph = graph::graph(input, &header, &index, &census, &addresses, &classes, limits, reading.peer, progress)?;
    let names = names::ObjectNames::read(input, &header, &index, &census);
    let is_root = |record: &RootRecord| reading.is_root(record);
    let roots = roots::roots(bytes, &index, &census, &classes, &addresses, &names, is_root);
    index.check_texts(&input.path)?;
    progress.check()?;
    let loaders = loaders::loaders(&mut classes, &addresses, &graph.type_of, &names);

    let mut warnings = input.warnings.clone();
    warnings.append(&mut index.warnings);
    warnings.extend(census.warnings.iter().cloned());
    // HotSpot leaves out archived objects of classes that were never loaded, but not every reference to them: some are
    // usual, some hundreds in a small program too (its classes alone have as many objects). Many mean that something is missing.
    let archived = if census.objects >= OF_A_VM { ARCHIVED } else { 0 };
    let many = (graph.outgoing.len() as u64 / 100).max(archived);
    if graph.dangling > 0 && (graph.dangling <= many && warnings.is_empty()) {
        tracing::info!("{}: {} references to objects that are not in the dump", input.path.display(), graph.dangling);
    } else if graph.dangling > 0 {
        warnings.push(Warning {
            path: input.path.clone(),
            offset: None,
            message: format!(
                "{} references lead to objects that are not in the dump; they were left out",
                graph.dangling
            ),
        });
    }
    let mirror_of =
        classes.object_of.iter().map(|&id| if id == 0 { None } else { addresses.find(id) }).collect::<Vec<_>>();
    let mut odd_sizes: FxHashMap<u32, u64> = match reading.peer {
        Some(Peer::HprofAnalyzer) => {
            let size = |r: &ClassRecord| Some((addresses.find(r.id)?.0, classes.statics_size(r).into()));
            census.records.iter().filter_map(size).collect()
        }
        _ => mirror_sizes(&classes, &census, &addresses),
    };
    if header.android {
        sizes::inline_texts(&classes, &addresses, &graph.type_of, &graph.length, &mut odd_sizes);
    }
    let traces = allocation_sites(bytes, &index, &graph.site);
    index.check_texts(&input.path)?;
    let dump =
        hidden::Dump { input, header: &header, index: &index, census: &census, classes: &classes, noted: &graph.noted };
    let mut inference = Inference::new(HeapColumns {
        profile: &JVM,
        types: classes.types.clone(),
        loaders,
        sizes: classes.sizes.clone(),
        type_of: graph.type_of,
        length: graph.length,
        odd_sizes,
        addresses,
        outgoing: graph.outgoing,
        referents: graph.referents,
        roots,
        mirror_of,
        sites: graph.site,
        traces,
        warnings: condense(warnings, index.more_warnings + census.more_warnings),
        ..HeapColumns::default()
    });
    if reading.attach(&mut inference, &census.roots, progress)? {
        hidden::attach(&mut inference, &dump);
    }
    let tables = DumpTables::new(bytes, &header, &index, &census);
    index.check_texts(&input.path)?;
    let heap = inference.finish()?;
    let unjudged = judging::reasons(&input.path, &heap, &census, progress)?;
    Ok((heap.with_warnings(unjudged), tables, held))
}

/// Reads a dump that is in memory, under a name for messages.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(name: &Path, bytes: Vec<u8>) -> Result<HeapState> {
    load(&Input::from_bytes(name, bytes), &Progress::new())
}

fn take_census(
    input: &Input,
    header: &DumpHeader,
    index: &DumpIndex,
    shift: u32,
    limits: DumpLimits,
    progress: &Progress,
) -> Result<(Census, AddressMap)> {
    let set = AddressSet::within(shift, limits.memory);
    let census = census::census(input, header, index, Some(&set), limits.memory, progress)?;
    let path = input.path.display();
    let addresses = set.finish_within(limits.objects).map_err(|many| match many {
        TooManyAddresses::Objects(count) => Error::Unusable {
            what: format!("{path} has {count} objects, more than the {} that can be numbered", limits.objects),
            remedy: "Take a dump of live objects only (jcmd PID GC.heap_dump without -all), or of a smaller heap".into(),
        },
        TooManyAddresses::Scattered(bytes) => Error::Unusable {
            what: format!("{path} has objects at so scattered addresses that a map of them takes more than {}", memory_text(bytes)),
            remedy: "Open it on a machine with more memory; if the program's heap is small, the dump is damaged: take it again".into(),
        },
    })?;
    Ok((census, addresses))
}

fn mirror_sizes(classes: &ClassTable, census: &Census, addresses: &AddressMap) -> FxHashMap<u32, u64> {
    let mut sizes = FxHashMap::default();
    for record in &census.records {
        let Some(o) = addresses.find(record.id) else { continue };
        if classes.record_type != classes.class_type {
            sizes.insert(o.0, 0);
            continue;
        }
        let planned = u64::from(classes.mirror_size(record));
        let next = (o.0 as usize + 1 < addresses.len()).then(|| addresses.address(ObjectId(o.0 + 1)));
        // The distance to the next object is exact unless something dead lies between.
        let size = match next.map(|n| n - record.id) {
            Some(gap) if gap >= 16 && gap <= planned + 64 => gap,
            _ => planned,
        };
        sizes.insert(o.0, size);
    }
    sizes
}

fn allocation_sites(bytes: &[u8], index: &DumpIndex, site: &[u32]) -> AHashMap<u32, AllocationSite> {
    let mut traces = AHashMap::default();
    let mut texts: AHashMap<u64, Arc<str>> = AHashMap::default();
    for &serial in site {
        if serial != 0 && !traces.contains_key(&serial) {
            let text =
                |&frame: &u64| Arc::clone(texts.entry(frame).or_insert_with(|| index.kept_frame(bytes, frame).into()));
            let frames = index.frames(serial).iter().map(text).collect();
            traces.insert(serial, AllocationSite { frames });
        }
    }
    traces
}

/// Objects and bytes of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// Class name.
    pub class: String,
    /// Objects.
    pub objects: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Objects and bytes of every class, largest first, without building the graph: one pass.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The classes.
    pub rows: Vec<HistogramRow>,
    /// Warnings about the dump.
    pub warnings: Vec<Warning>,
}

/// Counts a dump. Class objects are counted as `java.lang.Class`, their bytes estimated.
///
/// # Errors
/// As [`load`].
pub fn histogram(input: &Input, progress: &Progress) -> Result<Histogram> {
    let bytes = input.bytes();
    let header = DumpHeader::read(&input.path, bytes)?;
    let limits = DumpLimits::default();
    let index = DumpIndex::read(&input.path, bytes, &header, limits.memory);
    let heap_bytes: usize = index.pieces.iter().map(|p| p.len()).sum();
    progress.begin(format!("Counting {}", input.path.display()), heap_bytes as u64);
    let census = census::census(input, &header, &index, None, limits.memory, progress)?;
    check_tables(&input.path, &census, limits)?;
    let classes = ClassTable::new(input, &header, &index, &census, limits, progress)?;
    index.check_texts(&input.path)?;
    let mut rows: AHashMap<u32, (u64, u64)> = AHashMap::new();
    for (id, tally) in &census.classes {
        let Some(&t) = classes.by_id.get(id) else { continue };
        let base = u64::from(classes.sizes.base[t as usize]);
        let element = u64::from(classes.sizes.element[t as usize]);
        let bytes = match (&tally.arrays, classes.types[t as usize].kind) {
            (Some(arrays), TypeKind::ObjectArray | TypeKind::PrimitiveArray) => {
                arrays.bytes(base, element, u64::from(classes.sizes.alignment))
            }
            _ => base * tally.count,
        };
        let row = rows.entry(t).or_default();
        row.0 += tally.count;
        row.1 += bytes;
    }
    if classes.record_type == classes.class_type {
        let mirrors = rows.entry(classes.class_type).or_default();
        mirrors.0 += census.records.len() as u64;
        mirrors.1 += census.records.iter().map(|r| u64::from(classes.mirror_size(r))).sum::<u64>();
    }
    let mut rows: Vec<HistogramRow> = rows
        .into_iter()
        .filter(|(_, (objects, _))| *objects > 0)
        .map(|(t, (objects, bytes))| HistogramRow { class: classes.types[t as usize].name.clone(), objects, bytes })
        .collect();
    rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
    let more = index.more_warnings + census.more_warnings;
    let warnings = [index.warnings, census.warnings].concat();
    Ok(Histogram { rows, warnings: condense(warnings, more) })
}
