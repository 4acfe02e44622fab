//! Values of objects, read from the dump on demand: heap states hold no field, no name and no number of any object.
//!
//! | module | says |
//! |---|---|
//! | `value` | the value of a field or an element |
//! | `layout` | the fields of a type, and their places |
//! | `record` | the record of one object in the source, without copying it |
//! | `details` | the same for a few objects, copied |
//! | `places` | the field by which one object refers to another |
//! | `field_types` | the same for all objects of a type |
//! | `text` | texts of objects: strings, boxed values, enums |
//! | `threads` | threads, their stacks, and the objects in variables |
//!
//! A request walks through the dump again, on all cores, and skips the parts in which no wanted object lies. It takes about a second for
//! each GB that it reads. So ask once for many objects, not often for one. Nothing here groups or counts.

mod details;
mod field_types;
mod layout;
mod places;
mod record;
mod text;
mod threads;
mod value;

pub use details::{DetailLimits, NamedValue, ObjectContents, ObjectDetails};
pub(crate) use layout::OwnField;
pub use layout::{DeclaredField, FieldPlace, TypeLayouts};
pub use places::ReferencePlace;
pub use record::{ClassFields, InstanceField, InstanceFields, ObjectRecord, PrimitiveElements, ReferenceElements};
pub use text::TextLimits;
pub use threads::ThreadStack;
pub use value::{FieldValue, ValueKind};

use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, TypeId};
use std::sync::Arc;

/// Called with each object, from several threads at once.
pub type VisitRecord<'v> = dyn Fn(ObjectId, &ObjectRecord<'_>) + Sync + 'v;

/// Where the records of a heap state are read from.
pub(crate) trait RecordSource: Send + Sync {
    /// Calls `visit` for each object of `wanted` (all where it is `None`) that the source has a record of, in no order.
    ///
    /// # Errors
    /// When the work was cancelled.
    fn scan(
        &self,
        heap: &HeapState,
        layouts: &TypeLayouts,
        wanted: Option<&BitSet>,
        visit: &VisitRecord<'_>,
        progress: &Progress,
    ) -> Result<()>;

    /// The threads that are roots, by object.
    fn threads(&self, heap: &HeapState) -> Vec<ThreadStack>;

    /// The fields that classes declare.
    fn layouts(&self, heap: &HeapState) -> TypeLayouts;
}

/// The tables kept of an input to find values in it: small, and nothing by object.
pub(crate) trait RecordTables: Send + Sync {
    /// Opens the input that these tables were made of.
    ///
    /// # Errors
    /// When it has changed since.
    fn open(self: Arc<Self>, input: Input) -> Result<Box<dyn RecordSource>>;
}

/// The values of the objects of one heap state, and that state. Holds the input open (for packed inputs: unpacked, in
/// memory) as long as it lives: several requests, one after the other, share that.
pub struct HeapValues {
    heap: Arc<HeapState>,
    layouts: TypeLayouts,
    source: Box<dyn RecordSource>,
    /// By type.
    names: Vec<Arc<str>>,
}

impl HeapValues {
    pub(crate) fn new(heap: Arc<HeapState>, source: Box<dyn RecordSource>) -> HeapValues {
        let layouts = source.layouts(&heap);
        let names = heap.types().iter().map(|t| t.name.as_str().into()).collect();
        HeapValues { heap, layouts, source, names }
    }

    /// The heap state whose objects these are.
    pub fn heap(&self) -> &Arc<HeapState> {
        &self.heap
    }

    /// The fields of types.
    pub fn layouts(&self) -> &TypeLayouts {
        &self.layouts
    }

    /// Where a field of a name lies in instances of a type, see [`TypeLayouts::place`]. Costs a walk over all fields of the
    /// type: ask once for each type, not for each object.
    pub fn place(&self, of: TypeId, name: &str) -> Option<FieldPlace> {
        self.layouts.place(&self.heap, of, name)
    }

    /// Calls `visit` for each object of `wanted` (all objects where it is `None`), on all cores at once and in no order. The
    /// record is borrowed from the mapped input: nothing is copied, and the call is cheap enough for every object of a
    /// dump. Objects that the input has no record of (it may be damaged) are left out.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn scan(&self, wanted: Option<&BitSet>, visit: &VisitRecord<'_>, progress: &Progress) -> Result<()> {
        self.source.scan(&self.heap, &self.layouts, wanted, visit, progress)
    }

    /// As [`HeapValues::scan`], for a few objects.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn scan_few(
        &self,
        wanted: impl IntoIterator<Item = ObjectId>,
        visit: &VisitRecord<'_>,
        progress: &Progress,
    ) -> Result<()> {
        let mut set = BitSet::new(self.heap.object_count());
        let mut any = false;
        for object in wanted {
            if (object.0 as usize) < self.heap.object_count() {
                set.insert(object.0);
                any = true;
            }
        }
        if any { self.scan(Some(&set), visit, progress) } else { Ok(()) }
    }
}
