//! The levels of the grouping as rows. They are dragged to another place (or moved by buttons and keys), removed, and refined by the text
//! in their parentheses.

use super::draft::DraftOutcome;
use super::parts::{self, PartList};
use super::widgets::{self, CardLook};
use super::{EditorTools, theme};
use bevy_egui::egui::{self, EventFilter, Key, Modifiers, RichText, Stroke, Ui};
use memory_city_analysis::group::{
    self, GroupingLevel, LevelCondition, LevelInside, LevelOption, PartKind, Registry, TextPlace, list_text,
};

/// The part being dragged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraggedPart {
    /// A level, by its place.
    Level(usize),
    /// Something from the list of all there is, by its id.
    Part(String),
}

/// Typed texts that are not valid yet, and the last log message.
#[derive(Default)]
pub struct LevelList {
    /// Text of the list inside a transformer, by its level, while it is none.
    inner: Option<(usize, String)>,
    logged: String,
}

/// Change to the levels, made after they have been drawn.
enum LevelEdit {
    Move(usize, usize),
    Remove(usize),
    Replace(usize, GroupingLevel),
}

/// Draws the page: levels at the left, all that there is at the right.
pub fn show(ui: &mut Ui, list: &mut LevelList, parts: &mut PartList, tools: &mut EditorTools<'_>) {
    let (room, gap) = (ui.available_size(), 14.0);
    let width = (room.x - gap) * 0.52;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let places = ui
            .allocate_ui_with_layout(egui::vec2(width, room.y), egui::Layout::top_down(egui::Align::Min), |ui| {
                ui.spacing_mut().item_spacing.x = 7.0;
                ui.push_id("levels", |ui| rows(ui, list, tools)).inner
            })
            .inner;
        ui.allocate_ui_with_layout(
            egui::vec2(room.x - gap - width, room.y),
            egui::Layout::top_down(egui::Align::Min),
            |ui| {
                ui.spacing_mut().item_spacing.x = 7.0;
                if let Some(added) = parts::show(ui, parts, tools) {
                    let registry = group::registry();
                    tools.draft.insert(&registry, registry.new_level(&added), None);
                }
            },
        );
        log(list, &places, parts, tools);
    });
}

/// Says in the trail where things can be taken hold of, whenever that changes.
fn log(list: &mut LevelList, places: &[egui::Pos2], parts: &PartList, tools: &EditorTools<'_>) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let at = |p: &egui::Pos2| format!("{:.0},{:.0}", p.x, p.y);
    let levels: Vec<String> = places.iter().map(at).collect();
    let shown: Vec<String> = parts.places.iter().take(4).map(|(id, p)| format!("{id} {}", at(p))).collect();
    let now = format!("levels: {} at [{}]; parts at [{}]", tools.draft.text(), levels.join(" "), shown.join("; "));
    if now != list.logged {
        tracing::debug!("{now}");
        list.logged = now;
    }
}

/// The rows. Returns where each can be taken hold of.
fn rows(ui: &mut Ui, list: &mut LevelList, tools: &mut EditorTools<'_>) -> Vec<egui::Pos2> {
    theme::heading(ui, "LEVELS, FROM THE OUTERMOST");
    let whole = ui.available_rect_before_wrap();
    let levels = tools.draft.levels().to_vec();
    let mut edit = None;
    let mut rects = Vec::new();
    let mut places = Vec::new();
    egui::ScrollArea::vertical().id_salt("rows").auto_shrink([false, false]).show(ui, |ui| {
        if levels.is_empty() {
            ui.add_space(18.0);
            let hint = "No levels yet. Drag classifiers here from the right, double click them, or type below";
            widgets::lines(ui, RichText::new(hint).color(theme::QUIET));
        }
        for (at, level) in levels.iter().enumerate() {
            let (rect, grip) = row(ui, list, at, levels.len(), level, tools, &mut edit);
            rects.push(rect);
            places.push(grip);
        }
    });
    drop_here(ui, whole, &rects, tools, &mut edit);
    match edit {
        None => {}
        Some(LevelEdit::Move(from, before)) => {
            tools.draft.move_level(from, before);
            list.inner = None;
        }
        Some(LevelEdit::Remove(at)) => {
            tools.draft.remove(at);
            list.inner = None;
        }
        Some(LevelEdit::Replace(at, level)) => {
            let mut levels = levels;
            levels[at] = level;
            tools.draft.set_levels(levels);
        }
    }
    places
}

