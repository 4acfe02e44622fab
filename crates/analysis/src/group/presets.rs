//! Groupings with names of their own.

use super::Registry;
use super::registry::RegistryError;

/// Name, list, what it shows.
const PRESETS: [(&str, &str, &str); 15] = [
    ("package-type", "package>type", "Packages are nested districts, types are buildings"),
    ("type", "type", "Every type is a building"),
    ("loader-type", "loader>type", "Class loaders are districts: what belongs to which application or plug-in"),
    ("loaders-type", "loaders>type", "Class loaders are districts inside those of their parents"),
    ("kind-type", "kind>type", "Instances, small arrays and big arrays are districts"),
    ("type-length", "type>array-length", "Types are districts, lengths of arrays are buildings"),
    ("type-site", "type>site", "Types are districts, the places in the code that allocate them are buildings"),
    ("site-type", "site>type", "Places in the code are districts, along their callers; types are buildings"),
    ("thread-type", "thread>type", "The threads that allocated are districts"),
    ("age-type", "age>type", "How many collections objects have survived: what grows old without being needed"),
    ("space-type", "space>type", "Eden, survivor and old space are districts"),
    ("subsystem-type", "subsystem>type", "Interpreter, compiled code and the virtual machine are districts"),
    ("rooted-type", "rooted>type", "GC roots are districts, with what they hold directly"),
    ("type-points-to", "type>points-to", "Types are districts, what their objects refer to are buildings"),
    ("type-pointed-from", "type>pointed-from", "Types are districts, what refers to their objects are buildings"),
];

/// Adds them.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    PRESETS.iter().try_for_each(|(id, list, description)| registry.add_grouping(id, list, description))
}
