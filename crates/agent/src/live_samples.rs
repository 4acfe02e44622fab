//! Followed samples: each has a weak reference, which reveals the death of its object and its place in a walk.
//!
//! The number of live ones is bounded. Beyond it every second one is dropped, chosen by number, and so is every second new one, even if no
//! collection comes for long. Dropped samples are counted and reported. The recorder's thread looks at all of them, while the program's
//! threads go on adding.

use crate::vm::Weak;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A sample and its weak reference.
pub(crate) type Followed = (u64, Weak);

/// Late samples whose times are kept; those behind them are counted.
const MOST_LATE: usize = 1 << 16;

/// When samples were taken that came too late to be held for a walk, in the order in which they came.
#[derive(Default)]
struct LateSamples {
    times: Vec<u64>,
    more: u64,
}

#[derive(Default)]
struct FollowedList {
    refs: Vec<Followed>,
    /// While a walk is on its way.
    late: Option<LateSamples>,
}

pub(crate) struct LiveSamples {
    list: Mutex<FollowedList>,
    /// One in 2 to the power of this is followed.
    level: AtomicU32,
    count: AtomicU32,
    most: u32,
}

impl LiveSamples {
    pub(crate) fn new(most: u32) -> LiveSamples {
        LiveSamples { list: Mutex::default(), level: AtomicU32::new(0), count: AtomicU32::new(0), most }
    }

    /// Whether a sample is to be followed.
    pub(crate) fn admits(&self, sample: u64) -> bool {
        self.count.load(Ordering::Relaxed) < self.most && is_chosen(sample, self.level.load(Ordering::Relaxed))
    }

    fn list(&self) -> MutexGuard<'_, FollowedList> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows it; it was taken at that time.
    pub(crate) fn push(&self, followed: Followed, at: u64) {
        let mut list = self.list();
        list.refs.push(followed);
        if let Some(late) = &mut list.late {
            if late.times.len() < MOST_LATE { late.times.push(at) } else { late.more += 1 }
        }
        drop(list);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The present thinning: one in this many is followed.
    pub(crate) fn one_in(&self) -> u32 {
        1 << self.level.load(Ordering::Relaxed).min(31)
    }

    /// How many are followed.
    pub(crate) fn len(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// True if there is hardly room for more. Dropped samples are counted, and the others stand for them; refused ones would be missing.
    pub(crate) fn is_crowded(&self) -> bool {
        self.are_too_many(self.len())
    }

    fn are_too_many(&self, followed: u32) -> bool {
        followed > self.most / 8 * 7
    }

    /// Takes all of them out, to look at them; those that are still followed go back with [`LiveSamples::put_back`].
    pub(crate) fn take(&self) -> Vec<Followed> {
        std::mem::take(&mut self.list().refs)
    }

    /// The same, to hold them for a walk. Those that come from now on are too late for it, until [`LiveSamples::late`] asks how many.
    pub(crate) fn take_for_walk(&self) -> Vec<Followed> {
        let mut list = self.list();
        list.late = Some(LateSamples::default());
        std::mem::take(&mut list.refs)
    }

    /// The number of late samples taken before `stood_still`, when the program stood still for a walk. Resets the list.
    pub(crate) fn late(&self, stood_still: u64) -> u64 {
        let Some(late) = self.list().late.take() else { return 0 };
        let count = late.times.iter().filter(|at| **at < stood_still).count();
        // Behind so many that were all in time for it some may be too: rather one too many than none.
        let all_were = count == late.times.len();
        count as u64 + if all_were { late.more } else { 0 }
    }

    /// Puts back the samples that were taken out and are still followed, in order; `gone` is the number of the others.
    pub(crate) fn put_back(&self, mut kept: Vec<Followed>, gone: u32) {
        let mut list = self.list();
        kept.append(&mut list.refs);
        list.refs = kept;
        drop(list);
        self.count.fetch_sub(gone, Ordering::Relaxed);
    }

    /// If there are too many: the ones to drop; fewer follow from now on. If there are few, more follow again.
    pub(crate) fn thin(&self, all: &mut Vec<Followed>) -> Vec<Followed> {
        let mut level = self.level.load(Ordering::Relaxed);
        let mut gone = Vec::new();
        if self.are_too_many(all.len() as u32) {
            level += 1;
            all.retain(|followed| {
                let keep = is_chosen(followed.0, level);
                if !keep {
                    gone.push(*followed);
                }
                keep
            });
        } else if level > 0 && (all.len() as u32) < self.most / 8 {
            level -= 1;
        }
        self.level.store(level, Ordering::Relaxed);
        gone
    }
}

/// One in 2^level, by a mixture of the bits of its number.
fn is_chosen(sample: u64, level: u32) -> bool {
    let mixed = (sample ^ (sample >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 32) & ((1u64 << level.min(31)) - 1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_are_thinned_evenly_and_none_is_forgotten() {
        let live = LiveSamples::new(1000);
        let (mut followed, mut let_go) = (0, 0);
        for sample in 1..=100_000u64 {
            if live.admits(sample) {
                live.push((sample, sample as Weak), sample);
                followed += 1;
            }
            if sample % 50 == 0 {
                let mut all = live.take();
                let gone = live.thin(&mut all);
                let_go += gone.len();
                live.put_back(all, gone.len() as u32);
            }
        }
        assert!((300..=1000).contains(&live.len()), "{}", live.len());
        let left = live.take();
        assert_eq!(left.len() + let_go, followed);
        // Old and new ones are followed alike: half of those that are left are of the first half.
        let old = left.iter().filter(|f| f.0 <= 50_000).count() as f64 / left.len() as f64;
        assert!((0.4..0.6).contains(&old), "{old}");
    }

    #[test]
    fn who_comes_too_late_for_a_walk_is_counted() {
        let live = LiveSamples::new(u32::MAX);
        let push = |times: std::ops::Range<u64>| times.for_each(|at| live.push((at, at as Weak), at));
        push(0..10);
        assert_eq!(live.late(u64::MAX), 0, "there is no walk");
        assert_eq!(live.take_for_walk().len(), 10);
        push(10..15);
        // The last look before the program stands still: these are held too.
        assert_eq!(live.take_for_walk().len(), 5);
        push(15..40);
        assert_eq!((live.late(22), live.late(u64::MAX)), (7, 0), "and once");
        assert_eq!(live.take_for_walk().len(), 25);
        // More than anybody keeps: after them the program went on.
        push(0..MOST_LATE as u64 + 9);
        assert_eq!(live.late(50), 50);
        live.take_for_walk();
        push(0..MOST_LATE as u64 + 9);
        assert_eq!(live.late(u64::MAX), MOST_LATE as u64 + 9);
    }

    /// Without a collection nothing dies: samples that are dropped in time leave room for all that are to be followed.
    #[test]
    fn who_looks_when_it_is_crowded_refuses_none() {
        let live = LiveSamples::new(1000);
        for sample in 1..=100_000u64 {
            assert!(live.len() < 1000, "{sample}");
            if live.admits(sample) {
                live.push((sample, sample as Weak), sample);
            }
            if sample % 50 == 0 && live.is_crowded() {
                let mut all = live.take();
                let gone = live.thin(&mut all);
                live.put_back(all, gone.len() as u32);
            }
        }
        assert!(live.one_in() > 64, "{}", live.one_in());
    }
}
