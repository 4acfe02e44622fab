//! Opening inputs and following changed settings, off the main thread: the shown city stays until the next is ready.

use super::action::Action;
use super::clock::Clock;
use super::fly::CameraRig;
use super::job::Job;
use super::notices::Notices;
use super::selection::{References, Selection};
use super::settings::Settings;
use super::shown::{City, Shown};
use bevy::prelude::*;
use bevy::window::FileDragAndDrop;
use memory_city_analysis::timeline::{Source, title_of};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::{Progress, Snapshot};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The wish to open files or folders.
#[derive(Message, Clone, Debug)]
pub struct OpenRequest(pub Vec<PathBuf>);

/// Work that goes on, and how the last opening ended.
#[derive(Resource, Default)]
pub struct Loading {
    opening: Option<Opening>,
    /// A new grouping or layout of the shown source, and the settings it is made for.
    remaking: Option<(Settings, Job<Result<City>>)>,
    dialog: Option<Job<Option<Vec<PathBuf>>>>,
    failed: Option<(String, String)>,
    /// Settings that could not be applied: not tried again until they change.
    refused: Option<Settings>,
}

/// An input that is being opened.
struct Opening {
    title: String,
    job: Job<Result<City>>,
    /// The city of what has been read so far, when there is a new one.
    partial: Arc<Mutex<Option<City>>>,
    /// Whether such a city is on screen.
    shows_partial: bool,
}

/// What to show of it.
pub enum State {
    /// Nothing goes on.
    Idle,
    /// An input is being opened.
    Opening {
        /// Its name.
        title: String,
        /// How far it is.
        snapshot: Snapshot,
    },
    /// The last opening failed.
    Failed {
        /// What should have been opened.
        title: String,
        /// Why it could not.
        error: String,
    },
    /// The city is being remade.
    Busy {
        /// What is done.
        what: String,
        /// How far it is.
        snapshot: Snapshot,
    },
}

impl Loading {
    /// What to show.
    pub fn state(&self) -> State {
        if let Some(Opening { title, job, shows_partial, .. }) = &self.opening {
            let snapshot = job.snapshot();
            return match shows_partial {
                true => State::Busy { what: "Reading on: the city fills in".to_owned(), snapshot },
                false => State::Opening { title: title.clone(), snapshot },
            };
        }
        if let Some((title, error)) = &self.failed {
            return State::Failed { title: title.clone(), error: error.clone() };
        }
        match &self.remaking {
            Some((_, job)) => State::Busy { what: "Building the city anew".to_owned(), snapshot: job.snapshot() },
            None => State::Idle,
        }
    }

    /// Whether anything goes on that will change the screen.
    pub fn active(&self) -> bool {
        self.opening.is_some() || self.remaking.is_some() || self.dialog.is_some()
    }

    /// Cancels loading or closes an error. Returns whether there was anything to take away.
    pub fn escape(&mut self) -> bool {
        if let Some(opening) = &self.opening {
            opening.job.cancel();
            return true;
        }
        self.failed.take().is_some()
    }

    /// The bundled sample, where it is found.
    pub fn sample(&self) -> Option<PathBuf> {
        sample_path()
    }
}

/// Where the bundled sample city lies: beside the program, in the working folder, or in the source tree.
pub fn sample_path() -> Option<PathBuf> {
    const SAMPLE: &str = "sample-data/person-leak";
    let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
    let candidates = [
        beside.as_ref().map(|d| d.join(SAMPLE)),
        beside.as_ref().map(|d| d.join("../share/memory-city").join(SAMPLE)),
        Some(PathBuf::from(SAMPLE)),
        Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLE)),
    ];
    candidates.into_iter().flatten().find(|path| path.is_dir())
}

/// Reads, groups and lays out: the whole way from files to a city.
pub fn open_city(paths: &[PathBuf], settings: &Settings, progress: &Progress) -> Result<City> {
    open_gradually(paths, settings, progress, &mut |_| ())
}

