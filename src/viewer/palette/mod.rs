//! The palette: one field that finds everything. Groups by name, glob and expression, lit in the city during typing; actions, settings,
//! groupings, views, bookmarks, points in time. It has the keyboard while it is open.

mod entries;

use super::action::Action;
use super::bookmarks::Bookmarks;
use super::clock::Clock;
use super::dock::Dock;
use super::document::{Document, OpenDocument};
use super::finding::LeakSearch;
use super::frame::{Awake, Stage};
use super::notices::Notices;
use super::panels::grouping_editor::bloat;
use super::panels::numbers::number;
use super::panels::spinner::spinner;
use super::panels::theme;
use super::search::{GroupSearch, MOST_LISTED, SearchFound};
use super::selection::{Select, Selection, SharedFilter};
use super::settings::Settings;
use super::view::Views;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, Key, Modifiers, RichText};
use entries::{Does, FittingKind, PaletteEntry};
use memory_city_analysis::analyses::LeakPlace;
use memory_city_analysis::group;
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::NodeId;
use std::sync::Arc;

/// Rows of one kind beside groups.
const MOST_OF_A_KIND: usize = 7;
/// Groups that are listed; the others are counted.
const MOST_GROUPS: usize = 60;
/// Height of the list, points.
const HEIGHT: f32 = 380.0;
const WIDTH: f32 = 640.0;

/// The palette, open or not.
#[derive(Resource, Default)]
pub struct CommandPalette {
    open: bool,
    /// It has been opened in this frame: its field wants the keyboard.
    fresh: bool,
    text: String,
    /// The row that Enter takes.
    at: usize,
    /// A key that takes rows was pressed. It waits until the list shows what the whole text finds: fast typists are ahead of it.
    takes: Option<Takes>,
    told: Option<(String, usize, u64, usize)>,
}

/// What a key takes of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Takes {
    Row,
    AllGroups,
}

impl CommandPalette {
    fn close(&mut self, search: &mut GroupSearch) {
        (self.open, self.takes) = (false, None);
        search.typed = None;
        tracing::debug!("palette: closed");
    }
}

fn palette_actions(
    mut actions: MessageReader<Action>,
    mut palette: ResMut<CommandPalette>,
    mut search: ResMut<GroupSearch>,
    document: Res<Document>,
    mut awake: ResMut<Awake>,
) {
    for action in actions.read() {
        if *action == Action::Palette && document.get().is_some() {
            if palette.open {
                palette.close(&mut search);
            } else {
                *palette = CommandPalette { open: true, fresh: true, ..CommandPalette::default() };
                tracing::debug!("palette: opened");
            }
            awake.keep_if(true);
        }
    }
    if palette.open && document.get().is_none() {
        palette.close(&mut search);
    }
}

