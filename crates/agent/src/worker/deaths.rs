//! The recorder's thread: finds the followed samples that died since the last look, and drops some if there are too many.

use super::Worker;
use crate::options::SamplingMode;
use memory_city_wire::{ChunkKind, FOLLOWED_ONE_IN, LossReason};

/// A lasting condition is reported again after so many nanoseconds.
const SAY_AGAIN: u64 = 1_000_000_000;
/// Looking for deaths takes at most one part in this many of the time.
const DEATHS_DUTY: u64 = 50;
/// Deaths handed to the sink between two checks of it.
const DEATHS_AT_A_TIME: usize = 8192;

impl Worker<'_> {
    /// Finds followed samples whose objects are gone, and lets go of some where there are too many.
    pub(super) fn look_for_deaths(&mut self) -> Result<(), String> {
        let begun = self.recording.now();
        let mut kept = self.recording.live.take();
        let mut dead = Vec::new();
        let jni = self.jni;
        kept.retain(|&(sample, weak)| {
            // SAFETY: only this thread forgets references, and each once: those that are kept go back.
            unsafe {
                let gone = jni.is_dead(weak);
                if gone {
                    jni.forget(weak);
                    dead.push(sample);
                }
                !gone
            }
        });
        let one_in = self.recording.live.one_in();
        let thinned = self.recording.live.thin(&mut kept);
        let now_in = self.recording.live.one_in();
        // Again and again: the part of a bounded recording that says it first may go.
        if now_in != one_in || now_in > 1 && begun >= self.followed_told + SAY_AGAIN {
            self.followed_told = begun;
            self.sink()?.setting(begun, FOLLOWED_ONE_IN, now_in.to_string());
        }
        for (_, weak) in &thinned {
            // SAFETY: as above.
            unsafe { jni.forget(*weak) };
        }
        self.recording.live.put_back(kept, (dead.len() + thinned.len()) as u32);
        self.deaths += dead.len() as u64;
        self.thinned += thinned.len() as u64;
        let last = (self.collections + self.collections_lost).checked_sub(1);
        self.sink()?.loss(begun, ChunkKind::DEATHS, LossReason::Thinned, thinned.len() as u64);
        // Where many have died at once: some at a time.
        for some in dead.chunks(DEATHS_AT_A_TIME) {
            self.sink()?.deaths(some.iter().copied(), begun, last);
            self.flush_if_full()?;
        }
        for some in thinned.chunks(DEATHS_AT_A_TIME) {
            self.sink()?.let_go(some.iter().map(|(sample, _)| *sample), begun);
            self.flush_if_full()?;
        }
        let now = self.recording.now();
        // Whoever records every allocation wants every age: each collection is looked at, whatever that takes.
        let is_exact = self.recording.options.sampling == SamplingMode::All;
        let duty = if is_exact { 0 } else { DEATHS_DUTY };
        self.next_deaths = now + duty * now.saturating_sub(begun);
        self.deaths_due = false;
        Ok(())
    }
}
