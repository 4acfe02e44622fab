//! Choice of the points in time that show who owns the growth: owners at these, and places that were filled between them. Not an analysis
//! itself.

use super::leak_verdict::still_rises;
use crate::group::Reads;
use crate::ownership::holders::place_text;
use crate::ownership::{
    Accumulation, AccumulationRules, Course, OwnerHistory, accumulations, filled_between, filled_once, grows_between,
    is_steady,
};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text, several};
use crate::timeline::{History, NodeId, OwnersOfTime, Source, TimeWindow, Unit};
pub(super) use crate::trends::spread;
use memory_city_formats::event::GcKind;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

/// The points in time worth a look. Traces do not know reachability: dead objects count at the start of a garbage collection, and after a
/// partial collection those in the other part do. So the ends of full collections are best, if there are some. Walks know reachability
/// after any collection.
///
/// The first walk of a program that has only just begun is left out if there are others, unless `with_start`. Otherwise the objects that a
/// program creates at its start would be most of the growth, and hide slower leaks.
pub(super) fn worth_a_look(
    document: &Source,
    window: TimeWindow,
    with_start: bool,
    notes: &mut Vec<String>,
) -> Vec<usize> {
    let gc = |t: &usize| document.timeline().points()[*t].gc.as_ref();
    let full = |t: &usize| gc(t).is_some_and(|gc| gc.end && gc.kind == GcKind::Major);
    let all: Vec<usize> = window.times().collect();
    let fulls: Vec<usize> = all.iter().copied().filter(full).collect();
    if document.is_recorded() && fulls.len() >= ENOUGH && fulls.len() < all.len() {
        notes.push(format!("Looked at the ends of the {} collections of the whole heap alone.", fulls.len()));
        return fulls;
    }
    let mut ends = ends(document, window);
    if let Some(first) = start_of(document, &ends).filter(|_| !with_start) {
        let label = &document.timeline().points()[ends[0]].label;
        let seconds = first as f64 / 1e3;
        match ends.len() {
            2 => notes.push(format!(
                "{label} is of the first {seconds:.1} s of the program: what it took to come up counts as growth. Record for longer."
            )),
            _ => {
                notes.push(format!(
                    "{label} is of the first {seconds:.1} s of the program, and is left out here: what it takes to come up is no leak. \
                     `-p start=keep` of `analyse leak` looks at it too."
                ));
                ends.remove(0);
            }
        }
    }
    ends
}

/// Milliseconds from the start of the program to the first of these points in time, if it had only just begun then, and ran at the next.
pub(super) fn start_of(document: &Source, times: &[usize]) -> Option<u64> {
    let uptime = |at: usize| document.heaps()?.series().uptime(*times.get(at)?);
    let (first, next) = (uptime(0)?, uptime(1)?);
    (first < STARTING && next >= RUNNING).then_some(first)
}

/// The points in time that are no starts of garbage collections; all where there are no others.
pub(super) fn ends(document: &Source, window: TimeWindow) -> Vec<usize> {
    let is_end = |t: &usize| document.timeline().points()[*t].gc.as_ref().is_none_or(|gc| gc.end);
    let ends: Vec<usize> = window.times().filter(is_end).collect();
    if ends.is_empty() { window.times().collect() } else { ends }
}

/// A program younger than this is starting, milliseconds; after it, the objects needed at the start exist.
const STARTING: u64 = 5_000;
const RUNNING: u64 = 10_000;

/// Least share of all objects: one in this many.
const WORTH_TELLING: u64 = 1_000;

/// Points in time that are enough to separate a leak from growth that happens once.
const ENOUGH: usize = 3;

/// Points in time to use if fewer do not show whether a place was filled once.
pub(super) const MORE: usize = 12;

/// True if more points in time may help: something stopped growing, or began at the end, or the heap rises and nothing explains it.
pub(super) fn is_unclear(history: &OwnerHistory, rules: AccumulationRules) -> bool {
    let leaks = accumulations(history, rules);
    leaks.iter().any(|point| point.course != Course::Lasting)
        || !filled_once(history, rules).is_empty()
        || leaks.is_empty() && still_rises(history, &[])
}

