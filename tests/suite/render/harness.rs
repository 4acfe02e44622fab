//! The panels in the harness of egui (egui_kittest), on three screens: their text for users who cannot see them, by
//! role and name. Each control is found by its name and does its work.
//!
//! The panels are systems of the viewer: for a frame of the harness they draw into its context instead of the window's.

use super::*;
use bevy::prelude::{QueryState, With, World};
use bevy_egui::{EguiContext, EguiPrimaryContextPass, PrimaryEguiContext, egui};
use egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use std::time::Duration;

type Panels = Harness<'static, Studio>;

/// Puts a context in the place of the panels' own, and returns that.
fn replace(world: &mut World, ctx: egui::Context) -> egui::Context {
    let mut contexts: QueryState<&mut EguiContext, With<PrimaryEguiContext>> = world.query_filtered();
    let mut context = contexts.single_mut(world).expect("one camera");
    std::mem::replace(context.get_mut(), ctx)
}

/// The panels of a city on a screen of so many points, `scale` pixels each.
fn panels(studio: Studio, (width, height): (f32, f32), scale: f32) -> Panels {
    let builder = Harness::builder().with_size((width, height)).with_pixels_per_point(scale).with_max_steps(12);
    builder.build_ui_state(
        |ui, studio| {
            let world = studio.app().world_mut();
            let own = replace(world, ui.ctx().clone());
            world.run_schedule(EguiPrimaryContextPass);
            replace(world, own);
        },
        studio,
    )
}

/// The pressed control works, and shows it.
fn carry_out(panels: &mut Panels) {
    panels.run_steps(2);
    panels.state_mut().app().update();
    panels.run_steps(2);
}

/// All that is on screen, a line each: its role, name, value and state.
fn said(panels: &Panels) -> String {
    let mut lines = Vec::new();
    tell(&panels.root(), 0, &mut lines);
    lines.join("\n")
}

fn tell(node: &egui_kittest::Node<'_>, depth: usize, lines: &mut Vec<String>) {
    let of = node.accesskit_node();
    // The lines of a text are in the text.
    let named = of.label().or_else(|| of.value()).filter(|name| !name.is_empty() && of.role() != Role::TextRun);
    let inside = depth + usize::from(named.is_some());
    if let Some(name) = named {
        let value = of.value().filter(|value| *value != name).map_or(String::new(), |value| format!(" = {value}"));
        let on = match of.toggled() {
            Some(Toggled::True) => " (on)",
            Some(_) => " (off)",
            None => "",
        };
        let off = if of.is_disabled() { " (disabled)" } else { "" };
        lines.push(format!("{:indent$}{:?} {name}{value}{on}{off}", "", of.role(), indent = 2 * depth));
    }
    for child in node.children() {
        tell(&child, inside, lines);
    }
}

/// What can be pressed, and has no word for a name.
fn nameless(panels: &Panels) -> Vec<String> {
    let pressed = [Role::Button, Role::CheckBox, Role::RadioButton, Role::Slider, Role::ComboBox, Role::Link];
    let all = panels.root().children_recursive();
    let of = all.map(|node| node.accesskit_node()).filter(|node| pressed.contains(&node.role()));
    let names = of.map(|node| (node.role(), node.label().or_else(|| node.value()).unwrap_or_default()));
    names.filter(|(_, name)| !name.chars().any(char::is_alphanumeric)).map(|named| format!("{named:?}")).collect()
}

/// The control of a name; its label may have the same.
fn control<'p>(panels: &'p Panels, name: &'p str) -> egui_kittest::Node<'p> {
    let mut found = panels.root().query_all_by_label(name);
    let control = found.find(|node| ![Role::Label, Role::TextRun].contains(&node.accesskit_node().role()));
    control.unwrap_or_else(|| panic!("no {name} in\n{}", said(panels)))
}

fn press(panels: &mut Panels, name: &str) {
    control(panels, name).click();
    carry_out(panels);
}

