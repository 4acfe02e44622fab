//! One heap state for inspection, object by object.

use super::names::{address_text, class_or_type};
use crate::ownership::keeping::ClassObjects;
use crate::tabular::count_text;
use crate::timeline::{Amount, History, NodeId, Source};
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, Root, RootKind, TypeId};
use std::sync::{Arc, Mutex, OnceLock};

/// A heap state with the facts about its objects, and caches of everything read or computed before.
///
/// Memory beside the heap state: a number for each class. From the first use of values on, the input stays open (for a packed dump its
/// unpacked bytes); from the first use of owners on, the dominator tree exists. So keep one at a time.
pub struct InspectedHeap<'s> {
    source: HeldSource<'s>,
    time: usize,
    rules: KeepRules,
    heap: Arc<HeapState>,
    class_objects: ClassObjects,
    /// Once asked for: the values, or that the input has none.
    values: Mutex<Option<Option<Arc<HeapValues>>>>,
    dominators: OnceLock<Arc<Dominators>>,
    /// Held while the dominator tree is made: it is large, and made once.
    making: Mutex<()>,
}

/// The source of the state.
enum HeldSource<'s> {
    Shared(Arc<Source>),
    Lent(&'s Source),
}

impl HeldSource<'_> {
    fn get(&self) -> &Source {
        match self {
            HeldSource::Shared(source) => source,
            HeldSource::Lent(source) => source,
        }
    }
}

/// A GC root that holds an object directly, or several of which the same is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectRoot {
    /// The kind of the root.
    pub kind: RootKind,
    /// Its details for people, without the kind; may be empty.
    pub text: String,
    /// For a local variable the method and the line, if known.
    pub place: Option<String>,
}

/// Why there is nothing to look at one by one, for people.
fn no_objects() -> Error {
    Error::Unusable {
        what: "The input has trees that another program counted, not objects: there is none to look at".into(),
        remedy: "Open heap dumps or a memory trace to see single objects, their fields and who holds them".into(),
    }
}

impl InspectedHeap<'static> {
    /// As [`InspectedHeap::new`], with a shared source.
    ///
    /// # Errors
    /// As there.
    pub fn shared(source: Arc<Source>, time: usize, rules: KeepRules, progress: &Progress) -> Result<Self> {
        InspectedHeap::of(HeldSource::Shared(source), time, rules, progress)
    }
}

