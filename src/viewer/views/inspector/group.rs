//! The page of a selection: several groups as one set, the sets that it reaches and retains, its objects one by one, and the content of
//! any of these sets under any grouping.

use super::awaited::Awaited;
use super::cells::ObjectColumn;
use super::desk::Desk;
use super::navigation::InspectorStop;
use super::parts;
use crate::viewer::panels::long_list::{ListCell, ListColumn, ListEvent, ListState, LongList};
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::group;
use memory_city_analysis::inspection::{
    ClosureContents, ClosureKind, ContentsRows, GroupClosure, InspectedHeap, NO_VALUES, ObjectList, ObjectOrder,
    Unfolded,
};
use memory_city_analysis::tabular::{bytes_text, count_text, objects_text};
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use std::sync::Arc;

/// The page of some groups.
pub struct GroupPage {
    /// The groups, by key, and their point in time.
    of: Option<(Vec<String>, usize)>,
    nodes: Vec<NodeId>,
    closure: Awaited<Arc<GroupClosure>>,
    /// The listed set.
    kind: ClosureKind,
    /// Whether it is listed by groups, not one by one.
    grouped: bool,
    order: ObjectOrder,
    list: Awaited<ObjectList>,
    list_of: Option<(ClosureKind, ObjectOrder)>,
    list_state: ListState,
    grouping: String,
    /// A grouping that is being written.
    draft: String,
    contents: Awaited<Arc<ClosureContents>>,
    contents_of: Option<(ClosureKind, String)>,
    unfolded: Option<(Unfolded<ContentsRows>, Arc<ClosureContents>)>,
    contents_state: ListState,
}

impl Default for GroupPage {
    fn default() -> Self {
        GroupPage {
            of: None,
            nodes: Vec::new(),
            closure: Awaited::Not,
            kind: ClosureKind::Shallow,
            grouped: false,
            order: ObjectOrder::Size,
            list: Awaited::Not,
            list_of: None,
            list_state: ListState::default(),
            grouping: "type".into(),
            draft: "type".into(),
            contents: Awaited::Not,
            contents_of: None,
            unfolded: None,
            contents_state: ListState::default(),
        }
    }
}

impl GroupPage {
    /// Drops all results: they belong to another selection or time.
    pub fn forget(&mut self) {
        self.of = None;
    }

    /// Takes the results of jobs. Returns whether one is running.
    pub fn poll(&mut self) -> bool {
        let running = self.closure.poll() | self.list.poll() | self.contents.poll();
        if let Some(contents) = self.contents.get()
            && self.unfolded.as_ref().is_none_or(|(_, of)| !Arc::ptr_eq(of, contents))
        {
            let rows = Unfolded::new(ContentsRows::new(Arc::clone(contents), 0));
            self.unfolded = Some((rows, Arc::clone(contents)));
            self.contents_state = ListState::default();
        }
        running
    }

