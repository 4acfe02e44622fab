//! Analysis `sites`: allocation sites of a recording's samples, as estimates with their error per place in the code. A second table has the
//! exact counts of walks by type. The two are never added up.

mod moments;
mod places;
mod shares;
mod tables;

pub use shares::{SampledShare, SampledShares, sampled_shares};

use super::detector::{Detector, DetectorRank, DetectorText};
use super::finding::{Certainty, Finding, NextStep};
use super::interface::{Analysis, Description, Findings, Need};
use super::objects::top_parameter;
use super::parameters::{Arguments, Parameter, ParameterKind};
use crate::group::registry;
use crate::tabular::{bytes_text, count_text, several};
use crate::timeline::{Source, TimeWindow};
use memory_city_formats::sampled::{SampledAllocations, SampledAmount, SampledChange, SampledGroup, SampledObject};
use memory_city_heap::Amount;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use moments::{ESTIMATES, MomentTexts, WALKS};
use places::Places;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use tables::{estimated_types, live_by_type, site_table, type_table};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(SampledSites)
}

struct SampledSites;

/// Parts of the window: a leak grows in each of the last ones.
const PARTS: usize = 4;
/// Least share of the live bytes that is worth a sentence: one in this many.
const WORTH_NAMING: f64 = 100.0;
/// Most places named in sentences.
const MOST_NAMED: usize = 3;
/// Types that are named of a place.
const MOST_TYPES: usize = 3;

