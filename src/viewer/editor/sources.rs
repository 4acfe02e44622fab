//! Search for the source file of a class. It looks below the folders that a person named, by package and class, as compilers want it.
//! Then it looks in any module below them, and then for a file of the package with another name.

use super::place::CodePlace;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Ends of names of sources.
const ENDS: [&str; 5] = ["java", "kt", "scala", "groovy", "clj"];
/// Usual places of sources below a project, by build tool.
const USUAL: [&str; 7] =
    ["", "src", "src/main/java", "src/main/kotlin", "src/main/scala", "src/test/java", "app/src/main/java"];
/// Folders below which there is no source that a person edits.
const PASSED_OVER: [&str; 6] = ["target", "build", "out", "bin", "node_modules", "dist"];
/// No more folders are looked into, and no deeper.
const MOST_FOLDERS: usize = 50_000;
const DEEPEST: usize = 32;
/// Files of a package that are read for a class with another name, and how much of each.
const MOST_FILES: usize = 400;
const MOST_BYTES: u64 = 4 << 20;

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, complete from the root.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// Whether the input tells the line; else it is where the method is first named.
    pub is_told: bool,
}

/// Looks for the source of a place. The first folder that has it wins.
///
/// # Errors
/// When it is nowhere, with where it was looked for; when the work is cancelled.
pub fn find(place: &CodePlace, roots: &[PathBuf], progress: &Progress) -> Result<SourceLine> {
    let Some((package, class)) = place.file_stem() else {
        return Err(Error::Unusable {
            what: format!("{} is no name of a class with a source", place.class),
            remedy: "Classes that are made while a program runs have none".into(),
        });
    };
    let package: PathBuf = package.iter().collect();
    // In Kotlin functions without a class are in one that is called after the file.
    let stems = [Some(class), class.strip_suffix("Kt").filter(|stem| !stem.is_empty())];
    let names: Vec<String> =
        stems.iter().flatten().flat_map(|stem| ENDS.iter().map(move |end| format!("{stem}.{end}"))).collect();
    let file_in = |folder: &Path| names.iter().map(|name| folder.join(name)).find(|file| file.is_file());
    let mut looked = 0;
    for root in roots {
        let root = std::path::absolute(root).map_err(|error| Error::io(root, error))?;
        let mut packages: Vec<PathBuf> = Vec::new();
        for usual in USUAL {
            let folder = root.join(usual).join(&package);
            if let Some(file) = file_in(&folder) {
                return line_of(place, file);
            }
            if !package.as_os_str().is_empty() && folder.is_dir() {
                packages.push(folder);
            }
        }
        let mut walk = vec![(root.clone(), 0)];
        while let Some((folder, depth)) = walk.pop() {
            progress.check()?;
            if looked >= MOST_FOLDERS {
                break;
            }
            looked += 1;
            let of_package = folder.join(&package);
            if let Some(file) = file_in(&of_package) {
                return line_of(place, file);
            }
            if depth > 0 && !package.as_os_str().is_empty() && of_package.is_dir() {
                packages.push(of_package);
            }
            if depth < DEEPEST {
                walk.extend(folders_in(&folder).into_iter().rev().map(|below| (below, depth + 1)));
            }
        }
        if package.as_os_str().is_empty() {
            packages.push(root);
        }
        for folder in packages {
            if let Some(file) = declared_in(&folder, class, progress)? {
                return line_of(place, file);
            }
        }
    }
    let mut below: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
    if below.is_empty() {
        below.push("no folder: none is named".to_owned());
    }
    let cut = if looked >= MOST_FOLDERS { format!(", the first {MOST_FOLDERS} folders") } else { String::new() };
    Err(Error::Unusable {
        what: format!(
            "The source of {} is not found. Looked for {} below {}{cut}",
            place.class,
            package.join(names.first().map_or("", String::as_str)).display(),
            below.join(", ")
        ),
        remedy: "Name the folder that has it".into(),
    })
}

/// The folders in a folder, but for hidden ones, links, and the output of builds.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_wanted = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        entry.file_type().is_ok_and(|kind| kind.is_dir()) && !name.starts_with('.') && !PASSED_OVER.contains(&&*name)
    };
    let mut found: Vec<PathBuf> = entries.filter(is_wanted).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// The file of a package that declares a class, under any name.
fn declared_in(folder: &Path, class: &str, progress: &Progress) -> Result<Option<PathBuf>> {
    let is_source = |path: &PathBuf| {
        path.extension().and_then(|end| end.to_str()).is_some_and(|end| ENDS.contains(&end)) && path.is_file()
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_source).collect();
    files.sort();
    for file in files.into_iter().take(MOST_FILES) {
        progress.check()?;
        if lines(&file).any(|line| declares(&line, class)) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// The lines of a file, as far as it is read.
fn lines(file: &Path) -> impl Iterator<Item = String> {
    let open = std::fs::File::open(file).ok();
    let mut reader = open.map(|open| BufReader::new(open.take(MOST_BYTES)));
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        let read = reader.as_mut()?.read_until(b'\n', &mut line).ok()?;
        (read > 0).then(|| String::from_utf8_lossy(&line).into_owned())
    })
}