/// Marks the place where the dragged part would go, and puts it there when it is let go.
fn drop_here(
    ui: &Ui,
    whole: egui::Rect,
    rects: &[egui::Rect],
    tools: &mut EditorTools<'_>,
    edit: &mut Option<LevelEdit>,
) {
    let Some(dragged) = egui::DragAndDrop::payload::<DraggedPart>(ui.ctx()) else { return };
    tools.awake = true;
    let Some(pointer) = ui.input(|i| i.pointer.interact_pos()).filter(|at| whole.expand(12.0).contains(*at)) else {
        return;
    };
    let before = rects.iter().position(|rect| pointer.y < rect.center().y).unwrap_or(rects.len());
    let y = match (before.checked_sub(1).and_then(|at| rects.get(at)), rects.get(before)) {
        (_, Some(next)) => next.top() - 2.5,
        (Some(last), None) => last.bottom() + 2.5,
        (None, None) => whole.top() + 8.0,
    };
    let line = [egui::pos2(whole.left(), y), egui::pos2(whole.right() - 10.0, y)];
    ui.painter().line_segment(line, Stroke::new(2.5, theme::ACCENT));
    if ui.input(|i| i.pointer.any_released()) {
        egui::DragAndDrop::clear_payload(ui.ctx());
        match &*dragged {
            DraggedPart::Level(from) => *edit = Some(LevelEdit::Move(*from, before)),
            DraggedPart::Part(id) => {
                let registry = group::registry();
                tools.draft.insert(&registry, registry.new_level(id), Some(before));
            }
        }
    }
}

/// Paints the dragged part beside the mouse.
pub fn ghost(ui: &Ui, text: &str) {
    let Some(at) = ui.input(|i| i.pointer.interact_pos()) else { return };
    let layer = egui::LayerId::new(egui::Order::Tooltip, egui::Id::new("dragged"));
    let painter = ui.ctx().layer_painter(layer);
    let galley = painter.layout_no_wrap(text.to_owned(), egui::FontId::proportional(13.0), theme::TEXT);
    let rect = egui::Rect::from_min_size(at + egui::vec2(12.0, 6.0), galley.size() + egui::vec2(14.0, 8.0));
    painter.rect(rect, 5.0, theme::TAB, Stroke::new(1.0, theme::ACCENT), egui::StrokeKind::Inside);
    painter.galley(rect.min + egui::vec2(7.0, 4.0), galley, theme::TEXT);
}

fn row(
    ui: &mut Ui,
    list: &mut LevelList,
    at: usize,
    of: usize,
    level: &GroupingLevel,
    tools: &mut EditorTools<'_>,
    edit: &mut Option<LevelEdit>,
) -> (egui::Rect, egui::Pos2) {
    let registry = group::registry();
    let known = registry.classifiers().find(|(meta, _)| meta.id == level.id.as_str());
    let (name, about) = match known {
        Some((meta, _)) => (meta.name.to_string(), meta.description.to_string()),
        None => (level.id.clone(), "There is no classifier of this name".to_owned()),
    };
    let kind = registry.part(&level.id).map(|(kind, _)| kind);
    let mut grip = egui::Pos2::ZERO;
    let response = widgets::card(ui, egui::Id::new(("level", at)), CardLook::default(), |ui| {
        ui.horizontal(|ui| {
            widgets::grip(ui);
            let colour = if kind.is_some() { theme::TEXT } else { theme::ERROR };
            let title = widgets::plain(ui, RichText::new(format!("{}.  {name}", at + 1)).strong().color(colour));
            grip = title.rect.center();
            widgets::plain(ui, RichText::new(&level.id).monospace().size(11.5).color(theme::QUIET));
            match kind {
                Some(PartKind::Filter) => widgets::badge(ui, "filter", theme::WARNING),
                Some(PartKind::Transformer) if matches!(&level.inside, LevelInside::List(inner) if !inner.is_empty()) =>
                {
                    widgets::badge(ui, "transformer", theme::INCOMING);
                }
                _ => {}
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 1.0;
                if widgets::cross(ui, 18.0).on_hover_text("Takes this level away  [Del]").clicked() {
                    *edit = Some(LevelEdit::Remove(at));
                }
                let down = widgets::arrow(ui, 18.0, false, at + 1 < of);
                if down.on_hover_text("One level down  [Alt+Down]").clicked() {
                    *edit = Some(LevelEdit::Move(at, at + 2));
                }
                if widgets::arrow(ui, 18.0, true, at > 0).on_hover_text("One level up  [Alt+Up]").clicked() {
                    *edit = Some(LevelEdit::Move(at, at - 1));
                }
            });
        });
        widgets::lines(ui, RichText::new(about).size(11.5).color(theme::QUIET));
        let mut changed = level.clone();
        if inside(ui, list, at, &mut changed, &registry) {
            *edit = Some(LevelEdit::Replace(at, changed));
        }
        if let DraftOutcome::Refused(..) = tools.draft.outcome()
            && let Some(why) = refused(&registry, level, tools)
        {
            widgets::lines(ui, RichText::new(format!("Not for this input: {why}")).size(11.5).color(theme::WARNING));
        }
    });
    response.dnd_set_drag_payload(DraggedPart::Level(at));
    if response.dragged() {
        ghost(ui, &name);
    }
    if response.clicked() {
        response.request_focus();
    }
    if response.has_focus() {
        keys(ui, &response, at, of, edit);
    }
    (response.rect, grip)
}

