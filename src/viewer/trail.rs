//! The trail: log lines of everything that the user sees (`RUST_LOG=memory_city=debug`), for bug reports, and for the tests that drive a
//! real window.

use super::city::{CitySight, ConeCount, Sharpness, Shown};
use super::clock::Clock;
use super::document::{Document, OpenDocument};
use super::selection::{Pointing, Selection, Target};
use super::settings::Settings;
use bevy::input::ButtonState;
use bevy::input::keyboard::KeyboardInput;
use bevy::input::mouse::MouseButtonInput;
use bevy::prelude::*;

/// Logs each key, each button, and the place of the mouse with the thing under it. Their effects follow, in this frame or later.
pub fn log_input(
    mut keys: MessageReader<KeyboardInput>,
    mut buttons: MessageReader<MouseButtonInput>,
    windows: Query<&Window>,
    document: Res<Document>,
    pointing: Res<Pointing>,
    mut last: Local<Option<Vec2>>,
) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    for key in keys.read().filter(|key| key.state == ButtonState::Pressed) {
        tracing::debug!("key: {:?}", key.key_code);
    }
    for button in buttons.read() {
        tracing::debug!("button: {:?} {:?}", button.button, button.state);
    }
    let pointer = windows.iter().find_map(Window::cursor_position);
    if *last != pointer {
        *last = pointer;
        let over = document.get().zip(pointing.hovered).map(|(open, target)| name(open, target));
        let over = over.as_deref().unwrap_or("nothing");
        match pointer {
            Some(at) => tracing::debug!("pointer: {}, {} over {over}", at.x, at.y),
            None => tracing::debug!("pointer: away"),
        }
    }
}

fn name(open: &OpenDocument, target: Target) -> String {
    match target {
        Target::Node(node) => open.timeline.key(node),
        Target::More(parent) => format!("more in {}", open.timeline.key(parent)),
    }
}

/// The last logged values.
#[derive(PartialEq, Clone, Default)]
pub struct Seen {
    city: Option<String>,
    time: usize,
    settings: Option<Settings>,
    selected: Vec<String>,
    hovered: Option<String>,
    cones: ConeCount,
    in_sight: Option<bool>,
    sharpness: f32,
}

/// Logs each change.
pub fn log_changes(
    (document, shown, settings): (Res<Document>, Res<Shown>, Res<Settings>),
    clock: Res<Clock>,
    (selection, pointing): (Res<Selection>, Res<Pointing>),
    (cones, sight, sharpness): (Res<ConeCount>, CitySight, Res<Sharpness>),
    mut last: Local<Seen>,
) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let (Some(city), Some(open)) = (&shown.0, document.get()) else {
        if document.is_changed() && !document.is_added() {
            tracing::debug!("city: nothing");
            *last = Seen::default();
        }
        return;
    };
    let name = |target: Target| name(open, target);
    let pointed = pointing.pointed.map(Target::Node).or(pointing.hovered);
    let now = Seen {
        city: Some(format!("{} {} {:?}", open.title, city.made_with.grouping, city.made_with.area_mode)),
        time: clock.time,
        settings: Some(settings.clone()),
        selected: selection.nodes().map(|n| name(Target::Node(n))).collect(),
        hovered: pointed.map(name),
        cones: *cones,
        in_sight: Some(sight.any()),
        sharpness: sharpness.now(),
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
    if now.city != last.city {
        tracing::debug!("city: {}", or_none(&now.city));
    }
    if now.time != last.time || last.city.is_none() {
        tracing::debug!("time: {}/{}", now.time + 1, open.timeline.times());
    }
    if now.selected != last.selected {
        let all = if now.selected.is_empty() { "nothing".to_owned() } else { now.selected.join(", ") };
        tracing::debug!("selected: {all}");
    }
    if now.hovered != last.hovered {
        tracing::debug!("hovered: {}", or_none(&now.hovered));
    }
    if let (Some(before), Some(now)) = (&last.settings, &now.settings)
        && before != now
    {
        tracing::debug!("settings: {now:?}");
    }
    if now.cones != last.cones {
        tracing::debug!("cones: {} drawn, {} left out", now.cones.drawn, now.cones.left_out);
    }
    if now.in_sight != last.in_sight {
        tracing::debug!("sight: {}", if sight.any() { "the city" } else { "none of the city" });
    }
    if now.sharpness != last.sharpness && last.city.is_some() {
        tracing::debug!("sharpness: {}", now.sharpness);
    }
    *last = now;
}
