//! Files that users often pass in place of a dump: their kind, and the way out.

use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use std::path::Path;

/// A kind of file that is read by nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The kind, with its article: `a zip archive`.
    pub is: &'static str,
    /// The user's way out, a sentence without its full stop.
    pub remedy: &'static str,
}

impl Foreign {
    /// The error of a file that is one.
    pub(crate) fn error(self, path: &Path) -> Error {
        Error::Unusable { what: format!("{} is {}", path.display(), self.is), remedy: self.remedy.to_owned() }
    }
}

/// Bytes that are inspected.
const LOOKED_AT: usize = 4096;

const UNPACK: &str = "Unpack it, and open what is in it";
const TAKE: &str = "Take a heap dump, with jcmd PID GC.heap_dump FILE";
const AGAIN: &str = "Copy it again byte by byte (kubectl cp, scp, curl -o FILE): what is lost cannot be put back";

/// Kinds by the first bytes of a file.
const STARTS: &[(&[u8], &str, &str)] = &[
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"PK\x05\x06", "an empty zip archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a rar archive", UNPACK),
    (b"\xfd7zXZ\0", "packed with xz", "Unpack it (unxz FILE), and open the dump; gzip and zstd are read as they are"),
    (b"BZh", "packed with bzip2", "Unpack it (bunzip2 FILE), and open the dump; gzip and zstd are read as they are"),
    (
        b"\x04\x22\x4d\x18",
        "packed with lz4",
        "Unpack it (unlz4 FILE), and open the dump; gzip and zstd are read as they are",
    ),
    (b"LZIP", "packed with lzip", "Unpack it (lzip -d FILE), and open the dump; gzip and zstd are read as they are"),
    (
        b"\0\x12portable heap dump",
        "a portable heap dump (PHD) of an OpenJ9 JVM, a format that is not read",
        "Run the program on a HotSpot JVM (OpenJDK, Temurin), and take a heap dump there, with jcmd PID GC.heap_dump FILE",
    ),
    (b"FLR\0", "a recording of Java Flight Recorder, which holds events and no heap", TAKE),
    (b"MDMP", "a minidump of Windows", TAKE),
    (b"PAGEDU", "a crash dump of Windows", TAKE),
    (b"\xcf\xfa\xed\xfe", "a program or core file of macOS", TAKE),
    (b"Nettrace", "a trace of .NET, which is not read", TAKE),
    (b"SkFWQSBQUk9GSUxF", "a heap dump in base64", "Decode it (base64 -d FILE > FILE.hprof), and open that"),
    (
        b"\xff\xfeJ\0A\0V\0A\0 \0P\0R\0O\0F\0",
        "a heap dump that was written as text of two bytes a character, as PowerShell does with > and |",
        "Download it again into a file (curl.exe -o FILE, Invoke-WebRequest -OutFile FILE): what is lost cannot be put back",
    ),
    (b"\xef\xbb\xbfJAVA PROFILE", "a heap dump that was read as text and written again", AGAIN),
    (
        b"JAVA PROFILE 1.0.1, created",
        "a dump of the old hprof agent as text, which is not read",
        "Have the agent write its binary form (-agentlib:hprof=heap=dump,format=b,file=FILE), or take a dump with jcmd PID GC.heap_dump FILE",
    ),
];

/// Kinds by texts at the beginning of the first lines, or in them.
const TEXTS: &[(&str, &str, &str)] = &[
    ("Full thread dump", "a thread dump, which holds stacks and no heap", TAKE),
    (
        "# A fatal error has been detected by the Java Runtime",
        "the log of a JVM that crashed, which holds no heap",
        TAKE,
    ),
    ("#instances         #bytes", "a class histogram as text, which counts classes and holds no objects", TAKE),
    ("[info][gc", "a log of garbage collections, which holds no objects", TAKE),
    (
        "{\"snapshot\":{\"meta\"",
        "a heap snapshot of V8 (Node.js, Chrome), which is not read",
        "Open it in the browser's developer tools",
    ),
    ("JAVA PROFILE 1.0.1, created", "a dump of the old hprof agent as text, which is not read", TAKE),
];

