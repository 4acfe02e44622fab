//! Grouping a heap state of a million objects: by class, by shape (type and length), and object by object. The naive
//! way writes the names of every object's groups into strings and counts them in a hash table.
//!
//! Each in turn, the least time of seven rounds; the ratio to the naive way of the same grouping is what counts. With a dump,
//! the same groupings of what is in it too.
//! `cargo bench --bench grouping --no-default-features [-- DUMP]`

use memory_city_analysis::group::{self, GroupOptions};
use memory_city_formats::{JVM, hprof};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    AddressSet, Csr, HeapColumns, HeapState, HeapType, NO_LENGTH, ObjectId, Root, RootKind, TypeKind, TypeSizes,
};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

const OBJECTS: u32 = 1_000_000;
const TYPES: u32 = 2_000;
const ROUNDS: usize = 7;

fn main() {
    let test = std::env::args().any(|a| a == "--test");
    let (objects, rounds) = if test { (20_000, 1) } else { (OBJECTS, ROUNDS) };
    let heap = heap(objects);
    beside_naive(&heap, rounds);
    at_speed(if test { 100_000 } else { 20 * OBJECTS }, rounds);
    scripts(&heap, rounds);
    if let Some(dump) = std::env::args().skip(1).find(|a| !a.starts_with('-')) {
        let progress = Progress::new();
        let input = Input::open(Path::new(&dump), &progress).expect("the dump opens");
        println!("\n{dump}\n");
        beside_naive(&hprof::load(&input, &progress).expect("a heap"), 3);
    }
}

fn beside_naive(heap: &HeapState, rounds: usize) {
    println!(
        "| {} objects, {} references, by | way | naive (ms) | ours, 1 core (ms) | ratio | all cores (ms) |",
        heap.object_count(),
        heap.reference_count()
    );
    println!("|---|---|---|---|---|---|");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for list in [
        "package>type",
        "kind>type",
        "array-length>type",
        "array-length(exact)>type",
        "type>points-to",
        "type>pointed-from",
        "rooted>type",
        "package>points-to>array-length",
    ] {
        let grouping = group::grouping(list).expect("a grouping");
        let ours = || group::group(heap, &grouping, GroupOptions::default(), &Progress::new()).expect("grouped");
        let counted: u64 = naive(heap, list).values().map(|a| a.0).sum();
        let grouped = ours();
        let leaves: usize = heap.objects().map(|o| grouped.leaves_of(heap, o).len()).sum();
        assert_eq!(leaves as u64, counted, "{list}");
        let (mut theirs, mut single, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            theirs.push(timed(|| naive(heap, list)));
            single.push(one.install(|| timed(ours)));
            all.push(timed(ours));
        }
        let [theirs, single, all] = [theirs, single, all].map(least);
        let way = match grouping.reads() {
            reads if !reads.by_object() => "by class",
            reads if group::Reads::BY_SHAPE.contains(reads) => "by shape",
            _ => "by object",
        };
        let ratio = theirs.as_secs_f64() / single.as_secs_f64();
        println!("| {list} | {way} | {} | {} | {ratio:.1}x | {} |", millis(theirs), millis(single), millis(all));
    }
}

/// A heap as large as a dump of a gigabyte: objects a second, beside one plain pass over the column of types.
fn at_speed(objects: u32, rounds: usize) {
    let heap = heap(objects);
    // What is reachable is worked out once, not for each grouping.
    println!(
        "\n| {objects} objects ({} reachable), by | all cores (ms) | million objects/s | plain passes |",
        heap.reachable().count()
    );
    println!("|---|---|---|---|");
    let (types, _) = heap.types_and_lengths();
    let plain = || {
        let mut counts = vec![0u32; heap.types().len()];
        types.iter().for_each(|&t| counts[t as usize] += 1);
        std::hint::black_box(counts)
    };
    let pass = least((0..rounds).map(|_| timed(plain)).collect());
    let speed = |time: Duration| f64::from(objects) / time.as_secs_f64() / 1e6;
    println!("| counting the column of types, 1 core | {} | {:.0} | 1.0x |", millis(pass), speed(pass));
    for list in [
        "type",
        "package>type",
        "type>kind",
        "filter(package=com.acme.p1)>type",
        "array-length>type",
        "array-length(exact)",
        "rooted>type",
    ] {
        for unreachable in [false, true] {
            let grouping = group::grouping(list).expect("a grouping");
            let options = GroupOptions { include_unreachable: unreachable, ..GroupOptions::default() };
            let ours = || group::group(&heap, &grouping, options, &Progress::new()).expect("grouped");
            let time = least((0..rounds).map(|_| timed(ours)).collect());
            let all = if unreachable { ", garbage too" } else { "" };
            let passes = time.as_secs_f64() / pass.as_secs_f64();
            println!("| {list}{all} | {} | {:.0} | {passes:.1}x |", millis(time), speed(time));
        }
    }
}

