//! GC roots in the field's ten kinds, with their details for people: thread, method and line, or static field.

use super::DumpIndex;
use super::census::Census;
use super::classes::ClassTable;
use super::names::ObjectNames;
use super::segment::RootRecord;
use super::tags::root;
use ahash::AHashMap;
use memory_city_heap::{AddressMap, Root, RootKind};

/// The roots of a dump. Static fields of loaded classes are listed too, as the spec wants it, although they are roots only because
/// something keeps the class alive. Records that are not `wanted` are no roots.
pub(super) fn roots(
    bytes: &[u8],
    index: &DumpIndex,
    census: &Census,
    classes: &ClassTable,
    addresses: &AddressMap,
    names: &ObjectNames,
    wanted: impl Fn(&RootRecord) -> bool,
) -> Vec<Root> {
    // Thread serial to the trace of its stack and its object.
    let threads: AHashMap<u32, RootRecord> =
        census.roots.iter().filter(|r| r.tag == root::THREAD_OBJECT).map(|r| (r.thread, *r)).collect();
    let thread_name = |serial: u32| {
        let of_object = threads.get(&serial).and_then(|t| names.thread(t.object));
        of_object.or_else(|| index.thread_name(bytes, serial)).unwrap_or_else(|| format!("#{serial}"))
    };
    let mut roots: Vec<Root> = census
        .roots
        .iter()
        .filter(|record| wanted(record))
        .filter_map(|record| {
            let object = addresses.find(record.object)?;
            let (kind, detail) = match record.tag {
                root::JNI_GLOBAL => (RootKind::Jni, "JNI global".to_owned()),
                root::JNI_LOCAL => (RootKind::Jni, format!("JNI local of thread \"{}\"", thread_name(record.thread))),
                root::JAVA_FRAME => {
                    let trace = threads.get(&record.thread).map(|t| t.frame).unwrap_or(0);
                    let place = index.frame(bytes, trace, record.frame).unwrap_or_else(|| "unknown method".into());
                    (RootKind::LocalVariable, format!("thread \"{}\", {place}", thread_name(record.thread)))
                }
                root::NATIVE_STACK => {
                    (RootKind::Other, format!("native stack of thread \"{}\"", thread_name(record.thread)))
                }
                root::STICKY_CLASS => (RootKind::ClassLoader, "system class".to_owned()),
                root::THREAD_BLOCK => (RootKind::Thread, format!("thread block of \"{}\"", thread_name(record.thread))),
                root::MONITOR_USED | root::JNI_MONITOR => (RootKind::Monitor, "monitor in use".to_owned()),
                root::THREAD_OBJECT => (RootKind::Thread, format!("thread \"{}\"", thread_name(record.thread))),
                root::DEBUGGER => (RootKind::Jvmti, "debugger".to_owned()),
                root::INTERNED_STRING => (RootKind::Other, "interned string".to_owned()),
                root::FINALIZING => (RootKind::Other, "waiting for finalization".to_owned()),
                root::REFERENCE_CLEANUP => (RootKind::Other, "reference cleanup".to_owned()),
                root::VM_INTERNAL => (RootKind::Other, "inside the VM".to_owned()),
                // Android lists what it knows to be garbage: no root.
                root::UNREACHABLE => return None,
                _ => (RootKind::Other, "of unknown kind".to_owned()),
            };
            Some(Root { object, kind, detail: index.keep(detail) })
        })
        .collect();
    for record in &census.records {
        let Some(&t) = classes.by_id.get(&record.id) else { continue };
        let class = &classes.types[t as usize].name;
        for (name, kind, value) in &record.statics {
            if *kind == 2
                && *value != 0
                && let Some(object) = addresses.find(*value)
            {
                let field = index.string(bytes, *name).unwrap_or_else(|| "?".into());
                // What the VM hangs on a class without a field of that name in the source.
                if field.starts_with('<') {
                    continue;
                }
                let detail = index.keep(format!("{class}.{field}"));
                roots.push(Root { object, kind: RootKind::StaticField, detail });
            }
        }
    }
    roots
}
