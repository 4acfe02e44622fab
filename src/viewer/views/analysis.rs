//! The view of analyses: any of the registered ones, with its parameters, run off the frame. Results are tables whose nodes can be
//! selected. It knows no analysis by name.

use crate::viewer::clock::Clock;
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::editor::{self, CodePlace, CodeRequest};
use crate::viewer::finding::LeakSearch;
use crate::viewer::frame::{Awake, Stage};
use crate::viewer::job::Job;
use crate::viewer::panels::numbers::metric_name;
use crate::viewer::panels::theme;
use crate::viewer::selection::{Pointing, Select, Selection};
use crate::viewer::view::{About, Place, View, WriteTable, draw_with, no_table, written};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align, Layout, RichText, Sense};
use egui_extras::{Column, TableBuilder};
use memory_city_analysis::analyses::{
    self, AnalysisRegistry, Argument, Arguments, Description, Findings, ParameterKind, TimeWindow,
};
use memory_city_analysis::tabular::{Cell, CellKind, CsvTexts, ResultTable, RowSource, count_text, write_csv};
use memory_city_analysis::timeline::Timeline;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Height of a row.
const ROW: f32 = 18.0;

const ID: &str = "analysis";

/// Analyses as a kind of view.
pub(super) const VIEW: &dyn View = &AnalysisView;

struct AnalysisView;

impl View for AnalysisView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Analysis",
            help: "Questions to the whole document, and their answers as tables",
            place: Place::Middle,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn plugin(&self, app: &mut App) {
        plugin(app);
    }

    fn table(&self) -> Option<WriteTable> {
        Some(csv)
    }
}

/// The tables of the last result as CSV, an empty line between them.
fn csv(world: &World) -> Result<Vec<u8>> {
    let Some(Ok(findings)) = &world.resource::<Analyses>().found else {
        return Err(no_table("The analysis", "has not run"));
    };
    let tables: Vec<Vec<u8>> = findings.tables.iter().map(|table| written(table)).collect::<Result<_>>()?;
    if tables.is_empty() {
        return Err(no_table("The analysis", "has found no table"));
    }
    Ok(tables.join(&b'\n'))
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
    /// Arguments of each analysis, by its id.
    arguments: BTreeMap<&'static str, Arguments>,
    job: Option<Job<Result<Findings>>>,
    found: Option<std::result::Result<Findings, String>>,
    /// Points in time of the result, in words.
    asked: String,
    closed: Folded,
}

/// Rows whose nested rows are hidden: table and row, by number.
type Folded = HashSet<(usize, usize)>;

/// State beside the rows, which tables show and change.
struct TableState<'a> {
    selection: Mut<'a, Selection>,
    pointing: &'a mut Pointing,
    closed: &'a mut Folded,
    /// A place in code that was clicked.
    code: Option<CodePlace>,
}

impl Analyses {
    /// Drops the result: it belongs to other trees.
    fn forget(&mut self) {
        (self.job, self.found) = (None, None);
        self.closed.clear();
    }
}

