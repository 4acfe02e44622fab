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
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text};
use crate::timeline::{Source, Unit};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::cmp::Reverse;

/// The parameters of the search in each run: more places than a report lists, and smaller ones.
const SEARCH: [(&str, &str); 2] = [("top", "20"), ("least_share", "5")];
/// Sentences in the first answer.
const SENTENCES: usize = 3;
/// As [`LESS`], for runs with different numbers of dumps: growth by step differs more.
const LESS_BY_STEP: f64 = 0.75;

/// The leaks of a run until it is compared.
struct RunLeaks {
    findings: Findings,
    looked: OwnerTimes,
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

/// The name of growth that no place of its own explains.
const WHOLE: &str = "The heap, in many small places,";

impl RunLeaks {
    fn leaks(&self) -> Vec<RunLeak<'_>> {
        let mut leaks: Vec<RunLeak<'_>> = self.findings.found.iter().filter_map(RunLeak::of).collect();
        if let Some(verdict) = self.findings.verdict.as_ref().filter(|_| leaks.is_empty())
            && verdict.kind == VerdictKind::Grows
        {
            leaks.push(RunLeak { name: WHOLE, owner: "", grew: change(verdict.heap.0, verdict.heap.1) });
        }
        leaks
    }

    /// The growth of a place that is no leak here, whether it may go on all the same, and how it went.
    fn elsewhere(&self, leak: &RunLeak<'_>) -> (i64, bool, &'static str) {
        let history = &self.looked.history;
        let mut places = 0..history.places().len() as u32;
        let place = match leak.name {
            WHOLE => Some(0),
            _ => places.find(|&place| owner_key(history, place) == leak.owner),
        };
        let Some(place) = place else { return (0, false, "") };
        let of = &history.places()[place as usize];
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
        (of.growth(), goes_on, how)
    }

    /// Bytes of a place at the last point in time.
    fn kept(&self, leak: &RunLeak<'_>) -> u64 {
        let same = self.findings.found.iter().find(|finding| {
            let name = finding.signature.split_once(" (").map_or(&*finding.signature, |(field, _)| field);
            name == leak.field()
        });
        let history = &self.looked.history;
        let held = |place: u32| history.places()[place as usize].held.last().map_or(0, |held| held.total.bytes);
        let mut places = 0..history.places().len() as u32;
        same.and_then(|finding| finding.number("retained"))
            .map(|bytes| bytes as u64)
            .unwrap_or_else(|| places.find(|&place| owner_key(history, place) == leak.owner).map_or(0, held))
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
            Ok(Some((findings, looked))) => found.push(RunLeaks { findings, looked }),
            Ok(None) | Err(Error::Unusable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let [a, b] = &found[..] else { return Ok(None) };
    if is_single {
        return Ok(filling([a, b]).map(|outcome| (outcome, None)));
    }
    let steps = if by_step { points } else { [1, 1] };
    let places = compared([a, b], steps);
    let reasons: Vec<String> = runs.iter().flat_map(|run| unjudged(&run.warnings())).collect();
    let worst = places.first().map_or(GrowthOutcome::NoGrowth, |place| place.outcome);
    let is_well = matches!(worst, GrowthOutcome::Fixed | GrowthOutcome::Less | GrowthOutcome::NoGrowth);
    let mut sentences: Vec<String> = places.iter().take(SENTENCES).map(|place| place.sentence.clone()).collect();
    if places.len() > SENTENCES {
        sentences.push(format!("The table of places has {} more", places.len() - SENTENCES));
    }
    let mut group = places.first().map(|place| place.owner.clone());
    if places.is_empty() {
        sentences.push("Nothing accumulates in either run".to_owned());
        let (key, text) = differs.unzip();
        sentences.extend(text);
        group = key;
    }
    let mut outcome = worst;
    if let Some(reason) = reasons.first().filter(|_| is_well) {
        outcome = GrowthOutcome::Unknown;
        sentences = vec![format!("Cannot be judged: {}", reason.trim_end_matches('.'))];
    }
    let table = (!places.is_empty()).then(|| table(&places));
    Ok(Some((RunsOutcome { outcome, text: sentences.join(". "), group }, table)))
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
    let mut known = vec![false; leaks[1].len()];
    let mut places = Vec::new();
    for leak in &leaks[0] {
        let is_same = |other: &RunLeak<'_>| other.field() == leak.field() || other.owner == leak.owner;
        let same = (0..leaks[1].len()).find(|&at| !known[at] && is_same(&leaks[1][at]));
        let (grew, goes_on, how) = match same {
            Some(at) => {
                known[at] = true;
                (leaks[1][at].grew, true, "")
            }
            None => runs[1].elsewhere(leak),
        };
        let (outcome, second) = match goes_on && grew > 0 {
            true => {
                let (outcome, words) = judged(rate(1, grew) / rate(0, leak.grew).max(1.0), less);
                (outcome, format!("by {} in the second: {words}", amount(1, grew)))
            }
            false if grew > 0 => (GrowthOutcome::Fixed, format!("by {} in the second{how}: fixed", amount(1, grew))),
            false => (GrowthOutcome::Fixed, "not at all in the second: fixed".to_owned()),
        };
        let sentence = format!("{} grew by {} in the first run, {second}", leak.name, amount(0, leak.grew));
        let grew = [leak.grew, grew];
        places.push(ComparedPlace {
            name: leak.name.to_owned(),
            outcome,
            owner: leak.owner.to_owned(),
            grew,
            sentence,
        });
    }
    for (leak, _) in leaks[1].iter().zip(known).filter(|(_, known)| !known) {
        let (before, goes_on, how) = runs[0].elsewhere(leak);
        let (outcome, first) = match (goes_on, before > 0) {
            (true, _) => {
                let (outcome, words) = judged(rate(1, leak.grew) / rate(0, before).max(1.0), less);
                (outcome, format!("by {} in the first: {words}", amount(0, before)))
            }
            (false, true) => (GrowthOutcome::New, format!("by {} in the first{how}: new", amount(0, before))),
            (false, false) => (GrowthOutcome::New, "not at all in the first: new".to_owned()),
        };
        let sentence = format!("{} grows by {} in the second run, {first}", leak.name, amount(1, leak.grew));
        let grew = [before, leak.grew];
        places.push(ComparedPlace {
            name: leak.name.to_owned(),
            outcome,
            owner: leak.owner.to_owned(),
            grew,
            sentence,
        });
    }
    let order = [GrowthOutcome::Worse, GrowthOutcome::New, GrowthOutcome::Remains, GrowthOutcome::Less];
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
        group: Some(most.owner.to_owned()),
    })
}

fn table(places: &[ComparedPlace]) -> ResultTable {
    let grown = CellKind::Change(Unit::Bytes);
    let columns = vec![
        Column::new("place", "Place", CellKind::Text, "The place, as reports name it"),
        Column::new("outcome", "Outcome", CellKind::Text, "fixed, less, still there, worse, or new"),
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
