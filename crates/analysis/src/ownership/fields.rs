//! Names of references: the field or element by which an object holds another, as far as known.

use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{self as heap, HeapState, ObjectId, RootKind, TypeKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where in an object a reference stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StepName {
    /// A field, or its replacement: `<class>`.
    Field(String),
    /// An element of an array, where it is known which.
    Element(Option<u32>),
    /// An entry of a map, by its key. Like elements, entries of one map are alike.
    Key(Arc<str>),
}

impl From<heap::ReferenceName> for StepName {
    fn from(name: heap::ReferenceName) -> Self {
        match name {
            heap::ReferenceName::Field(field) => StepName::Field(field.to_string()),
            heap::ReferenceName::Index(index) => StepName::Element(Some(index)),
            heap::ReferenceName::Key(key) => StepName::Key(key),
        }
    }
}

impl StepName {
    /// For people: `persons`, `[3]`, `["eu"]`, `[*]`.
    fn text(self) -> String {
        match self {
            StepName::Field(field) => field,
            StepName::Element(Some(index)) => format!("[{index}]"),
            StepName::Element(None) => "[*]".to_owned(),
            StepName::Key(key) => key_text(&key),
        }
    }
}

fn key_text(key: &str) -> String {
    format!("[{key:?}]")
}

/// An object and one that it refers to.
pub(crate) type Pair = (ObjectId, ObjectId);

/// Knows names of fields.
pub(crate) trait FieldNames {
    /// The field or element by which the first object of each pair refers to the second; `None` if unknown. May cost a pass over the input,
    /// so pass many pairs at once.
    ///
    /// # Errors
    /// When the input can no longer be read, or the work was cancelled.
    fn names(&self, pairs: &[Pair], progress: &Progress) -> Result<Vec<Option<StepName>>>;
}

/// The names that a heap state knows without its input: of references one by one where it has these; otherwise elements of arrays, static
/// fields, hidden fields, classes of instances.
impl FieldNames for HeapState {
    fn names(&self, pairs: &[Pair], _: &Progress) -> Result<Vec<Option<StepName>>> {
        if !self.has_reference_names() {
            return Ok(pairs.iter().map(|&pair| name_in_heap(self, pair)).collect());
        }
        let named = self.names_between(pairs).into_iter().zip(pairs);
        Ok(named.map(|(name, &pair)| name.map(Into::into).or_else(|| name_in_heap(self, pair))).collect())
    }
}

/// The field or element by which the first object refers to the second, for people, as far as a heap state knows it without its input.
pub(crate) fn field_in_heap(heap: &HeapState, pair: Pair) -> Option<String> {
    let named = heap.names_between(&[pair]).pop().flatten().map(Into::into);
    named.or_else(|| name_in_heap(heap, pair)).map(StepName::text)
}

fn name_in_heap(heap: &HeapState, (from, to): Pair) -> Option<StepName> {
    let of = &heap.types()[heap.type_of(from).0 as usize];
    if of.kind == TypeKind::ObjectArray {
        return Some(StepName::Element(None));
    }
    if let Some(field) = heap.field_between(from, to) {
        return Some(StepName::Field(field));
    }
    if heap.is_class_object(from) {
        let mut fields = heap.roots_of(to).filter(|root| root.kind == RootKind::StaticField);
        // Where fields of several classes hold it, the heap state does not say which is whose.
        let (first, second) = (fields.next(), fields.next());
        let field = first.filter(|_| second.is_none()).and_then(|root| root.chain().nth(2));
        return field.map(|field| StepName::Field(field.to_owned()));
    }
    (heap.mirror_of(heap.type_of(from)) == Some(to)).then(|| StepName::Field("<class>".to_owned()))
}

/// Names that were asked for.
#[derive(Default)]
pub(crate) struct KnownFields {
    /// The name of elements and entries is empty.
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// The number of the name; of elements also which.
    known: FxHashMap<Pair, Option<(u32, Option<ElementOf>)>>,
}

/// Which element, or the entry of which key, by the number of its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementOf {
    Index(u32),
    Key(u32),
}

