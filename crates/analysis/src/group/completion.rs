//! Completion of a typed grouping: the possible next words.

use super::filter;
use super::registry::{Inside, Registry};
use crate::grammar::is_of_name;

/// Where the name at the end of a text begins.
fn last_name(text: &str) -> usize {
    text.trim_end_matches(is_of_name).len()
}

/// A possible next word of a grouping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The whole text with it.
    pub text: String,
    /// The text to insert.
    pub name: String,
    /// A line about it.
    pub description: String,
}

impl Registry {
    /// The words that could complete a text: names of classifiers, or options after an open parenthesis. Those that begin with the last
    /// word come first, then those that contain it.
    pub fn complete(&self, text: &str) -> Vec<Completion> {
        let (before, begun) = text.split_at(last_name(text));
        let ended = before.trim_end();
        let word = &ended[last_name(ended)..];
        if ended.ends_with(|c| is_of_name(c) || c == ')' || c == ']') && !["and", "not"].contains(&word) {
            // Another name cannot follow.
            return Vec::new();
        }
        let begun = begun.to_lowercase();
        let classifiers = || self.entries().iter().map(|e| (e.meta.id.to_string(), e.meta.description.to_string()));
        let inside = innermost_open(before).map(|open| {
            let name = before[..open].trim_end();
            self.entry(&name[last_name(name)..])
        });
        let offers: Vec<(String, String)> = match inside {
            Some(None) => Vec::new(),
            Some(Some(entry)) if entry.inside == Inside::Options => {
                let with_value = |o: &super::registry::OptionInfo| match o.example {
                    Some(_) => format!("{}=", o.name),
                    None => o.name.to_owned(),
                };
                entry.options.iter().map(|o| (with_value(o), o.description.to_owned())).collect()
            }
            Some(Some(entry)) if entry.inside == Inside::Conditions => {
                let numbers = filter::NUMBERS.iter().map(|n| (n.name.to_owned(), n.description.to_owned()));
                let known = self.entries().iter().filter(|e| e.inside != Inside::Conditions);
                let known = known.filter(|e| filter::NUMBERS.iter().all(|n| n.name != e.meta.id));
                numbers.chain(known.map(|e| (e.meta.id.to_string(), e.meta.description.to_string()))).collect()
            }
            _ => classifiers().collect(),
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

/// Where the parenthesis stands in which a text ends.
fn innermost_open(text: &str) -> Option<usize> {
    let mut closed = 0;
    for (i, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => closed += 1,
            '(' | '[' if closed == 0 => return Some(i),
            '(' | '[' => closed -= 1,
            _ => {}
        }
    }
    None
}
