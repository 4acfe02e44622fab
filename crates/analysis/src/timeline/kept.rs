//! What was found of a dump, kept for the next time that it is opened: its tree under a grouping, and what the groups of
//! that tree reach and retain; its owners, whatever it is grouped by; and what was found of all dumps of a series. Then nothing of the dump is read but what tells it from others.

use super::closure_metric::ClosureRequest;
use crate::group::{GroupOptions, Grouping, MemoryTree, Reads, StoredTree};
use crate::ownership::{OwnerPlaces, StoredPlaces};
use memory_city_formats::{AnswerKey, DumpFacts, HeapSeries};
use memory_city_heap::Amount;
use memory_city_heap::ownership::{GroupAmounts, KeepRules};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Changes with what any classifier answers, and with what readers of dumps, closures, trees and owners mean: with their
/// sources (`build.rs`).
const ENGINE: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("MEMORY_CITY_ENGINE"));

/// A dump under a grouping.
pub(super) struct KeptTree {
    /// Its tree.
    pub tree: MemoryTree,
    /// Objects and bytes that no root reaches.
    pub unreachable: Amount,
    /// What is known of the objects of the dump.
    pub known: Reads,
}

#[derive(Serialize, Deserialize)]
struct StoredState {
    tree: StoredTree,
    unreachable: (u64, u64),
    known: u32,
    facts: DumpFacts,
}

/// Which answers of a series are kept.
pub(super) struct KeptAnswers {
    question: String,
}

impl KeptAnswers {
    /// Of dumps under a grouping whose answers depend on nothing else.
    pub fn new(series: &dyn HeapSeries, grouping: &Grouping, options: GroupOptions) -> Option<KeptAnswers> {
        if series.recording().is_some() {
            return None;
        }
        let list = grouping.settled()?;
        let unreachable = options.include_unreachable;
        Some(KeptAnswers { question: format!("{ENGINE} {list} unreachable={unreachable}") })
    }

    fn key(&self, series: &dyn HeapSeries, index: usize, of: &str) -> Option<AnswerKey> {
        Some(AnswerKey { dumps: vec![series.stamp(index)?], question: format!("{of} {}", self.question) })
    }

    /// How its trees are made.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The tree of a dump, if it is kept; the series is told what was known of the dump.
    pub fn tree(&self, series: &dyn HeapSeries, index: usize, grouping: &Grouping) -> Option<KeptTree> {
        let kept: StoredState = self.key(series, index, "tree")?.kept()?;
        let tree = kept.tree.tree(grouping)?;
        if series.facts(index).is_none() {
            series.recall(index, kept.facts);
        }
        let (objects, bytes) = kept.unreachable;
        Some(KeptTree { tree, unreachable: Amount { objects, bytes }, known: Reads::from_bits_truncate(kept.known) })
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
        let Some((facts, key)) = series.facts(index).zip(self.key(series, index, "tree")) else { return };
        let tree = StoredTree::of(tree);
        let unreachable = (unreachable.objects, unreachable.bytes);
        key.keep(&StoredState { tree, unreachable, known: known.bits(), facts });
    }

    /// What the nodes of the tree of a dump reach and retain, if it is kept.
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

    /// Keeps what the nodes of the tree of a dump reach and retain.
    pub fn keep_amounts(&self, series: &dyn HeapSeries, index: usize, request: ClosureRequest, all: &[GroupAmounts]) {
        let Some(key) = self.key(series, index, &amounts_of(request)) else { return };
        let row = |a: &GroupAmounts| [a.deep.objects, a.deep.bytes, a.retained.objects, a.retained.bytes];
        key.keep(&all.iter().map(row).collect::<Vec<_>>());
    }
}

fn amounts_of(request: ClosureRequest) -> String {
    format!("closures {request:?}")
}

/// A question about several points of a series, whatever they are grouped by; with the names of the files, which answers may
/// tell. `None` for what is no series of dumps.
pub(super) fn key_of_dumps(series: &dyn HeapSeries, points: &[usize], of: &str) -> Option<AnswerKey> {
    let dumps = points.iter().map(|&point| series.stamp(point)).collect::<Option<_>>()?;
    let labels: Vec<&str> = points.iter().map(|&point| &*series.points()[point].label).collect();
    Some(AnswerKey { dumps, question: format!("{of} {ENGINE} {labels:?}") })
}

/// The owners of a dump, without its objects.
#[derive(Clone)]
pub(crate) struct OwnersOfTime {
    /// What is known of the objects: whether it is enough for owners.
    pub known: Reads,
    /// The places; `None` where it is not.
    pub places: Option<Arc<OwnerPlaces>>,
    /// The dump names no roots, as one that was cut off: what keeps objects alive but static fields and lasting classes is not known.
    pub is_cut: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredOwners {
    known: u32,
    places: Option<StoredPlaces>,
    is_cut: bool,
}

fn owners_key(series: &dyn HeapSeries, index: usize, rules: KeepRules) -> Option<AnswerKey> {
    Some(AnswerKey { dumps: vec![series.stamp(index)?], question: format!("owners {ENGINE} {rules:?}") })
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
