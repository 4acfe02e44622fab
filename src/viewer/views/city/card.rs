//! The card at the top of the city that shows the leak: its place, the type that accumulates there, its share of the growth, its path to
//! a GC root, and the way there. One quiet line while nothing is known, or when nothing grows.

use crate::viewer::action::Action;
use crate::viewer::document::OpenDocument;
use crate::viewer::finding::{FindingState, LeakSearch, owners_offered};
use crate::viewer::keys;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Color32, CornerRadius, Margin, Rect, RichText, Stroke, StrokeKind};
use memory_city_analysis::analyses::{LeakLines, LeakPlace, OWNER_UNKNOWN, Verdict, VerdictKind};
use memory_city_analysis::tabular::several;

/// All that is known is no wider, and leaves the city beside it where the pane has room.
const WIDTH: f32 = 400.0;
/// The first sentences are no wider.
pub(super) const BANNER: f32 = 660.0;
/// In smaller panes it is a line until a person opens it.
const SMALL: (f32, f32) = (560.0, 400.0);
/// Room that the city leaves for a line, and for the first sentences, points.
pub(super) const LINE_ROOM: f32 = 34.0;
const FOLDED_ROOM: f32 = 74.0;
pub(super) const BANNER_ROOM: f32 = 70.0;
/// Greatest width of the folded card, points.
const FOLDED: f32 = 540.0;
/// Room above and below the scrolling part of the whole card, points; and the least height of that part.
const FIXED: f32 = 170.0;
const LEAST: f32 = 60.0;
/// Rows of a long text before it is cut; all of it is in the tooltip.
const MOST_ROWS: usize = 3;

pub(super) fn is_small(pane: Rect) -> bool {
    pane.width() < SMALL.0 || pane.height() < SMALL.1
}

/// Room that the city leaves for it at the pane's top, points. An unfolded card covers the city.
pub fn room(pane: Rect, finding: &LeakSearch) -> f32 {
    match finding.shown() {
        _ if finding.is_hidden() => 0.0,
        Some(FindingState::Leaks(_)) if is_small(pane) => FOLDED_ROOM,
        Some(FindingState::Leaks(_)) => BANNER_ROOM,
        _ => LINE_ROOM,
    }
}

