//! The registry of analyses, by name.

use super::interface::Analysis;
use memory_city_heap::error::{Error, Result};
use std::sync::Arc;

/// Analyses by id, in the order in which they are offered.
///
/// # Example
/// A program adds one of its own.
/// ```
/// use memory_city_analysis::analyses::{Analysis, Arguments, Description, Findings, AnalysisRegistry, TimeWindow};
/// use memory_city_analysis::tabular::{Cell, CellKind, Column, TableHeader, ResultTable, Row};
/// use memory_city_analysis::timeline::{Source, Unit};
/// use memory_city_heap::error::Result;
/// use memory_city_heap::progress::Progress;
///
/// struct Groups;
///
/// impl Analysis for Groups {
///     fn describe(&self) -> Description {
///         let explanation = "How many groups there are, buildings and districts.";
///         Description { id: "groups", title: "Groups", explanation, needs: &[], parameters: vec![] }
///     }
///
///     fn run(&self, document: &Source, _: TimeWindow, _: &Arguments, _: &Progress) -> Result<Findings> {
///         let kind = CellKind::Number(Unit::Count);
///         let columns = vec![Column::new("groups", "Groups", kind, "How many there are")];
///         let header = TableHeader { id: "groups".into(), title: "Groups".into(), columns, ..TableHeader::default() };
///         let cells = vec![Cell::Number(document.timeline().len() as u64)];
///         let rows = vec![Row { cells, ..Row::default() }];
///         Ok(Findings { tables: vec![ResultTable { header, rows, ..Default::default() }], ..Findings::default() })
///     }
/// }
///
/// let mut registry = AnalysisRegistry::built_in();
/// registry.register(Box::new(Groups))?;
/// assert_eq!(registry.get("groups")?.describe().title, "Groups");
/// # Ok::<(), memory_city_heap::error::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct AnalysisRegistry(Vec<Arc<dyn Analysis>>);

impl AnalysisRegistry {
    /// The analyses of this crate.
    pub fn built_in() -> AnalysisRegistry {
        AnalysisRegistry(super::built_in().into_iter().map(Arc::from).collect())
    }

    /// Adds one.
    ///
    /// # Errors
    /// When there is one of that id.
    pub fn register(&mut self, analysis: Box<dyn Analysis>) -> Result<()> {
        let id = analysis.describe().id;
        if self.iter().any(|other| other.describe().id == id) {
            return Err(Error::Unusable {
                what: format!("There is an analysis {id} already"),
                remedy: "Choose another id".into(),
            });
        }
        self.0.push(Arc::from(analysis));
        Ok(())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Analysis>> {
        self.0.iter()
    }

    /// The one of an id.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub fn get(&self, id: &str) -> Result<Arc<dyn Analysis>> {
        self.iter().find(|analysis| analysis.describe().id == id).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.iter().map(|a| a.describe().id).collect();
            Error::Unusable {
                what: format!("There is no analysis {id}"),
                remedy: format!("Use one of: {}. `memory-city analyse --list` explains them", known.join(", ")),
            }
        })
    }
}
