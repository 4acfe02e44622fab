//! The legend of the city, part of every picture: the meaning of areas, colours, opacity and cones, with numbers.

use super::numbers::number;
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::city::City;
use crate::viewer::clock::Clock;
use crate::viewer::keys;
use crate::viewer::root_paths::RootPaths;
use crate::viewer::settings::Settings;
use bevy_egui::egui::{self, Align2, Color32, Pos2, Rect, RichText, Sense, Stroke, StrokeKind};
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::height::HeightAxis;
use memory_city_views::city::{self, ColourHistogram, Comparison, Legend};

/// Width over a picture, with its frame, points.
pub const WIDTH: f32 = 292.0;
/// The same over a small picture, with the meaning of colours and nothing else.
const BRIEF_WIDTH: f32 = 190.0;

/// Shows the legend at the lower left of a picture, or of the part of it that the city has, briefly where that is small.
#[allow(clippy::too_many_arguments)] // what the legend tells of
pub fn over(
    ctx: &egui::Context,
    within: Rect,
    city: &mut City,
    clock: &Clock,
    settings: &Settings,
    selected: bool,
    ways: &RootPaths,
    brief: bool,
) {
    let corner = Align2::LEFT_BOTTOM;
    egui::Area::new("legend".into())
        .fade_in(false)
        .constrain_to(within)
        .anchor(corner, [theme::GAP, -theme::GAP])
        .movable(false)
        .show(ctx, |ui| {
            theme::frame().show(ui, |ui| {
                ui.set_width(if brief { BRIEF_WIDTH } else { WIDTH } - 22.0);
                ui.spacing_mut().item_spacing.y = 3.0;
                if brief {
                    colours(ui, city, clock.time.min(city.times().saturating_sub(1)), settings, ways);
                    if selected {
                        swatches(ui, settings, selected, ways);
                    }
                } else {
                    contents(ui, city, clock, settings, selected, ways);
                }
            });
        });
}

/// Lists the meaning of all that is shown, with numbers, at one time.
pub fn contents(
    ui: &mut egui::Ui,
    city: &mut City,
    clock: &Clock,
    settings: &Settings,
    selected: bool,
    ways: &RootPaths,
) {
    let time = clock.time.min(city.times().saturating_sub(1));
    let (_, comparison) = city.told(time);
    line(ui, city.appearance.shape_line(&city.plan, &city.timeline));
    // Where heights tell no more than areas, the axis beside the city says enough: it goes with the names.
    let tells = city.appearance.height_title().is_some() || !settings.labels;
    height_scale(ui, city.appearance.height_axis(), tells);
    if let Some(sampled) = city.timeline.points().get(time).and_then(|point| point.sampled) {
        ui.label(warning(format!("{sampled}.")));
    }
    // The scale comes first: what is below it may be out of sight in a small window.
    colours(ui, city, time, settings, ways);
    let city = &*city;
    if let (Some(base), Some(comparison)) = (city.appearance.base(), &comparison) {
        compared(ui, city, base, time, comparison);
    }
    lost(ui, city.appearance.lost(&city.plan, &city.timeline, time));
    without_building(ui, city, time);
    if let Some((from, to)) = city.plan.config().window {
        let key = keys::key(Action::ReLayout);
        line(ui, format!("Ground divided for {} to {} ({key}: for all)", from + 1, to + 1));
        let (larger, without) = city.plan.outside(&city.timeline, time);
        if larger + without > 0 {
            ui.label(warning(format!("Outside it now: {larger} larger than drawn, {without} without a plot")));
        }
    }
    line(ui, city.appearance.opaque_line(city.times()));
    swatches(ui, settings, selected, ways);
}

/// The amount in no building. Buildings are groups without groups below them, and in trees of other programs inner groups may have
/// objects too.
fn without_building(ui: &mut egui::Ui, city: &City, time: usize) {
    let (metric, without) = (city.made_with.metric, city.without_building(time));
    let heap = city.timeline.value(time, NodeId::ROOT, metric);
    if without > 0 && heap > 0 {
        let share = match 100.0 * without as f64 / heap as f64 {
            share if share < 1.0 => "under 1 %".to_owned(),
            share => format!("{share:.0} %"),
        };
        let amount = number(&city.timeline, without, metric);
        let help = "Objects of groups that other groups are in, as the input has them. They count in the district, in the table and in \
                    the sentence above the city; its buildings are what is inside.";
        ui.label(warning(format!("{amount} ({share} of the heap) in no building"))).on_hover_text(help);
    }
}

