//! The panel of the selected group: its numbers, its references as clickable tables, the roots that hold it. For several selected groups
//! it has the sums, and the references of the one selected last.

mod hint;

use crate::viewer::action::Action;
use crate::viewer::city::{City, ConeCount, Shown};
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::editor::{CodePlace, CodeRequest};
use crate::viewer::hint::Hint;
use crate::viewer::owners::{OwnersKnown, OwnersOf};
use crate::viewer::panels::numbers::{amounts, metric_name, number, signed};
use crate::viewer::panels::spinner::working;
use crate::viewer::panels::{owners_panel, sites_panel, theme};
use crate::viewer::references::{NOT_TOLD, References};
use crate::viewer::selection::{Pointing, Select, Selection};
use crate::viewer::settings::Settings;
use crate::viewer::sites::SitesOf;
use crate::viewer::view::{About, Place, View, draw_with};
use bevy::prelude::*;
use bevy_egui::egui::{self, Color32, RichText, Sense};
use memory_city_analysis::analyses::{self, SampledShares};
use memory_city_analysis::tabular::several;
use memory_city_analysis::timeline::references::{Edge, ReferenceMap};
use memory_city_analysis::timeline::{Metric, Timeline};
use memory_city_views::city;
use std::sync::Arc;

/// The details as a kind of view.
pub(super) const VIEW: &dyn View = &DetailsView;

struct DetailsView;

impl View for DetailsView {
    fn about(&self) -> About {
        About {
            id: "details",
            title: "Selection",
            help: "The selected group: its numbers, and what keeps it alive",
            place: Place::Right,
        }
    }

    fn hints(&self, world: &World) -> Vec<Hint> {
        hint::hints(world)
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }
}

/// Resources that the panel reads and writes.
struct DetailTools<'a> {
    timeline: Arc<Timeline>,
    city: Option<&'a City>,
    time: usize,
    references: &'a References,
    owners: OwnersKnown,
    sites: Option<Arc<SampledShares>>,
    cones: ConeCount,
    settings: &'a Settings,
    selection: Mut<'a, Selection>,
    pointing: &'a mut Pointing,
    actions: Vec<Action>,
    opens: Option<CodePlace>,
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    shown: Res<Shown>,
    (clock, settings, cones): (Res<Clock>, Res<Settings>, Res<ConeCount>),
    (references, owners, sites): (Res<References>, Res<OwnersOf>, Res<SitesOf>),
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    (mut actions, mut code): (MessageWriter<Action>, MessageWriter<CodeRequest>),
) {
    let Some(timeline) = document.timeline() else { return };
    let mut tools = DetailTools {
        timeline: Arc::clone(timeline),
        city: shown.0.as_ref(),
        time: clock.time,
        references: &references,
        owners: owners.known(),
        sites: selection.node().and_then(|node| sites.of(clock.time, node)).cloned(),
        cones: *cones,
        settings: &settings,
        selection: selection.reborrow(),
        pointing: &mut pointing,
        actions: Vec::new(),
        opens: None,
    };
    theme::pane_at_least(ui, theme::RIGHT_CONTENTS, |ui| show(ui, &mut tools));
    actions.write_batch(tools.actions);
    code.write_batch(tools.opens.map(CodeRequest));
}

