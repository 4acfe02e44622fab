//! The top level of a dump: names, loaded classes, stack traces, threads, and where the heap segments lie.

use super::cursor::Cursor;
use super::header::DumpHeader;
use super::segment;
use ahash::AHashMap;
use memory_city_heap::error::Warning;
use std::ops::Range;
use std::path::Path;

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
    /// What went wrong.
    pub(super) warnings: Vec<Warning>,
}

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
    /// Reads the top level of `bytes`.
    pub(super) fn read(path: &Path, bytes: &[u8], header: &DumpHeader) -> DumpIndex {
        let mut index = DumpIndex::default();
        let mut unknown: AHashMap<u8, (u64, u64)> = AHashMap::default();
        let mut segments: Vec<Range<usize>> = Vec::new();
        let mut cursor = Cursor::new(bytes, header.end);
        loop {
            let start = cursor.at;
            if start == bytes.len() {
                break;
            }
            let head = (|| Some((cursor.u8()?, cursor.u32()?, cursor.u32()?)))();
            let Some((tag, _, length)) = head else {
                index.warn(
                    path,
                    start,
                    "the file ends inside a record header: it was cut off. All complete records are shown",
                );
                break;
            };
            let end = cursor.at.saturating_add(length as usize);
            let body = cursor.at..end.min(bytes.len());
            if end > bytes.len() {
                let message = format!(
                    "the file ends {} bytes before this record does: it was cut off. All complete records are shown, the rest is missing",
                    end - bytes.len()
                );
                index.warn(path, start, &message);
            }
            match tag {
                0x0c | 0x1c => segments.push(body),
                _ if end > bytes.len() => {}
                0x01..=0x07 | 0x0a | 0x0b | 0x0d | 0x0e | 0x2c => {
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
        let mut unknown: Vec<_> = unknown.into_iter().collect();
        unknown.sort_unstable_by_key(|(_, (_, at))| *at);
        for (tag, (count, at)) in unknown.into_iter().take(8) {
            index.warn(path, at as usize, &format!("{count} records of the unknown kind {tag:#04x} were skipped"));
        }
        index.pieces = pieces(bytes, segments, header.id_size);
        index
    }

    fn warn(&mut self, path: &Path, offset: usize, message: &str) {
        self.warnings.push(Warning { path: path.to_owned(), offset: Some(offset as u64), message: message.to_owned() });
    }

    fn record(&mut self, tag: u8, body: &[u8], id: usize, offset: usize) -> Option<()> {
        let mut c = Cursor::new(body, 0);
        match tag {
            0x01 => {
                let name = c.id(id)?;
                self.strings.insert(name, (offset + c.at, (body.len() - c.at) as u32));
            }
            0x02 => {
                let (serial, class) = (c.u32()?, c.id(id)?);
                c.u32()?;
                self.class_names.insert(class, c.id(id)?);
                self.class_serials.insert(serial, class);
            }
            0x04 => {
                let frame = c.id(id)?;
                let method = c.id(id)?;
                c.id(id)?;
                c.id(id)?;
                let (class_serial, line) = (c.u32()?, c.u32()? as i32);
                self.frames.insert(frame, Frame { method, class_serial, line });
            }
            0x05 => {
                let (serial, _thread, count) = (c.u32()?, c.u32()?, c.u32()?);
                // The count may lie; the body does not.
                let frames: Vec<u64> = std::iter::from_fn(|| c.id(id)).take(count as usize).collect();
                self.traces.insert(serial, Trace { frames });
            }
            0x0a => {
                let serial = c.u32()?;
                c.id(id)?;
                c.u32()?;
                self.thread_names.insert(serial, c.id(id)?);
            }
            _ => {}
        }
        Some(())
    }

    /// A string by id; damaged characters are replaced.
    pub(super) fn string(&self, bytes: &[u8], id: u64) -> Option<String> {
        Some(String::from_utf8_lossy(self.raw(bytes, id)?).into_owned())
    }

    /// A string by id, as it stands in the file.
    pub(super) fn raw<'b>(&self, bytes: &'b [u8], id: u64) -> Option<&'b [u8]> {
        let &(at, length) = self.strings.get(&id)?;
        bytes.get(at..at + length as usize)
    }

    /// The name of a class in source form.
    pub(super) fn class_name(&self, bytes: &[u8], class: u64) -> Option<String> {
        self.string(bytes, *self.class_names.get(&class)?).map(|n| source_name(&n))
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
    pub(super) fn trace(&self, bytes: &[u8], serial: u32) -> Vec<String> {
        let Some(trace) = self.traces.get(&serial) else { return Vec::new() };
        trace.frames.iter().map(|&f| self.frame_text(bytes, f).unwrap_or_else(|| "unknown frame".into())).collect()
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

/// What an array is made of, by the VM's letter (`I`) or signature (`Ljava/lang/String;`), as people write it; slashes stay.
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
    use super::source_name;

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