/// One row of the list.
enum PaletteRow {
    Heading(&'static str, String),
    Group(NodeId),
    Entry(PaletteEntry),
}

fn entries_of(
    open: &OpenDocument,
    settings: &Settings,
    views: &Views,
    (bookmarks, leak): (&Bookmarks, &LeakSearch),
    text: &str,
) -> Vec<PaletteEntry> {
    let of = if open.timeline.times() > 1 { "growth" } else { "heap" };
    let place = |place: LeakPlace| PaletteEntry {
        kind: "Owners",
        title: place.name(),
        aside: format!("{:.0} % of the {of}", 100.0 * place.share),
        does: Does::Place(place.number),
    };
    let mut all: Vec<PaletteEntry> = leak.owners().map(place).collect();
    for (at, bookmark) in bookmarks.list().iter().enumerate() {
        let (title, aside) = (bookmark.name.clone(), format!("time {}", bookmark.time + 1));
        all.push(PaletteEntry { kind: "Bookmarks", title, aside, does: Does::Bookmark(at) });
    }
    // A number is a point in time as well.
    if let Some(time) = text.trim().parse::<usize>().ok().filter(|t| (1..=open.timeline.times()).contains(t)) {
        let label = open.timeline.points()[time - 1].label.clone();
        let title = format!("Point in time {time}");
        all.push(PaletteEntry { kind: "Times", title, aside: label, does: Does::Time(time - 1) });
    }
    all.extend(entries::actions());
    all.extend(entries::settings(settings, open.source.gc_noun()));
    if open.source.can_regroup() {
        for grouping in group::groupings().into_iter().filter(|grouping| open.source.offers(grouping).is_ok()) {
            let now = settings.grouping == grouping.id || open.source.grouping_id() == grouping.id;
            all.push(PaletteEntry {
                kind: "Groupings",
                title: format!("Group by {}", grouping.title),
                aside: if now { "now".to_owned() } else { grouping.id.clone() },
                does: Does::Group(grouping.id.clone()),
            });
        }
        if open.source.heaps().is_some() {
            all.push(PaletteEntry {
                kind: "Groupings",
                title: format!("Group by {}", bloat::TITLE.to_lowercase()),
                aside: if open.source.grouping_id() == bloat::LIST { "now" } else { bloat::LIST }.to_owned(),
                does: Does::GroupByBloat,
            });
        }
    }
    all.extend(views.iter().map(|view| view.about()).map(|about| PaletteEntry {
        kind: "Views",
        title: format!("Show {}", about.title),
        aside: theme::shortened(about.help, 60),
        does: Does::View(about.id),
    }));
    all
}

/// A person's action in the palette.
enum Done {
    Nothing,
    Close,
    Select(NodeId),
    SelectAll,
    Filter,
    Entry(Does),
}

/// Draws it over everything, and carries out the choice.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub(super) fn show(
    In(ctx): In<egui::Context>,
    mut palette: ResMut<CommandPalette>,
    mut search: ResMut<GroupSearch>,
    document: Res<Document>,
    (mut settings, mut selection, mut filter): (ResMut<Settings>, ResMut<Selection>, ResMut<SharedFilter>),
    (views, mut dock, mut bookmarks): (Res<Views>, ResMut<Dock>, ResMut<Bookmarks>),
    mut leak: ResMut<LeakSearch>,
    (mut clock, mut notices, mut awake): (ResMut<Clock>, ResMut<Notices>, ResMut<Awake>),
    mut actions: MessageWriter<Action>,
) {
    let Some(open) = document.get().filter(|_| palette.open) else { return };
    let palette = &mut *palette;
    let found = search.found().filter(|found| found.text == palette.text).map(Arc::clone);
    let all = entries_of(open, &settings, &views, (&bookmarks, &leak), &palette.text);
    let rows = rows(palette, found.as_deref(), entries::fitting(&all, &palette.text, MOST_OF_A_KIND));
    let choices: Vec<usize> = (0..rows.len()).filter(|&i| !matches!(rows[i], PaletteRow::Heading(..))).collect();
    palette.at = palette.at.min(choices.len().saturating_sub(1));
    let before = palette.text.clone();
    let mut done = keys(&ctx, palette, choices.len());
    let drawn = window(&ctx, palette, &search, (&rows, &choices), open, (found.as_deref(), clock.time, &settings));
    if matches!(done, Done::Nothing) {
        done = drawn;
    }
    if palette.text != before {
        palette.at = 0;
    } else if let Some(takes) = palette.takes.take_if(|_| search.has_answered(&before)) {
        done = match takes {
            Takes::Row => choices.get(palette.at).map_or(Done::Nothing, |&row| choose(&rows[row])),
            Takes::AllGroups => Done::SelectAll,
        };
    }
    awake.wait_if(palette.takes.is_some());
    if search.typed.as_ref() != Some(&palette.text) {
        search.typed = Some(palette.text.clone());
    }
    let told = (palette.text.clone(), choices.len(), found.as_ref().map_or(0, |f| f.matched), palette.at);
    if palette.told.as_ref() != Some(&told) {
        tracing::debug!("palette: {:?}: {} rows, {} groups match, at {}", told.0, told.1, told.2, told.3);
        palette.told = Some(told);
    }
    match done {
        Done::Nothing => return,
        Done::Close => {}
        Done::Select(node) => {
            selection.select(&open.timeline, node);
            actions.write(Action::Focus);
        }
        Done::SelectAll => {
            if let Some(found) = &found {
                selection.select_all(&open.timeline, found.nodes.iter().copied());
            }
        }
        Done::Filter => filter.0.clone_from(&palette.text),
        Done::Entry(does) => match does {
            Does::Act(action) => {
                actions.write(action);
            }
            Does::Set(wanted) => *settings = *wanted,
            Does::Group(id) => settings.grouping = id,
            Does::GroupByBloat => match bloat::make_known() {
                Ok(()) => settings.grouping = bloat::LIST.to_owned(),
                Err(why) => notices.tell(why),
            },
            Does::View(id) => {
                if let Some(view) = views.get(id) {
                    dock.open(view, &views);
                }
            }
            Does::Place(number) => {
                leak.turn_to(number);
                actions.write(Action::ShowOwner);
            }
            Does::Bookmark(at) => bookmarks.go_to(at),
            Does::Time(time) => clock.step_to(time),
        },
    }
    palette.close(&mut search);
}

