//! Buffers full of events and the trace file they go into. This knows the layout of every event, but nothing about
//! heaps: what is written is up to the caller.
use super::lzw;
use std::io::{self, Write};

pub const MAGIC: u32 = 0x00C0_FFEE;
pub const HEADER_WORDS: usize = 42;
/// The first site id that takes three bytes (its allocations hold 24 bits and never have an array length).
pub const FIRST_BIG_SITE: u32 = 0x0080_0000;
/// Sites up to this one are special: a slow allocation at one names its type itself.
pub const LAST_SPECIAL_SITE: u32 = 12;
/// Space kinds as moves and `space_in_use` name them.
pub const EDEN: u32 = 0;
pub const SURVIVOR: u32 = 1;
pub const OLD: u32 = 2;

/// Which part of the VM allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    Vm,
    Interpreter,
    C1,
    C2,
}

impl Allocator {
    pub fn name(self) -> &'static str {
        match self {
            Self::Vm => "VM",
            Self::Interpreter => "Interpreter",
            Self::C1 => "C1",
            Self::C2 => "C2",
        }
    }
}

/// The events of one thread that will become one buffer of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    pub thread: u64,
    /// 0 none, 1 ordered, 2 full.
    pub sync: u8,
    pub words: Vec<u32>,
    events: u64,
    /// Pointers that are not null.
    references: u64,
}

/// What an allocation event says beside its kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocation {
    pub site: u32,
    /// Array length, if an array.
    pub length: Option<u32>,
    /// The type, where the event has to name it.
    pub type_id: Option<u32>,
    /// Size in bytes of a `java.lang.Class` object.
    pub mirror: Option<u32>,
}

impl Buffer {
    pub fn new(thread: u64, sync: u8) -> Self {
        Self { thread, sync, ..Self::default() }
    }

    /// Empties the buffer for what its thread does next.
    pub fn clear(&mut self) {
        *self = Self { words: std::mem::take(&mut self.words), ..Self::new(self.thread, self.sync) };
        self.words.clear();
    }

    fn head(&mut self, kind: u32, payload: u32) {
        self.events += 1;
        self.words.push(kind << 26 | payload);
    }

    fn long(&mut self, value: u64) {
        self.words.extend([value as u32, (value >> 32) as u32]);
    }

    pub fn no_op(&mut self) {
        self.head(0, 0);
    }

    pub fn mark(&mut self, id: u64) {
        self.head(1, 0);
        self.long(id);
    }

    fn gc(&mut self, event: u32, payload: u32, id: u32, time: u64, base: u64) {
        self.head(event, payload);
        self.words.push(id);
        self.long(time);
        self.long(base);
    }

    /// `kind`: 0 minor, 1 major, 2 major sync, 3 minor sync. `base` counts for the relative addresses that follow.
    pub fn gc_start(&mut self, kind: u32, cause: u32, id: u32, time: u64, base: u64) {
        self.gc(2, kind << 16 | cause << 8, id, time, base);
    }

    pub fn gc_end(&mut self, kind: u32, cause: u32, failed: bool, id: u32, time: u64, base: u64) {
        self.gc(3, kind << 16 | cause << 8 | u32::from(failed), id, time, base);
    }

    pub fn gc_info(&mut self, space: u32, id: u32) {
        self.head(4, space);
        self.words.push(id);
    }

    pub fn gc_failed(&mut self, space: u32) {
        self.head(5, space);
    }

    pub fn space_created(&mut self, index: u32, start: u64, bytes: u64) {
        self.head(6, 0);
        self.words.push(index);
        self.long(start);
        self.long(bytes);
    }

    pub fn space_redefined(&mut self, index: u32, start: u64, bytes: u64) {
        self.head(9, 0);
        self.words.push(index);
        self.long(start);
        self.long(bytes);
    }

    /// `mode`: 0 normal, 1 start of something humongous, 2 its continuation.
    pub fn space_in_use(&mut self, index: u32, kind: u32, mode: u32) {
        self.head(7, kind << 18 | mode << 10);
        self.words.push(index);
    }

    pub fn space_released(&mut self, index: u32) {
        self.head(8, 0);
        self.words.push(index);
    }

    pub fn spaces_destroyed(&mut self, first: u32, count: u64) {
        self.head(10, 0);
        self.words.push(first);
        self.long(count);
    }

