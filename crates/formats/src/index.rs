//! The index of a trace: its recording, and checkpoints to go on from, in a file in the user's cache.
//!
//! The file holds checkpoints, then the body, then where the body is; each part is a zstd frame with a checksum.
//! Checkpoints are written while the trace is read, spread so that all of them together stay within a budget. A body of
//! another version, or of a trace that has changed since, is ignored and written anew.
//!
//! Until it is complete a file has a temporary name, and a lock. A temporary file without a lock was left behind by a program that ended
//! early; the next program that writes an index removes it.

mod cache;
mod counted;

pub(crate) use cache::cache_folder;

use super::budget::{memory_limit, memory_text};
use super::event::ObjectInfo;
use super::recording::ChangeLog;
use super::replay::{Collection, Inconsistencies};
use counted::CountedReader;
use memory_city_heap::error::Warning;
use memory_city_heap::input::read_within;
use memory_city_heap::unfinished::Unfinished;
use rustc_hash::FxHasher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fs::File;
use std::hash::Hasher;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Changes with the written data, and with its meaning.
const VERSION: u32 = 2;
const MAGIC: &[u8; 8] = b"MCINDEX\n";

/// The checkpoints of a trace take no more than this.
const MOST_CHECKPOINTS: u64 = 1 << 30;
/// The largest part of the trace that an index may take, beyond a first few megabytes.
const SHARE: u64 = 2;

/// Identity of a trace: its files, with sizes and times of change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp(Vec<(PathBuf, u64, u128)>);

impl Stamp {
    /// The stamp of some files.
    pub(crate) fn of<'a>(files: impl Iterator<Item = &'a Path>) -> Option<Stamp> {
        let stamp = |path: &Path| {
            let meta = path.metadata().ok()?;
            let changed = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some((path.canonicalize().ok()?, meta.len(), changed.as_nanos()))
        };
        files.map(stamp).collect::<Option<Vec<_>>>().map(Stamp)
    }

    /// A file name for it.
    fn file_name(&self) -> String {
        let mut hasher = FxHasher::default();
        for (path, ..) in &self.0 {
            hasher.write(path.as_os_str().as_encoded_bytes());
            hasher.write_u8(0);
        }
        format!("{:016x}.index", hasher.finish())
    }
}

/// The facts about a trace that has been read.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Body {
    version: u32,
    stamp: Stamp,
    /// Names of threads.
    pub(crate) threads: Vec<String>,
    /// Creation data.
    pub(crate) infos: Vec<ObjectInfo>,
    /// Finished collections.
    pub(crate) collections: Vec<Collection>,
    /// Changes by moment.
    pub(crate) log: ChangeLog,
    /// Inconsistencies found in the trace.
    pub(crate) inconsistencies: Inconsistencies,
    /// Warnings about the trace.
    pub(crate) warnings: Vec<Warning>,
    checkpoints: Vec<Checkpoint>,
}

/// A place in a trace to go on from: the end of a GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// The GC that has just ended.
    pub(crate) gc: u32,
    offset: u64,
    bytes: u64,
}

/// An index, being written or read.
pub(crate) struct TraceIndex {
    store: Store,
    /// Checkpoints, by GC.
    pub(crate) checkpoints: Vec<Checkpoint>,
    written: u64,
    /// Why it is not kept, or not all of it.
    pub(crate) problem: Option<Warning>,
}

enum Store {
    /// In the cache.
    File {
        file: File,
        /// Its place.
        path: PathBuf,
        /// Where it is until it is complete; removed when it never is.
        temporary: Option<Unfinished>,
    },
    /// There is no place to write to: checkpoints stay in memory, fewer of them.
    Memory(Vec<u8>),
}

/// Checkpoints that only memory holds may take so much.
const MOST_IN_MEMORY: u64 = 128 << 20;

impl TraceIndex {
    /// Starts an index in a cache folder.
    pub(crate) fn begin(cache: Option<&Path>, stamp: Option<&Stamp>) -> TraceIndex {
        let store = Store::Memory(Vec::new());
        let mut index = TraceIndex { store, checkpoints: Vec::new(), written: 0, problem: None };
        if let Some((cache, stamp)) = cache.zip(stamp) {
            let path = cache.join(stamp.file_name());
            match cache::create(cache) {
                Ok((file, temporary)) => index.store = Store::File { file, path, temporary: Some(temporary) },
                Err(error) => index.fails(&path, "no index of this trace can be kept", &error),
            }
        }
        index
    }

