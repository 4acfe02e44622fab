//! The format: every version, id size and record; and everything that can be wrong with a file.

use memory_city_formats::hprof::{self, DumpLimits};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::printable::MOST_LINE;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, RootKind};
use memory_city_testing::hprof_writer::{Dump, NODE, reflective, small};
use memory_city_testing::root;
use proptest::prelude::*;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

fn load(bytes: Vec<u8>) -> Result<HeapState> {
    hprof::load_bytes(Path::new("test.hprof"), bytes)
}

fn type_name(heap: &HeapState, o: ObjectId) -> &str {
    &heap.types()[heap.type_of(o).0 as usize].name
}

#[test]
fn every_version_and_id_size_gives_the_same_heap() {
    for (version, id_size) in [(1, 4), (2, 4), (2, 8), (3, 4), (3, 8)] {
        let heap = load(small(version, id_size, 100)).expect("a heap");
        let what = format!("1.0.{version}, {id_size}-byte ids");
        assert_eq!(heap.warnings(), &[], "{what}");
        let nodes = heap.objects().filter(|&o| type_name(&heap, o) == "com.acme.Node").count();
        assert_eq!(nodes, 102, "{what}");
        let first = heap.object_at(0x2000).expect("the first node");
        assert_eq!(heap.references(first).len(), 2);
        assert_eq!(heap.referrers(first).len(), 3, "{what}: static field, and twice from the array");
        assert_eq!(heap.address(first), Some(0x2000));
        let array = heap.object_at(0xa000_0000).expect("the array");
        assert_eq!(heap.array_length(array), Some(3));
        let garbage: Vec<u64> =
            heap.objects().filter(|&o| !heap.is_reachable(o)).filter_map(|o| heap.address(o)).collect();
        assert_eq!(garbage.iter().filter(|a| **a >= 0x1600).collect::<Vec<_>>(), [&0x1980, &0xa000_0000], "{what}");
        let details: Vec<String> = heap.roots().iter().map(|r| format!("{:?} {}", r.kind, r.detail)).collect();
        for expected in [
            "ClassLoader system class",
            "Thread thread \"worker\"",
            "LocalVariable thread \"worker\", com.acme.Node.run() line 42",
            "StaticField com.acme.Node.list",
        ] {
            assert!(details.iter().any(|d| d == expected), "{what}: {expected} in {details:?}");
        }
    }
}

/// A plug-in's loader is below the application's, and that below the platform's, which loaded nothing. Subclasses of
/// `ClassLoader` have a field `parent` of their own with another value. One loader is its own parent.
#[test]
fn class_loaders_know_their_parents() {
    const OBJECT: u64 = 0x1000;
    const LOADER: u64 = 0x1100;
    const APP: u64 = 0x1200;
    const PLUGINS: u64 = 0x1300;
    for id_size in [4, 8] {
        let mut d = Dump::new(2, id_size, 0);
        for (i, (class, name)) in
            [(OBJECT, "java/lang/Object"), (LOADER, "java/lang/ClassLoader"), (APP, "AppLoader"), (PLUGINS, "Plugins")]
                .into_iter()
                .enumerate()
        {
            d.load_class(i as u32 + 1, class, name);
        }
        for (i, class) in (0x1400..0x1405).step_by(1).enumerate() {
            d.load_class(9, class, ["A", "B", "C", "D", "E"][i]);
        }
        d.string(11, "parent").string(12, "name");
        d.class(OBJECT, 0, 0, &[], &[]);
        d.class(LOADER, OBJECT, 0, &[], &[(12, 2), (11, 2)]);
        d.class(APP, LOADER, 0, &[], &[(11, 2)]);
        d.class(PLUGINS, LOADER, 0x2000, &[], &[]);
        // Own fields come first, then those of `ClassLoader`.
        d.instance(0x2000, 1, APP, &[(2, 0x2500), (2, 0), (2, 0x2100)]);
        d.instance(0x2100, 1, APP, &[(2, 0x2500), (2, 0), (2, 0)]);
        d.instance(0x2200, 1, PLUGINS, &[(2, 0), (2, 0x2000)]);
        d.instance(0x2300, 1, PLUGINS, &[(2, 0), (2, 0x2300)]);
        d.instance(0x2500, 1, OBJECT, &[]);
        for (class, loader) in [(0x1400, 0), (0x1401, 0x2000), (0x1402, 0x2200), (0x1403, 0x2300), (0x1404, 0x9999)] {
            d.class(class, OBJECT, loader, &[], &[]);
        }
        let heap = load(d.finish()).expect("a heap");
        let chain = |name: &str| -> Vec<String> {
            let t = heap.types().iter().position(|t| t.name == name).expect(name);
            let chain = heap.loaders().chain(memory_city_heap::TypeId(t as u32));
            chain.map(|l| l.name.to_string()).take(5).collect()
        };
        assert_eq!(chain("A"), [] as [&str; 0]);
        assert_eq!(chain("B"), ["AppLoader of B", "AppLoader"]);
        assert_eq!(chain("C"), ["Plugins of C", "AppLoader of B", "AppLoader"]);
        // Damage: a circle ends.
        assert!(chain("D").iter().all(|l| l == "Plugins of D") && !chain("D").is_empty());
        assert_eq!(chain("E"), ["(unknown loader)"]);
        let of = |name: &str| heap.types().iter().find(|t| t.name == name).map(|t| t.loader.to_string());
        assert_eq!(of("A").as_deref(), Some("bootstrap"));
        assert_eq!(of("C").as_deref(), Some("Plugins of C"));
    }
}

