//! The events of thread buffers.
//!
//! The format leaves out what can be known: the address of an object allocated at the top of its thread's buffer (TLAB)
//! and the destination of one moved to the top of a GC thread's buffer (PLAB). [`Threads`] keeps those cursors; the
//! sizes they advance by come from the symbols for allocations, and from the sink for moves.

use super::symbols::{Symbols, UNKNOWN};
use crate::heap::{Allocator, RootKind, SpaceKind, ThreadId};
use crate::trace::event::{BIG_ARRAY, EventSink, Gc, GcKind, InfoId, ObjectInfo, Shape};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What is wrong in a buffer.
#[derive(Debug)]
pub enum Fault {
    /// It says something it cannot mean.
    Wrong {
        /// Where, in words of the buffer.
        word: usize,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// The sink refused.
    Refused(crate::error::Error),
}

impl From<crate::error::Error> for Fault {
    fn from(error: crate::error::Error) -> Self {
        Fault::Refused(error)
    }
}

/// A region threads allocate in from bottom to top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Buffer {
    start: u64,
    end: u64,
    top: u64,
}

/// What the format leaves out, by thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadState {
    id: u32,
    /// Whether the thread has announced itself.
    named: bool,
    tlab: Buffer,
    /// Buffers of the running GC, newest last.
    plabs: Vec<Buffer>,
    /// The object outside the collected spaces whose pointers may go on in the next event of their kind; 0 for none.
    unfinished: u64,
}

/// Buffers of one GC a thread may have open: more belong to a damaged file.
const MOST_PLABS: usize = 1 << 16;

/// All that must be kept between two buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {
    by_address: FxHashMap<u64, ThreadState>,
    /// Base of relative addresses.
    base: u64,
    collecting: bool,
    minor: bool,
    /// Background cycles of CMS seen.
    pub background_cycles: u64,
}

/// The first word of an allocation without the array length: 255, which says that the length follows, is kept.
#[inline]
fn key_of(first: u32) -> u32 {
    if first & 0x80_0000 == 0 && first & 0xff != 0xff { first & !0xff } else { first }
}

const NO_RECENT: (u32, u32, InfoId) = (0, u32::MAX, InfoId(0));
/// Bits of a hash that are not looked at.
const RECENT_SHIFT: u32 = 22;

/// Words that are decoded in one go, about: between two the work can be stopped. The VM's buffers are shorter.
const PIECE: usize = 1 << 16;

/// Decodes buffers.
pub struct Events {
    /// Cursors.
    pub threads: Threads,
    /// Sites below 65536, where most are: index and type.
    small_sites: Vec<(u32, u32)>,
    /// By thread: which info an allocation has, by [`key_of`] its first word. Most repeat.
    infos: Vec<FxHashMap<u32, InfoId>>,
    /// The same for those asked for last, with the thread: small enough to stay near.
    recent: Vec<(u32, u32, InfoId)>,
    targets: Vec<u64>,
}

struct Words<'a> {
    bytes: &'a [[u8; 4]],
    at: usize,
}

impl Words<'_> {
    #[inline]
    fn next(&mut self) -> std::result::Result<u32, Fault> {
        match self.bytes.get(self.at) {
            Some(bytes) => {
                self.at += 1;
                Ok(u32::from_le_bytes(*bytes))
            }
            None => Err(self.wrong("the end of the buffer", "the rest of the event")),
        }
    }

    #[inline]
    fn address(&mut self) -> std::result::Result<u64, Fault> {
        Ok(u64::from(self.next()?) | u64::from(self.next()?) << 32)
    }

    #[cold]
    fn wrong(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::Wrong { word: self.at, found: found.into(), expected: expected.into() }
    }
}

/// The thread a buffer belongs to. Taken out of the tables for the time of the buffer: events of a thread change that
/// thread, seldom another.
struct Owner {
    id: ThreadId,
    state: ThreadState,
    infos: FxHashMap<u32, InfoId>,
}

