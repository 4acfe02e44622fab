//! The objects of a walk, as columns: there may be hundreds of millions, too many for a struct each.

use crate::chunk::{Chunk, ChunkKind};
use crate::columns::{ColumnWriter, Encoding, PayloadReader, PayloadWriter};
use crate::error::WireResult;
use crate::varint::{unzigzag, zigzag};

/// An object of a walk, without its references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkObject {
    /// Its id, where the walk names objects by ids.
    pub id: u64,
    /// Its address divided by the unit of the walk, where the walk has addresses.
    pub address: u64,
    /// Its class.
    pub class: u32,
    /// Number of elements of an array; below 2^32 - 1.
    pub length: Option<u32>,
    /// Shallow bytes, where they do not follow from class and length.
    pub size: Option<u64>,
    /// How it was made and lives, an [`crate::OriginRow`], where that is known of all objects.
    pub origin: Option<u32>,
}

/// Objects of a walk that were listed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectColumns {
    /// The walk.
    pub walk: u32,
    /// How many objects were listed before.
    pub first: u64,
    /// Ids; empty where objects are named by order.
    pub ids: Vec<u64>,
    /// Addresses divided by the unit of the walk; empty where they are not known.
    pub addresses: Vec<u64>,
    /// Classes: one for each object.
    pub classes: Vec<u32>,
    /// Lengths of arrays.
    pub lengths: Vec<Option<u32>>,
    /// Sizes that do not follow; empty where all do.
    pub sizes: Vec<Option<u64>>,
    /// Origins; empty where none is known.
    pub origins: Vec<Option<u32>>,
    /// How many references of each object are in the list.
    pub reference_counts: Vec<u32>,
    /// The keys of the objects they refer to.
    pub references: Vec<u64>,
    /// Columns of a later version.
    pub unknown_columns: u32,
}

/// No length in the column: instances have 0, arrays one more than their length.
fn packed_length(length: Option<u32>) -> u64 {
    length.map_or(0, |l| u64::from(l) + 1)
}

const WALK: u8 = 1;
const FIRST: u8 = 2;
const ID: u8 = 3;
const ADDRESS: u8 = 4;
const CLASS: u8 = 5;
const LENGTH: u8 = 6;
const SIZE: u8 = 7;
const ORIGIN: u8 = 8;
const COUNT: u8 = 9;
const REFERENCE: u8 = 10;

impl ObjectColumns {
    /// The number of objects.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Bytes of memory.
    pub fn memory(&self) -> u64 {
        let wide = self.ids.len() + self.addresses.len() + self.lengths.len() + 2 * self.sizes.len();
        8 * (wide + self.origins.len() + self.classes.len() + self.references.len()) as u64
    }

    /// The key of an object.
    #[inline]
    pub fn key(&self, at: usize) -> u64 {
        self.ids.get(at).copied().unwrap_or(self.first.wrapping_add(at as u64))
    }

    /// Adds an object.
    pub(crate) fn push(&mut self, object: &WalkObject, named_by_id: bool, has_address: bool, references: &[u64]) {
        if named_by_id {
            self.ids.push(object.id);
        }
        if has_address {
            self.addresses.push(object.address);
        }
        let before = self.classes.len();
        sparse(&mut self.sizes, before, object.size);
        sparse(&mut self.origins, before, object.origin);
        self.classes.push(object.class);
        self.lengths.push(object.length);
        self.reference_counts.push(references.len() as u32);
        self.references.extend_from_slice(references);
    }

    /// Empties it for the objects that follow.
    pub(crate) fn go_on(&mut self) {
        self.first = self.first.wrapping_add(self.classes.len() as u64);
        self.ids.clear();
        self.addresses.clear();
        self.classes.clear();
        self.lengths.clear();
        self.sizes.clear();
        self.origins.clear();
        self.reference_counts.clear();
        self.references.clear();
    }

