//! The buffer file of a walk: it holds chunks without headers until the walk is complete, in a file without a name. Only then the size of
//! the walk is known, and room for it can be made in the trace.

use crate::chunk::CHUNK_HEADER;
use crate::error::{WireError, WireResult};
use crate::writer::StoredChunk;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A walk that waits.
pub(crate) struct WalkSpool {
    path: PathBuf,
    file: BufWriter<File>,
    /// The contents of the file, in its order: some bytes for each chunk.
    chunks: Vec<StoredChunk>,
    bytes: u64,
}

impl WalkSpool {
    /// Creates it beside the parts of a stream. Its name is removed at once, so nothing of it stays behind even if this process is killed.
    pub(crate) fn begin(folder: &Path, stream: u16) -> WireResult<WalkSpool> {
        let path = folder.join(format!(".{stream:02}-walk"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Left by one that was killed. Whatever has the name goes, were it a link: nothing is written through it.
        let _ = std::fs::remove_file(&path);
        let file = options.open(&path).map_err(|e| WireError::io(&path, e))?;
        // Where open files keep their names it goes at the end.
        let _ = std::fs::remove_file(&path);
        Ok(WalkSpool { path, file: BufWriter::new(file), chunks: Vec::new(), bytes: 0 })
    }

    pub(crate) fn push(&mut self, chunk: StoredChunk, stored: &[u8]) -> WireResult<()> {
        self.file.write_all(stored).map_err(|e| WireError::io(&self.path, e))?;
        self.bytes = self.bytes.saturating_add((CHUNK_HEADER + stored.len()) as u64);
        self.chunks.push(chunk);
        Ok(())
    }

    /// Bytes of its chunks, as they will be in the trace.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many chunks it has.
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Hands out its chunks: each with a reader that is where it is stored.
    pub(crate) fn read(
        &mut self,
        take: &mut dyn FnMut(&StoredChunk, &mut dyn Read) -> WireResult<()>,
    ) -> WireResult<()> {
        let io = |e| WireError::io(&self.path, e);
        self.file.flush().map_err(io)?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        let mut reader = BufReader::new(file);
        self.chunks.iter().try_for_each(|chunk| take(chunk, &mut (&mut reader).take(u64::from(chunk.stored))))
    }
}

impl Drop for WalkSpool {
    fn drop(&mut self) {
        #[cfg(not(unix))]
        let _ = std::fs::remove_file(&self.path);
    }
}
