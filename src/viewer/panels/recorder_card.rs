//! The card of recordings: running JVMs to choose one from, the progress of its recording, and the result. And the sign in the bar at the
//! top that a recording is going on.

use super::spinner::spinner;
use super::theme;
use crate::jvm::list::RunningJvm;
use crate::viewer::action::Action;
use crate::viewer::frame::Awake;
use crate::viewer::loading::OpenRequest;
use crate::viewer::recording::{EndedRecording, JvmChoice, RecorderChild, WindowRecorder};
use bevy::prelude::{In, MessageWriter, ResMut};
use bevy_egui::egui::{self, Align2, Color32, Key, Modifiers, RichText, Sense};
use memory_city_agent::{DEFAULT_BUDGET, DEFAULT_WALK_SHARE, DEFAULT_WALKS, WALK_PAUSE};
use memory_city_analysis::tabular::{bytes_text, count_text};
use std::path::PathBuf;

/// Width of the card, points.
const WIDTH: f32 = 700.0;
/// Height of a row, and of the whole list at most.
const ROW: f32 = 22.0;
const LIST: f32 = 10.0 * ROW;
/// Columns of a row, points from its left: the right end of numbers, the left end of texts.
const PID: f32 = 64.0;
const HEAP: f32 = 144.0;
const AGE: f32 = 216.0;
const VERSION: f32 = 230.0;
const PROGRAM: f32 = 316.0;
/// Size of the button that begins or ends.
const BUTTON: [f32; 2] = [110.0, 28.0];
/// The dot beside a recording.
const RED: Color32 = Color32::from_rgb(240, 84, 72);

/// Wish of the person.
enum CardWish {
    Record,
    Stop,
    Close,
    Open(PathBuf),
}

/// Draws the card while it is open.
pub(in crate::viewer) fn show(
    In(ctx): In<egui::Context>,
    mut recorder: ResMut<WindowRecorder>,
    mut requests: MessageWriter<OpenRequest>,
    mut awake: ResMut<Awake>,
) {
    let recorder = &mut *recorder;
    let Some(choice) = &mut recorder.choosing else { return };
    let jvms = choice.jvms();
    awake.wait_if(jvms.is_none());
    let mut asked = keys(&ctx, choice, jvms.as_deref().unwrap_or_default(), recorder.recording.is_some());
    let width = WIDTH.min(ctx.content_rect().width() - 60.0);
    let area = egui::Area::new("running jvms".into()).order(egui::Order::Foreground);
    area.anchor(Align2::CENTER_TOP, [0.0, 64.0]).show(&ctx, |ui| {
        theme::frame().fill(theme::SOLID).inner_margin(16).show(ui, |ui| {
            ui.set_width(width);
            ui.horizontal(|ui| {
                let title = if recorder.recording.is_some() { "Recording" } else { "Record a running JVM" };
                ui.label(RichText::new(title).heading().strong());
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    if ui.button("Close").on_hover_text("Esc").clicked() {
                        asked = Some(CardWish::Close);
                    }
                });
            });
            ui.add_space(4.0);
            let drawn = match (&recorder.recording, jvms) {
                (Some(child), _) => going(ui, child),
                (None, jvms) => {
                    let next = recorder.ended.as_ref().and_then(|end| ended(ui, end));
                    next.or(list(ui, choice, jvms.as_deref()))
                }
            };
            asked = asked.take().or(drawn);
        });
    });
    match asked {
        None => return,
        Some(CardWish::Close) => recorder.choosing = None,
        Some(CardWish::Stop) => recorder.stops = true,
        Some(CardWish::Open(folder)) => {
            recorder.choosing = None;
            requests.write(OpenRequest(vec![folder]));
        }
        Some(CardWish::Record) => {
            let listed = choice.jvms().unwrap_or_default();
            let jvm = listed.into_iter().find(|jvm| Some(jvm.pid) == choice.chosen);
            recorder.wanted = jvm.map(|jvm| (jvm, path_of(&choice.folder)));
            // Another one of the same program has a folder of its own.
            choice.named_for = None;
        }
    }
    awake.keep_if(true);
}

