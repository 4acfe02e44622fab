//! The box above the list of ways: memory that a cut would free.

use super::{PathTools, ROW, quiet};
use crate::viewer::action::Action;
use crate::viewer::keys;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use crate::viewer::root_paths::{CutState, CutView};
use crate::viewer::selection::Select;
use bevy_egui::egui::{self, Align2, Color32, FontId, RichText, Sense, Stroke};
use memory_city_analysis::ownership::Freed;
use memory_city_analysis::tabular::{bytes_text, count_text, objects_text};
use memory_city_analysis::timeline::{NodeId, Timeline};

/// The memory that would be freed.
pub(super) fn cut_box(ui: &mut egui::Ui, tools: &mut PathTools<'_>) {
    let Some(cut) = tools.ways.cut() else { return };
    let (mut undone, mut clicked, mut pointed) = (false, None, None);
    let frame = egui::Frame::new().fill(theme::SOLID).stroke(Stroke::new(1.0, theme::FREED)).corner_radius(6);
    frame.inner_margin(8).show(ui, |ui| {
        ui.set_width(ui.available_width() - 10.0);
        ui.horizontal(|ui| {
            ui.label(RichText::new("WITHOUT").size(11.0).strong().color(theme::FREED));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                undone = ui
                    .small_button(keys::beside("Undo", Action::Escape))
                    .on_hover_text("Shows the city as it is")
                    .clicked();
            });
        });
        ui.add(egui::Label::new(RichText::new(theme::brief(&cut.title)).strong()).wrap()).on_hover_text(&cut.title);
        match &cut.state {
            CutState::Looking(_) => {
                ui.horizontal(|ui| {
                    spinner(ui, 12.0);
                    ui.label(quiet("Walking without it"));
                });
            }
            CutState::Failed(why) => {
                ui.add(egui::Label::new(RichText::new(why).color(theme::ERROR)).wrap());
            }
            CutState::Freed(freed) => {
                (clicked, pointed) = freed_list(ui, cut, freed, tools.timeline, tools.time);
            }
        }
    });
    ui.add_space(3.0);
    if let Some(node) = pointed {
        tools.pointing.pointed = Some(node);
    }
    if let Some(node) = clicked {
        tools.selection.select(tools.timeline, node);
    }
    if undone {
        tools.ways.escape();
    }
}

/// The memory that would be freed, by group. Returns the clicked group, and the one under the mouse.
fn freed_list(
    ui: &mut egui::Ui,
    cut: &CutView,
    freed: &Freed,
    timeline: &Timeline,
    time: usize,
) -> (Option<NodeId>, Option<NodeId>) {
    let (mut clicked, mut pointed) = (None, None);
    if freed.total.objects == 0 {
        let text = "Nothing would be freed: something else keeps it all.";
        ui.add(egui::Label::new(RichText::new(text).color(theme::WARNING)).wrap());
        return (None, None);
    }
    let heap = timeline.amount(time, NodeId::ROOT).bytes.max(1);
    let share = 100.0 * freed.total.bytes as f64 / heap as f64;
    let total = format!("{}, {} would be freed", objects_text(freed.total.objects), bytes_text(freed.total.bytes));
    ui.label(RichText::new(total).strong().color(theme::FREED))
        .on_hover_text(format!("{share:.1} % of the heap's bytes at this time, exactly"));
    let height = (freed.groups.len() as f32 * ROW).min(6.0 * ROW);
    egui::ScrollArea::vertical().id_salt("freed").max_height(height).auto_shrink([false, true]).show_rows(
        ui,
        ROW - ui.spacing().item_spacing.y,
        freed.groups.len(),
        |ui, rows| {
            let groups = &freed.groups[rows];
            let nodes: Vec<NodeId> = groups.iter().map(|(node, _)| *node).collect();
            for (&(node, amount), name) in groups.iter().zip(timeline.names_apart(&nodes)) {
                let size = egui::vec2(ui.available_width(), ROW - ui.spacing().item_spacing.y);
                let (rect, response) = ui.allocate_exact_size(size, Sense::click());
                theme::named(&response, &name);
                let painter = ui.painter_at(rect);
                if response.hovered() {
                    painter.rect_filled(rect, 3.0, Color32::from_rgb(34, 44, 64));
                    pointed = Some(node);
                }
                let font = FontId::proportional(12.0);
                let text = format!("{}  {}", count_text(amount.objects), bytes_text(amount.bytes));
                let right = painter.text(rect.right_top(), Align2::RIGHT_TOP, text, font.clone(), theme::QUIET);
                let room = ((right.left() - rect.left() - 8.0) / 6.4).max(6.0) as usize;
                let name = theme::shortened(&theme::brief(&name), room);
                painter.text(rect.left_top(), Align2::LEFT_TOP, name, font, theme::TEXT);
                if response.clicked() {
                    clicked = Some(node);
                }
                let of = cut.shares.get(&node).copied().unwrap_or(0.0);
                response.on_hover_text(format!(
                    "{}\n{:.0} % of its bytes",
                    theme::told_path(timeline, node),
                    100.0 * of
                ));
            }
        },
    );
    if freed.elsewhere.objects > 0 {
        let text = format!("{} in no group of this grouping", objects_text(freed.elsewhere.objects));
        ui.label(quiet(text));
    }
    (clicked, pointed)
}
