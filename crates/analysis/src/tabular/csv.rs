//! A table as CSV (RFC 4180): a line of column ids, then the rows, with plain numbers.

use super::{Cell, CellKind, RowSource};
use memory_city_heap::progress::Progress;
use std::io::{self, Write};

/// Writes a table. Nested tables begin with a column `depth`, tables with several kinds of rows with a column `kind`; a
/// column of nodes is two: the display name, and the key under the id with `_key` behind it.
///
/// # Errors
/// When `out` takes no more, or the work was cancelled ([`io::ErrorKind::Interrupted`] is what that reads as).
pub fn write_csv(table: &dyn RowSource, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let header = table.header();
    let mut writer = csv::Writer::from_writer(out);
    let mut record: Vec<String> = Vec::new();
    record.extend(header.nested.then(|| "depth".to_owned()));
    record.extend((!header.kinds.is_empty()).then(|| "kind".to_owned()));
    for column in &header.columns {
        record.push(column.id.clone());
        record.extend((column.kind == CellKind::Node).then(|| format!("{}_key", column.id)));
    }
    writer.write_record(&record)?;
    for i in 0..table.len() {
        super::text::check(i, progress)?;
        let row = table.row(i);
        record.clear();
        record.extend(header.nested.then(|| row.depth.to_string()));
        record.extend(header.kinds.get(row.kind).map(|kind| kind.id.clone()));
        for (column, cell) in header.columns.iter().zip(&row.cells) {
            if column.kind == CellKind::Node {
                record.push(match cell {
                    Cell::Node(link) => link.name.clone(),
                    _ => String::new(),
                });
            }
            record.push(cell.plain());
        }
        writer.write_record(&record)?;
    }
    writer.flush()
}
