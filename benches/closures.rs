//! Retained and deep amounts of every type of a heap, against one walk from its roots.

use memory_city_analysis::group::{self, GroupOptions};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::ownership::*;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let dump = std::env::args().nth(1).filter(|a| !a.starts_with("--")).unwrap_or("target/bench/big.hprof".into());
    let progress = Progress::new();
    let start = Instant::now();
    let input = Input::open(Path::new(&dump), &progress).expect("the dump opens");
    let heap = hprof::load(&input, &progress).expect("a heap");
    println!("load {:?} objects {} refs {}", start.elapsed(), heap.object_count(), heap.reference_count());
    for _ in 0..3 {
        let start = Instant::now();
        let seen = walk(&heap);
        println!("plain walk {:?} {}", start.elapsed(), seen);
    }
    let start = Instant::now();
    heap.reachable();
    println!("reachable {:?}", start.elapsed());
    let start = Instant::now();
    let d = Dominators::new(&heap, KeepRules::default(), &progress).unwrap();
    println!("dominators {:?} {:?}", start.elapsed(), d.total());
    drop(d);
    // By type.
    let types = heap.types().len();
    let of: Vec<u32> = heap.objects().map(|o| heap.type_of(o).0).collect();
    let lists = (0..types as u32).map(|t| vec![t].into()).collect();
    let groups = Arc::new(ObjectGroups::new(of, lists, types));
    let start = Instant::now();
    let closures = GroupClosures::new(&heap, KeepRules::default(), Arc::clone(&groups));
    println!("order {:?}", start.elapsed());
    let mut bytes = vec![0u64; types];
    heap.objects().for_each(|o| bytes[heap.type_of(o).0 as usize] += heap.size_of(o));
    let mut by: Vec<u32> = (0..types as u32).collect();
    by.sort_by_key(|&t| std::cmp::Reverse(bytes[t as usize]));
    let start = Instant::now();
    let few = closures.retained(&by[..20], &progress).unwrap();
    println!("first 20 {:?}", start.elapsed());
    let start = Instant::now();
    let all = closures.retained(&by, &progress).unwrap();
    println!("all {types} {:?}", start.elapsed());
    assert_eq!(&all[..20], &few[..]);
    let start = Instant::now();
    let both = closures.deep_and_retained(&by, &progress).unwrap();
    println!("deep all {:?}", start.elapsed());
    let start = Instant::now();
    let _ = closures.deep_and_retained(&by, &progress).unwrap();
    println!("deep all again {:?}", start.elapsed());
    for i in 0..12 {
        println!(
            "{} {} {} {}",
            heap.types()[by[i] as usize].name,
            bytes[by[i] as usize],
            both[i].retained.bytes,
            both[i].deep.bytes
        );
    }
    let _ = (group::groupings(), GroupOptions::default());
}

fn walk(heap: &HeapState) -> usize {
    let mut seen = BitSet::new(heap.object_count());
    let mut open: Vec<ObjectId> = Vec::new();
    for root in heap.roots() {
        if seen.insert(root.object.0) {
            open.push(root.object);
        }
    }
    while let Some(o) = open.pop() {
        for &t in heap.references(o) {
            if seen.insert(t.0) {
                open.push(t);
            }
        }
    }
    seen.count()
}
