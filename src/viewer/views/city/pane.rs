//! The overlays on the picture in the pane of the city: names and a tooltip, and in pictures without panels a caption and the legend.

use super::caption::caption;
use super::follow::LayingOut;
use super::names::CityNames;
use super::picking::Pointer;
use super::{axis, card, compared, crumbs, drill, labels, minimap, multiples, routes};
use crate::viewer::action::Action;
use crate::viewer::city::{CameraRig, City, CityPane, ConeCount, Multiples, Shown, ShownCones, ShownRoutes};
use crate::viewer::clock::Clock;
use crate::viewer::comparison::OpenComparison;
use crate::viewer::document::Document;
use crate::viewer::finding::{FindingState, LeakSearch};
use crate::viewer::keys;
use crate::viewer::owners::OwnersOf;
use crate::viewer::panels::{legend, spinner, theme, tooltip};
use crate::viewer::references::References;
use crate::viewer::root_paths::RootPaths;
use crate::viewer::screenshot::WindowPictures;
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{Marks, Pointing, Selection, SharedFilter, Target};
use crate::viewer::settings::Settings;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::egui;
use memory_city_analysis::analyses::{self, Verdict};
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_views::city::camera::CameraPose;
use memory_city_views::city::{HitTarget, ShownNames};

/// Whether a pose is so far from another that other names may matter.
fn is_elsewhere(from: &CameraPose, to: &CameraPose) -> bool {
    let turned = (from.yaw - to.yaw).abs().max((from.pitch - to.pitch).abs());
    turned > 0.03 || from.eye.distance(to.eye) > 0.03 * to.eye.y.max(4.0)
}

/// Writes how many objects take part to both ends of the reference under the mouse. Returns where.
fn ends(canvas: &labels::Canvas<'_>, shown: &ShownCones) -> [Option<egui::Rect>; 2] {
    let Some(cone) = shown.hovered.and_then(|at| shown.cones.get(at)) else { return [None; 2] };
    let colour = if cone.incoming { theme::INCOMING } else { theme::OUTGOING };
    let both = [(cone.from, cone.referencing, cone.share_from), (cone.to, cone.referenced, cone.share_to)];
    let words = both.map(|(_, objects, share)| format!("{}  ·  {:.1} %", count_text(objects), 100.0 * share));
    let tags = [0, 1].map(|end| canvas.tag(both[end].0, &words[end], colour));
    if tracing::enabled!(tracing::Level::DEBUG) {
        let ctx = canvas.painter.ctx();
        let (told, now) = (egui::Id::new("ends of a reference"), (words, tags));
        if ctx.data_mut(|data| data.get_temp::<([String; 2], [Option<egui::Rect>; 2])>(told)).as_ref() != Some(&now) {
            let at = |tag: Option<egui::Rect>| {
                tag.map_or("out of sight".to_owned(), |tag| format!("at {:.0},{:.0}", tag.center().x, tag.center().y))
            };
            let ([from, to], [at_from, at_to]) = (&now.0, now.1.map(at));
            tracing::debug!("ends: {from} {at_from}; {to} {at_to}");
            ctx.data_mut(|data| data.insert_temp(told, now));
        }
    }
    tags
}

/// Room below the city for the name of its floor, points.
const FOOT: f32 = 14.0;

/// Most selected or marked groups, or stops of the ways, that are named.
const MOST_NAMED: usize = 40;

#[derive(SystemParam)]
pub struct Names<'w> {
    shown: ResMut<'w, Shown>,
    clock: ResMut<'w, Clock>,
    settings: ResMut<'w, Settings>,
    selection: ResMut<'w, Selection>,
    pointing: Res<'w, Pointing>,
    ways: Res<'w, RootPaths>,
    routes: Res<'w, ShownRoutes>,
    marks: Res<'w, Marks>,
    filter: ResMut<'w, SharedFilter>,
    search: Res<'w, GroupSearch>,
    references: Res<'w, References>,
    cones: Res<'w, ShownCones>,
    count: Res<'w, ConeCount>,
    rig: ResMut<'w, CameraRig>,
    pane: ResMut<'w, CityPane>,
    texts: ResMut<'w, CityNames>,
    multiples: ResMut<'w, Multiples>,
    pictures: Res<'w, WindowPictures>,
}

/// Growth found in the trees: searched once for each document and metric, and once for each leak.
pub struct KnownGrowth {
    metric: Metric,
    verdict: Verdict,
    /// The place that leaks, and since when.
    leak: Option<(String, Option<usize>)>,
}

