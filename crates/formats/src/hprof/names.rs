//! Names of threads: recent JVMs write them nowhere but in the heap itself, as the string a thread object refers to.
//! The few objects wanted are looked up again in the pieces that can hold them.

use super::census::Census;
use super::cursor::id_at;
use super::segment::{self, ClassRecord, Visitor};
use super::{Header, Index};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::input::Input;
use rayon::prelude::*;

/// Names of threads by thread object.
#[derive(Default)]
pub(super) struct Names {
    threads: AHashMap<u64, String>,
}

/// More threads than this keep their numbers: a name each is not worth the reading.
const MOST_THREADS: usize = 2000;
/// A longer name is cut.
const LONGEST: usize = 200;

impl Names {
    /// The name of a thread object.
    pub(super) fn thread(&self, object: u64) -> Option<String> {
        self.threads.get(&object).cloned()
    }

    /// Reads the names of all threads that are roots.
    pub(super) fn read(input: &Input, header: &Header, index: &Index, census: &Census) -> Names {
        let records: AHashMap<u64, &ClassRecord> = census.records.iter().map(|r| (r.id, r)).collect();
        let reader = Reader { input, header, index, census, records };
        let threads: AHashSet<u64> =
            census.roots.iter().filter(|r| r.tag == 0x08).map(|r| r.object).take(MOST_THREADS).collect();
        let found = reader.find(&threads);
        let string_of: AHashMap<u64, u64> =
            found.iter().filter_map(|(o, f)| Some((*o, reader.reference(f, "name")?))).collect();
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
        Names { threads: string_of.iter().filter_map(|(thread, string)| Some((*thread, text(string)?))).collect() }
    }
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|c| unit(*c)).collect();
    String::from_utf16_lossy(&units)
}

/// The record of a wanted object.
struct Found {
    /// Class of an instance.
    class: u64,
    /// Kind of a primitive array; 0 for instances.
    kind: u8,
    values: Vec<u8>,
}

struct Reader<'a> {
    input: &'a Input,
    header: &'a Header,
    index: &'a Index,
    census: &'a Census,
    records: AHashMap<u64, &'a ClassRecord>,
}

struct Search<'a> {
    wanted: &'a AHashSet<u64>,
    found: Vec<(u64, Found)>,
}

impl Visitor for Search<'_> {
    fn instance(&mut self, id: u64, _: u32, class: u64, values: &[u8]) {
        if self.wanted.contains(&id) {
            self.found.push((id, Found { class, kind: 0, values: values.to_vec() }));
        }
    }

    fn primitive_array(&mut self, id: u64, _: u32, kind: u8, _: u32, elements: &[u8]) {
        if self.wanted.contains(&id) {
            let most = elements.len().min(LONGEST * 2);
            self.found.push((id, Found { class: 0, kind, values: elements[..most].to_vec() }));
        }
    }
}

impl Reader<'_> {
    fn find(&self, wanted: &AHashSet<u64>) -> AHashMap<u64, Found> {
        let may_hold = |low: u64, high: u64| wanted.iter().any(|w| (low..=high).contains(w));
        let pieces: Vec<_> = self.census.spans.iter().filter(|(_, low, high)| may_hold(*low, *high)).collect();
        let found: Vec<(u64, Found)> = pieces
            .par_iter()
            .flat_map_iter(|(piece, ..)| {
                let mut search = Search { wanted, found: Vec::new() };
                let _ = segment::walk(self.input.bytes(), piece.clone(), self.header.id_size, &mut search);
                search.found
            })
            .collect();
        found.into_iter().collect()
    }

    /// The bytes of a field from its place in the record on.
    fn field<'f>(&self, found: &'f Found, name: &str) -> Option<&'f [u8]> {
        let mut at = 0;
        let mut class = self.records.get(&found.class);
        for _ in 0..1000 {
            let record = class?;
            for (&field, &kind) in record.field_names.iter().zip(&record.fields) {
                if self.index.string(self.input.bytes(), field).as_deref() == Some(name) {
                    return found.values.get(at..);
                }
                at += segment::width(kind, self.header.id_size)?;
            }
            class = self.records.get(&record.superclass);
        }
        None
    }

    fn reference(&self, found: &Found, name: &str) -> Option<u64> {
        id_at(self.field(found, name)?, self.header.id_size).filter(|&id| id != 0)
    }

    fn byte(&self, found: &Found, name: &str) -> Option<u8> {
        self.field(found, name)?.first().copied()
    }
}
