//! The analyses there are, by name.

use super::Analysis;
use memory_city_heap::error::{Error, Result};
use std::sync::Arc;

/// Analyses by id, in the order in which they are offered.
#[derive(Clone, Default)]
pub struct Registry(Vec<Arc<dyn Analysis>>);

impl Registry {
    /// Those that come with this crate.
    pub fn built_in() -> Registry {
        Registry(super::built_in().into_iter().map(Arc::from).collect())
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
