//! The census: the first pass over the heap segments, on all cores. It collects counts per class, the addresses, and the gaps between
//! neighbouring objects, from which the exact sizes follow (see [`super::sizes`]).

use super::cursor::Cursor;
use super::header::DumpHeader;
use super::index::DumpIndex;
use super::judging::ShortTexts;
use super::limits::{MOST_WARNINGS, too_many_fields};
use super::segment::{self, ClassRecord, RootRecord, Stop, Visitor};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{AddressSet, AddressWriter};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How often a gap was seen. A few candidates are enough: the true size is by far the most frequent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    slots: [(u32, u32); 4],
    /// The smallest gap seen; 0 for none.
    pub(super) least: u32,
    /// All gaps.
    pub(super) seen: u32,
}

/// Larger gaps are not sizes of instances.
const WIDEST: u64 = 1 << 16;

impl Gaps {
    #[inline(always)]
    fn add(&mut self, gap: u64) {
        let gap = gap as u32;
        self.seen = self.seen.saturating_add(1);
        if self.least == 0 || gap < self.least {
            self.least = gap;
        }
        for slot in &mut self.slots {
            if slot.0 == gap {
                slot.1 += 1;
                return;
            }
            if slot.1 == 0 {
                *slot = (gap, 1);
                return;
            }
        }
        // Nobody's gap weakens everybody's count: what remains is a candidate for the most frequent (Misra, Gries 1982).
        for slot in &mut self.slots {
            slot.1 -= 1;
        }
    }

    fn merge(&mut self, other: &Gaps) {
        self.seen = self.seen.saturating_add(other.seen);
        self.least = [self.least, other.least].into_iter().filter(|&l| l > 0).min().unwrap_or(0);
        let mut all: Vec<(u32, u32)> = Vec::with_capacity(8);
        for &(gap, count) in self.slots.iter().chain(&other.slots).filter(|s| s.1 > 0) {
            match all.iter_mut().find(|s| s.0 == gap) {
                Some(slot) => slot.1 = slot.1.saturating_add(count),
                None => all.push((gap, count)),
            }
        }
        all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        self.slots = Default::default();
        for (slot, best) in self.slots.iter_mut().zip(all) {
            *slot = best;
        }
    }

    /// The most frequent gap and how often it was seen, at least.
    pub(super) fn modal(&self) -> Option<(u32, u32)> {
        self.slots.iter().copied().filter(|s| s.1 > 0).max_by_key(|s| (s.1, std::cmp::Reverse(s.0)))
    }
}

/// The counts of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Instances, or arrays of this class.
    pub(super) count: u64,
    /// Gaps behind instances.
    pub(super) gaps: Gaps,
    /// Bytes of field values in the dump's record, of the first instance.
    pub(super) record_bytes: u32,
    /// For arrays: the sum of their lengths, and how many there are of each length modulo 256.
    pub(super) arrays: Option<Box<Arrays>>,
}

/// Lengths of arrays, so that their bytes can be summed once base and alignment are known.
#[derive(Clone, Debug)]
pub(super) struct Arrays {
    /// Sum of lengths.
    pub(super) elements: u64,
    /// Arrays by length modulo 256.
    pub(super) residues: Vec<u32>,
}

impl Default for Arrays {
    fn default() -> Self {
        Arrays { elements: 0, residues: vec![0; 256] }
    }
}

impl Arrays {
    /// Bytes of all of them: each is `base + element * length` rounded up to `alignment` (at most 256).
    pub(super) fn bytes(&self, base: u64, element: u64, alignment: u64) -> u64 {
        let mask = alignment - 1;
        let mut bytes = self.elements * element;
        for (residue, &count) in self.residues.iter().enumerate() {
            let part = residue as u64 * element;
            bytes += u64::from(count) * (((base + part + mask) & !mask) - part);
        }
        bytes
    }
}

/// Bases of arrays that occur: compact headers, compressed class pointers, full ones (since JDK 23, before).
pub(super) const ARRAY_BASES: [u32; 4] = [12, 16, 20, 24];
/// Alignments to choose from.
pub(super) const ALIGNMENTS: [u32; 3] = [8, 16, 32];

