//! Stacks as a tree of calls, each with a number. The name of a new method is read while its class is on the stack and so cannot be
//! unloaded; later its id may be invalid.
//!
//! One hash over a whole stack finds a known one. Programs that load the same classes again and again have ever new ids for the same
//! methods. So a method is identified by its names and lines, and the map by id is a cache that is emptied when it is full. Bounded:
//! without room for further names and calls, new stacks have the number 0, "not known", and are counted.
//!
//! Classes of one name are kept apart by their loaders, as long as these are few: programs that load the same classes again and again have
//! ever new ones.

use crate::event::{Definition, MethodFacts};
use crate::names::source_name;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

/// A frame as the VM gives it: the method's id and the place in its bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawFrame {
    pub(crate) method: usize,
    pub(crate) location: i64,
}

/// A multiplicative hash of whole words. Keys are the VM's addresses, which no attacker chooses.
#[derive(Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }
    fn write_i32(&mut self, word: i32) {
        self.write_u64(word as u64);
    }
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

type ByWords = BuildHasherDefault<WordHasher>;

/// Most bytes of the tables: names and calls take three quarters of it, the caches by the VM's ids the rest.
const MOST_BYTES: usize = 32 << 20;
/// Stands for the callers of a stack that were not recorded: no number of a call.
const CUT: u32 = u32::MAX;
/// Typical bytes of an entry of the tables.
const STACK_BYTES: usize = 32;
const NODE_BYTES: usize = 40;
const METHOD_BYTES: usize = 64;

/// Most loaders to keep apart, and most classes of one name.
const MOST_LOADERS: usize = 256;
const MOST_OF_ONE_NAME: usize = 8;
/// The name for the loader of a class if it is unknown, or there are too many.
const UNKNOWN_LOADER: &str = "(unknown loader)";

/// The identity of a class's loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LoaderKey {
    /// The VM itself.
    Vm,
    /// The loader with this identity hash.
    Hash(i32),
    /// Not known.
    Unknown,
}

/// The tables.
pub(crate) struct StackTable {
    seed: u64,
    stacks: HashMap<u64, u32, ByWords>,
    nodes: HashMap<(u32, u32, i32), u32, ByWords>,
    /// By the VM's id; 0 for a method without room.
    methods: HashMap<usize, u32, ByWords>,
    /// By a hash over all its facts.
    named: HashMap<u64, u32>,
    names: RandomState,
    classes: HashMap<String, Vec<(LoaderKey, u32)>>,
    /// Numbers of classes.
    class_count: u32,
    /// Names of loaders, by their hashes; and the number of those with a class.
    loaders: HashMap<i32, String>,
    loader_classes: HashMap<String, u32>,
    /// Bytes of names and calls.
    bytes: usize,
    /// Bytes of the caches by the VM's ids.
    cached: usize,
    most: usize,
    /// Stacks and classes that found no room.
    refused: u64,
}

impl StackTable {
    pub(crate) fn new() -> StackTable {
        StackTable::within(MOST_BYTES)
    }

    fn within(most: usize) -> StackTable {
        StackTable {
            // From the system's randomness, by way of the standard library.
            seed: RandomState::new().hash_one(0u8),
            stacks: HashMap::default(),
            nodes: HashMap::default(),
            methods: HashMap::default(),
            named: HashMap::default(),
            names: RandomState::new(),
            classes: HashMap::default(),
            class_count: 0,
            loaders: HashMap::default(),
            loader_classes: HashMap::default(),
            bytes: 0,
            cached: 0,
            most,
            refused: 0,
        }
    }

