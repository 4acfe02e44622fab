//! The view of growth: groups that grow most, and those that shrink, as a list linked both ways with the other views. A row selects its
//! group; a selected group marks its row.

use crate::viewer::action::Action;
use crate::viewer::city::{City, Shown};
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::live::Listening;
use crate::viewer::panels::numbers::{metric_name, number, signed};
use crate::viewer::panels::{live_panel, theme, tooltip};
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{Pointing, Select, Selection, Target};
use crate::viewer::settings::Settings;
use crate::viewer::view::{About, Place, View, draw_with};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, CornerRadius, Rect, RichText, Sense, Stroke, StrokeKind};
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_views::city;
use std::sync::Arc;

/// Rows that are shown.
const ROWS: usize = 16;
/// Number of shrinking groups, below the growing ones.
const SHRINKING: usize = 3;
/// Groups that are ranked: a filter leaves some of them.
const MOST_RANKED: usize = 200;

/// The list as a kind of view.
pub(super) const VIEW: &dyn View = &RankingView;

struct RankingView;

impl View for RankingView {
    fn about(&self) -> About {
        About {
            id: "growth",
            title: "Ranking",
            help: "The groups that grow and shrink most, of one state the largest; and programs that are connected",
            place: Place::Left,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }
}

/// The metric that was ranked, and the groups, strongest first: those that grow, or the largest, and those that shrink.
type Ranked = (Metric, [Vec<NodeId>; 2]);

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    (clock, settings, search): (Res<Clock>, Res<Settings>, Res<GroupSearch>),
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    mut listening: ResMut<Listening>,
    shown: Res<Shown>,
    mut actions: MessageWriter<Action>,
    (mut ranked, mut anchor): (Local<Option<Ranked>>, Local<Option<NodeId>>),
) {
    let Some(open) = document.get() else { return };
    let metric = settings.metric_in(&open.timeline);
    if document.is_changed() || ranked.as_ref().is_none_or(|(of, _)| *of != metric) {
        *ranked = Some((
            metric,
            if open.timeline.times() < 2 {
                [analyses::largest(&open.timeline, metric, MOST_RANKED), Vec::new()]
            } else {
                [analyses::top_growing, analyses::top_shrinking].map(|top| top(&open.timeline, metric, MOST_RANKED))
            },
        ));
    }
    let Some((_, ranked)) = ranked.as_ref() else { return };
    theme::pane(ui, |ui| {
        let linked = (selection.reborrow(), &mut *pointing);
        let city = shown.0.as_ref().filter(|city| Arc::ptr_eq(&city.timeline, &open.timeline));
        let beside = city.filter(|city| city.made_with.metric == metric).map_or(0, City::growth_without_building);
        let part = city.map_or(NodeId::ROOT, |city| city.plan.part().root);
        list(ui, (&open.timeline, metric, beside, part), ranked, &search, clock.time, linked, &mut anchor);
        live_panel::show(ui, &mut listening, &document, shown.0.as_ref(), &clock, &mut actions);
    });
}

/// Input of all rows of the list.
struct Ranking<'a> {
    timeline: &'a Timeline,
    time: usize,
    selection: Mut<'a, Selection>,
    pointing: &'a mut Pointing,
    anchor: &'a mut Option<NodeId>,
}

fn list(
    ui: &mut egui::Ui,
    (timeline, metric, beside, part): (&Timeline, Metric, u64, NodeId),
    [ranked, shrinking]: &[Vec<NodeId>; 2],
    search: &GroupSearch,
    time: usize,
    (selection, pointing): (Mut<Selection>, &mut Pointing),
    anchor: &mut Option<NodeId>,
) {
    let single = timeline.times() < 2;
    let name = metric_name(timeline, metric);
    let title = if single { format!("LARGEST  ·  {name}") } else { format!("GROWS MOST  ·  {name} first to last") };
    theme::heading(ui, &title);
    let heap = timeline.value(time.min(timeline.times().saturating_sub(1)), NodeId::ROOT, metric).max(1);
    let shown = |ranked: &[NodeId], most: usize| -> Vec<NodeId> {
        ranked.iter().copied().filter(|&node| search.shows(node)).take(most).collect()
    };
    let (top, lost) = (shown(ranked, ROWS), shown(shrinking, SHRINKING));
    let size = |node: NodeId| i64::try_from(timeline.value(0, node, metric)).unwrap_or(i64::MAX);
    let growth = |node: NodeId| timeline.growth(node, metric);
    if top.is_empty() {
        ui.label(
            RichText::new(match (search.found().is_some(), single) {
                (true, true) => "Nothing of what is looked for is among the largest.",
                (true, false) => "Nothing of what is looked for, and is there now, is among what grows most.",
                (false, true) => "The heap is empty.",
                (false, false) => "No group is larger at the end than at the start.",
            })
            .color(theme::QUIET),
        );
    }
    let mut ranking = Ranking { timeline, time, selection, pointing, anchor };
    if single {
        let amount = |value: i64| {
            let share = 100.0 * value as f64 / heap as f64;
            format!("{}  {share:.1} %", number(timeline, value as u64, metric))
        };
        ranking.rows(ui, &top, &size, &|_| theme::ACCENT, &amount);
        return;
    }
    // Bars have the colours of the city: red is what is red there.
    let most = top.first().map_or(0, |&node| growth(node)).max(1);
    let red = analyses::growth_scale(timeline, metric, part, most as u64).max(1) as i64;
    let heat = |value: i64| theme::colour(city::growth_colour((value as f64 / red as f64) as f32));
    let amount = |value: i64| signed(timeline, value, metric);
    ranking.rows(ui, &top, &growth, &heat, &amount);
    if beside > 0 {
        // Without it the list does not add up to what the sentence above the city says.
        let text = format!("+{} more in groups around others", number(timeline, beside, metric));
        let help = "Objects of groups that other groups are in: owners of what is listed. The table has them with their groups.";
        ui.label(RichText::new(text).size(11.0).color(theme::WARNING)).on_hover_text(help);
    }
    if !lost.is_empty() {
        ui.add_space(6.0);
        theme::heading(ui, "SHRINKS MOST");
        ranking.rows(ui, &lost, &growth, &|_| theme::colour(city::SHRUNK_COLOUR), &amount);
    }
}

