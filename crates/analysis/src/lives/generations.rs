//! Generations of allocations: for each group of objects, the intervals between collections from which objects are still alive.
//!
//! An object is of generation *i* if *i* collections ended before its birth. A leak has live objects of ever more generations. Healthy groups
//! have live objects of few: of the first ones (start-up), of the last ones (sessions, caches that drop what is old), or both. No reference
//! is read. Algorithm and attributes: Šor, *Automated statistical approach for memory leak detection*, 2014; span and recency are ours.
//!
//! Traces count every object. Of samples, a live generation is certain, and one without live samples is not.

use super::{LifePlaces, RunWindow, lives_of};
use crate::group::{Grouping, MemoryTree, Reads};
use crate::timeline::{Source, TimeWindow};
use memory_city_formats::{GcHistory, GcKind, LifeEvent, LifeStep, Lives};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;

/// The grouping by *allocation*: a type, and the line of the program's own code that led to its object.
pub const ALLOCATIONS: &str = "type>domain-site";

/// Objects of a group and generation that are alive. Estimates, if they are samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AliveObjects {
    /// Counted objects, or samples.
    pub counted: u64,
    /// Objects that they stand for.
    pub objects: f64,
    /// Bytes that they stand for.
    pub bytes: f64,
}

/// Live generations by group, kept up to date by births and deaths. Memory follows the live pairs of group and generation.
#[derive(Default)]
pub struct GenerationCounter {
    alive: FxHashMap<(u32, u32), AliveObjects>,
    counts: Vec<u32>,
}

impl GenerationCounter {
    /// Objects of a group were born in a generation.
    pub fn born(&mut self, group: u32, generation: u32, of: AliveObjects) {
        if of.counted == 0 {
            return;
        }
        let alive = self.alive.entry((group, generation)).or_default();
        if alive.counted == 0 {
            let group = group as usize;
            self.counts.resize(self.counts.len().max(group + 1), 0);
            self.counts[group] += 1;
        }
        alive.counted += of.counted;
        alive.objects += of.objects;
        alive.bytes += of.bytes;
    }

    /// Objects of a group and generation died. Deaths without a birth change nothing.
    pub fn died(&mut self, group: u32, generation: u32, of: AliveObjects) {
        let Some(alive) = self.alive.get_mut(&(group, generation)) else { return };
        alive.counted = alive.counted.saturating_sub(of.counted);
        alive.objects -= of.objects;
        alive.bytes -= of.bytes;
        if alive.counted == 0 {
            self.alive.remove(&(group, generation));
            self.counts[group as usize] -= 1;
        }
    }

    /// The number of a group's live generations. It holds once all deaths of a collection have come.
    pub fn count(&self, group: u32) -> u32 {
        self.counts.get(group as usize).copied().unwrap_or(0)
    }

    /// The live generations of each group, ascending.
    fn finish(self) -> FxHashMap<u32, Vec<(u32, AliveObjects)>> {
        let mut groups: FxHashMap<u32, Vec<(u32, AliveObjects)>> = FxHashMap::default();
        for ((group, generation), alive) in self.alive {
            groups.entry(group).or_default().push((generation, alive));
        }
        groups.values_mut().for_each(|live| live.sort_unstable_by_key(|(generation, _)| *generation));
        groups
    }
}

/// The collections that begin a new generation, and after which it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedCollections {
    /// Collections of the whole heap: after them, what counts as alive is reachable.
    Full,
    /// All: after a collection of young objects, old ones may be dead, and numbers are upper bounds.
    All,
}

impl CountedCollections {
    /// The word before the noun for collections: `full `, or none.
    pub fn word(self) -> &'static str {
        if self == CountedCollections::Full { "full " } else { "" }
    }

    /// Whether a collection counts. One of unknown kind counts among all alone.
    fn has(self, kind: Option<GcKind>) -> bool {
        self == CountedCollections::All || kind == Some(GcKind::Major)
    }
}

