//! The look of the panels: colours, sizes, frames. One place, so that all panels look alike.

use super::glossary;
use crate::viewer::settings::Settings;
use bevy::prelude::{Query, Res};
use bevy_egui::EguiRenderOutput;
use bevy_egui::egui::epaint::Primitive;
use bevy_egui::egui::{self, Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle};
use memory_city_analysis::analyses::compare::GrowthOutcome;
use memory_city_analysis::timeline::{NodeId, Timeline};
pub use memory_city_analysis::timeline::{brief, shortened, worded};
use memory_city_views::city::{self, CityTheme};
use memory_city_views::overview::WindowKind;

/// Panel background. Nothing shines through: it would be text over text.
pub const PANEL: Color32 = Color32::from_rgb(13, 18, 28);
/// Background of parts over panels and over the city.
pub const SOLID: Color32 = Color32::from_rgb(14, 19, 30);
/// The colour of a comparison's outcome for the growth.
pub const fn outcome(outcome: Option<GrowthOutcome>) -> Color32 {
    match outcome {
        Some(GrowthOutcome::Fixed) => OUTGOING,
        Some(GrowthOutcome::Less) => WARNING,
        Some(GrowthOutcome::Remains | GrowthOutcome::Worse | GrowthOutcome::New) => GROWTH,
        Some(GrowthOutcome::NoGrowth | GrowthOutcome::Unknown) | None => TEXT,
    }
}

/// The colour of a suspicious window of time, in every chart.
pub const fn suspect(kind: WindowKind) -> Color32 {
    match kind {
        WindowKind::Leak | WindowKind::SteepestLeak => ERROR,
        WindowKind::Overhead => WARNING,
        WindowKind::Churn => INCOMING,
    }
}

/// The tab in front: of the same colour as its view.
pub const TAB: Color32 = Color32::from_rgb(32, 42, 62);
/// Text that matters.
pub const TEXT: Color32 = Color32::from_rgb(232, 236, 244);
/// Text beside it. 4.5:1 on the panel at least.
pub const QUIET: Color32 = Color32::from_rgb(158, 169, 190);
/// Controls and the selection: the blue of the selected building.
pub const ACCENT: Color32 = Color32::from_rgb(86, 156, 255);
/// The button of the next step.
pub const NEXT_STEP: Color32 = Color32::from_rgb(30, 84, 160);
/// Words about incoming references: the purple of the cones, light enough to read.
pub const INCOMING: Color32 = Color32::from_rgb(190, 120, 245);
/// Words about outgoing references: the green of the cones, light enough to read.
pub const OUTGOING: Color32 = Color32::from_rgb(96, 205, 130);
/// The ways from roots, and roots: the amber of the routes.
pub const ROUTE: Color32 = Color32::from_rgb(255, 184, 0);
/// Freed memory: the cyan of the city.
pub const FREED: Color32 = Color32::from_rgb(80, 208, 255);
/// Warnings.
pub const WARNING: Color32 = Color32::from_rgb(250, 196, 92);
/// Errors.
pub const ERROR: Color32 = Color32::from_rgb(255, 122, 108);
/// Growth, in lists.
pub const GROWTH: Color32 = Color32::from_rgb(255, 140, 90);
/// Shrinking, in lists.
pub const SHRINK: Color32 = Color32::from_rgb(120, 190, 210);

/// Colours of neighbouring groups, in their order: distinct for colour-blind people as well (after Paul Tol's qualitative schemes), and
/// light enough for dark text.
pub const SERIES: [Color32; 10] = [
    Color32::from_rgb(119, 170, 221),
    Color32::from_rgb(238, 136, 102),
    Color32::from_rgb(187, 204, 51),
    Color32::from_rgb(255, 170, 187),
    Color32::from_rgb(68, 187, 153),
    Color32::from_rgb(238, 221, 136),
    Color32::from_rgb(170, 130, 200),
    Color32::from_rgb(153, 221, 255),
    Color32::from_rgb(170, 170, 0),
    Color32::from_rgb(204, 160, 120),
];
/// All further groups together.
pub const SERIES_REST: Color32 = Color32::from_rgb(96, 107, 128);

/// Space between panels and the window's edge.
pub const GAP: f32 = 10.0;

/// Colours that mean something in the city, as [`colour`] gives them, carry this opacity: it is not seen, and tells them from
/// those of panels.
const MEANING: u8 = 254;

