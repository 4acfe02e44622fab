//! The top level of a dump: names, loaded classes, stack traces, threads, and the places of the heap segments.

use super::cursor::Cursor;
use super::header::DumpHeader;
use super::limits::MOST_WARNINGS;
use super::segment;
use super::tags::top;
use crate::budget::memory_text;
use ahash::AHashMap;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::printable::{MOST_LINE, shortened};
use memory_city_wire::modified_utf8;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Everything outside the heap segments.
#[derive(Default)]
pub(super) struct DumpIndex {
    strings: AHashMap<u64, (usize, u32)>,
    /// Class object id to the id of its name.
    pub(super) class_names: AHashMap<u64, u64>,
    /// Class serial to class object id.
    class_serials: AHashMap<u32, u64>,
    frames: AHashMap<u64, Frame>,
    traces: AHashMap<u32, Trace>,
    /// Thread serial to the id of its name, from thread start records (old JVMs).
    thread_names: AHashMap<u32, u64>,
    /// The heap records in pieces of some megabytes, each beginning with a record.
    pub(super) pieces: Vec<Range<usize>>,
    /// Warnings about the dump.
    pub(super) warnings: Vec<Warning>,
    /// Warnings that were counted, not kept.
    pub(super) more_warnings: usize,
    /// Bytes of texts that are kept, and how many may be: a record of a few bytes names a text as often as it likes.
    kept: AtomicU64,
    most_kept: u64,
}

/// The longest text that a class file can hold: no name of a class, field or method is longer.
const LONGEST_NAME: usize = 65_535;

#[derive(Clone, Copy)]
struct Frame {
    method: u64,
    class_serial: u32,
    line: i32,
}

#[derive(Clone)]
struct Trace {
    frames: Vec<u64>,
}

/// Pieces are at least this long, so that each is worth a task.
const PIECE: usize = 4 << 20;

impl DumpIndex {
    /// Reads the top level of `bytes`, and keeps at most `most_kept` bytes of its texts.
    pub(super) fn read(path: &Path, bytes: &[u8], header: &DumpHeader, most_kept: u64) -> DumpIndex {
        let mut index = DumpIndex { most_kept, ..DumpIndex::default() };
        let mut unknown: AHashMap<u8, (u64, u64)> = AHashMap::default();
        let mut segments: Vec<Range<usize>> = Vec::new();
        // The hprof agent of old JVMs writes a whole dump into each record, and several into one file: they are states, not parts.
        let of_agent = bytes.starts_with(b"JAVA PROFILE 1.0.1\0");
        let mut earlier = 0u64;
        let mut cursor = Cursor::new(bytes, header.end);
        loop {
            let start = cursor.at;
            if start == bytes.len() {
                break;
            }
            let head = (|| Some((cursor.u8()?, cursor.u32()?, cursor.u32()?)))();
            let Some((tag, _, length)) = head else {
                index.warn(path, start, &cut_text(start, bytes.len(), None));
                break;
            };
            let mut end = cursor.at.saturating_add(length as usize);
            if tag == top::HEAP_DUMP {
                end = unwrapped(bytes, end, 1 << 32);
            }
            let body = cursor.at..end.min(bytes.len());
            if end > bytes.len() {
                index.warn(path, start, &cut_text(start, bytes.len(), Some(end)));
            }
            match tag {
                top::HEAP_DUMP if of_agent && !segments.is_empty() => {
                    earlier += 1;
                    segments = vec![body];
                }
                top::HEAP_DUMP | top::HEAP_DUMP_SEGMENT if body.is_empty() && !segments.is_empty() => {}
                top::HEAP_DUMP | top::HEAP_DUMP_SEGMENT => segments.push(body),
                _ if end > bytes.len() => {}
                top::STRING if body.len() > LONGEST_NAME + header.id_size => {
                    let length = body.len() - header.id_size;
                    let cut = body.start..body.start + header.id_size + LONGEST_NAME;
                    index.record(tag, &bytes[cut], header.id_size, cursor.at);
                    index.warn(
                        path,
                        start,
                        &format!("a name of {length} bytes, of which {LONGEST_NAME} are kept: no class file holds a longer one"),
                    );
                }
                top::STRING..=top::HEAP_SUMMARY
                | top::START_THREAD
                | top::END_THREAD
                | top::CPU_SAMPLES
                | top::CONTROL_SETTINGS
                | top::HEAP_DUMP_END => {
                    if index.record(tag, &bytes[body], header.id_size, cursor.at).is_none() {
                        index.warn(
                            path,
                            start,
                            &format!("record {tag:#04x} is shorter than it should be and was skipped"),
                        );
                    }
                }
                other => {
                    let count = unknown.entry(other).or_insert((0, start as u64));
                    count.0 += 1;
                }
            }
            cursor.at = end.min(bytes.len());
        }
        if earlier > 0 {
            let message = format!(
                "the file has {} dumps, one after the other, as the hprof agent writes them: the last one is shown",
                earlier + 1
            );
            index.warn(path, header.end, &message);
        }
        let mut unknown: Vec<_> = unknown.into_iter().collect();
        unknown.sort_unstable_by_key(|(_, (_, at))| *at);
        for (tag, (count, at)) in unknown.into_iter().take(8) {
            index.warn(path, at as usize, &format!("{count} records of the unknown kind {tag:#04x} were skipped"));
        }
        index.pieces = pieces(bytes, segments, header.id_size);
        index
    }

