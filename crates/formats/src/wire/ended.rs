//! Samples that lived and died between walks, added up: alike ones are one entry, so that memory follows kinds of objects and
//! collections, not allocations.

use super::scan::{SampleDeath, SampleOrigin, error_of, too_large};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_wire::{ChunkKind, PartHeader, PartReader, Piece, WalkSampleRow};

/// Dead samples of a recording with walks. In a recording without walks there are none: there each sample is looked at for itself.
#[derive(Default)]
pub(super) struct EndedSamples {
    /// The samples that walks name; `None` in a recording without walks.
    named: Option<AHashSet<u64>>,
    /// By origin, without the time, and by the collection of the death.
    counts: AHashMap<(SampleOrigin, Option<u64>), u64>,
}

/// Samples that nothing tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AlikeSamples {
    /// Their origin. The time is 0.
    pub(super) origin: SampleOrigin,
    /// The number of the collection that freed their objects, if known.
    pub(super) gc: Option<u64>,
    /// How many there are.
    pub(super) count: u64,
}

impl EndedSamples {
    /// Finds the samples that the walks of some files name. Reads no other chunks.
    ///
    /// # Errors
    /// When they take more than `budget` bytes, a file is no recording, or the work was cancelled.
    pub(super) fn within(files: &[(PartHeader, Input)], budget: u64, progress: &Progress) -> Result<EndedSamples> {
        let mut named: Option<AHashSet<u64>> = None;
        for (_, input) in files {
            for piece in PartReader::new(&input.path, input.bytes()).map_err(error_of)? {
                progress.check()?;
                let Piece::Chunk(chunk) = piece else { continue };
                if chunk.kind() == ChunkKind::WALK_START {
                    named.get_or_insert_default();
                }
                if chunk.kind() != ChunkKind::WALK_SAMPLES || !chunk.is_known() {
                    continue;
                }
                // A damaged chunk counts as such when the walk is read.
                let Ok(decoded) = chunk.rows::<WalkSampleRow>() else { continue };
                let named = named.get_or_insert_default();
                named.extend(decoded.rows.iter().map(|row| row.sample));
                if named.capacity() as u64 * size_of::<u64>() as u64 > budget {
                    return Err(too_large(&input.path, budget));
                }
            }
        }
        Ok(EndedSamples { named, counts: AHashMap::default() })
    }

    /// Adds a dead sample; returns whether that is all that has to be kept of it.
    pub(super) fn take(&mut self, id: u64, origin: SampleOrigin, death: SampleDeath) -> bool {
        let is_kept = self.named.as_ref().is_none_or(|named| named.contains(&id));
        if !is_kept {
            *self.counts.entry((SampleOrigin { time: 0, ..origin }, death.gc)).or_default() += 1;
        }
        !is_kept
    }

    /// All of them, in an order that does not depend on that of the file.
    pub(super) fn sorted(&self) -> Vec<AlikeSamples> {
        let mut all: Vec<AlikeSamples> =
            self.counts.iter().map(|(&(origin, gc), &count)| AlikeSamples { origin, gc, count }).collect();
        all.sort_unstable();
        all
    }

    /// The origin of each kind.
    pub(super) fn origins(&self) -> impl Iterator<Item = &SampleOrigin> {
        self.counts.keys().map(|(origin, _)| origin)
    }

    /// How many samples they are.
    pub(super) fn samples(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        let named = self.named.as_ref().map_or(0, |named| named.capacity());
        named * size_of::<u64>() + self.counts.capacity() * size_of::<((SampleOrigin, Option<u64>), u64)>()
    }
}
