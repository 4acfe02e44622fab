//! Writer of class histograms as a recording, for external counters and for converted trees.

use super::names::stack_in;
use super::scan::error_of;
use crate::event::GcKind;
use crate::series::GcPoint;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_wire::{
    ClassRow, CollectionKind, CountRow, GcRow, GcScope, RunRow, SettingRow, TraceOptions, TraceTables, TraceWriter,
};
use std::fs::File;
use std::path::Path;

/// How recordings came to be that were made of something else.
pub const CONVERTED: &str = "converted";
/// The key of the fact that gives the basis of counts that do not cover all objects.
pub const COUNTS_OF: &str = "counts.of";
/// The setting at a histogram of groups of samples: the number of objects whose groups are known.
pub(super) const COUNTS_SAMPLED: &str = "counts.sampled";
/// Names, methods and frames that are written, each.
const MOST_NAMES: usize = 1 << 24;

/// Writes class histograms as a recording of one stream, in chunks that readers see as soon as they are there.
pub struct CountStream {
    writer: TraceWriter,
    tables: TraceTables,
    classes: AHashMap<String, u32>,
    taken: u64,
    collections: u64,
}

/// A row of a histogram that is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamCount<'a> {
    /// The class, in source form.
    pub class: &'a str,
    /// The call chain that allocated, innermost first; empty if sites are not counted.
    pub frames: &'a [&'a str],
    /// Objects.
    pub objects: u64,
    /// Their shallow bytes.
    pub bytes: u64,
}

impl CountStream {
    /// Begins in a file that is open for writing, and empty, with facts of the run by the keys of docs/trace-format.md. The path is
    /// for messages.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn on_file(file: File, path: &Path, facts: &[(&str, String)]) -> Result<CountStream> {
        let mut writer = TraceWriter::on_file(file, path, TraceOptions::default()).map_err(error_of)?;
        let row = |(key, value): &(&str, String)| RunRow { key: (*key).to_owned(), value: value.clone() };
        writer.write(&facts.iter().map(row).collect::<Vec<_>>()).map_err(error_of)?;
        Ok(CountStream {
            writer,
            tables: TraceTables::new(MOST_NAMES),
            classes: AHashMap::default(),
            taken: 0,
            collections: 0,
        })
    }

    /// Nanoseconds since the recording began.
    pub fn now(&self) -> u64 {
        self.writer.now()
    }

    /// Bytes that have been written.
    pub fn bytes(&self) -> u64 {
        self.writer.bytes()
    }

    /// Writes a collection, at whose end there is a histogram; `start` is nanoseconds since the recording began. Its number in the
    /// recording, for [`CountStream::write`].
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn collection(&mut self, start: u64, gc: &GcPoint) -> Result<u64> {
        let number = self.collections;
        self.collections += 1;
        let row = GcRow {
            number,
            start,
            duration: gc.duration.saturating_mul(1_000_000),
            kind: match gc.kind {
                GcKind::Minor => CollectionKind::Minor,
                GcKind::Major => CollectionKind::Major,
            },
            scope: if gc.one_pause { GcScope::Pause } else { GcScope::Whole },
            cause: self.tables.string(&gc.cause),
            freed: gc.freed,
            source_number: Some(u64::from(gc.number)),
            ..GcRow::default()
        };
        self.tables.write_new(&mut self.writer).map_err(error_of)?;
        self.writer.write(&[row]).map_err(error_of)?;
        Ok(number)
    }

    /// Writes the counts of a time: each class and call chain once. `garbage` means that unreachable objects are counted too, `gc` is the
    /// last collection before, if known.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write<'a>(
        &mut self,
        time: u64,
        gc: Option<u64>,
        garbage: bool,
        counts: impl IntoIterator<Item = StreamCount<'a>>,
    ) -> Result<()> {
        let mut rows = Vec::new();
        for StreamCount { class: name, frames, objects, bytes } in counts {
            let class = match self.classes.get(name) {
                Some(class) => *class,
                None => {
                    let row = ClassRow {
                        name: self.tables.string(name).unwrap_or(0),
                        kind: class_kind(name),
                        ..ClassRow::default()
                    };
                    let class = self.tables.class(row);
                    self.classes.insert(name.to_owned(), class);
                    class
                }
            };
            let stack = stack_in(&mut self.tables, frames);
            let known = CountRow { histogram: self.taken, time, gc, class, stack, garbage, ..CountRow::default() };
            rows.push(CountRow { objects, bytes, ..known });
        }
        let count = rows.len() as u32;
        rows.iter_mut().for_each(|row| row.rows = count);
        rows.sort_by_key(|row| (row.class, row.stack));
        self.taken += 1;
        self.tables.write_new(&mut self.writer).map_err(error_of)?;
        self.writer.write(&rows).map_err(error_of)
    }

    /// Notes that the groups in the histogram of a time cover only `samples` sampled objects of `objects` in all.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sampled(&mut self, time: u64, samples: u64, objects: u64) -> Result<()> {
        let row = SettingRow { time, key: COUNTS_SAMPLED.to_owned(), value: format!("{samples} of {objects}") };
        self.writer.write(&[row]).map_err(error_of)
    }

    /// Ends the recording, with the reason for people.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(self, reason: &str) -> Result<()> {
        self.writer.finish(reason).map_err(error_of)
    }
}

/// The sort of a class's objects, as a number of recordings.
pub(super) fn class_kind(class: &str) -> u32 {
    const PRIMITIVE: [&str; 8] = ["boolean", "byte", "char", "short", "int", "long", "float", "double"];
    class.strip_suffix("[]").map_or(0, |element| 1 + u32::from(PRIMITIVE.contains(&element)))
}

#[cfg(test)]
mod tests {
    use super::class_kind;

    #[test]
    fn names_tell_arrays() {
        assert_eq!(["app.Main", "java.lang.String[]", "int[][]", "byte[]"].map(class_kind), [0, 1, 1, 2]);
    }
}