/// A group with live objects.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerationRow {
    /// Its node in [`Generations::tree`].
    pub node: u32,
    /// Its live generations, ascending, with what is alive of each.
    pub live: Vec<(u32, AliveObjects)>,
    /// The number of live generations at each of [`Generations::times`].
    pub course: Vec<u32>,
    /// Live generations, divided by those of the next smaller number; `None` for the last.
    pub gap: Option<f64>,
}

impl GenerationRow {
    /// genCount: the number of live generations.
    pub fn count(&self) -> u32 {
        self.live.len() as u32
    }

    /// Live objects by generation, in at most `most` equal parts of all `generations`; a part with less than one object has one.
    pub fn picture(&self, generations: u32, most: usize) -> Vec<u64> {
        let columns = (generations as usize).min(most);
        let mut parts = vec![0.0f64; columns];
        for (generation, alive) in &self.live {
            if let Some(part) = parts.get_mut(*generation as usize * columns / generations.max(1) as usize) {
                *part += alive.objects;
            }
        }
        parts.into_iter().map(|objects| if objects > 0.0 { objects.round().max(1.0) as u64 } else { 0 }).collect()
    }

    /// All that is alive.
    pub fn alive(&self) -> AliveObjects {
        self.live.iter().fold(AliveObjects::default(), |sum, (_, of)| AliveObjects {
            counted: sum.counted + of.counted,
            objects: sum.objects + of.objects,
            bytes: sum.bytes + of.bytes,
        })
    }

    /// The standard deviation of the distances of neighbouring live generations, divided by the number of all `generations`; 0 is regular.
    /// `None` for fewer than two.
    pub fn uniformity(&self, generations: u32) -> Option<f64> {
        let distances = || self.live.windows(2).map(|pair| f64::from(pair[1].0 - pair[0].0));
        let n = self.live.len().checked_sub(1).filter(|&n| n > 0)? as f64;
        let mean = distances().sum::<f64>() / n;
        let variance = distances().map(|distance| (distance - mean).powi(2)).sum::<f64>() / n;
        Some(variance.sqrt() / f64::from(generations.max(1)))
    }

    /// The part of all `generations` from the first to the last live one, 0 to 1.
    pub fn span(&self, generations: u32) -> f64 {
        let (first, last) = self.ends();
        f64::from(last + 1 - first) / f64::from(generations.max(1))
    }

    /// The part of all `generations` behind the last live one, 0 to 1; 0 if the newest is alive.
    pub fn recency(&self, generations: u32) -> f64 {
        f64::from(generations.saturating_sub(self.ends().1 + 1)) / f64::from(generations.max(1))
    }

    /// Where its live generations are.
    pub fn shape(&self, generations: u32) -> GenerationShape {
        let (first, last) = self.ends();
        let part = |generation: u32| f64::from(generation) / f64::from(generations.max(1));
        // Of every fifth of the run between the first and the last one some are alive.
        let fifth = |part: u32| (part * (last - first + 1)).div_ceil(FIFTHS) + first;
        let is_filled = (0..FIFTHS).all(|n| {
            self.live.iter().any(|(generation, _)| (fifth(n)..fifth(n + 1).max(fifth(n) + 1)).contains(generation))
        });
        match () {
            () if part(last) < START => GenerationShape::Start,
            () if part(first) > RECENT => GenerationShape::Recent,
            () if self.span(generations) >= SPREAD && part(last + 1) >= STILL && is_filled => GenerationShape::Spread,
            () => GenerationShape::Mixed,
        }
    }

    fn ends(&self) -> (u32, u32) {
        let of = |at: Option<&(u32, AliveObjects)>| at.map_or(0, |(generation, _)| *generation);
        (of(self.live.first()), of(self.live.last()))
    }
}

/// Live generations before this part of a run are of its start.
const START: f64 = 0.2;
/// Live generations behind this part of a run are recent.
const RECENT: f64 = 0.6;
/// Spread generations cover at least this part of a run.
const SPREAD: f64 = 0.6;
/// Spread generations go on until this part of a run.
const STILL: f64 = 0.9;
/// Parts of spread generations; each has a live one.
const FIFTHS: u32 = 5;

