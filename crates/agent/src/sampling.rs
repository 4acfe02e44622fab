//! A sampled allocation: the work in the thread of the program, as little as possible.

use crate::budget::DEAREST;
use crate::collections::COLLECTIONS;
use crate::event::{Definition, MethodFacts, SampleFacts};
use crate::fault;
use crate::jvmti::{FrameInfo, JvmtiEnv, LineEntry, ThreadInfo};
use crate::recording::AgentRecording;
use crate::sites::{LoaderKey, RawFrame};
use crate::vm::Jni;
use jni_sys::{jclass, jmethodID, jobject};
use std::cell::Cell;
use std::ffi::c_char;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Frames of a stack that are recorded, the innermost.
pub const FRAMES: usize = 64;
/// Lines of a method that are recorded: a class file may have 65,535 for each.
const MOST_LINES: usize = 4096;
/// Nanoseconds after which a thread is asked for its name again: a thread pool may rename a thread for each request.
const NAMED_FOR: u64 = 1_000_000;

/// The recorder's data of one thread of the program.
#[derive(Clone, Copy)]
struct ThreadSlot {
    /// The recording this is about: another one may come.
    recording: u32,
    /// Its number, 0 where it has none: a carrier that has only run virtual threads.
    thread: u32,
    /// The interval in force when its next sample was drawn.
    drawn: u32,
    /// Samples it has taken under its number.
    sequence: u64,
    /// Whether there was no room for its name: others have its number too.
    is_other: bool,
    /// A hash of its name, and when it was asked for.
    name: u64,
    named: u64,
}

impl ThreadSlot {
    /// A thread that is not known yet.
    const NEW: ThreadSlot =
        ThreadSlot { recording: 0, thread: 0, drawn: 0, sequence: 0, is_other: false, name: 0, named: 0 };
}

