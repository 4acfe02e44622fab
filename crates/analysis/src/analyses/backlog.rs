//! The backlog of finalizers, phantom and weak references: objects without an owner that take memory all the same. It is named if it grows.

use super::TimeWindow;
use super::finding::{Certainty, Finding, FoundPlace, NextStep};
use super::leak_verdict::HEADLINE;
use crate::ownership::OwnerHistory;
use crate::tabular::{Cell, bytes_text, count_text};
use crate::timeline::{History, brief, shortened};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeptBy, Strengths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId, Strength};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The objects that weaker references alone keep at one time, for the strength that keeps most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Backlog {
    by: Strength,
    /// The type of most referents of such references, and their number.
    of: (String, u64),
    /// With all that hangs on it.
    amount: Amount,
    /// The same at the first time, of the same type: how many and bytes.
    first: (u64, u64),
    /// All that is in memory but garbage.
    heap: u64,
    /// Its growth.
    grew: i64,
}

/// Least share of the memory that is inspected: one part in this many.
const WORTH_A_LOOK: u64 = 10;

/// Bytes in memory without garbage, whatever keeps them.
fn in_memory(heap: &HeapState) -> u64 {
    let (all, garbage) = heap.totals();
    all.bytes - garbage.bytes
}

/// Inspects the first and the last time of `history`, whose points in time are in `window`. `None` if owners have most of the growth (at
/// one time: of the memory). Costs two walks over the heap at most, and none if owners have all of it.
///
/// # Errors
/// When a state cannot be loaded again, or the work was cancelled.
pub(super) fn backlog(
    heaps: &History,
    window: TimeWindow,
    history: &OwnerHistory,
    progress: &Progress,
) -> Result<Option<Backlog>> {
    if heaps.is_recorded() {
        return Ok(None);
    }
    let owned = |last: bool| {
        let held = history.places().first().map(|heap| &heap.held)?;
        Some(if last { held.last() } else { held.first() }?.total.bytes)
    };
    let last = heaps.heap(window.to, progress)?;
    let heap = in_memory(&last);
    let unowned = heap.saturating_sub(owned(true).unwrap_or(heap));
    if last.referents().all().is_empty() || unowned.saturating_mul(WORTH_A_LOOK) < heap {
        return Ok(None);
    }
    let Some((by, of, amount)) = waiting(&last, progress)? else { return Ok(None) };
    let (mut first, mut grew) = ((0, 0), heap as i64);
    if window.from < window.to {
        let before = heaps.heap(window.from, progress)?;
        grew = heap as i64 - in_memory(&before) as i64;
        if let Some((_, (name, count), amount)) = waiting(&before, progress)?
            && name == of.0
        {
            first = (count, amount.bytes);
        }
    }
    let grown = amount.bytes as i64 - first.1 as i64;
    Ok((2 * grown > grew && grown > 0).then_some(Backlog { by, of, amount, first, heap, grew }))
}

/// Objects that only weaker references keep: the strength, the most frequent type with its number, and the amount of all.
type WaitingObjects = (Strength, (String, u64), Amount);

/// Of the objects without plain or soft references: the strength that keeps most, the most common type with its number, and the amount.
fn waiting(heap: &HeapState, progress: &Progress) -> Result<Option<WaitingObjects>> {
    let kept = Strengths::new(heap, progress)?;
    let mut seen = BitSet::new(heap.object_count());
    let mut most: Option<(Strength, (String, u64), Amount)> = None;
    // The stronger first: what a finalizer keeps weak references may refer to as well.
    for strength in [Strength::Finalizer, Strength::Weak, Strength::Phantom] {
        let (types, amount) = waiting_for(heap, &kept, strength, &mut seen);
        progress.check()?;
        let of = types.into_iter().max_by_key(|&(name, count)| (count, Reverse(name)));
        if let Some((name, count)) = of
            && most.as_ref().is_none_or(|(.., most)| amount.bytes > most.bytes)
        {
            most = Some((strength, (name.to_owned(), count), amount));
        }
    }
    Ok(most)
}

/// What references of one strength keep, and nothing stronger: referents by type, and the amount with all that hangs on them. Skips
/// what is in `seen`, and adds to it.
fn waiting_for<'h>(
    heap: &'h HeapState,
    kept: &Strengths,
    strength: Strength,
    seen: &mut BitSet,
) -> (BTreeMap<&'h str, u64>, Amount) {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    let mut amount = Amount::default();
    let referents = heap.referents().all().iter().filter(|r| r.strength == strength);
    let mut open: Vec<ObjectId> = Vec::new();
    for referent in referents.filter(|r| kept.of(r.to) == KeptBy::Weak) {
        *types.entry(&heap.types()[heap.type_of(referent.to).0 as usize].name).or_default() += 1;
        open.extend(Some(referent.to).filter(|to| seen.insert(to.0)));
    }
    while let Some(o) = open.pop() {
        amount += Amount { objects: 1, bytes: heap.size_of(o) };
        let further = heap.references(o).iter().filter(|&&to| heap.referents().only(o, to).is_empty());
        open.extend(further.filter(|to| kept.of(**to) == KeptBy::Weak && seen.insert(to.0)));
    }
    (types, amount)
}

