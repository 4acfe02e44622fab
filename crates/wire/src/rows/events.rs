//! Rows of events while a program runs. Times are nanoseconds since the recording began, by a clock that does not jump.

use super::{choices, row};

row! {
    /// A fact about the run. The keys are listed below (facts of the run).
    RunRow in RUN {
        /// Which fact: `vm.version`.
        key: String = 1 Text,
        /// The value, as text.
        value: String = 2 Text,
    }
}

choices! {
    /// What was collected.
    CollectionKind {
        /// The VM does not say.
        Unknown = 0 "unknown",
        /// A part of the heap, usually the young objects.
        Minor = 1 "minor",
        /// The whole heap.
        Major = 2 "full",
    }
}

choices! {
    /// The meaning of the start and end of a collection.
    GcScope {
        /// From its first pause to its end.
        Whole = 0 "collection",
        /// One pause of a collector that works beside the program.
        Pause = 1 "pause",
    }
}

row! {
    /// A garbage collection.
    GcRow in GCS {
        /// Its number, from 0.
        number: u64 = 1 Delta,
        /// When it started.
        start: u64 = 2 Delta,
        /// How long it took.
        duration: u64 = 3 Plain,
        /// The part of the heap: 0 not known, 1 a part of it, 2 all of it.
        kind: CollectionKind = 4 Plain,
        /// The meaning of start and duration: 0 the whole collection, 1 one pause of a collector that works beside the program.
        scope: GcScope = 5 Plain,
        /// Why, a string; none where the VM does not say.
        cause: Option<u32> = 6 Plain,
        /// Bytes in use before, where known.
        before: Option<u64> = 7 Delta,
        /// Bytes in use after, where known.
        after: Option<u64> = 8 Delta,
        /// Objects it freed, where known.
        freed: Option<u64> = 9 Plain,
        /// Its number in the source that this was converted from, where that differs.
        source_number: Option<u64> = 10 Plain,
    }
}

/// The number for a weight of one.
pub const WEIGHT_ONE: u64 = 1 << 16;

row! {
    /// An allocation that was sampled.
    SampleRow in SAMPLES {
        /// Its number: of one object, for the whole recording.
        id: u64 = 1 Delta,
        /// When.
        time: u64 = 2 Delta,
        /// The thread.
        thread: u32 = 3 Delta,
        /// Its number among the records of the thread, those that were lost included.
        sequence: u64 = 4 Delta,
        /// The class.
        class: u32 = 5 Plain,
        /// Shallow bytes.
        size: u64 = 6 Plain,
        /// Number of elements of an array.
        length: Option<u32> = 7 Plain,
        /// How many allocations it stands for, in units of 1/65,536: 1 / (1 - e^(-size / interval)).
        weight: u64 = 8 Plain,
        /// The mean number of bytes between samples when it was taken; 0 where every allocation was.
        interval: u64 = 9 Delta,
        /// Where: a frame; none where the VM gave no stack.
        stack: Option<u32> = 10 Plain,
        /// How many collections had begun before: the number of the first one after it.
        gcs: u32 = 11 Delta,
    }
}

row! {
    /// The object of a sample was found dead, or is no longer followed.
    DeathRow in DEATHS {
        /// The sample.
        sample: u64 = 1 Delta,
        /// When that was noticed, at the end of a collection.
        time: u64 = 2 Delta,
        /// The number of the collection; none if unknown.
        gc: Option<u64> = 3 Delta,
        /// The sample was dropped, because too many were alive: the fate of its object is unknown from here on.
        let_go: bool = 4 Plain,
    }
}

row! {
    /// Samples of a part that has gone, added up: those of one class, stack and thread whose objects are dead. Where there were too many sums, the others are one, of class and thread 4294967295 and no stack.
    OldSamplesRow in OLD_SAMPLES {
        /// The class.
        class: u32 = 1 Delta,
        /// The stack.
        stack: Option<u32> = 2 Delta,
        /// The thread.
        thread: u32 = 3 Delta,
        /// How many samples.
        samples: u64 = 4 Plain,
        /// Their sizes.
        bytes: u64 = 5 Plain,
        /// Their weights, in units of 1/65,536.
        weight: u64 = 6 Plain,
        /// Their weights times sizes, bytes.
        weighted_bytes: u64 = 7 Plain,
        /// When the first was taken.
        first: u64 = 8 Delta,
        /// When the last was taken.
        last: u64 = 9 Delta,
        /// The variance of the weighted bytes, KiB squared, rounded up: the sum of (size × weight)² × (1 - 1 / weight).
        variance: Option<u64> = 10 Plain,
    }
}

