//! The cached form of memory trees.

use super::grouping::Grouping;
use super::placement::Placement;
use super::tree::MemoryTree;
use memory_city_heap::Amount;
use serde::{Deserialize, Serialize};

/// A tree as columns of numbers, and each name once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredTree {
    /// Parent, role, name of each node but the root.
    nodes: Vec<(u32, u32, u32)>,
    /// Objects and bytes, with the root.
    amounts: Vec<(u64, u64)>,
    symbols: Vec<String>,
    /// Nodes at which counting starts anew, ascending.
    restarts: Vec<u32>,
}

impl StoredTree {
    /// The form to write.
    pub fn of(tree: &MemoryTree) -> StoredTree {
        let mut restarts: Vec<u32> = tree.restarts.iter().copied().collect();
        restarts.sort_unstable();
        StoredTree {
            nodes: (1..tree.len()).map(|n| (tree.parent[n], tree.role[n], tree.name[n])).collect(),
            amounts: tree.amount.iter().map(|amount| (amount.objects, amount.bytes)).collect(),
            symbols: tree.symbols.iter().map(|symbol| symbol.to_string()).collect(),
            restarts,
        }
    }

    /// The tree of a grouping, with the same node numbers; `None` if the data is no tree.
    pub fn tree(&self, grouping: &Grouping) -> Option<MemoryTree> {
        // With what the grouping knows of roles.
        let mut tree = Placement::new(&grouping.classifiers).tree;
        if tree.len() != 1 || self.amounts.len() != self.nodes.len() + 1 {
            return None;
        }
        for (before, &(parent, role, name)) in self.nodes.iter().enumerate() {
            let [role, name] = [self.symbols.get(role as usize)?, self.symbols.get(name as usize)?];
            if parent as usize > before {
                return None;
            }
            let role = tree.symbol(role);
            if tree.child_of(parent, role, name) as usize != before + 1 {
                return None;
            }
        }
        for (node, &(objects, bytes)) in self.amounts.iter().enumerate() {
            tree.add(node, Amount { objects, bytes });
        }
        for &node in &self.restarts {
            if node as usize >= tree.len() {
                return None;
            }
            tree.restarts.insert(node);
        }
        Some(tree)
    }
}
