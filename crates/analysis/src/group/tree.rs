//! A memory tree: groups of objects, nested, with objects and bytes.

use ahash::AHashMap;
use memory_city_heap::Amount;
use std::sync::Arc;

/// A tree as columns. Node 0 is the root; parents come before their children.
#[derive(Clone, Debug)]
pub struct MemoryTree {
    parent: Vec<u32>,
    name: Vec<Arc<str>>,
    role: Vec<Arc<str>>,
    amount: Vec<Amount>,
    /// Names come from files: hashed with a random seed.
    find: AHashMap<(u32, Arc<str>, Arc<str>), u32>,
    separators: Vec<(Arc<str>, &'static str)>,
}

impl Default for MemoryTree {
    fn default() -> Self {
        let heap: Arc<str> = Arc::from("Heap");
        MemoryTree {
            parent: vec![0],
            name: vec![Arc::clone(&heap)],
            role: vec![heap],
            amount: vec![Amount::default()],
            find: AHashMap::default(),
            separators: Vec::new(),
        }
    }
}

impl MemoryTree {
    /// A tree of the root alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// The child of a node with a name and role; made when it is not there.
    pub fn child(&mut self, parent: usize, role: &Arc<str>, name: &Arc<str>) -> usize {
        let next = self.parent.len() as u32;
        let key = (parent as u32, Arc::clone(role), Arc::clone(name));
        let id = *self.find.entry(key).or_insert(next);
        if id == next {
            self.parent.push(parent as u32);
            self.name.push(Arc::clone(name));
            self.role.push(Arc::clone(role));
            self.amount.push(Amount::default());
        }
        id as usize
    }

    /// Says that chains of single children with this role may be joined to one node.
    pub fn join_chains(&mut self, role: &Arc<str>, separator: &'static str) {
        if !self.separators.iter().any(|(r, _)| r == role) {
            self.separators.push((Arc::clone(role), separator));
        }
    }

    /// Roles whose chains may be joined.
    pub fn separators(&self) -> &[(Arc<str>, &'static str)] {
        &self.separators
    }

    /// Adds to a node alone.
    pub fn add(&mut self, node: usize, amount: Amount) {
        self.amount[node] += amount;
    }

    /// Adds to several nodes and what lies above them, once to each.
    pub fn add_up(&mut self, leaves: &[u32], amount: Amount) {
        self.each_above(leaves, |node, _| *node += amount);
    }

    /// Adds or takes away, in several nodes and what lies above them, once in each; lists them in `changed`, once for
    /// each time it is called.
    pub fn change_up(&mut self, leaves: &[u32], objects: i64, bytes: i64, changed: &mut Vec<u32>) {
        self.each_above(leaves, |amount, node| {
            // In two's complement, adding a negative number takes away.
            amount.objects = amount.objects.wrapping_add(objects as u64);
            amount.bytes = amount.bytes.wrapping_add(bytes as u64);
            changed.push(node);
        });
    }

    fn each_above(&mut self, leaves: &[u32], mut change: impl FnMut(&mut Amount, u32)) {
        if let [leaf] = leaves {
            let mut at = *leaf;
            change(&mut self.amount[at as usize], at);
            while at != 0 {
                at = self.parent[at as usize];
                change(&mut self.amount[at as usize], at);
            }
            return;
        }
        let mut all: Vec<u32> = Vec::new();
        for &leaf in leaves {
            let mut at = leaf;
            all.push(at);
            while at != 0 {
                at = self.parent[at as usize];
                all.push(at);
            }
        }
        all.sort_unstable();
        all.dedup();
        all.into_iter().for_each(|n| change(&mut self.amount[n as usize], n));
    }

    /// Empties all nodes; they stay.
    pub fn clear_amounts(&mut self) {
        self.amount.fill(Amount::default());
    }

    /// Number of nodes; at least the root.
    #[allow(clippy::len_without_is_empty)] // never empty: the root is always there
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// The parent; `None` for the root.
    pub fn parent(&self, node: usize) -> Option<usize> {
        (node != 0).then(|| self.parent[node] as usize)
    }

    /// The name.
    pub fn name(&self, node: usize) -> &Arc<str> {
        &self.name[node]
    }

    /// The name of the classifier that made it.
    pub fn role(&self, node: usize) -> &Arc<str> {
        &self.role[node]
    }

    /// Objects and bytes.
    pub fn amount(&self, node: usize) -> Amount {
        self.amount[node]
    }
}
