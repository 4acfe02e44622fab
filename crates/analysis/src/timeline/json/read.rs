//! Reader of files and folders of memory trees, with the order of their times.

use super::diagnostics::{Note, diagnose, offset};
use super::document::{JsonDocument, ReadContext};
use super::fields::shortened;
use super::files::{files_of, in_folder, is_companion, stem, utf8};
use super::format::{FORMAT, POINTED_FROM_FOLDER, POINTS_TO_FOLDER, VERSION, identify, marked, trimmed};
use super::maps::{MapKind, MapSeed, RawMaps};
use super::memory::Credit;
use super::references::JsonReferences;
use super::totals::{Totals, check_paths};
use crate::timeline::all_references::TimeReferences;
use crate::timeline::key::NodeId;
use crate::timeline::nodes::Timeline;
use crate::timeline::point::TimePoint;
use crate::timeline::references::ReferenceMap;
use memory_city_formats::wire::RecordingFolder;
use memory_city_formats::{HeapSeries, JVM, memory_budget};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use serde::de::DeserializeSeed;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The recording behind trees, while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreesOfRecording {
    /// Where it is.
    pub recording: RecordingFolder,
    /// Id of the grouping that they have.
    pub grouping: String,
}

/// Memory trees that were read.
pub struct JsonSource {
    /// The trees over time.
    pub timeline: Arc<Timeline>,
    /// Their grouping, from the top: `Package › Type`.
    pub roles: String,
    /// Warnings about them.
    pub warnings: Vec<Warning>,
    /// The recording that they were made of, where that is here as well.
    pub recording: Option<TreesOfRecording>,
    /// Its walks, when they have been asked for.
    walks: OnceLock<Arc<dyn HeapSeries>>,
    references: JsonReferences,
    /// Nodes by keys of their own.
    keys: HashMap<Arc<str>, NodeId>,
}

impl JsonSource {
    /// Trees that were counted here, without references.
    pub(crate) fn of_timeline(timeline: Timeline, roles: String, warnings: Vec<Warning>) -> JsonSource {
        JsonSource {
            timeline: Arc::new(timeline),
            roles,
            warnings,
            recording: None,
            walks: OnceLock::new(),
            references: JsonReferences::default(),
            keys: HashMap::new(),
        }
    }

    /// The recording behind the trees, and its point in time for one of theirs; `None` without a recording, or if it has dropped that
    /// point. The first call reads it.
    ///
    /// # Errors
    /// When it cannot be read, or the work was cancelled.
    pub(crate) fn walk(&self, time: usize, progress: &Progress) -> Result<Option<(Arc<dyn HeapSeries>, usize)>> {
        let (Some(of), Some(point)) = (&self.recording, self.timeline.points().get(time)) else { return Ok(None) };
        let series = match self.walks.get() {
            Some(series) => Arc::clone(series),
            None => {
                let opened = Arc::from(of.recording.open(progress)?);
                Arc::clone(self.walks.get_or_init(|| opened))
            }
        };
        let found = series.points().iter().position(|other| other.label == point.label);
        Ok(found.map(|at| (series, at)))
    }

    /// The node of a key: one of its own, or its path of names.
    pub fn find(&self, key: &str) -> Option<NodeId> {
        self.keys.get(key).copied().or_else(|| self.timeline.find(key))
    }

    /// The references to and from a node at a time; `None` if that time has none.
    pub fn references(&self, time: usize, node: NodeId) -> Option<ReferenceMap> {
        self.references.of(&self.timeline, time, node)
    }

    /// All references of a time; `None` when nothing is known of them.
    pub fn time_references(&self, time: usize) -> Option<TimeReferences> {
        self.references.time(time)
    }

    /// Whether references of any time are known.
    pub fn has_references(&self) -> bool {
        !self.references.is_empty()
    }
}

/// Reads files and folders as one series.
///
/// # Errors
/// When a file breaks the format, nothing is left to show, or memory does not hold the result. In a folder, unusable files are skipped with
/// a warning as long as others are usable.
pub fn read(paths: &[PathBuf], progress: &Progress) -> Result<JsonSource> {
    let mut collector = Collector::default();
    for path in paths {
        collector.add_path(path, progress)?;
    }
    collector.finish(progress)
}

