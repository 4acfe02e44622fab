//! Names as the first line of a report has them: without package, and with the type of a collection in parentheses.

use crate::timeline::brief;
use memory_city_heap::{HeapState, TypeId, TypeKind};
use std::collections::BTreeSet;

/// The types, and fields of types, that a name without package may mean, in full: `shop.Cart.lines` for `Cart.lines (ArrayList)`. `declares` says
/// whether a type has a field of a name.
pub(super) fn full_names(heap: &HeapState, name: &str, declares: &dyn Fn(TypeId, &str) -> bool) -> Vec<String> {
    let name = name.split_once(" (").map_or(name, |(name, _)| name).trim();
    let called = |short: &str| {
        let types = (0..).map(TypeId).zip(heap.types()).filter(|(_, t)| t.kind == TypeKind::Instance);
        let like = types.filter(|(_, t)| t.name != short && brief(&t.name) == short);
        like.map(|(t, of)| (t, of.name.clone())).collect::<Vec<_>>()
    };
    let types: BTreeSet<String> = called(name).into_iter().map(|(_, name)| name).collect();
    let fields = name.rsplit_once('.').filter(|_| types.is_empty());
    let fields = fields.into_iter().flat_map(|(class, field)| {
        let with = called(class).into_iter().filter(|(t, _)| declares(*t, field));
        with.map(|(_, class)| format!("{class}.{field}")).collect::<BTreeSet<String>>()
    });
    types.iter().cloned().chain(fields).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType};

    #[test]
    fn names_without_package_are_found_where_they_are_of_a_type() {
        let mut heap = HeapBuilder::with_profile(&JVM);
        for name in ["shop.Cart", "shop.Cart$Line", "a.Node", "b.Node", "Main"] {
            let (name, loader) = (name.to_owned(), "app".into());
            heap.add_type(HeapType { name, kind: TypeKind::Instance, superclass: None, loader });
        }
        let heap = heap.finish();
        let has =
            |t: TypeId, field: &str| field == "lines" || field == "next" && heap.types()[t.0 as usize].name == "b.Node";
        for (name, expected) in [
            ("Cart", vec!["shop.Cart"]),
            ("Cart.lines (ArrayList)", vec!["shop.Cart.lines"]),
            ("Cart.lines", vec!["shop.Cart.lines"]),
            ("Node", vec!["a.Node", "b.Node"]),
            // Of several types the one that has the field.
            ("Node.next", vec!["b.Node.next"]),
            ("Node.lines", vec!["a.Node.lines", "b.Node.lines"]),
            ("Cart.next", vec![]),
            ("Cart$Line", vec!["shop.Cart$Line"]),
            ("shop.Cart", vec![]),
            ("Nothing.at", vec![]),
            ("Main", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(full_names(&heap, name, &has), expected, "{name}");
        }
    }
}
