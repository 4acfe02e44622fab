//! Scripts: classifiers and filters typed by users while the program runs, in [Rhai](https://rhai.rs).
//!
//! A script is an expression (or several statements, the last of which is the answer) over `o`, the object at hand:
//! ```text
//! // name: Long texts
//! // description: Whether a character array is long
//! // example: long
//! // cardinality: one
//! if o.type == "char[]" && o.length > 1000 { "long" } else { "short" }
//! ```
//! The header is optional: lines of comments before the code. `cardinality` is one of these: `one` (a text or number), `many` (a list of
//! them), `hierarchy` (a list from the general to the particular), `hierarchies` (a list of such lists), `filter` (true or false), or
//! `parts` (a map of names and bytes: the parts of the object, in a row of its own). The answer `()` leaves the object out. `reads` lists
//! the facts that the script reads; without it they are found in the code. [`PROPERTIES`] has the properties of an object.
//!
//! | module | does |
//! |---|---|
//! | `header` | reads the header, and finds the facts that the code reads |
//! | `object` | the object view of scripts |
//! | `run` | runs a script for an object, within limits |
//!
//! Scripts are untrusted: they see objects and nothing else (no files, no clock, no other code), and have limits of operations and memory,
//! see [`ScriptLimits`].

mod header;
mod object;
mod run;

pub use object::{PROPERTIES, PropertyInfo};

use super::registry::{Registry, RegistryError};
use super::{Cardinality, ClassifierMeta, Reads};
use memory_city_heap::regular;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The suffix of script files; the rest of the name is the id of the classifier.
pub const EXTENSION: &str = ".classifier.rhai";

/// The longest script, in bytes.
const LONGEST: usize = 64 << 10;

/// Limits of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Operations for an object. One is about a node of an expression: an operator, a call, a variable.
    pub operations: u64,
    /// Operations for all objects of a heap state.
    pub operations_in_all: u64,
    /// Bytes of a text.
    pub text: usize,
    /// Entries of a list or map, with those inside them.
    pub entries: usize,
    /// Variables at a time.
    pub variables: usize,
    /// Bytes of the name of a group.
    pub name: usize,
    /// Groups of an object.
    pub groups: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        ScriptLimits {
            operations: 1_000_000,
            operations_in_all: 100_000_000_000,
            text: 64 << 10,
            entries: 10_000,
            variables: 100,
            name: 1_000,
            groups: 1_000,
        }
    }
}

/// An error of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The file, or the id of the classifier.
    pub source: String,
    /// The line from 1; 0 for the script as a whole.
    pub line: usize,
    /// In characters from 1; 0 where it is about the whole line.
    pub column: usize,
    /// The error message.
    pub message: String,
    /// The user's way out; may be empty.
    pub remedy: String,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.source)?;
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, ", line {line}")?,
            (line, column) => write!(f, ", line {line}, column {column}")?,
        }
        write!(f, ": {}", self.message)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, ". {}", self.remedy) }
    }
}

impl std::error::Error for ScriptError {}

impl ScriptError {
    /// Recovers the error in the script `source` from a message, if it is about that. For callers that have the message of a grouping ended
    /// by a script, and want to show the place. The remedy stays in the message.
    pub fn told(message: &str, source: &str) -> Option<ScriptError> {
        let told = &message[message.find(&format!("{source}, line "))? + source.len() + ", line ".len()..];
        let number = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (line, rest) = told.split_at(number(told));
        let (column, rest) = match rest.strip_prefix(", column ") {
            Some(rest) => rest.split_at(number(rest)),
            None => ("0", rest),
        };
        Some(ScriptError {
            source: source.to_owned(),
            line: line.parse().ok()?,
            column: column.parse().ok()?,
            message: rest.strip_prefix(": ")?.to_owned(),
            remedy: String::new(),
        })
    }
}

/// A script that has been read.
#[derive(Clone)]
pub struct ClassifierScript {
    meta: ClassifierMeta,
    /// File or id, for messages.
    source: String,
    /// The text as typed.
    text: Arc<str>,
    ast: Arc<rhai::AST>,
    limits: ScriptLimits,
}

