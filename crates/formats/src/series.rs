//! A series of snapshots in time order, and how files become one.

use super::anttracks;
use super::event::GcKind;
use super::hprof;
use super::kept::KeptStates;
use super::recorded;
use super::recording::Recording;
use memory_city_heap::HeapState;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One point in time of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Short label: the file's name, or the GC.
    pub label: String,
    /// When it was taken, milliseconds since the Unix epoch; where there is a `gc`, since the program started.
    pub millis: u64,
    /// The file.
    pub path: PathBuf,
    /// The garbage collection this is the start or end of.
    pub gc: Option<GcPoint>,
}

/// The start or end of a garbage collection.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct GcPoint {
    /// The source's own number.
    pub number: u32,
    /// Whether the whole heap was collected.
    pub kind: GcKind,
    /// Why.
    pub cause: String,
    /// How long it took, milliseconds.
    pub duration: u64,
    /// Its end, or its start.
    pub end: bool,
    /// Objects it freed.
    pub freed: u64,
}

/// Heap states in time order. What every format gives.
pub trait HeapSeries: Send + Sync {
    /// The points in time.
    fn points(&self) -> &[SnapshotInfo];

    /// The heap at a point in time. Recent states are kept while memory allows; others are read again.
    ///
    /// # Errors
    /// When the file has become unreadable or unusable, or the work was cancelled.
    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>>;

    /// What a person must know about the series as a whole, by now.
    fn warnings(&self) -> Vec<Warning>;

    /// What came and went from point to point, where the source records it: then trees over time need no heap state.
    fn recording(&self) -> Option<&Recording> {
        None
    }
}

/// Opens files and folders as one series, ordered by the time they were taken, ties by name.
///
/// # Errors
/// When a named file is no heap dump or trace or cannot be read, or nothing is left to show. In a folder, files that are
/// no dumps are skipped with a warning.
pub fn open(paths: &[PathBuf], progress: &Progress) -> Result<Box<dyn HeapSeries>> {
    open_gradually(paths, progress, &mut |_| ())
}

/// As [`open`]; while a long trace is being read, `partial` is given what has been read of it so far, now and then. It
/// may take its time: the reading waits.
///
/// # Errors
/// As [`open`].
pub fn open_gradually(
    paths: &[PathBuf],
    progress: &Progress,
    partial: &mut dyn FnMut(Box<dyn HeapSeries>),
) -> Result<Box<dyn HeapSeries>> {
    progress.begin("Looking at the files", 0);
    if let Some(run) = anttracks::find_run(paths)? {
        return Ok(Box::new(recorded::open(anttracks::Source::open(run, progress)?, progress, partial)?));
    }
    let mut warnings = Vec::new();
    let mut points = Vec::new();
    for path in paths {
        let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if !meta.is_dir() {
            points.push(identify(path)?);
            continue;
        }
        let (found, skipped) = folder(path, progress)?;
        if found.is_empty() {
            return Err(Error::Unusable {
                what: match skipped.len() {
                    0 => format!("There is no heap dump or memory tree in the folder {}", path.display()),
                    n => format!("None of the {n} files in {} is a heap dump or memory tree", path.display()),
                },
                remedy:
                    "Put HPROF dumps (jcmd PID GC.heap_dump FILE) or memory trees in JSON into it, or give the files \
                         themselves"
                        .into(),
            });
        }
        points.extend(found);
        warnings.extend(skipped);
    }
    if points.is_empty() {
        return Err(Error::Unusable {
            what: "No input was given".into(),
            remedy: "Give one or more heap dumps, or folders of dumps".into(),
        });
    }
    points.sort_by(|a, b| (a.millis, &a.label, &a.path).cmp(&(b.millis, &b.label, &b.path)));
    points.dedup_by(|a, b| a.path == b.path);
    Ok(Box::new(DumpSeries { points, warnings: Mutex::new(warnings), kept: Mutex::default() }))
}

