//! Identity of all objects, for small programs: each object has a number from the first walk that meets it until it dies.
//!
//! In one stop of the program, the VM tags all objects without a tag; tagged objects then get a number and a weak reference. For a walk all
//! weak references become global ones, as those of samples do, so that the dump has the place of each numbered object.
//!
//! Tags only mark objects as seen. A tag is the number of the stop, shared by many objects, since only then the VM finds objects by tag
//! fast. Tags alone would not tell which object has which number; weak references alone would not tell the VM which objects to skip. Each
//! young collection looks at both, 5 to 10 ns for either (`benches/README.md`). Tags stay between walks, as setting them anew takes about
//! 500 ns each. That would pay only after a hundred collections, and on 17, which sorts tags anew after each collection, not even then.
//!
//! Objects created between the last of these stops and the dump are in the dump without a number. They are young, and get one at the next
//! walk if they live. The VM also tags the gaps that it fills in the heap. An object created in a gap takes over its number; nothing has
//! referred to the gap, so no object is ever mistaken for another.

use crate::fault;
use crate::folder::WalkNumber;
use crate::jvmti::{self, Capabilities, HeapCallbacks, IDENTITY_CAPABILITIES, JvmtiEnv};
use crate::recording::AgentRecording;
use crate::vm::{Jni, Vm, Weak};
use jni_sys::{jint, jlong, jobject};
use std::any::Any;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;

/// The tag of classes whose objects are no objects of the program: the VM fills gaps with them.
const FILLER: jlong = -1;
/// Tags of objects are numbers of stops, and those with the sign turned.
const FIRST_STOP: jlong = 1 << 8;
const FILLERS: [&std::ffi::CStr; 2] = [c"jdk/internal/vm/FillerObject", c"[Ljdk/internal/vm/FillerElement;"];
/// The tag of `java.lang.Class`. Dumps have the objects of classes that are not linked yet in no way: that these are missing means
/// nothing.
const CLASS: jlong = -2;
/// Objects created while the recorder works get numbers too, as long as a search takes less than this, nanoseconds. They are mostly
/// garbage.
const QUICK: u64 = 50_000_000;
const MOST_LATE: u64 = 50_000;
const NO_ROOM: &str = "the VM has no room for it";

/// The numbered objects.
pub(crate) struct NumberedObjects {
    jvmti: *mut JvmtiEnv,
    /// Ascending by number.
    known: Vec<(NumberedObject, Weak)>,
    /// The number of the next object.
    next: u64,
    /// Starts far above the tags of classes.
    stops: jlong,
    /// Most objects.
    most: u32,
    /// Why no further object gets a number.
    pub(crate) why_not: Option<String>,
}

/// An object that has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedObject {
    pub(crate) number: u64,
    /// It stands for a class.
    pub(crate) is_class: bool,
}

/// The objects found in a stop.
struct TaggingStop {
    tag: jlong,
    found: u64,
    most: u64,
    /// A panic in it, to resume where it may leave a function.
    fault: Option<Box<dyn Any + Send>>,
}

