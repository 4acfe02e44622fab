//! Times that come one by one, from a program that runs: what is taken is taken as a whole, or not at all.

use super::diagnostics::{Totals, diagnose};
use super::document::{Context, Document};
use super::maps::RawMaps;
use super::read::{Collector, JsonSource};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use serde::de::DeserializeSeed;
use std::path::PathBuf;

/// Trees of a program that runs. Each call takes all of what it is given, or nothing.
pub struct GrowingTrees {
    name: PathBuf,
    totals: Totals,
}

impl GrowingTrees {
    /// No time yet. `name` is what messages and labels call the source.
    pub fn new(name: &str) -> Self {
        let name = PathBuf::from(name);
        GrowingTrees { totals: Totals::live(name.clone()), name }
    }

    /// How many bytes it may take from now on.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.totals.memory = bytes;
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.totals.bytes()
    }

    /// How many times there are.
    pub fn times(&self) -> usize {
        self.totals.times.len()
    }

    /// How many nodes there are at all times together.
    pub fn nodes(&self) -> usize {
        self.totals.builder.nodes()
    }

    /// Appends a time: a JSON object with a `tree`, as in a document.
    ///
    /// # Errors
    /// When it is not what the format says, is before the last time, or exceeds the memory.
    pub fn append(&mut self, time: &str) -> Result<()> {
        self.read(time, false).map(drop)
    }

    /// Adds reference maps to a time: a JSON object with `points-to`, `pointed-from` or `roots`.
    ///
    /// # Errors
    /// When it is not what the format says, there is no such time, or they exceed the memory.
    pub fn add_references(&mut self, time: usize, maps: &str) -> Result<()> {
        if time >= self.times() {
            return Err(Error::Unusable {
                what: format!("There is no time {}: there are {}", time + 1, self.times()),
                remedy: "Append the time first; times are counted from 1".into(),
            });
        }
        let maps = self.read(maps, true)?;
        let bytes = self.totals.bytes() + maps.bytes();
        if bytes > self.totals.memory {
            return Err(Error::Unusable {
                what: format!(
                    "The reference maps need {} MB, and {} MB are free",
                    bytes >> 20,
                    self.totals.memory >> 20
                ),
                remedy: "Send fewer of them, or \"clear\" the source".into(),
            });
        }
        self.totals.map_bytes += maps.bytes();
        self.totals.times[time].add_maps(maps);
        Ok(())
    }

    fn read(&mut self, text: &str, maps_alone: bool) -> Result<RawMaps> {
        let progress = Progress::new();
        let mut context = Context::new(text.as_bytes(), &mut self.totals, &progress);
        context.headed = true;
        context.maps_alone = maps_alone;
        context.no_tree = maps_alone;
        let mut parser = serde_json::Deserializer::from_str(text);
        parser.disable_recursion_limit();
        match (Document { context: &mut context, top: maps_alone }).deserialize(&mut parser) {
            Ok(()) => Ok(std::mem::take(&mut context.maps)),
            Err(error) => Err(diagnose(&error, &mut context, &self.name, text.as_bytes(), (0, 0))),
        }
    }

    /// What was put right so far, and what was left out.
    pub fn warnings(&self) -> Vec<String> {
        self.totals.warnings().into_iter().map(|w| w.message).collect()
    }

    /// What there is by now, to be finished without holding up what comes next: only columns of nodes are copied.
    pub fn so_far(&self) -> SoFar {
        SoFar(self.totals.copy())
    }
}

/// What had come at some moment.
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
