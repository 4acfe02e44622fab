//! Reader of instance fields by name, from the file: references in the columns have lost their names.

use super::Dump;
use crate::hprof::cursor::Cursor;
use crate::hprof::segment::{self, ClassRecord};
use ahash::AHashMap;
use memory_city_heap::{HeapColumns, ObjectId};
use std::cell::RefCell;

/// Where a field stands among the field values of an instance, and its type.
type Place = Option<(usize, u8)>;

pub(super) struct Records<'a> {
    dump: &'a Dump<'a>,
    classes: AHashMap<u64, &'a ClassRecord>,
    places: RefCell<AHashMap<(u32, &'static str), Place>>,
}

impl<'a> Records<'a> {
    pub fn new(dump: &'a Dump<'a>) -> Records<'a> {
        let classes = dump.census.records.iter().map(|r| (r.id, r)).collect();
        Records { dump, classes, places: RefCell::default() }
    }

    /// The value of a field of an instance of a noted type.
    pub fn value(&self, columns: &HeapColumns, o: ObjectId, field: &'static str) -> Option<u64> {
        let noted = self.dump.noted;
        let (_, start) = noted[noted.binary_search_by_key(&o, |n| n.0).ok()?];
        let t = columns.type_of[o.0 as usize];
        let mut places = self.places.borrow_mut();
        let (at, kind) = (*places.entry((t, field)).or_insert_with(|| self.place(t, field)))?;
        let id_size = self.dump.header.id_size;
        let mut cursor = Cursor::new(self.dump.input.bytes(), start.checked_add(at)?);
        match segment::width(kind, id_size)? {
            1 => cursor.u8().map(u64::from),
            2 => cursor.u16().map(u64::from),
            4 => cursor.u32().map(u64::from),
            _ => cursor.u64(),
        }
    }

    /// The object a field refers to.
    pub fn reference(&self, columns: &HeapColumns, o: ObjectId, field: &'static str) -> Option<ObjectId> {
        self.value(columns, o, field).filter(|&id| id != 0).and_then(|id| columns.addresses.find(id))
    }

    fn place(&self, t: u32, field: &str) -> Place {
        let mut at = 0;
        let mut class = self.classes.get(&self.dump.classes.object_of[t as usize]);
        for _ in 0..crate::hprof::classes::DEEPEST {
            let record = class?;
            for (&name, &kind) in record.field_names.iter().zip(&record.fields) {
                if self.dump.index.is_named(self.dump.input.bytes(), name, field) {
                    return Some((at, kind));
                }
                at += segment::width(kind, self.dump.header.id_size)?;
            }
            class = self.classes.get(&record.superclass);
        }
        None
    }
}
