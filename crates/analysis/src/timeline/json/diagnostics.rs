//! Errors of the parser as errors for people, and warnings that are counted instead of repeated.

use super::document::Context;
use super::fields::{Unknown, shortened};
use super::maps::RawMaps;
use super::memory::{Amounts, Costs, Credit, LIVE, OF_FILES, no_room};
use super::tree::Columns;
use crate::timeline::builder::{Duplicates, Row};
use crate::timeline::symbols::Symbols;
use crate::timeline::{GcPoint, TimePoint, TimelineBuilder};
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result, Warning};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is put right, and told once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Note {
    Raised,
    OneCount,
    Duplicate,
    NoTimestamp,
    OutOfOrder,
    SameKey,
    UnknownGroup,
    OneNumber,
    Contradiction,
    LooseMap,
}

impl Note {
    const ALL: [Note; 10] = [
        Note::Raised,
        Note::OneCount,
        Note::Duplicate,
        Note::NoTimestamp,
        Note::OutOfOrder,
        Note::SameKey,
        Note::UnknownGroup,
        Note::OneNumber,
        Note::Contradiction,
        Note::LooseMap,
    ];

    /// What it is, and what it means.
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Note::Raised => (
                "nodes that count less than their children together",
                "They were raised to what the children have. If groups overlap, write \"overlaps\": true in the time",
            ),
            Note::OneCount => (
                "nodes with objects or bytes, but not both",
                "What is missing counts 0. Write both, and the city can show both",
            ),
            Note::Duplicate => (
                "nodes with the name and role (or the key) of a sibling",
                "They were added up. Give siblings different names, or each a \"key\", to keep them apart",
            ),
            Note::NoTimestamp => (
                "times without a timestamp, though others have one",
                "Each stays behind the time before it. Give all of them a \"timestamp\", or none",
            ),
            Note::OutOfOrder => (
                "times that are earlier than the time before them",
                "All times were sorted by timestamp. Write them in order, or check the clock",
            ),
            Note::SameKey => (
                "keys that belong to several groups",
                "References that name such a key are those of the first group. Give each group a key of its own",
            ),
            Note::UnknownGroup => (
                "names in reference maps that no group has",
                "These entries were left out. Use the \"key\" of a node, or its path of names: Heap#java.util#HashMap",
            ),
            Note::OneNumber => (
                "pairs of groups with the number of objects at one end only",
                "The other end is taken to have as many, or all there are. Give \"referencing\" and \"referenced\"",
            ),
            Note::Contradiction => (
                "pairs of groups that are given several times with different numbers",
                "The largest of them counts. Let \"pointed-from\" and \"points-to\" agree",
            ),
            Note::LooseMap => (
                "files with reference maps that belong to no file with one time",
                "They were left out. Name them like the file with the tree",
            ),
        }
    }
}

/// A time that has been read.
#[derive(Clone, Default, Debug)]
pub(super) struct Time {
    pub label: Option<String>,
    pub millis: Option<u64>,
    pub gc: Option<GcPoint>,
    pub unreachable: Amount,
    /// Number of the file.
    pub file: usize,
    /// Number within the file.
    pub position: usize,
    /// Where it stands in its document; empty when it is all of it.
    pub place: String,
    pub maps: Arc<RawMaps>,
}

impl Time {
    /// More references of the same time.
    pub fn add_maps(&mut self, maps: RawMaps) {
        let known = Arc::make_mut(&mut self.maps);
        known.given |= maps.given;
        known.pairs.extend(maps.pairs);
        known.roots.extend(maps.roots);
    }
}

/// How much was noted at some moment.
pub(super) struct Mark {
    groups: usize,
    unknown: Unknown,
    notes: [Option<(u64, String)>; Note::ALL.len()],
    noted_in: [usize; Note::ALL.len()],
}

