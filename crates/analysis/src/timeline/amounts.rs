//! The amounts of nodes over time, in columns of times, objects and bytes. A reader of bytes reads only bytes, and a step of a large city
//! in time costs as much as it reads. So numbers are as narrow as possible.
//!
//! May not: know trees, names or metrics other than these two.

use super::key::NodeId;
use super::metric::Metric;
use memory_city_heap::Amount;
use memory_city_heap::numbers::{Number, NumberColumn};
use memory_city_heap::prefetch::prefetch;
use std::ops::Range;

/// How many nodes ahead memory is asked for.
const AHEAD: usize = 96;
/// Among fewer changes than this, one after the other is faster than a search.
const FEW: usize = 8;

/// The amount of a node is that of the last of its changes not after the time; 0 before the first. So a timeline of many times costs as
/// much as it changes: 6 to 20 bytes for each change of a node, 10 if there are fewer than 65,536 times and no group has 4 GB.
#[derive(Clone, Debug, Default)]
pub(super) struct AmountLog {
    /// The changes of node n are those at `first[n]..first[n + 1]`, ascending by time.
    first: Vec<u32>,
    times: NumberColumn,
    objects: NumberColumn,
    bytes: NumberColumn,
}

impl AmountLog {
    /// Allocates room for the changes of nodes that begin at the places `first` (the last is the end), at times before `times`; no amount
    /// is above `largest`.
    pub fn with_room(first: Vec<u32>, times: usize, largest: Amount) -> AmountLog {
        let changes = first.last().map_or(0, |&end| end as usize);
        let [times, objects, bytes] = [times.saturating_sub(1) as u64, largest.objects, largest.bytes]
            .map(|largest| NumberColumn::zeros(changes, largest));
        AmountLog { first, times, objects, bytes }
    }

    /// The change at a place.
    pub fn set(&mut self, at: usize, time: u32, amount: Amount) {
        self.times.set(at, u64::from(time));
        self.objects.set(at, amount.objects);
        self.bytes.set(at, amount.bytes);
    }

    /// The times of all changes, in no order.
    pub fn all_times(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.times.len()).map(|at| self.times.get(at) as usize)
    }

    /// The times at which the amount of a node is another, ascending.
    pub fn times_of(&self, node: NodeId) -> impl Iterator<Item = usize> + '_ {
        self.changes_of(node).map(|at| self.times.get(at) as usize)
    }

    #[inline]
    fn changes_of(&self, node: NodeId) -> Range<usize> {
        let i = node.index();
        self.first[i] as usize..self.first[i + 1] as usize
    }

    /// Where the last of a node's changes is that is not after `t`.
    #[inline]
    fn last_until(&self, t: usize, node: NodeId) -> Option<usize> {
        let changes = self.changes_of(node);
        let (start, t) = (changes.start, t as u64);
        let found = match &self.times {
            NumberColumn::Two(times) => last_until(&times[changes], t),
            NumberColumn::Four(times) => last_until(&times[changes], t),
            NumberColumn::Eight(times) => last_until(&times[changes], t),
        };
        found.map(|at| start + at)
    }

    /// Objects and bytes of a node at time `t`.
    #[inline]
    pub fn amount(&self, t: usize, node: NodeId) -> Amount {
        let at = self.last_until(t, node);
        at.map(|at| Amount { objects: self.objects.get(at), bytes: self.bytes.get(at) }).unwrap_or_default()
    }

    /// Objects, or bytes of any other metric.
    #[inline]
    fn column(&self, metric: Metric) -> &NumberColumn {
        if metric == Metric::Objects { &self.objects } else { &self.bytes }
    }

    /// The value of a node at time `t`, and at the first time.
    #[inline]
    pub fn value_and_first(&self, t: usize, node: NodeId, metric: Metric) -> (u64, u64) {
        let (column, start) = (self.column(metric), self.changes_of(node).start);
        let first = if self.times_of(node).next() == Some(0) { column.get(start) } else { 0 };
        (self.last_until(t, node).map_or(0, |at| column.get(at)), first)
    }

    /// The same for many nodes at once, in their order, into columns of the same length. They are scattered over the memory, so reads
    /// overlap.
    pub fn values_and_firsts(&self, t: usize, nodes: &[NodeId], metric: Metric, into: (&mut [u64], &mut [u64])) {
        let column = self.column(metric);
        match &self.times {
            NumberColumn::Two(times) => self.find_by(times, column, t, nodes, into),
            NumberColumn::Four(times) => self.find_by(times, column, t, nodes, into),
            NumberColumn::Eight(times) => self.find_by(times, column, t, nodes, into),
        }
    }

    fn find_by<T: Number>(
        &self,
        times: &[T],
        column: &NumberColumn,
        t: usize,
        nodes: &[NodeId],
        into: (&mut [u64], &mut [u64]),
    ) {
        match column {
            NumberColumn::Two(column) => self.find_in(times, column, t, nodes, into),
            NumberColumn::Four(column) => self.find_in(times, column, t, nodes, into),
            NumberColumn::Eight(column) => self.find_in(times, column, t, nodes, into),
        }
    }

    fn find_in<T: Number, V: Number>(
        &self,
        times: &[T],
        column: &[V],
        t: usize,
        nodes: &[NodeId],
        (values, firsts): (&mut [u64], &mut [u64]),
    ) {
        let ask = |node: NodeId| {
            let changes = self.changes_of(node);
            prefetch(times, changes.start);
            prefetch(column, changes.start);
            prefetch(column, changes.end.wrapping_sub(1));
        };
        nodes.iter().take(AHEAD).for_each(|&node| ask(node));
        let t = t as u64;
        for (i, (&node, (value, first))) in nodes.iter().zip(values.iter_mut().zip(firsts)).enumerate() {
            if let Some(&ahead) = nodes.get(i + AHEAD) {
                ask(ahead);
            }
            let changes = self.changes_of(node);
            let (times, column) = (&times[changes.clone()], &column[changes]);
            *first = match (times, column) {
                ([time, ..], [first, ..]) if time.wide() == 0 => first.wide(),
                _ => 0,
            };
            *value = match (times, column) {
                // The last one, as for most where the time is late.
                ([.., time], [.., last]) if time.wide() <= t => last.wide(),
                _ => last_until(times, t).map_or(0, |at| column[at].wide()),
            };
        }
    }
}