    /// How often something found no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// The number of a class by its signature and loader, and its definition when it is new; 0 when there is no room. `class_of_loader` is
    /// asked for the signature of the loader's class when that is new.
    pub(crate) fn class(
        &mut self,
        signature: &str,
        loader: LoaderKey,
        class_of_loader: impl FnOnce() -> String,
        new: &mut Vec<Definition>,
    ) -> u32 {
        let of_name = self.classes.get(signature).map_or(&[][..], Vec::as_slice);
        let known = |key| of_name.iter().find(|(other, _)| *other == key).map(|(_, id)| *id);
        if let Some(id) = known(loader) {
            return id;
        }
        // Those of which nothing is known are one.
        let loader =
            if of_name.len() >= MOST_OF_ONE_NAME { LoaderKey::Unknown } else { self.told(loader, class_of_loader) };
        let of_name = self.classes.get(signature).map_or(&[][..], Vec::as_slice);
        if let Some((_, id)) = of_name.iter().find(|(other, _)| *other == loader) {
            return *id;
        }
        if !self.room(METHOD_BYTES + 3 * signature.len()) {
            self.refused += 1;
            return 0;
        }
        self.class_count += 1;
        let id = self.class_count;
        self.classes.entry(signature.to_owned()).or_default().push((loader, id));
        let name = match loader {
            LoaderKey::Vm => None,
            LoaderKey::Hash(hash) => self.loaders.get(&hash).cloned(),
            LoaderKey::Unknown => Some(UNKNOWN_LOADER.to_owned()),
        };
        new.push(Definition::Class { id, signature: signature.to_owned(), loader: name });
        id
    }

    /// A loader, named when it is new; not known where there is no room for its name.
    fn told(&mut self, loader: LoaderKey, class: impl FnOnce() -> String) -> LoaderKey {
        let LoaderKey::Hash(hash) = loader else { return loader };
        if self.loaders.contains_key(&hash) {
            return loader;
        }
        let class = source_name(&class());
        if class.is_empty() || self.loaders.len() >= MOST_LOADERS || !self.room(2 * (METHOD_BYTES + class.len())) {
            return LoaderKey::Unknown;
        }
        let count = self.loader_classes.entry(class.clone()).or_default();
        *count += 1;
        let name = if *count == 1 { class } else { format!("{class} #{count}") };
        self.loaders.insert(hash, name);
        loader
    }

    /// The number of a stack (innermost frame first), and the definitions of its new parts. A stack that `is_cut` has further callers.
    pub(crate) fn stack(
        &mut self,
        frames: &[RawFrame],
        is_cut: bool,
        mut facts: impl FnMut(usize) -> MethodFacts,
        new: &mut Vec<Definition>,
    ) -> u32 {
        if frames.is_empty() {
            return 0;
        }
        let mut hasher = WordHasher(self.seed);
        hasher.write_u64(u64::from(is_cut));
        for frame in frames {
            hasher.write_usize(frame.method);
            hasher.write_u64(frame.location as u64);
        }
        let fingerprint = hasher.finish();
        if let Some(&id) = self.stacks.get(&fingerprint) {
            return id;
        }
        let Some(id) = self.calls(frames, is_cut, &mut facts, new) else {
            self.refused += 1;
            return 0;
        };
        self.make_way(STACK_BYTES);
        self.stacks.insert(fingerprint, id);
        id
    }

    /// The number of the innermost call; none where there is no room.
    fn calls(
        &mut self,
        frames: &[RawFrame],
        is_cut: bool,
        facts: &mut impl FnMut(usize) -> MethodFacts,
        new: &mut Vec<Definition>,
    ) -> Option<u32> {
        let mut parent = if is_cut { CUT } else { 0 };
        for frame in frames.iter().rev() {
            let method = self.method(frame.method, facts, new)?;
            let location = i32::try_from(frame.location).unwrap_or(-1);
            if let Some(&node) = self.nodes.get(&(parent, method, location)) {
                parent = node;
                continue;
            }
            if !self.room(NODE_BYTES) {
                return None;
            }
            let id = self.nodes.len() as u32 + 1;
            self.nodes.insert((parent, method, location), id);
            let cut = parent == CUT;
            new.push(Definition::Frame { id, parent: if cut { 0 } else { parent }, method, location, cut });
            parent = id;
        }
        Some(parent)
    }

