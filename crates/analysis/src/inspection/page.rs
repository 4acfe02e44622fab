//! The page of one object: its contents, read from the input now, and the path to it from its GC root.

use super::names::type_name;
use super::state::{InspectedHeap, root_text};
use crate::ownership::best_root;
use crate::structures::containing;
use memory_city_formats::values::{
    DetailLimits, FieldValue, NamedValue, ObjectContents, ObjectDetails, ReferencePlace, TextLimits, ThreadStack,
    ValueKind,
};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepGraph, KeepRules, ShortestPaths};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::ContainingStructures;
use memory_city_heap::{BitSet, HeapState, ObjectId};
use std::sync::Arc;

/// Limits of a copy. Everything left out is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimits {
    /// Fields, elements, bytes.
    pub details: DetailLimits,
    /// Limits of its own text.
    pub text: TextLimits,
}

impl Default for PageLimits {
    /// Some 32 MB at most.
    fn default() -> Self {
        PageLimits {
            details: DetailLimits { fields: 100_000, elements: 1 << 20, bytes: 16 << 20 },
            text: TextLimits { characters: 20_000, elements: 16 },
        }
    }
}

/// Bytes in a row of a hexadecimal listing.
pub const BYTES_IN_A_ROW: usize = 16;

/// The contents of an object. Texts of the objects it refers to are read when they are in sight ([`ObjectTexts`](super::ObjectTexts)).
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectPage {
    /// The object.
    pub object: ObjectId,
    /// Its text: that of a string, a number, the name of an enum constant or a thread.
    pub text: Option<String>,
    /// Its fields or elements; `None` where the input holds neither values nor names of references.
    pub details: Option<ObjectDetails>,
    /// The objects that refer to it, by address, each once.
    pub referrers: Vec<ObjectId>,
    /// The data structures that it is in.
    pub structures: ContainingStructures,
    /// For a thread: its methods, the innermost first, each followed by the objects in its variables.
    pub stack: Vec<StackLine>,
}

/// A line of the stack of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StackLine {
    /// A method: `com.acme.Main.run() line 12`.
    Frame(Arc<str>),
    /// An object in a variable of the method above; before the first method, one of the stack.
    Local(ObjectId),
}

/// The lines of a stack.
fn stack_lines(stack: &ThreadStack) -> Vec<StackLine> {
    let locals = |of: Option<u32>| stack.locals.iter().filter(move |(frame, _)| *frame == of);
    let line = |(_, o): &(Option<u32>, ObjectId)| StackLine::Local(*o);
    let mut lines: Vec<StackLine> = Vec::new();
    for (at, frame) in (0u32..).zip(stack.frames.iter()) {
        lines.push(StackLine::Frame(Arc::clone(frame)));
        lines.extend(locals(Some(at)).map(line));
    }
    let known = stack.frames.len() as u32;
    let mut others = stack.locals.iter().filter(|(frame, _)| frame.is_none_or(|at| at >= known)).peekable();
    if others.peek().is_some() {
        lines.push(StackLine::Frame("elsewhere on the stack".into()));
        lines.extend(others.map(line));
    }
    lines
}

impl ObjectPage {
    /// Reads an object. About two scans of the parts of the input that hold it and its text.
    ///
    /// # Errors
    /// When the input cannot be read again, or the work was cancelled.
    pub fn read(
        inspected: &InspectedHeap<'_>,
        object: ObjectId,
        limits: PageLimits,
        progress: &Progress,
    ) -> Result<ObjectPage> {
        progress.begin("Reading the object", 0);
        let mut referrers = inspected.heap().referrers(object).to_vec();
        referrers.sort_unstable();
        referrers.dedup();
        let structures = containing(inspected.heap(), object, progress)?;
        let Some(values) = inspected.values(progress)? else {
            let details = named_references(inspected.heap(), object, limits.details.fields);
            return Ok(ObjectPage { object, text: None, details, referrers, structures, stack: Vec::new() });
        };
        let mut details = values.details(&[object], limits.details, progress)?.pop();
        if let Some(ObjectContents::Instance(fields) | ObjectContents::Class { statics: fields, .. }) =
            details.as_mut().map(|details| &mut details.contents)
        {
            // What the VM hangs on it in fields that the dump leaves out.
            let class = inspected.heap().profile().types.mirror.unwrap_or_default();
            let hidden = inspected.heap().inferred_references().iter().filter(|r| r.from == object);
            fields.extend(hidden.map(|r| NamedValue {
                class: class.into(),
                name: ReferencePlace::Hidden(r.field).to_string().into(),
                value: FieldValue::Object(r.to),
            }));
        }
        let text = values.texts(&[object], limits.text, progress)?.pop().flatten();
        let stack = values.threads().iter().find(|thread| thread.object == object).map(stack_lines);
        Ok(ObjectPage { object, text, details, referrers, structures, stack: stack.unwrap_or_default() })
    }

    /// Its fields, own class first; `None` where it has none but elements, or nothing is known.
    pub fn fields(&self) -> Option<&[NamedValue]> {
        match &self.details.as_ref()?.contents {
            ObjectContents::Instance(fields) | ObjectContents::Class { statics: fields, .. } => Some(fields),
            _ => None,
        }
    }

    /// Kind of element, number of elements, and the first of them as bytes: of an array of primitive values.
    pub fn primitives(&self) -> Option<(ValueKind, u32, &[u8])> {
        match &self.details.as_ref()?.contents {
            ObjectContents::Primitives { kind, length, bytes } => Some((*kind, *length, bytes)),
            _ => None,
        }
    }

    /// Its elements, as many as are listed: of an array of references.
    pub fn elements(&self) -> Option<&[FieldValue]> {
        match &self.details.as_ref()?.contents {
            ObjectContents::References(elements) => Some(elements),
            _ => None,
        }
    }

