//! The parser of descriptions. It keeps a stack of its own: no nesting exhausts that of the thread.

use super::fields::{CountTerm, FieldCount, FieldPath, FieldSum};
use super::tokens::{FileToken, TokenKind, Tokens};
use crate::error::Error;
use rustc_hash::FxHashMap;
use std::fmt;

/// A file of descriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructureFile {
    descriptions: Vec<TypeDescription>,
}

/// The description of a type, or of all types that a name with `*` fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeDescription {
    pub(super) name: String,
    pub(super) is_head: bool,
    pub(super) points_to: Vec<PointedType>,
    pub(super) size: Option<FieldCount>,
    pub(super) capacity: Option<FieldCount>,
    pub(super) load: Vec<FieldPath>,
    pub(super) key: Vec<FieldPath>,
    pub(super) value: Vec<FieldPath>,
    pub(super) label: Vec<FieldPath>,
}

/// A type that the objects of a description point to within the structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointedType {
    /// Its name with its namespace; `*` stands for any text.
    pub name: String,
    /// Whether its objects are contents, and the structure ends there.
    pub is_leaf: bool,
}

impl TypeDescription {
    /// The name of the type, with its namespace; `*` stands for any text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the objects of the type are heads of structures.
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// The types that belong to the structure where its objects point to them.
    pub fn points_to(&self) -> &[PointedType] {
        &self.points_to
    }

    /// Where the number of elements stands.
    pub fn size(&self) -> Option<&FieldCount> {
        self.size.as_ref()
    }

    /// Where the number of elements stands that there is room for.
    pub fn capacity(&self) -> Option<&FieldCount> {
        self.capacity.as_ref()
    }

    /// Where the load factor of a hash table stands, in the order of preference.
    pub fn load(&self) -> &[FieldPath] {
        &self.load
    }

    /// Where the key of an entry stands, in the order of preference.
    pub fn key(&self) -> &[FieldPath] {
        &self.key
    }

    /// Where the value of an entry, or the element of a node, stands, in the order of preference.
    pub fn value(&self) -> &[FieldPath] {
        &self.value
    }

    /// Where a name worth showing stands, in the order of preference.
    pub fn label(&self) -> &[FieldPath] {
        &self.label
    }

    /// Whether an object of it is an entry: it has a key or a value of its own.
    pub fn is_entry(&self) -> bool {
        !self.key.is_empty() || !self.value.is_empty()
    }
}

/// A place where a file breaks the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The content found.
    pub found: String,
    /// The expected content.
    pub expected: String,
}

impl DescriptionError {
    pub(super) fn new(file: &str, text: &str, at: usize, found: String, expected: &str) -> DescriptionError {
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        DescriptionError {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[start..].trim_start_matches('\u{feff}').chars().count() + 1,
            found,
            expected: expected.to_owned(),
        }
    }

    /// As an error of the engine.
    pub fn unusable(self) -> Error {
        let remedy = "Correct the file; the language is explained in docs/structures.md".to_owned();
        Error::Unusable { what: self.to_string(), remedy }
    }
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DescriptionError { file, line, column, found, expected } = self;
        write!(f, "{file}, line {line}, column {column}: found {found}, expected {expected}")
    }
}

impl std::error::Error for DescriptionError {}

/// Most bytes of a file.
const MOST_BYTES: usize = 16 << 20;
/// Most names with `*` in a file, bare ones not counted: each is compared with each type of a heap.
const MOST_WILDCARDS: usize = 1000;
/// Namespaces within each other.
const DEEPEST: usize = 64;

/// The names of facts in braces.
const FACTS: &str = "`size`, `capacity`, `load`, `key`, `value` or `name` before `:`";

