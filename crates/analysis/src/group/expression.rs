//! Groupings as people write them: `package > type`, `rooted(kind) > points-to`.
//!
//! ```text
//! grouping   = name of a grouping | list
//! list       = classifier { ">" classifier }                             "›" is as good as ">"
//! classifier = name [ "(" inside ")" ]                                   so are brackets
//! inside     = option { "," option }                                     of most classifiers
//!            | list                                                      of transformers
//!            | condition { "and" condition }                             of filters
//! option     = name [ "=" value ]
//! condition  = [ "not" ] name [ "(" option { "," option } ")" ] [ operator value ]
//! operator   = "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="          "~": contains, whatever the case
//! name       = letters, digits, "-", "_"
//! value      = anything but ",", " and " and what closes; or a text in quotation marks, with \" and \\ in it
//! ```
//! Spaces are free. Lists nest at most [`DEEPEST`] levels.

use super::filter::{self, FilterCondition};
use super::outline::{GroupingLevel, LevelCondition, LevelInside, LevelOption};
use super::registry::{ClassifierEntry, ClassifierRequest, Inside};
use super::{Classifier, Grouping, Registry, grouping};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Levels of lists inside each other.
const DEEPEST: usize = 8;

/// Why a text is no grouping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupingError {
    /// The text.
    pub text: String,
    /// Where it goes wrong: a byte of the text, or its end.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
    /// What could stand there, in the order in which it is offered.
    pub known: Vec<String>,
    /// The one of them that is called most like what stands there.
    pub nearest: Option<String>,
}

impl GroupingError {
    /// Where it goes wrong, in characters from 1.
    pub fn character(&self) -> usize {
        self.text.get(..self.at).map_or(0, |before| before.chars().count()) + 1
    }

    /// What to do about it, for people.
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
pub(super) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

/// A classifier as it is written.
struct Written<'t> {
    at: usize,
    name: &'t str,
    inside: WrittenInside<'t>,
}

