//! Notes beside samples. A grouping that needs samples has groups of samples alone, and one for objects without.

use memory_city_analysis::analyses::report::{ReportOptions, report};
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{SampledPart, Source};
use memory_city_heap::progress::Progress;
use memory_city_testing::shop::Shop;
use memory_city_wire::TraceOptions;
use std::path::Path;

/// Two walks, of 21 and 31 objects: of 10 and 20 carts every second is a sample.
fn recorded(folder: &Path, mode: Option<&str>) -> Shop {
    let mut shop = Shop::begin(folder, TraceOptions::default());
    if let Some(mode) = mode {
        shop.fact("recording.mode", mode);
    }
    shop.walk(10, 10);
    shop.walk(20, 10);
    shop
}

fn open(folder: &Path, grouping: &str) -> Source {
    Source::open(&[folder.to_owned()], grouping, GroupOptions::default(), &Progress::new()).expect("it opens")
}

fn parts(source: &Source) -> Vec<Option<SampledPart>> {
    source.timeline().points().iter().map(|point| point.sampled).collect()
}

#[test]
fn groups_by_what_samples_alone_tell_say_how_many_those_are() {
    let temporary = tempfile::tempdir().expect("a folder");
    for mode in [None, Some("samples"), Some("identity")] {
        let folder = temporary.path().join(mode.unwrap_or("none"));
        let _shop = recorded(&folder, mode);
        let part = |samples, objects| Some(SampledPart { samples, objects });
        for grouping in [
            "thread>type",
            "type>site",
            "callers",
            "domain-site>type",
            "age>type",
            "filter(age >= 1)>type",
            "survivors",
        ] {
            let source = open(&folder, grouping);
            assert_eq!(parts(&source), [part(5, 21), part(10, 31)], "{grouping}, {mode:?}");
            let whole = report(&source, &ReportOptions::default(), &Progress::new()).expect("a report");
            let said = "SAMPLED OBJECTS ONLY\n  Place, thread and age are known of sampled objects only, 10 of 31: groups of these are no totals.";
            assert!(whole.to_string().contains(said), "{grouping}: {whole}");
            let first = ReportOptions { window: (Some(1), Some(1)), ..ReportOptions::default() };
            let first = report(&source, &first, &Progress::new()).expect("a report");
            assert!(first.to_string().contains("sampled objects only, 5 of 21:"), "{grouping}: {first}");
            let json = serde_json::to_value(&whole).expect("JSON");
            assert_eq!((&json["sampled"]["samples"], &json["sampled"]["objects"]), (&10.into(), &31.into()));
            assert!(json["sampled"]["note"].as_str().is_some_and(|note| note.contains("no totals")), "{json}");
        }
        // What all objects tell is counted.
        for grouping in ["type", "package>type", "rooted>type"] {
            let source = open(&folder, grouping);
            assert_eq!(parts(&source), [None, None], "{grouping}, {mode:?}");
            let whole = report(&source, &ReportOptions::default(), &Progress::new()).expect("a report");
            assert!(!whole.to_string().contains("SAMPLED OBJECTS"), "{grouping}: {whole}");
            assert!(serde_json::to_value(&whole).expect("JSON").get("sampled").is_none());
        }
    }
}

/// Recordings of every allocation have counts.
#[test]
fn where_every_allocation_was_recorded_nothing_is_said_of_samples() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("exact");
    let _shop = recorded(&folder, Some("every-allocation"));
    assert_eq!(parts(&open(&folder, "thread>type")), [None, None]);
}

/// Threads of a Java before 18 are blind at first after attaching. A note on the missing samples stands there, and
/// nowhere else.
#[test]
fn what_threads_of_an_older_java_allocate_at_first_is_said_to_be_missing() {
    let temporary = tempfile::tempdir().expect("a folder");
    for (number, (java, from_start, mode, is_blind)) in [
        ("17.0.13", "false", "samples", true),
        ("11", "false", "identity", true),
        ("17.0.13", "true", "samples", false),
        ("17.0.13", "false", "every-allocation", false),
        ("18-ea", "false", "samples", false),
        ("25.0.1", "false", "samples", false),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = temporary.path().join(number.to_string());
        let mut shop = Shop::begin(&folder, TraceOptions::default());
        for (key, value) in [("java.version", java), ("recording.from-start", from_start), ("recording.mode", mode)] {
            shop.fact(key, value);
        }
        shop.walk(10, 10);
        let source = open(&folder, "type");
        let sites = AnalysisRegistry::built_in().get("sites").expect("sites");
        let (window, arguments) = (TimeWindow::whole(source.timeline()), Arguments::defaults(&sites.describe()));
        let found = analyses::run(&*sites, &source, window, &arguments, &Progress::new()).expect("sites");
        let said = found.notes.iter().any(|note| note.contains("up to 512 KB were not seen"));
        assert_eq!(said, is_blind, "{java}, {from_start}, {mode}: {:?}", found.notes);
        let late = found.notes.iter().any(|note| note.contains("began while the program ran"));
        assert_eq!(late, from_start == "false", "{java}: {:?}", found.notes);
    }
}
