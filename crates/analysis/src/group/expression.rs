//! Groupings as people write them: `package > type`, `rooted(kind) > points-to`.
//!
//! ```text
//! grouping   = name of a grouping | classifier { ">" classifier }        "›" is as good as ">"
//! classifier = name [ "(" option { "," option } ")" ]                    so are brackets
//! option     = name [ "=" value ]
//! name       = letters, digits, "-", "_"
//! value      = anything but "," and what closes the options
//! ```
//! Spaces are free.

use super::registry::{ClassifierEntry, ClassifierRequest};
use super::{Classifier, Grouping, Registry};
use std::fmt;
use std::sync::Arc;

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
    options: Vec<(usize, &'t str, Option<&'t str>)>,
}

struct ListParser<'t> {
    registry: &'t Registry,
    text: &'t str,
    at: usize,
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

    fn classifier(&mut self) -> Result<Written<'t>, GroupingError> {
        let (at, name) = self.name();
        let mut written = Written { at, name, options: Vec::new() };
        if name.is_empty() {
            let message = format!("a classifier is expected, found {}", self.found());
            return Err(GroupingError { known: self.classifiers(), ..self.error(at, message) });
        }
        let Some(open) = self.take(&['(', '[']) else { return Ok(written) };
        let close = if open == '(' { ')' } else { ']' };
        loop {
            let (at, name) = self.name();
            if name.is_empty() {
                let message = format!("an option of {} is expected, found {}", written.name, self.found());
                let known = self.registry.entry(written.name).map(option_names).unwrap_or_default();
                return Err(GroupingError { known, ..self.error(at, message) });
            }
            let value = self.take(&['=']).map(|_| {
                let rest = &self.text[self.at..];
                let end = rest.find([',', close]).unwrap_or(rest.len());
                self.at += end;
                rest[..end].trim()
            });
            written.options.push((at, name, value));
            if self.take(&[close]).is_some() {
                return Ok(written);
            }
            if self.take(&[',']).is_none() {
                let message = format!("{close:?} or ',' is expected, found {}", self.found());
                return Err(self.error(self.at, message));
            }
        }
    }

    fn list(&mut self) -> Result<Vec<Written<'t>>, GroupingError> {
        let mut list = vec![self.classifier()?];
        while self.take(&['>', '›']).is_some() {
            list.push(self.classifier()?);
        }
        match self.peek() {
            None => Ok(list),
            Some(_) => {
                let message = format!("'>' is expected, found {}", self.found());
                Err(self.error(self.at, message))
            }
        }
    }
}

/// The grouping of a list. Its id is the list in its shortest form.
pub(super) fn parse(registry: &Registry, text: &str) -> Result<Grouping, GroupingError> {
    let mut parser = ListParser { registry, text, at: 0 };
    let list = parser.list()?;
    let mut made: Vec<Arc<dyn Classifier>> = Vec::new();
    let (mut id, mut above) = (Vec::new(), Vec::new());
    for written in &list {
        let Some(entry) = registry.entry(written.name) else {
            let (mut known, mut what) = (parser.classifiers(), "classifier");
            if list.len() == 1 {
                known.extend(registry.groupings().map(|g| g.id.clone()).filter(|g| registry.entry(g).is_none()));
                what = "classifier or grouping";
            }
            let error = parser.error(written.at, format!("there is no {what} {}", written.name));
            return Err(GroupingError { nearest: nearest(written.name, &known), known, ..error });
        };
        let options = options(&parser, entry, written)?;
        let request = ClassifierRequest { options: &options, above: &above };
        made.push(entry.make(&request).map_err(|m| parser.error(written.at, format!("{}: {m}", written.name)))?);
        id.push(canonical(written.name, &options));
        above.push(written.name);
    }
    Ok(Grouping::new(id.join(">"), made))
}

type Options<'t> = Vec<(&'t str, Option<&'t str>)>;

