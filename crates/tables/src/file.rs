//! A table while it is written, row by row. Memory: the rows of one batch, and the compressed pages of one row group.

use crate::schema::{ColumnKind, VERSION};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::unfinished::{FileReaders, Unfinished};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are given to the encoder together.
pub(crate) const BATCH: usize = 1 << 17;
/// Bytes of texts that are given to the encoder together: a column of them has room for 2 GiB.
const MOST_TEXT: usize = 64 << 20;
/// Rows of a row group.
const ROW_GROUP: usize = 1 << 20;

/// A cell.
#[derive(Clone, Debug)]
pub(crate) enum TableCell {
    Null,
    Long(i64),
    Double(f64),
    Flag(bool),
    Text(Arc<str>),
}

impl TableCell {
    /// A number without a sign; one that does not fit is the largest.
    pub(crate) fn count(n: u64) -> TableCell {
        TableCell::Long(i64::try_from(n).unwrap_or(i64::MAX))
    }

    /// The same, or null.
    pub(crate) fn counted(n: Option<u64>) -> TableCell {
        n.map_or(TableCell::Null, TableCell::count)
    }

    pub(crate) fn text(text: &str) -> TableCell {
        TableCell::Text(text.into())
    }

    /// A text; an empty one is null.
    pub(crate) fn some_text(text: &str) -> TableCell {
        if text.is_empty() { TableCell::Null } else { TableCell::text(text) }
    }
}

impl From<u32> for TableCell {
    fn from(n: u32) -> TableCell {
        TableCell::Long(n.into())
    }
}

enum ColumnCells {
    Long(Vec<Option<i64>>),
    Double(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    Text(Vec<Option<Arc<str>>>),
}

impl ColumnCells {
    fn new(kind: ColumnKind) -> ColumnCells {
        match kind {
            ColumnKind::Long => ColumnCells::Long(Vec::new()),
            ColumnKind::Double => ColumnCells::Double(Vec::new()),
            ColumnKind::Flag => ColumnCells::Flag(Vec::new()),
            ColumnKind::Text => ColumnCells::Text(Vec::new()),
        }
    }

    /// A cell of another kind is null: schemas and rows stand side by side.
    fn push(&mut self, cell: TableCell) {
        match (self, cell) {
            (ColumnCells::Long(all), TableCell::Long(n)) => all.push(Some(n)),
            (ColumnCells::Double(all), TableCell::Double(n)) => all.push(Some(n)),
            (ColumnCells::Flag(all), TableCell::Flag(is)) => all.push(Some(is)),
            (ColumnCells::Text(all), TableCell::Text(text)) => all.push(Some(text)),
            (ColumnCells::Long(all), cell) => all.push(none(&cell)),
            (ColumnCells::Double(all), cell) => all.push(none(&cell)),
            (ColumnCells::Flag(all), cell) => all.push(none(&cell)),
            (ColumnCells::Text(all), cell) => all.push(none(&cell)),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            ColumnCells::Long(all) => Arc::new(Int64Array::from(std::mem::take(all))),
            ColumnCells::Double(all) => Arc::new(Float64Array::from(std::mem::take(all))),
            ColumnCells::Flag(all) => Arc::new(BooleanArray::from(std::mem::take(all))),
            ColumnCells::Text(all) => Arc::new(std::mem::take(all).into_iter().collect::<StringArray>()),
        }
    }
}

fn none<T>(cell: &TableCell) -> Option<T> {
    debug_assert!(matches!(cell, TableCell::Null), "{cell:?} in a column of another kind");
    None
}

/// A file of a table.
pub(crate) struct TableFile {
    path: PathBuf,
    place: Unfinished,
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
    columns: Vec<ColumnCells>,
    batch: usize,
    /// Bytes of the texts of the batch.
    text_bytes: usize,
    rows: u64,
}

/// A complete file that has no name yet.
pub(crate) struct CompleteFile {
    pub path: PathBuf,
    pub place: Unfinished,
    pub rows: u64,
    pub bytes: u64,
}

impl TableFile {
    /// Begins a file of these columns: name, kind and meaning.
    pub(crate) fn begin<'c>(
        path: PathBuf,
        columns: impl IntoIterator<Item = (&'c str, ColumnKind, &'c str)>,
        readers: FileReaders,
    ) -> Result<TableFile> {
        let (mut fields, mut cells) = (Vec::new(), Vec::new());
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .set_created_by(format!("memory-city {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![KeyValue::new("memory-city.tables".to_owned(), VERSION.to_string())]));
        for (name, kind, about) in columns {
            let of = match kind {
                ColumnKind::Long => DataType::Int64,
                ColumnKind::Double => DataType::Float64,
                ColumnKind::Flag => DataType::Boolean,
                ColumnKind::Text => DataType::Utf8,
            };
            fields.push(Field::new(name, of, true).with_metadata([("about".to_owned(), about.to_owned())].into()));
            cells.push(ColumnCells::new(kind));
            if kind == ColumnKind::Long {
                // Numbers that follow each other: their distances are small.
                let column = ColumnPath::from(name);
                properties = properties
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let (file, place) = Unfinished::begin_for(&path, readers)?;
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties.build()));
        let writer = writer.map_err(|error| unwritten(&path, error))?;
        Ok(TableFile { path, place, schema, writer, columns: cells, batch: 0, text_bytes: 0, rows: 0 })
    }

    /// Adds a row: a cell for each column.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = TableCell>) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            if let TableCell::Text(text) = &cell {
                self.text_bytes += text.len();
            }
            column.push(cell);
        }
        self.batch += 1;
        if self.batch == BATCH || self.text_bytes >= MOST_TEXT { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let columns = self.columns.iter_mut().map(ColumnCells::take).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(ParquetError::from);
        let written = batch.and_then(|batch| self.writer.write(&batch));
        self.rows += std::mem::take(&mut self.batch) as u64;
        self.text_bytes = 0;
        written.map_err(|error| unwritten(&self.path, error))
    }

    /// Adds a text to the metadata, behind all names.
    pub(crate) fn describe(&mut self, key: &str, text: String) {
        self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), text));
    }

    pub(crate) fn finish(mut self) -> Result<CompleteFile> {
        if self.batch > 0 {
            self.write()?;
        }
        let TableFile { path, place, writer, rows, .. } = self;
        let bytes = writer.into_inner().and_then(|file| Ok(file.metadata()?.len()));
        let bytes = bytes.map_err(|error| unwritten(&path, error))?;
        Ok(CompleteFile { path, place, rows, bytes })
    }
}

/// A full disk is the system's error; all else is a defect.
fn unwritten(path: &Path, error: ParquetError) -> Error {
    let what = match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => return Error::io(path, *error),
            Err(other) => other.to_string(),
        },
        other => other.to_string(),
    };
    Error::Unusable { what: format!("{} cannot be written: {what}", path.display()), remedy: String::new() }
}
