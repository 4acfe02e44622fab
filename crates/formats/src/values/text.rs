//! Texts of objects for people: the text of strings, the number in a box, the name of an enum constant, a class or a thread, the first
//! elements of primitive arrays.

use super::{DetailLimits, FieldValue, HeapValues, ObjectContents, ObjectDetails, ValueKind};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{ObjectId, TypeId};
use std::collections::{HashMap, HashSet};

/// Limits of a text. It ends with the count of everything left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// Characters of a string.
    pub characters: usize,
    /// Elements of a primitive array.
    pub elements: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        TextLimits { characters: 200, elements: 16 }
    }
}

/// How the text of an object is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wording {
    /// `java.lang.String`: an array of characters or bytes, the latter of one byte each or two.
    String,
    /// A string that is being built: as a string, but only part of the array is in use.
    Builder,
    /// The field `value`.
    Boxed,
    /// A string in the field `name` of a class of this name.
    Named(&'static str),
    /// Its own content: arrays and classes. Others have no text.
    Contents,
}

fn wording(name: &str) -> Option<Wording> {
    Some(match name {
        "java.lang.String" => Wording::String,
        "java.lang.StringBuilder" | "java.lang.StringBuffer" => Wording::Builder,
        "java.lang.Boolean"
        | "java.lang.Byte"
        | "java.lang.Character"
        | "java.lang.Short"
        | "java.lang.Integer"
        | "java.lang.Long"
        | "java.lang.Float"
        | "java.lang.Double"
        | "java.util.concurrent.atomic.AtomicBoolean"
        | "java.util.concurrent.atomic.AtomicInteger"
        | "java.util.concurrent.atomic.AtomicLong" => Wording::Boxed,
        "java.lang.Enum" => Wording::Named("java.lang.Enum"),
        "java.lang.Thread" => Wording::Named("java.lang.Thread"),
        _ => return None,
    })
}

/// An object refers to a string, which refers to an array.
const LONGEST_WAY: usize = 3;

impl HeapValues {
    /// A few objects as people read them, in the order in which they are given; `None` for objects that have no text (most
    /// have none). Control characters are escaped, quotation marks and backslashes too, as in source. Costs up to three scans, see [`HeapValues::scan`].
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn texts(&self, objects: &[ObjectId], limits: TextLimits, progress: &Progress) -> Result<Vec<Option<String>>> {
        let bytes = limits.characters.max(limits.elements * 2).saturating_mul(4);
        let detail = DetailLimits { fields: 1000, elements: 0, bytes };
        let mut known: HashMap<ObjectId, ObjectDetails> = HashMap::new();
        let mut next: HashSet<ObjectId> = objects.iter().copied().collect();
        for _ in 0..LONGEST_WAY {
            let asked: Vec<ObjectId> = next.drain().filter(|o| !known.contains_key(o)).collect();
            if asked.is_empty() {
                break;
            }
            let found = self.details(&asked, detail, progress)?;
            next.extend(found.iter().filter_map(|details| self.told_by(details)));
            known.extend(found.into_iter().map(|details| (details.object, details)));
        }
        Ok(objects.iter().map(|o| self.text_of(known.get(o)?, &known, limits)).collect())
    }

    fn wording(&self, of: TypeId) -> Wording {
        let types = self.heap().types();
        let above = |t: &TypeId| types.get(t.0 as usize)?.superclass;
        let mut levels = std::iter::successors(Some(of), above).take(1000);
        levels.find_map(|t| wording(&types.get(t.0 as usize)?.name)).unwrap_or(Wording::Contents)
    }

    /// The object in which the text of this one stands.
    fn told_by(&self, details: &ObjectDetails) -> Option<ObjectId> {
        let ObjectContents::Instance(_) = details.contents else { return None };
        match self.wording(details.of) {
            Wording::String | Wording::Builder => details.field("value")?.object(),
            Wording::Named(class) => details.field_of(class, "name")?.object(),
            Wording::Boxed | Wording::Contents => None,
        }
    }

    fn text_of(
        &self,
        details: &ObjectDetails,
        known: &HashMap<ObjectId, ObjectDetails>,
        limits: TextLimits,
    ) -> Option<String> {
        match &details.contents {
            ObjectContents::Class { of, .. } => return Some(format!("class {}", self.class_name((*of)?))),
            ObjectContents::Primitives { .. } => return primitives_text(details, limits),
            ObjectContents::Instance(_) => {}
            ObjectContents::References(_) | ObjectContents::Unknown => return None,
        }
        let told_by = || known.get(&self.told_by(details)?);
        match self.wording(details.of) {
            Wording::Boxed => match details.field("value")? {
                FieldValue::Object(_) | FieldValue::Null | FieldValue::Dangling(_) => None,
                // AtomicBoolean keeps a number.
                FieldValue::Int(n) if self.class_name(details.of).ends_with("Boolean") => Some((n != 0).to_string()),
                value => Some(value.to_string()),
            },
            Wording::Named(class) => {
                let name = told_by()?;
                let text = match &name.contents {
                    // Threads of old JDKs have their name as an array of characters.
                    ObjectContents::Primitives { .. } => Characters::of_array(name, limits.characters)?,
                    _ => self.characters(name, known, limits.characters)?,
                };
                Some(if class == "java.lang.Enum" { text.plain() } else { text.quoted() })
            }
            Wording::String | Wording::Builder => Some(self.characters(details, known, limits.characters)?.quoted()),
            Wording::Contents => None,
        }
    }

