//! Parsers of groupings, on the words and marks of [`grammar`](crate::grammar).

use super::builder::option_names;
use crate::grammar::{ExpressionError, Parsed, Typed, keyword, name, operator, place, quoted, token};
use crate::group::filter;
use crate::group::outline::{GroupingLevel, LevelCondition, LevelInside, LevelOption, TextPlace};
use crate::group::registry::{Inside, Registry};
use winnow::Parser;
use winnow::combinator::{alt, opt, separated};
use winnow::stream::{Location, Stream};
use winnow::token::one_of;

/// Levels of lists inside each other.
pub(super) const DEEPEST: usize = 8;

/// Most bytes of a grouping: one that people type has hundreds.
pub(super) const LONGEST: usize = 1 << 16;

/// An error about what comes next.
fn expected(what: &str, rest: &mut Typed<'_>) -> ExpressionError {
    let at = place(rest);
    let found = rest.chars().next().map_or("the end".to_owned(), |c| format!("{c:?}"));
    ExpressionError::new(at, format!("{what} is expected, found {found}"))
}

/// Parts in parentheses or brackets, if any are opened; the parts are told what closes them.
fn inside<'t, T>(
    mut part: impl FnMut(char, &mut Typed<'t>) -> Parsed<T>,
    separator: impl Parser<Typed<'t>, (), ExpressionError>,
    named: &str,
    rest: &mut Typed<'t>,
) -> Parsed<Option<Vec<T>>> {
    let opened = opt(token(alt(('('.value(')'), '['.value(']'))))).parse_next(rest)?;
    let Some(close) = opened else { return Ok(None) };
    let parts = separated(1.., |rest: &mut Typed<'t>| part(close, rest), separator).parse_next(rest)?;
    match opt(token(close)).parse_next(rest)? {
        Some(_) => Ok(Some(parts)),
        None => Err(expected(&format!("{close:?} or {named}"), rest)),
    }
}

/// A value: a text in quotation marks, or all up to one of these ends.
fn value(ends: &[&str], rest: &mut Typed<'_>) -> Parsed<String> {
    let at = place(rest);
    if rest.starts_with('"') {
        let unclosed = |_| ExpressionError::new(at, "the quotation mark is never closed");
        return quoted('"').parse_next(rest).map_err(unclosed);
    }
    let is_end = |&at: &usize| ends.iter().any(|end| rest.as_bytes()[at..].starts_with(end.as_bytes()));
    let end = (0..rest.len()).find(is_end).unwrap_or(rest.len());
    Ok(rest.next_slice(end).trim().to_owned())
}

impl Registry {
    /// The names of all classifiers.
    pub(super) fn classifier_names(&self) -> Vec<String> {
        self.entries().iter().map(|e| e.meta.id.to_string()).collect()
    }

    /// The names of the quantities that filters can use, sorted.
    pub(super) fn askable_names(&self) -> Vec<String> {
        let mut all: Vec<String> = self.askable().into_iter().map(|(name, _)| name).collect();
        all.sort_unstable();
        all
    }

    /// A whole text as a list.
    pub(super) fn whole(&self, text: &str) -> Parsed<Vec<GroupingLevel>> {
        if text.len() > LONGEST {
            return Err(ExpressionError::new(LONGEST, format!("a grouping has at most {LONGEST} bytes")));
        }
        let mut rest = Typed::new(text);
        let arrow = token(one_of(['>', '›'])).void();
        let list = separated(1.., |rest: &mut Typed<'_>| self.level(0, rest), arrow).parse_next(&mut rest)?;
        place(&mut rest);
        if rest.is_empty() { Ok(list) } else { Err(expected("'>'", &mut rest)) }
    }

    /// A classifier in so many lists.
    fn level(&self, depth: usize, rest: &mut Typed<'_>) -> Parsed<GroupingLevel> {
        if depth > DEEPEST {
            let message = format!("more than {DEEPEST} levels of lists inside each other");
            return Err(ExpressionError::new(rest.current_token_start(), message));
        }
        let at = place(rest);
        let Some(id) = opt(name).parse_next(rest)? else {
            return Err(expected("a classifier", rest).knowing(self.classifier_names()));
        };
        let inside = match self.entry(id).map(|entry| entry.inside) {
            Some(Inside::List) => {
                let arrow = token(one_of(['>', '›'])).void();
                let list = inside(|_, rest| self.level(depth + 1, rest), arrow, "'>'", rest)?;
                LevelInside::List(list.unwrap_or_default())
            }
            Some(Inside::Conditions) => {
                let all = inside(|close, rest| self.condition(close, rest), keyword("and"), "`and`", rest)?;
                LevelInside::Conditions(all.ok_or_else(|| {
                    let message = format!("{id} needs a condition, such as {id}({})", filter::EXAMPLE);
                    ExpressionError::new(place(rest), message)
                })?)
            }
            _ => self.options(id, rest)?,
        };
        Ok(GroupingLevel { id: id.to_owned(), inside, at: TextPlace(at) })
    }

    fn options(&self, of: &str, rest: &mut Typed<'_>) -> Parsed<LevelInside> {
        let option = |close: char, rest: &mut Typed<'_>| {
            let at = place(rest);
            let Some(name) = opt(name).parse_next(rest)? else {
                let known = self.entry(of).map(option_names).unwrap_or_default();
                return Err(expected(&format!("an option of {of}"), rest).knowing(known));
            };
            let value = match opt(token('=')).parse_next(rest)? {
                Some(_) => Some(value(&[",", close.encode_utf8(&mut [0; 4])], rest)?),
                None => None,
            };
            Ok(LevelOption { name: name.to_owned(), value, at: TextPlace(at) })
        };
        let options = inside(option, token(',').void(), "','", rest)?;
        Ok(LevelInside::Options(options.unwrap_or_default()))
    }

    fn condition(&self, close: char, rest: &mut Typed<'_>) -> Parsed<LevelCondition> {
        let not = opt(keyword("not")).parse_next(rest)?.is_some();
        let at = place(rest);
        let Some(id) = opt(name).parse_next(rest)? else {
            return Err(expected("a condition", rest).knowing(self.askable_names()));
        };
        let of = GroupingLevel { id: id.to_owned(), inside: self.options(id, rest)?, at: TextPlace(at) };
        let operator = opt(operator).parse_next(rest)?;
        let at = place(rest);
        let Some((_, operator)) = operator else {
            return Ok(LevelCondition { not, of, compared: None, at: TextPlace(at) });
        };
        let plain = !rest.starts_with('"');
        let value = value(&[" and ", close.encode_utf8(&mut [0; 4])], rest)?;
        if plain && value.contains(" or ") {
            let message = "conditions are joined by `and` alone; a value that holds \" or \" stands in quotation marks";
            return Err(ExpressionError::new(at, message));
        }
        Ok(LevelCondition { not, of, compared: Some((operator.to_owned(), value)), at: TextPlace(at) })
    }
}
