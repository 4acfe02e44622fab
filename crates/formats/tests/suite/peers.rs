//! The rules of other tools, each on the smallest dump that shows it: the numbers of the tool, ours, and the true one
//! by taking the object out.

use memory_city_formats::hprof::{self, Peer, PeerStep};
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{Dominators, KeepGraph, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use memory_city_testing::hprof_writer::Dump;
use std::collections::HashSet;
use std::path::Path;

const OBJECT: u64 = 0x1000;
const CLASS: u64 = 0x1100;
const LOADER_CLASS: u64 = 0x1200;
const REFERENCE_CLASS: u64 = 0x1300;
const WEAK: u64 = 0x1380;
const THREAD_CLASS: u64 = 0x1400;
/// Of the class loader below.
const PLUGIN: u64 = 0x2000;
const LOADER: u64 = 0x3000;
const STATIC: u64 = 0x3010;
const INSTANCES: [u64; 2] = [0x3020, 0x3030];
const HOLDER: u64 = 0x3040;
const HELD: u64 = 0x3050;
const GARBAGE: u64 = 0x3060;
const REFERENCE: u64 = 0x3070;
const REFERENT: u64 = 0x3080;
const BELOW_REFERENT: u64 = 0x3090;
const THREAD: u64 = 0x30a0;
const LOCAL: u64 = 0x30b0;

fn dump() -> Vec<u8> {
    let mut d = Dump::new(2, 8, 0);
    for (serial, (class, name)) in [
        (OBJECT, "java/lang/Object"),
        (CLASS, "java/lang/Class"),
        (LOADER_CLASS, "java/lang/ClassLoader"),
        (REFERENCE_CLASS, "java/lang/ref/Reference"),
        (WEAK, "java/lang/ref/WeakReference"),
        (THREAD_CLASS, "java/lang/Thread"),
        (PLUGIN, "com/acme/Plugin"),
    ]
    .into_iter()
    .enumerate()
    {
        d.load_class(serial as u32 + 1, class, name);
    }
    for (id, name) in (11..).zip(["classes", "referent", "held", "SETTINGS"]) {
        d.string(id, name);
    }
    for (class, above, fields) in [
        (OBJECT, 0, &[][..]),
        (CLASS, OBJECT, &[]),
        (LOADER_CLASS, OBJECT, &[(11, 2)]),
        (REFERENCE_CLASS, OBJECT, &[(12, 2)]),
        (WEAK, REFERENCE_CLASS, &[]),
        (THREAD_CLASS, OBJECT, &[(13, 2)]),
    ] {
        d.class(class, above, 0, &[], fields).root(0x05, class, &[]);
    }
    d.class(PLUGIN, OBJECT, LOADER, &[(14, 2, STATIC)], &[(13, 2)]);
    // A loader that is a root, with the class it has loaded; its instances hang on roots of their own.
    d.instance(LOADER, 1, LOADER_CLASS, &[(2, PLUGIN)]).root(0x01, LOADER, &[0, 0]);
    d.instance(STATIC, 1, OBJECT, &[]);
    for instance in INSTANCES {
        d.instance(instance, 1, PLUGIN, &[(2, 0)]).root(0x01, instance, &[0, 0]);
    }
    // An object that a root holds, with something that garbage refers to as well.
    d.instance(HOLDER, 1, THREAD_CLASS, &[(2, HELD)]).root(0x01, HOLDER, &[0, 0]);
    d.instance(HELD, 1, OBJECT, &[]).instance(GARBAGE, 1, THREAD_CLASS, &[(2, HELD)]);
    // A weak reference; what it refers to has something of its own.
    d.instance(REFERENCE, 1, WEAK, &[(2, REFERENT)]).root(0x01, REFERENCE, &[0, 0]);
    d.instance(REFERENT, 1, THREAD_CLASS, &[(2, BELOW_REFERENT)]).instance(BELOW_REFERENT, 1, OBJECT, &[]);
    // A thread with a variable.
    d.instance(THREAD, 1, THREAD_CLASS, &[(2, 0)]).root(0x08, THREAD, &[7, 0]);
    d.instance(LOCAL, 1, OBJECT, &[]).root(0x03, LOCAL, &[7, 0]);
    d.finish()
}

fn load(step: &PeerStep) -> HeapState {
    let input = Input::from_bytes(Path::new("peers.hprof"), dump());
    hprof::load_as(step, &input, &Progress::new()).expect("a heap")
}

/// By rule, from those of the tool to ours: how many objects each of some objects retains.
fn retained(peer: Peer, of: &[u64]) -> Vec<(&'static str, Vec<u64>)> {
    let steps = peer.steps();
    let count = |step: &PeerStep| {
        let heap = load(step);
        let dominators = Dominators::new(&heap, step.keep, &Progress::new()).expect("not cancelled");
        of.iter().map(|&at| dominators.retained(heap.object_at(at).expect("it is there")).objects).collect()
    };
    steps.iter().map(|step| (step.rule, count(step))).collect()
}

/// What is not reached any more without an object, by plain search, under our rules but for classes that the VM holds.
fn freed_without(at: u64) -> HashSet<u64> {
    let step = Peer::VisualVm.steps().into_iter().find(|step| step.rule == "hidden fields").expect("a step");
    let heap = load(&step);
    let graph = KeepGraph::new(&heap, step.keep);
    let reach = |without: Option<ObjectId>| {
        let mut seen = HashSet::new();
        let mut open: Vec<ObjectId> = graph.roots().to_vec();
        while let Some(o) = open.pop() {
            if Some(o) != without && seen.insert(o) {
                graph.kept(o, |target| open.push(target));
                open.extend(heap.mirror_of(heap.type_of(o)));
            }
        }
        seen
    };
    let without = reach(heap.object_at(at));
    let lost = reach(None).into_iter().filter(|o| !without.contains(o));
    lost.filter_map(|o| heap.address(o)).collect()
}

#[test]
fn visualvm_lets_only_the_first_instance_keep_a_class_and_garbage_share() {
    let found = retained(Peer::VisualVm, &[LOADER, HOLDER, REFERENCE, THREAD]);
    // The tool gives the loader its class and what a static field of it holds, though two instances keep the class; and takes
    // from the holder what garbage refers to.
    assert_eq!(found[0], ("VisualVM", vec![3, 1, 1, 1]));
    assert_eq!(found[1], ("class", vec![1, 1, 1, 1]));
    assert_eq!(found[2], ("weak", vec![1, 2, 1, 1]));
    assert!(found[3..].iter().all(|(_, counts)| *counts == [1, 2, 1, 1]), "{found:?}");
    assert_eq!(found.last().map(|(rule, _)| *rule), Some("sizes"));
    for (at, freed) in [(LOADER, vec![LOADER]), (HOLDER, vec![HOLDER, HELD]), (REFERENCE, vec![REFERENCE])] {
        assert_eq!(freed_without(at), freed.into_iter().collect::<HashSet<_>>(), "{at:#x}");
    }
}

#[test]
fn hprof_analyzer_hangs_variables_below_their_thread_and_lets_weak_references_keep() {
    let found = retained(Peer::HprofAnalyzer, &[LOADER, HOLDER, REFERENCE, THREAD]);
    let rules: Vec<&str> = found.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(rules, ["hprof-analyzer", "weak", "locals", "hidden fields", "permanent classes", "sizes"]);
    assert_eq!(found[0].1, [1, 2, 3, 2]);
    assert_eq!(found[1].1, [1, 2, 1, 2]);
    assert!(found[2..].iter().all(|(_, counts)| *counts == [1, 2, 1, 1]), "{found:?}");
}

#[test]
fn the_last_step_is_what_everybody_else_sees() {
    let input = Input::from_bytes(Path::new("peers.hprof"), dump());
    let ours = hprof::load(&input, &Progress::new()).expect("a heap");
    for peer in [Peer::VisualVm, Peer::HprofAnalyzer] {
        let last = *peer.steps().last().expect("a step");
        assert_eq!((last.keep, last.peer_sizes), (KeepRules::default(), false));
        let heap = load(&last);
        for o in ours.objects() {
            assert_eq!(heap.references(o), ours.references(o));
            assert_eq!(heap.size_of(o), ours.size_of(o));
        }
        assert_eq!(heap.roots(), ours.roots());
    }
}
