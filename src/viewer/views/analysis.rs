//! Analyses: any of those that are registered, with its parameters, run off the frame; what it finds as tables whose nodes
//! can be selected. It knows no analysis by name.

use super::{Place, View};
use crate::viewer::app::{Awake, Stage};
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::job::Job;
use crate::viewer::panels::numbers::metric_name;
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align, Layout, RichText, Sense};
use egui_extras::{Column, TableBuilder};
use memory_city_analysis::analyses::{
    self, AnalysisRegistry, Argument, Arguments, Description, Findings, ParameterKind, TimeWindow,
};
use memory_city_analysis::tabular::{Cell, CellKind, ResultTable, RowSource};
use memory_city_analysis::timeline::Timeline;
use memory_city_heap::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Height of a row.
const ROW: f32 = 18.0;

/// Analyses as a kind of view.
pub(super) fn view() -> View {
    View {
        id: "analysis",
        title: "Analysis",
        help: "Questions to the whole document, and their answers as tables",
        place: Place::Middle,
        keys: &[],
        plugin,
        draw: |world, ui| super::draw_with(world, ui, draw),
        preparation: None,
    }
}

fn plugin(app: &mut App) {
    app.insert_resource(Analyses { registry: AnalysisRegistry::built_in(), ..Analyses::default() })
        .add_observer(|_: On<Opened>, mut analyses: ResMut<Analyses>| analyses.forget())
        .add_observer(|_: On<Grew>, mut analyses: ResMut<Analyses>| analyses.forget())
        .add_observer(|_: On<Closed>, mut analyses: ResMut<Analyses>| analyses.forget())
        .add_systems(Update, take_findings.in_set(Stage::Derive));
}

#[derive(Resource, Default)]
struct Analyses {
    registry: AnalysisRegistry,
    chosen: usize,
    /// What each analysis is told, by its id.
    arguments: BTreeMap<&'static str, Arguments>,
    job: Option<Job<Result<Findings>>>,
    found: Option<std::result::Result<Findings, String>>,
}

impl Analyses {
    /// Other trees: what was found is not about them.
    fn forget(&mut self) {
        (self.job, self.found) = (None, None);
    }
}

fn take_findings(mut analyses: ResMut<Analyses>, mut awake: ResMut<Awake>) {
    let analyses = analyses.bypass_change_detection();
    awake.keep_if(analyses.job.is_some());
    if let Some(outcome) = analyses.job.as_ref().and_then(Job::poll) {
        analyses.job = None;
        analyses.found = match outcome {
            Ok(Ok(findings)) => Some(Ok(findings)),
            Ok(Err(Error::Cancelled)) => None,
            Ok(Err(error)) => Some(Err(error.to_string())),
            Err(panic) => Some(Err(panic)),
        };
    }
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut state: ResMut<Analyses>,
    mut selection: ResMut<Selection>,
) {
    let Some(open) = document.get() else { return };
    let state = state.bypass_change_detection();
    let all: Vec<_> = state.registry.iter().cloned().collect();
    let described: Vec<Description> = all.iter().map(|analysis| analysis.describe()).collect();
    let Some(description) = described.get(state.chosen) else { return };
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        let mut chosen = state.chosen;
        ui.horizontal(|ui| {
            egui::ComboBox::from_id_salt("analysis").width(220.0).selected_text(description.title).show_ui(ui, |ui| {
                for (i, other) in described.iter().enumerate() {
                    ui.selectable_value(&mut chosen, i, other.title).on_hover_text(other.explanation);
                }
            });
        });
        ui.label(RichText::new(description.explanation).size(12.0).color(theme::QUIET));
        let arguments = state.arguments.entry(description.id).or_insert_with(|| Arguments::defaults(description));
        parameters(ui, description, arguments, &open.timeline);
        let window = TimeWindow::whole(&open.timeline);
        ui.horizontal(|ui| {
            if let Some(job) = &state.job {
                let snapshot = job.snapshot();
                let share = snapshot.done as f32 / snapshot.total.max(1) as f32;
                let bar = egui::ProgressBar::new(share).desired_width(240.0).text(snapshot.stage);
                ui.add(bar.animate(snapshot.total == 0));
                if ui.button("Cancel").clicked() {
                    job.cancel();
                }
                return;
            }
            let possible = description.check(&open.source, window);
            let run = ui.add_enabled(possible.is_ok(), egui::Button::new("Run"));
            if run.on_disabled_hover_text(possible.clone().err().unwrap_or_default()).clicked() {
                let (analysis, source) = (Arc::clone(&all[state.chosen]), Arc::clone(&open.source));
                let arguments = arguments.clone();
                state.found = None;
                state.job =
                    Some(Job::start(move |progress| analyses::run(&*analysis, &source, window, &arguments, progress)));
            }
            if let Err(reason) = possible {
                ui.label(RichText::new(reason).size(12.0).color(theme::WARNING));
            }
        });
        if chosen != state.chosen {
            state.chosen = chosen;
            state.forget();
        }
        ui.add_space(4.0);
        match &state.found {
            Some(Ok(findings)) => {
                findings_of(ui, findings, &open.timeline, selection.bypass_change_detection());
            }
            Some(Err(error)) => {
                ui.label(RichText::new(error).color(theme::ERROR));
            }
            None => {}
        }
    });
}

