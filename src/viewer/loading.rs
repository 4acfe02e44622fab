//! Opening and grouping of inputs, off the main thread: the old picture stays until the next one is ready.

use super::action::Action;
use super::city::CameraRig;
use super::comparison::{self, CompareWish, OpenComparison};
use super::document::{self, Arrival, Closed, Document, Draft, Grew, Preparations};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::notices::Notices;
use super::saved_settings::OthersSettings;
use super::settings::Settings;
use super::view::Views;
use super::view_file::{AwaitedView, SeenData, ViewFile};
use crate::readers::{FileReaders, readers_compared};
use crate::saved_view::{NamedView, ViewReach};
use bevy::prelude::*;
use bevy::window::FileDragAndDrop;
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::{ClosureMetric, Source, title_of};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::{Progress, Snapshot};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// The wish to open files or folders.
#[derive(Message, Clone, Debug)]
pub struct OpenRequest(pub Vec<PathBuf>);

/// Work that goes on, and how the last opening ended.
#[derive(Resource, Default)]
pub struct Loading {
    /// Paths of the open input, for view files. Empty after a failure to open.
    paths: Vec<PathBuf>,
    opening: Option<Opening>,
    /// A new grouping of the open document, and the settings it is made for.
    regrouping: Option<(Settings, Job<Result<Draft>>)>,
    /// Further metrics of the open document.
    finding: Option<(Vec<ClosureMetric>, Job<Result<Draft>>)>,
    dialog: Option<Job<Option<Vec<PathBuf>>>>,
    failed: Option<(String, String)>,
    /// A view file with paths outside its folder: none of them was read yet.
    question: Option<ViewQuestion>,
    /// The one whose question was answered with yes, and that of the command line.
    allowed: Option<ViewQuestion>,
    /// Settings that could not be applied, and why: not tried again until they change.
    refused: Option<(Settings, String)>,
}

/// Question whether the paths of a view file may be read, though they lie elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewQuestion {
    /// The view file.
    pub view: PathBuf,
    /// Files that it names, outside its folder.
    pub outside: Vec<PathBuf>,
}

/// An input that is being opened.
struct Opening {
    title: String,
    paths: Vec<PathBuf>,
    job: Job<Result<Draft>>,
    /// The part read so far, when there is more of it.
    partial: Arc<Mutex<Option<Draft>>>,
    /// Whether such a part is on screen.
    shows_partial: bool,
}

/// State of loading.
pub enum State {
    /// Nothing to do.
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
        /// Title of the input that failed.
        title: String,
        /// Why it could not.
        error: String,
    },
    /// A person is asked.
    Asks(ViewQuestion),
    /// The open input is grouped anew, or still being read.
    Busy {
        /// The work.
        what: String,
        /// How far it is.
        snapshot: Snapshot,
    },
}

impl Loading {
    /// State for the screen.
    pub fn state(&self) -> State {
        if let Some(Opening { title, job, shows_partial, .. }) = &self.opening {
            let snapshot = job.snapshot();
            return match shows_partial {
                true => State::Busy { what: "Reading on: the city fills in".to_owned(), snapshot },
                false => State::Opening { title: title.clone(), snapshot },
            };
        }
        if let Some(question) = &self.question {
            return State::Asks(question.clone());
        }
        if let Some((title, error)) = &self.failed {
            return State::Failed { title: title.clone(), error: error.clone() };
        }
        match &self.regrouping {
            Some((_, job)) => State::Busy { what: "Grouping anew".to_owned(), snapshot: job.snapshot() },
            None => match &self.finding {
                Some((metrics, job)) => {
                    let names: Vec<String> = metrics.iter().map(|m| m.info().title.to_lowercase()).collect();
                    State::Busy { what: format!("Finding {}", names.join(", ")), snapshot: job.snapshot() }
                }
                None => State::Idle,
            },
        }
    }