impl std::fmt::Debug for ClassifierScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClassifierScript").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl ClassifierScript {
    /// Reads a script. `id` is the name of the classifier in groupings, unless the header has one.
    ///
    /// # Errors
    /// When it is no script, when its header has an unknown line, or when it reads a property that its header does not list.
    pub fn parse(id: &str, text: &str) -> Result<ClassifierScript, ScriptError> {
        Self::parse_from(id, id, text)
    }

    fn parse_from(source: &str, id: &str, text: &str) -> Result<ClassifierScript, ScriptError> {
        let wrong = |(line, column): (usize, usize), message: String, remedy: &str| ScriptError {
            source: source.to_owned(),
            line,
            column,
            message,
            remedy: remedy.to_owned(),
        };
        if text.len() > LONGEST {
            return Err(wrong((0, 0), format!("{} bytes are more than the {LONGEST} of a script", text.len()), ""));
        }
        let header = header::Header::parse(text).map_err(|(line, m, remedy)| wrong((line, 0), m, &remedy))?;
        let limits = ScriptLimits::default();
        let engine = run::engine(&limits);
        let ast = engine.compile(text).map_err(|error| {
            let place = error.position();
            let place = (place.line().unwrap_or(0), place.position().unwrap_or(0));
            wrong(place, error.err_type().to_string(), "")
        })?;
        let reads = header::reads(&ast, header.reads).map_err(|(place, m, remedy)| wrong(place, m, &remedy))?;
        let name = header.name.unwrap_or_else(|| id.to_owned());
        let cardinality = header.cardinality.unwrap_or(Cardinality::One);
        // Parts have bytes, which objects of one class do not share.
        let reads = if cardinality == Cardinality::Transformer { reads | Reads::SIZE } else { reads };
        let mut meta = ClassifierMeta::new(header.id.unwrap_or_else(|| id.to_owned()), name)
            .describe(header.description.unwrap_or_default(), header.example.unwrap_or_default())
            .reads(reads)
            .cardinality(cardinality);
        if cardinality == Cardinality::Hierarchy {
            meta = meta.joined_by(" › ");
        }
        Ok(ClassifierScript { meta, source: source.to_owned(), text: text.into(), ast: Arc::new(ast), limits })
    }

    /// Reads the script in a file; the name of the file, without [`EXTENSION`], is its id.
    ///
    /// # Errors
    /// As [`ClassifierScript::parse`], and when the file cannot be read, is no regular one, or is longer than a script.
    pub fn read(path: &Path) -> Result<ClassifierScript, ScriptError> {
        let source = path.display().to_string();
        let text =
            regular::read(path, LONGEST as u64).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        let text = text.map_err(|error| ScriptError {
            source: source.clone(),
            line: 0,
            column: 0,
            message: format!("it cannot be read: {error}"),
            remedy: String::new(),
        })?;
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let id = name.strip_suffix(EXTENSION).or(name.strip_suffix(".rhai")).unwrap_or(&name);
        Self::parse_from(&source, id, &text)
    }

    /// The script with other limits.
    #[must_use]
    pub fn limited(self, limits: ScriptLimits) -> ClassifierScript {
        ClassifierScript { limits, ..self }
    }

    /// Its description.
    pub fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }
}

/// The scripts of a folder (files that end with [`EXTENSION`]), by name. A folder that is not there has none.
pub fn in_folder(folder: &Path) -> Vec<Result<ClassifierScript, ScriptError>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(EXTENSION));
    files.sort();
    files.iter().map(|path| ClassifierScript::read(path)).collect()
}

/// Saves a script as a file in a folder, which is created if it is missing; from then on [`in_folder`] finds it.
///
/// # Errors
/// When it is no script, or cannot be written.
pub fn save(folder: &Path, id: &str, text: &str) -> Result<PathBuf, ScriptError> {
    let script = ClassifierScript::parse(id, text)?;
    let path = folder.join(format!("{}{EXTENSION}", script.meta.id));
    let written = memory_city_heap::unfinished::write_whole(&path, |mut file| {
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(|e| memory_city_heap::error::Error::io(&path, e))
    });
    match written {
        Ok(_) => Ok(path),
        Err(error) => Err(ScriptError {
            source: path.display().to_string(),
            line: 0,
            column: 0,
            message: format!("it cannot be written: {error}"),
            remedy: "Choose a folder that can be written to".into(),
        }),
    }
}

impl Registry {
    /// Adds a script, or puts it in place of one of the same id: it is known by its id from now on.
    ///
    /// # Errors
    /// When the name is that of a classifier that is no script or of a grouping, or cannot be written in a list.
    pub fn define(&mut self, script: ClassifierScript) -> Result<(), RegistryError> {
        let (meta, text) = (script.meta.clone(), Arc::clone(&script.text));
        self.put_script(meta, text, move |_| Ok(Arc::new(run::ScriptClassifier::new(script.clone()))))
    }

    /// Forgets a script. Returns whether there was one of that name.
    pub fn undefine(&mut self, id: &str) -> bool {
        self.take_script(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_found_in_a_message() {
        for (line, column) in [(3, 14), (7, 0)] {
            let error = ScriptError {
                source: "/a b/x.classifier.rhai".into(),
                line,
                column,
                message: "no such thing: o.tpye, for an object of type a, line 9".into(),
                remedy: String::new(),
            };
            let message = format!("Grouping failed: {error}");
            assert_eq!(ScriptError::told(&message, &error.source), Some(error));
        }
        assert_eq!(ScriptError::told("x: it cannot be read", "x"), None);
        assert_eq!(ScriptError::told("y, line 1: z", "x"), None);
    }
}