fn take_findings(mut analyses: ResMut<Analyses>, mut awake: ResMut<Awake>) {
    let analyses = &mut *analyses;
    awake.wait_if(analyses.job.is_some());
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
    (document, clock): (Res<Document>, Res<Clock>),
    mut state: ResMut<Analyses>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    finding: Res<LeakSearch>,
    mut requests: MessageWriter<CodeRequest>,
) {
    let Some(open) = document.get() else { return };
    let state = &mut *state;
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
        let entered = parameters(ui, description, arguments, &open.timeline);
        let window = window_of(&clock, &open.timeline);
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
            let run = run.on_hover_text("Runs it  [Enter in a field]");
            let clicked = run.on_disabled_hover_text(possible.clone().err().unwrap_or_default()).clicked();
            if clicked || entered && possible.is_ok() {
                let (analysis, source) = (Arc::clone(&all[state.chosen]), Arc::clone(&open.source));
                let arguments = arguments.clone();
                state.found = None;
                state.closed.clear();
                state.asked = window_text(window, &clock, &open.timeline);
                state.job = Some(Job::behind_frames(move |progress| {
                    analyses::run(&*analysis, &source, window, &arguments, progress)
                }));
            }
            ui.label(RichText::new(window_text(window, &clock, &open.timeline)).size(12.0).color(theme::QUIET));
            if let Err(reason) = possible {
                ui.label(RichText::new(reason).size(12.0).color(theme::WARNING));
            }
        });
        if chosen != state.chosen {
            state.chosen = chosen;
            state.forget();
        }
        ui.add_space(4.0);
        // What leaks was looked for when it was opened.
        let is_whole = window == TimeWindow::whole(&open.timeline);
        let known = finding.findings_of(description.id).filter(|_| is_whole && state.job.is_none());
        if state.found.is_some() && !state.asked.is_empty() {
            ui.label(RichText::new(format!("Found: {}", state.asked)).size(12.0).color(theme::QUIET));
        }
        let Analyses { found, closed, .. } = state;
        let found = match (&*found, known) {
            (None, Some(known)) => Some(Ok(&**known)),
            (found, _) => found.as_ref().map(|found| found.as_ref()),
        };
        match found {
            Some(Ok(findings)) => {
                let mut view =
                    TableState { selection: selection.reborrow(), pointing: &mut pointing, closed, code: None };
                let room = ui.available_height();
                egui::ScrollArea::vertical()
                    .auto_shrink([false, false])
                    .show(ui, |ui| findings_of(ui, findings, &open.timeline, room, &mut view));
                requests.write_batch(view.code.map(CodeRequest));
            }
            Some(Err(error)) => {
                wrapped(ui, RichText::new(error).color(theme::ERROR));
            }
            None => {}
        }
    });
}

/// The part of the run to analyse: the chosen one, else the run up to the shown time.
fn window_of(clock: &Clock, timeline: &Timeline) -> TimeWindow {
    let last = timeline.times().saturating_sub(1);
    let (from, to) = clock.chosen().unwrap_or((0, clock.time));
    TimeWindow { from: from.min(last), to: to.min(last) }
}

/// The same in words.
fn window_text(window: TimeWindow, clock: &Clock, timeline: &Timeline) -> String {
    let (from, to, of) = (window.from + 1, window.to + 1, timeline.times());
    match clock.chosen() {
        Some(_) => format!("Points in time {from} to {to} of {of}, as chosen"),
        None if from == to => format!("Point in time {to} of {of}, as shown"),
        None => format!("Points in time {from} to {to} of {of}, up to the shown one"),
    }
}

/// Width of a parameter with its name, points.
const PARAMETER: f32 = 210.0;

/// The parameters of an analysis. Returns whether Enter was pressed in a field.
fn parameters(ui: &mut egui::Ui, description: &Description, arguments: &mut Arguments, timeline: &Timeline) -> bool {
    let mut entered = false;
    let mut wanted: Vec<(&'static str, String)> = Vec::new();
    // As many beside each other as there is room for.
    let columns = ((ui.available_width() / PARAMETER) as usize).max(1);
    egui::Grid::new(("parameters", description.id)).spacing([8.0, 4.0]).show(ui, |ui| {
        for (number, parameter) in description.parameters.iter().enumerate() {
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
                (ParameterKind::Text { default }, Some(Argument::Word(mut text))) => {
                    let id = ui.id().with((description.id, parameter.id));
                    let field = egui::TextEdit::singleline(&mut text)
                        .id(id)
                        .desired_width(PARAMETER - 80.0)
                        .hint_text(*default);
                    let field = ui.add(field).on_hover_text(format!("{}  [Enter runs]", parameter.explanation));
                    if field.changed() {
                        wanted.push((parameter.id, text));
                    }
                    entered |= field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
                }
                _ => {
                    ui.label("");
                }
            }
            if (number + 1) % columns == 0 {
                ui.end_row();
            }
        }
    });
    for (id, text) in wanted {
        // The controls offer nothing that it may not be.
        let _ = arguments.set(description, id, &text);
    }
    entered
}

/// A box to choose one of some, each by id and title. Returns the id of a new choice.
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

