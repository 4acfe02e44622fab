//! A district, or what is behind "n more", as a city of its own; and the line that says where one is, with the way back.

use super::laid_out::{City, Shown};
use super::place_of;
use super::present::ConeCount;
use crate::viewer::action::Action;
use crate::viewer::document::Document;
use crate::viewer::keys;
use crate::viewer::notices::Notices;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{Selection, SharedFilter, Target};
use crate::viewer::settings::{PartKey, Settings};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Margin, Rect, RichText};
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_views::city::CityPart;

/// The part that a target is opened as: a district itself, for a building the district around it, and what stands for several
/// pruned groups.
fn part_of(city: &City, target: Target) -> Option<CityPart> {
    let district = |node: NodeId| city.plan.district_of(node).map(|_| CityPart { root: node, beyond: 0 });
    match target {
        Target::More(parent) => city.plan.part_of_more(parent),
        Target::Node(node) => {
            let pruned = city.plan.plot_of(node).map(|plot| city.target_of_plot(plot));
            match pruned {
                Some(Target::More(parent)) => city.plan.part_of_more(parent),
                _ => district(node).or_else(|| district(city.timeline.parent(node)?)),
            }
        }
    }
}

/// Opens a target as a city of its own.
pub(super) fn open(city: &City, target: Target, settings: &mut Settings, notices: &mut Notices) {
    match part_of(city, target).filter(|part| *part != city.plan.part()) {
        Some(CityPart { root, beyond }) => {
            let key = city.timeline.key(root);
            tracing::debug!("part: {key} beyond {beyond}");
            settings.parts.push(PartKey { key, beyond });
        }
        None => notices.tell("This is all of it already: select a district, or point at \"n more\""),
    }
}

pub(super) fn drill_actions(
    mut actions: MessageReader<Action>,
    shown: Res<Shown>,
    (document, selection): (Res<Document>, Res<Selection>),
    mut settings: ResMut<Settings>,
    mut notices: ResMut<Notices>,
    mut followed: Local<u64>,
) {
    let (Some(city), Some(_)) = (&shown.0, document.get()) else {
        actions.clear();
        return;
    };
    for action in actions.read() {
        if *action == Action::DrillIn {
            let pointed = selection.hovered.filter(|target| matches!(target, Target::More(_)));
            match pointed.or(selection.node().map(Target::Node)) {
                Some(target) => open(city, target, &mut settings, &mut notices),
                None => {
                    let key = keys::key(Action::DrillIn);
                    notices.tell(format!(
                        "Select a district first, or point at \"n more\": {key} opens it as its own city"
                    ))
                }
            }
        }
        if *action == Action::DrillOut {
            match settings.parts.pop() {
                Some(_) => tracing::debug!("part: {} left", settings.parts.len()),
                None => notices.tell("This is the whole heap"),
            }
        }
    }
    // Who selects what is not in this part sees it all the same.
    if *followed != selection.revision() {
        *followed = selection.revision();
        if let Some(node) = selection.node()
            && !settings.parts.is_empty()
            && place_of(city, Target::Node(node)).is_none()
            && city.timeline.peak(node, city.made_with.metric) > 0
        {
            settings.parts.clear();
            notices.tell("What is selected lies elsewhere: the whole city is shown");
        }
    }
}

fn name_of(timeline: &Timeline, part: &PartKey) -> String {
    let name = timeline.find(&part.key).map_or_else(|| part.key.clone(), |node| timeline.name(node).to_owned());
    match part.beyond {
        0 => name,
        n => format!("{name} without its {n} largest"),
    }
}

/// What the lines at the top of the city read and write.
pub(super) struct TopLines<'a> {
    /// The city.
    pub city: &'a City,
    /// What is looked for.
    pub search: &'a GroupSearch,
    /// The filter that all views share.
    pub filter: &'a mut SharedFilter,
    /// The point in time.
    pub time: usize,
    /// How many references are drawn.
    pub count: ConeCount,
}

