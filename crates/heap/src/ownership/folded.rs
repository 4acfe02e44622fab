//! Objects whose owner is known without a search. One object alone refers to them; they refer only to it, or to objects that are folded
//! already. The array of a text comes first, then the text, then the entry of the map that holds it. In most heaps these are most objects.

use super::KeepGraph;
use crate::error::Result;
use crate::progress::Progress;
use crate::{BitSet, ObjectId};
use rayon::prelude::*;

/// A round that folds no more than one in so many objects is the last.
const WORTH_A_ROUND: usize = 64;
const MOST_ROUNDS: usize = 12;

/// The folded objects of a graph. No root holds them. Memory: a bit an object and round.
pub(super) struct FoldedObjects {
    /// All of them.
    pub all: BitSet,
    rounds: Vec<BitSet>,
}

impl FoldedObjects {
    /// A pass over all objects a round, on all cores.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(graph: &KeepGraph<'_>, progress: &Progress) -> Result<FoldedObjects> {
        let n = graph.heap().object_count();
        let mut roots = BitSet::new(n);
        graph.roots().iter().for_each(|root| _ = roots.insert(root.0));
        let (mut all, mut rounds) = (BitSet::new(graph.nodes()), Vec::new());
        for _ in 0..MOST_ROUNDS {
            let word = |at: usize| {
                let objects = (64 * at as u32..).take(64.min(n - 64 * at)).zip(0..);
                let folds =
                    |&(o, _): &(u32, u32)| !all.contains(o) && !roots.contains(o) && folds(graph, &all, ObjectId(o));
                match progress.check() {
                    Ok(()) => objects.filter(folds).fold(0u64, |word, (_, bit)| word | 1 << bit),
                    Err(_) => 0,
                }
            };
            let words = (0..n.div_ceil(64)).into_par_iter().with_min_len(1 << 8).map(word).collect();
            progress.check()?;
            let round = BitSet::from_words(words);
            let count = round.count();
            all.unite(&round);
            rounds.push(round);
            if count <= n / WORTH_A_ROUND {
                break;
            }
        }
        Ok(FoldedObjects { all, rounds })
    }

    /// All of them, every one after its owner.
    pub fn top_down(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.rounds.iter().rev().flat_map(BitSet::iter).map(ObjectId)
    }
}

/// Whether an object belongs to the round after those whose objects are in `folded`.
fn folds(graph: &KeepGraph<'_>, folded: &BitSet, o: ObjectId) -> bool {
    only_referrer(graph, o).is_some_and(|keeper| {
        graph.heap().references(o).iter().all(|&to| to == keeper || folded.contains(to.0))
            && graph.is_keeper(keeper, o)
            && graph.type_node(o).is_none()
    })
}

/// The only object that refers to another, if it does so once and no type keeps the other.
#[inline]
pub(super) fn only_referrer(graph: &KeepGraph<'_>, o: ObjectId) -> Option<ObjectId> {
    match graph.heap().referrers(o) {
        &[only] if graph.type_keepers(o).is_empty() => Some(only),
        _ => None,
    }
}
