//! The writer of a walk: object after object, in any order, with one chunk in memory.

use crate::chunk::ChunkKind;
use crate::error::WireResult;
use crate::objects::{ObjectColumns, WalkObject};
use crate::rows::{ObjectNaming, TraceRow, WalkEndRow, WalkReferenceRow, WalkRootRow, WalkStartRow};
use crate::writer::{TARGET, TraceWriter};

/// More references of one object are written apart.
const MOST_REFERENCES: usize = 1 << 14;
/// More objects are not in one chunk.
const MOST_OBJECTS: usize = 1 << 15;

/// A walk that is being written. Without [`WalkWriter::finish`] it counts as broken off; nothing of it is there where the trace has a bound.
pub struct WalkWriter<'a> {
    writer: &'a mut TraceWriter,
    start: WalkStartRow,
    batch: ObjectColumns,
    references: u64,
    objects: u64,
    roots: u64,
    /// Live samples that are not in it, and how many of those are class objects.
    unlinked: [u64; 2],
    /// Samples that came too late to be found in it.
    late: Option<u64>,
}

impl TraceWriter {
    /// Begins a walk, and sets its number, whatever `start` has; rows about it must carry that number.
    ///
    /// # Errors
    /// As [`TraceWriter::write`].
    pub fn begin_walk(&mut self, start: WalkStartRow) -> WireResult<WalkWriter<'_>> {
        let walk = self.next_walk()?;
        let start = WalkStartRow { walk, ..start };
        if let Err(error) = self.write(std::slice::from_ref(&start)) {
            self.end_walk();
            return Err(error);
        }
        let batch = ObjectColumns { walk, ..ObjectColumns::default() };
        Ok(WalkWriter { writer: self, start, batch, references: 0, objects: 0, roots: 0, unlinked: [0; 2], late: None })
    }
}

impl WalkWriter<'_> {
    /// Its number.
    pub fn number(&self) -> u32 {
        self.start.walk
    }

    /// How many objects have been listed: the key of the next one, where they are named by order.
    pub fn objects(&self) -> u64 {
        self.objects
    }

    /// The writer, for other rows while the walk is written: names that its rows use, samples.
    pub fn writer(&mut self) -> &mut TraceWriter {
        self.writer
    }

    /// Lists an object, with the keys of the objects it refers to: one for each reference that is not null.
    ///
    /// # Errors
    /// As [`TraceWriter::write`]. Then the walk is incomplete and should be given up.
    pub fn object(&mut self, object: &WalkObject, references: &[u64]) -> WireResult<()> {
        let (first, more) = references.split_at_checked(MOST_REFERENCES).unwrap_or((references, &[]));
        self.batch.push(object, self.start.naming == ObjectNaming::Id, self.start.has_addresses, first);
        let own = match self.start.naming {
            ObjectNaming::Order => self.objects,
            ObjectNaming::Id => object.id,
        };
        self.objects = self.objects.saturating_add(1);
        self.references = self.references.saturating_add(first.len() as u64);
        let bytes = self.batch.len().saturating_mul(6).saturating_add(self.batch.references.len().saturating_mul(3));
        if bytes >= TARGET || self.batch.len() >= MOST_OBJECTS || !more.is_empty() {
            self.flush()?;
        }
        for part in more.chunks(MOST_REFERENCES) {
            let row = |&to: &u64| WalkReferenceRow { walk: self.start.walk, from: own, to };
            let rows: Vec<WalkReferenceRow> = part.iter().map(row).collect();
            self.references(&rows)?;
        }
        Ok(())
    }

    /// References that were found apart from their objects.
    ///
    /// # Errors
    /// As [`WalkWriter::object`].
    pub fn references(&mut self, rows: &[WalkReferenceRow]) -> WireResult<()> {
        self.references = self.references.saturating_add(rows.len() as u64);
        self.writer.write(rows)
    }

    /// GC roots.
    ///
    /// # Errors
    /// As [`WalkWriter::object`].
    pub fn roots(&mut self, rows: &[WalkRootRow]) -> WireResult<()> {
        self.roots = self.roots.saturating_add(rows.len() as u64);
        self.writer.write(rows)
    }

    /// Anything else about the walk: samples in it, class objects, referents.
    ///
    /// # Errors
    /// As [`WalkWriter::object`].
    pub fn rows<R: TraceRow>(&mut self, rows: &[R]) -> WireResult<()> {
        self.writer.write(rows)
    }

    fn flush(&mut self) -> WireResult<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mut payload = self.writer.take_payload();
        self.batch.encode(&mut payload);
        let result = self.writer.put_chunk(ChunkKind::WALK_OBJECTS, payload.finish());
        self.writer.give_payload(payload);
        if result.is_err() {
            self.writer.missed(ChunkKind::WALK_OBJECTS, self.batch.len() as u64);
        }
        self.batch.go_on();
        result
    }

    /// How many live samples are not in it, and how many of those are class objects.
    pub fn note_unlinked(&mut self, all: u64, classes: u64) {
        self.unlinked = [all, classes];
    }

    /// Sets the number of samples that were taken too late to be found in it, if it is counted.
    pub fn note_late(&mut self, late: Option<u64>) {
        self.late = late;
    }

    /// Ends the walk: `pause` is for how long the program stood still, nanoseconds.
    ///
    /// # Errors
    /// As [`WalkWriter::object`]; [`WireError::WalkTooLarge`](crate::WireError::WalkTooLarge) if the walk has no room within the bound of
    /// the trace.
    pub fn finish(mut self, pause: Option<u64>) -> WireResult<WalkEndRow> {
        self.flush()?;
        let end = WalkEndRow {
            walk: self.start.walk,
            time: self.writer.now(),
            pause,
            objects: self.objects,
            references: self.references,
            roots: self.roots,
            unlinked: self.unlinked[0],
            unlinked_classes: Some(self.unlinked[1]),
            late: self.late,
        };
        self.writer.write(std::slice::from_ref(&end))?;
        self.writer.admit_walk()?;
        self.writer.walks_here = self.writer.walks_here.saturating_add(1);
        Ok(end)
    }
}

impl Drop for WalkWriter<'_> {
    fn drop(&mut self) {
        self.writer.end_walk();
    }
}
