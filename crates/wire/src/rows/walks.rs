//! Rows of walks: the heap at one point in time. A walk is a start, objects, further facts about them, and an end with counts; it is
//! complete only with its end. Objects have keys, see [`ObjectNaming`].

use super::{choices, row};

choices! {
    /// The kind of key for the objects of a walk.
    ObjectNaming {
        /// The place in the list, from 0.
        Order = 0 "order",
        /// Ids that objects keep for life, which are in the list.
        Id = 1 "id",
    }
}

row! {
    /// The beginning of a walk.
    WalkStartRow in WALK_START {
        /// Its number in the stream.
        walk: u32 = 1 Delta,
        /// When.
        time: u64 = 2 Delta,
        /// The last collection before it, by its number.
        gc: Option<u64> = 3 Plain,
        /// Collections that have ended, from the first: the age of objects born before all of them.
        gcs: u32 = 4 Plain,
        /// The keys of objects: 0 their order in the list, from 0; 1 ids, which are in the list.
        naming: ObjectNaming = 5 Plain,
        /// Objects start at multiples of so many bytes, a power of two, and arrays end there.
        alignment: u32 = 6 Plain,
        /// Bytes of a reference; 0 where not known.
        reference: u32 = 7 Plain,
        /// Whether all objects of the list are alive, whatever the roots say.
        all_alive: bool = 8 Plain,
        /// Whether addresses are in the list.
        has_addresses: bool = 9 Plain,
        /// Whether references are.
        has_references: bool = 10 Plain,
        /// Whether roots are.
        has_roots: bool = 11 Plain,
        /// A label for people; empty where nothing is better than its number.
        label: String = 12 Text,
        /// When the heap was so, milliseconds since the Unix epoch; none where the start of the run says.
        taken: Option<u64> = 13 Plain,
        /// Whether it was taken at the start of that collection, not after its end.
        before_gc: bool = 14 Plain,
        /// A note for people.
        note: String = 15 Text,
        /// Addresses are written in units of so many bytes, a power of two; 0 means 1.
        unit: u32 = 16 Plain,
    }
}

row! {
    /// References that are not in the list of objects: of objects with very many, and where they were found in another order.
    WalkReferenceRow in WALK_REFERENCES {
        /// The walk.
        walk: u32 = 1 Delta,
        /// The object that refers.
        from: u64 = 2 Delta,
        /// The object it refers to.
        to: u64 = 3 Delta,
    }
}

row! {
    /// A GC root.
    WalkRootRow in WALK_ROOTS {
        /// The walk.
        walk: u32 = 1 Delta,
        /// The object it keeps alive.
        object: u64 = 2 Delta,
        /// 1 class loader, 2 static field, 3 thread, 4 local variable, 5 compiled code, 6 JNI, 7 JVMTI, 8 monitor,
        /// 9 management, 10 other.
        kind: u32 = 3 Plain,
        /// Further detail, a string for people.
        detail: Option<u32> = 4 Plain,
        /// The thread.
        thread: Option<u32> = 5 Plain,
        /// The method that holds it.
        method: Option<u32> = 6 Plain,
        /// The line.
        line: Option<u32> = 7 Plain,
        /// The class whose static field it is.
        class: Option<u32> = 8 Plain,
        /// The field, a string.
        field: Option<u32> = 9 Plain,
        /// The slot of the local variable.
        slot: Option<u32> = 10 Plain,
    }
}

row! {
    /// The object of a sample is this one.
    WalkSampleRow in WALK_SAMPLES {
        /// The walk.
        walk: u32 = 1 Delta,
        /// The object.
        object: u64 = 2 Delta,
        /// The sample.
        sample: u64 = 3 Delta,
    }
}

row! {
    /// The object is known: in every walk of the recording that has this number it is the same one, and no other object has it.
    WalkIdentityRow in WALK_IDENTITIES {
        /// The walk.
        walk: u32 = 1 Delta,
        /// The object.
        object: u64 = 2 Delta,
        /// Its number, from 1. Objects that were first met later have larger ones.
        identity: u64 = 3 Delta,
    }
}

row! {
    /// The object that stands for a class.
    WalkMirrorRow in WALK_MIRRORS {
        /// The walk.
        walk: u32 = 1 Delta,
        /// The class.
        class: u32 = 2 Delta,
        /// The object.
        object: u64 = 3 Delta,
    }
}

choices! {
    /// How strongly a reference object holds its referent.
    ReferentStrength {
        /// Kept until memory is short.
        Soft = 0 "soft",
        /// Not kept.
        Weak = 1 "weak",
        /// Not kept.
        Phantom = 2 "phantom",
        /// Kept until its finalizer has run.
        Finalizer = 3 "finalizer",
    }
}

row! {
    /// A reference from a reference object to its referent. It is in the list of references too.
    WalkReferentRow in WALK_REFERENTS {
        /// The walk.
        walk: u32 = 1 Delta,
        /// The reference object.
        from: u64 = 2 Delta,
        /// Its referent.
        to: u64 = 3 Delta,
        /// How strongly: 0 soft, 1 weak, 2 phantom, 3 of an object with a finalizer.
        strength: ReferentStrength = 4 Plain,
    }
}

row! {
    /// A reference that was not seen but must be there. It is not in the list of references.
    WalkInferredRow in WALK_INFERRED {
        /// The walk.
        walk: u32 = 1 Delta,
        /// The object that refers.
        from: u64 = 2 Delta,
        /// The object it refers to.
        to: u64 = 3 Delta,
        /// The field that holds it: a string.
        field: u32 = 4 Plain,
    }
}

row! {
    /// The end of a walk: all of it has been written.
    WalkEndRow in WALK_END {
        /// The walk.
        walk: u32 = 1 Delta,
        /// When it was done.
        time: u64 = 2 Delta,
        /// For how long the program stood still for it, nanoseconds; none where not known.
        pause: Option<u64> = 3 Plain,
        /// Its objects.
        objects: u64 = 4 Plain,
        /// Its references, inferred ones not counted.
        references: u64 = 5 Plain,
        /// Its roots.
        roots: u64 = 6 Plain,
        /// Live samples whose object was not found.
        unlinked: u64 = 7 Plain,
        /// The number of class objects among those; dumps have them for classes in use only. None where they were not counted apart.
        unlinked_classes: Option<u64> = 8 Plain,
        /// The number of late samples: taken after the samples to find were chosen, and before the program stood still. Their objects are
        /// in the walk at unknown places. None where they were not counted.
        late: Option<u64> = 9 Plain,
    }
}
