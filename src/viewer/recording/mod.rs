//! Recordings of running programs from the window: the list of JVMs, the recording that is going on, and its state.
//!
//! Another process of this program records: `attach`, as on the command line ([`child`]). So neither takes the other along, whatever
//! happens to it or to the window. Its walks come back over the window's own live connection, and are a document like that of any other
//! program. Nothing here waits: lists and states come from threads.

mod child;

use super::action::Action;
use super::document::Opened;
use super::frame::{Awake, Stage};
use super::job::Job;
use super::live::{Listening, WindowWaker};
use super::notices::Notices;
use crate::jvm::list::{RunningJvm, running, short_name};
use bevy::prelude::*;
use bevy::winit::EventLoopProxyWrapper;
pub(super) use child::{LivePlace, RecorderChild};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the list is made anew while it is shown.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The JVMs to choose from, the one that is recorded, and how the last recording ended.
#[derive(Resource, Default)]
pub(super) struct WindowRecorder {
    /// The list, while it is shown.
    pub choosing: Option<JvmChoice>,
    /// The recording that is going on.
    pub recording: Option<RecorderChild>,
    /// How the last one ended.
    pub ended: Option<EndedRecording>,
    /// A JVM that was chosen, and the folder for its trace.
    pub wanted: Option<(RunningJvm, PathBuf)>,
    /// Whether the recording shall end.
    pub stops: bool,
}

/// How a recording ended.
#[derive(Clone, Debug)]
pub(super) struct EndedRecording {
    /// Name of the program.
    pub name: String,
    /// Its trace, where there is one.
    pub folder: PathBuf,
    /// Summary of the recording in a sentence, or the reason for its failure.
    pub text: Result<String, String>,
}

/// The list, as a person looks at it.
pub(super) struct JvmChoice {
    found: Arc<Mutex<Option<Vec<RunningJvm>>>>,
    /// Makes the list anew until this is dropped.
    _looking: Job<()>,
    /// Typed text: a part of a name, or a process.
    pub text: String,
    /// The process that is chosen.
    pub chosen: Option<u32>,
    /// Folder of the trace.
    pub folder: String,
    /// The process that the name of the folder was made for.
    pub named_for: Option<u32>,
    /// Whether it has just been opened.
    pub fresh: bool,
    told: Option<(usize, Option<u32>)>,
}