impl Analysis for SampledSites {
    fn describe(&self) -> Description {
        Description {
            id: "sites",
            title: "Allocation sites, by samples",
            explanation: "Which places in the code allocated what is alive, and what grows, as samples of allocations \
                estimate it, with the error; and what the last walk counts of each type, exactly, where there are walks.",
            needs: &[Need::Samples],
            parameters: vec![
                top_parameter("How many places and types are listed"),
                Parameter {
                    id: "place",
                    title: "Place",
                    explanation: "own: the line of the program itself that led to the allocation; allocating: the line that allocated, \
                        which may be of a library",
                    kind: ParameterKind::Choice { default: "own", choices: &["own", "allocating"] },
                },
            ],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let sampled_at = |times: &[usize]| document.sampled(times, progress);
        let words = if document.heaps().is_some() { &WALKS } else { &ESTIMATES };
        let mut times = parts(window);
        let Some(mut sampled) = sampled_at(&times)? else { return Ok(Findings::default()) };
        // A recording with a bound has only sums of its oldest samples: what was alive then is less by these, and all would seem to grow.
        let mut whole = window;
        while let Some(from) = first_whole(&sampled, &times) {
            whole = TimeWindow { from, ..window };
            times = parts(whole);
            let Some(again) = sampled_at(&times)? else { break };
            sampled = again;
        }
        let domain = Arc::clone(registry().domain());
        let place = Places::of(&sampled, (arguments.word("place") == "own").then_some((&*domain, document.profile())));
        let mut all = sites(&sampled, &place, times.len());
        if let Some(history) = document.heaps().filter(|_| all.iter().any(|site| site.leaks)) {
            let (before, after) =
                (live_by_type(history, whole.from, progress)?, live_by_type(history, whole.to, progress)?);
            let of = |all: &BTreeMap<Arc<str>, Amount>, class: &str| all.get(class).map_or(0, |a| a.bytes) as f64;
            let counted = |class: &str| of(&after, class) - of(&before, class);
            withdraw_replacements(&mut all, &sampled, counted);
        }
        all.sort_by(|a, b| {
            let order = |s: &SampledSite| (Reverse(s.leaks), Reverse(s.grows()));
            let by_size = b.growth.bytes.total_cmp(&a.growth.bytes);
            let alive = b.alive.bytes.total_cmp(&a.alive.bytes);
            order(a).cmp(&order(b)).then(if a.grows() { by_size } else { alive }).then_with(|| a.place.cmp(&b.place))
        });
        let top = arguments.count("top");
        let mut findings = Findings { answers: answers(&all, &times, words), ..Findings::default() };
        let table = site_table(&all, top, whole.to > whole.from, words, sampled.is_exact);
        let certainty = if sampled.is_exact { Certainty::Counted } else { Certainty::Estimated };
        let next = if document.heaps().is_some() { "leak" } else { "generations" };
        findings.found = leaking(&all)
            .zip(&findings.answers)
            .take(MOST_NAMED)
            .map(|((row, site), sentence)| Finding {
                certainty,
                next: NextStep::run(next),
                ..Finding::of_row("sites", vec![sentence.clone()], &table, Some(row)).at(&*site.place)
            })
            .collect();
        findings.tables.push(table);
        findings.tables.push(match document.heaps() {
            Some(history) => type_table(history, window, &sampled, top, progress)?,
            None => estimated_types(&sampled, top),
        });
        findings.notes = notes(&sampled, words);
        if whole != window {
            findings.notes.push(format!(
                "Of samples that were alive in earlier {0}s the recording has only sums, as one with a bound has of its oldest: what grows is told from {0} {1} on.",
                words.noun,
                whole.from + 1
            ));
        }
        Ok(findings)
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(SampledSites)
}

impl Detector for SampledSites {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Growth
    }

    fn text(&self, _: &Source) -> DetectorText {
        DetectorText::Tables
    }
}

/// Points with more missing samples than one in this many are not compared.
const MISSING_ONE_IN: u64 = 100;

/// The first of the points from which on few samples are missing; `None` where that is the first of all.
fn first_whole(sampled: &SampledAllocations, times: &[usize]) -> Option<usize> {
    let misses = |(gone, alive): (&u64, &Vec<SampledObject>)| *gone * MISSING_ONE_IN > alive.len() as u64 + gone;
    let mut earlier = sampled.gone.iter().zip(&sampled.alive).take(times.len().saturating_sub(1));
    let missing = earlier.rposition(misses)?;
    times.get(missing + 1).copied()
}

/// The compared points in time: the first, the last, and those that divide the range between.
fn parts(window: TimeWindow) -> Vec<usize> {
    let span = window.to - window.from;
    let mut times: Vec<usize> = (0..=PARTS).map(|part| window.from + span * part / PARTS).collect();
    times.dedup();
    times
}

/// The samples of a place.
struct SampledSite {
    place: String,
    /// Whether it is in the code of the program itself.
    is_own: bool,
    allocated: SampledAmount,
    alive: SampledAmount,
    growth: SampledChange,
    /// It has grown in the last parts too, each time beyond the error.
    leaks: bool,
    /// It would leak by its samples, but the walks count no such growth of its types.
    replaces: bool,
    /// Types with their live bytes, most first.
    types: Vec<(Arc<str>, f64)>,
}

impl SampledSite {
    fn grows(&self) -> bool {
        self.growth.is_growth()
    }

    /// `Leaky$Session 60 %, byte[] 40 %`.
    fn types_text(&self) -> String {
        let all: f64 = self.types.iter().map(|(_, bytes)| bytes).sum();
        let share = |bytes: f64| if all > 0.0 { 100.0 * bytes / all } else { 0.0 };
        let mut named: Vec<String> = self
            .types
            .iter()
            .take(MOST_TYPES)
            .map(|(class, bytes)| format!("{class} {:.0} %", share(*bytes)))
            .collect();
        if self.types.len() > MOST_TYPES {
            named.push(format!("{} more", count_text((self.types.len() - MOST_TYPES) as u64)));
        }
        named.join(", ")
    }
}

fn sites(sampled: &SampledAllocations, places: &Places, times: usize) -> Vec<SampledSite> {
    let last = times.saturating_sub(1);
    let key = |group: &SampledGroup| places.of_group(group);
    let alive = sampled.alive_by_group(last);
    let growth = sampled.change(0, last, key);
    // Of two walks there is one part; of many, the first may be the program's start.
    let tail: Vec<BTreeMap<u32, SampledChange>> =
        (last.min(1)..last).map(|part| sampled.change(part, part + 1, key)).collect();
    let mut found: BTreeMap<u32, SampledSite> = BTreeMap::new();
    for (group, alive) in sampled.groups.iter().zip(alive) {
        let place = places.of_group(group);
        let site = found.entry(place).or_insert_with(|| {
            let growth = growth.get(&place).copied().unwrap_or_default();
            let grew = |part: &BTreeMap<u32, SampledChange>| part.get(&place).is_some_and(SampledChange::is_growth);
            SampledSite {
                place: places.name(place).to_owned(),
                is_own: places.is_own(place),
                allocated: SampledAmount::default(),
                alive: SampledAmount::default(),
                growth,
                leaks: !tail.is_empty() && growth.is_growth() && tail.iter().all(grew),
                replaces: false,
                types: Vec::new(),
            }
        });
        site.allocated.add(group.allocated);
        site.alive.add(alive);
        if alive.samples > 0 {
            match site.types.iter_mut().find(|(class, _)| *class == group.class) {
                Some((_, bytes)) => *bytes += alive.bytes,
                None => site.types.push((Arc::clone(&group.class), alive.bytes)),
            }
        }
    }
    let mut found: Vec<SampledSite> = found.into_values().collect();
    found.iter_mut().for_each(|site| site.types.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0))));
    found
}

