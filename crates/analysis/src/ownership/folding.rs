//! Insides of collections: objects that are counted with their owner, as `HashMap`, not `HashMap > Node[] > Node`.

use super::names::type_name;
use memory_city_heap::printable::MOST_CELL;
use memory_city_heap::{HeapState, HeapType, Profile, TypeId, TypeKind};

/// The role of a type below its owner, found once for each type.
#[derive(Clone, Debug)]
pub(super) struct TypeRole {
    /// An array of references, or a chunk of primitive values.
    is_reference_array: bool,
    is_primitive_array: bool,
    /// An array for several threads: the table of a cache.
    is_atomic_array: bool,
    /// Text and boxed numbers: their array is theirs.
    is_text: bool,
    /// For classes in packages of collections: where the package ends in the name.
    collection: Option<usize>,
    /// For those: how many bytes of the name say the outermost class. `java.util.HashMap` of `java.util.HashMap$Node`.
    outer: usize,
    is_nested: bool,
    /// True if it is named like the parts of collections, not like their content.
    is_part: bool,
    /// A node that is no nested class, of the collections in its package: where the package ends in the name.
    node_of: Option<usize>,
    is_of_language: bool,
    is_set: bool,
    is_map: bool,
    /// A view of another collection: `java.util.Collections$SynchronizedMap`.
    is_view: bool,
    /// The end of the collections' package in the name of the nearest superclass in one, or the class itself: a program's own class that
    /// extends `LinkedHashMap` is a collection too.
    extends: Option<usize>,
}

impl TypeRole {
    fn of(profile: &Profile, name: &str, kind: TypeKind) -> TypeRole {
        let known = &profile.collections;
        let element = name.trim_end_matches("[]");
        let outer = profile.names.outermost(element);
        let collection = known.packages.iter().find(|p| element.starts_with(**p)).map(|p| p.len());
        let simple = &element[element[..outer].rfind('.').map_or(0, |dot| dot + 1)..];
        let ends_with = |text: &str, ends: &[&str]| ends.iter().any(|end| text.ends_with(end));
        // What is longer is no name of a part, and each is looked for in it.
        let nested = &element[profile.names.nested.and_then(|mark| element.rfind(mark)).unwrap_or(0)..];
        let nested = &nested[..nested.floor_char_boundary(MOST_CELL)];
        TypeRole {
            is_reference_array: kind == TypeKind::ObjectArray,
            is_primitive_array: kind == TypeKind::PrimitiveArray,
            is_atomic_array: profile.types.atomic_arrays.contains(&name),
            is_text: profile.types.with_own_array.contains(&name),
            collection,
            outer,
            is_nested: outer < element.len(),
            is_part: known.parts.iter().any(|part| nested.contains(part)),
            is_of_language: profile.packages.is_of_language(element),
            node_of: element.rfind('.').filter(|_| outer == element.len() && ends_with(simple, known.nodes)),
            is_set: ends_with(simple, known.sets),
            is_map: ends_with(&simple[..profile.names.outermost(simple)], known.maps),
            is_view: known.views.iter().any(|view| element.starts_with(view)),
            extends: collection,
        }
    }
}

/// The roles of all types of a heap state, and the rules between them.
pub(super) struct Folding<'h> {
    heap: &'h HeapState,
    roles: Vec<TypeRole>,
}