impl StructureFile {
    /// The descriptions of a text. Linear in its length; `file` names it in errors.
    ///
    /// # Errors
    /// At the first place that breaks the language.
    pub fn parse(file: &str, text: &str) -> Result<StructureFile, DescriptionError> {
        if text.len() > MOST_BYTES {
            let (found, expected) = (format!("{} bytes", text.len()), format!("at most {MOST_BYTES}"));
            return Err(DescriptionError::new(file, text, 0, found, &expected));
        }
        let mut parser = Parser { file, text, tokens: Tokens::new(text), next: END, wildcards: 0 };
        parser.advance()?;
        let mut namespaces: Vec<String> = Vec::new();
        let mut descriptions: Vec<TypeDescription> = Vec::new();
        let mut lines: FxHashMap<String, usize> = FxHashMap::default();
        loop {
            let token = parser.next;
            if token.kind == TokenKind::End && namespaces.is_empty() {
                return Ok(StructureFile { descriptions });
            }
            if token.is("}") && namespaces.pop().is_some() {
                parser.advance()?;
                continue;
            }
            let inside = namespaces.last().map_or("", String::as_str);
            if token.kind == TokenKind::Name && token.text == "namespace" {
                parser.advance()?;
                let name = parser.package()?;
                if namespaces.len() == DEEPEST {
                    let expected = format!("at most {DEEPEST} namespaces within each other");
                    return Err(parser.wrong_at(token.at, "one more namespace".into(), &expected));
                }
                let whole = if inside.is_empty() { name } else { format!("{inside}.{name}") };
                namespaces.push(whole);
                parser.mark("{")?;
                continue;
            }
            let is_head = token.kind == TokenKind::Name && token.text == "DS";
            if is_head {
                parser.advance()?;
            }
            let at = parser.next.at;
            let expected = match (is_head, inside) {
                (true, _) => "the name of a type behind `DS`",
                (false, "") => "`DS`, `namespace`, or the name of a type",
                (false, _) => "`DS`, `namespace`, the name of a type, or `}`",
            };
            let name = parser.type_name(inside, expected)?;
            if name == "*" {
                return Err(parser.wrong_at(at, "a description of all types".into(), "a name with more than `*`"));
            }
            if let Some(first) = lines.insert(name.clone(), at) {
                let line = DescriptionError::new(file, text, first, String::new(), "").line;
                let found = format!("a second description of {name}");
                return Err(parser.wrong_at(at, found, &format!("one; the first is in line {line}")));
            }
            descriptions.push(parser.body(name, is_head, inside)?);
        }
    }

    /// The descriptions, in the order of the file.
    pub fn descriptions(&self) -> &[TypeDescription] {
        &self.descriptions
    }

    pub(super) fn into_descriptions(self) -> Vec<TypeDescription> {
        self.descriptions
    }
}

const END: FileToken<'static> = FileToken { kind: TokenKind::End, text: "", at: 0 };

struct Parser<'t> {
    file: &'t str,
    text: &'t str,
    tokens: Tokens<'t>,
    next: FileToken<'t>,
    wildcards: usize,
}

impl<'t> Parser<'t> {
    fn wrong_at(&self, at: usize, found: String, expected: &str) -> DescriptionError {
        DescriptionError::new(self.file, self.text, at, found, expected)
    }

    fn wrong(&self, expected: &str) -> DescriptionError {
        self.wrong_at(self.next.at, self.next.found(), expected)
    }

