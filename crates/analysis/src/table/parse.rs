//! Parser of filters, on the words and marks of [`grammar`](crate::grammar).
//!
//! ```text
//! any        = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" any ")" | comparison
//! comparison = column operator literal | literal operator column
//! ```

use super::filter::{Filter, Matching, Quantity, begins_word, continues_word, is_keyword};
use crate::grammar::{ExpressionError, FilterComparison, Operator, Parsed, Typed, operator, place, quoted, token};
use crate::tabular::CellKind;
use crate::timeline::Unit;
use crate::units::{SUFFIXES, SuffixKind, suffix_of};
use memory_city_heap::error::Error;
use memory_city_heap::printable::{is_unprintable, printable};
use winnow::Parser;
use winnow::combinator::{alt, delimited, eof, not, opt, peek, separated};
use winnow::stream::{Location, Stream};
use winnow::token::{any, one_of, take_till, take_while};

/// A column that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterColumn {
    /// Its id.
    pub id: String,
    /// The kind of its cells. Changes can be compared with percent too, as growth in percent.
    pub kind: CellKind,
}

/// Why an expression cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {}: {message}", self.character + 1)]
pub struct FilterError {
    /// Where, in bytes from the start of the text: at the start of a character, or at the end.
    pub at: usize,
    /// Where, in characters.
    pub character: usize,
    /// The error, and the expected text.
    pub message: String,
}

impl FilterError {
    /// The text with a mark below the place.
    pub fn pointing(&self, text: &str) -> String {
        // A line break would tear the mark from its place, and so would what is written as several characters.
        let shown = |c: char| if is_unprintable(c) { ' ' } else { c };
        // Of a long text, what stands around the place.
        let from = self.character.saturating_sub(MOST_BEFORE);
        let begin = if from > 0 { "…" } else { "" };
        let end = if text.chars().nth(from + MOST_SHOWN).is_some() { "…" } else { "" };
        let line: String = text.chars().skip(from).take(MOST_SHOWN).map(shown).collect();
        let blanks = " ".repeat(self.character - from + begin.chars().count());
        format!("{begin}{line}{end}\n{blanks}^ {}", printable(&self.message))
    }

    /// The error of the engine, for callers that cannot show a mark. (No `From`: `?` should not lose the text.)
    pub fn into_error(self, text: &str) -> Error {
        Error::Unusable {
            what: format!("The filter {text:?} cannot be understood {self}"),
            remedy: "Filters look like: bytes > 1MB and (growth > 20% or name ~ \"HashMap\")".into(),
        }
    }
}

/// Characters of a text that stand before a place that is shown, and with those behind it.
const MOST_BEFORE: usize = 500;
const MOST_SHOWN: usize = 1000;

/// Parentheses and `not` within each other.
const DEEPEST: usize = 100;

/// Reads an expression over these columns.
///
/// # Errors
/// When it is none; the error has the place, and the words allowed there.
pub fn parse(text: &str, columns: &[FilterColumn]) -> Result<Filter, FilterError> {
    let mut rest = Typed::new(text);
    let grammar = FilterGrammar { columns };
    let filter = grammar.any(0, &mut rest).and_then(|filter| match rest.trim_start() {
        "" => Ok(filter),
        _ => Err(expected("the end, `and` or `or`", &mut rest)),
    });
    filter.map_err(|ExpressionError { at, message, .. }| FilterError {
        at,
        character: text[..at].chars().count(),
        message,
    })
}

/// What stands beside an operator.
enum Operand {
    /// A word, which may be a column or a text.
    Word(String),
    Column(String),
    Number(Quantity),
    Text(String),
}

fn wrong<T>(at: usize, message: impl Into<String>) -> Parsed<T> {
    Err(ExpressionError::new(at, message))
}

fn word<'t>(rest: &mut Typed<'t>) -> Parsed<&'t str> {
    token((one_of(begins_word), take_while(0.., continues_word)).take()).parse_next(rest)
}

