//! What is counted of each class between walks, from the command that records to what is said of it.

use super::*;
use memory_city_wire::CountRow;

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
        assert!(record(jdk, &folder, &["--no-walks", "--histogram-every", "300ms"], &program).status.success());
        assert!(!histograms(&folder).is_empty());
        // Samples tell of threads. There are no references, which is said.
        let (report, said) = of_trace(&["report", "--tree", "--grouping", "thread>type"], &folder);
        assert!(report.contains("main") && !format!("{report}{said}").contains("not applied"), "{report}{said}");
        let (report, said) = of_trace(&["report", "--grouping", "pointed-from>type"], &folder);
        assert!(format!("{report}{said}").contains("the grouping pointed-from>type was not applied"), "{report}{said}");
        let (report, said) = of_trace(&["report"], &folder);
        assert!(!format!("{report}{said}").contains("not applied"), "{report}{said}");
    });
}