impl TaggingStop {
    /// An object without a tag, of a class with this one: the tag that it gets, 0 for none; or that these are enough.
    fn meet(&mut self, class_tag: jlong) -> ControlFlow<(), jlong> {
        fault::point("visit");
        if class_tag == FILLER {
            return ControlFlow::Continue(0);
        }
        self.found += 1;
        if self.found > self.most {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(if class_tag == CLASS { -self.tag } else { self.tag })
    }
}

/// Visits an object without a tag. It may not call anything. A panic ends the stop: it is of the recorder's own thread, which resumes it
/// when the VM has returned. Without a panic, catching takes no time: a visit is 3 ns with or without.
unsafe extern "C" fn visit(class_tag: jlong, _size: jlong, tag: *mut jlong, _length: jint, stop: *mut c_void) -> jint {
    // SAFETY: the VM hands back what `IterateThroughHeap` was given, a stop that lives for that call and that nobody else uses meanwhile; it
    // calls from one thread.
    let stop = unsafe { &mut *stop.cast::<TaggingStop>() };
    match catch_unwind(AssertUnwindSafe(|| stop.meet(class_tag))) {
        Ok(ControlFlow::Continue(0)) => 0,
        Ok(ControlFlow::Continue(new)) => {
            // SAFETY: the VM gives a place to write the tag of this object to.
            unsafe { *tag = new };
            0
        }
        Ok(ControlFlow::Break(())) => jvmti::VISIT_ABORT,
        Err(fault) => {
            stop.fault = Some(fault);
            jvmti::VISIT_ABORT
        }
    }
}

/// Numbered objects, each held by a global reference. The references are released all together, also when a fault ends the walk: a held
/// object never dies.
pub(crate) struct HeldObjects {
    jni: Jni,
    held: Vec<(NumberedObject, jobject)>,
}

impl HeldObjects {
    pub(crate) fn new(jni: Jni) -> HeldObjects {
        HeldObjects { jni, held: Vec::new() }
    }

    /// Their places in the dump, by their handles, which stay valid until all are released.
    pub(crate) fn numbers(&self) -> Vec<WalkNumber> {
        let number = |(of, global): &(NumberedObject, jobject)| WalkNumber::new(of.number, *global as u64, of.is_class);
        self.held.iter().map(number).collect()
    }

