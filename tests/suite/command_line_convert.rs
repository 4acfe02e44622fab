//! `convert` from everything to everything: what is lost on the way is named.

use memory_city_formats::wire::{SeenWalk, WalkStream};
use memory_city_heap::ObjectId;
use memory_city_heap::progress::Progress;
use memory_city_wire::{
    ClassRow, CollectionKind, GcRow, GcScope, RunRow, SampleRow, ThreadRow, TraceOptions, TraceTables, TraceWriter,
    WalkObject, WalkStartRow,
};
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memory-city")).args(arguments).output().expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Converts, and gives what it said.
fn converted(from: &[&str], to: &Path) -> String {
    let to_text = to.to_string_lossy();
    let done = run(&[&["convert"], from, &["-o", &to_text]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), to.display().to_string());
    text(&done.stderr)
}

/// The totals of an input at all times. (What the names of fields tell, such as chains of owners, a recording does not hold.)
fn report(of: &[&str]) -> String {
    let done = run(&[&["report"], of, &["--grouping", "type", "--format", "csv", "--table", "times"]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn dumps_recordings_and_trees_become_one_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let dumps = &["sample-data/person-leak/person-leak-03.hprof.gz", "sample-data/person-leak/person-leak-12.hprof.gz"];
    let run_mcity = at("run.mcity").display().to_string();
    let again = at("again.mcity").display().to_string();
    let said = converted(dumps, &at("run.mcity"));
    assert!(said.contains("not in the file: the values of fields"), "{said}");
    assert!(said.contains("2 walks") && said.contains("references"), "{said}");
    assert_eq!(report(dumps), report(&[&run_mcity]), "the same counts");

    let said = converted(&[&run_mcity], &at("again.mcity"));
    assert!(!said.contains("not in the file"), "a recording holds all of a recording: {said}");
    assert_eq!(report(&[&run_mcity]), report(&[&again]));

    let said = converted(&[&run_mcity], &at("trees.json"));
    assert!(said.contains("not in the file: single objects with their addresses, GC roots and values"), "{said}");
    let from_dump = converted(dumps, &at("direct.json"));
    assert!(from_dump.contains("not in the file"), "{from_dump}");
    let trees = |name: &str| std::fs::read_to_string(at(name)).expect("trees");
    assert_eq!(trees("trees.json"), trees("direct.json"), "by whatever way");

    // A recording has room for what trees count, and for nothing else of them.
    let trees_json = at("trees.json").display().to_string();
    let said = converted(&[&trees_json], &at("counts.mcity"));
    assert!(said.contains("not in the file: what refers to what") && said.contains("each leaf is a class"), "{said}");
    let counts = text(&run(&["report", &at("counts.mcity").to_string_lossy(), "--tree", "--format", "csv"]).stdout);
    let before = text(&run(&["report", &trees_json, "--tree", "--format", "csv"]).stdout);
    // The heap as a whole is the first row, whatever it is divided into.
    let whole = |csv: &str| {
        csv.lines().nth(1).map(|l| l.split(',').skip(2).take(4).collect::<Vec<_>>().join(",")).expect("a row")
    };
    assert_eq!(whole(&counts), whole(&before), "{counts}");
}

/// Collections of trees are those of the recording that is made of them; and what a file does not hold of an input is named.
#[test]
fn collections_of_trees_are_kept_and_what_is_left_out_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let said = converted(&["tests/data/anttracks/churn-parallel"], &at("trees.json"));
    assert!(said.contains("not in the file: what came and went between the points"), "{said}");
    let trees = at("trees.json").display().to_string();
    let said = converted(&[&trees], &at("counts.mcity"));
    assert!(!said.contains("collections"), "{said}");
    let counts = at("counts.mcity").display().to_string();
    converted(&[&counts], &at("again.json"));
    let collections = |name: &str| {
        let read = std::fs::read_to_string(at(name)).expect("trees");
        let read: serde_json::Value = serde_json::from_str(&read).expect("JSON");
        let times = read["times"].as_array().expect("times").iter();
        times.map(|time| (time["gc"].clone(), time["timestamp"].clone())).collect::<Vec<_>>()
    };
    let before = collections("trees.json");
    assert!(before.len() > 3 && before.iter().all(|(gc, _)| gc.is_object()), "{before:?}");
    assert_eq!(before, collections("again.json"));

    // Of a recording with samples these are not in trees, and of any input its warnings.
    let shop = at("shop.mcity");
    let mut recorded = memory_city_testing::shop::Shop::begin(&shop, TraceOptions::default());
    recorded.walk(8, 3);
    recorded.walk(16, 3);
    drop(recorded);
    let said = converted(&[&shop.display().to_string()], &at("shop.json"));
    for named in ["samples of allocations", "the facts of the run, its threads", "1 warning about the input"] {
        assert!(said.contains(&format!("not in the file: {named}")), "{named}: {said}");
    }
}

const TREES: &str = r#"{"format":"memory-city","version":1,"times":[{"tree":{"objects":1,"bytes":8}}]}"#;

/// Inputs of `convert` are neither overwritten nor joined by its output. Trees of a recording are as private as the
/// recording.
#[test]
fn inputs_stay_and_trees_of_recordings_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let part = trace.join("00-000000.mcity");
    let mut recorded = memory_city_testing::shop::Shop::begin(&trace, TraceOptions::default());
    recorded.walk(8, 3);
    drop(recorded);
    let before = std::fs::read(&part).expect("the recording");
    let refused = |input: &Path, output: &Path, why: &str| {
        let done = run(&["convert", &input.to_string_lossy(), "-o", &output.to_string_lossy()]);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains(why) && said.contains("--output"), "{said}");
    };
    refused(&trace, &part, "would lie in");
    refused(&trace, &trace.join("../trace/new.json"), "would lie in");
    refused(&part, &part, "would be overwritten");
    // No other command overwrites what it reads.
    let trees = folder.path().join("city.json");
    std::fs::write(&trees, TREES).expect("trees");
    let trees = trees.display().to_string();
    for command in [
        &["page", &trees, "-o", &trees][..],
        &["check", &trees, "--junit", &trees],
        &["compare", &trees, &trees, "--output-trees", &trees],
    ] {
        let done = run(command);
        let said = text(&done.stderr);
        assert!(done.status.code() == Some(1) && said.contains("would be overwritten"), "{command:?}: {said}");
        assert_eq!(std::fs::read_to_string(&trees).expect("the trees"), TREES);
    }
    assert_eq!(std::fs::read(&part).expect("the recording"), before);
    assert_eq!(std::fs::read_dir(&trace).expect("the folder").count(), 1);
    // Beside a file that is converted there may be others.
    for (input, output) in [(&trace, folder.path().join("trees.json")), (&part, trace.join("trees.json"))] {
        converted(&[&input.to_string_lossy()], &output);
        let mode = std::fs::metadata(&output).expect("trees").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", output.display());
    }
}

