//! Names chosen by the analysed program, or by the author of a file, to harm readers of our output. They have escape
//! sequences, line feeds that forge lines, marks of direction, formulas, or any length. Also the access rights of our
//! output.

use memory_city_analysis::analyses::AnalysisRegistry;
use memory_city_heap::printable::is_unprintable;
use memory_city_testing::hprof_writer::{CLASS, Dump, NODE, NODES, OBJECT, STRING, THREAD};
use memory_city_testing::root;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const EVIL: &str = "evil\nok  Nothing accumulates\n::error::forged\r\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}\u{2028}\u{2029}\u{61c}\u{200e}##[error]x";

/// A program whose class holds more and more instances, in a static field; and a thread.
fn dump(class: &str, thread: &str, count: u64) -> Vec<u8> {
    let mut d = Dump::new(2, 8, 1_700_000_000_000 + count);
    let array = format!("[L{class};");
    let classes = [
        (OBJECT, "java/lang/Object"),
        (STRING, "java/lang/String"),
        (THREAD, "java/lang/Thread"),
        (CLASS, "java/lang/Class"),
        (NODE, class),
        (NODES, &array),
    ];
    for (serial, (class, name)) in (1..).zip(classes) {
        d.load_class(serial, class, name);
    }
    for (id, name) in [(11, "value"), (12, "coder"), (13, "name"), (14, class), (16, thread), (17, class)] {
        d.string(id, name);
    }
    d.frame(50, 17, 5, 42).trace(1, 0, &[]).trace(7, 3, &[50]);
    d.class(OBJECT, 0, 0, &[], &[]).class(STRING, OBJECT, 0, &[], &[(11, 2), (12, 8)]);
    d.class(THREAD, OBJECT, 0, &[], &[(13, 2)]).class(CLASS, OBJECT, 0, &[], &[]);
    d.class(NODE, OBJECT, 0, &[(16, 2, 0x1_0000)], &[(14, 2)]).class(NODES, OBJECT, 0, &[], &[]);
    d.root(0x05, NODE, &[]).root(0x08, 0x1800, &[3, 7]).root(0x03, 0x1900, &[3, 0]);
    let bytes: Vec<u64> = thread.encode_utf16().flat_map(u16::to_le_bytes).map(u64::from).collect();
    d.primitive_array(0x1700, 8, &bytes);
    d.instance(0x1780, 1, STRING, &[(2, 0x1700), (8, 1)]);
    d.instance(0x1800, 1, THREAD, &[(2, 0x1780)]);
    d.instance(0x1900, 1, NODE, &[(2, 0x1780)]);
    let nodes: Vec<u64> = (0..count).map(|i| 0x10_0000 + i * 0x40).collect();
    d.object_array(0x1_0000, NODES, &nodes);
    for node in nodes {
        d.instance(node, 1, NODE, &[(2, 0x1780)]);
    }
    d.finish()
}

/// Dumps of such a program, in a folder.
fn dumps(folder: &Path, class: &str, thread: &str) -> PathBuf {
    let dumps = folder.join("dumps");
    std::fs::create_dir(&dumps).expect("a folder");
    for (i, count) in [100, 2000, 4000, 6000].into_iter().enumerate() {
        std::fs::write(dumps.join(format!("{i}.hprof")), dump(class, thread, count)).expect("written");
    }
    dumps
}

/// Trees with a group of a name.
fn trees(file: &Path, name: &str) {
    let line = |t: u64| {
        let leaf = json!({ "name": name, "role": name, "objects": 10 * t, "bytes": 1000 * t });
        let tree = json!({ "name": name, "children": [leaf, { "name": "=1+2", "objects": 1, "bytes": 16 }] });
        format!("{}\n", json!({ "format": "memory-city", "version": 1, "timestamp": t, "label": name, "tree": tree }))
    };
    std::fs::write(file, (1..4).map(line).collect::<String>()).expect("written");
}

