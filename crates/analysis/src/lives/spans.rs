//! Life spans of objects: deaths by age, survival, promotion.
//!
//! They cover the objects born in a window, followed to its end. Survival is the estimate of Kaplan and Meier (1958): an object still alive
//! at the end counts among those at risk for as long as it was seen, and is no death.

use super::{LifePlaces, RunWindow};
use crate::group::{Grouping, MemoryTree, Reads};
use memory_city_formats::{LifeStep, Lives, Weighed};
use memory_city_heap::SpaceKind;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;

/// Ages up to this one are separate: no collector counts further before it calls an object old.
const EXACT: u32 = 15;

/// The number of ranges of ages: exact ones, then doubling.
pub const AGES: usize = EXACT as usize + 1 + 28;

/// The range of an age, from 0.
pub fn age_bucket(age: u32) -> usize {
    match age {
        0..=EXACT => age as usize,
        _ => (EXACT as usize + 1) + (age.ilog2() - 4) as usize,
    }
}

/// The range for people: `0 GCs survived`, `16 to 31 GCs survived`.
pub fn age_bucket_text(bucket: usize) -> String {
    match bucket {
        0..=15 => format!("{bucket} GCs survived"),
        _ => {
            let low = 1u64 << (bucket - 12);
            format!("{low} to {} GCs survived", 2 * low - 1)
        }
    }
}

/// The life spans of a group's objects.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpans {
    /// Objects born in the window.
    pub born: Weighed,
    /// Those that died in it.
    pub died: Weighed,
    /// Those that were moved into an old space.
    pub promoted: Weighed,
    /// Promoted objects that died so young that no collector would have had to promote them.
    pub premature: Weighed,
    /// Deaths by range of ages.
    pub deaths: Vec<Weighed>,
    /// By range of ages: the share of all objects that survives more than any age of it, 0 to 1; NaN if no object was seen that long.
    pub survival: Vec<f64>,
}

/// The life spans of all groups.
pub struct LifeSpans {
    /// The groups.
    pub tree: MemoryTree,
    /// Life spans by node.
    pub groups: Vec<GroupSpans>,
    /// The oldest age, GCs survived, at which anything died.
    pub oldest: u32,
}

/// Counts of one node while the pass runs.
#[derive(Clone, Default)]
struct Counting {
    born: Weighed,
    promoted: Weighed,
    premature: Weighed,
    /// Deaths by age.
    deaths: FxHashMap<u32, Weighed>,
    /// Births less deaths, by birth.
    alive: FxHashMap<u32, f64>,
}

/// The life spans of the objects born in a window, by a grouping. An object that died in an old space after at most `young` collections was
/// promoted too early: it could have stayed young.
///
/// # Errors
/// When the grouping reads facts that change during a life (age, space), a classifier fails, or the work was cancelled.
pub fn life_spans(
    lives: Lives<'_>,
    grouping: &Grouping,
    window: RunWindow,
    young: u32,
    progress: &Progress,
) -> Result<LifeSpans> {
    if grouping.reads().intersects(Reads::AGE | Reads::SPACE) {
        return Err(Error::Unusable {
            what: format!("Lives cannot be grouped by {}: objects change their groups while they live", grouping.title),
            remedy: "Group them by what they keep, such as type or site".into(),
        });
    }
    let mut places = LifePlaces::new(lives, grouping, progress)?;
    let mut counts: Vec<Counting> = vec![Counting::default()];
    // What was promoted of objects that nothing tells apart: those born in an old space were not.
    let mut promoted: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    let mut above = Vec::new();
    if let Some(last) = window.end.checked_sub(1).filter(|&last| last >= window.first) {
        lives.each(last, progress, |event| {
            if event.key.birth < window.first {
                return Ok(());
            }
            above.clear();
            above.extend_from_slice(places.of(&event));
            super::dead_tree::with_above(places.tree(), &mut above);
            counts.resize(places.tree().len().max(counts.len()), Counting::default());
            let unit = (event.key.info, event.key.birth);
            let mut premature = false;
            match event.step {
                LifeStep::Promoted => *promoted.entry(unit).or_default() += event.amount.objects,
                LifeStep::Died if event.key.space == SpaceKind::Old && event.age() <= young => {
                    if let Some(left) = promoted.get_mut(&unit).filter(|left| **left > 0.0) {
                        *left -= event.amount.objects;
                        premature = true;
                    }
                }
                _ => {}
            }
            for &node in &above {
                let group = &mut counts[node as usize];
                let alive = group.alive.entry(event.key.birth).or_default();
                match event.step {
                    LifeStep::Born => {
                        group.born += event.amount;
                        *alive += event.amount.objects;
                    }
                    LifeStep::Promoted => group.promoted += event.amount,
                    LifeStep::Died => {
                        *group.deaths.entry(event.age()).or_default() += event.amount;
                        *alive -= event.amount.objects;
                        if premature {
                            group.premature += event.amount;
                        }
                    }
                }
            }
            Ok(())
        })?;
    }
    places.placement.check()?;
    let oldest = counts[0].deaths.keys().copied().max().unwrap_or(0);
    let groups = counts.into_iter().map(|group| group.finish(window)).collect();
    Ok(LifeSpans { tree: places.placement.tree, groups, oldest })
}

