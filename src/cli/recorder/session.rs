//! A recording as its recording process sees it, from the first moment to the closing summary.

use super::RecordingPlan;
use super::live::LiveCity;
use super::messages::{self, shown};
use dialoguer::console::Term;
use indicatif::{ProgressBar, ProgressStyle};
use memory_city::allocator;
use memory_city::jvm::leftovers::RememberedRecording;
use memory_city::jvm::process::owner_of;
use memory_city::jvm::walks::WalkTaker;
use memory_city::terminal;
use memory_city_agent::folder::{
    AgentStatus, CLAIM, ENDED_FROM_OUTSIDE, LOCK, RecorderLock, STATUS, WALKS, claimed_by, has_dumps, is_running,
    numbered, remove_dumps, tidy,
};
use memory_city_agent::{CLONES_AT_RISK, PROGRAM_ENDED, TakenSamples};
use memory_city_analysis::tabular::{count_text, several};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_wire::{HeldFolder, is_part};
use rustix::fs::{Gid, Uid, fchown};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked after.
pub const ROUND: Duration = Duration::from_millis(50);
/// How often the status line is rewritten.
const TOLD_EVERY: Duration = Duration::from_millis(500);
/// How long the recorder has to finish after the program has ended: it may have been killed, then nothing comes.
const LAST_WORD: Duration = Duration::from_millis(500);
/// How long a walk that is on its way has when its program goes on without us.
const LAST_DUMP: Duration = Duration::from_secs(20);

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
    /// Path of the folder, for people and the program.
    folder: PathBuf,
    /// The same, held open under any later name: it may be another user's, when root attaches.
    held: Arc<HeldFolder>,
    /// A path that leads there.
    place: PathBuf,
    /// Until it takes no more walks.
    lock: Option<RecorderLock>,
    /// The file that says how it goes, where this process has made it.
    status_file: Option<File>,
    taker: WalkTaker,
    /// How many samples the program has taken, also when it has been killed.
    taken: Option<TakenSamples>,
    told: Option<Instant>,
    /// The announced start of the first walk and its estimated duration, microseconds.
    told_first: Option<[u64; 2]>,
    /// Progress, in one line of the terminal; hidden if standard error is no terminal.
    line: ProgressBar,
    made_folder: bool,
    /// The program, where it has begun the recording by itself, and goes on with it when we leave.
    joined: Option<u32>,
    live: Option<LiveCity>,
    /// Why it leaves the program, where it was this process that did.
    leaves: Option<String>,
    /// Until it has ended in order.
    _remembered: Option<RememberedRecording>,
}

impl RecordingSession {
    /// Makes the folder; everything recorded from now on goes into it.
    ///
    /// # Errors
    /// When the folder cannot be made, or holds something already.
    pub(super) fn begin(folder: &Path, plan: RecordingPlan) -> Result<RecordingSession> {
        if folder.is_file() {
            return Err(Error::Unusable {
                what: format!("{} is a file, and a recording is a folder", folder.display()),
                remedy: "Name another one with --output".into(),
            });
        }
        if folder.exists() && std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?.next().is_some() {
            return Err(Error::Unusable {
                what: format!("{} is there already and not empty", folder.display()),
                remedy: "Name another folder with --output".into(),
            });
        }
        let not_made = |e| Error::not_made(folder, e);
        let (held, made_folder) = match (folder.parent(), folder.file_name()) {
            (Some(above), Some(name)) => {
                std::fs::create_dir_all(above).map_err(|e| Error::not_made(above, e))?;
                HeldFolder::open(above).and_then(|above| above.make_folder(name)).map_err(not_made)?
            }
            _ => (HeldFolder::open(folder).map_err(not_made)?, false),
        };
        held.close_empty().map_err(not_made)?;
        if held.is_open_to_others() {
            return Err(Error::Unusable {
                what: format!("{} belongs to another user, and others can look into it", folder.display()),
                remedy: "Name a folder of your own with --output, or one that is not there yet".into(),
            });
        }
        let lock = RecorderLock::take(&held.place()).map_err(not_made)?;
        let mut session = RecordingSession { made_folder, ..RecordingSession::of(held, lock, plan) };
        // What the recorder has to say of a disk that is full has room from the start.
        match AgentStatus::reserve(&session.place) {
            Ok(file) => session.status_file = Some(file),
            Err(error) => {
                session.give_up();
                return Err(not_made(error));
            }
        }
        Ok(session)
    }

    /// Takes the walks of a recording that `program` has begun by itself, in a folder of its user. `None` where another process does.
    pub(super) fn join(folder: &Path, plan: RecordingPlan, program: u32) -> Option<RecordingSession> {
        let held = HeldFolder::open_itself(folder).ok()?;
        owner_of(program).filter(|(user, _)| *user == held.owner())?;
        let lock = RecorderLock::take(&held.place()).ok()?;
        Some(RecordingSession { joined: Some(program), ..RecordingSession::of(held, lock, plan) })
    }

