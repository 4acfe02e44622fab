//! Dumps of invented heaps, written piece by piece: as large as wanted, in a few megabytes of memory.

use memory_city_testing::hprof_writer::Dump;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// A shape of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Customers in a map and orders in a list, with names, numbers and arrays: 13 objects and about 600 bytes of dump a unit.
    Business,
    /// One chain; an object a unit.
    Chain,
    /// A tree whose every second level goes one deeper: four objects a unit.
    DeepTree,
    /// Maps with two entries each in an array; six objects a unit.
    SmallMaps,
}

/// Type tags of fields.
const OBJECT: u8 = 2;
const INT: u8 = 10;
const LONG: u8 = 11;
const BYTE: u8 = 8;

/// Classes, by place: name, and the types of the fields.
const CLASSES: [(&str, &[u8]); 15] = [
    ("java/lang/Object", &[]),
    ("java/lang/Class", &[]),
    ("java/lang/String", &[OBJECT]),
    ("java/lang/Integer", &[INT]),
    ("java/util/HashMap", &[OBJECT, INT]),
    ("java/util/HashMap$Node", &[INT, OBJECT, OBJECT, OBJECT]),
    ("[Ljava/util/HashMap$Node;", &[]),
    ("java/util/ArrayList", &[OBJECT, INT]),
    ("[Ljava/lang/Object;", &[]),
    ("com/acme/Customer", &[OBJECT, OBJECT]),
    ("com/acme/Order", &[LONG, OBJECT, OBJECT, OBJECT]),
    ("com/acme/Link", &[OBJECT]),
    ("com/acme/Branch", &[OBJECT, OBJECT]),
    ("[Ljava/util/HashMap;", &[]),
    ("com/acme/Main", &[]),
];

const STRING: u64 = 2;
const INTEGER: u64 = 3;
const MAP: u64 = 4;
const ENTRY: u64 = 5;
const TABLE: u64 = 6;
const LIST: u64 = 7;
const ARRAY: u64 = 8;
const CUSTOMER: u64 = 9;
const ORDER: u64 = 10;
const LINK: u64 = 11;
const BRANCH: u64 = 12;
const MAPS: u64 = 13;
const MAIN: u64 = 14;

/// Addresses: of classes, of the objects that hold the rest, and of units.
const CLASS: u64 = 0x1_0000;
const TOP: u64 = 0x10_0000;
const UNITS: u64 = 0x1000_0000;
/// Bytes of addresses for an object.
const ROOM: u64 = 32;
/// Units in a segment of the dump.
const SEGMENT: u64 = 10_000;

fn class(place: u64) -> u64 {
    CLASS + place * 0x100
}

