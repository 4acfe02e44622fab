//! Kinds of events: the top 6 bits of an event's first word.
//!
//! Allocations have a kind for the allocating code (VM, interpreter, compilers C1 and C2) and the path. *Slow* and *normal* ones name the
//! address; *fast* ones are at the top of the thread's TLAB. *Other* means another type than that of the site.

pub(super) const NO_OP: u32 = 0;
pub(super) const MARK: u32 = 1;
pub(super) const GC_START: u32 = 2;
pub(super) const GC_END: u32 = 3;
/// Names a space that the collection collects.
pub(super) const GC_SPACE: u32 = 4;
pub(super) const GC_FAILED: u32 = 5;
pub(super) const SPACE_CREATED: u32 = 6;
/// Gives the kind of a space.
pub(super) const SPACE_USED: u32 = 7;
pub(super) const SPACE_RELEASED: u32 = 8;
pub(super) const SPACE_REDEFINED: u32 = 9;
pub(super) const SPACES_DESTROYED: u32 = 10;
pub(super) const THREAD_ALIVE: u32 = 11;
pub(super) const THREAD_DEATH: u32 = 12;
pub(super) const TLAB: u32 = 13;
pub(super) const PLAB: u32 = 14;
pub(super) const VM_SLOW: u32 = 15;
pub(super) const INTERPRETER_SLOW: u32 = 16;
pub(super) const INTERPRETER_SLOW_OTHER: u32 = 17;
pub(super) const INTERPRETER_NORMAL: u32 = 18;
pub(super) const INTERPRETER_FAST: u32 = 19;
pub(super) const C1_SLOW: u32 = 20;
pub(super) const C1_SLOW_OTHER: u32 = 21;
pub(super) const C1_NORMAL: u32 = 22;
pub(super) const C1_FAST: u32 = 23;
pub(super) const C1_FAST_OTHER: u32 = 24;
pub(super) const C2_SLOW: u32 = 25;
pub(super) const C2_SLOW_OTHER: u32 = 26;
pub(super) const C2_NORMAL: u32 = 27;
pub(super) const C2_FAST: u32 = 28;
pub(super) const C2_FAST_OTHER: u32 = 29;
pub(super) const MOVE: u32 = 30;
/// A move to the top of the GC thread's PLAB.
pub(super) const FAST_MOVE: u32 = 31;
/// The same, with the source relative to the base of the last GC event, in a word.
pub(super) const FAST_MOVE_RELATIVE: u32 = 32;
/// The same, with the relative source in the first word.
pub(super) const FAST_MOVE_NARROW: u32 = 33;
/// Moves several neighbouring objects.
pub(super) const REGION_MOVE: u32 = 34;
/// An object that survived in its place.
pub(super) const KEEP: u32 = 35;
/// An object of the first collection after a rotation.
pub(super) const SYNC_OBJECT: u32 = 36;
pub(super) const SYNC_OBJECT_IN_PLACE: u32 = 37;
pub(super) const DEALLOCATION: u32 = 38;
/// From here on, moved and kept objects come with their pointers.
pub(super) const MOVE_POINTERS: u32 = 39;
pub(super) const FAST_MOVE_POINTERS: u32 = 40;
pub(super) const FAST_MOVE_RELATIVE_POINTERS: u32 = 41;
pub(super) const KEEP_POINTERS: u32 = 42;
/// Further pointers of the last object.
pub(super) const MORE_POINTERS: u32 = 43;
pub(super) const MORE_ARRAY_POINTERS: u32 = 44;
pub(super) const ROOT_POINTERS: u32 = 45;
/// Pointers of an object outside the collected spaces.
pub(super) const OUTSIDE_POINTERS: u32 = 46;