/// Bytes that wait for their finalizers and have no other owner. They stay in memory until those have run. One walk over the heap, if
/// there are finalizers.
///
/// # Errors
/// When the work was cancelled.
pub(super) fn kept_by_finalizers(heap: &HeapState, progress: &Progress) -> Result<u64> {
    if !heap.referents().all().iter().any(|referent| referent.strength == Strength::Finalizer) {
        return Ok(0);
    }
    let kept = Strengths::new(heap, progress)?;
    let mut seen = BitSet::new(heap.object_count());
    Ok(waiting_for(heap, &kept, Strength::Finalizer, &mut seen).1.bytes)
}

impl Backlog {
    /// Its growth, bytes.
    pub fn grown(&self) -> u64 {
        self.amount.bytes.saturating_sub(self.first.1)
    }

    /// The share of something else in the same whole, given its bytes at the first and the last time; 0 to 1.
    pub fn share_of(&self, (first, last): (u64, u64), grew: bool) -> f64 {
        match grew {
            true => last.saturating_sub(first) as f64 / self.grew.max(1) as f64,
            false => last as f64 / self.heap.max(1) as f64,
        }
    }

    /// It in a sentence; `grew`: between two times.
    pub fn sentence(&self, grew: bool) -> String {
        let (name, count) = &self.of;
        let what = self.what();
        let bytes = bytes_text(self.amount.bytes);
        let share = 100 * self.amount.bytes / self.heap.max(1);
        let holds = format!("{} {name} {what} and keep {bytes}, {share} % of what is in memory", count_text(*count));
        let more = self.more();
        match grew {
            true => format!(
                "{holds} ({} at first): +{}, {} % of what memory grew{more}",
                count_text(self.first.0),
                bytes_text(self.grown()),
                self.percent_of_growth()
            ),
            false => format!("{holds}{more}"),
        }
    }

    /// It in a first line, with a short name.
    pub fn headline(&self, grew: bool) -> String {
        let amount = match grew {
            true => format!("+{}, {} % of what memory grew", bytes_text(self.grown()), self.percent_of_growth()),
            false => {
                let share = 100 * self.amount.bytes / self.heap.max(1);
                format!("{}, {share} % of what is in memory", bytes_text(self.amount.bytes))
            }
        };
        let (name, count) = (brief(&self.of.0), count_text(self.of.1));
        let rest = format!(" {}: {amount}{}", self.what(), self.more());
        let room = HEADLINE.saturating_sub(count.chars().count() + 1 + rest.chars().count());
        format!("{count} {}{rest}", shortened(&name, room))
    }

    fn percent_of_growth(&self) -> i64 {
        (100 * self.grown() as i64 / self.grew.max(1)).min(100)
    }

    fn what(&self) -> &'static str {
        match self.by {
            Strength::Finalizer => "wait for their finalizer",
            Strength::Phantom => "are kept until their phantom references are done",
            Strength::Weak | Strength::Soft => "are kept by weak references alone",
        }
    }

    fn more(&self) -> String {
        format!("; `analyse {}` lists them", self.listed_by())
    }

    /// The analysis that lists it.
    fn listed_by(&self) -> &'static str {
        match self.by {
            Strength::Finalizer => "finalizer-queue",
            _ => "kept-by",
        }
    }

    /// What a finding says of it beside its sentence and its numbers.
    pub fn complete(&self, finding: &mut Finding, grew: bool) {
        finding.headline = self.headline(grew);
        finding.signature = self.place().to_owned();
        let (name, elements) = (self.place().to_owned(), self.of.0.clone());
        finding.place = Some(FoundPlace { name, elements, ..FoundPlace::default() });
        finding.certainty = Certainty::Counted;
        finding.next = NextStep::run(self.listed_by());
    }

    fn place(&self) -> &'static str {
        match self.by {
            Strength::Finalizer => "Objects that wait for their finalizer",
            Strength::Phantom => "What phantom references keep",
            Strength::Weak | Strength::Soft => "What weak references keep",
        }
    }

    /// A row of the table of places that leak, with these many columns.
    pub fn cells(&self, columns: usize) -> Vec<Cell> {
        let (first, last) = (self.first.1, self.amount.bytes);
        let known = vec![
            Cell::Text(self.place().into()),
            Cell::Text(self.of.0.clone()),
            Cell::Number(self.first.0),
            Cell::Number(self.of.1),
            Cell::Number(first),
            Cell::Number(last),
            Cell::Change(super::change(first, last)),
            Cell::Percent(100.0 * self.grown() as f64 / self.grew.max(1) as f64),
        ];
        known.into_iter().chain(std::iter::repeat(Cell::Empty)).take(columns).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_fits_and_says_all() {
        for by in [Strength::Finalizer, Strength::Phantom, Strength::Weak] {
            for (name, short) in [("com.acme.Connection", "Connection"), (&*"x".repeat(500), "xxx")] {
                let amount = Amount { objects: 1 << 30, bytes: 123_456_789_012 };
                let of = (name.to_owned(), 1_234_567);
                let backlog = Backlog { by, of, amount, first: (1000, 1000), heap: 1 << 40, grew: 1 << 38 };
                for grew in [true, false] {
                    let line = backlog.headline(grew);
                    assert!(line.chars().count() <= HEADLINE, "{line}");
                    assert!(line.starts_with(&format!("1,234,567 {short}")) && line.ends_with("lists them"), "{line}");
                }
            }
        }
    }
}
