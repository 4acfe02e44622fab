//! The dialog that saves the shown data to a file: as a picture, also without background, as a page for browsers, as a view file, as a
//! table, as a 3D scene.

use super::theme;
use crate::viewer::action::Action;
use crate::viewer::city;
use crate::viewer::clock::Clock;
use crate::viewer::comparison::OpenComparison;
use crate::viewer::dock::{Dock, Focus};
use crate::viewer::document::Document;
use crate::viewer::frame::{Awake, Stage};
use crate::viewer::job::Job;
use crate::viewer::loading::Loading;
use crate::viewer::notices::Notices;
use crate::viewer::screenshot::{WindowPictures, told};
use crate::viewer::view::Views;
use crate::viewer::view_file::{EXTENSION, ViewFile};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, RichText};
use memory_city_heap::error::Error;
use memory_city_heap::unfinished::{FileReaders, write_whole_for};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Kinds of saved files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SaveAs {
    #[default]
    Picture,
    ClearPicture,
    View,
    Table,
    Scene,
    Page,
}

impl SaveAs {
    const ALL: [SaveAs; 6] =
        [SaveAs::Picture, SaveAs::ClearPicture, SaveAs::View, SaveAs::Table, SaveAs::Scene, SaveAs::Page];

    /// The kind of files with this extension.
    fn of(extension: &str) -> Option<SaveAs> {
        SaveAs::ALL.into_iter().find(|kind| kind.extension() == extension)
    }

    fn title(self) -> &'static str {
        match self {
            SaveAs::Picture => "Picture of the window",
            SaveAs::ClearPicture => "Picture of city and legend, transparent",
            SaveAs::View => "View file",
            SaveAs::Table => "Table of a view (CSV)",
            SaveAs::Scene => "3D scene (glTF)",
            SaveAs::Page => "Page for browsers (HTML)",
        }
    }

    fn help(self) -> &'static str {
        match self {
            SaveAs::Picture => "A PNG of all that the window shows",
            SaveAs::ClearPicture => {
                "A PNG of the city as it stands here, with nothing behind it; drawn by a second program, which takes a moment"
            }
            SaveAs::View => {
                "Data, time, camera, selection, marks and settings: open and render show this city again, wherever panels are then"
            }
            SaveAs::Table => "What a view shows as rows, for spreadsheets: its groups and numbers, all of them",
            SaveAs::Scene => "The city as boxes with colours and names, for 3D programs",
            SaveAs::Page => {
                "The city at all its times in one file that any browser opens, nothing installed; made by a second program, which takes a moment"
            }
        }
    }

    fn extension(self) -> &'static str {
        match self {
            SaveAs::Picture | SaveAs::ClearPicture => "png",
            SaveAs::View => EXTENSION,
            SaveAs::Table => "csv",
            SaveAs::Scene => "glb",
            SaveAs::Page => "html",
        }
    }
}

/// The card, open or not, and the file being written.
#[derive(Resource, Default)]
pub struct SaveCard {
    open: bool,
    fresh: bool,
    kind: SaveAs,
    /// The id of the view whose table is saved.
    view: &'static str,
    path: String,
    /// The file to write.
    wanted: Option<(SaveAs, &'static str, PathBuf)>,
    job: Option<Job<Result<PathBuf, String>>>,
}

impl SaveCard {
    /// Closes it. Returns whether it was open.
    pub fn escape(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }
}

/// The view whose table is proposed: the one that has the keyboard, else one that is seen.
fn view_in_front(focus: &Focus, dock: &Dock, views: &Views) -> &'static str {
    let seen = || views.tables().map(|view| view.id()).filter(|view| dock.in_front(view));
    seen().find(|view| focus.is(view)).or_else(|| seen().next()).unwrap_or("city")
}

fn proposed(kind: SaveAs, view: &str, document: &Document, clock: &Clock) -> String {
    let of_view = if kind == SaveAs::Table && view != "city" { format!("-{view}") } else { String::new() };
    let title = document.get().map_or("city".to_owned(), |open| open.title.replace(['/', '\\', ' ', ':'], "-"));
    let folder = std::env::current_dir().unwrap_or_default();
    let name = |n: usize| {
        let more = if n == 0 { String::new() } else { format!("-{n}") };
        folder.join(format!("{title}-{:03}{of_view}{more}.{}", clock.time + 1, kind.extension()))
    };
    let free = (0..1000).map(name).find(|path| !path.exists());
    free.unwrap_or_else(|| name(0)).to_string_lossy().into_owned()
}

