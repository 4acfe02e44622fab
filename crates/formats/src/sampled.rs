//! Estimates from samples of allocations, each with its error. They are never mixed with the counts of walks, which are exact.
//!
//! An allocation of `size` bytes is sampled with the probability p = 1 - e^(-size / interval), so a sample stands for 1 / p objects, and
//! `size / p` bytes. If very many sampled objects are alive, only some are followed, and p is smaller by that share. Samples are drawn
//! independently, so the variance of a sum is the sum of size² (1 - p) / p² (Horvitz and Thompson's estimate for Poisson sampling). The
//! error shown is three times its root.

use memory_city_heap::{AllocationSite, ObjectId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An estimate by samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampledAmount {
    /// How many samples it is made of.
    pub samples: u64,
    /// Objects that they stand for.
    pub objects: f64,
    /// Bytes that they stand for.
    pub bytes: f64,
    /// Variance of the bytes.
    pub variance: f64,
}

impl SampledAmount {
    /// The estimate from one sample of an object of so many bytes that stands for so many objects.
    #[inline]
    pub fn of_sample(size: u64, weight: f64) -> SampledAmount {
        let bytes = size as f64 * weight;
        SampledAmount { samples: 1, objects: weight, bytes, variance: bytes * bytes * (1.0 - 1.0 / weight.max(1.0)) }
    }

    /// The estimate from so many like these.
    pub fn times(self, count: u64) -> SampledAmount {
        let SampledAmount { samples, objects, bytes, variance } = self;
        let n = count as f64;
        SampledAmount { samples: samples * count, objects: objects * n, bytes: bytes * n, variance: variance * n }
    }

    /// Adds the estimate from other samples.
    #[inline]
    pub fn add(&mut self, other: SampledAmount) {
        self.samples += other.samples;
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.variance += other.variance;
    }

    /// The error of the bytes: three standard deviations, within which the truth is in 997 of 1,000 cases where there are
    /// some dozens of samples.
    pub fn error(&self) -> f64 {
        3.0 * self.variance.max(0.0).sqrt()
    }
}

/// The allocations of one class at one site.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledGroup {
    /// The class, in source form.
    pub class: Arc<str>,
    /// The place, in [`SampledAllocations::sites`]; 0 is not known.
    pub site: u32,
    /// All that was allocated while it was recorded.
    pub allocated: SampledAmount,
}

/// A sample whose object some root reaches in a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledObject {
    /// Its number.
    pub sample: u64,
    /// The object in the heap state.
    pub object: ObjectId,
    /// The place in [`SampledAllocations::groups`].
    pub group: u32,
    /// The amount it stands for.
    pub amount: SampledAmount,
}

/// Estimates for a recording as a whole, and at some points in time.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledAllocations {
    /// The call chains.
    pub sites: Arc<Vec<AllocationSite>>,
    /// The allocations, sorted by class and site.
    pub groups: Vec<SampledGroup>,
    /// For each point that was asked for, the samples that are alive in it, ascending by number.
    pub alive: Vec<Vec<SampledObject>>,
    /// For each point, the samples alive at it that are missing here. A recording with a bound has added them up since, so the estimates
    /// are too low by these.
    pub gone: Vec<u64>,
    /// Samples were dropped while their objects lived, because there were very many.
    pub is_thinned: bool,
    /// Samples that were lost: of them nothing is known, and estimates are too small by them.
    pub lost: u64,
    /// Every allocation was recorded: amounts are exact.
    pub is_exact: bool,
    /// The recording began with the program. If not, older objects have no sample.
    pub from_start: bool,
    /// True if the start of running threads is missing. They had drawn the distance to their next sample before the recording began, so up
    /// to 512 KB of allocations each was not seen. This is so before Java 18.
    pub begins_blind: bool,
}

impl SampledAllocations {
    /// The live amount at the `at`th requested point, by group.
    pub fn alive_by_group(&self, at: usize) -> Vec<SampledAmount> {
        let mut sums = vec![SampledAmount::default(); self.groups.len()];
        for object in self.alive.get(at).into_iter().flatten() {
            if let Some(sum) = sums.get_mut(object.group as usize) {
                sum.add(object.amount);
            }
        }
        sums
    }

