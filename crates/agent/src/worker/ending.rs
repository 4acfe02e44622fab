//! The end of a recording: a last walk if there is time for it, the waiting rows, and the removal of leftovers.

use super::{Worker, wrong};
use crate::callbacks::{AT_LEAVING, AT_THE_END, PROGRAM_ENDED};
use crate::fault;
use crate::folder::{RecorderLock, remove_dumps, tidy};
use crate::recording::AgentRecording;
use crate::vm::Jni;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Worker<'_> {
    /// The end: a last walk or histogram if there is time for it, the waiting rows, and the reason.
    pub(super) fn end(&mut self, why: &str) -> Result<(), String> {
        let recording = self.recording;
        recording.retire();
        self.take_collections()?;
        self.take_queue()?;
        self.look_for_deaths()?;
        // What goes on is seen once more as it is now.
        if why != PROGRAM_ENDED || !self.schedule.is_enough() {
            // The program waits for so long only: what there is should not be missing then.
            self.write(recording.now())?;
            fault::stuck("last-walk");
            let walks = self.schedule.walks;
            if self.schedule.may_be_last(recording.now()) && self.has_time_to_walk(why)? {
                self.walk(false)?;
            }
            if walks == self.schedule.walks && self.histograms.may_be_last(recording.now()) {
                self.count()?;
            }
        }
        self.write(recording.now())?;
        if let Some(sink) = self.sink.take() {
            let bytes = sink.bytes();
            sink.finish(why).map_err(wrong)?;
            self.size = self.size.max(bytes);
        }
        recording.leave();
        let _ = self.status(why.to_owned()).write(&recording.folder);
        if !RecorderLock::is_held(&recording.folder) {
            remove_dumps(&recording.folder);
            tidy(&recording.folder);
        }
        Ok(())
    }

    /// True if a last walk would be done before the waiting process gives up. The VM cannot be stopped while it writes a dump, and a
    /// program does not end before that.
    fn has_time_to_walk(&mut self, why: &str) -> Result<bool, String> {
        let (what, most) = if why == PROGRAM_ENDED { ("a program", AT_THE_END) } else { ("a recording", AT_LEAVING) };
        let takes = Duration::from_nanos(self.schedule.takes(self.heap().unwrap_or(0)));
        if takes <= most {
            return Ok(true);
        }
        let (takes, most) = (takes.as_secs(), most.as_secs());
        let now = self.recording.now();
        let why =
            format!("no walk at the end: it might have taken {takes} s, and the end of {what} waits for {most} s");
        self.sink()?.setting(now, "walks", why);
        self.schedule.no_time += 1;
        Ok(false)
    }

    /// Nothing more can be written: says how many samples were taken, and that all that are not in the trace are lost.
    pub(super) fn stopped(&mut self, why: &str) {
        // From here on none is taken.
        self.recording.retire();
        self.recording.leave();
        self.lost = self.recording.samples.get().saturating_sub(self.recording.written.load(Ordering::Relaxed));
        let _ = self.status(why.to_owned()).write(&self.recording.folder);
    }

    /// Gives back every weak reference.
    pub(super) fn forget_all(&mut self) {
        if let Some(identities) = self.identities.take() {
            identities.end(self.jni);
        }
        forget_samples(self.recording, self.jni);
    }
}

/// Gives back the weak references to samples. On the thread that forgets; the recording is out of the callbacks' sight.
pub(super) fn forget_samples(recording: &AgentRecording, jni: Jni) {
    let all = recording.live.take();
    for (_, weak) in &all {
        // SAFETY: nobody else forgets them, and no callback finds them any more.
        unsafe { jni.forget(*weak) };
    }
    recording.live.put_back(Vec::new(), all.len() as u32);
}
