//! Shortest paths from GC roots to objects. Weaker references are on a path only where plain ones do not lead to its end.

use super::graph::KeepGraph;
use crate::bits::BitSet;
use crate::error::Result;
use crate::progress::Progress;
use crate::types::ObjectId;

/// By object: the last step of its path from a GC root. The path has as few weaker references as possible. A path without any is a
/// shortest one. Memory: 4 bytes an object, 8 while it is made.
pub struct ShortestPaths {
    /// By object: the object it was first reached from, [`UNREACHED`], or [`HELD`] by a root.
    from: Vec<u32>,
}

const UNREACHED: u32 = u32::MAX;
const HELD: u32 = u32::MAX - 1;

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 18;

impl ShortestPaths {
    /// Searches breadth first from all roots. With `wanted`, the search ends when all of these are reached, and has no answer for others.
    /// Of several such paths it always picks the same one. O(objects + references).
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(graph: &KeepGraph<'_>, wanted: Option<&BitSet>, progress: &Progress) -> Result<ShortestPaths> {
        let heap = graph.heap();
        let n = heap.object_count();
        progress.begin("Looking for the shortest paths from GC roots", n as u64);
        let mut from = vec![UNREACHED; n];
        let mut missing = wanted.map_or(usize::MAX, BitSet::count);
        let mut queue: Vec<ObjectId> = Vec::new();
        let mut types_seen = vec![false; heap.types().len()];
        let mut reach = |o: ObjectId, by: u32, queue: &mut Vec<ObjectId>| {
            let slot = &mut from[o.0 as usize];
            if *slot == UNREACHED {
                *slot = by;
                queue.push(o);
                missing -= usize::from(wanted.is_some_and(|w| w.contains(o.0)));
            }
            missing > 0
        };
        let mut open = true;
        for &root in graph.roots() {
            open &= reach(root, HELD, &mut queue);
        }
        let mut at = 0;
        // Weaker references wait until nothing else leads on.
        let mut weaker: Vec<(ObjectId, ObjectId)> = Vec::new();
        while open && at < queue.len() {
            let o = queue[at];
            at += 1;
            if at.is_multiple_of(CHECKED) {
                progress.check()?;
                progress.advance(CHECKED as u64);
            }
            graph.kept_by(o, |target, is_plain| match is_plain {
                true => open &= reach(target, o.0, &mut queue),
                false => weaker.push((o, target)),
            });
            let of = heap.type_of(o);
            if !std::mem::replace(&mut types_seen[of.0 as usize], true)
                && let Some(class) = heap.mirror_of(of)
            {
                open &= reach(class, o.0, &mut queue);
            }
            if at == queue.len() {
                weaker.drain(..).for_each(|(by, target)| open &= reach(target, by.0, &mut queue));
            }
        }
        Ok(ShortestPaths { from })
    }

    /// Whether the search met the object.
    #[inline]
    pub fn is_reached(&self, o: ObjectId) -> bool {
        self.from[o.0 as usize] != UNREACHED
    }

    /// The object before this one on its path; `None` of objects that roots hold, and of those that were not met. The
    /// reference may be that of an instance to its class.
    #[inline]
    pub fn keeper(&self, o: ObjectId) -> Option<ObjectId> {
        Some(self.from[o.0 as usize]).filter(|&by| by < HELD).map(ObjectId)
    }
}
