//! Construction of classifiers from a parsed grouping.

use crate::grammar::{ExpressionError, FilterComparison, Operator, Parsed, Typed, operator};
use crate::group::classifier::{Cardinality, Classifier};
use crate::group::filter::{self, FilterCondition};
use crate::group::grouping;
use crate::group::outline::{GroupingLevel, LevelCondition, LevelInside, LevelOption, TextPlace, quoted};
use crate::group::registry::{ClassifierEntry, ClassifierRequest, Inside, Registry};
use crate::units;
use std::sync::Arc;

type BuiltList = (Vec<Arc<dyn Classifier>>, String);

type MadeClassifier = (Arc<dyn Classifier>, String);

type Options<'t> = Vec<(&'t str, Option<&'t str>)>;

fn wrong(at: &TextPlace, message: impl Into<String>) -> ExpressionError {
    ExpressionError::new(at.0, message)
}

impl Registry {
    /// The classifiers of a list, and how it is written shortest.
    pub(super) fn make_list(&self, list: &[GroupingLevel], top: bool) -> Parsed<BuiltList> {
        let mut made: Vec<(Arc<dyn Classifier>, String)> = Vec::new();
        let mut above = Vec::new();
        let mut behind = None;
        for written in list {
            let (one, text) = self.make_level(written, &above, top && list.len() == 1)?;
            if let Some(before) = behind
                && one.transform().is_none()
                && !one.passes()
            {
                let message =
                    format!("nothing is divided behind {before}(...): put {} before it or into it", written.id);
                return Err(wrong(&written.at, message));
            }
            if let Some(found) = one.transform() {
                if made.iter().any(|(other, _)| other.transform().is_some_and(|other| other.row == found.row)) {
                    let message = format!("{}(...) is there twice in a list: put one into the other", written.id);
                    return Err(wrong(&written.at, message));
                }
                behind = behind.or(Some(&written.id));
            }
            made.push((one, text));
            above.push(&*written.id);
        }
        // As they are applied.
        made.sort_by_key(|(c, _)| grouping::order(&**c));
        let (classifiers, texts): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        Ok((classifiers, texts.join(">")))
    }

