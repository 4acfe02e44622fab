//! The names of the format's fields, unknown fields, and places in a document.

use serde::de::{DeserializeSeed, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A field of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeField {
    Name,
    Role,
    Key,
    Objects,
    Bytes,
    Children,
}

/// A field of a document or of a time in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DocumentField {
    Format,
    Version,
    Label,
    Timestamp,
    Gc,
    Unreachable,
    Sampled,
    Overlaps,
    NestedRoles,
    Tree,
    Times,
    PointedFrom,
    PointsTo,
    Roots,
}

/// A field of a garbage collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GcField {
    Number,
    Kind,
    Cause,
    Duration,
    End,
    Freed,
    Pause,
}

/// A number of a pair of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PairField {
    Referencing,
    Referenced,
    References,
}

/// The fields of nodes, most frequent first.
pub(super) const NODE: &[(&str, NodeField)] = &[
    ("name", NodeField::Name),
    ("objects", NodeField::Objects),
    ("bytes", NodeField::Bytes),
    ("role", NodeField::Role),
    ("children", NodeField::Children),
    ("key", NodeField::Key),
];

/// The fields of documents.
pub(super) const DOCUMENT: &[(&str, DocumentField)] = &[
    ("label", DocumentField::Label),
    ("timestamp", DocumentField::Timestamp),
    ("tree", DocumentField::Tree),
    ("points-to", DocumentField::PointsTo),
    ("pointed-from", DocumentField::PointedFrom),
    ("roots", DocumentField::Roots),
    ("gc", DocumentField::Gc),
    ("unreachable", DocumentField::Unreachable),
    ("sampled", DocumentField::Sampled),
    ("overlaps", DocumentField::Overlaps),
    ("nested-roles", DocumentField::NestedRoles),
    ("times", DocumentField::Times),
    ("format", DocumentField::Format),
    ("version", DocumentField::Version),
];

/// The fields of garbage collections.
pub(super) const GC: &[(&str, GcField)] = &[
    ("number", GcField::Number),
    ("kind", GcField::Kind),
    ("cause", GcField::Cause),
    ("duration", GcField::Duration),
    ("end", GcField::End),
    ("freed", GcField::Freed),
    ("pause", GcField::Pause),
];

/// The fields of pairs.
pub(super) const PAIR: &[(&str, PairField)] = &[
    ("referencing", PairField::Referencing),
    ("referenced", PairField::Referenced),
    ("references", PairField::References),
];

/// The fields of an amount.
pub(super) const AMOUNT: &[(&str, usize)] = &[("objects", 0), ("bytes", 1)];

/// The fields of groups known by samples.
pub(super) const SAMPLED: &[(&str, usize)] = &[("samples", 0), ("objects", 1)];

/// A field, known or not.
pub(super) enum JsonField<'de, F> {
    Known(&'static str, F),
    Unknown(Cow<'de, str>),
}

/// Reads the name of a field.
pub(super) struct FieldSeed<F: 'static>(pub &'static [(&'static str, F)]);

impl<F: Copy> FieldSeed<F> {
    #[inline]
    fn find(&self, name: &str) -> Option<(&'static str, F)> {
        self.0.iter().find(|(known, _)| *known == name).copied()
    }
}

impl<'de, F: Copy> DeserializeSeed<'de> for FieldSeed<F> {
    type Value = JsonField<'de, F>;
    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_str(self)
    }
}

impl<'de, F: Copy> Visitor<'de> for FieldSeed<F> {
    type Value = JsonField<'de, F>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }
    #[inline]
    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(match self.find(name) {
            Some((name, field)) => JsonField::Known(name, field),
            None => JsonField::Unknown(Cow::Borrowed(name)),
        })
    }
    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(match self.find(name) {
            Some((name, field)) => JsonField::Known(name, field),
            None => JsonField::Unknown(Cow::Owned(name.to_owned())),
        })
    }
}

/// Where in a document the parser is: `times[3].tree.children[2].objects`.
#[derive(Default)]
pub(super) struct Path {
    steps: Vec<JsonStep>,
    /// The field whose value is read, when that value has no inside.
    pub field: &'static str,
}

