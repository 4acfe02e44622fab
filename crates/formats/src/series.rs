//! A series of heap states in time order, and its construction from files.

use super::answers::DumpStamp;
use super::budget::MemoryNeed;
use super::counts::ClassCounts;
use super::event::GcKind;
use super::lives::{GcHistory, GcNoun, Lives};
use super::recording::Recording;
use super::sampled::SampledAllocations;
use super::values::HeapValues;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Profile};
use std::path::PathBuf;
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

/// The writer of a point in time of a growing input, and the point's number there.
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

/// Files that have a heap state each: for caches of answers, and for reading several at once.
pub trait DumpFiles: Send + Sync {
    /// The facts about a dump that was loaded.
    fn facts(&self, index: usize) -> Option<DumpFacts>;

    /// Restores the facts about a dump, as if it had been loaded.
    fn recall(&self, index: usize, facts: DumpFacts);

    /// Identity of a dump: of the content read here, even if the file changes.
    fn stamp(&self, index: usize) -> Option<DumpStamp>;

    /// About how many bytes of memory reading a state and looking into it takes, by the size of its file.
    fn estimate(&self, index: usize, need: MemoryNeed) -> Option<u64>;
}

/// Warnings about a dump, and the program it seems to come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DumpFacts {
    /// Warnings of the state.
    pub warnings: Vec<Warning>,
    /// Names of the program's own classes.
    pub classes: Vec<String>,
}

/// Heap states in time order: the interface of every format.
pub trait HeapSeries: Send + Sync {
    /// The points in time.
    fn points(&self) -> &[SnapshotInfo];

    /// The heap at a point in time. Recent states are kept while memory allows; others are read again.
    ///
    /// # Errors
    /// When the file has become unreadable or unusable, or the work was cancelled.
    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>>;

    /// The values of the objects at a point in time, to be read on demand; `None` without values (traces record references, not values).
    /// Loads the heap state if it is not kept. Otherwise it costs nothing by object, except for packed inputs, which are unpacked again.
    ///
    /// # Errors
    /// As [`HeapSeries::load`], or when the file has changed since.
    fn values(&self, _index: usize, _progress: &Progress) -> Result<Option<HeapValues>> {
        Ok(None)
    }

    /// Warnings about the series as a whole, so far.
    fn warnings(&self) -> Vec<Warning>;

    /// Stable id of a point, the same after the input was reopened and has grown. `None` if an input does not grow, or the point is not
    /// complete yet.
    fn number(&self, _index: usize) -> Option<PointNumber> {
        None
    }

    /// The files of dumps; `None` for inputs whose states come out of one another, and are read one after the other.
    fn dumps(&self) -> Option<&dyn DumpFiles> {
        None
    }

    /// True if most objects have an allocation site, so that the default grouping should use it. False for dumps, though those of old JVMs
    /// may have sites: few users would expect them.
    fn has_sites(&self) -> bool {
        self.recording().is_some()
    }

    /// Whether collections are known that need not be points in time: [`HeapSeries::gc_history`] has some. Constant time.
    fn has_collections(&self) -> bool {
        false
    }

    /// The noun for one of these. Constant time.
    fn gc_noun(&self) -> GcNoun {
        GcNoun::default()
    }

    /// Whether collections would be known, had there been any.
    fn hears_collections(&self) -> bool {
        false
    }

    /// What the runtime of its states calls things.
    fn profile(&self) -> &'static Profile;

    /// The noun for one of its states, for messages.
    fn noun(&self) -> &'static str {
        "this heap dump"
    }

    /// The packages of the program itself, as a list as users type it, if the input has one.
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

    /// Estimates from samples of allocations, with the samples alive at some points in time; `None` without samples.
    ///
    /// # Errors
    /// When a file has changed since, or the work was cancelled.
    fn sampled(&self, _points: &[usize], _progress: &Progress) -> Result<Option<SampledAllocations>> {
        Ok(None)
    }

    /// Class counts between the points, and beside them: no heap states. `None` without counts. For a recording the first call takes
    /// O(classes × counts).
    fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        None
    }

    /// Whether there is something of that kind. Costs nothing.
    fn has_class_counts(&self) -> bool {
        false
    }

    /// Changes from point to point, if the source records them: then trees over time need no heap state.
    fn recording(&self) -> Option<&Recording> {
        None
    }

    /// The garbage collections of the run, those between points too; `None` if the source knows none. Linear in the records of the run.
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