#[test]
fn every_root_record_is_read_as_its_kind() {
    use RootKind::*;
    let mut d = Dump::new(3, 4, 0);
    d.class(NODE, 0, 0, &[], &[]);
    let records: &[(u8, &[u32], Option<RootKind>)] = &[
        (0xff, &[], Some(Other)),
        (0x01, &[9], Some(Jni)),
        (0x02, &[1, 2], Some(Jni)),
        (0x03, &[1, 2], Some(LocalVariable)),
        (0x04, &[1], Some(Other)),
        (0x05, &[], Some(ClassLoader)),
        (0x06, &[1], Some(Thread)),
        (0x07, &[], Some(Monitor)),
        (0x08, &[1, 2], Some(Thread)),
        (0x89, &[], Some(Other)),
        (0x8a, &[], Some(Other)),
        (0x8b, &[], Some(Jvmti)),
        (0x8c, &[], Some(Other)),
        (0x8d, &[], Some(Other)),
        (0x8e, &[1, 2], Some(Monitor)),
        (0x90, &[], None),
    ];
    for (i, (tag, rest, _)) in records.iter().enumerate() {
        let object = 0x2000 + 0x10 * i as u64;
        d.instance(object, 0, NODE, &[]);
        d.root(*tag, object, rest);
    }
    // Which heap follows (Android), and an array whose content was left out.
    d.heap(&[0xfe, 0, 0, 0, b'A', 0, 0, 0, 0]);
    d.heap(&[0xc3, 0, 0, 0x90, 0, 0, 0, 0, 1, 0, 0, 0, 7, 8]);
    let heap = load(d.segment(0x0c).finish()).expect("a heap");
    assert_eq!(heap.warnings(), &[]);
    for (i, (tag, _, kind)) in records.iter().enumerate() {
        let object = heap.object_at(0x2000 + 0x10 * i as u64);
        let found = heap.roots().iter().find(|r| Some(r.object) == object).map(|r| r.kind);
        assert_eq!(found, *kind, "root record {tag:#04x}");
    }
    let array = heap.object_at(0x9000).expect("the array without content");
    assert_eq!(heap.array_length(array), Some(7));
}

#[test]
fn allocation_traces_are_kept_when_there_are_any() {
    let mut d = Dump::new(2, 8, 0);
    d.load_class(1, NODE, "com/acme/Node").string(5, "make").frame(50, 5, 1, 17).trace(9, 0, &[50]);
    d.class(NODE, 0, 0, &[], &[]);
    d.instance(0x2000, 9, NODE, &[]).instance(0x2010, 0, NODE, &[]);
    let heap = load(d.finish()).expect("a heap");
    let site = |a| heap.allocation_site(heap.object_at(a).expect("an object")).to_vec();
    assert_eq!(site(0x2000), [Arc::from("com.acme.Node.make() line 17")]);
    assert!(site(0x2010).is_empty());
}