    fn method(
        &mut self,
        method: usize,
        facts: &mut impl FnMut(usize) -> MethodFacts,
        new: &mut Vec<Definition>,
    ) -> Option<u32> {
        let id = match self.methods.get(&method) {
            Some(&id) => id,
            None => {
                let id = self.name(facts(method), new);
                self.make_way(METHOD_BYTES);
                self.methods.insert(method, id);
                id
            }
        };
        Some(id).filter(|id| *id != 0)
    }

    /// The number of a method by its facts; 0 without room.
    fn name(&mut self, facts: MethodFacts, new: &mut Vec<Definition>) -> u32 {
        let key = self.names.hash_one(&facts);
        if let Some(&id) = self.named.get(&key) {
            return id;
        }
        // Its names stay in the table of strings, each with its key.
        let names = [&facts.class, &facts.name, &facts.signature, &facts.file].iter().map(|n| n.len()).sum::<usize>();
        if !self.room(METHOD_BYTES + 2 * names) {
            return 0;
        }
        let id = self.named.len() as u32 + 1;
        self.named.insert(key, id);
        new.push(Definition::Method { id, facts: Box::new(facts) });
        id
    }

    fn room(&mut self, bytes: usize) -> bool {
        let fits = self.bytes + bytes <= self.most / 4 * 3;
        if fits {
            self.bytes += bytes;
        }
        fits
    }

