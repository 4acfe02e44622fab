//! One recording: the state that callbacks and the recorder's thread share, and its begin and end.
//!
//! The callbacks find it in one place, under a lock that they hold while they use it. Once it is taken out, no callback uses it any more.

use crate::budget::Budget;
use crate::collections::{COLLECTIONS, clock};
use crate::earlier_traces::{earlier, has_trace, remove_earlier, withdraw};
use crate::event::EventQueue;
use crate::folder::{RecorderLock, claimed_by, is_running, numbered, private_folder, walks_folder, write_claim};
use crate::jvmti::{self, CAPABILITIES, Capabilities, EventCallbacks, FIRST_EVENT};
use crate::live_samples::LiveSamples;
use crate::log::log;
use crate::options::{AgentOptions, SamplingMode};
use crate::sample_count::SampleCounter;
use crate::sites::StackTable;
use crate::threads::ThreadTable;
use crate::vm::Vm;
use crate::{callbacks, worker};
use jni_sys::{JavaVM, jint};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// The recording that runs.
static CURRENT: RwLock<Option<Arc<AgentRecording>>> = RwLock::new(None);
/// The one that no callback sees any more, and that is still being written: the end of the program waits for it too.
static RETIRED: Mutex<Option<Arc<AgentRecording>>> = Mutex::new(None);
/// The tools of the VM, asked for once.
static TOOLS: OnceLock<Vm> = OnceLock::new();
/// Recordings so far.
static RECORDINGS: AtomicU32 = AtomicU32::new(0);
/// The events that are on, as the VM has agreed: bit 0 for event 50.
static EVENTS_ON: AtomicU64 = AtomicU64::new(0);

pub(crate) struct AgentRecording {
    /// Counts from 1. Threads remember the recording that knows them.
    pub(crate) number: u32,
    pub(crate) vm: Vm,
    pub(crate) options: AgentOptions,
    /// The folder, which may have another name than the one asked for.
    pub(crate) folder: PathBuf,
    /// Whether it began with the program: then nothing is missing before it.
    pub(crate) from_start: bool,
    epoch: u64,
    /// Bytes between samples.
    pub(crate) interval: AtomicU32,
    /// Nanoseconds that sampling has taken.
    pub(crate) spent: AtomicU64,
    /// Samples that were taken.
    pub(crate) samples: SampleCounter,
    /// The samples among them that are in the trace.
    pub(crate) written: AtomicU64,
    pub(crate) threads: Mutex<ThreadTable>,
    pub(crate) stacks: Mutex<StackTable>,
    pub(crate) queue: EventQueue,
    pub(crate) live: LiveSamples,
    /// Collections before this recording.
    pub(crate) collections_before: u64,
    /// How often the VM had called us before.
    pub(crate) events_before: u64,
    /// True once a fault was reported.
    is_given_up: AtomicBool,
    ending: Mutex<RecordingEnd>,
    ended: Condvar,
}

#[derive(Default)]
struct RecordingEnd {
    /// Why it should end.
    asked: Option<String>,
    done: bool,
}

impl AgentRecording {
    /// Nanoseconds since it began.
    pub(crate) fn now(&self) -> u64 {
        clock().saturating_sub(self.epoch)
    }

    /// A time of [`clock`] in this recording.
    pub(crate) fn time(&self, clock: u64) -> u64 {
        clock.saturating_sub(self.epoch)
    }

    /// Has it end, for the first reason that is given.
    pub(crate) fn end(&self, reason: &str) {
        let mut ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        ending.asked.get_or_insert_with(|| reason.to_owned());
        drop(ending);
        COLLECTIONS.wake();
    }

