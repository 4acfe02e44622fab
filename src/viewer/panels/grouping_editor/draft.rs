//! The unfinished grouping of the editor: its text and its levels, which always agree, and its mistakes.

use memory_city_analysis::group::{self, ExpressionError, Grouping, GroupingLevel, Registry, list_text};
use memory_city_analysis::timeline::Source;
use std::sync::Arc;

/// A grouping that is being written.
#[derive(Default)]
pub struct GroupingDraft {
    text: String,
    /// Levels of the text; while it is no valid list, those of the last text that was.
    levels: Vec<GroupingLevel>,
    /// Everything that was checked for the open document: text, registry.
    pub(super) checked: Option<(String, u64)>,
    outcome: DraftOutcome,
}

/// Result of checking the text.
#[derive(Default)]
pub enum DraftOutcome {
    /// No text.
    #[default]
    Empty,
    /// It is no grouping.
    Wrong(ExpressionError),
    /// It is one, which the input cannot offer: why.
    Refused(Arc<Grouping>, String),
    /// It can be grouped so.
    Ready(Arc<Grouping>),
}

impl GroupingDraft {
    /// The expression, as the command line takes it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its levels.
    pub fn levels(&self) -> &[GroupingLevel] {
        &self.levels
    }

    /// Result of the last [`GroupingDraft::check`].
    pub fn outcome(&self) -> &DraftOutcome {
        &self.outcome
    }

    /// The grouping, where it is one.
    pub fn grouping(&self) -> Option<&Arc<Grouping>> {
        match &self.outcome {
            DraftOutcome::Ready(grouping) | DraftOutcome::Refused(grouping, _) => Some(grouping),
            DraftOutcome::Empty | DraftOutcome::Wrong(_) => None,
        }
    }

    /// Writes another text; the levels follow where it is written as lists are.
    pub fn set_text(&mut self, registry: &Registry, text: String) {
        if text.trim().is_empty() {
            self.levels.clear();
        } else if let Ok(levels) = registry.levels(&text) {
            self.levels = levels;
        }
        self.text = text;
    }

    /// Puts other levels in place; the text follows.
    pub fn set_levels(&mut self, levels: Vec<GroupingLevel>) {
        self.text = list_text(&levels);
        self.levels = levels;
    }

    /// Inserts a level: at a place, or at its usual one. Transformers stand last, so anything else goes before them.
    pub fn insert(&mut self, registry: &Registry, level: GroupingLevel, at: Option<usize>) {
        let transforms = |level: &GroupingLevel| {
            registry.part(&level.id).is_some_and(|(kind, _)| kind == group::PartKind::Transformer)
        };
        let mut levels = self.levels.clone();
        let at = at.unwrap_or_else(|| match transforms(&level) {
            true => levels.len(),
            false => levels.iter().position(transforms).unwrap_or(levels.len()),
        });
        levels.insert(at.min(levels.len()), level);
        self.set_levels(levels);
    }

    /// Moves a level before the one that is at `before` now.
    pub fn move_level(&mut self, from: usize, before: usize) {
        let mut levels = self.levels.clone();
        if from >= levels.len() {
            return;
        }
        let level = levels.remove(from);
        let to = if before > from { before - 1 } else { before };
        levels.insert(to.min(levels.len()), level);
        self.set_levels(levels);
    }

    /// Takes a level away.
    pub fn remove(&mut self, at: usize) {
        let mut levels = self.levels.clone();
        if at < levels.len() {
            levels.remove(at);
        }
        self.set_levels(levels);
    }

    /// Looks whether it is a grouping that `source` offers, if anything has changed since the last look.
    pub fn check(&mut self, source: &Source) {
        let now = (self.text.clone(), group::registry_revision());
        if self.checked.as_ref() == Some(&now) {
            return;
        }
        self.checked = Some(now);
        self.outcome = match group::grouping(&self.text) {
            _ if self.text.trim().is_empty() => DraftOutcome::Empty,
            Err(error) => DraftOutcome::Wrong(error),
            Ok(grouping) => match source.offers(&grouping) {
                Ok(()) => DraftOutcome::Ready(grouping),
                Err(why) => DraftOutcome::Refused(grouping, why),
            },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_levels_are_one() {
        let registry = Registry::new();
        let mut draft = GroupingDraft::default();
        let texts = |draft: &GroupingDraft| draft.levels().iter().map(|l| l.to_string()).collect::<Vec<_>>();
        draft.set_text(&registry, "package > type".into());
        assert_eq!(texts(&draft), ["package", "type"]);
        draft.insert(&registry, registry.new_level("pointed-from"), None);
        draft.insert(&registry, registry.new_level("age"), None);
        assert_eq!(draft.text(), "package>type>age>pointed-from(type)");
        draft.insert(&registry, registry.new_level("kind"), Some(0));
        draft.move_level(0, 3);
        assert_eq!(draft.text(), "package>type>kind>age>pointed-from(type)");
        draft.move_level(3, 0);
        draft.remove(4);
        assert_eq!(draft.text(), "age>package>type>kind");
        // While a text is being typed the rows stay.
        draft.set_text(&registry, "age>".into());
        assert_eq!(texts(&draft).len(), 4);
        draft.set_text(&registry, String::new());
        assert!(draft.levels().is_empty());
    }

    #[test]
    fn moving_is_moving_before_what_stands_there() {
        let registry = Registry::new();
        for (from, before, expected) in [
            (0, 0, "a>b>c"),
            (0, 1, "a>b>c"),
            (0, 2, "b>a>c"),
            (0, 3, "b>c>a"),
            (2, 0, "c>a>b"),
            (1, 3, "a>c>b"),
            (7, 0, "a>b>c"),
        ] {
            let mut draft = GroupingDraft::default();
            draft.set_text(&registry, "a>b>c".into());
            draft.move_level(from, before);
            assert_eq!(draft.text(), expected, "{from} before {before}");
        }
    }
}
