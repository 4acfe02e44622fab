//! Origins of the objects of walks, from samples or an exact recording.

use super::names::FrameTexts;
use super::scan::{SampleOrigin, Scan, WalkPlace};
use crate::budget::memory_budget;
use crate::counts::StreamCounts;
use ahash::AHashMap;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{AllocationSite, Allocator, ObjectIds, Origin, Origins, SpaceKind, ThreadId};
use memory_city_wire::{CohortRow, OriginRow};
use std::path::Path;
use std::sync::Arc;

/// Frames of all sites together: a file of a few MB may name billions.
const MOST_FRAMES: usize = 1 << 24;

/// Most bytes of the texts of all frames together. A quarter of the budget is the limit where that is less.
const MOST_TEXT: u64 = 256 << 20;

/// Where objects come from: the sites and threads of a whole recording.
pub(super) struct Provenance {
    pub(super) sites: Arc<Vec<AllocationSite>>,
    site_of: AHashMap<(u16, u32), u32>,
    pub(super) threads: Vec<Arc<str>>,
    thread_of: AHashMap<(u16, u32), u32>,
    /// True for a recording of samples: other objects have no known origin.
    is_sampled: bool,
    /// Stacks that were left out because there are too many frames, or their texts are too long.
    pub(super) left_out: u64,
    /// Origins say more than a site.
    has_lives: bool,
}

impl Provenance {
    /// The provenance from the samples and origins of a recording.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub(super) fn of(scan: &Scan, progress: &Progress) -> Result<Provenance> {
        Provenance::within(scan, MOST_TEXT.min(memory_budget() / 4), progress)
    }

    /// As [`Provenance::of`], with so many bytes of texts.
    fn within(scan: &Scan, most_text: u64, progress: &Progress) -> Result<Provenance> {
        let mut all = Provenance {
            sites: Arc::default(),
            site_of: AHashMap::default(),
            threads: vec![Arc::from("(unknown thread)")],
            thread_of: AHashMap::default(),
            is_sampled: scan.sample_count() > 0,
            left_out: 0,
            has_lives: false,
        };
        let mut sites = vec![AllocationSite::default()];
        let (mut frames, mut text_bytes) = (0, 0);
        for (&stream, tables) in &scan.streams {
            let of_samples = || scan.samples.values().chain(scan.ended.origins()).filter(|s| s.stream == stream);
            let stacks = of_samples().filter_map(|s| s.stack);
            let old = scan.old_samples.iter().filter(|(of, _)| *of == stream).filter_map(|(_, row)| row.stack);
            let cohorts = || scan.cohorts.iter().filter(|(of, _)| *of == stream).map(|(_, row)| row);
            let counted = scan.counts.get(&stream).into_iter().flat_map(StreamCounts::stacks);
            let stacks = stacks.chain(old).chain(cohorts().filter_map(|row| row.stack)).chain(counted);
            let mut stacks: Vec<u32> = stacks.chain(tables.origins.values().filter_map(|o| o.stack)).collect();
            stacks.sort_unstable();
            stacks.dedup();
            let mut texts = FrameTexts::default();
            for stack in stacks {
                progress.check()?;
                if frames > MOST_FRAMES || text_bytes + texts.bytes > most_text {
                    all.left_out += 1;
                    continue;
                }
                let site = AllocationSite { frames: tables.stack(stack, &mut texts) };
                frames += site.frames.len();
                all.site_of.insert((stream, stack), sites.len() as u32);
                sites.push(site);
            }
            text_bytes += texts.bytes;
            let threads = of_samples().map(|s| s.thread).chain(tables.origins.values().filter_map(|o| o.thread));
            let mut threads: Vec<u32> = threads.chain(cohorts().filter_map(|row| row.thread)).collect();
            threads.sort_unstable();
            threads.dedup();
            for thread in threads {
                all.thread_of.insert((stream, thread), all.threads.len() as u32);
                all.threads.push(tables.thread(thread));
            }
            all.has_lives |= tables
                .origins
                .values()
                .any(|o| o.thread.is_some() || o.birth.is_some() || o.space != 0 || o.allocator != 0);
        }
        all.sites = Arc::new(sites);
        Ok(all)
    }

    /// The warning about stacks that were left out.
    pub(super) fn lacks(&self, path: &Path) -> Option<Warning> {
        let message = format!("{} allocation sites are not told apart: there are too many", self.left_out);
        (self.left_out > 0).then(|| Warning { path: path.to_owned(), offset: None, message })
    }

    /// Whether any allocation site is known.
    pub(super) fn knows_sites(&self) -> bool {
        self.sites.len() > 1
    }

    /// The call chains; the first is the unknown one.
    pub(super) fn all_sites(&self) -> Arc<Vec<AllocationSite>> {
        Arc::clone(&self.sites)
    }

    pub(super) fn site(&self, stream: u16, stack: Option<u32>) -> u32 {
        stack.and_then(|stack| self.site_of.get(&(stream, stack))).copied().unwrap_or(0)
    }

    fn thread(&self, stream: u16, thread: Option<u32>) -> ThreadId {
        ThreadId(thread.and_then(|thread| self.thread_of.get(&(stream, thread))).copied().unwrap_or(0))
    }

    pub(super) fn of_sample(&self, sample: &SampleOrigin) -> Origin {
        Origin {
            site: self.site(sample.stream, sample.stack),
            thread: self.thread(sample.stream, Some(sample.thread)),
            allocator: Allocator::Unknown,
            birth: sample.gcs,
            space: SpaceKind::Unknown,
        }
    }

    fn of_row(&self, stream: u16, row: &OriginRow) -> Origin {
        use {Allocator as A, SpaceKind as S};
        let allocators = [A::Unknown, A::Vm, A::Interpreter, A::C1, A::C2];
        let spaces = [S::Unknown, S::Eden, S::Survivor, S::Old, S::Humongous];
        Origin {
            site: self.site(stream, row.stack),
            thread: self.thread(stream, row.thread),
            allocator: allocators.get(row.allocator as usize).copied().unwrap_or(A::Unknown),
            birth: row.birth.unwrap_or(0),
            space: spaces.get(row.space as usize).copied().unwrap_or(S::Unknown),
        }
    }

    pub(super) fn of_cohort(&self, stream: u16, row: &CohortRow) -> Origin {
        let CohortRow { stack, thread, allocator, birth, space, .. } = *row;
        self.of_row(stream, &OriginRow { id: 0, stack, thread, allocator, birth: Some(birth), space })
    }
}