/// What stands in parentheses behind a classifier.
enum WrittenInside<'t> {
    Options(Vec<WrittenOption<'t>>),
    List(Vec<Written<'t>>),
    Conditions(Vec<WrittenCondition<'t>>),
}

type WrittenOption<'t> = (usize, &'t str, Option<Cow<'t, str>>);

/// A condition of a filter as it is written.
struct WrittenCondition<'t> {
    not: bool,
    of: Written<'t>,
    /// Operator, value, and where it stands.
    compared: Option<(&'static str, Cow<'t, str>, usize)>,
}

struct ListParser<'t> {
    registry: &'t Registry,
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> ListParser<'t> {
    /// The names of all classifiers.
    fn classifiers(&self) -> Vec<String> {
        self.registry.entries().iter().map(|e| e.meta.id.to_string()).collect()
    }

    fn error(&self, at: usize, message: impl Into<String>) -> GroupingError {
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

    /// Takes a value: up to one of these, or what is in quotation marks.
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

    fn classifier(&mut self) -> Result<Written<'t>, GroupingError> {
        let (at, name) = self.name();
        if name.is_empty() {
            let message = format!("a classifier is expected, found {}", self.found());
            return Err(GroupingError { known: self.classifiers(), ..self.error(at, message) });
        }
        let inside = match self.registry.entry(name).map(|entry| entry.inside) {
            Some(Inside::List) => WrittenInside::List(self.inner_list()?),
            Some(Inside::Conditions) => WrittenInside::Conditions(self.conditions(name)?),
            _ => WrittenInside::Options(self.options(name)?),
        };
        Ok(Written { at, name, inside })
    }

    fn expect_close(&mut self, close: char, other: &str) -> Result<(), GroupingError> {
        if self.take(&[close]).is_some() {
            return Ok(());
        }
        let message = format!("{close:?} or {other} is expected, found {}", self.found());
        Err(self.error(self.at, message))
    }

    fn options(&mut self, of: &str) -> Result<Vec<WrittenOption<'t>>, GroupingError> {
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

    fn inner_list(&mut self) -> Result<Vec<Written<'t>>, GroupingError> {
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

    fn conditions(&mut self, filter: &str) -> Result<Vec<WrittenCondition<'t>>, GroupingError> {
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
            let of = Written { at, name, inside: WrittenInside::Options(self.options(name)?) };
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
            conditions.push(WrittenCondition { not, of, compared });
            if !self.take_word("and") {
                self.expect_close(close, "`and`")?;
                return Ok(conditions);
            }
        }
    }

    /// What filters can ask for.
    fn askable(&self) -> Vec<String> {
        let numbers = filter::NUMBERS.iter().map(|n| n.name.to_owned());
        let of_entries = self.registry.entries().iter().filter(|e| e.inside != Inside::Conditions);
        let mut all: Vec<String> = numbers.chain(of_entries.map(|e| e.meta.id.to_string())).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn list(&mut self) -> Result<Vec<Written<'t>>, GroupingError> {
        let mut list = vec![self.classifier()?];
        while self.take(&['>', '›']).is_some() {
            list.push(self.classifier()?);
        }
        Ok(list)
    }

    fn whole(&mut self) -> Result<Vec<Written<'t>>, GroupingError> {
        let list = self.list()?;
        match self.peek() {
            None => Ok(list),
            Some(_) => {
                let message = format!("'>' is expected, found {}", self.found());
                Err(self.error(self.at, message))
            }
        }
    }

    /// The classifiers of a list, and how it is written shortest.
    fn make_list(&self, list: &[Written<'t>], top: bool) -> Result<MadeList, GroupingError> {
        let mut made: Vec<(Arc<dyn Classifier>, String)> = Vec::new();
        let mut above = Vec::new();
        for written in list {
            let behind = made.iter().position(|(c, _)| c.transform().is_some());
            let (one, text) = self.make(written, &above, top && list.len() == 1)?;
            if let Some(before) = behind
                && one.transform().is_none()
                && !one.passes()
            {
                let name = list[before].name;
                let message =
                    format!("nothing is divided behind {name}(...): put {} before it or into it", written.name);
                return Err(self.error(written.at, message));
            }
            let same = |other: &Arc<dyn Classifier>| {
                other.transform().zip(one.transform()).is_some_and(|(a, b)| a.row == b.row)
            };
            if made.iter().any(|(other, _)| same(other)) {
                let message = format!("{}(...) is there twice in a list: put one into the other", written.name);
                return Err(self.error(written.at, message));
            }
            made.push((one, text));
            above.push(written.name);
        }
        // As they are applied.
        made.sort_by_key(|(c, _)| grouping::order(&**c));
        let (classifiers, texts): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        Ok((classifiers, texts.join(">")))
    }

    fn make(&self, written: &Written<'t>, above: &[&str], alone: bool) -> Result<MadeClassifier, GroupingError> {
        let Some(entry) = self.registry.entry(written.name) else {
            let (mut known, mut what) = (self.classifiers(), "classifier");
            if alone {
                let groupings = self.registry.groupings().map(|g| g.id.clone());
                known.extend(groupings.filter(|g| self.registry.entry(g).is_none()));
                what = "classifier or grouping";
            }
            let error = self.error(written.at, format!("there is no {what} {}", written.name));
            return Err(GroupingError { nearest: nearest(written.name, &known), known, ..error });
        };
        let domain = self.registry.domain();
        let (mut options, mut list, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
        let inside = match &written.inside {
            WrittenInside::Options(of) => {
                options = self.known_options(entry, written.name, of)?;
                canonical(&options)
            }
            WrittenInside::List(inner) if inner.is_empty() => String::new(),
            WrittenInside::List(inner) => {
                let (classifiers, text) = self.make_list(inner, false)?;
                list = classifiers;
                text
            }
            WrittenInside::Conditions(all) => {
                let mut texts = Vec::new();
                for one in all {
                    let (condition, text) = self.condition(one)?;
                    conditions.push(condition);
                    texts.push(text);
                }
                texts.join(" and ")
            }
        };
        let request =
            ClassifierRequest { options: &options, above, list: &list, conditions: &conditions, text: &inside, domain };
        let made = entry.make(&request).map_err(|m| self.error(written.at, format!("{}: {m}", written.name)))?;
        let text = if inside.is_empty() { written.name.to_owned() } else { format!("{}({inside})", written.name) };
        Ok((made, text))
    }

    /// The options of a classifier, each known and written once.
    fn known_options<'w>(
        &self,
        entry: &ClassifierEntry,
        of: &str,
        written: &'w [WrittenOption<'t>],
    ) -> Result<Options<'w>, GroupingError> {
        let mut options: Options<'w> = Vec::new();
        for (at, name, value) in written {
            let (at, name, value) = (*at, *name, value.as_deref());
            let Some(info) = entry.options.iter().find(|o| o.name == name) else {
                let known = option_names(entry);
                let message = match known.len() {
                    0 => format!("{of} has no options"),
                    _ => format!("{of} has no option {name}"),
                };
                let nearest = nearest(name, &known);
                return Err(GroupingError { known, nearest, ..self.error(at, message) });
            };
            match (info.example, value) {
                (Some(example), None | Some("")) => {
                    return Err(self.error(at, format!("the option {name} needs a value, such as {name}={example}")));
                }
                (None, Some(_)) => return Err(self.error(at, format!("the option {name} has no value"))),
                _ if options.iter().any(|(other, _)| *other == name) => {
                    return Err(self.error(at, format!("the option {name} is there twice")));
                }
                _ => options.push((name, value)),
            }
        }
        options.sort_unstable();
        Ok(options)
    }

    fn condition(&self, written: &WrittenCondition<'t>) -> Result<(FilterCondition, String), GroupingError> {
        let name = written.of.name;
        let not = if written.not { "not " } else { "" };
        let number = filter::NUMBERS.iter().find(|n| n.name == name);
        if let (Some(number), Some((operator, value, at))) = (number, &written.compared)
            && !operator.contains('~')
            && (filter::orders(operator) || filter::number(value).is_some() || self.registry.entry(name).is_none())
        {
            let Some(than) = filter::number(value) else {
                let message = format!("{name} is compared with a number, such as 100 or 1MB, found {value:?}");
                return Err(self.error(*at, message));
            };
            let condition = FilterCondition::number(written.not, number, operator, than);
            return Ok((condition, format!("{not}{name}{operator}{}", value.trim())));
        }
        let Some(entry) = self.registry.entry(name).filter(|e| e.inside != Inside::Conditions) else {
            let known = self.askable();
            let message = match self.registry.entry(name) {
                Some(_) => format!("a filter cannot ask for {name}"),
                None if number.is_some() => format!("{name} is a number: compare it, such as {name} > 100"),
                None => format!("there is no classifier or number {name}"),
            };
            return Err(GroupingError { nearest: nearest(name, &known), known, ..self.error(written.of.at, message) });
        };
        // Full names, whatever stands before the filter.
        let (classifier, text) = self.make(&written.of, &[], false)?;
        match &written.compared {
            None if entry.meta.cardinality == super::Cardinality::Filter => {
                Ok((FilterCondition::holds(written.not, classifier), format!("{not}{text}")))
            }
            None => {
                let example = &entry.meta.example;
                let message = format!("{name} is neither true nor false: compare it, such as {name} = {example}");
                Err(self.error(written.of.at, message))
            }
            Some((operator, _, at)) if filter::orders(operator) => {
                let numbers: Vec<&str> = filter::NUMBERS.iter().map(|n| n.name).collect();
                let message = format!("{operator} compares numbers ({}), and {name} is none", numbers.join(", "));
                Err(self.error(*at, message))
            }
            Some((_, value, at)) if value.is_empty() => Err(self.error(*at, "a value is expected")),
            Some((operator, value, _)) => {
                let condition = FilterCondition::value(written.not, classifier, operator, value);
                Ok((condition, format!("{not}{text}{operator}{}", quoted(value))))
            }
        }
    }
}

