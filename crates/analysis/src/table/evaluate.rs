//! Evaluation of filters: the nodes for which a filter holds, column by column, on all cores.

use super::TreeTable;
use super::columns::TableField;
use super::filter::{Filter, Matching};
use crate::grammar::FilterComparison;
use crate::timeline::{NodeId, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rayon::prelude::*;
use regex::{Regex, RegexBuilder};

/// Nodes a task looks at between two looks at the clock.
const RUN: usize = 1 << 14;

/// For each node, whether the filter holds for it.
pub(super) fn matches(table: &TreeTable, filter: &Filter, progress: &Progress) -> Result<Vec<bool>> {
    let test = Test::new(table, filter, progress)?;
    each(table.timeline.len(), progress, |node| test.holds(table, node))
}

fn each(n: usize, progress: &Progress, holds: impl Fn(NodeId) -> bool + Sync) -> Result<Vec<bool>> {
    let mut found = vec![false; n];
    found.par_chunks_mut(RUN).enumerate().try_for_each(|(run, found)| {
        progress.check()?;
        for (i, found) in found.iter_mut().enumerate() {
            *found = holds(NodeId((run * RUN + i) as u32));
        }
        Ok(())
    })?;
    Ok(found)
}

/// A filter with its columns and texts looked up.
enum Test {
    Number(TableField, FilterComparison, f64),
    Name(Pattern, bool),
    Role(Pattern, bool),
    /// Answers that are known for each node.
    Known(Vec<bool>, bool),
    Not(Box<Test>),
    And(Vec<Test>),
    Or(Vec<Test>),
}

enum Pattern {
    Whole(String),
    Part(Regex),
}

impl Pattern {
    fn is_in(&self, text: &str) -> bool {
        match self {
            Pattern::Whole(whole) => whole == text,
            Pattern::Part(part) => part.is_match(text),
        }
    }
}

impl Test {
    fn new(table: &TreeTable, filter: &Filter, progress: &Progress) -> Result<Test> {
        let all = |parts: &[Filter]| parts.iter().map(|part| Test::new(table, part, progress)).collect::<Result<_>>();
        Ok(match filter {
            Filter::Not(inner) => Test::Not(Box::new(Test::new(table, inner, progress)?)),
            Filter::And(parts) => Test::And(all(parts)?),
            Filter::Or(parts) => Test::Or(all(parts)?),
            Filter::Compare { column, comparison, number } => {
                let field = table.field(column).and_then(|field| field.compared_with(number.kind()));
                Test::Number(field.ok_or_else(|| unknown(column))?, *comparison, number.value())
            }
            Filter::Text { column, matching, text } => {
                let pattern = match matching {
                    Matching::Is | Matching::IsNot => Pattern::Whole(text.clone()),
                    Matching::Contains | Matching::ContainsNot => Pattern::Part(part(text)?),
                };
                let wanted = matches!(matching, Matching::Is | Matching::Contains);
                match column.as_str() {
                    "name" => Test::Name(pattern, wanted),
                    "role" => Test::Role(pattern, wanted),
                    "path" => Test::Known(on_path(&table.timeline, &pattern, progress)?, wanted),
                    _ => return Err(unknown(column)),
                }
            }
        })
    }

    fn holds(&self, table: &TreeTable, node: NodeId) -> bool {
        match self {
            Test::Number(field, comparison, number) => comparison.holds(table.number(node, *field), *number),
            Test::Name(pattern, wanted) => pattern.is_in(table.timeline.name(node)) == *wanted,
            Test::Role(pattern, wanted) => pattern.is_in(table.timeline.role(node)) == *wanted,
            Test::Known(known, wanted) => known[node.index()] == *wanted,
            Test::Not(inner) => !inner.holds(table, node),
            Test::And(parts) => parts.iter().all(|part| part.holds(table, node)),
            Test::Or(parts) => parts.iter().any(|part| part.holds(table, node)),
        }
    }
}

fn unknown(column: &str) -> Error {
    Error::Unusable {
        what: format!("The filter asks for {column}, which this table does not have"),
        remedy: "Type the filter anew: what can be asked for depends on the input".into(),
    }
}

/// A pattern for names that contain a text, ignoring case. A text with `*` (any letters) or `?` (any one) is a glob: it must match the
/// whole name, or the rest after one of its dots, so that classes are found without their packages.
fn part(text: &str) -> Result<Regex> {
    let glob = |c: char| match c {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        c => regex::escape(c.encode_utf8(&mut [0; 4])),
    };
    let pattern = match text.contains(['*', '?']) {
        true => format!("(?s)^(?:.*[.])?{}$", text.chars().map(glob).collect::<String>()),
        false => regex::escape(text),
    };
    RegexBuilder::new(&pattern).case_insensitive(true).build().map_err(|_| Error::Unusable {
        what: format!("A text of {} letters is too long to look for", text.chars().count()),
        remedy: "Look for a shorter one".into(),
    })
}

/// For each node, whether its name or one above it fits.
fn on_path(timeline: &Timeline, pattern: &Pattern, progress: &Progress) -> Result<Vec<bool>> {
    let mut found = each(timeline.len(), progress, |node| pattern.is_in(timeline.name(node)))?;
    // Parents come before their children.
    for node in timeline.nodes() {
        if let Some(parent) = timeline.parent(node) {
            found[node.index()] |= found[parent.index()];
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Letter by letter.
    fn fits(glob: &[char], name: &[char]) -> bool {
        match glob.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|skip| fits(rest, &name[skip..])),
            Some((first, rest)) => {
                name.split_first().is_some_and(|(n, left)| (*first == '?' || first == n) && fits(rest, left))
            }
        }
    }

    proptest! {
        #[test]
        fn globs_fit_names_or_what_follows_a_dot(glob in "[ab.*?$]{1,6}", name in "[ab.$]{0,8}") {
            prop_assume!(glob.contains(['*', '?']));
            let (g, n): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
            let begins = (0..=n.len()).filter(|&at| at == 0 || n[at - 1] == '.');
            let expected = begins.into_iter().any(|at| fits(&g, &n[at..]));
            prop_assert_eq!(part(&glob).expect("a pattern").is_match(&name), expected);
        }

        #[test]
        fn other_texts_are_parts(text in "[abA.$(\\[]{1,4}", name in "[abB.$(\\[]{0,8}") {
            let found = part(&text).expect("a pattern").is_match(&name);
            prop_assert_eq!(found, name.to_lowercase().contains(&text.to_lowercase()));
        }
    }
}
