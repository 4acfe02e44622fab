//! The dominator tree of single objects, to unfold: one by one, or those of one type together.

use super::awaited::Awaited;
use super::cells::said;
use super::desk::Desk;
use super::navigation::{InspectorStop, ObjectStop};
use super::parts;
use crate::viewer::panels::long_list::{ListCell, ListColumn, ListEvent, ListState, LongList};
use crate::viewer::panels::theme;
use bevy_egui::egui;
use memory_city_analysis::inspection::{
    DominatedItem, DominatedList, DominatedOrder, InspectedHeap, RootWay, Unfolded, UnfoldedPlace,
};
use memory_city_analysis::tabular::{bytes_text, count_text, objects_text};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, ObjectId};
use std::sync::Arc;

/// The tree, as far as it is unfolded.
type Rows = Unfolded<DominatedList>;

/// Levels that are unfolded to show an object; where it lies deeper, the tree begins so far above it.
const MOST_LEVELS: usize = 60;

/// The tree on screen.
#[derive(Default)]
pub struct TreePage {
    order: DominatedOrder,
    /// The object that was asked to be shown in it.
    shown: Option<Option<ObjectStop>>,
    rows: Option<DominatorRows>,
    making: Awaited<DominatorRows>,
    /// Lists below some rows, on their way.
    opening: Vec<(UnfoldedPlace, Awaited<DominatedList>)>,
    state: ListState,
}

/// Rows, where they begin, and the row of the object that is looked for.
struct DominatorRows {
    unfolded: Rows,
    top: Option<ObjectId>,
    found: Option<u64>,
}

impl TreePage {
    /// Another heap state.
    pub fn forget(&mut self) {
        *self = TreePage { order: self.order, ..TreePage::default() };
    }

    /// Takes the results of jobs. Returns whether one is running.
    pub fn poll(&mut self) -> bool {
        let mut running = self.making.poll();
        if matches!(self.making, Awaited::There(_))
            && let Awaited::There(rows) = std::mem::replace(&mut self.making, Awaited::Not)
        {
            self.state = ListState::default();
            (self.state.cursor, self.state.reveal) = (rows.found, rows.found);
            self.rows = Some(rows);
        }
        let TreePage { opening, rows, .. } = self;
        opening.retain_mut(|(place, asked)| {
            running |= asked.poll();
            if let (Awaited::There(list), Some(rows)) = (&*asked, rows.as_mut()) {
                rows.unfolded.open(*place, list.clone());
            }
            !matches!(asked, Awaited::There(_) | Awaited::Cancelled | Awaited::Not)
        });
        running
    }

    fn ask(&mut self, wanted: Option<&ObjectStop>, heap: &Arc<InspectedHeap<'static>>) {
        if self.shown.as_ref().is_none_or(|shown| shown.as_ref() != wanted) {
            // Without an object what is unfolded stays as it is.
            if wanted.is_some() || self.rows.is_none() {
                self.start(wanted.map(|stop| stop.object));
            }
            self.shown = Some(wanted.cloned());
        }
        if self.rows.is_none() {
            let (object, order, heap) = (wanted.map(|stop| stop.object), self.order, Arc::clone(heap));
            self.making.ask(move |progress| make(&heap, object, order, progress));
        }
    }

    /// Begins anew.
    fn start(&mut self, object: Option<ObjectId>) {
        if object.is_some() {
            // Among others of its type it would have to be looked for.
            self.order = DominatedOrder::Objects;
        }
        (self.rows, self.making) = (None, Awaited::Not);
        self.opening.clear();
    }

