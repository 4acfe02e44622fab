//! Where the number of elements, the room, keys and values stand, as the values of some objects show.

use super::nodes::is_instance;
use super::type_edges::{elements, is_own_array};
use memory_city_formats::values::{DetailLimits, FieldValue, HeapValues, NamedValue, ObjectContents, ObjectDetails};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, TypeId, TypeKind};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A number that is the same for all says where the number of elements stands if it is at least this: a small one may be chance.
const TELLS: u64 = 8;

/// The fields of a head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeadFields {
    /// The class that declares the field with the elements.
    pub declared_by: Option<String>,
    /// The field with an array of its own.
    pub array: Option<String>,
    /// Where the number of elements stands.
    pub size: Option<String>,
}

/// The fields of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeFields {
    pub key: Option<String>,
    pub value: Option<String>,
    /// Whether it refers to anything that is no node.
    pub has_contents: bool,
}

/// A head, and its elements in several ways of counting: nodes, nodes that hold something, and what they hold. Elements of arrays are all of
/// these.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedHead {
    pub object: ObjectId,
    pub counts: [u64; 3],
}

/// The contents of some objects, and of counters that they refer to: the number of a queue for several threads is an object of its own.
#[derive(Default)]
pub(super) struct ReadObjects {
    known: FxHashMap<ObjectId, ObjectDetails>,
    /// The only field of a counter, and its number.
    counters: FxHashMap<ObjectId, (String, i64)>,
}

impl ReadObjects {
    /// Two scans of the values, however many objects are read.
    ///
    /// # Errors
    /// When cancelled.
    pub fn read(values: &HeapValues, objects: BTreeSet<ObjectId>, progress: &Progress) -> Result<ReadObjects> {
        let heap: &HeapState = values.heap();
        let all = |objects: BTreeSet<ObjectId>| {
            let objects: Vec<ObjectId> = objects.into_iter().collect();
            values.details(&objects, DetailLimits::default(), progress)
        };
        let known = all(objects)?;
        let is_small = |&o: &ObjectId| {
            is_instance(heap, heap.type_of(o)) && heap.references(o).iter().all(|&to| heap.is_class_object(to))
        };
        let held = known.iter().flat_map(fields).filter_map(|field| field.value.object());
        let counters = all(held.filter(is_small).collect())?;
        let number = |details: &ObjectDetails| match fields(details) {
            [only] => Some((details.object, (only.name.to_string(), only.value.integer()?))),
            _ => None,
        };
        let counters = counters.iter().filter_map(number).collect();
        Ok(ReadObjects { known: known.into_iter().map(|details| (details.object, details)).collect(), counters })
    }

    /// The fields of an object that was read; else none.
    fn fields(&self, o: ObjectId) -> &[NamedValue] {
        self.known.get(&o).map_or(&[], fields)
    }

    /// The fields of some heads with as many elements each. `is_node` says which types their nodes have; without it, elements are what is in
    /// arrays.
    pub fn of_heads(
        &self,
        heap: &HeapState,
        heads: &[CountedHead],
        is_node: Option<&dyn Fn(TypeId) -> bool>,
    ) -> HeadFields {
        // By field and way of counting: how many heads it has the number of elements of, and how many where it is not less.
        let mut fits: BTreeMap<(usize, String), (usize, usize)> = BTreeMap::new();
        let mut holding: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
        for head in heads {
            for field in self.fields(head.object) {
                let number = match field.value {
                    FieldValue::Object(o) => {
                        self.counters.get(&o).map(|(name, n)| (format!("{}.{name}", field.name), *n))
                    }
                    value => value.integer().map(|n| (field.name.to_string(), n)),
                };
                if let Some((name, n)) = number {
                    for (way, &count) in head.counts.iter().enumerate() {
                        let fits = fits.entry((way, name.clone())).or_default();
                        fits.0 += usize::from(u64::try_from(n) == Ok(count));
                        fits.1 += usize::from(u64::try_from(n).is_ok_and(|n| n >= count));
                    }
                }
                let Some(o) = field.value.object() else { continue };
                let is_array = heap.types()[heap.type_of(o).0 as usize].kind == TypeKind::ObjectArray;
                let holds = match is_array {
                    true => is_own_array(heap, o) && holds_any(heap, o, is_node),
                    false => is_node.is_some_and(|is_node| is_node(heap.type_of(o))),
                };
                if holds {
                    let name = is_array.then(|| field.name.to_string());
                    *holding.entry((field.class.to_string(), name)).or_default() += 1;
                }
            }
        }
        let declared_by = holding.iter().max_by_key(|(_, count)| **count).map(|((class, _), _)| class.clone());
        let arrays: BTreeSet<&String> = holding.keys().filter_map(|(_, array)| array.as_ref()).collect();
        let array = arrays.first().filter(|_| arrays.len() == 1).map(|name| (*name).clone());
        let tells = |way: usize| {
            let counts: BTreeSet<u64> = heads.iter().map(|head| head.counts[way]).filter(|n| *n > 0).collect();
            counts.len() > 1 || counts.first().is_some_and(|count| *count >= TELLS)
        };
        // An element that comes twice is one reference: then there are more elements than that.
        let fits_all = |(equal, more): (usize, usize)| more == heads.len() && 4 * equal >= 3 * heads.len();
        let all_fit = fits.iter().filter(|((way, name), fits)| fits_all(**fits) && tells(*way) && is_plain(name));
        let size = all_fit.map(|((_, name), _)| name).min_by_key(|name| likeness_to_size(name)).cloned();
        HeadFields { declared_by, array: array.filter(|name| is_plain(name)), size }
    }

