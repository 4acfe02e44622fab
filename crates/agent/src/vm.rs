//! Calls into the VM by JNI, and addresses of the VM that pass between threads. The only other unsafe code is in the callbacks.

use crate::jvmti::JvmtiEnv;
use jni_sys::{JNIEnv, JavaVM, jclass, jmethodID, jobject, jvalue};
use std::ffi::{CStr, CString, c_void};

/// The VM and its tools for this recording: pointers that stay good until the VM ends.
#[derive(Clone, Copy)]
pub(crate) struct Vm {
    pub(crate) jvmti: *mut JvmtiEnv,
    pub(crate) java: *mut JavaVM,
}

// SAFETY: both point to tables of the VM, which allows calls from any thread that is attached; neither is freed before the
// VM ends (the environment is disposed of when no event can come any more, by the last who uses it).
unsafe impl Send for Vm {}
// SAFETY: as above: the VM does its own locking.
unsafe impl Sync for Vm {}

impl Vm {
    /// This thread as one of the VM's, for as long as it lives. A daemon: the program ends without it.
    pub(crate) fn attach(self, name: &str) -> Option<AttachedThread> {
        let name = CString::new(name).ok()?;
        let mut arguments = jni_sys::JavaVMAttachArgs {
            version: jni_sys::JNI_VERSION_1_6,
            name: name.as_ptr().cast_mut(),
            group: std::ptr::null_mut(),
        };
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: the VM runs; the arguments live for the call.
        let result = unsafe {
            ((**self.java).v1_4.AttachCurrentThreadAsDaemon)(self.java, &raw mut env, (&raw mut arguments).cast())
        };
        (result == jni_sys::JNI_OK && !env.is_null()).then(|| AttachedThread { vm: self, jni: Jni(env.cast()) })
    }
}

/// A thread of ours that is attached to the VM.
pub(crate) struct AttachedThread {
    vm: Vm,
    pub(crate) jni: Jni,
}

impl Drop for AttachedThread {
    fn drop(&mut self) {
        // SAFETY: this thread was attached by `Vm::attach`; `Jni` is no `Send`, so it is this one.
        unsafe { ((**self.vm.java).v1_2.DetachCurrentThread)(self.vm.java) };
    }
}

/// The calls of one thread. Pointers to objects are handles as JNI gives them.
#[derive(Clone, Copy)]
pub(crate) struct Jni(pub(crate) *mut JNIEnv);

/// A weak reference of the VM, as a number.
pub(crate) type Weak = usize;

impl Jni {
    /// A weak reference to an object; `None` where the VM has no room for it.
    ///
    /// # Safety
    /// `object` is a handle that this thread may use.
    pub(crate) unsafe fn weak(self, object: jobject) -> Option<Weak> {
        // SAFETY: the environment is that of this thread.
        let weak = unsafe { ((**self.0).v1_2.NewWeakGlobalRef)(self.0, object) };
        if weak.is_null() {
            // Where it has no memory for one it throws. Nothing was pending before: the program has just allocated.
            self.threw();
        }
        (!weak.is_null()).then_some(weak as Weak)
    }

    /// Whether the object of a weak reference is gone.
    ///
    /// # Safety
    /// `weak` was made by [`Jni::weak`] and is not forgotten yet.
    pub(crate) unsafe fn is_dead(self, weak: Weak) -> bool {
        // SAFETY: see above. Comparing with null does not bring the object back to life.
        unsafe { ((**self.0).v1_1.IsSameObject)(self.0, weak as jobject, std::ptr::null_mut()) }
    }

    /// # Safety
    /// As [`Jni::is_dead`]; also frees the weak reference.
    pub(crate) unsafe fn forget(self, weak: Weak) {
        // SAFETY: see above.
        unsafe { ((**self.0).v1_2.DeleteWeakGlobalRef)(self.0, weak as jobject) }
    }

    /// A reference that keeps the object; `None` where it is dead.
    ///
    /// # Safety
    /// As [`Jni::is_dead`].
    pub(crate) unsafe fn keep(self, weak: Weak) -> Option<jobject> {
        // SAFETY: see above.
        let global = unsafe { ((**self.0).v1_1.NewGlobalRef)(self.0, weak as jobject) };
        (!global.is_null()).then_some(global)
    }

