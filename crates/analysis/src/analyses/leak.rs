//! Analysis `leak`: the places where retained bytes accumulate over time, their owners, and their elements.

use super::backlog::backlog;
use super::duplicate_classes::deployed_again;
use super::finding::{Certainty, Finding, FoundPlace, NextStep};
use super::leak_example::examples;
use super::leak_first_line::{has_shared_elements, headline, place_in_words, signature};
use super::leak_headline::HeadlineName;
use super::leak_sentence::{elements_text, filling, heap_bytes, owner_key, place_text, sentence};
use super::leak_table::{columns, row};
use super::leak_verdict::{HEADLINE, LeakVerdict, VerdictKind, heap_text, percent_text, still_rises};
use super::measures::unseen_end;
use super::owner_times::{
    MORE, OwnerTimes, falls, filled_notes, filled_table, is_unclear, rises_each_time, spread, start_of, worth_a_look,
};
use super::paths::{rules as keep_rules, soft_parameter};
use super::watched::watched;
use super::{
    Analysis, Arguments, Description, Detector, DetectorRank, DetectorText, Findings, FollowsFrom, Need, Parameter,
    ParameterKind, TimeWindow,
};
use crate::ownership::{
    Accumulation, AccumulationRules, Course, Doubt, OwnerHistory, OwnerPath, PlaceOverTime, accumulations, doubt,
    filled_once, is_steady, suspects,
};
use crate::tabular::{ResultTable, Row, TableHeader, bytes_text};
use crate::timeline::{Source, shortened};
use memory_city_heap::Profile;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Leak)
}

struct Leak;

