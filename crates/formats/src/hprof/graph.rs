//! The second and third pass over the heap segments: types and lengths of all objects, then their references.
//!
//! The second pass counts references, the third writes them at the places that the counts give: no list per object, no second copy. Each
//! pass runs over all pieces in parallel.

use super::census::Census;
use super::classes::ClassTable;
use super::cursor::{Cursor, id_at};
use super::peers::Peer;
use super::segment::{self, ClassRecord, Visitor};
use super::{DumpHeader, DumpIndex, DumpLimits};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::memory::make_sure;
use memory_city_heap::progress::Progress;
use memory_city_heap::texts::{count_text, objects_text};
use memory_city_heap::{AddressMap, Csr, ObjectId, Referent, Strength};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The columns.
pub(super) struct Graph {
    /// Type of each object.
    pub(super) type_of: Vec<u32>,
    /// Length of each array; `u32::MAX` for instances.
    pub(super) length: Vec<u32>,
    /// References.
    pub(super) outgoing: Csr,
    /// Allocation trace serial of each object, when the dump has traces.
    pub(super) site: Vec<u32>,
    /// References to objects that are not in the dump.
    pub(super) dangling: u64,
    /// The referents of reference objects.
    pub(super) referents: Vec<Referent>,
    /// Where the field values of instances of [`ClassTable::noted`] types stand in the file, ascending by object.
    pub(super) noted: Vec<(ObjectId, usize)>,
}

/// Bytes that the columns take for each object, if each refers to one other; 4 more for each further reference, and where there are
/// allocation traces.
const COLUMN_BYTES: u64 = 16;

/// Makes sure that there is memory for the columns of so many objects.
///
/// # Errors
/// When there is less.
pub(super) fn make_sure_of_columns(path: &Path, objects: u64, traced: bool) -> Result<()> {
    let bytes = objects * (COLUMN_BYTES + if traced { 4 } else { 0 });
    make_sure(bytes, || format!("Reading {} with {}", path.display(), objects_text(objects)))
}

/// The data shared by the passes.
struct SharedGraph<'a> {
    id_size: usize,
    addresses: &'a AddressMap,
    classes: &'a ClassTable,
    peer: Option<Peer>,
}

/// Reads types, lengths and references.
///
/// # Errors
/// When cancelled, or when there are more references than `limits` allow.
#[expect(clippy::too_many_arguments, reason = "what the passes before it found, each a thing of its own")]
pub(super) fn graph(
    input: &Input,
    header: &DumpHeader,
    index: &DumpIndex,
    census: &Census,
    addresses: &AddressMap,
    classes: &ClassTable,
    limits: DumpLimits,
    peer: Option<Peer>,
    progress: &Progress,
) -> Result<Graph> {
    let n = addresses.len();
    let shared = SharedGraph { id_size: header.id_size, addresses, classes, peer };
    let mut type_of = vec![0u32; n];
    let mut length = vec![0u32; n];
    let mut offsets = vec![0u32; n + 1];
    let mut site = vec![0u32; if census.traced { n } else { 0 }];
    {
        let columns = GraphColumns {
            type_of: atomics(&mut type_of),
            length: atomics(&mut length),
            degree: atomics(&mut offsets),
            site: atomics(&mut site),
        };
        over_pieces(input, header, index, progress, || Describe { shared: &shared, columns: &columns, last: (0, 0) })?;
    }
    let mut sum = 0u64;
    for slot in &mut offsets {
        let degree = *slot;
        *slot = sum as u32;
        sum += u64::from(degree);
        if sum > u64::from(limits.references) {
            return Err(Error::Unusable {
                what: format!("{} has more than {} references", input.path.display(), limits.references),
                remedy: "Take a dump of live objects only (jcmd PID GC.heap_dump without -all), or of a smaller heap"
                    .into(),
            });
        }
    }
    make_sure(4 * sum, || format!("Reading {} with {} references", input.path.display(), count_text(sum)))?;
    // A reference is kept as target + 1 until all are there: 0 is a slot nobody filled.
    let mut targets = vec![0u32; sum as usize];
    let dangling = AtomicU64::new(0);
    let (noted, referents) = (Mutex::default(), Mutex::default());
    {
        let slots = atomics(&mut targets);
        over_pieces(input, header, index, progress, || Connect {
            shared: &shared,
            offsets: &offsets,
            slots,
            dangling: &dangling,
            start: input.bytes().as_ptr().addr(),
            noted: &noted,
            referents: &referents,
            last: (0, 0),
        })?;
    }
    let mut noted = noted.into_inner().unwrap_or_else(|e| e.into_inner());
    noted.sort_unstable();
    let referents = referents.into_inner().unwrap_or_else(|e| e.into_inner());
    let empty: u64 = targets.par_iter().map(|&t| u64::from(t == 0)).sum();
    if empty > 0 {
        drop_empty(&mut offsets, &mut targets);
    }
    targets.par_iter_mut().for_each(|t| *t -= 1);
    let targets: Vec<ObjectId> = targets.into_iter().map(ObjectId).collect();
    let outgoing = Csr::new(offsets, targets);
    Ok(Graph { type_of, length, outgoing, site, dangling: dangling.into_inner(), referents, noted })
}

