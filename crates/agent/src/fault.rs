//! Faults on purpose, for the tests of what a fault does: in builds without optimized checks the variable `MEMORY_CITY_FAULT` names a
//! place and a number, `sample:5`, and the fifth time that place is reached is a panic. Other builds know nothing of it.

/// A place where a fault may happen.
#[cfg(debug_assertions)]
pub(crate) fn point(place: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI64, Ordering};
    static WANTED: OnceLock<Option<(String, AtomicI64)>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("MEMORY_CITY_FAULT").ok()?;
        let (place, times) = text.split_once(':')?;
        Some((place.to_owned(), AtomicI64::new(times.parse().ok()?)))
    });
    if let Some((_, left)) = wanted.as_ref().filter(|(wanted, _)| wanted == place)
        && left.fetch_sub(1, Ordering::Relaxed) == 1
    {
        panic!("a fault on purpose in {place}");
    }
}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn point(_place: &str) {}
