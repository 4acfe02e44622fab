//! Files as bytes: mapped into memory, or unpacked if their content is gzip or zstd.
//!
//! A file that may change while it is read is copied into memory: see [`steady`].

mod steady;

use crate::error::{Error, Result, Warning};
use crate::memory::{memory_limit, memory_text};
use crate::progress::Progress;
use crate::regular;
use memmap2::{Mmap, UncheckedAdvice};
use rayon::prelude::*;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The bytes of an input.
pub struct Input {
    /// Where they come from.
    pub path: PathBuf,
    bytes: Bytes,
    /// Errors of unpacking, after the bytes there are.
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
        Self::open_limited(path, memory_limit, steady::may_change, progress)
    }

    /// As [`Input::open`], for files that unpack to at most `most` bytes.
    ///
    /// # Errors
    /// When it cannot be read, or unpacks to more.
    pub fn open_within(path: &Path, most: u64, progress: &Progress) -> Result<Input> {
        Self::open_limited(path, || most, steady::may_change, progress)
    }

    fn open_limited(
        path: &Path,
        most: impl Fn() -> u64,
        may_change: impl Fn(&File, &Metadata) -> Option<&'static str>,
        progress: &Progress,
    ) -> Result<Input> {
        let file = regular::open(path).map_err(|e| Error::io(path, e))?;
        Self::of(&file, path, most, may_change, progress)
    }

    /// As [`Input::open`], for an open regular file; the path is for messages.
    ///
    /// # Errors
    /// As there.
    pub fn of_file(file: &File, path: &Path, progress: &Progress) -> Result<Input> {
        Self::of(file, path, memory_limit, steady::may_change, progress)
    }

    fn of(
        file: &File,
        path: &Path,
        most: impl Fn() -> u64,
        may_change: impl Fn(&File, &Metadata) -> Option<&'static str>,
        progress: &Progress,
    ) -> Result<Input> {
        let meta = file.metadata().map_err(|e| Error::io(path, e))?;
        let mut input = Input { path: path.to_owned(), bytes: Bytes::Owned(Vec::new()), warnings: Vec::new() };
        if meta.len() == 0 {
            return Ok(input);
        }
        let (mut limit, mut read) = (None, None);
        if let Some(why) = may_change(file, &meta) {
            let all = most();
            limit = Some(all);
            read = copied(file, meta.len(), all / 2, progress).map_err(|e| Error::io(path, e))?;
            if read.is_none() {
                input.warnings.push(Warning { path: path.to_owned(), offset: None, message: may_be_cut(why, all / 2) });
            }
        }
        progress.check()?;
        let content = match read {
            Some(bytes) => Bytes::Owned(bytes),
            // SAFETY: the map is read only. Files that are known to change are not mapped, unless they are too large for
            // memory. Any other could still change under the map: what is read then are other bytes, of which parsers check
            // every length before they trust it. Truncating a mapped file while it is read ends the process with a signal, as
            // for every program that maps its input; docs/security.md says so.
            None => Bytes::Mapped(unsafe { Mmap::map(file) }.map_err(|e| Error::io(path, e))?),
        };
        let limit = || limit.unwrap_or_else(&most);
        let packed = content.as_slice();
        if packed.starts_with(GZIP) {
            input.unzip(packed, limit(), progress)?;
        } else if packed.starts_with(ZSTD) {
            let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(|e| Error::io(path, e))?;
            input.unpack(decoder, "zstd", limit(), progress)?;
        } else {
            input.bytes = content;
        }
        Ok(input)
    }

    /// Bytes that are there already, under a name for messages.
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Input {
        Input { path: name.to_owned(), bytes: Bytes::Owned(bytes), warnings: Vec::new() }
    }

    /// Size of a file after unpacking, from its headers where they have it, without unpacking it. Reads packed files of the JVM once, to
    /// count their parts.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn unpacked_size(path: &Path) -> Result<UnpackedSize> {
        let io = |e| Error::io(path, e);
        let file = regular::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        if length == 0 {
            return Ok(UnpackedSize { bytes: 0, packed: false });
        }
        let mut head = Vec::new();
        (&file).take(64).read_to_end(&mut head).map_err(io)?;
        let bytes = if head.starts_with(GZIP) {
            gzip_size(&file, &head, length).map_err(io)?
        } else if head.starts_with(ZSTD) {
            let said = zstd::zstd_safe::get_frame_content_size(&head).ok().flatten();
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
        let mut file = regular::open(path).map_err(|e| Error::io(path, e))?;
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
        self.bytes.as_slice()
    }

    /// How many of them are in memory, rather than in a file that the system reads again when it is asked for.
    pub fn memory(&self) -> u64 {
        match &self.bytes {
            Bytes::Mapped(_) => 0,
            Bytes::Owned(bytes) => bytes.len() as u64,
        }
    }

    /// Says that a range will not be read for a while: its pages leave this process (not the system's cache).
    pub fn release(&self, range: std::ops::Range<usize>) {
        if let Bytes::Mapped(map) = &self.bytes {
            let start = range.start.min(map.len());
            let end = range.end.min(map.len());
            // SAFETY: the map is a read-only file map, so dropped pages come back with what is in the file.
            let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end.saturating_sub(start)) };
        }
    }

    fn unpack(&mut self, mut from: impl Read, format: &str, limit: u64, progress: &Progress) -> Result<()> {
        let mut bytes = Vec::new();
        let outcome = loop {
            progress.check()?;
            let step = room(&mut bytes).ok_or_else(|| too_large(&self.path, bytes.len() as u64))?;
            match (&mut from).take(step).read_to_end(&mut bytes) {
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
                    "{}the {format} data ends or is damaged here ({error}); what came before is shown, the rest is missing",
                    Warning::UNJUDGED
                ),
            });
        }
        self.bytes = Bytes::Owned(bytes);
        Ok(())
    }

    /// Unpacks gzip. The JVM writes independent members of a fixed unpacked size: those are unpacked in parallel.
    fn unzip(&mut self, packed: &[u8], limit: u64, progress: &Progress) -> Result<()> {
        progress.begin(format!("Unpacking {}", self.path.display()), 0);
        if let Some(starts) = member_starts(packed)
            && let Some(bytes) = unzip_members(&self.path, packed, &starts, limit, progress)?
        {
            self.bytes = Bytes::Owned(bytes);
            return Ok(());
        }
        self.unpack(flate2::read::MultiGzDecoder::new(packed), "gzip", limit, progress)
    }
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// A file's bytes in memory, as many as it had when it was opened; `None` where they are more than `most`.
///
/// # Errors
/// When it cannot be read.
fn copied(file: &File, length: u64, most: u64, progress: &Progress) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let size = usize::try_from(length).ok().filter(|_| length <= most);
    if size.is_none_or(|size| bytes.try_reserve_exact(size).is_err()) {
        return Ok(None);
    }
    let mut from = file.take(length);
    // Who cancels is heard behind.
    while progress.check().is_ok() && (&mut from).take(STEP).read_to_end(&mut bytes)? > 0 {}
    Ok(Some(bytes))
}

