//! A list of any number of rows: of twenty million as of twenty. Only the rows in sight are asked for, and where the list
//! stands is counted in rows, not in points: a height of hundreds of millions of points has no exact places any more.
//!
//! It knows nothing of what it lists: whoever shows it says what stands in a cell, and does what a click means.

use super::theme;
use bevy_egui::egui::{
    self, Align2, Color32, CornerRadius, FontId, Key, Pos2, Rect, Sense, Shape, Stroke, StrokeKind, Ui, vec2,
};

/// Height of a row and of the header, points.
pub const ROW: f32 = 19.0;
const HEADER: f32 = 22.0;
const BAR: f32 = 10.0;
/// How far children stand to the right, and how deep ones stand no further.
const INDENT: f32 = 14.0;
const DEEPEST: u32 = 24;
/// The least that a column of texts is of use with.
const NARROW: f32 = 90.0;
const LINK: Color32 = Color32::from_rgb(128, 182, 255);

/// Keys that a list takes while it has the keyboard.
pub const KEYS: &[bevy::prelude::KeyCode] = {
    use bevy::prelude::KeyCode as K;
    &[K::ArrowUp, K::ArrowDown, K::ArrowLeft, K::ArrowRight, K::Home, K::End, K::PageUp, K::PageDown, K::Enter]
};

/// How wide a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// So many points.
    Points(f32),
    /// So many parts of what is left.
    Share(f32),
}

/// A column.
#[derive(Clone, Debug)]
pub struct ListColumn {
    /// What stands above it.
    pub title: &'static str,
    /// What it says.
    pub explanation: &'static str,
    /// How wide it is.
    pub width: Width,
    /// Numbers stand at the right.
    pub right: bool,
    /// Whether a click sorts by it.
    pub sorts: bool,
    /// Whether it is what the list is sorted by.
    pub sorted: bool,
    /// Columns of higher numbers go first where there is no room for all.
    pub spare: u8,
}

impl ListColumn {
    /// A column of texts.
    pub fn text(title: &'static str, share: f32, explanation: &'static str) -> ListColumn {
        let width = Width::Share(share);
        ListColumn { title, explanation, width, right: false, sorts: false, sorted: false, spare: 0 }
    }

    /// A column of numbers, so many points wide.
    pub fn number(title: &'static str, points: f32, explanation: &'static str) -> ListColumn {
        ListColumn { width: Width::Points(points), right: true, ..ListColumn::text(title, 1.0, explanation) }
    }

    /// Of a fixed width.
    pub fn points(self, points: f32) -> ListColumn {
        ListColumn { width: Width::Points(points), ..self }
    }

    /// Left out where there is no room, those of higher numbers first.
    pub fn spare(self, spare: u8) -> ListColumn {
        ListColumn { spare, ..self }
    }

    /// One by which the list may be sorted, and perhaps is.
    pub fn sorting(self, sorted: bool) -> ListColumn {
        ListColumn { sorts: true, sorted, ..self }
    }
}

/// What stands in a cell.
#[derive(Clone, Debug)]
pub struct ListCell {
    /// The text.
    pub text: String,
    /// Its colour.
    pub colour: Color32,
    /// A click leads somewhere.
    pub link: bool,
    /// Digits of one width.
    pub monospace: bool,
    /// How deep a row of a tree lies; only in the first column.
    pub depth: u32,
    /// What folds a row of a tree: whether it is open.
    pub fold: Option<bool>,
    /// A share, as a bar behind the text.
    pub bar: Option<f32>,
}

impl ListCell {
    /// Plain text.
    pub fn new(text: impl Into<String>) -> ListCell {
        let text = text.into();
        ListCell { text, colour: theme::TEXT, link: false, monospace: false, depth: 0, fold: None, bar: None }
    }

    /// Text that does not matter much.
    pub fn quiet(text: impl Into<String>) -> ListCell {
        ListCell { colour: theme::QUIET, ..ListCell::new(text) }
    }

    /// Text that leads somewhere.
    pub fn link(text: impl Into<String>) -> ListCell {
        ListCell { colour: LINK, link: true, ..ListCell::new(text) }
    }

    /// In another colour.
    pub fn coloured(self, colour: Color32) -> ListCell {
        ListCell { colour, ..self }
    }

