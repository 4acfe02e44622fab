//! The analysis engine: groups heap states, builds trees over time, and answers questions about them.
//!
//! | module | from | to |
//! |---|---|---|
//! | [`group`] | a heap state and a list of classifiers | a memory tree: groups of objects, nested |
//! | [`ownership`] | a heap state | owners by name, places that grow, paths to roots |
//! | [`timeline`] | memory trees over time | one tree with a value per node and time, reference maps, JSON |
//! | [`inspection`] | a heap state | its objects one by one: lists, pages, closures of sets, trees to unfold |
//! | [`analyses`] | a source | tables: growth, keepers, collections and more |
//! | [`object_graph`] | sets of objects | boxes and arrows: the references between them, up to the roots |
//! | [`structures`] | a heap state | its data structures, and their numbers of elements |
//! | [`run`] | a source | its collections and memory, for charts |
//! | [`table`] | a timeline | its nodes as rows: sorted, filtered, opened and closed |
//! | [`lives`] | births and deaths at every collection | dead objects, ages, promotions |
//! | [`trends`] | a timeline | series for charts, the rest as one, at any level of detail |
//! | [`windows`] | numbers by time | suspicious windows: leaks, GC overhead, churn |
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
mod grammar;
pub mod group;
pub mod inspection;
pub mod lives;
pub mod object_graph;
mod opening;
pub mod ownership;
pub mod run;
pub mod structures;
pub mod table;
pub mod tabular;
pub mod timeline;
pub mod trends;
mod units;
pub mod windows;
