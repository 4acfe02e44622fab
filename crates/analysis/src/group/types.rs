//! Classifiers that look at the type of an object: type, package, class loader, object kind.

use super::{Cardinality, Classifier, ClassifierMeta, Needs, Values};
use memory_city_heap::{BIG_ARRAY, Facts, TypeKind};
use std::sync::Arc;

/// The type.
pub struct Type {
    meta: ClassifierMeta,
    simple: bool,
}

impl Type {
    /// With the package in the name.
    pub fn full() -> Self {
        Self::new(false)
    }

    /// Without it, for use below [`Package`].
    pub fn simple() -> Self {
        Self::new(true)
    }

    fn new(simple: bool) -> Self {
        let meta = ClassifierMeta {
            id: "type",
            name: "Type",
            description: "The class of an instance, or the type of an array",
            example: "java.util.HashMap$Node",
            cardinality: Cardinality::One,
            separator: None,
        };
        Type { meta, simple }
    }
}

impl Classifier for Type {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, facts: &Facts<'_>) -> Values {
        let name = &facts.of.name;
        Values::One(Arc::from(if self.simple { split(name).1 } else { without_address(name) }))
    }
}

/// The package of the type, part by part. Arrays belong to the package of their elements.
pub struct Package {
    meta: ClassifierMeta,
}

impl Default for Package {
    fn default() -> Self {
        Self::new()
    }
}

impl Package {
    /// The classifier.
    pub fn new() -> Self {
        let meta = ClassifierMeta {
            id: "package",
            name: "Package",
            description: "The package of the type; of an array, the package of its elements",
            example: "java.util.concurrent",
            cardinality: Cardinality::Hierarchy,
            separator: Some("."),
        };
        Package { meta }
    }
}

impl Classifier for Package {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, facts: &Facts<'_>) -> Values {
        let heap_type = facts.of;
        let parts = match (split(&heap_type.name).0, heap_type.kind) {
            ("", _) if is_primitive_array(&heap_type.name) => vec![Arc::from("(primitive arrays)")],
            ("", _) => vec![Arc::from("(default package)")],
            (package, _) => package.split('.').map(Arc::from).collect(),
        };
        Values::Chain(parts)
    }
}

fn is_primitive_array(name: &str) -> bool {
    let element = name.trim_end_matches("[]");
    element.len() < name.len()
        && ["boolean", "byte", "char", "short", "int", "long", "float", "double"].contains(&element)
}

/// Hidden classes (lambdas) carry an address that differs from run to run: `Main$$Lambda$14.0x000000080103`.
fn without_address(name: &str) -> &str {
    let element = name.trim_end_matches("[]");
    match element.rfind("0x") {
        Some(at)
            if at > 0
                && element[..at].ends_with(['.', '/', '+'])
                && element.len() > at + 2
                && element[at + 2..].bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            &element[..at - 1]
        }
        _ => name,
    }
}

/// Package and simple name.
fn split(name: &str) -> (&str, &str) {
    let name = without_address(name);
    let element = name.trim_end_matches("[]");
    match element.rfind('.') {
        Some(dot) => (&name[..dot], &name[dot + 1..]),
        None => ("", name),
    }
}

/// The class loader of the type.
pub struct Loader {
    meta: ClassifierMeta,
}

impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

impl Loader {
    /// The classifier.
    pub fn new() -> Self {
        let meta = ClassifierMeta {
            id: "loader",
            name: "Class loader",
            description: "The class loader that defined the type",
            example: "jdk.internal.loader.ClassLoaders$AppClassLoader",
            cardinality: Cardinality::One,
            separator: None,
        };
        Loader { meta }
    }
}

impl Classifier for Loader {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, facts: &Facts<'_>) -> Values {
        Values::One(Arc::clone(&facts.of.loader))
    }
}

/// Instance, small array, big array.
pub struct Kind {
    meta: ClassifierMeta,
}

impl Default for Kind {
    fn default() -> Self {
        Self::new()
    }
}

impl Kind {
    /// The classifier.
    pub fn new() -> Self {
        let meta = ClassifierMeta {
            id: "kind",
            name: "Object kind",
            description: "Instance, small array (less than 255 elements), or big array",
            example: "Small array",
            cardinality: Cardinality::One,
            separator: None,
        };
        Kind { meta }
    }
}

impl Classifier for Kind {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn needs(&self) -> Needs {
        Needs::Variants(2)
    }

    fn variant(&self, facts: &Facts<'_>) -> u32 {
        u32::from(facts.length.is_some_and(|l| l >= BIG_ARRAY))
    }

    fn classify(&self, facts: &Facts<'_>) -> Values {
        Values::One(Arc::from(match (facts.of.kind, facts.length) {
            (TypeKind::Instance, _) => "Instance",
            (_, Some(length)) if length >= BIG_ARRAY => "Big array",
            _ => "Small array",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_the_package_ends() {
        for (name, package, simple) in [
            ("java.util.HashMap$Node", "java.util", "HashMap$Node"),
            ("java.util.HashMap$Node[]", "java.util", "HashMap$Node[]"),
            ("char[]", "", "char[]"),
            ("Main", "", "Main"),
            ("com.acme.Main$$Lambda$14.0x0000000800c03000", "com.acme", "Main$$Lambda$14"),
            ("com.acme.Main$$Lambda+0x00007f", "com.acme", "Main$$Lambda"),
            ("com.acme.Hex0xff", "com.acme", "Hex0xff"),
        ] {
            assert_eq!(split(name), (package, simple), "{name}");
        }
    }

    #[test]
    fn every_classifier_explains_itself() {
        let all = crate::group::classifiers();
        for (i, classifier) in all.iter().enumerate() {
            let meta = classifier.meta();
            assert!(!meta.description.is_empty() && !meta.example.is_empty());
            assert!(all[..i].iter().all(|c| c.meta().id != meta.id), "{} is there twice", meta.id);
        }
    }
}
