//! The walks of a recording as a series.

use super::cohorts;
use super::count_stream::CONVERTED;
use super::lives::{gc_history, gc_noun, sampled_lives};
use super::origins::Provenance;
use super::sampled::{EVERY_ALLOCATION, sampled};
use super::scan::{Scan, WalkPlace};
use super::state::{SampleLinks, heap_state};
use crate::JVM;
use crate::budget::memory_budget;
use crate::counts::ClassCounts;
use crate::event::GcKind;
use crate::lives::{GcHistory, GcNoun, Lives, SampledLives};
use crate::recording::Recording;
use crate::sampled::SampledAllocations;
use crate::series::{GcPoint, HeapSeries, PointNumber, SnapshotInfo};
use crate::state_cache::StateCache;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Profile};
use memory_city_wire::{ChunkKind, CollectionKind, GcRow, GcScope, WalkStartRow};
use std::sync::{Arc, Mutex, OnceLock};

/// A recording as heap states: one for each walk.
pub(super) struct WalkSeries {
    scan: Scan,
    provenance: Provenance,
    /// Births and deaths of samples, where any were taken.
    lives: Option<SampledLives>,
    /// Changes of cohorts, if every object was seen.
    cohorts: Option<Recording>,
    points: Vec<SnapshotInfo>,
    /// The noun for its collections.
    noun: GcNoun,
    warnings: Mutex<Vec<Warning>>,
    counts: OnceLock<Option<Arc<ClassCounts>>>,
    kept: Mutex<StateCache>,
}

impl WalkSeries {
    /// Opens the files of one recording.
    ///
    /// # Errors
    /// As [`Scan::read`], or when there is no walk in them.
    pub(super) fn open(inputs: Vec<Input>, mut skipped: Vec<Warning>, progress: &Progress) -> Result<WalkSeries> {
        let mut scan = Scan::read(inputs, progress)?;
        let path = scan.files.first().map(|input| input.path.clone()).unwrap_or_default();
        // Half a walk is shown only where there is nothing better: it looks like a heap that has shrunk.
        if scan.walks.iter().any(|walk| walk.end.is_some()) {
            for walk in scan.walks.iter().filter(|walk| walk.end.is_none()) {
                skipped.push(warning_of(&path, walk, "was broken off, and is left out"));
            }
            scan.walks.retain(|walk| walk.end.is_some());
        } else {
            for walk in &scan.walks {
                skipped.push(warning_of(
                    &path,
                    walk,
                    "was broken off: objects, references and roots are missing from it",
                ));
            }
        }
        if scan.walks.is_empty() {
            return Err(Error::Unusable {
                what: format!(
                    "{} holds {} samples, {} class histograms and {} {}, but no walk over the heap to show",
                    path.display(),
                    scan.sample_count(),
                    scan.histograms(),
                    scan.gcs.len(),
                    gc_noun(&scan).many()
                ),
                remedy: "Record until the first walk is done".into(),
            });
        }
        let provenance = Provenance::of(&scan, progress)?;
        skipped.extend(provenance.lacks(&path));
        let trouble = std::mem::take(&mut scan.trouble).finish(&path, &scan.losses);
        let lives = sampled_lives(&scan, &provenance, progress)?;
        let (cohorts, odd) = cohorts::read(&scan, &provenance, progress)?;
        if odd > 0 {
            let message = format!("{odd} rows of births and deaths make no sense, and are left out");
            skipped.push(Warning { path: path.clone(), offset: None, message });
        }
        // They are in it by now.
        scan.cohorts = Vec::new();
        let noun = gc_noun(&scan);
        let points = points(&scan, noun);
        let warnings = Mutex::new([skipped, trouble].concat());
        let (counts, kept) = (OnceLock::new(), Mutex::default());
        Ok(WalkSeries { scan, provenance, lives, cohorts, points, noun, warnings, counts, kept })
    }
}

fn warning_of(path: &std::path::Path, walk: &WalkPlace, what: &str) -> Warning {
    let message = format!("walk {} {what}", walk.start.walk);
    Warning { path: path.to_owned(), offset: None, message }
}

