//! A memory tree: nested groups of objects, with objects and bytes.

use indexmap::IndexSet;
use memory_city_heap::Amount;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A tree as columns. Node 0 is the root; parents come before their children.
#[derive(Clone, Debug)]
pub struct MemoryTree {
    pub(super) parent: Vec<u32>,
    /// Names and roles are symbols.
    pub(super) name: Vec<u32>,
    pub(super) role: Vec<u32>,
    pub(super) amount: Vec<Amount>,
    /// Each name once. Hashed with a random seed: names come from files, which must not be able to force collisions.
    pub(super) symbols: IndexSet<Arc<str>, ahash::RandomState>,
    /// Parent, role and name to node.
    find: FxHashMap<(u32, u32, u32), u32>,
    separators: Vec<(Arc<str>, &'static str)>,
    /// Roles whose groups put objects without a subgroup into one of their own.
    own_roles: Vec<Arc<str>>,
    /// Nodes at which counting starts anew: the objects below differ from those of the node above.
    pub(super) restarts: rustc_hash::FxHashSet<u32>,
    /// Bytes of all names.
    text: usize,
}

impl Default for MemoryTree {
    fn default() -> Self {
        MemoryTree {
            parent: vec![0],
            name: vec![0],
            role: vec![0],
            amount: vec![Amount::default()],
            symbols: std::iter::once(Arc::from("Heap")).collect(),
            find: FxHashMap::default(),
            separators: Vec::new(),
            own_roles: Vec::new(),
            restarts: rustc_hash::FxHashSet::default(),
            text: 0,
        }
    }
}

/// The end of the name of a group for the objects of its parent that are in no other group there.
const ITSELF: &str = " itself";

/// The name of the group of those objects of a group that are in none of the others below it.
pub(super) fn own_name(of: &str, into: &mut String) {
    into.clear();
    into.push_str(of);
    into.push_str(ITSELF);
}

/// Whether a name is that of such a group in a group of the other name.
pub(crate) fn is_own_name(name: &str, of: &str) -> bool {
    name.strip_suffix(ITSELF) == Some(of)
}

impl MemoryTree {
    /// A tree of the root alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// The child of a node with a name and role; made when it is not there.
    pub fn child(&mut self, parent: usize, role: &Arc<str>, name: &Arc<str>) -> usize {
        let role = self.symbol(role);
        self.child_of(parent as u32, role, name) as usize
    }

    /// The number of a role.
    pub(super) fn symbol(&mut self, text: &str) -> u32 {
        let at = match self.symbols.get_index_of(text) {
            Some(at) => at,
            None => {
                self.text += text.len();
                self.symbols.insert_full(Arc::from(text)).0
            }
        };
        at as u32
    }

    /// As [`MemoryTree::child`], with a role by number.
    #[inline]
    pub(super) fn child_of(&mut self, parent: u32, role: u32, name: &str) -> u32 {
        let name = self.symbol(name);
        let next = self.parent.len() as u32;
        let id = *self.find.entry((parent, role, name)).or_insert(next);
        if id == next {
            self.parent.push(parent);
            self.name.push(name);
            self.role.push(role);
            self.amount.push(Amount::default());
        }
        id
    }

    /// As [`MemoryTree::child`]. Counting starts anew there: the objects below it differ from those of its parent, and are not counted
    /// above it.
    pub(crate) fn restart(&mut self, parent: u32, role: &str, name: &str) -> u32 {
        let role = self.symbol(role);
        let node = self.child_of(parent, role, name);
        self.restarts.insert(node);
        node
    }

    /// Whether counting starts anew at a node.
    pub fn restarts(&self, node: usize) -> bool {
        !self.restarts.is_empty() && self.restarts.contains(&(node as u32))
    }

    /// The roles of the nodes at which counting starts anew.
    pub(crate) fn restart_roles(&self) -> impl Iterator<Item = &Arc<str>> {
        self.restarts.iter().map(|&n| self.role(n as usize))
    }

    /// Bytes of all names.
    pub(super) fn text_bytes(&self) -> usize {
        self.text
    }

    /// Says that chains of single children with this role may be joined to one node.
    pub(crate) fn join_chains(&mut self, role: &Arc<str>, separator: &'static str) {
        if !self.separators.iter().any(|(r, _)| r == role) {
            self.separators.push((Arc::clone(role), separator));
        }
    }

    /// Roles whose chains may be joined.
    pub(crate) fn separators(&self) -> &[(Arc<str>, &'static str)] {
        &self.separators
    }

    /// Puts the objects of a group with this role that are in none of its subgroups into a group of their own ([`own_name`]), so that a
    /// view of leaves shows them.
    pub(super) fn have_own(&mut self, role: &Arc<str>) {
        if !self.own_roles.contains(role) {
            self.own_roles.push(Arc::clone(role));
        }
    }

    /// Roles whose groups have such groups.
    pub(crate) fn own_roles(&self) -> &[Arc<str>] {
        &self.own_roles
    }

    /// Whether a node is such a group.
    pub(crate) fn is_own(&self, node: usize) -> bool {
        !self.own_roles.is_empty()
            && self.own_roles.contains(self.role(node))
            && self.parent(node).is_some_and(|above| is_own_name(self.name(node), self.name(above)))
    }

    /// Adds to a node alone.
    pub fn add(&mut self, node: usize, amount: Amount) {
        self.amount[node] += amount;
    }

    /// Adds to several nodes and their ancestors, once to each.
    pub fn add_up(&mut self, leaves: &[u32], amount: Amount) {
        self.each_above(leaves, |node, _| *node += amount);
    }

    /// Changes several nodes and their ancestors, once each; lists them in `changed`, once for each call.
    pub(crate) fn change_up(&mut self, leaves: &[u32], objects: i64, bytes: i64, changed: &mut Vec<u32>) {
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
            while at != 0 && !self.restarts(at as usize) {
                at = self.parent[at as usize];
                change(&mut self.amount[at as usize], at);
            }
            return;
        }
        let mut all: Vec<u32> = Vec::new();
        for &leaf in leaves {
            let mut at = leaf;
            all.push(at);
            while at != 0 && !self.restarts(at as usize) {
                at = self.parent[at as usize];
                all.push(at);
            }
        }
        all.sort_unstable();
        all.dedup();
        all.into_iter().for_each(|n| change(&mut self.amount[n as usize], n));
    }

    /// Empties all nodes; they stay.
    pub(crate) fn clear_amounts(&mut self) {
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
        &self.symbols[self.name[node] as usize]
    }

    /// The name of the classifier that made it.
    pub fn role(&self, node: usize) -> &Arc<str> {
        &self.symbols[self.role[node] as usize]
    }

    /// Objects and bytes.
    pub fn amount(&self, node: usize) -> Amount {
        self.amount[node]
    }
}
