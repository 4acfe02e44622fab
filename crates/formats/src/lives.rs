//! Births, promotions and deaths in a run, collection by collection, and the collections themselves.
//!
//! Traces know every object: their numbers are exact, and follow from the recording in one pass. Recordings of stock JVMs know samples,
//! each of which stands for many allocations like it: their numbers are estimates with a variance. Neither needs a heap state.

use super::event::{GcKind, ObjectInfo};
use super::recording::Recording;
use super::replay::CohortKey;
use memory_city_heap::SpaceKind;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

/// The kind of a run's records: garbage collections, or pauses. For a collector that works beside the program the VM reports single pauses,
/// several for one collection, without their grouping. Texts that count records take the noun from here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GcNoun {
    /// Whole collections, or records of unknown kind.
    #[default]
    Collections,
    /// Pauses: each record is one.
    Pauses,
}

impl GcNoun {
    /// The noun for `records`, of which `pauses` are single pauses. If only some are, as in G1's concurrent cycles, the others are whole
    /// collections, and all are called that.
    pub fn of(records: u64, pauses: u64) -> GcNoun {
        if records > 0 && pauses == records { GcNoun::Pauses } else { GcNoun::Collections }
    }

    /// The noun for records, each with its flag for a single pause.
    pub fn of_each(one_pause: impl IntoIterator<Item = bool>) -> GcNoun {
        let (mut records, mut pauses) = (0, 0);
        for is_pause in one_pause {
            records += 1;
            pauses += u64::from(is_pause);
        }
        GcNoun::of(records, pauses)
    }

    /// Whether they are pauses.
    pub fn is_pauses(self) -> bool {
        self == GcNoun::Pauses
    }

    /// The singular: `collection`.
    pub fn one(self) -> &'static str {
        if self.is_pauses() { "pause" } else { "collection" }
    }

    /// The plural: `collections`.
    pub fn many(self) -> &'static str {
        if self.is_pauses() { "pauses" } else { "collections" }
    }

    /// Several of them as a title: `Collections`.
    pub fn title(self) -> &'static str {
        if self.is_pauses() { "Pauses" } else { "Collections" }
    }

    /// One of them by its number, within a sentence: `GC 40`, `pause 40`.
    pub fn numbered(self, number: u64) -> String {
        if self.is_pauses() { format!("pause {number}") } else { format!("GC {number}") }
    }

    /// The same as a label: `GC 40`, `Pause 40`.
    pub fn label(self, number: u64) -> String {
        if self.is_pauses() { format!("Pause {number}") } else { format!("GC {number}") }
    }
}

/// A garbage collection of a run. Times are nanoseconds since the program started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcRecord {
    /// The source's own number.
    pub number: u64,
    /// Whether the whole heap was collected; `None` where the source does not say. Of a single pause: by the collection that it is of.
    pub kind: Option<GcKind>,
    /// Why; empty where the source does not say.
    pub cause: String,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// True if the times are those of one pause: the collector works beside the program, and the recorder does not hear of its whole work.
    pub one_pause: bool,
    /// Bytes in use when it began, where known.
    pub before: Option<u64>,
    /// Bytes in use when it ended, where known.
    pub after: Option<u64>,
}

/// The collections of a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcHistory {
    /// When the recording began, nanoseconds since the program started.
    pub began: u64,
    /// Milliseconds since the Unix epoch at which the program started; 0 when not known.
    pub epoch: u64,
    /// The collections that ended.
    pub collections: Vec<GcRecord>,
}

impl GcHistory {
    /// The noun for its records.
    pub fn noun(&self) -> GcNoun {
        GcNoun::of_each(self.collections.iter().map(|gc| gc.one_pause))
    }

