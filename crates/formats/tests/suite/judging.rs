//! What keeps a dump from being judged, and dumps of unusual kinds: cut, redacted, in parts, with numbers for ids.

use memory_city_formats::hprof;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, RootKind};
use memory_city_testing::hprof_writer::{CLASS, Dump, OBJECT, STRING, THREAD, small};
use std::path::Path;

const HOLDER: u64 = 0x1400;
const BOX: u64 = 0x1500;
const WEAK: u64 = 0x1600;
const LOADER: u64 = 0x1700;

fn load(bytes: Vec<u8>) -> Result<HeapState> {
    hprof::load_bytes(Path::new("test.hprof"), bytes)
}

fn reasons(heap: &HeapState) -> Vec<&str> {
    heap.warnings().iter().filter_map(Warning::unjudged).collect()
}

/// Classes, names of fields, and nothing else.
fn dump(version: u8, id_size: usize) -> Dump {
    let mut d = Dump::new(version, id_size, 1_700_000_000_000);
    for (serial, (class, name)) in [
        (OBJECT, "java/lang/Object"),
        (CLASS, "java/lang/Class"),
        (STRING, "java/lang/String"),
        (THREAD, "java/lang/Thread"),
        (HOLDER, "com/acme/Holder"),
        (BOX, "[Ljava/lang/Object;"),
        (WEAK, "java/lang/ref/WeakReference"),
        (LOADER, "java/lang/ClassLoader"),
        (0x1800, "java/lang/ref/Reference"),
        (0x1900, "java/lang/VirtualThread"),
    ]
    .into_iter()
    .enumerate()
    {
        d.load_class(serial as u32 + 1, class, name);
    }
    for (id, name) in [(11, "value"), (12, "coder"), (13, "name"), (14, "held"), (15, "referent")] {
        d.string(id, name);
    }
    for (class, above, fields) in [
        (OBJECT, 0, &[][..]),
        (CLASS, OBJECT, &[]),
        (STRING, OBJECT, &[(11, 2), (12, 8)]),
        (THREAD, OBJECT, &[(13, 2)]),
        (HOLDER, OBJECT, &[(14, 2)]),
        (BOX, OBJECT, &[]),
        (0x1800, OBJECT, &[(15, 2)]),
        (WEAK, 0x1800, &[]),
        (LOADER, OBJECT, &[]),
        (0x1900, THREAD, &[]),
    ] {
        d.class(class, above, 0, &[], fields);
        d.root(0x05, class, &[]);
    }
    d
}

/// So many holders from an address on, a word of 8 bytes apart, each of the next; the first is a root where asked.
fn holders(d: &mut Dump, from: u64, count: u64, is_held: bool) {
    if is_held {
        d.root(0xff, from, &[]);
    }
    for i in 0..count {
        let next = if i + 1 < count { from + (i + 1) * 16 } else { 0 };
        d.instance(from + i * 16, 1, HOLDER, &[(2, next)]);
    }
}

/// Hidden classes of the compiler's lambdas become live by their loader. Others do in a dump of live objects. Dead
/// loaders keep nothing.
#[test]
fn classes_live_by_their_loader() {
    let with = |garbage: u64, loader_is_held: bool| {
        let mut d = dump(2, 8);
        d.load_class(20, 0x4000, "com/acme/Main$$Lambda$14+0x0000000800c03000");
        d.load_class(21, 0x4100, "com/acme/Spun+0x0000000800c03400");
        d.load_class(22, 0x4200, "com/acme/Named");
        d.instance(0x5000, 1, LOADER, &[]);
        if loader_is_held {
            d.root(0xff, 0x5000, &[]);
        }
        for class in [0x4000, 0x4100, 0x4200] {
            d.class(class, OBJECT, 0x5000, &[], &[]);
        }
        holders(&mut d, 0x10_0000, 100, true);
        holders(&mut d, 0x20_0000, garbage, false);
        let heap = load(d.finish()).expect("a heap");
        [0x4000, 0x4100, 0x4200].map(|class| heap.is_reachable(heap.object_at(class).expect("a class")))
    };
    assert_eq!(with(0, true), [true, true, true]);
    assert_eq!(with(200, true), [true, false, true], "beside garbage it is not known which hidden classes are strong");
    assert_eq!(with(0, false), [false, false, false], "the loader is dead");
}