/// The parts of a walk that give the origins of its objects.
pub(super) struct Walked<'a> {
    pub(super) scan: &'a Scan,
    pub(super) walk: &'a WalkPlace,
    pub(super) provenance: &'a Provenance,
    pub(super) n: usize,
    /// By object; empty if no object has one.
    pub(super) origin_of: Vec<Option<u32>>,
    /// By object, its id, if ids name them.
    pub(super) number_of: Vec<u32>,
    pub(super) sample_of: AHashMap<u32, SampleOrigin>,
    /// By object: its number in all walks; empty without such numbers.
    pub(super) followed: Vec<u64>,
    pub(super) ids: ObjectIds,
}

impl Walked<'_> {
    /// WalkKeys of sites and the sites, or origins: as much as is known.
    pub(super) fn origins(self) -> (Vec<u32>, AHashMap<u32, AllocationSite>, Option<Origins>) {
        let Walked { scan, walk, provenance, n, origin_of, number_of, sample_of, followed, ids } = self;
        let tables = &scan.streams[&walk.stream];
        let row_of = |o: usize| tables.origins.get(&origin_of.get(o).copied().flatten()?);
        if !provenance.is_sampled && !provenance.has_lives && followed.is_empty() && walk.start.has_addresses {
            // At most a site is known, as in a dump with allocation traces.
            if origin_of.is_empty() {
                return (Vec::new(), AHashMap::default(), None);
            }
            let site = |o: usize| row_of(o).map_or(0, |row| provenance.site(walk.stream, row.stack));
            let keys: Vec<u32> = (0..n).map(site).collect();
            let mut traces = AHashMap::default();
            for &key in keys.iter().filter(|key| **key != 0) {
                traces.entry(key).or_insert_with(|| provenance.sites[key as usize].clone());
            }
            return (keys, traces, None);
        }
        let sites = Arc::clone(&provenance.sites);
        let mut origins = Origins::new(n, sites, provenance.threads.clone(), walk.start.gcs);
        origins.is_walk = !walk.start.all_alive;
        origins.ids = ids;
        origins.followed = followed;
        for o in 0..n {
            let origin = match (row_of(o), sample_of.get(&(o as u32))) {
                (Some(row), _) => provenance.of_row(walk.stream, row),
                (None, Some(sample)) => provenance.of_sample(sample),
                (None, None) => Origin::NOT_SAMPLED,
            };
            origins.push(origin, number_of.get(o).copied().unwrap_or(o as u32));
        }
        (Vec::new(), AHashMap::default(), Some(origins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_heap::input::Input;
    use memory_city_heap::printable::MOST_CELL;
    use memory_city_wire::{FrameRow, LONGEST_TEXT, MethodRow, SampleRow, StringRow, TraceOptions, TraceWriter};

    #[test]
    fn long_names_that_many_frames_share_take_no_more_than_they_may() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("long.mcity");
        let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
        let text = |id: u32| StringRow { id, text: "x".repeat(LONGEST_TEXT) };
        writer.write(&[1, 2, 3].map(text)).expect("written");
        let method = MethodRow { id: 1, class: 1, name: 2, parameters: Some(3), ..MethodRow::default() };
        writer.write(&[method]).expect("written");
        let frames = (1..=100).map(|id| FrameRow { id, method: 1, index: Some(id), ..FrameRow::default() });
        writer.write(&frames.collect::<Vec<_>>()).expect("written");
        let samples = (1..=100).map(|id| SampleRow { id, stack: Some(id as u32), ..SampleRow::default() });
        writer.write(&samples.collect::<Vec<_>>()).expect("written");
        writer.finish("done").expect("finished");
        let input = Input::open(&path, &Progress::new()).expect("opened");
        let scan = Scan::read(vec![input], &Progress::new()).expect("read");
        let whole = Provenance::of(&scan, &Progress::new()).expect("there is room");
        assert_eq!((whole.left_out, whole.sites.len()), (0, 101));
        assert!(whole.sites.iter().flat_map(|site| &site.frames).all(|frame| frame.len() < 4 * MOST_CELL));
        let part = Provenance::within(&scan, 100_000, &Progress::new()).expect("a part");
        assert!((50..80).contains(&part.left_out), "{}", part.left_out);
        assert!(part.lacks(&path).is_some_and(|warning| warning.message.contains("too many")));
    }
}
