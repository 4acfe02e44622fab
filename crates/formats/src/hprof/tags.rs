//! Tags of HPROF records, under the names of the format (those above 0x88 are Android's).

/// Records at the top level of a dump.
pub(super) mod top {
    pub const STRING: u8 = 0x01;
    pub const LOAD_CLASS: u8 = 0x02;
    pub const STACK_FRAME: u8 = 0x04;
    pub const STACK_TRACE: u8 = 0x05;
    pub const HEAP_SUMMARY: u8 = 0x07;
    pub const START_THREAD: u8 = 0x0a;
    pub const END_THREAD: u8 = 0x0b;
    pub const HEAP_DUMP: u8 = 0x0c;
    pub const CPU_SAMPLES: u8 = 0x0d;
    pub const CONTROL_SETTINGS: u8 = 0x0e;
    pub const HEAP_DUMP_SEGMENT: u8 = 0x1c;
    pub const HEAP_DUMP_END: u8 = 0x2c;
}

/// Records of objects inside a heap dump or segment.
pub(super) mod heap {
    pub const CLASS: u8 = 0x20;
    pub const INSTANCE: u8 = 0x21;
    pub const OBJECT_ARRAY: u8 = 0x22;
    pub const PRIMITIVE_ARRAY: u8 = 0x23;
    /// An array without its elements.
    pub const PRIMITIVE_ARRAY_NO_DATA: u8 = 0xc3;
    /// Names the Android heap of the records that follow.
    pub const HEAP_INFO: u8 = 0xfe;
}

/// Records of GC roots inside a heap dump or segment.
pub(super) mod root {
    pub const JNI_GLOBAL: u8 = 0x01;
    pub const JNI_LOCAL: u8 = 0x02;
    pub const JAVA_FRAME: u8 = 0x03;
    pub const NATIVE_STACK: u8 = 0x04;
    /// A class of the bootstrap loader, which is never unloaded.
    pub const STICKY_CLASS: u8 = 0x05;
    pub const THREAD_BLOCK: u8 = 0x06;
    pub const MONITOR_USED: u8 = 0x07;
    pub const THREAD_OBJECT: u8 = 0x08;
    pub const INTERNED_STRING: u8 = 0x89;
    pub const FINALIZING: u8 = 0x8a;
    pub const DEBUGGER: u8 = 0x8b;
    pub const REFERENCE_CLEANUP: u8 = 0x8c;
    pub const VM_INTERNAL: u8 = 0x8d;
    pub const JNI_MONITOR: u8 = 0x8e;
    /// Garbage that Android lists: no root.
    pub const UNREACHABLE: u8 = 0x90;
    pub const UNKNOWN: u8 = 0xff;
}
