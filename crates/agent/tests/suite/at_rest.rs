//! A walk of a program at rest is what the VM has: objects, references, roots, and where the samples are.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, wait_until, with_jdks};
use memory_city_agent::folder::{RecorderLock, WALKS, WalkNote};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, Root, RootKind};
use memory_city_testing::jvm::{self, Jdk, Program};
use memory_city_wire::SampleRow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

/// How many references lead from type to type, and how many roots of each kind there are; hidden classes without their numbers.
fn shape(heap: &HeapState) -> (BTreeMap<(String, String), u64>, BTreeMap<RootKind, u64>) {
    let name = |o| heap.types()[heap.type_of(o).0 as usize].name.split("$$").next().unwrap_or_default().to_owned();
    let mut references = BTreeMap::new();
    for from in heap.objects() {
        for to in heap.references(from) {
            *references.entry((name(from), name(*to))).or_default() += 1;
        }
    }
    let mut roots = BTreeMap::new();
    for root in heap.roots() {
        *roots.entry(root.kind).or_default() += 1;
    }
    (references, roots)
}

/// A program at rest, under each collector. Objects per class at a walk are those of the VM's own histograms before and
/// after. References and roots are those of a dump by the JDK's tool. Each live sample is linked to an object of its
/// class.
#[test]
fn a_walk_of_a_program_at_rest_is_what_the_vm_has() {
    with_jdks("a_walk_of_a_program_at_rest", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().into_iter().enumerate() {
            let folder = temporary.join(format!("trace-{number}"));
            at_rest(jdk, class_path, &folder, &flags);
        }
    });
}

/// Of so many of the JDK's own classes the tools in the process make and leave objects between two counts, so many of each.
const CLASSES_OF_TOOLS: usize = 3;
const MOST_OF_TOOLS: u64 = 8;
/// So many references between these, of so many kinds, are in one of two dumps alone.
const REFERENCES_OF_TOOLS: u64 = 64;
const KINDS_OF_TOOLS: usize = 8;

