//! The callbacks of the VM. No panic leaves a callback, and loading succeeds even if the recorder cannot work: the program comes first.

use crate::collections::COLLECTIONS;
use crate::folder::{AgentStatus, RecorderLock, claimed_by, is_musl};
use crate::jvmti::JvmtiEnv;
use crate::log::log;
use crate::options::AgentOptions;
use crate::recording::{begin, current, end_and_wait, give_up, with_current};
use crate::sampling::DrawnObject;
use crate::vm::Jni;
use crate::{fault, sampling, worker};
use jni_sys::{JNIEnv, JavaVM, jclass, jint, jlong, jobject};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longest wait at the end of the program for the last writes. Container runtimes ask a program to end and kill it ten seconds later. By
/// then it must have ended by itself; otherwise its exit code changes and its last output is missing.
pub(crate) const AT_THE_END: Duration = Duration::from_secs(8);
/// The same if the VM unloads the library without an event for the end of the program.
const AT_UNLOADING: Duration = Duration::from_secs(2);
/// Longest wait of the attaching process when it leaves a program. The program goes on meanwhile, and nothing kills it.
pub(crate) const AT_LEAVING: Duration = Duration::from_secs(20);

/// Why a recording ends when the program does.
pub const PROGRAM_ENDED: &str = "the program ended";

/// Number of calls from the VM, for any event.
static TOLD: AtomicU64 = AtomicU64::new(0);

/// How often the VM has called, in all recordings.
pub(crate) fn told() -> u64 {
    TOLD.load(Ordering::Relaxed)
}

/// The end of the wait at the program's end, counted from the first event for it.
static UNTIL: OnceLock<Instant> = OnceLock::new();

/// Waits at the end of the program until all is written, or until `most` has passed since the first such wait.
fn wait_at_end(most: Duration) {
    let until = UNTIL.get_or_init(|| Instant::now() + most);
    end_and_wait(PROGRAM_ENDED, until.saturating_duration_since(Instant::now()));
}

/// Runs the work of a callback. A panic ends the recording, not the program.
fn guarded<T>(what: &str, work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    if result.is_err() {
        let _ = catch_unwind(|| give_up(&format!("a fault of the recorder in {what}")));
    }
    result.ok()
}

/// The options as the VM hands them over.
///
/// # Safety
/// `options` is null or a text that ends with 0.
unsafe fn options(options: *const c_char) -> Result<AgentOptions, String> {
    if options.is_null() {
        return Ok(AgentOptions::default());
    }
    // SAFETY: see above.
    AgentOptions::parse(&unsafe { CStr::from_ptr(options) }.to_string_lossy())
}

/// Called when the library is loaded with the program (`-agentpath`, `JAVA_TOOL_OPTIONS`). The program starts in any case.
#[unsafe(no_mangle)]
extern "C" fn Agent_OnLoad(vm: *mut JavaVM, text: *mut c_char, _reserved: *mut c_void) -> jint {
    guarded("loading", || {
        quiet_panics();
        fault::point("load");
        // SAFETY: the VM gives a text or null.
        let options = runs_on_glibc().and_then(|()| unsafe { options(text) });
        let begun = options.and_then(|options| {
            let folder = options.folder.clone();
            let begun = begin(vm, options, false);
            // Where another program is recorded into the folder, what stands there is about that one.
            let is_free = claimed_by(&folder).is_none_or(|pid| pid == std::process::id());
            begun.inspect_err(|why| _ = is_free && tell_who_waits(&folder, why))
        });
        if let Err(why) = begun {
            log(&format!("this program is not recorded: {why}"));
        }
    });
    0
}

