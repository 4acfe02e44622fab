//! Counts of each class between walks, from the recording command to the report.

use super::*;
use memory_city_wire::{ClassRow, CountRow, StringRow};
use std::collections::HashMap;

/// Numbers of the histograms in a trace.
fn histograms(folder: &Path) -> std::collections::BTreeSet<u64> {
    let mut numbers = std::collections::BTreeSet::new();
    for_chunks(folder, |chunk| {
        if chunk.kind() == ChunkKind::COUNTS {
            numbers.extend(chunk.rows::<CountRow>().expect("rows").rows.iter().map(|row| row.histogram));
        }
    });
    numbers
}

fn rows_of(report: &serde_json::Value, table: usize) -> impl Iterator<Item = &serde_json::Value> {
    let rows = report["analyses"][0]["tables"][table]["rows"].as_array().expect("rows");
    rows.iter().map(|row| &row["values"])
}

/// Whether arrays of primitive values have the length that makes them as large as they are, and no other object has one. How many there are.
fn lengths_are_those_of_sizes(folder: &Path) -> usize {
    let (mut names, mut classes, mut samples) = (HashMap::new(), HashMap::new(), Vec::new());
    for_chunks(folder, |chunk| match chunk.kind() {
        ChunkKind::STRINGS => {
            names.extend(chunk.rows::<StringRow>().expect("rows").rows.into_iter().map(|row| (row.id, row.text)));
        }
        ChunkKind::CLASSES => {
            classes.extend(chunk.rows::<ClassRow>().expect("rows").rows.into_iter().map(|row| (row.id, row.name)));
        }
        ChunkKind::SAMPLES => samples.extend(chunk.rows::<SampleRow>().expect("rows").rows),
        _ => {}
    });
    let mut arrays = 0;
    for sample in samples {
        let name = &names[&classes[&sample.class]];
        let element = match name.as_str() {
            "byte[]" => 1,
            "char[]" => 2,
            "int[]" => 4,
            "long[]" => 8,
            _ => {
                assert_eq!(sample.length.is_some(), name.ends_with("[]"), "{name}: {sample:?}");
                continue;
            }
        };
        let length = u64::from(sample.length.expect("an array has one"));
        assert_eq!((16 + element * length).next_multiple_of(8), sample.size, "{name}: {sample:?}");
        arrays += 1;
    }
    arrays
}

/// Walks far apart, histograms between them: one class over all of them, what leaks named, and `off` means off.
#[test]
fn classes_are_counted_between_walks() {
    with_jdk("classes_are_counted_between_walks", |jdk, class_path, temporary| {
        let folder = temporary.join("counted");
        let program = ["-Xmx300m", "-Xmn20m", "-cp", class_path, "Leaky"];
        let options = ["--walk-every", "4s", "--walk-share", "50", "--histogram-every", "200ms"];
        let enough = |folder: &Path| histograms(folder).len() >= 8 && has_walks(folder, 1);
        let done = record_until(jdk, &folder, &options, (&program, 7000), enough);
        let said = text(&done.stderr);
        let taken = histograms(&folder).len();
        assert!(done.status.success() && said.contains(&format!(" {taken} class histograms,")), "{said}");
        assert!(taken >= 8, "{taken} histograms: {said}");
        let session = ["analyse", "counts", "--format", "json", "-p", "top=1000", "-p", "class=Leaky$Session"];
        let (json, said) = of_trace(&session, &folder);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {said}"));
        let number = |row: &serde_json::Value, name: &str| row[name].as_u64().expect("a number");
        let leaking = rows_of(&report, 0).find(|row| row["class"] == "Leaky$Session").expect("what leaks");
        assert!(number(leaking, "first_objects") < number(leaking, "last_objects"), "{leaking}");
        let times: Vec<&serde_json::Value> = rows_of(&report, 1).collect();
        let by = |what: &str| times.iter().filter(|row| row["what"] == what).count();
        assert!(by("walk") >= 1 && by("histogram") == taken, "{times:?}");
        // One axis: walks and histograms count the same, ever more.
        let objects: Vec<u64> = times.iter().map(|row| number(row, "objects")).collect();
        assert!(objects.is_sorted(), "{times:?}");
        let told = of_trace(&["report"], &folder).0;
        assert!(told.contains("COUNTS BY CLASS") && told.contains("grows from each quarter"), "{told}");
        let csv = of_trace(&["analyse", "counts", "--format", "csv"], &folder).0;
        assert!(csv.lines().next().is_some_and(|line| line.contains("steady")), "{csv}");
        // The city is made of walks; what JSON does not hold is said.
        let output = temporary.join("trees.json").to_string_lossy().into_owned();
        let (_, said) = of_trace(&["convert", "-o", &output], &folder);
        assert!(said.contains(&format!("{taken} class histograms between its points in time")), "{said}");
        let (_, said) = of_trace(&["analyse", "counts", "-p", "class=No.Such"], &folder);
        assert!(said.contains("No object of a class No.Such was counted"), "{said}");

        let program = ["-Xmx300m", "-cp", class_path, "Leaky", "1500"];
        for (name, options) in [("off", &["--histogram-every", "off"][..]), ("none", &["--no-walks"])] {
            let folder = temporary.join(name);
            assert!(record(jdk, &folder, options, &program).status.success());
            assert!(histograms(&folder).is_empty(), "{name}");
            let (_, said) = of_trace(&["analyse", "counts"], &folder);
            assert!(said.contains("Classes were not counted"), "{said}");
        }
        let folder = temporary.join("both");
        let program = [&["-Xmn10m"], &program[..]].concat();
        assert!(record(jdk, &folder, &["--no-walks", "--histogram-every", "300ms"], &program).status.success());
        assert!(!histograms(&folder).is_empty());
        // Samples tell of threads. There are no references, which is said.
        let (report, said) = of_trace(&["report", "--tree", "--grouping", "thread>type"], &folder);
        assert!(report.contains("main") && !format!("{report}{said}").contains("not applied"), "{report}{said}");
        // And of lengths, which every array of its samples has.
        for (grouping, group) in [("kind>type", "Small array"), ("array-length>type", "Length ")] {
            let (report, said) = of_trace(&["report", "--tree", "--grouping", grouping], &folder);
            assert!(report.contains(group) && !format!("{report}{said}").contains("not applied"), "{report}{said}");
        }
        assert!(lengths_are_those_of_sizes(&folder) > 100);
        // Places are estimated as well, and what died; what no walk has shown is not said to stay.
        let (sites, said) = of_trace(&["analyse", "sites"], &folder);
        assert!(sites.contains("there are no walks") && !sites.contains("what stays"), "{sites}{said}");
        assert!(sites.contains("Leaky."), "{sites}{said}");
        let (died, said) = of_trace(&["analyse", "churn"], &folder);
        assert!(died.contains("0 GCs survived") && died.contains("byte[]"), "{died}{said}");
        let (report, said) = of_trace(&["report", "--grouping", "pointed-from>type"], &folder);
        assert!(format!("{report}{said}").contains("the grouping pointed-from>type was not applied"), "{report}{said}");
        let (report, said) = of_trace(&["report"], &folder);
        assert!(!format!("{report}{said}").contains("not applied"), "{report}{said}");
    });
}
