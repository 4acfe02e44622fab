//! Objects one by one: what a person who looks at single objects asks for, as numbers and names, without drawing.
//!
//! | module | says |
//! |---|---|
//! | `state` | one heap state with what is looked up in it again and again |
//! | `names` | how an object is called: its type or class, its address |
//! | `list` | the objects of a set in some order |
//! | `closure` | what a set reaches and retains, and what that consists of under any grouping |
//! | `page` | one object: its fields and what they hold, its roots, its owners, the way to it |
//! | `told` | what objects say, and by which field they refer, for the rows that are in sight |
//! | `dominated` | what an object owns, one by one or by type |
//! | `unfold` | a tree of which some rows are open, as rows by number |
//!
//! What is asked for while a frame is drawn costs the same for every object. What reads the input again, or looks at many
//! objects, takes a [`Progress`](memory_city_heap::progress::Progress): it is for jobs.

mod closure;
mod dominated;
mod list;
mod names;
mod page;
mod state;
mod told;
mod unfold;

pub use closure::{ClosureContents, ClosureKind, ContentsRows, GroupClosure};
pub use dominated::{DominatedItem, DominatedList, DominatedOrder, DominatedType};
pub(crate) use list::age;
pub use list::{ObjectList, ObjectOrder};
pub(crate) use names::{address_text, class_or_type, type_name};
pub use page::{BYTES_IN_A_ROW, ObjectPage, PageLimits, RootWay, StackLine, hexadecimal};
pub use state::{DirectRoot, InspectedHeap, NO_VALUES};
pub use told::{ToldAnswers, ToldRequest, ToldValues};
pub use unfold::{RowList, Unfolded, UnfoldedPlace};
