//! Tables read back, against the heap states they were made of.

use crate::schema::{TABLES, page};
use crate::{TablesRequest, WrittenTables, write};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::ownership::OwnerTree;
use memory_city_analysis::timeline::{History, Source};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::FileReaders;
use memory_city_heap::{HeapState, ObjectId};
use memory_city_testing::root;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::path::{Path, PathBuf};

/// Two of the sample's dumps.
const DUMPS: &[&str] =
    &["sample-data/person-leak/person-leak-03.hprof.gz", "sample-data/person-leak/person-leak-12.hprof.gz"];

fn source(paths: &[&str]) -> Source {
    let paths: Vec<PathBuf> = paths.iter().map(|path| root().join(path)).collect();
    Source::open(&paths, "auto", GroupOptions::default(), &Progress::new()).expect("an input")
}

fn written(source: &Source, folder: &Path, no_references: bool) -> Result<WrittenTables> {
    let request = TablesRequest { folder, process: "a/b", readers: FileReaders::OwnerAlone, no_references };
    write(source, &request, &Progress::new())
}

fn rows(file: &Path) -> Vec<RecordBatch> {
    let file = std::fs::File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file").build().expect("rows");
    reader.map(|batch| batch.expect("a batch")).collect()
}

fn numbers(rows: &[RecordBatch], column: &str) -> Vec<Option<i64>> {
    let of = |batch: &RecordBatch| {
        let all = batch.column_by_name(column).expect(column).as_primitive::<Int64Type>().clone();
        (0..all.len()).map(move |at| all.is_valid(at).then(|| all.value(at))).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of).collect()
}

fn texts(rows: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    let of = |batch: &RecordBatch| {
        let all = batch.column_by_name(column).expect(column).as_string::<i32>().clone();
        (0..all.len()).map(move |at| all.is_valid(at).then(|| all.value(at).to_owned())).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of).collect()
}

fn table(folder: &Path, name: &str, time: Option<usize>) -> PathBuf {
    let process = folder.join(name).join("process=a%2Fb");
    time.map_or(process.clone(), |time| process.join(format!("time={time}"))).join("0.parquet")
}

/// Everything of one state that the tables hold, object by object.
fn compare(history: &History, time: usize, folder: &Path) {
    let rules = KeepRules::default().for_owners();
    let progress = Progress::new();
    let (heap, dominators) = history.dominators(time, rules, &progress).expect("dominators");
    let heap: &HeapState = &heap;
    let tree = OwnerTree::new(heap, &dominators, &progress).expect("owners");
    let objects = rows(&table(folder, "objects", Some(time + 1)));
    let column = |name: &str| numbers(&objects, name);
    let ids: Vec<ObjectId> = column("object").into_iter().map(|o| ObjectId(o.expect("an object") as u32)).collect();
    let mut all = ids.clone();
    all.sort();
    assert!(all.iter().copied().eq(heap.objects()), "each object once");
    let expect = |name: &str, of: &dyn Fn(ObjectId) -> Option<u64>| {
        let expected: Vec<Option<i64>> = ids.iter().map(|&o| of(o).map(|n| n as i64)).collect();
        assert_eq!(column(name), expected, "{name}");
    };
    let kept = |o: ObjectId| Some(o).filter(|&o| dominators.is_reached(o));
    expect("bytes", &|o| Some(heap.size_of(o)));
    expect("address", &|o| heap.address(o));
    expect("type", &|o| Some(heap.type_of(o).0.into()));
    expect("length", &|o| heap.array_length(o).map(u64::from));
    expect("dominator", &|o| Some(dominators.owner(kept(o)?)?.0.into()));
    expect("retained_bytes", &|o| Some(dominators.retained(kept(o)?).bytes));
    expect("owner", &|o| Some(tree.of(o).into()).filter(|node| *node > 0));
    expect("retained_objects", &|o| Some(dominators.retained(kept(o)?).objects));
    expect("identity", &|o| heap.followed_number(o));
    let origin = |o: ObjectId| heap.origins().map(|origins| *origins.of(o.0 as usize));
    expect("site", &|o| Some(origin(o)?.site.into()));
    expect("birth", &|o| Some(origin(o)?.birth.into()));
    let reachable =
        objects.iter().map(|batch| batch.column_by_name("reachable").expect("it").as_boolean().true_count());
    assert_eq!(reachable.sum::<usize>(), heap.objects().filter(|&o| heap.is_reachable(o)).count());
    let thread =
        |o: &ObjectId| heap.origins().map(|origins| origins.thread(origin(*o).expect("one").thread).to_string());
    let threads = texts(&objects, "thread");
    assert!(threads.iter().zip(&ids).all(|(text, o)| text.is_none() || *text == thread(o)), "{threads:?}");
    assert_eq!(threads.iter().any(Option::is_some), heap.origins().is_some());

    let references = rows(&table(folder, "references", Some(time + 1)));
    let mut pairs: Vec<_> = numbers(&references, "from").into_iter().zip(numbers(&references, "to")).collect();
    pairs.sort_unstable();
    let targets = |o: ObjectId| heap.references(o).iter().map(move |to| (Some(o.0.into()), Some(to.0.into())));
    let mut expected: Vec<_> = heap.objects().flat_map(targets).collect();
    expected.sort_unstable();
    assert_eq!(pairs, expected);
    let fields = texts(&references, "field");
    assert!(heap.reference_fields().is_empty() || fields.iter().flatten().any(|field| field == "next"));
    let weaker = texts(&references, "strength").iter().flatten().count();
    assert_eq!(weaker, heap.referents().all().len());

    let owners = rows(&table(folder, "owners", Some(time + 1)));
    let own: i64 = numbers(&owners, "own_bytes").into_iter().flatten().sum();
    assert_eq!(own as u64, dominators.total().bytes);
    assert_eq!(numbers(&owners, "owner").len(), tree.nodes().len() - 1);
    let types = rows(&table(folder, "types", Some(time + 1)));
    let names: Vec<Option<String>> = heap.types().iter().map(|of| Some(of.name.clone())).collect();
    assert_eq!(texts(&types, "name"), names);
    assert_eq!(numbers(&rows(&table(folder, "roots", Some(time + 1))), "object").len(), heap.roots().len());
}

