//! The amounts of nodes over time. Columns of times, objects and bytes: who asks for bytes alone reads nothing else, and what a step
//! of a large city in time costs is what it reads.
//!
//! May not: know trees, names or metrics other than these two.

use super::{Amount, Metric, NodeId};
use memory_city_heap::prefetch::prefetch;
use std::ops::Range;

/// How many nodes ahead memory is asked for.
const AHEAD: usize = 24;
/// Among fewer changes than this, one after the other is faster than a search.
const FEW: usize = 8;

/// The amount of a node is that of the last of its changes not after the time; 0 before the first. So a timeline of many times
/// costs what changes: 20 bytes for each change of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct AmountLog {
    /// The changes of node n are those at `first[n]..first[n + 1]`, ascending by time.
    first: Vec<u32>,
    times: Vec<u32>,
    objects: Vec<u64>,
    bytes: Vec<u64>,
}

impl AmountLog {
    /// With room for the changes of nodes that begin at these places; the last is the end.
    pub fn with_room(first: Vec<u32>) -> AmountLog {
        let changes = first.last().map_or(0, |&end| end as usize);
        AmountLog { first, times: vec![0; changes], objects: vec![0; changes], bytes: vec![0; changes] }
    }

    /// The change at a place.
    pub fn set(&mut self, at: usize, time: u32, amount: Amount) {
        (self.times[at], self.objects[at], self.bytes[at]) = (time, amount.objects, amount.bytes);
    }

    /// The times of all changes, in no order.
    pub fn all_times(&self) -> &[u32] {
        &self.times
    }

    /// The times at which the amount of a node is another, ascending.
    #[inline]
    pub fn times_of(&self, node: NodeId) -> &[u32] {
        &self.times[self.changes_of(node)]
    }

    #[inline]
    fn changes_of(&self, node: NodeId) -> Range<usize> {
        let i = node.index();
        self.first[i] as usize..self.first[i + 1] as usize
    }

    /// Where the last of some changes is that is not after `t`.
    #[inline]
    fn last_until(&self, changes: Range<usize>, t: usize) -> Option<usize> {
        let times = &self.times[changes.clone()];
        let is_past = |&time: &u32| time as usize <= t;
        let until = match times {
            // From the end: most nodes have about as many changes after a time, which a processor guesses right.
            few if few.len() < FEW => few.iter().rposition(is_past).map_or(0, |at| at + 1),
            [.., last] if is_past(last) => times.len(),
            _ => times.partition_point(is_past),
        };
        (until > 0).then(|| changes.start + until - 1)
    }

    /// Objects and bytes of a node at time `t`.
    #[inline]
    pub fn amount(&self, t: usize, node: NodeId) -> Amount {
        let at = self.last_until(self.changes_of(node), t);
        at.map(|at| Amount { objects: self.objects[at], bytes: self.bytes[at] }).unwrap_or_default()
    }

    /// Objects, or bytes of any other metric.
    #[inline]
    fn column(&self, metric: Metric) -> &[u64] {
        if metric == Metric::Objects { &self.objects } else { &self.bytes }
    }

    /// The value of a node at time `t`, and at the first time.
    #[inline]
    pub fn value_and_first(&self, t: usize, node: NodeId, metric: Metric) -> (u64, u64) {
        self.value_and_first_of(t, self.changes_of(node), self.column(metric))
    }

    #[inline]
    fn value_and_first_of(&self, t: usize, changes: Range<usize>, column: &[u64]) -> (u64, u64) {
        let at_start = !changes.is_empty() && self.times[changes.start] == 0;
        let first = if at_start { column[changes.start] } else { 0 };
        (self.last_until(changes, t).map_or(0, |at| column[at]), first)
    }

    /// The same for many nodes at once, in their order. They lie all over the memory: some are on their way while others are looked at.
    pub fn values_and_firsts(&self, t: usize, nodes: &[NodeId], metric: Metric, into: &mut Vec<(u64, u64)>) {
        let column = self.column(metric);
        into.clear();
        for (i, &node) in nodes.iter().enumerate() {
            if let Some(&ahead) = nodes.get(i + AHEAD) {
                let changes = self.changes_of(ahead);
                prefetch(&self.times, changes.start);
                prefetch(column, changes.start);
                prefetch(column, changes.end.wrapping_sub(1));
            }
            into.push(self.value_and_first_of(t, self.changes_of(node), column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map of what each node has at which time.
        #[test]
        fn many_nodes_have_what_each_has(
            logs in prop::collection::vec(prop::collection::btree_map(0u32..40, (0u64..9, 0u64..9), 0..20), 1..40),
            asked in prop::collection::vec(0usize..40, 0..90),
        ) {
            let ends = logs.iter().scan(0, |end, log| { *end += log.len() as u32; Some(*end) });
            let mut amounts = AmountLog::with_room(std::iter::once(0).chain(ends).collect());
            for (at, (&time, &(objects, bytes))) in logs.iter().flatten().enumerate() {
                amounts.set(at, time, Amount { objects, bytes });
            }
            let naive = |log: &BTreeMap<u32, (u64, u64)>, t: usize| {
                log.range(..=t as u32).next_back().map_or((0, 0), |(_, amount)| *amount)
            };
            let nodes: Vec<NodeId> = asked.iter().map(|node| NodeId((node % logs.len()) as u32)).collect();
            let mut found = Vec::new();
            for t in [0, 1, 7, 20, 39, 40] {
                for metric in [Metric::Objects, Metric::Bytes] {
                    let of = |(objects, bytes)| if metric == Metric::Objects { objects } else { bytes };
                    amounts.values_and_firsts(t, &nodes, metric, &mut found);
                    prop_assert_eq!(found.len(), nodes.len());
                    for (&node, &found) in nodes.iter().zip(&found) {
                        let log = &logs[node.index()];
                        prop_assert_eq!(found, (of(naive(log, t)), of(naive(log, 0))));
                        prop_assert_eq!(amounts.value_and_first(t, node, metric), found);
                        let amount = amounts.amount(t, node);
                        prop_assert_eq!((amount.objects, amount.bytes), naive(log, t));
                    }
                }
            }
        }
    }
}
