//! The symbols file: types, allocation sites and GC causes.

mod names;

use super::header::{FileKind, TraceHeader};
use crate::JVM;
use crate::event::{MOST_BASE, Program, Shape};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::memory::memory_budget;
use memory_city_heap::{AllocationSite, HeapType, TypeKind};
use names::{frame, type_name};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;

// Tags of the file's records.
const GC_CAUSE: u8 = 17;
const TYPE: u8 = 24;
/// An allocation site with its call chain.
const SITE: u8 = 42;
/// The class of a mirror, with its static fields.
const MIRRORED_CLASS: u8 = 55;
const FIELDS: u8 = 56;
const SUPERCLASS_FIELDS: u8 = 57;
/// An allocation site without callers.
const SIMPLE_SITE: u8 = 84;

/// The content of a symbols file.
#[derive(Debug)]
pub(crate) struct Symbols {
    /// Types, sites and causes.
    pub(crate) program: Arc<Program>,
    /// Type by the file's own id.
    pub(crate) type_of_id: Vec<u32>,
    /// Site and its type by the file's own id.
    pub(crate) sites: FxHashMap<u32, Site>,
    /// Index of causes by the file's own id.
    pub(crate) cause_of_id: FxHashMap<u32, u32>,
    /// Bytes of a class mirror of no size of its own.
    pub(crate) mirror_size: u32,
    /// The trace holds references.
    pub(crate) pointers: bool,
    /// The collector leaves a fragmented heap (CMS).
    pub(crate) fragmented: bool,
    /// Warnings about the file.
    pub(crate) warnings: Vec<Warning>,
}

/// An allocation site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Index into the program's sites.
    pub(crate) index: u32,
    /// Index of its type; [`UNKNOWN`] where it has none.
    pub(crate) type_id: u32,
}

/// No type.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Type ids and site ids are below; the largest a site id can be.
const MOST_IDS: u32 = 1 << 24;

/// The meaning of the sites 0 to 12.
const SPECIAL: [&str; 13] = [
    "(unknown site)",
    "(VM internal)",
    "(VM, during GC)",
    "(dead space of the GC)",
    "(scavenge zombie)",
    "Object.clone",
    "String.intern",
    "ObjectInputStream (object)",
    "ObjectInputStream (array)",
    "Array.newInstance (reflective)",
    "Array.newInstance (reflective, several dimensions)",
    "Constructor.newInstance (reflective)",
    "Method.invoke (reflective)",
];

struct SymbolsReader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

/// The record that was being read ends before its end.
struct Cut;

type Read<T> = std::result::Result<T, Cut>;

impl<'a> SymbolsReader<'a> {
    fn take(&mut self, n: usize) -> Read<&'a [u8]> {
        let part = self.bytes.get(self.at..self.at.checked_add(n).ok_or(Cut)?).ok_or(Cut)?;
        self.at += n;
        Ok(part)
    }

    fn u8(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self) -> Read<u32> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Up to a byte, which is taken too.
    fn until(&mut self, end: u8) -> Read<&'a [u8]> {
        let length = self.bytes[self.at..].iter().position(|&b| b == end).ok_or(Cut)?;
        let text = &self.bytes[self.at..self.at + length];
        self.at += length + 1;
        Ok(text)
    }

    /// A type of the JVM's grammar: `I`, `[[J`, `Ljava/lang/String;`.
    fn descriptor(&mut self) -> Read<&'a [u8]> {
        let start = self.at;
        while *self.bytes.get(self.at).ok_or(Cut)? == b'[' {
            self.at += 1;
        }
        if self.u8()? == b'L' {
            self.until(b';')?;
        }
        Ok(&self.bytes[start..self.at])
    }

    /// `Class.method(args)ret`: ends with the grammar of its result.
    fn method(&mut self) -> Read<&'a [u8]> {
        let start = self.at;
        self.until(b')')?;
        self.descriptor()?;
        Ok(&self.bytes[start..self.at])
    }

    fn site_id(&mut self) -> Read<u32> {
        let b = self.take(2)?;
        let high = u32::from(b[0]) | u32::from(b[1]) << 8;
        // Small ids stop below 0x8000: a larger half word is the upper part of a big id.
        Ok(if high & 0x8000 == 0 { high } else { high << 8 | u32::from(self.u8()?) })
    }

    fn fields(&mut self) -> Read<()> {
        let count = self.u32()?;
        for _ in 0..count {
            self.u32()?;
            self.descriptor()?;
            self.until(b' ')?;
            self.take(2)?;
        }
        Ok(())
    }
}

