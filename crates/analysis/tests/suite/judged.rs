//! Reports on dumps whose right answer is known: two runs side by side, and objects that wait for finalizers.

use memory_city_analysis::analyses::check::{CheckLimits, GrowthLimit, check};
use memory_city_analysis::analyses::compare::{GrowthOutcome, compare};
use memory_city_analysis::analyses::report::{ReportOptions, report};
use memory_city_analysis::analyses::{AnalysisRegistry, Arguments, Findings, TimeWindow, VerdictKind, run};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{AUTO, Source};
use memory_city_heap::progress::Progress;
use memory_city_testing::hprof_writer::Dump;

const OBJECT: u64 = 0x1000;
const CLASS: u64 = 0x1100;
const CACHE: u64 = 0x1200;
const ENTRY: u64 = 0x1300;
const ENTRIES: u64 = 0x1400;
const REFERENCE: u64 = 0x1500;
const FINAL: u64 = 0x1600;
const FINALIZER: u64 = 0x1700;
const THREAD: u64 = 0x1800;
const LIST: u64 = 0x1c00;
const BUFFER: u64 = 0x1d00;
const MAPPED: u64 = 0x1e00;
const DIRECT: u64 = 0x1f00;
const BITS: u64 = 0x2000;

/// How many bytes each entry has.
const BYTES: usize = 1000;

/// The classes of a program in a package, the class of its entries called `entry`.
fn program(millis: u64, package: &str, entry: &str) -> Dump {
    let mut d = Dump::new(2, 8, millis);
    let names = [
        (OBJECT, "java/lang/Object".to_owned()),
        (CLASS, "java/lang/Class".into()),
        (CACHE, format!("{package}/Cache")),
        (ENTRY, format!("{package}/{entry}")),
        (ENTRIES, "[Ljava/lang/Object;".into()),
        (REFERENCE, "java/lang/ref/Reference".into()),
        (FINAL, "java/lang/ref/FinalReference".into()),
        (FINALIZER, "java/lang/ref/Finalizer".into()),
        (THREAD, "java/lang/Thread".into()),
        (0x1900, format!("{package}/Main")),
        (0x1a00, format!("{package}/Server")),
        (0x1b00, format!("{package}/Settings")),
        (LIST, "java/util/ArrayList".into()),
        (BUFFER, "java/nio/Buffer".into()),
        (MAPPED, "java/nio/MappedByteBuffer".into()),
        (DIRECT, "java/nio/DirectByteBuffer".into()),
        (BITS, "java/nio/Bits".into()),
    ];
    for (serial, (class, name)) in names.iter().enumerate() {
        d.load_class(serial as u32 + 1, *class, name);
    }
    d.string(11, "entries").string(12, "bytes").string(13, "referent").string(14, "elementData").string(15, "size");
    d.string(16, "capacity").string(17, "fd").string(18, "att").string(19, "TOTAL_CAPACITY");
    for (class, above, statics, fields) in [
        (OBJECT, 0, &[][..], &[][..]),
        (CLASS, OBJECT, &[], &[]),
        (CACHE, OBJECT, &[(11, 2, 0x10_0000)], &[]),
        (ENTRY, OBJECT, &[], &[(12, 2)]),
        (ENTRIES, OBJECT, &[], &[]),
        (REFERENCE, OBJECT, &[], &[(13, 2)]),
        (FINAL, REFERENCE, &[], &[]),
        (FINALIZER, FINAL, &[], &[]),
        (THREAD, OBJECT, &[], &[]),
        (0x1900, OBJECT, &[], &[]),
        (0x1a00, OBJECT, &[], &[]),
        (0x1b00, OBJECT, &[], &[]),
        (LIST, OBJECT, &[], &[(14, 2), (15, 10)]),
        (BUFFER, OBJECT, &[], &[(16, 10)]),
        (MAPPED, BUFFER, &[], &[(17, 2)]),
        (DIRECT, MAPPED, &[], &[(18, 2)]),
    ] {
        d.class(class, above, 0, statics, fields);
        d.root(0x05, class, &[]);
    }
    d
}