/// True if a file, or any file of a folder, holds memory trees. Other JSON named as an input counts as trees too: then the error explains
/// the form of a memory tree.
///
/// # Errors
/// When the path cannot be read.
pub(crate) fn holds_trees(path: &Path) -> Result<bool> {
    let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    if !meta.is_dir() {
        let start = Input::peek(path, PEEK)?;
        let list = trimmed(&start).strip_prefix(b"[").is_some_and(|inside| trimmed(inside).starts_with(b"{"));
        return Ok(identify(&start) || trimmed(&start).starts_with(b"{") || list);
    }
    // A file that cannot be read here is told of when the folder is read.
    Ok(files_of(path)?.iter().any(|file| Input::peek(file, PEEK).is_ok_and(|start| identify(&start))))
}

/// Reads one input after the other.
pub struct Collector {
    totals: Totals,
    warnings: Vec<Warning>,
}

impl Default for Collector {
    fn default() -> Self {
        let mut totals = Totals::default();
        totals.memory = memory_budget();
        Collector { totals, warnings: Vec::new() }
    }
}

/// Bytes at the start that must show the format.
const PEEK: usize = 4096;

impl Collector {
    pub(super) fn of(totals: Totals) -> Self {
        Collector { totals, warnings: Vec::new() }
    }

    /// Sets the most bytes for the counts of all times; by default the free memory.
    #[cfg(test)]
    pub(super) fn limit_memory(&mut self, bytes: u64) {
        self.totals.memory = bytes;
    }

    /// Adds a file, or the files of a folder with its reference maps.
    ///
    /// # Errors
    /// See [`read`].
    pub fn add_path(&mut self, path: &Path, progress: &Progress) -> Result<()> {
        let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if meta.is_dir() { self.add_folder(path, progress) } else { self.add_file(path, progress) }
    }

    fn add_file(&mut self, path: &Path, progress: &Progress) -> Result<()> {
        let input = Input::open(path, progress)?;
        progress.begin(format!("Reading {}", path.display()), input.bytes().len() as u64);
        self.add_input(&input, progress)
    }

    /// Adds bytes that are there already.
    ///
    /// # Errors
    /// See [`read`]. Times before the mistake stay.
    pub fn add_input(&mut self, input: &Input, progress: &Progress) -> Result<()> {
        self.warnings.extend(input.warnings.iter().cloned());
        let before = self.totals.times.len();
        self.documents(input, false, progress)?;
        if self.totals.times.len() == before {
            return Err(Error::Format {
                path: input.path.clone(),
                offset: None,
                found: "no time".into(),
                expected: "a document with a \"tree\" or \"times\"".into(),
                remedy: format!("Write {{\"format\": \"{FORMAT}\", \"version\": {VERSION}, \"tree\": ...}}"),
            });
        }
        Ok(())
    }

    /// Reads all documents of a file; those of maps without a tree are returned.
    fn documents(&mut self, input: &Input, maps_alone: bool, progress: &Progress) -> Result<RawMaps> {
        let bytes = input.bytes();
        let text = utf8(&input.path, bytes)?;
        self.totals.files.push(input.path.clone());
        let before = self.totals.times.len();
        let bare = maps_alone && !has_head(bytes);
        self.totals.input = input.memory();
        let credit = Credit::within(self.totals.memory_left());
        let mut context = ReadContext::new(bytes, &mut self.totals, progress, credit);
        context.maps_alone = maps_alone;
        let kind = match maps_alone && in_folder(&input.path, POINTED_FROM_FOLDER) {
            true => MapKind::PointedFrom,
            false => MapKind::PointsTo,
        };
        let mut base = bytes.len() - trimmed(bytes).len();
        let mut lines = memchr::memchr_iter(b'\n', &bytes[..base]).count();
        while base < bytes.len() {
            // A parser for each document: it counts lines from where it begins, so this stays linear.
            let mut parser = serde_json::Deserializer::from_str(&text[base..]);
            parser.disable_recursion_limit();
            let read = match bare {
                true => MapSeed { context: &mut context, kind, outer: None }.deserialize(&mut parser),
                false => JsonDocument { context: &mut context, top: true }.deserialize(&mut parser),
            };
            let at = |more: &serde_json::Error| offset(&bytes[base..], more.line(), more.column());
            let end = read.and_then(|()| match parser.end() {
                // The next document begins here, if it is one.
                Err(more) if bytes.get(base + at(&more)) == Some(&b'{') => Ok(Some(more)),
                other => other.map(|()| None),
            });
            match end {
                Ok(None) => break,
                Ok(Some(more)) => {
                    base += at(&more);
                    lines += more.line() - 1;
                    context.reached(base);
                }
                Err(error) => {
                    let eof = error.is_eof();
                    let error = diagnose(&error, &mut context, &input.path, bytes, (base, lines));
                    let complete = self.totals.times.len() - before;
                    let Error::Format { offset, .. } = &error else { return Err(error) };
                    if eof && complete > 0 {
                        // Like a dump that was cut off: what is complete is shown.
                        self.warnings.push(Warning {
                            path: input.path.clone(),
                            offset: *offset,
                            message: format!(
                                "the file ends in the middle of a time; the {complete} complete before it are shown"
                            ),
                        });
                        return Ok(RawMaps::default());
                    }
                    return Err(error);
                }
            }
        }
        context.reached(bytes.len());
        let maps = std::mem::take(&mut context.maps);
        input.release(0..bytes.len());
        Ok(maps)
    }