/// Draws the lines into the upper right corner of the city: which part it is, and what is lit. Returns how many of the parts shall
/// be left, where somebody goes back, and where they stand. Where there is no room for them beside `card`, they stand below it.
pub(super) fn show(
    ctx: &egui::Context,
    pane: Rect,
    card: Option<Rect>,
    settings: &Settings,
    lines: TopLines<'_>,
) -> (Option<usize>, Option<Rect>) {
    let TopLines { city, search, filter, time, count } = lines;
    let (parts, timeline) = (&settings.parts, &city.timeline);
    let filtered = !filter.0.trim().is_empty();
    let told = count.drawn > 0 && count.left_out > 0 || count.elsewhere.0 > 0;
    if parts.is_empty() && !filtered && !told {
        return (None, None);
    }
    let mut back = None;
    let id = egui::Id::new("part and filter");
    let width = ctx.memory(|memory| memory.area_rect(id)).map_or(300.0, |rect| rect.width());
    let beside = card.is_none_or(|card| card.right() + width + 2.0 * theme::GAP < pane.right());
    let top = card.filter(|_| !beside).map_or(pane.top() + theme::GAP, |card| card.bottom() + 6.0);
    let area = egui::Area::new(id).order(egui::Order::Middle).constrain_to(pane);
    let area = area.pivot(Align2::RIGHT_TOP).fixed_pos(egui::pos2(pane.right() - theme::GAP, top));
    let drawn = area.show(ctx, |ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        let line = || theme::frame().fill(theme::SOLID).inner_margin(Margin::symmetric(9, 5));
        ui.vertical(|ui| {
            if !parts.is_empty() {
                line().show(ui, |ui| {
                    ui.horizontal(|ui| {
                        let tip = Action::DrillOut.tooltip();
                        if ui.button(RichText::new("Back").size(12.0)).on_hover_text(tip).clicked() {
                            back = Some(parts.len() - 1);
                        }
                        let root = timeline.name(NodeId::ROOT);
                        if ui.link(RichText::new(root).size(12.5)).on_hover_text("The whole city").clicked() {
                            back = Some(0);
                        }
                        for (at, part) in parts.iter().enumerate() {
                            ui.label(RichText::new("›").color(theme::QUIET));
                            let name = theme::shortened(&name_of(timeline, part), 40);
                            if at + 1 == parts.len() {
                                ui.label(RichText::new(name).size(12.5).strong()).on_hover_text(&part.key);
                            } else if ui.link(RichText::new(name).size(12.5)).on_hover_text(&part.key).clicked() {
                                back = Some(at + 1);
                            }
                        }
                    });
                });
            }
            if filtered {
                line().show(ui, |ui| {
                    ui.horizontal(|ui| {
                        ui.label(RichText::new("Filter").size(12.0).color(theme::QUIET));
                        ui.label(RichText::new(theme::shortened(&filter.0, 34)).size(12.5).strong())
                            .on_hover_text(&filter.0);
                        match (&search.wrong, search.found()) {
                            (Some((_, why)), _) => {
                                ui.label(RichText::new(theme::shortened(why, 50)).size(12.0).color(theme::WARNING))
                                    .on_hover_text(why);
                            }
                            (None, Some(found)) => {
                                ui.label(RichText::new(found.counts(timeline, time)).size(12.0).color(theme::FREED));
                            }
                            (None, None) => {
                                spinner(ui, 12.0);
                            }
                        }
                        if theme::cross(ui, "Show everything again", "Shows everything again") {
                            filter.0.clear();
                        }
                    });
                });
            }
            if told {
                line().show(ui, |ui| {
                    ui.horizontal(|ui| {
                        let (all, hidden) = count.references;
                        // All of them may lead out of this part.
                        let any = count.drawn + count.left_out;
                        let drawn = match any {
                            0 => "No reference in this city".to_owned(),
                            _ => format!("{} of {any} references", count.drawn),
                        };
                        ui.label(RichText::new(drawn).size(12.0));
                        let warning = |text: String| RichText::new(text).size(12.0).color(theme::WARNING);
                        if count.left_out > 0 {
                            let more = format!("+{} not shown", count_text(count.left_out as u64));
                            ui.label(warning(more)).on_hover_text(format!(
                                "The strongest are shown; how many is a setting. {} single references in all, {} of them not shown",
                                count_text(all),
                                count_text(hidden)
                            ));
                        }
                        let (groups, references) = count.elsewhere;
                        if groups > 0 {
                            let more = format!("+{} without a building here", count_text(groups as u64));
                            ui.label(warning(more)).on_hover_text(format!(
                                "{} single references from or to groups that have no building in this city: those outside this part of the \
                                 heap, and objects that are beside the groups of a district. The tables list all",
                                count_text(references)
                            ));
                        }
                    });
                });
            }
        });
    });
    (back, Some(drawn.response.rect))
}
