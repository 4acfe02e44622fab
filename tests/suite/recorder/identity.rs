//! `--identity all`: what the difference of two walks says of a program that works is true of each object.

use super::*;
use memory_city_heap::HeapState;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Numbers of the objects of a class that are alive, and how many have none.
fn numbers(heap: &HeapState, class: &str) -> (BTreeSet<u64>, usize) {
    let followed = &heap.origins().expect("a recording").followed;
    let of_class = |o: &memory_city_heap::ObjectId| {
        heap.is_reachable(*o) && heap.types()[heap.type_of(*o).0 as usize].name == class
    };
    let (mut all, mut without) = (BTreeSet::new(), 0);
    for o in heap.objects().filter(of_class) {
        match followed[o.0 as usize] {
            0 => without += 1,
            number => assert!(all.insert(number), "one number, one object"),
        }
    }
    (all, without)
}

/// Persons stay for good, and what is in the window is replaced all the time: of the former none went, of the latter most.
#[test]
fn the_difference_of_two_walks_goes_by_identity() {
    with_jdks("the_difference_of_two_walks", |jdk, class_path, temporary| {
        let collectors = jdk.collectors();
        let collector = collectors[jdk.version as usize % collectors.len()].clone();
        let folder = temporary.join("trace");
        let program = [&["-Xmx300m"], &collector[..], &["-cp", class_path, "Leaks", "persons"]].concat();
        let options = ["--identity", "all", "--walk-every", "1s", "--walk-share", "50"];
        let done = record_until(jdk, &folder, &options, (&program, 8000), |folder| has_walks(folder, 3));
        assert!(done.status.success(), "{}", text(&done.stderr));
        let series =
            memory_city_formats::open(std::slice::from_ref(&folder), &Progress::new()).expect("the trace opens");
        let walks = series.points().len();
        assert!(walks >= 3 && (0..walks).all(|walk| series.follows_objects(walk)), "{walks} walks");
        let heaps: Vec<Arc<HeapState>> =
            (0..walks).map(|walk| series.load(walk, &Progress::new()).expect("a walk")).collect();
        let mut window = 0;
        for pair in heaps.windows(2) {
            let (earlier, later) = (numbers(&pair[0], "Leaks$Person"), numbers(&pair[1], "Leaks$Person"));
            assert!(earlier.0.is_subset(&later.0), "nobody is forgotten");
            // A busy machine numbers some too late.
            assert!(earlier.0.len() > 4 * earlier.1, "{} have numbers, {} none", earlier.0.len(), earlier.1);
            let (before, after) = (numbers(&pair[0], "long[]").0, numbers(&pair[1], "long[]").0);
            window += before.difference(&after).count();
        }
        jvm::say(&format!("  JDK {} {collector:?}: {walks} walks, {window} long[] went", jdk.version));
        assert!(window > 1000, "{window} of the window went");

        // All rows: what is replaced all the time may be as large at both ends, and stand far below.
        let words = ["analyse", "difference", "-p", "by=type", "-p", "top=100000", "--format", "json"];
        let (json, said) = of_trace(&words, &folder);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {said}"));
        let part = &report["analyses"][0];
        let notes = part["notes"].to_string();
        assert!(notes.contains("came") && !notes.contains("no identity"), "{notes}");
        let rows: BTreeMap<&str, &serde_json::Value> = part["tables"][0]["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .filter_map(|row| Some((row["values"]["type"].as_str()?, &row["values"])))
            .collect();
        let number = |class: &str, name: &str| rows[class][name].as_u64().unwrap_or(0);
        let (first, last) = (numbers(&heaps[0], "Leaks$Person"), numbers(&heaps[walks - 1], "Leaks$Person"));
        let person = |name| number("Leaks$Person", name);
        assert_eq!(person("only_base"), 0, "{}", rows["Leaks$Person"]);
        assert_eq!(person("matched"), first.0.len() as u64);
        assert_eq!(person("unclear"), first.1 as u64);
        let came = last.0.difference(&first.0).count() + last.1 - first.1;
        assert_eq!(person("only_time"), came as u64);
        assert!(number("long[]", "only_base") > 1000, "{}", rows["long[]"]);

        let words = ["report", "--tree", "--difference", "--format", "csv", "--grouping", "type"];
        let tree = of_trace(&words, &folder).0;
        assert!(["Born", "Survived"].iter().all(|fate| tree.contains(fate)), "{tree}");
        assert!(!tree.contains("As many as before"), "{tree}");
    });
}