#[test]
fn lambdas_are_kept_by_their_loader_beside_what_they_made() {
    let mut d = dump(2, 8);
    d.load_class(20, 0x4000, "com/acme/Main$$Lambda$14+0x0000000800c03000");
    d.instance(0x5000, 1, LOADER, &[]).root(0xff, 0x5000, &[]);
    d.class(0x4000, OBJECT, 0x5000, &[], &[]).instance(0x6000, 1, 0x4000, &[]).root(0xff, 0x6000, &[]);
    let heap = load(d.finish()).expect("a heap");
    let [loader, class] = [0x5000, 0x4000].map(|at| heap.object_at(at).expect("an object"));
    assert_eq!(heap.inferred_field(loader, class), Some("classes"));
}

#[test]
fn what_cannot_be_judged_is_said_with_what_it_means() {
    let mut whole = dump(2, 8);
    holders(&mut whole, 0x10_0000, 1000, true);
    let heap = load(whole.finish()).expect("a heap");
    assert_eq!(reasons(&heap), [] as [&str; 0]);

    let mut garbage = dump(2, 8);
    holders(&mut garbage, 0x10_0000, 300, true);
    holders(&mut garbage, 0x20_0000, 700, false);
    let heap = load(garbage.finish()).expect("a heap");
    assert!(
        matches!(reasons(&heap)[..], [one] if one.contains("reached from no GC root") && one.contains("700 objects")),
        "{:?}",
        heap.warnings()
    );

    // A third is garbage: usual, unless the dump is of live objects. That it is, since nothing is reached by weak references alone.
    let third = |weakly: u64| {
        let mut d = dump(2, 8);
        holders(&mut d, 0x10_0000, 700, true);
        holders(&mut d, 0x20_0000, 300, false);
        for i in 0..50 {
            let referent = if i < weakly { 0x40_0000 + i * 16 } else { 0x10_0000 };
            d.instance(0x30_0000 + i * 16, 1, WEAK, &[(2, referent)]).root(0xff, 0x30_0000 + i * 16, &[]);
            d.instance(0x40_0000 + i * 16, 1, OBJECT, &[]);
        }
        let heap = load(d.finish()).expect("a heap");
        reasons(&heap).join(" ")
    };
    assert!(third(0).contains("though this is a dump of live objects"), "{}", third(0));
    assert_eq!(third(50), "");

    let mut rootless = Dump::new(2, 8, 0);
    rootless.load_class(1, OBJECT, "java/lang/Object").class(OBJECT, 0, 0, &[], &[]);
    (0..300).for_each(|i| _ = rootless.instance(0x10_0000 + i * 16, 1, OBJECT, &[]));
    let heap = load(rootless.finish()).expect("a heap");
    assert!(matches!(reasons(&heap)[..], [one] if one.contains("no GC roots")), "{:?}", heap.warnings());

    let mut bare = dump(2, 8);
    (0..300)
        .for_each(|i| _ = bare.instance(0x10_0000 + i * 16, 1, HOLDER, &[(2, 0)]).root(0xff, 0x10_0000 + i * 16, &[]));
    let heap = load(bare.finish()).expect("a heap");
    assert!(
        matches!(reasons(&heap)[..], [one] if one.contains("references between objects were taken out")),
        "{:?}",
        heap.warnings()
    );
}

