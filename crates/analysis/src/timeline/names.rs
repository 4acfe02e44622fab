//! Distinct names for the nodes of a list. They are display names if those differ, else as much of the path as needed, with the middle left
//! out. Variants put numbers into words ([`worded`]), drop parts that are the same in many ([`brief`]), or limit the length
//! ([`shortened`]).

use super::key::NodeId;
use super::nodes::Timeline;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// Stands for names that are left out.
const LEFT_OUT: &str = "…";

impl Timeline {
    /// A name for each of some nodes, no two alike unless they are one node. If display names repeat (many places of owners are called
    /// `String`), they begin with the top of their path and end with as many of the nearest names as needed: `com.acme.Cache.entries › … ›
    /// java.util.HashMap › java.lang.String`. O(nodes × depth).
    pub fn names_apart(&self, nodes: &[NodeId]) -> Vec<String> {
        let mut names: Vec<String> = nodes.iter().map(|&node| self.display_name(node)).collect();
        let mut alike: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            alike.entry(name).or_default().push(at);
        }
        let is_several = |of: &Vec<usize>| of.iter().any(|&at| nodes[at] != nodes[of[0]]);
        let alike: Vec<Vec<usize>> = alike.into_values().filter(is_several).collect();
        for of in alike {
            let paths: Vec<Vec<String>> = of.iter().map(|&at| self.place(nodes[at])).collect();
            let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
            let distinct = of.iter().map(|&at| nodes[at]).collect::<HashSet<_>>().len();
            let with = |near: usize| -> Vec<String> { paths.iter().map(|path| elided(path, near)).collect() };
            let near = (1..=longest).find(|&near| with(near).iter().collect::<HashSet<_>>().len() == distinct);
            for (at, name) in of.into_iter().zip(with(near.unwrap_or(longest))) {
                names[at] = name;
            }
        }
        names
    }

    /// The order of the keys of two nodes ([`Timeline::key`]), none of which is made. O(depth), and the length of the first name that differs.
    pub(crate) fn cmp_keys(&self, a: NodeId, b: NodeId) -> Ordering {
        let (a, b) = (self.path(a), self.path(b));
        let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        self.key_bytes(&a[same..]).cmp(self.key_bytes(&b[same..]))
    }

    /// What these nodes add to a key.
    fn key_bytes(&self, nodes: &[NodeId]) -> impl Iterator<Item = u8> {
        nodes.iter().flat_map(|&node| {
            let escaped = self.name(node).bytes().flat_map(|byte| {
                let escape = (byte == b'#' || byte == b'\\').then_some(b'\\');
                escape.into_iter().chain([byte])
            });
            std::iter::once(b'#').chain(escaped)
        })
    }

    /// The names from the top down; of a class and its field, one.
    fn place(&self, node: NodeId) -> Vec<String> {
        let names: Vec<&str> = self.path(node).into_iter().map(|n| self.name(n)).collect();
        if let [class, field, rest @ ..] = &names[..]
            && let (Some(class), Some(field)) = (class.strip_prefix("class "), field.strip_prefix("static "))
        {
            let top = format!("{class}.{field}");
            return std::iter::once(top).chain(rest.iter().map(|&name| name.to_owned())).collect();
        }
        names.into_iter().map(str::to_owned).collect()
    }
}

/// The first name, and the last `near` of the others.
fn elided(path: &[String], near: usize) -> String {
    let Some((top, rest)) = path.split_first() else { return String::new() };
    let left_out = rest.len().saturating_sub(near);
    let mut parts = vec![top.as_str()];
    // One name is no longer than what would stand for it.
    if left_out > 1 {
        parts.push(LEFT_OUT);
        parts.extend(rest[left_out..].iter().map(String::as_str));
    } else {
        parts.extend(rest.iter().map(String::as_str));
    }
    parts.join(" › ")
}

/// A name or path with indices of bytecode in words: `copyOf(char[], int):1` becomes `copyOf(char[], int) at bytecode 1`. Keys keep the
/// plain form.
pub fn worded(text: &str) -> String {
    let mut parts = text.split("):");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let digits = part.starts_with(|c: char| c.is_ascii_digit());
        out.push_str(if digits { ") at bytecode " } else { "):" });
        out.push_str(part);
    }
    out
}

/// A name without common parts: packages, and the parameters of methods. `java.lang.String › java.util.Arrays.copyOf(char[], int):1`
/// becomes `String › Arrays.copyOf@1`.
pub fn brief(name: &str) -> String {
    let part = |text: &str| {
        let (class, text) = match text.strip_prefix("class ") {
            Some(name) => ("class ", name),
            None => ("", text),
        };
        let (path, rest) = match text.split_once('(') {
            Some((path, rest)) if !path.is_empty() => (path, rest.split_once(')').map_or("", |(_, after)| after)),
            _ => (text, ""),
        };
        // Packages begin in lower case, and so do methods: what follows the first class is kept.
        let mut start = 0;
        for segment in path.split('.') {
            let next = start + segment.len() + 1;
            let package =
                segment.starts_with(char::is_lowercase) && segment.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !package || next > path.len() {
                break;
            }
            start = next;
        }
        // An index of bytecode shall not read like the number of a line.
        let index = rest.strip_prefix(':').filter(|index| index.bytes().all(|b| b.is_ascii_digit()));
        match index {
            Some(index) => format!("{class}{}@{index}", &path[start..]),
            None => format!("{class}{}{rest}", &path[start..]),
        }
    };
    name.split(" › ")
        .map(|names| names.split(" ‹ ").map(part).collect::<Vec<_>>().join(" ‹ "))
        .collect::<Vec<_>>()
        .join(" › ")
}

