//! Opening of inputs under a grouping: of live objects, of dead ones, or of the difference of two times.

use crate::group::{GroupOptions, tell_packages};
use crate::lives::{died_over_time, of_dead};
use crate::timeline::{
    AskedObjects, ComparedTimes, CountedHistory, GROUPED_BY_THE_WRITER, History, IntoQuestion, Question, Source,
    are_trees, fates, json, made_grouping,
};
use memory_city_formats::HeapSeries;
use memory_city_formats::wire::counted;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use std::path::PathBuf;
use std::sync::Arc;

impl Source {
    /// Opens files and folders: memory trees in JSON, heap dumps or a trace, recognised by content, and answers a question with them.
    ///
    /// # Errors
    /// When the question is a text and wrong, an input is none of these or cannot be read, or the work was cancelled.
    pub fn open(
        paths: &[PathBuf],
        question: impl IntoQuestion,
        options: GroupOptions,
        progress: &Progress,
    ) -> Result<Source> {
        Self::open_gradually(paths, question, options, progress, &mut |_| ())
    }

    /// As [`Source::open`]. While a long trace is being read, `partial` is called now and then with the part read so far.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn open_gradually(
        paths: &[PathBuf],
        question: impl IntoQuestion,
        options: GroupOptions,
        progress: &Progress,
        partial: &mut dyn FnMut(Source),
    ) -> Result<Source> {
        let Question { objects, grouping } = question.question()?;
        if let Some(ComparedTimes(times)) = objects.difference {
            let objects = AskedObjects { difference: None, ..objects };
            return fates(&Self::open(paths, &Question { objects, grouping }, options, progress)?, times, progress);
        }
        // A misspelt name is told before a long trace is read, and told packages count only behind it.
        if objects.died {
            of_dead(&*made_grouping(&grouping)?)?;
            let source = Self::open(paths, "type", options, progress)?;
            return died_over_time(&source, &of_dead(&*made_grouping(&grouping)?)?, progress);
        }
        if are_trees(paths)? {
            let mut trees = json::read(paths, progress)?;
            if !grouping.is_auto() {
                let message = format!("the grouping {grouping} was not applied. {GROUPED_BY_THE_WRITER}");
                trees.warnings.push(Warning { path: paths[0].clone(), offset: None, message });
            }
            return Ok(Source::Trees(trees));
        }
        let by_object = !grouping.is_auto() && made_grouping(&grouping)?.reads().by_object();
        let history = |series: Box<dyn HeapSeries>, progress: &Progress| {
            tell_packages(series.own_packages());
            History::build_asked(Arc::from(series), &grouping, options, progress).map(Source::Heaps)
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
                Ok(Some(counts)) => CountedHistory::of(counts, &paths[0], &grouping, progress).map(Source::Counts),
                _ => Err(error),
            },
        }
    }
}