    /// Lets go of all of them.
    fn release(&mut self) {
        for (_, global) in self.held.drain(..) {
            // SAFETY: made by `Jni::keep`, and drained: let go of once.
            unsafe { self.jni.release(global) };
        }
    }
}

impl Drop for HeldObjects {
    fn drop(&mut self) {
        self.release();
    }
}

impl NumberedObjects {
    /// For at most `most` objects.
    ///
    /// # Errors
    /// When the VM has no tags to give.
    pub(crate) fn begin(vm: Vm, jni: Jni, most: u32) -> Result<NumberedObjects, String> {
        // Tags are those of an environment: with one of their own they all go in one step.
        // SAFETY: the VM runs.
        let Ok(jvmti) = (unsafe { jvmti::environment(vm.java) }) else {
            return Err("the VM gives no further environment".into());
        };
        let wanted = Capabilities::with(&IDENTITY_CAPABILITIES);
        let mut all = NumberedObjects { jvmti, known: Vec::new(), next: 1, stops: FIRST_STOP, most, why_not: None };
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
                    all.add(jni, class, true);
                    jni.drop_local(class);
                }
            }
        }
        // SAFETY: as above.
        unsafe {
            if let Some(class) = jni.class(c"java/lang/Class") {
                (*jvmti).set_tag(class, CLASS);
                all.add(jni, class, true);
                jni.drop_local(class);
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
    unsafe fn add(&mut self, jni: Jni, object: jobject, is_class: bool) -> Option<NumberedObject> {
        // SAFETY: the caller's.
        let weak = unsafe { jni.weak(object) }?;
        let numbered = NumberedObject { number: self.next, is_class };
        self.next += 1;
        self.known.push((numbered, weak));
        Some(numbered)
    }

    /// Numbers new objects and holds all numbered ones; also returns how long that stopped the program, nanoseconds. Returns nothing if
    /// there are too many objects or the VM fails: [`NumberedObjects::why_not`] has the reason.
    ///
    /// Best right after a collection: garbage gets numbers too.
    pub(crate) fn hold(&mut self, recording: &AgentRecording, jni: Jni) -> (HeldObjects, u64) {
        let (mut all, mut stopped) = (HeldObjects::new(jni), 0);
        let (held, known) = (&mut all.held, self.known.len());
        held.reserve(known);
        // At once, before the program has made garbage again; then the others; and then what has been made meanwhile.
        let mut result = self.number_new(recording, jni, None, held, &mut stopped);
        if result.is_ok() {
            result = self.keep_known(known, jni, held);
        }
        if result.is_ok() && held.len() > self.most as usize {
            result = Err(format!("there are more than {} objects", self.most));
        }
        if result.is_ok() && stopped < QUICK {
            result = self.number_new(recording, jni, Some(MOST_LATE), held, &mut stopped);
        }
        if let Err(why) = result {
            self.why_not.get_or_insert(why);
            all.release();
        }
        (all, stopped)
    }

    /// Holds the live ones of the first numbered objects, and forgets the dead ones.
    fn keep_known(&mut self, first: usize, jni: Jni, held: &mut Vec<(NumberedObject, jobject)>) -> Result<(), String> {
        let (mut at, mut result) = (0, Ok(()));
        self.known.retain(|&(numbered, weak)| {
            at += 1;
            if at > first || result.is_err() {
                return true;
            }
            // SAFETY: the reference is ours, and forgotten only where it is not retained.
            unsafe {
                match jni.keep(weak) {
                    Some(global) => held.push((numbered, global)),
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

    /// Numbers objects without a number, in one stop, and holds them. Late comers are limited; if there are more, all of them get a number
    /// at the next walk, if they live until then.
    fn number_new(
        &mut self,
        recording: &AgentRecording,
        jni: Jni,
        late: Option<u64>,
        held: &mut Vec<(NumberedObject, jobject)>,
        stopped: &mut u64,
    ) -> Result<(), String> {
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
        held: &mut Vec<(NumberedObject, jobject)>,
        stopped: &mut u64,
    ) -> Result<(), String> {
        self.stops += 1;
        let begun = recording.now();
        let (mut count, mut objects): (jint, *mut jobject) = (0, null_mut());
        let mut found_tags: *mut jlong = null_mut();
        let tags = [self.stops, -self.stops];
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
        let (new, of): (&[jobject], &[jlong]) = unsafe {
            let (jvmti, wanted) = (&mut *self.jvmti, tags.len() as jint);
            let error =
                jvmti.objects_with_tags(wanted, tags.as_ptr(), &raw mut count, &raw mut objects, &raw mut found_tags);
            let count = count.max(0) as usize;
            match (error, objects.is_null() || found_tags.is_null()) {
                (0, false) => {
                    (std::slice::from_raw_parts(objects, count), std::slice::from_raw_parts(found_tags, count))
                }
                (0, true) => (&[], &[]),
                _ => return Err(NO_ROOM.into()),
            }
        };
        // SAFETY: this thread is attached, says the caller.
        unsafe { jni.meant_so_many() };
        // The list is made in one go, which a stop for another reason would wait for.
        *stopped += recording.now().saturating_sub(begun);
        self.known.reserve(new.len());
        held.reserve(new.len());
        let mut result = Ok(());
        for (&object, &tag) in new.iter().zip(of) {
            // SAFETY: handles of this frame; each is used once.
            unsafe {
                match (jni.keep(object as Weak), self.add(jni, object, tag < 0)) {
                    (Some(global), Some(numbered)) => held.push((numbered, global)),
                    (Some(global), None) => {
                        jni.release(global);
                        result = Err(NO_ROOM.into());
                    }
                    (None, _) => result = Err(NO_ROOM.into()),
                }
            }
        }
        // SAFETY: the VM made it, and nobody uses it any more.
        unsafe {
            (*self.jvmti).deallocate(objects.cast());
            (*self.jvmti).deallocate(found_tags.cast());
        }
        result
    }

    /// Tags at most `most` untagged objects; returns `most + 1` if there are more.
    fn tag_new(&mut self, most: u64) -> Result<u64, String> {
        let mut stop = TaggingStop { tag: self.stops, found: 0, most, fault: None };
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
        if let Some(fault) = stop.fault {
            resume_unwind(fault);
        }
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
