//! References as compressed sparse rows: for each object a slice of others, in two arrays.

use super::ObjectId;
use rayon::prelude::*;

/// For each of n objects a slice of objects.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Csr {
    /// n + 1 offsets into `targets`.
    offsets: Vec<u32>,
    targets: Vec<ObjectId>,
}

impl Csr {
    /// From offsets (n + 1, ascending, the last is the number of targets) and targets.
    pub fn new(offsets: Vec<u32>, targets: Vec<ObjectId>) -> Self {
        debug_assert_eq!(offsets.last().copied().unwrap_or(0) as usize, targets.len());
        Csr { offsets, targets }
    }

    /// From one list a row.
    pub(crate) fn from_rows(rows: &[Vec<ObjectId>]) -> Self {
        let mut offsets = vec![0u32];
        let mut targets = Vec::new();
        for row in rows {
            targets.extend_from_slice(row);
            offsets.push(targets.len() as u32);
        }
        Csr { offsets, targets }
    }

    /// Where [`Csr::insert`] puts an entry: behind the others of its row.
    pub(crate) fn at_end(row: &[ObjectId], _: ObjectId) -> usize {
        row.len()
    }

    /// Where [`Csr::insert`] puts an entry of a row that ascends, so that it does so still.
    pub(crate) fn in_order(row: &[ObjectId], entry: ObjectId) -> usize {
        row.partition_point(|&other| other <= entry)
    }

    /// Adds entries (row, entry), ascending by row and entry, at the places in their rows that `place` says. In place: one
    /// pass over what lies behind the first.
    pub(crate) fn insert(&mut self, entries: &[(ObjectId, ObjectId)], place: impl Fn(&[ObjectId], ObjectId) -> usize) {
        if entries.is_empty() {
            return;
        }
        let places: Vec<usize> = entries
            .iter()
            .map(|&(row, entry)| self.offsets[row.0 as usize] as usize + place(self.of(row), entry))
            .collect();
        let mut end = self.targets.len();
        self.targets.resize(end + entries.len(), ObjectId(0));
        for (before, (&at, &(_, entry))) in places.iter().zip(entries).enumerate().rev() {
            // What lies behind this place moves by as many entries as come before it, and this one.
            self.targets.copy_within(at..end, at + before + 1);
            self.targets[at + before] = entry;
            end = at;
        }
        let mut before = 0;
        for (row, offset) in self.offsets.iter_mut().enumerate() {
            while entries.get(before).is_some_and(|(of, _)| (of.0 as usize) < row) {
                before += 1;
            }
            *offset += before as u32;
        }
    }

    /// The row of an object.
    #[inline]
    pub fn of(&self, o: ObjectId) -> &[ObjectId] {
        let i = o.0 as usize;
        &self.targets[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        4 * (self.offsets.capacity() + self.targets.capacity())
    }

    /// Number of rows.
    fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The same entries by target: row t lists the sources that have t, ascending.
    ///
    /// Each thread owns a range of targets and reads all entries in order: no atomics, no scratch memory, and the
    /// result does not depend on the number of threads. Reading is sequential and cheap beside the scattered writes.
    pub fn transpose(&self) -> Csr {
        let n = self.rows();
        let parts = rayon::current_num_threads().clamp(1, 32);
        let width = n.div_ceil(parts).max(1);
        let mut offsets = vec![0u32; n + 1];
        offsets[1..].par_chunks_mut(width).enumerate().for_each(|(part, counts)| {
            let low = (part * width) as u32;
            let span = counts.len() as u32;
            for t in &self.targets {
                let at = t.0.wrapping_sub(low);
                if at < span {
                    counts[at as usize] += 1;
                }
            }
        });
        let mut sum = 0u32;
        for count in &mut offsets {
            sum += *count;
            *count = sum;
        }
        let mut targets = vec![ObjectId(0); self.targets.len()];
        // Cut the output where the parts' rows begin, so that each part has its own slice.
        let mut slices = Vec::with_capacity(parts);
        let mut rest = &mut targets[..];
        let mut done = 0u32;
        for low in (0..n).step_by(width) {
            let high = (low + width).min(n);
            let (mine, after) = rest.split_at_mut((offsets[high] - done) as usize);
            slices.push((low, high, mine));
            rest = after;
            done = offsets[high];
        }
        slices.into_par_iter().for_each(|(low, high, out)| {
            let start = offsets[low];
            let mut next: Vec<u32> = offsets[low..high].iter().map(|o| o - start).collect();
            let span = (high - low) as u32;
            for source in 0..n as u32 {
                for t in self.of(ObjectId(source)) {
                    let at = t.0.wrapping_sub(low as u32);
                    if at < span {
                        let place = &mut next[at as usize];
                        out[*place as usize] = ObjectId(source);
                        *place += 1;
                    }
                }
            }
        });
        Csr { offsets, targets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn transposing_lists_every_entry_by_target(
            edges in prop::collection::vec((0u32..50, 0u32..50), 0..300),
        ) {
            let mut rows = vec![Vec::new(); 50];
            let mut expected = vec![Vec::new(); 50];
            let mut sorted = edges.clone();
            sorted.sort();
            for (from, to) in sorted {
                rows[from as usize].push(ObjectId(to));
                expected[to as usize].push(ObjectId(from));
            }
            let csr = Csr::from_rows(&rows);
            let transposed = csr.transpose();
            for i in 0..50 {
                prop_assert_eq!(transposed.of(ObjectId(i)), &expected[i as usize][..]);
            }
            prop_assert_eq!(transposed.transpose(), csr);
        }
    }
}
