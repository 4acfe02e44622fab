//! Classifiers as scripts: their view of objects, their limits, messages about mistakes, and the shipped examples.

use memory_city_analysis::group::script::{self, ClassifierScript, PROPERTIES, ScriptError, ScriptLimits};
use memory_city_analysis::group::{self, Cardinality, GroupOptions, MemoryTree, Reads, Registry};
use memory_city_formats::JVM;
use memory_city_heap::error::Error;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeId, TypeKind};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// A map of two entries, a list of two nodes, a text.
fn heap() -> HeapState {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let mut of =
        |name: &str, kind| heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() });
    let [map, table, entry, integer, list, node, string, chars, nothing] = [
        of("java.util.HashMap", TypeKind::Instance),
        of("java.util.HashMap$Node[]", TypeKind::ObjectArray),
        of("java.util.HashMap$Node", TypeKind::Instance),
        of("java.lang.Integer", TypeKind::Instance),
        of("java.util.LinkedList", TypeKind::Instance),
        of("java.util.LinkedList$Node", TypeKind::Instance),
        of("java.lang.String", TypeKind::Instance),
        of("char[]", TypeKind::PrimitiveArray),
        of("com.acme.Nothing", TypeKind::Instance),
    ];
    let mut add = |of: TypeId, size, length| heap.add_object(of, size, length);
    let (map, table) = (add(map, 48, None), add(table, 80, Some(16)));
    let (first, last, key, value) =
        (add(entry, 32, None), add(entry, 32, None), add(integer, 16, None), add(integer, 16, None));
    let (list, one, two) = (add(list, 32, None), add(node, 24, None), add(node, 24, None));
    let (string, chars, nothing) = (add(string, 24, None), add(chars, 40, Some(10)), add(nothing, 16, None));
    for (from, to) in [
        (map, table),
        (table, first),
        (first, last),
        (first, key),
        (last, key),
        (last, value),
        (list, one),
        (one, two),
        (two, one),
        (one, string),
        (string, chars),
    ] {
        heap.add_reference(from, to);
    }
    for object in [map, list, nothing] {
        heap.add_root(Root { object, kind: RootKind::StaticField, detail: "com.acme.Main.all".into() });
    }
    heap.finish()
}

fn counts(tree: &MemoryTree) -> BTreeMap<String, u64> {
    let path = |n: usize| {
        let up = std::iter::successors(Some(n), |&n| tree.parent(n));
        let mut names: Vec<&str> = up.filter(|&n| n != 0).map(|n| &**tree.name(n)).collect();
        names.reverse();
        names.join(" › ")
    };
    (0..tree.len()).map(|n| (path(n), tree.amount(n).objects)).collect()
}

fn run(script: ClassifierScript, list: &str) -> Result<BTreeMap<String, u64>, Error> {
    let mut registry = Registry::new();
    registry.define(script).expect("a name");
    let grouping = registry.grouping(list).expect("a grouping");
    group::group(&heap(), &grouping, GroupOptions::default(), &Progress::new()).map(|grouped| counts(&grouped.tree))
}

/// What a script of a cardinality makes of the heap.
fn by(cardinality: &str, code: &str) -> BTreeMap<String, u64> {
    let text = format!("// cardinality: {cardinality}\n{code}");
    run(ClassifierScript::parse("mine", &text).expect("a script"), "mine").expect("grouped")
}

fn expect(found: &BTreeMap<String, u64>, expected: &[(&str, u64)]) {
    let expected: BTreeMap<String, u64> = expected.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    assert_eq!(*found, expected);
}

#[test]
fn objects_tell_scripts_what_they_are() {
    expect(&by("one", "o.size > 30"), &[("", 12), ("true", 6), ("false", 6)]);
    expect(&by("one", "if o.length == -1 { () } else { o.length }"), &[("", 2), ("16", 1), ("10", 1)]);
    expect(&by("filter", "o.package_name.starts_with(\"java\")"), &[("", 12), ("Yes", 10), ("No", 2)]);
    expect(
        &by("hierarchy", "if o.is_array { [] } else { o.package_name.split('.') }"),
        &[("", 10), ("java", 9), ("java › util", 6), ("java › lang", 3), ("com", 1), ("com › acme", 1)],
    );
    expect(
        &by("many", "let all = []; for r in o.references { all.push(r.simple_type); } all"),
        &[
            ("", 8),
            ("HashMap$Node[]", 1),
            ("HashMap$Node", 2),
            ("Integer", 2),
            ("LinkedList$Node", 3),
            ("String", 1),
            ("char[]", 1),
        ],
    );
    expect(
        &by("hierarchies", "o.roots"),
        &[("", 3), ("Static field", 3), ("Static field › com.acme.Main", 3), ("Static field › com.acme.Main › all", 3)],
    );
    // References of references, in and out; the same object is the same.
    expect(
        &by("filter", "for r in o.references { for back in r.references { if back == o { return true; } } } false"),
        &[("", 12), ("Yes", 2), ("No", 10)],
    );
    expect(
        &by("one", "`${o.referrers.len}/${o.references.len}`"),
        &[("", 12), ("0/0", 1), ("0/1", 2), ("1/0", 2), ("1/1", 3), ("1/2", 2), ("2/0", 1), ("2/2", 1)],
    );
}