    /// Paths of the open input, as they were given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Paths of the input that is being opened, else of the open one.
    pub fn next_paths(&self) -> &[PathBuf] {
        self.opening.as_ref().map_or(&self.paths, |opening| &opening.paths)
    }

    /// Read permissions of files made of the open input: this user alone if it comes from a running program.
    pub fn readers(&self, document: &Document, comparison: &OpenComparison) -> FileReaders {
        let is_live = document.get().is_some_and(|open| open.live.is_some());
        let compare = comparison.shown().map(|shown| &shown.wish);
        match is_live || self.paths.is_empty() {
            true => FileReaders::OwnerAlone,
            // What cannot be looked at any more was nobody else's.
            false => readers_compared(&self.paths, compare).unwrap_or(FileReaders::OwnerAlone),
        }
    }

    /// Whether an input is still being read.
    pub fn is_opening(&self) -> bool {
        self.opening.is_some()
    }

    /// Sets the paths of the open document, for another module that has opened it.
    pub fn set_paths(&mut self, paths: Vec<PathBuf>) {
        self.paths = paths;
    }

    /// Whether anything goes on that will change the screen.
    pub(super) fn active(&self) -> bool {
        self.opening.is_some() || self.regrouping.is_some() || self.finding.is_some() || self.dialog.is_some()
    }

    /// Whether the open document is grouped anew, or further metrics of it are found.
    pub(super) fn is_grouping(&self) -> bool {
        self.regrouping.is_some() || self.finding.is_some()
    }

    /// Whether trees could not be made as these settings ask for.
    pub(super) fn refuses(&self, settings: &Settings) -> bool {
        self.refused.as_ref().is_some_and(|(refused, _)| refused.has_trees_of(settings))
    }

    /// Why trees could not be made as these settings ask for.
    pub fn refusal(&self, settings: &Settings) -> Option<&str> {
        self.refused.as_ref().filter(|(refused, _)| refused.has_trees_of(settings)).map(|(_, why)| why.as_str())
    }

    /// How far the grouping anew is, while there is one.
    pub(super) fn regrouping(&self) -> Option<Snapshot> {
        self.regrouping.as_ref().map(|(_, job)| job.snapshot())
    }

    /// Cancels loading or closes an error. Returns whether there was anything to take away.
    pub fn escape(&mut self) -> bool {
        if let Some(opening) = &self.opening {
            opening.job.cancel();
            return true;
        }
        if let Some((_, job)) = &self.regrouping {
            job.cancel();
            return true;
        }
        if let Some((_, job)) = &self.finding {
            job.cancel();
            return true;
        }
        self.question.take().is_some() || self.failed.take().is_some()
    }

    /// Answers the question with yes. Returns the request to open then.
    pub fn allow(&mut self) -> Option<OpenRequest> {
        self.allowed = self.question.take();
        self.allowed.as_ref().map(|allowed| OpenRequest(vec![allowed.view.clone()]))
    }

    /// Allows the view file of the next request all paths that it names now: the command line says so.
    pub fn allow_view(&mut self, paths: &[PathBuf]) {
        let [path] = paths else { return };
        let outside = ViewFile::read(path).map(|view| view.outside().to_vec());
        self.allowed = outside.ok().map(|outside| ViewQuestion { view: path.clone(), outside });
    }

    /// A view that may be shown; `None` for one with paths elsewhere, which a person is asked about first. The answer counts for the
    /// paths that the question showed, and once.
    fn allowed(&mut self, path: &Path, view: NamedView<ViewFile>) -> Result<Option<ViewFile>> {
        let question = ViewQuestion { view: path.to_path_buf(), outside: view.outside().to_vec() };
        let is_allowed = self.allowed.take().is_some_and(|allowed| allowed == question);
        if question.outside.is_empty() || is_allowed {
            return view.within(ViewReach::Anywhere).map(Some);
        }
        tracing::debug!("view: asks for {:?}", question.outside);
        self.question = Some(question);
        Ok(None)
    }
}

