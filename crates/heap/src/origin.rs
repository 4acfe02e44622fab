//! Origin and life of objects: facts that traces record and dumps lack.

use crate::profile::Profile;
use crate::types::{HeapType, ObjectId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A place in the code that allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationSite {
    /// The call chain, innermost first: `java.util.LinkedList.linkLast(Object):7` (bytecode index last). Empty when
    /// the source does not know.
    pub frames: Vec<Arc<str>>,
}

/// The subsystem that allocated an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Allocator {
    /// The source does not say.
    Unknown,
    /// The virtual machine itself.
    Vm,
    /// Interpreted code.
    Interpreter,
    /// Code of the first compiler.
    C1,
    /// Code of the second compiler.
    C2,
}

impl Allocator {
    /// The subsystem for people.
    pub fn title(self) -> &'static str {
        match self {
            Allocator::Unknown => "(unknown subsystem)",
            Allocator::Vm => "VM",
            Allocator::Interpreter => "Interpreter",
            Allocator::C1 => "C1 compiled code",
            Allocator::C2 => "C2 compiled code",
        }
    }
}

/// The purpose of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum SpaceKind {
    /// Not said.
    #[default]
    Unknown,
    /// New objects.
    Eden,
    /// Objects that survived a few collections.
    Survivor,
    /// Objects that survived more.
    Old,
    /// A region of its own for one object.
    Humongous,
}

impl SpaceKind {
    /// The number of kinds.
    pub const COUNT: usize = 5;

    /// The kind for people.
    pub fn title(self) -> &'static str {
        match self {
            SpaceKind::Unknown => "(unknown space)",
            SpaceKind::Eden => "Eden",
            SpaceKind::Survivor => "Survivor",
            SpaceKind::Old => "Old",
            SpaceKind::Humongous => "Humongous",
        }
    }

    /// Whether a minor collection clears it, where the source does not name the spaces.
    pub fn is_young(self) -> bool {
        matches!(self, SpaceKind::Eden | SpaceKind::Survivor)
    }
}

/// A thread, by order of appearance. Threads that share an address one after the other are different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread is not known.
    pub const UNKNOWN: ThreadId = ThreadId(0);
}

/// Where an object comes from and how it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Allocation site, an index into [`Origins::sites`].
    pub site: u32,
    /// Allocating thread.
    pub thread: ThreadId,
    /// Allocating subsystem.
    pub allocator: Allocator,
    /// The first GC after its allocation, counted from 0.
    pub birth: u32,
    /// The kind of space it is in.
    pub space: SpaceKind,
}

impl Origin {
    /// The origin of an unsampled object in a recording of samples: no site, no thread, no age, no identity.
    pub const NOT_SAMPLED: Origin = Origin {
        site: u32::MAX,
        thread: ThreadId::UNKNOWN,
        allocator: Allocator::Unknown,
        birth: u32::MAX,
        space: SpaceKind::Unknown,
    };

    /// False if the object is not a sample and the recording has only samples.
    #[inline]
    pub fn was_recorded(&self) -> bool {
        self.site != Origin::NOT_SAMPLED.site
    }
}

/// An object over time: the same in all heap states of a trace, and of no other object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// A number that no other object has while this one lives.
    pub number: u32,
    /// Its birth, see [`Origin::birth`].
    pub birth: u32,
}

/// Objects that the source knows by an id of its own instead of by an address: it stays the same when they are moved.
/// They have the last numbers of a heap state, in the order of their ids.
#[derive(Debug, Default)]
pub struct ObjectIds {
    /// The number of the first one.
    first: u32,
    ids: Vec<u64>,
    /// Their addresses, where the source tells them, by number; and back.
    located: rustc_hash::FxHashMap<u32, u64>,
    found: rustc_hash::FxHashMap<u64, u32>,
}

impl ObjectIds {
    /// The next object; its id is larger than those before.
    pub fn push(&mut self, object: ObjectId, id: u64, address: Option<u64>) {
        if self.ids.is_empty() {
            self.first = object.0;
        }
        debug_assert!(object.0 - self.first == self.ids.len() as u32 && self.ids.last().is_none_or(|last| *last < id));
        self.ids.push(id);
        if let Some(address) = address {
            self.located.insert(object.0, address);
            self.found.insert(address, object.0);
        }
    }

    /// The id of an object, where it has one.
    #[inline]
    pub fn id(&self, object: ObjectId) -> Option<u64> {
        self.ids.get(object.0.checked_sub(self.first)? as usize).copied()
    }

    /// The object with an id.
    pub fn find(&self, id: u64) -> Option<ObjectId> {
        let at = self.ids.binary_search(&id).ok()?;
        Some(ObjectId(self.first + at as u32))
    }

