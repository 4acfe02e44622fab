//! Writer of heap states as the walks of a growing recording: a stream of their own beside that of the recorder.

use super::save::{SavedWalk, Saver};
use super::scan::error_of;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, ReferenceFields};
use memory_city_wire::{ChunkKind, LossReason, LossRow, TraceWriter, WalkStartRow};

/// Facts about a walk besides the heap state.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeenWalk<'a> {
    /// Pairs of an object and its sample.
    pub samples: &'a [(ObjectId, u64)],
    /// Numbers that objects have in all walks, where all are followed.
    pub identities: &'a [(ObjectId, u64)],
    /// The fields by types, if the heap state has none.
    pub fields: Option<&'a ReferenceFields>,
    /// For how long the program stood still, nanoseconds.
    pub pause: Option<u64>,
    /// Live samples whose object was not found.
    pub unlinked: u64,
    /// How many of those are class objects.
    pub unlinked_classes: u64,
    /// Samples that were taken too late to be found in it, if counted.
    pub late: Option<u64>,
}

/// A stream of walks. Names have the same numbers in all of them.
pub struct WalkStream(Saver);

impl WalkStream {
    /// Walks go to this writer.
    pub fn new(writer: TraceWriter) -> WalkStream {
        WalkStream(Saver::new(writer))
    }

    /// Writes a heap state as the next walk. Takes O(objects + references) time, and memory for names, roots and one chunk. Of `start` the times, the collections and the label count; the rest follows from the heap state.
    ///
    /// # Errors
    /// When the disk refuses, or the work was cancelled: then the walk is broken off, which readers see.
    pub fn write(
        &mut self,
        heap: &HeapState,
        start: WalkStartRow,
        seen: &SeenWalk<'_>,
        progress: &Progress,
    ) -> Result<SavedWalk> {
        progress.begin("Writing the walk", heap.object_count() as u64);
        self.0.walk(heap, start, seen, progress)
    }

    /// Notes that `count` samples were taken and never written, as the program was killed; 0 is worth noting too. `time` is the moment of
    /// the kill, nanoseconds since the recording began.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn samples_gone(&mut self, time: u64, count: u64) -> Result<()> {
        self.0.writer.count_lost(count);
        let what = u32::from(ChunkKind::SAMPLES.0);
        let loss = LossRow { time, what, reason: LossReason::Killed, count, ..LossRow::default() };
        self.0.writer.write(&[loss]).map_err(error_of)
    }

    /// The number of existing walks, without those that were left out or dropped for later ones.
    pub fn walks(&self) -> u64 {
        self.0.writer.walks()
    }

    /// The bound within which the last walk would have room if there were nothing else, bytes; 0 where there is no bound, or no walk.
    pub fn last_walk_needs(&self) -> u64 {
        self.0.writer.last_walk_needs()
    }

    /// Bytes written.
    pub fn bytes(&self) -> u64 {
        self.0.writer.bytes()
    }

    /// Ends the stream, with the reason for people.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(self, reason: &str) -> Result<()> {
        self.0.writer.finish(reason).map_err(error_of)
    }
}
