//! Values of objects: what was written is what is read, whatever else is wrong with the dump.

use memory_city_formats::hprof;
use memory_city_formats::values::{
    DetailLimits, FieldValue, HeapValues, ObjectContents, ObjectDetails, ObjectRecord, ReferencePlace, TextLimits,
    ValueKind,
};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, TypeId};
use memory_city_testing::hprof_writer::{Dump, NODE, STRING, reflective, small};
use memory_city_testing::{hprof_writer, jvm, root};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn values_of(bytes: Vec<u8>) -> HeapValues {
    values_if_any(bytes).expect("a heap")
}

/// `None` where nothing of the dump is left to read.
fn values_if_any(bytes: Vec<u8>) -> Option<HeapValues> {
    let heap = match hprof::load_bytes(Path::new("test.hprof"), bytes.clone()) {
        Ok(heap) => heap,
        Err(error) if error.to_string().contains("no objects") => return None,
        Err(error) => panic!("{error}"),
    };
    let input = Input::from_bytes(Path::new("test.hprof"), bytes);
    Some(hprof::values(input, Arc::new(heap), &Progress::new()).expect("values"))
}

fn at(values: &HeapValues, address: u64) -> ObjectId {
    values.heap().object_at(address).unwrap_or_else(|| panic!("an object at {address:#x}"))
}