    fn add_folder(&mut self, path: &Path, progress: &Progress) -> Result<()> {
        let files = files_of(path)?;
        let total = files.len();
        let mut first_error = None;
        // By name without endings, the time of each file that has just one.
        let mut single: HashMap<String, usize> = HashMap::new();
        let before = self.totals.times.len();
        for file in files {
            progress.check()?;
            let start = match Input::peek(&file, PEEK) {
                Ok(start) => start,
                Err(error) => {
                    self.skip(&file, &error);
                    continue;
                }
            };
            if !identify(&start) {
                if !is_companion(&file) {
                    let message = "skipped: no memory tree in JSON".to_owned();
                    self.warnings.push(Warning { path: file, offset: None, message });
                }
                continue;
            }
            let at = self.totals.times.len();
            match self.add_file(&file, progress) {
                Ok(()) if self.totals.times.len() == at + 1 => {
                    single.insert(stem(&file), at);
                }
                Ok(()) => {}
                Err(error @ (Error::Format { .. } | Error::Io { .. })) => {
                    match self.totals.times.len() - at {
                        0 => self.skip(&file, &error),
                        n => {
                            let message = format!("only the first {n} times are shown: {error}");
                            self.warnings.push(Warning { path: file, offset: None, message });
                        }
                    }
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if self.totals.times.len() == before {
            return Err(first_error.unwrap_or_else(|| Error::Unusable {
                what: match total {
                    0 => format!("The folder {} is empty", path.display()),
                    n => format!("None of the {n} files in {} is a memory tree in JSON", path.display()),
                },
                remedy: "Put one file per time into it, as docs/memory-tree-json.md shows".into(),
            }));
        }
        for folder in [POINTED_FROM_FOLDER, POINTS_TO_FOLDER] {
            let folder = path.join(folder);
            if folder.is_dir() {
                self.add_maps(&folder, &single, progress)?;
            }
        }
        Ok(())
    }

    fn add_maps(&mut self, folder: &Path, single: &HashMap<String, usize>, progress: &Progress) -> Result<()> {
        for file in files_of(folder)? {
            progress.check()?;
            let Some(&time) = single.get(&stem(&file)) else {
                self.totals.files.push(file);
                let number = self.totals.files.len() - 1;
                self.totals.note_in(number, Note::LooseMap, String::new);
                continue;
            };
            let input = Input::open(&file, progress)?;
            progress.begin(format!("Reading {}", file.display()), input.bytes().len() as u64);
            self.warnings.extend(input.warnings.iter().cloned());
            match self.documents(&input, true, progress) {
                Ok(maps) => {
                    self.totals.add_maps(time, maps);
                }
                Err(error @ (Error::Format { .. } | Error::Io { .. })) => self.skip(&file, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn skip(&mut self, file: &Path, error: &Error) {
        let message = format!("skipped: {error}");
        self.warnings.push(Warning { path: file.to_owned(), offset: None, message });
    }

    /// Puts the times in order and gives the result.
    ///
    /// # Errors
    /// When there is no time, or the work was cancelled.
    pub fn finish(mut self, progress: &Progress) -> Result<JsonSource> {
        progress.begin("Matching the times", 0);
        progress.check()?;
        if self.totals.times.is_empty() {
            return Err(Error::Unusable {
                what: "No memory tree was given".into(),
                remedy: "Give one or more JSON files, or folders of them".into(),
            });
        }
        if !self.totals.live {
            check_paths(self.totals.builder.nodes(), self.totals.builder.path_bytes())?;
        }
        let order = order(&mut self.totals);
        let mut labels = labels(&self.totals);
        let times = &mut self.totals.times;
        let maps: Vec<Arc<RawMaps>> = times.iter_mut().map(|t| std::mem::take(&mut t.maps)).collect();
        let points = order.iter().map(|&i| {
            let (millis, gc) = (times[i].millis.unwrap_or(0), times[i].gc.take());
            (
                i,
                TimePoint {
                    label: std::mem::take(&mut labels[i]),
                    millis,
                    gc,
                    unreachable: times[i].unreachable,
                    sampled: times[i].sampled,
                },
            )
        });
        self.totals.builder.arrange(points.collect());
        let (timeline, keys) = std::mem::take(&mut self.totals.builder).finish_with_keys();
        // Their writers are agents of JVMs, and the format has no field for another runtime.
        let timeline = timeline.with_profile(&JVM);
        if let Some(first) = keys.ambiguous.first() {
            let first = shortened(first, 120);
            self.totals.note(Note::SameKey, keys.ambiguous.len() as u64, Some(format!("{first:?}")));
        }
        let maps = order.iter().map(|&i| (self.totals.times[i].file, Arc::clone(&maps[i]))).collect();
        let references = JsonReferences::resolve(maps, &timeline, &keys, &mut self.totals, progress)?;
        let mut warnings = self.warnings;
        warnings.extend(self.totals.warnings());
        Ok(JsonSource {
            roles: roles(&timeline),
            timeline: Arc::new(timeline),
            warnings,
            recording: None,
            walks: OnceLock::new(),
            references,
            keys: keys.find,
        })
    }
}

/// The roles of a tree, from the top: `Package › Type`. A role above others comes before them, though some of them may lie beside it: types
/// without a package.
fn roles(timeline: &Timeline) -> String {
    let mut roles: Vec<&str> = Vec::new();
    // By role, a bit for each that lies right above it somewhere.
    let mut above: Vec<u16> = Vec::new();
    for node in timeline.nodes().skip(1) {
        let role = timeline.role(node);
        let place = roles.iter().position(|known| *known == role).or_else(|| {
            // Ten kinds tell enough; a tree may have as many as nodes.
            (roles.len() < 10).then(|| {
                roles.push(role);
                above.push(0);
                roles.len() - 1
            })
        });
        let parent = timeline.parent(node).filter(|&parent| parent != NodeId::ROOT).map(|parent| timeline.role(parent));
        let parent = parent.and_then(|role| roles.iter().position(|known| *known == role));
        if let (Some(place), Some(parent)) = (place, parent.filter(|parent| Some(*parent) != place)) {
            above[place] |= 1 << parent;
        }
    }
    let mut left: Vec<usize> = (0..roles.len()).collect();
    let mut ordered = Vec::with_capacity(roles.len());
    while !left.is_empty() {
        let is_top = |place: &usize| left.iter().all(|other| above[*place] & 1 << other == 0);
        // Where roles lie above each other in turn, the one that was met first.
        let next = left.iter().position(is_top).unwrap_or(0);
        ordered.push(shortened(roles[left.remove(next)], 80));
    }
    ordered.join(" › ")
}

fn has_head(bytes: &[u8]) -> bool {
    marked(&bytes[..bytes.len().min(PEEK)])
}

/// The order of the times: by timestamp; those without one stay behind the one before.
fn order(totals: &mut Totals) -> Vec<usize> {
    let times = std::mem::take(&mut totals.times);
    let known = times.iter().filter(|t| t.millis.is_some()).count();
    let mut at = Vec::with_capacity(times.len());
    let mut last = 0;
    for (i, time) in times.iter().enumerate() {
        let place = || match time.place.as_str() {
            "" => format!("document {} of the file", time.position + 1),
            place => place.to_owned(),
        };
        if time.millis.is_none() && known > 0 {
            totals.note_in(time.file, Note::NoTimestamp, place);
        }
        // Files of a folder have no order of their own, the times in one file have.
        if time.position > 0 && i > 0 && time.millis.is_some_and(|m| m < last) {
            totals.note_in(time.file, Note::OutOfOrder, place);
        }
        last = time.millis.unwrap_or(last);
        at.push(last);
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by_key(|&i| at[i]);
    totals.times = times;
    order
}

/// A label for each time: its own, else the name of its file, with a number where the file has several.
fn labels(totals: &Totals) -> Vec<String> {
    let mut in_file = vec![0; totals.files.len()];
    totals.times.iter().for_each(|t| in_file[t.file] += 1);
    let label = |time: &super::totals::Time| match &time.label {
        Some(label) => label.clone(),
        None if in_file[time.file] == 1 => stem(&totals.files[time.file]),
        None => format!("{} #{}", stem(&totals.files[time.file]), time.position + 1),
    };
    totals.times.iter().map(label).collect()
}
