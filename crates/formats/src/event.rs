//! The one event model of all trace formats, between decoders and the reconstructor.
//!
//! A trace is a sequence of allocations, moves, deaths, references, roots, and garbage collections. A [`Decoder`] knows a format and turns
//! bytes into calls of an [`EventSink`]. It asks back only for facts that the format leaves out (the size of a moved object). The sink
//! decides what to do with events: the reconstructor ([`super::replay`]) keeps the heap, a test keeps a plain list. Nothing here knows a
//! file format.
//!
//! Programs differ in their events. A [`Program`] describes them: whether its heap has spaces, and how its objects are aligned. An
//! [`ObjectKey`] names an object: its current address, or an id that never changes. An object dies when it is reported as freed, or when it
//! is missing from a collection of its space, from a full collection, or from a full walk, which is reported as one.
//!
//! Calls are resolved at compile time: a trace has hundreds of millions of events.

use super::spaces::{Space, Spaces};
pub use memory_city_heap::BIG_ARRAY;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::{AllocationSite, Allocator, HeapType, Profile, RootKind, ThreadId};
use std::sync::Arc;

/// Size of the objects of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The size of all objects of the type.
    Instance(u32),
    /// Arrays.
    Array {
        /// Bytes of the header.
        base: u32,
        /// Bytes of an element.
        element: u32,
    },
    /// Class mirrors: each has bytes of its own, which stand in for its length.
    Mirror,
}

impl Shape {
    /// Shallow bytes of an object of some length, where objects are aligned to `alignment` bytes (a power of two).
    pub fn size(self, length: u32, alignment: u32) -> u64 {
        self.packed().size(u64::from(alignment) - 1, || length)
    }

    /// The same in a word.
    #[inline]
    pub(crate) fn packed(self) -> PackedShape {
        PackedShape(match self {
            Shape::Instance(bytes) => bytes.min(ARRAY - 1),
            Shape::Array { base, element } => ARRAY | base.min(MOST_BASE) << 8 | element.min(0xff),
            Shape::Mirror => ARRAY | 1,
        })
    }
}

/// A [`Shape`] in a word: bytes, or [`ARRAY`] with the bytes of the header and of an element. A mirror is an array of
/// bytes without a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedShape(u32);

/// Set in the shape of arrays. Instances are smaller than 2 GB.
const ARRAY: u32 = 1 << 31;
/// The largest header of an array.
pub(crate) const MOST_BASE: u32 = (1 << 23) - 1;

impl PackedShape {
    /// Shallow bytes of an object, whose length is asked for only where it matters. Sizes of arrays are rounded up to
    /// multiples of `mask` + 1.
    #[inline]
    pub(crate) fn size(self, mask: u64, length: impl FnOnce() -> u32) -> u64 {
        if self.0 & ARRAY == 0 {
            return u64::from(self.0);
        }
        let (base, element) = (self.0 >> 8 & MOST_BASE, self.0 & 0xff);
        (u64::from(base) + u64::from(element) * u64::from(length()) + mask) & !mask
    }
}

/// The traced program, known before its events. Indices are those of [`ObjectInfo`].
#[derive(Clone, Debug)]
pub struct Program {
    /// What its runtime calls things.
    pub profile: &'static Profile,
    /// The types.
    pub types: Vec<HeapType>,
    /// How large their objects are, by type.
    pub shapes: Vec<Shape>,
    /// The allocation sites.
    pub sites: Arc<Vec<AllocationSite>>,
    /// Names of GC causes.
    pub causes: Vec<Arc<str>>,
    /// Objects start at multiples of so many bytes, and arrays end there: a power of two, 1 if unknown.
    pub alignment: u32,
    /// Whether the trace describes the heap's spaces. Then an address outside all of them is a mistake, and minor collections free
    /// unreported objects in the spaces they collect. Without spaces, minor collections free nothing by themselves.
    pub has_spaces: bool,
}

impl Default for Program {
    /// No types, sites or causes; a heap laid out as that of HotSpot, of no known runtime.
    fn default() -> Self {
        Program {
            profile: Default::default(),
            types: Vec::new(),
            shapes: Vec::new(),
            sites: Arc::default(),
            causes: Vec::new(),
            alignment: 8,
            has_spaces: true,
        }
    }
}

/// The name of an object in a trace, from its birth to its death.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKey {
    /// Its address, which changes when it is moved.
    Address(u64),
    /// An id of the trace's own, which never changes and which no other live object has. Such an object is in no space.
    /// Small ids that are handed out in order cost least.
    Id(u64),
}

/// The common facts of all objects that were created alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ObjectInfo {
    /// The type, an index into [`Program::types`].
    pub type_id: u32,
    /// The allocation site, an index into [`Program::sites`].
    pub site: u32,
    /// The allocating thread.
    pub thread: ThreadId,
    /// The allocating subsystem.
    pub allocator: Allocator,
    /// True for an array of [`BIG_ARRAY`] elements or more.
    pub big: bool,
}