/// The light theme. All colours of panels are written for the dark one, and mirrored in lightness here, when egui is done. Colours with a
/// meaning in the city stay as they are.
pub fn by_day(settings: Res<Settings>, mut outputs: Query<&mut EguiRenderOutput>) {
    if settings.theme == CityTheme::Dark {
        return;
    }
    for mut output in &mut outputs {
        for job in &mut output.paint_jobs {
            if let Primitive::Mesh(mesh) = &mut job.primitive {
                mesh.vertices.iter_mut().for_each(|vertex| vertex.color = mirrored(vertex.color));
            }
        }
    }
}

/// Lightness, of 1, that a colour needs at least to stand out on the dark theme, and may have at most to stand out as much on the light
/// one. A pure amber or cyan is its own mirror image otherwise. Contrast to a ground of 0.8: 4.5 : 1.
const STANDS_OUT: f32 = 0.2;
const MOST_LIGHT: f32 = 0.13;

/// How light a colour is, near enough for that: WCAG's relative luminance with a gamma of 2.
fn light([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r * r + 0.7152 * g * g + 0.0722 * b * b
}

/// A colour with the opposite lightness and the same hue; premultiplied, as egui has them.
fn mirrored(colour: Color32) -> Color32 {
    let [r, g, b, a] = colour.to_array();
    if a == 0 || a == MEANING {
        return colour;
    }
    let sum = u16::from(r.max(g).max(b)) + u16::from(r.min(g).min(b));
    // Additive colours have channels above their opacity: they stay within a byte.
    let mirror = |channel: u8| (i32::from(channel) + i32::from(a) - i32::from(sum)).clamp(0, i32::from(a)) as u8;
    let now = [r, g, b].map(mirror);
    let of_opaque = |rgb: [u8; 3]| light(rgb.map(|channel| f32::from(channel) / f32::from(a)));
    let [r, g, b] = match of_opaque(now) {
        much if much > MOST_LIGHT && of_opaque([r, g, b]) > STANDS_OUT => {
            let darker = (MOST_LIGHT / much).sqrt();
            now.map(|channel| (f32::from(channel) * darker) as u8)
        }
        _ => now,
    };
    Color32::from_rgba_premultiplied(r, g, b, a)
}

/// The frame of a bar along an edge of the window.
pub fn bar() -> egui::Frame {
    egui::Frame::new().fill(SOLID).inner_margin(Margin::symmetric(10, 5))
}

/// Sets fonts, spacing and colours of a context, once, and whether panels fade in.
pub fn apply_once(ctx: &egui::Context, animated: bool) {
    let id = egui::Id::new("themed");
    let known = ctx.data(|data| data.get_temp::<bool>(id));
    if known.is_none() {
        apply(ctx);
    }
    if known != Some(animated) {
        ctx.data_mut(|data| data.insert_temp(id, animated));
        let animation = if animated { egui::Style::default().animation_time } else { 0.0 };
        let scrolling =
            if animated { egui::Style::default().scroll_animation } else { egui::style::ScrollAnimation::none() };
        ctx.global_style_mut(|style| (style.animation_time, style.scroll_animation) = (animation, scrolling));
    }
}

fn apply(ctx: &egui::Context) {
    let mut style = (*ctx.global_style()).clone();
    style.text_styles = [
        (TextStyle::Heading, FontId::new(16.0, FontFamily::Proportional)),
        (TextStyle::Body, FontId::new(13.0, FontFamily::Proportional)),
        (TextStyle::Button, FontId::new(13.0, FontFamily::Proportional)),
        (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
        (TextStyle::Small, FontId::new(11.0, FontFamily::Proportional)),
    ]
    .into();
    style.spacing.item_spacing = egui::vec2(7.0, 5.0);
    style.spacing.button_padding = egui::vec2(7.0, 3.0);
    style.spacing.tooltip_width = 520.0;
    let v = &mut style.visuals;
    *v = egui::Visuals::dark();
    v.override_text_color = Some(TEXT);
    v.panel_fill = PANEL;
    // Tooltips stand over text.
    v.window_fill = SOLID;
    v.window_stroke = Stroke::new(1.0, Color32::from_rgb(44, 55, 78));
    v.window_corner_radius = CornerRadius::same(8);
    v.selection.bg_fill = Color32::from_rgb(36, 78, 140);
    v.selection.stroke = Stroke::new(1.0, Color32::from_rgb(170, 205, 255));
    v.widgets.inactive.weak_bg_fill = Color32::from_rgb(38, 48, 68);
    v.widgets.inactive.bg_fill = Color32::from_rgb(38, 48, 68);
    v.widgets.hovered.weak_bg_fill = Color32::from_rgb(54, 70, 100);
    // A cursor that blinks would have the whole window drawn again, twice a second.
    v.text_cursor.blink = false;
    v.slider_trailing_fill = true;
    v.interact_cursor = Some(egui::CursorIcon::PointingHand);
    ctx.set_global_style(style);
    // Sizes are the window's: see `viewer/window`.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
}

/// The frame of a panel.
pub fn frame() -> egui::Frame {
    egui::Frame::new()
        .fill(SOLID)
        .stroke(Stroke::new(1.0, Color32::from_rgb(44, 55, 78)))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::same(10))
}

/// Width that the tables of the right column need, points; a window of 900 has it.
pub const RIGHT_CONTENTS: f32 = 264.0;

/// The sign on buttons that put something away.
pub const CROSS: &str = "✖";

/// Fills a pane of the dock and puts contents into it that scroll when there is no room.
pub fn pane(ui: &mut egui::Ui, contents: impl FnOnce(&mut egui::Ui)) {
    pane_at_least(ui, 0.0, contents);
}

/// The same with contents of a least width: in a narrower pane they scroll sideways, and nothing is cut off.
pub fn pane_at_least(ui: &mut egui::Ui, width: f32, contents: impl FnOnce(&mut egui::Ui)) {
    let room = ui.available_rect_before_wrap();
    ui.painter().rect_filled(room, 0.0, PANEL);
    egui::Frame::new().inner_margin(Margin::same(8)).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        let sideways = ui.available_width() < width;
        egui::ScrollArea::new([sideways, true]).auto_shrink([false, false]).show(ui, |ui| {
            ui.set_min_width(width.max(0.0));
            contents(ui);
        });
    });
}

