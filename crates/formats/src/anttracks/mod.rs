//! AntTracks traces, written by the AntTracks VM (a HotSpot 8 with tracing).
//!
//! A run has a `trace` (or several, after rotations), `symbols`, and `class_definitions`, which are not needed. A trace
//! is a sequence of buffers, each of one thread, possibly compressed ([`lzw`]); [`decode`] turns their words into the
//! events of [`super::event`]. Nothing here keeps a heap.

mod decode;
mod files;
mod format;
mod header;
mod lzw;
mod symbols;

pub use files::{AntTracksSource, Run, find_run};
pub(crate) use format::format;

use super::event::{Decoder, EventSink, Program, Step};
use decode::{Events, Fault, Threads};
use lzw::Damage;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use symbols::Symbols;

/// A file of the trace, and where its buffers begin.
pub struct TraceFile {
    /// The bytes.
    pub input: Input,
    /// Where the header ends.
    pub start: usize,
}

/// The files of a trace in order, shared by all that decode it.
pub struct TraceFiles {
    /// Trace files in the order of their rotation.
    pub files: Vec<TraceFile>,
    /// Types, sites, causes.
    pub(crate) symbols: Symbols,
    /// Warnings about the files.
    pub warnings: Vec<Warning>,
}

/// Decodes a trace, buffer by buffer.
pub struct AntTracks {
    trace: Arc<TraceFiles>,
    events: Events,
    file: usize,
    at: usize,
    /// Where to go on in the buffer at `at`.
    word: usize,
    unpacked: VecDeque<Unpacked>,
    ended: bool,
    warnings: Vec<Warning>,
}

/// A position to go on from.
#[derive(Serialize, Deserialize)]
pub struct Saved {
    file: usize,
    at: usize,
    word: usize,
    threads: Threads,
}

/// A compressed buffer, unpacked ahead of time.
struct Unpacked {
    at: usize,
    bytes: std::result::Result<Vec<u8>, Damage>,
}

/// A thread buffer in the file.
struct BufferBytes<'a> {
    thread: u64,
    compressed: bool,
    content: &'a [u8],
    end: usize,
}

/// Bytes before the content of a buffer.
const BUFFER_HEADER: usize = 12;
/// A buffer is never larger than this when unpacked: the VM's are some kilobytes.
const MOST_UNPACKED: usize = 8 << 20;
/// Compressed bytes that are unpacked together, on all cores.
const AHEAD: usize = 256 << 10;

fn buffer(bytes: &[u8], at: usize) -> Option<BufferBytes<'_>> {
    let head = bytes.get(at..at + BUFFER_HEADER)?;
    let word = |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
    let meta = word(8);
    let start = at + BUFFER_HEADER;
    let end = start + (meta & 0x1fff_ffff) as usize;
    Some(BufferBytes {
        thread: u64::from(word(0)) | u64::from(word(4)) << 32,
        compressed: meta >> 31 == 1,
        content: bytes.get(start..end)?,
        end,
    })
}

impl TraceFiles {
    /// The program, as the trace describes it.
    pub fn program(&self) -> &Arc<Program> {
        &self.symbols.program
    }

    /// Bytes of all trace files.
    pub fn len(&self) -> u64 {
        self.files.iter().map(|f| f.input.bytes().len() as u64).sum()
    }

    /// Whether there is nothing in them.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl AntTracks {
    /// Starts at the beginning.
    pub fn new(trace: Arc<TraceFiles>) -> Self {
        let events = Events::new(&trace.symbols);
        let at = trace.files.first().map(|f| f.start).unwrap_or(0);
        AntTracks { trace, events, file: 0, at, word: 0, unpacked: VecDeque::new(), ended: false, warnings: Vec::new() }
    }

    fn path(&self) -> &Path {
        &self.trace.files[self.file].input.path
    }

    /// The content of a compressed buffer: unpacks it, and those after it, on all cores.
    fn unpack(&mut self) -> std::result::Result<Vec<u8>, Damage> {
        while self.unpacked.front().is_some_and(|u| u.at < self.at) {
            self.unpacked.pop_front();
        }
        if self.unpacked.front().is_none_or(|u| u.at != self.at) {
            self.unpacked.clear();
            let bytes = self.trace.files[self.file].input.bytes();
            let mut work = Vec::new();
            let (mut at, mut amount) = (self.at, 0);
            while let Some(buffer) = buffer(bytes, at).filter(|_| amount < AHEAD) {
                if buffer.compressed {
                    amount += BUFFER_HEADER + buffer.content.len();
                    work.push((at, buffer.content));
                }
                at = buffer.end;
            }
            let unpacked: Vec<Unpacked> = work
                .into_par_iter()
                .map(|(at, content)| {
                    let mut bytes = Vec::with_capacity((8 * content.len()).min(MOST_UNPACKED));
                    let outcome = lzw::unpack(content, &mut bytes, MOST_UNPACKED);
                    Unpacked { at, bytes: outcome.map(|()| bytes) }
                })
                .collect();
            self.unpacked = unpacked.into();
        }
        match self.unpacked.front_mut() {
            // Kept in its place: a step that stops inside it comes back.
            Some(u) => std::mem::replace(&mut u.bytes, Err(Damage::Cut)),
            None => Err(Damage::Cut),
        }
    }

