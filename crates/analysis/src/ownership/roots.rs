//! The roots that keep a group of objects, and the part of it that each keeps.

use super::anchors::Anchors;
use super::keeping::KeeperGraph;
use super::paths::MergedStep;
use super::paths_expand::Expander;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId, RootKind};
use std::cmp::Reverse;

/// A root, or all of a kind, and the part of a group that it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepingRoot {
    /// The kind of the root.
    pub kind: RootKind,
    /// Kind and place, for people; the kind alone, where all of a kind are meant.
    pub text: String,
    /// Roots of different texts.
    pub roots: u64,
    /// The part of the group that it keeps on the chosen path. For each object, these are the roots of the first object up the path that
    /// roots hold.
    pub keeps: Amount,
}

/// By object: the first object up the path that roots hold; [`NOWHERE`].
pub(crate) struct Tops(Vec<u32>);

const NOWHERE: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 16;

impl Tops {
    /// Nothing is known yet. 4 bytes an object.
    pub fn new(heap: &HeapState) -> Tops {
        Tops(vec![UNKNOWN; heap.object_count()])
    }

    /// The first object that roots hold up the path from `o`, if each object has one keeper at most. Every object is visited once, however
    /// often it is requested.
    fn of(&mut self, o: ObjectId, keeping: &KeeperGraph<'_>, anchors: &Anchors<'_>) -> Option<ObjectId> {
        let mut way = Vec::new();
        let mut at = o;
        let top = loop {
            match self.0[at.0 as usize] {
                UNKNOWN => way.push(at),
                known => break known,
            }
            if anchors.any(at) {
                break at.0;
            }
            let mut keeper = None;
            keeping.keepers(at, |k| keeper = Some(k));
            match keeper {
                Some(keeper) => at = keeper,
                None => break NOWHERE,
            }
        };
        way.iter().for_each(|o| self.0[o.0 as usize] = top);
        (top != NOWHERE).then_some(ObjectId(top))
    }
}

/// The roots at the ends of the paths up from a group, with the part of it that they keep; the largest first, by its bytes or its objects.
/// `keeping` has one keeper for each object. An object that several roots hold counts for each.
///
/// # Errors
/// When cancelled.
pub(crate) fn keeping_roots(
    keeping: &KeeperGraph<'_>,
    group: &[ObjectId],
    tops: &mut Tops,
    by_bytes: bool,
    progress: &Progress,
) -> Result<Vec<KeepingRoot>> {
    let anchors = Anchors::new(keeping.graph());
    let heap = keeping.heap();
    // By object that roots hold: what hangs on it. Few, compared to the group.
    let mut by_top: rustc_hash::FxHashMap<ObjectId, Amount> = Default::default();
    for (at, &o) in group.iter().enumerate() {
        if at.is_multiple_of(CHECKED) {
            progress.check()?;
        }
        if let Some(top) = tops.of(o, keeping, &anchors) {
            *by_top.entry(top).or_default() += Amount { objects: 1, bytes: heap.size_of(o) };
        }
    }
    // Texts of dumps: hashed with a random seed.
    let mut by_text: AHashMap<String, (RootKind, Amount)> = AHashMap::default();
    for (top, amount) in by_top {
        let mut texts: Vec<(RootKind, String)> = Vec::new();
        anchors.of(top, |kind, text| texts.push((kind, text)));
        texts.sort_unstable();
        texts.dedup();
        for (kind, text) in texts {
            by_text.entry(text).or_insert((kind, Amount::default())).1 += amount;
        }
    }
    let root = |(text, (kind, keeps))| KeepingRoot { kind, text, roots: 1, keeps };
    let mut roots: Vec<KeepingRoot> = by_text.into_iter().map(root).collect();
    sort(&mut roots, by_bytes);
    Ok(roots)
}

/// For each kind of root: the number of roots with different texts, and the part of the group reached from all of them together, by any
/// path. `keeping` has all keepers.
///
/// # Errors
/// When cancelled.
pub(crate) fn reaching_kinds(
    keeping: &KeeperGraph<'_>,
    group: &BitSet,
    progress: &Progress,
) -> Result<Vec<KeepingRoot>> {
    let heap = keeping.heap();
    progress.begin("Following all roots downwards", heap.object_count() as u64);
    let anchors = Anchors::new(keeping.graph());
    let mut held: Vec<ObjectId> =
        heap.roots().iter().map(|r| r.object).chain(keeping.graph().roots().iter().copied()).collect();
    held.retain(|o| (o.0 as usize) < heap.object_count());
    held.sort_unstable();
    held.dedup();
    let mut kinds: std::collections::BTreeMap<RootKind, (ahash::AHashSet<String>, Vec<ObjectId>)> = Default::default();
    for o in held {
        anchors.of(o, |kind, text| {
            let (texts, objects) = kinds.entry(kind).or_default();
            texts.insert(text);
            objects.push(o);
        });
    }
    let class_objects = super::keeping::ClassObjects::new(heap);
    let mut expander = Expander::new(keeping, &class_objects, &anchors, group);
    let starts: Vec<Vec<ObjectId>> = kinds.values().map(|(_, objects)| objects.clone()).collect();
    let reached = expander.reached(&starts, &BitSet::full(heap.object_count()), progress)?;
    let mut roots: Vec<KeepingRoot> = kinds
        .into_iter()
        .zip(reached)
        .map(|((kind, (texts, _)), reached)| KeepingRoot {
            kind,
            text: kind.title().to_owned(),
            roots: texts.len() as u64,
            keeps: reached.amount,
        })
        .filter(|root| root.keeps.objects > 0)
        .collect();
    sort(&mut roots, false);
    Ok(roots)
}

/// The largest first, by the chosen measure.
fn sort(roots: &mut [KeepingRoot], by_bytes: bool) {
    let most = |amount: Amount| Reverse((amount.measured(by_bytes), amount.measured(!by_bytes)));
    roots.sort_by(|a, b| {
        (most(a.keeps), among_equals(a.kind, &a.text)).cmp(&(most(b.keeps), among_equals(b.kind, &b.text)))
    });
}

/// In which order roots come that hold equally much: a thread before the variables of its methods, which hold it too.
pub(super) fn among_equals(kind: RootKind, text: &str) -> (bool, &str) {
    (kind == RootKind::LocalVariable, text)
}

/// The amount that each of some steps would free with all its objects: exact, each as one group. One walk for all.
///
/// # Errors
/// When cancelled.
pub(crate) fn retained_by_steps(
    heap: &HeapState,
    rules: memory_city_heap::ownership::KeepRules,
    steps: &[MergedStep],
    progress: &Progress,
) -> Result<Vec<Amount>> {
    use memory_city_heap::ownership::{GroupClosures, ObjectGroups};
    let mut of = vec![0u32; heap.object_count()];
    let mut lists: Vec<Box<[u32]>> = vec![Box::default()];
    // The list that follows when a step is added to a list.
    let mut followers: rustc_hash::FxHashMap<(u32, u32), u32> = Default::default();
    for (number, step) in (0u32..).zip(steps) {
        for o in &step.objects {
            let list = &mut of[o.0 as usize];
            *list = *followers.entry((*list, number)).or_insert_with(|| {
                let mut longer = lists[*list as usize].to_vec();
                longer.push(number);
                lists.push(longer.into_boxed_slice());
                lists.len() as u32 - 1
            });
        }
    }
    let groups = std::sync::Arc::new(ObjectGroups::new(of, lists, steps.len()));
    let wanted: Vec<u32> = (0..steps.len() as u32).collect();
    GroupClosures::new(heap, rules, groups).retained(&wanted, progress)
}