    /// The fields of some nodes. `is_inside` says which types are nodes and heads of the structure.
    pub fn of_nodes(&self, heap: &HeapState, nodes: &[ObjectId], is_inside: &dyn Fn(TypeId) -> bool) -> NodeFields {
        let mut inside = Vec::new();
        // In the order in which they are declared.
        let mut contents: Vec<(String, usize)> = Vec::new();
        for field in nodes.iter().flat_map(|&node| self.fields(node)) {
            let Some(o) = field.value.object() else { continue };
            let is_link = match heap.types()[heap.type_of(o).0 as usize].kind {
                TypeKind::ObjectArray if is_own_array(heap, o) => {
                    elements(heap, o, &mut inside);
                    inside.iter().any(|&o| is_inside(heap.type_of(o)))
                }
                _ => is_inside(heap.type_of(o)),
            };
            match contents.iter_mut().find(|(name, _)| **name == *field.name) {
                _ if is_link => (),
                Some((_, count)) => *count += 1,
                None => contents.push((field.name.to_string(), 1)),
            }
        }
        // A field that few nodes fill has no element.
        let often = |(name, count): &&(String, usize)| count * 2 >= nodes.len() && is_plain(name);
        let named: Vec<&String> = contents.iter().filter(often).map(|(name, _)| name).collect();
        let begins = |name: &String, words: &[&str]| words.iter().any(|word| name.to_lowercase().starts_with(word));
        let key = named.iter().find(|name| name.to_lowercase().contains("key"));
        let key = key.or_else(|| named.iter().find(|name| named.len() > 1 && begins(name, &["name"])));
        let others = || named.iter().filter(|name| Some(*name) != key);
        let value = others().find(|name| begins(name, &["val", "item", "elem", "data"])).or_else(|| others().next());
        let (key, value) = (key.map(|name| (*name).clone()), value.map(|name| (*name).clone()));
        NodeFields { key, value, has_contents: !contents.is_empty() }
    }

    /// The field by which most of some objects hold one of a type, with the class that declares it.
    pub fn wrapping(
        &self,
        heap: &HeapState,
        objects: &[ObjectId],
        is_it: &dyn Fn(TypeId) -> bool,
    ) -> Option<(String, String)> {
        let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
        for field in objects.iter().flat_map(|&o| self.fields(o)) {
            if field.value.object().is_some_and(|o| is_it(heap.type_of(o))) && is_plain(&field.name) {
                *found.entry((field.class.to_string(), field.name.to_string())).or_default() += 1;
            }
        }
        found.into_iter().max_by_key(|(_, count)| *count).map(|(field, _)| field)
    }
}

fn fields(details: &ObjectDetails) -> &[NamedValue] {
    match &details.contents {
        ObjectContents::Instance(fields) => fields,
        _ => &[],
    }
}

/// Whether the language takes a path of fields as it is.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && path.len() < 1000 && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
}

/// The rank of a field by its name, of several that fit: changes are counted too, and are as many where nothing was taken away.
fn likeness_to_size(path: &str) -> usize {
    let name = path.to_lowercase();
    let is_word = |word: &&str| name == **word || name.strip_prefix(*word).is_some_and(|rest| rest.starts_with('.'));
    match ["size", "count", "length"].iter().position(is_word) {
        Some(at) => at,
        None if name.contains("mod") => 5,
        None if name.contains("size") || name.contains("count") => 3,
        None => 4,
    }
}

fn holds_any(heap: &HeapState, array: ObjectId, is_node: Option<&dyn Fn(TypeId) -> bool>) -> bool {
    let mut inside = Vec::new();
    elements(heap, array, &mut inside);
    inside.iter().any(|&o| is_node.is_none_or(|is_node| is_node(heap.type_of(o))))
}
