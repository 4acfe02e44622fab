//! Bindings of JVMTI: the functions that the recorder calls, by position in the function table, and the events it takes.
//!
//! The table is part of JVMTI's binary interface: positions never change (JDK 17 and 25 differ only in what was reserved).
//! `tests/header.rs` compares every position, event number and capability bit here with the `jvmti.h` of each installed JDK.
//! Nothing here decides anything.

use jni_sys::{JNIEnv, JavaVM, jclass, jint, jlong, jmethodID, jobject};
use std::ffi::{CStr, c_char, c_void};
use std::time::{Duration, Instant};

/// The result of JVMTI functions: 0 is success.
pub(crate) type JvmtiError = jint;

/// The environment: a pointer to its function table, as in C.
#[repr(C)]
pub(crate) struct JvmtiEnv {
    functions: *const *const c_void,
}

/// One frame of a stack.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct FrameInfo {
    pub(crate) method: jmethodID,
    pub(crate) location: jlong,
}

#[repr(C)]
pub(crate) struct ThreadInfo {
    pub(crate) name: *mut c_char,
    pub(crate) priority: jint,
    pub(crate) is_daemon: bool,
    pub(crate) group: jobject,
    pub(crate) loader: jobject,
}

/// The line is `line` from this bytecode index on.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LineEntry {
    pub(crate) start: jlong,
    pub(crate) line: jint,
}

/// Bits of capabilities, in the order of the header.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Capabilities {
    words: [u32; 4],
}

impl Capabilities {
    pub(crate) fn with(bits: &[(&str, u32)]) -> Capabilities {
        let mut all = Capabilities::default();
        for (_, bit) in bits {
            all.words[*bit as usize / 32] |= 1 << (bit % 32);
        }
        all
    }
}

/// The capabilities that the recorder needs. All are available in a running program.
pub const CAPABILITIES: [(&str, u32); 4] = [
    ("can_get_source_file_name", 11),
    ("can_get_line_numbers", 12),
    ("can_generate_garbage_collection_events", 31),
    ("can_generate_sampled_object_alloc_events", 43),
];

/// The further capabilities for following all objects.
pub const IDENTITY_CAPABILITIES: [(&str, u32); 1] = [("can_tag_objects", 0)];

/// Events by number, as the header numbers them; the callback of event N is at position N - 50 of the callbacks.
pub const EVENTS: [(&str, i32); 5] = [
    ("VM_INIT", VM_INIT),
    ("VM_DEATH", VM_DEATH),
    ("GARBAGE_COLLECTION_START", GC_START),
    ("GARBAGE_COLLECTION_FINISH", GC_FINISH),
    ("SAMPLED_OBJECT_ALLOC", SAMPLED_ALLOC),
];
pub(crate) const VM_INIT: jint = 50;
pub(crate) const VM_DEATH: jint = 51;
pub(crate) const GC_START: jint = 81;
pub(crate) const GC_FINISH: jint = 82;
pub(crate) const SAMPLED_ALLOC: jint = 86;
pub(crate) const FIRST_EVENT: jint = 50;

/// JVMTI 11, the oldest version with sampled allocations.
pub(crate) const VERSION: jint = 0x300B_0000;

/// Callbacks by position; those that are not taken are null.
#[repr(C)]
pub(crate) struct EventCallbacks {
    by_position: [*const c_void; 37],
}

pub(crate) type VmEvent = unsafe extern "C" fn(*mut JvmtiEnv, *mut JNIEnv);
pub(crate) type VmInitEvent = unsafe extern "C" fn(*mut JvmtiEnv, *mut JNIEnv, jobject);
pub(crate) type GcEvent = unsafe extern "C" fn(*mut JvmtiEnv);
pub(crate) type AllocEvent = unsafe extern "C" fn(*mut JvmtiEnv, *mut JNIEnv, jobject, jobject, jclass, jlong);

