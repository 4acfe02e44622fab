//! Analyses of what objects hold, against a program whose objects are known: `tests/java/Contents.java` says beside each
//! what it makes.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, Need, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::Source;
use memory_city_heap::progress::Progress;
use memory_city_testing::hprof_writer::Dump;
use memory_city_testing::{jvm, root};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The program's dump, grouped by type. The folder goes when the test program ends.
struct Recorded {
    source: Source,
    _folder: tempfile::TempDir,
}

/// Of each JDK; empty where there is none.
fn recorded(test: &str) -> &'static [(u32, Recorded)] {
    static ALL: OnceLock<Vec<(u32, Recorded)>> = OnceLock::new();
    let all = ALL
        .get_or_init(|| jvm::jdks().into_iter().filter(|(v, _)| *v >= 11).map(|(v, jdk)| (v, record(&jdk))).collect());
    if all.is_empty() {
        jvm::skip(test, "there is no JDK 11 or newer");
    }
    all
}

fn record(jdk: &jvm::Jdk) -> Recorded {
    let folder = tempfile::tempdir().expect("a folder");
    let classes = folder.path().join("classes");
    jdk.compile(&[&root().join("tests/java/Contents.java")], ".", &classes);
    let flags = ["-Xmx200m", "-XX:+UseSerialGC"];
    let program = jvm::Program::start(jdk, &flags, &classes.to_string_lossy(), "Contents");
    let dump = folder.path().join("contents.hprof");
    program.dump(&dump, &[]);
    drop(program);
    let source = Source::open(&[dump], "type", GroupOptions::default(), &Progress::new()).expect("the dump");
    Recorded { source, _folder: folder }
}

fn run(source: &Source, id: &str, given: &[(&str, &str)]) -> Findings {
    let analysis = AnalysisRegistry::built_in().get(id).expect(id);
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    analyses::run(&*analysis, source, TimeWindow::whole(source.timeline()), &arguments, &Progress::new()).expect(id)
}

fn table<'f>(findings: &'f Findings, id: &str) -> &'f ResultTable {
    findings.tables.iter().find(|t| t.header.id == id).unwrap_or_else(|| panic!("no table {id}"))
}

/// The rows as text, by column.
fn rows(table: &ResultTable) -> Vec<BTreeMap<&str, String>> {
    let cells = |row: &[Cell]| -> BTreeMap<&str, String> {
        table.header.columns.iter().zip(row).map(|(c, cell)| (&*c.id, cell.plain())).collect()
    };
    table.rows.iter().map(|row| cells(&row.cells)).collect()
}

/// The row in which a column holds a text.
fn row<'t>(table: &'t ResultTable, column: &str, text: &str) -> BTreeMap<&'t str, String> {
    let all = rows(table);
    let found: Vec<_> = all.iter().filter(|r| r[column] == text).cloned().collect();
    assert_eq!(found.len(), 1, "{column} = {text} in {all:#?}");
    found[0].clone()
}

#[test]
fn objects_of_a_group_are_listed_with_what_they_say() {
    for (version, recorded) in recorded("objects of a group") {
        let source = &recorded.source;
        let found = run(source, "inspect", &[("group", "Heap#Contents$Person"), ("top", "7")]);
        let objects = table(&found, "objects");
        assert_eq!((objects.rows.len(), objects.left_out.as_ref().map(|l| l.0)), (7, Some(51 - 7)), "JDK {version}");
        assert!(found.notes[0].starts_with("51 objects, "), "{:?}", found.notes);
        let found = run(source, "inspect", &[("group", "Heap#java.lang.String"), ("top", "100000")]);
        let texts = rows(table(&found, "objects"));
        let count = |text: &str| texts.iter().filter(|r| r["text"] == text).count();
        assert_eq!(count("\"a text that is there 300 times\""), 300 + 1, "JDK {version}: and one in the code");
        assert_eq!(count("\"person 4711\""), 1);
        let sizes: Vec<u64> = texts.iter().map(|r| r["size"].parse().expect("a number")).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b));
        let retained = run(source, "inspect", &[("by", "retained"), ("top", "50")]);
        let sizes: Vec<u64> =
            rows(table(&retained, "objects")).iter().map(|r| r["retained"].parse().expect("a number")).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] > 100_000, "{sizes:?}");
    }
}

