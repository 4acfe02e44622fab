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
/// What is made while the recorder is at work is mostly garbage: so much of it gets numbers at most.
const MOST_LATE: u64 = 200_000;
const NO_ROOM: &str = "the VM has no room for it";

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
    /// What is held must be released. Best right after a collection: garbage gets numbers too.
    pub(crate) fn hold(&mut self, recording: &AgentRecording, jni: Jni) -> (Vec<(u64, jobject)>, u64) {
        let (mut held, mut stopped) = (Vec::with_capacity(self.known.len()), 0);
        let known = self.known.len();
        // At once, before the program has made garbage again; then the others; and then what has been made meanwhile.
        let mut result = self.number_new(recording, jni, None, &mut held, &mut stopped).map(drop);
        if result.is_ok() {
            result = self.keep_known(known, jni, &mut held);
        }
        if result.is_ok() && held.len() > self.most as usize {
            result = Err(format!("there are more than {} objects", self.most));
        }
        for _ in 1..MOST_STOPS {
            match result.is_ok().then(|| self.number_new(recording, jni, Some(MOST_LATE), &mut held, &mut stopped)) {
                Some(Ok(found)) if found >= FEW => {}
                Some(Err(why)) => result = Err(why),
                _ => break,
            }
        }
        if let Err(why) = result {
            self.why_not.get_or_insert(why);
            for (_, global) in held.drain(..) {
                // SAFETY: made above.
                unsafe { jni.release(global) };
            }
        }
        (held, stopped)
    }

    /// Holds what is alive of the first so many that have a number, and forgets the others of them.
    fn keep_known(&mut self, first: usize, jni: Jni, held: &mut Vec<(u64, jobject)>) -> Result<(), String> {
        let (mut at, mut result) = (0, Ok(()));
        self.known.retain(|&(number, weak)| {
            at += 1;
            if at > first || result.is_err() {
                return true;
            }
            // SAFETY: the reference is ours, and forgotten only where it is not retained.
            unsafe {
                match jni.keep(weak) {
                    Some(global) => held.push((number, global)),
                    None if jni.is_dead(weak) => {
                        jni.forget(weak);
                        return false;
                    }
                    None => result = Err(NO_ROOM.to_owned()),
                }
            }
            true
        });
        result
    }

    /// Numbers what has no number, in one stop, and holds it. Of late comers at most so many; where there are more, all of them get a
    /// number at the next walk, if they live until then. Says how many were numbered.
    fn number_new(
        &mut self,
        recording: &AgentRecording,
        jni: Jni,
        late: Option<u64>,
        held: &mut Vec<(u64, jobject)>,
        stopped: &mut u64,
    ) -> Result<usize, String> {
        // SAFETY: this thread is attached; the frame is ended below.
        if !unsafe { jni.push_frame() } {
            return Err(NO_ROOM.into());
        }
        // SAFETY: within a frame of this thread.
        unsafe {
            let numbered = self.number_in_frame(recording, jni, late, held, stopped);
            jni.pop_frame();
            numbered
        }
    }

    /// # Safety
    /// Within a local frame of this thread, which is attached.
    unsafe fn number_in_frame(
        &mut self,
        recording: &AgentRecording,
        jni: Jni,
        late: Option<u64>,
        held: &mut Vec<(u64, jobject)>,
        stopped: &mut u64,
    ) -> Result<usize, String> {
        self.stops += 1;
        let begun = recording.now();
        let (mut count, mut objects): (jint, *mut jobject) = (0, null_mut());
        let tag = self.stops;
        let mut found = self.tag_new(late.unwrap_or(u64::from(self.most)))?;
        if found > u64::from(self.most) && late.is_none() {
            // It may be garbage. What lives has its tag by now, and the others come to it.
            // SAFETY: the live phase, on a thread of ours.
            unsafe { (*self.jvmti).collect() };
            found = self.tag_new(u64::from(self.most))?;
            if found > u64::from(self.most) {
                return Err(format!("there are more than {} objects", self.most));
            }
        }
        // SAFETY: the environment lives until `end`; results are places of ours, and the list is freed.
        let new = unsafe {
            let jvmti = &mut *self.jvmti;
            if jvmti.objects_with_tags(1, &raw const tag, &raw mut count, &raw mut objects, null_mut()) != 0 {
                return Err(NO_ROOM.into());
            }
            match objects.is_null() {
                true => &[],
                false => std::slice::from_raw_parts(objects, count.max(0) as usize),
            }
        };
        // The list is made in one go, which a stop for another reason would wait for.
        *stopped += recording.now().saturating_sub(begun);
        self.known.reserve(new.len());
        held.reserve(new.len());
        let mut result = Ok(new.len());
        for &object in new {
            // SAFETY: handles of this frame; each is used once.
            unsafe {
                match (jni.keep(object as Weak), self.add(jni, object)) {
                    (Some(global), Some(number)) => held.push((number, global)),
                    (Some(global), None) => {
                        jni.release(global);
                        result = Err(NO_ROOM.into());
                    }
                    (None, _) => result = Err(NO_ROOM.into()),
                }
            }
        }
        // SAFETY: the VM made it, and nobody uses it any more.
        unsafe { (*self.jvmti).deallocate(objects.cast()) };
        result
    }

    /// Tags at most so many of what has no tag; the result is one more where there are more.
    fn tag_new(&mut self, most: u64) -> Result<u64, String> {
        let mut stop = Stop { tag: self.stops, found: 0, most };
        let callbacks = HeapCallbacks::iterating(visit);
        // SAFETY: the environment lives until `end`; callbacks and what they write to live for the call.
        let error = unsafe {
            (*self.jvmti).iterate_through_heap(
                jvmti::WITHOUT_TAGGED,
                null_mut(),
                &raw const callbacks,
                (&raw mut stop).cast(),
            )
        };
        match error {
            0 => Ok(stop.found),
            error => Err(format!("the VM does not walk over its heap (JVMTI error {error})")),
        }
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