/// Whether the heap falls between some points in time by half as much as it grows, all together: then a few of them may miss each fall.
pub(super) fn falls(document: &Source, times: &[usize]) -> bool {
    let timeline = document.timeline();
    let bytes: Vec<u64> = times.iter().map(|&time| timeline.amount(time, NodeId::ROOT).bytes).collect();
    let fallen: u64 = bytes.windows(2).map(|pair| pair[0].saturating_sub(pair[1])).sum();
    let grown = bytes.last().unwrap_or(&0).saturating_sub(bytes.first().copied().unwrap_or(0));
    fallen > 0 && fallen * 2 >= grown
}

/// Whether the heap is larger at each of four points in time or more, evenly.
pub(super) fn rises_each_time(history: &OwnerHistory) -> bool {
    let bytes = history.bytes_without(&[]);
    bytes.len() > 3 && is_steady(&bytes)
}

/// The owners at some points in time.
pub(super) struct OwnerTimes {
    /// The possible points in time.
    pub times: Vec<usize>,
    /// The owners at the chosen ones.
    pub history: OwnerHistory,
    /// Notes that a reader must know.
    pub notes: Vec<String>,
}

impl OwnerTimes {
    /// The owners at these points in time. A single time is compared with nothing. `seen` has the earlier results.
    pub fn at(
        document: &Source,
        heaps: &History,
        times: &[usize],
        rules: KeepRules,
        seen: &mut BTreeMap<usize, OwnersOfTime>,
        progress: &Progress,
    ) -> Result<OwnerTimes> {
        let mut needs = Reads::REFERENCES;
        needs.set(Reads::ROOTS, !document.is_recorded());
        let (mut looked, mut lacks, mut notes) = (Vec::new(), Reads::empty(), Vec::new());
        let history = if times.len() == 1 { OwnerHistory::after_nothing() } else { OwnerHistory::default() };
        let mut history = history.with_profile(document.profile());
        let fresh: Vec<usize> = times.iter().copied().filter(|time| !seen.contains_key(time)).collect();
        let found = heaps.owners_at(&fresh, rules, needs, progress)?;
        seen.extend(fresh.into_iter().zip(found));
        // Of a dump that was cut off nobody knows what keeps its objects: beside whole ones it would tell of what was cut, not of what grows.
        let whole = |time: &usize| seen[time].places.is_some() && !seen[time].is_cut;
        let enough = times.iter().filter(|time| whole(time)).count() >= 2;
        for &time in times {
            let owners = &seen[&time];
            if enough && owners.is_cut {
                let label = &document.timeline().points()[time].label;
                notes.push(format!(
                    "{label} is left out here: it names no GC roots, as a dump that was cut off. What keeps its objects alive is not known."
                ));
                continue;
            }
            match &owners.places {
                Some(places) => {
                    history.add(places);
                    looked.push(time);
                }
                None => lacks |= needs.difference(owners.known),
            }
        }
        if looked.is_empty() || looked.len() == 1 && times.len() > 1 {
            return Err(Error::Unusable {
                what: format!(
                    "The owners cannot be found: that needs {}, which the input does not hold",
                    lacks.names()
                ),
                remedy: "Take a heap dump, or record a trace with references and GC roots".into(),
            });
        }
        let passed = times.iter().filter(|time| seen[time].places.is_none()).count();
        if passed > 0 {
            notes.push(format!("Passed over {passed} of {} points in time: without {}.", times.len(), lacks.names()));
        }
        // A handful of millions changes no answer.
        if history.too_deep() * WORTH_TELLING
            > history.places().first().map_or(0, |heap| heap.held.last().map_or(0, |h| h.total.objects))
        {
            let n = count_text(history.too_deep());
            notes.push(format!(
                "{n} objects lie below more owners than are told apart: they count with the last of these."
            ));
        }
        let clock = looked.iter().map(|&time| document.timeline().points()[time].millis).collect();
        Ok(OwnerTimes { times: looked, history: history.settled().with_clock(clock), notes })
    }
}