impl Symbols {
    /// Reads a symbols file. A cut file gives its readable part, with a warning.
    ///
    /// # Errors
    /// When it is not a symbols file, or a record is of no known kind.
    pub(crate) fn read(path: &Path, bytes: &[u8], header: &TraceHeader) -> Result<Symbols> {
        debug_assert_eq!(header.kind, FileKind::Symbols);
        let mut reader = SymbolsReader { path, bytes, at: header.end };
        let mut symbols = Symbols {
            program: Arc::default(),
            type_of_id: Vec::new(),
            sites: FxHashMap::default(),
            cause_of_id: FxHashMap::default(),
            mirror_size: 0,
            pointers: false,
            fragmented: false,
            warnings: Vec::new(),
        };
        let mut found = FoundSymbols::default();
        let head = (|| {
            let flags = reader.u32()?;
            let word = reader.u32()?;
            reader.until(0)?;
            Ok::<_, Cut>((flags, word))
        })();
        let Ok((flags, word_size)) = head else {
            return Err(reader.wrong("the end of the file".into(), "the rest of the header"));
        };
        if word_size != 8 {
            return Err(reader.wrong(format!("heap words of {word_size} bytes"), "heap words of 8 bytes (a 64-bit VM)"));
        }
        symbols.pointers = flags & 2 != 0;
        symbols.fragmented = flags & 4 != 0;
        while reader.at < bytes.len() {
            let start = reader.at;
            match found.record(&mut reader) {
                Ok(true) => {}
                Ok(false) => {
                    reader.at = start;
                    return Err(match bytes[start] {
                        TYPE => reader.wrong("a type of impossible size".into(), "objects of less than 2 GB"),
                        SITE => reader.wrong(
                            "a site of very many frames".into(),
                            "at most 65,536 for a site, and as many in all as memory holds",
                        ),
                        kind => reader.wrong(format!("a record of kind {kind}"), "17, 24, 42 or 84"),
                    });
                }
                Err(Cut) => {
                    symbols.warnings.push(Warning {
                        path: path.to_owned(),
                        offset: Some(start as u64),
                        message: "the symbols end in the middle of a record: types and sites after it are not known"
                            .into(),
                    });
                    break;
                }
            }
        }
        found.finish(&mut symbols);
        Ok(symbols)
    }
}

impl SymbolsReader<'_> {
    fn wrong(&self, found: String, expected: &str) -> Error {
        Error::Format {
            path: self.path.to_owned(),
            offset: Some(self.at as u64),
            found,
            expected: expected.to_owned(),
            remedy: "The symbols file is damaged or of another version of the VM: copy it again, or record again"
                .into(),
        }
    }
}

/// Methods with bytecode indices, innermost first.
type Frames<'a> = Vec<(&'a [u8], i32)>;

/// Frames of one site: the VM records far fewer.
const MOST_FRAMES: u32 = 1 << 16;
/// Bytes of memory that a frame may take: it stands here, and as a text of the site.
const FRAME_BYTES: u64 = 64;

