//! The bar at the top of the inspector: back, forward, the path to the shown page, the dominator tree, an address to go to.

use super::navigation::{InspectorStop, InspectorWay};
use super::{Inspector, parts};
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::panels::theme;
use bevy::prelude::MessageWriter;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::timeline::Timeline;

/// Back, forward, the path to the current stop; the tree, and an address to go to. Returns whether another stop is shown.
pub fn show(
    ui: &mut egui::Ui,
    inspector: &mut Inspector,
    timeline: &Timeline,
    time: usize,
    clock: &Clock,
    actions: &mut MessageWriter<Action>,
) -> bool {
    let mut jump = None;
    let mut go = None;
    ui.horizontal(|ui| {
        let navigation = &inspector.navigation;
        for (text, can, action) in [
            ("⏴", navigation.can_go_back(), Action::InspectorBack),
            ("⏵", navigation.can_go_forward(), Action::InspectorForward),
        ] {
            let button = ui.add_enabled(can, egui::Button::new(text).min_size(egui::vec2(26.0, 22.0)));
            if button.on_hover_text(action.tooltip()).clicked() {
                actions.write(action);
            }
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let ready = inspector.desk.heap.get().is_some();
            let field = egui::TextEdit::singleline(&mut inspector.address).desired_width(92.0).hint_text("0x address");
            let field = ui.add_enabled(ready, field).on_hover_text("Goes to the object of an address, or #number of a trace. Enter goes");
            if field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter)) {
                go = inspector.desk.heap.get().map(|heap| (heap.object_at(&inspector.address), std::sync::Arc::clone(heap)));
            }
            let tree = matches!(navigation.here(), Some(InspectorStop::Tree(_)));
            let button = ui.selectable_label(tree, "Dominator tree");
            if button.on_hover_text("Which object alone keeps which alive, to unfold").clicked() && !tree {
                jump = Some(None);
            }
            if time != clock.time {
                let label = timeline.points().get(time).map_or("another time", |point| &point.label);
                let text = format!("⏱ {}", theme::shortened(label, 24));
                ui.label(RichText::new(text).size(12.0).color(theme::WARNING)).on_hover_text(
                    "The window shows another time. An object is looked at in the state in which it was found: the garbage \
                     collector moves objects, and an address means something in one state only",
                );
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                if let Some(at) = crumbs(ui, navigation, timeline) {
                    jump = Some(Some(at));
                }
            });
        });
    });
    ui.separator();
    match go {
        Some((Some(object), heap)) => {
            inspector.navigation.go(InspectorStop::object(&heap, object));
            inspector.address.clear();
        }
        Some((None, _)) => {
            let text = format!("At this time there is no object at {}", inspector.address.trim());
            ui.label(RichText::new(text).size(12.0).color(theme::WARNING));
        }
        None => {}
    }
    match jump {
        Some(Some(at)) => {
            inspector.navigation.jump(at);
            true
        }
        Some(None) => {
            inspector.navigation.go(InspectorStop::Tree(None));
            false
        }
        None => false,
    }
}

/// The path to the current stop. Returns the number of a clicked stop.
fn crumbs(ui: &mut egui::Ui, navigation: &InspectorWay, timeline: &Timeline) -> Option<usize> {
    let most = ((ui.available_width() / 150.0) as usize).clamp(2, 6);
    let (crumbs, left_out) = navigation.crumbs(most);
    let mut clicked = None;
    let last = crumbs.len().saturating_sub(1);
    ui.spacing_mut().item_spacing.x = 4.0;
    for (i, (at, stop)) in crumbs.iter().enumerate() {
        if i > 0 {
            ui.label(parts::quiet("›"));
        }
        if i == 1 && left_out > 0 {
            ui.label(parts::quiet("…")).on_hover_text(format!("{left_out} objects between"));
            ui.label(parts::quiet("›"));
        }
        let text = theme::shortened(&name(stop, timeline), 28);
        if i == last {
            ui.add(egui::Label::new(RichText::new(text).size(12.5).strong()).truncate());
        } else if ui.link(RichText::new(text).size(12.5)).on_hover_text("Back to this").clicked() {
            clicked = Some(*at);
        }
    }
    clicked
}

/// Name of a stop.
fn name(stop: &InspectorStop, timeline: &Timeline) -> String {
    match stop {
        InspectorStop::Groups(keys) => match keys.as_slice() {
            [key] => match timeline.find(key) {
                Some(node) => theme::brief(timeline.name(node)),
                None => key.rsplit('#').next().unwrap_or(key).to_owned(),
            },
            several => format!("{} groups", several.len()),
        },
        InspectorStop::Object(stop) => format!("{} {}", theme::brief(&stop.name), stop.address),
        InspectorStop::Tree(_) => "Dominator tree".to_owned(),
    }
}
