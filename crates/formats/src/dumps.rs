//! Formats whose files are heap dumps: each file is one state, and several files are a series in time order.

use super::answers::DumpStamp;
use super::budget::{MemoryNeed, memory_budget, memory_text};
use super::registry::{FoundFiles, skip};
use super::series::{DumpFacts, DumpFiles, HeapSeries, SnapshotInfo};
use super::state_cache::StateCache;
use super::values::{HeapValues, RecordTables};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::{Input, UnpackedSize};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Profile};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// Reads dumps of one format.
pub(crate) trait DumpFormat: Send + Sync + 'static {
    /// When the dump was taken, milliseconds since the Unix epoch, by its first [`super::registry::START`] bytes.
    ///
    /// # Errors
    /// When it is damaged there, or of a version that is not known.
    fn taken_at(&self, path: &Path, start: &[u8]) -> Result<u64>;

    /// What the runtime of its dumps calls things.
    fn profile(&self) -> &'static Profile {
        &Profile::PLAIN
    }

    /// When each state in a file was taken, in their order: most formats have one in each. As [`DumpFormat::taken_at`].
    ///
    /// # Errors
    /// As there, and when the file cannot be read.
    fn states(&self, path: &Path, start: &[u8]) -> Result<Vec<u64>> {
        Ok(vec![self.taken_at(path, start)?])
    }

    /// Opens one state of a file.
    ///
    /// # Errors
    /// As [`DumpFormat::input`].
    fn input_of(&self, path: &Path, _state: usize, progress: &Progress) -> Result<Input> {
        self.input(path, progress)
    }

    /// Opens a dump.
    ///
    /// # Errors
    /// When it cannot be read.
    fn input(&self, path: &Path, progress: &Progress) -> Result<Input> {
        Input::open(path, progress)
    }

    /// Reads a dump.
    ///
    /// # Errors
    /// When it cannot be used, or the work was cancelled.
    fn load(&self, input: &Input, progress: &Progress) -> Result<HeapState>;

    /// As [`DumpFormat::load`], with the tables to find the values of objects later, if the format has values.
    ///
    /// # Errors
    /// As [`DumpFormat::load`].
    fn load_with_tables(
        &self,
        input: &Input,
        progress: &Progress,
    ) -> Result<(HeapState, Option<Arc<dyn RecordTables>>)> {
        Ok((self.load(input, progress)?, None))
    }

    /// Most bytes of memory for reading a dump of so many bytes (unpacked), beside those bytes; it begins with `start`.
    fn memory(&self, _start: &[u8], bytes: u64, need: MemoryNeed) -> u64 {
        match need {
            MemoryNeed::Graph => bytes.saturating_mul(2),
            MemoryNeed::Owners => bytes.saturating_mul(4),
        }
    }

    /// The latter alone, of a dump whose heap state is there already. May cost a pass over the dump.
    ///
    /// # Errors
    /// As [`DumpFormat::load`].
    fn tables(&self, _input: &Input, _progress: &Progress) -> Result<Option<Arc<dyn RecordTables>>> {
        Ok(None)
    }
}

/// Dumps as a series, ordered by the time they were taken, ties by name.
///
/// # Errors
/// When a named one, or every one in folders, cannot be used.
pub(crate) fn open<F: DumpFormat>(format: F, found: FoundFiles<'_>) -> Result<Box<dyn HeapSeries>> {
    let mut warnings = found.skipped;
    let mut points = Vec::new();
    let mut unusable = None;
    for file in found.files {
        match format.states(&file.path, &file.start) {
            Ok(taken) => {
                let name = file.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                for (state, &millis) in taken.iter().enumerate() {
                    let label = match taken.len() {
                        1 => name.clone(),
                        all => format!("{name} ({} of {all})", state + 1),
                    };
                    let point = SnapshotInfo { label, millis, path: file.path.clone(), gc: None };
                    points.push((point, name.clone(), state));
                }
            }
            Err(error) if file.named => return Err(error),
            Err(error) => {
                warnings.push(skip(&file.path, without_path(&error)));
                unusable.get_or_insert(error);
            }
        }
    }
    if let (true, Some(error)) = (points.is_empty(), unusable) {
        return Err(error);
    }
    points.sort_by(|(a, a_name, a_state), (b, b_name, b_state)| {
        (a.millis, a_name, &a.path, a_state).cmp(&(b.millis, b_name, &b.path, b_state))
    });
    points.dedup_by(|(a, _, a_state), (b, _, b_state)| (&a.path, &a_state) == (&b.path, &b_state));
    let (points, states): (Vec<SnapshotInfo>, Vec<usize>) =
        points.into_iter().map(|(point, _, state)| (point, state)).unzip();
    let stamps = points.iter().map(|_| OnceLock::new()).collect();
    let sizes = points.iter().map(|_| OnceLock::new()).collect();
    Ok(Box::new(DumpSeries { format, points, states, skipped: warnings, stamps, sizes, kept: Mutex::default() }))
}