/// Records by the file's own ids; the last record of an id wins.
#[derive(Default)]
struct FoundSymbols<'a> {
    types: FxHashMap<u32, (&'a [u8], u32)>,
    sites: FxHashMap<u32, (Frames<'a>, u32)>,
    /// Frames of all sites.
    frames: u64,
    causes: Vec<(u32, &'a [u8])>,
}

impl<'a> FoundSymbols<'a> {
    /// Reads a record; `false` if its kind is unknown, or its content is impossible.
    fn record(&mut self, r: &mut SymbolsReader<'a>) -> Read<bool> {
        match r.u8()? {
            GC_CAUSE => {
                let id = r.u32()?;
                let name = r.until(0)?;
                r.u8()?;
                self.causes.push((id, name));
            }
            TYPE => {
                let id = r.u32()?;
                let signature = r.descriptor()?;
                let size = r.u32()?;
                // No object is as large as that: the record is not one.
                let most = if signature.starts_with(b"[") { MOST_BASE << 8 | 0xff } else { i32::MAX as u32 };
                if size > most {
                    return Ok(false);
                }
                self.types.insert(id, (signature, size));
            }
            FIELDS | SUPERCLASS_FIELDS => r.fields()?,
            MIRRORED_CLASS => {
                // Arrays and primitive types have no static fields to list.
                if r.descriptor()?.starts_with(b"L") {
                    r.fields()?;
                }
            }
            SITE => {
                let id = r.site_id()?;
                let count = r.u32()?;
                self.frames += u64::from(count);
                if count > MOST_FRAMES || self.frames.saturating_mul(FRAME_BYTES) > memory_budget() {
                    return Ok(false);
                }
                let mut frames = Vec::new();
                for _ in 0..count {
                    let method = r.method()?;
                    frames.push((method, r.u32()? as i32));
                }
                let type_id = r.u32()?;
                self.sites.insert(id, (frames, type_id));
            }
            SIMPLE_SITE => {
                let id = r.site_id()?;
                let signature = r.until(0)?;
                let type_id = r.u32()?;
                self.sites.insert(id, (vec![(signature, -1)], type_id));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn finish(self, symbols: &mut Symbols) {
        let mut program = Program { profile: &JVM, ..Program::default() };
        let loader: Arc<str> = Arc::from("(not recorded)");
        let mut ids: Vec<_> = self.types.into_iter().filter(|(id, _)| *id < MOST_IDS).collect();
        ids.sort_unstable_by_key(|t| t.0);
        for (id, (signature, size)) in ids {
            let index = program.types.len() as u32;
            if symbols.type_of_id.len() <= id as usize {
                symbols.type_of_id.resize(id as usize + 1, UNKNOWN);
            }
            symbols.type_of_id[id as usize] = index;
            let (kind, shape) = match signature {
                [b'[', element, ..] => (
                    if matches!(element, b'L' | b'[') { TypeKind::ObjectArray } else { TypeKind::PrimitiveArray },
                    Shape::Array { base: size >> 8, element: size & 0xff },
                ),
                b"Ljava/lang/Class;" => {
                    symbols.mirror_size = size;
                    (TypeKind::Instance, Shape::Mirror)
                }
                _ => (TypeKind::Instance, Shape::Instance(size)),
            };
            program.shapes.push(shape);
            program.types.push(HeapType {
                name: type_name(signature),
                kind,
                superclass: None,
                loader: Arc::clone(&loader),
            });
        }
        let of = |id: u32| symbols.type_of_id.get(id as usize).copied().unwrap_or(UNKNOWN);
        let mut sites: Vec<AllocationSite> =
            SPECIAL.iter().map(|name| AllocationSite { frames: vec![Arc::from(*name)] }).collect();
        for special in 0..SPECIAL.len() as u32 {
            symbols.sites.insert(special, Site { index: special, type_id: UNKNOWN });
        }
        let mut ids: Vec<_> = self.sites.into_iter().collect();
        ids.sort_unstable_by_key(|s| s.0);
        // Frames repeat: the callers of a method are the same for all its sites.
        let mut frames: FxHashMap<(&[u8], i32), Arc<str>> = FxHashMap::default();
        for (id, (chain, type_id)) in ids {
            let mut named = Vec::with_capacity(chain.len());
            for (method, index) in chain {
                named
                    .push(Arc::clone(frames.entry((method, index)).or_insert_with(|| Arc::from(frame(method, index)))));
            }
            let site = Site { index: sites.len() as u32, type_id: of(type_id) };
            symbols.sites.insert(id, site);
            sites.push(AllocationSite { frames: named });
        }
        for (id, name) in self.causes {
            symbols.cause_of_id.insert(id, program.causes.len() as u32);
            program.causes.push(Arc::from(String::from_utf8_lossy(name)));
        }
        program.sites = Arc::new(sites);
        symbols.program = Arc::new(program);
    }
}
