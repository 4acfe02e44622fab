//! The predefined groupings: first those for a task, then those by facts.

use super::registry::{Registry, RegistryError};

/// Name, title, list, and an explanation. A task with an unknown classifier is left out.
const TASKS: [(&str, &str, &str, &str); 7] = [
    (
        "what-grows",
        "What grows",
        "package>type",
        "Packages are districts, types are buildings. Step through time: what leaks becomes larger and turns red",
    ),
    (
        "what-fills",
        "What fills the heap",
        "kind>type",
        "Instances, small and big arrays are districts, types are buildings. The largest is what most bytes are in; \
         Enter leads from it to what refers to it",
    ),
    (
        "who-allocates",
        "Who allocates",
        "domain-site>type",
        "The places in the program's own code that led to allocations are districts, whatever library allocated for \
         them; types are buildings. Set the packages of the program where they are guessed wrongly",
    ),
    (
        "who-owns",
        "Who owns it",
        "owner",
        "Each object is where the path of its owners leads: from the static field or thread that keeps it alive, down to \
         the collection it is in",
    ),
    (
        "which-structures",
        "Which data structures",
        "structure(place)",
        "Maps, lists and queues are buildings, below what owns them. Each has all that it alone keeps, its elements and the \
         structures inside it included",
    ),
    (
        "what-is-garbage",
        "What is garbage",
        "filter(not reachable)>type",
        "Only objects that no GC root reaches: what the next collection frees. Types with much garbage are allocated much",
    ),
    (
        "survivors",
        "What survives",
        "filter(not age = 0)>type>site",
        "Without what is known to be allocated since the last collection. What was not sampled stays: its age is not known. \
         Types are districts, the places that allocated are buildings",
    ),
];

/// Name, list, explanation.
const PRESETS: [(&str, &str, &str); 20] = [
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
    ("type-callers", "type>callers", "Types are districts, below them who called the method that allocated"),
    ("allocating-package-type", "allocating-package>type", "The packages of the code that allocated are districts"),
    (
        "reached-type",
        "indirectly-rooted(first)>type",
        "The GC roots that are nearest to objects are districts: fields and variables that keep much",
    ),
    (
        "kept-by-type",
        "kept-by>type",
        "What plain references keep, what soft ones alone keep and the VM lets go when memory is short, what only weaker \
         ones lead to, and garbage are districts",
    ),
    (
        "referrers-type",
        "referrers>type",
        "How many references lead to objects: what is shared, and what nothing refers to",
    ),
    ("type-points-to", "type>points-to", "Types are districts, what their objects refer to are buildings"),
    ("type-pointed-from", "type>pointed-from", "Types are districts, what refers to their objects are buildings"),
];

/// Adds them.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    PRESETS.iter().try_for_each(|(id, list, description)| registry.add_grouping(id, list, description))?;
    TASKS.iter().try_for_each(|(id, title, list, description)| {
        // One classifier may come with another part of the program.
        let there = !list.chars().all(crate::grammar::is_of_name) || registry.entry(list).is_some();
        if there { registry.add_task(id, title, list, description) } else { Ok(()) }
    })
}