/// As [`open_city`]; while a long trace is being read, `partial` gets the city of what has been read, now and then.
fn open_gradually(
    paths: &[PathBuf],
    settings: &Settings,
    progress: &Progress,
    partial: &mut dyn FnMut(City),
) -> Result<City> {
    let city = |source| City::new(title_of(paths), Arc::new(source), settings);
    let mut partial = |source| partial(city(source));
    let source = Source::open_gradually(paths, &settings.grouping, settings.group_options(), progress, &mut partial)?;
    progress.begin("Laying out the city", 0);
    Ok(city(source))
}

/// Starts opening what was asked for through the command line, the dialog, or by dropping files.
pub fn start_opening(
    mut requests: MessageReader<OpenRequest>,
    mut dropped: MessageReader<FileDragAndDrop>,
    mut actions: MessageReader<Action>,
    mut loading: ResMut<Loading>,
    mut notices: ResMut<Notices>,
    settings: Res<Settings>,
) {
    let mut paths: Vec<PathBuf> = requests.read().flat_map(|r| r.0.clone()).collect();
    for event in dropped.read() {
        if let FileDragAndDrop::DroppedFile { path_buf, .. } = event {
            paths.push(path_buf.clone());
        }
    }
    for action in actions.read() {
        let folder = match action {
            Action::OpenFiles => false,
            Action::OpenFolder => true,
            _ => continue,
        };
        if loading.dialog.is_none() {
            // The dialog is made on this thread (some platforms insist) and awaited on another.
            let dialog = rfd::AsyncFileDialog::new().set_title("Open heap dumps, a trace, or memory trees");
            loading.dialog = Some(if folder {
                let picked = dialog.pick_folder();
                Job::start(move |_| bevy::tasks::block_on(picked).map(|f| vec![f.path().to_path_buf()]))
            } else {
                let picked = dialog.pick_files();
                Job::start(move |_| {
                    bevy::tasks::block_on(picked).map(|fs| fs.iter().map(|f| f.path().to_path_buf()).collect())
                })
            });
        }
    }
    if let Some(outcome) = loading.dialog.as_ref().and_then(|d| d.poll()) {
        loading.dialog = None;
        match outcome {
            Ok(Some(picked)) => paths.extend(picked),
            _ => notices.tell(
                "No file was chosen. If no dialog appeared: drop files onto this window, or start with  memory-city open PATH",
            ),
        }
    }
    if paths.is_empty() {
        return;
    }
    loading.failed = None;
    loading.remaking = None;
    let settings = settings.clone();
    let (title, partial) = (title_of(&paths), Arc::new(Mutex::new(None)));
    let sink = Arc::clone(&partial);
    let job = Job::start(move |progress| {
        open_gradually(&paths, &settings, progress, &mut |city| {
            *sink.lock().unwrap_or_else(|e| e.into_inner()) = Some(city);
        })
    });
    loading.opening = Some(Opening { title, job, partial, shows_partial: false });
}

