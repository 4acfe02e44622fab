//! Recovery of the hidden fields of class objects, which dumps leave out.
//!
//! Dumps write a class object as a class record: its static fields, loader and protection domain, but none of the instance fields that
//! `java.lang.Class` has in Java (`reflectionData`, `annotationData`, `classValueMap`, `name`...). The objects in those fields are in the
//! dump, but without a reference to them. They would count as unreachable, though they live as long as the class. This module finds them
//! among the unreachable objects and attaches them:
//!
//! - If something in it points back to its class ([`holders`]: the class of a method, the text of a name), the class object gets the
//!   reference that the dump left out. The reference keeps it alive only while the class object is alive.
//! - If nothing does, but only a field of `java.lang.Class` can hold such an object ([`unnamed`]: annotations), it becomes a root of its
//!   own kind, unless that would bring a dead class loader to life.
//! - Names of classes are matched by their text ([`names`]).
//! - Classes that no loader's list has hang on their loader all the same ([`loaded`]).
//!
//! Garbage stays garbage. An array of methods is attached only through the `SoftReference` to the `ReflectionData` that holds it; a copy
//! for the program has no part in that. Programs also create objects of these types (a constructor, an array of enum constants, a map), so
//! one is attached only if it is the only candidate of its class. A dump of live objects has nothing else. In a dump with garbage a class
//! may get a dead copy of the same content: at most one for each class and field.

mod holders;
mod loaded;
mod names;
mod records;
mod unnamed;

use super::census::Census;
use super::classes::ClassTable;
use super::header::DumpHeader;
use super::index::DumpIndex;
use memory_city_heap::input::Input;
use memory_city_heap::{HeapColumns, HeapType, Inference, ObjectId, Root, RootKind};
use records::Records;

/// The parts of a dump that are read to find them.
pub(super) struct Dump<'a> {
    pub input: &'a Input,
    pub header: &'a DumpHeader,
    pub index: &'a DumpIndex,
    pub census: &'a Census,
    pub classes: &'a ClassTable,
    /// Where the field values of instances of [`noted`] types stand in the file, ascending by object.
    pub noted: &'a [(ObjectId, usize)],
}

/// The role of a type in this search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// `java.lang.Class`.
    Class,
    SoftReference,
    ReflectionData,
    /// Arrays of methods, fields, constructors.
    Members,
    Method,
    Field,
    Constructor,
    AnnotationData,
    AnnotationType,
    ClassValueMap,
    /// A value of a `ClassValue` that knows its class.
    ClassCache,
    ClassRepository,
    ReflectionFactory,
    String,
    HashMap,
    /// The insides of maps: tables and entries.
    MapPart,
    Thread,
    ClassLoader,
    Other,
}

fn role(name: &str) -> Role {
    match name {
        "java.lang.Class" => Role::Class,
        "java.lang.ref.SoftReference" => Role::SoftReference,
        "java.lang.Class$ReflectionData" => Role::ReflectionData,
        "java.lang.reflect.Method[]" | "java.lang.reflect.Field[]" | "java.lang.reflect.Constructor[]" => Role::Members,
        "java.lang.reflect.Method" => Role::Method,
        "java.lang.reflect.Field" => Role::Field,
        "java.lang.reflect.Constructor" => Role::Constructor,
        "java.lang.Class$AnnotationData" => Role::AnnotationData,
        "sun.reflect.annotation.AnnotationType" => Role::AnnotationType,
        "java.lang.ClassValue$ClassValueMap" => Role::ClassValueMap,
        "java.io.ClassCache$CacheRef" => Role::ClassCache,
        "sun.reflect.generics.repository.ClassRepository" => Role::ClassRepository,
        "sun.reflect.generics.factory.CoreReflectionFactory" => Role::ReflectionFactory,
        "java.lang.String" => Role::String,
        "java.util.HashMap" | "java.util.LinkedHashMap" => Role::HashMap,
        "java.util.HashMap$Node[]"
        | "java.util.HashMap$Node"
        | "java.util.HashMap$TreeNode"
        | "java.util.LinkedHashMap$Entry"
        | "java.util.WeakHashMap$Entry[]"
        | "java.util.WeakHashMap$Entry"
        | "java.lang.ClassValue$Entry[]"
        | "java.lang.ClassValue$Entry" => Role::MapPart,
        "java.lang.Thread" => Role::Thread,
        "java.lang.ClassLoader" => Role::ClassLoader,
        _ => Role::Other,
    }
}

/// The roles of all types. Threads and class loaders pass theirs on to subclasses.
fn roles(types: &[HeapType]) -> Vec<Role> {
    let own: Vec<Role> = types.iter().map(|t| role(&t.name)).collect();
    let inherited = |t: usize| {
        let above = |t: &usize| types[*t].superclass.map(|s| s.0 as usize);
        let mut above = std::iter::successors(Some(t), above).take(super::classes::DEEPEST);
        above.find_map(|t| Some(own[t]).filter(|r| matches!(r, Role::Thread | Role::ClassLoader)))
    };
    own.iter().enumerate().map(|(t, &role)| inherited(t).unwrap_or(role)).collect()
}

/// By type: true if the fields of its instances are read by name, so that their places in the file must be kept.
pub(super) fn noted(types: &[HeapType]) -> Vec<bool> {
    let is_noted = |role| {
        use Role::*;
        matches!(
            role,
            ReflectionData | Method | Field | Constructor | ClassCache | ClassRepository | ReflectionFactory | Thread
        )
    };
    roles(types).into_iter().map(is_noted).collect()
}

/// The data shared by all parts.
struct HiddenContext<'a> {
    dump: &'a Dump<'a>,
    roles: Vec<Role>,
    records: Records<'a>,
}

impl HiddenContext<'_> {
    fn role(&self, columns: &HeapColumns, o: ObjectId) -> Role {
        self.roles[columns.type_of[o.0 as usize] as usize]
    }

    /// Whether it is a class object of the dump (not that of a primitive type).
    fn class_object(&self, columns: &HeapColumns, o: ObjectId) -> Option<ObjectId> {
        (self.role(columns, o) == Role::Class).then_some(o)
    }
}

/// Attaches the findings to `inference`.
pub(super) fn attach(inference: &mut Inference, dump: &Dump<'_>) {
    loaded::attach(inference, dump);
    let unreachable = inference.unreachable();
    if unreachable.is_empty() {
        return;
    }
    let roles = roles(&inference.columns().types);
    let context = HiddenContext { dump, roles, records: Records::new(dump) };
    let found = holders::find(&context, inference.columns(), &unreachable);
    for (class, holder, field) in &found.references {
        inference.add_reference(*class, *holder, field);
    }
    for thread in found.threads {
        let detail = "a running thread of the VM itself".to_owned();
        inference.add_root(Root { object: thread, kind: RootKind::Thread, detail });
    }
    let unreachable: Vec<ObjectId> = unreachable.into_iter().filter(|&o| !inference.is_reachable(o)).collect();
    for (holder, field) in unnamed::find(&context, inference, &unreachable, &found.references, &found.spare) {
        let detail = format!("hidden field {field} of a class object (the dump does not say which)");
        inference.add_root(Root { object: holder, kind: RootKind::Other, detail });
    }
    for (class, string, field) in names::find(&context, inference, &unreachable) {
        inference.add_reference(class, string, field);
    }
    loaded::attach_others(inference, dump);
}