impl<'h> Folding<'h> {
    pub(super) fn new(heap: &'h HeapState) -> Folding<'h> {
        let profile = heap.profile();
        let role = |t: &HeapType| TypeRole::of(profile, profile.names.stable(&t.name), t.kind);
        let mut roles: Vec<TypeRole> = heap.types().iter().map(role).collect();
        for of in 0..roles.len() {
            let nearest = heap.supertypes(TypeId(of as u32)).find_map(|t| roles[t.0 as usize].collection);
            roles[of].extends = nearest;
        }
        Folding { heap, roles }
    }

    /// True if an object of one type is the inside of its owner. `container` is the type of the collection that the owner is the inside of,
    /// or the owner's own.
    pub(super) fn is_inside(&self, of: TypeId, owner: TypeId, container: TypeId) -> bool {
        let [own, by, around] = [of, owner, container].map(|t| &self.roles[t.0 as usize]);
        // The next of a list or a tree: one chain, however long.
        if of == owner && (own.collection.is_none() || own.is_nested) {
            return true;
        }
        if own.is_atomic_array && by.collection.is_some() {
            return true;
        }
        if own.is_reference_array {
            return !by.is_reference_array || by.collection.is_some();
        }
        if own.is_primitive_array {
            // What lies in an entry or a slot was put there: the picture in a cache, not the words of a bit set.
            let is_own = by.collection.is_some() && !by.is_nested && !by.is_reference_array;
            return by.is_text || around.is_text || is_own;
        }
        let (Some(package), Some(outer_package)) = (own.collection, around.extends) else { return false };
        if package != outer_package {
            return false;
        }
        // `HashMap$Node` in a `LinkedHashMap`, `ConcurrentLinkedQueue$Node`: nested classes of the container or of a class it
        // extends; views and sets hold the map they are made of.
        let nested = own.is_nested && own.is_part && !own.is_view && self.declares(container, of)
            || own.node_of.is_some_and(|end| self.is_in_package_of(of, end, container));
        let backing = (around.is_set && own.is_map) || around.is_view;
        nested || backing
    }

    /// True if a type is a collection of a library, or an inside of one.
    pub(super) fn is_collection(&self, of: TypeId) -> bool {
        let role = &self.roles[of.0 as usize];
        role.collection.is_some() || role.is_reference_array || role.is_primitive_array
    }

    /// True if a type, or a class that it extends, is a collection: a cache of the program that extends a map has the map's size.
    pub(super) fn extends_collection(&self, of: TypeId) -> bool {
        self.heap.supertypes(of).any(|t| self.is_collection(t))
    }

    /// Whether a type is of the runtime of a dynamic language.
    pub(super) fn is_of_language(&self, of: TypeId) -> bool {
        self.roles[of.0 as usize].is_of_language
    }

    /// Whether a type is declared within another: an entry, a node.
    pub(super) fn is_nested(&self, of: TypeId) -> bool {
        self.roles[of.0 as usize].is_nested
    }

    /// True if a container, or a class that it extends, is in the package of a node, whose name has it up to `end`.
    fn is_in_package_of(&self, node: TypeId, end: usize, container: TypeId) -> bool {
        let name = |t: TypeId| type_name(self.heap, t);
        let package = &name(node)[..=end];
        self.heap.supertypes(container).any(|t| {
            name(t).strip_prefix(package).is_some_and(|simple| !simple.contains('.')) && !name(t).ends_with("[]")
        })
    }

    /// True if a type or one it extends is the outermost class around another.
    fn declares(&self, container: TypeId, nested: TypeId) -> bool {
        let name = type_name(self.heap, nested);
        let outer = &name[..self.roles[nested.0 as usize].outer];
        let maps = self.heap.profile().collections.maps;
        self.heap.supertypes(container).any(|t| {
            let around = type_name(self.heap, t);
            around[..self.roles[t.0 as usize].outer.min(around.len())] == *outer
        }) || (self.roles[container.0 as usize].is_set && maps.iter().any(|end| outer.ends_with(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::HeapBuilder;

    #[test]
    fn insides_are_told_from_contents() {
        let names = [
            "java.util.HashMap",
            "java.util.HashMap$Node[]",
            "java.util.HashMap$Node",
            "java.util.LinkedHashMap",
            "java.util.LinkedHashMap$Entry",
            "java.util.HashSet",
            "java.util.ArrayList",
            "java.lang.Object[]",
            "com.acme.Item",
            "com.acme.Item[]",
            "com.acme.Tree$Node",
            "java.lang.String",
            "byte[]",
            "java.util.Collections$SynchronizedMap",
            "java.util.concurrent.ConcurrentHashMap",
            "java.util.concurrent.ConcurrentHashMap$Node",
            "com.acme.LruCache$1",
            "java.util.BitSet",
            "long[]",
            "scala.collection.concurrent.TrieMap",
            "scala.collection.concurrent.INode",
            "scala.collection.concurrent.CNode",
            "scala.collection.concurrent.SNode",
            "com.acme.XmlNode",
            "java.util.concurrent.atomic.AtomicReferenceArray",
            "com.google.common.cache.LocalCache",
            "com.google.common.cache.LocalCache$Segment",
            "com.google.common.cache.LocalCache$StrongEntry",
        ];
        let mut heap = HeapBuilder::with_profile(&JVM);
        for name in names {
            let kind = match name {
                "byte[]" | "long[]" => TypeKind::PrimitiveArray,
                _ if name.ends_with("[]") => TypeKind::ObjectArray,
                _ => TypeKind::Instance,
            };
            let superclass = match name {
                "java.util.LinkedHashMap" => Some(TypeId(0)),
                "com.acme.LruCache$1" => Some(TypeId(3)),
                _ => None,
            };
            heap.add_type(HeapType { name: name.into(), kind, superclass, loader: "app".into() });
        }
        let heap = heap.finish();
        let folding = Folding::new(&heap);
        let t = |name: &str| TypeId(names.iter().position(|n| *n == name).expect("a name") as u32);
        for (of, owner, container, inside) in [
            ("java.util.HashMap$Node[]", "java.util.HashMap", "java.util.HashMap", true),
            ("java.util.HashMap$Node", "java.util.HashMap$Node[]", "java.util.HashMap", true),
            ("java.util.HashMap$Node", "java.util.HashMap$Node", "java.util.HashMap", true),
            ("java.util.LinkedHashMap$Entry", "java.util.LinkedHashMap", "java.util.LinkedHashMap", true),
            ("java.util.HashMap$Node[]", "java.util.LinkedHashMap", "java.util.LinkedHashMap", true),
            ("java.util.HashMap$Node", "java.util.HashMap$Node[]", "java.util.LinkedHashMap", true),
            ("java.util.HashMap", "java.util.HashSet", "java.util.HashSet", true),
            ("java.util.HashMap$Node", "java.util.HashMap$Node[]", "java.util.HashSet", true),
            ("java.lang.Object[]", "java.util.ArrayList", "java.util.ArrayList", true),
            (
                "java.util.HashMap",
                "java.util.Collections$SynchronizedMap",
                "java.util.Collections$SynchronizedMap",
                true,
            ),
            ("com.acme.Item[]", "com.acme.Item", "com.acme.Item", true),
            (
                "java.util.concurrent.atomic.AtomicReferenceArray",
                "com.google.common.cache.LocalCache$Segment",
                "com.google.common.cache.LocalCache",
                true,
            ),
            (
                "com.google.common.cache.LocalCache$StrongEntry",
                "java.lang.Object[]",
                "com.google.common.cache.LocalCache",
                true,
            ),
            ("java.util.concurrent.atomic.AtomicReferenceArray", "com.acme.Item", "com.acme.Item", false),
            ("com.acme.Tree$Node", "com.acme.Tree$Node", "com.acme.Tree$Node", true),
            ("byte[]", "java.lang.String", "java.lang.String", true),
            (
                "java.util.concurrent.ConcurrentHashMap$Node",
                "java.util.concurrent.ConcurrentHashMap",
                "java.util.concurrent.ConcurrentHashMap",
                true,
            ),
            // The usual cache of least recently used: a class of the program that is a `LinkedHashMap`.
            ("java.util.LinkedHashMap$Entry", "java.util.HashMap$Node[]", "com.acme.LruCache$1", true),
            ("java.util.HashMap$Node[]", "com.acme.LruCache$1", "com.acme.LruCache$1", true),
            ("long[]", "java.util.BitSet", "java.util.BitSet", true),
            (
                "scala.collection.concurrent.INode",
                "scala.collection.concurrent.TrieMap",
                "scala.collection.concurrent.TrieMap",
                true,
            ),
            (
                "scala.collection.concurrent.CNode",
                "scala.collection.concurrent.INode",
                "scala.collection.concurrent.TrieMap",
                true,
            ),
            ("scala.collection.concurrent.SNode", "java.lang.Object[]", "scala.collection.concurrent.TrieMap", true),
            // Contents.
            ("com.acme.XmlNode", "scala.collection.concurrent.SNode", "scala.collection.concurrent.TrieMap", false),
            ("com.acme.Item", "scala.collection.concurrent.SNode", "scala.collection.concurrent.TrieMap", false),
            ("scala.collection.concurrent.TrieMap", "java.util.HashMap$Node", "java.util.HashMap", false),
            ("com.acme.Item", "java.util.LinkedHashMap$Entry", "com.acme.LruCache$1", false),
            ("byte[]", "java.util.HashMap$Node", "java.util.HashMap", false),
            ("byte[]", "java.lang.Object[]", "java.util.ArrayList", false),
            ("byte[]", "java.util.LinkedHashMap$Entry", "com.acme.LruCache$1", false),
            ("com.acme.Item", "java.util.HashMap$Node", "java.util.HashMap", false),
            ("java.util.HashMap", "java.util.HashMap$Node", "java.util.HashMap", false),
            ("java.util.ArrayList", "java.lang.Object[]", "java.util.ArrayList", false),
            ("java.util.HashMap$Node", "java.util.ArrayList", "java.util.ArrayList", false),
            ("java.lang.String", "java.util.HashMap$Node", "java.util.HashMap", false),
            ("byte[]", "com.acme.Item", "com.acme.Item", false),
            ("com.acme.Item", "com.acme.Item[]", "com.acme.Tree$Node", false),
        ] {
            assert_eq!(folding.is_inside(t(of), t(owner), t(container)), inside, "{of} in {owner} in {container}");
        }
    }
}
