//! Deliberate faults, for tests of their handling. In builds with debug assertions the variable `MEMORY_CITY_FAULT` names a place and a
//! number: with `sample:5`, the fifth time at that place is a panic. Where a thread may get stuck, it gets stuck. Other builds ignore the
//! variable.

/// A place where a fault may happen.
#[cfg(debug_assertions)]
pub(crate) fn point(place: &str) {
    if is_reached(place) {
        panic!("a fault on purpose in {place}");
    }
}

/// A place where a thread may get stuck, as on a disk that does not answer.
#[cfg(debug_assertions)]
pub(crate) fn stuck(place: &str) {
    if is_reached(place) {
        loop {
            std::thread::park();
        }
    }
}

/// Whether this is the time that is named.
#[cfg(debug_assertions)]
fn is_reached(place: &str) -> bool {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI64, Ordering};
    static WANTED: OnceLock<Option<(String, AtomicI64)>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("MEMORY_CITY_FAULT").ok()?;
        let (place, times) = text.split_once(':')?;
        Some((place.to_owned(), AtomicI64::new(times.parse().ok()?)))
    });
    wanted.as_ref().is_some_and(|(wanted, left)| wanted == place && left.fetch_sub(1, Ordering::Relaxed) == 1)
}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn point(_place: &str) {}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn stuck(_place: &str) {}