/// Message while another process works.
const WRITING: &str = "Writing the page";
const DRAWING: &str = "Drawing the picture";

fn save_actions(
    mut actions: MessageReader<Action>,
    mut card: ResMut<SaveCard>,
    (document, clock): (Res<Document>, Res<Clock>),
    (focus, dock, views): (Res<Focus>, Res<Dock>, Res<Views>),
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    for action in actions.read() {
        let exports = *action == Action::ExportCsv;
        if (exports || *action == Action::Save) && document.get().is_some() {
            card.open = !card.open;
            card.fresh = true;
            card.view = view_in_front(&focus, &dock, &views);
            if exports {
                (card.open, card.kind) = (true, SaveAs::Table);
            }
            card.path = proposed(card.kind, card.view, &document, &clock);
            tracing::debug!("save: {}", if card.open { "opened" } else { "closed" });
        }
    }
    awake.wait_if(card.job.is_some());
    awake.keep_if(card.wanted.is_some());
    if let Some(outcome) = card.job.as_ref().and_then(|job| job.poll()) {
        card.job = None;
        [WRITING, DRAWING].into_iter().for_each(|says| notices.withdraw(says));
        notices.tell(match outcome.and_then(|saved| saved) {
            Ok(path) => told(&path),
            Err(why) => format!("It could not be saved: {why}"),
        });
    }
}

/// Draws the card.
pub fn show(
    In(ctx): In<egui::Context>,
    mut card: ResMut<SaveCard>,
    (document, clock, kinds): (Res<Document>, Res<Clock>, Res<Views>),
    mut awake: ResMut<Awake>,
) {
    if !card.open || document.get().is_none() {
        return;
    }
    let card = &mut *card;
    let mut saves = false;
    egui::Area::new("save".into()).order(egui::Order::Foreground).anchor(Align2::CENTER_TOP, [0.0, 70.0]).show(
        &ctx,
        |ui| {
            theme::frame().fill(theme::SOLID).inner_margin(16).show(ui, |ui| {
                ui.set_width(520.0_f32.min(ctx.content_rect().width() - 60.0));
                ui.label(RichText::new("Save what is shown").heading().strong());
                ui.add_space(4.0);
                for kind in SaveAs::ALL {
                    if ui.radio_value(&mut card.kind, kind, kind.title()).on_hover_text(kind.help()).changed() {
                        card.path = proposed(kind, card.view, &document, &clock);
                    }
                }
                if card.kind == SaveAs::Table && which_view(ui, &mut card.view, &kinds) {
                    card.path = proposed(card.kind, card.view, &document, &clock);
                }
                ui.label(RichText::new(card.kind.help()).size(11.5).color(theme::QUIET));
                ui.add_space(6.0);
                let field = egui::TextEdit::singleline(&mut card.path)
                    .id(egui::Id::new("save path"))
                    .desired_width(f32::INFINITY);
                let field = ui.add(field).on_hover_text("Where it is written");
                // The end of a name says what it is.
                let end = Path::new(card.path.trim()).extension().and_then(|end| end.to_str());
                if let Some(kind) =
                    end.filter(|end| field.changed() && *end != card.kind.extension()).and_then(SaveAs::of)
                {
                    card.kind = kind;
                }
                let path = Path::new(card.path.trim());
                let there = path.is_file();
                if there {
                    ui.label(
                        RichText::new("There is such a file: it will be replaced").size(11.5).color(theme::WARNING),
                    );
                }
                let enter = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
                // Whatever is chosen above it: Enter saves, and no key goes to what is behind the card.
                if std::mem::take(&mut card.fresh)
                    || !field.has_focus() && !enter && !egui::Popup::is_any_open(ui.ctx())
                {
                    field.request_focus();
                }
                if ui.input(|i| i.key_pressed(egui::Key::Escape)) {
                    card.open = false;
                }
                ui.horizontal(|ui| {
                    let text = if there { "Replace" } else { "Save" };
                    let save = ui.add_enabled(!card.path.trim().is_empty(), egui::Button::new(text));
                    saves = save.on_hover_text("Enter").clicked() || enter && !card.path.trim().is_empty();
                    if ui.button("Cancel").on_hover_text("Esc").clicked() {
                        card.open = false;
                    }
                });
            });
        },
    );
    if saves {
        card.open = false;
        card.wanted = Some((card.kind, card.view, PathBuf::from(card.path.trim())));
        awake.keep_if(true);
    }
}

