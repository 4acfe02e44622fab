//! The strength of the references that keep each object: plain, soft or weaker. A VM short of memory may let go of softly kept objects.

use super::graph::KeepGraph;
use super::order::follow;
use super::rules::KeepRules;
use crate::amount::Amount;
use crate::bits::BitSet;
use crate::error::Result;
use crate::progress::Progress;
use crate::state::HeapState;
use crate::sweep::Sweep;
use crate::types::ObjectId;

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

/// The strength by which each object of a heap state is kept. A bit an object for each strength; one walk from the roots, with
/// pauses for the references of each strength.
pub struct Strengths {
    strong: BitSet,
    soft: BitSet,
    weak: BitSet,
}

impl Strengths {
    /// The strengths in a heap state.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(heap: &HeapState, progress: &Progress) -> Result<Strengths> {
        progress.begin("Looking how strongly objects are kept", heap.object_count() as u64);
        let mut walk = StrengthWalk::new(heap, KeepRules::SOFT_AS_WEAK, progress)?;
        let strong = walk.seen.clone();
        // Without reference objects there is one strength.
        if heap.referents().all().is_empty() {
            return Ok(Strengths { soft: strong.clone(), weak: strong.clone(), strong });
        }
        walk = walk.go_on(KeepRules::default(), progress)?;
        let soft = walk.seen.clone();
        let weak = walk.go_on(KeepRules { weak: true, ..KeepRules::default() }, progress)?.seen;
        Ok(Strengths { strong, soft, weak })
    }

    /// The strength of one object.
    #[inline]
    pub fn of(&self, o: ObjectId) -> KeptBy {
        match () {
            () if self.strong.contains(o.0) => KeptBy::Strong,
            () if self.soft.contains(o.0) => KeptBy::Soft,
            () if self.weak.contains(o.0) => KeptBy::Weak,
            () => KeptBy::Nothing,
        }
    }

    /// Objects and bytes by strength, in the order of [`KeptBy::ALL`]. They add up.
    pub fn amounts(&self, heap: &HeapState, objects: impl Iterator<Item = ObjectId>) -> [Amount; 4] {
        let mut amounts = [Amount::default(); 4];
        for o in objects {
            amounts[self.of(o) as usize] += Amount { objects: 1, bytes: heap.size_of(o) };
        }
        amounts
    }
}

/// What roots reach under some rules.
struct StrengthWalk<'h> {
    graph: KeepGraph<'h>,
    seen: BitSet,
}

impl<'h> StrengthWalk<'h> {
    fn new(heap: &'h HeapState, rules: KeepRules, progress: &Progress) -> Result<StrengthWalk<'h>> {
        let graph = KeepGraph::new(heap, rules);
        let mut walk = StrengthWalk { seen: BitSet::new(graph.nodes()), graph };
        walk.follow_from(walk.graph.roots().to_vec(), progress)?;
        Ok(walk)
    }

    /// Under rules by which more references keep. With the same roots, all that is reached by now stays so.
    fn go_on(self, rules: KeepRules, progress: &Progress) -> Result<StrengthWalk<'h>> {
        let heap = self.graph.heap();
        let graph = KeepGraph::new(heap, rules);
        if graph.roots() != self.graph.roots() {
            return StrengthWalk::new(heap, rules, progress);
        }
        let mut walk = StrengthWalk { graph, seen: self.seen };
        let weaker = heap.referents().all();
        let reached = weaker.iter().filter(|r| rules.keeps(r.strength) && walk.seen.contains(r.from.0));
        let reached: Vec<ObjectId> = reached.map(|r| r.to).collect();
        walk.follow_from(reached, progress)?;
        Ok(walk)
    }

    fn follow_from(&mut self, from: Vec<ObjectId>, progress: &Progress) -> Result<()> {
        let mut open = Sweep::new(self.graph.nodes());
        from.iter().filter(|o| self.seen.insert(o.0)).for_each(|o| open.add(o.0));
        follow(&self.graph, &mut self.seen, &mut open, progress)
    }
}