/// Called when the library is loaded into a running program. The attaching process learns of a failure by the number, and of its reason in
/// the folder where it waits. Without one, the program prints a line.
#[unsafe(no_mangle)]
extern "C" fn Agent_OnAttach(vm: *mut JavaVM, text: *mut c_char, _reserved: *mut c_void) -> jint {
    let result = guarded("attaching", || {
        quiet_panics();
        fault::point("attach");
        // SAFETY: the VM gives a text or null.
        let options = runs_on_glibc().and_then(|()| unsafe { options(text) }).map_err(|why| (why, None))?;
        if options.stop {
            end_and_wait(crate::folder::ENDED_FROM_OUTSIDE, AT_LEAVING);
            return Ok(());
        }
        let folder = options.folder.clone();
        begin(vm, options, true).map(drop).map_err(|why| (why, Some(folder)))
    });
    match result {
        Some(Ok(())) => 0,
        Some(Err((why, folder))) => {
            if !folder.is_some_and(|folder| tell_who_waits(&folder, &why)) {
                log(&format!("this program is not recorded: {why}"));
            }
            1
        }
        None => 2,
    }
}

/// Says in the folder of a recording process that waits there why nothing is recorded. Whether it could.
fn tell_who_waits(folder: &Path, why: &str) -> bool {
    let status = AgentStatus { pid: std::process::id(), ended: why.to_owned(), ..AgentStatus::default() };
    RecorderLock::is_held(folder) && status.write(folder).is_ok()
}

/// Called when the program has ended and the VM is about to go.
#[unsafe(no_mangle)]
extern "C" fn Agent_OnUnload(_vm: *mut JavaVM) {
    guarded("unloading", || {
        fault::point("unload");
        wait_at_end(AT_UNLOADING);
    });
}

/// Refuses to begin on musl. With libraries that stand in for the missing functions, this one can be loaded there.
fn runs_on_glibc() -> Result<(), String> {
    match is_musl(&std::fs::read_to_string("/proc/self/maps").unwrap_or_default()) {
        true => {
            Err("it runs on musl (Alpine Linux), and the recorder needs glibc; `memory-city watch` loads nothing"
                .into())
        }
        false => Ok(()),
    }
}

/// Replaces the standard library's panic message: [`give_up`] writes one line.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|_| ()));
}

pub(crate) unsafe extern "C" fn vm_init(_jvmti: *mut JvmtiEnv, _jni: *mut JNIEnv, _thread: jobject) {
    TOLD.fetch_add(1, Ordering::Relaxed);
    guarded("the start of the program", || {
        fault::point("start");
        let Some(recording) = current() else { return };
        recording.miss_nothing();
        if let Err(why) = worker::start(&recording) {
            give_up(&why);
            recording.abandon();
        }
    });
}

pub(crate) unsafe extern "C" fn vm_death(_jvmti: *mut JvmtiEnv, _jni: *mut JNIEnv) {
    TOLD.fetch_add(1, Ordering::Relaxed);
    guarded("the end of the program", || {
        fault::point("end");
        wait_at_end(AT_THE_END);
    });
}

/// As [`guarded`], for callbacks that may not print, lock or call anything: the recorder's thread finds the fault and reports it.
fn guarded_in_collection(work: impl FnOnce()) {
    TOLD.fetch_add(1, Ordering::Relaxed);
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        COLLECTIONS.failed();
    }
}

pub(crate) unsafe extern "C" fn gc_start(_jvmti: *mut JvmtiEnv) {
    guarded_in_collection(|| {
        fault::point("collection-start");
        COLLECTIONS.start();
    });
}

pub(crate) unsafe extern "C" fn gc_finish(_jvmti: *mut JvmtiEnv) {
    guarded_in_collection(|| {
        fault::point("collection-end");
        COLLECTIONS.finish();
    });
}

pub(crate) unsafe extern "C" fn sampled_alloc(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    class: jclass,
    size: jlong,
) {
    TOLD.fetch_add(1, Ordering::Relaxed);
    guarded("a sample", || {
        // Samples within the work of a sample, or of the recorder's thread, would wait for themselves.
        if sampling::is_ours() {
            return;
        }
        with_current(|recording| {
            fault::point("sample");
            let drawn = DrawnObject { thread, object, class, size: size.max(0) as u64 };
            // SAFETY: these are the arguments of the event, in its callback.
            unsafe { sampling::sampled(recording, &mut *jvmti, Jni(jni), drawn) }
        });
    });
}
