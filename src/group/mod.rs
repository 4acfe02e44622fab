//! From a heap state to a memory tree: classifiers, applied one after the other, and multi-level grouping.
//!
//! A [`Classifier`] says what an object is in one respect. A [`Grouping`] is a named list of them; [`group`] applies it
//! to a heap state. Nothing here knows time or files. New classifiers are small files beside [`types`].

mod classifier;
mod grouped;
mod tree;
pub mod types;

pub use classifier::{Cardinality, Classifier, ClassifierMeta, Values};
pub use grouped::{Grouped, group};
pub use tree::MemoryTree;

use std::sync::{Arc, LazyLock};

/// What is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct GroupOptions {
    /// Objects that no root reaches are grouped too.
    pub include_unreachable: bool,
}

/// A named list of classifiers.
#[derive(Clone)]
pub struct Grouping {
    /// Short name for command lines and files.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// What it shows, a line.
    pub description: String,
    /// Applied in this order.
    pub classifiers: Vec<Arc<dyn Classifier>>,
}

impl std::fmt::Debug for Grouping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grouping").field("id", &self.id).finish_non_exhaustive()
    }
}

/// All classifiers there are.
pub fn classifiers() -> Vec<Arc<dyn Classifier>> {
    vec![
        Arc::new(types::Type::full()),
        Arc::new(types::Package::new()),
        Arc::new(types::Loader::new()),
        Arc::new(types::Kind::new()),
    ]
}

/// The groupings offered, the default first.
pub fn groupings() -> &'static [Grouping] {
    static ALL: LazyLock<Vec<Grouping>> = LazyLock::new(|| {
        let make = |id: &str, title: &str, description: &str, classifiers: Vec<Arc<dyn Classifier>>| Grouping {
            id: id.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            classifiers,
        };
        vec![
            make(
                "package-type",
                "Package › Type",
                "Packages are nested districts, types are buildings",
                vec![Arc::new(types::Package::new()), Arc::new(types::Type::simple())],
            ),
            make("type", "Type", "Every type is a building", vec![Arc::new(types::Type::full())]),
            make(
                "loader-type",
                "Class loader › Type",
                "Class loaders are districts: what belongs to which application or plug-in",
                vec![Arc::new(types::Loader::new()), Arc::new(types::Type::full())],
            ),
            make(
                "kind-type",
                "Object kind › Type",
                "Instances, small arrays and big arrays are districts",
                vec![Arc::new(types::Kind::new()), Arc::new(types::Type::full())],
            ),
        ]
    });
    &ALL
}

/// A grouping by id.
pub fn grouping(id: &str) -> Option<&'static Grouping> {
    groupings().iter().find(|g| g.id == id)
}
