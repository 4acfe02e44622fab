//! The plainest heap that understands events: sorted maps, no cleverness. The replay is held to it.

use super::script::Event;
use memory_city_formats::GcKind;
use memory_city_formats::event::{Gc, ObjectInfo, ObjectKey, Program, Shape};
use memory_city_formats::replay::{Inconsistencies, Moment};
use memory_city_heap::{RootKind, SpaceKind, ThreadId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// An object; `serial` is its identity.
#[derive(Clone, Debug)]
pub struct Object {
    pub serial: u32,
    info: ObjectInfo,
    length: u32,
    birth: u32,
    references: Vec<Target>,
    /// The GC that reported them.
    reported: u32,
    address: Option<u64>,
}

/// What a reference leads to, or where to, which is found out when the GC ends.
#[derive(Clone, Debug)]
enum Target {
    Object(u32),
    At(ObjectKey),
}

/// All that is to be known of an object at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub key: ObjectKey,
    pub address: Option<u64>,
    pub serial: u32,
    pub info: ObjectInfo,
    pub length: Option<u32>,
    pub size: u64,
    pub birth: u32,
    pub space: SpaceKind,
    pub references: Vec<ObjectKey>,
}

/// All that is to be known of a heap at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub moment: Moment,
    pub objects: Vec<Seen>,
    /// Kind, thread, detail and object.
    pub roots: Vec<(RootKind, ThreadId, String, ObjectKey)>,
}

struct Running {
    gc: Gc,
    young: Vec<(u64, u64)>,
    named: Vec<(u64, u64)>,
    /// Keys in the heap before of what has been reported.
    marked: HashSet<ObjectKey>,
    early: Vec<(ObjectKey, Vec<ObjectKey>, bool)>,
}

/// The heap.
pub struct Model {
    program: Arc<Program>,
    spaces: BTreeMap<u32, (u64, u64, SpaceKind)>,
    pub now: BTreeMap<ObjectKey, Object>,
    pub next: BTreeMap<ObjectKey, Object>,
    roots: Vec<(RootKind, ThreadId, String, Target)>,
    running: Option<Running>,
    gcs: u32,
    serials: u32,
    pub threads: Vec<String>,
    pub pictures: Vec<Picture>,
    pub inconsistencies: Inconsistencies,
    /// Objects every GC freed.
    pub freed: Vec<u64>,
    freed_now: u64,
}

impl Model {
    pub fn new(program: Arc<Program>) -> Model {
        Model {
            program,
            spaces: BTreeMap::new(),
            now: BTreeMap::new(),
            next: BTreeMap::new(),
            roots: Vec::new(),
            running: None,
            gcs: 0,
            serials: 0,
            threads: vec!["(unknown thread)".into()],
            pictures: Vec::new(),
            inconsistencies: Inconsistencies::default(),
            freed: Vec::new(),
            freed_now: 0,
        }
    }

    pub fn is_collecting(&self) -> bool {
        self.running.is_some()
    }

    /// Whether an object of the heap before has been reported.
    pub fn is_marked(&self, key: ObjectKey) -> bool {
        self.running.as_ref().is_some_and(|r| r.marked.contains(&key))
    }

    /// Whether the running GC has reported references of an object.
    pub fn has_reported(&self, key: ObjectKey) -> bool {
        let unmarked = self.now.get(&key).filter(|_| !self.is_marked(key));
        self.next.get(&key).or(unmarked).is_some_and(|o| o.reported == self.gcs && !o.references.is_empty())
    }

    fn space(&self, key: ObjectKey) -> Option<SpaceKind> {
        let ObjectKey::Address(address) = key else { return Some(SpaceKind::Unknown) };
        if !address.is_multiple_of(u64::from(self.program.alignment)) {
            return None;
        }
        let of = |s: &&(u64, u64, SpaceKind)| s.0 <= address && address - s.0 < s.1;
        let found = self.spaces.values().find(of).map(|s| s.2);
        found.or((!self.program.has_spaces).then_some(SpaceKind::Unknown))
    }

