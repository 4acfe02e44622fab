//! Filters of rows: comparisons of columns with numbers and texts, joined by `and`, `or` and `not`.
//!
//! ```text
//! bytes > 1MB and growth > 20%
//! (name ~ "HashMap" or path ~ "java.util") and not role = "Package"
//! ```
//!
//! A filter prints as text that is read back as the same filter.

use crate::grammar::{FilterComparison, in_quotes};
use crate::units::{SUFFIXES, SuffixKind};
use std::fmt;

/// A condition on rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// A column against a number.
    Compare {
        /// Id of the column.
        column: String,
        /// How they are to compare: column first.
        comparison: FilterComparison,
        /// The number.
        number: Quantity,
    },
    /// A column against a text.
    Text {
        /// `name`, `role`, or `path`: any name from the root to the node.
        column: String,
        /// How they are to compare.
        matching: Matching,
        /// The text.
        text: String,
    },
    /// Negation.
    Not(Box<Filter>),
    /// Conjunction.
    And(Vec<Filter>),
    /// Disjunction.
    Or(Vec<Filter>),
}

/// How a text is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// `~`: it contains the text, ignoring case; a text with `*` or `?` must match all of it, or the rest after a dot.
    Contains,
    /// `!~`
    ContainsNot,
    /// `=`: it is the text, letter by letter.
    Is,
    /// `!=`
    IsNot,
}

/// A number with its suffix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    pub(super) number: f64,
    /// Place in [`SUFFIXES`].
    pub(super) suffix: usize,
}

impl Quantity {
    /// The number in the unit of columns: bytes, objects, percent, milliseconds.
    pub fn value(self) -> f64 {
        self.number * SUFFIXES[self.suffix].1
    }

    pub(super) fn kind(self) -> SuffixKind {
        SUFFIXES[self.suffix].2
    }
}

impl Matching {
    fn text(self) -> &'static str {
        match self {
            Matching::Contains => "~",
            Matching::ContainsNot => "!~",
            Matching::Is => "=",
            Matching::IsNot => "!=",
        }
    }
}

impl Filter {
    /// Rows whose name contains a text, ignoring case: the filter of a search box.
    pub fn name_contains(text: &str) -> Filter {
        Filter::Text { column: "name".into(), matching: Matching::Contains, text: text.into() }
    }

    /// Rows that pass both.
    pub fn and(self, other: Filter) -> Filter {
        Filter::And(vec![self, other])
    }
}

/// Words that mean something else than a column.
pub(super) fn is_keyword(word: &str) -> bool {
    ["and", "or", "not"].iter().any(|k| k.eq_ignore_ascii_case(word))
}

/// Whether an id can stand in an expression as it is.
pub(super) fn is_plain(id: &str) -> bool {
    id.starts_with(begins_word) && id.chars().all(continues_word) && !is_keyword(id)
}

/// True if a character begins a word.
pub(super) fn begins_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// True if a character continues a word.
pub(super) fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn write_column(f: &mut fmt::Formatter<'_>, id: &str) -> fmt::Result {
    if is_plain(id) { f.write_str(id) } else { write!(f, "`{id}`") }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What binds no tighter than what it stands in needs parentheses.
        let joined = |f: &mut fmt::Formatter<'_>, parts: &[Filter], word: &str| {
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    write!(f, " {word} ")?;
                }
                let tight = matches!(part, Filter::Compare { .. } | Filter::Text { .. } | Filter::Not(_))
                    || (word == "or" && matches!(part, Filter::And(_)));
                if tight { write!(f, "{part}")? } else { write!(f, "({part})")? }
            }
            Ok(())
        };
        match self {
            Filter::Compare { column, comparison, number } => {
                write_column(f, column)?;
                write!(f, " {} {}{}", comparison.text(), number.number, SUFFIXES[number.suffix].0)
            }
            Filter::Text { column, matching, text } => {
                write_column(f, column)?;
                write!(f, " {} {}", matching.text(), in_quotes(text))
            }
            Filter::Not(inner) => match **inner {
                Filter::And(_) | Filter::Or(_) => write!(f, "not ({inner})"),
                _ => write!(f, "not {inner}"),
            },
            Filter::And(parts) => joined(f, parts, "and"),
            Filter::Or(parts) => joined(f, parts, "or"),
        }
    }
}