    /// The address of an object that has an id, where the source tells it.
    pub fn address(&self, object: ObjectId) -> Option<u64> {
        self.located.get(&object.0).copied()
    }

    /// The object with an id that is at an address.
    pub fn at(&self, address: u64) -> Option<ObjectId> {
        self.found.get(&address).copied().map(ObjectId)
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        8 * self.ids.capacity() + 16 * (self.located.capacity() + self.found.capacity())
    }
}

/// The origins of the objects of a heap state, as columns.
pub struct Origins {
    /// All allocation sites of the program.
    pub sites: Arc<Vec<AllocationSite>>,
    /// Names of threads.
    pub threads: Vec<Arc<str>>,
    /// GCs that have ended.
    pub gcs: u32,
    /// Objects that are known by an id, not by an address.
    pub ids: ObjectIds,
    /// True if the heap state is a walk over the heap: its roots and references are complete, whether origins are known or not. False if
    /// collections reported the objects they met.
    pub is_walk: bool,
    /// By object: a number that it has in every walk of the recording, and no other object ever; 0 without one. Objects that were first met
    /// later have larger numbers. Empty if the recording followed only samples.
    pub followed: Vec<u64>,
    distinct: Vec<Origin>,
    of: Vec<u32>,
    number: Vec<u32>,
    find: rustc_hash::FxHashMap<Origin, u32>,
}

impl Origins {
    /// Room for `objects` objects.
    pub fn new(objects: usize, sites: Arc<Vec<AllocationSite>>, threads: Vec<Arc<str>>, gcs: u32) -> Self {
        Origins {
            sites,
            threads,
            gcs,
            ids: ObjectIds::default(),
            is_walk: false,
            followed: Vec::new(),
            distinct: Vec::new(),
            of: Vec::with_capacity(objects),
            number: Vec::with_capacity(objects),
            find: Default::default(),
        }
    }

    /// The next object.
    pub fn push(&mut self, origin: Origin, number: u32) {
        let next = self.distinct.len() as u32;
        let id = *self.find.entry(origin).or_insert(next);
        if id == next {
            self.distinct.push(origin);
        }
        self.of.push(id);
        self.number.push(number);
    }

    /// The origin of object `i`.
    pub fn of(&self, i: usize) -> &Origin {
        &self.distinct[self.of[i] as usize]
    }

    /// Objects with equal numbers here have equal origins.
    pub fn class_of(&self, i: usize) -> u32 {
        self.of[i]
    }

    /// The identity of object `i`; means nothing where [`Origin::was_recorded`] says no.
    pub fn identity(&self, i: usize) -> Identity {
        Identity { number: self.number[i], birth: self.of(i).birth }
    }

    /// The frames of a site.
    pub fn frames(&self, site: u32) -> &[Arc<str>] {
        self.sites.get(site as usize).map(|s| &s.frames[..]).unwrap_or(&[])
    }

    /// The name of a thread.
    pub fn thread(&self, thread: ThreadId) -> &Arc<str> {
        self.threads.get(thread.0 as usize).unwrap_or(&self.threads[0])
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        4 * (self.of.capacity() + self.number.capacity())
            + 8 * self.followed.capacity()
            + 64 * self.distinct.len()
            + self.ids.memory()
    }
}

/// The facts about an object besides its place in the graph.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Its type.
    pub of: &'a HeapType,
    /// Number of elements of an array.
    pub length: Option<u32>,
    /// Shallow bytes.
    pub size: u64,
    /// Call chain of its allocation, innermost first; empty when it is not known.
    pub site: &'a [Arc<str>],
    /// How it was made and lives, where the source says.
    pub life: Option<Life<'a>>,
}

/// The common facts of the objects of a cohort. Their lengths differ, and so do their sizes: neither is here.
#[derive(Clone, Copy)]
pub struct CohortFacts<'a> {
    /// What their runtime calls things.
    pub profile: &'static Profile,
    /// Their type.
    pub of: &'a HeapType,
    /// True for arrays of [`BIG_ARRAY`](super::BIG_ARRAY) elements or more.
    pub big_array: bool,
    /// How many elements each of them has, where they are arrays and that is known.
    pub length: Option<u32>,
    /// Call chain of their allocation, innermost first; empty when it is not known.
    pub site: &'a [Arc<str>],
    /// How they were made and live.
    pub life: Life<'a>,
}

/// How an object was made and lives.
#[derive(Clone, Copy)]
pub struct Life<'a> {
    /// Name of the allocating thread.
    pub thread: &'a Arc<str>,
    /// Allocating subsystem.
    pub allocator: Allocator,
    /// Kind of space it is in.
    pub space: SpaceKind,
    /// GCs survived.
    pub age: u32,
}
