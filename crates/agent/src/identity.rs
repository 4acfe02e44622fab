//! Identity of all objects, for programs that are small: each object has a number from the first walk that meets it until it dies.
//!
//! The VM tags what is not tagged yet, object after object in one stop of the program; what has been tagged gets a number and a
//! weak reference. For a walk all weak references become global ones, as those of samples do, so that the dump tells where each
//! numbered object is. Tags serve only to know what is new: they are the number of the stop, one for many objects, as the VM finds
//! objects by their tags fast only so.
//!
//! What the program makes between the last of these stops and the dump is in the dump without a number. It is young, and gets one at the
//! next walk if it lives: nothing is ever given a number that it does not deserve.

use crate::jvmti::{self, Capabilities, HeapCallbacks, IDENTITY_CAPABILITIES, JvmtiEnv};
use crate::recording::AgentRecording;
use crate::vm::{Jni, Vm, Weak};
use jni_sys::{jint, jlong, jobject};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The tag of classes whose objects are no objects of the program: the VM fills gaps with them.
const FILLER: jlong = -1;
const FILLERS: [&std::ffi::CStr; 2] = [c"jdk/internal/vm/FillerObject", c"[Ljdk/internal/vm/FillerElement;"];
/// While a stop still brings more new objects than this there is another, so that little is made between the last and the dump; but
/// no more than so many.
const FEW: usize = 20_000;
const MOST_STOPS: u32 = 3;

/// The numbered objects.
pub(crate) struct Identities {
    jvmti: *mut JvmtiEnv,
    /// Ascending by number.
    known: Vec<(u64, Weak)>,
    /// The number of the next object.
    next: u64,
    stops: jlong,
    /// So many objects at most.
    most: u32,
    /// Why no further object gets a number.
    pub(crate) why_not: Option<String>,
}

/// What a stop finds.
struct Stop {
    tag: jlong,
    found: u64,
    most: u64,
}

/// An object without a tag, as the VM meets it. Nothing may be called here, and nothing here can panic.
unsafe extern "C" fn visit(class_tag: jlong, _size: jlong, tag: *mut jlong, _length: jint, stop: *mut c_void) -> jint {
    // SAFETY: the VM hands back what `IterateThroughHeap` was given, and a tag to write to; it calls from one thread.
    unsafe {
        let stop = &mut *stop.cast::<Stop>();
        if class_tag == FILLER {
            return 0;
        }
        stop.found += 1;
        if stop.found > stop.most {
            return jvmti::VISIT_ABORT;
        }
        *tag = stop.tag;
    }
    0
}

impl Identities {
    /// For at most so many objects.
    ///
    /// # Errors
    /// When the VM has no tags to give.
    pub(crate) fn begin(vm: Vm, jni: Jni, most: u32) -> Result<Identities, String> {
        // Tags are those of an environment: with one of their own they all go in one step.
        // SAFETY: the VM runs.
        let Some(jvmti) = (unsafe { jvmti::environment(vm.java) }) else {
            return Err("the VM gives no further environment".into());
        };
        let wanted = Capabilities::with(&IDENTITY_CAPABILITIES);
        let mut all = Identities { jvmti, known: Vec::new(), next: 1, stops: 0, most, why_not: None };
        // SAFETY: the environment was just made; the structure lives for the call, which copies it.
        let error = unsafe { (*jvmti).add_capabilities(&raw const wanted) };
        if error != 0 {
            all.end(jni);
            return Err(format!("the VM gives no tags (JVMTI error {error})"));
        }
        for name in FILLERS {
            // SAFETY: this thread is attached; the handle is its own, and dropped.
            unsafe {
                if let Some(class) = jni.class(name) {
                    (*jvmti).set_tag(class, FILLER);
                    all.add(jni, class);
                    jni.drop_local(class);
                }
            }
        }
        Ok(all)
    }

    /// How many objects have a number.
    pub(crate) fn len(&self) -> u64 {
        self.known.len() as u64
    }

    /// Gives the next number. `None` where the VM has no room.
    ///
    /// # Safety
    /// `object` is a handle of this thread, which is attached.
    unsafe fn add(&mut self, jni: Jni, object: jobject) -> Option<u64> {
        // SAFETY: the caller's.
        let weak = unsafe { jni.weak(object) }?;
        let number = self.next;
        self.next += 1;
        self.known.push((number, weak));
        Some(number)
    }

