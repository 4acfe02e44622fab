//! Allocation sites of the live objects of a class or a group, as shares with their error.

use super::places::Places;
use crate::group::registry;
use crate::timeline::{NodeId, Source};
use crate::trends::class_of;
use memory_city_formats::counts::without_address;
use memory_city_formats::sampled::{SampledAllocations, SampledAmount, SampledGroup, SampledObject};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Allocation sites of the live objects of a class or a group, estimated from samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledShares {
    /// The class; or the group, if it has several classes.
    pub class: String,
    /// How many samples of it are alive.
    pub samples: u64,
    /// Every allocation was recorded: there is no error.
    pub is_exact: bool,
    /// Places of the program itself, those with most first.
    pub places: Vec<SampledShare>,
}

/// A place and how much of a class comes from there.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledShare {
    /// The line that allocated, or led to it.
    pub place: String,
    /// Part of the bytes that its samples stand for, 0 to 1.
    pub share: f64,
    /// Three standard deviations of it; at least the amount of three samples, which so few samples can miss. 0 if every allocation was
    /// recorded.
    pub error: f64,
}

/// Allocation sites of the objects of a group, at a point in time. A type or a part of one uses the samples of its class. Any other group
/// (of an owner, a package, a loader) uses the samples that are objects of it, which the walk identifies. `None` if the document has no
/// samples.
///
/// # Errors
/// When a file has changed since, or the work was cancelled.
pub fn sampled_shares(document: &Source, node: NodeId, t: usize, progress: &Progress) -> Result<Option<SampledShares>> {
    let timeline = document.timeline();
    let Some((series, at)) = document.samples_at(t, progress)? else { return Ok(None) };
    let Some(sampled) = series.sampled(&[at], progress)? else { return Ok(None) };
    let domain = Arc::clone(registry().domain());
    let places = Places::of(&sampled, Some((&domain, document.profile())));
    let path = timeline.path(node);
    if let Some(class) = path.iter().rev().find_map(|&node| class_of(timeline, node)) {
        return Ok(Some(shares_of_class(&class, &sampled, &places)));
    }
    // Trees that were sent have no objects to be looked for.
    let Some(history) = document.heaps() else { return Ok(None) };
    let inside = history.objects_of(t, &[node], progress)?.objects;
    let name = timeline.name(node);
    Ok(Some(shares_of(name, &sampled, &places, |sample, _| inside.contains(sample.object.0))))
}

fn shares_of_class(class: &str, sampled: &SampledAllocations, places: &Places) -> SampledShares {
    let same = |_: &SampledObject, group: &SampledGroup| without_address(&group.class) == without_address(class);
    shares_of(class, sampled, places, same)
}

/// The shares of the live samples for which `is_in` holds.
fn shares_of(
    name: &str,
    sampled: &SampledAllocations,
    places: &Places,
    is_in: impl Fn(&SampledObject, &SampledGroup) -> bool,
) -> SampledShares {
    let mut of_place: BTreeMap<u32, SampledAmount> = BTreeMap::new();
    for sample in sampled.alive.first().into_iter().flatten() {
        if let Some(group) = sampled.groups.get(sample.group as usize).filter(|group| is_in(sample, group)) {
            of_place.entry(places.of_group(group)).or_default().add(sample.amount);
        }
    }
    let mut all = SampledAmount::default();
    of_place.values().for_each(|amount| all.add(*amount));
    let bytes = all.bytes.max(1.0);
    let share = |(place, amount): (&u32, &SampledAmount)| {
        let share = amount.bytes / bytes;
        // Of a part of a sum: what is in it and what is not know nothing of each other.
        let variance =
            (1.0 - share).powi(2) * amount.variance + share.powi(2) * (all.variance - amount.variance).max(0.0);
        let error = match sampled.is_exact {
            true => 0.0,
            false => (3.0 * variance.sqrt() / bytes).max(3.0 / all.samples.max(3) as f64),
        };
        SampledShare { place: places.name(*place).to_owned(), share, error }
    };
    let mut shares: Vec<SampledShare> = of_place.iter().map(share).collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.place.cmp(&b.place)));
    SampledShares { class: name.to_owned(), samples: all.samples, is_exact: sampled.is_exact, places: shares }
}

#[cfg(test)]
mod tests {
    use super::super::places::NOT_KNOWN;
    use super::*;
    use memory_city_heap::{AllocationSite, ObjectId};

    #[test]
    fn shares_of_a_class_add_up_and_know_their_error() {
        let of = |bytes: f64, samples| SampledAmount { samples, objects: 1.0, bytes, variance: bytes * bytes / 100.0 };
        let group = |class: &str, site, bytes| SampledGroup { class: class.into(), site, allocated: of(bytes, 9) };
        let chain = |frames: &[&str]| AllocationSite { frames: frames.iter().map(|frame| Arc::from(*frame)).collect() };
        let amounts = [("shop.Cart", 0, 600.0), ("shop.Cart", 1, 300.0), ("shop.Cart", 2, 100.0), ("x.Y", 0, 5e9)];
        let alive = amounts.iter().zip(0..).map(|((_, _, bytes), n)| SampledObject {
            sample: u64::from(n),
            object: ObjectId(n),
            group: n,
            amount: of(*bytes, 1),
        });
        let sampled = SampledAllocations {
            groups: amounts.map(|(class, site, bytes)| group(class, site, bytes)).to_vec(),
            sites: Arc::new(vec![chain(&["shop.Cart.add() line 7"]), chain(&["shop.Cart.put() line 9"]), chain(&[])]),
            alive: vec![alive.collect()],
            gone: vec![0],
            is_thinned: false,
            lost: 0,
            is_exact: false,
            from_start: true,
            begins_blind: false,
        };
        let shares = shares_of_class("shop.Cart", &sampled, &Places::of(&sampled, None));
        assert_eq!((shares.samples, shares.places.len()), (3, 3));
        assert_eq!(shares.places[0].place, "shop.Cart.add() line 7");
        assert!((shares.places.iter().map(|of| of.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((shares.places[0].share - 0.6).abs() < 1e-9);
        assert_eq!(shares.places[0].error, 1.0, "three samples tell nothing");
        assert_eq!(shares.places[2].place, NOT_KNOWN);
        // Of many samples the error is that of a quotient: sqrt(0.4² 60² + 0.6² (30² + 10²)) of 1000, three times.
        let many = shares_of_many(&sampled);
        assert!((many.places[0].error - 3.0 * 936f64.sqrt() / 1000.0).abs() < 1e-9, "{}", many.places[0].error);
        let exact = SampledAllocations { is_exact: true, ..sampled.clone() };
        assert_eq!(shares_of_class("shop.Cart", &exact, &Places::of(&exact, None)).places[0].error, 0.0);
        assert!(shares_of_class("shop.None", &sampled, &Places::of(&sampled, None)).places.is_empty());
        // Of some objects, whatever class they are of: 300 and 100 of 400.
        let some =
            shares_of("some", &sampled, &Places::of(&sampled, None), |sample, _| [1, 2].contains(&sample.object.0));
        assert_eq!((some.samples, &*some.places[0].place), (2, "shop.Cart.put() line 9"));
        assert!((some.places[0].share - 0.75).abs() < 1e-9, "{some:?}");
    }

    fn shares_of_many(sampled: &SampledAllocations) -> SampledShares {
        let mut many = sampled.clone();
        many.alive[0].iter_mut().for_each(|object| object.amount.samples = 1000);
        shares_of_class("shop.Cart", &many, &Places::of(&many, None))
    }
}
