//! The header of a dump.

use super::cursor::Cursor;
use memory_city_heap::error::{Error, Result};
use std::path::Path;

/// The content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DumpHeader {
    /// Bytes of an id: 4 or 8.
    pub(crate) id_size: usize,
    /// When the dump was taken, milliseconds since the Unix epoch.
    pub(crate) millis: u64,
    /// Where the records begin.
    pub(crate) end: usize,
    /// Written by Android (format 1.0.3).
    pub(crate) android: bool,
}

impl DumpHeader {
    /// Reads the header of `bytes`, the start of a dump.
    ///
    /// # Errors
    /// When it is no HPROF dump of a known version.
    pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<DumpHeader> {
        let wrong = |offset: u64, found: String, expected: &str, remedy: &str| Error::Format {
            path: path.to_owned(),
            offset: Some(offset),
            found,
            expected: expected.to_owned(),
            remedy: remedy.to_owned(),
        };
        let magic = b"JAVA PROFILE 1.0.";
        if !bytes.starts_with(magic) {
            let found = match bytes.len() {
                0 => "an empty file".to_owned(),
                n => format!("{:?}", String::from_utf8_lossy(&bytes[..n.min(18)])),
            };
            return Err(wrong(
                0,
                found,
                "`JAVA PROFILE 1.0.` (a heap dump in HPROF format)",
                "Give a heap dump as written by jcmd PID GC.heap_dump, jmap, or -XX:+HeapDumpOnOutOfMemoryError",
            ));
        }
        let mut cursor = Cursor::new(bytes, magic.len());
        let cut = || {
            let offset = bytes.len() as u64;
            wrong(offset, "the end of the file".into(), "the rest of the header", "Copy or take the dump again")
        };
        let version = cursor.u8().ok_or_else(cut)?;
        if !(b'1'..=b'3').contains(&version) || cursor.u8().ok_or_else(cut)? != 0 {
            return Err(wrong(
                magic.len() as u64,
                format!("version 1.0.{}", char::from(version)),
                "version 1.0.1, 1.0.2 or 1.0.3",
                "Dumps of other versions are not known; take the dump with jcmd",
            ));
        }
        let at = cursor.at as u64;
        let id_size = cursor.u32().ok_or_else(cut)? as usize;
        if id_size != 4 && id_size != 8 {
            return Err(wrong(
                at,
                format!("ids of {id_size} bytes"),
                "ids of 4 or 8 bytes",
                "The file is damaged: take it again",
            ));
        }
        let millis = cursor.u64().ok_or_else(cut)?;
        Ok(DumpHeader { id_size, millis, end: cursor.at, android: version == b'3' })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_headers_are_named_with_a_remedy() {
        let good = [b"JAVA PROFILE 1.0.2\0" as &[u8], &8u32.to_be_bytes(), &7u64.to_be_bytes()].concat();
        let header = DumpHeader::read(Path::new("a"), &good).expect("a header");
        assert_eq!(header, DumpHeader { id_size: 8, millis: 7, end: 31, android: false });
        for (bytes, part) in [
            (&b""[..], "an empty file"),
            (b"PK\x03\x04 a zip file", "expected `JAVA PROFILE"),
            (b"JAVA PROFILE 1.0.9\0", "version 1.0.9"),
            (&good[..25], "the end of the file"),
            (b"JAVA PROFILE 1.0.2\0\0\0\0\x05\0\0\0\0\0\0\0\0", "ids of 5 bytes"),
        ] {
            let message = DumpHeader::read(Path::new("a"), bytes).expect_err("no header").to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