/// The nodes of a tree that was read.
fn rows<'a>(tree: &'a Columns<'_>) -> impl ExactSizeIterator<Item = Row<'a>> {
    (0..tree.len()).map(|n| Row {
        parent: tree.parent[n] as usize,
        role: tree.role(n).unwrap_or(if n == 0 { "Heap" } else { "Group" }),
        name: &tree.name[n],
        key: tree.key.get(n).and_then(|k| k.as_deref()),
        amount: Amount { objects: tree.objects[n], bytes: tree.bytes[n] },
    })
}

/// What all files share.
#[derive(Default)]
pub(super) struct Totals {
    pub builder: TimelineBuilder,
    /// The keys of reference maps, over all times.
    pub groups: Symbols,
    pub unknown: Unknown,
    pub times: Vec<Time>,
    pub files: Vec<PathBuf>,
    /// Count, and where first.
    notes: [Option<(u64, String)>; Note::ALL.len()],
    noted_in: [usize; Note::ALL.len()],
    /// Pairs of groups and roots in the reference maps of all times.
    map_pairs: u64,
    /// Bytes of labels and causes of all times.
    time_text: u64,
    /// What files may take, bytes.
    pub memory: u64,
    /// Whether times come live: in order, each taken as a whole or not at all.
    pub live: bool,
}

