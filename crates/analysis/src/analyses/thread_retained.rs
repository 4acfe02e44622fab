//! The objects that each thread alone keeps alive, for all threads in one walk. Not an analysis itself.
//!
//! Every object has a label: no thread yet, one thread, or more than one thread or another root. Labels spread along references that keep,
//! and only rise in that order, so an object is visited at most twice. Thread objects keep the label of their thread, whatever refers to
//! them: a thread that ends leaves its group and frees its objects.

use memory_city_formats::values::ThreadStack;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepGraph, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, HeapState, ObjectId, RootKind};

/// No thread reaches it, as far as is known.
const NONE: u32 = u32::MAX;
/// Several threads reach it, or something else does.
const SEVERAL: u32 = u32::MAX - 1;

/// The labels of all objects while they are found out.
struct ThreadLabels<'h> {
    heap: &'h HeapState,
    /// By object: the place of a thread, or one of the above.
    of: Vec<u32>,
    /// By type, for its class object: the instances of a type keep it.
    of_type: Vec<u32>,
    threads: rustc_hash::FxHashSet<ObjectId>,
    open: Vec<ObjectId>,
}

fn joined(a: u32, b: u32) -> u32 {
    match (a, b) {
        (NONE, b) => b,
        (a, NONE) => a,
        (a, b) if a == b => a,
        _ => SEVERAL,
    }
}

impl ThreadLabels<'_> {
    fn reach(&mut self, o: ObjectId, label: u32) {
        let known = self.of[o.0 as usize];
        let new = joined(known, label);
        if new != known && !self.threads.contains(&o) {
            self.of[o.0 as usize] = new;
            self.open.push(o);
        }
    }

    fn spread(&mut self, graph: &KeepGraph<'_>, progress: &Progress) -> Result<()> {
        let mut done = 0u32;
        while let Some(o) = self.open.pop() {
            done = done.wrapping_add(1);
            if done.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            let label = self.of[o.0 as usize];
            graph.kept(o, |target| self.reach(target, label));
            let t = self.heap.type_of(o);
            let of_type = &mut self.of_type[t.0 as usize];
            let new = joined(*of_type, label);
            if new != *of_type {
                *of_type = new;
                if let Some(class) = self.heap.mirror_of(t) {
                    self.reach(class, new);
                }
            }
        }
        Ok(())
    }
}

/// For each thread, the amount that would be freed if it ended: all that its variables and its thread object keep, and no other thread or
/// root. Two walks over the heap at most, 4 bytes an object.
///
/// # Errors
/// When cancelled.
pub(super) fn kept_by_threads(
    heap: &HeapState,
    rules: KeepRules,
    threads: &[ThreadStack],
    progress: &Progress,
) -> Result<Vec<Amount>> {
    progress.begin("Walking from the threads", 0);
    let graph = KeepGraph::new(heap, rules);
    let mut labels = ThreadLabels {
        heap,
        of: vec![NONE; heap.object_count()],
        of_type: vec![NONE; heap.types().len()],
        threads: threads.iter().map(|t| t.object).collect(),
        open: Vec::new(),
    };
    for (i, thread) in threads.iter().enumerate() {
        // A damaged dump may have two threads of one object: the first counts.
        let label = &mut labels.of[thread.object.0 as usize];
        if *label == NONE {
            *label = i as u32;
            labels.open.push(thread.object);
        }
        for &(_, o) in &thread.locals {
            labels.reach(o, i as u32);
        }
    }
    let by_others = |o: ObjectId| {
        let mut roots = heap.roots_of(o).peekable();
        roots.peek().is_none() || roots.any(|root| !is_of_thread(root.kind, &root.detail))
    };
    for &o in graph.roots() {
        if by_others(o) {
            labels.reach(o, SEVERAL);
        }
    }
    labels.spread(&graph, progress)?;
    let mut kept = vec![Amount::default(); threads.len()];
    for o in heap.objects() {
        if let Some(sum) = kept.get_mut(labels.of[o.0 as usize] as usize) {
            *sum += Amount { objects: 1, bytes: heap.size_of(o) };
        }
    }
    Ok(kept)
}

