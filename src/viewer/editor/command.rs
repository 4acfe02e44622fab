//! The command that opens a file at a line: a person's own words, with `{file}` and `{line}` in them. No shell reads it, and an inserted
//! file or line is never parsed again.

use std::ffi::OsString;
use std::path::Path;

/// Editors with a window, and how they take file and line.
const KNOWN: [(&str, &str); 22] = [
    ("code", "-g {file}:{line}"),
    ("code-insiders", "-g {file}:{line}"),
    ("codium", "-g {file}:{line}"),
    ("cursor", "-g {file}:{line}"),
    ("idea", "--line {line} {file}"),
    ("idea.sh", "--line {line} {file}"),
    ("studio", "--line {line} {file}"),
    ("fleet", "--goto={file}:{line}"),
    ("zed", "{file}:{line}"),
    ("subl", "{file}:{line}"),
    ("lapce", "{file}:{line}"),
    ("gedit", "+{line} {file}"),
    ("gnome-text-editor", "{file} +{line}"),
    ("xed", "+{line} {file}"),
    ("pluma", "+{line} {file}"),
    ("mousepad", "--line={line} {file}"),
    ("geany", "+{line} {file}"),
    ("kate", "--line {line} {file}"),
    ("kwrite", "--line {line} {file}"),
    ("gvim", "+{line} {file}"),
    ("emacs", "+{line} {file}"),
    ("emacsclient", "-n +{line} {file}"),
];

/// A template for the editor that the environment names, where it is one with a window: others need a terminal, which is not here.
pub fn from_environment(named: impl IntoIterator<Item = OsString>) -> Option<String> {
    named.into_iter().find_map(|value| {
        let words = shlex::split(value.to_str()?)?;
        let program = words.first()?;
        let name = Path::new(program).file_name()?.to_str()?;
        let (_, rest) = KNOWN.iter().find(|(known, _)| *known == name)?;
        // What else it is told, such as to wait, is for who waits.
        Some(format!("{} {rest}", shlex::try_quote(program).ok()?))
    })
}

/// The words of a template, with file and line in their places. Without `{file}` the file comes last.
///
/// # Errors
/// When the template is wrong, with the reason.
pub fn words(template: &str, file: &Path, line: u32) -> Result<Vec<OsString>, String> {
    let split =
        shlex::split(template).ok_or_else(|| "A quote is not closed in the command of the editor".to_owned())?;
    if split.is_empty() {
        return Err("No editor is named".to_owned());
    }
    let mut has_file = false;
    let mut words: Vec<OsString> = split.iter().map(|word| filled(word, file, line, &mut has_file)).collect();
    if !has_file {
        words.push(file.as_os_str().to_owned());
    }
    Ok(words)
}

/// A word with file and line inserted for their placeholders, from left to right: inserted text is not searched again.
fn filled(word: &str, file: &Path, line: u32, has_file: &mut bool) -> OsString {
    let mut text = OsString::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        text.push(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("{file}") {
            text.push(file);
            *has_file = true;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{line}") {
            text.push(line.to_string());
            rest = after;
        } else {
            text.push("{");
            rest = &rest[1..];
        }
    }
    text.push(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(template: &str, file: &str, line: u32) -> Vec<String> {
        let words = words(template, Path::new(file), line).expect("words");
        words.into_iter().map(|word| word.into_string().expect("text")).collect()
    }

    #[test]
    fn templates_are_words_and_files_are_never_read() {
        assert_eq!(of("code -g {file}:{line}", "/src/A.java", 12), ["code", "-g", "/src/A.java:12"]);
        assert_eq!(of("idea --line {line} {file}", "/a b/A.java", 7), ["idea", "--line", "7", "/a b/A.java"]);
        assert_eq!(of("\"/opt/my editor/ed\" '+{line}'", "/A.java", 3), ["/opt/my editor/ed", "+3", "/A.java"]);
        // Whatever a file is called, it is one word, and nothing in it is put in anew.
        for name in ["/a; rm -rf ~/A.java", "/$(x)/`y`", "/{line}{file}", "/\"'\\ \n"] {
            assert_eq!(of("ed {file} {line}", name, 9), ["ed", name, "9"]);
        }
        assert_eq!(of("ed {x}{ {line", "/A", 1), ["ed", "{x}{", "{line", "/A"]);
        assert!(words("", Path::new("/A"), 1).is_err() && words("ed 'x", Path::new("/A"), 1).is_err());
    }

    #[test]
    fn editors_of_the_environment_are_taken_where_they_have_a_window() {
        let of = |names: &[&str]| from_environment(names.iter().map(OsString::from));
        assert_eq!(of(&["vi", "code --wait"]).as_deref(), Some("code -g {file}:{line}"));
        assert_eq!(of(&["'/opt/my tools/subl' -w"]).as_deref(), Some("'/opt/my tools/subl' {file}:{line}"));
        assert_eq!(of(&["vim", "nano", "", "'"]), None, "they need a terminal");
    }
}
