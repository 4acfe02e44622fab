//! What references of each strength keep, in a real program: `tests/java/Strengths.java` says what it makes.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::Source;
use memory_city_heap::ownership::{Dominators, KeepRules, KeptBy, ObjectClosures, Strengths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId};
use memory_city_testing::{jvm, root};

const SOFT: &str = "Soft references alone";
const WEAK: &str = "Weak, phantom or finalizer references alone";

fn run(source: &Source, id: &str, given: &[(&str, &str)]) -> Findings {
    let analysis = AnalysisRegistry::built_in().get(id).expect(id);
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    let last = source.timeline().points().len() - 1;
    let window = TimeWindow { from: last, to: last };
    analyses::run(&*analysis, source, window, &arguments, &Progress::new()).expect(id)
}

fn of_type(heap: &HeapState, name: &str) -> Vec<ObjectId> {
    heap.objects().filter(|&o| heap.types()[heap.type_of(o).0 as usize].name == name).collect()
}

#[test]
fn what_soft_and_weaker_references_alone_keep_is_told_apart() {
    let test = "what_soft_and_weaker_references_alone_keep_is_told_apart";
    let Some(jdk) = jvm::jdk_from(17) else { return jvm::skip(test, "there is no JDK 17 or newer") };
    let folder = tempfile::tempdir().expect("a folder");
    let classes = folder.path().join("classes");
    jdk.compile(&[&root().join("tests/java/Strengths.java")], ".", &classes);
    // So much room for young objects that nothing is collected before the first dump.
    let flags = ["-Xms400m", "-Xmn300m", "-XX:+UseSerialGC"];
    let program = jvm::Program::start(&jdk, &flags, &classes.to_string_lossy(), "Strengths");
    let [all, live] = ["1-all.hprof", "2-live.hprof"].map(|name| folder.path().join(name));
    program.dump(&all, &["-all"]);
    program.dump(&live, &[]);
    drop(program);
    let progress = Progress::new();
    let source = Source::open(&[all, live], "kept-by>type", GroupOptions::default(), &progress).expect("the dumps");

    // Objects of each type before a collection, after one, and by what.
    let timeline = source.timeline();
    let count = |time: usize, by: &str, of: &str| {
        let node = source.find(&format!("Heap#{by}#Strengths${of}"));
        node.map_or(0, |node| timeline.amount(time, node).objects)
    };
    let strong = KeptBy::Strong.title();
    let garbage = KeptBy::Nothing.title();
    for (of, by, before, after) in [
        ("Picture", SOFT, 100, 100),
        ("Shown", strong, 20, 20),
        ("Key", WEAK, 70, 0),
        // An entry whose key has gone stays until somebody touches the map.
        ("Value", strong, 70, 70),
        ("Listener", WEAK, 40, 0),
        ("Leaf", WEAK, 40, 0),
        ("Nested", WEAK, 30, 0),
        ("Garbage", garbage, 60, 0),
    ] {
        assert_eq!((count(0, by, of), count(1, by, of)), (before, after), "{of} by {by}");
        for other in KeptBy::ALL.map(KeptBy::title).into_iter().filter(|other| *other != by) {
            assert_eq!((count(0, other, of), count(1, other, of)), (0, 0), "{of} by {other}");
        }
    }
    // One may be in the hands of the finalizer thread when the second dump is taken.
    assert_eq!((count(0, WEAK, "Handle"), count(0, strong, "Handle")), (50, 0));
    let (weak, in_hand) = (count(1, WEAK, "Handle"), count(1, strong, "Handle"));
    assert!(in_hand <= 1 && weak + in_hand == 50, "{weak} by weak references, {in_hand} in hand");

    // What refers to a group is what keeps it: a soft reference is, a weak one is not, and is counted.
    let history = source.heaps().expect("heaps");
    for (of, by, edges, weak) in [("Picture", SOFT, 1, 0), ("Key", WEAK, 0, 70), ("Listener", WEAK, 0, 40)] {
        let node = source.find(&format!("Heap#{by}#Strengths${of}")).expect(of);
        let map = history.references(0, node, &progress).expect("references");
        assert_eq!((map.incoming.len(), map.weak.0), (edges, weak), "{of}: {:?}", map.incoming);
    }

    // The analysis adds up, and names what soft references keep.
    let found = run(&source, "kept-by", &[]);
    assert!(found.answers[0].starts_with("Kept by soft references alone: "), "{:?}", found.answers);
    let heap = history.heap(1, &progress).expect("the heap");
    let strengths = Strengths::new(&heap, &progress).expect("not cancelled");
    let amounts = strengths.amounts(&heap, heap.objects());
    let column = |table: usize, id: &str| found.tables[table].header.column(id).expect(id);
    let cells = |table: usize, row: usize, id: &str| found.tables[table].rows[row].cells[column(table, id)].plain();
    for (row, by) in KeptBy::ALL.iter().enumerate() {
        assert_eq!(cells(0, row, "by"), by.title());
        assert_eq!(cells(0, row, "objects"), amounts[row].objects.to_string());
        assert_eq!(cells(0, row, "bytes"), amounts[row].bytes.to_string());
    }
    let types: Vec<(String, String)> =
        (0..found.tables[1].rows.len()).map(|row| (cells(1, row, "type"), cells(1, row, "by"))).collect();
    assert!(types.contains(&("byte[]".to_owned(), SOFT.to_owned())), "{types:?}");

    // Inspecting says it of one object, and of a group.
    let picture = of_type(&heap, "Strengths$Picture")[0];
    let address = format!("{:#x}", heap.address(picture).expect("an address"));
    let notes = run(&source, "inspect", &[("object", &address)]).notes;
    assert!(notes.iter().any(|note| note == &format!("Kept by: {SOFT}.")), "{notes:?}");
    let shown = format!("{:#x}", heap.address(of_type(&heap, "Strengths$Shown")[0]).expect("an address"));
    let notes = run(&source, "inspect", &[("object", &shown)]).notes;
    assert!(!notes.iter().any(|note| note.starts_with("Kept by")), "{notes:?}");
    let key = format!("Heap#{SOFT}#Strengths$Picture");
    let notes = run(&source, "inspect", &[("group", &key)]).notes;
    assert!(notes.iter().any(|note| note.starts_with(&format!("{SOFT}: 100 of them, "))), "{notes:?}");

    // Soft as weak: for dominators and closures alike.
    let mut pictures = BitSet::new(heap.object_count());
    of_type(&heap, "Strengths$Picture").iter().for_each(|o| {
        pictures.insert(o.0);
    });
    for (rules, kept) in [(KeepRules::default(), true), (KeepRules::SOFT_AS_WEAK, false)] {
        let dominators = Dominators::new(&heap, rules, &progress).expect("not cancelled");
        assert_eq!(dominators.is_reached(picture), kept);
        let retained = dominators.retained(picture);
        assert_eq!(retained.objects, if kept { 2 } else { 0 });
        let closure = ObjectClosures::new(&heap, rules, &progress).expect("not cancelled");
        let group = closure.of(&pictures, &progress).expect("not cancelled").retained;
        // A group is freed with what it alone leads to, whether or not anything keeps it.
        assert_eq!(group.iter().count(), 200);
        let soft = of_type(&heap, "java.lang.ref.SoftReference");
        let owned: u64 =
            soft.iter().map(|&o| dominators.retained(o).objects - u64::from(dominators.is_reached(o))).sum();
        assert_eq!(owned >= 200, kept, "{owned}");
    }
}
