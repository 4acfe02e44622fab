//! The built-in classifiers, a file for each. A new one is a file and a line here.
//!
//! A file has one function, `register`, with the description of the classifier, the facts it reads, and the values of an object. This one
//! separates objects with references from those without:
//! ```
//! use memory_city_analysis::group::{ClassifierMeta, Reads, Registry, RegistryError};
//!
//! fn register(registry: &mut Registry) -> Result<(), RegistryError> {
//!     let meta = ClassifierMeta::new("refers", "Refers")
//!         .describe("Whether the object refers to others", "Refers to others")
//!         .reads(Reads::REFERENCES);
//!     registry.add(meta, |object, values| {
//!         let any = object.references().next().is_some();
//!         values.one(if any { "Refers to others" } else { "Refers to nothing" });
//!     })
//! }
//!
//! let mut registry = Registry::new();
//! register(&mut registry)?;
//! assert_eq!(registry.grouping("refers > type")?.title, "Refers › Type");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! In a program that uses this library the same function is given to [`register`](super::register).

use super::registry::{Registry, RegistryError};

macro_rules! classifiers {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+

        /// Adds them all.
        pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
            $($module::register(registry)?;)+
            Ok(())
        }
    };
}

classifiers! {
    address,
    type_,
    package,
    loader,
    loaders,
    kind,
    array_length,
    referrers,
    site,
    callers,
    allocating_package,
    domain_site,
    domain,
    feature,
    thread,
    subsystem,
    space,
    age,
    reachable,
    strength,
    rooted,
    indirectly_rooted,
    points_to,
    pointed_from,
    owner,
    structure,
    role,
    contained_in,
}