fn details(values: &HeapValues, object: ObjectId) -> ObjectDetails {
    let mut all = values.details(&[object], DetailLimits::default(), &Progress::new()).expect("details");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn text(values: &HeapValues, object: ObjectId) -> Option<String> {
    values.texts(&[object], TextLimits::default(), &Progress::new()).expect("texts").remove(0)
}

fn places(values: &HeapValues, pairs: &[(ObjectId, ObjectId)]) -> Vec<String> {
    let places = values.reference_places(pairs, &Progress::new()).expect("places");
    places.iter().map(|p| p.as_ref().map_or("(none)".to_owned(), ReferencePlace::to_string)).collect()
}

#[test]
fn fields_elements_and_static_fields_are_read_by_name() {
    for (version, id_size) in [(1, 4), (2, 4), (2, 8), (3, 8)] {
        let values = values_of(small(version, id_size, 20));
        let [first, second, label, array, class, thread] =
            [0x2000, 0x2080, 0x2020, 0xa000_0000, NODE, 0x1800].map(|a| at(&values, a));
        let node = details(&values, first);
        assert_eq!(node.left_out, 0);
        assert_eq!(node.field("next"), Some(FieldValue::Object(second)));
        assert_eq!(node.field("label"), Some(FieldValue::Object(label)));
        assert_eq!(node.field("size"), None);
        assert_eq!(details(&values, at(&values, 0x1900)).field("next"), Some(FieldValue::Null));
        let held = details(&values, array).contents;
        let expected = [FieldValue::Object(first), FieldValue::Null, FieldValue::Object(first)];
        assert_eq!(held, ObjectContents::References(expected.to_vec()));
        let ObjectContents::Class { of, statics } = details(&values, class).contents else { panic!("a class") };
        assert_eq!(of, Some(values.heap().type_of(first)));
        let named: Vec<(&str, FieldValue)> = statics.iter().map(|f| (&*f.name, f.value)).collect();
        let above = at(&values, hprof_writer::OBJECT);
        assert_eq!(
            named,
            [
                ("list", FieldValue::Object(first)),
                ("label", FieldValue::Int(5)),
                ("<superclass>", FieldValue::Object(above))
            ]
        );
        assert_eq!(text(&values, label).as_deref(), Some("\"worker\""));
        assert_eq!(text(&values, thread).as_deref(), Some("\"worker\""));
        assert_eq!(text(&values, class).as_deref(), Some("class com.acme.Node"));
        assert_eq!(text(&values, first), None);
        let bytes = at(&values, 0x1700);
        assert_eq!(text(&values, bytes).as_deref(), Some("byte[6] \"worker\" {77 6f 72 6b 65 72}"));
        let pairs = [(first, second), (first, label), (array, first), (class, first), (class, above), (first, first)];
        let expected =
            ["Node.next", "Node.label", "[0]", "Node.list", "<superclass>", "(none)"].map(str::to_owned).to_vec();
        assert_eq!(places(&values, &pairs), expected);
        assert_eq!(places(&values, &[(first, class)]), ["<class>"]);
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let values = values_of(small(2, 8, 20));
    let limits = DetailLimits { fields: 1, elements: 2, bytes: 4 };
    let objects = [0x2000, 0xa000_0000, 0x1700].map(|a| at(&values, a));
    let found = values.details(&objects, limits, &Progress::new()).expect("details");
    assert_eq!(found.iter().map(|d| (d.len(), d.left_out)).collect::<Vec<_>>(), [(1, 1), (2, 1), (4, 2)]);
    let limits = TextLimits { characters: 3, elements: 2 };
    let texts = values.texts(&[at(&values, 0x2020), objects[2]], limits, &Progress::new()).expect("texts");
    let texts: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    assert_eq!(texts, ["\"wor…\" (3 more characters)", "byte[6] \"wor…\" (3 more characters) {77 6f … 4 more}"]);
}

#[test]
fn hidden_fields_have_names_too() {
    let values = values_of(hprof_writer::reflective(8));
    let pair = (at(&values, reflective::CLASS), at(&values, reflective::DATA[0]));
    assert_eq!(places(&values, &[pair]), ["Class.reflectionData"]);
}

/// Strings of old JDKs share arrays, those of Android count more than characters, recent ones have a coder.
#[test]
fn strings_of_all_ages_are_read() {
    const CHARS: u64 = 0x2000;
    const BYTES: u64 = 0x2100;
    let write = |names: &[(&str, u8)], values: &[(u8, u64)]| {
        let mut d = Dump::new(2, 8, 0);
        d.load_class(1, hprof_writer::OBJECT, "java/lang/Object").load_class(2, STRING, "java/lang/String");
        for (id, (name, _)) in (11..).zip(names) {
            d.string(id, name);
        }
        let fields: Vec<(u64, u8)> = (11..).zip(names).map(|(id, (_, kind))| (id, *kind)).collect();
        d.class(hprof_writer::OBJECT, 0, 0, &[], &[]).class(STRING, hprof_writer::OBJECT, 0, &[], &fields);
        d.primitive_array(CHARS, 5, &"abcdef".encode_utf16().map(u64::from).collect::<Vec<_>>());
        // In machine order: a euro sign and a lone half of a pair.
        d.primitive_array(BYTES, 8, &[0xac, 0x20, 0x3d, 0xd8]);
        d.instance(0x3000, 1, STRING, values);
        let values = values_of(d.finish());
        text(&values, at(&values, 0x3000))
    };
    let old = [("value", 2), ("offset", 10), ("count", 10)];
    assert_eq!(write(&old, &[(2, CHARS), (10, 2), (10, 3)]).as_deref(), Some("\"cde\""));
    // Damage: beyond the array.
    assert_eq!(write(&old, &[(2, CHARS), (10, 5), (10, u64::MAX)]).as_deref(), Some("\"f\""));
    assert_eq!(write(&old, &[(2, CHARS), (10, 0x7fff_ffff), (10, 3)]).as_deref(), Some("\"\""));
    assert_eq!(write(&[("value", 2)], &[(2, CHARS)]).as_deref(), Some("\"abcdef\""));
    assert_eq!(write(&[("value", 2), ("count", 10)], &[(2, CHARS), (10, 13)]).as_deref(), Some("\"abcdef\""));
    let coded = [("value", 2), ("coder", 8)];
    assert_eq!(write(&coded, &[(2, BYTES), (8, 1)]).as_deref(), Some("\"€\u{fffd}\""));
    assert_eq!(write(&coded, &[(2, BYTES), (8, 0)]).as_deref(), Some("\"¬ =Ø\""));
    assert_eq!(write(&coded, &[(2, 0), (8, 0)]), None);
    assert_eq!(write(&coded, &[(2, 0x9999), (8, 0)]), None);
    assert_eq!(write(&coded, &[(2, 0x3000), (8, 0)]), None);
    assert_eq!(write(&coded, &[(2, BYTES)]).as_deref(), Some("\"¬ =Ø\""));
}

/// A program of the property test: classes one below the other with fields of any kind, and instances and arrays of them.
#[derive(Clone, Debug)]
struct WrittenHeap {
    id_size: usize,
    /// Kinds of the own fields of each class; each is a subclass of the one before.
    classes: Vec<Vec<u8>>,
    /// Class and raw values.
    instances: Vec<(usize, Vec<u64>)>,
    arrays: Vec<Vec<usize>>,
    primitives: Vec<(u8, Vec<u64>)>,
}

const KINDS: [u8; 9] = [2, 4, 5, 6, 7, 8, 9, 10, 11];
const FIRST: u64 = 0x10_0000;

impl WrittenHeap {
    fn class(&self, c: usize) -> u64 {
        0x1_0000 + 0x100 * c as u64
    }

    /// Objects are numbered: instances, then arrays of references, then others; there are some numbers more, which lead
    /// nowhere. 0 is null.
    fn address(&self, o: usize) -> u64 {
        if o == 0 { 0 } else { FIRST + 0x100 * o as u64 }
    }

    fn objects(&self) -> usize {
        self.instances.len() + self.arrays.len() + self.primitives.len()
    }

    /// Kinds of all fields, own class first.
    fn kinds(&self, class: usize) -> Vec<(usize, usize, u8)> {
        let own = |c: usize| self.classes[c].iter().enumerate().map(move |(f, &kind)| (c, f, kind));
        (0..=class).rev().flat_map(own).collect()
    }

    fn raw(&self, kind: u8, value: u64) -> u64 {
        if kind == 2 { self.address(value as usize % (self.objects() + 3)) } else { value }
    }

    fn write(&self) -> Vec<u8> {
        let mut d = Dump::new(2, self.id_size, 0);
        let arrays = 0xe000;
        d.load_class(99, arrays, "[LC0;");
        for (c, fields) in self.classes.iter().enumerate() {
            d.load_class(c as u32 + 1, self.class(c), &format!("C{c}"));
            for f in 0..fields.len() {
                d.string(self.class(c) + 16 + f as u64, &format!("f{f}"));
            }
        }
        d.class(arrays, 0, 0, &[], &[]);
        for (c, fields) in self.classes.iter().enumerate() {
            let fields: Vec<_> = (self.class(c) + 16..).zip(fields.iter().copied()).collect();
            let above = if c == 0 { 0 } else { self.class(c - 1) };
            d.class(self.class(c), above, 0, &[], &fields);
        }
        let mut next = 1;
        let mut address = || {
            next += 1;
            self.address(next - 1)
        };
        for (class, values) in &self.instances {
            let fields = self.kinds(*class);
            let value = |i: usize| values.get(i).copied().unwrap_or(0);
            let all: Vec<_> =
                fields.iter().enumerate().map(|(i, &(_, _, kind))| (kind, self.raw(kind, value(i)))).collect();
            d.instance(address(), 1, self.class(*class), &all);
        }
        for elements in &self.arrays {
            let elements: Vec<u64> = elements.iter().map(|&e| self.raw(2, e as u64)).collect();
            d.object_array(address(), arrays, &elements);
        }
        for (kind, elements) in &self.primitives {
            d.primitive_array(address(), *kind, elements);
        }
        d.finish()
    }

    /// What a value of a kind reads as, by the language's rules for narrowing numbers.
    fn expected(&self, heap: &HeapState, kind: u8, value: u64) -> FieldValue {
        match kind {
            2 if value == 0 => FieldValue::Null,
            2 => heap.object_at(value).map_or(FieldValue::Dangling(value), FieldValue::Object),
            4 => FieldValue::Boolean(value as u8 != 0),
            5 => FieldValue::Char(value as u16),
            6 => FieldValue::Float(f32::from_bits(value as u32)),
            7 => FieldValue::Double(f64::from_bits(value)),
            8 => FieldValue::Byte(value as i8),
            9 => FieldValue::Short(value as i16),
            10 => FieldValue::Int(value as i32),
            _ => FieldValue::Long(value as i64),
        }
    }
}

/// As text: a number that is none equals itself there.
fn same(a: &[FieldValue], b: &[FieldValue]) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

fn heaps() -> impl Strategy<Value = WrittenHeap> {
    let kind = || prop::sample::select(KINDS.to_vec());
    let primitive = prop::sample::select(KINDS[1..].to_vec());
    (
        prop::sample::select(vec![4usize, 8]),
        prop::collection::vec(prop::collection::vec(kind(), 0..6), 1..5),
        prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u64>(), 0..20)), 0..20),
        prop::collection::vec(prop::collection::vec(0usize..60, 0..20), 0..6),
        prop::collection::vec((primitive, prop::collection::vec(any::<u64>(), 0..20)), 0..6),
    )
        .prop_map(|(id_size, classes, instances, arrays, primitives)| {
            let instances = instances.into_iter().map(|(c, values)| (c.index(classes.len()), values)).collect();
            WrittenHeap { id_size, classes, instances, arrays, primitives }
        })
}

