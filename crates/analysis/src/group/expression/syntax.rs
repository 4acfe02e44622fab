//! The parsed form of a grouping: classifiers, options, lists and conditions, with their places in the text.

use super::builder::option_names;
use super::words::{GroupingError, is_of_name};
use crate::group::filter;
use crate::group::registry::{Inside, Registry};
use std::borrow::Cow;

/// Levels of lists inside each other.
pub(super) const DEEPEST: usize = 8;

/// A classifier as it is written.
pub(super) struct Parsed<'t> {
    pub(super) at: usize,
    pub(super) name: &'t str,
    pub(super) inside: ParsedInside<'t>,
}

/// The content of the parentheses of a classifier.
pub(super) enum ParsedInside<'t> {
    Options(Vec<ParsedOption<'t>>),
    List(Vec<Parsed<'t>>),
    Conditions(Vec<ParsedCondition<'t>>),
}

pub(super) type ParsedOption<'t> = (usize, &'t str, Option<Cow<'t, str>>);

/// A condition of a filter as it is written.
pub(super) struct ParsedCondition<'t> {
    pub(super) not: bool,
    pub(super) of: Parsed<'t>,
    /// Operator, value, and where it stands.
    pub(super) compared: Option<(&'static str, Cow<'t, str>, usize)>,
}

/// Reads a list from left to right.
pub(super) struct ListParser<'t> {
    pub(super) registry: &'t Registry,
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> ListParser<'t> {
    pub(super) fn new(registry: &'t Registry, text: &'t str) -> ListParser<'t> {
        ListParser { registry, text, at: 0, depth: 0 }
    }

    /// The names of all classifiers.
    pub(super) fn classifiers(&self) -> Vec<String> {
        self.registry.entries().iter().map(|e| e.meta.id.to_string()).collect()
    }

    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> GroupingError {
        GroupingError { text: self.text.to_owned(), at, message: message.into(), known: Vec::new(), nearest: None }
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_spaces();
        self.text[self.at..].chars().next()
    }

    /// Takes one of some characters, if it comes next.
    fn take(&mut self, of: &[char]) -> Option<char> {
        let c = self.peek().filter(|c| of.contains(c))?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes a word, if it comes next.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let found = rest.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_name));
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Takes a name, which may turn out to be empty.
    fn name(&mut self) -> (usize, &'t str) {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let start = self.at;
        self.at += end;
        (start, &rest[..end])
    }

    fn found(&mut self) -> String {
        self.peek().map_or("the end".to_owned(), |c| format!("{c:?}"))
    }

    /// Takes a value: up to one of these ends, or a quoted text.
    fn value(&mut self, ends: &[&str]) -> Result<Cow<'t, str>, GroupingError> {
        if self.peek() == Some('"') {
            let start = self.at;
            let mut value = String::new();
            let mut chars = self.text[start + 1..].char_indices();
            while let Some((i, c)) = chars.next() {
                match c {
                    '"' => {
                        self.at = start + 1 + i + 1;
                        return Ok(value.into());
                    }
                    '\\' => value.extend(chars.next().map(|(_, c)| c)),
                    c => value.push(c),
                }
            }
            return Err(self.error(start, "the quotation mark is never closed"));
        }
        let rest = &self.text[self.at..];
        let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        self.at += end;
        Ok(rest[..end].trim().into())
    }

    fn classifier(&mut self) -> Result<Parsed<'t>, GroupingError> {
        let (at, name) = self.name();
        if name.is_empty() {
            let message = format!("a classifier is expected, found {}", self.found());
            return Err(GroupingError { known: self.classifiers(), ..self.error(at, message) });
        }
        let inside = match self.registry.entry(name).map(|entry| entry.inside) {
            Some(Inside::List) => ParsedInside::List(self.inner_list()?),
            Some(Inside::Conditions) => ParsedInside::Conditions(self.conditions(name)?),
            _ => ParsedInside::Options(self.options(name)?),
        };
        Ok(Parsed { at, name, inside })
    }

    fn expect_close(&mut self, close: char, other: &str) -> Result<(), GroupingError> {
        if self.take(&[close]).is_some() {
            return Ok(());
        }
        let message = format!("{close:?} or {other} is expected, found {}", self.found());
        Err(self.error(self.at, message))
    }

    fn options(&mut self, of: &str) -> Result<Vec<ParsedOption<'t>>, GroupingError> {
        let mut options = Vec::new();
        let Some(open) = self.take(&['(', '[']) else { return Ok(options) };
        let close = closes(open);
        loop {
            let (at, name) = self.name();
            if name.is_empty() {
                let message = format!("an option of {of} is expected, found {}", self.found());
                let known = self.registry.entry(of).map(option_names).unwrap_or_default();
                return Err(GroupingError { known, ..self.error(at, message) });
            }
            let value = match self.take(&['=']) {
                Some(_) => Some(self.value(&[",", close.encode_utf8(&mut [0; 4])])?),
                None => None,
            };
            options.push((at, name, value));
            if self.take(&[',']).is_none() {
                self.expect_close(close, "','")?;
                return Ok(options);
            }
        }
    }

    fn inner_list(&mut self) -> Result<Vec<Parsed<'t>>, GroupingError> {
        let Some(open) = self.take(&['(', '[']) else { return Ok(Vec::new()) };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(self.at, format!("more than {DEEPEST} levels of lists inside each other")));
        }
        let list = self.list()?;
        self.depth -= 1;
        self.expect_close(closes(open), "'>'")?;
        Ok(list)
    }

    fn conditions(&mut self, filter: &str) -> Result<Vec<ParsedCondition<'t>>, GroupingError> {
        let Some(open) = self.take(&['(', '[']) else {
            let message = format!("{filter} needs a condition, such as {filter}({})", filter::EXAMPLE);
            return Err(self.error(self.at, message));
        };
        let close = closes(open);
        let mut conditions = Vec::new();
        loop {
            let not = self.take_word("not");
            let (at, name) = self.name();
            if name.is_empty() {
                let message = format!("a condition is expected, found {}", self.found());
                return Err(GroupingError { known: self.askable(), ..self.error(at, message) });
            }
            let of = Parsed { at, name, inside: ParsedInside::Options(self.options(name)?) };
            self.skip_spaces();
            let rest = &self.text[self.at..];
            let operator = filter::OPERATORS.iter().find(|operator| rest.starts_with(**operator));
            let compared = match operator {
                Some(operator) => {
                    self.at += operator.len();
                    self.skip_spaces();
                    let at = self.at;
                    let plain = self.peek() != Some('"');
                    let value = self.value(&[" and ", close.encode_utf8(&mut [0; 4])])?;
                    if plain && value.contains(" or ") {
                        let message = "conditions are joined by `and` alone; a value that holds \" or \" stands in quotation marks";
                        return Err(self.error(at, message));
                    }
                    Some((*operator, value, at))
                }
                None => None,
            };
            conditions.push(ParsedCondition { not, of, compared });
            if !self.take_word("and") {
                self.expect_close(close, "`and`")?;
                return Ok(conditions);
            }
        }
    }

    /// The quantities that filters can use.
    pub(super) fn askable(&self) -> Vec<String> {
        let numbers = filter::NUMBERS.iter().map(|n| n.name.to_owned());
        let of_entries = self.registry.entries().iter().filter(|e| e.inside != Inside::Conditions);
        let mut all: Vec<String> = numbers.chain(of_entries.map(|e| e.meta.id.to_string())).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn list(&mut self) -> Result<Vec<Parsed<'t>>, GroupingError> {
        let mut list = vec![self.classifier()?];
        while self.take(&['>', '›']).is_some() {
            list.push(self.classifier()?);
        }
        Ok(list)
    }

    pub(super) fn whole(&mut self) -> Result<Vec<Parsed<'t>>, GroupingError> {
        let list = self.list()?;
        match self.peek() {
            None => Ok(list),
            Some(_) => {
                let message = format!("'>' is expected, found {}", self.found());
                Err(self.error(self.at, message))
            }
        }
    }
}

fn closes(open: char) -> char {
    if open == '(' { ')' } else { ']' }
}
