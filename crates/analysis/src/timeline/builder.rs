//! Builder of timelines: joins trees one at a time and keeps only the changes of each, so that a long series never holds all trees.
//!
//! Trees of a series resemble each other. So a node is first expected right after the previous one, in the order in which nodes first came,
//! which costs two comparisons. A node is hashed only if that fails.

use super::json::memory::Amounts;
use super::key::NodeId;
use super::nodes::Timeline;
use super::point::TimePoint;
use super::symbols::NameTable;
use crate::group::MemoryTree;
use ahash::AHashMap;
use memory_city_heap::Amount;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A timeline under construction. Nodes are matched by role and name (or by key, where they have one) below the same
/// parent. It is fed tree by tree ([`TimelineBuilder::add`]) or change by change ([`TimelineBuilder::step`]), not both.
#[derive(Default)]
pub struct TimelineBuilder {
    pub(super) points: Vec<TimePoint>,
    pub(super) symbols: NameTable,
    pub(super) parent: Vec<u32>,
    /// Names, roles and keys are symbols.
    pub(super) name: Vec<u32>,
    pub(super) role: Vec<u32>,
    pub(super) key: Vec<u32>,
    /// One more than the last time a node was in.
    seen: Vec<u32>,
    /// The amount of each node at the last time.
    last: Vec<Amount>,
    find: AHashMap<NodeIdentity, u32>,
    /// By the symbol of a name: the role of the first node of that name.
    role_of_name: Vec<u32>,
    /// The most bytes of names that are made up when the timeline is finished, so that siblings differ.
    made_up: u64,
    /// By time: the nodes whose amount changed. It is 0 before the first. Shared with copies, which become finished timelines while this
    /// one goes on growing.
    pub(super) log: Vec<Arc<Vec<Change>>>,
    /// Changes in the log.
    changes: u64,
    pub(super) separators: Vec<(Arc<str>, &'static str)>,
    /// Roles of nodes at which counting starts anew.
    pub(super) restarts: Vec<Arc<str>>,
    /// Roles whose groups put objects without a subgroup into one of their own.
    pub(super) own_roles: HashSet<Arc<str>>,
    /// Roles that nest, as far as the input says so.
    pub(super) nested: HashSet<Arc<str>>,
    /// Nodes of the tree that [`TimelineBuilder::step`] knows; of [`TimelineBuilder::add`], those of the last tree.
    known: Vec<u32>,
    /// Whether it was fed change by change.
    pub(super) stepped: bool,
}

/// A node, and the amount that it has from now on.
pub(super) type Change = (u32, Amount);

/// A node of a tree to be added. Parents come before their children, the root comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeRow<'a> {
    /// Number of the parent among the rows; of no meaning for the root.
    pub parent: usize,
    /// The classifier that made the node.
    pub role: &'a str,
    /// The name for people.
    pub name: &'a str,
    /// The key that matches the node instead of its name.
    pub key: Option<&'a str>,
    /// Objects and bytes.
    pub amount: Amount,
}

/// Rows that were added to a node of the same tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Duplicates {
    /// How many.
    pub count: usize,
    /// Number of the first.
    pub first: usize,
}

/// Where the nodes with keys of their own are in the finished timeline.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The first node, in the order of the timeline, that has the key.
    pub find: HashMap<Arc<str>, NodeId>,
    /// Keys that several nodes have.
    pub ambiguous: Vec<Arc<str>>,
}

/// The identity of a node over time. Hashed with a random seed: names come from files, which must not be able to force collisions.
#[derive(PartialEq, Eq, Hash, Clone, Copy, Debug)]
struct NodeIdentity {
    parent: u32,
    role: u32,
    /// The key where there is one, else the name.
    text: u32,
    keyed: bool,
}

/// No key.
pub(super) const NONE: u32 = u32::MAX;

