//! A Python that has a package: the one of `make setup-test`, or the system's.

use std::process::Command;

/// The interpreter. Without one the test is skipped, unless `MEMORY_CITY_REQUIRE_PYTHON` says that it must be there.
pub fn with_package(package: &str) -> Option<String> {
    let ours = crate::root().join("target/python/bin/python");
    let candidates =
        [std::env::var("MEMORY_CITY_PYTHON").ok(), Some(ours.display().to_string()), Some("python3".into())];
    let found = candidates.into_iter().flatten().find(|python| {
        let import = Command::new(python).args(["-c", &format!("import {package}")]).output();
        import.is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        assert!(
            std::env::var_os("MEMORY_CITY_REQUIRE_PYTHON").is_none(),
            "a Python with the package {package} is required: make setup-test"
        );
        eprintln!("skipped: there is no Python with the package {package} (make setup-test installs one)");
    }
    found
}
