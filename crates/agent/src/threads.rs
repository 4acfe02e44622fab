//! Numbering of the program's threads, by name.
//!
//! A platform thread has a number of its own, and another one when its name changes. Virtual threads come in millions and hardly ever have
//! a name: those of one name share a number, those without one another. Bounded: without room for further names, new threads become one
//! thread with a name for that, and are counted.

use crate::event::Definition;
use std::collections::HashMap;

/// Most bytes of names, with their entries here and in the table of texts.
const MOST_BYTES: usize = 2 << 20;
const ENTRY_BYTES: usize = 64;
/// Name of the virtual threads that have none.
pub(crate) const VIRTUAL: &str = "virtual threads";
/// The name for all threads whose names had no room.
pub(crate) const OTHERS: &str = "other threads (too many names)";

/// A thread of the trace, and the number of its next sample where many threads of the program are it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedThread {
    pub(crate) id: u32,
    /// `None` where it is one thread of the program, which numbers its samples itself.
    pub(crate) sequence: Option<u64>,
}

pub(crate) struct ThreadTable {
    last: u32,
    /// Threads that many are, and how many samples they have.
    shared: HashMap<String, (u32, u64)>,
    bytes: usize,
    most: usize,
    refused: u64,
}

impl ThreadTable {
    pub(crate) fn new() -> ThreadTable {
        ThreadTable::within(MOST_BYTES)
    }

    fn within(most: usize) -> ThreadTable {
        ThreadTable { last: 0, shared: HashMap::new(), bytes: 0, most, refused: 0 }
    }

    /// How often a name found no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// A platform thread that is new, or has a new name.
    pub(crate) fn platform(&mut self, name: String, new: &mut Vec<Definition>) -> NumberedThread {
        if !self.room(&name) {
            return self.sample_of(OTHERS, new);
        }
        NumberedThread { id: self.number(name, new), sequence: None }
    }

    /// The next sample of the virtual threads of a name.
    pub(crate) fn virtual_sample(&mut self, name: &str, new: &mut Vec<Definition>) -> NumberedThread {
        let name = if name.is_empty() { VIRTUAL } else { name };
        let fits = self.shared.contains_key(name) || self.room(name);
        self.sample_of(if fits { name } else { OTHERS }, new)
    }

    /// The next sample of the threads whose names had no room.
    pub(crate) fn other_sample(&mut self, new: &mut Vec<Definition>) -> NumberedThread {
        self.sample_of(OTHERS, new)
    }

    fn sample_of(&mut self, name: &str, new: &mut Vec<Definition>) -> NumberedThread {
        if !self.shared.contains_key(name) {
            let id = self.number(name.to_owned(), new);
            self.shared.insert(name.to_owned(), (id, 0));
        }
        let (id, samples) = self.shared.get_mut(name).expect("it is there now");
        *samples += 1;
        NumberedThread { id: *id, sequence: Some(*samples - 1) }
    }

    fn number(&mut self, name: String, new: &mut Vec<Definition>) -> u32 {
        self.last += 1;
        new.push(Definition::Thread { id: self.last, name });
        self.last
    }

    fn room(&mut self, name: &str) -> bool {
        let bytes = ENTRY_BYTES + 2 * name.len();
        let fits = self.bytes + bytes <= self.most;
        match fits {
            true => self.bytes += bytes,
            false => self.refused += 1,
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platform_threads_have_numbers_of_their_own_and_virtual_ones_share_them_by_name() {
        let (mut table, mut new) = (ThreadTable::new(), Vec::new());
        let numbered = |id, sequence| NumberedThread { id, sequence };
        assert_eq!(table.platform("main".into(), &mut new), numbered(1, None));
        assert_eq!(table.platform("main".into(), &mut new), numbered(2, None));
        assert_eq!(table.virtual_sample("", &mut new), numbered(3, Some(0)));
        assert_eq!(table.virtual_sample("till", &mut new), numbered(4, Some(0)));
        assert_eq!(table.virtual_sample("", &mut new), numbered(3, Some(1)));
        let names = ["main", "main", VIRTUAL, "till"].into_iter().enumerate();
        let defined = names.map(|(at, name)| Definition::Thread { id: at as u32 + 1, name: name.into() });
        assert_eq!((new, table.refused()), (defined.collect::<Vec<_>>(), 0));
    }

    #[test]
    fn ever_new_names_end_in_one_thread_that_counts() {
        let (mut table, mut new) = (ThreadTable::within(1000), Vec::new());
        let ids: Vec<NumberedThread> = (0..100).map(|n| table.platform(format!("t{n}"), &mut new)).collect();
        let own = ids.iter().take_while(|t| t.sequence.is_none()).count();
        assert!((5..20).contains(&own), "{own}");
        let last = ids[own];
        assert!(ids[own..].iter().zip(0..).all(|(t, n)| *t == NumberedThread { id: last.id, sequence: Some(n) }));
        assert_eq!(table.refused(), 100 - own as u64);
        assert_eq!(new.len(), own + 1);
        assert_eq!(new[own], Definition::Thread { id: last.id, name: OTHERS.into() });
        // Who is there already goes on, who is not does not come any more.
        let next = NumberedThread { id: last.id, sequence: Some(100 - own as u64) };
        assert_eq!(table.other_sample(&mut new), next);
        assert_eq!(table.virtual_sample("new", &mut new).id, last.id);
        assert_eq!(new.len(), own + 1);
    }
}
