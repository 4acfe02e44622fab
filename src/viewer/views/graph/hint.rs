//! Hints of the graph: from the selection up to the GC roots, and then the strongest path told hop by hop.

use super::drawn_graph::{DrawnGraph, GraphWish};
use crate::viewer::action::Action;
use crate::viewer::document::Document;
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::panels::theme;
use crate::viewer::selection::{Select, Selection};
use bevy::prelude::World;
use memory_city_analysis::object_graph::{GraphStep, GroupGraph};
use memory_city_analysis::tabular::count_text;

/// Most hops that are told.
const HOPS: usize = 6;

pub fn hints(world: &World) -> Vec<Hint> {
    kept_alive_by(world).into_iter().collect()
}

fn kept_alive_by(world: &World) -> Option<Hint> {
    let drawn = world.resource::<DrawnGraph>();
    let graph = drawn.graph().filter(|_| drawn.has_objects() && !drawn.works())?;
    let chosen = drawn.chosen_or_first()?;
    let of = graph.boxes.get(chosen)?;
    if drawn.steps == 0 {
        let climb = move |world: &mut World| {
            world.resource_mut::<DrawnGraph>().wish = Some(GraphWish::Step(GraphStep::MainPaths, chosen));
        };
        return Some(Hint {
            id: "graph-of-the-selection",
            seen: format!(
                "{} {}: the graph shows what refers to them directly.",
                count_text(of.amount.objects),
                theme::brief(&of.name)
            ),
            why: "What refers to an object is often held by something else. The paths from the GC roots end at what keeps all of it alive.",
            steps: vec![HintStep::change("Show the main paths from GC roots", climb).opens(super::ID)],
        });
    }
    let seen = hop_by_hop(graph, chosen)?;
    let node = of.groups.first().copied();
    let select = move |world: &mut World| {
        if let (Some(timeline), Some(node)) = (world.resource::<Document>().timeline().cloned(), node) {
            world.resource_mut::<Selection>().select(&timeline, node);
        }
    };
    let paths =
        HintStep { action: Some(Action::RootPaths), ..HintStep::change("List these paths, object by object", select) };
    Some(Hint {
        id: "path-hop-by-hop",
        seen,
        why: "The field nearest to the root that belongs to your own code is usually the one to change.",
        steps: vec![paths],
    })
}

/// The way up from a box over the arrows that hold most of it. `None` where nothing refers to it.
fn hop_by_hop(graph: &GroupGraph, from: usize) -> Option<String> {
    let mut text = String::new();
    let (mut at, mut passed) = (from, vec![from]);
    for hop in 0..HOPS {
        let mut arrows: Vec<_> =
            graph.arrows.iter().filter(|arrow| arrow.to == at && !passed.contains(&arrow.from)).collect();
        arrows.sort_by_key(|arrow| std::cmp::Reverse(arrow.referenced));
        let Some(first) = arrows.first() else { break };
        let (below, above) = (&graph.boxes[at], &graph.boxes[first.from]);
        let holder = format!("{} {}", count_text(first.referencing), theme::brief(&above.name));
        match hop {
            0 => {
                text =
                    format!("{} {} are kept alive by {holder}", count_text(first.referenced), theme::brief(&below.name))
            }
            _ => text += &format!(", these by {holder}"),
        }
        // A second holder of as many: without the first they would stay.
        if let Some(second) = arrows.get(1).filter(|second| 2 * second.referenced >= first.referenced) {
            text += &format!(
                " (and {} of them by {})",
                count_text(second.referenced),
                theme::brief(&graph.boxes[second.from].name)
            );
        }
        at = first.from;
        passed.push(at);
        if let Some(root) = graph.roots.iter().filter(|root| root.held == at).max_by_key(|root| root.roots) {
            text += &format!(", held by a GC root ({})", root.kind);
            break;
        }
    }
    (!text.is_empty()).then(|| text + ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::object_graph::{GraphArrow, GraphBox, GraphRoot};
    use memory_city_heap::Amount;

    fn of(name: &str, objects: u64) -> GraphBox {
        let amount = Amount { objects, bytes: 16 * objects };
        GraphBox {
            groups: Vec::new(),
            name: name.into(),
            other: 0,
            is_selected: false,
            column: 0,
            amount,
            internal: 0,
            beyond: 0,
            before: 0,
        }
    }

    fn arrow(from: usize, to: usize, referencing: u64, referenced: u64) -> GraphArrow {
        GraphArrow { from, to, referencing, referenced, references: referenced }
    }

    #[test]
    fn the_strongest_path_is_told_hop_by_hop_with_a_second_holder() {
        let boxes = vec![of("Person", 400), of("Node", 400), of("Registry", 1), of("Index", 3)];
        let root = GraphRoot { kind: "System class".into(), held: 2, roots: 1, objects: Some(1), places: Vec::new() };
        let mut graph = GroupGraph {
            boxes,
            // The last leads back down: it is no hop.
            arrows: vec![arrow(3, 0, 3, 250), arrow(1, 0, 400, 400), arrow(2, 1, 1, 400), arrow(0, 1, 9, 9)],
            roots: vec![root],
        };
        assert_eq!(
            hop_by_hop(&graph, 0).as_deref(),
            Some(
                "400 Person are kept alive by 400 Node (and 250 of them by Index), these by 1 Registry, held by a GC root (System class)."
            )
        );
        // A holder of few is no second path.
        graph.arrows[0].referenced = 20;
        assert_eq!(
            hop_by_hop(&graph, 0).as_deref(),
            Some("400 Person are kept alive by 400 Node, these by 1 Registry, held by a GC root (System class).")
        );
        assert_eq!(hop_by_hop(&graph, 2), None, "nothing refers to it");
    }
}
