//! Metrics of nodes: objects and shallow bytes, always, and further columns with a name and a unit from an analysis or an input (deep and
//! retained bytes, ages). Views can use any metric.

use super::key::NodeId;
use super::nodes::Timeline;
use crate::tabular::Unit;
use std::sync::Arc;

/// The quantity that a view shows of each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Metric {
    /// Number of objects.
    #[default]
    Objects,
    /// Shallow bytes, as the runtime accounts for them.
    Bytes,
    /// A further column of this timeline, by its place. Another timeline may have another column there: to keep a choice, keep the name
    /// ([`MetricInfo::id`]).
    Column(u16),
}

/// The description of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricInfo {
    /// Short name for command lines and files: `bytes`, `retained`.
    pub id: Arc<str>,
    /// Name for people: `Retained bytes`.
    pub title: Arc<str>,
    /// The unit of its numbers.
    pub unit: Unit,
}

impl MetricInfo {
    /// A description from its parts.
    pub fn new(id: &str, title: &str, unit: Unit) -> MetricInfo {
        MetricInfo { id: id.into(), title: title.into(), unit }
    }
}

/// Values of a further metric by node and time, only where they change.
#[derive(Clone, Debug)]
pub(super) struct MetricColumn {
    info: MetricInfo,
    /// As the columns of the timeline itself: the value of node n is the last of `changes[first_change[n]..first_change[n + 1]]` not after
    /// the time, 0 before the first.
    first_change: Vec<u32>,
    changes: Vec<(u32, u64)>,
    peak: Vec<u64>,
}

impl MetricColumn {
    /// Tells it from columns with other values.
    fn hash_into(&self, hasher: &mut impl std::hash::Hasher) {
        use std::hash::Hash;
        self.info.id.hash(hasher);
        self.first_change.hash(hasher);
        self.changes.hash(hasher);
    }

    fn value(&self, t: usize, node: NodeId) -> u64 {
        let i = node.index();
        let changes = &self.changes[self.first_change[i] as usize..self.first_change[i + 1] as usize];
        let after = changes.partition_point(|c| c.0 as usize <= t);
        after.checked_sub(1).map_or(0, |last| changes[last].1)
    }
}

/// Values of a further metric, one time after the other.
pub(super) struct MetricBuilder {
    info: MetricInfo,
    times: u32,
    /// Last values by node.
    last: Vec<u64>,
    peak: Vec<u64>,
    /// Node, time, value; ascending by time.
    log: Vec<(u32, u32, u64)>,
}

impl MetricBuilder {
    /// A metric without any time, for so many nodes.
    pub fn new(info: MetricInfo, nodes: usize) -> MetricBuilder {
        MetricBuilder { info, times: 0, last: vec![0; nodes], peak: vec![0; nodes], log: Vec::new() }
    }

    /// The values at the next time.
    pub fn step(&mut self, value: impl Fn(NodeId) -> u64) {
        for (node, (last, peak)) in (0..).zip(self.last.iter_mut().zip(&mut self.peak)) {
            let value = value(NodeId(node));
            if value != *last {
                self.log.push((node, self.times, value));
            }
            *last = value;
            *peak = value.max(*peak);
        }
        self.times += 1;
    }

    fn finish(mut self) -> MetricColumn {
        self.log.sort_by_key(|change| change.0);
        let mut first_change = vec![0u32; self.last.len() + 1];
        self.log.iter().for_each(|change| first_change[change.0 as usize + 1] += 1);
        for node in 1..first_change.len() {
            first_change[node] += first_change[node - 1];
        }
        let changes = self.log.into_iter().map(|(_, time, value)| (time, value)).collect();
        MetricColumn { info: self.info, first_change, changes, peak: self.peak }
    }
}

impl Timeline {
    /// The same trees with further metrics, or with other values of those that are there under these ids.
    pub(super) fn with_columns(mut self, columns: impl IntoIterator<Item = MetricBuilder>) -> Timeline {
        columns.into_iter().for_each(|column| self.put(column.finish()));
        self
    }

    /// A number that tells the further metrics from others.
    pub(super) fn hash_of_metrics(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        self.columns.iter().for_each(|column| column.hash_into(&mut hasher));
        std::hash::Hasher::finish(&hasher)
    }

    fn put(&mut self, column: MetricColumn) {
        match self.columns.iter_mut().find(|c| c.info.id == column.info.id) {
            Some(same) => *same = column,
            None => self.columns.push(column),
        }
    }

    /// The same trees with a further metric, or with other values of one that is there under this id. `values` is asked
    /// once for each node and time: 16 bytes are kept for each value that differs from the time before.
    pub fn with_metric(mut self, info: MetricInfo, mut values: impl FnMut(usize, NodeId) -> u64) -> Timeline {
        let mut column = MetricColumn { info, first_change: vec![0], changes: Vec::new(), peak: Vec::new() };
        for node in self.nodes() {
            let (mut before, mut peak) = (0, 0);
            for t in 0..self.times() {
                let value = values(t, node);
                if value != before {
                    column.changes.push((t as u32, value));
                }
                before = value;
                peak = value.max(peak);
            }
            column.peak.push(peak);
            column.first_change.push(column.changes.len() as u32);
        }
        self.put(column);
        self
    }

