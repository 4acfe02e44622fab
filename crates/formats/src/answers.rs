//! Cache of results computed from a dump, in the user's cache folder beside the indexes of traces. It shares their size limit, checks a
//! checksum, and finds a result only for the same bytes.
//!
//! Length, time of change and samples of the content identify a dump. It is not read for that: reopening a series of dumps costs only the
//! samples. The key gives the meaning of an answer and its version.

use super::index::{self, cache_folder};
use memory_city_heap::regular;
use rustc_hash::FxHasher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Identity of a dump, wherever it lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DumpStamp {
    bytes: u64,
    changed: u128,
    /// Hashes of samples of the content, with two seeds.
    samples: [u64; 2],
    /// Which of several states in one file.
    state: usize,
}

/// Samples of a dump: its first and last bytes, and others between them at equal distances.
const SAMPLES: u64 = 32;
const SAMPLE: u64 = 4096;

impl DumpStamp {
    /// The stamp of a file; `None` when it cannot be read.
    pub fn of(path: &Path) -> Option<DumpStamp> {
        let mut file = regular::open(path).ok()?;
        let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let bytes = meta.len();
        let changed = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
        let mut hashers = [FxHasher::default(), FxHasher::default()];
        hashers[1].write_u64(0x9e37_79b9_7f4a_7c15);
        let last = bytes.saturating_sub(SAMPLE);
        let mut sample = Vec::with_capacity(SAMPLE as usize);
        for i in 0..SAMPLES {
            sample.clear();
            file.seek(SeekFrom::Start(u64::try_from(u128::from(last) * u128::from(i) / u128::from(SAMPLES - 1)).ok()?))
                .ok()?;
            (&mut file).take(SAMPLE).read_to_end(&mut sample).ok()?;
            hashers.iter_mut().for_each(|hasher| hasher.write(&sample));
        }
        Some(DumpStamp { bytes, changed, samples: hashers.map(|hasher| hasher.finish()), state: 0 })
    }
}

impl DumpStamp {
    /// The stamp of one of several states in the file.
    pub fn of_state(self, state: usize) -> DumpStamp {
        DumpStamp { state, ..self }
    }

    /// Whether the content is the same, whenever it was written.
    pub fn is_same_content(&self, other: &DumpStamp) -> bool {
        (self.bytes, self.samples, self.state) == (other.bytes, other.samples, other.state)
    }
}

/// A question about a dump, or about several in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerKey {
    /// The dumps.
    pub dumps: Vec<DumpStamp>,
    /// The question, with everything beside the dump that the answer depends on: settings, and the version of the code.
    pub question: String,
}

/// Changes with how answers are written.
const VERSION: u32 = 4;

#[derive(Serialize, Deserialize)]
struct KeptAnswer<K, T> {
    version: u32,
    key: K,
    answer: T,
}

impl AnswerKey {
    fn file_name(&self) -> String {
        let mut hasher = FxHasher::default();
        for dump in &self.dumps {
            hasher.write_u64(dump.bytes);
            hasher.write_usize(dump.state);
            dump.samples.iter().for_each(|&sample| hasher.write_u64(sample));
        }
        hasher.write(self.question.as_bytes());
        format!("dump-{:016x}.index", hasher.finish())
    }

    /// The answer, if it is in the cache. The caller checks that it makes sense: the file may come from anybody.
    pub fn kept<T: DeserializeOwned>(&self) -> Option<T> {
        self.kept_in(&cache_folder()?)
    }

    /// Puts an answer into the cache, and removes the oldest entries if it is too large. An answer that cannot be written is computed again
    /// next time.
    pub fn keep(&self, answer: &impl Serialize) {
        if let Some(cache) = cache_folder() {
            self.keep_in(&cache, answer);
        }
    }

