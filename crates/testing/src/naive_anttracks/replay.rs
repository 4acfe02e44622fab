//! The events.
mod end;

use super::symbols::Known;
use crate::anttracks::GcAnswer;
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Clone)]
struct Object {
    id: u64,
    ty: u32,
    length: u32,
    mirror: u32,
    site: u32,
    thread: String,
    allocator: &'static str,
    birth: u32,
    references: Vec<u64>, // ids
}

#[derive(Default)]
struct Thread {
    name: String,
    tlab: (u64, u64),
    plabs: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Default)]
struct Space {
    start: u64,
    bytes: u64,
    kind: Option<u32>,
}

struct Move {
    from: u64,
    to: u64,
    pointers: Option<Vec<u64>>,
}

#[derive(Default)]
pub struct Replay {
    known: Known,
    spaces: HashMap<u32, Space>,
    threads: HashMap<u64, Thread>,
    /// By address.
    objects: BTreeMap<u64, Object>,
    next_id: u64,
    number: u32,
    in_gc: bool,
    minor: bool,
    base: u64,
    collected: Vec<u32>,
    moves: Vec<Move>,
    by_target: HashMap<u64, usize>,
    cross: Vec<(u64, Vec<u64>)>,
    roots: Vec<(u32, u64, u64)>,
    fresh: BTreeMap<u64, Object>,
    since: u64,
    live_before: u64,
    pub seen_events: HashSet<u32>,
    identities: HashMap<u64, u64>,
    pub events: u64,
    pub references: u64,
}

impl Replay {
    pub fn new(known: Known) -> Self {
        Replay { known, ..Replay::default() }
    }

    fn size(&self, object: &Object) -> u64 {
        let ty = &self.known.types[&object.ty];
        if ty.signature == "Ljava/lang/Class;" {
            object.mirror.into()
        } else if ty.signature.starts_with('[') {
            (u64::from(ty.size >> 8) + u64::from(object.length) * u64::from(ty.size & 255)).div_ceil(8) * 8
        } else {
            ty.size.into()
        }
    }

    fn kind_at(&self, address: u64) -> Option<u32> {
        self.spaces.values().find(|s| s.start <= address && address < s.start + s.bytes).and_then(|s| s.kind)
    }

    fn new_object(&mut self, address: u64, mut object: Object) {
        self.next_id += 1;
        self.since += 1;
        object.id = self.next_id;
        let size = self.size(&object);
        assert_eq!(address % 8, 0);
        let map = if self.in_gc { &mut self.fresh } else { &mut self.objects };
        assert!(map.range(address..address + size).next().is_none(), "allocated over something");
        map.insert(address, object);
        assert!(
            self.spaces.values().any(|s| s.start <= address && address + size <= s.start + s.bytes) || size > 1 << 20
        );
    }

    fn pointers(&mut self, words: &[u32], at: &mut usize, head: u32, object: u64) -> Vec<u64> {
        let mut targets = Vec::new();
        let mut previous = 0u64;
        for place in 0..12 {
            match head >> (22 - 2 * place) & 3 {
                0 => break,
                1 => {
                    previous = previous.wrapping_add(words[*at] as i32 as i64 as u64);
                    *at += 1;
                    targets.push(object.wrapping_sub(previous.wrapping_mul(8)));
                }
                2 => {
                    let target = u64::from(words[*at]) | u64::from(words[*at + 1]) << 32;
                    *at += 2;
                    previous = (object.wrapping_sub(target) as i64 >> 3) as u64;
                    targets.push(target);
                }
                _ => targets.push(0),
            }
        }
        self.references += targets.iter().filter(|&&target| target != 0).count() as u64;
        targets
    }

    fn fast_target(&mut self, owner: u64, kind: u32, size: u64) -> u64 {
        let plabs = &self.threads[&owner].plabs;
        // The end of a full PLAB may lie in the next space: look at the start of what is left, minus one.
        let index = (0..plabs.len()).rev().find(|&index| self.kind_at(plabs[index].0) == Some(kind)).expect("a PLAB");
        let plab = &mut self.threads.get_mut(&owner).unwrap().plabs[index];
        let to = plab.0;
        plab.0 += size;
        assert!(plab.0 <= plab.1, "a fast move out of its PLAB");
        to
    }

    fn note_cursor(&mut self, owner: u64, address: u64, size: u64) {
        let thread = self.threads.get_mut(&owner).unwrap();
        if thread.tlab.0 == address && address + size <= thread.tlab.1 {
            thread.tlab.0 += size;
        }
        for plab in &mut thread.plabs {
            if plab.0 == address && address + size <= plab.1 {
                plab.0 += size;
            }
        }
    }

    fn add_move(&mut self, from: u64, to: u64, pointers: Option<Vec<u64>>) {
        assert!(self.by_target.insert(to, self.moves.len()).is_none());
        self.moves.push(Move { from, to, pointers });
    }