    /// The metrics there are: objects, bytes, then the further ones.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> + use<> {
        let further = (0..self.columns.len() as u16).map(Metric::Column);
        [Metric::Objects, Metric::Bytes].into_iter().chain(further)
    }

    /// The description of a metric. A missing column counts as bytes.
    pub fn metric_info(&self, metric: Metric) -> MetricInfo {
        let column = |i: u16| self.columns.get(usize::from(i)).map(|c| c.info.clone());
        match metric {
            Metric::Objects => MetricInfo::new("objects", "Objects", Unit::Objects),
            Metric::Column(i) => column(i).unwrap_or_else(|| self.metric_info(Metric::Bytes)),
            Metric::Bytes => MetricInfo::new("bytes", "Bytes", Unit::Bytes),
        }
    }

    /// The metric of an id.
    pub fn metric(&self, id: &str) -> Option<Metric> {
        self.metrics().find(|&m| &*self.metric_info(m).id == id)
    }

    /// The value of a node's metric at time `t`; 0 if it is absent.
    #[inline]
    pub fn value(&self, t: usize, node: NodeId, metric: Metric) -> u64 {
        match metric {
            Metric::Objects => self.amount(t, node).objects,
            Metric::Bytes => self.amount(t, node).bytes,
            Metric::Column(i) => self.columns.get(usize::from(i)).map_or(0, |c| c.value(t, node)),
        }
    }

    /// The value of a node at time `t`, and at the first time.
    #[inline]
    pub fn value_and_first(&self, t: usize, node: NodeId, metric: Metric) -> (u64, u64) {
        match metric {
            Metric::Column(_) => (self.value(t, node, metric), self.value(0, node, metric)),
            _ => self.amounts.value_and_first(t, node, metric),
        }
    }

    /// The same for many nodes at once, in their order, into columns of as many numbers.
    pub fn values_and_firsts(&self, t: usize, nodes: &[NodeId], metric: Metric, into: (&mut [u64], &mut [u64])) {
        if let Metric::Column(_) = metric {
            for (&node, (value, first)) in nodes.iter().zip(into.0.iter_mut().zip(into.1)) {
                (*value, *first) = self.value_and_first(t, node, metric);
            }
        } else {
            self.amounts.values_and_firsts(t, nodes, metric, into);
        }
    }

    /// The largest value of a node over all times.
    #[inline]
    pub fn peak(&self, node: NodeId, metric: Metric) -> u64 {
        match metric {
            Metric::Objects => self.max(node).objects,
            Metric::Bytes => self.max(node).bytes,
            Metric::Column(i) => self.columns.get(usize::from(i)).map_or(0, |c| c.peak[node.index()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Amount;
    use super::super::TimePoint;
    use super::*;
    use crate::group::MemoryTree;
    use proptest::prelude::*;

    /// Trees over some times with the same leaves.
    fn timeline(times: usize, leaves: usize) -> Timeline {
        let trees: Vec<MemoryTree> = (0..times)
            .map(|t| {
                let mut tree = MemoryTree::new();
                for leaf in 0..leaves {
                    let node = tree.child(0, &"Type".into(), &format!("type {leaf:03}").into());
                    tree.add_up(&[node as u32], Amount { objects: 1 + t as u64, bytes: 16 });
                }
                tree
            })
            .collect();
        Timeline::from_trees(vec![TimePoint::default(); times], &trees)
    }

    proptest! {
        #[test]
        fn further_metrics_hold_what_they_were_given(
            table in (1usize..6, 1usize..9).prop_flat_map(|(times, leaves)| {
                let values = prop::collection::vec(prop::collection::vec(0u64..4, leaves + 1), times);
                (Just(times), Just(leaves), values)
            }),
        ) {
            let (times, leaves, values) = table;
            let plain = timeline(times, leaves);
            let info = MetricInfo::new("retained", "Retained bytes", Unit::Bytes);
            let with = plain.clone().with_metric(info.clone(), |t, node| values[t][node.index()]);
            let metric = with.metric("retained").expect("it was added");
            prop_assert_eq!(with.metric_info(metric), info);
            prop_assert_eq!(plain.metric("retained"), None);
            for node in with.nodes() {
                for (t, row) in values.iter().enumerate() {
                    prop_assert_eq!(with.value(t, node, metric), row[node.index()]);
                    prop_assert_eq!(with.value(t, node, Metric::Objects), plain.amount(t, node).objects);
                }
                prop_assert_eq!(with.peak(node, metric), values.iter().map(|row| row[node.index()]).max().unwrap());
                let growth = values[times - 1][node.index()] as i64 - values[0][node.index()] as i64;
                prop_assert_eq!(with.growth(node, metric), growth);
            }
            // Given again, it replaces what was there.
            let again = with.with_metric(MetricInfo::new("retained", "Retained", Unit::Bytes), |_, _| 7);
            prop_assert_eq!(again.metrics().count(), 3);
            prop_assert_eq!(again.value(0, NodeId::ROOT, metric), 7);
        }
    }
}
