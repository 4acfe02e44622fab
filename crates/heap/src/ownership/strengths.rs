//! By how strong references each object is kept: what the VM could let go of when memory is short, and what it only still has.

use super::order::follow;
use super::{KeepGraph, KeepRules};
use crate::error::Result;
use crate::progress::Progress;
use crate::sweep::Sweep;
use crate::{Amount, BitSet, HeapState, ObjectId};

/// The strongest way from a GC root to an object: as strong as the weakest reference on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeptBy {
    /// Plain references.
    Strong,
    /// Soft references: each way leads through one at least. Kept until memory is short.
    Soft,
    /// Weak, phantom or finalizer references: each way leads through one at least. Goes with a next collection, or when its
    /// finalizer has run.
    Weak,
    /// No root reaches it.
    Nothing,
}

impl KeptBy {
    /// All, the strongest first.
    pub const ALL: [KeptBy; 4] = [KeptBy::Strong, KeptBy::Soft, KeptBy::Weak, KeptBy::Nothing];

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            KeptBy::Strong => "Strong references",
            KeptBy::Soft => "Soft references alone",
            KeptBy::Weak => "Weak, phantom or finalizer references alone",
            KeptBy::Nothing => "Nothing: garbage",
        }
    }
}

/// By what each object of a heap state is kept. A bit an object for each strength; at most three walks from the roots.
pub struct Strengths {
    strong: BitSet,
    soft: BitSet,
    weak: BitSet,
}

impl Strengths {
    /// Of a heap state.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(heap: &HeapState, progress: &Progress) -> Result<Strengths> {
        progress.begin("Looking how strongly objects are kept", heap.object_count() as u64);
        let strong = reached(heap, KeepRules::SOFT_AS_WEAK, progress)?;
        // Without reference objects there is one strength.
        if heap.referents().all().is_empty() {
            return Ok(Strengths { soft: strong.clone(), weak: strong.clone(), strong });
        }
        let soft = reached(heap, KeepRules::default(), progress)?;
        let weak = reached(heap, KeepRules { weak: true, ..KeepRules::default() }, progress)?;
        Ok(Strengths { strong, soft, weak })
    }

    /// Of one object.
    #[inline]
    pub fn of(&self, o: ObjectId) -> KeptBy {
        match () {
            () if self.strong.contains(o.0) => KeptBy::Strong,
            () if self.soft.contains(o.0) => KeptBy::Soft,
            () if self.weak.contains(o.0) => KeptBy::Weak,
            () => KeptBy::Nothing,
        }
    }

    /// How many objects and bytes of some objects are kept by what, in the order of [`KeptBy::ALL`]. They add up.
    pub fn amounts(&self, heap: &HeapState, objects: impl Iterator<Item = ObjectId>) -> [Amount; 4] {
        let mut amounts = [Amount::default(); 4];
        for o in objects {
            amounts[self.of(o) as usize] += Amount { objects: 1, bytes: heap.size_of(o) };
        }
        amounts
    }
}

fn reached(heap: &HeapState, rules: KeepRules, progress: &Progress) -> Result<BitSet> {
    let graph = KeepGraph::new(heap, rules);
    let mut seen = BitSet::new(graph.nodes());
    let mut open = Sweep::new(graph.nodes());
    graph.roots().iter().filter(|root| seen.insert(root.0)).for_each(|root| open.add(root.0));
    follow(&graph, &mut seen, &mut open, progress)?;
    Ok(seen)
}
