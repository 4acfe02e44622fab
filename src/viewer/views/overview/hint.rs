//! Hints of the overview: a window of the run in which memory grows, or in which much is thrown away. The next step is the group that
//! does it.

use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::finding::step_to_owner;
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::run::{OpenRun, SuspectWindow};
use bevy::prelude::World;
use memory_city_views::overview::WindowKind;

pub fn hints(world: &World) -> Vec<Hint> {
    let Some(timeline) = world.resource::<Document>().timeline() else { return Vec::new() };
    let chosen = world.resource::<Clock>().chosen();
    let hint = |suspect: &SuspectWindow| {
        let (id, why) = match suspect.kind {
            WindowKind::Leak => (
                "window-of-growth",
                "Memory that a program needs only for a while goes down again. Memory that only rises is held by something.",
            ),
            WindowKind::Churn => (
                "window-of-churn",
                "Objects that die young cost time to make and to collect. Often one line of a loop makes most of them.",
            ),
            WindowKind::SteepestLeak | WindowKind::Overhead => return None,
        };
        let window = (suspect.from, suspect.to);
        let choose = move |world: &mut World| world.resource_mut::<Clock>().set_range(Some(window));
        let mut steps = vec![HintStep::change("Show what grew in it", choose).opens("trends")];
        match suspect.kind {
            WindowKind::Churn => steps = vec![HintStep::change("Analyse it", choose).opens("analysis")],
            _ => steps.splice(0..0, step_to_owner(world)).for_each(drop),
        }
        if chosen != Some(window) {
            steps.push(HintStep::change("Choose this window", choose));
        }
        let points = timeline.points();
        let (from, to) = (points.get(suspect.from)?, points.get(suspect.to)?);
        Some(Hint { id, seen: format!("From {} to {}: {}", from.label, to.label, suspect.text), why, steps })
    };
    world.resource::<OpenRun>().suspects().iter().filter_map(hint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::finding::tests::two_places;

    #[test]
    fn a_suspicious_window_leads_to_what_grew_in_it() {
        let mut world = two_places();
        let window = |kind, text: &str| SuspectWindow { kind, from: 0, to: 0, text: text.into() };
        world.insert_resource(OpenRun::of(vec![
            window(WindowKind::SteepestLeak, "steep"),
            window(WindowKind::Leak, "memory grows by 4 MB"),
            window(WindowKind::Churn, "9 MB are thrown away"),
        ]));
        world.insert_resource(Clock::of(4));
        let told: Vec<_> = hints(&world).iter().map(|hint| (hint.id, hint.steps.len(), hint.steps[0].opens)).collect();
        assert_eq!(told, [("window-of-growth", 3, Some("city")), ("window-of-churn", 2, Some("analysis"))]);
        let known = crate::viewer::views::all();
        assert!(told.iter().all(|(_, _, view)| view.is_some_and(|view| known.get(view).is_some())), "views there are");
        assert!(hints(&world)[0].seen.ends_with("memory grows by 4 MB"));
        world.insert_resource(OpenRun::default());
        assert!(hints(&world).is_empty());
    }
}
