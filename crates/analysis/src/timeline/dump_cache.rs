//! Cache of results for dumps: the tree under a grouping, closures of its groups, owners for any grouping, and results over all dumps of a
//! series. When a dump is opened again, only the data that identifies it is read.

use super::closure_metric::ClosureRequest;
use crate::group::{GroupOptions, Grouping, MemoryTree, Reads, StoredTree};
use crate::ownership::places::{OwnerPlaces, StoredPlaces};
use memory_city_formats::{AnswerKey, DumpFacts, HeapSeries};
use memory_city_heap::Amount;
use memory_city_heap::ownership::{GroupAmounts, KeepRules};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};

/// The build that answers come from: version, length and time of change of the program's file. Answers of another build are never taken for
/// those of this one. `None` if the file is gone.
static BUILD: LazyLock<Option<String>> = LazyLock::new(|| {
    let file = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
    let changed = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    Some(format!("{} {} {changed}", env!("CARGO_PKG_VERSION"), file.len()))
});

/// A dump under a grouping.
pub(super) struct CachedTree {
    /// Its tree.
    pub tree: MemoryTree,
    /// Objects and bytes that no root reaches.
    pub unreachable: Amount,
    /// The facts about the objects of the dump.
    pub known: Reads,
}

#[derive(Serialize, Deserialize)]
struct StoredState {
    tree: StoredTree,
    unreachable: (u64, u64),
    known: u32,
    facts: DumpFacts,
}

/// The cached answers of a series.
pub(super) struct DumpCache {
    question: String,
}

impl DumpCache {
    /// The cache of dumps under a grouping whose answers depend on nothing else.
    pub fn new(series: &dyn HeapSeries, grouping: &Grouping, options: GroupOptions) -> Option<DumpCache> {
        if series.recording().is_some() {
            return None;
        }
        let (list, build) = (grouping.settled()?, BUILD.as_ref()?);
        let unreachable = options.include_unreachable;
        Some(DumpCache { question: format!("{build} {list} unreachable={unreachable}") })
    }

    fn key(&self, series: &dyn HeapSeries, index: usize, of: &str) -> Option<AnswerKey> {
        Some(AnswerKey { dumps: vec![series.dumps()?.stamp(index)?], question: format!("{of} {}", self.question) })
    }

    /// How its trees are made.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The tree of a dump, if it is cached. Restores the facts about the dump in the series.
    pub fn tree(&self, series: &dyn HeapSeries, index: usize, grouping: &Grouping) -> Option<CachedTree> {
        let kept: StoredState = self.key(series, index, "tree")?.kept()?;
        let tree = kept.tree.tree(grouping)?;
        if let Some(dumps) = series.dumps().filter(|dumps| dumps.facts(index).is_none()) {
            dumps.recall(index, kept.facts);
        }
        let (objects, bytes) = kept.unreachable;
        Some(CachedTree { tree, unreachable: Amount { objects, bytes }, known: Reads::from_bits_truncate(kept.known) })
    }

    /// Keeps the tree of a dump that was loaded.
    pub fn keep_tree(
        &self,
        series: &dyn HeapSeries,
        index: usize,
        tree: &MemoryTree,
        unreachable: Amount,
        known: Reads,
    ) {
        let Some((facts, key)) =
            series.dumps().and_then(|dumps| dumps.facts(index)).zip(self.key(series, index, "tree"))
        else {
            return;
        };
        let tree = StoredTree::of(tree);
        let unreachable = (unreachable.objects, unreachable.bytes);
        key.keep(&StoredState { tree, unreachable, known: known.bits(), facts });
    }

    /// The closures of a dump's tree, by node, if cached.
    pub fn amounts(
        &self,
        series: &dyn HeapSeries,
        index: usize,
        request: ClosureRequest,
        nodes: usize,
    ) -> Option<Vec<GroupAmounts>> {
        let kept: Vec<[u64; 4]> = self.key(series, index, &amounts_of(request))?.kept()?;
        let amounts = |[deep, deep_bytes, retained, retained_bytes]: [u64; 4]| GroupAmounts {
            deep: Amount { objects: deep, bytes: deep_bytes },
            retained: Amount { objects: retained, bytes: retained_bytes },
        };
        (kept.len() == nodes).then(|| kept.into_iter().map(amounts).collect())
    }

    /// Keeps the closures of the nodes of a dump's tree.
    pub fn keep_amounts(&self, series: &dyn HeapSeries, index: usize, request: ClosureRequest, all: &[GroupAmounts]) {
        let Some(key) = self.key(series, index, &amounts_of(request)) else { return };
        let row = |a: &GroupAmounts| [a.deep.objects, a.deep.bytes, a.retained.objects, a.retained.bytes];
        key.keep(&all.iter().map(row).collect::<Vec<_>>());
    }
}

fn amounts_of(request: ClosureRequest) -> String {
    format!("closures {request:?}")
}

/// The key for a question about several points of a series, for any grouping; it contains the names of the files, which answers may
/// contain. `None` if it is no series of dumps.
pub(super) fn key_of_dumps(series: &dyn HeapSeries, points: &[usize], of: &str) -> Option<AnswerKey> {
    let dumps = series.dumps()?;
    let dumps = points.iter().map(|&point| dumps.stamp(point)).collect::<Option<_>>()?;
    let labels: Vec<&str> = points.iter().map(|&point| &*series.points()[point].label).collect();
    let build = BUILD.as_ref()?;
    Some(AnswerKey { dumps, question: format!("{of} {build} {labels:?}") })
}

/// The owners of a dump, without its objects.
#[derive(Clone)]
pub(crate) struct OwnersOfTime {
    /// The facts about the objects: enough for owners or not.
    pub known: Reads,
    /// The places; `None` if they are not enough.
    pub places: Option<Arc<OwnerPlaces>>,
    /// True if the dump names no roots, like one that was cut off: only static fields and lasting classes are known to keep objects.
    pub is_cut: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredOwners {
    known: u32,
    places: Option<StoredPlaces>,
    is_cut: bool,
}

fn owners_key(series: &dyn HeapSeries, index: usize, rules: KeepRules) -> Option<AnswerKey> {
    let build = BUILD.as_ref()?;
    Some(AnswerKey { dumps: vec![series.dumps()?.stamp(index)?], question: format!("owners {build} {rules:?}") })
}

/// The owners of a dump, if they are kept.
pub(super) fn kept_owners(series: &dyn HeapSeries, index: usize, rules: KeepRules) -> Option<OwnersOfTime> {
    let kept: StoredOwners = owners_key(series, index, rules)?.kept()?;
    let places = match kept.places {
        Some(stored) => Some(Arc::new(stored.places()?)),
        None => None,
    };
    Some(OwnersOfTime { known: Reads::from_bits_truncate(kept.known), places, is_cut: kept.is_cut })
}

/// Keeps them.
pub(super) fn keep_owners(series: &dyn HeapSeries, index: usize, rules: KeepRules, owners: &OwnersOfTime) {
    if let Some(key) = owners_key(series, index, rules) {
        let places = owners.places.as_deref().map(StoredPlaces::of);
        key.keep(&StoredOwners { known: owners.known.bits(), places, is_cut: owners.is_cut });
    }
}
