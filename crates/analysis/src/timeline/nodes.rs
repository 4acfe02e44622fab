//! The nodes of a timeline, with their amounts at each point in time.

use super::amounts::AmountLog;
use super::key::{NodeId, escape, names_of_key, told_apart};
use super::metric::{Metric, MetricColumn};
use super::point::TimePoint;
use crate::group::MemoryTree;
use crate::tabular::NodeLink;
use memory_city_heap::{Amount, Profile};
use std::collections::HashSet;
use std::sync::Arc;

/// Trees over time, matched by key. Columns by node and by time.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub(super) profile: &'static Profile,
    pub(super) points: Vec<TimePoint>,
    pub(super) parent: Vec<u32>,
    pub(super) level: Vec<u32>,
    pub(super) name: Vec<Arc<str>>,
    pub(super) role: Vec<Arc<str>>,
    /// Children of node n are `children[first_child[n]..first_child[n + 1]]`, sorted by name.
    pub(super) first_child: Vec<u32>,
    pub(super) children: Vec<NodeId>,
    pub(super) amounts: AmountLog,
    pub(super) max: Vec<Amount>,
    /// Further metrics.
    pub(super) columns: Vec<MetricColumn>,
    /// Roles whose chains of single children are one node, and the separator of their names.
    pub(super) separators: Vec<(Arc<str>, &'static str)>,
    /// Roles of which nodes lie below nodes of the same role: packages in packages, callers of callers.
    pub(super) nested_roles: HashSet<Arc<str>>,
    /// Roles of nodes at which counting starts anew: one or two.
    pub(super) restarts: Vec<Arc<str>>,
    /// Names that several leaves have.
    pub(super) shared_names: HashSet<Arc<str>>,
}

impl Timeline {
    /// The same trees, of a runtime with this profile.
    pub fn with_profile(self, profile: &'static Profile) -> Timeline {
        Timeline { profile, ..self }
    }

    /// What the runtime of the program calls things.
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// The points in time.
    pub fn points(&self) -> &[TimePoint] {
        &self.points
    }

    /// The number of points in time.
    #[inline]
    pub fn times(&self) -> usize {
        self.points.len()
    }

