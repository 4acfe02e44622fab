//! Files as bytes: mapped into memory as they are, or unpacked when they are gzip or zstd. Decided by content.

use crate::error::{Error, Result, Warning};
use crate::progress::Progress;
use memmap2::{Mmap, UncheckedAdvice};
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use sysinfo::{MemoryRefreshKind, System};

/// The bytes of an input.
pub struct Input {
    /// Where they come from.
    pub path: PathBuf,
    bytes: Bytes,
    /// What went wrong while unpacking, after the bytes there are.
    pub warnings: Vec<Warning>,
}

enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

/// How large a file is once it is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackedSize {
    /// Bytes; of packed files an estimate, mostly from above.
    pub bytes: u64,
    /// Whether it must be unpacked into memory.
    pub packed: bool,
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

impl Input {
    /// Opens a file, unpacking it where needed.
    ///
    /// # Errors
    /// When it cannot be read, or unpacks to more than three quarters of the memory that is free.
    pub fn open(path: &Path, progress: &Progress) -> Result<Input> {
        Self::open_limited(path, memory_limit, progress)
    }

    /// As [`Input::open`], for files that unpack to at most `most` bytes.
    ///
    /// # Errors
    /// When it cannot be read, or unpacks to more.
    pub fn open_within(path: &Path, most: u64, progress: &Progress) -> Result<Input> {
        Self::open_limited(path, || most, progress)
    }

    fn open_limited(path: &Path, most: impl Fn() -> u64, progress: &Progress) -> Result<Input> {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let length = file.metadata().map_err(|e| Error::io(path, e))?.len();
        let owned = |bytes| Input { path: path.to_owned(), bytes: Bytes::Owned(bytes), warnings: Vec::new() };
        if length == 0 {
            return Ok(owned(Vec::new()));
        }
        // SAFETY: the map is read only. The file could still change under it; a dump that is being written is cut
        // off by the checks of the parser, which reads every length before it trusts it. Truncating a mapped file
        // while it is read ends the process with a signal, as for every program that maps its input.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(path, e))?;
        if map.starts_with(GZIP) {
            return unzip(path, &map, most(), progress);
        }
        if map.starts_with(ZSTD) {
            let mut input = owned(Vec::new());
            let decoder = zstd::stream::read::Decoder::with_buffer(&map[..]).map_err(|e| Error::io(path, e))?;
            input.unpack(decoder, "zstd", most(), progress)?;
            return Ok(input);
        }
        Ok(Input { path: path.to_owned(), bytes: Bytes::Mapped(map), warnings: Vec::new() })
    }

    /// Bytes that are there already, under a name for messages.
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Input {
        Input { path: name.to_owned(), bytes: Bytes::Owned(bytes), warnings: Vec::new() }
    }

    /// How large a file will be once it is unpacked, without unpacking it: by what its headers say, where they do. Reads packed
    /// files of the JVM once, to count their parts.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn unpacked_size(path: &Path) -> Result<UnpackedSize> {
        let io = |e| Error::io(path, e);
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        if length == 0 {
            return Ok(UnpackedSize { bytes: 0, packed: false });
        }
        // SAFETY: as in `open_limited`.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let bytes = if map.starts_with(GZIP) {
            gzip_size(&map)
        } else if map.starts_with(ZSTD) {
            let said = zstd::zstd_safe::get_frame_content_size(&map[..map.len().min(32)]).ok().flatten();
            said.unwrap_or_else(|| length.saturating_mul(PACKED_BY))
        } else {
            return Ok(UnpackedSize { bytes: length, packed: false });
        };
        Ok(UnpackedSize { bytes, packed: true })
    }

    /// The first bytes of a file, unpacked, without reading the rest.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn peek(path: &Path, most: usize) -> Result<Vec<u8>> {
        let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
        let mut start = Vec::new();
        (&mut file).take(256 * 1024).read_to_end(&mut start).map_err(|e| Error::io(path, e))?;
        let mut unpacked = Vec::new();
        let most = most as u64;
        // What is cut off or damaged shows when the file is opened; here the first bytes are enough.
        let _ = if start.starts_with(GZIP) {
            flate2::read::MultiGzDecoder::new(&start[..]).take(most).read_to_end(&mut unpacked)
        } else if start.starts_with(ZSTD) {
            match zstd::stream::read::Decoder::with_buffer(&start[..]) {
                Ok(decoder) => decoder.take(most).read_to_end(&mut unpacked),
                Err(e) => Err(e),
            }
        } else {
            (&start[..]).take(most).read_to_end(&mut unpacked)
        };
        Ok(unpacked)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }

    /// Says that a range will not be read for a while: its pages leave this process (not the system's cache).
    pub fn release(&self, range: std::ops::Range<usize>) {
        if let Bytes::Mapped(map) = &self.bytes {
            let start = range.start.min(map.len());
            let end = range.end.min(map.len());
            // SAFETY: the map is a read-only file map, so dropped pages come back with the same content.
            let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end.saturating_sub(start)) };
        }
    }

    fn unpack(&mut self, mut from: impl Read, format: &str, limit: u64, progress: &Progress) -> Result<()> {
        let mut bytes = Vec::new();
        let outcome = loop {
            progress.check()?;
            match (&mut from).take(STEP).read_to_end(&mut bytes) {
                Ok(0) => break Ok(()),
                Ok(n) => progress.advance(n as u64),
                Err(e) => break Err(e),
            }
            if bytes.len() as u64 > limit {
                return Err(too_large(&self.path, limit));
            }
        };
        if let Err(error) = outcome {
            self.warnings.push(Warning {
                path: self.path.clone(),
                offset: Some(bytes.len() as u64),
                message: format!(
                    "the {format} data ends or is damaged here ({error}); what came before is shown, the rest is missing"
                ),
            });
        }
        self.bytes = Bytes::Owned(bytes);
        Ok(())
    }
}

