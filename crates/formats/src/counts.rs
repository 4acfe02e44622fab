//! Class counts over time: objects and bytes of each class between heap states. A recorder's counts are exact; counts derived from trees
//! may be estimates ([`CountBasis`]). Counts are no heap states: they have no objects, references or allocation sites, and may include
//! unreachable objects. So they are kept apart from heap states, and a view of both must label them.
//!
//! Only changes are kept: of ten thousand classes a few hundred differ from one count to the next.

use ahash::AHashMap;
use memory_city_heap::Amount;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Counts by class, over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// When was counted, ascending.
    pub moments: Vec<CountMoment>,
    /// The counts, sorted by class, each once.
    pub classes: Vec<CountCourse>,
    /// The basis of the counts.
    pub basis: CountBasis,
}

/// The basis of counts, which decides how exact they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountBasis {
    /// All objects, counted by a VM: exact.
    #[default]
    Objects,
    /// Trees counted by another program, as exact as these are.
    Trees,
    /// Trees of live objects, estimated from samples.
    Estimates,
    /// Trees grouped by facts of samples, such as the thread: of sampled objects only.
    Samples,
}

impl CountBasis {
    /// The word for it in the fact `counts.of`, where there is one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            CountBasis::Objects | CountBasis::Trees => None,
            CountBasis::Estimates => Some("estimates"),
            CountBasis::Samples => Some("samples"),
        }
    }

    /// The basis by its word in a recording, which may be converted from another source. An unknown word is not exact.
    pub(crate) fn of(word: Option<&str>, is_converted: bool) -> CountBasis {
        match word {
            Some("samples") => CountBasis::Samples,
            Some(_) => CountBasis::Estimates,
            None if is_converted => CountBasis::Trees,
            None => CountBasis::Objects,
        }
    }
}

/// A time at which all classes were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountMoment {
    /// Milliseconds, as the points of the series count them.
    pub millis: u64,
    /// The last collection before, by its number, where that is known.
    pub gc: Option<u64>,
    /// Whether unreachable objects are counted too.
    pub with_garbage: bool,
    /// For how long the program stood still for it, nanoseconds, where that is known.
    pub pause: Option<u64>,
}

/// The counts of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountCourse {
    /// The class, in source form; of hidden classes without their address.
    pub class: Arc<str>,
    /// Changes as (moment, new amount); nothing before the first. Ascending, each different from the one before.
    pub changes: Vec<(u32, Amount)>,
}

impl CountCourse {
    /// How much there was at a moment. O(log changes).
    pub fn at(&self, moment: usize) -> Amount {
        let after = self.changes.partition_point(|(from, _)| *from as usize <= moment);
        after.checked_sub(1).and_then(|at| self.changes.get(at)).map_or(Amount::default(), |(_, amount)| *amount)
    }
}

/// The name of a hidden class without its address. The address differs from run to run: `Shop$$Lambda/0x0123`, with `+` or `.` instead of
/// the slash in dumps and samples. The rest is the same in all of them.
pub fn without_address(class: &str) -> &str {
    let at = ["/0x", "+0x", ".0x"].iter().filter_map(|mark| class.find(mark)).min();
    at.map_or(class, |at| &class[..at])
}

/// Objects and bytes.
type Counted = (u64, u64);
/// Changes of a class, as (moment, new amount).
type ClassChanges<'a> = &'a [(u32, Counted)];
/// The number of a class, and of the stack that allocated where that is counted.
pub(crate) type ClassPlace = (u32, Option<u32>);

/// The counts of one stream while it is read, histogram after histogram.
#[derive(Default)]
pub(crate) struct StreamCounts {
    /// Times in nanoseconds since the recording began, with the other facts of the moment.
    moments: Vec<(u64, CountMoment)>,
    /// Changes as (moment, new amount).
    changes: AHashMap<ClassPlace, Vec<(u32, Counted)>>,
    /// The last complete one.
    last: AHashMap<ClassPlace, Counted>,
    unfinished: Option<UnfinishedHistogram>,
    /// Histograms of which rows are missing: they are left out.
    pub(crate) incomplete: u64,
}

struct UnfinishedHistogram {
    number: u64,
    time: u64,
    moment: CountMoment,
    /// Expected rows; 0 if unknown.
    rows: u32,
    found: u64,
    classes: AHashMap<ClassPlace, Counted>,
}

/// A row of a histogram: its number, time and facts, its number of rows, and the count of one class.
pub(crate) struct HistogramPiece {
    pub(crate) number: u64,
    pub(crate) time: u64,
    pub(crate) moment: CountMoment,
    pub(crate) rows: u32,
    pub(crate) class: ClassPlace,
    pub(crate) counted: Amount,
}

/// Typical bytes of a moment and of a change in memory.
const MOMENT_BYTES: u64 = 64;
const CHANGE_BYTES: u64 = 96;