fn at_rest(jdk: &Jdk, class_path: &str, folder: &Path, flags: &[&str]) {
    std::fs::create_dir(folder).expect("made");
    let _lock = RecorderLock::take(folder).expect("the lock");
    let options = AgentOptions {
        folder: folder.to_owned(),
        walks: 200,
        sampling: SamplingMode::Every(4 << 10),
        ..AgentOptions::default()
    };
    let agent = agent(&options);
    let program = Program::start(jdk, &[flags, &[&agent, "-Xmx300m"]].concat(), class_path, "Resting");
    let walk = std::cell::Cell::new(0);
    // The latest walk: its dump, with its samples.
    let next = || {
        walk.set(walk.get() + 1);
        let number = walk.get();
        wait_until("a walk", || WalkNote::waiting(folder).contains(&number));
        let (dump, links) = (WalkNote::dump(folder, number), WalkNote::file(folder, number));
        let kept = folder.join("dump");
        let note = WalkNote::parse(&std::fs::read_to_string(&links).expect("a note")).expect("a note of ours");
        std::fs::rename(&dump, &kept).expect("moved");
        std::fs::remove_file(&links).expect("removed");
        (Input::open(&kept, &Progress::new()).expect("a dump"), note)
    };
    // The first of each loads classes; histograms collect garbage, and so bring about the walks. Which walk lies between two of
    // them is not certain, as these are taken when there is time: it is the one between two that are equal.
    program.histogram();
    next();
    program.dump(&folder.join("warm.hprof"), &["-all"]);
    let mut before = program.histogram();
    for attempt in 0.. {
        let (input, note) = next();
        let after = program.histogram();
        let counted = hprof::histogram(&input, &Progress::new()).expect("a dump");
        let counted: BTreeMap<String, u64> = counted.rows.into_iter().map(|r| (r.class, r.objects)).collect();
        let steady = before.iter().filter(|(class, row)| after.get(*class).map(|r| r.0) == Some(row.0));
        let steady_count = steady.clone().count();
        let differing: Vec<(&str, u64, u64)> = steady
            .map(|(class, row)| (class.as_str(), row.0, counted.get(class).copied().unwrap_or(0)))
            .filter(|(_, by_vm, by_walk)| by_vm != by_walk)
            // What asks for the dump is in it: its path, the object that is asked. Hidden classes are named in two ways.
            .filter(|(class, ..)| {
                let asking = ["java.lang.Class", "java.lang.String", "byte[]"];
                !asking.contains(class) && !class.starts_with("com.sun.management.") && !class.contains("$$Lambda")
            })
            .collect();
        let wrong = wrong_of(&differing);
        // What the tools leave behind in the process is not collected at once: then once more.
        if wrong.is_some() && attempt < 3 {
            before = after;
            continue;
        }
        jvm::say(&format!("  {flags:?}: {steady_count} classes steady, by VM and walk: {differing:?}"));
        assert!(steady_count > 200 && before["Resting$Entry"].0 == 30_000, "{flags:?}");
        assert_eq!(counted["Resting$Entry"], 30_000, "{flags:?}");
        assert_eq!(wrong, None, "{flags:?}: {differing:#?}");

        let handles = note.links.iter().map(|link| link.handle()).collect();
        let (heap, held) = hprof::load_held(&input, &handles, &Progress::new()).expect("a dump");
        let held: HashMap<u64, ObjectId> = held.into_iter().collect();
        // No further walk begins while one waits. One that is under way holds samples, which the other dump would have as roots.
        std::fs::write(folder.join(WALKS).join("waits"), "").expect("written");
        let dumped = || {
            let file = folder.join("other.hprof");
            program.dump(&file, &["-all"]);
            let input = Input::open(&file, &Progress::new()).expect("a dump");
            let (other, _) = hprof::load_held(&input, &std::iter::empty().collect(), &Progress::new()).expect("a dump");
            std::fs::remove_file(file).expect("removed");
            other
        };
        let mut other = dumped();
        for _ in 0..5 {
            if roots_apart(&shape(&heap).1, &shape(&other).1).is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(500));
            other = dumped();
        }
        same_shape(&heap, &other, flags);
        linked(folder, &heap, &note, &held, flags);
        none_is_missing(jdk, &program, folder, &note, flags);
        return;
    }
}

/// Whether a class, or that of the elements of an array, is the JDK's own, or none: the tools in the process make such objects.
fn is_of_jdk(class: &str) -> bool {
    let element = class.trim_end_matches("[]");
    ["java.", "jdk.", "sun.", "com.sun."].iter().any(|package| element.starts_with(package))
        || element != class && element.chars().all(|c| c.is_ascii_lowercase())
}

/// What is wrong about classes that two counts of them differ in: of the program's own none may differ, of the JDK's a few by a little.
fn wrong_of(differing: &[(&str, u64, u64)]) -> Option<String> {
    let own = differing.iter().find(|(class, ..)| !is_of_jdk(class));
    let much = differing.iter().find(|(_, one, other)| one.abs_diff(*other) > MOST_OF_TOOLS);
    match (own.or(much), differing.len() > CLASSES_OF_TOOLS) {
        (Some((class, one, other)), _) => Some(format!("{class}: {one} and {other}")),
        (None, true) => Some(format!("{} classes", differing.len())),
        (None, false) => None,
    }
}

#[test]
fn a_class_of_the_program_that_two_counts_differ_in_is_noticed() {
    assert_eq!(wrong_of(&[("java.lang.Object[]", 9, 1), ("int[]", 2, 3), ("sun.nio.ch.Util", 1, 0)]), None);
    for differing in [
        &[("Resting$Entry", 30_000, 29_999)][..],
        &[("Resting$Entry[]", 1, 2)],
        &[("java.util.HashMap", 9, 0)],
        &[("int[]", 1, 2), ("java.A", 1, 2), ("jdk.B", 1, 2), ("sun.C", 1, 2)],
    ] {
        assert!(wrong_of(differing).is_some(), "{differing:?}");
    }
}

