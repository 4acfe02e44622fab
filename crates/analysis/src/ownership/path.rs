//! How an object hangs on its GC root: the objects between, by fields where the input knows them.

use super::filling::{Filled, Filling};
use super::names::{best_root, type_name};
use super::thread_locals;
use crate::timeline::History;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepGraph, KeepRules, ShortestPaths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, Root};

/// A path from a GC root to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerPath {
    /// What holds the first object: `thread main, local variable of a.B.run()`.
    pub root: String,
    /// The objects by type, each with the field of the one before it that refers to it: `sessions`, `[*]`.
    pub steps: Vec<RootedStep>,
    /// The last collection on it.
    pub filled: Option<Filled>,
}

/// An object of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootedStep {
    /// The field of the object before it, where that is known.
    pub field: Option<String>,
    /// The type of this one.
    pub of: String,
}

impl RootedStep {
    fn text(&self) -> String {
        self.field.iter().map(|field| format!("{field}: ")).chain([self.of.clone()]).collect()
    }
}

/// Steps beyond these are left out in the middle of a text, and counted.
const MOST_STEPS: usize = 14;

impl OwnerPath {
    /// Whether another one, of another time, goes by the same fields: what it leads to is then the same place, if not the same object.
    /// Elements of arrays and chains of a table are anywhere.
    pub fn is_like(&self, other: &OwnerPath) -> bool {
        fn fields(path: &OwnerPath) -> impl Iterator<Item = &str> {
            let fields = path.steps.iter().filter_map(|step| step.field.as_deref());
            fields.filter(|field| !field.starts_with('[') && *field != "next")
        }
        fields(self).eq(fields(other))
    }

    /// For people, in one line.
    pub fn text(&self) -> String {
        let mut text = self.root.clone();
        let (head, tail) = match self.steps.len() > MOST_STEPS {
            true => (MOST_STEPS / 2, self.steps.len() - MOST_STEPS / 2),
            false => (self.steps.len(), self.steps.len()),
        };
        for (i, step) in self.steps.iter().enumerate() {
            if i == head && tail > head {
                text.push_str(&format!(" → ({} more)", tail - head));
            }
            if i >= head && i < tail {
                continue;
            }
            if !text.is_empty() {
                text.push_str(" → ");
            }
            text.push_str(&step.text());
        }
        text
    }

    /// For people, a line for the root and one for each step: none is left out.
    pub fn lines(&self) -> Vec<String> {
        let root = Some(self.root.clone()).filter(|root| !root.is_empty());
        root.into_iter().chain(self.steps.iter().map(RootedStep::text)).collect()
    }
}

/// A shortest path to each of some objects at a point in time. One search and one scan of the values for all.
///
/// # Errors
/// When the state cannot be loaded again, or the work was cancelled.
pub fn owner_paths(
    heaps: &History,
    time: usize,
    rules: KeepRules,
    objects: &[Option<ObjectId>],
    progress: &Progress,
) -> Result<Vec<Option<OwnerPath>>> {
    if objects.iter().all(Option::is_none) {
        return Ok(vec![None; objects.len()]);
    }
    let heap = heaps.heap(time, progress)?;
    let ways = ways(&heap, rules, objects, progress)?;
    let pairs: Vec<(ObjectId, ObjectId)> =
        ways.iter().flatten().flat_map(|way| way.windows(2).map(|pair| (pair[0], pair[1]))).collect();
    let fields = heaps.fields(time, &pairs, progress)?;
    let mut fields = fields.into_iter();
    let filling = Filling::new(&heap);
    Ok(ways.into_iter().map(|way| way.map(|way| path(&heap, &filling, &way, &mut fields))).collect())
}

/// The last collection on a shortest path to each of some objects at a point in time.
///
/// # Errors
/// As [`owner_paths`].
pub(crate) fn filled(
    heaps: &History,
    time: usize,
    rules: KeepRules,
    objects: &[Option<ObjectId>],
    progress: &Progress,
) -> Result<Vec<Option<Filled>>> {
    if objects.iter().all(Option::is_none) {
        return Ok(vec![None; objects.len()]);
    }
    let heap = heaps.heap(time, progress)?;
    let filling = Filling::new(&heap);
    let ways = ways(&heap, rules, objects, progress)?;
    Ok(ways.into_iter().map(|way| filling.last_on(&way?)).collect())
}

