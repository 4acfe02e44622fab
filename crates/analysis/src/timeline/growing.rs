//! The tree of a recorded heap, updated from change to change.
//!
//! The tree after GC k+1 is the tree after GC k, with born, dead and moved objects added and removed. A step costs the changes, whatever
//! the size of the heap.

use crate::group::{Grouping, GroupingRun, MemoryTree, ObjectView, Placement, Reads};
use memory_city_formats::Recording;
use memory_city_formats::replay::{CohortChange, CohortKey};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;

/// A tree that follows the changes of a recording.
pub struct GrowingTree<'a> {
    recording: &'a Recording,
    placement: Placement,
    /// Leaves of the objects of a cohort. Their birth matters only to groupings that change with time.
    leaves: FxHashMap<CohortKey, Box<[u32]>>,
    /// All cohorts, if the tree must be rebuilt at every step.
    cohorts: Option<FxHashMap<CohortKey, (i64, i64)>>,
    changed: Vec<u32>,
    marked: Vec<bool>,
}

impl<'a> GrowingTree<'a> {
    /// The empty tree before the first change.
    ///
    /// # Errors
    /// When the grouping reads facts that the objects of a cohort do not share, such as their lengths: a recording does not have them, but
    /// heap states do ([`Reads::by_object`]).
    pub fn new(recording: &'a Recording, grouping: &Grouping) -> Result<Self> {
        let reads = grouping.reads();
        if reads.by_object() {
            let names = reads.intersection(Reads::BY_OBJECT).names();
            return Err(Error::Unusable {
                what: format!("The grouping {} cannot follow changes: it reads {names}", grouping.title),
                remedy: "Group the heap states one by one".into(),
            });
        }
        let run = GroupingRun { heap: None, among: None, progress: &Progress::new() };
        Ok(GrowingTree {
            recording,
            placement: Placement::new(&grouping.prepared(&run)?),
            leaves: FxHashMap::default(),
            cohorts: reads.contains(Reads::AGE).then(FxHashMap::default),
            changed: Vec::new(),
            marked: Vec::new(),
        })
    }

    /// The error that a classifier has reported so far, if any.
    ///
    /// # Errors
    /// That.
    pub fn check(&self) -> Result<()> {
        self.placement.check()
    }

    /// The tree.
    pub fn tree(&self) -> &MemoryTree {
        &self.placement.tree
    }

    /// Goes on to the next moment, `gcs` GCs after the start. Returns the nodes that changed.
    pub fn step(&mut self, changes: impl Iterator<Item = CohortChange>, gcs: u32) -> &[u32] {
        self.changed.clear();
        match self.cohorts.take() {
            None => changes.for_each(|c| self.apply(CohortKey { birth: 0, ..c.key }, c, gcs)),
            Some(mut cohorts) => {
                for change in changes {
                    let (objects, bytes) = cohorts.entry(change.key).or_default();
                    *objects += change.objects;
                    *bytes += change.bytes;
                }
                cohorts.retain(|_, amount| *amount != (0, 0));
                // Everything has grown older: cohorts are few beside objects.
                self.placement.tree.clear_amounts();
                self.leaves.clear();
                for (&key, &(objects, bytes)) in &cohorts {
                    self.apply(key, CohortChange { key, objects, bytes }, gcs);
                }
                self.cohorts = Some(cohorts);
                self.changed = (0..self.placement.tree.len() as u32).collect();
                return &self.changed;
            }
        }
        // A node is listed for every cohort below it.
        self.marked.resize(self.placement.tree.len(), false);
        let marked = &mut self.marked;
        self.changed.retain(|&n| !std::mem::replace(&mut marked[n as usize], true));
        self.changed.iter().for_each(|&n| marked[n as usize] = false);
        &self.changed
    }

    fn apply(&mut self, class: CohortKey, change: CohortChange, gcs: u32) {
        let (recording, placement) = (self.recording, &mut self.placement);
        let leaves = self.leaves.entry(class).or_insert_with(|| {
            let facts = recording.facts(change.key, gcs);
            placement.place(&ObjectView::of_cohort(&facts))
        });
        placement.tree.change_up(leaves, change.objects, change.bytes, &mut self.changed);
    }
}
