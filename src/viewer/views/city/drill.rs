//! A district, or the groups behind "n more", as a city of its own; and the line that shows the current part, with the way back.

use crate::viewer::action::Action;
use crate::viewer::city::{City, ConeCount, Shown};
use crate::viewer::document::Document;
use crate::viewer::keys;
use crate::viewer::notices::Notices;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{Pointing, Selection, SharedFilter, Target};
use crate::viewer::settings::{PartKey, Settings};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Margin, Rect, RichText};
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_views::city::CityPart;

/// The part that a target is opened as: a district itself, for a building the district around it, and a plot that stands for several
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
    (document, selection, pointing): (Res<Document>, Res<Selection>, Res<Pointing>),
    mut settings: ResMut<Settings>,
    mut notices: ResMut<Notices>,
    mut unfollowed: Local<bool>,
) {
    *unfollowed |= selection.is_changed();
    let (Some(city), Some(_)) = (&shown.0, document.get()) else {
        actions.clear();
        return;
    };
    for action in actions.read() {
        if *action == Action::DrillIn {
            let pointed = pointing.hovered.filter(|target| matches!(target, Target::More(_)));
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
    if std::mem::take(&mut *unfollowed)
        && let Some(node) = selection.node()
        && !settings.parts.is_empty()
        && city.place_of(Target::Node(node)).is_none()
        && city.timeline.peak(node, city.made_with.metric) > 0
    {
        settings.parts.clear();
        notices.tell("What is selected lies elsewhere: the whole city is shown");
    }
}

/// Room of a filter's line beside its text and the counts, and the least room of the text, points.
const BESIDE_TEXT: f32 = 100.0;
const TEXT_ROOM: f32 = 220.0;

/// Resources that the lines at the top of the city read and write.
pub(super) struct TopLines<'a> {
    /// The city.
    pub city: &'a City,
    /// The search.
    pub search: &'a GroupSearch,
    /// The filter that all views share.
    pub filter: &'a mut SharedFilter,
    /// The point in time.
    pub time: usize,
    /// How many references are drawn.
    pub count: ConeCount,
}

/// A frame for one of the lines.
fn line() -> egui::Frame {
    theme::frame().fill(theme::SOLID).inner_margin(Margin::symmetric(9, 5))
}

/// The search text and the number of matches: below each other where `room` is too small. Counts are whole; the text is cut in the
/// middle.
fn filter_line(
    ui: &mut egui::Ui,
    room: f32,
    filter: &mut SharedFilter,
    search: &GroupSearch,
    timeline: &Timeline,
    time: usize,
) {
    let room = room - 18.0;
    let small = egui::FontId::proportional(12.0);
    let (counts, colour, all) = match (&search.wrong, search.found()) {
        (Some((_, why)), _) => (theme::shortened(why, 50), theme::WARNING, Some(why)),
        (None, Some(found)) => (found.counts(timeline, time), theme::FREED, None),
        (None, None) => (String::new(), theme::QUIET, None),
    };
    let of_counts = ui.painter().layout_no_wrap(counts.clone(), small.clone(), colour).size().x;
    let stacked = of_counts + TEXT_ROOM > room;
    let told = |ui: &mut egui::Ui| {
        let label = egui::Label::new(RichText::new(&counts).font(small.clone()).color(colour));
        let response = ui.add(if stacked { label.wrap() } else { label });
        if let Some(all) = all {
            response.on_hover_text(all);
        }
    };
    line().show(ui, |ui| {
        ui.set_max_width(room);
        ui.vertical(|ui| {
            ui.horizontal(|ui| {
                ui.label(RichText::new("Filter").size(12.0).color(theme::QUIET));
                let font = egui::FontId::proportional(12.5);
                let free = room - BESIDE_TEXT - if stacked { 0.0 } else { of_counts };
                let text = theme::fitting(ui.painter(), &filter.0, &font, free);
                ui.label(RichText::new(text).font(font).strong()).on_hover_text(&filter.0);
                if counts.is_empty() {
                    spinner(ui, 12.0);
                } else if !stacked {
                    told(ui);
                }
                if theme::cross(ui, "Show everything again", "Shows everything again") {
                    filter.0.clear();
                }
            });
            if stacked {
                told(ui);
            }
        });
    });
}

/// Draws the lines into the upper right corner of the city: the current part, and the lit groups. Returns the number of parts to keep, if
/// a person goes back, and the lines' rectangle. Without enough room beside `card` they go below it.
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
                            let name = theme::shortened(&part.name(timeline), 40);
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
                filter_line(ui, pane.width() - 2.0 * theme::GAP, filter, search, timeline, time);
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
