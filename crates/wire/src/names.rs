//! Numbering of names, classes, methods, frames and threads: each gets one number. New ones wait for the writer.
//!
//! Names are known again by 128 bits of a hash with random keys, not by their text: a name costs 30 bytes of memory,
//! however long it is.

use crate::error::WireResult;
use crate::rows::{ClassRow, FieldRow, FrameRow, LoaderRow, MethodRow, OriginRow, StringRow, ThreadRow, TraceRow};
use crate::writer::TraceWriter;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

/// The tables of a stream, filled by its writer.
///
/// Bounded: beyond `most` entries of a table nothing is added, and [`TraceTables::left_out`] counts. Then a string, method or frame
/// is none.
pub struct TraceTables {
    most: usize,
    keys: [RandomState; 2],
    strings: HashMap<u128, u32>,
    methods: HashMap<u128, u32>,
    frames: HashMap<(Option<u32>, u32, Option<u32>), u32>,
    loaders: u32,
    classes: u32,
    threads: u32,
    origins: u32,
    /// Fields by the classes of the referring object and its target; a string each.
    fields: HashMap<(u32, u32), Vec<Option<u32>>>,
    left_out: u64,
    new: NewRows,
}

/// Rows that were not written yet.
#[derive(Default)]
struct NewRows {
    strings: Vec<StringRow>,
    loaders: Vec<LoaderRow>,
    classes: Vec<ClassRow>,
    methods: Vec<MethodRow>,
    frames: Vec<FrameRow>,
    threads: Vec<ThreadRow>,
    origins: Vec<OriginRow>,
    fields: Vec<FieldRow>,
}

impl TraceTables {
    /// Empty tables for at most `most` strings, methods, and frames each.
    pub fn new(most: usize) -> TraceTables {
        TraceTables {
            most: most.min(u32::MAX as usize),
            keys: [RandomState::new(), RandomState::new()],
            strings: HashMap::new(),
            methods: HashMap::new(),
            frames: HashMap::new(),
            loaders: 0,
            classes: 0,
            threads: 0,
            origins: 0,
            fields: HashMap::new(),
            left_out: 0,
            new: NewRows::default(),
        }
    }