/// Draws it into the pane of the city. Returns the person's wish, and its rectangle.
///
/// Shows the card. If there is no heap to ask for owners, `verdict` is the result from the trees. `since` is the time from which the leak
/// grows.
pub fn show(
    ctx: &egui::Context,
    pane: Rect,
    open: &OpenDocument,
    finding: &mut LeakSearch,
    (verdict, since): (&Verdict, Option<usize>),
) -> (Vec<Action>, Option<Rect>) {
    let mut asked = Vec::new();
    let (mut cancelled, mut unfolded, mut shortened) = (false, false, false);
    if finding.is_hidden() {
        return (asked, None);
    }
    if is_small(pane) {
        finding.make_small();
    }
    let known = finding.shown().unwrap_or(&FindingState::Nothing);
    let room = pane.width() - 2.0 * theme::GAP;
    let width = WIDTH.min(room - 30.0);
    if width < 200.0 {
        return (asked, None);
    }
    let area = egui::Area::new("what leaks".into()).order(egui::Order::Middle).constrain_to(pane);
    let drawn = area.fixed_pos(pane.min + egui::vec2(theme::GAP, theme::GAP)).show(ctx, |ui| {
        ui.set_max_width(room);
        match known {
            FindingState::Nothing => line(ui, |ui| {
                let (sign, colour) = match verdict.grows {
                    true => ("⬆", theme::GROWTH),
                    // That it is well is not known.
                    false if open.timeline.times() < 2 => ("ℹ", theme::QUIET),
                    false => ("✔", theme::OUTGOING),
                };
                ui.label(RichText::new(sign).size(12.0).color(colour));
                said(ui, verdict, open);
                // Of a program that goes on it is looked for when somebody asks.
                if verdict.grows && open.live.is_some() && open.source.can_regroup() {
                    go(ui, open, finding.is_going(), &mut asked);
                }
                dismiss(ui, &mut asked);
            }),
            FindingState::Looking(_) => line(ui, |ui| {
                // What the trees tell is known at once; who owns it takes a while.
                said(ui, verdict, open);
                spinner(ui, 12.0);
                ui.label(quiet(looking(finding)));
                cancelled = ui.small_button("Cancel").clicked();
            }),
            FindingState::NoPlace(known) => line(ui, |ui| {
                let (sign, colour) = sign_of(known.kind);
                ui.label(RichText::new(sign).size(12.0).color(colour));
                ui.add(egui::Label::new(quiet(known.headline.clone())).wrap()).on_hover_text(known.caveats.join("\n"));
                dismiss(ui, &mut asked);
            }),
            FindingState::Failed(why) => line(ui, |ui| {
                said(ui, verdict, open).on_hover_text(why);
                ui.label(quiet(OWNER_UNKNOWN.to_owned())).on_hover_text(why);
                dismiss(ui, &mut asked);
            }),
            FindingState::Leaks(leak) if finding.is_folded() => {
                unfolded = folded(ui, room, is_small(pane), (leak, since), open, &mut asked);
            }
            FindingState::Leaks(leak) if finding.shows_all() => {
                let size = egui::vec2(width, pane.height() - 2.0 * theme::GAP);
                ui.set_max_size(size);
                shortened = card(ui, size, (leak, since), open, finding.is_going(), &mut asked);
            }
            FindingState::Leaks(leak) => {
                let of = (leak.as_ref(), since);
                unfolded = banner(ui, room.min(BANNER), is_small(pane), of, open, finding.is_going(), &mut asked);
            }
        }
    });
    if cancelled {
        finding.cancel();
    }
    if unfolded {
        finding.unfold();
    }
    if shortened {
        finding.shorten();
    }
    theme::keep_clear(ctx, drawn.response.rect);
    (asked, Some(drawn.response.rect))
}

/// The sign before a verdict without a place, and its colour.
fn sign_of(kind: VerdictKind) -> (&'static str, Color32) {
    match kind {
        VerdictKind::Leak | VerdictKind::Grows => ("⬆", theme::GROWTH),
        VerdictKind::Ok => ("✔", theme::OUTGOING),
        VerdictKind::Fills | VerdictKind::Unknown => ("ℹ", theme::QUIET),
    }
}

/// The verdict from the trees; for a single state, the way to learn more.
fn said(ui: &mut egui::Ui, verdict: &Verdict, open: &OpenDocument) -> egui::Response {
    let more = match (open.timeline.times() < 2, &open.live) {
        (false, _) => "",
        (true, None) => ": open a later one too",
        (true, Some(_)) => ": the next one comes by itself",
    };
    let text = format!("{}{more}", theme::brief(&verdict.text));
    ui.add(egui::Label::new(RichText::new(text).size(12.5)).wrap())
}

fn title(open: &OpenDocument) -> &'static str {
    LeakLines::title(open.timeline.times())
}

pub(super) fn quiet(text: String) -> RichText {
    RichText::new(text).size(12.0).color(theme::QUIET)
}

fn looking(finding: &LeakSearch) -> String {
    let Some(snapshot) = finding.snapshot() else { return String::new() };
    match snapshot.total {
        0 => "Looking for what leaks".to_owned(),
        total => format!("Looking for what leaks  {:.0} %", 100.0 * snapshot.done as f64 / total as f64),
    }
}

/// A frame with one line in it.
fn line(ui: &mut egui::Ui, add: impl FnOnce(&mut egui::Ui)) {
    theme::frame().inner_margin(Margin::symmetric(8, 4)).show(ui, |ui| ui.horizontal(add));
}

fn dismiss(ui: &mut egui::Ui, asked: &mut Vec<Action>) {
    if theme::cross(ui, "Put this away", &Action::Finding.tooltip()) {
        asked.push(Action::Finding);
    }
}

