//! A row of the list of ways: a step with its field and share, a root, or an omission.

use super::{PathTools, ROW, quiet};
use crate::viewer::action::Action;
use crate::viewer::editor::CodePlace;
use crate::viewer::keys;
use crate::viewer::panels::theme;
use crate::viewer::root_paths::{CutChoice, FoundPaths, PathRow};
use crate::viewer::selection::Select;
use bevy_egui::egui::{self, Align2, Color32, FontId, RichText, Sense, Stroke, StrokeKind};
use memory_city_analysis::ownership::{PathEnd, WayStep};
use memory_city_analysis::tabular::{bytes_text, count_text, several};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::Amount;

/// Indentation of nested rows, points, and the depth from which it stays the same.
const INDENT: f32 = 9.0;
const DEEPEST: u32 = 9;
/// Content of a row.
struct WayLine {
    text: String,
    colour: Color32,
    /// The row's objects, those of the group, and the share of its memory that the row's objects keep, 0 to 1.
    share: Option<(u64, u64, f32)>,
    choice: Option<CutChoice>,
    node: Option<NodeId>,
    step: Option<usize>,
    /// Place of the variable in the code.
    place: Option<CodePlace>,
}

fn line_of(found: &FoundPaths, row: PathRow, timeline: &Timeline) -> WayLine {
    let whole = found.ways.about().objects.max(1);
    let share = |reached: Amount, keeps: u64| Some((reached.objects, whole, found.ways.kept_share(keeps)));
    let steps: &[WayStep] = &found.ways.steps;
    let said = |text: String| WayLine {
        text,
        colour: theme::QUIET,
        share: None,
        choice: None,
        node: None,
        step: None,
        place: None,
    };
    match row {
        PathRow::Step(0) => WayLine {
            text: match steps[0].node {
                Some(node) => theme::brief(&timeline.display_name(node)),
                None => "the groups".to_owned(),
            },
            colour: theme::ACCENT,
            share: Some((whole, whole, 1.0)),
            choice: None,
            node: steps[0].node,
            step: Some(0),
            place: None,
        },
        PathRow::Step(at) => WayLine {
            text: brief_step(&steps[at]),
            colour: theme::TEXT,
            share: share(steps[at].reached, steps[at].keeps),
            choice: (steps[at].field != "<class>").then_some(CutChoice::Step(at)),
            node: steps[at].node,
            step: Some(at),
            place: None,
        },
        PathRow::Root(at, root) => {
            let root = &steps[at].roots[root];
            WayLine {
                text: root.text.clone(),
                colour: theme::ROUTE,
                share: share(root.reached, root.keeps),
                choice: Some(CutChoice::Root(root.text.clone())),
                node: steps[at].node,
                step: Some(at),
                place: root.place.as_deref().and_then(CodePlace::first_in),
            }
        }
        PathRow::LeftOut(at) => {
            let (kinds, objects) = steps[at].left_out;
            said(format!(
                "{} hidden, {}",
                several(kinds, "minor holder", "minor holders"),
                several(objects, "object", "objects")
            ))
        }
        PathRow::End(at) => said(
            match steps[at].end {
                PathEnd::NotFollowed => "there are ways further up",
                _ if steps[at].left_out.0 > 0 => "each way further up leads to too little of the group",
                _ => "nothing else holds it",
            }
            .to_owned(),
        ),
    }
}

/// Kept memory is shown if it exceeds the objects' own size by this share.
const WORTH_SAYING: f32 = 0.1;

