//! Conversion of events to rows of the trace: names become numbers of the string table, rows wait until they fill a chunk.

use crate::event::{AgentEvent, Definition, SampleFacts};
use crate::names;
use memory_city_wire::{
    ChunkKind, ClassRow, CountRow, DeathRow, FrameRow, GcRow, LossReason, LossRow, MethodRow, RunRow, SampleRow,
    SettingRow, StringRow, ThreadRow, TraceOptions, TraceWriter, WireResult, weight,
};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Most waiting rows; then they are written at any time.
const MOST_WAITING: usize = 20_000;

pub(crate) struct Sink {
    writer: TraceWriter,
    numbers: HashMap<String, u32>,
    strings: Vec<StringRow>,
    classes: Vec<ClassRow>,
    methods: Vec<MethodRow>,
    frames: Vec<FrameRow>,
    threads: Vec<ThreadRow>,
    samples: Vec<SampleRow>,
    deaths: Vec<DeathRow>,
    collections: Vec<GcRow>,
    counts: Vec<CountRow>,
    losses: Vec<LossRow>,
    settings: Vec<SettingRow>,
}

impl Sink {
    /// Begins the program's stream in a folder; time 0 was `since_start` ago.
    pub(crate) fn create(folder: &Path, most_bytes: u64, since_start: Duration) -> WireResult<Sink> {
        let options = TraceOptions { most_bytes: Some(most_bytes), ..TraceOptions::default() };
        let mut writer = TraceWriter::create_folder(folder, options)?;
        writer.set_begun(Instant::now().checked_sub(since_start).unwrap_or_else(Instant::now));
        Ok(Sink {
            writer,
            numbers: HashMap::new(),
            strings: Vec::new(),
            classes: Vec::new(),
            methods: Vec::new(),
            frames: Vec::new(),
            threads: Vec::new(),
            samples: Vec::new(),
            deaths: Vec::new(),
            collections: Vec::new(),
            counts: Vec::new(),
            losses: Vec::new(),
            settings: Vec::new(),
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.writer.bytes()
    }

    /// Samples that were written.
    pub(crate) fn samples(&self) -> u64 {
        self.writer.samples()
    }

    pub(crate) fn run(&mut self, facts: &[(&str, String)]) -> WireResult<()> {
        let row = |(key, value): &(&str, String)| RunRow { key: (*key).to_owned(), value: value.clone() };
        self.writer.write(&facts.iter().map(row).collect::<Vec<_>>())
    }

    /// The number of a text.
    pub(crate) fn string(&mut self, text: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.strings.push(StringRow { id: next, text: text.clone() });
            next
        })
    }

    pub(crate) fn take(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Define(definition) => self.define(definition),
            AgentEvent::Sample(sample) => self.samples.push(row(&sample)),
        }
    }

    pub(crate) fn define(&mut self, definition: Definition) {
        match definition {
            Definition::Thread { id, name } => {
                let name = self.string(name);
                self.threads.push(ThreadRow { id, name, ..ThreadRow::default() });
            }
            Definition::Class { id, signature, loader } => {
                let name = self.string(names::source_name(&signature));
                let loader_name = loader.map(|loader| self.string(loader));
                let kind = names::kind(&signature);
                self.classes.push(ClassRow { id, name, kind, loader_name, ..ClassRow::default() });
            }
            Definition::Method { id, facts } => {
                let class = self.string(names::source_name(&facts.class));
                let facts = *facts;
                let name = self.string(facts.name);
                let parameters = names::parameters(&facts.signature).map(|p| self.string(p));
                let file = (!facts.file.is_empty()).then(|| self.string(facts.file));
                let lines = facts.lines.iter().flat_map(|(at, line)| [u64::from(*at), u64::from(*line)]).collect();
                self.methods.push(MethodRow { id, class, name, parameters, file, lines });
            }
            Definition::Frame { id, parent, method, location, cut } => self.frames.push(FrameRow {
                id,
                caller: (parent != 0).then_some(parent),
                method,
                index: u32::try_from(location).ok(),
                native: location < 0,
                cut,
                ..FrameRow::default()
            }),
        }
    }

    pub(crate) fn deaths(&mut self, samples: impl IntoIterator<Item = u64>, time: u64, gc: Option<u64>) {
        self.deaths.extend(samples.into_iter().map(|sample| DeathRow { sample, time, gc, let_go: false }));
    }

    /// Samples that are not followed any more, or never were.
    pub(crate) fn let_go(&mut self, samples: impl IntoIterator<Item = u64>, time: u64) {
        self.deaths.extend(samples.into_iter().map(|sample| DeathRow { sample, time, gc: None, let_go: true }));
    }

    pub(crate) fn collection(&mut self, row: GcRow) {
        self.collections.push(row);
    }

    /// The rows of a class histogram.
    pub(crate) fn counts(&mut self, rows: impl IntoIterator<Item = CountRow>) {
        self.counts.extend(rows);
    }

    /// Reports `count` missing rows of chunks of this kind.
    pub(crate) fn loss(&mut self, time: u64, what: ChunkKind, reason: LossReason, count: u64) {
        if count > 0 {
            if what == ChunkKind::SAMPLES {
                self.writer.count_lost(count);
            }
            self.losses.push(LossRow { time, what: u32::from(what.0), reason, count, ..LossRow::default() });
        }
    }

    pub(crate) fn setting(&mut self, time: u64, key: &str, value: String) {
        self.settings.push(SettingRow { time, key: key.to_owned(), value });
    }

    /// Whether so much waits that it should be written now.
    pub(crate) fn is_full(&self) -> bool {
        self.samples.len() + self.deaths.len() + self.frames.len() + self.methods.len() > MOST_WAITING
    }

    /// Writes waiting rows, names first.
    pub(crate) fn flush(&mut self) -> WireResult<()> {
        let Sink { writer, .. } = self;
        writer.write(&self.strings)?;
        writer.write(&self.classes)?;
        writer.write(&self.methods)?;
        writer.write(&self.frames)?;
        writer.write(&self.threads)?;
        writer.write(&self.settings)?;
        writer.write(&self.samples)?;
        writer.write(&self.collections)?;
        writer.write(&self.deaths)?;
        writer.write(&self.counts)?;
        writer.write(&self.losses)?;
        self.strings.clear();
        self.classes.clear();
        self.methods.clear();
        self.frames.clear();
        self.threads.clear();
        self.settings.clear();
        self.samples.clear();
        self.collections.clear();
        self.deaths.clear();
        self.counts.clear();
        self.losses.clear();
        Ok(())
    }

    /// Writes waiting rows, and the end.
    pub(crate) fn finish(mut self, reason: &str) -> WireResult<()> {
        self.flush()?;
        self.writer.finish(reason)
    }
}

fn row(sample: &SampleFacts) -> SampleRow {
    let interval = u64::from(sample.interval);
    SampleRow {
        id: sample.id,
        time: sample.at,
        thread: sample.thread,
        sequence: sample.sequence,
        class: sample.class,
        size: sample.size,
        length: u32::try_from(sample.length).ok(),
        weight: weight(sample.size, interval),
        interval,
        stack: (sample.stack != 0).then_some(sample.stack),
        gcs: sample.collections,
    }
}
