//! The status of a recording: one small file that the recorder writes in place and the recording process reads.

use super::STATUS;
use memory_city_wire::HeldFolder;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// How it goes, in one small file that is written in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStatus {
    /// The program's process.
    pub pid: u32,
    /// Samples taken.
    pub samples: u64,
    /// Samples that are followed now.
    pub live: u64,
    /// Followed samples whose objects are gone.
    pub deaths: u64,
    /// Samples that are not followed, for want of room.
    pub thinned: u64,
    /// Samples that were lost.
    pub lost: u64,
    /// Objects that keep a number from walk to walk.
    pub numbered: u64,
    /// Garbage collections.
    pub collections: u64,
    /// Those of them that are one pause of a collector that works beside the program.
    pub gc_pauses: u64,
    /// Walks.
    pub walks: u64,
    /// Walks that were left out because the disk was too full.
    pub no_room: u64,
    /// Walks at the end that were left out for lack of time.
    pub no_time: u64,
    /// The first walk comes no earlier than this many microseconds after the beginning, as it might stop the program for long. 0 if it need
    /// not wait, or is done.
    pub first_walk: u64,
    /// For how long, microseconds.
    pub first_takes: u64,
    /// Class histograms.
    pub histograms: u64,
    /// Class histograms that were left out because the program's heap was too full.
    pub uncounted: u64,
    /// How long the program stood still for walks and histograms, microseconds.
    pub pauses: u64,
    /// For the last walk.
    pub last_pause: u64,
    /// Time that samples took in the program's threads, microseconds.
    pub sampling: u64,
    /// Time of a core that the recorder's own thread took, microseconds.
    pub own: u64,
    /// Since the recording began, microseconds.
    pub elapsed: u64,
    /// Bytes between samples.
    pub interval: u64,
    /// Bytes written.
    pub size: u64,
    /// The events that the VM sends, as bits by number: bit 0 for event 50. None when a recording has ended.
    pub events_on: u64,
    /// How often the VM has called us, in all recordings of the process.
    pub events_told: u64,
    /// How often before this recording.
    pub events_before: u64,
    /// 1 if the VM has the fault of [`crate::CLONES_AT_RISK`].
    pub clones_at_risk: u64,
    /// Empty while it records; then why it ended.
    pub ended: String,
}

/// The file is this long: written with one call, so that a reader sees one state.
const STATUS_BYTES: usize = 2048;

/// Writes and reads each field by its name.
macro_rules! status_fields {
    ($($field:ident),+) => {
        impl AgentStatus {
            fn text(&self) -> String {
                let mut text = String::new();
                $(text.push_str(&format!("{} {}\n", stringify!($field), self.$field));)+
                let ended: String = self.ended.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
                text.push_str(&format!("ended {ended}\n"));
                text
            }

            fn parse(text: &str) -> AgentStatus {
                let mut status = AgentStatus::default();
                for (name, value) in text.lines().filter_map(|l| l.split_once(' ')) {
                    match name {
                        $(stringify!($field) => status.$field = value.parse().unwrap_or_default(),)+
                        "ended" => status.ended = value.to_owned(),
                        _ => {}
                    }
                }
                status
            }
        }
    };
}

status_fields!(
    pid,
    samples,
    live,
    deaths,
    thinned,
    lost,
    numbered,
    collections,
    gc_pauses,
    walks,
    no_room,
    no_time,
    first_walk,
    first_takes,
    histograms,
    uncounted,
    pauses,
    last_pause,
    sampling,
    own,
    elapsed,
    interval,
    size,
    events_on,
    events_told,
    events_before,
    clones_at_risk
);

impl AgentStatus {
    /// Writes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        let mut bytes = self.text().into_bytes();
        bytes.resize(STATUS_BYTES, b'\n');
        let held = HeldFolder::open(folder)?;
        let file = match held.create(STATUS) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => held.file_to_write(STATUS)?,
            made => made?,
        };
        file.write_all_at(&bytes, 0)
    }

    /// Makes the file with the room that it needs on the disk, before there is a recorder: one that finds the disk full can say so there.
    ///
    /// # Errors
    /// When there is no room.
    pub fn reserve(folder: &Path) -> io::Result<File> {
        let mut file = HeldFolder::open(folder)?.create(STATUS)?;
        file.write_all(&[b'\n'; STATUS_BYTES]).map(|()| file)
    }

    /// Reads it; `None` before the recorder has begun.
    pub fn read(folder: &Path) -> Option<AgentStatus> {
        let bytes = HeldFolder::open(folder).and_then(|held| held.read(STATUS, STATUS_BYTES as u64)).ok()?;
        Some(AgentStatus::parse(&String::from_utf8_lossy(&bytes))).filter(|status| status.pid > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_comes_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let status = AgentStatus {
            pid: 7,
            samples: 12,
            collections: 5,
            gc_pauses: 4,
            size: 99,
            ended: "the disk\nis full".into(),
            ..Default::default()
        };
        AgentStatus::reserve(folder.path()).expect("room");
        assert_eq!(AgentStatus::read(folder.path()), None, "nobody has said anything");
        status.write(folder.path()).expect("written");
        let expected = AgentStatus { ended: "the disk is full".into(), ..status };
        assert_eq!(AgentStatus::read(folder.path()), Some(expected));
    }
}
