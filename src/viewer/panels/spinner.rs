//! The sign that work goes on. It asks for no frame: the worker reports itself ([`crate::viewer::frame::Awake::wait_if`]), and gets some
//! frames a second. egui's own spinner asks for as many as possible, which would slow down the work itself where the processor draws.

use super::theme;
use bevy_egui::egui::{self, Pos2, Rect, Sense, Stroke, WidgetInfo, WidgetType};
use std::f64::consts::TAU;

/// Turns a second: a tenth of one between two frames is seen as turning.
const SPEED: f64 = 0.8;
/// Points of the arc, which is three quarters of a circle.
const POINTS: u32 = 24;

/// Takes a square with sides of `size` points.
pub fn spinner(ui: &mut egui::Ui, size: f32) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(egui::Vec2::splat(size), Sense::hover());
    response.widget_info(|| WidgetInfo::new(WidgetType::ProgressIndicator));
    paint(ui, rect);
    response
}

/// The sign, and the work beside it: in as many lines as it takes.
pub fn working(ui: &mut egui::Ui, stage: &str) {
    ui.horizontal(|ui| {
        spinner(ui, 12.0);
        let text = egui::RichText::new(stage).size(11.0).color(theme::QUIET);
        ui.add(egui::Label::new(text).wrap());
    });
}

/// The sign where there is room already.
pub fn paint(ui: &egui::Ui, rect: Rect) {
    if !ui.is_rect_visible(rect) {
        return;
    }
    let width = (rect.height() / 9.0).max(1.5);
    let radius = rect.width().min(rect.height()) / 2.0 - width;
    let start = ui.input(|i| i.time) * SPEED * TAU;
    let point = |index: u32| -> Pos2 {
        let angle = (start + f64::from(index) / f64::from(POINTS) * 0.75 * TAU) as f32;
        rect.center() + radius * egui::Vec2::angled(angle)
    };
    let arc = (0..=POINTS).map(point).collect();
    ui.painter().add(egui::Shape::line(arc, Stroke::new(width, ui.visuals().strong_text_color())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_turns_and_asks_for_no_frame() {
        let ctx = egui::Context::default();
        let mut drawn = Vec::new();
        for frame in 0..20 {
            let input = egui::RawInput { time: Some(f64::from(frame) * 0.1), ..Default::default() };
            let output = ctx.run_ui(input, |ui| {
                spinner(ui, 12.0);
            });
            let arcs = output.shapes.iter().filter(|s| matches!(s.shape, egui::Shape::Path(_)));
            drawn.push(format!("{:?}", arcs.map(|s| &s.shape).collect::<Vec<_>>()));
            // egui itself draws a second time in the beginning.
            assert!(frame < 5 || !ctx.has_requested_repaint(), "frame {frame}");
        }
        assert!(drawn.windows(2).all(|two| two[0] != two[1] && two[1].contains("Path")), "{drawn:?}");
    }
}
