//! Which objects are the insides of their owner, and are counted with it: `HashMap`, not `HashMap > Node[] > Node`.

use memory_city_heap::{HeapState, TypeId, TypeKind};

/// Packages of collections: what a class there makes for itself is no business of who uses it.
const COLLECTIONS: [&str; 24] = [
    "java.util.",
    "java.lang.ThreadLocal",
    "scala.collection.",
    "kotlin.collections.",
    "clojure.lang.",
    "groovy.util.",
    "com.google.common.collect.",
    "com.google.common.cache.",
    "com.google.common.util.concurrent.",
    "com.github.benmanes.caffeine.cache.",
    "net.sf.ehcache.store.",
    "org.ehcache.impl.",
    "org.apache.commons.collections",
    "org.eclipse.collections.",
    "org.jctools.",
    "org.agrona.collections.",
    "gnu.trove.",
    "it.unimi.dsi.fastutil.",
    "com.carrotsearch.hppc.",
    "io.netty.util.collection.",
    "io.netty.util.internal.shaded.org.jctools.",
    "android.util.",
    "androidx.collection.",
    "android.support.v4.util.",
];

/// What the nested classes of collections are called that are parts of them; a task in a queue is not.
const PARTS: [&str; 28] = [
    "Node",
    "Entry",
    "Segment",
    "Bucket",
    "Bin",
    "Index",
    "Cell",
    "Sync",
    "Lock",
    "Condition",
    "Chunk",
    "Leaf",
    "Table",
    "Tree",
    "Map",
    "Set",
    "List",
    "View",
    "Values",
    "Keys",
    "Link",
    "Slot",
    "Page",
    "Array",
    "Vector",
    "Branch",
    "Item",
    "Holder",
];

/// What a type is to its owner, found once for each type.
#[derive(Clone, Debug)]
pub(super) struct TypeRole {
    /// An array of references, or a chunk of primitive values.
    is_reference_array: bool,
    is_primitive_array: bool,
    /// Text and boxed numbers: their array is theirs.
    is_text: bool,
    /// For classes in packages of collections: where the package ends in the name.
    collection: Option<usize>,
    /// For those: how many bytes of the name say the outermost class. `java.util.HashMap` of `java.util.HashMap$Node`.
    outer: usize,
    is_nested: bool,
    /// Named like the parts that collections are made of, not like what is put into them.
    is_part: bool,
    is_set: bool,
    is_map: bool,
    /// A view of another collection: `java.util.Collections$SynchronizedMap`.
    is_view: bool,
    /// Where the package of collections ends in the name of the nearest class above it that is in one, itself included: a program's own
    /// class that extends `LinkedHashMap` is a collection too.
    extends: Option<usize>,
}

impl TypeRole {
    fn of(name: &str, kind: TypeKind) -> TypeRole {
        let element = name.trim_end_matches("[]");
        let outer = element.find('$').unwrap_or(element.len());
        let collection = COLLECTIONS.iter().find(|p| element.starts_with(**p)).map(|p| p.len());
        let simple = &element[element[..outer].rfind('.').map_or(0, |dot| dot + 1)..];
        TypeRole {
            is_reference_array: kind == TypeKind::ObjectArray,
            is_primitive_array: kind == TypeKind::PrimitiveArray,
            is_text: matches!(
                name,
                "java.lang.String" | "java.lang.StringBuilder" | "java.lang.StringBuffer" | "java.math.BigInteger"
            ),
            collection,
            outer,
            is_nested: outer < element.len(),
            is_part: PARTS.iter().any(|part| element[element.rfind('$').unwrap_or(0)..].contains(part)),
            is_set: simple.ends_with("Set") || simple.ends_with("SetView"),
            is_map: simple[..simple.find('$').unwrap_or(simple.len())].ends_with("Map"),
            is_view: element.starts_with("java.util.Collections$"),
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
        let mut roles: Vec<TypeRole> =
            heap.types().iter().map(|t| TypeRole::of(super::names::type_name(t), t.kind)).collect();
        for of in 0..roles.len() {
            let nearest = above(heap, TypeId(of as u32)).find_map(|t| roles[t.0 as usize].collection);
            roles[of].extends = nearest;
        }
        Folding { heap, roles }
    }

    /// Whether an object of one type is the inside of its owner. `container` is the type of what the owner is the inside of
    /// already, or the owner's own.
    pub(super) fn is_inside(&self, of: TypeId, owner: TypeId, container: TypeId) -> bool {
        let [own, by, around] = [of, owner, container].map(|t| &self.roles[t.0 as usize]);
        // The next of a list or a tree: one chain, however long.
        if of == owner && (own.collection.is_none() || own.is_nested) {
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
        let nested = own.is_nested && own.is_part && !own.is_view && self.declares(container, of);
        let backing = (around.is_set && own.is_map) || around.is_view;
        nested || backing
    }

    /// Whether a type is a collection of a library, or an inside of one.
    pub(super) fn is_collection(&self, of: TypeId) -> bool {
        let role = &self.roles[of.0 as usize];
        role.collection.is_some() || role.is_reference_array || role.is_primitive_array
    }

    /// Whether a type is declared within another: an entry, a node.
    pub(super) fn is_nested(&self, of: TypeId) -> bool {
        self.roles[of.0 as usize].is_nested
    }

    /// Whether a type or one it extends is the outermost class around another.
    fn declares(&self, container: TypeId, nested: TypeId) -> bool {
        let name = super::names::type_name(&self.heap.types()[nested.0 as usize]);
        let outer = &name[..self.roles[nested.0 as usize].outer];
        above(self.heap, container).any(|t| {
            let around = super::names::type_name(&self.heap.types()[t.0 as usize]);
            around[..self.roles[t.0 as usize].outer.min(around.len())] == *outer
        }) || (self.roles[container.0 as usize].is_set && outer.ends_with("Map"))
    }
}

/// A type and those it extends, nearest first.
fn above(heap: &HeapState, of: TypeId) -> impl Iterator<Item = TypeId> + '_ {
    std::iter::successors(Some(of), |t| heap.types().get(t.0 as usize)?.superclass).take(20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_heap::{HeapBuilder, HeapType};

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
        ];
        let mut heap = HeapBuilder::new();
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
            // Contents.
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
