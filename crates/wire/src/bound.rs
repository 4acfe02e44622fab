//! The size limit of a stream: room for the next write is made before it is written, so the folder keeps its bound at every moment. Room
//! for writes that must succeed later (the end, the definitions of the next part, rows that outlive a part) is reserved from the beginning.

use crate::chunk::{ChunkKind, FILE_HEADER, PartHeader};
use crate::error::{WireError, WireResult};
use crate::index::IndexBuilder;
use crate::retire::{KeptRows, Retired, RetiringPart, retire};
use crate::rows::{LossReason, LossRow};
use crate::spool::WalkSpool;
use crate::writer::{OldPart, TraceWriter, create_part, is_part, open_part, part_path};
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// The most bytes for the end of a recording and its counts.
const END: u64 = 2 << 10;
/// A walk leaves one part in this many of the bound for later rows. Otherwise it would be the next part to go.
const BESIDE: u64 = 16;
/// A sum of old samples takes no more.
const MOST_OF_SUM: u64 = 100;

/// Bytes needed to remove a part, if `again` bytes of it may be written again: fewer rows in a chunk are packed less well.
fn needed_for(again: u64) -> u64 {
    again.saturating_add(again / 8).saturating_add(END)
}

/// Turns the error of a full trace into success.
fn unless_full(result: WireResult<()>) -> WireResult<()> {
    result.or_else(|error| if matches!(error, WireError::Full { .. }) { Ok(()) } else { Err(error) })
}

impl TraceWriter {
    /// Bytes to keep free: for the end of this part, the beginning of the next, and the rows that outlive a removed part.
    fn spare(&self) -> u64 {
        self.spare_for(self.most_again())
    }

    /// The most that is written again of a part.
    fn most_again(&self) -> u64 {
        self.old.iter().map(|part| part.again).chain([self.again]).max().unwrap_or(0)
    }

    /// The same where so much is written again of a part at most.
    fn spare_for(&self, again: u64) -> u64 {
        // With what their sums take. A part that is larger than others is full of samples whose objects live: it may stay.
        let again = again.saturating_add(again / 2).min(self.options.part_bytes.saturating_mul(2));
        self.index.most_bytes().saturating_add(self.definition_bytes).saturating_add(again).saturating_add(2 * END)
    }

    /// Bytes that are free within the bound.
    fn free(&self) -> u64 {
        self.options.most_bytes.map_or(u64::MAX, |most| most.saturating_sub(self.bytes()))
    }

    /// Whether so many bytes of a kind may be appended as it is.
    pub(crate) fn fits(&self, kind: ChunkKind, bytes: u64) -> bool {
        if self.options.most_bytes.is_none() || self.may_use_all() {
            return bytes <= self.free();
        }
        let spare = match kind {
            // What is missing can always be said.
            ChunkKind::LOSSES => self.spare().saturating_sub(END),
            // They come again in the next part.
            _ if kind.is_definition() => self.spare().saturating_add(bytes),
            _ => self.spare(),
        };
        bytes.saturating_add(spare) <= self.free()
    }

    /// Lets old parts go until so much fits.
    pub(crate) fn make_room_for(&mut self, kind: ChunkKind, bytes: u64) -> WireResult<()> {
        if self.may_use_all() {
            return Err(self.full());
        }
        self.rotating = true;
        let result = self.let_go_until(&|writer| writer.fits(kind, bytes));
        self.rotating = false;
        result
    }

    /// Begins a new part where this one is long enough, and lets old ones go.
    pub(crate) fn make_room(&mut self) -> WireResult<()> {
        if self.is_full && !self.in_walk && !self.may_use_all() {
            return Err(self.full());
        }
        if self.in_walk && self.spool.is_none() || self.may_use_all() || !self.is_long() {
            return Ok(());
        }
        self.rotating = true;
        // The part that has just begun will grow to its size.
        let part = self.options.part_bytes;
        // A walk goes for another walk alone.
        let has_walks = self.walks > 0;
        let result = self.rotate().and_then(|()| match self.options.most_bytes {
            Some(_) if !has_walks => self.let_go_until(&|writer| writer.fits(ChunkKind::SAMPLES, part)),
            _ => Ok(()),
        });
        self.rotating = false;
        result
    }

    /// Whether this part has its size.
    fn is_long(&self) -> bool {
        self.position.saturating_sub(self.definition_bytes) >= self.options.part_bytes
    }

