//! The nodes that change at each time, which a step in time has to visit.

use super::key::NodeId;
use super::nodes::Timeline;

/// The nodes whose amount becomes another, by time. Four bytes a change.
#[derive(Clone, Debug, Default)]
pub struct ChangesByTime {
    /// The nodes of time t are `nodes[first[t]..first[t + 1]]`.
    first: Vec<usize>,
    nodes: Vec<u32>,
    /// Times at which too many change.
    left_out: Vec<bool>,
}

impl ChangesByTime {
    /// The nodes whose objects or bytes at time `t` are others than at the time before; before the first time they are 0. Ascending.
    /// `None` where they are more than were asked for, and for times there are not.
    pub fn of(&self, t: usize) -> Option<impl ExactSizeIterator<Item = NodeId> + '_> {
        let [start, end] = *self.first.get(t..=t + 1)? else { return None };
        (!self.left_out.get(t)?).then(|| self.nodes[start..end].iter().map(|&node| NodeId(node)))
    }
}

impl Timeline {
    /// The nodes that change, by time, where they are `most` or fewer. Linear in the changes of all times.
    pub fn changes_by_time(&self, most: usize) -> ChangesByTime {
        let mut counts = vec![0; self.times()];
        self.amounts.all_times().for_each(|t| counts[t] += 1);
        let left_out: Vec<bool> = counts.iter().map(|&count| count > most).collect();
        let mut first = Vec::with_capacity(self.times() + 1);
        first.push(0);
        for (&count, &without) in counts.iter().zip(&left_out) {
            first.push(first.last().unwrap_or(&0) + if without { 0 } else { count });
        }
        let (mut next, mut nodes) = (first.clone(), vec![0; *first.last().unwrap_or(&0)]);
        for node in self.nodes() {
            for t in self.amounts.times_of(node).filter(|&t| !left_out[t]) {
                nodes[next[t]] = node.0;
                next[t] += 1;
            }
        }
        ChangesByTime { first, nodes, left_out }
    }
}