#[test]
fn tables_hold_what_dumps_and_traces_hold() {
    for (path, sites) in [(DUMPS, false), (&["tests/data/anttracks/churn-parallel"][..], true)] {
        let (source, folder) = (source(path), tempfile::tempdir().expect("a folder"));
        let done = written(&source, folder.path(), false).expect("written");
        let history = source.heaps().expect("heaps");
        let times = history.timeline().times();
        for time in [0, times - 1] {
            compare(history, time, folder.path());
        }
        let names: Vec<&str> = done.tables.iter().map(|table| &*table.name).collect();
        for table in TABLES {
            assert_eq!(names.contains(&table.name), table.name != "sites" || sites, "{} of {path:?}", table.name);
        }
        for name in ["growth", "leak", "structures", "threads"].iter().filter(|_| !sites) {
            assert!(names.contains(name), "{name} of {path:?}: {names:?}");
        }
        assert_eq!(names.contains(&"generations"), sites, "{path:?}");
        let dumps = rows(&table(folder.path(), "dumps", None));
        assert_eq!(numbers(&dumps, "time").len(), times);
        let groups = rows(&table(folder.path(), "groups", Some(times)));
        assert!(texts(&groups, "key").len() > 10);
        let bytes: u64 =
            done.tables.iter().filter(|of| ["objects", "references"].contains(&&*of.name)).map(|of| of.bytes).sum();
        let objects = done.tables.iter().find(|of| of.name == "objects").expect("objects");
        assert!(bytes <= 25 * objects.rows, "{bytes} bytes of {} objects in {path:?}", objects.rows);
        // The same process again is refused, and no file of it is touched.
        let refused = written(&source, folder.path(), false).expect_err("there already").to_string();
        assert!(refused.contains("--process"), "{refused}");
    }
}

#[test]
fn without_objects_there_are_groups_and_the_rest_is_named() {
    let (source, folder) = (source(&["sample-data/json"]), tempfile::tempdir().expect("a folder"));
    let done = written(&source, folder.path(), true).expect("written");
    let names: Vec<&str> = done.tables.iter().map(|table| &*table.name).collect();
    assert_eq!(names, ["dumps", "groups", "growth", "warnings"]);
    assert!(done.left_out.iter().any(|what| what.contains("no single objects")), "{:?}", done.left_out);
}

#[test]
fn a_cancelled_run_leaves_no_file() {
    let (source, folder) = (source(&DUMPS[..1]), tempfile::tempdir().expect("a folder"));
    let progress = Progress::new();
    progress.cancel();
    let request =
        TablesRequest { folder: folder.path(), process: "x", readers: FileReaders::OwnerAlone, no_references: true };
    assert!(write(&source, &request, &progress).is_err());
    assert_no_files(folder.path());
    assert!(write(&source, &request, &Progress::new()).is_ok(), "what is left hinders nobody");
}

/// There is no file below a folder.
fn assert_no_files(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(of) = folders.pop() {
        for entry in std::fs::read_dir(of).expect("a folder").flatten() {
            assert!(entry.path().is_dir(), "{}", entry.path().display());
            folders.push(entry.path());
        }
    }
}

/// The page has every table and column in the words of the schema.
#[test]
fn the_page_is_that_of_the_schema() {
    let text = std::fs::read_to_string(root().join("docs/tables.md")).expect("the page");
    assert!(text.contains(page().trim_end()), "docs/tables.md lacks:\n{}", page());
}
