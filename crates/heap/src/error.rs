//! Errors and warnings of the engine: each names the file, the place in it, what was expected and what to do.
//!
//! The text of each is one line (for [`Error::Shown`]: as many as it has), whatever file names and contents it quotes.
//!
//! An [`Error`] ends the work on a file. A [`Warning`] is a limit of a result that exists all the same (a truncated dump, a skipped
//! record). Warnings travel with the result and are shown.

use crate::printable::Printable;
use std::path::{Path, PathBuf};

/// The result of engine functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an input could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {}. {}", Printable(path.display()), Printable(source), Printable(remedy))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
        /// The user's way out.
        remedy: String,
    },
    /// The bytes break the format.
    #[error(
        "{}{}: found {}, expected {}. {}",
        Printable(path.display()), at(*offset), Printable(found), Printable(expected), Printable(remedy)
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Byte offset in the (decompressed) file, where one is known.
        offset: Option<u64>,
        /// The content found.
        found: String,
        /// The expected content.
        expected: String,
        /// The user's way out.
        remedy: String,
    },
    /// The input is well formed but cannot be used as asked.
    #[error("{}. {}", Printable(what), Printable(remedy))]
    Unusable {
        /// The problem.
        what: String,
        /// The user's way out.
        remedy: String,
    },
    /// There is less memory than the work takes. Other work would end in the same way: no caller goes on without the result.
    #[error("{}. {}", Printable(what), Printable(remedy))]
    Memory {
        /// What takes how much, and what limits it.
        what: String,
        /// The user's way out.
        remedy: String,
    },
    /// As [`Error::Unusable`], with lines of context: a place in typed text, or a list of choices.
    #[error("{}:{}\n{}", Printable(what), indented(lines), Printable(remedy))]
    Shown {
        /// The problem.
        what: String,
        /// The lines of context.
        lines: Vec<String>,
        /// The user's way out.
        remedy: String,
    },
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Each in a line of its own, whatever it contains.
fn indented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {}", Printable(line))).collect()
}

fn at(offset: Option<u64>) -> String {
    offset.map(|o| format!(" at byte {o}")).unwrap_or_default()
}

impl Error {
    /// An [`Error::Io`] with the remedy that fits the kind of failure.
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let remedy = match source.kind() {
            K::NotFound => "Check the path",
            K::PermissionDenied => "Make the file readable for this user (chmod +r) or copy it to a place that is",
            K::InvalidInput => "Write what it gives into a file, and name that",
            K::AlreadyExists => "Name another one",
            K::NotADirectory | K::IsADirectory => "Check the path: files and folders are not each other's place",
            K::OutOfMemory => "Raise the limit to memory (ulimit -v), or open a smaller file",
            K::FileTooLarge => "Check the path: this file is another kind than was asked for, or make it smaller",
            K::StorageFull | K::QuotaExceeded => "Make room on that disk and try again",
            _ => "Check the disk and try again",
        };
        Error::Io { path: path.to_owned(), source, remedy: remedy.to_owned() }
    }

    /// The error for a file or folder that could not be created. Its remedy for a lack of permission is another place.
    pub fn not_made(path: &Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        match source.kind() {
            K::PermissionDenied | K::ReadOnlyFilesystem => {
                let remedy = "Name a place in which this user may write".to_owned();
                Error::Io { path: path.to_owned(), source, remedy }
            }
            _ => Error::io(path, source),
        }
    }
}

/// Something a person must know about a result that exists all the same.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// The file it is about. Bytes that are no UTF-8 are shown as replacement characters.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Byte offset in the (decompressed) file, where one is known.
    pub offset: Option<u64>,
    /// The event, and its effect on the result.
    pub message: String,
}

impl Warning {
    /// Prefix of messages about files that were passed over because they are of another kind.
    pub const SKIPPED: &str = "skipped: ";

    /// Prefix of messages about an input that cannot be judged: it is cut off, has no roots, or lacks the data for owners.
    pub const UNJUDGED: &str = "cannot be judged: ";

    /// How the message begins that texts and other values were taken out of the input.
    pub const REDACTED: &str = "the texts in this dump were taken out";

    /// How the reason begins that references were taken out of the input.
    pub const NO_REFERENCES: &str = "the references between objects were taken out";

    /// Prefix of messages about what lies beside a recording that was interrupted, and could be added to it.
    pub const UNFINISHED: &str = "an interrupted recording left ";

    /// True if the input could be completed: everybody sees that in the first lines.
    pub fn is_unfinished(&self) -> bool {
        self.message.starts_with(Warning::UNFINISHED)
    }

    /// Why the input cannot be judged, where it says so.
    pub fn unjudged(&self) -> Option<&str> {
        self.message.strip_prefix(Warning::UNJUDGED)
    }

    /// True if it only reports that a file of another kind was passed over: the result is complete.
    pub fn skips_file(&self) -> bool {
        self.offset.is_none() && self.message.starts_with(Warning::SKIPPED)
    }
}

fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}: {}", Printable(self.path.display()), at(self.offset), Printable(&self.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error as IoError, ErrorKind};

    #[test]
    fn what_is_quoted_begins_no_line() {
        let (path, hostile) = (Path::new("a\n::error::\u{1b}[2J"), "x\n\u{202e}ok".to_owned());
        let text = || hostile.clone();
        let format =
            Error::Format { path: path.into(), offset: Some(1), found: text(), expected: text(), remedy: text() };
        let shown = Error::Shown { what: text(), lines: vec![text(), text()], remedy: text() };
        let warning = Warning { path: path.into(), offset: None, message: text() };
        for (said, lines) in [
            (Error::io(path, IoError::other(text())).to_string(), 1),
            (format.to_string(), 1),
            (Error::Unusable { what: text(), remedy: text() }.to_string(), 1),
            (shown.to_string(), 4),
            (warning.to_string(), 1),
        ] {
            assert_eq!(said.lines().count(), lines, "{said}");
            assert!(!said.contains(|c: char| c != '\n' && crate::printable::is_unprintable(c)), "{said:?}");
        }
    }

    #[test]
    fn what_cannot_be_made_is_made_elsewhere() {
        for (kind, read, made) in [
            (ErrorKind::PermissionDenied, "chmod +r", "may write"),
            (ErrorKind::StorageFull, "Make room", "Make room"),
            (ErrorKind::NotFound, "Check the path", "Check the path"),
        ] {
            let path = Path::new("/a");
            let said = [Error::io(path, IoError::from(kind)), Error::not_made(path, IoError::from(kind))];
            assert!(said[0].to_string().contains(read) && said[1].to_string().contains(made), "{said:?}");
        }
    }
}