fn too_large(path: &Path, limit: u64) -> Error {
    Error::Unusable {
        what: format!("{} unpacks to more than {} MB, which memory does not hold", path.display(), limit >> 20),
        remedy: "Unpack it to a file (gunzip, zstd -d) and open that: plain dumps are read from disk".into(),
    }
}

/// Unpacked bytes between two looks at limit and progress.
const STEP: u64 = 8 << 20;

/// How much an unpacked input may take: what is free of the machine's memory, or of what a container may use, less a quarter
/// for the heap state itself.
pub fn memory_limit() -> u64 {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    if system.total_memory() == 0 {
        // A system that does not tell.
        return 6 << 30;
    }
    // A container's page cache counts as used, though it is given back when memory is wanted.
    let contained = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory.saturating_sub(limits.rss));
    contained.min(system.available_memory()) / 4 * 3
}

/// The first bytes of every gzip member the JVM writes after the first: no flags, no time.
const MEMBER: &[u8] = &[0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0];

/// Unpacks gzip. The JVM writes independent members of a fixed unpacked size: those are unpacked in parallel.
fn unzip(path: &Path, packed: &[u8], limit: u64, progress: &Progress) -> Result<Input> {
    let mut input = Input { path: path.to_owned(), bytes: Bytes::Owned(Vec::new()), warnings: Vec::new() };
    progress.begin(format!("Unpacking {}", path.display()), 0);
    if let Some(starts) = member_starts(packed)
        && let Some(bytes) = unzip_members(path, packed, &starts, limit, progress)?
    {
        input.bytes = Bytes::Owned(bytes);
        return Ok(input);
    }
    input.unpack(flate2::read::MultiGzDecoder::new(packed), "gzip", limit, progress)?;
    Ok(input)
}

/// By how much dumps are packed, about: where nothing says it.
const PACKED_BY: u64 = 5;

/// How large a gzip file is unpacked: by the size of the blocks that the JVM packs, or else by its last four bytes, which are
/// right for a single member of less than 4 GB.
fn gzip_size(packed: &[u8]) -> u64 {
    let head = &packed[..packed.len().min(64)];
    let comment = b"HPROF BLOCKSIZE=";
    let block = head.windows(comment.len()).position(|w| w == comment).and_then(|at| {
        let digits = &head[at + comment.len()..];
        let end = digits.iter().position(|b| !b.is_ascii_digit())?;
        std::str::from_utf8(&digits[..end]).ok()?.parse::<u64>().ok()
    });
    if let Some(block) = block {
        let members = 1 + find_all(packed, MEMBER).filter(|&at| at > 0).count() as u64;
        return members.saturating_mul(block);
    }
    let length = packed.len() as u64;
    match packed.last_chunk::<4>().map(|last| u64::from(u32::from_le_bytes(*last))) {
        // Nothing packs better, and what is larger unpacked wraps around.
        Some(said) if said >= length && said <= length.saturating_mul(1032) => said,
        _ => length.saturating_mul(PACKED_BY),
    }
}

/// Where members begin, if the file says that they are independent (`HPROF BLOCKSIZE=` in the first one's comment).
fn member_starts(packed: &[u8]) -> Option<Vec<usize>> {
    let head = &packed[..packed.len().min(64)];
    head.windows(16).find(|w| *w == b"HPROF BLOCKSIZE=")?;
    let mut starts = vec![0];
    // Eight fixed bytes in packed data by chance are unlikely, and harmless: the lengths are checked below.
    starts.extend(find_all(packed, MEMBER).filter(|&at| at > 0));
    (starts.len() > 1).then_some(starts)
}