#[test]
fn what_panels_say_and_do() {
    let settings = Settings::default();
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    studio.show(open(&sample(), &settings));
    studio.leave_out(true);
    let mut large = Vec::new();
    for (screen, size, scale) in
        [("720", (1280.0, 720.0), 1.0), ("1080", (1920.0, 1080.0), 1.0), ("2160", (1920.0, 1080.0), 2.0)]
    {
        let pixels = ((size.0 * scale) as u32, (size.1 * scale) as u32);
        let wish = Shot { size: pixels, select: vec!["Person".into()], panels: true, ..shot(&settings) };
        studio.shoot(&wish).expect("a picture");
        let mut shown = panels(studio, size, scale);
        carry_out(&mut shown);
        let (mut states, mut before) = (Vec::new(), String::new());
        for state in ["Selection", "Settings", "Find…", "Help"] {
            press(&mut shown, state);
            let now = said(&shown);
            // What stays is told once.
            let is_new = |line: &&str| !before.lines().any(|other| other == *line);
            states.push(now.lines().filter(is_new).collect::<Vec<_>>().join("\n"));
            before = now;
            assert_eq!(nameless(&shown), Vec::<String>::new(), "{state} at {screen}");
            // What lies over the rest is put away.
            match state {
                "Find…" => shown.state_mut().app().world_mut().write_message(Action::Palette),
                "Help" => shown.state_mut().app().world_mut().write_message(Action::Help),
                _ => continue,
            };
            carry_out(&mut shown);
        }
        let all = states.join("\n\nand then:\n\n");
        match screen {
            "2160" => assert_eq!(large, states, "twice the pixels say the same"),
            _ => insta::assert_snapshot!(format!("panels-{screen}"), all),
        }
        large = states;
        if screen == "720" {
            does(&mut shown);
        }
        // With nothing selected the sentence above the city has its buttons.
        shown.state_mut().app().world_mut().resource_mut::<Selection>().clear();
        carry_out(&mut shown);
        assert_eq!(nameless(&shown), Vec::<String>::new(), "nothing selected at {screen}");
        studio = Harness::into_state(shown);
        studio.app().world_mut().insert_resource(settings.clone());
    }
}

/// A folder has other things in it as well: what is shown is complete, and no warning says otherwise.
#[test]
fn a_file_that_is_no_dump_is_counted_and_no_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut dumps: Vec<PathBuf> =
        std::fs::read_dir(&sample()[0]).expect("dumps").map(|entry| entry.expect("a file").path()).collect();
    dumps.retain(|path| path.to_string_lossy().ends_with(".hprof.gz"));
    dumps.sort();
    for dump in &dumps[..2] {
        std::fs::copy(dump, folder.path().join(dump.file_name().expect("a name"))).expect("copied");
    }
    std::fs::write(folder.path().join("notes.doc"), "Dear diary, today my heap grew again").expect("written");
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    let settings = Settings::default();
    studio.show(open(&[folder.path().to_owned()], &settings));
    studio.leave_out(true);
    studio.shoot(&Shot { size: (1280, 720), panels: true, ..shot(&settings) }).expect("a picture");
    let mut shown = panels(studio, (1280.0, 720.0), 1.0);
    carry_out(&mut shown);
    let said = said(&shown);
    assert!(said.contains("1 other file") && !said.contains("warning"), "{said}");
}

/// Controls, found by their names, do what they say.
fn does(panels: &mut Panels) {
    let time = |panels: &mut Panels| panels.state_mut().app().world().resource::<Clock>().time;
    for (name, then) in [("First time", 0), ("Next time", 1), ("Last time", 15), ("Previous time", 14)] {
        press(panels, name);
        assert_eq!(time(panels), then, "{name}");
    }
    press(panels, "linear");
    press(panels, "objects");
    // Further down in its pane than there is room for: by name alone, as a screen reader does.
    control(panels, "reduced").click_accesskit();
    carry_out(panels);
    let now = panels.state_mut().app().world().resource::<Settings>().clone();
    assert_eq!((now.area_mode, now.metric, now.reduced_motion), (AreaMode::Linear, Metric::Objects, true));
    // The ground that they divide is made behind frames.
    let studio = panels.state_mut();
    let waits = |studio: &mut Studio| {
        studio.app().update();
        studio.waits()
    };
    assert!((0..500).any(|i| !waits(studio) && i > 3 || {
        std::thread::sleep(Duration::from_millis(10));
        false
    }));
    // Views and steps are there in the next frame, and stay.
    for action in [Action::BirdsEye, Action::Previous, Action::Reset] {
        let app = panels.state_mut().app();
        app.world_mut().resource_mut::<Settings>().animation = 2.0;
        app.world_mut().write_message(action);
        let seen = [2, 5].map(|frames| {
            (0..frames).for_each(|_| app.update());
            let (rig, clock) = (app.world().resource::<CameraRig>(), app.world().resource::<Clock>());
            (rig.pose, clock.time, clock.moving())
        });
        assert_eq!(seen[0], seen[1], "{action:?}");
    }
    // A row of the ranking, painted by hand.
    press(panels, "byte[]");
    // Once more: it stays selected.
    press(panels, "byte[]");
    press(panels, "Selection");
    assert!(said(panels).contains("Label byte[]"), "{}", said(panels));
    press(panels, "Nothing selected");
    assert!(panels.state_mut().app().world().resource::<Selection>().node().is_none());
}

