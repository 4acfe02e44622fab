//! The references of all objects in one array. Each object has a record: a word with their number and the time of writing, then the
//! targets. Records with many references have a further word for the number.
//!
//! Replaced and dead records stay as waste until it is more than a fifth; then the live records are copied together.

/// Records of up to this many references are overwritten in place: a GC reports most objects unchanged.
const SHORT: usize = 12;

/// Bits of a head that hold the number of references.
const COUNT_BITS: u32 = 8;
/// In a head: the number is in the next word.
const MANY: u32 = (1 << COUNT_BITS) - 1;
/// Times fit into the rest of a head.
pub(crate) const MOST_TIMES: u32 = 1 << (32 - COUNT_BITS);

/// Places there can be: they have 32 bits.
pub(crate) const MOST_WORDS: u32 = u32::MAX;

/// Records of references.
pub(crate) struct Arena {
    /// There are never more words.
    most: usize,
    words: Vec<u32>,
    waste: usize,
}

impl Arena {
    /// No record.
    pub(crate) const NONE: u32 = 0;

    /// No records yet, and never more than `most` words in all.
    pub(crate) fn new(most: u32) -> Arena {
        Arena { most: most as usize, words: Vec::new(), waste: 0 }
    }

    /// Adds a record written at `time`, which is below [`MOST_TIMES`]; its place. `None` when there are too many
    /// references (4 billion, if nothing less was asked for).
    pub(crate) fn add(&mut self, time: u32, targets: &[u32]) -> Option<u32> {
        if targets.is_empty() {
            return Some(Arena::NONE);
        }
        if self.words.is_empty() {
            // Place 0 is no record.
            self.words.push(0);
        }
        let at = self.words.len();
        if at + targets.len() + 2 > self.most {
            return None;
        }
        match targets.len() < MANY as usize {
            true => self.push(time << COUNT_BITS | targets.len() as u32),
            false => {
                self.push(time << COUNT_BITS | MANY);
                self.push(targets.len() as u32);
            }
        }
        targets.iter().for_each(|&target| self.push(target));
        Some(at as u32)
    }

    #[inline]
    fn push(&mut self, word: u32) {
        grow(&mut self.words);
        self.words.push(word);
    }

    /// Where the targets of a record are.
    #[inline]
    fn range(&self, record: u32) -> std::ops::Range<usize> {
        let at = record as usize;
        match self.words.get(at).map_or(0, |head| head & MANY) {
            _ if record == Arena::NONE => 0..0,
            MANY => at + 2..at + 2 + self.words[at + 1] as usize,
            count => at + 1..at + 1 + count as usize,
        }
    }

    /// Adds to the record added last; `false` when another has been added since, or there are too many references.
    pub(crate) fn extend_last(&mut self, record: u32, targets: &[u32]) -> bool {
        let range = self.range(record);
        let count = range.len() + targets.len();
        if record == Arena::NONE || range.end != self.words.len() || self.words.len() + count > self.most {
            return false;
        }
        let at = record as usize;
        if count < MANY as usize {
            self.words[at] += targets.len() as u32;
        } else {
            if self.words[at] & MANY != MANY {
                self.words[at] |= MANY;
                self.words.insert(at + 1, 0);
            }
            self.words[at + 1] = count as u32;
        }
        targets.iter().for_each(|&target| self.push(target));
        true
    }

    /// Writes a short record anew in its own place; `false` when it does not fit.
    pub(crate) fn overwrite(&mut self, record: u32, time: u32, targets: &[u32]) -> bool {
        let range = self.range(record);
        if targets.is_empty() || targets.len() > range.len() || range.len() > SHORT {
            return false;
        }
        self.words[record as usize] = time << COUNT_BITS | targets.len() as u32;
        self.words[range.start..range.start + targets.len()].copy_from_slice(targets);
        self.waste += range.len() - targets.len();
        true
    }

    /// When a record was written.
    pub(crate) fn time_of(&self, record: u32) -> u32 {
        self.words.get(record as usize).map_or(0, |head| head >> COUNT_BITS)
    }

    /// The targets of a record.
    pub(crate) fn of(&self, record: u32) -> &[u32] {
        &self.words[self.range(record)]
    }

    /// The targets of a record, to change them.
    pub(crate) fn of_mut(&mut self, record: u32) -> &mut [u32] {
        let range = self.range(record);
        &mut self.words[range]
    }

    /// Says that a record is not needed any more.
    #[inline]
    pub(crate) fn drop_record(&mut self, record: u32) {
        if record != Arena::NONE {
            self.waste += self.range(record).end - record as usize;
        }
    }

    /// Whether more than a fifth is waste, and worth the copying.
    pub(crate) fn is_wasteful(&self) -> bool {
        self.waste > (self.words.len() / 5).max(1 << 16)
    }

    /// Moves the used records together. `records` calls its argument for each, and notes the new place.
    pub(crate) fn compact(&mut self, records: impl FnOnce(&mut dyn FnMut(u32) -> u32)) {
        let mut words = Vec::with_capacity(self.words.len() - self.waste.min(self.words.len()) + 1);
        words.push(0);
        records(&mut |record| {
            if record == Arena::NONE {
                return record;
            }
            let place = words.len() as u32;
            words.extend_from_slice(&self.words[record as usize..self.range(record).end]);
            place
        });
        self.words = words;
        self.waste = 0;
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        4 * self.words.capacity()
    }
}

/// Makes room for one more, an eighth at a time: large arrays move in memory for free, unused halves do not.
#[inline]
pub(crate) fn grow<T>(vec: &mut Vec<T>) {
    if vec.len() == vec.capacity() {
        vec.reserve_exact((vec.len() / 8).max(64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_are_what_was_put_into_them(
            steps in prop::collection::vec((0usize..20, prop::collection::vec(any::<u32>(), 0..9), 0u8..6), 0..200),
        ) {
            let mut arena = Arena::new(MOST_WORDS);
            let mut places = [Arena::NONE; 20];
            let mut expected = vec![Vec::new(); 20];
            for (i, targets, what) in steps {
                match what {
                    0 => {
                        arena.drop_record(places[i]);
                        places[i] = arena.add(i as u32, &targets).expect("room");
                        expected[i] = targets;
                    }
                    // Many at once.
                    5 => {
                        let many: Vec<u32> = targets.iter().copied().cycle().take(60 * targets.len()).collect();
                        if arena.extend_last(places[i], &many) {
                            expected[i].extend(many);
                        }
                    }
                    1 | 2 => {
                        if arena.extend_last(places[i], &targets) {
                            expected[i].extend(targets);
                        }
                    }
                    3 => {
                        if arena.overwrite(places[i], i as u32, &targets) {
                            expected[i] = targets;
                        }
                    }
                    _ => arena.compact(|place| places.iter_mut().for_each(|p| *p = place(*p))),
                }
                for (place, list) in places.iter().zip(&expected) {
                    prop_assert_eq!(arena.of(*place), &list[..]);
                    prop_assert!(list.is_empty() || places[arena.time_of(*place) as usize] == *place);
                }
            }
        }
    }
}