    /// Notes that the trace will have to be read again, and why.
    fn fails(&mut self, path: &Path, what: &str, error: &std::io::Error) {
        if error.kind() == std::io::ErrorKind::Interrupted {
            // The program ends: nobody asked for it to be kept.
            return;
        }
        let message = format!(
            "{what} ({error}): opening the trace again takes as long as now. Make room, or name a folder that can be written to in MEMORY_CITY_CACHE"
        );
        tracing::warn!("{}: {message}", path.display());
        self.problem.get_or_insert(Warning { path: path.to_owned(), offset: None, message });
    }

    /// Opens the index of a trace, if there is one that fits.
    pub(crate) fn open(cache: Option<&Path>, stamp: Option<&Stamp>) -> Option<(TraceIndex, Body)> {
        let (cache, stamp) = cache.zip(stamp)?;
        let path = cache.join(stamp.file_name());
        let mut file = cache::open_kept(&path)?;
        let length = file.metadata().ok()?.len();
        let mut head = [0; 8];
        file.read_exact(&mut head).ok()?;
        let mut tail = [0; 16];
        file.seek(SeekFrom::Start(length.checked_sub(16)?)).ok()?;
        file.read_exact(&mut tail).ok()?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| tail[at + i]));
        let (offset, bytes) = (number(0), number(8));
        if &head != MAGIC || offset.checked_add(bytes)? > length {
            return None;
        }
        let body: Body = unpack(&path, &read_at(&mut file, offset, bytes)?, memory_limit())?;
        let fits = body.version == VERSION
            && body.stamp == *stamp
            && !body.threads.is_empty()
            && body.infos.iter().all(|i| (i.thread.0 as usize) < body.threads.len())
            && body.log.is_sound(body.infos.len())
            && body.checkpoints.iter().all(|c| c.offset.checked_add(c.bytes).is_some_and(|end| end <= offset));
        if !fits {
            return None;
        }
        cache::is_used(&file, &path);
        let store = Store::File { file, path, temporary: None };
        let index = TraceIndex { store, checkpoints: body.checkpoints.clone(), written: offset, problem: None };
        Some((index, body))
    }

    /// How many bytes of the trace should lie between two checkpoints, if those to come are as large as `bytes`, with
    /// `rest` bytes of the trace to go. `None` when there is no room for another.
    pub(crate) fn distance(&self, trace: u64, rest: u64, bytes: u64) -> Option<u64> {
        let most = match self.store {
            Store::File { .. } => (trace / SHARE + (16 << 20)).min(MOST_CHECKPOINTS),
            Store::Memory(_) => MOST_IN_MEMORY,
        };
        let room = most.saturating_sub(self.written) / bytes.max(1);
        (room > 0).then(|| rest / room)
    }

    /// Writes a checkpoint. Returns its bytes, 0 when it could not be written.
    pub(crate) fn add(&mut self, gc: u32, saved: &impl Serialize) -> u64 {
        let Some(packed) = pack(saved) else { return 0 };
        let written = match &mut self.store {
            Store::File { file, path, .. } => {
                let written = file.seek(SeekFrom::End(0)).and_then(|at| file.write_all(&packed).map(|()| at));
                written.map_err(|error| (path.clone(), error))
            }
            Store::Memory(bytes) => {
                bytes.extend_from_slice(&packed);
                Ok((bytes.len() - packed.len()) as u64)
            }
        };
        let offset = match written {
            Ok(offset) => offset,
            Err((path, error)) => {
                self.fails(&path, "not all of the index of this trace can be kept", &error);
                return 0;
            }
        };
        let bytes = packed.len() as u64;
        self.checkpoints.push(Checkpoint { gc, offset, bytes });
        self.written += bytes;
        bytes
    }

    /// The last checkpoint not after the end of a GC.
    pub(crate) fn before(&self, gc: u32) -> Option<Checkpoint> {
        self.checkpoints.iter().rev().find(|c| c.gc <= gc).copied()
    }

    /// Reads a checkpoint; `None` when it is damaged.
    pub(crate) fn read<T: DeserializeOwned>(&mut self, checkpoint: Checkpoint) -> Option<T> {
        match &mut self.store {
            Store::File { file, path, .. } => {
                unpack(path, &read_at(file, checkpoint.offset, checkpoint.bytes)?, memory_limit())
            }
            Store::Memory(bytes) => {
                let start = checkpoint.offset as usize;
                unpack(Path::new("memory"), bytes.get(start..start + checkpoint.bytes as usize)?, u64::MAX)
            }
        }
    }

    /// Completes the file, and makes room in the cache for it. If it cannot be written, the trace is read again next time.
    pub(crate) fn finish(&mut self, stamp: Option<&Stamp>, body: impl FnOnce() -> Body) {
        let (Store::File { file, path, temporary }, Some(stamp)) = (&mut self.store, stamp) else { return };
        let Some(temporary) = temporary.take() else { return };
        let mut body = body();
        body.version = VERSION;
        body.stamp = stamp.clone();
        body.checkpoints.clone_from(&self.checkpoints);
        let written = pack(&body).ok_or(std::io::ErrorKind::InvalidData.into()).and_then(|packed| {
            let offset = file.seek(SeekFrom::End(0))?;
            file.write_all(&packed)?;
            file.write_all(&offset.to_le_bytes())?;
            file.write_all(&(packed.len() as u64).to_le_bytes())?;
            file.flush()?;
            temporary.put_in_place(path)
        });
        match written {
            Ok(()) => cache::tidy(path, cache::MOST_IN_CACHE),
            Err(error) => {
                let path = path.clone();
                self.fails(&path, "the index of this trace cannot be kept", &error);
            }
        }
    }
}