impl Analysis for Leak {
    fn describe(&self) -> Description {
        let percent = |id, title, explanation, default| Parameter {
            id,
            title,
            explanation,
            kind: ParameterKind::Number { default, least: 0, most: 100 },
        };
        let rules = AccumulationRules::default();
        Description {
            id: "leak",
            title: "What leaks",
            explanation: "Where the heap grows: the growth of retained bytes is followed down the owners (what alone \
                keeps objects alive, by static field, thread and type) to the deepest place that still holds most of it \
                and fans out into many like elements. What grew once and then stayed is told apart: it is no leak. Looks at the first and \
                last point in time and some between; of one point in time it tells what fills the heap.",
            needs: &[Need::Objects],
            parameters: vec![
                Parameter {
                    id: "times",
                    title: "Times",
                    explanation: "At how many points in time owners are found, the first and the last among them; at up \
                        to 12 where fewer leave open whether something grows on or was filled once",
                    kind: ParameterKind::Number { default: 5, least: 2, most: u64::MAX },
                },
                Parameter {
                    id: "top",
                    title: "Places",
                    explanation: "How many places are listed, those that grow most first",
                    kind: ParameterKind::Number { default: 5, least: 1, most: u64::MAX },
                },
                Parameter {
                    id: "least",
                    title: "Least growth",
                    explanation: "Bytes: places that grow by less are left out",
                    kind: ParameterKind::Number { default: rules.least_bytes, least: 0, most: u64::MAX },
                },
                Parameter {
                    id: "start",
                    title: "Start of the program",
                    explanation: "Whether a first walk of a program that ran for less than 5 s is looked at where there are two others: \
                        what a program needs to come up is no leak",
                    kind: ParameterKind::Choice { default: LEAVE_OUT, choices: &[LEAVE_OUT, "keep"] },
                },
                percent(
                    "least_share",
                    "Least share",
                    "Percent of what the heap grows: places that grow by less are left out",
                    (100.0 * rules.least_of_growth) as u64,
                ),
                percent(
                    "follow",
                    "Follow",
                    "Percent: growth is followed to the place below that has so much of it",
                    (100.0 * rules.most) as u64,
                ),
                soft_parameter(),
            ],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        Ok(search(document, window, arguments, progress)?.map(|(findings, _)| findings).unwrap_or_default())
    }
}

/// The findings in a window, and the owners that they were found by; `None` where the input has no heap states.
///
/// # Errors
/// When a state cannot be loaded again or has no owners, or the work was cancelled.
pub(super) fn search(
    document: &Source,
    window: TimeWindow,
    arguments: &Arguments,
    progress: &Progress,
) -> Result<Option<(Findings, OwnerTimes)>> {
    let Some(heaps) = document.heaps() else { return Ok(None) };
    let keep = keep_rules(arguments).for_owners();
    let rules = AccumulationRules {
        least_bytes: arguments.number("least"),
        least_of_growth: arguments.number("least_share") as f64 / 100.0,
        most: arguments.number("follow") as f64 / 100.0,
        ..AccumulationRules::default()
    };
    let mut notes = Vec::new();
    let all = worth_a_look(document, window, arguments.word("start") != LEAVE_OUT, &mut notes);
    let most = arguments.count("times");
    let mut seen = BTreeMap::new();
    let mut looked = OwnerTimes::at(document, heaps, &spread(&all, most), keep, &mut seen, progress)?;
    let more = spread(&all, most.max(MORE));
    let may_be_a_tooth = || falls(document, &all) && !accumulations(&looked.history, rules).is_empty();
    if more.len() > looked.times.len() && (may_be_a_tooth() || is_unclear(&looked.history, rules)) {
        looked = OwnerTimes::at(document, heaps, &more, keep, &mut seen, progress)?;
    }
    drop(seen);
    if start_of(document, &looked.times).is_some() {
        looked.history = looked.history.with_start();
    }
    notes.append(&mut looked.notes);
    let filled = if looked.times.len() > 2 { looked.filled(document, rules) } else { Vec::new() };
    notes.extend(filled_notes(&filled));
    notes.extend(unseen_end(document, window.to, progress)?.map(|(seconds, noun)| {
        format!(
            "The last walk is {seconds} s before the last {} that was recorded: whether what grew came to rest since then is not \
             seen. Have walks taken until the end: with `attach` for as long, where the program records itself; else by recording for longer, \
             or with a larger --walk-share.",
            noun.one()
        )
    }));
    let (times, history) = (&looked.times, &looked.history);
    let [from, to] = [times.first(), times.last()].map(|t| t.copied().unwrap_or(window.to));
    let (window, grew) = (TimeWindow { from, to }, times.len() > 1);
    let mut points = accumulations(history, rules);
    let found: Vec<u32> = points.iter().map(|point| point.place).collect();
    if points.len() > 1 {
        let (heap, dominators) = heaps.dominators(window.to, keep, progress)?;
        let watching: Vec<Option<String>> =
            points.iter().map(|point| watched(&heap, &dominators, history, point)).collect();
        // Where nothing else is left, it is what there is to say.
        if watching.iter().any(Option::is_none) {
            let mut of_each = watching.iter();
            points.retain(|_| of_each.next().is_none_or(Option::is_none));
            notes.extend(watching.into_iter().flatten());
        }
    }
    let backlog = backlog(heaps, window, history, progress)?;
    if let Some(backlog) = &backlog {
        points.iter_mut().for_each(|point| point.share = backlog.share_of(point.bytes, grew));
    }
    if grew {
        points.sort_by_cached_key(|point| doubt(history, point).is_some());
    }
    let listed = &points[..points.len().min(arguments.count("top"))];
    let mut examples = examples(heaps, window, keep, history, listed, progress)?;
    for (example, point) in examples.iter_mut().zip(listed) {
        // What others hold too is not kept alone.
        example.is_shared = has_shared_elements(history, point, example);
        example.pattern.iter_mut().for_each(|pattern| pattern.is_shared |= example.is_shared);
    }
    let mut details: Vec<Vec<String>> = backlog.iter().map(|backlog| vec![backlog.sentence(grew)]).collect();
    let mut lines = details.len();
    for (point, example) in listed.iter().zip(&examples) {
        let place = place_in_words(history, point, example, grew);
        let mut told = vec![if grew { sentence(history, point, &place) } else { filling(history, point, &place) }];
        // Of what hangs on no place of its own one way says nothing.
        let is_rest = !grew && history.places()[point.place as usize].is_shared();
        if let Some(path) = example.path.as_ref().filter(|_| !is_rest) {
            let way = way_lines(path, history.profile(), lines + 1 > FEW_LINES);
            let of_collection = example.lines(grew, point.count.1);
            told.extend(way.into_iter().chain(of_collection).map(|line| format!("    {line}")));
        }
        lines += told.len();
        details.push(told);
    }
    if grew && !listed.is_empty() {
        let [before, now] = [window.from, window.to].map(|time| heaps.heap(time, progress));
        notes.extend(deployed_again(&*before?, &*now?));
    }
    let once: Vec<u32> = if times.len() > 2 && grew { once(history, rules) } else { Vec::new() };
    let aside = found.iter().copied().chain(once).collect::<Vec<u32>>();
    let rows = listed.iter().zip(&examples).map(|(point, example)| row(&looked, point, example, grew));
    let of_backlog = backlog.iter().map(|backlog| Row { cells: backlog.cells(columns().len()), ..Row::default() });
    let left_out = Some(((points.len() - listed.len()) as u64, "places that grow".to_owned()));
    let table = ResultTable {
        header: TableHeader {
            id: "leaks".into(),
            title: if grew { "Where the heap grows".into() } else { FILLS.into() },
            columns: columns(),
            ..TableHeader::default()
        },
        rows: of_backlog.chain(rows).collect(),
        left_out,
        empty_text: "No place.".into(),
    };
    let of_table = details.into_iter().enumerate().map(|(at, told)| Finding::of_row("leak", told, &table, Some(at)));
    let mut found: Vec<Finding> = of_table.collect();
    let (waiting, places) = found.split_at_mut(backlog.iter().len());
    for (finding, backlog) in waiting.iter_mut().zip(&backlog) {
        backlog.complete(finding, grew);
    }
    for (at, (finding, (point, example))) in places.iter_mut().zip(listed.iter().zip(&examples)).enumerate() {
        let more = if at == 0 { points.len() - 1 } else { 0 };
        finding.headline = headline(history, point, example, more, grew);
        finding.signature = signature(history, point, example, grew);
        finding.place = Some(FoundPlace {
            name: place_text(history, point.place),
            owner: owner_key(history, point.place),
            elements: elements_text(history, point),
            path: example.path.as_ref().map(OwnerPath::lines).unwrap_or_default(),
            pattern: example.pattern.map_or_else(String::new, |pattern| pattern.text().to_owned()),
        });
        finding.since = finding.time("since").zip(finding.time("grown_at"));
        let is_open = grew && doubt(history, point).is_some();
        finding.certainty = if is_open { Certainty::Open } else { Certainty::Counted };
        finding.next = NextStep::run(if grew { "growing-structures" } else { "structures" });
    }
    let mut verdict = verdict(history, &points, found.first(), &aside, grew);
    let mut answers: Vec<String> = found.iter().flat_map(|finding| finding.details.iter().cloned()).collect();
    if found.is_empty() {
        answers.push(format!("{}.", verdict.headline));
    }
    // Of an input that cannot be judged nothing is said to be well.
    let reasons = super::unjudged(&document.warnings());
    if verdict.kind == VerdictKind::Ok && !reasons.is_empty() {
        verdict.kind = VerdictKind::Unknown;
        verdict.headline.push_str(", as far as it can be judged");
    }
    verdict.caveats.extend(reasons);
    if grew && (backlog.is_some() || !listed.is_empty()) {
        notes.extend(rest_text(history, &points, &aside));
    }
    if !listed.is_empty() && times.len() > 2 {
        let late = listed.iter().filter(|point| point.course == Course::LastStep);
        notes.extend(late.map(|point| {
            format!(
                "{} grew after {} alone: whether it goes on, or was filled once, a later one tells.",
                place_text(history, point.place),
                looked.labels(document, point.place).0
            )
        }));
    } else if times.len() == 2 && !listed.is_empty() {
        notes.push(
            "Two points in time cannot tell a leak from what grows once and then stays: a third one would.".to_owned(),
        );
    }
    let doubtful = listed.iter().filter(|_| grew).filter_map(|point| {
        let place = place_text(history, point.place);
        match doubt(history, point)? {
            Doubt::Slows => Some(format!(
                "{place} hardly grew at the end, at {} points in time: what fills up to a limit looks alike. A later one tells.",
                times.len()
            )),
            Doubt::Moved => Some(format!(
                "{place} grew by what other places lost, as far as types tell: whether objects moved, or others of their types went, is not known."
            )),
            Doubt::Little => Some(format!(
                "{place} grew by little of the heap, at {} points in time: a cache that was emptied and fills again looks alike. More of them tell.",
                times.len()
            )),
            Doubt::LastStep | Doubt::Steps | Doubt::Start => None,
        }
    });
    notes.extend(doubtful);
    let tables = std::iter::once(table).chain(filled_table(filled)).collect();
    let title = (!grew).then(|| FILLS.to_owned());
    let findings = Findings { title, answers, tables, found, notes, verdict: Some(verdict), ..Findings::default() };
    Ok(Some((findings, looked)))
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(Leak)
}

impl Detector for Leak {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Verdict
    }

