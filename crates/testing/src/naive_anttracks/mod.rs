//! A reader of AntTracks traces in the plainest way: sorted maps of whole objects, no shortcut. It shares nothing with the
//! reader under test. Slow and strict: anything unexpected panics.
#![allow(clippy::unwrap_used, reason = "a test oracle stops at the first surprise")]

mod replay;
mod symbols;
mod unpack;

use crate::anttracks::{Generated, HEADER_WORDS, Spec};
use replay::Replay;
use std::collections::HashSet;
use symbols::{Bytes, read_symbols};
pub use unpack::decompress;

/// Replays a trace and compares what comes out with the answers of the generator, GC by GC. The event types that came
/// up.
pub fn check(spec: &Spec, trace: &[u8], generated: &Generated) -> HashSet<u32> {
    let mut replay = Replay::new(read_symbols(&generated.symbols, spec.pointers));
    let mut bytes = Bytes(trace, 0);
    assert_eq!(bytes.u32(), 0xC0FFEE);
    bytes.1 += 4 * bytes.u32() as usize;
    assert_eq!((bytes.u32(), bytes.u32()), (1, 0));
    assert_eq!(trace[8..8 + HEADER_WORDS * 4], generated.symbols[8..8 + HEADER_WORDS * 4]);
    let mut answers = generated.answers.iter();
    let (mut ends, mut compressed) = (Vec::new(), 0);
    while bytes.1 < trace.len() {
        let owner = u64::from(bytes.u32()) | u64::from(bytes.u32()) << 32;
        let meta = bytes.u32();
        let data = &trace[bytes.1..bytes.1 + (meta & 0x1FFF_FFFF) as usize];
        bytes.1 += data.len();
        ends.push(bytes.1 as u64);
        let plain = if meta >> 31 == 1 {
            assert_eq!(meta >> 29 & 3, 0);
            compressed += 1;
            decompress(data).unwrap().0
        } else {
            data.to_vec()
        };
        let words: Vec<u32> = plain.chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect();
        replay.buffer(owner, &words, &mut answers);
    }
    assert!(answers.next().is_none());
    assert_eq!(ends, generated.buffer_ends);
    assert_eq!(generated.answers.len(), generated.gc_ends.len());
    assert!(generated.gc_ends.iter().all(|end| ends.contains(end)));
    assert_eq!(replay.events, generated.events);
    assert_eq!(replay.references, generated.references);
    assert_eq!(compressed > 0, spec.compressed);
    replay.seen_events
}