impl Body {
    /// A body of a recording; version, stamp and checkpoints are filled in when it is written.
    pub(crate) fn new(
        recording: &super::recording::Recording,
        inconsistencies: Inconsistencies,
        warnings: Vec<Warning>,
    ) -> Body {
        Body {
            version: VERSION,
            stamp: Stamp(Vec::new()),
            threads: recording.threads.iter().map(|t| t.to_string()).collect(),
            infos: recording.infos.clone(),
            collections: recording.collections.clone(),
            log: recording.log.clone(),
            inconsistencies,
            warnings,
            checkpoints: Vec::new(),
        }
    }
}

/// Reads a file of the cache that holds one thing; `None` when there is none or it is damaged.
pub(crate) fn read_whole<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut file = cache::open_kept(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let found = unpack(path, bytes.strip_prefix(MAGIC)?, memory_limit())?;
    cache::is_used(&file, path);
    Some(found)
}

/// Writes such a file, and makes room in the cache for it.
pub(crate) fn write_whole(cache: &Path, path: &Path, value: &impl Serialize) -> std::io::Result<()> {
    let (mut file, place) = cache::create(cache)?;
    let packed = pack(value).ok_or(std::io::ErrorKind::InvalidData)?;
    file.write_all(&packed)?;
    file.flush()?;
    place.put_in_place(path)?;
    cache::tidy(path, cache::MOST_IN_CACHE);
    Ok(())
}

fn read_at(file: &mut File, offset: u64, bytes: u64) -> Option<Vec<u8>> {
    let mut packed = vec![0; usize::try_from(bytes).ok()?];
    file.seek(SeekFrom::Start(offset)).ok()?;
    file.read_exact(&mut packed).ok()?;
    Some(packed)
}

fn pack(value: &impl Serialize) -> Option<Vec<u8>> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).ok()?;
    encoder.include_checksum(true).ok()?;
    // Numbers are written one by one.
    let mut writer = BufWriter::with_capacity(1 << 16, encoder);
    postcard::to_io(value, &mut writer).ok()?;
    writer.into_inner().ok()?.finish().ok()
}

/// `None` where it is damaged, or takes more memory than `most` bytes, packed and read.
fn unpack<T: DeserializeOwned>(path: &Path, packed: &[u8], most: u64) -> Option<T> {
    let too_large = || {
        tracing::warn!(
            "{}: what is in it takes more than the {} that there are for it. It is computed again; remove the file if that comes again",
            path.display(),
            memory_text(most)
        );
    };
    // The checksum is checked when the frame ends: nothing is taken before.
    let bytes = match read_within(zstd::stream::read::Decoder::with_buffer(packed).ok()?, most / 2) {
        Ok(bytes) => bytes,
        Err(error) => {
            if error.kind() == std::io::ErrorKind::FileTooLarge {
                too_large();
            }
            return None;
        }
    };
    let left = Cell::new(most - bytes.len() as u64);
    let read = T::deserialize(CountedReader::new(&mut postcard::Deserializer::from_bytes(&bytes), &left));
    if read.is_err() && left.get() == 0 {
        too_large();
    }
    read.ok()
}

