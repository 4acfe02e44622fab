//! Events of a recording, in the order they are written: definitions come before their use.
//!
//! A bounded queue between the threads of the program, which put samples in, and the recorder's own thread, which writes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A method, as people read it, and its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MethodFacts {
    /// The class, as the VM writes it: `Ljava/util/HashMap;`.
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) signature: String,
    /// The source file; empty when it is not known.
    pub(crate) file: String,
    /// Pairs of the first bytecode index and its line, ascending.
    pub(crate) lines: Vec<(u32, u32)>,
}

/// A name that later events use by its number. Numbers count from 1 in each table; 0 is "not known".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    Thread {
        id: u32,
        name: String,
    },
    Class {
        id: u32,
        signature: String,
        /// The name of its loader; none if the VM itself defined it.
        loader: Option<String>,
    },
    Method {
        id: u32,
        facts: Box<MethodFacts>,
    },
    /// A call: `parent` is the caller's node, 0 where the stack begins; `location` the place in the bytecode, -1 in native code.
    Frame {
        id: u32,
        parent: u32,
        method: u32,
        location: i32,
        /// Its callers were not recorded.
        cut: bool,
    },
}

/// A sampled allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampleFacts {
    /// Nanoseconds since the recording began.
    pub(crate) at: u64,
    /// Its own number, from 1.
    pub(crate) id: u64,
    pub(crate) thread: u32,
    /// Its number among the samples of its thread, from 0, lost ones included.
    pub(crate) sequence: u64,
    pub(crate) class: u32,
    pub(crate) size: u64,
    /// Elements of an array; -1 for instances.
    pub(crate) length: i32,
    /// Collections that had begun before, of this recording.
    pub(crate) collections: u32,
    /// The interval it was drawn with.
    pub(crate) interval: u32,
    /// The innermost frame.
    pub(crate) stack: u32,
    /// Whether its death will be noticed and walks know it.
    pub(crate) followed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AgentEvent {
    Define(Definition),
    Sample(SampleFacts),
}

/// Events that are allocated at a time: they are never moved, and freed when they are written.
const CHUNK: usize = 2048;

pub(crate) struct EventQueue {
    waiting: Mutex<Waiting>,
    /// Most waiting samples, those included that are being written: 200,000 are 14 MB.
    most: usize,
}

#[derive(Default)]
struct Waiting {
    chunks: VecDeque<Vec<AgentEvent>>,
    samples: usize,
    lost: u64,
}

impl Waiting {
    fn push(&mut self, event: AgentEvent) {
        match self.chunks.back_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => chunk.push(event),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(event);
                self.chunks.push_back(chunk);
            }
        }
    }
}

impl EventQueue {
    pub(crate) fn new(most: u32) -> EventQueue {
        EventQueue { waiting: Mutex::default(), most: most as usize }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Definitions always fit: the tables they come from are bounded.
    pub(crate) fn define(&self, definitions: impl IntoIterator<Item = Definition>) {
        let mut waiting = self.waiting();
        definitions.into_iter().for_each(|definition| waiting.push(AgentEvent::Define(definition)));
    }

    /// Puts a sample in; where there is no room it is counted as lost, and the answer is `false`.
    pub(crate) fn sample(&self, sample: SampleFacts) -> bool {
        let mut waiting = self.waiting();
        if waiting.samples >= self.most {
            waiting.lost += 1;
            return false;
        }
        waiting.samples += 1;
        waiting.push(AgentEvent::Sample(sample));
        true
    }

    /// In how many pieces all that waits can be taken, and how many samples were lost since the last time.
    pub(crate) fn pieces(&self) -> (usize, u64) {
        let mut waiting = self.waiting();
        (waiting.chunks.len(), std::mem::take(&mut waiting.lost))
    }

    /// The piece that has waited longest. Its samples count as waiting until the caller reports them done.
    pub(crate) fn take(&self) -> Vec<AgentEvent> {
        self.waiting().chunks.pop_front().unwrap_or_default()
    }

    /// Makes room for samples that were written.
    pub(crate) fn taken(&self, samples: usize) {
        let mut waiting = self.waiting();
        waiting.samples = waiting.samples.saturating_sub(samples);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_in_order() {
        let queue = EventQueue::new(1);
        let class = |id| Definition::Class { id, signature: String::new(), loader: None };
        queue.define((0..5000).map(class));
        let pieces = queue.pieces().0;
        let all: Vec<AgentEvent> = (0..pieces).flat_map(|_| queue.take()).collect();
        assert_eq!((pieces, queue.take()), (3, Vec::new()));
        assert_eq!(all, (0..5000).map(|id| AgentEvent::Define(class(id))).collect::<Vec<_>>());
    }

    #[test]
    fn what_finds_no_room_is_counted_and_definitions_find_room() {
        const MOST: usize = 100;
        let queue = EventQueue::new(100);
        let sample = SampleFacts {
            at: 0,
            id: 1,
            thread: 0,
            sequence: 0,
            class: 0,
            size: 16,
            length: -1,
            collections: 0,
            interval: 1,
            stack: 0,
            followed: false,
        };
        let fitted = (0..MOST + 7).filter(|_| queue.sample(sample)).count();
        queue.define([Definition::Class { id: 1, signature: "[I".into(), loader: None }]);
        assert_eq!(queue.pieces(), (1, 7));
        assert_eq!((fitted, queue.take().len()), (MOST, MOST + 1));
        assert!(!queue.sample(sample), "they are not written yet");
        queue.taken(MOST);
        assert!(queue.sample(sample));
        assert_eq!(queue.pieces(), (1, 1));
    }
}