    /// `kind`: 0 VM, 1 GC, 2 compiler, 3 Java, 4 other. Names are cut to 47 characters.
    pub fn thread_alive(&mut self, kind: u32, thread: u64, name: &str) {
        self.head(11, kind << 8);
        self.long(thread);
        let mut text: Vec<u8> = name.bytes().take(47).collect();
        text.push(0);
        text.resize(text.len().div_ceil(4) * 4, 0);
        for four in text.chunks(4) {
            self.words.push(u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
        }
    }

    pub fn thread_death(&mut self, thread: u64) {
        self.head(12, 0);
        self.long(thread);
    }

    pub fn tlab(&mut self, bytes: u64, address: u64) {
        self.head(13, 0);
        self.long(bytes);
        self.long(address);
    }

    pub fn plab(&mut self, bytes: u64, address: u64) {
        self.head(14, 0);
        self.long(bytes);
        self.long(address);
    }

    fn allocation(&mut self, event: u32, address: Option<u64>, what: &Allocation) {
        let (payload, word) = if what.site >= FIRST_BIG_SITE {
            debug_assert!(what.length.is_none());
            (what.site, None)
        } else {
            let length = what.length.unwrap_or(0);
            (what.site << 8 | length.min(255), (length >= 255).then_some(length))
        };
        self.head(event, payload);
        if let Some(address) = address {
            self.long(address);
        }
        self.words.extend(word);
        self.words.extend(what.type_id);
        self.words.extend(what.mirror);
    }

    /// Slow allocation of the site's type (or, at a special site, of the type given).
    pub fn allocate_slow(&mut self, by: Allocator, address: u64, what: &Allocation) {
        debug_assert_eq!(what.site <= LAST_SPECIAL_SITE, what.type_id.is_some());
        let event = match by {
            Allocator::Vm => 15,
            Allocator::Interpreter => 16,
            Allocator::C1 => 20,
            Allocator::C2 => 25,
        };
        self.allocation(event, Some(address), what);
    }

    /// Slow allocation of another type than the site's.
    pub fn allocate_slow_other(&mut self, by: Allocator, address: u64, what: &Allocation) {
        debug_assert!(what.type_id.is_some());
        let event = match by {
            Allocator::Vm | Allocator::Interpreter => 17,
            Allocator::C1 => 21,
            Allocator::C2 => 26,
        };
        self.allocation(event, Some(address), what);
    }

    pub fn allocate_normal(&mut self, by: Allocator, address: u64, what: &Allocation) {
        let event = match by {
            Allocator::Vm | Allocator::Interpreter => 18,
            Allocator::C1 => 22,
            Allocator::C2 => 27,
        };
        self.allocation(event, Some(address), &Allocation { type_id: None, mirror: None, ..*what });
    }

    /// At the thread's TLAB cursor; with a type if it is not the site's (compiled code only).
    pub fn allocate_fast(&mut self, by: Allocator, what: &Allocation) {
        let event = match (by, what.type_id) {
            (Allocator::Vm | Allocator::Interpreter, _) => 19,
            (Allocator::C1, None) => 23,
            (Allocator::C1, Some(_)) => 24,
            (Allocator::C2, None) => 28,
            (Allocator::C2, Some(_)) => 29,
        };
        self.allocation(event, None, what);
    }

    pub fn move_slow(&mut self, from: u64, to: u64) {
        self.head(30, 0);
        self.long(from);
        self.long(to);
    }

    /// Fast move in the shortest of its forms: 33, else 32, else 31.
    pub fn move_fast(&mut self, kind: u32, from: u64, base: u64) {
        match from.checked_sub(base).map(|bytes| bytes / 8) {
            Some(units) if units < 1 << 22 => self.head(33, kind << 24 | (units as u32) << 2),
            Some(units) if units <= u64::from(u32::MAX) => self.move_fast_relative(kind, units as u32),
            _ => self.move_fast_absolute(kind, from),
        }
    }

    pub fn move_fast_absolute(&mut self, kind: u32, from: u64) {
        self.head(31, kind << 24);
        self.long(from);
    }

    pub fn move_fast_relative(&mut self, kind: u32, units: u32) {
        self.head(32, kind << 24);
        self.words.push(units);
    }

    pub fn move_region(&mut self, objects: u32, from: u64, to: u64) {
        self.head(34, objects);
        self.long(from);
        self.long(to);
    }

    pub fn kept(&mut self, address: u64) {
        self.head(35, 0);
        self.long(address);
    }

    pub fn sync_object(&mut self, what: &Allocation, from: u64, to: u64) {
        self.sync_event(36, what, &[from, to]);
    }

    pub fn sync_object_in_place(&mut self, what: &Allocation, address: u64) {
        self.sync_event(37, what, &[address]);
    }

    fn sync_event(&mut self, event: u32, what: &Allocation, addresses: &[u64]) {
        let length = what.length.unwrap_or(0);
        let big = what.site >= FIRST_BIG_SITE;
        self.head(event, if big { what.site } else { what.site << 8 | length.min(255) });
        self.words.push(what.type_id.unwrap_or(0));
        for &address in addresses {
            self.long(address);
        }
        if !big && length >= 255 {
            self.words.push(length);
        }
        self.words.extend(what.mirror);
    }

    pub fn move_with_pointers(&mut self, from: u64, to: u64, pointers: &Pointers) {
        let at = self.words.len();
        self.head(39, 0);
        self.long(from);
        self.long(to);
        self.pointers(at, 43, to, pointers);
    }

    /// Fast move (event 41, or 40 where `absolute` or out of reach); `to` is where it will land.
    pub fn move_fast_with_pointers(&mut self, kind: u32, from: u64, base: Option<u64>, to: u64, pointers: &Pointers) {
        let at = self.words.len();
        match base.and_then(|base| from.checked_sub(base)).and_then(|bytes| u32::try_from(bytes / 8).ok()) {
            Some(units) => {
                self.head(41, kind << 24);
                self.words.push(units);
            }
            None => {
                self.head(40, kind << 24);
                self.long(from);
            }
        }
        self.pointers(at, 43, to, pointers);
    }

    pub fn kept_with_pointers(&mut self, address: u64, pointers: &Pointers) {
        let at = self.words.len();
        self.head(42, 0);
        self.long(address);
        self.pointers(at, 43, address, pointers);
    }

    /// Further pointers of an array that was moved without any, in chunks (event 44).
    pub fn array_pointers(&mut self, object: u64, pointers: &Pointers) {
        let at = self.words.len();
        self.head(44, 0);
        self.long(object);
        self.pointers(at, 44, object, pointers);
    }

    /// `owner`: root kind 1 to 13 or the address of a thread.
    pub fn roots(&mut self, owner: u64, pointers: &Pointers) {
        let at = self.words.len();
        self.head(45, 0);
        self.long(owner);
        self.pointers(at, 45, owner, pointers);
    }

    /// Pointers of an object outside the collected spaces; more than 12 go on in events 46 of the same object.
    pub fn cross_pointers(&mut self, object: u64, pointers: &Pointers) {
        let at = self.words.len();
        self.head(46, 0);
        self.long(object);
        self.pointers(at, 46, object, pointers);
    }

    /// Adds the pointers to the event whose first word is at `head`, and events of type `further` for all above 12.
    fn pointers(&mut self, mut head: usize, further: u32, object: u64, pointers: &Pointers) {
        let mut previous = None;
        for (index, &target) in pointers.targets.iter().enumerate() {
            let place = index % 12;
            if index > 0 && place == 0 {
                head = self.words.len();
                self.head(further, 0);
                self.long(object);
                previous = None;
            }
            let kind = if target == 0 {
                3
            } else {
                self.references += 1;
                let offset = (object.wrapping_sub(target) as i64) >> 3;
                let word = i32::try_from(offset - previous.unwrap_or(0));
                previous = Some(offset);
                match word {
                    Ok(word) if pointers.absolute.rotate_right(index as u32 & 63) & 1 == 0 => {
                        self.words.push(word as u32);
                        1
                    }
                    _ => {
                        self.long(target);
                        2
                    }
                }
            };
            self.words[head] |= kind << (22 - 2 * place);
        }
    }
}

/// The pointers of one object or root kind, in order; 0 is a null pointer.
#[derive(Clone, Copy, Debug)]
pub struct Pointers<'a> {
    pub targets: &'a [u64],
    /// Bit `i % 64` set: pointer `i` is written absolute although it could be relative.
    pub absolute: u64,
}

