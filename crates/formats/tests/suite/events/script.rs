//! A list of events as a trace: decoded one by one, so that a reader can stop and go on at each.

use memory_city_formats::event::{Decoder, EventSink, Gc, ObjectInfo, ObjectKey, Program, Step};
use memory_city_formats::recorded::TraceSource;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::{RootKind, SpaceKind, ThreadId};
use std::path::Path;
use std::sync::Arc;

/// What can happen.
#[derive(Clone, Debug)]
pub enum Event {
    Thread(String),
    NameThread(ThreadId, String),
    Space { index: u32, start: u64, bytes: u64, kind: SpaceKind },
    RemoveSpace(u32),
    Allocate(ObjectInfo, u32, ObjectKey),
    Moved(u64, u64),
    Kept(ObjectKey),
    Freed(ObjectKey),
    Located(u64, u64),
    References(ObjectKey, Vec<ObjectKey>, bool),
    Root(RootKind, ThreadId, String, ObjectKey),
    Begin(Gc),
    Collects(u32),
    End(Gc),
}

/// Events of a program.
pub struct Script {
    pub program: Arc<Program>,
    pub events: Arc<Vec<Event>>,
}

/// So many bytes of a file stand for an event: as many as make a checkpoint worth it.
const EVENT_BYTES: u64 = 64 << 20;

pub struct ScriptDecoder {
    events: Arc<Vec<Event>>,
    at: usize,
}

impl TraceSource for Script {
    type Decoder = ScriptDecoder;

    fn decoder(&self) -> ScriptDecoder {
        ScriptDecoder { events: Arc::clone(&self.events), at: 0 }
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn files(&self) -> Vec<&Path> {
        vec![Path::new("/a/script/in/memory")]
    }

    fn has_references(&self) -> bool {
        true
    }
}

impl Decoder for ScriptDecoder {
    type Saved = usize;

    fn step<S: EventSink>(&mut self, sink: &mut S) -> Result<Step> {
        let Some(event) = self.events.get(self.at) else { return Ok(Step::End) };
        self.at += 1;
        match event {
            Event::Thread(name) => {
                sink.thread(name);
            }
            Event::NameThread(thread, name) => sink.name_thread(*thread, name),
            Event::Space { index, start, bytes, kind } => {
                let change = |s: &mut memory_city_formats::spaces::Space| {
                    (s.start, s.bytes, s.kind) = (*start, *bytes, *kind);
                };
                assert!(sink.change_space(*index, change));
            }
            Event::RemoveSpace(index) => sink.remove_spaces(*index, 1),
            Event::Allocate(info, length, key) => {
                let info = sink.info(*info);
                sink.allocate(info, *length, *key);
            }
            Event::Moved(from, to) => {
                sink.moved(*from, *to);
            }
            Event::Kept(key) => {
                sink.kept(*key);
            }
            Event::Freed(key) => {
                sink.freed(*key);
            }
            Event::Located(id, address) => {
                sink.located(*id, *address);
            }
            Event::References(key, targets, more) => sink.references(*key, targets, *more),
            Event::Root(kind, thread, detail, target) => sink.root(*kind, *thread, detail, *target),
            Event::Begin(gc) => sink.gc_start(*gc)?,
            Event::Collects(space) => sink.collects(*space),
            Event::End(gc) => sink.gc_end(*gc)?,
        }
        Ok(if self.at < self.events.len() { Step::More } else { Step::End })
    }

    fn position(&self) -> (u64, u64) {
        (self.at as u64 * EVENT_BYTES, self.events.len() as u64 * EVENT_BYTES)
    }

    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    fn save(&self) -> usize {
        self.at
    }

    fn restore(&mut self, saved: usize) -> Result<()> {
        self.at = saved;
        Ok(())
    }
}
