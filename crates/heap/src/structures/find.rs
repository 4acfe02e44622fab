//! The structures of a heap state.
//!
//! From each head, references are followed as the descriptions say, with a stack. Objects in one structure alone, which are most, have its
//! number; the others are remembered for one structure at a time. Versions of a persistent collection share most of their parts: the sum of
//! all structures is then far more than the heap. So the work for shared objects is limited. Beyond the limit, objects are still known to be
//! in several structures. The extent of a further structure that shares parts is a lower bound then, and marked so.
//!
//! Memory: 4 bytes and 3 bits an object, 28 bytes a head, and what the largest structure shares with others.

use super::rules::{Pointed, StructureRules};
use crate::error::Result;
use crate::ownership::Dominators;
use crate::prefetch::prefetch;
use crate::progress::Progress;
use crate::{BitSet, HeapState, ObjectId};
use rustc_hash::FxHashMap;

/// The structures of a heap state, and the objects in them.
pub struct FoundStructures {
    /// Ascending.
    heads: Vec<ObjectId>,
    extents: Vec<StructureExtent>,
    /// By object: 0 for none, the place of a head and 1, or [`SEVERAL`].
    holder: Vec<u32>,
    parts: BitSet,
}

/// The objects of a structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StructureExtent {
    /// Shallow bytes of the head and its parts.
    pub bytes: u64,
    /// Objects that are neither head nor leaf.
    pub parts: u32,
    /// Objects that are contents.
    pub leaves: u32,
    /// Parts that have a key or a value, as their descriptions say.
    pub entries: u32,
    /// False where these numbers are lower bounds.
    pub is_whole: bool,
}

/// The part that an object plays in structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StructureRole {
    /// It is the head of a structure.
    Head,
    /// It is a part of one or several.
    Part,
    /// It is contents of one or several, and a part of none.
    Leaf,
    /// It is in no structure.
    Outside,
}

/// The structures that an object is in. A head is not in its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// It is in none.
    Nothing,
    /// It is in the structure of this place among the heads.
    One(u32),
    /// It is in several.
    Several,
}

const SEVERAL: u32 = u32::MAX;
/// References that are prefetched together.
const RUN: usize = 32;

impl FoundStructures {
    /// Finds the structures whose heads are among these objects; all where it is `None`.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        heap: &HeapState,
        rules: &StructureRules<'_>,
        among: Option<&BitSet>,
        progress: &Progress,
    ) -> Result<FoundStructures> {
        // As often as all objects and references could be followed once more.
        let limit = 2 * (heap.object_count() + heap.reference_count()) as u64;
        FoundStructures::within(heap, rules, among, limit, progress)
    }

    pub(super) fn within(
        heap: &HeapState,
        rules: &StructureRules<'_>,
        among: Option<&BitSet>,
        limit: u64,
        progress: &Progress,
    ) -> Result<FoundStructures> {
        let (types, _) = heap.types_and_lengths();
        let numbers = 0..heap.types().len() as u32;
        let head_types: Vec<bool> = numbers.clone().map(|t| rules.is_head(crate::TypeId(t))).collect();
        let is_head =
            |o: &ObjectId| head_types[types[o.0 as usize] as usize] && among.is_none_or(|among| among.contains(o.0));
        let heads: Vec<ObjectId> = heap.objects().filter(is_head).collect();
        let mut walk = StructureWalk {
            heap,
            rules,
            types,
            has_entry: numbers.map(|t| rules.of(crate::TypeId(t)).is_some_and(|of| of.is_entry())).collect(),
            holder: vec![0; types.len()],
            parts: BitSet::new(types.len()),
            twice: BitSet::new(types.len()),
            thrice: BitSet::new(types.len()),
            shared: FxHashMap::default(),
            open: Vec::new(),
            left: limit,
        };
        let mut extents = Vec::with_capacity(heads.len());
        let mut followed = 0u64;
        for (number, &head) in (1u32..).zip(&heads) {
            extents.push(walk.structure(number, head, &mut followed, progress)?);
        }
        Ok(FoundStructures { heads, extents, holder: walk.holder, parts: walk.parts })
    }

    /// The heads, ascending.
    pub fn heads(&self) -> &[ObjectId] {
        &self.heads
    }

    /// The extents of the structures, in the order of their heads.
    pub fn extents(&self) -> &[StructureExtent] {
        &self.extents
    }

    /// The structures that an object is in.
    #[inline]
    pub fn holders_of(&self, o: ObjectId) -> HeldBy {
        match self.holder[o.0 as usize] {
            0 => HeldBy::Nothing,
            SEVERAL => HeldBy::Several,
            number => HeldBy::One(number - 1),
        }
    }

    /// Whether an object is a part of one structure or several; a head is none.
    #[inline]
    pub fn is_part(&self, o: ObjectId) -> bool {
        self.parts.contains(o.0)
    }

    /// The part that an object plays.
    #[inline]
    pub fn role_of(&self, o: ObjectId) -> StructureRole {
        match self.holder[o.0 as usize] {
            _ if self.heads.binary_search(&o).is_ok() => StructureRole::Head,
            0 => StructureRole::Outside,
            _ if self.parts.contains(o.0) => StructureRole::Part,
            _ => StructureRole::Leaf,
        }
    }

    /// By object: the place of the outermost head that alone keeps it alive, itself among them, and 1; 0 without one. No object is retained
    /// by two of these heads. A pass over the owners.
    pub fn outermost(&self, dominators: &Dominators) -> Vec<u32> {
        let mut outermost = vec![0; self.holder.len()];
        for (number, head) in (1..).zip(&self.heads) {
            outermost[head.0 as usize] = number;
        }
        for (o, owner) in dominators.top_down_with_owners() {
            if let Some(above @ 1..) = owner.map(|owner| outermost[owner.0 as usize]) {
                outermost[o.0 as usize] = above;
            }
        }
        outermost
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        4 * self.holder.len() + self.holder.len() / 8 + 28 * self.heads.len()
    }
}