fn memory_city(arguments: &[&str]) -> Output {
    let cache = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    program.args(arguments).current_dir(root()).env("RUST_LOG", "info").env("XDG_CACHE_HOME", cache.path());
    program.output().expect("it starts")
}

/// Runs a command, checks its output for forbidden text, and returns exit code and output.
fn said(arguments: &[&str]) -> (i32, String) {
    let output = memory_city(arguments);
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).expect("UTF-8").to_owned();
    let all = text(&output.stdout) + text(&output.stderr).as_str();
    let found = all.chars().find(|&c| c != '\n' && c != '\t' && is_unprintable(c));
    assert_eq!(found, None, "{arguments:?}: {all:?}");
    for line in all.lines().map(str::trim_start) {
        let forged = ["ok  Nothing accumulates", "::", "forged"].iter().any(|begin| line.starts_with(begin));
        assert!(!forged && !line.contains("##["), "{arguments:?}: {line}");
    }
    (output.status.code().expect("a code"), all)
}

#[test]
fn nothing_that_is_said_speaks_to_a_terminal_or_forges_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let dumps = dumps(folder.path(), EVIL, EVIL);
    let (dumps, first) = (dumps.display().to_string(), dumps.join("0.hprof").display().to_string());
    let tree = folder.path().join("evil\n::error::\u{1b}[2J\u{202e}.jsonl");
    trees(&tree, EVIL);
    let tree = &*tree.display().to_string();
    let mut shown = 0;
    for input in [&*dumps, tree] {
        for format in ["text", "json", "csv"] {
            for more in [&[][..], &["--tree"], &["--tree", "--grouping", "package>type"]] {
                let (code, text) = said(&[&["report", input, "--format", format], more].concat());
                assert_eq!(code, 0, "{text}");
                shown += usize::from(text.contains("evil"));
            }
        }
        let (code, _) = said(&["compare", input, input]);
        assert_eq!(code, 0);
        for id in AnalysisRegistry::built_in().iter().map(|analysis| analysis.describe().id) {
            // Some are about other inputs: they say so.
            for format in ["text", "json", "csv"] {
                let (code, text) = said(&["analyse", id, input, "--format", format]);
                assert!(code < 3, "{id}: {code}: {text}");
                shown += usize::from(text.contains("evil"));
            }
        }
    }
    assert!(shown > 30, "{shown} answers name it: the names went through");
    let junit = folder.path().join("junit.xml");
    let (code, text) = said(&["check", &dumps, "--junit", &junit.display().to_string()]);
    assert!(code == 3 && text.contains("FAIL"), "{code}: {text}");
    let xml = std::fs::read_to_string(&junit).expect("it is there");
    assert!(!xml.contains(|c| c != '\n' && is_unprintable(c)) && xml.contains("evil"), "{xml}");
    assert!(!xml.lines().any(|line| line.trim_start().starts_with("ok ") || line.trim_start().starts_with("::")));
    said(&["check", &dumps, "--format", "json"]);
    let limit = format!("{EVIL} > 1kB");
    said(&["check", &first, "--max-retained", &limit]);
    for output in ["out\n::error::.json", "out.mcity", "out\u{1b}[2J.html"] {
        let output = folder.path().join(output).display().to_string();
        let command = if output.ends_with("html") { "page" } else { "convert" };
        let (code, text) = said(&[command, &dumps, "-o", &output]);
        assert_eq!(code, 0, "{text}");
        if output.ends_with("json") {
            said(&["report", &output]);
        }
    }
}