    fn text(&self, _: &Source) -> DetectorText {
        DetectorText::Always
    }
}

/// Leaves out the first walk of a program that has only just begun.
const LEAVE_OUT: &str = "leave-out";

/// Lines of answers after which the way to one more place is one line: who lists everything has named nothing.
const FEW_LINES: usize = 20;

/// Steps of a way at its start and at its end. A chain of thousands is named by these.
const STEPS: usize = 8;

/// The way to a place: a line for each step, or all in one. The middle of a long way is a line with the number of its steps.
fn way_lines(path: &OwnerPath, profile: &Profile, in_one: bool) -> Vec<String> {
    if in_one {
        return vec![path.text()];
    }
    let mut lines = path.short_lines(profile);
    if lines.len() > 2 * STEPS + 1 {
        let middle = STEPS..lines.len() - STEPS;
        let left_out = format!("... {} more steps", middle.len());
        lines.splice(middle, [left_out]);
    }
    lines
}

/// The places that were filled once.
fn once(history: &OwnerHistory, rules: AccumulationRules) -> Vec<u32> {
    filled_once(history, rules).iter().map(|point| point.place).collect()
}

/// Of the growth of the heap; less that the listed places have leaves a rest that is worth a line.
const EXPLAINED: f64 = 0.8;
/// Places that are named as the largest of a rest, and letters of the name of one where there is little room.
const SUSPECTS: usize = 3;
const SHORT_NAME: usize = 40;

