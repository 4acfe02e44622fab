//! Data read from the fields of a few objects: names of threads and parents of class loaders. Recent JVMs write the name of a thread only
//! into the heap, as the string that the thread object refers to. The wanted objects are looked up in the pieces of the file that can hold
//! them.

use super::census::Census;
use super::cursor::id_at;
use super::segment::{self, ClassRecord, Visitor};
use super::tags::root;
use super::{DumpHeader, DumpIndex};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::VIRTUAL_THREADS;
use memory_city_heap::input::Input;
use rayon::prelude::*;

/// Names of threads by thread object, parents of class loaders by loader object.
#[derive(Default)]
pub(super) struct ObjectNames {
    threads: AHashMap<u64, String>,
    parents: AHashMap<u64, u64>,
}

/// More threads than this keep their numbers.
const MOST_THREADS: usize = 1 << 20;
/// More class loaders than this are listed without their parents.
const MOST_LOADERS: usize = 100_000;
/// A parent that loaded no class itself is found through its children, up to so many generations.
const MOST_GENERATIONS: usize = 16;
/// A longer name is cut.
const LONGEST: usize = 200;

impl ObjectNames {
    /// The name of a thread object.
    pub(super) fn thread(&self, object: u64) -> Option<String> {
        self.threads.get(&object).cloned()
    }

    /// The parent of a class loader.
    pub(super) fn parent_of_loader(&self, loader: u64) -> Option<u64> {
        self.parents.get(&loader).copied()
    }

    /// All loaders that are parents of others.
    pub(super) fn loader_parents(&self) -> impl Iterator<Item = u64> {
        self.parents.values().copied()
    }

    /// Reads the names of all threads that are roots, and the parents of all class loaders.
    pub(super) fn read(input: &Input, header: &DumpHeader, index: &DumpIndex, census: &Census) -> ObjectNames {
        let records: AHashMap<u64, &ClassRecord> = census.records.iter().map(|r| (r.id, r)).collect();
        let reader = RecordReader { input, header, index, census, records };
        let threads: AHashSet<u64> =
            census.roots.iter().filter(|r| r.tag == root::THREAD_OBJECT).map(|r| r.object).take(MOST_THREADS).collect();
        let mut loaders: AHashSet<u64> =
            census.records.iter().map(|r| r.loader).filter(|&l| l != 0).take(MOST_LOADERS).collect();
        // Both at once: what holds the threads often holds the loaders.
        let found = reader.find(&threads.union(&loaders).copied().collect());
        let parents = reader.parents(&mut loaders, &found);
        let string_of: AHashMap<u64, u64> =
            threads.iter().filter_map(|o| Some((*o, reader.reference(found.get(o)?, "name")?))).collect();
        let strings = reader.find(&string_of.values().copied().collect());
        let array_of: AHashMap<u64, u64> =
            strings.iter().filter_map(|(o, f)| Some((*o, reader.reference(f, "value")?))).collect();
        let arrays = reader.find(&array_of.values().copied().collect());
        let text = |string: &u64| {
            let array = arrays.get(array_of.get(string)?)?;
            let wide = array.kind == 5 || reader.byte(strings.get(string)?, "coder") == Some(1);
            Some(match (array.kind, wide) {
                // Characters in dumps are big endian; the two-byte strings inside byte arrays are in machine order.
                (5, _) => utf16(&array.values, u16::from_be_bytes),
                (_, true) => utf16(&array.values, u16::from_le_bytes),
                _ => array.values.iter().map(|&b| char::from(b)).collect(),
            })
        };
        let redacted = census.texts.are_redacted();
        let name = |thread: &u64| match string_of.get(thread).and_then(text).filter(|_| !redacted) {
            Some(name) if !name.is_empty() => Some(name),
            _ if reader.is_virtual(found.get(thread)?) => Some(VIRTUAL_THREADS.to_owned()),
            named => named,
        };
        let threads = threads.iter().filter_map(|thread| Some((*thread, name(thread)?))).collect();
        ObjectNames { threads, parents }
    }
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|c| unit(*c)).collect();
    String::from_utf16_lossy(&units)
}

/// The record of a wanted object.
struct FoundObject {
    /// Class of an instance.
    class: u64,
    /// Kind of a primitive array; 0 for instances.
    kind: u8,
    values: Vec<u8>,
}

struct RecordReader<'a> {
    input: &'a Input,
    header: &'a DumpHeader,
    index: &'a DumpIndex,
    census: &'a Census,
    records: AHashMap<u64, &'a ClassRecord>,
}

struct ObjectSearch<'a> {
    wanted: &'a AHashSet<u64>,
    found: Vec<(u64, FoundObject)>,
}

