//! What is returned beside the trace: numbers about it, and for every collection what a correct reader knows then.
use super::heap::{DEAD, REPORTED};
use super::program::{SPECIAL, Site};
use super::simulation::Model;
use std::collections::HashMap;

/// What was generated beside the trace itself.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    pub symbols: Vec<u8>,
    /// One per GC, if asked for.
    pub answers: Vec<GcAnswer>,
    pub events: u64,
    /// Pointers written that are not null (roots included).
    pub references: u64,
    /// File offsets of the ends of the buffers.
    pub buffer_ends: Vec<u64>,
    /// File offset behind each GC end event's buffer.
    pub gc_ends: Vec<u64>,
    /// Objects known to a reader after the last GC.
    pub live: u64,
}

/// What a correct reader knows right after a GC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcAnswer {
    pub number: u32,
    pub full: bool,
    /// By address.
    pub objects: Vec<ObjectAnswer>,
    /// This GC's non-null roots in file order per GC thread: root kind or 0, thread or 0, address after the GC.
    pub roots: Vec<(u32, u64, u64)>,
    /// Objects that were reported allocated since the previous GC or alive after it and are gone now.
    pub deaths: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectAnswer {
    pub address: u64,
    /// Running number of the allocation.
    pub identity: u64,
    /// As in Java source, with binary class names: `java.util.HashMap$Node`, `char[]`.
    pub type_name: String,
    pub size: u64,
    pub array_length: Option<u32>,
    pub site: u32,
    /// Frames as in the symbols file; for a simple site its signature alone, and no bytecode index.
    pub frames: Vec<String>,
    pub bytecode_indices: Vec<i32>,
    pub thread: String,
    pub allocator: &'static str,
    pub space: &'static str,
    /// Number of the first GC that ended after the allocation.
    pub birth_gc: u32,
    /// Addresses after this GC of the targets last reported that still live.
    pub references: Vec<u64>,
}

impl Model<'_> {
    /// The answer at the end of the collection just done.
    pub(super) fn answer(&self, full: bool, deaths: u64) -> GcAnswer {
        let heap = &self.heap;
        let by_id: HashMap<u32, &Site> = self.program.sites.iter().map(|site| (site.id, site)).collect();
        let live = (1..heap.address.len() as u32).filter(|&handle| !heap.has(handle, DEAD));
        let mut objects: Vec<ObjectAnswer> = live.map(|handle| self.object_answer(handle, &by_id)).collect();
        objects.sort_unstable_by_key(|object| object.address);
        let address = |&(kind, thread, handle): &(u32, u64, u32)| (kind, thread, heap.address[handle as usize]);
        GcAnswer { number: self.number, full, objects, roots: self.roots.iter().map(address).collect(), deaths }
    }

    fn object_answer(&self, handle: u32, sites: &HashMap<u32, &Site>) -> ObjectAnswer {
        let heap = &self.heap;
        let at = handle as usize;
        let ty = &self.program.types[heap.ty[at] as usize];
        let known = &heap.known[at];
        let (frames, bytecode_indices) = match sites.get(&known.site) {
            Some(site) if site.simple => (vec![site.frames[0].0.clone()], Vec::new()),
            Some(site) => site.frames.iter().cloned().unzip(),
            None => (vec![SPECIAL[known.site as usize - 1].to_string()], Vec::new()),
        };
        let pointers = if heap.has(handle, REPORTED) { heap.pointers(handle, self.slots_of(handle)) } else { &[] };
        let targets = pointers.iter().filter(|&&target| target != 0);
        let address = heap.address[at];
        let kind = if self.is_g1() { self.g1.kind_at(address) } else { self.parallel.kind_at(address) };
        ObjectAnswer {
            address,
            identity: known.identity,
            type_name: ty.name.clone(),
            size: self.size_of(handle),
            array_length: ty.is_array().then_some(heap.length[at]),
            site: known.site,
            frames,
            bytecode_indices,
            thread: self.names[known.thread as usize].clone(),
            allocator: known.allocator.name(),
            space: ["Eden", "Survivor", "Old"][kind as usize],
            birth_gc: known.birth,
            references: targets.map(|&target| heap.address[target as usize]).collect(),
        }
    }
}