impl Totals {
    /// Whether a time may be added: nothing is changed yet.
    pub fn check(
        &self,
        time: &Time,
        tree: &Columns<'_>,
        nested_roles: &[Cow<'_, str>],
        maps: &RawMaps,
        credit: &mut Credit<'_>,
    ) -> Result<()> {
        if !self.live {
            return self.check_memory(tree.len() as u64);
        }
        if let Some(last) = self.times.last().and_then(|t| t.millis)
            && let Some(now) = time.millis.filter(|&now| now < last)
        {
            return Err(Error::Unusable {
                what: format!("The timestamp {now} is before that of the last time, {last}"),
                remedy: "Append times in order, or send the whole list with \"replace\"".into(),
            });
        }
        if self.builder.changes() + 2 * tree.len() as u64 + self.builder.nodes() as u64 > u64::from(u32::MAX) {
            return Err(no_room());
        }
        let beside = Amounts {
            times: 1,
            time_text: self.text_of(time),
            pairs: maps.len(),
            // Roles that nest are few, and kept like texts of nodes; keys were paid for when they were read.
            texts: nested_roles.len() as u64,
            text_bytes: nested_roles.iter().map(|role| role.len() as u64).sum(),
            ..Amounts::default()
        };
        // Mostly all nodes are known already, which takes a while to find out: only where it matters.
        let most = beside.cost(&LIVE) + Amounts::most_of(tree).cost(&LIVE);
        if credit.take(most) || credit.take(beside.cost(&LIVE) + self.builder.growth(rows(tree)).cost(&LIVE)) {
            Ok(())
        } else {
            Err(no_room())
        }
    }

    /// Adds a time of the current file.
    pub fn add_time(&mut self, mut time: Time, tree: &Columns<'_>) -> Duplicates {
        time.file = self.files.len() - 1;
        let last = self.times.last().filter(|t| t.file == time.file);
        time.position = last.map_or(0, |t| t.position + 1);
        // What is said of the time follows when all are known.
        let duplicates = self.builder.add_rows(TimePoint::default(), rows(tree));
        self.map_pairs += time.maps.len();
        self.time_text += self.text_of(&time);
        self.times.push(time);
        duplicates
    }

    /// More references of a time that is there.
    pub fn add_maps(&mut self, time: usize, maps: RawMaps) {
        self.map_pairs += maps.len();
        self.times[time].add_maps(maps);
    }

    /// Bytes of what people read of a time. One without a label is called like its file.
    fn text_of(&self, time: &Time) -> u64 {
        let file = || self.files.last().map_or(0, |file| file.as_os_str().len() + 24);
        let label = time.label.as_ref().map_or_else(file, String::len);
        (label + time.gc.as_ref().map_or(0, |gc| gc.cause.len()) + time.place.len()) as u64
    }

    /// About what all of it takes, with the copies and timelines that are made of it when it comes live.
    pub fn bytes(&self) -> u64 {
        self.cost(if self.live { &LIVE } else { &OF_FILES })
    }

    fn cost(&self, costs: &Costs) -> u64 {
        let beside = Amounts {
            times: self.times.len() as u64,
            time_text: self.time_text,
            pairs: self.map_pairs,
            keys: self.groups.len() as u64,
            key_bytes: self.groups.bytes(),
            ..Amounts::default()
        };
        self.builder.amounts().cost(costs) + beside.cost(costs)
    }

    /// Whether files exceed what they may take by now.
    pub fn check_limit(&self) -> Result<()> {
        if self.live { Ok(()) } else { self.check_memory(0) }
    }

    /// Whether so many nodes more can be taken from files.
    fn check_memory(&self, more: u64) -> Result<()> {
        let (nodes, times) = (self.builder.nodes() as u64, self.times.len() as u64);
        let bytes = self.bytes() + 48 * more;
        if bytes > self.memory || self.builder.changes() >= u64::from(u32::MAX) {
            return Err(Error::Unusable {
                what: format!(
                    "{times} times with {nodes} different nodes in all need {} MB, and {} MB are free",
                    bytes >> 20,
                    self.memory >> 20
                ),
                remedy: "Open fewer times, or give nodes the same names at all times: they are matched by name".into(),
            });
        }
        Ok(())
    }

    /// All of the state as text, for tests that compare states completely.
    #[cfg(test)]
    pub fn shown(&self) -> String {
        let Totals { builder, groups, unknown, times, files, notes, noted_in, map_pairs, time_text, memory, live } =
            self;
        let small = (groups, unknown, files, notes, noted_in, map_pairs, time_text, memory, live);
        format!("{} {small:?} {times:?}", builder.shown())
    }

    /// What can be taken back as long as no time was added.
    pub fn mark(&self) -> Mark {
        Mark {
            groups: self.groups.len(),
            unknown: self.unknown.clone(),
            notes: self.notes.clone(),
            noted_in: self.noted_in,
        }
    }

    /// Takes back what was noted since then.
    pub fn back_to(&mut self, mark: Mark) {
        self.groups.truncate(mark.groups);
        (self.unknown, self.notes, self.noted_in) = (mark.unknown, mark.notes, mark.noted_in);
    }

    /// For times that come live from a source of that name.
    pub fn live(name: PathBuf) -> Totals {
        Totals { live: true, files: vec![name], ..Totals::default() }
    }

    /// A copy to be finished while more comes.
    pub fn copy(&self) -> Totals {
        Totals {
            builder: self.builder.copy(),
            groups: self.groups.clone(),
            unknown: self.unknown.clone(),
            times: self.times.clone(),
            files: self.files.clone(),
            notes: self.notes.clone(),
            ..*self
        }
    }

    /// Whether nothing of the kind was noted yet.
    pub fn is_new(&self, note: Note) -> bool {
        self.notes[note as usize].is_none()
    }

    /// Counts; `place` is where, for the first.
    pub fn note(&mut self, note: Note, count: u64, place: Option<String>) {
        let entry = &mut self.notes[note as usize];
        match entry {
            Some((total, _)) => *total += count,
            None => {
                *entry = Some((count, place.unwrap_or_default()));
                self.noted_in[note as usize] = self.files.len().saturating_sub(1);
            }
        }
    }

    /// The same for what shows only later, in a file that is known.
    pub fn note_in(&mut self, file: usize, note: Note, place: impl FnOnce() -> String) {
        let place = self.is_new(note).then(place);
        if place.is_some() {
            self.note(note, 1, place);
            self.noted_in[note as usize] = file;
        } else {
            self.note(note, 1, None);
        }
    }

    /// All that was counted, as warnings.
    pub fn warnings(&self) -> Vec<Warning> {
        let path = |file: usize| self.files.get(file).cloned().unwrap_or_default();
        let mut warnings = Vec::new();
        for note in Note::ALL {
            if let Some((count, place)) = &self.notes[note as usize] {
                let first = match (place.is_empty(), count) {
                    (true, _) => String::new(),
                    (false, 1) => format!(", {place}"),
                    (false, _) => format!(", first {place}"),
                };
                let (what, meaning) = note.text();
                let message = format!("{what}: {count}{first}. {meaning}");
                warnings.push(Warning { path: path(self.noted_in[note as usize]), offset: None, message });
            }
        }
        warnings.extend(self.unknown.message().map(|message| Warning { path: path(0), offset: None, message }));
        warnings
    }
}

/// The byte of a line and column as the parser counts them, both from 1.
pub(super) fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let start = match line {
        0 | 1 => 0,
        _ => memchr::memchr_iter(b'\n', bytes).nth(line - 2).map_or(bytes.len(), |at| at + 1),
    };
    (start + column.saturating_sub(1)).min(bytes.len())
}

