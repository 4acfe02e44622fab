//! Courses of class counts over time: steady growth, and tables. Knows no heap state.

use super::WalkCounts;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Unit, change};
use memory_city_formats::counts::{ClassCounts, CountBasis, CountMoment};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, Profile};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Steady growth: the least of each part is above the least of the part before. Garbage comes and goes within a part.
const PARTS: usize = 4;
/// Least counts of a part.
const LEAST_IN_PART: usize = 2;
/// The least growth worth a sentence: one part in this many of the sum over all classes.
const WORTH_NAMING: u64 = 100;
/// Most classes named in sentences.
const MOST_NAMED: usize = 3;

/// A time at which was counted.
struct CountedAt {
    millis: u64,
    /// The histogram; none of a walk.
    histogram: Option<CountMoment>,
}

/// The summary of a class over all counts.
struct CourseSummary {
    first: Amount,
    last: Amount,
    /// The least and the most bytes.
    least: u64,
    most: u64,
    /// The least bytes of the first quarter and of the last, where that of each is above that of the one before.
    rising: Option<(u64, u64)>,
}

impl CourseSummary {
    /// The summary of `counts` values in runs of equal ones, as (place of the first, amount): at least one run, the first from 0 on.
    fn of(profile: &Profile, class: &str, runs: &[(usize, Amount)], counts: usize) -> CourseSummary {
        let mut parts = [u64::MAX; PARTS];
        for (at, (from, amount)) in runs.iter().enumerate() {
            let until = runs.get(at + 1).map_or(counts, |next| next.0);
            for (n, least) in parts.iter_mut().enumerate() {
                if *from < counts * (n + 1) / PARTS && until > counts * n / PARTS {
                    *least = amount.bytes.min(*least);
                }
            }
        }
        let is_mirror = profile.types.mirror == Some(class);
        let rises = counts >= PARTS * LEAST_IN_PART && !is_mirror && parts.windows(2).all(|w| w[0] < w[1]);
        CourseSummary {
            first: runs.first().map_or(Amount::default(), |run| run.1),
            last: runs.last().map_or(Amount::default(), |run| run.1),
            least: runs.iter().map(|run| run.1.bytes).min().unwrap_or(0),
            most: runs.iter().map(|run| run.1.bytes).max().unwrap_or(0),
            rising: rises.then_some((parts[0], parts[PARTS - 1])),
        }
    }
}

/// All counts, in the order of time.
pub(super) struct CountedCourses {
    profile: &'static Profile,
    times: Vec<CountedAt>,
    /// By class.
    classes: BTreeMap<Arc<str>, CourseSummary>,
    /// How much there was at each time of the class that was asked for, or of all.
    course: Vec<Amount>,
    /// The basis of the histograms.
    basis: CountBasis,
    /// Bytes of all classes at the last time.
    heap: u64,
}