/// Of a recording the selection lists where the class is allocated: of samples each place is a share with its error, of exact
/// recordings without one.
#[test]
fn where_a_class_is_allocated_is_a_share_with_its_error() {
    for (recording, class, heading, error) in [
        ("leak-after-spike", "Phases$Session", "ALLOCATED AT  (samples, ± 3 sigma)", true),
        ("requests", "byte[]", "ALLOCATED AT", false),
    ] {
        let recorded = [Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recordings").join(recording)];
        let settings = Settings { grouping: "type".into(), ..Settings::default() };
        let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
        studio.show(open(&recorded, &settings));
        studio.leave_out(true);
        // What is found for a person is not for pictures.
        studio.app().world_mut().spawn(bevy::window::PrimaryWindow);
        let wish = Shot { size: (1280, 720), select: vec![class.into()], panels: true, ..shot(&settings) };
        studio.shoot(&wish).expect("a picture");
        let mut shown = panels(studio, (1280.0, 720.0), 1.0);
        // Found in the background.
        for _ in 0..200 {
            carry_out(&mut shown);
            if said(&shown).contains("ALLOCATED AT") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let said = said(&shown);
        let list = said.split(&format!("Label {heading}\n")).nth(1).unwrap_or_else(|| panic!("no list: {said}"));
        let lines: Vec<&str> = list.lines().collect();
        assert!(lines[0].starts_with("Label ") && lines[0].ends_with(" %"), "{list}");
        assert_eq!(lines[0].contains(" % ± "), error, "{list}");
        assert!(lines[1].contains(" line "), "{list}");
        assert!(lines.iter().any(|line| line.ends_with(" samples")), "{list}");
    }
}

/// Presses keys into the field that has the keyboard.
fn write(panels: &mut Panels, text: &str) {
    panels.event(egui::Event::Text(text.to_owned()));
    carry_out(panels);
}

/// The strongest references are shown, and beside the city stands how many there are and how many are not.
#[test]
fn references_that_are_not_shown_are_counted_on_screen() {
    let settings = Settings { reference_count: 2, ..Settings::default() };
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    studio.show(open(&sample(), &settings));
    studio.leave_out(true);
    let wish =
        Shot { size: (1280, 720), select: vec!["Heap#java#lang#String".into()], panels: true, ..shot(&settings) };
    for (most, is_told) in [(2, true), (3, true), (400, false)] {
        let settings = Settings { reference_count: most, ..settings.clone() };
        let wish = Shot { settings, ..wish.clone() };
        studio.shoot(&wish).expect("a picture");
        let count = *studio.app().world().resource::<city::ConeCount>();
        let all = count.drawn + count.left_out;
        assert!(count.drawn > 0 && (count.left_out > 0) == is_told, "{count:?}");
        let mut shown = panels(studio, (1280.0, 720.0), 1.0);
        carry_out(&mut shown);
        let now = said(&shown);
        let total = format!("Label {} of {all} references", count.drawn);
        let hidden = format!("Label +{} not shown", count.left_out);
        assert_eq!([now.contains(&total), now.contains(&hidden)], [is_told; 2], "{total}, {hidden}: {now}");
        studio = Harness::into_state(shown);
    }
}

/// The palette lists as many results as it announces.
#[test]
fn the_palette_counts_what_it_lists() {
    let settings = Settings { grouping: "package>type".into(), ..Settings::default() };
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    studio.show(open(&sample(), &settings));
    studio.leave_out(true);
    studio.shoot(&Shot { size: (1280, 720), panels: true, ..shot(&settings) }).expect("a picture");
    for (text, at_least) in [("linkedlist", 2), ("map", 5), ("bytes > 100kB", 5), ("nothing like it", 0), ("e", 61)] {
        let mut shown = panels(studio, (1280.0, 720.0), 1.0);
        press(&mut shown, "Find…");
        write(&mut shown, text);
        // Found in the background.
        let found = (0..400).find_map(|_| {
            carry_out(&mut shown);
            let now = said(&shown);
            let line = now.lines().find(|line| line.contains(" found  ·  ")).map(str::to_owned);
            if line.is_none() {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            line.map(|line| (line, now))
        });
        let (line, now) = found.unwrap_or_else(|| panic!("{text}: {}", said(&shown)));
        // Buildings and districts, each by itself.
        let (found, _) = line.split_once(" found").expect("how many");
        let count: usize = found.split(' ').filter_map(|word| word.replace(',', "").parse::<usize>().ok()).sum();
        let rows = now.split("Label GROUPS\n").nth(1).unwrap_or("");
        let rows: Vec<&str> = rows.lines().skip(1).take_while(|line| line.starts_with("Button ")).collect();
        assert!(count >= at_least, "{text}: {line}");
        match count {
            0 => assert!(!now.contains("Label GROUPS\n"), "{text}: {now}"),
            n if n > 60 => {
                assert_eq!(rows.len(), 60, "{text}: {line}");
                assert!(now.contains(&format!("Label the 60 largest of {n}; all are lit")), "{text}: {now}");
            }
            n => {
                assert_eq!(rows.len(), n, "{text}: {line}\n{}", rows.join("\n"));
                assert!(now.contains(&format!("Label GROUPS\nLabel {n}\n")), "{text}: {now}");
            }
        }
        shown.state_mut().app().world_mut().write_message(Action::Palette);
        carry_out(&mut shown);
        studio = Harness::into_state(shown);
    }
}
