//! Opening of inputs under a grouping: of live objects, of dead ones, or of the difference of two times.

use crate::group::{GroupOptions, tell_packages};
use crate::lives::{died_over_time, grouping_of_dead};
use crate::timeline::fates::{self, fates};
use crate::timeline::{
    AUTO, CountedHistory, DIED, DIFFERENCE, GROUPED_BY_THE_WRITER, History, Source, are_trees, json, named_grouping,
};
use memory_city_formats::HeapSeries;
use memory_city_formats::wire::counted;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use std::path::PathBuf;
use std::sync::Arc;

impl Source {
    /// Opens files and folders: memory trees in JSON, heap dumps or a trace, recognised by content. `grouping` may be
    /// [`AUTO`], a name, or a list of classifiers. Behind [`DIED`] it groups dead objects, see
    /// [`died_over_time`](died_over_time()). Behind [`DIFFERENCE`] it groups the difference of two times, see
    /// [`fates`](fates()).
    ///
    /// # Errors
    /// When an input is none of these or cannot be read, or the work was cancelled.
    pub fn open(paths: &[PathBuf], grouping: &str, options: GroupOptions, progress: &Progress) -> Result<Source> {
        Self::open_gradually(paths, grouping, options, progress, &mut |_| ())
    }

    /// As [`Source::open`]. While a long trace is being read, `partial` is called now and then with the part read so far.
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
            grouping_of_dead(of_dead)?;
            let source = Self::open_gradually(paths, "type", options, progress, &mut |_| ())?;
            return died_over_time(&source, of_dead, progress);
        }
        if let Some(of_difference) = grouping.strip_prefix(DIFFERENCE) {
            let (times, grouping) = fates::parse(of_difference)?;
            let source = Self::open_gradually(paths, grouping, options, progress, &mut |_| ())?;
            return fates(&source, times, progress);
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
        let by_object = grouping != AUTO && named_grouping(grouping)?.reads().by_object();
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
}