/// Whether a line begins the declaration of a class.
fn declares(line: &str, class: &str) -> bool {
    let mut words =
        line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).filter(|word| !word.is_empty());
    let kinds = ["class", "interface", "enum", "record", "object", "trait"];
    while let Some(word) = words.next() {
        if kinds.contains(&word) {
            return words.next() == Some(class);
        }
    }
    false
}

/// The line that the place names; else the first mention of the method, or the first line.
fn line_of(place: &CodePlace, file: PathBuf) -> Result<SourceLine> {
    if let Some(line) = place.line {
        return Ok(SourceLine { file, line, is_told: true });
    }
    // Constructors have the name of the class.
    let class = place.file_stem().map_or("", |(_, class)| class);
    let name = if place.method.starts_with('<') { class } else { place.method.as_str() };
    let call = format!("{name}(");
    let names = |line: &String| {
        // Called on something it is no declaration.
        line.match_indices(&call).any(|(at, _)| line[..at].ends_with([' ', '\t']))
    };
    let at = lines(&file).position(|line| names(&line)).unwrap_or(0);
    Ok(SourceLine { file, line: u32::try_from(at).unwrap_or(0) + 1, is_told: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> CodePlace {
        CodePlace::first_in(text).expect("a place")
    }

    fn write(root: &Path, file: &str, text: &str) -> PathBuf {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, text).expect("written");
        path
    }

    #[test]
    fn sources_are_found_by_package_in_any_of_several_folders() {
        let temporary = tempfile::tempdir().expect("a folder");
        let (one, two) = (temporary.path().join("one"), temporary.path().join("two"));
        let roots = [one.clone(), two.clone()];
        let cart = write(&two, "src/main/java/com/acme/Cart.java", "class Cart {\n  void add(Item i) {\n  }\n}\n");
        let main = write(&one, "modules/shop/src/main/kotlin/com/acme/Main.kt", "fun main() {}\n");
        write(&one, "target/com/acme/Cart.java", "");
        let find = |text: &str| find(&place(text), &roots, &Progress::new());
        let told = |file: &PathBuf, line| SourceLine { file: file.clone(), line, is_told: true };
        assert_eq!(find("com.acme.Cart$Line.sum() line 40").expect("found"), told(&cart, 40));
        assert_eq!(find("com.acme.MainKt.main() line 1").expect("found"), told(&main, 1));
        // Without a line, where the method is first named.
        let guess = find("com.acme.Cart.add(Item):7").expect("found");
        assert_eq!((guess.line, guess.is_told), (2, false));
        // The first folder wins.
        let first = write(&one, "com/acme/Cart.java", "");
        assert_eq!(find("com.acme.Cart.add(Item) line 3").expect("found"), told(&first, 3));
        // A class in a file with another name.
        let other = write(&two, "src/com/acme/Parts.java", "// class Wheels\nclass Bolt {}\nfinal class Wheel<T> {}\n");
        assert_eq!(find("com.acme.Wheel.turn() line 3").expect("found"), told(&other, 3));
        let why = find("com.acme.Engine.run() line 3").expect_err("not there").to_string();
        assert!(why.contains("com/acme/Engine.java") && why.contains("/one, ") && why.contains("/two"), "{why}");
    }

    #[test]
    fn what_is_no_class_leads_nowhere() {
        let temporary = tempfile::tempdir().expect("a folder");
        let root = temporary.path().join("root");
        write(temporary.path(), "Secret.java", "");
        std::fs::create_dir_all(root.join("a")).expect("made");
        let wrong = CodePlace { class: "a...Secret".into(), method: "f".into(), line: Some(1) };
        assert!(find(&wrong, std::slice::from_ref(&root), &Progress::new()).is_err());
        let none = find(&place("a.Secret.f() line 1"), &[], &Progress::new()).expect_err("nowhere").to_string();
        assert!(none.contains("none is named"), "{none}");
        let cancelled = Progress::new();
        cancelled.cancel();
        assert!(matches!(find(&place("a.B.f() line 1"), &[root], &cancelled), Err(Error::Cancelled)));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_in_circles_end() {
        let temporary = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(temporary.path().join("a")).expect("made");
        std::os::unix::fs::symlink(temporary.path(), temporary.path().join("a/b")).expect("a link");
        assert!(find(&place("x.Y.f() line 1"), &[temporary.path().to_owned()], &Progress::new()).is_err());
    }
}