/// The mode of a recording made from outside of the program, which sees no collections.
const COUNTED: &str = "histograms";

/// The fact that says which packages are the program's own.
pub(super) const PACKAGES: &str = "program.packages";

/// A number of the run.
pub(super) fn fact(scan: &Scan, key: &str) -> Option<u64> {
    scan.run.get(key)?.trim().parse().ok()
}

fn points(scan: &Scan, noun: GcNoun) -> Vec<SnapshotInfo> {
    let gc_of = |walk: &WalkPlace| {
        let row = scan.gcs.get(&walk.start.gc?)?;
        gc_point(scan, !walk.start.before_gc, row)
    };
    // Points count time from the start of the program where one of them has a collection, else from 1970: one or the other for all. A walk
    // without, as before the first collection, takes it from no other, where it is known when the program started.
    let gcs: Vec<Option<GcPoint>> = scan.walks.iter().map(gc_of).collect();
    let by_gc = gcs.iter().all(Option::is_some)
        || gcs.iter().any(Option::is_some)
            && fact(scan, "vm.started").is_some_and(|vm| vm <= fact(scan, "recording.started").unwrap_or(0));
    let point = |(walk, gc): (&WalkPlace, Option<GcPoint>)| {
        let start = &walk.start;
        SnapshotInfo {
            label: label(start, gc.as_ref(), noun),
            millis: match by_gc {
                true => millis(scan, start.time, true),
                false => start.taken.unwrap_or_else(|| millis(scan, start.time, false)),
            },
            path: scan.files.get(walk.file).map(|input| input.path.clone()).unwrap_or_default(),
            gc: gc.filter(|_| by_gc),
        }
    };
    scan.walks.iter().zip(gcs).map(point).collect()
}

/// A time of the recording in milliseconds: since the start of the program, or since 1970.
fn millis(scan: &Scan, time: u64, since_start: bool) -> u64 {
    let started = fact(scan, "recording.started").unwrap_or(0);
    let began = match since_start {
        true => fact(scan, "vm.started").map_or(0, |vm| started.saturating_sub(vm)),
        false => started,
    };
    began.saturating_add(time / 1_000_000)
}

/// A collection as a point in time has it: its end, or its start.
pub(super) fn gc_point(scan: &Scan, end: bool, (stream, row): &(u16, GcRow)) -> Option<GcPoint> {
    let kind = match row.kind {
        CollectionKind::Minor => GcKind::Minor,
        CollectionKind::Major => GcKind::Major,
        // What the VM did not say is not made up.
        CollectionKind::Unknown => return None,
    };
    // The stream that saw the collection may be another than that of the walk.
    let cause = row.cause.and_then(|cause| Some(scan.streams.get(stream)?.strings.get(&cause)?.to_string()));
    Some(GcPoint {
        number: u32::try_from(row.source_number.unwrap_or(row.number)).unwrap_or(u32::MAX),
        kind,
        one_pause: row.scope == GcScope::Pause,
        cause: cause.unwrap_or_else(|| "unknown cause".to_owned()),
        duration: row.duration / 1_000_000,
        end,
        freed: row.freed,
    })
}