#[cfg(test)]
mod tests {
    use super::super::recording::Recording;
    use super::*;

    fn body(recording: &Recording) -> Body {
        Body::new(recording, Inconsistencies::default(), Vec::new())
    }

    #[test]
    fn what_cannot_be_kept_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("trace");
        std::fs::write(&trace, "a trace").expect("written");
        let stamp = Stamp::of([trace.as_path()].into_iter());
        // A file where the folder should be.
        let mut index = TraceIndex::begin(Some(&trace), stamp.as_ref());
        let problem = index.problem.clone().expect("a problem").to_string();
        assert!(problem.contains("no index of this trace can be kept") && problem.contains("MEMORY_CITY_CACHE"));
        assert!(index.add(0, &7u32) > 0, "checkpoints are kept in memory");
        // Without a cache nothing is amiss.
        assert!(TraceIndex::begin(None, stamp.as_ref()).problem.is_none());
        // A folder where the index should be.
        let cache = folder.path().join("cache");
        let name = stamp.as_ref().expect("a stamp").file_name();
        std::fs::create_dir_all(cache.join(name).join("not empty")).expect("made");
        let mut index = TraceIndex::begin(Some(&cache), stamp.as_ref());
        index.finish(stamp.as_ref(), || body(&Recording::default()));
        assert!(index.problem.is_some_and(|p| p.message.contains("cannot be kept")));
        assert_eq!(std::fs::read_dir(&cache).expect("the cache").count(), 1, "nothing is left behind");
    }

    #[test]
    fn an_index_of_another_version_is_no_index() {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("trace");
        std::fs::write(&trace, "a trace").expect("written");
        let stamp = Stamp::of([trace.as_path()].into_iter()).expect("a stamp");
        let cache = folder.path().join("cache");
        let mut recording = Recording::default();
        recording.threads.push("main".into());
        let mut index = TraceIndex::begin(Some(&cache), Some(&stamp));
        assert!(index.add(3, &vec![1u32, 2, 3]) > 0);
        index.finish(Some(&stamp), || body(&recording));
        let (mut index, found) = TraceIndex::open(Some(&cache), Some(&stamp)).expect("an index");
        assert_eq!(found.threads, ["main"]);
        let checkpoint = index.before(7).expect("a checkpoint");
        assert_eq!(index.read::<Vec<u32>>(checkpoint), Some(vec![1, 2, 3]));
        assert_eq!(index.before(2), None);

        // The same, written by another version.
        let path = cache.join(stamp.file_name());
        let packed = pack(&Body { version: VERSION + 1, stamp: stamp.clone(), ..body(&recording) }).expect("packed");
        let place = [8u64, packed.len() as u64].map(u64::to_le_bytes).concat();
        std::fs::write(&path, [&MAGIC[..], &packed, &place].concat()).expect("written");
        assert!(TraceIndex::open(Some(&cache), Some(&stamp)).is_none());
    }

    #[test]
    fn what_unpacks_to_more_than_there_is_memory_for_is_no_index() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.index");
        let unpacked = |packed: &[u8], most| unpack::<Vec<String>>(&path, packed, most).map(|texts| texts.len());
        // Empty texts: a byte each in the file, 24 in memory.
        let texts = pack(&vec![String::new(); 1 << 20]).expect("packed");
        assert!(texts.len() < 1000, "{}", texts.len());
        assert_eq!(unpacked(&texts, 30 << 20), Some(1 << 20));
        assert_eq!(unpacked(&texts, 20 << 20), None, "the texts take more");
        assert_eq!(unpacked(&texts, 1 << 20), None, "what is packed takes more");
        let long = pack(&vec!["x".repeat(8 << 20)]).expect("packed");
        assert_eq!((unpacked(&long, 20 << 20), unpacked(&long, 15 << 20)), (Some(1), None));
        std::fs::write(&path, [&MAGIC[..], &texts].concat()).expect("written");
        assert_eq!(read_whole::<Vec<String>>(&path).map(|texts| texts.len()), Some(1 << 20));
    }
}
