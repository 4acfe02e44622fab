//! Recordings agree with the VM's log on garbage collections, under each collector, or call them unknown.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, with_jdks};
use memory_city_agent::folder::{AgentStatus, RecorderLock};
use memory_city_agent::{AgentOptions, CLONES_AT_RISK, CLONES_UNKNOWN};
use memory_city_testing::jvm::{self, Jdk};
use memory_city_wire::{CollectionKind, GcRow, GcScope};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn collections_are_told_as_the_vm_logs_them() {
    with_jdks("collections_are_told_as_the_vm_logs_them", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().into_iter().enumerate() {
            for (way, count) in [("all", "4"), ("young", "400")] {
                let folder = temporary.join(format!("{way}-{number}"));
                told_as_logged(jdk, &flags, class_path, &folder, &[way, count]);
            }
        }
        // One whose counters do not tell its young collections from others.
        let generations = ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"];
        if jdk.tool("java").args(generations).arg("-version").output().is_ok_and(|o| o.status.success()) {
            told_as_logged(jdk, &generations, class_path, &temporary.join("generations"), &["young", "600"]);
        }
    });
}

fn told_as_logged(jdk: &Jdk, flags: &[&str], class_path: &str, folder: &Path, words: &[&str]) {
    std::fs::create_dir(folder).expect("made");
    // Nobody takes away what it says at its end.
    let _lock = RecorderLock::take(folder).expect("the lock");
    let options = AgentOptions { folder: folder.to_owned(), walks: 0, histograms: 0, ..AgentOptions::default() };
    let log = folder.with_extension("log");
    let mut command = jdk.tool("java");
    // Room for some young collections in a second, and for no others.
    command.args(flags).args(["-Xmx300m", "-Xmn24m", &format!("-Xlog:gc:file={}", log.display())]);
    jvm::output(command.args([&agent(&options), "-cp", class_path, "Collects"]).args(words));
    let trace = Trace::read(folder);
    let logged = std::fs::read_to_string(&log).expect("what the VM logs");
    let what = format!("{flags:?} {words:?}");
    let is_z = flags.contains(&"-XX:+UseZGC");
    let is_shenandoah = flags.contains(&"-XX:+UseShenandoahGC");
    let has_generations = is_z && ["Major Collection", "Minor Collection"].iter().any(|name| logged.contains(name));
    let mut kinds: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for row in &trace.collections {
        let cause = row.cause.map_or("", |cause| trace.strings[&cause].as_str());
        *kinds.entry((row.kind as u32, cause)).or_default() += 1;
        let is_pause = is_z || is_shenandoah;
        // G1's concurrent cycles have pauses too.
        let may_be_pause = flags.contains(&"-XX:+UseG1GC") && row.kind == CollectionKind::Unknown;
        assert!((row.scope == GcScope::Pause) == is_pause || may_be_pause, "{what}: {row:?}");
        // A cause is one that the VM logs.
        assert!(
            cause.is_empty() || logged.contains(&format!("({cause})")) || is_shenandoah,
            "{what}: {cause}\n{logged}"
        );
        let (full, young) = match (is_z, has_generations) {
            (true, true) => ("Major Collection", "Minor Collection"),
            (true, false) => ("Garbage Collection", "nothing of the kind"),
            _ => ("Pause Full", "Pause Young"),
        };
        let is_logged = |name: &str| {
            logged.lines().any(|line| line.contains(name) && (cause.is_empty() || line.contains(&format!("({cause})"))))
        };
        match row.kind {
            CollectionKind::Major => assert!(is_logged(full), "{what}: {full} ({cause})\n{logged}"),
            CollectionKind::Minor => assert!(is_logged(young), "{what}: {young} ({cause})\n{logged}"),
            CollectionKind::Unknown => {}
        }
    }
    let status = AgentStatus::read(folder).expect("its last words");
    let pauses = trace.collections.iter().filter(|row| row.scope == GcScope::Pause).count();
    assert_eq!((status.collections, status.gc_pauses), (trace.collections.len() as u64, pauses as u64), "{what}");
    jvm::say(&format!("  {what}: {} collections, {kinds:?}", trace.collections.len()));
    if !is_z && !is_shenandoah {
        as_long_as_logged(&trace.collections, &logged, &what);
    }
    let of = |kind: CollectionKind| trace.collections.iter().filter(|row| row.kind == kind).count();
    let by_hand = words[0] == "all";
    match is_shenandoah {
        // Its counters call all of them full.
        true => assert_eq!(of(CollectionKind::Unknown), trace.collections.len(), "{what}"),
        false if by_hand || is_z && !has_generations => assert!(of(CollectionKind::Major) >= 3, "{what}: {kinds:?}"),
        // When ZGC collects which generation is its own affair.
        false if is_z => {
            assert!(of(CollectionKind::Minor) > 0 || !logged.contains("Minor Collection"), "{what}: {kinds:?}")
        }
        false => assert!(of(CollectionKind::Minor) >= 3, "{what}: {kinds:?}"),
    }
    assert_eq!(Some(trace.run["vm.collector"].as_str()), collector_of(flags), "{what}");
    // Whether clones are at risk is said where it is so.
    let said = trace.settings.iter().any(|row| row.key == "vm" && row.value == CLONES_AT_RISK);
    assert_eq!(said, has_generations && (21..=26).contains(&jdk.version), "{what}");
}