impl KnownGrowth {
    /// The verdict, and the time from which the leak grows.
    fn told(&mut self, finding: &LeakSearch, timeline: &Timeline) -> (&Verdict, Option<usize>) {
        let Some(FindingState::Leaks(leak)) = finding.shown() else { return (&self.verdict, None) };
        if self.leak.as_ref().is_none_or(|(place, _)| *place != leak.owner) {
            self.leak = Some((leak.owner.clone(), leak.since(timeline, &self.verdict)));
        }
        (&self.verdict, self.leak.as_ref().and_then(|(_, since)| *since))
    }
}

/// Draws the overlays on the picture into the city's pane of the dock.
pub fn draw(
    InMut(ui): InMut<egui::Ui>,
    mut names: Names,
    (document, pointer, laying): (Res<Document>, Res<Pointer>, Res<LayingOut>),
    (mut finding, mut owners, mut comparison): (ResMut<LeakSearch>, ResMut<OwnersOf>, ResMut<OpenComparison>),
    mut actions: MessageWriter<Action>,
    mut verdict: Local<Option<KnownGrowth>>,
) {
    let rect = ui.available_rect_before_wrap();
    ui.allocate_rect(rect, egui::Sense::hover());
    names.pane.rect = Some(rect);
    let painter = ui.painter_at(rect);
    // The card that says what leaks stands before none of the city.
    let comparing = comparison.shown().cloned();
    let room = if comparing.is_some() { compared::room(rect) } else { card::room(rect, &finding) };
    let top = rect.top() + room;
    let free = rect.with_max_y(rect.bottom() - FOOT.min(0.1 * rect.height()));
    let free = free.with_min_y(top.min(free.bottom()));
    // What each of several times is called stands at its upper edge: below the lines that stand there.
    let lines = names.texts.lines.map_or(f32::NEG_INFINITY, |lines| lines.bottom() + theme::GAP / 2.0);
    let below = free.top().max(lines).min(free.bottom());
    if names.beside_each_other(&painter, rect.with_min_y(below)) {
        // Behind the card there is no picture.
        painter.rect_filled(rect.with_max_y(below), 0.0, theme::SOLID);
        let Names { multiples, clock, settings, .. } = &mut names;
        multiples::click(ui, multiples, clock, settings);
        lost_hint(&painter, rect, &names);
    } else {
        let placed = !names.rig.awaits_pane();
        names.rig.set_pane(rect, free);
        // A city that has just come is drawn in the next frame, and its names with it.
        if placed {
            names.paint(&painter, rect);
        }
        lost_hint(&painter, rect, &names);
    }
    let mut card = None;
    let has_map = names.settings.minimap && names.multiples.0.is_empty();
    if laying.active() {
        let corner = free.right_top() + egui::vec2(-34.0, 10.0);
        spinner::paint(ui, egui::Rect::from_min_size(corner, egui::vec2(24.0, 24.0)));
    }
    if let Some(open) = document.get() {
        let metric = names.settings.metric_in(&open.timeline);
        if document.is_changed() || verdict.as_ref().is_none_or(|known| known.metric != metric) {
            let found = analyses::verdict(&open.timeline, metric);
            tracing::debug!("verdict: {}", found.text);
            *verdict = Some(KnownGrowth { metric, verdict: found, leak: None });
        }
        let Some(known) = verdict.as_mut() else { return };
        if let Some(shown) = &comparing {
            let (asked, more, place) = compared::show(ui.ctx(), rect, shown);
            actions.write_batch(asked);
            comparison.show_view |= more;
            card = place;
        } else {
            let told = known.told(&finding, &open.timeline);
            let (asked, place) = card::show(ui.ctx(), rect, open, &mut finding, told);
            actions.write_batch(asked);
            card = place;
        }
        let room = if has_map { minimap::room(rect, &names.rig) } else { 0.0 };
        let beside = rect.with_max_x(rect.right() - room);
        let selection = &mut names.selection.reborrow();
        actions.write_batch(crumbs::show(ui.ctx(), beside, &open.timeline, &mut owners, selection));
    }
    names.top_lines(ui.ctx(), rect, card);
    if has_map && let Some(city) = names.shown.0.as_mut() {
        let rig = &mut *names.rig;
        minimap::show(ui.ctx(), rect, city, names.clock.time, rig, &names.selection);
    }
    let selected = names.selection.node().is_some();
    if let Some(city) = names.shown.0.as_mut().filter(|_| names.pictures.need_legend()) {
        legend::over(ui.ctx(), rect, city, &names.clock, &names.settings, selected, &names.ways, rect.width() <= ROOMY);
    }
    names.tooltip(ui.ctx(), &document, &pointer);
}

