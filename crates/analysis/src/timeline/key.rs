//! Nodes of a timeline, and the texts that they are found by.

/// A node of a timeline. Node 0 is the root, the whole heap. Parents come before their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The whole heap.
    pub const ROOT: NodeId = NodeId(0);
    /// The number as an index into columns.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The key of a path of names, the first of which is that of the root.
pub(crate) fn key_of(names: &[&str]) -> String {
    names.iter().map(|name| escape(name)).collect::<Vec<_>>().join("#")
}

pub(super) fn escape(name: &str) -> String {
    name.replace('\\', "\\\\").replace('#', "\\#")
}

/// The names that a key is made of, from the heap down; those of levels without a name are empty.
pub fn names_of_key(key: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = key.chars();
    while let Some(c) = chars.next() {
        match c {
            '#' => names.push(String::new()),
            '\\' => names.last_mut().into_iter().for_each(|n| n.extend(chars.next())),
            c => names.last_mut().into_iter().for_each(|n| n.push(c)),
        }
    }
    names
}

/// The name of a node that shares its name, but not its role, with a sibling: a package `a.b` beside a class `a.b`.
pub(super) fn told_apart(name: &str, role: &str) -> String {
    format!("{name} ({role})")
}