#[test]
fn a_dump_cut_anywhere_gives_what_is_complete_and_says_so() {
    let whole = small(2, 8, 40);
    let all = load(whole.clone()).expect("a heap").object_count();
    let mut most = 0;
    for end in 0..whole.len() {
        match load(whole[..end].to_vec()) {
            Ok(heap) => {
                let records_end = whole.len() - 9;
                assert!(heap.object_count() <= all);
                most = most.max(heap.object_count());
                if end < records_end {
                    assert!(!heap.warnings().is_empty(), "cut at {end}: no warning");
                }
            }
            Err(Error::Format { offset, remedy, .. }) => {
                assert!(end < 31, "cut at {end}: an error, though the header is complete");
                assert!(offset.is_some() && !remedy.is_empty());
            }
            // The header and names alone are no heap.
            Err(error) => assert!(most == 0 && error.to_string().contains("no objects"), "cut at {end}: {error}"),
        }
    }
    assert_eq!(most, all);
}

#[test]
fn a_real_dump_cut_at_many_places_opens_with_a_warning() {
    let sample = root().join("sample-data/person-leak/person-leak-01.hprof.gz");
    let whole = Input::open(&sample, &Progress::new()).expect("the sample").bytes().to_vec();
    let all = load(whole.clone()).expect("a heap");
    assert_eq!(all.warnings(), &[]);
    let mut before = 0;
    for i in 1..60 {
        // Spread over the file, at no round numbers.
        let end = whole.len() * i / 60 + i * 7 % 13;
        let heap = match load(whole[..end].to_vec()) {
            Ok(heap) => heap,
            Err(error) => {
                assert!(before == 0 && error.to_string().contains("no objects"), "cut at {end}: {error}");
                continue;
            }
        };
        assert!(!heap.warnings().is_empty(), "cut at {end}: no warning");
        assert!(heap.object_count() >= before && heap.object_count() < all.object_count(), "cut at {end}");
        before = heap.object_count();
    }
    assert!(before > all.object_count() / 2, "what comes before the cut is there");
}

#[test]
fn unknown_records_are_skipped_and_counted() {
    let mut d = Dump::new(2, 8, 0);
    d.record(0x77, &[1, 2, 3]).record(0x77, &[]);
    d.class(NODE, 0, 0, &[], &[]).instance(0x2000, 0, NODE, &[]).segment(0x1c);
    // Inside a segment the length of an unknown record is not known: the rest of the segment goes.
    d.instance(0x2010, 0, NODE, &[]).heap(&[0x66]).instance(0x2020, 0, NODE, &[]).segment(0x1c);
    d.instance(0x2030, 0, NODE, &[]);
    let heap = load(d.finish()).expect("a heap");
    let found: Vec<bool> = [0x2000, 0x2010, 0x2020, 0x2030].map(|a| heap.object_at(a).is_some()).to_vec();
    assert_eq!(found, [true, true, false, true]);
    let warnings: Vec<String> = heap.warnings().iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|w| w.contains("2 records of the unknown kind 0x77")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("unknown kind 0x66") && w.contains("at byte")), "{warnings:?}");
}

