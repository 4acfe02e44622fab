//! Places in the code: the one that each call chain counts for.

use crate::group::domain::{DomainPackages, class_of_frame};
use memory_city_formats::sampled::{SampledAllocations, SampledGroup};
use memory_city_heap::Profile;
use std::collections::BTreeMap;

/// The name for an allocation without a stack.
pub(super) const NOT_KNOWN: &str = "(no stack)";

/// The place of each call chain.
pub(super) struct Places {
    names: Vec<String>,
    /// By place: whether it is in the packages.
    own: Vec<bool>,
    of_site: Vec<u32>,
}

impl Places {
    /// The innermost frame that the packages cover, or the innermost of all.
    pub(super) fn of(sampled: &SampledAllocations, own: Option<(&DomainPackages, &Profile)>) -> Places {
        let mut number: BTreeMap<String, u32> = BTreeMap::new();
        let mut places = Places { names: Vec::new(), own: Vec::new(), of_site: Vec::new() };
        for site in sampled.sites.iter() {
            let is_own =
                |(own, profile): (&DomainPackages, &Profile), frame: &str| own.covers(profile, class_of_frame(frame));
            let covered = own.and_then(|own| site.frames.iter().find(|frame| is_own(own, frame)));
            let name = covered.or(site.frames.first()).map_or(NOT_KNOWN, |frame| frame);
            let next = places.names.len() as u32;
            let place = *number.entry(name.to_owned()).or_insert_with(|| {
                places.names.push(name.to_owned());
                places.own.push(covered.is_some());
                next
            });
            places.of_site.push(place);
        }
        places
    }

    pub(super) fn of_group(&self, group: &SampledGroup) -> u32 {
        self.of_site.get(group.site as usize).copied().unwrap_or(u32::MAX)
    }

    /// Whether a place is in the code of the program itself.
    pub(super) fn is_own(&self, place: u32) -> bool {
        self.own.get(place as usize).is_some_and(|own| *own)
    }

    pub(super) fn name(&self, place: u32) -> &str {
        self.names.get(place as usize).map_or(NOT_KNOWN, String::as_str)
    }
}
