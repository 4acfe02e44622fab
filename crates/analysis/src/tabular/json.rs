//! A table as JSON, row by row.

use super::cell::Cell;
use super::{Column, Row, RowSource};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

/// A table that serializes as `docs/report-json.md` says: its description, then a flat list of rows, each with its depth.
/// Flat, because trees nest deeper than JSON readers go.
pub struct JsonTable<'a>(pub &'a dyn RowSource);

/// The cells of a row by the ids of their columns; those that are empty are left out.
struct CellsById<'a>(&'a [Column], &'a [Cell]);

impl Serialize for CellsById<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (column, cell) in self.0.iter().zip(self.1).filter(|(_, cell)| **cell != Cell::Empty) {
            map.serialize_entry(&column.id, cell)?;
        }
        map.end()
    }
}

struct Rows<'a>(&'a dyn RowSource);

struct JsonRow<'a>(&'a dyn RowSource, &'a Row);

#[derive(serde::Serialize)]
struct LeftOut<'a> {
    rows: u64,
    what: &'a str,
}

impl Serialize for JsonTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let header = self.0.header();
        let mut fields = serializer.serialize_struct("Table", 6)?;
        fields.serialize_field("id", &header.id)?;
        fields.serialize_field("title", &header.title)?;
        fields.serialize_field("columns", &header.columns)?;
        if !header.kinds.is_empty() {
            fields.serialize_field("kinds", &header.kinds)?;
        }
        fields.serialize_field("rows", &Rows(self.0))?;
        fields.serialize_field("left_out", &self.0.left_out().map(|(rows, what)| LeftOut { rows, what }))?;
        fields.end()
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.len()))?;
        for i in 0..self.0.len() {
            rows.serialize_element(&JsonRow(self.0, &self.0.row(i)))?;
        }
        rows.end()
    }
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (header, row) = (self.0.header(), self.1);
        let mut fields = serializer.serialize_struct("Row", 3)?;
        if header.nested {
            fields.serialize_field("depth", &row.depth)?;
        }
        if let Some(kind) = header.kinds.get(row.kind) {
            fields.serialize_field("kind", &kind.id)?;
        }
        fields.serialize_field("values", &CellsById(&header.columns, &row.cells))?;
        fields.end()
    }
}
