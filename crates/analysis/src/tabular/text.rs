//! A table as text: in columns where rows are alike, as sentences where they are of several kinds.

use super::{Cell, CellKind, Column, Row, RowSource, TableHeader};
use memory_city_heap::progress::Progress;
use std::io::{self, Write};

/// Writes the title of a table, its rows, and how many are not listed.
///
/// # Errors
/// As [`write_csv`](super::write_csv).
pub fn write_text(table: &dyn RowSource, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let header = table.header();
    let (title, rest) = header.title.split_once(" (").map_or((&*header.title, None), |(t, r)| (t, Some(r)));
    match rest {
        Some(rest) => writeln!(out, "{}  ({rest}", title.to_uppercase())?,
        None => writeln!(out, "{}", title.to_uppercase())?,
    }
    if table.is_empty() {
        writeln!(out, "  {}", table.empty_text())?;
    } else if header.kinds.is_empty() {
        grid(table, out, progress)?;
    } else {
        sentences(table, out, progress)?;
    }
    match table.left_out() {
        Some((rows, what)) if rows > 0 => writeln!(out, "  and {} more {what}", super::count_text(rows)),
        _ => Ok(()),
    }
}

/// Names come from files: one with a line break would look like two rows, one with an escape sequence would speak to
/// the terminal.
fn printable(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c.is_control() {
            true => safe.extend(c.escape_default()),
            false => safe.push(c),
        }
    }
    safe
}

/// A look at whether the work was cancelled, now and then.
pub(super) fn check(row: usize, progress: &Progress) -> io::Result<()> {
    if row.is_multiple_of(1 << 10) && progress.check().is_err() {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled"));
    }
    Ok(())
}

/// Columns as wide as their widest cell. In nested tables the first column stands last, indented: names are long.
fn grid(table: &dyn RowSource, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let header = table.header();
    let columns = &header.columns;
    let mut order: Vec<usize> = (0..columns.len()).collect();
    if header.nested && !order.is_empty() {
        order.rotate_left(1);
    }
    let mut width: Vec<usize> = columns.iter().map(|c| c.title.chars().count()).collect();
    for i in 0..table.len() {
        check(i, progress)?;
        for ((width, column), cell) in width.iter_mut().zip(columns).zip(&table.row(i).cells) {
            *width = (*width).max(printable(cell.text(column.kind)).chars().count());
        }
    }
    let numbered = digits(table.len());
    let mut line = String::new();
    let mut write_line = |number: &str, depth: u32, cell: &dyn Fn(usize) -> String| {
        line.clear();
        line.push_str(&format!("  {number:>numbered$}"));
        for (i, &at) in order.iter().enumerate() {
            let (text, width) = (cell(at), width[at]);
            line.push_str("  ");
            if header.nested && i + 1 == order.len() {
                line.extend(std::iter::repeat_n("  ", depth as usize));
            }
            match columns[at].kind.is_numeric() {
                true => line.push_str(&format!("{text:>width$}")),
                false => line.push_str(&format!("{text:<width$}")),
            }
        }
        writeln!(out, "{}", line.trim_end())
    };
    write_line("#", 0, &|at| columns[at].title.clone())?;
    for i in 0..table.len() {
        check(i, progress)?;
        let row = table.row(i);
        write_line(&(i + 1).to_string(), row.depth, &|at| printable(row.cells[at].text(columns[at].kind)))?;
    }
    Ok(())
}

fn digits(n: usize) -> usize {
    n.to_string().len().max(4)
}

/// One sentence for each row; those that lie deepest least are numbered.
fn sentences(table: &dyn RowSource, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let header = table.header();
    let mut number = 0;
    for i in 0..table.len() {
        check(i, progress)?;
        let row = table.row(i);
        let text = sentence(header, &row);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let indent = 6 + 2 * (row.depth as usize).saturating_sub(1);
        if row.depth == 0 {
            number += 1;
            writeln!(out, "  {number:>2}. {first}")?;
        } else {
            writeln!(out, "{:indent$}{first}", "")?;
        }
        for line in lines {
            writeln!(out, "{:indent$}{line}", "")?;
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
        (Cell::Node(link), Column { kind: CellKind::Node, .. }) if id != place => printable(link.path.clone()),
        (cell, column) => printable(cell.text(column.kind)),
    }
}
