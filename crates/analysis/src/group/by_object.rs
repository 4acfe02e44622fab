//! Grouping of a heap state object by object, on all cores.
//!
//! The heap is cut into parts of neighbouring objects. Each part has a tree of its own, so that no two tasks share anything. The trees are
//! then joined in the order of parts, which gives the same numbers as one pass over all objects. Objects in the same groups share one list
//! of these groups: a part adds up by list, and only lists are put into the tree. Classifiers that depend on the class of an object alone
//! are called once per class.
//!
//! Memory: 4 bytes an object, and each list once; while it works also the trees of all parts.

use super::classifier::{Classifier, GroupingRun};
use super::grouped::{ObjectClasses, RUN};
use super::grouping::{GroupOptions, Grouping};
use super::object::ObjectView;
use super::placement::Placement;
use super::reads::Reads;
use super::shapes::AlikeObjects;
use super::transform;
use super::tree::MemoryTree;
use ahash::AHashMap;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For each object the leaves it is counted in.
pub(super) struct ByObject {
    /// By part, by object: the number of a list.
    pub parts: Vec<Vec<u32>>,
    /// Objects of a part, as a power of two.
    pub shift: u32,
    pub lists: Vec<Box<[u32]>>,
}

impl ByObject {
    /// The leaves of an object.
    #[inline]
    pub fn of(&self, o: ObjectId) -> &[u32] {
        &self.lists[self.list_of(o) as usize]
    }

    /// The number of an object's list.
    #[inline]
    pub fn list_of(&self, o: ObjectId) -> u32 {
        let (part, at) = (o.0 >> self.shift, o.0 & ((1 << self.shift) - 1));
        self.parts[part as usize][at as usize]
    }
}

/// Limits of a grouping. Classifiers of many values multiply: two of a thousand values each make a million groups of one object.
#[derive(Clone, Copy)]
pub(super) struct GroupLimits {
    /// Nodes of the tree.
    pub nodes: usize,
    /// Entries of all lists together.
    pub listed: usize,
    /// Bytes of their names.
    pub text: usize,
}

impl Default for GroupLimits {
    fn default() -> Self {
        GroupLimits { nodes: 1 << 24, listed: 1 << 28, text: 1 << 30 }
    }
}

/// Objects of a part, as powers of two: enough to pay for a part's own caches, few enough for all cores.
const PART: std::ops::RangeInclusive<u32> = 14..=22;

/// The tree, and the leaves of each object; of those that are `wanted` alone, where that is given.
///
/// # Errors
/// When cancelled, or beyond the limits.
pub(super) fn group(
    heap: &HeapState,
    grouping: &Grouping,
    options: GroupOptions,
    wanted: Option<&BitSet>,
    limits: GroupLimits,
    progress: &Progress,
) -> Result<(MemoryTree, ByObject)> {
    // Made by one, not waited for by all.
    if grouping.reads().contains(Reads::ROOTS) {
        heap.held();
    }
    let (stage, classifiers) = GroupingStage::begin(heap, grouping, options, limits, progress)?;
    let mut tree = Placement::new(&classifiers).tree;
    let start = |o: ObjectId, starts: &mut Vec<u32>| {
        if wanted.is_none_or(|wanted| wanted.contains(o.0)) {
            starts.push(0);
        }
    };
    let groups = stage.group(&classifiers, start, &|_, _| 0, &mut tree)?;
    let groups = transform::add(&stage, &classifiers, groups, &mut tree)?;
    Ok((tree, groups))
}