/// Names a control that is painted by hand, or that shows a sign: for screen readers, and for tests that look for it.
pub fn named(response: &egui::Response, name: impl ToString) {
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, response.enabled(), name.to_string()));
}

/// A cross that closes the thing named by `what`; `tip` may name its key too. Returns whether it was pressed.
pub fn cross(ui: &mut egui::Ui, what: &str, tip: &str) -> bool {
    let button = egui::Button::new(egui::RichText::new(CROSS).size(12.0).color(QUIET)).frame(false);
    let button = ui.add(button).on_hover_text(tip);
    named(&button, what);
    button.clicked()
}

/// The same as a small button beside others.
pub fn cross_button(ui: &mut egui::Ui, what: &str, tip: &str) -> bool {
    let button = ui.small_button(CROSS).on_hover_text(tip);
    named(&button, what);
    button.clicked()
}

/// A heading inside a panel. A term of the glossary has dots below it, and its explanation on hover.
pub fn heading(ui: &mut egui::Ui, text: &str) {
    let drawn = ui.label(egui::RichText::new(text).size(11.0).strong().color(QUIET));
    let Some(term) = glossary::term(text) else { return };
    let line = [drawn.rect.left_bottom(), drawn.rect.right_bottom()];
    ui.painter().extend(egui::Shape::dotted_line(&line, QUIET, 4.0, 0.6));
    drawn.on_hover_ui(|ui| {
        ui.set_max_width(340.0);
        ui.label(format!("{term}: {}", glossary::meaning(term).unwrap_or_default()));
    });
}

/// A part of the window that no hint covers in this frame and the next.
pub fn keep_clear(ctx: &egui::Context, rect: egui::Rect) {
    let until = ctx.cumulative_frame_nr() + 1;
    ctx.data_mut(|data| data.insert_temp(egui::Id::new("clear"), (until, rect)));
}

/// The part that was kept clear last.
pub fn kept_clear(ctx: &egui::Context) -> Option<egui::Rect> {
    let kept: Option<(u64, egui::Rect)> = ctx.data(|data| data.get_temp(egui::Id::new("clear")));
    kept.filter(|(until, _)| *until >= ctx.cumulative_frame_nr()).map(|(_, rect)| rect)
}

/// Linear RGB, as the city's mapping gives colours, for egui.
pub fn colour(linear: [f32; 3]) -> Color32 {
    let packed = pack(linear);
    let [r, g, b] = [packed as u8, (packed >> 8) as u8, (packed >> 16) as u8];
    Color32::from_rgba_premultiplied(r.min(MEANING), g.min(MEANING), b.min(MEANING), MEANING)
}

