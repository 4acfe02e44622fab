//! The folder of tables: `TABLE/process=NAME/time=1/0.parquet`, which engines read as columns `process` and `time`.

use crate::file::{CompleteFile, TableFile};
use crate::schema::{SqlTable, TABLES};
use crate::{groups, heap, results};
use memory_city_analysis::timeline::Source;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::FileReaders;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The place and the contents of tables.
#[derive(Clone, Debug)]
pub struct TablesRequest<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// The name of the process: tables of others may stand in the same folder.
    pub process: &'a str,
    /// Who may read the files.
    pub readers: FileReaders,
    /// Whether what refers to what is left out.
    pub no_references: bool,
}

/// A table that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTable {
    /// Its name.
    pub name: String,
    /// Its rows, of all times.
    pub rows: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// The tables that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenTables {
    /// By name.
    pub tables: Vec<WrittenTable>,
    /// What they lack of the input, for people.
    pub left_out: Vec<String>,
}

/// The tables of a process; no file has its name yet.
pub(crate) struct TablesFolder<'a> {
    pub request: &'a TablesRequest<'a>,
    complete: Vec<(String, CompleteFile)>,
}

impl TablesFolder<'_> {
    /// Begins the file of a table.
    pub(crate) fn begin(&self, table: &SqlTable, time: Option<usize>) -> Result<TableFile> {
        let columns = table.columns.iter().map(|column| (column.name, column.kind, column.about));
        TableFile::begin(self.path(table.name, time), columns, self.request.readers)
    }

    pub(crate) fn path(&self, table: &str, time: Option<usize>) -> PathBuf {
        let folder = process_folder(self.request, table);
        match time {
            Some(time) => folder.join(format!("time={}", time + 1)).join("0.parquet"),
            None => folder.join("0.parquet"),
        }
    }

    pub(crate) fn add(&mut self, table: &str, file: TableFile) -> Result<()> {
        self.complete.push((table.to_owned(), file.finish()?));
        Ok(())
    }
}

/// Bytes of the name of a process in a folder's name: file systems allow 255 in all.
const LONGEST_NAME: usize = 200;

/// Characters with a meaning in paths are escaped as in addresses, which engines take back.
fn process_folder(request: &TablesRequest<'_>, table: &str) -> PathBuf {
    let mut name = String::from("process=");
    for c in request.process.chars() {
        let from = name.len();
        match c {
            '/' | '\\' | '%' | '=' | ':' | '\0'..='\u{1f}' | '\u{7f}' => name.push_str(&format!("%{:02X}", c as u32)),
            c => name.push(c),
        }
        if name.len() > LONGEST_NAME {
            name.truncate(from);
            break;
        }
    }
    request.folder.join(table).join(name)
}

/// Whether a file lies below a folder. Folders alone are left by a run that was cancelled.
fn has_files(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return folder.is_file() };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(of) if of.is_dir() => has_files(&entry.path()),
        _ => true,
    })
}

/// Writes the tables of an input. No file has its name before all are complete.
///
/// # Errors
/// When the folder has tables of this process, a heap state cannot be loaded again, the system refuses, or the work was cancelled.
pub fn write(source: &Source, request: &TablesRequest<'_>, progress: &Progress) -> Result<WrittenTables> {
    let names = TABLES.iter().map(|table| table.name).chain(results::names());
    if let Some(there) = names.map(|name| process_folder(request, name)).find(|folder| has_files(folder)) {
        return Err(Error::Unusable {
            what: format!("{} is there already", there.display()),
            remedy: "Name this process with --process, or give another folder".to_owned(),
        });
    }
    let mut folder = TablesFolder { request, complete: Vec::new() };
    let mut left_out = heap::write(source, &mut folder, progress)?;
    groups::write(source, &mut folder, progress)?;
    left_out.extend(results::write(source, &mut folder, progress)?);
    progress.check()?;
    let mut sums: BTreeMap<String, WrittenTable> = BTreeMap::new();
    for (name, file) in folder.complete {
        file.place.complete(&file.path)?;
        let sum = sums.entry(name.clone()).or_insert(WrittenTable { name, rows: 0, bytes: 0 });
        sum.rows += file.rows;
        sum.bytes += file.bytes;
    }
    Ok(WrittenTables { tables: sums.into_values().collect(), left_out })
}
