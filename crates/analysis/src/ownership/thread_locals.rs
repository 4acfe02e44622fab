//! Names of thread locals. The value of a thread hangs on an entry with its variable, and the variable on the static field, or the object,
//! that has it.

use super::names::type_name;
use memory_city_heap::{HeapState, ObjectId, RootKind, TypeId};

/// The type of entries with values of thread locals.
pub(super) fn entries(heap: &HeapState) -> Option<TypeId> {
    let entry = heap.profile().types.thread_locals?.entry;
    heap.types().iter().position(|t| t.name == entry).map(|t| TypeId(t as u32))
}

/// The variable whose value an entry holds; `None` if it is gone, so that the value can never be read again.
pub(super) fn variable(heap: &HeapState, entry: ObjectId) -> Option<ObjectId> {
    heap.referents().of(entry).first().map(|referent| referent.to)
}

/// The name of a variable: `thread local com.acme.Context.CURRENT` if a static field has it. Otherwise the class that has it, or its own
/// class if that is more specific. The same from run to run.
pub(super) fn name(heap: &HeapState, variable: Option<ObjectId>) -> String {
    let Some(variable) = variable else { return "thread local whose variable is gone".to_owned() };
    let fields = heap.roots_of(variable).filter(|root| root.kind == RootKind::StaticField);
    if let Some(field) = fields.map(|root| &*root.detail).min() {
        return format!("thread local {field}");
    }
    let class = |o: ObjectId| type_name(heap, heap.type_of(o));
    let own = class(variable);
    let is_plain = |own: &str| heap.profile().types.thread_locals.is_some_and(|of| own.starts_with(of.plain));
    let holders = heap.referrers(variable).iter().copied();
    let holders = holders.filter(|&o| !heap.referents().holds(o) && !heap.is_class_object(o));
    match holders.map(class).min() {
        Some(holder) if is_plain(own) => format!("thread local of {holder}"),
        _ => format!("thread local {own}"),
    }
}

/// The same for some objects, where they are entries of one variable.
pub(super) fn common(heap: &HeapState, objects: &[ObjectId]) -> Option<String> {
    let (&first, rest) = objects.split_first()?;
    let of = heap.type_of(first);
    if heap.profile().types.thread_locals?.entry != heap.types()[of.0 as usize].name {
        return None;
    }
    let it = variable(heap, first);
    rest.iter().all(|&o| heap.type_of(o) == of && variable(heap, o) == it).then(|| name(heap, it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType, Root, Strength, TypeKind};

    const ENTRY: &str = "java.lang.ThreadLocal$ThreadLocalMap$Entry";

    #[test]
    fn they_are_called_by_who_has_them() {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let mut class = |name: &str| {
            let (kind, superclass) = (TypeKind::Instance, None);
            heap.add_type(HeapType { name: name.into(), kind, superclass, loader: "app".into() })
        };
        let [entry, plain, own, holder, value] =
            [ENTRY, "java.lang.ThreadLocal", "com.acme.Context$1", "com.acme.Audit", "com.acme.Value"].map(&mut class);
        let mut variable = |of: TypeId, fields: &[&str], held: bool| {
            let it = heap.add_object(of, 16, None);
            for field in fields {
                heap.add_root(Root { object: it, kind: RootKind::StaticField, detail: (*field).into() });
            }
            if held {
                let by = heap.add_object(holder, 16, None);
                heap.add_reference(by, it);
            }
            let entries = [0; 2].map(|_| heap.add_object(entry, 32, None));
            for entry in entries {
                heap.add_referent(entry, it, Strength::Weak);
            }
            entries
        };
        let several = variable(plain, &["com.acme.Z.LAST", "com.acme.A.FIRST"], true);
        let held = variable(plain, &[], true);
        let of_own_class = variable(own, &[], true);
        let free = variable(plain, &[], false);
        let gone = heap.add_object(entry, 32, None);
        let other = heap.add_object(value, 16, None);
        let heap = heap.finish();
        for (entries, expected) in [
            (&several[..], Some("thread local com.acme.A.FIRST")),
            (&held, Some("thread local of com.acme.Audit")),
            (&of_own_class, Some("thread local com.acme.Context$1")),
            (&free, Some("thread local java.lang.ThreadLocal")),
            (&[gone], Some("thread local whose variable is gone")),
            // Not of one variable, and no entries.
            (&[held[0], free[0]], None),
            (&[gone, free[0]], None),
            (&[held[0], other], None),
            (&[other], None),
            (&[], None),
        ] {
            assert_eq!(common(&heap, entries).as_deref(), expected);
        }
        assert_eq!(super::entries(&heap), Some(entry));
    }
}