impl Timeline {
    /// Joins the trees of several points in time, of no known runtime; `trees[i]` is the heap at `points[i]`.
    pub fn from_trees(points: Vec<TimePoint>, trees: &[MemoryTree]) -> Self {
        let mut builder = TimelineBuilder::default();
        for (point, tree) in points.into_iter().zip(trees) {
            builder.add(point, tree);
        }
        builder.finish()
    }
}

impl TimelineBuilder {
    /// Names the root: before anything is added.
    pub(crate) fn name_root(&mut self, name: &str) {
        self.root(name, "Heap");
    }

    /// Adds the tree of the next point in time.
    pub fn add(&mut self, point: TimePoint, tree: &MemoryTree) {
        self.add_rows(point, (0..tree.len()).map(|n| row(tree, n)));
        self.note_separators(tree);
    }

    /// Adds the tree of the next point in time, node by node.
    pub(crate) fn add_rows<'a>(
        &mut self,
        point: TimePoint,
        rows: impl ExactSizeIterator<Item = NodeRow<'a>>,
    ) -> Duplicates {
        let time = self.points.len() as u32 + 1;
        let mut ids: Vec<u32> = Vec::with_capacity(rows.len());
        // The first tree is all new, later ones hardly.
        self.find.reserve(rows.len().saturating_sub(self.parent.len()));
        // What the nodes had is compared with what they have when all of it is known: nodes that share their place in
        // the timeline add up.
        let mut here: Vec<Change> = Vec::with_capacity(rows.len());
        let mut duplicates = Duplicates::default();
        let mut guess = 0;
        for (n, row) in rows.enumerate() {
            let before = self.parent.len();
            let id = match n {
                0 => self.root(row.name, row.role),
                _ => self.child(ids[row.parent], &row, guess),
            };
            if (id as usize) < before {
                guess = id + 1;
            }
            ids.push(id);
            if self.seen[id as usize] == time {
                duplicates.first = if duplicates.count == 0 { n } else { duplicates.first };
                duplicates.count += 1;
            } else {
                self.seen[id as usize] = time;
                here.push((id, std::mem::take(&mut self.last[id as usize])));
            }
            let sum = &mut self.last[id as usize];
            sum.objects = sum.objects.saturating_add(row.amount.objects);
            sum.bytes = sum.bytes.saturating_add(row.amount.bytes);
        }
        let now: Vec<u32> = here.iter().map(|c| c.0).collect();
        here.retain_mut(|(id, amount)| std::mem::replace(amount, self.last[*id as usize]) != self.last[*id as usize]);
        for gone in std::mem::replace(&mut self.known, now) {
            if self.seen[gone as usize] != time && std::mem::take(&mut self.last[gone as usize]) != Amount::default() {
                here.push((gone, Amount::default()));
            }
        }
        here.shrink_to_fit();
        self.end_time(point, here);
        duplicates
    }

    /// Adds the next point in time from the changes since the last call. The tree is always the same one, which only grows, without nodes
    /// that share their place; `changed` are the nodes whose amounts may have changed. Linear in these.
    pub fn step(&mut self, point: TimePoint, tree: &MemoryTree, changed: &[u32]) {
        self.stepped = true;
        for n in self.known.len()..tree.len() {
            let row = row(tree, n);
            let id = match n {
                0 => self.root(row.name, row.role),
                _ => self.child(self.known[row.parent], &row, NONE),
            };
            self.known.push(id);
        }
        let mut log = Vec::new();
        for &node in changed {
            let id = self.known[node as usize];
            let amount = tree.amount(node as usize);
            if std::mem::replace(&mut self.last[id as usize], amount) != amount {
                log.push((id, amount));
            }
        }
        self.end_time(point, log);
        self.note_separators(tree);
    }

    fn end_time(&mut self, point: TimePoint, log: Vec<Change>) {
        self.changes += log.len() as u64;
        self.log.push(Arc::new(log));
        self.points.push(point);
    }

    fn note_separators(&mut self, tree: &MemoryTree) {
        for role in tree.restart_roles() {
            if !self.restarts.contains(role) {
                self.restarts.push(Arc::clone(role));
            }
        }
        for role in tree.own_roles() {
            if !self.own_roles.contains(role) {
                self.own_roles.insert(Arc::clone(role));
            }
        }
        for separator in tree.separators() {
            if !self.separators.contains(separator) {
                self.separators.push(separator.clone());
            }
        }
    }

    /// Says that nodes of a role may lie below nodes of the same role.
    pub(crate) fn note_nested(&mut self, role: &str) {
        if !self.nested.contains(role) {
            self.nested.insert(Arc::from(role));
        }
    }

    /// Points in time so far.
    pub fn times(&self) -> usize {
        self.points.len()
    }

    /// Nodes so far.
    pub(crate) fn nodes(&self) -> usize {
        self.parent.len()
    }

    /// Bytes of the paths of all nodes together. O(nodes).
    pub(crate) fn path_bytes(&self) -> u64 {
        let lengths = self.name.iter().map(|&name| self.symbols.text(name).len());
        super::json::columns::path_bytes(self.parent.iter().copied().zip(lengths))
    }

    /// How often a node's amount became another so far.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// The amounts of everything in it, for memory accounts.
    pub(crate) fn amounts(&self) -> Amounts {
        let nested: u64 = self.nested.iter().map(|role| role.len() as u64).sum();
        Amounts {
            nodes: self.parent.len() as u64,
            changes: self.changes,
            texts: (self.symbols.len() + self.nested.len()) as u64,
            text_bytes: self.symbols.bytes() + nested,
            made_up: self.made_up,
            ..Amounts::default()
        }
    }

    /// The most that adding a tree would add to [`TimelineBuilder::amounts`]: costs a lookup of its nodes.
    pub(crate) fn growth<'a>(&self, rows: impl ExactSizeIterator<Item = NodeRow<'a>>) -> Amounts {
        let mut growth = Amounts { changes: (rows.len() + self.known.len()) as u64, ..Amounts::default() };
        let mut ids: Vec<u32> = Vec::with_capacity(rows.len());
        let mut role_of_name: AHashMap<&str, &str> = AHashMap::default();
        let mut guess = 0;
        for (n, row) in rows.enumerate() {
            let found = match n {
                0 if self.parent.is_empty() => None,
                0 => Some(0),
                _ => Some(ids[row.parent]).filter(|&p| p != NONE).and_then(|p| self.known_child(p, &row, guess)),
            };
            ids.push(found.unwrap_or(NONE));
            if let Some(id) = found {
                guess = id + 1;
                continue;
            }
            let bytes = (row.name.len() + row.role.len() + row.key.map_or(0, str::len)) as u64;
            let first = self.symbols.find(row.name).and_then(|name| self.role_of_name.get(name as usize));
            let known = first.filter(|&&role| role != NONE).map(|&role| &**self.symbols.text(role));
            let first = *role_of_name.entry(row.name).or_insert(known.unwrap_or(row.role));
            growth.nodes += 1;
            growth.texts += 3;
            growth.text_bytes += bytes;
            growth.made_up += if row.key.is_some() || first != row.role { 2 * (bytes + 8) } else { 0 };
        }
        growth
    }

    /// All of its state as text, for tests that compare states completely.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        let sorted = |mut texts: Vec<String>| {
            texts.sort_unstable();
            texts
        };
        let find = sorted(self.find.iter().map(|entry| format!("{entry:?}")).collect());
        let nested = sorted(self.nested.iter().map(|role| role.to_string()).collect());
        let nodes = (&self.parent, &self.name, &self.role, &self.key, &self.seen, &self.last, &self.role_of_name);
        let times = (&self.points, &self.log, self.changes, &self.separators, &self.known, self.stepped, self.made_up);
        format!("{:?} {nodes:?} {times:?} {find:?} {nested:?}", self.symbols)
    }

    /// A copy to be finished. Nothing can be added to it.
    pub(crate) fn copy(&self) -> TimelineBuilder {
        TimelineBuilder {
            points: self.points.clone(),
            symbols: self.symbols.clone(),
            parent: self.parent.clone(),
            name: self.name.clone(),
            role: self.role.clone(),
            key: self.key.clone(),
            log: self.log.clone(),
            separators: self.separators.clone(),
            restarts: self.restarts.clone(),
            own_roles: self.own_roles.clone(),
            nested: self.nested.clone(),
            ..TimelineBuilder::default()
        }
    }

    /// Drops the first times, for a timeline fed tree by tree; later times can be added as before. Groups that only existed then stay,
    /// empty.
    pub(crate) fn forget(&mut self, first: usize) {
        let first = first.min(self.points.len());
        self.points.drain(..first);
        let gone: Vec<Arc<Vec<Change>>> = self.log.drain(..first).collect();
        // The next time begins with what had not changed by then.
        let mut now: AHashMap<u32, Amount> = AHashMap::default();
        for &(node, amount) in gone.iter().chain(self.log.first()).flat_map(|changes| changes.iter()) {
            now.insert(node, amount);
        }
        if let Some(log) = self.log.first_mut() {
            let mut there: Vec<Change> = now.into_iter().filter(|(_, amount)| *amount != Amount::default()).collect();
            there.sort_unstable_by_key(|change| change.0);
            *log = Arc::new(there);
        } else {
            self.last.fill(Amount::default());
            self.known.clear();
        }
        self.changes = self.log.iter().map(|log| log.len() as u64).sum();
        // Numbers of times, of which the next one must not have been there.
        self.seen.iter_mut().for_each(|seen| *seen = seen.saturating_sub(first as u32));
    }

    /// Puts the times into another order. `order` has, for each of them, the number it was added as and its description. Times that are
    /// missing in it are dropped. Nothing can be added after that.
    pub(crate) fn arrange(&mut self, order: Vec<(usize, TimePoint)>) {
        let times = self.points.len();
        let (places, points): (Vec<usize>, Vec<TimePoint>) = order.into_iter().unzip();
        self.points = points;
        if places.len() == times && places.is_sorted() {
            return;
        }
        let mut place_of: Vec<Option<u32>> = vec![None; times];
        places.iter().enumerate().for_each(|(new, &old)| place_of[old] = Some(new as u32));
        let mut of_node: Vec<Vec<Change>> = vec![Vec::new(); self.parent.len()];
        for (t, changes) in std::mem::take(&mut self.log).into_iter().enumerate() {
            changes.iter().for_each(|&(node, amount)| of_node[node as usize].push((t as u32, amount)));
        }
        let mut log: Vec<Vec<Change>> = vec![Vec::new(); places.len()];
        for (node, changes) in of_node.into_iter().enumerate() {
            // Only the times at which the node has something: each was a row of a tree once.
            let mut lit: Vec<Change> = Vec::new();
            for (i, &(from, amount)) in changes.iter().enumerate().filter(|(_, c)| c.1 != Amount::default()) {
                let end = changes.get(i + 1).map_or(times, |next| next.0 as usize);
                lit.extend(place_of[from as usize..end].iter().flatten().map(|&new| (new, amount)));
            }
            lit.sort_unstable_by_key(|c| c.0);
            let mut before: Option<Change> = None;
            for &(t, amount) in &lit {
                match before {
                    Some((last, same)) if last + 1 == t && same == amount => {}
                    Some((last, _)) if last + 1 < t => {
                        log[last as usize + 1].push((node as u32, Amount::default()));
                        log[t as usize].push((node as u32, amount));
                    }
                    _ => log[t as usize].push((node as u32, amount)),
                }
                before = Some((t, amount));
            }
            if let Some((last, _)) = before
                && let Some(log) = log.get_mut(last as usize + 1)
            {
                log.push((node as u32, Amount::default()));
            }
        }
        self.log = log.into_iter().map(Arc::new).collect();
    }

    fn push(&mut self, parent: u32, name: u32, role: u32, key: u32) {
        self.parent.push(parent);
        self.name.push(name);
        self.role.push(role);
        self.key.push(key);
        self.seen.push(0);
        self.last.push(Amount::default());
    }

    fn root(&mut self, name: &str, role: &str) -> u32 {
        if self.parent.is_empty() {
            let (name, role) = (self.symbols.of(name), self.symbols.of(role));
            self.push(0, name, role, NONE);
        }
        0
    }

    /// Whether `guess` is the child that a row stands for.
    #[inline]
    fn is_child(&self, parent: u32, row: &NodeRow<'_>, guess: u32) -> bool {
        let g = guess as usize;
        if g < self.parent.len() && self.parent[g] == parent && g > 0 {
            let is = |symbol: u32, text: &str| **self.symbols.text(symbol) == *text;
            let same = match (row.key, self.key[g]) {
                (None, NONE) => is(self.name[g], row.name),
                (Some(key), symbol) if symbol != NONE => is(symbol, key),
                _ => false,
            };
            return same && is(self.role[g], row.role);
        }
        false
    }

    fn known_child(&self, parent: u32, row: &NodeRow<'_>, guess: u32) -> Option<u32> {
        if self.is_child(parent, row, guess) {
            return Some(guess);
        }
        let (role, text) = (self.symbols.find(row.role)?, self.symbols.find(row.key.unwrap_or(row.name))?);
        self.find.get(&NodeIdentity { parent, role, text, keyed: row.key.is_some() }).copied()
    }

    fn child(&mut self, parent: u32, row: &NodeRow<'_>, guess: u32) -> u32 {
        if self.is_child(parent, row, guess) {
            return guess;
        }
        let role = self.symbols.of(row.role);
        let (name, key) = match row.key {
            None => (self.symbols.of(row.name), NONE),
            Some(key) => (NONE, self.symbols.of(key)),
        };
        let text = if key == NONE { name } else { key };
        let next = self.parent.len() as u32;
        let id = *self.find.entry(NodeIdentity { parent, role, text, keyed: key != NONE }).or_insert(next);
        if id == next {
            let name = if key == NONE { name } else { self.symbols.of(row.name) };
            self.push(parent, name, role, key);
            self.note_name(name, role, row);
        }
        id
    }

    /// Counts the memory of a generated name for a node, needed if it has a key, or if a node of another role has its name. Both of them
    /// get one, so it counts twice.
    fn note_name(&mut self, name: u32, role: u32, row: &NodeRow<'_>) {
        if self.role_of_name.len() <= name as usize {
            self.role_of_name.resize(self.symbols.len(), NONE);
        }
        let first = &mut self.role_of_name[name as usize];
        if *first == NONE {
            *first = role;
        }
        if row.key.is_some() || *first != role {
            let bytes = row.name.len() + row.role.len() + row.key.map_or(0, str::len) + 8;
            self.made_up += 2 * bytes as u64;
        }
    }

    /// The timeline. Nodes are numbered level by level, by name within a parent: the same data gives the same numbers, whatever the order
    /// of nodes in the trees.
    pub fn finish(self) -> Timeline {
        self.finish_with_keys().0
    }

    /// The timeline, and where the nodes with keys of their own are in it.
    pub(crate) fn finish_with_keys(mut self) -> (Timeline, Keys) {
        self.root("Heap", "Heap");
        // What matching needed makes room for what the timeline needs.
        self.find = AHashMap::new();
        self.role_of_name = Vec::new();
        self.seen = Vec::new();
        self.last = Vec::new();
        self.known = Vec::new();
        super::numbering::finish(self)
    }
}

fn row(tree: &MemoryTree, n: usize) -> NodeRow<'_> {
    NodeRow {
        parent: tree.parent(n).unwrap_or_default(),
        role: tree.role(n),
        name: tree.name(n),
        key: None,
        amount: tree.amount(n),
    }
}
