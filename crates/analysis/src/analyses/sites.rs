//! Where a recording's samples were allocated: estimates with their error per place in the code, and beside them, in a table of
//! its own, what walks count of each type, exactly. The two are never added up.

use super::objects::top_parameter;
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::group::domain::{DomainPackages, class_of_frame};
use crate::group::registry;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{History, NodeId, Source, Unit};
use crate::trends::class_of;
use memory_city_formats::counts::without_address;
use memory_city_formats::sampled::{SampledAllocations, SampledAmount, SampledChange, SampledGroup, SampledObject};
use memory_city_heap::Amount;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(SampledSites)
}

struct SampledSites;

/// The window is looked at in so many parts: what leaks grows in each of the last ones.
const PARTS: usize = 4;
/// A part of the live bytes that is worth a sentence: one in so many.
const WORTH_NAMING: f64 = 100.0;
/// So many places are named in sentences.
const MOST_NAMED: usize = 3;
/// Types that are named of a place.
const MOST_TYPES: usize = 3;

const NOT_KNOWN: &str = "(no stack)";

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
        let place = Places::of(&sampled, (arguments.word("place") == "own").then_some(&*domain));
        let mut all = sites(&sampled, &place, times.len());
        all.sort_by(|a, b| {
            let order = |s: &SampledSite| (Reverse(s.leaks), Reverse(s.grows()));
            let by_size = b.growth.bytes.total_cmp(&a.growth.bytes);
            let alive = b.alive.bytes.total_cmp(&a.alive.bytes);
            order(a).cmp(&order(b)).then(if a.grows() { by_size } else { alive }).then_with(|| a.place.cmp(&b.place))
        });
        let top = arguments.count("top");
        let mut findings = Findings { answers: answers(&all, &times, words), ..Findings::default() };
        findings.tables.push(site_table(&all, top, whole.to > whole.from, words));
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

/// What is said of the points in time at which samples are alive.
struct MomentWords {
    /// What such a point is.
    noun: &'static str,
    /// Which samples are alive in the last of them.
    alive: &'static str,
    /// What a place does that grows to the end.
    leaks: &'static str,
    /// What is meant by it.
    meant: &'static str,
    /// What growth is.
    growth: &'static str,
    /// On how good that is, behind what is said of estimates, and where every allocation was recorded.
    note: &'static str,
    exact: &'static str,
}

const NO_WALKS: &str = "there are no walks, so what nothing holds any more counts as alive until a collection frees it";

/// In walks roots are followed: what is alive there is.
const WALKS: MomentWords = MomentWords {
    noun: "walk",
    alive: "Samples whose objects some root reaches in the last walk",
    leaks: "allocates what stays",
    meant: "",
    growth: "The same from the first walk to the last",
    note: "what walks count is exact",
    exact: "what is said of places is exact",
};

/// Of a recording without walks it is known what collections have freed, and no more than that.
const ESTIMATES: MomentWords = MomentWords {
    noun: "estimate",
    alive: "Samples whose objects no collection was found to have freed by the last estimate",
    leaks: "allocates what no collection has freed so far",
    meant: ". That stays, or waits for a collection of the old generation",
    growth: "The same from the first estimate to the last",
    note: NO_WALKS,
    exact: NO_WALKS,
};

/// Where what is alive of a class or a group was allocated, as its samples estimate it.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledShares {
    /// The class; where it is not one class, the group.
    pub class: String,
    /// How many samples of it are alive.
    pub samples: u64,
    /// Every allocation was recorded: there is no error.
    pub is_exact: bool,
    /// Places of the program itself, those with most first.
    pub places: Vec<SampledShare>,
}

/// A place and how much of a class comes from there.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledShare {
    /// The line that allocated, or led to it.
    pub place: String,
    /// Part of the bytes that its samples stand for, 0 to 1.
    pub share: f64,
    /// Three standard deviations of it; at least what so few samples can miss: three of them. 0 where every allocation was recorded.
    pub error: f64,
}

