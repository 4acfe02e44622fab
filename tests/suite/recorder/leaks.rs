//! Leaks are named by the line that allocates them. A healthy program has none.

use super::*;

/// The programs of `Leaks`, the last of them healthy.
const WAYS: [&str; 4] = ["persons", "queries", "pools", "healthy"];

/// Of programs that leak the guilty line comes first; a healthy one that allocates as much and replaces what it holds has none.
#[test]
fn the_guilty_line_comes_first_and_the_healthy_program_has_none() {
    with_jdks("the_guilty_line_comes_first", |jdk, class_path, temporary| {
        // Another collector for each, and another again on another JDK.
        let collectors = jdk.collectors();
        for (number, way) in WAYS.into_iter().enumerate() {
            let collector = &collectors[(number + jdk.version as usize) % collectors.len()];
            named_right(jdk, collector, class_path, &temporary.join(way), way);
        }
    });
}

/// The same under every collector: `make recorder-test`.
#[test]
#[ignore = "takes ten minutes: `make recorder-test`"]
fn the_guilty_line_comes_first_under_every_collector() {
    with_jdks("the_guilty_line_comes_first_under_every_collector", |jdk, class_path, temporary| {
        for (number, collector) in jdk.collectors().iter().enumerate() {
            for way in WAYS {
                named_right(jdk, collector, class_path, &temporary.join(format!("{way}-{number}")), way);
            }
        }
    });
}

fn named_right(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path, way: &str) {
    let source = std::fs::read_to_string(root().join("tests/java/Leaks.java")).expect("the source");
    let what = format!("JDK {} {collector:?} {way}", jdk.version);
    // Some do not collect when the young objects are many.
    let often: &[&str] = match collector[0] {
        "-XX:+UseZGC" => &["-XX:ZCollectionInterval=1"],
        "-XX:+UseShenandoahGC" => &["-XX:+UnlockExperimentalVMOptions", "-XX:ShenandoahGuaranteedGCInterval=1000"],
        _ => &["-Xmn20m"],
    };
    let program = [&["-Xmx300m"], collector, often, &["-cp", class_path, "Leaks", way]].concat();
    let options = ["--walk-every", "1s", "--walk-share", "50"];
    let done = record_until(jdk, folder, &options, (&program, 12_000), |folder| has_walks(folder, 4));
    assert!(done.status.success(), "{what}: {}", text(&done.stderr));
    let (json, said) = of_trace(&["analyse", "sites", "--format", "json"], folder);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{what}: {e}: {said}"));
    let part = &report["analyses"][0];
    let answer = part["answers"][0].as_str().expect("an answer");
    jvm::say(&format!("  {what}: {answer}"));
    let told = of_trace(&["report"], folder).0;
    if way == "healthy" {
        // On a busy machine the first walk may come while the program still fills its window: then a place has more at the end.
        assert!(!answer.contains("allocates what stays"), "{what}: {answer}");
        assert!(told.contains("Nothing accumulates"), "{what}: {told}");
        assert!(!told.contains("grows from each quarter"), "{what}: {told}");
        return;
    }
    let line = source.lines().position(|l| l.ends_with(&format!("// here: {way}"))).expect("the line") + 1;
    assert!(answer.contains(&format!("line {line} allocates what stays")), "{what}, line {line}: {answer}");
    let first = &part["tables"][0]["rows"][0];
    let place = first["values"]["place"].as_str();
    assert!(place.is_some_and(|p| p.ends_with(&format!("line {line}"))), "{what}: {first}");
    // Samples and exact counts stand side by side, and agree where all was recorded from the start.
    let types = part["tables"][1]["rows"].as_array().expect("types");
    let number = |row: &serde_json::Value, name: &str| row["values"][name].as_f64().unwrap_or(0.0);
    let compared: Vec<_> = types.iter().filter(|row| number(row, "samples") >= 30.0).collect();
    // What the VM made before, or itself, has no sample.
    let away =
        |row: &&&serde_json::Value| number(row, "estimated") - number(row, "bytes") > number(row, "estimated_error");
    // Three standard deviations are left once in four hundred times.
    let apart: Vec<_> = compared.iter().filter(away).collect();
    // Three in a thousand are, by chance: of some dozens one may be.
    assert!(!compared.is_empty() && apart.len() <= (compared.len() / 20).max(1), "{what}: {apart:#?}");
    // Who keeps it and which line makes it come before all tables.
    let head = told.split("HEAP OVER TIME").next().unwrap_or_default();
    assert!(head.contains(&format!("line {line} allocates what stays")), "{what}: {told}");
}

