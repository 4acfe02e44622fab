//! The abilities of a source of trees: a core that each has, and further ones that a source has or not.

use super::all_references::TimeReferences;
use super::counted::CountedHistory;
use super::history::History;
use super::json::JsonSource;
use super::key::NodeId;
use super::nodes::Timeline;
use super::point::gc_noun;
use super::references::ReferenceMap;
use super::source::{GROUPED_BY_THE_WRITER, Source};
use crate::group::{self, GroupOptions, Grouping};
use memory_city_formats::counts::ClassCounts;
use memory_city_formats::sampled::SampledAllocations;
use memory_city_formats::wire::RecordingFolder;
use memory_city_formats::{GcNoun, HeapSeries};
use memory_city_heap::Profile;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use std::sync::Arc;

/// Trees over time, and what else their input tells.
pub trait TreeSource: Send + Sync {
    /// The trees over time.
    fn timeline(&self) -> &Arc<Timeline>;

    /// Warnings about the data.
    fn warnings(&self) -> Vec<Warning>;

    /// How the trees are grouped, for people.
    fn grouping_title(&self) -> String;

    /// The grouping for programs: its id, or the roles of the trees.
    fn grouping_id(&self) -> String;

    /// Whether the source can be grouped so; otherwise why not, for people.
    ///
    /// # Errors
    /// When it cannot, see [`History::offers`].
    fn offers(&self, grouping: &Grouping) -> std::result::Result<(), String>;

    /// The same source under another grouping. Of further metrics see [`History::regroup`]. Trees of a recording are grouped from its
    /// walks, which are followed from then on.
    ///
    /// # Errors
    /// When the source does not offer it, a state cannot be loaded again, or the work was cancelled.
    fn regroup(&self, grouping: &str, options: GroupOptions, progress: &Progress) -> Result<Source>;

    /// The node of a key, of its path of names or of its own where the input gave it one.
    fn find(&self, key: &str) -> Option<NodeId> {
        self.timeline().find(key)
    }

    /// What the runtime of the program calls things.
    fn profile(&self) -> &'static Profile {
        self.timeline().profile()
    }

    /// The noun for one of its collections, for texts that count them.
    fn gc_noun(&self) -> GcNoun {
        gc_noun(self.timeline().points())
    }

    /// True if the source can be grouped anew: it has objects or kinds of them, or trees of an available recording.
    fn can_regroup(&self) -> bool {
        true
    }

    /// The heap states, where there are any.
    fn heaps(&self) -> Option<&History> {
        None
    }

    /// True if the source is a trace, with births and deaths, and allocation sites.
    fn is_recorded(&self) -> bool {
        self.heaps().is_some_and(History::is_recorded)
    }

    /// The same source with new data: see [`History::grown`].
    ///
    /// # Errors
    /// As [`History::grown`].
    fn grown(&self, _progress: &Progress) -> Result<Option<Source>> {
        Ok(None)
    }

    /// The class counts beside the tree; `None` without any. The first call takes O(classes × counts).
    fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        None
    }

    /// Whether there is something that was counted by class. Costs nothing.
    fn has_class_counts(&self) -> bool {
        self.class_counts().is_some()
    }

    /// The number of times with class counts beside the trees.
    fn counts_beside(&self) -> usize {
        self.class_counts().map_or(0, |counts| counts.moments.len())
    }

    /// The recording that the source follows: its trees came from that, and grow with it ([`TreeSource::grown`]).
    fn followed_recording(&self) -> Option<&RecordingFolder> {
        None
    }

    /// The recording behind trees that a recorder sends.
    fn sent_recording(&self) -> Option<&RecordingFolder> {
        None
    }

    /// Whether [`TreeSource::sampled`] has something to say. Costs nothing.
    fn has_samples(&self) -> bool {
        false
    }

    /// Whether single samples can be asked for, as far as that is known without reading anything.
    fn may_have_samples(&self) -> bool {
        false
    }

    /// The series with the samples of a point in time, and its point there. For sent trees it is the recording behind them, which the first
    /// call reads. `None` without samples.
    ///
    /// # Errors
    /// When it cannot be read, or the work was cancelled.
    fn samples_at(&self, _time: usize, _progress: &Progress) -> Result<Option<(Arc<dyn HeapSeries>, usize)>> {
        Ok(None)
    }

    /// The estimates from samples, with those alive at some points in time. Samples of heap states are alive if a root reaches them, those
    /// of a recording without walks if no collection has freed them. `None` without samples.
    ///
    /// # Errors
    /// When a file has changed since, or the work was cancelled.
    fn sampled(&self, _times: &[usize], _progress: &Progress) -> Result<Option<SampledAllocations>> {
        Ok(None)
    }

    /// The reference map of a node at a point in time; `None` where the input tells nothing of that time's references.
    ///
    /// # Errors
    /// When a state cannot be loaded again, or the work was cancelled.
    fn references(&self, _time: usize, _node: NodeId, _progress: &Progress) -> Result<Option<Arc<ReferenceMap>>> {
        Ok(None)
    }

    /// All references at a point in time; `None` where the input tells nothing of them.
    ///
    /// # Errors
    /// As [`TreeSource::references`].
    fn time_references(&self, _time: usize, _progress: &Progress) -> Result<Option<TimeReferences>> {
        Ok(None)
    }
}

impl TreeSource for History {
    fn timeline(&self) -> &Arc<Timeline> {
        History::timeline(self)
    }

    fn warnings(&self) -> Vec<Warning> {
        History::warnings(self)
    }

    fn grouping_title(&self) -> String {
        self.grouping().title.clone()
    }

    fn grouping_id(&self) -> String {
        self.grouping().id.clone()
    }

