//! Recordings in our own format (`docs/trace-format.md`): walks over the heap become heap states, and samples give the origin of objects.
//!
//! A recording is read once, chunk by chunk ([`scan`]): names, collections, samples, and the places of walks. The objects of a walk are
//! read when its state is wanted ([`state`]). Unsampled objects have no identity and no site; nothing is guessed. [`save`] writes any
//! series as a recording.

mod cohorts;
mod count_stream;
mod counted;
mod ended;
mod estimates;
mod folder;
mod histograms;
mod join;
mod keys;
mod leftovers;
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

    /// Recorders name parts by numbers alone, `00-000000.mcity`.
    fn may_be_converted(&self, file: &Path) -> bool {
        let name = file.file_stem().unwrap_or_default().as_encoded_bytes();
        !name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
    }

    fn open(
        &self,
        found: FoundFiles<'_>,
        progress: &Progress,
        _: &mut dyn FnMut(Box<dyn HeapSeries>),
    ) -> Result<Box<dyn HeapSeries>> {
        let left = leftovers::left_beside(found.files.iter().map(|file| &*file.path));
        let inputs = found.files.iter().map(|file| Input::open(&file.path, progress)).collect::<Result<_>>()?;
        let told = [left.clone(), found.skipped].concat();
        let series = series::WalkSeries::open(inputs, told, progress).map_err(|e| leftovers::with_remedy(e, &left))?;
        Ok(Box::new(series))
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