type ReadHeap = HashMap<ObjectId, (Vec<(String, String)>, Vec<FieldValue>)>;

/// Everything that a scan of the whole dump gives.
fn read_all(values: &HeapValues) -> ReadHeap {
    let found: Mutex<ReadHeap> = Mutex::default();
    let name = |t: TypeId| values.heap().types()[t.0 as usize].name.clone();
    let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
        let contents = match record {
            ObjectRecord::Instance(fields) => (
                fields.iter().map(|f| (name(f.class), f.name.to_string())).collect(),
                fields.iter().map(|f| f.value).collect(),
            ),
            ObjectRecord::ObjectArray(elements) => (Vec::new(), elements.iter().collect()),
            ObjectRecord::PrimitiveArray(elements) => {
                let width = elements.kind().width(8);
                let read = |bytes: &[u8]| FieldValue::primitive(elements.kind(), bytes).expect("an element");
                (Vec::new(), elements.bytes().chunks(width).map(read).collect())
            }
            ObjectRecord::Class(_) => return,
        };
        found.lock().expect("nobody panics").insert(o, contents);
    };
    values.scan(None, &visit, &Progress::new()).expect("a scan");
    found.into_inner().expect("nobody panics")
}

proptest! {
    #[test]
    fn what_was_written_is_read(written in heaps()) {
        let values = values_of(written.write());
        let heap = Arc::clone(values.heap());
        let found = read_all(&values);
        prop_assert_eq!(found.len(), written.objects());
        for (i, (class, raw)) in written.instances.iter().enumerate() {
            let o = heap.object_at(written.address(i + 1)).expect("an instance");
            let kinds = written.kinds(*class);
            let names: Vec<_> = kinds.iter().map(|(c, f, _)| (format!("C{c}"), format!("f{f}"))).collect();
            let value = |i: usize, kind| written.raw(kind, raw.get(i).copied().unwrap_or(0));
            let expected: Vec<_> =
                kinds.iter().enumerate().map(|(i, k)| written.expected(&heap, k.2, value(i, k.2))).collect();
            let (found_names, found_values) = &found[&o];
            prop_assert_eq!(found_names, &names);
            prop_assert!(same(found_values, &expected), "{:?} {:?}", found_values, expected);
            // By place, as whoever reads one field of many objects does.
            for (at, (_, name)) in names.iter().enumerate() {
                let nearest = names.iter().position(|(_, n)| n == name) == Some(at);
                let place = values.layouts().place_in(&heap, heap.type_of(o), &names[at].0, name);
                prop_assert!(place.is_some());
                prop_assert_eq!(values.place(heap.type_of(o), name) == place, nearest);
            }
            // Each object in a field is found there, or in one before it.
            let pairs: Vec<_> = expected.iter().filter_map(|v| Some((o, v.object()?))).collect();
            for (place, pair) in values.reference_places(&pairs, &Progress::new()).expect("places").iter().zip(&pairs) {
                let first = expected.iter().position(|v| v.object() == Some(pair.1)).expect("a field");
                let expected = ReferencePlace::Field { class: (*names[first].0).into(), name: (*names[first].1).into() };
                prop_assert_eq!(place.as_ref(), Some(&expected));
            }
        }
        for (i, elements) in written.arrays.iter().enumerate() {
            let o = heap.object_at(written.address(written.instances.len() + i + 1)).expect("an array");
            let expected: Vec<_> =
                elements.iter().map(|&e| written.expected(&heap, 2, written.raw(2, e as u64))).collect();
            prop_assert_eq!(&found[&o].1, &expected);
        }
        for (i, (kind, elements)) in written.primitives.iter().enumerate() {
            let at = written.instances.len() + written.arrays.len() + i + 1;
            let o = heap.object_at(written.address(at)).expect("an array");
            let expected: Vec<_> = elements.iter().map(|&e| written.expected(&heap, *kind, e)).collect();
            prop_assert!(same(&found[&o].1, &expected));
        }
    }

    /// Cut anywhere, and with a byte changed anywhere: nothing panics, and a cut takes away but does not change.
    #[test]
    fn damage_is_survived(written in heaps(), cut in any::<prop::sample::Index>(), flip in any::<(prop::sample::Index, u8)>()) {
        let whole = written.write();
        let cut = 64 + cut.index(whole.len() - 64);
        if let Some(values) = values_if_any(whole[..cut].to_vec()) {
            for (o, (_, read)) in read_all(&values) {
                prop_assert!(read.len() <= 60 || values.heap().array_length(o).is_some());
            }
        }
        let mut damaged = whole;
        let at = 31 + flip.0.index(damaged.len() - 31);
        damaged[at] ^= flip.1;
        let Some(values) = values_if_any(damaged) else { return Ok(()) };
        read_all(&values);
        let all: Vec<ObjectId> = values.heap().objects().take(50).collect();
        values.texts(&all, TextLimits::default(), &Progress::new()).expect("texts");
        let pairs: Vec<_> = all.iter().flat_map(|&o| values.heap().references(o).iter().map(move |&to| (o, to))).collect();
        values.reference_places(&pairs, &Progress::new()).expect("places");
    }
}