/// Removes slots that were not filled.
fn drop_empty(offsets: &mut [u32], targets: &mut Vec<u32>) {
    let mut to = 0;
    let mut start = offsets.first().copied().unwrap_or(0) as usize;
    for i in 0..offsets.len().saturating_sub(1) {
        let end = offsets[i + 1] as usize;
        offsets[i] = to as u32;
        for at in start..end {
            if targets[at] != 0 {
                targets[to] = targets[at];
                to += 1;
            }
        }
        start = end;
    }
    if let Some(last) = offsets.last_mut() {
        *last = to as u32;
    }
    targets.truncate(to);
}

/// A column that several threads write.
fn atomics(column: &mut [u32]) -> &[AtomicU32] {
    // SAFETY: AtomicU32 has the size, alignment and bit validity of u32, and the exclusive borrow lasts as long as the
    // shared one that is returned, so nobody reads or writes the memory other than through the atomics.
    unsafe { &*(std::ptr::from_mut(column) as *const [AtomicU32]) }
}

fn over_pieces<V: Visitor>(
    input: &Input,
    header: &DumpHeader,
    index: &DumpIndex,
    progress: &Progress,
    visitor: impl Fn() -> V + Sync,
) -> Result<()> {
    index.pieces.par_iter().try_for_each(|piece| {
        progress.check()?;
        // Where it stops the census has already said so.
        let _ = segment::walk(input.bytes(), piece.clone(), header.id_size, &mut visitor());
        input.release(piece.clone());
        progress.advance(piece.len() as u64);
        Ok(())
    })
}

struct GraphColumns<'a> {
    type_of: &'a [AtomicU32],
    length: &'a [AtomicU32],
    degree: &'a [AtomicU32],
    site: &'a [AtomicU32],
}

impl SharedGraph<'_> {
    #[inline(always)]
    fn type_number(&self, class: u64, last: &mut (u64, u32)) -> u32 {
        if last.0 != class {
            *last = (class, self.classes.by_id.get(&class).copied().unwrap_or(self.classes.class_type));
        }
        last.1
    }

    /// The references among the field values of an instance.
    #[inline(always)]
    fn fields(&self, t: u32, values: &[u8], mut each: impl FnMut(u64)) {
        for &at in &self.classes.references[t as usize] {
            if let Some(value) = values.get(at as usize..).and_then(|v| id_at(v, self.id_size))
                && value != 0
            {
                each(value);
            }
        }
    }

    #[inline(always)]
    fn elements(&self, elements: &[u8], mut each: impl FnMut(u64)) {
        if self.id_size == 8 {
            for id in elements.as_chunks::<8>().0 {
                let id = u64::from_be_bytes(*id);
                if id != 0 {
                    each(id);
                }
            }
        } else {
            for id in elements.as_chunks::<4>().0 {
                let id = u32::from_be_bytes(*id);
                if id != 0 {
                    each(u64::from(id));
                }
            }
        }
    }
}

/// The references of a class object: all that its record has, or those that another tool takes of it.
fn class_references(record: &ClassRecord, peer: Option<Peer>, each: impl FnMut(u64)) {
    let statics = record.statics.iter().filter(|(_, kind, _)| *kind == 2).map(|(_, _, value)| *value);
    let (before, after): (&[u64], &[u64]) = match peer {
        None => (&[record.superclass, record.loader, record.signers, record.domain], &[]),
        Some(Peer::VisualVm) => (&[], &[record.loader]),
        Some(Peer::HprofAnalyzer) => (&[record.superclass, record.loader], &[]),
    };
    before.iter().copied().chain(statics).chain(after.iter().copied()).filter(|&id| id != 0).for_each(each);
}

struct Describe<'a> {
    shared: &'a SharedGraph<'a>,
    columns: &'a GraphColumns<'a>,
    last: (u64, u32),
}

impl Describe<'_> {
    #[inline(always)]
    fn set(&self, id: u64, trace: u32, t: u32, length: u32, degree: u32) {
        let Some(o) = self.shared.addresses.find(id) else { return };
        let i = o.0 as usize;
        self.columns.type_of[i].store(t, Relaxed);
        self.columns.length[i].store(length, Relaxed);
        self.columns.degree[i].store(degree, Relaxed);
        if let Some(site) = self.columns.site.get(i) {
            site.store(trace, Relaxed);
        }
    }
}

