//! The references of all objects, one record an object, in one array: length, when it was written, targets.
//!
//! What is replaced or dead stays behind as waste until it is more than half; then the records are copied together.

/// Records of up to so many references are written anew in their place: a GC reports most objects as they were.
const SHORT: usize = 12;

/// Words before the targets of a record.
const HEAD: usize = 2;

/// Records of references.
#[derive(Default)]
pub struct Arena {
    words: Vec<u32>,
    waste: usize,
}

impl Arena {
    /// No record.
    pub const NONE: u32 = 0;

    /// Adds a record written at `time`; its place. `None` when there are too many references (more than 4 billion).
    pub fn add(&mut self, time: u32, targets: impl IntoIterator<Item = u32>) -> Option<u32> {
        if self.words.is_empty() {
            // Place 0 is no record.
            self.words.push(0);
        }
        let at = self.words.len();
        grow(&mut self.words);
        self.words.push(0);
        grow(&mut self.words);
        self.words.push(time);
        for target in targets {
            grow(&mut self.words);
            self.words.push(target);
        }
        let count = self.words.len() - at - HEAD;
        if count == 0 {
            self.words.truncate(at);
            return Some(Arena::NONE);
        }
        if self.words.len() > u32::MAX as usize {
            self.words.truncate(at);
            return None;
        }
        self.words[at] = count as u32;
        Some(at as u32)
    }

    /// Adds to the record added last; `false` when another has been added since, or there are too many references.
    pub fn extend_last(&mut self, record: u32, targets: &[u32]) -> bool {
        let (at, count) = (record as usize, self.words.get(record as usize).map_or(0, |n| *n as usize));
        if record == Arena::NONE || at + HEAD + count != self.words.len() {
            return false;
        }
        if self.words.len() + targets.len() > u32::MAX as usize {
            return false;
        }
        for &target in targets {
            grow(&mut self.words);
            self.words.push(target);
        }
        self.words[at] += targets.len() as u32;
        true
    }

    /// Writes a short record anew in its own place; `false` when it does not fit or may still be added to.
    pub fn overwrite(&mut self, record: u32, time: u32, targets: &[u32]) -> bool {
        let (at, count) = (record as usize, self.words.get(record as usize).map_or(0, |n| *n as usize));
        if record == Arena::NONE || targets.is_empty() || targets.len() > count || count > SHORT {
            return false;
        }
        self.words[at] = targets.len() as u32;
        self.words[at + 1] = time;
        self.words[at + HEAD..at + HEAD + targets.len()].copy_from_slice(targets);
        self.waste += count - targets.len();
        true
    }

    /// When a record was written.
    pub fn time_of(&self, record: u32) -> u32 {
        self.words.get(record as usize + 1).copied().unwrap_or(0)
    }

    /// The targets of a record.
    pub fn of(&self, record: u32) -> &[u32] {
        match record {
            Arena::NONE => &[],
            at => {
                let at = at as usize;
                &self.words[at + HEAD..at + HEAD + self.words[at] as usize]
            }
        }
    }

    /// The targets of a record, to change them.
    pub fn of_mut(&mut self, record: u32) -> &mut [u32] {
        match record {
            Arena::NONE => &mut [],
            at => {
                let at = at as usize;
                let count = self.words[at] as usize;
                &mut self.words[at + HEAD..at + HEAD + count]
            }
        }
    }

    /// Says that a record is not needed any more.
    pub fn drop_record(&mut self, record: u32) {
        if record != Arena::NONE {
            self.waste += HEAD + self.words[record as usize] as usize;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.words.clear();
        self.waste = 0;
    }

    /// Whether more than half is waste, and worth the copying.
    pub fn is_wasteful(&self) -> bool {
        self.waste > (self.words.len() / 2).max(1 << 16)
    }

    /// Copies the records in use together. `records` calls what it is given for each, and notes the new place.
    pub fn compact(&mut self, records: impl FnOnce(&mut dyn FnMut(u32) -> u32)) {
        let mut words = Vec::with_capacity(self.words.len() - self.waste + 1);
        words.push(0);
        records(&mut |record| {
            if record == Arena::NONE {
                return record;
            }
            let at = record as usize;
            let end = at + HEAD + self.words[at] as usize;
            let place = words.len() as u32;
            words.extend_from_slice(&self.words[at..end]);
            place
        });
        self.words = words;
        self.waste = 0;
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        4 * self.words.capacity()
    }
}

/// Makes room for one more, an eighth at a time: large arrays move in memory for free, unused halves do not.
#[inline]
pub fn grow<T>(vec: &mut Vec<T>) {
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
            steps in prop::collection::vec((0usize..20, prop::collection::vec(any::<u32>(), 0..9), 0u8..5), 0..200),
        ) {
            let mut arena = Arena::default();
            let mut places = [Arena::NONE; 20];
            let mut expected = vec![Vec::new(); 20];
            for (i, targets, what) in steps {
                match what {
                    0 => {
                        arena.drop_record(places[i]);
                        places[i] = arena.add(i as u32, targets.iter().copied()).expect("room");
                        expected[i] = targets;
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