impl EventCallbacks {
    /// The callbacks of the five events that the recorder takes.
    pub(crate) fn new(
        init: VmInitEvent,
        death: VmEvent,
        gc_start: GcEvent,
        gc_finish: GcEvent,
        alloc: AllocEvent,
    ) -> EventCallbacks {
        let mut by_position = [std::ptr::null(); 37];
        by_position[(VM_INIT - FIRST_EVENT) as usize] = init as *const c_void;
        by_position[(VM_DEATH - FIRST_EVENT) as usize] = death as *const c_void;
        by_position[(GC_START - FIRST_EVENT) as usize] = gc_start as *const c_void;
        by_position[(GC_FINISH - FIRST_EVENT) as usize] = gc_finish as *const c_void;
        by_position[(SAMPLED_ALLOC - FIRST_EVENT) as usize] = alloc as *const c_void;
        EventCallbacks { by_position }
    }
}

/// Called for each object of a walk over the heap: class tag, size, place of its tag, length, the caller's data.
pub(crate) type HeapVisit = unsafe extern "C" fn(jlong, jlong, *mut jlong, jint, *mut c_void) -> jint;
/// The result of such a callback that ends the walk.
pub(crate) const VISIT_ABORT: jint = 0x8000;
/// Walks over objects without a tag.
pub(crate) const WITHOUT_TAGGED: jint = 0x4;

/// Callbacks of walks over the heap by position; those that are not taken are null.
#[repr(C)]
pub(crate) struct HeapCallbacks {
    iteration: Option<HeapVisit>,
    others: [*const c_void; 15],
}

impl HeapCallbacks {
    pub(crate) fn iterating(iteration: HeapVisit) -> HeapCallbacks {
        HeapCallbacks { iteration: Some(iteration), others: [std::ptr::null(); 15] }
    }
}

/// Declares functions by position, and lists name and position for the test that compares them with the header.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident @ $position:literal as $call:ident ($($argument:ident : $of:ty),*);)+) => {
        /// Names and positions of the functions that are called.
        pub const FUNCTIONS: &[(&str, usize)] = &[("SetEventNotificationMode", 2), $((stringify!($name), $position)),+];

        impl JvmtiEnv {
            $(
                $(#[$doc])*
                ///
                /// # Safety
                /// The conditions of the JVMTI function: arguments are alive, the phase and the place allow the call.
                pub(crate) unsafe fn $call(&mut self, $($argument: $of),*) -> JvmtiError {
                    type Function = unsafe extern "C" fn(*mut JvmtiEnv $(, $of)*) -> JvmtiError;
                    // SAFETY: the table of every JVMTI since 1.0 has a function of this type at this position
                    // (`tests/header.rs`), and the caller keeps its conditions.
                    unsafe {
                        let function = *self.functions.add($position - 1);
                        std::mem::transmute::<*const c_void, Function>(function)(self $(, $argument)*)
                    }
                }
            )+
        }
    };
}

/// Bytes between samples by default, as in JVMTI.
pub(crate) const DEFAULT_INTERVAL: jint = 512 << 10;