    /// Gives the program's user the files that this process has made, by descriptor, and nothing else. Root may attach to any user's
    /// program, which must be able to write its trace, look at the lock, and write its status.
    pub(super) fn give_to(&self, (user, group): (u32, u32)) {
        let give = |made: std::os::fd::BorrowedFd<'_>| {
            // Who is not root has nothing to give, and the program's user is its own.
            let _ = fchown(made, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        };
        let lock = self.lock.as_ref().and_then(RecorderLock::made);
        lock.into_iter().chain(&self.status_file).for_each(|file| give(file.as_fd()));
        if self.made_folder {
            give(self.held.as_fd());
        }
    }

    fn of(held: HeldFolder, lock: RecorderLock, plan: RecordingPlan) -> RecordingSession {
        let (folder, place, held) = (held.path().to_owned(), held.place(), Arc::new(held));
        RecordingSession {
            wanted: folder.clone(),
            plan,
            _remembered: RememberedRecording::begin(&folder),
            taker: WalkTaker::new(Arc::clone(&held), plan.most_bytes()),
            folder,
            held,
            place,
            lock: Some(lock),
            status_file: None,
            taken: None,
            told: None,
            told_first: None,
            line: status_line(),
            made_folder: false,
            joined: None,
            live: None,
            leaves: None,
        }
    }