impl Visitor for Describe<'_> {
    fn class(&mut self, cursor: &mut Cursor<'_>, id_size: usize) -> Option<()> {
        let record = segment::read_class(cursor, id_size)?;
        let mut degree = 0;
        class_references(&record, self.shared.peer, |_| degree += 1);
        self.set(record.id, 0, self.shared.classes.record_type, u32::MAX, degree);
        Some(())
    }

    #[inline(always)]
    fn instance(&mut self, id: u64, trace: u32, class: u64, values: &[u8]) {
        let t = self.shared.type_number(class, &mut self.last);
        let mut degree = 0;
        self.shared.fields(t, values, |_| degree += 1);
        self.set(id, trace, t, u32::MAX, degree);
    }

    #[inline(always)]
    fn object_array(&mut self, id: u64, trace: u32, class: u64, elements: &[u8]) {
        let t = self.shared.type_number(class, &mut self.last);
        let mut degree = 0;
        self.shared.elements(elements, |_| degree += 1);
        self.set(id, trace, t, (elements.len() / self.shared.id_size) as u32, degree);
    }

    #[inline(always)]
    fn primitive_array(&mut self, id: u64, trace: u32, kind: u8, length: u32, _: &[u8]) {
        let t = self.shared.type_number(u64::from(kind), &mut self.last);
        self.set(id, trace, t, length.min(u32::MAX - 1), 0);
    }
}

struct Connect<'a> {
    shared: &'a SharedGraph<'a>,
    offsets: &'a [u32],
    slots: &'a [AtomicU32],
    dangling: &'a AtomicU64,
    /// Address of the first byte of the file.
    start: usize,
    noted: &'a Mutex<Vec<(ObjectId, usize)>>,
    referents: &'a Mutex<Vec<Referent>>,
    last: (u64, u32),
}

impl Connect<'_> {
    /// Where the references of the object at `id` go.
    #[inline(always)]
    fn slots(&self, id: u64) -> &[AtomicU32] {
        match self.shared.addresses.find(id) {
            Some(o) => {
                let i = o.0 as usize;
                &self.slots[self.offsets[i] as usize..self.offsets[i + 1] as usize]
            }
            None => &[],
        }
    }

    #[inline(always)]
    fn connect(&self, slot: Option<&AtomicU32>, target: u64) {
        match (slot, self.shared.addresses.find(target)) {
            (Some(slot), Some(o)) => slot.store(o.0 + 1, Relaxed),
            (None, _) => {}
            (_, None) => {
                self.dangling.fetch_add(1, Relaxed);
            }
        }
    }
}

impl Connect<'_> {
    #[cold]
    fn note(&self, id: u64, values: &[u8]) {
        if let Some(o) = self.shared.addresses.find(id) {
            let at = values.as_ptr().addr() - self.start;
            self.noted.lock().unwrap_or_else(|e| e.into_inner()).push((o, at));
        }
    }
}

impl Connect<'_> {
    #[cold]
    fn refer(&self, id: u64, values: &[u8], (at, strength): (u32, Strength)) {
        let value = values.get(at as usize..).and_then(|v| id_at(v, self.shared.id_size)).filter(|&v| v != 0);
        let addresses = self.shared.addresses;
        if let (Some(from), Some(to)) = (addresses.find(id), value.and_then(|v| addresses.find(v))) {
            self.referents.lock().unwrap_or_else(|e| e.into_inner()).push(Referent::new(from, to, strength));
        }
    }
}

impl Visitor for Connect<'_> {
    fn class(&mut self, cursor: &mut Cursor<'_>, id_size: usize) -> Option<()> {
        let record = segment::read_class(cursor, id_size)?;
        let mut slots = self.slots(record.id).iter();
        class_references(&record, self.shared.peer, |target| self.connect(slots.next(), target));
        Some(())
    }

    #[inline(always)]
    fn instance(&mut self, id: u64, _: u32, class: u64, values: &[u8]) {
        let t = self.shared.type_number(class, &mut self.last);
        if self.shared.classes.references[t as usize].is_empty() {
            return;
        }
        let mut slots = self.slots(id).iter();
        self.shared.fields(t, values, |target| self.connect(slots.next(), target));
        if let Some(place) = self.shared.classes.referents[t as usize] {
            self.refer(id, values, place);
        }
        if self.shared.classes.noted[t as usize] {
            self.note(id, values);
        }
    }

    #[inline(always)]
    fn object_array(&mut self, id: u64, _: u32, _: u64, elements: &[u8]) {
        let mut slots = self.slots(id).iter();
        self.shared.elements(elements, |target| self.connect(slots.next(), target));
    }
}
