//! AntTracks runs that are incomplete, mixed up, rotated or damaged.

use memory_city_formats::anttracks::{AntTracks, AntTracksSource, TraceFiles, find_run};
use memory_city_formats::event::{Decoder, Step};
use memory_city_formats::recorded::{RecordedSeries, open_with_cache};
use memory_city_formats::replay::Replay;
use memory_city_formats::{self, HeapSeries};
use memory_city_heap::HeapState;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_testing::anttracks::{
    Allocation, Allocator, Buffer, Collector, EDEN, Generated, HEADER_WORDS, OLD, Spec, Symbols,
};
use memory_city_testing::anttracks::{TraceFile, generate};
use memory_city_testing::root;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn small(compressed: bool) -> (Vec<u8>, Generated) {
    let spec = Spec { seed: 3, compressed, gcs: 6, live_objects: 300, allocations_per_gc: 400, ..Spec::default() };
    let mut trace = Vec::new();
    let generated = generate(&spec, &mut trace).expect("written to memory");
    (trace, generated)
}

/// Files with these contents in a folder.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    folder
}

fn open(paths: &[PathBuf]) -> Result<RecordedSeries<AntTracksSource>> {
    let progress = Progress::new();
    let source = AntTracksSource::open(find_run(paths)?.expect("a run"), &progress)?;
    open_with_cache(source, None, &progress, &mut |_| {})
}

/// Replays files in memory to the end, or to the first error. The last state, GCs and warnings.
fn replay(symbols: Vec<u8>, trace: Vec<u8>) -> Result<(HeapState, u32, Vec<Warning>)> {
    let input = |name: &str, bytes| Input::from_bytes(Path::new(name), bytes);
    let files = Arc::new(TraceFiles::new(input("symbols", symbols), vec![input("trace", trace)])?);
    let mut decoder = AntTracks::new(Arc::clone(&files));
    let mut replay = Replay::new(Arc::clone(files.program()), ());
    while decoder.step(&mut replay)? == Step::More {}
    Ok((replay.state(), replay.interval(), decoder.warnings()))
}

/// A trace that was cut off gives every GC up to the last whole buffer, and says what is missing.
#[test]
fn traces_cut_anywhere_open_up_to_the_last_whole_buffer() {
    for compressed in [false, true] {
        let (trace, generated) = small(compressed);
        let start = 4 * (HEADER_WORDS + 4);
        let ends: BTreeSet<usize> = generated.buffer_ends.iter().map(|&e| e as usize).chain([start]).collect();
        let near = ends.iter().flat_map(|&e| [e.saturating_sub(1), e, e + 1, e + 5, e + 11, e + 12, e + 13]);
        for cut in near.filter(|&c| (start..=trace.len()).contains(&c)) {
            let (_, gcs, warnings) = replay(generated.symbols.clone(), trace[..cut].to_vec()).expect("readable");
            let expected = generated.gc_ends.iter().filter(|&&end| end as usize <= cut).count();
            assert_eq!(gcs as usize, expected, "cut at {cut}");
            assert_eq!(warnings.len(), usize::from(!ends.contains(&cut)), "cut at {cut}: {warnings:?}");
        }
        for cut in 0..start {
            let error = replay(generated.symbols.clone(), trace[..cut].to_vec()).map(|_| ()).expect_err("no header");
            assert!(cut < 8 || error.to_string().contains("trace"), "{error}");
        }
    }
}

#[test]
fn symbols_cut_anywhere_are_an_error_or_a_warning() {
    let (trace, generated) = small(false);
    for cut in (0..generated.symbols.len()).step_by(7) {
        match replay(generated.symbols[..cut].to_vec(), trace.clone()) {
            Ok((_, _, warnings)) => {
                assert!(warnings.iter().any(|w| w.message.contains("symbols end")), "cut at {cut}: {warnings:?}");
            }
            // What the trace refers to is not there, or there is no header.
            Err(error) => assert!(matches!(error, Error::Format { .. } | Error::Unusable { .. }), "{error}"),
        }
    }
}

/// A frame takes six bytes in the file and many in memory: a chain of calls that no program has is refused before it is kept.
#[test]
fn chains_of_calls_without_end_are_refused() {
    let (trace, generated) = small(false);
    // A site (42) with a small id, and so many frames of an empty method.
    for (frames, is_read) in [(1_000u32, true), (1 << 20, false)] {
        let chain = b")I\0\0\0\0".repeat(frames as usize);
        let site = [&[42, 0xff, 0x0f][..], &frames.to_le_bytes(), &chain, &[1, 0, 0, 0]].concat();
        let read = replay([&generated.symbols[..], &site].concat(), trace.clone()).map(|_| ());
        assert_eq!(read.is_ok(), is_read, "{frames}: {read:?}");
        if let Err(error) = read {
            assert!(error.to_string().contains("a site of very many frames"), "{error}");
        }
    }
}

