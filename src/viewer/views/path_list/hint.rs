//! The hint of the list of paths: the reference that keeps most of the group alone, and what cutting it would free.

use super::row;
use crate::viewer::document::Document;
use crate::viewer::finding::{FindingState, LeakSearch};
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::panels::theme;
use crate::viewer::root_paths::{CutChoice, PathRow, RootPaths};
use bevy::prelude::World;
use std::sync::Arc;

/// A step is worth a hint from this share of the group's memory on.
const MOST: f32 = 0.5;

pub fn hints(world: &World) -> Vec<Hint> {
    path_to_cut(world).into_iter().collect()
}

fn path_to_cut(world: &World) -> Option<Hint> {
    let paths = world.resource::<RootPaths>();
    let found = paths.found().filter(|_| paths.cut().is_none() && paths.snapshot().is_none())?;
    let steps = &found.ways.steps;
    let all = steps.first()?.retained.bytes.max(1);
    let leak = match world.resource::<LeakSearch>().known() {
        FindingState::Leaks(leak) => leak.title.as_str(),
        _ => "",
    };
    // On the path of the first rows, from the group up: the field that the first line names, else the highest that keeps most of it alone.
    let (mut best, mut depth) = (None, 0);
    for &(row_depth, row) in found.rows.iter().skip(1) {
        if row_depth <= depth {
            break;
        }
        depth = row_depth;
        let (PathRow::Step(at) | PathRow::Root(at, _)) = row else { continue };
        let (step, kept) = (&steps[at], steps[at].retained.bytes as f32 / all as f32);
        let (name, choice, is_alone) = match row {
            PathRow::Root(_, root) => {
                let text = &step.roots[root].text;
                let is_sole = step.roots.len() == 1 && !steps.iter().skip(1).any(|above| above.below == at);
                (text.clone(), CutChoice::Root(text.clone()), is_sole)
            }
            _ => {
                let says_nothing = step.field.is_empty() || step.field.starts_with(['<', '[']);
                (row::brief_step(step), CutChoice::Step(at), !says_nothing)
            }
        };
        let own = theme::brief(name.rsplit(": ").next().unwrap_or(&name).trim_start_matches("class "));
        let is_named = leak.split_once(" (").map_or(leak, |(name, _)| name) == own;
        if kept < MOST || !is_alone && !is_named {
            continue;
        }
        best = Some((kept.min(1.0), choice, name));
        if is_named {
            break;
        }
    }
    let (weight, choice, name) = best?;
    let cut = move |world: &mut World| {
        let source = world.resource::<Document>().get().map(|open| Arc::clone(&open.source));
        if let Some(source) = source {
            world.resource_mut::<RootPaths>().toggle_cut(&source, choice);
        }
    };
    Some(Hint {
        id: "path-to-cut",
        seen: format!("{:.0} % of it is kept through {}.", 100.0 * weight, theme::brief(&name)),
        why: "Without this reference it could be collected. If it would not be, something else holds it too.",
        steps: vec![HintStep::change("Show what would be freed without it", cut)],
    })
}