/// References of each type and roots of each kind: what the tools do in the process comes to little.
fn same_shape(heap: &HeapState, other: &HeapState, flags: &[&str]) {
    let ((references, roots), (other_references, other_roots)) = (shape(heap), shape(other));
    let of = |from: &str, to: &str| {
        let key = (from.to_owned(), to.to_owned());
        let pair = (references.get(&key).copied().unwrap_or(0), other_references.get(&key).copied().unwrap_or(0));
        assert_eq!(pair.0, pair.1, "{flags:?}: {from} to {to}");
        pair.0
    };
    assert_eq!(of("Resting$Entry", "long[]"), 30_000, "{flags:?}");
    assert_eq!(of("java.util.HashMap$Node", "Resting$Entry"), 30_000, "{flags:?}");
    assert!(of("java.util.HashMap$Node[]", "java.util.HashMap$Node") > 20_000, "{flags:?}");
    let keys: HashSet<_> = references.keys().chain(other_references.keys()).collect();
    let apart = |key| {
        let (a, b) = (references.get(key).copied().unwrap_or(0), other_references.get(key).copied().unwrap_or(0));
        (a != b).then_some((key, a, b))
    };
    let differing: Vec<_> = keys.iter().copied().filter_map(apart).collect();
    let own = differing.iter().find(|((from, to), ..)| !is_of_jdk(from) || !is_of_jdk(to));
    assert_eq!(own, None, "{flags:?}: references of the program");
    let sum: u64 = differing.iter().map(|(_, a, b)| a.abs_diff(*b)).sum();
    let all: u64 = references.values().sum();
    jvm::say(&format!("    {all} references of {} kinds, {} kinds differ, by {sum}", keys.len(), differing.len()));
    let is_little = sum <= REFERENCES_OF_TOOLS && differing.len() <= KINDS_OF_TOOLS;
    assert!(is_little, "{flags:?}: {sum} of {all}: {differing:?}");
    assert_eq!(roots_apart(&roots, &other_roots), [], "{flags:?}: roots of a walk, of the other dump");
    let (own, other_own) = (own_roots(heap), own_roots(other));
    assert_eq!(own, other_own, "{flags:?}: roots of the program in a walk, in the other dump");
    // These two at least: a field of a class, a variable of a method.
    let has =
        |kind, text: &str, of: &str| own.iter().any(|root| root.0 == kind && root.1.contains(text) && root.2 == of);
    let is_there = has(RootKind::StaticField, "Resting.ALL", "java.util.HashMap")
        && has(RootKind::StaticField, "Resting.HELD", "Resting$Held")
        && has(RootKind::LocalVariable, "Resting.main", "Resting$Held");
    assert!(is_there, "{flags:?}: {own:?}");
}

/// Roots of the program, not of a tool: static fields of its classes, and roots of their objects. Each has kind,
/// description and class of the object; sorted.
fn own_roots(heap: &HeapState) -> Vec<(RootKind, String, String)> {
    let of = |root: &Root| heap.types()[heap.type_of(root.object).0 as usize].name.clone();
    let all = heap.roots().iter().map(|root| (root.kind, root.detail.clone(), of(root)));
    let is_own = |(kind, detail, class): &(RootKind, String, String)| {
        !is_of_jdk(class) || *kind == RootKind::StaticField && detail.starts_with("Resting")
    };
    let mut own: Vec<_> = all.filter(is_own).collect();
    own.sort();
    own
}

/// Kinds of roots whose numbers differ between two dumps by more than the recorder's thread and the request for the
/// dump hold. Includes kinds that only one of the two has.
fn roots_apart(one: &BTreeMap<RootKind, u64>, other: &BTreeMap<RootKind, u64>) -> Vec<(RootKind, u64, u64)> {
    let kinds: BTreeSet<RootKind> = one.keys().chain(other.keys()).copied().collect();
    let counted = kinds.into_iter().map(|kind| {
        let [count, there] = [one, other].map(|of| of.get(&kind).copied().unwrap_or(0));
        (kind, count, there)
    });
    counted.filter(|(_, count, there)| count.abs_diff(*there) > 8 + count / 50).collect()
}