#[test]
fn one_object_is_shown_with_its_fields_and_what_refers_to_it() {
    for (version, recorded) in recorded("one object") {
        let source = &recorded.source;
        let found = run(source, "inspect", &[("group", "Heap#Contents$Person"), ("by", "address"), ("top", "100")]);
        let persons = rows(table(&found, "objects"));
        let one = |address: &str| run(source, "inspect", &[("object", address)]);
        let person = |number: &str| {
            let all = persons.iter().map(|p| one(&p["address"]));
            let is_it = |f: &Findings| row(table(f, "contents"), "place", "number")["value"] == number;
            all.into_iter().find(is_it).unwrap_or_else(|| panic!("person {number}"))
        };
        let first = person("0");
        let contents = table(&first, "contents");
        let name = row(contents, "place", "name");
        assert_eq!(
            (&*name["value"], &*name["type"], &*name["class"]),
            ("\"person 0\"", "java.lang.String", "Contents$Person")
        );
        let friend = row(contents, "place", "friend");
        assert_eq!(friend["type"], "Contents$Person", "JDK {version}");
        let friend = one(&friend["address"]);
        assert_eq!(row(table(&friend, "contents"), "place", "name")["value"], "\"person 49\"");
        let referrers = table(&friend, "referrers");
        assert_eq!(referrers.rows.len(), 2);
        assert_eq!(row(referrers, "place", "[49]")["type"], "java.lang.Object[]");
        assert_eq!(row(referrers, "place", "Contents$Person.friend")["type"], "Contents$Person");
        // Up to the list, which a static field holds.
        let array = one(&row(referrers, "place", "[49]")["address"]);
        assert_eq!(row(table(&array, "contents"), "place", "[3]")["type"], "Contents$Person");
        let list = row(table(&array, "referrers"), "place", "ArrayList.elementData");
        let list = one(&list["address"]);
        assert_eq!(row(table(&list, "contents"), "place", "size")["value"], "50");
        assert_eq!(
            row(table(&list, "referrers"), "place", "Contents$PersonRegistry.persons")["type"],
            "java.lang.Class"
        );
        let roots = rows(table(&list, "roots"));
        assert_eq!(roots.len(), 1);
        assert_eq!((&*roots[0]["kind"], &*roots[0]["detail"]), ("Static field", "Contents$PersonRegistry.persons"));

        let analysis = AnalysisRegistry::built_in().get("inspect").expect("it is there");
        for (object, part) in [("0x1", "there is no object"), ("person", "that is no address")] {
            let arguments = Arguments::parse(&analysis.describe(), [("object", object)]).expect("a text");
            let window = TimeWindow::whole(source.timeline());
            let error = analyses::run(&*analysis, source, window, &arguments, &Progress::new()).expect_err("no object");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

fn number(row: &BTreeMap<&str, String>, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("no number in {column}: {row:?}"))
}

#[test]
fn collections_are_measured_by_what_they_hold() {
    for (version, recorded) in recorded("collections") {
        let found = run(&recorded.source, "containers", &[("top", "1000")]);
        let kinds = table(&found, "kinds");
        let wasteful = table(&found, "wasteful");
        for (class, count, elements, slots, wasted, empty, sparse) in [
            ("MyArrayList", 2, 3, 1000, Some(997 * 4), 1, 1),
            ("MyVector", 1, 60, 64, Some(4 * 4), 0, 0),
            ("MyDeque", 1, 12, 17, Some(5 * 4), 0, 0),
            ("MyQueue", 1, 5, 500, Some(495 * 4), 0, 1),
            ("MyLinkedList", 1, 9, 0, Some(0), 0, 0),
            ("MyHashMap", 2, 10, 4096, None, 1, 1),
            ("MyLinkedHashMap", 1, 13, 32, None, 0, 0),
            ("MyTreeMap", 1, 11, 0, Some(0), 0, 0),
            ("MyTreeSet", 1, 7, 0, Some(0), 0, 0),
            ("MyHashSet", 1, 100, 256, Some(156 * 4), 0, 0),
            ("MyWeakMap", 1, 4, 16, None, 0, 0),
            ("MyIdentityMap", 1, 20, 64, Some(24 * 4), 0, 0),
            ("MyConcurrentMap", 1, 4000, 8192, None, 0, 0),
            ("MyCopyList", 1, 6, 6, Some(0), 0, 0),
        ] {
            let what = format!("JDK {version}: {class}");
            let row = row(kinds, "type", &format!("Contents${class}"));
            // Where hash codes differ from run to run; and where threads, disputing over the map, forget to let it grow.
            let sparse = if class == "MyWeakMap" { number(&row, "sparse") } else { sparse };
            let slots = if class == "MyConcurrentMap" { number(&row, "slots") } else { slots };
            for (column, expected) in
                [("count", count), ("elements", elements), ("slots", slots), ("empty", empty), ("sparse", sparse)]
            {
                assert_eq!(number(&row, column), expected, "{what}: {column} in {row:?}");
            }
            let most = slots * 4;
            match wasted {
                Some(wasted) => assert_eq!(number(&row, "wasted"), wasted, "{what}"),
                // Where hash codes differ from run to run: no more elements than slots in use.
                None => {
                    assert!(number(&row, "wasted") >= most.saturating_sub(elements * 4), "{what}: {row:?}");
                    assert!(number(&row, "wasted") < most, "{what}: {row:?}");
                }
            }
        }
        // What sets are made of counts with them.
        let mine = row(wasteful, "type", "Contents$MyHashMap");
        assert_eq!((&*mine["load"], number(&mine, "slots")), ("50", 4096), "JDK {version}");
        assert!(mine["place"].starts_with('['), "it lies in an array: {mine:?}");
        let total: u64 = rows(kinds).iter().map(|r| number(r, "wasted")).sum();
        let by_size: u64 = rows(table(&found, "sizes")).iter().map(|r| number(r, "wasted")).sum();
        assert_eq!(total, by_size);
        let one = run(&recorded.source, "containers", &[("group", "Heap#Contents$MyQueue")]);
        assert_eq!(rows(table(&one, "kinds")).len(), 1);
    }
}

#[test]
fn equal_strings_and_arrays_are_counted_once_each() {
    for (version, recorded) in recorded("duplicates") {
        let source = &recorded.source;
        let found = run(source, "duplicate-strings", &[("top", "100000"), ("characters", "1000")]);
        let texts = table(&found, "texts");
        let quoted = |text: &str| format!("\"{text}\"");
        let array = |characters: u64| (16 + characters).next_multiple_of(8);
        // The text in the code is one more, with an array of its own.
        let text = "a text that is there 300 times";
        let copies = row(texts, "text", &quoted(text));
        let numbers = ["copies", "arrays", "saved"].map(|c| number(&copies, c));
        assert_eq!(numbers, [301, 301, 300 * (24 + array(text.len() as u64))], "JDK {version}");
        let text = "a text whose 100 strings share an array";
        let shared = row(texts, "text", &quoted(text));
        let numbers = ["copies", "arrays", "bytes", "saved"].map(|c| number(&shared, c));
        let one = array(text.len() as u64);
        assert_eq!(numbers, [101, 2, 101 * 24 + 2 * one, 100 * 24 + one], "JDK {version}");
        // Equal bytes, but not equal texts.
        assert!(rows(texts).iter().all(|r| !r["text"].contains("€€€") && !r["text"].contains("¬ ¬ ")), "JDK {version}");
        assert_eq!(texts.left_out, None);

        // A second count, text by text.
        let all =
            run(source, "inspect", &[("group", "Heap#java.lang.String"), ("top", "100000"), ("characters", "1000000")]);
        let mut count: BTreeMap<String, u64> = BTreeMap::new();
        rows(table(&all, "objects")).into_iter().for_each(|r| *count.entry(r["text"].clone()).or_default() += 1);
        count.retain(|_, n| *n > 1);
        let found = run(source, "duplicate-strings", &[("top", "100000"), ("characters", "1000000")]);
        let counted: BTreeMap<String, u64> =
            rows(table(&found, "texts")).iter().map(|r| (r["text"].clone(), number(r, "copies"))).collect();
        assert_eq!(counted, count, "JDK {version}");

        let found = run(source, "duplicate-arrays", &[("top", "100000")]);
        let arrays = rows(table(&found, "arrays"));
        let of = |name: &str, length: &str| -> Vec<u64> {
            let all: Vec<_> = arrays.iter().filter(|r| r["type"] == name && r["length"] == length).collect();
            assert_eq!(all.len(), 1, "{all:?}");
            ["copies", "bytes", "saved"].map(|c| number(all[0], c)).to_vec()
        };
        assert_eq!(of("int[]", "123"), [40, 40 * 512, 39 * 512], "JDK {version}");
        assert_eq!(of("long[]", "217"), [30, 30 * 1752, 29 * 1752]);
        assert_eq!(of("Contents$Person[]", "2"), [5, 5 * 24, 4 * 24]);
        let ints = arrays.iter().find(|r| r["type"] == "int[]" && r["length"] == "123").expect("the array");
        assert_eq!(ints["text"], "int[123] {0, 1, 4, 9, 16, 25, 36, 49, … 115 more}");
        assert!(arrays.iter().all(|r| !r["text"].contains("a text that")), "arrays of strings count as strings");
        let with = run(source, "duplicate-arrays", &[("top", "100000"), ("strings", "yes")]);
        assert!(rows(table(&with, "arrays")).iter().any(|r| r["text"].contains("a text that")));
        let by_type: u64 = rows(table(&found, "array_types")).iter().map(|r| number(r, "saved")).sum();
        assert_eq!(by_type, arrays.iter().map(|r| number(r, "saved")).sum::<u64>());
    }
}

#[test]
fn boxes_and_arrays_of_one_value_are_found() {
    for (version, recorded) in recorded("boxes") {
        let found = run(&recorded.source, "boxed-numbers", &[("top", "100000")]);
        let values = table(&found, "boxed_values");
        let sevens = row(values, "text", "777777");
        let numbers = ["copies", "bytes", "saved"].map(|c| number(&sevens, c));
        assert_eq!((&*sevens["type"], numbers), ("java.lang.Integer", [200, 200 * 16, 199 * 16]), "JDK {version}");
        let eighths = row(values, "text", "0.125");
        assert_eq!((&*eighths["type"], number(&eighths, "copies")), ("java.lang.Double", 2));
        assert_eq!(row(values, "text", "1125899906842624")["type"], "java.lang.Long");
        let boxes = rows(table(&found, "boxes"));
        let sum = |rows: &[BTreeMap<&str, String>]| rows.iter().map(|r| number(r, "copies")).sum::<u64>();
        assert_eq!(sum(&boxes), sum(&rows(values)));

        let found = run(&recorded.source, "constant-arrays", &[("top", "100000")]);
        let all = rows(table(&found, "constants"));
        let sevens = all.iter().find(|r| r["type"] == "byte[]" && r["text"] == "7").expect("sevens");
        assert_eq!([number(sevens, "arrays"), number(sevens, "elements")], [10, (64..74).sum()], "JDK {version}");
        let zeros = all.iter().find(|r| r["type"] == "long[]" && r["text"] == "0").expect("zeros");
        assert!(number(zeros, "arrays") >= 30 && number(zeros, "elements") >= 30 * 217);
        let long = run(&recorded.source, "constant-arrays", &[("least", "70")]);
        let sevens: Vec<_> = rows(table(&long, "constants")).into_iter().filter(|r| r["text"] == "7").collect();
        assert_eq!(number(&sevens[0], "arrays"), 4);
    }
}

#[test]
fn classes_of_several_loaders_finalizers_and_threads_are_found() {
    for (version, recorded) in recorded("classes, finalizers, threads") {
        let source = &recorded.source;
        let found = run(source, "duplicate-classes", &[]);
        let twin = row(table(&found, "classes"), "class", "Contents$Twin");
        assert_eq!(["loaders", "instances"].map(|c| number(&twin, c)), [3, 3], "JDK {version}");
        let loaders = rows(table(&found, "loaders"));
        assert_eq!(loaders.iter().filter(|r| r["loader"].contains("URLClassLoader")).count(), 2, "{loaders:?}");

        let found = run(source, "finalizer-queue", &[]);
        let stuck = row(table(&found, "finalizers"), "type", "Contents$Stuck");
        // The finalizer of the first one runs.
        assert_eq!(number(&stuck, "waiting"), 24, "JDK {version}");
        assert!((24..=25).contains(&number(&stuck, "registered")), "{stuck:?}");
        let waiting = rows(table(&found, "waiting"));
        let mut positions: Vec<u64> = waiting.iter().map(|r| number(r, "position")).collect();
        positions.sort_unstable();
        assert_eq!(waiting.len(), 20);
        assert!(positions.windows(2).all(|p| p[0] < p[1]) && positions[0] >= 1);

        let found = run(source, "threads", &[("top", "1000")]);
        let threads = table(&found, "threads");
        let all = rows(threads);
        let at = all.iter().position(|r| r["thread"] == "\"the holder\"").expect("the thread");
        assert!(number(&all[at], "bytes") >= 123_456, "JDK {version}: {:?}", all[at]);
        assert!(
            number(&all[at], "retained") >= 123_456 + 24 && number(&all[at], "retained") < 200_000,
            "JDK {version}: {:?}",
            all[at]
        );
        let below = threads.rows[at + 1..].iter().take_while(|r| r.depth > 0).count();
        let stack = &all[at + 1..=at + below];
        let hold = stack.iter().position(|r| r["frame"].starts_with("Contents.hold() line ")).expect("the method");
        assert!(number(&stack[hold], "bytes") >= 123_456 + 24);
        let held: Vec<&str> =
            stack[hold + 1..].iter().take_while(|r| r["frame"].is_empty()).map(|r| &*r["type"]).collect();
        assert!(held.contains(&"byte[]") && held.contains(&"Contents$Person"), "JDK {version}: {held:?}");
        assert!(all.iter().any(|r| r["thread"] == "\"Finalizer\""));
    }
}

/// Dumps that are cut, and whose bytes are not what they were: every analysis ends, with findings or an error.
#[test]
fn damaged_dumps_are_survived_by_every_analysis() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("damaged.hprof");
    let whole = collections_dump();
    let check = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let Ok(source) = Source::open(std::slice::from_ref(&path), "type", GroupOptions::default(), &Progress::new())
        else {
            return 0;
        };
        let window = TimeWindow::whole(source.timeline());
        let mut rows = 0;
        for analysis in AnalysisRegistry::built_in().iter() {
            let description = analysis.describe();
            if description.needs.contains(&Need::Objects) {
                let arguments = Arguments::defaults(&description);
                if let Ok(found) = analyses::run(&**analysis, &source, window, &arguments, &Progress::new()) {
                    rows += found.tables.iter().map(|t| t.rows.len()).sum::<usize>();
                }
            }
        }
        rows
    };
    assert!(check(&whole) > 20);
    let mut random = 12_345u64;
    for round in 0..150 {
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let mut bytes = whole.clone();
        if round % 5 == 0 {
            bytes.truncate(31 + next(whole.len() - 31));
        }
        for _ in 0..1 + next(4) {
            let at = 31 + next(bytes.len() - 31);
            bytes[at] = next(256) as u8;
        }
        check(&bytes);
    }
}

