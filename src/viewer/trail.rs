//! A trail of what the user sees, as log lines (`RUST_LOG=memory_city=debug`): for bug reports, and for the tests
//! that drive a real window.

use super::clock::Clock;
use super::present::ConeCount;
use super::selection::Selection;
use super::shown::{Shown, Target};
use bevy::prelude::*;

/// What was logged last.
#[derive(PartialEq, Clone, Default)]
pub struct Seen {
    city: Option<String>,
    time: usize,
    selected: Option<String>,
    hovered: Option<String>,
    cones: ConeCount,
}

/// Logs each change.
pub fn log_changes(
    shown: Res<Shown>,
    clock: Res<Clock>,
    selection: Res<Selection>,
    cones: Res<ConeCount>,
    mut last: Local<Seen>,
) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let Some(city) = &shown.0 else { return };
    let name = |target: Target| match target {
        Target::Node(node) => city.timeline.key(node),
        Target::More(parent) => format!("more in {}", city.timeline.key(parent)),
    };
    let now = Seen {
        city: Some(format!("{} {} {:?}", city.title, city.made_with.grouping, city.made_with.area_mode)),
        time: clock.time,
        selected: selection.node().map(|n| name(Target::Node(n))),
        hovered: selection.hovered.map(name),
        cones: *cones,
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
    if now.city != last.city {
        tracing::debug!("city: {}", or_none(&now.city));
    }
    if now.time != last.time || last.city.is_none() {
        tracing::debug!("time: {}/{}", now.time + 1, city.times());
    }
    if now.selected != last.selected {
        tracing::debug!("selected: {}", or_none(&now.selected));
    }
    if now.hovered != last.hovered {
        tracing::debug!("hovered: {}", or_none(&now.hovered));
    }
    if now.cones != last.cones {
        tracing::debug!("cones: {} drawn, {} left out", now.cones.drawn, now.cones.left_out);
    }
    *last = now;
}