/// Where what is in a group was allocated, at a point in time: of a type or a part of one by the samples of its class; of any other
/// group (of an owner, a package, a loader) by the samples that are objects of it, as the walk says of each which object it is. `None`
/// where the document has no samples.
///
/// # Errors
/// When a file has changed since, or the work was cancelled.
pub fn sampled_shares(document: &Source, node: NodeId, t: usize, progress: &Progress) -> Result<Option<SampledShares>> {
    let timeline = document.timeline();
    let Some((series, at)) = document.samples_at(t, progress)? else { return Ok(None) };
    let Some(sampled) = series.sampled(&[at], progress)? else { return Ok(None) };
    let domain = Arc::clone(registry().domain());
    let places = Places::of(&sampled, Some(&domain));
    let path = timeline.path(node);
    if let Some(class) = path.iter().rev().find_map(|&node| class_of(timeline, node)) {
        return Ok(Some(shares_of_class(&class, &sampled, &places)));
    }
    // Trees that were sent have no objects to be looked for.
    let Some(history) = document.heaps() else { return Ok(None) };
    let inside = history.objects_of(t, &[node], progress)?.objects;
    let name = timeline.name(node);
    Ok(Some(shares_of(name, &sampled, &places, |sample, _| inside.contains(sample.object.0))))
}

fn shares_of_class(class: &str, sampled: &SampledAllocations, places: &Places) -> SampledShares {
    let same = |_: &SampledObject, group: &SampledGroup| without_address(&group.class) == without_address(class);
    shares_of(class, sampled, places, same)
}

/// Of the living samples for which `is_in` holds.
fn shares_of(
    name: &str,
    sampled: &SampledAllocations,
    places: &Places,
    is_in: impl Fn(&SampledObject, &SampledGroup) -> bool,
) -> SampledShares {
    let mut of_place: BTreeMap<u32, SampledAmount> = BTreeMap::new();
    for sample in sampled.alive.first().into_iter().flatten() {
        if let Some(group) = sampled.groups.get(sample.group as usize).filter(|group| is_in(sample, group)) {
            of_place.entry(places.of_group(group)).or_default().add(sample.amount);
        }
    }
    let mut all = SampledAmount::default();
    of_place.values().for_each(|amount| all.add(*amount));
    let bytes = all.bytes.max(1.0);
    let share = |(place, amount): (&u32, &SampledAmount)| {
        let share = amount.bytes / bytes;
        // Of a part of a sum: what is in it and what is not know nothing of each other.
        let variance =
            (1.0 - share).powi(2) * amount.variance + share.powi(2) * (all.variance - amount.variance).max(0.0);
        let error = match sampled.is_exact {
            true => 0.0,
            false => (3.0 * variance.sqrt() / bytes).max(3.0 / all.samples.max(3) as f64),
        };
        SampledShare { place: places.name(*place).to_owned(), share, error }
    };
    let mut shares: Vec<SampledShare> = of_place.iter().map(share).collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.place.cmp(&b.place)));
    SampledShares { class: name.to_owned(), samples: all.samples, is_exact: sampled.is_exact, places: shares }
}

/// A point of whose samples more than one in so many are missing is not compared with others.
const MISSING_ONE_IN: u64 = 100;

/// The first of the points from which on few samples are missing; `None` where that is the first of all.
fn first_whole(sampled: &SampledAllocations, times: &[usize]) -> Option<usize> {
    let misses = |(gone, alive): (&u64, &Vec<SampledObject>)| *gone * MISSING_ONE_IN > alive.len() as u64 + gone;
    let mut earlier = sampled.gone.iter().zip(&sampled.alive).take(times.len().saturating_sub(1));
    let missing = earlier.rposition(misses)?;
    times.get(missing + 1).copied()
}

