//! The tables of a stream: definitions of the numbers in its chunks. A definition lost with a damaged chunk gets a name for that.

use ahash::AHashMap;
use memory_city_heap::printable::{MOST_CELL, shortened};
use memory_city_wire::{ClassRow, FrameRow, LoaderRow, MethodRow, OriginRow, StringRow, ThreadRow, TraceTables};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The tables of one stream. Numbers in files are untrusted: no table is as long as the largest number.
#[derive(Default)]
pub(super) struct StreamTables {
    pub(super) strings: AHashMap<u32, Arc<str>>,
    pub(super) loaders: BTreeMap<u32, LoaderRow>,
    pub(super) classes: BTreeMap<u32, ClassRow>,
    pub(super) methods: AHashMap<u32, MethodRow>,
    pub(super) frames: AHashMap<u32, FrameRow>,
    pub(super) threads: AHashMap<u32, ThreadRow>,
    pub(super) origins: AHashMap<u32, OriginRow>,
    /// Names of fields by the classes that hold and are held; `None` is one without a name.
    pub(super) fields: BTreeMap<(u32, u32), BTreeSet<Option<u32>>>,
}

/// The texts of frames, each made once, and their bytes: frames of a few bytes share names, texts do not.
#[derive(Default)]
pub(super) struct FrameTexts {
    made: AHashMap<u32, Arc<str>>,
    pub(super) bytes: u64,
}

/// Longer stacks are cut: a chain of frames that comes back to itself would have no end.
pub(super) const DEEPEST: usize = 2048;

impl StreamTables {
    pub(super) fn add_strings(&mut self, rows: Vec<StringRow>) {
        self.strings.extend(rows.into_iter().map(|row| (row.id, Arc::from(row.text))));
    }

    /// A text.
    pub(super) fn string(&self, id: u32) -> Arc<str> {
        self.strings.get(&id).map_or_else(|| Arc::from(format!("(lost name {id})")), Arc::clone)
    }

    /// True if any class has a loader. Otherwise loaders are unknown, and a missing one does not mean the VM itself.
    pub(super) fn tells_loaders(&self) -> bool {
        self.classes.values().any(|row| row.loader.is_some() || row.loader_name.is_some())
    }

    /// The name of a thread.
    pub(super) fn thread(&self, id: u32) -> Arc<str> {
        match self.threads.get(&id) {
            Some(row) => self.string(row.name),
            None => Arc::from(format!("(lost thread {id})")),
        }
    }

    /// A frame for people: `com.acme.Cart.add(Item) line 12`, or `...:7` with the bytecode index where no line is known.
    pub(super) fn frame_text(&self, frame: &FrameRow) -> String {
        let Some(method) = self.methods.get(&frame.method) else { return format!("(lost method {})", frame.method) };
        let line = frame.line.or_else(|| line_of(method, frame.index?));
        self.place_text(method, frame.index, line, frame.native)
    }

    /// A place in a method, in the same form. Of each name at most [`MOST_CELL`] characters.
    pub(super) fn place_text(&self, method: &MethodRow, index: Option<u32>, line: Option<u32>, native: bool) -> String {
        let (class, name) = (self.string(method.class), self.string(method.name));
        if class.is_empty() {
            return shortened(&name, MOST_CELL).into_owned();
        }
        let parameters = method.parameters.map_or_else(|| Arc::from("()"), |p| self.string(p));
        let place = match (line, index) {
            (Some(line), _) => format!(" line {line}"),
            (None, Some(index)) => format!(":{index}"),
            (None, None) if native => " native".to_owned(),
            (None, None) => String::new(),
        };
        let [class, name, parameters] = [&class, &name, &parameters].map(|text| shortened(text, MOST_CELL));
        format!("{class}.{name}{parameters}{place}")
    }

    /// Bytes of the names of all classes, each counted as often as a class has it.
    pub(super) fn class_name_bytes(&self) -> u64 {
        let length = |row: &ClassRow| self.strings.get(&row.name).map_or(0, |name| name.len() as u64);
        self.classes.values().map(length).sum()
    }

    /// The frames of a stack, innermost first. Each text is made once, in `texts`.
    pub(super) fn stack(&self, innermost: u32, texts: &mut FrameTexts) -> Vec<Arc<str>> {
        let mut frames = Vec::new();
        let mut next = Some(innermost);
        while let Some(id) = next {
            let Some(row) = self.frames.get(&id) else {
                frames.push(Arc::from(format!("(lost frame {id})")));
                break;
            };
            let text = texts.made.entry(id).or_insert_with(|| {
                let text: Arc<str> = Arc::from(self.frame_text(row));
                texts.bytes += text.len() as u64;
                text
            });
            frames.push(Arc::clone(text));
            if row.cut || frames.len() >= DEEPEST {
                frames.push(Arc::from("(further callers were not recorded)"));
                break;
            }
            next = row.caller;
        }
        frames
    }
}

/// The line of a bytecode index.
fn line_of(method: &MethodRow, index: u32) -> Option<u32> {
    let pairs = method.lines.as_chunks::<2>().0;
    let at = pairs.partition_point(|[start, _]| *start <= u64::from(index));
    pairs.get(at.checked_sub(1)?).and_then(|[_, line]| u32::try_from(*line).ok())
}

/// A frame as text, taken apart: class, name, parameters, bytecode index, line, whether native. `None` where putting it
/// together again would give another text.
pub(super) struct FrameParts<'a> {
    pub(super) class: &'a str,
    pub(super) name: &'a str,
    pub(super) parameters: &'a str,
    pub(super) index: Option<u32>,
    pub(super) line: Option<u32>,
    pub(super) native: bool,
}

impl<'a> FrameParts<'a> {
    pub(super) fn of(text: &'a str) -> Option<FrameParts<'a>> {
        let open = text.find('(')?;
        let close = open + text[open..].rfind(')')? + 1;
        let (class, name) =
            text[..open].rsplit_once('.').filter(|(class, name)| !class.is_empty() && !name.is_empty())?;
        // `007` would come back as `7`.
        let number = |digits: &str| digits.parse::<u32>().ok().filter(|n| n.to_string() == digits);
        let place = &text[close..];
        let (index, line, native) = match place {
            "" => (None, None, false),
            " native" => (None, None, true),
            _ => match (place.strip_prefix(':'), place.strip_prefix(" line ")) {
                (Some(index), _) => (Some(number(index)?), None, false),
                (_, Some(line)) => (None, Some(number(line)?), false),
                _ => return None,
            },
        };
        Some(FrameParts { class, name, parameters: &text[open..close], index, line, native })
    }
}
/// The number of a stack in some tables, by its frames, innermost first; none where they are full, or there are no frames.
pub(super) fn stack_in(tables: &mut TraceTables, frames: &[impl AsRef<str>]) -> Option<u32> {
    let mut caller = None;
    for text in frames.iter().rev().map(AsRef::as_ref) {
        let row = match FrameParts::of(text) {
            Some(parts) => FrameRow {
                method: tables.method(parts.class, parts.name, Some(parts.parameters), None, Vec::new)?,
                index: parts.index,
                line: parts.line,
                native: parts.native,
                ..FrameRow::default()
            },
            None => FrameRow { method: tables.method("", text, None, None, Vec::new)?, ..FrameRow::default() },
        };
        caller = Some(tables.frame_row(FrameRow { caller, ..row })?);
    }
    caller
}