/// What an allocation is of.
struct Described {
    info: InfoId,
    /// A class mirror.
    mirror: bool,
    /// Its type had to be read.
    typed: bool,
}

impl Events {
    /// With no thread known.
    pub fn new(symbols: &Symbols) -> Self {
        let mut small_sites = vec![(0, UNKNOWN); 1 << 16];
        for (&id, site) in symbols.sites.iter().filter(|(id, _)| **id < 1 << 16) {
            small_sites[id as usize] = (site.index + 1, site.type_id);
        }
        let recent = vec![NO_RECENT; 1 << (32 - RECENT_SHIFT)];
        Events { threads: Threads::default(), small_sites, infos: Vec::new(), recent, targets: Vec::new() }
    }

    /// The sink's ids mean nothing any more: it is another one.
    pub fn forget(&mut self) {
        self.infos.clear();
        self.recent.fill(NO_RECENT);
    }

    /// What is known of a thread's allocations, to be put back.
    fn infos_of(&mut self, thread: ThreadId) -> &mut FxHashMap<u32, InfoId> {
        let index = thread.0 as usize;
        if self.infos.len() <= index {
            self.infos.resize_with(index + 1, FxHashMap::default);
        }
        &mut self.infos[index]
    }

    /// Decodes a buffer of the thread at `address` from word `from` on. Where it stopped, if that was before the end.
    pub fn decode<S: EventSink>(
        &mut self,
        symbols: &Symbols,
        address: u64,
        bytes: &[u8],
        from: usize,
        sink: &mut S,
    ) -> std::result::Result<Option<usize>, Fault> {
        let (words, rest) = bytes.as_chunks::<4>();
        let mut words = Words { bytes: words, at: from.min(words.len()) };
        let state = self.threads.by_address.remove(&address).unwrap_or_else(|| {
            let id = sink.thread(&format!("thread {address:#x}"));
            ThreadState { id: id.0, ..ThreadState::default() }
        });
        let id = ThreadId(state.id);
        let mut owner = Owner { id, state, infos: std::mem::take(self.infos_of(id)) };
        let outcome = self.events(symbols, address, &mut owner, &mut words, sink);
        *self.infos_of(owner.id) = owner.infos;
        self.threads.by_address.insert(address, owner.state);
        outcome?;
        if words.at < words.bytes.len() || sink.satisfied() {
            return Ok(Some(words.at));
        }
        if !rest.is_empty() {
            return Err(words.wrong(format!("{} bytes more", rest.len()), "whole words of 4 bytes"));
        }
        Ok(None)
    }