/// The panel's contents.
fn show(ui: &mut egui::Ui, tools: &mut DetailTools<'_>) {
    let Some(node) = tools.selection.node() else {
        theme::heading(ui, "SELECTION");
        ui.label(
            RichText::new("Click a building or a row of the list to see what keeps its objects alive.")
                .color(theme::QUIET),
        );
        return;
    };
    let timeline = Arc::clone(&tools.timeline);
    let time = tools.time;
    if tools.selection.nodes().len() > 1 {
        together(ui, tools);
    }
    theme::heading(ui, &timeline.role(node).to_uppercase());
    ui.horizontal(|ui| {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if theme::cross_button(ui, "Nothing selected", &Action::Escape.tooltip()) {
                tools.actions.push(Action::Escape);
            }
            for (text, action) in [("Inspect", Action::Inspect), ("Fly there", Action::Focus), ("Back", Action::Back)] {
                if ui.small_button(text).on_hover_text(action.tooltip()).clicked() {
                    tools.actions.push(action);
                }
            }
            if ui.small_button("Copy").on_hover_text("Copies the path, for the code search or a ticket").clicked() {
                ui.ctx().copy_text(timeline.path_label(node));
            }
        });
    });
    let name = RichText::new(theme::worded(timeline.name(node))).size(15.0).strong().color(theme::ACCENT);
    if CodePlace::first_in(timeline.name(node)).is_some() {
        // A line of code leads there.
        let opens = RichText::new("Open in your editor").size(12.0).color(theme::ACCENT);
        if ui.link(name).on_hover_text(Action::OpenCode.tooltip()).clicked()
            | ui.link(opens).on_hover_text(Action::OpenCode.tooltip()).clicked()
        {
            tools.actions.push(Action::OpenCode);
        }
    } else {
        ui.label(name);
    }
    let parents = timeline.parent(node).map(|p| theme::told_path(&timeline, p)).unwrap_or_default();
    if !parents.is_empty() {
        ui.label(RichText::new(parents).size(11.0).color(theme::QUIET));
    }
    let nowhere = |city: &City| city.plan.plot_of(node).is_none() && city.plan.district_of(node).is_none();
    if tools.city.is_some_and(nowhere) {
        ui.label(RichText::new("Not in the city at the present child count").color(theme::WARNING).size(11.0));
    }
    let metrics: Vec<Metric> = timeline.metrics().take(MOST_COLUMNS).collect();
    egui::Grid::new("amounts").num_columns(1 + metrics.len()).spacing([14.0, 2.0]).show(ui, |ui| {
        let mut row = |label: &str, of: &dyn Fn(Metric) -> String| {
            ui.label(RichText::new(label).color(theme::QUIET).size(12.0));
            for &metric in &metrics {
                let name = metric_name(&timeline, metric);
                ui.label(RichText::new(of(metric)).size(12.0)).on_hover_text(name);
            }
            ui.end_row();
        };
        row("now", &|m| number(&timeline, timeline.value(time, node, m), m));
        if timeline.times() > 1 {
            // At the last state that is the row below.
            if time + 1 < timeline.times() {
                row("since first", &|m| signed(&timeline, timeline.growth_until(time, node, m), m));
            }
            row("first to last", &|m| signed(&timeline, timeline.growth(node, m), m));
            row("most", &|m| number(&timeline, timeline.peak(node, m), m));
        }
    });
    ui.separator();
    let asked = owners_panel::show(ui, &timeline, &tools.owners, (&mut tools.selection, tools.pointing));
    tools.actions.extend(asked);
    if let Some(sites) = tools.sites.clone() {
        tools.opens = sites_panel::show(ui, &sites);
    }
    if let Some(error) = &tools.references.error {
        ui.label(RichText::new(format!("References cannot be shown: {error}")).color(theme::ERROR));
        return;
    }
    if tools.references.unknown {
        ui.label(RichText::new(NOT_TOLD).color(theme::QUIET));
        return;
    }
    match tools.references.of(node).cloned() {
        Some(map) => references(ui, tools, &map),
        None => {
            let stage = tools.references.snapshot().map(|s| s.stage).filter(|s| !s.is_empty());
            working(ui, stage.as_deref().unwrap_or("Collecting references"));
        }
    }
}

/// More metrics are in the table.
const MOST_COLUMNS: usize = 4;

/// Several groups as one: their sums, in which a group within another selected one counts once.
fn together(ui: &mut egui::Ui, tools: &mut DetailTools<'_>) {
    let timeline = &tools.timeline;
    let nodes = tools.selection.nodes();
    let tops = tools.selection.outermost(timeline);
    theme::heading(ui, &format!("{} GROUPS TOGETHER", nodes.len()));
    for metric in timeline.metrics().take(MOST_COLUMNS) {
        let now: u64 = tops.iter().map(|&n| timeline.value(tools.time, n, metric)).fold(0, u64::saturating_add);
        let grown: i64 = tops.iter().map(|&n| timeline.growth(n, metric)).fold(0, i64::saturating_add);
        let text = format!("{}   ({} first to last)", number(timeline, now, metric), signed(timeline, grown, metric));
        ui.label(RichText::new(text).size(12.0)).on_hover_text(metric_name(timeline, metric));
    }
    if tops.len() < nodes.len() {
        let inside = nodes.len() - tops.len();
        ui.label(RichText::new(format!("{inside} lie within others: counted once")).size(11.0).color(theme::QUIET));
    }
    ui.separator();
}

