//! Errors of traces: each names the file, the place in it, the content found and the content expected.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// The result of reading or writing a trace.
pub type WireResult<T> = Result<T, WireError>;

/// Why a trace cannot be read or written.
#[derive(Debug)]
pub enum WireError {
    /// The operating system refused.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The bytes break the format.
    Format {
        /// The file.
        path: PathBuf,
        /// Offset of the chunk, or of the byte, in the file.
        offset: u64,
        /// The content found.
        found: String,
        /// The expected content.
        expected: String,
    },
    /// A value does not fit into the format. The trace is unchanged.
    TooLarge {
        /// The kind of value, and its size.
        what: String,
    },
    /// A walk has no room within the bound, even where nothing else is left: it is left out, and counted.
    WalkTooLarge {
        /// The least bound within which it would have one, bytes.
        needed: u64,
        /// The bound, bytes.
        most: u64,
    },
    /// The trace has reached its bound, and removing old parts does not make enough room: nothing more is written.
    Full {
        /// The bound, bytes.
        most: u64,
    },
}

impl WireError {
    pub(crate) fn io(path: &Path, source: io::Error) -> WireError {
        WireError::Io { path: path.to_owned(), source }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Io { path, source } => write!(f, "{}: {source}", path.display()),
            WireError::Format { path, offset, found, expected } => {
                write!(f, "{} at byte {offset}: found {found}, expected {expected}", path.display())
            }
            WireError::TooLarge { what } => write!(f, "{what} does not fit into a trace"),
            WireError::WalkTooLarge { needed, most } => {
                write!(f, "a walk needs a bound of {needed} bytes, and the trace has one of {most}")
            }
            WireError::Full { most } => write!(f, "the trace has reached its bound of {most} bytes"),
        }
    }
}

impl std::error::Error for WireError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WireError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