/// Takes finished cities, and starts remaking the shown one when settings ask for it.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn take_cities(
    mut loading: ResMut<Loading>,
    mut shown: ResMut<Shown>,
    mut clock: ResMut<Clock>,
    mut selection: ResMut<Selection>,
    mut references: ResMut<References>,
    mut notices: ResMut<Notices>,
    mut rig: ResMut<CameraRig>,
    settings: Res<Settings>,
) {
    let mut arrived = None;
    let mut first = true;
    if let Some(opening) = &mut loading.opening {
        arrived = opening.partial.lock().unwrap_or_else(|e| e.into_inner()).take();
        first = !opening.shows_partial;
        opening.shows_partial |= arrived.is_some();
    }
    if let Some(outcome) = loading.opening.as_ref().and_then(|opening| opening.job.poll()) {
        let Opening { title, shows_partial, .. } =
            loading.opening.take().unwrap_or_else(|| unreachable!("polled above"));
        match outcome {
            Ok(Ok(city)) => arrived = Some(city),
            Ok(Err(Error::Cancelled)) if shows_partial => {
                notices.tell(format!("Reading {title} was stopped: the city shows what had been read"));
            }
            Ok(Err(Error::Cancelled)) => notices.tell(format!("Opening {title} was cancelled")),
            Ok(Err(error)) => loading.failed = Some((title, error.to_string())),
            Err(panic) => loading.failed = Some((title, panic)),
        }
    }
    if let Some(mut city) = arrived {
        // Open on the change: the last state, where growth is visible. A city that fills in stays where it is looked at.
        let last = city.times().saturating_sub(1);
        if first {
            *clock = Clock::default();
            clock.jump(&mut city, last);
            selection.reset();
            rig.show_city(city.tallest);
        } else {
            let stays = shown.0.as_ref().is_some_and(|before| clock.time + 1 < before.times());
            let time = if stays { clock.time } else { last };
            clock.jump(&mut city, time);
            if let Some(lost) = selection.rebind(&city.timeline) {
                notices.tell(format!("Deselected: there is no group {lost} any more"));
            }
            rig.set_tallest(city.tallest);
        }
        references.reset();
        shown.0 = Some(city);
    }
    if let Some(outcome) = loading.remaking.as_ref().and_then(|(_, job)| job.poll()) {
        loading.remaking = None;
        match outcome {
            Ok(Ok(mut city)) => {
                if let Some(lost) = selection.rebind(&city.timeline) {
                    notices.tell(format!("Deselected: this grouping has no group {lost}"));
                }
                references.reset();
                clock.refresh(&mut city);
                rig.set_tallest(city.tallest);
                shown.0 = Some(city);
            }
            Ok(Err(Error::Cancelled)) => {}
            Ok(Err(error)) => {
                notices.tell(format!("The settings could not be applied: {error}"));
                loading.refused = Some(settings.clone());
            }
            Err(panic) => {
                notices.tell(panic);
                loading.refused = Some(settings.clone());
            }
        }
    }
    follow_settings(&mut loading, &mut shown, &mut clock, &settings);
}

fn follow_settings(loading: &mut Loading, shown: &mut ResMut<Shown>, clock: &mut Clock, settings: &Settings) {
    let Some(city) = &shown.0 else { return };
    if loading.opening.is_some() || loading.refused.as_ref() == Some(settings) {
        return;
    }
    let made_with = &city.made_with;
    let aim = loading.remaking.as_ref().map(|(s, _)| s).unwrap_or(made_with);
    // Trees cannot be grouped anew: what was chosen waits for the next input.
    let heaps = city.source.heaps().is_some();
    let changed =
        |made: &Settings| made.grouping != settings.grouping || made.group_options() != settings.group_options();
    let regroup = heaps && changed(aim);
    let layout = aim.city_config() != settings.city_config();
    if regroup || layout {
        let (source, title, wanted) = (Arc::clone(&city.source), city.title.clone(), settings.clone());
        let live = city.live.clone();
        let again = heaps && (regroup || changed(made_with));
        let job = Job::start(move |progress| {
            let source = if again {
                Arc::new(source.regroup(&wanted.grouping, wanted.group_options(), progress)?)
            } else {
                source
            };
            let mut city = City::new(title, source, &wanted);
            city.live = live;
            Ok(city)
        });
        loading.remaking = Some((settings.clone(), job));
    } else if loading.remaking.is_none() && made_with.look() != settings.look() {
        let mut city = city.with_look(settings);
        clock.refresh(&mut city);
        shown.0 = Some(city);
    }
}

/// Names the window after what it shows.
pub fn title_window(shown: Res<Shown>, mut windows: Query<&mut Window>) {
    if !shown.is_changed() {
        return;
    }
    let title = match &shown.0 {
        Some(city) => format!("{} · Memory City", city.title),
        None => "Memory City".to_owned(),
    };
    for mut window in &mut windows {
        if window.title != title {
            window.title.clone_from(&title);
        }
    }
}