/// Programs clear up when they end. Earlier leaks are still named: no walk is of the end if there are others.
#[test]
fn what_is_thrown_away_at_the_end_has_leaked() {
    with_jdk("what_is_thrown_away_at_the_end_has_leaked", |jdk, class_path, temporary| {
        let folder = temporary.join("clears");
        let program = ["-Xmx300m", "-Xmn20m", "-Dclears=true", "-cp", class_path, "Leaks", "persons"];
        let options = ["--walk-every", "1s", "--walk-share", "50"];
        let done = record_until(jdk, &folder, &options, (&program, 8_000), |folder| has_walks(folder, 4));
        assert!(done.status.success(), "{}", text(&done.stderr));
        let report = of_trace(&["report"], &folder).0;
        let names = |line: &str| line.contains("holds") && line.contains("Leaks$Person");
        assert!(report.starts_with("LEAK ") && report.lines().any(names), "{report}");
    });
}

/// The script that records a sample city does: here two steps of it.
#[test]
fn the_script_of_a_sample_city_records_it() {
    with_jdk("the_script_of_a_sample_city_records_it", |jdk, _, temporary| {
        recorded_by_script(jdk, "persons/record.sh", temporary, "Package: model › Type: Person");
    });
}

/// Another one, of a program with a library: `make recorder-test`.
#[test]
#[ignore = "takes ten seconds: `make recorder-test`"]
fn the_script_of_a_sample_city_with_a_library_records_it() {
    let script = ("journeys/record.sh", "Type: agency.store.Location");
    recorded_with_library("the_script_of_a_sample_city_with_a_library", ("h2.jar", "libh2-java"), script);
}

/// And the library whose pools are never closed.
#[test]
#[ignore = "takes ten seconds and asks for libraries: `make recorder-test`"]
fn the_script_of_the_leaking_pools_records_them() {
    let pool = "Type: org.apache.commons.httpclient.MultiThreadedHttpConnectionManager$HostConnectionPool";
    let library = ("commons-httpclient.jar", "libcommons-httpclient-java");
    recorded_with_library("the_script_of_the_leaking_pools", library, ("http-pool/record-city.sh", pool));
}

fn recorded_with_library(name: &str, (jar, package): (&str, &str), (script, known): (&str, &str)) {
    with_jdk(name, |jdk, _, temporary| match Path::new("/usr/share/java").join(jar).exists() {
        true => recorded_by_script(jdk, script, temporary, known),
        false => jvm::skip(name, &format!("there is no {jar} ({package})")),
    });
}

fn recorded_by_script(jdk: &Jdk, script: &str, temporary: &Path, known: &str) {
    let file = temporary.join("city.json.zst");
    let mut script = Command::new(root().join("sample-data").join(script));
    script.arg(&file).env("STEPS", "20 30").env("JAVA_HOME", &jdk.home);
    let done = finish(script.env("MEMORY_CITY", env!("CARGO_BIN_EXE_memory-city")));
    assert!(done.status.success(), "{}{}", text(&done.stdout), text(&done.stderr));
    let report = of_trace(&["report"], &file).0;
    let walks = report.lines().filter(|line| line.contains("  Walk ")).count();
    assert!(walks == 2 && report.contains(known), "{walks} walks in {report}");
}
