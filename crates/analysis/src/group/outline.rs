//! The outline of a typed grouping: its parts, for an editor that shows them as rows, changes them, and writes them down again.
//!
//! Only the syntax is checked here; [`Registry::grouping`] checks names and values.

use super::classifier::Cardinality;
use super::expression;
use super::filter::{NUMBERS, filter_numbers};
use super::registry::{Inside, Registry};
use crate::grammar::{ExpressionError, in_quotes};
use std::borrow::Cow;
use std::fmt;

/// Where a part stands in the text it was read from: a byte. It is of no account when parts are compared.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct TextPlace(pub(super) usize);

impl PartialEq for TextPlace {
    fn eq(&self, _: &TextPlace) -> bool {
        true
    }
}

/// One classifier of a list, with the content of its parentheses. Its text is the one in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupingLevel {
    /// Its name.
    pub id: String,
    /// The content of its parentheses.
    pub inside: LevelInside,
    /// Where its name stands.
    pub at: TextPlace,
}

/// The content of a classifier's parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelInside {
    /// Options; none is as good as no parentheses.
    Options(Vec<LevelOption>),
    /// The list of a transformer; an empty one is as good as no parentheses.
    List(Vec<GroupingLevel>),
    /// The conditions of a filter, all of which must hold.
    Conditions(Vec<LevelCondition>),
}

/// An option as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelOption {
    /// Its name.
    pub name: String,
    /// Its value, where it has one.
    pub value: Option<String>,
    /// Where its name stands.
    pub at: TextPlace,
}

/// A condition as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelCondition {
    /// Whether it must not hold.
    pub not: bool,
    /// The number, classifier or filter that is asked for.
    pub of: GroupingLevel,
    /// Operator and value; a filter has none.
    pub compared: Option<(String, String)>,
    /// Where the value stands.
    pub at: TextPlace,
}

/// A value as it is written: in quotation marks where it could be taken for something else.
pub(super) fn quoted(value: &str) -> Cow<'_, str> {
    // What is written shortest stands in parentheses, where brackets close nothing.
    let joins = [" and ", " or "].iter().any(|word| format!("{value} ").contains(word));
    match joins || value.starts_with('=') || value.contains([',', '(', ')', '"', '\\']) || value.trim() != value {
        true => in_quotes(value).into(),
        false => value.into(),
    }
}

/// A list of levels as it is written.
pub fn list_text(levels: &[GroupingLevel]) -> String {
    levels.iter().map(GroupingLevel::to_string).collect::<Vec<_>>().join(">")
}

impl GroupingLevel {
    /// A level that was not typed.
    fn new(id: &str, inside: LevelInside) -> GroupingLevel {
        GroupingLevel { id: id.to_owned(), inside, at: TextPlace::default() }
    }
}

impl fmt::Display for GroupingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)?;
        let inside = match &self.inside {
            LevelInside::Options(options) => options.iter().map(LevelOption::to_string).collect::<Vec<_>>().join(","),
            LevelInside::List(list) => list_text(list),
            LevelInside::Conditions(all) => {
                // A filter has parentheses, whatever stands in them.
                let all: Vec<String> = all.iter().map(LevelCondition::to_string).collect();
                return write!(f, "({})", all.join(" and "));
            }
        };
        if inside.is_empty() { Ok(()) } else { write!(f, "({inside})") }
    }
}

impl fmt::Display for LevelOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={}", self.name, quoted(value)),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Display for LevelCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.not { "not " } else { "" }, self.of)?;
        match &self.compared {
            Some((operator, value)) => write!(f, "{operator}{}", quoted(value)),
            None => Ok(()),
        }
    }
}

/// The effect of a part of a list on the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Divides them.
    Classifier,
    /// Leaves some out.
    Filter,
    /// Puts others in their place.
    Transformer,
}

impl PartKind {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            PartKind::Classifier => "classifier",
            PartKind::Filter => "filter",
            PartKind::Transformer => "transformer",
        }
    }
}

/// The option of a classifier that names a file.
pub(super) const FILE: &str = "file";

impl Registry {
    /// The levels of a list as it is written; those of its list where the text is the name of a grouping.
    ///
    /// # Errors
    /// When it is not written as lists are. Names that nothing has are no error here.
    pub fn levels(&self, text: &str) -> Result<Vec<GroupingLevel>, ExpressionError> {
        match self.preset(text.trim()) {
            Some(preset) => expression::levels(self, &preset.list),
            None => expression::levels(self, text),
        }
    }

    /// A new level: the classifier of a name without options. A filter gets an example condition; a typed filter is a condition by itself.
    pub fn new_level(&self, id: &str) -> GroupingLevel {
        if let Some((PartKind::Filter, true)) = self.part(id) {
            // A filter that somebody typed is for leaving objects out.
            let conditions = vec![self.new_condition(id)];
            return GroupingLevel::new("filter", LevelInside::Conditions(conditions));
        }
        let inside = match self.entry(id).map(|entry| entry.inside) {
            Some(Inside::List) => LevelInside::List(vec![self.new_level("type")]),
            Some(Inside::Conditions) => LevelInside::Conditions(vec![self.new_condition("size")]),
            _ => LevelInside::Options(Vec::new()),
        };
        GroupingLevel::new(id, inside)
    }

