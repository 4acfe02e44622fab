//! An interner: texts that occur often, kept once and known by a number.
//!
//! The texts come from files and from strangers, so the table has a random seed against forced collisions. It does not know the meaning of
//! its texts.

use ahash::RandomState;
use indexmap::IndexSet;
use std::sync::Arc;

/// Texts in the order in which they first came. The number of a text is its place.
#[derive(Clone, Default, Debug)]
pub(super) struct NameTable {
    texts: IndexSet<Arc<str>, RandomState>,
    /// Bytes of all texts.
    bytes: u64,
}

impl NameTable {
    /// The number of a text, which is kept from now on.
    pub fn of(&mut self, text: &str) -> u32 {
        match self.texts.get_index_of(text) {
            Some(symbol) => symbol as u32,
            None => self.keep(Arc::from(text)),
        }
    }

    /// The number of a text, if it is kept.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.texts.get_index_of(text).map(|symbol| symbol as u32)
    }

    /// The number of a shared text.
    pub fn keep(&mut self, text: Arc<str>) -> u32 {
        let bytes = text.len() as u64;
        let (symbol, new) = self.texts.insert_full(text);
        self.bytes += if new { bytes } else { 0 };
        symbol as u32
    }

    /// The text of a number that this table gave.
    ///
    /// # Panics
    /// With a number of another table.
    #[inline]
    pub fn text(&self, symbol: u32) -> &Arc<str> {
        &self.texts[symbol as usize]
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Bytes of all texts, each counted once.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All texts, by number.
    pub fn texts(&self) -> Vec<Arc<str>> {
        self.texts.iter().cloned().collect()
    }

    /// Forgets all texts but the first `len`, and gives back their memory.
    pub fn truncate(&mut self, len: usize) {
        if len < self.texts.len() {
            self.bytes -= self.texts[len..].iter().map(|text| text.len() as u64).sum::<u64>();
            self.texts.truncate(len);
            if self.texts.capacity() / 4 > len {
                self.texts.shrink_to(2 * len);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn numbers_are_places_of_first_occurrence(
            texts in proptest::collection::vec("[ab]{0,3}", 0..40), cut in 0..40usize,
        ) {
            let mut symbols = NameTable::default();
            let mut plain: Vec<String> = Vec::new();
            for text in &texts {
                let place = plain.iter().position(|t| t == text).unwrap_or_else(|| {
                    plain.push(text.clone());
                    plain.len() - 1
                });
                proptest::prop_assert_eq!(symbols.of(text) as usize, place);
            }
            plain.truncate(cut);
            symbols.truncate(cut);
            let left: Vec<String> = symbols.texts().iter().map(|t| t.to_string()).collect();
            proptest::prop_assert_eq!(&left, &plain);
            proptest::prop_assert_eq!(symbols.bytes(), plain.iter().map(|t| t.len() as u64).sum::<u64>());
            for text in &texts {
                proptest::prop_assert_eq!(symbols.find(text), plain.iter().position(|t| t == text).map(|p| p as u32));
            }
        }
    }
}
