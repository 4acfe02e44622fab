//! The source of a city: trees over time, and further queries that the input offers.
//!
//! Every source has a [`Timeline`]. Sources with heap states ([`History`]) can be grouped anew and asked for the references of any group.
//! Recordings without walks ([`CountedHistory`]) can be grouped anew by the facts of their counts, and have no references. Sources of trees
//! from other tools ([`JsonSource`]) have one grouping, and references if the writer gave them. Callers ask a source for its abilities, not
//! for its kind.

use super::all_references::TimeReferences;

use super::counted::CountedHistory;
use super::history::History;
use super::json::{self, JsonSource};
use super::key::NodeId;
use super::nodes::Timeline;
use super::point::gc_noun;
use super::references::ReferenceMap;
use crate::group::{self, GroupOptions, Grouping};
use memory_city_formats::counts::ClassCounts;
use memory_city_formats::sampled::SampledAllocations;
use memory_city_formats::wire::RecordingFolder;
use memory_city_formats::{GcNoun, HeapSeries};
use memory_city_heap::Profile;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kinds of sources.
pub enum Source {
    /// Heap states: dumps, traces.
    Heaps(History),
    /// Class counts, or estimates from samples: recordings without walks.
    Counts(CountedHistory),
    /// Trees that another program counted.
    Trees(JsonSource),
}

/// Why sources of trees offer no grouping, for people.
pub const GROUPED_BY_THE_WRITER: &str =
    "The input has trees, not objects: they are grouped as the program that wrote them grouped them";

impl Source {
    /// The trees over time.
    pub fn timeline(&self) -> &Arc<Timeline> {
        match self {
            Source::Heaps(history) => history.timeline(),
            Source::Counts(counts) => counts.timeline(),
            Source::Trees(trees) => &trees.timeline,
        }
    }

    /// The node of a key, of its path of names or of its own where the input gave it one.
    pub fn find(&self, key: &str) -> Option<NodeId> {
        match self {
            Source::Heaps(_) | Source::Counts(_) => self.timeline().find(key),
            Source::Trees(trees) => trees.find(key),
        }
    }

