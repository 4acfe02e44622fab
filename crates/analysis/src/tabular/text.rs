//! A table as text: in columns if rows are alike, as sentences if they are of several kinds.

use super::cell::{Cell, CellKind};
use super::{Column, Row, RowSource, TableHeader};
use memory_city_heap::printable::{cell_text, line_text};
use memory_city_heap::progress::Progress;
use std::io::{self, Write};

/// Rows of a table that a person reads, unless asked for more.
pub const TEXT_ROWS: usize = 200;

/// Writes the title of a table, its first `most` rows, and how many are not listed; of nested rows the first in the order of the table.
///
/// # Errors
/// As [`write_csv`](super::write_csv).
pub fn write_text(table: &dyn RowSource, most: usize, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let rows = table.len().min(most);
    let header = table.header();
    let title = line_text(&header.title);
    let (title, rest) = title.split_once(" (").map_or((&*title, None), |(t, r)| (t, Some(r)));
    match rest {
        Some(rest) => writeln!(out, "{}  ({rest}", title.to_uppercase())?,
        None => writeln!(out, "{}", title.to_uppercase())?,
    }
    if table.is_empty() {
        writeln!(out, "  {}", line_text(table.empty_text()))?;
    } else if header.kinds.is_empty() {
        grid(table, rows, out, progress)?;
    } else {
        sentences(table, rows, out, progress)?;
    }
    let cut = Some(((table.len() - rows) as u64, "rows")).filter(|(more, _)| *more > 0);
    let left_out = table.left_out().filter(|(more, _)| *more > 0);
    let more: Vec<(u64, &str)> = cut.into_iter().chain(left_out).collect();
    if more.is_empty() {
        return Ok(());
    }
    let can_list = most < usize::MAX && (cut.is_some() || table.can_list_all());
    let more: Vec<String> = more
        .into_iter()
        .map(|(more, what)| format!("and {} more {}", super::count_text(more), line_text(what)))
        .collect();
    writeln!(out, "  {}{}", more.join(", "), if can_list { " (--all lists them)" } else { "" })
}

/// A look at whether the work was cancelled, now and then.
pub(super) fn check(row: usize, progress: &Progress) -> io::Result<()> {
    if row.is_multiple_of(1 << 10) && progress.check().is_err() {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled"));
    }
    Ok(())
}

/// No column is made wider than this for its widest cell: one long name in a million rows would be a million times as long in blanks.
const MOST_PADDING: usize = 160;
/// Most levels that are indented; deeper rows show their depth as a number.
const MOST_INDENTED: usize = 60;

/// Puts a text into a column, with blanks at its left or its right.
fn push_padded(line: &mut String, text: &str, width: usize, at_right: bool) {
    let blanks = std::iter::repeat_n(' ', width.saturating_sub(text.chars().count()));
    if at_right {
        line.extend(blanks);
        line.push_str(text);
    } else {
        line.push_str(text);
        line.extend(blanks);
    }
}

/// The indent of a row that lies `depth` levels deep.
fn push_indent(line: &mut String, depth: usize) {
    line.extend(std::iter::repeat_n("  ", depth.min(MOST_INDENTED)));
    if depth > MOST_INDENTED {
        line.push_str(&format!("(level {depth}) "));
    }
}

/// Columns as wide as their widest cell, within bounds. In nested tables the first column stands last, indented: names are long.
fn grid(table: &dyn RowSource, rows: usize, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let header = table.header();
    let columns = &header.columns;
    let mut order: Vec<usize> = (0..columns.len()).collect();
    if header.nested && !order.is_empty() {
        order.rotate_left(1);
    }
    let titles: Vec<String> = columns.iter().map(|column| cell_text(&column.title)).collect();
    let mut width: Vec<usize> = titles.iter().map(|title| title.chars().count().min(MOST_PADDING)).collect();
    for i in 0..rows {
        check(i, progress)?;
        for ((width, column), cell) in width.iter_mut().zip(columns).zip(&table.row(i).cells) {
            let wide = cell_text(&cell.text(column.kind)).chars().count();
            *width = (*width).max(wide.min(MOST_PADDING));
        }
    }
    let numbered = digits(rows);
    let mut line = String::new();
    let mut write_line = |number: &str, depth: u32, cell: &dyn Fn(usize) -> String| {
        line.clear();
        line.push_str("  ");
        push_padded(&mut line, number, numbered, true);
        for (i, &at) in order.iter().enumerate() {
            line.push_str("  ");
            if header.nested && i + 1 == order.len() {
                push_indent(&mut line, depth as usize);
            }
            push_padded(&mut line, &cell(at), width[at], columns[at].kind.is_numeric());
        }
        writeln!(out, "{}", line.trim_end())
    };
    write_line("#", 0, &|at| titles[at].clone())?;
    for i in 0..rows {
        check(i, progress)?;
        let row = table.row(i);
        write_line(&(i + 1).to_string(), row.depth, &|at| cell_text(&row.cells[at].text(columns[at].kind)))?;
    }
    Ok(())
}

fn digits(n: usize) -> usize {
    n.to_string().len().max(4)
}

/// One sentence for each row; those that lie deepest least are numbered.
fn sentences(table: &dyn RowSource, rows: usize, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let header = table.header();
    let mut number = 0;
    for i in 0..rows {
        check(i, progress)?;
        let row = table.row(i);
        let text = sentence(header, &row);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let mut indent = "      ".to_owned();
        push_indent(&mut indent, (row.depth as usize).saturating_sub(1));
        if row.depth == 0 {
            number += 1;
            writeln!(out, "  {number:>2}. {first}")?;
        } else {
            writeln!(out, "{indent}{first}")?;
        }
        for line in lines {
            writeln!(out, "{indent}{line}")?;
        }
    }
    Ok(())
}

/// The sentence of a row.
fn sentence(header: &TableHeader, row: &Row) -> String {
    let mut text = String::new();
    let mut rest = header.kinds.get(row.kind).map_or("", |kind| kind.sentence.as_str());
    while let Some((before, after)) = rest.split_once('{') {
        let Some((place, after)) = after.split_once('}') else { break };
        text.push_str(before);
        text.push_str(&fill(header, row, place));
        rest = after;
    }
    text + rest
}

fn fill(header: &TableHeader, row: &Row, place: &str) -> String {
    let id = place.strip_suffix(".path").unwrap_or(place);
    let Some(at) = header.column(id) else { return format!("{{{place}}}") };
    match (&row.cells[at], &header.columns[at]) {
        (Cell::Node(link), Column { kind: CellKind::Node, .. }) if id != place => cell_text(&link.path),
        (cell, column) => cell_text(&cell.text(column.kind)),
    }
}
