//! Analyses behind one interface. Each describes itself, its needs and its parameters, reads a document over a range of points in time, and
//! returns tables. Text, JSON, CSV and the panel of the viewer are made from that alone.
//!
//! | module | says |
//! |---|---|
//! | `backlog` | growth kept by finalizers and weaker references |
//! | `interface` | the interface: description, needs, findings |
//! | `detector`, `finding` | analyses that are run unasked, and what they find |
//! | `findings_cache` | cache of findings for dumps |
//! | `parameters` | parameters with defaults and ranges |
//! | `objects`, `object_rows`, `contents` | shared code of analyses of single objects and their contents |
//! | `one_object` | the page of one object |
//! | `thread_retained` | the objects that each thread alone keeps alive |
//! | `leak_place` | a leaking place in the words of windows and pages |
//! | `leak_example`, `leak_headline`, `leak_sentence`, `leak_structure` | parts of the analysis `leak`: ways to places, first lines, sentences, patterns |
//! | `owner_times` | the owners at the points in time worth a look |
//! | `registry` | the registry; programs may add their own analyses |
//! | `verdict` | the largest growth, or none, in a sentence |
//! | [`report`] | several of them, one after the other |
//! | [`compare`](mod@compare) | two runs side by side |
//! | [`check`] | checks of limits, for build pipelines |
//! | the others | one analysis each |
//!
//! A new analysis is a file beside these with a function `analysis`, and its name in the list of `analyses!` below. A detector has a function
//! `detector` as well, and that word behind its name.
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

mod backlog;
pub mod check;
pub mod compare;
mod contents;
mod detector;
mod finding;
mod findings_cache;
mod interface;
mod judging;
mod leak_example;
mod leak_first_line;
mod leak_headline;
mod leak_place;
mod leak_sentence;
mod leak_sibling;
mod leak_structure;
mod leak_table;
mod leak_verdict;
mod measures;
mod object_rows;
mod objects;
mod one_object;
mod owner_times;
mod parameters;
mod ranking;
mod registry;
pub mod report;
mod thread_retained;
mod verdict;
mod watched;

pub use crate::tabular::{bytes_text, count_text, gc_kind_text, gc_text, time_text, uptime_text};
pub use crate::timeline::TimeWindow;
pub(crate) use crate::timeline::change;
pub use cut::named_cut;
pub use detector::{
    Detection, Detector, DetectorRank, DetectorText, can_decide, decide, deciding, decisions, without_owners,
};
pub use finding::{Certainty, Evidence, EvidenceUnit, Finding, FoundPlace, NextStep};
pub use findings_cache::FollowsFrom;
pub use generations::generation_caveats;
pub use interface::{Analysis, Description, Findings, Need, run};
pub use judging::unjudged;
pub use leak_place::{LeakLines, LeakPlace, OWNER_UNKNOWN};
pub use leak_verdict::{LeakVerdict, VerdictKind};
pub use measures::RunMeasures;
pub use parameters::{Argument, Arguments, Parameter, ParameterKind, all_rows, metric_of};
pub use ranking::{top_growing, top_shrinking};
pub use registry::AnalysisRegistry;
pub use sites::{SampledShare, SampledShares, sampled_shares};
pub use verdict::{GROWTH_FLOOR, Verdict, growth_scale, largest, verdict};

/// Declares the module of each analysis, and lists the results of its functions `analysis` and, where it is a detector, `detector`.
macro_rules! analyses {
    ($($module:ident $(: $detector:ident)?,)*) => {
        $(mod $module;)*
        /// One of each, in this order.
        fn built_in() -> Vec<Box<dyn Analysis>> {
            vec![$($module::analysis()),*]
        }

        /// The detectors, in this order.
        pub fn detectors() -> Vec<Box<dyn Detector>> {
            vec![$($($module::$detector(),)?)*]
        }
    };
}

analyses! {
    leak: detector,
    heap,
    growth,
    collections,
    run,
    windows: detector,
    churn,
    lifetimes,
    trends,
    sites: detector,
    generations: detector,
    counts: detector,
    difference,
    paths,
    cut,
    biggest,
    dominators,
    strengths: detector,
    inspect,
    closure,
    graph,
    outside_heap: detector,
    structures,
    suggested_structures,
    growing_structures: detector,
    containers,
    duplicate_strings,
    duplicate_arrays,
    boxed_numbers,
    constant_arrays,
    duplicate_classes,
    finalizer_queue,
    threads: detector,
    packages,
}
