//! All objects keep their numbers: what is the same object in two walks has the same one, under every collector, wherever it was moved.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, with_jdks};
use memory_city_agent::AgentOptions;
use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote, WalkNumber};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use memory_city_testing::jvm::{self, Jdk, PATIENCE, Program};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

/// A program whose walks are taken here.
struct Walked<'a> {
    program: Program,
    folder: &'a Path,
    walks: u64,
    _lock: RecorderLock,
}

impl<'a> Walked<'a> {
    fn start(jdk: &Jdk, flags: &[&str], class_path: &str, main: &str, folder: &'a Path, most: u32) -> Walked<'a> {
        std::fs::create_dir(folder).expect("made");
        let lock = RecorderLock::take(folder).expect("the lock");
        let options =
            AgentOptions { folder: folder.to_owned(), walks: 300, duty: 1, identity: most, ..AgentOptions::default() };
        let agent = agent(&options);
        let program = Program::start(jdk, &[flags, &[&agent, "-Xmx300m"]].concat(), class_path, main);
        Walked { program, folder, walks: 0, _lock: lock }
    }

    /// The next walk, and the numbers of its objects.
    fn next(&mut self) -> (HeapState, HashMap<ObjectId, u64>) {
        self.walks += 1;
        let links = WalkNote::file(self.folder, self.walks);
        let begun = Instant::now();
        while !links.exists() {
            assert!(begun.elapsed() < PATIENCE, "walk {} takes too long", self.walks);
            std::thread::sleep(Duration::from_millis(20));
        }
        let dump = WalkNote::dump(self.folder, self.walks);
        let input = Input::open(&dump, &Progress::new()).expect("a dump");
        let note = WalkNote::parse(&std::fs::read_to_string(&links).expect("a note")).expect("a note of ours");
        let numbers = std::fs::read(WalkNote::numbers(self.folder, self.walks)).unwrap_or_default();
        let numbers: Vec<WalkNumber> = WalkNote::parse_numbers(&numbers).collect();
        let handles = note.links.iter().chain(&numbers).map(|n| n.handle()).collect();
        let (heap, held) = hprof::load_held(&input, &handles, &Progress::new()).expect("a dump");
        let mut of = HashMap::new();
        for (number, handle) in numbers.iter().map(|n| (&n.number, n.handle())) {
            if let Some(object) = held.get(&handle) {
                let first = of.entry(*object).or_insert(*number);
                *first = *number.min(first);
            }
        }
        let missing = numbers.iter().filter(|n| !n.is_class() && !held.contains_key(&n.handle())).count();
        if missing > 0 {
            // A dump in the midst of moving: the recording process says nothing of its objects.
            jvm::say(&format!("    walk {}: of {} numbers {missing} are not in the dump", self.walks, numbers.len()));
            of.clear();
        }
        for path in [dump, links, WalkNote::numbers(self.folder, self.walks)] {
            let _ = std::fs::remove_file(path);
        }
        (heap, of)
    }

    /// The next walk that begins after this.
    fn later(&mut self) -> (HeapState, HashMap<ObjectId, u64>) {
        // One may be under way.
        self.next();
        let mut walks = (0..10).map(|_| self.next());
        walks.find(|(_, numbers)| !numbers.is_empty()).expect("a walk whose objects are known")
    }
}

fn class(heap: &HeapState, o: ObjectId) -> &str {
    &heap.types()[heap.type_of(o).0 as usize].name
}

/// Items by their marks: number of the item, number of its array, address.
fn items(heap: &HeapState, numbers: &HashMap<ObjectId, u64>) -> BTreeMap<u32, (u64, u64, u64)> {
    let alive = heap.objects().filter(|o| heap.is_reachable(*o) && class(heap, *o) == "Known$Item");
    let told = alive.map(|o| {
        let [array] = heap.references(o)[..] else { panic!("an item refers to its array") };
        let mark = heap.array_length(array).expect("an array") - 1000;
        let number = |o: ObjectId| {
            numbers
                .get(&o)
                .copied()
                .unwrap_or_else(|| panic!("{mark}: {} has no number; {} have", class(heap, o), numbers.len()))
        };
        (mark, (number(o), number(array), heap.address(o).expect("an address")))
    });
    told.collect()
}

#[test]
fn objects_keep_their_numbers_under_every_collector() {
    with_jdks("objects_keep_their_numbers", |jdk, class_path, temporary| {
        for (number, mut flags) in jdk.collectors().into_iter().enumerate() {
            let folder = temporary.join(format!("trace-{number}"));
            if flags.contains(&"-XX:+UseShenandoahGC") {
                // It moves nothing where little is to be gained.
                flags.extend(["-XX:+UnlockDiagnosticVMOptions", "-XX:ShenandoahGCHeuristics=aggressive"]);
            }
            let mut walked = Walked::start(jdk, &flags, class_path, "Known", &folder, 1_000_000);
            let (heap, numbers) = walked.later();
            let first = items(&heap, &numbers);
            assert_eq!(first.len(), 300, "{flags:?}");
            // A collector that moves all with every collection can have an even number of them between two walks, and all where it was:
            // one more each time.
            let (mut moved, mut times) = (0, 0);
            while times < 2 || (moved <= 100 && times < 10) {
                times += 1;
                (0..times).for_each(|_| drop(walked.program.ask("move")));
                let (heap, numbers) = walked.later();
                let now = items(&heap, &numbers);
                assert_eq!(now.len(), 300, "{flags:?}");
                for (mark, (item, array, address)) in &now {
                    let (was_item, was_array, was_address) = first[mark];
                    assert_eq!((*item, *array), (was_item, was_array), "{flags:?}: {mark}");
                    moved += usize::from(*address != was_address);
                }
            }
            assert!(moved > 100, "{flags:?}: {moved} items were moved");
            walked.program.ask("change");
            let (heap, numbers) = walked.later();
            let changed = items(&heap, &numbers);
            let last = first.values().map(|(item, array, _)| *item.max(array)).max().expect("items");
            assert!(changed.keys().copied().eq(50..350), "{flags:?}");
            for (mark, (item, array, _)) in &changed {
                match first.get(mark) {
                    Some((was_item, was_array, _)) => assert_eq!((item, array), (was_item, was_array), "{flags:?}"),
                    None => assert!(*item.min(array) > last, "{flags:?}: a new object has a new number"),
                }
            }
            // Of a program at rest all has a number, but for what asks for the dump.
            let without = heap.objects().filter(|o| heap.is_reachable(*o) && !numbers.contains_key(o));
            let without: Vec<&str> = without.map(|o| class(&heap, o)).collect();
            let twice: std::collections::HashSet<u64> = numbers.values().copied().collect();
            assert_eq!(twice.len(), numbers.len(), "{flags:?}: no two objects have one number");
            jvm::say(&format!("  {flags:?}: {} numbered, {moved} moved, without: {without:?}", numbers.len()));
            assert!(without.len() < 20, "{flags:?}: {without:?}");
        }
    });
}

/// Numbered objects of each class are as many as the VM's own histogram says, on a program at rest.
#[test]
fn all_objects_of_all_classes_have_numbers() {
    with_jdks("all_objects_of_all_classes", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().into_iter().enumerate() {
            let folder = temporary.join(format!("trace-{number}"));
            let mut walked = Walked::start(jdk, &flags, class_path, "Resting", &folder, 1_000_000);
            walked.program.histogram();
            let before = walked.program.histogram();
            let (heap, numbers) = walked.later();
            let after = walked.program.histogram();
            let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
            for object in numbers.keys() {
                *counted.entry(class(&heap, *object)).or_default() += 1;
            }
            let steady = before.iter().filter(|(class, row)| after.get(*class).map(|r| r.0) == Some(row.0));
            let steady: Vec<_> = steady.filter(|(class, _)| !class.contains("$$")).collect();
            let differ: Vec<_> = steady
                .iter()
                .map(|(class, row)| (class.as_str(), row.0, counted.get(class.as_str()).copied().unwrap_or(0)))
                .filter(|(class, said, there)| said != there && *class != "java.lang.Class")
                .collect();
            jvm::say(&format!("  {flags:?}: {} of {} classes differ: {differ:?}", differ.len(), steady.len()));
            assert_eq!(counted["Resting$Entry"], 30_000, "{flags:?}");
            // What asks for histograms and dumps leaves a little behind.
            assert!(steady.len() > 200 && differ.len() <= 6, "{flags:?}: {differ:?}");
        }
    });
}

