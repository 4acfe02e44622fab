//! Any bytes as an AntTracks run: an error or a heap that answers every question, never a panic, a hang or a runaway
//! allocation. The first four bytes say how many of the rest are the symbols; the others are the trace.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_city_formats::anttracks::{AntTracks, TraceFiles};
use memory_city_formats::event::{Decoder, Step};
use memory_city_formats::replay::Replay;
use memory_city_heap::input::Input;
use std::path::Path;
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return };
    let (symbols, trace) = rest.split_at((u32::from_le_bytes(*length) as usize).min(rest.len()));
    let input = |name: &str, bytes: &[u8]| Input::from_bytes(Path::new(name), bytes.to_vec());
    let Ok(files) = TraceFiles::new(input("symbols", symbols), vec![input("trace", trace)]) else { return };
    let files = Arc::new(files);
    let mut decoder = AntTracks::new(Arc::clone(&files));
    let mut replay = Replay::new(Arc::clone(files.program()), ());
    while let Ok(Step::More) = decoder.step(&mut replay) {}
    // In the middle of a GC there is no state to show.
    if replay.is_collecting() {
        return;
    }
    let heap = replay.state();
    assert_eq!(heap.object_count() as u64, replay.live());
    for o in heap.objects() {
        heap.facts(o);
        assert_eq!(heap.address(o).and_then(|a| heap.object_at(a)), Some(o));
        for &target in heap.references(o) {
            assert!((target.0 as usize) < heap.object_count());
        }
    }
    heap.totals();
});
