//! Classifiers that look at where an object comes from and how it lives: allocation site, thread, age, space,
//! subsystem. All but the site are known of objects of traces only.

use super::{Cardinality, Classifier, ClassifierMeta, Needs, Values};
use memory_city_heap::{Facts, Life};
use std::sync::Arc;

/// What stands for a value the source does not know.
const UNKNOWN: &str = "(unknown)";

/// The allocation site: the allocating method, below it its caller, and so on.
pub struct Site {
    meta: ClassifierMeta,
}

impl Default for Site {
    fn default() -> Self {
        let meta = ClassifierMeta {
            id: "site",
            name: "Allocation site",
            description: "The method and bytecode index that allocated the object, then their callers",
            example: "java.util.LinkedList.linkLast(Object):7",
            cardinality: Cardinality::Hierarchy,
            separator: Some(" ‹ "),
        };
        Site { meta }
    }
}

impl Classifier for Site {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn needs(&self) -> Needs {
        Needs::Site
    }

    fn classify(&self, facts: &Facts<'_>) -> Values {
        match facts.site {
            [] => Values::Chain(vec![Arc::from("(unknown site)")]),
            frames => Values::Chain(frames.to_vec()),
        }
    }
}

/// A classifier of one value, told from an object's life.
pub struct OfLife {
    meta: ClassifierMeta,
    value: fn(&Life<'_>) -> Arc<str>,
    with_time: bool,
}

impl Classifier for OfLife {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn needs(&self) -> Needs {
        Needs::Life
    }

    fn changes_with_time(&self) -> bool {
        self.with_time
    }

    fn classify(&self, facts: &Facts<'_>) -> Values {
        Values::One(facts.life.as_ref().map(self.value).unwrap_or_else(|| Arc::from(UNKNOWN)))
    }
}

fn one(id: &'static str, name: &'static str, description: &'static str, example: &'static str) -> ClassifierMeta {
    ClassifierMeta { id, name, description, example, cardinality: Cardinality::One, separator: None }
}

/// The allocating thread.
pub fn thread() -> OfLife {
    let meta = one("thread", "Allocating thread", "The name of the thread that allocated the object", "http-worker-3");
    OfLife { meta, value: |life| Arc::clone(life.thread), with_time: false }
}

/// The allocating subsystem.
pub fn subsystem() -> OfLife {
    let meta = one(
        "subsystem",
        "Allocating subsystem",
        "What allocated the object: interpreted code, compiled code (C1, C2), or the virtual machine",
        "Interpreter",
    );
    OfLife { meta, value: |life| Arc::from(life.allocator.title()), with_time: false }
}

/// The kind of space.
pub fn space() -> OfLife {
    let meta = one("space", "Space", "The kind of heap space the object is in", "Survivor");
    OfLife { meta, value: |life| Arc::from(life.space.title()), with_time: false }
}

/// The age in garbage collections.
pub fn age() -> OfLife {
    let meta = one("age", "Age", "How many garbage collections the object has survived", "Survived 3");
    OfLife { meta, value: |life| Arc::from(age_text(life.age)), with_time: true }
}

/// Collectors count to 15 at most before they call an object old: exact up to there, then in doubling ranges. The
/// numbers are padded so that names sort by age.
fn age_text(age: u32) -> String {
    match age {
        0 => "Newborn".to_owned(),
        1..=15 => format!("Survived {age:>2}"),
        _ => {
            let low = 1u64 << age.ilog2();
            format!("Survived {low} to {}", 2 * low - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_names() {
        for (age, name) in [
            (0, "Newborn"),
            (1, "Survived  1"),
            (15, "Survived 15"),
            (16, "Survived 16 to 31"),
            (31, "Survived 16 to 31"),
            (1000, "Survived 512 to 1023"),
            (u32::MAX, "Survived 2147483648 to 4294967295"),
        ] {
            assert_eq!(age_text(age), name);
        }
    }
}