impl CountedCourses {
    pub(super) fn of(
        counts: &ClassCounts,
        (from, to): (u64, u64),
        walks: Vec<WalkCounts>,
        asked: &str,
        profile: &'static Profile,
        progress: &Progress,
    ) -> Result<CountedCourses> {
        let first = counts.moments.partition_point(|moment| moment.millis < from);
        let end = counts.moments.partition_point(|moment| moment.millis <= to).max(first);
        // A histogram by its number, or a walk by its.
        let mut order: Vec<(u64, std::result::Result<usize, usize>)> = Vec::new();
        let moments = counts.moments.iter().enumerate().take(end).skip(first);
        order.extend(moments.map(|(at, moment)| (moment.millis, Ok(at))));
        order.extend(walks.iter().enumerate().map(|(at, (millis, _))| (*millis, Err(at))));
        order.sort_by_key(|(millis, which)| (*millis, which.is_ok()));
        // Where each histogram is, and each walk with the histogram behind it.
        let mut place_of = vec![0; end - first];
        let mut walk_places: Vec<(usize, usize, Option<usize>)> = Vec::new();
        for (place, (_, which)) in order.iter().enumerate() {
            match which {
                Ok(at) => place_of[at - first] = place,
                Err(walk) => {
                    walk_places.push((place, *walk, order.get(place + 1).and_then(|(_, next)| next.ok())));
                }
            }
        }
        let names: BTreeSet<&Arc<str>> = counts
            .classes
            .iter()
            .map(|course| &course.class)
            .chain(walks.iter().flat_map(|(_, classes)| classes.keys()))
            .collect();
        let courses: BTreeMap<&str, _> = counts.classes.iter().map(|course| (&*course.class, course)).collect();
        let mut all = CountedCourses {
            profile,
            times: order
                .iter()
                .map(|(millis, which)| CountedAt {
                    millis: *millis,
                    histogram: which.ok().and_then(|at| counts.moments.get(at).copied()),
                })
                .collect(),
            classes: BTreeMap::new(),
            course: Vec::new(),
            basis: counts.basis,
            heap: 0,
        };
        // What comes and goes at each place of what was asked for.
        let mut steps = vec![(0i128, 0i128); order.len()];
        let mut runs: Vec<(usize, Amount)> = Vec::new();
        for name in names {
            progress.check()?;
            let course = courses.get(&**name);
            let at = |moment: usize| course.map(|course| course.at(moment)).unwrap_or_default();
            // Of a place the last word counts.
            runs.clear();
            runs.push((0, Amount::default()));
            runs.extend(place_of.first().map(|place| (*place, at(first))));
            let changes = course.iter().flat_map(|course| &course.changes);
            let within = changes.filter(|(moment, _)| (first..end).contains(&(*moment as usize)));
            runs.extend(within.map(|(moment, amount)| (place_of[*moment as usize - first], *amount)));
            for (place, walk, next) in &walk_places {
                let amount = walks.get(*walk).and_then(|(_, classes)| classes.get(name)).copied().unwrap_or_default();
                runs.push((*place, amount));
                runs.extend(next.map(|moment| (place + 1, at(moment))));
            }
            runs.sort_by_key(|run| run.0);
            runs.reverse();
            runs.dedup_by_key(|run| run.0);
            runs.reverse();
            if runs.iter().all(|run| run.1 == Amount::default()) {
                continue;
            }
            if asked.is_empty() || asked == &**name {
                let mut before = Amount::default();
                for (place, amount) in &runs {
                    if let Some(step) = steps.get_mut(*place) {
                        step.0 += i128::from(amount.objects) - i128::from(before.objects);
                        step.1 += i128::from(amount.bytes) - i128::from(before.bytes);
                        before = *amount;
                    }
                }
            }
            let summary = CourseSummary::of(profile, name, &runs, order.len());
            all.heap = all.heap.saturating_add(summary.last.bytes);
            all.classes.insert(Arc::clone(name), summary);
        }
        let fitting = |sum: i128| u64::try_from(sum.max(0)).unwrap_or(u64::MAX);
        let mut sum = (0i128, 0i128);
        all.course.extend(steps.into_iter().map(|step| {
            sum = (sum.0 + step.0, sum.1 + step.1);
            Amount { objects: fitting(sum.0), bytes: fitting(sum.1) }
        }));
        Ok(all)
    }

    /// Where a class grows from quarter to quarter, by a part of the heap that is worth naming.
    fn steady(&self, of: &CourseSummary) -> Option<(u64, u64)> {
        of.rising.filter(|(first, last)| (last - first).saturating_mul(WORTH_NAMING) >= self.heap)
    }

