//! Which nodes change when: what a step in time has to look at.

use super::{NodeId, Timeline};

/// The nodes whose amount becomes another, by time. Four bytes a change.
#[derive(Clone, Debug, Default)]
pub struct ChangesByTime {
    /// Those of time t are `nodes[first[t]..first[t + 1]]`.
    first: Vec<usize>,
    nodes: Vec<u32>,
}

impl ChangesByTime {
    /// The nodes whose objects or bytes at time `t` are others than at the time before; before the first time they are 0.
    /// Ascending; none for times there are not.
    pub fn of(&self, t: usize) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        let range = match self.first.get(t..=t + 1) {
            Some([start, end]) => *start..*end,
            _ => 0..0,
        };
        self.nodes[range].iter().map(|&node| NodeId(node))
    }
}

impl Timeline {
    /// The nodes that change, by time. Linear in the changes of all times.
    pub fn changes_by_time(&self) -> ChangesByTime {
        let mut first = vec![0; self.times() + 1];
        self.amounts.all_times().iter().for_each(|&t| first[t as usize + 1] += 1);
        for t in 0..self.times() {
            first[t + 1] += first[t];
        }
        let (mut next, mut nodes) = (first.clone(), vec![0; self.amounts.len()]);
        for node in self.nodes() {
            for &t in self.amounts.times_of(node) {
                nodes[next[t as usize]] = node.0;
                next[t as usize] += 1;
            }
        }
        ChangesByTime { first, nodes }
    }
}
