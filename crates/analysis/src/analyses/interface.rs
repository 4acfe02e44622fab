//! The interface of analyses: each describes itself and can be run.

use super::finding::Finding;
use super::findings_cache::{self, FollowsFrom, StoredFindings};
use super::leak_verdict::LeakVerdict;
use super::parameters::{Arguments, Parameter};
use crate::lives::has_lives;
use crate::tabular::ResultTable;
use crate::timeline::{NodeId, Source, TimeWindow};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;

/// Something that can be found out about a document.
pub trait Analysis: Send + Sync {
    /// Description, needs and parameters. Cheap; the same at every call.
    fn describe(&self) -> Description;

    /// The inputs of its findings. Findings that need heap states and depend on them alone are cached for the next time that the same dumps
    /// are opened. They must be small, and the same in every run.
    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::Anything
    }

    /// Runs the analysis. [`run`] guarantees that its [needs](Description::needs) are met, `window` lies within the timeline and
    /// `arguments` are within their ranges.
    ///
    /// # Errors
    /// When a heap state cannot be loaded again, an argument does not fit the document, or the work was cancelled.
    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings>;
}

/// The description of an analysis.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Description {
    /// Name for command lines and files: `growth`.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Its purpose, in a sentence or two.
    pub explanation: &'static str,
    /// The requirements on a document.
    pub needs: &'static [Need],
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

impl Description {
    /// Why the analysis cannot be made of a document over a range of times, for people; `Ok` where it can.
    pub fn check(&self, document: &Source, window: TimeWindow) -> std::result::Result<(), String> {
        if document.timeline().times() == 0 {
            return Err("The input has no point in time".to_owned());
        }
        self.needs.iter().try_for_each(|need| need.check(document, window))
    }
}

/// A requirement on a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A later point in time to compare the first one with.
    TwoTimes,
    /// References between objects.
    References,
    /// Points in time that are garbage collections: a memory trace or a recording.
    Collections,
    /// Births and deaths of objects: a memory trace, or a recording with samples.
    Lives,
    /// The objects themselves, not only counted trees.
    Objects,
    /// Values of fields and elements: numbers, texts, names of fields.
    Values,
    /// Samples of allocations: a recording.
    Samples,
    /// Counts by class between heap states: a recording.
    Counts,
}

impl Need {
    /// Its name, for people.
    pub fn text(self) -> &'static str {
        match self {
            Need::TwoTimes => "two points in time",
            Need::References => "references",
            Need::Collections => "garbage collections (a memory trace or a recording)",
            Need::Lives => "births and deaths (a memory trace, or a recording with samples)",
            Need::Objects => "objects (heap dumps, a memory trace or a recording)",
            Need::Values => "values of objects (heap dumps)",
            Need::Samples => "samples of allocations (a recording)",
            Need::Counts => "class histograms (a recording)",
        }
    }

    /// Why a document does not have it, for people.
    ///
    /// Checks the kind of input, not each reference: a trace without references passes.
    pub fn check(self, document: &Source, window: TimeWindow) -> std::result::Result<(), String> {
        let has = match self {
            Need::TwoTimes => window.to > window.from,
            Need::References => document.heaps().is_some() || tells_references(document, window),
            Need::Collections => has_collections(document, window),
            Need::Lives => has_lives(document),
            Need::Objects => document.heaps().is_some(),
            Need::Values => document.heaps().is_some() && !document.is_recorded(),
            Need::Samples => document.has_samples(),
            Need::Counts => document.has_class_counts(),
        };
        let reason = match self {
            Need::TwoTimes if document.timeline().times() > 1 => {
                "Only one point in time is looked at: growth needs a second one, later"
            }
            Need::TwoTimes => "Only one state of the heap: growth needs a second one, later",
            Need::References => "The input does not say what refers to what",
            Need::Collections if document.heaps().is_some_and(|heaps| heaps.series().hears_collections()) => {
                "No garbage collection happened while this was recorded"
            }
            Need::Collections => {
                "The input does not record garbage collections: that takes a memory trace or a recording"
            }
            Need::Lives => {
                "The input does not say when objects were born and died: that takes a memory trace, or a recording with samples"
            }
            Need::Objects => "The input has trees, not objects: that takes heap dumps or a memory trace",
            Need::Values => "The input does not say what fields hold: that takes heap dumps",
            Need::Samples => "No allocations were sampled: that takes a recording (memory-city record)",
            Need::Counts => {
                "Classes were not counted beside heap states: that takes a recording (memory-city record, or watch)"
            }
        };
        if has { Ok(()) } else { Err(reason.to_owned()) }
    }
}

/// True if a collection is one of these points in time, or was recorded beside them.
fn has_collections(document: &Source, window: TimeWindow) -> bool {
    let points = document.timeline().points();
    document.heaps().is_some_and(|heaps| heaps.series().has_collections())
        || window.times().any(|t| points[t].gc.is_some())
}

/// Whether trees came with references, at some point in time.
fn tells_references(document: &Source, window: TimeWindow) -> bool {
    // Nodes are numbered level by level: the last one is a leaf, of which there is least to tell.
    let leaf = NodeId(document.timeline().len() as u32 - 1);
    let told = |t| matches!(document.references(t, leaf, &Progress::new()), Ok(Some(_)));
    window.times().any(told)
}

/// The findings of an analysis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// A title for people that replaces the title of the analysis.
    pub title: Option<String>,
    /// Answers in sentences, the most important first; lines that begin with blanks belong to the one before. Shown before any table.
    pub answers: Vec<String>,
    /// The main table first.
    pub tables: Vec<ResultTable>,
    /// What a detector found, the strongest first.
    pub found: Vec<Finding>,
    /// The verdict over the whole heap, of detectors that make one.
    pub verdict: Option<LeakVerdict>,
    /// Lines that sum it up.
    pub notes: Vec<String>,
    /// Warnings about the findings, beside those of the document.
    pub warnings: Vec<Warning>,
}

/// Runs an analysis on a document, after a look at whether it can be made of it.
///
/// # Errors
/// When it cannot, or as [`Analysis::run`].
pub fn run(
    analysis: &dyn Analysis,
    document: &Source,
    window: TimeWindow,
    arguments: &Arguments,
    progress: &Progress,
) -> Result<Findings> {
    let description = analysis.describe();
    description.check(document, window).map_err(|reason| Error::Unusable {
        what: format!("The analysis {} cannot be made of this input. {reason}", description.id),
        remedy: match description.needs {
            [] => "Open another".to_owned(),
            needs => format!("It needs {}", needs.iter().map(|n| n.text()).collect::<Vec<_>>().join(", ")),
        },
    })?;
    debug_assert!(window.from <= window.to && window.to < document.timeline().times());
    progress.begin(description.title, 0);
    let key = findings_cache::key(analysis, &description, document, window, arguments);
    if let Some(found) = key.as_ref().and_then(|key| key.kept::<StoredFindings>()?.findings()) {
        return Ok(found);
    }
    let findings = analysis.run(document, window, arguments, progress)?;
    if let Some((key, stored)) = key.zip(StoredFindings::of(&findings)) {
        key.keep(&stored);
    }
    Ok(findings)
}
