//! Classes of the JVM with a role of their own.

use memory_city_heap::{Buffers, FieldName, Finalizers, KnownTypes, TextType, ThreadLocals};

const fn field(class: &'static str, name: &'static str) -> FieldName {
    FieldName { class, name }
}

pub(super) const TYPES: KnownTypes = KnownTypes {
    text: Some(TextType { name: "java.lang.String", value: "value", coder: "coder", offset: "offset" }),
    with_own_array: &["java.lang.String", "java.lang.StringBuilder", "java.lang.StringBuffer", "java.math.BigInteger"],
    atomic_arrays: &["java.util.concurrent.atomic.AtomicReferenceArray"],
    empty: &["java.lang.Object"],
    mirror: Some("java.lang.Class"),
    boxes: &[
        "java.lang.Boolean",
        "java.lang.Byte",
        "java.lang.Character",
        "java.lang.Short",
        "java.lang.Integer",
        "java.lang.Long",
        "java.lang.Float",
        "java.lang.Double",
    ],
    boxed: "value",
    weak: &["java.lang.ref.WeakReference", "java.lang.ref.PhantomReference", "java.lang.ref.FinalReference"],
    references: &["java.lang.ref."],
    cleaners: &["jdk.internal.ref."],
    out_of_memory: &["java.lang.OutOfMemoryError.<init>"],
    overcounted: &[("int[]", "Before JDK 19 what a VM fills gaps of the heap with counts as int[] too")],
    thread_locals: Some(ThreadLocals { entry: "java.lang.ThreadLocal$ThreadLocalMap$Entry", plain: "java.lang." }),
    // JDKs: next, referent. Android: queueNext, and zombie for what waits.
    finalizers: Some(Finalizers {
        types: &["java.lang.ref.Finalizer", "java.lang.ref.FinalizerReference"],
        classes: &["java.lang.ref.Reference", "java.lang.ref.FinalizerReference"],
        referent: &["referent", "zombie"],
        next: &["next", "queueNext"],
        queue: "queue",
        head: "head",
    }),
    buffers: Some(Buffers {
        types: &["java.nio.DirectByteBuffer", "java.nio.DirectByteBufferR"],
        capacity: field("java.nio.Buffer", "capacity"),
        of_another: field("java.nio.DirectByteBuffer", "att"),
        file: field("java.nio.MappedByteBuffer", "fd"),
        // The VM maps its own classes: every program has that, and can change nothing about it.
        of_runtime: &["jdk.internal.jimage."],
        total_in: "java.nio.Bits",
        totals: &["TOTAL_CAPACITY", "totalCapacity"],
        counted: "value",
    }),
};
