//! HPROF in the registry of formats.

use super::header::DumpHeader;
use super::index::DumpIndex;
use super::leftovers;
use super::limits::{DumpLimits, without_objects};
use super::peers::Reading;
use super::tags::top;
use super::values::DumpTables;
use crate::JVM;
use crate::budget::MemoryNeed;
use crate::dumps::{self, DumpFormat};
use crate::registry::{Format, FoundFiles};
use crate::series::HeapSeries;
use crate::values::RecordTables;
use memory_city_heap::error::Result;
use memory_city_heap::input::{Input, UnpackedSize};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Profile};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn format() -> Box<dyn Format> {
    Box::new(Hprof)
}

struct Hprof;

/// Files up to this size, bytes, are inspected as a whole when they are found.
const SHORT: usize = 4096;

impl Format for Hprof {
    fn name(&self) -> &'static str {
        "an HPROF heap dump"
    }

    fn written_by(&self) -> &'static str {
        "jcmd PID GC.heap_dump FILE, jmap, or -XX:+HeapDumpOnOutOfMemoryError"
    }

    fn recognises(&self, start: &[u8]) -> bool {
        // Not the text that the old agent writes: there a comma follows.
        start.starts_with(b"JAVA PROFILE ") && !start.starts_with(b"JAVA PROFILE 1.0.1,")
    }

    fn beside(&self, file: &Path) -> Vec<PathBuf> {
        leftovers::parts_of(file)
    }

    fn open(
        &self,
        found: FoundFiles<'_>,
        _: &Progress,
        _: &mut dyn FnMut(Box<dyn HeapSeries>),
    ) -> Result<Box<dyn HeapSeries>> {
        dumps::open(Hprof, found)
    }
}

/// The first bytes of files that the hprof agent of old JVMs writes, with several dumps in one; other dumps of old JVMs begin so too.
const AGENT: &[u8] = b"JAVA PROFILE 1.0.1\0";

/// Whether a file may hold several dumps: plain, and small enough that no length of a record wraps around.
fn may_hold_several(path: &Path, start: &[u8]) -> bool {
    let is_plain = |size: UnpackedSize| !size.packed && size.bytes < u32::MAX.into();
    start.starts_with(AGENT) && Input::unpacked_size(path).is_ok_and(is_plain)
}

/// Most dumps in one file that are states; of more, which takes a hostile file, the last is shown.
const MOST_STATES: usize = 1000;

/// The records in a file that are whole dumps; none where there are too many.
fn whole_dumps(input: &Input) -> Result<Vec<Range<usize>>> {
    let bytes = input.bytes();
    let header = DumpHeader::read(&input.path, bytes)?;
    let records = leftovers::records(bytes, header.end).filter(|(at, _)| bytes[*at] == top::HEAP_DUMP);
    let dumps: Vec<Range<usize>> = records.map(|(at, end)| at..end.min(bytes.len())).take(MOST_STATES + 1).collect();
    Ok(if dumps.len() > MOST_STATES { Vec::new() } else { dumps })
}

impl DumpFormat for Hprof {
    fn profile(&self) -> &'static Profile {
        &JVM
    }

    fn taken_at(&self, path: &Path, start: &[u8]) -> Result<u64> {
        let header = DumpHeader::read(path, start)?;
        // Of a file that ends so soon it is known at once that it holds nothing.
        let all = Input::peek(path, SHORT + 1)?;
        let has_pieces = || !DumpIndex::read(path, &all, &header, 1 << 20).pieces.is_empty();
        if all.len() <= SHORT && !has_pieces() && leftovers::parts_of(path).is_empty() {
            return Err(without_objects(path, all.len() as u64));
        }
        Ok(header.millis)
    }

    fn states(&self, path: &Path, start: &[u8]) -> Result<Vec<u64>> {
        let first = self.taken_at(path, start)?;
        if !may_hold_several(path, start) {
            return Ok(vec![first]);
        }
        let input = Input::open(path, &Progress::new())?;
        let (mut turns, mut last) = (0u64, 0u32);
        let taken = whole_dumps(&input)?.into_iter().filter_map(|dump| {
            let micros = u32::from_be_bytes(input.bytes().get(dump.start + 1..dump.start + 5)?.try_into().ok()?);
            // The clock of records begins anew after 71 minutes.
            turns += u64::from(micros < last);
            last = micros;
            Some(first.saturating_add(((turns << 32) + u64::from(micros)) / 1000))
        });
        let taken: Vec<u64> = taken.collect();
        Ok(if taken.len() > 1 { taken } else { vec![first] })
    }

    fn input_of(&self, path: &Path, state: usize, progress: &Progress) -> Result<Input> {
        let whole = self.input(path, progress)?;
        if !may_hold_several(path, &whole.bytes()[..AGENT.len().min(whole.bytes().len())]) {
            return Ok(whole);
        }
        let dumps = whole_dumps(&whole)?;
        if dumps.len() < 2 {
            return Ok(whole);
        }
        // All but the other dumps: names may stand behind the dump that needs them.
        let (mut bytes, mut from) = (Vec::new(), 0);
        for (_, other) in dumps.into_iter().enumerate().filter(|(number, _)| *number != state) {
            bytes.extend_from_slice(&whole.bytes()[from..other.start]);
            from = other.end;
        }
        bytes.extend_from_slice(&whole.bytes()[from..]);
        let mut input = Input::from_bytes(path, bytes);
        input.warnings = whole.warnings;
        Ok(input)
    }

    fn input(&self, path: &Path, progress: &Progress) -> Result<Input> {
        leftovers::open(path, progress)
    }

    fn load(&self, input: &Input, progress: &Progress) -> Result<HeapState> {
        super::load(input, progress)
    }

    fn load_with_tables(
        &self,
        input: &Input,
        progress: &Progress,
    ) -> Result<(HeapState, Option<Arc<dyn RecordTables>>)> {
        let (heap, tables) = super::load_with_tables(input, DumpLimits::default(), Reading::default(), progress)?;
        Ok((heap, Some(Arc::new(tables))))
    }

    /// The worst case are objects without fields, whose memory is largest beside their records: a record has 17 bytes with ids of 4 bytes,
    /// 25 with ids of 8.
    fn memory(&self, start: &[u8], bytes: u64, need: MemoryNeed) -> u64 {
        let narrow = DumpHeader::read(Path::new(""), start).is_ok_and(|header| header.id_size < 8);
        let percent = match (need, narrow) {
            (MemoryNeed::Graph, false) => 100,
            (MemoryNeed::Graph, true) => 140,
            (MemoryNeed::Owners, false) => 200,
            (MemoryNeed::Owners, true) => 310,
        };
        // Names, tables, and what each thread works with.
        bytes.saturating_add(99) / 100 * percent + (4 << 20)
    }

    fn tables(&self, input: &Input, progress: &Progress) -> Result<Option<Arc<dyn RecordTables>>> {
        Ok(Some(Arc::new(DumpTables::read(input, progress)?)))
    }
}
