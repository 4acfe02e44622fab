//! Choice of a grouping for an input, by name or automatically, and the check that the input has the facts it needs.

use crate::group::{self, AskedGrouping, ExpressionError, GroupOptions, Grouping, Reads};
use memory_city_formats::{HeapSeries, SnapshotInfo};
use memory_city_heap::error::{Error, Result};
use std::sync::Arc;

/// The grouping that is asked for, or suits a series.
pub(super) fn choose(series: &dyn HeapSeries, asked: &AskedGrouping) -> Result<Arc<Grouping>> {
    match (asked.is_auto(), series.has_sites()) {
        (true, true) => named("type-site"),
        (true, false) => named("package-type"),
        (false, _) => made(asked),
    }
}

/// A grouping as people ask for it.
pub(super) fn asked(text: &str) -> Result<AskedGrouping> {
    group::registry().asked(text).map_err(unknown)
}

/// The grouping that was asked for.
pub(crate) fn made(asked: &AskedGrouping) -> Result<Arc<Grouping>> {
    group::registry().make(asked).map_err(unknown)
}

/// The grouping of a name or list.
pub(crate) fn named(text: &str) -> Result<Arc<Grouping>> {
    group::grouping(text).map_err(unknown)
}

fn unknown(error: ExpressionError) -> Error {
    Error::Unusable {
        what: format!("The grouping {:?} is not known: character {}: {}", error.text, error.character(), error.message),
        remedy: match error.remedy() {
            remedy if remedy.is_empty() => "`memory-city report --help` shows how groupings are written".into(),
            remedy => remedy,
        },
    }
}

/// The facts that every trace has, and those it may have.
pub(super) fn known_of_traces() -> Reads {
    Reads::all() - (Reads::LOADERS | Reads::CLASS_OBJECT | Reads::FIELDS)
}

/// Whether so much is enough for a grouping.
pub(super) fn check(grouping: &Grouping, known: Reads, what: &str, point: Option<&SnapshotInfo>) -> Result<()> {
    let Some(lacks) = grouping.lacks(known) else { return Ok(()) };
    let place = point.map(|p| format!(" ({})", p.label)).unwrap_or_default();
    Err(Error::Unusable {
        what: format!("The grouping {} needs {lacks}, which {what}{place} does not hold", grouping.title),
        remedy: match (grouping.reads() - known).intersects(Reads::LIFE | Reads::SITE) {
            true => "Record a memory trace, or choose a grouping by type, package, class loader or object kind".into(),
            false => "Choose a grouping by type, package, class loader or object kind".into(),
        },
    })
}

/// Garbage too, where the grouping asks for it.
pub(super) fn with_wanted(options: GroupOptions, grouping: &Grouping) -> GroupOptions {
    GroupOptions { include_unreachable: options.include_unreachable || grouping.wants_unreachable(), ..options }
}
