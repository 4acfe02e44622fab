//! Objects by shape: type, length of the array, and reachability if that matters.
//!
//! Most facts that classifiers read follow from these alone. So the objects of a shape are counted at the speed of memory, and one of them
//! is classified for all. The few that differ from others of their shape are *apart*, each for itself: those that a GC root holds, and
//! those whose size follows no rule. Nothing here knows classifiers.
//!
//! Memory: 8 bytes for each existing type and short length while it counts, for each part of the heap that is counted at the same time;
//! afterwards 4 bytes. Shapes of long arrays, and objects apart, take an entry of a hash table.

use super::reads::Reads;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Objects a task looks at between two looks at the clock; a multiple of the bits of a word.
const RUN: usize = 1 << 16;
/// Places for shapes of short arrays, in all: the counts should fit the processor's cache.
const MOST_PLACES: usize = 1 << 18;
/// Arrays that are shorter may be short.
const MOST_SHORT: usize = 1 << 12;
/// At most one in this many objects may be apart, and a thousand in any heap: more are faster object by object, on all cores.
const FEW: usize = 32;

/// Objects that are grouped alike: how many, how large, and the first of them.
pub(super) struct AlikeObjects {
    pub example: ObjectId,
    pub amount: Amount,
}

/// The shapes of the objects of a heap.
pub(super) struct ObjectShapes {
    /// By type: the place of its instances, or of its arrays of length 0.
    first: Vec<u32>,
    places: usize,
    /// True if reachable objects are separate from others.
    reachable: bool,
    apart: BitSet,
}

/// Numbers by shape.
pub(super) struct ByShape {
    /// Counts of reachable objects, or of all; and of unreachable ones.
    short: [Vec<u32>; 2],
    long: FxHashMap<u64, u32>,
    apart: FxHashMap<u32, u32>,
}

/// Where a number is kept.
enum ShapePlace {
    Short(usize, usize),
    Long(u64),
    Apart(u32),
}

impl ObjectShapes {
    /// `None` where classifiers read more, or too many objects are apart.
    pub fn new(heap: &HeapState, reads: Reads) -> Option<ObjectShapes> {
        if !Reads::BY_SHAPE.contains(reads) || heap.types().is_empty() {
            return None;
        }
        let n = heap.object_count();
        let [held, odd, reachable] = [Reads::ROOTS, Reads::SIZE, Reads::REACHABLE].map(|r| reads.contains(r));
        let few = (n / FEW).max(1000);
        if held && heap.roots().len() > few || odd && heap.odd_size_count() > few {
            return None;
        }
        let mut apart = if held { heap.held().clone() } else { BitSet::new(n) };
        heap.odd_sizes().filter(|_| odd).for_each(|(o, _)| {
            apart.insert(o.0);
        });
        let is_array = |t: &memory_city_heap::HeapType| t.kind != memory_city_heap::TypeKind::Instance;
        let arrays = heap.types().iter().filter(|t| is_array(t)).count();
        // Arrays of fewer elements have a place each.
        let short = (MOST_PLACES / arrays.max(1)).min(MOST_SHORT);
        let mut places = 0;
        let first = heap.types().iter().map(|t| {
            let first = places as u32;
            places += if is_array(t) { short + 1 } else { 1 };
            first
        });
        let first = first.collect();
        Some(ObjectShapes { first, places, reachable, apart })
    }

    /// The place of a type and length; `None` for long arrays. No length gets the place of another type, whatever kind its type claims to
    /// be.
    #[inline]
    fn place(&self, t: u32, length: u32) -> Option<usize> {
        let first = self.first[t as usize];
        let end = self.first.get(t as usize + 1).map_or(self.places as u32, |&next| next);
        // Instances have the largest length there is: as one more, none.
        let at = length.wrapping_add(1);
        (at < end - first).then(|| (first + at) as usize)
    }

    /// The place of an object.
    #[inline]
    fn place_of(&self, heap: &HeapState, o: ObjectId) -> ShapePlace {
        if self.apart.contains(o.0) {
            return ShapePlace::Apart(o.0);
        }
        let (types, lengths) = heap.types_and_lengths();
        let (t, length) = (types[o.0 as usize], lengths[o.0 as usize]);
        let side = usize::from(self.reachable && !heap.is_reachable(o));
        match self.place(t, length) {
            Some(place) => ShapePlace::Short(side, place),
            None => ShapePlace::Long(long(side, t, length)),
        }
    }

    /// Counts the objects that take part; in the order of the first of each kind.
    ///
    /// # Errors
    /// When cancelled.
    pub fn count(&self, heap: &HeapState, unreachable: bool, progress: &Progress) -> Result<Vec<AlikeObjects>> {
        let mut counted = Vec::new();
        let reachable = (self.reachable || !unreachable).then(|| heap.reachable().as_words());
        self.count_side(heap, 0, |at| reachable.map_or(u64::MAX, |words| words[at]), progress, &mut counted)?;
        if self.reachable
            && let Some(words) = reachable
        {
            self.count_side(heap, 1, |at| !words[at], progress, &mut counted)?;
        }
        for o in self.apart.iter().map(ObjectId).filter(|&o| unreachable || heap.is_reachable(o)) {
            counted.push(AlikeObjects { example: o, amount: Amount { objects: 1, bytes: heap.size_of(o) } });
        }
        counted.sort_unstable_by_key(|alike| alike.example);
        Ok(counted)
    }