    /// Why it should end, when it should.
    pub(crate) fn asked_to_end(&self) -> Option<String> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }

    /// Waits until all is written, or so long.
    fn wait(&self, most: Duration) {
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.ended.wait_timeout_while(ending, most, |ending| !ending.done);
    }

    /// All is written.
    pub(crate) fn is_done(&self) {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner).done = true;
        self.ended.notify_all();
        RETIRED.lock().unwrap_or_else(PoisonError::into_inner).take_if(|r| r.number == self.number);
    }

    /// Enables the events that a recording needs: also the VM's start if it still `starts`, and its end.
    fn listen(&self, starts: bool) -> Result<(), String> {
        let start = starts.then_some(jvmti::VM_INIT);
        for event in [jvmti::SAMPLED_ALLOC, jvmti::GC_START, jvmti::GC_FINISH, jvmti::VM_DEATH].into_iter().chain(start)
        {
            let error = switch(self.vm, true, event);
            if error != 0 {
                return Err(format!("the VM refuses event {event} (JVMTI error {error})"));
            }
        }
        Ok(())
    }

    /// Requests the VM's capabilities that a recording needs.
    fn take_capabilities(&self) -> Result<(), String> {
        let wanted = Capabilities::with(&CAPABILITIES);
        // SAFETY: the environment lives as long as the VM; the structure lives for the call, which copies it.
        match unsafe { (*self.vm.jvmti).add_capabilities(&raw const wanted) } {
            0 => Ok(()),
            error => Err(format!(
                "the VM does not let go of sampled allocations (JVMTI error {error}): another recorder may have them"
            )),
        }
    }

    /// All is written: disables the event for the VM's end and returns exclusive capabilities to other recorders, unless another recording
    /// has begun. On a thread of the VM.
    pub(crate) fn leave(&self) {
        // Held meanwhile: who begins is in its sight first, and takes all of it afterwards.
        let current = CURRENT.read().unwrap_or_else(PoisonError::into_inner);
        if current.is_none() {
            switch(self.vm, false, jvmti::VM_DEATH);
            // The VM has one for all recorders: as it is where nobody has said anything.
            // SAFETY: the environment lives as long as the VM.
            unsafe { (*self.vm.jvmti).set_interval(jvmti::DEFAULT_INTERVAL) };
            let held = Capabilities::with(&CAPABILITIES);
            // SAFETY: as above. No event that needs them is on, and no callback is at work: the recording was taken out of their sight.
            unsafe { (*self.vm.jvmti).relinquish_capabilities(&raw const held) };
        }
    }

    /// Bytes between samples from now on.
    pub(crate) fn set_interval(&self, bytes: u32) {
        self.interval.store(bytes, Ordering::Relaxed);
        // SAFETY: the environment lives as long as the VM.
        unsafe { (*self.vm.jvmti).set_interval(bytes.min(i32::MAX as u32) as i32) };
    }

    /// The program begins, or goes on. Threads have room that they took before objects were sampled, and allocations in it go unseen. If
    /// every allocation was asked for, they must give it back, which a collection does.
    pub(crate) fn miss_nothing(&self) {
        if self.options.sampling == SamplingMode::All {
            // SAFETY: the live phase, on a thread of the VM, in no callback that forbids it.
            unsafe { (*self.vm.jvmti).collect() };
        }
    }

    /// Takes it out of the callbacks' sight, and leaves only the VM's event for the end, which waits for the last writes. When this
    /// returns, no callback uses it. Call it on a thread of the VM, or the events go on.
    pub(crate) fn retire(&self) {
        // Of the recording that runs only: until it is out of sight no other can begin.
        if with_current(|current| current.number == self.number) == Some(true) {
            for event in [jvmti::SAMPLED_ALLOC, jvmti::GC_START, jvmti::GC_FINISH, jvmti::VM_INIT] {
                switch(self.vm, false, event);
            }
        }
        let mut current = CURRENT.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = current.take_if(|c| c.number == self.number) {
            *RETIRED.lock().unwrap_or_else(PoisonError::into_inner) = Some(own);
        }
    }

    /// Drops a recording that could not begin.
    pub(crate) fn abandon(&self) {
        self.retire();
        self.leave();
        self.is_done();
    }
}

/// Switches an event on or off, and returns the VM's answer: 0 where it does. It may be refused on threads that are not the VM's.
fn switch(vm: Vm, on: bool, event: jint) -> jint {
    // SAFETY: the environment lives as long as the VM.
    let error = unsafe { (*vm.jvmti).set_event(on, event) };
    if error == 0 {
        let bit = 1u64 << (event - FIRST_EVENT);
        match on {
            true => EVENTS_ON.fetch_or(bit, Ordering::Relaxed),
            false => EVENTS_ON.fetch_and(!bit, Ordering::Relaxed),
        };
    }
    error
}

/// The events that are on: bit 0 for event 50.
pub(crate) fn events_on() -> u64 {
    EVENTS_ON.load(Ordering::Relaxed)
}

/// Does something with the recording that runs, if one does.
pub(crate) fn with_current<T>(work: impl FnOnce(&Arc<AgentRecording>) -> T) -> Option<T> {
    CURRENT.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(work)
}

/// The recording that runs.
pub(crate) fn current() -> Option<Arc<AgentRecording>> {
    with_current(Arc::clone)
}

/// Ends the recording that runs, and waits until it is written, or so long.
pub(crate) fn end_and_wait(reason: &str, most: Duration) {
    let retired = || RETIRED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(recording) = current().or_else(retired) {
        recording.end(reason);
        recording.wait(most);
    }
}

/// How long a VM that is attached to has until it is ready.
const READY: Duration = Duration::from_secs(10);

/// The tools of a VM.
fn tools(java: *mut JavaVM, running: bool) -> Result<Vm, String> {
    if let Some(vm) = TOOLS.get() {
        return Ok(*vm);
    }
    // A library that is loaded with the program is loaded when it may be used; who attaches may come too early, and waits on a thread
    // that is there for such requests.
    let most = if running { READY } else { Duration::ZERO };
    // SAFETY: the VM that loads this library runs.
    let jvmti = unsafe { jvmti::environment_soon(java, most) }?;
    let callbacks = EventCallbacks::new(
        callbacks::vm_init,
        callbacks::vm_death,
        callbacks::gc_start,
        callbacks::gc_finish,
        callbacks::sampled_alloc,
    );
    // SAFETY: the environment was just made; the structure lives for the call, which copies it.
    let error = unsafe { (*jvmti).set_callbacks(&raw const callbacks, size_of::<EventCallbacks>() as i32) };
    if error != 0 {
        return Err(format!("the VM takes no callbacks (JVMTI error {error})"));
    }
    Ok(*TOOLS.get_or_init(|| Vm { jvmti, java }))
}

