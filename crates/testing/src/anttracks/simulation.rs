//! The simulation as a whole: its state, how it is set up, and the loop of running and collecting.
//!
//! The program allocates (`program` says what, `mutator` how) until a collection is due. That one decides who dies,
//! writes where everybody else goes, and only then changes the columns of the `heap` (`collector` for what all have in
//! common, `minor` and `full`). The spaces are those of `parallel` or of `g1`. `pointers` makes up who points to whom.
//!
//! Without answers, memory is proportional to the live set: objects that will not survive their first collection are
//! only written, never stored.
use super::answers::Generated;
use super::g1::G1;
use super::heap::Heap;
use super::parallel::{PAGE, Parallel};
use super::pointers::Targets;
use super::program::{Plan, Program};
use super::random::Rng;
use super::spec::{Collector, Spec};
use super::threads::{GcThread, JavaThread};
use super::types::CLASS;
use super::writer::{Buffer, EDEN, HEADER_WORDS, OLD, SURVIVOR, TraceFile};
use std::io::{self, Write};

pub(super) struct Model<'a> {
    pub(super) spec: &'a Spec,
    pub(super) rng: Rng,
    pub(super) trace: TraceFile<&'a mut dyn Write>,
    pub(super) program: Program,
    /// Names of threads.
    pub(super) names: Vec<String>,
    pub(super) java: Vec<JavaThread>,
    pub(super) gc: Vec<GcThread>,
    /// Java threads started so far.
    pub(super) java_started: u64,
    /// Addresses of Java threads that have ended.
    pub(super) free_addresses: Vec<u64>,
    pub(super) tlab_bytes: u64,
    pub(super) plab_bytes: u64,
    /// Stays empty with G1.
    pub(super) parallel: Parallel,
    /// Stays empty with the parallel collector.
    pub(super) g1: G1,
    pub(super) heap: Heap,
    /// Objects made since the last collection.
    pub(super) young: Vec<u32>,
    pub(super) survivors: Vec<u32>,
    /// All old objects with the parallel collector; with G1 most of them, and possibly some that are not.
    pub(super) old: Vec<u32>,
    /// Old objects that may point to young ones.
    pub(super) remembered: Vec<u32>,
    /// Arrays that the collection going on fills gaps with, and the kinds of space they are in.
    pub(super) fillers: Vec<(u32, u32)>,
    /// The live set is still growing.
    pub(super) warm: bool,
    /// Collections so far.
    pub(super) number: u32,
    pub(super) time: u64,
    /// Base of short addresses in the trace.
    pub(super) base: u64,
    /// Allocations so far.
    pub(super) allocations: u64,
    /// Non-null roots of the collection going on: root kind or 0, thread or 0, object.
    pub(super) roots: Vec<(u32, u64, u32)>,
    /// The pointers about to be written.
    pub(super) targets: Targets,
}

/// The error for specs that the estimates of the heap's size do not hold for.
pub(super) fn too_small(what: &str) -> io::Error {
    io::Error::other(format!("simulated heap is too small: {what}"))
}

/// Writes the trace and returns the rest.
pub fn generate<'a>(spec: &'a Spec, trace: &'a mut dyn Write) -> io::Result<Generated> {
    let mut rng = Rng(spec.seed ^ 0x5EED_0000_0000_0000);
    let words: [u32; HEADER_WORDS] = std::array::from_fn(|_| rng.next() as u32);
    let program = Program::new(&mut rng, spec.types.clamp(16, 60_000), spec.sites.max(32));
    let symbols = program.symbols(&words, spec.pointers);
    let trace = TraceFile::new(trace, &words, 0, spec.compressed)?;
    let mut model = Model::new(spec, rng, trace, program);
    model.start()?;
    let (mut answers, mut gc_ends) = (Vec::new(), Vec::new());
    let (mut live, mut allocations) = (0, 0);
    while model.number < spec.gcs && spec.stop_at_bytes.is_none_or(|limit| model.trace.offset() < limit) {
        model.allocate_until_gc()?;
        let full = model.collect()?;
        gc_ends.push(model.trace.offset());
        if spec.answers {
            let deaths = live + model.allocations - allocations - model.heap.live;
            answers.push(model.answer(full, deaths));
        }
        (live, allocations) = (model.heap.live, model.allocations);
    }
    model.finish()?;
    let trace = model.trace;
    Ok(Generated {
        symbols,
        answers,
        events: trace.events,
        references: trace.references,
        buffer_ends: trace.ends,
        gc_ends,
        live: model.heap.live,
    })
}