fn entry(d: &mut Dump, at: u64) {
    d.instance(at, 1, ENTRY, &[(2, at + 0x20)]).primitive_array(at + 0x20, 8, &[7; BYTES]);
}

/// A dump of a program whose static field holds so many entries.
fn cache(millis: u64, package: &str, name: &str, entries: u64) -> Vec<u8> {
    let mut d = program(millis, package, name);
    let at = |i: u64| 0x20_0000 + i * 0x800;
    d.object_array(0x10_0000, ENTRIES, &(0..entries).map(at).collect::<Vec<_>>());
    (0..entries).for_each(|i| entry(&mut d, at(i)));
    d.finish()
}

fn open(dumps: &[Vec<u8>]) -> (tempfile::TempDir, Source) {
    let folder = tempfile::tempdir().expect("a folder");
    for (i, bytes) in dumps.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{i}.hprof")), bytes).expect("written");
    }
    let paths = [folder.path().to_owned()];
    let source = Source::open(&paths, AUTO, GroupOptions::default(), &Progress::new()).expect("a source");
    (folder, source)
}

/// A run whose dumps are so many milliseconds apart.
fn a_run(apart: u64, package: &str, name: &str, entries: &[u64]) -> (tempfile::TempDir, Source) {
    let dump = |(i, &n): (usize, &u64)| cache(1_700_000_000_000 + i as u64 * apart, package, name, n);
    open(&entries.iter().enumerate().map(dump).collect::<Vec<_>>())
}

fn outcome(a: &Source, b: &Source) -> (GrowthOutcome, String) {
    let found = compare([a, b], [], &Progress::new()).expect("compared").outcome;
    (found.outcome, found.text)
}

#[test]
fn dumps_by_hand_are_compared_in_their_order_by_what_owns_what_grows() {
    let (_a, first) = a_run(600_000, "com/acme", "Entry", &[200, 400, 600]);
    // The same, each a second later.
    let (_b, later) = a_run(601_000, "com/acme", "Entry", &[200, 400, 600]);
    let (outcome_of, text) = outcome(&first, &later);
    assert_eq!(outcome_of, GrowthOutcome::Remains, "{text}");
    assert!(text.contains("Cache.entries") && !text.contains("byte[]"), "{text}");
    // Twice as many dumps of the same growth.
    let (_c, longer) = a_run(600_000, "com/acme", "Entry", &[200, 400, 600, 800, 1000]);
    for (a, b) in [(&first, &longer), (&longer, &first)] {
        let (outcome, text) = outcome(a, b);
        assert_eq!(outcome, GrowthOutcome::Remains, "{text}");
        assert!(text.contains("from dump to dump"), "{text}");
    }
    let (_d, fixed) = a_run(600_000, "com/acme", "Entry", &[200, 200, 200]);
    let (outcome_of, text) = outcome(&first, &fixed);
    assert_eq!(outcome_of, GrowthOutcome::Fixed, "{text}");
    assert!(text.contains("Cache.entries") && text.ends_with("fixed"), "{text}");
    // By time somebody asks.
    let by_time = compare([&first, &later], [("align", "time")], &Progress::new()).expect("compared");
    assert_eq!(by_time.aligned.points, [2, 2], "a second behind the end of the shorter run is the end");
}

#[test]
fn a_leak_whose_class_has_another_number_is_not_fixed() {
    let (_a, first) = a_run(1000, "com/acme", "Main$$Lambda$14+0x0000000800c03000", &[200, 400, 600]);
    let (_b, second) = a_run(1000, "com/acme", "Main$$Lambda$16+0x0000000800c07400", &[200, 400, 600]);
    let (outcome, text) = outcome(&first, &second);
    assert_eq!(outcome, GrowthOutcome::Remains, "{text}");
    assert!(!text.contains("In the second"), "{text}");
}

