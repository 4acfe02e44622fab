//! Names as the first line of a report has them: without package, and with the type of a collection in parentheses.

use crate::timeline::brief;
use memory_city_heap::{HeapState, TypeKind};
use std::collections::BTreeSet;

/// The types, and fields of types, that a name without package may mean, in full: `shop.Cart.lines` for `Cart.lines (ArrayList)`.
pub(super) fn full_names(heap: &HeapState, name: &str) -> Vec<String> {
    let name = name.split_once(" (").map_or(name, |(name, _)| name).trim();
    let called = |short: &str| -> BTreeSet<&str> {
        let types = heap.types().iter().filter(|t| t.kind == TypeKind::Instance).map(|t| &*t.name);
        types.filter(|full| *full != short && brief(full) == short).collect()
    };
    let types: Vec<String> = called(name).into_iter().map(str::to_owned).collect();
    match name.rsplit_once('.') {
        Some((class, field)) if types.is_empty() => {
            called(class).into_iter().map(|class| format!("{class}.{field}")).collect()
        }
        _ => types,
    }
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
        for (name, expected) in [
            ("Cart", vec!["shop.Cart"]),
            ("Cart.lines (ArrayList)", vec!["shop.Cart.lines"]),
            ("Cart.lines", vec!["shop.Cart.lines"]),
            ("Node", vec!["a.Node", "b.Node"]),
            ("Node.next", vec!["a.Node.next", "b.Node.next"]),
            ("Cart$Line", vec!["shop.Cart$Line"]),
            ("shop.Cart", vec![]),
            ("Nothing.at", vec![]),
            ("Main", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(full_names(&heap, name), expected, "{name}");
        }
    }
}
