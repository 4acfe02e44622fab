//! Times that come one by one, from a running program. Each is taken as a whole, or not at all.

use super::diagnostics::diagnose;
use super::document::{JsonDocument, ReadContext};
use super::maps::RawMaps;
use super::memory::{Amounts, Credit, Grant, LIVE, no_room};
use super::read::{Collector, JsonSource};
use super::totals::Totals;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use serde::de::DeserializeSeed;
use std::path::PathBuf;

/// Trees of a running program. Each call takes all of its input, or nothing.
pub struct GrowingTrees {
    name: PathBuf,
    totals: Totals,
}

impl GrowingTrees {
    /// No time yet. `name` is the source in messages and labels.
    pub fn new(name: &str) -> Self {
        let name = PathBuf::from(name);
        GrowingTrees { totals: Totals::live(name.clone()), name }
    }

    /// How many bytes it takes at most, together with the copies and timelines that are made of it.
    pub fn bytes(&self) -> u64 {
        self.totals.bytes()
    }

    /// The number of times.
    pub fn times(&self) -> usize {
        self.totals.times.len()
    }

    /// How many nodes there are at all times together.
    pub fn nodes(&self) -> usize {
        self.totals.builder.nodes()
    }

    /// Appends a time: a JSON object with a `tree`, as in a document. Before anything is kept, it asks `grant` for the memory of the work,
    /// and for the growth of [`GrowingTrees::bytes`].
    ///
    /// # Errors
    /// When it breaks the format, is before the last time, or memory is not granted. Then nothing is changed.
    pub fn append(&mut self, time: &str, grant: &mut dyn Grant) -> Result<()> {
        self.all_or_nothing(|trees| trees.read(time, false, grant).map(drop))
    }

    /// Adds reference maps to a time: a JSON object with `points-to`, `pointed-from` or `roots`. Asks for memory as
    /// [`GrowingTrees::append`] does.
    ///
    /// # Errors
    /// When it breaks the format, there is no such time, or memory is not granted. Then nothing is changed.
    pub fn add_references(&mut self, time: usize, maps: &str, grant: &mut dyn Grant) -> Result<()> {
        if time >= self.times() {
            return Err(Error::Unusable {
                what: format!("There is no time {}: there are {}", time + 1, self.times()),
                remedy: "Append the time first; times are counted from 1".into(),
            });
        }
        self.all_or_nothing(|trees| {
            let maps = trees.read(maps, true, &mut *grant)?;
            // Once more what was read is copied when it joins maps that a timeline is being made of.
            let known = trees.totals.times[time].maps.len();
            if !grant.more(Amounts { pairs: maps.len() + known, ..Amounts::default() }.cost(&LIVE)) {
                return Err(no_room());
            }
            trees.totals.add_maps(time, maps);
            Ok(())
        })
    }

    fn all_or_nothing(&mut self, change: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let mark = self.totals.mark();
        let changed = change(self);
        if changed.is_err() {
            self.totals.back_to(mark);
        }
        changed
    }

    fn read(&mut self, text: &str, maps_alone: bool, grant: &mut dyn Grant) -> Result<RawMaps> {
        let progress = Progress::new();
        let mut context = ReadContext::new(text.as_bytes(), &mut self.totals, &progress, Credit::of(grant));
        context.headed = true;
        context.maps_alone = maps_alone;
        context.no_tree = maps_alone;
        let mut parser = serde_json::Deserializer::from_str(text);
        parser.disable_recursion_limit();
        match (JsonDocument { context: &mut context, top: maps_alone }).deserialize(&mut parser) {
            Ok(()) => Ok(std::mem::take(&mut context.maps)),
            Err(error) => Err(diagnose(&error, &mut context, &self.name, text.as_bytes(), (0, 0))),
        }
    }

    /// The mistakes corrected so far, and the parts left out.
    pub fn warnings(&self) -> Vec<String> {
        self.totals.warnings().into_iter().map(|w| w.message).collect()
    }

    /// All of its state as text, for tests that compare states completely.
    #[cfg(test)]
    pub(super) fn shown(&self) -> String {
        format!("{:?} {}", self.name, self.totals.shown())
    }

    /// A copy of the present state, to be finished while more times come: only columns of nodes are copied.
    pub fn so_far(&self) -> SoFar {
        SoFar(self.totals.copy())
    }
}

/// The state at some moment.
pub struct SoFar(Totals);

impl SoFar {
    /// The trees; `None` while there are none.
    ///
    /// # Errors
    /// When cancelled.
    pub fn finish(self, progress: &Progress) -> Result<Option<JsonSource>> {
        match self.0.times.is_empty() {
            true => Ok(None),
            false => Collector::of(self.0).finish(progress).map(Some),
        }
    }
}
