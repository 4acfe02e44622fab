//! What an analysis is: it describes itself and is run.

use super::kept::{self, FollowsFrom, StoredFindings};
use super::parameters::{Arguments, Parameter};
use crate::lives::has_lives;
use crate::tabular::ResultTable;
use crate::timeline::{Metric, NodeId, Source, Timeline};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;

/// Something that can be found out about a document.
pub trait Analysis: Send + Sync {
    /// What it is, needs and can be told. Cheap; the same at every call.
    fn describe(&self) -> Description;

    /// What its findings follow from: those that need heap states and follow from them alone are kept for the next time that
    /// the same dumps are opened. They must be small, and the same in every run.
    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::Anything
    }

    /// Finds it out. What it [needs](Description::needs) is there, `window` lies within the timeline and `arguments` are
    /// within their ranges: [`run`] has seen to it.
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

/// What an analysis says of itself.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Description {
    /// Name for command lines and files: `growth`.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it finds out, in a sentence or two.
    pub explanation: &'static str,
    /// What a document must have.
    pub needs: &'static [Need],
    /// What it can be told.
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

/// What an analysis may need of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A later point in time to compare the first one with.
    TwoTimes,
    /// What refers to what.
    References,
    /// Points in time that are garbage collections: a memory trace or a recording.
    Collections,
    /// Births and deaths of objects: a memory trace, or a recording with samples.
    Lives,
    /// The objects themselves, not only trees that somebody counted.
    Objects,
    /// What fields and elements hold: numbers, texts, names of fields.
    Values,
    /// Samples of allocations: a recording.
    Samples,
    /// Counts by class between heap states: a recording.
    Counts,
}

impl Need {
    /// What it is, for people.
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
    /// Looks at what the input is, not at each reference: a trace that turns out to have recorded none has them all the
    /// same.
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

/// Whether a collection is one of these points in time, or was heard of beside them.
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

/// A range of points in time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    /// The first, counted from 0.
    pub from: usize,
    /// The last; not before the first.
    pub to: usize,
}

impl TimeWindow {
    /// From the first to the last point in time.
    pub fn whole(timeline: &Timeline) -> TimeWindow {
        TimeWindow { from: 0, to: timeline.times().saturating_sub(1) }
    }

    /// The range that a person gave, counted from 1; what is not given is the first or the last.
    ///
    /// # Errors
    /// When there is no such point in time, or the last is before the first.
    pub fn of(timeline: &Timeline, from: Option<usize>, to: Option<usize>) -> Result<TimeWindow> {
        let times = timeline.times();
        let place = |given: Option<usize>, name: &str, default: usize| match given {
            None => Ok(default),
            Some(k) if (1..=times).contains(&k) => Ok(k - 1),
            Some(k) => Err(Error::Unusable {
                what: format!("There is no point in time {k}: the input has {times}"),
                remedy: format!("Let {name} be from 1 to {times}"),
            }),
        };
        let whole = TimeWindow::whole(timeline);
        let window = TimeWindow { from: place(from, "--from", whole.from)?, to: place(to, "--to", whole.to)? };
        if window.from > window.to {
            return Err(Error::Unusable {
                what: format!("The point in time {} comes after {}", window.from + 1, window.to + 1),
                remedy: "Let --from be no larger than --to".into(),
            });
        }
        Ok(window)
    }

    /// The points in time in it.
    pub fn times(self) -> std::ops::RangeInclusive<usize> {
        self.from..=self.to
    }

    /// The value of a node at the last time minus that at the first. Saturates.
    pub fn growth(self, timeline: &Timeline, node: NodeId, metric: Metric) -> i64 {
        if timeline.times() == 0 {
            return 0;
        }
        change(timeline.value(self.from, node, metric), timeline.value(self.to, node, metric))
    }
}

/// What is added from `first` to `last`, within what a signed number holds.
#[inline]
pub(crate) fn change(first: u64, last: u64) -> i64 {
    (i128::from(last) - i128::from(first)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// What an analysis found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What it is called for people, where the title of the analysis says something else.
    pub title: Option<String>,
    /// What was asked, answered in sentences, the most important first; lines that begin with blanks belong to the one
    /// before. Told before any table.
    pub answers: Vec<String>,
    /// The main table first.
    pub tables: Vec<ResultTable>,
    /// How what the rows of the main table are about hangs on its GC root, step by step, nothing left out: for views, which have room for
    /// it. Empty where that is not told.
    pub ways: Vec<Vec<String>>,
    /// Lines that sum it up.
    pub notes: Vec<String>,
    /// What a person must know about it, beside the warnings of the document.
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
    let key = kept::key(analysis, &description, document, window, arguments);
    if let Some(found) = key.as_ref().and_then(|key| key.kept::<StoredFindings>()?.findings()) {
        return Ok(found);
    }
    let findings = analysis.run(document, window, arguments, progress)?;
    if let Some((key, stored)) = key.zip(StoredFindings::of(&findings)) {
        key.keep(&stored);
    }
    Ok(findings)
}