impl Ranking<'_> {
    /// Rows with the numbers of each group, and a bar of its part of the first one's.
    fn rows(
        &mut self,
        ui: &mut egui::Ui,
        nodes: &[NodeId],
        value: &dyn Fn(NodeId) -> i64,
        colour: &dyn Fn(i64) -> Color32,
        amount: &dyn Fn(i64) -> String,
    ) {
        let most = nodes.first().map_or(0, |&node| value(node)).unsigned_abs().max(1);
        for (rank, (&node, name)) in nodes.iter().zip(self.timeline.names_apart(nodes)).enumerate() {
            let value = value(node);
            let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 20.0), Sense::click());
            theme::named(&response, &name);
            let painter = ui.painter_at(rect);
            let selected = self.selection.has(node);
            let pointed = self.pointing.hovered == Some(Target::Node(node));
            if selected || response.hovered() || pointed {
                let fill = if selected { Color32::from_rgb(30, 66, 122) } else { Color32::from_rgb(34, 44, 64) };
                painter.rect(rect, CornerRadius::same(4), fill, Stroke::NONE, StrokeKind::Inside);
            }
            let share = (value.unsigned_abs() as f64 / most as f64) as f32;
            let bar =
                Rect::from_min_size(rect.min + egui::vec2(2.0, 16.0), egui::vec2((rect.width() - 4.0) * share, 2.5));
            painter.rect_filled(bar, 1.0, colour(value));
            let font = egui::FontId::proportional(12.5);
            let at = rect.right_top() + egui::vec2(-4.0, 1.0);
            let amount = painter.text(at, Align2::RIGHT_TOP, amount(value), font.clone(), theme::TEXT);
            let name = &theme::brief(&name);
            let room = amount.left() - rect.left() - 32.0;
            let at = rect.left_top() + egui::vec2(4.0, 1.0);
            painter.text(at, Align2::LEFT_TOP, format!("{}", rank + 1), font.clone(), theme::QUIET);
            painter.text(
                rect.left_top() + egui::vec2(24.0, 1.0),
                Align2::LEFT_TOP,
                theme::fitting(&painter, name, &font, room),
                font,
                theme::TEXT,
            );
            if response.hovered() {
                self.pointing.pointed = Some(node);
            }
            if response.clicked() {
                click(self.timeline, &mut self.selection, nodes, self.anchor, node, ui.input(|i| i.modifiers));
            }
            let (timeline, time) = (self.timeline, self.time);
            response.on_hover_ui(|ui| tooltip::node(ui, timeline, time, node));
        }
    }
}

/// Selects a row, adds it or takes it away (Ctrl), or selects all from the row before to it (Shift), as the table does. A second click
/// on a row changes nothing: Escape selects nothing.
fn click(
    timeline: &Timeline,
    selection: &mut Mut<Selection>,
    rows: &[NodeId],
    anchor: &mut Option<NodeId>,
    node: NodeId,
    modifiers: egui::Modifiers,
) {
    let place = |node: NodeId| rows.iter().position(|&row| row == node);
    if modifiers.shift {
        let here = place(node).unwrap_or(0);
        let from = anchor.and_then(place).unwrap_or(here);
        let range = &rows[from.min(here)..=from.max(here)];
        // The clicked row leads.
        let rest = range.iter().copied().filter(|&row| row != node);
        selection.select_all(timeline, std::iter::once(node).chain(rest));
        return;
    }
    *anchor = Some(node);
    if modifiers.command {
        selection.add_or_remove(timeline, node);
    } else {
        selection.select(timeline, node);
    }
}
