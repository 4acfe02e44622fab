//! Parameters of analyses, with defaults, ranges and explanations, and their values.

use super::interface::Description;
use crate::timeline::{Metric, Timeline};
use memory_city_heap::error::{Error, Result};
use std::collections::BTreeMap;

/// A parameter of an analysis.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Parameter {
    /// Name for command lines and files: `top`.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Its effect, a sentence.
    pub explanation: &'static str,
    /// The kind of its values.
    #[serde(flatten)]
    pub kind: ParameterKind,
}

/// The parameters that say how many rows are listed.
const ROWS: [&str; 5] = ["top", "most", "referrers", "roots", "frames"];

/// The values with which an analysis lists as many rows as it can, by name.
pub fn all_rows(description: &Description) -> impl Iterator<Item = (&'static str, String)> {
    description.parameters.iter().filter_map(|parameter| match parameter.kind {
        ParameterKind::Number { most, .. } if ROWS.contains(&parameter.id) => Some((parameter.id, most.to_string())),
        _ => None,
    })
}

impl Parameter {
    /// A whole number between two.
    pub(super) fn number(
        id: &'static str,
        title: &'static str,
        explanation: &'static str,
        default: u64,
        least: u64,
        most: u64,
    ) -> Parameter {
        Parameter { id, title, explanation, kind: ParameterKind::Number { default, least, most } }
    }
}

/// The kind of a parameter's values, with its default.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ParameterKind {
    /// A whole number.
    Number {
        /// The default.
        default: u64,
        /// The least it may be.
        least: u64,
        /// The most it may be.
        most: u64,
    },
    /// One of some words.
    Choice {
        /// The default.
        default: &'static str,
        /// All of them.
        choices: &'static [&'static str],
    },
    /// Any text: the key of a group, an address.
    Text {
        /// The default.
        default: &'static str,
    },
    /// A metric of the timeline, by its id; which there are depends on the document.
    Metric {
        /// The default.
        default: &'static str,
    },
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum Argument {
    /// A whole number.
    Number(u64),
    /// A word: a choice, a text, or the id of a metric.
    Word(String),
}

/// The values of all parameters of an analysis, each within its range.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Arguments(BTreeMap<&'static str, Argument>);

impl ParameterKind {
    fn default_argument(&self) -> Argument {
        match *self {
            ParameterKind::Number { default, .. } => Argument::Number(default),
            ParameterKind::Choice { default, .. }
            | ParameterKind::Text { default }
            | ParameterKind::Metric { default } => Argument::Word(default.into()),
        }
    }

    /// The possible values, for people: `a whole number from 0 to 100`.
    pub fn text(&self) -> String {
        match self {
            ParameterKind::Number { least, most: u64::MAX, .. } => format!("a whole number from {least}"),
            ParameterKind::Number { least, most, .. } => format!("a whole number from {least} to {most}"),
            ParameterKind::Choice { choices, .. } => format!("one of {}", choices.join(", ")),
            ParameterKind::Text { .. } => "a text".to_owned(),
            ParameterKind::Metric { .. } => "a metric of the input: objects, bytes or a further one".to_owned(),
        }
    }

    /// The default, as typed.
    pub fn default_text(&self) -> String {
        match self.default_argument() {
            Argument::Number(n) => n.to_string(),
            Argument::Word(word) => word,
        }
    }

    fn parse(&self, text: &str) -> Option<Argument> {
        match self {
            ParameterKind::Number { least, most, .. } => {
                text.trim().parse().ok().filter(|n| (least..=most).contains(&n)).map(Argument::Number)
            }
            ParameterKind::Choice { choices, .. } => {
                choices.contains(&text.trim()).then(|| Argument::Word(text.trim().to_owned()))
            }
            // A name may begin or end with a blank.
            ParameterKind::Text { .. } => Some(Argument::Word(text.to_owned())),
            ParameterKind::Metric { .. } => Some(Argument::Word(text.trim().to_owned())),
        }
    }
}

impl Arguments {
    /// The defaults of an analysis.
    pub fn defaults(description: &Description) -> Arguments {
        Arguments(description.parameters.iter().map(|p| (p.id, p.kind.default_argument())).collect())
    }

    /// The defaults, overridden by texts by name.
    ///
    /// # Errors
    /// When there is no such parameter, or the value is not allowed; lists the allowed values.
    pub fn parse<'a>(
        description: &Description,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Arguments> {
        let mut arguments = Arguments::defaults(description);
        for (name, text) in given {
            arguments.set(description, name, text)?;
        }
        Ok(arguments)
    }

    /// Sets a parameter from text.
    ///
    /// # Errors
    /// As [`Arguments::parse`].
    pub fn set(&mut self, description: &Description, name: &str, text: &str) -> Result<()> {
        let Some(parameter) = description.parameters.iter().find(|p| p.id == name) else {
            let known: Vec<&str> = description.parameters.iter().map(|p| p.id).collect();
            return Err(Error::Unusable {
                what: format!("The analysis {} has no parameter {name}", description.id),
                remedy: match known.len() {
                    0 => "It has none".to_owned(),
                    _ => format!("Use one of: {}", known.join(", ")),
                },
            });
        };
        let Some(argument) = parameter.kind.parse(text) else {
            return Err(Error::Unusable {
                what: format!("The parameter {name} cannot be {text:?}"),
                remedy: format!("Let it be {}", parameter.kind.text()),
            });
        };
        self.0.insert(parameter.id, argument);
        Ok(())
    }

    /// All of them by name, for people and for panels.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Argument)> {
        self.0.iter().map(|(id, argument)| (*id, argument))
    }

    /// A number; 0 where the analysis has no such parameter, which is a mistake in the analysis.
    pub fn number(&self, id: &str) -> u64 {
        match self.0.get(id) {
            Some(Argument::Number(n)) => *n,
            _ => {
                debug_assert!(false, "no number {id} among the parameters");
                0
            }
        }
    }

    /// As [`Arguments::number`], for counts of things in memory.
    pub fn count(&self, id: &str) -> usize {
        usize::try_from(self.number(id)).unwrap_or(usize::MAX)
    }

    /// A word; empty where the analysis has no such parameter, which is a mistake in the analysis.
    pub fn word(&self, id: &str) -> &str {
        match self.0.get(id) {
            Some(Argument::Word(word)) => word,
            _ => {
                debug_assert!(false, "no word {id} among the parameters");
                ""
            }
        }
    }

    /// The metric that a parameter names.
    ///
    /// # Errors
    /// When the timeline has none of that name; says which it has.
    pub fn metric(&self, id: &str, timeline: &Timeline) -> Result<Metric> {
        metric_of(timeline, self.word(id))
    }
}

/// The metric of a timeline by its id.
///
/// # Errors
/// When there is none; says which there are.
pub fn metric_of(timeline: &Timeline, id: &str) -> Result<Metric> {
    timeline.metric(id).ok_or_else(|| {
        let known: Vec<String> = timeline.metrics().map(|m| timeline.metric_info(m).id.to_string()).collect();
        Error::Unusable {
            what: format!("There is no metric {id} in this input"),
            remedy: format!("Use one of: {}", known.join(", ")),
        }
    })
}
