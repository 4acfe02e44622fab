//! Details of roots in traces, for people: any text, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

/// Texts by number. Names come from strangers: the hash has a random seed.
#[derive(Default)]
pub(super) struct Details {
    texts: Vec<Arc<str>>,
    find: HashMap<Arc<str>, u32, ahash::RandomState>,
    /// The one asked for last: roots of a kind come together.
    last: u32,
}

impl Details {
    /// The number of a text.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if self.texts.get(self.last as usize).is_some_and(|last| **last == *text) {
            return self.last;
        }
        self.last = match self.find.get(text) {
            Some(&number) => number,
            None => {
                let (number, text) = (self.texts.len() as u32, Arc::<str>::from(text));
                self.texts.push(Arc::clone(&text));
                self.find.insert(text, number);
                number
            }
        };
        self.last
    }

    /// The text of a number.
    pub(super) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// All texts, by number.
    pub(super) fn all(&self) -> &[Arc<str>] {
        &self.texts
    }

    /// Forgets all numbers.
    pub(super) fn clear(&mut self) {
        *self = Details::default();
    }
}
