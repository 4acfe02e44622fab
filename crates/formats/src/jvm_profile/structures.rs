//! Descriptions of the data structures of the JVM's libraries, a file for each.

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("structures/", $name)))),+]
    };
}

/// Name and text of each file.
pub(super) const STRUCTURES: &[(&str, &str)] = files![
    "java_util.ds",
    "java_util_concurrent.ds",
    "thread_local.ds",
    "scala.ds",
    "kotlin.ds",
    "groovy.ds",
    "clojure.ds",
    "jruby.ds",
    "jython.ds",
    "rhino.ds",
    "guava.ds",
    "caffeine.ds",
    "fastutil.ds",
    "trove.ds",
    "hppc.ds",
    "eclipse_collections.ds",
    "agrona.ds",
    "jctools.ds",
    "netty.ds",
    "h2.ds",
    "android.ds",
];

#[cfg(test)]
mod tests {
    use super::STRUCTURES;
    use memory_city_heap::structures::{StructureFile, formatted};
    use std::collections::BTreeMap;

    #[test]
    fn shipped_descriptions_are_in_their_own_form_and_none_replaces_another() {
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        for (name, text) in STRUCTURES {
            let file = StructureFile::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(&formatted(name, text).expect("a form"), text, "{name}");
            for description in file.descriptions() {
                let other = known.insert(description.name().to_owned(), name);
                assert_eq!(other, None, "{} is in {name}, too", description.name());
            }
        }
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/jvm_profile/structures");
        let there = std::fs::read_dir(folder).expect("a folder").count();
        assert_eq!(there, STRUCTURES.len(), "each file of the folder is in the list");
    }
}
