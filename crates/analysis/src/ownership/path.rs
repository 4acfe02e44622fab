//! The path from a GC root to one object: the objects between, with fields if the input has them.

use super::described::DescribedCollections;
use super::filling::{Filled, Filling};
use super::keys::keys;
use super::names::{best_root, type_name};
use super::thread_locals;
use crate::structures::registry::descriptions;
use crate::timeline::History;
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepGraph, KeepRules, ShortestPaths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, Profile, Root, RootKind};
use rustc_hash::FxHashMap;

/// A path from a GC root to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerPath {
    /// The root that holds the first object: `thread main, local variable of a.B.run()`.
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
    /// The key by which the object before it, an entry of a table, holds it: `$open_sessions`.
    pub key: Option<String>,
}

impl RootedStep {
    fn text(&self) -> String {
        let key = self.key.as_ref().map_or_else(String::new, |key| format!(" of {key:?}"));
        let field = self.field.as_ref().map_or_else(String::new, |field| format!("{field}{key}: "));
        format!("{field}{}", self.of)
    }

    /// True for a field that may follow itself: `next` of a node. It has no name where the input knows none.
    fn is_link(&self) -> bool {
        self.key.is_none() && self.field.as_ref().is_none_or(|field| !field.starts_with('['))
    }

    /// `next: a.Node (86 more)`.
    fn with_more(&self, more: usize) -> String {
        let text = self.text();
        if more == 0 { text } else { format!("{text} ({more} more)") }
    }
}

/// Steps beyond these are left out in the middle of a text, and counted.
const MOST_STEPS: usize = 14;

impl OwnerPath {
    /// True if another path, of another time, has the same fields: it then leads to the same place, if not to the same object. Elements of
    /// arrays and chains of a table may be anywhere.
    pub fn is_like(&self, other: &OwnerPath) -> bool {
        fn fields(path: &OwnerPath) -> impl Iterator<Item = &str> {
            let fields = path.steps.iter().filter_map(|step| step.field.as_deref());
            fields.filter(|field| !field.starts_with('[') && *field != "next")
        }
        fields(self).eq(fields(other))
    }

    /// Tells it from the paths of alike objects of one place: keys, fields and indices of lists and arrays, without places in maps and links of
    /// chains. Each with the number of its step.
    pub(crate) fn identity(&self, profile: &Profile) -> Vec<(String, usize)> {
        let last_key = self.steps.iter().rposition(|step| step.key.is_some()).unwrap_or(0);
        let is_map = |of: &str| profile.collections.maps.iter().any(|end| of.ends_with(end));
        // The array of a map is its table.
        let is_table = |at: usize| at > 1 && is_map(&self.steps[at - 2].of) && self.steps[at - 1].of.ends_with("[]");
        let part = |(at, step): (usize, &RootedStep)| {
            let field = step.field.as_ref()?;
            let is_place = field.starts_with('[') && (at < last_key || is_table(at));
            let is_link = at > 0 && self.steps[at - 1].of == step.of;
            match &step.key {
                Some(key) => Some((key.clone(), at)),
                None => Some((field.clone(), at)).filter(|_| !is_place && !is_link),
            }
        };
        self.steps.iter().enumerate().filter_map(part).collect()
    }

    /// The same without the last keys on it.
    pub fn without_last_keys(mut self, keys: usize) -> OwnerPath {
        let last = self.steps.iter_mut().rev().filter(|step| step.key.is_some()).take(keys);
        last.for_each(|step| step.key = None);
        self
    }

    /// The part that leads to a place with a type, and to its elements of another, if given: fields of these are no names of the place. Ends
    /// before the first element, or with it, without its key, if `with_element`: the key of one of many names none of the others. A variable, a thread or a thread local is no step: the path begins there.
    pub fn up_to(self, place: &str, element: Option<&str>, with_element: bool) -> OwnerPath {
        self.up_to_nth(place, 1, element, with_element)
    }