#[test]
fn a_kind_of_roots_that_only_one_dump_has_is_noticed() {
    let one = BTreeMap::from([(RootKind::Thread, 20), (RootKind::Jni, 1000)]);
    let other = BTreeMap::from([(RootKind::Thread, 25), (RootKind::Jni, 1020), (RootKind::StaticField, 900)]);
    assert_eq!(roots_apart(&one, &other), [(RootKind::StaticField, 0, 900)]);
    assert_eq!(roots_apart(&other, &one), [(RootKind::StaticField, 900, 0)]);
}

/// So many samples threads may be about to hand over when the others are held.
const IN_HAND: usize = 4;

/// Every live sample is in the walk as an object of its class and size; class mirrors are counted, and no instances in dumps.
fn linked(folder: &Path, heap: &HeapState, note: &WalkNote, held: &HashMap<u64, ObjectId>, flags: &[&str]) {
    // All that the walk names is in the trace before the dump is.
    let trace = Trace::read(folder);
    let samples: HashMap<u64, &SampleRow> = trace.samples.iter().map(|s| (s.id, s)).collect();
    let (mut mirrors, mut wrong, mut right) = (0, Vec::new(), 0);
    for link in &note.links {
        let sample = samples[&link.number];
        let Some(object) = held.get(&link.handle()) else {
            assert_eq!(trace.class(sample), "java.lang.Class", "{flags:?}: a sample is not in the dump: {sample:?}");
            mirrors += 1;
            continue;
        };
        let (of, class) = (&heap.types()[heap.type_of(*object).0 as usize].name, trace.class(sample));
        let size = heap.size_of(*object);
        let is_same = of == class || of.contains("$$") && class.contains("$$");
        // It has fields that dumps do not show, and where objects lie with holes between them nothing tells of these.
        let has_holes = flags.iter().any(|flag| ["-XX:+UseZGC", "-XX:+UseShenandoahGC"].contains(flag));
        let is_hidden = has_holes && class == "java.lang.invoke.ResolvedMethodName";
        if is_same && (size == sample.size || class == "java.lang.Class" || is_hidden) {
            right += 1;
        } else {
            wrong.push((of.clone(), size, class.to_owned(), sample.size));
        }
    }
    jvm::say(&format!("    {right} samples linked, {mirrors} class mirrors not"));
    assert_eq!(wrong, [], "{flags:?}: class and size by the dump, by the sample");
    assert!(right > 200, "{flags:?}: {right} samples linked, {mirrors} mirrors");
}

/// Live samples from before the walk are linked in it: all that are not found dead. The rest is found dead sooner or
/// later, after another collection.
fn none_is_missing(jdk: &Jdk, program: &Program, folder: &Path, note: &WalkNote, flags: &[&str]) {
    let named: HashSet<u64> = note.links.iter().map(|link| link.number).collect();
    let mut missing = Vec::new();
    for _ in 0..20 {
        let trace = Trace::read(folder);
        let dead: HashSet<u64> = trace.deaths.iter().map(|death| death.sample).collect();
        let is_missing = |s: &&SampleRow| s.time < note.start && !dead.contains(&s.id) && !named.contains(&s.id);
        missing = trace.samples.iter().filter(is_missing).map(|s| trace.class(s).to_owned()).collect();
        if missing.len() <= IN_HAND {
            return;
        }
        // Not for a histogram: of that collection some collectors tell nobody. Written is it after half a second.
        jvm::output(jdk.tool("jcmd").arg(program.pid.to_string()).arg("GC.run"));
        std::thread::sleep(Duration::from_millis(600));
    }
    panic!("{flags:?}: {} of {} are missing: {missing:?}", missing.len(), named.len());
}
