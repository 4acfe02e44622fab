//! Hints of the city: from buildings of classes to the owner of the growth, and from its tower to the paths that keep it.

use crate::viewer::action::Action;
use crate::viewer::document::Document;
use crate::viewer::finding::{FindingState, LeakSearch};
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::root_paths::RootPaths;
use crate::viewer::selection::Selection;
use bevy::prelude::World;

pub fn hints(world: &World) -> Vec<Hint> {
    owner(world).into_iter().collect()
}

fn owner(world: &World) -> Option<Hint> {
    let document = world.resource::<Document>();
    let open = document.get()?;
    let search = world.resource::<LeakSearch>();
    let leak = match search.known() {
        FindingState::Leaks(leak) => leak,
        _ => return None,
    };
    // One state cannot say what grows: its hint is about what fills the heap.
    let single = open.timeline.times() < 2;
    let place = leak.name();
    let part = 100.0 * leak.share;
    if !search.is_where_it_tells(Some(open), world.resource::<Selection>().node()) {
        return Some(Hint {
            id: "owner-of-growth",
            seen: match single {
                true => format!("{place} keeps {part:.0} % of the heap alive."),
                false => format!("{place} holds {part:.0} % of all growth."),
            },
            why: match single {
                true => {
                    "Buildings of classes show what memory is made of. The owner keeps it alive. A later dump shows whether it grows."
                }
                false => {
                    "Buildings of classes show what a leak is made of. The owner is what to change: it keeps all of it alive."
                }
            },
            steps: vec![HintStep::action("Show its owner", Action::ShowOwner)],
        });
    }
    let has_paths = !world.resource::<RootPaths>().subject().is_empty();
    let mut steps = vec![HintStep::action("Look at its objects", Action::Inspect)];
    if !has_paths {
        steps.insert(0, HintStep::action("Show the references that keep it", Action::RootPaths));
    }
    Some(Hint {
        id: "tower-of-the-owner",
        seen: match single {
            true => format!("The selected tower is {place}: it keeps {} alive.", leak.retained.1),
            false => format!(
                "The selected tower is {place}: {} at the end, {} more than at first.",
                leak.retained.1,
                leak.growth.trim_start_matches('+')
            ),
        },
        why: match single {
            true => "If that is more than the program needs: bound how many elements it takes, or make them smaller.",
            false => {
                "What stays reachable is never collected. Remove its elements when they are no longer needed, or bound how many it takes."
            }
        },
        steps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::finding::tests::{press, two_places, two_places_at};

    /// From the classes to the owner, from there to its paths; with these shown, to its objects.
    #[test]
    fn hints_lead_from_classes_to_the_owner_and_its_paths() {
        let mut world = two_places_at(2);
        world.init_resource::<RootPaths>();
        let told = |world: &World| {
            let hints = hints(world);
            let [hint] = &hints[..] else { panic!("{} hints", hints.len()) };
            (hint.id, hint.seen.clone(), hint.steps.iter().filter_map(|step| step.action).collect::<Vec<Action>>())
        };
        let (id, seen, steps) = told(&world);
        assert_eq!(
            (id, &*seen, &steps[..]),
            ("owner-of-growth", "A holds 87 % of all growth.", &[Action::ShowOwner][..])
        );
        press(&mut world, Action::ShowOwner);
        let (id, _, steps) = told(&world);
        assert_eq!((id, &steps[..]), ("tower-of-the-owner", &[Action::RootPaths, Action::Inspect][..]));
        let timeline = world.resource::<Document>().timeline().cloned().expect("open");
        let node = world.resource::<Selection>().node().expect("the owner");
        world.resource_mut::<RootPaths>().show(&timeline, vec![node]);
        assert_eq!(told(&world).2, [Action::Inspect]);
        // Another group is selected: the city does not show the owner any more.
        world.resource_mut::<Selection>().clear();
        assert_eq!(told(&world).0, "owner-of-growth");
    }

    /// Nothing can grow in one state.
    #[test]
    fn of_a_single_state_no_growth_is_told() {
        let mut world = two_places();
        world.init_resource::<RootPaths>();
        let seen = |world: &World| hints(world).pop().map(|hint| hint.seen).unwrap_or_default();
        assert_eq!(seen(&world), "A keeps 87 % of the heap alive.");
        press(&mut world, Action::ShowOwner);
        let seen = seen(&world);
        assert!(seen.starts_with("The selected tower is A: it keeps ") && !seen.contains("more"), "{seen}");
    }
}