    /// Empties the caches by the VM's ids, which fill again as needed.
    fn make_way(&mut self, bytes: usize) {
        if self.cached + bytes > self.most / 4 {
            self.methods = HashMap::default();
            self.stacks = HashMap::default();
            self.cached = 0;
        }
        self.cached += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts(method: usize) -> MethodFacts {
        MethodFacts { name: format!("m{method}"), ..MethodFacts::default() }
    }

    proptest! {
        /// Following the definitions from a stack's number gives its frames again; equal stacks have equal numbers.
        #[test]
        fn definitions_tell_every_stack(stacks in prop::collection::vec(prop::collection::vec((1usize..6, 0i64..4), 1..12), 1..40)) {
            let mut table = StackTable::new();
            let mut new = Vec::new();
            let raw = |stack: &[(usize, i64)]| {
                stack.iter().map(|&(method, location)| RawFrame { method, location }).collect::<Vec<_>>()
            };
            let ids: Vec<u32> = stacks.iter().map(|s| table.stack(&raw(s), false, facts, &mut new)).collect();
            let (mut frames, mut methods) = (HashMap::new(), HashMap::new());
            for definition in &new {
                match definition {
                    Definition::Frame { id, parent, method, location, .. } => {
                        prop_assert!(*parent == 0 || frames.contains_key(parent), "a caller is defined first");
                        prop_assert!(frames.insert(*id, (*parent, *method, *location)).is_none());
                    }
                    Definition::Method { id, facts } => prop_assert!(methods.insert(*id, facts.name.clone()).is_none()),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            for (stack, id) in stacks.iter().zip(&ids) {
                let (mut told, mut at) = (Vec::new(), *id);
                while at != 0 {
                    let (parent, method, location) = frames[&at];
                    told.push((methods[&method].clone(), i64::from(location)));
                    at = parent;
                }
                let expected: Vec<_> = stack.iter().map(|(m, l)| (format!("m{m}"), *l)).collect();
                prop_assert_eq!(told, expected);
            }
            let defined = new.len();
            let again: Vec<u32> = stacks.iter().map(|s| table.stack(&raw(s), false, facts, &mut new)).collect();
            prop_assert_eq!((again, new.len()), (ids, defined));
        }
    }

    #[test]
    fn full_tables_refuse_and_count_and_what_is_known_stays_known() {
        let mut table = StackTable::within(1000);
        let mut new = Vec::new();
        let stack = |n: usize| [RawFrame { method: n, location: 1 }];
        let first = table.stack(&stack(1), false, facts, &mut new);
        let known = (0..200).filter(|n| table.stack(&stack(*n), false, facts, &mut new) != 0).count();
        assert!((2..20).contains(&known), "{known}");
        assert_eq!(table.refused() as usize, 200 - known);
        assert_eq!(table.stack(&stack(1), false, facts, &mut new), first);
        assert_ne!(first, 0);
    }

    /// A stack with further callers differs from one that begins there, even with the same calls.
    #[test]
    fn stacks_that_are_cut_say_so() {
        let mut table = StackTable::new();
        let mut new = Vec::new();
        let frames = [RawFrame { method: 1, location: 1 }, RawFrame { method: 2, location: 2 }];
        let whole = table.stack(&frames, false, facts, &mut new);
        let cut = table.stack(&frames, true, facts, &mut new);
        assert_ne!(whole, cut);
        let of_cut = |definition: &Definition| matches!(definition, Definition::Frame { cut: true, parent: 0, .. });
        assert_eq!(new.iter().filter(|d| of_cut(d)).count(), 1, "the outermost call: {new:?}");
        assert!(matches!(new.last(), Some(Definition::Frame { id, cut: false, .. }) if *id == cut));
        assert_eq!(table.stack(&frames, true, facts, &mut new), cut);
    }

    /// Two loaders have a class of one name each; a third class is the VM's. For classes counted by name the loader is unknown.
    #[test]
    fn classes_of_one_name_are_told_apart_by_their_loaders() {
        let mut table = StackTable::new();
        let mut new = Vec::new();
        let mut class = |signature: &str, loader, of: &str| {
            let before = new.len();
            let id = table.class(signature, loader, || of.to_owned(), &mut new);
            let told = new[before..].iter().map(|definition| match definition {
                Definition::Class { loader, .. } => loader.clone().unwrap_or_default(),
                other => panic!("{other:?}"),
            });
            (id, told.collect::<Vec<String>>())
        };
        let loader = |hash| LoaderKey::Hash(hash);
        assert_eq!(class("Lapp/A;", loader(7), "Lapp/Plugins;"), (1, vec!["app.Plugins".to_owned()]));
        assert_eq!(class("Lapp/A;", loader(-8), "Lapp/Plugins;"), (2, vec!["app.Plugins #2".to_owned()]));
        assert_eq!(class("Lapp/A;", loader(7), "unasked"), (1, vec![]));
        assert_eq!(class("Lapp/B;", loader(-8), "unasked"), (3, vec!["app.Plugins #2".to_owned()]));
        assert_eq!(class("[B", LoaderKey::Vm, "unasked"), (4, vec![String::new()]));
        assert_eq!(class("Lapp/A;", LoaderKey::Unknown, "unasked"), (5, vec!["(unknown loader)".to_owned()]));
        // Of a loader whose class is not told nothing is known.
        assert_eq!(class("Lapp/A;", loader(9), ""), (5, vec![]));
    }

    /// Ever new loaders of the same classes fill no table: the first few are kept apart, and the others are one.
    #[test]
    fn ever_new_loaders_are_one() {
        let mut table = StackTable::within(1_000_000);
        let mut new = Vec::new();
        let class = |n: i32| format!("Lapp/C{};", n % 100);
        let ids: Vec<u32> = (0..20_000)
            .map(|n| table.class(&class(n), LoaderKey::Hash(n / 100), || "Lapp/Loader;".to_owned(), &mut new))
            .collect();
        assert!(new.len() <= 100 * (MOST_OF_ONE_NAME + 1) && table.refused() == 0, "{}", new.len());
        assert!(ids.iter().all(|id| *id != 0));
        assert_eq!(ids[10_000..10_100], ids[19_900..], "too many to be told apart");
        assert_ne!(ids[..100], ids[100..200]);
    }

    /// The same classes, loaded again and again, have ever new ids: they are named once, and never fill the tables.
    #[test]
    fn classes_that_are_loaded_again_are_what_they_were() {
        let mut table = StackTable::within(1000);
        let mut new = Vec::new();
        let stack = |n: usize| [RawFrame { method: 1000 + n, location: 1 }, RawFrame { method: 7, location: 2 }];
        let same = |method: usize| facts(method.min(1000));
        let ids: Vec<u32> = (0..500).map(|n| table.stack(&stack(n), false, same, &mut new)).collect();
        assert!(ids[0] != 0 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!((table.refused(), new.len()), (0, 4), "two methods, two calls");
    }
}
