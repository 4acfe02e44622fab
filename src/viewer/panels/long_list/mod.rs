//! A list of any number of rows: twenty million are as fast as twenty. Only the visible rows are asked for. The scroll position is
//! counted in rows, not in points: a height of hundreds of millions of points is too large for exact positions.
//!
//! It knows nothing of the listed things: the caller supplies the content of cells, and acts on clicks.

mod cell;

use super::theme;
use bevy_egui::egui::{self, Color32, CornerRadius, Key, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, vec2};
pub use cell::{ListCell, ListColumn, Width};
use cell::{paint, places};

/// Height of a row and of the header, points.
pub const ROW: f32 = 19.0;
const HEADER: f32 = 22.0;
const BAR: f32 = 10.0;

/// Keys that a list takes while it has the keyboard.
pub const KEYS: &[bevy::prelude::KeyCode] = {
    use bevy::prelude::KeyCode as K;
    &[K::ArrowUp, K::ArrowDown, K::ArrowLeft, K::ArrowRight, K::Home, K::End, K::PageUp, K::PageDown, K::Enter]
};

/// Position and state of a list.
#[derive(Clone, Debug, Default)]
pub struct ListState {
    /// The row at the top, and how much of it is out of sight.
    first: f64,
    /// The row that keys move.
    pub cursor: Option<u64>,
    /// A row to be brought into sight.
    pub reveal: Option<u64>,
    /// The last visible rows, for the log.
    seen: u64,
}

/// An action of the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEvent {
    /// Clicked a link in a cell, or pressed Enter on a row (column 0 then).
    Follow(u64, usize),
    /// Opened or closed a row of a tree.
    Fold(u64),
    /// Asked for the parent of a row (Left on a closed one).
    Up(u64),
    /// Asked to be sorted by a column.
    Sort(usize),
}

/// A list to be shown.
pub struct LongList<'a> {
    /// Name, unique among lists, in the log too.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'a [ListColumn],
    /// How many rows it has.
    pub rows: u64,
    /// Whether it has the keyboard.
    pub focused: bool,
}

