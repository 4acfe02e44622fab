//! Contents of hidden fields of class objects: attached if the class is alive, and nothing else.

use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, RootKind};
use memory_city_testing::hprof_writer::{self, reflective};
use memory_city_testing::{jvm, root};
use std::collections::BTreeMap;
use std::path::Path;

fn load(dump: &Path) -> HeapState {
    let input = Input::open(dump, &Progress::new()).expect("the dump");
    hprof::load(&input, &Progress::new()).expect("a heap state")
}

fn type_name(heap: &HeapState, o: ObjectId) -> &str {
    &heap.types()[heap.type_of(o).0 as usize].name
}

/// Objects by class, and how many of them are reachable.
fn by_class(heap: &HeapState) -> BTreeMap<&str, (u64, u64)> {
    let mut rows: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for o in heap.objects() {
        let row = rows.entry(type_name(heap, o)).or_default();
        row.0 += 1;
        row.1 += u64::from(heap.is_reachable(o));
    }
    rows
}

/// Outgoing and incoming references are transposes, also with what was inferred.
fn assert_consistent(heap: &HeapState) {
    let mut forth = Vec::with_capacity(heap.reference_count());
    let mut back = Vec::with_capacity(heap.reference_count());
    for o in heap.objects() {
        forth.extend(heap.references(o).iter().map(|&to| (o, to)));
        back.extend(heap.referrers(o).iter().map(|&from| (from, o)));
        assert!(heap.referrers(o).is_sorted());
    }
    forth.sort_unstable();
    back.sort_unstable();
    assert!(forth == back);
    for inferred in heap.inferred_references() {
        assert!(heap.references(inferred.from).contains(&inferred.to), "{inferred:?}");
        // Hidden fields of class objects, and the classes of loaders.
        let of_class = type_name(heap, inferred.from) == "java.lang.Class";
        assert!(
            of_class || inferred.field == "classes" && type_name(heap, inferred.to) == "java.lang.Class",
            "{inferred:?}"
        );
        assert_eq!(heap.inferred_field(inferred.from, inferred.to), Some(inferred.field));
    }
    assert_eq!(heap.inferred_field(ObjectId(0), ObjectId(0)), None);
}

/// A dump of live objects is taken right after a full GC: everything in it is alive. A dump of all objects holds garbage,
/// and copies of methods that the program dropped are just that.
#[test]
fn class_objects_hold_what_reflection_made_and_dropped_copies_stay_garbage() {
    let jdks: Vec<_> = jvm::jdks().into_iter().filter(|(version, _)| *version >= 9).collect();
    if jdks.is_empty() {
        return jvm::skip("hidden fields of class objects", "there is no JDK 9 or newer");
    }
    for (version, jdk) in jdks {
        let folder = tempfile::tempdir().expect("a folder");
        jdk.compile(&[&root().join("tests/java/Reflective.java")], ".", folder.path());
        // Nothing is collected but when a dump asks for it.
        let flags = ["-Xms600m", "-Xmx600m", "-Xmn400m", "-XX:+UseSerialGC"];
        let mut program = jvm::Program::start(&jdk, &flags, &folder.path().to_string_lossy(), "Reflective");
        let live = folder.path().join("live.hprof");
        program.dump(&live, &[]);
        let all = folder.path().join("all.hprof");
        program.dump(&all, &["-all"]);
        let copies: u64 = program.ask("copy").parse().expect("how many methods were copied");
        let more = folder.path().join("more.hprof");
        program.dump(&more, &["-all"]);
        drop(program);

        let heap = load(&live);
        assert_consistent(&heap);
        let (total, garbage) = heap.totals();
        let what = format!("JDK {version}: {garbage:?} of {total:?} are unreachable: {:?}", by_class(&heap));
        assert!(garbage.bytes * 100 < total.bytes, "{what}");
        let unreachable = |class: &str| {
            let (objects, reachable) = by_class(&heap).get(class).copied().unwrap_or_default();
            assert!(objects > 0, "JDK {version}: there is no {class}");
            objects - reachable
        };
        for class in [
            "java.lang.reflect.Method",
            "java.lang.Class$ReflectionData",
            "java.lang.Class$AnnotationData",
            "sun.reflect.annotation.AnnotationType",
            "sun.reflect.generics.repository.ClassRepository",
            "Reflective$Colour[]",
            "java.lang.Thread",
        ] {
            assert_eq!(unreachable(class), 0, "JDK {version}: {class}");
        }
        let fields: BTreeMap<&str, usize> =
            heap.inferred_references().iter().fold(BTreeMap::new(), |mut counts, reference| {
                *counts.entry(reference.field).or_default() += 1;
                counts
            });
        assert!(fields["reflectionData"] > 1400 && fields["name"] > 500, "JDK {version}: {fields:?}");
        for field in ["genericInfo", "enumConstants", "enumConstantDirectory", "annotationType", "cachedConstructor"] {
            assert!(fields.contains_key(field), "JDK {version}: nothing in {field}: {fields:?}");
        }
        assert!(heap.roots().iter().any(|r| r.kind == RootKind::Other && r.detail.contains("annotationData")));

        let (before, after) = (load(&all), load(&more));
        assert_consistent(&after);
        let methods = |heap: &HeapState| by_class(heap)["java.lang.reflect.Method"];
        let ((objects, reachable), (later, later_reachable)) = (methods(&before), methods(&after));
        assert!(copies > 10_000 && later == objects + copies, "JDK {version}: {copies}, {objects}, {later}");
        assert_eq!(later_reachable, reachable, "JDK {version}: copies that nobody holds are called reachable");
    }
}

/// Contents of a dead class are dead with it. Contents that may be of a dead class bring no loader to life.
#[test]
fn dead_classes_stay_dead_and_of_several_holders_one_is_taken() {
    use reflective::*;
    for id_size in [4, 8] {
        let heap = hprof::load_bytes(Path::new("test.hprof"), hprof_writer::reflective(id_size)).expect("a heap");
        assert_consistent(&heap);
        let object = |address| heap.object_at(address).expect("an object");
        let alive = DATA.iter().chain([&LOADER, &CLASS, &ANNOTATIONS]);
        let dead = DEAD_DATA.iter().chain(&DEAD_ANNOTATIONS).chain(&SPARE_DATA).chain(&COPIES).chain(&CONSTRUCTORS);
        for (addresses, expected) in [
            (alive.collect::<Vec<_>>(), true),
            (dead.chain([&DEAD_LOADER, &DEAD_CLASS, &DEAD_INSTANCE]).collect(), false),
        ] {
            for &address in addresses {
                assert_eq!(heap.is_reachable(object(address)), expected, "{address:#x}, {id_size}-byte ids");
            }
        }
        let told: Vec<_> = heap.inferred_references().iter().map(|r| (r.from, r.to, r.field)).collect();
        let expected = [
            (CLASS, DATA[0], "reflectionData"),
            (DEAD_CLASS, DEAD_DATA[0], "reflectionData"),
            // A class lives by its loader, which is dead too.
            (DEAD_LOADER, DEAD_CLASS, "classes"),
        ];
        assert_eq!(told, expected.map(|(holder, held, field)| (object(holder), object(held), field)));
        let hidden: Vec<_> = heap.roots().iter().filter(|r| r.detail.contains("hidden field")).collect();
        assert_eq!(hidden.len(), 1);
        assert_eq!((hidden[0].object, hidden[0].kind), (object(ANNOTATIONS), RootKind::Other));
    }
}
