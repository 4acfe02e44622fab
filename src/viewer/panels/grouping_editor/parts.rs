//! The parts that lists are made of: classifiers, filters and transformers, with their descriptions, searchable. Each is added by a click
//! or dragged to its place.

use super::levels::{DraggedPart, ghost};
use super::widgets::{self, CardLook};
use super::{EditorTools, theme};
use bevy_egui::egui::{self, RichText, Ui};
use memory_city_analysis::group::{self, PartKind};
use memory_city_analysis::timeline::Source;

/// The search text, and the parts there are.
#[derive(Default)]
pub struct PartList {
    search: String,
    /// For a registry and the open document.
    pub(super) known: Option<(u64, Vec<ListedPart>)>,
    /// Middle of each card on screen: for the trail.
    pub(super) places: Vec<(String, egui::Pos2)>,
}

/// A classifier, filter or transformer in the list.
pub(super) struct ListedPart {
    id: String,
    name: String,
    about: String,
    example: String,
    cardinality: &'static str,
    kind: PartKind,
    script: bool,
    options: Vec<String>,
    refused: Option<String>,
    /// Searched text, in lower case.
    all: String,
}

impl PartList {
    fn parts(&mut self, source: &Source) -> &[ListedPart] {
        let now = group::registry_revision();
        let known = self.known.take().filter(|(registry, _)| *registry == now);
        &self.known.insert(known.unwrap_or_else(|| (now, listed(source)))).1
    }
}

fn listed(source: &Source) -> Vec<ListedPart> {
    let registry = group::registry();
    let part = |(meta, options): (&group::ClassifierMeta, &'static [group::OptionInfo])| {
        let (kind, script) = registry.part(&meta.id).unwrap_or((PartKind::Classifier, false));
        let level = registry.new_level(&meta.id).to_string();
        // What has to be told more first is not refused for that.
        let refused = registry.grouping(&level).ok().and_then(|grouping| source.offers(&grouping).err());
        let all = [&*meta.id, &*meta.name, &*meta.description, &*meta.example, kind.title()].join(" ").to_lowercase();
        ListedPart {
            id: meta.id.to_string(),
            name: meta.name.to_string(),
            about: meta.description.to_string(),
            example: meta.example.to_string(),
            cardinality: meta.cardinality.title(),
            kind,
            script,
            options: options.iter().map(|option| format!("{}: {}", option.name, option.description)).collect(),
            refused,
            all,
        }
    };
    registry.classifiers().map(part).collect()
}

/// Draws it. Returns the id of a part that was clicked.
pub fn show(ui: &mut Ui, list: &mut PartList, tools: &EditorTools<'_>) -> Option<String> {
    let mut added = None;
    let mut search = std::mem::take(&mut list.search);
    ui.horizontal(|ui| {
        theme::heading(ui, "ALL THERE IS");
        let field = egui::TextEdit::singleline(&mut search).desired_width(ui.available_width()).hint_text("Search");
        ui.add(field).on_hover_text("Names, descriptions and examples that hold all of these words");
    });
    list.search = search;
    let words: Vec<String> = list.search.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let mut places = Vec::new();
    let parts = list.parts(&tools.open.source);
    let mut found: Vec<&ListedPart> =
        parts.iter().filter(|part| words.iter().all(|word| part.all.contains(word))).collect();
    // What is called so comes before what only speaks of it.
    found.sort_by_key(|part| !words.iter().all(|word| part.id.contains(word.as_str())));
    egui::ScrollArea::vertical().id_salt("parts").auto_shrink([false, false]).show(ui, |ui| {
        if found.is_empty() {
            widgets::lines(
                ui,
                RichText::new("Nothing is called so. A script of your own could be").color(theme::QUIET),
            );
        }
        for part in found {
            let response = card(ui, part, &mut added);
            if ui.clip_rect().contains(response.rect.center()) {
                places.push((part.id.clone(), response.rect.center()));
            }
        }
    });
    list.places = places;
    added
}

fn card(ui: &mut Ui, part: &ListedPart, added: &mut Option<String>) -> egui::Response {
    let look = CardLook { chosen: false, disabled: part.refused.is_some() };
    let quiet = |text: &str| RichText::new(text).size(11.5).color(theme::QUIET);
    let response = widgets::card(ui, egui::Id::new(("part", &part.id)), look, |ui| {
        ui.horizontal(|ui| {
            let colour = if part.refused.is_some() { theme::QUIET } else { theme::TEXT };
            widgets::plain(ui, RichText::new(&part.name).strong().color(colour));
            widgets::plain(ui, quiet(&part.id).monospace());
            if part.kind != PartKind::Classifier {
                let colour = if part.kind == PartKind::Filter { theme::WARNING } else { theme::INCOMING };
                widgets::badge(ui, part.kind.title(), colour);
            }
            if part.script {
                widgets::badge(ui, "yours", theme::OUTGOING);
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if part.refused.is_none() && widgets::plus(ui, 18.0, true).on_hover_text("Adds it as a level").clicked()
                {
                    *added = Some(part.id.clone());
                }
            });
        });
        widgets::lines(ui, quiet(&part.about));
        let example = if part.example.is_empty() { String::new() } else { format!(" · such as {}", part.example) };
        widgets::cut(ui, quiet(&format!("{}{example}", part.cardinality)));
        if let Some(why) = &part.refused {
            widgets::lines(ui, RichText::new(format!("Not for this input: {why}")).size(11.5).color(theme::WARNING));
        }
    });
    if look.disabled {
        return response;
    }
    response.dnd_set_drag_payload(DraggedPart::Part(part.id.clone()));
    if response.dragged() {
        ghost(ui, &part.name);
    }
    if response.double_clicked() {
        *added = Some(part.id.clone());
    }
    let options = part.options.iter().map(|option| format!("\n  {option}")).collect::<String>();
    let options = if options.is_empty() { options } else { format!("\nOptions:{options}") };
    response.on_hover_text(format!("Drag it to where it shall stand, or double click to add it below{options}"))
}