/// Where in a run the live generations of a group are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerationShape {
    /// All over it, to its end: as a leak has them.
    Spread,
    /// At its start: what the program sets up once.
    Start,
    /// At its end: sessions, requests, caches that drop what is old.
    Recent,
    /// None of these: start and end, bursts, a cache that was filled for a while.
    Mixed,
}

impl GenerationShape {
    /// All of them.
    pub const ALL: [GenerationShape; 4] =
        [GenerationShape::Spread, GenerationShape::Start, GenerationShape::Recent, GenerationShape::Mixed];

    /// Its meaning, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            GenerationShape::Spread => "objects of the whole run are alive: a leak keeps some of every generation",
            GenerationShape::Start => "made at the start and kept: the state of the program",
            GenerationShape::Recent => "only young ones: sessions, requests, caches that drop what is old",
            GenerationShape::Mixed => "state and sessions together, a burst, or a cache that was filled for a while",
        }
    }

    /// Name for people.
    pub fn text(self) -> &'static str {
        match self {
            GenerationShape::Spread => "spread",
            GenerationShape::Start => "start",
            GenerationShape::Recent => "recent",
            GenerationShape::Mixed => "mixed",
        }
    }
}

/// The generations of all groups after the last counted collection of a window.
pub struct Generations {
    /// The groups.
    pub tree: MemoryTree,
    /// The groups with live objects, those with most live generations first; of equal ones those with most bytes.
    pub rows: Vec<GenerationRow>,
    /// The number of generations: of collections that count. 0 without one.
    pub generations: u32,
    /// The collection after which they are counted, by its place.
    pub collection: Option<u32>,
    /// Places of collections at which the course of each row is known, ascending; the last one is `collection`.
    pub times: Vec<u32>,
    /// Bytes of all that is alive.
    pub bytes: f64,
    /// Creation data by group.
    infos: Vec<(u32, u32)>,
}

impl Generations {
    /// The names down to a group, the outermost first.
    pub fn names(&self, node: u32) -> Vec<&str> {
        super::names(&self.tree, node as usize)
    }

    /// The same in one text: `a.Order › a.Shop.order():12`.
    pub fn path(&self, node: u32) -> String {
        super::group_path(&self.tree, node as usize)
    }

    /// Creation data of the objects that were counted in a group: indices into the recording's.
    pub fn infos(&self, node: u32) -> impl Iterator<Item = u32> {
        let from = self.infos.partition_point(|of| of.0 < node);
        self.infos[from..].iter().take_while(move |of| of.0 == node).map(|of| of.1)
    }
}

/// Points of a course.
const COURSE: usize = 48;

