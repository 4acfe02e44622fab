//! Correction of missing and contradictory counts, once a tree is complete.
//!
//! - An inner node without a count has the sum of its children.
//! - A node that counts less than its children together is raised to their sum: the groups of a tree do not overlap.
//!   Where they do, and the time says so, it is raised to the largest child.
//! - A leaf may leave out one of the two counts, which is then 0, but not both.

use super::columns::NodeColumns;
use super::format::LARGEST;
use super::scalars::ABSENT;

/// The corrections: how many nodes, and the first of them.
#[derive(Default)]
pub(super) struct Settled {
    /// Nodes that had less than their children.
    pub raised: (usize, usize),
    /// Leaves with one count only.
    pub lone: (usize, usize),
}

/// A contradiction that cannot be corrected.
pub(super) struct TreeFault {
    pub node: usize,
    pub field: &'static str,
    /// The counts found, and those expected.
    pub message: String,
    pub remedy: &'static str,
}

/// Room that is used again for the next tree.
#[derive(Default)]
pub(super) struct Scratch {
    sum: Vec<u64>,
    raised: Vec<bool>,
}

/// Gives every node both counts.
pub(super) fn settle(tree: &mut NodeColumns<'_>, overlaps: bool, scratch: &mut Scratch) -> Result<Settled, TreeFault> {
    let n = tree.len();
    let mut settled = Settled::default();
    let mut note = |place: fn(&mut Settled) -> &mut (usize, usize), node| {
        // Backwards: the last one noted is the first one of the document.
        let (count, first) = place(&mut settled);
        *count += 1;
        *first = node;
    };
    // In the order of the document, the first child of a node comes right after it.
    let is_leaf = |parent: &[u32], i: usize| i + 1 == n || parent[i + 1] as usize != i;
    for i in (0..n).rev() {
        match (tree.objects[i] == ABSENT, tree.bytes[i] == ABSENT) {
            _ if !is_leaf(&tree.parent, i) => {}
            (false, false) => {}
            (true, true) => {
                let message = "neither objects nor bytes, expected at least one of them in a node without children";
                let remedy =
                    "Write \"objects\" and \"bytes\" into every leaf; other nodes may leave them to be added up";
                return Err(TreeFault { node: i, field: "", message: message.into(), remedy });
            }
            (false, true) => {
                tree.bytes[i] = 0;
                note(|s| &mut s.lone, i);
            }
            (true, false) => {
                tree.objects[i] = 0;
                note(|s| &mut s.lone, i);
            }
        }
    }
    scratch.raised.clear();
    scratch.raised.resize(n, false);
    for (field, column) in [("objects", &mut tree.objects), ("bytes", &mut tree.bytes)] {
        let sum = &mut scratch.sum;
        sum.clear();
        sum.resize(n, 0);
        let mut total = 0u64;
        for i in (0..n).rev() {
            if column[i] == ABSENT || column[i] < sum[i] {
                scratch.raised[i] |= column[i] != ABSENT;
                column[i] = sum[i];
            }
            total = total.saturating_add(column[i]);
            // Numbers are added up later in many ways: here it is made sure that none of them can overflow.
            if column[i] > LARGEST || (overlaps && total > LARGEST) {
                let message = format!("groups that add up to more than {LARGEST} {field}, expected at most that");
                let remedy = "Check the counts: no heap is as large as that";
                return Err(TreeFault { node: i, field, message, remedy });
            }
            if i > 0 {
                let above = &mut sum[tree.parent[i] as usize];
                *above = if overlaps { (*above).max(column[i]) } else { above.saturating_add(column[i]) };
            }
        }
    }
    for i in (0..n).rev().filter(|&i| scratch.raised[i]) {
        note(|s| &mut s.raised, i);
    }
    Ok(settled)
}