/// A joining word, or the marks for it.
fn join<'t>(name: &'static str, marks: &'static str) -> impl Parser<Typed<'t>, (), ExpressionError> {
    let name = word.verify(move |word: &str| word.eq_ignore_ascii_case(name));
    token(alt((name, marks.verify(|marks: &str| !marks.is_empty())))).void()
}

fn operand(rest: &mut Typed<'_>) -> Parsed<Operand> {
    let at = place(rest);
    let alone = |mark: char| ExpressionError::new(at, format!("this {mark} has no partner"));
    match peek(any).parse_next(rest)? {
        mark @ ('"' | '\'') => quoted(mark).parse_next(rest).map(Operand::Text).map_err(|_| alone(mark)),
        '`' => {
            let column: Parsed<&str> = delimited('`', take_till(0.., '`'), '`').parse_next(rest);
            column.map(|id| Operand::Column(id.to_owned())).map_err(|_| alone('`'))
        }
        '-' | '.' | '0'..='9' => number(rest).map(Operand::Number),
        _ => word.verify(|word: &str| !is_keyword(word)).parse_next(rest).map(|word| Operand::Word(word.to_owned())),
    }
}

fn number(rest: &mut Typed<'_>) -> Parsed<Quantity> {
    let at = place(rest);
    let digits = (opt('-'), take_while(0.., ('0'..='9', '.', '_'))).take().parse_next(rest)?;
    let Ok(number) = digits.replace('_', "").parse() else { return wrong(at, format!("{digits} is no number")) };
    let at = rest.current_token_start();
    let unit: &str = take_while(0.., |c: char| c.is_alphanumeric() || c == '%').parse_next(rest)?;
    match suffix_of(unit) {
        Some(suffix) => Ok(Quantity { number, suffix }),
        None => {
            let known: Vec<&str> = SUFFIXES[1..].iter().map(|s| s.0).collect();
            wrong(at, format!("{unit} is no unit; there are {}", known.join(" ")))
        }
    }
}

/// An error about what comes next, or in it.
fn expected(what: &str, rest: &mut Typed<'_>) -> ExpressionError {
    let at = place(rest);
    let next = rest.chars().next();
    let mark = alt(("&&", "||", "(", ")", "!", eof));
    let found = alt((operand.void(), operator.void(), word.void(), mark.void())).take().parse_next(rest);
    let found = match (found, next) {
        (Err(error), _) if !error.message.is_empty() => return error,
        (Err(_), Some(c)) => {
            return ExpressionError::new(at, format!("{c:?} means nothing here; texts stand in quotes"));
        }
        (Ok(found), Some(_)) => format!("found {}", found.trim()),
        (_, None) => "it ends here".to_owned(),
    };
    ExpressionError::new(at, format!("{found}, expected {what}"))
}

struct FilterGrammar<'a> {
    columns: &'a [FilterColumn],
}