/// The static field holds an array in one run, and a list in the other.
#[test]
fn a_leak_in_a_collection_of_another_type_is_still_there() {
    let (_a, array) = a_run(1000, "com/acme", "Entry", &[3_000, 6_000, 9_000]);
    let dumps = [3_000, 6_000, 9_000].map(|n| {
        let mut d = program(1_700_000_000_000 + n, "com/acme", "Entry");
        let at = |i: u64| 0x20_0000 + i * 0x800;
        d.instance(0x10_0000, 1, LIST, &[(2, 0x4000_0000), (10, n)]);
        d.object_array(0x4000_0000, ENTRIES, &(0..n).map(at).collect::<Vec<_>>());
        (0..n).for_each(|i| entry(&mut d, at(i)));
        d.finish()
    });
    let (_b, list) = open(&dumps);
    let (found, text) = outcome(&array, &list);
    assert_eq!(found, GrowthOutcome::Remains, "{text}");
}

#[test]
fn a_comparison_tells_the_fate_of_a_leak() {
    let leak = [200, 400, 600, 800, 1000];
    let (_a, first) = a_run(1000, "com/acme", "Entry", &leak);
    for (second, expected, words) in [
        ([200, 600, 600, 600, 600], GrowthOutcome::Fixed, "in the second, filled once: fixed"),
        ([600, 600, 600, 600, 600], GrowthOutcome::Fixed, "not at all in the second: fixed"),
        ([200, 300, 400, 500, 600], GrowthOutcome::Less, "50 % less, but not gone"),
        ([200, 800, 1400, 2000, 2600], GrowthOutcome::Worse, "3.0 times as much"),
    ] {
        let (_b, other) = a_run(1000, "com/acme", "Entry", &second);
        let (found, text) = outcome(&first, &other);
        assert_eq!(found, expected, "{second:?}: {text}");
        assert!(text.ends_with(words), "{second:?}: {text}");
        // The other way round, what is fixed is new.
        let (back, text) = outcome(&other, &first);
        if expected == GrowthOutcome::Fixed {
            assert_eq!(back, GrowthOutcome::New, "{second:?}: {text}");
        }
    }
    let (_c, healthy) = a_run(1000, "com/acme", "Entry", &[200, 600, 600, 600, 600]);
    let (found, text) = outcome(&healthy, &healthy);
    assert_eq!(found, GrowthOutcome::NoGrowth, "{text}");
}

/// A single dump is compared with the end of a series.
#[test]
fn single_states_are_compared_by_what_fills_them() {
    let (_a, series) = a_run(1000, "com/acme", "Entry", &[200, 400, 600]);
    let (_b, one) = a_run(1000, "com/acme", "Entry", &[200]);
    for (a, b, order) in [(&series, &one, [0, 1]), (&one, &series, [1, 0])] {
        let (found, text) = outcome(a, b);
        assert_eq!(found, GrowthOutcome::Unknown);
        let amounts = ["636 kB", "212 kB"];
        let [first, second] = order.map(|at| amounts[at]);
        let keeps = format!("keeps {first} in the first run, {second} in the second");
        assert!(text.starts_with("Cache.entries") && text.contains(&keeps), "{text}");
    }
}

#[test]
fn two_programs_are_told_apart() {
    let (_a, shop) = a_run(1000, "com/acme/shop", "Entry", &[200, 400, 600]);
    let (_b, mail) = a_run(1000, "com/acme/mail", "Letter", &[200, 200, 200]);
    let (outcome, text) = outcome(&shop, &mail);
    assert_eq!(outcome, GrowthOutcome::Unknown, "{text}");
    assert!(text.contains("two different programs") && text.contains("they share 0"), "{text}");
}