/// The tree of objects that are alike in all that classifiers read, and the leaves of each kind of them, in one part, by its
/// number.
///
/// # Errors
/// As [`group`].
pub(super) fn group_alike(
    heap: &HeapState,
    grouping: &Grouping,
    options: GroupOptions,
    alike: &[AlikeObjects],
    progress: &Progress,
) -> Result<(MemoryTree, ByObject)> {
    let (stage, classifiers) = GroupingStage::begin(heap, grouping, options, GroupLimits::default(), progress)?;
    let mut tree = Placement::new(&classifiers).tree;
    let mut part = GroupedPart::new(&classifiers, stage.title, stage.limits);
    for run in alike.chunks(RUN) {
        progress.check()?;
        let objects = run.iter().map(|alike| (alike.example, alike.amount));
        part.add(heap, objects, stage.among, &|_, starts| starts.push(0))?;
        part.placement.check()?;
    }
    let groups = stage.join(vec![part], &|_, _| 0, &mut tree)?;
    Ok((tree, groups))
}

/// A pass over all objects.
pub(super) struct GroupingStage<'a> {
    pub heap: &'a HeapState,
    pub among: Option<&'a BitSet>,
    /// Objects of a part, as a power of two.
    pub shift: u32,
    /// The title of the grouping.
    pub title: &'a str,
    pub limits: GroupLimits,
    pub progress: &'a Progress,
}

impl<'a> GroupingStage<'a> {
    /// The first pass of a grouping, and its classifiers, ready for it.
    fn begin(
        heap: &'a HeapState,
        grouping: &'a Grouping,
        options: GroupOptions,
        limits: GroupLimits,
        progress: &'a Progress,
    ) -> Result<(GroupingStage<'a>, Vec<Arc<dyn Classifier>>)> {
        let objects_of_part = (heap.object_count() / (4 * rayon::current_num_threads())).max(1);
        let shift = objects_of_part.ilog2().clamp(*PART.start(), *PART.end());
        let among = (!options.include_unreachable).then(|| heap.reachable());
        let classifiers = grouping.prepared(&GroupingRun { heap: Some(heap), among, progress })?;
        Ok((GroupingStage { heap, among, shift, title: &grouping.title, limits, progress }, classifiers))
    }

    /// Classifies the objects below the nodes where they `start`: none leaves an object out. `row` makes the node of the
    /// tree at which those that start at another begin.
    pub fn group(
        &self,
        classifiers: &[Arc<dyn Classifier>],
        start: impl Fn(ObjectId, &mut Vec<u32>) + Sync,
        row: &dyn Fn(&mut MemoryTree, u32) -> u32,
        tree: &mut MemoryTree,
    ) -> Result<ByObject> {
        let (n, shift) = (self.heap.object_count(), self.shift);
        let parts: Vec<GroupedPart<'_>> = (0..n.div_ceil(1 << shift))
            .into_par_iter()
            .map(|p| {
                let mut part = GroupedPart::new(classifiers, self.title, self.limits);
                for run in (p << shift..((p + 1) << shift).min(n)).step_by(RUN) {
                    self.progress.check()?;
                    let end = ((p + 1) << shift).min(n).min(run + RUN);
                    let one = |o| (o, Amount { objects: 1, bytes: self.heap.size_of(o) });
                    part.add(self.heap, (run..end).map(|o| one(ObjectId(o as u32))), self.among, &start)?;
                    part.placement.check()?;
                }
                Ok(part)
            })
            .collect::<Result<_>>()?;
        self.join(parts, row, tree)
    }