/// Withdraws leaks whose types have more growth in samples, of all places, than the walks count. Objects without a sample, older than the
/// recording for instance, die and others with a sample come in their place: that looks like growth. `counted` is the growth of a type in
/// bytes.
fn withdraw_replacements(sites: &mut [SampledSite], sampled: &SampledAllocations, counted: impl Fn(&str) -> f64) {
    let last = sampled.alive.len().saturating_sub(1);
    let estimated = sampled.change(0, last, |group| Arc::clone(&group.class));
    for site in sites.iter_mut().filter(|site| site.leaks) {
        let excess = |(class, _): &(Arc<str>, f64)| estimated.get(class).map_or(0.0, |e| e.bytes - counted(class));
        let excess: f64 = site.types.iter().map(excess).sum();
        let remains = SampledChange { bytes: site.growth.bytes - excess.max(0.0), ..site.growth };
        site.replaces = !remains.is_growth();
        site.leaks = !site.replaces;
    }
}

/// An estimate with its error.
fn about(bytes: f64, error: f64) -> String {
    format!("{} ± {}", bytes_text(bytes.max(0.0) as u64), bytes_text(error as u64))
}

/// Places that grow to the end by an amount worth naming, with their rows.
fn leaking(sites: &[SampledSite]) -> impl Iterator<Item = (usize, &SampledSite)> {
    let alive: f64 = sites.iter().map(|site| site.alive.bytes).sum();
    sites.iter().enumerate().filter(move |(_, site)| site.leaks && site.growth.bytes * WORTH_NAMING >= alive)
}

/// Sentences on growth, for places in the order of the table, compared at some points in time.
fn answers(sites: &[SampledSite], times: &[usize], words: &MomentTexts) -> Vec<String> {
    let noun = words.noun;
    let leaking: Vec<&SampledSite> = leaking(sites).map(|(_, site)| site).collect();
    let mut answers: Vec<String> = leaking
        .iter()
        .take(MOST_NAMED)
        .map(|site| {
            format!(
                "{} {}: +{} from the first {noun} to the last, growing to the end; {} are alive ({}){}",
                site.place,
                words.leaks,
                about(site.growth.bytes, site.growth.error()),
                about(site.alive.bytes, site.alive.error()),
                site.types_text(),
                words.meant,
            )
        })
        .collect();
    if leaking.len() > MOST_NAMED {
        let more = (leaking.len() - MOST_NAMED) as u64;
        answers.push(several(
            more,
            "more place does; it comes first in the table",
            "more places do; they come first in the table",
        ));
    }
    if answers.is_empty() {
        answers.push(match times.len() {
            0 | 1 => format!("One {noun}: growth needs a second one"),
            _ => no_leak(sites, times, noun),
        });
    }
    answers
}

