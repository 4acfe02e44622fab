//! Code in an editor, from a real window: a program stands for the editor and writes down its arguments.

use super::hunts::is_yellow;
use super::*;

const TREE: &str = r#"{"format":"memory-city","version":1,"times":[
    {"tree":{"children":[{"name":"com.acme.Cart","role":"Type","children":[
        {"name":"com.acme.Shop$Till.fill(int) line 12","role":"Allocation site","objects":10,"bytes":400}]}]}},
    {"tree":{"children":[{"name":"com.acme.Cart","role":"Type","children":[
        {"name":"com.acme.Shop$Till.fill(int) line 12","role":"Allocation site","objects":90,"bytes":3600}]}]}}]}"#;

/// The last line of the trail with a text: a chord waits until all is at rest, and may have passed it.
fn told(session: &mut Session, text: &str) -> String {
    let passed = session.trail.iter().rev().find(|line| line.contains(text)).cloned();
    passed.unwrap_or_else(|| session.expect(text))
}

/// Ctrl+E opens file and line of the selection's allocation site, as two words of a command, whatever the name of the
/// folder. Without an editor or a file, a card asks and names the searched places.
#[cfg(unix)]
#[test]
fn a_window_opens_the_line_of_an_allocation_site_in_an_editor() {
    use std::os::unix::fs::PermissionsExt;
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config");
    let sources = folder.path().join("my $(shop); sources");
    let (said, editor) = (folder.path().join("said"), folder.path().join("editor"));
    let package = sources.join("src/main/java/com/acme");
    std::fs::create_dir_all(&package).expect("made");
    std::fs::create_dir_all(&config).expect("made");
    std::fs::write(package.join("Shop.java"), "package com.acme;\n").expect("written");
    std::fs::write(&editor, format!("#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > '{}'\n", said.display()))
        .expect("written");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    let tree = folder.path().join("tree.json");
    std::fs::write(&tree, TREE).expect("written");
    let environment = [("MEMORY_CITY_CONFIG", &*config), ("VISUAL", Path::new("vi")), ("EDITOR", Path::new(""))];
    let mut session = Session::start(&["open", &tree.to_string_lossy()], &environment);
    session.expect("city: tree");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.rest();
    // The first row of the list.
    session.click(120, 97);
    session.expect("selected: Heap#");
    session.rest();

    // No editor is known, for `vi` needs a terminal: it is asked for.
    session.chord("ctrl", "e");
    assert!(session.trail.iter().any(|line| line.contains("editor: asked for")), "{}", session.trail.join("\n"));
    session.screenshot("editor-1-asked");
    session.type_text(&format!("{} --at {{line}} {{file}}", editor.display()));
    session.rest();
    session.key("Tab");
    session.rest();
    session.chord("ctrl", "a");
    session.type_text(&sources.to_string_lossy());
    session.rest();
    let filled = session.screenshot("editor-2-filled");
    assert!(share(&filled, |p| p.iter().any(|&c| c > 40)) > 0.3);
    session.chord("ctrl", "Return");
    let file = package.join("Shop.java");
    told(&mut session, &format!("editor: opened {}:12", file.display()));
    let words = std::fs::read_to_string(&said).expect("the editor was started");
    assert_eq!(words.lines().collect::<Vec<_>>(), ["3", "--at", "12", &*file.to_string_lossy()]);
    session.rest();
    session.screenshot("editor-3-opened");

    // It is kept; and a file that is not there is told, with where it was looked for.
    let kept = std::fs::read_to_string(config.join("settings.json")).expect("settings");
    assert!(kept.contains("--at {line} {file}") && kept.contains("my $(shop); sources"), "{kept}");
    std::fs::remove_file(&file).expect("removed");
    session.chord("ctrl", "e");
    let why = told(&mut session, "editor: asked for (The source of");
    assert!(why.contains("com/acme/Shop.java") && why.contains("my $(shop); sources"), "{why}");
    session.screenshot("editor-4-not-found");
    session.key("Escape");
    session.rest();
    let closed = session.screenshot("editor-5-closed");
    assert!(difference(&filled, &closed) > 0.05, "Escape closes the card");
}

/// A variable that holds an object is a link to its method and line: in the inspector, and in the list of paths with Ctrl.
#[cfg(unix)]
#[test]
fn a_window_opens_the_line_of_a_variable_that_holds_an_object() {
    use std::os::unix::fs::PermissionsExt;
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (config, package) = (folder.path().join("config"), folder.path().join("src/com/acme"));
    std::fs::create_dir_all(&config).expect("made");
    std::fs::create_dir_all(&package).expect("made");
    let file = package.join("Node.java");
    std::fs::write(&file, "package com.acme;\n").expect("written");
    let editor = folder.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    let kept = serde_json::json!({ "editor": format!("'{}' {{file}} {{line}}", editor.display()),
        "source-folders": [folder.path().join("src")] });
    std::fs::write(config.join("settings.json"), kept.to_string()).expect("written");
    let dump = folder.path().join("small.hprof");
    std::fs::write(&dump, memory_city_testing::hprof_writer::small(2, 8, 3)).expect("written");
    let environment = [("MEMORY_CITY_CONFIG", &*config)];
    let mut session = Session::start(&["open", &dump.to_string_lossy()], &environment);
    session.expect("city: small");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.rest();
    let nodes = (0..12).find(|row| {
        session.click(120, 97 + 25 * row);
        session.expect("selected: ").ends_with("#Node")
    });
    nodes.expect("nodes are among the largest");
    let opened = format!("editor: opened {}:42", file.display());

    // The node that the thread's variable holds.
    session.key("i");
    let held = session.row("objects", |cells| cells[0] == "0x1900");
    session.follow(&held, 140);
    session.expect("inspector: object of com.acme.Node");
    session.screenshot("editor-6-inspector");
    // Its root stands below its sizes.
    session.click(520, 186);
    told(&mut session, &opened);

    // The paths to all nodes: of their roots, which are yellow, one is that variable.
    session.point(WIDTH / 2, 20);
    session.key("u");
    session.expect("ways: ");
    let paths = session.screenshot("editor-7-paths");
    let yellow = |y: &u32| (1130..WIDTH).filter(|x| is_yellow(paths.get_pixel(*x, *y).0)).count() > 8;
    let lines: Vec<u32> = (100..HEIGHT).filter(yellow).collect();
    let rows: Vec<u32> = lines.chunk_by(|a, b| b - a < 5).map(|row| row[row.len() / 2]).collect();
    assert!(rows.len() >= 2, "{rows:?}");
    let opens = |session: &mut Session, y: u32| {
        // The mouse goes there first: while a key is held the window never rests.
        session.point(1250, y);
        session.rest();
        let before = session.trail.len();
        session.tool("xdotool", &["keydown", "ctrl"]);
        session.expect("key: Control");
        session.click(1250, y);
        session.tool("xdotool", &["keyup", "ctrl"]);
        session.rest();
        session.trail[before..].iter().any(|line| line.contains(&opened))
    };
    assert_eq!(rows.iter().filter(|y| opens(&mut session, **y)).count(), 1, "{rows:?}");
}