    /// # Safety
    /// `global` was made by [`Jni::keep`] and is not released yet.
    pub(crate) unsafe fn release(self, global: jobject) {
        // SAFETY: see above.
        unsafe { ((**self.0).v1_1.DeleteGlobalRef)(self.0, global) }
    }

    /// # Safety
    /// `local` is a local reference of this thread.
    pub(crate) unsafe fn drop_local(self, local: jobject) {
        // SAFETY: see above.
        unsafe { ((**self.0).v1_1.DeleteLocalRef)(self.0, local) }
    }

    /// The class of this name, as the VM writes it with slashes; a local reference. `None` where there is none.
    ///
    /// # Safety
    /// This thread is one of ours, and attached.
    pub(crate) unsafe fn class(self, name: &CStr) -> Option<jobject> {
        // SAFETY: the environment is that of this thread.
        let class = unsafe { ((**self.0).v1_1.FindClass)(self.0, name.as_ptr()) };
        (!self.threw() && !class.is_null()).then_some(class)
    }

    /// Whether an object is one of a class.
    ///
    /// # Safety
    /// Both are references that this thread may use.
    pub(crate) unsafe fn is_instance(self, object: jobject, class: jobject) -> bool {
        // SAFETY: see above.
        unsafe { ((**self.0).v1_1.IsInstanceOf)(self.0, object, class) }
    }

    /// The class of an object; a local reference.
    ///
    /// # Safety
    /// `object` is a reference that this thread may use.
    pub(crate) unsafe fn class_of(self, object: jobject) -> jclass {
        // SAFETY: see above.
        unsafe { ((**self.0).v1_1.GetObjectClass)(self.0, object) }
    }

    /// How many elements an array has.
    ///
    /// # Safety
    /// `array` is an array, and a reference that this thread may use.
    pub(crate) unsafe fn array_length(self, array: jobject) -> i32 {
        // SAFETY: see above.
        unsafe { ((**self.0).v1_1.GetArrayLength)(self.0, array) }
    }

    /// Whether a thread is virtual. VMs before 21 have none, or only for trial.
    ///
    /// # Safety
    /// `thread` is a handle that this thread may use.
    pub(crate) unsafe fn is_virtual(self, thread: jobject) -> bool {
        // SAFETY: the environment is that of this thread; from version 21 on its table has this function.
        unsafe {
            ((**self.0).v1_1.GetVersion)(self.0) >= jni_sys::JNI_VERSION_21
                && ((**self.0).v24.IsVirtualThread)(self.0, thread)
        }
    }

    /// Begins a frame of local references, if there is room.
    ///
    /// # Safety
    /// This thread is one of ours, and attached.
    pub(crate) unsafe fn push_frame(self) -> bool {
        // SAFETY: the environment is that of this thread.
        let made = unsafe { ((**self.0).v1_2.PushLocalFrame)(self.0, 16) } == jni_sys::JNI_OK;
        if !made {
            self.threw();
        }
        made
    }

    /// Declares the present number of local references to the VM: a list of objects creates one for each. With `-Xcheck:jni` the VM
    /// otherwise warns about more than a frame began with.
    ///
    /// # Safety
    /// This thread is one of ours, and attached.
    pub(crate) unsafe fn meant_so_many(self) {
        // It counts from those that there are, if it is asked for more than the frame began with.
        // SAFETY: the environment is that of this thread.
        if unsafe { ((**self.0).v1_2.EnsureLocalCapacity)(self.0, 1024) } != jni_sys::JNI_OK {
            self.threw();
        }
    }

    /// Ends the frame: its local references are gone.
    ///
    /// # Safety
    /// [`Jni::push_frame`] has begun it on this thread.
    pub(crate) unsafe fn pop_frame(self) {
        // SAFETY: the environment is that of this thread.
        unsafe { ((**self.0).v1_2.PopLocalFrame)(self.0, std::ptr::null_mut()) };
    }

    /// True if a Java exception was pending, and clears it. Call it only where the exception can only be ours: the program's exceptions
    /// must stay.
    fn threw(self) -> bool {
        // SAFETY: the environment is that of this thread.
        unsafe {
            let threw = ((**self.0).v1_2.ExceptionCheck)(self.0);
            if threw {
                ((**self.0).v1_1.ExceptionClear)(self.0);
            }
            threw
        }
    }