impl KnownFields {
    /// Asks for the names of pairs that were not asked for before; returns whether there were any.
    ///
    /// # Errors
    /// As [`FieldNames::names`].
    pub fn ask(
        &mut self,
        pairs: impl Iterator<Item = Pair>,
        names: &dyn FieldNames,
        progress: &Progress,
    ) -> Result<bool> {
        let mut new: Vec<Pair> = pairs.filter(|pair| !self.known.contains_key(pair)).collect();
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(false);
        }
        for (pair, name) in new.iter().zip(names.names(&new, progress)?) {
            let known = name.map(|name| match name {
                StepName::Field(name) => (self.number(name), None),
                StepName::Element(index) => (self.number(String::new()), index.map(ElementOf::Index)),
                StepName::Key(key) => (self.number(String::new()), Some(ElementOf::Key(self.number(key_text(&key))))),
            });
            self.known.insert(*pair, known);
        }
        Ok(true)
    }

    fn number(&mut self, name: String) -> u32 {
        let next = self.names.len() as u32;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }

    /// The number of the field of a pair: equal numbers are equal fields. `None` where it was not asked for.
    #[inline]
    pub fn of(&self, pair: Pair) -> Option<Option<u32>> {
        self.known.get(&pair).map(|known| known.map(|(name, _)| name))
    }

    /// The fields of some references as people read them: `persons`, `[3]`, `["eu"]`, `[*]`; of several the most frequent first.
    /// Empty where none is known.
    pub fn text(&self, pairs: &[Pair]) -> String {
        let mut counts: FxHashMap<u32, (usize, Option<ElementOf>, bool)> = FxHashMap::default();
        for &(name, index) in pairs.iter().filter_map(|pair| self.known.get(pair)?.as_ref()) {
            let (count, first, same) = counts.entry(name).or_insert((0, index, true));
            *count += 1;
            *same &= *first == index;
        }
        let mut fields: Vec<(usize, String)> = counts
            .into_iter()
            .map(|(name, (count, index, same))| match (self.names[name as usize].as_str(), index) {
                ("", Some(ElementOf::Index(index))) if same => (count, format!("[{index}]")),
                ("", Some(ElementOf::Key(key))) if same => (count, self.names[key as usize].clone()),
                ("", _) => (count, "[*]".to_owned()),
                (name, _) => (count, name.to_owned()),
            })
            .collect();
        fields.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let more = fields.len().saturating_sub(MOST_FIELDS);
        let mut text = fields.iter().take(MOST_FIELDS).map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        text
    }
}

/// Fields of one step that are named.
const MOST_FIELDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_heap::{HeapBuilder, HeapType, Strength};

    #[test]
    fn entries_are_alike_as_elements_are() {
        let mut heap = HeapBuilder::new();
        let (kind, name) = (TypeKind::Instance, "Map".to_owned());
        let of = heap.add_type(HeapType { name, kind, superclass: None, loader: "".into() });
        let [map, eu, us, last] = [16; 4].map(|size| heap.add_object(of, size, None));
        let mut refer = |from, to, weak: bool, name: heap::ReferenceName| {
            match weak {
                true => heap.add_referent(from, to, Strength::Weak),
                false => heap.add_reference(from, to),
            }
            heap.name_reference(name);
        };
        refer(map, eu, false, heap::ReferenceName::key("eu"));
        refer(map, us, false, heap::ReferenceName::key("us"));
        refer(map, last, false, "last".into());
        refer(eu, us, true, "cache".into());
        refer(eu, us, false, "other".into());
        refer(eu, last, false, 3.into());
        let heap = heap.finish();
        let pairs = [(map, eu), (map, us), (map, last), (eu, us), (eu, last), (us, eu)];
        let mut known = KnownFields::default();
        assert!(known.ask(pairs.into_iter(), &heap, &Progress::new()).expect("not cancelled"));
        for (asked, expected) in [
            (&pairs[..1], "[\"eu\"]"),
            (&pairs[..2], "[*]"),
            (&pairs[..3], "[*], last"),
            // The plain reference keeps it.
            (&pairs[3..4], "other"),
            (&pairs[4..5], "[3]"),
            (&pairs[5..], ""),
        ] {
            assert_eq!(known.text(asked), expected);
        }
        assert_eq!(known.of(pairs[0]), known.of(pairs[1]), "one field of the map");
        assert_ne!(known.of(pairs[0]), known.of(pairs[2]));
        assert_eq!(field_in_heap(&heap, pairs[3]).as_deref(), Some("other"));
        assert_eq!(field_in_heap(&heap, pairs[5]), None);
    }
}
