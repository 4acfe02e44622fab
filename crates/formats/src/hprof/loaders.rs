//! The class loaders of a dump: their names and parents.

use super::classes::ClassTable;
use super::names::ObjectNames;
use ahash::AHashMap;
use memory_city_heap::{AddressMap, Loader, Loaders};
use std::collections::HashMap;
use std::sync::Arc;

/// Names the loaders in the types of a dump, and lists them with their parents.
///
/// A loader is named by its class; where a program has several of one class, by the first class each loaded too. Names,
/// not addresses: those change from dump to dump.
pub fn loaders(classes: &mut ClassTable, addresses: &AddressMap, type_of: &[u32], names: &ObjectNames) -> Loaders {
    let mut first_class: AHashMap<u64, &str> = AHashMap::default();
    for (t, &loader) in classes.loader_of.iter().enumerate().filter(|(_, l)| **l != 0) {
        let name = classes.types[t].name.as_str();
        let first = first_class.entry(loader).or_insert(name);
        *first = (*first).min(name);
    }
    // Those that loaded something, and their parents, which may have loaded nothing.
    let mut ids: Vec<u64> = first_class.keys().copied().chain(names.loader_parents()).collect();
    ids.sort_unstable();
    ids.dedup();
    let class_of = |loader: u64| {
        let object = addresses.find(loader)?;
        classes.types.get(*type_of.get(object.0 as usize)? as usize).map(|t| t.name.as_str())
    };
    let class_of = |loader: u64| class_of(loader).unwrap_or("(unknown loader)");
    let mut of_class: HashMap<&str, u32> = HashMap::new();
    ids.iter().for_each(|&loader| *of_class.entry(class_of(loader)).or_default() += 1);
    let name = |loader: u64| match (class_of(loader), first_class.get(&loader)) {
        (class, Some(first)) if of_class[class] > 1 => format!("{class} of {first}"),
        (class, _) => class.to_owned(),
    };
    let number = |loader: u64| ids.binary_search(&loader).ok().map(|n| n as u32);
    let all: Vec<Loader> = ids
        .iter()
        .map(|&l| Loader { name: Arc::from(name(l)), parent: names.parent_of_loader(l).and_then(number) })
        .collect();
    let of_type: Vec<Option<u32>> = classes.loader_of.iter().map(|&l| number(l).filter(|_| l != 0)).collect();
    for (heap_type, loader) in classes.types.iter_mut().zip(&of_type) {
        if let Some(loader) = loader {
            heap_type.loader = Arc::clone(&all[*loader as usize].name);
        }
    }
    Loaders { all, of_type }
}