/// What the parser says, in terms of the file. `base` is where its bytes begin, `lines` how many lines are before.
pub(super) fn diagnose(
    error: &serde_json::Error,
    context: &mut Context<'_, '_>,
    path: &Path,
    bytes: &[u8],
    (base, lines): (usize, usize),
) -> Error {
    if let Some(stop) = context.stop.take() {
        return stop;
    }
    let at = offset(&bytes[base..], error.line(), error.column()) + base;
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&text);
    let inside = context.path.text(|symbol| context.totals.groups.text(symbol));
    let place = context.place.take().unwrap_or(inside);
    let place = if place.is_empty() { "the document itself".to_owned() } else { place };
    let line = lines + error.line();
    let (found, expected, remedy) = match text.rsplit_once(", expected ") {
        Some((found, expected)) if error.is_data() => {
            let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
            // The words of JSON instead of those of the parser.
            let found = match found {
                "map" => "an object".to_owned(),
                "sequence" => "a list".to_owned(),
                other => shortened(other, 120),
            };
            let remedy = context.remedy.map_or_else(|| remedy(context.path.innermost()), str::to_owned);
            (found, expected.to_owned(), remedy)
        }
        _ if error.is_eof() => (
            "the end of the file".to_owned(),
            "the rest of the JSON".to_owned(),
            "The file is incomplete: write or copy it again".to_owned(),
        ),
        _ => {
            let shown = &bytes[at..bytes.len().min(at + 16)];
            (
                format!("{:?}", String::from_utf8_lossy(shown)),
                format!("JSON ({})", shortened(text, 120)),
                "Check what writes the file; a JSON library gets commas, quotes and escapes right".to_owned(),
            )
        }
    };
    Error::Format {
        path: path.to_owned(),
        offset: Some(at as u64),
        found: format!("{found} in {place} (line {line})"),
        expected,
        remedy,
    }
}

/// What to do about a field that stands twice.
pub(super) const ONCE: &str = "A field stands once in an object; which of the two is meant, only the writer knows";

/// What to do about a document that does not say what it is.
pub(super) const HEAD: &str = "Begin the document with {\"format\": \"memory-city\", \"version\": 1, ...}";

/// What to do about a field.
fn remedy(field: &str) -> String {
    match field {
        "objects" | "bytes" | "referencing" | "referenced" | "references" => {
            "Write counts as whole numbers without sign, and leave out what is not known".into()
        }
        "timestamp" => "Write milliseconds since 1970 as a number, or a text with a time zone (RFC 3339)".into(),
        "version" => "Update Memory City, or have the file written in the version it reads".into(),
        "format" => HEAD.into(),
        "pointed-from" | "points-to" | "roots" => {
            "Write reference maps as {\"key of a group\": {\"key of another\": 5}}".into()
        }
        _ => "docs/memory-tree-json.md describes the format and has an example".into(),
    }
}
