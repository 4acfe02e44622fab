//! GC roots: what keeps objects alive from outside the heap.

use crate::{BitSet, ObjectId};
use rustc_hash::FxHashMap;

/// The kinds of GC roots (spec: heap analysis, "GC roots").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the field's terms
pub enum RootKind {
    ClassLoader = 1,
    StaticField = 2,
    Thread = 3,
    LocalVariable = 4,
    CodeBlob = 5,
    Jni = 6,
    Jvmti = 7,
    Monitor = 8,
    Management = 9,
    Other = 10,
}

impl RootKind {
    /// The kind for people.
    pub fn title(self) -> &'static str {
        match self {
            RootKind::ClassLoader => "Class loader",
            RootKind::StaticField => "Static field",
            RootKind::Thread => "Thread",
            RootKind::LocalVariable => "Local variable",
            RootKind::CodeBlob => "Compiled code",
            RootKind::Jni => "JNI",
            RootKind::Jvmti => "JVMTI",
            RootKind::Monitor => "Monitor",
            RootKind::Management => "Management",
            RootKind::Other => "Other root",
        }
    }

    /// The place in the code that the detail of a root of this kind names, see [`Root::place`].
    pub fn place_in(self, detail: &str) -> Option<&str> {
        let [_, place] = of_thread(detail)?;
        // Of a method at least its parameters are known; names of threads are no places, whatever they are.
        (self == RootKind::LocalVariable && detail.ends_with(place) && place.contains('(')).then_some(place)
    }
}

/// A GC root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The object it keeps alive.
    pub object: ObjectId,
    /// Its kind.
    pub kind: RootKind,
    /// Extra information for people, in one of the forms that [`Root::chain`] takes apart: `com.acme.Cache.entries` of
    /// static fields; of others `thread "main", com.acme.Main.run() line 12`, `stack of thread "main"`,
    /// `thread "main"`, or any other text. Empty when there is none.
    pub detail: String,
}

impl Root {
    /// Kind and detail, for people.
    pub fn text(&self) -> String {
        format!("{}: {}", self.kind.title(), self.detail)
    }

    /// From the kind of the root to its place, each part below the one before it: kind, class, field of static fields;
    /// kind, thread, place in the code of variables; kind, what it is, thread of what belongs to a thread otherwise.
    ///
    /// Names of threads may hold anything, places in the code and names of fields no quotation mark and no dot: a detail
    /// is taken apart where only one way of doing so is possible.
    pub fn chain(&self) -> impl Iterator<Item = &str> {
        let detail = self.detail.as_str();
        let parts = match self.kind {
            RootKind::StaticField => detail.rsplit_once('.').map(|(class, field)| [class, field]),
            _ => of_thread(detail),
        };
        let parts = parts.unwrap_or([detail, ""]);
        std::iter::once(self.kind.title()).chain(parts.into_iter().filter(|p| !p.is_empty()))
    }

    /// Where in the code a local variable is, as allocation sites are written: `com.acme.Main.run() line 12`. `None` of all else, and
    /// where the input does not tell the method.
    pub fn place(&self) -> Option<&str> {
        self.kind.place_in(&self.detail)
    }

    /// Whether it is a variable of the program: a static field, a local variable, or a JNI handle that belongs to a
    /// thread (which is a local variable of native code).
    pub fn is_variable(&self) -> bool {
        match self.kind {
            RootKind::StaticField | RootKind::LocalVariable => true,
            RootKind::Jni => of_thread(&self.detail).is_some(),
            _ => false,
        }
    }
}

/// The two parts of `thread "NAME", PLACE`, `WHAT of thread "NAME"`, `WHAT of "NAME"`; of `thread "NAME"` only the first.
fn of_thread(detail: &str) -> Option<[&str; 2]> {
    if let Some(named) = detail.strip_prefix("thread \"") {
        return match named.rsplit_once("\", ") {
            Some((name, place)) => Some([name, place]),
            None => named.strip_suffix('"').map(|name| [name, ""]),
        };
    }
    let (what, name) = detail.strip_suffix('"')?.split_once(" of ")?;
    let name = name.strip_prefix("thread \"").or_else(|| name.strip_prefix('"'))?;
    Some([what, name])
}

/// Which roots hold an object directly.
pub(crate) struct RootsByObject {
    /// The objects that roots hold: most objects are in nobody's hand, and the question is asked of all.
    held: BitSet,
    /// Numbers of roots, by object, then as they come.
    order: Vec<u32>,
    /// By root: the first of those that are equal but for their object.
    alike: Vec<u32>,
}

