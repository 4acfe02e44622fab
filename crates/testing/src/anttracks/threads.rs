//! Threads of the program and of the collector, and when their buffers are written.
use super::parallel::Bump;
use super::simulation::Model;
use super::writer::Buffer;
use std::collections::VecDeque;
use std::io;

pub(super) struct JavaThread {
    pub(super) address: u64,
    /// Index of the name.
    pub(super) name: u32,
    pub(super) buffer: Buffer,
    /// Words after which the buffer is written.
    pub(super) limit: usize,
    pub(super) tlab: Bump,
}

/// The VM thread (first) or a thread of the collector.
pub(super) struct GcThread {
    /// Index of the name.
    pub(super) name: u32,
    pub(super) buffer: Buffer,
    /// Words after which the buffer is written.
    limit: usize,
    /// The newest PLAB per space kind.
    pub(super) plabs: [Bump; 3],
    /// Arrays whose pointers are still to be written, with the address after the move.
    pub(super) later: VecDeque<(u32, u64)>,
    /// Roots in the buffer.
    pub(super) roots: Vec<(u32, u64, u32)>,
}

impl Model<'_> {
    /// The VM thread and the collector's, which say that they live in their first buffer.
    pub(super) fn start_gc_threads(&mut self, workers: u64) {
        for worker in 0..=workers {
            let name = match (worker, self.is_g1()) {
                (0, _) => "VM Thread".to_string(),
                (_, false) => format!("GC task thread#{} (ParallelGC)", worker - 1),
                (_, true) => format!("Gang worker#{} (Parallel GC Threads)", worker - 1),
            };
            let thread = 0x7F87_EC04_8000 + worker * 0x1800;
            let mut buffer = Buffer::new(thread, 0);
            buffer.thread_alive(u32::from(worker > 0), thread, &name);
            self.names.push(name);
            self.gc.push(GcThread {
                name: self.names.len() as u32 - 1,
                buffer,
                limit: 3000,
                plabs: Default::default(),
                later: VecDeque::new(),
                roots: Vec::new(),
            });
        }
    }

    pub(super) fn start_thread(&mut self) {
        let address = match self.free_addresses.pop() {
            Some(address) if self.rng.chance(700) => address,
            _ => 0x7F87_EC00_A800 + (self.java_started + if self.java_started > 9 { 200 } else { 0 }) * 0x2000,
        };
        let name = match self.java_started {
            0 => "main".to_string(),
            number if number % 5 == 3 => format!("a thread whose name is longer than the VM has room for {number}"),
            number => format!("worker-{number}"),
        };
        self.java_started += 1;
        let mut buffer = Buffer::new(address, 0);
        buffer.thread_alive(3, address, &name);
        self.names.push(name.chars().take(47).collect());
        self.java.push(JavaThread {
            address,
            name: self.names.len() as u32 - 1,
            buffer,
            limit: 2400,
            tlab: Bump::default(),
        });
    }

    pub(super) fn end_thread(&mut self, index: usize) -> io::Result<()> {
        let address = self.java[index].address;
        self.java[index].buffer.thread_death(address);
        self.flush_java(index, 0)?;
        self.java.remove(index);
        self.free_addresses.push(address);
        Ok(())
    }

    pub(super) fn flush_java(&mut self, index: usize, sync: u8) -> io::Result<()> {
        let thread = &mut self.java[index];
        if thread.buffer.words.is_empty() {
            return Ok(());
        }
        thread.buffer.sync = sync;
        self.trace.write(&thread.buffer)?;
        thread.buffer.clear();
        thread.limit = [2350, 3460, 4100, 5538][self.rng.below(4) as usize];
        Ok(())
    }

    pub(super) fn flush_gc(&mut self, worker: usize, sync: u8) -> io::Result<()> {
        let thread = &mut self.gc[worker];
        if thread.buffer.words.is_empty() {
            return Ok(());
        }
        thread.buffer.sync = sync;
        self.trace.write(&thread.buffer)?;
        thread.buffer.clear();
        self.roots.append(&mut thread.roots);
        thread.limit = [2340, 3030, 5320][self.rng.below(3) as usize];
        Ok(())
    }

    /// Writes the buffer if it is long enough.
    pub(super) fn settle_gc(&mut self, worker: usize) -> io::Result<()> {
        if self.gc[worker].buffer.words.len() > self.gc[worker].limit { self.flush_gc(worker, 0) } else { Ok(()) }
    }

    /// A thread of the collector other than the VM thread.
    pub(super) fn any_worker(&mut self) -> usize {
        1 + self.rng.below(self.gc.len() as u64 - 1) as usize
    }

    pub(super) fn flush_all(&mut self) -> io::Result<()> {
        for index in (0..self.java.len()).rev() {
            self.flush_java(index, 0)?;
        }
        for worker in (0..self.gc.len()).rev() {
            self.flush_gc(worker, 0)?;
        }
        Ok(())
    }

    /// Ends all threads and the trace.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        while !self.java.is_empty() {
            self.end_thread(self.java.len() - 1)?;
        }
        for worker in &mut self.gc {
            worker.buffer.thread_death(worker.buffer.thread);
        }
        self.flush_all()?;
        self.trace.flush()
    }
}