impl Counting {
    fn finish(self, window: RunWindow) -> GroupSpans {
        let mut deaths = vec![Weighed::default(); AGES];
        let mut died = Weighed::default();
        // Ages at which something died, or was seen last: so many collections it had survived, one more than the age of what
        // the last of them would have freed.
        let mut ends: Vec<(u32, f64, f64)> = Vec::new();
        for (&age, &amount) in &self.deaths {
            deaths[age_bucket(age)] += amount;
            died += amount;
            ends.push((age, amount.objects, 0.0));
        }
        for (&birth, &alive) in &self.alive {
            let seen = window.end.saturating_sub(birth);
            if alive > 0.0 && seen > 0 {
                ends.push((seen - 1, 0.0, alive));
            }
        }
        ends.sort_by_key(|end| end.0);
        let mut at_risk: f64 = ends.iter().map(|(_, dead, alive)| dead + alive).sum();
        let mut survival = vec![f64::NAN; AGES];
        let (mut share, mut bucket) = (1.0, 0);
        for same in ends.chunk_by(|a, b| a.0 == b.0) {
            // Ages at which nothing happens are survived by those who are still seen.
            let here = age_bucket(same[0].0);
            // None where ages of one range follow each other: what is left after the last of them counts.
            if let Some(gap) = survival.get_mut(bucket..here) {
                gap.fill(share);
            }
            let (dead, left) = same.iter().fold((0.0, 0.0), |sum, end| (sum.0 + end.1, sum.1 + end.2));
            if at_risk > 0.0 {
                share *= (1.0 - dead / at_risk).max(0.0);
            }
            at_risk -= dead + left;
            survival[here] = share;
            bucket = here + 1;
        }
        GroupSpans { born: self.born, died, promoted: self.promoted, premature: self.premature, deaths, survival }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many ages are one range from 16 on, and each end counts: the share at the end of a range is that of the objects that outlived it.
    #[test]
    fn ages_of_one_range_follow_each_other() {
        let died = [3, 16, 17, 30, 31, 40, 41, 500];
        let one = Weighed { objects: 1.0, ..Weighed::default() };
        // Two live on, born when the window began.
        let counting = Counting {
            deaths: died.iter().map(|&age| (age, one)).collect(),
            alive: [(0, 2.0)].into_iter().collect(),
            ..Counting::default()
        };
        let spans = counting.finish(RunWindow { first: 0, end: 1000, from: 0, to: 0 });
        for bucket in 0..=age_bucket(999) {
            let dead = died.iter().filter(|&&age| age_bucket(age) <= bucket).count();
            let expected = (10 - dead) as f64 / 10.0;
            assert!((spans.survival[bucket] - expected).abs() < 1e-12, "{bucket}: {:?}", spans.survival);
        }
        assert_eq!(spans.deaths[age_bucket(16)].objects, 4.0);
    }
}
