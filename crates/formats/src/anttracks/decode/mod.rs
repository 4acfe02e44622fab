//! Decoder of the events in thread buffers.
//!
//! The format leaves out addresses that can be derived: of an object allocated at the top of its thread's buffer (TLAB), and the
//! destination of one moved to the top of a GC thread's buffer (PLAB). [`Threads`] keeps those cursors. They advance by sizes that come
//! from the symbols for allocations, and from the sink for moves.

mod allocation;
mod kinds;
mod references;
mod threads;
mod word_reader;

pub(crate) use threads::{ThreadState, Threads};
pub(crate) use word_reader::Fault;

use super::symbols::{Symbols, UNKNOWN};
use crate::event::{BIG_ARRAY, EventSink, Gc, GcKind, InfoId, ObjectInfo, ObjectKey, Shape};
use memory_city_heap::{Allocator, SpaceKind, ThreadId};
use rustc_hash::FxHashMap;
use threads::{MOST_PLABS, ThreadBuffer, advance};
use word_reader::{Words, thread_name};

const NO_RECENT: (u32, u32, InfoId) = (0, u32::MAX, InfoId(0));
/// Low bits of a hash that are dropped.
const RECENT_SHIFT: u32 = 22;

/// Words that are decoded in one go, about: between two the work can be stopped. The VM's buffers are shorter.
const PIECE: usize = 1 << 16;

/// Decodes buffers.
pub(crate) struct Events {
    /// Cursors.
    pub(crate) threads: Threads,
    /// Sites below 65536, where most are: index and type.
    small_sites: Vec<(u32, u32)>,
    /// By thread: the info of an allocation, by [`key_of`] its first word. Most repeat.
    infos: Vec<FxHashMap<u32, InfoId>>,
    /// The same for those asked for last, with the thread: small enough to stay near.
    recent: Vec<(u32, u32, InfoId)>,
    targets: Vec<ObjectKey>,
}

/// The thread a buffer belongs to. Taken out of the tables for the time of the buffer: events of a thread change that
/// thread, seldom another.
struct BufferOwner {
    id: ThreadId,
    state: ThreadState,
    infos: FxHashMap<u32, InfoId>,
}

impl Events {
    /// The start of a trace, without threads.
    pub(crate) fn new(symbols: &Symbols) -> Self {
        let mut small_sites = vec![(0, UNKNOWN); 1 << 16];
        for (&id, site) in symbols.sites.iter().filter(|(id, _)| **id < 1 << 16) {
            small_sites[id as usize] = (site.index + 1, site.type_id);
        }
        let recent = vec![NO_RECENT; 1 << (32 - RECENT_SHIFT)];
        Events { threads: Threads::default(), small_sites, infos: Vec::new(), recent, targets: Vec::new() }
    }

    /// The sink's ids mean nothing any more: it is another one.
    pub(crate) fn forget(&mut self) {
        self.infos.clear();
        self.recent.fill(NO_RECENT);
    }

    /// The map from first words to infos of a thread, taken out to be put back.
    fn infos_of(&mut self, thread: ThreadId) -> &mut FxHashMap<u32, InfoId> {
        let index = thread.0 as usize;
        if self.infos.len() <= index {
            self.infos.resize_with(index + 1, FxHashMap::default);
        }
        &mut self.infos[index]
    }