    /// The number of nodes; at least the root.
    #[allow(clippy::len_without_is_empty)] // never empty: the root is always there
    #[inline]
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// All nodes, parents before children.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.parent.len() as u32).map(NodeId)
    }

    /// The parent; `None` for the root.
    #[inline]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != NodeId::ROOT).then(|| NodeId(self.parent[node.index()]))
    }

    /// The children, sorted by name.
    #[inline]
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        let i = node.index();
        &self.children[self.first_child[i] as usize..self.first_child[i + 1] as usize]
    }

    /// Whether the node has no children: a building.
    #[inline]
    pub fn is_leaf(&self, node: NodeId) -> bool {
        self.children(node).is_empty()
    }

    /// Distance from the root.
    #[inline]
    pub fn level(&self, node: NodeId) -> u32 {
        self.level[node.index()]
    }

    /// The name for people.
    #[inline]
    pub fn name(&self, node: NodeId) -> &str {
        &self.name[node.index()]
    }

    /// The name of the classifier that made the node.
    #[inline]
    pub fn role(&self, node: NodeId) -> &str {
        &self.role[node.index()]
    }

    /// The nodes from the root's child down to `node`.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> =
            std::iter::successors(Some(node), |&n| self.parent(n)).filter(|&n| n != NodeId::ROOT).collect();
        path.reverse();
        path
    }

    /// True if counting starts anew at a node: the objects below it differ from those of its parent, and are no part of them.
    pub fn restarts(&self, node: NodeId) -> bool {
        self.restarts.iter().any(|role| **role == *self.role(node))
    }

    /// The node that a node's amounts are parts of: the nearest one, from itself upwards, at which counting starts anew,
    /// or the root.
    pub fn whole(&self, node: NodeId) -> NodeId {
        let mut at = node;
        while at != NodeId::ROOT && !self.restarts(at) {
            at = NodeId(self.parent[at.index()]);
        }
        at
    }

    /// True if `node` is `top` or lies below it, and its objects are part of those of `top`.
    pub fn is_within(&self, node: NodeId, top: NodeId) -> bool {
        let mut at = node;
        while self.level(at) > self.level(top) {
            if self.restarts(at) {
                return false;
            }
            at = NodeId(self.parent[at.index()]);
        }
        at == top
    }

    /// The unique key: `Heap#java.util#HashMap$Node`. `#` and `\` in names are written `\#` and `\\`.
    pub fn key(&self, node: NodeId) -> String {
        let mut key = escape(self.name(NodeId::ROOT));
        for n in self.path(node) {
            key.push('#');
            key.push_str(&escape(self.name(n)));
        }
        key
    }

    /// The node of a key.
    pub fn find(&self, key: &str) -> Option<NodeId> {
        let mut names = names_of_key(key).into_iter();
        if names.next()? != self.name(NodeId::ROOT) {
            return None;
        }
        names.try_fold(NodeId::ROOT, |node, name| {
            let children = self.children(node);
            let at = children.binary_search_by(|c| self.name(*c).cmp(&name)).ok()?;
            Some(children[at])
        })
    }

    /// The nodes that have a name, by itself or with those above it, as classes have with their packages (`java.util.LinkedList`).
    pub fn called<'a>(&'a self, name: &'a str) -> impl Iterator<Item = NodeId> + 'a {
        let whole = |node: NodeId| self.path(node).into_iter().map(|n| self.name(n)).collect::<Vec<_>>().join(".");
        let is_called =
            move |&node: &NodeId| name.ends_with(self.name(node)) && (self.name(node) == name || whole(node) == name);
        self.nodes().filter(is_called)
    }

    /// The child with a role and name.
    pub fn child(&self, parent: NodeId, role: &str, name: &str) -> Option<NodeId> {
        let find = |name: &str| {
            let children = self.children(parent);
            let at = children.binary_search_by(|c| self.name(*c).cmp(name)).ok()?;
            Some(children[at]).filter(|c| self.role(*c) == role)
        };
        find(name).or_else(|| find(&told_apart(name, role)))
    }

    /// The node of each node of a tree that is part of this timeline. Objects that belong to a part in the middle of a
    /// joined chain are in the node of the whole chain.
    pub fn locate(&self, tree: &MemoryTree) -> Vec<Option<NodeId>> {
        // For each node: where it hangs, and the joined name so far when it is inside a chain.
        let mut found: Vec<(Option<NodeId>, NodeId, String)> = Vec::with_capacity(tree.len());
        for n in 0..tree.len() {
            let Some(parent) = tree.parent(n) else {
                found.push((Some(NodeId::ROOT), NodeId::ROOT, String::new()));
                continue;
            };
            let (_, above, prefix) = &found[parent];
            let role = tree.role(n);
            let name = match self.separators.iter().find(|(r, _)| r == role) {
                Some((_, separator)) if !prefix.is_empty() => format!("{prefix}{separator}{}", tree.name(n)),
                _ => tree.name(n).to_string(),
            };
            let above = *above;
            found.push(match self.child(above, role, &name) {
                Some(node) => (Some(node), node, String::new()),
                // All that its group ever has: no node of its own.
                None if found[parent].0.is_some() && tree.is_own(n) => found[parent].clone(),
                None => (None, above, name),
            });
        }
        let joined = |(n, (node, above, name)): (usize, (Option<NodeId>, NodeId, String))| {
            node.or_else(|| self.joined_chain(above, tree.role(n), &name))
        };
        found.into_iter().enumerate().map(joined).collect()
    }

    /// The child that is a chain of nodes of a role with this name when joined.
    fn joined_chain(&self, parent: NodeId, role: &str, name: &str) -> Option<NodeId> {
        let (_, separator) = self.separators.iter().find(|(r, _)| **r == *role)?;
        let begin = format!("{name}{separator}");
        let children = self.children(parent);
        let first = children.partition_point(|c| self.name(*c) < begin.as_str());
        let mut candidates = children[first..].iter().copied().take_while(|c| self.name(*c).starts_with(&begin));
        candidates.find(|c| self.role(*c) == role)
    }

    /// Roles of which nodes may lie below nodes of the same role.
    pub(crate) fn nested_roles(&self) -> impl Iterator<Item = &str> {
        self.nested_roles.iter().map(|role| &**role)
    }

    /// The name of a node. If it is not clear alone, it includes the name of the nearest node above from another classifier. That is so if
    /// leaves share it, and if it is a part of a hierarchy (`String › Main.main():7`).
    pub fn display_name(&self, node: NodeId) -> String {
        let hierarchy = self.nested_roles.contains(self.role(node));
        if !(hierarchy || self.shared_names.contains(&self.name[node.index()])) {
            return self.name(node).to_owned();
        }
        let above = std::iter::successors(self.parent(node), |&n| self.parent(n));
        match above.take_while(|&n| n != NodeId::ROOT).find(|&n| self.role(n) != self.role(node)) {
            Some(other) => format!("{} › {}", self.name(other), self.name(node)),
            None => self.name(node).to_owned(),
        }
    }

    /// The path for people: `Heap › Package: java.util › Type: HashMap$Node`.
    pub fn path_label(&self, node: NodeId) -> String {
        let mut label = self.name(NodeId::ROOT).to_owned();
        for n in self.path(node) {
            label.push_str(&format!(" › {}: {}", self.role(n), self.name(n)));
        }
        label
    }

    /// Objects and bytes of a node at time `t`; 0 where it is absent.
    #[inline]
    pub fn amount(&self, t: usize, node: NodeId) -> Amount {
        self.amounts.amount(t, node)
    }

    /// Max tree: the largest objects and the largest bytes over all times, each on its own.
    #[inline]
    pub fn max(&self, node: NodeId) -> Amount {
        self.max[node.index()]
    }

    /// Growth tree: last minus first.
    #[inline]
    pub fn growth(&self, node: NodeId, metric: Metric) -> i64 {
        self.growth_until(self.times().saturating_sub(1), node, metric)
    }

    /// The value at `t` minus the value at the first time.
    #[inline]
    pub fn growth_until(&self, t: usize, node: NodeId, metric: Metric) -> i64 {
        if self.times() == 0 {
            return 0;
        }
        let (now, first) = self.value_and_first(t, node, metric);
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        signed(now) - signed(first)
    }
}

impl NodeLink {
    /// The link to a node.
    pub fn new(timeline: &Timeline, node: NodeId) -> NodeLink {
        NodeLink { key: timeline.key(node), name: timeline.display_name(node), path: timeline.path_label(node) }
    }
}
