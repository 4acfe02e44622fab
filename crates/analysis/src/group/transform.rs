//! Transformers: they replace the objects of a group by those at the other end of references, which are classified in turn.
//!
//! Below a group, `type>pointed-from(package>type)` puts a row at which counting starts anew. Under it are the objects that refer to any
//! object of the group, each once, by package and type. Transformers nest. An object is in its own groups and in those of all rows that it
//! is under.
//!
//! Each transformer is one pass over all objects, in parallel: an object takes the groups of those at the other end of its references, and
//! goes on from their rows. So work grows with references, not with pairs of objects.

use super::by_object::{ByObject, GroupingStage, check_size, too_much};
use super::classifier::Classifier;
use super::object::ObjectView;
use super::tree::MemoryTree;
use super::values::ObjectValues;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The objects that a transformer puts in place of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherObjects {
    /// The objects it refers to.
    Referred,
    /// The objects that refer to it.
    Referring,
    /// Parts of it, which its classifier names, with their bytes: they are no objects of the heap.
    Parts,
}

/// The objects that replace those of a group, and their classifiers.
#[derive(Clone)]
pub struct Transform {
    /// The objects.
    pub others: OtherObjects,
    /// The name of their row.
    pub row: String,
    /// How they are classified.
    pub list: Vec<Arc<dyn Classifier>>,
}

impl Transform {
    /// The role of the rows: not that of the classifier of the same name, whose groups are no rows.
    pub(super) fn role(&self) -> String {
        format!("{} (objects)", self.row)
    }
}

/// The neighbours of an object.
fn neighbours(heap: &HeapState, others: OtherObjects, o: ObjectId) -> &[ObjectId] {
    match others {
        OtherObjects::Referred => heap.references(o),
        OtherObjects::Referring => heap.referrers(o),
        OtherObjects::Parts => &[],
    }
}

/// Adds the rows of a list's transformers below the groups of objects.
pub(super) fn add(
    stage: &GroupingStage<'_>,
    list: &[Arc<dyn Classifier>],
    groups: ByObject,
    tree: &mut MemoryTree,
) -> Result<ByObject> {
    let (parts, transforms): (Vec<_>, Vec<_>) = list
        .iter()
        .filter_map(|c| Some((&**c, c.transform()?)))
        .partition(|(_, transform)| transform.others == OtherObjects::Parts);
    for (classifier, transform) in parts {
        add_parts(stage, classifier, transform, &groups, tree)?;
    }
    if transforms.is_empty() {
        return Ok(groups);
    }
    // From each transform to those inside it; the depth is that of the text, which is limited.
    let mut all = Vec::new();
    for (_, transform) in transforms {
        let role = transform.role();
        let from = &groups;
        let opposite = match transform.others {
            OtherObjects::Referred => OtherObjects::Referring,
            OtherObjects::Referring | OtherObjects::Parts => OtherObjects::Referred,
        };
        let start = |o: ObjectId, starts: &mut Vec<u32>| {
            from_neighbours(from, neighbours(stage.heap, opposite, o), stage.among, starts);
        };
        let row = |tree: &mut MemoryTree, start: u32| tree.restart(start - 1, &role, &transform.row);
        let found = stage.group(&transform.list, start, &row, tree)?;
        all.push(add(stage, &transform.list, found, tree)?);
    }
    all.insert(0, groups);
    together(stage, all)
}

/// Objects that are in the same groups: all that they have, and each part of it.
type PartSums = FxHashMap<u32, (Amount, BTreeMap<String, Amount>)>;