/// Why the input cannot offer one of the levels.
fn refused(registry: &Registry, level: &GroupingLevel, tools: &EditorTools<'_>) -> Option<String> {
    let alone = registry.grouping(&level.to_string()).ok()?;
    tools.open.source.offers(&alone).err()
}

/// The keys of a row that has the keyboard.
fn keys(ui: &Ui, response: &egui::Response, at: usize, of: usize, edit: &mut Option<LevelEdit>) {
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |modifiers: Modifiers, key: Key| ui.input_mut(|i| i.consume_key(modifiers, key));
    if pressed(Modifiers::ALT, Key::ArrowUp) && at > 0 {
        *edit = Some(LevelEdit::Move(at, at - 1));
    } else if pressed(Modifiers::ALT, Key::ArrowDown) && at + 1 < of {
        *edit = Some(LevelEdit::Move(at, at + 2));
    } else if pressed(Modifiers::NONE, Key::Delete) || pressed(Modifiers::NONE, Key::Backspace) {
        *edit = Some(LevelEdit::Remove(at));
    }
}

/// The content of a level's parentheses. Returns whether it was changed.
fn inside(ui: &mut Ui, list: &mut LevelList, at: usize, level: &mut GroupingLevel, registry: &Registry) -> bool {
    match &mut level.inside {
        LevelInside::Options(options) => {
            let known = registry.classifiers().find(|(meta, _)| meta.id == level.id.as_str());
            known.is_some_and(|(_, known)| self::options(ui, known, options))
        }
        LevelInside::List(inner) => inner_list(ui, list, at, inner, registry),
        LevelInside::Conditions(all) => conditions(ui, all, registry),
    }
}

fn options(ui: &mut Ui, known: &'static [group::OptionInfo], options: &mut Vec<LevelOption>) -> bool {
    let mut changed = false;
    if known.is_empty() {
        return false;
    }
    ui.horizontal_wrapped(|ui| {
        for info in known {
            let place = options.iter().position(|option| option.name == info.name);
            let mut there = place.is_some();
            let text = RichText::new(info.name).monospace().size(11.5);
            if ui.checkbox(&mut there, text).on_hover_text(info.description).changed() {
                match place {
                    Some(place) => drop(options.remove(place)),
                    None => options.push(LevelOption {
                        name: info.name.to_owned(),
                        value: info.example.map(str::to_owned),
                        at: TextPlace::default(),
                    }),
                }
                changed = true;
                continue;
            }
            if let Some(value) = place.and_then(|place| options[place].value.as_mut()) {
                let field = egui::TextEdit::singleline(value).font(egui::TextStyle::Monospace);
                let field = field.desired_width(120.0).hint_text(info.example.unwrap_or_default());
                changed |= ui.add(field).on_hover_text(info.description).changed();
            }
            ui.add_space(6.0);
        }
    });
    changed
}

