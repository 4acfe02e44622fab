//! The check that two runs are of one program.

use crate::tabular::{count_text, several};
use crate::timeline::Source;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::collections::BTreeSet;

/// Fewer classes of its own say nothing of a program.
const FEW: usize = 2;
/// One program has more than one in so many of the classes of another run of its own.
const SHARED: usize = 10;

/// The note about two runs that share next to no classes of the program itself; `None` if they do, or if that is unknown.
///
/// # Errors
/// When a state cannot be loaded again, or the work was cancelled.
pub(super) fn unlike(runs: [&Source; 2], points: [usize; 2], progress: &Progress) -> Result<Option<String>> {
    let mut own = Vec::with_capacity(2);
    for (run, point) in runs.into_iter().zip(points) {
        let Some(heaps) = run.heaps() else { return Ok(None) };
        let heap = heaps.heap(point, progress)?;
        let profile = heap.profile();
        let names = heap.types().iter().map(|of| profile.names.stable(&of.name));
        let names = names.filter(|name| !name.ends_with(']') && profile.packages.is_own(name));
        own.push(names.map(str::to_owned).collect::<BTreeSet<String>>());
    }
    let [a, b] = &own[..] else { return Ok(None) };
    let fewer = a.len().min(b.len());
    let shared = a.intersection(b).count();
    Ok((fewer >= FEW && shared * SHARED < fewer).then(|| {
        format!(
            "These seem to be runs of two different programs: of {} and {} of their own they share {}. What grows in one says nothing of the \
             other",
            several(a.len() as u64, "class", "classes"),
            count_text(b.len() as u64),
            count_text(shared as u64)
        )
    }))
}