/// The stack of a thread ends in the constructor of the error: its caller is what asked for memory.
#[test]
fn the_thread_that_ran_out_of_memory_is_named_with_its_own_line() {
    let dump = |error: &str| {
        let mut d = program(1_700_000_000_000, "com/acme", "Entry");
        d.load_class(90, 0x2200, error).load_class(91, 0x2300, "java/util/Arrays");
        d.string(40, "<init>").string(41, "csv").string(42, "copyOf");
        d.frame(1, 40, 90, 48).frame(2, 42, 91, 3537).frame(3, 41, 10, 12).trace(7, 1, &[1, 2, 3]);
        d.object_array(0x10_0000, ENTRIES, &[]).instance(0x50_0000, 1, THREAD, &[]).root(0x08, 0x50_0000, &[1, 7]);
        d.finish()
    };
    for (error, expected) in [("java/lang/OutOfMemoryError", true), ("java/lang/IllegalStateException", false)] {
        let (_folder, source) = open(&[dump(error)]);
        let text = report(&source, &ReportOptions::default(), &Progress::new()).expect("a report").to_string();
        let sentence =
            "A thread ran out of memory at com.acme.Main.csv() line 12, in java.util.Arrays.copyOf() line 3537.";
        assert_eq!(text.contains(sentence), expected, "{text}");
        assert_eq!(text.contains("OUT OF MEMORY"), expected, "{text}");
    }
}

/// Finalizers that are held by roots, so many; what they are about is held by them alone.
fn finalizers(millis: u64, waiting: u64) -> Vec<u8> {
    let mut d = program(millis, "com/acme", "Connection");
    d.object_array(0x10_0000, ENTRIES, &[]);
    for i in 0..waiting {
        let at = 0x20_0000 + i * 0x800;
        d.instance(at + 0x600, 1, FINALIZER, &[(2, at)]).root(0xff, at + 0x600, &[]);
        entry(&mut d, at);
    }
    d.finish()
}

fn leak(source: &Source) -> Findings {
    let analysis = AnalysisRegistry::built_in().get("leak").expect("leak");
    let arguments = Arguments::parse(&analysis.describe(), []).expect("arguments");
    let window = TimeWindow::whole(source.timeline());
    run(&*analysis, source, window, &arguments, &Progress::new()).expect("findings")
}

#[test]
fn what_waits_for_its_finalizer_is_named_where_it_is_what_grows() {
    let (_a, backlog) = open(&[50, 150, 300].map(|n| finalizers(1_700_000_000_000 + n, n)));
    let found = leak(&backlog);
    let first = &found.answers[0];
    assert!(first.contains("300 com.acme.Connection wait for their finalizer and keep "), "{first}");
    assert!(first.contains("(50 at first)") && first.contains("`analyse finalizer-queue`"), "{first}");
    let verdict = found.verdict.expect("a verdict");
    assert_eq!(verdict.kind, VerdictKind::Leak, "{}", verdict.headline);
    assert!(verdict.headline.contains("finalizer"), "{}", verdict.headline);
    // Where owners have what grows, nothing is said of it.
    let (_b, owned) = a_run(1000, "com/acme", "Entry", &[200, 400, 600]);
    assert!(!leak(&owned).answers[0].contains("finalizer"));
}

/// Roots keep the same at both times; what waits stays in memory too.
#[test]
fn what_waits_for_its_finalizer_counts_as_growth_of_the_heap() {
    let (_dir, backlog) = open(&[50, 300].map(|n| finalizers(1_700_000_000_000 + n, n)));
    let limits = CheckLimits { growth: Some(GrowthLimit::Percent(50.0)), ..CheckLimits::default() };
    let window = TimeWindow::whole(backlog.timeline());
    let report = check(&backlog, window, &limits, &Progress::new()).expect("a report");
    assert!(!report.passed, "{:?}", report.checks);
    let grown = report.checks[0].bytes.expect("bytes");
    assert!(grown >= 250 * BYTES as i64, "{grown}");
}

