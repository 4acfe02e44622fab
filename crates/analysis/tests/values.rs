//! Analyses of what objects hold, against a program whose objects are known: `tests/java/Contents.java` says beside each
//! what it makes.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::Source;
use memory_city_heap::progress::Progress;
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
