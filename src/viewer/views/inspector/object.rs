//! The page of an object: its type and value, its sizes, the roots that hold it. Below that, one at a time: its fields, its referrers,
//! the way to it, its owners, and the objects that it owns.

use super::awaited::Awaited;
use super::desk::Desk;
use super::held::{self, HeldTab, HeldView};
use super::navigation::{InspectorStop, ObjectStop};
use super::parts;
use crate::viewer::editor::{self, CodePlace};
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Color32, CornerRadius, Margin, RichText, Stroke};
use memory_city_analysis::inspection::{DirectRoot, InspectedHeap, NO_VALUES, ObjectPage, PageLimits, RootWay};
use memory_city_analysis::tabular::{bytes_text, count_text, objects_text, several};
use memory_city_heap::ObjectId;
use std::collections::VecDeque;
use std::sync::Arc;

/// Pages that are kept, so that going back costs nothing.
const MOST: usize = 32;
/// Bytes that they may take; the one that is shown always stays.
const MOST_BYTES: usize = 64 << 20;

/// Facts about an object.
pub struct InspectedObject {
    pub object: ObjectId,
    pub page: Awaited<ObjectPage>,
    pub way: Awaited<Option<RootWay>>,
    pub owners: Awaited<Vec<ObjectId>>,
    pub held: HeldView,
}

/// The pages that were looked at last; the last one is shown.
#[derive(Default)]
pub struct InspectedObjects {
    kept: VecDeque<InspectedObject>,
}

impl InspectedObjects {
    /// Another heap state: numbers of objects mean others.
    pub fn forget(&mut self) {
        self.kept.clear();
    }

    /// Takes the results of jobs. Returns whether one is running.
    pub fn poll(&mut self) -> bool {
        let Some(view) = self.kept.back_mut() else { return false };
        let reading = view.page.get().is_none();
        let running = view.page.poll() | view.way.poll() | view.owners.poll();
        if reading && let Some(text) = view.page.get().and_then(|page| page.text.as_ref()) {
            tracing::debug!("inspector: says {text}");
        }
        running
    }

    /// Turns to an object.
    fn turn_to(&mut self, object: ObjectId) {
        if self.kept.back().is_some_and(|view| view.object == object) {
            return;
        }
        let view = match self.kept.iter().position(|view| view.object == object) {
            Some(at) => self.kept.remove(at),
            None => None,
        };
        self.kept.push_back(view.unwrap_or_else(|| InspectedObject {
            object,
            page: Awaited::Not,
            way: Awaited::Not,
            owners: Awaited::Not,
            held: HeldView::default(),
        }));
        let bytes = |view: &InspectedObject| {
            let way = view.way.get().and_then(Option::as_ref).map_or(0, |way| way.objects.len());
            let owners = view.owners.get().map_or(0, Vec::len);
            view.page.get().map_or(0, ObjectPage::memory) + 4 * (way + owners)
        };
        let mut all: usize = self.kept.iter().map(bytes).sum();
        while self.kept.len() > 1 && (self.kept.len() > MOST || all > MOST_BYTES) {
            all -= self.kept.pop_front().map_or(0, |view| bytes(&view));
        }
    }

    /// Draws the page of an object. Returns where a click leads.
    pub fn show(
        &mut self,
        ui: &mut egui::Ui,
        stop: &ObjectStop,
        desk: &mut Desk,
        focused: bool,
    ) -> Option<InspectorStop> {
        let heap = desk.heap.get().cloned()?;
        if stop.object.0 as usize >= heap.heap().object_count() {
            parts::card(ui, "The object is gone", "It is not in this state of the heap.", theme::TEXT, |_| ());
            return None;
        }
        self.turn_to(stop.object);
        let view = self.kept.back_mut()?;
        let object = view.object;
        ask(view, &heap, desk);
        let mut next = head(ui, view, &heap, desk);
        next = structures(ui, view, &heap).or(next);
        if let Some(place) = roots(ui, &heap, object) {
            desk.code = Some(place);
        }
        if let Some(error) = telling_error(desk) {
            parts::line(ui, RichText::new(error).size(12.0).color(theme::ERROR));
        }
        ui.add_space(2.0);
        ui.horizontal_wrapped(|ui| {
            let counts = held::counts(view, &heap);
            if let Some(tab) = parts::tabs(ui, view.held.tab, &counts) {
                view.held.tab = tab;
            }
            held::options(ui, view);
        });
        next = held::show(ui, view, &heap, desk, focused).or(next);
        next
    }
}