/// The static field holds a list of so many elements, all of them one object.
fn constants(millis: u64, elements: u64, size: u64) -> Dump {
    let mut d = program(millis, "com/acme", "Entry");
    d.instance(0x10_0000, 1, LIST, &[(2, 0x100_0000), (10, size)]).instance(0x10_1000, 1, OBJECT, &[]);
    d.object_array(0x100_0000, ENTRIES, &vec![0x10_1000; elements as usize]);
    d
}

#[test]
fn a_list_of_one_constant_has_as_many_elements_as_references() {
    let dumps = [20_000, 40_000, 60_000].map(|n| constants(1_700_000_000_000 + n, n, n).finish());
    let (_folder, source) = open(&dumps);
    let verdict = leak(&source).verdict.expect("a verdict");
    assert_eq!(verdict.kind, VerdictKind::Leak, "{}", verdict.headline);
    assert!(verdict.headline.starts_with("Cache.entries (ArrayList): 60,000 elements"), "{}", verdict.headline);
}

/// The static field holds a list of elements of two types.
fn mixed(millis: u64, elements: u64) -> Dump {
    let mut d = program(millis, "com/acme", "Entry");
    d.instance(0x10_0000, 1, LIST, &[(2, 0x4000_0000), (10, elements)]);
    let at = |i: u64| 0x20_0000 + i * 0x800;
    d.object_array(0x4000_0000, ENTRIES, &(0..elements).map(at).collect::<Vec<_>>());
    for i in 0..elements {
        match i % 3 {
            0 => _ = d.instance(at(i), 1, OBJECT, &[]),
            _ => entry(&mut d, at(i)),
        }
    }
    d
}

#[test]
fn elements_of_two_types_are_counted_each() {
    let (_folder, source) = open(&[3_000, 6_000, 9_000].map(|n| mixed(1_700_000_000_000 + n, n).finish()));
    let headline = leak(&source).verdict.expect("a verdict").headline;
    assert!(headline.starts_with("Cache.entries (ArrayList): 6,000 Entry, 3,000 Object, +"), "{headline}");
}

#[test]
fn collections_without_references_are_not_called_empty() {
    let mut d = program(1_700_000_000_000, "com/acme", "Entry");
    (0..300).for_each(|i| _ = d.instance(0x20_0000 + i * 0x100, 1, LIST, &[(2, 0), (10, 0)]));
    d.root(0xff, 0x20_0000, &[]);
    let (_folder, source) = open(&[d.finish()]);
    let analysis = AnalysisRegistry::built_in().get("containers").expect("containers");
    let arguments = Arguments::parse(&analysis.describe(), []).expect("arguments");
    let found = run(&*analysis, &source, TimeWindow::whole(source.timeline()), &arguments, &Progress::new());
    let error = found.expect_err("nothing to count").to_string();
    assert!(error.contains("references were taken out"), "{error}");
}

#[test]
fn collections_of_redacted_dumps_are_counted_by_references() {
    for (redacted, elements) in [(true, "3"), (false, "0")] {
        let mut d = constants(1_700_000_000_000, 3, 0);
        for i in 0..300 {
            let at = 0x20_0000 + i * 0x100;
            let text: Vec<u64> = (0..20).map(|j| if redacted { u64::from(b'*') } else { 65 + (i + j) % 20 }).collect();
            d.primitive_array(at, 8, &text).root(0xff, at, &[]);
        }
        let (_folder, source) = open(&[d.finish()]);
        let analysis = AnalysisRegistry::built_in().get("containers").expect("containers");
        let arguments = Arguments::parse(&analysis.describe(), []).expect("arguments");
        let found = run(&*analysis, &source, TimeWindow::whole(source.timeline()), &arguments, &Progress::new());
        let found = found.expect("findings");
        let sizes = found.tables.iter().find(|table| table.header.id == "sizes").expect("sizes");
        let ranges: Vec<String> = sizes
            .rows
            .iter()
            .map(|row| format!("{:?}", row.cells[0]))
            .filter(|range| range.contains(elements))
            .collect();
        assert_eq!(ranges.len(), 1, "{redacted}: {:?}", sizes.rows);
    }
}

