//! Data structures of a program whose numbers of elements are known: `tests/java/Structures.java` says beside each how many it makes.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::structures;
use memory_city_analysis::timeline::{NodeId, Source};
use memory_city_heap::progress::Progress;
use memory_city_testing::{jvm, root};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn run(dump: &Path, given: &[(&str, &str)]) -> Findings {
    run_analysis("structures", dump, given)
}

fn run_analysis(id: &str, dump: &Path, given: &[(&str, &str)]) -> Findings {
    let source =
        Source::open(&[dump.to_path_buf()], "type", GroupOptions::default(), &Progress::new()).expect("the dump");
    let analysis = AnalysisRegistry::built_in().get(id).expect("it is there");
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    let window = TimeWindow::whole(source.timeline());
    analyses::run(&*analysis, &source, window, &arguments, &Progress::new()).expect("structures")
}

type Rows = Vec<BTreeMap<String, String>>;

fn rows(findings: &Findings, id: &str) -> Rows {
    let table = findings.tables.iter().find(|table| table.header.id == id).expect("the table");
    let columns = || table.header.columns.iter().map(|column| column.id.to_string());
    table.rows.iter().map(|row| columns().zip(row.cells.iter().map(|cell| cell.plain())).collect()).collect()
}

/// The rows of structures of a type that have so many elements.
fn with(all: &Rows, of: &str, elements: u32) -> Rows {
    let is_it = |row: &&BTreeMap<String, String>| row["type"] == of && row["elements"] == elements.to_string();
    all.iter().filter(is_it).cloned().collect()
}