    /// Numbers what is new and holds all that is numbered; the second result is for how long that stopped the program, nanoseconds.
    /// Nothing, where there are too many objects or the VM fails: [`Identities::why_not`] says why.
    ///
    /// What is held must be released.
    pub(crate) fn hold(&mut self, recording: &AgentRecording, jni: Jni) -> (Vec<(u64, jobject)>, u64) {
        let mut held = Vec::with_capacity(self.known.len());
        let mut failed = false;
        self.known.retain(|&(number, weak)| {
            // SAFETY: the reference is ours, and forgotten only where it is not retained.
            unsafe {
                match jni.keep(weak) {
                    Some(global) => held.push((number, global)),
                    None if jni.is_dead(weak) => {
                        jni.forget(weak);
                        return false;
                    }
                    None => failed = true,
                }
            }
            true
        });
        let mut stopped = 0;
        for _ in 0..MOST_STOPS {
            if failed || self.why_not.is_some() {
                break;
            }
            let before = held.len();
            // SAFETY: this thread is attached, and the frame is ended below.
            let in_frame = unsafe { jni.push_frame() };
            failed = !in_frame;
            if in_frame {
                // SAFETY: within a frame of this thread.
                unsafe {
                    failed = !self.stop(recording, jni, &mut held, &mut stopped);
                    jni.pop_frame();
                }
            }
            if held.len() < before + FEW {
                break;
            }
        }
        if failed {
            self.why_not.get_or_insert_with(|| "the VM has no room for it".into());
        }
        if self.why_not.is_some() {
            for (_, global) in held.drain(..) {
                // SAFETY: made above.
                unsafe { jni.release(global) };
            }
        }
        (held, stopped)
    }

    /// One stop: whatever has no tag gets one, a number, and is held. Whether the VM had room.
    ///
    /// # Safety
    /// Within a local frame of this thread, which is attached.
    unsafe fn stop(
        &mut self,
        recording: &AgentRecording,
        jni: Jni,
        held: &mut Vec<(u64, jobject)>,
        stopped: &mut u64,
    ) -> bool {
        self.stops += 1;
        let most = u64::from(self.most).saturating_sub(held.len() as u64);
        let mut stop = Stop { tag: self.stops, found: 0, most };
        let callbacks = HeapCallbacks::iterating(visit);
        let (mut count, mut objects): (jint, *mut jobject) = (0, null_mut());
        let begun = recording.now();
        // SAFETY: the environment lives until `end`; callbacks and what they write to live for the call; results are places of
        // ours, and the list is freed.
        let new = unsafe {
            let jvmti = &mut *self.jvmti;
            let error = jvmti.iterate_through_heap(
                jvmti::WITHOUT_TAGGED,
                null_mut(),
                &raw const callbacks,
                (&raw mut stop).cast(),
            );
            if error != 0 {
                return false;
            }
            if stop.found > stop.most {
                self.why_not = Some(format!("there are more than {} objects", self.most));
                return true;
            }
            if stop.found == 0 {
                *stopped += recording.now().saturating_sub(begun);
                return true;
            }
            let error = jvmti.objects_with_tags(1, &raw const stop.tag, &raw mut count, &raw mut objects, null_mut());
            if error != 0 || objects.is_null() {
                return false;
            }
            std::slice::from_raw_parts(objects, count.max(0) as usize)
        };
        // The list is made in one go, which a stop for another reason would wait for.
        *stopped += recording.now().saturating_sub(begun);
        self.known.reserve(new.len());
        held.reserve(new.len());
        let mut there = true;
        for &object in new {
            // SAFETY: handles of this frame; each is used once.
            unsafe {
                let held_as = jni.keep(object as Weak);
                match (held_as, self.add(jni, object)) {
                    (Some(global), Some(number)) => held.push((number, global)),
                    (Some(global), None) => {
                        jni.release(global);
                        there = false;
                    }
                    (None, _) => there = false,
                }
            }
        }
        // SAFETY: the VM made it, and nobody uses it any more.
        unsafe { (*self.jvmti).deallocate(objects.cast()) };
        there
    }

    /// Forgets all numbers and tags.
    pub(crate) fn end(self, jni: Jni) {
        for (_, weak) in &self.known {
            // SAFETY: made by `add`, and forgotten once: this takes all of them.
            unsafe { jni.forget(*weak) };
        }
        // SAFETY: nobody uses the environment after this; it takes no events.
        unsafe { (*self.jvmti).dispose() };
    }
}
