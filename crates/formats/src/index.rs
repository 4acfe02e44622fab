//! The index of a trace: its recording, and checkpoints to go on from, in a file in the user's cache.
//!
//! The file holds checkpoints, then the body, then where the body is; each part is a zstd frame with a checksum.
//! Checkpoints are written while the trace is read, spread so that all of them together stay within a budget. A body of
//! another version, or of a trace that has changed since, is ignored and written anew.

use super::event::ObjectInfo;
use super::recording::ChangeLog;
use super::replay::{Collection, Inconsistencies};
use memory_city_heap::error::Warning;
use rustc_hash::FxHasher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::hash::Hasher;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Changes with everything that is written here, and with what it means.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"MCINDEX\n";

/// All indexes together take no more than this; the oldest go first.
const MOST_IN_CACHE: u64 = 4 << 30;
/// The checkpoints of a trace take no more than this.
const MOST_CHECKPOINTS: u64 = 1 << 30;
/// Nor more than this part of the trace, beyond a first few megabytes.
const SHARE: u64 = 2;

/// By what a trace is known again: its files, with sizes and times of change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp(Vec<(PathBuf, u64, u128)>);

impl Stamp {
    /// The stamp of some files.
    pub fn of<'a>(files: impl Iterator<Item = &'a Path>) -> Option<Stamp> {
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

/// What is known of a trace once it has been read.
#[derive(Clone, Serialize, Deserialize)]
pub struct Body {
    version: u32,
    stamp: Stamp,
    /// Names of threads.
    pub threads: Vec<String>,
    /// Creation data.
    pub infos: Vec<ObjectInfo>,
    /// Finished collections.
    pub collections: Vec<Collection>,
    /// Changes by moment.
    pub log: ChangeLog,
    /// What did not fit together.
    pub inconsistencies: Inconsistencies,
    /// What a person must know.
    pub warnings: Vec<Warning>,
    checkpoints: Vec<Checkpoint>,
}

/// A place in a trace to go on from: the end of a GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The GC that has just ended.
    pub gc: u32,
    offset: u64,
    bytes: u64,
}

/// An index, being written or read.
pub struct Index {
    store: Store,
    /// Checkpoints, by GC.
    pub checkpoints: Vec<Checkpoint>,
    written: u64,
}

enum Store {
    /// In the cache.
    File {
        file: File,
        /// Its place.
        path: PathBuf,
        /// Where it is until it is complete.
        temporary: Option<PathBuf>,
    },
    /// There is no place to write to: checkpoints stay in memory, fewer of them.
    Memory(Vec<u8>),
}

/// Checkpoints that only memory holds may take so much.
const MOST_IN_MEMORY: u64 = 128 << 20;

impl Index {
    /// Starts an index in a cache folder.
    pub fn begin(cache: Option<&Path>, stamp: Option<&Stamp>) -> Index {
        let store = cache.zip(stamp).and_then(|(cache, stamp)| {
            std::fs::create_dir_all(cache).ok()?;
            let path = cache.join(stamp.file_name());
            let temporary = temporary(&path);
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&temporary)
                .inspect_err(|e| tracing::warn!("no index is kept: {}: {e}", path.display()))
                .ok()?;
            file.write_all(MAGIC).ok()?;
            Some(Store::File { file, path, temporary: Some(temporary) })
        });
        Index { store: store.unwrap_or(Store::Memory(Vec::new())), checkpoints: Vec::new(), written: 0 }
    }

    /// Opens the index of a trace, if there is one that fits.
    pub fn open(cache: Option<&Path>, stamp: Option<&Stamp>) -> Option<(Index, Body)> {
        let (cache, stamp) = cache.zip(stamp)?;
        let path = cache.join(stamp.file_name());
        let mut file = OpenOptions::new().read(true).open(&path).ok()?;
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
        let body: Body = unpack(&read_at(&mut file, offset, bytes)?)?;
        let fits = body.version == VERSION
            && body.stamp == *stamp
            && !body.threads.is_empty()
            && body.infos.iter().all(|i| (i.thread.0 as usize) < body.threads.len())
            && body.log.is_sound(body.infos.len())
            && body.checkpoints.iter().all(|c| c.offset.checked_add(c.bytes).is_some_and(|end| end <= offset));
        if !fits {
            return None;
        }
        // A used index is a young one.
        let _ = File::options().append(true).open(&path).and_then(|f| f.set_modified(std::time::SystemTime::now()));
        let store = Store::File { file, path, temporary: None };
        let index = Index { store, checkpoints: body.checkpoints.clone(), written: offset };
        Some((index, body))
    }

    /// How many bytes of the trace should lie between two checkpoints, if those to come are as large as `bytes`, with
    /// `rest` bytes of the trace to go. `None` when there is no room for another.
    pub fn distance(&self, trace: u64, rest: u64, bytes: u64) -> Option<u64> {
        let most = match self.store {
            Store::File { .. } => (trace / SHARE + (16 << 20)).min(MOST_CHECKPOINTS),
            Store::Memory(_) => MOST_IN_MEMORY,
        };
        let room = most.saturating_sub(self.written) / bytes.max(1);
        (room > 0).then(|| rest / room)
    }

    /// Bytes of checkpoints so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes a checkpoint. Returns its bytes, 0 when it could not be written.
    pub fn add(&mut self, gc: u32, saved: &impl Serialize) -> u64 {
        let Some(packed) = pack(saved) else { return 0 };
        let offset = match &mut self.store {
            Store::File { file, path, .. } => {
                let written = file.seek(SeekFrom::End(0)).and_then(|at| file.write_all(&packed).map(|()| at));
                match written {
                    Ok(at) => at,
                    Err(error) => {
                        tracing::warn!("no more checkpoints are kept: {}: {error}", path.display());
                        return 0;
                    }
                }
            }
            Store::Memory(bytes) => {
                bytes.extend_from_slice(&packed);
                (bytes.len() - packed.len()) as u64
            }
        };
        let bytes = packed.len() as u64;
        self.checkpoints.push(Checkpoint { gc, offset, bytes });
        self.written += bytes;
        bytes
    }

    /// The last checkpoint not after the end of a GC.
    pub fn before(&self, gc: u32) -> Option<Checkpoint> {
        self.checkpoints.iter().rev().find(|c| c.gc <= gc).copied()
    }

    /// Reads a checkpoint; `None` when it is damaged.
    pub fn read<T: DeserializeOwned>(&mut self, checkpoint: Checkpoint) -> Option<T> {
        match &mut self.store {
            Store::File { file, .. } => unpack(&read_at(file, checkpoint.offset, checkpoint.bytes)?),
            Store::Memory(bytes) => {
                let start = checkpoint.offset as usize;
                unpack(bytes.get(start..start + checkpoint.bytes as usize)?)
            }
        }
    }

    /// Completes the file, and makes room in the cache for it. What cannot be written is not kept: the trace is read
    /// again next time.
    pub fn finish(&mut self, stamp: Option<&Stamp>, body: impl FnOnce() -> Body) {
        let (Store::File { file, path, temporary }, Some(stamp)) = (&mut self.store, stamp) else { return };
        let Some(from) = temporary.take() else { return };
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
            std::fs::rename(&from, &*path)
        });
        if let Err(error) = written {
            tracing::warn!("the index is not kept: {}: {error}", path.display());
            let _ = std::fs::remove_file(&from);
            return;
        }
        tidy(path, MOST_IN_CACHE);
    }
}

