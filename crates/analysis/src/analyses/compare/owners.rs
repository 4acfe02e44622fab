//! Growth in two runs by owner, with the names of the report, not by type.

use super::growth::{self, Grown, RunGrowth, RunsOutcome, floor_of};
use crate::analyses::TimeWindow;
use crate::analyses::owner_times::{OwnerTimes, spread, worth_a_look};
use crate::ownership::holders::place_text;
use crate::ownership::{AccumulationRules, accumulations};
use crate::timeline::Source;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// At so many points in time owners are found in each run.
const TIMES: usize = 5;

/// The growth of a run, by place.
struct OwnerGrowth {
    /// Growth of every place in bytes, by its names from the root down.
    places: FxHashMap<String, i64>,
    most: Option<Grown>,
    floor: i64,
}

impl RunGrowth for OwnerGrowth {
    fn growth(&self, key: &str) -> i64 {
        self.places.get(key).copied().unwrap_or(0)
    }

    fn floor(&self) -> i64 {
        self.floor
    }

    fn most(&self) -> Option<Grown> {
        self.most.clone()
    }
}

/// The result for two runs, each from its first point in time to that of `points`. `None` if one of them has no owners, or nothing
/// accumulates in either.
///
/// # Errors
/// When a state cannot be loaded again, or the work was cancelled.
pub(super) fn of_runs(runs: [&Source; 2], points: [usize; 2], progress: &Progress) -> Result<Option<RunsOutcome>> {
    let mut found = Vec::with_capacity(2);
    for (run, point) in runs.into_iter().zip(points) {
        match of_run(run, point, progress) {
            Ok(Some(growth)) => found.push(growth),
            Ok(None) | Err(Error::Unusable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let [a, b] = &found[..] else { return Ok(None) };
    if a.most.is_none() && b.most.is_none() {
        return Ok(None);
    }
    Ok(Some(growth::outcome([a, b], points, None)))
}

fn of_run(run: &Source, until: usize, progress: &Progress) -> Result<Option<OwnerGrowth>> {
    let Some(heaps) = run.heaps().filter(|_| until > 0) else { return Ok(None) };
    let times = worth_a_look(run, TimeWindow { from: 0, to: until }, false, &mut Vec::new());
    if times.len() < 2 {
        return Ok(None);
    }
    let keep = KeepRules::default().for_owners();
    let looked = OwnerTimes::at(run, heaps, &spread(&times, TIMES), keep, &mut BTreeMap::new(), progress)?;
    let history = &looked.history;
    let key = |place: u32| history.path(place).iter().map(|name| &**name).collect::<Vec<_>>().join(" > ");
    let mut places: FxHashMap<String, i64> = FxHashMap::default();
    for (place, of) in history.places().iter().enumerate().skip(1) {
        *places.entry(key(place as u32)).or_default() += of.growth();
    }
    let heap =
        history.places().first().map_or(0, |heap| heap.held.iter().map(|held| held.total.bytes).max().unwrap_or(0));
    let floor = floor_of(heap);
    let most = accumulations(history, AccumulationRules::default()).first().map(|point| Grown {
        key: key(point.place),
        name: place_text(&history.path(point.place)),
        bytes: super::change(point.bytes.0, point.bytes.1),
    });
    Ok(Some(OwnerGrowth { places, most: most.filter(|grown| grown.bytes >= floor), floor }))
}
