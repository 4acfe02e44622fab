//! A trail of what the user sees, as log lines (`RUST_LOG=memory_city=debug`): for bug reports, and for the tests
//! that drive a real window.

use super::clock::Clock;
use super::document::Document;
use super::selection::{Selection, Target};
use super::settings::Settings;
use super::views::{ConeCount, Shown};
use bevy::prelude::*;

/// What was logged last.
#[derive(PartialEq, Clone, Default)]
pub struct Seen {
    city: Option<String>,
    document: u64,
    time: usize,
    settings: Option<Settings>,
    selected: Vec<String>,
    hovered: Option<String>,
    cones: ConeCount,
}

/// Logs each change.
pub fn log_changes(
    (document, shown, settings): (Res<Document>, Res<Shown>, Res<Settings>),
    clock: Res<Clock>,
    selection: Res<Selection>,
    cones: Res<ConeCount>,
    mut last: Local<Seen>,
) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let (Some(city), Some(open)) = (&shown.0, document.get()) else {
        if last.document != document.revision() {
            tracing::debug!("city: nothing");
            *last = Seen { document: document.revision(), ..Seen::default() };
        }
        return;
    };
    let name = |target: Target| match target {
        Target::Node(node) => open.timeline.key(node),
        Target::More(parent) => format!("more in {}", open.timeline.key(parent)),
    };
    let pointed = selection.pointed.map(Target::Node).or(selection.hovered);
    let now = Seen {
        city: Some(format!("{} {} {:?}", open.title, city.made_with.grouping, city.made_with.area_mode)),
        document: document.revision(),
        time: clock.time,
        settings: Some(settings.clone()),
        selected: selection.nodes().map(|n| name(Target::Node(n))).collect(),
        hovered: pointed.map(name),
        cones: *cones,
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
    *last = now;
}