fn parameters(ui: &mut egui::Ui, description: &Description, arguments: &mut Arguments, timeline: &Timeline) {
    let mut wanted: Vec<(&'static str, String)> = Vec::new();
    ui.horizontal_wrapped(|ui| {
        for parameter in &description.parameters {
            let now = arguments.iter().find(|(id, _)| *id == parameter.id).map(|(_, argument)| argument.clone());
            ui.label(RichText::new(parameter.title).size(12.0).color(theme::QUIET))
                .on_hover_text(parameter.explanation);
            match (&parameter.kind, now) {
                (ParameterKind::Number { least, most, .. }, Some(Argument::Number(mut n))) => {
                    let field = egui::DragValue::new(&mut n).range(*least..=*most);
                    if ui.add(field).on_hover_text(parameter.explanation).changed() {
                        wanted.push((parameter.id, n.to_string()));
                    }
                }
                (ParameterKind::Choice { choices, .. }, Some(Argument::Word(word))) => {
                    let of = choices.iter().map(|choice| ((*choice).to_owned(), (*choice).to_owned())).collect();
                    wanted.extend(choice(ui, parameter.id, &word, of).map(|word| (parameter.id, word)));
                }
                (ParameterKind::Metric { .. }, Some(Argument::Word(word))) => {
                    let of =
                        timeline.metrics().map(|m| (timeline.metric_info(m).id.to_string(), metric_name(timeline, m)));
                    wanted.extend(choice(ui, parameter.id, &word, of.collect()).map(|word| (parameter.id, word)));
                }
                _ => {}
            }
            ui.add_space(8.0);
        }
    });
    for (id, text) in wanted {
        // The controls offer nothing that it may not be.
        let _ = arguments.set(description, id, &text);
    }
}

/// A box to choose one of some, each by id and title. Returns the id of another one.
fn choice(ui: &mut egui::Ui, salt: &str, chosen: &str, of: Vec<(String, String)>) -> Option<String> {
    let mut other = None;
    let title = of.iter().find(|(id, _)| id == chosen).map_or(chosen, |(_, title)| title.as_str()).to_owned();
    egui::ComboBox::from_id_salt(salt).selected_text(title).show_ui(ui, |ui| {
        for (id, title) in of {
            if ui.selectable_label(id == chosen, title).clicked() {
                other = Some(id);
            }
        }
    });
    other
}

fn findings_of(ui: &mut egui::Ui, findings: &Findings, timeline: &Timeline, selection: &mut Selection) {
    for note in &findings.notes {
        ui.label(RichText::new(note).size(12.0).color(theme::QUIET));
    }
    for warning in &findings.warnings {
        ui.label(RichText::new(warning.to_string()).size(12.0).color(theme::WARNING));
    }
    let each = ui.available_height() / findings.tables.len().max(1) as f32;
    for (i, table) in findings.tables.iter().enumerate() {
        ui.push_id(i, |ui| {
            ui.allocate_ui(egui::vec2(ui.available_width(), each), |ui| {
                theme::heading(ui, &table.header.title);
                if table.is_empty() {
                    ui.label(RichText::new(table.empty_text()).color(theme::QUIET));
                } else {
                    result(ui, table, timeline, selection);
                }
                if let Some((n, what)) = &table.left_out {
                    ui.label(RichText::new(format!("and {n} more {what}")).size(11.5).color(theme::QUIET));
                }
            });
        });
    }
}

fn result(ui: &mut egui::Ui, table: &ResultTable, timeline: &Timeline, selection: &mut Selection) {
    let columns = &table.header.columns;
    ui.spacing_mut().item_spacing.y = 0.0;
    egui::ScrollArea::horizontal().auto_shrink([false, false]).show(ui, |ui| {
        let mut builder = TableBuilder::new(ui)
            .striped(true)
            .resizable(true)
            .auto_shrink([false, true])
            .max_scroll_height(f32::INFINITY)
            .cell_layout(Layout::left_to_right(Align::Center));
        for column in columns {
            builder = builder.column(match column.kind {
                CellKind::Node => Column::initial(240.0).at_least(100.0).clip(true),
                CellKind::Text | CellKind::Time | CellKind::Uptime => Column::initial(150.0).at_least(60.0).clip(true),
                _ => Column::initial(96.0).at_least(48.0).clip(true),
            });
        }
        let header = builder.header(20.0, |mut row| {
            for column in columns {
                row.col(|ui| {
                    let title = RichText::new(&column.title).size(11.5).strong().color(theme::QUIET);
                    ui.add(egui::Label::new(title).selectable(false).truncate()).on_hover_text(&column.explanation);
                });
            }
        });
        header.body(|body| {
            body.rows(ROW, table.len(), |mut row| {
                let line = table.row(row.index());
                for (at, (cell, column)) in line.cells.iter().zip(columns).enumerate() {
                    row.col(|ui| {
                        if at == 0 && table.header.nested {
                            ui.add_space(14.0 * line.depth.min(12) as f32);
                        }
                        show_cell(ui, cell, column.kind, timeline, selection);
                    });
                }
            });
        });
    });
}

fn show_cell(ui: &mut egui::Ui, cell: &Cell, kind: CellKind, timeline: &Timeline, selection: &mut Selection) {
    let text = RichText::new(cell.text(kind)).size(12.0);
    if let Cell::Node(link) = cell {
        let label = egui::Label::new(text.color(theme::ACCENT)).selectable(false).sense(Sense::click()).truncate();
        let response = ui.add(label).on_hover_text(&link.path);
        let node = (response.hovered() || response.clicked()).then(|| timeline.find(&link.key)).flatten();
        if let Some(node) = node {
            selection.pointed = Some(node);
            if response.clicked() {
                selection.select(timeline, node);
            }
        }
        return;
    }
    let label = egui::Label::new(text).selectable(true).truncate();
    match kind.is_numeric() {
        true => ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.add(label)).inner,
        false => ui.add(label),
    };
}
