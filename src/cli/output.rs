//! What commands print: in which form, and what happens when it cannot be printed.

use super::Cli;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, ValueEnum};
use memory_city_analysis::analyses::report::Report;
use memory_city_analysis::tabular::{RowSource, write_csv};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::io::{self, BufWriter, Write};
use std::path::Path;

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
    /// CSV: which table, by its id (default: the main one)
    #[arg(long, value_name = "ID")]
    pub table: Option<String>,
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
            Cli::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
    }

    /// Prints a report. Of CSV that is one table; what else there is to say goes to stderr.
    pub fn print(&self, report: &Report, main: &str) -> Result<()> {
        // Nothing is shown while it is printed, and Ctrl+C ends the program.
        let progress = &Progress::new();
        match self.format {
            OutputFormat::Text => print(|out| report.write_text(out, progress)),
            // Nothing is printed of a report that cannot be printed as a whole.
            OutputFormat::Json => {
                let mut text = Vec::new();
                report.write_json(&mut text).map_err(unprintable)?;
                print(|out| out.write_all(&text))
            }
            OutputFormat::Csv => {
                let table = report.table(self.table.as_deref().unwrap_or(main))?;
                print(|out| write_csv(table, out, progress))?;
                say_left_out(table);
                for part in &report.parts {
                    say(part.findings.notes.iter().chain(&part.lacking));
                }
                let others: Vec<&str> =
                    report.tables().map(|t| &*t.header.id).filter(|t| *t != table.header.id).collect();
                if self.table.is_none() && !others.is_empty() {
                    eprintln!("memory-city: there are more tables: --table {}", others.join(", --table "));
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
        eprintln!("memory-city: and {rows} more {what}");
    }
}

/// Says lines on stderr.
pub fn say(lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    lines.into_iter().for_each(|line| eprintln!("memory-city: {line}"));
}

/// Prints on stdout what `write` writes.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        // A closed pipe (`| head`) is no error of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What could not be written is not tried again.
            let _ = out.into_parts();
            Ok(())
        }
        result => result.map_err(unprintable),
    }
}

fn unprintable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::Interrupted => Error::Cancelled,
        // The system refused: a full disk, say.
        _ if error.raw_os_error().is_some() => Error::io(Path::new("standard output"), error),
        _ => Error::Unusable {
            what: format!("The result could not be printed: {error}"),
            remedy: "Take it in another form: --format text".into(),
        },
    }
}
