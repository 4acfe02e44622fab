//! Finds the files of a run, by their content.

use super::header::{self, FileKind, TraceHeader};
use super::symbols::Symbols;
use super::{AntTracks, TraceFile, TraceFiles};
use crate::event::Program;
use crate::recorded;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The symbols file.
    pub symbols: PathBuf,
    /// Trace files, by their place in the rotation.
    pub traces: Vec<PathBuf>,
    /// Places in the rotation of which there is no file, from and up to.
    pub missing: Vec<(u32, u32)>,
}

/// A file of a run.
#[derive(Clone, Debug)]
struct Member {
    path: PathBuf,
    header: TraceHeader,
    /// Place in the rotation.
    index: u32,
}

fn member(path: &Path) -> Result<Option<Member>> {
    let start = Input::peek(path, header::LONGEST + 8)?;
    let Some(header) = TraceHeader::read(path, &start)? else { return Ok(None) };
    let index = start.get(header.end..header.end + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    Ok(Some(Member { path: path.to_owned(), index: index.unwrap_or(0), header }))
}

/// The run that files and folders belong to; `None` when none of them is of an AntTracks run. A single file of a run
/// stands for those beside it.
///
/// # Errors
/// When files of different runs are given together, or a run lacks its symbols or its trace.
pub fn find_run(paths: &[PathBuf]) -> Result<Option<Run>> {
    let mut members: Vec<Member> = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut strangers: Vec<PathBuf> = Vec::new();
    let mut damaged = None;
    for path in paths {
        let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if meta.is_dir() {
            members.extend(in_folder(path, &mut damaged)?);
        } else if let Some(found) = member(path)? {
            folders.push(folder_of(path).to_owned());
            members.push(found);
        } else {
            strangers.push(path.clone());
        }
    }
    let Some(first) = members.first().cloned() else { return damaged.map_or(Ok(None), Err) };
    if let Some(stranger) = strangers.first() {
        return Err(Error::Unusable {
            what: format!("{} belongs to an AntTracks run, {} does not", first.path.display(), stranger.display()),
            remedy: "Open the run and the heap dumps one after the other".into(),
        });
    }
    if let Some(other) = members.iter().find(|m| m.header.run != first.header.run) {
        return Err(Error::Unusable {
            what: format!("{} and {} are of different runs", first.path.display(), other.path.display()),
            remedy: "Give the trace and the symbols that one run of the program wrote; they belong together".into(),
        });
    }
    // Files were named: those of the same run beside them belong to it, others do not matter.
    for folder in folders {
        members.extend(in_folder(&folder, &mut damaged)?.into_iter().filter(|m| m.header.run == first.header.run));
    }
    members.sort_by(|a, b| (a.header.kind, a.index, &a.path).cmp(&(b.header.kind, b.index, &b.path)));
    members.dedup_by(|a, b| a.path == b.path || same_file(&a.path, &b.path));
    let of = |kind| members.iter().filter(move |m| m.header.kind == kind);
    let mut lacks = |what: &str| {
        damaged.take().unwrap_or_else(|| Error::Unusable {
            what: format!("There is no {what} file beside {}", first.path.display()),
            remedy: format!("Put the {what} file that the same run wrote into the same folder"),
        })
    };
    let Some(symbols) = of(FileKind::Symbols).next().map(|m| m.path.clone()) else { return Err(lacks("symbols")) };
    let traces: Vec<&Member> = of(FileKind::Trace).collect();
    if traces.is_empty() {
        return Err(lacks("trace"));
    }
    if let Some(twice) = traces.windows(2).find(|w| w[0].index == w[1].index) {
        return Err(Error::Unusable {
            what: format!("{} and {} are the same part of one trace", twice[0].path.display(), twice[1].path.display()),
            remedy: "Keep one of them".into(),
        });
    }
    let mut missing = Vec::new();
    let mut next = 0;
    for part in &traces {
        if part.index > next {
            missing.push((next, part.index - 1));
        }
        next = part.index.saturating_add(1);
    }
    Ok(Some(Run { symbols, traces: traces.into_iter().map(|m| m.path.clone()).collect(), missing }))
}

/// The folder that a file is in.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The members among the files of a folder; the first file that begins like one and cannot be read goes to `damaged`.
fn in_folder(folder: &Path, damaged: &mut Option<Error>) -> Result<Vec<Member>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        match member(&file) {
            Ok(member) => found.extend(member),
            Err(error @ Error::Format { .. }) => *damaged = damaged.take().or(Some(error)),
            // What cannot be opened is no member; whoever opens the folder as dumps will say so.
            Err(_) => {}
        }
    }
    Ok(found)
}

