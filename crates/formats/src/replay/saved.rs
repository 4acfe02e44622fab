//! A replay on disk: the state needed to go on from the middle of a trace.
//!
//! Restored data is checked for consistency and against the program before it is used: a damaged index must lead neither to a panic nor to
//! a wrong picture.

use super::cohorts::CohortKey;
use super::map::{self, Entry};
use super::numbers::Numbers;
use super::{Inconsistencies, Observer, Replay, ReplayRoot};
use crate::event::{ObjectInfo, ObjectKey, Program};
use crate::spaces::Spaces;
use memory_city_heap::{RootKind, ThreadId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A heap between two GCs, as columns.
#[derive(Serialize, Deserialize)]
pub struct SavedReplay {
    interval: u32,
    threads: u32,
    infos: u32,
    spaces: Spaces,
    cohorts: Vec<CohortKey>,
    numbers: u32,
    /// By object with an address, in order: distance to the address of the one before.
    addresses: Vec<u64>,
    /// By object with an id, in order: distance to the id of the one before.
    ids: Vec<u64>,
    /// Numbers of all these, as distance to the number of the one before.
    number_of: Vec<i32>,
    cell_of: Vec<u32>,
    lengths: Vec<u32>,
    /// GCs since their references were reported.
    reported: Vec<u32>,
    reference_counts: Vec<u32>,
    references: Vec<u32>,
    /// Kind, thread, detail and target.
    roots: Vec<(u8, u32, u32, u32)>,
    details: Vec<String>,
    /// Addresses of objects that have an id, by number.
    located: Vec<(u32, u64)>,
    inconsistencies: Inconsistencies,
    events: u64,
}

impl<O: Observer> Replay<O> {
    /// Saves the heap; only right after a GC.
    pub fn save(&mut self) -> SavedReplay {
        debug_assert!(!self.is_collecting());
        let mut number_of_cell = vec![map::NONE; self.cohorts.count()];
        let mut saved = SavedReplay {
            interval: self.interval,
            threads: self.threads.len() as u32,
            infos: self.infos.len() as u32,
            spaces: self.spaces.clone(),
            cohorts: Vec::new(),
            numbers: self.numbers.len() as u32,
            addresses: Vec::with_capacity(self.live as usize),
            ids: Vec::new(),
            number_of: Vec::with_capacity(self.live as usize),
            cell_of: Vec::with_capacity(self.live as usize),
            lengths: Vec::with_capacity(self.live as usize),
            reported: Vec::with_capacity(self.live as usize),
            reference_counts: Vec::with_capacity(self.live as usize),
            references: Vec::new(),
            roots: Vec::with_capacity(self.roots.len()),
            details: self.details.all().iter().map(|text| text.to_string()).collect(),
            located: self.located.iter().map(|(&number, &address)| (number, address)).collect(),
            inconsistencies: self.inconsistencies,
            events: self.events,
        };
        let (mut address, mut id, mut number) = (0u64, 0u64, 0u32);
        for (key, entry) in self.map.keyed(&mut self.now) {
            let (distances, before, key) = match key {
                ObjectKey::Address(key) => (&mut saved.addresses, &mut address, key),
                ObjectKey::Id(key) => (&mut saved.ids, &mut id, key),
            };
            distances.push(key - std::mem::replace(before, key));
            saved.number_of.push(entry.number().wrapping_sub(number) as i32);
            number = entry.number();
            let cohort = &mut number_of_cell[entry.cohort() as usize];
            if *cohort == map::NONE {
                *cohort = saved.cohorts.len() as u32;
                saved.cohorts.push(self.cohorts.key(entry.cohort()));
            }
            saved.cell_of.push(*cohort);
            saved.lengths.push(entry.length());
            saved.reported.push(self.interval - self.arena.time_of(entry.record()).min(self.interval));
            let references = self.arena.of(entry.record());
            saved.reference_counts.push(references.len() as u32);
            saved.references.extend_from_slice(references);
        }
        for root in &self.roots {
            saved.roots.push((root.kind.number(), root.thread.0, root.detail, root.target));
        }
        saved.located.sort_unstable();
        saved
    }

    /// Goes on from a saved heap. `None` when it does not fit together.
    pub fn restore(
        program: Arc<Program>,
        threads: &[Arc<str>],
        infos: &[ObjectInfo],
        saved: SavedReplay,
        observer: O,
    ) -> Option<Self> {
        if saved.interval >= super::arena::MOST_TIMES {
            return None;
        }
        let mut replay = Replay::new(program, observer);
        replay.interval = saved.interval;
        replay.threads = threads.get(..saved.threads as usize).filter(|t| !t.is_empty())?.to_vec();
        for &info in infos.get(..saved.infos as usize)? {
            if info.type_id as usize >= replay.program.types.len() || info.thread.0 as usize >= threads.len() {
                return None;
            }
            crate::event::EventSink::info(&mut replay, info);
        }
        replay.spaces = saved.spaces.clone();
        replay.spaces.sort();
        let mut cohorts = Vec::with_capacity(saved.cohorts.len());
        for &key in &saved.cohorts {
            let info = replay.infos.get(key.info as usize)?;
            if key.birth > saved.interval {
                return None;
            }
            let shape = *replay.program.shapes.get(info.type_id as usize)?;
            cohorts.push((replay.cohorts.cohort(key, shape.packed()), key.birth, shape));
        }
        let numbers = Some(saved.numbers).filter(|&n| n <= replay.limits.objects)? as usize;
        let live = saved.addresses.len() + saved.ids.len();
        let SavedReplay { number_of, cell_of, lengths, reported, reference_counts, .. } = &saved;
        let columns = [number_of.len(), cell_of.len(), lengths.len(), reported.len(), reference_counts.len()];
        if columns.iter().any(|&n| n != live) {
            return None;
        }
        let mut births = vec![map::NONE; numbers];
        let (mut address, mut id, mut number, mut at) = (0u64, 0u64, 0u32, 0usize);
        for i in 0..live {
            let (cohort, birth, shape) = *cohorts.get(saved.cell_of[i] as usize)?;
            let length = saved.lengths[i];
            let key = match saved.addresses.get(i) {
                Some(&distance) => {
                    address = address.checked_add(distance)?;
                    ObjectKey::Address(address)
                }
                None => {
                    id = id.checked_add(saved.ids[i - saved.addresses.len()])?;
                    ObjectKey::Id(id)
                }
            };
            number = number.wrapping_add(saved.number_of[i] as u32);
            let end = at.checked_add(saved.reference_counts[i] as usize)?;
            let references = saved.references.get(at..end)?;
            at = end;
            let reported = saved.interval.checked_sub(saved.reported[i])?;
            let record = replay.arena.add(reported, references)?;
            let spot = replay.map.unit.spot(key)?;
            // Every number is taken once.
            *births.get_mut(number as usize).filter(|birth| **birth == map::NONE)? = birth;
            let mut entry = Entry::new(number, cohort, length);
            entry.set_record(record);
            if replay.map.insert(&mut replay.now, spot, map::NONE, entry)?.is_some() {
                return None;
            }
            replay.cohorts.add(cohort, shape.size(length, replay.program.alignment));
        }
        replay.numbers = Numbers::restored(replay.limits.objects, births);
        replay.live = live as u64;
        let details: Vec<u32> = saved.details.iter().map(|text| replay.details.number(text)).collect();
        for (kind, thread, detail, target) in saved.roots {
            replay.roots.push(ReplayRoot {
                kind: RootKind::of_number(kind.into())?,
                thread: ThreadId(Some(thread).filter(|t| (*t as usize) < replay.threads.len())?),
                detail: *details.get(detail as usize)?,
                target: Some(target).filter(|t| (*t as usize) < numbers)?,
            });
        }
        for (number, address) in saved.located {
            replay.located.insert(Some(number).filter(|&n| replay.numbers.is_live(n))?, address);
        }
        // What is there now was noted before.
        replay.cohorts.take_changes();
        replay.inconsistencies = saved.inconsistencies;
        replay.events = saved.events;
        Some(replay)
    }
}
