//! Live objects estimated from samples, at times right after collections, when deaths are known and garbage is rare. Each sample stands for
//! as many objects as its weight, of its class, place, thread and birth.

use super::counted::CountedKind;
use super::sample_kinds::SampleKinds;
use super::sampled::{FollowedShare, weight_of};
use super::scan::Scan;
use crate::lives::Weighed;
use crate::replay::CohortKey;
use memory_city_heap::SpaceKind;

/// Most times with estimates.
const MOST_TIMES: usize = 60;

/// Samples from birth to death.
pub(super) struct Estimates {
    /// The samples by their common facts.
    samples: Vec<WeighedSample>,
    /// When it was looked.
    looks: Vec<DeathCheck>,
    one_in: FollowedShare,
}

/// A time when it was looked which samples are dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeathCheck {
    /// Nanoseconds since the recording began.
    pub(super) time: u64,
    /// Its number among all that are shown or have nothing to show, from 1.
    pub(super) number: usize,
    /// How many collections had ended.
    pub(super) gcs: u32,
}

struct WeighedSample {
    key: CohortKey,
    born: u64,
    /// When it was found dead or let go of.
    died: Option<u64>,
    size: u64,
    weight: f64,
}

impl WeighedSample {
    fn is_alive(&self, time: u64) -> bool {
        self.born <= time && self.died.is_none_or(|died| died > time)
    }
}

impl Estimates {
    /// O(samples log samples, and times × samples).
    pub(super) fn of(scan: &Scan, kinds: &SampleKinds) -> Estimates {
        let sample = |(id, info): &(u64, u32)| {
            let sample = scan.samples.get(id)?;
            Some(WeighedSample {
                key: CohortKey { info: *info, birth: sample.gcs, space: SpaceKind::Unknown },
                born: sample.time,
                died: scan.deaths.get(id).map(|death| death.time),
                size: sample.size,
                weight: weight_of(sample),
            })
        };
        let mut samples: Vec<WeighedSample> = kinds.samples.iter().filter_map(sample).collect();
        samples.sort_by_key(|sample| sample.key);
        let mut looks: Vec<u64> = scan.deaths.values().map(|death| death.time).collect();
        looks.sort_unstable();
        looks.dedup();
        if looks.is_empty() {
            looks.extend(samples.iter().map(|sample| sample.born).max());
        }
        let count = looks.len().min(MOST_TIMES);
        let ended = EndedCollections::of(scan);
        let looks = (1..=count).filter_map(|number| {
            let time = *looks.get(number * looks.len() / count - 1)?;
            Some(DeathCheck { time, number, gcs: ended.by(time) })
        });
        // Of what was sampled so far nothing was alive: there is nothing to show.
        let looks = looks.filter(|look| samples.iter().any(|sample| sample.is_alive(look.time))).collect();
        Estimates { samples, looks, one_in: FollowedShare::of(scan) }
    }

    /// The times, ascending.
    pub(super) fn looks(&self) -> &[DeathCheck] {
        &self.looks
    }

    /// The live objects at one of them, each kind once, ascending. O(samples).
    pub(super) fn at(&self, look: usize) -> Vec<CountedKind> {
        let Some(&DeathCheck { time, .. }) = self.looks.get(look) else { return Vec::new() };
        let mut found: Vec<CountedKind> = Vec::new();
        for sample in self.samples.iter().filter(|sample| sample.is_alive(time)) {
            let amount = Weighed::sample(sample.size, sample.weight * self.one_in.between(sample.born, time));
            match found.last_mut().filter(|last| last.key == sample.key) {
                Some(last) => last.amount += amount,
                None => found.push(CountedKind { key: sample.key, amount }),
            }
        }
        found
    }
}

/// The number of collections that had ended by each time, ascending, as far as the recording has them or their freed objects.
struct EndedCollections(Vec<(u64, u64)>);

impl EndedCollections {
    fn of(scan: &Scan) -> EndedCollections {
        let told = scan.gcs.values().map(|(_, row)| (row.start.saturating_add(row.duration), row.number));
        let freed = scan.deaths.values().filter_map(|death| Some((death.time, death.gc?)));
        let mut ends: Vec<(u64, u64)> = told.chain(freed).collect();
        ends.sort_unstable();
        let mut most = 0;
        for (_, number) in &mut ends {
            most = number.saturating_add(1).max(most);
            *number = most;
        }
        EndedCollections(ends)
    }

    fn by(&self, time: u64) -> u32 {
        let after = self.0.partition_point(|(end, _)| *end <= time);
        let ended = after.checked_sub(1).and_then(|last| self.0.get(last)).map_or(0, |(_, ended)| *ended);
        u32::try_from(ended).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::EndedCollections;

    #[test]
    fn collections_are_counted_by_their_numbers() {
        // Of the second nothing is told; the fourth ends before the third.
        let mut ends = EndedCollections(vec![(10, 1), (30, 4), (40, 4)]);
        for (time, expected) in [(9, 0), (10, 1), (29, 1), (30, 4), (99, 4)] {
            assert_eq!(ends.by(time), expected, "{time}");
        }
        ends.0.push((50, u64::MAX));
        assert_eq!(ends.by(50), u32::MAX);
        assert_eq!(EndedCollections(Vec::new()).by(5), 0);
    }
}