/// The subject, and its number among several places.
fn heading(ui: &mut egui::Ui, open: &OpenDocument, which: &str) {
    ui.label(RichText::new(title(open)).size(11.0).strong().color(theme::GROWTH));
    if !which.is_empty() {
        ui.label(RichText::new(which).size(11.0).color(theme::QUIET)).on_hover_text("Which of the places that leak");
    }
}

fn at_right(ui: &mut egui::Ui, add: impl FnOnce(&mut egui::Ui)) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), add);
}

/// Its first sentences, and the way to the place; one above the other where there is little room. Returns whether all that is known is
/// wanted.
fn banner(
    ui: &mut egui::Ui,
    width: f32,
    narrow: bool,
    (leak, since): (&LeakPlace, Option<usize>),
    open: &OpenDocument,
    going: bool,
    asked: &mut Vec<Action>,
) -> bool {
    let mut opened = false;
    let LeakLines { place, which, sentence, .. } = LeakLines::of(leak, &open.timeline, since);
    let frame = theme::frame().fill(theme::SOLID).inner_margin(Margin { left: 15, right: 8, top: 4, bottom: 5 });
    let drawn = frame.show(ui, |ui| {
        ui.set_width(width - 23.0);
        ui.spacing_mut().item_spacing.y = 1.0;
        let font = egui::FontId::proportional(if narrow { 13.5 } else { 15.0 });
        let told = |ui: &mut egui::Ui, room: f32| {
            let text = theme::fitting(ui.painter(), &place, &font, room);
            let label = egui::Label::new(RichText::new(text).font(font.clone()).strong()).selectable(false);
            ui.add(label).on_hover_text(&leak.place);
        };
        let sentence = RichText::new(sentence).size(12.5).color(theme::GROWTH);
        ui.horizontal(|ui| {
            heading(ui, open, &which);
            if !narrow {
                let room = ui.available_width() - 26.0;
                told(ui, room);
            }
            at_right(ui, |ui| dismiss(ui, asked));
        });
        if narrow {
            let room = ui.available_width();
            told(ui, room);
            ui.add(egui::Label::new(sentence).wrap()).on_hover_text(when(open, since));
            ui.add_space(2.0);
            ui.horizontal_wrapped(|ui| {
                go(ui, open, going, asked);
                next(ui, leak, asked);
                opened = more(ui);
            });
        } else {
            ui.horizontal(|ui| {
                ui.label(sentence).on_hover_text(when(open, since));
                at_right(ui, |ui| {
                    go(ui, open, going, asked);
                    opened = more(ui);
                    next(ui, leak, asked);
                });
            });
        }
    });
    accent(ui, drawn.response.rect);
    opened
}

/// The way to all that is known.
fn more(ui: &mut egui::Ui) -> bool {
    let button = egui::Button::new(quiet("More".to_owned())).frame(false);
    ui.add(button).on_hover_text("All that is known of it").clicked()
}

/// When that is, in words of the input.
fn when(open: &OpenDocument, since: Option<usize>) -> String {
    let point = open.timeline.points().get(since.unwrap_or(0));
    match point.map(|point| point.label.as_str()).unwrap_or_default() {
        "" => "Since the first state".to_owned(),
        label => format!("Since {label}"),
    }
}