thread_local! {
    static SLOT: Cell<ThreadSlot> = const { Cell::new(ThreadSlot::NEW) };
    /// Set in the recorder's own thread, and while a sample is taken: allocations then are not the program's.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as the recorder's, whose allocations are ignored.
pub(crate) fn this_thread_is_ours() {
    OURS.with(|ours| ours.set(true));
}

/// Whether this thread's allocations are the recorder's doing. A thread that is about to end may have no slots any more: it
/// counts as ours.
pub(crate) fn is_ours() -> bool {
    OURS.try_with(Cell::get).unwrap_or(true)
}

/// While it lives, allocations of this thread belong to the recorder. A fault ends that too: threads outlive a recording, and the next one
/// would miss their allocations.
struct OursMeanwhile;

impl OursMeanwhile {
    fn begin() -> OursMeanwhile {
        let _ = OURS.try_with(|ours| ours.set(true));
        OursMeanwhile
    }
}

impl Drop for OursMeanwhile {
    fn drop(&mut self) {
        let _ = OURS.try_with(|ours| ours.set(false));
    }
}

/// The arguments of the event: handles of its callback.
#[derive(Clone, Copy)]
pub(crate) struct DrawnObject {
    /// The thread: a virtual one, where such a one runs.
    pub(crate) thread: jobject,
    pub(crate) object: jobject,
    pub(crate) class: jclass,
    pub(crate) size: u64,
}

/// An object was allocated that was drawn.
///
/// # Safety
/// Within the event's callback, with its arguments.
pub(crate) unsafe fn sampled(recording: &AgentRecording, jvmti: &mut JvmtiEnv, jni: Jni, drawn: DrawnObject) {
    let _meanwhile = OursMeanwhile::begin();
    let begun = recording.now();
    // SAFETY: as the caller's.
    unsafe { take(recording, jvmti, jni, drawn, begun) };
    let spent = recording.now().saturating_sub(begun).min(DEAREST);
    recording.spent.fetch_add(spent, Ordering::Relaxed);
}

/// # Safety
/// As [`sampled`].
unsafe fn take(recording: &AgentRecording, jvmti: &mut JvmtiEnv, jni: Jni, drawn: DrawnObject, begun: u64) {
    fault::point("taking");
    let DrawnObject { thread, object, class, size } = drawn;
    let interval = recording.interval.load(Ordering::Relaxed);
    let mut slot = SLOT.try_with(Cell::get).unwrap_or(ThreadSlot::NEW);
    if slot.recording != recording.number {
        slot = ThreadSlot { recording: recording.number, drawn: interval, ..ThreadSlot::NEW };
    }
    // SAFETY: the live phase, on a thread of the VM, in its callback.
    let (thread, sequence) = unsafe { numbered(recording, jvmti, jni, thread, &mut slot, begun) };
    let mut new = Vec::new();
    // One more than is recorded: whether there are further callers.
    const ASKED: usize = FRAMES + 1;
    let mut frames = [FrameInfo { method: null_mut(), location: -1 }; ASKED];
    let mut count = 0;
    // SAFETY: as many frames as there is room for; null is this thread.
    let failed = unsafe { jvmti.stack_trace(null_mut(), 0, ASKED as i32, frames.as_mut_ptr(), &raw mut count) } != 0;
    let count = if failed { 0 } else { count.clamp(0, ASKED as i32) as usize };
    let (is_cut, count) = (count > FRAMES, count.min(FRAMES));
    let mut raw = [RawFrame { method: 0, location: 0 }; FRAMES];
    for (raw, frame) in raw.iter_mut().zip(&frames[..count]) {
        *raw = RawFrame { method: frame.method as usize, location: frame.location };
    }
    // SAFETY: the class of the object, a handle of this callback.
    let signature = unsafe { signature(jvmti, class) };
    // SAFETY: the object is a handle of this callback, and an array.
    let length = if signature.starts_with('[') { unsafe { jni.array_length(object) } } else { -1 };
    // SAFETY: as above.
    let (key, loader) = unsafe { loader(jvmti, class, &signature) };
    let (class, stack) = {
        let mut stacks = recording.stacks.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the loader is a handle of this function.
        let class_of_loader = || unsafe { signature_of_object(jvmti, jni, loader) };
        let class = stacks.class(&signature, key, class_of_loader, &mut new);
        // SAFETY: the methods are on this thread's stack, so their classes are loaded.
        let facts = |method: usize| unsafe { method_facts(jvmti, jni, method as jmethodID) };
        let stack = stacks.stack(&raw[..count], is_cut, facts, &mut new);
        // Before the lock is let go of: another thread may use these numbers at once.
        if !new.is_empty() {
            recording.queue.define(new);
        }
        (class, stack)
    };
    if !loader.is_null() {
        // SAFETY: made above, and used no more.
        unsafe { jni.drop_local(loader) };
    }
    let id = recording.samples.add() + 1;
    let weak = match recording.live.admits(id) {
        // SAFETY: the object is a handle of this callback.
        true => unsafe { jni.weak(object) },
        false => None,
    };
    let sample = SampleFacts {
        at: begun,
        id,
        thread,
        sequence,
        class,
        size,
        length,
        collections: COLLECTIONS.started().saturating_sub(recording.collections_before) as u32,
        interval: slot.drawn,
        stack,
        followed: weak.is_some(),
    };
    let queued = recording.queue.sample(sample);
    match weak {
        Some(weak) if queued => recording.live.push((id, weak), begun),
        // SAFETY: it was made above, and nobody else knows it.
        Some(weak) => unsafe { jni.forget(weak) },
        None => {}
    }
    slot.drawn = interval;
    let _ = SLOT.try_with(|known| known.set(slot));
}

/// The number of the thread that allocates, and of its sample. Its definition is in the queue before.
///
/// # Safety
/// Call it in the live phase, on the thread of the VM with the handle `thread`.
unsafe fn numbered(
    recording: &AgentRecording,
    jvmti: &mut JvmtiEnv,
    jni: Jni,
    thread: jobject,
    slot: &mut ThreadSlot,
    now: u64,
) -> (u32, u64) {
    let mut new = Vec::new();
    // Definitions come into the queue before the lock is let go of: another thread may use a shared number at once.
    let define = |new: Vec<Definition>| {
        if !new.is_empty() {
            recording.queue.define(new);
        }
    };
    let table = || recording.threads.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as the caller's.
    if unsafe { jni.is_virtual(thread) } {
        // SAFETY: as the caller's.
        let name = unsafe { thread_name(jvmti, jni) };
        let mut table = table();
        let shared = table.virtual_sample(&name, &mut new);
        define(new);
        return (shared.id, shared.sequence.unwrap_or(0));
    }
    if slot.thread == 0 || now >= slot.named.saturating_add(NAMED_FOR) {
        // SAFETY: as the caller's.
        let name = unsafe { thread_name(jvmti, jni) };
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&name);
        slot.named = now;
        if slot.thread == 0 || slot.name != hash {
            slot.name = hash;
            let mut table = table();
            let numbered = table.platform(name, &mut new);
            define(new);
            (slot.thread, slot.is_other) = (numbered.id, numbered.sequence.is_some());
            slot.sequence = numbered.sequence.unwrap_or(0) + 1;
            return (numbered.id, slot.sequence - 1);
        }
    }
    if slot.is_other {
        let mut table = table();
        let shared = table.other_sample(&mut new);
        define(new);
        return (shared.id, shared.sequence.unwrap_or(0));
    }
    slot.sequence += 1;
    (slot.thread, slot.sequence - 1)
}

