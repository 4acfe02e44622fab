//! The objects owned in the dominator tree, one by one or by type, as rows of a tree to unfold.

use super::state::InspectedHeap;
use super::unfold::RowList;
use crate::timeline::Amount;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::{ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The form of a list of owned objects; the largest retained size comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DominatedOrder {
    /// One by one.
    #[default]
    Objects,
    /// By type.
    Types,
}

/// Objects of one type that have the same owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DominatedType {
    /// Their type.
    pub of: TypeId,
    /// The objects, those that retain most first.
    pub objects: Arc<[ObjectId]>,
    /// The sum of their retained amounts, each alone.
    pub retained: Amount,
    /// Their shallow bytes.
    pub bytes: u64,
}

/// The objects owned by an object. Lists of objects are those of the dominator tree: nothing is copied.
#[derive(Clone)]
pub enum DominatedList {
    /// One by one; without an owner, the objects that roots hold.
    Owned(Arc<Dominators>, Option<ObjectId>),
    /// By type.
    Types(Arc<[DominatedType]>),
    /// The objects of a type.
    Listed(Arc<[ObjectId]>),
}

/// A row of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DominatedItem {
    /// An object.
    Object(ObjectId),
    /// The objects of a type.
    Type(DominatedType),
}

impl DominatedList {
    /// The objects owned by an object, or without one, those without an owner. One by one it costs only the dominator tree, by type a visit
    /// of each.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        inspected: &InspectedHeap<'_>,
        owner: Option<ObjectId>,
        order: DominatedOrder,
        progress: &Progress,
    ) -> Result<DominatedList> {
        let tree = inspected.dominators(progress)?;
        if order == DominatedOrder::Objects {
            return Ok(DominatedList::Owned(Arc::clone(tree), owner));
        }
        let heap = inspected.heap();
        progress.begin("Grouping by type", tree.owned_count(owner));
        let mut types: FxHashMap<TypeId, (Vec<ObjectId>, Amount, u64)> = FxHashMap::default();
        for (at, o) in tree.owned(owner).enumerate() {
            if at % (1 << 16) == 0 {
                progress.check()?;
                progress.advance(1 << 16);
            }
            let (objects, retained, bytes) = types.entry(heap.type_of(o)).or_default();
            objects.push(o);
            *retained += tree.retained(o);
            *bytes += heap.size_of(o);
        }
        let row = |(of, (objects, retained, bytes)): (TypeId, (Vec<ObjectId>, Amount, u64))| DominatedType {
            of,
            objects: objects.into(),
            retained,
            bytes,
        };
        let mut types: Vec<DominatedType> = types.into_iter().map(row).collect();
        types.sort_by_key(|t| (std::cmp::Reverse(t.retained.bytes), t.of));
        Ok(DominatedList::Types(types.into()))
    }

    /// A row.
    pub fn item(&self, at: u64) -> Option<DominatedItem> {
        let place = usize::try_from(at).ok()?;
        match self {
            DominatedList::Owned(tree, owner) => {
                tree.owned_between(*owner, at..at.checked_add(1)?).next().map(DominatedItem::Object)
            }
            DominatedList::Types(types) => types.get(place).cloned().map(DominatedItem::Type),
            DominatedList::Listed(objects) => objects.get(place).copied().map(DominatedItem::Object),
        }
    }
}

impl RowList for DominatedList {
    fn len(&self) -> u64 {
        match self {
            DominatedList::Owned(tree, owner) => tree.owned_count(*owner),
            DominatedList::Types(types) => types.len() as u64,
            DominatedList::Listed(objects) => objects.len() as u64,
        }
    }
}
