//! GC roots: what keeps objects alive from outside the heap.

use crate::ObjectId;

/// The kinds of GC roots (spec: heap analysis, "GC roots").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the field's terms
pub enum RootKind {
    ClassLoader = 1,
    StaticField = 2,
    Thread = 3,
    LocalVariable = 4,
    CodeBlob = 5,
    Jni = 6,
    Jvmti = 7,
    Monitor = 8,
    Management = 9,
    Other = 10,
}

impl RootKind {
    /// The kind for people.
    pub fn title(self) -> &'static str {
        match self {
            RootKind::ClassLoader => "Class loader",
            RootKind::StaticField => "Static field",
            RootKind::Thread => "Thread",
            RootKind::LocalVariable => "Local variable",
            RootKind::CodeBlob => "Compiled code",
            RootKind::Jni => "JNI",
            RootKind::Jvmti => "JVMTI",
            RootKind::Monitor => "Monitor",
            RootKind::Management => "Management",
            RootKind::Other => "Other root",
        }
    }
}

/// A GC root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The object it keeps alive.
    pub object: ObjectId,
    /// Its kind.
    pub kind: RootKind,
    /// Extra information for people: `thread "main", com.acme.Main.run() line 12`, `com.acme.Cache.entries`.
    pub detail: String,
}

impl Root {
    /// Kind and detail, for people.
    pub fn text(&self) -> String {
        format!("{}: {}", self.kind.title(), self.detail)
    }
}