/// A path as people type it: `~` is their own folder.
fn path_of(text: &str) -> PathBuf {
    let text = text.trim();
    match (text.strip_prefix("~/"), dirs::home_dir()) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(text),
    }
}

/// Keys, before a field sees them.
fn keys(ctx: &egui::Context, choice: &mut JvmChoice, listed: &[RunningJvm], is_recording: bool) -> Option<CardWish> {
    let fresh = choice.fresh;
    ctx.input_mut(|input| {
        let closes = input.consume_key(Modifiers::COMMAND, Key::R) && !fresh;
        if input.consume_key(Modifiers::NONE, Key::Escape) || closes {
            return Some(CardWish::Close);
        }
        if is_recording {
            return None;
        }
        let at = listed.iter().position(|jvm| Some(jvm.pid) == choice.chosen).unwrap_or(0);
        for (key, by) in [(Key::ArrowDown, 1isize), (Key::ArrowUp, -1)] {
            let pressed = input.count_and_consume_key(Modifiers::NONE, key) as isize;
            if pressed > 0 {
                let to = at.saturating_add_signed(by * pressed).min(listed.len().saturating_sub(1));
                choice.chosen = listed.get(to).map(|jvm| jvm.pid);
            }
        }
        input.consume_key(Modifiers::NONE, Key::Enter).then_some(CardWish::Record)
    })
}

/// The list, and where the trace goes.
fn list(ui: &mut egui::Ui, choice: &mut JvmChoice, jvms: Option<&[RunningJvm]>) -> Option<CardWish> {
    let mut asked = None;
    let hint = "A part of a name, or a process id";
    let filter = egui::Id::new("jvm filter");
    let field = egui::TextEdit::singleline(&mut choice.text).id(filter).hint_text(hint);
    let field = ui.add(field.desired_width(f32::INFINITY));
    if std::mem::take(&mut choice.fresh) {
        field.request_focus();
    }
    let Some(jvms) = jvms else {
        ui.horizontal(|ui| {
            spinner(ui, 14.0);
            ui.label(RichText::new("Looking for JVMs").color(theme::QUIET));
        });
        return None;
    };
    if jvms.iter().all(|jvm| Some(jvm.pid) != choice.chosen) {
        choice.chosen = jvms.first().map(|jvm| jvm.pid);
    }
    choice.tell(jvms.len());
    if let Some(jvm) = jvms.iter().find(|jvm| Some(jvm.pid) == choice.chosen) {
        choice.name_folder(jvm);
    }
    ui.add_space(4.0);
    header(ui);
    if jvms.is_empty() {
        let text = match choice.text.trim() {
            "" => {
                "No JVM of yours runs on this machine. Those started with -XX:-UsePerfData do not show: type their process id.\n\
                 To record a program from its first moment:  memory-city record --live -- java -jar app.jar"
            }
            _ => "No JVM is called so",
        };
        ui.label(RichText::new(text).color(theme::QUIET));
    }
    egui::ScrollArea::vertical().id_salt("jvms").max_height(LIST).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for jvm in jvms {
            let response = row(ui, jvm, choice.chosen == Some(jvm.pid));
            if response.clicked() {
                choice.chosen = Some(jvm.pid);
            }
            if response.double_clicked() {
                asked = Some(CardWish::Record);
            }
            let program = if jvm.program.is_empty() { "Not in the list of JVMs" } else { &jvm.program };
            let tip = format!("{}\n{}\nDouble click records it", theme::shortened(program, 400), jvm.version);
            response.on_hover_text(tip);
        }
    });
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Trace").color(theme::QUIET)).on_hover_text("The folder that is made for the recording");
        let field = egui::TextEdit::singleline(&mut choice.folder).id(egui::Id::new("trace folder"));
        ui.add(field.desired_width(f32::INFINITY)).on_hover_text(
            "The folder that is made for the recording. It can be opened while the program runs, and afterwards",
        );
    });
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        let ready = choice.chosen.is_some() && !choice.folder.trim().is_empty();
        let button = egui::Button::new(RichText::new("Record").size(14.0));
        let record = ui.add_enabled_ui(ready, |ui| ui.add_sized(BUTTON, button)).inner;
        if record.on_hover_text("Attaches to the program and shows its city live  [Enter]").clicked() {
            asked = Some(CardWish::Record);
        }
        // Keys are for the list, not for the city behind it, unless another field has them. Seen at the end: on its way to the next
        // field the focus is nowhere.
        if ui.memory(|memory| memory.focused().is_none()) {
            ui.memory_mut(|memory| memory.request_focus(filter));
        }
        ui.add(egui::Label::new(RichText::new(what_it_costs()).size(11.5).color(theme::QUIET)).wrap());
    });
    asked
}