fn findings_of(ui: &mut egui::Ui, findings: &Findings, timeline: &Timeline, room: f32, view: &mut TableState<'_>) {
    let top = ui.cursor().top();
    for (at, answer) in findings.answers.iter().enumerate() {
        // Lines that begin with blanks belong to the one before.
        let text = answer.trim_start();
        match text.len() < answer.len() {
            true => {
                ui.indent(("answer", at), |ui| {
                    wrapped(ui, RichText::new(text.replace('→', "›")).size(12.5).color(theme::INCOMING))
                })
                .inner
            }
            false => {
                ui.add_space(3.0);
                wrapped(ui, RichText::new(text).size(14.5).strong());
            }
        }
        code_links(ui, answer, view);
    }
    for note in &findings.notes {
        wrapped(ui, RichText::new(note).size(12.5).color(theme::TEXT));
    }
    for warning in &findings.warnings {
        wrapped(ui, RichText::new(format!("⚠ {warning}")).size(12.0).color(theme::WARNING));
    }
    if !findings.answers.is_empty() || !findings.notes.is_empty() || !findings.warnings.is_empty() {
        ui.add_space(6.0);
    }
    let natural: Vec<f32> = findings.tables.iter().map(|table| ABOVE + ROW * table.len().max(1) as f32).collect();
    let gaps = ui.spacing().item_spacing.y * natural.len() as f32;
    let heights = heights(&natural, room - (ui.cursor().top() - top) - gaps);
    for ((at, table), height) in findings.tables.iter().enumerate().zip(heights) {
        ui.push_id(at, |ui| {
            ui.allocate_ui(egui::vec2(ui.available_width(), height), |ui| {
                ui.set_min_height(height);
                title(ui, table);
                if table.is_empty() {
                    ui.label(RichText::new(table.empty_text()).color(theme::QUIET));
                } else {
                    result(ui, at, table, timeline, view);
                }
            });
        });
    }
}

/// The places in code that a sentence names, each a link.
fn code_links(ui: &mut egui::Ui, text: &str, view: &mut TableState<'_>) {
    let mut places: Vec<CodePlace> = CodePlace::all_in(text).filter(|place| place.line.is_some()).collect();
    places.dedup();
    if places.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Code:").size(12.0).color(theme::QUIET));
        for place in places.into_iter().take(MOST_LINKS) {
            if editor::link(ui, RichText::new(place.brief()).size(12.0), &place.class, &place) {
                view.code = Some(place);
            }
        }
    });
}

/// Places of one sentence that have a link.
const MOST_LINKS: usize = 4;

fn wrapped(ui: &mut egui::Ui, text: RichText) {
    ui.add(egui::Label::new(text).wrap());
}

/// Height above the rows of a table: its title and those of its columns.
const ABOVE: f32 = 52.0;
/// No table is lower while there is anything to scroll.
const LOWEST: f32 = ABOVE + 4.0 * ROW;

/// The heights of tables below each other: small ones get their natural height, the others share the rest.
fn heights(natural: &[f32], room: f32) -> Vec<f32> {
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by(|&a, &b| natural[a].total_cmp(&natural[b]));
    let (mut heights, mut left) = (vec![0.0; natural.len()], room);
    for (done, &at) in order.iter().enumerate() {
        let share = left / (natural.len() - done) as f32;
        heights[at] = natural[at].min(share.max(LOWEST));
        left -= heights[at];
    }
    heights
}

/// The title of a table, how much of it there is, and a way to take it along.
fn title(ui: &mut egui::Ui, table: &ResultTable) {
    ui.horizontal(|ui| {
        theme::heading(ui, &table.header.title.to_uppercase());
        let rows = match (table.len(), &table.left_out) {
            (n, Some((more, what))) if *more > 0 => format!("{n} rows, and {} more {what}", count_text(*more)),
            (n, _) => format!("{n} rows"),
        };
        ui.label(RichText::new(rows).size(11.0).color(theme::QUIET));
        if ui.small_button("Copy").on_hover_text("Copies the table as CSV, for a spreadsheet").clicked() {
            let mut csv = Vec::new();
            if write_csv(table, CsvTexts::Harmless, &mut csv, &Progress::new()).is_ok() {
                ui.ctx().copy_text(String::from_utf8_lossy(&csv).into_owned());
            }
        }
    });
}