#[test]
fn scripts_are_part_of_any_grouping() {
    let script = || ClassifierScript::parse("large", "// cardinality: filter\no.size >= 32").expect("a script");
    expect(&run(script(), "filter(large and not type~linked)>large").expect("grouped"), &[("", 5), ("Yes", 5)]);
    let found = run(script(), "filter(type=char[])>type>pointed-from(large>pointed-from(type))").expect("grouped");
    let up = "char[] › Pointed from › No › Pointed from";
    assert_eq!(found[&format!("{up} › java.util.LinkedList$Node")], 1);
    // What reads only the type is asked once for each type, and follows a trace.
    let cheap = ClassifierScript::parse("cheap", "o.type.len() + o.package_name.len()").expect("a script");
    assert!(!cheap.meta().reads.by_object());
}

#[test]
fn headers_say_what_a_script_is() {
    let text = "// id: big\n// name: Big ones\n// description: Whether it is big\n// example: true\n// cardinality: filter\n// reads: size\n\no.size > 3";
    let meta = ClassifierScript::parse("file-name", text).expect("a script").meta().clone();
    assert_eq!((&*meta.id, &*meta.name, &*meta.example), ("big", "Big ones", "true"));
    assert_eq!((meta.cardinality, meta.reads), (Cardinality::Filter, Reads::SIZE));
    let bare = ClassifierScript::parse("bare", "o.length + o.references.len").expect("a script");
    assert_eq!((&*bare.meta().id, &*bare.meta().name), ("bare", "bare"));
    assert_eq!(bare.meta().reads, Reads::LENGTH | Reads::REFERENCES);
    // Inside functions, texts and closures too.
    for code in [
        "fn f(x) { x.size } f(o)",
        "`a ${o.size}`",
        "let f = |x| x.size; f.call(o)",
        "o?.size",
        "[o][0].size",
        "[].push(o.size)",
        "[1].map(|x| o.size)",
        "switch 3 { 1..4 => o.size, _ => 1 }",
        "#{a: [o.size]}.a",
        "let x = 1; x += o.size; x",
        "if 1 in [o.size] { 1 } else { 2 }",
        "try { throw o.size } catch (e) { e }",
        "switch o.size { 1 => 2, _ => 3 }",
        "do { return -o.size; } while false",
        "for (x, i) in [o.size] { return x; }",
        "let x = [1]; x[0] = o.size; x[0]",
        "(|| o.size).call()",
    ] {
        assert_eq!(ClassifierScript::parse("x", code).expect(code).meta().reads, Reads::SIZE, "{code}");
    }
    for property in &PROPERTIES {
        let script = ClassifierScript::parse("x", &format!("`${{o.{}}}`", property.name)).expect(property.name);
        assert_eq!(script.meta().reads, property.reads, "{}", property.name);
        run(script, "x").expect(property.name);
    }
}

/// Place, message and remedy of what is wrong, as people see it.
fn mistake(text: &str) -> String {
    match ClassifierScript::parse("mine", text) {
        Err(error) => error.to_string(),
        Ok(script) => {
            let limits = ScriptLimits { operations: 10_000, entries: 1000, text: 1000, ..ScriptLimits::default() };
            run(script.limited(limits), "mine").expect_err(text).to_string()
        }
    }
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let nested = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    insta::assert_snapshot!(
        [
            "o.size +",
            "let x = 3;\nlet y = x + ;",
            "// reads: type\n\nif o.type == \"char[]\" {\n    o.size\n} else { 0 }",
            "// reads: typ",
            "// cardinality: two",
            "// nmae: x",
            "o.sise",
            "x",
            "o.size / (o.size - o.size)",
            "o.length * 9223372036854775807 * 9",
            "loop { }",
            "fn f(x) { f(x) + f(x) } f(1)",
            "let x = \"a\"; loop { x += x; }",
            "let x = []; loop { x.push(x); }",
            "let x = #{}; let i = 0; loop { x[`${i}`] = x; i += 1; }",
            "[1, 2]",
            "o",
            "// cardinality: filter\n3",
            "// cardinality: many\n3",
            "// cardinality: hierarchy\n[o]",
            "// cardinality: hierarchies\n[3]",
            "let s = \"\"; for i in 0..500 { s += \"abc\"; } s",
            "throw \"no\"",
            "o.references[7]",
            "o.size = 3",
            "eval(\"1\")",
            "import \"x\" as y;",
            "sleep(1000)",
            "print(1); undefined(o)",
            "fn inner(x) {\n  x.foo\n}\ninner(o)",
            &nested,
            &" ".repeat(100_000),
        ]
        .map(mistake)
        .map(|m| m.lines().next().unwrap_or_default().to_owned())
        .join("\n")
    );
}