/// The whole card; it scrolls if it does not fit into the pane. Returns whether less is wanted.
fn card(
    ui: &mut egui::Ui,
    size: egui::Vec2,
    (leak, since): (&LeakPlace, Option<usize>),
    open: &OpenDocument,
    going: bool,
    asked: &mut Vec<Action>,
) -> bool {
    let mut less = false;
    let single = open.timeline.times() < 2;
    let frame = theme::frame().fill(theme::SOLID).inner_margin(Margin { left: 15, right: 10, top: 8, bottom: 9 });
    let drawn = frame.show(ui, |ui| {
        ui.set_width(size.x - 25.0);
        ui.spacing_mut().item_spacing.y = 3.0;
        let LeakLines { place, which, below, sentence, .. } = LeakLines::of(leak, &open.timeline, since);
        ui.horizontal(|ui| {
            heading(ui, open, &which);
            at_right(ui, |ui| dismiss(ui, asked));
        });
        long(ui, RichText::new(place).size(16.0).strong(), &leak.place);
        long(ui, RichText::new(sentence).size(12.5).color(theme::GROWTH), &leak.place);
        // The way is what is to be cut: all of it is there, however little room there is.
        let height = (size.y - FIXED).max(LEAST);
        let scrolled = egui::ScrollArea::vertical().max_height(height).auto_shrink([false, true]);
        scrolled.show(ui, |ui| rest(ui, leak, single, below));
        ui.add_space(3.0);
        ui.horizontal_wrapped(|ui| {
            go(ui, open, going, asked);
            share(ui, leak.share);
            next(ui, leak, asked);
            less = ui.add(egui::Button::new(quiet("Less".to_owned())).frame(false)).clicked();
        });
        if leak.others > 0 {
            let places = several(leak.others, "more place", "more places");
            ui.label(quiet(format!("{places}: tab Analysis, What leaks")));
        }
    });
    accent(ui, drawn.response.rect);
    less
}

/// Further facts beside the place and its growth.
fn rest(ui: &mut egui::Ui, leak: &LeakPlace, single: bool, below: Option<String>) {
    if let Some(below) = below {
        long(ui, quiet(format!("in {below}")), &leak.place);
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        if let Some(elements) = leak.elements_text(single) {
            ui.label(RichText::new(elements).size(12.5).strong());
        }
        if let Some(kept) = leak.kept_text(single) {
            let tip = "What would be freed without it, at first and at last";
            ui.label(RichText::new(kept).size(12.5)).on_hover_text(tip);
        }
    });
    if let Some(filled) = leak.filled_with(single) {
        long(ui, quiet(filled), &leak.elements);
    }
    for step in leak.steps() {
        ui.add(egui::Label::new(RichText::new(step).size(12.0).color(theme::INCOMING)).wrap());
    }
    for note in &leak.notes {
        ui.add(egui::Label::new(RichText::new(note).size(11.0).color(theme::QUIET)).wrap());
    }
}

/// The folded card, once the place was shown: it covers little, and opens again. Returns whether it is to open.
fn folded(
    ui: &mut egui::Ui,
    room: f32,
    narrow: bool,
    (leak, since): (&LeakPlace, Option<usize>),
    open: &OpenDocument,
    asked: &mut Vec<Action>,
) -> bool {
    let mut opened = false;
    let LeakLines { which, brief, .. } = LeakLines::of(leak, &open.timeline, since);
    let frame = theme::frame().fill(theme::SOLID).inner_margin(Margin { left: 15, right: 8, top: 4, bottom: 4 });
    let name = |ui: &mut egui::Ui, room: f32| {
        let single = open.timeline.times() < 2;
        let amount = if single { &leak.retained.1 } else { &leak.growth };
        // The amount is never cut off: it has its room beside the name.
        let (font, small) = (egui::FontId::proportional(13.5), egui::FontId::proportional(12.5));
        let of_amount = ui.painter().layout_no_wrap(amount.clone(), small.clone(), theme::GROWTH).size().x;
        let room = room - of_amount - ui.spacing().item_spacing.x;
        let text = theme::fitting(ui.painter(), &leak.name(), &font, room);
        ui.add(egui::Label::new(RichText::new(text).font(font).strong()).selectable(false)).on_hover_text(&leak.place);
        ui.add(egui::Label::new(RichText::new(amount.as_str()).font(small).color(theme::GROWTH)).selectable(false));
    };
    // The buttons lie on it: it is there before them.
    let whole = egui::UiBuilder::new().id_salt("unfold").sense(egui::Sense::click());
    let drawn = ui.scope_builder(whole, |ui| {
        frame.show(ui, |ui| {
            ui.set_width(room.min(FOLDED) - 23.0);
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.style_mut().interaction.selectable_labels = false;
            let mut buttons = |ui: &mut egui::Ui, asked: &mut Vec<Action>| {
                opened = more(ui);
                next(ui, leak, asked);
            };
            ui.horizontal(|ui| {
                heading(ui, open, &which);
                if !narrow {
                    let room = ui.available_width() - 26.0;
                    name(ui, room);
                }
                at_right(ui, |ui| {
                    dismiss(ui, asked);
                    if narrow {
                        buttons(ui, asked);
                    }
                });
            });
            if narrow {
                ui.horizontal(|ui| name(ui, ui.available_width()));
            }
            ui.horizontal(|ui| {
                let kept = if narrow { 0.0 } else { 90.0 };
                let font = egui::FontId::proportional(11.5);
                let text = theme::fitting(ui.painter(), &brief, &font, ui.available_width() - kept);
                ui.label(RichText::new(text).font(font).color(theme::GROWTH))
                    .on_hover_text(format!("{brief}. {}", when(open, since)));
                if !narrow {
                    at_right(ui, |ui| buttons(ui, asked));
                }
            });
        });
    });
    accent(ui, drawn.response.rect);
    opened || drawn.response.on_hover_text("Click for all that is known of it").clicked()
}

