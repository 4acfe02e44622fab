//! Prints what single objects of a dump keep alive, for comparison with other tools: `make real` does.
//!
//! `cargo run --release --no-default-features --example retained -- DUMP --top 30` lists the objects that keep most;
//! with `--of FILE`, those whose addresses the file has at the start of its lines. Columns: address, type, own bytes,
//! retained bytes; a tab between them.
//!
//! Tools differ in who keeps what, and in what an object itself takes: some leave out fields that the VM hides, or count a
//! class object as its static fields. `--like TOOL` goes from the rules of a tool to ours, rule by rule, and prints a column of
//! retained bytes for each, under a line that names them. With `--sizes FILE` objects take what the file says of their type
//! (type, tab, bytes) until the last of these steps.

use clap::{Parser, ValueEnum};
use memory_city_formats::hprof::{self, Peer, PeerStep};
use memory_city_formats::open;
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;

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
    /// From the rules of another tool to ours.
    #[arg(long, value_name = "TOOL", value_enum, requires = "of", conflicts_with = "soft_as_weak")]
    like: Option<Tool>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Tool {
    /// VisualVM's heap library.
    Visualvm,
    /// hprof-analyzer, which goes by the rules of Eclipse Memory Analyzer.
    HprofAnalyzer,
}

fn main() -> Result<(), Box<dyn Error>> {
    let a = Arguments::parse();
    let progress = Progress::new();
    let sizes = a.sizes.as_ref().map(std::fs::read_to_string).transpose()?;
    if let Some(tool) = a.like {
        let peer = match tool {
            Tool::Visualvm => Peer::VisualVm,
            Tool::HprofAnalyzer => Peer::HprofAnalyzer,
        };
        return steps(&a, peer, sizes.as_deref(), &progress);
    }
    let series = open(std::slice::from_ref(&a.dump), &progress)?;
    let last = series.points().len().checked_sub(1).ok_or("there is no dump")?;
    let heap = series.load(last, &progress)?;
    let rules = KeepRules { soft: !a.soft_as_weak, ..KeepRules::default() };
    let dominators = Dominators::new(&heap, rules, &progress)?;
    let sizes = sizes.map(|text| own_sizes(&heap, &text));
    let retained = match &sizes {
        Some(sizes) => sums(&heap, &dominators, sizes),
        None => heap.objects().map(|o| dominators.retained(o).bytes).collect(),
    };
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

/// The address at the start of a line.
fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.split('\t').next()?.trim_start_matches("0x"), 16).ok()
}

/// Prints what the objects of a file retain, from the rules of a tool to ours.
fn steps(a: &Arguments, peer: Peer, sizes: Option<&str>, progress: &Progress) -> Result<(), Box<dyn Error>> {
    let input = Input::open(&a.dump, progress)?;
    let text = std::fs::read_to_string(a.of.as_ref().ok_or("--like needs --of")?)?;
    let addresses: Vec<u64> = text.lines().filter_map(address).collect();
    let mut lines: Vec<String> = Vec::new();
    let mut heading = "address\ttype\town".to_owned();
    let mut read: Option<(PeerStep, HeapState)> = None;
    // As the tool sees them, where the text does not say what class objects take.
    let mut of_classes: Option<Vec<u64>> = None;
    for step in peer.steps() {
        let heap = match read.take() {
            Some((before, heap)) if before.reads_as(&step) => heap,
            _ => hprof::load_as(&step, &input, progress)?,
        };
        let dominators = Dominators::new(&heap, step.keep, progress)?;
        let own: Vec<u64> = match sizes.filter(|_| step.peer_sizes) {
            Some(text) => {
                let mut own = own_sizes(&heap, text);
                let first = of_classes.get_or_insert_with(|| own.clone());
                let classes = heap.objects().filter(|&o| heap.is_class_object(o));
                classes.for_each(|o| own[o.0 as usize] = first[o.0 as usize]);
                own
            }
            None => heap.objects().map(|o| heap.size_of(o)).collect(),
        };
        let retained = sums(&heap, &dominators, &own);
        heading.push_str(&format!("\t{}", step.rule));
        for (i, &at) in addresses.iter().enumerate() {
            let o = heap.object_at(at).ok_or_else(|| format!("no object is at {at:#x}"))?;
            if lines.len() == i {
                let name = &heap.types()[heap.type_of(o).0 as usize].name;
                lines.push(format!("{at:#x}\t{name}\t{}", own[o.0 as usize]));
            }
            lines[i].push_str(&format!("\t{}", retained[o.0 as usize]));
        }
        read = Some((step, heap));
    }
    println!("{heading}");
    lines.iter().for_each(|line| println!("{line}"));
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
