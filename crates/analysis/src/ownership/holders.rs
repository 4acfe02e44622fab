//! Sets of objects by name, their retained size, and the places of their objects.
//!
//! The set of a type is all its objects, that of a place all objects there and below. The retained size of the set is exact. It is neither
//! a sum over its objects nor the total of a place, which leaves out objects that several places below share with others.

use super::OwnerTree;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepRules, ObjectClosures};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use std::sync::Arc;

/// A path of owners for people, from the top down: `com.acme.Cache.entries › java.util.HashMap`.
pub(crate) fn place_text(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if let [class, field, rest @ ..] = &names[..]
        && let (Some(class), Some(field)) = (class.strip_prefix("class "), field.strip_prefix("static "))
    {
        let top = format!("{class}.{field}");
        return std::iter::once(&*top).chain(rest.iter().copied()).collect::<Vec<_>>().join(" › ");
    }
    names.join(" › ")
}

/// The objects of a name in a heap state.
pub(crate) struct NamedObjects {
    /// How many roots reach, and their shallow bytes.
    pub amount: Amount,
    /// The amount that would be freed with all of them.
    pub retained: Amount,
    /// The places where most of them are, and how many, the most first.
    pub places: Vec<(String, u64)>,
    /// Places beyond these.
    pub more_places: u64,
}

/// Places that are named.
const PLACES: usize = 3;

/// The objects of the type or place of a name; `None` where there is no such type or place in the heap state.
///
/// Places are called as [`place_text`] calls them; `>` will do for `›`.
///
/// # Errors
/// When cancelled.
pub(crate) fn named_objects(
    heap: &HeapState,
    tree: &OwnerTree,
    rules: KeepRules,
    name: &str,
    progress: &Progress,
) -> Result<Option<NamedObjects>> {
    let n = heap.object_count();
    let mut set = BitSet::new(n);
    let of_type: Vec<bool> =
        heap.types().iter().map(|t| &*t.name == name || heap.profile().names.stable(&t.name) == name).collect();
    if of_type.contains(&true) {
        for o in heap.objects().filter(|&o| of_type[heap.type_of(o).0 as usize]) {
            set.insert(o.0);
        }
    } else {
        let place = name.replace(" > ", " › ");
        let mut inside = vec![false; tree.nodes().len()];
        for node in 1..inside.len() as u32 {
            // Parents come before their children.
            let above = tree.nodes()[node as usize].parent;
            inside[node as usize] = inside[above as usize] || is_place(tree, node, &place);
        }
        if !inside.contains(&true) {
            return Ok(None);
        }
        for o in heap.objects().filter(|&o| inside[tree.of(o) as usize]) {
            set.insert(o.0);
        }
    }
    describe(heap, tree, rules, set, progress).map(Some)
}

/// The retained amount of a set of objects, and their places.
///
/// # Errors
/// When cancelled.
pub(crate) fn describe(
    heap: &HeapState,
    tree: &OwnerTree,
    rules: KeepRules,
    mut objects: BitSet,
    progress: &Progress,
) -> Result<NamedObjects> {
    let closures = ObjectClosures::new(heap, rules, progress)?;
    let mut dead = objects.clone();
    dead.subtract(closures.live());
    objects.subtract(&dead);
    let retained = closures.amount(&closures.of(&objects, progress)?.retained);
    let amount = closures.amount(&objects);
    let mut counts = vec![0u64; tree.nodes().len()];
    for o in objects.iter() {
        counts[tree.of(ObjectId(o)) as usize] += 1;
    }
    let mut found: Vec<(u64, u32)> = counts.iter().zip(0..).filter(|(n, _)| **n > 0).map(|(n, at)| (*n, at)).collect();
    found.sort_unstable_by_key(|&(n, at)| (std::cmp::Reverse(n), at));
    let more_places = found.len().saturating_sub(PLACES) as u64;
    let text = |&(n, at): &(u64, u32)| (place_text(&tree.path(at)), n);
    let places = found.iter().take(PLACES).map(text).collect();
    Ok(NamedObjects { amount, retained, places, more_places })
}

/// Whether a node is called so. Compared from the end, so that few paths are made.
fn is_place(tree: &OwnerTree, node: u32, place: &str) -> bool {
    let name: &Arc<str> = &tree.nodes()[node as usize].name;
    let ending = name.strip_prefix("static ").unwrap_or(name);
    place.ends_with(ending) && place_text(&tree.path(node)) == place
}
