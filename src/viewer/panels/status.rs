//! The start card, loading with progress, errors with a remedy, and notices.

use super::spinner::spinner;
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::keys;
use crate::viewer::loading::ViewQuestion;
use crate::viewer::recent::RecentInput;
use bevy_egui::egui::{self, Align2, Color32, RichText};
use memory_city_heap::printable::line_text;
use memory_city_heap::progress::Snapshot;

/// The user's choice in a card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Open files.
    OpenFiles,
    /// Open a folder.
    OpenFolder,
    /// Open the bundled sample.
    OpenSample,
    /// Open an input of an earlier run, by its place in the list.
    OpenRecent(usize),
    /// Listen for programs.
    Listen,
    /// Choose a running JVM to record.
    Record,
    /// Stop loading.
    Cancel,
    /// Close the error, or answer a question with no.
    Dismiss,
    /// Read the paths in a view file, wherever they are.
    Allow,
}

fn card<R>(ctx: &egui::Context, id: &str, add: impl FnOnce(&mut egui::Ui) -> R) -> R {
    egui::Area::new(egui::Id::new(id))
        .order(egui::Order::Foreground)
        .anchor(Align2::CENTER_CENTER, [0.0, -20.0])
        .show(ctx, |ui| {
            theme::frame()
                .inner_margin(22)
                .show(ui, |ui| {
                    ui.set_width(480.0);
                    add(ui)
                })
                .inner
        })
        .inner
}

/// What the start card knows.
pub struct StartCard<'a> {
    /// Whether the bundled sample is there.
    pub has_sample: bool,
    /// Whether it is shown behind the card already.
    pub over_sample: bool,
    /// Inputs opened last, the newest first.
    pub recent: &'a [RecentInput],
    /// Address at which programs may send their trees.
    pub listening: Option<String>,
}

/// Width of the start card, and of its buttons, points.
const START: f32 = 600.0;
const START_BUTTON: f32 = 214.0;

/// The start card: what this is, and what to open.
pub fn start(ctx: &egui::Context, card: &StartCard) -> Option<Answer> {
    let backdrop = if card.over_sample { Color32::from_black_alpha(150) } else { Color32::TRANSPARENT };
    let modal = egui::Modal::new("start".into()).backdrop_color(backdrop).frame(theme::frame().inner_margin(22));
    let shown = modal.show(ctx, |ui| {
        let room = ctx.content_rect().size() - egui::vec2(60.0, 60.0);
        ui.set_width(room.x.min(START));
        // An area that stands in the middle believes that it has half of the window.
        let rows = egui::ScrollArea::vertical().max_height(room.y.max(120.0)).min_scrolled_height(room.y.max(120.0));
        rows.show(ui, |ui| start_contents(ui, card)).inner
    });
    // Escape is an action: it comes from the keyboard's own table.
    let outside = card.over_sample && shown.backdrop_response.clicked();
    shown.inner.or(outside.then_some(Answer::OpenSample))
}

fn start_contents(ui: &mut egui::Ui, card: &StartCard) -> Option<Answer> {
    ui.label(RichText::new("Memory City").size(26.0).strong());
    ui.label(
        "The heap of a program as a city, over time. Groups of objects are buildings; what leaks grows tall and \
         red. The program names what keeps it alive, and the line to change.",
    );
    ui.add_space(12.0);
    let mut answer = choices(ui, card);
    answer = answer.or(recent(ui, card.recent));
    ui.add_space(10.0);
    let take = "No heap dumps yet? Take some of a running Java program, a while apart:";
    ui.label(RichText::new(take).color(theme::QUIET));
    ui.label(RichText::new("    jcmd PID GC.heap_dump -gz=1 /tmp/dumps/1.hprof.gz").monospace());
    ui.add_space(4.0);
    match &card.listening {
        Some(address) => {
            let text = format!("Listening on {address}: the city begins with the first tree");
            ui.label(RichText::new(text).color(theme::ACCENT));
        }
        None => {
            let listen = ui.small_button("Listen for programs that send their trees");
            answer = answer.or(listen.on_hover_text(Action::Listen.tooltip()).clicked().then_some(Answer::Listen));
        }
    }
    answer
}