/// Bytes that places grew by; a place below another one that is named too counts once.
fn explained(history: &OwnerHistory, places: &[u32]) -> u64 {
    history.outermost(places).map(|p| history.places()[p as usize].growth().max(0) as u64).sum()
}

/// The `most` largest places of the growth that others do not explain, in words, with their number. Those that may grow on come alone;
/// without any, all if `any`.
fn largest_text(
    history: &OwnerHistory,
    known: &[u32],
    any: bool,
    most: usize,
    letters: usize,
) -> Option<(usize, String)> {
    let all = suspects(history, known);
    let may_leak = |place: u32| history.course(place, AccumulationRules::default().later).may_leak();
    let growing: Vec<(u32, u64)> = all.iter().copied().filter(|&(place, _)| may_leak(place)).collect();
    let found = if growing.is_empty() && any { all } else { growing };
    let text = |&(place, bytes): &(u32, u64)| {
        let name = HeadlineName::of(&history.path(place), None, history.profile()).text();
        format!("{} (+{})", shortened(&name, letters), bytes_text(bytes))
    };
    (!found.is_empty()).then(|| (found.len(), found.iter().take(most).map(text).collect::<Vec<_>>().join(", ")))
}

/// The place that has most of a small growth, if it grows each time, in so many letters: the end of a line.
fn steady_text(history: &OwnerHistory, known: &[u32], letters: usize) -> Option<String> {
    let at = |place: u32| &history.places()[place as usize];
    let grown = history.places().first().map_or(0, PlaceOverTime::growth);
    let (suspect, _) = suspects(history, known).into_iter().next()?;
    // Not one of many elements, but their collection.
    let parent = |&place: &u32| Some(at(place).parent).filter(|&parent| parent != 0);
    let place = std::iter::successors(Some(suspect), parent).find(|&place| at(place).heads_at_last() <= 1)?;
    let held: Vec<u64> = at(place).held.iter().map(|held| held.total.bytes).collect();
    let is_most = is_steady(&held) && at(place).growth() * 2 >= grown && !at(place).is_shared();
    let name = HeadlineName::of(&history.path(place), None, history.profile()).text();
    let amount = bytes_text(at(place).growth().max(0) as u64);
    let room = letters.saturating_sub(", most of it in  (+)".len() + amount.len());
    (is_most && room >= SHORT_NAME / 2).then(|| format!(", most of it in {} (+{amount})", shortened(&name, room)))
}