/// Where some points in time are ends of collections and others are not, each keeps what it is.
#[test]
fn each_point_of_trees_keeps_its_own_collection() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let gc = |number: u32, end: bool| serde_json::json!({"number": number, "kind": "major", "cause": "System.gc()", "duration": 7, "end": end});
    let time = |millis: u64, gc: Option<serde_json::Value>| {
        let tree = serde_json::json!({"children": [{"name": "A", "role": "Type", "objects": millis, "bytes": 16}]});
        let mut time = serde_json::json!({"label": format!("at {millis}"), "timestamp": millis, "tree": tree});
        gc.into_iter().for_each(|gc| time["gc"] = gc);
        time
    };
    let times = [
        time(1000, Some(gc(3, true))),
        time(2000, None),
        time(3000, Some(gc(4, false))),
        time(3007, Some(gc(4, true))),
    ];
    let trees = serde_json::json!({"format": "memory-city", "version": 1, "times": times});
    std::fs::write(at("trees.json"), trees.to_string()).expect("written");
    let said = converted(&[&at("trees.json").display().to_string()], &at("counts.mcity"));
    assert!(said.contains("not in the file: the collections that begin at 1 of the points in time"), "{said}");
    converted(&[&at("counts.mcity").display().to_string()], &at("again.json"));
    let again = std::fs::read_to_string(at("again.json")).expect("trees");
    let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
    let told: Vec<_> = again["times"].as_array().expect("times").iter().map(|t| (&t["timestamp"], &t["gc"])).collect();
    let expected: Vec<_> = times.iter().map(|t| (&t["timestamp"], &t["gc"])).collect();
    for (at, (told, expected)) in told.iter().zip(&expected).enumerate() {
        assert_eq!(told.0, expected.0);
        let is_begun = at == 2;
        assert!(if is_begun { told.1.is_null() } else { told.1 == expected.1 }, "{at}: {told:?} {expected:?}");
    }
    assert_eq!(told.len(), 4);
}

