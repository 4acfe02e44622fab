//! Parser of filters. It is written by hand: the grammar has seven rules, and most of this code are messages that name the place of an
//! error and the words that could stand there, which a parser library would leave to us too.
//!
//! ```text
//! any        = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" any ")" | comparison
//! comparison = column operator literal | literal operator column
//! ```

use super::filter::{Filter, FilterComparison, Matching, Quantity, continues_word};
use crate::tabular::CellKind;
use crate::timeline::Unit;
use crate::units::{SUFFIXES, SuffixKind};
use memory_city_heap::error::Error;
use memory_city_heap::printable::{is_unprintable, printable};

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

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Column(String),
    Number(Quantity),
    Text(String),
    Compare(FilterComparison),
    Match(Matching),
    Open,
    Close,
    And,
    Or,
    Not,
    End,
}

/// Reads an expression over these columns.
///
/// # Errors
/// When it is none; the error has the place, and the words allowed there.
pub fn parse(text: &str, columns: &[FilterColumn]) -> Result<Filter, FilterError> {
    let mut parser = FilterParser { text, at: 0, start: 0, token: Token::End, columns, depth: 0 };
    parser.next()?;
    let filter = parser.any()?;
    match parser.token {
        Token::End => Ok(filter),
        _ => Err(parser.expected("the end, `and` or `or`")),
    }
}

struct FilterParser<'a> {
    text: &'a str,
    /// The place after the token.
    at: usize,
    /// Where the token begins.
    start: usize,
    token: Token,
    columns: &'a [FilterColumn],
    depth: usize,
}

type Parsed<T> = Result<T, FilterError>;

impl<'a> FilterParser<'a> {
    fn wrong(&self, at: usize, message: impl Into<String>) -> FilterError {
        FilterError { at, character: self.text[..at].chars().count(), message: message.into() }
    }

    fn expected(&self, what: &str) -> FilterError {
        let found = match self.text[self.start..self.at].trim() {
            "" => "it ends here".to_owned(),
            found => format!("found {found}"),
        };
        self.wrong(self.start, format!("{found}, expected {what}"))
    }

    fn known(&self) -> String {
        self.columns.iter().map(|c| c.id.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn any(&mut self) -> Parsed<Filter> {
        self.joined(Token::Or, Self::all, Filter::Or)
    }

    fn all(&mut self) -> Parsed<Filter> {
        self.joined(Token::And, Self::one, Filter::And)
    }

    fn joined(
        &mut self,
        word: Token,
        part: fn(&mut Self) -> Parsed<Filter>,
        join: fn(Vec<Filter>) -> Filter,
    ) -> Parsed<Filter> {
        let first = part(self)?;
        if self.token != word {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.token == word {
            self.next()?;
            parts.push(part(self)?);
        }
        Ok(join(parts))
    }

    fn one(&mut self) -> Parsed<Filter> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong(self.start, format!("more than {DEEPEST} levels of parentheses and `not`")));
        }
        let one = match self.token {
            Token::Not => {
                self.next()?;
                Filter::Not(Box::new(self.one()?))
            }
            Token::Open => {
                self.next()?;
                let inner = self.any()?;
                if self.token != Token::Close {
                    return Err(self.expected("`)`, `and` or `or`"));
                }
                self.next()?;
                inner
            }
            _ => self.comparison()?,
        };
        self.depth -= 1;
        Ok(one)
    }

    fn comparison(&mut self) -> Parsed<Filter> {
        let left_at = self.start;
        let left = std::mem::replace(&mut self.token, Token::End);
        let is_literal = matches!(left, Token::Number(_) | Token::Text(_));
        if !is_literal && !matches!(left, Token::Word(_) | Token::Column(_)) {
            self.token = left;
            return Err(self.expected(&format!("a column ({}), a number, a text, `not` or `(`", self.known())));
        }
        self.next()?;
        let operator_at = self.start;
        let operator = std::mem::replace(&mut self.token, Token::End);
        if !matches!(operator, Token::Compare(_) | Token::Match(_)) {
            self.token = operator;
            return Err(self.expected("an operator: < <= = != >= > ~ !~"));
        }
        self.next()?;
        let right_at = self.start;
        let right = std::mem::replace(&mut self.token, Token::End);
        let (column, column_at, literal, literal_at) = match (is_literal, &right) {
            (true, Token::Word(_) | Token::Column(_)) => (right, right_at, left, left_at),
            (false, Token::Word(_) | Token::Number(_) | Token::Text(_)) => (left, left_at, right, right_at),
            _ => {
                self.token = right;
                return Err(self.expected(match is_literal {
                    true => "a column to compare with",
                    false => "a number such as 20%, 1.5MB or 3k, or a text in quotes",
                }));
            }
        };
        let (Token::Word(id) | Token::Column(id)) = column else {
            return Err(self.wrong(column_at, "expected a column"));
        };
        let Some(column) = self.columns.iter().find(|c| c.id == id) else {
            return Err(self.wrong(column_at, format!("there is no column {id}; there are {}", self.known())));
        };
        let filter = self.compare(column.clone(), (operator, operator_at), (literal, literal_at), is_literal)?;
        self.next()?;
        Ok(filter)
    }

