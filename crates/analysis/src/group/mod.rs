//! From a heap state to a memory tree: classifiers, applied one after the other, and multi-level grouping.
//!
//! A [`Classifier`] says what an object is in one respect. A [`Grouping`] is a named list of them; [`group`] applies it
//! to a heap state. Nothing here knows time or files. New classifiers are small files beside [`types`].

mod classifier;
mod grouped;
pub mod origins;
mod placement;
mod tree;
pub mod types;

pub use classifier::{Cardinality, Classifier, ClassifierMeta, Needs, Values};
pub use grouped::{Grouped, group};
pub use placement::Placement;
pub use tree::MemoryTree;

use std::sync::{Arc, LazyLock};

/// What is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct GroupOptions {
    /// Objects that no root reaches are grouped too.
    pub include_unreachable: bool,
    /// Traces: a point in time at the start of every GC as well as at its end.
    pub gc_starts: bool,
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

impl Grouping {
    /// The most that any of its classifiers must know.
    pub fn needs(&self) -> Needs {
        self.classifiers.iter().map(|c| c.needs()).max().unwrap_or(Needs::Variants(1))
    }

    /// Whether one of its classifiers must know this.
    pub fn needs_any(&self, needs: Needs) -> bool {
        self.classifiers.iter().any(|c| c.needs() == needs)
    }

    /// Whether objects change their place in the tree with time alone.
    pub fn changes_with_time(&self) -> bool {
        self.classifiers.iter().any(|c| c.changes_with_time())
    }
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
        Arc::new(origins::Site::default()),
        Arc::new(origins::thread()),
        Arc::new(origins::age()),
        Arc::new(origins::space()),
        Arc::new(origins::subsystem()),
    ]
}

/// The groupings there are; which of them apply depends on what is known of the objects, see [`Grouping::needs`].
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
            make(
                "type-site",
                "Type › Allocation site",
                "Types are districts, the places in the code that allocate them are buildings",
                vec![Arc::new(types::Type::full()), Arc::new(origins::Site::default())],
            ),
            make(
                "site-type",
                "Allocation site › Type",
                "Places in the code are districts, along their callers; types are buildings",
                vec![Arc::new(origins::Site::default()), Arc::new(types::Type::full())],
            ),
            make(
                "thread-type",
                "Allocating thread › Type",
                "The threads that allocated are districts",
                vec![Arc::new(origins::thread()), Arc::new(types::Type::full())],
            ),
            make(
                "age-type",
                "Age › Type",
                "How many collections objects have survived: what grows old without being needed",
                vec![Arc::new(origins::age()), Arc::new(types::Type::full())],
            ),
            make(
                "space-type",
                "Space › Type",
                "Eden, survivor and old space are districts",
                vec![Arc::new(origins::space()), Arc::new(types::Type::full())],
            ),
            make(
                "subsystem-type",
                "Allocating subsystem › Type",
                "Interpreter, compiled code and the virtual machine are districts",
                vec![Arc::new(origins::subsystem()), Arc::new(types::Type::full())],
            ),
        ]
    });
    &ALL
}

/// A grouping by id.
pub fn grouping(id: &str) -> Option<&'static Grouping> {
    groupings().iter().find(|g| g.id == id)
}
