//! Names in the city: the selected building, what it is connected to, the strongest growth, and the districts.
//!
//! Names never cover each other: the most important come first, a name without room is left out.

use super::laid_out::City;
use crate::viewer::panels::theme;
use crate::viewer::selection::Target;
use bevy_egui::egui::{self, Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, StrokeKind};
use glam::{Mat4, Vec3};
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::{PlotKind, Standing};

/// A name and where it wants to stand.
pub struct Label {
    /// World position of its foot.
    pub at: Vec3,
    /// What it names.
    pub target: Target,
    /// The name.
    pub text: String,
    /// How it is painted.
    pub style: Style,
}

/// Looks of names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// The selected building.
    Selected,
    /// A building a cone leads to or from.
    Connected,
    /// A building that is opaque because it grows.
    Growing,
    /// A GC root, above what it holds.
    Root,
    /// A district, on its ground.
    District,
}

/// The groups whose names are wanted, besides districts.
pub struct Wanted {
    /// Selected.
    pub selected: Vec<NodeId>,
    /// Marked.
    pub marked: Vec<NodeId>,
    /// At the other ends of cones.
    pub connected: Vec<NodeId>,
    /// Opaque because they grow.
    pub growing: Vec<NodeId>,
    /// Roots that hold something: where they stand, what they hold and how they are called.
    pub roots: Vec<(Vec3, NodeId, String)>,
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
            if standing.side <= 0.0 {
                return None;
            }
            let y = p.ground + f64::from(standing.height);
            return Some(Vec3::new((p.cell.x + p.cell.w / 2.0) as f32, y as f32, (p.cell.y + p.cell.h / 2.0) as f32));
        }
        let district = &city.plan.districts[city.plan.district_of(node)?];
        let cell = &district.cell;
        Some(Vec3::new((cell.x + cell.w / 2.0) as f32, district.top as f32, (cell.y + cell.h) as f32))
    };
    let all = wanted.selected.iter().chain(&wanted.marked).chain(&wanted.connected).chain(&wanted.growing);
    let named: Vec<NodeId> = all.copied().collect();
    let named: std::collections::HashMap<NodeId, String> =
        named.iter().copied().zip(timeline.names_apart(&named)).collect();
    let mut add = |node: NodeId, style: Style| {
        if seen.insert(node)
            && let Some(at) = roof(node)
        {
            let name = named.get(&node).cloned().unwrap_or_else(|| timeline.display_name(node));
            labels.push(Label { at, target: Target::Node(node), text: theme::brief(&name), style });
        }
    };
    for &node in &wanted.selected {
        add(node, Style::Selected);
    }
    for &node in wanted.marked.iter().chain(&wanted.connected) {
        add(node, Style::Connected);
    }
    for &node in &wanted.growing {
        add(node, Style::Growing);
    }
    for &district in &city.named_districts {
        add(district, Style::District);
    }
    for &plot in &city.named_mores {
        let plot = &city.plan.plots[plot];
        if let PlotKind::More { parent, count } = plot.kind {
            let (x, z) = plot.cell.centre();
            let at = Vec3::new(x as f32, plot.ground as f32, z as f32);
            let text = format!("{count} more");
            labels.push(Label { at, target: Target::More(parent), text, style: Style::District });
        }
    }
    let roots = wanted.roots.iter().map(|(at, node, text)| Label {
        at: *at,
        target: Target::Node(*node),
        text: text.clone(),
        style: Style::Root,
    });
    let first = labels.iter().take_while(|label| label.style == Style::Selected).count();
    labels.splice(first..first, roots);
    labels
}

/// Paints the names of the city whose picture lies in `picture` into what `painter` may paint on.
///
/// `hidden` says whether something else stands before a named building or district: its name is left out then, unless
/// it is selected or connected to the selection.
pub fn paint(
    painter: &Painter,
    labels: &[Label],
    clip_from_world: Mat4,
    picture: Rect,
    hidden: impl Fn(&Label) -> bool,
) {
    let mut taken: Vec<Rect> = Vec::new();
    let free = painter.clip_rect();
    for label in labels {
        let clip = clip_from_world * label.at.extend(1.0);
        if clip.w <= 0.05 {
            continue;
        }
        let ndc = clip.truncate() / clip.w;
        let at = Pos2::new(
            picture.left() + (ndc.x * 0.5 + 0.5) * picture.width(),
            picture.top() + (0.5 - ndc.y * 0.5) * picture.height(),
        );
        if !free.contains(at) || (matches!(label.style, Style::District | Style::Growing) && hidden(label)) {
            continue;
        }
        let (size, colour, lift) = match label.style {
            Style::Selected => (14.0, Color32::WHITE, 22.0),
            Style::Connected => (12.0, Color32::from_rgb(226, 232, 244), 15.0),
            Style::Root => (12.5, Color32::from_rgb(28, 22, 0), 4.0),
            Style::Growing => (12.5, Color32::from_rgb(255, 240, 224), 16.0),
            Style::District => (11.0, Color32::from_rgb(198, 214, 240), -3.0),
        };
        let most = if label.style == Style::Root { 60 } else { 34 };
        let text = theme::shortened(&label.text, most);
        let galley = painter.layout_no_wrap(text, FontId::proportional(size), colour);
        let foot = at - egui::vec2(0.0, lift);
        let anchor = if label.style == Style::District { Align2::CENTER_TOP } else { Align2::CENTER_BOTTOM };
        let rect = anchor.anchor_size(foot, galley.size() + egui::vec2(8.0, 2.0));
        if taken.iter().any(|other| other.intersects(rect)) {
            continue;
        }
        taken.push(rect.expand(2.0));
        if label.style == Style::District {
            // On the ground: no plate, a dark rim for contrast.
            for offset in [egui::vec2(1.0, 1.0), egui::vec2(-1.0, 1.0), egui::vec2(1.0, -1.0), egui::vec2(-1.0, -1.0)] {
                let rim = painter.layout_no_wrap(
                    theme::shortened(&label.text, 34),
                    FontId::proportional(size),
                    Color32::from_black_alpha(150),
                );
                painter.galley(rect.min + egui::vec2(4.0, 1.0) + offset, rim, Color32::BLACK);
            }
        } else {
            painter.line_segment([at, foot], Stroke::new(1.0, colour.gamma_multiply(0.7)));
            let fill = match label.style {
                Style::Selected => Color32::from_rgb(28, 84, 168),
                Style::Root => theme::ROUTE,
                _ => Color32::from_rgb(12, 16, 26),
            };
            painter.rect(rect, 4.0, fill, Stroke::new(1.0, Color32::from_white_alpha(40)), StrokeKind::Inside);
        }
        painter.galley(rect.min + egui::vec2(4.0, 1.0), galley, colour);
    }
}
