//! The JSON Schema, the examples, the page that teaches the format and the reader agree with each other.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{Source, json};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_testing::{python, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Errors by the schema for each text; `None` without a validator. In JSON Lines, the first line has the format of all.
fn complaints(texts: &[String]) -> Option<Vec<Vec<String>>> {
    let python = python::with_package("jsonschema")?;
    let mut documents: Vec<Value> = Vec::new();
    let mut of_text: Vec<usize> = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        for (i, document) in serde_json::Deserializer::from_str(text).into_iter::<Value>().enumerate() {
            let mut document = document.expect("JSON");
            if i > 0 {
                let fields = document.as_object_mut().expect("an object");
                fields.entry("format").or_insert("memory-city".into());
                fields.entry("version").or_insert(1.into());
            }
            documents.push(document);
            of_text.push(n);
        }
    }
    let mut run = Command::new(python)
        .arg(root().join("tests/python/validate.py"))
        .arg(root().join("assets/memory-tree.schema.json"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python");
    serde_json::to_writer(run.stdin.take().expect("its input"), &documents).expect("sent");
    let output = run.wait_with_output().expect("an answer");
    assert!(output.status.success());
    let found: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found.len(), documents.len());
    let mut all = vec![Vec::new(); texts.len()];
    of_text.iter().zip(found).for_each(|(&n, complaints)| all[n].extend(complaints));
    Some(all)
}