/// Choice of the view whose table is saved. Returns whether the choice changed.
fn which_view(ui: &mut egui::Ui, view: &mut &'static str, kinds: &Views) -> bool {
    let before = *view;
    let title = |id: &str| kinds.get(id).map_or("", |kind| kind.about().title);
    ui.horizontal(|ui| {
        ui.label("View");
        egui::ComboBox::from_id_salt("table of").width(180.0).selected_text(title(before)).show_ui(ui, |ui| {
            for kind in kinds.tables() {
                let about = kind.about();
                ui.selectable_value(view, about.id, about.title).on_hover_text(about.help);
            }
        });
    });
    *view != before
}

/// Writes the requested file.
fn write_wanted(world: &mut World) {
    let Some((kind, view, path)) = world.resource_mut::<SaveCard>().wanted.take() else {
        return;
    };
    let saved = match kind {
        SaveAs::Picture => return world.resource_mut::<WindowPictures>().take_to(path),
        SaveAs::ClearPicture | SaveAs::Page => match ViewFile::of(world) {
            Ok(view) => {
                let (command, says): (&[&str], &str) = match kind {
                    SaveAs::Page => (&["page"], WRITING),
                    _ => (&["render", "--transparent"], DRAWING),
                };
                let job = Job::start(move |_| by_another_process(&view, command, &path).map(|()| path));
                world.resource_mut::<SaveCard>().job = Some(job);
                return world.resource_mut::<Notices>().tell(says);
            }
            Err(why) => Err(why),
        },
        SaveAs::View => ViewFile::of(world).and_then(|view| view.write(&path)),
        SaveAs::Table => table(world, view, &path),
        SaveAs::Scene => scene(world, &path),
    };
    let text = match saved {
        Ok(()) => told(&path),
        Err(error) => format!("It could not be saved: {error}"),
    };
    world.resource_mut::<Notices>().tell(text);
}

fn table(world: &World, view: &str, path: &Path) -> memory_city_heap::error::Result<()> {
    let Some(write) = world.resource::<Views>().get(view).and_then(|view| view.table()) else { return Ok(()) };
    let csv = write(world)?;
    write_whole_for(path, readers(world), |mut file| file.write_all(&csv).map_err(|e| Error::io(path, e)))
}

fn readers(world: &World) -> FileReaders {
    world.resource::<Loading>().readers(world.resource::<Document>(), world.resource::<OpenComparison>())
}

fn scene(world: &World, path: &Path) -> memory_city_heap::error::Result<()> {
    let scene = city::scene(world)?;
    write_whole_for(path, readers(world), |mut file| file.write_all(&scene).map_err(|e| Error::io(path, e)))
}

/// A window has one surface, which is not to be seen through, and a page is made of the data: another process makes it of the same view.
fn by_another_process(view: &ViewFile, command: &[&str], path: &Path) -> Result<(), String> {
    // Of a name that nobody guesses, for this user alone; it goes when this returns.
    let folder = tempfile::Builder::new().prefix("memory-city-").tempdir().map_err(|e| e.to_string())?;
    let file = folder.path().join(format!("shown.{EXTENSION}"));
    view.write(&file).map_err(|e| e.to_string())?;
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut process = std::process::Command::new(program);
    // What it names is open here.
    process.args(command).arg(&file).arg("--allow-outside").arg("-o").arg(path);
    let output = process.output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// Saving to files.
pub struct SavePlugin;

impl Plugin for SavePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<SaveCard>().add_systems(Update, (save_actions, write_wanted).chain().in_set(Stage::Act));
    }
}