/// Collections that stop the program: as many as the VM logs pauses, each as long as that was, and one after the other.
fn as_long_as_logged(rows: &[GcRow], logged: &str, what: &str) {
    let mut pauses: Vec<f64> = Vec::new();
    let mut is_first_half = false;
    for line in logged.lines().filter(|line| line.contains(" Pause ")) {
        let Some(millis) = line.strip_suffix("ms").and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()) else {
            continue;
        };
        // The parallel collector begins with the young objects when it is asked for all: one stop, two lines.
        match pauses.last_mut().filter(|_| is_first_half && line.contains("Pause Full")) {
            Some(pause) => *pause += millis,
            None => pauses.push(millis),
        }
        is_first_half = line.contains("Pause Young") && line.contains("(System.gc())");
    }
    assert_eq!(rows.len(), pauses.len(), "{what}: {rows:?}\n{logged}");
    assert!(rows.windows(2).all(|pair| pair[0].start + pair[0].duration <= pair[1].start), "{what}: {rows:?}");
    let recorded = rows.iter().map(|row| row.duration as f64 / 1e6);
    // A thread that has lost its core between the VM's clock and ours is not taken for a fault.
    let mut apart: Vec<f64> =
        recorded.zip(&pauses).map(|(ours, theirs)| (ours - theirs).abs() / (theirs / 5.0).max(1.0)).collect();
    apart.sort_by(f64::total_cmp);
    let median = apart.get(apart.len() / 2).copied().unwrap_or_default();
    assert!(median <= 1.0, "{what}: {rows:?}\n{logged}");
}

/// If the VM keeps nothing for its tools, the recorder still names the collector, the scope of its events and its known
/// faults. Kinds and causes of collections are unknown then.
#[test]
fn the_collector_is_known_without_performance_data() {
    with_jdks("the_collector_is_known_without_performance_data", |jdk, class_path, temporary| {
        let collectors = jdk.collectors();
        let another = &collectors[jdk.version as usize % collectors.len()];
        let z: Vec<&[&str]> = collectors.iter().map(Vec::as_slice).filter(|flags| *flags == ["-XX:+UseZGC"]).collect();
        let cases = [(another.as_slice(), "-XX:+PerfDisableSharedMem")].into_iter();
        for (flags, off) in cases.chain(z.iter().map(|z| (*z, "-XX:-UsePerfData"))) {
            let trace = without_data(jdk, &[flags, &[off]].concat(), class_path, &temporary.join(off));
            let (what, name) = (format!("{flags:?} {off}"), collector_of(flags));
            assert_eq!(Some(trace.run["vm.collector"].as_str()), name, "{what}");
            let scope = if ["ZGC", "Shenandoah"].map(Some).contains(&name) { GcScope::Pause } else { GcScope::Whole };
            let is_right =
                |row: &GcRow| row.scope == scope && row.kind == CollectionKind::Unknown && row.cause.is_none();
            let rows = &trace.collections;
            assert!(rows.len() >= 2 && rows.iter().all(is_right), "{what}: {rows:?}");
            // It has generations from 23 on, where nobody says otherwise.
            let is_at_risk = name == Some("ZGC") && (23..=26).contains(&jdk.version);
            assert_eq!(of_vm(&trace), is_at_risk.then_some(CLONES_AT_RISK).as_slice(), "{what}");
        }
        // Where the VM cannot be asked either, that is said of the versions where it matters.
        let limited = ["-XX:-UsePerfData", "--limit-modules", "java.base"];
        let flags = [z.first().copied().unwrap_or_default(), &limited].concat();
        let trace = without_data(jdk, &flags, class_path, &temporary.join("limited"));
        assert!(!trace.run.contains_key("vm.collector"), "{:?}", trace.run);
        let matters = (21..=26).contains(&jdk.version);
        assert_eq!(of_vm(&trace), matters.then_some(CLONES_UNKNOWN).as_slice());
    });
}

/// Name of the collector that the options select.
fn collector_of(flags: &[&str]) -> Option<&'static str> {
    let is_told = |name: &&str| flags.iter().any(|flag| flag.contains(name));
    ["ZGC", "Shenandoah", "Parallel", "Serial", "G1"].into_iter().find(is_told)
}

/// The trace of a program that collects three times, and whose VM keeps no data.
fn without_data(jdk: &Jdk, flags: &[&str], class_path: &str, folder: &Path) -> Trace {
    let options = AgentOptions { folder: folder.to_owned(), walks: 0, histograms: 0, ..AgentOptions::default() };
    let mut command = jdk.tool("java");
    jvm::output(command.args(flags).args(["-Xmx300m", &agent(&options), "-cp", class_path, "Collects", "all", "3"]));
    let trace = Trace::read(folder);
    assert_eq!((trace.end(), trace.run["process.command"].as_str()), ("the program ended", "Collects"), "{flags:?}");
    trace
}

/// Known faults of the VM, as the trace has them.
fn of_vm(trace: &Trace) -> Vec<&str> {
    trace.settings.iter().filter(|row| row.key == "vm").map(|row| row.value.as_str()).collect()
}