/// Groupings that samples know can be asked for. For others a message names the missing data and the work that was not
/// done.
#[test]
fn a_recording_without_walks_is_grouped_by_what_samples_know() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples.mcity");
    let mut program = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let mut tables = TraceTables::new(100);
    let name = tables.string("com.acme.Cart").expect("a number");
    let class = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
    let worker = tables.string("worker-1").expect("a number");
    let thread = tables.thread(ThreadRow { name: worker, ..ThreadRow::default() });
    tables.write_new(&mut program).expect("written");
    let sample = SampleRow { id: 5, class, thread, size: 16, weight: 300 << 16, ..SampleRow::default() };
    program.write(&[sample]).expect("written");
    program.finish("done").expect("finished");
    let path = path.display().to_string();
    let told = |grouping: &str| {
        let done = run(&["report", &path, "--tree", "--format", "csv", "--grouping", grouping]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        (text(&done.stdout), text(&done.stderr))
    };
    let (tree, said) = told("thread>type");
    assert!(tree.contains("\n1,worker-1,") && tree.contains(",Allocating thread,300,4800,"), "{tree}");
    assert!(said.contains("estimated from 1 samples") && !said.contains("not applied"), "{said}");
    assert!(tree.contains("Heap, estimated from samples"), "{tree}");
    let (tree, said) = told("type>rooted");
    let why = "the grouping type>rooted was not applied. Needs GC roots, which samples of a recording without walks do not tell";
    assert!(said.contains(why), "{said}");
    assert!(tree.contains("com.acme") && !tree.contains("rooted"), "{tree}");
}

