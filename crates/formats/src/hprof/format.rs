//! HPROF in the registry of formats.

use super::peers::Reading;
use super::values::DumpTables;
use super::{DumpHeader, DumpLimits};
use crate::budget::MemoryNeed;
use crate::dumps::{self, DumpFormat};
use crate::registry::{Format, FoundFiles};
use crate::series::HeapSeries;
use crate::values::RecordTables;
use memory_city_heap::HeapState;
use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn format() -> Box<dyn Format> {
    Box::new(Hprof)
}

struct Hprof;

impl Format for Hprof {
    fn name(&self) -> &'static str {
        "an HPROF heap dump"
    }

    fn written_by(&self) -> &'static str {
        "jcmd PID GC.heap_dump FILE, jmap, or -XX:+HeapDumpOnOutOfMemoryError"
    }

    fn recognises(&self, start: &[u8]) -> bool {
        start.starts_with(b"JAVA PROFILE ")
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

impl DumpFormat for Hprof {
    fn taken_at(&self, path: &Path, start: &[u8]) -> Result<u64> {
        Ok(DumpHeader::read(path, start)?.millis)
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

    /// By objects without fields, which take most beside their records: where ids have 4 bytes, a record has 17, with 8 it has 25.
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