#[test]
fn what_is_wrong_is_said_as_safely() {
    let missing = format!("/dev/null/{EVIL}");
    for arguments in [
        &["report", &*missing][..],
        &["page", &missing, "-o", "/dev/null"],
        &["convert", "sample-data/json/lines.jsonl", "-o", &format!("{missing}.json")],
        &["report", "sample-data/json/lines.jsonl", "--tree", "--where", &format!("{EVIL} > 3")],
        &["report", "sample-data/json/lines.jsonl", "--metric", EVIL],
        &["report", "sample-data/json/lines.jsonl", "--grouping", EVIL],
        &["report", "sample-data/json/lines.jsonl", "--grouping", &format!("feature(file=\"{EVIL}\")")],
        &["report", "sample-data/json/lines.jsonl", "--classifier", EVIL],
        &["report", "sample-data/json/lines.jsonl", "--packages", EVIL],
        &["report", "x", &format!("--{EVIL}")],
        &["report", "x", "--top", EVIL],
        &["report", "x", "--format", EVIL],
        &["analyse", EVIL, "x"],
        &["analyse", "growth", "x", "-p", &format!("{EVIL}=3")],
        &["check", "x", "--max-retained", EVIL],
        &["check", "x", "--max-retained", &format!("{EVIL} < 3")],
        &["check", "x", "--max-growth", EVIL],
        &["push", "sample-data/json/lines.jsonl", "--to", EVIL],
        &["serve", "--listen", EVIL],
        &["serve", "--token-file", &missing],
        &[EVIL],
    ] {
        let (code, text) = said(arguments);
        assert!((1..=2).contains(&code) && !text.is_empty(), "{arguments:?}: {code}: {text}");
    }
}

#[test]
fn names_of_any_length_are_shortened() {
    for length in [70_000, 10_000_000] {
        let folder = tempfile::tempdir().expect("a folder");
        let long = "x".repeat(length);
        let file = folder.path().join("trees.jsonl");
        trees(&file, &long);
        let trees = &*file.display().to_string();
        let dumps = dumps(folder.path(), &format!("com/acme/{long}"), &long);
        let dumps = &*dumps.display().to_string();
        for arguments in [
            &["report", trees][..],
            &["report", trees, "--tree"],
            &["compare", trees, trees],
            &["analyse", "growth", trees],
            &["report", dumps],
            &["report", dumps, "--tree"],
            &["check", dumps],
            &["analyse", "threads", dumps],
            &["analyse", "leak", dumps],
        ] {
            let output = memory_city(arguments);
            let code = output.status.code().expect("a code");
            let (text, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(code == 0 || code == 3, "{arguments:?}: {code}: {wrong}");
            let longest = text.lines().chain(wrong.lines()).map(str::len).max().expect("lines");
            assert!(longest < 10_000, "{arguments:?} of {length}: {longest}");
            assert!(text.contains("xxx…xxx"), "{arguments:?}: {text}");
        }
    }
    let long = "y".repeat(70_000);
    let (code, text) =
        said(&["report", "sample-data/json/lines.jsonl", "--tree", "--where", &format!("bytes > 3 and {long}")]);
    assert!(code == 1 && text.len() < 10_000, "{code}: {} bytes", text.len());
}

#[test]
fn formulas_are_texts_unless_they_are_asked_for_raw() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trees.jsonl");
    trees(&file, "-cmd|' /C calc'!A0");
    let file = &*file.display().to_string();
    let rows = |more: &[&str]| -> Vec<Vec<String>> {
        let (code, text) = said(&[&["report", file, "--tree", "--format", "csv"], more].concat());
        assert_eq!(code, 0, "{text}");
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        reader.records().map(|row| row.expect("a row").iter().map(str::to_owned).collect()).collect()
    };
    let texts = |rows: &[Vec<String>]| {
        rows.iter().flatten().filter(|cell| cell.parse::<f64>().is_err()).cloned().collect::<Vec<_>>()
    };
    let harmless = rows(&[]);
    assert!(!texts(&harmless).iter().any(|cell| cell.starts_with(['=', '+', '-', '@'])), "{harmless:?}");
    assert!(texts(&harmless).iter().any(|cell| cell == "'=1+2"));
    let raw = rows(&["--raw-csv"]);
    assert!(texts(&raw).iter().any(|cell| cell == "=1+2") && texts(&raw).iter().any(|cell| cell.starts_with("-cmd")));
    assert_eq!(said(&["report", file, "--raw-csv"]).0, 2, "it is about CSV");
}

