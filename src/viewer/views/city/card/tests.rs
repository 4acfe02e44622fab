//! Tests of the leak card in panes of several sizes.

use super::*;
use crate::viewer::document::Document;
use crate::viewer::finding::tests::{press, two_places};
use bevy::prelude::{Mut, World};
use bevy_egui::egui::accesskit::Role;
use egui_kittest::kittest::NodeT as _;
use egui_kittest::{Harness, Node};
use memory_city_analysis::analyses::verdict;
use memory_city_analysis::timeline::Metric;

/// The card in a pane as large as the window.
fn card(size: (f32, f32), world: World) -> Harness<'static, World> {
    let show = |ui: &mut egui::Ui, world: &mut World| {
        let pane = ui.ctx().content_rect();
        world.resource_scope(|world, mut finding: Mut<'_, LeakSearch>| {
            let open = world.resource::<Document>().get().expect("open");
            let verdict = verdict(&open.timeline, Metric::Bytes);
            show(ui.ctx(), pane, open, &mut finding, (&verdict, None));
        });
    };
    let mut card = Harness::builder().with_size(size).build_ui_state(show, world);
    card.run_steps(4);
    card
}

/// Its texts and buttons, with where they are.
fn told(card: &Harness<'_, World>) -> Vec<(String, Rect)> {
    let text = |node: &Node<'_>| node.accesskit_node().label().or_else(|| node.accesskit_node().value());
    let all = card.root().children_recursive();
    // The rows of a text are nodes as well.
    let whole = all.filter(|node| node.accesskit_node().role() != Role::TextRun);
    whole.filter_map(|node| text(&node).map(|text| (text, node.rect()))).collect()
}

fn is_clear(told: &[(String, Rect)], size: (f32, f32)) {
    let pane = Rect::from_min_size(egui::Pos2::ZERO, size.into()).shrink(5.0);
    for (at, (text, rect)) in told.iter().enumerate() {
        assert!(pane.contains_rect(*rect), "{size:?}: {text} at {rect:?}");
        for (other, beside) in &told[at + 1..] {
            let both = rect.shrink(1.0).intersect(beside.shrink(1.0));
            assert!(!both.is_positive(), "{size:?}: {text} at {rect:?} over {other} at {beside:?}");
        }
    }
}

/// The buttons stood over the sentence in small windows, and were cut at the right.
#[test]
fn its_lines_stand_beside_and_below_each_other_whatever_room_there_is() {
    for size in [(353.0, 440.0), (300.0, 300.0), (664.0, 500.0), (1200.0, 800.0)] {
        let has = |told: &[(String, Rect)], wanted: &str| {
            assert!(told.iter().any(|(text, _)| text.starts_with(wanted)), "{size:?}: {wanted} in {told:?}");
        };
        let mut folded = two_places();
        folded.resource_mut::<LeakSearch>().make_small();
        let folded = told(&card(size, folded));
        // It opens, tells which place it is, and goes away.
        ["More", "Next", "1 of 4"].iter().for_each(|wanted| has(&folded, wanted));
        is_clear(&folded, size);
        let mut banner = two_places();
        banner.resource_mut::<LeakSearch>().make_small();
        [Action::Finding, Action::Finding].into_iter().for_each(|action| press(&mut banner, action));
        let banner = told(&card(size, banner));
        ["More", "Next", "1 of 4", "Show its owner"].iter().for_each(|wanted| has(&banner, wanted));
        is_clear(&banner, size);
        let mut whole = two_places();
        whole.resource_mut::<LeakSearch>().make_small();
        whole.resource_mut::<LeakSearch>().unfold();
        let whole = told(&card(size, whole));
        ["Less", "Next", "1 of 4", "Show its owner"].iter().for_each(|wanted| has(&whole, wanted));
        is_clear(&whole, size);
    }
}