#[test]
fn lying_lengths_are_found_out() {
    // An array of four billion elements in a file of a few bytes.
    let mut d = Dump::new(2, 8, 0);
    d.class(NODE, 0, 0, &[], &[]).instance(0x2000, 0, NODE, &[]);
    d.heap(&[0x23]).heap(&0x3000u64.to_be_bytes()).heap(&1u32.to_be_bytes()).heap(&u32::MAX.to_be_bytes()).heap(&[11]);
    let heap = load(d.finish()).expect("a heap");
    assert!(heap.object_at(0x2000).is_some() && heap.object_at(0x3000).is_none());
    assert!(heap.warnings()[0].message.contains("cut off"), "{:?}", heap.warnings());
    // Classes at addresses no object has, one of them the number of a primitive kind.
    let mut d = Dump::new(2, 8, 0);
    d.class(0, 0, 0, &[], &[]).class(8, 0, 0, &[], &[(1, 2)]).instance(0x2000, 0, 8, &[(2, 0)]).instance(
        0x2010,
        0,
        0,
        &[],
    );
    let bytes = d.finish();
    assert_eq!(load(bytes.clone()).expect("a heap").object_count(), 4);
    hprof::histogram(&Input::from_bytes(Path::new("a"), bytes), &Progress::new()).expect("a histogram");
    // A class that is its own superclass, and one that lists itself.
    let mut d = Dump::new(2, 8, 0);
    d.class(NODE, NODE, NODE, &[(1, 2, NODE)], &[(1, 2)]).instance(0x2000, 0, NODE, &[(2, 0x2000)]);
    assert_eq!(load(d.finish()).expect("a heap").object_count(), 2);
}

#[test]
fn addresses_may_be_odd_and_far_apart() {
    let mut d = Dump::new(2, 8, 0);
    d.class(NODE, 0, 0, &[], &[(1, 2)]);
    let addresses = [0x2001u64, 0x2004, 1 << 40, (1 << 40) + 3, u64::MAX];
    for (i, a) in addresses.iter().enumerate() {
        d.instance(*a, 0, NODE, &[(2, addresses[(i + 1) % addresses.len()])]);
    }
    let heap = load(d.finish()).expect("a heap");
    for (i, a) in addresses.iter().enumerate() {
        let o = heap.object_at(*a).expect("the object");
        assert_eq!(heap.address(o), Some(*a));
        let next = heap.object_at(addresses[(i + 1) % addresses.len()]).expect("the next");
        assert_eq!(heap.references(o), [next]);
    }
}

#[test]
fn packed_files_open_like_plain_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = small(2, 8, 3000);
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("packed");
        encoder.finish().expect("packed")
    };
    // As the JVM does: independent members, the first with a comment.
    let mut members = Vec::new();
    for (i, block) in plain.chunks(4096).enumerate() {
        let builder = flate2::GzBuilder::new();
        let builder = if i == 0 { builder.comment("HPROF BLOCKSIZE=4096") } else { builder };
        let mut encoder = builder.write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(block).expect("packed");
        members.extend(encoder.finish().expect("packed"));
    }
    let zstd = zstd::encode_all(&plain[..], 1).expect("packed");
    // Names say nothing: content decides.
    for (name, bytes) in [("a.dump", plain.clone()), ("b.txt", gzip(&plain)), ("c", members.clone()), ("d.gz", zstd)] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let input = Input::open(&path, &Progress::new()).expect("opened");
        assert!(input.bytes() == plain, "{name}");
        assert!(input.warnings.is_empty());
    }
    // Cut in the middle: what could be unpacked is shown, with a warning.
    for (name, bytes) in [("e", gzip(&plain)), ("f", members)] {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
        let series = memory_city_formats::open(&[path], &Progress::new()).expect("opened");
        let heap = series.load(0, &Progress::new()).expect("a heap");
        assert!(!heap.warnings().is_empty(), "{name}");
    }
}

