//! Texts of objects and fields of references, for the rows that are in sight: read in batches, and cached.

use super::state::InspectedHeap;
use crate::ownership::fields::field_in_heap;
use memory_city_formats::values::TextLimits;
use memory_city_heap::ObjectId;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// A pair of objects of which the first refers to the second.
type Pair = (ObjectId, ObjectId);

/// Most answers in each of the two tables; the least recently used go first.
const KEPT: usize = 20_000;

/// How much of a text is kept for a row.
const LIMITS: TextLimits = TextLimits { characters: 160, elements: 12 };

/// Most questions of a batch: more than a screen has rows.
const BATCH: usize = 2_000;

/// Answers, and questions that were met while drawing.
#[derive(Default)]
pub struct ObjectTexts {
    texts: Recent<ObjectId>,
    places: Recent<Pair>,
    texts_wanted: FxHashSet<ObjectId>,
    places_wanted: FxHashSet<Pair>,
}

/// Questions, for a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRequest {
    texts: Vec<ObjectId>,
    places: Vec<Pair>,
}

/// Their answers.
#[derive(Default)]
pub struct TextAnswers {
    texts: Vec<(ObjectId, Option<String>)>,
    places: Vec<(Pair, Option<String>)>,
}

impl ObjectTexts {
    /// The text of an object: `Some(None)` if it has none; `None` if unknown yet, and then it is requested.
    pub fn text(&mut self, o: ObjectId) -> Option<Option<&str>> {
        if self.texts.contains(&o) {
            return self.texts.get(&o);
        }
        self.texts_wanted.insert(o);
        None
    }

    /// The field or element by which an object refers to another; as [`ObjectTexts::text`].
    pub fn place(&mut self, from: ObjectId, to: ObjectId) -> Option<Option<&str>> {
        if self.places.contains(&(from, to)) {
            return self.places.get(&(from, to));
        }
        self.places_wanted.insert((from, to));
        None
    }

    /// The requests since the last call; `None` without any.
    pub fn take_request(&mut self) -> Option<TextRequest> {
        if self.texts_wanted.is_empty() && self.places_wanted.is_empty() {
            return None;
        }
        let mut request = TextRequest {
            texts: self.texts_wanted.drain().take(BATCH).collect(),
            places: self.places_wanted.drain().take(BATCH).collect(),
        };
        request.texts.sort_unstable();
        request.places.sort_unstable();
        Some(request)
    }

    /// Keeps answers.
    pub fn keep(&mut self, answers: TextAnswers) {
        answers.texts.into_iter().for_each(|(o, text)| self.texts.insert(o, text));
        answers.places.into_iter().for_each(|(pair, place)| self.places.insert(pair, place));
    }
}

impl TextRequest {
    /// Reads the answers: up to four scans of the parts of the input in which the objects lie, see
    /// [`HeapValues::scan`](memory_city_formats::values::HeapValues::scan). If the input has no values, only the fields that the heap state
    /// knows are answered.
    ///
    /// # Errors
    /// When the input cannot be read again, or the work was cancelled.
    pub fn read(self, inspected: &InspectedHeap<'_>, progress: &Progress) -> Result<TextAnswers> {
        progress.begin("Reading values", 0);
        let TextRequest { texts, places } = self;
        let Some(values) = inspected.values(progress)? else {
            let heap = inspected.heap();
            let place = |pair| (pair, field_in_heap(heap, pair));
            return Ok(TextAnswers {
                texts: texts.into_iter().map(|o| (o, None)).collect(),
                places: places.into_iter().map(place).collect(),
            });
        };
        let found = match texts.is_empty() {
            true => Vec::new(),
            false => values.texts(&texts, LIMITS, progress)?,
        };
        let found_places = match places.is_empty() {
            true => Vec::new(),
            false => values.reference_places(&places, progress)?,
        };
        let places = places.into_iter().zip(found_places.into_iter().map(|place| place.map(|p| p.to_string())));
        Ok(TextAnswers { texts: texts.into_iter().zip(found).collect(), places: places.collect() })
    }
}

/// Answers in two generations. Used answers move to the new one; when that is full it becomes the old one. So the cache holds at most twice
/// half of its limit, and answers in sight are never dropped.
struct Recent<K> {
    new: FxHashMap<K, Option<String>>,
    old: FxHashMap<K, Option<String>>,
}

impl<K> Default for Recent<K> {
    fn default() -> Self {
        Recent { new: FxHashMap::default(), old: FxHashMap::default() }
    }
}

impl<K: Hash + Eq + Copy> Recent<K> {
    /// Whether there is an answer; it is new then.
    fn contains(&mut self, key: &K) -> bool {
        if let Some(answer) = self.old.remove(key) {
            self.insert(*key, answer);
        }
        self.new.contains_key(key)
    }

    fn get(&self, key: &K) -> Option<Option<&str>> {
        self.new.get(key).map(|answer| answer.as_deref())
    }

    fn insert(&mut self, key: K, answer: Option<String>) {
        if self.new.len() >= KEPT / 2 {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(key, answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_at_stays_and_the_rest_goes() {
        let mut told = ObjectTexts::default();
        assert_eq!(told.text(ObjectId(7)), None);
        assert_eq!(told.take_request(), Some(TextRequest { texts: vec![ObjectId(7)], places: vec![] }));
        assert_eq!(told.take_request(), None);
        told.keep(TextAnswers { texts: vec![(ObjectId(7), Some("seven".into()))], places: vec![] });
        for o in 100..100 + 4 * KEPT as u32 {
            told.keep(TextAnswers { texts: vec![(ObjectId(o), None)], places: vec![] });
            if o % 1000 == 0 {
                assert_eq!(told.text(ObjectId(7)), Some(Some("seven")), "after {o}");
            }
        }
        assert_eq!(told.text(ObjectId(100)), None, "the first ones are gone");
        assert!(told.texts.new.len() + told.texts.old.len() <= KEPT + 1);
    }
}