fn references(ui: &mut egui::Ui, tools: &mut DetailTools<'_>, map: &ReferenceMap) {
    // Where owners are known, roots are listed by what they keep.
    if matches!(tools.owners, OwnersKnown::Nothing) {
        direct_roots(ui, map);
    }
    table(
        ui,
        tools,
        "REFERRED TO BY  (incoming)",
        "incoming",
        &map.incoming,
        theme::colour(city::INCOMING_COLOUR),
        true,
    );
    ui.add_space(4.0);
    table(ui, tools, "REFERS TO  (outgoing)", "outgoing", &map.outgoing, theme::colour(city::OUTGOING_COLOUR), false);
    if tools.cones.left_out > 0 && tools.settings.show_pointers {
        ui.label(
            RichText::new(format!(
                "{} references are shown, +{} weaker ones are not. The tables list all",
                tools.cones.drawn, tools.cones.left_out
            ))
            .size(11.0)
            .color(theme::WARNING),
        );
    }
    let (groups, references) = tools.cones.elsewhere;
    if groups > 0 && tools.settings.show_pointers {
        ui.label(
            RichText::new(format!(
                "{} references from or to {} groups without a building in this city are not drawn either",
                analyses::count_text(references),
                analyses::count_text(groups as u64)
            ))
            .size(11.0)
            .color(theme::WARNING),
        );
    }
    let (to_here, from_here) = map.weak;
    if to_here + from_here > 0 {
        let text = format!(
            "{} to the group and {} from it keep nothing: they are not listed",
            several(to_here, "weak reference", "weak references"),
            analyses::count_text(from_here)
        );
        ui.label(RichText::new(text).size(11.0).color(theme::QUIET)).on_hover_text(
            "Weak, phantom and finalizer references; soft ones keep what they refer to while memory lasts",
        );
    }
    if map.internal > 0 {
        ui.label(
            RichText::new(format!("{} references inside the group itself", analyses::count_text(map.internal)))
                .size(11.0)
                .color(theme::QUIET),
        );
    }
}

/// The roots that hold its objects directly, where nothing further up is known.
fn direct_roots(ui: &mut egui::Ui, map: &ReferenceMap) {
    if map.roots.is_empty() {
        return;
    }
    theme::heading(ui, "HELD DIRECTLY BY GC ROOTS");
    for (root, count) in map.roots.iter().take(4) {
        ui.add(
            egui::Label::new(
                RichText::new(format!("{count}× {}", theme::shortened(root, 58))).size(11.5).color(theme::INCOMING),
            )
            .selectable(false),
        )
        .on_hover_text(root);
    }
    if map.roots.len() > 4 {
        let more = map.roots.len() - 4;
        ui.label(RichText::new(format!("and {more} more")).size(11.0).color(theme::QUIET)).on_hover_ui(|ui| {
            for (root, count) in map.roots.iter().skip(4).take(20) {
                ui.label(format!("{count}× {root}"));
            }
            if more > 20 {
                ui.label(format!("… {} more", more - 20));
            }
        });
    }
    ui.add_space(4.0);
}

fn table(
    ui: &mut egui::Ui,
    tools: &mut DetailTools<'_>,
    title: &str,
    id: &str,
    edges: &[Edge],
    colour: Color32,
    incoming: bool,
) {
    theme::heading(ui, title);
    if edges.is_empty() {
        ui.label(RichText::new("none").color(theme::QUIET).size(12.0));
        return;
    }
    let timeline = Arc::clone(&tools.timeline);
    egui::ScrollArea::vertical()
        .id_salt((id, tools.selection.node()))
        .max_height(132.0)
        .auto_shrink([false, true])
        .show_rows(ui, 17.0, edges.len(), |ui, rows| {
            for edge in &edges[rows] {
                row(ui, tools, &timeline, edge, colour, incoming);
            }
        });
}

fn row(
    ui: &mut egui::Ui,
    tools: &mut DetailTools<'_>,
    timeline: &Timeline,
    edge: &Edge,
    colour: Color32,
    incoming: bool,
) {
    let name = &theme::brief(&timeline.display_name(edge.other));
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 17.0), Sense::click());
    theme::named(&response, name);
    let painter = ui.painter_at(rect);
    if response.hovered() {
        painter.rect_filled(rect, 3.0, Color32::from_rgb(34, 44, 64));
        tools.pointing.pointed = Some(edge.other);
    }
    let font = egui::FontId::proportional(12.0);
    let counts =
        format!("{} refer to {}", analyses::count_text(edge.referencing), analyses::count_text(edge.referenced));
    let right = painter.text(rect.right_top(), egui::Align2::RIGHT_TOP, counts, font.clone(), theme::QUIET);
    painter.circle_filled(rect.left_center() + egui::vec2(5.0, 0.0), 3.5, colour);
    painter.text(
        rect.left_top() + egui::vec2(14.0, 0.0),
        egui::Align2::LEFT_TOP,
        theme::fitting(&painter, name, &font, right.left() - rect.left() - 20.0),
        font,
        theme::TEXT,
    );
    if response.clicked() {
        tools.selection.select(timeline, edge.other);
    }
    response.on_hover_ui(|ui| {
        ui.label(RichText::new(theme::told_path(timeline, edge.other)).strong());
        let (from, to) =
            if incoming { ("its objects", "selected objects") } else { ("selected objects", "its objects") };
        ui.label(format!(
            "{} of {from} refer to {} of {to} through {} references",
            analyses::count_text(edge.referencing),
            analyses::count_text(edge.referenced),
            analyses::count_text(edge.references)
        ));
        ui.label(amounts(timeline.amount(tools.time, edge.other)));
        ui.label(RichText::new("Click to select it").size(11.0).color(theme::QUIET));
    });
}
