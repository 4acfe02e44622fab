//! What to generate: the collector, and the sizes and habits of the simulated program.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    Parallel,
    G1,
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Spec {
    pub seed: u64,
    pub collector: Collector,
    /// Record pointers (and, with the parallel collector, roots).
    pub pointers: bool,
    /// LZW-compress buffers that may be.
    pub compressed: bool,
    /// Java threads running at a time.
    pub threads: u32,
    /// Size of the live set, in objects, that the program grows to (nine of ten new objects survive until then).
    pub live_objects: u64,
    /// Allocations between two GCs.
    pub allocations_per_gc: u64,
    /// Share of the new objects that survive their first GC once the live set is grown.
    pub survivors_percent: u32,
    /// Upper limit of GCs.
    pub gcs: u32,
    /// Every n-th GC is a full one; 0: only when the heap is full.
    pub full_gc_every: u32,
    /// Types in the symbols file (at least 16).
    pub types: u32,
    /// Ordinary allocation sites (at least 32).
    pub sites: u32,
    /// Collect an answer per GC.
    pub answers: bool,
    /// Stop after the first GC that ends behind this file offset.
    pub stop_at_bytes: Option<u64>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            seed: 1,
            collector: Collector::Parallel,
            pointers: true,
            compressed: false,
            threads: 3,
            live_objects: 2000,
            allocations_per_gc: 1500,
            survivors_percent: 15,
            gcs: 12,
            full_gc_every: 4,
            types: 40,
            sites: 120,
            answers: true,
            stop_at_bytes: None,
        }
    }
}
