//! The elements of a chain: what its objects refer to, whoever else holds it too.

use memory_city_heap::ownership::Dominators;
use memory_city_heap::{BitSet, HeapState, ObjectId, TypeId};

/// How many objects of a type are referred to by a chain: by its first object, and by those of the same type that these own. Elements that
/// others hold as well count too, as they do in a collection that knows its size. Linear in the chain.
pub(crate) fn chained_elements(heap: &HeapState, dominators: &Dominators, first: ObjectId, element: TypeId) -> u64 {
    let link = heap.type_of(first);
    let mut seen = BitSet::new(heap.object_count());
    let (mut count, mut open) = (0, vec![first]);
    while let Some(o) = open.pop() {
        let elements = heap.references(o).iter().filter(|t| heap.type_of(**t) == element);
        count += elements.filter(|t| seen.insert(t.0)).count() as u64;
        open.extend(dominators.owned(Some(o)).filter(|&next| heap.type_of(next) == link));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::chained_elements;
    use memory_city_heap::ownership::{Dominators, KeepRules};
    use memory_city_heap::progress::Progress;
    use memory_city_heap::{HeapBuilder, HeapType, ObjectId, Root, RootKind, TypeKind};

    /// A journal of a program in Lisp: a list of lists of a number and a connection. A hook holds every fourth connection too, and one
    /// stands in the list twice.
    #[test]
    fn elements_that_others_hold_too_count() {
        let mut heap = HeapBuilder::new();
        let [cons, number, connection, hook] = ["Cons", "Number", "Connection", "Hook"].map(|name| {
            let kind = TypeKind::Instance;
            heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() })
        });
        let root =
            |heap: &mut HeapBuilder, object| heap.add_root(Root { object, kind: RootKind::Jni, detail: String::new() });
        let mut journal: Option<ObjectId> = None;
        let mut last = None;
        for n in 0..1001 {
            let [spine, entry] = [0; 2].map(|_| heap.add_object(cons, 24, None));
            let target = match last.filter(|_| n == 1000) {
                Some(last) => last,
                None => heap.add_object(connection, 32, None),
            };
            let of = heap.add_object(number, 16, None);
            for (from, to) in [(spine, entry), (entry, of), (entry, target)] {
                heap.add_reference(from, to);
            }
            if let Some(next) = journal {
                heap.add_reference(spine, next);
            }
            if n % 4 == 0 {
                let by = heap.add_object(hook, 16, None);
                heap.add_reference(by, target);
                root(&mut heap, by);
            }
            (journal, last) = (Some(spine), Some(target));
        }
        let journal = journal.expect("a list");
        root(&mut heap, journal);
        let heap = heap.finish();
        let rules = KeepRules { permanent_classes: false, ..KeepRules::default() };
        let dominators = Dominators::new(&heap, rules, &Progress::new()).expect("not cancelled");
        for (element, expected) in [(connection, 1000), (number, 1001), (hook, 0)] {
            assert_eq!(chained_elements(&heap, &dominators, journal, element), expected);
        }
    }
}
