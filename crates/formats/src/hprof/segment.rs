//! Reader of the records of a heap segment, one after the other.

use super::cursor::Cursor;
use super::tags::{heap, root};
use std::ops::Range;

/// The content of a root record besides the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RootRecord {
    /// The record's tag.
    pub(super) tag: u8,
    /// The object.
    pub(super) object: u64,
    /// Thread serial, where the record has one.
    pub(super) thread: u32,
    /// Frame number, where the record has one (-1 for none).
    pub(super) frame: u32,
    /// The reference itself, of JNI global ones; 0 of others.
    pub(super) handle: u64,
}

/// A class.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassRecord {
    /// Its object.
    pub(super) id: u64,
    /// Superclass, class loader, signers, protection domain; 0 for none.
    pub(super) superclass: u64,
    #[allow(missing_docs)]
    pub(super) loader: u64,
    #[allow(missing_docs)]
    pub(super) signers: u64,
    #[allow(missing_docs)]
    pub(super) domain: u64,
    /// Static fields: name, type, value.
    pub(super) statics: Vec<(u64, u8, u64)>,
    /// Own instance fields: types in the order of the record.
    pub(super) fields: Vec<u8>,
    /// The names of the fields.
    pub(super) field_names: Vec<u64>,
}

impl ClassRecord {
    /// Bytes that it takes, with what is made of its fields ([`super::values`]).
    pub(super) fn memory(&self) -> u64 {
        let own = self.statics.capacity() * size_of::<(u64, u8, u64)>() + self.fields.capacity();
        (own + self.field_names.capacity() * (size_of::<u64>() + OWN_FIELD)) as u64
    }
}

/// Bytes of a field in the tables for values.
const OWN_FIELD: usize = 24;

/// Receives the records. Every method has a default that ignores them.
pub(super) trait Visitor {
    /// A GC root.
    fn root(&mut self, _root: RootRecord) {}
    /// A class.
    fn class(&mut self, _class: &mut Cursor<'_>, _id_size: usize) -> Option<()> {
        skip_class(_class, _id_size)
    }
    /// An instance: its id, trace serial, class, and field values, own class first.
    fn instance(&mut self, _id: u64, _trace: u32, _class: u64, _values: &[u8]) {}
    /// An array of references.
    fn object_array(&mut self, _id: u64, _trace: u32, _class: u64, _elements: &[u8]) {}
    /// An array of primitives; `kind` as in the format (4 boolean .. 11 long).
    fn primitive_array(&mut self, _id: u64, _trace: u32, _kind: u8, _length: u32, _elements: &[u8]) {}
}

/// Why a walk ended before the end of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end inside a record.
    Cut,
    /// A record of an unknown kind: its length is not known, so nothing behind it can be read.
    Unknown(u8),
}

/// Bytes of a value of a type of the format; `None` for types there are not.
pub(super) fn width(kind: u8, id_size: usize) -> Option<usize> {
    Some(match kind {
        2 => id_size,
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        7 | 11 => 8,
        _ => return None,
    })
}

/// Walks the records of `range`. `Err` with the offset of the record that could not be read.
pub(super) fn walk(
    bytes: &[u8],
    range: Range<usize>,
    id_size: usize,
    visitor: &mut impl Visitor,
) -> Result<(), (usize, Stop)> {
    let bytes = &bytes[..range.end.min(bytes.len())];
    // The two sizes of ids as constants: the loop is compiled for each.
    if id_size == 8 { records::<8>(bytes, range.start, visitor) } else { records::<4>(bytes, range.start, visitor) }
}

fn records<const ID: usize>(bytes: &[u8], start: usize, visitor: &mut impl Visitor) -> Result<(), (usize, Stop)> {
    let mut c = Cursor::new(bytes, start);
    while c.at < bytes.len() {
        let at = c.at;
        match record::<ID>(&mut c, visitor) {
            Some(None) => {}
            Some(Some(tag)) => return Err((at, Stop::Unknown(tag))),
            None => return Err((at, Stop::Cut)),
        }
    }
    Ok(())
}

