//! Objects and bytes by type, for a whole heap state at the speed of memory.
//!
//! A type has one entry, or two where big arrays are separate: 32 bytes with the rule for its sizes and the counts, which share a cache
//! line. The loop has only one branch on data: which objects take part. The few objects whose sizes follow no rule are corrected
//! afterwards.

use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BIG_ARRAY, HeapState, NO_LENGTH};
use rayon::prelude::*;

/// Objects a task looks at between two looks at the clock; a multiple of the bits of a word.
const RUN: usize = 1 << 16;

/// The counts of a type.
#[derive(Clone, Copy)]
pub(super) struct TypeCount {
    /// Bytes without elements, plus the rounding.
    base: u64,
    element: u32,
    mask: u32,
    objects: u64,
    bytes: u64,
}

impl TypeCount {
    #[inline]
    fn size(&self, length: u32) -> u64 {
        let mask = u64::from(self.mask);
        (self.base + u64::from(self.element) * u64::from(length)) & !mask
    }
}

/// The objects of a class: amount and the first of them.
pub(super) type Counted = (u64, Amount, u32);

/// Counts the objects that take part by class: twice the number of the type, plus one for big arrays if they are separate.
///
/// # Errors
/// When cancelled.
pub(super) fn by_type(heap: &HeapState, big: bool, unreachable: bool, progress: &Progress) -> Result<Vec<Counted>> {
    let n = heap.object_count();
    let sizes = heap.type_sizes();
    let empty: Vec<TypeCount> = (0..2 * heap.types().len())
        .map(|slot| {
            let t = slot / 2;
            let (base, element) = (u64::from(sizes.base[t]), sizes.element[t]);
            // Instances have the size of their type as it is.
            let mask = if element == 0 { 0 } else { sizes.alignment.max(1) - 1 };
            TypeCount { base: base + u64::from(mask), element, mask, objects: 0, bytes: 0 }
        })
        .collect();
    // A few parts for each core: each keeps a table of all types.
    let part = n.div_ceil(3 * rayon::current_num_threads()).next_multiple_of(RUN).max(RUN);
    let words = (!unreachable).then(|| heap.reachable().as_words());
    let tables = (0..n.div_ceil(part))
        .into_par_iter()
        .map(|p| {
            let mut table = PartTable { counts: empty.clone(), first: vec![u32::MAX; empty.len()] };
            for start in (p * part..((p + 1) * part).min(n)).step_by(RUN) {
                progress.check()?;
                let end = (start + RUN).min(((p + 1) * part).min(n));
                match (big, words) {
                    (false, None) => table.all::<false>(heap, start, end),
                    (true, None) => table.all::<true>(heap, start, end),
                    (false, Some(words)) => table.some::<false>(heap, start, end, words),
                    (true, Some(words)) => table.some::<true>(heap, start, end, words),
                }
            }
            Ok(table)
        })
        .collect::<Result<Vec<_>>>()?;
    let mut sums = vec![(Amount::default(), u32::MAX); empty.len()];
    for table in tables {
        for ((sum, count), first) in sums.iter_mut().zip(&table.counts).zip(&table.first) {
            sum.0 += Amount { objects: count.objects, bytes: count.bytes };
            sum.1 = sum.1.min(*first);
        }
    }
    let (types, lengths) = heap.types_and_lengths();
    for (o, size) in heap.odd_sizes() {
        let i = o.0 as usize;
        if unreachable || heap.is_reachable(o) {
            let slot = slot::<true>(types[i], lengths[i], big);
            let bytes = &mut sums[slot].0.bytes;
            // In two's complement: what was added too much is taken away.
            *bytes = bytes.wrapping_sub(empty[slot].size(lengths[i])).wrapping_add(size);
        }
    }
    let counted = sums.into_iter().enumerate().filter(|(_, (_, first))| *first != u32::MAX);
    Ok(counted.map(|(slot, (amount, first))| (slot as u64, amount, first)).collect())
}

#[inline]
fn slot<const BIG: bool>(t: u32, length: u32, big: bool) -> usize {
    let is_big = BIG && big && (BIG_ARRAY..NO_LENGTH).contains(&length);
    2 * t as usize + usize::from(is_big)
}

struct PartTable {
    counts: Vec<TypeCount>,
    /// By slot: the first object.
    first: Vec<u32>,
}

impl PartTable {
    #[inline]
    fn add<const BIG: bool>(&mut self, o: usize, t: u32, length: u32) {
        let slot = slot::<BIG>(t, length, true);
        let count = &mut self.counts[slot];
        if count.objects == 0 {
            self.first[slot] = o as u32;
        }
        count.objects += 1;
        count.bytes += count.size(length);
    }

    fn all<const BIG: bool>(&mut self, heap: &HeapState, start: usize, end: usize) {
        let (types, lengths) = heap.types_and_lengths();
        for ((o, &t), &length) in (start..end).zip(&types[start..end]).zip(&lengths[start..end]) {
            self.add::<BIG>(o, t, length);
        }
    }

    /// Counts the objects whose bit is set; `start` is the first object of a word.
    fn some<const BIG: bool>(&mut self, heap: &HeapState, start: usize, end: usize, words: &[u64]) {
        let (types, lengths) = heap.types_and_lengths();
        for from in (start..end).step_by(64) {
            let mut word = words[from / 64];
            if word == u64::MAX && from + 64 <= end {
                self.all::<BIG>(heap, from, from + 64);
                continue;
            }
            while word != 0 {
                let o = from + word.trailing_zeros() as usize;
                if o < end {
                    self.add::<BIG>(o, types[o], lengths[o]);
                }
                word &= word - 1;
            }
        }
    }
}
