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

/// A layout to compare: flags, and the oldest JDK that has it.
struct Layout {
    oldest: u32,
    flags: &'static [&'static str],
}

const fn layout(oldest: u32, flags: &'static [&'static str]) -> Layout {
    Layout { oldest, flags }
}

/// Each runs with the oldest installed JDK that has the layout. Layouts of [`REQUIRED`] must run if a JVM is required.
/// The packages of the test run install that JDK, or a newer one if the distribution has none so old.
const LAYOUTS: &[Layout] = &[
    layout(17, &["-XX:+UseSerialGC"]),
    layout(17, &["-XX:+UseParallelGC"]),
    layout(17, &["-XX:+UseG1GC"]),
    layout(17, &["-XX:+UseSerialGC", "-XX:-UseCompressedOops"]),
    layout(17, &["-XX:+UseG1GC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"]),
    layout(17, &["-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=16"]),
    layout(17, &["-XX:+UseZGC"]),
    layout(25, &["-XX:+UseG1GC"]),
    layout(25, &["-XX:+UseSerialGC", "-XX:+UseCompactObjectHeaders"]),
    layout(25, &["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"]),
    layout(25, &["-XX:+UseParallelGC", "-XX:-UseCompressedOops"]),
    layout(25, &["-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=16"]),
    layout(25, &["-XX:+UseZGC"]),
];

const REQUIRED: u32 = 17;

/// ZGC leaves dead objects between live ones, so distances are too long there; the layout gives the sizes then. Not of
/// this one: it has fields that dumps do not show and the layout cannot know.
const HIDDEN_IN_HOLES: &[&str] = &["java.lang.invoke.ResolvedMethodName"];

/// How many classes may differ between two histograms of a resting process.
const MOST_RESTLESS: usize = 40;

/// Which layouts run with which JDK, and which do not, and why.
#[derive(Default)]
struct Plan {
    rows: Vec<(u32, &'static [&'static str])>,
    skipped: Vec<String>,
    /// Of what is skipped, what may not be where a JVM is required.
    required: Vec<String>,
}

impl Plan {
    fn new(installed: &[u32]) -> Plan {
        let mut plan = Plan::default();
        for Layout { oldest, flags } in LAYOUTS {
            match installed.iter().copied().filter(|version| version >= oldest).min() {
                Some(version) => plan.rows.push((version, flags)),
                None => {
                    let why = format!("{flags:?}: needs JDK {oldest} or newer, installed are {installed:?}");
                    if *oldest == REQUIRED {
                        plan.required.push(why.clone());
                    }
                    plan.skipped.push(why);
                }
            }
        }
        // Other JDKs that are there: their default layout.
        let used: Vec<u32> = plan.rows.iter().map(|(version, _)| *version).collect();
        let others = installed.iter().copied().filter(|version| *version >= 9 && !used.contains(version));
        plan.rows.extend(others.map(|version| (version, &["-XX:+UseG1GC"] as &[_])));
        plan
    }
}

#[test]
fn what_is_not_installed_is_skipped_and_named_and_what_is_required_is_told_apart() {
    let of_17 = LAYOUTS.iter().filter(|l| l.oldest == 17).count();
    let newer = LAYOUTS.len() - of_17;
    for (installed, rows, skipped, required) in [
        (&[][..], 0, LAYOUTS.len(), of_17),
        (&[17], of_17, newer, 0),
        (&[21], of_17, newer, 0),
        (&[25], LAYOUTS.len(), 0, 0),
        (&[17, 25], LAYOUTS.len(), 0, 0),
        (&[11], 1, LAYOUTS.len(), of_17),
        (&[11, 17, 21], of_17 + 2, newer, 0),
    ] {
        let plan = Plan::new(installed);
        let counts = (plan.rows.len(), plan.skipped.len(), plan.required.len());
        assert_eq!(counts, (rows, skipped, required), "{installed:?}");
        assert!(plan.skipped.iter().all(|why| why.contains("needs JDK")), "{:?}", plan.skipped);
    }
}

#[test]
fn every_class_has_the_vm_s_counts_and_bytes() {
    let jdks = jvm::jdks();
    let plan = Plan::new(&jdks.keys().copied().collect::<Vec<_>>());
    if !plan.required.is_empty() {
        jvm::skip("sizes against real JVMs", &plan.required.join("; "));
    }
    let source = root().join("tests/java/Layouts.java");
    let mut wrong = Vec::new();
    for (version, flags) in &plan.rows {
        let jdk = &jdks[version];
        let folder = tempfile::tempdir().expect("a folder");
        jdk.compile(&[&source], ".", folder.path());
        let mut all = vec!["-Xmx300m"];
        all.extend(flags.iter());
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
    jvm::say(&format!("{} of {} layouts compared with real JVMs", plan.rows.len(), LAYOUTS.len().max(plan.rows.len())));
    for why in &plan.skipped {
        jvm::say(&format!("    skipped {why}"));
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
