//! Classifier by age in garbage collections.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Reads, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("age", "Age")
        .describe("How many garbage collections the object has survived", "Survived 3")
        .reads(Reads::AGE);
    registry.add(meta, |object, values| match object.age() {
        Some(age) => values.one(&age_text(age)),
        None => values.one("(unknown)"),
    })
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
