//! The history of a recorded program for grouping: births and deaths between any two moments.
//!
//! The first replay of a trace writes it. Trees over time are built from it, under any grouping, without another replay.

use super::event::{ObjectInfo, Program};
use super::replay::{CohortChange, CohortKey, Collection, Moment, Observer};
use memory_city_heap::{CohortFacts, Life, SpaceKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The changes of cohorts, with their program.
#[derive(Clone, Default)]
pub struct Recording {
    /// Types, sites and causes.
    pub program: Arc<Program>,
    /// Names of threads.
    pub threads: Vec<Arc<str>>,
    /// Creation data, by number.
    pub infos: Vec<ObjectInfo>,
    /// Finished collections.
    pub collections: Vec<Collection>,
    /// Changes by moment.
    pub log: ChangeLog,
}

impl Recording {
    /// The common facts of the objects of a cohort after `gcs` GCs have ended.
    pub fn facts(&self, key: CohortKey, gcs: u32) -> CohortFacts<'_> {
        let info = &self.infos[key.info as usize];
        CohortFacts {
            profile: self.program.profile,
            of: &self.program.types[info.type_id as usize],
            big_array: info.big,
            length: None,
            site: self.program.sites.get(info.site as usize).map(|s| &s.frames[..]).unwrap_or(&[]),
            life: Life {
                thread: self.threads.get(info.thread.0 as usize).unwrap_or(&self.threads[0]),
                allocator: info.allocator,
                space: key.space,
                age: gcs - key.birth.min(gcs),
            },
        }
    }
}

/// Changes of all moments, packed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLog {
    bytes: Vec<u8>,
    /// Where the changes of each moment begin.
    starts: Vec<usize>,
}

/// A change, relative to the one before: most are small numbers.
#[derive(Serialize, Deserialize)]
struct Packed {
    info: u32,
    age: u32,
    space: SpaceKind,
    objects: i64,
    bytes: i64,
}

impl ChangeLog {
    /// Adds the changes of the next moment, sorted by key.
    pub fn push(&mut self, moment: Moment, changes: &[CohortChange]) {
        self.starts.push(self.bytes.len());
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut info = 0;
        for change in changes {
            let packed = Packed {
                info: change.key.info - info,
                age: moment.gc - change.key.birth,
                space: change.key.space,
                objects: change.objects,
                bytes: change.bytes,
            };
            info = change.key.info;
            // Writing numbers into memory cannot fail.
            bytes = postcard::to_extend(&packed, bytes).unwrap_or_default();
        }
        self.bytes = bytes;
    }

    /// The number of moments: start and end of each GC, in turn.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The changes that led to a moment.
    pub fn changes(&self, index: usize) -> impl Iterator<Item = CohortChange> + '_ {
        let end = self.starts.get(index + 1).copied().unwrap_or(self.bytes.len());
        let mut bytes = self.bytes.get(self.starts[index]..end).unwrap_or(&[]);
        let mut info = 0u32;
        let gc = index as u32 / 2;
        std::iter::from_fn(move || {
            let (packed, rest) = postcard::take_from_bytes::<Packed>(bytes).ok()?;
            bytes = rest;
            info = info.wrapping_add(packed.info);
            let key = CohortKey { info, birth: gc.wrapping_sub(packed.age), space: packed.space };
            Some(CohortChange { key, objects: packed.objects, bytes: packed.bytes })
        })
    }

    /// Whether all changes are of known infos and of births that have been: an index from disk is not trusted.
    pub fn is_sound(&self, infos: usize) -> bool {
        self.starts.is_sorted()
            && (0..self.len())
                .all(|i| self.changes(i).all(|c| (c.key.info as usize) < infos && c.key.birth <= i as u32 / 2))
    }
}

/// Writes a log while a trace is replayed.
#[derive(Default)]
pub(crate) struct Recorder {
    /// The changes.
    pub log: ChangeLog,
    /// Finished collections.
    pub collections: Vec<Collection>,
}

impl Observer for Recorder {
    fn moment(&mut self, moment: Moment, changes: Vec<CohortChange>, _: &[ObjectInfo]) {
        self.log.push(moment, &changes);
    }

    fn collected(&mut self, collection: Collection) {
        self.collections.push(collection);
    }
}