/// Votes for the base of arrays, by alignment, by size of an element (1, 2, 4, 8 bytes; references of 4, of 8).
pub(super) type BaseVotes = [[[u32; 4]; 3]; 6];

/// The result of the pass.
#[derive(Default)]
pub(super) struct Census {
    /// By class object id; primitive arrays under their kind (4..=11), which is no object's address.
    pub(super) classes: AHashMap<u64, Tally>,
    /// Each piece with the lowest and highest address of its objects.
    pub(super) spans: Vec<(std::ops::Range<usize>, u64, u64)>,
    /// Class records.
    pub(super) records: Vec<ClassRecord>,
    /// Bytes that their fields take.
    pub(super) field_bytes: u64,
    /// Root records.
    pub(super) roots: Vec<RootRecord>,
    /// See [`BaseVotes`].
    pub(super) base_votes: BaseVotes,
    /// All addresses, or'ed: their common alignment.
    pub(super) address_bits: u64,
    /// Objects, class objects included.
    pub(super) objects: u64,
    /// Some object has an allocation trace with frames.
    pub(super) traced: bool,
    /// An address was not a multiple of the address set's unit.
    pub(super) misaligned: bool,
    /// Statistics of short arrays of bytes and characters.
    pub(super) texts: ShortTexts,
    /// Warnings about the dump.
    pub(super) warnings: Vec<Warning>,
    /// Warnings that were counted, not kept.
    pub(super) more_warnings: usize,
}

/// Walks all pieces. With `addresses`, the address of every object goes there.
///
/// # Errors
/// When cancelled, or the fields of all classes take more than `memory` bytes.
pub(super) fn census(
    input: &Input,
    header: &DumpHeader,
    index: &DumpIndex,
    addresses: Option<&AddressSet>,
    memory: u64,
    progress: &Progress,
) -> Result<Census> {
    let bytes = input.bytes();
    let field_bytes = AtomicU64::new(0);
    // A run of pieces a task: the class table of a task is built once.
    let mut parts: Vec<Census> = runs(&index.pieces, rayon::current_num_threads())
        .into_par_iter()
        .map(|run| {
            let mut counter = Counter::new(header.id_size, index, addresses);
            for piece in run {
                progress.check()?;
                let before = counter.census.field_bytes;
                let end = segment::walk(bytes, piece.clone(), header.id_size, &mut counter);
                let more = counter.census.field_bytes - before;
                if field_bytes.fetch_add(more, Relaxed).saturating_add(more) > memory {
                    return Err(too_many_fields(&input.path, memory));
                }
                counter.last = None;
                counter.census.spans.push((piece.clone(), counter.low, counter.high));
                (counter.low, counter.high) = (u64::MAX, 0);
                if let Err((at, stop)) = end {
                    match counter.census.warnings.len() < MOST_WARNINGS {
                        true => counter.census.warnings.push(stop_warning(input, at, stop, piece.end)),
                        false => counter.census.more_warnings += 1,
                    }
                }
                input.release(piece.clone());
                progress.advance(piece.len() as u64);
            }
            Ok(counter.finish())
        })
        .collect::<Result<_>>()?;
    let mut all = match parts.is_empty() {
        true => Census::default(),
        false => parts.swap_remove(0),
    };
    for part in parts {
        all.merge(part);
    }
    all.warnings.sort_by_key(|w| w.offset);
    // Old VMs write some classes of arrays several times.
    let (mut seen, before) = (AHashSet::new(), all.records.len());
    all.records.retain(|record| seen.insert(record.id));
    all.objects -= (before - all.records.len()) as u64;
    if all.has_numbers() {
        all.forget_distances();
    }
    Ok(all)
}

/// Divides pieces into runs of about equal length, four for each thread.
fn runs(pieces: &[std::ops::Range<usize>], threads: usize) -> Vec<&[std::ops::Range<usize>]> {
    let total: usize = pieces.iter().map(|p| p.len()).sum();
    let most = (total / (threads * 4)).max(1 << 20);
    let mut runs = Vec::new();
    let (mut start, mut length) = (0, 0);
    for (i, piece) in pieces.iter().enumerate() {
        length += piece.len();
        if length >= most {
            runs.push(&pieces[start..=i]);
            start = i + 1;
            length = 0;
        }
    }
    if start < pieces.len() {
        runs.push(&pieces[start..]);
    }
    runs
}