/// A warning names its file already.
fn without_path(error: &Error) -> String {
    match error {
        Error::Format { found, expected, .. } => format!("found {found}, expected {expected}"),
        other => other.to_string(),
    }
}

type SizeAndStart = (UnpackedSize, Vec<u8>);

struct DumpSeries<F> {
    format: F,
    points: Vec<SnapshotInfo>,
    /// The state in its file, for each point.
    states: Vec<usize>,
    /// Files of folders that were left out.
    skipped: Vec<Warning>,
    /// Identity of each dump at the first look.
    stamps: Vec<OnceLock<Option<DumpStamp>>>,
    /// Unpacked size and first bytes of each dump, if known.
    sizes: Vec<OnceLock<Option<SizeAndStart>>>,
    kept: Mutex<KeptDumps>,
}

#[derive(Default)]
struct KeptDumps {
    states: StateCache,
    /// Facts about the loaded dumps, by index.
    facts: BTreeMap<usize, DumpFacts>,
    /// The warnings that follow from these, until more is known.
    warnings: Option<Vec<Warning>>,
    /// Tables to find values in the loaded dumps, by index: a few MB for twenty thousand classes.
    tables: HashMap<usize, Arc<dyn RecordTables>>,
}

impl<F: DumpFormat> HeapSeries for DumpSeries<F> {
    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn profile(&self) -> &'static Profile {
        self.format.profile()
    }

    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>> {
        if let Some(state) = self.kept().states.get(index) {
            return Ok(state);
        }
        let point = &self.points[index];
        self.check_unchanged(index)?;
        // What is said before it is taken: the size of the file tells about how much it will be.
        let [memory, further] =
            [MemoryNeed::Graph, MemoryNeed::Owners].map(|need| self.estimate(index, need).unwrap_or(0));
        let budget = memory_budget();
        if memory > budget {
            tracing::warn!(
                "{} takes about {} of memory, more than the {} there is for it",
                point.path.display(),
                memory_text(memory),
                memory_text(budget)
            );
        }
        self.kept().states.make_room(further, budget);
        let place = match self.points.len() {
            1 => String::new(),
            all => format!(" ({} of {all})", index + 1),
        };
        let stage = format!("Reading {}{place}, in about {} of memory", point.label, memory_text(memory));
        let input = self.format.input_of(&point.path, self.states[index], progress)?;
        progress.begin(stage, 0);
        let (state, tables) = self.format.load_with_tables(&input, progress)?;
        let state = Arc::new(state);
        let mut kept = self.kept();
        kept.note(index, facts_of(&state));
        kept.tables.extend(tables.map(|tables| (index, tables)));
        kept.states.keep(index, Arc::clone(&state), budget);
        Ok(state)
    }

    fn dumps(&self) -> Option<&dyn DumpFiles> {
        Some(self)
    }

    fn values(&self, index: usize, progress: &Progress) -> Result<Option<HeapValues>> {
        let state = self.load(index, progress)?;
        let input = self.format.input_of(&self.points[index].path, self.states[index], progress)?;
        let known = self.kept().tables.get(&index).cloned();
        let tables = match known {
            Some(tables) => tables,
            None => {
                let Some(tables) = self.format.tables(&input, progress)? else { return Ok(None) };
                let mut kept = self.kept();
                Arc::clone(kept.tables.entry(index).or_insert(tables))
            }
        };
        Ok(Some(HeapValues::new(state, tables.open(input)?)))
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut kept = self.kept();
        let known = kept.warnings.take().unwrap_or_else(|| self.warnings_of(&kept.facts));
        kept.warnings.insert(known).clone()
    }
}

