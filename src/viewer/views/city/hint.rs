//! Hints of the city: from buildings of classes to the owner of the growth, and from its tower to the paths that keep it.

use crate::viewer::action::Action;
use crate::viewer::document::Document;
use crate::viewer::finding::{FindingState, LeakSearch};
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::panels::theme;
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
    if !search.is_where_it_tells(Some(open), world.resource::<Selection>().node()) {
        return Some(Hint {
            id: "owner-of-growth",
            seen: format!("{} holds {:.0} % of all growth.", theme::brief(&leak.place), 100.0 * leak.share),
            why: "Buildings of classes show what a leak is made of. The owner is what to change: it keeps all of it alive.",
            steps: vec![HintStep::action("Show its owner", Action::ShowOwner)],
        });
    }
    let has_paths = !world.resource::<RootPaths>().subject().is_empty();
    let mut steps = vec![HintStep::action("Look at its elements", Action::Inspect)];
    if !has_paths {
        steps.insert(0, HintStep::action("Show the references that keep it", Action::RootPaths));
    }
    Some(Hint {
        id: "tower-of-the-owner",
        seen: format!(
            "The selected tower is {}: {} at the end, {} more than at first.",
            theme::brief(&leak.place),
            leak.retained.1,
            leak.growth.trim_start_matches('+')
        ),
        why: "What stays reachable is never collected. Remove its elements when they are no longer needed, or bound how many it takes.",
        steps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::finding::tests::{press, two_places};

    /// From the classes to the owner, from there to its paths; with these shown, to its elements.
    #[test]
    fn hints_lead_from_classes_to_the_owner_and_its_paths() {
        let mut world = two_places();
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
}
