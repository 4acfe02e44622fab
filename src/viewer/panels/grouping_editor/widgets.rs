//! Widgets that several pages of the editor share: cards, badges, small painted buttons.

use super::theme;
use bevy_egui::egui::{self, Color32, CornerRadius, Margin, Response, RichText, Sense, Stroke, Ui, UiBuilder, vec2};

/// Background of slightly raised parts: cards, the line at the bottom.
pub const RAISED: Color32 = Color32::from_rgb(21, 28, 43);
/// Background of the same parts under the mouse.
const LIT: Color32 = Color32::from_rgb(29, 39, 59);
/// Lines around cards.
const LINE: Color32 = Color32::from_rgb(44, 55, 78);

/// A frame that only keeps its distance.
pub fn margin(x: i8, y: i8) -> egui::Frame {
    egui::Frame::new().inner_margin(Margin::symmetric(x, y))
}

/// How a card looks.
#[derive(Clone, Copy, Default)]
pub struct CardLook {
    /// Whether it is shown or edited.
    pub chosen: bool,
    /// It cannot be used now.
    pub disabled: bool,
}

/// A card that can be clicked and dragged; buttons in it come first.
pub fn card(ui: &mut Ui, id: egui::Id, look: CardLook, add: impl FnOnce(&mut Ui)) -> Response {
    let sense = if look.disabled { Sense::hover() } else { Sense::click_and_drag() };
    // Columns would justify the lines.
    let layout = egui::Layout::top_down(egui::Align::Min);
    let inner = ui.scope_builder(UiBuilder::new().id_salt(id).sense(sense).layout(layout), |ui| {
        let response = ui.response();
        let lit = response.hovered() && !look.disabled;
        let stroke = match () {
            () if look.chosen || response.has_focus() => Stroke::new(1.0, theme::ACCENT),
            () => Stroke::new(1.0, LINE),
        };
        egui::Frame::new()
            .fill(if lit { LIT } else { RAISED })
            .stroke(stroke)
            .corner_radius(CornerRadius::same(6))
            .inner_margin(Margin::symmetric(10, 7))
            .show(ui, |ui| {
                ui.set_width(ui.available_width());
                ui.spacing_mut().item_spacing.y = 3.0;
                add(ui);
            });
    });
    inner.response
}

/// A word in a box: the kind of a thing.
pub fn badge(ui: &mut Ui, text: &str, colour: Color32) {
    egui::Frame::new()
        .stroke(Stroke::new(1.0, colour.gamma_multiply(0.6)))
        .corner_radius(CornerRadius::same(3))
        .inner_margin(Margin::symmetric(4, 0))
        .show(ui, |ui| {
            ui.add(egui::Label::new(RichText::new(text).size(10.5).color(colour)).selectable(false));
        });
}

/// A text that the mouse does not select: clicks and drags are for the card under it.
pub fn plain(ui: &mut Ui, text: RichText) -> Response {
    ui.add(egui::Label::new(text).selectable(false))
}

/// The same, in as many lines as it needs.
pub fn lines(ui: &mut Ui, text: RichText) -> Response {
    ui.add(egui::Label::new(text).selectable(false).wrap())
}

/// The same, cut where there is no more room.
pub fn cut(ui: &mut Ui, text: RichText) -> Response {
    ui.add(egui::Label::new(text).selectable(false).truncate())
}

fn painted(ui: &mut Ui, side: f32, enabled: bool, shape: impl Fn(egui::Rect, Stroke) -> Vec<egui::Shape>) -> Response {
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), sense);
    let colour = match (enabled, response.hovered()) {
        (false, _) => theme::QUIET.gamma_multiply(0.35),
        (true, false) => theme::QUIET,
        (true, true) => theme::TEXT,
    };
    if enabled && (response.hovered() || response.has_focus()) {
        ui.painter().rect_filled(rect, 4.0, LIT);
    }
    ui.painter().extend(shape(rect.shrink(side * 0.3), Stroke::new(1.5, colour)));
    response
}

/// A button that takes away or closes.
pub fn cross(ui: &mut Ui, side: f32) -> Response {
    painted(ui, side, true, |r, stroke| {
        vec![
            egui::Shape::line_segment([r.left_top(), r.right_bottom()], stroke),
            egui::Shape::line_segment([r.right_top(), r.left_bottom()], stroke),
        ]
    })
}

/// A button that moves up or down.
pub fn arrow(ui: &mut Ui, side: f32, up: bool, enabled: bool) -> Response {
    painted(ui, side, enabled, |r, stroke| {
        let r = r.shrink2(vec2(0.0, r.height() * 0.2));
        let (tip, foot) = if up { (r.top(), r.bottom()) } else { (r.bottom(), r.top()) };
        let points = [egui::pos2(r.left(), foot), egui::pos2(r.center().x, tip), egui::pos2(r.right(), foot)];
        vec![egui::Shape::line(points.to_vec(), stroke)]
    })
}

/// A button that adds.
pub fn plus(ui: &mut Ui, side: f32, enabled: bool) -> Response {
    painted(ui, side, enabled, |r, stroke| {
        vec![
            egui::Shape::line_segment([r.center_top(), r.center_bottom()], stroke),
            egui::Shape::line_segment([r.left_center(), r.right_center()], stroke),
        ]
    })
}

/// Six dots: here something can be taken hold of.
pub fn grip(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(10.0, 16.0), Sense::hover());
    for x in [-2.5, 2.5] {
        for y in [-5.0, 0.0, 5.0] {
            ui.painter().circle_filled(rect.center() + vec2(x, y), 1.3, theme::QUIET);
        }
    }
}

/// The main button of a place.
pub fn main_button(text: &str) -> egui::Button<'_> {
    egui::Button::new(RichText::new(text).color(Color32::WHITE)).fill(Color32::from_rgb(36, 92, 176))
}
