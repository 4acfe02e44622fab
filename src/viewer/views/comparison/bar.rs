//! The bar above curves and table: the result in a sentence, both sides and their alignment, and the way back.

use super::curves;
use crate::viewer::action::Action;
use crate::viewer::comparison::{CompareWish, ShownComparison};
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::group;
use memory_city_analysis::timeline::GcNoun;

/// Alignments of runs: the word of the command line, its name, and its meaning.
const ALIGNMENTS: [(&str, &str, &str); 5] = [
    ("order", "dumps", "Dump by dump, the first of one with the first of the other"),
    ("time", "time", "As long after the start"),
    ("gcs", "collections", "After as many, or points in time where none are recorded"),
    (
        "allocated",
        "allocated objects",
        "After as many objects were allocated: the same work, where allocation itself is not what differs",
    ),
    ("end", "the ends", "Each at its end: for runs that do the same work from beginning to end"),
];

/// Name of an alignment; collections get the name that they have in both runs.
fn title_of(id: &str, noun: GcNoun) -> &str {
    match ALIGNMENTS.iter().find(|(of, ..)| *of == id) {
        Some(("gcs", ..)) => noun.many(),
        Some((_, title, _)) => title,
        None => id,
    }
}

/// The same comparison at another place.
pub fn at(wish: &CompareWish, place: f64) -> CompareWish {
    match wish {
        CompareWish::Run { data, align, .. } => {
            CompareWish::Run { data: data.clone(), align: align.clone(), at: place.round().max(1.0) as u64 }
        }
        times => times.clone(),
    }
}

/// Wishes of the person.
#[derive(Default)]
pub struct BarWish {
    /// Another comparison.
    pub compare: Option<CompareWish>,
    /// The same by another grouping.
    pub regroup: Option<String>,
}

/// Draws it.
pub fn show(ui: &mut egui::Ui, shown: &ShownComparison, works: bool, actions: &mut MessageWriter<Action>) -> BarWish {
    let (mut wish, mut regroup) = (None, None);
    let sentence = RichText::new(&shown.told.sentence).size(15.0).strong().color(theme::outcome(shown.told.outcome));
    ui.add(egui::Label::new(sentence).wrap());
    ui.add_space(2.0);
    ui.horizontal_wrapped(|ui| {
        for (side, name) in shown.names().iter().enumerate() {
            let mark = if side == 0 { "A" } else { "B" };
            ui.label(RichText::new(mark).strong().color(curves::COLOURS[side]));
            ui.label(theme::shortened(name, 32)).on_hover_text(name);
            ui.add_space(6.0);
        }
        regroup = groupings(ui, shown);
        if let CompareWish::Run { data, align, at } = &shown.wish {
            let now = shown.told.aligned.as_ref().map_or(align.as_str(), |aligned| aligned.by);
            let noun = shown.told.aligned.as_ref().map_or(GcNoun::default(), |aligned| aligned.noun);
            ui.label(RichText::new("aligned by").color(theme::QUIET));
            egui::ComboBox::from_id_salt("align").width(130.0).selected_text(title_of(now, noun)).show_ui(ui, |ui| {
                for (id, _, help) in ALIGNMENTS {
                    if ui.selectable_label(id == now, title_of(id, noun)).on_hover_text(help).clicked() && id != now {
                        wish = Some(CompareWish::Run { data: data.clone(), align: id.to_owned(), at: 0 });
                    }
                }
            });
            if *at > 0 {
                let whole = ui.button("as far as both go").on_hover_text("Compares where the shorter run ends");
                if whole.clicked() {
                    wish = Some(CompareWish::Run { data: data.clone(), align: now.to_owned(), at: 0 });
                }
            }
            if ui.button("Another run…").on_hover_text(Action::CompareRuns.tooltip()).clicked() {
                actions.write(Action::CompareRuns);
            }
        }
        if ui.button("End comparison").on_hover_text(Action::EndComparison.tooltip()).clicked() {
            actions.write(Action::EndComparison);
        }
        if ui.button("CSV…").on_hover_text(Action::ExportCsv.tooltip()).clicked() {
            actions.write(Action::ExportCsv);
        }
        if works {
            spinner(ui, 14.0);
        }
    });
    // How things are matched is said at once; what else there is, when it is asked for.
    let at_once = if shown.told.second.is_some() { 2 } else { shown.told.said.len() };
    let quiet = |text: &String| RichText::new(text).size(12.0).color(theme::QUIET);
    for line in shown.told.said.iter().take(at_once) {
        ui.add(egui::Label::new(quiet(line)).wrap());
    }
    if shown.told.said.len() > at_once {
        let more = RichText::new("More").size(12.0).color(theme::QUIET);
        egui::CollapsingHeader::new(more).id_salt("said").show(ui, |ui| {
            for line in shown.told.said.iter().skip(at_once) {
                ui.add(egui::Label::new(quiet(line)).wrap());
            }
        });
    }
    ui.add_space(4.0);
    BarWish { compare: wish, regroup }
}

/// How both sides are grouped; other groupings that both offer. Trees that others counted have one.
fn groupings(ui: &mut egui::Ui, shown: &ShownComparison) -> Option<String> {
    let first = &shown.first.source;
    let second = shown.told.second.as_ref().map_or(first, |(_, second)| second);
    let now = first.heaps()?.grouping();
    second.heaps()?;
    let mut chosen = None;
    ui.label(RichText::new("grouped by").color(theme::QUIET));
    let title = theme::shortened(&now.title, 20);
    let shown = egui::ComboBox::from_id_salt("compared by").width(130.0).selected_text(title).show_ui(ui, |ui| {
        for grouping in group::groupings() {
            let offered = first.offers(&grouping).and_then(|()| second.offers(&grouping));
            let choice = egui::Button::selectable(grouping.id == now.id, grouping.title.as_str());
            let choice = ui.add_enabled(offered.is_ok(), choice).on_hover_text(grouping.description.as_str());
            if choice.on_disabled_hover_text(offered.err().unwrap_or_default()).clicked() && grouping.id != now.id {
                chosen = Some(grouping.id.clone());
            }
        }
    });
    shown.response.on_hover_text(format!("Grouped by {}: both sides alike", now.title));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_aligned_by_what_both_tell() {
        for (id, of_collections, of_pauses) in
            [("gcs", "collections", "pauses"), ("time", "time", "time"), ("other", "other", "other")]
        {
            assert_eq!(title_of(id, GcNoun::Collections), of_collections);
            assert_eq!(title_of(id, GcNoun::Pauses), of_pauses);
        }
    }
}