/// The points in time that are compared: the first, the last, and those that divide what is between.
fn parts(window: TimeWindow) -> Vec<usize> {
    let span = window.to - window.from;
    let mut times: Vec<usize> = (0..=PARTS).map(|part| window.from + span * part / PARTS).collect();
    times.dedup();
    times
}

/// Which place each call chain counts for.
struct Places {
    names: Vec<String>,
    of_site: Vec<u32>,
}

impl Places {
    /// The innermost frame that the packages cover, or the innermost of all.
    fn of(sampled: &SampledAllocations, own: Option<&DomainPackages>) -> Places {
        let mut number: BTreeMap<String, u32> = BTreeMap::new();
        let mut places = Places { names: Vec::new(), of_site: Vec::new() };
        for site in sampled.sites.iter() {
            let covered = own.and_then(|own| site.frames.iter().find(|frame| own.covers(class_of_frame(frame))));
            let name = covered.or(site.frames.first()).map_or(NOT_KNOWN, |frame| frame);
            let next = places.names.len() as u32;
            let place = *number.entry(name.to_owned()).or_insert_with(|| {
                places.names.push(name.to_owned());
                next
            });
            places.of_site.push(place);
        }
        places
    }

    fn of_group(&self, group: &SampledGroup) -> u32 {
        self.of_site.get(group.site as usize).copied().unwrap_or(u32::MAX)
    }

    fn name(&self, place: u32) -> &str {
        self.names.get(place as usize).map_or(NOT_KNOWN, String::as_str)
    }
}

/// What is known of a place.
struct SampledSite {
    place: String,
    allocated: SampledAmount,
    alive: SampledAmount,
    growth: SampledChange,
    /// It has grown in the last parts too, each time beyond the error.
    leaks: bool,
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
                allocated: SampledAmount::default(),
                alive: SampledAmount::default(),
                growth,
                leaks: !tail.is_empty() && growth.is_growth() && tail.iter().all(grew),
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

/// An estimate with its error.
fn about(bytes: f64, error: f64) -> String {
    format!("{} ± {}", bytes_text(bytes.max(0.0) as u64), bytes_text(error as u64))
}

/// Sentences on what grows, of places in the order of the table, compared at some points in time.
fn answers(sites: &[SampledSite], times: &[usize], words: &MomentWords) -> Vec<String> {
    let noun = words.noun;
    let alive: f64 = sites.iter().map(|site| site.alive.bytes).sum();
    let leaking: Vec<&SampledSite> =
        sites.iter().filter(|s| s.leaks && s.growth.bytes * WORTH_NAMING >= alive).collect();
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
        answers.push(format!("{} more places do; they come first in the table", leaking.len() - MOST_NAMED));
    }
    if answers.is_empty() {
        answers.push(match times.len() {
            0 | 1 => format!("One {noun}: growth needs a second one"),
            _ => no_leak(sites, times, noun),
        });
    }
    answers
}

/// What was compared, and how far it went, where no place grows to the end by an amount that is worth naming.
fn no_leak(sites: &[SampledSite], times: &[usize], noun: &str) -> String {
    let grown: Vec<&SampledSite> = sites.iter().filter(|site| site.grows()).collect();
    let most = grown.iter().max_by(|a, b| a.growth.bytes.total_cmp(&b.growth.bytes));
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
        0 if times.len() == 2 => format!("to tell what grows to the end takes a third {noun}"),
        0 => {
            let walks: Vec<String> = times[1..].iter().map(|t| (t + 1).to_string()).collect();
            format!("none grew beyond the error in every step between the {noun}s {}", walks.join(", "))
        }
        n => format!("to the end grow {}, each by less than 1 % of what is alive", count_text(n as u64)),
    };
    format!("{more}; {to_the_end}")
}

fn bytes_cell(bytes: f64) -> Cell {
    Cell::Number(bytes.max(0.0) as u64)
}

