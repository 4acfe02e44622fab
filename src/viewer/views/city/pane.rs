//! The pane the city is drawn in: where it is in the window, and what stands over the picture: names, a tooltip, and in
//! pictures without panels a caption and the legend.

use super::fly::CameraRig;
use super::labels;
use super::laid_out::{City, Shown};
use super::picking::Pointer;
use super::routes::{self, ShownRoutes};
use super::{LayingOut, card, crumbs, minimap};
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::document::{Document, OpenDocument};
use crate::viewer::finding::Finding;
use crate::viewer::keys;
use crate::viewer::owners::OwnersOf;
use crate::viewer::panels::{numbers, theme, tooltip};
use crate::viewer::references::References;
use crate::viewer::selection::{Marks, Selection, SharedFilter};
use crate::viewer::settings::Settings;
use crate::viewer::views::legend;
use crate::viewer::ways::Ways;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::egui;
use memory_city_analysis::analyses::{self, Verdict};
use memory_city_analysis::timeline::{Metric, NodeId};
use memory_city_views::city::{HitTarget, Standing};

/// Where the city is drawn.
#[derive(Resource, Default)]
pub struct CityPane {
    /// In the window, points; `None` while it is not drawn at all (behind another tab).
    pub rect: Option<egui::Rect>,
}

/// Names beside which nothing else is said at most this often.
const MOST_NAMED: usize = 40;

#[derive(SystemParam)]
pub struct Names<'w> {
    shown: ResMut<'w, Shown>,
    clock: Res<'w, Clock>,
    settings: Res<'w, Settings>,
    selection: ResMut<'w, Selection>,
    ways: Res<'w, Ways>,
    routes: Res<'w, ShownRoutes>,
    marks: Res<'w, Marks>,
    filter: Res<'w, SharedFilter>,
    references: Res<'w, References>,
    rig: ResMut<'w, CameraRig>,
    pane: ResMut<'w, CityPane>,
}

/// Draws what stands over the picture into the city's pane of the dock.
pub fn draw(
    InMut(ui): InMut<egui::Ui>,
    mut names: Names,
    document: Res<Document>,
    pointer: Res<Pointer>,
    laying: Res<LayingOut>,
    (mut finding, mut owners): (ResMut<Finding>, ResMut<OwnersOf>),
    mut actions: MessageWriter<Action>,
    mut verdict: Local<Option<((u64, Metric), Verdict)>>,
) {
    let rect = ui.available_rect_before_wrap();
    ui.allocate_rect(rect, egui::Sense::hover());
    names.pane.rect = Some(rect);
    names.rig.set_pane(rect, rect);
    let painter = ui.painter_at(rect);
    names.paint(&painter, rect);
    lost_hint(&painter, rect, &names);
    if laying.active() {
        let corner = rect.right_top() + egui::vec2(-34.0, 10.0);
        egui::Spinner::new().paint_at(ui, egui::Rect::from_min_size(corner, egui::vec2(24.0, 24.0)));
    }
    if let Some(open) = document.get() {
        let of = (document.revision(), names.settings.metric_in(&open.timeline));
        if verdict.as_ref().is_none_or(|(before, _)| *before != of) {
            let found = analyses::verdict(&open.timeline, of.1);
            tracing::debug!("verdict: {}", found.text);
            *verdict = Some((of, found));
        }
        let Some(known) = verdict.as_ref() else { return };
        actions.write_batch(card::show(ui.ctx(), rect, open, finding.bypass_change_detection(), &known.1));
        let selection = names.selection.bypass_change_detection();
        let owners = owners.bypass_change_detection();
        actions.write_batch(crumbs::show(ui.ctx(), rect, &open.timeline, owners, selection));
    }
    if names.settings.minimap
        && let Some(city) = &names.shown.0
    {
        minimap::show(ui.ctx(), rect, city, names.rig.bypass_change_detection(), &names.selection);
    }
    names.tooltip(ui.ctx(), &document, &pointer);
}

/// Draws the city alone into the whole window or image, with caption and legend: panels are hidden, or a picture is made.
pub fn alone(world: &mut World, ctx: &egui::Context) {
    if let Err(error) = world.run_system_cached_with(draw_alone, ctx.clone()) {
        tracing::error!("the city cannot be drawn: {error}");
    }
}

fn draw_alone(In(ctx): In<egui::Context>, mut names: Names, document: Res<Document>, pointer: Res<Pointer>) {
    let Some(open) = document.get() else { return };
    let all = ctx.content_rect();
    let mut free = all;
    // Caption and legend stand at the left: the city beside them, if there is room.
    if free.width() > 1000.0 {
        free.min.x += legend::WIDTH + theme::GAP;
    }
    if let Some(city) = &names.shown.0 {
        legend::over(&ctx, city, &names.settings, names.selection.node().is_some(), &names.ways);
    }
    caption(&ctx, open, &names.clock, &names.settings, names.selection.node());
    names.pane.rect = Some(all);
    names.rig.set_pane(all, free);
    let layer = egui::LayerId::new(egui::Order::Background, "labels".into());
    names.paint(&ctx.layer_painter(layer).with_clip_rect(free), all);
    lost_hint(&ctx.layer_painter(layer).with_clip_rect(free), free, &names);
    names.tooltip(&ctx, &document, &pointer);
}

