//! For how long walks stop a program, and young collections of one that is recorded as by default.

use super::whole::Attached;
use super::*;
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;

/// Pairs.
const PAUSE_PAIRS: usize = 8;
const WALKS: usize = 7;
/// A young pause may be so many milliseconds longer.
const YOUNG_AIM: f64 = 1.0;

pub fn rows(with_classes: &[(Jdk, String)], folder: &Path, wanted: &dyn Fn(&[&str]) -> bool, aims: &mut Aims) {
    println!(
        "| JVM | collector | objects | pause of a walk, s per million objects (median; middle half) | of a dump by the JDK's own tool | with all that is behind it | young pause (of ZGC and Shenandoah any), ms: not recorded | recorded: longer by (95 %) | control: not recorded, longer by (95 %) |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (jdk, class_path) in with_classes {
        for flags in jdk.collectors() {
            let (version, name) = (jdk.version.to_string(), super::whole::name_of(&flags));
            let lower = name.to_lowercase();
            let row = [&["heap", &version][..], &lower.split(' ').collect::<Vec<_>>()].concat();
            if wanted(&row) {
                let (row, walk, young) = pauses(jdk, class_path, &flags, folder);
                println!("| {version} | {name} | {row} |");
                let what = format!("on {version} {name}");
                surely(aims, &format!("pause of a walk, s per million objects, {what}"), walk, WALKS, walk_aim(jdk));
                surely(aims, &format!("young pause, ms longer, {what}"), young, PAUSE_PAIRS, YOUNG_AIM);
            }
        }
    }
}

/// Seconds for a million objects: newer JDKs write dumps faster.
fn walk_aim(jdk: &Jdk) -> f64 {
    if jdk.version < 25 { 0.2 } else { 0.15 }
}

/// Takes the walks that wait: of each its objects, and how long the request took, s per million objects.
fn take_walks(folder: &Path, taken: &mut Vec<(f64, f64)>) {
    for number in WalkNote::waiting(folder) {
        let (file, dump) = (WalkNote::file(folder, number), WalkNote::dump(folder, number));
        let note = WalkNote::parse(&std::fs::read_to_string(&file).expect("a note")).expect("a note of ours");
        let objects = objects_of(&dump);
        taken.push((objects, (note.end - note.start) as f64 / 1e3 / objects));
        for path in [dump, file] {
            std::fs::remove_file(path).expect("removed");
        }
    }
}

fn objects_of(dump: &Path) -> f64 {
    let input = Input::open(dump, &Progress::new()).expect("a dump");
    let counted = hprof::histogram(&input, &Progress::new()).expect("a dump");
    counted.rows.iter().map(|r| r.objects).sum::<u64>() as f64
}

/// Walks of a million objects, and young collections of a program that has them. A row, the pause of a walk in seconds
/// per million objects, and the extra milliseconds of young pauses.
fn pauses(jdk: &Jdk, class_path: &str, collector: &[&str], folder: &Path) -> (String, LikelyMedian, LikelyMedian) {
    let log = folder.join(format!("safepoints-{}-{}", jdk.version, super::whole::name_of(collector).replace(' ', "-")));
    let flag = format!("-Xlog:safepoint:file={}", log.display());
    let flags = [&FLAGS[..], collector, &[&flag]].concat();
    let mut program = Program::start_with(jdk, &flags, class_path, "Rounds", &["heap", "1000000"]);
    rounds(&mut program, 3);
    let jvm = AttachedJvm::open(program.pid).expect("the program");
    // What the VM times of ZGC and Shenandoah is no pause, and what it times of Parallel has no parts of a millisecond.
    let logs = collector.iter().any(|flag| ["UseZ", "Shenandoah", "Parallel"].iter().any(|name| flag.contains(name)));
    let (young, longer) = young_pauses(&mut program, folder, logs.then_some(&*log));
    // The walks of these are not ours to measure.
    let before = dumps(&log).len();
    let options = AgentOptions { walks: 1, ..options(folder, 1000) };
    std::fs::create_dir_all(&options.folder).expect("a folder");
    let _lock = RecorderLock::take(&options.folder).expect("the lock");
    jvm.load(&library(), &options.text()).expect("recording begins");
    let mut walks = Vec::new();
    while walks.len() < WALKS {
        // Work brings about collections, and walks come behind them.
        round(&mut program);
        take_walks(&options.folder, &mut walks);
    }
    jvm.load(&library(), &AgentOptions { stop: true, ..options.clone() }.text()).expect("recording ends");
    take_walks(&options.folder, &mut walks);
    let _ = std::fs::remove_dir_all(&options.folder);
    let own: Vec<f64> = (0..3)
        .map(|_| {
            let dump = folder.join("own.hprof");
            program.dump(&dump, &["-all"]);
            let objects = objects_of(&dump);
            std::fs::remove_file(&dump).expect("removed");
            objects
        })
        .collect();
    // For how long it stood still the VM says; the request takes longer where it puts files together behind that.
    let pauses = dumps(&log).split_off(before);
    assert_eq!(pauses.len(), walks.len() + own.len(), "each dump is logged");
    let per_million = |pauses: &[f64], objects: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
        pauses.iter().zip(objects).map(|(ns, objects)| ns / 1e3 / objects).collect()
    };
    let of_walks = per_million(&pauses, &mut walks.iter().map(|walk| walk.0));
    let (walk, low, high) = quartiles(of_walks.clone());
    let (own, own_low, own_high) = quartiles(per_million(&pauses[walks.len()..], &mut own.into_iter()));
    let objects = quartiles(walks.iter().map(|walk| walk.0).collect()).0;
    let asked = quartiles(walks.iter().map(|walk| walk.1).collect()).0;
    let row = format!(
        "{objects} | {walk:.3}; {low:.3} to {high:.3} | {own:.3}; {own_low:.3} to {own_high:.3} | {asked:.3} | {young}"
    );
    (row, likely(of_walks), longer)
}