/// A place that was filled once.
pub(super) struct FilledPlace {
    place: String,
    grown: u64,
    /// The labels of the points in time between which it grew.
    after: String,
    until: String,
}

impl OwnerTimes {
    /// The labels of the points in time after which a place grew, and from which on it stayed.
    pub fn labels(&self, document: &Source, place: u32) -> (String, String) {
        let held = &self.history.places()[place as usize].held;
        let bytes: Vec<u64> = held.iter().map(|h| h.total.bytes).collect();
        let (from, until) = filled_between(&bytes);
        let label = |at: usize| self.times.get(at).map_or("?", |&t| document.timeline().points()[t].label.as_str());
        (label(from).to_owned(), label(until).to_owned())
    }

    /// The start of a place's growth: the last chosen point in time with at most a twentieth of its growth, and the next one. `None` if it
    /// does not grow.
    pub fn grows_between(&self, place: u32) -> Option<(usize, usize)> {
        let held = &self.history.places()[place as usize].held;
        let bytes: Vec<u64> = held.iter().map(|h| h.total.bytes).collect();
        let (from, next) = grows_between(&bytes)?;
        Some((*self.times.get(from)?, *self.times.get(next)?))
    }

    /// The places that were filled once, the largest growth first.
    pub fn filled(&self, document: &Source, rules: AccumulationRules) -> Vec<FilledPlace> {
        let place = |point: &Accumulation| {
            let (after, until) = self.labels(document, point.place);
            let place = place_text(&self.history.path(point.place));
            FilledPlace { place, grown: point.bytes.1.saturating_sub(point.bytes.0), after, until }
        };
        filled_once(&self.history, rules).iter().map(place).collect()
    }
}

/// Most filled places that are listed one by one.
const MOST_FILLED: usize = 3;

/// The places that were filled once, in a few sentences.
pub(super) fn filled_notes(filled: &[FilledPlace]) -> Vec<String> {
    let note = |f: &FilledPlace| {
        let (place, grown) = (&f.place, bytes_text(f.grown));
        format!(
            "{place} grew by {grown} between {} and {} and has stayed since: filled once, no leak.",
            f.after, f.until
        )
    };
    let mut notes: Vec<String> = filled.iter().take(MOST_FILLED).map(note).collect();
    if filled.len() > MOST_FILLED {
        let more = (filled.len() - MOST_FILLED) as u64;
        notes.push(format!("{} filled once.", several(more, "more place was", "more places were")));
    }
    notes
}

/// The places that were filled once, as a table; none without such places.
pub(super) fn filled_table(filled: Vec<FilledPlace>) -> Option<ResultTable> {
    let columns = vec![
        Column::new("place", "Place", CellKind::Text, "Who owns what grew, from the root down"),
        Column::new("growth", "Growth", CellKind::Number(Unit::Bytes), "Bytes that came"),
        Column::new("after", "After", CellKind::Text, "The last point in time before it grew"),
        Column::new("until", "Until", CellKind::Text, "The point in time from which on it stayed"),
    ];
    let row = |f: FilledPlace| Row {
        cells: vec![Cell::Text(f.place), Cell::Number(f.grown), Cell::Text(f.after), Cell::Text(f.until)],
        ..Row::default()
    };
    let rows: Vec<Row> = filled.into_iter().map(row).collect();
    let header = TableHeader { id: "filled".into(), title: "Filled once".into(), columns, ..TableHeader::default() };
    (!rows.is_empty()).then(|| ResultTable { header, rows, ..ResultTable::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spread_evenly() {
        for (from, to, most, expected) in [
            (0, 7, 5, vec![0, 1, 3, 5, 7]),
            (2, 3, 5, vec![2, 3]),
            (0, 4, 5, vec![0, 1, 2, 3, 4]),
            (0, 100, 3, vec![0, 50, 100]),
            (3, 3, 5, vec![3]),
        ] {
            assert_eq!(spread(&(from..=to).collect::<Vec<_>>(), most), expected);
        }
    }
}