    /// Draws it. Returns where a click leads.
    pub fn show(
        &mut self,
        ui: &mut egui::Ui,
        wanted: Option<&ObjectStop>,
        desk: &mut Desk,
        focused: bool,
    ) -> Option<InspectorStop> {
        let heap = desk.heap.get().cloned()?;
        let mut next = None;
        theme::heading(ui, "DOMINATOR TREE");
        let Some(tree) = heap.known_dominators().cloned() else {
            if matches!(desk.dominators, Awaited::Not) {
                let memory = bytes_text(heap.dominator_memory());
                let text = format!(
                    "What each object alone keeps alive, from the GC roots down. To find it takes some seconds and about \
                     {memory} of memory, which is freed when something else is opened."
                );
                let make = |ui: &mut egui::Ui| ui.button("Make the tree").clicked();
                if parts::card(ui, "The dominator tree", &text, theme::TEXT, make) {
                    desk.find_owners();
                }
            } else {
                parts::waiting(ui, &mut desk.dominators, "The dominator tree");
            }
            return None;
        };
        self.ask(wanted, &heap);
        ui.horizontal_wrapped(|ui| {
            let all = [
                (DominatedOrder::Objects, "One by one", None, "Each object a row; what retains most first"),
                (DominatedOrder::Types, "By type", None, "Objects of one type that have the same owner together"),
            ];
            if let Some(order) = parts::tabs(ui, self.order, &all) {
                self.order = order;
                (self.rows, self.making) = (None, Awaited::Not);
                self.opening.clear();
                self.shown = Some(wanted.cloned());
            }
            ui.add_space(8.0);
            match self.rows.as_ref().and_then(|rows| rows.top) {
                Some(top) => {
                    let text = format!("below {} {}", theme::brief(&heap.name(top)), heap.address(top));
                    ui.label(parts::quiet(text));
                    let up = ui.small_button("From the GC roots").on_hover_text("Shows the whole tree");
                    if up.clicked() {
                        next = Some(InspectorStop::Tree(None));
                        self.rows = None;
                    }
                }
                None => {
                    let all = tree.total();
                    let text = format!("from the GC roots: {}, {}", objects_text(all.objects), bytes_text(all.bytes));
                    ui.label(parts::quiet(text));
                }
            }
            if let Some((_, asked)) = self.opening.first_mut() {
                parts::waiting_line(ui, asked, "Opening");
            }
        });
        let total = tree.total().bytes.max(1);
        if self.rows.is_none() {
            parts::waiting(ui, &mut self.making, "The dominator tree");
            return next;
        }
        self.list(ui, &heap, desk, total, focused).or(next)
    }

    fn list(
        &mut self,
        ui: &mut egui::Ui,
        heap: &Arc<InspectedHeap<'static>>,
        desk: &mut Desk,
        total: u64,
        focused: bool,
    ) -> Option<InspectorStop> {
        let rows = self.rows.as_mut()?;
        if rows.unfolded.is_empty() {
            parts::card(ui, "Nothing", "No GC root keeps an object alive here.", theme::TEXT, |_| ());
            return None;
        }
        let columns = [
            ListColumn::text("Object", 2.0, "Its type, or the class it stands for; below it what it alone keeps alive"),
            ListColumn::text("Value", 1.0, "What it says: the text of a string, a number, a name").spare(3),
            ListColumn::text("Address", 1.0, "Where it is").points(104.0).spare(2),
            ListColumn::number("Size", 66.0, "Shallow bytes").spare(1),
            ListColumn::number("Retained", 74.0, "What would be freed if it were, itself included"),
            ListColumn::number("Share", 92.0, "Of all that GC roots keep"),
        ];
        let unfolded = &rows.unfolded;
        let long = LongList { name: "tree", columns: &columns, rows: unfolded.len(), focused };
        let event = long.show(ui, &mut self.state, |row, column| match item(unfolded, row) {
            Some((place, DominatedItem::Object(o))) => object_cell(heap, desk, place, o, column, total),
            Some((place, DominatedItem::Type(of))) => {
                let name = heap.heap().types().get(of.of.0 as usize).map_or("?", |t| &t.name);
                match column {
                    0 => ListCell {
                        depth: place.depth,
                        fold: Some(place.open),
                        ..ListCell::new(format!("{} × {name}", count_text(of.objects.len() as u64)))
                    },
                    3 => ListCell::quiet(bytes_text(of.bytes)),
                    4 => ListCell::new(bytes_text(of.retained.bytes)),
                    5 => share(of.retained, total),
                    _ => ListCell::new(""),
                }
            }
            None => ListCell::new(""),
        });
        match event? {
            ListEvent::Follow(row, _) => match item(unfolded, row)? {
                (_, DominatedItem::Object(object)) => Some(InspectorStop::object(heap, object)),
                (place, DominatedItem::Type(_)) => {
                    self.fold(heap, place);
                    None
                }
            },
            ListEvent::Fold(row) => {
                let place = unfolded.row(row)?;
                self.fold(heap, place);
                None
            }
            ListEvent::Up(row) => {
                let above = unfolded.row(row).and_then(|place| unfolded.above(place));
                if let Some(number) = above.and_then(|above| unfolded.number(above)) {
                    (self.state.cursor, self.state.reveal) = (Some(number), Some(number));
                }
                None
            }
            ListEvent::Sort(_) => None,
        }
    }