/// The options of a classifier, each known and written once.
fn options<'t>(
    parser: &ListParser<'_>,
    entry: &ClassifierEntry,
    written: &Written<'t>,
) -> Result<Options<'t>, GroupingError> {
    let mut options: Options<'t> = Vec::new();
    for &(at, name, value) in &written.options {
        let Some(info) = entry.options.iter().find(|o| o.name == name) else {
            let known = option_names(entry);
            let message = match known.len() {
                0 => format!("{} has no options", written.name),
                _ => format!("{} has no option {name}", written.name),
            };
            let nearest = nearest(name, &known);
            return Err(GroupingError { known, nearest, ..parser.error(at, message) });
        };
        match (info.example, value) {
            (Some(example), None | Some("")) => {
                return Err(parser.error(at, format!("the option {name} needs a value, such as {name}={example}")));
            }
            (None, Some(_)) => return Err(parser.error(at, format!("the option {name} has no value"))),
            _ if options.iter().any(|(other, _)| *other == name) => {
                return Err(parser.error(at, format!("the option {name} is there twice")));
            }
            _ => options.push((name, value)),
        }
    }
    options.sort_unstable();
    Ok(options)
}

fn option_names(entry: &ClassifierEntry) -> Vec<String> {
    entry.options.iter().map(|o| o.name.to_owned()).collect()
}

fn canonical(name: &str, options: &Options<'_>) -> String {
    let options: Vec<String> =
        options.iter().map(|(o, v)| v.map_or_else(|| (*o).to_owned(), |v| format!("{o}={v}"))).collect();
    if options.is_empty() { name.to_owned() } else { format!("{name}({})", options.join(",")) }
}

/// What is called most like a name, if it is at all.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let name = name.to_lowercase();
    let score = |k: &&String| strsim::jaro_winkler(&name, &k.to_lowercase());
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(&best) > 0.7).then(|| best.clone())
}

/// Where the name at the end of a text begins.
fn last_name(text: &str) -> usize {
    text.trim_end_matches(is_of_name).len()
}

/// What somebody who writes a grouping may want to write next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The whole text with it.
    pub text: String,
    /// What is put in.
    pub name: String,
    /// What it is, a line.
    pub description: String,
}

impl Registry {
    /// What could stand at the end of a text that is being written: names of classifiers, behind an open parenthesis
    /// options, that begin with what stands there, then those that hold it elsewhere.
    pub fn complete(&self, text: &str) -> Vec<Completion> {
        let (before, begun) = text.split_at(last_name(text));
        if before.trim_end().ends_with(|c| is_of_name(c) || c == ')' || c == ']') {
            // Another name cannot follow.
            return Vec::new();
        }
        let begun = begun.to_lowercase();
        let in_options = before.rfind(['(', '[']).filter(|&open| !before[open..].contains([')', ']']));
        let offers: Vec<(String, String)> = match in_options {
            Some(open) => {
                let name = before[..open].trim_end();
                let name = &name[last_name(name)..];
                let options = self.entry(name).map_or(&[][..], |e| e.options);
                let with_value = |o: &super::registry::OptionInfo| match o.example {
                    Some(_) => format!("{}=", o.name),
                    None => o.name.to_owned(),
                };
                options.iter().map(|o| (with_value(o), o.description.to_owned())).collect()
            }
            None => self.entries().iter().map(|e| (e.meta.id.to_string(), e.meta.description.to_string())).collect(),
        };
        let rank = |name: &str| match name.find(&begun) {
            Some(0) => Some(0),
            Some(_) => Some(1),
            None => None,
        };
        let mut ranked: Vec<(i32, Completion)> = offers
            .into_iter()
            .filter_map(|(name, description)| {
                Some((rank(&name)?, Completion { text: format!("{before}{name}"), name, description }))
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, completion)| completion).collect()
    }
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
        assert_eq!(texts("type>rooted(v"), ["type>rooted(variables"]);
        assert_eq!(texts("site(de"), ["site(depth="]);
        assert_eq!(texts("type thr"), [] as [&str; 0]);
        assert_eq!(texts("rooted(kind) "), [] as [&str; 0]);
        assert_eq!(texts("").len(), registry.classifiers().count());
        assert_eq!(texts("loader"), ["loader", "loaders"]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_grouping_or_an_error_with_a_place(text in "[a-z>›()\\[\\]=, ü-]{0,24}") {
            let registry = Registry::new();
            match registry.grouping(&text) {
                Ok(grouping) => prop_assert!(!grouping.classifiers.is_empty()),
                Err(error) => prop_assert!(error.at <= text.len() && !error.to_string().is_empty()),
            }
            registry.complete(&text);
        }
    }
}