impl<'a> Model<'a> {
    /// Lays out a heap that the program fits into, by how large its objects are on average.
    pub(super) fn new(spec: &'a Spec, mut rng: Rng, trace: TraceFile<&'a mut dyn Write>, program: Program) -> Self {
        const SAMPLES: u64 = 20_000;
        let is_g1 = spec.collector == Collector::G1;
        let mut sampler = rng.clone();
        let sampled: u64 = (0..SAMPLES).map(|_| program.bytes(&program.plan(&mut sampler))).sum();
        let average = sampled / SAMPLES + 1;
        let with_info = is_g1 || !rng.chance(250);
        let percent = u64::from(spec.survivors_percent.min(100));
        let threads = u64::from(spec.threads.max(1));
        let fresh = spec.allocations_per_gc * average * 5 / 4;
        let tlab_bytes = (fresh / threads / 6).clamp(2048, 65536) / 8 * 8;
        let eden = (fresh + tlab_bytes * threads * 2 + 64 * 1024).next_multiple_of(PAGE);
        let survivor = (eden * percent.clamp(20, 100) / 100 + 32 * 1024).next_multiple_of(PAGE);
        let live = spec.live_objects * average * 13 / 10;
        let promoted = u64::from(spec.full_gc_every) * fresh * percent / 100;
        let workers = rng.range(2, 4);
        let plab_bytes = (survivor / workers / 6).clamp(1024, 32768) / 8 * 8;
        let old = (live + promoted + 2 * eden + survivor + 2 * 1024 * 1024).next_multiple_of(PAGE);
        let mut size = old + eden + 2 * survivor;
        let mut unit = PAGE;
        if is_g1 {
            size = size * 5 / 4 + 2 * eden;
            unit = 1 << 20;
            while size / unit > 2048 {
                unit *= 2;
            }
            size = (size / unit + 24) * unit;
        }
        // Some heaps end where 32-bit addresses do, the others lie beyond.
        let low = size < 0x8000_0000 && rng.chance(600);
        let start = if low { 0x1_0000_0000 - size } else { 0x5_C000_0000 };
        let start = start / unit * unit;
        let (mut parallel, mut g1) = (Parallel::default(), G1::default());
        if is_g1 {
            g1 = G1::new(start, (size / unit) as u32, unit);
        } else {
            parallel = Parallel::new(start, old, eden, survivor, with_info);
        }
        let mut model = Self {
            spec,
            rng,
            trace,
            program,
            names: Vec::new(),
            java: Vec::new(),
            gc: Vec::new(),
            java_started: 0,
            free_addresses: Vec::new(),
            tlab_bytes,
            plab_bytes,
            base: if is_g1 { start } else { parallel.eden.start },
            parallel,
            g1,
            heap: Heap::new(),
            young: Vec::new(),
            survivors: Vec::new(),
            old: Vec::new(),
            remembered: Vec::new(),
            fillers: Vec::new(),
            warm: true,
            number: 0,
            time: 40,
            allocations: 0,
            roots: Vec::new(),
            targets: Targets::default(),
        };
        model.start_gc_threads(workers);
        model
    }

    /// The first thread, which tells of the spaces, the other threads, and the first class objects.
    fn start(&mut self) -> io::Result<()> {
        self.start_thread();
        if self.is_g1() {
            for index in 0..self.g1.count() {
                let (start, bytes) = (self.g1.start_of(index), self.g1.region_bytes);
                self.set_up(|buffer| buffer.space_created(index, start, bytes))?;
            }
            for index in 0..self.g1.count() {
                self.set_up(|buffer| buffer.space_released(index))?;
            }
        } else {
            let spaces = self.parallel.spaces();
            for (index, kind) in [(1, EDEN), (2, SURVIVOR), (3, SURVIVOR), (0, OLD)] {
                let space = spaces[index as usize];
                self.set_up(|buffer| buffer.space_created(index, space.start, space.bytes()))?;
                self.set_up(|buffer| buffer.space_in_use(index, kind, 0))?;
            }
        }
        while self.java.len() < self.spec.threads.max(1) as usize {
            self.start_thread();
        }
        for _ in 0..self.program.types.len().min(60) {
            let plan = Plan::internal(CLASS, 104 + 8 * self.rng.below(20) as u32);
            self.allocate(0, &plan)?;
        }
        Ok(())
    }

    /// Writes one event of the first thread ahead of all that it has buffered.
    fn set_up(&mut self, write: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        let mut buffer = Buffer::new(self.java[0].address, 1);
        write(&mut buffer);
        self.trace.write(&buffer)
    }

    pub(super) fn is_g1(&self) -> bool {
        self.spec.collector == Collector::G1
    }

    /// Nothing but young collections will ever free anything (full ones are not planned).
    pub(super) fn never_full(&self) -> bool {
        self.spec.full_gc_every == 0
    }

    pub(super) fn size_of(&self, handle: u32) -> u64 {
        let at = handle as usize;
        self.program.types[self.heap.ty[at] as usize].bytes(self.heap.length[at])
    }

    /// How many pointers an object has.
    pub(super) fn slots_of(&self, handle: u32) -> usize {
        let at = handle as usize;
        self.program.types[self.heap.ty[at] as usize].slot_count(self.heap.length[at])
    }
}