    /// Goes on with the next program of the command, if this one has ended and that one is being recorded: a launcher starts the real
    /// program and ends. The recording of the ended program is finished and reported.
    ///
    /// # Errors
    /// When the next one's folder cannot be written.
    pub fn follow_next(&mut self, number: u32) -> Result<bool> {
        let next = numbered(&self.wanted, number);
        let has_ended = !claimed_by(&self.place).is_some_and(is_running);
        if !has_ended || claimed_by(&next).is_none_or(|pid| !is_running(pid)) {
            return Ok(false);
        }
        let held = HeldFolder::open_itself(&next).map_err(|e| Error::io(&next, e))?;
        let lock = RecorderLock::take(&held.place()).map_err(|e| Error::io(&next, e))?;
        let mut session = RecordingSession {
            wanted: self.wanted.clone(),
            live: self.live.take(),
            ..RecordingSession::of(held, lock, self.plan)
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

    /// Gives up before anything was recorded, and leaves nothing behind. Files that a recorder has begun to write all the same stay.
    pub fn give_up(self) {
        let _ = self.held.remove(LOCK);
        if self.held.names().unwrap_or_default().iter().any(|name| is_part(Path::new(name))) {
            return;
        }
        for name in [STATUS, CLAIM] {
            let _ = self.held.remove(name);
        }
        let _ = self.held.remove_folder(WALKS);
        if self.made_folder {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }

    /// After a recording without data: removes the files that were begun and are empty.
    fn remove_empty(&self) {
        for name in self.held.names().unwrap_or_default() {
            if is_part(Path::new(&name)) && self.held.entry(&name).is_ok_and(|entry| entry.bytes == 0) {
                let _ = self.held.remove(&name);
            }
        }
        if self.made_folder {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }

    /// The process that is recorded, while it runs.
    pub fn program(&self) -> Option<u32> {
        self.joined.or_else(|| claimed_by(&self.place)).filter(|pid| is_running(*pid))
    }

    /// Says something beside the line that is rewritten.
    pub fn say(&self, what: &str) {
        self.line.suspend(|| terminal::status(what));
    }

    /// Status of the recorder inside the program.
    pub fn status(&self) -> Option<AgentStatus> {
        AgentStatus::read(&self.place)
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
                // Where nobody knows how wide it is, it is taken for 80 columns.
                let width = usize::from(Term::stderr().size().1);
                self.line.set_message(messages::within(&messages::line(&status, &self.taker), width).to_owned());
            }
        }
    }

    /// Says why there is no walk yet, and again where it may be sooner.
    fn tell_first(&mut self, status: &AgentStatus) {
        let first = [status.first_walk, status.first_takes];
        if status.first_walk > 0 && self.told_first != Some(first) {
            self.told_first = Some(first);
            self.say(&messages::of_first_walk(first));
        }
    }

    /// Opens the number of samples while the program runs.
    fn find_taken(&mut self) {
        if self.taken.is_none() {
            self.taken = TakenSamples::open(&self.place);
        }
    }

    /// The program was killed: finds out how many samples it took that are not in the trace, and notes them there. `None` where that
    /// cannot be known.
    fn count_lost(&mut self, status: &mut AgentStatus) -> Option<()> {
        let taken = self.taken.as_ref()?.get()?;
        match self.taker.killed(status.elapsed.saturating_mul(1000), taken) {
            Ok(lost) => (status.samples, status.lost) = (taken, lost),
            Err(error) => {
                terminal::warning(format_args!("the samples that were lost are not counted: {error}"));
            }
        }
        Some(())
    }

    /// Sets the reason for leaving the program: the recorder inside knows only that it has to stop.
    pub fn leaves(&mut self, why: String) {
        self.leaves = Some(why);
    }

    /// Whether the program goes on with a recording that it has begun by itself.
    fn goes_on_alone(&self) -> bool {
        let records = self.status().is_some_and(|status| status.ended.is_empty());
        records && self.joined.is_some() && self.program().is_some()
    }

    /// Takes no more walks. Waits for a walk on its way: its dump holds the program's data, and no other process takes it away.
    fn let_go(&mut self) {
        self.lock = None;
        let since = Instant::now();
        loop {
            std::thread::sleep(ROUND);
            self.taker.take(&Progress::new());
            if !has_dumps(&self.place) || since.elapsed() > LAST_DUMP {
                break;
            }
        }
    }

    /// Ends the recording, when the program has ended or is left: takes the remaining data, and prints a summary and how to open it.
    ///
    /// # Errors
    /// When nothing was recorded.
    pub fn end(mut self) -> Result<()> {
        let since = Instant::now();
        self.find_taken();
        let before = self.status();
        let goes_on = self.goes_on_alone();
        if goes_on {
            self.let_go();
        }
        // A program that ended in order has written all by now; one that was killed writes nothing more.
        while !goes_on && self.status().is_some_and(|s| s.ended.is_empty()) && since.elapsed() < LAST_WORD {
            std::thread::sleep(ROUND);
        }
        self.taker.take(&Progress::new());
        // A program that ends just now tidies up, as nobody is there for it any more.
        let mut status = self.status().or(before);
        let is_gone = self.program().is_none();
        if let Some(status) = status.as_mut().filter(|status| status.ended.is_empty() && is_gone)
            && self.count_lost(status).is_none()
        {
            terminal::warning(format_args!("how many samples were lost when the program was killed is not known"));
        }
        if !goes_on {
            remove_dumps(&self.place);
            tidy(&self.place);
        }
        self.line.finish_and_clear();
        let status = match status {
            Some(status) if !(is_nothing(&status) && self.taker.walks == 0) => Ok(status),
            other => Err(messages::nothing(other.map(|status| status.ended))),
        };
        let mut status = match status {
            Ok(status) => status,
            Err(error) => {
                self.remove_empty();
                return Err(error);
            }
        };
        if self.joined.is_some() {
            // Of others it may have taken before nothing is known here.
            status.walks = status.walks.min(self.taker.walks);
        }
        let reason: &str = match (&*status.ended, &self.leaves) {
            ("", Some(why)) if goes_on => why,
            ("", None) if goes_on => "the program goes on",
            ("", _) => "the program was killed, or ran out of memory",
            (ENDED_FROM_OUTSIDE, Some(why)) => why,
            (ended, _) => ended,
        };
        terminal::status(messages::summary(&status, &self.taker, reason));
        for missing in messages::of_walks(&self.plan, &self.taker) {
            terminal::warning(missing);
        }
        if self.taker.unnumbered > 0 {
            terminal::warning(format_args!(
                "of {} walks objects are not followed to others: the collector moved them meanwhile",
                count_text(self.taker.unnumbered)
            ));
        }
        if status.no_room > 0 {
            let walks = several(status.no_room, "walk was", "walks were");
            terminal::warning(format_args!("{walks} left out: the disk is too full"));
        }
        if status.no_time > 0 {
            terminal::warning(format_args!(
                "there is no walk of the end: the VM might have written longer than the end waits. For one before the \
                 end, give a smaller --walk-every"
            ));
        }
        if status.uncounted > 0 {
            terminal::warning(format_args!(
                "{} left out: the program's heap was too full",
                several(status.uncounted, "class histogram was", "class histograms were")
            ));
        }
        if status.clones_at_risk > 0 {
            terminal::warning(CLONES_AT_RISK);
        }
        if status.lost > 0 {
            terminal::warning(format_args!(
                "{} lost: {}",
                several(status.lost, "sample was", "samples were"),
                match status.ended.is_empty() && !goes_on {
                    true => "not written yet when the program was killed",
                    false => "there was no room",
                }
            ));
        }
        self.taker.finish(reason)?;
        if let Some(city) = self.live {
            city.end();
        }
        drop(self.lock);
        terminal::how_to_open(shown(&self.folder));
        Ok(())
    }
}

/// Whether a recorder could not record anything, as on a disk that is full from the start. Its status has the reason.
fn is_nothing(status: &AgentStatus) -> bool {
    let AgentStatus { samples, lost, histograms, ended, .. } = status;
    let in_order = ["", ENDED_FROM_OUTSIDE, PROGRAM_ENDED].contains(&ended.as_str());
    !in_order && samples <= lost && *histograms == 0
}

/// A line that is rewritten in place, and never wider than the terminal: one that wraps would leave a trail.
fn status_line() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    match ProgressStyle::with_template("{wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
