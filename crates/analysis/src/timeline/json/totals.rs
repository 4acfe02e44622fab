//! The data read so far from all files, or from a live source: times, keys of reference maps, and notes. The cost of a time is checked
//! before it is added; notes can be taken back.

use super::columns::NodeColumns;
use super::diagnostics::Note;
use super::fields::Unknown;
use super::format::MOST_PATHS;
use super::maps::RawMaps;
use super::memory::{Amounts, COLUMNS_OF_NODE, Costs, Credit, LIVE, OF_FILES, no_room};
use crate::timeline::builder::{Duplicates, NodeRow, TimelineBuilder};
use crate::timeline::point::TimePoint;
use crate::timeline::sampled_part::SampledPart;
use crate::timeline::symbols::NameTable;
use memory_city_formats::GcPoint;
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::memory::memory_text;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// A time that has been read.
#[derive(Clone, Default, Debug)]
pub(super) struct Time {
    pub label: Option<String>,
    pub millis: Option<u64>,
    pub gc: Option<GcPoint>,
    pub unreachable: Amount,
    pub sampled: Option<SampledPart>,
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
pub(super) struct TotalsMark {
    groups: usize,
    unknown: Unknown,
    notes: [Option<(u64, String)>; Note::ALL.len()],
    noted_in: [usize; Note::ALL.len()],
}

/// The nodes of a tree that was read.
fn rows<'a>(tree: &'a NodeColumns<'_>) -> impl ExactSizeIterator<Item = NodeRow<'a>> {
    (0..tree.len()).map(|n| NodeRow {
        parent: tree.parent[n] as usize,
        role: tree.role(n).unwrap_or(if n == 0 { "Heap" } else { "Group" }),
        name: &tree.name[n],
        key: tree.key.get(n).and_then(|k| k.as_deref()),
        amount: Amount { objects: tree.objects[n], bytes: tree.bytes[n] },
    })
}

/// The state shared by all files.
#[derive(Default)]
pub(super) struct Totals {
    pub builder: TimelineBuilder,
    /// The keys of reference maps, over all times.
    pub groups: NameTable,
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
    /// Memory limit for files, bytes.
    pub memory: u64,
    /// Bytes in memory of the file that is read.
    pub input: u64,
    /// True if times come live: in order, each taken as a whole or not at all.
    pub live: bool,
}

/// Whether the paths of some groups take no more than they may together.
///
/// # Errors
/// When they take more.
pub(super) fn check_paths(nodes: usize, bytes: u64) -> Result<()> {
    if bytes <= MOST_PATHS {
        return Ok(());
    }
    Err(Error::Unusable {
        what: format!(
            "The names of {nodes} groups, each with all names above it, take {}, more than the {} that there may be",
            memory_text(bytes),
            memory_text(MOST_PATHS)
        ),
        remedy: "Write fewer levels, or shorter names".into(),
    })
}

impl Totals {
    /// Whether a time may be added: nothing is changed yet.
    pub fn check(
        &self,
        time: &Time,
        tree: &NodeColumns<'_>,
        nested_roles: &[Cow<'_, str>],
        maps: &RawMaps,
        credit: &mut Credit<'_>,
    ) -> Result<()> {
        if self.live
            && let Some(last) = self.times.last().and_then(|t| t.millis)
            && let Some(now) = time.millis.filter(|&now| now < last)
        {
            return Err(Error::Unusable {
                what: format!("The timestamp {now} is before that of the last time, {last}"),
                remedy: "Append times in order, or send the whole list with \"replace\"".into(),
            });
        }
        if self.builder.changes() + 2 * tree.len() as u64 + self.builder.nodes() as u64 > u64::from(u32::MAX) {
            return Err(self.no_more());
        }
        check_paths(tree.len(), tree.path_bytes())?;
        let (costs, mut of_files);
        let credit = if self.live {
            costs = &LIVE;
            credit
        } else {
            costs = &OF_FILES;
            // Reading took more; by now that is this.
            let columns = COLUMNS_OF_NODE * tree.len() as u64;
            of_files = Credit::within(self.memory_left().saturating_sub(columns));
            &mut of_files
        };
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
        let most = beside.cost(costs) + Amounts::most_of(tree).cost(costs);
        if credit.take(most) || credit.take(beside.cost(costs) + self.builder.growth(rows(tree)).cost(costs)) {
            Ok(())
        } else {
            Err(self.no_more())
        }
    }

    /// Adds a time of the current file.
    pub fn add_time(&mut self, mut time: Time, tree: &NodeColumns<'_>) -> Duplicates {
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

    /// Bytes of the texts about a time. A time without a label has the name of its file.
    fn text_of(&self, time: &Time) -> u64 {
        let file = || self.files.last().map_or(0, |file| file.as_os_str().len() + 24);
        let label = time.label.as_ref().map_or_else(file, String::len);
        (label + time.gc.as_ref().map_or(0, |gc| gc.cause.len()) + time.place.len()) as u64
    }

    /// Typical bytes of all of it, with the copies and timelines of a live source.
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

    /// The bytes that files may still take.
    pub fn memory_left(&self) -> u64 {
        self.memory.saturating_sub(self.bytes().saturating_add(self.input))
    }

    /// The error when nothing more can be kept.
    pub fn no_more(&self) -> Error {
        if self.live { no_room() } else { self.full() }
    }

    /// Why no more is read of files.
    fn full(&self) -> Error {
        let (nodes, times) = (self.builder.nodes() as u64, self.times.len() as u64);
        Error::Unusable {
            what: format!(
                "{times} times with {nodes} different nodes in all, and what comes next, take more than the {} that there are for them",
                memory_text(self.memory)
            ),
            remedy: "Open fewer times, or give nodes the same names at all times: they are matched by name".into(),
        }
    }

    /// All of the state as text, for tests that compare states completely.
    #[cfg(test)]
    pub fn shown(&self) -> String {
        let Totals {
            builder,
            groups,
            unknown,
            times,
            files,
            notes,
            noted_in,
            map_pairs,
            time_text,
            memory,
            input,
            live,
        } = self;
        let small = (groups, unknown, files, notes, noted_in, map_pairs, time_text, memory, input, live);
        format!("{} {small:?} {times:?}", builder.shown())
    }

    /// A mark to return to, as long as no time was added.
    pub fn mark(&self) -> TotalsMark {
        TotalsMark {
            groups: self.groups.len(),
            unknown: self.unknown.clone(),
            notes: self.notes.clone(),
            noted_in: self.noted_in,
        }
    }

    /// Takes back the notes since then.
    pub fn back_to(&mut self, mark: TotalsMark) {
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

    /// The same for a note found later, about a known file.
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
