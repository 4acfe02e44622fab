//! Where the objects of walks come from, as far as samples or an exact recording say.

use super::scan::{SampleOrigin, Scan, WalkPlace};
use crate::counts::StreamCounts;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{AllocationSite, Allocator, ObjectIds, Origin, Origins, SpaceKind, ThreadId};
use memory_city_wire::{CohortRow, OriginRow};
use std::sync::Arc;

/// Frames of all sites together: a file of a few MB may name billions.
const MOST_FRAMES: usize = 1 << 24;

/// Where objects come from: the sites and threads of a whole recording.
pub(super) struct Provenance {
    pub(super) sites: Arc<Vec<AllocationSite>>,
    site_of: AHashMap<(u16, u32), u32>,
    pub(super) threads: Vec<Arc<str>>,
    thread_of: AHashMap<(u16, u32), u32>,
    /// Samples are taken: what is none of them has no known origin.
    is_sampled: bool,
    /// Stacks that were left out because there are too many frames.
    pub(super) left_out: u64,
    /// Origins say more than a site.
    has_lives: bool,
}

impl Provenance {
    /// Of the samples and origins of a recording.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub(super) fn of(scan: &Scan, progress: &Progress) -> Result<Provenance> {
        let mut all = Provenance {
            sites: Arc::default(),
            site_of: AHashMap::default(),
            threads: vec![Arc::from("(unknown thread)")],
            thread_of: AHashMap::default(),
            is_sampled: !scan.samples.is_empty(),
            left_out: 0,
            has_lives: false,
        };
        let mut sites = vec![AllocationSite::default()];
        let mut frames = 0;
        for (&stream, tables) in &scan.streams {
            let of_samples = scan.samples.values().filter(|s| s.stream == stream);
            let stacks = of_samples.clone().filter_map(|s| s.stack);
            let old = scan.old_samples.iter().filter(|(of, _)| *of == stream).filter_map(|(_, row)| row.stack);
            let cohorts = || scan.cohorts.iter().filter(|(of, _)| *of == stream).map(|(_, row)| row);
            let counted = scan.counts.get(&stream).into_iter().flat_map(StreamCounts::stacks);
            let stacks = stacks.chain(old).chain(cohorts().filter_map(|row| row.stack)).chain(counted);
            let mut stacks: Vec<u32> = stacks.chain(tables.origins.values().filter_map(|o| o.stack)).collect();
            stacks.sort_unstable();
            stacks.dedup();
            let mut texts = AHashMap::default();
            for stack in stacks {
                progress.check()?;
                if frames > MOST_FRAMES {
                    all.left_out += 1;
                    continue;
                }
                let site = AllocationSite { frames: tables.stack(stack, &mut texts) };
                frames += site.frames.len();
                all.site_of.insert((stream, stack), sites.len() as u32);
                sites.push(site);
            }
            let threads = of_samples.map(|s| s.thread).chain(tables.origins.values().filter_map(|o| o.thread));
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

    /// Whether any allocation site is known.
    pub(super) fn knows_sites(&self) -> bool {
        self.sites.len() > 1
    }

    /// The call chains; the first is that of what is not known.
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

/// What of a walk says where its objects come from.
pub(super) struct Walked<'a> {
    pub(super) scan: &'a Scan,
    pub(super) walk: &'a WalkPlace,
    pub(super) provenance: &'a Provenance,
    pub(super) n: usize,
    /// By object; empty where no object has one.
    pub(super) origin_of: Vec<Option<u32>>,
    /// By object, where they are named by ids: those.
    pub(super) number_of: Vec<u32>,
    pub(super) sample_of: AHashMap<u32, SampleOrigin>,
    /// By object: its number in all walks; empty where none were given.
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