/// Too many objects for numbers: one line says so, and walks go on without. Collections requested before a walk stop
/// the program for its sake, so they are in the sum of its stops.
#[test]
fn collections_before_walks_count_as_pauses() {
    with_jdks("collections_before_walks", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let known = AgentOptions { folder: folder.clone(), walks: 300, histograms: 0, ..AgentOptions::default() };
        let agent = agent(&AgentOptions { duty: 1, identity: 1_000_000, ..known });
        let _program = Program::start(jdk, &["-Xmx300m", "-XX:+UseSerialGC", &agent], class_path, "Resting");
        let mut walked = 0;
        for walk in 1..=3 {
            let begun = Instant::now();
            while AgentStatus::read(&folder).is_none_or(|status| status.walks < walk) {
                assert!(begun.elapsed() < PATIENCE, "walk {walk} takes too long");
                std::thread::sleep(Duration::from_millis(20));
            }
            let text = std::fs::read_to_string(WalkNote::file(&folder, walk)).expect("a note");
            let note = WalkNote::parse(&text).expect("a note of ours");
            walked += note.end - note.start;
            // The last one stays, so that there is no further one.
            let files =
                [WalkNote::dump(&folder, walk), WalkNote::file(&folder, walk), WalkNote::numbers(&folder, walk)];
            files.iter().filter(|_| walk < 3).for_each(|file| std::fs::remove_file(file).expect("removed"));
        }
        let status = AgentStatus::read(&folder).expect("a status");
        let trace = Trace::read(&folder);
        let asked = |cause: &u32| trace.strings[cause] == "JvmtiEnv ForceGarbageCollection";
        let forced: Vec<u64> =
            trace.collections.iter().filter(|gc| gc.cause.as_ref().is_some_and(asked)).map(|gc| gc.duration).collect();
        jvm::say(&format!("  walks {walked} ns, collections before them {forced:?} ns, said {} us", status.pauses));
        assert!(!forced.is_empty());
        assert_eq!(status.pauses, (walked + forced.iter().sum::<u64>()) / 1000);
    });
}

#[test]
fn too_many_objects_are_said_and_samples_go_on() {
    with_jdks("too_many_objects", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let mut walked = Walked::start(jdk, &[], class_path, "Resting", &folder, 20_000);
        for _ in 0..2 {
            let (heap, numbers) = walked.next();
            assert!(numbers.is_empty() && heap.object_count() > 60_000);
        }
        let status = AgentStatus::read(&folder).expect("a status");
        assert_eq!((status.numbered, status.ended.as_str()), (0, ""));
        assert!(status.samples > 0);
        let trace = Trace::read(&folder);
        assert_eq!(trace.run["recording.mode"], "identity");
        let said: Vec<&str> = trace.settings.iter().filter(|s| s.key == "identity").map(|s| s.value.as_str()).collect();
        assert_eq!(said, ["samples: there are more than 20000 objects"]);
    });
}