/// The compared points and the growth, if no place grows to the end by an amount worth naming.
fn no_leak(sites: &[SampledSite], times: &[usize], noun: &str) -> String {
    let grown: Vec<&SampledSite> = sites.iter().filter(|site| site.grows()).collect();
    // A place without code of the program on its stacks is no line to change.
    let order =
        |a: &&&SampledSite, b: &&&SampledSite| a.is_own.cmp(&b.is_own).then(a.growth.bytes.total_cmp(&b.growth.bytes));
    let most = grown.iter().max_by(order);
    let Some(most) = most else {
        return format!(
            "No place in the code has more alive in the last {noun} than in the first, beyond the error of the samples"
        );
    };
    let more = format!("more alive in the last {noun} than in the first, beyond the error of the samples");
    let growth = about(most.growth.bytes, most.growth.error());
    let more = match grown.len() {
        1 => format!("{} has {more}: +{growth}", most.place),
        n => format!("{} places in the code have {more}, {} most: +{growth}", count_text(n as u64), most.place),
    };
    let to_the_end = match grown.iter().filter(|site| site.leaks).count() {
        0 if grown.iter().any(|site| site.replaces) => {
            format!("the {noun}s count no such growth of these types: objects without a sample were replaced")
        }
        0 if times.len() == 2 => format!("to tell what grows to the end takes a third {noun}"),
        0 => {
            let walks: Vec<String> = times[1..].iter().map(|t| (t + 1).to_string()).collect();
            format!("none grew beyond the error in every step between the {noun}s {}", walks.join(", "))
        }
        n => format!("to the end grow {}, each by less than 1 % of what is alive", count_text(n as u64)),
    };
    format!("{more}; {to_the_end}")
}

/// The note about missing samples of threads that ran when the recording began.
const BEGINS_BLIND: &str = "Of what each thread that ran by then allocated next, up to 512 KB were not seen, as Java before 18 begins to sample only behind that: \
    of threads that allocate little nothing may have been seen.";