#[test]
fn a_cut_dump_says_how_much_of_it_there_is_and_its_start_alone_is_no_heap() {
    let whole = small(2, 8, 500);
    let cut = load(whole[..whole.len() - 3000].to_vec()).expect("a heap");
    let said = reasons(&cut).join(" ");
    assert!(
        said.contains(&format!("cut off after {} bytes", whole.len() - 3000)) && said.contains("more bytes"),
        "{said}"
    );
    for length in [31, 100, 400] {
        let error = load(whole[..length].to_vec()).err().expect("nothing can be read").to_string();
        assert!(error.contains(&format!("no objects in its {length} bytes")), "{error}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let [short, good] = ["short.hprof", "good.hprof"].map(|name| folder.path().join(name));
    std::fs::write(&short, &whole[..100]).expect("written");
    let open = |path: &Path| memory_city_formats::open(&[path.to_owned()], &Progress::new());
    assert!(open(&short).err().expect("an error").to_string().contains("no objects"));
    std::fs::write(&good, &whole).expect("written");
    let series = open(folder.path()).expect("the other is read");
    assert_eq!(series.points().len(), 1);
    assert!(series.warnings()[0].message.contains("no objects"), "{:?}", series.warnings());
}

/// Names of threads are no texts of stars, and the dump says what became of its texts.
#[test]
fn redacted_texts_are_no_names() {
    let with = |text: &str| {
        let mut d = dump(2, 8);
        d.primitive_array(0x3000, 8, &text.bytes().map(u64::from).collect::<Vec<_>>());
        d.instance(0x3080, 1, STRING, &[(2, 0x3000), (8, 0)]).instance(0x3100, 1, THREAD, &[(2, 0x3080)]);
        d.root(0x08, 0x3100, &[3, 0]);
        for i in 0..300u64 {
            d.primitive_array(0x10_0000 + i * 64, 8, &text.bytes().map(u64::from).collect::<Vec<_>>());
            d.root(0xff, 0x10_0000 + i * 64, &[]);
        }
        let heap = load(d.finish()).expect("a heap");
        let thread = heap.roots().iter().find(|root| root.kind == RootKind::Thread).expect("a thread").detail.clone();
        let redacted = heap.warnings().iter().any(|w| w.message.contains("texts in this dump were taken out"));
        assert_eq!(reasons(&heap), [] as [&str; 0]);
        (thread, redacted)
    };
    assert_eq!(with("worker"), ("thread \"worker\"".into(), false));
    assert_eq!(with("******"), ("thread \"#3\"".into(), true));
    assert_eq!(with("\0\0\0\0\0\0"), ("thread \"#3\"".into(), true));
}

#[test]
fn all_threads_have_names_and_unnamed_virtual_ones_are_virtual_threads() {
    let mut d = dump(2, 8);
    let at = |i: u64| 0x10_0000 + i * 0x100;
    for i in 0..3000u64 {
        d.primitive_array(at(i), 8, &format!("job-{i}").bytes().map(u64::from).collect::<Vec<_>>());
        d.instance(at(i) + 0x40, 1, STRING, &[(2, at(i)), (8, 0)]);
        d.instance(at(i) + 0x80, 1, THREAD, &[(2, at(i) + 0x40)]).root(0x08, at(i) + 0x80, &[i as u32, 0]);
    }
    d.primitive_array(0x3000, 8, &[]).instance(0x3040, 1, STRING, &[(2, 0x3000), (8, 0)]);
    for (i, name) in [0, 0x3040].into_iter().enumerate() {
        let thread = 0x3100 + i as u64 * 0x40;
        d.instance(thread, 1, 0x1900, &[(2, name)]).root(0x08, thread, &[5000 + i as u32, 0]);
    }
    let heap = load(d.finish()).expect("a heap");
    let count = |with: &str| heap.roots().iter().filter(|root| root.detail.starts_with(with)).count();
    assert_eq!(count("thread \"job-"), 3000);
    assert_eq!(count("thread \"virtual threads\""), 2);
}

/// As the VM writes names: `\u{20bb7}` and `\u{20bb6}` as two surrogates of three bytes each.
#[test]
fn classes_whose_names_differ_outside_the_basic_plane_are_two() {
    let mut d = dump(2, 8);
    for (i, last) in [0xb7u8, 0xb6].into_iter().enumerate() {
        let (class, name) = (0x4000 + i as u64 * 0x100, 0x900 + i as u64);
        let text = [&b"com/acme/"[..], &[0xed, 0xa1, 0x82, 0xed, 0xbe, last]].concat();
        d.record(0x01, &[&name.to_be_bytes()[..], &text].concat());
        d.record(
            0x02,
            &[&(30 + i as u32).to_be_bytes()[..], &class.to_be_bytes(), &[0; 4], &name.to_be_bytes()].concat(),
        );
        d.class(class, OBJECT, 0, &[], &[]).root(0x05, class, &[]);
    }
    let heap = load(d.finish()).expect("a heap");
    for name in ["com.acme.\u{20bb7}", "com.acme.\u{20bb6}"] {
        assert!(heap.types().iter().any(|of| of.name == name), "{name}");
    }
}

/// The agent of old JVMs numbers objects: distances between them are no sizes.
#[test]
fn numbers_are_no_addresses() {
    let mut d = dump(1, 4);
    (1..2000).for_each(|i| _ = d.instance(0x2000 + i, 1, HOLDER, &[(2, 0)]).root(0xff, 0x2000 + i, &[]));
    let heap = load(d.finish()).expect("a heap");
    assert_eq!(heap.size_of(heap.object_at(0x2005).expect("an object")), 16);
}

/// Several dumps in one file are several states: the last one is shown, not all of them as one.
#[test]
fn the_last_of_several_dumps_in_one_file_is_shown() {
    let mut d = dump(1, 4);
    holders(&mut d, 0x10_0000, 100, true);
    d.segment(0x0c);
    d.class(OBJECT, 0, 0, &[], &[]).class(HOLDER, OBJECT, 0, &[], &[(14, 2)]);
    holders(&mut d, 0x20_0000, 300, true);
    d.segment(0x0c);
    let heap = load(d.finish()).expect("a heap");
    assert!(heap.object_at(0x10_0000).is_none() && heap.object_at(0x20_0000).is_some());
    assert!(heap.warnings().iter().any(|w| w.message.contains("has 2 dumps")), "{:?}", heap.warnings());
}

fn objects_of(heap: &HeapState, name: &str) -> Vec<memory_city_heap::ObjectId> {
    let of = |o: &memory_city_heap::ObjectId| heap.types()[heap.type_of(*o).0 as usize].name == name;
    heap.objects().filter(of).collect()
}

/// Texts of Android lie inside of their strings; those of older versions are arrays.
#[test]
fn strings_of_android_have_their_texts_inside() {
    // Where the array begins, its kind and length; and the size of both together.
    for (offset, kind, length, both) in
        [(16u64, 8u8, 5usize, Some(24u64)), (16, 5, 5, Some(32)), (8, 8, 0, Some(16)), (0x100, 5, 5, None)]
    {
        let mut d = dump(3, 4);
        for i in 0..50u64 {
            let at = 0x10_0000 + i * 0x1000;
            d.instance(at, 1, STRING, &[(2, at + offset), (8, 0)]).root(0xff, at, &[]);
            d.primitive_array(at + offset, kind, &vec![65; length]);
        }
        let heap = load(d.finish()).expect("a heap");
        let string = heap.object_at(0x10_0000).expect("a string");
        let text = heap.object_at(0x10_0000 + offset).expect("a text");
        let sizes = (heap.size_of(string), heap.size_of(text));
        match both {
            Some(both) => assert_eq!((sizes.0, sizes.0 + sizes.1), (16, both), "{offset} {kind} {length}"),
            None => assert!(sizes.0 > 16 || sizes.1 > 10, "{sizes:?}"),
        }
    }
}

/// Old VMs write a class several times, and native images write class objects beside the records: each class counts once.
#[test]
fn class_records_count_once() {
    let written = |repeated: bool, beside: bool| {
        let mut d = dump(2, 8);
        holders(&mut d, 0x10_0000, 200, true);
        for class in [OBJECT, CLASS, STRING, THREAD, HOLDER, BOX, WEAK, LOADER, 0x1800, 0x1900] {
            if repeated && class == BOX {
                d.class(class, OBJECT, 0, &[], &[]);
            }
            if beside {
                d.instance(class + 8, 1, CLASS, &[]).root(0xff, class + 8, &[]);
            }
        }
        let bytes = d.finish();
        let histogram = hprof::histogram(
            &memory_city_heap::input::Input::from_bytes(Path::new("test.hprof"), bytes.clone()),
            &Progress::new(),
        );
        let row = histogram.expect("counts").rows.into_iter().find(|row| row.class == "java.lang.Class");
        let heap = load(bytes).expect("a heap");
        (objects_of(&heap, "java.lang.Class").len() as u64, row.map_or(0, |row| row.objects))
    };
    let plain = written(false, false);
    assert_eq!(plain.0, plain.1);
    assert_eq!(written(true, false), plain);
    assert_eq!(written(false, true), (10, 10));
}

/// The hprof agent of old JVMs writes all its dumps into one file: each is a state.
#[test]
fn dumps_in_one_file_are_states() {
    for dumps in 1..=3u64 {
        let mut d = dump(1, 4);
        for n in 0..dumps {
            if n > 0 {
                d.class(OBJECT, 0, 0, &[], &[]).class(HOLDER, OBJECT, 0, &[], &[(14, 2)]);
            }
            holders(&mut d, 0x10_0000 * (n + 1), 100 * (n + 1), true);
            d.segment(0x0c);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("java.hprof");
        std::fs::write(&path, d.finish()).expect("written");
        let series = memory_city_formats::open(&[path], &Progress::new()).expect("a series");
        let labels: Vec<&str> = series.points().iter().map(|point| point.label.as_str()).collect();
        assert_eq!(labels.len() as u64, dumps);
        assert_eq!(labels[0], if dumps == 1 { "java.hprof".to_owned() } else { format!("java.hprof (1 of {dumps})") });
        let mut stamps = std::collections::HashSet::new();
        for n in 0..dumps {
            let heap = series.load(n as usize, &Progress::new()).expect("a heap");
            assert_eq!(objects_of(&heap, "com.acme.Holder").len() as u64, 100 * (n + 1));
            assert!(!heap.warnings().iter().any(|w| w.message.contains("dumps, one after the other")));
            assert!(series.values(n as usize, &Progress::new()).expect("values").is_some());
            stamps.insert(series.dumps().and_then(|dumps| dumps.stamp(n as usize)));
        }
        assert_eq!(stamps.len() as u64, dumps);
    }
}

/// A JVM that was killed while it put a dump together leaves the file with names, the part that was being appended, and those after it.
#[test]
fn parts_that_a_killed_writer_left_are_one_dump() {
    let names = dump(2, 8).finish();
    // Without the mark at the end.
    let names = &names[..names.len() - 9];
    let part = |from: u64| {
        let mut d = Dump::new(2, 8, 0);
        holders(&mut d, from, 400, true);
        let bytes = d.finish();
        bytes[31..bytes.len() - 9].to_vec()
    };
    let parts = [part(0x10_0000), part(0x20_0000), part(0x30_0000)];
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let whole = path("oom.hprof");
    let read = |file: &[u8], left: &[(usize, &[u8])]| {
        std::fs::write(&whole, file).expect("written");
        for &(number, bytes) in left {
            std::fs::write(path(&format!("oom.hprof.p{number}")), bytes).expect("written");
        }
        let series = memory_city_formats::open(&[folder.path().to_owned()], &Progress::new()).expect("a series");
        assert_eq!(series.points().len(), 1);
        let heap = series.load(0, &Progress::new()).expect("a heap");
        let holder = heap.types().iter().position(|of| of.name == "com.acme.Holder").expect("a type") as u32;
        let count = heap.objects().filter(|&o| heap.type_of(o).0 == holder).count();
        (count, heap.warnings().iter().map(|w| w.message.clone()).collect::<Vec<_>>().join("\n"))
    };
    let all: Vec<(usize, &[u8])> = parts.iter().map(Vec::as_slice).enumerate().collect();
    let (count, said) = read(names, &all);
    assert_eq!(count, 1200, "{said}");
    assert!(said.contains("put together") && !said.contains(Warning::UNJUDGED), "{said}");
    // The first is in the file, the second half, and both of the others are still there.
    std::fs::remove_file(path("oom.hprof.p0")).expect("removed");
    let file = [names, &parts[0], &parts[1][..parts[1].len() / 2]].concat();
    let (count, said) = read(&file, &all[1..]);
    assert_eq!(count, 1200, "{said}");
    // Killed before a part was complete.
    let (count, said) = read(&file, &[(1, &parts[1]), (2, &parts[2][..parts[2].len() / 2])]);
    assert!((900..1200).contains(&count), "{count} {said}");
    assert!(said.contains(Warning::UNJUDGED) && said.contains("oom.hprof.p2 ended"), "{said}");
    // A part alone says where it belongs.
    let error =
        memory_city_formats::open(&[path("oom.hprof.p2")], &Progress::new()).err().expect("an error").to_string();
    assert!(error.contains("is a part of") && error.contains("Open "), "{error}");
}

/// `kubectl exec -t` and FTP in text mode damage a dump: an error, not a dump with a warning.
#[test]
fn a_dump_that_was_taken_for_text_says_so() {
    let mut d = dump(2, 8);
    for i in 0..2000 {
        d.primitive_array(0x10_0a00 + i * 0x100, 8, &[0x0a, i & 0xff, 0x0a, 0x80 | i & 0xff]).root(
            0xff,
            0x10_0a00 + i * 0x100,
            &[],
        );
    }
    let whole = d.finish();
    let crlf: Vec<u8> = whole.iter().flat_map(|&b| if b == b'\n' { vec![b'\r', b'\n'] } else { vec![b] }).collect();
    let error = load(crlf).err().expect("it is damaged").to_string();
    assert!(error.contains("text mode") && error.contains("Copy it again"), "{error}");
    let error =
        load(String::from_utf8_lossy(&whole).into_owned().into_bytes()).err().expect("it is damaged").to_string();
    assert!(error.contains("read as text"), "{error}");
    assert!(load(whole).is_ok());
}