    /// The characters of a string.
    fn characters(
        &self,
        string: &ObjectDetails,
        known: &HashMap<ObjectId, ObjectDetails>,
        most: usize,
    ) -> Option<Characters> {
        let array = known.get(&string.field("value")?.object()?)?;
        let ObjectContents::Primitives { kind, length, bytes } = &array.contents else { return None };
        let number = |name| string.field(name).and_then(FieldValue::integer);
        let wide = number("coder") == Some(1);
        let unit = if *kind == ValueKind::Char || wide { 2 } else { 1 };
        let stored = *length as usize * kind.width(8) / unit;
        let count = || number("count").and_then(|n| usize::try_from(n).ok());
        let (start, count) = match (self.wording(string.of), number("offset").and_then(|n| usize::try_from(n).ok())) {
            (Wording::Builder, _) => (0, count().unwrap_or(stored).min(stored)),
            // Strings of old JDKs and Androids share arrays. Without an offset, `count` is something else.
            (_, Some(offset)) => (offset.min(stored), count().unwrap_or(stored).min(stored - offset.min(stored))),
            (_, None) => (0, stored),
        };
        Some(Characters::decode(*kind, wide, bytes.get(start * unit..)?, count, most))
    }
}

/// Text, and how much more there would be.
struct Characters {
    text: String,
    more: usize,
}

impl Characters {
    /// Decodes `count` characters of an array that begins with `bytes`, and shows at most `most`.
    fn decode(kind: ValueKind, wide: bool, bytes: &[u8], count: usize, most: usize) -> Characters {
        let shown = count.min(most);
        let pairs = || bytes.as_chunks::<2>().0.iter().take(shown);
        // Characters in dumps are big endian; two-byte strings inside byte arrays are in machine order.
        let (text, read) = match (kind, wide) {
            (ValueKind::Char, _) => (utf16(pairs().map(|c| u16::from_be_bytes(*c))), pairs().len()),
            (_, true) => (utf16(pairs().map(|c| u16::from_le_bytes(*c))), pairs().len()),
            _ => {
                let bytes = &bytes[..bytes.len().min(shown)];
                (bytes.iter().map(|&b| char::from(b)).collect(), bytes.len())
            }
        };
        Characters { text, more: count - read.min(count) }
    }

    fn of_array(array: &ObjectDetails, most: usize) -> Option<Characters> {
        let ObjectContents::Primitives { kind, length, bytes } = &array.contents else { return None };
        Some(Characters::decode(*kind, false, bytes, *length as usize, most))
    }

    /// Control characters escaped as in source.
    fn plain(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + 2);
        for c in self.text.chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
        if self.more > 0 {
            out.push('…');
        }
        out
    }

    /// The text as a literal: different texts never read the same.
    fn quoted(&self) -> String {
        let escaped = |c: char| std::iter::repeat_n('\\', usize::from(matches!(c, '\\' | '"'))).chain([c]);
        let text = Characters { text: self.text.chars().flat_map(escaped).collect(), more: self.more }.plain();
        match self.more {
            0 => format!("\"{text}\""),
            more => format!("\"{text}\" ({more} more characters)"),
        }
    }
}

fn utf16(units: impl Iterator<Item = u16>) -> String {
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// `int[3] {1, 2, 3}`; bytes as hexadecimal numbers, and as text where they are text.
fn primitives_text(array: &ObjectDetails, limits: TextLimits) -> Option<String> {
    let ObjectContents::Primitives { kind, length, bytes } = &array.contents else { return None };
    let head = format!("{}[{length}]", kind.name());
    if *length == 0 {
        return Some(head);
    }
    if bytes.is_empty() {
        return Some(format!("{head} (the dump leaves its contents out)"));
    }
    if *kind == ValueKind::Char {
        let text = Characters::of_array(array, limits.characters)?;
        return Some(format!("{head} {}", text.quoted()));
    }
    let width = kind.width(8);
    let shown = (bytes.len() / width).min(limits.elements);
    let element = |at: usize| match kind {
        ValueKind::Byte => format!("{:02x}", bytes[at]),
        kind => {
            let value = FieldValue::primitive(*kind, &bytes[at * width..]);
            value.map_or_else(|| "?".to_owned(), |v| v.to_string())
        }
    };
    let separator = if *kind == ValueKind::Byte { " " } else { ", " };
    let mut elements = (0..shown).map(element).collect::<Vec<_>>().join(separator);
    let more = *length as usize - shown;
    if more > 0 {
        elements.push_str(&format!("{separator}… {more} more"));
    }
    let text = (*kind == ValueKind::Byte).then(|| readable(bytes, *length as usize, limits.characters)).flatten();
    Some(match text {
        Some(text) => format!("{head} {} {{{elements}}}", text.quoted()),
        None => format!("{head} {{{elements}}}"),
    })
}

/// Bytes as text, where all that are shown are text.
fn readable(bytes: &[u8], length: usize, most: usize) -> Option<Characters> {
    let shown = &bytes[..bytes.len().min(most)];
    let text = match std::str::from_utf8(shown) {
        Ok(text) => text,
        // A character that is cut in two at the end is left out.
        Err(e) if e.error_len().is_none() && e.valid_up_to() > 0 => {
            std::str::from_utf8(&shown[..e.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_text = text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
    is_text.then(|| Characters { text: text.to_owned(), more: length - text.len().min(length) })
}