    fn warn(&mut self, path: &Path, offset: usize, message: &str) {
        if self.warnings.len() >= MOST_WARNINGS {
            self.more_warnings += 1;
            return;
        }
        self.warnings.push(Warning { path: path.to_owned(), offset: Some(offset as u64), message: message.to_owned() });
    }

    fn record(&mut self, tag: u8, body: &[u8], id: usize, offset: usize) -> Option<()> {
        let mut c = Cursor::new(body, 0);
        match tag {
            top::STRING => {
                let name = c.id(id)?;
                self.strings.insert(name, (offset + c.at, (body.len() - c.at) as u32));
            }
            top::LOAD_CLASS => {
                let (serial, class) = (c.u32()?, c.id(id)?);
                c.u32()?;
                self.class_names.insert(class, c.id(id)?);
                self.class_serials.insert(serial, class);
            }
            top::STACK_FRAME => {
                let frame = c.id(id)?;
                let method = c.id(id)?;
                c.id(id)?;
                c.id(id)?;
                let (class_serial, line) = (c.u32()?, c.u32()? as i32);
                self.frames.insert(frame, Frame { method, class_serial, line });
            }
            top::STACK_TRACE => {
                let (serial, _thread, count) = (c.u32()?, c.u32()?, c.u32()?);
                // The count may lie; the body does not.
                let frames: Vec<u64> = std::iter::from_fn(|| c.id(id)).take(count as usize).collect();
                self.traces.insert(serial, Trace { frames });
            }
            top::START_THREAD => {
                let serial = c.u32()?;
                c.id(id)?;
                c.u32()?;
                self.thread_names.insert(serial, c.id(id)?);
            }
            _ => {}
        }
        Some(())
    }

    /// A string by id, as [`modified_utf8`] reads it.
    pub(super) fn string(&self, bytes: &[u8], id: u64) -> Option<String> {
        Some(modified_utf8(self.raw(bytes, id)?).into_owned())
    }

    /// A string by id, as the bytes in the file.
    pub(super) fn raw<'b>(&self, bytes: &'b [u8], id: u64) -> Option<&'b [u8]> {
        let &(at, length) = self.strings.get(&id)?;
        bytes.get(at..at + length as usize)
    }

    /// The name of a class in source form, of at most [`MOST_LINE`] characters: every type, and much that is found of it, has a copy.
    pub(super) fn class_name(&self, bytes: &[u8], class: u64) -> Option<String> {
        let name = source_name(&self.string(bytes, *self.class_names.get(&class)?)?);
        Some(if name.len() <= MOST_LINE { name } else { shortened(&name, MOST_LINE).into_owned() })
    }

    /// Whether a string, by id, is this one, of ASCII characters. Constant time where it has another length.
    pub(super) fn is_named(&self, bytes: &[u8], id: u64, name: &str) -> bool {
        self.raw(bytes, id) == Some(name.as_bytes())
    }

    /// The name of a thread from its start record.
    pub(super) fn thread_name(&self, bytes: &[u8], serial: u32) -> Option<String> {
        self.string(bytes, *self.thread_names.get(&serial)?)
    }

    /// Frame `number` of a stack trace, for people: `com.acme.Main.run() line 12`.
    pub(super) fn frame(&self, bytes: &[u8], trace: u32, number: u32) -> Option<String> {
        let frames = &self.traces.get(&trace)?.frames;
        self.frame_text(bytes, *frames.get(number as usize)?)
    }

    /// All frames of a trace, innermost first.
    pub(super) fn frames(&self, serial: u32) -> &[u64] {
        self.traces.get(&serial).map_or(&[], |trace| &trace.frames)
    }

    /// A frame for people, to be kept.
    pub(super) fn kept_frame(&self, bytes: &[u8], frame: u64) -> String {
        self.keep(self.frame_text(bytes, frame).unwrap_or_else(|| "unknown frame".into()))
    }

    /// A text that is to be kept; an empty one where there is no memory for it, which [`DumpIndex::check_texts`] says.
    pub(super) fn keep(&self, text: String) -> String {
        let length = text.len() as u64;
        if self.kept.fetch_add(length, Relaxed).saturating_add(length) > self.most_kept { String::new() } else { text }
    }

    /// Whether all texts that were to be kept are.
    ///
    /// # Errors
    /// When they take more memory than they may.
    pub(super) fn check_texts(&self, path: &Path) -> Result<()> {
        if self.kept.load(Relaxed) <= self.most_kept {
            return Ok(());
        }
        Err(Error::Memory {
            what: format!(
                "The names of classes, fields and methods in {} take more than the {} that there are for them",
                path.display(),
                memory_text(self.most_kept)
            ),
            remedy: "Open it with more memory (--memory, another machine); if the program has few classes, the dump is damaged: take it again".into(),
        })
    }

    /// Whether a trace has frames. Dumps of recent JVMs give every object the same empty trace.
    pub(super) fn trace_has_frames(&self, serial: u32) -> bool {
        self.traces.get(&serial).is_some_and(|t| !t.frames.is_empty())
    }

    fn frame_text(&self, bytes: &[u8], frame: u64) -> Option<String> {
        let frame = self.frames.get(&frame)?;
        let method = self.string(bytes, frame.method)?;
        let class = self.class_serials.get(&frame.class_serial).and_then(|c| self.class_name(bytes, *c));
        let class = class.unwrap_or_else(|| "?".into());
        Some(match frame.line {
            line if line > 0 => format!("{class}.{method}() line {line}"),
            -3 => format!("{class}.{method}() native"),
            _ => format!("{class}.{method}()"),
        })
    }
}

