//! Decoder of references of objects, and of roots.

use super::Events;
use super::word_reader::{Fault, Words};
use crate::event::{EventSink, ObjectKey};
use memory_city_heap::{RootKind, ThreadId};

impl Events {
    pub(super) fn pointers<S: EventSink>(
        &mut self,
        first: u32,
        object: u64,
        more: bool,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        self.read_targets(first, object, words)?;
        sink.references(ObjectKey::Address(object), &self.targets, more);
        Ok(())
    }

    pub(super) fn roots<S: EventSink>(
        &mut self,
        first: u32,
        words: &mut Words<'_>,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let of = words.address()?;
        let (kind, thread, detail) = match (of, self.threads.minor) {
            (1, _) => (RootKind::Other, ThreadId::UNKNOWN, "universe"),
            (2, _) => (RootKind::Jni, ThreadId::UNKNOWN, "JNI handle"),
            (3, _) => (RootKind::Thread, ThreadId::UNKNOWN, "thread"),
            (4, _) => (RootKind::Monitor, ThreadId::UNKNOWN, "monitor in use"),
            (5, _) => (RootKind::Other, ThreadId::UNKNOWN, "flat profiler"),
            (6, true) | (8, false) => (RootKind::ClassLoader, ThreadId::UNKNOWN, "system dictionary"),
            (7, true) | (9, false) => (RootKind::ClassLoader, ThreadId::UNKNOWN, "class loader data"),
            (8, true) | (6, false) => (RootKind::Management, ThreadId::UNKNOWN, "management"),
            (9, true) | (7, false) => (RootKind::Jvmti, ThreadId::UNKNOWN, "JVMTI"),
            (10, _) => (RootKind::CodeBlob, ThreadId::UNKNOWN, "code cache"),
            (11, _) => (RootKind::Other, ThreadId::UNKNOWN, "weak root"),
            (0..=13, _) => (RootKind::Other, ThreadId::UNKNOWN, "other"),
            (address, _) => {
                let id = self.threads.by_address.get(&address).map(|t| ThreadId(t.id)).unwrap_or(ThreadId::UNKNOWN);
                (RootKind::LocalVariable, id, "stack")
            }
        };
        self.read_targets(first, of, words)?;
        for &target in &self.targets {
            sink.root(kind, thread, detail, target);
        }
        Ok(())
    }

    /// Reads pointers into `targets`, without nulls. Relative ones count from `object`, each from the one before.
    fn read_targets(&mut self, first: u32, object: u64, words: &mut Words<'_>) -> std::result::Result<(), Fault> {
        self.targets.clear();
        let mut offset = 0u64;
        for i in 0..12 {
            match first >> (22 - 2 * i) & 3 {
                0 => break,
                1 => {
                    offset = offset.wrapping_add(words.next()? as i32 as u64);
                    self.targets.push(ObjectKey::Address(object.wrapping_sub(offset << 3)));
                }
                2 => {
                    let target = words.address()?;
                    offset = object.wrapping_sub(target) >> 3;
                    self.targets.push(ObjectKey::Address(target));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