    fn offers(&self, grouping: &Grouping) -> std::result::Result<(), String> {
        History::offers(self, grouping)
    }

    fn regroup(&self, grouping: &str, options: GroupOptions, progress: &Progress) -> Result<Source> {
        History::regroup(self, grouping, options, progress).map(Source::Heaps)
    }

    fn gc_noun(&self) -> GcNoun {
        self.series().gc_noun()
    }

    fn heaps(&self) -> Option<&History> {
        Some(self)
    }

    fn grown(&self, progress: &Progress) -> Result<Option<Source>> {
        Ok(History::grown(self, progress)?.map(Source::Heaps))
    }

    fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        self.series().class_counts()
    }

    fn has_class_counts(&self) -> bool {
        self.series().has_class_counts()
    }

    fn followed_recording(&self) -> Option<&RecordingFolder> {
        History::followed_recording(self)
    }

    fn has_samples(&self) -> bool {
        self.series().has_samples()
    }

    fn may_have_samples(&self) -> bool {
        self.series().has_samples()
    }

    fn samples_at(&self, time: usize, _progress: &Progress) -> Result<Option<(Arc<dyn HeapSeries>, usize)>> {
        Ok(self.series().has_samples().then(|| (Arc::clone(self.series()), self.moment(time))))
    }

    fn sampled(&self, times: &[usize], progress: &Progress) -> Result<Option<SampledAllocations>> {
        let points: Vec<usize> = times.iter().map(|&t| self.moment(t)).collect();
        self.series().sampled(&points, progress)
    }

    fn references(&self, time: usize, node: NodeId, progress: &Progress) -> Result<Option<Arc<ReferenceMap>>> {
        History::references(self, time, node, progress).map(Some)
    }

    fn time_references(&self, time: usize, progress: &Progress) -> Result<Option<TimeReferences>> {
        // A heap without a single reference or root is one whose trace did not record them.
        let known = |all: &TimeReferences| !(all.pairs.is_empty() && all.roots.is_empty());
        History::time_references(self, time, progress).map(|all| Some(all).filter(known))
    }
}

impl TreeSource for CountedHistory {
    fn timeline(&self) -> &Arc<Timeline> {
        CountedHistory::timeline(self)
    }

    fn warnings(&self) -> Vec<Warning> {
        CountedHistory::warnings(self)
    }

    fn grouping_title(&self) -> String {
        self.grouping().title.clone()
    }

    fn grouping_id(&self) -> String {
        self.grouping().id.clone()
    }

    fn offers(&self, grouping: &Grouping) -> std::result::Result<(), String> {
        CountedHistory::offers(self, grouping)
    }

    fn regroup(&self, grouping: &str, _options: GroupOptions, progress: &Progress) -> Result<Source> {
        CountedHistory::regroup(self, grouping, progress).map(Source::Counts)
    }

    fn gc_noun(&self) -> GcNoun {
        self.counted().noun
    }

    fn class_counts(&self) -> Option<Arc<ClassCounts>> {
        CountedHistory::class_counts(self).cloned()
    }

    fn counts_beside(&self) -> usize {
        // Without samples the counts are the trees.
        CountedHistory::class_counts(self).filter(|_| self.is_estimate()).map_or(0, |counts| counts.moments.len())
    }

    fn has_samples(&self) -> bool {
        self.is_estimate()
    }

    fn sampled(&self, times: &[usize], progress: &Progress) -> Result<Option<SampledAllocations>> {
        self.counted().sampled(times, progress)
    }
}

impl TreeSource for JsonSource {
    fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    fn warnings(&self) -> Vec<Warning> {
        self.warnings.clone()
    }

    fn grouping_title(&self) -> String {
        let known = self.recording.as_ref().and_then(|of| group::grouping(&of.grouping).ok());
        known.map_or_else(|| self.roles.clone(), |grouping| grouping.title.clone())
    }

    fn grouping_id(&self) -> String {
        self.recording.as_ref().map_or(&self.roles, |of| &of.grouping).clone()
    }

    fn offers(&self, _grouping: &Grouping) -> std::result::Result<(), String> {
        // What walks of a recording hold is known when the first of them was read.
        if self.recording.is_some() { Ok(()) } else { Err(GROUPED_BY_THE_WRITER.to_owned()) }
    }

    fn regroup(&self, grouping: &str, options: GroupOptions, progress: &Progress) -> Result<Source> {
        match &self.recording {
            Some(of) => History::follow(&of.recording, grouping, options, progress).map(Source::Heaps),
            None => Err(Error::Unusable {
                what: format!("The grouping {grouping} cannot be applied. {GROUPED_BY_THE_WRITER}"),
                remedy: "Open heap dumps or a memory trace to choose a grouping".into(),
            }),
        }
    }

    fn find(&self, key: &str) -> Option<NodeId> {
        JsonSource::find(self, key)
    }

    fn can_regroup(&self) -> bool {
        self.recording.is_some()
    }

    fn sent_recording(&self) -> Option<&RecordingFolder> {
        self.recording.as_ref().map(|of| &of.recording)
    }

    fn may_have_samples(&self) -> bool {
        self.recording.is_some()
    }

    fn samples_at(&self, time: usize, progress: &Progress) -> Result<Option<(Arc<dyn HeapSeries>, usize)>> {
        Ok(self.walk(time, progress)?.filter(|(series, _)| series.has_samples()))
    }

    fn references(&self, time: usize, node: NodeId, _progress: &Progress) -> Result<Option<Arc<ReferenceMap>>> {
        Ok(JsonSource::references(self, time, node).map(Arc::new))
    }

    fn time_references(&self, time: usize, _progress: &Progress) -> Result<Option<TimeReferences>> {
        Ok(JsonSource::time_references(self, time))
    }
}