#[test]
fn what_is_made_of_an_input_is_no_more_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trees.jsonl");
    trees(&file, "a");
    let dumps = dumps(folder.path(), "com/acme/Node", "main");
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let set = |path: &Path, mode: u32| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
    // Files in a private folder are private.
    set(folder.path(), 0o755);
    for private in [false, true] {
        let rights = if private { 0o600 } else { 0o644 };
        set(&file, rights);
        set(&dumps.join("1.hprof"), rights);
        for (command, input, name) in [
            ("page", &file, "a.html"),
            ("convert", &file, "a.json"),
            ("page", &dumps, "b.html"),
            ("convert", &dumps, "b.json"),
        ] {
            let output = folder.path().join(name);
            let (code, text) = said(&[command, &input.display().to_string(), "-o", &output.display().to_string()]);
            assert_eq!((code, mode(&output) & !rights), (0, 0), "{command} {name}: {:o}: {text}", mode(&output));
            assert!(private || mode(&output) & 0o044 == 0o044, "{name}: {:o}", mode(&output));
        }
        let junit = folder.path().join("junit.xml");
        said(&["check", &dumps.display().to_string(), "--junit", &junit.display().to_string()]);
        assert_eq!(mode(&junit) & !rights, 0, "{:o}", mode(&junit));
        let (both, one) = (folder.path().join("both.json"), folder.path().join("trees.jsonl"));
        let (both_name, one) = (both.display().to_string(), one.display().to_string());
        said(&["compare", &one, "sample-data/json/lines.jsonl", "--output-trees", &both_name]);
        assert_eq!(mode(&both) & !rights, 0, "{:o}", mode(&both));
    }
    // What was recorded names threads, whatever its mode.
    let recording = folder.path().join("x.mcity");
    said(&["convert", &dumps.display().to_string(), "-o", &recording.display().to_string()]);
    assert_eq!(mode(&recording), 0o600);
    set(&recording, 0o644);
    let page = folder.path().join("recording.html");
    said(&["page", &recording.display().to_string(), "-o", &page.display().to_string()]);
    assert_eq!(mode(&page), 0o600);
}

fn view(file: &Path, data: &[&str], more: Value) {
    let mut says = json!({
        "format": "memory-city view", "version": 1, "data": data, "grouping": "type", "time": 1,
        "camera": { "eye": [0.0, 50.0, 90.0], "yaw": 0.0, "pitch": -0.5 }, "size": [800, 500], "settings": {}
    });
    for (name, value) in more.as_object().expect("fields") {
        says[name] = value.clone();
    }
    std::fs::write(file, says.to_string()).expect("written");
}