fn find_all<'a>(bytes: &'a [u8], pattern: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        while from + pattern.len() <= bytes.len() {
            let at = from + bytes[from..].iter().position(|&b| b == pattern[0])?;
            from = at + 1;
            if bytes[at..].starts_with(pattern) {
                return Some(at);
            }
        }
        None
    })
}

/// `None` when the members do not meet: then the plain way decides.
fn unzip_members(
    path: &Path,
    packed: &[u8],
    starts: &[usize],
    limit: u64,
    progress: &Progress,
) -> Result<Option<Vec<u8>>> {
    let run = starts.len().div_ceil(rayon::current_num_threads() * 4).max(1);
    // By all threads together: what is packed well is large long before all of it is there.
    let unpacked = AtomicU64::new(0);
    let parts: Vec<Option<Vec<u8>>> = starts
        .par_chunks(run)
        .enumerate()
        .map(|(i, members)| {
            let end = starts.get((i + 1) * run).copied().unwrap_or(packed.len());
            let mut decoder = flate2::read::MultiGzDecoder::new(&packed[members[0]..end]);
            let mut out = Vec::new();
            loop {
                progress.check()?;
                match (&mut decoder).take(STEP).read_to_end(&mut out) {
                    Ok(0) => return Ok(Some(out)),
                    Ok(n) => {
                        if unpacked.fetch_add(n as u64, Relaxed) + n as u64 > limit {
                            return Err(too_large(path, limit));
                        }
                    }
                    Err(_) => return Ok(None),
                }
            }
        })
        .collect::<Result<_>>()?;
    let Some(parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut bytes = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for part in parts {
        bytes.extend_from_slice(&part);
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8], comment: Option<&str>) -> Vec<u8> {
        let builder = flate2::GzBuilder::new();
        let builder = if let Some(comment) = comment { builder.comment(comment) } else { builder };
        let mut encoder = builder.write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("packed")
    }

    #[test]
    fn what_unpacks_to_more_than_the_limit_is_refused_and_the_rest_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let zeros = vec![0; 3 << 20];
        // As the JVM writes it: independent members, the first with a comment.
        let first = gzip(&zeros[..1 << 20], Some("HPROF BLOCKSIZE=1048576"));
        let members = [first, gzip(&zeros[..1 << 20], None), gzip(&zeros[..1 << 20], None)].concat();
        let zstd = zstd::encode_all(&zeros[..], 1).expect("packed");
        for (name, packed) in [("gzip", gzip(&zeros, None)), ("members", members), ("zstd", zstd)] {
            assert!(packed.len() < 100_000, "{name}");
            let path = folder.path().join(name);
            std::fs::write(&path, packed).expect("written");
            let open = |most| Input::open_within(&path, most, &Progress::new());
            assert!(open(3 << 20).expect("it fits").bytes() == zeros, "{name}");
            let error = open(2 << 20).err().expect("too large").to_string();
            assert!(error.contains(name) && error.contains("more than 2 MB"), "{error}");
        }
    }

    #[test]
    fn how_large_a_file_will_be_is_told_before_it_is_unpacked() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes: Vec<u8> = (0..3 << 20).map(|i: u32| (i.wrapping_mul(i) >> 9) as u8).collect();
        let members: Vec<Vec<u8>> = bytes
            .chunks(1 << 20)
            .enumerate()
            .map(|(i, part)| gzip(part, (i == 0).then_some("HPROF BLOCKSIZE=1048576")))
            .collect();
        let zstd = zstd::bulk::compress(&bytes, 1).expect("packed");
        let streamed = zstd::encode_all(&bytes[..], 1).expect("packed");
        let exact = UnpackedSize { bytes: bytes.len() as u64, packed: true };
        let guess = UnpackedSize { bytes: streamed.len() as u64 * PACKED_BY, packed: true };
        for (name, content, size) in [
            ("plain", bytes.clone(), UnpackedSize { packed: false, ..exact }),
            ("gzip", gzip(&bytes, None), exact),
            ("members", members.concat(), exact),
            ("zstd", zstd, exact),
            ("streamed", streamed, guess),
            ("empty", Vec::new(), UnpackedSize { bytes: 0, packed: false }),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, content).expect("written");
            assert_eq!(Input::unpacked_size(&path).expect("a size"), size, "{name}");
        }
        assert!(Input::unpacked_size(&folder.path().join("nothing")).is_err());
    }

    #[test]
    fn the_memory_that_is_free_is_known() {
        assert!(memory_limit() > 1 << 20);
    }
}
