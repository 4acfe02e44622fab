//! The hint of trends: the group that gained most in the lowest chart, then its parts, and the way to what keeps it alive.

use super::TrendCharts;
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::finding::step_to_owner;
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::panels::numbers::in_unit;
use crate::viewer::selection::{Select, Selection};
use bevy::prelude::{DetectChanges, World};
use memory_city_analysis::timeline::NodeId;

pub fn hints(world: &World) -> Vec<Hint> {
    gained_most(world).into_iter().collect()
}

fn gained_most(world: &World) -> Option<Hint> {
    let document = world.resource_ref::<Document>();
    let open = document.get()?;
    let timeline = &open.timeline;
    let charts = &world.resource::<TrendCharts>().charts;
    let now = document.last_changed();
    let (below, drawn) = charts.iter().enumerate().rev().find_map(|(at, chart)| Some((at, chart.drawn_of(now)?)))?;
    let (first, last) = drawn.ends(world.resource::<Clock>().range())?;
    let gain = |values: &[u64]| values[last].saturating_sub(values[first]);
    let all: u64 = drawn.series.iter().map(|series| gain(&series.values)).sum();
    let most = drawn.series.iter().filter(|series| series.node.is_some()).max_by_key(|series| gain(&series.values))?;
    let (node, gained) = (most.node?, gain(&most.values));
    if gained == 0 || drawn.overlaps {
        return None;
    }
    let share = 100.0 * gained as f64 / all as f64;
    let of = match below {
        0 => "all that was gained".to_owned(),
        _ => format!("what {} gained", timeline.name(charts[below].parent(timeline))),
    };
    let seen = format!("{} gained {}, {share:.0} % of {of}.", most.name, in_unit(gained, drawn.info.unit));
    let select = move |world: &mut World| select(world, node);
    let mut steps = vec![HintStep::change("Select it", select)];
    if open.source.heaps().is_some() {
        let keeper = HintStep::change("Show what keeps it alive", select);
        steps.insert(0, HintStep { action: Some(Action::RootPaths), ..keeper });
    }
    if !timeline.is_leaf(node) {
        steps.insert(0, HintStep::change("Show its parts below", move |world| open_parts(world, below, node)));
    }
    steps.splice(0..0, step_to_owner(world));
    let why = "What gained most is usually what leaks, or what it is made of. Its holder decides how long it lives.";
    Some(Hint { id: "gained-most", seen, why, steps })
}

fn select(world: &mut World, node: NodeId) {
    if let Some(timeline) = world.resource::<Document>().timeline().cloned() {
        world.resource_mut::<Selection>().select(&timeline, node);
    }
}

/// Opens the chart of its parts below the one that it is in.
fn open_parts(world: &mut World, below: usize, node: NodeId) {
    if let Some(timeline) = world.resource::<Document>().timeline().cloned() {
        world.resource_mut::<TrendCharts>().open(below, &timeline, node);
    }
}