    fn make_level(&self, written: &GroupingLevel, above: &[&str], alone: bool) -> Parsed<MadeClassifier> {
        let name = &*written.id;
        let Some(entry) = self.entry(name) else {
            let (mut known, mut what) = (self.classifier_names(), "classifier");
            if alone {
                let groupings = self.groupings().map(|g| g.id.clone());
                known.extend(groupings.filter(|g| self.entry(g).is_none()));
                what = "classifier or grouping";
            }
            return Err(wrong(&written.at, format!("there is no {what} {name}")).nearest(name, known));
        };
        let (mut options, mut list, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
        let inside = match &written.inside {
            LevelInside::Options(of) => {
                options = known_options(entry, of)?;
                canonical(&options)
            }
            LevelInside::List(inner) => {
                let (classifiers, text) = self.make_list(inner, false)?;
                list = classifiers;
                text
            }
            LevelInside::Conditions(all) => {
                let mut texts = Vec::new();
                for one in all {
                    let (condition, text) = self.make_condition(one)?;
                    conditions.push(condition);
                    texts.push(text);
                }
                texts.join(" and ")
            }
        };
        let (list, conditions, domain) = (&list, &conditions, self.domain());
        let request = ClassifierRequest { options: &options, above, list, conditions, text: &inside, domain };
        let made = entry.make(&request).map_err(|m| wrong(&written.at, format!("{name}: {m}")))?;
        let text = if inside.is_empty() { name.to_owned() } else { format!("{name}({inside})") };
        Ok((made, text))
    }

    fn make_condition(&self, written: &LevelCondition) -> Parsed<(FilterCondition, String)> {
        let name = &*written.of.id;
        let not = if written.not { "not " } else { "" };
        let number = filter::NUMBERS.iter().find(|n| n.name == name);
        let compared = match &written.compared {
            Some((text, value)) => {
                let read = operator(&mut Typed::new(text))
                    .map_err(|_| wrong(&written.at, format!("{text} is no operator")))?;
                Some((read.0, text, value))
            }
            None => None,
        };
        let orders = |of: FilterComparison| !matches!(of, FilterComparison::Equal | FilterComparison::Unequal);
        if let (Some(number), Some((Operator::Compare(comparison), text, value))) = (number, compared)
            && (orders(comparison) || units::amount(value).is_some() || self.entry(name).is_none())
        {
            let Some(than) = units::amount(value) else {
                let message = format!("{name} is compared with a number, such as 100 or 1MB, found {value:?}");
                return Err(wrong(&written.at, message));
            };
            let condition = FilterCondition::number(written.not, number, comparison, than);
            return Ok((condition, format!("{not}{name}{text}{}", value.trim())));
        }
        let Some(entry) = self.entry(name).filter(|e| e.inside != Inside::Conditions) else {
            let message = match self.entry(name) {
                Some(_) => format!("a filter cannot ask for {name}"),
                None if number.is_some() => format!("{name} is a number: compare it, such as {name} > 100"),
                None => format!("there is no classifier or number {name}"),
            };
            return Err(wrong(&written.of.at, message).nearest(name, self.askable_names()));
        };
        // Full names, whatever stands before the filter.
        let (classifier, text) = self.make_level(&written.of, &[], false)?;
        match compared {
            None if entry.meta.cardinality == Cardinality::Filter => {
                Ok((FilterCondition::holds(written.not, classifier), format!("{not}{text}")))
            }
            None => {
                let example = &entry.meta.example;
                let message = format!("{name} is neither true nor false: compare it, such as {name} = {example}");
                Err(wrong(&written.of.at, message))
            }
            Some((Operator::Compare(comparison), operator, _)) if orders(comparison) => {
                let numbers: Vec<&str> = filter::NUMBERS.iter().map(|n| n.name).collect();
                let message = format!("{operator} compares numbers ({}), and {name} is none", numbers.join(", "));
                Err(wrong(&written.at, message))
            }
            Some((_, _, value)) if value.is_empty() => Err(wrong(&written.at, "a value is expected")),
            Some((operator, typed, value)) => {
                let condition = FilterCondition::value(written.not, classifier, operator, value);
                Ok((condition, format!("{not}{text}{typed}{}", quoted(value))))
            }
        }
    }
}

/// The options of a classifier, each known and written once.
fn known_options<'w>(entry: &ClassifierEntry, written: &'w [LevelOption]) -> Parsed<Options<'w>> {
    let mut options: Options<'w> = Vec::new();
    for LevelOption { name, value, at } in written {
        let (name, value) = (&**name, value.as_deref());
        let Some(info) = entry.options.iter().find(|o| o.name == name) else {
            let known = option_names(entry);
            let message = match known.len() {
                0 => format!("{} has no options", entry.meta.id),
                _ => format!("{} has no option {name}", entry.meta.id),
            };
            return Err(wrong(at, message).nearest(name, known));
        };
        match (info.example, value) {
            (Some(example), None | Some("")) => {
                return Err(wrong(at, format!("the option {name} needs a value, such as {name}={example}")));
            }
            (None, Some(_)) => return Err(wrong(at, format!("the option {name} has no value"))),
            _ if options.iter().any(|(other, _)| *other == name) => {
                return Err(wrong(at, format!("the option {name} is there twice")));
            }
            _ => options.push((name, value)),
        }
    }
    options.sort_unstable();
    Ok(options)
}

pub(super) fn option_names(entry: &ClassifierEntry) -> Vec<String> {
    entry.options.iter().map(|o| o.name.to_owned()).collect()
}

fn canonical(options: &Options<'_>) -> String {
    let text = |(o, v): &(&str, Option<&str>)| v.map_or_else(|| (*o).to_owned(), |v| format!("{o}={}", quoted(v)));
    options.iter().map(text).collect::<Vec<_>>().join(",")
}
