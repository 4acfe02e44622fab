//! Recordings in our own format (`docs/trace-format.md`): walks over the heap as heap states, with what samples say of the
//! origin of objects.
//!
//! A recording is read once, chunk by chunk ([`scan`]): names, collections, samples, and where the walks are. The objects of
//! a walk are read when its state is asked for ([`state`]). What was not sampled has no identity and no site; nothing is
//! guessed. [`save`] writes any series as a recording.

mod cohorts;
mod count_stream;
mod counted;
mod estimates;
mod folder;
mod histograms;
mod join;
mod keys;
mod lives;
mod names;
mod origins;
mod parts;
mod roots;
mod sample_kinds;
mod sampled;
mod save;
mod save_objects;
mod scan;
mod series;
mod state;
mod types;
mod walks;
mod warnings;

use crate::registry::{Format, FoundFiles};
use crate::series::HeapSeries;
use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::Path;

pub use count_stream::{CONVERTED, COUNTS_OF, CountStream, StreamCount};
pub use counted::{CountedKind, CountedTime, CountedTimes, counted};
pub use folder::RecordingFolder;
pub use join::{are_recordings, join};
pub use save::{SavedRecording, SavedWalk, save};
pub use walks::{SeenWalk, WalkStream};
pub use warnings::is_of_its_end;

pub(crate) fn format() -> Box<dyn Format> {
    Box::new(WireFormat)
}

struct WireFormat;

impl Format for WireFormat {
    fn name(&self) -> &'static str {
        "a recording of Memory City"
    }

    fn written_by(&self) -> &'static str {
        "memory-city record, attach and convert, or any program that follows docs/trace-format.md"
    }

    fn recognises(&self, start: &[u8]) -> bool {
        memory_city_wire::is_wire(start)
    }

    fn open(
        &self,
        found: FoundFiles<'_>,
        progress: &Progress,
        _: &mut dyn FnMut(Box<dyn HeapSeries>),
    ) -> Result<Box<dyn HeapSeries>> {
        let inputs = found.files.iter().map(|file| Input::open(&file.path, progress)).collect::<Result<_>>()?;
        Ok(Box::new(series::WalkSeries::open(inputs, found.skipped, progress)?))
    }
}

/// Opens a recording that is in memory, under a name for messages.
///
/// # Errors
/// When it is none, or has no walk.
pub fn open_bytes(name: &Path, bytes: Vec<u8>) -> Result<Box<dyn HeapSeries>> {
    let input = Input::from_bytes(name, bytes);
    Ok(Box::new(series::WalkSeries::open(vec![input], Vec::new(), &Progress::new())?))
}