    /// How often something was not added because a table was full.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn key(&self, value: impl Hash) -> u128 {
        let [one, other] = &self.keys;
        u128::from(one.hash_one(&value)) << 64 | u128::from(other.hash_one(&value))
    }

    /// The number of a text.
    pub fn string(&mut self, text: &str) -> Option<u32> {
        let key = self.key(text);
        if let Some(&id) = self.strings.get(&key) {
            return Some(id);
        }
        if self.strings.len() >= self.most {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        let id = self.strings.len() as u32;
        self.strings.insert(key, id);
        self.new.strings.push(StringRow { id, text: text.to_owned() });
        Some(id)
    }

    /// Adds a loader; its number is given to it.
    pub fn loader(&mut self, row: LoaderRow) -> u32 {
        let id = self.loaders;
        self.loaders = self.loaders.wrapping_add(1);
        self.new.loaders.push(LoaderRow { id, ..row });
        id
    }

    /// Says more about a loader.
    pub fn loader_again(&mut self, row: LoaderRow) {
        self.new.loaders.push(row);
    }

    /// A number for a class that [`TraceTables::class_again`] will describe: for classes that name each other.
    pub fn reserve_class(&mut self) -> u32 {
        let id = self.classes;
        self.classes = self.classes.wrapping_add(1);
        id
    }

    /// Adds a class, and sets its number. The caller tells classes apart: two loaders may each have one of a name.
    pub fn class(&mut self, row: ClassRow) -> u32 {
        let id = self.classes;
        self.classes = self.classes.wrapping_add(1);
        self.new.classes.push(ClassRow { id, ..row });
        id
    }

    /// Says more about a class.
    pub fn class_again(&mut self, row: ClassRow) {
        self.new.classes.push(row);
    }

    /// The number of a method, by class, name and parameters; `lines` and file are those of the first time.
    pub fn method(
        &mut self,
        class: &str,
        name: &str,
        parameters: Option<&str>,
        file: Option<&str>,
        lines: impl FnOnce() -> Vec<u64>,
    ) -> Option<u32> {
        let key = self.key((class, name, parameters));
        if let Some(&id) = self.methods.get(&key) {
            return Some(id);
        }
        if self.methods.len() >= self.most {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        let row = MethodRow {
            id: self.methods.len() as u32,
            class: self.string(class)?,
            name: self.string(name)?,
            parameters: parameters.and_then(|p| self.string(p)),
            file: file.and_then(|f| self.string(f)),
            lines: lines(),
        };
        let id = row.id;
        self.methods.insert(key, id);
        self.new.methods.push(row);
        Some(id)
    }

    /// The number of a frame below its caller. A stack is added from the outside in, and named by the last.
    pub fn frame(&mut self, caller: Option<u32>, method: u32, index: Option<u32>) -> Option<u32> {
        let line = None;
        self.frame_row(FrameRow { caller, method, index, line, ..FrameRow::default() })
    }

    /// As [`TraceTables::frame`], with all facts about it; sets its number.
    pub fn frame_row(&mut self, row: FrameRow) -> Option<u32> {
        // A frame is its place: the line follows from it, or stands for it.
        let key = (row.caller, row.method, row.index.or(row.line.map(|l| l | 1 << 31)));
        if let Some(&id) = self.frames.get(&key) {
            return Some(id);
        }
        if self.frames.len() >= self.most {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        let id = self.frames.len() as u32;
        self.frames.insert(key, id);
        self.new.frames.push(FrameRow { id, ..row });
        Some(id)
    }

    /// Adds a thread; its number is given to it.
    pub fn thread(&mut self, row: ThreadRow) -> u32 {
        let id = self.threads;
        self.threads = self.threads.wrapping_add(1);
        self.new.threads.push(ThreadRow { id, ..row });
        id
    }

    /// Says more about a thread: a name, an end.
    pub fn thread_again(&mut self, row: ThreadRow) {
        self.new.threads.push(row);
    }

    /// Adds an origin; its number is given to it.
    pub fn origin(&mut self, row: OriginRow) -> u32 {
        let id = self.origins;
        self.origins = self.origins.wrapping_add(1);
        self.new.origins.push(OriginRow { id, ..row });
        id
    }

    /// Adds the fields by which objects of a class refer to objects of another. Beyond `most` pairs of classes nothing is known of a pair.
    pub fn fields<'n>(&mut self, from: u32, to: u32, names: impl IntoIterator<Item = &'n str>) {
        if self.fields.len() >= self.most && !self.fields.contains_key(&(from, to)) {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        for name in names {
            let field = self.string(name);
            let known = self.fields.entry((from, to)).or_default();
            if !known.contains(&field) {
                known.push(field);
                self.new.fields.push(FieldRow { from, to, field });
            }
        }
    }

    /// Writes new rows, each table before those that use it. Call it before writing rows that use the numbers. Rows that could not be
    /// written wait for another try.
    ///
    /// # Errors
    /// As [`TraceWriter::write`].
    pub fn write_new(&mut self, writer: &mut TraceWriter) -> WireResult<()> {
        fn write<R: TraceRow>(writer: &mut TraceWriter, rows: &mut Vec<R>) -> WireResult<()> {
            if rows.is_empty() {
                return Ok(());
            }
            writer.write_definitions(rows)?;
            *rows = Vec::new();
            Ok(())
        }
        write(writer, &mut self.new.strings)?;
        write(writer, &mut self.new.loaders)?;
        write(writer, &mut self.new.classes)?;
        write(writer, &mut self.new.methods)?;
        write(writer, &mut self.new.frames)?;
        write(writer, &mut self.new.threads)?;
        write(writer, &mut self.new.origins)?;
        write(writer, &mut self.new.fields)
    }
}
