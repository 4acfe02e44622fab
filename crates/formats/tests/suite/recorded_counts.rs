//! Class histograms in recordings: beside walks, which do not change; only whole ones, wherever a file is cut or
//! damaged; and old files without the number of rows.

use memory_city_formats::{HeapSeries, open, wire};
use memory_city_heap::Amount;
use memory_city_heap::progress::Progress;
use memory_city_wire::{
    ChunkKind, ClassRow, CountRow, DeathRow, PartReader, Piece, RunRow, SampleRow, TraceOptions, TraceTables,
    TraceWriter, WalkObject, WalkStartRow,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const CLASSES: [&str; 4] = ["shop.Cart", "shop.Cart[]", "shop.Main$$Lambda.0x0123", "shop.Main$$Lambda.0x0456"];

/// How many objects of a class the histogram of this number counts. Of the second every third time none.
fn objects(histogram: u64, class: usize) -> u64 {
    match class {
        0 => 10 + histogram,
        1 if histogram.is_multiple_of(3) => 0,
        1 => 5,
        _ => 1,
    }
}

fn begin(path: &Path) -> (TraceWriter, Vec<u32>) {
    let mut writer = TraceWriter::create_file(path, TraceOptions::default()).expect("a writer");
    let mut tables = TraceTables::new(100);
    let class = |name: &&str| {
        let name = tables.string(name).expect("a number");
        tables.class(ClassRow { name, base: 16, ..ClassRow::default() })
    };
    let classes = CLASSES.iter().map(class).collect();
    tables.write_new(&mut writer).expect("written");
    let fact = |key: &str, value: &str| RunRow { key: key.into(), value: value.into() };
    writer.write(&[fact("recording.started", "1700000000000")]).expect("written");
    (writer, classes)
}

fn histogram(writer: &mut TraceWriter, classes: &[u32], number: u64, tells_rows: bool) {
    let counted = classes.iter().enumerate().map(|(at, class)| (class, objects(number, at)));
    let counted: Vec<_> = counted.filter(|(_, objects)| *objects > 0).collect();
    let rows = if tells_rows { counted.len() as u32 } else { 0 };
    let row = |(class, objects): &(&u32, u64)| CountRow {
        histogram: number,
        time: (number + 1) * 2_000_000_000,
        class: **class,
        objects: *objects,
        bytes: objects * 16,
        garbage: true,
        pause: Some(3_000_000),
        rows,
        ..CountRow::default()
    };
    writer.write(&counted.iter().map(row).collect::<Vec<_>>()).expect("written");
}

fn walk(writer: &mut TraceWriter, class: u32, seconds: u64) {
    let start = WalkStartRow { time: seconds * 1_000_000_000, all_alive: true, ..WalkStartRow::default() };
    let mut walk = writer.begin_walk(start).expect("a walk");
    (0..seconds).for_each(|_| walk.object(&WalkObject { class, ..WalkObject::default() }, &[]).expect("listed"));
    walk.finish(None).expect("finished");
}

fn opened(path: &Path) -> Box<dyn HeapSeries> {
    open(&[path.to_owned()], &Progress::new()).expect("a series")
}

/// Six histograms and two walks.
fn recording(folder: &Path) -> PathBuf {
    let path = folder.join("run.mcity");
    let (mut writer, classes) = begin(&path);
    for number in 0..6 {
        if number % 3 == 0 {
            walk(&mut writer, classes[0], 1 + 2 * number);
        }
        histogram(&mut writer, &classes, number, true);
    }
    writer.finish("done").expect("finished");
    path
}

#[test]
fn histograms_are_beside_walks_and_no_heap_states() {
    let folder = tempfile::tempdir().expect("a folder");
    let series = opened(&recording(folder.path()));
    assert_eq!((series.points().len(), series.warnings()), (2, vec![]));
    assert_eq!(series.load(1, &Progress::new()).expect("a heap").object_count(), 7);
    assert!(series.has_class_counts());
    let counts = series.class_counts().expect("counts");
    let at = |n: u64| 1_700_000_000_000 + (n + 1) * 2000;
    assert_eq!(counts.moments.iter().map(|m| m.millis).collect::<Vec<_>>(), (0..6).map(at).collect::<Vec<_>>());
    assert!(counts.moments.iter().all(|m| m.with_garbage && m.pause == Some(3_000_000)));
    // By the same clock as walks.
    assert!(series.points()[0].millis < at(0) && at(2) < series.points()[1].millis);
    let told: Vec<&str> = counts.classes.iter().map(|course| &*course.class).collect();
    assert_eq!(told, ["shop.Cart", "shop.Cart[]", "shop.Main$$Lambda"], "hidden classes of one name are one");
    for n in 0..6 {
        let of = |class: usize| counts.classes[class].at(n as usize);
        let amount = |objects: u64| Amount { objects, bytes: objects * 16 };
        assert_eq!((of(0), of(1), of(2)), (amount(objects(n, 0)), amount(objects(n, 1)), amount(2)));
    }
    // Joined as they are.
    let one = folder.path().join("one.mcity");
    wire::join(&[folder.path().join("run.mcity")], &one, &Progress::new()).expect("joined");
    assert_eq!(opened(&one).class_counts().expect("counts"), counts);
}

/// Cut at any byte: each histogram of which all chunks are there counts, in full.
#[test]
fn histograms_are_whole_wherever_a_file_is_cut_or_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = opened(&recording(folder.path())).class_counts().expect("counts");
    let bytes = std::fs::read(folder.path().join("run.mcity")).expect("the file");
    let file = folder.path().join("cut.mcity");
    let mut ends = Vec::new();
    for piece in PartReader::new(&file, &bytes).expect("a reader") {
        let Piece::Chunk(chunk) = piece else { panic!("damage") };
        if chunk.kind() == ChunkKind::COUNTS {
            ends.push((chunk.offset + chunk.length()) as usize);
        }
    }
    assert_eq!(ends.len(), 6);
    for cut in (ends[0] - 40..bytes.len()).step_by(7) {
        std::fs::write(&file, &bytes[..cut]).expect("written");
        let complete = ends.iter().filter(|end| **end <= cut).count();
        let counts = opened(&file).class_counts();
        assert_eq!(counts.as_ref().map_or(0, |counts| counts.moments.len()), complete, "cut at {cut}");
        for (at, moment) in counts.iter().flat_map(|counts| counts.moments.iter().enumerate()) {
            assert_eq!(moment, &whole.moments[at]);
        }
    }
    let mut damaged = bytes.clone();
    damaged[ends[2] - 5] ^= 0x10;
    std::fs::write(&file, &damaged).expect("written");
    let series = opened(&file);
    let counts = series.class_counts().expect("counts");
    let mut expected: Vec<u64> = whole.moments.iter().map(|m| m.millis).collect();
    expected.remove(2);
    assert_eq!(counts.moments.iter().map(|m| m.millis).collect::<Vec<_>>(), expected);
    assert!(!series.warnings().is_empty());
}