/// Collections of many kinds with sizes that cannot be, sets of themselves, a queue of finalizers that bites its tail.
fn collections_dump() -> Vec<u8> {
    let mut d = Dump::new(2, 8, 0);
    let classes = [
        ("java/lang/Object", vec![]),
        ("java/lang/Class", vec![]),
        ("java/lang/String", vec![("value", 2), ("coder", 8), ("offset", 10), ("count", 10)]),
        ("java/util/ArrayList", vec![("size", 10), ("elementData", 2)]),
        ("java/util/ArrayDeque", vec![("elements", 2), ("head", 10), ("tail", 10)]),
        ("java/util/HashMap", vec![("table", 2), ("size", 10), ("loadFactor", 6)]),
        ("java/util/HashSet", vec![("map", 2)]),
        ("java/util/IdentityHashMap", vec![("table", 2), ("size", 10)]),
        ("java/util/concurrent/ConcurrentHashMap", vec![("baseCount", 11), ("counterCells", 2), ("table", 2)]),
        ("java/lang/Integer", vec![("value", 10)]),
        ("java/lang/ref/Reference", vec![("referent", 2), ("next", 2)]),
        ("java/lang/ref/Finalizer", vec![]),
        ("java/lang/ref/ReferenceQueue", vec![("head", 2)]),
        ("java/lang/Thread", vec![("name", 2)]),
        ("[Ljava/lang/Object;", vec![]),
    ];
    let id = |i: usize| 0x1000 + 0x100 * i as u64;
    let of = |name: &str| id(classes.iter().position(|c| c.0.ends_with(name)).expect(name));
    for (i, (name, fields)) in classes.iter().enumerate() {
        d.load_class(i as u32 + 1, id(i), name);
        for (f, (field, _)) in fields.iter().enumerate() {
            d.string(id(i) + 16 + f as u64, field);
        }
    }
    d.string(7, "queue");
    for (i, (name, fields)) in classes.iter().enumerate() {
        let fields: Vec<(u64, u8)> =
            fields.iter().enumerate().map(|(f, &(_, kind))| (id(i) + 16 + f as u64, kind)).collect();
        let above = if name.ends_with("Finalizer") { of("Reference") } else { 0 };
        let statics = if name.ends_with("Finalizer") { vec![(7, 2, 0x8800)] } else { vec![] };
        d.class(id(i), above, 0, &statics, &fields).root(0x05, id(i), &[]);
    }
    let huge = u64::from(u32::MAX);
    d.primitive_array(0x8000, 8, &[104, 105])
        .primitive_array(0x8040, 8, &[104, 105])
        .primitive_array(0x8080, 10, &[0; 40]);
    d.object_array(0x80c0, of("Object;"), &[0x8000, 0, 0, 0x9000]).object_array(0x8100, of("Object;"), &[]);
    for i in 0..4 {
        d.instance(0x8200 + 32 * i, 1, of("String"), &[(2, 0x8000 + 0x40 * (i % 2)), (8, 0), (10, i), (10, huge)]);
    }
    d.instance(0x8300, 1, of("ArrayList"), &[(10, huge), (2, 0x80c0)]);
    d.instance(0x8320, 1, of("ArrayList"), &[(10, 1000), (2, 0x80c0)]);
    d.instance(0x8340, 1, of("ArrayDeque"), &[(2, 0x80c0), (10, 3), (10, 1)]);
    d.instance(0x8360, 1, of("ArrayDeque"), &[(2, 0x8100), (10, huge), (10, 0x7fff_ffff)]);
    d.instance(0x8380, 1, of("util/HashMap"), &[(2, 0x80c0), (10, 0x8000_0000), (6, 0x7fc0_0000)]);
    d.instance(0x83a0, 1, of("HashSet"), &[(2, 0x83a0)]);
    d.instance(0x83c0, 1, of("HashSet"), &[(2, 0x8380)]);
    d.instance(0x83e0, 1, of("HashSet"), &[(2, 0x83c0)]);
    d.instance(0x8400, 1, of("IdentityHashMap"), &[(2, 0x80c0), (10, 0x7fff_ffff)]);
    d.instance(0x8420, 1, of("ConcurrentHashMap"), &[(11, u64::MAX >> 1), (2, 0x80c0), (2, 0x8080)]);
    d.instance(0x8460, 1, of("Integer"), &[(10, 5)]).instance(0x8480, 1, of("Integer"), &[(10, 5)]);
    d.instance(0x8800, 1, of("ReferenceQueue"), &[(2, 0x8820)]);
    d.instance(0x8820, 1, of("Finalizer"), &[(2, 0x8300), (2, 0x8840)]);
    d.instance(0x8840, 1, of("Finalizer"), &[(2, 0x8820), (2, 0x8820)]);
    d.instance(0x8860, 1, of("Thread"), &[(2, 0x8200)]);
    d.root(0x08, 0x8860, &[1, 0]).root(0x03, 0x8300, &[1, 77]).root(0x08, 0x8860, &[2, 0]);
    for object in [
        0x80c0, 0x8100, 0x8080, 0x8220, 0x8240, 0x8260, 0x8320, 0x8340, 0x8360, 0x83a0, 0x83c0, 0x83e0, 0x8400, 0x8420,
        0x8460, 0x8480,
    ] {
        d.root(0xff, object, &[]);
    }
    d.finish()
}
