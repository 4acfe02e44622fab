//! Any bytes as a heap dump: an error or a heap that answers every question, never a panic, a hang or a runaway allocation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_city_analysis::group::{self, GroupOptions};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let input = Input::from_bytes(Path::new("fuzz.hprof"), bytes.to_vec());
    let progress = Progress::new();
    let _ = hprof::histogram(&input, &progress);
    if let Ok(heap) = hprof::load(&input, &progress) {
        for o in heap.objects() {
            heap.size_of(o);
            heap.array_length(o);
            assert_eq!(heap.address(o).and_then(|a| heap.object_at(a)), Some(o));
            for &r in heap.references(o) {
                assert!((r.0 as usize) < heap.object_count());
            }
        }
        heap.totals();
        for grouping in group::groupings() {
            let _ = group::group(
                &heap,
                &grouping,
                GroupOptions { include_unreachable: true, ..GroupOptions::default() },
                &progress,
            );
        }
    }
});