    fn damaged(&self, damage: Damage, first: bool) -> Error {
        let found = match damage {
            Damage::UnknownCode => "a code that is not in its dictionary",
            Damage::Cut => "no end mark in a compressed buffer",
            Damage::TooLarge => "a buffer that unpacks to more than 8 MB",
        };
        let remedy = if damage == Damage::UnknownCode && !first {
            "If the trace was recorded with -XX:+TraceObjectsCompressTraceUseLZW it cannot be read: that mode shares a dictionary between buffers, some of which were never written. Record it again without that flag"
        } else {
            "The file is damaged: copy it again, or record the trace again"
        };
        Error::Format {
            path: self.path().to_owned(),
            offset: Some(self.at as u64),
            found: found.into(),
            expected: "a compressed thread buffer".into(),
            remedy: remedy.into(),
        }
    }
}

impl Decoder for AntTracks {
    type Saved = Saved;

    fn step<S: EventSink>(&mut self, sink: &mut S) -> Result<Step> {
        let trace = Arc::clone(&self.trace);
        let Some(file) = trace.files.get(self.file) else { return Ok(Step::End) };
        let bytes = file.input.bytes();
        if self.at >= bytes.len() || self.ended {
            self.file += 1;
            self.word = 0;
            self.ended = false;
            self.unpacked.clear();
            self.at = trace.files.get(self.file).map(|f| f.start).unwrap_or(0);
            return Ok(if self.file < trace.files.len() { Step::More } else { Step::End });
        }
        let Some(buffer) = buffer(bytes, self.at) else {
            self.warnings.push(Warning {
                path: self.path().to_owned(),
                offset: Some(self.at as u64),
                message: format!(
                    "the trace ends in the middle of a thread buffer ({} bytes of it are there): the program crashed, was killed, or still runs; what came before is shown",
                    bytes.len() - self.at
                ),
            });
            self.ended = true;
            return Ok(Step::More);
        };
        let unpacked;
        let content = if buffer.compressed {
            let first = self.file == 0 && self.at == file.start;
            unpacked = self.unpack().map_err(|damage| self.damaged(damage, first))?;
            &unpacked[..]
        } else {
            buffer.content
        };
        let outcome = self.events.decode(&trace.symbols, buffer.thread, content, self.word, sink);
        match outcome {
            Ok(None) => {
                self.at = buffer.end;
                self.word = 0;
                Ok(Step::More)
            }
            Ok(Some(word)) => {
                if word * 4 >= content.len() {
                    self.at = buffer.end;
                    self.word = 0;
                } else {
                    self.unpacked.clear();
                    self.word = word;
                }
                Ok(Step::More)
            }
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Wrong { word, found, expected }) => {
                let (offset, place) = if buffer.compressed {
                    (self.at as u64, format!(" (word {word} of the compressed buffer here)"))
                } else {
                    ((self.at + BUFFER_HEADER + 4 * word) as u64, String::new())
                };
                Err(Error::Format {
                    path: self.path().to_owned(),
                    offset: Some(offset),
                    found: format!("{found}{place}"),
                    expected,
                    remedy: "The trace or its symbols are damaged, or of another version of the VM: copy them again, or record again".into(),
                })
            }
        }
    }

    fn position(&self) -> (u64, u64) {
        let done: u64 = self.trace.files[..self.file.min(self.trace.files.len())]
            .iter()
            .map(|f| f.input.bytes().len() as u64)
            .sum();
        (done + self.at as u64, self.trace.len())
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.trace.symbols.warnings.clone();
        warnings.extend(self.trace.warnings.clone());
        warnings.extend(self.trace.files.iter().flat_map(|f| f.input.warnings.clone()));
        warnings.extend(self.warnings.clone());
        if self.events.threads.background_cycles > 0 {
            warnings.push(Warning {
                path: self.trace.files[0].input.path.clone(),
                offset: None,
                message: format!(
                    "{} background cycles of the CMS collector are not understood: what they freed is shown as alive until its memory is used again or a full collection comes. Compacting full collections are exact",
                    self.events.threads.background_cycles
                ),
            });
        }
        warnings
    }

    fn save(&self) -> Saved {
        Saved { file: self.file, at: self.at, word: self.word, threads: self.events.threads.clone() }
    }

    fn restore(&mut self, saved: Saved) -> Result<()> {
        self.file = saved.file;
        self.at = saved.at;
        self.word = saved.word;
        self.events.threads = saved.threads;
        self.events.forget();
        self.unpacked.clear();
        self.ended = false;
        Ok(())
    }
}
