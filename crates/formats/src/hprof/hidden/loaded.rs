//! Classes that live by their loader, by references that the dump leaves out.
//!
//! A loader keeps its classes. `ClassLoader.classes` lists those that it defined by name, and dumps hold that list. Hidden
//! classes (lambdas, and whatever `Lookup.defineHiddenClass` makes) are in no list: the *strong* ones live as long as their
//! loader all the same, the others by themselves. No record tells the two apart, but:
//!
//! - Classes that the compiler's lambdas become are strong, and classes with an ordinary name always live by their loader.
//! - Others are certain if everything else in the dump is alive: it is a dump of live objects, in which something holds every class.

use super::Dump;
use crate::counts::without_address;
use memory_city_heap::{HeapColumns, Inference, ObjectId};

/// The field by which a loader refers to its classes, under its name in [`super`].
pub(super) const CLASSES: &str = "classes";

/// A dump in which less than one object in so many is garbage is one of live objects.
const LIVE: usize = 10;

/// Adds a reference from the loader to each otherwise unreachable class that certainly lives by its loader. Lambdas get one in any case:
/// they outlive their instances.
pub(super) fn attach(inference: &mut Inference, dump: &Dump<'_>) {
    for (loader, class, lives) in classes(inference.columns(), dump) {
        if lives == LivesBy::Loader && !inference.is_reachable(class) || lives == LivesBy::LoaderUnlisted {
            inference.add_reference(loader, class, CLASSES);
        }
    }
}

/// The same of those hidden classes of which it is not sure, where all else is alive.
pub(super) fn attach_others(inference: &mut Inference, dump: &Dump<'_>) {
    let unsure: Vec<(ObjectId, ObjectId)> = classes(inference.columns(), dump)
        .into_iter()
        .filter(|&(_, class, lives)| lives == LivesBy::Unknown && !inference.is_reachable(class))
        .map(|(loader, class, _)| (loader, class))
        .collect();
    if unsure.is_empty() {
        return;
    }
    let garbage = inference.unreachable_but(unsure.iter().map(|(_, class)| *class));
    if garbage * LIVE < inference.columns().type_of.len() {
        unsure.into_iter().for_each(|(loader, class)| inference.add_reference(loader, class, CLASSES));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LivesBy {
    /// The loader's list has it.
    Loader,
    /// No list has it.
    LoaderUnlisted,
    /// A hidden class, strong or not.
    Unknown,
}

/// Loader, class object, and what is known of the class.
fn classes(columns: &HeapColumns, dump: &Dump<'_>) -> Vec<(ObjectId, ObjectId, LivesBy)> {
    let loader_of = dump.classes.loader_of.iter().map(|&id| (id != 0).then(|| columns.addresses.find(id)).flatten());
    let pairs = loader_of.zip(&columns.mirror_of).zip(&columns.types);
    let known = pairs.filter_map(|((loader, class), of)| Some((loader?, (*class)?, &of.name)));
    known
        .map(|(loader, class, name)| {
            let lives = match without_address(name) {
                own if own.len() == name.len() => LivesBy::Loader,
                own if own.contains("$$Lambda") => LivesBy::LoaderUnlisted,
                _ => LivesBy::Unknown,
            };
            (loader, class, lives)
        })
        .collect()
}