    /// The same with the place that is the `nth` of its type on the path; the first, where there are not so many.
    pub fn up_to_nth(mut self, place: &str, nth: usize, element: Option<&str>, with_element: bool) -> OwnerPath {
        let find = |of: &str, from: usize| self.steps[from..].iter().position(|step| step.of == of).map(|at| from + at);
        let end = match element {
            None => self.steps.iter().rposition(|step| step.of == place).map(|at| at + 1),
            Some(of) => {
                let all: Vec<usize> = (0..self.steps.len()).filter(|&at| self.steps[at].of == place).collect();
                let own = nth.checked_sub(1).and_then(|at| all.get(at)).or(all.first());
                let from = if place.contains(' ') { Some(0) } else { own.map(|at| at + 1) };
                from.and_then(|from| find(of, from)).map(|at| at + usize::from(with_element))
            }
        };
        if let (Some(_), Some(end), true) = (element, end, with_element) {
            self.steps[end - 1].key = None;
        }
        self.steps.truncate(end.unwrap_or(self.steps.len()));
        self
    }

    /// The part that leads to the first object of a type.
    pub fn up_to_first(mut self, of: &str) -> OwnerPath {
        let end = self.steps.iter().position(|step| step.of == of).map_or(self.steps.len(), |at| at + 1);
        self.steps.truncate(end);
        self
    }

    /// The same up to the last collection on it, if that lies behind the step of the place.
    pub fn up_to_filled(mut self, place: &str) -> OwnerPath {
        let last = |of: &str| self.steps.iter().rposition(|step| step.of == of);
        let filled = self.filled.as_ref().and_then(|filled| last(&filled.of));
        let from = self.steps.iter().position(|step| step.of == place).unwrap_or(0);
        if let Some(at) = filled.filter(|&at| at >= from.max(1)) {
            self.steps.truncate(at + 1);
        }
        self
    }

    /// The step of the last collection on it, if that lies before the step of the place.
    pub fn filled_above(&self, place: &str) -> Option<usize> {
        let last = |of: &str| self.steps.iter().rposition(|step| step.of == of);
        let filled = last(&self.filled.as_ref()?.of)?;
        Some(filled).filter(|filled| (1..last(place).unwrap_or(0)).contains(filled))
    }

    /// The steps, each with the number of equal ones that follow it: those of a chain are one. Elements of arrays are never a chain.
    fn folded(&self) -> Vec<(&RootedStep, usize)> {
        let mut folded: Vec<(&RootedStep, usize)> = Vec::new();
        for step in &self.steps {
            match folded.last_mut().filter(|(last, _)| *last == step && step.is_link()) {
                Some((_, more)) => *more += 1,
                None => folded.push((step, 0)),
            }
        }
        folded
    }

    /// For people, in one line.
    pub fn text(&self) -> String {
        let mut text = self.root.clone();
        let steps = self.folded();
        let (head, tail) = match steps.len() > MOST_STEPS {
            true => (MOST_STEPS / 2, steps.len() - MOST_STEPS / 2),
            false => (steps.len(), steps.len()),
        };
        for (i, &(step, more)) in steps.iter().enumerate() {
            if i == head && tail > head {
                let left_out = steps[head..tail].iter().map(|(_, more)| 1 + more).sum::<usize>();
                text.push_str(&format!(" → ({left_out} more)"));
            }
            if i >= head && i < tail {
                continue;
            }
            if !text.is_empty() {
                text.push_str(" → ");
            }
            text.push_str(&step.with_more(more));
        }
        text
    }