/// A histogram of several chunks, one of which is damaged, is left out as a whole: what is missing is not taken for gone.
#[test]
fn half_a_histogram_is_none() {
    const MANY: u32 = 70_000;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.mcity");
    let (mut writer, classes) = begin(&path);
    walk(&mut writer, classes[0], 1);
    histogram(&mut writer, &classes, 0, true);
    let row = |class: u32| {
        let bytes = u64::from(class).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 30;
        CountRow { histogram: 1, time: 9, class, objects: 1, bytes, rows: MANY, ..CountRow::default() }
    };
    writer.write(&(0..MANY).map(row).collect::<Vec<_>>()).expect("written");
    writer.finish("done").expect("finished");
    assert_eq!(opened(&path).class_counts().expect("counts").moments.len(), 2);
    let mut bytes = std::fs::read(&path).expect("the file");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    let series = opened(&path);
    assert_eq!(series.class_counts().expect("counts").moments.len(), 1);
    let warnings: Vec<String> = series.warnings().iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|w| w.contains("1 class histograms are not complete")), "{warnings:?}");
}

/// Of files without walks: samples tell places too, so they are shown, and what was counted is beside them; without samples the counts
/// are shown. Files of before say nothing of rows.
#[test]
fn recordings_without_walks_have_what_was_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |name: &str, tells_rows: bool, samples: u64| {
        let path = folder.path().join(name);
        let (mut writer, classes) = begin(&path);
        let sample =
            |id| SampleRow { id, time: id, class: classes[0], size: 24, weight: 1 << 16, ..SampleRow::default() };
        writer.write(&(0..samples).map(sample).collect::<Vec<_>>()).expect("written");
        // When the first collection came, all that had been sampled was dead.
        let dead = |sample, time| DeathRow { sample, time, ..DeathRow::default() };
        if samples > 2 {
            writer.write(&[dead(0, 0), dead(1, 3)]).expect("written");
        }
        (0..3).for_each(|number| histogram(&mut writer, &classes, number, tells_rows));
        writer.finish("done").expect("finished");
        wire::counted(&[path], &Progress::new()).expect("it opens").expect("counts")
    };
    let (old, sampled) = (of("old.mcity", false, 0), of("sampled.mcity", true, 5));
    let kinds = |counted: &wire::CountedTimes| {
        let mut kinds = Vec::new();
        let told = counted.each(|_, of| {
            kinds.push(of.len());
            Ok(())
        });
        told.expect("told");
        kinds
    };
    assert_eq!((old.is_estimate, old.times.len()), (false, 3));
    assert_eq!(kinds(&old), [2, 3, 3], "what has no object is not there");
    assert!(sampled.is_estimate);
    assert_eq!(kinds(&sampled), [1], "what has nothing alive is not shown");
    assert_eq!(sampled.times.len(), 1);
    assert_eq!(sampled.histograms, old.histograms);
    let said = sampled.warnings[0].to_string();
    assert!(said.contains("counted 3 times besides"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Rows have any values in any order. The result is in order and within the existing numbers.
    #[test]
    fn any_rows_are_counts(
        rows in prop::collection::vec((0u64..4, any::<u64>(), 0u32..6, prop_oneof![0u64..3, any::<u64>()], 0u32..4), 0..40),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("any.mcity");
        let (mut writer, classes) = begin(&path);
        walk(&mut writer, classes[0], 1);
        let row = |(histogram, time, class, objects, rows): &(u64, u64, u32, u64, u32)| CountRow {
            histogram: *histogram,
            time: *time,
            class: *class,
            objects: *objects,
            bytes: objects.rotate_left(7),
            rows: *rows,
            ..CountRow::default()
        };
        writer.write(&rows.iter().map(row).collect::<Vec<_>>()).expect("written");
        writer.finish("done").expect("finished");
        let series = opened(&path);
        let counts = series.class_counts();
        prop_assert_eq!(counts.is_some(), series.has_class_counts());
        if let Some(counts) = counts {
            prop_assert!(counts.moments.is_sorted_by_key(|moment| moment.millis));
            for course in &counts.classes {
                prop_assert!(course.changes.is_sorted_by_key(|change| change.0) && !course.changes.is_empty());
                prop_assert!(course.changes.iter().all(|change| (change.0 as usize) < counts.moments.len()));
            }
        }
    }
}
