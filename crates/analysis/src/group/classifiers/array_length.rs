//! Classifier by the length of an array, in ranges that double.

use crate::group::classifier::Numbered;
use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, ClassifierMeta, Reads, Registry};
use std::sync::Arc;

/// The group of objects that are no arrays.
const NO_ARRAY: &str = "Not an array";

const OPTIONS: [OptionInfo; 1] =
    [OptionInfo { name: "exact", description: "A group for every length there is", example: None }];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("array-length", "Array length")
        .describe("The number of elements of an array, in classes that double: 0, 1, 2 to 3, 4 to 7", "Length 16 to 31")
        .reads(Reads::LENGTH);
    // A name for each class, made once: every object asks for one.
    let classes: Arc<[String]> = (0..=32).map(class_name).collect();
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let meta = meta.clone();
        if request.has("exact") {
            let exact = ByFunction::new(meta, |object, values| match object.length() {
                Some(length) => values.one(&format!("Length {length}")),
                None => values.one(NO_ARRAY),
            });
            return Ok(Arc::new(Numbered::new(exact, |object| Some(object.length().map_or(u64::MAX, u64::from)))));
        }
        let classes = Arc::clone(&classes);
        let doubling = ByFunction::new(meta, move |object, values| match object.length() {
            Some(length) => values.one(&classes[bits(length) as usize]),
            None => values.one(NO_ARRAY),
        });
        Ok(Arc::new(Numbered::new(doubling, |object| Some(object.length().map_or(u64::MAX, |l| u64::from(bits(l)))))))
    })
}

fn bits(length: u32) -> u32 {
    u32::BITS - length.leading_zeros()
}

fn class_name(bits: u32) -> String {
    format!("Length {}", doubling(bits))
}

/// The range of numbers with so many bits.
pub(super) fn doubling(bits: u32) -> String {
    match bits {
        0 => "0".to_owned(),
        1 => "1".to_owned(),
        bits => format!("{} to {}", 1u64 << (bits - 1), (1u64 << bits) - 1),
    }
}
