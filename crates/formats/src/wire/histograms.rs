//! Reader of class histograms, by class and, if counted, by site. It keeps only the changes.

use super::count_stream::class_kind;
use super::counted::CountedKind;
use super::origins::Provenance;
use super::sample_kinds::UNKNOWN_LOADER;
use super::scan::Scan;
use crate::JVM;
use crate::counts::{ClassPlace, StreamCounts, joined_by, without_its_address};
use crate::event::{ObjectInfo, Program};
use crate::lives::Weighed;
use crate::recording::Recording;
use crate::replay::CohortKey;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::{Allocator, Amount, HeapType, SpaceKind, ThreadId, TypeKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most rows that are expanded in all: a few bytes may announce millions.
const MOST_ROWS: usize = 20_000_000;

/// The histograms of a recording.
pub(super) struct Histograms {
    /// When how much of which kind there is from then on: ascending, by moment and kind.
    changes: Vec<(u32, u32, Amount)>,
    /// How many of the moments are shown: of those after them there are too many rows.
    pub(super) shown: usize,
}

impl Histograms {
    /// The histograms of a recording that has `moments` of them, and the common facts of each kind. O(changes log changes).
    pub(super) fn of(scan: &Scan, provenance: &Provenance, moments: usize) -> (Histograms, Recording) {
        let key = |stream, (class, stack): ClassPlace| {
            (without_its_address(scan.class_name(stream, class)), provenance.site(stream, stack))
        };
        let (_, courses, _) = joined_by(&scan.counts, key, |time| time);
        let loader: Arc<str> = Arc::from(UNKNOWN_LOADER);
        let mut program = Program { profile: &JVM, sites: Arc::clone(&provenance.sites), ..Program::default() };
        let (mut infos, mut number_of) = (Vec::new(), AHashMap::<Arc<str>, u32>::default());
        let mut changes: Vec<(u32, u32, Amount)> = Vec::new();
        for (number, ((class, site), course)) in (0u32..).zip(courses) {
            changes.extend(course.into_iter().map(|(from, amount)| (from, number, amount)));
            let type_id = *number_of.entry(Arc::clone(&class)).or_insert_with(|| {
                let kind = match class_kind(&class) {
                    1 => TypeKind::ObjectArray,
                    2 => TypeKind::PrimitiveArray,
                    _ => TypeKind::Instance,
                };
                let (name, loader) = (class.to_string(), Arc::clone(&loader));
                program.types.push(HeapType { name, kind, superclass: None, loader });
                program.types.len() as u32 - 1
            });
            infos.push(ObjectInfo { type_id, site, thread: ThreadId(0), allocator: Allocator::Unknown, big: false });
        }
        changes.sort_unstable_by_key(|(from, kind, _)| (*from, *kind));
        let mut histograms = Histograms { changes, shown: moments };
        histograms.shown = histograms.with_room();
        let threads = provenance.threads.clone();
        (histograms, Recording { program: Arc::new(program), threads, infos, ..Recording::default() })
    }

    /// Whether any of a recording tells where objects were allocated.
    pub(super) fn tell_places(scan: &Scan) -> bool {
        scan.counts.values().any(|counts| StreamCounts::stacks(counts).next().is_some())
    }

    /// How many of the first moments there is room for.
    fn with_room(&self) -> usize {
        let (mut rows, mut rest) = (0usize, &self.changes[..]);
        let mut now = vec![false; self.kinds()];
        let mut kinds = 0usize;
        for moment in 0..self.shown {
            let (here, later) = rest.split_at(rest.partition_point(|change| change.0 as usize <= moment));
            rest = later;
            for (_, kind, amount) in here {
                let is_there = *amount != Amount::default();
                let was_there = std::mem::replace(&mut now[*kind as usize], is_there);
                kinds = kinds + usize::from(is_there) - usize::from(was_there);
            }
            rows += kinds + 1;
            if rows > MOST_ROWS {
                return moment;
            }
        }
        self.shown
    }

    fn kinds(&self) -> usize {
        self.changes.iter().map(|change| change.1 as usize + 1).max().unwrap_or(0)
    }

    /// Calls `tell` with each histogram in turn: each kind once, ascending. O(rows, and changes).
    ///
    /// # Errors
    /// Those of `tell`.
    pub(super) fn each(&self, mut tell: impl FnMut(usize, &[CountedKind]) -> Result<()>) -> Result<()> {
        let mut rest = &self.changes[..];
        let mut now: BTreeMap<u32, Amount> = BTreeMap::new();
        let mut rows = Vec::new();
        for moment in 0..self.shown {
            let (here, later) = rest.split_at(rest.partition_point(|change| change.0 as usize <= moment));
            rest = later;
            for (_, kind, amount) in here {
                match *amount == Amount::default() {
                    true => now.remove(kind),
                    false => now.insert(*kind, *amount),
                };
            }
            rows.clear();
            rows.extend(now.iter().map(|(kind, amount)| CountedKind {
                key: CohortKey { info: *kind, birth: 0, space: SpaceKind::Unknown },
                amount: Weighed::exact(amount.objects, amount.bytes),
            }));
            tell(moment, &rows)?;
        }
        Ok(())
    }
}