/// A button with a line beside it for each thing to do.
fn choices(ui: &mut egui::Ui, card: &StartCard) -> Option<Answer> {
    let sample = match card.over_sample {
        true => "The city behind: a small program with a leak",
        false => "A small program with a leak, 16 dumps",
    };
    let all = [
        (
            true,
            "Open my dumps…",
            Action::OpenFiles.tooltip(),
            "Heap dumps, traces, recordings: or drop them here",
            Answer::OpenFiles,
        ),
        (
            true,
            "Open a folder…",
            Action::OpenFolder.tooltip(),
            "All dumps of a run: the city shows how it grew",
            Answer::OpenFolder,
        ),
        (
            cfg!(target_os = "linux"),
            "Record a running program…",
            Action::Record.tooltip(),
            "A Java program on this machine: its city grows while it runs",
            Answer::Record,
        ),
        (
            card.has_sample,
            "Try the sample",
            keys::map().beside("The sample", Action::Escape),
            sample,
            Answer::OpenSample,
        ),
    ];
    let mut answer = None;
    for (_, text, tip, about, what) in all.into_iter().filter(|(offered, ..)| *offered) {
        ui.horizontal(|ui| {
            let button = egui::Button::new(RichText::new(text).size(14.0)).min_size(egui::vec2(START_BUTTON, 30.0));
            if ui.add(button).on_hover_text(tip).clicked() {
                answer = Some(what);
            }
            ui.add(egui::Label::new(RichText::new(about).color(theme::QUIET)).wrap());
        });
    }
    answer
}

/// Inputs of earlier runs.
fn recent(ui: &mut egui::Ui, recent: &[RecentInput]) -> Option<Answer> {
    if recent.is_empty() {
        return None;
    }
    ui.add_space(10.0);
    ui.label(RichText::new("RECENT").small().color(theme::QUIET));
    let mut answer = None;
    for (at, RecentInput { paths, title }) in recent.iter().enumerate() {
        ui.horizontal(|ui| {
            let all: Vec<String> = paths.iter().take(12).map(|path| line_text(&path.display().to_string())).collect();
            let title = theme::shortened(&line_text(title), 34);
            if ui.link(title).on_hover_text(all.join("\n")).clicked() {
                answer = Some(Answer::OpenRecent(at));
            }
            let folder = paths.first().and_then(|path| path.parent()).map(|folder| folder.display().to_string());
            let folder = theme::shortened(&line_text(&folder.unwrap_or_default()), 52);
            ui.label(RichText::new(folder).small().color(theme::QUIET));
        });
    }
    answer
}

fn open_buttons(ui: &mut egui::Ui, sample: bool) -> Option<Answer> {
    let mut answer = None;
    ui.horizontal(|ui| {
        let mut offer = |text: &str, tip: String, what: Answer| {
            let button = egui::Button::new(RichText::new(text).size(14.0)).min_size(egui::vec2(120.0, 30.0));
            if ui.add(button).on_hover_text(tip).clicked() {
                answer = Some(what);
            }
        };
        offer("Open…", Action::OpenFiles.tooltip(), Answer::OpenFiles);
        offer("Open folder…", Action::OpenFolder.tooltip(), Answer::OpenFolder);
        if sample {
            offer("Sample city", "16 dumps of a small program with a leak".to_owned(), Answer::OpenSample);
        }
    });
    answer
}

