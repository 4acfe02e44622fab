//! What the card for saving writes, by real keys and clicks: the scene, the table, the picture without background. Each is read again.

use super::{HEIGHT, Session, WIDTH, share, skipped};
use std::path::Path;
use std::process::Command;

/// Saves what the card proposes for the end of this name, after a click on one of its kinds where that says more than the end.
fn save(session: &mut Session, path: &Path, kind: Option<(u32, u32)>) {
    session.chord("ctrl", "F12");
    if let Some((x, y)) = kind {
        session.click(x, y);
        session.rest();
        // Back into the field for the name.
        session.click(WIDTH / 2, y + 136);
        session.screenshot("90-save-card");
    }
    session.save_to(path);
}

#[test]
fn what_is_saved_can_be_read_again() {
    if skipped() {
        return;
    }
    let (mut session, folder) = Session::of_sample("type");
    session.key("h");
    session.rest();
    let (scene, table, picture) =
        (folder.path().join("city.glb"), folder.path().join("city.csv"), folder.path().join("clear.png"));

    // The scene: each building with its name.
    save(&mut session, &scene, None);
    let bytes = std::fs::read(&scene).expect("the scene");
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    assert_eq!((&bytes[..4], number(8), &bytes[16..20]), (&b"glTF"[..], bytes.len(), &b"JSON"[..]));
    let json: serde_json::Value = serde_json::from_slice(&bytes[20..20 + number(12)]).expect("its description");
    let nodes = json["nodes"].as_array().expect("nodes");
    let named =
        |text: &str| nodes.iter().filter(|node| node["name"].as_str().is_some_and(|n| n.contains(text))).count();
    assert!(nodes.len() > 40 && named("register.model.Person") == 1, "{} nodes", nodes.len());

    // The table: what `render` writes of the same.
    save(&mut session, &table, None);
    let saved = std::fs::read_to_string(&table).expect("the table");
    let sample = super::sample();
    let again = folder.path().join("again.csv");
    let done = Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .args(["render", &*sample, "--grouping", "type", "-o"])
        .arg(&again)
        .env("MEMORY_CITY_CONFIG", folder.path())
        .output()
        .expect("the program");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(saved, std::fs::read_to_string(&again).expect("the same table"));
    assert!(saved.lines().count() > 40 && saved.contains("register.model.Person"), "{saved}");

    // The city with its legend, with nothing behind it.
    save(&mut session, &picture, Some((WIDTH / 2 - 100, 142)));
    let clear = image::open(&picture).expect("the picture").to_rgba8();
    let (w, h) = clear.dimensions();
    let of = |test: &dyn Fn([u8; 4]) -> bool| clear.pixels().filter(|p| test(p.0)).count() as f64 / f64::from(w * h);
    let (nothing, solid) = (of(&|p| p[3] == 0), of(&|p| p[3] == 255));
    assert!(nothing > 0.2 && solid > 0.1, "{nothing} of it is clear, {solid} solid");
    assert!((w, h) != (WIDTH, HEIGHT) || solid < 0.95, "it is not the window");
    // The page: that of the window's own grouping, time and settings.
    let page = folder.path().join("city.html");
    save(&mut session, &page, None);
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("<!doctype html>") || html.contains("<!DOCTYPE html>"), "{:.200}", html);
    assert!(html.contains("person-leak") && html.len() > 100_000, "{} bytes", html.len());

    // In the lower left it says what its colours mean.
    let legend = image::imageops::crop_imm(&clear, 0, h - 60, 200.min(w), 60).to_image();
    assert!(legend.pixels().filter(|p| p[3] > 200).count() > 3000, "the legend is there");
    let window = session.screenshot("91-saved");
    assert!(share(&window, |p| p.iter().any(|&c| c > 110)) > 0.02, "the window goes on");
}