impl<F: DumpFormat> DumpFiles for DumpSeries<F> {
    fn facts(&self, index: usize) -> Option<DumpFacts> {
        self.kept().facts.get(&index).cloned()
    }

    fn stamp(&self, index: usize) -> Option<DumpStamp> {
        self.stamps[index].get_or_init(|| self.stamp_now(index)).clone()
    }

    fn estimate(&self, index: usize, need: MemoryNeed) -> Option<u64> {
        let path = &self.points[index].path;
        let known = self.sizes[index]
            .get_or_init(|| Some((Input::unpacked_size(path).ok()?, Input::peek(path, super::registry::START).ok()?)));
        let (size, start) = known.as_ref()?;
        let memory = self.format.memory(start, size.bytes, need);
        Some(match size.packed {
            // Parts that are unpacked are put together before anything is read.
            true => memory.max(size.bytes).saturating_add(size.bytes),
            false => memory,
        })
    }

    fn recall(&self, index: usize, facts: DumpFacts) {
        let path = &self.points[index].path;
        // The dump may have been somewhere else.
        let warnings = facts.warnings.into_iter().map(|warning| Warning { path: path.clone(), ..warning }).collect();
        self.kept().note(index, DumpFacts { warnings, ..facts });
    }
}

impl KeptDumps {
    fn note(&mut self, index: usize, facts: DumpFacts) {
        self.facts.insert(index, facts);
        self.warnings = None;
    }
}

impl<F> DumpSeries<F> {
    fn kept(&self) -> MutexGuard<'_, KeptDumps> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The warnings of all states that were loaded, and which seem to be of another program. In the order of the series: they do
    /// not depend on which was loaded first.
    fn warnings_of(&self, known: &BTreeMap<usize, DumpFacts>) -> Vec<Warning> {
        let mut warnings = self.skipped.clone();
        let mut add = |w: Warning| {
            if !warnings.contains(&w) {
                warnings.push(w);
            }
        };
        /// Class names of the first dump that has some: others should know most of them.
        type Program<'a> = (usize, HashSet<&'a str>);
        let mut program: Option<Program<'_>> = None;
        for (&index, facts) in known {
            facts.warnings.iter().cloned().for_each(&mut add);
            let names: HashSet<&str> = facts.classes.iter().map(String::as_str).collect();
            if names.len() < 5 {
                continue;
            }
            let Some((first, classes)) = &program else {
                program = Some((index, names));
                continue;
            };
            let shared = names.intersection(classes).count();
            if shared * 4 < names.len().min(classes.len()) {
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
        warnings
    }
}

impl<F: DumpFormat> DumpSeries<F> {
    fn stamp_now(&self, index: usize) -> Option<DumpStamp> {
        DumpStamp::of(&self.points[index].path).map(|stamp| stamp.of_state(self.states[index]))
    }

    /// A dropped state is read again: from the same content, or not at all. Objects have the same numbers then, and earlier results still
    /// hold.
    fn check_unchanged(&self, index: usize) -> Result<()> {
        let path = &self.points[index].path;
        let before = self.stamps[index].get();
        let now = self.stamp_now(index);
        match (before.and_then(Option::as_ref), &now) {
            (Some(before), Some(now)) if !before.is_same_content(now) => Err(Error::Unusable {
                what: format!("{} has changed since it was opened", path.display()),
                remedy: "Open it again".into(),
            }),
            _ => {
                self.stamps[index].get_or_init(|| now);
                Ok(())
            }
        }
    }
}

fn facts_of(state: &HeapState) -> DumpFacts {
    let names = state.types().iter().map(|t| &t.name).filter(|n| !n.ends_with(']'));
    let names = names.filter(|n| !state.profile().packages.is_of_platform(n));
    DumpFacts { warnings: state.warnings().to_vec(), classes: names.cloned().collect() }
}
