//! Warnings about a recording: damaged, cut, lost and unknown parts. Counted, never silent.

use memory_city_heap::error::Warning;
use memory_city_heap::texts::several;
use memory_city_wire::{ChunkKind, LossReason, LossRow, SettingRow, WalkEndRow, WireError};
use std::collections::BTreeMap;
use std::path::Path;

/// Faults found while a recording was read.
#[derive(Default)]
pub(super) struct Trouble {
    pub(super) warnings: Vec<Warning>,
    /// Chunks that are of no known kind or version.
    pub(super) unknown_chunks: u64,
    /// Columns of later versions.
    pub(super) unknown_columns: u64,
    /// Chunks of walks whose start is missing.
    pub(super) stray_chunks: u64,
    /// Class histograms of which rows are missing.
    pub(super) incomplete_histograms: u64,
    /// Class histograms of streams beside the one that has most of them.
    pub(super) other_histograms: u64,
    /// Warnings that were counted, not kept.
    more: u64,
}

/// The warning about a recording without an end that may go on, and about its last file.
const NO_END: &str =
    "the recording has no end: the program was killed or ran out of memory, the disk was full, or it is still running.";
const BEING_WRITTEN: &str = "it was cut, or is still being written";

/// Whether a warning says only that a recording has no end, which is so as long as it goes on.
pub fn is_of_its_end(warning: &Warning) -> bool {
    warning.message.starts_with(NO_END) || warning.message.contains(BEING_WRITTEN)
}

/// A setting that begins so says why something was left out once.
const NO_ROOM: &str = "no room";
/// Warnings of one kind beyond these are counted, not listed.
const MOST: usize = 20;

impl Trouble {
    fn add(&mut self, path: &Path, offset: Option<u64>, message: String) {
        if self.warnings.len() >= MOST {
            self.more += 1;
            return;
        }
        self.warnings.push(Warning { path: path.to_owned(), offset, message });
    }

    /// A file of which nothing could be read.
    pub(super) fn file(&mut self, path: &Path, error: &WireError) {
        let (offset, why) = match error {
            WireError::Format { offset, found, expected, .. } => {
                (Some(*offset), format!("found {found}, expected {expected}"))
            }
            other => (None, other.to_string()),
        };
        self.add(path, offset, format!("this file was left out: {why}"));
    }

    pub(super) fn chunk(&mut self, path: &Path, error: &WireError) {
        let (offset, message) = match error {
            WireError::Format { offset, found, .. } => (Some(*offset), format!("a chunk was left out: it has {found}")),
            other => (None, format!("a chunk was left out: {other}")),
        };
        self.add(path, offset, message);
    }

    pub(super) fn damage(&mut self, path: &Path, offset: u64, length: u64) {
        let message = format!("{length} bytes are damaged, or were never written; what is around them is shown");
        self.add(path, Some(offset), message);
    }

    pub(super) fn cut(&mut self, path: &Path, offset: u64, length: u64, is_last: bool) {
        let why = if is_last { BEING_WRITTEN } else { "it was cut" };
        let message = format!("the file ends {length} bytes into a chunk: {why}; all that comes before is shown");
        self.add(path, Some(offset), message);
    }

    /// Notes the missing parts of a stream as a whole. `counted` means that the losses at its end are counted elsewhere.
    pub(super) fn stream(&mut self, path: &Path, missing: u64, ended: bool, counted: bool) {
        if missing > 0 {
            self.add(path, None, format!("{missing} chunks are missing between those that are there"));
        }
        if !ended {
            let message = match counted {
                true => {
                    "the recording has no end: the program was killed, or ran out of memory. All that was written is shown, and what was not is counted"
                        .to_owned()
                }
                false => format!("{NO_END} All that was written is shown; what came after is not counted"),
            };
            self.add(path, None, message);
        }
    }