impl RootsByObject {
    /// Of the roots of a heap of `objects` objects: O(r log r) for r roots; 8 bytes each and a bit an object.
    pub(crate) fn new(roots: &[Root], objects: usize) -> RootsByObject {
        let mut held = BitSet::new(objects);
        let mut order: Vec<u32> =
            (0..roots.len() as u32).filter(|&r| (roots[r as usize].object.0 as usize) < objects).collect();
        order.sort_by_key(|&r| roots[r as usize].object);
        for &r in &order {
            held.insert(roots[r as usize].object.0);
        }
        let mut known: FxHashMap<(RootKind, &str), u32> = FxHashMap::default();
        let alike =
            roots.iter().enumerate().map(|(r, root)| *known.entry((root.kind, &root.detail)).or_insert(r as u32));
        RootsByObject { held, order, alike: alike.collect() }
    }

    /// The objects that roots hold.
    pub(crate) fn held(&self) -> &BitSet {
        &self.held
    }

    /// A number that equal roots have in common, of an object that one root alone holds.
    #[inline]
    pub(crate) fn only_root_of(&self, roots: &[Root], o: ObjectId) -> Option<u32> {
        match self.of(roots, o) {
            [one] => Some(self.alike[*one as usize]),
            _ => None,
        }
    }

    /// The numbers of the roots that hold an object.
    #[inline]
    pub(crate) fn of(&self, roots: &[Root], o: ObjectId) -> &[u32] {
        if !self.held.contains(o.0) {
            return &[];
        }
        let object = |r: &u32| roots[*r as usize].object;
        let start = self.order.partition_point(|r| object(r) < o);
        let end = start + self.order[start..].partition_point(|r| object(r) == o);
        &self.order[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn details_are_taken_apart() {
        use RootKind as K;
        for (kind, detail, expected) in [
            (K::StaticField, "com.acme.Cache.entries", vec!["Static field", "com.acme.Cache", "entries"]),
            (K::StaticField, "Main.all", vec!["Static field", "Main", "all"]),
            (K::LocalVariable, "thread \"main\", a.B.c() line 12", vec!["Local variable", "main", "a.B.c() line 12"]),
            (K::LocalVariable, "thread \"a\", b\", unknown", vec!["Local variable", "a\", b", "unknown"]),
            (
                K::LocalVariable,
                "thread \"x.Y.z() line 1\", a.B.c(int)",
                vec!["Local variable", "x.Y.z() line 1", "a.B.c(int)"],
            ),
            (K::LocalVariable, "thread \"x.Y.z() line 1\"", vec!["Local variable", "x.Y.z() line 1"]),
            (K::LocalVariable, "stack of thread \"x.Y.z()\"", vec!["Local variable", "stack", "x.Y.z()"]),
            (K::LocalVariable, "stack of thread \"x of y\"", vec!["Local variable", "stack", "x of y"]),
            (K::Thread, "thread \"main\"", vec!["Thread", "main"]),
            (K::Thread, "thread block of \"main\"", vec!["Thread", "thread block", "main"]),
            (K::Jni, "JNI local of thread \"main\"", vec!["JNI", "JNI local", "main"]),
            (K::Jni, "JNI global", vec!["JNI", "JNI global"]),
            (K::Other, "", vec!["Other root"]),
        ] {
            let root = Root { object: ObjectId(0), kind, detail: detail.into() };
            assert_eq!(root.chain().collect::<Vec<_>>(), expected, "{detail}");
            let variable = kind == K::StaticField || kind == K::LocalVariable || detail.contains("JNI local");
            assert_eq!(root.is_variable(), variable, "{detail}");
            assert_eq!(root.place(), expected.last().copied().filter(|last| last.starts_with("a.B.c(")), "{detail}");
        }
    }

    proptest! {
        #[test]
        fn the_roots_of_an_object_are_those_that_name_it(held in prop::collection::vec(0u32..40, 0..60)) {
            let root = |&o: &u32| Root { object: ObjectId(o), kind: RootKind::Other, detail: String::new() };
            let roots: Vec<Root> = held.iter().map(root).collect();
            let index = RootsByObject::new(&roots, 30);
            for o in 0..30 {
                let expected: Vec<u32> = (0..held.len() as u32).filter(|&r| held[r as usize] == o).collect();
                prop_assert_eq!(index.of(&roots, ObjectId(o)), &expected[..]);
            }
        }
    }
}