/// A picture that is wider than this, points, has room for caption and legend beside the city.
const ROOMY: f32 = 1000.0;
/// Height of the caption of a smaller one.
const BRIEF_CAPTION: f32 = 40.0;

/// Draws the city alone into the whole window or image, with caption and legend: panels are hidden, or a picture is made.
pub(super) fn alone(world: &mut World, ctx: &egui::Context) {
    if let Err(error) = world.run_system_cached_with(draw_alone, ctx.clone()) {
        tracing::error!("the city cannot be drawn: {error}");
    }
}

fn draw_alone(
    In(ctx): In<egui::Context>,
    mut names: Names,
    (document, pointer): (Res<Document>, Res<Pointer>),
    mut owners: ResMut<OwnersOf>,
    mut actions: MessageWriter<Action>,
) {
    let Some(open) = document.get() else { return };
    let all = ctx.content_rect();
    let mut free = all;
    // Caption and legend stand at the left: the city beside them, if there is room. What is to be laid over something else says
    // there what it is; what its colours mean goes with it.
    let captioned = names.pane.backdrop.is_none();
    let brief = all.width() <= ROOMY;
    match (captioned, brief) {
        (_, false) => free.min.x += legend::WIDTH + theme::GAP,
        (true, true) => free.min.y += BRIEF_CAPTION,
        (false, true) => {}
    }
    let selected = names.selection.node();
    if let Some(city) = names.shown.0.as_mut() {
        legend::over(&ctx, all, city, &names.clock, &names.settings, selected.is_some(), &names.ways, brief);
    }
    if captioned {
        caption(&ctx, open, &names.clock, &names.settings, selected, brief);
        names.top_lines(&ctx, all, None);
        // Whoever walks up the owners sees where that leads, and that it has ended.
        if !names.pictures.are_taken() {
            actions.write_batch(crumbs::show(&ctx, all, &open.timeline, &mut owners, &mut names.selection.reborrow()));
        }
    }
    names.pane.rect = Some(all);
    let layer = egui::LayerId::new(egui::Order::Background, "labels".into());
    let painter = ctx.layer_painter(layer).with_clip_rect(free);
    if names.beside_each_other(&painter, free) {
        // Nothing is drawn behind caption and legend.
        let aside = all.with_max_x(free.left());
        ctx.layer_painter(layer).rect_filled(aside, 0.0, theme::SOLID);
        lost_hint(&painter, free, &names);
        names.tooltip(&ctx, &document, &pointer);
        return;
    }
    names.rig.set_pane(all, free);
    names.paint(&painter, all);
    lost_hint(&painter, free, &names);
    names.tooltip(&ctx, &document, &pointer);
}

/// Says how the city comes back where nothing of it is in sight.
fn lost_hint(painter: &egui::Painter, rect: egui::Rect, names: &Names<'_>) {
    if names.shown.0.is_none() || names.rig.sees_city() {
        return;
    }
    let text = format!("The city is out of sight.  {}  brings it back", keys::key(Action::Reset));
    let galley = painter.layout_no_wrap(text, egui::FontId::proportional(15.0), theme::TEXT);
    let plate = egui::Rect::from_center_size(rect.center(), galley.size() + egui::vec2(28.0, 18.0));
    let stroke = egui::Stroke::new(1.0, theme::ACCENT);
    painter.rect(plate, 8.0, theme::SOLID, stroke, egui::StrokeKind::Inside);
    painter.galley(plate.center() - galley.size() / 2.0, galley, theme::TEXT);
}

