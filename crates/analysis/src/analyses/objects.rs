//! Shared code of analyses of single objects: the heap state and values they read, names of objects, and the first of many. Not an analysis
//! itself.

use super::parameters::{Parameter, ParameterKind};
pub(super) use crate::inspection::{address_text, class_or_type, type_name};
use crate::tabular::{Cell, count_text};
use crate::timeline::{History, NodeId, Source, Timeline};
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, HeapType, ObjectId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The heap states of a document; an analysis that needs objects is not run without them.
pub(super) fn history(document: &Source) -> Result<&History> {
    document.heaps().ok_or_else(|| Error::Unusable {
        what: "The input has trees, not objects".into(),
        remedy: "Open heap dumps or a memory trace".into(),
    })
}

/// The values at a point in time; an analysis that needs values is not run without them.
pub(super) fn values(document: &Source, time: usize, progress: &Progress) -> Result<HeapValues> {
    history(document)?.values(time, progress)?.ok_or_else(|| Error::Unusable {
        what: "The input records references, not what fields hold".into(),
        remedy: "Open heap dumps".into(),
    })
}

/// The group that a parameter names: by its key, or by a name that only one has (`java.util.LinkedList`); the whole heap where it is
/// empty.
pub(super) fn group(document: &Source, key: &str) -> Result<NodeId> {
    let key = key.trim();
    if key.is_empty() {
        return Ok(NodeId::ROOT);
    }
    if let Some(node) = document.find(key) {
        return Ok(node);
    }
    let timeline = document.timeline();
    let named: Vec<NodeId> = timeline.called(key).collect();
    let unusable = |what, such_as: String| Error::Unusable {
        what,
        remedy: format!(
            "Give the key of a node, such as {such_as} (grouped by {}); `memory-city report --tree --format csv` lists all keys",
            document.grouping_id()
        ),
    };
    match named[..] {
        [node] => Ok(node),
        [] => Err(unusable(format!("There is no group {key}"), example_key(timeline, key))),
        [first, ..] => {
            Err(unusable(format!("There are {} groups {key}", count_text(named.len() as u64)), timeline.key(first)))
        }
    }
}

/// The key of a group that might have been meant, by the last of its names; of the one with most bytes where none is like that.
fn example_key(timeline: &Timeline, key: &str) -> String {
    let last = key.rsplit(['#', '.']).next().unwrap_or(key).to_lowercase();
    let time = timeline.times().saturating_sub(1);
    let leaves = timeline.nodes().filter(|&node| timeline.children(node).is_empty());
    let like = |&node: &NodeId| {
        let name = timeline.name(node).to_lowercase();
        (name == last, !last.is_empty() && name.contains(&last))
    };
    let found = leaves.max_by_key(|node| (like(node), timeline.amount(time, *node).bytes));
    timeline.key(found.unwrap_or(NodeId::ROOT))
}

/// The groups that a parameter names, with ` + ` between their keys; the whole heap where it is empty.
pub(super) fn groups(document: &Source, keys: &str) -> Result<Vec<NodeId>> {
    // A name may hold anything: a key that is there is one key.
    if document.find(keys.trim()).is_some() || !keys.contains(" + ") {
        return Ok(vec![group(document, keys)?]);
    }
    keys.split(" + ").map(|key| group(document, key)).collect()
}

/// The object that a parameter names by address (`0x7f00a8`) or by the number its recorder gave it (`#4711`).
pub(super) fn object(heap: &HeapState, text: &str) -> Result<ObjectId> {
    let text = text.trim();
    let address = || u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let id = || text.strip_prefix('#')?.parse::<u64>().ok();
    let (what, found) = match (address(), id()) {
        (Some(address), _) => ("at this point in time there is no object", heap.object_at(address)),
        (_, Some(id)) => ("at this point in time there is no object", heap.object_with_id(id)),
        _ => ("that is no address", None),
    };
    found.ok_or_else(|| Error::Unusable {
        what: format!("{text}: {what}"),
        remedy:
            "Give an address as this analysis lists them, such as 0x7f00a8. The garbage collector moves objects: an \
                 address means something in one state only"
                .into(),
    })
}

/// A text, or nothing.
pub(super) fn text_cell(text: Option<String>) -> Cell {
    text.map_or(Cell::Empty, Cell::Text)
}