/// The index of a node's last change that is not after `t`.
#[inline]
fn last_until<T: Number>(times: &[T], t: u64) -> Option<usize> {
    let is_past = |time: &T| time.wide() <= t;
    match times {
        // From the end: most nodes have about as many changes after a time, which a processor guesses right.
        few if few.len() < FEW => few.iter().rposition(is_past),
        [.., last] if is_past(last) => Some(times.len() - 1),
        _ => times.partition_point(is_past).checked_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_change_takes_ten_bytes_unless_a_number_needs_more() {
        let width = |column: &NumberColumn| match column {
            NumberColumn::Two(_) => 2,
            NumberColumn::Four(_) => 4,
            NumberColumn::Eight(_) => 8,
        };
        let of_a_change = |times: usize, largest: u64| {
            let log = AmountLog::with_room(vec![0, 3], times, Amount { objects: largest, bytes: largest });
            [&log.times, &log.objects, &log.bytes].map(width).iter().sum::<usize>()
        };
        assert_eq!(of_a_change(65_536, u64::from(u32::MAX)), 10);
        assert_eq!(of_a_change(65_537, u64::from(u32::MAX) + 1), 20);
        assert_eq!(of_a_change(16, 1000), 6);
    }

    proptest! {
        /// Compares with a map of each node's amounts by time.
        #[test]
        fn many_nodes_have_what_each_has(
            logs in prop::collection::vec(prop::collection::btree_map(0u32..40, (0u64..9, prop_oneof![0u64..9, 65_530..65_540u64, (1u64 << 32) - 2..(1 << 32) + 2]), 0..20), 1..40),
            asked in prop::collection::vec(0usize..40, 0..90),
            // As narrow as can be, as wide as can be, and in between.
            times in prop::sample::select(vec![1usize, 70_000, usize::MAX]),
            largest in prop::sample::select(vec![0u64, 1 << 20, 1 << 40]),
        ) {
            let ends = logs.iter().scan(0, |end, log| { *end += log.len() as u32; Some(*end) });
            let places = std::iter::once(0).chain(ends).collect();
            let mut amounts = AmountLog::with_room(places, times, Amount { objects: largest, bytes: largest });
            for (at, (&time, &(objects, bytes))) in logs.iter().flatten().enumerate() {
                amounts.set(at, time, Amount { objects, bytes });
            }
            let naive = |log: &BTreeMap<u32, (u64, u64)>, t: usize| {
                log.range(..=t as u32).next_back().map_or((0, 0), |(_, amount)| *amount)
            };
            let nodes: Vec<NodeId> = asked.iter().map(|node| NodeId((node % logs.len()) as u32)).collect();
            for t in [0, 1, 7, 20, 39, 40] {
                for metric in [Metric::Objects, Metric::Bytes] {
                    let of = |(objects, bytes)| if metric == Metric::Objects { objects } else { bytes };
                    let [mut now, mut first] = [(); 2].map(|()| vec![u64::MAX; nodes.len()]);
                    amounts.values_and_firsts(t, &nodes, metric, (&mut now, &mut first));
                    for (&node, found) in nodes.iter().zip(now.into_iter().zip(first)) {
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
