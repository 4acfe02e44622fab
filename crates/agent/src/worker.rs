//! The recorder's own thread: it adjusts the interval, writes what the queue holds, looks for deaths after collections, walks, has
//! the VM count, says how it goes, and ends the recording.

use crate::budget::Budget;
use crate::callbacks::{AT_LEAVING, AT_THE_END, PROGRAM_ENDED, told};
use crate::collections::COLLECTIONS;
use crate::counters::{CLONES_AT_RISK, GcCounters, VmCollector, used};
use crate::event::AgentEvent;
use crate::fault;
use crate::folder::{AgentStatus, CLAIM, RecorderLock, STATUS, WALKS};
use crate::histogram::{HistogramClass, HistogramOutcome, HistogramSchedule, count};
use crate::identity::NumberedObjects;
use crate::log;
use crate::options::SamplingMode;
use crate::recording::{AgentRecording, events_on, give_up};
use crate::sampling::{FRAMES, this_thread_is_ours};
use crate::sink::Sink;
use crate::sites::LoaderKey;
use crate::vm::Jni;
use crate::walk::{WalkOutcome, WalkSchedule, can_walk, remove_leftovers, tell, walk};
use memory_city_wire::{ChunkKind, CountRow, GcRow, LossReason, WireError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How often the interval is adjusted.
const ROUND: Duration = Duration::from_millis(50);
/// How often what waits is written, and how it goes; nanoseconds.
const WRITE_EVERY: u64 = 500_000_000;
/// What holds for long is said again after so many nanoseconds.
const SAY_AGAIN: u64 = 1_000_000_000;
/// Looking for deaths takes at most one part in so many of the time.
const DEATHS_DUTY: u64 = 50;
/// So many deaths are handed to the sink before it is looked at.
const DEATHS_AT_A_TIME: usize = 8192;
/// So many classes of a histogram are looked up while the tables of names are locked.
const CLASSES_AT_A_TIME: usize = 256;

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
            Err(_) => Some("a fault of the recorder in its own thread".to_owned()),
        };
        if let Some(why) = why {
            give_up(&why);
            recording.retire();
            recording.leave();
            remove_leftovers(&recording.folder);
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

fn wrong(error: WireError) -> String {
    error.to_string()
}

fn record(recording: &AgentRecording, jni: Jni) -> Result<(), String> {
    let since_start = Duration::from_nanos(recording.now());
    let sink = Sink::create(&recording.folder, recording.options.max_size, since_start).map_err(wrong)?;
    let mut worker = Worker::new(recording, jni, sink);
    worker.follow_all()?;
    let result = worker.work();
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
    /// Whether the program's name is in the trace.
    named: bool,
    /// Whether the VM has a fault that is told as [`CLONES_AT_RISK`].
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
            schedule: WalkSchedule::new(recording.options.walks, recording.options.duty),
            histograms: HistogramSchedule::new(
                recording.options.histograms,
                recording.options.duty,
                recording.options.max_size,
            ),
            machine: GcCounters::find(),
            collections: 0,
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
            named: false,
            clones_at_risk: false,
            identities: None,
        }
    }

    /// Gives all objects numbers from here on, where that was asked for. Where the VM cannot, samples have to do, and it is said.
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

    /// Whether the first walk has to wait, as it might stop the program for long.
    fn puts_off_first_walk(&mut self, now: u64) -> Result<bool, String> {
        let known = self.schedule.put_off().is_some();
        let heap = if known { None } else { self.heap() };
        let waits = self.schedule.puts_off_first(now, heap);
        if let Some(first) = self.schedule.put_off().filter(|_| waits && !known) {
            self.sink()?.setting(now, "walk.first", (first.not_before / 1_000_000).to_string());
        }
        Ok(waits)
    }

    /// Whether somebody waits for the first walk: that tells more, and what a histogram takes would delay it.
    fn waits_for_walk(&self) -> bool {
        self.schedule.is_first_awaited() && RecorderLock::is_held(&self.recording.folder)
    }

    /// What is known of the run.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let options = &self.recording.options;
        let mut facts = vec![
            ("recorder", format!("memory-city {}", env!("CARGO_PKG_VERSION"))),
            ("process.id", std::process::id().to_string()),
            ("recording.from-start", self.recording.from_start.to_string()),
            ("stack.depth", FRAMES.to_string()),
            ("sampling.live-limit", options.followed.to_string()),
            ("walk.every", options.walks.to_string()),
            ("walk.share", options.duty.to_string()),
            ("histogram.every", options.histograms.to_string()),
        ];
        let all = options.sampling == SamplingMode::All;
        let mode = match options.identity {
            _ if all => "every-allocation",
            0 => "samples",
            _ => "identity",
        };
        facts.push(("recording.mode", mode.to_owned()));
        if !options.packages.is_empty() {
            facts.push(("program.packages", options.packages.clone()));
        }
        if options.identity > 0 {
            facts.push(("identity.limit", options.identity.to_string()));
        }
        facts.push(match options.sampling {
            SamplingMode::Budget(ppm) => ("sampling.budget", (f64::from(ppm) / 1e6).to_string()),
            SamplingMode::Every(bytes) => ("sampling.interval", bytes.to_string()),
            SamplingMode::All => ("sampling.interval", "0".into()),
        });
        if let Ok(now) = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
            let started = now.saturating_sub(Duration::from_nanos(self.recording.now()));
            facts.push(("recording.started", started.as_millis().to_string()));
        }
        for (key, property) in [
            ("vm.name", c"java.vm.name"),
            ("vm.version", c"java.vm.version"),
            ("vm.vendor", c"java.vm.vendor"),
            ("java.version", c"java.version"),
        ] {
            let mut value = std::ptr::null_mut();
            // SAFETY: the environment lives as long as the VM; the text is freed.
            unsafe {
                let jvmti = &mut *self.recording.vm.jvmti;
                if jvmti.system_property(property.as_ptr(), &raw mut value) == 0 {
                    facts.push((key, jvmti.take_text(value)));
                }
            }
        }
        facts
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

    /// Takes what waits now, piece by piece: however much it is, little of it is here at a time.
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

    /// Writes what the sink has where that is much.
    fn flush_if_full(&mut self) -> Result<(), String> {
        if self.sink()?.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes what the sink has.
    fn flush(&mut self) -> Result<(), String> {
        let sink = self.sink()?;
        let flushed = sink.flush().map_err(wrong);
        let (bytes, samples) = (sink.bytes(), sink.samples());
        self.size = bytes;
        self.recording.written.store(samples, Ordering::Relaxed);
        flushed
    }

    /// Finds followed samples whose objects are gone, and lets go of some where there are too many.
    fn look_for_deaths(&mut self) -> Result<(), String> {
        let begun = self.recording.now();
        let mut kept = self.recording.live.take();
        let mut dead = Vec::new();
        let jni = self.jni;
        kept.retain(|&(sample, weak)| {
            // SAFETY: only this thread forgets references, and each once: those that are kept go back.
            unsafe {
                let gone = jni.is_dead(weak);
                if gone {
                    jni.forget(weak);
                    dead.push(sample);
                }
                !gone
            }
        });
        let one_in = self.recording.live.one_in();
        let thinned = self.recording.live.thin(&mut kept);
        let now_in = self.recording.live.one_in();
        // Again and again: the part of a bounded recording that says it first may go.
        if now_in != one_in || now_in > 1 && begun >= self.followed_told + SAY_AGAIN {
            self.followed_told = begun;
            self.sink()?.setting(begun, "sampling.followed-one-in", now_in.to_string());
        }
        for (_, weak) in &thinned {
            // SAFETY: as above.
            unsafe { jni.forget(*weak) };
        }
        self.recording.live.put_back(kept, (dead.len() + thinned.len()) as u32);
        self.deaths += dead.len() as u64;
        self.thinned += thinned.len() as u64;
        let last = (self.collections + self.collections_lost).checked_sub(1);
        self.sink()?.loss(begun, ChunkKind::DEATHS, LossReason::Thinned, thinned.len() as u64);
        // Where many have died at once: some at a time.
        for some in dead.chunks(DEATHS_AT_A_TIME) {
            self.sink()?.deaths(some.iter().copied(), begun, last);
            self.flush_if_full()?;
        }
        for some in thinned.chunks(DEATHS_AT_A_TIME) {
            self.sink()?.let_go(some.iter().map(|(sample, _)| *sample), begun);
            self.flush_if_full()?;
        }
        let now = self.recording.now();
        // Whoever records every allocation wants every age: each collection is looked at, whatever that takes.
        let is_exact = self.recording.options.sampling == SamplingMode::All;
        let duty = if is_exact { 0 } else { DEATHS_DUTY };
        self.next_deaths = now + duty * now.saturating_sub(begun);
        self.deaths_due = false;
        Ok(())
    }

    fn walk(&mut self, after_collection: bool) -> Result<(), String> {
        if self.identities.is_some() && !after_collection && can_walk(&self.recording.folder) {
            // All that is there gets a number: garbage should not be there.
            let before = COLLECTIONS.ended();
            // SAFETY: the live phase, on a thread of ours, in no callback.
            unsafe { (*self.recording.vm.jvmti).collect() };
            // That stops the program for the walk's sake, as the walk does.
            let pauses = COLLECTIONS.since(before).0.iter().map(|c| c.end.saturating_sub(c.start)).sum();
            self.schedule.collected(self.recording.now(), pauses);
            self.take_collections()?;
            self.look_for_deaths()?;
        }
        // Whatever waits: little should wait while the program stands still.
        self.take_queue()?;
        let collections = self.collections + self.collections_lost;
        let heap = self.heap();
        let identities = self.identities.as_mut();
        let mut outcome = walk(self.recording, &mut self.schedule, self.jni, collections, heap, identities);
        if let Some(why) = self.identities.as_ref().and_then(|all| all.why_not.clone()) {
            self.samples_alone(&why)?;
        }
        if let WalkOutcome::Done(walk) = &mut outcome {
            // Those too that were made while the others were held.
            self.take_queue()?;
            self.flush()?;
            // Late, so that threads which were at it when the program stood still have handed theirs over.
            walk.note.late = Some(self.recording.live.late(walk.stood_still));
            outcome = tell(&self.recording.folder, &mut self.schedule, walk);
        } else {
            self.recording.live.late(0);
        }
        let now = self.recording.now();
        match outcome {
            WalkOutcome::Told => self.histograms.walked(now, self.schedule.rest_until()),
            WalkOutcome::Never(why) => {
                log(&why);
                self.sink()?.setting(now, "walks", why);
            }
            WalkOutcome::NoRoom(free, needed) => {
                let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
                let (free, needed) = (megabytes(free), megabytes(needed));
                self.sink()?.setting(now, "walks", format!("no room: {free} MB are free, a walk may take {needed} MB"));
            }
            WalkOutcome::Done(..) | WalkOutcome::NotNow => {}
        }
        self.write(now)
    }

    /// Has the VM count the objects of each class.
    fn count(&mut self) -> Result<(), String> {
        fault::point("histogram");
        let recording = self.recording;
        let loaded = self.machine.read().and_then(|data| data.number("java.cls.loadedClasses"));
        let number = self.histograms.taken;
        let loaded = loaded.and_then(|classes| u64::try_from(classes).ok());
        let outcome = count(&mut self.histograms, self.jni, || recording.now(), loaded);
        let now = recording.now();
        match outcome {
            HistogramOutcome::Done { start, end, classes, rarer } => {
                let pause = end.saturating_sub(start);
                self.schedule.stood_still(end, pause);
                self.schedule.counted(pause);
                let rows = self.count_rows(number, start, pause, &classes);
                // The definitions that the rows need.
                self.take_queue()?;
                let sink = self.sink()?;
                sink.counts(rows);
                if let Some(every) = rarer {
                    sink.setting(now, "histogram.every", every.to_string());
                }
            }
            HistogramOutcome::NoRoom(free, needed) => {
                let first = self.histograms.left_out == 1;
                let sink = self.sink()?;
                sink.loss(now, ChunkKind::COUNTS, LossReason::NotGiven, 1);
                if first {
                    let (free, needed) = (free >> 10, needed >> 10);
                    let why = format!("no room: {free} KB of the heap are free, a histogram may take {needed} KB");
                    sink.setting(now, "histograms", why);
                }
            }
            HistogramOutcome::Never(why) => {
                log(&why);
                self.sink()?.setting(now, "histograms", why);
            }
            HistogramOutcome::NotNow => {}
        }
        self.write(now)
    }

    /// The rows of a histogram. Definitions of classes that are new wait in the queue.
    fn count_rows(&self, histogram: u64, time: u64, pause: u64, classes: &[HistogramClass]) -> Vec<CountRow> {
        let gc = (self.collections + self.collections_lost).checked_sub(1);
        let mut rows: Vec<CountRow> = Vec::with_capacity(classes.len());
        // A few at a time: threads that allocate wait for the tables.
        for some in classes.chunks(CLASSES_AT_A_TIME) {
            let mut new = Vec::new();
            let mut stacks = self.recording.stacks.lock().unwrap_or_else(PoisonError::into_inner);
            for of in some {
                // It counts by name, whoever loaded the class.
                let class = stacks.class(&of.signature, LoaderKey::Unknown, String::new, &mut new);
                let known = CountRow { histogram, time, gc, class, garbage: true, ..CountRow::default() };
                rows.push(CountRow { objects: of.objects, bytes: of.bytes, pause: Some(pause), ..known });
            }
            // As samples do it: before the lock is let go of.
            self.recording.queue.define(new);
        }
        rows.sort_unstable_by_key(|row| row.class);
        // Those that found no room in the tables are one, of an unknown class.
        rows.dedup_by(|row, sum| {
            let same = row.class == sum.class;
            if same {
                sum.objects = sum.objects.saturating_add(row.objects);
                sum.bytes = sum.bytes.saturating_add(row.bytes);
            }
            same
        });
        let count = rows.len() as u32;
        rows.iter_mut().for_each(|row| row.rows = count);
        rows
    }

    /// The VM tells its program only when that has begun. Of the command line only the first word: others may be secrets.
    fn name_program(&mut self) -> Result<(), String> {
        if !self.named
            && let Some(data) = self.machine.read()
            && let Some(program) = data.text("sun.rt.javaCommand")
        {
            self.named = true;
            let program = program.split(' ').next().unwrap_or_default().to_owned();
            let mut facts = vec![("process.command", program)];
            let collector = VmCollector::of(&data);
            facts.extend(collector.name.clone().map(|name| ("vm.collector", name)));
            let started = data.number("sun.rt.createVmBeginTime").filter(|millis| *millis > 0);
            facts.extend(started.map(|millis| ("vm.started", millis.to_string())));
            self.sink()?.run(&facts).map_err(wrong)?;
            let version = data.text("java.property.java.version").unwrap_or_default();
            if collector.damages_clones(&version) {
                self.clones_at_risk = true;
                let now = self.recording.now();
                self.sink()?.setting(now, "vm", CLONES_AT_RISK.into());
            }
        }
        Ok(())
    }

    fn write(&mut self, now: u64) -> Result<(), String> {
        self.written_at = now;
        self.name_program()?;
        self.flush()?;
        // Not being able to say how it goes is no reason to stop.
        let _ = self.status(String::new()).write(&self.recording.folder);
        Ok(())
    }

    fn status(&self, ended: String) -> AgentStatus {
        let recording = self.recording;
        let first = self.schedule.put_off().unwrap_or_default();
        AgentStatus {
            pid: std::process::id(),
            samples: recording.samples.get(),
            live: u64::from(recording.live.len()),
            deaths: self.deaths,
            thinned: self.thinned + self.not_followed,
            lost: self.lost,
            numbered: self.identities.as_ref().map_or(0, NumberedObjects::len),
            collections: self.collections,
            walks: self.schedule.walks,
            no_room: self.schedule.no_room,
            no_time: self.schedule.no_time,
            first_walk: first.not_before / 1000,
            first_takes: first.takes / 1000,
            histograms: self.histograms.taken,
            uncounted: self.histograms.left_out,
            pauses: (self.schedule.pauses + self.histograms.pauses) / 1000,
            last_pause: self.schedule.last_pause / 1000,
            sampling: recording.spent.load(Ordering::Relaxed) / 1000,
            own: own_time() / 1000,
            elapsed: recording.now() / 1000,
            interval: u64::from(recording.interval.load(Ordering::Relaxed)),
            size: self.size,
            events_on: events_on(),
            events_told: told(),
            events_before: recording.events_before,
            clones_at_risk: u64::from(self.clones_at_risk),
            ended,
        }
    }

    /// The end: a last walk or histogram where there is time for it, what waits, and why.
    fn end(&mut self, why: &str) -> Result<(), String> {
        let recording = self.recording;
        recording.retire();
        self.take_collections()?;
        self.take_queue()?;
        self.look_for_deaths()?;
        // What goes on is seen once more as it is now.
        if why != PROGRAM_ENDED || !self.schedule.is_enough() {
            // The program waits for so long only: what there is should not be missing then.
            self.write(recording.now())?;
            fault::stuck("last-walk");
            let walks = self.schedule.walks;
            if self.schedule.may_be_last(recording.now()) && self.has_time_to_walk(why)? {
                self.walk(false)?;
            }
            if walks == self.schedule.walks && self.histograms.may_be_last(recording.now()) {
                self.count()?;
            }
        }
        self.name_program()?;
        let refused = recording.stacks.lock().unwrap_or_else(PoisonError::into_inner).refused();
        let unnamed = recording.threads.lock().unwrap_or_else(PoisonError::into_inner).refused();
        let now = recording.now();
        let sink = self.sink()?;
        sink.loss(now, ChunkKind::FRAMES, LossReason::TableFull, refused);
        sink.loss(now, ChunkKind::THREADS, LossReason::TableFull, unnamed);
        self.write(now)?;
        if let Some(sink) = self.sink.take() {
            let bytes = sink.bytes();
            sink.finish(why).map_err(wrong)?;
            self.size = self.size.max(bytes);
        }
        recording.leave();
        let _ = self.status(why.to_owned()).write(&recording.folder);
        if !RecorderLock::is_held(&recording.folder) {
            remove_leftovers(&recording.folder);
            tidy(&recording.folder);
        }
        Ok(())
    }

    /// Bytes in use on the heap: now, or, where that cannot be asked, as of the last collection.
    fn heap(&self) -> Option<u64> {
        let now = self.jni.heap().map(|(used, _)| used);
        now.or_else(|| self.machine.read().and_then(|data| used(&data)))
    }

    /// Whether a last walk would be done before nobody waits for it any more. The VM cannot be stopped while it writes a dump, and a
    /// program does not end before that.
    fn has_time_to_walk(&mut self, why: &str) -> Result<bool, String> {
        let (what, most) = if why == PROGRAM_ENDED { ("a program", AT_THE_END) } else { ("a recording", AT_LEAVING) };
        let takes = Duration::from_nanos(self.schedule.takes(self.heap().unwrap_or(0)));
        if takes <= most {
            return Ok(true);
        }
        let (takes, most) = (takes.as_secs(), most.as_secs());
        let now = self.recording.now();
        let why =
            format!("no walk at the end: it might have taken {takes} s, and the end of {what} waits for {most} s");
        self.sink()?.setting(now, "walks", why);
        self.schedule.no_time += 1;
        Ok(false)
    }

    /// Nothing more can be written: says how many samples were taken, and that all that are not in the trace are lost.
    fn stopped(&mut self, why: &str) {
        // From here on none is taken.
        self.recording.retire();
        self.recording.leave();
        self.lost = self.recording.samples.get().saturating_sub(self.recording.written.load(Ordering::Relaxed));
        let _ = self.status(why.to_owned()).write(&self.recording.folder);
    }

    /// Gives back every weak reference.
    fn forget_all(&mut self) {
        if let Some(identities) = self.identities.take() {
            identities.end(self.jni);
        }
        let all = self.recording.live.take();
        for (_, weak) in &all {
            // SAFETY: the recording is out of the callbacks' sight, and this is the thread that forgets.
            unsafe { self.jni.forget(*weak) };
        }
        self.recording.live.put_back(Vec::new(), all.len() as u32);
    }
}

/// Removes what lies in the folder besides the trace, when nobody looks at it any more.
fn tidy(folder: &Path) {
    let _ = std::fs::remove_dir(folder.join(WALKS));
    for name in [STATUS, CLAIM, crate::folder::LOCK] {
        let _ = std::fs::remove_file(folder.join(name));
    }
}

/// Nanoseconds of a core that this thread has used.
fn own_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
