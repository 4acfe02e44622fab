//! Analyses behind one interface: each describes itself, what it needs and its parameters, reads a document over a range
//! of points in time, and gives tables. Text, JSON, CSV and the panel of the viewer are made from that alone.
//!
//! | module | says |
//! |---|---|
//! | `interface` | what an analysis is, what it may need, what it gives |
//! | `kept` | what was found of dumps, for the next time that they are opened |
//! | `parameters` | what it can be told, with defaults and ranges |
//! | `objects`, `object_rows`, `contents` | what analyses of single objects and of what they hold share |
//! | `one_object` | all that is said of one object |
//! | `kept_by_threads` | what each thread alone keeps alive |
//! | `leak_place` | a place that leaks, in words |
//! | `looked` | the owners at the points in time worth a look |
//! | `registry` | the analyses there are; programs may add their own |
//! | `verdict` | what grows, or that nothing does, in a sentence |
//! | [`report`] | several of them, one after the other |
//! | [`compare`](mod@compare) | two runs side by side |
//! | [`check`] | whether limits are kept, for build pipelines |
//! | the others | one analysis each |
//!
//! A new analysis is a file beside these with a function `analysis`, and its name in the list of `analyses!` below.
//! Nothing here draws, and nothing here knows files.
//!
//! # Example
//! ```
//! use memory_city_analysis::analyses::{self, Arguments, AnalysisRegistry, TimeWindow};
//! # use memory_city_analysis::group::GroupOptions;
//! # use memory_city_analysis::timeline::{AUTO, Source};
//! # use memory_city_heap::progress::Progress;
//! # let folder = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample-data/json/lines.jsonl"));
//! # let source = Source::open(&[folder], AUTO, GroupOptions::default(), &Progress::new())?;
//! let registry = AnalysisRegistry::built_in();
//! let growth = registry.get("growth")?;
//! let arguments = Arguments::parse(&growth.describe(), [("top", "3")])?;
//! let window = TimeWindow::whole(source.timeline());
//! let findings = analyses::run(&*growth, &source, window, &arguments, &Progress::new())?;
//! assert_eq!(findings.tables[0].header.id, "growing");
//! # Ok::<(), memory_city_heap::error::Error>(())
//! ```

pub mod check;
pub mod compare;
mod contents;
mod interface;
mod kept;
mod kept_by_threads;
mod leak_place;
mod looked;
mod measures;
mod object_rows;
mod objects;
mod one_object;
mod parameters;
mod registry;
pub mod report;
mod verdict;

pub use crate::tabular::{bytes_text, count_text, gc_kind_text, gc_text, time_text, uptime_text};
pub use cut::named_cut;
pub(crate) use interface::change;
pub use interface::{Analysis, Description, Findings, Need, TimeWindow, run};
pub use kept::FollowsFrom;
pub use leak_place::{LeakLines, LeakPlace, OWNER_UNKNOWN, headline};
pub use measures::RunMeasures;
pub use parameters::{Argument, Arguments, Parameter, ParameterKind, metric_of};
pub use registry::AnalysisRegistry;
pub use sites::{SampledShare, SampledShares, sampled_shares};
pub use verdict::{GROWTH_FLOOR, Verdict, growth_scale, largest, verdict};

use crate::timeline::{Metric, NodeId, Timeline};

/// Declares the module of each analysis and lists what its function `analysis` gives.
macro_rules! analyses {
    ($($module:ident,)*) => {
        $(mod $module;)*
        /// One of each, in this order.
        fn built_in() -> Vec<Box<dyn Analysis>> {
            vec![$($module::analysis()),*]
        }
    };
}

analyses! {
    leak,
    heap,
    growth,
    collections,
    run,
    windows,
    churn,
    lifetimes,
    trends,
    sites,
    counts,
    difference,
    paths,
    cut,
    biggest,
    dominators,
    kept_by,
    inspect,
    closure,
    graph,
    containers,
    duplicate_strings,
    duplicate_arrays,
    boxed_numbers,
    constant_arrays,
    duplicate_classes,
    finalizer_queue,
    threads,
    packages,
}

/// The `n` leaves that grow most from the first to the last time, strongest first; only such that grow. Ties by key.
pub fn top_growing(timeline: &Timeline, metric: Metric, n: usize) -> Vec<NodeId> {
    strongest(growing(timeline, TimeWindow::whole(timeline), metric), n)
}

/// The `n` leaves that shrink most from the first to the last time, those first that lose most; only such that shrink. Ties by key.
pub fn top_shrinking(timeline: &Timeline, metric: Metric, n: usize) -> Vec<NodeId> {
    strongest(leaves_with(timeline, |node| timeline.growth(node, metric).saturating_neg()), n)
}

/// The leaves that grow over a range of times, and by how much.
fn growing(timeline: &Timeline, window: TimeWindow, metric: Metric) -> Vec<(i64, NodeId)> {
    leaves_with(timeline, |node| window.growth(timeline, node, metric))
}

/// The leaves of which a number is more than 0, with it.
fn leaves_with(timeline: &Timeline, number: impl Fn(NodeId) -> i64) -> Vec<(i64, NodeId)> {
    let leaves = timeline.nodes().filter(|&node| timeline.is_leaf(node));
    leaves.map(|node| (number(node), node)).filter(|(number, _)| *number > 0).collect()
}

/// The first `n`, strongest first.
fn strongest(mut growing: Vec<(i64, NodeId)>, n: usize) -> Vec<NodeId> {
    let strongest_first = |a: &(i64, NodeId), b: &(i64, NodeId)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if n > 0 && growing.len() > n {
        growing.select_nth_unstable_by(n - 1, strongest_first);
    }
    growing.truncate(n);
    growing.sort_unstable_by(strongest_first);
    growing.into_iter().map(|(_, node)| node).collect()
}
