//! The memory tree as a table: a row for each node, columns for each metric, growth, share and the trend over time. It can be sorted,
//! filtered, opened and closed. The command line prints it, the viewer scrolls through it.
//!
//! Numbers are columns by node; nothing is text until [`TreeTable::cell`] is asked for a row that is shown. Sorting and
//! filtering a million nodes takes tens of milliseconds, on all cores (`benches/table.rs`).
//!
//! | module | does |
//! |---|---|
//! | `columns` | the columns, and the number of a node in each |
//! | [`Filter`], `parse`, `evaluate` | filters of nodes: `bytes > 1MB and growth > 20%` |
//! | `view` | the visible rows, and their order |
//!
//! # Example
//! ```
//! use memory_city_analysis::analyses::TimeWindow;
//! use memory_city_analysis::table::{Arrangement, Expanded, TableShape, TreeTable};
//! # use memory_city_analysis::group::MemoryTree;
//! # use memory_city_analysis::timeline::{Amount, Metric, TimePoint, Timeline};
//! # use memory_city_heap::progress::Progress;
//! # let tree = |n: u64| {
//! #     let mut tree = MemoryTree::new();
//! #     for (i, name) in ["A", "B", "C"].into_iter().enumerate() {
//! #         let node = tree.child(0, &"Type".into(), &name.into()) as u32;
//! #         tree.add_up(&[node], Amount { objects: n * i as u64, bytes: 100 });
//! #     }
//! #     tree
//! # };
//! # let timeline = Timeline::from_trees(vec![TimePoint::default(); 2], &[tree(1), tree(2)]).into();
//! let table = TreeTable::new(timeline, None, Metric::Objects, &Progress::new())?;
//! let arrangement = Arrangement {
//!     sort: Some(table.sort("growth_objects", true)?),
//!     filter: Some(table.filter("growth >= 100% and name ~ 'c'").expect("a filter")),
//!     shape: TableShape::Tree,
//!     expanded: Expanded::All,
//!     ..Arrangement::default()
//! };
//! let view = table.rebuild(&arrangement, &Progress::new())?;
//! let names: Vec<&str> = view.rows.iter().map(|&node| table.timeline().name(node)).collect();
//! assert_eq!((names, view.matched), (vec!["Heap", "C"], 1));
//! # Ok::<(), memory_city_heap::error::Error>(())
//! ```

mod columns;
mod evaluate;
mod filter;
mod parse;
#[cfg(test)]
mod tests;
mod view;

pub use crate::grammar::FilterComparison;
pub use crate::units::parse_bytes;
pub use filter::{Filter, Matching, Quantity};
pub(crate) use parse::parse as parse_filter;
pub use parse::{FilterColumn, FilterError};
pub use view::{Arrangement, Expanded, Sort, TableRows, TableShape, TableView};

use crate::analyses::TimeWindow;
use crate::tabular::{Cell, Column};
use crate::timeline::{Metric, NodeId, Timeline};
use columns::TableField;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rayon::prelude::*;
use std::sync::Arc;

/// A timeline as columns of numbers by node.
pub struct TreeTable {
    timeline: Arc<Timeline>,
    window: TimeWindow,
    metrics: Vec<Metric>,
    /// The metric of share, trend and relative growth, by its place among the metrics.
    metric: usize,
    /// By metric, then by node: the value at the first time.
    first: Vec<Vec<u64>>,
    /// The same at the last time.
    last: Vec<Vec<u64>>,
    columns: Vec<Column>,
    fields: Vec<TableField>,
    asked: Vec<FilterColumn>,
    asked_fields: Vec<TableField>,
}

impl TreeTable {
    /// The table of a timeline over a range of times (all by default). Share, trend and growth in percent are those of `metric`. Takes 16
    /// bytes for each node and metric.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn new(
        timeline: Arc<Timeline>,
        window: Option<TimeWindow>,
        metric: Metric,
        progress: &Progress,
    ) -> Result<TreeTable> {
        let window = window.unwrap_or_else(|| TimeWindow::whole(&timeline));
        let metrics: Vec<Metric> = timeline.metrics().collect();
        let metric = metrics.iter().position(|m| *m == metric).unwrap_or_default();
        progress.begin("Making the table", 2 * (metrics.len() * timeline.len()) as u64);
        let values = |time: usize| -> Result<Vec<Vec<u64>>> {
            metrics.iter().map(|&metric| column(&timeline, time, metric, progress)).collect()
        };
        let (first, last) = (values(window.from)?, values(window.to)?);
        let (columns, asked) = columns::describe(&timeline, metric);
        let (columns, fields) = columns.into_iter().unzip();
        let (asked, asked_fields) = asked.into_iter().unzip();
        Ok(TreeTable { timeline, window, metrics, metric, first, last, columns, fields, asked, asked_fields })
    }

    /// The timeline.
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// The times it is about.
    pub fn window(&self) -> TimeWindow {
        self.window
    }

    /// The columns. The first is the name.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns that filters can use: all but the trend, and some more.
    pub fn filter_columns(&self) -> &[FilterColumn] {
        &self.asked
    }

    /// The cell of a row and column, built on demand for rows on screen.
    ///
    /// # Panics
    /// When there is no such node or column.
    pub fn cell(&self, node: NodeId, column: usize) -> Cell {
        self.cell_of(node, self.fields[column])
    }

    /// Reads a filter.
    ///
    /// # Errors
    /// When it is none; the error has the place, and the words allowed there.
    pub fn filter(&self, text: &str) -> std::result::Result<Filter, FilterError> {
        parse::parse(text, &self.asked)
    }

    /// The order of a column by its id; `growth` is that of the chosen metric.
    ///
    /// # Errors
    /// When there is no such column; says which there are.
    pub fn sort(&self, column: &str, descending: bool) -> Result<Sort> {
        let field = self.field(column).filter(|field| *field != TableField::Path);
        let field = field.ok_or_else(|| {
            let known = self.asked.iter().zip(&self.asked_fields).filter(|(_, f)| **f != TableField::Path);
            let known: Vec<&str> = known.map(|(c, _)| c.id.as_str()).collect();
            Error::Unusable {
                what: format!("There is no column {column} to sort by"),
                remedy: format!("Use one of: {}", known.join(", ")),
            }
        })?;
        Ok(Sort { field, descending })
    }

    /// The field of a column by its id.
    fn field(&self, id: &str) -> Option<TableField> {
        let shown = self.columns.iter().position(|c| c.id == id).map(|i| self.fields[i]);
        shown.or_else(|| self.asked.iter().position(|c| c.id == id).map(|i| self.asked_fields[i]))
    }
}

/// Nodes a task looks at between two looks at the clock.
const RUN: usize = 1 << 14;

/// The values of all nodes at a time.
fn column(timeline: &Timeline, time: usize, metric: Metric, progress: &Progress) -> Result<Vec<u64>> {
    let mut values = vec![0; timeline.len()];
    values.par_chunks_mut(RUN).enumerate().try_for_each(|(run, values)| {
        progress.check()?;
        for (i, value) in values.iter_mut().enumerate() {
            *value = timeline.value(time, NodeId((run * RUN + i) as u32), metric);
        }
        progress.advance(values.len() as u64);
        Ok(())
    })?;
    Ok(values)
}