    /// Lets old parts go, the one that is being written last, until there is enough room. Where nothing can go any more the stream is
    /// full.
    fn let_go_until(&mut self, is_enough: &dyn Fn(&mut TraceWriter) -> bool) -> WireResult<()> {
        let mut is_last = false;
        loop {
            // What is asked for is not for parts that begin or go.
            self.rotating = false;
            let done = is_enough(self);
            self.rotating = true;
            if done {
                return Ok(());
            }
            let Some(oldest) = self.old.pop_front() else {
                let next = self.index.most_bytes().saturating_add(self.definition_bytes).saturating_add(END);
                if std::mem::replace(&mut is_last, true) || next.saturating_add(needed_for(self.again)) > self.free() {
                    self.is_full = true;
                    return Err(self.full());
                }
                self.rotate()?;
                continue;
            };
            let result = match needed_for(oldest.again) <= self.free() {
                true => self.let_go(&oldest),
                false => Err(self.full()),
            };
            if let Err(error) = result {
                self.old.push_front(oldest);
                self.is_full |= matches!(error, WireError::Full { .. });
                return Err(error);
            }
        }
    }

    fn full(&self) -> WireError {
        WireError::Full { most: self.options.most_bytes.unwrap_or(u64::MAX) }
    }

    /// Begins the next part of a folder: with all definitions.
    fn rotate(&mut self) -> WireResult<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        self.write_index()?;
        let header = PartHeader { part: self.header.part.saturating_add(1), ..self.header };
        let path = part_path(&folder, header.stream, header.part);
        let file = create_part(&path, &header)?;
        let mut source = open_part(&self.path).map_err(|e| WireError::io(&self.path, e))?;
        let old_path = std::mem::replace(&mut self.path, path);
        let (bytes, again, walks) = (self.position, self.again, std::mem::take(&mut self.walks_here));
        self.old.push_back(OldPart { path: old_path.clone(), bytes, again, walks });
        (self.header, self.file, self.position) = (header, file, FILE_HEADER as u64);
        self.index = IndexBuilder::default();
        (self.definition_bytes, self.again) = (0, 0);
        for (offset, length) in std::mem::take(&mut self.definitions) {
            self.frame.clear();
            let read = source
                .seek(SeekFrom::Start(offset))
                .and_then(|_| (&mut source).take(length).read_to_end(&mut self.frame));
            match read {
                Ok(read) if read as u64 == length => {}
                Ok(_) => continue,
                Err(error) => return Err(WireError::io(&old_path, error)),
            }
            let number = self.frame.get(8..).and_then(|rest| rest.first_chunk()).copied().map_or(0, u64::from_le_bytes);
            let kind = self.frame.get(4..).and_then(|rest| rest.first_chunk()).copied().map_or(0, u16::from_le_bytes);
            self.append(ChunkKind(kind), number)?;
        }
        Ok(())
    }

    /// Writes the needed rows of an old part again, and removes it.
    fn let_go(&mut self, oldest: &OldPart) -> WireResult<()> {
        let others: Vec<PathBuf> = self.old.iter().map(|part| part.path.clone()).chain([self.path.clone()]).collect();
        let (header, now) = (self.header, self.now());
        let for_sums = self.free().saturating_sub(needed_for(oldest.again)) / MOST_OF_SUM;
        let most_sums = usize::try_from(for_sums).unwrap_or(usize::MAX);
        let elsewhere = self.other_streams();
        let part = RetiringPart {
            oldest: &oldest.path,
            header: &header,
            others: &others,
            elsewhere: &elsewhere,
            now,
            most_sums,
        };
        let Retired { old_samples, losses } = retire(&part, &mut |rows| match rows {
            KeptRows::Samples(samples) => self.write(samples),
            // Without room for them their samples count as alive, and go no more: those that are kept are few enough for that.
            KeptRows::Deaths(deaths) => unless_full(self.write(deaths)),
            KeptRows::Settings(settings) => self.write(settings),
        })?;
        for told in [self.write(&losses), self.write(&old_samples)] {
            // What has no room now is counted: the part goes all the same, or what it has would be there twice.
            unless_full(told)?;
        }
        std::fs::remove_file(&oldest.path).map_err(|e| WireError::io(&oldest.path, e))
    }

    /// Parts of other streams in the folder, which their writers may remove at any time. Readers skip chunks of another recording.
    fn other_streams(&self) -> Vec<PathBuf> {
        let own = format!("{:02}-", self.header.stream);
        let entries = self.folder.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        let is_other = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            is_part(path) && name.is_some_and(|name| !name.starts_with(&own))
        };
        entries.map(|entry| entry.path()).filter(is_other).collect()
    }

    pub(crate) fn next_walk(&mut self) -> WireResult<u32> {
        self.make_room()?;
        if let (Some(folder), Some(_)) = (&self.folder, self.options.most_bytes) {
            self.spool = Some(WalkSpool::begin(folder, self.header.stream)?);
        }
        self.in_walk = true;
        self.walks = self.walks.wrapping_add(1);
        Ok(self.walks.wrapping_sub(1))
    }

    /// The walk is complete: makes room for it, and puts it into the trace, where it waited for that.
    pub(crate) fn admit_walk(&mut self) -> WireResult<()> {
        let (Some(spool), Some(most)) = (&self.spool, self.options.most_bytes) else { return Ok(()) };
        let (bytes, chunks) = (spool.bytes(), spool.len() as u64);
        // In a part of its own with nothing beside it: what is there already should not go for a walk that has no room then either.
        let own_index = IndexBuilder::bytes_of(chunks.saturating_add(self.definitions.len() as u64));
        let beside = FILE_HEADER as u64 + 4 * END;
        let needed = self
            .definition_bytes
            .saturating_mul(2)
            .saturating_add(own_index)
            .saturating_add(beside)
            .saturating_add(bytes);
        self.last_walk_needs = needed;
        if needed > most {
            self.leave_out_walk()?;
            return Err(WireError::WalkTooLarge { needed, most });
        }
        let with_index = bytes.saturating_add(IndexBuilder::bytes_of(chunks));
        if !self.would_have_room(with_index.saturating_add(most / BESIDE)) {
            self.last_walk_needs = needed.max(most.saturating_add(1));
            self.leave_out_walk()?;
            return Err(WireError::WalkTooLarge { needed: self.last_walk_needs, most });
        }
        if self.is_long() {
            self.rotating = true;
            let result = self.rotate();
            self.rotating = false;
            result?;
        }
        if !self.fits(ChunkKind::WALK_OBJECTS, with_index) {
            self.make_room_for(ChunkKind::WALK_OBJECTS, with_index)?;
        }
        let Some(mut spool) = self.spool.take() else { return Ok(()) };
        spool.read(&mut |chunk, reader| {
            let number = self.begin_frame(chunk);
            let read = reader.read_to_end(&mut self.frame).map_err(|e| WireError::io(&self.path, e))?;
            if read as u64 != u64::from(chunk.stored) {
                let cut = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
                return Err(WireError::io(&self.path, cut));
            }
            self.append(chunk.kind, number)
        })
    }

    /// True if this many bytes of a walk would fit after all removable parts were gone. Asked before anything is removed: an older walk is
    /// better than none. Rows of removed parts that are written again count at their maximum.
    fn would_have_room(&self, bytes: u64) -> bool {
        let next = FILE_HEADER as u64 + self.definition_bytes.saturating_add(END);
        let current = (self.position, self.again);
        let parts = self.old.iter().map(|part| (part.bytes, part.again)).chain([current]);
        let (mut free, mut again) = (self.free(), 0u64);
        let mut most_again = self.most_again();
        let last = self.old.len();
        for (at, (part, of_part)) in parts.enumerate() {
            if bytes.saturating_add(self.spare_for(most_again)) <= free {
                return true;
            }
            // The part that is being written goes when the next one has begun.
            let begins = if at == last { next } else { 0 };
            let taken = needed_for(of_part).saturating_add(begins);
            if taken > free {
                return false;
            }
            free = (free - taken).saturating_add(part);
            again = again.saturating_add(of_part);
            most_again = most_again.max(again);
        }
        bytes.saturating_add(self.spare_for(most_again)) <= free
    }

    /// Counts a walk for which there is no room.
    fn leave_out_walk(&mut self) -> WireResult<()> {
        self.spool = None;
        let what = u32::from(ChunkKind::WALK_END.0);
        let time = self.now();
        self.write(&[LossRow { time, what, reason: LossReason::NoRoom, count: 1, ..LossRow::default() }])
    }

    pub(crate) fn end_walk(&mut self) {
        self.in_walk = false;
        self.spool = None;
    }
}
