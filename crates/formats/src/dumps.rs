//! Formats whose files are heap dumps: each file is one state, and files together are a series in time order.

use super::kept::KeptStates;
use super::registry::{FoundFiles, skip};
use super::series::{DumpFacts, HeapSeries, SnapshotInfo};
use super::values::{HeapValues, RecordTables};
use memory_city_heap::HeapState;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Reads dumps of one format.
pub(crate) trait DumpFormat: Send + Sync + 'static {
    /// When the dump was taken, milliseconds since the Unix epoch, by its first [`super::registry::START`] bytes.
    ///
    /// # Errors
    /// When it is damaged there, or of a version that is not known.
    fn taken_at(&self, path: &Path, start: &[u8]) -> Result<u64>;

    /// Reads a dump.
    ///
    /// # Errors
    /// When it cannot be used, or the work was cancelled.
    fn load(&self, input: &Input, progress: &Progress) -> Result<HeapState>;

    /// As [`DumpFormat::load`], and what is needed to find the values of objects later, where the format has values.
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
        match format.taken_at(&file.path, &file.start) {
            Ok(millis) => {
                let label = file.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                points.push(SnapshotInfo { label, millis, path: file.path, gc: None });
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
    points.sort_by(|a, b| (a.millis, &a.label, &a.path).cmp(&(b.millis, &b.label, &b.path)));
    points.dedup_by(|a, b| a.path == b.path);
    Ok(Box::new(DumpSeries { format, points, warnings: Mutex::new(warnings), kept: Mutex::default() }))
}

/// A warning names its file already.
fn without_path(error: &Error) -> String {
    match error {
        Error::Format { found, expected, .. } => format!("found {found}, expected {expected}"),
        other => other.to_string(),
    }
}

struct DumpSeries<F> {
    format: F,
    points: Vec<SnapshotInfo>,
    warnings: Mutex<Vec<Warning>>,
    kept: Mutex<KeptDumps>,
}

#[derive(Default)]
struct KeptDumps {
    states: KeptStates,
    /// Class names of the first loaded dump: others should know most of them.
    program: Option<(usize, HashSet<String>)>,
    /// What is known of the dumps that were loaded, by index.
    facts: HashMap<usize, DumpFacts>,
    /// What finds values in the dumps that were loaded, by index: a few MB for twenty thousand classes.
    tables: HashMap<usize, Arc<dyn RecordTables>>,
}

impl<F: DumpFormat> HeapSeries for DumpSeries<F> {
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
        let (state, tables) = self.format.load_with_tables(&input, progress)?;
        let state = Arc::new(state);
        let mut kept = self.kept.lock().unwrap_or_else(|e| e.into_inner());
        self.note(&mut kept, index, facts_of(&state));
        kept.tables.extend(tables.map(|tables| (index, tables)));
        kept.states.keep(index, Arc::clone(&state));
        Ok(state)
    }

    fn facts(&self, index: usize) -> Option<DumpFacts> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner()).facts.get(&index).cloned()
    }

    fn recall(&self, index: usize, facts: DumpFacts) {
        let path = &self.points[index].path;
        // The dump may have been somewhere else.
        let warnings = facts.warnings.into_iter().map(|warning| Warning { path: path.clone(), ..warning }).collect();
        let mut kept = self.kept.lock().unwrap_or_else(|e| e.into_inner());
        self.note(&mut kept, index, DumpFacts { warnings, ..facts });
    }

    fn values(&self, index: usize, progress: &Progress) -> Result<Option<HeapValues>> {
        let state = self.load(index, progress)?;
        let input = Input::open(&self.points[index].path, progress)?;
        let known = self.kept.lock().unwrap_or_else(|e| e.into_inner()).tables.get(&index).cloned();
        let tables = match known {
            Some(tables) => tables,
            None => {
                let Some(tables) = self.format.tables(&input, progress)? else { return Ok(None) };
                let mut kept = self.kept.lock().unwrap_or_else(|e| e.into_inner());
                Arc::clone(kept.tables.entry(index).or_insert(tables))
            }
        };
        Ok(Some(HeapValues::new(state, tables.open(input)?)))
    }

    fn warnings(&self) -> Vec<Warning> {
        self.warnings.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

impl<F> DumpSeries<F> {
    /// Collects the warnings of a state, and says when it seems to be of another program.
    fn note(&self, kept: &mut KeptDumps, index: usize, facts: DumpFacts) {
        let mut warnings = self.warnings.lock().unwrap_or_else(|e| e.into_inner());
        let mut add = |w: Warning| {
            if !warnings.contains(&w) {
                warnings.push(w);
            }
        };
        facts.warnings.iter().cloned().for_each(&mut add);
        let names: HashSet<String> = facts.classes.iter().cloned().collect();
        kept.facts.insert(index, facts);
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

fn facts_of(state: &HeapState) -> DumpFacts {
    let names = state.types().iter().map(|t| &t.name).filter(|n| !n.ends_with(']'));
    DumpFacts { warnings: state.warnings().to_vec(), classes: names.filter(|n| own(n)).cloned().collect() }
}

/// Whether a class belongs to the program rather than to the platform every program has.
fn own(name: &str) -> bool {
    !["java.", "javax.", "jdk.", "sun.", "com.sun.", "android.", "dalvik."].iter().any(|p| name.starts_with(p))
}