/// Meaning of lines and marked buildings.
fn swatches(ui: &mut egui::Ui, settings: &Settings, selected: bool, ways: &RootPaths) {
    let one = |ui: &mut egui::Ui, colour: Color32, means: &str| {
        ui.horizontal(|ui| {
            swatch(ui, colour);
            ui.label(RichText::new(means).size(11.0));
        });
    };
    ui.horizontal_wrapped(|ui| {
        if ways.found().is_some() {
            one(ui, theme::ROUTE, "path from a root");
        } else if settings.show_pointers {
            one(ui, theme::colour(city::INCOMING_COLOUR), "keeps it alive");
            let outgoing = theme::colour(city::OUTGOING_COLOUR);
            ui.horizontal(|ui| {
                swatch_of(ui, outgoing, true);
                ui.label(RichText::new("kept by it").size(11.0));
            });
        }
        if selected {
            one(ui, theme::colour(city::SELECTED_COLOUR), "selected");
        }
    });
}

/// Meaning of the colours of buildings. During a cut they show the freed memory, and nothing else.
fn colours(ui: &mut egui::Ui, city: &mut City, time: usize, settings: &Settings, ways: &RootPaths) {
    match ways.freed() {
        None => {
            let (counts, _) = city.told(time);
            colour_bar(ui, city.appearance.legend(), &counts, false);
        }
        Some((_, cut, version)) => {
            let counts = city.freed(time, version, &cut.shares);
            colour_bar(ui, &Legend::of_cut(settings.theme.stays()), &counts, true);
        }
    }
}

fn line(ui: &mut egui::Ui, text: String) {
    ui.label(RichText::new(text).size(11.0).color(theme::QUIET));
}

fn warning(text: String) -> RichText {
    RichText::new(text).size(11.0).color(theme::WARNING)
}

fn swatch(ui: &mut egui::Ui, colour: Color32) {
    swatch_of(ui, colour, false);
}

/// With bands, as cones have that lead from the selection.
fn swatch_of(ui: &mut egui::Ui, colour: Color32, banded: bool) {
    let (response, painter) = ui.allocate_painter(egui::vec2(10.0, 10.0), Sense::hover());
    painter.rect_filled(response.rect, 2.0, colour);
    if banded {
        for left in [2.0, 6.0] {
            let band =
                response.rect.with_min_x(response.rect.left() + left).with_max_x(response.rect.left() + left + 2.0);
            painter.rect_filled(band, 0.0, colour.gamma_multiply(0.35));
        }
    }
}

/// Signs on plots of shrunk or vanished groups, shown without a comparison.
fn lost(ui: &mut egui::Ui, [shrunk, gone]: [usize; 2]) {
    if shrunk + gone == 0 {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for (sign, count, word) in [(Sign::Down, shrunk, "shrunk"), (Sign::Cross, gone, "gone")] {
            if count > 0 {
                draw_sign(ui, sign);
                line(ui, format!("{count} {word}"));
            }
        }
        line(ui, format!("· {}", city::notable_loss_text()));
    });
}

