//! Where the number of elements, the room, and keys and values stand, as the values of objects show.

use super::type_edges::{elements, is_own_array};
use memory_city_formats::values::{DetailLimits, FieldValue, HeapValues, NamedValue, ObjectContents, ObjectDetails};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, TypeId, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Objects of a type whose values are read.
pub(super) const SAMPLE: usize = 200;
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

/// A head, and its elements in several ways of counting: nodes, nodes that hold something, and what they hold. Elements of arrays are all of
/// these.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedHead {
    pub object: ObjectId,
    pub counts: [u64; 3],
}

/// The rank of a field by its name, of several that fit: changes are counted too, and are as many where nothing was taken away.
fn likeness_to_size(path: &str) -> usize {
    let name = path.to_lowercase();
    ["size", "count", "length"]
        .iter()
        .position(|word| name == *word || name.starts_with(&format!("{word}.")))
        .unwrap_or(match () {
            () if name.contains("mod") => 5,
            () if name.contains("size") || name.contains("count") => 3,
            () => 4,
        })
}

/// The fields of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeFields {
    pub key: Option<String>,
    pub value: Option<String>,
    /// Whether it refers to anything that is no node.
    pub has_contents: bool,
}

fn fields(details: &ObjectDetails) -> &[NamedValue] {
    match &details.contents {
        ObjectContents::Instance(fields) => fields,
        _ => &[],
    }
}

/// At most [`SAMPLE`] of some objects, from all over.
pub(super) fn sample<T: Copy>(objects: &[T]) -> Vec<T> {
    objects.iter().copied().step_by(objects.len().div_ceil(SAMPLE).max(1)).collect()
}

/// The fields of some heads with as many elements each. `is_node` says which types their nodes have; without it, elements are what is in arrays.
///
/// # Errors
/// When cancelled.
pub(super) fn head_fields(
    values: &HeapValues,
    heads: &[CountedHead],
    is_node: Option<&dyn Fn(TypeId) -> bool>,
    progress: &Progress,
) -> Result<HeadFields> {
    let heap: &HeapState = values.heap();
    let objects: Vec<ObjectId> = heads.iter().map(|head| head.object).collect();
    let all = values.details(&objects, DetailLimits::default(), progress)?;
    // The number of a queue for several threads is an object of its own.
    let counters: BTreeSet<ObjectId> =
        all.iter().flat_map(fields).filter_map(|field| field.value.object()).filter(|&o| is_small(heap, o)).collect();
    let counters: Vec<ObjectId> = counters.into_iter().collect();
    let counters: BTreeMap<ObjectId, (String, i64)> = values
        .details(&counters, DetailLimits::default(), progress)?
        .iter()
        .filter_map(|details| match fields(details) {
            [only] => Some((details.object, (only.name.to_string(), only.value.integer()?))),
            _ => None,
        })
        .collect();
    let mut found = HeadFields::default();
    // By field and way of counting: how many heads it has the number of elements of, and how many where it is not less.
    let mut fits: BTreeMap<(usize, String), (usize, usize)> = BTreeMap::new();
    let mut holding: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    for (details, head) in all.iter().zip(heads) {
        for field in fields(details) {
            let number = match field.value {
                FieldValue::Object(o) => counters.get(&o).map(|(name, n)| (format!("{}.{name}", field.name), *n)),
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
    let most = holding.iter().max_by_key(|(_, count)| **count);
    found.declared_by = most.map(|((class, _), _)| class.clone());
    let arrays: BTreeSet<&String> = holding.keys().filter_map(|(_, array)| array.as_ref()).collect();
    found.array = arrays.first().filter(|_| arrays.len() == 1).map(|name| (*name).clone());
    let tells = |way: usize| {
        let counts: BTreeSet<u64> = heads.iter().map(|head| head.counts[way]).collect();
        counts.len() > 1 || counts.first().is_some_and(|count| *count >= TELLS)
    };
    // An element that comes twice is one reference: then there are more elements than that.
    let fits_all = |(equal, more): (usize, usize)| more == heads.len() && 4 * equal >= 3 * heads.len();
    let all_fit = fits.iter().filter(|((way, _), fits)| fits_all(**fits) && tells(*way));
    found.size = all_fit.map(|((_, name), _)| name).min_by_key(|name| likeness_to_size(name)).cloned();
    Ok(found)
}

fn holds_any(heap: &HeapState, array: ObjectId, is_node: Option<&dyn Fn(TypeId) -> bool>) -> bool {
    let mut inside = Vec::new();
    elements(heap, array, &mut inside);
    inside.iter().any(|&o| is_node.is_none_or(|is_node| is_node(heap.type_of(o))))
}

/// Whether an object may be a counter: it refers to nothing.
fn is_small(heap: &HeapState, o: ObjectId) -> bool {
    heap.types()[heap.type_of(o).0 as usize].kind == TypeKind::Instance
        && heap.references(o).iter().all(|&target| heap.is_class_object(target))
}

/// The fields of some nodes. `is_inside` says which types are nodes and heads of the structure.
///
/// # Errors
/// When cancelled.
pub(super) fn node_fields(
    values: &HeapValues,
    nodes: &[ObjectId],
    is_inside: &dyn Fn(TypeId) -> bool,
    progress: &Progress,
) -> Result<NodeFields> {
    let heap: &HeapState = values.heap();
    let mut inside = Vec::new();
    // In the order in which they are declared.
    let mut contents: Vec<(String, usize)> = Vec::new();
    for details in values.details(nodes, DetailLimits::default(), progress)? {
        for field in fields(&details) {
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
    }
    // Few nodes have what nothing is kept by: a lock, a comparator.
    let often = |(_, count): &&(String, usize)| count * 2 >= nodes.len();
    let named: Vec<&String> = contents.iter().filter(often).map(|(name, _)| name).collect();
    let begins = |name: &String, words: &[&str]| words.iter().any(|word| name.to_lowercase().starts_with(word));
    let key = named.iter().find(|name| name.to_lowercase().contains("key") || begins(name, &["referent"]));
    let key = key.or_else(|| named.iter().find(|name| named.len() > 1 && begins(name, &["name"])));
    let others = || named.iter().filter(|name| Some(*name) != key);
    let value = others().find(|name| begins(name, &["val", "item", "elem", "data"])).or_else(|| others().next());
    let (key, value) = (key.map(|name| (*name).clone()), value.map(|name| (*name).clone()));
    Ok(NodeFields { key, value, has_contents: !contents.is_empty() })
}

/// The field by which most of some objects hold one of a type, with the class that declares it.
///
/// # Errors
/// When cancelled.
pub(super) fn wrapping_field(
    values: &HeapValues,
    objects: &[ObjectId],
    is_it: &dyn Fn(TypeId) -> bool,
    progress: &Progress,
) -> Result<Option<(String, String)>> {
    let heap: &HeapState = values.heap();
    let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
    for details in values.details(objects, DetailLimits::default(), progress)? {
        for field in
            fields(&details).iter().filter(|field| field.value.object().is_some_and(|o| is_it(heap.type_of(o))))
        {
            *found.entry((field.class.to_string(), field.name.to_string())).or_default() += 1;
        }
    }
    Ok(found.into_iter().max_by_key(|(_, count)| *count).map(|(field, _)| field))
}