fn stop_warning(input: &Input, at: usize, stop: Stop, end: usize) -> Warning {
    let damaged = Warning::UNJUDGED;
    let message = match stop {
        // The top level says it too.
        Stop::Cut if end == input.bytes().len() => {
            "a heap record is cut off here; the rest of this segment is missing".to_owned()
        }
        Stop::Cut => format!("{damaged}a heap record is cut off here; the rest of this segment is missing"),
        Stop::Unknown(tag) => format!(
            "{damaged}a heap record of the unknown kind {tag:#04x} stands here; the {} bytes left of its segment were skipped",
            end - at
        ),
    };
    Warning { path: input.path.clone(), offset: Some(at as u64), message }
}

/// No object is smaller than this, whatever the VM.
const SMALLEST: u64 = 8;

impl Census {
    /// Whether ids are numbers, as the hprof agent of old JVMs gives them, and no addresses: more objects than have room.
    pub(super) fn has_numbers(&self) -> bool {
        let spans = self.spans.iter().filter(|(_, low, high)| low <= high);
        let (low, high) = spans.fold((u64::MAX, 0), |(low, high), (_, l, h)| (low.min(*l), high.max(*h)));
        self.objects > 1 && high.saturating_sub(low) < (self.objects - 1).saturating_mul(SMALLEST)
    }

    /// Distances between numbers say nothing of sizes.
    fn forget_distances(&mut self) {
        self.classes.values_mut().for_each(|tally| tally.gaps = Gaps::default());
        self.base_votes = BaseVotes::default();
    }

    fn merge(&mut self, other: Census) {
        for (class, tally) in other.classes {
            let mine = self.classes.entry(class).or_default();
            mine.count += tally.count;
            mine.gaps.merge(&tally.gaps);
            mine.record_bytes = mine.record_bytes.max(tally.record_bytes);
            if let Some(theirs) = tally.arrays {
                let own = mine.arrays.get_or_insert_default();
                own.elements += theirs.elements;
                own.residues.iter_mut().zip(&theirs.residues).for_each(|(a, b)| *a += b);
            }
        }
        self.spans.extend(other.spans);
        self.records.extend(other.records);
        self.field_bytes += other.field_bytes;
        self.roots.extend(other.roots);
        for (a, b) in self
            .base_votes
            .as_flattened_mut()
            .as_flattened_mut()
            .iter_mut()
            .zip(other.base_votes.as_flattened().as_flattened())
        {
            *a = a.saturating_add(*b);
        }
        self.address_bits |= other.address_bits;
        self.objects += other.objects;
        self.traced |= other.traced;
        self.misaligned |= other.misaligned;
        self.texts.merge(other.texts);
        self.warnings.extend(other.warnings);
        self.more_warnings += other.more_warnings;
    }
}

/// The last record, for the gap after it.
enum Behind {
    Instance(u32),
    Array { element: usize, bytes: u64 },
    References(u32),
    Other,
}

struct Counter<'a> {
    census: Census,
    writer: Option<AddressWriter<'a>>,
    index: &'a DumpIndex,
    /// Number of a class in `tallies`, and a small table of recent ones before it.
    numbers: AHashMap<u64, u32>,
    recent: [(u64, u32); 256],
    tallies: Vec<(u64, Tally)>,
    last: Option<(u64, Behind)>,
    votes_left: u32,
    last_trace: u32,
    id_size: usize,
    low: u64,
    high: u64,
}

impl<'a> Counter<'a> {
    fn new(id_size: usize, index: &'a DumpIndex, addresses: Option<&'a AddressSet>) -> Self {
        Counter {
            census: Census::default(),
            writer: addresses.map(|a| a.writer()),
            index,
            numbers: AHashMap::default(),
            recent: [(u64::MAX, 0); 256],
            tallies: Vec::new(),
            last: None,
            votes_left: 1 << 17,
            last_trace: 0,
            id_size,
            low: u64::MAX,
            high: 0,
        }
    }

    fn finish(mut self) -> Census {
        self.census.classes = self.tallies.into_iter().collect();
        self.census
    }