    /// With digits of one width.
    pub fn monospace(self) -> ListCell {
        ListCell { monospace: true, ..self }
    }
}

/// Where a list stands.
#[derive(Clone, Debug, Default)]
pub struct ListState {
    /// The row at the top, and how much of it is out of sight.
    first: f64,
    /// The row that keys move.
    pub cursor: Option<u64>,
    /// A row to be brought into sight.
    pub reveal: Option<u64>,
    /// What was in sight last, for the log.
    seen: u64,
}

/// What a person did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEvent {
    /// Clicked what leads somewhere in a cell, or pressed Enter on a row (column 0 then).
    Follow(u64, usize),
    /// Opened or closed a row of a tree.
    Fold(u64),
    /// Asked for what a row lies in (Left on a closed one).
    Up(u64),
    /// Asked to be sorted by a column.
    Sort(usize),
}

/// A list to be shown.
pub struct LongList<'a> {
    /// What tells it from others, in the log too.
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
        let mut hover: Option<(String, Rect)> = None;
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
            let mut texts: Vec<String> = Vec::new();
            for (column, place) in places.iter().enumerate() {
                let Some((left, right)) = *place else { continue };
                let room = Rect::from_min_max(Pos2::new(left, line.top()), Pos2::new(right, line.bottom()));
                let shown = cell(row, column);
                if logs {
                    texts.push(shown.text.clone());
                }
                let over = pointer.filter(|at| room.contains(*at));
                let painted = paint(&painter, ui, room, &shown, self.columns[column].right, over);
                if let Some(at) = over {
                    if painted.cut {
                        hover = Some((shown.text.clone(), room));
                    }
                    let on_fold = painted.fold.is_some_and(|fold| fold.contains(at));
                    let on_link = shown.link && painted.text.contains(at);
                    if on_fold || on_link {
                        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
                    }
                    if response.clicked() {
                        state.cursor = Some(row);
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
        if let Some((text, room)) = hover {
            response.on_hover_ui_at_pointer(|ui| {
                ui.set_max_width(520.0);
                ui.label(text);
            });
            let _ = room;
        }
        if logs {
            self.log(state, &told);
        }
        event
    }

    /// What is in sight, for bug reports and for the tests that drive a window.
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

/// Where columns stand, from and to; `None` where there is no room for one.
fn places(columns: &[ListColumn], inner: Rect) -> Vec<Option<(f32, f32)>> {
    const GAP: f32 = 10.0;
    let mut shown: Vec<bool> = vec![true; columns.len()];
    loop {
        let (mut fixed, mut shares) = (0.0, 0.0);
        for (column, _) in columns.iter().zip(&shown).filter(|(_, shown)| **shown) {
            match column.width {
                Width::Points(points) => fixed += points + GAP,
                Width::Share(share) => {
                    fixed += GAP;
                    shares += share;
                }
            }
        }
        let rest = (inner.width() - 8.0 - fixed).max(0.0);
        let texts = columns.iter().zip(&shown).filter(|(c, shown)| **shown && matches!(c.width, Width::Share(_)));
        let narrow = texts.count() as f32 * NARROW > rest;
        let spare = (0..columns.len()).filter(|&c| shown[c] && columns[c].spare > 0).max_by_key(|&c| columns[c].spare);
        if let (true, Some(spare)) = (narrow, spare) {
            shown[spare] = false;
            continue;
        }
        let mut left = inner.left() + 6.0;
        let place = |(column, shown): (&ListColumn, &bool)| {
            shown.then(|| {
                let width = match column.width {
                    Width::Points(points) => points,
                    Width::Share(share) => rest * share / shares,
                };
                let here = (left, left + width);
                left += width + GAP;
                here
            })
        };
        return columns.iter().zip(&shown).map(place).collect();
    }
}

/// What was painted of a cell.
struct PaintedCell {
    text: Rect,
    fold: Option<Rect>,
    cut: bool,
}

fn paint(
    painter: &egui::Painter,
    ui: &Ui,
    room: Rect,
    cell: &ListCell,
    right: bool,
    over: Option<Pos2>,
) -> PaintedCell {
    let mut room = room;
    if let Some(share) = cell.bar {
        let width = (room.width() * share.clamp(0.0, 1.0)).max(1.0);
        let bar = Rect::from_min_max(Pos2::new(room.right() - width, room.top() + 3.0), room.max - vec2(0.0, 3.0));
        painter.rect_filled(bar, 2.0, Color32::from_rgb(36, 70, 120));
    }
    room.min.x += INDENT * cell.depth.min(DEEPEST) as f32;
    let fold = cell.fold.map(|open| {
        let place = Rect::from_min_size(room.min, vec2(INDENT, room.height()));
        let c = place.center();
        let points = match open {
            true => vec![c + vec2(-4.0, -2.5), c + vec2(4.0, -2.5), c + vec2(0.0, 3.5)],
            false => vec![c + vec2(-2.5, -4.0), c + vec2(3.5, 0.0), c + vec2(-2.5, 4.0)],
        };
        let colour = if over.is_some_and(|at| place.contains(at)) { theme::TEXT } else { theme::QUIET };
        painter.add(Shape::convex_polygon(points, colour, Stroke::NONE));
        place
    });
    if fold.is_some() || cell.depth > 0 {
        room.min.x += INDENT + 2.0;
    }
    let font = if cell.monospace { FontId::monospace(11.5) } else { FontId::proportional(12.5) };
    // One line, whatever the text holds.
    let text: String = cell.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut job = egui::text::LayoutJob::simple_singleline(text, font, cell.colour);
    job.wrap = egui::text::TextWrapping::truncate_at_width(room.width().max(0.0));
    let galley = ui.painter().layout_job(job);
    let anchor = if right { Align2::RIGHT_CENTER } else { Align2::LEFT_CENTER };
    let at = if right { room.right_center() } else { room.left_center() };
    let place = anchor.anchor_size(at, galley.size());
    let cut = galley.elided;
    if cell.link && over.is_some_and(|at| place.contains(at)) {
        painter.hline(place.x_range(), place.bottom() - 1.0, Stroke::new(1.0, cell.colour));
    }
    painter.galley(place.min, galley, cell.colour);
    PaintedCell { text: place, fold, cut }
}

/// The bar at the right: drag it, or click beside it.
fn bar(ui: &Ui, track: Rect, state: &mut ListState, page: f64, most: f64) {
    let response = ui.interact(track, ui.id().with("list bar"), Sense::click_and_drag());
    let share = (page / (most + page)) as f32;
    let height = (track.height() * share).max(28.0).min(track.height());
    let free = (track.height() - height).max(1.0);
    if response.dragged() || response.clicked() {
        if let Some(at) = response.interact_pointer_pos() {
            let place = f64::from((at.y - track.top() - height / 2.0) / free);
            state.first = place.clamp(0.0, 1.0) * most;
        }
    }
    let top = track.top() + free * (state.first / most.max(1.0)).clamp(0.0, 1.0) as f32;
    let thumb = Rect::from_min_size(Pos2::new(track.left() + 2.0, top), vec2(track.width() - 4.0, height));
    let colour = match response.hovered() || response.dragged() {
        true => Color32::from_rgb(96, 112, 142),
        false => Color32::from_rgb(58, 70, 96),
    };
    ui.painter().rect_filled(thumb, 3.0, colour);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_where_there_is_no_room() {
        let columns = [
            ListColumn::text("Name", 2.0, ""),
            ListColumn::text("Value", 1.0, "").spare(1),
            ListColumn::number("Size", 70.0, "").spare(2),
            ListColumn::number("Retained", 80.0, ""),
        ];
        let shown = |width: f32| -> Vec<bool> {
            let inner = Rect::from_min_size(Pos2::ZERO, vec2(width, 100.0));
            let places = places(&columns, inner);
            let mut last = 0.0;
            for (left, right) in places.iter().flatten() {
                assert!(
                    *left >= last && right >= left && *right <= width.max(right - 1.0) + 1.0,
                    "{width}: {places:?}"
                );
                last = *right;
            }
            places.iter().map(Option::is_some).collect()
        };
        assert_eq!(shown(800.0), [true; 4]);
        assert_eq!(shown(380.0), [true, true, true, true]);
        assert_eq!(shown(320.0), [true, true, false, true]);
        assert_eq!(shown(200.0), [true, false, false, true]);
        assert_eq!(shown(20.0), [true, false, false, true], "what is not spare stays");
    }
}