impl LongList<'_> {
    /// Shows it in all the room there is. `cell` is asked for the cells in sight alone.
    pub fn show(
        &self,
        ui: &mut Ui,
        state: &mut ListState,
        mut cell: impl FnMut(u64, usize) -> ListCell,
    ) -> Option<ListEvent> {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click());
        let body = Rect::from_min_max(rect.min + vec2(0.0, HEADER), rect.max);
        let page = f64::from((body.height() / ROW).max(1.0));
        let most = (self.rows as f64 - page).max(0.0);
        self.scroll(ui, state, &response, page, most);
        let needs_bar = most > 0.0;
        let inner = Rect::from_min_max(rect.min, rect.max - vec2(if needs_bar { BAR + 2.0 } else { 0.0 }, 0.0));
        let places = places(self.columns, inner);
        let mut event = self.header(ui, &places, inner);
        event = self.keys(ui, state, page, &mut cell).or(event);
        if needs_bar {
            bar(ui, Rect::from_min_max(Pos2::new(rect.max.x - BAR, body.min.y), rect.max), state, page, most);
        }
        state.first = state.first.clamp(0.0, most);
        let pointer =
            ui.input(|i| i.pointer.hover_pos()).filter(|at| body.contains(*at) && response.contains_pointer());
        let painter = ui.painter().with_clip_rect(body.intersect(ui.clip_rect()));
        let begin = state.first as u64;
        let end = ((state.first + page).ceil() as u64).min(self.rows);
        let mut hover: Option<String> = None;
        let mut told = String::new();
        let logs = tracing::enabled!(tracing::Level::DEBUG);
        for row in begin..end {
            let top = body.top() + ((row as f64 - state.first) * f64::from(ROW)) as f32;
            let line = Rect::from_min_max(Pos2::new(inner.left(), top), Pos2::new(inner.right(), top + ROW));
            let under = pointer.is_some_and(|at| line.contains(at));
            if state.cursor == Some(row) {
                painter.rect(
                    line,
                    CornerRadius::same(3),
                    Color32::from_rgb(30, 58, 104),
                    Stroke::NONE,
                    StrokeKind::Inside,
                );
            } else if under {
                painter.rect_filled(line, 3.0, Color32::from_rgb(34, 44, 64));
            } else if row % 2 == 1 {
                painter.rect_filled(line, 0.0, Color32::from_rgba_premultiplied(9, 11, 16, 40));
            }
            if under && response.clicked() {
                state.cursor = Some(row);
            }
            let mut texts: Vec<String> = Vec::new();
            for (column, place) in places.iter().enumerate() {
                let Some((left, right)) = *place else { continue };
                let room = Rect::from_min_max(Pos2::new(left, line.top()), Pos2::new(right, line.bottom()));
                let shown = cell(row, column);
                if logs {
                    texts.push(shown.full.clone().unwrap_or_else(|| shown.text.clone()));
                }
                let over = pointer.filter(|at| room.contains(*at));
                let painted = paint(&painter, ui, room, &shown, self.columns[column].right, over);
                if let Some(at) = over {
                    if painted.cut || shown.full.is_some() {
                        hover = Some(shown.full.clone().unwrap_or_else(|| shown.text.clone()));
                    }
                    let on_fold = painted.fold.is_some_and(|fold| fold.contains(at));
                    let on_link = shown.link && painted.text.contains(at);
                    if on_fold || on_link {
                        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
                    }
                    if response.clicked() {
                        event = match (on_fold, on_link) {
                            (true, _) => Some(ListEvent::Fold(row)),
                            (false, true) => Some(ListEvent::Follow(row, column)),
                            _ => event,
                        };
                    }
                    if response.double_clicked() && !on_fold && shown.fold.is_some() {
                        event = Some(ListEvent::Fold(row));
                    }
                }
            }
            if logs && row < begin + 40 {
                let at = line.left_center();
                told.push_str(&format!("\n  {row} at {:.0}, {:.0}: {}", at.x, at.y, texts.join(" | ")));
            }
        }
        if let Some(text) = hover {
            response.on_hover_ui_at_pointer(|ui| {
                ui.set_max_width(520.0);
                ui.label(text);
            });
        }
        if logs {
            self.log(state, &told);
        }
        event
    }

    /// Logs the visible rows, for bug reports and for the tests that drive a window.
    fn log(&self, state: &mut ListState, told: &str) {
        use std::hash::{Hash, Hasher};
        let mut hasher = std::hash::DefaultHasher::new();
        (told, self.rows).hash(&mut hasher);
        if std::mem::replace(&mut state.seen, hasher.finish()) != hasher.finish() {
            for line in format!("list {}: {} rows{told}", self.name, self.rows).lines() {
                tracing::debug!("{}: {}", self.name, line.trim());
            }
        }
    }

    fn scroll(&self, ui: &Ui, state: &mut ListState, response: &egui::Response, page: f64, most: f64) {
        if response.contains_pointer() {
            let delta = ui.input(|i| i.smooth_scroll_delta.y);
            state.first = (state.first - f64::from(delta / ROW)).clamp(0.0, most);
        }
        if let Some(row) = state.reveal.take() {
            let row = row as f64;
            if row < state.first || row + 1.0 > state.first + page {
                // In the middle: what is around it tells where it is.
                state.first = (row - page / 2.0).clamp(0.0, most);
            }
        }
    }

    fn header(&self, ui: &mut Ui, places: &[Option<(f32, f32)>], inner: Rect) -> Option<ListEvent> {
        let mut event = None;
        for (at, (column, place)) in self.columns.iter().zip(places).enumerate() {
            let Some((left, right)) = *place else { continue };
            let room = Rect::from_min_max(Pos2::new(left, inner.top()), Pos2::new(right, inner.top() + HEADER - 2.0));
            let sense = if column.sorts { Sense::click() } else { Sense::hover() };
            let response = ui.interact(room, ui.id().with((self.name, "column", at)), sense);
            let colour = match (column.sorted, response.hovered() && column.sorts) {
                (true, _) => theme::ACCENT,
                (false, true) => theme::TEXT,
                _ => theme::QUIET,
            };
            let arrow = if column.sorted { " ⏷" } else { "" };
            let title = ListCell { colour, ..ListCell::new(format!("{}{arrow}", column.title)) };
            paint(ui.painter(), ui, room, &title, column.right, None);
            let click = if column.sorts { ". Click to sort" } else { "" };
            if response.on_hover_text(format!("{}{click}", column.explanation)).clicked() {
                event = Some(ListEvent::Sort(at));
            }
        }
        let y = inner.top() + HEADER - 2.0;
        ui.painter().hline(inner.x_range(), y, Stroke::new(1.0, Color32::from_rgb(44, 55, 78)));
        event
    }

    fn keys(
        &self,
        ui: &Ui,
        state: &mut ListState,
        page: f64,
        cell: &mut impl FnMut(u64, usize) -> ListCell,
    ) -> Option<ListEvent> {
        let last = self.rows.checked_sub(1)?;
        if !self.focused || ui.memory(|memory| memory.focused().is_some()) {
            return None;
        }
        let pressed: Vec<Key> = ui.input(|i| {
            let keys = i.events.iter().filter_map(|event| match event {
                egui::Event::Key { key, pressed: true, modifiers, .. } if !modifiers.alt && !modifiers.command => {
                    Some(*key)
                }
                _ => None,
            });
            keys.collect()
        });
        let mut event = None;
        for key in pressed {
            let at = state.cursor.map(|at| at.min(last));
            let step = (page as u64).saturating_sub(1).max(1);
            let to = match (key, at) {
                (Key::ArrowUp, at) => at.map_or(0, |at| at.saturating_sub(1)),
                (Key::ArrowDown, at) => at.map_or(0, |at| (at + 1).min(last)),
                (Key::PageUp, at) => at.map_or(0, |at| at.saturating_sub(step)),
                (Key::PageDown, at) => at.map_or(0, |at| (at + step).min(last)),
                (Key::Home, _) => 0,
                (Key::End, _) => last,
                (Key::Enter, Some(at)) => {
                    event = Some(ListEvent::Follow(at, 0));
                    continue;
                }
                (Key::ArrowLeft | Key::ArrowRight, Some(at)) => {
                    event = match (cell(at, 0).fold, key) {
                        (Some(false), Key::ArrowRight) | (Some(true), Key::ArrowLeft) => Some(ListEvent::Fold(at)),
                        (_, Key::ArrowLeft) => Some(ListEvent::Up(at)),
                        _ => event,
                    };
                    continue;
                }
                _ => continue,
            };
            state.cursor = Some(to);
            // Into sight by as much as it takes, not to the middle.
            state.first = state.first.min(to as f64).max(to as f64 + 1.0 - page);
        }
        event
    }
}

/// The bar at the right: drag it, or click beside it.
fn bar(ui: &Ui, track: Rect, state: &mut ListState, page: f64, most: f64) {
    let response = ui.interact(track, ui.id().with("list bar"), Sense::click_and_drag());
    let share = (page / (most + page)) as f32;
    let height = (track.height() * share).max(28.0).min(track.height());
    let free = (track.height() - height).max(1.0);
    if (response.dragged() || response.clicked())
        && let Some(at) = response.interact_pointer_pos()
    {
        let place = f64::from((at.y - track.top() - height / 2.0) / free);
        state.first = place.clamp(0.0, 1.0) * most;
    }
    let top = track.top() + free * (state.first / most.max(1.0)).clamp(0.0, 1.0) as f32;
    let thumb = Rect::from_min_size(Pos2::new(track.left() + 2.0, top), vec2(track.width() - 4.0, height));
    let colour = match response.hovered() || response.dragged() {
        true => Color32::from_rgb(96, 112, 142),
        false => Color32::from_rgb(58, 70, 96),
    };
    ui.painter().rect_filled(thumb, 3.0, colour);
}
