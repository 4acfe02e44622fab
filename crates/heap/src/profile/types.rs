//! Types with a role of their own: texts, boxed numbers, references that keep nothing, memory outside the heap.

/// Types that analyses treat apart.
#[derive(Debug)]
pub struct KnownTypes {
    /// The type of texts.
    pub text: Option<TextType>,
    /// Texts, builders of texts and large numbers: an array below one is theirs.
    pub with_own_array: &'static [&'static str],
    /// Objects whose array of references is what they are.
    pub atomic_arrays: &'static [&'static str],
    /// Objects without content, which mark an empty field.
    pub empty: &'static [&'static str],
    /// The objects that stand for types.
    pub mirror: Option<&'static str>,
    /// Numbers, characters and truth values that are objects.
    pub boxes: &'static [&'static str],
    /// The field of the value in such a box.
    pub boxed: &'static str,
    /// References that keep nothing alive. Their subtypes have fields that do.
    pub weak: &'static [&'static str],
    /// Packages of reference objects, by the beginnings of the names.
    pub references: &'static [&'static str],
    /// Packages of further objects that clean up after others.
    pub cleaners: &'static [&'static str],
    /// Types whose counts have more in them than objects of the program, and a sentence that says so.
    pub overcounted: &'static [(&'static str, &'static str)],
    /// Values that a thread keeps in variables of its own.
    pub thread_locals: Option<ThreadLocals>,
    /// Objects that wait for their finalizer.
    pub finalizers: Option<Finalizers>,
    /// Constructors of the errors of threads that ran out of memory, with their types.
    pub out_of_memory: &'static [&'static str],
    /// Objects that stand for memory outside the heap.
    pub buffers: Option<Buffers>,
}

impl KnownTypes {
    /// No type is special.
    pub const PLAIN: KnownTypes = KnownTypes {
        text: None,
        with_own_array: &[],
        atomic_arrays: &[],
        empty: &[],
        mirror: None,
        boxes: &[],
        boxed: "",
        weak: &[],
        references: &[],
        cleaners: &[],
        overcounted: &[],
        thread_locals: None,
        finalizers: None,
        out_of_memory: &[],
        buffers: None,
    };

    /// Whether it is the type of texts.
    pub fn is_text(&self, name: &str) -> bool {
        self.text.as_ref().is_some_and(|text| text.name == name)
    }
}

/// A field, and the type that declares it.
#[derive(Clone, Copy, Debug)]
pub struct FieldName {
    /// The type.
    pub class: &'static str,
    /// The field.
    pub name: &'static str,
}

/// The type of texts.
#[derive(Clone, Copy, Debug)]
pub struct TextType {
    /// Its name.
    pub name: &'static str,
    /// The field of the array with the characters.
    pub value: &'static str,
    /// The field that is 1 where each character takes two bytes of an array of bytes.
    pub coder: &'static str,
    /// The field of texts that are parts of an array.
    pub offset: &'static str,
}

/// Values of threads: each hangs on an entry in a table of its thread, which refers weakly to the variable.
#[derive(Clone, Copy, Debug)]
pub struct ThreadLocals {
    /// The type of entries.
    pub entry: &'static str,
    /// The package of types of variables that say less than the object that has the variable.
    pub plain: &'static str,
}

/// References that stand for objects with finalizers. Each of these types has its queue in a static field.
#[derive(Clone, Copy, Debug)]
pub struct Finalizers {
    /// Their types.
    pub types: &'static [&'static str],
    /// The types that may declare the fields.
    pub classes: &'static [&'static str],
    /// The fields of the object that waits.
    pub referent: &'static [&'static str],
    /// The fields of the next one in the queue.
    pub next: &'static [&'static str],
    /// The static field of the queue.
    pub queue: &'static str,
    /// The field of the first one in the queue.
    pub head: &'static str,
}

/// Objects that stand for memory outside the heap: buffers and mapped files.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// Their types.
    pub types: &'static [&'static str],
    /// The bytes.
    pub capacity: FieldName,
    /// The buffer that this one is a view of.
    pub of_another: FieldName,
    /// The file that is mapped.
    pub file: FieldName,
    /// Packages of objects that hold buffers of the runtime itself.
    pub of_runtime: &'static [&'static str],
    /// The type with the total in a static field.
    pub total_in: &'static str,
    /// The names of that field: a number, or a counter.
    pub totals: &'static [&'static str],
    /// The field of the number in the counter.
    pub counted: &'static str,
}