/// How much of the growth the listed places do not have, where that is worth a line.
fn rest_text(history: &OwnerHistory, points: &[Accumulation], aside: &[u32]) -> Option<String> {
    let (first, last) = heap_bytes(history);
    let grown = last.checked_sub(first).filter(|&grown| grown > 0)?;
    let of_points = explained(history, &points.iter().map(|point| point.place).collect::<Vec<_>>());
    let rest = grown.checked_sub(of_points).filter(|_| (of_points as f64) < EXPLAINED * grown as f64)?;
    let share = 100.0 * rest as f64 / grown as f64;
    let largest = match largest_text(history, aside, false, SUSPECTS, usize::MAX) {
        Some((_, largest)) => format!("the largest parts of the rest: {largest}"),
        None => "it was filled once, comes and goes, or is in many small places".to_owned(),
    };
    Some(format!("{share:.0} % of the heap's growth (+{}) is not in these places: {largest}.", bytes_text(rest)))
}

/// The verdict. `aside` are known places that explain growth: those found, and those filled once.
fn verdict(
    history: &OwnerHistory,
    points: &[Accumulation],
    strongest: Option<&Finding>,
    aside: &[u32],
    grew: bool,
) -> LeakVerdict {
    let heap = heap_bytes(history);
    let explained = explained(history, &points.iter().map(|point| point.place).collect::<Vec<_>>());
    let of = |kind, headline| LeakVerdict { kind, headline, heap, explained, caveats: Vec::new() };
    if let Some(finding) = strongest {
        let kind = if grew { VerdictKind::of(finding.certainty) } else { VerdictKind::Fills };
        return of(kind, finding.headline.clone());
    }
    if !grew {
        let nothing = "Nothing stands out: no place fills much of the heap with elements of its own";
        return of(VerdictKind::Fills, nothing.to_owned());
    }
    if still_rises(history, aside) {
        // After a start that let go, it grows from its lowest on.
        let lowest = history.places()[0].held.iter().map(|held| held.total.bytes).min().unwrap_or(0);
        let from = if heap.1 > heap.0 { heap.0 } else { lowest };
        let (grown, percent) = (bytes_text(heap.1.saturating_sub(from)), percent_text((from, heap.1)));
        let line = |most: usize, letters: usize| {
            let largest = match largest_text(history, aside, true, most, letters) {
                Some((all, largest)) if all > most => format!("the largest of {all} places: {largest}"),
                Some((_, largest)) => format!("the largest: {largest}"),
                None => "it is in many small places".to_owned(),
            };
            format!("The heap grew by {grown} ({percent}). No single owner explains it; {largest}")
        };
        let fits = |line: &String| line.chars().count() <= HEADLINE;
        let whole = |most| line(most, usize::MAX);
        let headline = (1..=SUSPECTS).rev().map(whole).find(fits).unwrap_or_else(|| line(1, SHORT_NAME));
        return of(VerdictKind::Grows, headline);
    }
    let is_more = heap.1 as f64 > 1.1 * heap.0 as f64;
    let went = format!("Nothing accumulates: the heap went {}", heap_text(heap));
    let course = match history.course(0, AccumulationRules::default().later) {
        _ if heap.1 < heap.0 => format!(", {} smaller at the end", bytes_text(heap.0 - heap.1)),
        Course::Filled if is_more => ", and has stayed there since".to_owned(),
        _ if is_more && self::explained(history, aside) * 2 > heap.1 - heap.0 => {
            ", most of it in places that were filled once".to_owned()
        }
        _ if is_more => ", most of it early, or coming and going".to_owned(),
        _ if heap.1 > heap.0 && rises_each_time(history) => {
            let each = ", a little more each time";
            let room = HEADLINE.saturating_sub(went.chars().count() + each.len());
            format!("{each}{}", steady_text(history, aside, room).unwrap_or_default())
        }
        _ => String::new(),
    };
    of(VerdictKind::Ok, format!("{went}{course}"))
}

/// The title where there is one point in time.
const FILLS: &str = "What fills the heap";
