//! Lists of the VM that hold what watches living objects.

use super::leak_example::most_often;
use super::leak_sentence::place_text;
use crate::ownership::{Accumulation, Elements, OwnerHistory};
use crate::tabular::{bytes_text, count_text};
use memory_city_heap::ownership::Dominators;
use memory_city_heap::{BitSet, HeapState, ObjectId, Strength, TypeId};

/// Most objects between an action and the object it is to clear away.
const MOST_OWNERS: usize = 16;

/// The objects watched by cleaners and finalizers, where all of them are alive. The VM lists the watchers until the watched object is gone. So
/// the watched objects matter, not the list. Objects that watchers alone keep belong to the watchers: an action may refer to the object it clears
/// away.
pub(super) fn watched(
    heap: &HeapState,
    dominators: &Dominators,
    history: &OwnerHistory,
    point: &Accumulation,
) -> Option<String> {
    // They are the elements, or what these hang on: a cleaner has an action.
    let places = match &point.elements {
        Elements::Below(below) if below.len() == 1 => vec![below[0], point.place],
        Elements::Below(_) | Elements::Own => vec![point.place],
        Elements::Larger => return None,
    };
    let is_of_vm = |of: TypeId| {
        let name = &heap.types()[of.0 as usize].name;
        let known = &heap.profile().types;
        known.references.iter().chain(known.cleaners).any(|of| name.starts_with(of))
    };
    let largest = places.into_iter().filter_map(|place| history.places()[place as usize].largest());
    let of = largest.map(|(o, _)| heap.type_of(o)).find(|&of| is_of_vm(of))?;
    let name = &heap.types()[of.0 as usize].name;
    // Those of this place alone: the program may have others, which are as they should be.
    let (holder, _) = history.places()[point.place as usize].largest()?;
    let is_element = matches!(point.elements, Elements::Own);
    let here = match if is_element { dominators.owner(holder) } else { Some(holder) } {
        Some(holder) => owned_by(heap, dominators, holder),
        None => BitSet::full(heap.object_count()),
    };
    let here = || heap.referents().all().iter().filter(|r| heap.type_of(r.from) == of && here.contains(r.from.0));
    let owners = |o: ObjectId| std::iter::successors(dominators.owner(o), |&up| dominators.owner(up)).take(MOST_OWNERS);
    let (mut all, mut alive) = (0u64, 0u64);
    for referent in here() {
        let waits = matches!(referent.strength, Strength::Phantom | Strength::Finalizer);
        all += 1;
        let by_itself = || owners(referent.to).any(|owner| owner == referent.from);
        alive += u64::from(waits && heap.is_reachable(referent.to) && !by_itself());
    }
    // The first of a list may watch nothing.
    let (about, _) = most_often(heap, here()).filter(|_| 10 * alive >= 9 * all.max(1))?;
    Some(format!(
        "{} holds {} {name} (+{}) for as long as what they watch is alive, most often {about}: they are no leak of their own.",
        place_text(history, point.place),
        count_text(all),
        bytes_text(point.bytes.1.saturating_sub(point.bytes.0)),
    ))
}

/// An object and all that it owns.
fn owned_by(heap: &HeapState, dominators: &Dominators, o: ObjectId) -> BitSet {
    let mut owned = BitSet::new(heap.object_count());
    let mut open = vec![o];
    while let Some(o) = open.pop() {
        owned.insert(o.0);
        open.extend(dominators.owned(Some(o)));
    }
    owned
}
