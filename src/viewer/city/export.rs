//! The shown city as a file: a table, or a scene.

use super::laid_out::Shown;
use crate::viewer::clock::Clock;
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{MarkNote, Marks, Selection};
use crate::viewer::view::no_table;
use bevy::prelude::*;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_views::city;
use memory_city_views::export::{ShownCity, glb, write_csv};
use std::collections::HashMap;
use std::sync::Arc;

/// Its boxes as CSV.
pub(in crate::viewer) fn csv(world: &World) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    with_shown(world, |shown| {
        write_csv(shown, &mut out, &Progress::new()).map_err(|e| no_table("The city", &e.to_string()))
    })?;
    Ok(out)
}

/// The present city as boxes with colours and names: a binary glTF.
///
/// # Errors
/// If there is no city yet, and those of [`glb`].
pub(in crate::viewer) fn scene(world: &World) -> Result<Vec<u8>> {
    with_shown(world, |shown| glb(shown, &Progress::new()))
}

/// Groups in colours of their own: marked ones; the selection takes precedence.
fn painted(world: &World, timeline: &Timeline) -> HashMap<NodeId, [f32; 3]> {
    let (marks, selection) = (world.resource::<Marks>(), world.resource::<Selection>());
    let colour = |mark: &MarkNote| city::MARK_COLOURS[mark.colour % city::MARK_COLOURS.len()];
    let marked = marks.nodes().iter().filter_map(|&node| Some((node, colour(marks.get(&timeline.key(node))?))));
    marked.chain(selection.nodes().map(|node| (node, city::SELECTED_COLOUR))).collect()
}

/// Calls `write` with the city at the shown time, with the search results lit.
fn with_shown<T>(world: &World, write: impl FnOnce(&ShownCity<'_>) -> Result<T>) -> Result<T> {
    let Some(city) = &world.resource::<Shown>().0 else {
        return Err(no_table("The city", "is not there yet"));
    };
    let found = world.resource::<GroupSearch>().found().map(Arc::clone);
    write(&ShownCity {
        plan: &city.plan,
        timeline: &city.timeline,
        appearance: &city.appearance,
        time: world.resource::<Clock>().time.min(city.times().saturating_sub(1)),
        lit: found.as_deref().map(|found| &found.lit),
        theme: city.made_with.theme,
        painted: &painted(world, &city.timeline),
    })
}
