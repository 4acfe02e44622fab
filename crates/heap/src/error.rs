//! Errors and warnings of the engine: each names the file, the place in it, what was expected and what to do.
//!
//! An [`Error`] ends the work on a file. A [`Warning`] is what a person must know about a result that is
//! there all the same (a truncated dump, a skipped record); warnings travel with the result and are shown.

use std::path::{Path, PathBuf};

/// The result of engine functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an input could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {source}. {remedy}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
        /// What the user can do.
        remedy: String,
    },
    /// The bytes are not what the format says they should be.
    #[error("{}{}: found {found}, expected {expected}. {remedy}", path.display(), at(*offset))]
    Format {
        /// The file.
        path: PathBuf,
        /// Byte offset in the (decompressed) file, where one is known.
        offset: Option<u64>,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
        /// What the user can do.
        remedy: String,
    },
    /// The input is well formed but cannot be used as asked.
    #[error("{what}. {remedy}")]
    Unusable {
        /// What is wrong.
        what: String,
        /// What the user can do.
        remedy: String,
    },
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
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
            K::AlreadyExists => "Name another one",
            K::NotADirectory | K::IsADirectory => "Check the path: files and folders are not each other's place",
            K::StorageFull | K::QuotaExceeded => "Make room on that disk and try again",
            _ => "Check the disk and try again",
        };
        Error::Io { path: path.to_owned(), source, remedy: remedy.to_owned() }
    }

    /// The same of a file or folder that was to be made: where that is not allowed, it is another place that helps.
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
    /// The file it is about. As text its name is written with replacement characters where it is no UTF-8.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Byte offset in the (decompressed) file, where one is known.
    pub offset: Option<u64>,
    /// What happened, and what it means for the result.
    pub message: String,
}

impl Warning {
    /// How messages about files begin that are passed over since they are none of what was asked for.
    pub const SKIPPED: &str = "skipped: ";

    /// Whether it only says that a file of another kind was passed over: what is shown is complete.
    pub fn skips_file(&self) -> bool {
        self.offset.is_none() && self.message.starts_with(Warning::SKIPPED)
    }
}

fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}: {}", self.path.display(), at(self.offset), self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error as IoError, ErrorKind};

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
