//! Decoder of allocations, which are most events of a trace.

use super::threads::advance;
use super::word_reader::{Fault, Words};
use super::{BufferOwner, Events, RECENT_SHIFT, kinds};
use crate::anttracks::symbols::{Symbols, UNKNOWN};
use crate::event::{BIG_ARRAY, EventSink, InfoId, ObjectInfo, ObjectKey, Shape};
use memory_city_heap::{Allocator, ThreadId};

/// The first word of an allocation without the array length: 255, which says that the length follows, is kept.
#[inline]
fn key_of(first: u32) -> u32 {
    if first & 0x80_0000 == 0 && first & 0xff != 0xff { first & !0xff } else { first }
}

/// The last site of the VM itself; those of the program follow.
const LAST_SPECIAL: u32 = 12;

/// Whether a kind is a slow allocation, which may be of a class mirror with its size.
#[inline]
fn is_slow(kind: u32) -> bool {
    matches!(
        kind,
        kinds::VM_SLOW
            | kinds::INTERPRETER_SLOW
            | kinds::INTERPRETER_SLOW_OTHER
            | kinds::C1_SLOW
            | kinds::C1_SLOW_OTHER
            | kinds::C2_SLOW
            | kinds::C2_SLOW_OTHER
    )
}

/// The object of an allocation.
struct Described {
    info: InfoId,
    /// A class mirror.
    mirror: bool,
    /// Its type had to be read.
    typed: bool,
}

impl Events {
    /// `AT`: the address is given; otherwise it is the top of the thread's TLAB. `other`: not of its site's type.
    #[inline]
    pub(super) fn allocate<S: EventSink, const AT: bool>(
        &mut self,
        symbols: &Symbols,
        first: u32,
        other: bool,
        owner: &mut BufferOwner,
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
                    let own = AT && is_slow(first >> 26);
                    length = if own { words.next()? } else { symbols.mirror_size };
                } else if !other && !described.typed && length < BIG_ARRAY {
                    // What the first word alone says is the same next time.
                    owner.infos.insert(key, described.info);
                }
                described.info
            }
        };
        let size = sink.allocate(info, length, ObjectKey::Address(address));
        // What was allocated at the top moves the top, however it was reported.
        if address == owner.state.tlab.top {
            owner.state.tlab.top = address.wrapping_add(size);
        } else if self.threads.collecting {
            advance(&mut owner.state.plabs, address, size);
        }
        Ok(())
    }

    /// Decodes the parts of an allocation after its first words.
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
        let is_slow = matches!(kind, kinds::VM_SLOW | kinds::INTERPRETER_SLOW | kinds::C1_SLOW | kinds::C2_SLOW);
        let special = AT && is_slow && id <= LAST_SPECIAL;
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
                kinds::VM_SLOW => Allocator::Vm,
                kinds::INTERPRETER_SLOW..=kinds::INTERPRETER_FAST => Allocator::Interpreter,
                kinds::C1_SLOW..=kinds::C1_FAST_OTHER => Allocator::C1,
                kinds::C2_SLOW..=kinds::C2_FAST_OTHER => Allocator::C2,
                _ => Allocator::Unknown,
            },
            big: matches!(shape, Shape::Array { .. }) && length >= BIG_ARRAY,
        });
        Ok(Described { info, mirror: shape == Shape::Mirror, typed: special })
    }

    pub(super) fn site(&self, symbols: &Symbols, id: u32) -> (u32, u32) {
        match self.small_sites.get(id as usize) {
            Some(&(index @ 1.., type_id)) => (index - 1, type_id),
            _ => symbols.sites.get(&id).map(|s| (s.index, s.type_id)).unwrap_or((0, UNKNOWN)),
        }
    }
}