impl FilterGrammar<'_> {
    fn known(&self) -> String {
        self.columns.iter().map(|c| c.id.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// A filter in so many parentheses.
    fn any<'t>(&self, depth: usize, rest: &mut Typed<'t>) -> Parsed<Filter> {
        let all = |rest: &mut Typed<'t>| {
            let one = |rest: &mut Typed<'t>| self.one(depth, rest);
            separated(1.., one, join("and", "&&")).map(|parts| joined(parts, Filter::And)).parse_next(rest)
        };
        separated(1.., all, join("or", "||")).map(|parts| joined(parts, Filter::Or)).parse_next(rest)
    }

    fn one(&self, depth: usize, rest: &mut Typed<'_>) -> Parsed<Filter> {
        let at = place(rest);
        if depth == DEEPEST {
            return wrong(at, format!("more than {DEEPEST} levels of parentheses and `not`"));
        }
        let bang = ("!", not(one_of(['=', '~']))).take();
        if opt(alt((join("not", ""), bang.void()))).parse_next(rest)?.is_some() {
            return Ok(Filter::Not(Box::new(self.one(depth + 1, rest)?)));
        }
        if opt('(').parse_next(rest)?.is_none() {
            return self.comparison(rest);
        }
        let inner = self.any(depth + 1, rest)?;
        match opt(token(')')).parse_next(rest)? {
            Some(_) => Ok(inner),
            None => Err(expected("`)`, `and` or `or`", rest)),
        }
    }

    fn comparison(&self, rest: &mut Typed<'_>) -> Parsed<Filter> {
        let left_at = place(rest);
        let Some(left) = opt(operand).parse_next(rest)? else {
            return Err(expected(&format!("a column ({}), a number, a text, `not` or `(`", self.known()), rest));
        };
        let operator_at = place(rest);
        let Some((operator, _)) = opt(operator).parse_next(rest)? else {
            return Err(expected("an operator: < <= = != >= > ~ !~", rest));
        };
        let right_at = place(rest);
        let before = rest.checkpoint();
        let right = opt(operand).parse_next(rest)?;
        let turned = matches!(left, Operand::Number(_) | Operand::Text(_));
        let (id, at, literal, literal_at) = match (left, right) {
            (
                Operand::Word(id) | Operand::Column(id),
                Some(right @ (Operand::Word(_) | Operand::Number(_) | Operand::Text(_))),
            ) => (id, left_at, right, right_at),
            (left @ (Operand::Number(_) | Operand::Text(_)), Some(Operand::Word(id) | Operand::Column(id))) => {
                (id, right_at, left, left_at)
            }
            _ => {
                rest.reset(&before);
                let what = match turned {
                    true => "a column to compare with",
                    false => "a number such as 20%, 1.5MB or 3k, or a text in quotes",
                };
                return Err(expected(what, rest));
            }
        };
        let Some(column) = self.columns.iter().find(|c| c.id == id) else {
            return wrong(at, format!("there is no column {id}; there are {}", self.known()));
        };
        let is_text = matches!(column.kind, CellKind::Text | CellKind::Node);
        match (is_text, literal, operator) {
            (true, Operand::Text(text) | Operand::Word(text), operator) => {
                let matching = match operator {
                    Operator::Contains => Matching::Contains,
                    Operator::ContainsNot => Matching::ContainsNot,
                    Operator::Compare(FilterComparison::Equal) => Matching::Is,
                    Operator::Compare(FilterComparison::Unequal) => Matching::IsNot,
                    _ => return wrong(operator_at, format!("{id} is text: compare it with ~ !~ = or !=")),
                };
                Ok(Filter::Text { column: id, matching, text })
            }
            (true, ..) => wrong(literal_at, format!("{id} is text: write a text in quotes")),
            (false, Operand::Number(number), Operator::Compare(comparison)) => {
                fits(column, number, literal_at)?;
                let comparison = if turned { comparison.turned() } else { comparison };
                Ok(Filter::Compare { column: id, comparison, number })
            }
            (false, Operand::Number(_), _) => {
                wrong(operator_at, format!("{id} is a number: compare it with < <= = != >= or >"))
            }
            (false, ..) => {
                wrong(literal_at, format!("{id} is a number: compare it with a number such as 20%, 1.5MB or 3k"))
            }
        }
    }
}

fn joined(mut parts: Vec<Filter>, join: fn(Vec<Filter>) -> Filter) -> Filter {
    if parts.len() == 1 { parts.remove(0) } else { join(parts) }
}

fn fits(column: &FilterColumn, number: Quantity, at: usize) -> Parsed<()> {
    let (fits, counted) = match (column.kind, number.kind()) {
        (_, SuffixKind::Anything) => (true, ""),
        (CellKind::Percent, kind) => (kind == SuffixKind::Percent, "percent"),
        (CellKind::Change(_), SuffixKind::Percent) => (true, ""),
        (kind, suffix) => match kind.unit() {
            Some(Unit::Bytes) => (suffix == SuffixKind::Bytes, "bytes"),
            Some(Unit::Millis) => (suffix == SuffixKind::Millis, "milliseconds"),
            Some(Unit::Objects) => (false, "objects"),
            _ => (false, "plain numbers"),
        },
    };
    let suffix = SUFFIXES[number.suffix].0;
    match fits {
        true => Ok(()),
        false => wrong(at, format!("{} is counted in {counted}, not in {suffix}", column.id)),
    }
}
