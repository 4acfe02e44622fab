//! Facts about objects: those that classifiers read, and those that inputs know.

use memory_city_heap::HeapState;

bitflags::bitflags! {
    /// Properties of objects. A classifier declares those it reads; an input knows some of them.
    ///
    /// The facts that a classifier reads decide its cost. Objects that are equal in all of [`Reads::BY_CLASS`] are classified once for all,
    /// and over a trace only changes are classified. Other facts are read for every object, or for every shape, on all cores; for traces
    /// also of every heap state, which is replayed for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Reads: u32 {
        /// The type: its name, whether it is an array, its class loader.
        const TYPE = 1;
        /// The parents of the class loader.
        const LOADERS = 1 << 1;
        /// Whether it is an array of at least [`BIG_ARRAY`](memory_city_heap::BIG_ARRAY) elements.
        const BIG_ARRAY = 1 << 2;
        /// Where it was allocated.
        const SITE = 1 << 3;
        /// The allocating thread.
        const THREAD = 1 << 4;
        /// The allocating subsystem.
        const SUBSYSTEM = 1 << 5;
        /// The kind of space it is in.
        const SPACE = 1 << 6;
        /// GCs survived. It changes with time alone: such a grouping is made anew at every step of a trace.
        const AGE = 1 << 7;
        /// The number of elements of an array, exactly.
        const LENGTH = 1 << 8;
        /// Shallow bytes, exactly.
        const SIZE = 1 << 9;
        /// Identity of the object: number, address, identity over time.
        const ID = 1 << 10;
        /// The objects it refers to, with their declared facts.
        const REFERENCES = 1 << 11;
        /// The objects that refer to it, likewise.
        const REFERRERS = 1 << 12;
        /// The GC roots that hold it directly.
        const ROOTS = 1 << 13;
        /// The object that stands for its class.
        const CLASS_OBJECT = 1 << 14;
        /// Whether any GC root reaches it. A grouping that asks looks at all objects, also at those that none reaches.
        const REACHABLE = 1 << 15;
        /// The parts of its bytes: header, fields, references.
        const FIELDS = 1 << 16;

        /// How it was made and lives: known of objects of traces only.
        const LIFE = Self::THREAD.bits() | Self::SUBSYSTEM.bits() | Self::SPACE.bits() | Self::AGE.bits();
        /// Facts that objects of one type share with objects of the same origin.
        const BY_CLASS = Self::TYPE.bits() | Self::LOADERS.bits() | Self::BIG_ARRAY.bits() | Self::SITE.bits() | Self::LIFE.bits();
        /// Facts that follow from type and length for all objects but few: those are counted by [shape](super::shapes).
        const BY_SHAPE = Self::TYPE.bits() | Self::LOADERS.bits() | Self::BIG_ARRAY.bits() | Self::LENGTH.bits() | Self::SIZE.bits() | Self::ROOTS.bits() | Self::REACHABLE.bits();
        /// Facts of each object alone.
        const BY_OBJECT = !Self::BY_CLASS.bits() & 0x1ffff;
    }
}

/// Their names for people.
const NAMES: [(Reads, &str); 17] = [
    (Reads::TYPE, "types"),
    (Reads::LOADERS, "the parents of class loaders"),
    (Reads::BIG_ARRAY, "which arrays are big"),
    (Reads::SITE, "allocation sites"),
    (Reads::THREAD, "allocating threads"),
    (Reads::SUBSYSTEM, "allocating subsystems"),
    (Reads::SPACE, "heap spaces"),
    (Reads::AGE, "how many collections objects survived"),
    (Reads::LENGTH, "array lengths"),
    (Reads::SIZE, "sizes"),
    (Reads::ID, "the identity of objects"),
    (Reads::REFERENCES, "references between objects"),
    (Reads::REFERRERS, "references between objects"),
    (Reads::ROOTS, "GC roots"),
    (Reads::CLASS_OBJECT, "class objects"),
    (Reads::REACHABLE, "which objects a GC root reaches"),
    (Reads::FIELDS, "what the bytes of objects are for"),
];

impl Reads {
    /// True if every object must be visited.
    pub fn by_object(self) -> bool {
        self.intersects(Reads::BY_OBJECT)
    }

    /// The facts that a heap state knows. Constant time, except for the question whether it has allocation sites.
    pub fn known_of(heap: &HeapState) -> Reads {
        let mut known = Reads::TYPE | Reads::BIG_ARRAY | Reads::LENGTH | Reads::SIZE | Reads::ID;
        let mut add = |reads, is_known| known.set(reads, is_known);
        add(Reads::LIFE, heap.origins().is_some());
        add(Reads::SITE, heap.has_sites());
        // A dump without a single reference is strange, a trace without any was recorded so.
        add(Reads::REFERENCES | Reads::REFERRERS, heap.origins().is_none() || heap.reference_count() > 0);
        add(Reads::ROOTS, !heap.roots().is_empty());
        add(Reads::REACHABLE, heap.origins().is_some() || !heap.roots().is_empty());
        add(Reads::LOADERS, !heap.loaders().all.is_empty());
        add(Reads::FIELDS, !heap.type_sizes().fields.is_empty());
        add(Reads::CLASS_OBJECT, heap.has_class_objects());
        known
    }

    /// For people: `array lengths, GC roots`.
    pub fn names(self) -> String {
        let mut names: Vec<&str> = NAMES.iter().filter(|(r, _)| self.contains(*r)).map(|(_, name)| *name).collect();
        names.dedup();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_has_a_name_and_belongs_to_a_class_or_to_an_object() {
        assert_eq!(Reads::BY_CLASS | Reads::BY_OBJECT, Reads::all());
        assert!((Reads::BY_CLASS & Reads::BY_OBJECT).is_empty());
        let named = NAMES.iter().fold(Reads::empty(), |all, (r, _)| all | *r);
        assert_eq!(named, Reads::all());
        assert_eq!(
            (Reads::REFERENCES | Reads::REFERRERS | Reads::ROOTS).names(),
            "references between objects, GC roots"
        );
    }
}
