//! Opening of source code: the line of an allocation site, in the editor that a person has chosen.
//!
//! A job looks for a [`place`] from a text in [`sources`], and then starts the [`command`]. A card asks for anything that is missing (no
//! editor, no folder, no such file). The choice is kept beside the settings and is no part of a view file: view files come from others,
//! and must not choose the command to run.

mod command;
mod place;
mod sources;

use super::action::Action;
use super::clock::Clock;
use super::document::Document;
use super::frame::{Awake, Stage};
use super::job::Job;
use super::notices::Notices;
use super::panels::theme;
use super::saved_settings;
use super::selection::Selection;
use super::settings::Settings;
use super::sites::SitesOf;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, RichText};
use memory_city_analysis::analyses::SampledShares;
use memory_city_analysis::group::registry;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::error::Error;
use memory_city_heap::progress::Progress;
pub use place::CodePlace;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name in the file of settings.
const EDITOR: &str = "editor";
const SOURCES: &str = "source-folders";
/// An editor that ends so soon and with an error has opened nothing.
const ENDS_SOON: Duration = Duration::from_millis(1500);
/// How far down it is looked for a line below a group that has none.
const DEEPEST: usize = 64;
/// Suggestions for the first choice.
const EXAMPLES: [(&str, &str); 5] = [
    ("VS Code", "code -g {file}:{line}"),
    ("IntelliJ IDEA", "idea --line {line} {file}"),
    ("Zed", "zed {file}:{line}"),
    ("Sublime Text", "subl {file}:{line}"),
    ("Emacs", "emacsclient -n +{line} {file}"),
];

/// The wish to see a place in the editor.
#[derive(Message, Clone, Debug)]
pub struct CodeRequest(pub CodePlace);

/// The editor, the folders of sources, and the place being opened.
#[derive(Resource, Default)]
pub struct CodeEditor {
    command: String,
    roots: Vec<PathBuf>,
    job: Option<(CodePlace, Job<Result<String, String>>)>,
    card: Option<EditorCard>,
}

/// The card in which editor and folders are named.
struct EditorCard {
    command: String,
    roots: String,
    /// Place to open after that.
    place: Option<CodePlace>,
    error: Option<String>,
    fresh: bool,
}

impl CodeEditor {
    /// The saved choice; else the editor of the environment, and the working folder.
    fn begin() -> CodeEditor {
        let command = saved_settings::kept(EDITOR).and_then(|kept| kept.as_str().map(str::to_owned));
        let roots = saved_settings::kept(SOURCES).and_then(|kept| {
            let all = kept.as_array()?.iter().filter_map(|root| root.as_str().map(PathBuf::from));
            Some(all.collect::<Vec<_>>())
        });
        let of_environment =
            || command::from_environment(["VISUAL", "EDITOR"].into_iter().filter_map(std::env::var_os));
        let here = || {
            let here = std::env::current_dir()
                .ok()
                .filter(|here| here.parent().is_some() && Some(here) != dirs::home_dir().as_ref());
            here.into_iter().collect()
        };
        CodeEditor {
            command: command.or_else(of_environment).unwrap_or_default(),
            roots: roots.unwrap_or_else(here),
            ..CodeEditor::default()
        }
    }

    /// Asks for editor and folders; then opens `place`.
    pub(super) fn ask(&mut self, place: Option<CodePlace>, error: Option<String>) {
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        tracing::debug!("editor: asked for ({})", error.as_deref().unwrap_or("nothing is wrong"));
        self.card =
            Some(EditorCard { command: self.command.clone(), roots: roots.join("\n"), place, error, fresh: true });
    }

    /// Closes the card. Returns whether it was open.
    pub(super) fn escape(&mut self) -> bool {
        self.card.take().is_some()
    }

    /// Opens the card, or closes it.
    fn switch_card(&mut self) {
        if !self.escape() {
            self.ask(None, None);
        }
    }

    fn open(&mut self, place: CodePlace) {
        if self.command.trim().is_empty() {
            self.ask(Some(place), None);
            return;
        }
        let (command, roots, wanted) = (self.command.clone(), self.roots.clone(), place.clone());
        let job = Job::start(move |progress| open(&command, &roots, &wanted, progress));
        self.job = Some((place, job));
    }
}

/// Finds the file and starts the editor. Returns a message for people.
fn open(template: &str, roots: &[PathBuf], place: &CodePlace, progress: &Progress) -> Result<String, String> {
    let found = sources::find(place, roots, progress).map_err(|error| match error {
        Error::Cancelled => String::new(),
        other => other.to_string(),
    })?;
    let words = command::words(template, &found.file, found.line)?;
    let (program, arguments) = words.split_first().ok_or_else(|| "No editor is named".to_owned())?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    // Ctrl+C in the terminal of this program is not for the editor.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let name = program.to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| format!("{name} cannot be started: {error}"))?;
    let started = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if started.elapsed() < ENDS_SOON => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => break None,
            Err(error) => return Err(format!("{name} cannot be followed: {error}")),
        }
    };
    match ended {
        Some(status) if !status.success() => return Err(format!("{name} has not opened the file: {status}")),
        Some(_) => {}
        // It is one that stays as long as the file is open: somebody has to take note of its end.
        None => drop(std::thread::spawn(move || child.wait())),
    }
    tracing::debug!("editor: opened {}:{}", found.file.display(), found.line);
    let told = if found.is_told { "" } else { " (the input tells no line: where the method is first named)" };
    Ok(format!("{}, line {}{told}", found.file.display(), found.line))
}

