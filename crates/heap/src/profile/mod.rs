//! Profiles: the names that a family of runtimes gives its types, packages and fields. All other code knows only roles, such as "the
//! type of texts". A profile is plain data. The format that reads a heap hands it over with each heap state.

mod collections;
mod names;
mod packages;
mod types;

pub use collections::{CollectionNames, EntryFields};
pub use names::{GeneratedName, NameRules};
pub use packages::{LoaderNames, Packages};
pub use types::{Buffers, FieldName, Finalizers, KnownTypes, TextType, ThreadLocals};

/// The names of one family of runtimes. An empty list means that it has no such thing.
#[derive(Debug)]
pub struct Profile {
    /// How names of types are made.
    pub names: NameRules,
    /// Whose code is in which package.
    pub packages: Packages,
    /// The loaders of types.
    pub loaders: LoaderNames,
    /// Collections, and their insides.
    pub collections: CollectionNames,
    /// Entries of tables, and variables of dynamic languages in them.
    pub entries: EntryFields,
    /// Types with a role of their own.
    pub types: KnownTypes,
    /// Descriptions of data structures: the name of a file, and its text in the language of [`structures`](crate::structures).
    pub structures: &'static [(&'static str, &'static str)],
}

impl Profile {
    /// Knows no name: all types are a program's own, and mean nothing more.
    pub const PLAIN: Profile = Profile {
        names: NameRules::PLAIN,
        packages: Packages::PLAIN,
        loaders: LoaderNames::PLAIN,
        collections: CollectionNames::PLAIN,
        entries: EntryFields::PLAIN,
        types: KnownTypes::PLAIN,
        structures: &[],
    };
}

impl Default for &Profile {
    /// [`Profile::PLAIN`].
    fn default() -> Self {
        &Profile::PLAIN
    }
}

/// Whether a name begins with one of these.
fn begins_with(name: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| name.starts_with(beginning))
}
