//! What was found of a dump, kept for the next time that it is opened: its tree under a grouping, and what the groups of
//! that tree reach and retain. Then nothing of the dump is read but what tells it from others.

use super::closures::ClosureRequest;
use crate::group::{GroupOptions, Grouping, MemoryTree, Reads, StoredTree};
use memory_city_formats::{AnswerKey, DumpFacts, DumpStamp, HeapSeries};
use memory_city_heap::Amount;
use memory_city_heap::ownership::GroupAmounts;
use serde::{Deserialize, Serialize};

/// Changes with what any classifier answers, and with what readers of dumps, closures and trees mean.
const VERSION: u32 = 1;

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
        let version = env!("CARGO_PKG_VERSION");
        Some(KeptAnswers { question: format!("{version} {VERSION} {list} unreachable={unreachable}") })
    }

    fn key(&self, series: &dyn HeapSeries, index: usize, of: &str) -> Option<AnswerKey> {
        let dump = DumpStamp::of(&series.points()[index].path)?;
        Some(AnswerKey { dump, question: format!("{of} {}", self.question) })
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
