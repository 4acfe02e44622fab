//! The tree of one time, as columns.

use super::fields::shortened;
use super::scalars::ABSENT;
use std::borrow::Cow;

/// The tree of one time in document order. Names without escapes are slices of the file.
#[derive(Default)]
pub(super) struct NodeColumns<'de> {
    pub parent: Vec<u32>,
    pub name: Vec<Cow<'de, str>>,
    /// Numbers of `roles`, [`NO_ROLE`] where none is given.
    pub role: Vec<u32>,
    pub roles: Vec<Cow<'de, str>>,
    /// As long as the others once a node has a key, empty until then.
    pub key: Vec<Option<Cow<'de, str>>>,
    /// [`ABSENT`] where not given.
    pub objects: Vec<u64>,
    /// [`ABSENT`] where not given.
    pub bytes: Vec<u64>,
}

/// The node has no role.
pub(super) const NO_ROLE: u32 = u32::MAX;

impl<'de> NodeColumns<'de> {
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    pub fn clear(&mut self) {
        self.parent.clear();
        self.name.clear();
        self.role.clear();
        self.roles.clear();
        self.key.clear();
        self.objects.clear();
        self.bytes.clear();
    }

    pub fn open(&mut self, parent: u32) -> usize {
        let me = self.parent.len();
        self.parent.push(parent);
        self.name.push(Cow::Borrowed(""));
        self.role.push(NO_ROLE);
        self.objects.push(ABSENT);
        self.bytes.push(ABSENT);
        if !self.key.is_empty() {
            self.key.push(None);
        }
        me
    }

    pub fn set_role(&mut self, node: usize, role: Cow<'de, str>) {
        // Neighbours have the same role mostly; a tree has few, but it may have as many as it has nodes.
        let near = self.role.get(node.wrapping_sub(1)).copied().filter(|&r| r != NO_ROLE);
        let known = near.into_iter().chain((0..self.roles.len() as u32).rev().take(8));
        let found = known.into_iter().find(|&r| self.roles[r as usize] == role);
        self.role[node] = found.unwrap_or_else(|| {
            self.roles.push(role);
            self.roles.len() as u32 - 1
        });
    }

    pub fn set_key(&mut self, node: usize, key: Cow<'de, str>) {
        if self.key.is_empty() {
            self.key.resize(self.parent.len(), None);
        }
        self.key[node] = Some(key);
    }

    /// The role of a node.
    pub fn role(&self, node: usize) -> Option<&str> {
        self.roles.get(self.role[node] as usize).map(|r| &**r)
    }

    /// Bytes of the paths of all nodes together: of each its name and those above it. O(nodes).
    pub fn path_bytes(&self) -> u64 {
        path_bytes(self.parent.iter().copied().zip(self.name.iter().map(|name| name.len())))
    }

    /// The path of a node within the document.
    pub fn path(&self, node: usize) -> String {
        let mut steps = Vec::new();
        let mut at = node;
        while at != 0 {
            let parent = self.parent[at];
            steps.push(self.parent[parent as usize + 1..at].iter().filter(|&&p| p == parent).count());
            at = parent as usize;
            if steps.len() > 24 {
                let level =
                    std::iter::successors(Some(node), |&n| (n != 0).then(|| self.parent[n] as usize)).count() - 1;
                return format!("tree…, {level} levels deep, a node called {:?}", shortened(&self.name[node], 80));
            }
        }
        steps.iter().rev().fold(String::from("tree"), |path, step| format!("{path}.children[{step}]"))
    }
}

/// Bytes of the paths of all nodes, by their parents, which come first, and the lengths of their names.
pub fn path_bytes(nodes: impl ExactSizeIterator<Item = (u32, usize)>) -> u64 {
    let mut paths: Vec<u64> = Vec::with_capacity(nodes.len());
    for (parent, name) in nodes {
        let above = paths.get(parent as usize).copied().unwrap_or(0);
        paths.push(above.saturating_add(name as u64 + 1));
    }
    paths.iter().fold(0, |all, path| all.saturating_add(*path))
}