    /// Has the VM write a dump of all objects, as `HotSpotDiagnosticMXBean.dumpHeap` does. Stops the program for 0.05 to
    /// 0.12 s for a million objects where nothing else runs. For threads of ours.
    ///
    /// # Errors
    /// The error is the missing function, or a failure to write.
    pub(crate) fn dump_heap(self, file: &str) -> Result<(), &'static str> {
        let file = CString::new(file).map_err(|_| "the path has a zero byte")?;
        // SAFETY: calls of JNI by its rules, on an attached thread of ours, with handles of this very frame, which
        // PopLocalFrame frees. Names and signatures are those of the classes, or the VM says so and nothing is called.
        unsafe {
            if !self.push_frame() {
                return Err("the VM has no room for handles");
            }
            let result = self.dump_in_frame(&file);
            self.pop_frame();
            result
        }
    }

    /// Has the VM load and look up the classes for dumps, so that [`Jni::dump_heap`] is quick. For the recorder's threads.
    ///
    /// # Errors
    /// The error is the missing function.
    pub(crate) fn prepare_dump(self) -> Result<(), &'static str> {
        // SAFETY: as in `dump_heap`.
        unsafe {
            if !self.push_frame() {
                return Err("the VM has no room for handles");
            }
            let result = self.dump_methods();
            self.pop_frame();
            result.map(drop)
        }
    }

    /// The class that can write dumps, its constructor, and the method.
    ///
    /// # Safety
    /// Within a local frame, on an attached thread of ours.
    unsafe fn dump_methods(self) -> Result<(jclass, jmethodID, jmethodID), &'static str> {
        // SAFETY: see `dump_heap`.
        unsafe {
            let jni = &(**self.0).v1_2;
            // Looking the first one up initializes it, and that loads the library with the native method of the second.
            let provider = (jni.FindClass)(self.0, c"com/sun/management/internal/PlatformMBeanProviderImpl".as_ptr());
            if self.threw() || provider.is_null() {
                return Err("this Java has no module jdk.management");
            }
            let class = (jni.FindClass)(self.0, c"com/sun/management/internal/HotSpotDiagnostic".as_ptr());
            if self.threw() || class.is_null() {
                return Err("this Java has no HotSpotDiagnostic");
            }
            let make = (jni.GetMethodID)(self.0, class, c"<init>".as_ptr(), c"()V".as_ptr());
            let dump = (jni.GetMethodID)(self.0, class, c"dumpHeap0".as_ptr(), c"(Ljava/lang/String;Z)V".as_ptr());
            if self.threw() || make.is_null() || dump.is_null() {
                return Err("this Java's HotSpotDiagnostic has no dumpHeap0(String, boolean)");
            }
            Ok((class, make, dump))
        }
    }

    /// # Safety
    /// Within a local frame, on an attached thread of ours.
    unsafe fn dump_in_frame(self, file: &CString) -> Result<(), &'static str> {
        // SAFETY: see `dump_heap`.
        unsafe {
            let jni = &(**self.0).v1_2;
            let (class, make, dump) = self.dump_methods()?;
            let bean = (jni.NewObjectA)(self.0, class, make, std::ptr::null());
            let path = (jni.NewStringUTF)(self.0, file.as_ptr());
            if self.threw() || bean.is_null() || path.is_null() {
                return Err("the program's heap has no room to ask for a dump");
            }
            let arguments = [jvalue { l: path }, jvalue { z: false }];
            (jni.CallVoidMethodA)(self.0, bean, dump, arguments.as_ptr());
            if self.threw() { Err("the VM could not write the dump") } else { Ok(()) }
        }
    }

    /// The output of a diagnostic command of the VM, one of those of `jcmd`. The text passes through the program's heap. For the recorder's
    /// threads.
    ///
    /// # Errors
    /// The error is the missing function, or a failure.
    pub(crate) fn diagnose(self, command: &CStr) -> Result<String, &'static str> {
        // SAFETY: as in `dump_heap`.
        unsafe {
            if !self.push_frame() {
                return Err("the VM has no room for handles");
            }
            let result = self.diagnose_in_frame(command);
            self.pop_frame();
            result
        }
    }

    /// # Safety
    /// Within a local frame, on an attached thread of ours.
    unsafe fn diagnose_in_frame(self, command: &CStr) -> Result<String, &'static str> {
        // SAFETY: see `diagnose`. The native method uses no field of its object, which therefore needs no constructor. The text is
        // given back to the VM after it was copied.
        unsafe {
            let jni = &(**self.0).v1_2;
            // As for dumps: its library has the native method.
            let provider = (jni.FindClass)(self.0, c"com/sun/management/internal/PlatformMBeanProviderImpl".as_ptr());
            if self.threw() || provider.is_null() {
                return Err("this Java has no module jdk.management");
            }
            let class = (jni.FindClass)(self.0, c"com/sun/management/internal/DiagnosticCommandImpl".as_ptr());
            if self.threw() || class.is_null() {
                return Err("this Java has no DiagnosticCommandImpl");
            }
            let run = c"executeDiagnosticCommand";
            let run =
                (jni.GetMethodID)(self.0, class, run.as_ptr(), c"(Ljava/lang/String;)Ljava/lang/String;".as_ptr());
            if self.threw() || run.is_null() {
                return Err("this Java's DiagnosticCommandImpl has no executeDiagnosticCommand(String)");
            }
            let bean = (jni.AllocObject)(self.0, class);
            let command = (jni.NewStringUTF)(self.0, command.as_ptr());
            if self.threw() || bean.is_null() || command.is_null() {
                return Err("the program's heap has no room to ask the VM");
            }
            let text = (jni.CallObjectMethodA)(self.0, bean, run, [jvalue { l: command }].as_ptr());
            if self.threw() || text.is_null() {
                return Err("the VM could not do what it was asked");
            }
            let chars = (jni.GetStringUTFChars)(self.0, text, std::ptr::null_mut());
            if self.threw() || chars.is_null() {
                return Err("there is no memory for the VM's answer");
            }
            let answer = CStr::from_ptr(chars).to_string_lossy().into_owned();
            (jni.ReleaseStringUTFChars)(self.0, text, chars);
            Ok(answer)
        }
    }

    /// Free bytes of the program's heap, including the room to grow; `None` if the VM does not say. For the recorder's threads.
    pub(crate) fn free_heap(self) -> Option<u64> {
        self.heap().map(|(_, free)| free)
    }

    /// Bytes that are in use on the heap now, and that are free or could be taken.
    pub(crate) fn heap(self) -> Option<(u64, u64)> {
        // SAFETY: calls of JNI by its rules, on an attached thread of ours, with handles of this very frame; methods and signatures are
        // those of every Java, or the VM says so and nothing is called.
        unsafe {
            if !self.push_frame() {
                return None;
            }
            let heap = self.heap_in_frame();
            self.pop_frame();
            heap
        }
    }

    /// # Safety
    /// Within a local frame, on an attached thread of ours.
    unsafe fn heap_in_frame(self) -> Option<(u64, u64)> {
        // SAFETY: see `heap`.
        unsafe {
            let jni = &(**self.0).v1_2;
            let class = self.class(c"java/lang/Runtime")?;
            let get = c"getRuntime".as_ptr();
            let get = (jni.GetStaticMethodID)(self.0, class, get, c"()Ljava/lang/Runtime;".as_ptr());
            if self.threw() || get.is_null() {
                return None;
            }
            let runtime = (jni.CallStaticObjectMethodA)(self.0, class, get, std::ptr::null());
            if self.threw() || runtime.is_null() {
                return None;
            }
            let bytes = |name: &CStr| {
                let method = (jni.GetMethodID)(self.0, class, name.as_ptr(), c"()J".as_ptr());
                if self.threw() || method.is_null() {
                    return None;
                }
                let bytes = (jni.CallLongMethodA)(self.0, runtime, method, std::ptr::null());
                if self.threw() { None } else { u64::try_from(bytes).ok() }
            };
            let (most, taken, free) = (bytes(c"maxMemory")?, bytes(c"totalMemory")?, bytes(c"freeMemory")?);
            Some((taken.saturating_sub(free), most.saturating_sub(taken).saturating_add(free)))
        }
    }
}