/// For how long the VM says that it stood still for each dump, nanoseconds.
fn dumps(log: &Path) -> Vec<f64> {
    logged(log, |operation| operation.contains("HeapDumper"))
}

/// The same for the stops of a collector. Names of ZGC's operations begin with a Z. Young collections of Parallel are
/// those that an allocation asks for (on 17 and newer).
fn logged_pauses(log: &Path) -> Vec<f64> {
    let begins = ["Z", "Shenandoah", "ParallelGCFailedAllocation", "ParallelCollectForAllocation"];
    logged(log, |operation| begins.iter().any(|begin| operation.starts_with(begin)))
}

fn logged(log: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<f64> {
    let said = std::fs::read_to_string(log).expect("what the VM logs");
    let pause = |line: &str| -> Option<f64> {
        let (_, operation) = line.split_once("Safepoint \"")?;
        is_wanted(operation).then(|| line.split("Total:").nth(1)?.split_whitespace().next()?.parse().ok())?
    };
    said.lines().filter_map(pause).collect()
}

/// Young pauses of a program that is recorded as by default in turns. Gives the pauses without a recorder, the extra
/// time with one, and the extra time of pauses without one against their neighbours: the noise of the machine. As text;
/// the second number by itself too.
///
/// They are those of its log where there is one, else what it says of collections.
fn young_pauses(program: &mut Program, folder: &Path, log: Option<&Path>) -> (String, LikelyMedian) {
    let young = |program: &mut Program| {
        let before = log.map_or(0, |log| logged_pauses(log).len());
        let timed = rounds(program, ROUNDS);
        let sum = |of: fn(&Took) -> f64| timed.iter().map(of).sum::<f64>();
        let (paused, pauses) = match log {
            None => (sum(|r| r.paused), sum(|r| r.collections)),
            Some(log) => {
                let pauses = logged_pauses(log).split_off(before);
                (pauses.iter().sum(), pauses.len() as f64)
            }
        };
        // None at all is no number, and holds no aim.
        paused / pauses / 1e6
    };
    let (mut apart, mut with) = (vec![young(program)], Vec::new());
    for pair in 0..PAUSE_PAIRS {
        let attached = Attached::begin(program.pid, folder.join(format!("young-{pair}-{}", program.pid)));
        round(program);
        with.push(young(program));
        attached.end();
        apart.push(young(program));
    }
    let longer = likely(with.iter().zip(apart.windows(2)).map(|(with, of)| with - (of[0] + of[1]) / 2.0).collect());
    let control = apart.windows(3).map(|of| of[1] - (of[0] + of[2]) / 2.0).collect();
    let text = |(median, low, high): LikelyMedian| format!("{median:+.2} ({low:+.2} to {high:+.2})");
    (format!("{:.2} | {} | {}", quartiles(apart).0, text(longer), text(likely(control))), longer)
}
