//! Names in the city: of the selection and its connections, of districts on their floors, of the most relevant buildings.
//! [`memory_city_views::city`] chooses and places them; here they are worded, measured and painted.
//!
//! Names never cover each other or the cards over the city. A building without a name is counted at its district.

use crate::viewer::city::City;
use crate::viewer::panels::theme;
use crate::viewer::selection::Target;
use bevy_egui::egui::{self, Align2, Color32, FontId, Galley, Painter, Pos2, Rect, Stroke, StrokeKind};
use glam::{Mat4, Vec2, Vec3};
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::{NameBox, NameWish, PlotKind, ShownNames, Standing, place_names};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

/// A name and its wanted place.
pub struct Label {
    /// World position of its foot.
    pub at: Vec3,
    /// The named thing.
    pub target: Target,
    /// The name.
    pub text: String,
    /// Look.
    pub style: Style,
}

/// Looks of names, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Style {
    /// The selected building.
    Selected,
    /// A GC root, above the objects that it holds.
    Root,
    /// A building a cone leads to or from, or a marked one.
    Connected,
    /// A district, on its floor.
    District,
    /// A building that is opaque because it grows.
    Growing,
    /// Groups that share a plot: a hatched one tells nothing by itself.
    More,
    /// Another building that matters.
    Building,
}

/// The groups whose names are wanted, besides districts.
#[derive(Clone, PartialEq, Default)]
pub struct Wanted {
    /// Selected.
    pub selected: Vec<NodeId>,
    /// Marked.
    pub marked: Vec<NodeId>,
    /// Groups at the other ends of cones.
    pub connected: Vec<NodeId>,
    /// Opaque because they grow.
    pub growing: Vec<NodeId>,
    /// The most relevant buildings.
    pub relevant: Vec<NodeId>,
    /// Roots that hold something: place, held group and name.
    pub roots: Vec<(Vec3, NodeId, String)>,
}

/// Target of a click on a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The name of a group.
    Group(Target),
    /// The number of buildings of a district that have no name.
    Rest(NodeId, u64),
}

/// A name on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameSpot {
    /// In the window, points.
    pub rect: Rect,
    /// Target of a click on it.
    pub named: Named,
}

/// How names are drawn, as a person has set it.
#[derive(Clone, Copy)]
pub struct NameLook {
    /// Greatest number of names.
    pub most: usize,
    /// Their size, 1 for the usual one.
    pub scale: f32,
}

/// The names of a city, most important first.
pub fn collect(city: &City, standing: &impl Fn(usize) -> Standing, wanted: &Wanted) -> Vec<Label> {
    let mut labels = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let timeline = &city.timeline;
    let roof = |node: NodeId| -> Option<Vec3> {
        if let Some(plot) = city.plan.plot_of(node) {
            if city.target_of_plot(plot) != Target::Node(node) {
                return None;
            }
            let p = &city.plan.plots[plot];
            let standing = standing(plot);
            return (standing.side > 0.0).then(|| p.cell.centre_at(p.ground() + f64::from(standing.height)));
        }
        let district = &city.plan.districts[city.plan.district_of(node)?];
        let cell = &district.cell;
        Some(Vec3::new((cell.x + cell.w / 2.0) as f32, district.top as f32, (cell.y + cell.h) as f32))
    };
    let buildings = wanted.growing.iter().chain(&wanted.relevant);
    let all = wanted.selected.iter().chain(&wanted.marked).chain(&wanted.connected).chain(buildings);
    let named: Vec<NodeId> = all.copied().collect();
    let named: std::collections::HashMap<NodeId, String> =
        named.iter().copied().zip(timeline.names_apart(&named)).collect();
    let mut add = |labels: &mut Vec<Label>, node: NodeId, style: Style| {
        if seen.insert(node)
            && let Some(at) = roof(node)
        {
            let name = named.get(&node).cloned().unwrap_or_else(|| timeline.display_name(node));
            // The name of a package tells nothing without what it begins with.
            let text = if style == Style::District { name } else { theme::brief(&name) };
            labels.push(Label { at, target: Target::Node(node), text, style });
        }
    };
    let first: [(&[NodeId], Style); 5] = [
        (&wanted.selected, Style::Selected),
        (&wanted.marked, Style::Connected),
        (&wanted.connected, Style::Connected),
        (&city.named_districts, Style::District),
        (&wanted.growing, Style::Growing),
    ];
    for (nodes, style) in first {
        nodes.iter().for_each(|&node| add(&mut labels, node, style));
    }
    for &plot in &city.named_mores {
        let (kind, plot) = (city.plan.kind(plot), &city.plan.plots[plot]);
        if let PlotKind::More { parent, count } = kind {
            let at = plot.cell.centre_at(plot.ground());
            let text = format!("{} more", count_text(u64::from(count)));
            labels.push(Label { at, target: Target::More(parent), text, style: Style::More });
        }
    }
    wanted.relevant.iter().for_each(|&node| add(&mut labels, node, Style::Building));
    labels.extend(wanted.roots.iter().map(|(at, node, text)| Label {
        at: *at,
        target: Target::Node(*node),
        text: text.clone(),
        style: Style::Root,
    }));
    labels
}