    /// Joins the parts, in their order.
    fn join(
        &self,
        parts: Vec<GroupedPart<'_>>,
        row: &dyn Fn(&mut MemoryTree, u32) -> u32,
        tree: &mut MemoryTree,
    ) -> Result<ByObject> {
        let mut lists = Lists::new(self.limits);
        let mut joined = Vec::with_capacity(parts.len());
        for part in parts {
            self.progress.check()?;
            let from = &part.placement.tree;
            for (role, separator) in from.separators() {
                tree.join_chains(role, separator);
            }
            // A node below the root of a part's tree may stand for one of the tree that is there.
            let mut begins = vec![None; from.len()];
            part.starts.iter().for_each(|(&start, &node)| begins[node as usize] = Some(start));
            let mut node = Vec::with_capacity(from.len());
            for (n, begin) in begins.into_iter().enumerate() {
                node.push(match (from.parent(n), begin) {
                    (_, Some(start)) => row(tree, start),
                    (None, None) => 0,
                    (Some(parent), None) => tree.child(node[parent] as usize, from.role(n), from.name(n)) as u32,
                });
            }
            check_size(tree, self.title, self.limits)?;
            let mut number = Vec::with_capacity(part.lists.all.len());
            for (list, amount) in part.lists.all.iter().zip(&part.lists.amounts) {
                let mut list: Vec<u32> = list.iter().map(|&leaf| node[leaf as usize]).collect();
                list.sort_unstable();
                number.push(lists.add(&list, *amount, self.title)?);
            }
            let mut of = part.of;
            of.par_chunks_mut(RUN).for_each(|run| run.iter_mut().for_each(|list| *list = number[*list as usize]));
            joined.push(of);
        }
        for (list, amount) in lists.all.iter().zip(&lists.amounts) {
            tree.add_up(list, *amount);
        }
        Ok(ByObject { parts: joined, shift: self.shift, lists: lists.all })
    }
}

/// Node and class, or number, to the nodes below.
type Learnt = FxHashMap<(u32, u64), Box<[u32]>>;

/// How a classifier is asked.
enum Asked {
    /// Every object.
    Each,
    /// Once for a class of objects.
    ByClass(Learnt),
    /// Once for a number that it gives objects, and of those to which it gives none.
    ByNumber(Arc<dyn Classifier>, Learnt),
}

#[inline]
fn number(classifier: &dyn Classifier, object: &ObjectView<'_>) -> Option<u64> {
    classifier.number_of(&object.for_reader(classifier.meta().reads))
}

/// Everything that an object's list depends on: its class, and its numbers.
type ListKey = [u64; MOST_NUMBERS + 1];

/// Classifiers by number in a grouping whose lists are looked up at once.
const MOST_NUMBERS: usize = 3;

/// `None` when a classifier has no number for the object.
#[inline]
fn key(asked: &[Asked], object: &ObjectView<'_>, class: u64) -> Option<ListKey> {
    let mut key = [class, 0, 0, 0];
    let mut at = 0;
    for asked in asked {
        if let Asked::ByNumber(classifier, _) = asked {
            at += 1;
            key[at] = number(&**classifier, object)?;
        }
    }
    Some(key)
}

/// The lists of the last objects, by the key they follow from: a place for each of some thousand mixes of a key's bits.
struct RecentLists {
    lists: Vec<(ListKey, u32)>,
}

impl RecentLists {
    const BITS: u32 = 13;

    /// `None` where lists do not follow from few numbers.
    fn new(asked: &[Asked]) -> Option<RecentLists> {
        let numbers = asked.iter().filter(|asked| matches!(asked, Asked::ByNumber(..))).count();
        let fits = numbers <= MOST_NUMBERS && !asked.iter().any(|asked| matches!(asked, Asked::Each));
        // No class is the largest number.
        fits.then(|| RecentLists { lists: vec![([u64::MAX; MOST_NUMBERS + 1], 0); 1 << Self::BITS] })
    }