const PAGE: Foreign = Foreign {
    is: "a web page, not a heap dump: a server answered with it in place of the dump, to ask for a sign-in or to say that something went wrong",
    remedy: "Open it in a browser to see what it says, and download the dump again (curl -u USER -o heap.hprof URL/actuator/heapdump)",
};

const ANSWER: Foreign = Foreign {
    is: "an answer of a server in JSON that reports an error, not a heap dump",
    remedy: "See what it says, and download the dump again (curl -u USER -o heap.hprof URL/actuator/heapdump)",
};

const OPENJ9_TEXT: Foreign = Foreign {
    is: "a heap dump of an OpenJ9 JVM as text, a format that is not read",
    remedy: "Run the program on a HotSpot JVM (OpenJDK, Temurin), and take a heap dump there, with jcmd PID GC.heap_dump FILE",
};

const CORE: Foreign = Foreign {
    is: "a core file",
    remedy: "Make a heap dump of it, with the JDK that the program ran on: jhsdb jmap --binaryheap --dumpfile FILE.hprof --exe JAVA_HOME/bin/java --core FILE",
};

const PROGRAM: Foreign = Foreign {
    is: "a program, a library or a core file that is damaged (ELF), not a heap dump",
    remedy: "Take a heap dump, with jcmd PID GC.heap_dump FILE; of a core file, jhsdb jmap --binaryheap makes one",
};

const ZEROS: Foreign = Foreign {
    is: "nothing but zeros: its contents were never written, as when a disk is full",
    remedy: "Take the dump again, on a disk with room for it",
};

const TEXT_MODE: Foreign = Foreign {
    is: "a heap dump that was copied in text mode: each line feed in it became two bytes (kubectl exec -t, FTP)",
    remedy: AGAIN,
};

const AS_TEXT: Foreign = Foreign { is: "a heap dump that was read as text and written again", remedy: AGAIN };

/// Refuses a file of a kind that is known and not read.
///
/// # Errors
/// With a sentence that says what it is and what to do; or when it cannot be read.
pub fn refuse_foreign(path: &Path) -> Result<()> {
    match foreign(path)? {
        Some(known) => Err(known.error(path)),
        None => Ok(()),
    }
}

/// The kind of a file, if it is a known one that cannot be read.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn foreign(path: &Path) -> Result<Option<Foreign>> {
    Ok(of_start(&Input::peek(path, LOOKED_AT)?))
}

fn of_start(start: &[u8]) -> Option<Foreign> {
    if let Some(&(_, is, remedy)) = STARTS.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Some(Foreign { is, remedy });
    }
    if start.get(257..262) == Some(b"ustar") {
        return Some(Foreign { is: "a tar archive", remedy: UNPACK });
    }
    // The type of an ELF file, in its byte order: 4 is a core.
    if start.starts_with(b"\x7fELF")
        && let Some(of) = start.get(16..18)
    {
        return Some(if of == [4, 0] || of == [0, 4] { CORE } else { PROGRAM });
    }
    if !start.is_empty() && start.iter().all(|&b| b == 0) {
        return Some(ZEROS);
    }
    of_text(String::from_utf8_lossy(start).trim_start_matches('\u{feff}').trim_start())
}

fn of_text(text: &str) -> Option<Foreign> {
    let begins = |with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    if begins("<!doctype html") || begins("<html") {
        return Some(PAGE);
    }
    if text.starts_with("// Version:") && text.contains("\n0x") {
        return Some(OPENJ9_TEXT);
    }
    let has = |key: &str| text.contains(key);
    // Memory trees in JSON may have groups of any name.
    let is_answer = text.starts_with('{') && has("\"status\":") && (has("\"error\":") || has("\"message\":"));
    if is_answer && !has("\"tree\"") && !has("\"children\"") {
        return Some(ANSWER);
    }
    let head = text.lines().take(40);
    let found = head.flat_map(|line| TEXTS.iter().filter(|(part, ..)| line.contains(part))).next();
    found.map(|&(_, is, remedy)| Foreign { is, remedy })
}

/// Bytes of a dump that tell whether it is still one.
const SAMPLE: usize = 64 << 10;
/// Line feeds are looked for in more: a dump that is none the worse has others among the first.
const LINES: usize = 4 << 20;
/// So many signs of damage are none by chance.
const SIGNS: usize = 16;

