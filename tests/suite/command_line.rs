//! The real program from outside: exit codes, Ctrl+C, and what scripts rely on. Needs no viewer:
//! `cargo test --no-default-features --test command_line`.

use memory_city_testing::anttracks::{Spec, generate};
use memory_city_testing::root;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn program() -> Command {
    let mut program = Command::new(option_env!("MEMORY_CITY_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_memory-city")));
    program.env_remove("RUST_LOG").env("MEMORY_CITY_CACHE", "").stdin(Stdio::null());
    program
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program runs")
}

fn sample(path: &str) -> String {
    root().join(path).to_string_lossy().into_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn exit_codes() {
    let done = run(&["report", &sample("sample-data/json/lines.jsonl")]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(!done.stdout.is_empty());
    for unusable in [vec!["report", "/does/not/exist"], vec!["report", &sample("Cargo.toml")]] {
        let output = run(&unusable);
        assert_eq!(output.status.code(), Some(1), "{unusable:?}");
        assert!(text(&output.stderr).starts_with("memory-city: "), "{}", text(&output.stderr));
    }
    for wrong in [vec!["dance"], vec!["report"], vec!["report", "a", "--top", "many"], vec!["convert", "a"]] {
        assert_eq!(run(&wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error_but_a_closed_pipe_is_none() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("a full disk");
    let input = sample("sample-data/json/lines.jsonl");
    let output = program().args(["report", &input]).stdout(full).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("standard output"), "{}", text(&output.stderr));
    let mut child = program().args(["report", &input]).stdout(Stdio::piped()).spawn().expect("the program");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_text_are_no_reason_to_print_nothing() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(root().join("sample-data/json/one-time.json"), folder.path().join("a.json")).expect("a copy");
    let odd = std::ffi::OsStr::from_bytes(b"odd \xff name.bin");
    std::fs::write(folder.path().join(odd), "no trees").expect("a file");
    let output = run(&["report", "--format", "json", &folder.path().to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let all = report.to_string();
    assert!(all.contains("odd \u{fffd} name.bin"), "{all}");
}

#[test]
fn what_the_cache_cannot_keep_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("no folder");
    std::fs::write(&file, "a file").expect("a file");
    let trace = sample("tests/data/anttracks/person-leak-parallel");
    let output = program().args(["report", &trace]).env("MEMORY_CITY_CACHE", &file).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(0));
    let told = text(&output.stderr);
    assert!(told.contains("WARN") && told.contains(&*file.to_string_lossy()), "{told:?}");
}

/// Trees that take a while to read, and longer to pack.
fn large(folder: &Path) -> PathBuf {
    use std::io::Write;
    let path = folder.join("large.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    for time in 0..60u64 {
        write!(file, "{{\"format\":\"memory-city\",\"version\":1,\"tree\":{{\"children\":[").expect("written");
        for group in 0..10_000u64 {
            let comma = if group > 0 { "," } else { "" };
            let objects = (group * 7919 + time * 104_729) % 1_000_003;
            write!(file, "{comma}{{\"name\":\"group {group}\",\"objects\":{objects},\"bytes\":{}}}", 24 * objects)
                .expect("written");
        }
        writeln!(file, "]}}}}").expect("written");
    }
    file.into_inner().expect("written");
    path
}

/// A trace that takes seconds to read.
fn large_trace(folder: &Path) -> PathBuf {
    let trace = folder.join("large");
    std::fs::create_dir(&trace).expect("a folder");
    let spec = Spec {
        pointers: false,
        threads: 8,
        types: 400,
        sites: 2000,
        live_objects: 300_000,
        allocations_per_gc: 300_000,
        survivors_percent: 5,
        full_gc_every: 0,
        answers: false,
        gcs: u32::MAX,
        stop_at_bytes: Some(200_000_000),
        ..Spec::default()
    };
    let mut out = std::io::BufWriter::new(std::fs::File::create(trace.join("trace")).expect("a file"));
    let generated = generate(&spec, &mut out).expect("written");
    std::fs::write(trace.join("symbols"), generated.symbols).expect("written");
    trace
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

fn interrupt(child: &Child) {
    signal(child, "INT");
}

/// Waits until the program has begun the work that Ctrl+C cancels. Its log must be piped.
fn works(child: &mut Child) {
    use std::io::{BufRead, BufReader};
    let mut log = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
    assert!(log.any(|line| line.contains("working: Ctrl+C cancels")), "it ends without any work");
    // Nobody needs the rest; a full pipe would stop the program.
    std::thread::spawn(move || log.for_each(drop));
}

/// Waits until there is a file in `folder`.
fn writes(child: &mut Child, folder: &Path) {
    while !folder.exists() || names(folder).is_empty() {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it has ended before it wrote anything");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The exit code, in time.
fn ends(child: &mut Child) -> Option<i32> {
    let until = Instant::now() + Duration::from_secs(120);
    while Instant::now() < until {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    panic!("it goes on after Ctrl+C");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
#[cfg(unix)]
fn ctrl_c_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = large(folder.path());
    for while_writing in [false, true] {
        let out = folder.path().join(format!("out {while_writing}"));
        std::fs::create_dir(&out).expect("a folder");
        let mut child = program()
            .arg("convert")
            .arg(&input)
            .arg("-o")
            .arg(out.join("large.json.gz"))
            .env("RUST_LOG", "memory_city=debug")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        works(&mut child);
        if while_writing {
            writes(&mut child, &out);
        }
        interrupt(&child);
        assert_eq!(ends(&mut child), Some(130));
        assert_eq!(names(&out), Vec::<String>::new());
    }
    let mut child = program()
        .arg("report")
        .arg(&input)
        .env("RUST_LOG", "memory_city=debug")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    works(&mut child);
    interrupt(&child);
    assert_eq!(ends(&mut child), Some(130));
}

#[test]
#[cfg(unix)]
fn no_half_index_is_left_however_a_reader_of_a_trace_is_asked_to_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = large_trace(folder.path());
    let cache = folder.path().join("cache");
    // The second signal does not wait for the work to notice the first.
    for (signals, code) in [(&["INT"][..], 130), (&["TERM"], 143), (&["INT", "INT"], 130), (&["TERM", "TERM"], 143)] {
        let mut child = program()
            .arg("report")
            .arg(&trace)
            .env("MEMORY_CITY_CACHE", &cache)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program");
        writes(&mut child, &cache);
        assert!(names(&cache).iter().all(|name| name.ends_with(".partial")), "{:?}: too fast", names(&cache));
        signals.iter().for_each(|name| signal(&child, name));
        assert_eq!(ends(&mut child), Some(code), "{signals:?}");
        assert_eq!(names(&cache), Vec::<String>::new(), "{signals:?}");
    }
}

#[test]
#[cfg(unix)]
fn what_is_converted_is_put_in_place_with_the_rights_of_other_files() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, inputs) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    std::fs::set_permissions(inputs.path(), PermissionsExt::from_mode(0o755)).expect("for all");
    let (out, input) = (folder.path().join("out.json"), inputs.path().join("lines.jsonl"));
    std::fs::copy(sample("sample-data/json/lines.jsonl"), &input).expect("a copy");
    let done = run(&["convert", &input.to_string_lossy(), "-o", &out.to_string_lossy()]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(names(folder.path()), ["out.json"]);
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").expect("a file");
    let rights = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode();
    assert_eq!(rights(&out), rights(&plain));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_server_and_tells_its_clients() {
    use std::io::{BufRead, BufReader};
    use tungstenite::Message;
    let mut child = program()
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let url = line.trim().strip_prefix("Listening on ").expect("an address");
    let stream = std::net::TcpStream::connect(url.trim_start_matches("ws://")).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let (mut client, _) = tungstenite::client(url, stream).expect("a handshake");
    client.send(Message::text(r#"{"do":"hello","protocol":1,"source":"a"}"#)).expect("sent");
    assert!(client.read().expect("an answer").to_text().expect("text").contains("\"ack\""));
    interrupt(&child);
    let code = loop {
        match client.read() {
            Ok(Message::Close(frame)) => break frame.map(|f| u16::from(f.code)),
            Ok(_) => {}
            Err(error) => panic!("the connection ended without a code: {error}"),
        }
    };
    assert_eq!(code, Some(1001));
    assert_eq!(ends(&mut child), Some(130));
}

/// Classifiers of users: as a file, from the folder of the configuration, as a filter; and messages about mistakes.
#[test]
fn classifiers_of_peoples_own_are_known_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, input) = (folder.path().join("config"), sample("sample-data/person-leak"));
    let health = sample("examples/classifiers/collection-health.classifier.rhai");
    let report = |more: &[&str]| {
        let arguments = [&["report", input.as_str(), "--tree", "--format", "csv"], more].concat();
        program().env("MEMORY_CITY_CONFIG", &config).args(arguments).output().expect("the program runs")
    };
    let done = report(&["--grouping", "collection-health>type", "--classifier", &health, "--depth", "1"]);
    let table = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(["head", "entry", "array", "contained"].iter().all(|part| table.contains(part)), "{table}");
    // Not without the file; a mistake has its place.
    assert_eq!(report(&["--grouping", "collection-health>type"]).status.code(), Some(2));
    let broken = folder.path().join("broken.classifier.rhai");
    std::fs::write(&broken, "o.size +\n").expect("written");
    let wrong = report(&["--classifier", &broken.to_string_lossy()]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("broken.classifier.rhai, line"), "{}", text(&wrong.stderr));
    // One from the folder, as a filter, with the program's own packages.
    std::fs::create_dir_all(config.join("classifiers")).expect("a folder");
    std::fs::write(config.join("classifiers/large.classifier.rhai"), "// cardinality: filter\no.size > 1000")
        .expect("written");
    let done = report(&["--grouping", "filter(large)>domain>type", "--packages", "(default package)"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("char[]") || text(&done.stdout).contains("byte[]"));
    assert_eq!(report(&["--packages", "no package"]).status.code(), Some(2));
}

/// Descriptions of users' data structures: as a file, from the folder of the configuration; and messages about mistakes.
#[test]
fn descriptions_of_data_structures_are_read_from_files_and_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, input) = (folder.path().join("config"), sample("sample-data/person-leak"));
    let analyse = |more: &[&str]| {
        let arguments = [
            &["analyse", "structures", input.as_str(), "--format", "csv", "-p", "which=all", "-p", "top=100000"],
            more,
        ];
        program().env("MEMORY_CITY_CONFIG", &config).args(arguments.concat()).output().expect("the program runs")
    };
    let persons = |output: &Output| {
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let table = text(&output.stdout);
        let types = table.lines().filter_map(|line| line.split(',').next());
        (
            types.clone().filter(|of| of.ends_with("Person")).count(),
            types.filter(|of| *of == "java.util.LinkedList").count(),
        )
    };
    let (none, lists) = persons(&analyse(&[]));
    assert!(none == 0 && lists > 0, "{none} {lists}");
    let own = folder.path().join("own.ds");
    std::fs::write(&own, "DS *Person { (*); }\n").expect("written");
    let (some, same) = persons(&analyse(&["--structures", &own.to_string_lossy()]));
    assert!(some > 1000 && same == lists, "{some} {same}");
    std::fs::create_dir_all(config.join("structures")).expect("a folder");
    std::fs::copy(&own, config.join("structures/own.ds")).expect("copied");
    std::fs::write(config.join("structures/broken.ds"), "DS A {\n  B\n}\n").expect("written");
    let done = analyse(&[]);
    assert_eq!(persons(&done), (some, lists));
    let message = "broken.ds, line 3, column 1: found `}`, expected `;`";
    assert!(text(&done.stderr).contains(message), "{}", text(&done.stderr));
    let wrong = analyse(&["--structures", &config.join("structures/broken.ds").to_string_lossy()]);
    assert!(wrong.status.code() == Some(2) && text(&wrong.stderr).contains(message), "{}", text(&wrong.stderr));
}

/// Groupings saved in the window are known by name; a message tells what is wrong with their file.
#[test]
fn saved_groupings_are_known_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = sample("sample-data/person-leak");
    let report = |grouping: &str| {
        let arguments = ["report", input.as_str(), "--tree", "--format", "csv", "--depth", "1", "--group-by", grouping];
        program().env("MEMORY_CITY_CONFIG", folder.path()).args(arguments).output().expect("the program runs")
    };
    assert_eq!(report("kinds-first").status.code(), Some(2), "nothing is saved yet");
    let saved = r#"{"version":1,"groupings":[
        {"id":"kinds-first","title":"Kinds first","list":"kind>type","description":"Arrays apart"},
        {"id":"lost","title":"Lost","list":"no-such-script","description":""}]}"#;
    std::fs::write(folder.path().join("groupings.json"), saved).expect("written");
    let done = report("kinds-first");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("Small array"), "{}", text(&done.stdout));
    assert!(text(&done.stderr).contains("the grouping lost is left out"), "{}", text(&done.stderr));
    assert_eq!(text(&report("kind>type").stdout), text(&done.stdout), "it is that list");
    let help = program().env("MEMORY_CITY_CONFIG", folder.path()).args(["help", "report"]).output().expect("help");
    assert!(text(&help.stdout).contains("kinds-first"));
    std::fs::write(folder.path().join("groupings.json"), "{").expect("written");
    let done = report("type");
    assert_eq!(done.status.code(), Some(0));
    assert!(text(&done.stderr).contains("groupings.json") && text(&done.stderr).contains("move it away"));
}

/// The cities that were recorded with allocation sites show what their leaks are known for.
#[test]
fn the_recorded_cities_have_their_points_in_time_and_the_sites_that_leak() {
    let grows = |path: &str, points: usize, expected: &[&str]| {
        let printed = text(&run(&["report", &sample(&format!("sample-data/{path}"))]).stdout);
        assert_eq!(printed.lines().filter(|l| l.contains("  Walk ")).count(), points, "{printed}");
        for line in expected {
            assert!(printed.contains(line), "{path}: {line} in\n{printed}");
        }
    };
    let pool = "org.apache.commons.httpclient.MultiThreadedHttpConnectionManager$HostConnectionPool";
    grows(
        "http-pool/city.json.zst",
        25,
        &[
            &format!("Type: {pool} › Allocation site: "),
            &format!("Type: java.util.LinkedList › Allocation site: {pool}.<init>() line"),
            "Type: java.util.HashMap$Node › ",
            "+1,920 objects",
        ],
    );
    grows(
        "journeys/city.json.zst",
        24,
        &[
            "Type: agency.store.Location › Closest domain call site: agency.store.JourneyStore.locations(String, int) line",
            "Type: java.util.Date › Closest domain call site: agency.store.JourneyStore.locations(String, int) line",
            "+18,100 objects",
            "Type: agency.service.JourneyService$QueryKey › ",
        ],
    );
}

/// Every command is completed, and has a manual page that names its options.
#[test]
fn shells_and_man_know_every_command() {
    let listed = text(&run(&["--help"]).stdout);
    let commands: Vec<&str> = listed
        .split("Commands:\n")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next())
        .expect("a list of commands")
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.contains(&"report") && commands.len() > 12, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let completions = text(&run(&["completions", shell]).stdout);
        let missing: Vec<_> = commands.iter().filter(|name| !completions.contains(**name)).collect();
        assert!(missing.is_empty(), "{shell}: {missing:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("new/man1");
    assert_eq!(run(&["man", "-o", &pages.to_string_lossy()]).status.code(), Some(0));
    for name in &commands {
        let page = std::fs::read_to_string(pages.join(format!("memory-city-{name}.1"))).expect("a page");
        assert!(page.contains(".SH OPTIONS") && page.contains("Print this help"), "{name}");
    }
    let all = std::fs::read_dir(&pages).expect("the pages").count();
    assert_eq!(all, commands.len() + 1, "one for the program as a whole");
}
