//! The pane the city is drawn in: where it is in the window, and what stands over the picture: names, a tooltip, and in
//! pictures without panels a caption and the legend.

use super::axis;
use super::fly::CameraRig;
use super::labels;
use super::laid_out::{City, Shown};
use super::multiples::{self, Multiples};
use super::picking::Pointer;
use super::routes::{self, ShownRoutes};
use super::{LayingOut, card, crumbs};
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::document::{Document, OpenDocument};
use crate::viewer::finding::Finding;
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
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::HitTarget;

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
    selection: ResMut<'w, Selection>,
    ways: Res<'w, Ways>,
    routes: Res<'w, ShownRoutes>,
    marks: Res<'w, Marks>,
    filter: Res<'w, SharedFilter>,
    references: Res<'w, References>,
    rig: ResMut<'w, CameraRig>,
    pane: ResMut<'w, CityPane>,
    multiples: ResMut<'w, Multiples>,
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
    (mut clock, mut settings): (ResMut<Clock>, ResMut<Settings>),
) {
    let rect = ui.available_rect_before_wrap();
    ui.allocate_rect(rect, egui::Sense::hover());
    names.pane.rect = Some(rect);
    let painter = ui.painter_at(rect);
    if names.beside_each_other(&painter, rect, &settings) {
        multiples::click(ui, &names.multiples, clock.bypass_change_detection(), settings.bypass_change_detection());
    } else {
        names.rig.set_pane(rect, rect);
        names.paint(&painter, rect, &clock, &settings);
    }
    if laying.active() {
        let corner = rect.right_top() + egui::vec2(-34.0, 10.0);
        egui::Spinner::new().paint_at(ui, egui::Rect::from_min_size(corner, egui::vec2(24.0, 24.0)));
    }
    if let Some(open) = document.get() {
        actions.write_batch(card::show(ui.ctx(), rect, open, finding.bypass_change_detection()));
        let selection = names.selection.bypass_change_detection();
        let owners = owners.bypass_change_detection();
        actions.write_batch(crumbs::show(ui.ctx(), rect, &open.timeline, owners, selection));
    }
    names.tooltip(ui.ctx(), &document, &pointer, &clock);
}

/// Draws the city alone into the whole window or image, with caption and legend: panels are hidden, or a picture is made.
pub fn alone(world: &mut World, ctx: &egui::Context) {
    if let Err(error) = world.run_system_cached_with(draw_alone, ctx.clone()) {
        tracing::error!("the city cannot be drawn: {error}");
    }
}

fn draw_alone(
    In(ctx): In<egui::Context>,
    mut names: Names,
    document: Res<Document>,
    pointer: Res<Pointer>,
    (clock, settings): (Res<Clock>, Res<Settings>),
) {
    let Some(open) = document.get() else { return };
    let all = ctx.content_rect();
    let mut free = all;
    // Caption and legend stand at the left: the city beside them, if there is room.
    if free.width() > 1000.0 {
        free.min.x += legend::WIDTH + theme::GAP;
    }
    let selected = names.selection.node();
    if let Some(city) = names.shown.bypass_change_detection().0.as_mut() {
        legend::over(&ctx, city, &clock, &settings, selected.is_some(), &names.ways);
    }
    caption(&ctx, open, &clock, &settings, selected);
    names.pane.rect = Some(all);
    let layer = egui::LayerId::new(egui::Order::Background, "labels".into());
    let painter = ctx.layer_painter(layer).with_clip_rect(free);
    if names.beside_each_other(&painter, free, &settings) {
        // Nothing is drawn behind caption and legend.
        let aside = all.with_max_x(free.left());
        painter.with_clip_rect(all).rect_filled(aside, 0.0, theme::SOLID);
        return;
    }
    names.rig.set_pane(all, free);
    names.paint(&painter, all, &clock, &settings);
    names.tooltip(&ctx, &document, &pointer, &clock);
}

/// The city is not drawn, unless it is asked for again in this frame.
pub fn hide(world: &mut World) {
    world.resource_mut::<CityPane>().rect = None;
    world.resource_mut::<Multiples>().0.clear();
}

/// Gives the picture the whole window or image, with nothing over it.
pub fn fill(world: &mut World, ctx: &egui::Context) {
    let all = ctx.content_rect();
    world.resource_mut::<CityPane>().rect = Some(all);
    world.resource_mut::<CameraRig>().set_pane(all, all);
}

impl Names<'_> {
    /// Paints the names of the city that lies in `all` into what the painter may paint on.
    fn paint(&mut self, painter: &egui::Painter, all: egui::Rect, clock: &Clock, settings: &Settings) {
        if !settings.labels {
            return;
        }
        if let Some(city) = &self.shown.0 {
            axis::paint(painter, city, self.rig.clip_from_world(), all);
        }
        let connected = self.connected(settings);
        let drawn = self.routes.0.as_ref().zip(self.ways.found());
        let roots = drawn.map(|(routes, found)| routes::root_names(routes, found)).unwrap_or_default();
        let Some(city) = self.shown.bypass_change_detection().0.as_mut() else { return };
        let time = clock.time.min(city.times().saturating_sub(1));
        let states = city.states(time);
        let most = city.growing.len().min(settings.solid_count);
        let growing = city.growing[..most].iter().filter(|&&n| self.filter.shows(&city.timeline, n));
        let wanted = labels::Wanted {
            selected: self.selection.nodes().take(MOST_NAMED).collect(),
            marked: self.marks.nodes().iter().copied().take(MOST_NAMED).collect(),
            connected,
            growing: growing.copied().collect(),
            roots,
        };
        let city: &City = city;
        let standing = |plot: usize| states.get(plot).map(|s| city.appearance.standing(s)).unwrap_or_default();
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
    fn connected(&self, settings: &Settings) -> Vec<NodeId> {
        if let Some(routes) = &self.routes.0 {
            return routes.stops.iter().copied().take(MOST_NAMED).collect();
        }
        let Some(node) = self.selection.node().filter(|_| settings.show_pointers) else { return Vec::new() };
        let Some(map) = self.references.of(node) else { return Vec::new() };
        let incoming = map.incoming.iter().take(8).filter(|_| settings.show_incoming);
        let outgoing = map.outgoing.iter().take(8).filter(|_| settings.show_outgoing);
        incoming.chain(outgoing).map(|edge| edge.other).collect()
    }

    /// Several times, where they are wanted.
    fn beside_each_other(&mut self, painter: &egui::Painter, free: egui::Rect, settings: &Settings) -> bool {
        let Some(city) = self.shown.0.as_ref().filter(|_| settings.multiples > 1) else {
            self.multiples.bypass_change_detection().0.clear();
            return false;
        };
        multiples::lay_out(&mut self.multiples, &mut self.rig, city, settings, painter, free)
    }

    fn tooltip(&self, ctx: &egui::Context, document: &Document, pointer: &Pointer, clock: &Clock) {
        let over = pointer.over.filter(|_| !self.rig.dragging());
        if let (Some(city), Some(target), Some(at), Some(_)) =
            (&self.shown.0, self.selection.hovered, over, document.get())
        {
            tooltip::show(ctx, city, clock.time, target, egui::pos2(at.x, at.y));
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
