//! The hint of the list of paths: the step through which most is reached, and what cutting it would free.

use super::row;
use crate::viewer::document::Document;
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
    // The first row of each depth leads through most: down that chain to the last step, or root, through which most is kept.
    let mut best = None;
    let mut depth = 0;
    for &(row_depth, row) in found.rows.iter().skip(1) {
        // What follows is not below the chain any more.
        if row_depth <= depth {
            break;
        }
        let (weight, choice, name) = match row {
            PathRow::Step(at) => {
                let choice = (steps[at].field != "<class>").then_some(CutChoice::Step(at));
                (found.ways.weight(steps[at].reached, steps[at].keeps), choice, row::brief_step(&steps[at]))
            }
            PathRow::Root(at, root) => {
                let root = &steps[at].roots[root];
                (
                    found.ways.weight(root.reached, root.keeps),
                    Some(CutChoice::Root(root.text.clone())),
                    root.text.clone(),
                )
            }
            PathRow::LeftOut(_) | PathRow::End(_) => continue,
        };
        if weight < MOST {
            break;
        }
        depth = row_depth;
        if let Some(choice) = choice {
            best = Some((weight, choice, name));
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
