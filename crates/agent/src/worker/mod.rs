//! The recorder's own thread. It adjusts the interval, writes the queue, looks for deaths after collections (`deaths`), walks (`walking`),
//! has the VM count (`counting`), writes facts and the status (`facts`), and ends the recording (`ending`).

mod counting;
mod deaths;
mod ending;
mod facts;
mod walking;

use self::facts::{RefusedNames, java_version};
use crate::budget::Budget;
use crate::collections::COLLECTIONS;
use crate::counters::{GcCounters, used};
use crate::event::AgentEvent;
use crate::fault;
use crate::folder::{AgentStatus, RecorderLock, remove_dumps};
use crate::histogram::HistogramSchedule;
use crate::identity::NumberedObjects;
use crate::log::log;
use crate::options::SamplingMode;
use crate::recording::{AgentRecording, events_on, give_up};
use crate::sampling::this_thread_is_ours;
use crate::sink::Sink;
use crate::vm::Jni;
use crate::walk::{WalkSchedule, can_walk};
use memory_city_wire::{ChunkKind, GcRow, GcScope, LossReason, WireError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often the interval is adjusted.
const ROUND: Duration = Duration::from_millis(50);
/// Interval of writes of waiting rows and of the status, nanoseconds.
const WRITE_EVERY: u64 = 500_000_000;

/// Starts the thread.
pub(crate) fn start(recording: &Arc<AgentRecording>) -> Result<(), String> {
    let recording = Arc::clone(recording);
    let work = move || {
        this_thread_is_ours();
        // For as long as events may have to be switched off: the VM takes that from its own threads only.
        let thread = recording.vm.attach("memory-city recorder");
        let worked = catch_unwind(AssertUnwindSafe(|| match &thread {
            Some(thread) => record(&recording, thread.jni),
            None => Err("the VM takes no further thread".into()),
        }));
        let why = match worked {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(why),
            Err(_) => Some(OWN_FAULT.to_owned()),
        };
        if let Some(why) = why {
            give_up(&why);
            recording.retire();
            // Where it failed before anybody could work on them: there may be no room for a first file.
            if let Some(thread) = &thread {
                ending::forget_samples(&recording, thread.jni);
            }
            recording.leave();
            remove_dumps(&recording.folder);
            // It has said so itself, unless it could not begin, or failed.
            let status = AgentStatus::read(&recording.folder).unwrap_or_default();
            if status.ended.is_empty() {
                let (samples, written) = (recording.samples.get(), recording.written.load(Ordering::Relaxed));
                let lost = samples.saturating_sub(written);
                let (pid, events_on) = (std::process::id(), events_on());
                let status = AgentStatus { pid, samples, lost, events_on, ended: why, ..status };
                let _ = status.write(&recording.folder);
            }
        }
        drop(thread);
        recording.is_done();
    };
    let thread = std::thread::Builder::new().name("memory-city".into()).stack_size(1 << 20).spawn(work);
    thread.map(drop).map_err(|e| format!("no thread for the recorder: {e}"))
}

/// The reason for the end after a failure of this thread.
const OWN_FAULT: &str = "a fault of the recorder in its own thread";

fn wrong(error: WireError) -> String {
    error.to_string()
}

fn record(recording: &AgentRecording, jni: Jni) -> Result<(), String> {
    let since_start = Duration::from_nanos(recording.now());
    let sink = Sink::create(&recording.folder, recording.options.max_size, since_start).map_err(wrong)?;
    let mut worker = Worker::new(recording, jni, sink);
    worker.follow_all()?;
    // Whatever happens: what the VM holds for us is given back.
    let result = catch_unwind(AssertUnwindSafe(|| worker.work())).unwrap_or_else(|_| Err(OWN_FAULT.to_owned()));
    if let Err(why) = &result {
        worker.stopped(why);
    }
    worker.forget_all();
    result
}

struct Worker<'a> {
    recording: &'a AgentRecording,
    jni: Jni,
    sink: Option<Sink>,
    budget: Budget,
    schedule: WalkSchedule,
    histograms: HistogramSchedule,
    machine: GcCounters,
    /// Collections written, of this recording.
    collections: u64,
    /// Those of which the VM reported a single pause.
    gc_pauses: u64,
    collections_lost: u64,
    deaths: u64,
    thinned: u64,
    not_followed: u64,
    lost: u64,
    /// When deaths may be looked for again.
    next_deaths: u64,
    deaths_due: bool,
    /// When it was written last one in how many samples is followed.
    followed_told: u64,
    adjusted_at: u64,
    adjusted_spent: u64,
    told_interval: u32,
    written_at: u64,
    size: u64,
    refused: RefusedNames,
    /// Whether the program's name is in the trace.
    named: bool,
    /// True if the VM has the fault of [`crate::counters::CLONES_AT_RISK`].
    clones_at_risk: bool,
    /// Where all objects have numbers.
    identities: Option<NumberedObjects>,
}