    /// Opens or closes a row. A job counts the rows below it, if they are unknown.
    fn fold(&mut self, heap: &Arc<InspectedHeap<'static>>, place: UnfoldedPlace) {
        let Some(rows) = &mut self.rows else { return };
        if place.open {
            rows.unfolded.close(place);
            return;
        }
        match rows.unfolded.list(place).and_then(|list| list.item(place.at)) {
            Some(DominatedItem::Type(of)) => rows.unfolded.open(place, DominatedList::Listed(of.objects)),
            // One by one nothing is to be counted.
            Some(DominatedItem::Object(object)) if self.order == DominatedOrder::Objects => {
                if let Some(tree) = heap.known_dominators() {
                    rows.unfolded.open(place, DominatedList::Owned(Arc::clone(tree), Some(object)));
                }
            }
            Some(DominatedItem::Object(object)) if self.opening.iter().all(|(other, _)| *other != place) => {
                let (heap, order) = (Arc::clone(heap), self.order);
                let mut asked = Awaited::Not;
                asked.ask(move |progress| DominatedList::new(&heap, Some(object), order, progress));
                self.opening.push((place, asked));
            }
            Some(DominatedItem::Object(_)) | None => {}
        }
    }
}

fn item(unfolded: &Rows, row: u64) -> Option<(UnfoldedPlace, DominatedItem)> {
    let place = unfolded.row(row)?;
    Some((place, unfolded.list(place)?.item(place.at)?))
}

fn share(retained: Amount, total: u64) -> ListCell {
    let share = retained.bytes as f64 / total as f64;
    ListCell { bar: Some(share as f32), ..ListCell::new(format!("{:.1} %", 100.0 * share)) }
}

fn object_cell(
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    place: UnfoldedPlace,
    o: ObjectId,
    column: usize,
    total: u64,
) -> ListCell {
    let retained = heap.retained(o).unwrap_or_default();
    match column {
        0 => {
            let owns = heap.known_dominators().is_some_and(|tree| tree.owned_count(Some(o)) > 0);
            ListCell { depth: place.depth, fold: owns.then_some(place.open), ..ListCell::name(&heap.name(o)) }
        }
        1 => said(heap, desk, o),
        2 => ListCell::link(heap.address(o)).monospace(),
        3 => ListCell::quiet(bytes_text(heap.heap().size_of(o))),
        4 => ListCell::new(bytes_text(retained.bytes)),
        _ => share(retained, total),
    }
}

/// The tree from the roots; unfolded down to an object where one is given, from so far above it as can be shown.
fn make(
    heap: &InspectedHeap<'_>,
    object: Option<ObjectId>,
    order: DominatedOrder,
    progress: &Progress,
) -> Result<DominatorRows> {
    let list = |owner| DominatedList::new(heap, owner, order, progress);
    let Some(object) = object.filter(|_| order == DominatedOrder::Objects) else {
        return Ok(DominatorRows { unfolded: Unfolded::new(list(None)?), top: None, found: None });
    };
    let tree = heap.dominators(progress)?;
    let mut way = RootWay::owners(heap, object, progress)?;
    let top = way.get(MOST_LEVELS).copied();
    way.truncate(MOST_LEVELS);
    way.reverse();
    let mut unfolded = Unfolded::new(list(top)?);
    let mut above: Option<UnfoldedPlace> = None;
    for o in way.into_iter().chain([object]) {
        let place = tree.place_of(o).and_then(|at| match above {
            None => unfolded.top(at),
            Some(above) => unfolded.below(above, at),
        });
        // What no root reaches is in no tree.
        let Some(place) = place else { break };
        if o != object {
            unfolded.open(place, list(Some(o))?);
        }
        above = Some(place);
    }
    let found = above.and_then(|place| unfolded.number(place));
    Ok(DominatorRows { unfolded, top, found })
}