/// The state of the search.
struct StructureWalk<'h> {
    heap: &'h HeapState,
    rules: &'h StructureRules<'h>,
    /// By object.
    types: &'h [u32],
    /// By type.
    has_entry: Vec<bool>,
    holder: Vec<u32>,
    parts: BitSet,
    /// Parts of two structures or more.
    twice: BitSet,
    /// Parts of three or more: all that follows from them is in several. Two are not enough: no head is in its own.
    thrice: BitSet,
    /// Objects of the structure at hand that others have too, and whether they are parts of this one.
    shared: FxHashMap<ObjectId, bool>,
    open: Vec<ObjectId>,
    /// How many more shared objects and references may be followed.
    left: u64,
}

impl StructureWalk<'_> {
    fn structure(
        &mut self,
        number: u32,
        head: ObjectId,
        followed: &mut u64,
        progress: &Progress,
    ) -> Result<StructureExtent> {
        let mut extent = StructureExtent { bytes: self.heap.size_of(head), is_whole: true, ..Default::default() };
        let columns = self.rules.columns();
        self.open.push(head);
        while let Some(o) = self.open.pop() {
            let row = self.rules.row(self.types[o.0 as usize]);
            let references = self.heap.references(o);
            for run in references.chunks(RUN) {
                *followed += 1;
                if followed.is_multiple_of(1 << 16) {
                    progress.check()?;
                }
                for target in run {
                    prefetch(self.types, target.0 as usize);
                    prefetch(&self.holder, target.0 as usize);
                }
                for &target in run.iter().filter(|target| **target != head) {
                    match row[columns[self.types[target.0 as usize] as usize] as usize] {
                        Pointed::Outside => (),
                        pointed => self.reach(number, target, pointed == Pointed::Part, &mut extent),
                    }
                }
            }
        }
        if self.shared.capacity() > 1000 {
            self.shared = FxHashMap::default();
        }
        self.shared.clear();
        Ok(extent)
    }

    fn reach(&mut self, number: u32, o: ObjectId, as_part: bool, extent: &mut StructureExtent) {
        let holder = &mut self.holder[o.0 as usize];
        let was_leaf = match *holder {
            // Only this structure has it.
            known if known == number => {
                if !as_part || self.parts.contains(o.0) {
                    return;
                }
                true
            }
            0 => {
                *holder = number;
                false
            }
            _ => {
                *holder = SEVERAL;
                match self.shared.insert(o, as_part) {
                    None => false,
                    Some(false) if as_part => true,
                    Some(was_part) => {
                        self.shared.insert(o, was_part);
                        return;
                    }
                }
            }
        };
        if !as_part {
            extent.leaves += 1;
            return;
        }
        extent.parts += 1;
        extent.leaves -= u32::from(was_leaf);
        extent.bytes += self.heap.size_of(o);
        extent.entries += u32::from(self.has_entry[self.types[o.0 as usize] as usize]);
        if self.parts.insert(o.0) {
            self.open.push(o);
            return;
        }
        let is_known = !self.twice.insert(o.0) && !self.thrice.insert(o.0);
        let work = 1 + self.heap.references(o).len() as u64;
        if is_known && self.left < work {
            extent.is_whole = false;
            return;
        }
        self.left = self.left.saturating_sub(work);
        self.open.push(o);
    }
}