row! {
    /// A row of a class histogram: the exact count of one class at that time by the VM; if known, for each allocation site. Classes without
    /// objects have no row.
    CountRow in COUNTS {
        /// The number of the histogram, from 0.
        histogram: u64 = 1 Delta,
        /// When it was taken.
        time: u64 = 2 Delta,
        /// The last collection before it, by its number.
        gc: Option<u64> = 3 Delta,
        /// The class.
        class: u32 = 4 Delta,
        /// Its objects.
        objects: u64 = 5 Plain,
        /// Their shallow bytes.
        bytes: u64 = 6 Plain,
        /// Whether unreachable objects are counted too.
        garbage: bool = 7 Plain,
        /// For how long the program stood still for it, nanoseconds; none where not known.
        pause: Option<u64> = 8 Delta,
        /// Rows of the whole histogram, 0 where not known. If fewer are found, some are damaged or cut off, and absent classes mean
        /// nothing.
        rows: u32 = 9 Delta,
        /// Their allocation site, a frame; none if not counted.
        stack: Option<u32> = 10 Plain,
    }
}

choices! {
    /// Why something is not in a recording.
    LossReason {
        /// Not said.
        Other = 0 "not said",
        /// The buffers were full.
        BufferFull = 1 "buffers were full",
        /// More samples were alive than are followed, so some were dropped.
        Thinned = 2 "too many live samples",
        /// The part it was in has gone, because the trace has a bound.
        Retired = 3 "gone with old parts",
        /// The disk was full, or refused otherwise.
        WriteFailed = 4 "could not be written",
        /// The table of names was full.
        TableFull = 5 "too many names",
        /// The VM gave no answer.
        NotGiven = 6 "not given by the VM",
        /// The program was killed, with rows that had not been written yet.
        Killed = 7 "the program was killed before they were written",
        /// Larger than all that the trace may have.
        NoRoom = 8 "larger than the bound of the trace",
    }
}

row! {
    /// Something that was not recorded, counted.
    LossRow in LOSSES {
        /// When it was counted.
        time: u64 = 1 Delta,
        /// The thread; none if it is no single thread.
        thread: Option<u32> = 2 Plain,
        /// The kind of chunk that the rows would have been in.
        what: u32 = 3 Plain,
        /// The reason: 0 not given, 1 full buffers, 2 too many live samples, 3 the part was removed, 4 a failed write, 5 full tables of
        /// names, 6 a failure of the VM, 7 the program was killed before the write, 8 larger than the bound of the trace.
        reason: LossReason = 4 Plain,
        /// How many.
        count: u64 = 5 Plain,
        /// Bytes they stand for, where known (of samples: weights times sizes).
        bytes: Option<u64> = 6 Plain,
    }
}

/// Key of the setting: one in this many samples is followed from then on. Its changes stay when old parts go.
pub const FOLLOWED_ONE_IN: &str = "sampling.followed-one-in";

row! {
    /// A setting that changed while the program ran.
    SettingRow in SETTINGS {
        /// When.
        time: u64 = 1 Delta,
        /// The setting, with the keys of the run: `sampling.interval`.
        key: String = 2 Text,
        /// The value from now on.
        value: String = 3 Text,
    }
}

row! {
    /// Change in the number of objects that are alike in all columns, from one start or end of a collection to the next. Only sources that
    /// have seen each object write it. Objects that one kind of space lost and no other gained have died.
    CohortRow in COHORTS {
        /// The collection, by its number.
        gc: u64 = 1 Delta,
        /// Whether at its end; otherwise at its start.
        at_end: bool = 2 Plain,
        /// The class.
        class: u32 = 3 Delta,
        /// Their allocation site, a frame; none if unknown.
        stack: Option<u32> = 4 Delta,
        /// The allocating thread.
        thread: Option<u32> = 5 Plain,
        /// The subsystem, as of origins (7).
        allocator: u32 = 6 Plain,
        /// Whether they are arrays that the source counts as large.
        large: bool = 7 Plain,
        /// The first collection after their allocation, counted from 0.
        birth: u32 = 8 Delta,
        /// The kind of space, as of origins (7).
        space: u32 = 9 Plain,
        /// How many more, zigzag: 2n, and of fewer 2n - 1.
        objects: i64 = 10 Plain,
        /// Shallow bytes of those, zigzag.
        bytes: i64 = 11 Plain,
    }
}

row! {
    /// The end of a recording: nothing of this stream follows.
    EndRow in END {
        /// When.
        time: u64 = 1 Delta,
        /// Why, for people: `the program ended`.
        reason: String = 2 Text,
        /// Chunks of the stream before this one, repeated ones counted once.
        chunks: u64 = 3 Plain,
        /// Samples that were taken.
        samples: u64 = 4 Plain,
        /// Samples that were lost.
        lost: u64 = 5 Plain,
    }
}