/// The end of a segment whose length was counted in 32 bits: one of more than 4 GB is so many times `wrap` longer than it says. It is
/// where it says, if a record can begin there or the file ends.
fn unwrapped(bytes: &[u8], end: usize, wrap: usize) -> usize {
    let begins_record = |at: usize| {
        at >= bytes.len() || {
            let mut head = Cursor::new(bytes, at);
            let known = matches!(head.u8(), Some(0x01..=0x07 | 0x0a..=0x0e | 0x1c | 0x2c));
            let length = head.u32().and_then(|_| head.u32());
            known && length.is_none_or(|length| head.at.saturating_add(length as usize) <= bytes.len())
        }
    };
    let ends = std::iter::successors(Some(end), |end| end.checked_add(wrap)).take_while(|&end| end <= bytes.len());
    ends.into_iter().find(|&end| begins_record(end)).unwrap_or(end)
}

/// The message about a file that ends inside of a record: how much of it could be read, and of how much.
fn cut_text(start: usize, length: usize, end: Option<usize>) -> String {
    let all = match end {
        Some(end) => format!("; {} more bytes were to come, at least", end - length),
        None => String::new(),
    };
    let cut = Warning::UNJUDGED;
    format!(
        "{cut}the file was cut off after {length} bytes, in a record that begins at byte {start}{all}. Complete records are shown, the rest is missing. Copy or take the dump again"
    )
}

/// Joins short segments and cuts long ones at records.
fn pieces(bytes: &[u8], segments: Vec<Range<usize>>, id_size: usize) -> Vec<Range<usize>> {
    segments
        .into_iter()
        .flat_map(
            |segment| {
                if segment.len() > 2 * PIECE { segment::cut(bytes, segment, id_size, PIECE) } else { vec![segment] }
            },
        )
        .collect()
}

/// `[Ljava.lang.String;` or `java/util/HashMap` as people write it.
pub(super) fn source_name(name: &str) -> String {
    let dimensions = name.bytes().take_while(|&b| b == b'[').count();
    if dimensions == 0 {
        return name.replace('/', ".");
    }
    element_name(&name[dimensions..]).replace('/', ".") + &"[]".repeat(dimensions)
}

/// The element type of an array, from the VM's letter (`I`) or signature (`Ljava/lang/String;`), as in source; slashes stay.
pub fn element_name(signature: &str) -> &str {
    match signature {
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        class => class.strip_prefix('L').unwrap_or(class).trim_end_matches(';'),
    }
}

#[cfg(test)]
mod tests {
    use super::{source_name, unwrapped};

    #[test]
    fn a_segment_whose_length_wrapped_ends_where_the_next_record_begins() {
        // The record behind the segment: its tag, a time, a length, two bytes.
        let record = [0x01, 0, 0, 0, 0, 0, 0, 0, 2, 7, 7];
        let file = [&[0xff; 600][..], &record].concat();
        assert_eq!(unwrapped(&file, 600 - 512, 256), 600);
        assert_eq!(unwrapped(&file, 600, 256), 600, "it says the truth");
        assert_eq!(unwrapped(&file[..600], 600 - 256, 256), 600, "the last record of the file");
        assert_eq!(unwrapped(&file, 601 - 512, 256), 601 - 512, "no length fits: it stays");
        assert_eq!(unwrapped(&file, 900, 256), 900, "the file is cut");
    }

    #[test]
    fn class_names_are_written_as_in_source() {
        for (raw, expected) in [
            ("java/util/HashMap$Node", "java.util.HashMap$Node"),
            ("[C", "char[]"),
            ("[[I", "int[][]"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("[Ljava.lang.String;", "java.lang.String[]"),
            ("int[]", "int[]"),
            ("[", "[]"),
        ] {
            assert_eq!(source_name(raw), expected);
        }
    }
}