/// The generations of the objects born in a window or before, by a grouping. Objects from before its first collection are of generation 0. One
/// pass over births and deaths; memory follows what is alive, and groups.
///
/// # Errors
/// When the grouping reads facts that change during a life (age, space), a classifier fails, or the work was cancelled.
pub fn generations(
    lives: Lives<'_>,
    history: &GcHistory,
    grouping: &Grouping,
    window: RunWindow,
    counted: CountedCollections,
    progress: &Progress,
) -> Result<Generations> {
    if grouping.reads().intersects(Reads::AGE | Reads::SPACE) {
        return Err(Error::Unusable {
            what: format!("Lives cannot be grouped by {}: objects change their groups while they live", grouping.title),
            remedy: "Group them by what they keep, such as type or site".into(),
        });
    }
    // The generation of what is born when so many collections have ended.
    let mut numbers = vec![0u32];
    let mut counting = Vec::new();
    for (at, gc) in (0..window.end).zip(&history.collections) {
        let counts = at >= window.first && counted.has(gc.kind);
        numbers.push(numbers[at as usize] + u32::from(counts));
        if counts {
            counting.push(at);
        }
    }
    let mut places = LifePlaces::new(lives, grouping, progress)?;
    let (mut counter, mut courses) = (GenerationCounter::default(), Vec::new());
    let times: Vec<u32> = match counting.len() {
        0 => Vec::new(),
        all => {
            let points = all.min(COURSE);
            (1..=points).map(|n| counting[n * all / points - 1]).collect()
        }
    };
    if let Some(&last) = counting.last() {
        lives.each(last, progress, |event| {
            while times.get(courses.len()).is_some_and(|&at| event.gc > at) {
                courses.push(counter.counts.clone());
            }
            let Some(&generation) = numbers.get(event.key.birth as usize) else { return Ok(()) };
            let of = alive(&lives, &event);
            for &group in places.of(&event) {
                match event.step {
                    LifeStep::Born => counter.born(group, generation, of),
                    LifeStep::Died => counter.died(group, generation, of),
                    LifeStep::Promoted => {}
                }
            }
            Ok(())
        })?;
        courses.resize(times.len(), counter.counts.clone());
    }
    places.placement.check()?;
    let course = |node: u32| courses.iter().map(|counts| counts.get(node as usize).copied().unwrap_or(0)).collect();
    let groups = counter.finish().into_iter();
    let mut rows: Vec<GenerationRow> =
        groups.map(|(node, live)| GenerationRow { node, live, course: course(node), gap: None }).collect();
    let size = |row: &GenerationRow| row.alive().bytes;
    rows.sort_by(|a, b| b.count().cmp(&a.count()).then(size(b).total_cmp(&size(a))).then(a.node.cmp(&b.node)));
    for at in 1..rows.len() {
        rows[at - 1].gap = Some(f64::from(rows[at - 1].count()) / f64::from(rows[at].count()));
    }
    let mut infos: Vec<(u32, u32)> = Vec::new();
    for ((info, ..), nodes) in &places.leaves {
        infos.extend(nodes.iter().map(|&node| (node, *info)));
    }
    infos.sort_unstable();
    Ok(Generations {
        infos,
        bytes: rows.iter().map(size).sum(),
        tree: places.placement.tree,
        rows,
        generations: counting.len() as u32,
        collection: counting.last().copied(),
        times,
    })
}

/// Full collections in a window from which on they alone count by default.
const ENOUGH_FULL: usize = 8;

/// The generations of a source between two points in time, by the name or list of a grouping. By default full collections count if there
/// are eight. Also returns which collections counted, the births and deaths, and all collections.
///
/// # Errors
/// When no births and deaths are known, the grouping is unknown, or as [`generations`].
pub fn generations_of<'a>(
    source: &'a Source,
    by: &str,
    window: TimeWindow,
    counted: Option<CountedCollections>,
    progress: &Progress,
) -> Result<(Generations, CountedCollections, Lives<'a>, GcHistory)> {
    let (lives, history) = lives_of(source, progress)?;
    let grouping = crate::timeline::named_grouping(by)?;
    let run = RunWindow::of_points(source, &history, window);
    let of_run = &history.collections[run.first as usize..run.end as usize];
    let full = of_run.iter().filter(|gc| gc.kind == Some(GcKind::Major)).count();
    let counted = counted.unwrap_or(match full >= ENOUGH_FULL {
        true => CountedCollections::Full,
        false => CountedCollections::All,
    });
    Ok((generations(lives, &history, &grouping, run, counted, progress)?, counted, lives, history))
}

/// Objects of an event: counted one by one, or a sample and what it stands for.
fn alive(lives: &Lives<'_>, event: &LifeEvent) -> AliveObjects {
    let counted = if lives.is_exact() { event.amount.objects.round() as u64 } else { 1 };
    AliveObjects { counted, objects: event.amount.objects, bytes: event.amount.bytes }
}