#[derive(Clone, Copy)]
pub(super) enum JsonStep {
    /// A field with something inside.
    Field(&'static str),
    /// An element of a list.
    Index(u32),
    /// A group of a reference map, as a symbol.
    Group(u32),
}

/// More steps than this at each end are counted instead of written.
const SHOWN: usize = 12;

impl Path {
    /// Goes inside. Not undone when something fails: then the path says where.
    #[inline]
    pub fn enter(&mut self, step: JsonStep) {
        self.steps.push(step);
        self.field = "";
    }

    /// Comes back.
    #[inline]
    pub fn leave(&mut self) {
        self.steps.pop();
        self.field = "";
    }

    /// The next element of the list.
    #[inline]
    pub fn next(&mut self, index: u32) {
        if let Some(last) = self.steps.last_mut() {
            *last = JsonStep::Index(index);
        }
    }

    /// The innermost field.
    pub fn innermost(&self) -> &'static str {
        let of = |step: &JsonStep| match step {
            JsonStep::Field(name) => Some(*name),
            _ => None,
        };
        Some(self.field).filter(|f| !f.is_empty()).or_else(|| self.steps.iter().rev().find_map(of)).unwrap_or_default()
    }

    /// Steps and the innermost field; `name` gives the text of a symbol.
    pub fn text<'a>(&self, name: impl Fn(u32) -> &'a str) -> String {
        let mut text = String::new();
        let n = self.steps.len();
        for (i, step) in self.steps.iter().enumerate() {
            if i >= SHOWN && i + SHOWN < n {
                if i == SHOWN {
                    text.push_str(&format!("…({} steps)…", n - 2 * SHOWN));
                }
                continue;
            }
            match step {
                JsonStep::Field(name) => push_field(&mut text, name),
                JsonStep::Index(index) => text.push_str(&format!("[{index}]")),
                JsonStep::Group(symbol) => text.push_str(&format!("[{:?}]", shortened(name(*symbol), 80))),
            }
        }
        if !self.field.is_empty() {
            push_field(&mut text, self.field);
        }
        text
    }
}

fn push_field(text: &mut String, name: &str) {
    if !text.is_empty() {
        text.push('.');
    }
    text.push_str(name);
}

/// At most `most` characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Counts of fields that the format does not have. Additions of other tools are ignored, and listed once.
#[derive(Clone, Default, Debug)]
pub(super) struct Unknown {
    list: Vec<Left>,
    /// How often others came when the list was full.
    others: u64,
}

/// A field that was left out.
#[derive(Clone, Debug)]
struct Left {
    /// The object it is a field of.
    of: &'static str,
    name: String,
    times: u64,
}

/// Characters of a name that are kept: it is untrusted, and only shown.
const SHOWN_OF_NAME: usize = 60;

/// Most names that are listed; a writer that uses names as data has millions.
const LISTED: usize = 40;

impl Unknown {
    pub fn note(&mut self, of: &'static str, name: &str) {
        let name = shortened(name, SHOWN_OF_NAME);
        if let Some(left) = self.list.iter_mut().find(|l| l.name == name && l.of == of) {
            left.times += 1;
        } else if self.list.len() < LISTED {
            self.list.push(Left { of, name, times: 1 });
        } else {
            self.others += 1;
        }
    }

    /// The message, if there is any unknown field.
    pub fn message(&self) -> Option<String> {
        let mut list: Vec<&Left> = self.list.iter().collect();
        list.sort_by_key(|l| (l.of, &l.name));
        let times = |n: u64| if n == 1 { "once".to_owned() } else { format!("{n} times") };
        let mut parts: Vec<String> =
            list.into_iter().map(|l| format!("{:?} in a {} ({})", l.name, l.of, times(l.times))).collect();
        if self.others > 0 {
            parts.push(format!("and others ({})", times(self.others)));
        }
        (!parts.is_empty()).then(|| {
            format!(
                "fields that the format does not have were left out: {}. Nothing else is affected",
                parts.join(", ")
            )
        })
    }
}