#[test]
fn a_series_keeps_what_it_needs_and_sees_that_a_file_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("a.hprof");
    std::fs::write(&path, small(2, 8, 20)).expect("written");
    let series = memory_city_formats::open(std::slice::from_ref(&path), &Progress::new()).expect("a series");
    let heap = series.load(0, &Progress::new()).expect("a heap");
    let values = series.values(0, &Progress::new()).expect("readable").expect("dumps have values");
    assert!(Arc::ptr_eq(values.heap(), &heap), "the heap state was loaded again");
    assert_eq!(text(&values, at(&values, 0x2020)).as_deref(), Some("\"worker\""));
    std::fs::write(&path, small(2, 8, 21)).expect("written");
    let error = series.values(0, &Progress::new()).err().expect("another file").to_string();
    assert!(error.contains("a.hprof has changed") && error.contains("Open it again"), "{error}");

    let cancelled = Progress::new();
    cancelled.cancel();
    assert!(values.scan(None, &|_, _| (), &cancelled).is_err());

    let trace = root().join("tests/data/anttracks/person-leak-g1");
    let series = memory_city_formats::open(&[trace], &Progress::new()).expect("a trace");
    assert!(series.values(0, &Progress::new()).expect("readable").is_none());
}

/// Scans with a set of objects give those objects, and only those.
#[test]
fn a_scan_gives_the_wanted_objects() {
    let values = values_of(small(2, 4, 500));
    let wanted: Vec<ObjectId> = values.heap().objects().step_by(7).collect();
    let met: Mutex<Vec<ObjectId>> = Mutex::default();
    let visit = |o, _: &ObjectRecord<'_>| met.lock().expect("nobody panics").push(o);
    values.scan_few(wanted.iter().copied(), &visit, &Progress::new()).expect("a scan");
    let mut met = met.into_inner().expect("nobody panics");
    met.sort_unstable();
    assert_eq!(met, wanted);
}

