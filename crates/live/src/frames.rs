//! The bytes of a WebSocket, frame by frame. Memory of a message is counted as it comes, and the next frame is handed on only when this one
//! is done. So between two messages the protocol's buffers are empty, and large ones can be freed at once.
//!
//! Frames are not checked here: the WebSocket code behind finds their errors.

use super::allowance::Allowance;
use super::memory::{HeldMemory, SMALL};
use super::stream::Overrun;
use memory_city_analysis::timeline::json::Grant;
use std::io::{self, Cursor, Read};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Data, OpCode};

/// Follows the frames of a stream that starts with one.
pub(super) struct Frames {
    buffer: Box<[u8]>,
    /// Start of the bytes that were not handed on yet.
    start: usize,
    end: usize,
    /// The header of the frame that begins, as far as it is there.
    head: [u8; 14],
    head_len: usize,
    /// Bytes of the frame that are to come.
    left: u64,
    /// True if the frame is part of a message, rather than a ping or its like.
    data: bool,
    /// How often the bytes of the message exist while it is put together.
    copies: u64,
    /// Bytes of the message so far.
    message: u64,
    /// Whether a part of a message has come, be it empty.
    within: bool,
    held: HeldMemory,
    /// Frames without content that may come: each takes as long as a message, and no number of them makes a large one.
    empty: Allowance,
}

/// Bytes read at a time.
const BUFFER: usize = 32 << 10;

impl Frames {
    /// Counts incoming bytes in `held`. Frames without content count as messages, limited to so many per second.
    pub fn new(held: HeldMemory, messages_per_second: u32) -> Frames {
        Frames {
            buffer: vec![0; BUFFER].into(),
            start: 0,
            end: 0,
            head: [0; 14],
            head_len: 0,
            left: 0,
            data: false,
            copies: 1,
            message: 0,
            within: false,
            held,
            empty: Allowance::new(messages_per_second),
        }
    }