impl Visitor for ObjectSearch<'_> {
    fn instance(&mut self, id: u64, _: u32, class: u64, values: &[u8]) {
        if self.wanted.contains(&id) {
            self.found.push((id, FoundObject { class, kind: 0, values: values.to_vec() }));
        }
    }

    fn primitive_array(&mut self, id: u64, _: u32, kind: u8, _: u32, elements: &[u8]) {
        if self.wanted.contains(&id) {
            let most = elements.len().min(LONGEST * 2);
            self.found.push((id, FoundObject { class: 0, kind, values: elements[..most].to_vec() }));
        }
    }
}

impl RecordReader<'_> {
    fn find(&self, wanted: &AHashSet<u64>) -> AHashMap<u64, FoundObject> {
        let mut sorted: Vec<u64> = wanted.iter().copied().collect();
        sorted.sort_unstable();
        let may_hold =
            |low: u64, high: u64| sorted[sorted.partition_point(|&w| w < low)..].first().is_some_and(|&w| w <= high);
        let pieces: Vec<_> = self.census.spans.iter().filter(|(_, low, high)| may_hold(*low, *high)).collect();
        let found: Vec<(u64, FoundObject)> = pieces
            .par_iter()
            .flat_map_iter(|(piece, ..)| {
                let mut search = ObjectSearch { wanted, found: Vec::new() };
                let _ = segment::walk(self.input.bytes(), piece.clone(), self.header.id_size, &mut search);
                search.found
            })
            .collect();
        found.into_iter().collect()
    }

    /// The parents of loaders, and of parents that loaded nothing and so are not among the loaders yet.
    fn parents(&self, loaders: &mut AHashSet<u64>, first: &AHashMap<u64, FoundObject>) -> AHashMap<u64, u64> {
        let of = |found: &AHashMap<u64, FoundObject>, loaders: &AHashSet<u64>| -> AHashMap<u64, u64> {
            let parent = |f: &FoundObject| {
                // Subclasses have fields of that name too: the one of `ClassLoader`, the topmost, counts.
                let bytes = self.fields(f, "parent").last()?;
                id_at(bytes, self.header.id_size).filter(|&id| id != 0)
            };
            loaders.iter().filter_map(|l| Some((*l, parent(found.get(l)?)?))).collect()
        };
        let mut parents = of(first, loaders);
        for _ in 0..MOST_GENERATIONS {
            let more: AHashSet<u64> = parents.values().copied().filter(|p| !loaders.contains(p)).collect();
            if more.is_empty() {
                break;
            }
            parents.extend(of(&self.find(&more), &more));
            loaders.extend(more);
        }
        parents
    }

    /// The bytes of a field from its place in the record on.
    fn field<'f>(&self, found: &'f FoundObject, name: &str) -> Option<&'f [u8]> {
        self.fields(found, name).next()
    }

    /// The same of all fields of that name, own class first.
    fn fields<'f>(&self, found: &'f FoundObject, name: &str) -> impl Iterator<Item = &'f [u8]> {
        self.places(found, name).into_iter().filter_map(|at| found.values.get(at..))
    }

    /// Where the fields of a name lie in the record, up to a field of unknown type.
    fn places(&self, found: &FoundObject, name: &str) -> Vec<usize> {
        let mut places = Vec::new();
        let mut at = 0;
        let mut class = self.records.get(&found.class);
        for _ in 0..1000 {
            let Some(record) = class else { break };
            for (&field, &kind) in record.field_names.iter().zip(&record.fields) {
                if self.index.string(self.input.bytes(), field).as_deref() == Some(name) {
                    places.push(at);
                }
                let Some(width) = segment::width(kind, self.header.id_size) else { return places };
                at += width;
            }
            class = self.records.get(&record.superclass);
        }
        places
    }

    /// True for a virtual thread: by its class, or one above.
    fn is_virtual(&self, found: &FoundObject) -> bool {
        let above = |class: &u64| self.records.get(class).map(|record| record.superclass);
        let name = |class: u64| self.index.class_name(self.input.bytes(), class);
        let mut classes = std::iter::successors(Some(found.class), above).take(super::classes::DEEPEST);
        classes.any(|class| {
            name(class).is_some_and(|name| name.starts_with("java.lang.") && name.ends_with("VirtualThread"))
        })
    }

    fn reference(&self, found: &FoundObject, name: &str) -> Option<u64> {
        id_at(self.field(found, name)?, self.header.id_size).filter(|&id| id != 0)
    }

    fn byte(&self, found: &FoundObject, name: &str) -> Option<u8> {
        self.field(found, name)?.first().copied()
    }
}
