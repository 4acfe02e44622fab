//! The collections of a recording, and its samples from birth to death.

use super::origins::Provenance;
use super::sample_kinds::SampleKinds;
use super::scan::Scan;
use super::series::fact;
use crate::event::GcKind;
use crate::lives::{GcHistory, GcNoun, GcRecord, SampledLife, SampledLives};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_wire::{ChunkKind, CollectionKind, GcScope};

/// The collections, with times since the program started where that is known, else since the recording began.
pub(super) fn gc_history(scan: &Scan) -> GcHistory {
    let started = fact(scan, "recording.started").unwrap_or(0);
    let vm = fact(scan, "vm.started");
    let began = vm.map_or(0, |vm| started.saturating_sub(vm)).saturating_mul(1_000_000);
    let record = |(stream, row): &(u16, memory_city_wire::GcRow)| {
        let cause = row.cause.and_then(|cause| Some(scan.streams.get(stream)?.strings.get(&cause)?.to_string()));
        let start = began.saturating_add(row.start);
        GcRecord {
            number: row.source_number.unwrap_or(row.number),
            kind: match row.kind {
                CollectionKind::Minor => Some(GcKind::Minor),
                CollectionKind::Major => Some(GcKind::Major),
                CollectionKind::Unknown => None,
            },
            cause: cause.unwrap_or_default(),
            start,
            end: start.saturating_add(row.duration),
            one_pause: row.scope == GcScope::Pause,
            before: row.before,
            after: row.after,
        }
    };
    GcHistory { began, epoch: vm.unwrap_or(started), collections: scan.gcs.values().map(record).collect() }
}

/// The noun for one of the collections.
pub(super) fn gc_noun(scan: &Scan) -> GcNoun {
    GcNoun::of_each(scan.gcs.values().map(|(_, row)| row.scope == GcScope::Pause))
}

/// The samples as lives; `None` where none were taken.
///
/// # Errors
/// When the work was cancelled.
pub(super) fn sampled_lives(scan: &Scan, provenance: &Provenance, progress: &Progress) -> Result<Option<SampledLives>> {
    if scan.sample_count() == 0 {
        return Ok(None);
    }
    // Collections are numbered from 0, but of some nothing may be known.
    let place_of = |number: u64| scan.gcs.range(..number).count() as u32;
    let places: AHashMap<u64, u32> = scan.gcs.keys().copied().zip(0..).collect();
    let place = |number: u64| places.get(&number).copied().unwrap_or_else(|| place_of(number));
    let of_old = scan.old_samples.iter().fold(0u64, |sum, (_, row)| sum.saturating_add(row.samples));
    let of_deaths = scan.losses.iter().filter(|row| row.what == u32::from(ChunkKind::DEATHS.0));
    let lost_deaths = of_deaths.fold(0u64, |sum, row| sum.saturating_add(row.count));
    let mut lives = SampledLives { undated: of_old, lost_deaths, ..SampledLives::default() };
    let mut freed_by: AHashMap<u64, u32> = AHashMap::default();
    let mut undated: AHashSet<u64> = AHashSet::default();
    for (&sample, death) in &scan.deaths {
        match death.gc.and_then(|gc| places.get(&gc)) {
            Some(&gc) => _ = freed_by.insert(sample, gc),
            None => _ = undated.insert(sample),
        }
    }
    let kinds = SampleKinds::of(scan, provenance, progress)?;
    for &(id, info) in &kinds.samples {
        let Some(sample) = scan.samples.get(&id) else { continue };
        if undated.contains(&id) && !freed_by.contains_key(&id) {
            lives.undated += 1;
            continue;
        }
        lives.samples.push(SampledLife {
            info,
            birth: place(sample.gcs.into()),
            death: freed_by.get(&id).copied(),
            size: sample.size,
            weight: sample.weight as f64 / 65_536.0,
            count: 1,
        });
    }
    for (ended, info) in &kinds.ended {
        let Some(&death) = ended.gc.and_then(|gc| places.get(&gc)) else {
            lives.undated += ended.count;
            continue;
        };
        lives.samples.push(SampledLife {
            info: *info,
            birth: place(ended.origin.gcs.into()),
            death: Some(death),
            size: ended.origin.size,
            weight: ended.origin.weight as f64 / 65_536.0,
            count: ended.count,
        });
    }
    // In an order that does not follow from the numbers of samples.
    lives.samples.sort_by(|a, b| {
        let key = |life: &SampledLife| (life.birth, life.info, life.death, life.size);
        key(a).cmp(&key(b)).then(a.weight.total_cmp(&b.weight))
    });
    lives.recording = kinds.recording;
    Ok(Some(lives))
}