impl std::hash::Hash for ObjectInfo {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.type_id) << 32 | u64::from(self.site));
        state.write_u64(u64::from(self.thread.0) << 4 | (self.allocator as u64) << 1 | u64::from(self.big));
    }
}

/// An [`ObjectInfo`] a sink has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InfoId(pub u32);

/// The part that a collection collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GcKind {
    /// A part of the heap, usually the young objects.
    Minor,
    /// The whole heap.
    Major,
}

/// A garbage collection begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gc {
    /// The trace's own number.
    pub number: u32,
    /// Its kind.
    pub kind: GcKind,
    /// Index into [`Program::causes`].
    pub cause: u32,
    /// Milliseconds since the program started.
    pub millis: u64,
    /// True if the collector reported a failure.
    pub failed: bool,
    /// Where the references of this GC point: to addresses from before it (`false`) or after it.
    pub targets_after: bool,
}

/// Takes events. Addresses are those of the traced program.
pub trait EventSink {
    /// A thread started; `name` is for people.
    fn thread(&mut self, name: &str) -> ThreadId;

    /// The name of a thread became known.
    fn name_thread(&mut self, thread: ThreadId, name: &str);

    /// The spaces of the heap; decoders keep them up to date.
    fn spaces(&self) -> &Spaces;

    /// Defines, moves or changes a space. `false` when the index is more than a heap can have.
    fn change_space(&mut self, index: u32, change: impl FnOnce(&mut Space)) -> bool;

    /// Forgets spaces.
    fn remove_spaces(&mut self, first: u32, count: u64);

    /// Objects like this one will be allocated.
    fn info(&mut self, info: ObjectInfo) -> InfoId;

    /// An object was allocated. `length` is that of an array, the size of a class mirror, and of no meaning otherwise.
    /// Returns the object's size.
    fn allocate(&mut self, info: InfoId, length: u32, object: ObjectKey) -> u64;

    /// The running GC moved an object. Returns its size, `None` when there is no object at `from`.
    fn moved(&mut self, from: u64, to: u64) -> Option<u64>;

    /// The running GC (or a walk over the heap) found an object alive and left it where it is. `false` when there is none.
    fn kept(&mut self, object: ObjectKey) -> bool;

    /// An object is dead, even if a collection reports it. Its key may be used again at once. While a GC runs, an address belongs to the
    /// object that was moved there, or else to one that has not been reported yet. `false` if there is none.
    fn freed(&mut self, object: ObjectKey) -> bool;

    /// The object with an id is at an address right now. Forgotten when the next GC begins. `false` when there is none.
    fn located(&mut self, id: u64, address: u64) -> bool;

    /// Whether there is an object.
    fn known(&self, object: ObjectKey) -> bool;

    /// The references of an object, without nulls; `more` of them when some were reported before. An address is that after
    /// the running GC for the object, and as [`Gc::targets_after`] says for the targets.
    fn references(&mut self, object: ObjectKey, targets: &[ObjectKey], more: bool);

    /// A GC root refers to an object; addresses as for targets of references. `detail` is for people, and kept as it is:
    /// `stack`, `com.acme.Cache.entries`. A kind with words of its own becomes [`RootKind::Other`]. The roots that a GC reports stand until the next one begins.
    fn root(&mut self, kind: RootKind, thread: ThreadId, detail: &str, target: ObjectKey);

    /// A GC begins.
    fn gc_start(&mut self, gc: Gc) -> Result<()>;

    /// The running GC collects a space: unreported objects there are dead.
    fn collects(&mut self, space: u32);

    /// The running GC has ended.
    fn gc_end(&mut self, gc: Gc) -> Result<()>;

    /// True if the sink has seen enough: decoders return before they decode the next piece.
    fn satisfied(&self) -> bool {
        false
    }
}

/// How a decoder stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A piece was decoded, or the sink is satisfied; there may be more.
    More,
    /// The end of the trace.
    End,
}

/// Turns the bytes of one format into events.
pub trait Decoder: Send {
    /// The state, besides the position, that is needed to go on from the middle of a trace.
    type Saved: serde::Serialize + serde::de::DeserializeOwned;

    /// Decodes the next piece (a buffer of a thread).
    ///
    /// # Errors
    /// When the bytes are no events of this format. Events reported before stay valid.
    fn step<S: EventSink>(&mut self, sink: &mut S) -> Result<Step>;

    /// Bytes decoded so far, and in all.
    fn position(&self) -> (u64, u64);

    /// Warnings about the events decoded so far.
    fn warnings(&self) -> Vec<Warning>;

    /// The state after the last step.
    fn save(&self) -> Self::Saved;

    /// Goes on where `saved` was taken.
    ///
    /// # Errors
    /// When it was not taken of this trace.
    fn restore(&mut self, saved: Self::Saved) -> Result<()>;
}