    /// Bytes that it takes, about.
    pub fn memory(&self) -> usize {
        let held = self.details.as_ref().map_or(0, |details| match &details.contents {
            ObjectContents::Instance(fields) | ObjectContents::Class { statics: fields, .. } => 64 * fields.len(),
            ObjectContents::References(elements) => 16 * elements.len(),
            ObjectContents::Primitives { bytes, .. } => bytes.len(),
            ObjectContents::Unknown => 0,
        });
        held + 4 * self.referrers.len() + self.text.as_ref().map_or(0, String::len)
    }

    /// How many fields or elements are not listed.
    pub fn left_out(&self) -> u64 {
        self.details.as_ref().map_or(0, |details| details.left_out)
    }
}

/// The references of an object as fields, at most so many, if the input names references one by one. Those that are weaker than plain ones
/// say so.
pub(crate) fn named_references(heap: &HeapState, object: ObjectId, most: usize) -> Option<ObjectDetails> {
    if !heap.has_reference_names() {
        return None;
    }
    let (of, all, weaker) = (heap.type_of(object), heap.references(object), heap.referents().of(object));
    let class: Arc<str> = type_name(heap, object).into();
    let field = |(place, &to): (usize, &ObjectId)| {
        let name = heap.reference_name(object, place).map_or_else(|| "(no name)".to_owned(), |name| name.to_string());
        let weaker = weaker.binary_search_by_key(&(to, place as u32), |r| (r.to, r.place)).ok().map(|at| weaker[at]);
        let name = weaker.map_or(name.clone(), |r| format!("{name} ({})", r.strength.title()));
        NamedValue { class: Arc::clone(&class), name: name.into(), value: FieldValue::Object(to) }
    };
    let fields = all.iter().enumerate().take(most).map(field).collect();
    let left_out = all.len().saturating_sub(most) as u64;
    Some(ObjectDetails { object, of, contents: ObjectContents::Instance(fields), left_out })
}

/// A row of bytes: two digits each, and characters if printable (dots otherwise). Always as long as a whole row.
pub fn hexadecimal(bytes: &[u8]) -> (String, String) {
    let mut digits = String::with_capacity(3 * BYTES_IN_A_ROW + 1);
    for (i, byte) in bytes.iter().enumerate() {
        // A gap in the middle: eyes count to eight.
        if i == BYTES_IN_A_ROW / 2 {
            digits.push(' ');
        }
        digits.push_str(&format!("{byte:02x} "));
    }
    let characters = bytes.iter().map(|&b| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '.' });
    (format!("{digits:<width$}", width = 3 * BYTES_IN_A_ROW + 1), characters.collect())
}

/// A shortest way from a GC root to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootWay {
    /// The root that holds the first object, for people.
    pub root: String,
    /// Where in the code that is, of a local variable whose method is known.
    pub place: Option<String>,
    /// From the object that the root holds down to the object itself; both may be the same. The field between two of them is read when it
    /// is in sight: paths of ten million steps exist.
    pub objects: Vec<ObjectId>,
}

impl RootWay {
    /// The way to an object; `None` where no root reaches it. A walk over the heap from its roots, until it is met.
    ///
    /// # Errors
    /// When cancelled.
    pub fn to(inspected: &InspectedHeap<'_>, object: ObjectId, progress: &Progress) -> Result<Option<RootWay>> {
        RootWay::find(inspected.heap(), inspected.rules(), object, progress)
    }

    /// As [`RootWay::to`].
    ///
    /// # Errors
    /// When cancelled.
    pub fn find(heap: &HeapState, rules: KeepRules, object: ObjectId, progress: &Progress) -> Result<Option<RootWay>> {
        let mut wanted = BitSet::new(heap.object_count());
        wanted.insert(object.0);
        let shortest = ShortestPaths::new(&KeepGraph::new(heap, rules), Some(&wanted), progress)?;
        if !shortest.is_reached(object) {
            return Ok(None);
        }
        let mut objects: Vec<ObjectId> = std::iter::successors(Some(object), |&o| shortest.keeper(o)).collect();
        objects.reverse();
        let first = objects.first().copied().unwrap_or(object);
        let best = best_root(heap, first, |_| true);
        let place = best.and_then(|root| root.place()).map(str::to_owned);
        let root = match best {
            Some(root) => root_text(root),
            None if heap.is_class_object(first) => {
                "Class loader: the class is loaded for as long as the VM runs".into()
            }
            None => "The VM".into(),
        };
        Ok(Some(RootWay { root, place, objects }))
    }

    /// The objects that alone keep an object alive, the nearest first, up to the one that has no owner. Ten million steps
    /// are 40 MB.
    ///
    /// # Errors
    /// When cancelled.
    pub fn owners(inspected: &InspectedHeap<'_>, object: ObjectId, progress: &Progress) -> Result<Vec<ObjectId>> {
        let tree = inspected.dominators(progress)?;
        let mut owners = Vec::new();
        let mut at = object;
        while let Some(owner) = tree.owner(at) {
            if owners.len().is_multiple_of(1 << 16) {
                progress.check()?;
            }
            owners.push(owner);
            at = owner;
        }
        Ok(owners)
    }
}

#[cfg(test)]
mod tests {
    use super::hexadecimal;

    #[test]
    fn bytes_are_written_in_columns() {
        let (digits, text) = hexadecimal(b"Hello, \x00world!");
        assert_eq!(digits, "48 65 6c 6c 6f 2c 20 00  77 6f 72 6c 64 21       ");
        assert_eq!(text, "Hello, .world!");
        assert_eq!(hexadecimal(&[0xff; 16]).0.len(), digits.len());
        assert_eq!(hexadecimal(&[0x41; 3]).0.len(), digits.len());
    }
}