#[test]
fn a_script_is_limited_for_all_objects_together_and_can_be_cancelled() {
    let code = "let n = 0; for i in 0..5000 { n += i; } n";
    let limits = ScriptLimits { operations_in_all: 20_000, ..ScriptLimits::default() };
    let script = ClassifierScript::parse("mine", &format!("o.size; {code}")).expect("a script");
    let error = run(script.clone().limited(limits), "mine").expect_err("too much").to_string();
    assert!(error.contains("for all objects"), "{error}");
    run(script, "mine").expect("within limits");
    let mut registry = Registry::new();
    let endless = ClassifierScript::parse("endless", "o.size; loop { }").expect("a script");
    let patient = ScriptLimits { operations: u64::MAX, operations_in_all: u64::MAX, ..ScriptLimits::default() };
    registry.define(endless.limited(patient)).expect("a name");
    let grouping = registry.grouping("endless").expect("a grouping");
    let progress = Progress::new();
    let canceller = progress.clone();
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        canceller.cancel();
    });
    let result = group::group(&heap(), &grouping, GroupOptions::default(), &progress);
    assert!(matches!(result.map(|_| ()), Err(Error::Cancelled)));
    waiting.join().expect("joined");
}

#[test]
fn scripts_are_typed_again_and_kept_as_files() {
    let mut registry = Registry::new();
    let define = |registry: &mut Registry, id: &str, text: &str| {
        registry.define(ClassifierScript::parse(id, text).expect("a script"))
    };
    define(&mut registry, "mine", "1").expect("new");
    define(&mut registry, "mine", "// name: Mine\no.size").expect("again");
    assert_eq!(registry.grouping("type>mine").expect("a grouping").title, "Type › Mine");
    assert!(define(&mut registry, "type", "1").is_err());
    assert!(define(&mut registry, "no name", "1").is_err());
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("classifiers");
    assert!(script::in_folder(&kept).is_empty());
    let path = script::save(&kept, "kept", "// name: Kept\no.size").expect("saved");
    assert_eq!(path.file_name().and_then(|n| n.to_str()), Some("kept.classifier.rhai"));
    script::save(&kept, "broken", "o.").expect_err("no script");
    std::fs::write(kept.join("bad.classifier.rhai"), "o.").expect("written");
    std::fs::write(kept.join("other.txt"), "o.").expect("written");
    let found: Vec<Result<ClassifierScript, ScriptError>> = script::in_folder(&kept);
    assert_eq!(found.len(), 2);
    let wrong = found[0].as_ref().expect_err("broken").to_string();
    assert!(wrong.contains("bad.classifier.rhai, line 1"), "{wrong}");
    assert_eq!(&*found[1].as_ref().expect("kept").meta().name, "Kept");
}

fn example(name: &str) -> ClassifierScript {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/classifiers");
    let script = ClassifierScript::read(&folder.join(format!("{name}.classifier.rhai"))).expect("a script");
    let text = std::fs::read_to_string(folder.join(format!("{name}.classifier.rhai"))).expect("a file");
    assert!(text.lines().count() < 50, "far below 150 lines");
    assert!(!script.meta().description.is_empty() && !script.meta().example.is_empty());
    script
}

#[test]
fn collection_health_tells_heads_entries_arrays_and_contents() {
    let found = run(example("collection-health"), "collection-health>type").expect("grouped");
    expect(
        &found,
        &[
            ("", 12),
            ("head", 3),
            ("head › java.util.HashMap", 1),
            ("head › java.util.LinkedList", 1),
            ("head › java.lang.String", 1),
            ("array", 1),
            ("array › java.util.HashMap$Node[]", 1),
            ("entry", 3),
            // The last node of a bucket refers to no other node: it is no entry, taken literally.
            ("entry › java.util.HashMap$Node", 1),
            ("entry › java.util.LinkedList$Node", 2),
            ("contained", 5),
            ("contained › java.util.HashMap$Node", 1),
            ("contained › java.lang.Integer", 2),
            ("contained › char[]", 1),
            ("contained › com.acme.Nothing", 1),
        ],
    );
}