/// The picture that names are painted over.
pub struct Canvas<'a> {
    /// Paints, where names are allowed.
    pub painter: &'a Painter,
    /// Rectangle of the picture in the window.
    pub picture: Rect,
    /// World to clip space.
    pub clip_from_world: Mat4,
    /// Position of the mouse.
    pub pointer: Option<Pos2>,
    /// Rectangles that names keep clear of.
    pub covered: &'a [Rect],
}

impl Canvas<'_> {
    /// Position of a world point in the window; `None` behind the eye.
    fn on_screen(&self, at: Vec3) -> Option<Pos2> {
        let clip = self.clip_from_world * at.extend(1.0);
        if clip.w <= 0.05 {
            return None;
        }
        let ndc = clip.truncate() / clip.w;
        Some(Pos2::new(
            self.picture.left() + (ndc.x * 0.5 + 0.5) * self.picture.width(),
            self.picture.top() + (0.5 - ndc.y * 0.5) * self.picture.height(),
        ))
    }

    /// A number at a place of the world, over everything there. Returns its rectangle.
    pub fn tag(&self, at: Vec3, text: &str, colour: Color32) -> Option<Rect> {
        let foot = self.on_screen(at)?;
        let galley = self.painter.layout_no_wrap(text.to_owned(), FontId::proportional(13.0), colour);
        let rect = Align2::CENTER_TOP.anchor_size(foot + egui::vec2(0.0, 4.0), galley.size() + 2.0 * PAD);
        self.painter.rect(rect, 4.0, theme::SOLID, Stroke::new(1.0, colour), StrokeKind::Inside);
        self.painter.galley(rect.min + PAD, galley, colour);
        Some(rect)
    }

    /// The edge of a district's floor that is lowest in the picture: its middle, and how wide it looks.
    fn front_edge(&self, city: &City, node: NodeId) -> Option<(Vec3, Pos2, f32)> {
        let district = &city.plan.districts[city.plan.district_of(node)?];
        let (c, y) = (&district.cell, district.top as f32);
        let corner = |x: f64, z: f64| Vec3::new(x as f32, y, z as f32);
        let ring = [corner(c.x, c.y), corner(c.x + c.w, c.y), corner(c.x + c.w, c.y + c.h), corner(c.x, c.y + c.h)];
        let edges = (0..4).filter_map(|i| {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            let (from, to) = (self.on_screen(a)?, self.on_screen(b)?);
            let middle = (a + b) / 2.0;
            Some((middle, self.on_screen(middle)?, (from.x - to.x).abs()))
        });
        edges.max_by(|a, b| (a.1.y).total_cmp(&b.1.y))
    }
}

/// Room inside a plate around its text, points.
const PAD: egui::Vec2 = egui::vec2(5.0, 1.5);
/// Letters of a name.
const LETTERS: usize = 34;
/// A district's name that has room for fewer is left out.
const FEWEST: usize = 8;
/// Letters of the name of a root.
const ROOT_LETTERS: usize = 60;
/// Room between the name of a district and the number of buildings without one.
const BADGE_GAP: f32 = 5.0;

/// A label that could be shown: measured.
struct Measured<'a> {
    label: &'a Label,
    /// Anchor point, in the window.
    foot: Pos2,
    /// World point that must be visible.
    seen_at: Vec3,
    galley: Arc<Galley>,
}

fn id_of(target: Target, style: Style) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (target, style == Style::Root).hash(&mut hasher);
    hasher.finish()
}

fn look_of(style: Style) -> (f32, Color32) {
    match style {
        Style::Selected => (14.0, Color32::WHITE),
        Style::Root => (12.5, Color32::from_rgb(28, 22, 0)),
        Style::Connected => (12.0, Color32::from_rgb(226, 232, 244)),
        Style::Growing => (12.5, Color32::from_rgb(255, 236, 216)),
        Style::Building => (12.0, Color32::from_rgb(226, 230, 238)),
        Style::District => (12.0, Color32::from_rgb(176, 206, 255)),
        Style::More => (11.0, Color32::from_rgb(196, 206, 224)),
    }
}

/// Lifts of a name above its roof, in heights of its text, the best one first.
const LIFTS: [f32; 3] = [0.7, 1.8, 2.9];

