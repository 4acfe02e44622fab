//! Test of the keys that texts name: people can change keys, so a text of the window may only name a key that it has looked up. Reads the
//! sources of the window: every text outside of tests.

use super::BINDINGS;
use memory_city_testing::{root, rust_files};
use std::path::Path;

/// Words that are keys as well.
const WORDS: [&str; 6] = ["Home", "End", "Left", "Right", "Up", "Down"];

/// All texts of a source file before its tests. Comments and characters are passed over: they may have quotation marks.
fn texts(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
    let regex = |pattern| regex::Regex::new(pattern).expect("a pattern");
    let token = regex(r#"(?s)//[^\n]*|'(?:\\.[^']*|[^\\])'|"((?:[^"\\]|\\.)*)""#);
    let escape = regex(r"(?s)\\(?:\n[ \t\n]*|(.))");
    let found = token.captures_iter(code).filter_map(|found| found.get(1));
    found.map(|text| escape.replace_all(text.as_str(), "$1").into_owned()).collect()
}

/// Whether a text names a key for an action: `press K`, `Cut  [Del]`, `play (Space)`, `F flies there`, or the key and nothing else.
fn names(text: &str, key: &str) -> bool {
    let is_number = key.chars().all(|c| c.is_ascii_digit());
    let does = |rest: &str| {
        let verb = rest.strip_prefix(' ').map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(""));
        !is_number && verb.is_some_and(|verb| verb.ends_with('s') && verb.starts_with(|c: char| c.is_lowercase()))
    };
    let alone = text == key && key.len() > 2 && !WORDS.contains(&key);
    alone
        || text.match_indices(key).any(|(at, _)| {
            let (before, rest) = (&text[..at], &text[at + key.len()..]);
            let begins =
                !before.ends_with(|c: char| c.is_alphanumeric() || "+'.".contains(c)) && !before.ends_with("Page ");
            let bracket = before.ends_with(['[', '(']) && rest.starts_with([']', ')', ':', ',']);
            let pressed = before.to_lowercase().ends_with("press ") && !rest.starts_with(|c: char| c.is_alphanumeric());
            begins && (bracket || pressed || does(rest))
        })
}

/// Whether the code of a view or card handles a key itself, as forms do, and so may name it.
fn handles(code: &str, key: &str) -> bool {
    let key = match key.rsplit('+').next().unwrap_or(key) {
        "Esc" => "Escape",
        "Del" => "Delete",
        key => key,
    };
    ["", "Arrow"].iter().any(|begin| code.contains(&format!("Key::{begin}{key}")))
}

#[test]
fn texts_are_read_and_keys_are_found_in_them() {
    let source = "/// Press \"K\".\nfn f<'a>() { g('\"', '\\'', \"a \\\"b\\\" \\\n    c\") } // \"no\"\n#[cfg(test)]\nmod tests { \"T\" }";
    assert_eq!(texts(source), ["a \"b\" c"]);
    for (text, key) in [
        ("Select a group first, then K marks it", "K"),
        ("Select a group and press K: it gets a colour", "K"),
        ("Choose a base first (V), then go on", "V"),
        ("Cut  [Del]", "Del"),
        ("Esc", "Esc"),
        ("Ctrl+B keeps the view", "Ctrl+B"),
        ("The palette (Ctrl+K) lists it", "Ctrl+K"),
    ] {
        assert!(names(text, key), "{text}");
    }
    for (text, key) in
        [("A {}   B {}", "B"), ("5 points", "5"), ("End", "End"), ("{key} marks it", "K"), ("OK says", "K")]
    {
        assert!(!names(text, key), "{text}");
    }
}

#[test]
fn no_text_of_the_window_names_a_key_that_may_be_another_one() {
    let keys: Vec<&str> = BINDINGS.iter().flat_map(|binding| binding.printed.split("  ")).collect();
    let viewer = root().join("src/viewer");
    let mut wrong = Vec::new();
    for path in rust_files(&viewer) {
        // The table itself, and tests.
        if path.ends_with("action.rs") || path.ends_with("tests.rs") || path.starts_with(viewer.join("keys")) {
            continue;
        }
        let read = |path: &Path| std::fs::read_to_string(path).expect("a source file");
        let code = read(&path);
        // A form may be several files of one folder; each of the viewer's own files is something by itself.
        let folder = path.parent().filter(|folder| folder.join("mod.rs").is_file() && !folder.ends_with("panels"));
        let form = folder.filter(|folder| !folder.ends_with("viewer") && !folder.ends_with("views"));
        let form = form.map_or_else(String::new, |folder| rust_files(folder).iter().map(|file| read(file)).collect());
        for text in texts(&code) {
            for key in keys.iter().filter(|key| names(&text, key) && !handles(&code, key) && !handles(&form, key)) {
                wrong.push(format!("{}: {key} in {text:?}", path.strip_prefix(&viewer).unwrap_or(&path).display()));
            }
        }
    }
    assert!(wrong.is_empty(), "keys::key and keys::beside say which key it is:\n{}", wrong.join("\n"));
}