/// Something is being loaded.
pub fn loading(ctx: &egui::Context, title: &str, snapshot: &Snapshot) -> Option<Answer> {
    card(ctx, "loading", |ui| {
        ui.label(RichText::new(format!("Opening {}", theme::shortened(title, 44))).heading().strong());
        ui.add_space(6.0);
        let stage = if snapshot.stage.is_empty() { "Starting" } else { snapshot.stage.as_str() };
        ui.label(RichText::new(theme::shortened(stage, 72)).color(theme::QUIET));
        if snapshot.total > 0 {
            let share = (snapshot.done as f64 / snapshot.total as f64).clamp(0.0, 1.0) as f32;
            ui.add(egui::ProgressBar::new(share).text(format!("{:.0} %", share * 100.0)).desired_height(16.0));
        } else {
            ui.add(egui::ProgressBar::new(0.0).animate(true).desired_height(16.0));
        }
        ui.add_space(6.0);
        ui.button("Cancel").on_hover_text(keys::key(Action::Escape)).clicked().then_some(Answer::Cancel)
    })
}

/// Asks about a view file with paths outside its folder.
pub fn asks(ctx: &egui::Context, question: &ViewQuestion) -> Option<Answer> {
    card(ctx, "asks", |ui| {
        let name = question.view.file_name().unwrap_or_default().to_string_lossy();
        ui.label(
            RichText::new(format!("Read what {} names?", theme::shortened(&line_text(&name), 40))).heading().strong(),
        );
        ui.add_space(4.0);
        ui.label("This view file names what lies outside its own folder. Nothing of it was read yet:");
        egui::ScrollArea::vertical().max_height(180.0).show(ui, |ui| {
            for path in &question.outside {
                let path = line_text(&path.display().to_string());
                ui.add(egui::Label::new(RichText::new(path).monospace()).wrap());
            }
        });
        ui.label(RichText::new("Say yes where you made the view, or trust who did").color(theme::QUIET));
        ui.add_space(10.0);
        let mut answer = None;
        ui.horizontal(|ui| {
            if ui.button("Read it").on_hover_text("Opens the view with all that it names (Ctrl+Enter)").clicked() {
                answer = Some(Answer::Allow);
            }
            if ui.button("Cancel").on_hover_text(keys::key(Action::Escape)).clicked() {
                answer = Some(Answer::Dismiss);
            }
        });
        // Enter alone may still be that of the dialog by which the view was chosen.
        if ui.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, egui::Key::Enter)) {
            answer = Some(Answer::Allow);
        }
        answer
    })
}

/// Loading failed.
pub fn failed(ctx: &egui::Context, title: &str, error: &str, city: bool, sample: bool) -> Option<Answer> {
    card(ctx, "failed", |ui| {
        ui.label(
            RichText::new(format!("Cannot open {}", theme::shortened(title, 40)))
                .heading()
                .strong()
                .color(theme::ERROR),
        );
        ui.add_space(4.0);
        egui::ScrollArea::vertical().max_height(220.0).show(ui, |ui| {
            ui.add(egui::Label::new(error).wrap());
        });
        ui.add_space(10.0);
        let mut answer = open_buttons(ui, sample);
        ui.horizontal(|ui| {
            if ui.button("Copy message").on_hover_text("Copies the message, for a ticket").clicked() {
                ui.ctx().copy_text(error.to_owned());
            }
            if city && ui.button("Back to the city").on_hover_text(keys::key(Action::Escape)).clicked() {
                answer = Some(Answer::Dismiss);
            }
        });
        answer
    })
}

/// A small box while something is recomputed behind the shown city.
pub fn busy(ctx: &egui::Context, what: &str, snapshot: &Snapshot) {
    egui::Area::new("busy".into()).anchor(Align2::CENTER_TOP, [0.0, theme::GAP]).interactable(false).show(ctx, |ui| {
        theme::frame().show(ui, |ui| {
            ui.horizontal(|ui| {
                spinner(ui, 14.0);
                let share = match snapshot.total {
                    0 => String::new(),
                    total => format!("  {:.0} %", snapshot.done as f64 * 100.0 / total as f64),
                };
                ui.label(format!("{what}{share}"));
            });
        });
    });
}