/// Starts the jobs for the page.
fn ask(view: &mut InspectedObject, heap: &Arc<InspectedHeap<'static>>, desk: &mut Desk) {
    let object = view.object;
    let looked_at = Arc::clone(heap);
    view.page.ask(move |progress| ObjectPage::read(&looked_at, object, PageLimits::default(), progress));
    match view.held.tab {
        HeldTab::Way => {
            let heap = Arc::clone(heap);
            view.way.ask(move |progress| RootWay::to(&heap, object, progress));
        }
        HeldTab::Owners if desk.dominators.get().is_some() => {
            let heap = Arc::clone(heap);
            view.owners.ask(move |progress| RootWay::owners(&heap, object, progress));
        }
        _ => {}
    }
}

/// Why texts cannot be read, if they cannot.
fn telling_error(desk: &Desk) -> Option<String> {
    match &desk.telling {
        Awaited::Failed(why) => Some(format!("Values cannot be read: {why}")),
        _ => None,
    }
}

/// Type, address, text and numbers.
fn head(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &Arc<InspectedHeap<'static>>,
    desk: &mut Desk,
) -> Option<InspectorStop> {
    let object = view.object;
    let state = heap.heap();
    let mut next = None;
    let address = heap.address(object);
    ui.horizontal(|ui| {
        theme::heading(ui, if heap.class_of(object).is_some() { "CLASS" } else { "OBJECT" });
        ui.label(RichText::new(&address).monospace().color(theme::QUIET));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui
                .small_button("Copy address")
                .on_hover_text("For the command line: analyse inspect -p object=…")
                .clicked()
            {
                ui.ctx().copy_text(address.clone());
            }
            let tree = ui.small_button("In the dominator tree");
            if tree.on_hover_text("Shows it among what its owner keeps alive").clicked() {
                next = Some(InspectorStop::Tree(Some(ObjectStop::new(heap, object))));
            }
        });
    });
    let name = RichText::new(heap.name(object)).size(16.0).strong().color(theme::ACCENT);
    ui.add(egui::Label::new(name).truncate());
    match &mut view.page {
        Awaited::There(page) => {
            // What is in an array stands in the list below, what a class is called above.
            let own = page.primitives().is_none() && heap.class_of(object).is_none();
            if let Some(text) = page.text.as_ref().filter(|_| own) {
                said(ui, text);
            }
        }
        asked => {
            ui.horizontal(|ui| parts::waiting_line(ui, asked, "Reading the object"));
        }
    }
    ui.horizontal_wrapped(|ui| {
        parts::fact(ui, "Size", &bytes_text(state.size_of(object)));
        match heap.retained(object) {
            Some(amount) if amount.objects == 0 => {
                parts::fact(ui, "Retains", "nothing: no GC root reaches it");
            }
            Some(amount) => {
                let all = heap.known_dominators().map_or(0, |tree| tree.total().bytes).max(1);
                let share = 100.0 * amount.bytes as f64 / all as f64;
                let share = if share >= 0.1 { format!("  ({share:.1} % of the heap)") } else { String::new() };
                let text = format!("{}, {}{share}", bytes_text(amount.bytes), objects_text(amount.objects));
                parts::fact(ui, "Retains", &text).on_hover_text("What would be freed if it were, itself included");
            }
            None if matches!(desk.dominators, Awaited::Not) => {
                let memory = bytes_text(heap.dominator_memory());
                let button = ui.small_button("Find what it retains");
                let explanation =
                    format!("Makes the dominator tree of all objects: about {memory} of memory, and some seconds");
                if button.on_hover_text(explanation).clicked() {
                    desk.find_owners();
                }
            }
            None => parts::waiting_line(ui, &mut desk.dominators, "Retained size"),
        }
        if let Some(length) = state.array_length(object) {
            parts::fact(ui, "Length", &count_text(length.into()));
        }
        for (name, value) in heap.life(object) {
            if let Some(place) = CodePlace::first_in(&value) {
                // The innermost frame; all of them where the mouse rests.
                ui.label(parts::quiet(name));
                let text = RichText::new(theme::shortened(&theme::brief(&value), 60)).size(12.5);
                if editor::link(ui, text, &value, &place) {
                    desk.code = Some(place);
                }
                continue;
            }
            parts::fact(ui, name, &theme::shortened(&theme::brief(&value), 60)).on_hover_text(value);
        }
        if view.page.get().is_some_and(|page| page.details.is_none()) {
            ui.label(RichText::new("No values").size(12.0).color(theme::WARNING)).on_hover_text(NO_VALUES);
        }
    });
    next
}