/// Native code holds it as well: the field is the better name.
#[test]
fn a_static_field_names_what_native_code_holds_too() {
    let dumps = [200, 400, 600].map(|n| {
        let mut d = program(1_700_000_000_000 + n, "com/acme", "Entry");
        let at = |i: u64| 0x20_0000 + i * 0x800;
        d.root(0x01, 0x10_0000, &[0, 7]);
        d.object_array(0x10_0000, ENTRIES, &(0..n).map(at).collect::<Vec<_>>());
        (0..n).for_each(|i| entry(&mut d, at(i)));
        d.finish()
    });
    let (_folder, source) = open(&dumps);
    let headline = leak(&source).verdict.expect("a verdict").headline;
    assert!(headline.starts_with("Cache.entries (Object[]): 600 Entry"), "{headline}");
}

/// Of five points in time the last three look like growth.
#[test]
fn what_comes_and_goes_between_the_points_is_seen_at_more_of_them() {
    for (counts, kind) in [
        ([200, 0, 500, 0, 0, 500, 0, 0, 500], VerdictKind::Ok),
        ([200, 200, 700, 700, 700, 1200, 1200, 1200, 1700], VerdictKind::Leak),
    ] {
        let dump = |(time, n): (u64, u64)| {
            let mut d = program(1_700_000_000_000 + 1000 * time, "com/acme", "Entry");
            let at = |i: u64| 0x20_0000 + i * 0x800;
            d.object_array(0x10_0000, ENTRIES, &(0..n).map(at).collect::<Vec<_>>());
            (0..n).for_each(|i| entry(&mut d, at(i)));
            d.finish()
        };
        let dumps: Vec<_> = (0..).zip(counts).map(dump).collect();
        let (_folder, source) = open(&dumps);
        let verdict = leak(&source).verdict.expect("a verdict");
        assert_eq!(verdict.kind, kind, "{counts:?}: {}", verdict.headline);
    }
}

#[test]
fn memory_outside_the_heap_is_named_where_it_is_large() {
    // Capacity of a buffer; whether it is a view of another, and a mapped file; what the VM has counted; and what is said.
    for (capacity, is_view, is_file, counted, said) in [
        (900_000_000, false, false, 0, "Outside the heap: 900 MB in 1 direct buffer, beside "),
        (900_000_000, true, false, 0, ""),
        (900_000_000, false, true, 0, "Outside the heap: 900 MB in 1 mapped file, beside "),
        (1_000_000, false, false, 700_000_000, "Outside the heap: 700 MB in 1 direct buffer, beside "),
        (8, false, false, 0, ""),
    ] {
        let mut d = constants(1_700_000_000_000, 3, 3);
        d.class(BITS, OBJECT, 0, &[(19, 11, counted)], &[]).root(0x05, BITS, &[]);
        let other = |is: bool| (2, if is { 0x10_1000 } else { 0 });
        d.instance(0x20_0000, 1, DIRECT, &[other(is_view), other(is_file), (10, capacity)]).root(0xff, 0x20_0000, &[]);
        let (_folder, source) = open(&[d.finish()]);
        let analysis = AnalysisRegistry::built_in().get("outside-heap").expect("outside-heap");
        let arguments = Arguments::parse(&analysis.describe(), []).expect("arguments");
        let found = run(&*analysis, &source, TimeWindow::whole(source.timeline()), &arguments, &Progress::new());
        let answers = found.expect("findings").answers.join("");
        assert!(answers.starts_with(said) && answers.is_empty() == said.is_empty(), "{capacity}: {answers}");
    }
}