/// Begins a recording; `running` says that the program runs already. Returns its folder.
///
/// # Errors
/// The error is a text for people.
pub(crate) fn begin(java: *mut JavaVM, options: AgentOptions, running: bool) -> Result<PathBuf, String> {
    if let Some(other) = current() {
        return Err(format!("it is being recorded already, into {}", other.folder.display()));
    }
    let vm = tools(java, running)?;
    COLLECTIONS.open().map_err(|e| format!("no event counter: {e}"))?;
    let samples = SampleCounter::new();
    let earlier = options.keep.map(|keep| (earlier(&options.folder), keep));
    let first = earlier.as_ref().map_or(1, |(numbers, _)| numbers.last().map_or(1, |last| last.saturating_add(1)));
    let (folder, is_new) = claim(&options.folder, samples.descriptor(), first)?;
    let recording = Arc::new(AgentRecording {
        number: RECORDINGS.fetch_add(1, Ordering::Relaxed) + 1,
        vm,
        folder: folder.clone(),
        from_start: !running,
        epoch: clock(),
        interval: AtomicU32::new(0),
        spent: AtomicU64::new(0),
        samples,
        written: AtomicU64::new(0),
        threads: Mutex::new(ThreadTable::new()),
        stacks: Mutex::new(StackTable::new()),
        queue: EventQueue::new(options.queue),
        live: LiveSamples::new(options.followed),
        collections_before: COLLECTIONS.ended(),
        events_before: callbacks::told(),
        is_given_up: AtomicBool::new(false),
        ending: Mutex::default(),
        ended: Condvar::new(),
        options,
    });
    *CURRENT.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&recording));
    // When it is in sight: who leaves gives back what only one recorder may have, unless somebody else is.
    let mut begun = recording.take_capabilities();
    if begun.is_ok() {
        recording.set_interval(Budget::new(recording.options.sampling).interval());
        // Also when it is loaded with the program: on JDK 17 each thread keeps the distance it has drawn before sampling began.
        begun = recording.listen(!running);
    }
    if begun.is_ok()
        && let Some((numbers, keep)) = earlier
    {
        // Not before: one that cannot begin takes nothing away. Not later: there may be no room without it.
        let gone = remove_earlier(&recording.options.folder, &numbers, keep);
        if gone > 0 {
            log(&format!("{gone} earlier traces were removed: {keep} stay (keep={keep})"));
        }
    }
    if running && begun.is_ok() {
        recording.miss_nothing();
        begun = worker::start(&recording);
    }
    if begun.is_err() {
        recording.abandon();
        withdraw(&folder, is_new);
    }
    begun.map(|()| folder)
}

/// Creates the folder and marks it as this program's. If another program has it and no process waits for it, picks a name with a number,
/// from `first` on. Returns the folder, and whether it is new.
fn claim(wanted: &Path, counter: Option<i32>, first: u32) -> Result<(PathBuf, bool), String> {
    if let Some(above) = wanted.parent() {
        std::fs::create_dir_all(above).map_err(|e| format!("{}: {e}", above.display()))?;
    }
    for number in (first..=u32::MAX).take(999) {
        let folder = numbered(wanted, number);
        let is_new = !folder.exists();
        let io = |e: std::io::Error| format!("{}: {e}", folder.display());
        private_folder(&folder).map_err(io)?;
        let claimed = match has_trace(&folder) {
            // The program that it is of has ended.
            true => Err(std::io::ErrorKind::AlreadyExists.into()),
            false => write_claim(&folder, counter),
        };
        match claimed {
            Ok(()) => {
                if let Err(error) = walks_folder(&folder) {
                    withdraw(&folder, is_new);
                    return Err(io(error));
                }
                return Ok((folder, is_new));
            }
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(error)),
            // One that has ended was a launcher: the recording process goes on with the next.
            Err(_) if RecorderLock::is_held(&folder) && claimed_by(&folder).is_some_and(is_running) => {
                return Err(format!("{} is the trace of another program", folder.display()));
            }
            Err(_) => {}
        }
    }
    Err(format!("there are a thousand traces named {} already", wanted.display()))
}

/// Something went wrong that must not happen: recording ends, in one log line, and the program goes on.
pub(crate) fn give_up(what: &str) {
    let recording = CURRENT.try_read().ok().and_then(|c| c.clone());
    // Several threads may meet the same fault: one line says it.
    if recording.as_ref().is_none_or(|recording| !recording.is_given_up.swap(true, Ordering::Relaxed)) {
        log(&format!("recording has stopped: {what}. The program goes on"));
    }
    if let Some(recording) = recording {
        recording.end(what);
    }
}
