//! Changes of cohorts between the moments of a trace, as rows of a recording. They are written if a source has seen every object, and read
//! back as the same changes. Objects are not named here, only counted by their common facts.

use super::origins::Provenance;
use super::save::Saver;
use super::scan::{Scan, error_of};
use super::types::Types;
use crate::JVM;
use crate::event::{ObjectInfo, Program};
use crate::lives::InfoNumbers;
use crate::recording::{ChangeLog, Recording};
use crate::replay::{CohortChange, CohortKey, Moment};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::ThreadId;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_wire::CohortRow;
use std::sync::Arc;

/// Rows that are written at a time.
const AT_A_TIME: usize = 1 << 16;

/// Writes the changes of a trace. `classes` are the numbers of its types in the file.
///
/// # Errors
/// When the disk refuses, or the work was cancelled.
pub(super) fn write(recording: &Recording, classes: &[u32], saver: &mut Saver, progress: &Progress) -> Result<()> {
    progress.begin("Writing births and deaths", recording.log.len() as u64);
    let mut rows = Vec::new();
    // By creation data: class, stack, thread.
    let mut known: AHashMap<u32, (u32, Option<u32>, Option<u32>)> = AHashMap::default();
    for moment in 0..recording.log.len() {
        progress.check()?;
        progress.advance(1);
        for change in recording.log.changes(moment) {
            let Some(info) = recording.infos.get(change.key.info as usize) else { continue };
            let (class, stack, thread) = *known.entry(change.key.info).or_insert_with(|| {
                let frames = recording.program.sites.get(info.site as usize).map_or(&[][..], |site| &site.frames);
                let name = recording.threads.get(info.thread.0 as usize).filter(|_| info.thread != ThreadId(0));
                let thread = name.and_then(|name| saver.thread(info.thread.0, name));
                (classes.get(info.type_id as usize).copied().unwrap_or(0), saver.stack(frames), thread)
            });
            rows.push(CohortRow {
                gc: moment as u64 / 2,
                at_end: moment % 2 == 1,
                class,
                stack,
                thread,
                allocator: info.allocator as u32,
                large: info.big,
                birth: change.key.birth,
                space: change.key.space as u32,
                objects: change.objects,
                bytes: change.bytes,
            });
        }
        if rows.len() >= AT_A_TIME || moment + 1 == recording.log.len() {
            saver.tables.write_new(&mut saver.writer).map_err(error_of)?;
            saver.writer.write(&std::mem::take(&mut rows)).map_err(error_of)?;
        }
    }
    Ok(())
}

/// The changes as a recording, and how many rows make no sense; `None` where there are none.
///
/// # Errors
/// When the work was cancelled.
pub(super) fn read(scan: &Scan, provenance: &Provenance, progress: &Progress) -> Result<(Option<Recording>, u64)> {
    if scan.cohorts.is_empty() {
        return Ok((None, 0));
    }
    // Of the collection that is broken off there is the start alone.
    let next = scan.gcs.last_key_value().map_or(0, |(number, _)| number.saturating_add(1));
    let places: AHashMap<u64, u32> = scan.gcs.keys().copied().chain([next]).zip(0..).collect();
    let mut program = Program { profile: &JVM, sites: Arc::clone(&provenance.sites), ..Program::default() };
    let (mut infos, mut numbers) = (Vec::new(), InfoNumbers::default());
    let mut changes: Vec<(Moment, CohortChange)> = Vec::with_capacity(scan.cohorts.len());
    let (mut odd, mut sums) = (0, [0i64; 2]);
    for (&stream, tables) in &scan.streams {
        progress.check()?;
        let of_stream = || scan.cohorts.iter().filter(|(of, _)| *of == stream).map(|(_, row)| row);
        let used: AHashSet<u32> = of_stream().map(|row| row.class).collect();
        if used.is_empty() {
            continue;
        }
        let mut types = Types::of(tables, used, 8, 0);
        let first = program.types.len() as u32;
        for row in of_stream() {
            // Who adds them up must not come to a number that there is no room for: a file may say anything.
            let fits = |sum: i64, by: i64| sum.checked_add_unsigned(by.unsigned_abs());
            let (objects, bytes) = (fits(sums[0], row.objects), fits(sums[1], row.bytes));
            let gc = places.get(&row.gc).copied().filter(|gc| row.birth <= *gc);
            let (Some(gc), Some(objects), Some(bytes)) = (gc, objects, bytes) else {
                odd += 1;
                continue;
            };
            sums = [objects, bytes];
            let origin = provenance.of_cohort(stream, row);
            let info = ObjectInfo {
                type_id: first + types.number(row.class),
                site: origin.site,
                thread: origin.thread,
                allocator: origin.allocator,
                big: row.large,
            };
            let key = CohortKey { info: numbers.of(info, &mut infos), birth: row.birth, space: origin.space };
            changes
                .push((Moment { gc, end: row.at_end }, CohortChange { key, objects: row.objects, bytes: row.bytes }));
        }
        types.append_to(&mut program.types);
    }
    changes.sort_by_key(|(moment, change)| (moment.gc, moment.end, change.key));
    let mut log = ChangeLog::default();
    let mut rest = &changes[..];
    for moment in (0..=scan.gcs.len() as u32).flat_map(|gc| [false, true].map(|end| Moment { gc, end })) {
        if rest.is_empty() {
            break;
        }
        let of_moment = |(of, _): &(Moment, CohortChange)| (of.gc, of.end) == (moment.gc, moment.end);
        let (here, later) = rest.split_at(rest.partition_point(of_moment));
        rest = later;
        log.push(moment, &here.iter().map(|(_, change)| *change).collect::<Vec<_>>());
    }
    let threads = provenance.threads.clone();
    Ok((Some(Recording { program: Arc::new(program), threads, infos, log, ..Recording::default() }), odd))
}