/// Says how the city comes back where nothing of it is in sight.
fn lost_hint(painter: &egui::Painter, rect: egui::Rect, names: &Names<'_>) {
    if names.shown.0.is_none() || names.rig.sees_city() {
        return;
    }
    let text = format!("The city is out of sight.  {}  brings it back", keys::map().printed(Action::Reset));
    let galley = painter.layout_no_wrap(text, egui::FontId::proportional(15.0), theme::TEXT);
    let plate = egui::Rect::from_center_size(rect.center(), galley.size() + egui::vec2(28.0, 18.0));
    let stroke = egui::Stroke::new(1.0, theme::ACCENT);
    painter.rect(plate, 8.0, theme::SOLID, stroke, egui::StrokeKind::Inside);
    painter.galley(plate.center() - galley.size() / 2.0, galley, theme::TEXT);
}

/// The city is not drawn, unless it is asked for again in this frame.
pub fn hide(world: &mut World) {
    world.resource_mut::<CityPane>().rect = None;
}

/// Gives the picture the whole window or image, with nothing over it.
pub fn fill(world: &mut World, ctx: &egui::Context) {
    let all = ctx.content_rect();
    world.resource_mut::<CityPane>().rect = Some(all);
    world.resource_mut::<CameraRig>().set_pane(all, all);
}

impl Names<'_> {
    /// Paints the names of the city that lies in `all` into what the painter may paint on.
    fn paint(&mut self, painter: &egui::Painter, all: egui::Rect) {
        if !self.settings.labels {
            return;
        }
        let connected = self.connected();
        let drawn = self.routes.0.as_ref().zip(self.ways.found());
        let roots = drawn.map(|(routes, found)| routes::root_names(routes, found)).unwrap_or_default();
        let Some(city) = self.shown.bypass_change_detection().0.as_mut() else { return };
        let time = self.clock.time.min(city.times().saturating_sub(1));
        let states = city.states(time).plots;
        let most = city.growing.len().min(self.settings.solid_count);
        let growing = city.growing[..most].iter().filter(|&&n| self.filter.shows(&city.timeline, n));
        let wanted = labels::Wanted {
            selected: self.selection.nodes().take(MOST_NAMED).collect(),
            marked: self.marks.nodes().iter().copied().take(MOST_NAMED).collect(),
            connected,
            growing: growing.copied().collect(),
            roots,
        };
        let city: &City = city;
        let heights = self.rig.heights();
        let standing = |plot: usize| {
            let standing = states.get(plot).map(|&s| city.appearance.standing(s)).unwrap_or_default();
            Standing { height: standing.height * heights, ..standing }
        };
        let labels = labels::collect(city, &standing, &wanted);
        let eye = self.rig.pose.eye;
        let hidden = |label: &labels::Label| {
            let before = city.appearance.pick(&city.plan, standing, eye, label.at - eye);
            before.is_some_and(|hit| {
                let own = match hit.target {
                    HitTarget::Plot(plot) => city.target_of_plot(plot) == label.target,
                    HitTarget::District(_) => false,
                };
                hit.distance < 0.985 && !own
            })
        };
        labels::paint(painter, &labels, self.rig.clip_from_world(), all, hidden);
    }

    /// What the ways pass, or the cones of the selection lead to.
    fn connected(&self) -> Vec<NodeId> {
        if let Some(routes) = &self.routes.0 {
            return routes.stops.iter().copied().take(MOST_NAMED).collect();
        }
        let Some(node) = self.selection.node().filter(|_| self.settings.show_pointers) else { return Vec::new() };
        let Some(map) = self.references.of(node) else { return Vec::new() };
        let incoming = map.incoming.iter().take(8).filter(|_| self.settings.show_incoming);
        let outgoing = map.outgoing.iter().take(8).filter(|_| self.settings.show_outgoing);
        incoming.chain(outgoing).map(|edge| edge.other).collect()
    }

    fn tooltip(&self, ctx: &egui::Context, document: &Document, pointer: &Pointer) {
        let over = pointer.over.filter(|_| !self.rig.dragging());
        if let (Some(city), Some(target), Some(at), Some(_)) =
            (&self.shown.0, self.selection.hovered, over, document.get())
        {
            tooltip::show(ctx, city, self.clock.time, target, egui::pos2(at.x, at.y));
        }
    }
}

/// Title and time of a picture without panels.
fn caption(ctx: &egui::Context, open: &OpenDocument, clock: &Clock, settings: &Settings, selected: Option<NodeId>) {
    let quiet = |text: String| egui::RichText::new(text).color(theme::QUIET);
    egui::Area::new("caption".into())
        .anchor(egui::Align2::LEFT_TOP, [theme::GAP, theme::GAP])
        .interactable(false)
        .show(ctx, |ui| {
            theme::frame().show(ui, |ui| {
                ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
                let timeline = &open.timeline;
                let label = timeline.points().get(clock.time).map_or("", |point| &point.label);
                ui.label(egui::RichText::new(&open.title).heading().strong());
                ui.label(format!("{}/{}  {}", clock.time + 1, timeline.times(), label));
                ui.label(quiet(numbers::amounts(timeline.amount(clock.time, NodeId::ROOT))));
                let grouping = open.source.grouping_title();
                ui.label(quiet(format!(
                    "{grouping}  ·  {}",
                    numbers::metric_name(timeline, settings.metric_in(timeline))
                )));
                if let Some(node) = selected {
                    let path = format!("selected: {}", timeline.path_label(node));
                    ui.label(egui::RichText::new(path).color(theme::ACCENT));
                    ui.label(quiet(numbers::amounts(timeline.amount(clock.time, node))));
                }
                for warning in open.warnings.iter().take(3) {
                    let text = format!("⚠ {}", theme::shortened(&warning.to_string(), 110));
                    ui.label(egui::RichText::new(text).color(theme::WARNING).size(11.0));
                }
            });
        });
}
