//! Rows: the content of chunks, kind by kind. Each field is a column, whose number is never used for another field. A column that a file
//! lacks reads as zero, none, or empty.

use crate::chunk::ChunkKind;
use crate::columns::{ColumnReader, ColumnWriter, Encoding, PayloadReader, PayloadWriter};
use crate::varint::{unzigzag, zigzag};

mod events;
mod tables;
mod walks;

pub use events::{
    CohortRow, CollectionKind, CountRow, DeathRow, EndRow, FOLLOWED_ONE_IN, GcRow, GcScope, LossReason, LossRow,
    OldSamplesRow, RunRow, SampleRow, SettingRow, WEIGHT_ONE,
};
pub use tables::{ClassRow, FieldRow, FrameRow, LoaderRow, MethodRow, OriginRow, StringRow, ThreadRow};
pub use walks::{
    ObjectNaming, ReferentStrength, WalkEndRow, WalkIdentityRow, WalkInferredRow, WalkMirrorRow, WalkReferenceRow,
    WalkReferentRow, WalkRootRow, WalkSampleRow, WalkStartRow,
};

/// Rows, and the skipped columns of the chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<R> {
    /// The rows.
    pub rows: Vec<R>,
    /// Columns of a later version.
    pub unknown_columns: u32,
}

/// A row of one kind of chunk.
pub trait TraceRow: Sized + Clone + Default + private::SealedRow {
    /// The kind.
    const KIND: ChunkKind;

    /// Typical bytes in a chunk, at most.
    #[doc(hidden)]
    fn heft(&self) -> usize;

    #[doc(hidden)]
    fn encode(rows: &[Self], payload: &mut private::Payload);

    #[doc(hidden)]
    fn decode(payload: &private::Parts<'_>) -> Result<Decoded<Self>, String>;

    #[cfg(test)]
    #[doc(hidden)]
    fn draw(draws: &mut Draws) -> Self;

    /// The text for docs/trace-format.md.
    #[cfg(test)]
    #[doc(hidden)]
    fn page() -> String;
}

/// Numbers for tests that fill any row.
#[cfg(test)]
pub struct Draws(pub(crate) u64);

#[cfg(test)]
impl Draws {
    /// A number of few bits more often than of many.
    pub(crate) fn number(&mut self) -> u64 {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.0 ^ self.0 >> 29
        };
        let bits = next() % 64;
        next() >> bits
    }
}

/// Only the rows of this crate are rows.
pub(crate) mod private {
    pub use crate::columns::{PayloadReader as Parts, PayloadWriter as Payload};

    pub trait SealedRow {}
}

/// A type that fields may have.
trait RowField: Sized {
    fn put(&self, column: &mut ColumnWriter<'_>);
    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String>;

    /// Most bytes.
    fn heft(&self) -> usize {
        10
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self;
}

impl RowField for u64 {
    #[inline]
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.number(*self);
    }

    #[inline]
    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        column.number()
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        draws.number()
    }
}

impl RowField for u32 {
    #[inline]
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.number(u64::from(*self));
    }

    #[inline]
    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        column.small()
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        draws.number() as u32
    }
}

/// Small numbers are short, whatever their sign.
impl RowField for i64 {
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.number(zigzag(*self as u64));
    }

    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        Ok(unzigzag(column.number()?) as i64)
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        draws.number() as i64
    }
}

impl RowField for bool {
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.number(u64::from(*self));
    }

    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        Ok(column.number()? != 0)
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        draws.number() % 2 == 1
    }
}

/// None is 0, and every number is stored plus one. The largest number reads as none.
impl RowField for Option<u64> {
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.number(self.map_or(0, |v| v.wrapping_add(1)));
    }

    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        Ok(column.number()?.checked_sub(1))
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        Some(draws.number()).filter(|v| v % 3 != 0 && *v != u64::MAX)
    }
}

impl RowField for Option<u32> {
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.number(self.map_or(0, |v| u64::from(v) + 1));
    }

    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        match column.number()?.checked_sub(1) {
            None => Ok(None),
            Some(v) => {
                u32::try_from(v).map(Some).map_err(|_| format!("the number {v} where at most 32 bits should be"))
            }
        }
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        Some(draws.number() as u32).filter(|v| v % 3 != 0)
    }
}

