//! From heap states to groups, from groups to trees over time, and what can be read off them.
//!
//! | module | from | to |
//! |---|---|---|
//! | [`group`] | a heap state and a list of classifiers | a memory tree: groups of objects, nested |
//! | [`ownership`] | a heap state | who owns what, by names; where heaps grow; paths to roots |
//! | [`timeline`] | memory trees over time | one tree with a value per node and time; reference maps; JSON |
//! | [`inspection`] | a heap state | its objects one by one: lists, pages, what a set reaches and retains, trees to unfold |
//! | [`analyses`] | a source | what grows most, what keeps it alive, what was collected: tables |
//! | [`object_graph`] | sets of objects | boxes and arrows: who refers to what, up to the roots |
//! | [`run`] | a source | its collections and memory, as charts ask for them |
//! | [`table`] | a timeline | its nodes as rows: sorted, filtered, opened and closed |
//! | [`lives`] | what came and went at every collection | what died, how old, what was promoted |
//! | [`trends`] | a timeline | series for charts, with what is left over, at any level of detail |
//! | [`windows`] | numbers by time | windows that are suspicious: leaks, GC overhead, churn |
//! | [`tabular`] | rows of typed cells | text, JSON, CSV |
//!
//! Nothing here knows geometry or pictures.
//!
//! # Example
//! ```
//! use memory_city_analysis::group::MemoryTree;
//! use memory_city_analysis::timeline::{Amount, NodeId, TimePoint, Timeline};
//!
//! let tree = |objects| {
//!     let mut tree = MemoryTree::new();
//!     let node = tree.child(0, &"Type".into(), &"java.util.HashMap$Node".into());
//!     tree.add_up(&[node as u32], Amount { objects, bytes: 32 * objects });
//!     tree
//! };
//! let point = |label: &str| TimePoint { label: label.into(), ..TimePoint::default() };
//! let timeline = Timeline::from_trees(vec![point("before"), point("after")], &[tree(10), tree(25)]);
//! let node = timeline.find("Heap#java.util.HashMap$Node").expect("it is there");
//! assert_eq!(timeline.amount(1, node).objects, 25);
//! assert_eq!(memory_city_analysis::analyses::top_growing(&timeline, Default::default(), 5), [node]);
//! ```

pub mod analyses;
pub mod group;
pub mod inspection;
pub mod lives;
pub mod object_graph;
pub mod ownership;
pub mod run;
pub mod table;
pub mod tabular;
pub mod timeline;
pub mod trends;
pub mod windows;