    /// Decodes a buffer of the thread at `address` from word `from` on. Where it stopped, if that was before the end.
    pub(crate) fn decode<S: EventSink>(
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
        let mut owner = BufferOwner { id, state, infos: std::mem::take(self.infos_of(id)) };
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
        owner: &mut BufferOwner,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let end = words.at + PIECE;
        while words.at < words.bytes.len() && words.at < end {
            let first = words.next()?;
            match first >> 26 {
                kinds::NO_OP => {}
                kinds::MARK => {
                    words.address()?;
                }
                kinds::INTERPRETER_FAST | kinds::C1_FAST | kinds::C2_FAST => {
                    self.allocate::<S, false>(symbols, first, false, owner, words, sink)?
                }
                kinds::C1_FAST_OTHER | kinds::C2_FAST_OTHER => {
                    self.allocate::<S, false>(symbols, first, true, owner, words, sink)?
                }
                kinds::VM_SLOW
                | kinds::INTERPRETER_SLOW
                | kinds::INTERPRETER_NORMAL
                | kinds::C1_SLOW
                | kinds::C1_NORMAL
                | kinds::C2_SLOW
                | kinds::C2_NORMAL => self.allocate::<S, true>(symbols, first, false, owner, words, sink)?,
                kinds::INTERPRETER_SLOW_OTHER | kinds::C1_SLOW_OTHER | kinds::C2_SLOW_OTHER => {
                    self.allocate::<S, true>(symbols, first, true, owner, words, sink)?
                }
                kind @ (kinds::MOVE | kinds::KEEP | kinds::MOVE_POINTERS | kinds::KEEP_POINTERS) => {
                    let with_pointers = kind >= kinds::MOVE_POINTERS;
                    let from = words.address()?;
                    let to = if matches!(kind, kinds::KEEP | kinds::KEEP_POINTERS) { from } else { words.address()? };
                    if let Some(size) = sink.moved(from, to) {
                        advance(&mut owner.state.plabs, to, size);
                    }
                    if with_pointers {
                        self.pointers(first, to, false, words, sink)?;
                    }
                }
                kind @ (kinds::FAST_MOVE
                | kinds::FAST_MOVE_RELATIVE
                | kinds::FAST_MOVE_NARROW
                | kinds::FAST_MOVE_POINTERS
                | kinds::FAST_MOVE_RELATIVE_POINTERS) => {
                    let from = match kind {
                        kinds::FAST_MOVE | kinds::FAST_MOVE_POINTERS => words.address()?,
                        kinds::FAST_MOVE_RELATIVE | kinds::FAST_MOVE_RELATIVE_POINTERS => {
                            self.threads.base.wrapping_add(u64::from(words.next()?) << 3)
                        }
                        _ => self.threads.base.wrapping_add(u64::from(first >> 2 & 0x3f_ffff) << 3),
                    };
                    let to = self.fast_move(from, first >> 24 & 3, owner, words, sink)?;
                    if kind >= kinds::MOVE_POINTERS {
                        self.pointers(first, to, false, words, sink)?;
                    }
                }
                kinds::REGION_MOVE => {
                    let (mut from, mut to) = (words.address()?, words.address()?);
                    for _ in 0..first & 0xff_ffff {
                        let Some(size) = sink.moved(from, to) else { break };
                        // CMS leaves at least 24 bytes for an object in its old space.
                        let old = sink.spaces().get(4).filter(|_| symbols.fragmented);
                        let stride = |at| if old.is_some_and(|s| s.contains(at)) { size.max(24) } else { size };
                        (from, to) = (from.wrapping_add(stride(from)), to.wrapping_add(stride(to)));
                    }
                }
                kinds::MORE_POINTERS | kinds::MORE_ARRAY_POINTERS => {
                    let object = words.address()?;
                    self.pointers(first, object, true, words, sink)?;
                }
                kinds::OUTSIDE_POINTERS => {
                    let object = words.address()?;
                    let more = owner.state.unfinished == object && object != 0;
                    self.pointers(first, object, more, words, sink)?;
                    // Unlike those of moved objects, these go on in events of the same kind.
                    let full = first & 3 != 0;
                    owner.state.unfinished = if full { object } else { 0 };
                }
                kinds::ROOT_POINTERS => self.roots(first, words, sink)?,
                kinds::SYNC_OBJECT | kinds::SYNC_OBJECT_IN_PLACE => self.sync_object(symbols, first, words, sink)?,
                kinds::DEALLOCATION => {
                    words.address()?;
                }
                kinds::THREAD_ALIVE => {
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
                kinds::THREAD_DEATH => {
                    // A thread has ended, and makes no more objects.
                    if words.address()? == address {
                        owner.infos = FxHashMap::default();
                    }
                }
                kind @ (kinds::TLAB | kinds::PLAB) => {
                    let bytes = words.address()?;
                    let start = words.address()?;
                    let buffer = ThreadBuffer { start, end: start.saturating_add(bytes), top: start };
                    if kind == kinds::TLAB {
                        owner.state.tlab = buffer;
                    } else if owner.state.plabs.len() < MOST_PLABS {
                        owner.state.plabs.push(buffer);
                    } else {
                        return Err(words.wrong("one more PLAB", format!("at most {MOST_PLABS} in a collection")));
                    }
                }
                kinds::GC_START | kinds::GC_END => {
                    self.gc(symbols, first, &mut owner.state, words, sink)?;
                    if sink.satisfied() {
                        return Ok(());
                    }
                }
                kinds::GC_SPACE => {
                    words.next()?;
                    sink.collects(first & 0xff_ffff);
                }
                kinds::GC_FAILED => {
                    if symbols.fragmented && first & 0xff_ffff == 4 {
                        self.threads.background_cycles += 1;
                    }
                }
                kinds::SPACE_CREATED | kinds::SPACE_REDEFINED => {
                    let index = words.next()?;
                    let (start, bytes) = (words.address()?, words.address()?);
                    change_space(sink, words, index, |space| (space.start, space.bytes) = (start, bytes))?;
                }
                kinds::SPACE_USED => {
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
                kinds::SPACE_RELEASED => {
                    let index = words.next()?;
                    change_space(sink, words, index, |space| space.kind = SpaceKind::Unknown)?;
                }
                kinds::SPACES_DESTROYED => {
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

    fn fast_move<S: EventSink>(
        &mut self,
        from: u64,
        kind: u32,
        owner: &mut BufferOwner,
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
        let to = if first >> 26 == kinds::SYNC_OBJECT { words.address()? } else { from };
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
        if sink.known(ObjectKey::Address(from)) {
            sink.moved(from, to);
        } else {
            let info = sink.info(ObjectInfo {
                type_id,
                site: self.site(symbols, id).0,
                thread: ThreadId::UNKNOWN,
                allocator: Allocator::Unknown,
                big: matches!(shape, Shape::Array { .. }) && length >= BIG_ARRAY,
            });
            sink.allocate(info, length, ObjectKey::Address(to));
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
        let start = first >> 26 == kinds::GC_START;
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

fn change_space<S: EventSink>(
    sink: &mut S,
    words: &Words<'_>,
    index: u32,
    change: impl FnOnce(&mut crate::spaces::Space),
) -> std::result::Result<(), Fault> {
    if sink.change_space(index, change) {
        return Ok(());
    }
    Err(words.wrong(format!("space {index}"), format!("fewer than {} spaces", crate::spaces::MOST_SPACES)))
}