/// The place in code of a group. Tried in turn: its own, that of the nearest group around it, the place that allocated most of its class
/// by samples, that of the largest group below it. Of a call chain it is the innermost place in a person's own code, if there is any.
fn place_of(
    timeline: &Timeline,
    node: NodeId,
    sampled: Option<&SampledShares>,
    value: impl Fn(NodeId) -> u64,
) -> Option<CodePlace> {
    let domain = Arc::clone(registry().domain());
    let place_in = |text: &str| {
        let is_own = |place: &CodePlace| domain.covers(timeline.profile(), &place.class);
        CodePlace::all_in(text).find(is_own).or_else(|| CodePlace::first_in(text))
    };
    let own = std::iter::successors(Some(node), |&node| timeline.parent(node));
    if let Some(place) = own.filter_map(|node| place_in(timeline.name(node))).next() {
        return Some(place);
    }
    if let Some(place) = sampled.into_iter().flat_map(|shares| &shares.places).find_map(|of| place_in(&of.place)) {
        return Some(place);
    }
    let mut below = node;
    for _ in 0..DEEPEST {
        below = timeline.children(below).iter().copied().max_by_key(|&child| value(child))?;
        if let Some(place) = place_in(timeline.name(below)) {
            return Some(place);
        }
    }
    None
}

/// Opens the requested place, and reports the result.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn open_code(
    mut actions: MessageReader<Action>,
    mut requests: MessageReader<CodeRequest>,
    mut editor: ResMut<CodeEditor>,
    mut notices: ResMut<Notices>,
    (document, selection, clock, settings): (Res<Document>, Res<Selection>, Res<Clock>, Res<Settings>),
    sites: Res<SitesOf>,
    mut awake: ResMut<Awake>,
) {
    let editor = &mut *editor;
    let mut wanted = requests.read().last().map(|request| request.0.clone());
    let mut opens = false;
    for action in actions.read() {
        match action {
            Action::OpenCode => opens = true,
            Action::NameEditor => editor.switch_card(),
            _ => {}
        }
    }
    if opens {
        let chosen = document.timeline().zip(selection.node());
        let place = chosen.and_then(|(timeline, node)| {
            let metric = settings.metric_in(timeline);
            let sampled = sites.of(clock.time, node).map(|shares| &**shares);
            place_of(timeline, node, sampled, |node| timeline.value(clock.time, node, metric))
        });
        match (chosen, place) {
            (_, Some(place)) => wanted = Some(place),
            (None, None) => notices.tell("Select a group first: its allocation site opens in the editor"),
            (Some(_), None) => notices.tell(
                "The selection has no place in code. Of a recording select a class, otherwise group by allocation site (type>site)",
            ),
        }
    }
    if let Some(place) = wanted {
        tracing::debug!("editor: wants {place:?}");
        editor.open(place);
    }
    awake.wait_if(editor.job.is_some());
    if let Some(outcome) = editor.job.as_ref().and_then(|(_, job)| job.poll())
        && let Some((place, _)) = editor.job.take()
    {
        match outcome.and_then(|done| done) {
            Ok(done) => notices.tell(done),
            Err(why) => editor.ask(Some(place), Some(why)),
        }
    }
}

/// Draws the card, while editor or folders are asked for.
pub(super) fn show(In(ctx): In<egui::Context>, mut editor: ResMut<CodeEditor>, mut awake: ResMut<Awake>) {
    let editor = &mut *editor;
    let Some(card) = &mut editor.card else { return };
    let (mut done, mut closes) = (false, false);
    let area = egui::Area::new("code editor".into()).order(egui::Order::Foreground);
    area.anchor(Align2::CENTER_TOP, [0.0, 70.0]).show(&ctx, |ui| {
        theme::frame().fill(theme::SOLID).inner_margin(16).show(ui, |ui| {
            ui.set_width(560.0_f32.min(ctx.content_rect().width() - 60.0));
            (done, closes) = fields(ui, card);
        });
    });
    if closes {
        editor.card = None;
    } else if done && let Some(card) = editor.card.take() {
        editor.command = card.command.trim().to_owned();
        editor.roots = card.roots.lines().map(str::trim).filter(|line| !line.is_empty()).map(PathBuf::from).collect();
        let roots: Vec<String> = editor.roots.iter().map(|root| root.to_string_lossy().into_owned()).collect();
        saved_settings::keep_values([(EDITOR, editor.command.clone().into()), (SOURCES, roots.into())]);
        if let Some(place) = card.place {
            editor.open(place);
        }
        awake.keep_if(true);
    }
}