impl JvmChoice {
    fn begin(waker: WindowWaker) -> JvmChoice {
        let found = Arc::new(Mutex::new(None));
        let filled = Arc::clone(&found);
        let looking = Job::start(move |progress: &Progress| {
            while progress.check().is_ok() {
                // What is no program of ours to look at was never one of them.
                let mut all = running();
                all.retain(|jvm| jvm.pid != std::process::id());
                *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
                waker.wake();
                let looked = Instant::now();
                while looked.elapsed() < LOOK_EVERY && progress.check().is_ok() {
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        });
        JvmChoice {
            found,
            _looking: looking,
            text: String::new(),
            chosen: None,
            folder: proposed_folder().to_string_lossy().into_owned(),
            named_for: None,
            fresh: true,
            told: None,
        }
    }

    /// The JVMs that fit the typed text; `None` until they have been looked for. A process number that none of them has is added as one:
    /// trying it shows whether it can be recorded.
    pub fn jvms(&self) -> Option<Vec<RunningJvm>> {
        let all = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(fitting(all, &self.text))
    }

    /// Logs the listed and the chosen JVM in the trail, when that has changed.
    pub fn tell(&mut self, listed: usize) {
        let now = Some((listed, self.chosen));
        if self.told != now {
            self.told = now;
            tracing::debug!("jvms: {listed} listed, chosen: {}", self.chosen.unwrap_or_default());
        }
    }

    /// Names the folder after the program that is chosen; where it lies stays as a person has put it.
    pub fn name_folder(&mut self, jvm: &RunningJvm) {
        if self.named_for != Some(jvm.pid) {
            self.named_for = Some(jvm.pid);
            let above = Path::new(self.folder.trim()).parent().map(Path::to_owned).unwrap_or_default();
            self.folder = above.join(folder_name(&jvm.short_name())).to_string_lossy().into_owned();
        }
    }
}

fn fitting(all: Vec<RunningJvm>, text: &str) -> Vec<RunningJvm> {
    let text = text.trim().to_lowercase();
    let fits = |jvm: &RunningJvm| {
        jvm.program.to_lowercase().contains(&text) || jvm.pid.to_string().starts_with(&text) || text.is_empty()
    };
    let mut listed: Vec<RunningJvm> = all.into_iter().filter(fits).collect();
    // One whose number was typed in full comes first.
    listed.sort_by_key(|jvm| jvm.pid.to_string() != text);
    if let Some(pid) = text.parse::<u32>().ok().filter(|pid| listed.iter().all(|jvm| jvm.pid != *pid)) {
        listed.push(RunningJvm { pid, ..RunningJvm::default() });
    }
    listed
}

/// Name and time, as `memory-city attach` calls its folders.
fn folder_name(program: &str) -> String {
    format!("{program}-{}", jiff::Timestamp::now().strftime("%Y-%m-%d-%H%M%S"))
}

/// Before a program is chosen: in the working folder, as on the command line, where one can write into it; else in the user's own.
fn proposed_folder() -> PathBuf {
    let writable = |folder: &PathBuf| {
        folder.parent().is_some() && std::fs::metadata(folder).is_ok_and(|meta| !meta.permissions().readonly())
    };
    let here = std::env::current_dir().ok().filter(writable);
    here.or_else(dirs::home_dir).unwrap_or_default().join(folder_name(&short_name("")))
}

/// Opens and closes the list, begins and ends recordings, and takes note of how they go.
fn record(
    mut actions: MessageReader<Action>,
    mut recorder: ResMut<WindowRecorder>,
    mut listening: ResMut<Listening>,
    mut notices: ResMut<Notices>,
    proxy: Option<Res<EventLoopProxyWrapper>>,
    mut awake: ResMut<Awake>,
) {
    let recorder = &mut *recorder;
    let waker = WindowWaker::of(proxy.as_deref());
    for action in actions.read() {
        match action {
            Action::Record => {
                recorder.choosing = match recorder.choosing.take() {
                    None => Some(JvmChoice::begin(waker.clone())),
                    Some(_) => None,
                };
                awake.keep_if(true);
                tracing::debug!("jvms: {}", if recorder.choosing.is_some() { "opened" } else { "closed" });
            }
            Action::StopRecording => match &recorder.recording {
                Some(_) => recorder.stops = true,
                None => notices.tell("Nothing is being recorded by this window"),
            },
            _ => {}
        }
    }
    if std::mem::take(&mut recorder.stops)
        && let Some(child) = &mut recorder.recording
    {
        tracing::debug!("recording: asked to stop");
        child.stop();
    }
    if let Some((jvm, folder)) = recorder.wanted.take().filter(|_| recorder.recording.is_none()) {
        recorder.ended = None;
        let begun = listening.for_this_window(waker.clone()).map_err(|error| error.to_string());
        match begun.and_then(|place| RecorderChild::start(jvm.clone(), folder.clone(), place, waker)) {
            Ok(child) => {
                tracing::debug!("recording: {} into {}", jvm.pid, folder.display());
                recorder.recording = Some(child);
            }
            Err(why) => recorder.ended = Some(EndedRecording { name: jvm.short_name(), folder, text: Err(why) }),
        }
        awake.keep_if(true);
    }
    if let Some(outcome) = recorder.recording.as_ref().and_then(RecorderChild::outcome)
        && let Some(child) = recorder.recording.take()
    {
        tracing::debug!("recording: ended: {outcome:?}");
        match &outcome {
            Ok(_) => {
                notices.tell(format!("Recorded {} into {}", child.name(), child.folder().display()));
            }
            // Whoever has not the list before them is told here.
            Err(why) if recorder.choosing.is_none() => notices.tell(why.clone()),
            Err(_) => {}
        }
        recorder.ended =
            Some(EndedRecording { name: child.name().to_owned(), folder: child.folder().to_owned(), text: outcome });
        awake.keep_if(true);
    }
}

/// Recording from the window.
pub(super) struct RecordingPlugin;

impl Plugin for RecordingPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<WindowRecorder>().add_systems(Update, record.in_set(Stage::Load)).add_observer(
            |_: On<Opened>, mut recorder: ResMut<WindowRecorder>| {
                // Its city is there: the bar at the top goes on to say how the recording goes.
                if recorder.recording.is_some() {
                    recorder.choosing = None;
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jvm(pid: u32, program: &str) -> RunningJvm {
        RunningJvm { pid, program: program.into(), version: "17".into(), ..RunningJvm::default() }
    }

    #[test]
    fn what_is_typed_finds_names_and_processes_and_offers_those_that_are_not_listed() {
        let all = || vec![jvm(4711, "com.acme.Shop --port 80"), jvm(812, "org.acme.Batch")];
        let pids = |text: &str| fitting(all(), text).into_iter().map(|jvm| jvm.pid).collect::<Vec<_>>();
        assert_eq!(pids(""), [4711, 812]);
        assert_eq!(pids(" SHOP "), [4711]);
        assert_eq!(pids("812"), [812], "one that is listed is not offered twice");
        assert_eq!(pids("47"), [4711, 47], "a part of a number, and that number");
        assert!(pids("no such").is_empty());
    }

    #[test]
    fn a_folder_is_named_after_the_program_and_stays_where_it_was_put() {
        let mut choice = JvmChoice::begin(WindowWaker::of(None));
        choice.folder = "/data/traces/x".into();
        choice.name_folder(&jvm(1, "com.acme.Shop"));
        assert!(choice.folder.starts_with("/data/traces/Shop-20"), "{}", choice.folder);
        choice.folder = "/elsewhere/mine".into();
        choice.name_folder(&jvm(1, "com.acme.Shop"));
        assert_eq!(choice.folder, "/elsewhere/mine", "what a person typed for it stays");
        choice.name_folder(&jvm(2, "batch.jar"));
        assert!(choice.folder.starts_with("/elsewhere/batch-20"), "{}", choice.folder);
    }
}