/// Whether a folder has a heap dump or a trace.
///
/// # Errors
/// When it cannot be read.
pub fn holds_heaps(folder: &Path) -> Result<bool> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    let mut files = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file());
    Ok(files.any(|file| identify(&file).is_ok()) || anttracks::find_run(&[folder.to_owned()])?.is_some())
}

fn folder(path: &Path, progress: &Progress) -> Result<(Vec<SnapshotInfo>, Vec<Warning>)> {
    let entries = std::fs::read_dir(path).map_err(|e| Error::io(path, e))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect();
    files.sort();
    let mut found = Vec::new();
    let mut skipped = Vec::new();
    for file in files {
        progress.check()?;
        match identify(&file) {
            Ok(info) => found.push(info),
            // What stands beside dumps by custom is not worth a warning.
            Err(_) if is_companion(&file) => {}
            Err(Error::Format { found, .. }) => {
                let message = format!("skipped: no heap dump, it begins with {found}");
                skipped.push(Warning { path: file, offset: None, message });
            }
            Err(error) => skipped.push(Warning { path: file, offset: None, message: format!("skipped: {error}") }),
        }
    }
    Ok((found, skipped))
}

fn is_companion(file: &Path) -> bool {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    let hidden = file.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
    hidden || ["md", "txt", "java", "class", "jar", "sh", "log", "json"].contains(&extension)
}

fn identify(path: &Path) -> Result<SnapshotInfo> {
    let start = Input::peek(path, 64)?;
    let header = hprof::Header::read(path, &start)?;
    let label = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(SnapshotInfo { label, millis: header.millis, path: path.to_owned(), gc: None })
}

struct DumpSeries {
    points: Vec<SnapshotInfo>,
    warnings: Mutex<Vec<Warning>>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    states: KeptStates,
    /// Class names of the first loaded dump: others should know most of them.
    program: Option<(usize, HashSet<String>)>,
}

impl HeapSeries for DumpSeries {
    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>> {
        if let Some(state) = self.kept.lock().unwrap_or_else(|e| e.into_inner()).states.get(index) {
            return Ok(state);
        }
        let point = &self.points[index];
        let input = Input::open(&point.path, progress)?;
        progress.begin(format!("Reading {} ({} of {})", point.label, index + 1, self.points.len()), 0);
        let state = Arc::new(hprof::load(&input, progress)?);
        let mut kept = self.kept.lock().unwrap_or_else(|e| e.into_inner());
        self.note(&mut kept, index, &state);
        kept.states.keep(index, Arc::clone(&state));
        Ok(state)
    }

    fn warnings(&self) -> Vec<Warning> {
        self.warnings.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

impl DumpSeries {
    /// Collects the warnings of a state, and says when it seems to be of another program.
    fn note(&self, kept: &mut Kept, index: usize, state: &HeapState) {
        let mut warnings = self.warnings.lock().unwrap_or_else(|e| e.into_inner());
        let mut add = |w: Warning| {
            if !warnings.contains(&w) {
                warnings.push(w);
            }
        };
        state.warnings().iter().cloned().for_each(&mut add);
        let names: HashSet<String> =
            state.types().iter().map(|t| &t.name).filter(|n| !n.ends_with(']')).filter(|n| own(n)).cloned().collect();
        let Some((first, known)) = &kept.program else {
            if names.len() >= 5 {
                kept.program = Some((index, names));
            }
            return;
        };
        let shared = names.intersection(known).count();
        if *first != index && names.len() >= 5 && shared * 4 < names.len().min(known.len()) {
            add(Warning {
                path: self.points[index].path.clone(),
                offset: None,
                message: format!(
                    "seems to be a dump of another program than {}: they share {shared} of {} classes. Growth between them means little",
                    self.points[*first].label,
                    names.len()
                ),
            });
        }
    }
}

/// Whether a class belongs to the program rather than to the platform every program has.
fn own(name: &str) -> bool {
    !["java.", "javax.", "jdk.", "sun.", "com.sun.", "android.", "dalvik."].iter().any(|p| name.starts_with(p))
}
