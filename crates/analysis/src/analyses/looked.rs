//! The owners at the points in time that are worth a look, and what was filled between them. Not an analysis itself.

use super::TimeWindow;
use crate::group::Reads;
use crate::ownership::holders::place_text;
use crate::ownership::{
    Accumulation, AccumulationRules, Course, OwnerHistory, accumulations, filled_between, filled_once, grows_between,
};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text, several};
use crate::timeline::{History, OwnersOfTime, Source, Unit};
pub(super) use crate::trends::spread;
use memory_city_formats::event::GcKind;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

/// The points in time worth a look. In a trace, which does not tell what roots reach, what is dead counts at the start of a garbage
/// collection, and after one of a part of the heap what is dead in the other part does: the ends of collections of all of it tell most, if
/// there are some. Walks tell what roots reach whatever was collected before.
///
/// The first walk of a program that has only just begun is left out where there are others, unless `with_start`: what a program needs to
/// come up would be most of what grows, and hide what does so ever after.
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
    let uptime = |t: Option<&usize>| document.heaps()?.series().uptime(*t?);
    if let (Some(first), Some(next)) = (uptime(ends.first()), uptime(ends.get(1)))
        && !with_start
        && first < STARTING
        && next >= RUNNING
    {
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

/// The points in time that are no starts of garbage collections; all where there are no others.
pub(super) fn ends(document: &Source, window: TimeWindow) -> Vec<usize> {
    let is_end = |t: &usize| document.timeline().points()[*t].gc.as_ref().is_none_or(|gc| gc.end);
    let ends: Vec<usize> = window.times().filter(is_end).collect();
    if ends.is_empty() { window.times().collect() } else { ends }
}

/// A program that runs for less is starting, milliseconds; what it needs to run it has after so many.
const STARTING: u64 = 5_000;
const RUNNING: u64 = 10_000;

/// Of all objects: one in so many.
const WORTH_TELLING: u64 = 1_000;

/// Points in time that tell a leak from what grows once.
const ENOUGH: usize = 3;

/// Points in time that are looked at where fewer leave it open whether something was filled once.
pub(super) const MORE: usize = 12;

/// Whether more points in time may say more: something stopped growing, or began at the end.
pub(super) fn is_unclear(history: &OwnerHistory, rules: AccumulationRules) -> bool {
    let leaks = accumulations(history, rules);
    leaks.iter().any(|point| point.course != Course::Lasting) || !filled_once(history, rules).is_empty()
}

/// The owners at some points in time.
pub(super) struct Looked {
    /// Those that could be looked at.
    pub times: Vec<usize>,
    /// What was held then.
    pub history: OwnerHistory,
    /// What a person must know.
    pub notes: Vec<String>,
}

impl Looked {
    /// One time alone is compared with nothing. `seen` has what was looked at before.
    pub fn at(
        document: &Source,
        heaps: &History,
        times: &[usize],
        rules: KeepRules,
        seen: &mut BTreeMap<usize, OwnersOfTime>,
        progress: &Progress,
    ) -> Result<Looked> {
        let mut needs = Reads::REFERENCES;
        needs.set(Reads::ROOTS, !document.is_recorded());
        let (mut looked, mut lacks, mut notes) = (Vec::new(), Reads::empty(), Vec::new());
        let mut history = if times.len() == 1 { OwnerHistory::after_nothing() } else { OwnerHistory::default() };
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
                    "Who owns what cannot be found: that needs {}, which the input does not hold",
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
        Ok(Looked { times: looked, history: history.settled(), notes })
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

impl Looked {
    /// The labels of the points in time after which a place grew, and from which on it stayed.
    pub fn labels(&self, document: &Source, place: u32) -> (String, String) {
        let held = &self.history.places()[place as usize].held;
        let bytes: Vec<u64> = held.iter().map(|h| h.total.bytes).collect();
        let (from, until) = filled_between(&bytes);
        let label = |at: usize| self.times.get(at).map_or("?", |&t| document.timeline().points()[t].label.as_str());
        (label(from).to_owned(), label(until).to_owned())
    }

    /// Since when a place grows: the last point in time that was looked at at which it had no more than a twentieth of its growth, and the
    /// next. `None` where it does not grow.
    pub fn grows_between(&self, place: u32) -> Option<(usize, usize)> {
        let held = &self.history.places()[place as usize].held;
        let bytes: Vec<u64> = held.iter().map(|h| h.total.bytes).collect();
        let (from, next) = grows_between(&bytes)?;
        Some((*self.times.get(from)?, *self.times.get(next)?))
    }

    /// What was filled once, what grew most first.
    pub fn filled(&self, document: &Source, rules: AccumulationRules) -> Vec<FilledPlace> {
        let place = |point: &Accumulation| {
            let (after, until) = self.labels(document, point.place);
            let place = place_text(&self.history.path(point.place));
            FilledPlace { place, grown: point.bytes.1.saturating_sub(point.bytes.0), after, until }
        };
        filled_once(&self.history, rules).iter().map(place).collect()
    }
}

/// Places that were filled that are told one by one.
const MOST_FILLED: usize = 3;

/// What was filled once, in a few sentences.
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

/// What was filled once, as a table; none where nothing was.
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