/// The objects of a shortest path to each of some objects that roots reach.
fn ways(
    heap: &HeapState,
    rules: KeepRules,
    objects: &[Option<ObjectId>],
    progress: &Progress,
) -> Result<Vec<Option<Vec<ObjectId>>>> {
    let mut wanted = BitSet::new(heap.object_count());
    for o in objects.iter().flatten() {
        wanted.insert(o.0);
    }
    let shortest = ShortestPaths::new(&KeepGraph::new(heap, rules), Some(&wanted), progress)?;
    let way = |o: &Option<ObjectId>| {
        let o = (*o).filter(|&o| shortest.is_reached(o))?;
        let mut way: Vec<ObjectId> = std::iter::successors(Some(o), |&o| shortest.keeper(o)).collect();
        way.reverse();
        Some(way)
    };
    Ok(objects.iter().map(way).collect())
}

/// The root itself, with the name of its thread and the line.
fn root_text(root: &Root) -> String {
    match root.detail.is_empty() {
        true => root.kind.title().to_owned(),
        false => format!("{} ({})", root.detail, root.kind.title().to_lowercase()),
    }
}

fn path(
    heap: &HeapState,
    filling: &Filling<'_>,
    way: &[ObjectId],
    fields: &mut impl Iterator<Item = Option<String>>,
) -> OwnerPath {
    let root = match way.first() {
        // A class says where it is by itself.
        Some(&o) if heap.is_class_object(o) => String::new(),
        Some(&o) => best_root(heap, o, |_| true).map_or_else(|| "the VM".to_owned(), root_text),
        None => String::new(),
    };
    let class = |o: ObjectId| {
        let mirrors = (0..heap.types().len() as u32).map(memory_city_heap::TypeId);
        let of = mirrors.into_iter().find(|&t| heap.mirror_of(t) == Some(o))?;
        Some(format!("class {}", type_name(&heap.types()[of.0 as usize])))
    };
    let steps = way
        .iter()
        .enumerate()
        .map(|(i, &o)| {
            let own = || {
                let name = type_name(&heap.types()[heap.type_of(o).0 as usize]);
                thread_locals::common(heap, &[o]).map_or_else(|| name.to_owned(), |local| format!("{name} ({local})"))
            };
            let of = match heap.is_class_object(o) {
                true => class(o).unwrap_or_else(own),
                false => own(),
            };
            RootedStep { field: if i == 0 { None } else { fields.next().flatten() }, of }
        })
        .collect();
    OwnerPath { root, steps, filled: filling.last_on(way) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What grew may be another object than at first; how large that was is told where it hung at the same fields, and nowhere else.
    #[test]
    fn a_path_is_like_another_by_its_fields() {
        let path = |root: &str, steps: &[(&str, &str)]| OwnerPath {
            root: root.into(),
            steps: steps
                .iter()
                .map(|&(field, of)| RootedStep {
                    field: (!field.is_empty()).then(|| field.to_owned()),
                    of: of.to_owned(),
                })
                .collect(),
            filled: None,
        };
        let now =
            path("", &[("", "class Shop"), ("carts", "java.util.HashMap"), ("table", "Node[]"), ("[17]", "Node")]);
        for (other, expected, why) in [
            (
                path("", &[("", "class Shop"), ("carts", "java.util.HashMap"), ("table", "Node[]")]),
                true,
                "no element yet",
            ),
            (
                path(
                    "",
                    &[
                        ("", "class Shop"),
                        ("carts", "java.util.TreeMap"),
                        ("table", "Node[]"),
                        ("[3]", "Node"),
                        ("next", "Node"),
                    ],
                ),
                true,
                "another element, further down a chain, of another kind of map",
            ),
            (path("main", &[("", "Shop"), ("carts", "java.util.HashMap"), ("table", "Node[]")]), true, "another root"),
            (
                path("", &[("", "class Shop"), ("orders", "java.util.HashMap"), ("table", "Node[]")]),
                false,
                "another map",
            ),
            (path("", &[("", "class Shop"), ("carts", "java.util.HashMap")]), false, "the map itself"),
            (path("", &[]), false, "nothing"),
        ] {
            assert_eq!(now.is_like(&other), expected, "{why}");
            assert_eq!(other.is_like(&now), expected, "{why}");
        }
    }

    #[test]
    fn long_paths_are_shortened_in_the_middle() {
        let step = |n: usize| RootedStep { field: Some(format!("f{n}")), of: format!("T{n}") };
        let path = OwnerPath { root: "thread main".into(), steps: (0..20).map(step).collect(), filled: None };
        let text = path.text();
        assert!(text.starts_with("thread main → f0: T0 → ") && text.ends_with(" → f19: T19"), "{text}");
        assert!(text.contains(" → f6: T6 → (6 more) → f13: T13"), "{text}");
        let lines = path.lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[10].as_str()), (21, "thread main", "f9: T9"));
    }
}
