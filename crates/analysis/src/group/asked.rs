//! Groupings as they are asked for.

use super::expression;
use super::grouping::{AUTO, Grouping};
use super::outline::{FILE, GroupingLevel, LevelInside};
use super::registry::{PresetKind, Registry};
use crate::grammar::ExpressionError;
use std::fmt;
use std::sync::Arc;

/// A grouping as it is asked for: parsed once. It becomes classifiers when the input is known, whose packages count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedGrouping {
    text: String,
    /// `None` for the grouping that suits the input; without any for the name of one.
    levels: Option<Vec<GroupingLevel>>,
}

impl Default for AskedGrouping {
    fn default() -> AskedGrouping {
        AskedGrouping { text: AUTO.to_owned(), levels: None }
    }
}

impl fmt::Display for AskedGrouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl AskedGrouping {
    /// Whether it is the one that suits the input.
    pub fn is_auto(&self) -> bool {
        self.levels.is_none()
    }

    /// The files that its list reads (`feature(file=features.txt)`), wherever they stand in it. Nothing is read or created. The name of a
    /// grouping has no files.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        self.levels.iter().flatten().for_each(|level| files_in(level, &mut files));
        files
    }
}

fn files_in(level: &GroupingLevel, files: &mut Vec<String>) {
    match &level.inside {
        LevelInside::Options(options) => {
            let of_files = options.iter().filter(|option| option.name == FILE);
            files.extend(of_files.filter_map(|option| option.value.clone()));
        }
        LevelInside::List(list) => list.iter().for_each(|level| files_in(level, files)),
        LevelInside::Conditions(all) => all.iter().for_each(|condition| files_in(&condition.of, files)),
    }
}

impl Registry {
    /// A grouping as people ask for it: [`AUTO`], a name, or a list of classifiers. Names are not looked up.
    ///
    /// # Errors
    /// When it is not written as lists are.
    pub fn asked(&self, text: &str) -> Result<AskedGrouping, ExpressionError> {
        match text {
            AUTO => Ok(AskedGrouping::default()),
            text => self.asked_list(text),
        }
    }

    fn asked_list(&self, text: &str) -> Result<AskedGrouping, ExpressionError> {
        let levels = match self.preset(text.trim()) {
            Some(_) => Vec::new(),
            None => expression::levels(self, text)?,
        };
        Ok(AskedGrouping { text: text.to_owned(), levels: Some(levels) })
    }

    /// The grouping that was asked for. A list that is that of a name is the grouping of that name.
    ///
    /// # Errors
    /// When it names what is not known, with the place, the words allowed there, and the most similar one. [`AUTO`] is the name of none.
    pub fn make(&self, asked: &AskedGrouping) -> Result<Arc<Grouping>, ExpressionError> {
        let text = &*asked.text;
        if let Some(preset) = self.preset(text.trim()) {
            return Ok(Arc::clone(&preset.grouping));
        }
        let made = match &asked.levels {
            Some(levels) if !levels.is_empty() => expression::make(self, text, levels)?,
            // A name that is gone, or the one that stands for none.
            _ => expression::parse(self, text)?,
        };
        let same = self.presets.iter().find(|p| p.list == made.id && p.kind == PresetKind::Plain);
        Ok(same.map_or_else(|| Arc::new(made), |p| Arc::clone(&p.grouping)))
    }

    /// The grouping of a name, or of a list of classifiers: `package>type`, `rooted(kind) > type`.
    ///
    /// # Errors
    /// When the text is neither, as [`Registry::make`].
    pub fn grouping(&self, text: &str) -> Result<Arc<Grouping>, ExpressionError> {
        self.make(&self.asked_list(text)?)
    }
}