/// Trees that are divided by place tell of each class where it was allocated, in a recording too.
#[test]
fn places_of_trees_are_frames_of_recordings() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let grouping = ["--grouping", "package>type>site(depth=1)"];
    converted(&[&["tests/data/anttracks/churn-parallel"], &grouping[..]].concat(), &at("trees.json"));
    let trees = at("trees.json").display().to_string();
    let said = converted(&[&trees], &at("counts.mcity"));
    assert!(said.contains("without those of allocation sites"), "{said}");
    // As it is read again: packages, types, and the first place in the program's own code, which here is the only one.
    let rows = |of: &Path| {
        let done = run(&["report", &of.to_string_lossy(), "--tree", "--format", "csv"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let told = text(&done.stdout);
        // Districts may be packages in packages: what is in them is the same.
        let row = |row: &str| {
            let (key, numbers) = row.split_once(",Allocation site,")?;
            let mut key = key.trim_end_matches('"').rsplit('#');
            Some(format!("{} {} {numbers}", key.next()?, key.next()?))
        };
        let mut rows: Vec<String> = told.lines().filter_map(row).collect();
        rows.sort();
        rows
    };
    let (before, after) = (rows(&at("trees.json")), rows(&at("counts.mcity")));
    assert!(before.len() > 50, "{before:?}");
    assert_eq!(before, after);
    let counts = text(&run(&["analyse", "counts", &at("counts.mcity").to_string_lossy(), "--format", "csv"]).stdout);
    // Wherever they were allocated, threads are one class.
    assert_eq!(counts.lines().filter(|row| row.starts_with("java.lang.Thread,")).count(), 1, "{counts}");
}

#[test]
fn traces_become_recordings_that_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.mcity");
    let said = converted(&["tests/data/anttracks/churn-parallel"], &path);
    assert!(!said.contains("not in the file"), "{said}");
    // What is told of those that no walk has seen: of all of the trace, and of the file.
    for analysis in ["lifetimes", "churn", "run"] {
        let told = |of: &str| {
            let done = run(&["analyse", analysis, of, "--format", "csv"]);
            assert_eq!(done.status.code(), Some(0), "{analysis}: {}", text(&done.stderr));
            text(&done.stdout)
        };
        assert_eq!(told("tests/data/anttracks/churn-parallel"), told(&path.to_string_lossy()), "{analysis}");
    }
    let done = run(&["report", &path.to_string_lossy(), "--grouping", "type-site", "--format", "json"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let sites = text(&done.stdout);
    assert!(sites.contains("allocation site") || sites.contains("():"), "sites are there: {sites:.300}");
}

/// A recording tells which code is the program's own: its lines are the places, unless somebody says something else. A copy tells it too.
#[test]
fn a_recording_tells_which_packages_are_the_programs_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, packages: Option<&str>| {
        let path = folder.path().join(name);
        let mut program = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
        let mut tables = TraceTables::new(100);
        let name = tables.string("net.held.Thing").expect("a number");
        let class = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
        let run = tables.method("com.acme.Main", "run", Some("()"), None, Vec::new).expect("a method");
        let take = tables.method("net.pool.Pool", "take", Some("()"), None, Vec::new).expect("a method");
        let caller = tables.frame(None, run, None);
        let stack = tables.frame(caller, take, None);
        tables.write_new(&mut program).expect("written");
        let fact = |key: &str, value: &str| RunRow { key: key.into(), value: value.into() };
        program.write(&[fact("recording.started", "1700000000000")]).expect("written");
        program.write(&packages.map(|p| fact("program.packages", p)).into_iter().collect::<Vec<_>>()).expect("written");
        program
            .write(&[SampleRow { id: 5, class, size: 16, weight: 1 << 16, stack, ..SampleRow::default() }])
            .expect("written");
        program.finish("done").expect("finished");
        path
    };
    let place = |path: &Path, options: &[&str]| {
        let path = path.display().to_string();
        let done = run(&[&["report", &path, "--tree", "--format", "csv"], options].concat());
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let told = text(&done.stdout);
        let places = ["net.pool.Pool.take", "com.acme.Main.run"];
        places.into_iter().find(|place| told.contains(place)).unwrap_or_else(|| panic!("{told}"))
    };
    let (silent, told) = (write("silent.mcity", None), write("told.mcity", Some("com.acme")));
    assert_eq!(place(&silent, &[]), "net.pool.Pool.take");
    assert_eq!(place(&told, &[]), "com.acme.Main.run");
    assert_eq!(place(&told, &["--packages", "net.pool"]), "net.pool.Pool.take");
    let copy = folder.path().join("copy.mcity");
    converted(&[&told.display().to_string()], &copy);
    assert_eq!(place(&copy, &[]), "com.acme.Main.run");
}

/// What a program writes of itself, and walks that another process writes beside it: two streams, each with numbers of its own.
#[test]
fn a_recording_of_two_streams_becomes_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let mut program = TraceWriter::create_folder(&trace, TraceOptions::default()).expect("a writer");
    let mut tables = TraceTables::new(100);
    let name = tables.string("only.Here").expect("a number");
    let class = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
    let method = tables.method("only.Here", "make", Some("()"), None, Vec::new).expect("a method");
    let stack = tables.frame(None, method, None);
    tables.write_new(&mut program).expect("written");
    let sample = SampleRow { id: 5, class, size: 16, weight: 1 << 16, stack, ..SampleRow::default() };
    program.write(&[sample]).expect("written");
    let options = TraceOptions { recording: Some(program.recording()), stream: 1, ..TraceOptions::default() };
    program.finish("the program ended").expect("finished");
    let mut walks = WalkStream::new(TraceWriter::create_folder(&trace, options).expect("a writer"));
    let dump = "sample-data/person-leak/person-leak-03.hprof.gz";
    let series = memory_city_formats::open(&[dump.into()], &Progress::new()).expect("a dump");
    let heap = series.load(0, &Progress::new()).expect("a heap");
    let person = |o: &ObjectId| heap.types()[heap.type_of(*o).0 as usize].name.ends_with("Person");
    let samples = [(heap.objects().find(person).expect("somebody"), 5)];
    let seen = SeenWalk { samples: &samples, ..SeenWalk::default() };
    walks.write(&heap, WalkStartRow::default(), &seen, &Progress::new()).expect("written");
    walks.finish("the program ended").expect("finished");

    let (trace, one) = (trace.display().to_string(), folder.path().join("one.mcity"));
    let said = converted(&[&trace], &one);
    assert!(said.contains("1 walk") && !said.contains("not in the file"), "{said}");
    let one_text = one.display().to_string();
    assert_eq!(report(&[&trace]), report(&[&one_text]));
    let tree = |of: &str, grouping: &str| {
        let done = run(&["report", of, "--tree", "--format", "csv", "--grouping", grouping]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    for grouping in ["type", "type-site"] {
        assert_eq!(tree(&trace, grouping), tree(&one_text, grouping), "{grouping}");
    }
    assert!(tree(&one_text, "type-site").contains("only.Here.make()"));
    let again = folder.path().join("again.mcity");
    converted(&[&one_text], &again);
    let bytes = |path: &Path| std::fs::read(path).expect("a file");
    assert!(bytes(&one) == bytes(&again), "twice is the same");
}

#[cfg(unix)]
#[test]
fn recordings_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.mcity");
    converted(&["sample-data/person-leak/person-leak-01.hprof.gz"], &path);
    assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "and nothing half written is left");
}