/// The trace file: header and thread buffers.
pub struct TraceFile<W: Write> {
    out: W,
    offset: u64,
    compressed: bool,
    bytes: Vec<u8>,
    /// File offsets of the ends of all buffers.
    pub ends: Vec<u64>,
    /// Events written.
    pub events: u64,
    /// Pointers written that are not null.
    pub references: u64,
}

/// What trace and symbols files begin with.
pub(super) fn header(words: &[u32; HEADER_WORDS], kind: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [MAGIC, HEADER_WORDS as u32].iter().chain(words).chain(&[kind]) {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

impl<W: Write> TraceFile<W> {
    /// Writes the header. `words`: the random words all files of the run share; `index`: in a rotation.
    pub fn new(mut out: W, words: &[u32; HEADER_WORDS], index: u32, compressed: bool) -> io::Result<Self> {
        let mut bytes = header(words, 1);
        bytes.extend(index.to_le_bytes());
        out.write_all(&bytes)?;
        Ok(Self {
            out,
            offset: bytes.len() as u64,
            compressed,
            bytes: Vec::new(),
            ends: Vec::new(),
            events: 0,
            references: 0,
        })
    }

    /// Bytes written so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Writes one buffer, compressed if wanted, allowed (no sync level) and smaller.
    pub fn write(&mut self, buffer: &Buffer) -> io::Result<()> {
        self.bytes.clear();
        self.bytes.extend(buffer.words.iter().flat_map(|word| word.to_le_bytes()));
        let mut meta = u32::from(buffer.sync) << 29;
        if self.compressed && buffer.sync == 0 {
            let packed = lzw::compress(&self.bytes);
            if packed.len() < self.bytes.len() {
                self.bytes = packed;
                meta |= 1 << 31;
            }
        }
        meta |= self.bytes.len() as u32;
        self.out.write_all(&buffer.thread.to_le_bytes())?;
        self.out.write_all(&meta.to_le_bytes())?;
        self.out.write_all(&self.bytes)?;
        self.offset += 12 + self.bytes.len() as u64;
        self.ends.push(self.offset);
        self.events += buffer.events;
        self.references += buffer.references;
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }
}
