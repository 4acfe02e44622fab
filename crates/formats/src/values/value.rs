//! One value of a field or an element.

use memory_city_heap::{HeapState, ObjectId};
use std::fmt;

/// The declared kind of a field or an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the language's
pub enum ValueKind {
    Reference,
    Boolean,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
}

impl ValueKind {
    /// The kind by its number in heap dumps (2 is a reference, 4 to 11 are primitives).
    pub(crate) fn of_dump(kind: u8) -> Option<ValueKind> {
        use ValueKind::*;
        Some(match kind {
            2 => Reference,
            4 => Boolean,
            5 => Char,
            6 => Float,
            7 => Double,
            8 => Byte,
            9 => Short,
            10 => Int,
            11 => Long,
            _ => return None,
        })
    }

    /// Bytes of such a value where it is stored; references take `id_size`.
    #[inline]
    pub fn width(self, id_size: usize) -> usize {
        match self {
            ValueKind::Reference => id_size,
            ValueKind::Boolean | ValueKind::Byte => 1,
            ValueKind::Char | ValueKind::Short => 2,
            ValueKind::Float | ValueKind::Int => 4,
            ValueKind::Double | ValueKind::Long => 8,
        }
    }

    /// The name in source code: `int`; `reference` for all references.
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Reference => "reference",
            ValueKind::Boolean => "boolean",
            ValueKind::Char => "char",
            ValueKind::Float => "float",
            ValueKind::Double => "double",
            ValueKind::Byte => "byte",
            ValueKind::Short => "short",
            ValueKind::Int => "int",
            ValueKind::Long => "long",
        }
    }
}

/// The value of a field or an element.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the names are the language's
pub enum FieldValue {
    /// No object.
    Null,
    /// An object of the same heap state.
    Object(ObjectId),
    /// The address of an object that is not in the dump.
    Dangling(u64),
    Boolean(bool),
    /// A UTF-16 unit.
    Char(u16),
    Float(f32),
    Double(f64),
    Byte(i8),
    Short(i16),
    Int(i32),
    Long(i64),
}

impl FieldValue {
    /// The kind of field that can hold it.
    pub fn kind(self) -> ValueKind {
        match self {
            FieldValue::Null | FieldValue::Object(_) | FieldValue::Dangling(_) => ValueKind::Reference,
            FieldValue::Boolean(_) => ValueKind::Boolean,
            FieldValue::Char(_) => ValueKind::Char,
            FieldValue::Float(_) => ValueKind::Float,
            FieldValue::Double(_) => ValueKind::Double,
            FieldValue::Byte(_) => ValueKind::Byte,
            FieldValue::Short(_) => ValueKind::Short,
            FieldValue::Int(_) => ValueKind::Int,
            FieldValue::Long(_) => ValueKind::Long,
        }
    }

    /// The value at the start of `bytes`, big endian; `None` where they end too soon.
    #[inline]
    pub(crate) fn read(kind: ValueKind, bytes: &[u8], id_size: usize, heap: &HeapState) -> Option<FieldValue> {
        match kind {
            ValueKind::Reference if id_size == 8 => {
                Some(FieldValue::reference(u64::from_be_bytes(first(bytes)?), heap))
            }
            ValueKind::Reference => Some(FieldValue::reference(u32::from_be_bytes(first(bytes)?).into(), heap)),
            kind => FieldValue::primitive(kind, bytes),
        }
    }

    /// The primitive value at the start of `bytes`, big endian; `None` where they end too soon, and for references.
    #[inline]
    pub fn primitive(kind: ValueKind, bytes: &[u8]) -> Option<FieldValue> {
        Some(match kind {
            ValueKind::Reference => return None,
            ValueKind::Boolean => FieldValue::Boolean(*bytes.first()? != 0),
            ValueKind::Char => FieldValue::Char(u16::from_be_bytes(first(bytes)?)),
            ValueKind::Float => FieldValue::Float(f32::from_be_bytes(first(bytes)?)),
            ValueKind::Double => FieldValue::Double(f64::from_be_bytes(first(bytes)?)),
            ValueKind::Byte => FieldValue::Byte(*bytes.first()? as i8),
            ValueKind::Short => FieldValue::Short(i16::from_be_bytes(first(bytes)?)),
            ValueKind::Int => FieldValue::Int(i32::from_be_bytes(first(bytes)?)),
            ValueKind::Long => FieldValue::Long(i64::from_be_bytes(first(bytes)?)),
        })
    }

    /// A reference by the address it holds; 0 is null.
    #[inline]
    pub(crate) fn reference(address: u64, heap: &HeapState) -> FieldValue {
        match address {
            0 => FieldValue::Null,
            _ => heap.object_at(address).map_or(FieldValue::Dangling(address), FieldValue::Object),
        }
    }

    /// The object, where it is one.
    #[inline]
    pub fn object(self) -> Option<ObjectId> {
        match self {
            FieldValue::Object(o) => Some(o),
            _ => None,
        }
    }

    /// The number, where it is a whole one (booleans are 0 and 1).
    #[inline]
    pub fn integer(self) -> Option<i64> {
        Some(match self {
            FieldValue::Boolean(b) => i64::from(b),
            FieldValue::Char(c) => i64::from(c),
            FieldValue::Byte(n) => i64::from(n),
            FieldValue::Short(n) => i64::from(n),
            FieldValue::Int(n) => i64::from(n),
            FieldValue::Long(n) => n,
            _ => return None,
        })
    }
}

#[inline]
fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.first_chunk().copied()
}

/// The form for people. Objects are shown by number; callers that know more show more.
impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldValue::Null => f.write_str("null"),
            FieldValue::Object(o) => write!(f, "object {}", o.0),
            FieldValue::Dangling(address) => write!(f, "0x{address:x} (not in the dump)"),
            FieldValue::Boolean(b) => write!(f, "{b}"),
            FieldValue::Char(c) => match char::from_u32(u32::from(*c)).filter(|c| !c.is_control()) {
                Some(c) => write!(f, "'{c}'"),
                None => write!(f, "'\\u{c:04x}'"),
            },
            // The shortest text that is read back as the same number.
            FieldValue::Float(x) => write!(f, "{x:?}"),
            FieldValue::Double(x) => write!(f, "{x:?}"),
            FieldValue::Byte(n) => write!(f, "{n}"),
            FieldValue::Short(n) => write!(f, "{n}"),
            FieldValue::Int(n) => write!(f, "{n}"),
            FieldValue::Long(n) => write!(f, "{n}"),
        }
    }
}
