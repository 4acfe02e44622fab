//! Where a path to a group begins: at a GC root, or at a static field of a class that is never unloaded.

use super::keeping::ClassObjects;
use memory_city_heap::ownership::KeepGraph;
use memory_city_heap::{ObjectId, Root, RootKind};
use rustc_hash::FxHashMap;

/// The roots at which paths end, upwards.
///
/// A static field is a reference of a class object, which other objects and roots keep alive. Classes of the loaders that a
/// VM starts with stay as long as it runs: their static fields are as good as roots, and whoever looks for a leak is done
/// there. Classes of other loaders (a web application's) may be what leaks: paths go on through them.
pub(crate) struct Anchors<'h> {
    graph: &'h KeepGraph<'h>,
    /// Whether static fields are references of class objects.
    has_class_objects: bool,
    /// By class object: whether its class stays.
    stays: FxHashMap<ObjectId, bool>,
}

/// Names of the classes of the loaders that a VM starts with.
const LOADERS_THAT_STAY: [&str; 3] = ["bootstrap", "jdk.internal.loader.ClassLoaders$", "sun.misc.Launcher$"];

impl<'h> Anchors<'h> {
    pub fn new(graph: &'h KeepGraph<'h>, class_objects: &ClassObjects) -> Anchors<'h> {
        let heap = graph.heap();
        let stays = |loader: &str| LOADERS_THAT_STAY.iter().any(|prefix| loader.starts_with(prefix));
        Anchors {
            graph,
            has_class_objects: heap.has_class_objects(),
            stays: class_objects.iter().map(|(o, t)| (o, stays(&heap.types()[t.0 as usize].loader))).collect(),
        }
    }

    /// The roots that hold an object and end a path to it.
    pub fn of(&self, o: ObjectId) -> impl Iterator<Item = &'h Root> + '_ {
        let held = self.graph.roots().binary_search(&o).is_ok();
        let roots = self.graph.heap().roots_of(o);
        roots.filter(move |root| match root.kind {
            RootKind::StaticField if self.has_class_objects => self.in_class_that_stays(o),
            _ => held,
        })
    }

    /// Whether a class that stays refers to an object.
    fn in_class_that_stays(&self, o: ObjectId) -> bool {
        let heap = self.graph.heap();
        heap.referrers(o).iter().any(|r| heap.is_class_object(*r) && self.stays.get(r) == Some(&true))
    }
}
