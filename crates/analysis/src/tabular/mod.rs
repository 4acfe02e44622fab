//! Tables: rows of typed cells under described columns, the one form in which results leave this crate. They are written as text, JSON and
//! CSV. A panel that shows a table needs only [`TableHeader`], [`RowSource`] and [`Cell::text`].
//!
//! | module | does |
//! |---|---|
//! | `cell` | the content of a cell, and its text |
//! | `numbers` | texts of numbers and times |
//! | `text`, `json`, `csv` | a whole table, row by row: a million rows are never held as text |
//!
//! Nothing here knows the meaning of the rows.

mod cell;
mod csv;
mod json;
mod numbers;
mod text;

pub use cell::{Cell, CellKind, NodeLink, Unit, bars};
pub use csv::{CsvTexts, csv_text, write_csv};
pub use json::JsonTable;
pub use memory_city_heap::texts::{bytes_text, count_text, objects_text, several};
pub use numbers::{gc_kind_text, gc_kinds_explained, gc_name_text, gc_text, time_text, uptime_text};
pub use text::{TEXT_ROWS, write_text};

use std::borrow::Cow;

/// A column: its description, for people and for programs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Column {
    /// Name for programs, unique in its table: `growth_bytes`.
    pub id: String,
    /// Name for people: `Growth`.
    pub title: String,
    /// The kind and unit of its cells.
    #[serde(flatten)]
    pub kind: CellKind,
    /// Its meaning, a sentence.
    pub explanation: String,
    /// Whether its cells are texts that the analysed program held: secrets may be among them.
    #[serde(skip)]
    pub of_program: bool,
}

impl Column {
    /// A column from its parts.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        kind: CellKind,
        explanation: impl Into<String>,
    ) -> Self {
        Column { id: id.into(), title: title.into(), kind, explanation: explanation.into(), of_program: false }
    }

    /// A column of texts that the analysed program held.
    pub fn of_program(id: impl Into<String>, title: impl Into<String>, explanation: impl Into<String>) -> Self {
        Column { of_program: true, ..Column::new(id, title, CellKind::Text, explanation) }
    }
}

/// A kind of row, in tables whose rows are not all alike.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RowKind {
    /// Name for programs: `referrer`.
    pub id: String,
    /// The meaning of such a row, a sentence.
    pub explanation: String,
    /// How such a row reads as text: columns by id in braces are replaced by their cells, `{group.path}` by the whole path
    /// of a node. Lines after the first are indented.
    #[serde(skip)]
    pub sentence: String,
}

/// The description of a table, before its first row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableHeader {
    /// Name for programs, unique in a result: `growing`.
    pub id: String,
    /// Name for people, with the parameters: `Grows most (bytes, first to last)`.
    pub title: String,
    /// The columns. The first names the subject of the row.
    pub columns: Vec<Column>,
    /// The kinds of rows; empty where all rows are alike.
    pub kinds: Vec<RowKind>,
    /// Whether rows may lie below others ([`Row::depth`]).
    pub nested: bool,
}

impl TableHeader {
    /// The place of a column.
    pub fn column(&self, id: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.id == id)
    }
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Place of its kind in [`TableHeader::kinds`]; of no meaning where there are none.
    pub kind: usize,
    /// How deep it lies: it belongs to the last row before it that lies less deep.
    pub depth: u32,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// Anything that has rows: those that an analysis found, or the nodes of a tree, made when they are asked for.
pub trait RowSource {
    /// The description before the rows.
    fn header(&self) -> &TableHeader;
    /// The number of rows.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A row, by its place.
    fn row(&self, index: usize) -> Cow<'_, Row>;
    /// The number of unlisted rows, and their noun (`groups that grow`), for people.
    fn left_out(&self) -> Option<(u64, &str)> {
        None
    }
    /// Whether a wish for all rows lists those too.
    fn can_list_all(&self) -> bool {
        true
    }
    /// The text for a table without rows.
    fn empty_text(&self) -> &str {
        "Nothing."
    }
}

/// Rows that are all there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultTable {
    /// The description before the rows.
    pub header: TableHeader,
    /// The rows, each with one cell for each column.
    pub rows: Vec<Row>,
    /// The number of unlisted rows, and their noun.
    pub left_out: Option<(u64, String)>,
    /// The text for a table without rows.
    pub empty_text: String,
}

impl ResultTable {
    /// Empties the cells that hold texts of the analysed program. Whether any had one.
    pub fn hide_program_texts(&mut self) -> bool {
        let columns = &self.header.columns;
        let cells = self.rows.iter_mut().flat_map(|row| columns.iter().zip(&mut row.cells));
        let texts = cells.filter(|(column, cell)| column.of_program && **cell != Cell::Empty);
        texts.map(|(_, cell)| *cell = Cell::Empty).count() > 0
    }
}

impl RowSource for ResultTable {
    fn header(&self) -> &TableHeader {
        &self.header
    }
    fn len(&self) -> usize {
        self.rows.len()
    }
    fn row(&self, index: usize) -> Cow<'_, Row> {
        Cow::Borrowed(&self.rows[index])
    }
    fn left_out(&self) -> Option<(u64, &str)> {
        self.left_out.as_ref().map(|(n, what)| (*n, what.as_str()))
    }
    fn empty_text(&self) -> &str {
        &self.empty_text
    }
}