fn may_be_cut(why: &str, most: u64) -> String {
    format!(
        "the file may change while it is read ({why}), and is larger than the {} that there are to copy it into memory: should it be cut off meanwhile, this program ends. Copy it to a disk of your own, and open the copy",
        memory_text(most)
    )
}

/// All bytes of a stream.
///
/// # Errors
/// When it cannot be read; [`std::io::ErrorKind::FileTooLarge`] when it has more than `most` bytes, or than memory holds.
pub fn read_within(mut from: impl Read, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let step = room(&mut bytes).filter(|_| bytes.len() as u64 <= most).ok_or(std::io::ErrorKind::FileTooLarge)?;
        if (&mut from).take(step).read_to_end(&mut bytes)? == 0 {
            bytes.shrink_to_fit();
            return Ok(bytes);
        }
    }
}

/// Makes room for another step, by a quarter of the present size, so that little of it stays unused. The step's length; `None` without room.
fn room(bytes: &mut Vec<u8>) -> Option<u64> {
    let quarter = bytes.len() / 4;
    let step = quarter.clamp(FIRST_STEP as usize, STEP as usize);
    // The reader looks for the end behind the step.
    let has_room = bytes.capacity() - bytes.len() >= step + 32;
    (has_room || bytes.try_reserve_exact(quarter.max(step + 32)).is_ok()).then_some(step as u64)
}