    /// Hands on bytes, at most to the end of a frame; reads more when there are none.
    ///
    /// # Errors
    /// Reads from `from`; [`io::ErrorKind::OutOfMemory`] if there is no room for the bytes; [`Overrun`] if too many frames are empty.
    pub fn read(&mut self, from: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, from.read(&mut self.buffer)?);
        }
        let mut n = 0;
        while n < out.len() && self.start < self.end {
            if self.left == 0 {
                out[n] = self.buffer[self.start];
                self.start += 1;
                self.begin(out[n])?;
                n += 1;
                if self.head_len == 0 && self.left == 0 {
                    break;
                }
                continue;
            }
            let part = (out.len() - n).min(self.end - self.start);
            let part = usize::try_from(self.left).map_or(part, |left| left.min(part));
            self.count(part as u64)?;
            out[n..n + part].copy_from_slice(&self.buffer[self.start..self.start + part]);
            self.start += part;
            self.left -= part as u64;
            n += part;
            if self.left == 0 {
                break;
            }
        }
        Ok(n)
    }

    /// The next byte of a header.
    fn begin(&mut self, byte: u8) -> io::Result<()> {
        self.head[self.head_len] = byte;
        self.head_len += 1;
        let parsed = FrameHeader::parse(&mut Cursor::new(&self.head[..self.head_len]));
        let (header, length) = match parsed {
            Ok(None) if self.head_len < self.head.len() => return Ok(()),
            Ok(Some(parsed)) => parsed,
            // No frame at all: whoever reads it ends the connection.
            _ => (FrameHeader::default(), u64::MAX),
        };
        self.head_len = 0;
        self.left = length;
        self.data = !matches!(header.opcode, OpCode::Control(_));
        if self.data && self.message == 0 {
            // Of several frames one text is made, which grows by doubling beside the frame that is joined to it.
            let alone = header.is_final && header.opcode != OpCode::Data(Data::Continue);
            self.copies = if alone { 1 } else { 4 };
        }
        self.within |= self.data;
        if self.data && length == 0 && !self.empty.take() {
            return Err(io::Error::other(Overrun::EmptyFrames(self.empty.per_second())));
        }
        Ok(())
    }

    fn count(&mut self, bytes: u64) -> io::Result<()> {
        if !self.data {
            return Ok(());
        }
        self.message += bytes;
        let needed = (self.message * self.copies).saturating_sub(SMALL as u64);
        match needed.saturating_sub(self.held.bytes()) {
            0 => Ok(()),
            missing if self.held.more(missing) => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::OutOfMemory, "there is no room for the message")),
        }
    }

    /// Bytes of the message so far.
    pub fn message_bytes(&self) -> u64 {
        self.message
    }

    /// Whether a part of a message has come that is not done.
    pub fn is_within_message(&self) -> bool {
        self.within
    }

    /// The message is done, and nothing of it is kept.
    pub fn done(&mut self) {
        self.held.shrink_to(0);
        self.message = 0;
        self.within = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Ledger;

    fn frame(opcode: OpCode, last: bool, payload: &[u8]) -> Vec<u8> {
        let header = FrameHeader { opcode, is_final: last, mask: Some([1, 2, 3, 4]), ..FrameHeader::default() };
        let mut bytes = Vec::new();
        header.format(payload.len() as u64, &mut bytes).expect("a header");
        bytes.extend_from_slice(payload);
        bytes
    }

    proptest::proptest! {
        /// For any sizes, the same bytes come out, and never beyond the end of a frame at once.
        #[test]
        fn frames_come_one_by_one(
            lengths in proptest::collection::vec(0..70_000usize, 1..6), room in 1..5000usize,
        ) {
            let frames: Vec<Vec<u8>> =
                lengths.iter().map(|&n| frame(OpCode::Data(Data::Text), true, &vec![7; n])).collect();
            let all = frames.concat();
            let mut from = &all[..];
            let ledger = Ledger::new(1 << 30);
            let mut reader = Frames::new(HeldMemory::none(&ledger), 100);
            let mut out = vec![0; room];
            for whole in &frames {
                let mut got = Vec::new();
                while got.len() < whole.len() {
                    let n = reader.read(&mut from, &mut out).expect("bytes");
                    got.extend_from_slice(&out[..n]);
                }
                proptest::prop_assert_eq!(&got, whole);
                let header = if whole.len() < 126 + 6 { 6 } else if whole.len() < 65_536 + 8 { 8 } else { 14 };
                let payload = (whole.len() - header) as u64;
                proptest::prop_assert_eq!(ledger.taken(), payload.saturating_sub(SMALL as u64));
                proptest::prop_assert_eq!(reader.message_bytes(), payload);
                reader.done();
                proptest::prop_assert_eq!(ledger.taken(), 0);
            }
        }
    }

    #[test]
    fn messages_beyond_the_limit_are_not_read() {
        let ledger = Ledger::new(1 << 20);
        for (parts, fits) in [(vec![1 << 20], true), (vec![1 << 21], false), (vec![200_000; 2], false)] {
            let mut all = Vec::new();
            for (i, &n) in parts.iter().enumerate() {
                let opcode = OpCode::Data(if i == 0 { Data::Text } else { Data::Continue });
                all.extend(frame(opcode, i + 1 == parts.len(), &vec![7; n]));
            }
            let mut from = &all[..];
            let mut reader = Frames::new(HeldMemory::none(&ledger), 100);
            let mut out = vec![0; 10_000];
            let failed = loop {
                match reader.read(&mut from, &mut out) {
                    Ok(0) => break None,
                    Ok(_) => {}
                    Err(error) => break Some(error.kind()),
                }
            };
            assert_eq!(failed, (!fits).then_some(io::ErrorKind::OutOfMemory));
            assert!(ledger.taken() <= 1 << 20);
        }
    }
}
