//! Anchors: the starts of paths to a group, which are GC roots or static fields of classes that are never unloaded.

use memory_city_heap::ownership::KeepGraph;
use memory_city_heap::{ObjectId, RootKind};

/// The roots at which paths end, upwards.
///
/// A static field is a reference of a class object, which other objects and roots keep alive. If the VM itself holds the class, its static
/// fields are as good as roots, and the search for a leak ends there. Other classes (those of a web application) may be leaks themselves:
/// paths go on through them.
pub(crate) struct Anchors<'h> {
    graph: &'h KeepGraph<'h>,
    /// Whether static fields are references of class objects.
    has_class_objects: bool,
}

/// A class that the VM never unloads, though no root of the input says so.
const STAYS: &str = "Class loader: class of a loader that lives as long as the VM";

impl<'h> Anchors<'h> {
    pub fn new(graph: &'h KeepGraph<'h>) -> Anchors<'h> {
        Anchors { graph, has_class_objects: graph.heap().has_class_objects() }
    }

    /// Calls `each` with kind and text of the roots that hold an object and end a path to it.
    pub fn of(&self, o: ObjectId, mut each: impl FnMut(RootKind, String)) {
        let heap = self.graph.heap();
        let held = self.is_held(o);
        let mut any = false;
        let mut in_permanent_class = None;
        for root in heap.roots_of(o) {
            let ends = match root.kind {
                RootKind::StaticField if self.has_class_objects => *in_permanent_class.get_or_insert_with(|| {
                    heap.referrers(o).iter().any(|&by| heap.is_class_object(by) && self.is_held(by))
                }),
                kind => held && self.graph.counts(o, kind),
            };
            if ends {
                any |= root.kind != RootKind::StaticField || !self.has_class_objects;
                each(root.kind, root.text());
            }
        }
        if held && !any {
            each(RootKind::ClassLoader, STAYS.to_owned());
        }
    }

    /// Where in the code the variable is that such a text is about.
    pub fn place_in(kind: RootKind, text: &str) -> Option<&str> {
        kind.place_in(text.strip_prefix(kind.title())?.strip_prefix(": ")?)
    }

    /// Whether a path ends at an object.
    pub fn any(&self, o: ObjectId) -> bool {
        let mut any = false;
        self.of(o, |_, _| any = true);
        any
    }

    fn is_held(&self, o: ObjectId) -> bool {
        self.graph.roots().binary_search(&o).is_ok()
    }
}