#[test]
fn folders_are_series_in_time_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, millis: u64| {
        let mut d = Dump::new(2, 8, millis);
        d.class(NODE, 0, 0, &[], &[]).instance(0x2000, 0, NODE, &[]);
        std::fs::write(folder.path().join(name), d.finish()).expect("written");
    };
    let open = || memory_city_formats::open(&[folder.path().to_path_buf()], &Progress::new());
    let error = open().err().expect("an empty folder is an error").to_string();
    assert!(error.contains("no heap dump, trace or memory tree in the folder") && error.contains("jcmd"), "{error}");
    std::fs::write(folder.path().join("core.123"), "not a dump").expect("written");
    let error = open().err().expect("nothing to show").to_string();
    assert!(error.contains("None of the 1 files"), "{error}");
    write("z.hprof", 1000);
    write("b.hprof", 2000);
    write("a.hprof", 2000);
    let series = open().expect("a series");
    let order: Vec<&str> = series.points().iter().map(|p| p.label.as_str()).collect();
    assert_eq!(order, ["z.hprof", "a.hprof", "b.hprof"]);
    let warnings = series.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].to_string().contains("core.123"), "{}", warnings[0]);
    // A file that is named must be a dump; one that is not there is an error with its name.
    for name in ["core.123", "missing"] {
        let error = memory_city_formats::open(&[folder.path().join(name)], &Progress::new())
            .err()
            .expect("an error")
            .to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn dumps_of_different_programs_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    for (i, package) in ["com/acme", "org/other"].into_iter().enumerate() {
        let mut d = Dump::new(2, 8, i as u64);
        for k in 0..20u64 {
            let class = 0x10000 + k * 0x100;
            d.load_class(k as u32, class, &format!("{package}/Class{k}")).class(class, 0, 0, &[], &[]);
            d.instance(0x2000 + k * 16, 0, class, &[]);
        }
        std::fs::write(folder.path().join(format!("{i}.hprof")), d.finish()).expect("written");
    }
    let series = memory_city_formats::open(&[folder.path().to_path_buf()], &Progress::new()).expect("a series");
    for t in 0..2 {
        series.load(t, &Progress::new()).expect("a heap");
    }
    assert!(series.warnings().iter().any(|w| w.message.contains("another program")), "{:?}", series.warnings());
}

#[test]
fn more_objects_or_references_than_can_be_numbered_are_an_error_that_says_so() {
    let input = Input::from_bytes(Path::new("large.hprof"), small(2, 8, 100));
    let open = |limits| hprof::load_within(&input, limits, &Progress::new());
    let whole = open(DumpLimits::default()).expect("a heap");
    let (objects, references) = (whole.object_count() as u32, whole.reference_count() as u32);
    assert!(open(DumpLimits { objects, ..DumpLimits::default() }).is_ok());
    for (limits, what) in [
        (
            DumpLimits { objects: objects - 1, ..DumpLimits::default() },
            format!("large.hprof has {objects} objects, more than the"),
        ),
        (
            DumpLimits { objects, references: references / 2, ..DumpLimits::default() },
            format!("more than {} references", references / 2),
        ),
    ] {
        let error = open(limits).err().expect("too many").to_string();
        assert!(error.contains(&what) && error.contains("GC.heap_dump"), "{error}");
    }
}

/// A few bytes name a text again and again, or an object far from all others: what is kept of them is counted.
#[test]
fn names_and_addresses_take_no_more_memory_than_they_may() {
    let name = "x".repeat(60_000);
    let mut frames = Dump::new(2, 8, 0);
    frames.load_class(1, 0x10000, &name).string(7, &name);
    (0..200).for_each(|frame| {
        frames.frame(frame, 7, 1, 3);
    });
    frames.trace(1, 0, &(0..200).collect::<Vec<u64>>()).class(0x10000, 0, 0, &[], &[]);
    frames.instance(0x20000, 1, 0x10000, &[]);
    let mut statics = Dump::new(2, 8, 0);
    statics.load_class(1, 0x10000, &name).string(7, &name);
    statics.class(0x10000, 0, 0, &vec![(7, 2, 0x10000); 200], &[]);
    let mut roots = Dump::new(2, 8, 0);
    roots.load_class(1, 0x10000, &name).string(7, &name).frame(1, 7, 1, 3).trace(1, 0, &[1]);
    roots.class(0x10000, 0, 0, &[], &[]).root(0x08, 0x10000, &[1, 1]);
    (0..200).for_each(|_| {
        roots.root(0x03, 0x10000, &[1, 0]);
    });
    let mut scattered = Dump::new(2, 8, 0);
    scattered.load_class(1, 0x10000, "A").class(0x10000, 0, 0, &[], &[]);
    (1..2_000u64).for_each(|far| {
        scattered.instance(far << 40, 0, 0x10000, &[]);
    });
    let mut classes = Dump::new(2, 8, 0);
    (1..3_000u64).for_each(|class| {
        classes.instance(0x10_0000 + 16 * class, 0, class << 16, &[]);
    });
    for (what, mut dump) in [
        ("The tables of 2999 classes", classes),
        ("names of", frames),
        ("names of", statics),
        ("names of", roots),
        ("scattered addresses", scattered),
    ] {
        let bytes = dump.finish();
        assert!(bytes.len() < 200_000, "{}", bytes.len());
        let input = Input::from_bytes(Path::new("large.hprof"), bytes);
        let open = |memory| {
            let limits = DumpLimits { memory, ..DumpLimits::default() };
            hprof::load_within(&input, limits, &Progress::new())
        };
        assert!(open(1 << 30).is_ok(), "{what}");
        let error = open(2 << 20).err().expect("too much").to_string();
        let more =
            error.contains("large.hprof") && error.contains("more than the 3 MB") || error.contains("more than 3 MB");
        assert!(error.contains(what) && more && error.contains("more memory"), "{error}");
    }
}