/// Puts the parts of the objects of each group below it.
fn add_parts(
    stage: &GroupingStage<'_>,
    classifier: &dyn Classifier,
    transform: &Transform,
    groups: &ByObject,
    tree: &mut MemoryTree,
) -> Result<()> {
    let (n, shift, reads) = (stage.heap.object_count(), stage.shift, classifier.meta().reads);
    let sums = (0..groups.parts.len())
        .into_par_iter()
        .map(|p| {
            let (mut sums, mut values) = (PartSums::default(), ObjectValues::default());
            for o in (p << shift..((p + 1) << shift).min(n)).map(|o| ObjectId(o as u32)) {
                if o.0.is_multiple_of(1 << 12) {
                    stage.progress.check()?;
                    classifier.failure().map_or(Ok(()), Err)?;
                }
                let list = groups.list_of(o);
                if groups.lists[list as usize].is_empty() {
                    continue;
                }
                values.clear();
                classifier.classify(&ObjectView::new(stage.heap, o, stage.among, reads), &mut values);
                let (all, by_name) = sums.entry(list).or_default();
                let mut some = Amount::default();
                for (name, bytes) in values.parts().filter(|(_, bytes)| *bytes > 0) {
                    some.objects = 1;
                    some.bytes += bytes;
                    let amount = Amount { objects: 1, bytes };
                    match by_name.get_mut(name) {
                        Some(sum) => *sum += amount,
                        None => *by_name.entry(name.to_owned()).or_default() += amount,
                    }
                }
                *all += some;
            }
            classifier.failure().map_or(Ok(()), Err)?;
            Ok(sums)
        })
        .collect::<Result<Vec<_>>>()?;
    let (role, part_role) = (transform.role(), classifier.meta().name.to_string());
    for sums in sums {
        // In the order of lists, whatever a hash makes of them.
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|(list, _)| *list);
        for (list, (all, by_name)) in sums {
            for &group in &groups.lists[list as usize] {
                let row = tree.restart(group, &role, &transform.row);
                tree.add(row as usize, all);
                let symbol = tree.symbol(&part_role);
                for (name, amount) in &by_name {
                    let part = tree.child_of(row, symbol, name);
                    tree.add(part as usize, *amount);
                }
                check_size(tree, stage.title, stage.limits)?;
            }
        }
    }
    Ok(())
}

/// The groups that objects are in, each once.
fn from_neighbours(groups: &ByObject, neighbours: &[ObjectId], among: Option<&BitSet>, found: &mut Vec<u32>) {
    // Many objects are in the same groups: an object of a million references asks for a handful of lists.
    let mut lists: FxHashSet<u32> = FxHashSet::default();
    let mut last = u32::MAX;
    for &o in neighbours.iter().filter(|o| among.is_none_or(|all| all.contains(o.0))) {
        let list = groups.list_of(o);
        if list != last && lists.insert(list) {
            // A group by number, counted from 1: 0 is where a pass without groups starts.
            found.extend(groups.lists[list as usize].iter().map(|group| group + 1));
        }
        last = list;
    }
    if lists.len() > 1 {
        found.sort_unstable();
        found.dedup();
    }
}

/// For each object all groups that it is in.
fn together(stage: &GroupingStage<'_>, all: Vec<ByObject>) -> Result<ByObject> {
    let shift = stage.shift;
    let mut lists: Vec<Box<[u32]>> = vec![Box::default()];
    let mut known: AHashMap<Vec<u32>, u32> = AHashMap::default();
    known.insert(vec![0; all.len()], 0);
    let mut listed = 0;
    let mut parts = Vec::with_capacity(all[0].parts.len());
    for part in 0..all[0].parts.len() {
        stage.progress.check()?;
        let columns: Vec<&[u32]> = all.iter().map(|groups| &*groups.parts[part]).collect();
        // Which combinations there are is found in parallel, what they come to is worked out once.
        let new: FxHashSet<Vec<u32>> = (0..columns[0].len())
            .into_par_iter()
            .fold(FxHashSet::default, |mut found: FxHashSet<Vec<u32>>, i| {
                let numbers: Vec<u32> = columns.iter().map(|c| c[i]).collect();
                if !known.contains_key(&numbers) {
                    found.insert(numbers);
                }
                found
            })
            .reduce(FxHashSet::default, |mut a, b| {
                a.extend(b);
                a
            });
        for numbers in new {
            let mut list: Vec<u32> =
                numbers.iter().zip(&all).flat_map(|(&n, groups)| groups.lists[n as usize].iter().copied()).collect();
            list.sort_unstable();
            list.dedup();
            listed += list.len();
            if listed > stage.limits.listed {
                let what = format!("objects are in more than {} groups, added up", stage.limits.listed);
                return Err(too_much(stage.title, &what));
            }
            known.insert(numbers, lists.len() as u32);
            lists.push(list.into());
        }
        let number = |i: usize| {
            let numbers: Vec<u32> = columns.iter().map(|c| c[i]).collect();
            known[&numbers]
        };
        parts.push((0..columns[0].len()).into_par_iter().map(number).collect());
    }
    Ok(ByObject { parts, shift, lists })
}