    fn compare(
        &self,
        column: FilterColumn,
        (operator, operator_at): (Token, usize),
        (literal, literal_at): (Token, usize),
        turned: bool,
    ) -> Parsed<Filter> {
        let is_text = matches!(column.kind, CellKind::Text | CellKind::Node);
        let id = &column.id;
        match (is_text, literal, operator) {
            (true, Token::Text(text) | Token::Word(text), operator) => {
                let matching = match operator {
                    Token::Match(matching) => matching,
                    Token::Compare(FilterComparison::Equal) => Matching::Is,
                    Token::Compare(FilterComparison::Unequal) => Matching::IsNot,
                    _ => return Err(self.wrong(operator_at, format!("{id} is text: compare it with ~ !~ = or !="))),
                };
                Ok(Filter::Text { column: column.id, matching, text })
            }
            (true, ..) => Err(self.wrong(literal_at, format!("{id} is text: write a text in quotes"))),
            (false, Token::Number(number), Token::Compare(comparison)) => {
                self.fits(&column, number, literal_at)?;
                let comparison = if turned { comparison.turned() } else { comparison };
                Ok(Filter::Compare { column: column.id, comparison, number })
            }
            (false, Token::Number(_), _) => {
                Err(self.wrong(operator_at, format!("{id} is a number: compare it with < <= = != >= or >")))
            }
            (false, ..) => {
                let message = format!("{id} is a number: compare it with a number such as 20%, 1.5MB or 3k");
                Err(self.wrong(literal_at, message))
            }
        }
    }

    fn fits(&self, column: &FilterColumn, number: Quantity, at: usize) -> Parsed<()> {
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
            false => Err(self.wrong(at, format!("{} is counted in {counted}, not in {suffix}", column.id))),
        }
    }

    /// Goes on to the next token.
    fn next(&mut self) -> Parsed<()> {
        let blank = |c: char| c.is_whitespace();
        let rest = self.text[self.at..].trim_start_matches(blank);
        self.start = self.text.len() - rest.len();
        self.at = self.start;
        let Some(first) = rest.chars().next() else {
            self.token = Token::End;
            return Ok(());
        };
        let symbol = |len: usize, token: Token| (len, token);
        let operator = FilterComparison::ALL.iter().find(|(text, _)| rest.starts_with(text));
        let (len, token) = match first {
            '(' => symbol(1, Token::Open),
            ')' => symbol(1, Token::Close),
            '~' => symbol(1, Token::Match(Matching::Contains)),
            '!' if rest.starts_with("!~") => symbol(2, Token::Match(Matching::ContainsNot)),
            '&' if rest.starts_with("&&") => symbol(2, Token::And),
            '|' if rest.starts_with("||") => symbol(2, Token::Or),
            _ if let Some((text, comparison)) = operator => symbol(text.len(), Token::Compare(*comparison)),
            '!' => symbol(1, Token::Not),
            '"' | '\'' => self.quoted(rest, first)?,
            '`' => match rest[1..].find('`') {
                Some(end) => symbol(end + 2, Token::Column(rest[1..=end].to_owned())),
                None => return Err(self.wrong(self.start, "this ` has no partner")),
            },
            '-' | '.' | '0'..='9' => self.number(rest)?,
            c if c.is_alphabetic() || c == '_' => {
                let word = &rest[..rest.find(|c| !continues_word(c)).unwrap_or(rest.len())];
                let token = match word.to_ascii_lowercase().as_str() {
                    "and" => Token::And,
                    "or" => Token::Or,
                    "not" => Token::Not,
                    _ => Token::Word(word.to_owned()),
                };
                symbol(word.len(), token)
            }
            c => return Err(self.wrong(self.start, format!("{c:?} means nothing here; texts stand in quotes"))),
        };
        self.at = self.start + len;
        self.token = token;
        Ok(())
    }

    fn quoted(&self, rest: &str, quote: char) -> Parsed<(usize, Token)> {
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                c if c == quote => return Ok((i + 1, Token::Text(text))),
                c => text.push(c),
            }
        }
        Err(self.wrong(self.start, format!("this {quote} has no partner")))
    }

    fn number(&self, rest: &str) -> Parsed<(usize, Token)> {
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest[sign..].find(|c: char| !matches!(c, '0'..='9' | '.' | '_')).map_or(rest.len(), |n| n + sign);
        let Ok(number) = rest[..digits].replace('_', "").parse::<f64>() else {
            return Err(self.wrong(self.start, format!("{} is no number", &rest[..digits.max(1)])));
        };
        let behind = &rest[digits..];
        let letters = behind.find(|c: char| !(c.is_alphanumeric() || c == '%')).unwrap_or(behind.len());
        let suffix = &behind[..letters];
        let same = |case: bool| {
            SUFFIXES.iter().position(|(s, ..)| if case { *s == suffix } else { s.eq_ignore_ascii_case(suffix) })
        };
        // 1mb is 1MB, but of k, M and G each has one spelling.
        let found = same(true).or_else(|| same(false));
        let Some(suffix) = found else {
            let known: Vec<&str> = SUFFIXES[1..].iter().map(|s| s.0).collect();
            let message = format!("{suffix} is no unit; there are {}", known.join(" "));
            return Err(self.wrong(self.start + digits, message));
        };
        Ok((digits + letters, Token::Number(Quantity { number, suffix })))
    }
}