    /// Notes requests that the recorder could not follow, from some time on or now and then.
    pub(super) fn settings(&mut self, path: &Path, settings: &[SettingRow]) {
        // Of walks and histograms that found no room each time is noted: together they are one warning, with the last reason.
        let mut no_room: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
        for row in settings {
            let seconds = row.time / 1_000_000_000;
            match row.key.as_str() {
                key @ "walks" if row.value.starts_with(NO_ROOM) => {
                    let (count, last) = no_room.entry(key).or_default();
                    (*count, *last) = (*count + 1, row.value.as_str());
                }
                "walks" | "histograms" => {
                    let what = if row.value.starts_with(NO_ROOM) { "class histograms: " } else { "" };
                    self.add(path, None, format!("{what}{} ({seconds} s after the beginning)", row.value));
                }
                "vm" => self.add(path, None, row.value.clone()),
                "identity" => {
                    let why = row.value.trim_start_matches("samples: ");
                    let message = format!(
                        "from {seconds} s on only samples are followed from walk to walk, not all objects: {why}"
                    );
                    self.add(path, None, message);
                }
                _ => {}
            }
        }
        for (key, (count, last)) in no_room {
            self.add(path, None, format!("{count} {key} were left out; the last: {last}"));
        }
    }

    /// Notes samples that were alive at a walk, but whose objects were not found in it.
    pub(super) fn unlinked<'a>(&mut self, path: &Path, ends: impl Iterator<Item = &'a WalkEndRow>) {
        let (mut walks, mut samples, mut classes) = (0u64, 0u64, 0u64);
        let (mut late, mut late_in) = (0u64, 0u64);
        let mut hint = "";
        for end in ends {
            if let Some(count) = end.late.filter(|count| *count > 0) {
                (late, late_in) = (late.saturating_add(count), late_in + 1);
            }
            if end.unlinked == 0 {
                continue;
            }
            let of_classes = end.unlinked_classes.unwrap_or(0).min(end.unlinked);
            if end.unlinked_classes.is_none() {
                hint = ". It may stand for a class that is not in use yet";
            }
            classes = classes.saturating_add(of_classes);
            if end.unlinked > of_classes {
                (walks, samples) = (walks + 1, samples.saturating_add(end.unlinked - of_classes));
            }
        }
        if samples > 0 {
            let message = format!(
                "{} the object of a sample that was alive was not found in a walk (in {}): it has no allocation site there{hint}",
                several(samples, "time", "times"),
                several(walks, "walk", "walks")
            );
            self.add(path, None, message);
        }
        if late > 0 {
            let message = format!(
                "{} a sample was taken between the moment when a walk was asked for and the one in which the program stood \
                 still (in {}): its object has no allocation site there",
                several(late, "time", "times"),
                several(late_in, "walk", "walks")
            );
            self.add(path, None, message);
        }
        if classes > 0 {
            let message = format!(
                "{} a sample was the object that stands for a class which is not in use yet: walks have none of those",
                several(classes, "time", "times")
            );
            self.add(path, None, message);
        }
    }

    /// All warnings, with the losses that the recorder itself counted.
    pub(super) fn finish(mut self, path: &Path, losses: &[LossRow]) -> Vec<Warning> {
        let mut sums: BTreeMap<(u32, LossReason), u64> = BTreeMap::new();
        for loss in losses {
            let sum = sums.entry((loss.what, loss.reason)).or_default();
            *sum = sum.saturating_add(loss.count);
        }
        let kind = |what: u32| u16::try_from(what).ok().and_then(|what| ChunkKind(what).name()).unwrap_or("records");
        for ((what, reason), count) in sums.into_iter().filter(|(_, count)| *count > 0) {
            // A walk is there when its end is.
            let lost = match u16::try_from(what).map(ChunkKind) {
                Ok(ChunkKind::WALK_END) => several(count, "walk", "walks"),
                _ => format!("{count} {}", if count == 1 { one_of(kind(what)) } else { kind(what) }),
            };
            self.add(path, None, format!("not recorded: {lost} ({})", reason.title()));
        }
        for (count, what) in [
            (self.unknown_chunks, "chunks are of kinds that this version does not know"),
            (self.unknown_columns, "columns are of a later version"),
            (self.stray_chunks, "chunks belong to walks that are not there"),
            (self.incomplete_histograms, "class histograms are not complete, and left out"),
            (self.other_histograms, "class histograms are of another stream than most of them, and left out"),
            (self.more, "more problems of these kinds"),
        ] {
            if count > 0 {
                self.warnings.push(Warning { path: path.to_owned(), offset: None, message: format!("{count} {what}") });
            }
        }
        self.warnings
    }
}

/// The singular of a kind of rows: `class` of *classes*, `sample` of *samples*.
fn one_of(kind: &str) -> &str {
    let short = kind.strip_suffix("es").filter(|one| one.ends_with('s'));
    short.or_else(|| kind.strip_suffix('s')).unwrap_or(kind)
}