    /// Whether a class was counted.
    pub(super) fn has(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    /// The classes that grow steadily, with their least bytes in the first quarter and the last; what grows most first.
    fn all_steady(&self) -> Vec<(&Arc<str>, (u64, u64))> {
        let steady = self.classes.iter().filter_map(|(class, of)| Some((class, self.steady(of)?)));
        let mut steady: Vec<(&Arc<str>, (u64, u64))> = steady.collect();
        steady.sort_by_key(|(class, (first, last))| (Reverse(last - first), Arc::clone(class)));
        steady
    }

    /// The classes that sentences name.
    pub(super) fn steady_classes(&self) -> impl Iterator<Item = &str> {
        self.all_steady().into_iter().take(MOST_NAMED).map(|(class, _)| &**class)
    }

    /// Whether all objects were counted.
    pub(super) fn are_exact(&self) -> bool {
        matches!(self.basis, CountBasis::Objects | CountBasis::Trees)
    }

    pub(super) fn answers(&self) -> Vec<String> {
        let steady = self.all_steady();
        let sentence = |(class, (first, last)): &(&Arc<str>, (u64, u64))| {
            let more = self.profile.types.overcounted.iter().find(|(of, _)| **of == ***class);
            let filler = more.map_or_else(String::new, |(_, why)| format!(". {why}"));
            format!(
                "{class} grows from each quarter of {} counts to the next: at least {} in the first, at least {} in the last{filler}",
                self.times.len(),
                bytes_text(*first),
                bytes_text(*last)
            )
        };
        let mut answers: Vec<String> = steady.iter().take(MOST_NAMED).map(sentence).collect();
        if steady.len() > MOST_NAMED {
            answers.push(match steady.len() - MOST_NAMED {
                1 => "1 more class does; it comes first in the table".to_owned(),
                more => format!("{more} more classes do; they come first in the table"),
            });
        }
        answers
    }

    /// The classes that grew most from the first count to the last, for too few counts.
    pub(super) fn grown(&self) -> Option<String> {
        if self.times.len() < 2 || self.times.len() >= PARTS * LEAST_IN_PART {
            return None;
        }
        let is_mirror = |class: &str| self.profile.types.mirror == Some(class);
        let mut grown: Vec<(&Arc<str>, &CourseSummary)> =
            self.classes.iter().filter(|(class, of)| !is_mirror(class) && of.last.bytes > of.first.bytes).collect();
        grown.sort_by_key(|(class, of)| (Reverse(of.last.bytes - of.first.bytes), Arc::clone(class)));
        let text = |(class, of): &(&Arc<str>, &CourseSummary)| {
            let [first, last] = [of.first, of.last].map(|of| count_text(of.objects));
            format!("{class} ({first} to {last} objects, +{})", bytes_text(of.last.bytes - of.first.bytes))
        };
        let named: Vec<String> = grown.iter().take(MOST_NAMED).map(text).collect();
        let most = "Most from the first count to the last, which may be no more than what was not collected yet";
        (!named.is_empty()).then(|| format!("{most}: {}. All of them: `memory-city analyse counts`.", named.join(", ")))
    }

    pub(super) fn nothing_grows(&self) -> String {
        match self.times.len() < PARTS * LEAST_IN_PART {
            true => format!("{} counts: to say what grows takes {}.", self.times.len(), PARTS * LEAST_IN_PART),
            false => "No class grows from each quarter of the time to the next by a hundredth of the heap.".to_owned(),
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let histograms = self.times.iter().filter_map(|time| time.histogram);
        let (count, garbage) = histograms.fold((0, false), |(n, any), moment| (n + 1, any || moment.with_garbage));
        let walks = self.times.len() - count;
        let what = match self.basis {
            CountBasis::Objects => "exact counts",
            CountBasis::Trees => "the counts of the trees that they were made of",
            CountBasis::Estimates => "what samples estimated to be alive, no exact counts",
            CountBasis::Samples => "groups of sampled objects only, no totals",
        };
        let mut notes = vec![match walks {
            0 => format!("{count} class histograms: {what}, without objects, references and allocation sites."),
            _ => format!(
                "{walks} walks over the heap, and {count} class histograms between them: exact counts, without objects, references \
                 and allocation sites."
            ),
        }];
        if garbage {
            notes.push("What is dead and not collected yet counts too, in walks as in histograms.".to_owned());
        }
        // Walks have the objects of linked types alone: of these, walks and histograms do not count the same.
        if let Some(mirrors) = self.profile.types.mirror.filter(|_| walks > 0) {
            notes.push(format!("Of {mirrors} walks count those of linked classes alone."));
        }
        notes
    }

    pub(super) fn class_table(&self, top: usize) -> ResultTable {
        let (bytes, objects) = (CellKind::Number(Unit::Bytes), CellKind::Number(Unit::Objects));
        let columns = vec![
            Column::new("class", "Class", CellKind::Text, "The class; hidden classes of one name are one"),
            Column::new("first", "First", bytes, "Shallow bytes at the first count"),
            Column::new("last", "Last", bytes, "Shallow bytes at the last count"),
            Column::new("growth", "Growth", CellKind::Change(Unit::Bytes), "From the first count to the last"),
            Column::new("least", "Least", bytes, "The least of all counts"),
            Column::new("most", "Most", bytes, "The most of all counts"),
            Column::new("first_objects", "First objects", objects, "Objects at the first count"),
            Column::new("last_objects", "Last objects", objects, "Objects at the last count"),
            Column::new(
                "steady",
                "Steady",
                CellKind::Text,
                "Whether the least of each quarter of the counts is above that of the quarter before",
            ),
        ];
        let mut rows: Vec<(bool, i64, u64, Row)> = Vec::with_capacity(self.classes.len());
        for (class, of) in &self.classes {
            let growth = change(of.first.bytes, of.last.bytes);
            let steady = self.steady(of).is_some();
            let cells = vec![
                Cell::Text(class.to_string()),
                Cell::Number(of.first.bytes),
                Cell::Number(of.last.bytes),
                Cell::Change(growth),
                Cell::Number(of.least),
                Cell::Number(of.most),
                Cell::Number(of.first.objects),
                Cell::Number(of.last.objects),
                if steady { Cell::Text("grows".into()) } else { Cell::Empty },
            ];
            rows.push((steady, growth, of.last.bytes, Row { cells, ..Row::default() }));
        }
        // Names are in order already.
        rows.sort_by_key(|(steady, growth, last, _)| Reverse((*steady, *growth, *last)));
        let left_out = rows.len().saturating_sub(top) as u64;
        ResultTable {
            header: TableHeader {
                id: "classes".into(),
                title: format!("Classes over {} counts", self.times.len()),
                columns,
                ..TableHeader::default()
            },
            rows: rows.into_iter().take(top).map(|row| row.3).collect(),
            left_out: (left_out > 0).then(|| (left_out, "classes".into())),
            empty_text: "Nothing was counted in this time.".into(),
        }
    }

    /// Time by time: of a class, or of all.
    pub(super) fn time_table(&self, class: &str, uptime: bool, top: usize) -> ResultTable {
        let columns = vec![
            Column::new("time", "At", if uptime { CellKind::Uptime } else { CellKind::Time }, "When it was counted"),
            Column::new(
                "what",
                "Counted by",
                CellKind::Text,
                "A walk over the heap, or a class histogram between walks",
            ),
            Column::new("objects", "Objects", CellKind::Number(Unit::Objects), "So many objects"),
            Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
            Column::new(
                "pause",
                "Pause",
                CellKind::Number(Unit::Millis),
                "For how long the program stood still for the histogram, at most",
            ),
        ];
        let row = |(time, amount): (&CountedAt, &Amount)| Row {
            cells: vec![
                Cell::Time(time.millis),
                Cell::Text(if time.histogram.is_some() { "histogram" } else { "walk" }.into()),
                Cell::Number(amount.objects),
                Cell::Number(amount.bytes),
                match time.histogram.and_then(|moment| moment.pause) {
                    Some(nanos) => Cell::Number(nanos.div_ceil(1_000_000)),
                    None => Cell::Empty,
                },
            ],
            ..Row::default()
        };
        // The latest.
        let left_out = self.times.len().saturating_sub(top);
        let of = if class.is_empty() { "all classes" } else { class };
        ResultTable {
            header: TableHeader {
                id: "times".into(),
                title: format!("Counts of {of}, time by time"),
                columns,
                ..TableHeader::default()
            },
            rows: self.times.iter().zip(&self.course).skip(left_out).map(row).collect(),
            left_out: (left_out > 0).then(|| (left_out as u64, "earlier counts".into())),
            empty_text: "Nothing was counted in this time.".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_formats::counts::CountCourse;
    use proptest::prelude::*;

    fn counted(bytes: &[&[u64]], asked: &str) -> CountedCourses {
        let course = |(class, values): (usize, &&[u64])| CountCourse {
            class: Arc::from(format!("C{class}")),
            changes: (0..).zip(values.iter()).map(|(at, &bytes)| (at, Amount { objects: 1, bytes })).collect(),
        };
        let moments = bytes.iter().map(|values| values.len()).max().unwrap_or(0);
        let moment = |at: usize| CountMoment { millis: at as u64 * 10, with_garbage: true, ..CountMoment::default() };
        let counts = ClassCounts {
            moments: (0..moments).map(moment).collect(),
            classes: bytes.iter().enumerate().map(course).collect(),
            ..ClassCounts::default()
        };
        let walk = |millis: u64, bytes| (millis, BTreeMap::from([(Arc::from("C0"), Amount { objects: 2, bytes })]));
        CountedCourses::of(&counts, (10, u64::MAX), vec![walk(25, 7), walk(10, 1000)], asked, &JVM, &Progress::new())
            .expect("counted")
    }

    #[test]
    fn walks_stand_between_histograms_and_nothing_is_before_the_window() {
        let all = counted(&[&[1, 2, 3, 4], &[5, 5, 6]], "C0");
        let told: Vec<_> = all.times.iter().map(|t| (t.millis, t.histogram.is_none())).collect();
        assert_eq!(told, [(10, true), (10, false), (20, false), (25, true), (30, false)]);
        assert_eq!(all.course.iter().map(|a| a.bytes).collect::<Vec<_>>(), [1000, 2, 3, 7, 4]);
        assert_eq!((all.classes["C0"].least, all.classes["C0"].most, all.heap), (2, 1000, 10));
        let both = counted(&[&[1, 2, 3, 4], &[5, 5, 6]], "");
        assert_eq!(both.course.iter().map(|a| a.objects).collect::<Vec<_>>(), [2, 2, 2, 2, 2]);
    }

    #[test]
    fn steady_growth_is_told_from_garbage_that_comes_and_goes() {
        // Two counts in each quarter: the least of C0 grows, whatever is on top; C1 comes back to where it was; C2 grows too little.
        let of = |(class, bytes): (&str, [u64; 8])| {
            let values = bytes.map(|bytes| Amount { objects: 1, bytes });
            let runs: Vec<(usize, Amount)> = values.into_iter().enumerate().collect();
            (Arc::from(class), CourseSummary::of(&JVM, class, &runs, 8))
        };
        let all = CountedCourses {
            profile: &JVM,
            times: (0..8).map(|at| CountedAt { millis: at, histogram: Some(CountMoment::default()) }).collect(),
            classes: [
                ("C0", [10, 900, 20, 90, 300, 30, 40, 700]),
                ("C1", [10, 20, 30, 40, 10, 50, 60, 70]),
                ("C2", [10, 10, 11, 11, 12, 12, 13, 13]),
                ("java.lang.Class", [10, 100, 200, 300, 400, 500, 600, 700]),
            ]
            .map(of)
            .into(),
            course: vec![Amount::default(); 8],
            basis: CountBasis::default(),
            heap: 1483,
        };
        let answers = all.answers();
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert!(answers[0].starts_with("C0 grows") && answers[0].contains("8 counts"), "{answers:?}");
        let table = all.class_table(2);
        assert_eq!((&table.rows[0].cells[0], table.rows.len()), (&Cell::Text("C0".into()), 2));
        assert_eq!(table.left_out, Some((2, "classes".into())));
        let few = counted(&[&[1, 2, 3, 4]], "");
        assert!(few.answers().is_empty() && few.nothing_grows().starts_with("5 counts"));
        assert_eq!(few.grown(), None);
        let grown = counted(&[&[1, 2, 3, 4], &[5, 5, 60]], "").grown().expect("a class");
        assert!(grown.contains("C1 (") && !grown.contains("C0 ("), "{grown}");
        assert_eq!(few.time_table("", false, 2).left_out, Some((3, "earlier counts".into())));
    }

    proptest! {
        /// Runs list the count at each place, one by one.
        #[test]
        fn summaries_are_those_of_all_values(
            values in prop::collection::vec(prop::collection::vec(0u64..4, 3), 0..14),
            walks in prop::collection::vec((0u64..150, prop::collection::vec(0u64..4, 3)), 0..5),
            window in (0u64..60, 60u64..200),
            asked in 0usize..4,
        ) {
            let amount = |bytes: u64| Amount { objects: u64::from(bytes > 0), bytes };
            let name = |class: usize| Arc::from(format!("C{class}"));
            let course = |class: usize| {
                let mut changes: Vec<(u32, Amount)> = Vec::new();
                for (at, all) in (0..).zip(&values) {
                    if changes.last().map_or(Amount::default(), |last| last.1) != amount(all[class]) {
                        changes.push((at, amount(all[class])));
                    }
                }
                CountCourse { class: name(class), changes }
            };
            let moment = |at: usize| CountMoment { millis: at as u64 * 10, ..CountMoment::default() };
            let counts = ClassCounts {
                moments: (0..values.len()).map(moment).collect(),
                classes: (0..3).map(course).filter(|c| !c.changes.is_empty()).collect(),
                ..ClassCounts::default()
            };
            let given: Vec<WalkCounts> = walks
                .iter()
                .map(|(millis, all)| (*millis, all.iter().enumerate().map(|(class, b)| (name(class), amount(*b))).collect()))
                .collect();
            let word = if asked < 3 { format!("C{asked}") } else { String::new() };
            let all = CountedCourses::of(&counts, window, given, &word, &JVM, &Progress::new()).expect("counted");
            // One after the other.
            let mut expected: Vec<(u64, u8, usize, &Vec<u64>)> = Vec::new();
            expected.extend(walks.iter().enumerate().map(|(at, (millis, all))| (*millis, 0, at, all)));
            let inside = |at: usize| (window.0..=window.1).contains(&(at as u64 * 10));
            expected.extend(values.iter().enumerate().filter(|(at, _)| inside(*at)).map(|(at, all)| (at as u64 * 10, 1, at, all)));
            expected.sort_by_key(|(millis, kind, at, _)| (*millis, *kind, *at));
            prop_assert_eq!(all.times.iter().map(|t| t.millis).collect::<Vec<_>>(), expected.iter().map(|e| e.0).collect::<Vec<_>>());
            for class in 0..3 {
                let bytes: Vec<u64> = expected.iter().map(|e| e.3[class]).collect();
                let Some(summary) = all.classes.get(&*name(class)) else {
                    prop_assert!(bytes.iter().all(|b| *b == 0));
                    continue;
                };
                let least = |part: usize| bytes[bytes.len() * part / PARTS..bytes.len() * (part + 1) / PARTS].iter().min().copied();
                let told = (summary.first.bytes, summary.last.bytes, summary.least, summary.most);
                let is = (bytes[0], bytes[bytes.len() - 1], *bytes.iter().min().expect("one"), *bytes.iter().max().expect("one"));
                prop_assert_eq!(told, is);
                let parts: Vec<_> = (0..PARTS).map(least).collect();
                let rises = bytes.len() >= PARTS * LEAST_IN_PART && parts.windows(2).all(|w| w[0] < w[1]);
                prop_assert_eq!(summary.rising, parts[0].zip(parts[PARTS - 1]).filter(|_| rises));
            }
            let of = |e: &(u64, u8, usize, &Vec<u64>)| if asked < 3 { e.3[asked] } else { e.3.iter().sum() };
            prop_assert_eq!(all.course.iter().map(|a| a.bytes).collect::<Vec<_>>(), expected.iter().map(of).collect::<Vec<_>>());
        }
    }
}
