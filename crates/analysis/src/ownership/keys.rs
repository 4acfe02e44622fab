//! By which name a table holds an object: the key beside a value, of a map of global variables, modules, beans or regions.

use memory_city_formats::values::{
    DetailLimits, FieldValue, HeapValues, NamedValue, ObjectContents, ObjectDetails, TextLimits,
};
use memory_city_heap::ObjectId;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;

/// A key that is longer is data.
const LONGEST: usize = 60;

const LIMITS: TextLimits = TextLimits { characters: LONGEST + 1, elements: 0 };

/// Reads keys, a few objects at a time.
struct KeyReader<'v> {
    values: &'v HeapValues,
    progress: &'v Progress,
}

/// The keys by which the first objects of pairs hold the second ones, as the program's author writes them. `None` where the first is no
/// entry of a table, or its key has no text. Costs a few scans of the parts of the input in which these objects lie.
///
/// # Errors
/// When the work was cancelled.
pub(super) fn keys(
    values: &HeapValues,
    pairs: &[(ObjectId, ObjectId)],
    progress: &Progress,
) -> Result<FxHashMap<(ObjectId, ObjectId), String>> {
    let reader = KeyReader { values, progress };
    let known = &values.heap().profile().entries;
    let entries: Vec<ObjectId> = pairs.iter().map(|pair| pair.0).collect();
    let details: FxHashMap<ObjectId, ObjectDetails> = reader.details(&entries)?;
    let mut of_pairs = Vec::new();
    for &(entry, value) in pairs {
        let Some(fields) = details.get(&entry).and_then(fields) else { continue };
        let holds = |f: &&NamedValue| known.values.contains(&&*f.name) && f.value == FieldValue::Object(value);
        if !fields.iter().any(|f| holds(&f)) {
            continue;
        }
        let Some(key) = object_in(fields, known.keys).filter(|&key| key != value) else { continue };
        of_pairs.push(((entry, value), key, object_in(fields, known.namespaces)));
    }
    let named: Vec<ObjectId> =
        of_pairs.iter().flat_map(|&(_, key, namespace)| [Some(key), namespace]).flatten().collect();
    let names = reader.names(&named)?;
    let text = |(pair, key, namespace): ((ObjectId, ObjectId), ObjectId, Option<ObjectId>)| {
        let text = names.get(&key)?;
        let namespace = namespace.and_then(|namespace| names.get(&namespace));
        let qualified = namespace.map(|namespace| format!("{}{namespace}/{text}", known.qualifier));
        Some((pair, qualified.unwrap_or_else(|| text.clone())))
    };
    Ok(of_pairs.into_iter().filter_map(text).collect())
}

/// What the class of an object is called in the dynamic language that it is of; `None` where it has none there. Costs a few scans.
///
/// # Errors
/// When the work was cancelled.
pub(crate) fn language_class(values: &HeapValues, object: ObjectId, progress: &Progress) -> Result<Option<String>> {
    let reader = KeyReader { values, progress };
    let known = &values.heap().profile().entries;
    let details = reader.details(&[object])?;
    let class = details.get(&object).and_then(fields).and_then(|fields| object_in(fields, known.metaclasses));
    let Some(class) = class else { return Ok(None) };
    let details = reader.details(&[class])?;
    let name = details.get(&class).and_then(fields).and_then(|fields| object_in(fields, known.class_names));
    name.map_or(Ok(None), |name| Ok(reader.names(&[name])?.remove(&name)))
}

fn fields(details: &ObjectDetails) -> Option<&[NamedValue]> {
    match &details.contents {
        ObjectContents::Instance(fields) => Some(fields),
        _ => None,
    }
}

/// The object that the first of these fields holds.
fn object_in(fields: &[NamedValue], names: &[&str]) -> Option<ObjectId> {
    names.iter().find_map(|&name| {
        fields.iter().find_map(|f| match f.value {
            FieldValue::Object(o) if &*f.name == name => Some(o),
            _ => None,
        })
    })
}

/// Names are letters that can be read; redacted ones are all alike.
fn is_name(text: &str) -> bool {
    let is_readable = text.chars().all(|c| !c.is_control() && c != '\u{fffd}');
    let is_redacted = text.chars().all(|c| c == '*' || c == '0');
    !text.is_empty() && text.chars().count() <= LONGEST && is_readable && !is_redacted && !text.contains("\\u")
}

impl KeyReader<'_> {
    fn details(&self, objects: &[ObjectId]) -> Result<FxHashMap<ObjectId, ObjectDetails>> {
        let found = self.values.details(objects, DetailLimits::default(), self.progress)?;
        Ok(found.into_iter().map(|details| (details.object, details)).collect())
    }

    /// The texts of keys: of a string, or of the name that a symbol has. Three scans at most, for all of them.
    fn names(&self, keys: &[ObjectId]) -> Result<FxHashMap<ObjectId, String>> {
        let heap = self.values.heap();
        let known = heap.profile();
        let mut names = FxHashMap::default();
        // Each key, and the object that may have its text.
        let mut open: Vec<(ObjectId, ObjectId)> = keys.iter().map(|&key| (key, key)).collect();
        open.sort_unstable();
        open.dedup();
        for _ in 0..3 {
            let is_text =
                |&(_, at): &(ObjectId, ObjectId)| known.types.is_text(&heap.types()[heap.type_of(at).0 as usize].name);
            let (texts, others): (Vec<_>, Vec<_>) = open.into_iter().partition(is_text);
            let objects = |of: &[(ObjectId, ObjectId)]| of.iter().map(|(_, at)| *at).collect::<Vec<_>>();
            let found = self.values.texts(&objects(&texts), LIMITS, self.progress)?;
            for ((key, _), text) in std::iter::zip(texts, found) {
                let text = text.map(|text| text.trim_matches('"').to_owned());
                names.extend(text.filter(|text| is_name(text)).map(|text| (key, text)));
            }
            if others.is_empty() {
                break;
            }
            let details = self.details(&objects(&others))?;
            let next = |(key, at): (ObjectId, ObjectId)| {
                Some((key, object_in(details.get(&at).and_then(fields)?, known.entries.names)?))
            };
            open = others.into_iter().filter_map(next).collect();
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn what_can_be_read_is_a_name() {
        for name in ["$open_sessions", "finished", "audit-trail", "eu west", "Größe"] {
            assert!(is_name(name), "{name}");
        }
        for none in ["", "******", "0000", "a\u{0}b", &"x".repeat(61), "\\u0000\\u0000"] {
            assert!(!is_name(none), "{none}");
        }
    }
}