    #[inline]
    fn place(key: &ListKey) -> usize {
        let mix = key.iter().fold(0u64, |mix, part| (mix.rotate_left(23) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (mix >> (u64::BITS - Self::BITS)) as usize
    }

    #[inline]
    fn find(&self, key: &ListKey) -> Option<u32> {
        let (known, list) = &self.lists[Self::place(key)];
        (known == key).then_some(*list)
    }

    fn keep(&mut self, key: ListKey, list: u32) {
        self.lists[Self::place(&key)] = (key, list);
    }
}

/// Neighbouring objects, grouped.
struct GroupedPart<'g> {
    placement: Placement,
    title: &'g str,
    limits: GroupLimits,
    classes: ObjectClasses,
    /// By classifier: the next node of objects of a class or number, from a node.
    asked: Vec<Asked>,
    recent: Option<RecentLists>,
    lists: Lists,
    /// By object: its list.
    of: Vec<u32>,
    /// Nodes of the whole tree at which objects start, with their nodes in the tree of this part.
    starts: FxHashMap<u32, u32>,
    start_role: u32,
}

impl<'g> GroupedPart<'g> {
    fn new(classifiers: &[Arc<dyn Classifier>], title: &'g str, limits: GroupLimits) -> GroupedPart<'g> {
        let mut placement = Placement::new(classifiers);
        let classifiers = placement.classifiers();
        let by_class = classifiers.iter().map(|c| c.meta().reads).filter(|r| !r.by_object());
        let classes = ObjectClasses::new(by_class.fold(Reads::empty(), |all, r| all | r));
        let asked: Vec<Asked> = classifiers
            .iter()
            .map(|c| match c.meta().reads.by_object() {
                true if c.numbers() => Asked::ByNumber(Arc::clone(c), FxHashMap::default()),
                true => Asked::Each,
                false => Asked::ByClass(FxHashMap::default()),
            })
            .collect();
        let recent = RecentLists::new(&asked);
        let start_role = placement.tree.symbol("");
        GroupedPart {
            placement,
            title,
            limits,
            classes,
            asked,
            recent,
            lists: Lists::new(limits),
            of: Vec::new(),
            starts: FxHashMap::default(),
            start_role,
        }
    }

    fn add(
        &mut self,
        heap: &HeapState,
        objects: impl ExactSizeIterator<Item = (ObjectId, Amount)>,
        among: Option<&BitSet>,
        start: &impl Fn(ObjectId, &mut Vec<u32>),
    ) -> Result<()> {
        let (mut ends, mut next, mut none) = (Vec::new(), Vec::new(), Learnt::default());
        self.of.reserve(objects.len());
        for (o, amount) in objects {
            if among.is_some_and(|all| !all.contains(o.0)) {
                self.of.push(Lists::EMPTY);
                continue;
            }
            let object = ObjectView::new(heap, o, among, Reads::empty());
            let class = self.classes.of(heap, o);
            ends.clear();
            start(o, &mut ends);
            if ends.is_empty() {
                self.of.push(Lists::EMPTY);
                continue;
            }
            let key = self.recent.as_ref().filter(|_| *ends == [0]).and_then(|_| key(&self.asked, &object, class));
            if let Some(list) = self.recent.as_ref().zip(key).and_then(|(recent, key)| recent.find(&key)) {
                self.of.push(self.lists.count(list, amount));
                continue;
            }
            for end in ends.iter_mut().filter(|end| **end != 0) {
                *end = *self
                    .starts
                    .entry(*end)
                    .or_insert_with_key(|start| self.placement.tree.child_of(0, self.start_role, &start.to_string()));
            }
            for (level, asked) in self.asked.iter_mut().enumerate() {
                next.clear();
                let (learnt, key) = match asked {
                    Asked::ByClass(learnt) => (learnt, Some(class)),
                    Asked::ByNumber(classifier, learnt) => (learnt, number(&**classifier, &object)),
                    Asked::Each => (&mut none, None),
                };
                let Some(key) = key else {
                    self.placement.below(level, &object, &ends, &mut next);
                    std::mem::swap(&mut ends, &mut next);
                    continue;
                };
                for &end in &ends {
                    let to = learnt.entry((end, key)).or_insert_with(|| {
                        let mut to = Vec::new();
                        self.placement.below(level, &object, &[end], &mut to);
                        to.into()
                    });
                    next.extend_from_slice(to);
                }
                std::mem::swap(&mut ends, &mut next);
            }
            ends.sort_unstable();
            ends.dedup();
            check_size(&self.placement.tree, self.title, self.limits)?;
            let list = self.lists.add(&ends, amount, self.title)?;
            if let Some((recent, key)) = self.recent.as_mut().zip(key) {
                recent.keep(key, list);
            }
            self.of.push(list);
        }
        Ok(())
    }
}

/// Lists of leaves, each once, with the objects that have it.
struct Lists {
    all: Vec<Box<[u32]>>,
    amounts: Vec<Amount>,
    /// The lists of one leaf, by leaf; 0 while there is none.
    single: Vec<u32>,
    several: AHashMap<Box<[u32]>, u32>,
    /// Entries of all lists.
    listed: usize,
    limits: GroupLimits,
}

impl Lists {
    /// The number of the empty list.
    const EMPTY: u32 = 0;

