//! References as compressed sparse rows: for each object a slice of others, in two arrays.

use super::types::ObjectId;

/// For each of n objects a slice of objects.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Csr {
    /// n + 1 offsets into `targets`.
    offsets: Vec<u32>,
    targets: Vec<ObjectId>,
}

impl Csr {
    /// Rows from offsets (n + 1, ascending, the last is the number of targets) and targets.
    pub fn new(offsets: Vec<u32>, targets: Vec<ObjectId>) -> Self {
        debug_assert_eq!(offsets.last().copied().unwrap_or(0) as usize, targets.len());
        Csr { offsets, targets }
    }

    /// Rows from one list each.
    #[cfg(test)]
    pub(crate) fn from_rows(rows: &[Vec<ObjectId>]) -> Self {
        let mut offsets = vec![0u32];
        let mut targets = Vec::new();
        for row in rows {
            targets.extend_from_slice(row);
            offsets.push(targets.len() as u32);
        }
        Csr { offsets, targets }
    }

    /// Adds entries (row, entry), ascending by row, behind the others of their rows. In place: one pass over the entries behind the first.
    pub(crate) fn append(&mut self, entries: &[(ObjectId, ObjectId)]) {
        insert_behind(&mut self.targets, &self.offsets, entries);
        let mut before = 0;
        for (row, offset) in self.offsets.iter_mut().enumerate() {
            while entries.get(before).is_some_and(|(of, _)| (of.0 as usize) < row) {
                before += 1;
            }
            *offset += before as u32;
        }
    }

    /// Adds values for the same entries to a column with a value for each entry. Before [`Csr::append`].
    pub(crate) fn append_beside<T: Copy>(&self, column: &mut Vec<T>, values: &[(ObjectId, T)]) {
        insert_behind(column, &self.offsets, values);
    }

    /// The number of the first entry of a row.
    #[inline]
    pub(crate) fn start(&self, o: ObjectId) -> usize {
        self.offsets[o.0 as usize] as usize
    }

    /// The row of an object.
    #[inline]
    pub fn of(&self, o: ObjectId) -> &[ObjectId] {
        let i = o.0 as usize;
        &self.targets[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// The targets of neighbouring objects, from `first` to `last`, at most `most` of them.
    #[inline]
    pub(crate) fn of_run(&self, first: ObjectId, last: ObjectId, most: usize) -> &[ObjectId] {
        let (start, end) = (self.offsets[first.0 as usize] as usize, self.offsets[last.0 as usize + 1] as usize);
        &self.targets[start..end.min(start + most)]
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
    pub(crate) fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The same entries by target: row t lists the sources that have t, ascending.
    ///
    /// Each thread owns a range of targets and reads all entries in order. It needs no atomics and no scratch memory, and the result does
    /// not depend on the number of threads. Reading is sequential and cheap beside the scattered writes. Two threads a core: ranges take
    /// unequal time.
    pub fn transpose(&self) -> Csr {
        let n = self.rows();
        // A small heap is done before a thread has started.
        let parts = if n < 1 << 14 { 1 } else { (2 * rayon::current_num_threads()).clamp(1, 32) };
        let width = n.div_ceil(parts).max(1);
        let mut offsets = vec![0u32; n + 1];
        on_threads(offsets[1..].chunks_mut(width).enumerate(), |(part, counts)| {
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
        on_threads(slices.into_iter(), |(low, high, out)| {
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

/// Puts values behind those of their rows, ascending by row. `offsets` are those before.
fn insert_behind<T: Copy>(values: &mut Vec<T>, offsets: &[u32], new: &[(ObjectId, T)]) {
    let Some(&(_, any)) = new.first() else { return };
    let mut end = values.len();
    values.resize(end + new.len(), any);
    for (before, &(row, value)) in new.iter().enumerate().rev() {
        let at = offsets[row.0 as usize + 1] as usize;
        // What lies behind this place moves by as many entries as come before it, and this one.
        values.copy_within(at..end, at + before + 1);
        values[at + before] = value;
        end = at;
    }
}

/// Does each piece of work on a thread of its own.
///
/// It uses threads of its own, not those of the pool: a pool thread that waits here may get other work meanwhile, which may wait for the
/// same.
fn on_threads<W: Send>(work: impl ExactSizeIterator<Item = W>, done: impl Fn(W) + Sync) {
    if work.len() < 2 {
        return work.for_each(done);
    }
    std::thread::scope(|scope| {
        for piece in work {
            let done = &done;
            scope.spawn(move || done(piece));
        }
    });
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
