//! Rows of tables: definitions that other chunks refer to by number. A definition comes before its use. A number belongs to a stream, is
//! the same for the whole recording, and is never reused. A second definition of a number adds to the first (a thread got a name).

use super::row;

row! {
    /// A text.
    StringRow in STRINGS {
        /// Its number.
        id: u32 = 1 Delta,
        /// The text.
        text: String = 2 Text,
    }
}

row! {
    /// A class loader.
    LoaderRow in LOADERS {
        /// Its number.
        id: u32 = 1 Delta,
        /// Its name, a string.
        name: u32 = 2 Plain,
        /// The loader it asks first; none where that is the VM itself, or not known.
        parent: Option<u32> = 3 Plain,
    }
}

row! {
    /// A class, or array class.
    ClassRow in CLASSES {
        /// Its number.
        id: u32 = 1 Delta,
        /// Its name in source form, a string: `java.util.HashMap$Node`, `char[]`, `java.lang.String[][]`.
        name: u32 = 2 Delta,
        /// The sort of its objects: 0 instances, 1 arrays of references, 2 arrays of primitive values.
        kind: u32 = 3 Plain,
        /// Its superclass.
        superclass: Option<u32> = 4 Plain,
        /// Its loader; none where the VM itself defined it.
        loader: Option<u32> = 5 Plain,
        /// The name of its loader, a string, where only the name is known.
        loader_name: Option<u32> = 6 Plain,
        /// Bytes of an instance; of arrays those before the first element.
        base: u32 = 7 Plain,
        /// Bytes of an element of an array.
        element: u32 = 8 Plain,
        /// Whether the next three are known.
        has_layout: bool = 9 Plain,
        /// Bytes before the first field or element.
        header: u32 = 10 Plain,
        /// Bytes of fields of primitive types.
        primitive: u32 = 11 Plain,
        /// Fields that hold references.
        references: u32 = 12 Plain,
    }
}

row! {
    /// A method.
    MethodRow in METHODS {
        /// Its number.
        id: u32 = 1 Delta,
        /// The class that declares it, in source form: a string. Where that is empty, the name is all that is known of the frame.
        class: u32 = 2 Delta,
        /// Its name: a string.
        name: u32 = 3 Delta,
        /// Its parameters in source form, a string: `(Object, int)`; none where they are not known.
        parameters: Option<u32> = 4 Plain,
        /// The source file: a string.
        file: Option<u32> = 5 Plain,
        /// Its lines, two numbers each: the first bytecode index, the line. Ascending by index.
        lines: Vec<u64> = 6 DeltaList,
    }
}

row! {
    /// A frame of a stack: a node of a tree whose paths to the top are stacks. A stack is named by its innermost frame.
    FrameRow in FRAMES {
        /// Its number.
        id: u32 = 1 Delta,
        /// The frame that called it; none at the outer end.
        caller: Option<u32> = 2 Delta,
        /// The method.
        method: u32 = 3 Delta,
        /// The bytecode index; none in native methods, or if unknown.
        index: Option<u32> = 4 Plain,
        /// The line, where it does not follow from the lines of the method.
        line: Option<u32> = 5 Plain,
        /// Whether callers beyond this one were left out, because stacks were recorded up to a depth.
        cut: bool = 6 Plain,
        /// Whether it is a native method.
        native: bool = 7 Plain,
    }
}

row! {
    /// A thread, or many threads with one name, as virtual ones are.
    ThreadRow in THREADS {
        /// Its number: threads that have the same name are different.
        id: u32 = 1 Delta,
        /// Its name: a string.
        name: u32 = 2 Delta,
        /// Its number in the program (`Thread.threadId`).
        java_id: Option<u64> = 3 Plain,
        /// Whether it is a daemon.
        daemon: bool = 4 Plain,
        /// When it started, nanoseconds; none where it was there before.
        started: Option<u64> = 5 Plain,
        /// When it ended.
        ended: Option<u64> = 6 Plain,
    }
}

row! {
    /// Origin and life of objects, if all objects of a walk have them (exact and converted recordings).
    OriginRow in ORIGINS {
        /// Its number.
        id: u32 = 1 Delta,
        /// Their allocation site, a frame; none if unknown.
        stack: Option<u32> = 2 Plain,
        /// The allocating thread.
        thread: Option<u32> = 3 Plain,
        /// The subsystem: 0 not known, 1 the VM, 2 the interpreter, 3 and 4 code of the first and second compiler.
        allocator: u32 = 4 Plain,
        /// The first collection after their allocation, counted from 0; none if unknown.
        birth: Option<u32> = 5 Delta,
        /// The kind of space they are in: 0 not known, 1 eden, 2 survivor, 3 old, 4 a region of its own.
        space: u32 = 6 Plain,
    }
}

row! {
    /// Objects of a class that refer to objects of another by a field, as a walk had them. Of a pair of classes that is there, all fields
    /// are that any walk before had. Not of arrays, nor of static fields, which roots name.
    FieldRow in FIELDS {
        /// The class of the objects that refer.
        from: u32 = 1 Delta,
        /// The type of the objects they refer to.
        to: u32 = 2 Plain,
        /// The field, a string; none where its name is missing, so that the fields of these two types cannot be told apart.
        field: Option<u32> = 3 Plain,
    }
}
