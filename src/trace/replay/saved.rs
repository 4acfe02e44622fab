//! A replay on disk: what is needed to go on from the middle of a trace.
//!
//! What is read back is checked against itself and the program before it is used: a damaged index must not lead to a
//! panic or to a wrong picture.

use super::cells::CellKey;
use super::map::{self, Slot};
use super::{FREE, Observer, Oddities, Replay, ReplayRoot, Row};
use crate::heap::{RootKind, ThreadId};
use crate::trace::event::{ObjectInfo, Program};
use crate::trace::spaces::Spaces;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A heap between two GCs, as columns.
#[derive(Serialize, Deserialize)]
pub struct SavedReplay {
    interval: u32,
    threads: u32,
    infos: u32,
    spaces: Spaces,
    cells: Vec<CellKey>,
    rows: u32,
    free: Vec<u32>,
    /// By live row: distance to the address of the one before.
    addresses: Vec<i64>,
    cell_of: Vec<u32>,
    /// By live row: GCs since its references were reported.
    reported: Vec<u32>,
    reference_counts: Vec<u32>,
    references: Vec<u32>,
    roots: Vec<(u8, u32, u8, u32)>,
    oddities: Oddities,
    events: u64,
}

/// Details of roots that can be.
const DETAILS: [&str; 13] = [
    "universe",
    "JNI handle",
    "thread",
    "monitor in use",
    "flat profiler",
    "system dictionary",
    "class loader data",
    "management",
    "JVMTI",
    "code cache",
    "weak root",
    "other",
    "stack",
];

const KINDS: [RootKind; 10] = [
    RootKind::ClassLoader,
    RootKind::StaticField,
    RootKind::Thread,
    RootKind::LocalVariable,
    RootKind::CodeBlob,
    RootKind::Jni,
    RootKind::Jvmti,
    RootKind::Monitor,
    RootKind::Management,
    RootKind::Other,
];

impl<O: Observer> Replay<O> {
    /// Saves the heap; only between two GCs.
    pub fn save(&self) -> SavedReplay {
        debug_assert!(!self.is_collecting());
        let mut number_of_cell = vec![map::NONE; self.cells.count()];
        let mut saved = SavedReplay {
            interval: self.interval,
            threads: self.threads.len() as u32,
            infos: self.infos.len() as u32,
            spaces: self.spaces.clone(),
            cells: Vec::new(),
            rows: self.rows.len() as u32,
            free: self.free.clone(),
            addresses: Vec::with_capacity(self.live as usize),
            cell_of: Vec::with_capacity(self.live as usize),
            reported: Vec::with_capacity(self.live as usize),
            reference_counts: Vec::with_capacity(self.live as usize),
            references: Vec::new(),
            roots: Vec::with_capacity(self.roots.len()),
            oddities: self.oddities,
            events: self.events,
        };
        let mut before = 0u64;
        for row in self.rows.iter().filter(|r| r.slot != map::NONE) {
            let address = self.map.address(Slot(row.slot));
            saved.addresses.push(address.wrapping_sub(before) as i64);
            before = address;
            let number = &mut number_of_cell[row.cell as usize];
            if *number == map::NONE {
                *number = saved.cells.len() as u32;
                saved.cells.push(self.cells.get(row.cell).key);
            }
            saved.cell_of.push(*number);
            saved.reported.push(self.interval - row.reported);
            let references = self.arena.of(row.references);
            saved.reference_counts.push(references.len() as u32);
            saved.references.extend_from_slice(references);
        }
        for root in &self.roots {
            let detail = DETAILS.iter().position(|d| *d == root.detail).unwrap_or(11);
            saved.roots.push((root.kind as u8, root.thread.0, detail as u8, root.target));
        }
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
        let mut replay = Replay::new(program, observer);
        replay.interval = saved.interval;
        replay.threads = threads.get(..saved.threads as usize).filter(|t| !t.is_empty())?.to_vec();
        for &info in infos.get(..saved.infos as usize)? {
            if info.type_id as usize >= replay.program.types.len() || info.thread.0 as usize >= threads.len() {
                return None;
            }
            crate::trace::event::EventSink::info(&mut replay, info);
        }
        replay.spaces = saved.spaces;
        replay.spaces.sort();
        let mut cells = Vec::with_capacity(saved.cells.len());
        for key in saved.cells {
            let info = replay.infos.get(key.info as usize)?;
            if key.birth > saved.interval {
                return None;
            }
            cells.push(replay.cells.cell(key, info.size));
        }
        // Rows are numbered without the free ones.
        let rows = saved.rows as usize;
        let live = rows.checked_sub(saved.free.len())?;
        if [&saved.cell_of, &saved.reported, &saved.reference_counts].iter().any(|c| c.len() != live)
            || saved.addresses.len() != live
        {
            return None;
        }
        let mut is_free = vec![false; rows];
        for &row in &saved.free {
            if std::mem::replace(is_free.get_mut(row as usize)?, true) {
                return None;
            }
        }
        replay.free = saved.free;
        replay.rows.reserve_exact(rows);
        let (mut next, mut address, mut at) = (0, 0u64, 0usize);
        for free in is_free {
            let number = replay.rows.len() as u32;
            if free {
                replay.rows.push(FREE);
                continue;
            }
            let cell = *cells.get(saved.cell_of[next] as usize)?;
            address = address.wrapping_add(saved.addresses[next] as u64);
            let end = at.checked_add(saved.reference_counts[next] as usize)?;
            let references = saved.references.get(at..end)?;
            if references.iter().any(|&r| r != map::NONE && r as usize >= rows) {
                return None;
            }
            at = end;
            let record = replay.arena.add(references.iter().copied())?;
            let reported = saved.interval.checked_sub(saved.reported[next])?;
            let slot = replay.map.slot(&mut replay.now, address).filter(|_| address & 7 == 0)?;
            if replay.map.put(slot, address, number).is_some() {
                return None;
            }
            replay.rows.push(Row { slot: slot.0, cell, references: record, reported });
            replay.cells.add(cell);
            next += 1;
        }
        replay.live = live as u64;
        for (kind, thread, detail, target) in saved.roots {
            replay.roots.push(ReplayRoot {
                kind: *KINDS.get((kind as usize).checked_sub(1)?)?,
                thread: ThreadId(Some(thread).filter(|t| (*t as usize) < replay.threads.len())?),
                detail: DETAILS.get(detail as usize)?,
                target: Some(target).filter(|t| (*t as usize) < rows)?,
            });
        }
        replay.cells.note_all();
        replay.oddities = saved.oddities;
        replay.events = saved.events;
        Some(replay)
    }
}