/// The damage of a dump that was treated as text.
pub(crate) fn damaged(bytes: &[u8]) -> Option<Foreign> {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let lines = &bytes[..bytes.len().min(LINES)];
    let mut feeds = lines.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at);
    let mut all = 0;
    let is_text = feeds.all(|at| {
        all += 1;
        at > 0 && lines[at - 1] == b'\r'
    });
    if is_text && all >= SIGNS {
        return Some(TEXT_MODE);
    }
    let text = match str::from_utf8(sample) {
        Ok(text) => text,
        // A character may be cut in two at the end.
        Err(error) if error.valid_up_to() + 4 > sample.len() => {
            str::from_utf8(&sample[..error.valid_up_to()]).unwrap_or("")
        }
        Err(_) => return None,
    };
    let others = text.chars().filter(|c| !c.is_ascii());
    let (all, lost, latin) = others.fold((0, 0, 0), |(all, lost, latin), c| {
        (all + 1, lost + usize::from(c == char::REPLACEMENT_CHARACTER), latin + usize::from(c <= 'ÿ'))
    });
    // Ids and lengths are no UTF-8; names outside ASCII alone would be.
    (lost >= SIGNS || all >= 4 * SIGNS && latin == all).then_some(AS_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_hand_over_is_named() {
        let tar = [&[b'x'; 257][..], b"ustar\0"].concat();
        for (start, part) in [
            (&b"PK\x03\x04\x14\0"[..], "zip"),
            (b"\xfd7zXZ\0\0", "xz"),
            (b"BZh91AY", "bzip2"),
            (&tar, "tar"),
            (b"\0\x12portable heap dump\0", "PHD"),
            (b"FLR\0\0\x02", "Flight Recorder"),
            (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0", "core"),
            (b"\n<!DOCTYPE html>\n<html>", "web page"),
            (b"{\"timestamp\":\"2026\",\"status\":404,\"error\":\"Not Found\"}", "server"),
            (b"// Version: JRE 17\n0x000000070FDB1C00 [32] java/lang/String\n", "OpenJ9"),
            (b"JAVA PROFILE 1.0.1, created Thu Jan  1\n", "old hprof agent"),
            (b" num     #instances         #bytes  class name (module)\n", "class histogram"),
            (b"2026-01-01 12:00:00\nFull thread dump OpenJDK", "thread dump"),
            (b"SkFWQSBQUk9GSUxFIDEuMC4yAAAA", "base64"),
            (b"\xff\xfeJ\0A\0V\0A\0 \0P\0R\0O\0F\0I\0", "PowerShell"),
            (&[0; 100], "zeros"),
        ] {
            let found = of_start(start).unwrap_or_else(|| panic!("{part} is not known"));
            assert!(found.is.contains(part), "{part}: {found:?}");
            assert!(!found.remedy.ends_with('.') && found.remedy.len() > 20, "{found:?}");
        }
        let program = of_start(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0");
        assert_eq!(program, Some(PROGRAM));
        for unknown in [&b""[..], b"Dear diary", b"\x7fELF\x02\x01", b"{\"format\": 1}"] {
            assert_eq!(of_start(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn damage_by_text_modes_is_told_from_dumps() {
        let dump: Vec<u8> = b"JAVA PROFILE 1.0.2\0"
            .iter()
            .copied()
            .chain((0..60_000u32).flat_map(|i| i.wrapping_mul(0x9e37_79b9).to_be_bytes()))
            .collect();
        assert_eq!(damaged(&dump), None);
        let crlf: Vec<u8> = dump.iter().flat_map(|&b| if b == b'\n' { vec![b'\r', b'\n'] } else { vec![b] }).collect();
        assert_eq!(damaged(&crlf), Some(TEXT_MODE));
        assert_eq!(damaged(String::from_utf8_lossy(&dump).as_bytes()), Some(AS_TEXT));
        let latin: String = dump.iter().map(|&b| char::from(b)).collect();
        assert_eq!(damaged(latin.as_bytes()), Some(AS_TEXT));
        let names = "JAVA PROFILE 1.0.2\0\0\0\0\x08 数据缓存 内容 Größe ".repeat(40);
        assert_eq!(damaged(names.as_bytes()), None, "names may be of any language");
        assert_eq!(damaged(b"JAVA PROFILE 1.0.2\0"), None);
    }
}