/// Distance of messages from the lower edge: above the time bar, and the line of owners walked.
const NOTICES_UP: f32 = 106.0;

/// Short messages near the lower edge. The upper one is taken by the leak, and people may be reading it.
pub fn notices<'a>(ctx: &egui::Context, notices: impl Iterator<Item = (&'a str, f32)>) {
    egui::Area::new("notices".into())
        .order(egui::Order::Foreground)
        .anchor(Align2::CENTER_BOTTOM, [0.0, -NOTICES_UP])
        .interactable(false)
        .show(ctx, |ui| {
            for (text, opacity) in notices {
                ui.scope(|ui| {
                    ui.set_opacity(opacity);
                    theme::frame().show(ui, |ui| {
                        ui.set_max_width(520.0);
                        ui.label(text);
                    });
                });
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_view_that_reaches_far_is_asked_for() {
        let question = ViewQuestion { view: "/a/one.mcview".into(), outside: vec!["/etc/\u{202e}passwd\n".into()] };
        let show = move |ui: &mut egui::Ui, answer: &mut Option<Answer>| {
            *answer = asks(ui.ctx(), &question).or(*answer);
        };
        let mut card = Harness::builder().with_size((800.0, 600.0)).build_ui_state(show, None);
        card.run_steps(3);
        assert!(card.query_by_label("Read what one.mcview names?").is_some());
        assert!(card.query_by_label("/etc/\\u{202e}passwd\\n").is_some(), "what is named, as it is written");
        // The Enter of a dialog before it is no answer.
        card.key_press(egui::Key::Enter);
        card.run_steps(2);
        assert_eq!(*card.state(), None);
        card.get_by_label("Cancel").click();
        card.run_steps(2);
        assert_eq!(*card.state(), Some(Answer::Dismiss));
        *card.state_mut() = None;
        card.get_by_label("Read it").click();
        card.run_steps(2);
        assert_eq!(*card.state(), Some(Answer::Allow));
        *card.state_mut() = None;
        card.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Enter);
        card.run_steps(2);
        assert_eq!(*card.state(), Some(Answer::Allow));
    }

    /// Each thing to do is a button; what was opened before stands below.
    #[test]
    fn the_start_card_offers_dumps_programs_the_sample_and_recent_inputs() {
        let recent = [vec!["/data/shop/dumps".into()], vec!["/x/1.hprof".into(), "/x/2.hprof".into()]];
        let recent = recent.map(RecentInput::of);
        let show = move |ui: &mut egui::Ui, answer: &mut Option<Answer>| {
            let card = StartCard { has_sample: true, over_sample: true, recent: &recent, listening: None };
            *answer = start(ui.ctx(), &card).or(*answer);
        };
        let mut card = Harness::builder().with_size((1024.0, 700.0)).build_ui_state(show, None);
        card.run_steps(3);
        for (label, answer) in [
            ("Open my dumps…", Answer::OpenFiles),
            ("Open a folder…", Answer::OpenFolder),
            ("Try the sample", Answer::OpenSample),
            ("dumps", Answer::OpenRecent(0)),
            ("x (2 files)", Answer::OpenRecent(1)),
            ("Listen for programs that send their trees", Answer::Listen),
        ] {
            *card.state_mut() = None;
            card.get_by_label(label).click();
            card.run_steps(2);
            assert_eq!(*card.state(), Some(answer), "{label}");
        }
        // Beside the card is the city: a click on it goes there.
        *card.state_mut() = None;
        card.hover_at(egui::pos2(8.0, 8.0));
        card.drag_at(egui::pos2(8.0, 8.0));
        card.drop_at(egui::pos2(8.0, 8.0));
        card.run_steps(2);
        assert_eq!(*card.state(), Some(Answer::OpenSample));
    }
}
