//! Output of the program: the only place that writes to standard output and standard error. A test of the workspace looks for others.
//!
//! Messages hold foreign text (names of threads and files, replies of JVMs, arguments of a script), and go to terminals, to pipes and to
//! the logs of build servers. So each function below writes one line, whatever the message holds, and escapes unprintable characters
//! (`memory_city_heap::printable`). [`print`] writes texts of several lines.

use clap::error::{ContextKind, ContextValue};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::{EscapeForm, PrintableWriter, is_unprintable, line_text};
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Says one line on standard output: a result.
pub fn result(line: impl Display) {
    write_line(io::stdout().lock(), &line.to_string());
}

/// Says one line on standard error.
pub fn status(line: impl Display) {
    write_line(io::stderr().lock(), &line.to_string());
}

/// Says one line on standard error, and that it is this program that says it.
pub fn note(line: impl Display) {
    status(format_args!("memory-city: {line}"));
}

/// Prints a warning, as [`note`].
pub fn warning(line: impl Display) {
    note(format_args!("warning: {line}"));
}

/// Says how to open a recording.
pub fn how_to_open(path: impl Display) {
    status(format_args!("Open it:  memory-city open {path}"));
    status(format_args!("     or:  memory-city report {path}"));
}

/// Most lines of an error: a reply of a stranger's program may be a part of it.
const MOST_ERROR_LINES: usize = 100;

/// Says why the program ends. An error has as many lines as it shows.
pub fn error(error: &Error) {
    let text = format!("memory-city: {error}");
    let mut lines = text.lines();
    lines.by_ref().take(MOST_ERROR_LINES).for_each(status);
    let more = lines.count();
    if more > 0 {
        status(format_args!("... {more} more lines"));
    }
}

fn write_line(out: impl Write, line: &str) {
    let mut text = line_text(line);
    text.push('\n');
    let mut out = PrintableWriter::new(out, EscapeForm::Text);
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints the output of `write` on standard output, with its line feeds and tabs.
///
/// # Errors
/// When it cannot be printed. A closed pipe (`| head`) is no error of ours.
pub fn print(form: EscapeForm, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = PrintableWriter::new(BufWriter::new(io::stdout().lock()), form);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What could not be written is not tried again.
            let _ = out.into_inner().into_parts();
            Ok(())
        }
        result => result.map_err(unprintable),
    }
}

/// Why something cannot be printed.
pub fn unprintable(error: io::Error) -> Error {
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

/// Prints the help, or the error of an argument, from the command line library, and ends the program.
pub fn exit_with(mut error: clap::Error) -> ! {
    // The usage quotes nothing, and has lines.
    let quoted = error.context().filter(|(kind, _)| *kind != ContextKind::Usage);
    let quoted: Vec<(ContextKind, ContextValue)> =
        quoted.filter_map(|(kind, value)| Some((kind, escaped(value)?))).collect();
    for (kind, value) in quoted {
        error.insert(kind, value);
    }
    let (rendered, to_stderr) = (error.render(), error.use_stderr());
    let plain = rendered.to_string();
    let is_clean = !plain.contains(|c: char| c != '\n' && c != '\t' && is_unprintable(c));
    let written = match to_stderr {
        // Colours are written where nothing else is that could be taken for them.
        true if is_clean && has_colours(&io::stderr()) => {
            io::stderr().lock().write_all(rendered.ansi().to_string().as_bytes())
        }
        true => PrintableWriter::new(io::stderr().lock(), EscapeForm::Text).write_all(plain.as_bytes()),
        false if is_clean && has_colours(&io::stdout()) => {
            io::stdout().lock().write_all(rendered.ansi().to_string().as_bytes())
        }
        false => PrintableWriter::new(io::stdout().lock(), EscapeForm::Text).write_all(plain.as_bytes()),
    };
    let _ = written;
    std::process::exit(error.exit_code())
}

fn has_colours(stream: &impl IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// An argument escaped as a part of a line; `None` if nothing changes.
fn escaped(value: &ContextValue) -> Option<ContextValue> {
    let wrong = |text: &str| text.contains(is_unprintable);
    Some(match value {
        ContextValue::String(text) if wrong(text) => ContextValue::String(line_text(text)),
        ContextValue::Strings(all) if all.iter().any(|text| wrong(text)) => {
            ContextValue::Strings(all.iter().map(|text| line_text(text)).collect())
        }
        ContextValue::StyledStr(text) if wrong(&text.to_string()) => {
            ContextValue::StyledStr(line_text(&text.to_string()).into())
        }
        ContextValue::StyledStrs(all) if all.iter().any(|text| wrong(&text.to_string())) => {
            ContextValue::StyledStrs(all.iter().map(|text| line_text(&text.to_string()).into()).collect())
        }
        _ => return None,
    })
}

/// Output of the log: each message is written at once, as one line.
pub struct LogLines;

impl Write for LogLines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        status(String::from_utf8_lossy(event).trim_end_matches('\n'));
        Ok(event.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
