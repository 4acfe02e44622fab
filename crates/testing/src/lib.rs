//! Shared by the tests and benchmarks of Memory City: writers of dumps and traces with known contents, plain second
//! readers, real JVMs, and the places of test data. Never part of what users run.
//!
//! # Example
//! ```
//! use memory_city_testing::anttracks::{Spec, generate};
//!
//! let spec = Spec { gcs: 2, live_objects: 50, allocations_per_gc: 50, ..Spec::default() };
//! let mut trace = Vec::new();
//! let generated = generate(&spec, &mut trace).expect("memory takes it");
//! assert_eq!(generated.gc_ends.len(), 2);
//! ```
#![allow(missing_docs, reason = "test support explains itself by the tests that use it")]

pub mod allocated;
pub mod anttracks;
pub mod browser;
pub mod class_names;
pub mod collections;
pub mod display;
pub mod hprof_writer;
pub mod jvm;
pub mod memory;
pub mod naive_anttracks;
pub mod python;
pub mod shop;
pub mod websocket;

use std::path::{Path, PathBuf};

/// The folder of the whole project: `tests/data`, `sample-data` and `target` lie there.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// All Rust files below a folder.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|e| e == "rs") => found.push(path),
                _ => {}
            }
        }
    }
    found
}