/// A colour on the way to another, 0 to 1.
pub fn mixed(from: Color32, to: Color32, share: f32) -> Color32 {
    from.lerp_to_gamma(to, share)
}

/// Linear RGB as sRGB bytes in the order the shader unpacks.
pub fn pack(linear: [f32; 3]) -> u32 {
    let byte = |v: f32| (city::linear_to_srgb(v.clamp(0.0, 1.0)) * 255.0).round() as u32;
    byte(linear[0]) | byte(linear[1]) << 8 | byte(linear[2]) << 16 | 0xff00_0000
}

/// A text shortened in the middle until it is no wider than `room` points; of a few letters at least.
pub fn fitting(painter: &egui::Painter, text: &str, font: &FontId, room: f32) -> String {
    let width = |text: &str| painter.layout_no_wrap(text.to_owned(), font.clone(), TEXT).size().x;
    if width(text) <= room {
        return text.to_owned();
    }
    // The longest that fits, by halving.
    let (mut fits, mut not) = (6, text.chars().count());
    while fits + 1 < not {
        let middle = usize::midpoint(fits, not);
        if width(&shortened(text, middle)) <= room { fits = middle } else { not = middle }
    }
    shortened(text, fits)
}

/// The path of a group for people.
pub fn told_path(timeline: &Timeline, node: NodeId) -> String {
    worded(&timeline.path_label(node))
}

