//! Memory of reading a dump: the estimate holds for dumps of any kind, even of the smallest objects. Several dumps read
//! at once stay within the budget.

use memory_city_analysis::group::{self, GroupOptions};
use memory_city_analysis::ownership::OwnerTree;
use memory_city_formats::{HeapSeries, MemoryNeed, each_state};
use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_testing::hprof_writer::Dump;
use memory_city_testing::root;
use peak_alloc::PeakAlloc;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Kind of the objects of a dump.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Each refers to the next.
    Chain,
    /// They have no fields: as many objects as fit into a file. All are in one array.
    Bare,
    /// Arrays of a hundred references each.
    Arrays,
    /// Arrays of bytes.
    Bytes,
}

const NODE: u64 = 0x1400;
const NODES: u64 = 0x1500;

fn dump(shape: Shape, id_size: usize, objects: u64) -> Vec<u8> {
    let mut dump = Dump::new(2, id_size, 1_700_000_000_000);
    dump.load_class(1, NODE, "com/acme/Node").load_class(2, NODES, "[Lcom/acme/Node;").string(0x20, "next");
    let fields: &[(u64, u8)] = if matches!(shape, Shape::Chain) { &[(0x20, 2)] } else { &[] };
    dump.class(NODE, 0, 0, &[], fields).class(NODES, 0, 0, &[], &[]);
    let at = |i: u64| 0x10_0000 + 16 * i;
    let all = at(objects + 10);
    for i in 0..objects {
        match shape {
            Shape::Chain => drop(dump.instance(at(i), 0, NODE, &[(2, if i + 1 < objects { at(i + 1) } else { 0 })])),
            Shape::Bare => drop(dump.instance(at(i), 0, NODE, &[])),
            Shape::Arrays => {
                let elements: Vec<u64> = (0..100).map(|k| at(64 * ((i * 7 + k * 13) % objects))).collect();
                dump.object_array(at(64 * i), NODES, &elements);
            }
            Shape::Bytes => drop(dump.primitive_array(at(64 * i), 8, &[7; 900])),
        }
    }
    let elements: Vec<u64> =
        (0..objects).map(|i| if matches!(shape, Shape::Arrays | Shape::Bytes) { at(64 * i) } else { at(i) }).collect();
    let all = if matches!(shape, Shape::Arrays | Shape::Bytes) { at(64 * (objects + 10)) } else { all };
    dump.object_array(all, NODES, &elements).root(0x05, all, &[]);
    dump.finish()
}

/// Most bytes for reading some dumps, one after the other if `budget` says so.
fn taken(series: &dyn HeapSeries, need: MemoryNeed, budget: u64) -> u64 {
    let wanted: Vec<usize> = (0..series.points().len()).collect();
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let counts: Result<Vec<usize>> =
        each_state(series, &wanted, need, budget, &Progress::new(), |_, heap, progress| {
            if need == MemoryNeed::Graph {
                let grouping = group::grouping("package>type").expect("a grouping");
                let grouped = group::group(&heap, &grouping, GroupOptions::default(), progress)?;
                return Ok(grouped.tree.len());
            }
            let dominators = Dominators::new(&heap, KeepRules::default(), progress)?;
            Ok(OwnerTree::new(&heap, &dominators, progress)?.nodes().len())
        });
    assert!(counts.expect("they are read").iter().all(|&nodes| nodes > 1));
    (ALLOCATED.peak_usage() - before) as u64
}

fn open(paths: &[PathBuf]) -> Box<dyn HeapSeries> {
    memory_city_formats::open(paths, &Progress::new()).expect("it opens")
}

/// One test: what is allocated is counted for the whole process.
#[test]
fn what_is_said_before_is_what_it_takes_at_most() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    };
    let sample = root().join("sample-data/person-leak/person-leak-16.hprof.gz");
    let unpacked = write("sample.hprof", Input::open(&sample, &Progress::new()).expect("a dump").bytes());
    let mut cases: Vec<(String, PathBuf)> = vec![("packed".into(), sample), ("unpacked".into(), unpacked)];
    for (shape, objects) in
        [(Shape::Chain, 400_000), (Shape::Bare, 400_000), (Shape::Arrays, 15_000), (Shape::Bytes, 12_000)]
    {
        for id_size in [4, 8] {
            let name = format!("{shape:?}-{id_size}");
            let path = write(&name, &dump(shape, id_size, objects));
            cases.push((name, path));
        }
    }
    for (name, path) in &cases {
        for need in [MemoryNeed::Graph, MemoryNeed::Owners] {
            let series = open(std::slice::from_ref(path));
            let estimate = series.dumps().and_then(|dumps| dumps.estimate(0, need)).expect("an estimate");
            let file = std::fs::metadata(path).expect("the file").len();
            let took = taken(&*series, need, 1);
            let part = |bytes: u64| bytes as f64 / file as f64;
            println!("{name} {need:?}: {:.2}x of {file}, said {:.2}x", part(took), part(estimate));
            assert!(took <= estimate, "{name} {need:?} took {took}, {estimate} were said");
        }
    }
    at_once(folder.path());
}

/// Several at once take what they take together, within the budget.
fn at_once(folder: &Path) {
    let paths: Vec<PathBuf> = (0..6)
        .map(|i| {
            let path = folder.join(format!("series-{i}.hprof"));
            std::fs::write(&path, dump(Shape::Chain, 8, 100_000 + 10_000 * i)).expect("written");
            path
        })
        .collect();
    let largest = open(&paths).dumps().and_then(|dumps| dumps.estimate(5, MemoryNeed::Owners)).expect("an estimate");
    for budget in [largest / 2, largest, 2 * largest, 4 * largest, 8 * largest] {
        let series = open(&paths);
        // What is kept of states that were read counts too: the next ones make room.
        memory_city_formats::set_memory_budget(budget);
        let took = taken(&*series, MemoryNeed::Owners, budget);
        println!("budget {:.1}x: {:.2}x", budget as f64 / largest as f64, took as f64 / largest as f64);
        assert!(took <= budget.max(largest), "{budget}: {took}");
    }
}