    /// Turns to some groups and starts the jobs for their page.
    fn ask(&mut self, keys: &[String], time: usize, timeline: &Timeline, heap: &Arc<InspectedHeap<'static>>) {
        if self.of.as_ref().is_none_or(|(shown, when)| shown != keys || *when != time) {
            let kept = std::mem::take(self);
            let GroupPage { kind, grouped, order, grouping, draft, .. } = kept;
            *self = GroupPage { kind, grouped, order, grouping, draft, ..GroupPage::default() };
            self.of = Some((keys.to_vec(), time));
            self.nodes = keys.iter().filter_map(|key| timeline.find(key)).collect();
        }
        let (nodes, looked_at) = (self.nodes.clone(), Arc::clone(heap));
        self.closure.ask(move |progress| GroupClosure::of_nodes(&looked_at, &nodes, progress).map(Arc::new));
        if self.order == ObjectOrder::Age && !heap.knows_ages() {
            self.order = ObjectOrder::Size;
        }
        let closure = self.closure.get().cloned();
        if !self.grouped {
            if self.list_of != Some((self.kind, self.order)) {
                (self.list, self.list_of) = (Awaited::Not, Some((self.kind, self.order)));
                self.list_state = ListState::default();
            }
            let (nodes, heap, kind, order) = (self.nodes.clone(), Arc::clone(heap), self.kind, self.order);
            match (closure, kind) {
                (Some(closure), _) => {
                    self.list.ask(move |progress| ObjectList::new(&heap, closure.objects(kind), order, progress));
                }
                // The objects themselves are there before what they retain.
                (None, ClosureKind::Shallow) => self
                    .list
                    .ask(move |progress| ObjectList::new(&heap, &heap.objects_of(&nodes, progress)?, order, progress)),
                _ => {}
            }
        } else if let Some(closure) = closure {
            let wanted = (self.kind, self.grouping.clone());
            if self.contents_of.as_ref() != Some(&wanted) {
                (self.contents, self.contents_of) = (Awaited::Not, Some(wanted));
            }
            let (heap, kind, grouping) = (Arc::clone(heap), self.kind, self.grouping.clone());
            self.contents.ask(move |progress| {
                let grouping =
                    group::grouping(&grouping).map_err(|error| memory_city_heap::error::Error::Unusable {
                        what: format!("The grouping {:?} is not known: {}", error.text, error.message),
                        remedy: "Choose another one".into(),
                    })?;
                ClosureContents::new(&heap, closure.objects(kind), &grouping, progress).map(Arc::new)
            });
        }
    }

    /// Draws it. Returns where a click leads.
    #[allow(clippy::too_many_arguments)] // what a page is drawn from
    pub fn show(
        &mut self,
        ui: &mut egui::Ui,
        keys: &[String],
        time: usize,
        source: &Source,
        desk: &mut Desk,
        focused: bool,
    ) -> Option<InspectorStop> {
        let heap = desk.heap.get().cloned()?;
        let timeline = Arc::clone(source.timeline());
        self.ask(keys, time, &timeline, &heap);
        parts::title(ui, &timeline, &self.nodes, keys);
        if self.nodes.is_empty() {
            parts::card(
                ui,
                "No such group at this time",
                "The groups were there under another grouping, or at another time. Select others, or go back.",
                theme::TEXT,
                |_| (),
            );
            return None;
        }
        self.tiles(ui, &timeline, time);
        ui.add_space(2.0);
        self.controls(ui, source);
        if !heap.may_have_values() && !self.grouped {
            ui.add(egui::Label::new(parts::quiet(NO_VALUES)).truncate());
        }
        if self.grouped {
            self.show_contents(ui, focused);
            None
        } else {
            self.show_objects(ui, &heap, desk, focused)
        }
    }