impl StreamCounts {
    /// Takes a row, and says by how many bytes of memory there is more.
    pub(crate) fn take(&mut self, piece: HistogramPiece) -> u64 {
        let mut grown = 0;
        if self.unfinished.as_ref().is_some_and(|unfinished| unfinished.number != piece.number) {
            grown += self.complete();
        }
        let HistogramPiece { number, time, moment, rows, class, counted } = piece;
        let unfinished = self.unfinished.get_or_insert_with(|| {
            grown += MOMENT_BYTES;
            UnfinishedHistogram { number, time, moment, rows, found: 0, classes: AHashMap::default() }
        });
        unfinished.found += 1;
        if counted != Amount::default() {
            let sum = unfinished.classes.entry(class).or_insert_with(|| {
                grown += CHANGE_BYTES;
                (0, 0)
            });
            *sum = (sum.0.saturating_add(counted.objects), sum.1.saturating_add(counted.bytes));
        }
        grown
    }

    /// No further rows of the histogram come. Says by how many bytes of memory there is more.
    pub(crate) fn complete(&mut self) -> u64 {
        let Some(done) = self.unfinished.take() else { return 0 };
        if done.found < u64::from(done.rows) {
            self.incomplete += 1;
            return 0;
        }
        let moment = u32::try_from(self.moments.len()).unwrap_or(u32::MAX);
        self.moments.push((done.time, done.moment));
        let mut grown = 0;
        let mut change = |class: ClassPlace, now: Counted| {
            grown += CHANGE_BYTES;
            self.changes.entry(class).or_default().push((moment, now));
        };
        for (&class, &now) in &done.classes {
            if self.last.get(&class) != Some(&now) {
                change(class, now);
            }
        }
        for class in self.last.keys().filter(|class| !done.classes.contains_key(class)) {
            change(*class, (0, 0));
        }
        self.last = done.classes;
        grown
    }

    /// Stacks that allocated, in any order.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = u32> {
        self.changes.keys().filter_map(|(_, stack)| *stack)
    }

    /// The number of complete histograms.
    pub(crate) fn len(&self) -> usize {
        self.moments.len()
    }
}

/// The counts of a recording, and how many histograms are not among them: where several streams count, which no recorder does, the one with
/// most histograms says. O(changes log changes): classes of one name are one.
pub(crate) fn joined(
    streams: &BTreeMap<u16, StreamCounts>,
    name: impl Fn(u16, u32) -> Arc<str>,
    millis: impl Fn(u64) -> u64,
) -> (ClassCounts, usize) {
    let short = |stream, (class, _): ClassPlace| without_its_address(name(stream, class));
    let (moments, courses, others) = joined_by(streams, short, millis);
    let classes = courses.into_iter().map(|(class, changes)| CountCourse { class, changes }).collect();
    (ClassCounts { moments, classes, ..ClassCounts::default() }, others)
}

/// The name of a class without its address.
pub(crate) fn without_its_address(name: Arc<str>) -> Arc<str> {
    match without_address(&name) {
        short if short.len() == name.len() => name,
        short => Arc::from(short),
    }
}

/// Moments, counts with changes sorted by key, and the number of histograms that were left out.
pub(crate) type JoinedCounts<K> = (Vec<CountMoment>, Vec<(K, Vec<(u32, Amount)>)>, usize);

/// The same by any key of a class and its place in a stream: equal keys are merged.
pub(crate) fn joined_by<K: Ord>(
    streams: &BTreeMap<u16, StreamCounts>,
    key: impl Fn(u16, ClassPlace) -> K,
    millis: impl Fn(u64) -> u64,
) -> JoinedCounts<K> {
    let Some((&stream, counts)) = streams.iter().max_by_key(|(stream, counts)| (counts.len(), Reverse(**stream)))
    else {
        return (Vec::new(), Vec::new(), 0);
    };
    let others = streams.values().map(StreamCounts::len).sum::<usize>() - counts.len();
    // A file may say any times: what was written first is first where they are equal.
    let mut order: Vec<u32> = (0u32..).take(counts.moments.len()).collect();
    order.sort_by_key(|at| counts.moments[*at as usize].0);
    let is_ordered = order.is_sorted();
    let moments = order.iter().filter_map(|at| counts.moments.get(*at as usize));
    let moments = moments.map(|(time, moment)| CountMoment { millis: millis(*time), ..*moment }).collect();
    let mut by_key: BTreeMap<K, Vec<ClassChanges<'_>>> = BTreeMap::new();
    for (class, changes) in &counts.changes {
        by_key.entry(key(stream, *class)).or_default().push(changes);
    }
    let mut courses = Vec::with_capacity(by_key.len());
    for (key, parts) in by_key {
        let mut changes = sum_of(&parts);
        if !is_ordered {
            changes = in_order(&changes, &order);
        }
        changes.shrink_to_fit();
        if !changes.is_empty() {
            courses.push((key, changes));
        }
    }
    (moments, courses, others)
}