    fn events<S: EventSink>(
        &mut self,
        symbols: &Symbols,
        address: u64,
        owner: &mut Owner,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let end = words.at + PIECE;
        while words.at < words.bytes.len() && words.at < end {
            let first = words.next()?;
            match first >> 26 {
                0 => {}
                1 => {
                    words.address()?;
                }
                19 | 23 | 28 => self.allocate::<S, false>(symbols, first, false, owner, words, sink)?,
                24 | 29 => self.allocate::<S, false>(symbols, first, true, owner, words, sink)?,
                15 | 16 | 18 | 20 | 22 | 25 | 27 => {
                    self.allocate::<S, true>(symbols, first, false, owner, words, sink)?
                }
                17 | 21 | 26 => self.allocate::<S, true>(symbols, first, true, owner, words, sink)?,
                30 | 35 | 39 | 42 => {
                    let with_pointers = first >> 26 >= 39;
                    let from = words.address()?;
                    let to = if matches!(first >> 26, 35 | 42) { from } else { words.address()? };
                    if let Some(size) = sink.moved(from, to) {
                        advance(&mut owner.state.plabs, to, size);
                    }
                    if with_pointers {
                        self.pointers(first, to, false, words, sink)?;
                    }
                }
                kind @ (31 | 32 | 33 | 40 | 41) => {
                    let from = match kind {
                        31 | 40 => words.address()?,
                        32 | 41 => self.threads.base.wrapping_add(u64::from(words.next()?) << 3),
                        _ => self.threads.base.wrapping_add(u64::from(first >> 2 & 0x3f_ffff) << 3),
                    };
                    let to = self.fast_move(from, first >> 24 & 3, owner, words, sink)?;
                    if kind >= 40 {
                        self.pointers(first, to, false, words, sink)?;
                    }
                }
                34 => {
                    let (mut from, mut to) = (words.address()?, words.address()?);
                    for _ in 0..first & 0xff_ffff {
                        let Some(size) = sink.moved(from, to) else { break };
                        // CMS leaves at least 24 bytes for an object in its old space.
                        let old = sink.spaces().get(4).filter(|_| symbols.fragmented);
                        let stride = |at| if old.is_some_and(|s| s.contains(at)) { size.max(24) } else { size };
                        (from, to) = (from.wrapping_add(stride(from)), to.wrapping_add(stride(to)));
                    }
                }
                43 | 44 => {
                    let object = words.address()?;
                    self.pointers(first, object, true, words, sink)?;
                }
                46 => {
                    let object = words.address()?;
                    let more = owner.state.unfinished == object && object != 0;
                    self.pointers(first, object, more, words, sink)?;
                    // Unlike those of moved objects, these go on in events of the same kind.
                    let full = first & 3 != 0;
                    owner.state.unfinished = if full { object } else { 0 };
                }
                45 => self.roots(first, words, sink)?,
                36 | 37 => self.sync_object(symbols, first, words, sink)?,
                38 => {
                    words.address()?;
                }
                11 => {
                    let thread = words.address()?;
                    let name = thread_name(words)?;
                    let state = match thread == address {
                        true => Some(&mut owner.state),
                        false => self.threads.by_address.get_mut(&thread),
                    };
                    match state {
                        // It has allocated already, before its name was written.
                        Some(state) if !state.named => {
                            state.named = true;
                            sink.name_thread(ThreadId(state.id), &name);
                        }
                        Some(state) => {
                            state.id = sink.thread(&name).0;
                        }
                        None => {
                            let id = sink.thread(&name).0;
                            let state = ThreadState { id, named: true, ..ThreadState::default() };
                            self.threads.by_address.insert(thread, state);
                        }
                    }
                    if owner.id.0 != owner.state.id {
                        *self.infos_of(owner.id) = std::mem::take(&mut owner.infos);
                        owner.id = ThreadId(owner.state.id);
                    }
                }
                12 => {
                    // A thread has ended, and makes no more objects.
                    if words.address()? == address {
                        owner.infos = FxHashMap::default();
                    }
                }
                13 | 14 => {
                    let bytes = words.address()?;
                    let start = words.address()?;
                    let buffer = Buffer { start, end: start.saturating_add(bytes), top: start };
                    if first >> 26 == 13 {
                        owner.state.tlab = buffer;
                    } else if owner.state.plabs.len() < MOST_PLABS {
                        owner.state.plabs.push(buffer);
                    } else {
                        return Err(words.wrong("one more PLAB", format!("at most {MOST_PLABS} in a collection")));
                    }
                }
                2 | 3 => {
                    self.gc(symbols, first, &mut owner.state, words, sink)?;
                    if sink.satisfied() {
                        return Ok(());
                    }
                }
                4 => {
                    words.next()?;
                    sink.collects(first & 0xff_ffff);
                }
                5 => {
                    if symbols.fragmented && first & 0xff_ffff == 4 {
                        self.threads.background_cycles += 1;
                    }
                }
                6 | 9 => {
                    let index = words.next()?;
                    let (start, bytes) = (words.address()?, words.address()?);
                    change_space(sink, words, index, |space| (space.start, space.bytes) = (start, bytes))?;
                }
                7 => {
                    let index = words.next()?;
                    let kind = match (first >> 18 & 0xff, first >> 10 & 0xff) {
                        (_, 1 | 2) => SpaceKind::Humongous,
                        (0, _) => SpaceKind::Eden,
                        (1, _) => SpaceKind::Survivor,
                        (2, _) => SpaceKind::Old,
                        _ => SpaceKind::Unknown,
                    };
                    change_space(sink, words, index, |space| space.kind = kind)?;
                }
                8 => {
                    let index = words.next()?;
                    change_space(sink, words, index, |space| space.kind = SpaceKind::Unknown)?;
                }
                10 => {
                    let first = words.next()?;
                    let count = words.address()?;
                    sink.remove_spaces(first, count);
                }
                other => {
                    words.at -= 1;
                    return Err(words.wrong(format!("an event of kind {other}"), "an event of kind 0 to 46"));
                }
            }
        }
        Ok(())
    }