    pub fn buffer(&mut self, owner: u64, words: &[u32], answers: &mut std::slice::Iter<GcAnswer>) {
        let mut at = 0;
        let long = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        while at < words.len() {
            let head = words[at];
            let (event, payload) = (head >> 26, head & 0xFF_FFFF);
            self.seen_events.insert(event);
            at += 1;
            self.events += 1;
            match event {
                0 => {}
                2 => {
                    assert!(!self.in_gc);
                    (self.in_gc, self.minor) = (true, payload >> 16 == 0);
                    self.number = words[at];
                    self.base = long(at + 3);
                    at += 5;
                    for thread in self.threads.values_mut() {
                        thread.tlab = (0, 0);
                        thread.plabs.clear();
                    }
                }
                3 => {
                    assert_eq!(self.number, words[at]);
                    at += 5;
                    self.end(answers.next().unwrap());
                }
                4 => {
                    assert_eq!(self.number, words[at]);
                    self.collected.push(payload);
                    at += 1;
                }
                6 | 9 => {
                    let kind = if event == 9 { self.spaces[&words[at]].kind } else { None };
                    self.spaces.insert(words[at], Space { start: long(at + 1), bytes: long(at + 3), kind });
                    at += 5;
                }
                7 => {
                    self.spaces.get_mut(&words[at]).unwrap().kind = Some(head >> 18 & 255);
                    at += 1;
                }
                8 => {
                    // Released memory keeps its kind for reading the moves out of it; only targets matter here.
                    self.spaces.get_mut(&words[at]).unwrap().kind = None;
                    at += 1;
                }
                11 => {
                    let thread = long(at);
                    assert_eq!(thread, owner);
                    at += 2;
                    let mut name = String::new();
                    'name: for _ in 0..12 {
                        at += 1;
                        for byte in words[at - 1].to_be_bytes() {
                            if byte == 0 {
                                break 'name;
                            }
                            name.push(char::from(byte));
                        }
                    }
                    self.threads.insert(thread, Thread { name, ..Thread::default() });
                }
                12 => at += 2,
                13 | 14 => {
                    let (bytes, address) = (long(at), long(at + 2));
                    at += 4;
                    let thread = self.threads.get_mut(&owner).unwrap();
                    if event == 13 {
                        thread.tlab = (address, address + bytes);
                    } else {
                        thread.plabs.push((address, address + bytes));
                    }
                }
                15..30 => {
                    let big = payload >> 23 == 1;
                    let (site, mut length) = if big { (payload, 0) } else { (payload >> 8, payload & 255) };
                    let mut address = None;
                    if matches!(event, 15 | 16 | 17 | 18 | 20 | 21 | 22 | 25 | 26 | 27) {
                        address = Some(long(at));
                        at += 2;
                    }
                    if !big && length == 255 {
                        length = words[at];
                        at += 1;
                    }
                    let slow = matches!(event, 15 | 16 | 17 | 20 | 21 | 25 | 26);
                    let mut ty = self.known.sites[&site].2;
                    if matches!(event, 17 | 21 | 24 | 26 | 29) || (slow && site <= 12) {
                        ty = words[at];
                        at += 1;
                    }
                    let mut mirror = 0;
                    if slow && self.known.types[&ty].signature == "Ljava/lang/Class;" {
                        mirror = words[at];
                        at += 1;
                    }
                    let allocator = match event {
                        15 => "VM",
                        16..20 => "Interpreter",
                        20..25 => "C1",
                        _ => "C2",
                    };
                    let thread = self.threads[&owner].name.clone();
                    let birth = if self.in_gc { self.number } else { self.number + 1 };
                    let references = Vec::new();
                    let object = Object { id: 0, ty, length, mirror, site, thread, allocator, birth, references };
                    let size = self.size(&object);
                    let address = address.unwrap_or(self.threads[&owner].tlab.0);
                    if matches!(event, 19 | 23 | 24 | 28 | 29) {
                        let tlab = self.threads[&owner].tlab;
                        assert!(address + size <= tlab.1, "a fast allocation out of its TLAB");
                    }
                    self.note_cursor(owner, address, size);
                    self.new_object(address, object);
                }
                30 | 39 => {
                    let (from, to) = (long(at), long(at + 2));
                    at += 4;
                    let size = self.size(&self.objects[&from]);
                    self.note_cursor(owner, to, size);
                    let pointers = (event == 39).then(|| self.pointers(words, &mut at, payload, to));
                    self.add_move(from, to, pointers);
                }
                31 | 32 | 33 | 40 | 41 => {
                    let from = match event {
                        31 | 40 => {
                            at += 2;
                            long(at - 2)
                        }
                        32 | 41 => {
                            at += 1;
                            self.base + 8 * u64::from(words[at - 1])
                        }
                        _ => self.base + 8 * u64::from(payload >> 2),
                    };
                    let size = self.size(&self.objects[&from]);
                    let to = self.fast_target(owner, head >> 24 & 3, size);
                    let pointers = (event >= 40).then(|| self.pointers(words, &mut at, payload, to));
                    self.add_move(from, to, pointers);
                }
                34 => {
                    let (mut from, mut to) = (long(at), long(at + 2));
                    at += 4;
                    for _ in 0..payload {
                        let size = self.size(&self.objects[&from]);
                        self.add_move(from, to, None);
                        from += size;
                        to += size;
                    }
                }
                35 | 42 => {
                    let address = long(at);
                    at += 2;
                    let pointers = (event == 42).then(|| self.pointers(words, &mut at, payload, address));
                    self.add_move(address, address, pointers);
                }
                43 | 44 => {
                    let object = long(at);
                    at += 2;
                    let more = self.pointers(words, &mut at, payload, object);
                    let index = self.by_target[&object];
                    self.moves[index].pointers.as_mut().unwrap().extend(more);
                }
                45 => {
                    let owner = long(at);
                    at += 2;
                    for target in self.pointers(words, &mut at, payload, owner) {
                        if target != 0 {
                            let (kind, thread) = if owner <= 13 { (owner as u32, 0) } else { (0, owner) };
                            self.roots.push((kind, thread, target));
                        }
                    }
                }
                46 => {
                    let object = long(at);
                    at += 2;
                    let targets = self.pointers(words, &mut at, payload, object);
                    match self.cross.last_mut() {
                        Some((last, before)) if *last == object && before.len() % 12 == 0 => before.extend(targets),
                        _ => self.cross.push((object, targets)),
                    }
                }
                _ => panic!("event {event}"),
            }
        }
        assert_eq!(at, words.len());
    }
}