/// Differences from the base, in the words of the signs that stand on the plots.
fn compared(ui: &mut egui::Ui, city: &City, base: usize, time: usize, comparison: &Comparison) {
    let timeline = &city.timeline;
    let label = timeline.points().get(base).map_or("", |point| point.label.as_str());
    let label = theme::shortened(label, 26);
    ui.label(RichText::new(format!("Compared with {}/{} {label}", base + 1, timeline.times())).size(11.0).strong());
    if base == time {
        line(ui, "This is the base: nothing is different".to_owned());
        return;
    }
    let metric = city.made_with.metric;
    egui::Grid::new("compared").num_columns(4).min_col_width(0.0).spacing([5.0, 0.0]).show(ui, |ui| {
        let rows = [
            [(Sign::Up, "grown", '+', comparison.grown), (Sign::Plus, "new", '+', comparison.appeared)],
            [(Sign::Down, "shrunk", '−', comparison.shrunk), (Sign::Cross, "gone", '−', comparison.vanished)],
        ];
        for row in rows {
            for (sign, word, plus, sum) in row {
                draw_sign(ui, sign);
                let amount = match sum.groups {
                    0 => String::new(),
                    _ => format!("  {plus}{}", number(timeline, sum.amount, metric)),
                };
                ui.label(RichText::new(format!("{} {word}{amount}", sum.groups)).size(11.0));
            }
            ui.end_row();
        }
    });
    let slight = match comparison.slight {
        0 => String::new(),
        slight => format!(" · {slight} {}", city::slight_change_text()),
    };
    line(ui, format!("{} the same{slight}", comparison.same.groups));
    line(ui, "Dashed: as it was · two chevrons: twice, or half".to_owned());
}

/// The signs on plots, small.
enum Sign {
    Up,
    Down,
    Plus,
    Cross,
}

fn draw_sign(ui: &mut egui::Ui, sign: Sign) {
    let (response, painter) = ui.allocate_painter(egui::vec2(13.0, 13.0), Sense::hover());
    let c = response.rect.center();
    let line = |a: (f32, f32), b: (f32, f32)| {
        let at = |p: (f32, f32)| c + egui::vec2(p.0, p.1);
        painter.line_segment([at(a), at(b)], Stroke::new(2.0, theme::TEXT));
    };
    match sign {
        Sign::Up => {
            line((-5.0, 2.5), (0.3, -2.5));
            line((-0.3, -2.5), (5.0, 2.5));
        }
        Sign::Down => {
            line((-5.0, -2.5), (0.3, 2.5));
            line((-0.3, 2.5), (5.0, -2.5));
        }
        Sign::Plus => {
            line((-5.0, 0.0), (5.0, 0.0));
            line((0.0, -5.0), (0.0, 5.0));
        }
        Sign::Cross => {
            line((-4.0, -4.0), (4.0, 4.0));
            line((-4.0, 4.0), (4.0, -4.0));
        }
    }
}

/// Meaning of heights: a horizontal scale, from the ground at the left to the highest roof.
fn height_scale(ui: &mut egui::Ui, axis: &HeightAxis, tells: bool) {
    let Some(highest) = axis.ticks.last().filter(|_| tells) else { return };
    let (response, painter) = ui.allocate_painter(egui::vec2(ui.available_width(), 22.0), Sense::hover());
    let bar = response.rect.shrink2(egui::vec2(1.0, 0.0));
    let y = bar.top() + 5.0;
    painter.line_segment([Pos2::new(bar.left(), y), Pos2::new(bar.right(), y)], Stroke::new(1.0, theme::QUIET));
    let mut free = bar.right() + 1.0;
    for tick in axis.ticks.iter().rev() {
        let x = bar.left() + bar.width() * (tick.height / highest.height) as f32;
        painter.line_segment([Pos2::new(x, y - 4.0), Pos2::new(x, y + 3.0)], Stroke::new(1.0, theme::TEXT));
        let galley = painter.layout_no_wrap(tick.brief().to_owned(), egui::FontId::proportional(10.5), theme::TEXT);
        let left = (x - galley.size().x / 2.0).clamp(bar.left(), bar.right() - galley.size().x);
        if left + galley.size().x <= free {
            free = left - 5.0;
            painter.galley(Pos2::new(left, y + 3.0), galley, theme::TEXT);
        }
    }
    if let Some(capped) = axis.capped_line() {
        line(ui, capped);
    }
}