/// Classifiers that people type, beside the same in the program.
fn scripts(heap: &HeapState, rounds: usize) {
    println!("\n| script, for each of {} objects | all cores (ms) | million objects/s |", heap.object_count());
    println!("|---|---|---|");
    for (code, reads) in [
        ("if o.size > 40 { \"large\" } else { \"small\" }", "one line, by object"),
        ("o.type.len()", "one line, by type"),
        ("let n = 0; for r in o.references { if r.type == o.type { n += 1; } } n", "a loop over references"),
    ] {
        let mut registry = group::Registry::new();
        let script = group::script::ClassifierScript::parse("mine", code).expect("a script");
        registry.define(script).expect("a name");
        let grouping = registry.grouping("mine").expect("a grouping");
        let options = GroupOptions { include_unreachable: true, ..GroupOptions::default() };
        let ours = || group::group(heap, &grouping, options, &Progress::new()).expect("grouped");
        let time = least((0..rounds.min(3)).map(|_| timed(ours)).collect());
        let speed = heap.object_count() as f64 / time.as_secs_f64() / 1e6;
        println!("| `{code}` ({reads}) | {} | {speed:.1} |", millis(time));
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    let result = work();
    let took = begun.elapsed();
    drop(result);
    took
}

/// The least of several times: time that other programs take away does not count.
fn least(times: Vec<Duration>) -> Duration {
    times.into_iter().min().unwrap_or_default()
}

fn millis(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

/// A heap like that of a program: few types have most of the objects, a third are arrays, objects refer to two others.
fn heap(objects: u32) -> HeapState {
    let mut state = 7u64;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as u32) % below
    };
    let kind = |t: u32| match t % 6 {
        0 => TypeKind::ObjectArray,
        3 => TypeKind::PrimitiveArray,
        _ => TypeKind::Instance,
    };
    let name = |t: u32| format!("com.acme.p{}.q{}.Class{t}", t % 7, t % 40);
    let types: Vec<HeapType> = (0..TYPES)
        .map(|t| HeapType {
            name: if kind(t) == TypeKind::Instance { name(t) } else { name(t) + "[]" },
            kind: kind(t),
            superclass: None,
            loader: "app".into(),
        })
        .collect();
    let addresses = AddressSet::new(3);
    let mut writer = addresses.writer();
    let (mut type_of, mut length) = (Vec::new(), Vec::new());
    let (mut offsets, mut targets) = (vec![0u32], Vec::new());
    for i in 0..objects {
        let t = random(TYPES).min(random(TYPES)).min(random(TYPES));
        type_of.push(t);
        length.push(if kind(t) == TypeKind::Instance { NO_LENGTH } else { random(20) * random(20) });
        if kind(t) != TypeKind::PrimitiveArray {
            targets.extend([random(objects), (i + random(100)) % objects].map(ObjectId));
        }
        offsets.push(targets.len() as u32);
        writer.insert(0x1000 + 64 * u64::from(i));
    }
    let roots = (0..objects / 100).map(|i| match i % 2 {
        0 => Root {
            object: ObjectId(random(objects)),
            kind: RootKind::StaticField,
            detail: format!("com.acme.C{}.f", i % 500),
        },
        _ => Root {
            object: ObjectId(random(objects)),
            kind: RootKind::LocalVariable,
            detail: format!("thread \"worker-{}\", com.acme.Main.run() line {}", i % 20, i % 30),
        },
    });
    let roots = roots.collect();
    let outgoing = Csr::new(offsets, targets);
    let element = types.iter().map(|t| if t.kind == TypeKind::Instance { 0 } else { 4 }).collect();
    HeapState::new(HeapColumns {
        profile: &JVM,
        sizes: TypeSizes {
            base: (0..TYPES).map(|t| 16 + 8 * (t % 5)).collect(),
            element,
            alignment: 8,
            ..TypeSizes::default()
        },
        mirror_of: vec![None; types.len()],
        types,
        type_of,
        length,
        addresses: addresses.finish(),
        outgoing,
        roots,
        ..HeapColumns::default()
    })
}

/// Objects and bytes by path of names, object by object.
fn naive(heap: &HeapState, list: &str) -> HashMap<String, (u64, u64)> {
    let mut counts: HashMap<String, (u64, u64)> = HashMap::new();
    let mut roots: HashMap<ObjectId, Vec<&Root>> = HashMap::new();
    heap.roots().iter().for_each(|root| roots.entry(root.object).or_default().push(root));
    let name = |o: ObjectId| heap.types()[heap.type_of(o).0 as usize].name.clone();
    for o in heap.objects().filter(|&o| heap.is_reachable(o)) {
        let mut paths = vec!["Heap".to_owned()];
        for classifier in list.split('>') {
            let values: BTreeSet<String> = match classifier {
                "type" => [name(o)].into(),
                "package" => [name(o).rsplit_once('.').map_or("", |name| name.0).to_owned()].into(),
                "kind" => {
                    let kind = match heap.array_length(o) {
                        None => "Instance",
                        Some(255..) => "Big array",
                        Some(_) => "Small array",
                    };
                    [kind.to_owned()].into()
                }
                "array-length(exact)" => [match heap.array_length(o) {
                    None => "Not an array".to_owned(),
                    Some(length) => format!("Length {length}"),
                }]
                .into(),
                "array-length" => [match heap.array_length(o) {
                    None => "Not an array".to_owned(),
                    Some(0) => "Length 0".to_owned(),
                    Some(length) => format!("Length from {}", 1 << length.ilog2()),
                }]
                .into(),
                "points-to" => heap.references(o).iter().map(|&t| name(t)).collect(),
                "pointed-from" => {
                    heap.referrers(o).iter().filter(|&&r| heap.is_reachable(r)).map(|&r| name(r)).collect()
                }
                _ => roots.get(&o).into_iter().flatten().map(|root| root.text()).collect(),
            };
            let values = if values.is_empty() { ["nothing".to_owned()].into() } else { values };
            paths = paths.iter().flat_map(|p| values.iter().map(move |v| format!("{p}#{v}"))).collect();
        }
        for path in paths {
            let count = counts.entry(path).or_default();
            *count = (count.0 + 1, count.1 + heap.size_of(o));
        }
    }
    counts
}