    /// What the runtime of the program calls things.
    pub fn profile(&self) -> &'static Profile {
        self.timeline().profile()
    }

    /// Warnings about the data.
    pub fn warnings(&self) -> Vec<Warning> {
        match self {
            Source::Heaps(history) => history.warnings(),
            Source::Counts(counts) => counts.warnings(),
            Source::Trees(trees) => trees.warnings.clone(),
        }
    }

    /// The noun for one of its collections, for texts that count them.
    pub fn gc_noun(&self) -> GcNoun {
        match self {
            Source::Heaps(history) => history.series().gc_noun(),
            Source::Counts(counts) => counts.counted().noun,
            Source::Trees(trees) => gc_noun(trees.timeline.points()),
        }
    }

    /// The heap states, where there are any.
    pub fn heaps(&self) -> Option<&History> {
        match self {
            Source::Heaps(history) => Some(history),
            Source::Counts(_) | Source::Trees(_) => None,
        }
    }

    /// The class counts beside the tree; `None` without any. The first call takes O(classes × counts).
    pub fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        match self {
            Source::Heaps(history) => history.series().class_counts(),
            Source::Counts(counts) => counts.class_counts().cloned(),
            Source::Trees(_) => None,
        }
    }

    /// The number of times with class counts beside the trees.
    pub fn counts_beside(&self) -> usize {
        let is_beside = match self {
            Source::Heaps(_) => true,
            Source::Counts(counts) => counts.is_estimate(),
            Source::Trees(_) => false,
        };
        self.class_counts().filter(|_| is_beside).map_or(0, |counts| counts.moments.len())
    }

    /// Whether there is something that was counted by class. Costs nothing.
    pub fn has_class_counts(&self) -> bool {
        match self {
            Source::Heaps(history) => history.series().has_class_counts(),
            Source::Counts(counts) => counts.class_counts().is_some(),
            Source::Trees(_) => false,
        }
    }

    /// True if the source is a trace, with births and deaths, and allocation sites.
    pub fn is_recorded(&self) -> bool {
        self.heaps().is_some_and(History::is_recorded)
    }

    /// How the trees are grouped, for people.
    pub fn grouping_title(&self) -> String {
        match self {
            Source::Heaps(history) => history.grouping().title.clone(),
            Source::Counts(counts) => counts.grouping().title.clone(),
            Source::Trees(trees) => {
                let known = trees.recording.as_ref().and_then(|of| group::grouping(&of.grouping).ok());
                known.map_or_else(|| trees.roles.clone(), |grouping| grouping.title.clone())
            }
        }
    }

    /// The grouping for programs: its id, or the roles of the trees.
    pub fn grouping_id(&self) -> String {
        match self {
            Source::Heaps(history) => history.grouping().id.clone(),
            Source::Counts(counts) => counts.grouping().id.clone(),
            Source::Trees(trees) => trees.recording.as_ref().map_or(&trees.roles, |of| &of.grouping).clone(),
        }
    }

    /// True if the source can be grouped anew: it has objects or kinds of them, or trees of an available recording.
    pub fn can_regroup(&self) -> bool {
        match self {
            Source::Heaps(_) | Source::Counts(_) => true,
            Source::Trees(trees) => trees.recording.is_some(),
        }
    }

    /// The recording that the source follows: its trees came from that, and grow with it ([`Source::grown`]).
    pub fn followed_recording(&self) -> Option<&RecordingFolder> {
        match self {
            Source::Heaps(history) => history.followed_recording(),
            Source::Counts(_) | Source::Trees(_) => None,
        }
    }

    /// The recording behind trees that a recorder sends.
    pub fn sent_recording(&self) -> Option<&RecordingFolder> {
        match self {
            Source::Heaps(_) | Source::Counts(_) => None,
            Source::Trees(trees) => trees.recording.as_ref().map(|of| &of.recording),
        }
    }

    /// The series with the samples of a point in time, and its point there. For sent trees it is the recording behind them, which the first
    /// call reads. `None` without samples.
    ///
    /// # Errors
    /// When it cannot be read, or the work was cancelled.
    pub fn samples_at(&self, time: usize, progress: &Progress) -> Result<Option<(Arc<dyn HeapSeries>, usize)>> {
        let found = match self {
            Source::Heaps(history) => Some((Arc::clone(history.series()), history.moment(time))),
            Source::Counts(_) => None,
            Source::Trees(trees) => trees.walk(time, progress)?,
        };
        Ok(found.filter(|(series, _)| series.has_samples()))
    }

    /// The estimates from samples, with those alive at some points in time. Samples of heap states are alive if a root reaches them, those
    /// of a recording without walks if no collection has freed them. `None` without samples.
    ///
    /// # Errors
    /// When a file has changed since, or the work was cancelled.
    pub(crate) fn sampled(&self, times: &[usize], progress: &Progress) -> Result<Option<SampledAllocations>> {
        match self {
            Source::Heaps(history) => {
                let points: Vec<usize> = times.iter().map(|&t| history.moment(t)).collect();
                history.series().sampled(&points, progress)
            }
            Source::Counts(counts) => counts.counted().sampled(times, progress),
            Source::Trees(_) => Ok(None),
        }
    }

    /// Whether [`Source::sampled`] has something to say. Costs nothing.
    pub fn has_samples(&self) -> bool {
        match self {
            Source::Heaps(history) => history.series().has_samples(),
            Source::Counts(counts) => counts.is_estimate(),
            Source::Trees(_) => false,
        }
    }

    /// Whether there are samples, as far as that is known without reading anything.
    pub fn may_have_samples(&self) -> bool {
        match self {
            Source::Heaps(history) => history.series().has_samples(),
            // They are what its trees are made of, and of no heap state.
            Source::Counts(_) => false,
            Source::Trees(trees) => trees.recording.is_some(),
        }
    }

    /// The same source with new data: see [`History::grown`].
    ///
    /// # Errors
    /// As [`History::grown`].
    pub fn grown(&self, progress: &Progress) -> Result<Option<Source>> {
        match self {
            Source::Heaps(history) => Ok(history.grown(progress)?.map(Source::Heaps)),
            Source::Counts(_) | Source::Trees(_) => Ok(None),
        }
    }

    /// Whether the source can be grouped so; otherwise why not, for people.
    ///
    /// # Errors
    /// When it cannot, see [`History::offers`].
    pub fn offers(&self, grouping: &Grouping) -> std::result::Result<(), String> {
        match self {
            Source::Heaps(history) => history.offers(grouping),
            Source::Counts(counts) => counts.offers(grouping),
            // What its walks hold is known when the first of them was read.
            Source::Trees(trees) if trees.recording.is_some() => Ok(()),
            Source::Trees(_) => Err(GROUPED_BY_THE_WRITER.to_owned()),
        }
    }

    /// The same source under another grouping. Of further metrics see [`History::regroup`]. Trees of a recording are grouped from its
    /// walks, which are followed from then on.
    ///
    /// # Errors
    /// When the source does not offer it, a state cannot be loaded again, or the work was cancelled.
    pub fn regroup(&self, grouping: &str, options: GroupOptions, progress: &Progress) -> Result<Source> {
        match self {
            Source::Heaps(history) => history.regroup(grouping, options, progress).map(Source::Heaps),
            Source::Counts(counts) => counts.regroup(grouping, progress).map(Source::Counts),
            Source::Trees(JsonSource { recording: Some(of), .. }) => {
                History::follow(&of.recording, grouping, options, progress).map(Source::Heaps)
            }
            Source::Trees(_) => Err(Error::Unusable {
                what: format!("The grouping {grouping} cannot be applied. {GROUPED_BY_THE_WRITER}"),
                remedy: "Open heap dumps or a memory trace to choose a grouping".into(),
            }),
        }
    }

    /// The reference map of a node at a point in time; `None` where the input tells nothing of that time's references.
    ///
    /// # Errors
    /// When a state cannot be loaded again, or the work was cancelled.
    pub fn references(&self, time: usize, node: NodeId, progress: &Progress) -> Result<Option<Arc<ReferenceMap>>> {
        match self {
            Source::Heaps(history) => history.references(time, node, progress).map(Some),
            Source::Counts(_) => Ok(None),
            Source::Trees(trees) => Ok(trees.references(time, node).map(Arc::new)),
        }
    }

    /// All references at a point in time; `None` where the input tells nothing of them.
    ///
    /// # Errors
    /// As [`Source::references`].
    pub fn time_references(&self, time: usize, progress: &Progress) -> Result<Option<TimeReferences>> {
        match self {
            // A heap without a single reference or root is one whose trace did not record them.
            Source::Heaps(history) => {
                let known = |all: &TimeReferences| !(all.pairs.is_empty() && all.roots.is_empty());
                history.time_references(time, progress).map(|all| Some(all).filter(known))
            }
            Source::Counts(_) => Ok(None),
            Source::Trees(trees) => Ok(trees.time_references(time)),
        }
    }
}

