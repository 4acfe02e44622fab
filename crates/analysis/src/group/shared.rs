//! The registry that the whole program shares.

use super::domain::DomainPackages;
use super::grouping::Grouping;
use super::registry::{Registry, RegistryError};
use super::{classifiers, filter, presets};
use crate::grammar::ExpressionError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, RwLock, RwLockReadGuard};

impl Registry {
    /// A registry with the built-in classifiers and groupings.
    pub fn new() -> Registry {
        let mut registry = Registry::default();
        // A test sees to it that none of them is refused.
        let added = classifiers::register(&mut registry)
            .and_then(|()| filter::register(&mut registry))
            .and_then(|()| presets::register(&mut registry));
        debug_assert_eq!(added, Ok(()));
        registry
    }
}

/// Counts the changes of the shared registry.
static CHANGES: AtomicU64 = AtomicU64::new(1);

/// Changes with the shared registry: results from before may be stale.
pub fn registry_revision() -> u64 {
    CHANGES.load(Ordering::Acquire)
}

static SHARED: LazyLock<RwLock<Registry>> = LazyLock::new(|| RwLock::new(Registry::new()));

/// The registry that the command line, the viewer and histories ask for names. Do not
/// [`register`] while holding it.
pub fn registry() -> RwLockReadGuard<'static, Registry> {
    SHARED.read().unwrap_or_else(|e| e.into_inner())
}

/// Changes the shared registry.
pub(super) fn change<T>(change: impl FnOnce(&mut Registry) -> T) -> T {
    let changed = change(&mut SHARED.write().unwrap_or_else(|e| e.into_inner()));
    CHANGES.fetch_add(1, Ordering::Release);
    changed
}

/// Adds to the shared registry: the additions are known everywhere by name from now on.
///
/// # Errors
/// As the functions of [`Registry`] that `add` calls.
pub fn register<T>(add: impl FnOnce(&mut Registry) -> Result<T, RegistryError>) -> Result<T, RegistryError> {
    change(add)
}

/// The groupings with names of their own, in the shared registry.
pub fn groupings() -> Vec<Arc<Grouping>> {
    registry().groupings().cloned().collect()
}

/// A grouping by name or list, see [`Registry::grouping`], from the shared registry.
///
/// # Errors
/// As [`Registry::grouping`].
pub fn grouping(text: &str) -> Result<Arc<Grouping>, ExpressionError> {
    registry().grouping(text)
}

/// Says which packages are the program's own, in the shared registry: groupings that are made from now on go by them.
pub fn set_packages(packages: DomainPackages) {
    change(|registry| registry.set_domain(packages));
}

/// Sets the packages that an input names as the program's own, in the form of [`DomainPackages::parse`]; `None` without any. They count
/// until a user chooses some, or another input comes.
pub fn tell_packages(told: Option<&str>) {
    let next = told.and_then(|told| DomainPackages::parse(told).ok());
    let next = next.map_or_else(DomainPackages::default, |packages| DomainPackages { told: true, ..packages });
    let now = Arc::clone(registry().domain());
    let is_chosen = now.chosen.is_some() && !now.told;
    if !is_chosen && *now != next {
        set_packages(next);
    }
}