/// Whether a root belongs to a thread. A static field is a root beside the reference from its class object: what matters is
/// the latter.
fn is_of_thread(kind: RootKind, detail: &str) -> bool {
    match kind {
        RootKind::LocalVariable | RootKind::Thread | RootKind::StaticField => true,
        _ => detail.contains(" of thread \""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType, Root, TypeKind};
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashSet};

    proptest! {
        /// Against walking from each source on its own.
        #[test]
        fn threads_keep_what_nothing_else_reaches(
            edges in prop::collection::vec((0u32..30, 0u32..30), 0..80),
            thread_objects in prop::collection::btree_set(0u32..30, 0..4),
            locals in prop::collection::vec((0usize..4, 0u32..30), 0..8),
            others in prop::collection::vec(0u32..30, 0..3),
        ) {
            let mut builder = HeapBuilder::with_profile(&JVM);
            let of = builder.add_type(HeapType {
                name: "T".into(), kind: TypeKind::Instance, superclass: None, loader: "bootstrap".into(),
            });
            let objects: Vec<ObjectId> = (0..30).map(|i| builder.add_object(of, 8 + i, None)).collect();
            for &(from, to) in &edges {
                builder.add_reference(objects[from as usize], objects[to as usize]);
            }
            let mut threads: Vec<ThreadStack> = thread_objects
                .iter()
                .map(|&o| ThreadStack { object: ObjectId(o), frames: [].into(), locals: Vec::new() })
                .collect();
            let mut root = |o: u32, kind, detail: &str| {
                builder.add_root(Root { object: ObjectId(o), kind, detail: detail.into() });
            };
            for &o in &thread_objects {
                root(o, RootKind::Thread, "thread \"a\"");
            }
            for &(thread, o) in &locals {
                if let Some(thread) = threads.get_mut(thread) {
                    thread.locals.push((None, ObjectId(o)));
                    root(o, RootKind::LocalVariable, "thread \"a\", x()");
                }
            }
            for &o in &others {
                root(o, RootKind::Jni, "JNI global");
            }
            let heap = builder.finish();
            // From a source on, without entering thread objects.
            let walk = |sources: Vec<u32>| {
                let mut seen: HashSet<u32> = sources.iter().copied().collect();
                let mut open = sources;
                while let Some(o) = open.pop() {
                    for &(_, to) in edges.iter().filter(|e| e.0 == o) {
                        if !thread_objects.contains(&to) && seen.insert(to) {
                            open.push(to);
                        }
                    }
                }
                seen
            };
            let not_thread = |o: &u32| !thread_objects.contains(o);
            let by_others = walk(others.iter().copied().filter(not_thread).collect());
            let by_thread: Vec<HashSet<u32>> = threads
                .iter()
                .map(|t| {
                    let locals = t.locals.iter().map(|l| l.1.0).filter(not_thread);
                    walk(std::iter::once(t.object.0).chain(locals).collect())
                })
                .collect();
            let expected: Vec<BTreeSet<u32>> = by_thread
                .iter()
                .enumerate()
                .map(|(i, mine)| {
                    let is_other = |o: &u32| {
                        by_others.contains(o)
                            || by_thread.iter().enumerate().any(|(k, theirs)| k != i && theirs.contains(o))
                    };
                    mine.iter().copied().filter(|o| !is_other(o)).collect()
                })
                .collect();
            let kept = kept_by_threads(&heap, KeepRules::default(), &threads, &Progress::new()).expect("kept");
            for (kept, expected) in kept.iter().zip(&expected) {
                prop_assert_eq!(kept.objects, expected.len() as u64);
                prop_assert_eq!(kept.bytes, expected.iter().map(|&o| heap.size_of(ObjectId(o))).sum::<u64>());
            }
        }
    }
}
