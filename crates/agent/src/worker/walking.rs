//! The recorder's thread: runs a walk. All waiting rows are written first, and late samples are counted.

use super::Worker;
use crate::collections::COLLECTIONS;
use crate::folder::RecorderLock;
use crate::log::log;
use crate::walk::{WalkOutcome, can_walk, tell, walk};

impl Worker<'_> {
    /// Whether the first walk has to wait, as it might stop the program for long.
    pub(super) fn puts_off_first_walk(&mut self, now: u64) -> Result<bool, String> {
        let known = self.schedule.put_off().is_some();
        let heap = if known { None } else { self.heap() };
        let waits = self.schedule.puts_off_first(now, heap);
        if let Some(first) = self.schedule.put_off().filter(|_| waits && !known) {
            self.sink()?.setting(now, "walk.first", (first.not_before / 1_000_000).to_string());
        }
        Ok(waits)
    }

    /// True if a process waits for the first walk: that has more data, and a histogram would delay it.
    pub(super) fn waits_for_walk(&self) -> bool {
        self.schedule.is_first_awaited() && RecorderLock::is_held(&self.recording.folder)
    }

    pub(super) fn walk(&mut self, after_collection: bool) -> Result<(), String> {
        if self.identities.is_some() && !after_collection && can_walk(&self.recording.folder) {
            // All that is there gets a number: garbage should not be there.
            let before = COLLECTIONS.ended();
            // SAFETY: the live phase, on a thread of ours, in no callback.
            unsafe { (*self.recording.vm.jvmti).collect() };
            // That stops the program for the walk's sake, as the walk does.
            let pauses = COLLECTIONS.since(before).0.iter().map(|c| c.end.saturating_sub(c.start)).sum();
            self.schedule.collected(self.recording.now(), pauses);
            self.take_collections()?;
            self.look_for_deaths()?;
        }
        // Whatever waits: little should wait while the program stands still.
        self.take_queue()?;
        let collections = self.collections + self.collections_lost;
        let heap = self.heap();
        let identities = self.identities.as_mut();
        let mut outcome = walk(self.recording, &mut self.schedule, self.jni, collections, heap, identities);
        if let Some(why) = self.identities.as_ref().and_then(|all| all.why_not.clone()) {
            self.samples_alone(&why)?;
        }
        if let WalkOutcome::Done(walk) = &mut outcome {
            // Those too that were made while the others were held.
            self.take_queue()?;
            self.flush()?;
            // Late, so that threads which were at it when the program stood still have handed theirs over.
            walk.note.late = Some(self.recording.live.late(walk.stood_still));
            outcome = tell(&self.recording.folder, &mut self.schedule, walk);
        } else {
            self.recording.live.late(0);
        }
        let now = self.recording.now();
        match outcome {
            WalkOutcome::Told => self.histograms.walked(now, self.schedule.rest_until()),
            WalkOutcome::Never(why) => {
                log(&why);
                self.sink()?.setting(now, "walks", why);
            }
            WalkOutcome::NoRoom(free, needed) => {
                // Never more than there is: a disk of less than a megabyte has kilobytes.
                let free =
                    if free < 1_000_000 { format!("{} kB", free / 1000) } else { format!("{} MB", free / 1_000_000) };
                let needed = needed.div_ceil(1_000_000);
                self.sink()?.setting(now, "walks", format!("no room: {free} are free, a walk may take {needed} MB"));
            }
            WalkOutcome::Done(..) | WalkOutcome::NotNow => {}
        }
        self.write(now)
    }
}
