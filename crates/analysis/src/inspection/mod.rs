//! Inspection of single objects: numbers and names for a person to read, without drawing.
//!
//! | module | says |
//! |---|---|
//! | `state` | one heap state with its caches |
//! | `names` | the name of an object: its type or class, its address |
//! | `list` | the objects of a set in some order |
//! | `closure` | the reached and retained objects of a set, under any grouping |
//! | `page` | one object: its fields with values, its roots, its owners, the path to it |
//! | `object_texts` | texts of objects and fields of references, for the rows that are in sight |
//! | `dominated` | the objects owned by an object, one by one or by type |
//! | `unfold` | a tree with some open rows, as rows by number |
//!
//! Functions for use while a frame is drawn cost the same for every object. Functions that read the input again, or visit many objects,
//! take a [`Progress`](memory_city_heap::progress::Progress): they are for jobs.

mod closure;
mod dominated;
mod list;
mod names;
mod object_texts;
mod page;
mod state;
mod unfold;

pub use closure::{ClosureContents, ClosureKind, ContentsRows, GroupClosure};
pub use dominated::{DominatedItem, DominatedList, DominatedOrder, DominatedType};
pub(crate) use list::age;
pub use list::{ObjectList, ObjectOrder};
pub(crate) use names::{address_text, class_or_type, type_name};
pub use object_texts::{ObjectTexts, TextAnswers, TextRequest};
pub(crate) use page::named_references;
pub use page::{BYTES_IN_A_ROW, ObjectPage, PageLimits, RootWay, StackLine, hexadecimal};
pub use state::{DirectRoot, InspectedHeap, NO_VALUES};
pub use unfold::{RowList, Unfolded, UnfoldedPlace};