/// How many of some numbers, which descend, are candidates: those above the first ratio of neighbours that is greater than `threshold`.
pub fn above_gap(descending: &[u32], threshold: f64) -> usize {
    let is_gap = |pair: &[u32]| f64::from(pair[0]) > threshold * f64::from(pair[1]);
    descending.windows(2).position(is_gap).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: AliveObjects = AliveObjects { counted: 1, objects: 1.0, bytes: 16.0 };

    /// The live generations of a group after the collection `after`, counted from 1. Objects are pairs of birth and death: so many
    /// collections had ended when one was born, and the collection, counted from 1, that freed it.
    fn naive(objects: &[(u32, u32)], after: u32) -> Vec<u32> {
        (0..after).filter(|&i| objects.iter().any(|&(birth, death)| birth == i && death > after)).collect()
    }

    /// The same by the counter.
    fn counted(objects: &[(u32, u32)], after: u32) -> Vec<u32> {
        let mut counter = GenerationCounter::default();
        for gc in 1..=after {
            objects.iter().filter(|o| o.0 + 1 == gc).for_each(|o| counter.born(7, o.0, ONE));
            objects.iter().filter(|o| o.1 == gc).for_each(|o| counter.died(7, o.0, ONE));
        }
        let count = counter.count(7);
        let live = counter.finish().remove(&7).unwrap_or_default();
        assert_eq!(count as usize, live.len());
        live.into_iter().map(|(generation, _)| generation).collect()
    }

    const NEVER: u32 = u32::MAX;

    /// The example of a servlet, its sessions and requests.
    #[test]
    fn sessions_and_requests_have_few_live_generations() {
        let servlet = [(0, NEVER)];
        let session = [(3, NEVER), (5, 10), (10, NEVER)];
        let request = [(3, 5), (7, 9), (8, 10), (9, 11), (12, NEVER), (13, NEVER)];
        for (after, of_servlet, of_session, of_request) in [
            (1, &[0][..], &[][..], &[][..]),
            (4, &[0], &[3], &[3]),
            (8, &[0], &[3, 5], &[7]),
            (9, &[0], &[3, 5], &[8]),
            (10, &[0], &[3], &[9]),
            (14, &[0], &[3, 10], &[12, 13]),
        ] {
            for (objects, expected) in [(&servlet[..], of_servlet), (&session, of_session), (&request, of_request)] {
                assert_eq!(counted(objects, after), expected, "after {after}");
                assert_eq!(naive(objects, after), expected, "after {after}");
            }
        }
    }

    #[test]
    fn candidates_are_above_the_first_gap_from_the_top() {
        for (counts, threshold, candidates) in [
            (&[24, 20, 3, 2, 1, 1][..], 4.0, 2),
            (&[16, 8, 4, 2, 1], 3.0, 0),
            (&[100, 10, 1], 4.0, 1),
            (&[8, 2], 4.0, 0),
            (&[9], 4.0, 0),
            (&[], 4.0, 0),
        ] {
            assert_eq!(above_gap(counts, threshold), candidates, "{counts:?}");
        }
    }

    fn row(live: impl IntoIterator<Item = u32>) -> GenerationRow {
        let live = live.into_iter().map(|generation| (generation, ONE)).collect();
        GenerationRow { node: 0, live, course: Vec::new(), gap: None }
    }

    #[test]
    fn shapes_tell_a_leak_from_what_a_program_needs() {
        for (live, shape) in [
            (row((0..400).step_by(20)), GenerationShape::Spread),
            (row(0..400), GenerationShape::Spread),
            (row(100..400), GenerationShape::Spread),
            (row(0..60), GenerationShape::Start),
            (row(300..400), GenerationShape::Recent),
            (row((0..60).chain(300..400)), GenerationShape::Mixed),
            (row(0..200), GenerationShape::Mixed),
            (row([0, 399]), GenerationShape::Mixed),
        ] {
            assert_eq!(live.shape(400), shape, "{:?}", live.ends());
        }
        let regular = row((0..400).step_by(20));
        assert_eq!((regular.uniformity(400), row([5]).uniformity(400)), (Some(0.0), None));
        assert_eq!((row([0, 10, 40]).uniformity(100), regular.span(400)), (Some(0.1), 381.0 / 400.0));
        assert_eq!(regular.recency(400), 19.0 / 400.0);
    }

    proptest! {
        /// The counter finds what asking for every object finds.
        #[test]
        fn live_generations_are_those_with_live_objects(
            lives in prop::collection::vec((0u32..30, 1u32..40), 0..60),
            after in 1u32..30,
        ) {
            let objects: Vec<(u32, u32)> = lives.iter().map(|&(birth, age)| (birth, birth + age)).collect();
            prop_assert_eq!(counted(&objects, after), naive(&objects, after));
        }
    }
}