/// Path of the bundled sample city: beside the program, in the working folder, or in the source tree.
pub fn sample_path() -> Option<&'static Path> {
    const SAMPLE: &str = "sample-data/person-leak";
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let candidates = [
            beside.as_ref().map(|d| d.join(SAMPLE)),
            beside.as_ref().map(|d| d.join("../share/memory-city").join(SAMPLE)),
            Some(PathBuf::from(SAMPLE)),
            Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLE)),
        ];
        candidates.into_iter().flatten().find(|path| path.is_dir())
    });
    found.as_deref()
}

/// Whether these paths are the bundled sample.
pub fn is_sample(paths: &[PathBuf]) -> bool {
    matches!(paths, [path] if sample_path() == Some(path))
}

/// Reads, groups, and prepares the views: the whole way from files to a document.
///
/// # Errors
/// Errors of [`Source::open`].
pub fn open_document(
    paths: &[PathBuf],
    settings: &Settings,
    preparations: &Preparations,
    progress: &Progress,
) -> Result<Draft> {
    let mut source = Source::open(paths, &settings.question()?, settings.group_options(), progress)?;
    let closures = settings.closures_to_find(source.timeline());
    if !closures.is_empty() {
        source = source.with_closures(&closures, KeepRules::default(), progress)?;
    }
    for id in settings.metric_ids() {
        // A picture of another metric would be a wrong answer.
        analyses::metric_of(source.timeline(), id)?;
    }
    progress.begin("Preparing the views", 0);
    Ok(Draft::new(title_of(paths), Arc::new(source), None, settings, preparations, Arrival::Anew))
}

/// Like [`open_document`], compared with `compare`, if it is given. It serves pictures and tables without a window, so the log names
/// anything that is missing, or that differs from the data `seen`.
///
/// # Errors
/// Errors of [`Source::open`], and of [`comparison::draft`].
pub fn open_compared(
    paths: &[PathBuf],
    (compare, seen): (Option<&CompareWish>, Option<&SeenData>),
    settings: &Settings,
    preparations: &Preparations,
    progress: &Progress,
) -> Result<Draft> {
    let draft = match compare {
        Some(wish) => comparison::open(paths, wish, settings, preparations, progress),
        None => open_document(paths, settings, preparations, progress),
    }?;
    draft.source.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
    if let Some(different) = seen.and_then(|seen| seen.difference(draft.source.timeline())) {
        tracing::warn!("{different}");
    }
    Ok(draft)
}

/// Like [`open_document`]; while a long trace is being read, `partial` gets the part read so far, now and then.
fn open_gradually(
    paths: &[PathBuf],
    settings: &Settings,
    preparations: &Preparations,
    progress: &Progress,
    partial: &mut dyn FnMut(Draft),
) -> Result<Draft> {
    let draft = |source, arrival| Draft::new(title_of(paths), Arc::new(source), None, settings, preparations, arrival);
    let mut partial = |source| partial(draft(source, Arrival::Anew));
    let source =
        Source::open_gradually(paths, &settings.question()?, settings.group_options(), progress, &mut partial)?;
    progress.begin("Preparing the views", 0);
    Ok(draft(source, Arrival::Anew))
}