/// The fields of the card. Returns whether they are done, and whether they are given up.
fn fields(ui: &mut egui::Ui, card: &mut EditorCard) -> (bool, bool) {
    // From either field.
    let finished = ui.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, egui::Key::Enter));
    ui.label(RichText::new("Code in your editor").heading().strong());
    if let Some(place) = &card.place {
        ui.label(RichText::new(place.brief()).color(theme::ACCENT)).on_hover_text(&place.class);
    }
    if let Some(error) = &card.error {
        ui.add(egui::Label::new(RichText::new(error).size(12.5).color(theme::ERROR)).wrap().selectable(true));
    }
    ui.add_space(6.0);
    ui.horizontal_wrapped(|ui| {
        for (title, example) in EXAMPLES {
            if ui.small_button(title).on_hover_text(example).clicked() {
                example.clone_into(&mut card.command);
            }
        }
    });
    ui.label(RichText::new("Command; {file} and {line} are put in").color(theme::QUIET));
    let field = egui::TextEdit::singleline(&mut card.command)
        .id(egui::Id::new("editor command"))
        .font(egui::TextStyle::Monospace)
        .hint_text("code -g {file}:{line}")
        .desired_width(f32::INFINITY);
    let field = ui.add(field);
    if std::mem::take(&mut card.fresh) {
        field.request_focus();
    }
    ui.add_space(6.0);
    ui.label(
        RichText::new("Folders with sources, one in a line; the first that has the file wins").color(theme::QUIET),
    );
    let roots = egui::TextEdit::multiline(&mut card.roots)
        .id(egui::Id::new("source folders"))
        .font(egui::TextStyle::Monospace)
        .hint_text("/home/me/shop/src/main/java")
        .desired_rows(3)
        .desired_width(f32::INFINITY);
    ui.add(roots).on_hover_text("A project will do: its modules are looked through for the package and the class");
    ui.add_space(6.0);
    let ready = !card.command.trim().is_empty();
    let enter = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
    let mut closes = ui.input(|i| i.key_pressed(egui::Key::Escape));
    let mut done = (enter || finished) && ready;
    ui.horizontal(|ui| {
        let text = if card.place.is_some() { "Open" } else { "Keep" };
        done |= ui.add_enabled(ready, egui::Button::new(text)).on_hover_text("Ctrl+Enter").clicked();
        closes |= ui.button("Cancel").on_hover_text("Esc").clicked();
    });
    (done, closes)
}

/// A place in code as a link. Returns whether it was clicked.
pub fn link(ui: &mut egui::Ui, text: RichText, full: &str, place: &CodePlace) -> bool {
    ui.link(text.color(theme::ACCENT))
        .on_hover_text(format!("{full}\nClick opens {} in your editor", place.brief()))
        .clicked()
}

/// Code in an editor.
pub(super) struct EditorPlugin;

impl Plugin for EditorPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(CodeEditor::begin())
            .add_message::<CodeRequest>()
            .add_systems(Update, open_code.in_set(Stage::Act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::analyses::SampledShare;
    use memory_city_analysis::timeline::json;
    use memory_city_heap::progress::Progress;

    #[test]
    fn a_selection_leads_to_code_of_its_own_and_else_to_what_samples_tell() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.json");
        let stack = "java.util.HashMap.put(Object, Object) line 7 ‹ com.shop.Shop.login(int) line 30 ‹ java.lang.Thread.run() line 840";
        let tree = format!(
            r#"{{"children":[{{"name":"A","children":[{{"name":"{stack}","objects":1,"bytes":9}}]}},{{"name":"B","objects":1,"bytes":9}}]}}"#
        );
        std::fs::write(&path, format!(r#"{{"format":"memory-city","version":1,"tree":{tree}}}"#)).expect("written");
        let trees = json::read(&[path], &Progress::new()).expect("trees");
        let timeline = &trees.timeline;
        let line = |path: &[&str], sampled: Option<&SampledShares>| {
            let child = |of: NodeId, name: &str| {
                timeline.children(of).iter().copied().find(|&node| timeline.name(node) == name).expect("a group")
            };
            let node = path.iter().fold(NodeId::ROOT, |of, name| child(of, name));
            place_of(timeline, node, sampled, |_| 1).map(|place| place.brief())
        };
        let login = Some("Shop.login line 30".to_owned());
        assert_eq!(line(&["A", stack], None), login, "own code before the library's");
        assert_eq!(line(&["A"], None), login, "of the group below");
        assert_eq!(line(&["B"], None), None);
        let share = |place: &str| SampledShare { place: place.to_owned(), share: 0.5, error: 0.1 };
        let places = vec![share("(not known)"), share("com.shop.Cart.add() line 3")];
        let sampled = SampledShares { class: "B".into(), samples: 2, is_exact: false, places };
        assert_eq!(line(&["B"], Some(&sampled)), Some("Cart.add line 3".to_owned()));
    }
}