/// The part of a group's objects: `4 %`, or `1 of 56, holds 83 %` where these keep more of the memory than they are.
fn share_text((objects, whole, kept): (u64, u64, f32)) -> String {
    let percent = |share: f32| match 100.0 * share {
        little if little > 0.0 && little < 0.5 => "<1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    };
    let share = objects as f32 / whole as f32;
    match kept - share >= WORTH_SAYING {
        true => format!("{} of {}, holds {}", count_text(objects), count_text(whole), percent(kept)),
        false => percent(share),
    }
}

/// Class and field, without the package.
pub fn brief_step(step: &WayStep) -> String {
    // Beside the type may stand what it is, such as the entry of a thread local.
    let (of, note) = step.of.split_once(" (").unwrap_or((&step.of, ""));
    let note = match note.trim_end_matches(')').rsplit_once(' ') {
        Some((what, name)) => format!(" ({what} {})", theme::brief(name)),
        None if note.is_empty() => String::new(),
        None => format!(" ({note}"),
    };
    let of = of.rsplit_once('.').map_or(of, |(_, class)| class);
    let of = if step.of.starts_with("class ") { format!("class {of}") } else { of.to_owned() };
    let of = of.replace("class class ", "class ");
    let dot = if step.field.is_empty() || step.field.starts_with('[') { "" } else { "." };
    format!("{of}{note}{dot}{}", step.field)
}

pub(super) fn row_of(ui: &mut egui::Ui, tools: &mut PathTools<'_>, found: &FoundPaths, depth: u32, row: PathRow) {
    let line = line_of(found, row, tools.timeline);
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), ROW), Sense::click());
    theme::named(&response, &line.text);
    let chosen = line.choice.is_some() && line.choice == tools.ways.chosen;
    let is_cut = line.choice.is_some() && tools.ways.cut().map(|cut| &cut.choice) == line.choice.as_ref();
    let painter = ui.painter_at(rect);
    if response.hovered() {
        tools.ways.hovered = line.step;
        tools.pointing.pointed = line.node;
    }
    if chosen || response.hovered() {
        let fill = if chosen { Color32::from_rgb(30, 66, 122) } else { Color32::from_rgb(34, 44, 64) };
        painter.rect(rect, 4.0, fill, Stroke::NONE, StrokeKind::Inside);
    }
    let left = rect.left() + 3.0 + INDENT * depth.min(DEEPEST) as f32;
    let mut right = rect.right() - 3.0;
    if let Some(share) = line.share {
        let at = egui::pos2(right, rect.center().y);
        let drawn = painter.text(at, Align2::RIGHT_CENTER, share_text(share), FontId::proportional(12.0), theme::QUIET);
        right -= (drawn.width() + 6.0).max(38.0);
    }
    if is_cut {
        let at = egui::pos2(right, rect.center().y);
        right = painter.text(at, Align2::RIGHT_CENTER, "cut", FontId::proportional(11.5), theme::FREED).left() - 4.0;
    }
    let mut text_left = left;
    match row {
        PathRow::Root(..) => {
            let c = egui::pos2(left + 4.0, rect.center().y);
            let pin = vec![c + egui::vec2(-4.0, -4.0), c + egui::vec2(4.0, -4.0), c + egui::vec2(0.0, 5.0)];
            painter.add(egui::Shape::convex_polygon(pin, theme::ROUTE, Stroke::NONE));
            text_left += 13.0;
        }
        PathRow::Step(at) if at > 0 => {
            painter.text(
                egui::pos2(left, rect.center().y - 1.0),
                Align2::LEFT_CENTER,
                "‹",
                FontId::proportional(13.0),
                theme::QUIET,
            );
            text_left += 10.0;
        }
        _ => {}
    }
    let room = ((right - text_left) / 6.3).max(6.0) as usize;
    let font = FontId::proportional(12.0);
    let text = theme::shortened(&line.text, room);
    painter.text(egui::pos2(text_left, rect.center().y), Align2::LEFT_CENTER, text, font, line.colour);
    let opens = line.place.is_some() && ui.input(|input| input.modifiers.command);
    if response.clicked() && opens {
        tools.code.clone_from(&line.place);
    } else if response.clicked() {
        tools.ways.chosen.clone_from(&line.choice);
        if let Some(node) = line.node {
            tools.selection.select(tools.timeline, node);
        }
    }
    let can_cut = line.choice.is_some();
    let response = response.on_hover_ui(|ui| {
        explained(ui, tools, found, row, can_cut);
        if let Some(place) = &line.place {
            ui.label(quiet(format!("Ctrl+click opens {} in your editor", place.brief())));
        }
    });
    if let Some(choice) = line.choice {
        response.context_menu(|ui| {
            if let Some(place) = line.place
                && ui.button(format!("Open {} in the editor", place.brief())).clicked()
            {
                tools.code = Some(place);
                ui.close();
            }
            if ui.button("Show what would be freed without it").clicked() {
                tools.cut = Some(choice);
                ui.close();
            }
        });
    }
}

fn explained(ui: &mut egui::Ui, tools: &PathTools<'_>, found: &FoundPaths, row: PathRow, can_cut: bool) {
    match row {
        PathRow::Step(at) => {
            let step = &found.ways.steps[at];
            if at > 0 {
                ui.label(RichText::new(step.text()).strong());
                ui.label(format!(
                    "{} objects hold those below by {} references",
                    count_text(step.objects),
                    count_text(step.references)
                ));
            }
            ui.label(format!(
                "{} of the group's {} objects are reached through it, {}",
                count_text(step.reached.objects),
                count_text(found.ways.about().objects),
                bytes_text(step.reached.bytes)
            ));
            let kept = 100.0 * found.ways.kept_share(step.keeps);
            ui.label(format!("They keep {} alive, {kept:.0} % of what the whole group does", bytes_text(step.keeps)));
            ui.label(format!("Retains {}: what would be freed if all of them were", bytes_text(step.retained.bytes)));
            if step.again > 0 {
                ui.label(format!("{} more objects of types on the way lie between", count_text(step.again)));
            }
            if let Some(node) = step.node {
                ui.label(quiet(theme::told_path(tools.timeline, node)));
            }
        }
        PathRow::Root(at, root) => {
            let root = &found.ways.steps[at].roots[root];
            ui.label(RichText::new(&root.text).strong());
            ui.label(format!(
                "Holds {} objects of this step; {} objects of the group are reached from there, and keep {} alive",
                count_text(root.held),
                count_text(root.reached.objects),
                bytes_text(root.keeps)
            ));
        }
        PathRow::LeftOut(_) => {
            ui.label("Through each of them too little of the group is reached, or there were enough steps");
        }
        PathRow::End(_) => {
            ui.label("Nothing above this step is listed");
        }
    }
    if can_cut {
        let key = keys::key(Action::Cut);
        ui.label(quiet(format!("Click chooses it and selects its group; {key} shows what would be freed without it")));
    }
}