    #[inline(always)]
    fn number(&mut self, class: u64) -> u32 {
        let at = ((class >> 3) ^ (class >> 11)) as usize & 255;
        if self.recent[at].0 == class {
            return self.recent[at].1;
        }
        let next = self.tallies.len() as u32;
        let number = *self.numbers.entry(class).or_insert(next);
        if number == next {
            self.tallies.push((class, Tally::default()));
        }
        self.recent[at] = (class, number);
        number
    }

    /// The object at `id` begins: its address, and the gap to the one before.
    #[inline(always)]
    fn begins(&mut self, id: u64, trace: u32) {
        self.census.objects += 1;
        self.census.address_bits |= id;
        self.low = self.low.min(id);
        self.high = self.high.max(id);
        if let Some(writer) = &mut self.writer
            && writer.insert(id).is_none()
        {
            self.census.misaligned = true;
        }
        if trace != self.last_trace {
            self.last_trace = trace;
            self.census.traced |= self.index.trace_has_frames(trace);
        }
        if let Some((before, behind)) = self.last.take()
            && id > before
        {
            let gap = id - before;
            match behind {
                Behind::Instance(number) if gap < WIDEST => self.tallies[number as usize].1.gaps.add(gap),
                Behind::Array { element, bytes } if self.votes_left > 0 && gap >= bytes && gap - bytes < 64 => {
                    self.votes_left -= 1;
                    vote(&mut self.census.base_votes[element], gap, bytes);
                }
                // Whether references take 4 or 8 bytes is what these votes decide: try both.
                Behind::References(length) if self.votes_left > 0 => {
                    self.votes_left -= 1;
                    for (element, width) in [(4, 4), (5, 8)] {
                        vote(&mut self.census.base_votes[element], gap, width * u64::from(length));
                    }
                }
                _ => {}
            }
        }
    }

    fn array(&mut self, number: u32, length: u32) {
        let tally = &mut self.tallies[number as usize].1;
        tally.count += 1;
        let arrays = tally.arrays.get_or_insert_default();
        arrays.elements += u64::from(length);
        arrays.residues[length as usize & 255] += 1;
    }
}

fn vote(votes: &mut [[u32; 4]; 3], gap: u64, bytes: u64) {
    for (row, alignment) in votes.iter_mut().zip(ALIGNMENTS) {
        let mask = u64::from(alignment) - 1;
        for (count, base) in row.iter_mut().zip(ARRAY_BASES) {
            *count += u32::from(gap == (u64::from(base) + bytes + mask) & !mask);
        }
    }
}

impl Visitor for Counter<'_> {
    fn root(&mut self, root: RootRecord) {
        self.census.roots.push(root);
    }

    fn class(&mut self, cursor: &mut Cursor<'_>, id_size: usize) -> Option<()> {
        let record = segment::read_class(cursor, id_size)?;
        self.begins(record.id, 0);
        self.last = Some((record.id, Behind::Other));
        self.census.field_bytes += record.memory();
        self.census.records.push(record);
        Some(())
    }

    #[inline(always)]
    fn instance(&mut self, id: u64, trace: u32, class: u64, values: &[u8]) {
        self.begins(id, trace);
        let number = self.number(class);
        let tally = &mut self.tallies[number as usize].1;
        tally.count += 1;
        tally.record_bytes = values.len() as u32;
        self.last = Some((id, Behind::Instance(number)));
    }

    #[inline(always)]
    fn object_array(&mut self, id: u64, trace: u32, class: u64, elements: &[u8]) {
        self.begins(id, trace);
        let length = (elements.len() / self.id_size) as u32;
        let number = self.number(class);
        self.array(number, length);
        self.last = Some((id, Behind::References(length)));
    }

    #[inline(always)]
    fn primitive_array(&mut self, id: u64, trace: u32, kind: u8, length: u32, elements: &[u8]) {
        self.begins(id, trace);
        self.census.texts.add(kind, elements);
        let number = self.number(u64::from(kind));
        self.array(number, length);
        let width = segment::width(kind, 8).unwrap_or(1) as u64;
        self.last =
            Some((id, Behind::Array { element: width.trailing_zeros() as usize, bytes: width * u64::from(length) }));
    }
}