/// A dump of a real VM, against what its program says of itself.
#[test]
fn the_values_of_a_real_program_are_what_its_source_says() {
    let jdks: Vec<_> = jvm::jdks().into_iter().filter(|(version, _)| *version >= 11).collect();
    if jdks.is_empty() {
        return jvm::skip("values of a real program", "there is no JDK 11 or newer");
    }
    for (version, jdk) in jdks {
        let folder = tempfile::tempdir().expect("a folder");
        jdk.compile(&[&root().join("tests/java/Values.java")], ".", folder.path());
        let flags = ["-Xmx100m", "-XX:+UseSerialGC"];
        let program = jvm::Program::start(&jdk, &flags, &folder.path().to_string_lossy(), "Values");
        let dump = folder.path().join("values.hprof");
        program.dump(&dump, &[]);
        drop(program);

        let series = memory_city_formats::open(&[dump], &Progress::new()).expect("a series");
        let values = series.values(0, &Progress::new()).expect("readable").expect("values");
        let heap = Arc::clone(values.heap());
        let of = |name: &str| heap.objects().find(|&o| heap.types()[heap.type_of(o).0 as usize].name == name);
        let kept = of("Values$AllKinds").expect("the object");
        let all = details(&values, kept);
        let ObjectContents::Instance(fields) = &all.contents else { panic!("an instance") };
        let objects: Vec<ObjectId> = fields.iter().filter_map(|f| f.value.object()).collect();
        let texts =
            values.texts(&objects, TextLimits { characters: 12, elements: 8 }, &Progress::new()).expect("texts");
        let mut texts = texts.into_iter();
        let read: BTreeMap<String, String> = fields
            .iter()
            .map(|f| {
                let text = match f.value.object() {
                    Some(_) => texts.next().expect("a text each").unwrap_or_else(|| "-".to_owned()),
                    None => f.value.to_string(),
                };
                (format!("{}.{}", f.class, f.name), text)
            })
            .collect();
        insta::assert_debug_snapshot!("real_values", read);

        let mirror = |name: &str| {
            let t = heap.types().iter().position(|t| t.name == name).expect(name);
            heap.mirror_of(TypeId(t as u32)).expect(name)
        };
        let (class, holder) = (mirror("Values$AllKinds"), mirror("Values"));
        assert_eq!(text(&values, holder).as_deref(), Some("class Values"));
        let statics = details(&values, holder);
        assert_eq!(statics.field("CONSTANT"), Some(FieldValue::Long(99)), "JDK {version}");
        assert_eq!(statics.field("kept"), Some(FieldValue::Object(kept)));
        let objects = all.field("objects").and_then(FieldValue::object).expect("an array");
        let third = heap.references(objects)[1];
        let pairs = [(holder, kept), (objects, kept), (objects, third), (kept, class)];
        assert_eq!(places(&values, &pairs), ["Values.kept", "[0]", "[2]", "Values$AllKinds.type"]);
        let ObjectContents::References(elements) = details(&values, objects).contents else { panic!("an array") };
        assert_eq!(elements, [FieldValue::Object(kept), FieldValue::Null, FieldValue::Object(third)]);
        assert_eq!(details(&values, all.field("nested").and_then(FieldValue::object).expect("it")).len(), 2);

        // Every reference of every object has a place.
        let mut pairs = Vec::new();
        for from in heap.objects() {
            pairs.extend(heap.references(from).iter().map(|&to| (from, to)));
        }
        let found = values.reference_places(&pairs, &Progress::new()).expect("places");
        let missing = found.iter().filter(|p| p.is_none()).count();
        assert_eq!(missing, 0, "JDK {version}: of {} references", pairs.len());

        // Every instance is as long as its classes say.
        let wrong = std::sync::atomic::AtomicUsize::new(0);
        let visit = |_: ObjectId, record: &ObjectRecord<'_>| {
            if let ObjectRecord::Instance(fields) = record
                && !fields.is_complete()
            {
                wrong.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        };
        values.scan(None, &visit, &Progress::new()).expect("a scan");
        assert_eq!(wrong.into_inner(), 0, "JDK {version}");
        let int = ValueKind::Int;
        assert_eq!(values.place(heap.type_of(kept), "number").map(|p| p.kind()), Some(int));
    }
}
