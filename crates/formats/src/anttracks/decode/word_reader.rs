//! Reader of the words of a buffer, one after the other.

/// A fault in a buffer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It says something it cannot mean.
    Wrong {
        /// Where, in words of the buffer.
        word: usize,
        /// The content found.
        found: String,
        /// The expected content.
        expected: String,
    },
    /// The sink refused.
    Refused(memory_city_heap::error::Error),
}

impl From<memory_city_heap::error::Error> for Fault {
    fn from(error: memory_city_heap::error::Error) -> Self {
        Fault::Refused(error)
    }
}

pub(super) struct Words<'a> {
    pub(super) bytes: &'a [[u8; 4]],
    pub(super) at: usize,
}

impl Words<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> std::result::Result<u32, Fault> {
        match self.bytes.get(self.at) {
            Some(bytes) => {
                self.at += 1;
                Ok(u32::from_le_bytes(*bytes))
            }
            None => Err(self.wrong("the end of the buffer", "the rest of the event")),
        }
    }

    #[inline]
    pub(super) fn address(&mut self) -> std::result::Result<u64, Fault> {
        Ok(u64::from(self.next()?) | u64::from(self.next()?) << 32)
    }

    #[cold]
    pub(super) fn wrong(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::Wrong { word: self.at, found: found.into(), expected: expected.into() }
    }
}

/// Four characters a word, the first in the top byte, up to 48, zero-terminated.
pub(super) fn thread_name(words: &mut Words<'_>) -> std::result::Result<String, Fault> {
    let mut name = Vec::new();
    while name.len() < 48 {
        let four = words.next()?.to_be_bytes();
        let end = four.iter().position(|&b| b == 0);
        name.extend_from_slice(&four[..end.unwrap_or(4)]);
        if end.is_some() {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&name).into_owned())
}
