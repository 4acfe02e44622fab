//! A comparison as a sentence, curves and a table: what changed most, whether what grew is fixed, both runs of the whole and of the
//! selected group on one axis, and all groups that differ. The difference of two times is shown here as well, without curves.
//!
//! What is shown is [`OpenComparison`]'s; nothing is counted here. Linked with other views by the selection.

mod bar;
mod curves;
mod rows;

use super::{Place, View, ViewPicture, ViewTable};
use crate::viewer::action::Action;
use crate::viewer::comparison::{OpenComparison, ShownComparison};
use crate::viewer::document::Document;
use crate::viewer::keys;
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use curves::Curves;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_heap::error::{Error, Result};

/// The same as that of the document's part, so that it is found by it.
const ID: &str = "comparison";

/// Comparisons as a kind of view.
pub(super) fn view() -> View {
    View {
        id: ID,
        title: "Comparison",
        help: "Two runs, or two times of one: what changed, as sentence, curves and table",
        place: Place::WhenAsked,
        keys: |_| &[],
        plugin: |app| {
            app.init_resource::<ComparisonView>();
        },
        draw: |world, ui| super::draw_with(world, ui, draw),
        preparation: None,
    }
}

/// It as a picture without a window.
pub(super) fn pictures() -> [ViewPicture; 1] {
    [ViewPicture { name: ID, view: ID, set_up: |_| () }]
}

/// Its table as CSV: the rows that `compare --format csv` and `analyse difference --format csv` print, all of them.
pub(super) fn csv() -> ViewTable {
    fn write(world: &World) -> Result<Vec<u8>> {
        match world.resource::<OpenComparison>().shown() {
            Some(shown) => super::written(&shown.told.table),
            None => Err(Error::Unusable {
                what: "Nothing is compared: there is nothing to be written".into(),
                remedy: format!(
                    "Name the second run (--compare PATH, or {} in the window)",
                    keys::key(Action::CompareRuns)
                ),
            }),
        }
    }
    ViewTable { view: ID, csv: write }
}

/// What a person has chosen in this view, and what it takes to draw it.
#[derive(Resource, Default)]
struct ComparisonView {
    /// The column that rows are sorted by, and whether the largest come first; as they were found where there is none.
    sort: Sorting,
    order: Option<SortedRows>,
    curves: Curves,
}

type Sorting = Option<(usize, bool)>;

/// The order of the rows: of which document, sorted by what.
struct SortedRows {
    document: u64,
    by: Sorting,
    rows: Vec<usize>,
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    (document, settings): (Res<Document>, Res<Settings>),
    mut comparison: ResMut<OpenComparison>,
    mut view: ResMut<ComparisonView>,
    mut selection: ResMut<Selection>,
    mut actions: MessageWriter<Action>,
) {
    let Some(open) = document.get() else { return };
    let (view, comparison) = (view.bypass_change_detection(), comparison.bypass_change_detection());
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        let Some(shown) = comparison.shown().cloned() else {
            nothing(ui, open.timeline.times(), &mut actions);
            return;
        };
        let timeline = &*open.timeline;
        let selection = selection.bypass_change_detection();
        let works = comparison.snapshot().is_some();
        let bar::BarWish { compare: mut wish, regroup } = bar::show(ui, &shown, works, &mut actions);
        if regroup.is_some() {
            comparison.regroup = regroup;
        }
        if let (Some(aligned), Some((_, second))) = (&shown.told.aligned, &shown.told.second) {
            let metric = match settings.metric_in(timeline) {
                Metric::Objects => Metric::Objects,
                _ => Metric::Bytes,
            };
            let group = selection.node().map(|node| timeline.key(node)).or_else(|| shown.told.group.clone());
            let runs = [&**shown.first.source.timeline(), &**second.timeline()];
            let height = (ui.available_height() * 0.38).clamp(110.0, 320.0);
            let place = view.curves.show(ui, height, document.revision(), runs, aligned, group.as_deref(), metric);
            wish = place.map(|place| bar::at(&shown.wish, place)).or(wish);
            ui.add_space(4.0);
        }
        if let Some(wish) = wish {
            comparison.wish = Some(wish);
        }
        let (document, by) = (document.revision(), view.sort);
        let sorted = view.order.as_ref().is_some_and(|order| (order.document, order.by) == (document, by));
        if !sorted {
            view.order = Some(SortedRows { document, by, rows: rows::order(&shown.told.table, by) });
        }
        let order = view.order.as_ref().map_or(&[][..], |order| &order.rows);
        if let Some(column) = rows::show(ui, &shown, order, view.sort, timeline, selection) {
            view.sort = match view.sort {
                Some((same, descending)) if same == column => (descending).then_some((same, false)),
                _ => Some((column, true)),
            };
        }
    });
}

/// What can be compared, where nothing is.
fn nothing(ui: &mut egui::Ui, times: usize, actions: &mut MessageWriter<Action>) {
    ui.add_space(8.0);
    ui.label(RichText::new("Nothing is compared").size(16.0).strong());
    ui.add_space(4.0);
    let text = "Open a second run of the same program (before and after a fix, or two versions) beside this one: what grew less, \
                what grew more, and whether the leak is gone. Or see what was born, died and survived between two times of this run.";
    ui.add(egui::Label::new(RichText::new(text).color(theme::QUIET)).wrap());
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        if ui.button("Compare with another run…").on_hover_text(Action::CompareRuns.tooltip()).clicked() {
            actions.write(Action::CompareRuns);
        }
        let difference = ui.add_enabled(times > 1, egui::Button::new("Difference of two times"));
        let difference = difference.on_hover_text(Action::DifferenceTrees.tooltip());
        if difference.on_disabled_hover_text("Only one state is open").clicked() {
            actions.write(Action::DifferenceTrees);
        }
    });
}

/// The groups of the open trees that a row is about: of the difference of two times what was born, died and survived of it.
fn groups_of(shown: &ShownComparison, timeline: &Timeline, key: &str) -> Vec<NodeId> {
    if shown.told.second.is_some() {
        return timeline.find(key).into_iter().collect();
    }
    let root = timeline.key(NodeId::ROOT);
    let below = key.strip_prefix(root.as_str()).unwrap_or_default();
    let parts = timeline.children(NodeId::ROOT).iter();
    parts.filter_map(|&part| timeline.find(&format!("{}{below}", timeline.key(part)))).collect()
}