    /// Counts the objects whose bit is set, `words` by number.
    fn count_side(
        &self,
        heap: &HeapState,
        side: usize,
        words: impl Fn(usize) -> u64 + Sync,
        progress: &Progress,
        counted: &mut Vec<AlikeObjects>,
    ) -> Result<()> {
        let n = heap.object_count();
        let (types, lengths) = heap.types_and_lengths();
        let part = n.div_ceil(3 * rayon::current_num_threads()).next_multiple_of(RUN).max(RUN);
        let parts = (0..n.div_ceil(part)).into_par_iter().map(|p| {
            let mut of_part =
                ShapeCounts { short: vec![0; self.places], first: vec![0; self.places], long: FxHashMap::default() };
            for start in (p * part..((p + 1) * part).min(n)).step_by(RUN) {
                progress.check()?;
                for from in (start..(start + RUN).min(n)).step_by(64) {
                    let mut word = words(from / 64) & !self.apart.as_words()[from / 64];
                    if word == u64::MAX && from + 64 <= n {
                        for (i, (&t, &length)) in
                            types[from..from + 64].iter().zip(&lengths[from..from + 64]).enumerate()
                        {
                            of_part.add(self, side, from + i, t, length);
                        }
                        continue;
                    }
                    while word != 0 {
                        let o = from + word.trailing_zeros() as usize;
                        if o < n {
                            of_part.add(self, side, o, types[o], lengths[o]);
                        }
                        word &= word - 1;
                    }
                }
            }
            Ok(of_part)
        });
        let mut parts = parts.collect::<Result<Vec<_>>>()?.into_iter();
        let Some(mut sums) = parts.next() else { return Ok(()) };
        for of_part in parts {
            for (place, (sum, count)) in
                sums.short.iter_mut().zip(of_part.short).enumerate().filter(|(_, (_, n))| *n > 0)
            {
                // Parts come in their order.
                if *sum == 0 {
                    sums.first[place] = of_part.first[place];
                }
                *sum += count;
            }
            for (shape, count) in of_part.long {
                let sum = sums.long.entry(shape).or_insert((0, u32::MAX));
                *sum = (sum.0 + count.0, sum.1.min(count.1));
            }
        }
        let mut odd: FxHashMap<(usize, u64), u64> = FxHashMap::default();
        for (o, size) in heap.odd_sizes().filter(|(o, _)| !self.apart.contains(o.0) && takes_part(&words, *o)) {
            let i = o.0 as usize;
            let key = self.place(types[i], lengths[i]).map_or((1, long(side, types[i], lengths[i])), |p| (0, p as u64));
            // In two's complement: what is added too much is taken away.
            let more = size.wrapping_sub(heap.type_sizes().size(types[i] as usize, lengths[i]));
            let sum = odd.entry(key).or_default();
            *sum = sum.wrapping_add(more);
        }
        let mut push = |(objects, example): (u32, u32), more: Option<u64>| {
            let (t, length) = (types[example as usize], lengths[example as usize]);
            let bytes = u64::from(objects) * heap.type_sizes().size(t as usize, length);
            let amount = Amount { objects: u64::from(objects), bytes: bytes.wrapping_add(more.unwrap_or(0)) };
            counted.push(AlikeObjects { example: ObjectId(example), amount });
        };
        let short = sums.short.into_iter().zip(sums.first).enumerate().filter(|(_, (objects, _))| *objects > 0);
        short.for_each(|(place, count)| push(count, odd.get(&(0, place as u64)).copied()));
        sums.long.into_iter().for_each(|(shape, count)| push(count, odd.get(&(1, shape)).copied()));
        Ok(())
    }

    /// Assigns a number to each counted shape.
    pub fn numbered<'n>(
        &self,
        heap: &HeapState,
        counted: &[AlikeObjects],
        numbers: impl Iterator<Item = &'n u32>,
    ) -> ByShape {
        let second = if self.reachable { self.places } else { 0 };
        let mut by_shape = ByShape {
            short: [vec![0; self.places], vec![0; second]],
            long: FxHashMap::default(),
            apart: FxHashMap::default(),
        };
        for (alike, &number) in counted.iter().zip(numbers) {
            match self.place_of(heap, alike.example) {
                ShapePlace::Short(side, place) => by_shape.short[side][place] = number,
                ShapePlace::Long(shape) => drop(by_shape.long.insert(shape, number)),
                ShapePlace::Apart(o) => drop(by_shape.apart.insert(o, number)),
            }
        }
        by_shape
    }

    /// The number of an object; 0 for one that did not take part.
    #[inline]
    pub fn number_of(&self, numbers: &ByShape, heap: &HeapState, o: ObjectId) -> u32 {
        match self.place_of(heap, o) {
            ShapePlace::Short(side, place) => numbers.short[side][place],
            ShapePlace::Long(shape) => numbers.long.get(&shape).copied().unwrap_or(0),
            ShapePlace::Apart(o) => numbers.apart.get(&o).copied().unwrap_or(0),
        }
    }
}

#[inline]
fn takes_part(words: impl Fn(usize) -> u64, o: ObjectId) -> bool {
    words(o.0 as usize / 64) >> (o.0 % 64) & 1 == 1
}

/// A long array of a type, on one of two sides.
#[inline]
fn long(side: usize, t: u32, length: u32) -> u64 {
    (2 * u64::from(t) + side as u64) << 32 | u64::from(length)
}

/// Objects by shape, and the first of each.
struct ShapeCounts {
    short: Vec<u32>,
    /// Where there is one.
    first: Vec<u32>,
    long: FxHashMap<u64, (u32, u32)>,
}

impl ShapeCounts {
    /// Objects come in their order.
    #[inline]
    fn add(&mut self, shapes: &ObjectShapes, side: usize, o: usize, t: u32, length: u32) {
        let Some(place) = shapes.place(t, length) else {
            self.long.entry(long(side, t, length)).or_insert((0, o as u32)).0 += 1;
            return;
        };
        let count = &mut self.short[place];
        if *count == 0 {
            self.first[place] = o as u32;
        }
        *count += 1;
    }
}