#[test]
fn a_view_file_reaches_no_farther_than_its_folder_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own");
    std::fs::create_dir(&own).expect("a folder");
    let (file, page) = (own.join("one.mcview"), folder.path().join("page.html").display().to_string());
    trees(&own.join("inside.jsonl"), "inside");
    trees(&folder.path().join("outside.jsonl"), "outside");
    let dumps = dumps(&own, "com/acme/Node", "main");
    std::fs::write(folder.path().join("secret"), "root:x:0:0:SECRET\n[a]\n").expect("written");
    std::os::unix::fs::symlink(folder.path().join("outside.jsonl"), own.join("link.jsonl")).expect("a link");
    std::fs::create_dir(own.join("linked")).expect("a folder");
    std::os::unix::fs::symlink(folder.path().join("outside.jsonl"), own.join("linked/deep.jsonl")).expect("a link");
    let mkfifo = Command::new("mkfifo").arg(own.join("pipe")).status().expect("mkfifo");
    assert!(mkfifo.success());
    let run = |more: &[&str]| said(&[&["page", &file.display().to_string(), "-o", &page], more].concat());
    let secret = folder.path().join("secret").display().to_string();
    let of_secret = json!({ "grouping": format!("type>feature(file={secret})") });
    let of_another = json!({ "compare": { "with": "run", "data": ["../outside.jsonl"], "align": "auto", "at": 0 } });
    let outside = folder.path().join("outside.jsonl").display().to_string();

    view(&file, &["inside.jsonl"], json!({}));
    assert_eq!(run(&[]).0, 0, "{:?}", run(&[]));
    view(&file, &["dumps"], json!({}));
    assert_eq!(run(&[]).0, 0, "{:?}", run(&[]));
    for (data, more, is_there) in [
        (&*outside, json!({}), true),
        ("../outside.jsonl", json!({}), true),
        ("link.jsonl", json!({}), true),
        ("linked", json!({}), true),
        ("inside.jsonl", of_another, true),
        ("../nothing.jsonl", json!({}), false),
        ("dumps", of_secret, false),
    ] {
        view(&file, &[data], more);
        let (code, text) = run(&[]);
        assert!(code == 1 && text.contains("outside its folder") && text.contains("--allow-outside"), "{data}: {text}");
        assert!(!text.contains("SECRET"), "{text}");
        let (code, text) = run(&["--allow-outside"]);
        assert_eq!(code == 0, is_there, "{data}: {text}");
        assert!(!text.contains("SECRET"), "no word of the file is quoted: {text}");
    }
    // A part beside a dump is read with it.
    std::fs::copy(dumps.join("1.hprof"), own.join("alone.hprof")).expect("a copy");
    view(&file, &["alone.hprof"], json!({}));
    assert_eq!(run(&[]).0, 0, "{:?}", run(&[]));
    std::os::unix::fs::symlink(&secret, own.join("alone.hprof.p0")).expect("a link");
    assert_eq!(run(&[]).0, 1, "{:?}", run(&[]));
    // So are the symbols of a trace.
    for name in ["symbols.zst", "trace.zst"] {
        let run = std::path::Path::new("tests/data/anttracks/churn-parallel");
        std::fs::create_dir_all(own.join("run"))
            .and_then(|()| std::fs::copy(run.join(name), own.join("run").join(name)))
            .expect("a copy");
    }
    view(&file, &["run/trace.zst"], json!({}));
    assert_eq!(run(&[]).0, 0, "{:?}", run(&[]));
    std::fs::rename(own.join("run/symbols.zst"), folder.path().join("symbols.zst")).expect("moved");
    std::os::unix::fs::symlink(folder.path().join("symbols.zst"), own.join("run/symbols.zst")).expect("a link");
    let (code, text) = run(&[]);
    assert!(code == 1 && text.contains("outside its folder"), "{text}");
    // Pipes and devices are not waited for, whoever allows what.
    for data in ["pipe", "/dev/zero", "/dev/tty"] {
        view(&file, &[data], json!({}));
        let (code, text) = run(&["--allow-outside"]);
        assert!(code == 1 && text.contains("a pipe or a device"), "{data}: {text}");
    }
    let pipe = own.join("pipe").display().to_string();
    for (data, list) in [("dumps", format!("feature(file={pipe})")), ("dumps", "feature(file=/dev/zero)".to_owned())] {
        view(&file, &[data], json!({ "grouping": list }));
        assert_eq!(run(&["--allow-outside"]).0, 1);
    }
    // What a person types is read, where it is a small regular file.
    let features = folder.path().join("features.txt");
    std::fs::write(&features, "[all]\ncom.acme\n").expect("written");
    let dumps = dumps.display().to_string();
    let grouped = |file: &str| said(&["report", &dumps, "--grouping", &format!("feature(file={file})>type")]);
    assert_ne!(grouped(&features.display().to_string()).0, 2);
    for wrong in [&*pipe, "/dev/zero", &secret] {
        let (code, text) = grouped(wrong);
        assert!(code == 2 && !text.contains("SECRET"), "{wrong}: {text}");
    }
}