/// The texts that something draws, once all sizes are known.
#[cfg(test)]
pub fn texts_of(mut draw: impl FnMut(&mut egui::Ui)) -> Vec<String> {
    fn add(shape: &egui::Shape, texts: &mut Vec<String>) {
        match shape {
            egui::Shape::Text(text) => texts.push(text.galley.text().to_owned()),
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| add(shape, texts)),
            _ => {}
        }
    }
    let ctx = egui::Context::default();
    let mut texts = Vec::new();
    for _ in 0..3 {
        texts.clear();
        let output = ctx.run_ui(egui::RawInput::default(), &mut draw);
        output.shapes.iter().for_each(|clipped| add(&clipped.shape, &mut texts));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::{
        ACCENT, ERROR, FREED, GROWTH, INCOMING, MEANING, OUTGOING, QUIET, ROUTE, SERIES, SHRINK, SOLID, TEXT, WARNING,
        fitting, mirrored, shortened,
    };
    use bevy_egui::egui::{self, Color32, FontId};
    use memory_city_testing::{root, rust_files};

    /// Parts over text are opaque: windows, menus, tooltips.
    #[test]
    fn what_lies_over_text_is_solid() {
        assert_eq!((SOLID.a(), super::frame().fill), (255, SOLID));
        let ctx = egui::Context::default();
        for animated in [true, false, true] {
            super::apply_once(&ctx, animated);
            let style = ctx.global_style();
            assert_eq!(style.animation_time > 0.0, animated);
            assert_eq!((style.visuals.window_fill, style.visuals.window_fill.a()), (SOLID, 255));
            assert_eq!(egui::Frame::popup(&style).fill, SOLID);
        }
    }

    /// A name takes all the room there is: no more, and no less than it needs. Its end stays, which is the important part of a path.
    #[test]
    fn texts_take_the_room_there_is() {
        let ctx = egui::Context::default();
        let font = FontId::proportional(12.0);
        let text = "com.acme.shop.catalogue.internal.QueryResultCacheImplementation.entriesByCustomer";
        let _ = ctx.run_ui(egui::RawInput::default(), |ui| {
            let painter = ui.painter();
            let width = |text: &str| painter.layout_no_wrap(text.to_owned(), font.clone(), TEXT).size().x;
            let whole = width(text);
            for part in [0.3, 0.5, 0.9, 0.99, 1.0, 2.0] {
                let room = whole * part;
                let fitted = fitting(painter, text, &font, room);
                assert!(width(&fitted) <= room, "{fitted} in {room}");
                if part >= 1.0 {
                    assert_eq!(fitted, text);
                    continue;
                }
                let letters = fitted.chars().count();
                assert!(width(&shortened(text, letters + 1)) > room, "{fitted}: one more letter has room");
                assert!(fitted.ends_with("stomer") && fitted.contains('…'), "{fitted}");
            }
            // Where there is none, a few letters are there all the same.
            assert!(fitting(painter, text, &font, 0.0).chars().count() >= 5);
        });
    }

    /// A character that the fonts lack would be drawn as an empty box.
    #[test]
    fn every_character_that_panels_show_is_in_the_fonts() {
        let ctx = egui::Context::default();
        let _ = ctx.run_ui(egui::RawInput::default(), |_| {});
        let files = ["src/viewer", "crates/views/src"].map(|folder| rust_files(&root().join(folder))).concat();
        let font = FontId::proportional(12.0);
        let drawn = |c: char| {
            let galley = ctx.fonts_mut(|fonts| fonts.layout_no_wrap(c.to_string(), font.clone(), TEXT));
            galley.rows[0].glyphs[0].uv_rect
        };
        // One that nobody has: fonts say of some that are there that they are not.
        let missing = drawn('\u{e123}');
        assert!(drawn('a') != missing);
        let mut lacking = Vec::new();
        for file in &files {
            let text = std::fs::read_to_string(file).expect("a source file");
            let shown = text.split("#[cfg(test)]").next().unwrap_or_default();
            // What the engine writes for terminals is put into other words.
            let is_shown = |line: &&str| !line.trim_start().starts_with("//") && !line.contains("replace('→', ");
            for line in shown.lines().filter(is_shown) {
                let code = line.split(" // ").next().unwrap_or_default();
                let strange = code.chars().filter(|c| !c.is_ascii());
                let lacks = strange.filter(|c| drawn(*c) == missing);
                lacking.extend(lacks.map(|c| format!("{c} in {}: {}", file.display(), code.trim())));
            }
        }
        assert!(lacking.is_empty(), "{lacking:#?}");
    }

    #[test]
    fn by_day_words_are_as_far_from_their_ground_as_by_night() {
        let light = |colour: Color32| u16::from(colour.r()) + u16::from(colour.g()) + u16::from(colour.b());
        let (text, quiet, ground) = (mirrored(TEXT), mirrored(QUIET), mirrored(SOLID));
        assert!(light(ground) > 650 && light(text) < 90 && light(quiet) < 300, "{ground:?} {text:?} {quiet:?}");
        for colour in [TEXT, QUIET, SOLID, Color32::from_rgb(255, 140, 90)] {
            assert_eq!(mirrored(mirrored(colour)), colour);
        }
        // WCAG's contrast, of all words that have a colour.
        let linear = |c: u8| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        };
        let luminance = |c: Color32| 0.2126 * linear(c.r()) + 0.7152 * linear(c.g()) + 0.0722 * linear(c.b());
        for word in [TEXT, QUIET, ACCENT, INCOMING, OUTGOING, ROUTE, FREED, WARNING, ERROR, GROWTH, SHRINK] {
            let contrast = (luminance(ground) + 0.05) / (luminance(mirrored(word)) + 0.05);
            assert!(contrast >= 4.5, "{word:?} by day: {contrast:.2}");
        }
        // Dark words on what is light by night.
        for fill in SERIES.into_iter().chain([ROUTE]) {
            let ink = mirrored(Color32::from_rgb(28, 22, 0));
            let contrast = (luminance(ink) + 0.05) / (luminance(mirrored(fill)) + 0.05);
            assert!(contrast >= 4.5, "words on {fill:?} by day: {contrast:.2}");
        }
        // What has a meaning, and what is not there, stays.
        let meaning = Color32::from_rgba_premultiplied(200, 30, 20, MEANING);
        assert_eq!((mirrored(meaning), mirrored(Color32::TRANSPARENT)), (meaning, Color32::TRANSPARENT));
        let half = mirrored(Color32::from_black_alpha(128));
        assert_eq!(half.to_array(), [128, 128, 128, 128]);
    }

    /// Every place that shows the path of a group puts it into words; the copied text is the path itself.
    #[test]
    fn paths_are_worded_wherever_they_are_shown() {
        let sources = memory_city_testing::rust_files(&memory_city_testing::root().join("src/viewer"));
        assert!(sources.len() > 100, "{}", sources.len());
        for path in sources.iter().filter(|path| !path.ends_with("panels/theme.rs")) {
            let text = std::fs::read_to_string(path).expect("a source file");
            let bare = text.lines().find(|line| line.contains(".path_label(") && !line.contains("copy_text("));
            assert!(bare.is_none(), "{}: {bare:?}", path.display());
        }
    }
}
