//! Construction of classifiers from a parsed grouping.

use super::syntax::{ListParser, Parsed, ParsedCondition, ParsedInside, ParsedOption};
use super::words::{GroupingError, nearest, quoted};
use crate::group::classifier::{Cardinality, Classifier};
use crate::group::filter::{self, FilterCondition};
use crate::group::grouping;
use crate::group::registry::{ClassifierEntry, ClassifierRequest, Inside};
use crate::units;
use std::sync::Arc;

type BuiltList = (Vec<Arc<dyn Classifier>>, String);

type MadeClassifier = (Arc<dyn Classifier>, String);

type Options<'t> = Vec<(&'t str, Option<&'t str>)>;

impl<'t> ListParser<'t> {
    /// The classifiers of a list, and how it is written shortest.
    pub(super) fn make_list(&self, list: &[Parsed<'t>], top: bool) -> Result<BuiltList, GroupingError> {
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

    fn make(&self, written: &Parsed<'t>, above: &[&str], alone: bool) -> Result<MadeClassifier, GroupingError> {
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
            ParsedInside::Options(of) => {
                options = self.known_options(entry, written.name, of)?;
                canonical(&options)
            }
            ParsedInside::List(inner) if inner.is_empty() => String::new(),
            ParsedInside::List(inner) => {
                let (classifiers, text) = self.make_list(inner, false)?;
                list = classifiers;
                text
            }
            ParsedInside::Conditions(all) => {
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
        written: &'w [ParsedOption<'t>],
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

    fn condition(&self, written: &ParsedCondition<'t>) -> Result<(FilterCondition, String), GroupingError> {
        let name = written.of.name;
        let not = if written.not { "not " } else { "" };
        let number = filter::NUMBERS.iter().find(|n| n.name == name);
        if let (Some(number), Some((operator, value, at))) = (number, &written.compared)
            && !operator.contains('~')
            && (filter::orders(operator) || units::amount(value).is_some() || self.registry.entry(name).is_none())
        {
            let Some(than) = units::amount(value) else {
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
            None if entry.meta.cardinality == Cardinality::Filter => {
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

pub(super) fn option_names(entry: &ClassifierEntry) -> Vec<String> {
    entry.options.iter().map(|o| o.name.to_owned()).collect()
}

fn canonical(options: &Options<'_>) -> String {
    let text = |(o, v): &(&str, Option<&str>)| v.map_or_else(|| (*o).to_owned(), |v| format!("{o}={}", quoted(v)));
    options.iter().map(text).collect::<Vec<_>>().join(",")
}