fn measure<'a>(canvas: &Canvas<'_>, city: &City, label: &'a Label, look: NameLook, badge: f32) -> Option<Measured<'a>> {
    let (size, colour) = look_of(label.style);
    // Whole points: every size is a set of letters of its own.
    let font = FontId::proportional((size * look.scale * 2.0).round() / 2.0);
    let lay_out = |text: String| canvas.painter.layout_no_wrap(text, font.clone(), colour);
    if label.style != Style::District {
        let most = if label.style == Style::Root { ROOT_LETTERS } else { LETTERS };
        let foot = canvas.on_screen(label.at)?;
        return Some(Measured { label, foot, seen_at: label.at, galley: lay_out(theme::shortened(&label.text, most)) });
    }
    let Target::Node(node) = label.target else { return None };
    let (middle, foot, width) = canvas.front_edge(city, node)?;
    let room = width - badge - 2.0 * PAD.x;
    let letters = (room / (0.52 * font.size)).max(0.0) as usize;
    let short = label.text.chars().count() <= letters;
    if letters < FEWEST && !short {
        return None;
    }
    let galley = lay_out(theme::shortened(&label.text, letters.min(2 * LETTERS)));
    (galley.size().x <= room + 4.0).then_some(Measured { label, foot, seen_at: middle, galley })
}

fn wish(measured: &Measured<'_>, badge: f32) -> NameWish {
    let Measured { label, foot, galley, .. } = measured;
    let size = galley.size() + 2.0 * PAD;
    let boxed = |rect: Rect| NameBox::new(Vec2::new(rect.min.x, rect.min.y), Vec2::new(rect.width(), rect.height()));
    let boxes = match label.style {
        Style::District => {
            let size = size + egui::vec2(badge, 0.0);
            let at = |down: f32| boxed(Align2::CENTER_CENTER.anchor_size(*foot + egui::vec2(0.0, down * size.y), size));
            vec![at(0.0), at(0.6)]
        }
        Style::More => vec![boxed(Align2::CENTER_CENTER.anchor_size(*foot, size))],
        _ => LIFTS
            .iter()
            .map(|lift| boxed(Align2::CENTER_BOTTOM.anchor_size(*foot - egui::vec2(0.0, lift * size.y), size)))
            .collect(),
    };
    NameWish { id: id_of(label.target, label.style), tier: label.style as u8, boxes }
}

/// Paints the names of a city, and says where they are.
///
/// `hidden` says whether another thing hides a named building or district: its name is left out then, unless it is selected or connected
/// to the selection.
pub fn paint(
    canvas: &Canvas<'_>,
    city: &City,
    labels: &[Label],
    look: NameLook,
    shown: &mut ShownNames,
    hidden: impl Fn(&Label, Vec3) -> bool,
) -> Vec<NameSpot> {
    let painter = canvas.painter;
    let small = FontId::proportional((10.5 * look.scale * 2.0).round() / 2.0);
    let count = |n: u64| painter.layout_no_wrap(format!("+{}", count_text(n)), small.clone(), theme::ACCENT);
    // Room for whatever number comes: it is known once all names have their places.
    let badge = count(city.plan.plots.len() as u64).size().x + BADGE_GAP;
    let free = painter.clip_rect();
    let measured: Vec<Measured<'_>> =
        labels.iter().filter_map(|label| measure(canvas, city, label, look, badge)).collect();
    let measured: Vec<Measured<'_>> = measured.into_iter().filter(|m| free.contains(m.foot)).collect();
    let wishes: Vec<NameWish> = measured.iter().map(|m| wish(m, badge)).collect();
    let boxed = |rect: Rect| NameBox { min: Vec2::new(rect.min.x, rect.min.y), max: Vec2::new(rect.max.x, rect.max.y) };
    let covered: Vec<NameBox> = canvas.covered.iter().copied().map(boxed).collect();
    let in_sight = |at: usize| {
        let m = &measured[at];
        m.label.style <= Style::Connected || !hidden(m.label, m.seen_at)
    };
    let (placed, now) = place_names(&wishes, &boxed(free), &covered, shown, look.most, in_sight);
    *shown = now;
    let plots: Vec<usize> = placed.iter().filter_map(|&(at, _)| city.plot_of(measured[at].label.target)).collect();
    let district = |at: usize| match measured[at].label {
        Label { style: Style::District, target: Target::Node(node), .. } => city.plan.district_of(*node),
        _ => None,
    };
    let districts: Vec<usize> = placed.iter().filter_map(|&(at, _)| district(at)).collect();
    let unnamed = city.nameable.unnamed(&city.plan, &plots, &districts);
    let mut spots = Vec::new();
    // The most important on top.
    for &(at, place) in placed.iter().rev() {
        let b = &wishes[at].boxes[place];
        let rect = Rect::from_min_max(Pos2::new(b.min.x, b.min.y), Pos2::new(b.max.x, b.max.y));
        let rest = district(at).and_then(|d| unnamed.iter().find(|(of, _)| *of == Some(d))).map_or(0, |(_, n)| *n);
        plate(canvas, &measured[at], rect, (rest > 0).then(|| (rest, count(rest))), badge, &mut spots);
    }
    if let Some((_, rest)) = unnamed.iter().find(|(of, rest)| of.is_none() && *rest > 0) {
        let text = format!("{} buildings without a name", count_text(*rest));
        let galley = painter.layout_no_wrap(text, small.clone(), theme::QUIET);
        let (size, gap) = (galley.size(), theme::GAP);
        // Over no name and under no card; in the other corner where one stands in this one.
        let corners =
            [free.right_bottom() - size - egui::vec2(gap, gap), free.left_bottom() + egui::vec2(gap, -gap - size.y)];
        let is_free = |at: &Pos2| {
            let rect = Rect::from_min_size(*at, size);
            !covered.iter().any(|c| c.meets(&boxed(rect), 0.0)) && !spots.iter().any(|s| s.rect.intersects(rect))
        };
        if let Some(at) = corners.into_iter().find(is_free) {
            painter.galley(at, galley, theme::QUIET);
        }
    }
    spots
}