/// Cost of a recording for the program: it has the defaults of the command.
fn what_it_costs() -> String {
    let [least, most] = WALK_PAUSE;
    format!(
        "Samples at most {DEFAULT_BUDGET} % of a core; a walk over the heap every {} s at most stops the program for {least} to {most} s for each \
         million objects, on a busy machine for longer, all walks for {DEFAULT_WALK_SHARE} % of the time. Stopping leaves it as it was.",
        DEFAULT_WALKS / 1000
    )
}

fn header(ui: &mut egui::Ui) {
    let (rect, _) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 16.0), Sense::hover());
    let font = egui::FontId::proportional(11.0);
    for (x, right, text) in [
        (PID, true, "PID"),
        (HEAP, true, "HEAP"),
        (AGE, true, "RUNS FOR"),
        (VERSION, false, "JVM"),
        (PROGRAM, false, "PROGRAM"),
    ] {
        let align = if right { Align2::RIGHT_TOP } else { Align2::LEFT_TOP };
        ui.painter().text(rect.left_top() + egui::vec2(x, 0.0), align, text, font.clone(), theme::QUIET);
    }
}

fn row(ui: &mut egui::Ui, jvm: &RunningJvm, chosen: bool) -> egui::Response {
    // Arrows choose: Tab goes from the name to the folder.
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), ROW), Sense::CLICK | Sense::HOVER);
    theme::named(&response, jvm.pid);
    let painter = ui.painter_at(rect);
    if chosen || response.hovered() {
        let fill = if chosen { theme::TAB } else { Color32::from_rgb(24, 32, 48) };
        painter.rect_filled(rect, 3.0, fill);
    }
    let font = egui::FontId::proportional(12.5);
    let middle = rect.left_center();
    let used = jvm.used.map_or_else(|| "?".into(), bytes_text);
    for (x, text) in [(PID, jvm.pid.to_string()), (HEAP, used), (AGE, jvm.age_text())] {
        painter.text(middle + egui::vec2(x, 0.0), Align2::RIGHT_CENTER, text, font.clone(), theme::TEXT);
    }
    // Behind the dash is who built it.
    let version = jvm.version.split('-').next().unwrap_or_default();
    let version = theme::fitting(&painter, version, &font, PROGRAM - VERSION - 8.0);
    painter.text(middle + egui::vec2(VERSION, 0.0), Align2::LEFT_CENTER, version, font.clone(), theme::QUIET);
    let program = if jvm.program.is_empty() { "(not in the list)".to_owned() } else { jvm.program_text() };
    let program = theme::fitting(&painter, &program, &font, rect.width() - PROGRAM - 8.0);
    painter.text(middle + egui::vec2(PROGRAM, 0.0), Align2::LEFT_CENTER, program, font, theme::ACCENT);
    response
}

