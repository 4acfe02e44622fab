//! Classes that are unloaded all the time, while the program is sampled, walked and counted.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, with_jdks};
use memory_city_agent::folder::{RecorderLock, WalkNote};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_testing::jvm::{self, Jdk};
use memory_city_wire::SampleRow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Methods whose classes are unloaded all the time have their names all the same, and nothing crashes.
#[test]
fn names_are_right_while_classes_come_and_go() {
    with_jdks("names_are_right_while_classes_come_and_go", |jdk, class_path, temporary| {
        storm(jdk, &[], class_path, &temporary.join("trace"), 6000);
    });
}

/// The same for a minute under each collector: `make recorder-test`.
#[test]
#[ignore = "takes a minute for each collector of each JDK: `make recorder-test`"]
fn names_are_right_in_a_minute_of_unloading_under_every_collector() {
    with_jdks("names_are_right_in_a_minute_of_unloading", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().into_iter().enumerate() {
            storm(jdk, &flags, class_path, &temporary.join(format!("trace-{number}")), 60_000);
        }
    });
}

/// What walks of a storm had.
#[derive(Default)]
struct TakenWalks {
    walks: u64,
    /// Links to samples whose objects are in the dump.
    linked: Vec<(u64, String)>,
    /// Links of which it has none.
    missing: Vec<u64>,
}

/// Classes come and go for so many milliseconds, while somebody takes walks, and the VM counts between them.
fn storm(jdk: &Jdk, flags: &[&str], class_path: &str, folder: &Path, millis: u32) {
    std::fs::create_dir(folder).expect("made");
    let lock = RecorderLock::take(folder).expect("the lock");
    let options = AgentOptions {
        folder: folder.to_owned(),
        sampling: SamplingMode::Every(4096),
        // Half of the time at most it may stand still: as many walks and histograms as it takes.
        walks: 500,
        duty: 1,
        histograms: 200,
        ..AgentOptions::default()
    };
    let ended = AtomicBool::new(false);
    let mut taken = TakenWalks::default();
    let printed = std::thread::scope(|scope| {
        let walks = scope.spawn(|| {
            let mut taken = TakenWalks::default();
            while !ended.load(Ordering::Relaxed) {
                take_walks(folder, &mut taken);
                std::thread::sleep(Duration::from_millis(10));
            }
            take_walks(folder, &mut taken);
            taken
        });
        let mut command = jdk.tool("java");
        command.args(flags).args(["-Xmx300m", &agent(&options), "-cp", class_path, "Unloading", &millis.to_string()]);
        let printed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| jvm::output(&mut command)));
        ended.store(true, Ordering::Relaxed);
        taken = walks.join().expect("walks");
        printed
    });
    let printed = printed.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    drop(lock);
    let unloaded: u64 = printed.lines().find_map(|l| l.strip_prefix("done ")?.parse().ok()).expect("how many");
    assert!(unloaded > 100, "{flags:?}: {unloaded} classes were unloaded");
    let trace = Trace::read(folder);
    assert_eq!((trace.end(), trace.damaged), ("the program ended", 0), "{flags:?}");
    let work: Vec<&SampleRow> = trace.samples.iter().filter(|s| trace.class(s) == "long[]").collect();
    let right = work.iter().filter(|s| trace.stack(s).first().is_some_and(|f| f.starts_with("Unloading$Work.get:")));
    let right = right.count();
    let histograms = trace.histograms();
    jvm::say(&format!(
        "  {flags:?}: {unloaded} classes unloaded, {right} of {} samples in their methods, {} walks with {} samples, {} class histograms",
        work.len(),
        taken.walks,
        taken.linked.len(),
        histograms.len()
    ));
    // The JDK has a few arrays of its own.
    assert!(work.len() > 1000 && work.len() - right <= work.len() / 1000, "{flags:?}: {right} of {}", work.len());
    assert!(trace.methods.values().all(|m| !trace.strings[&m.name].is_empty() && !trace.strings[&m.class].is_empty()));
    // What walks and histograms name is right too.
    assert!(taken.walks > 1 && histograms.len() > 1, "{flags:?}: {} walks, {}", taken.walks, histograms.len());
    let samples: HashMap<u64, &SampleRow> = trace.samples.iter().map(|s| (s.id, s)).collect();
    let hidden = |name: &str| name.contains("$$");
    let classes = taken.linked.iter().map(|(sample, class)| (class.as_str(), trace.class(samples[sample])));
    let wrong: Vec<_> = classes.filter(|(of, by)| of != by && !(hidden(of) && hidden(by))).collect();
    assert_eq!(wrong, [], "{flags:?}: class by the dump, by the sample");
    // Shenandoah may write a dump while it moves objects, which then does not tell where they are: what it does tell is right all the same.
    let absent: Vec<_> = taken.missing.iter().map(|sample| trace.class(samples[sample])).collect();
    let moves = flags.contains(&"-XX:+UseShenandoahGC");
    let known = moves && absent.len() < taken.linked.len();
    assert!(known || absent.iter().all(|class| *class == "java.lang.Class"), "{flags:?}: not in the dump: {absent:?}");
    let counted =
        |of: &crate::common::CountedHistogram, class: &str| of.classes.get(class).map_or(0, |counts| counts.0);
    // Right after a collection of everything there may be no such loader.
    assert!(histograms.values().any(|of| counted(of, "Unloading$Once") > 0), "{flags:?}");
    assert!(histograms.values().all(|of| counted(of, "java.lang.String") > 0), "{flags:?}");
}

/// Takes the walks that wait, as a recording process does.
fn take_walks(folder: &Path, taken: &mut TakenWalks) {
    for number in WalkNote::waiting(folder) {
        let (file, dump) = (WalkNote::file(folder, number), WalkNote::dump(folder, number));
        let note = WalkNote::parse(&std::fs::read_to_string(&file).expect("a note")).expect("a note of ours");
        let input = Input::open(&dump, &Progress::new()).expect("a dump");
        let handles = note.links.iter().map(|link| link.handle()).collect();
        let (heap, held) = hprof::load_held(&input, &handles, &Progress::new()).expect("a dump");
        for link in note.links {
            let sample = link.number;
            match held.get(&link.handle()) {
                Some(object) => {
                    let class = &heap.types()[heap.type_of(*object).0 as usize].name;
                    taken.linked.push((sample, class.clone()));
                }
                None => taken.missing.push(sample),
            }
        }
        taken.walks += 1;
        for path in [dump, file] {
            std::fs::remove_file(path).expect("removed");
        }
    }
}
