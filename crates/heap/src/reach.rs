//! What the roots reach.
//!
//! An object also keeps its class alive, and with it the class's static fields; that reference is not in the columns.
//! A search from a stack, not level by level: a linked list of ten million nodes has ten million levels.

use super::{BitSet, HeapState, ObjectId, RootKind, TypeId};

pub(super) fn reachable(heap: &HeapState) -> BitSet {
    let mut seen = BitSet::new(heap.object_count());
    if heap.roots().is_empty() {
        // Nothing is known of roots, so nothing is known to be garbage.
        heap.objects().for_each(|o| {
            seen.insert(o.0);
        });
        return seen;
    }
    let mut types_seen = vec![false; heap.types().len()];
    let mut open: Vec<ObjectId> = Vec::new();
    // Without any real root (some tools write none) everything would be garbage, which tells nothing.
    let real = |kind: RootKind| kind != RootKind::StaticField;
    let any_real = heap.roots().iter().any(|r| real(r.kind));
    for root in heap.roots().iter().filter(|r| real(r.kind) || !any_real) {
        if seen.insert(root.object.0) {
            open.push(root.object);
        }
    }
    while let Some(o) = open.pop() {
        for &target in heap.references(o) {
            if seen.insert(target.0) {
                open.push(target);
            }
        }
        let t = heap.type_of(o).0 as usize;
        if !types_seen[t] {
            types_seen[t] = true;
            if let Some(mirror) = heap.mirror_of(TypeId(t as u32))
                && seen.insert(mirror.0)
            {
                open.push(mirror);
            }
        }
    }
    seen
}