fn rows(palette: &CommandPalette, found: Option<&SearchFound>, kinds: Vec<FittingKind>) -> Vec<PaletteRow> {
    let mut rows = Vec::new();
    let typed = !palette.text.trim().is_empty();
    if let Some(found) = found.filter(|found| typed && found.matched > 0) {
        let shown = found.nodes.len().min(MOST_GROUPS) as u64;
        let aside = match found.matched > shown {
            true => format!("the {shown} largest of {}; all are lit", count_text(found.matched)),
            false => shown.to_string(),
        };
        rows.push(PaletteRow::Heading("Groups", aside));
        rows.extend(found.nodes.iter().take(MOST_GROUPS).map(|&node| PaletteRow::Group(node)));
    }
    for FittingKind { kind, listed, count } in kinds {
        let aside = match count > listed.len() {
            true => format!("{} of {count}: type a part of a name for the others", listed.len()),
            false => String::new(),
        };
        rows.push(PaletteRow::Heading(kind, aside));
        rows.extend(listed.into_iter().map(PaletteRow::Entry));
    }
    rows
}

fn choose(row: &PaletteRow) -> Done {
    match row {
        PaletteRow::Heading(..) => Done::Nothing,
        PaletteRow::Group(node) => Done::Select(*node),
        PaletteRow::Entry(entry) => Done::Entry(entry.does.clone()),
    }
}

/// Keys, before the field sees them.
fn keys(ctx: &egui::Context, palette: &mut CommandPalette, rows: usize) -> Done {
    // The key that opened it is on its way through this frame still.
    let fresh = palette.fresh;
    ctx.input_mut(|input| {
        let last = rows.saturating_sub(1);
        for (key, by) in [(Key::ArrowDown, 1isize), (Key::ArrowUp, -1), (Key::PageDown, 8), (Key::PageUp, -8)] {
            let pressed = input.count_and_consume_key(Modifiers::NONE, key);
            palette.at = palette.at.saturating_add_signed(by * pressed as isize).min(last);
        }
        let closes = [Key::K, Key::P].into_iter().any(|key| input.consume_key(Modifiers::COMMAND, key));
        if input.consume_key(Modifiers::NONE, Key::Escape) || closes && !fresh {
            return Done::Close;
        }
        if input.consume_key(Modifiers::COMMAND, Key::Enter) {
            palette.takes = Some(Takes::AllGroups);
        }
        if input.consume_key(Modifiers::SHIFT, Key::Enter) {
            return Done::Filter;
        }
        if input.consume_key(Modifiers::NONE, Key::Enter) {
            palette.takes = Some(Takes::Row);
        }
        Done::Nothing
    })
}

type Numbers<'a> = (Option<&'a SearchFound>, usize, &'a Settings);

