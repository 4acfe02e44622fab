//! A trace as a series of heap states: read once from beginning to end, then the state at any GC at once.
//!
//! The first reading writes the recording (from which all trees follow) and the index with its checkpoints. A state is
//! reconstructed from the nearest checkpoint before it, or from where the last one was reconstructed, if that is nearer.

mod life;
mod warnings;

pub use life::{Lifetime, ObjectPlace};

use super::budget::memory_budget;
use super::event::{Decoder, Program, Step};
use super::index::{Body, Checkpoint, Stamp, TraceIndex, cache_folder};
use super::lives::{GcHistory, Lives};
use super::recording::{Recorder, Recording};
use super::replay::{Collection, Moment, Replay, SavedReplay};
use super::series::{GcPoint, HeapSeries, SnapshotInfo};
use super::state_cache::StateCache;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Profile};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use warnings::warnings;

/// The files of a trace, of any format.
pub trait TraceSource: Send + Sync + 'static {
    /// Turns them into events.
    type Decoder: Decoder;

    /// A decoder at the beginning.
    fn decoder(&self) -> Self::Decoder;

    /// The program, as the trace describes it.
    fn program(&self) -> &Arc<Program>;

    /// The files, the trace itself first.
    fn files(&self) -> Vec<&Path>;

    /// Whether references were recorded.
    fn has_references(&self) -> bool;
}

/// A trace as a series.
pub struct RecordedSeries<S: TraceSource> {
    shared: Arc<SharedTrace<S>>,
    recording: Recording,
    points: Vec<SnapshotInfo>,
    warnings: Vec<Warning>,
}

/// The state shared by all series of one trace: a partial one, while the trace is being read, and the whole one.
struct SharedTrace<S: TraceSource> {
    source: S,
    index: Mutex<TraceIndex>,
    player: Mutex<Option<Player<S::Decoder>>>,
    states: Mutex<StateCache>,
}

/// A replay somewhere in the trace.
struct Player<D> {
    decoder: D,
    replay: Replay<()>,
    /// The moment it was stopped at.
    at: Option<Moment>,
}

/// A place to go on from.
#[derive(serde::Serialize, serde::Deserialize)]
struct SavedPlayer<T> {
    decoder: T,
    replay: SavedReplay,
}

/// A first picture after this long, and then each time as much again has been read.
const FIRST_PICTURE: Duration = Duration::from_millis(600);
/// Bytes of a trace that are read between two looks at the clock or the wish to stop.
const PIECE: u64 = 1 << 20;
/// Checkpoints are not worth it for less.
const LEAST_DISTANCE: u64 = 4 << 20;
/// Least distance of checkpoints, as a multiple of their size: writing a byte of them takes as long as replaying two dozen of the trace.
const LEAST_SIZES: u64 = 6;

fn moment(index: usize) -> Moment {
    Moment { gc: index as u32 / 2, end: index % 2 == 1 }
}

/// Reads a trace, or its index.
///
/// # Errors
/// When nothing of it can be read, or the work was cancelled.
pub fn open<S: TraceSource>(
    source: S,
    progress: &Progress,
    partial: &mut dyn FnMut(Box<dyn HeapSeries>),
) -> Result<RecordedSeries<S>> {
    open_with_cache(source, cache_folder().as_deref(), progress, partial)
}

/// As [`open`], with the folder for indexes; without one, checkpoints stay in memory.
///
/// # Errors
/// As [`open`].
pub fn open_with_cache<S: TraceSource>(
    source: S,
    cache: Option<&Path>,
    progress: &Progress,
    partial: &mut dyn FnMut(Box<dyn HeapSeries>),
) -> Result<RecordedSeries<S>> {
    let stamp = Stamp::of(source.files().into_iter());
    if let Some((index, body)) = TraceIndex::open(cache, stamp.as_ref()) {
        let program = source.program();
        if body.infos.iter().all(|i| (i.type_id as usize) < program.types.len()) {
            let recording = Recording {
                program: Arc::clone(program),
                threads: body.threads.into_iter().map(Arc::from).collect(),
                infos: body.infos,
                collections: body.collections,
                log: body.log,
            };
            return Ok(RecordedSeries::new(SharedTrace::new(source, index), recording, body.warnings));
        }
    }
    let index = TraceIndex::begin(cache, stamp.as_ref());
    read(SharedTrace::new(source, index), stamp.as_ref(), progress, partial)
}

