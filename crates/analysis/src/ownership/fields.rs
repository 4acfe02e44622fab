//! By which field or element an object holds another, as far as somebody knows.

use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, RootKind, TypeKind};
use rustc_hash::FxHashMap;

/// Where in an object a reference stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ReferenceName {
    /// A field; or what stands for one: `<class>`.
    Field(String),
    /// An element of an array, where it is known which.
    Element(Option<u32>),
}

impl ReferenceName {
    /// For people: `persons`, `[3]`, `[*]`.
    fn text(self) -> String {
        match self {
            ReferenceName::Field(field) => field,
            ReferenceName::Element(Some(index)) => format!("[{index}]"),
            ReferenceName::Element(None) => "[*]".to_owned(),
        }
    }
}

/// From an object to one that it refers to.
pub(crate) type Pair = (ObjectId, ObjectId);

/// Knows names of fields.
pub(crate) trait FieldNames {
    /// By which field or element the first object of each pair refers to the second; `None` where that is not known. May
    /// cost a pass over the input: asked once for many pairs.
    ///
    /// # Errors
    /// When the input can no longer be read, or the work was cancelled.
    fn names(&self, pairs: &[Pair], progress: &Progress) -> Result<Vec<Option<ReferenceName>>>;
}

/// What a heap state knows without its input: elements of arrays, static fields, hidden fields, classes of instances.
impl FieldNames for HeapState {
    fn names(&self, pairs: &[Pair], _: &Progress) -> Result<Vec<Option<ReferenceName>>> {
        Ok(pairs.iter().map(|&pair| name_in_heap(self, pair)).collect())
    }
}

/// By which field or element the first object refers to the second, for people, as far as a heap state knows it without its input.
pub(crate) fn field_in_heap(heap: &HeapState, pair: Pair) -> Option<String> {
    name_in_heap(heap, pair).map(ReferenceName::text)
}

fn name_in_heap(heap: &HeapState, (from, to): Pair) -> Option<ReferenceName> {
    let of = &heap.types()[heap.type_of(from).0 as usize];
    if of.kind == TypeKind::ObjectArray {
        return Some(ReferenceName::Element(None));
    }
    if let Some(field) = heap.field_between(from, to) {
        return Some(ReferenceName::Field(field));
    }
    if heap.is_class_object(from) {
        let mut fields = heap.roots_of(to).filter(|root| root.kind == RootKind::StaticField);
        // Where fields of several classes hold it, the heap state does not say which is whose.
        let (first, second) = (fields.next(), fields.next());
        let field = first.filter(|_| second.is_none()).and_then(|root| root.chain().nth(2));
        return field.map(|field| ReferenceName::Field(field.to_owned()));
    }
    (heap.mirror_of(heap.type_of(from)) == Some(to)).then(|| ReferenceName::Field("<class>".to_owned()))
}

/// Names that were asked for.
#[derive(Default)]
pub(crate) struct KnownFields {
    /// The name of an element is empty.
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// The number of the name; of elements also which.
    known: FxHashMap<Pair, Option<(u32, Option<u32>)>>,
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
                ReferenceName::Field(name) => (self.number(name), None),
                ReferenceName::Element(index) => (self.number(String::new()), index),
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

    /// The fields of some references as people read them: `persons`, `[3]`, `[*]`; of several the most frequent first.
    /// Empty where none is known.
    pub fn text(&self, pairs: &[Pair]) -> String {
        let mut counts: FxHashMap<u32, (usize, Option<u32>, bool)> = FxHashMap::default();
        for &(name, index) in pairs.iter().filter_map(|pair| self.known.get(pair)?.as_ref()) {
            let (count, first, same) = counts.entry(name).or_insert((0, index, true));
            *count += 1;
            *same &= *first == index;
        }
        let mut fields: Vec<(usize, String)> = counts
            .into_iter()
            .map(|(name, (count, index, same))| match (self.names[name as usize].as_str(), index) {
                ("", Some(index)) if same => (count, format!("[{index}]")),
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
