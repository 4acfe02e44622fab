//! Hidden holdings without a pointer to their class, of types that only a hidden field of a class object can hold.

use super::{HiddenContext, Role};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::{BitSet, Inference, ObjectId};

/// The holders and their fields, ascending. Those in `spare` are left out, and those that reach a dead class loader: their class is
/// unknown, so it may be one of that loader.
pub(super) fn find(
    context: &HiddenContext<'_>,
    inference: &Inference,
    unreachable: &[ObjectId],
    added: &[(ObjectId, ObjectId, &'static str)],
    spare: &AHashSet<ObjectId>,
) -> Vec<(ObjectId, &'static str)> {
    let columns = inference.columns();
    let field = |o: ObjectId| match context.role(columns, o) {
        Role::SoftReference => {
            let data = |r: &ObjectId| context.role(columns, *r) == Role::ReflectionData;
            columns.outgoing.of(o).iter().any(data).then_some("reflectionData")
        }
        Role::AnnotationData => Some("annotationData"),
        Role::AnnotationType => Some("annotationType"),
        Role::ClassValueMap => Some("classValueMap"),
        Role::ClassRepository => Some("genericInfo"),
        _ => None,
    };
    // What is attached to a class that is dead itself stays with it.
    let attached: AHashSet<ObjectId> = added.iter().map(|a| a.1).collect();
    let known = |o: &ObjectId| spare.contains(o) || attached.contains(o);
    let holders: Vec<_> =
        unreachable.iter().copied().filter(|o| !known(o)).filter_map(|o| Some((o, field(o)?))).collect();
    if holders.is_empty() {
        return holders;
    }
    match reaching_dead_loaders(context, inference, unreachable, added) {
        None => holders,
        Some(dead) => holders.into_iter().filter(|(o, _)| !dead.contains(o.0)).collect(),
    }
}

/// The unreachable objects from which references (or the class of an object) lead to an unreachable class loader; `None` without such a
/// loader. O(n log n) in the unreachable objects and their referrers.
fn reaching_dead_loaders(
    context: &HiddenContext<'_>,
    inference: &Inference,
    unreachable: &[ObjectId],
    added: &[(ObjectId, ObjectId, &'static str)],
) -> Option<BitSet> {
    let columns = inference.columns();
    let type_of = |o: ObjectId| columns.type_of[o.0 as usize];
    // A loader of one accessor each, made and dropped with it, is no loader of a program.
    let made = |o: ObjectId| columns.types[type_of(o) as usize].name.ends_with(".reflect.DelegatingClassLoader");
    let is_loader = |o: &ObjectId| context.role(columns, *o) == Role::ClassLoader && !made(*o);
    let mut open: Vec<ObjectId> = unreachable.iter().copied().filter(is_loader).collect();
    if open.is_empty() {
        return None;
    }
    let mut reaching = BitSet::new(columns.type_of.len());
    for loader in &open {
        reaching.insert(loader.0);
    }
    // Only what is unreachable refers to what is.
    let targets = |&o: &ObjectId| columns.outgoing.of(o).iter().map(move |&target| (target, o));
    let mut referrers: Vec<(ObjectId, ObjectId)> = unreachable.iter().flat_map(targets).collect();
    referrers.retain(|r| !inference.is_reachable(r.0));
    referrers.sort_unstable();
    let mut by_type: Vec<(u32, ObjectId)> = unreachable.iter().map(|&o| (type_of(o), o)).collect();
    by_type.sort_unstable();
    let mut types_at: AHashMap<ObjectId, Vec<u32>> = AHashMap::new();
    for (t, class) in columns.mirror_of.iter().enumerate() {
        if let Some(class) = class {
            types_at.entry(*class).or_default().push(t as u32);
        }
    }
    let mut holder_of: AHashMap<ObjectId, Vec<ObjectId>> = AHashMap::new();
    added.iter().for_each(|(class, held, _)| holder_of.entry(*held).or_default().push(*class));
    while let Some(o) = open.pop() {
        let mut next = |r: ObjectId| {
            if !inference.is_reachable(r) && reaching.insert(r.0) {
                open.push(r);
            }
        };
        let from = referrers.partition_point(|r| r.0 < o);
        referrers[from..].iter().take_while(|r| r.0 == o).for_each(|r| next(r.1));
        holder_of.get(&o).into_iter().flatten().for_each(|&r| next(r));
        for &t in types_at.get(&o).into_iter().flatten() {
            let from = by_type.partition_point(|i| i.0 < t);
            by_type[from..].iter().take_while(|i| i.0 == t).for_each(|i| next(i.1));
        }
    }
    Some(reaching)
}