impl Drop for Index {
    /// What was never completed is of no use to anybody.
    fn drop(&mut self) {
        if let Store::File { temporary: Some(temporary), .. } = &self.store {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

impl Body {
    /// A body of a recording; version, stamp and checkpoints are filled in when it is written.
    pub fn new(
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

/// A name for an index that is being written: others may be writing one of the same trace.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    path.with_extension(format!("{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Relaxed)))
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

fn unpack<T: DeserializeOwned>(packed: &[u8]) -> Option<T> {
    // The checksum is checked when the frame ends: nothing is taken before.
    let bytes = zstd::stream::decode_all(packed).ok()?;
    postcard::from_bytes(&bytes).ok()
}

/// Removes the oldest indexes beyond the `most` bytes that the cache may take, but not the one just written.
fn tidy(newest: &Path, most: u64) {
    let Some(entries) = newest.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else { return };
    let mut files: Vec<(std::time::SystemTime, u64, PathBuf)> = entries
        .filter_map(|e| {
            let path = e.ok()?.path();
            let meta = path.metadata().ok()?;
            let ours = path.extension().is_some_and(|e| e == "index" || e == "tmp");
            ours.then_some((meta.modified().ok()?, meta.len(), path))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|f| f.1).sum();
    for (_, bytes, path) in files {
        if total <= most {
            break;
        }
        if path != newest && std::fs::remove_file(&path).is_ok() {
            total -= bytes;
        }
    }
}

/// The folder for indexes: of `MEMORY_CITY_CACHE`, or of this user. An empty `MEMORY_CITY_CACHE` means none.
pub fn cache_folder() -> Option<PathBuf> {
    match std::env::var_os("MEMORY_CITY_CACHE") {
        Some(folder) if folder.is_empty() => None,
        Some(folder) => Some(PathBuf::from(folder)),
        None => dirs::cache_dir().map(|d| d.join("memory-city")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::recording::Recording;
    use super::*;
    use std::time::{Duration, SystemTime};

    fn body(recording: &Recording) -> Body {
        Body::new(recording, Inconsistencies::default(), Vec::new())
    }

    #[test]
    fn the_oldest_indexes_make_room_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, age: u64| {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![0; 1000]).expect("written");
            let time = SystemTime::now() - Duration::from_secs(age);
            File::options().append(true).open(&path).and_then(|f| f.set_modified(time)).expect("a time");
            path
        };
        let newest = file("a.index", 90);
        let [young, older, oldest, other] =
            [("b.index", 10), ("c.index", 50), ("d-1-1.tmp", 70), ("notes.txt", 99)].map(|(name, age)| file(name, age));
        tidy(&newest, 2500);
        let there = [&newest, &young, &older, &oldest, &other].map(|path| path.exists());
        assert_eq!(there, [true, true, false, false, true]);
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
        let mut index = Index::begin(Some(&cache), Some(&stamp));
        assert!(index.add(3, &vec![1u32, 2, 3]) > 0);
        index.finish(Some(&stamp), || body(&recording));
        let (mut index, found) = Index::open(Some(&cache), Some(&stamp)).expect("an index");
        assert_eq!(found.threads, ["main"]);
        let checkpoint = index.before(7).expect("a checkpoint");
        assert_eq!(index.read::<Vec<u32>>(checkpoint), Some(vec![1, 2, 3]));
        assert_eq!(index.before(2), None);

        // The same, written by another version.
        let path = cache.join(stamp.file_name());
        let packed = pack(&Body { version: VERSION + 1, stamp: stamp.clone(), ..body(&recording) }).expect("packed");
        let place = [8u64, packed.len() as u64].map(u64::to_le_bytes).concat();
        std::fs::write(&path, [&MAGIC[..], &packed, &place].concat()).expect("written");
        assert!(Index::open(Some(&cache), Some(&stamp)).is_none());
    }
}