/// Starts opening an input from the command line, the dialog, or dropped files.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn start_opening(
    mut requests: MessageReader<OpenRequest>,
    mut dropped: MessageReader<FileDragAndDrop>,
    mut actions: MessageReader<Action>,
    mut loading: ResMut<Loading>,
    mut notices: ResMut<Notices>,
    (mut settings, preparations, views): (ResMut<Settings>, Res<Preparations>, Res<Views>),
    (mut awaited, mut others, mut rig): (ResMut<AwaitedView>, ResMut<OthersSettings>, ResMut<CameraRig>),
    mut comparison: ResMut<OpenComparison>,
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
            let dialog =
                rfd::AsyncFileDialog::new().set_title("Open heap dumps, a trace, a recording, or memory trees");
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
    (loading.failed, loading.question) = (None, None);
    (loading.regrouping, loading.finding) = (None, None);
    awaited.0 = None;
    if !settings.parts.is_empty() {
        settings.parts.clear();
    }
    if let [path] = &paths[..]
        && ViewFile::is_one(path)
    {
        let view = ViewFile::read(path).and_then(|view| loading.allowed(path, view));
        match view.and_then(|view| view.map(|view| view.make_known(path).map(|()| view)).transpose()) {
            Ok(None) => return,
            Ok(Some(view)) => {
                *settings = view.settings(settings.clone());
                others.0 = true;
                rig.await_city(view.camera, view.plan);
                paths.clone_from(&view.data);
                comparison.with_next.clone_from(&view.compare);
                awaited.0 = Some(view);
            }
            Err(error) => {
                loading.failed = Some((title_of(&paths), error.to_string()));
                return;
            }
        }
    }
    let made_with = preparations_for(awaited.0.is_some(), &settings, &preparations, &views);
    let (settings, preparations) = (settings.clone(), made_with);
    let (title, given, partial) = (title_of(&paths), paths.clone(), Arc::new(Mutex::new(None)));
    let sink = Arc::clone(&partial);
    let compare = comparison.with_next.take();
    let job = Job::start(move |progress| match compare {
        Some(wish) => comparison::open(&paths, &wish, &settings, &preparations, progress),
        None => open_gradually(&paths, &settings, &preparations, progress, &mut |draft| {
            *sink.lock().unwrap_or_else(|e| e.into_inner()) = Some(draft);
        }),
    });
    loading.opening = Some(Opening { title, paths: given, job, partial, shows_partial: false });
}

/// Preparations of views for the new input: under the settings of its view file, if it has one.
fn preparations_for(of_view: bool, settings: &Settings, now: &Preparations, views: &Views) -> Preparations {
    if of_view { views.preparations(settings) } else { now.clone() }
}

/// Installs finished documents, and starts to group anew when settings ask for it.
fn take_finished(
    mut loading: ResMut<Loading>,
    mut notices: ResMut<Notices>,
    mut commands: Commands,
    mut awake: ResMut<Awake>,
    (mut settings, document): (ResMut<Settings>, Res<Document>),
) {
    awake.wait_if(loading.active());
    let mut arrived = None;
    let mut arrival = Arrival::Opened;
    if let Some(opening) = &mut loading.opening {
        arrived = opening.partial.lock().unwrap_or_else(|e| e.into_inner()).take();
        if opening.shows_partial {
            arrival = Arrival::Anew;
        }
        opening.shows_partial |= arrived.is_some();
    }
    let mut from = loading.opening.as_ref().map(|opening| opening.paths.clone());
    if let Some(outcome) = loading.opening.as_ref().and_then(|opening| opening.job.poll()) {
        let Opening { title, shows_partial, .. } =
            loading.opening.take().unwrap_or_else(|| unreachable!("polled above"));
        match outcome {
            Ok(Ok(draft)) => arrived = Some(draft),
            Ok(Err(Error::Cancelled)) if shows_partial => {
                notices.tell(format!("Reading {title} was stopped: what had been read is shown"));
            }
            Ok(Err(Error::Cancelled)) => notices.tell(format!("Opening {title} was cancelled")),
            Ok(Err(error)) => loading.failed = Some((title, error.to_string())),
            Err(panic) => loading.failed = Some((title, panic)),
        }
    }
    if let Some(draft) = arrived {
        loading.paths = from.take().unwrap_or_default();
        document::install_later(&mut commands, draft, arrival);
    }
    if let Some(outcome) = loading.regrouping.as_ref().and_then(|(_, job)| job.poll()) {
        let wanted = loading.regrouping.take().map(|(settings, _)| settings);
        match outcome {
            Ok(Ok(draft)) => document::install_later(&mut commands, draft, Arrival::Anew),
            Ok(Err(Error::Cancelled)) => {
                // What is shown was made with these.
                if let Some(open) = document.get() {
                    settings.take_trees_of(&open.made_with);
                    notices.tell("Grouping was cancelled: what was there stays");
                }
            }
            Ok(Err(error)) => {
                notices.tell(format!("The settings could not be applied: {error}"));
                loading.refused = wanted.map(|wanted| (wanted, error.to_string()));
            }
            Err(panic) => {
                notices.tell(panic.clone());
                loading.refused = wanted.map(|wanted| (wanted, panic));
            }
        }
    }
}