/// The sum of several classes, as changes.
fn sum_of(parts: &[ClassChanges<'_>]) -> Vec<(u32, Amount)> {
    let mut all: Vec<(u32, usize, Counted)> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, changes)| changes.iter().map(move |(moment, counted)| (*moment, part, *counted)))
        .collect();
    all.sort_unstable_by_key(|(moment, part, _)| (*moment, *part));
    let mut now: Vec<Counted> = vec![(0, 0); parts.len()];
    // Sums of sums may not fit: of files that say so the largest number is told.
    let (mut objects, mut bytes) = (0u128, 0u128);
    let mut changes: Vec<(u32, Amount)> = Vec::new();
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        for (_, part, counted) in same {
            let Some(before) = now.get_mut(*part) else { continue };
            objects = objects + u128::from(counted.0) - u128::from(before.0);
            bytes = bytes + u128::from(counted.1) - u128::from(before.1);
            *before = *counted;
        }
        let fitting = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        let amount = Amount { objects: fitting(objects), bytes: fitting(bytes) };
        let moment = same.first().map_or(0, |change| change.0);
        if changes.last().map_or(Amount::default(), |last| last.1) != amount {
            changes.push((moment, amount));
        }
    }
    changes
}

/// The same where moments have other places. O(moments), and for damaged files alone: writers write as time goes.
fn in_order(changes: &[(u32, Amount)], order: &[u32]) -> Vec<(u32, Amount)> {
    let course = CountCourse { class: Arc::from(""), changes: changes.to_vec() };
    let mut before = Amount::default();
    let mut moved = Vec::new();
    for (place, moment) in (0u32..).zip(order) {
        let now = course.at(*moment as usize);
        if now != before {
            moved.push((place, now));
            before = now;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(number: u64, time: u64, rows: u32, class: u32, objects: u64) -> HistogramPiece {
        let counted = Amount { objects, bytes: objects * 16 };
        HistogramPiece { number, time, moment: CountMoment::default(), rows, class: (class, None), counted }
    }

    #[test]
    fn what_is_not_whole_is_left_out_and_counted() {
        let mut counts = StreamCounts::default();
        for (number, rows, found) in [(0, 2, 2), (1, 3, 2), (2, 0, 1)] {
            for class in 0..found {
                counts.take(piece(number, number * 10, rows, class, 5));
            }
        }
        counts.complete();
        assert_eq!((counts.len(), counts.incomplete), (2, 1));
        let streams = BTreeMap::from([(0, counts)]);
        let (all, others) = joined(&streams, |_, class| Arc::from(format!("C{class}")), |time| time);
        assert_eq!(others, 0);
        assert_eq!(all.moments.iter().map(|m| m.millis).collect::<Vec<_>>(), [0, 20]);
        let of: Vec<_> = all.classes.iter().map(|c| (&*c.class, c.at(0).objects, c.at(1).objects)).collect();
        assert_eq!(of, [("C0", 5, 5), ("C1", 5, 0)], "what the incomplete one said is not taken for an end");
    }

    #[test]
    fn hidden_classes_have_no_address() {
        for name in ["app.A$$Lambda/0x01", "app.A$$Lambda+0x01", "app.A$$Lambda.0x01"] {
            assert_eq!(without_address(name), "app.A$$Lambda");
        }
        assert_eq!(without_address("app.A0x"), "app.A0x");
    }

    proptest! {
        /// Changes are equal to the rows, for any order of times, and names shared by several classes.
        #[test]
        fn changes_are_what_was_counted(
            histograms in prop::collection::vec((0u64..1000, prop::collection::btree_map(0u32..12, 0u64..4, 1..8)), 0..25),
            ordered: bool,
            others in 0u64..3,
        ) {
            let name = |class: u32| format!("C{}", class / 2);
            let (mut counts, mut beside) = (StreamCounts::default(), StreamCounts::default());
            let mut expected: Vec<(u64, BTreeMap<String, u64>)> = Vec::new();
            for (number, (time, classes)) in histograms.iter().enumerate() {
                let time = if ordered { number as u64 } else { *time };
                let mut sums: BTreeMap<String, u64> = BTreeMap::new();
                for (class, objects) in classes {
                    counts.take(piece(number as u64, time, classes.len() as u32, *class, *objects));
                    *sums.entry(name(*class)).or_default() += objects;
                }
                expected.push((time, sums));
            }
            // Another stream has less to say.
            let others = others.min(histograms.len().saturating_sub(1) as u64);
            (0..others).for_each(|number| _ = beside.take(piece(number, 5, 1, 3, 100)));
            counts.complete();
            beside.complete();
            expected.sort_by_key(|(time, _)| *time);
            let streams = BTreeMap::from([(4, counts), (2, beside)]);
            let (all, left) = joined(&streams, |_, class| Arc::from(name(class)), |time| time);
            prop_assert_eq!(left as u64, others);
            let times: Vec<u64> = all.moments.iter().map(|m| m.millis).collect();
            prop_assert_eq!(times, expected.iter().map(|e| e.0).collect::<Vec<_>>());
            for (at, (_, sums)) in expected.iter().enumerate() {
                for class in 0..6 {
                    let name = format!("C{class}");
                    let told = all.classes.iter().find(|c| *c.class == *name).map_or(Amount::default(), |c| c.at(at));
                    let objects = sums.get(&name).copied().unwrap_or(0);
                    prop_assert_eq!(told, Amount { objects, bytes: objects * 16 });
                }
            }
            for course in &all.classes {
                prop_assert!(course.changes.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
            }
        }
    }
}
