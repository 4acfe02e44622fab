//! A fleet: the files of places of many processes, read for what leaks in which of them, and since when.
//!
//! Memory follows the processes and what leaks in them, not the files. A summary of each file stands as JSON in its metadata: the end of the
//! file is read, and no Parquet is parsed.

use crate::places::{PlacesSummary, SUMMARY_START};
use memory_city_analysis::analyses::report::{Report, ReportPart};
use memory_city_analysis::analyses::{Arguments, Description, Findings, TimeWindow};
use memory_city_analysis::tabular::{
    Cell, CellKind, Column, ResultTable, Row, TEXT_ROWS, TableHeader, count_text, several,
};
use memory_city_analysis::timeline::Unit;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::regular;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes at the end of a file in which its summary is looked for.
const TAIL: u64 = 1 << 20;
/// The longest summary: the names in it are kept.
const LONGEST: usize = 1 << 16;
/// Files that are read before the next are looked at.
const TOGETHER: usize = 1024;
/// Processes that are named beside a place.
const NAMED: usize = 3;

/// When the heap was as a file says, and when the file was written: of two files the later one counts.
type FileTime = (u64, u64);

/// The last that is known of a process.
#[derive(Clone, Debug, Default)]
struct FleetProcess {
    files: u64,
    at: FileTime,
    last: PlacesSummary,
}

/// A finding in a process.
#[derive(Clone, Debug)]
struct FoundIn {
    since: u64,
    /// That of the last file with it.
    at: FileTime,
    grown: i64,
}

#[derive(Default)]
struct Fleet {
    processes: BTreeMap<String, FleetProcess>,
    /// By the name of the place, and process.
    found: BTreeMap<String, BTreeMap<String, FoundIn>>,
    files: u64,
    unread: Vec<Warning>,
}

/// Reads all files of places below a folder. `since`, in milliseconds since 1970, tells what is new.
///
/// # Errors
/// When the folder cannot be read, has no such file, or the work was cancelled. A file or a folder below that cannot be read is a warning.
pub fn fleet(folder: &Path, since: Option<u64>, progress: &Progress) -> Result<Report> {
    let mut fleet = Fleet::default();
    let files = fleet.parquet_files(folder, progress)?;
    progress.begin("Reading places", files.len() as u64);
    for part in files.chunks(TOGETHER) {
        progress.check()?;
        let read: Vec<std::result::Result<Option<PlacesSummary>, String>> =
            part.par_iter().map(|file| summary(file)).collect();
        for (file, found) in part.iter().zip(read) {
            match found {
                Ok(Some(found)) => fleet.add(found),
                // Another table.
                Ok(None) => {}
                Err(message) => fleet.unread.push(Warning { path: file.clone(), offset: None, message }),
            }
        }
        progress.advance(part.len() as u64);
    }
    if fleet.files == 0 {
        return Err(Error::Unusable {
            what: format!("{} has no file of places", folder.display()),
            remedy: "`memory-city check DUMPS --places FILE.parquet --process NAME` writes one".to_owned(),
        });
    }
    Ok(fleet.report(since))
}

/// The summary at the end of a file; `None` for another table.
fn summary(path: &Path) -> std::result::Result<Option<PlacesSummary>, String> {
    let told = |error: std::io::Error| error.to_string();
    let mut file = regular::open(path).map_err(told)?;
    let length = file.metadata().map_err(told)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).map_err(told)?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).map_err(told)?;
    if !tail.ends_with(b"PAR1") {
        return Err("cut off, or no Parquet file: its end is missing".to_owned());
    }
    // Behind all names of the program; inside its own texts quotation marks are escaped.
    let start = SUMMARY_START.as_bytes();
    let Some(at) = tail.windows(start.len()).rposition(|bytes| bytes == start) else { return Ok(None) };
    let mut values = serde_json::Deserializer::from_slice(&tail[at..]).into_iter::<PlacesSummary>();
    match values.next() {
        Some(Ok(_)) if values.byte_offset() > LONGEST => Err(format!("its summary is longer than {LONGEST} bytes")),
        Some(Ok(found)) => Ok(Some(found)),
        Some(Err(error)) => Err(format!("its summary cannot be read: {error}")),
        None => Ok(None),
    }
}

/// The name of a place without the type of its collection, which may change while the leak stays.
fn place_of(signature: &str) -> &str {
    signature.rsplit_once(" (").filter(|(_, of)| of.ends_with(')')).map_or(signature, |(place, _)| place)
}