/// The list inside a transformer, as text: it may hold further transformers.
fn inner_list(
    ui: &mut Ui,
    list: &mut LevelList,
    at: usize,
    inner: &mut Vec<GroupingLevel>,
    registry: &Registry,
) -> bool {
    let mut changed = false;
    let typed = list.inner.as_ref().filter(|(of, _)| *of == at).map(|(_, text)| text.clone());
    let mut text = typed.unwrap_or_else(|| list_text(inner));
    ui.horizontal(|ui| {
        widgets::plain(ui, RichText::new("those objects by").size(11.5).color(theme::QUIET));
        let field = egui::TextEdit::singleline(&mut text).font(egui::TextStyle::Monospace);
        let field = ui.add(field.desired_width(ui.available_width()).hint_text("type: a list of its own"));
        let field = field.on_hover_text(
            "Classifiers for the objects at the other end, in a row of their own; transformers nest. \
             Empty: the types at the other end divide the objects themselves",
        );
        if field.changed() {
            list.inner = None;
            match registry.levels(&text) {
                Ok(levels) => {
                    *inner = levels;
                    changed = true;
                }
                Err(_) if text.trim().is_empty() => {
                    inner.clear();
                    changed = true;
                }
                Err(_) => list.inner = Some((at, text.clone())),
            }
        }
    });
    if let Some((_, text)) = list.inner.as_ref().filter(|(of, _)| *of == at)
        && let Err(error) = registry.levels(text)
    {
        widgets::lines(ui, RichText::new(error.message).size(11.5).color(theme::ERROR));
    }
    changed
}

fn conditions(ui: &mut Ui, all: &mut Vec<LevelCondition>, registry: &Registry) -> bool {
    let mut changed = false;
    let mut removed = None;
    let several = all.len() > 1;
    for (at, condition) in all.iter_mut().enumerate() {
        ui.push_id(at, |ui| {
            ui.horizontal(|ui| {
                changed |= self::condition(ui, condition, registry);
                if several && widgets::cross(ui, 16.0).on_hover_text("Takes this condition away").clicked() {
                    removed = Some(at);
                }
            });
        });
    }
    if let Some(at) = removed {
        all.remove(at);
        changed = true;
    }
    if ui.small_button("and …").on_hover_text("One more condition; all of them must hold").clicked() {
        all.push(registry.new_condition("type"));
        changed = true;
    }
    changed
}

fn condition(ui: &mut Ui, condition: &mut LevelCondition, registry: &Registry) -> bool {
    let mut changed = false;
    changed |=
        ui.checkbox(&mut condition.not, "not").on_hover_text("Only objects for which it does not hold").changed();
    let mut of = None;
    egui::ComboBox::from_id_salt("of").width(130.0).selected_text(condition.of.to_string()).show_ui(ui, |ui| {
        for (name, about) in registry.askable() {
            if ui.selectable_label(condition.of.id == name, &name).on_hover_text(about).clicked() {
                of = Some(name);
            }
        }
    });
    if let Some(of) = of.filter(|of| *of != condition.of.id) {
        let not = condition.not;
        *condition = LevelCondition { not, ..registry.new_condition(&of) };
        changed = true;
    }
    let number = registry.is_number(&condition.of.id);
    if let Some((operator, value)) = &mut condition.compared {
        let operators: &[&str] = match number {
            true => &["=", "!=", "<", "<=", ">", ">="],
            false => &["=", "!=", "~", "!~"],
        };
        egui::ComboBox::from_id_salt("operator").width(44.0).selected_text(operator.as_str()).show_ui(ui, |ui| {
            for choice in operators {
                let tip = match *choice {
                    "~" => "contains, whatever the case",
                    "!~" => "does not contain, whatever the case",
                    "=" if !number => "is, or is in",
                    _ => "",
                };
                let label = ui.selectable_label(operator == choice, *choice);
                let label = if tip.is_empty() { label } else { label.on_hover_text(tip) };
                if label.clicked() && operator != choice {
                    (*choice).clone_into(operator);
                    changed = true;
                }
            }
        });
        let field = egui::TextEdit::singleline(value).font(egui::TextStyle::Monospace);
        let hint = if number { "1MB" } else { "com.acme" };
        changed |= ui.add(field.desired_width((ui.available_width() - 30.0).max(60.0)).hint_text(hint)).changed();
    }
    changed
}