    /// The history of a trace: its collections, with the bytes that its recording counts at their starts and ends.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn of_trace(recording: &Recording, progress: &Progress) -> Result<GcHistory> {
        let mut bytes = 0i64;
        let mut collections = Vec::with_capacity(recording.collections.len());
        for (gc, collection) in recording.collections.iter().enumerate() {
            progress.check()?;
            let mut used = [0u64; 2];
            for (side, used) in used.iter_mut().enumerate() {
                if 2 * gc + side < recording.log.len() {
                    bytes += recording.log.changes(2 * gc + side).map(|change| change.bytes).sum::<i64>();
                }
                *used = u64::try_from(bytes).unwrap_or(0);
            }
            let cause = recording.program.causes.get(collection.cause as usize);
            collections.push(GcRecord {
                number: collection.number.into(),
                kind: Some(collection.kind),
                cause: cause.map(|cause| cause.to_string()).unwrap_or_default(),
                start: collection.start.saturating_mul(NANOS),
                end: collection.end.max(collection.start).saturating_mul(NANOS),
                one_pause: false,
                before: Some(used[0]),
                after: Some(used[1]),
            });
        }
        Ok(GcHistory { began: 0, epoch: 0, collections })
    }
}

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

/// Objects and bytes: counted, or estimated from samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weighed {
    /// Objects.
    pub objects: f64,
    /// Bytes.
    pub bytes: f64,
    /// Variance of the objects; 0 where they were counted.
    pub objects_variance: f64,
    /// Variance of the bytes.
    pub bytes_variance: f64,
}

impl Weighed {
    /// Counted.
    pub fn exact(objects: u64, bytes: u64) -> Weighed {
        Weighed { objects: objects as f64, bytes: bytes as f64, ..Weighed::default() }
    }

    /// One sample of `size` bytes that was taken with the probability 1 / `weight`. It stands for `weight` allocations (Horvitz and
    /// Thompson 1952; samples are independent of each other, so variances add up).
    pub fn sample(size: u64, weight: f64) -> Weighed {
        let (weight, size) = (weight.max(1.0), size as f64);
        let variance = weight * (weight - 1.0);
        Weighed {
            objects: weight,
            bytes: weight * size,
            objects_variance: variance,
            bytes_variance: variance * size * size,
        }
    }

    /// The sum of so many like it.
    fn times(self, count: u64) -> Weighed {
        let n = count as f64;
        Weighed {
            objects: self.objects * n,
            bytes: self.bytes * n,
            objects_variance: self.objects_variance * n,
            bytes_variance: self.bytes_variance * n,
        }
    }

    /// The error of the objects, up or down, which holds nineteen times out of twenty.
    pub fn objects_error(&self) -> f64 {
        NINETEEN_OF_TWENTY * self.objects_variance.sqrt()
    }

    /// The same of the bytes.
    pub fn bytes_error(&self) -> f64 {
        NINETEEN_OF_TWENTY * self.bytes_variance.sqrt()
    }

    /// The part of it that has so many of its objects.
    fn part(self, objects: f64) -> Weighed {
        let share = if self.objects > 0.0 { objects / self.objects } else { 0.0 };
        Weighed { objects, bytes: self.bytes * share, ..Weighed::default() }
    }
}

/// Standard deviations of a normal distribution.
const NINETEEN_OF_TWENTY: f64 = 1.96;

impl std::ops::AddAssign for Weighed {
    fn add_assign(&mut self, other: Weighed) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.objects_variance += other.objects_variance;
        self.bytes_variance += other.bytes_variance;
    }
}

/// A step in the life of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LifeStep {
    /// It was allocated.
    Born,
    /// A collection moved it from a young space into an old one.
    Promoted,
    /// A collection freed it.
    Died,
}

/// Something that happened to objects that nothing tells apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeEvent {
    /// The collection, counted from 0: that freed or moved them, or the first one after their birth.
    pub gc: u32,
    /// The step.
    pub step: LifeStep,
    /// Creation data and birth; the space they were born in, were in before they died, or were promoted to.
    pub key: CohortKey,
    /// How many.
    pub amount: Weighed,
}

impl LifeEvent {
    /// The number of GCs survived: the number of the collection minus that of the first one after the object's birth. An object that the
    /// first one frees has survived none.
    pub fn age(&self) -> u32 {
        self.gc.saturating_sub(self.key.birth)
    }
}

/// Samples of allocations from birth to death that nothing tells apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampledLife {
    /// Creation data, an index into [`Recording::infos`].
    pub info: u32,
    /// The first collection after its birth, by its place.
    pub birth: u32,
    /// The collection that freed it, by its place; `None` where it outlived the recording.
    pub death: Option<u32>,
    /// Shallow bytes.
    pub size: u64,
    /// How many allocations each stands for.
    pub weight: f64,
    /// How many samples they are.
    pub count: u64,
}