/// A text shortened in the middle, so that both the package and the class stay readable.
pub fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most || most < 5 {
        return text.to_owned();
    }
    let tail = (most - 1) * 2 / 3;
    let head = most - 1 - tail;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::{brief, shortened, worded};
    use crate::group::MemoryTree;
    use crate::timeline::{NodeId, TimePoint, Timeline};
    use memory_city_heap::Amount;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn timeline(paths: &[Vec<String>]) -> Timeline {
        let mut tree = MemoryTree::new();
        for path in paths {
            let mut at = 0;
            for name in path {
                at = tree.child(at, &"Owner".into(), &name.as_str().into());
            }
            tree.add(at, Amount { objects: 1, bytes: 8 });
        }
        Timeline::from_trees(vec![TimePoint::default()], &[tree])
    }

    fn named(paths: &[&[&str]]) -> Vec<String> {
        let paths: Vec<Vec<String>> = paths.iter().map(|p| p.iter().map(|&n| n.to_owned()).collect()).collect();
        let timeline = timeline(&paths);
        let nodes: Vec<NodeId> =
            paths.iter().map(|path| timeline.find(&format!("Heap#{}", path.join("#"))).expect("a node")).collect();
        timeline.names_apart(&nodes)
    }

    #[test]
    fn nodes_have_the_order_of_their_keys() {
        let paths = [
            &["a", "b"][..],
            &["a b"],
            &["a"],
            &["a", "b#c"],
            &["a", "b", "c"],
            &["a\\", "b"],
            &["a!"],
            &["é", "z"],
            &["a#b"],
        ];
        let paths: Vec<Vec<String>> = paths.map(|path| path.iter().map(|&name| name.to_owned()).collect()).to_vec();
        let timeline = timeline(&paths);
        for a in timeline.nodes() {
            for b in timeline.nodes() {
                let (one, other) = (timeline.key(a), timeline.key(b));
                assert_eq!(timeline.cmp_keys(a, b), one.cmp(&other), "{one} and {other}");
            }
        }
    }

    #[test]
    fn an_index_of_bytecode_does_not_read_like_a_line() {
        let path = "Type: char[] › Allocation Site: a.B.f(int):12 ‹ a.C.g():7";
        assert_eq!(worded(path), "Type: char[] › Allocation Site: a.B.f(int) at bytecode 12 ‹ a.C.g() at bytecode 7");
        assert_eq!(worded("a.B.f(): x"), "a.B.f(): x");
        assert_eq!(worded("a.B.f() line 12"), "a.B.f() line 12");
    }

    #[test]
    fn as_much_of_the_path_as_it_takes() {
        let names = named(&[
            &["class a.Cache", "static entries", "Map", "Entry", "String"],
            &["class a.Cache", "static entries", "Map", "Key", "String"],
            &["class a.Shop", "static names", "Map", "Entry", "String"],
            &["class a.Shop", "static names", "List"],
        ]);
        assert_eq!(
            names,
            [
                "a.Cache.entries › Map › Entry › String",
                "a.Cache.entries › Map › Key › String",
                "a.Shop.names › Map › Entry › String",
                "List",
            ]
        );
        let top = named(&[&["class a.A", "static f", "X", "Y", "Z", "String"], &["thread b", "X", "Y", "Z", "String"]]);
        assert_eq!(top, ["a.A.f › … › String", "thread b › … › String"]);
    }

    #[test]
    fn brief_names_keep_what_tells() {
        for (name, expected) in [
            ("java.lang.String › java.util.Arrays.copyOf(char[], int):1", "String › Arrays.copyOf@1"),
            ("char[] › a.B.<init>(int):2 ‹ c.D.run():7", "char[] › B.<init>@2 ‹ D.run@7"),
            ("java.util.HashMap$Node[]", "HashMap$Node[]"),
            ("class a.b.Registry › … › java.lang.String", "class Registry › … › String"),
            ("Main", "Main"),
            ("main", "main"),
            ("VM internal", "VM internal"),
            ("(unknown site)", "(unknown site)"),
            ("Survived 16 to 31 › byte[]", "Survived 16 to 31 › byte[]"),
        ] {
            assert_eq!(brief(name), expected);
        }
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("short", 10), "short");
        assert_eq!(shortened("java.util.concurrent.ConcurrentHashMap$Node", 20).chars().count(), 20);
        assert!(shortened("java.util.concurrent.ConcurrentHashMap$Node", 20).ends_with("HashMap$Node"));
    }

    proptest! {
        #[test]
        fn no_two_nodes_are_called_alike(paths in prop::collection::vec(prop::collection::vec(0u8..3, 1..6), 1..20)) {
            let paths: Vec<Vec<String>> = paths.iter().map(|p| p.iter().map(|n| format!("n{n}")).collect()).collect();
            let timeline = timeline(&paths);
            let nodes: Vec<NodeId> = timeline.nodes().filter(|&n| n != NodeId::ROOT).collect();
            let mut seen: HashMap<String, NodeId> = HashMap::new();
            for (name, &node) in timeline.names_apart(&nodes).into_iter().zip(&nodes) {
                prop_assert!(name.ends_with(timeline.name(node)));
                if let Some(other) = seen.insert(name.clone(), node) {
                    prop_assert_eq!(other, node, "{}", name);
                }
            }
        }
    }
}
