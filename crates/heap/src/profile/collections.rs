//! Collections: which types they are, the parts that they are made of, and where their sizes stand.

use super::begins_with;

/// Types of collections, and how their insides are told from their content.
#[derive(Debug)]
pub struct CollectionNames {
    /// Beginnings of their names: internal objects of these types are counted with the collection.
    pub packages: &'static [&'static str],
    /// Names of nested types that are parts of their collection; a task in a queue is not.
    pub parts: &'static [&'static str],
    /// Ends of the names of types that are parts of the collections in their package.
    pub nodes: &'static [&'static str],
    /// Ends of the names of sets.
    pub sets: &'static [&'static str],
    /// Ends of the names of maps.
    pub maps: &'static [&'static str],
    /// Beginnings of the names of views of other collections.
    pub views: &'static [&'static str],
    /// Maps whose keys and values lie in turn in one array.
    pub maps_in_pairs: &'static [&'static str],
    /// The fields of their sizes, in the order of preference.
    pub sizes: &'static [&'static str],
    /// The field of the number in an object that is a counter.
    pub counted: &'static [&'static str],
}

impl CollectionNames {
    /// No collections.
    pub const PLAIN: CollectionNames = CollectionNames {
        packages: &[],
        parts: &[],
        nodes: &[],
        sets: &[],
        maps: &[],
        views: &[],
        maps_in_pairs: &[],
        sizes: &[],
        counted: &[],
    };

    /// Whether a type is in a package of collections.
    pub fn covers(&self, name: &str) -> bool {
        begins_with(name, self.packages)
    }
}

/// The names of fields by which tables hold what the author of a program calls by a name of its own: global variables, modules, beans.
#[derive(Debug)]
pub struct EntryFields {
    /// The field of the value in an entry of a table.
    pub values: &'static [&'static str],
    /// The field of its key.
    pub keys: &'static [&'static str],
    /// The field of the text in a key that is an object itself.
    pub names: &'static [&'static str],
    /// The field of the namespace of a variable that has one.
    pub namespaces: &'static [&'static str],
    /// What stands before a name with its namespace.
    pub qualifier: &'static str,
    /// Beginnings of keys that say nothing of what lies in them.
    pub unsaid_keys: &'static [&'static str],
    /// Beginnings of fields that say nothing: constants of compiled code.
    pub unsaid_fields: &'static [&'static str],
    /// The field of an object of a dynamic language that holds its class there.
    pub metaclasses: &'static [&'static str],
    /// The fields of such a class with its name.
    pub class_names: &'static [&'static str],
}

impl EntryFields {
    /// No fields.
    pub const PLAIN: EntryFields = EntryFields {
        values: &[],
        keys: &[],
        names: &[],
        namespaces: &[],
        qualifier: "",
        unsaid_keys: &[],
        unsaid_fields: &[],
        metaclasses: &[],
        class_names: &[],
    };

    /// Whether a key is the whole name of a variable, with its namespace.
    pub fn is_qualified(&self, key: &str) -> bool {
        !self.qualifier.is_empty() && key.starts_with(self.qualifier)
    }
}