fn label(start: &WalkStartRow, gc: Option<&GcPoint>, noun: GcNoun) -> String {
    if !start.label.is_empty() {
        return start.label.clone();
    }
    match gc.map(|gc| gc.number.into()).or(start.gc) {
        Some(gc) => format!("Walk {} after {}", start.walk + 1, noun.numbered(gc)),
        None => format!("Walk {}", start.walk + 1),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl WalkSeries {
    /// Reads a walk, and which of its objects are samples, by the number of the sample.
    fn read(&self, index: usize, progress: &Progress) -> Result<(Arc<HeapState>, SampleLinks)> {
        let (state, samples) = heap_state(&self.scan, &self.scan.walks[index], &self.provenance, progress)?;
        let state = Arc::new(state);
        let mut warnings = lock(&self.warnings);
        for warning in state.warnings() {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        drop(warnings);
        lock(&self.kept).keep(index, Arc::clone(&state), memory_budget());
        Ok((state, samples))
    }
}

impl HeapSeries for WalkSeries {
    fn profile(&self) -> &'static Profile {
        &JVM
    }

    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>> {
        if let Some(state) = lock(&self.kept).get(index) {
            return Ok(state);
        }
        progress.begin(format!("Reading {}", self.points[index].label), 0);
        Ok(self.read(index, progress)?.0)
    }

    fn warnings(&self) -> Vec<Warning> {
        lock(&self.warnings).clone()
    }

    fn noun(&self) -> &'static str {
        "this recording"
    }

    fn number(&self, index: usize) -> Option<PointNumber> {
        let walk = self.scan.walks.get(index).filter(|walk| walk.end.is_some())?;
        Some((walk.stream, walk.start.walk))
    }

    fn gc_history(&self, _: &Progress) -> Result<Option<GcHistory>> {
        Ok(Some(gc_history(&self.scan)).filter(|history| !history.collections.is_empty()))
    }

    fn has_collections(&self) -> bool {
        !self.scan.gcs.is_empty()
    }

    fn gc_noun(&self) -> GcNoun {
        self.noun
    }

    fn hears_collections(&self) -> bool {
        // What was converted tells what its source knew.
        self.scan.run.get("recording.mode").is_some_and(|mode| mode != CONVERTED && mode != COUNTED)
    }

    fn lives(&self) -> Option<Lives<'_>> {
        let gcs = self.scan.gcs.len() as u32;
        // What was counted is better than what samples say.
        let counted = self.cohorts.as_ref().map(|recording| Lives::counted(recording, gcs));
        counted.or_else(|| self.lives.as_ref().map(|lives| Lives::sampled(lives, gcs)))
    }

    fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        let count = || {
            let since_start = self.points.iter().any(|point| point.gc.is_some());
            self.scan.class_counts(|time| millis(&self.scan, time, since_start)).map(Arc::new)
        };
        self.counts.get_or_init(count).clone()
    }

    fn has_class_counts(&self) -> bool {
        self.scan.histograms() > 0
    }

    fn own_packages(&self) -> Option<&str> {
        self.scan.run.get(PACKAGES).map(String::as_str)
    }

    fn uptime(&self, index: usize) -> Option<u64> {
        let from_start = self.scan.run.get("recording.from-start").is_some_and(|from| from == "true");
        let is_known = from_start || fact(&self.scan, "vm.started").is_some();
        Some(millis(&self.scan, self.scan.walks.get(index)?.start.time, true)).filter(|_| is_known)
    }

    fn has_samples(&self) -> bool {
        self.scan.sample_count() > 0 || !self.scan.old_samples.is_empty()
    }

    fn is_sampled(&self) -> bool {
        self.has_samples() && self.scan.run.get("recording.mode").is_none_or(|mode| mode != EVERY_ALLOCATION)
    }

    fn follows_objects(&self, index: usize) -> bool {
        let walk = self.scan.walks.get(index);
        walk.is_some_and(|walk| walk.chunks.iter().any(|chunk| chunk.0 == ChunkKind::WALK_IDENTITIES))
    }

    fn sampled(&self, points: &[usize], progress: &Progress) -> Result<Option<SampledAllocations>> {
        let alive = |at: usize| {
            let (heap, samples) = self.read(points.get(at).copied().unwrap_or_default(), progress)?;
            Ok(samples.into_iter().filter(|(_, object)| heap.is_reachable(*object)).collect())
        };
        let times: Vec<Option<u64>> = points.iter().map(|&walk| Some(self.scan.walks.get(walk)?.start.time)).collect();
        sampled(&self.scan, &self.provenance, &times, &alive, progress)
    }

    fn has_sites(&self) -> bool {
        // Where allocations were sampled, few objects have one: most of each type would be a building that says nothing.
        let is_sampled = self.scan.run.get("recording.mode").is_some_and(|mode| mode != EVERY_ALLOCATION);
        !is_sampled && self.provenance.knows_sites()
    }
}
