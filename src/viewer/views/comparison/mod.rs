//! The view of a comparison: a sentence, curves and a table. The sentence names the largest change and the outcome for the growth. The
//! curves show both runs of the whole and of the selected group on one axis, and the table has all groups that differ. The difference of
//! two times is shown here as well, without curves.
//!
//! The content is [`OpenComparison`]'s; nothing is counted here. Linked with other views by the selection.

mod bar;
mod curves;
mod rows;

use crate::viewer::action::Action;
use crate::viewer::comparison::{OpenComparison, ShownComparison};
use crate::viewer::document::Document;
use crate::viewer::keys;
use crate::viewer::panels::theme;
use crate::viewer::selection::{Pointing, Selection};
use crate::viewer::settings::Settings;
use crate::viewer::view::{About, Place, View, ViewPicture, WriteTable, draw_with, written};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use curves::Curves;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_heap::error::{Error, Result};

/// Id of the view, and of the document's part that it is prepared in.
const ID: &str = "comparison";

/// Comparisons as a kind of view.
pub(super) const VIEW: &dyn View = &RunsView;

struct RunsView;

impl View for RunsView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Comparison",
            help: "Two runs, or two times of one: what changed, as sentence, curves and table",
            place: Place::WhenAsked,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn plugin(&self, app: &mut App) {
        app.init_resource::<ComparisonView>();
    }

    fn table(&self) -> Option<WriteTable> {
        Some(csv)
    }

    fn pictures(&self) -> Vec<ViewPicture> {
        vec![ViewPicture { name: ID, set_up: |_| () }]
    }
}

/// Its table as CSV: the rows that `compare --format csv` and `analyse difference --format csv` print, all of them.
fn csv(world: &World) -> Result<Vec<u8>> {
    match world.resource::<OpenComparison>().shown() {
        Some(shown) => written(&shown.told.table),
        None => Err(Error::Unusable {
            what: "Nothing is compared: there is nothing to be written".into(),
            remedy: format!(
                "Name the second run (--compare PATH, or {} in the window)",
                keys::key(Action::CompareRuns)
            ),
        }),
    }
}

/// Choices of the person in this view, and state for drawing it.
#[derive(Resource, Default)]
struct ComparisonView {
    /// The sorted column, and whether the largest come first; without one, rows keep the order of the analysis.
    sort: Sorting,
    order: Option<SortedRows>,
    curves: Curves,
}

type Sorting = Option<(usize, bool)>;

/// The order of the rows, with its sorting.
struct SortedRows {
    by: Sorting,
    rows: Vec<usize>,
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    (document, settings): (Res<Document>, Res<Settings>),
    mut comparison: ResMut<OpenComparison>,
    mut view: ResMut<ComparisonView>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    mut actions: MessageWriter<Action>,
) {
    let Some(open) = document.get() else { return };
    let (view, comparison) = (&mut *view, &mut *comparison);
    if document.is_changed() {
        (view.order, view.curves) = Default::default();
    }
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        let Some(shown) = comparison.shown().cloned() else {
            nothing(ui, open.timeline.times(), &mut actions);
            return;
        };
        let timeline = &*open.timeline;
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
            let place = view.curves.show(ui, height, runs, aligned, group.as_deref(), metric);
            wish = place.map(|place| bar::at(&shown.wish, place)).or(wish);
            ui.add_space(4.0);
        }
        if let Some(wish) = wish {
            comparison.wish = Some(wish);
        }
        let by = view.sort;
        if view.order.as_ref().is_none_or(|order| order.by != by) {
            view.order = Some(SortedRows { by, rows: rows::order(&shown.told.table, by) });
        }
        let order = view.order.as_ref().map_or(&[][..], |order| &order.rows);
        if let Some(column) = rows::show(ui, &shown, order, view.sort, timeline, (&mut selection, &mut pointing)) {
            view.sort = match view.sort {
                Some((same, descending)) if same == column => (descending).then_some((same, false)),
                _ => Some((column, true)),
            };
        }
    });
}

/// Offers comparisons while there is none.
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

/// The groups of the open trees behind a row: in the difference of two times, its born, dead and surviving parts.
fn groups_of(shown: &ShownComparison, timeline: &Timeline, key: &str) -> Vec<NodeId> {
    if shown.told.second.is_some() {
        return timeline.find(key).into_iter().collect();
    }
    let root = timeline.key(NodeId::ROOT);
    let below = key.strip_prefix(root.as_str()).unwrap_or_default();
    let parts = timeline.children(NodeId::ROOT).iter();
    parts.filter_map(|&part| timeline.find(&format!("{}{below}", timeline.key(part)))).collect()
}
