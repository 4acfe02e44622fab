//! A walk as a heap state.

use super::keys::{ids_of, keys, references, too_many};
use super::names::StreamTables;
use super::origins::{Provenance, Walked};
use super::roots::{hidden_field, root_of};
use super::scan::{SampleOrigin, Scan, WalkPlace, too_large};
use super::types::Types;
use crate::JVM;
use crate::budget::memory_budget;
use ahash::{AHashMap, AHashSet};
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    BitSet, HeapColumns, HeapState, Inference, NO_LENGTH, ObjectId, ObjectIds, ReferenceFields, Referent, Strength,
    TypeId, TypeKind,
};
use memory_city_wire::{
    ChunkKind, ObjectColumns, ObjectNaming, ReferentStrength, TraceRow, WalkIdentityRow, WalkInferredRow,
    WalkMirrorRow, WalkReferenceRow, WalkReferentRow, WalkRootRow, WalkSampleRow,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The rows of a kind that a walk has, in their order.
fn rows<R: TraceRow>(scan: &Scan, walk: &WalkPlace, read: &mut RowsRead) -> Result<Vec<R>> {
    let mut all = Vec::new();
    for &(_, file, offset) in walk.chunks.iter().filter(|chunk| chunk.0 == R::KIND) {
        let chunk = scan.chunk(file, offset)?;
        match chunk.rows::<R>() {
            Ok(decoded) => {
                // A few bytes may say that there are thousands of rows. Of each something is made that takes about as much.
                let each = 2 * size_of::<R>() as u64;
                read.memory += decoded.rows.len() as u64 * each + u64::from(chunk.plain_length());
                if read.memory > read.budget {
                    return Err(too_large(&scan.files[walk.file].path, read.budget));
                }
                all.extend(decoded.rows);
            }
            Err(_) => read.lost += 1,
        }
    }
    Ok(all)
}

/// The amount read of a walk.
struct RowsRead {
    /// Chunks that are damaged inside.
    lost: u64,
    /// Bytes that rows and objects take.
    memory: u64,
    /// The limit for these bytes.
    budget: u64,
}

/// The sampled objects of a walk: the number of the sample, and the object.
pub(super) type SampleLinks = Vec<(u64, ObjectId)>;

/// Reads a walk; behind it, which of its objects are samples, by the number of the sample.
///
/// # Errors
/// When it has more objects or references than can be numbered, two objects are at one place, or the work was cancelled. Damaged parts are
/// left out, with warnings.
pub(super) fn heap_state(
    scan: &Scan,
    walk: &WalkPlace,
    provenance: &Provenance,
    progress: &Progress,
) -> Result<(HeapState, SampleLinks)> {
    let start = &walk.start;
    let path = &scan.files[walk.file].path;
    let places: Vec<(usize, u64)> =
        walk.chunks.iter().filter(|c| c.0 == ChunkKind::WALK_OBJECTS).map(|c| (c.1, c.2)).collect();
    progress.begin(progress.snapshot().stage, 2 * places.len() as u64);
    let (budget, taken) = (memory_budget(), AtomicU64::new(0));
    let read: Vec<Option<ObjectColumns>> = places
        .par_iter()
        .map(|&(file, offset)| {
            progress.check()?;
            progress.advance(1);
            let chunk = scan.chunk(file, offset)?;
            let Ok(columns) = chunk.objects() else { return Ok(None) };
            // A few bytes may say that there are millions of objects. Beside the list there will be the state.
            if taken.fetch_add(2 * columns.memory(), Relaxed) > budget {
                return Err(too_large(path, budget));
            }
            Ok(Some(columns).filter(|columns| columns.walk == start.walk))
        })
        .collect::<Result<_>>()?;
    let lost = read.iter().filter(|columns| columns.is_none()).count() as u64;
    let mut read_rows = RowsRead { lost, memory: taken.into_inner(), budget };
    let mut lists: Vec<ObjectColumns> = read.into_iter().flatten().collect();
    lists.sort_by_key(|columns| columns.first);
    let total: u64 = lists.iter().map(|columns| columns.len() as u64).sum();
    if total >= u64::from(u32::MAX) {
        return Err(too_many(path, "objects"));
    }
    let by_id = start.naming == ObjectNaming::Id;
    let (keys, addresses) = keys(path, &lists, start.has_addresses, by_id, start.unit)?;
    let n = total as usize;

    let tables = &scan.streams[&walk.stream];
    let mut warnings = Vec::new();
    let mut warn = |message: String| warnings.push(Warning { path: path.clone(), offset: None, message });
    let mirrors: Vec<WalkMirrorRow> = rows(scan, walk, &mut read_rows)?;
    let root_rows: Vec<WalkRootRow> = rows(scan, walk, &mut read_rows)?;
    let mut used: AHashSet<u32> = lists.iter().flat_map(|list| &list.classes).copied().collect();
    used.extend(mirrors.iter().map(|row| row.class).chain(root_rows.iter().filter_map(|row| row.class)));
    let mut types = Types::of(tables, used, start.alignment, start.reference);

    // Columns by object.
    let mut type_of = vec![0u32; n];
    let mut length = vec![NO_LENGTH; n];
    let mut odd_sizes = FxHashMap::default();
    let mut origin_of: Vec<Option<u32>> = Vec::new();
    let mut number_of: Vec<u32> = Vec::new();
    let mut place = 0u32;
    for list in &lists {
        progress.check()?;
        for at in 0..list.len() {
            let o = keys.number(place).0 as usize;
            place += 1;
            type_of[o] = types.number(list.classes[at]);
            let is_array = types.types[type_of[o] as usize].kind != TypeKind::Instance;
            length[o] = list.lengths.get(at).copied().flatten().unwrap_or(if is_array { 0 } else { NO_LENGTH });
            if let Some(size) = list.sizes.get(at).copied().flatten() {
                odd_sizes.insert(o as u32, size);
            }
            if let Some(origin) = list.origins.get(at).copied().flatten() {
                origin_of.resize(n, None);
                origin_of[o] = Some(origin);
            }
            if by_id {
                number_of.resize(n, 0);
                number_of[o] = u32::try_from(list.key(at)).unwrap_or(u32::MAX);
            }
        }
    }

    // Sums of bytes are 64 bits everywhere.
    let plain = type_of.iter().zip(&length).map(|(&of, &length)| types.sizes.size(of as usize, length));
    let bytes: u128 = plain.chain(odd_sizes.values().copied()).map(u128::from).sum();
    if bytes > u128::from(u64::MAX / 2) {
        return Err(too_many(path, "bytes"));
    }

    let mut dangling = 0;
    let further: Vec<WalkReferenceRow> = rows(scan, walk, &mut read_rows)?;
    let outgoing = references(path, &lists, &keys, n, &further, &mut dangling, progress)?;
    let no_addresses = !start.has_addresses;
    let ids = if no_addresses { ids_of(&lists, &keys, by_id, n) } else { ObjectIds::default() };
    drop(lists);

    let mut find = |key: u64| {
        let found = keys.find(key);
        dangling += u64::from(found.is_none());
        found
    };
    let mut mirror_of = vec![None; types.types.len()];
    for row in mirrors {
        if let Some(o) = find(row.object) {
            let of = types.number(row.class) as usize;
            mirror_of.resize(types.types.len(), None);
            mirror_of[of] = Some(o);
        }
    }
    let strength = |s: ReferentStrength| match s {
        ReferentStrength::Soft => Strength::Soft,
        ReferentStrength::Weak => Strength::Weak,
        ReferentStrength::Phantom => Strength::Phantom,
        ReferentStrength::Finalizer => Strength::Finalizer,
    };
    let mut referents = Vec::new();
    for row in rows::<WalkReferentRow>(scan, walk, &mut read_rows)? {
        if let (Some(from), Some(to)) = (find(row.from), find(row.to)) {
            referents.push(Referent::new(from, to, strength(row.strength)));
        }
    }
    let mut roots = Vec::new();
    for (number, row) in root_rows.into_iter().enumerate() {
        if number % 1024 == 0 {
            progress.check()?;
        }
        if let Some(object) = find(row.object) {
            roots.push(root_of(tables, &types, &row, object));
        }
    }
    let mut inferred = Vec::new();
    for row in rows::<WalkInferredRow>(scan, walk, &mut read_rows)? {
        if let (Some(from), Some(to)) = (find(row.from), find(row.to)) {
            inferred.push((from, to, hidden_field(&tables.string(row.field))));
        }
    }
    let mut followed = Vec::new();
    for row in rows::<WalkIdentityRow>(scan, walk, &mut read_rows)? {
        if let Some(o) = find(row.object) {
            followed.resize(n, 0);
            followed[o.0 as usize] = row.identity;
        }
    }
    let mut sample_of: AHashMap<u32, SampleOrigin> = AHashMap::default();
    let mut links = Vec::new();
    let mut without_sample = 0u64;
    for row in rows::<WalkSampleRow>(scan, walk, &mut read_rows)? {
        match (find(row.object), scan.samples.get(&row.sample)) {
            (Some(o), Some(&sample)) => {
                links.push((row.sample, o));
                sample_of.insert(o.0, sample);
            }
            (Some(o), None) => {
                links.push((row.sample, o));
                without_sample += 1;
            }
            _ => {}
        }
    }

    let walked = Walked { scan, walk, provenance, n, origin_of, number_of, sample_of, followed, ids };
    let (sites, traces, origins) = walked.origins();
    let lost = read_rows.lost;
    if lost > 0 {
        warn(format!("walk {}: {lost} chunks are damaged inside and were left out", start.walk));
    }
    if dangling > 0 {
        warn(format!("walk {}: {dangling} references or roots lead to objects that are not in it", start.walk));
    }
    if without_sample > 0 {
        warn(format!("walk {}: of {without_sample} sampled objects the sample is not there", start.walk));
    }
    if types.lost > 0 {
        warn(format!("walk {}: {} classes have no name, because what named them was lost", start.walk, types.lost));
    }
    if let Some(end) = walk.end.as_ref().filter(|end| end.objects != total) {
        warn(format!("walk {}: {total} of {} objects are there", start.walk, end.objects));
    }
    if !start.note.is_empty() {
        warn(format!("walk {}: {}", start.walk, start.note));
    }
    mirror_of.resize(types.types.len(), None);
    let fields = reference_fields(tables, &types.number);
    let columns = HeapColumns {
        profile: &JVM,
        loaders: types.loaders,
        types: types.types,
        sizes: types.sizes,
        type_of,
        length,
        odd_sizes,
        addresses,
        outgoing,
        referents,
        roots,
        mirror_of,
        sites,
        traces,
        origins,
        warnings,
        ..HeapColumns::default()
    };
    if start.all_alive {
        return Ok((HeapState::with_reachable(columns, BitSet::full(n)).with_reference_fields(fields), links));
    }
    if inferred.is_empty() {
        return Ok((HeapState::new(columns).with_reference_fields(fields), links));
    }
    let mut inference = Inference::new(columns);
    inferred.into_iter().for_each(|(from, to, field)| inference.add_reference(from, to, field));
    Ok((inference.finish()?.with_reference_fields(fields), links))
}

/// The stream's fields for the classes of a walk.
fn reference_fields(tables: &StreamTables, number: &AHashMap<u32, u32>) -> ReferenceFields {
    let mut fields = ReferenceFields::default();
    let mut names: AHashMap<u32, Arc<str>> = AHashMap::default();
    for ((from, to), held_by) in &tables.fields {
        let (Some(&from), Some(&to)) = (number.get(from), number.get(to)) else { continue };
        // Where one has no name, it may be that one.
        if held_by.iter().any(|field| field.is_none_or(|field| !tables.strings.contains_key(&field))) {
            continue;
        }
        for field in held_by.iter().copied().flatten() {
            let name = names.entry(field).or_insert_with(|| tables.string(field));
            fields.add(TypeId(from), TypeId(to), name);
        }
    }
    fields
}