    /// The three sets as tiles; one of them is listed.
    fn tiles(&mut self, ui: &mut egui::Ui, timeline: &Timeline, time: usize) {
        let width = ((ui.available_width() - 16.0) / 3.0).clamp(100.0, 240.0);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            for kind in ClosureKind::ALL {
                let title = match kind {
                    ClosureKind::Shallow => "ITSELF  shallow",
                    ClosureKind::Reachable => "REACHES  deep",
                    ClosureKind::Retained => "RETAINS",
                };
                let known = self.closure.get().map(|closure| closure.amount(kind));
                let one = (kind == ClosureKind::Shallow && self.nodes.len() == 1)
                    .then(|| timeline.amount(time, self.nodes[0]));
                let explanation = format!("{}. Click lists them below", kind.explanation());
                if parts::tile(ui, title, known.or(one), self.kind == kind, width).on_hover_text(explanation).clicked()
                {
                    self.kind = kind;
                }
            }
        });
    }

    /// Controls of the list, and the numbers of the set. Late numbers are added to the same line: a line of their own would move the rows
    /// that a person is about to click.
    fn controls(&mut self, ui: &mut egui::Ui, source: &Source) {
        ui.horizontal_wrapped(|ui| {
            let all = [
                (false, "One by one", None, "The objects, each a row"),
                (true, "By groups", None, "What the set consists of, under any grouping"),
            ];
            if let Some(grouped) = parts::tabs(ui, self.grouped, &all) {
                self.grouped = grouped;
            }
            ui.add_space(8.0);
            if self.grouped {
                self.choose_grouping(ui, source);
            } else if let Some(list) = self.list.get() {
                let amount = list.amount();
                let sorted = match list.order() {
                    ObjectOrder::Size => "largest first",
                    ObjectOrder::Retained => "those that retain most first",
                    ObjectOrder::Age => "oldest first",
                    ObjectOrder::Address => "by address",
                };
                let count = objects_text(amount.objects);
                ui.label(parts::quiet(format!("{count}, {}, {sorted}", bytes_text(amount.bytes))));
            }
            let garbage = self.closure.get().map_or(0, |closure| closure.garbage());
            if garbage > 0 {
                let text = RichText::new(format!("{} garbage", count_text(garbage))).size(12.0).color(theme::WARNING);
                ui.label(text).on_hover_text("Of the objects of the group, so many are reached by no GC root");
            }
            if !matches!(self.closure, Awaited::There(_)) {
                parts::waiting_line(ui, &mut self.closure, "What it reaches and retains");
            }
        });
    }

    fn choose_grouping(&mut self, ui: &mut egui::Ui, source: &Source) {
        let title = group::grouping(&self.grouping).map_or_else(|_| self.grouping.clone(), |g| g.title.clone());
        let shown = theme::shortened(&title, 34);
        egui::ComboBox::from_id_salt("contents by").width(150.0).selected_text(shown).show_ui(ui, |ui| {
            for grouping in group::groupings() {
                let offered = source.offers(&grouping);
                let choice = egui::Button::selectable(self.grouping == grouping.id, grouping.title.as_str());
                let choice = ui.add_enabled(offered.is_ok(), choice).on_hover_text(grouping.description.as_str());
                if choice.on_disabled_hover_text(offered.err().unwrap_or_default()).clicked() {
                    self.grouping.clone_from(&grouping.id);
                    self.draft.clone_from(&grouping.id);
                }
            }
        });
        let field = egui::TextEdit::singleline(&mut self.draft).desired_width(140.0).hint_text("package > type");
        let field = ui.add(field).on_hover_text("Any list of classifiers, as --grouping takes it. Enter groups so");
        let wrong = match group::grouping(&self.draft) {
            Ok(grouping) => source.offers(&grouping).err(),
            Err(error) => Some(error.message.clone()),
        };
        if field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter)) && wrong.is_none() {
            self.grouping.clone_from(&self.draft);
        }
        if let Some(wrong) = wrong {
            ui.label(RichText::new(theme::shortened(&wrong, 60)).size(11.5).color(theme::WARNING)).on_hover_text(wrong);
        }
    }

    fn show_objects(
        &mut self,
        ui: &mut egui::Ui,
        heap: &Arc<InspectedHeap<'static>>,
        desk: &mut Desk,
        focused: bool,
    ) -> Option<InspectorStop> {
        if self.list.get().is_none() {
            match (self.kind, &self.closure, &self.list) {
                // It waits for the closure, which says so itself.
                (ClosureKind::Reachable | ClosureKind::Retained, closure, Awaited::Not) if closure.get().is_none() => {
                    parts::waiting(ui, &mut self.closure, "What the group reaches and retains");
                }
                _ => parts::waiting(ui, &mut self.list, "Objects"),
            }
            return None;
        }
        let list = self.list.get()?;
        if list.objects().is_empty() {
            parts::card(ui, "No objects", "The group has none at this time.", theme::TEXT, |_| ());
            return None;
        }
        let mut shown = vec![ObjectColumn::Address];
        shown.extend(list.one_type().is_none().then_some(ObjectColumn::Name));
        // What the input does not hold takes no room.
        shown.extend(heap.may_have_values().then_some(ObjectColumn::Text));
        shown.extend([ObjectColumn::Size, ObjectColumn::Retained, ObjectColumn::Length]);
        shown.extend(heap.knows_ages().then_some(ObjectColumn::Age));
        shown.extend([ObjectColumn::References, ObjectColumn::Referrers]);
        let order_of = |column: ObjectColumn| match column {
            ObjectColumn::Address => Some(ObjectOrder::Address),
            ObjectColumn::Size => Some(ObjectOrder::Size),
            ObjectColumn::Retained => Some(ObjectOrder::Retained),
            ObjectColumn::Age => Some(ObjectOrder::Age),
            _ => None,
        };
        let columns: Vec<ListColumn> = shown
            .iter()
            .map(|&column| match order_of(column) {
                Some(order) => column.list_column().sorting(order == self.order),
                None => column.list_column(),
            })
            .collect();
        let rows = list.objects().len() as u64;
        let long = LongList { name: "objects", columns: &columns, rows, focused };
        let event = long.show(ui, &mut self.list_state, |row, column| {
            list.objects().get(row as usize).map_or_else(|| ListCell::new(""), |&o| shown[column].cell(heap, desk, o))
        });
        match event? {
            ListEvent::Follow(row, _) => {
                let object = *list.objects().get(row as usize)?;
                Some(InspectorStop::object(heap, object))
            }
            ListEvent::Sort(column) => {
                if let Some(order) = order_of(shown[column]) {
                    self.order = order;
                    desk.find_owners();
                }
                None
            }
            _ => None,
        }
    }

    fn show_contents(&mut self, ui: &mut egui::Ui, focused: bool) {
        let Some((unfolded, contents)) = self.unfolded.as_mut().filter(|_| self.contents.get().is_some()) else {
            match self.closure.get() {
                None => parts::waiting(ui, &mut self.closure, "What the group reaches and retains"),
                Some(_) => parts::waiting(ui, &mut self.contents, "Contents"),
            }
            return;
        };
        let columns = [
            ListColumn::text("Group", 1.0, "A group of the objects that are listed; those with most bytes first"),
            ListColumn::number("Objects", 84.0, "How many objects"),
            ListColumn::number("Bytes", 84.0, "Their shallow bytes"),
            ListColumn::number("Share", 96.0, "Of the bytes of the whole set").spare(1),
        ];
        let tree = contents.tree();
        let all = tree.amount(0).bytes.max(1);
        let node_of = |unfolded: &Unfolded<ContentsRows>, row: u64| {
            let place = unfolded.row(row)?;
            Some((place, unfolded.list(place)?.node(place.at)?))
        };
        let long = LongList { name: "contents", columns: &columns, rows: unfolded.len(), focused };
        let event = long.show(ui, &mut self.contents_state, |row, column| {
            let Some((place, node)) = node_of(unfolded, row) else { return ListCell::new("") };
            let amount = tree.amount(node);
            match column {
                0 => ListCell {
                    depth: place.depth,
                    fold: (!contents.children(node).is_empty()).then_some(place.open),
                    ..ListCell::new(&**tree.name(node))
                },
                1 => ListCell::new(count_text(amount.objects)),
                2 => ListCell::new(bytes_text(amount.bytes)),
                _ => {
                    let share = amount.bytes as f64 / all as f64;
                    ListCell { bar: Some(share as f32), ..ListCell::new(format!("{:.1} %", 100.0 * share)) }
                }
            }
        });
        match event {
            Some(ListEvent::Fold(row) | ListEvent::Follow(row, _)) => {
                if let Some((place, node)) = node_of(unfolded, row) {
                    match place.open {
                        true => unfolded.close(place),
                        false => unfolded.open(place, ContentsRows::new(Arc::clone(contents), node)),
                    }
                }
            }
            Some(ListEvent::Up(row)) => {
                let above = unfolded.row(row).and_then(|place| unfolded.above(place));
                self.contents_state.cursor = above.and_then(|above| unfolded.number(above)).or(Some(row));
                self.contents_state.reveal = self.contents_state.cursor;
            }
            _ => {}
        }
    }
}