    fn new(limits: GroupLimits) -> Lists {
        Lists {
            all: vec![Box::default()],
            amounts: vec![Amount::default()],
            single: Vec::new(),
            several: AHashMap::default(),
            listed: 0,
            limits,
        }
    }

    /// Counts objects with a list, which is ascending; the number of the list.
    #[inline]
    fn add(&mut self, list: &[u32], amount: Amount, title: &str) -> Result<u32> {
        let known = match list {
            [] => return Ok(Lists::EMPTY),
            [leaf] => self.single.get(*leaf as usize).copied().filter(|&n| n != Lists::EMPTY),
            several => self.several.get(several).copied(),
        };
        let number = match known {
            Some(number) => number,
            None => self.new_list(list, title)?,
        };
        Ok(self.count(number, amount))
    }

    /// Counts objects with a list that is there.
    #[inline]
    fn count(&mut self, list: u32, amount: Amount) -> u32 {
        // What is in no group is counted in none.
        if list != Lists::EMPTY {
            self.amounts[list as usize] += amount;
        }
        list
    }

    #[cold]
    fn new_list(&mut self, list: &[u32], title: &str) -> Result<u32> {
        let number = self.all.len() as u32;
        self.listed += list.len();
        if self.listed > self.limits.listed {
            let what = format!("objects are in more than {} groups, added up", self.limits.listed);
            return Err(too_much(title, &what));
        }
        match list {
            [leaf] => {
                let leaf = *leaf as usize;
                if self.single.len() <= leaf {
                    self.single.resize(leaf + 1, Lists::EMPTY);
                }
                self.single[leaf] = number;
            }
            several => {
                self.several.insert(several.into(), number);
            }
        }
        self.all.push(list.into());
        self.amounts.push(Amount::default());
        Ok(number)
    }
}

#[inline]
pub(super) fn check_size(tree: &MemoryTree, title: &str, limits: GroupLimits) -> Result<()> {
    if tree.len() > limits.nodes {
        return Err(too_much(title, &format!("it makes more than {} groups", limits.nodes)));
    }
    if tree.text_bytes() > limits.text {
        return Err(too_much(title, &format!("the names of its groups take more than {} bytes", limits.text)));
    }
    Ok(())
}

#[cold]
pub(super) fn too_much(title: &str, what: &str) -> Error {
    Error::Unusable {
        what: format!("The grouping {title} is too fine for this heap: {what}"),
        remedy: "Leave out one of its classifiers, or put coarser ones in its place".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group;
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType, TypeKind};

    /// A grouping that multiplies ends in an error with advice, not with the memory of the machine.
    #[test]
    fn groupings_that_come_to_too_much_are_refused() {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let of = HeapType { name: "A".into(), kind: TypeKind::PrimitiveArray, superclass: None, loader: "app".into() };
        let of = heap.add_type(of);
        (0..10).for_each(|i| {
            heap.add_object(of, 16, Some(i));
        });
        let heap = heap.finish();
        let grouping = group::grouping("array-length(exact)").expect("a grouping");
        let with = |nodes: usize, listed: usize| {
            let options = GroupOptions::default();
            super::group(
                &heap,
                &grouping,
                options,
                None,
                GroupLimits { nodes, listed, text: 1 << 20 },
                &Progress::new(),
            )
            .map(|_| ())
        };
        assert!(with(11, 10).is_ok());
        for (nodes, listed, what) in [(10, 10, "more than 10 groups"), (11, 9, "more than 9 groups")] {
            let error = with(nodes, listed).expect_err("too much").to_string();
            assert!(error.contains(what) && error.contains("Leave out"), "{error}");
        }
    }
}