/// Whether the inputs are memory trees in JSON.
///
/// # Errors
/// When some are and some are not, or one cannot be read.
pub fn are_trees(paths: &[PathBuf]) -> Result<bool> {
    let (mut trees, mut others) = (None, None);
    for path in paths {
        if path.is_file() {
            memory_city_formats::refuse_foreign(path)?;
        }
        // A folder with a dump or a trace is a folder of dumps, whatever was exported into it.
        let here = json::holds_trees(path)? && !(path.is_dir() && memory_city_formats::holds_heaps(path)?);
        if here {
            trees.get_or_insert(path)
        } else {
            others.get_or_insert(path)
        };
    }
    match (trees, others) {
        (Some(tree), Some(other)) => Err(Error::Unusable {
            what: format!("{} holds memory trees in JSON, {} does not", tree.display(), other.display()),
            remedy: "Open them one after the other, or `memory-city convert` the others to JSON first".into(),
        }),
        (trees, _) => Ok(trees.is_some()),
    }
}

/// A name for inputs: that of the only one, or of the folder they share.
pub fn title_of(paths: &[PathBuf]) -> String {
    let name = |path: &Path| {
        let full = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        full.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_else(|| path.display().to_string())
    };
    match paths {
        [] => "nothing".to_owned(),
        [one] => name(one),
        [first, ..] => match first.parent().filter(|p| !p.as_os_str().is_empty()) {
            Some(parent) => format!("{} ({} files)", name(parent), paths.len()),
            None => format!("{} and {} more", name(first), paths.len() - 1),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::title_of;
    use std::path::PathBuf;

    #[test]
    fn inputs_have_short_titles() {
        assert_eq!(title_of(&[PathBuf::from("/tmp/dumps/a.hprof")]), "a.hprof");
        let two = [PathBuf::from("/x/dumps/a.hprof"), PathBuf::from("/x/dumps/b.hprof")];
        assert_eq!(title_of(&two), "dumps (2 files)");
        assert_eq!(title_of(&[]), "nothing");
    }
}