    /// The token at hand; goes on to the next that is no comment.
    fn advance(&mut self) -> Result<FileToken<'t>, DescriptionError> {
        let token = self.next;
        loop {
            self.next = self.tokens.next(self.file)?;
            if self.next.kind != TokenKind::Comment {
                return Ok(token);
            }
        }
    }

    fn mark(&mut self, mark: &str) -> Result<(), DescriptionError> {
        if !self.next.is(mark) {
            return Err(self.wrong(&format!("`{mark}`")));
        }
        self.advance().map(|_| ())
    }

    fn package(&mut self) -> Result<String, DescriptionError> {
        let expected = "the name of a package behind `namespace`";
        if !matches!(self.next.kind, TokenKind::Name | TokenKind::Quoted) || self.next.text.contains('*') {
            return Err(self.wrong(expected));
        }
        let name = self.next.text;
        if name.is_empty() || name.split('.').any(str::is_empty) {
            return Err(self.wrong(expected));
        }
        self.advance()?;
        Ok(name.to_owned())
    }

    /// The name of a type, with its namespace: names with a dot, and `*` alone, stand for themselves.
    fn type_name(&mut self, inside: &str, expected: &str) -> Result<String, DescriptionError> {
        let token = self.next;
        if !matches!(token.kind, TokenKind::Name | TokenKind::Quoted) || token.text.is_empty() {
            return Err(self.wrong(expected));
        }
        let name = match token.text.strip_prefix('.') {
            Some("") => return Err(self.wrong(expected)),
            Some(name) => name.to_owned(),
            None if inside.is_empty() || token.text.contains('.') || token.text == "*" => token.text.to_owned(),
            None => format!("{inside}.{}", token.text),
        };
        if name != "*" && name.contains('*') {
            self.wildcards += 1;
            if self.wildcards > MOST_WILDCARDS {
                let expected = format!("at most {MOST_WILDCARDS}");
                return Err(self.wrong_at(token.at, "one more name with `*`".into(), &expected));
            }
        }
        self.advance()?;
        Ok(name)
    }

    /// What stands in the braces of a description.
    fn body(&mut self, name: String, is_head: bool, inside: &str) -> Result<TypeDescription, DescriptionError> {
        let mut description = TypeDescription { name, is_head, ..TypeDescription::default() };
        self.mark("{")?;
        loop {
            if self.next.is("}") {
                self.advance()?;
                return Ok(description);
            }
            if self.next.is("(") {
                self.advance()?;
                let name = self.type_name(inside, "the name of a type")?;
                self.mark(")")?;
                description.points_to.push(PointedType { name, is_leaf: true });
            } else {
                let before = (self.next, self.wildcards);
                let name = self.type_name(inside, "the name of a type, `(`, a fact such as `size:`, or `}`")?;
                if self.next.is(":") {
                    self.wildcards = before.1;
                    self.fact(before.0, &mut description)?;
                } else {
                    description.points_to.push(PointedType { name, is_leaf: false });
                }
            }
            self.mark(";")?;
        }
    }

    /// A fact, from the colon on.
    fn fact(&mut self, name: FileToken<'t>, into: &mut TypeDescription) -> Result<(), DescriptionError> {
        let is_new = match name.text {
            "size" => into.size.is_none(),
            "capacity" => into.capacity.is_none(),
            "load" => into.load.is_empty(),
            "key" => into.key.is_empty(),
            "value" => into.value.is_empty(),
            "name" => into.label.is_empty(),
            _ => return Err(self.wrong_at(name.at, name.found(), FACTS)),
        };
        if !is_new {
            return Err(self.wrong_at(name.at, format!("`{}` again", name.text), "each fact once"));
        }
        self.advance()?;
        match name.text {
            "size" => into.size = Some(self.count()?),
            "capacity" => into.capacity = Some(self.count()?),
            "load" => into.load = self.paths()?,
            "key" => into.key = self.paths()?,
            "value" => into.value = self.paths()?,
            _ => into.label = self.paths()?,
        }
        Ok(())
    }

    fn path(&mut self) -> Result<FieldPath, DescriptionError> {
        if self.next.kind != TokenKind::Name {
            return Err(self.wrong("a field"));
        }
        let path = FieldPath::parse(self.next.text).map_err(|expected| self.wrong(expected))?;
        self.advance()?;
        Ok(path)
    }

    /// Paths with commas between them.
    fn paths(&mut self) -> Result<Vec<FieldPath>, DescriptionError> {
        let mut paths = vec![self.path()?];
        while self.next.is(",") {
            self.advance()?;
            paths.push(self.path()?);
        }
        Ok(paths)
    }

    /// Sums with commas between them.
    fn count(&mut self) -> Result<FieldCount, DescriptionError> {
        let mut choices = Vec::new();
        loop {
            let mut terms = vec![CountTerm { minus: false, path: self.path()? }];
            while self.next.is("+") || self.next.is("-") {
                let minus = self.advance()?.is("-");
                terms.push(CountTerm { minus, path: self.path()? });
            }
            let mut divisor = 1;
            if self.next.is("/") {
                self.advance()?;
                let number = self.next.text.parse().ok().filter(|n| *n > 0);
                divisor = number.ok_or_else(|| self.wrong("a whole number from 1"))?;
                self.advance()?;
            }
            choices.push(FieldSum { terms, divisor });
            if !self.next.is(",") {
                return Ok(FieldCount(choices));
            }
            self.advance()?;
        }
    }
}
