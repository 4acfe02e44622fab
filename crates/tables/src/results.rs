//! Rows of analyses: each table of theirs that is worth a file, with the columns that it has everywhere else.

use crate::file::{TableCell, TableFile};
use crate::folder::TablesFolder;
use crate::schema::ColumnKind;
use memory_city_analysis::analyses::{AnalysisRegistry, Arguments, TimeWindow, all_rows, run};
use memory_city_analysis::tabular::{Cell, CellKind, ResultTable};
use memory_city_analysis::timeline::Source;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

/// A table of an analysis. The folder has the name of the analysis.
struct AnalysisTable {
    analysis: &'static str,
    table: &'static str,
    arguments: &'static [(&'static str, &'static str)],
}

const RESULTS: [AnalysisTable; 5] = [
    AnalysisTable { analysis: "growth", table: "growing", arguments: &[("keepers", "no")] },
    AnalysisTable { analysis: "leak", table: "leaks", arguments: &[] },
    AnalysisTable { analysis: "structures", table: "structures", arguments: &[] },
    AnalysisTable { analysis: "generations", table: "generations", arguments: &[] },
    AnalysisTable { analysis: "threads", table: "threads", arguments: &[] },
];

/// The names of these tables.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RESULTS.iter().map(|of| of.analysis)
}

/// Most rows of one of these tables.
const MOST: usize = 100_000;

pub(crate) fn write(source: &Source, folder: &mut TablesFolder<'_>, progress: &Progress) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    let registry = AnalysisRegistry::built_in();
    let window = TimeWindow { from: 0, to: source.timeline().times().saturating_sub(1) };
    for AnalysisTable { analysis: id, table: of, arguments: given } in RESULTS {
        let analysis = registry.get(id)?;
        let description = analysis.describe();
        if let Err(reason) = description.check(source, window) {
            left_out.push(format!("table {id}: {reason}"));
            continue;
        }
        let most: Vec<(&str, String)> =
            all_rows(&description).map(|(name, most)| (name, smaller(most, MOST))).collect();
        let given = given.iter().copied().chain(most.iter().map(|(name, most)| (*name, &**most)));
        let arguments = Arguments::parse(&description, given)?;
        let found = match run(&*analysis, source, window, &arguments, progress) {
            Ok(found) => found,
            Err(Error::Unusable { what, .. }) => {
                left_out.push(format!("table {id}: {what}"));
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some(mut table) = found.tables.into_iter().find(|table| table.header.id == of) else {
            left_out.push(format!("table {id}: it was not found"));
            continue;
        };
        if table.hide_program_texts() {
            left_out.push(format!("table {id}: texts of the analysed program"));
        }
        if let Some((rows, what)) = table.left_out.as_ref().filter(|(rows, _)| *rows > 0) {
            left_out.push(format!("table {id}: {rows} {what}"));
        }
        let file = result(&table, folder, id)?;
        folder.add(id, file)?;
    }
    Ok(left_out)
}

fn smaller(most: String, limit: usize) -> String {
    most.parse::<usize>().map_or(most, |most| most.min(limit).to_string())
}

fn result(table: &ResultTable, folder: &TablesFolder<'_>, id: &str) -> Result<TableFile> {
    let columns = table.header.columns.iter();
    let columns = columns.map(|column| (&*column.id, kind(column.kind), &*column.explanation));
    let nested =
        table.header.nested.then_some(("depth", ColumnKind::Long, "A row belongs to the last one before it with less"));
    let kinds = (!table.header.kinds.is_empty()).then_some(("row_kind", ColumnKind::Text, "The kind of row"));
    let all: Vec<_> = columns.chain(nested).chain(kinds).collect();
    let mut file = TableFile::begin(folder.path(id, None), all, folder.request.readers)?;
    for row in &table.rows {
        let cells = row.cells.iter().zip(&table.header.columns).map(|(of, column)| cell(of, column.kind));
        let depth = nested.map(|_| row.depth.into());
        let row_kind = table.header.kinds.get(row.kind).map(|kind| TableCell::text(&kind.id));
        file.push(cells.chain(depth).chain(row_kind))?;
    }
    Ok(file)
}

fn kind(of: CellKind) -> ColumnKind {
    match of {
        CellKind::Number(_) | CellKind::Change(_) | CellKind::Time | CellKind::Uptime => ColumnKind::Long,
        CellKind::Percent => ColumnKind::Double,
        CellKind::Text | CellKind::Node | CellKind::Series(_) => ColumnKind::Text,
    }
}

/// A node is its key, which groups have too; a series is its numbers with commas between.
fn cell(of: &Cell, kind: CellKind) -> TableCell {
    match (of, kind) {
        (Cell::Text(text), CellKind::Text) => TableCell::some_text(text),
        (Cell::Node(node), CellKind::Node) => TableCell::text(&node.key),
        (Cell::Series(numbers), CellKind::Series(_)) => {
            let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
            TableCell::text(&numbers.join(","))
        }
        (Cell::Number(n), CellKind::Number(_) | CellKind::Change(_)) => TableCell::count(*n),
        (Cell::Time(n) | Cell::Number(n), CellKind::Time | CellKind::Uptime) => TableCell::count(*n),
        (Cell::Change(n), CellKind::Change(_)) => TableCell::Long(*n),
        (Cell::Percent(percent), CellKind::Percent) => TableCell::Double(*percent),
        _ => TableCell::Null,
    }
}
