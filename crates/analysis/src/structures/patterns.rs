//! Patterns by which structures grow or shrink, after Weninger, Gander and Mössenböck, *Analyzing data structure growth over time*, 2019.
//!
//! | pattern | retained | structure | deep |
//! |---|---|---|---|
//! | container growth, sole owner | strong | strong | |
//! | container growth, shared | weak | strong | |
//! | data growth, sole owner | strong | weak | |
//! | data growth, shared | weak | weak | strong |
//! | no growth | weak | weak | weak |
//!
//! The source has no thresholds; those here are our own. The growth of a size is strong if it is at least a share of the heap's growth, in
//! bytes or in objects. Few elements may keep much each. So a structure also grows as a container if new elements explain half of what it
//! retains more, each with what an element keeps on average.

use super::growth::{StructureSizes, change};
use memory_city_heap::Amount;

/// The growth that counts as strong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrongGrowth {
    /// In bytes and in objects.
    bytes: f64,
    objects: f64,
}

impl StrongGrowth {
    /// Percent of the heap's growth that is strong, where no other is asked for.
    pub const SHARE: u64 = 10;
    /// Percent of the heap whose share is strong where the heap grows less.
    pub const LEAST: u64 = 5;

    /// `share` percent of the growth of a heap. If that changes less than `least` percent of its size, of this.
    pub fn new(heap: [Amount; 2], share: u64, least: u64) -> StrongGrowth {
        let strong = |ends: [u64; 2]| {
            let base = (change(ends).unsigned_abs() as f64).max(ends[0] as f64 * least as f64 / 100.0);
            (base * share as f64 / 100.0).max(1.0)
        };
        StrongGrowth { bytes: strong(heap.map(|h| h.bytes)), objects: strong(heap.map(|h| h.objects)) }
    }

    /// Whether a size grows so much; with `shrinks`, whether it shrinks so much.
    fn is_met(self, ends: [Amount; 2], shrinks: bool) -> bool {
        let sign = if shrinks { -1.0 } else { 1.0 };
        let by = |ends: [u64; 2]| sign * change(ends) as f64;
        by(ends.map(|end| end.bytes)) >= self.bytes || by(ends.map(|end| end.objects)) >= self.objects
    }
}

/// Share of the growth that new elements must explain.
const EXPLAINED: f64 = 0.5;

/// What grows, or shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChangedPart {
    /// The structure: it has more elements, or fewer.
    Container,
    /// The objects below its elements.
    Data,
    /// Neither.
    Nothing,
}

/// The pattern of a structure between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StructurePattern {
    pub what: ChangedPart,
    /// Whether others keep what came, or what went.
    pub is_shared: bool,
    pub shrinks: bool,
}

impl StructurePattern {
    /// The pattern of a structure with these sizes. Growth comes first: what shrinks in one size and grows in another grows. A structure that
    /// reaches classes reaches whatever their static fields hold: `with_deep` says whether the deep size counts.
    pub fn of(
        retained: [Amount; 2],
        elements: [Option<u64>; 2],
        sizes: [StructureSizes; 2],
        with_deep: bool,
        strong: StrongGrowth,
    ) -> StructurePattern {
        for shrinks in [false, true] {
            let is_strong = |ends| strong.is_met(ends, shrinks);
            let is_shared = !is_strong(retained);
            let structure = is_strong(sizes.map(|s| s.structure)) || is_strong(sizes.map(|s| s.deep_structure));
            let what = match () {
                () if structure && may_be_more(elements, shrinks) => ChangedPart::Container,
                () if !is_shared && elements_explain(retained, elements, shrinks) => ChangedPart::Container,
                () if structure || !is_shared || with_deep && is_strong(sizes.map(|s| s.deep)) => ChangedPart::Data,
                () => continue,
            };
            return StructurePattern { what, is_shared, shrinks };
        }
        StructurePattern { what: ChangedPart::Nothing, is_shared: false, shrinks: false }
    }

    /// Its name, for people.
    pub fn text(self) -> &'static str {
        match (self.what, self.is_shared, self.shrinks) {
            (ChangedPart::Container, false, false) => "container growth, sole owner",
            (ChangedPart::Container, true, false) => "container growth, shared",
            (ChangedPart::Data, false, false) => "data growth, sole owner",
            (ChangedPart::Data, true, false) => "data growth, shared",
            (ChangedPart::Container, false, true) => "container shrinks, sole owner",
            (ChangedPart::Container, true, true) => "container shrinks, shared",
            (ChangedPart::Data, false, true) => "data shrinks, sole owner",
            (ChangedPart::Data, true, true) => "data shrinks, shared",
            (ChangedPart::Nothing, ..) => "no growth",
        }
    }

    /// The next step, in a sentence.
    pub fn next_step(self) -> &'static str {
        match (self.what, self.is_shared, self.shrinks) {
            (ChangedPart::Container, false, false) => {
                "Elements came, and it alone keeps them: look at the code that adds them, and whether any removes them."
            }
            (ChangedPart::Container, true, false) => {
                "Elements came, and others keep them too: look at what contains them (grouping `contained-in>type`)."
            }
            (ChangedPart::Data, false, false) => {
                "Its elements grew, or others let go of what it holds: look at the objects below its elements."
            }
            (ChangedPart::Data, true, false) => {
                "The objects below its elements grew, and others keep them too: look at what else keeps them (analysis \
                 `paths`)."
            }
            (ChangedPart::Container, false, true) => {
                "Elements that it alone kept are gone: it was cleaned up, and is no leak between these times."
            }
            (ChangedPart::Container, true, true) => {
                "Elements are gone from it that others kept too: look whether those still do (grouping \
                 `contained-in>type`)."
            }
            (ChangedPart::Data, false, true) => {
                "Its elements shrank, or others now keep them as well: look at what else came to hold them."
            }
            (ChangedPart::Data, true, true) => {
                "The objects below its elements shrank, and others keep them too: look at what replaced them."
            }
            (ChangedPart::Nothing, ..) => "It has no part in the growth between these times.",
        }
    }
}

/// Whether elements came, or went, as far as their number is known. Elements that are as many as before grew themselves.
fn may_be_more(elements: [Option<u64>; 2], shrinks: bool) -> bool {
    let [Some(before), Some(after)] = elements else { return true };
    if shrinks { after < before } else { after > before }
}

/// Whether elements that came, or went, are most of the growth of what a structure retains.
fn elements_explain([before, after]: [Amount; 2], elements: [Option<u64>; 2], shrinks: bool) -> bool {
    let [Some(few), Some(many)] = elements else { return false };
    let (less, more, few, many) =
        if shrinks { (after.bytes, before.bytes, many, few) } else { (before.bytes, after.bytes, few, many) };
    let came = change([few, many]) as f64;
    came > 0.0 && came * more as f64 / many as f64 >= EXPLAINED * change([less, more]) as f64
}