proptest! {
    /// Whatever is typed: no panic, and an end.
    #[test]
    fn any_text_is_a_script_or_an_error(text in "(o|\\.|size|type|references|\\(|\\)|\\{|\\}|\\[|\\]|if|for|in|let|x|=|;|\\+|\\*|1|\"|`|\\$|//|\n| |fn|\\||loop|while|return|\\?|é){0,40}") {
        if let Ok(script) = ClassifierScript::parse("mine", &text) {
            let limits = ScriptLimits { operations: 1000, ..ScriptLimits::default() };
            let _ = run(script.limited(limits), "mine");
        }
    }
}

/// Objects are counted, not numbered: what is asked for is what is at hand.
#[test]
fn a_script_gets_the_object_at_hand() {
    let heap = heap();
    let script = ClassifierScript::parse("where", "o.address").expect("a script");
    let mut registry = Registry::new();
    registry.define(script).expect("a name");
    let grouping = registry.grouping("where").expect("a grouping");
    let grouped = group::group(&heap, &grouping, GroupOptions::default(), &Progress::new()).expect("grouped");
    for o in heap.objects() {
        let names: Vec<&str> = grouped.leaves_of(&heap, o).iter().map(|&l| &**grouped.tree.name(l as usize)).collect();
        let address = heap.address(ObjectId(o.0)).expect("an address").to_string();
        assert_eq!(names, [address.as_str()]);
    }
}

#[test]
fn instance_health_divides_all_bytes_of_a_real_heap() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample-data/person-leak");
    let series = memory_city_formats::open(&[folder], &Progress::new()).expect("the sample");
    let heap = series.load(series.points().len() - 1, &Progress::new()).expect("a heap");
    let told = |o: ObjectId| heap.parts_of(o).map(|p| p.header + p.primitive + p.pointers + p.nulls);
    let mut loose = 0;
    for o in heap.objects() {
        let size = heap.size_of(o);
        let Some(told) = told(o) else { continue };
        assert!(told <= size, "{} of {size} bytes of {}", told, heap.types()[heap.type_of(o).0 as usize].name);
        loose += u64::from(size - told >= 8);
        // Known from the source of the class: hash, key, value, next.
        if heap.types()[heap.type_of(o).0 as usize].name == "java.util.HashMap$Node" {
            let parts = heap.parts_of(o).expect("known");
            assert_eq!((parts.header, parts.primitive, parts.pointers + parts.nulls, size), (12, 4, 12, 32));
        }
    }
    // Padded classes, and those with fields that dumps do not show, are few.
    assert!(loose * 100 < heap.object_count() as u64, "{loose} of {}", heap.object_count());
    let mut registry = Registry::new();
    registry.define(example("instance-health")).expect("a name");
    let grouping = registry.grouping("kind>instance-health").expect("a grouping");
    let options = GroupOptions { include_unreachable: true, ..GroupOptions::default() };
    let grouped = group::group(&heap, &grouping, options, &Progress::new()).expect("grouped");
    let tree = &grouped.tree;
    let rows: Vec<usize> = (0..tree.len()).filter(|&n| tree.restarts(n)).collect();
    assert_eq!(rows.len(), 3, "instances, small and big arrays");
    for row in rows {
        let above = tree.parent(row).expect("a group");
        let parts = (0..tree.len()).filter(|&n| tree.parent(n) == Some(row));
        assert_eq!(tree.amount(row), tree.amount(above), "all of its bytes, nothing else");
        assert_eq!(parts.map(|n| tree.amount(n).bytes).sum::<u64>(), tree.amount(above).bytes);
    }
    let by_name =
        |name: &str| (0..tree.len()).filter(|&n| **tree.name(n) == *name).map(|n| tree.amount(n).bytes).sum::<u64>();
    let [header, pointer, null] = ["header", "pointer", "null"].map(by_name);
    let headers: u64 = heap.objects().filter_map(|o| heap.parts_of(o)).map(|p| p.header).sum();
    assert_eq!(header, headers);
    assert!(pointer > 0 && null > 0);
}

/// Nothing waits for a pipe, and no device is read without end.
#[test]
fn a_script_is_a_small_regular_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = folder.path().join("long.classifier.rhai");
    std::fs::write(&long, " ".repeat(65 << 10)).expect("written");
    let mut all = vec![(long, "more than"), (folder.path().to_owned(), "cannot be read")];
    if cfg!(target_os = "linux") {
        all.push(("/dev/zero".into(), "no file"));
    }
    for (path, why) in all {
        let error = ClassifierScript::read(&path).expect_err("no script").to_string();
        assert!(error.contains(why) && error.contains(&path.display().to_string()), "{error}");
    }
}