    /// A condition to begin with on the number, classifier or filter of a name: `size > 1kB`, `type ~ java.lang.String`.
    pub fn new_condition(&self, of: &str) -> LevelCondition {
        let level = GroupingLevel::new(of, LevelInside::Options(Vec::new()));
        let compared = match self.entry(of) {
            _ if self.is_number(of) => {
                Some((">".to_owned(), if of == "size" { "1kB".to_owned() } else { "1".to_owned() }))
            }
            Some(entry) if entry.meta.cardinality != Cardinality::Filter => {
                Some(("~".to_owned(), entry.meta.example.to_string()))
            }
            _ => None,
        };
        LevelCondition { not: false, of: level, compared, at: TextPlace::default() }
    }

    /// Whether filters compare it as a number.
    pub fn is_number(&self, of: &str) -> bool {
        NUMBERS.iter().any(|number| number.name == of)
    }

    /// The quantities that filters can use: numbers, classifiers, other filters; name and description.
    pub fn askable(&self) -> Vec<(String, String)> {
        let numbers = filter_numbers().map(|(name, about)| (name.to_owned(), about.to_owned()));
        let known = self.entries().iter().filter(|e| e.inside != Inside::Conditions && !self.is_number(&e.meta.id));
        numbers.chain(known.map(|e| (e.meta.id.to_string(), e.meta.description.to_string()))).collect()
    }

    /// The effect of a part on the objects, and whether it is a typed script; `None` for an unknown name.
    pub fn part(&self, id: &str) -> Option<(PartKind, bool)> {
        let entry = self.entry(id)?;
        let kind = match (entry.inside, entry.meta.cardinality) {
            (Inside::List, _) | (_, Cardinality::Transformer) => PartKind::Transformer,
            (Inside::Conditions, _) => PartKind::Filter,
            (_, Cardinality::Filter) if entry.script.is_some() => PartKind::Filter,
            _ => PartKind::Classifier,
        };
        Some((kind, entry.script.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_taken_apart_and_written_again() {
        let registry = Registry::new();
        for text in [
            "type",
            "package>type",
            "rooted(direct,kind)>points-to",
            "site(depth=3)>type",
            "type>pointed-from(type>pointed-from(package>type))",
            "filter(size>1MB and not reachable and package=com.acme)>type",
            "filter(site~\"Cart.add(), then\")>type",
        ] {
            let levels = registry.levels(text).expect("a list");
            assert_eq!(list_text(&levels), text);
            assert_eq!(registry.grouping(&list_text(&levels)).map(|g| g.classifiers.len()), Ok(levels.len()));
        }
        // Names stand for their lists.
        let levels = registry.levels("what-is-garbage").expect("a name");
        assert_eq!(list_text(&levels), "filter(not reachable)>type");
        // Names that are not there can be shown, and put right.
        assert_eq!(registry.levels("tpye>package").map(|levels| levels.len()), Ok(2));
        assert!(registry.levels("type>").is_err());
    }

    #[test]
    fn whatever_is_begun_with_is_right() {
        let registry = Registry::new();
        for (meta, _) in registry.classifiers() {
            let level = registry.new_level(&meta.id);
            // What needs to be told more says so: a file of features.
            if let Err(error) = registry.grouping(&level.to_string()) {
                assert_eq!(meta.id, "feature", "{error}");
            }
        }
        let mut registry = registry;
        let script =
            crate::group::script::ClassifierScript::parse("big", "// cardinality: filter\no.size > 9").expect("it");
        registry.define(script).expect("known");
        assert_eq!(registry.new_level("big").to_string(), "filter(big)");
        for (name, _) in registry.askable() {
            let condition = registry.new_condition(&name);
            let level = GroupingLevel::new("filter", LevelInside::Conditions(vec![condition])).to_string();
            if let Err(error) = registry.grouping(&level) {
                assert_eq!(name, "feature", "{level}: {error}");
            }
        }
    }

    proptest! {
        /// Any typed value is the same when it is read again.
        #[test]
        fn values_come_back(value in r#"[a-z ,()\[\]"\\=>and or]{1,20}"#) {
            let value = value.trim().to_owned();
            prop_assume!(!value.is_empty());
            let registry = Registry::new();
            let mut condition = registry.new_condition("type");
            condition.compared = Some(("~".into(), value.clone()));
            let filter = GroupingLevel::new("filter", LevelInside::Conditions(vec![condition.clone()]));
            let option = LevelOption { name: "packages".into(), value: Some(value), at: TextPlace::default() };
            let site = GroupingLevel::new("domain-site", LevelInside::Options(vec![option]));
            let levels = vec![filter, site];
            prop_assert_eq!(registry.levels(&list_text(&levels)), Ok(levels));
        }
    }
}