/// Nothing against any of them.
fn assert_valid(texts: &[String]) {
    for (complaints, text) in complaints(texts).unwrap_or_default().iter().zip(texts) {
        assert!(complaints.is_empty(), "{complaints:?}: {}", &text[..text.len().min(300)]);
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    files.retain(|f| f.is_file());
    files.sort();
    files
}

#[test]
fn examples_are_what_the_schema_says_and_can_be_read_without_a_warning() {
    let folder = root().join("sample-data/json");
    let examples = files(&folder).into_iter().chain(files(&folder.join("folder")));
    let mut texts = Vec::new();
    for file in examples.filter(|f| f.extension().is_some_and(|e| e != "md")) {
        texts.push(std::fs::read_to_string(&file).expect("text"));
        let source = json::read(std::slice::from_ref(&file), &Progress::new()).expect("trees");
        assert_eq!(source.warnings, [], "{}", file.display());
    }
    assert!(texts.len() >= 5, "{} examples", texts.len());
    assert_valid(&texts);
    let together = json::read(&[folder.join("folder")], &Progress::new()).expect("the folder");
    assert_eq!(together.warnings, []);
    assert_eq!(together.timeline.times(), 2);
    assert!(together.has_references());
}

#[test]
fn what_is_written_is_what_the_schema_says() {
    let mut texts = Vec::new();
    let folder = tempfile::tempdir().expect("a folder");
    for (input, name) in [
        ("sample-data/person-leak", "dumps.json"),
        ("tests/data/anttracks/person-leak-parallel", "trace.jsonl"),
        ("sample-data/json/folder", "trees.json"),
    ] {
        let source = Source::open(&[root().join(input)], "auto", GroupOptions::default(), &Progress::new());
        let source = source.expect("a source");
        let references = |time: usize| source.time_references(time, &Progress::new());
        let path = folder.path().join(name);
        json::save(source.timeline(), Some(&references), &path, &Progress::new()).expect("a file");
        texts.push(std::fs::read_to_string(&path).expect("text"));
    }
    assert_valid(&texts);
}

/// What the reader refuses the schema refuses, as far as a schema can know.
#[test]
fn schema_and_reader_draw_the_same_line() {
    let node = r#"{"name": "a", "objects": 1, "bytes": 2}"#;
    let table = [
        (true, format!(r#""tree": {{"children": [{node}]}}"#)),
        (true, format!(r#""times": [{{"tree": {node}, "gc": {{"kind": "major", "number": 3}}}}]"#)),
        (true, format!(r#""tree": {node}, "other": [1, {{}}], "gc": null, "roots": {{"Heap": {{"x": 1}}}}"#)),
        (true, r#""tree": {"objects": 12.0}"#.to_owned()),
        (false, r#""tree": {"objects": -1}"#.to_owned()),
        (false, r#""tree": {"objects": 1.5}"#.to_owned()),
        (false, r#""tree": {"objects": 9007199254740992}"#.to_owned()),
        (false, r#""tree": {"objects": "1"}"#.to_owned()),
        (false, r#""tree": {"name": "a"}"#.to_owned()),
        (false, r#""tree": {"children": [{"objects": 1}]}"#.to_owned()),
        (false, r#""tree": {"children": {}}"#.to_owned()),
        (false, format!(r#""tree": {node}, "times": []"#)),
        (false, r#""times": [{"label": "a"}]"#.to_owned()),
        (false, format!(r#""tree": {node}, "timestamp": -1"#)),
        (false, format!(r#""tree": {node}, "timestamp": 1700000000000000000"#)),
        (false, format!(r#""tree": {node}, "gc": {{"kind": "full"}}"#)),
        (false, format!(r#""tree": {node}, "gc": {{"number": 4294967296}}"#)),
        (true, format!(r#""tree": {node}, "gc": {{"number": 1, "pause": true}}"#)),
        (false, format!(r#""tree": {node}, "gc": {{"pause": "yes"}}"#)),
        (false, format!(r#""tree": {node}, "points-to": {{"Heap": {{"Heap": {{}}}}}}"#)),
        (false, format!(r#""tree": {node}, "points-to": {{"Heap": [1]}}"#)),
    ];
    let texts: Vec<String> =
        table.iter().map(|(_, t)| format!("{{\"format\": \"memory-city\", \"version\": 1, {t}}}")).collect();
    for (complaints, (good, text)) in complaints(&texts).unwrap_or_default().iter().zip(&table) {
        assert_eq!(complaints.is_empty(), *good, "the schema on {text}: {complaints:?}");
    }
    for ((good, _), text) in table.into_iter().zip(texts) {
        let mut collector = json::Collector::default();
        let input = Input::from_bytes(Path::new("table.json"), text.clone().into_bytes());
        let read = collector.add_input(&input, &Progress::new()).and_then(|()| collector.finish(&Progress::new()));
        assert_eq!(read.is_ok(), good, "the reader on {text}: {:?}", read.err());
    }
}

/// The fenced blocks of a language in the page that teaches the format.
fn blocks(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/memory-tree-json.md")).expect("the page");
    let fence = format!("```{language}\n");
    let parts = page.split(&fence).skip(1);
    parts.map(|part| part.split("```").next().expect("an end").to_owned()).collect()
}

#[test]
fn the_page_teaches_what_is_so() {
    let blocks = blocks("json");
    let mut texts = Vec::new();
    assert!(blocks.len() >= 3);
    for block in blocks {
        // Parts of a document are put into one.
        let text = match block.trim_start().starts_with('{') {
            true => block,
            false => format!(
                r#"{{"format": "memory-city", "version": 1, {block}, "tree": {{"children": [
                    {{"name": "java.util", "children": [{{"name": "LinkedList", "objects": 1, "bytes": 1}}]}},
                    {{"name": "Person", "objects": 500, "bytes": 1}}]}}}}"#
            ),
        };
        texts.push(text.clone());
        let mut collector = json::Collector::default();
        collector.add_input(&Input::from_bytes(Path::new("page"), text.into_bytes()), &Progress::new()).expect("trees");
        assert_eq!(collector.finish(&Progress::new()).expect("trees").warnings, []);
    }
    assert_valid(&texts);
}

/// The exporter of the page runs unchanged, and its own leak is what grows.
#[test]
fn the_exporter_of_the_page_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = blocks("python").into_iter().next().expect("the exporter");
    let Some(python) = python::with_package("json") else { return };
    let run = Command::new(python).args(["-c", &program]).current_dir(folder.path()).output().expect("Python");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let source = json::read(&[folder.path().join("heap.jsonl")], &Progress::new()).expect("trees");
    assert_eq!(source.warnings, []);
    assert_eq!(source.timeline.times(), 5);
    let top = memory_city_analysis::analyses::top_growing(
        &source.timeline,
        memory_city_analysis::timeline::Metric::Objects,
        1,
    );
    assert_eq!(source.timeline.key(top[0]), "Heap#__main__#Session");
}
