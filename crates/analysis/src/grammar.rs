//! What all that people type is made of: names, marks, texts, operators and numbers of groupings, of their filters, and of filters of
//! tables. The three grammars stand on these parsers.
//!
//! An error without a message says that a parser does not fit here, and another is tried. An error with a message is final.

use std::fmt;
use winnow::Parser;
use winnow::combinator::{alt, delimited, not, opt, preceded, repeat, terminated};
use winnow::error::ParserError;
use winnow::stream::{LocatingSlice, Location, Stream};
use winnow::token::{any, none_of, one_of, take_while};

/// The rest of a typed text, with its place.
pub(crate) type Typed<'t> = LocatingSlice<&'t str>;

pub(crate) type Parsed<T> = Result<T, ExpressionError>;

/// Why a typed text cannot be understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpressionError {
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

impl ExpressionError {
    /// An error at a place of a text that the caller adds.
    pub(crate) fn new(at: usize, message: impl Into<String>) -> ExpressionError {
        ExpressionError { at, message: message.into(), ..ExpressionError::default() }
    }

    pub(crate) fn knowing(self, known: Vec<String>) -> ExpressionError {
        ExpressionError { known, ..self }
    }

    /// The same about a word that is none of the known ones.
    pub(crate) fn nearest(self, word: &str, known: Vec<String>) -> ExpressionError {
        ExpressionError { nearest: nearest(word, &known), known, ..self }
    }

    pub(crate) fn of(self, text: &str) -> ExpressionError {
        ExpressionError { text: text.to_owned(), ..self }
    }

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

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, character {}: {}", self.text, self.character(), self.message)?;
        match self.remedy() {
            remedy if remedy.is_empty() => Ok(()),
            remedy => write!(f, ". {remedy}"),
        }
    }
}

impl std::error::Error for ExpressionError {}

impl ParserError<Typed<'_>> for ExpressionError {
    type Inner = Self;

    fn from_input(rest: &Typed<'_>) -> Self {
        ExpressionError::new(rest.current_token_start(), "")
    }

    fn is_backtrack(&self) -> bool {
        self.message.is_empty()
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterComparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl FilterComparison {
    /// Longer ones first; the last of each is how it is printed.
    const ALL: [(&str, FilterComparison); 7] = [
        ("<=", FilterComparison::AtMost),
        (">=", FilterComparison::AtLeast),
        ("!=", FilterComparison::Unequal),
        ("==", FilterComparison::Equal),
        ("<", FilterComparison::Less),
        (">", FilterComparison::More),
        ("=", FilterComparison::Equal),
    ];

    /// Whether it holds.
    #[inline]
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            FilterComparison::Less => left < right,
            FilterComparison::AtMost => left <= right,
            FilterComparison::Equal => left == right,
            FilterComparison::Unequal => left != right,
            FilterComparison::AtLeast => left >= right,
            FilterComparison::More => left > right,
        }
    }

    /// The same with both sides exchanged.
    pub(crate) fn turned(self) -> FilterComparison {
        match self {
            FilterComparison::Less => FilterComparison::More,
            FilterComparison::AtMost => FilterComparison::AtLeast,
            FilterComparison::AtLeast => FilterComparison::AtMost,
            FilterComparison::More => FilterComparison::Less,
            same => same,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        FilterComparison::ALL.iter().rfind(|(_, other)| *other == self).map_or("", |(text, _)| text)
    }
}

/// How two sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Compare(FilterComparison),
    /// `~`
    Contains,
    /// `!~`
    ContainsNot,
}

/// The place of what comes next, behind blanks.
pub(crate) fn place(rest: &mut Typed<'_>) -> usize {
    rest.next_slice(rest.len() - rest.trim_start().len());
    rest.current_token_start()
}

/// A parser behind blanks.
pub(crate) fn token<'t, T>(
    mut of: impl Parser<Typed<'t>, T, ExpressionError>,
) -> impl Parser<Typed<'t>, T, ExpressionError> {
    move |rest: &mut Typed<'t>| {
        place(rest);
        of.parse_next(rest)
    }
}

/// Letters, digits, `-` and `_`.
pub(crate) fn name<'t>(rest: &mut Typed<'t>) -> Parsed<&'t str> {
    token(take_while(1.., is_of_name)).parse_next(rest)
}

/// A name that means something.
pub(crate) fn keyword<'t>(word: &'static str) -> impl Parser<Typed<'t>, (), ExpressionError> {
    token(terminated(word, not(one_of(is_of_name)))).void()
}

/// A text in quotation marks, with `\` before marks in it.
pub(crate) fn quoted<'t>(mark: char) -> impl Parser<Typed<'t>, String, ExpressionError> {
    let letter = alt((preceded('\\', opt(any)), none_of(mark).map(Some)));
    let text = repeat(0.., letter).fold(String::new, |mut text, letter| {
        text.extend(letter);
        text
    });
    delimited(mark, text, mark)
}

/// An operator, and how it is written.
pub(crate) fn operator<'t>(rest: &mut Typed<'t>) -> Parsed<(Operator, &'t str)> {
    let compare = FilterComparison::ALL.map(|(text, comparison)| text.value(Operator::Compare(comparison)));
    let texts = ("~".value(Operator::Contains), "!~".value(Operator::ContainsNot), alt(compare));
    token(alt(texts).with_taken()).parse_next(rest)
}

/// Characters of names.
pub(crate) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

/// A text in quotation marks, as [`quoted`] reads it.
pub(crate) fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The known name most similar to a name, if any is similar.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let name = name.to_lowercase();
    let score = |k: &&String| strsim::jaro_winkler(&name, &k.to_lowercase());
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(&best) > 0.7).then(|| best.clone())
}
