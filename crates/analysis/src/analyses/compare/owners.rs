//! The leaks of two runs, place by place: each is fixed, smaller, still there, larger or new.
//!
//! A place is the same in both if it has the same name in first lines, whatever collection it is, or the same owners. A place that leaks in
//! one run alone may be in the other without being a leak: as large as ever, filled once, or coming and going.

use super::growth::{self, GrowthOutcome, LESS, ONE_POINT, RunsOutcome, bytes, judged};
use crate::analyses::leak::{self, search};
use crate::analyses::leak_sentence::owner_key;
use crate::analyses::owner_times::OwnerTimes;
use crate::analyses::{Arguments, Finding, Findings, TimeWindow, VerdictKind, change, unjudged};
use crate::ownership::{AccumulationRules, Course, is_steady};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, several};
use crate::timeline::{Source, Unit};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The parameters of the search in each run: more places than a report lists, and smaller ones.
const SEARCH: [(&str, &str); 2] = [("top", "20"), ("least_share", "5")];
/// Further places with a sentence each.
const SENTENCES: usize = 4;
/// As [`LESS`], for runs with different numbers of dumps: growth by step differs more.
const LESS_BY_STEP: f64 = 0.75;

/// The leaks of a run until it is compared.
struct RunLeaks {
    findings: Findings,
    looked: OwnerTimes,
    /// Its places by the keys of their owners.
    places: FxHashMap<String, u32>,
}

/// Something that leaks.
#[derive(Clone, Copy)]
struct RunLeak<'f> {
    /// Its name, with the type of the collection.
    name: &'f str,
    /// The key by its owners.
    owner: &'f str,
    grew: i64,
}