    /// `AT`: the address is given; otherwise it is the top of the thread's TLAB. `other`: not of its site's type.
    #[inline]
    fn allocate<S: EventSink, const AT: bool>(
        &mut self,
        symbols: &Symbols,
        first: u32,
        other: bool,
        owner: &mut Owner,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let address = if AT { words.address()? } else { owner.state.tlab.top };
        let key = key_of(first);
        let mut length = if first & 0x80_0000 == 0 { first & 0xff } else { 0 };
        let recent = &mut self.recent[key.wrapping_mul(0x9e37_79b1) as usize >> RECENT_SHIFT];
        let known = if (recent.0, recent.1) == (key, owner.id.0) {
            Some(recent.2)
        } else {
            let known = owner.infos.get(&key).copied();
            if let Some(info) = known {
                *recent = (key, owner.id.0, info);
            }
            known
        };
        let info = match known {
            Some(info) if length != 255 && !other => info,
            _ => {
                if length == 255 {
                    length = words.next()?;
                }
                let described = self.describe::<S, AT>(symbols, first, length, other, owner.id, words, sink)?;
                if described.mirror {
                    let own = AT && matches!(first >> 26, 15 | 16 | 17 | 20 | 21 | 25 | 26);
                    length = if own { words.next()? } else { symbols.mirror_size };
                } else if !other && !described.typed && length < BIG_ARRAY {
                    // What the first word alone says is the same next time.
                    owner.infos.insert(key, described.info);
                }
                described.info
            }
        };
        let size = sink.allocate(info, length, address);
        // What was allocated at the top moves the top, however it was reported.
        if address == owner.state.tlab.top {
            owner.state.tlab.top = address.wrapping_add(size);
        } else if self.threads.collecting {
            advance(&mut owner.state.plabs, address, size);
        }
        Ok(())
    }

