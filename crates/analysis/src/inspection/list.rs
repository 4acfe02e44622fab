//! The objects of a set in some order: numbers alone, so that twenty million objects are 80 MB and no text. The text of a row is read when
//! it is in sight.

use super::state::InspectedHeap;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;

/// The order of objects, the largest first; equal ones by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectOrder {
    /// Shallow bytes.
    Size,
    /// By retained size.
    Retained,
    /// Garbage collections that it survived: the oldest first.
    Age,
    /// The lowest address first.
    Address,
}

impl ObjectOrder {
    /// All of them.
    pub const ALL: [ObjectOrder; 4] =
        [ObjectOrder::Size, ObjectOrder::Retained, ObjectOrder::Age, ObjectOrder::Address];

    /// Its name in parameters.
    pub fn id(self) -> &'static str {
        match self {
            ObjectOrder::Size => "size",
            ObjectOrder::Retained => "retained",
            ObjectOrder::Age => "age",
            ObjectOrder::Address => "address",
        }
    }

    /// The order of a name; by size where there is none of it.
    pub fn of(id: &str) -> ObjectOrder {
        Self::ALL.into_iter().find(|order| order.id() == id).unwrap_or(ObjectOrder::Size)
    }
}

/// GCs that an object survived; 0 if unknown.
pub(crate) fn age(heap: &HeapState, o: ObjectId) -> u64 {
    heap.facts(o).life.map_or(0, |life| u64::from(life.age))
}

/// The objects of a set, in an order.
#[derive(Clone, Debug)]
pub struct ObjectList {
    objects: Vec<ObjectId>,
    amount: Amount,
    order: ObjectOrder,
    one_type: Option<TypeId>,
}

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 18;

impl ObjectList {
    /// Lists the objects of a set. Time and memory are linear in the set: 4 bytes an object, 8 while it is sorted. By retained size it also
    /// needs the dominator tree.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        inspected: &InspectedHeap<'_>,
        set: &BitSet,
        order: ObjectOrder,
        progress: &Progress,
    ) -> Result<ObjectList> {
        let heap = &**inspected.heap();
        let dominators = match order {
            ObjectOrder::Retained => Some(inspected.dominators(progress)?),
            _ => None,
        };
        progress.begin("Listing objects", 0);
        let mut objects: Vec<ObjectId> = Vec::with_capacity(set.count());
        let mut amount = Amount::default();
        let mut types: (Option<TypeId>, bool) = (None, true);
        for (at, o) in set.iter().map(ObjectId).enumerate() {
            if at % CHECKED == 0 {
                progress.check()?;
            }
            amount += Amount { objects: 1, bytes: heap.size_of(o) };
            let of = heap.type_of(o);
            types.1 &= *types.0.get_or_insert(of) == of;
            objects.push(o);
        }
        let objects = match (order, dominators) {
            (ObjectOrder::Address, _) => objects,
            (ObjectOrder::Retained, Some(tree)) => by_key(objects, |o| tree.retained(o).bytes, progress)?,
            (ObjectOrder::Age, _) => by_key(objects, |o| age(heap, o), progress)?,
            _ => by_key(objects, |o| heap.size_of(o), progress)?,
        };
        Ok(ObjectList { objects, amount, order, one_type: types.0.filter(|_| types.1) })
    }

    /// The objects.
    pub fn objects(&self) -> &[ObjectId] {
        &self.objects
    }

    /// How many, and their shallow bytes.
    pub fn amount(&self) -> Amount {
        self.amount
    }

    /// Their order.
    pub fn order(&self) -> ObjectOrder {
        self.order
    }

    /// Their type, where all are of one.
    pub fn one_type(&self) -> Option<TypeId> {
        self.one_type
    }
}

/// Sorts objects by a key, the largest first, stable. Keys repeat: there are few sizes among millions of objects. So they are counted, and
/// each object is put into its place: two passes, whatever the number of objects.
fn by_key(objects: Vec<ObjectId>, key: impl Fn(ObjectId) -> u64, progress: &Progress) -> Result<Vec<ObjectId>> {
    let mut start: FxHashMap<u64, usize> = FxHashMap::default();
    for run in objects.chunks(CHECKED) {
        progress.check()?;
        run.iter().for_each(|&o| *start.entry(key(o)).or_default() += 1);
    }
    let mut keys: Vec<u64> = start.keys().copied().collect();
    keys.sort_unstable_by(|a, b| b.cmp(a));
    let mut next = 0;
    for key in keys {
        if let Some(count) = start.get_mut(&key) {
            let here = next;
            next += *count;
            *count = here;
        }
    }
    let mut sorted = vec![ObjectId(0); objects.len()];
    for run in objects.chunks(CHECKED) {
        progress.check()?;
        for &o in run {
            if let Some(place) = start.get_mut(&key(o)) {
                sorted[*place] = o;
                *place += 1;
            }
        }
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn objects_come_as_a_stable_sort_puts_them(keys in prop::collection::vec(0u64..6, 0..200)) {
            let objects: Vec<ObjectId> = (0..keys.len() as u32).map(ObjectId).collect();
            let key = |o: ObjectId| keys[o.0 as usize];
            let mut expected = objects.clone();
            expected.sort_by_key(|&o| (std::cmp::Reverse(key(o)), o));
            prop_assert_eq!(by_key(objects, key, &Progress::new()).expect("not cancelled"), expected);
        }
    }
}