    fn kept_in<T: DeserializeOwned>(&self, cache: &Path) -> Option<T> {
        let kept: KeptAnswer<AnswerKey, T> = index::read_whole(&cache.join(self.file_name()))?;
        (kept.version == VERSION && kept.key == *self).then_some(kept.answer)
    }

    fn keep_in(&self, cache: &Path, answer: &impl Serialize) {
        let path = cache.join(self.file_name());
        if let Err(error) = index::write_whole(cache, &path, &KeptAnswer { version: VERSION, key: self, answer }) {
            tracing::warn!("{} cannot be kept and will be computed again: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    #[test]
    fn answers_about_several_dumps_depend_on_all_and_on_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = folder.path().join("cache");
        let [one, other] = [1u8, 2].map(|byte| {
            let path = folder.path().join(format!("{byte}.hprof"));
            std::fs::write(&path, vec![byte; 10_000]).expect("written");
            DumpStamp::of(&path).expect("a stamp")
        });
        let key = |dumps: &[&DumpStamp]| AnswerKey {
            dumps: dumps.iter().copied().cloned().collect(),
            question: "growth".into(),
        };
        key(&[&one, &other]).keep_in(&cache, &7u32);
        assert_eq!(key(&[&one, &other]).kept_in::<u32>(&cache), Some(7));
        for others in [&[&other, &one][..], &[&one], &[&one, &other, &other]] {
            assert_eq!(key(others).kept_in::<u32>(&cache), None);
        }
    }

    #[test]
    fn answers_are_found_for_the_same_bytes_and_question_and_not_once_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = folder.path().join("cache");
        let write = |name: &str, changed_at: usize| {
            let path = folder.path().join(name);
            let mut bytes = vec![7u8; 300_000];
            bytes[changed_at] = 8;
            std::fs::write(&path, bytes).expect("written");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
            File::options().append(true).open(&path).and_then(|f| f.set_modified(time)).expect("a time");
            path
        };
        let key = |path: &Path, question: &str| AnswerKey {
            dumps: vec![DumpStamp::of(path).expect("a stamp")],
            question: question.into(),
        };
        let dump = write("a.hprof", 0);
        key(&dump, "trees").keep_in(&cache, &vec![1u32, 2, 3]);
        let kept = |path: &Path, question: &str| key(path, question).kept_in::<Vec<u32>>(&cache);
        assert_eq!(kept(&dump, "trees"), Some(vec![1, 2, 3]));
        assert_eq!(kept(&write("moved.hprof", 0), "trees"), Some(vec![1, 2, 3]), "content counts, not the name");
        assert_eq!(kept(&dump, "forests"), None);
        for elsewhere in [1, 299_999] {
            assert_eq!(kept(&write("b.hprof", elsewhere), "trees"), None);
        }
        File::options().append(true).open(&dump).and_then(|f| f.set_modified(SystemTime::now())).expect("a time");
        assert_eq!(kept(&dump, "trees"), None, "it was written again");
        let same = write("a.hprof", 0);
        let file = cache.join(key(&same, "trees").file_name());
        let bytes = std::fs::read(&file).expect("the file");
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            std::fs::write(&file, &damaged).expect("written");
            assert_eq!(kept(&same, "trees").unwrap_or_else(|| vec![1, 2, 3]), [1, 2, 3], "byte {at}");
            std::fs::write(&file, &bytes[..at]).expect("written");
            assert_eq!(kept(&same, "trees"), None, "cut at {at}");
        }
        // The answer to another question, whole, in its place.
        key(&same, "forests").keep_in(&cache, &vec![4u32, 5]);
        std::fs::copy(cache.join(key(&same, "forests").file_name()), &file).expect("copied");
        assert_eq!(kept(&same, "forests"), Some(vec![4, 5]));
        assert_eq!(kept(&same, "trees"), None, "swapped");
        key(&same, "trees").keep_in(&cache, &vec![1u32, 2, 3]);
        assert_eq!(kept(&same, "trees"), Some(vec![1, 2, 3]), "written again");
    }
}
