//! What recordings say of garbage collections is what the VM logs of them, under each collector; or that it is not known.

#![cfg(target_os = "linux")]

mod common;

use common::{Trace, agent, with_jdks};
use memory_city_agent::{AgentOptions, CLONES_AT_RISK};
use memory_city_testing::jvm::{self, Jdk};
use memory_city_wire::{CollectionKind, GcScope};
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
    jvm::say(&format!("  {what}: {} collections, {kinds:?}", trace.collections.len()));
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
    let name = ["ZGC", "Shenandoah", "Parallel", "Serial", "G1"].into_iter().find(|name| flags[0].contains(name));
    assert_eq!(Some(trace.run["vm.collector"].as_str()), name, "{what}");
    // Whether clones are at risk is said where it is so.
    let said = trace.settings.iter().any(|row| row.key == "vm" && row.value == CLONES_AT_RISK);
    assert_eq!(said, has_generations && (21..=26).contains(&jdk.version), "{what}");
}
