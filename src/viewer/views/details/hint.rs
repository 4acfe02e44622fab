//! The hint of the selection: the line that allocated most of it, by samples of a recording or by its place in the tree.

use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::editor::CodePlace;
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::selection::Selection;
use crate::viewer::sites::SitesOf;
use bevy::prelude::World;

/// Part of the bytes from which on a line is worth a hint, 0 to 1.
const MUCH: f64 = 0.25;

pub fn hints(world: &World) -> Vec<Hint> {
    allocating_line(world).into_iter().collect()
}

fn allocating_line(world: &World) -> Option<Hint> {
    let node = world.resource::<Selection>().node()?;
    let timeline = world.resource::<Document>().timeline()?;
    let sampled = world.resource::<SitesOf>().of(world.resource::<Clock>().time, node);
    let first = sampled.and_then(|shares| shares.places.first());
    let seen = match first.filter(|first| first.share - first.error >= MUCH) {
        Some(first) => format!("{:.0} % of it was allocated at {}.", 100.0 * first.share, first.place),
        None => {
            format!("It was allocated at {}.", CodePlace::first_in(timeline.name(node)).map(|_| timeline.name(node))?)
        }
    };
    Some(Hint {
        id: "allocating-line",
        seen,
        why: "This line makes the objects. Whether it should make fewer, or something else should let go of them, shows in the code around it.",
        steps: vec![HintStep::action("Open the line", Action::OpenCode)],
    })
}