impl RowField for String {
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.text(self);
    }

    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        Ok(column.text()?.to_owned())
    }

    fn heft(&self) -> usize {
        self.len().min(crate::columns::LONGEST_TEXT) + 3
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        let length = draws.number() % 20;
        (0..length).filter_map(|_| char::from_u32(draws.number() as u32 % 0x300)).collect()
    }
}

impl RowField for Vec<u64> {
    fn put(&self, column: &mut ColumnWriter<'_>) {
        column.list(self);
    }

    fn take(column: &mut ColumnReader<'_>) -> Result<Self, String> {
        column.list()
    }

    fn heft(&self) -> usize {
        10 * self.len() + 10
    }

    #[cfg(test)]
    fn draw(draws: &mut Draws) -> Self {
        let length = draws.number() % 20;
        (0..length).map(|_| draws.number()).collect()
    }
}

/// Declares an enumeration that is written as a number; a number of a later version reads as the first.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $number:literal $title:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            #[default]
            $($(#[$case_doc])* $case = $number),+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$case),+];

            /// For people.
            pub fn title(self) -> &'static str {
                match self {
                    $($name::$case => $title),+
                }
            }
        }

        impl crate::rows::RowField for $name {
            fn put(&self, column: &mut crate::columns::ColumnWriter<'_>) {
                column.number(*self as u64);
            }

            fn take(column: &mut crate::columns::ColumnReader<'_>) -> Result<Self, String> {
                Ok(match column.number()? {
                    $($number => $name::$case,)+
                    _ => $name::default(),
                })
            }

            #[cfg(test)]
            fn draw(draws: &mut crate::rows::Draws) -> Self {
                $name::ALL[draws.number() as usize % $name::ALL.len()]
            }
        }
    };
}
use choices;

/// Declares a row: its kind, and its fields with number and encoding of their columns.
macro_rules! row {
    ($(#[doc = $doc:literal])* $name:ident in $kind:ident {
        $($(#[doc = $field_doc:literal])* $field:ident: $type:ty = $id:literal $encoding:ident),+ $(,)?
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $type),+
        }

        impl crate::rows::private::SealedRow for $name {}

        impl crate::rows::TraceRow for $name {
            const KIND: crate::chunk::ChunkKind = crate::chunk::ChunkKind::$kind;

            fn heft(&self) -> usize {
                0 $(+ crate::rows::RowField::heft(&self.$field))+
            }

            fn encode(rows: &[Self], payload: &mut crate::rows::private::Payload) {
                payload.begin(rows.len());
                $(crate::rows::put_column(payload, $id, crate::columns::Encoding::$encoding, rows, |row| &row.$field);)+
            }

            fn decode(payload: &crate::rows::private::Parts<'_>) -> Result<crate::rows::Decoded<Self>, String> {
                let mut rows = vec![<$name>::default(); payload.rows];
                $(crate::rows::take_column(payload, $id, &mut rows, |row| &mut row.$field)?;)+
                Ok(crate::rows::Decoded { rows, unknown_columns: payload.unknown(&[$($id),+]) })
            }

            #[cfg(test)]
            fn draw(draws: &mut crate::rows::Draws) -> Self {
                $name { $($field: crate::rows::RowField::draw(draws)),+ }
            }

            #[cfg(test)]
            fn page() -> String {
                let mut page = concat!($($doc),*).trim().to_owned();
                page.push_str("\n\n| column | | encoding | |\n|---|---|---|---|\n");
                $(page.push_str(&format!(
                    "| {} | `{}`{} | {} | {} |\n",
                    $id,
                    stringify!($field),
                    if stringify!($type).starts_with("Option") { "?" } else { "" },
                    stringify!($encoding),
                    concat!($($field_doc),*).trim(),
                ));)+
                page
            }
        }
    };
}
use row;

fn put_column<R, T: RowField>(
    payload: &mut PayloadWriter,
    id: u8,
    encoding: Encoding,
    rows: &[R],
    field: impl Fn(&R) -> &T,
) {
    payload.column(id, encoding, |out| {
        let mut column = ColumnWriter::new(out, encoding);
        rows.iter().for_each(|row| field(row).put(&mut column));
    });
}

fn take_column<R, T: RowField>(
    payload: &PayloadReader<'_>,
    id: u8,
    rows: &mut [R],
    field: impl Fn(&mut R) -> &mut T,
) -> Result<(), String> {
    let mut column = payload.column(id);
    for row in rows {
        *field(row) = T::take(&mut column)?;
    }
    column.end()
}