impl Shape {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Shape::Business => "maps, lists, records",
            Shape::Chain => "a chain",
            Shape::DeepTree => "a deep tree",
            Shape::SmallMaps => "small maps",
        }
    }

    /// Objects of a unit.
    fn objects(self) -> u64 {
        match self {
            Shape::Business => 13,
            Shape::Chain => 1,
            Shape::DeepTree => 4,
            Shape::SmallMaps => 6,
        }
    }

    /// Writes a dump of so many units.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(self, units: u64, path: &Path) -> Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut dump = Dump::new(2, 8, 1_700_000_000_000);
        self.write_top(&mut dump, units);
        for unit in 0..units {
            self.write_unit(&mut dump, unit, units);
            if unit % SEGMENT == SEGMENT - 1 {
                file.write_all(&dump.segment(0x1c).drain())?;
            }
        }
        file.write_all(&dump.finish())?;
        file.flush()
    }

    /// The address of an object of a unit.
    fn at(self, unit: u64, object: u64) -> u64 {
        UNITS + (unit * self.objects() + object) * ROOM
    }

    /// Classes, the root, and what holds all units.
    fn write_top(self, dump: &mut Dump, units: u64) {
        for (place, (name, fields)) in (0u64..).zip(CLASSES) {
            dump.load_class(place as u32 + 1, class(place), name);
            (0..4).for_each(|field| _ = dump.string(class(place) + 2 + field, &format!("field{field}")));
            let held: [u64; 2] = [TOP, if self == Shape::Business { TOP + ROOM } else { 0 }];
            let statics: Vec<(u64, u8, u64)> =
                (0..2).map(|i| (class(MAIN) + 2 + i, OBJECT, held[i as usize])).collect();
            let fields: Vec<(u64, u8)> = (0u64..).zip(fields).map(|(i, of)| (class(place) + 2 + i, *of)).collect();
            let superclass = if place == 0 { 0 } else { class(0) };
            dump.class(class(place), superclass, 0, if place == MAIN { &statics } else { &[] }, &fields);
            dump.root(0x05, class(place), &[]);
        }
        let first = |object: u64| (0..units).map(move |unit| self.at(unit, object)).collect::<Vec<u64>>();
        match self {
            Shape::Business => {
                dump.instance(TOP, 1, class(MAP), &[(OBJECT, TOP + 2 * ROOM), (INT, units)]);
                dump.instance(TOP + ROOM, 1, class(LIST), &[(OBJECT, TOP + 3 * ROOM), (INT, units)]);
                dump.object_array(TOP + 2 * ROOM, class(TABLE), &first(0));
                dump.object_array(TOP + 3 * ROOM, class(ARRAY), &first(5));
            }
            Shape::Chain => _ = dump.instance(TOP, 1, class(LINK), &[(OBJECT, self.at(0, 0))]),
            Shape::DeepTree => _ = dump.instance(TOP, 1, class(BRANCH), &[(OBJECT, self.at(0, 0)), (OBJECT, 0)]),
            Shape::SmallMaps => _ = dump.object_array(TOP, class(MAPS), &first(0)),
        }
    }

    fn write_unit(self, dump: &mut Dump, unit: u64, units: u64) {
        let at = |object: u64| self.at(unit, object);
        let next = if unit + 1 < units { self.at(unit + 1, 0) } else { 0 };
        let text = |dump: &mut Dump, string: u64, bytes: u64| {
            dump.instance(string, 1, class(STRING), &[(OBJECT, bytes)]);
            let letters: Vec<u64> = format!("customer {unit}").bytes().map(u64::from).collect();
            dump.primitive_array(bytes, BYTE, &letters);
        };
        match self {
            Shape::Business => {
                let entry = [(INT, unit), (OBJECT, at(2)), (OBJECT, at(1)), (OBJECT, 0)];
                dump.instance(at(0), 1, class(ENTRY), &entry);
                dump.instance(at(1), 1, class(CUSTOMER), &[(OBJECT, at(2)), (OBJECT, at(4))]);
                text(dump, at(2), at(3));
                dump.primitive_array(at(4), INT, &[unit; 6][..unit as usize % 7]);
                for order in 0..4 {
                    // A number that looks random.
                    let buyer = (4 * unit + order).wrapping_mul(0x9e37_79b9_7f4a_7c15) % (unit + 1);
                    let previous = if order < 3 { at(5 + 2 * (order + 1)) } else { 0 };
                    let buyer = self.at(buyer, 1);
                    let values = [(LONG, unit), (OBJECT, at(6 + 2 * order)), (OBJECT, buyer), (OBJECT, previous)];
                    dump.instance(at(5 + 2 * order), 1, class(ORDER), &values);
                    dump.instance(at(6 + 2 * order), 1, class(INTEGER), &[(INT, order)]);
                }
            }
            Shape::Chain => _ = dump.instance(at(0), 1, class(LINK), &[(OBJECT, next)]),
            Shape::DeepTree => {
                dump.instance(at(0), 1, class(BRANCH), &[(OBJECT, next), (OBJECT, at(1))]);
                dump.instance(at(1), 1, class(BRANCH), &[(OBJECT, at(2)), (OBJECT, at(3))]);
                dump.instance(at(2), 1, class(BRANCH), &[(OBJECT, 0), (OBJECT, 0)]);
                dump.instance(at(3), 1, class(BRANCH), &[(OBJECT, 0), (OBJECT, 0)]);
            }
            Shape::SmallMaps => {
                dump.instance(at(0), 1, class(MAP), &[(OBJECT, at(1)), (INT, 2)]);
                dump.object_array(at(1), class(TABLE), &[at(2), at(4), 0, 0]);
                for entry in [2, 4] {
                    let values = [(INT, entry), (OBJECT, at(entry + 1)), (OBJECT, at(entry + 1)), (OBJECT, 0)];
                    dump.instance(at(entry), 1, class(ENTRY), &values);
                    dump.instance(at(entry + 1), 1, class(INTEGER), &[(INT, unit)]);
                }
            }
        }
    }
}
