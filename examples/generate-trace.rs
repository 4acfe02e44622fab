//! Writes a made-up AntTracks run (`trace` and `symbols`) of any size into a folder: for benchmarks, and to try things.
//!
//! `cargo run --release --no-default-features --example generate-trace -- --out DIR --live 1000000 --bytes 1000000000`

use clap::Parser;
use memory_city_testing::anttracks::{Collector, Spec, generate};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;

#[derive(Parser)]
#[command(about = "Writes a made-up AntTracks run into a folder")]
struct Arguments {
    /// The folder; it is made.
    #[arg(long)]
    out: PathBuf,
    /// The same seed and sizes give the same bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// As the G1 collector writes it, instead of the parallel one.
    #[arg(long)]
    g1: bool,
    /// With references.
    #[arg(long)]
    pointers: bool,
    /// With compressed buffers.
    #[arg(long)]
    compressed: bool,
    /// Java threads.
    #[arg(long, default_value_t = 8)]
    threads: u32,
    /// Objects that are alive once the program is warm.
    #[arg(long, default_value_t = 100_000)]
    live: u64,
    /// Allocations between two GCs.
    #[arg(long, default_value_t = 100_000)]
    per_gc: u64,
    /// New objects that survive their first GC.
    #[arg(long, default_value_t = 10)]
    survivors_percent: u32,
    /// Every n-th GC is a full one; 0: only when the heap is full.
    #[arg(long, default_value_t = 0)]
    full_every: u32,
    /// Types.
    #[arg(long, default_value_t = 400)]
    types: u32,
    /// Allocation sites.
    #[arg(long, default_value_t = 2000)]
    sites: u32,
    /// How many GCs; without it and `--bytes`, 20.
    #[arg(long)]
    gcs: Option<u32>,
    /// Stop once the trace has so many bytes.
    #[arg(long)]
    bytes: Option<u64>,
}

fn main() -> std::io::Result<()> {
    let a = Arguments::parse();
    let spec = Spec {
        seed: a.seed,
        collector: if a.g1 { Collector::G1 } else { Collector::Parallel },
        pointers: a.pointers,
        compressed: a.compressed,
        threads: a.threads,
        live_objects: a.live,
        allocations_per_gc: a.per_gc,
        survivors_percent: a.survivors_percent,
        gcs: a.gcs.unwrap_or(if a.bytes.is_some() { u32::MAX } else { 20 }),
        full_gc_every: a.full_every,
        types: a.types,
        sites: a.sites,
        answers: false,
        stop_at_bytes: a.bytes,
    };
    fs::create_dir_all(&a.out)?;
    let mut trace = BufWriter::with_capacity(1 << 20, File::create(a.out.join("trace"))?);
    let generated = generate(&spec, &mut trace)?;
    fs::write(a.out.join("symbols"), &generated.symbols)?;
    println!(
        "{} events, {} references, {} bytes, {} GCs, {} objects at the end",
        generated.events,
        generated.references,
        generated.buffer_ends.last().copied().unwrap_or_default(),
        generated.gc_ends.len(),
        generated.live
    );
    Ok(())
}
