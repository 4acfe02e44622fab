//! A table as CSV (RFC 4180): a line of column ids, then the rows, with plain numbers.

use super::RowSource;
use super::cell::{Cell, CellKind};
use memory_city_heap::printable::printable;
use memory_city_heap::progress::Progress;
use std::borrow::Cow;
use std::io::{self, Write};

/// How texts are written in cells. Control characters are escaped in either, and numbers are as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvTexts {
    /// Texts that a spreadsheet would compute begin with an apostrophe.
    #[default]
    Harmless,
    /// As they are.
    Raw,
}

/// A text as a cell. Names come from files, and spreadsheets compute a text that begins with `=`, `+`, `-` or `@`, also behind blanks and
/// in the width of East Asian letters. A leading tab or carriage return becomes a backslash when it is escaped. In many countries
/// spreadsheets split at semicolons, so that the same holds behind each.
pub fn csv_text(text: &str, texts: CsvTexts) -> Cow<'_, str> {
    let text = printable(text);
    let computes = |part: &str| part.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if texts == CsvTexts::Raw || !text.split(';').any(computes) {
        return text;
    }
    let parts: Vec<Cow<'_, str>> =
        text.split(';').map(|part| if computes(part) { format!("'{part}").into() } else { part.into() }).collect();
    parts.join(";").into()
}

/// Writes a table. Nested tables begin with a column `depth`, tables with several kinds of rows with a column `kind`. A column of nodes
/// becomes two: the display name, and the key under the id with the suffix `_key`.
///
/// # Errors
/// When `out` takes no more, or the work was cancelled ([`io::ErrorKind::Interrupted`]).
pub fn write_csv(table: &dyn RowSource, texts: CsvTexts, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let header = table.header();
    let text = |text: &str| csv_text(text, texts).into_owned();
    let mut writer = csv::Writer::from_writer(out);
    let mut record: Vec<String> = Vec::new();
    record.extend(header.nested.then(|| "depth".to_owned()));
    record.extend((!header.kinds.is_empty()).then(|| "kind".to_owned()));
    for column in &header.columns {
        record.push(text(&column.id));
        record.extend((column.kind == CellKind::Node).then(|| text(&format!("{}_key", column.id))));
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
                    Cell::Node(link) => text(&link.name),
                    _ => String::new(),
                });
            }
            record.push(match cell {
                Cell::Text(_) | Cell::Node(_) => text(&cell.plain()),
                _ => cell.plain(),
            });
        }
        writer.write_record(&record)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tabular::{Column, ResultTable, Row, TableHeader};
    use crate::timeline::Unit;

    #[test]
    fn what_a_spreadsheet_would_compute_is_text() {
        for (name, harmless, raw) in [
            ("a.B", "a.B", "a.B"),
            ("=1+2", "'=1+2", "=1+2"),
            ("a; =1+2;b", "a;' =1+2;b", "a; =1+2;b"),
            ("+a", "'+a", "+a"),
            ("-a", "'-a", "-a"),
            ("@SUM(A1)", "'@SUM(A1)", "@SUM(A1)"),
            (" =1", "' =1", " =1"),
            ("＝1", "'＝1", "＝1"),
            ("\t=1", "\\t=1", "\\t=1"),
            ("\r=1", "\\r=1", "\\r=1"),
            ("a\n=1", "a\\n=1", "a\\n=1"),
            ("", "", ""),
        ] {
            assert_eq!(csv_text(name, CsvTexts::Harmless), harmless, "{name:?}");
            assert_eq!(csv_text(name, CsvTexts::Raw), raw, "{name:?}");
        }
    }

    #[test]
    fn numbers_stay_numbers() {
        let columns = vec![
            Column::new("name", "Name", CellKind::Text, ""),
            Column::new("growth", "Growth", CellKind::Change(Unit::Bytes), ""),
            Column::new("percent", "Percent", CellKind::Percent, ""),
        ];
        let row = |name: &str| Row {
            cells: vec![Cell::Text(name.into()), Cell::Change(-5), Cell::Percent(-1.5)],
            ..Row::default()
        };
        let header = TableHeader { id: "t".into(), columns, ..TableHeader::default() };
        let table = ResultTable { header, rows: vec![row("-x"), row("=cmd|' /C calc'!A0")], ..ResultTable::default() };
        let written = |texts| {
            let mut out = Vec::new();
            write_csv(&table, texts, &mut out, &Progress::new()).expect("written");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(written(CsvTexts::Harmless), "name,growth,percent\n'-x,-5,-1.5\n'=cmd|' /C calc'!A0,-5,-1.5\n");
        assert_eq!(written(CsvTexts::Raw), "name,growth,percent\n-x,-5,-1.5\n=cmd|' /C calc'!A0,-5,-1.5\n");
    }
}