    /// The change of bytes between two requested points, by `key` of the group, with its variance. Samples alive at both points cancel out,
    /// so the error is that of births and deaths only. If samples were thinned in between, the two points are treated as independent.
    pub fn change<K: Ord>(
        &self,
        from: usize,
        to: usize,
        key: impl Fn(&SampledGroup) -> K,
    ) -> BTreeMap<K, SampledChange> {
        let mut changes: BTreeMap<K, SampledChange> = BTreeMap::new();
        let of = |at: usize| self.alive.get(at).map_or(&[][..], Vec::as_slice);
        let (before, after) = (of(from), of(to));
        let mut add = |object: &SampledObject, sign: f64| {
            let Some(group) = self.groups.get(object.group as usize) else { return };
            let change = changes.entry(key(group)).or_default();
            change.bytes += sign * object.amount.bytes;
            change.variance += object.amount.variance;
        };
        let is_in = |all: &[SampledObject], sample: u64| all.binary_search_by_key(&sample, |o| o.sample).is_ok();
        for object in before.iter().filter(|o| self.is_thinned || !is_in(after, o.sample)) {
            add(object, -1.0);
        }
        for object in after.iter().filter(|o| self.is_thinned || !is_in(before, o.sample)) {
            add(object, 1.0);
        }
        changes
    }
}

/// A difference of two estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampledChange {
    /// Bytes that are there in addition.
    pub bytes: f64,
    /// Variance of that.
    pub variance: f64,
}

impl SampledChange {
    /// Three standard deviations.
    pub fn error(&self) -> f64 {
        3.0 * self.variance.max(0.0).sqrt()
    }

    /// Whether it is growth beyond the error.
    pub fn is_growth(&self) -> bool {
        self.bytes > 0.0 && self.bytes > self.error()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers that look random, from 0 to 1.
    fn draws(mut seed: u64) -> impl FnMut() -> f64 {
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mixed = (seed ^ (seed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            (mixed >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Many histories of which the truth is known: the error covers it as often as three sigma should.
    #[test]
    fn the_error_covers_the_truth() {
        let mut draw = draws(4711);
        let (mut trials, mut within) = (0, 0);
        for round in 0..2000u32 {
            let (size, interval) = (16 + u64::from(round % 37) * 24, 4096.0 * f64::from(1 + round % 5));
            let p = 1.0 - (-(size as f64) / interval).exp();
            let objects = (60.0 / p) as u64;
            let mut sum = SampledAmount::default();
            for _ in 0..objects {
                if draw() < p {
                    sum.add(SampledAmount::of_sample(size, 1.0 / p));
                }
            }
            if sum.samples >= 30 {
                trials += 1;
                within += u32::from((sum.bytes - (objects * size) as f64).abs() <= sum.error());
            }
        }
        assert!(trials > 1900 && f64::from(within) >= 0.985 * f64::from(trials), "{within} of {trials}");
    }

    proptest! {
        /// The change of groups is the difference of live amounts, whether or not the points share samples.
        #[test]
        fn changes_are_differences(
            first in prop::collection::btree_map(0u64..60, (0u32..4, 1u64..500), 0..40),
            second in prop::collection::btree_map(0u64..60, (0u32..4, 1u64..500), 0..40),
            is_thinned in any::<bool>(),
        ) {
            let group = |n: u32| SampledGroup { class: Arc::from(format!("C{n}")), site: n, allocated: SampledAmount::default() };
            // A sample is the same object wherever it is.
            let fact = |sample: u64| first.get(&sample).or(second.get(&sample)).copied().unwrap_or_default();
            let objects = |of: &BTreeMap<u64, (u32, u64)>| -> Vec<SampledObject> {
                of.keys().map(|&sample| {
                    let (group, size) = fact(sample);
                    SampledObject { sample, object: ObjectId(0), group, amount: SampledAmount::of_sample(size, 3.0) }
                }).collect()
            };
            let all = SampledAllocations {
                sites: Arc::default(),
                groups: (0..4).map(group).collect(),
                alive: vec![objects(&first), objects(&second)],
                gone: vec![0; 2], is_thinned, lost: 0, is_exact: false, from_start: true, begins_blind: false,
            };
            let (before, after) = (all.alive_by_group(0), all.alive_by_group(1));
            let changes = all.change(0, 1, |group| group.site);
            for n in 0..4u32 {
                let change = changes.get(&n).copied().unwrap_or_default();
                let (a, b) = (before[n as usize], after[n as usize]);
                prop_assert!((change.bytes - (b.bytes - a.bytes)).abs() < 1e-6);
                prop_assert!(change.variance <= a.variance + b.variance + 1e-6);
                if is_thinned {
                    prop_assert!((change.variance - a.variance - b.variance).abs() < 1e-6);
                }
            }
        }
    }
}
