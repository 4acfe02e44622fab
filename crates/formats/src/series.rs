//! A series of snapshots in time order, and how files become one.

use super::answers::DumpStamp;
use super::budget::MemoryNeed;
use super::counts::ClassCounts;
use super::event::GcKind;
use super::lives::{GcHistory, GcNoun, Lives};
use super::recording::Recording;
use super::registry;
use super::sampled::SampledAllocations;
use super::values::HeapValues;
use memory_city_heap::HeapState;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One point in time of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Short label: the file's name, or the GC.
    pub label: String,
    /// When it was taken, milliseconds since the Unix epoch; where any point of the series has a `gc`, since the program started.
    pub millis: u64,
    /// The file.
    pub path: PathBuf,
    /// The garbage collection this is the start or end of.
    pub gc: Option<GcPoint>,
}

/// Who wrote a point in time of an input that grows, and its number there.
pub type PointNumber = (u16, u32);

/// The start or end of a garbage collection.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct GcPoint {
    /// The source's own number.
    pub number: u32,
    /// Whether the whole heap was collected. Of a single pause: by the collection that it is of.
    pub kind: GcKind,
    /// Whether this is one pause of a collector that works beside the program ([`GcRecord::one_pause`](crate::GcRecord::one_pause)).
    #[serde(rename = "pause", skip_serializing_if = "std::ops::Not::not")]
    pub one_pause: bool,
    /// Why.
    pub cause: String,
    /// How long it took, milliseconds.
    pub duration: u64,
    /// Its end, or its start.
    pub end: bool,
    /// Objects it freed, where that is known: a trace has seen each, a recorder of samples has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed: Option<u64>,
}

/// What a person must know about a dump, and which program it seems to be of.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DumpFacts {
    /// Warnings of the state.
    pub warnings: Vec<Warning>,
    /// Names of the program's own classes.
    pub classes: Vec<String>,
}

/// Heap states in time order. What every format gives.
pub trait HeapSeries: Send + Sync {
    /// The points in time.
    fn points(&self) -> &[SnapshotInfo];

    /// The heap at a point in time. Recent states are kept while memory allows; others are read again.
    ///
    /// # Errors
    /// When the file has become unreadable or unusable, or the work was cancelled.
    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>>;

    /// The values of the objects at a point in time, to be read when asked for; `None` where the input has none (traces record
    /// references, not values). Loads the heap state where it is not kept; costs nothing by object otherwise, but for packed
    /// inputs, which are unpacked again.
    ///
    /// # Errors
    /// As [`HeapSeries::load`], or when the file has changed since.
    fn values(&self, _index: usize, _progress: &Progress) -> Result<Option<HeapValues>> {
        Ok(None)
    }

    /// What a person must know about the series as a whole, by now.
    fn warnings(&self) -> Vec<Warning>;

    /// By which a point is found again when the input was opened again and has grown meanwhile; `None` where an input does not grow, or the
    /// point is not complete yet.
    fn number(&self, _index: usize) -> Option<PointNumber> {
        None
    }

    /// What is known of a dump that was loaded, for who keeps answers about it; `None` for what is no dump, and before.
    fn facts(&self, _index: usize) -> Option<DumpFacts> {
        None
    }

    /// Takes note of what was known of a dump, as if it had been loaded.
    fn recall(&self, _index: usize, _facts: DumpFacts) {}

    /// By what a dump is known again, for who keeps answers about it: of the content that is read here, whatever becomes of
    /// the file. `None` for what is no dump.
    fn stamp(&self, _index: usize) -> Option<DumpStamp> {
        None
    }

    /// About how many bytes of memory reading a state and looking into it takes, by the size of its file. `None` where states
    /// come out of one another, and are read one after the other.
    fn estimate(&self, _index: usize, _need: MemoryNeed) -> Option<u64> {
        None
    }

    /// Whether it says of most objects where they were allocated, so that it is worth while to divide the heap by that unasked. For
    /// dumps the answer is no, though those of old JVMs may have traces: nobody would look for them.
    fn has_sites(&self) -> bool {
        self.recording().is_some()
    }

    /// Whether collections are known that need not be points in time: [`HeapSeries::gc_history`] has some. Constant time.
    fn has_collections(&self) -> bool {
        false
    }

    /// What these are, one by one. Constant time.
    fn gc_noun(&self) -> GcNoun {
        GcNoun::default()
    }

    /// Whether collections would be known, had there been any.
    fn hears_collections(&self) -> bool {
        false
    }

    /// What one of its states is, for people who are told what it lacks.
    fn noun(&self) -> &'static str {
        "this heap dump"
    }

    /// Which packages are the program's own, as a list that people write, where the input tells.
    fn own_packages(&self) -> Option<&str> {
        None
    }

    /// For how long the program had run at a point, milliseconds, where the input tells.
    fn uptime(&self, _index: usize) -> Option<u64> {
        None
    }

    /// Whether allocations were sampled while it was recorded.
    fn has_samples(&self) -> bool {
        false
    }

    /// Whether only samples tell where objects come from: of most it is not known by which code and thread they were allocated, and when.
    fn is_sampled(&self) -> bool {
        false
    }

    /// Whether the objects of a point have numbers that they keep from point to point (`Origins::followed`).
    fn follows_objects(&self, _index: usize) -> bool {
        false
    }

    /// What samples of allocations say, with those that are alive at some points in time; `None` where none were taken.
    ///
    /// # Errors
    /// When a file has changed since, or the work was cancelled.
    fn sampled(&self, _points: &[usize], _progress: &Progress) -> Result<Option<SampledAllocations>> {
        Ok(None)
    }

    /// What was counted by class between the points, and beside them: no heap states. `None` where nothing was. Of a recording the first
    /// call takes O(classes × counts).
    fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        None
    }

    /// Whether there is something of that kind. Costs nothing.
    fn has_class_counts(&self) -> bool {
        false
    }

    /// What came and went from point to point, where the source records it: then trees over time need no heap state.
    fn recording(&self) -> Option<&Recording> {
        None
    }

    /// The garbage collections of the run, those between points too; `None` where the source knows none. Costs a pass over what
    /// is known of the run.
    ///
    /// # Errors
    /// When the work was cancelled.
    fn gc_history(&self, _progress: &Progress) -> Result<Option<GcHistory>> {
        Ok(None)
    }

    /// Births, promotions and deaths, where the source knows them: of every object, or of samples.
    fn lives(&self) -> Option<Lives<'_>> {
        None
    }
}

/// Opens files and folders as one series: dumps in the order of the time they were taken, ties by name; or a trace.
///
/// # Errors
/// When a named file is of no known format or cannot be read, files are of different formats, or nothing is left to
/// show. In a folder, files of no known format are skipped with a warning.
pub fn open(paths: &[PathBuf], progress: &Progress) -> Result<Box<dyn HeapSeries>> {
    open_gradually(paths, progress, &mut |_| ())
}

/// As [`open`]; while a long trace is being read, `partial` is given what has been read of it so far, now and then. It
/// may take its time: the reading waits.
///
/// # Errors
/// As [`open`].
pub fn open_gradually(
    paths: &[PathBuf],
    progress: &Progress,
    partial: &mut dyn FnMut(Box<dyn HeapSeries>),
) -> Result<Box<dyn HeapSeries>> {
    progress.begin("Looking at the files", 0);
    registry::open(&crate::formats(), paths, progress, partial)
}

/// Whether a folder has a heap dump or a trace.
///
/// # Errors
/// When it cannot be read.
pub fn holds_heaps(folder: &Path) -> Result<bool> {
    registry::holds_heaps(&crate::formats(), folder)
}