fn accent(ui: &egui::Ui, rect: Rect) {
    let bar = Rect::from_min_max(rect.min, egui::pos2(rect.left() + 5.0, rect.bottom()));
    ui.painter().rect_filled(bar, CornerRadius { nw: 8, sw: 8, ne: 0, se: 0 }, theme::GROWTH);
}

/// The button that leads to the place.
fn go(ui: &mut egui::Ui, open: &OpenDocument, going: bool, asked: &mut Vec<Action>) {
    let offered = owners_offered(&open.source);
    let text = if going { "On the way…".to_owned() } else { keys::beside("Show its owner", Action::ShowOwner) };
    let text = RichText::new(text).color(Color32::WHITE);
    let button = egui::Button::new(text).fill(theme::NEXT_STEP);
    let response = ui.add_enabled(offered.is_ok() && !going, button).on_hover_text(Action::ShowOwner.tooltip());
    if response.on_disabled_hover_text(offered.err().unwrap_or_default()).clicked() {
        asked.push(Action::ShowOwner);
    }
}

/// The way to the next place, where there are several.
fn next(ui: &mut egui::Ui, leak: &LeakPlace, asked: &mut Vec<Action>) {
    let button = || egui::Button::new(quiet("Next".to_owned())).frame(false);
    if leak.others > 0 && ui.add(button()).on_hover_text(Action::NextPlace.tooltip()).clicked() {
        asked.push(Action::NextPlace);
    }
}

/// A text that wraps, and is cut after a few rows.
fn long(ui: &mut egui::Ui, text: RichText, all: &str) {
    let mut job = egui::text::LayoutJob::default();
    text.append_to(&mut job, ui.style(), egui::FontSelection::Default, egui::Align::Center);
    job.wrap = egui::text::TextWrapping { max_width: ui.available_width(), max_rows: MOST_ROWS, ..Default::default() };
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    let cut = galley.elided;
    let response = ui.add(egui::Label::new(galley));
    if cut {
        response.on_hover_text(all);
    }
}

/// How much of the growth of the heap it is (of one state: of the heap), as a bar.
fn share(ui: &mut egui::Ui, share: f32) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(egui::vec2(90.0, 8.0), egui::Sense::hover());
        let painter = ui.painter();
        painter.rect(rect, 4.0, Color32::from_rgb(38, 48, 68), Stroke::NONE, StrokeKind::Inside);
        let part = Rect::from_min_size(rect.min, egui::vec2(rect.width() * share.max(0.02), rect.height()));
        painter.rect_filled(part, 4.0, theme::GROWTH);
    });
}

#[cfg(test)]
mod tests;