fn window(
    ctx: &egui::Context,
    palette: &mut CommandPalette,
    search: &GroupSearch,
    (rows, choices): (&[PaletteRow], &[usize]),
    open: &OpenDocument,
    (found, time, settings): Numbers<'_>,
) -> Done {
    let mut done = Done::Nothing;
    let screen = ctx.content_rect();
    let width = WIDTH.min(screen.width() - 40.0);
    let area = egui::Area::new("palette".into()).order(egui::Order::Foreground);
    area.anchor(Align2::CENTER_TOP, [0.0, 56.0]).show(ctx, |ui| {
        theme::frame().fill(theme::SOLID).inner_margin(12).show(ui, |ui| {
            ui.set_width(width);
            let field = egui::TextEdit::singleline(&mut palette.text)
                .id(egui::Id::new("palette field"))
                .desired_width(f32::INFINITY)
                .font(egui::FontId::proportional(16.0))
                .hint_text("Find groups (HashMap, *Cache, bytes > 1MB and growth > 20%), actions, settings, groupings");
            let field = ui.add(field);
            if std::mem::take(&mut palette.fresh) || !field.has_focus() {
                field.request_focus();
            }
            ui.horizontal(|ui| match (&search.wrong, found) {
                (Some((_, why)), _) if !palette.text.trim().is_empty() => {
                    ui.label(RichText::new(theme::shortened(why, 90)).size(12.0).color(theme::WARNING));
                }
                (_, Some(found)) => {
                    ui.label(RichText::new(found.counts(&open.timeline, time)).size(12.0).color(theme::FREED));
                }
                _ if search.busy() => {
                    spinner(ui, 12.0);
                }
                _ => {
                    let hint =
                        "Names, globs with * and ?, or expressions over columns. What is found is lit in the city";
                    ui.label(RichText::new(hint).size(12.0).color(theme::QUIET));
                }
            });
            ui.add_space(2.0);
            ui.separator();
            if choices.is_empty() && !search.busy() {
                ui.label(RichText::new("Nothing is called so").color(theme::QUIET));
            }
            let moved = ctx.input(|i| i.pointer.delta() != egui::Vec2::ZERO);
            egui::ScrollArea::vertical()
                .max_height(HEIGHT.min(screen.height() - 220.0))
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 1.0;
                    let mut choice = 0;
                    for row in rows {
                        if let PaletteRow::Heading(title, aside) = row {
                            ui.add_space(5.0);
                            ui.horizontal(|ui| {
                                theme::heading(ui, &title.to_uppercase());
                                ui.label(RichText::new(aside).size(11.0).color(theme::QUIET));
                            });
                            continue;
                        }
                        let response = line(ui, row, choice == palette.at, open, time, settings);
                        if choice == palette.at && !response.hovered() {
                            response.scroll_to_me(None);
                        }
                        if response.hovered() && moved {
                            palette.at = choice;
                        }
                        if response.clicked() {
                            done = choose(row);
                        }
                        choice += 1;
                    }
                });
            ui.separator();
            ui.horizontal(|ui| {
                let hint = |text: &str| RichText::new(text).size(11.0).color(theme::QUIET);
                ui.label(hint("Up, Down choose  ·  Enter takes it  ·  Esc closes"));
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let any = found.is_some_and(|found| found.matched > 0);
                    let keep = egui::Button::new(RichText::new("Keep as filter  [Shift+Enter]").size(11.5));
                    let tip = "What is found stays lit, and the table lists only that, until the filter is put away";
                    if ui.add_enabled(!palette.text.trim().is_empty(), keep).on_hover_text(tip).clicked() {
                        done = Done::Filter;
                    }
                    let all = match found.is_some_and(|found| found.matched > MOST_LISTED as u64) {
                        true => format!("Select the {MOST_LISTED} largest  [Ctrl+Enter]"),
                        false => "Select all  [Ctrl+Enter]".to_owned(),
                    };
                    let select = egui::Button::new(RichText::new(all).size(11.5));
                    if ui.add_enabled(any, select).on_hover_text("What is found as one group").clicked() {
                        done = Done::SelectAll;
                    }
                });
            });
        });
    });
    done
}

fn line(
    ui: &mut egui::Ui,
    row: &PaletteRow,
    chosen: bool,
    open: &OpenDocument,
    time: usize,
    settings: &Settings,
) -> egui::Response {
    let timeline = &open.timeline;
    let (title, aside, full) = match row {
        PaletteRow::Group(node) => {
            let metric = settings.metric_in(timeline);
            let value = number(timeline, timeline.value(time, *node, metric), metric);
            let kind = if timeline.is_leaf(*node) { "" } else { "district  ·  " };
            (theme::worded(&timeline.display_name(*node)), format!("{kind}{value}"), theme::told_path(timeline, *node))
        }
        PaletteRow::Entry(entry) => (entry.title.clone(), entry.aside.clone(), entry.title.clone()),
        PaletteRow::Heading(..) => Default::default(),
    };
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 22.0), egui::Sense::click());
    theme::named(&response, &title);
    if chosen {
        ui.painter().rect_filled(rect, 4.0, Color32::from_rgb(36, 78, 140));
    }
    let painter = ui.painter_at(rect);
    let font = egui::FontId::proportional(13.0);
    let quiet = if chosen { theme::TEXT } else { theme::QUIET };
    let side = painter.layout_no_wrap(aside, egui::FontId::proportional(12.0), quiet);
    let room = rect.width() - side.size().x - 28.0;
    let text = theme::shortened(&title, (room / 6.6).max(8.0) as usize);
    painter.text(rect.left_center() + egui::vec2(8.0, 0.0), Align2::LEFT_CENTER, text, font, theme::TEXT);
    let at = egui::pos2(rect.right() - 8.0 - side.size().x, rect.center().y - side.size().y / 2.0);
    painter.galley(at, side, quiet);
    response.on_hover_text(full)
}

/// The palette.
pub struct PalettePlugin;

impl Plugin for PalettePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<CommandPalette>().add_systems(Update, palette_actions.in_set(Stage::Act));
    }
}