/// Each class has the fields of all that it extends: a few of them make many. So do static ones, which are kept until references are read.
#[test]
fn fields_take_no_more_memory_than_they_may() {
    let class = |number: u64| 0x10000 + (number << 8);
    let mut inherited = Dump::new(2, 8, 0);
    (1..300).for_each(|number| {
        let above = if number == 1 { 0 } else { class(number - 1) };
        inherited.class(class(number), above, 0, &[], &[(7, 2); 100]);
    });
    let mut of_one = Dump::new(2, 8, 0);
    (1..40).for_each(|number| {
        of_one.class(class(number), 0, 0, &vec![(7, 10, 0); 10_000], &[]);
    });
    for (name, mut dump) in [("inherited.hprof", inherited), ("static.hprof", of_one)] {
        let input = Input::from_bytes(Path::new(name), dump.primitive_array(0x8_0000, 8, &[1]).finish());
        let open = |memory| {
            let limits = DumpLimits { memory, ..DumpLimits::default() };
            hprof::load_within(&input, limits, &Progress::new())
        };
        assert!(open(1 << 30).is_ok(), "{name}");
        let error = open(8 << 20).err().expect("too much").to_string();
        assert!(error.contains("The fields of the classes in") && error.contains(name), "{error}");
        assert!(error.contains("more than the 9 MB") && error.contains("more memory"), "{error}");
    }
}

#[test]
fn a_name_longer_than_any_class_file_holds_is_cut_and_that_is_said() {
    let mut dump = Dump::new(2, 8, 0);
    dump.load_class(1, 0x10000, &"é".repeat(3_000_000)).class(0x10000, 0, 0, &[], &[]);
    dump.instance(0x20000, 0, 0x10000, &[]);
    let heap = load(dump.finish()).expect("a heap");
    let longest = heap.types().iter().map(|t| t.name.chars().count()).max().expect("types");
    assert_eq!(longest, MOST_LINE, "every type has a copy");
    assert!(heap.warnings().iter().any(|w| w.message.contains("a name of 6000000 bytes")), "{:?}", heap.warnings());
}

/// Whoever writes a dump chooses the ids. With a hash that can be computed beforehand these would all collide, and reading
/// would take the square of their number.
#[test]
fn ids_that_collide_under_a_fixed_hash_are_read_all_the_same() {
    // The multiplier of rustc-hash 2 for 64 bits, and its inverse by Newton's iteration.
    const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;
    let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(MULTIPLIER.wrapping_mul(x))));
    assert_eq!(MULTIPLIER.wrapping_mul(inverse), 1);
    // Products that differ in bits 12 to 31 alone: rotated by 26, neither the lowest bits nor the highest seven differ.
    let colliding = |i: u64| (i << 12).wrapping_mul(inverse);
    let mut d = Dump::new(2, 8, 0);
    for i in 1..1_000_000 {
        d.string(colliding(i), "x");
    }
    d.class(NODE, 0, 0, &[], &[]);
    let bytes = d.finish();
    // Less than a second, where the square of the number is many minutes.
    let start = std::time::Instant::now();
    load(bytes).expect("a heap");
    assert!(start.elapsed() < std::time::Duration::from_secs(120), "{:?}", start.elapsed());
}