functions! {
    GetThreadInfo @ 9 as thread_info(thread: jobject, info: *mut ThreadInfo);
    Deallocate @ 47 as deallocate(memory: *mut c_void);
    GetClassSignature @ 48 as class_signature(class: jclass, signature: *mut *mut c_char, generic: *mut *mut c_char);
    GetSourceFileName @ 50 as source_file(class: jclass, name: *mut *mut c_char);
    GetClassLoader @ 57 as class_loader(class: jclass, loader: *mut jobject);
    GetObjectHashCode @ 58 as hash_code(object: jobject, hash: *mut jint);
    GetMethodName @ 64 as method_name(
        method: jmethodID, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char
    );
    GetMethodDeclaringClass @ 65 as declaring_class(method: jmethodID, class: *mut jclass);
    GetLineNumberTable @ 70 as line_table(method: jmethodID, count: *mut jint, entries: *mut *mut LineEntry);
    GetStackTrace @ 104 as stack_trace(
        thread: jobject, start: jint, most: jint, frames: *mut FrameInfo, count: *mut jint
    );
    SetTag @ 107 as set_tag(object: jobject, tag: jlong);
    ForceGarbageCollection @ 108 as collect();
    GetObjectsWithTags @ 114 as objects_with_tags(
        tag_count: jint, tags: *const jlong, count: *mut jint, objects: *mut *mut jobject, of: *mut *mut jlong
    );
    IterateThroughHeap @ 116 as iterate_through_heap(
        filter: jint, class: jclass, callbacks: *const HeapCallbacks, data: *mut c_void
    );
    SetEventCallbacks @ 122 as set_callbacks(callbacks: *const EventCallbacks, size: jint);
    DisposeEnvironment @ 127 as dispose();
    GetSystemProperty @ 131 as system_property(name: *const c_char, value: *mut *mut c_char);
    AddCapabilities @ 142 as add_capabilities(wanted: *const Capabilities);
    RelinquishCapabilities @ 143 as relinquish_capabilities(held: *const Capabilities);
    SetHeapSamplingInterval @ 156 as set_interval(bytes: jint);
}

impl JvmtiEnv {
    /// Switches an event on or off, for all threads.
    ///
    /// # Safety
    /// The environment is alive.
    pub(crate) unsafe fn set_event(&mut self, on: bool, event: jint) -> JvmtiError {
        type Function = unsafe extern "C" fn(*mut JvmtiEnv, jint, jint, jobject, ...) -> JvmtiError;
        // SAFETY: as for the other functions; position 2.
        unsafe {
            let function = *self.functions.add(1);
            let function = std::mem::transmute::<*const c_void, Function>(function);
            function(self, jint::from(on), event, std::ptr::null_mut())
        }
    }

    /// Takes a text that JVMTI has allocated, and frees it there. Empty where there is none.
    ///
    /// # Safety
    /// `text` is null, or was allocated by JVMTI and is not used afterwards.
    pub(crate) unsafe fn take_text(&mut self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: JVMTI's texts end with 0.
        let taken = memory_city_wire::modified_utf8(unsafe { CStr::from_ptr(text) }.to_bytes()).into_owned();
        // SAFETY: see above.
        unsafe { self.deallocate(text.cast()) };
        taken
    }
}

/// The environment of a VM, once it is ready: a VM may accept commands before it can give one. An error names the obstacle.
///
/// # Safety
/// `vm` is a VM that runs, and this is no thread that it waits for to become ready.
pub(crate) unsafe fn environment_soon(vm: *mut JavaVM, most: Duration) -> Result<*mut JvmtiEnv, &'static str> {
    let begun = Instant::now();
    loop {
        // SAFETY: the caller's.
        match unsafe { environment(vm) } {
            Err(jni_sys::JNI_EDETACHED) if begun.elapsed() < most => std::thread::sleep(Duration::from_millis(20)),
            Err(jni_sys::JNI_EDETACHED) => return Err("the program has not begun yet: attach again later"),
            Err(_) => return Err("this Java has no sampled allocations: Java 11 and newer have"),
            Ok(env) => return Ok(env),
        }
    }
}

/// The environment of a VM, or the number of the error: `JNI_EDETACHED` if it is not ready, `JNI_EVERSION` if it has no JVMTI 11.
///
/// # Safety
/// `vm` is a VM that runs.
pub(crate) unsafe fn environment(vm: *mut JavaVM) -> Result<*mut JvmtiEnv, i32> {
    let mut env: *mut c_void = std::ptr::null_mut();
    // SAFETY: `vm` is alive, and GetEnv is part of every VM's table since 1.2.
    let result = unsafe { ((**vm).v1_2.GetEnv)(vm, &raw mut env, VERSION) };
    match result {
        jni_sys::JNI_OK if !env.is_null() => Ok(env.cast()),
        jni_sys::JNI_OK => Err(jni_sys::JNI_ERR),
        error => Err(error),
    }
}
