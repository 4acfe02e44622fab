//! Counts and bytes of every class must equal the VM's own histogram, in every object layout and with every collector.
//!
//! A real program is recorded: histogram, dump, histogram. Compared are the classes on which both histograms agree:
//! the tool that takes them allocates a little in the process itself. `java.lang.Class` is the known exception in
//! bytes: dumps do not hold the sizes of class objects.

use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_testing::{jvm, root};
use std::collections::BTreeMap;

/// Java version, and the flags of a layout.
const LAYOUTS: &[(u32, &[&str])] = &[
    (17, &["-XX:+UseSerialGC"]),
    (17, &["-XX:+UseParallelGC"]),
    (17, &["-XX:+UseG1GC"]),
    (17, &["-XX:+UseSerialGC", "-XX:-UseCompressedOops"]),
    (17, &["-XX:+UseG1GC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"]),
    (17, &["-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=16"]),
    (25, &["-XX:+UseG1GC"]),
    (25, &["-XX:+UseSerialGC", "-XX:+UseCompactObjectHeaders"]),
    (25, &["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"]),
    (25, &["-XX:+UseParallelGC", "-XX:-UseCompressedOops"]),
    (17, &["-XX:+UseZGC"]),
    (25, &["-XX:+UseZGC"]),
    (25, &["-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=16"]),
];

/// ZGC leaves dead objects between live ones, so distances are too long there; the layout gives the sizes then. Not of
/// these: they have fields that dumps do not show and the layout cannot know.
const HIDDEN_IN_HOLES: &[&str] = &[
    "java.lang.invoke.ResolvedMethodName",
    "java.lang.ref.Finalizer$FinalizerThread",
    "java.lang.ref.Reference$ReferenceHandler",
];

/// How many classes may differ between two histograms of a resting process.
const MOST_RESTLESS: usize = 40;

#[test]
fn every_class_has_the_vm_s_counts_and_bytes() {
    let jdks = jvm::jdks();
    assert!(
        !jdks.is_empty(),
        "no JDK with jcmd and javac in /usr/lib/jvm or JAVA_HOME (apt-get install default-jdk-headless)"
    );
    let source = root().join("tests/java/Layouts.java");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for (version, flags) in LAYOUTS {
        let Some(jdk) = jdks.get(version) else {
            eprintln!("SKIPPED: no JDK {version} for {flags:?}");
            continue;
        };
        rows += 1;
        let folder = tempfile::tempdir().expect("a folder");
        jdk.compile(&[&source], ".", folder.path());
        let mut all = vec!["-Xmx300m"];
        all.extend(*flags);
        let program = jvm::Program::start(jdk, &all, &folder.path().to_string_lossy(), "Layouts");
        // The first call of each tool loads classes; the second finds everything as it stays.
        program.histogram();
        let dump = folder.path().join("a.hprof");
        program.dump(&dump, &[]);
        std::fs::remove_file(&dump).expect("the first dump");
        let before = program.histogram();
        program.dump(&dump, &[]);
        let after = program.histogram();
        let truth: BTreeMap<_, _> = before.iter().filter(|(class, row)| after.get(*class) == Some(row)).collect();
        let restless = before.len() - truth.len();
        assert!(
            restless <= MOST_RESTLESS,
            "JDK {version} {flags:?}: {restless} classes changed between two histograms"
        );

        let input = Input::open(&dump, &Progress::new()).expect("the dump");
        let quick = by_class(&input);
        let full = full(&input);
        let mut differing = 0;
        for (class, row) in &truth {
            let uncertain = flags.contains(&"-XX:+UseZGC") && HIDDEN_IN_HOLES.contains(&class.as_str());
            if *class == "java.lang.Class" || uncertain {
                continue;
            }
            for (way, ours) in [("histogram", &quick), ("graph", &full)] {
                let got = ours.get(*class).copied().unwrap_or_default();
                if got != **row {
                    differing += 1;
                    wrong.push(format!("JDK {version} {flags:?} {way}: {class} is {got:?}, the VM says {row:?}"));
                }
            }
        }
        eprintln!("JDK {version} {flags:?}: {} classes compared, {restless} left out, {differing} differ", truth.len());
    }
    if rows == 0 {
        eprintln!("SKIPPED: none of the JDKs whose layouts are known is installed (17, 25)");
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn by_class(input: &Input) -> BTreeMap<String, (u64, u64)> {
    let mut rows: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in hprof::histogram(input, &Progress::new()).expect("a histogram").rows {
        let sum = rows.entry(row.class.replace('+', ".")).or_default();
        sum.0 += row.objects;
        sum.1 += row.bytes;
    }
    rows
}

fn full(input: &Input) -> BTreeMap<String, (u64, u64)> {
    let heap = hprof::load(input, &Progress::new()).expect("a heap state");
    let mut rows: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for o in heap.objects() {
        // Hidden classes: the VM writes a slash before the address, the dump a plus.
        let name = heap.types()[heap.type_of(o).0 as usize].name.replace('+', ".");
        let sum = rows.entry(name).or_default();
        sum.0 += 1;
        sum.1 += heap.size_of(o);
    }
    rows
}