/// The text of an object, to be read and copied.
fn said(ui: &mut egui::Ui, text: &str) {
    egui::Frame::new()
        .fill(Color32::from_rgb(18, 24, 36))
        .stroke(Stroke::new(1.0, Color32::from_rgb(44, 55, 78)))
        .corner_radius(CornerRadius::same(5))
        .inner_margin(Margin::symmetric(8, 5))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            egui::ScrollArea::vertical().id_salt("said").max_height(96.0).auto_shrink([false, true]).show(ui, |ui| {
                let shown = RichText::new(text).monospace().color(theme::OUTGOING);
                ui.add(egui::Label::new(shown).wrap().selectable(true));
            });
        });
    ui.add_space(2.0);
}

/// The data structures that it is in. Returns the head that was clicked.
fn structures(ui: &mut egui::Ui, view: &InspectedObject, heap: &InspectedHeap<'static>) -> Option<InspectorStop> {
    const MOST_STRUCTURES: usize = 2;
    let inside = &view.page.get()?.structures;
    let mut next = None;
    for (role, heads) in [("PART OF", &inside.as_part), ("CONTENTS OF", &inside.as_leaf)] {
        for &head in heads.iter().take(MOST_STRUCTURES) {
            ui.horizontal(|ui| {
                theme::heading(ui, role);
                let name = format!("{} {}", theme::brief(&heap.name(head)), heap.address(head));
                let tip = "The data structure that it is in, as descriptions say: click to inspect it";
                if ui.link(RichText::new(name).size(12.5)).on_hover_text(tip).clicked() {
                    next = Some(InspectorStop::Object(ObjectStop::new(heap, head)));
                }
            });
        }
        if heads.len() > MOST_STRUCTURES {
            let more = several((heads.len() - MOST_STRUCTURES) as u64, "more structure", "more structures");
            ui.label(parts::quiet(format!("and {more}")));
        }
    }
    if !inside.is_whole {
        ui.label(parts::quiet("Too many objects hold it to look for all structures"));
    }
    next
}

/// The GC roots that hold it directly, or that none reaches it. The result is a place in the code that was clicked.
fn roots(ui: &mut egui::Ui, heap: &InspectedHeap<'_>, object: ObjectId) -> Option<CodePlace> {
    const MOST_ROOTS: usize = 3;
    let roots = heap.roots(object);
    let mut code = None;
    for DirectRoot { kind, text, place } in roots.iter().take(MOST_ROOTS) {
        ui.horizontal(|ui| {
            theme::heading(ui, "GC ROOT");
            let line = if text.is_empty() { kind.title().to_owned() } else { format!("{}: {text}", kind.title()) };
            code = parts::root_line(ui, &line, place.as_deref()).or(code.take());
        });
    }
    if roots.len() > MOST_ROOTS {
        let more = parts::quiet(format!("and {} more GC roots", roots.len() - MOST_ROOTS));
        ui.label(more).on_hover_ui(|ui| {
            for DirectRoot { kind, text, .. } in roots.iter().skip(MOST_ROOTS).take(30) {
                ui.label(format!("{}: {text}", kind.title()));
            }
        });
    }
    let reached = heap.known_dominators().map_or(heap.heap().is_reachable(object), |tree| tree.is_reached(object));
    if !reached {
        let text = "No GC root reaches it: it is garbage, or waits for its finalizer";
        ui.label(RichText::new(text).size(12.5).color(theme::WARNING));
    }
    code
}