impl Run {
    /// Opens the files.
    ///
    /// # Errors
    /// When one cannot be read, or the symbols are damaged.
    pub fn open(&self, progress: &Progress) -> Result<Arc<TraceFiles>> {
        let symbols = Input::open(&self.symbols, progress)?;
        let traces = self.traces.iter().map(|path| Input::open(path, progress)).collect::<Result<Vec<_>>>()?;
        let warnings = self.missing.iter().map(|&(from, to)| self.lacks(from, to)).collect();
        Ok(Arc::new(TraceFiles { warnings, ..TraceFiles::new(symbols, traces)? }))
    }

    fn lacks(&self, from: u32, to: u32) -> Warning {
        let parts = if from == to { format!("part {from}") } else { format!("parts {from} to {to}") };
        let message = if from == 0 {
            format!(
                "{parts} of this trace, which was rotated, are not here: what is older than the first garbage collection of the rest is known by type and allocation site alone"
            )
        } else {
            format!(
                "{parts} in the middle of this trace are not here: objects made or moved there are missing or misplaced until the next full collection"
            )
        };
        Warning { path: self.traces[0].clone(), offset: None, message }
    }
}

impl TraceFiles {
    /// The files of a run, its traces in the order of their rotation.
    ///
    /// # Errors
    /// When one is no such file, or the symbols are damaged.
    pub fn new(symbols: Input, traces: Vec<Input>) -> Result<TraceFiles> {
        let of = |input: &Input, kind: FileKind| match TraceHeader::read(&input.path, input.bytes())? {
            Some(header) if header.kind == kind => Ok(header),
            _ => Err(Error::Unusable {
                what: format!("{} is no {} file of an AntTracks run", input.path.display(), kind.title()),
                remedy: "Open it again if it has changed meanwhile".into(),
            }),
        };
        let header = of(&symbols, FileKind::Symbols)?;
        let symbols = Symbols::read(&symbols.path, symbols.bytes(), &header)?;
        let file = |input: Input| {
            let start = of(&input, FileKind::Trace)?.end + 4;
            if input.bytes().len() < start {
                return Err(Error::Format {
                    path: input.path.clone(),
                    offset: Some(input.bytes().len() as u64),
                    found: "the end of the file".into(),
                    expected: "the rest of the header".into(),
                    remedy: "Copy the file again, or record the trace again".into(),
                });
            }
            Ok(TraceFile { start, input })
        };
        let files = traces.into_iter().map(file).collect::<Result<Vec<_>>>()?;
        Ok(TraceFiles { files, symbols, warnings: Vec::new() })
    }
}

/// A run as a source of events.
pub struct AntTracksSource {
    run: Run,
    files: Arc<TraceFiles>,
}

impl AntTracksSource {
    /// Opens the files of a run.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open(run: Run, progress: &Progress) -> Result<AntTracksSource> {
        let files = run.open(progress)?;
        Ok(AntTracksSource { run, files })
    }
}

impl recorded::TraceSource for AntTracksSource {
    type Decoder = AntTracks;

    fn decoder(&self) -> AntTracks {
        AntTracks::new(Arc::clone(&self.files))
    }

    fn program(&self) -> &Arc<Program> {
        self.files.program()
    }

    fn files(&self) -> Vec<&Path> {
        self.run.traces.iter().chain([&self.run.symbols]).map(PathBuf::as_path).collect()
    }

    fn has_references(&self) -> bool {
        self.files.symbols.pointers
    }
}