    pub fn size(&self, info: ObjectInfo, length: u32) -> u64 {
        let alignment = u64::from(self.program.alignment);
        match self.program.shapes[info.type_id as usize] {
            Shape::Instance(bytes) => u64::from(bytes),
            Shape::Array { base, element } => {
                (u64::from(base) + u64::from(element) * u64::from(length)).next_multiple_of(alignment)
            }
            Shape::Mirror => u64::from(length).next_multiple_of(alignment),
        }
    }

    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Thread(name) => self.threads.push(name.clone()),
            Event::NameThread(thread, name) => self.threads[thread.0 as usize] = name.clone(),
            Event::Space { index, start, bytes, kind } => {
                self.spaces.insert(*index, (*start, *bytes, *kind));
            }
            Event::RemoveSpace(index) => {
                // A GC that collects it collects nothing, and not all that is young.
                self.spaces.entry(*index).and_modify(|space| *space = (0, 0, SpaceKind::Unknown));
            }
            Event::Allocate(info, length, key) => self.allocate(*info, *length, *key),
            Event::Moved(from, to) => self.carry(ObjectKey::Address(*from), ObjectKey::Address(*to)),
            Event::Kept(key) => self.carry(*key, *key),
            Event::Freed(key) => self.free(*key),
            Event::Located(id, address) => {
                let key = ObjectKey::Id(*id);
                let serial = self.before(key);
                let all = self.now.values_mut().chain(self.next.values_mut());
                let mut found = all.filter(|o| Some(o.serial) == serial).peekable();
                if found.peek().is_none() {
                    self.inconsistencies.unknown_objects += 1;
                }
                found.for_each(|o| o.address = Some(*address));
            }
            Event::References(key, targets, more) => {
                let Some(mut running) = self.running.take() else {
                    self.inconsistencies.unknown_objects += 1;
                    return;
                };
                if !self.refer(&running, *key, targets, *more) {
                    running.early.push((*key, targets.clone(), *more));
                }
                self.running = Some(running);
            }
            Event::Root(kind, thread, detail, target) => {
                let Some(after) = self.running.as_ref().map(|r| r.gc.targets_after) else { return };
                match self.target(after, *target) {
                    Some(target) => self.roots.push((*kind, *thread, detail.clone(), target)),
                    None => self.inconsistencies.unknown_targets += 1,
                }
            }
            Event::Begin(gc) => self.begin(*gc),
            Event::Collects(index) => {
                if let (Some(running), Some(space)) = (&mut self.running, self.spaces.get(index))
                    && running.gc.kind == GcKind::Minor
                {
                    running.named.push((space.0, space.0 + space.1));
                }
            }
            Event::End(_) => self.end(),
        }
    }

    fn allocate(&mut self, info: ObjectInfo, length: u32, key: ObjectKey) {
        if self.space(key).is_none() {
            self.inconsistencies.misplaced += 1;
            return;
        }
        self.serials += 1;
        let object = Object {
            serial: self.serials,
            info,
            length,
            birth: self.gcs,
            references: Vec::new(),
            reported: u32::MAX,
            address: None,
        };
        self.put(key, object);
    }

    fn put(&mut self, key: ObjectKey, object: Object) {
        let heap = if self.running.is_some() { &mut self.next } else { &mut self.now };
        if heap.insert(key, object).is_some() {
            self.inconsistencies.overwritten += 1;
        }
    }

    fn carry(&mut self, from: ObjectKey, to: ObjectKey) {
        if self.space(to).is_none() {
            self.inconsistencies.misplaced += 1;
            return;
        }
        let object = match &mut self.running {
            None => None,
            Some(running) => match self.now.get(&from) {
                Some(object) if running.marked.insert(from) => Some(object.clone()),
                _ => self.next.remove(&from),
            },
        };
        match object {
            Some(object) => self.put(to, object),
            None => self.inconsistencies.unknown_objects += 1,
        }
    }

    fn free(&mut self, key: ObjectKey) {
        let gone = self.next.remove(&key);
        let gone = if gone.is_none() && !self.is_marked(key) { self.now.remove(&key) } else { gone };
        if gone.is_none() {
            self.inconsistencies.unknown_objects += 1;
        } else if self.running.is_some() {
            self.freed_now += 1;
        }
    }

    /// The object that an address from before the running GC means.
    fn before(&self, key: ObjectKey) -> Option<u32> {
        self.now.get(&key).or_else(|| self.next.get(&key)).map(|o| o.serial)
    }

    fn target(&self, after: bool, key: ObjectKey) -> Option<Target> {
        if !after {
            return self.before(key).map(Target::Object);
        }
        let aligned = !matches!(key, ObjectKey::Address(a) if !a.is_multiple_of(u64::from(self.program.alignment)));
        aligned.then_some(Target::At(key))
    }

    fn refer(&mut self, running: &Running, key: ObjectKey, targets: &[ObjectKey], more: bool) -> bool {
        let unmarked = self.now.contains_key(&key) && !running.marked.contains(&key);
        if !self.next.contains_key(&key) && !unmarked {
            return false;
        }
        let found: Vec<Target> = targets.iter().filter_map(|t| self.target(running.gc.targets_after, *t)).collect();
        self.inconsistencies.unknown_targets += (targets.len() - found.len()) as u64;
        let gcs = self.gcs;
        let heap = if self.next.contains_key(&key) { &mut self.next } else { &mut self.now };
        if let Some(object) = heap.get_mut(&key) {
            if !more || object.reported != gcs {
                object.references.clear();
            }
            object.reported = gcs;
            object.references.extend(found);
        }
        true
    }

    fn begin(&mut self, gc: Gc) {
        // What was told of them since the last GC holds no longer.
        self.roots.clear();
        self.now.values_mut().for_each(|o| o.address = None);
        self.picture(false);
        let young = self.spaces.values().filter(|s| s.2.is_young()).map(|s| (s.0, s.0 + s.1)).collect();
        let (named, marked, early) = Default::default();
        self.running = Some(Running { gc, young, named, marked, early });
    }

    fn end(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        for (key, targets, more) in std::mem::take(&mut running.early) {
            if !self.refer(&running, key, &targets, more) {
                self.inconsistencies.unknown_objects += 1;
            }
        }
        let ranges = if running.named.is_empty() { &running.young } else { &running.named };
        let collected = |key: ObjectKey| match (running.gc.kind, key) {
            (GcKind::Major, _) => true,
            (GcKind::Minor, ObjectKey::Address(a)) => ranges.iter().any(|r| r.0 <= a && a < r.1),
            (GcKind::Minor, ObjectKey::Id(_)) => false,
        };
        self.now.retain(|key, _| !running.marked.contains(key));
        let before = self.now.len();
        self.now.retain(|key, _| !collected(*key));
        let freed = std::mem::take(&mut self.freed_now) + (before - self.now.len()) as u64;
        self.freed.push(freed);
        for (key, object) in std::mem::take(&mut self.next) {
            if self.now.insert(key, object).is_some() {
                self.inconsistencies.overwritten += 1;
            }
        }
        let at: HashMap<ObjectKey, u32> = self.now.iter().map(|(key, o)| (*key, o.serial)).collect();
        let mut unknown = 0;
        let mut found = |target: &Target| match target {
            Target::At(key) => at.get(key).copied().map(Target::Object).or_else(|| {
                unknown += 1;
                None
            }),
            Target::Object(serial) => Some(Target::Object(*serial)),
        };
        for object in self.now.values_mut() {
            object.references = object.references.iter().filter_map(&mut found).collect();
        }
        let roots = std::mem::take(&mut self.roots);
        self.roots = roots.into_iter().filter_map(|(k, t, d, target)| Some((k, t, d, found(&target)?))).collect();
        self.inconsistencies.unknown_targets += unknown;
        self.picture(true);
        self.gcs += 1;
    }

    /// The end of the events.
    pub fn finish(&mut self) {
        if self.gcs == 0 && self.running.is_none() {
            self.picture(false);
        }
    }

    fn picture(&mut self, end: bool) {
        let key_of: HashMap<u32, ObjectKey> = self.now.iter().map(|(key, o)| (o.serial, *key)).collect();
        let alive = |target: &Target| match target {
            Target::Object(serial) => key_of.get(serial).copied(),
            Target::At(_) => None,
        };
        let seen = |(&key, o): (&ObjectKey, &Object)| Seen {
            key,
            address: match key {
                ObjectKey::Address(address) => Some(address),
                ObjectKey::Id(_) => o.address,
            },
            serial: o.serial,
            info: o.info,
            length: matches!(self.program.shapes[o.info.type_id as usize], Shape::Array { .. }).then_some(o.length),
            size: self.size(o.info, o.length),
            birth: o.birth,
            space: self.space(key).unwrap_or_default(),
            references: o.references.iter().filter_map(alive).collect(),
        };
        let root = |(kind, thread, detail, target): &(RootKind, ThreadId, String, Target)| {
            Some((*kind, *thread, detail.clone(), alive(target)?))
        };
        let picture = Picture {
            moment: Moment { gc: self.gcs, end },
            objects: self.now.iter().map(seen).collect(),
            roots: self.roots.iter().filter_map(root).collect(),
        };
        self.pictures.push(picture);
    }
}