type MadeList = (Vec<Arc<dyn Classifier>>, String);
type MadeClassifier = (Arc<dyn Classifier>, String);

fn closes(open: char) -> char {
    if open == '(' { ')' } else { ']' }
}

/// The grouping of a list. Its id is the list in its shortest form.
pub(super) fn parse(registry: &Registry, text: &str) -> Result<Grouping, GroupingError> {
    let mut parser = ListParser { registry, text, at: 0, depth: 0 };
    let list = parser.whole()?;
    let (classifiers, id) = parser.make_list(&list, true)?;
    Ok(Grouping::new(id, classifiers))
}

/// A list as it is written, part by part.
pub(super) fn levels(registry: &Registry, text: &str) -> Result<Vec<GroupingLevel>, GroupingError> {
    let list = ListParser { registry, text, at: 0, depth: 0 }.whole()?;
    Ok(list.iter().map(level).collect())
}

fn level(written: &Written<'_>) -> GroupingLevel {
    let option = |(_, name, value): &WrittenOption<'_>| LevelOption {
        name: (*name).to_owned(),
        value: value.as_ref().map(|value| value.to_string()),
    };
    let condition = |written: &WrittenCondition<'_>| LevelCondition {
        not: written.not,
        of: level(&written.of),
        compared: written.compared.as_ref().map(|(operator, value, _)| ((*operator).to_owned(), value.to_string())),
    };
    let inside = match &written.inside {
        WrittenInside::Options(options) => LevelInside::Options(options.iter().map(option).collect()),
        WrittenInside::List(list) => LevelInside::List(list.iter().map(level).collect()),
        WrittenInside::Conditions(all) => LevelInside::Conditions(all.iter().map(condition).collect()),
    };
    GroupingLevel { id: written.name.to_owned(), inside }
}