/// The objects of a group that pass a filter on their types: those that the city shows.
pub(super) fn objects_of_types(
    document: &Source,
    time: usize,
    group_key: &str,
    is_wanted: impl Fn(&HeapType) -> bool,
    progress: &Progress,
) -> Result<(HeapValues, BitSet)> {
    let node = group(document, group_key)?;
    let values = values(document, time, progress)?;
    let set = history(document)?.objects_of(time, &[node], progress)?;
    let heap = values.heap();
    if heap.is_redacted() {
        return Err(Error::Unusable {
            what: "The contents of this dump were taken out: objects that look alike need not have been".into(),
            remedy: "Use a dump as the VM wrote it".into(),
        });
    }
    let types: Vec<bool> = heap.types().iter().map(is_wanted).collect();
    let mut wanted = BitSet::new(heap.object_count());
    for o in heap.objects().filter(|&o| types[heap.type_of(o).0 as usize] && set.objects.contains(o.0)) {
        wanted.insert(o.0);
    }
    Ok((values, wanted))
}

/// The numbers in a set, of all objects of a heap state.
pub(super) fn members<'s>(heap: &HeapState, set: &'s BitSet) -> impl Iterator<Item = ObjectId> + use<'s> {
    heap.objects().filter(|o| set.contains(o.0))
}

/// The parameter that names a group.
pub(super) fn group_parameter(explanation: &'static str) -> Parameter {
    Parameter { id: "group", title: "Group", explanation, kind: ParameterKind::Text { default: "" } }
}

/// Its explanation where several groups may be named.
pub(super) const GROUPS: &str = "The key of the group, or several keys with ` + ` between them, which are one group then; all objects where it is empty";

/// The parameter that says how many rows are listed.
pub(super) fn top_parameter(explanation: &'static str) -> Parameter {
    Parameter {
        id: "top",
        title: "Rows",
        explanation,
        kind: ParameterKind::Number { default: 20, least: 0, most: 100_000 },
    }
}

/// Objects as bits that several threads set.
pub(super) struct SharedBits(Vec<AtomicU64>);

impl SharedBits {
    pub(super) fn new(bound: usize) -> Self {
        SharedBits((0..bound.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds an object; returns whether it was new.
    #[inline]
    pub(super) fn insert(&self, o: ObjectId) -> bool {
        let bit = 1u64 << (o.0 % 64);
        self.0[o.0 as usize / 64].fetch_or(bit, Relaxed) & bit == 0
    }

    #[inline]
    pub(super) fn contains(&self, o: ObjectId) -> bool {
        self.0[o.0 as usize / 64].load(Relaxed) >> (o.0 % 64) & 1 == 1
    }

    /// The same for one thread.
    pub(super) fn finish(self, bound: usize) -> BitSet {
        let mut set = BitSet::new(bound);
        for (at, word) in self.0.into_iter().enumerate() {
            let mut word = word.into_inner();
            while word != 0 {
                set.insert(at as u32 * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
        set
    }
}

/// The largest of many by a key: memory is as many as are kept, not as many as come.
pub(super) struct Largest<K: Ord>(usize, BinaryHeap<Reverse<K>>);

impl<K: Ord> Largest<K> {
    pub(super) fn new(most: usize) -> Self {
        Largest(most, BinaryHeap::new())
    }

    #[inline]
    pub(super) fn add(&mut self, key: K) {
        if self.1.len() < self.0 {
            self.1.push(Reverse(key));
        } else if let Some(mut least) = self.1.peek_mut()
            && key > least.0
        {
            *least = Reverse(key);
        }
    }

    /// The kept items, largest first.
    pub(super) fn sorted(self) -> impl Iterator<Item = K> {
        // Of reversed keys, the least is the largest.
        self.1.into_sorted_vec().into_iter().map(|Reverse(key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::Largest;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_largest_are_those_that_sorting_finds(keys in prop::collection::vec(any::<u8>(), 0..100), most in 0usize..20) {
            let mut largest = Largest::new(most);
            keys.iter().for_each(|&key| largest.add(key));
            let mut sorted = keys;
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            sorted.truncate(most);
            prop_assert_eq!(largest.sorted().collect::<Vec<_>>(), sorted);
        }
    }
}