fn site_table(sites: &[SampledSite], top: usize, has_growth: bool, words: &MomentWords) -> ResultTable {
    let bytes = CellKind::Number(Unit::Bytes);
    let samples = CellKind::Number(Unit::Count);
    let columns = vec![
        Column::new("place", "Allocated at", CellKind::Text, "The place in the code"),
        Column::new("samples", "Samples", samples, words.alive),
        Column::new("alive", "Alive, about", bytes, "Bytes that these stand for: an estimate"),
        Column::new("alive_error", "±", bytes, "Three standard deviations of that"),
        Column::new("growth", "Growth, about", CellKind::Change(Unit::Bytes), words.growth),
        Column::new("growth_error", "±", bytes, "Three standard deviations of that"),
        Column::new("allocated_samples", "All samples", samples, "All samples of this place"),
        Column::new("allocated", "Allocated, about", bytes, "Bytes that all of them stand for, dead or alive"),
        Column::new("allocated_error", "±", bytes, "Three standard deviations of that"),
        Column::new("types", "Types", CellKind::Text, "Of what is alive, as shares of the estimate"),
    ];
    let row = |site: &SampledSite| Row {
        cells: vec![
            Cell::Text(site.place.clone()),
            Cell::Number(site.alive.samples),
            bytes_cell(site.alive.bytes),
            bytes_cell(site.alive.error()),
            if has_growth { Cell::Change(site.growth.bytes as i64) } else { Cell::Empty },
            if has_growth { bytes_cell(site.growth.error()) } else { Cell::Empty },
            Cell::Number(site.allocated.samples),
            bytes_cell(site.allocated.bytes),
            bytes_cell(site.allocated.error()),
            Cell::Text(site.types_text()),
        ],
        ..Row::default()
    };
    let left_out = sites.len().saturating_sub(top) as u64;
    ResultTable {
        header: TableHeader {
            id: "sites".into(),
            title: "Allocation sites of what is alive (samples: estimates, ± 3 sigma)".into(),
            columns,
            ..TableHeader::default()
        },
        rows: sites.iter().take(top).map(row).collect(),
        left_out: (left_out > 0).then(|| (left_out, "places".into())),
        empty_text: "No sample was taken.".into(),
    }
}