fn notes(sampled: &SampledAllocations, words: &MomentTexts) -> Vec<String> {
    let mut notes = vec![match sampled.is_exact {
        true => format!("Every allocation was recorded: {}.", words.exact),
        false => format!(
            "What is said of places is estimated from samples, within the error in 997 of 1,000 cases; {}. Unsampled objects have no place, so \
             estimates are of all objects of a place, found or not.",
            words.note
        ),
    }];
    if !sampled.from_start {
        notes.push("The recording began while the program ran: what is older than it has no sample.".to_owned());
    }
    if sampled.begins_blind {
        notes.push(BEGINS_BLIND.to_owned());
    }
    if sampled.lost > 0 {
        notes.push(format!("{} samples were lost: estimates are too small by them.", count_text(sampled.lost)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_heap::ObjectId;

    #[test]
    fn walks_whose_samples_are_added_up_are_compared_with_none() {
        let sample = |sample| SampledObject { sample, object: ObjectId(0), group: 0, amount: SampledAmount::default() };
        let of = |gone: &[u64]| SampledAllocations {
            sites: Arc::default(),
            groups: Vec::new(),
            alive: vec![(0..200).map(sample).collect(); gone.len()],
            gone: gone.to_vec(),
            is_thinned: false,
            lost: 0,
            is_exact: false,
            from_start: true,
            begins_blind: false,
        };
        for (gone, first) in [
            (&[0, 0, 0, 0][..], None),
            (&[190, 0, 0, 0], Some(3)),
            (&[190, 40, 0, 0], Some(5)),
            (&[190, 40, 2, 0], Some(5)),
            (&[190, 40, 3, 0], Some(8)),
            // The last one is what there is.
            (&[0, 0, 0, 9], None),
            (&[], None),
        ] {
            assert_eq!(first_whole(&of(gone), &[2, 3, 5, 8][..gone.len()]), first, "{gone:?}");
        }
    }

    /// Growth that did not go on from walk to walk is reported as past growth. So is growth over too few walks, or by too little.
    #[test]
    fn what_grew_without_growing_on_is_said() {
        let of = |bytes: f64| SampledAmount { samples: 20, objects: 1.0, bytes, variance: 0.0 };
        let site = |place: &str, growth: f64, leaks| SampledSite {
            place: place.to_owned(),
            is_own: true,
            allocated: of(1e6),
            alive: of(1e6),
            growth: SampledChange { bytes: growth, variance: 1e6 },
            leaks,
            replaces: false,
            types: Vec::new(),
        };
        let said = |sites: &[SampledSite], times: &[usize]| answers(sites, times, &WALKS).join("\n");
        let five = [0, 1, 2, 3, 4];
        let none = said(&[site("a.A.b()", 2900.0, false)], &five);
        assert!(none.starts_with("No place in the code has more alive"), "{none}");
        let grown = [site("a.A.b()", 400e3, false), site("a.C.d()", 410e3, false), site("a.E.f()", 0.0, false)];
        assert_eq!(
            said(&grown, &five),
            "2 places in the code have more alive in the last walk than in the first, beyond the error of the samples, a.C.d() most: \
             +410 kB ± 3.00 kB; none grew beyond the error in every step between the walks 2, 3, 4, 5"
        );
        let two = said(&grown[..1], &[0, 7]);
        assert!(two.starts_with("a.A.b() has more alive") && two.ends_with("takes a third walk"), "{two}");
        let little = said(&[site("a.A.b()", 5000.0, true)], &five);
        assert!(little.ends_with("to the end grow 1, each by less than 1 % of what is alive"), "{little}");
        let leaking = said(&[site("a.A.b()", 400e3, true)], &five);
        assert!(leaking.starts_with("a.A.b() allocates what stays"), "{leaking}");
        // What only collections tell of is not said to stay.
        let unfreed = answers(&[site("a.A.b()", 400e3, true)], &five, &ESTIMATES).join("\n");
        assert!(unfreed.contains("no collection has freed so far") && unfreed.contains("first estimate"), "{unfreed}");
        assert!(unfreed.ends_with("That stays, or waits for a collection of the old generation"), "{unfreed}");
    }

    /// Objects from before the recording are replaced: samples alone would call that growth.
    #[test]
    fn growth_that_walks_do_not_count_is_no_leak() {
        let amount = |bytes| SampledAmount { samples: 400, objects: 400.0, bytes, variance: bytes };
        let sample = |sample| SampledObject { sample, object: ObjectId(0), group: 0, amount: amount(10e3) };
        let group = SampledGroup { class: Arc::from("long[]"), site: 1, allocated: amount(1e6) };
        let sampled = SampledAllocations {
            sites: Arc::default(),
            groups: vec![group],
            alive: vec![(0..100).map(sample).collect(), (0..200).map(sample).collect()],
            gone: vec![0; 2],
            is_thinned: false,
            lost: 0,
            is_exact: false,
            from_start: false,
            begins_blind: false,
        };
        for (counted, leaks) in [(0.0, false), (1e3, false), (300e3, true), (1e6, true), (5e6, true)] {
            let mut sites = [SampledSite {
                place: "a.A.b()".into(),
                is_own: true,
                allocated: amount(1e6),
                alive: amount(2e6),
                growth: SampledChange { bytes: 1e6, variance: 1e6 },
                leaks: true,
                replaces: false,
                types: vec![(Arc::from("long[]"), 2e6)],
            }];
            withdraw_replacements(&mut sites, &sampled, |_| counted);
            assert_eq!((sites[0].leaks, sites[0].replaces), (leaks, !leaks), "{counted}");
            let said = answers(&sites, &[0, 1, 2], &WALKS).join("\n");
            assert_eq!(said.ends_with("objects without a sample were replaced"), !leaks, "{said}");
        }
    }

    #[test]
    fn windows_are_divided_evenly() {
        let of = |from, to| parts(TimeWindow { from, to });
        assert_eq!(of(0, 8), [0, 2, 4, 6, 8]);
        assert_eq!(of(3, 5), [3, 4, 5]);
        assert_eq!((of(0, 0), of(2, 3)), (vec![0], vec![2, 3]));
    }
}