/// The width of a column, by the content of its first rows; each can be dragged.
fn width(table: &ResultTable, at: usize) -> f32 {
    const LOOKED_AT: usize = 60;
    let column = &table.header.columns[at];
    let letters = |text: &str| text.chars().count() as f32;
    let cells = table.rows.iter().take(LOOKED_AT).filter_map(|row| {
        let cell = row.cells.get(at)?;
        let indent = if at == 0 && table.header.nested { INDENT * row.depth.min(DEEPEST) as f32 + INDENT } else { 0.0 };
        Some(6.4 * letters(&cell.text(column.kind)) + indent)
    });
    let widest = cells.fold(6.4 * letters(&column.title), f32::max) + 14.0;
    let most = if column.kind.is_numeric() { 130.0 } else { 380.0 };
    widest.clamp(48.0, most)
}

/// Indentation of nested rows, points, and the depth from which it stays the same.
const INDENT: f32 = 14.0;
const DEEPEST: u32 = 12;

/// The rows to be shown: those below a closed one are not.
fn open_rows(table: &ResultTable, is_closed: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut hidden_below = None;
    let mut rows = Vec::with_capacity(table.rows.len());
    for (at, row) in table.rows.iter().enumerate() {
        if hidden_below.is_some_and(|depth| row.depth > depth) {
            continue;
        }
        hidden_below = is_closed(at).then_some(row.depth);
        rows.push(at);
    }
    rows
}

fn has_below(table: &ResultTable, at: usize) -> bool {
    table.rows.get(at + 1).is_some_and(|next| next.depth > table.rows[at].depth)
}

fn result(ui: &mut egui::Ui, number: usize, table: &ResultTable, timeline: &Timeline, view: &mut TableState<'_>) {
    let columns = &table.header.columns;
    let nested = table.header.nested;
    let rows = open_rows(table, |row| nested && view.closed.contains(&(number, row)));
    ui.spacing_mut().item_spacing.y = 0.0;
    egui::ScrollArea::horizontal().auto_shrink([false, false]).show(ui, |ui| {
        let mut builder = TableBuilder::new(ui)
            .striped(true)
            .resizable(true)
            .sense(Sense::click())
            .auto_shrink([false, true])
            .max_scroll_height(f32::INFINITY)
            .cell_layout(Layout::left_to_right(Align::Center));
        for at in 0..columns.len() {
            builder = builder.column(Column::initial(width(table, at)).at_least(40.0).clip(true));
        }
        let header = builder.header(20.0, |mut row| {
            for column in columns {
                row.col(|ui| {
                    let title = RichText::new(&column.title).size(11.5).strong().color(theme::QUIET);
                    let label = egui::Label::new(title).selectable(false).truncate();
                    let response = match column.kind.is_numeric() {
                        true => ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.add(label)).inner,
                        false => ui.add(label),
                    };
                    response.on_hover_text(&column.explanation);
                });
            }
        });
        header.body(|body| {
            body.rows(ROW, rows.len(), |mut row| {
                let at = rows[row.index()];
                let line = &table.rows[at];
                let named = line.cells.iter().find_map(|cell| match cell {
                    Cell::Node(link) => timeline.find(&link.key),
                    _ => None,
                });
                row.set_selected(named.is_some_and(|node| view.selection.has(node)));
                for (column, (cell, described)) in line.cells.iter().zip(columns).enumerate() {
                    row.col(|ui| {
                        if column == 0 && nested {
                            ui.add_space(INDENT * line.depth.min(DEEPEST) as f32);
                            fold(ui, number, at, has_below(table, at), view.closed);
                        }
                        if let Some(place) = show_cell(ui, cell, described.kind) {
                            view.code = Some(place);
                        }
                    });
                }
                let response = row.response();
                let Some(node) = named else { return };
                if response.hovered() {
                    view.pointing.pointed = Some(node);
                }
                if response.clicked() {
                    view.selection.toggle(timeline, node);
                }
                response.on_hover_text(format!("{}\nClick selects it in all views", theme::told_path(timeline, node)));
            });
        });
    });
}

/// The sign that opens and closes a row with others below it.
fn fold(ui: &mut egui::Ui, number: usize, at: usize, has_below: bool, closed: &mut Folded) {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(INDENT, ROW), Sense::click());
    if !has_below {
        return;
    }
    let c = rect.center();
    let points = match closed.contains(&(number, at)) {
        false => vec![c + egui::vec2(-4.0, -2.5), c + egui::vec2(4.0, -2.5), c + egui::vec2(0.0, 3.5)],
        true => vec![c + egui::vec2(-2.5, -4.0), c + egui::vec2(3.5, 0.0), c + egui::vec2(-2.5, 4.0)],
    };
    let colour = if response.hovered() { theme::TEXT } else { theme::QUIET };
    ui.painter().add(egui::Shape::convex_polygon(points, colour, egui::Stroke::NONE));
    if response.clicked() && !closed.remove(&(number, at)) {
        closed.insert((number, at));
    }
}