fn too_large(path: &Path, limit: u64) -> Error {
    Error::Memory {
        what: format!("{} unpacks to more than {} MB, which memory does not hold", path.display(), limit >> 20),
        remedy: "Unpack it to a file (gunzip, zstd -d) and open that: plain dumps are read from disk".into(),
    }
}

/// Most unpacked bytes between two looks at limit and progress.
const STEP: u64 = 8 << 20;

/// Unpacked bytes of the first step: small files take little more memory than they need.
const FIRST_STEP: u64 = 256 << 10;

/// The first bytes of every gzip member the JVM writes after the first: no flags, no time.
const MEMBER: &[u8] = &[0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0];

/// Typical packing ratio of dumps, for files whose headers have no size.
const PACKED_BY: u64 = 5;

/// Unpacked size of a gzip file: from the size of the blocks that the JVM packs, or else from its last four bytes, which are right for a
/// single member of less than 4 GB.
fn gzip_size(mut file: &File, head: &[u8], length: u64) -> std::io::Result<u64> {
    let comment = b"HPROF BLOCKSIZE=";
    let block = head.windows(comment.len()).position(|w| w == comment).and_then(|at| {
        let digits = &head[at + comment.len()..];
        let end = digits.iter().position(|b| !b.is_ascii_digit())?;
        std::str::from_utf8(&digits[..end]).ok()?.parse::<u64>().ok()
    });
    if let Some(block) = block {
        // The first member has a comment, the others begin like each other.
        return Ok((1 + count_members(file)?).saturating_mul(block));
    }
    let mut last = [0; 4];
    file.seek(SeekFrom::Start(length.saturating_sub(4)))?;
    if file.read_exact(&mut last).is_err() {
        return Ok(length.saturating_mul(PACKED_BY));
    }
    Ok(match u64::from(u32::from_le_bytes(last)) {
        // Nothing packs better, and what is larger unpacked wraps around.
        said if said >= length && said <= length.saturating_mul(1032) => said,
        _ => length.saturating_mul(PACKED_BY),
    })
}

/// How many members begin in the rest of a file.
fn count_members(mut file: &File) -> std::io::Result<u64> {
    let (mut buffer, mut kept, mut count) = (vec![0; 1 << 20], 0, 0);
    loop {
        let n = file.read(&mut buffer[kept..])?;
        if n == 0 {
            return Ok(count);
        }
        let filled = kept + n;
        count += find_all(&buffer[..filled], MEMBER).count() as u64;
        // What begins here may end in what comes next.
        kept = filled.min(MEMBER.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
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
                let step = room(&mut out).ok_or_else(|| too_large(path, unpacked.load(Relaxed)))?;
                match (&mut decoder).take(step).read_to_end(&mut out) {
                    Ok(0) => {
                        out.shrink_to_fit();
                        return Ok(Some(out));
                    }
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
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(parts.iter().map(Vec::len).sum()).is_err() {
        return Err(too_large(path, unpacked.load(Relaxed)));
    }
    // Each is let go of as soon as it is there twice.
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
    fn what_may_change_is_copied_and_where_it_is_too_large_that_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("dump");
        let bytes: Vec<u8> = (0..20 << 20).map(|i: u32| (i >> 9) as u8).collect();
        let packed = gzip(&bytes, None);
        let why = "a program is writing it";
        for (content, most, is_copied) in
            [(&bytes, 50 << 20, true), (&bytes, 30 << 20, false), (&packed, 50 << 20, true)]
        {
            std::fs::write(&path, content).expect("written");
            let input = Input::open_limited(&path, || most, |_, _| Some(why), &Progress::new()).expect("opened");
            if is_copied {
                // Cut off by whoever writes it: a map would end this process here.
                std::fs::write(&path, "").expect("cut");
                assert_eq!(input.memory(), bytes.len() as u64);
            }
            assert!(input.bytes() == bytes && input.warnings.is_empty() == is_copied);
            assert!(is_copied || input.warnings[0].message.contains(why), "{:?}", input.warnings);
        }
        std::fs::write(&path, &bytes).expect("written");
        let mapped = Input::open_limited(&path, || 1 << 30, |_, _| None, &Progress::new()).expect("opened");
        assert_eq!(mapped.memory(), 0);
    }
}