    /// What an allocation says that the words before did not.
    #[allow(clippy::too_many_arguments)] // the slow half of `allocate`
    #[inline(never)]
    fn describe<S: EventSink, const AT: bool>(
        &mut self,
        symbols: &Symbols,
        first: u32,
        length: u32,
        other: bool,
        thread: ThreadId,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<Described, Fault> {
        let kind = first >> 26;
        let id = if first & 0x80_0000 == 0 { first >> 8 & 0xffff } else { first & 0xff_ffff };
        let (site, mut type_id) = self.site(symbols, id);
        // Only sites of the VM, below the first real one, leave their type open.
        let special = AT && matches!(kind, 15 | 16 | 20 | 25) && id <= 12;
        if other || special {
            let raw = words.next()?;
            type_id = symbols.type_of_id.get(raw as usize).copied().unwrap_or(UNKNOWN);
            if type_id == UNKNOWN {
                return Err(words.wrong(format!("type {raw}, which the symbols do not have"), "a known type"));
            }
        }
        if type_id == UNKNOWN {
            return Err(words.wrong(format!("allocation site {id}, which the symbols do not have"), "a known site"));
        }
        let shape = symbols.program.shapes[type_id as usize];
        let info = sink.info(ObjectInfo {
            type_id,
            site,
            thread,
            allocator: match kind {
                15 => Allocator::Vm,
                16..=19 => Allocator::Interpreter,
                20..=24 => Allocator::C1,
                25..=29 => Allocator::C2,
                _ => Allocator::Unknown,
            },
            big: matches!(shape, Shape::Array { .. }) && length >= BIG_ARRAY,
        });
        Ok(Described { info, mirror: shape == Shape::Mirror, typed: special })
    }

    fn site(&self, symbols: &Symbols, id: u32) -> (u32, u32) {
        match self.small_sites.get(id as usize) {
            Some(&(index @ 1.., type_id)) => (index - 1, type_id),
            _ => symbols.sites.get(&id).map(|s| (s.index, s.type_id)).unwrap_or((0, UNKNOWN)),
        }
    }

    fn fast_move<S: EventSink>(
        &mut self,
        from: u64,
        kind: u32,
        owner: &mut Owner,
        words: &Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<u64, Fault> {
        let kind = match kind {
            0 => SpaceKind::Eden,
            1 => SpaceKind::Survivor,
            _ => SpaceKind::Old,
        };
        let spaces = sink.spaces();
        let newest = owner.state.plabs.iter().rposition(|plab| spaces.kind_at(plab.start) == kind);
        let Some(newest) = newest else {
            return Err(words.wrong(
                format!("a move to the top of a buffer in {}", kind.title()),
                "a buffer of that kind, announced before",
            ));
        };
        let to = owner.state.plabs[newest].top;
        if let Some(size) = sink.moved(from, to) {
            owner.state.plabs[newest].top = to.wrapping_add(size);
        }
        Ok(to)
    }

    fn pointers<S: EventSink>(
        &mut self,
        first: u32,
        object: u64,
        more: bool,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        self.read_targets(first, object, words)?;
        sink.references(object, &self.targets, more);
        Ok(())
    }

    fn roots<S: EventSink>(
        &mut self,
        first: u32,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let of = words.address()?;
        let (kind, thread, detail) = match (of, self.threads.minor) {
            (1, _) => (RootKind::Other, ThreadId::UNKNOWN, "universe"),
            (2, _) => (RootKind::Jni, ThreadId::UNKNOWN, "JNI handle"),
            (3, _) => (RootKind::Thread, ThreadId::UNKNOWN, "thread"),
            (4, _) => (RootKind::Monitor, ThreadId::UNKNOWN, "monitor in use"),
            (5, _) => (RootKind::Other, ThreadId::UNKNOWN, "flat profiler"),
            (6, true) | (8, false) => (RootKind::ClassLoader, ThreadId::UNKNOWN, "system dictionary"),
            (7, true) | (9, false) => (RootKind::ClassLoader, ThreadId::UNKNOWN, "class loader data"),
            (8, true) | (6, false) => (RootKind::Management, ThreadId::UNKNOWN, "management"),
            (9, true) | (7, false) => (RootKind::Jvmti, ThreadId::UNKNOWN, "JVMTI"),
            (10, _) => (RootKind::CodeBlob, ThreadId::UNKNOWN, "code cache"),
            (11, _) => (RootKind::Other, ThreadId::UNKNOWN, "weak root"),
            (0..=13, _) => (RootKind::Other, ThreadId::UNKNOWN, "other"),
            (address, _) => {
                let id = self.threads.by_address.get(&address).map(|t| ThreadId(t.id)).unwrap_or(ThreadId::UNKNOWN);
                (RootKind::LocalVariable, id, "stack")
            }
        };
        self.read_targets(first, of, words)?;
        for &target in &self.targets {
            sink.root(kind, thread, detail, target);
        }
        Ok(())
    }

    /// Reads pointers into `targets`, without nulls. Relative ones count from `object`, each from the one before.
    fn read_targets(&mut self, first: u32, object: u64, words: &mut Words<'_>) -> std::result::Result<(), Fault> {
        self.targets.clear();
        let mut offset = 0u64;
        for i in 0..12 {
            match first >> (22 - 2 * i) & 3 {
                0 => break,
                1 => {
                    offset = offset.wrapping_add(words.next()? as i32 as u64);
                    self.targets.push(object.wrapping_sub(offset << 3));
                }
                2 => {
                    let target = words.address()?;
                    offset = object.wrapping_sub(target) >> 3;
                    self.targets.push(target);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// After a rotation the first GC names everything anew: objects that are known are moved or kept, others made.
    fn sync_object<S: EventSink>(
        &mut self,
        symbols: &Symbols,
        first: u32,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let raw = words.next()?;
        let from = words.address()?;
        let to = if first >> 26 == 36 { words.address()? } else { from };
        let type_id = symbols.type_of_id.get(raw as usize).copied().unwrap_or(UNKNOWN);
        if type_id == UNKNOWN {
            return Err(words.wrong(format!("type {raw}, which the symbols do not have"), "a known type"));
        }
        let (id, length) = match first & 0x80_0000 {
            0 => (first >> 8 & 0xffff, first & 0xff),
            _ => (first & 0xff_ffff, 0),
        };
        let shape = symbols.program.shapes[type_id as usize];
        let mut length = if length == 255 { words.next()? } else { length };
        if shape == Shape::Mirror {
            length = words.next()?;
        }
        if sink.known(from) {
            sink.moved(from, to);
        } else {
            let info = sink.info(ObjectInfo {
                type_id,
                site: self.site(symbols, id).0,
                thread: ThreadId::UNKNOWN,
                allocator: Allocator::Unknown,
                big: matches!(shape, Shape::Array { .. }) && length >= BIG_ARRAY,
            });
            sink.allocate(info, length, to);
        }
        Ok(())
    }

    fn gc<S: EventSink>(
        &mut self,
        symbols: &Symbols,
        first: u32,
        owner: &mut ThreadState,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let number = words.next()?;
        let millis = words.address()?;
        self.threads.base = words.address()?;
        let start = first >> 26 == 2;
        let cause = first >> 8 & 0xff;
        // CMS calls its compacting full collections minor; the cause tells.
        let compacting = symbols.fragmented && cause == if start { 12 } else { 19 };
        let major = matches!(first >> 16 & 0xff, 1 | 2) || compacting;
        let kind = if major { GcKind::Major } else { GcKind::Minor };
        let gc = Gc {
            number,
            kind,
            cause: symbols.cause_of_id.get(&cause).copied().unwrap_or(u32::MAX),
            millis,
            failed: first & 1 != 0,
            targets_after: major,
        };
        self.threads.collecting = start;
        self.threads.minor = !major;
        for thread in self.threads.by_address.values_mut().chain([owner]) {
            thread.plabs.clear();
            thread.unfinished = 0;
        }
        if start { Ok(sink.gc_start(gc)?) } else { Ok(sink.gc_end(gc)?) }
    }
}

/// What lands exactly on the top of a buffer moves the top.
#[inline]
fn advance(plabs: &mut [Buffer], to: u64, size: u64) {
    if let Some(plab) = plabs.iter_mut().rev().find(|p| p.top == to && to < p.end) {
        plab.top = to.wrapping_add(size);
    }
}

fn change_space<S: EventSink>(
    sink: &mut S,
    words: &Words<'_>,
    index: u32,
    change: impl FnOnce(&mut crate::trace::spaces::Space),
) -> std::result::Result<(), Fault> {
    if sink.change_space(index, change) {
        return Ok(());
    }
    Err(words.wrong(format!("space {index}"), format!("fewer than {} spaces", crate::trace::spaces::MOST_SPACES)))
}

/// Four characters a word, the first in the top byte, up to 48, zero-terminated.
fn thread_name(words: &mut Words<'_>) -> std::result::Result<String, Fault> {
    let mut name = Vec::new();
    while name.len() < 48 {
        let four = words.next()?.to_be_bytes();
        let end = four.iter().position(|&b| b == 0);
        name.extend_from_slice(&four[..end.unwrap_or(4)]);
        if end.is_some() {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&name).into_owned())
}
