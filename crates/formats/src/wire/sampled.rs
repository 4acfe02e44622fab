//! The samples of a recording as estimates.

use super::ended::AlikeSamples;
use super::origins::Provenance;
use super::scan::{SampleOrigin, Scan};
use crate::sampled::{SampledAllocations, SampledAmount, SampledGroup, SampledObject};
use ahash::AHashMap;
use memory_city_heap::ObjectId;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_wire::{ChunkKind, FOLLOWED_ONE_IN, LossReason, WEIGHT_ONE};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fact `recording.mode` of a run whose samples are all there was.
pub(super) const EVERY_ALLOCATION: &str = "every-allocation";

/// The estimates from the samples. `alive` selects points in time by their places in `moments`, nanoseconds since the recording began: the
/// samples alive at these are included. `None` without samples.
///
/// O(samples), plus the cost of `alive`: for walks the samples that some root reaches. Weak references to dead objects in an old generation
/// live until that is collected, so a followed sample may be dead.
///
/// # Errors
/// When a file has changed since, or the work was cancelled.
pub(super) fn sampled(
    scan: &Scan,
    provenance: &Provenance,
    moments: &[Option<u64>],
    alive: &dyn Fn(usize) -> Result<Vec<(u64, ObjectId)>>,
    progress: &Progress,
) -> Result<Option<SampledAllocations>> {
    if scan.sample_count() == 0 && scan.old_samples.is_empty() {
        return Ok(None);
    }
    progress.begin("Adding up the samples", scan.samples.len() as u64);
    let mut numbers: BTreeMap<(Arc<str>, u32), (u32, SampledAmount)> = BTreeMap::new();
    let mut keys: AHashMap<u64, (Arc<str>, u32)> = AHashMap::default();
    for (at, (&id, sample)) in scan.samples.iter().enumerate() {
        if at % 65_536 == 0 {
            progress.check()?;
        }
        let key = (scan.class_name(sample.stream, sample.class), provenance.site(sample.stream, sample.stack));
        numbers.entry(key.clone()).or_default().1.add(SampledAmount::of_sample(sample.size, weight_of(sample)));
        keys.insert(id, key);
    }
    for AlikeSamples { origin, count, .. } in scan.ended.sorted() {
        let key = (scan.class_name(origin.stream, origin.class), provenance.site(origin.stream, origin.stack));
        let one = SampledAmount::of_sample(origin.size, weight_of(&origin));
        numbers.entry(key).or_default().1.add(one.times(count));
    }
    for (stream, row) in &scan.old_samples {
        let key = (scan.class_name(*stream, row.class), provenance.site(*stream, row.stack));
        // Of each sum no sample is known: as if all were alike, but for those of a writer that says more.
        let (bytes, objects) = (row.weighted_bytes as f64, row.weight as f64 / WEIGHT_ONE as f64);
        let alike =
            bytes * bytes / (row.samples.max(1) as f64) * (1.0 - row.samples as f64 / objects.max(1.0)).max(0.0);
        let variance = row.variance.map_or(alike, |v| v as f64 * 1024.0 * 1024.0);
        numbers.entry(key).or_default().1.add(SampledAmount { samples: row.samples, objects, bytes, variance });
    }
    let mut groups = Vec::with_capacity(numbers.len());
    for ((class, site), (number, allocated)) in &mut numbers {
        *number = groups.len() as u32;
        groups.push(SampledGroup { class: Arc::clone(class), site: *site, allocated: *allocated });
    }
    let one_in = FollowedShare::of(scan);
    let (mut alive_in, mut gone) = (Vec::new(), Vec::new());
    for (at, time) in moments.iter().enumerate() {
        progress.check()?;
        let mut objects = Vec::new();
        let Some(time) = *time else {
            alive_in.push(objects);
            gone.push(0);
            continue;
        };
        let mut missing = 0;
        for (id, object) in alive(at)? {
            let (Some(sample), Some(key)) = (scan.samples.get(&id), keys.get(&id)) else {
                missing += 1;
                continue;
            };
            let Some((group, _)) = numbers.get(key) else { continue };
            let weight = weight_of(sample) * one_in.between(sample.time, time);
            let amount = SampledAmount::of_sample(sample.size, weight);
            objects.push(SampledObject { sample: id, object, group: *group, amount });
        }
        objects.sort_unstable_by_key(|object| object.sample);
        objects.dedup_by_key(|object| object.sample);
        alive_in.push(objects);
        gone.push(missing);
    }
    let lost = |row: &&memory_city_wire::LossRow| {
        row.what == u32::from(ChunkKind::SAMPLES.0) && row.reason != LossReason::Thinned
    };
    let is_exact = scan.run.get("recording.mode").is_some_and(|mode| mode == EVERY_ALLOCATION);
    let from_start = scan.run.get("recording.from-start").is_none_or(|from| from != "false");
    Ok(Some(SampledAllocations {
        sites: provenance.all_sites(),
        groups,
        alive: alive_in,
        gone,
        is_thinned: !one_in.0.is_empty(),
        lost: scan.losses.iter().filter(lost).map(|row| row.count).fold(0, u64::saturating_add),
        is_exact,
        from_start,
        // Who records every allocation has a collection first, which ends what was drawn.
        begins_blind: !from_start && !is_exact && java_of(scan).is_some_and(|version| version < 18),
    }))
}

/// The feature version of the program's Java, where the run tells it: 17 of `17.0.13`.
fn java_of(scan: &Scan) -> Option<u32> {
    let version = scan.run.get("java.version")?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// How many allocations a sample stands for. A file may say anything.
pub(super) fn weight_of(sample: &SampleOrigin) -> f64 {
    (sample.weight as f64 / WEIGHT_ONE as f64).max(1.0)
}

/// Since when one in how many samples has been followed; ascending.
pub(super) struct FollowedShare(Vec<(u64, f64)>);

impl FollowedShare {
    pub(super) fn of(scan: &Scan) -> FollowedShare {
        let mut all: Vec<(u64, f64)> = scan
            .settings
            .iter()
            .filter(|row| row.key == FOLLOWED_ONE_IN)
            .filter_map(|row| Some((row.time, f64::from(row.value.trim().parse::<u32>().ok()?).max(1.0))))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        FollowedShare(all)
    }

    /// One in how many of the samples of `born` is still followed at `now`: the most that it was in between.
    pub(super) fn between(&self, born: u64, now: u64) -> f64 {
        let from = self.0.partition_point(|(time, _)| *time <= born).saturating_sub(1);
        let to = self.0.partition_point(|(time, _)| *time <= now);
        let in_force = self.0.get(from..to).unwrap_or_default();
        in_force.iter().map(|(_, one_in)| *one_in).fold(1.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::FollowedShare;

    #[test]
    fn a_sample_stands_for_those_that_were_let_go_of_since() {
        let share = FollowedShare(vec![(100, 2.0), (200, 4.0), (300, 1.0)]);
        for (born, now, one_in) in
            [(50, 90, 1.0), (50, 150, 2.0), (150, 160, 2.0), (50, 400, 4.0), (250, 400, 4.0), (350, 400, 1.0)]
        {
            assert_eq!(share.between(born, now), one_in, "{born} to {now}");
        }
        assert_eq!(FollowedShare(Vec::new()).between(0, 9), 1.0);
    }
}
