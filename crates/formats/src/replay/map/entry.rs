//! The entry of an object in the map.

use super::super::arena::Arena;

/// Set in the number of a marked object.
const MARK: u32 = 1 << 31;

/// An object in the table: all that is known of it.
///
/// Two words of 64 bits instead of four of 32: values built in registers are stored directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Cohort and number.
    who: u64,
    /// Record and length.
    what: u64,
}

const LOW: u64 = u32::MAX as u64;

impl Entry {
    /// An entry that is not marked, without references. Numbers are below 2^31.
    #[inline]
    pub(crate) fn new(number: u32, cohort: u32, length: u32) -> Entry {
        let record = u64::from(Arena::NONE);
        Entry { who: u64::from(cohort) << 32 | u64::from(number & !MARK), what: record << 32 | u64::from(length) }
    }

    /// The number of the object, for as long as it lives.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.who as u32 & !MARK
    }

    /// Its cohort.
    #[inline]
    pub(crate) fn cohort(self) -> u32 {
        (self.who >> 32) as u32
    }

    /// See [`crate::event::EventSink::allocate`].
    #[inline]
    pub(crate) fn length(self) -> u32 {
        self.what as u32
    }

    /// Its references, a record in the arena.
    #[inline]
    pub(crate) fn record(self) -> u32 {
        (self.what >> 32) as u32
    }

    /// Moves it to another cohort.
    #[inline]
    pub(crate) fn set_cell(&mut self, cohort: u32) {
        self.who = self.who & LOW | u64::from(cohort) << 32;
    }

    /// Gives it other references.
    #[inline]
    pub(crate) fn set_record(&mut self, record: u32) {
        self.what = self.what & LOW | u64::from(record) << 32;
    }

    /// Notes that the running GC has reported it.
    #[inline]
    pub(crate) fn mark(&mut self) {
        self.who |= u64::from(MARK);
    }

    /// Whether it has been reported by the running GC.
    #[inline]
    pub(crate) fn is_marked(self) -> bool {
        self.who & u64::from(MARK) != 0
    }
}
