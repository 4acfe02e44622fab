//! What a city is made of: trees over time, and whatever the input offers beyond them.
//!
//! Every source has a [`Timeline`]. Sources with heap states ([`History`]) can be grouped anew and asked for the
//! references of any group. Recordings without walks ([`CountedHistory`]) can be grouped anew by what is known of what was
//! counted, and have no references. Sources of trees that others counted ([`JsonSource`]) know what their writer told: one
//! grouping, and references where it gave them. Who looks at a source asks what it offers, not what it is.

use super::all_references::TimeReferences;
use super::choice::named;
use super::counted::CountedHistory;
use super::json::{self, JsonSource};
use super::references::ReferenceMap;
use super::{AUTO, DIFFERENCE, History, NodeId, Timeline, gc_noun};
use crate::group::domain::tell_packages;
use crate::group::{self, GroupOptions, Grouping};
use memory_city_formats::counts::ClassCounts;
use memory_city_formats::sampled::SampledAllocations;
use memory_city_formats::wire::{RecordingFolder, counted};
use memory_city_formats::{GcNoun, HeapSeries};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a city is made of.
pub enum Source {
    /// Heap states: dumps, traces.
    Heaps(History),
    /// What was counted by class, or is estimated from samples: recordings without walks.
    Counts(CountedHistory),
    /// Trees that another program counted.
    Trees(JsonSource),
}

/// Why sources of trees offer no grouping, for people.
pub const GROUPED_BY_THE_WRITER: &str =
    "The input has trees, not objects: they are grouped as the program that wrote them grouped them";

/// What a grouping begins with that asks for what died instead of what is alive: `died:age>type>site`.
pub const DIED: &str = "died:";

impl Source {
    /// Opens files and folders: memory trees in JSON, heap dumps or a trace, told apart by content. `grouping` may be
    /// [`AUTO`](super::AUTO), a name, or a list of classifiers; behind [`DIED`] it is that of what died, see
    /// [`died_over_time`](crate::lives::died_over_time); behind [`DIFFERENCE`] that of the difference of two times, see
    /// [`fates`](super::fates()).
    ///
    /// # Errors
    /// When an input is none of these or cannot be read, or the work was cancelled.
    pub fn open(paths: &[PathBuf], grouping: &str, options: GroupOptions, progress: &Progress) -> Result<Source> {
        Self::open_gradually(paths, grouping, options, progress, &mut |_| ())
    }

    /// As [`Source::open`]; while a long trace is being read, `partial` is given what has been read of it so far, now
    /// and then.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn open_gradually(
        paths: &[PathBuf],
        grouping: &str,
        options: GroupOptions,
        progress: &Progress,
        partial: &mut dyn FnMut(Source),
    ) -> Result<Source> {
        if let Some(of_dead) = grouping.strip_prefix(DIED) {
            // Wrong names are told before a long trace is read.
            crate::lives::grouping_of_dead(of_dead)?;
            let source = Self::open_gradually(paths, "type", options, progress, &mut |_| ())?;
            return crate::lives::died_over_time(&source, of_dead, progress);
        }
        if let Some(of_difference) = grouping.strip_prefix(DIFFERENCE) {
            let (times, grouping) = super::fates::parse(of_difference)?;
            let source = Self::open_gradually(paths, grouping, options, progress, &mut |_| ())?;
            return super::fates(&source, times, progress);
        }
        if are_trees(paths)? {
            let mut trees = json::read(paths, progress)?;
            if grouping != AUTO {
                let message = format!("the grouping {grouping} was not applied. {GROUPED_BY_THE_WRITER}");
                trees.warnings.push(Warning { path: paths[0].clone(), offset: None, message });
            }
            return Ok(Source::Trees(trees));
        }
        // A misspelt name is told before a long trace is read.
        let by_object = grouping != AUTO && named(grouping)?.reads().by_object();
        let history = |series: Box<dyn HeapSeries>, progress: &Progress| {
            tell_packages(series.own_packages());
            History::build(Arc::from(series), grouping, options, progress).map(Source::Heaps)
        };
        let opened = memory_city_formats::open_gradually(paths, progress, &mut |series| {
            // What looks at every object would replay the beginning of the trace again and again.
            if by_object {
                return;
            }
            // What cannot be grouped yet may be later; the progress shown is that of the reading.
            if let Ok(first) = history(series, &Progress::new()) {
                partial(first);
            }
        });
        match opened {
            Ok(series) => history(series, progress),
            // A recording without walks has counts, or samples that say what they would be.
            Err(error) => match counted(paths, progress) {
                Ok(Some(counts)) => CountedHistory::of(counts, &paths[0], grouping, progress).map(Source::Counts),
                _ => Err(error),
            },
        }
    }

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

    /// What a person must know about what is shown.
    pub fn warnings(&self) -> Vec<Warning> {
        match self {
            Source::Heaps(history) => history.warnings(),
            Source::Counts(counts) => counts.warnings(),
            Source::Trees(trees) => trees.warnings.clone(),
        }
    }

    /// What its collections are, one by one: whoever counts them for people asks here.
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

    /// What was counted by class beside what is shown; `None` where nothing was. The first call takes O(classes × counts).
    pub fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        match self {
            Source::Heaps(history) => history.series().class_counts(),
            Source::Counts(counts) => counts.class_counts().cloned(),
            Source::Trees(_) => None,
        }
    }

    /// How many times was counted by class beside what the trees show.
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

    /// Whether the source is a trace: it knows what came and went, and where it came from.
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

    /// Whether the source can be grouped anew at all: it has objects or kinds of them, or trees of a recording that is here.
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

    /// The recording that trees are of which somebody else sends.
    pub fn sent_recording(&self) -> Option<&RecordingFolder> {
        match self {
            Source::Heaps(_) | Source::Counts(_) => None,
            Source::Trees(trees) => trees.recording.as_ref().map(|of| &of.recording),
        }
    }

    /// The series with the samples of a point in time, and which point of it that is. Of trees that somebody sends it is the recording that
    /// they were made of, which is read when it is asked for the first time. `None` where there are no samples.
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

    /// What samples say, and which of them are alive at some points in time: of heap states those that some root reaches, of a recording
    /// without walks those that no collection has freed. `None` where there are none here.
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
    pub(crate) fn has_samples(&self) -> bool {
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

    /// The same source with what has come since: see [`History::grown`].
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