    pub(crate) fn encode(&self, payload: &mut PayloadWriter) {
        use Encoding::{Delta, Plain};
        fn numbers(payload: &mut PayloadWriter, id: u8, encoding: Encoding, values: impl Iterator<Item = u64>) {
            payload.column(id, encoding, |out| {
                let mut column = ColumnWriter::new(out, encoding);
                values.for_each(|v| column.number(v));
            });
        }
        payload.begin(self.len());
        numbers(payload, CLASS, Plain, self.classes.iter().map(|&c| u64::from(c)));
        numbers(payload, WALK, Plain, std::iter::once(u64::from(self.walk)));
        numbers(payload, FIRST, Plain, std::iter::once(self.first));
        numbers(payload, ID, Delta, self.ids.iter().copied());
        numbers(payload, ADDRESS, Delta, self.addresses.iter().copied());
        numbers(payload, LENGTH, Plain, self.lengths.iter().map(|&l| packed_length(l)));
        numbers(payload, SIZE, Plain, self.sizes.iter().map(|s| s.map_or(0, |s| s.wrapping_add(1))));
        numbers(payload, ORIGIN, Plain, self.origins.iter().map(|&o| packed_length(o)));
        numbers(payload, COUNT, Plain, self.reference_counts.iter().map(|&c| u64::from(c)));
        payload.column(REFERENCE, Plain, |out| {
            let mut column = ColumnWriter::new(out, Plain);
            let mut targets = self.references.iter();
            for (at, &count) in self.reference_counts.iter().enumerate() {
                let own = self.key(at);
                targets.by_ref().take(count as usize).for_each(|t| column.number(zigzag(t.wrapping_sub(own))));
            }
        });
    }

    fn decode(payload: &PayloadReader<'_>) -> Result<ObjectColumns, String> {
        let n = payload.rows;
        let all = |id: u8| -> Result<Vec<u64>, String> {
            let mut column = payload.column(id);
            let values = (0..n).map(|_| column.number()).collect::<Result<_, _>>()?;
            column.end().map(|()| values)
        };
        // Where a column is missing, nothing is known of any.
        let some = |id: u8| if payload.column(id).is_empty() { Ok(Vec::new()) } else { all(id) };
        let small = |values: Vec<u64>, what: &str| -> Result<Vec<u32>, String> {
            let narrow = |v: u64| u32::try_from(v).map_err(|_| format!("{what} {v}, more than 32 bits"));
            values.into_iter().map(narrow).collect()
        };
        let optional = |values: Vec<u64>, what: &str| -> Result<Vec<Option<u32>>, String> {
            let narrow = |v: u64| match v.checked_sub(1) {
                None => Ok(None),
                Some(v) => u32::try_from(v).map(Some).map_err(|_| format!("{what} {v}, more than 32 bits")),
            };
            values.into_iter().map(narrow).collect()
        };
        let mut columns = ObjectColumns {
            walk: payload.column(WALK).small()?,
            first: payload.column(FIRST).number()?,
            ids: some(ID)?,
            addresses: some(ADDRESS)?,
            classes: small(all(CLASS)?, "class")?,
            lengths: optional(all(LENGTH)?, "length")?,
            sizes: some(SIZE)?.into_iter().map(|s| s.checked_sub(1)).collect(),
            origins: optional(some(ORIGIN)?, "origin")?,
            reference_counts: small(all(COUNT)?, "a number of references")?,
            references: Vec::new(),
            unknown_columns: payload.unknown(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        };
        let mut column = payload.column(REFERENCE);
        let mut references = Vec::new();
        for (at, &count) in columns.reference_counts.iter().enumerate() {
            let own = columns.key(at);
            if count as usize > column.left() {
                return Err(format!("{count} references, but {} bytes of them", column.left()));
            }
            for _ in 0..count {
                references.push(own.wrapping_add(unzigzag(column.number()?)));
            }
        }
        column.end()?;
        columns.references = references;
        Ok(columns)
    }
}

/// Adds to a column that is empty as long as nothing is known.
fn sparse<T: Copy>(column: &mut Vec<Option<T>>, before: usize, value: Option<T>) {
    if value.is_some() && column.is_empty() {
        column.resize(before, None);
    }
    if value.is_some() || !column.is_empty() {
        column.push(value);
    }
}

impl Chunk<'_> {
    /// Its objects, where it is of the kind [`ChunkKind::WALK_OBJECTS`].
    ///
    /// # Errors
    /// When it is of another kind, or the content breaks the format.
    pub fn objects(&self) -> WireResult<ObjectColumns> {
        if self.header.kind != ChunkKind::WALK_OBJECTS || self.header.version != 1 {
            return Err(self.wrong(format!("kind {}, version {}", self.header.kind.0, self.header.version)));
        }
        let payload = self.payload()?;
        PayloadReader::new(&payload).and_then(|p| ObjectColumns::decode(&p)).map_err(|found| self.wrong(found))
    }
}