/// Groups the open document anew when the settings its trees depend on change.
fn follow_settings(
    mut loading: ResMut<Loading>,
    document: Res<Document>,
    settings: Res<Settings>,
    preparations: Res<Preparations>,
) {
    let Some(open) = document.get().filter(|open| open.source.can_regroup()) else {
        // Trees of others cannot be grouped anew: what was chosen waits for the next input.
        return;
    };
    if loading.opening.is_some() || loading.refuses(&settings) {
        return;
    }
    let aim = loading.regrouping.as_ref().map(|(s, _)| s).unwrap_or(&open.made_with);
    if aim.has_trees_of(&settings) {
        return;
    }
    let (source, title, live) = (Arc::clone(&open.source), open.title.clone(), open.live.clone());
    let (wanted, preparations) = (settings.clone(), preparations.clone());
    let job = Job::start(move |progress| {
        let source = Arc::new(source.regroup(&wanted.grouping, wanted.group_options(), progress)?);
        Ok(Draft::new(title, source, live, &wanted, &preparations, Arrival::Anew))
    });
    loading.regrouping = Some((settings.clone(), job));
}

/// Finds wanted metrics that the open document lacks, and shows them when they are there.
fn find_closures(
    mut loading: ResMut<Loading>,
    document: Res<Document>,
    mut settings: ResMut<Settings>,
    preparations: Res<Preparations>,
    mut notices: ResMut<Notices>,
    mut commands: Commands,
) {
    if let Some(outcome) = loading.finding.as_ref().and_then(|(_, job)| job.poll()) {
        loading.finding = None;
        notices.tell(match outcome {
            Ok(Ok(draft)) => return document::install_later(&mut commands, draft, Arrival::Grew),
            Ok(Err(Error::Cancelled)) => "Further metrics: cancelled".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(panic) => panic,
        });
        // Not tried again until somebody asks.
        settings.closures.clear();
    }
    let Some(open) = document.get().filter(|open| open.source.heaps().is_some()) else { return };
    let wanted = settings.closures_to_find(&open.timeline);
    if wanted.is_empty() || loading.active() {
        return;
    }
    let (source, title, live) = (Arc::clone(&open.source), open.title.clone(), open.live.clone());
    let (made_with, metrics, preparations) = (open.made_with.clone(), wanted.clone(), preparations.clone());
    let job = Job::behind_frames(move |progress| {
        let source = Arc::new(source.with_closures(&metrics, KeepRules::default(), progress)?);
        Ok(Draft::new(title, source, live, &made_with, &preparations, Arrival::Grew))
    });
    loading.finding = Some((wanted, job));
}

/// Opening and regrouping.
pub struct LoadingPlugin;

impl Plugin for LoadingPlugin {
    fn build(&self, app: &mut App) {
        // Metrics of other trees would say nothing.
        app.init_resource::<Loading>()
            .add_message::<OpenRequest>()
            .add_observer(|_: On<Closed>, mut loading: ResMut<Loading>| loading.finding = None)
            .add_observer(|_: On<Grew>, mut loading: ResMut<Loading>| loading.finding = None)
            .add_systems(
                Update,
                (start_opening, take_finished, follow_settings, find_closures).chain().in_set(Stage::Load),
            );
    }
}