/// The samples of a recording as lives.
#[derive(Default)]
pub(crate) struct SampledLives {
    /// Types, sites, threads and creation data. Its log is empty: nothing is known of unsampled objects.
    pub recording: Recording,
    /// The samples, by birth.
    pub samples: Vec<SampledLife>,
    /// Samples of deaths whose collection is unknown, and of those added up when their part was deleted.
    pub undated: u64,
    /// Deaths that the recorder did not write: such samples seem to live, or to have died later.
    pub lost_deaths: u64,
}

/// Births, promotions and deaths of a run.
#[derive(Clone, Copy)]
pub struct Lives<'a> {
    /// Types, sites, threads and creation data of the objects.
    pub recording: &'a Recording,
    sampled: Option<&'a SampledLives>,
    /// Collections there are.
    gcs: u32,
}

impl<'a> Lives<'a> {
    /// The lives in a trace, from its recording alone.
    pub fn of_trace(recording: &'a Recording) -> Lives<'a> {
        Lives::counted(recording, recording.collections.len() as u32)
    }

    /// The lives of all objects, from the changes over so many collections.
    pub(crate) fn counted(recording: &'a Recording, gcs: u32) -> Lives<'a> {
        Lives { recording, sampled: None, gcs }
    }

    pub(crate) fn sampled(lives: &'a SampledLives, gcs: u32) -> Lives<'a> {
        Lives { recording: &lives.recording, sampled: Some(lives), gcs }
    }

    /// Whether every object was counted; otherwise all numbers are estimates from samples.
    pub fn is_exact(&self) -> bool {
        self.sampled.is_none()
    }

    /// True if every allocation was sampled. Each sample stands for itself alone, and the only error are losses on the way, which the
    /// recording counts.
    pub fn is_complete(&self) -> bool {
        self.sampled.is_some_and(|lives| lives.samples.iter().all(|sample| sample.weight <= 1.0))
    }

    /// How many samples the estimates are made of.
    pub fn samples(&self) -> u64 {
        self.sampled.map_or(0, |lives| lives.samples.iter().map(|sample| sample.count).sum())
    }

    /// Samples of which it is not known when they died: they are in no number.
    pub fn undated(&self) -> u64 {
        self.sampled.map_or(0, |lives| lives.undated)
    }

    /// Deaths that were not recorded.
    pub fn lost_deaths(&self) -> u64 {
        self.sampled.map_or(0, |lives| lives.lost_deaths)
    }

    /// The number of collections.
    pub fn gcs(&self) -> u32 {
        self.gcs
    }

    /// Tells all that happened up to the end of collection `last`, collection by collection: one pass over the changes, or the
    /// samples. Within a collection births come first.
    ///
    /// If alike objects leave several spaces at once, some dead and some moved, those of the youngest space count as dead.
    ///
    /// # Errors
    /// When the work was cancelled, or `tell` fails.
    pub fn each(&self, last: u32, progress: &Progress, mut tell: impl FnMut(LifeEvent) -> Result<()>) -> Result<()> {
        match self.sampled {
            Some(lives) => each_sample(lives, last, progress, &mut tell),
            None => each_change(self.recording, last, progress, &mut tell),
        }
    }
}

fn each_change(
    recording: &Recording,
    last: u32,
    progress: &Progress,
    tell: &mut dyn FnMut(LifeEvent) -> Result<()>,
) -> Result<()> {
    let moments = recording.log.len().min(2 * last as usize + 2);
    progress.begin("Following births and deaths", moments as u64);
    let mut changes = Vec::new();
    for moment in 0..moments {
        progress.check()?;
        progress.advance(1);
        let gc = moment as u32 / 2;
        changes.clear();
        changes.extend(recording.log.changes(moment));
        // Objects of the same creation data and birth: what leaves one space and is in no other has died.
        for same in changes.chunk_by(|a, b| (a.key.info, a.key.birth) == (b.key.info, b.key.birth)) {
            let sum = |of: fn(i64) -> i64| same.iter().map(|c| of(c.objects)).sum::<i64>();
            let (net, come, gone) = (sum(|n| n), sum(|n| n.max(0)), sum(|n| (-n).max(0)));
            let bytes: i64 = same.iter().map(|change| change.bytes).sum();
            let all = Weighed::exact(net.unsigned_abs(), bytes.unsigned_abs());
            let mut left = net.unsigned_abs();
            let mut spaces: Vec<_> = same.iter().filter(|c| (c.objects > 0) == (net > 0) && c.objects != 0).collect();
            spaces.sort_by_key(|change| change.key.space != SpaceKind::Unknown && !change.key.space.is_young());
            let step = if net > 0 { LifeStep::Born } else { LifeStep::Died };
            for change in spaces {
                let here = left.min(change.objects.unsigned_abs());
                left -= here;
                if here > 0 {
                    tell(LifeEvent { gc, step, key: change.key, amount: all.part(here as f64) })?;
                }
            }
            // What has come into old spaces while young ones were left.
            let moved = come.min(gone);
            let is_old = |space| matches!(space, SpaceKind::Old | SpaceKind::Humongous);
            let from_young: i64 = same.iter().filter(|c| c.key.space.is_young()).map(|c| (-c.objects).max(0)).sum();
            let mut left = moved.min(from_young);
            for change in same.iter().filter(|c| is_old(c.key.space) && c.objects > 0) {
                let here = left.min(change.objects);
                left -= here;
                if here > 0 {
                    let whole = Weighed::exact(change.objects.unsigned_abs(), change.bytes.unsigned_abs());
                    tell(LifeEvent { gc, step: LifeStep::Promoted, key: change.key, amount: whole.part(here as f64) })?;
                }
            }
        }
    }
    Ok(())
}

fn each_sample(
    lives: &SampledLives,
    last: u32,
    progress: &Progress,
    tell: &mut dyn FnMut(LifeEvent) -> Result<()>,
) -> Result<()> {
    progress.begin("Following samples", lives.samples.len() as u64);
    let event = |sample: &SampledLife, gc, step| LifeEvent {
        gc,
        step,
        key: CohortKey { info: sample.info, birth: sample.birth, space: SpaceKind::Unknown },
        amount: Weighed::sample(sample.size, sample.weight).times(sample.count),
    };
    let mut deaths: Vec<&SampledLife> = lives.samples.iter().filter(|sample| sample.death.is_some()).collect();
    deaths.sort_by_key(|sample| sample.death);
    let mut deaths = deaths.into_iter().peekable();
    for (n, sample) in lives.samples.iter().enumerate() {
        if n % LOOK == 0 {
            progress.check()?;
            progress.advance(LOOK as u64);
        }
        while let Some(dead) = deaths.next_if(|dead| dead.death.is_some_and(|gc| gc < sample.birth && gc <= last)) {
            tell(event(dead, dead.death.unwrap_or(0), LifeStep::Died))?;
        }
        if sample.birth > last {
            break;
        }
        tell(event(sample, sample.birth, LifeStep::Born))?;
    }
    for dead in deaths {
        match dead.death {
            Some(gc) if gc <= last => tell(event(dead, gc, LifeStep::Died))?,
            _ => break,
        }
    }
    Ok(())
}

/// Samples between two looks at the wish to stop.
const LOOK: usize = 1 << 14;

/// Numbers creation data.
#[derive(Default)]
pub(crate) struct InfoNumbers {
    known: rustc_hash::FxHashMap<ObjectInfo, u32>,
}

impl InfoNumbers {
    /// The number of creation data; listed in `infos` when they are new.
    pub(crate) fn of(&mut self, info: ObjectInfo, infos: &mut Vec<ObjectInfo>) -> u32 {
        *self.known.entry(info).or_insert_with(|| {
            infos.push(info);
            infos.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{CohortChange, Moment};

    /// Numbers that look random, the same in every run, from 0 to below 1.
    fn random(state: &mut u64) -> f64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Simulates the recorder's sampling again and again: the estimates are right on average, and within the reported error nineteen times
    /// out of twenty.
    #[test]
    fn estimates_are_as_far_off_as_they_say() {
        let mut state = 2_463_534_242;
        let (interval, rounds) = (512.0, 400);
        let sizes: Vec<u64> = (0..3000).map(|i| [16, 24, 40, 1000][i % 4]).collect();
        let (objects, bytes) = (sizes.len() as f64, sizes.iter().sum::<u64>() as f64);
        let (mut sum, mut within) = (Weighed::default(), [0, 0]);
        for _ in 0..rounds {
            let mut estimate = Weighed::default();
            for &size in &sizes {
                let probability = 1.0 - (-(size as f64) / interval).exp();
                if random(&mut state) < probability {
                    estimate += Weighed::sample(size, 1.0 / probability);
                }
            }
            within[0] += u32::from((estimate.objects - objects).abs() <= estimate.objects_error());
            within[1] += u32::from((estimate.bytes - bytes).abs() <= estimate.bytes_error());
            sum += estimate;
        }
        let mean = |sum: f64| sum / f64::from(rounds);
        assert!((mean(sum.objects) / objects - 1.0).abs() < 0.02, "{} for {objects}", mean(sum.objects));
        assert!((mean(sum.bytes) / bytes - 1.0).abs() < 0.02, "{} for {bytes}", mean(sum.bytes));
        for within in within {
            let share = f64::from(within) / f64::from(rounds);
            assert!((0.91..=0.98).contains(&share), "{share} of the estimates are within their error");
        }
    }

    #[test]
    fn records_are_called_pauses_where_each_is_one() {
        let noun = |each: &[bool]| GcNoun::of_each(each.iter().copied());
        assert_eq!(noun(&[true, true]), GcNoun::Pauses);
        for others in [&[][..], &[false], &[true, false, true]] {
            assert_eq!(noun(others), GcNoun::Collections, "{others:?}");
        }
        let words = |noun: GcNoun| [noun.one(), noun.many(), noun.title()].map(str::to_owned);
        assert_eq!(words(GcNoun::Collections), ["collection", "collections", "Collections"]);
        assert_eq!(words(GcNoun::Pauses), ["pause", "pauses", "Pauses"]);
        let numbered = |noun: GcNoun| [noun.numbered(7), noun.label(7)];
        assert_eq!(numbered(GcNoun::Collections), ["GC 7", "GC 7"]);
        assert_eq!(numbered(GcNoun::Pauses), ["pause 7", "Pause 7"]);
    }

    fn told(changes: &[&[(u32, SpaceKind, i64)]]) -> Vec<(u32, LifeStep, u32, SpaceKind, f64)> {
        let mut recording = Recording::default();
        for (moment, changes) in changes.iter().enumerate() {
            let change = |&(birth, space, objects): &(u32, SpaceKind, i64)| CohortChange {
                key: CohortKey { info: 0, birth, space },
                objects,
                bytes: 16 * objects,
            };
            let moment = Moment { gc: moment as u32 / 2, end: moment % 2 == 1 };
            recording.log.push(moment, &changes.iter().map(change).collect::<Vec<_>>());
        }
        let mut told = Vec::new();
        let mut tell = |event: LifeEvent| {
            assert_eq!(event.amount.bytes, 16.0 * event.amount.objects);
            told.push((event.gc, event.step, event.age(), event.key.space, event.amount.objects));
            Ok(())
        };
        each_change(&recording, 100, &Progress::new(), &mut tell).expect("told");
        told
    }

    #[test]
    fn what_leaves_a_space_is_dead_unless_it_is_in_another() {
        use LifeStep::{Born, Died, Promoted};
        use SpaceKind::{Eden, Old, Survivor};
        let events = told(&[
            &[(0, Eden, 10)],
            &[(0, Eden, -10), (0, Survivor, 3)],
            &[(1, Eden, 5), (1, Old, 1)],
            &[(0, Survivor, -3), (0, Old, 2), (1, Eden, -5)],
            &[],
            &[(0, Old, -2), (1, Old, -1)],
        ]);
        let expected = [
            (0, Born, 0, Eden, 10.0),
            (0, Died, 0, Eden, 7.0),
            (1, Born, 0, Eden, 5.0),
            (1, Born, 0, Old, 1.0),
            (1, Died, 1, Survivor, 1.0),
            (1, Promoted, 1, Old, 2.0),
            (1, Died, 0, Eden, 5.0),
            (2, Died, 2, Old, 2.0),
            (2, Died, 1, Old, 1.0),
        ];
        assert_eq!(events, expected);
    }
}
