//! Generated traces through the reader: the heap at the end of every GC is what the generator knows it to be.

use memory_city_formats::anttracks::{AntTracks, find_run};
use memory_city_formats::event::{Decoder, GcKind, Step};
use memory_city_formats::replay::{Collection, Inconsistencies, Moment, Replay};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Allocator, HeapState, Identity, ObjectId, SpaceKind};
use memory_city_testing::anttracks::{Collector, GcAnswer, Generated, ObjectAnswer, Spec, generate};
use memory_city_testing::collections::Collections;
use memory_city_testing::naive_anttracks;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a heap state says of an object, in the words of the generator. Frames and bytecode indices are one text here.
fn answer(heap: &HeapState, o: ObjectId, numbers: &[u32]) -> ObjectAnswer {
    let facts = heap.facts(o);
    let life = facts.life.as_ref().expect("a trace knows lives");
    let origin = heap.origins().expect("origins").of(o.0 as usize);
    ObjectAnswer {
        address: heap.address(o).expect("a trace of addresses"),
        identity: 0,
        type_name: facts.of.name.clone(),
        size: facts.size,
        array_length: facts.length,
        site: 0,
        frames: heap.allocation_site(o).iter().map(|f| f.to_string()).collect(),
        bytecode_indices: Vec::new(),
        thread: life.thread.to_string(),
        allocator: match life.allocator {
            Allocator::Vm => "VM",
            Allocator::Interpreter => "Interpreter",
            Allocator::C1 => "C1",
            Allocator::C2 => "C2",
            Allocator::Unknown => "?",
        },
        space: if life.space == SpaceKind::Humongous { "Old" } else { life.space.title() },
        birth_gc: numbers[origin.birth as usize],
        references: heap.references(o).iter().map(|&t| heap.address(t).expect("an address")).collect(),
    }
}

/// The generator's answer in the words of a heap state.
fn expected(answer: &ObjectAnswer) -> ObjectAnswer {
    let indices = answer.bytecode_indices.iter().map(|&i| Some(i)).chain(std::iter::repeat(None));
    let frames = answer.frames.iter().zip(indices).map(|(method, index)| frame(method, index)).collect();
    ObjectAnswer { identity: 0, site: 0, frames, bytecode_indices: Vec::new(), ..answer.clone() }
}

fn frame(method: &str, index: Option<i32>) -> String {
    if let Some(recursion) = method.strip_prefix("$$Recursion.") {
        let name = recursion.split('(').next().unwrap_or_default();
        return format!("(recursion: {})", name.replace('_', " "));
    }
    let Some((name, rest)) = method.split_once('(') else { return method.replace('/', ".") };
    // The signatures that the generator makes up.
    let parameters = match rest.split(')').next().unwrap_or_default() {
        "" => "",
        "I" => "int",
        "Ljava/lang/Object;" => "Object",
        "[CI" => "char[], int",
        "JLjava/util/Map$Entry;[[D" => "long, Map$Entry, double[][]",
        // The few that every trace of this VM has.
        "Ljava/lang/Class;I" => "Class, int",
        "Ljava/lang/Class;[I" => "Class, int[]",
        "Ljava/lang/Class;Ljava/lang/Class;" => "Class, Class",
        "[Ljava/lang/Object;" => "Object[]",
        "Ljava/lang/Object;[Ljava/lang/Object;" => "Object, Object[]",
        other => panic!("parameters {other}"),
    };
    let index = index.map(|i| format!(":{i}")).unwrap_or_default();
    format!("{}({parameters}){index}", name.replace('/', "."))
}

/// Reads a generated trace and compares what comes out GC by GC.
fn check(spec: &Spec) -> (Vec<u8>, Generated) {
    let mut trace = Vec::new();
    let generated = generate(spec, &mut trace).expect("written to memory");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("trace"), &trace).expect("written");
    std::fs::write(folder.path().join("symbols"), &generated.symbols).expect("written");
    let run = find_run(&[folder.path().to_owned()]).expect("readable").expect("a run");
    let files = run.open(&Progress::new()).expect("files");
    let mut decoder = AntTracks::new(Arc::clone(&files));
    let mut replay = Replay::new(Arc::clone(files.program()), Collections::default());
    let numbers: Vec<u32> = generated.answers.iter().map(|a| a.number).collect();
    let mut identities: HashMap<Identity, u64> = HashMap::new();
    let mut answers = generated.answers.iter();
    loop {
        replay.stop_at(Moment { gc: replay.interval(), end: true });
        let step = decoder.step(&mut replay).unwrap_or_else(|e| panic!("{spec:?}: {e}"));
        if replay.stopped() {
            let answer = answers.next().expect("a GC that was generated");
            let collection = *replay.observer.0.last().expect("a GC");
            let heap = replay.state();
            compare(&heap, answer, &collection, &numbers, &mut identities);
            assert_eq!(replay.stale_references(), 0);
        }
        if step == Step::End {
            break;
        }
    }
    assert!(answers.next().is_none());
    assert_eq!(replay.inconsistencies(), Inconsistencies::default());
    assert_eq!(decoder.warnings(), []);
    (trace, generated)
}

fn compare(
    heap: &HeapState,
    gc: &GcAnswer,
    collection: &Collection,
    numbers: &[u32],
    identities: &mut HashMap<Identity, u64>,
) {
    assert_eq!((collection.number, collection.kind == GcKind::Major), (gc.number, gc.full));
    assert_eq!(heap.object_count(), gc.objects.len(), "GC {}", gc.number);
    let origins = heap.origins().expect("origins");
    let mut now = HashMap::new();
    for (o, object) in heap.objects().zip(&gc.objects) {
        assert_eq!(answer(heap, o, numbers), expected(object), "GC {}", gc.number);
        let identity = origins.identity(o.0 as usize);
        assert!(identities.get(&identity).is_none_or(|&before| before == object.identity), "GC {}", gc.number);
        now.insert(identity, object.identity);
    }
    assert_eq!(now.len(), gc.objects.len(), "identities differ");
    *identities = now;
    let mut roots: Vec<u64> = heap.roots().iter().filter_map(|r| heap.address(r.object)).collect();
    let mut expected: Vec<u64> = gc.roots.iter().map(|r| r.2).collect();
    roots.sort_unstable();
    expected.sort_unstable();
    assert_eq!(roots, expected, "GC {}", gc.number);
    assert_eq!(collection.freed, gc.deaths, "GC {}", gc.number);
}

fn specs() -> impl Strategy<Value = Spec> {
    let collector = prop_oneof![Just(Collector::Parallel), Just(Collector::G1)];
    let flags = (collector, any::<bool>(), any::<bool>());
    let sizes = (1u32..7, 0u64..4000, 0u64..2500, 0u32..=100);
    (any::<u64>(), flags, sizes, (1u32..16, 0u32..6), (16u32..80, 32u32..300)).prop_map(
        |(seed, (collector, pointers, compressed), (threads, live, per_gc, survivors), (gcs, full), (types, sites))| {
            Spec {
                seed,
                collector,
                pointers,
                compressed,
                threads,
                live_objects: live,
                allocations_per_gc: per_gc,
                survivors_percent: survivors,
                gcs,
                full_gc_every: full,
                types,
                sites,
                ..Spec::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn what_was_generated_is_what_is_read(spec in specs()) {
        let (trace, generated) = check(&spec);
        // A second opinion on the generator itself.
        naive_anttracks::check(&spec, &trace, &generated);
    }
}