impl<'f> RunLeak<'f> {
    fn of(finding: &'f Finding) -> Option<RunLeak<'f>> {
        let place = finding.place.as_ref()?;
        let name = if finding.signature.is_empty() { &place.name } else { &finding.signature };
        let grew = finding.number("growth").unwrap_or(0.0) as i64;
        Some(RunLeak { name, owner: &place.owner, grew })
    }

    /// Its name without the collection: a map of another type is the same place.
    fn field(&self) -> &str {
        self.name.split_once(" (").map_or(self.name, |(field, _)| field)
    }
}

/// A place in both runs.
struct ComparedPlace {
    name: String,
    outcome: GrowthOutcome,
    /// Its key by owners.
    owner: String,
    grew: [i64; 2],
    sentence: String,
}

/// What a leak of one run does in the other, where it is none.
#[derive(Default)]
struct Elsewhere {
    grew: i64,
    /// Whether it may go on all the same.
    goes_on: bool,
    /// How it went, in words.
    how: &'static str,
}

impl ComparedPlace {
    fn of(leak: &RunLeak<'_>, outcome: GrowthOutcome, grew: [i64; 2], sentence: String) -> ComparedPlace {
        ComparedPlace { name: leak.name.to_owned(), outcome, owner: leak.owner.to_owned(), grew, sentence }
    }
}

/// The leak of the second run that is each of the first: of the same owners, or else of the same name.
fn pairs(leaks: [&[RunLeak<'_>]; 2]) -> Vec<Option<usize>> {
    let mut pairs: Vec<Option<usize>> = vec![None; leaks[0].len()];
    for by_owner in [true, false] {
        for (at, leak) in leaks[0].iter().enumerate() {
            let is_same = |other: &RunLeak<'_>| match by_owner {
                true => !leak.owner.is_empty() && leak.owner == other.owner,
                false => leak.field() == other.field(),
            };
            if pairs[at].is_none() {
                let free = |other: &usize| !pairs.contains(&Some(*other)) && is_same(&leaks[1][*other]);
                pairs[at] = (0..leaks[1].len()).find(free);
            }
        }
    }
    pairs
}

/// The name of growth that no place of its own explains.
const WHOLE: &str = "The heap, in many small places,";

impl RunLeaks {
    fn leaks(&self) -> Vec<RunLeak<'_>> {
        let mut leaks: Vec<RunLeak<'_>> = Vec::new();
        for leak in self.findings.found.iter().filter_map(RunLeak::of) {
            // Parts of one collection that lie with several owners have one name.
            match leaks.iter_mut().find(|known| known.name == leak.name) {
                Some(known) => known.grew = known.grew.saturating_add(leak.grew),
                None => leaks.push(leak),
            }
        }
        if leaks.is_empty() && self.is(VerdictKind::Grows) {
            leaks.push(RunLeak { name: WHOLE, owner: "", grew: self.rest() });
        }
        leaks
    }

    fn is(&self, kind: VerdictKind) -> bool {
        self.findings.verdict.as_ref().is_some_and(|verdict| verdict.kind == kind)
    }

    /// The growth of the heap without its leaks; after a start that let go, from the lowest point on.
    fn rest(&self) -> i64 {
        let own = self.findings.found.iter().filter_map(RunLeak::of);
        let places: Vec<u32> = own.filter_map(|leak| self.places.get(leak.owner).copied()).collect();
        let bytes = self.looked.history.bytes_without(&places);
        let (first, last) = (bytes.first().copied().unwrap_or(0), bytes.last().copied().unwrap_or(0));
        change(if last > first { first } else { bytes.into_iter().min().unwrap_or(0) }, last)
    }

    /// The place of a leak of the other run: of its owners, or of those without a collection that may have another type here.
    fn place(&self, leak: &RunLeak<'_>) -> Option<u32> {
        let collections = &self.looked.history.profile().collections;
        let without = || {
            let (above, last) = leak.owner.rsplit_once('#')?;
            self.places.get(above).filter(|_| collections.covers(last))
        };
        self.places.get(leak.owner).or_else(without).copied()
    }

    /// A place that is no leak here. `None` where it is not known.
    fn elsewhere(&self, leak: &RunLeak<'_>) -> Option<Elsewhere> {
        let history = &self.looked.history;
        if leak.name == WHOLE {
            let grew = self.rest();
            let goes_on = self.is(VerdictKind::Grows) && grew > 0;
            return Some(Elsewhere { grew, goes_on, how: ", filled once, or coming and going" });
        }
        // What waits for finalizers is no place. It is looked for only where it is much of the growth.
        if leak.owner.is_empty() && !self.is(VerdictKind::Ok) {
            return None;
        }
        let place = self.place(leak).and_then(|place| Some((place, history.places().get(place as usize)?)));
        let Some((place, of)) = place else { return Some(Elsewhere::default()) };
        let held: Vec<u64> = of.held.iter().map(|held| held.total.bytes).collect();
        let course = history.course(place, AccumulationRules::default().later);
        let heap = history.places()[0].held.iter().map(|held| held.total.bytes).max().unwrap_or(0);
        let is_much = of.growth() >= growth::floor_of(heap);
        let goes_on = of.growth() > 0 && course.may_leak() && (is_much || held.len() > 3 && is_steady(&held));
        let how = match course {
            Course::Filled => ", filled once",
            _ if !is_much => ", less than 1 % of the heap",
            _ => ", coming and going",
        };
        Some(Elsewhere { grew: of.growth(), goes_on, how })
    }

    /// Bytes of a place at the last point in time.
    fn kept(&self, leak: &RunLeak<'_>) -> u64 {
        let same = self.findings.found.iter().find(|finding| {
            let name = finding.signature.split_once(" (").map_or(&*finding.signature, |(field, _)| field);
            name == leak.field()
        });
        let history = &self.looked.history;
        let held = |place: u32| history.places()[place as usize].held.last().map_or(0, |held| held.total.bytes);
        let retained = same.and_then(|finding| finding.number("retained")).map(|bytes| bytes as u64);
        retained.unwrap_or_else(|| self.place(leak).map_or(0, held))
    }
}

/// The result for two runs, and a table of the places. `None` where one of them has no owners. Each run is looked at from its first point in
/// time to that of `points`; with `by_step`, runs with more points had more time. `differs`: the group that changed most, and a sentence.
///
/// # Errors
/// When a state cannot be loaded again, or the work was cancelled.
pub(super) fn of_runs(
    runs: [&Source; 2],
    points: [usize; 2],
    by_step: bool,
    differs: Option<(String, String)>,
    progress: &Progress,
) -> Result<Option<(RunsOutcome, Option<ResultTable>)>> {
    let is_single = points.contains(&0);
    let mut found = Vec::with_capacity(2);
    for (run, to) in runs.into_iter().zip(points) {
        let arguments = Arguments::parse(&leak::analysis().describe(), SEARCH)?;
        let window = TimeWindow { from: if is_single { to } else { 0 }, to };
        match search(run, window, &arguments, progress) {
            Ok(Some((findings, looked))) => {
                let all = 0..looked.history.places().len() as u32;
                let places = all.map(|place| (owner_key(&looked.history, place), place)).collect();
                found.push(RunLeaks { findings, looked, places });
            }
            Ok(None) | Err(Error::Unusable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let [a, b] = &found[..] else { return Ok(None) };
    if is_single {
        return Ok(filling([a, b]).map(|outcome| (outcome, None)));
    }
    let steps = if by_step { points } else { [1, 1] };
    let mut places = compared([a, b], steps);
    let damage = runs.map(|run| unjudged(&run.warnings()));
    for place in &mut places {
        // What does not grow in a damaged run may do so in the part that could not be read.
        let rests_on = match place.outcome {
            GrowthOutcome::New | GrowthOutcome::Worse => &damage[0],
            GrowthOutcome::Fixed | GrowthOutcome::Less => &damage[1],
            _ => continue,
        };
        if !rests_on.is_empty() {
            place.outcome = GrowthOutcome::Unknown;
            let amounts = place.sentence.rsplit_once(": ").map_or(&*place.sentence, |(amounts, _)| amounts);
            place.sentence = format!("{amounts}: cannot be judged");
        }
    }
    let mut sentences: Vec<String> = places.iter().map(|place| place.sentence.clone()).collect();
    let mut group = places.first().map(|place| place.owner.clone());
    if places.is_empty() {
        let (key, text) = differs.unzip();
        let differs = text.map_or_else(String::new, |text| format!(". {text}"));
        sentences.push(format!("Nothing accumulates in either run{differs}"));
        group = key;
    }
    let mut outcome = places.first().map_or(GrowthOutcome::NoGrowth, |place| place.outcome);
    let is_unknown = places.iter().all(|place| place.outcome == GrowthOutcome::Unknown);
    if let Some(reason) = damage.iter().flatten().next().filter(|_| is_unknown) {
        outcome = GrowthOutcome::Unknown;
        sentences = vec![format!("Cannot be judged: {}", reason.trim_end_matches('.'))];
    }
    let table = (!places.is_empty()).then(|| table(&places));
    let mut more: Vec<String> = sentences.split_off(1).into_iter().map(|sentence| format!("{sentence}.")).collect();
    if more.len() > SENTENCES {
        let left = more.split_off(SENTENCES).len() as u64;
        more.push(format!("{} in the table.", several(left, "more place is", "more places are")));
    }
    let also = match places.len() {
        0 | 1 => String::new(),
        _ if more.is_empty() => String::new(),
        n => format!("; and {}", several(n as u64 - 1, "more place", "more places")),
    };
    let text = sentences.pop().map_or_else(String::new, |first| first + also.as_str());
    Ok(Some((RunsOutcome { outcome, text, more, group }, table)))
}

/// The places that leak in either run, the worst first.
fn compared(runs: [&RunLeaks; 2], steps: [usize; 2]) -> Vec<ComparedPlace> {
    let leaks = runs.map(RunLeaks::leaks);
    let by_step = steps[0] != steps[1];
    let less = if by_step { LESS_BY_STEP } else { LESS };
    let rate = |side: usize, grew: i64| grew as f64 / if by_step { steps[side].max(1) as f64 } else { 1.0 };
    let amount = |side: usize, grew: i64| match by_step {
        true => format!("{} from dump to dump", bytes(rate(side, grew) as i64)),
        false => bytes(grew),
    };
    let fate = |a: i64, b: i64| judged(rate(1, b) / rate(0, a).max(1.0), less);
    let pairs = pairs([&leaks[0], &leaks[1]]);
    let mut places = Vec::new();
    for (leak, same) in leaks[0].iter().zip(&pairs) {
        let other = match *same {
            Some(at) => Some(Elsewhere { grew: leaks[1][at].grew, goes_on: true, how: "" }),
            None => runs[1].elsewhere(leak),
        };
        let grew = other.as_ref().map_or(0, |other| other.grew);
        let (outcome, second) = match other {
            None => (GrowthOutcome::Unknown, "which is not looked for in the second".to_owned()),
            Some(Elsewhere { goes_on: true, .. }) if grew > 0 => {
                let (outcome, words) = fate(leak.grew, grew);
                (outcome, format!("by {} in the second: {words}", amount(1, grew)))
            }
            Some(other) if grew > 0 => {
                (GrowthOutcome::Fixed, format!("by {} in the second{}: fixed", amount(1, grew), other.how))
            }
            Some(_) => (GrowthOutcome::Fixed, "not at all in the second: fixed".to_owned()),
        };
        let sentence = format!("{} grew by {} in the first run, {second}", leak.name, amount(0, leak.grew));
        places.push(ComparedPlace::of(leak, outcome, [leak.grew, grew], sentence));
    }
    for leak in (0..leaks[1].len()).filter(|&at| !pairs.contains(&Some(at))).map(|at| &leaks[1][at]) {
        let other = runs[0].elsewhere(leak);
        let before = other.as_ref().map_or(0, |other| other.grew);
        let (outcome, first) = match other {
            None => (GrowthOutcome::Unknown, "which is not looked for in the first".to_owned()),
            Some(Elsewhere { goes_on: true, .. }) => {
                let (outcome, words) = fate(before, leak.grew);
                (outcome, format!("by {} in the first: {words}", amount(0, before)))
            }
            Some(other) if before > 0 => {
                (GrowthOutcome::New, format!("by {} in the first{}: new", amount(0, before), other.how))
            }
            Some(_) => (GrowthOutcome::New, "not at all in the first: new".to_owned()),
        };
        // What has no owner is named by its objects.
        let verb = if leak.owner.is_empty() && leak.name != WHOLE { "grow" } else { "grows" };
        let sentence = format!("{} {verb} by {} in the second run, {first}", leak.name, amount(1, leak.grew));
        places.push(ComparedPlace::of(leak, outcome, [before, leak.grew], sentence));
    }
    let order =
        [GrowthOutcome::Worse, GrowthOutcome::New, GrowthOutcome::Remains, GrowthOutcome::Unknown, GrowthOutcome::Less];
    let rank = |outcome| order.iter().position(|of| *of == outcome).unwrap_or(order.len());
    places.sort_by_key(|place| (rank(place.outcome), Reverse(place.grew.into_iter().max())));
    places
}

/// Of single states: how much the places that fill the first keep in the second.
fn filling(runs: [&RunLeaks; 2]) -> Option<RunsOutcome> {
    let [a, b] = runs;
    let mut leaks = a.leaks();
    leaks.extend(b.leaks().into_iter().filter(|of_b| a.leaks().iter().all(|of_a| of_a.field() != of_b.field())));
    let kept = |leak: &RunLeak<'_>| [a.kept(leak), b.kept(leak)];
    let most = leaks.iter().max_by_key(|leak| {
        let [first, second] = kept(leak);
        (first.abs_diff(second), first)
    })?;
    let [first, second] = kept(most).map(bytes_text);
    Some(RunsOutcome {
        outcome: GrowthOutcome::Unknown,
        text: format!("{} keeps {first} in the first run, {second} in the second. {ONE_POINT}", most.name),
        more: Vec::new(),
        group: Some(most.owner.to_owned()),
    })
}

fn table(places: &[ComparedPlace]) -> ResultTable {
    let grown = CellKind::Change(Unit::Bytes);
    let columns = vec![
        Column::new("place", "Place", CellKind::Text, "The place, as reports name it"),
        Column::new("outcome", "Outcome", CellKind::Text, "fixed, less, still there, worse, new, or unknown"),
        Column::new("growth_a", "A, growth", grown, "Growth in the first run, bytes"),
        Column::new("growth_b", "B, growth", grown, "Growth in the second"),
    ];
    let row = |place: &ComparedPlace| Row {
        cells: vec![
            Cell::Text(place.name.clone()),
            Cell::Text(place.outcome.word().to_owned()),
            Cell::Change(place.grew[0]),
            Cell::Change(place.grew[1]),
        ],
        ..Row::default()
    };
    ResultTable {
        header: TableHeader {
            id: "places".into(),
            title: "Places that grow".into(),
            columns,
            ..TableHeader::default()
        },
        rows: places.iter().map(row).collect(),
        ..ResultTable::default()
    }
}
