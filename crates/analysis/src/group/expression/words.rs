//! Names and values in a grouping, and errors about them.

use std::borrow::Cow;
use std::fmt;

/// Why a text is no grouping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupingError {
    /// The text.
    pub text: String,
    /// Where it goes wrong: a byte of the text, or its end.
    pub at: usize,
    /// The error message.
    pub message: String,
    /// The words that could stand there, in the order in which they are offered.
    pub known: Vec<String>,
    /// The known word most similar to the typed one.
    pub nearest: Option<String>,
}

impl GroupingError {
    /// Where it goes wrong, in characters from 1.
    pub fn character(&self) -> usize {
        self.text.get(..self.at).map_or(0, |before| before.chars().count()) + 1
    }

    /// The user's way out, for people.
    pub fn remedy(&self) -> String {
        let nearest = self.nearest.iter().map(|n| format!("Did you mean {n}? "));
        let known = (!self.known.is_empty()).then(|| format!("Known are: {}", self.known.join(", ")));
        nearest.chain(known).collect()
    }
}

impl fmt::Display for GroupingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, character {}: {}", self.text, self.character(), self.message)?;
        match self.remedy() {
            remedy if remedy.is_empty() => Ok(()),
            remedy => write!(f, ". {remedy}"),
        }
    }
}

impl std::error::Error for GroupingError {}

/// Characters of names.
pub(crate) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

/// A value as it is written: in quotation marks where it could be taken for something else.
pub(crate) fn quoted(value: &str) -> Cow<'_, str> {
    // What is written shortest stands in parentheses, where brackets close nothing.
    if !value.contains([',', '(', ')', '"', '\\']) && !value.contains(" and ") && value.trim() == value {
        return value.into();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")).into()
}

/// The known name most similar to a name, if any is similar.
pub(super) fn nearest(name: &str, known: &[String]) -> Option<String> {
    let name = name.to_lowercase();
    let score = |k: &&String| strsim::jaro_winkler(&name, &k.to_lowercase());
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(&best) > 0.7).then(|| best.clone())
}
