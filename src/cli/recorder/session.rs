//! A recording as seen from outside, from the first moment to the last word about it.

use super::RecordingPlan;
use super::live::LiveCity;
use super::words::{self, shown};
use indicatif::{ProgressBar, ProgressStyle};
use memory_city::allocator;
use memory_city::jvm::leftovers::RememberedRecording;
use memory_city::jvm::walks::WalkTaker;
use memory_city_agent::folder::{
    AgentStatus, CLAIM, ENDED_FROM_OUTSIDE, LOCK, RecorderLock, STATUS, WALKS, claimed_by, is_open_to_others,
    is_running, numbered, private_folder, tidy,
};
use memory_city_agent::{CLONES_AT_RISK, TakenSamples};
use memory_city_analysis::tabular::{bytes_text, count_text};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked after.
pub const ROUND: Duration = Duration::from_millis(50);
/// How often the status line is rewritten.
const TOLD_EVERY: Duration = Duration::from_millis(500);
/// How long the recorder has to finish after the program has ended: it may have been killed, then nothing comes.
const LAST_WORD: Duration = Duration::from_millis(500);

/// Says that something has ended when it goes, however that ends: who waits for it on another thread waits for no longer.
pub struct SaysEnd<'a>(pub &'a AtomicBool);

impl Drop for SaysEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The recording process's side of a recording.
pub struct RecordingSession {
    /// The folder that was asked for; a later program's has a number.
    wanted: PathBuf,
    plan: RecordingPlan,
    folder: PathBuf,
    lock: RecorderLock,
    taker: WalkTaker,
    /// How many samples the program has taken, also when it has been killed.
    taken: Option<TakenSamples>,
    told: Option<Instant>,
    /// When the first walk may be and how long it might take, microseconds, as it was said.
    told_first: Option<[u64; 2]>,
    /// How it goes, in one line of the terminal; nothing where standard error is none.
    line: ProgressBar,
    made_folder: bool,
    live: Option<LiveCity>,
    /// Why it leaves the program, where it was this process that did.
    leaves: Option<String>,
    /// Until it has ended in order.
    _remembered: Option<RememberedRecording>,
}

impl RecordingSession {
    /// Makes the folder, and takes what is recorded into it from now on.
    ///
    /// # Errors
    /// When the folder cannot be made, or holds something already.
    pub(super) fn begin(folder: &Path, plan: RecordingPlan) -> Result<RecordingSession> {
        let made_folder = !folder.exists();
        if folder.is_file() {
            return Err(Error::Unusable {
                what: format!("{} is a file, and a recording is a folder", folder.display()),
                remedy: "Name another one with --output".into(),
            });
        }
        if !made_folder && std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?.next().is_some() {
            return Err(Error::Unusable {
                what: format!("{} is there already and not empty", folder.display()),
                remedy: "Name another folder with --output".into(),
            });
        }
        if let Some(above) = folder.parent() {
            std::fs::create_dir_all(above).map_err(|e| Error::io(above, e))?;
        }
        private_folder(folder).map_err(|e| Error::io(folder, e))?;
        if is_open_to_others(folder) {
            return Err(Error::Unusable {
                what: format!("{} belongs to another user, and others can look into it", folder.display()),
                remedy: "Name a folder of your own with --output, or one that is not there yet".into(),
            });
        }
        let lock = RecorderLock::take(folder).map_err(|e| Error::io(folder, e))?;
        let taker = WalkTaker::new(folder, plan.most_bytes());
        Ok(RecordingSession {
            wanted: folder.to_owned(),
            plan,
            _remembered: RememberedRecording::begin(folder),
            folder: folder.to_owned(),
            lock,
            taker,
            taken: None,
            told: None,
            told_first: None,
            line: status_line(),
            made_folder,
            live: None,
            leaves: None,
        })
    }

    /// Goes on with the next program of the command, where this one has ended and that one is being recorded: launchers start
    /// the program that is meant and end. What was recorded of this one is finished and told.
    ///
    /// # Errors
    /// When the next one's folder cannot be written.
    pub fn follow_next(&mut self, number: u32) -> Result<bool> {
        let next = numbered(&self.wanted, number);
        let has_ended = !claimed_by(&self.folder).is_some_and(is_running);
        if !has_ended || claimed_by(&next).is_none_or(|pid| !is_running(pid)) {
            return Ok(false);
        }
        let lock = RecorderLock::take(&next).map_err(|e| Error::io(&next, e))?;
        let mut session = RecordingSession {
            wanted: self.wanted.clone(),
            plan: self.plan,
            _remembered: RememberedRecording::begin(&next),
            taker: WalkTaker::new(&next, self.plan.most_bytes()),
            folder: next,
            lock,
            taken: None,
            told: None,
            told_first: None,
            line: status_line(),
            made_folder: false,
            live: self.live.take(),
            leaves: None,
        };
        if let Some(city) = &session.live {
            city.turn_to(&session.folder);
        }
        std::mem::swap(self, &mut session);
        session.end()?;
        Ok(true)
    }

