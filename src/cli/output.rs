//! Formats in which commands print: text, JSON and CSV.

use super::refuse;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use memory_city::compared::CompareWish;
use memory_city::terminal::{self, print, unprintable};
use memory_city_analysis::analyses::report::Report;
use memory_city_analysis::analyses::{Description, all_rows};
use memory_city_analysis::group::AskedGrouping;
use memory_city_analysis::tabular::{CsvTexts, RowSource, TEXT_ROWS, write_csv};
use memory_city_analysis::timeline::json::{POINTED_FROM_FOLDER, POINTS_TO_FOLDER};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::EscapeForm;
use memory_city_heap::progress::Progress;
use memory_city_heap::regular;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The paths that a command reads: its data, what that is compared with, and the files of its grouping.
pub fn paths_read(data: &[PathBuf], compare: Option<&CompareWish>, grouping: &AskedGrouping) -> Vec<PathBuf> {
    let compared = match compare {
        Some(CompareWish::Run { data, .. }) => &data[..],
        _ => &[],
    };
    let files = grouping.files().into_iter().map(PathBuf::from);
    data.iter().chain(compared).cloned().chain(files).collect()
}

/// Refuses the output of an option where it would overwrite what is read: an input, a file in a folder of inputs other than a result of
/// before, a dump or a part of a trace anywhere. With `or_within` also a new one in a folder of inputs, where it would be read with them
/// the next time. Looks at each file of these folders.
///
/// # Errors
/// When it is refused.
pub fn refuse_inputs(inputs: &[PathBuf], output: &Path, option: &str, or_within: bool) -> Result<()> {
    let shown = output.display();
    let folder = output.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What cannot be found is not there to be destroyed.
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    let is_whole = |input: &&PathBuf| input.is_dir() && input.canonicalize().is_ok_and(|whole| whole == folder);
    let within = inputs.iter().find(is_whole).filter(|_| or_within);
    let holds = |input: &&PathBuf| files_in(input).iter().any(|file| is_same(file, output));
    let what = if let Some(input) = within {
        format!("{shown} would lie in {}, which is read", input.display())
    } else if inputs.iter().any(|input| is_same(input, output)) {
        format!("{shown} is an input: it would be overwritten")
    } else if !output.is_file() {
        return Ok(());
    } else if let Some(input) = inputs.iter().find(holds).filter(|_| !is_result(output)) {
        format!("{shown} is read with {}: it would be overwritten", input.display())
    } else if memory_city_formats::is_original(output) {
        format!("{shown} is a heap dump or a part of a trace: it would be overwritten")
    } else {
        return Ok(());
    };
    Err(Error::Unusable { what, remedy: format!("Name another place with {option}") })
}

/// Folders in a folder of inputs that are read with it.
const READ_TOO: [&str; 3] = [".walks", POINTED_FROM_FOLDER, POINTS_TO_FOLDER];

/// The files that are read with a folder; of anything else none.
fn files_in(input: &Path) -> Vec<PathBuf> {
    let folders = std::iter::once(input.to_owned()).chain(READ_TOO.map(|name| input.join(name)));
    folders.filter_map(|folder| folder.read_dir().ok()).flatten().flatten().map(|entry| entry.path()).collect()
}

