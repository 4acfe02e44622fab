//! Facts of the run that the recorder's thread writes, and its status.

use super::{Worker, wrong};
use crate::callbacks::told;
use crate::counters::{CLONES_AT_RISK, CLONES_UNKNOWN, VmCollector, has_clone_fault};
use crate::folder::AgentStatus;
use crate::identity::NumberedObjects;
use crate::options::SamplingMode;
use crate::perfdata::PerfData;
use crate::recording::{AgentRecording, events_on};
use crate::sampling::FRAMES;
use memory_city_wire::{ChunkKind, LossReason};
use std::ffi::CStr;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A property of the VM.
fn property_of(recording: &AgentRecording, name: &CStr) -> Option<String> {
    let mut value = std::ptr::null_mut();
    // SAFETY: the environment lives as long as the VM; the text is freed.
    unsafe {
        let jvmti = &mut *recording.vm.jvmti;
        (jvmti.system_property(name.as_ptr(), &raw mut value) == 0).then(|| jvmti.take_text(value))
    }
}

/// The version of the language, from 11 on: `17`.
pub(super) fn java_version(recording: &AgentRecording) -> Option<u32> {
    property_of(recording, c"java.vm.specification.version")?.parse().ok()
}

/// The main class or the jar of a command line.
fn first_word(command: &str) -> String {
    command.split(' ').next().unwrap_or_default().to_owned()
}

/// Names and stacks that had found no room at the last report.
#[derive(Default)]
pub(super) struct RefusedNames {
    stacks: u64,
    threads: u64,
}

impl Worker<'_> {
    /// The known facts of the run.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
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
        for (key, property) in
            [("vm.name", c"java.vm.name"), ("vm.version", c"java.vm.version"), ("vm.vendor", c"java.vm.vendor")]
        {
            facts.extend(property_of(self.recording, property).map(|value| (key, value)));
        }
        // The VM does not give away `java.version`, which is the class library's: its own version begins with that, `17.0.13+11-LTS`.
        let of_vm = property_of(self.recording, c"java.vm.version");
        let whole = of_vm.and_then(|version| Some(version.split('+').next()?.to_owned()));
        let whole = whole.filter(|version| version.starts_with(|first: char| first.is_ascii_digit()));
        let version = whole.or_else(|| java_version(self.recording).map(|version| version.to_string()));
        facts.extend(version.map(|version| ("java.version", version)));
        facts
    }

    /// The VM tells its program only when that has begun. Of the command line only the first word: others may be secrets.
    pub(super) fn name_program(&mut self) -> Result<(), String> {
        if self.named {
            return Ok(());
        }
        match self.machine.read() {
            Some(data) => self.name_by_data(&data),
            None => self.name_without_data(),
        }
    }

    /// Names the collector from the VM's performance data.
    fn name_by_data(&mut self, data: &PerfData) -> Result<(), String> {
        let Some(program) = data.text("sun.rt.javaCommand") else { return Ok(()) };
        self.named = true;
        let collector = VmCollector::of(data);
        let mut facts = vec![("process.command", first_word(&program))];
        facts.extend(collector.name.clone().map(|name| ("vm.collector", name)));
        let started = data.number("sun.rt.createVmBeginTime").filter(|millis| *millis > 0);
        facts.extend(started.map(|millis| ("vm.started", millis.to_string())));
        self.sink()?.run(&facts).map_err(wrong)?;
        let version = data.text("java.property.java.version").unwrap_or_default();
        self.clones_at_risk = collector.damages_clones(&version);
        self.tell_of_clones(self.clones_at_risk.then_some(CLONES_AT_RISK))
    }

    /// Names the collector from the VM's answer, if it keeps no performance data (`-XX:-UsePerfData`, `-XX:+PerfDisableSharedMem`). Done at
    /// once, since the kind of a reported collection depends on the collector: pauses with some, whole ones with others.
    fn name_without_data(&mut self) -> Result<(), String> {
        self.named = true;
        let version = java_version(self.recording);
        let flags = self.jni.diagnose(c"VM.flags").unwrap_or_default();
        let collector = VmCollector::of_flags(&flags, version);
        let program = property_of(self.recording, c"sun.java.command").map(|program| first_word(&program));
        let mut facts: Vec<_> = program.map(|program| ("process.command", program)).into_iter().collect();
        facts.extend(collector.as_ref().and_then(|of| of.name.clone()).map(|name| ("vm.collector", name)));
        self.sink()?.run(&facts).map_err(wrong)?;
        let said = match collector {
            Some(collector) => {
                self.clones_at_risk = collector.damages_clones(&version.unwrap_or(0).to_string());
                self.machine.be_told(collector);
                self.clones_at_risk.then_some(CLONES_AT_RISK)
            }
            None => has_clone_fault(version).then_some(CLONES_UNKNOWN),
        };
        self.tell_of_clones(said)
    }

    fn tell_of_clones(&mut self, said: Option<&str>) -> Result<(), String> {
        if let Some(said) = said {
            let now = self.recording.now();
            self.sink()?.setting(now, "vm", said.into());
        }
        Ok(())
    }

    /// Reports the stacks and names of threads that found no room since the last time. Readers of a trace without an end then know why they
    /// are missing.
    pub(super) fn tell_refused(&mut self, now: u64) -> Result<(), String> {
        let stacks = self.recording.stacks.lock().unwrap_or_else(PoisonError::into_inner).refused();
        let threads = self.recording.threads.lock().unwrap_or_else(PoisonError::into_inner).refused();
        let before = std::mem::replace(&mut self.refused, RefusedNames { stacks, threads });
        let sink = self.sink()?;
        sink.loss(now, ChunkKind::FRAMES, LossReason::TableFull, stacks - before.stacks);
        sink.loss(now, ChunkKind::THREADS, LossReason::TableFull, threads - before.threads);
        Ok(())
    }

    pub(super) fn status(&self, ended: String) -> AgentStatus {
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
            gc_pauses: self.gc_pauses,
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
}

/// Nanoseconds of a core that this thread has used.
fn own_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