/// How many buildings have which colour, over the gradient.
fn histogram(ui: &mut egui::Ui, legend: &Legend, histogram: &ColourHistogram) {
    const HIGH: f32 = 22.0;
    let (response, painter) = ui.allocate_painter(egui::vec2(ui.available_width(), HIGH), Sense::hover());
    let rect = response.rect;
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1) as f32;
    let wide = rect.width() / ColourHistogram::PARTS as f32;
    for (i, &count) in histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        // By root: one building must be seen beside a thousand.
        let high = ((count as f32 / most).sqrt() * HIGH).max(2.0);
        let low = Pos2::new(rect.left() + i as f32 * wide + 0.5, rect.bottom());
        let bar = Rect::from_min_max(low - egui::vec2(0.0, high), low + egui::vec2(wide - 1.0, 0.0));
        let at = (i as f32 + 0.5) / ColourHistogram::PARTS as f32;
        painter.rect(
            bar,
            0.0,
            theme::colour(legend.gradient.at(at)),
            Stroke::new(0.5, theme::QUIET),
            StrokeKind::Inside,
        );
    }
    response.on_hover_ui(|ui| {
        let buildings = histogram.buildings();
        ui.label(format!(
            "{buildings} buildings by colour; the fullest column has {most:.0}. Heights are square roots"
        ));
    });
}

/// The gradient that buildings are coloured with, and its marks. It is `striped` where buildings are: the wider the more.
fn colour_bar(ui: &mut egui::Ui, legend: &Legend, counts: &ColourHistogram, striped: bool) {
    if legend.marks.is_empty() {
        line(ui, format!("{} ({})", legend.title, keys::key(Action::Colour)));
        return;
    }
    ui.label(RichText::new(&legend.title).size(11.0));
    histogram(ui, legend, counts);
    let (response, painter) = ui.allocate_painter(egui::vec2(ui.available_width(), 24.0), Sense::hover());
    let bar = Rect::from_min_size(response.rect.min, egui::vec2(response.rect.width(), 9.0));
    let steps = 48;
    for i in 0..steps {
        let at = i as f32 / (steps - 1) as f32;
        let x = bar.left() + bar.width() * i as f32 / steps as f32;
        let cell = Rect::from_min_size(Pos2::new(x, bar.top()), egui::vec2(bar.width() / steps as f32 + 0.5, 9.0));
        painter.rect_filled(cell, 0.0, theme::colour(legend.gradient.at(at)));
    }
    if striped {
        stripes(&painter, bar, &legend.gradient);
    }
    // The ends first; of those between them what has room.
    let is_end = |mark: &&city::Mark| mark.position <= 0.0 || mark.position >= 1.0;
    let between = legend.marks.iter().filter(|mark| !is_end(mark));
    let mut taken: Vec<Rect> = Vec::new();
    for mark in legend.marks.iter().filter(is_end).chain(between) {
        let x = bar.left() + bar.width() * mark.position;
        let align = match mark.position {
            p if p <= 0.0 => Align2::LEFT_TOP,
            p if p >= 1.0 => Align2::RIGHT_TOP,
            _ => Align2::CENTER_TOP,
        };
        let below = Pos2::new(x, bar.bottom() + 3.0);
        painter.line_segment([Pos2::new(x, bar.bottom()), below], Stroke::new(1.0, theme::QUIET));
        let words = painter.layout_no_wrap(mark.text.clone(), egui::FontId::proportional(10.5), theme::TEXT);
        let place = align.anchor_size(below, words.size());
        if taken.iter().all(|other| !other.expand(2.0).intersects(place)) {
            painter.galley(place.min, words, theme::TEXT);
            taken.push(place);
        }
    }
}

/// The stripes of freed memory, as on buildings (`shaders/boxes.wgsl`).
fn stripes(painter: &egui::Painter, bar: Rect, gradient: &city::Gradient) {
    const APART: f32 = 7.0;
    let painter = painter.with_clip_rect(bar);
    let (high, count) = (bar.height(), (bar.width() / APART) as usize);
    for i in 0..=count {
        let at = i as f32 / count.max(1) as f32;
        let x = bar.left() + bar.width() * at;
        let colour = theme::colour(gradient.at(at).map(|light| light * 0.52));
        let ends = [Pos2::new(x - high / 2.0, bar.top()), Pos2::new(x + high / 2.0, bar.bottom())];
        painter.line_segment(ends, Stroke::new(0.5 * APART * at, colour));
    }
}