impl<'s> InspectedHeap<'s> {
    /// Loads the state at a point in time.
    ///
    /// # Errors
    /// When the input has no objects, the state cannot be loaded again, or the work was cancelled.
    pub fn new(source: &'s Source, time: usize, rules: KeepRules, progress: &Progress) -> Result<InspectedHeap<'s>> {
        InspectedHeap::of(HeldSource::Lent(source), time, rules, progress)
    }

    fn of(source: HeldSource<'s>, time: usize, rules: KeepRules, progress: &Progress) -> Result<InspectedHeap<'s>> {
        let heap = source.get().heaps().ok_or_else(no_objects)?.heap(time, progress)?;
        let class_objects = ClassObjects::new(&heap);
        Ok(InspectedHeap {
            source,
            time,
            rules,
            heap,
            class_objects,
            values: Mutex::default(),
            dominators: OnceLock::new(),
            making: Mutex::new(()),
        })
    }

    /// `Ok` if single objects of a source can be inspected; otherwise the reason, for people.
    ///
    /// # Errors
    /// When they cannot.
    pub fn offered(source: &Source) -> std::result::Result<(), String> {
        match source.heaps() {
            Some(_) => Ok(()),
            None => Err(no_objects().to_string()),
        }
    }

    /// The point in time.
    pub fn time(&self) -> usize {
        self.time
    }

    /// The heap state.
    pub fn heap(&self) -> &Arc<HeapState> {
        &self.heap
    }

    /// The rules for references.
    pub fn rules(&self) -> KeepRules {
        self.rules
    }

    pub(super) fn history(&self) -> Result<&History> {
        self.source.get().heaps().ok_or_else(no_objects)
    }

    /// The objects of several groups, as one set.
    ///
    /// # Errors
    /// When the state cannot be loaded again, or the work was cancelled.
    pub fn objects_of(&self, nodes: &[NodeId], progress: &Progress) -> Result<BitSet> {
        Ok(self.history()?.objects_of(self.time, nodes, progress)?.objects)
    }

    /// True if the input may have values of objects: dumps do, traces do not.
    pub fn may_have_values(&self) -> bool {
        !self.source.get().is_recorded()
    }

    /// The values of objects; `None` if the input has none. Read once, then kept.
    ///
    /// # Errors
    /// When the input cannot be read again, or the work was cancelled.
    pub fn values(&self, progress: &Progress) -> Result<Option<Arc<HeapValues>>> {
        // Whoever asks second waits for the first: the input is unpacked once.
        let mut values = self.values.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(values) = &*values {
            return Ok(values.clone());
        }
        let found = self.history()?.values(self.time, progress)?.map(Arc::new);
        *values = Some(found.clone());
        Ok(found)
    }

    /// The dominator tree with its index of owned objects. Built once, then kept.
    ///
    /// # Errors
    /// When cancelled.
    pub fn dominators(&self, progress: &Progress) -> Result<&Arc<Dominators>> {
        if let Some(found) = self.dominators.get() {
            return Ok(found);
        }
        let _making = self.making.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(found) = self.dominators.get() {
            return Ok(found);
        }
        let (_, found) = self.history()?.dominators(self.time, self.rules, progress)?;
        // Whoever draws must not be the first to ask for the index.
        found.owned_count(None);
        Ok(self.dominators.get_or_init(|| found))
    }

    /// The dominator tree, if it was built already.
    pub fn known_dominators(&self) -> Option<&Arc<Dominators>> {
        self.dominators.get()
    }

    /// Bytes that the dominator tree takes, about: as much is taken again while it is made.
    pub fn dominator_memory(&self) -> u64 {
        32 * self.heap.object_count() as u64
    }

    /// The retained amount of an object, once the dominator tree exists; nothing for unreachable objects.
    pub fn retained(&self, o: ObjectId) -> Option<Amount> {
        self.dominators.get().map(|tree| tree.retained(o))
    }

    /// The type of an object for people; of a class object the class.
    pub fn name(&self, o: ObjectId) -> String {
        class_or_type(&self.heap, &self.class_objects, o)
    }

    /// The class that an object stands for, where it is a class object.
    pub fn class_of(&self, o: ObjectId) -> Option<TypeId> {
        self.class_objects.type_of(o)
    }

    /// Where an object is: `0x7f00a8`, or `#4711` by the number of its recorder.
    pub fn address(&self, o: ObjectId) -> String {
        address_text(&self.heap, o)
    }

    /// The object of an address or number as [`InspectedHeap::address`] writes it; `None` where there is none.
    pub fn object_at(&self, text: &str) -> Option<ObjectId> {
        let text = text.trim();
        if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            return self.heap.object_at(u64::from_str_radix(hex, 16).ok()?);
        }
        self.heap.object_with_id(text.strip_prefix('#')?.parse().ok()?)
    }

    /// Whether the input says how old objects are.
    pub fn knows_ages(&self) -> bool {
        self.heap.origins().is_some()
    }

    /// The GC roots that hold an object directly, for people: those with a thread and a method first, the same text once,
    /// with how often it is there.
    pub fn roots(&self, o: ObjectId) -> Vec<DirectRoot> {
        let mut lines: Vec<(RootKind, String, usize)> = Vec::new();
        for root in self.heap.roots_of(o) {
            let text = root.detail.clone();
            match lines.iter_mut().find(|(kind, known, _)| *kind == root.kind && *known == text) {
                Some((.., count)) => *count += 1,
                None => lines.push((root.kind, text, 1)),
            }
        }
        lines.sort();
        let counted = |(kind, text, count): (RootKind, String, usize)| {
            let place = kind.place_in(&text).map(str::to_owned);
            let text = match count {
                1 => text,
                count => format!("{text} (x {})", count_text(count as u64)),
            };
            DirectRoot { kind, text, place }
        };
        lines.into_iter().map(counted).collect()
    }

    /// Origin and life of an object: name and value, for people. Empty for dumps.
    pub fn life(&self, o: ObjectId) -> Vec<(&'static str, String)> {
        let facts = self.heap.facts(o);
        let mut lines = Vec::new();
        if let Some(life) = facts.life {
            lines.push(("Survived", format!("{} garbage collections", count_text(life.age.into()))));
            lines.push(("Space", life.space.title().to_owned()));
            lines.push(("Allocated by", format!("thread {}, {}", life.thread, life.allocator.title())));
        }
        if !facts.site.is_empty() {
            lines.push(("Allocated at", facts.site.join(" ‹ ")));
        }
        lines
    }
}

/// Why there may be no values, for people.
pub const NO_VALUES: &str = "The input records which object refers to which, not what fields hold: texts and numbers take \
    a heap dump";

/// A root, for people: its kind and place.
pub(super) fn root_text(root: &Root) -> String {
    match root.detail.is_empty() {
        true => root.kind.title().to_owned(),
        false => root.text(),
    }
}
