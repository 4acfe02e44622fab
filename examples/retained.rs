//! Prints what single objects of a dump keep alive, for comparison with other tools: `make real` does.
//!
//! `cargo run --release --no-default-features --example retained -- DUMP --top 30` lists the objects that keep most;
//! with `--of FILE`, those whose addresses the file has at the start of its lines. Columns: address, type, own bytes,
//! retained bytes; a tab between them.
//!
//! Tools differ in what an object itself takes: some leave out fields that the VM hides, or count a class object as its
//! static fields. With `--sizes FILE` objects take what the file says of their type (type, tab, bytes), so that what is left
//! are differences in who keeps what.

use clap::{Parser, ValueEnum};
use memory_city_formats::hprof::{self, Peer};
use memory_city_formats::open;
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Parser)]
#[command(about = "Prints what single objects of a dump keep alive")]
struct Arguments {
    /// The dump; of a series, the last is taken.
    dump: PathBuf,
    /// How many objects.
    #[arg(long, default_value_t = 30)]
    top: usize,
    /// These objects instead.
    #[arg(long, value_name = "FILE")]
    of: Option<PathBuf>,
    /// Those that this object owns, by its address.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "of")]
    owned_by: Option<String>,
    /// What objects of these types take, instead of what the VM needs for them.
    #[arg(long, value_name = "FILE")]
    sizes: Option<PathBuf>,
    /// Soft references do not keep what they refer to.
    #[arg(long)]
    soft_as_weak: bool,
    /// By the rules of another tool.
    #[arg(long, value_name = "TOOL", value_enum, conflicts_with = "soft_as_weak")]
    like: Option<Tool>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Tool {
    /// VisualVM's heap library.
    Visualvm,
    /// Eclipse Memory Analyzer, and hprof-analyzer.
    Mat,
}

fn main() -> Result<(), Box<dyn Error>> {
    let a = Arguments::parse();
    let progress = Progress::new();
    let peer = a.like.map(|tool| match tool {
        Tool::Visualvm => Peer::VisualVm,
        Tool::Mat => Peer::MemoryAnalyzer,
    });
    let (heap, rules) = match peer {
        Some(peer) => (Arc::new(hprof::load_as(peer, &Input::open(&a.dump, &progress)?, &progress)?), peer.rules()),
        None => {
            let series = open(std::slice::from_ref(&a.dump), &progress)?;
            let last = series.points().len().checked_sub(1).ok_or("there is no dump")?;
            (series.load(last, &progress)?, KeepRules { soft: !a.soft_as_weak, ..KeepRules::default() })
        }
    };
    let dominators = Dominators::new(&heap, rules, &progress)?;
    let sizes = match &a.sizes {
        Some(file) => Some(own_sizes(&heap, &std::fs::read_to_string(file)?)),
        None => None,
    };
    let retained = match &sizes {
        Some(sizes) => sums(&heap, &dominators, sizes),
        None => heap.objects().map(|o| dominators.retained(o).bytes).collect(),
    };
    let address = |text: &str| u64::from_str_radix(text.split('\t').next()?.trim_start_matches("0x"), 16).ok();
    let owner =
        a.owned_by.as_deref().map(|text| address(text).and_then(|at| heap.object_at(at)).ok_or("no object is there"));
    let owner = owner.transpose()?;
    let objects: Vec<ObjectId> = match &a.of {
        Some(file) => {
            let text = std::fs::read_to_string(file)?;
            text.lines().filter_map(address).filter_map(|address| heap.object_at(address)).collect()
        }
        None => {
            let owned = |o: &ObjectId| owner.is_none() || dominators.is_reached(*o) && dominators.owner(*o) == owner;
            let mut all: Vec<ObjectId> = heap.objects().filter(owned).collect();
            all.sort_by_key(|&o| (std::cmp::Reverse(retained[o.0 as usize]), o));
            all.truncate(a.top);
            all
        }
    };
    for o in objects {
        let address = heap.address(o).unwrap_or_default();
        let name = &heap.types()[heap.type_of(o).0 as usize].name;
        let own = sizes.as_ref().map_or_else(|| heap.size_of(o), |sizes| sizes[o.0 as usize]);
        println!("0x{address:x}\t{name}\t{own}\t{}", retained[o.0 as usize]);
    }
    Ok(())
}

/// What each object takes, with the sizes of a text for the types it names. Arrays of a type are not meant.
fn own_sizes(heap: &HeapState, text: &str) -> Vec<u64> {
    let told = text.lines().filter_map(|line| line.rsplit_once('\t'));
    let told: HashMap<&str, u64> = told.filter_map(|(name, size)| Some((name, size.parse().ok()?))).collect();
    let of_type: Vec<Option<u64>> = heap.types().iter().map(|t| told.get(t.name.as_str()).copied()).collect();
    let size = |o: ObjectId| match heap.array_length(o) {
        None => of_type[heap.type_of(o).0 as usize].unwrap_or_else(|| heap.size_of(o)),
        Some(_) => heap.size_of(o),
    };
    heap.objects().map(size).collect()
}

/// What each object and all it dominates take. Objects are added to their owner once all they own has been added to them.
fn sums(heap: &HeapState, dominators: &Dominators, sizes: &[u64]) -> Vec<u64> {
    let mut sums = sizes.to_vec();
    let mut waits_for = vec![0u32; sums.len()];
    let owner = |o: ObjectId| if dominators.is_reached(o) { dominators.owner(o) } else { None };
    for above in heap.objects().filter_map(owner) {
        waits_for[above.0 as usize] += 1;
    }
    let mut ready: Vec<ObjectId> = heap.objects().filter(|o| waits_for[o.0 as usize] == 0).collect();
    while let Some(o) = ready.pop() {
        if let Some(above) = owner(o) {
            sums[above.0 as usize] += sums[o.0 as usize];
            waits_for[above.0 as usize] -= 1;
            if waits_for[above.0 as usize] == 0 {
                ready.push(above);
            }
        }
    }
    sums
}