#[test]
fn loading_can_be_cancelled() {
    let progress = Progress::new();
    progress.cancel();
    let input = Input::from_bytes(Path::new("a"), small(2, 8, 10));
    assert!(matches!(hprof::load(&input, &progress), Err(Error::Cancelled)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn flipped_bytes_never_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        id_size in prop::sample::select(vec![4usize, 8]),
        with_reflection: bool,
    ) {
        let mut bytes = if with_reflection { reflective(id_size) } else { small(2, id_size, 20) };
        for (at, value) in &flips {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        // An error or a heap: either is fine, and a heap answers every question.
        if let Ok(heap) = load(bytes.clone()) {
            for o in heap.objects() {
                heap.size_of(o);
                heap.is_reachable(o);
                for &r in heap.references(o) {
                    prop_assert!((r.0 as usize) < heap.object_count());
                    prop_assert!(heap.referrers(r).contains(&o));
                }
            }
        }
        let _ = hprof::histogram(&Input::from_bytes(Path::new("a"), bytes), &Progress::new());
    }

    #[test]
    fn noise_behind_a_header_never_panics(noise in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut bytes = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0".to_vec();
        bytes.push(0x1c);
        bytes.extend([0; 4]);
        bytes.extend((noise.len() as u32).to_be_bytes());
        bytes.extend(noise);
        let _ = load(bytes);
    }
}

/// The seeds of the fuzz target are small dumps of each kind. `UPDATE_CORPUS=1` writes them.
#[test]
fn the_fuzz_corpus_opens() {
    let folder = root().join("fuzz/corpus/hprof");
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        std::fs::create_dir_all(&folder).expect("a folder");
        for (version, id_size) in [(1, 4), (2, 4), (2, 8), (3, 4)] {
            let name = format!("small-{version}-{id_size}.hprof");
            std::fs::write(folder.join(name), small(version, id_size, 3)).expect("written");
        }
    }
    let seeds: Vec<_> = std::fs::read_dir(&folder).expect("the corpus").flatten().collect();
    assert!(seeds.len() >= 4);
    for seed in seeds {
        let bytes = std::fs::read(seed.path()).expect("a seed");
        load(bytes).unwrap_or_else(|e| panic!("{}: {e}", seed.path().display()));
    }
}

/// A recorder holds the objects of its samples during the dump. It learns their places, and the heap state is the one
/// without its references.
#[test]
fn what_a_recorder_held_is_found_and_is_no_root() {
    let node = 0x1000;
    let mut dump = Dump::new(2, 8, 1_700_000_000_000);
    dump.load_class(1, node, "com/acme/Node").string(0x20, "next").class(node, 0, 0, &[], &[(0x20, 2)]);
    dump.instance(0x2000, 0, node, &[(2, 0x2010)]).instance(0x2010, 0, node, &[(2, 0)]);
    dump.instance(0x2020, 0, node, &[(2, 0)]).root(0x05, 0x2000, &[]);
    // Two handles of the recorder, one of the program for the same object as one of them.
    for (object, handle) in [(0x2010, 0x7001_0008), (0x2020, 0x7001_0010), (0x2010, 0x7001_0018)] {
        dump.root(0x01, object, &[0, handle]);
    }
    let input = Input::from_bytes(Path::new("a"), dump.finish());
    let handles = [0x7001_0008, 0x7001_0010, 0x7001_0020].into_iter().collect();
    let (heap, held) = hprof::load_held(&input, &handles, &Progress::new()).expect("a dump");
    let at = |address| heap.object_at(address).expect("an object");
    assert_eq!(held.len(), 2);
    assert_eq!((held[&0x7001_0008], held[&0x7001_0010]), (at(0x2010), at(0x2020)));
    let roots = |address| heap.roots_of(at(address)).map(|r| r.text()).collect::<Vec<_>>();
    assert_eq!((roots(0x2010), roots(0x2020)), (vec!["JNI: JNI global".to_owned()], vec![]));
    assert!(!heap.is_reachable(at(0x2020)));
}
