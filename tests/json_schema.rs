//! The JSON Schema, the examples, the page that teaches the format and the reader agree with each other.

use memory_city::group::GroupOptions;
use memory_city::progress::Progress;
use memory_city::timeline::{Source, json};
use memory_city::trace::input::Input;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema() -> jsonschema::Validator {
    let text = std::fs::read_to_string(root().join("assets/memory-tree.schema.json")).expect("the schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    jsonschema::validator_for(&schema).expect("a schema that can be used")
}

/// What the schema has against each document of a text. In JSON Lines, the first line says what all of them are.
fn complaints(schema: &jsonschema::Validator, text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (i, document) in serde_json::Deserializer::from_str(text).into_iter::<Value>().enumerate() {
        let mut document = document.expect("JSON");
        if i > 0 {
            let fields = document.as_object_mut().expect("an object");
            fields.entry("format").or_insert("memory-city".into());
            fields.entry("version").or_insert(1.into());
        }
        all.extend(schema.iter_errors(&document).map(|e| format!("{} at {}", e, e.instance_path())));
    }
    all
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    files.retain(|f| f.is_file());
    files.sort();
    files
}

#[test]
fn examples_are_what_the_schema_says_and_can_be_read_without_a_warning() {
    let schema = schema();
    let folder = root().join("sample-data/json");
    let examples = files(&folder).into_iter().chain(files(&folder.join("folder")));
    let mut seen = 0;
    for file in examples.filter(|f| f.extension().is_some_and(|e| e != "md")) {
        let text = std::fs::read_to_string(&file).expect("text");
        assert_eq!(complaints(&schema, &text), [""; 0], "{}", file.display());
        let source = json::read(std::slice::from_ref(&file), &Progress::new()).expect("trees");
        assert_eq!(source.warnings, [], "{}", file.display());
        seen += 1;
    }
    assert!(seen >= 5, "{seen} examples");
    let together = json::read(&[folder.join("folder")], &Progress::new()).expect("the folder");
    assert_eq!(together.warnings, []);
    assert_eq!(together.timeline.times(), 2);
    assert!(together.has_references());
}

#[test]
fn what_is_written_is_what_the_schema_says() {
    let schema = schema();
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
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(complaints(&schema, &text), [""; 0], "{input}");
    }
}

/// What the reader refuses the schema refuses, as far as a schema can know.
#[test]
fn schema_and_reader_draw_the_same_line() {
    let schema = schema();
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
        (false, format!(r#""tree": {node}, "points-to": {{"Heap": {{"Heap": {{}}}}}}"#)),
        (false, format!(r#""tree": {node}, "points-to": {{"Heap": [1]}}"#)),
    ];
    for (good, inside) in table {
        let text = format!("{{\"format\": \"memory-city\", \"version\": 1, {inside}}}");
        assert_eq!(complaints(&schema, &text).is_empty(), good, "the schema on {text}");
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
    let schema = schema();
    let blocks = blocks("json");
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
        assert_eq!(complaints(&schema, &text), [""; 0], "{text}");
        let mut collector = json::Collector::default();
        collector.add_input(&Input::from_bytes(Path::new("page"), text.into_bytes()), &Progress::new()).expect("trees");
        assert_eq!(collector.finish(&Progress::new()).expect("trees").warnings, []);
    }
}

/// The exporter of the page runs as it stands there, and its own leak is what grows.
#[test]
fn the_exporter_of_the_page_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = blocks("python").into_iter().next().expect("the exporter");
    let run = std::process::Command::new("python3").args(["-c", &program]).current_dir(folder.path()).output();
    let run = match run {
        Ok(run) => run,
        Err(_) if std::env::var_os("MEMORY_CITY_REQUIRE_PYTHON").is_none() => {
            return eprintln!("skipped: there is no python3");
        }
        Err(error) => panic!("python3 is required: {error}"),
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let source = json::read(&[folder.path().join("heap.jsonl")], &Progress::new()).expect("trees");
    assert_eq!(source.warnings, []);
    assert_eq!(source.timeline.times(), 5);
    let top = memory_city::analysis::top_growing(&source.timeline, memory_city::timeline::Metric::Objects, 1);
    assert_eq!(source.timeline.key(top[0]), "Heap#__main__#Session");
}