    /// Walks go to this city too.
    pub fn show_in(&mut self, city: LiveCity) {
        self.live = Some(city);
    }

    /// Nothing will be recorded: leaves nothing behind. What a recorder has begun to write all the same stays.
    pub fn give_up(self) {
        let _ = std::fs::remove_file(self.folder.join(LOCK));
        let mut entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        if entries.any(|entry| memory_city_wire::is_part(&entry.path())) {
            return;
        }
        for name in [STATUS, CLAIM] {
            let _ = std::fs::remove_file(self.folder.join(name));
        }
        let _ = std::fs::remove_dir(self.folder.join(WALKS));
        if self.made_folder {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }

    /// What the recorder inside says.
    pub fn status(&self) -> Option<AgentStatus> {
        AgentStatus::read(&self.folder)
    }

    /// Takes walks that wait and says how it goes.
    pub fn look(&mut self) {
        let walks = self.taker.walks;
        self.find_taken();
        self.taker.take(&Progress::new());
        if self.taker.walks > walks {
            allocator::give_back_now();
            if let Some(city) = &self.live {
                city.walked();
            }
        }
        if self.told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            self.told = Some(Instant::now());
            if let Some(status) = self.status() {
                self.tell_first(&status);
                self.line.set_message(line(&status, &self.taker));
            }
        }
    }

    /// Says why there is no walk yet, and again where it may be sooner.
    fn tell_first(&mut self, status: &AgentStatus) {
        let first = [status.first_walk, status.first_takes];
        if status.first_walk > 0 && self.told_first != Some(first) {
            self.told_first = Some(first);
            self.line.suspend(|| eprintln!("{}", words::of_first_walk(first)));
        }
    }

    /// Opens the number of samples while the program is there.
    fn find_taken(&mut self) {
        if self.taken.is_none() {
            self.taken = TakenSamples::open(&self.folder);
        }
    }

    /// The program was killed: finds out how many samples it took that are not in the trace, and notes them there. `None` where that
    /// cannot be known.
    fn count_lost(&mut self, status: &mut AgentStatus) -> Option<()> {
        let taken = self.taken.as_ref()?.get()?;
        match self.taker.killed(status.elapsed.saturating_mul(1000), taken) {
            Ok(lost) => (status.samples, status.lost) = (taken, lost),
            Err(error) => {
                eprintln!("memory-city: warning: the samples that were lost are not counted: {error}");
            }
        }
        Some(())
    }

    /// Says why the program is left, which knows only that it was told to.
    pub fn leaves(&mut self, why: String) {
        self.leaves = Some(why);
    }

    /// The program has ended, or is left: takes what is still to come, and says what was recorded and how to open it.
    ///
    /// # Errors
    /// When nothing was recorded.
    pub fn end(mut self) -> Result<()> {
        let since = Instant::now();
        self.find_taken();
        // A program that ended in order has written all by now; one that was killed writes nothing more.
        while self.status().is_some_and(|s| s.ended.is_empty()) && since.elapsed() < LAST_WORD {
            std::thread::sleep(ROUND);
        }
        self.taker.take(&Progress::new());
        let mut status = self.status();
        let is_gone = !claimed_by(&self.folder).is_some_and(is_running);
        if let Some(status) = status.as_mut().filter(|status| status.ended.is_empty() && is_gone)
            && self.count_lost(status).is_none()
        {
            eprintln!("memory-city: warning: how many samples were lost when the program was killed is not known");
        }
        let walks = self.folder.join(WALKS);
        for left in std::fs::read_dir(&walks).into_iter().flatten().flatten() {
            let _ = std::fs::remove_file(left.path());
        }
        tidy(&self.folder);
        self.line.finish_and_clear();
        let Some(status) = status else {
            if self.made_folder {
                let _ = std::fs::remove_dir(&self.folder);
            }
            return Err(Error::Unusable {
                what: "Nothing was recorded: no Java program has loaded the recorder".into(),
                remedy: "Its standard error may say why; record a command that starts `java`".into(),
            });
        };
        let reason = match (&*status.ended, &self.leaves) {
            ("", _) => "the program was killed",
            (ENDED_FROM_OUTSIDE, Some(why)) => why,
            (ended, _) => ended,
        };
        eprintln!("{}", summary(&status, &self.taker, reason));
        for missing in words::of_walks(&self.plan, &self.taker) {
            eprintln!("memory-city: warning: {missing}");
        }
        if self.taker.unnumbered > 0 {
            eprintln!(
                "memory-city: warning: of {} walks objects are not followed to others: the collector moved them meanwhile",
                count_text(self.taker.unnumbered)
            );
        }
        if status.no_room > 0 {
            eprintln!("memory-city: warning: {} walks were left out: the disk is too full", count_text(status.no_room));
        }
        if status.no_time > 0 {
            eprintln!(
                "memory-city: warning: there is no walk of the end: the VM might have written longer than the end waits. For one before the \
                 end, give a smaller --walk-every"
            );
        }
        if status.uncounted > 0 {
            eprintln!(
                "memory-city: warning: {} class histograms were left out: the program's heap was too full",
                count_text(status.uncounted)
            );
        }
        if status.clones_at_risk > 0 {
            eprintln!("memory-city: warning: {CLONES_AT_RISK}");
        }
        if status.lost > 0 {
            eprintln!(
                "memory-city: warning: {} samples were lost: {}",
                count_text(status.lost),
                match status.ended.is_empty() {
                    true => "they were not written yet when the program was killed",
                    false => "there was no room for them",
                }
            );
        }
        self.taker.finish(reason)?;
        if let Some(city) = self.live {
            city.end();
        }
        drop(self.lock);
        eprintln!("Open it:  memory-city open {0}\n     or:  memory-city report {0}", shown(&self.folder));
        Ok(())
    }
}