/// # Safety
/// In the live phase, on a thread of the VM.
unsafe fn thread_name(jvmti: &mut JvmtiEnv, jni: Jni) -> String {
    let mut info =
        ThreadInfo { name: null_mut(), priority: 0, is_daemon: false, group: null_mut(), loader: null_mut() };
    // SAFETY: the structure is ours; the text is freed, and so are the handles.
    unsafe {
        if jvmti.thread_info(null_mut(), &raw mut info) != 0 {
            return String::new();
        }
        for local in [info.group, info.loader] {
            if !local.is_null() {
                jni.drop_local(local);
            }
        }
        jvmti.take_text(info.name)
    }
}

/// The loader of a class, and its handle, null if that is the VM itself or unknown.
///
/// # Safety
/// `class` is a handle that this thread may use, in the live phase.
unsafe fn loader(jvmti: &mut JvmtiEnv, class: jclass, signature: &str) -> (LoaderKey, jobject) {
    // Arrays of primitive values, which are many, are the VM's.
    if signature.starts_with('[') && !signature.ends_with(';') {
        return (LoaderKey::Vm, null_mut());
    }
    let (mut loader, mut hash): (jobject, i32) = (null_mut(), 0);
    // SAFETY: see above; both results are places of ours.
    unsafe {
        if jvmti.class_loader(class, &raw mut loader) != 0 {
            return (LoaderKey::Unknown, null_mut());
        }
        match loader.is_null() {
            true => (LoaderKey::Vm, loader),
            false if jvmti.hash_code(loader, &raw mut hash) == 0 => (LoaderKey::Hash(hash), loader),
            false => (LoaderKey::Unknown, loader),
        }
    }
}

/// The signature of the class of an object.
///
/// # Safety
/// `object` is a handle that this thread may use.
unsafe fn signature_of_object(jvmti: &mut JvmtiEnv, jni: Jni, object: jobject) -> String {
    // SAFETY: see above; the class is a handle of ours, and dropped.
    unsafe {
        let class = jni.class_of(object);
        let signature = signature(jvmti, class);
        jni.drop_local(class);
        signature
    }
}

/// # Safety
/// `class` is a handle that this thread may use.
unsafe fn signature(jvmti: &mut JvmtiEnv, class: jclass) -> String {
    let mut text: *mut c_char = null_mut();
    // SAFETY: see above; the text is freed.
    unsafe {
        match jvmti.class_signature(class, &raw mut text, null_mut()) {
            0 => jvmti.take_text(text),
            _ => String::new(),
        }
    }
}

/// # Safety
/// The method's class is loaded and stays so: it is on the stack of this thread.
unsafe fn method_facts(jvmti: &mut JvmtiEnv, jni: Jni, method: jmethodID) -> MethodFacts {
    let mut facts = MethodFacts::default();
    let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (null_mut(), null_mut());
    // SAFETY: all results are places of ours; what the VM allocates is freed, handles are dropped.
    unsafe {
        if jvmti.method_name(method, &raw mut name, &raw mut descriptor, null_mut()) == 0 {
            facts.name = jvmti.take_text(name);
            facts.signature = jvmti.take_text(descriptor);
        }
        let mut class: jclass = null_mut();
        if jvmti.declaring_class(method, &raw mut class) == 0 && !class.is_null() {
            facts.class = signature(jvmti, class);
            let mut file: *mut c_char = null_mut();
            if jvmti.source_file(class, &raw mut file) == 0 {
                facts.file = jvmti.take_text(file);
            }
            jni.drop_local(class);
        }
        let (mut count, mut entries): (i32, *mut LineEntry) = (0, null_mut());
        if jvmti.line_table(method, &raw mut count, &raw mut entries) == 0 && !entries.is_null() {
            let lines = std::slice::from_raw_parts(entries, count.max(0) as usize);
            facts.lines = lines.iter().take(MOST_LINES).map(|l| (l.start as u32, l.line as u32)).collect();
            facts.lines.sort_unstable();
            jvmti.deallocate(entries.cast());
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_gives_the_thread_back_to_the_program() {
        // Unwinds as a fault does, without the words of one.
        let faulty = std::panic::catch_unwind(|| {
            let _meanwhile = OursMeanwhile::begin();
            assert!(is_ours());
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(faulty.is_err() && !is_ours());
    }
}