impl Fleet {
    /// All files of that name below a folder, in the order of their paths. Links are not followed.
    fn parquet_files(&mut self, top: &Path, progress: &Progress) -> Result<Vec<PathBuf>> {
        let (mut folders, mut files) = (vec![top.to_owned()], Vec::new());
        while let Some(folder) = folders.pop() {
            progress.check()?;
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if folder == top => return Err(Error::io(&folder, error)),
                Err(error) => {
                    self.unread.push(Warning { path: folder, offset: None, message: error.to_string() });
                    continue;
                }
            };
            for entry in entries.flatten() {
                let Ok(of) = entry.file_type() else { continue };
                match entry.path() {
                    path if of.is_dir() => folders.push(path),
                    path if of.is_file() && path.extension().is_some_and(|end| end == "parquet") => files.push(path),
                    _ => {}
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn add(&mut self, file: PlacesSummary) {
        self.files += 1;
        let at = (file.taken_at, file.written_at);
        let mut grown: BTreeMap<&str, i64> = BTreeMap::new();
        for finding in &file.found {
            let sum = grown.entry(place_of(&finding.signature)).or_default();
            *sum = sum.saturating_add(change(finding.bytes));
        }
        for (place, grown) in grown {
            let of = self.found.entry(place.to_owned()).or_default();
            let found = of.entry(file.process.clone()).or_insert(FoundIn { since: at.0, at, grown });
            found.since = found.since.min(at.0);
            if at >= found.at {
                (found.at, found.grown) = (at, grown);
            }
        }
        let process = self.processes.entry(file.process.clone()).or_default();
        process.files += 1;
        if at >= process.at {
            (process.at, process.last) = (at, file);
        }
    }

    fn report(self, since: Option<u64>) -> Report {
        let has = |kinds: &[&str]| self.processes.values().filter(|of| kinds.contains(&&*of.last.verdict)).count();
        let (leaking, well) = (has(&["LEAK", "GROWS"]), has(&["OK"]));
        let mut answers = vec![format!(
            "{} of {} {}.",
            count_text(leaking as u64),
            several(self.processes.len() as u64, "process", "processes"),
            if leaking == 1 { "leaks or grows" } else { "leak or grow" }
        )];
        let unknown = self.processes.len() - leaking - well;
        if unknown > 0 {
            answers.push(format!("{} could not be judged.", several(unknown as u64, "process", "processes")));
        }
        if !self.unread.is_empty() {
            let unread = several(self.unread.len() as u64, "file or folder", "files or folders");
            answers.push(format!("{unread} could not be read, see the warnings."));
        }
        let places = self.places(since);
        let first = places.rows.first().map(|row| &row.cells[..]);
        if let Some([Cell::Text(place), Cell::Number(processes @ 2..), ..]) = first {
            answers.push(format!("In most processes: {place} ({}).", count_text(*processes)));
        }
        let notes = vec![format!("From {}.", several(self.files, "file of places", "files of places"))];
        let tables = vec![places, self.processes()];
        let part = ReportPart {
            analysis: Description {
                id: "fleet",
                title: "Fleet",
                explanation: "What leaks in which processes, and since when",
                needs: &[],
                parameters: Vec::new(),
            },
            arguments: Arguments::default(),
            findings: Findings { answers, tables, notes, ..Findings::default() },
            rank: None,
            lacking: None,
            brief: false,
            early: false,
            outermost: false,
        };
        Report {
            grouping: String::new(),
            window: TimeWindow { from: 0, to: 0 },
            sampled: None,
            verdict: None,
            parts: vec![part],
            warnings: self.unread,
            text_rows: TEXT_ROWS,
        }
    }

    /// What leaks, that of most processes first. A process counts if its last file has it.
    fn places(&self, since: Option<u64>) -> ResultTable {
        let mut rows: Vec<(usize, i64, Row)> = Vec::new();
        for (place, by_process) in &self.found {
            let last = |process: &String| self.processes.get(process);
            let now: Vec<(&String, &FoundIn)> = by_process
                .iter()
                .filter(|(process, found)| last(process).is_some_and(|of| of.at == found.at))
                .collect();
            if now.is_empty() {
                continue;
            }
            let grown = now.iter().fold(0i64, |sum, (_, found)| sum.saturating_add(found.grown));
            let first = by_process.values().map(|found| found.since).min().unwrap_or(0);
            let versions = now.iter().filter_map(|(process, _)| Some(&*last(process)?.last.version));
            let mut versions: Vec<&str> = versions.filter(|version| !version.is_empty()).collect();
            versions.sort_unstable();
            versions.dedup();
            let mut named: Vec<&str> = now.iter().take(NAMED).map(|(process, _)| &***process).collect();
            let more = format!("and {} more", count_text(now.len().saturating_sub(NAMED) as u64));
            if now.len() > NAMED {
                named.push(&more);
            }
            let is_new = |since| Cell::Text(if first >= since { "new" } else { "" }.to_owned());
            let cells = vec![
                Cell::Text(place.clone()),
                Cell::Number(now.len() as u64),
                Cell::Change(grown),
                Cell::Time(first),
                since.map_or(Cell::Empty, is_new),
                Cell::Text(versions.join(", ")),
                Cell::Text(named.join(", ")),
            ];
            rows.push((now.len(), grown, Row { cells, ..Row::default() }));
        }
        rows.sort_by_key(|(processes, grown, _)| Reverse((*processes, *grown)));
        let text = |id: &str, title: &str, about: &str| Column::new(id, title, CellKind::Text, about);
        let count = CellKind::Number(Unit::Count);
        let columns = vec![
            text("place", "Place", "The name of the leak, the same in every process, run and version"),
            Column::new("processes", "Processes", count, "Processes whose last file has it"),
            Column::new("grown", "Grew by", CellKind::Change(Unit::Bytes), "Growth in their last files together"),
            Column::new("since", "First seen", CellKind::Time, "When a file had it first"),
            text("new", "New", "Whether it was first seen on the day of --since or later"),
            text("versions", "Versions", "The versions of these processes"),
            text("in", "In", "Some of them"),
        ];
        ResultTable {
            header: TableHeader { id: "places".into(), title: "What leaks".into(), columns, ..TableHeader::default() },
            rows: rows.into_iter().map(|(_, _, row)| row).collect(),
            left_out: None,
            empty_text: "Nothing leaks in the last file of any process.".into(),
        }
    }

    /// All processes: those first that leak, and of these the one that grew most.
    fn processes(&self) -> ResultTable {
        let mut all: Vec<(&String, &FleetProcess)> = self.processes.iter().collect();
        let leaks = |of: &FleetProcess| ["LEAK", "GROWS"].contains(&&*of.last.verdict);
        all.sort_by_key(|(_, of)| Reverse((leaks(of), change(of.last.heap))));
        let row = |(process, of): (&String, &FleetProcess)| Row {
            cells: vec![
                Cell::Text(process.clone()),
                Cell::Text(of.last.verdict.clone()),
                Cell::Text(of.last.headline.clone()),
                of.last.heap.1.map_or(Cell::Empty, Cell::Number),
                of.last.heap.0.map_or(Cell::Empty, |_| Cell::Change(change(of.last.heap))),
                Cell::Text(of.last.version.clone()),
                Cell::Time(of.at.0),
                Cell::Number(of.files),
            ],
            ..Row::default()
        };
        let text = |id: &str, title: &str, about: &str| Column::new(id, title, CellKind::Text, about);
        let grown = "In its last file, from the first point in time";
        let columns = vec![
            text("process", "Process", "Its name"),
            text("verdict", "Verdict", "That of its last file"),
            text("headline", "Why", "The same in a sentence"),
            Column::new(
                "heap",
                "Heap",
                CellKind::Number(Unit::Bytes),
                "Bytes that roots reach at the end of its last file",
            ),
            Column::new("grown", "Grew by", CellKind::Change(Unit::Bytes), grown),
            text("version", "Version", "The version of its program"),
            Column::new("taken", "Last seen", CellKind::Time, "When the heap of its last file was taken"),
            Column::new("files", "Files", CellKind::Number(Unit::Count), "Files of it"),
        ];
        ResultTable {
            header: TableHeader {
                id: "processes".into(),
                title: "Processes".into(),
                columns,
                ..TableHeader::default()
            },
            rows: all.into_iter().map(row).collect(),
            left_out: None,
            empty_text: "None.".into(),
        }
    }
}

/// The last amount less the first.
fn change((first, last): (Option<u64>, Option<u64>)) -> i64 {
    let amount = |of: Option<u64>| i64::try_from(of.unwrap_or(0)).unwrap_or(i64::MAX);
    amount(last).saturating_sub(amount(first))
}