/// What the last walk counts of each type, and beside it what samples estimate of the same.
fn type_table(
    history: &History,
    window: TimeWindow,
    sampled: &SampledAllocations,
    top: usize,
    progress: &Progress,
) -> Result<ResultTable> {
    let heap = history.heap(window.to, progress)?;
    let mut counts: Vec<Amount> = vec![Amount::default(); heap.types().len()];
    for (at, object) in heap.objects().enumerate() {
        if at % (1 << 20) == 0 {
            progress.check()?;
        }
        // As of samples: what has died and was not collected yet is not alive.
        if let Some(count) = counts.get_mut(heap.type_of(object).0 as usize).filter(|_| heap.is_reachable(object)) {
            count.objects += 1;
            count.bytes += heap.size_of(object);
        }
    }
    // Classes of one name from several loaders are one, as they are in samples.
    let mut rows: BTreeMap<&str, (Amount, SampledAmount)> = BTreeMap::new();
    for (of, count) in heap.types().iter().zip(counts).filter(|(_, count)| count.objects > 0) {
        let row = rows.entry(&of.name).or_default();
        row.0.objects += count.objects;
        row.0.bytes += count.bytes;
    }
    let last = sampled.alive.len().saturating_sub(1);
    for (group, alive) in sampled.groups.iter().zip(sampled.alive_by_group(last)).filter(|(_, alive)| alive.samples > 0)
    {
        rows.entry(&group.class).or_default().1.add(alive);
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by(|a, b| b.1.0.bytes.cmp(&a.1.0.bytes).then_with(|| a.0.cmp(b.0)));
    let left_out = rows.len().saturating_sub(top) as u64;
    let bytes = CellKind::Number(Unit::Bytes);
    let columns = vec![
        Column::new("type", "Type", CellKind::Text, "The type"),
        Column::new(
            "objects",
            "Objects (exact)",
            CellKind::Number(Unit::Objects),
            "Objects in the last walk that some root reaches, counted",
        ),
        Column::new("bytes", "Bytes (exact)", bytes, "Their shallow bytes, counted"),
        Column::new("samples", "Samples", CellKind::Number(Unit::Count), "How many of them are samples"),
        Column::new("estimated", "By samples, about", bytes, "Bytes that these stand for: an estimate"),
        Column::new("estimated_error", "±", bytes, "Three standard deviations of that"),
    ];
    let rows = rows.into_iter().take(top).map(|(name, (exact, estimate))| Row {
        cells: vec![
            Cell::Text(name.to_owned()),
            Cell::Number(exact.objects),
            Cell::Number(exact.bytes),
            Cell::Number(estimate.samples),
            bytes_cell(estimate.bytes),
            bytes_cell(estimate.error()),
        ],
        ..Row::default()
    });
    Ok(ResultTable {
        header: TableHeader {
            id: "sampled-types".into(),
            title: "Types in the last walk: exact counts, and what samples make of them".into(),
            columns,
            ..TableHeader::default()
        },
        rows: rows.collect(),
        left_out: (left_out > 0).then(|| (left_out, "types".into())),
        empty_text: "The last walk has no object.".into(),
    })
}

/// The types of what samples say is alive, where no walk counts them.
fn estimated_types(sampled: &SampledAllocations, top: usize) -> ResultTable {
    let last = sampled.alive.len().saturating_sub(1);
    let mut sums: BTreeMap<&str, SampledAmount> = BTreeMap::new();
    for (group, alive) in sampled.groups.iter().zip(sampled.alive_by_group(last)).filter(|(_, alive)| alive.samples > 0)
    {
        sums.entry(&group.class).or_default().add(alive);
    }
    let mut rows: Vec<(&str, SampledAmount)> = sums.into_iter().collect();
    rows.sort_by(|a, b| b.1.bytes.total_cmp(&a.1.bytes).then_with(|| a.0.cmp(b.0)));
    let left_out = rows.len().saturating_sub(top) as u64;
    let bytes = CellKind::Number(Unit::Bytes);
    let columns = vec![
        Column::new("type", "Type", CellKind::Text, "The type"),
        Column::new("samples", "Samples", CellKind::Number(Unit::Count), ESTIMATES.alive),
        Column::new("estimated", "Alive, about", bytes, "Bytes that these stand for: an estimate"),
        Column::new("estimated_error", "±", bytes, "Three standard deviations of that"),
    ];
    let rows = rows.into_iter().take(top).map(|(name, estimate)| Row {
        cells: vec![
            Cell::Text(name.to_owned()),
            Cell::Number(estimate.samples),
            bytes_cell(estimate.bytes),
            bytes_cell(estimate.error()),
        ],
        ..Row::default()
    });
    ResultTable {
        header: TableHeader {
            id: "sampled-types".into(),
            title: "Types of what is alive (samples: estimates, ± 3 sigma)".into(),
            columns,
            ..TableHeader::default()
        },
        rows: rows.collect(),
        left_out: (left_out > 0).then(|| (left_out, "types".into())),
        empty_text: "No sample is alive.".into(),
    }
}

fn notes(sampled: &SampledAllocations, words: &MomentWords) -> Vec<String> {
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
    if sampled.lost > 0 {
        notes.push(format!("{} samples were lost: estimates are too small by them.", count_text(sampled.lost)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_heap::{AllocationSite, ObjectId};

    #[test]
    fn shares_of_a_class_add_up_and_know_their_error() {
        let of = |bytes: f64, samples| SampledAmount { samples, objects: 1.0, bytes, variance: bytes * bytes / 100.0 };
        let group = |class: &str, site, bytes| SampledGroup { class: class.into(), site, allocated: of(bytes, 9) };
        let chain = |frames: &[&str]| AllocationSite { frames: frames.iter().map(|frame| Arc::from(*frame)).collect() };
        let amounts = [("shop.Cart", 0, 600.0), ("shop.Cart", 1, 300.0), ("shop.Cart", 2, 100.0), ("x.Y", 0, 5e9)];
        let alive = amounts.iter().zip(0..).map(|((_, _, bytes), n)| SampledObject {
            sample: u64::from(n),
            object: ObjectId(n),
            group: n,
            amount: of(*bytes, 1),
        });
        let sampled = SampledAllocations {
            groups: amounts.map(|(class, site, bytes)| group(class, site, bytes)).to_vec(),
            sites: Arc::new(vec![chain(&["shop.Cart.add() line 7"]), chain(&["shop.Cart.put() line 9"]), chain(&[])]),
            alive: vec![alive.collect()],
            gone: vec![0],
            is_thinned: false,
            lost: 0,
            is_exact: false,
            from_start: true,
        };
        let shares = shares_of_class("shop.Cart", &sampled, &Places::of(&sampled, None));
        assert_eq!((shares.samples, shares.places.len()), (3, 3));
        assert_eq!(shares.places[0].place, "shop.Cart.add() line 7");
        assert!((shares.places.iter().map(|of| of.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((shares.places[0].share - 0.6).abs() < 1e-9);
        assert_eq!(shares.places[0].error, 1.0, "three samples tell nothing");
        assert_eq!(shares.places[2].place, NOT_KNOWN);
        // Of many samples the error is that of a quotient: sqrt(0.4² 60² + 0.6² (30² + 10²)) of 1000, three times.
        let many = shares_of_many(&sampled);
        assert!((many.places[0].error - 3.0 * 936f64.sqrt() / 1000.0).abs() < 1e-9, "{}", many.places[0].error);
        let exact = SampledAllocations { is_exact: true, ..sampled.clone() };
        assert_eq!(shares_of_class("shop.Cart", &exact, &Places::of(&exact, None)).places[0].error, 0.0);
        assert!(shares_of_class("shop.None", &sampled, &Places::of(&sampled, None)).places.is_empty());
        // Of some objects, whatever class they are of: 300 and 100 of 400.
        let some =
            shares_of("some", &sampled, &Places::of(&sampled, None), |sample, _| [1, 2].contains(&sample.object.0));
        assert_eq!((some.samples, &*some.places[0].place), (2, "shop.Cart.put() line 9"));
        assert!((some.places[0].share - 0.75).abs() < 1e-9, "{some:?}");
    }

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

    fn shares_of_many(sampled: &SampledAllocations) -> SampledShares {
        let mut many = sampled.clone();
        many.alive[0].iter_mut().for_each(|object| object.amount.samples = 1000);
        shares_of_class("shop.Cart", &many, &Places::of(&many, None))
    }

    /// What grew, but not from walk to walk, is said to have grown; what too few walks tell, and what is too little, as well.
    #[test]
    fn what_grew_without_growing_on_is_said() {
        let of = |bytes: f64| SampledAmount { samples: 20, objects: 1.0, bytes, variance: 0.0 };
        let site = |place: &str, growth: f64, leaks| SampledSite {
            place: place.to_owned(),
            allocated: of(1e6),
            alive: of(1e6),
            growth: SampledChange { bytes: growth, variance: 1e6 },
            leaks,
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

    #[test]
    fn windows_are_divided_evenly() {
        let of = |from, to| parts(TimeWindow { from, to });
        assert_eq!(of(0, 8), [0, 2, 4, 6, 8]);
        assert_eq!(of(3, 5), [3, 4, 5]);
        assert_eq!((of(0, 0), of(2, 3)), (vec![0], vec![2, 3]));
    }
}