/// Data that a recording cannot hold is refused, or named. No option is silently ignored.
#[test]
fn what_a_recording_cannot_hold_is_told() {
    let sample = "sample-data/person-leak";
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("run.mcity");
    for option in ["--churn", "--difference"] {
        let done = run(&["convert", sample, "-o", &to.to_string_lossy(), option]);
        assert_eq!(done.status.code(), Some(2), "{}", text(&done.stderr));
        assert!(text(&done.stderr).contains(option) && !to.exists(), "{}", text(&done.stderr));
    }
    let last = format!("{sample}/person-leak-16.hprof.gz");
    let said = converted(&[&last, "--grouping", "type"], &to);
    assert!(said.contains("not in the file: the grouping type"), "{said}");
    assert!(!converted(&[&last], &to).contains("the grouping"), "nobody asked for one");
}

/// A converted city is smaller than its dumps by the factor that docs/formats.md gives.
#[test]
fn trees_are_a_small_part_of_the_dumps() {
    let folder = tempfile::tempdir().expect("a folder");
    let (sample, to) = (Path::new("sample-data/person-leak"), folder.path().join("city.json.zst"));
    converted(&[&sample.to_string_lossy()], &to);
    let bytes = |path: &Path| std::fs::metadata(path).expect("a file").len();
    let dumps = std::fs::read_dir(sample).expect("the sample").map(|entry| entry.expect("one").path());
    let dumps: u64 = dumps.filter(|path| path.to_string_lossy().ends_with(".hprof.gz")).map(|path| bytes(&path)).sum();
    println!("dumps of {dumps} bytes are trees of {}", bytes(&to));
    assert!(bytes(&to) * 500 < dumps, "{} of {dumps}", bytes(&to));
}

