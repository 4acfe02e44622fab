//! Any bytes as a recording: an error, or heaps that answer every question. Checksums are made right first: what is behind
//! them is what must stand everything. The bytes are chunks without header: kind, flags, length in two bytes, payload.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_city_formats::wire;
use memory_city_heap::progress::Progress;
use memory_city_wire::PartHeader;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    // As they are, too.
    let _ = wire::open_bytes(Path::new("fuzz.mcity"), bytes.to_vec());
    let header = PartHeader { recording: [7; 16], stream: 0, part: 0 };
    let mut file = header.to_bytes().to_vec();
    let mut rest = bytes;
    let mut number = 0u64;
    while let Some((&[kind, flags, low, high], after)) = rest.split_first_chunk::<4>() {
        let (payload, after) = after.split_at(usize::from(u16::from_le_bytes([low, high])).min(after.len()));
        rest = after;
        let packed = flags & 1;
        // What it unpacks to, where it says so; otherwise as much as it likes.
        let plain = if packed == 0 { payload.len() as u32 } else { 1 << 16 };
        let mut chunk = b"\x93CHK".to_vec();
        chunk.extend(u16::from(kind).to_le_bytes());
        // Of another stream, where the flags say one.
        chunk.extend([if flags > 1 { 129 } else { 1 }, flags]);
        chunk.extend(number.to_le_bytes());
        chunk.extend((payload.len() as u32).to_le_bytes());
        chunk.extend(plain.to_le_bytes());
        chunk.extend(crc32fast::hash(payload).to_le_bytes());
        let sum = crc32fast::hash(&[&header.recording[..], &chunk].concat());
        chunk.extend(sum.to_le_bytes());
        file.extend(chunk);
        file.extend(payload);
        number += 1;
    }
    let Ok(series) = wire::open_bytes(Path::new("fuzz.mcity"), file) else { return };
    let points: Vec<usize> = (0..series.points().len().min(4)).collect();
    if let Ok(Some(sampled)) = series.sampled(&points, &Progress::new()) {
        for (at, alive) in sampled.alive.iter().enumerate() {
            assert!(alive.iter().all(|object| (object.group as usize) < sampled.groups.len()));
            assert_eq!(sampled.alive_by_group(at).len(), sampled.groups.len());
        }
        assert!(sampled.groups.iter().all(|group| (group.site as usize) < sampled.sites.len()));
    }
    if let Some(counts) = series.class_counts() {
        assert!(counts.classes.iter().flat_map(|of| &of.changes).all(|(at, _)| (*at as usize) < counts.moments.len()));
    }
    let _ = series.gc_history(&Progress::new());
    let _ = series.lives();
    for index in 0..series.points().len().min(4) {
        let Ok(heap) = series.load(index, &Progress::new()) else { continue };
        for o in heap.objects() {
            heap.facts(o);
            heap.size_of(o);
            for &target in heap.references(o) {
                assert!((target.0 as usize) < heap.object_count());
            }
        }
        heap.roots().iter().for_each(|root| assert!((root.object.0 as usize) < heap.object_count()));
        heap.totals();
    }
});