/// A dump of a program of `tests/java` that was made with these jars of the system; `None` where one is not there.
fn dump_of(program: &str, jars: &[&str]) -> Option<(tempfile::TempDir, PathBuf)> {
    let Some(jdk) = jvm::jdk_from(11) else {
        jvm::skip(program, "there is no JDK 11 or newer");
        return None;
    };
    let jars: Vec<PathBuf> = jars.iter().map(|jar| Path::new("/usr/share/java").join(jar)).collect();
    if let Some(missing) = jars.iter().find(|jar| !jar.exists()) {
        // `make test` installs them, under names that other distributions may not have.
        jvm::say(&format!("*** SKIPPED {program}: there is no {}", missing.display()));
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let classes = folder.path().join("classes");
    let class_path = |first: &Path| {
        let all = std::iter::once(first).chain(jars.iter().map(PathBuf::as_path));
        std::env::join_paths(all).expect("a class path").to_string_lossy().into_owned()
    };
    let source = root().join("tests/java").join(format!("{program}.java"));
    jdk.compile(&[&source], &class_path(Path::new(".")), &classes);
    let running = jvm::Program::start(&jdk, &["-Xmx200m", "-XX:+UseSerialGC"], &class_path(&classes), program);
    let dump = folder.path().join("structures.hprof");
    running.dump(&dump, &[]);
    Some((folder, dump))
}

/// Bytes by the names of the first level of a grouping, and of all.
fn by_group(dump: &Path, grouping: &str) -> (BTreeMap<String, u64>, u64) {
    let source =
        Source::open(&[dump.to_path_buf()], grouping, GroupOptions::default(), &Progress::new()).expect("the dump");
    let timeline = source.timeline();
    let bytes = |node| timeline.amount(0, node).bytes;
    let groups = timeline.children(NodeId::ROOT).iter().map(|&node| (timeline.name(node).to_owned(), bytes(node)));
    (groups.collect(), bytes(NodeId::ROOT))
}

/// Type, elements, objects of the structure, leaves.
const KNOWN: [(&str, u32, u32, u32); 34] = [
    ("java.util.ArrayList", 101, 2, 101),
    ("java.util.Vector", 102, 2, 102),
    ("java.util.ArrayDeque", 103, 2, 103),
    ("java.util.ArrayDeque", 12, 2, 12),
    ("java.util.PriorityQueue", 104, 2, 104),
    ("java.util.LinkedList", 105, 106, 105),
    // A set is an object and its map, which is its contents.
    ("java.util.HashSet", 106, 1, 1),
    ("java.util.HashMap", 106, 108, 107),
    ("java.util.TreeSet", 107, 1, 1),
    ("java.util.TreeMap", 107, 108, 108),
    ("java.util.concurrent.CopyOnWriteArrayList", 108, 2, 108),
    ("java.util.concurrent.CopyOnWriteArraySet", 109, 1, 1),
    // The first node has no element.
    ("java.util.concurrent.LinkedBlockingQueue", 110, 112, 110),
    ("java.util.concurrent.LinkedBlockingDeque", 111, 112, 111),
    ("java.util.concurrent.ArrayBlockingQueue", 112, 2, 112),
    ("java.util.concurrent.PriorityBlockingQueue", 113, 2, 113),
    ("java.util.concurrent.DelayQueue", 114, 1, 1),
    ("java.util.concurrent.ConcurrentSkipListSet", 115, 1, 1),
    ("java.util.LinkedHashSet", 116, 1, 1),
    ("java.util.Collections$SetFromMap", 117, 1, 2),
    ("java.util.concurrent.ConcurrentHashMap$KeySetView", 118, 1, 1),
    ("java.util.HashMap", 201, 203, 402),
    ("java.util.LinkedHashMap", 202, 204, 404),
    ("java.util.TreeMap", 203, 204, 406),
    ("java.util.Hashtable", 204, 206, 408),
    ("java.util.IdentityHashMap", 205, 2, 410),
    ("java.util.concurrent.ConcurrentHashMap", 206, 208, 412),
    ("Structures$Sized", 208, 210, 416),
    ("java.util.WeakHashMap", 209, 212, 418),
    // Its nodes are trees.
    ("java.util.HashMap", 210, 212, 420),
    ("java.util.EnumMap", 7, 2, 7),
    ("java.util.Arrays$ArrayList", 3, 2, 3),
    ("java.util.Collections$SynchronizedMap", 1, 1, 1),
    ("java.util.Properties", 1, 1, 1),
];

#[test]
fn structures_have_the_elements_that_the_program_put_into_them() {
    let Some((folder, dump)) = dump_of("Structures", &[]) else { return };
    let all = rows(&run(&dump, &[("which", "all"), ("top", "100000")]), "structures");
    let of = |of: &str, elements: u32| with(&all, of, elements);
    for (name, elements, objects, leaves) in KNOWN {
        let found = of(name, elements);
        let numbers = |row: &BTreeMap<String, String>| (row["objects"].clone(), row["leaves"].clone());
        assert!(
            found.iter().map(numbers).any(|found| found == (objects.to_string(), leaves.to_string())),
            "{name} of {elements}: {found:#?}"
        );
        assert!(elements < 100 || found.len() == 1, "{name} of {elements}: {found:#?}");
    }
    // Their levels are drawn by lot.
    assert_eq!(of("java.util.concurrent.ConcurrentSkipListMap", 207)[0]["leaves"], "414");
    let slots: f64 = of("java.util.ArrayList", 101)[0]["used"].parse().expect("a share");
    assert!(slots > 50.0 && slots <= 100.0, "{slots}");

    // The program's own structure is described while it is looked at.
    assert!(all.iter().all(|row| row["type"] != "Structures$Depot"));
    let suggested = run_analysis("suggested-structures", &dump, &[("top", "1000")]).answers.join("\n");
    let depot = "DS Structures$Depot {\n    Structures$Shelf[];\n    size: filled;\n    capacity: shelves.length;\n}\n\
        Structures$Shelf {\n    Structures$Shelf;\n    (*);\n    value: item;\n}";
    assert!(suggested.contains(depot), "{suggested}");
    suggestions_are_like_descriptions(&dump, (1, 2), (3, 4), &SUGGESTED_OF_JDK);
    let file = folder.path().join("depot.ds");
    let text = "DS Structures$Depot { Structures$Shelf[]; size: filled; name: title; }\n\
        Structures$Shelf { Structures$Shelf; (*); value: item; }\n";
    std::fs::write(&file, text).expect("written");
    structures::add(structures::read(&file).expect("descriptions"));
    let depots = rows(&run(&dump, &[("top", "100000"), ("which", "all")]), "structures");
    let depots: Rows = depots.into_iter().filter(|row| row["type"] == "Structures$Depot").collect();
    let cells = ["elements", "objects", "leaves", "name"].map(|column| depots[0][column].clone());
    assert_eq!((depots.len(), cells), (1, ["301", "303", "301", "\"the depot\""].map(str::to_owned)));

    adds_up(&dump);
}

/// Heads that the heap itself suggests, with the field of their number of elements.
const SUGGESTED_OF_JDK: [(&str, &str); 8] = [
    ("java.util.HashMap", "size"),
    ("java.util.HashSet", "map"),
    ("java.util.LinkedList", "size"),
    ("java.util.PriorityQueue", "size"),
    ("java.util.TreeMap", "size"),
    ("java.util.concurrent.ArrayBlockingQueue", "count"),
    ("java.util.concurrent.CopyOnWriteArrayList", "array.length"),
    ("java.util.concurrent.LinkedBlockingQueue", "count.value"),
];

const SUGGESTED_OF_LIBRARIES: [(&str, &str); 6] = [
    ("clojure.lang.PersistentTreeMap", "_count"),
    ("com.google.common.collect.LinkedListMultimap", "size"),
    ("io.netty.util.collection.IntObjectHashMap", "size"),
    ("java.util.ArrayList", "size"),
    ("scala.collection.mutable.ArrayBuffer", "size0"),
    ("scala.collection.mutable.HashMap", "tableSize"),
];

/// Suggestions that leave out no described type: at least `recall` of the described ones and `precision` of the suggested ones are both.
fn suggestions_are_like_descriptions(dump: &Path, recall: (u32, u32), precision: (u32, u32), fields: &[(&str, &str)]) {
    let findings = run_analysis("suggested-structures", dump, &[("described", "include"), ("top", "1000")]);
    let all = rows(&findings, "suggested");
    for (of, field) in fields {
        let found = all.iter().find(|row| row["type"] == *of);
        assert_eq!(found.map(|row| &*row["size"]), Some(*field), "{of}");
    }
    let note = findings.notes.iter().find(|note| note.contains("suggested")).expect("the comparison");
    let share = |part: &str| {
        let mut numbers = part.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
        (numbers.next().expect("a number"), numbers.next().expect("a second number"))
    };
    let (first, second) = note.split_once(". ").expect("two sentences");
    for ((found, of), (least, of_all)) in [(share(first), recall), (share(second), precision)] {
        assert!(found * of_all >= least * of, "{note}");
    }
}

/// Type of the head, and elements, of the collections of libraries.
const OF_LIBRARIES: [(&str, u32); 25] = [
    ("com.google.common.collect.RegularImmutableList", 1301),
    ("com.google.common.collect.RegularImmutableSet", 1302),
    ("com.google.common.collect.RegularImmutableMap", 1303),
    ("com.google.common.collect.HashBiMap", 1304),
    ("com.google.common.collect.ArrayListMultimap", 1305),
    ("com.google.common.collect.LinkedListMultimap", 1306),
    ("com.google.common.cache.LocalCache", 1307),
    ("com.google.common.cache.LocalCache$LocalManualCache", 1307),
    ("com.google.common.collect.EvictingQueue", 1308),
    ("clojure.lang.PersistentVector", 1401),
    ("clojure.lang.PersistentHashMap", 1402),
    ("clojure.lang.PersistentHashSet", 1403),
    ("clojure.lang.PersistentTreeMap", 1404),
    ("clojure.lang.PersistentList", 1405),
    ("clojure.lang.PersistentQueue", 1406),
    ("clojure.lang.PersistentArrayMap", 7),
    ("scala.collection.mutable.ArrayBuffer", 1501),
    ("scala.collection.mutable.ListBuffer", 1502),
    ("scala.collection.mutable.HashMap", 1503),
    ("scala.collection.mutable.HashSet", 1504),
    ("scala.collection.mutable.LinkedHashMap", 1505),
    ("scala.collection.immutable.Vector", 1506),
    ("scala.collection.immutable.HashMap$HashTrieMap", 1507),
    // No field says its size: its entries are counted.
    ("scala.collection.concurrent.TrieMap", 1508),
    ("io.netty.util.collection.IntObjectHashMap", 1601),
];

#[test]
fn structures_of_libraries_have_the_elements_that_were_put_into_them() {
    let jars = ["guava.jar", "clojure.jar", "scala-library.jar", "netty-common.jar"];
    let Some((_folder, dump)) = dump_of("Libraries", &jars) else { return };
    let all = rows(&run(&dump, &[("which", "all"), ("top", "100000")]), "structures");
    let lacking: Vec<_> = OF_LIBRARIES.iter().filter(|(of, elements)| with(&all, of, *elements).is_empty()).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
    assert_eq!(with(&all, "io.netty.util.collection.LongObjectHashMap", 1602).len(), 1);
    suggestions_are_like_descriptions(&dump, (1, 2), (3, 4), &SUGGESTED_OF_LIBRARIES);
    // Contents that lie in parts, each once: an entry is no contents, its value and its key are.
    for (of, elements, leaves) in [
        ("com.google.common.collect.HashBiMap", 1304, 2 * 1304),
        ("com.google.common.cache.LocalCache", 1307, 2 * 1307),
        ("clojure.lang.PersistentVector", 1401, 1401),
        ("clojure.lang.PersistentHashMap", 1402, 2 * 1402),
        ("clojure.lang.PersistentTreeMap", 1404, 2 * 1404),
        ("scala.collection.mutable.HashMap", 1503, 2 * 1503),
        ("scala.collection.immutable.Vector", 1506, 1506),
        ("scala.collection.concurrent.TrieMap", 1508, 2 * 1508),
    ] {
        assert_eq!(with(&all, of, elements)[0]["leaves"], leaves.to_string(), "{of}");
    }
}

/// The same of more libraries.
const OF_MORE_LIBRARIES: [(&str, u32); 35] = [
    ("com.github.benmanes.caffeine.cache.BoundedLocalCache$BoundedLocalManualCache", 1701),
    // The cache behind it is of a type that was generated.
    ("com.github.benmanes.caffeine.cache.SSMS", 1701),
    ("com.github.benmanes.caffeine.cache.UnboundedLocalCache$UnboundedLocalManualCache", 1702),
    ("com.github.benmanes.caffeine.cache.UnboundedLocalCache", 1702),
    ("com.github.benmanes.caffeine.cache.BoundedLocalCache$BoundedLocalAsyncLoadingCache", 1703),
    ("org.jctools.queues.MpscArrayQueue", 1801),
    ("org.jctools.queues.SpscArrayQueue", 1802),
    ("org.jctools.queues.MpscUnboundedArrayQueue", 1803),
    ("org.jctools.queues.SpscUnboundedArrayQueue", 1804),
    ("org.jctools.queues.MpmcArrayQueue", 1805),
    ("org.jctools.queues.MpscChunkedArrayQueue", 1806),
    ("org.h2.mvstore.MVMap", 1901),
    ("org.h2.mvstore.Page$NonLeaf", 1901),
    ("org.h2.mvstore.MVMap", 1902),
    ("org.h2.mvstore.MVMap", 1903),
    ("org.h2.mvstore.tx.TransactionMap", 1904),
    ("org.h2.mvstore.tx.TransactionStore$TxMapBuilder$TMVMap", 1904),
    ("org.h2.result.LocalResult", 1905),
    ("org.mozilla.javascript.NativeObject", 905),
    ("org.mozilla.javascript.EmbeddedSlotMap", 905),
    ("org.mozilla.javascript.NativeObject", 2001),
    ("org.mozilla.javascript.HashSlotMap", 2001),
    ("org.mozilla.javascript.NativeArray", 2002),
    ("org.mozilla.javascript.NativeMap", 2003),
    ("org.mozilla.javascript.Hashtable", 2003),
    ("org.mozilla.javascript.NativeSet", 2004),
    ("org.mozilla.javascript.Hashtable", 2004),
    ("gnu.trove.map.hash.THashMap", 2101),
    ("gnu.trove.set.hash.THashSet", 2102),
    ("gnu.trove.map.hash.TIntObjectHashMap", 2103),
    ("gnu.trove.map.hash.TObjectIntHashMap", 2104),
    ("gnu.trove.set.hash.TIntHashSet", 2105),
    ("gnu.trove.list.array.TIntArrayList", 2106),
    ("gnu.trove.list.linked.TLongLinkedList", 2107),
    ("gnu.trove.stack.array.TIntArrayStack", 2108),
];

#[test]
fn structures_of_more_libraries_have_the_elements_that_were_put_into_them() {
    let jars = ["caffeine.jar", "jctools-core.jar", "h2.jar", "rhino.jar", "trove4j.jar"];
    let Some((_folder, dump)) = dump_of("MoreLibraries", &jars) else { return };
    let all = rows(&run(&dump, &[("which", "all"), ("top", "100000")]), "structures");
    let lacking: Vec<_> =
        OF_MORE_LIBRARIES.iter().filter(|(of, elements)| with(&all, of, *elements).is_empty()).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
    for (of, elements, leaves) in [
        // Besides keys and values, the map that has all entries.
        ("com.github.benmanes.caffeine.cache.SSMS", 1701, 2 * 1701 + 1),
        ("org.jctools.queues.MpscArrayQueue", 1801, 1801),
        ("org.mozilla.javascript.EmbeddedSlotMap", 905, 2 * 905),
        ("gnu.trove.map.hash.TIntObjectHashMap", 2103, 2103),
    ] {
        assert_eq!(with(&all, of, elements)[0]["leaves"], leaves.to_string(), "{of}");
    }
    for (of, elements, room) in [
        ("org.jctools.queues.MpmcArrayQueue", 1805, "2048"),
        ("org.mozilla.javascript.EmbeddedSlotMap", 905, "2048"),
        ("gnu.trove.list.array.TIntArrayList", 2106, "2560"),
    ] {
        assert_eq!(with(&all, of, elements)[0]["capacity"], room, "{of}");
    }
}

/// Structures and what is in none are the heap, however they are asked for.
fn adds_up(dump: &Path) {
    let findings = run(dump, &[]);
    let retained: BTreeMap<String, u64> = rows(&findings, "types")
        .into_iter()
        .map(|row| (row["type"].clone(), row["retained"].parse().expect("bytes")))
        .filter(|(_, bytes)| *bytes > 0)
        .collect();
    let (mut by_structure, total) = by_group(dump, "structure>type");
    let outside = by_structure.remove("In no structure").expect("some objects");
    assert_eq!(by_structure, retained);
    assert_eq!(outside + retained.values().sum::<u64>(), total);
    for grouping in ["role", "contained-in>type"] {
        let (groups, all) = by_group(dump, grouping);
        assert_eq!((groups.values().sum::<u64>(), all), (total, total), "{grouping}: {groups:?}");
    }
    let (roles, _) = by_group(dump, "role");
    assert_eq!(roles.keys().collect::<Vec<_>>(), ["Head", "In no structure", "Leaf", "Part"]);
    let (heads, of_heads) = by_group(dump, "structure(heads)>type");
    assert!(of_heads < roles["Head"] && heads.keys().all(|name| retained.contains_key(name)), "{heads:?}");
}

#[test]
fn files_of_descriptions_are_found_in_a_folder_and_mistakes_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(structures::in_folder(&folder.path().join("none")).is_empty());
    for (name, text) in
        [("b.ds", &b"DS B {\n  C\n}"[..]), ("a.ds", b"DS A { (*); }"), ("c.ds", b"DS \xff"), ("d.txt", b"DS")]
    {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let found = structures::in_folder(folder.path());
    let found: Vec<Result<usize, String>> =
        found.into_iter().map(|file| file.map(|f| f.descriptions().len()).map_err(|e| e.to_string())).collect();
    let path = |name: &str| folder.path().join(name).display().to_string();
    assert_eq!(
        found,
        [
            Ok(1),
            Err(format!(
                "{}, line 3, column 1: found `}}`, expected `;`. Correct the file; the language is explained in docs/structures.md",
                path("b.ds")
            )),
            Err(format!(
                "{} at byte 3: found bytes that are no UTF-8, expected descriptions of data structures as text. Save it as UTF-8",
                path("c.ds")
            )),
        ]
    );
}