/// One record: `None` when it is cut off, `Some(Some(tag))` when it is unknown.
#[inline(always)]
fn record<const ID: usize>(c: &mut Cursor<'_>, visitor: &mut impl Visitor) -> Option<Option<u8>> {
    let tag = c.u8()?;
    match tag {
        heap::INSTANCE => {
            let (id, trace, class, length) = (c.id(ID)?, c.u32()?, c.id(ID)?, c.u32()?);
            visitor.instance(id, trace, class, c.take(length as usize)?);
        }
        heap::OBJECT_ARRAY => {
            let (id, trace, length, class) = (c.id(ID)?, c.u32()?, c.u32()?, c.id(ID)?);
            visitor.object_array(id, trace, class, c.take((length as usize).checked_mul(ID)?)?);
        }
        heap::PRIMITIVE_ARRAY | heap::PRIMITIVE_ARRAY_NO_DATA => {
            let (id, trace, length, kind) = (c.id(ID)?, c.u32()?, c.u32()?, c.u8()?);
            let width = width(kind, ID).filter(|_| kind != 2);
            let Some(width) = width else { return Some(Some(tag)) };
            let elements =
                if tag == heap::PRIMITIVE_ARRAY { c.take((length as usize).checked_mul(width)?)? } else { &[] };
            visitor.primitive_array(id, trace, kind, length, elements);
        }
        heap::CLASS => visitor.class(c, ID)?,
        root::UNKNOWN
        | root::STICKY_CLASS
        | root::MONITOR_USED
        | root::INTERNED_STRING
        | root::FINALIZING
        | root::DEBUGGER
        | root::REFERENCE_CLEANUP
        | root::VM_INTERNAL
        | root::UNREACHABLE => {
            visitor.root(RootRecord { tag, object: c.id(ID)?, thread: 0, frame: u32::MAX, handle: 0 });
        }
        root::JNI_GLOBAL => {
            let object = c.id(ID)?;
            let handle = c.id(ID)?;
            visitor.root(RootRecord { tag, object, thread: 0, frame: u32::MAX, handle });
        }
        root::JNI_LOCAL | root::JAVA_FRAME | root::THREAD_OBJECT | root::JNI_MONITOR => {
            let (object, thread, frame) = (c.id(ID)?, c.u32()?, c.u32()?);
            visitor.root(RootRecord { tag, object, thread, frame, handle: 0 });
        }
        root::NATIVE_STACK | root::THREAD_BLOCK => {
            let (object, thread) = (c.id(ID)?, c.u32()?);
            visitor.root(RootRecord { tag, object, thread, frame: u32::MAX, handle: 0 });
        }
        // All heaps of Android are shown together.
        heap::HEAP_INFO => {
            c.u32()?;
            c.id(ID)?;
        }
        unknown => return Some(Some(unknown)),
    }
    Some(None)
}

/// Reads a class record; the tag has been read.
pub(super) fn read_class(c: &mut Cursor<'_>, id: usize) -> Option<ClassRecord> {
    let mut class = ClassRecord { id: c.id(id)?, ..Default::default() };
    c.u32()?;
    class.superclass = c.id(id)?;
    class.loader = c.id(id)?;
    class.signers = c.id(id)?;
    class.domain = c.id(id)?;
    c.id(id)?;
    c.id(id)?;
    c.u32()?;
    for _ in 0..c.u16()? {
        c.u16()?;
        value(c, id)?;
    }
    for _ in 0..c.u16()? {
        let name = c.id(id)?;
        let (kind, value) = value(c, id)?;
        class.statics.push((name, kind, value));
    }
    for _ in 0..c.u16()? {
        class.field_names.push(c.id(id)?);
        class.fields.push(c.u8()?);
    }
    Some(class)
}

fn skip_class(c: &mut Cursor<'_>, id: usize) -> Option<()> {
    c.take(7 * id + 8)?;
    for _ in 0..c.u16()? {
        c.u16()?;
        value(c, id)?;
    }
    for _ in 0..c.u16()? {
        c.id(id)?;
        value(c, id)?;
    }
    let fields = usize::from(c.u16()?);
    c.take(fields * (id + 1)).map(|_| ())
}

fn value(c: &mut Cursor<'_>, id: usize) -> Option<(u8, u64)> {
    let kind = c.u8()?;
    let value = match width(kind, id)? {
        1 => u64::from(c.u8()?),
        2 => u64::from(c.u16()?),
        4 => u64::from(c.u32()?),
        _ => c.u64()?,
    };
    Some((kind, value))
}

/// Cuts a long range at records into pieces of about `size` bytes.
pub(super) fn cut(bytes: &[u8], range: Range<usize>, id_size: usize, size: usize) -> Vec<Range<usize>> {
    struct Nothing;
    impl Visitor for Nothing {}
    let mut pieces = Vec::new();
    let end = range.end.min(bytes.len());
    let slice = &bytes[..end];
    let mut c = Cursor::new(slice, range.start);
    let mut start = range.start;
    while c.at < end {
        let at = c.at;
        let read = if id_size == 8 { record::<8>(&mut c, &mut Nothing) } else { record::<4>(&mut c, &mut Nothing) };
        if read != Some(None) {
            // The last piece ends in what cannot be read: the walk over it will say so.
            break;
        }
        if c.at - start >= size {
            pieces.push(start..c.at);
            start = c.at;
        }
        if c.at <= at {
            break;
        }
    }
    if start < end {
        pieces.push(start..end);
    }
    pieces
}