/// The cost of recording so far, percent of a core.
fn cost(status: &AgentStatus) -> f64 {
    (status.sampling + status.own) as f64 / status.elapsed.max(1) as f64 * 100.0
}

fn seconds(micros: u64) -> String {
    format!("{:.2} s", micros as f64 / 1e6)
}

/// A line that is rewritten in place, and never wider than the terminal: one that wraps would leave a trail.
fn status_line() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    match ProgressStyle::with_template("{wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// What matters first: narrow terminals cut the end. Of a recording of hours all that belongs there is within 80 columns, and what comes
/// behind it is for wider ones.
fn line(status: &AgentStatus, taker: &WalkTaker) -> String {
    format!(
        "{} {} samples, {} live, {} walks{}, {} paused, {:.1} % CPU, {}; {} histograms, last walk {} objects",
        clock(status.elapsed),
        rounded(status.samples),
        count_text(status.live),
        count_text(status.walks),
        match status.no_room {
            0 => String::new(),
            left_out => format!(" (disk full: {} left out)", count_text(left_out)),
        },
        match status.pauses {
            micros if micros < 100_000_000 => seconds(micros),
            micros => format!("{} s", micros / 1_000_000),
        },
        cost(status),
        bytes_text(status.size + taker.bytes()),
        count_text(status.histograms),
        count_text(taker.objects),
    )
}

/// A number that grows for ever in few letters: `99,999`, `1.23 M`.
fn rounded(count: u64) -> String {
    match count {
        0..100_000 => count_text(count),
        100_000..10_000_000 => format!("{:.2} M", count as f64 / 1e6),
        10_000_000..1_000_000_000 => format!("{:.0} M", count as f64 / 1e6),
        _ => format!("{:.1} G", count as f64 / 1e9),
    }
}

fn clock(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn summary(status: &AgentStatus, taker: &WalkTaker, reason: &str) -> String {
    let walks = match (taker.walks, status.walks) {
        (taken, walked) if taken >= walked => format!("{taken} walks"),
        (taken, walked) => format!("{taken} of {walked} walks"),
    };
    // Within the bound older ones go.
    let walks = match taker.kept() {
        kept if kept < taker.walks => format!("{walks}, {kept} of them in the trace"),
        _ => walks,
    };
    format!(
        "Recorded for {}: {} samples ({} alive at the end), {} collections, {} class histograms, {walks}; the program stood still for {} and paid {:.1} % of \
         a core; {}; {reason}.",
        clock(status.elapsed),
        count_text(status.samples),
        count_text(status.live),
        count_text(status.collections),
        count_text(status.histograms),
        seconds(status.pauses),
        cost(status),
        bytes_text(status.size + taker.bytes()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_recording() {
        let status = AgentStatus {
            samples: 12_345,
            live: 812,
            walks: 3,
            histograms: 7,
            collections: 40,
            pauses: 410_000,
            sampling: 900_000,
            own: 100_000,
            elapsed: 63_000_000,
            size: 3_000_000,
            ..AgentStatus::default()
        };
        let taker = WalkTaker::new(Path::new("/nowhere"), 1 << 30);
        insta::assert_snapshot!(format!(
            "{}\n{}",
            line(&status, &taker),
            summary(&status, &taker, "the program ended")
        ));
        // Hours of a busy program, on the narrowest terminal that people have.
        let long = AgentStatus {
            samples: 7_654_321,
            live: 48_000,
            walks: 1440,
            pauses: 361_234_567,
            elapsed: 599 * 60_000_000,
            size: 998_000_000,
            ..status
        };
        let long = line(&long, &taker);
        let told = long.split(';').next().expect("a part");
        assert!(told.len() <= 80 && told.ends_with("998 MB"), "{told}: {}", told.len());
        let texts = [99_999, 100_000, 1_234_567, 12_345_678, 2_345_678_901].map(rounded);
        assert_eq!(texts, ["99,999", "0.10 M", "1.23 M", "12 M", "2.3 G"]);
    }
}