/// The first reading.
fn read<S: TraceSource>(
    shared: Arc<SharedTrace<S>>,
    stamp: Option<&Stamp>,
    progress: &Progress,
    partial: &mut dyn FnMut(Box<dyn HeapSeries>),
) -> Result<RecordedSeries<S>> {
    let mut decoder = shared.source.decoder();
    let mut replay = Replay::new(Arc::clone(shared.source.program()), Recorder::default());
    let (mut done, total) = decoder.position();
    let name = shared.source.files()[0].display().to_string();
    progress.begin(format!("Reading {name}"), total);
    progress.advance(done);
    let mut spacing = Spacing { last: done, bytes: 0 };
    let begun = Instant::now();
    let mut next_picture = FIRST_PICTURE;
    let mut looked = done;
    let mut failed = None;
    loop {
        if replay.stopped() || replay.interval() == 0 {
            replay.stop_at(Moment { gc: replay.interval(), end: true });
        }
        let step = decoder.step(&mut replay).and_then(|step| replay.check().map(|()| step));
        let step = match step {
            Ok(step) => step,
            // What was read up to the last complete GC is shown.
            Err(error) if replay.interval() > 0 => {
                failed = Some(error);
                Step::End
            }
            Err(error) => return Err(error),
        };
        let at = decoder.position().0;
        let ended = replay.stopped() && step != Step::End;
        if at - looked >= PIECE || step == Step::End || ended {
            progress.advance(at - done);
            (done, looked) = (at, at);
            progress.check()?;
        }
        if ended {
            spacing.checkpoint(&shared, &decoder, &mut replay, at, total);
            if begun.elapsed() >= next_picture {
                let series = RecordedSeries::new(Arc::clone(&shared), recording_of(&replay), decoder.warnings());
                partial(Box::new(series));
                next_picture = 2 * begun.elapsed();
                progress.begin(format!("Reading {name}"), total);
                progress.advance(at);
            }
        }
        if step == Step::End {
            break;
        }
    }
    replay.finish();
    let warnings = warnings(&shared.source, &decoder, &replay, failed);
    let recording = recording_of(&replay);
    tracing::debug!(
        "read {} events, {} GCs, {} objects alive at the end in {} bytes",
        replay.events(),
        replay.interval(),
        replay.live(),
        replay.memory()
    );
    if recording.log.is_empty() || replay.events() == 0 {
        return Err(Error::Unusable {
            what: format!("{name} holds no events of a program"),
            remedy: "Record a longer run, or copy the trace again if it was larger".into(),
        });
    }
    lock(&shared.index).finish(stamp, || Body::new(&recording, replay.inconsistencies(), warnings.clone()));
    // Names of threads may have become known since states of partial series were kept.
    *lock(&shared.states) = StateCache::default();
    Ok(RecordedSeries::new(shared, recording, warnings))
}

fn recording_of(replay: &Replay<Recorder>) -> Recording {
    Recording {
        program: Arc::clone(replay.program()),
        threads: replay.threads().to_vec(),
        infos: replay.infos().to_vec(),
        collections: replay.observer.collections.clone(),
        log: replay.observer.log.clone(),
    }
}

/// How far checkpoints are apart.
struct Spacing {
    /// Where the last one was.
    last: u64,
    /// How large it was.
    bytes: u64,
}

