//! The recorder's thread: class histograms between walks.

use super::Worker;
use crate::fault;
use crate::histogram::{HistogramClass, HistogramOutcome, count};
use crate::log::log;
use crate::sites::LoaderKey;
use memory_city_wire::{ChunkKind, CountRow, LossReason};
use std::sync::PoisonError;

/// Classes of a histogram that are looked up while the tables of names are locked.
const CLASSES_AT_A_TIME: usize = 256;

impl Worker<'_> {
    /// Has the VM count the objects of each class.
    pub(super) fn count(&mut self) -> Result<(), String> {
        fault::point("histogram");
        let recording = self.recording;
        let loaded = self.machine.read().and_then(|data| data.number("java.cls.loadedClasses"));
        let number = self.histograms.taken;
        let loaded = loaded.and_then(|classes| u64::try_from(classes).ok());
        let outcome = count(&mut self.histograms, self.jni, || recording.now(), loaded);
        let now = recording.now();
        match outcome {
            HistogramOutcome::Done { start, end, classes, rarer } => {
                let pause = end.saturating_sub(start);
                self.schedule.stood_still(end, pause);
                self.schedule.counted(pause);
                let rows = self.count_rows(number, start, pause, &classes);
                // The definitions that the rows need.
                self.take_queue()?;
                let sink = self.sink()?;
                sink.counts(rows);
                if let Some(every) = rarer {
                    sink.setting(now, "histogram.every", every.to_string());
                }
            }
            HistogramOutcome::NoRoom(free, needed) => {
                let first = self.histograms.left_out == 1;
                let sink = self.sink()?;
                sink.loss(now, ChunkKind::COUNTS, LossReason::NotGiven, 1);
                if first {
                    let (free, needed) = (free >> 10, needed >> 10);
                    let why = format!("no room: {free} KB of the heap are free, a histogram may take {needed} KB");
                    sink.setting(now, "histograms", why);
                }
            }
            HistogramOutcome::Never(why) => {
                log(&why);
                self.sink()?.setting(now, "histograms", why);
            }
            HistogramOutcome::NotNow => {}
        }
        self.write(now)
    }

    /// The rows of a histogram. Definitions of classes that are new wait in the queue.
    fn count_rows(&self, histogram: u64, time: u64, pause: u64, classes: &[HistogramClass]) -> Vec<CountRow> {
        let gc = (self.collections + self.collections_lost).checked_sub(1);
        let mut rows: Vec<CountRow> = Vec::with_capacity(classes.len());
        // A few at a time: threads that allocate wait for the tables.
        for some in classes.chunks(CLASSES_AT_A_TIME) {
            let mut new = Vec::new();
            let mut stacks = self.recording.stacks.lock().unwrap_or_else(PoisonError::into_inner);
            for of in some {
                // It counts by name, whoever loaded the class.
                let class = stacks.class(&of.signature, LoaderKey::Unknown, String::new, &mut new);
                let known = CountRow { histogram, time, gc, class, garbage: true, ..CountRow::default() };
                rows.push(CountRow { objects: of.objects, bytes: of.bytes, pause: Some(pause), ..known });
            }
            // As samples do it: before the lock is let go of.
            self.recording.queue.define(new);
        }
        rows.sort_unstable_by_key(|row| row.class);
        // Those that found no room in the tables are one, of an unknown class.
        rows.dedup_by(|row, sum| {
            let same = row.class == sum.class;
            if same {
                sum.objects = sum.objects.saturating_add(row.objects);
                sum.bytes = sum.bytes.saturating_add(row.bytes);
            }
            same
        });
        let count = rows.len() as u32;
        rows.iter_mut().for_each(|row| row.rows = count);
        rows
    }
}
