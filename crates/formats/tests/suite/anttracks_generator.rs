//! The trace generator against a reader written to be obviously right, and its words and compression one by one.

use memory_city_testing::anttracks::{Allocation, Allocator, Buffer, Collector, Pointers, Spec, compress, generate};
use memory_city_testing::naive_anttracks;
use memory_city_testing::naive_anttracks::decompress;
use std::collections::HashSet;

/// Generates and replays; the event types that came up.
fn check(spec: &Spec) -> HashSet<u32> {
    let mut trace = Vec::new();
    let generated = generate(spec, &mut trace).unwrap();
    naive_anttracks::check(spec, &trace, &generated)
}

fn specs(collector: Collector) -> HashSet<u32> {
    let mut seen = HashSet::new();
    for seed in 0..12 {
        for pointers in [false, true] {
            let spec = Spec {
                seed,
                collector,
                pointers,
                compressed: seed % 3 == 1,
                threads: 1 + seed as u32 % 5,
                full_gc_every: [4, 0, 3, 7, 1][seed as usize % 5],
                live_objects: [2000, 300, 9000][seed as usize % 3],
                gcs: 20,
                ..Spec::default()
            };
            seen.extend(check(&spec));
        }
    }
    seen
}

#[test]
fn parallel() {
    let seen = specs(Collector::Parallel);
    let missing: Vec<u32> = [0, 2, 3, 4, 6, 7, 9, 11, 12, 13, 14]
        .into_iter()
        .chain(15..36)
        .chain(39..47)
        .filter(|e| !seen.contains(e))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn g1() {
    let seen = specs(Collector::G1);
    let missing: Vec<u32> = [0, 2, 3, 4, 6, 7, 8, 11, 12, 13, 14]
        .into_iter()
        .chain(15..36)
        .chain(39..44)
        .chain([46])
        .filter(|e| !seen.contains(e))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn same_seed_same_bytes() {
    for collector in [Collector::Parallel, Collector::G1] {
        let bytes = |spec: &Spec| {
            let mut trace = Vec::new();
            let generated = generate(spec, &mut trace).unwrap();
            (trace, generated.symbols, generated.answers)
        };
        let spec = Spec { collector, ..Spec::default() };
        let first = bytes(&spec);
        assert!(first == bytes(&spec));
        // Asking for answers changes nothing else.
        let silent = bytes(&Spec { answers: false, ..spec.clone() });
        assert!((&first.0, &first.1) == (&silent.0, &silent.1));
        assert!(silent.2.is_empty());
        let other = bytes(&Spec { seed: 2, ..spec.clone() });
        assert!(other.0 != first.0);
    }
}

#[test]
fn sizes_are_kept() {
    for collector in [Collector::Parallel, Collector::G1] {
        for full_gc_every in [0, 5] {
            let spec = Spec {
                collector,
                full_gc_every,
                live_objects: 5000,
                allocations_per_gc: 3000,
                gcs: 400,
                answers: false,
                ..Spec::default()
            };
            let generated = generate(&spec, &mut std::io::sink()).unwrap();
            assert_eq!(generated.gc_ends.len(), 400);
            assert!(generated.events > 400 * 3000);
            assert!((3500..13_000).contains(&generated.live), "{collector:?} {full_gc_every}: {}", generated.live);
            let spec = Spec { stop_at_bytes: Some(300_000), ..spec };
            let generated = generate(&spec, &mut std::io::sink()).unwrap();
            let end = generated.buffer_ends.last().unwrap();
            assert!((300_000..700_000).contains(end), "{end}");
        }
    }
}

#[test]
fn odd_specs() {
    let base = Spec { gcs: 9, full_gc_every: 3, ..Spec::default() };
    for collector in [Collector::Parallel, Collector::G1] {
        let base = Spec { collector, ..base.clone() };
        for spec in [
            Spec { allocations_per_gc: 1, ..base.clone() },
            Spec { allocations_per_gc: 0, live_objects: 0, ..base.clone() },
            Spec { survivors_percent: 0, live_objects: 0, ..base.clone() },
            Spec { survivors_percent: 100, ..base.clone() },
            Spec { survivors_percent: 100, full_gc_every: 0, gcs: 40, ..base.clone() },
            Spec { threads: 0, types: 0, sites: 0, ..base.clone() },
            Spec { threads: 40, types: 900, sites: 3000, gcs: 40, ..base.clone() },
            Spec { live_objects: 60_000, allocations_per_gc: 30_000, ..base.clone() },
            Spec { pointers: false, live_objects: 60_000, allocations_per_gc: 30_000, ..base.clone() },
        ] {
            check(&spec);
        }
    }
    let none = Spec { gcs: 0, ..base };
    let mut trace = Vec::new();
    assert!(generate(&none, &mut trace).unwrap().answers.is_empty());
}

#[test]
fn pointer_words() {
    let mut buffer = Buffer::new(1, 0);
    let targets = [0x1000, 0, 0x1010, 0x7_0000_0000, 0x1000];
    buffer.kept_with_pointers(0x2000, &Pointers { targets: &targets, absolute: 0 });
    assert_eq!(buffer.words[0], 42 << 26 | 0b01_11_01_10_10 << 14);
    assert_eq!(buffer.words[1..3], [0x2000, 0]);
    assert_eq!(buffer.words[3..5], [0x200, (-2i32) as u32]);
    assert_eq!(buffer.words[5..], [0, 7, 0x1000, 0]);
    let mut buffer = Buffer::new(1, 0);
    buffer.cross_pointers(0x2000, &Pointers { targets: &[0; 13], absolute: 0 });
    assert_eq!(buffer.words, [46 << 26 | 0xFF_FFFF, 0x2000, 0, 46 << 26 | 0xC0_0000, 0x2000, 0]);
}

#[test]
fn allocation_words() {
    let mut buffer = Buffer::new(1, 0);
    let what = Allocation { site: 1, length: Some(255), type_id: Some(7), mirror: None };
    buffer.allocate_slow(Allocator::Vm, 0x8_0000_0010, &what);
    buffer.allocate_fast(Allocator::C2, &Allocation { site: 0x80_000D, ..Allocation::default() });
    assert_eq!(buffer.words, [15 << 26 | 1 << 8 | 255, 0x10, 8, 255, 7, 28 << 26 | 0x80_000D]);
}

#[test]
fn thread_names() {
    let mut buffer = Buffer::new(1, 0);
    buffer.thread_alive(3, 0x10, "main");
    assert_eq!(buffer.words, [11 << 26 | 3 << 8, 0x10, 0, 0x6D61_696E, 0]);
}

fn round_trip(bytes: &[u8]) -> usize {
    let packed = compress(bytes);
    assert_eq!(decompress(&packed), Some((bytes.to_vec(), 0)));
    packed.len()
}

#[test]
fn round_trips() {
    round_trip(b"");
    round_trip(b"\0");
    round_trip(b"\xff");
    round_trip(b"\xff\xff\xff\xff\0\0\0\0\0");
    round_trip(&[255; 10_000]);
    round_trip(&[0; 100_000]);
    let mut state = 1u64;
    let mut noise = Vec::new();
    for _ in 0..200_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        noise.push((state >> 56) as u8);
    }
    for length in [1, 2, 3, 255, 256, 257, 1000, 50_000, 200_000] {
        round_trip(&noise[..length]);
    }
    let text: Vec<u8> = (0..100_000u32).flat_map(|i| (i % 97).to_le_bytes()).collect();
    assert!(round_trip(&text) * 7 < text.len());
}

#[test]
fn reads_buffers_of_the_vm() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/anttracks/churn-par-comp/trace.zst");
    let trace = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    let word = |at: usize| u32::from_le_bytes(trace[at..at + 4].try_into().unwrap());
    let (mut at, mut count) = (8 + 4 * word(4) as usize + 8, 0);
    while at < trace.len() {
        let meta = word(at + 8);
        let data = &trace[at + 12..at + 12 + (meta & 0x1FFF_FFFF) as usize];
        at += 12 + data.len();
        if meta >> 31 == 1 {
            let (bytes, left) = decompress(data).unwrap();
            assert_eq!((bytes.len() % 4, left), (0, 0));
            round_trip(&bytes);
            // The VM's compressor widens at other moments, so bytes may differ, but hardly their number.
            assert!(compress(&bytes).len().abs_diff(data.len()) < 8);
            count += 1;
        }
    }
    assert!(count > 100);
}