/// Draws a cell. Returns the place in code that it names, when it was clicked.
fn show_cell(ui: &mut egui::Ui, cell: &Cell, kind: CellKind) -> Option<CodePlace> {
    let place = match cell {
        Cell::Text(text) => CodePlace::first_in(text),
        _ => None,
    };
    let colour = match cell {
        Cell::Text(_) if place.is_some() => theme::ACCENT,
        Cell::Node(_) => theme::ACCENT,
        Cell::Change(change) if *change > 0 => theme::GROWTH,
        Cell::Change(change) if *change < 0 => theme::SHRINK,
        Cell::Number(0) | Cell::Change(_) => theme::QUIET,
        _ => theme::TEXT,
    };
    // The font of the window has no arrows.
    let text = RichText::new(cell.text(kind).replace('→', "›")).size(12.0).color(colour);
    // Not to be selected as text: a click is for the row. The whole text comes when the mouse rests on what is cut.
    let label = egui::Label::new(text).selectable(false).truncate();
    if let Some(place) = place {
        let label = ui.add(label.sense(Sense::click())).on_hover_cursor(egui::CursorIcon::PointingHand);
        let tip = format!("{}\nClick opens {} in your editor", cell.text(kind), place.brief());
        return label.on_hover_text(tip).clicked().then_some(place);
    }
    match kind.is_numeric() {
        true => ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.add(label)).inner,
        false => ui.add(label),
    };
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::tabular::Row;
    use memory_city_analysis::timeline::TimePoint;

    #[test]
    fn analyses_take_the_chosen_part_of_the_run_or_all_up_to_the_shown_time() {
        let timeline = Timeline::from_trees(vec![TimePoint::default(); 8], &vec![MemoryTree::new(); 8]);
        for (range, time, window, text) in [
            (None, 7, (0, 7), "Points in time 1 to 8 of 8, up to the shown one"),
            (None, 3, (0, 3), "Points in time 1 to 4 of 8, up to the shown one"),
            (None, 0, (0, 0), "Point in time 1 of 8, as shown"),
            (Some((5, 2)), 7, (2, 5), "Points in time 3 to 6 of 8, as chosen"),
            (Some((3, 3)), 4, (0, 4), "Points in time 1 to 5 of 8, up to the shown one"),
        ] {
            let mut clock = Clock::of(8);
            clock.set_range(range);
            clock.time = time;
            let of = window_of(&clock, &timeline);
            assert_eq!((of.from, of.to), window, "{range:?} {time}");
            assert_eq!(window_text(of, &clock, &timeline), text);
        }
    }

    #[test]
    fn small_tables_get_what_they_need_and_large_ones_share_the_rest() {
        assert_eq!(heights(&[100.0, 5000.0, 5000.0], 1100.0), [100.0, 500.0, 500.0]);
        assert_eq!(heights(&[100.0, 200.0], 1100.0), [100.0, 200.0]);
        // There is always something to see, even if all of it has to scroll.
        assert_eq!(heights(&[5000.0, 5000.0], 10.0), [LOWEST, LOWEST]);
        assert!(heights(&[], 10.0).is_empty());
    }

    #[test]
    fn closed_rows_hide_all_below_them() {
        let depths = [0, 1, 2, 2, 1, 0, 1];
        let rows = depths.iter().map(|&depth| Row { depth, ..Row::default() }).collect();
        let table = ResultTable { rows, ..ResultTable::default() };
        assert_eq!(open_rows(&table, |_| false), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(open_rows(&table, |at| at == 1), [0, 1, 4, 5, 6]);
        assert_eq!(open_rows(&table, |at| at == 0 || at == 1), [0, 5, 6]);
        assert_eq!(open_rows(&table, |at| at == 6), [0, 1, 2, 3, 4, 5, 6]);
        assert!(has_below(&table, 1) && !has_below(&table, 2) && !has_below(&table, 6));
    }
}
