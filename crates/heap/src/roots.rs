//! GC roots: references from outside the heap that keep objects alive.

use super::bits::BitSet;
use super::types::ObjectId;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::RwLock;

/// How virtual threads without a name are called in the details of roots, all of them.
pub const VIRTUAL_THREADS: &str = "virtual threads";

/// The kinds of GC roots (spec: heap analysis, "GC roots"): those of Java, and those that another runtime has words of its own for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the names are the field's terms
pub enum RootKind {
    ClassLoader,
    StaticField,
    Thread,
    LocalVariable,
    CodeBlob,
    Jni,
    Jvmti,
    Monitor,
    Management,
    Other,
    /// A kind with words of its own, see [`RootKind::named`].
    Own {
        /// The words.
        words: RootWords,
        /// Whether such roots hold an object only while some code runs, see [`RootKind::is_passing`].
        passing: bool,
    },
}

/// The words of a kind of roots. Equal words are the same in all heap states. They come in the order of the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RootWords(u16);

/// The words of all kinds that were named, by number.
static WORDS: RwLock<Vec<&'static str>> = RwLock::new(Vec::new());

/// Most kinds with words of their own, in all inputs of a process: runtimes have twenty or so.
const MOST_KINDS: usize = 1000;
/// Most bytes of their words.
const MOST_WORDS: usize = 100;

impl RootWords {
    fn text(self) -> &'static str {
        WORDS.read().unwrap_or_else(|e| e.into_inner()).get(usize::from(self.0)).copied().unwrap_or("Other root")
    }
}

impl Ord for RootWords {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text().cmp(other.text())
    }
}

impl PartialOrd for RootWords {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The kinds that all formats know, by number from 1 on.
const KINDS: [RootKind; 10] = [
    RootKind::ClassLoader,
    RootKind::StaticField,
    RootKind::Thread,
    RootKind::LocalVariable,
    RootKind::CodeBlob,
    RootKind::Jni,
    RootKind::Jvmti,
    RootKind::Monitor,
    RootKind::Management,
    RootKind::Other,
];

impl RootKind {
    /// A kind of roots in the words of its runtime: `(Global handles)`. The same words are the same kind. `passing`: see
    /// [`RootKind::is_passing`]. Words are kept as long as the process: at most a thousand of at most 100 bytes, beyond which the kind is
    /// [`RootKind::Other`].
    pub fn named(words: &str, passing: bool) -> RootKind {
        let mut all = WORDS.write().unwrap_or_else(|e| e.into_inner());
        let number = match all.iter().position(|known| *known == words) {
            Some(known) => known,
            None if all.len() >= MOST_KINDS || words.len() > MOST_WORDS => return RootKind::Other,
            None => {
                all.push(Box::leak(words.into()));
                all.len() - 1
            }
        };
        RootKind::Own { words: RootWords(number as u16), passing }
    }

    /// The number of the kind in files, from 1 on. Kinds with words of their own have that of [`RootKind::Other`].
    pub fn number(self) -> u8 {
        KINDS.iter().position(|kind| *kind == self).map_or(KINDS.len() as u8, |at| at as u8 + 1)
    }

    /// The kind of such a number.
    pub fn of_number(number: u32) -> Option<RootKind> {
        KINDS.get((number as usize).checked_sub(1)?).copied()
    }

    /// True for kinds of roots that hold an object only while a method runs.
    #[inline]
    pub fn is_passing(self) -> bool {
        matches!(self, RootKind::LocalVariable | RootKind::Monitor | RootKind::Own { passing: true, .. })
    }

    /// The kind for people.
    pub fn title(self) -> &'static str {
        match self {
            RootKind::Own { words, .. } => words.text(),
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
        match (self.kind, self.detail.as_str()) {
            (RootKind::Own { words, .. }, "") => words.text().to_owned(),
            (kind, detail) => format!("{}: {detail}", kind.title()),
        }
    }

    /// The parts from the kind of the root to its place, each below the one before it. Static fields: kind, class, field. Variables: kind,
    /// thread, place in the code. Other roots of a thread: kind, detail, thread.
    ///
    /// Names of threads may hold any character; places in the code and names of fields hold no quotation mark and no dot. A detail is split
    /// only if there is one way to do so.
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

    /// True for a variable of the program: a static field, a local variable, or a JNI handle that belongs to a thread (which is a local
    /// variable of native code).
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

/// The roots that hold an object directly.
pub(crate) struct RootsByObject {
    /// The objects that roots hold directly. Most objects have none, and the check runs for all.
    held: BitSet,
    /// Numbers of roots, by object, then as they come.
    order: Vec<u32>,
    /// By root: the first root that is equal except for its object.
    alike: Vec<u32>,
}

impl RootsByObject {
    /// The index of a heap with `objects` objects: O(r log r) for r roots; 8 bytes each and a bit an object.
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
            (K::named("(Global handles)", false), "", vec!["(Global handles)"]),
            (K::named("(Stack roots)", true), "frame 3", vec!["(Stack roots)", "frame 3"]),
        ] {
            let root = Root { object: ObjectId(0), kind, detail: detail.into() };
            assert_eq!(root.chain().collect::<Vec<_>>(), expected, "{detail}");
            let variable = kind == K::StaticField || kind == K::LocalVariable || detail.contains("JNI local");
            assert_eq!(root.is_variable(), variable, "{detail}");
            assert_eq!(root.place(), expected.last().copied().filter(|last| last.starts_with("a.B.c(")), "{detail}");
        }
    }

    #[test]
    fn kinds_with_words_of_their_own_are_known_by_these() {
        let [b, a, again] = ["test (b)", "test (a)", "test (b)"].map(|words| RootKind::named(words, false));
        assert_eq!((b, b.title(), a.title()), (again, "test (b)", "test (a)"));
        assert!(a < b && b > RootKind::Other, "in the order of their words, behind the others");
        assert!(RootKind::named("test (b)", true).is_passing() && !b.is_passing());
        assert_eq!(RootKind::named(&"x".repeat(MOST_WORDS + 1), false), RootKind::Other);
        for kind in KINDS.into_iter().chain([b]) {
            let read = RootKind::of_number(kind.number().into());
            assert_eq!(read, Some(if kind == b { RootKind::Other } else { kind }));
        }
        assert_eq!((RootKind::of_number(0), RootKind::of_number(11)), (None, None));
        assert_eq!(size_of::<Root>(), 32, "as much as without such kinds");
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