/// Pauses of a collector that works beside the program stay pauses in trees, and in a recording that is made of these.
#[test]
fn pauses_stay_pauses_in_trees() {
    for (scope, many, is_pause) in [(GcScope::Whole, "collections", false), (GcScope::Pause, "pauses", true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.mcity");
        let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
        let mut tables = TraceTables::new(10);
        let name = tables.string("shop.Cart").expect("a number");
        let class = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
        tables.write_new(&mut writer).expect("written");
        let (start, duration, kind) = (1_000_000_000, 4_000_000, CollectionKind::Major);
        writer.write(&[GcRow { number: 0, start, duration, kind, scope, ..GcRow::default() }]).expect("written");
        let start = WalkStartRow { time: start + duration, gc: Some(0), all_alive: true, ..WalkStartRow::default() };
        let mut walk = writer.begin_walk(start).expect("a walk");
        walk.object(&WalkObject { class, ..WalkObject::default() }, &[]).expect("listed");
        walk.finish(None).expect("finished");
        writer.finish("done").expect("finished");
        let (trees, again) = (folder.path().join("trees.json"), folder.path().join("again.mcity"));
        let said = converted(&[&path.display().to_string()], &trees);
        assert!(said.contains(&format!("its {many} but")), "{said}");
        let written = std::fs::read_to_string(&trees).expect("trees");
        assert_eq!(written.contains(r#""pause":true"#), is_pause, "{written}");
        converted(&[&trees.display().to_string()], &again);
        for made in [trees, again] {
            let report = run(&["analyse", "collections", &made.to_string_lossy()]);
            let (report, full) = (text(&report.stdout), if is_pause { "major" } else { "full" });
            assert!(report.to_lowercase().contains(many) && report.contains(full), "{report}");
            assert!(!is_pause || !report.contains("full"), "{report}");
        }
    }
}

/// A name says in which form to write: where it names one that cannot be written, nothing is.
#[test]
fn names_of_forms_that_cannot_be_written_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["run.hprof", "run.hprof.gz", "run.mcity.zst", "run.csv"] {
        let to = folder.path().join(name);
        let done = run(&["convert", "sample-data/person-leak", "-o", &to.to_string_lossy()]);
        let said = text(&done.stderr);
        assert!(done.status.code() == Some(1) && said.contains("Write .json, .jsonl"), "{name}: {said}");
        assert!(!to.exists(), "{name}");
    }
}

/// Groups of samples are marked as such in every form of output.
#[test]
fn groups_of_samples_are_said_to_be_that_in_each_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let shop = folder.path().join("shop");
    let mut recorded = memory_city_testing::shop::Shop::begin(&shop, TraceOptions::default());
    recorded.walk(10, 10);
    recorded.walk(20, 10);
    let shop = shop.to_string_lossy();
    let trees = folder.path().join("trees.json").to_string_lossy().into_owned();
    let part = "sampled objects only, 10 of 31";
    for (words, is_said_aside) in [
        (&["report"][..], false),
        (&["report", "--format", "json"], false),
        (&["report", "--format", "csv"], true),
        (&["report", "--tree"], false),
        (&["report", "--tree", "--format", "json"], false),
        (&["report", "--tree", "--format", "csv"], true),
        (&["analyse", "growth", "--format", "csv"], true),
    ] {
        let said = |grouping: &str| {
            let done = run(&[words, &[&*shop, "--grouping", grouping]].concat());
            let (shown, aside) = (text(&done.stdout), text(&done.stderr));
            assert_eq!(done.status.code(), Some(0), "{words:?}: {aside}");
            if is_said_aside { aside } else { shown }
        };
        let by_thread = said("thread>type");
        assert!(by_thread.contains(part), "{words:?}: {by_thread}");
        assert!(!said("type").contains("sampled objects only"), "{words:?}");
    }
    // Memory trees have it with them.
    for (grouping, is_of_samples) in [("thread>type", true), ("type", false)] {
        assert_eq!(run(&["convert", "-o", &trees, &shop, "--grouping", grouping]).status.code(), Some(0));
        let said = text(&run(&["report", &trees]).stdout);
        assert_eq!(said.contains(part), is_of_samples, "{grouping}: {said}");
        // As class histograms of a recording, and as trees that are made of these.
        let [counts, again] = ["counts.mcity", "again.json"].map(|name| folder.path().join(name));
        for (from, to) in [(Path::new(&trees), &counts), (&counts, &again)] {
            let done = run(&["convert", &from.to_string_lossy(), "-o", &to.to_string_lossy()]);
            assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
            let said = text(&run(&["report", &to.to_string_lossy()]).stdout);
            assert_eq!(said.contains(part), is_of_samples, "{grouping}, {}: {said}", to.display());
            assert!(!said.contains("the counts are exact"), "{grouping}, {}: {said}", to.display());
        }
        let counts = counts.to_string_lossy();
        let told =
            text(&run(&["report", &counts]).stdout) + text(&run(&["analyse", "counts", &counts]).stdout).as_str();
        let expected = match is_of_samples {
            true => [
                "known of sampled objects only: such groups are no totals",
                "groups of sampled objects only, no totals",
            ],
            false => ["the counts are those of the trees", "the counts of the trees that they were made of"],
        };
        assert!(expected.iter().all(|words| told.contains(words)), "{grouping}: {told}");
    }
    // Trees of what samples estimate to be alive have that in their name.
    let estimates =
        std::fs::read_to_string(&trees).expect("trees").replacen("\"Heap\"", "\"Heap, estimated from samples\"", 1);
    std::fs::write(&trees, estimates).expect("written");
    let counts = folder.path().join("estimates.mcity").to_string_lossy().into_owned();
    assert_eq!(run(&["convert", "-o", &counts, &trees]).status.code(), Some(0));
    let told = text(&run(&["report", &counts]).stdout) + text(&run(&["analyse", "counts", &counts]).stdout).as_str();
    for words in ["Heap, estimated from samples", "made of what samples estimated to be alive", "no exact counts"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("the counts are exact") && !told.contains(": exact counts"), "{told}");
}