type Options<'t> = Vec<(&'t str, Option<&'t str>)>;

fn option_names(entry: &ClassifierEntry) -> Vec<String> {
    entry.options.iter().map(|o| o.name.to_owned()).collect()
}

fn canonical(options: &Options<'_>) -> String {
    let text = |(o, v): &(&str, Option<&str>)| v.map_or_else(|| (*o).to_owned(), |v| format!("{o}={}", quoted(v)));
    options.iter().map(text).collect::<Vec<_>>().join(",")
}

/// A value as it is written: in quotation marks where it could be taken for something else.
pub(super) fn quoted(value: &str) -> Cow<'_, str> {
    // What is written shortest stands in parentheses, where brackets close nothing.
    if !value.contains([',', '(', ')', '"', '\\']) && !value.contains(" and ") && value.trim() == value {
        return value.into();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")).into()
}

/// What is called most like a name, if it is at all.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let name = name.to_lowercase();
    let score = |k: &&String| strsim::jaro_winkler(&name, &k.to_lowercase());
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(&best) > 0.7).then(|| best.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        Registry::new().grouping(text).expect_err("no grouping").to_string()
    }

    #[test]
    fn lists_are_read() {
        let registry = Registry::new();
        for (text, id, title) in [
            ("type-site", "type-site", "Type › Allocation site"),
            ("package>type", "package-type", "Package › Type"),
            (" package › type ", "package-type", "Package › Type"),
            ("type", "type", "Type"),
            ("age>package>type", "age>package>type", "Age › Package › Type"),
            ("rooted [ variables , kind ] >type", "rooted(kind,variables)>type", "GC root › Type"),
            ("site(depth= 2 )>type", "site(depth=2)>type", "Allocation site › Type"),
            (
                "type > pointed-from( type>pointed-from [package >type ] )",
                "type>pointed-from(type>pointed-from(package>type))",
                "Type › Pointed from (Type › Pointed from (Package › Type))",
            ),
            (
                "type > filter(size>1.5MB and not package = com.acme)",
                "filter(size>1.5MB and not package=com.acme)>type",
                "Only size>1.5MB and not package=com.acme › Type",
            ),
            (
                r#"filter(site ~ "run() \"and\" x" and reachable)>points-to(filter(type=byte[])>type)"#,
                r#"filter(site~"run() \"and\" x" and reachable)>points-to(filter(type=byte[])>type)"#,
                r#"Only site~"run() \"and\" x" and reachable › Points to (Only type=byte[] › Type)"#,
            ),
            ("address(block=\"4KiB\")", "address(block=4KiB)", "Address"),
        ] {
            let grouping = registry.grouping(text).expect(text);
            assert_eq!((grouping.id.as_str(), grouping.title.as_str()), (id, title));
            // What it is called leads to it again.
            assert_eq!(registry.grouping(&grouping.id).expect("again").id, id);
        }
    }

    #[test]
    fn errors_name_the_place_what_is_known_and_the_nearest_name() {
        insta::assert_snapshot!(
            [
                "",
                "tpye",
                "package>tpye",
                "package>",
                "package type",
                "packag-type",
                "rooted(kinds)",
                "rooted(kind",
                "rooted(",
                "type(x)",
                "rooted(kind=3)",
                "rooted(kind,kind)",
                "site(depth)",
                "site(depth=many)",
                "type)",
                "ü>typ",
                "type>pointed-from(tpye)",
                "type>pointed-from(",
                "pointed-from(type)>age",
                "type>pointed-from(type)>points-to(type)>pointed-from(age)",
                "pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(type)))))))))",
                "filter",
                "filter(",
                "filter(size)",
                "filter(siz > 3)",
                "filter(size > big)",
                "filter(package > 3)",
                "filter(package)",
                "filter(package=)",
                "filter(filter = 3)",
                "filter(package = com.acme or size > 3)",
                "filter(package = \"com.acme",
                "address(block=0)",
                "feature",
                "feature(file=/no/such/file)",
                "domain-site(packages=a b)",
            ]
            .map(error)
            .join("\n")
        );
    }

    #[test]
    fn what_is_being_written_is_completed() {
        let registry = Registry::new();
        let texts = |text: &str| -> Vec<String> { registry.complete(text).into_iter().map(|c| c.text).collect() };
        assert_eq!(texts("package > ty"), ["package > type"]);
        assert_eq!(texts("point"), ["points-to", "pointed-from"]);
        assert_eq!(
            texts("type>pointed-from(type > pa"),
            [
                "type>pointed-from(type > package",
                "type>pointed-from(type > allocating-package",
                "type>pointed-from(type > space"
            ]
        );
        assert_eq!(texts("points-to(rooted(v"), ["points-to(rooted(variables"]);
        assert_eq!(texts("filter(size > 3 and not reach"), ["filter(size > 3 and not reachable"]);
        assert_eq!(texts("pointed-from(type)>rea"), ["pointed-from(type)>reachable", "pointed-from(type)>thread"]);
        assert_eq!(texts("nothing(a"), [] as [&str; 0]);
        assert_eq!(texts("type>rooted(v"), ["type>rooted(variables"]);
        assert_eq!(texts("site(de"), ["site(depth="]);
        assert_eq!(texts("type thr"), [] as [&str; 0]);
        assert_eq!(texts("rooted(kind) "), [] as [&str; 0]);
        assert_eq!(texts("").len(), registry.classifiers().count());
        assert_eq!(texts("loader"), ["loader", "loaders"]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_grouping_or_an_error_with_a_place(text in "([a-z>›()\\[\\]=, ü-]|filter\\(|size|pointed-from\\(|type|\\\\|\"| and ){0,24}") {
            let registry = Registry::new();
            match registry.grouping(&text) {
                Ok(grouping) => prop_assert!(!grouping.classifiers.is_empty()),
                Err(error) => prop_assert!(error.at <= text.len() && !error.to_string().is_empty()),
            }
            registry.complete(&text);
        }
    }
}