#[test]
fn what_is_wrong_with_the_files_is_said() {
    let (trace, generated) = small(false);
    let symbols = &generated.symbols[..];
    let other_spec = Spec { seed: 4, gcs: 2, live_objects: 50, allocations_per_gc: 50, ..Spec::default() };
    let mut other_trace = Vec::new();
    let other = generate(&other_spec, &mut other_trace).expect("written to memory");
    let dump = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0";
    let cut_gc = generated.gc_ends[0] as usize;
    let mut wrong_event = trace.clone();
    // The first word of the first buffer: an event of kind 63.
    let first = 4 * (HEADER_WORDS + 4) + 12;
    wrong_event[first..first + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    // A buffer whose compression leans on what buffers before it said: it begins with a code that is not its own.
    let mut shared_dictionary = small(true);
    let at = shared_dictionary
        .1
        .buffer_ends
        .iter()
        .map(|&end| end as usize)
        .find(|&at| shared_dictionary.0.get(at + 11).is_some_and(|meta| meta & 0x80 != 0));
    let content = at.expect("a compressed buffer") + 12;
    shared_dictionary.0[content..content + 3].copy_from_slice(&[0xff, 0b1001_0110, 0]);

    let cases: Vec<(&str, TempDir)> = vec![
        ("no symbols", folder(&[("trace", &trace)])),
        ("no trace", folder(&[("symbols", symbols)])),
        ("trace of another run", folder(&[("trace", &other_trace), ("symbols", symbols)])),
        ("symbols of another run", folder(&[("trace", &trace), ("symbols", &other.symbols)])),
        ("the same trace twice", folder(&[("trace", &trace), ("trace_copy", &trace), ("symbols", symbols)])),
        ("cut in the header", folder(&[("trace", &trace[..60]), ("symbols", symbols)])),
        ("an unknown event", folder(&[("trace", &wrong_event), ("symbols", symbols)])),
        ("a shared dictionary", folder(&[("trace", &shared_dictionary.0), ("symbols", &shared_dictionary.1.symbols)])),
        ("nothing behind the header", folder(&[("trace", &trace[..first - 12]), ("symbols", symbols)])),
        ("before the first GC", folder(&[("trace", &trace[..cut_gc / 3]), ("symbols", symbols)])),
    ];
    let mut said = String::new();
    for (name, folder) in &cases {
        let place = format!("{}/", folder.path().display());
        let outcome = match open(&[folder.path().to_owned()]) {
            Ok(series) => {
                let warnings: Vec<String> = series.warnings().iter().map(ToString::to_string).collect();
                format!("{} points; {}", series.points().len(), warnings.join("; "))
            }
            Err(error) => error.to_string(),
        };
        said += &format!("{name}:\n  {}\n", outcome.replace(&place, "").replace('\n', "\n  "));
    }
    // A run together with something else.
    let mixed = folder(&[("trace", &trace), ("symbols", symbols), ("heap.hprof", dump)]);
    let paths = [mixed.path().join("trace"), mixed.path().join("heap.hprof")];
    let error = memory_city_formats::open(&paths, &Progress::new()).map(|_| ()).expect_err("mixed");
    said += &format!("with a dump:\n  {}\n", error.to_string().replace(&format!("{}/", mixed.path().display()), ""));
    insta::assert_snapshot!(said);
}

/// A run of any name, in any order, given as a folder, as its trace or as its symbols.
#[test]
fn runs_are_known_by_their_content() {
    let (trace, generated) = small(false);
    let run = folder(&[("b.bin", &trace), ("a.bin", &generated.symbols), ("notes.txt", b"nothing of ours")]);
    let paths = [run.path().to_owned(), run.path().join("a.bin"), run.path().join("b.bin")];
    for path in paths {
        assert_eq!(open(std::slice::from_ref(&path)).expect("a run").points().len(), 12, "{}", path.display());
    }
}

const THREAD: u64 = 0x7f00_0000_1000;
const VM_THREAD: u64 = 0x7f00_0000_2000;
const OLD_START: u64 = 0x1_0000_0000;
const EDEN_START: u64 = 0x2_0000_0000;

/// A symbols file with one type of 24 bytes, `char[]`, and a site of each: 100 and 101.
fn symbols(words: &[u32; HEADER_WORDS], flags: u32) -> Vec<u8> {
    let mut symbols = Symbols::new(words, flags, "");
    symbols.cause(1, "Allocation Failure", true);
    symbols.type_record(1, "LItem;", 24);
    symbols.type_record(2, "[C", 16 << 8 | 2);
    symbols.site(100, &[("Main.make()V".into(), 3)], 1);
    symbols.site(101, &[("Main.text()V".into(), 5)], 2);
    symbols.into_bytes()
}

/// The beginning: spaces and threads.
fn begin(file: &mut TraceFile<Vec<u8>>, bytes: u64) {
    let mut vm = Buffer::new(VM_THREAD, 1);
    vm.thread_alive(0, VM_THREAD, "VM Thread");
    for (index, start, kind) in [(0, EDEN_START, EDEN), (4, OLD_START, OLD)] {
        vm.space_created(index, start, bytes);
        vm.space_in_use(index, kind, 0);
    }
    file.write(&vm).expect("written");
}

/// After a rotation the first GC names everything anew. With the first file, objects keep their facts. Without it, type
/// and site are known, and a warning names the missing part.
#[test]
fn rotated_traces_are_read_in_order_with_or_without_their_beginning() {
    let words = [7; HEADER_WORDS];
    let item = Allocation { site: 100, ..Allocation::default() };
    let text = |length| Allocation { site: 101, length: Some(length), ..Allocation::default() };
    let mut first = TraceFile::new(Vec::new(), &words, 0, false).expect("written");
    begin(&mut first, 1 << 20);
    let mut main = Buffer::new(THREAD, 0);
    main.thread_alive(3, THREAD, "main");
    main.tlab(4096, EDEN_START);
    main.allocate_fast(Allocator::C2, &item);
    main.allocate_fast(Allocator::C1, &text(300));
    first.write(&main).expect("written");
    let mut second = TraceFile::new(Vec::new(), &words, 1, false).expect("written");
    begin(&mut second, 1 << 20);
    let mut gc = Buffer::new(VM_THREAD, 1);
    gc.gc_start(1, 1, 1, 1000, OLD_START);
    second.write(&gc).expect("written");
    let mut objects = Buffer::new(VM_THREAD, 1);
    let named = |what: Allocation, ty| Allocation { type_id: Some(ty), ..what };
    objects.sync_object(&named(item, 1), EDEN_START, OLD_START);
    objects.sync_object(&named(text(300), 2), EDEN_START + 24, OLD_START + 24);
    second.write(&objects).expect("written");
    let mut end = Buffer::new(VM_THREAD, 1);
    end.gc_end(1, 1, false, 1, 1010, OLD_START);
    second.write(&end).expect("written");
    let (first, second, symbols) = (first.into_inner(), second.into_inner(), symbols(&words, 0));

    for with_first in [true, false] {
        let mut files = vec![("trace_1", &second[..]), ("symbols", &symbols[..])];
        if with_first {
            files.push(("trace_0", &first));
        }
        let run = folder(&files);
        let series = open(&[run.path().to_owned()]).expect("a run");
        let heap = series.load(series.points().len() - 1, &Progress::new()).expect("a state");
        let found: Vec<String> = heap
            .objects()
            .map(|o| {
                let facts = heap.facts(o);
                let life = facts.life.as_ref().expect("a life");
                let site = &heap.allocation_site(o)[0];
                format!(
                    "{:#x} {} {} {site} {} {:?}",
                    heap.address(o).expect("an address"),
                    facts.of.name,
                    facts.size,
                    life.thread,
                    life.allocator
                )
            })
            .collect();
        let (thread, by) = if with_first { ("main", ["C2", "C1"]) } else { ("(unknown thread)", ["Unknown"; 2]) };
        let expected = [
            format!("0x100000000 Item 24 Main.make():3 {thread} {}", by[0]),
            format!("0x100000018 char[] 616 Main.text():5 {thread} {}", by[1]),
        ];
        assert_eq!(found, expected, "with the first file: {with_first}");
        let said = series.warnings().iter().any(|w| w.message.contains("part 0 of this trace"));
        assert_eq!(said, !with_first, "{:?}", series.warnings());
    }
}

/// The background cycles of CMS free objects without saying which.
#[test]
fn background_cycles_are_named_as_not_understood() {
    let words = [9; HEADER_WORDS];
    let mut file = TraceFile::new(Vec::new(), &words, 0, false).expect("written");
    begin(&mut file, 1 << 20);
    let mut gc = Buffer::new(VM_THREAD, 1);
    gc.gc_start(1, 1, 1, 1000, OLD_START);
    gc.gc_failed(4);
    gc.gc_end(1, 1, false, 1, 1010, OLD_START);
    file.write(&gc).expect("written");
    // The flag of a fragmented heap, as CMS leaves it.
    let (_, gcs, warnings) = replay(symbols(&words, 4), file.into_inner()).expect("readable");
    assert_eq!(gcs, 1);
    assert!(warnings.iter().any(|w| w.message.contains("1 background cycles of the CMS")), "{warnings:?}");
}

/// Whatever a file says, the answer is a heap that answers every question, or an error.
fn survives(symbols: Vec<u8>, trace: Vec<u8>) -> std::result::Result<(), TestCaseError> {
    match replay(symbols, trace) {
        Ok((heap, ..)) => {
            for o in heap.objects() {
                heap.facts(o);
                for &target in heap.references(o) {
                    prop_assert!(heap.referrers(target).contains(&o));
                }
            }
        }
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bytes_never_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..10),
        in_symbols: bool,
        collector in prop_oneof![Just(Collector::Parallel), Just(Collector::G1)],
        compressed: bool,
        seed in 0u64..20,
    ) {
        let spec = Spec {
            seed, collector, compressed, gcs: 4, live_objects: 60, allocations_per_gc: 80, full_gc_every: 3,
            answers: false, ..Spec::default()
        };
        let mut trace = Vec::new();
        let mut symbols = generate(&spec, &mut trace).expect("written to memory").symbols;
        let bytes = if in_symbols { &mut symbols } else { &mut trace };
        for (at, value) in &flips {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        survives(symbols, trace)?;
    }

    #[test]
    fn made_up_events_never_panic(words in prop::collection::vec(any::<u32>(), 0..200), kinds in prop::collection::vec(0u32..48, 0..40)) {
        let run = [5; HEADER_WORDS];
        let mut file = TraceFile::new(Vec::new(), &run, 0, false).expect("written");
        begin(&mut file, 1 << 20);
        let mut buffer = Buffer::new(THREAD, 0);
        buffer.words = words;
        // Words that begin as events do.
        for (word, kind) in buffer.words.iter_mut().step_by(4).zip(kinds) {
            *word = *word & 0x3ff_ffff | kind << 26;
        }
        file.write(&buffer).expect("written");
        survives(symbols(&run, 2), file.into_inner())?;
    }
}

/// The seeds of the fuzz target are small runs of each kind. `UPDATE_CORPUS=1` writes them.
#[test]
fn the_fuzz_corpus_opens() {
    let folder = root().join("fuzz/corpus/anttracks");
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, collector, pointers, compressed) in [
            ("parallel", Collector::Parallel, false, false),
            ("parallel-pointers", Collector::Parallel, true, false),
            ("parallel-compressed", Collector::Parallel, true, true),
            ("g1", Collector::G1, true, false),
        ] {
            let spec = Spec {
                collector,
                pointers,
                compressed,
                gcs: 3,
                live_objects: 20,
                allocations_per_gc: 30,
                full_gc_every: 2,
                types: 16,
                sites: 32,
                answers: false,
                ..Spec::default()
            };
            let mut trace = Vec::new();
            let symbols = generate(&spec, &mut trace).expect("written to memory").symbols;
            let bytes = [&(symbols.len() as u32).to_le_bytes()[..], &symbols, &trace].concat();
            std::fs::write(folder.join(name), bytes).expect("written");
        }
    }
    let seeds: Vec<_> = std::fs::read_dir(&folder).expect("the corpus").flatten().collect();
    assert!(seeds.len() >= 4);
    for seed in seeds {
        let bytes = std::fs::read(seed.path()).expect("a seed");
        let (length, rest) = bytes.split_first_chunk::<4>().expect("a length");
        let (symbols, trace) = rest.split_at(u32::from_le_bytes(*length) as usize);
        let outcome = replay(symbols.to_vec(), trace.to_vec());
        let (_, gcs, _) = outcome.unwrap_or_else(|e| panic!("{}: {e}", seed.path().display()));
        assert_eq!(gcs, 3, "{}", seed.path().display());
    }
}
