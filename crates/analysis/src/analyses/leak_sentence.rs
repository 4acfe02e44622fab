//! Sentences about a place that leaks, or that fills the heap.

use crate::ownership::{Accumulation, Elements, OwnerHistory, PlaceOverTime, ends};
use crate::tabular::{bytes_text, count_text};
use crate::timeline::key_of;

/// Bytes that all roots reach at the first and the last point in time.
pub(super) fn heap_bytes(history: &OwnerHistory) -> (u64, u64) {
    history.places().first().map_or((0, 0), |heap| ends(&heap.held, |h| h.total.bytes))
}

/// Whether a part of so many bytes is one of the heap's growth. Where other places shrank by as much, it is one of what grew.
pub(super) fn is_of_growth(history: &OwnerHistory, bytes: u64) -> bool {
    let (first, last) = heap_bytes(history);
    bytes <= last.saturating_sub(first).saturating_mul(2)
}

/// The place in words: its path without the packages that everybody knows.
pub(super) fn place_text(history: &OwnerHistory, place: u32) -> String {
    crate::ownership::holders::place_text(&history.path(place))
}

/// The key of a place in a timeline that is grouped by owner.
pub(super) fn owner_key(history: &OwnerHistory, place: u32) -> String {
    let names = history.path(place);
    let heap = history.places().first().map(|heap| &*heap.name);
    key_of(&heap.into_iter().chain(names.iter().map(|name| &**name)).collect::<Vec<_>>())
}

/// As [`sentence`], at one point in time: the amount there is, without growth.
pub(super) fn filling(history: &OwnerHistory, point: &Accumulation, place: &str) -> String {
    let at = |place: u32| &history.places()[place as usize];
    let (count, bytes) = (count_text(point.count.1), bytes_text(point.bytes.1));
    let holds = match &point.elements {
        Elements::Below(below) => {
            let kind = |p: u32| format!("{} {}", count_text(ends(&at(p).held, |h| h.heads).1), at(p).name);
            format!("holds {}", kinds(history, below, kind))
        }
        Elements::Own => format!("{} {count} {}", made_of(history, point.place), objects_text(history, point.place)),
        Elements::Larger => "is large".to_owned(),
    };
    let share = 100.0 * point.share;
    match &point.elements {
        Elements::Below(_) if at(point.place).is_shared() => {
            let kinds = holds.trim_start_matches("holds ");
            format!("{bytes}, {share:.0} % of the heap, is {place} and hangs on no place of its own: {kinds}")
        }
        _ => format!("{place} {holds}: {bytes}, {share:.0} % of the heap"),
    }
}

pub(super) fn elements_text(history: &OwnerHistory, point: &Accumulation) -> String {
    let at = |place: u32| &history.places()[place as usize];
    match &point.elements {
        Elements::Below(below) => {
            let kind = |p: u32| {
                let (first, last) = ends(&at(p).held, |h| h.heads);
                format!("{} {} ({} at first)", count_text(last), at(p).name, first_text(history, p, first))
            };
            kinds(history, below, kind)
        }
        Elements::Own | Elements::Larger => at(point.place).name.to_string(),
    }
}

/// The noun for the objects of a place.
fn objects_text(history: &OwnerHistory, place: u32) -> &'static str {
    match history.places()[place as usize].is_thread() {
        true => "threads",
        false => "objects",
    }
}

/// The number of objects of a place that hold its elements, where they are several and much fewer.
fn of_several(history: &OwnerHistory, point: &Accumulation) -> String {
    let at = &history.places()[point.place as usize];
    match at.heads_at_last() {
        heads if heads > 1 && heads * 2 <= point.count.1 && !at.is_thread() => {
            format!(", in {} of these", count_text(heads))
        }
        _ => String::new(),
    }
}

/// The verb for the objects of a place: of one object, its insides.
fn made_of(history: &OwnerHistory, place: u32) -> &'static str {
    match history.places()[place as usize].heads_at_last() {
        1 => "is made of",
        _ => "are",
    }
}

/// The number of a place's objects at first. Their owner may have changed since, which is no birth.
fn first_text(history: &OwnerHistory, place: u32, first: u64) -> String {
    let name = &history.places()[place as usize].name;
    let left = |other: &PlaceOverTime| {
        let (first, last) = ends(&other.held, |h| h.heads.max(h.own.objects));
        if other.name == *name { first.saturating_sub(last) } else { 0 }
    };
    let now = ends(&history.places()[place as usize].held, |h| h.heads.max(h.own.objects)).1;
    // As far as there are fewer of them in other places.
    match first == 0 && history.places().iter().map(left).sum::<u64>() * 2 >= now.max(1) {
        true => "elsewhere".to_owned(),
        false => count_text(first),
    }
}

/// Kinds of elements that are named in a sentence, those that grow most first.
const KINDS: usize = 4;
/// Least share of the whole growth for further kinds: one in this many.
const LEAST_OF_KINDS: i64 = 20;

/// Kinds of elements in words; kinds with next to no growth are counted.
fn kinds(history: &OwnerHistory, below: &[u32], text: impl Fn(u32) -> String) -> String {
    let growth = |p: u32| history.places()[p as usize].growth();
    let all: i64 = below.iter().map(|&p| growth(p)).sum();
    let worth = below.iter().skip(1).take(KINDS - 1).take_while(|&&p| LEAST_OF_KINDS * growth(p) >= all).count() + 1;
    let mut kinds: Vec<String> = below.iter().take(worth).map(|&p| text(p)).collect();
    match below.len().saturating_sub(worth) {
        0 => {}
        1 => kinds.push("1 other kind".to_owned()),
        more => kinds.push(format!("{more} other kinds")),
    }
    kinds.join(", ")
}

/// The amounts of a place at both ends, and its share of the growth. `place`: its name.
pub(super) fn sentence(history: &OwnerHistory, point: &Accumulation, place: &str) -> String {
    let (before, after) = point.count;
    let heads = ends(&history.places()[point.place as usize].held, |h| h.heads);
    let holds = match point.elements {
        Elements::Below(_) => format!("holds {}{}", elements_text(history, point), of_several(history, point)),
        Elements::Own => {
            let before = first_text(history, point.place, before);
            let of = made_of(history, point.place);
            format!("{of} {} {} ({before} at first)", count_text(after), objects_text(history, point.place))
        }
        Elements::Larger if heads.1 > heads.0 && heads.0 > 0 => {
            format!(
                "are {} {} ({} at first)",
                count_text(heads.1),
                objects_text(history, point.place),
                count_text(heads.0)
            )
        }
        Elements::Larger => "became larger".to_owned(),
    };
    let bytes = point.bytes.1.saturating_sub(point.bytes.0);
    let of = if is_of_growth(history, bytes) { "the growth of the heap" } else { "all that grew" };
    format!("{place} {holds}: +{}, {:.0} % of {of}", bytes_text(bytes), 100.0 * point.share)
}
