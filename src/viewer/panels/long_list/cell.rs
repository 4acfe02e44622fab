//! Columns and cells of a list: widths, content and painting.

use super::super::theme;
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Rect, Shape, Stroke, Ui, vec2};

/// Indentation of children, points, and the depth from which it stays the same.
const INDENT: f32 = 14.0;
const DEEPEST: u32 = 24;
/// The least that a column of texts is of use with.
const NARROW: f32 = 90.0;
const LINK: Color32 = Color32::from_rgb(128, 182, 255);

/// How wide a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// A fixed width, points.
    Points(f32),
    /// A share of the remaining width.
    Share(f32),
}

/// A column.
#[derive(Clone, Debug)]
pub struct ListColumn {
    /// Heading.
    pub title: &'static str,
    /// Tooltip.
    pub explanation: &'static str,
    /// How wide it is.
    pub width: Width,
    /// Whether it is aligned right, as numbers are.
    pub right: bool,
    /// Whether a click sorts by it.
    pub sorts: bool,
    /// Whether the list is sorted by it.
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

    /// A column of numbers of this width, points.
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

    /// A column to sort by; `sorted` when it is in use.
    pub fn sorting(self, sorted: bool) -> ListColumn {
        ListColumn { sorts: true, sorted, ..self }
    }
}

/// Content of a cell.
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
    /// The sign that folds a row of a tree: whether it is open.
    pub fold: Option<bool>,
    /// A share, as a bar behind the text.
    pub bar: Option<f32>,
    /// Text of the tooltip; without it, the cell's own text where that is cut.
    pub full: Option<String>,
}

impl ListCell {
    /// Plain text.
    pub fn new(text: impl Into<String>) -> ListCell {
        let text = text.into();
        ListCell {
            text,
            colour: theme::TEXT,
            link: false,
            monospace: false,
            depth: 0,
            fold: None,
            bar: None,
            full: None,
        }
    }

    /// Text that does not matter much.
    pub fn quiet(text: impl Into<String>) -> ListCell {
        ListCell { colour: theme::QUIET, ..ListCell::new(text) }
    }

    /// Text that leads somewhere.
    pub fn link(text: impl Into<String>) -> ListCell {
        ListCell { colour: LINK, link: true, ..ListCell::new(text) }
    }

    /// A name without its packages; the tooltip has all of it.
    pub fn name(full: &str) -> ListCell {
        let brief = match full.strip_prefix("class ") {
            Some(class) => format!("class {}", theme::brief(class)),
            None => theme::brief(full),
        };
        ListCell { full: (brief != full).then(|| full.to_owned()), ..ListCell::link(brief) }
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

/// Left and right end of each column; `None` where there is no room for one.
pub(super) fn places(columns: &[ListColumn], inner: Rect) -> Vec<Option<(f32, f32)>> {
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

/// Painted parts of a cell.
pub(super) struct PaintedCell {
    pub text: Rect,
    pub fold: Option<Rect>,
    pub cut: bool,
}

pub(super) fn paint(
    painter: &egui::Painter,
    ui: &Ui,
    room: Rect,
    cell: &ListCell,
    right: bool,
    over: Option<Pos2>,
) -> PaintedCell {
    let mut room = room;
    if let Some(share) = cell.bar.filter(|share| *share >= 0.005) {
        let width = (room.width() * share.clamp(0.0, 1.0)).max(1.0);
        let bar = Rect::from_min_size(room.left_top() + vec2(0.0, 3.0), vec2(width, room.height() - 6.0));
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