    /// For people, a line for the root and one for each step that a program's author knows: insides of collections stand behind it.
    pub fn short_lines(&self, profile: &Profile) -> Vec<String> {
        let mut lines: Vec<String> = Some(self.root.clone()).filter(|root| !root.is_empty()).into_iter().collect();
        let steps = self.folded();
        for (i, &(step, more)) in steps.iter().enumerate() {
            let is_inside = i > 0
                && (step.field.as_deref().is_none_or(|field| field.starts_with('['))
                    || profile.collections.covers(&steps[i - 1].0.of));
            let arrow = if lines.is_empty() { "" } else { "→ " };
            let step = step.with_more(more);
            match lines.last_mut().filter(|_| is_inside) {
                Some(line) => *line = format!("{line} → {step}"),
                None => lines.push(format!("{arrow}{step}")),
            }
        }
        lines
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
    let values = heaps.values(time, progress)?;
    let keys = match &values {
        Some(values) => keys(values, &pairs, progress)?,
        None => FxHashMap::default(),
    };
    let filled = filled_on(&heap, values.as_ref(), &ways, progress)?;
    let paths = ways.into_iter().zip(filled);
    Ok(paths.map(|(way, filled)| Some(path(&heap, &way?, filled, &mut fields, &keys))).collect())
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
    let ways = ways(&heap, rules, objects, progress)?;
    filled_on(&heap, heaps.values(time, progress)?.as_ref(), &ways, progress)
}

/// The last collection on each of some ways.
fn filled_on(
    heap: &HeapState,
    values: Option<&HeapValues>,
    ways: &[Option<Vec<ObjectId>>],
    progress: &Progress,
) -> Result<Vec<Option<Filled>>> {
    let filling = Filling::new(heap);
    let descriptions = descriptions(heap.profile())?;
    let described = DescribedCollections::on(ways, &filling, values, &descriptions, progress)?;
    let found = ways.iter().map(|way| filling.last_on(way.as_ref()?, &described)).collect();
    filling.with_own_sizes(values, &described, found, progress)
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
    match root.kind {
        RootKind::Own { .. } => root.text(),
        kind if root.detail.is_empty() => kind.title().to_owned(),
        kind => format!("{} ({})", root.detail, kind.title().to_lowercase()),
    }
}

fn path(
    heap: &HeapState,
    way: &[ObjectId],
    filled: Option<Filled>,
    fields: &mut impl Iterator<Item = Option<String>>,
    keys: &FxHashMap<(ObjectId, ObjectId), String>,
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
        Some(format!("class {}", type_name(heap, of)))
    };
    let steps = way
        .iter()
        .enumerate()
        .map(|(i, &o)| {
            let own = || {
                let name = type_name(heap, heap.type_of(o));
                thread_locals::common(heap, &[o]).map_or_else(|| name.to_owned(), |local| format!("{name} ({local})"))
            };
            let of = match heap.is_class_object(o) {
                true => class(o).unwrap_or_else(own),
                false => own(),
            };
            let key = i.checked_sub(1).and_then(|above| keys.get(&(way[above], o)).cloned());
            RootedStep { field: if i == 0 { None } else { fields.next().flatten() }, of, key }
        })
        .collect();
    OwnerPath { root, steps, filled }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grown object may be another one than at first. Its former size is reported only for the same fields.
    #[test]
    fn a_path_is_like_another_by_its_fields() {
        let path = |root: &str, steps: &[(&str, &str)]| OwnerPath {
            root: root.into(),
            steps: steps
                .iter()
                .map(|&(field, of)| RootedStep {
                    field: (!field.is_empty()).then(|| field.to_owned()),
                    of: of.to_owned(),
                    key: None,
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

    /// Fields of an element are no names of the place that has it.
    #[test]
    fn the_part_of_a_path_up_to_a_place_or_its_elements() {
        let types = ["class Net", "Timer", "Bucket[]", "Bucket", "Timeout", "Timeout", "Task", "Bucket"];
        let step = |of: &&str| RootedStep { field: None, of: (*of).to_owned(), key: None };
        let path = OwnerPath { root: String::new(), steps: types.iter().map(step).collect(), filled: None };
        for (place, element, with_element, steps) in [
            ("Bucket", Some("Timeout"), false, 4),
            ("Bucket", Some("Timeout"), true, 5),
            ("Timeout", None, true, 6),
            ("Bucket", Some("Other"), true, 8),
            ("Other", Some("Timeout"), true, 8),
            ("Other", None, true, 8),
            ("local variable of Net.run()", Some("Timer"), true, 2),
            ("thread local Net.CURRENT", Some("Task"), false, 6),
        ] {
            assert_eq!(path.clone().up_to(place, element, with_element).steps.len(), steps, "{place} {element:?}");
        }
        for (nth, steps) in [(1, 4), (2, 8), (3, 4)] {
            let path = path.clone().up_to_nth("Bucket", nth, Some("Timeout"), false);
            assert_eq!(path.steps.len(), steps, "{nth}");
        }
        for (of, steps) in [("Bucket", 4), ("Timeout", 5), ("Other", 8)] {
            assert_eq!(path.clone().up_to_first(of).steps.len(), steps, "{of}");
        }
        // The key of one element is no name of all, that of the place is.
        let mut keyed = path.clone();
        for at in [3, 4] {
            keyed.steps[at].key = Some("k".to_owned());
        }
        let keys = keyed.up_to("Bucket", Some("Timeout"), true).steps.into_iter().map(|step| step.key.is_some());
        assert_eq!(keys.collect::<Vec<_>>(), [false, false, false, true, false]);
        for (filled, place, steps) in [
            ("Bucket[]", "Timer", 3),
            ("Bucket[]", "shared by Net.a and Net.b", 3),
            ("Timer", "Timer", 2),
            ("Timer", "Timeout", 8),
            ("Map", "Timer", 8),
        ] {
            let filled_here = Filled { of: filled.into(), elements: 9, object: ObjectId(0) };
            let path = OwnerPath { filled: Some(filled_here), ..path.clone() };
            assert_eq!(path.up_to_filled(place).steps.len(), steps, "{filled} {place}");
        }
    }

    #[test]
    fn a_chain_is_one_step() {
        let step = |field: &str, of: &str| RootedStep { field: Some(field.into()), of: of.into(), key: None };
        let mut steps = vec![step("queue", "a.Queue"), step("head", "a.Node")];
        steps.extend((0..50).map(|_| step("next", "a.Node")));
        steps.extend([step("value", "a.Order[]"), step("[*]", "a.Order"), step("[*]", "a.Order")]);
        let path = OwnerPath { root: "thread main".into(), steps, filled: None };
        let chain = "next: a.Node (49 more) → value: a.Order[] → [*]: a.Order → [*]: a.Order";
        assert_eq!(path.text(), format!("thread main → queue: a.Queue → head: a.Node → {chain}"));
        let lines = path.short_lines(&Profile::PLAIN);
        assert!(lines.contains(&"→ next: a.Node (49 more)".to_owned()), "{lines:?}");
        assert_eq!(path.lines().len(), 56, "here none is left out");
        let unnamed = |of: &str| RootedStep { field: None, of: of.into(), key: None };
        let steps = ["a.Queue", "a.Node", "a.Node", "a.Node", "a.Order"].map(unnamed).to_vec();
        let path = OwnerPath { root: "thread main".into(), steps, filled: None };
        assert_eq!(path.text(), "thread main → a.Queue → a.Node (2 more) → a.Order");
    }

    #[test]
    fn long_paths_are_shortened_in_the_middle() {
        let step = |n: usize| RootedStep { field: Some(format!("f{n}")), of: format!("T{n}"), key: None };
        let path = OwnerPath { root: "thread main".into(), steps: (0..20).map(step).collect(), filled: None };
        let text = path.text();
        assert!(text.starts_with("thread main → f0: T0 → ") && text.ends_with(" → f19: T19"), "{text}");
        assert!(text.contains(" → f6: T6 → (6 more) → f13: T13"), "{text}");
        let lines = path.lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[10].as_str()), (21, "thread main", "f9: T9"));
    }
}