fn plate(
    canvas: &Canvas<'_>,
    measured: &Measured<'_>,
    rect: Rect,
    rest: Option<(u64, Arc<Galley>)>,
    badge: f32,
    spots: &mut Vec<NameSpot>,
) {
    let Measured { label, foot, galley, .. } = measured;
    let painter = canvas.painter;
    let colour = look_of(label.style).1;
    let is_district = label.style == Style::District;
    // Without a number the plate is as wide as its name, and in the middle.
    let rect = match (is_district, &rest) {
        (true, None) => Rect::from_center_size(rect.center(), rect.size() - egui::vec2(badge, 0.0)),
        (true, Some((_, number))) => {
            Rect::from_center_size(rect.center(), rect.size() - egui::vec2(badge - BADGE_GAP - number.size().x, 0.0))
        }
        (false, _) => rect,
    };
    let name = Rect::from_min_size(rect.min, galley.size() + 2.0 * PAD);
    let lit = canvas.pointer.is_some_and(|at| rect.contains(at));
    let fill = match label.style {
        Style::Selected => Color32::from_rgb(28, 84, 168),
        Style::Root => theme::ROUTE,
        Style::District => Color32::from_rgb(16, 34, 62),
        Style::More => Color32::from_rgba_premultiplied(20, 28, 44, 215),
        Style::Connected | Style::Growing | Style::Building => Color32::from_rgb(16, 20, 30),
    };
    let rim = if lit { Color32::WHITE } else { Color32::from_white_alpha(36) };
    if !matches!(label.style, Style::District | Style::More) {
        let end = Pos2::new(foot.x.clamp(rect.left() + 4.0, rect.right() - 4.0), rect.bottom());
        painter.line_segment([*foot, end], Stroke::new(1.0, colour.gamma_multiply(0.75)));
        painter.circle_filled(*foot, 1.6, colour);
    }
    let corners = if is_district { 2.0 } else { 4.0 };
    painter.rect(rect, corners, fill, Stroke::new(1.0, rim), StrokeKind::Inside);
    painter.galley(name.min + PAD, galley.clone(), colour);
    spots.push(NameSpot { rect: name, named: Named::Group(label.target) });
    if let (Some((rest, number)), Target::Node(node)) = (rest, label.target) {
        let at = Pos2::new(name.right() + BADGE_GAP - PAD.x, rect.center().y - number.size().y / 2.0);
        let number_rect = Rect::from_min_max(Pos2::new(name.right(), rect.top()), rect.max);
        let over = canvas.pointer.is_some_and(|pointer| number_rect.contains(pointer));
        painter.galley_with_override_text_color(at, number, if over { Color32::WHITE } else { theme::ACCENT });
        spots.push(NameSpot { rect: number_rect, named: Named::Rest(node, rest) });
    }
}

/// Rectangles over the city: cards, lines, lists. Names keep clear of them.
pub(super) fn covered(ctx: &egui::Context, free: Rect) -> Vec<Rect> {
    use egui::emath::GuiRounding as _;
    ctx.memory(|memory| {
        let layers = memory.areas().visible_layer_ids();
        let over =
            layers.into_iter().filter(|layer| matches!(layer.order, egui::Order::Middle | egui::Order::Foreground));
        let rects = over.filter_map(|layer| memory.area_rect(layer.id)).map(|rect| rect.round_ui());
        rects.filter(|rect| rect.intersects(free)).collect()
    })
}