/// The recording that is going on.
fn going(ui: &mut egui::Ui, child: &RecorderChild) -> Option<CardWish> {
    ui.horizontal(|ui| {
        dot(ui);
        ui.label(RichText::new(format!("{}  ·  process {}", child.name(), child.pid())).size(14.0).strong());
    });
    ui.label(RichText::new(state_text(child)).size(12.5));
    let folder = child.folder().display().to_string();
    ui.add(egui::Label::new(RichText::new(&folder).size(12.0).color(theme::QUIET)).truncate()).on_hover_text(&folder);
    ui.add_space(4.0);
    let text = if child.is_ending() { "Stopping…" } else { "Stop" };
    let button = egui::Button::new(RichText::new(text).size(14.0));
    let mut asked = None;
    ui.horizontal(|ui| {
        let stop = ui.add_enabled_ui(!child.is_ending(), |ui| ui.add_sized(BUTTON, button)).inner;
        if stop.on_hover_text(Action::StopRecording.tooltip()).clicked() {
            asked = Some(CardWish::Stop);
        }
        let walks = child.status().map_or(0, |status| status.walks);
        let open = ui.add_enabled_ui(walks > 0, |ui| ui.add_sized([160.0, BUTTON[1]], egui::Button::new("Open it as it is now"))).inner;
        let tip = "All walks so far with single objects: any grouping, owners, ages and places in the code. It goes on being \
                   recorded; the list below Live brings the live city back";
        if open.on_hover_text(tip).on_disabled_hover_text("There is no walk yet").clicked() {
            asked = Some(CardWish::Open(child.folder().to_owned()));
        }
    });
    asked
}

/// State of the recording, in a line.
fn state_text(child: &RecorderChild) -> String {
    match child.status() {
        None => "Attaching".to_owned(),
        Some(status) => {
            let cost = (status.sampling + status.own) as f64 / status.elapsed.max(1) as f64 * 100.0;
            let lost = match status.lost {
                0 => String::new(),
                lost => format!(", {} lost", count_text(lost)),
            };
            let walks = match (status.walks, status.first_walk) {
                // It may stop the program for long, so the program runs first.
                (0, at @ 1..) => format!(
                    "the first walk at {}, as it may stop the program for {} s",
                    clock(at),
                    status.first_takes.div_ceil(1_000_000)
                ),
                (1, _) => "1 walk".to_owned(),
                (walks, _) => format!("{walks} walks"),
            };
            format!(
                "{}:  {} samples{lost}, {cost:.1} % of a core, {walks}",
                clock(status.elapsed),
                count_text(status.samples)
            )
        }
    }
}

/// Minutes and seconds.
fn clock(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// How the last recording ended.
fn ended(ui: &mut egui::Ui, end: &EndedRecording) -> Option<CardWish> {
    let mut asked = None;
    match &end.text {
        Ok(text) => {
            ui.add(egui::Label::new(RichText::new(format!("{}: {text}", end.name)).size(12.5)).wrap());
            let open = ui.button("Open the recording");
            let tip = format!("{}\nEvery walk, with single objects, what leaks and who keeps it", end.folder.display());
            asked = open.on_hover_text(tip).clicked().then(|| CardWish::Open(end.folder.clone()));
        }
        Err(why) => {
            let text = RichText::new(format!("Not recorded ({}): {why}", end.name)).color(theme::ERROR);
            ui.add(egui::Label::new(text).wrap().selectable(true));
        }
    }
    ui.separator();
    asked
}

fn dot(ui: &mut egui::Ui) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(14.0, 14.0), Sense::hover());
    ui.painter().circle_filled(rect.center(), 5.0, RED);
    response
}

/// The sign in the bar at the top, from right to left. Returns the clicked action.
pub(in crate::viewer) fn sign(ui: &mut egui::Ui, recorder: &WindowRecorder) -> Option<Action> {
    let Some(child) = &recorder.recording else {
        return ui.button("Record…").on_hover_text(Action::Record.tooltip()).clicked().then_some(Action::Record);
    };
    let stop = ui.add_enabled(!child.is_ending(), egui::Button::new("Stop"));
    let stops = stop.on_hover_text(Action::StopRecording.tooltip()).clicked();
    let time = child.status().map_or_else(|| "…".to_owned(), |status| clock(status.elapsed));
    let text = RichText::new(format!("{} {time}", theme::shortened(child.name(), 16)));
    let label = ui.add(egui::Button::new(text).frame(false));
    let label = label.on_hover_text(format!("Recording process {}\n{}", child.pid(), state_text(child)));
    dot(ui);
    if stops { Some(Action::StopRecording) } else { label.clicked().then_some(Action::Record) }
}