impl Spacing {
    fn checkpoint<S: TraceSource>(
        &mut self,
        shared: &SharedTrace<S>,
        decoder: &S::Decoder,
        replay: &mut Replay<Recorder>,
        at: u64,
        total: u64,
    ) {
        let mut index = lock(&shared.index);
        // The size of the next one: as the last, or as a guess by the number of objects.
        let bytes = self.bytes.max(6 * replay.live());
        let Some(distance) = index.distance(total, total - at, bytes) else { return };
        if at - self.last < distance.max(LEAST_DISTANCE).max(LEAST_SIZES * bytes) {
            return;
        }
        let saved = SavedPlayer { decoder: decoder.save(), replay: replay.save() };
        self.bytes = index.add(replay.interval() - 1, &saved);
        self.last = at;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl<S: TraceSource> SharedTrace<S> {
    fn new(source: S, index: TraceIndex) -> Arc<Self> {
        Arc::new(SharedTrace { source, index: Mutex::new(index), player: Mutex::default(), states: Mutex::default() })
    }

    /// A player that has not passed `moment`, as near to it as there is.
    fn player(&self, wanted: Moment, recording: &Recording) -> Player<S::Decoder> {
        let here = lock(&self.player).take().filter(|p| p.at.is_none_or(|at| at <= wanted));
        let checkpoint = match (wanted.end, wanted.gc) {
            (true, gc) => lock(&self.index).before(gc),
            (false, 0) => None,
            (false, gc) => lock(&self.index).before(gc - 1),
        };
        let at = |c: Checkpoint| Moment { gc: c.gc, end: true };
        if let Some(checkpoint) = checkpoint
            && here.as_ref().and_then(|p| p.at).is_none_or(|p| p < at(checkpoint))
            && let Some(player) = self.restore(checkpoint, recording)
        {
            return player;
        }
        here.unwrap_or_else(|| Player {
            decoder: self.source.decoder(),
            replay: Replay::new(Arc::clone(self.source.program()), ()),
            at: None,
        })
    }

    fn restore(&self, checkpoint: Checkpoint, recording: &Recording) -> Option<Player<S::Decoder>> {
        let saved: SavedPlayer<<S::Decoder as Decoder>::Saved> = lock(&self.index).read(checkpoint)?;
        let program = Arc::clone(self.source.program());
        let replay = Replay::restore(program, &recording.threads, &recording.infos, saved.replay, ())?;
        let mut decoder = self.source.decoder();
        decoder.restore(saved.decoder).ok()?;
        Some(Player { decoder, replay, at: Some(Moment { gc: checkpoint.gc, end: true }) })
    }
}

impl<D: Decoder> Player<D> {
    /// Goes on to a moment. `false` when the trace ends before.
    fn play(&mut self, until: Moment, progress: &Progress) -> Result<bool> {
        if self.at == Some(until) {
            return Ok(true);
        }
        self.replay.stop_at(until);
        let (mut done, total) = self.decoder.position();
        progress.begin(progress.snapshot().stage, total);
        progress.advance(done);
        while !self.replay.stopped() {
            let step = self.decoder.step(&mut self.replay)?;
            self.replay.check()?;
            if step == Step::End && !self.replay.stopped() {
                self.replay.finish();
                if !self.replay.stopped() {
                    return Ok(false);
                }
            }
            let at = self.decoder.position().0;
            if at - done >= PIECE {
                progress.advance(at - done);
                done = at;
                progress.check()?;
            }
        }
        self.at = Some(until);
        Ok(true)
    }
}

impl<S: TraceSource> RecordedSeries<S> {
    fn new(shared: Arc<SharedTrace<S>>, recording: Recording, warnings: Vec<Warning>) -> Self {
        let path = shared.source.files()[0].to_owned();
        let points = (0..recording.log.len())
            .map(|i| {
                let Moment { gc, end } = moment(i);
                let collection = recording.collections.get(gc as usize);
                let point = |c: &Collection| GcPoint {
                    number: c.number,
                    kind: c.kind,
                    one_pause: false,
                    cause: recording
                        .program
                        .causes
                        .get(c.cause as usize)
                        .map_or_else(|| "unknown cause".to_owned(), |c| c.to_string()),
                    duration: c.end - c.start,
                    end,
                    freed: Some(c.freed),
                };
                SnapshotInfo {
                    label: match (collection, end) {
                        (Some(c), true) => format!("GC {}", c.number),
                        (Some(c), false) => format!("Before GC {}", c.number),
                        (None, _) if recording.collections.is_empty() => "End of the program".to_owned(),
                        (None, _) => "Before the unfinished GC".to_owned(),
                    },
                    millis: collection.map_or(0, |c| if end { c.end } else { c.start }),
                    path: path.clone(),
                    gc: collection.map(point),
                }
            })
            .collect();
        RecordedSeries { shared, recording, points, warnings }
    }

    /// The recording of births and deaths, with its program.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The number of checkpoints.
    pub fn checkpoints(&self) -> usize {
        lock(&self.shared.index).checkpoints.len()
    }
}

impl<S: TraceSource> HeapSeries for RecordedSeries<S> {
    fn profile(&self) -> &'static Profile {
        self.recording.program.profile
    }

    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>> {
        if let Some(state) = lock(&self.shared.states).get(index) {
            return Ok(state);
        }
        progress.begin(format!("Reconstructing the heap: {}", self.points[index].label), 0);
        let wanted = moment(index);
        let mut player = self.shared.player(wanted, &self.recording);
        if !player.play(wanted, progress)? {
            return Err(Error::Unusable {
                what: format!("{} has become shorter while it was open", self.points[index].path.display()),
                remedy: "Open it again".into(),
            });
        }
        // By the names that trees over time go by, also of threads that were not named yet.
        let state = Arc::new(player.replay.state_with(&self.recording.threads));
        *lock(&self.shared.player) = Some(player);
        lock(&self.shared.states).keep(index, Arc::clone(&state), memory_budget());
        Ok(state)
    }

    fn warnings(&self) -> Vec<Warning> {
        self.warnings.iter().cloned().chain(lock(&self.shared.index).problem.clone()).collect()
    }

    fn recording(&self) -> Option<&Recording> {
        Some(&self.recording)
    }

    fn gc_history(&self, progress: &Progress) -> Result<Option<GcHistory>> {
        GcHistory::of_trace(&self.recording, progress).map(Some)
    }

    fn lives(&self) -> Option<Lives<'_>> {
        Some(Lives::of_trace(&self.recording))
    }
}