impl<'a> Worker<'a> {
    fn new(recording: &'a AgentRecording, jni: Jni, sink: Sink) -> Worker<'a> {
        Worker {
            recording,
            jni,
            sink: Some(sink),
            budget: Budget::new(recording.options.sampling),
            schedule: WalkSchedule::new(recording.options.walks, recording.options.duty)
                .of_java(java_version(recording)),
            histograms: HistogramSchedule::new(
                recording.options.histograms,
                recording.options.duty,
                recording.options.max_size,
            ),
            machine: GcCounters::find(),
            collections: 0,
            gc_pauses: 0,
            collections_lost: 0,
            deaths: 0,
            thinned: 0,
            not_followed: 0,
            lost: 0,
            next_deaths: 0,
            deaths_due: false,
            followed_told: 0,
            adjusted_at: recording.now(),
            adjusted_spent: 0,
            told_interval: 0,
            written_at: 0,
            size: 0,
            refused: RefusedNames::default(),
            named: false,
            clones_at_risk: false,
            identities: None,
        }
    }

    /// Gives all objects numbers from here on, if the option asks for it. If the VM cannot, samples have to do, and the trace says so.
    fn follow_all(&mut self) -> Result<(), String> {
        let most = self.recording.options.identity;
        if most > 0 && self.recording.options.walks > 0 {
            match NumberedObjects::begin(self.recording.vm, self.jni, most) {
                Ok(identities) => self.identities = Some(identities),
                Err(why) => self.samples_alone(&why)?,
            }
        }
        Ok(())
    }

    /// Only samples are followed from now on.
    fn samples_alone(&mut self, why: &str) -> Result<(), String> {
        log(&format!("not all objects are followed, only samples: {why}"));
        if let Some(identities) = self.identities.take() {
            identities.end(self.jni);
        }
        let now = self.recording.now();
        self.sink()?.setting(now, "identity", format!("samples: {why}"));
        Ok(())
    }

    fn sink(&mut self) -> Result<&mut Sink, String> {
        self.sink.as_mut().ok_or_else(|| "the trace is closed already".to_owned())
    }

    fn work(&mut self) -> Result<(), String> {
        let facts = self.facts();
        self.sink()?.run(&facts).map_err(wrong)?;
        // At once: that it records is to be seen from outside.
        self.write(self.recording.now())?;
        loop {
            COLLECTIONS.wait(ROUND);
            fault::point("worker");
            if COLLECTIONS.take_failure() {
                let what = "a fault of the recorder at a collection";
                give_up(what);
                return self.end(what);
            }
            let collected = self.take_collections()?;
            self.deaths_due |= collected;
            self.adjust()?;
            self.take_queue()?;
            let now = self.recording.now();
            // Who records every allocation has no others that stand for those that are let go of.
            let is_exact = self.recording.options.sampling == SamplingMode::All;
            let crowded = !is_exact && self.recording.live.is_crowded();
            if crowded || self.deaths_due && now >= self.next_deaths {
                self.look_for_deaths()?;
            }
            let is_due = self.schedule.is_due(now, collected) && can_walk(&self.recording.folder);
            if is_due && !self.puts_off_first_walk(now)? {
                self.walk(collected)?;
            } else if self.histograms.is_due(now, collected) && !self.waits_for_walk() {
                self.count()?;
            }
            if now >= self.written_at + WRITE_EVERY || self.sink()?.is_full() {
                self.write(now)?;
                if self.recording.options.attached && !RecorderLock::is_held(&self.recording.folder) {
                    self.recording.end("the recording process has gone");
                }
            }
            if let Some(why) = self.recording.asked_to_end() {
                return self.end(&why);
            }
        }
    }

    /// Collections since the last time. Whether there were any.
    fn take_collections(&mut self) -> Result<bool, String> {
        let before = self.recording.collections_before;
        let from = before + self.collections + self.collections_lost;
        if COLLECTIONS.ended() == from {
            return Ok(false);
        }
        let (seen, lost) = COLLECTIONS.since(from);
        self.collections_lost += lost;
        let now = self.recording.now();
        self.sink()?.loss(now, ChunkKind::GCS, LossReason::BufferFull, lost);
        let told = self.machine.look(seen.len());
        let last = seen.len().saturating_sub(1);
        for (at, collection) in seen.iter().enumerate() {
            let start = self.recording.time(collection.start);
            let mut row = GcRow {
                number: self.collections + self.collections_lost,
                start,
                duration: self.recording.time(collection.end).saturating_sub(start),
                scope: told.scope,
                ..GcRow::default()
            };
            // What the VM says is about its last one: of those before it nothing is known.
            if at == last {
                row.kind = told.kind;
                row.after = told.used;
                row.cause = told.cause.clone().map(|c| self.sink().map(|sink| sink.string(c))).transpose()?;
            }
            self.gc_pauses += u64::from(row.scope == GcScope::Pause);
            self.sink()?.collection(row);
            self.collections += 1;
        }
        Ok(true)
    }

    /// The interval that keeps to the budget.
    fn adjust(&mut self) -> Result<(), String> {
        let now = self.recording.now();
        let elapsed = now.saturating_sub(self.adjusted_at);
        if elapsed < ROUND.as_nanos() as u64 {
            return Ok(());
        }
        let spent = self.recording.spent.load(Ordering::Relaxed);
        let interval = self.budget.adjust(spent - self.adjusted_spent, elapsed);
        (self.adjusted_at, self.adjusted_spent) = (now, spent);
        let in_force = self.recording.interval.load(Ordering::Relaxed);
        if interval.abs_diff(in_force) > in_force / 16 {
            self.recording.set_interval(interval);
        }
        if interval.abs_diff(self.told_interval) > self.told_interval / 4 {
            self.told_interval = interval;
            self.sink()?.setting(now, "sampling.interval", interval.to_string());
        }
        Ok(())
    }

    /// Takes the waiting events, piece by piece, so that few of them are here at a time.
    fn take_queue(&mut self) -> Result<(), String> {
        let (pieces, lost) = self.recording.queue.pieces();
        let now = self.recording.now();
        self.lost += lost;
        self.sink()?.loss(now, ChunkKind::SAMPLES, LossReason::BufferFull, lost);
        for _ in 0..pieces {
            let events = self.recording.queue.take();
            let (mut samples, mut not_followed) = (0, Vec::new());
            let sink = self.sink()?;
            for event in events {
                if let AgentEvent::Sample(sample) = &event {
                    samples += 1;
                    not_followed.extend((!sample.followed).then_some(sample.id));
                }
                sink.take(event);
            }
            let count = not_followed.len() as u64;
            sink.loss(now, ChunkKind::DEATHS, LossReason::Thinned, count);
            sink.let_go(not_followed, now);
            self.not_followed += count;
            self.recording.queue.taken(samples);
            self.flush_if_full()?;
        }
        Ok(())
    }

    /// Writes the rows of the sink if there are many.
    fn flush_if_full(&mut self) -> Result<(), String> {
        if self.sink()?.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes the rows of the sink.
    fn flush(&mut self) -> Result<(), String> {
        let sink = self.sink()?;
        let flushed = sink.flush().map_err(wrong);
        let (bytes, samples) = (sink.bytes(), sink.samples());
        self.size = bytes;
        self.recording.written.store(samples, Ordering::Relaxed);
        flushed
    }

    /// Writes the present rows, and the status.
    fn write(&mut self, now: u64) -> Result<(), String> {
        self.written_at = now;
        self.name_program()?;
        self.tell_refused(now)?;
        self.flush()?;
        // Not being able to say how it goes is no reason to stop.
        let _ = self.status(String::new()).write(&self.recording.folder);
        Ok(())
    }

    /// Bytes in use on the heap: now, or, where that cannot be asked, as of the last collection.
    fn heap(&self) -> Option<u64> {
        let now = self.jni.heap().map(|(used, _)| used);
        now.or_else(|| self.machine.read().and_then(|data| used(&data)))
    }
}