/// Whether two paths lead to one file or folder, by whatever links.
fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    let id = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino()))
    };
    #[cfg(not(unix))]
    let id = |path: &Path| path.canonicalize();
    matches!((id(a), id(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether a file is a page, a JUnit file, a picture, a scene or a table, which no command reads: by its first bytes, tables by their name.
/// An empty one has nothing to lose.
fn is_result(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = regular::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    let begins = |with: &[u8]| start.trim_ascii_start().starts_with(with);
    let is_known = start.is_empty() || begins(b"<") || begins(b"\x89PNG") || begins(b"glTF");
    read.is_ok() && (is_known || path.extension().is_some_and(|end| end == "csv"))
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    Text,
    /// For programs: docs/report-json.md
    Json,
    /// One table for spreadsheets, with plain numbers
    Csv,
}

/// The form in which tables are printed.
#[derive(Args)]
pub struct OutputArgs {
    /// Text for people, JSON for programs, CSV for spreadsheets
    #[arg(long, value_enum, default_value = "text")]
    pub format: OutputFormat,
    /// All rows of every table
    ///
    /// As text a table has 200, or as many as you ask for with top. JSON and CSV have all that were found, and of what is sorted those that
    /// come first.
    #[arg(long)]
    pub all: bool,
    /// CSV: which table, by its id (default: the main one)
    #[arg(long, value_name = "ID")]
    pub table: Option<String>,
    /// CSV: texts as they are, without the apostrophe before what a spreadsheet would compute (= + - @)
    #[arg(long)]
    pub raw_csv: bool,
}

/// The points in time that are looked at.
#[derive(Args)]
pub struct Window {
    /// The first point in time, counted from 1
    #[arg(long, value_name = "K")]
    pub from: Option<usize>,
    /// The last point in time, counted from 1 (default: the last there is)
    #[arg(long, value_name = "K")]
    pub to: Option<usize>,
}

impl OutputArgs {
    /// Ends the program when a table is asked for where all of them are printed.
    pub fn check(&self) {
        if self.table.is_some() && self.format != OutputFormat::Csv {
            let message = "--table chooses what --format csv prints; text and JSON have all tables";
            refuse(ErrorKind::ArgumentConflict, message);
        }
        if self.raw_csv && self.format != OutputFormat::Csv {
            refuse(ErrorKind::ArgumentConflict, "--raw-csv is about --format csv; text and JSON have no formulas");
        }
    }

    /// The values with which an analysis lists all rows, where that is wished; these come before all that is given.
    pub fn all_rows(&self, description: &Description) -> Vec<(&'static str, String)> {
        all_rows(description).filter(|_| self.all).collect()
    }

    /// Rows of a table in the text; `top` as given.
    pub fn text_rows(&self, top: Option<usize>) -> usize {
        if self.all { usize::MAX } else { TEXT_ROWS.max(top.unwrap_or(0)) }
    }

    /// How texts are written as CSV.
    pub fn csv_texts(&self) -> CsvTexts {
        if self.raw_csv { CsvTexts::Raw } else { CsvTexts::Harmless }
    }

    /// Prints a report. CSV has one of its tables; the rest goes to stderr.
    pub fn print(&self, report: &Report, main: &str) -> Result<()> {
        // Nothing is shown while it is printed, and Ctrl+C ends the program.
        let progress = &Progress::new();
        match self.format {
            OutputFormat::Text => print(EscapeForm::Text, |out| report.write_text(out, progress)),
            // Nothing is printed of a report that cannot be printed as a whole.
            OutputFormat::Json => {
                let mut text = Vec::new();
                report.write_json(&mut text).map_err(unprintable)?;
                print(EscapeForm::Json, |out| out.write_all(&text))
            }
            OutputFormat::Csv => {
                let table = report.table(self.table.as_deref().unwrap_or(main))?;
                print(EscapeForm::Text, |out| write_csv(table, self.csv_texts(), out, progress))?;
                say_left_out(table);
                for part in &report.parts {
                    say(part.findings.notes.iter().chain(&part.lacking));
                }
                let others: Vec<&str> =
                    report.tables().map(|t| &*t.header.id).filter(|t| *t != table.header.id).collect();
                if self.table.is_none() && !others.is_empty() {
                    terminal::note(format_args!("there are more tables: --table {}", others.join(", --table ")));
                }
                say(report.sampled);
                say(report.all_warnings().map(|warning| format!("warning: {warning}")));
                Ok(())
            }
        }
    }
}

/// Says on stderr how many rows a table does not list.
pub fn say_left_out(table: &dyn RowSource) {
    if let Some((rows, what)) = table.left_out().filter(|(rows, _)| *rows > 0) {
        let how = if table.can_list_all() { " (--all lists them)" } else { "" };
        terminal::note(format_args!("and {rows} more {what}{how}"));
    }
}

/// Says lines on stderr.
pub fn say(lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    lines.into_iter().for_each(terminal::note);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let (trace, recording) = ([0xee, 0xff, 0xc0, 0, 0, 0, 0, 0], memory_city_wire::MAGIC);
        let dump: &[u8] = b"JAVA PROFILE 1.0.2\0";
        let files: [(&str, &[u8]); 14] = [
            ("dumps/a.hprof", dump),
            ("dumps/a.hprof.p0", b"rest"),
            ("dumps/trees.json", b"{}"),
            ("dumps/city.html", b"\n<!doctype html>"),
            ("dumps/empty.html", b""),
            ("dumps/.walks/1.links", b"walk"),
            ("dumps/points-to-maps/a.json", b"{}"),
            ("other/b.hprof", dump),
            ("other/city.json", b"{}"),
            ("run/trace", &trace),
            ("run/symbols", &trace),
            ("rec/00-000000.mcity", &recording),
            ("rec/01-000000.mcity", &recording),
            ("rec/joined.mcity", &recording),
        ];
        for (name, content) in files {
            std::fs::create_dir_all(at(name).parent().expect("a folder")).expect("made");
            std::fs::write(at(name), content).expect("written");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("other/city.json"), at("dumps/linked.json")).expect("linked");
            std::fs::hard_link(at("dumps/a.hprof"), at("other/hard.bin")).expect("linked");
        }
        let refused = |input: &str, output: &str, or_within: bool| {
            let refused = refuse_inputs(&[at(input)], &at(output), "--output", or_within);
            refused.err().map_or_else(String::new, |error| error.to_string())
        };
        for (input, output, or_within, why) in [
            ("dumps", "dumps/a.hprof", false, "is read with"),
            ("dumps", "dumps/trees.json", false, "is read with"),
            ("dumps", "dumps/.walks/1.links", false, "is read with"),
            ("dumps", "dumps/points-to-maps/a.json", false, "is read with"),
            #[cfg(unix)]
            ("dumps", "other/city.json", false, "is read with"),
            #[cfg(unix)]
            ("dumps/a.hprof", "other/hard.bin", false, "is an input"),
            ("dumps", "dumps/city.html", false, ""),
            ("dumps", "dumps/empty.html", false, ""),
            ("dumps", "dumps/new.json", false, ""),
            ("dumps", "dumps/new.json", true, "would lie in"),
            ("dumps/a.hprof", "dumps/a.hprof", false, "is an input"),
            ("dumps/a.hprof", "dumps/a.hprof.p0", false, "part of a trace"),
            ("dumps/a.hprof", "dumps/trees.json", false, ""),
            ("dumps/a.hprof", "other/b.hprof", false, "heap dump"),
            ("run/trace", "run/symbols", false, "part of a trace"),
            ("rec", "rec/00-000000.mcity", false, "is read with"),
            ("rec/00-000000.mcity", "rec/01-000000.mcity", true, "part of a trace"),
            ("rec/00-000000.mcity", "rec/joined.mcity", true, ""),
        ] {
            let said = refused(input, output, or_within);
            assert!(said.contains(why) && said.is_empty() == why.is_empty(), "{input} to {output}: {said}");
        }
    }
}
