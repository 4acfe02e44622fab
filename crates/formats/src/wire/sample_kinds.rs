//! Kinds of samples: samples with common facts, in the form that traces have for objects, so that the same code groups both.

use super::ended::AlikeSamples;
use super::origins::Provenance;
use super::scan::{SampleOrigin, Scan};
use super::types::Types;
use crate::JVM;
use crate::event::{ObjectInfo, Program};
use crate::recording::Recording;
use ahash::{AHashMap, AHashSet};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Allocator, BIG_ARRAY, TypeKind};
use std::sync::Arc;

/// The name for the loader of classes in a stream without loaders.
pub(super) const UNKNOWN_LOADER: &str = "(unknown loader)";

/// The samples of a recording by their common facts.
pub(super) struct SampleKinds {
    /// Types, sites, threads and creation data, those that differ in the lengths of arrays apart. Its log is empty.
    pub(super) recording: Recording,
    /// Elements of each array, by its creation data, if recorded.
    pub(super) lengths: Vec<Option<u32>>,
    /// The samples, ascending, and for each the number of its creation data.
    pub(super) samples: Vec<(u64, u32)>,
    /// Those that were added up, each with the number of its creation data.
    pub(super) ended: Vec<(AlikeSamples, u32)>,
    /// Whether it is known of all arrays how long they are.
    pub(super) tells_lengths: bool,
}

impl SampleKinds {
    /// O(samples log samples).
    ///
    /// # Errors
    /// When the work was cancelled.
    pub(super) fn of(scan: &Scan, provenance: &Provenance, progress: &Progress) -> Result<SampleKinds> {
        let mut program = Program { profile: &JVM, sites: Arc::clone(&provenance.sites), ..Program::default() };
        let (mut infos, mut lengths) = (Vec::new(), Vec::new());
        let mut numbers: AHashMap<(ObjectInfo, Option<u32>), u32> = AHashMap::default();
        let mut samples: Vec<(u64, u32)> = Vec::with_capacity(scan.samples.len());
        // Hash maps have no order: what is made of them has one.
        let mut ids: Vec<u64> = scan.samples.keys().copied().collect();
        ids.sort_unstable();
        let all_ended = scan.ended.sorted();
        let mut ended: Vec<(AlikeSamples, u32)> = Vec::with_capacity(all_ended.len());
        let mut tells_lengths = true;
        for (&stream, tables) in &scan.streams {
            progress.check()?;
            let of_stream =
                || ids.iter().filter_map(|id| Some((id, scan.samples.get(id)?))).filter(|(_, s)| s.stream == stream);
            let ended_of_stream = || all_ended.iter().filter(|ended| ended.origin.stream == stream);
            let classes = of_stream().map(|(_, sample)| sample.class);
            let used: AHashSet<u32> = classes.chain(ended_of_stream().map(|ended| ended.origin.class)).collect();
            if used.is_empty() {
                continue;
            }
            let mut types = Types::of(tables, used, 8, 0);
            let first = program.types.len() as u32;
            let mut number_of = |sample: &SampleOrigin| {
                let number = types.number(sample.class);
                let is_array = types.types.get(number as usize).is_some_and(|of| of.kind != TypeKind::Instance);
                // Of what is no array somebody may say so all the same.
                let length = sample.length.filter(|_| is_array);
                tells_lengths &= !is_array || length.is_some();
                let origin = provenance.of_sample(sample);
                let info = ObjectInfo {
                    type_id: first + number,
                    site: origin.site,
                    thread: origin.thread,
                    allocator: Allocator::Unknown,
                    big: length.is_some_and(|length| length >= BIG_ARRAY),
                };
                *numbers.entry((info, length)).or_insert_with(|| {
                    infos.push(info);
                    lengths.push(length);
                    infos.len() as u32 - 1
                })
            };
            samples.extend(of_stream().map(|(&id, sample)| (id, number_of(sample))));
            ended.extend(ended_of_stream().map(|one| (*one, number_of(&one.origin))));
            if !tables.tells_loaders() {
                let unknown: Arc<str> = Arc::from(UNKNOWN_LOADER);
                types.types.iter_mut().for_each(|of| of.loader = Arc::clone(&unknown));
            }
            types.append_to(&mut program.types);
        }
        samples.sort_unstable();
        let threads = provenance.threads.clone();
        let recording = Recording { program: Arc::new(program), threads, infos, ..Recording::default() };
        Ok(SampleKinds { recording, lengths, samples, ended, tells_lengths })
    }
}
