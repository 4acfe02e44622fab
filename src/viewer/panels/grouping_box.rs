//! The choice of a grouping in the bar: a box of names, and a field for any list of classifiers, with completion.

use super::theme;
use crate::viewer::action::Action;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::group;
use memory_city_analysis::timeline::{GROUPED_BY_THE_WRITER, Source};

/// How many names are proposed at once.
const PROPOSED: usize = 6;
const WIDTH: f32 = 170.0;

/// The controls. `grouping` becomes the chosen or entered one. Returns whether the editor is asked for.
pub fn show(ui: &mut egui::Ui, grouping: &mut String, source: &Source) -> bool {
    let mut editor = false;
    // What is chosen, or what the input chose for itself.
    let current = match group::grouping(grouping) {
        Ok(chosen) if source.can_regroup() => chosen.id.clone(),
        _ => source.grouping_id(),
    };
    ui.add_enabled_ui(source.can_regroup(), |ui| {
        ui.vertical(|ui| {
            ui.set_max_width(WIDTH + 20.0);
            let chosen = names(ui, &current, source);
            if chosen.is_some() {
                // What was being written is given up.
                ui.data_mut(|data| data.remove_temp::<String>(draft_id()));
            }
            let entered = list(ui, &current, source);
            if let Some(chosen) = chosen.or(entered) {
                *grouping = chosen;
            }
            editor = ui.small_button("Edit…").on_hover_text(Action::Groupings.tooltip()).clicked();
        });
    });
    editor
}

fn names(ui: &mut egui::Ui, current: &str, source: &Source) -> Option<String> {
    let title = group::grouping(current).map_or_else(|_| source.grouping_title(), |g| g.title.clone());
    let mut chosen = None;
    let choices = egui::ComboBox::from_id_salt("grouping").width(WIDTH).selected_text(title);
    let choices = choices.show_ui(ui, |ui| {
        for grouping in group::groupings() {
            let offered = source.offers(&grouping);
            let choice = egui::Button::selectable(current == grouping.id, grouping.title.as_str());
            let choice = ui.add_enabled(offered.is_ok(), choice).on_hover_text(grouping.description.as_str());
            if choice.on_disabled_hover_text(offered.err().unwrap_or_default()).clicked() {
                chosen = Some(grouping.id.clone());
            }
        }
    });
    choices.response.on_disabled_hover_text(GROUPED_BY_THE_WRITER);
    chosen
}

/// Id of the text that is being typed, in egui's memory.
fn draft_id() -> egui::Id {
    egui::Id::new("grouping as a list")
}

/// The field. A typed text is kept until it is entered or given up.
fn list(ui: &mut egui::Ui, current: &str, source: &Source) -> Option<String> {
    let id = draft_id();
    let draft: Option<String> = ui.data(|data| data.get_temp(id));
    let mut text = draft.clone().unwrap_or_else(|| current.to_owned());
    let field = ui
        .add(
            egui::TextEdit::singleline(&mut text).id(id.with("field")).desired_width(WIDTH).hint_text("package > type"),
        )
        .on_hover_text(
            "Any list of classifiers: a > b divides the groups of a by b. Enter groups the heap so, Escape gives up",
        );
    let (enter, escape) = ui.input(|i| (i.key_pressed(egui::Key::Enter), i.key_pressed(egui::Key::Escape)));
    if escape && (field.has_focus() || field.lost_focus()) {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        return None;
    }
    if draft.is_none() && !field.changed() {
        return None;
    }
    let entered = group::grouping(&text);
    let wrong = match &entered {
        Ok(grouping) => source.offers(grouping).err(),
        Err(error) => Some(format!("{}: {}", error.character(), error.message)),
    };
    if enter && field.lost_focus() && wrong.is_none() {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        return entered.ok().map(|grouping| grouping.id.clone());
    }
    if let Some(wrong) = wrong {
        ui.label(RichText::new(wrong).color(theme::WARNING).size(11.0));
    }
    let proposed = group::registry().complete(&text);
    let proposed: Vec<_> = proposed.into_iter().take(PROPOSED).filter(|c| c.text != text).collect();
    for completion in proposed {
        let proposal = egui::Button::new(RichText::new(completion.name).color(theme::QUIET).size(12.0)).frame(false);
        if ui.add(proposal).on_hover_text(completion.description).clicked() {
            text = completion.text;
            field.request_focus();
        }
    }
    ui.data_mut(|data| data.insert_temp(id, text));
    None
}