impl Names<'_> {
    /// The lines at the top: the shown part of the heap, and the search. `card` is there already.
    fn top_lines(&mut self, ctx: &egui::Context, pane: egui::Rect, card: Option<egui::Rect>) {
        self.texts.lines = None;
        let Some(city) = &self.shown.0 else { return };
        let time = self.clock.time;
        let mut filter = self.filter.clone();
        let count = *self.count;
        let lines = drill::TopLines { city, search: &self.search, filter: &mut filter, time, count };
        let (back, place) = drill::show(ctx, pane, card, &self.settings, lines);
        self.texts.lines = place;
        if *self.filter != filter {
            *self.filter = filter;
        }
        if let Some(left) = back {
            self.settings.parts.truncate(left);
            tracing::debug!("part: {left} left");
        }
    }

    /// Paints the names of the city that lies in `all` where the painter may paint.
    fn paint(&mut self, painter: &egui::Painter, all: egui::Rect) {
        self.texts.names.clear();
        let clip_from_world = self.rig.clip_from_world();
        let pointer = painter.ctx().pointer_latest_pos();
        if !self.settings.labels {
            // What somebody points at is told all the same.
            let canvas = labels::Canvas { painter, picture: all, clip_from_world, pointer, covered: &[] };
            self.texts.ends = ends(&canvas, &self.cones);
            return;
        }
        let ticks = self.shown.0.as_ref().map(|city| axis::paint(painter, city, self.rig.clip_from_world(), all));
        let connected = self.connected();
        let drawn = self.routes.0.as_ref().zip(self.ways.found());
        let roots = drawn.map(|(routes, found)| routes::root_names(routes, found)).unwrap_or_default();
        let Some(city) = self.shown.0.as_mut() else { return };
        let time = self.clock.time.min(city.times().saturating_sub(1));
        let states = city.states(time);
        let city: &City = city;
        let standing = |plot: usize| states.get(plot).map(|s| city.appearance.standing(s)).unwrap_or_default();
        // Where something is looked for, what is found has names.
        let found = self.search.found();
        let shows = |node: &NodeId| self.search.shows(*node);
        let room = painter.clip_rect().size();
        let look = labels::NameLook { most: self.settings.names_in(room.x * room.y), scale: self.settings.name_size };
        let most = city.growing.len().min(self.settings.solid_count);
        let node_of = |plot: usize| city.plan.building(plot);
        // More than there is room for: some are hidden, some in each other's way.
        // Where libraries are folded, their buildings count with their districts; what somebody asks for has a name all the same.
        let folded = self.settings.fold_libraries && city.nameable.knows_own();
        let told = |node: &NodeId| !folded || city.plan.plot_of(*node).is_some_and(|plot| city.nameable.is_own(plot));
        // Beside a selection and its connections, what merely stands there has none.
        let relevant = match self.selection.node() {
            None => city.nameable.relevant(&city.plan, &city.timeline, time, 3 * look.most, folded),
            Some(_) => Vec::new(),
        };
        let leaves = found.iter().flat_map(|found| &found.nodes).copied().filter(|&node| city.timeline.is_leaf(node));
        let found_first = leaves.take(2 * look.most);
        let wanted = labels::Wanted {
            selected: self.selection.nodes().take(MOST_NAMED).collect(),
            marked: self.marks.nodes().iter().copied().take(MOST_NAMED).collect(),
            connected,
            growing: city.growing[..most].iter().copied().filter(|node| shows(node) && told(node)).collect(),
            relevant: found_first.chain(relevant.into_iter().filter_map(node_of)).filter(shows).collect(),
            roots,
        };
        let texts = &mut *self.texts;
        let written_for = (city.layout, time, wanted);
        if texts.written.as_ref().is_none_or(|(of, _)| *of != written_for) {
            let labels = labels::collect(city, &standing, &written_for.2);
            texts.written = Some((written_for, labels));
            texts.writings += 1;
        }
        let labels = texts.written.as_ref().map_or(&[][..], |(_, labels)| labels);
        let eye = self.rig.eye();
        let hidden = |label: &labels::Label, at: Vec3| {
            let before = city.appearance.pick(&city.plan, standing, eye, at - eye);
            before.is_some_and(|hit| {
                let own = match hit.target {
                    HitTarget::Plot(plot) => city.target_of_plot(plot) == label.target,
                    HitTarget::District(_) => false,
                };
                hit.distance < 0.985 && !own
            })
        };
        let mut covered = labels::covered(painter.ctx(), painter.clip_rect());
        covered.extend(ticks.unwrap_or_default());
        let canvas = labels::Canvas { painter, picture: all, clip_from_world, pointer, covered: &covered };
        // While something moves names stay what they are as far as they can. At rest they are placed anew where the camera, the
        // time or what is over the city are other ones: what is shown then does not depend on the way there.
        let pose = self.rig.pose;
        let jumped = texts.jumps != self.rig.jumps();
        let still = texts.last_pose == Some(pose);
        let placed_for = (texts.writings, covered.clone());
        let other = !self.clock.playing && texts.placed_for.as_ref() != Some(&placed_for);
        let rests = still && (other || texts.placed_from.is_some_and(|from| is_elsewhere(&from, &pose)));
        if jumped || rests {
            texts.shown = ShownNames::default();
            texts.placed_from = Some(pose);
            texts.placed_for = Some(placed_for);
        }
        texts.jumps = self.rig.jumps();
        texts.placed_from.get_or_insert(pose);
        texts.last_pose = Some(pose);
        texts.ends = ends(&canvas, &self.cones);
        texts.names = labels::paint(&canvas, city, labels, look, &mut texts.shown, hidden);
        texts.names_in = city.layout;
        if still && tracing::enabled!(tracing::Level::DEBUG) && texts.told != texts.names {
            let place = |spot: &labels::NameSpot| {
                let (key, at) = match spot.named {
                    labels::Named::Group(Target::Node(node)) => (city.timeline.key(node), spot.rect.center()),
                    labels::Named::Group(Target::More(_)) | labels::Named::Rest(..) => return None,
                };
                Some(format!("{} {:.0},{:.0}", key.replace([';', ']'], "_"), at.x, at.y))
            };
            tracing::debug!("names at [{}]", texts.names.iter().filter_map(place).collect::<Vec<_>>().join("; "));
            let many = |spot: &labels::NameSpot| {
                let (what, node) = match spot.named {
                    labels::Named::Group(Target::More(node)) => ("more", node),
                    labels::Named::Rest(node, _) => ("rest", node),
                    labels::Named::Group(Target::Node(_)) => return None,
                };
                let (key, at) = (city.timeline.key(node).replace([';', ']'], "_"), spot.rect.center());
                Some(format!("{what}:{key} {:.0},{:.0}", at.x, at.y))
            };
            tracing::debug!("many at [{}]", texts.names.iter().filter_map(many).collect::<Vec<_>>().join("; "));
            texts.told.clone_from(&texts.names);
        }
    }

    /// Groups on the ways, or at the ends of the selection's cones.
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

    /// Several times, where they are wanted.
    fn beside_each_other(&mut self, painter: &egui::Painter, free: egui::Rect) -> bool {
        let Some(city) = self.shown.0.as_ref().filter(|_| self.settings.multiples > 1) else {
            self.multiples.0.clear();
            return false;
        };
        // There are none, and none is in the way.
        self.texts.names.clear();
        let any = multiples::lay_out(&mut self.multiples, &mut self.rig, city, &self.settings, painter, free);
        let references = if self.routes.0.is_some() { Some(self.clock.time) } else { self.cones.time };
        if let Some(of) = references.filter(|_| any && (self.count.drawn > 0 || self.routes.0.is_some())) {
            match self.multiples.0.iter().find(|cell| cell.time == of) {
                Some(cell) => {
                    let (picture, clip_from_world) = (cell.rect, self.rig.clip_from_world());
                    let painter = &painter.with_clip_rect(picture);
                    let canvas = labels::Canvas { painter, picture, clip_from_world, pointer: None, covered: &[] };
                    self.texts.ends = ends(&canvas, &self.cones);
                }
                None => multiples::tell_of_references(painter, free, of, city.times()),
            }
        }
        any
    }

    fn tooltip(&self, ctx: &egui::Context, document: &Document, pointer: &Pointer) {
        let over = pointer.over.filter(|_| !self.rig.dragging());
        let layout = self.shown.0.as_ref().map_or(0, |city| city.layout);
        let named = over.and_then(|at| self.texts.named_at(egui::pos2(at.x, at.y), layout));
        if let (Some(city), Some(at), Some(cone)) =
            (&self.shown.0, over, self.cones.hovered.and_then(|at| self.cones.cones.get(at)))
        {
            let selected = self.selection.node();
            let ends: Vec<egui::Rect> = self.texts.ends.into_iter().flatten().collect();
            tooltip::reference(ctx, city, cone, selected, egui::pos2(at.x, at.y), &ends);
            return;
        }
        if let (Some(city), Some(at), Some(labels::Named::Rest(node, rest))) = (&self.shown.0, over, named) {
            tooltip::unnamed(ctx, &city.timeline, node, rest, egui::pos2(at.x, at.y));
            return;
        }
        if let (Some(city), Some(target), Some(at), Some(_)) =
            (&self.shown.0, self.pointing.hovered, over, document.get())
        {
            let time = pointer.spot.and_then(|spot| spot.time).unwrap_or(self.clock.time);
            tooltip::show(ctx, city, time, target, egui::pos2(at.x, at.y));
        }
    }
}
