//! AntTracks in the registry of formats.

use super::files::{AntTracksSource, find_run, folder_of};
use super::header::MAGIC;
use crate::recorded;
use crate::registry::{self, Format, FoundFiles};
use crate::series::HeapSeries;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};

pub(crate) fn format() -> Box<dyn Format> {
    Box::new(AntTracksFormat)
}

struct AntTracksFormat;

impl Format for AntTracksFormat {
    fn name(&self) -> &'static str {
        "a file of an AntTracks run"
    }

    fn written_by(&self) -> &'static str {
        "the AntTracks VM (-XX:+TraceObjects)"
    }

    fn recognises(&self, start: &[u8]) -> bool {
        start.starts_with(&MAGIC.to_le_bytes())
    }

    fn beside(&self, file: &Path) -> Vec<PathBuf> {
        registry::files_of(folder_of(file)).unwrap_or_default()
    }

    fn open(
        &self,
        found: FoundFiles<'_>,
        progress: &Progress,
        partial: &mut dyn FnMut(Box<dyn HeapSeries>),
    ) -> Result<Box<dyn HeapSeries>> {
        let run = find_run(found.paths)?.ok_or_else(|| Error::Unusable {
            what: format!("{} is no file of an AntTracks run any more", found.files[0].path.display()),
            remedy: "Open it again if it has changed meanwhile".into(),
        })?;
        Ok(Box::new(recorded::open(AntTracksSource::open(run, progress)?, progress, partial)?))
    }
}
