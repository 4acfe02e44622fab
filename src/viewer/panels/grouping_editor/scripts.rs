//! Classifiers and filters that people type: their files, a field for the code that marks mistakes, and the properties of objects. Typed
//! code is checked off the frame, a moment after the last key; saved code is known at once.

use super::code::{coloured, numbers};
use super::widgets::{self, CardLook};
use super::{EditorPage, EditorTools, bloat, theme};
use crate::viewer::job::Job;
use bevy_egui::egui::{self, Key, Modifiers, RichText, Ui};
use memory_city_analysis::analyses::count_text;
use memory_city_analysis::group::script::{self, ClassifierScript, EXTENSION, PROPERTIES, ScriptError, ScriptLimits};
use memory_city_analysis::group::{self, Cardinality, ClassifierMeta};
use std::path::PathBuf;

/// Seconds without a key before typed code is checked.
const PAUSE: f64 = 0.3;

/// No message below the code is longer, in characters.
const MOST_SHOWN: usize = 230;

/// Code that a new script begins with.
const TEMPLATES: [(&str, &str, &str, &str); 4] = [
    (
        "Classifier",
        "my-classifier",
        "One name for each object",
        "// name: My classifier\n// description: What it says of an object\n// example: large\n// cardinality: one\n\n\
         if o.size > 1024 { \"large\" } else { \"small\" }\n",
    ),
    (
        "Filter",
        "my-filter",
        "True for the objects that stay: filter(my-filter)",
        "// name: My filter\n// description: Which objects stay\n// cardinality: filter\n\no.is_array && o.length > 1000\n",
    ),
    (
        "Collection health",
        bloat::SCRIPT.0,
        "An example: heads, entries, arrays and contents of collections",
        bloat::SCRIPT.1,
    ),
    (
        "Instance health",
        "instance-health",
        "An example: headers, values, references, null references and padding of objects",
        include_str!("../../../../examples/classifiers/instance-health.classifier.rhai"),
    ),
];

/// The scripts of the folder, and the one that is open.
#[derive(Default)]
pub struct ScriptDesk {
    /// Read when they are first needed, and after each change.
    files: Option<Vec<ScriptFile>>,
    open: Option<OpenScript>,
    /// Id of the one that is about to be deleted.
    deleting: Option<String>,
}

/// A script of the folder.
struct ScriptFile {
    id: String,
    path: PathBuf,
    wrong: Option<ScriptError>,
}

/// The script in the field.
struct OpenScript {
    id: String,
    text: String,
    /// Its file with the saved text; `None` before it is saved.
    saved: Option<(PathBuf, String)>,
    /// Time of the last key press, seconds; `None`: the code is checked.
    typed: Option<f64>,
    job: Option<Job<Result<ClassifierScript, ScriptError>>>,
    found: Option<Result<ClassifierMeta, ScriptError>>,
}

impl OpenScript {
    fn new(id: &str, text: String, saved: Option<PathBuf>) -> OpenScript {
        let saved = saved.map(|path| (path, text.clone()));
        OpenScript { id: id.to_owned(), text, saved, typed: Some(0.0), job: None, found: None }
    }

    fn is_changed(&self) -> bool {
        self.saved.as_ref().is_none_or(|(_, saved)| *saved != self.text)
    }

    /// Starts to check the code after a pause in typing, and takes the result.
    fn poll(&mut self, now: f64, tools: &mut EditorTools<'_>) {
        if let Some(outcome) = self.job.as_ref().and_then(Job::poll) {
            self.job = None;
            self.found = Some(match outcome {
                Ok(Ok(script)) => Ok(script.meta().clone()),
                Ok(Err(error)) => Err(error),
                Err(panic) => Err(ScriptError {
                    source: self.id.clone(),
                    line: 0,
                    column: 0,
                    message: panic,
                    remedy: String::new(),
                }),
            });
            let found = self.found.as_ref().and_then(|found| found.as_ref().err());
            tracing::debug!("script {}: {}", self.id, found.map_or("right".to_owned(), ToString::to_string));
        }
        if self.typed.is_some_and(|typed| now - typed >= PAUSE) {
            self.typed = None;
            let (id, text) = (self.id.clone(), self.text.clone());
            self.job = Some(Job::start(move |_| ClassifierScript::parse(&id, &text)));
        }
        tools.awake |= self.typed.is_some() || self.job.is_some();
    }

    /// The error: in the code, or of the last use.
    fn wrong(&self, refusal: Option<&str>) -> Option<ScriptError> {
        if let Some(Err(error)) = &self.found {
            return Some(error.clone());
        }
        // It was about what is saved.
        let (path, _) = self.saved.as_ref().filter(|_| !self.is_changed())?;
        ScriptError::told(refusal?, &path.display().to_string())
    }
}

impl ScriptDesk {
    fn files(&mut self) -> &[ScriptFile] {
        self.files.get_or_insert_with(|| {
            let Some(folder) = crate::config::classifiers() else { return Vec::new() };
            let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            let file = |path: PathBuf| {
                let name = path.file_name()?.to_str()?.strip_suffix(EXTENSION)?.to_owned();
                let read = ClassifierScript::read(&path);
                let id = read.as_ref().map_or(name, |script| script.meta().id.to_string());
                Some(ScriptFile { id, path, wrong: read.err() })
            };
            paths.into_iter().filter_map(file).collect()
        })
    }

    /// Saves the open script, and makes it known. Groupings that use it are made anew.
    fn save(&mut self, tools: &mut EditorTools<'_>) {
        let Some(open) = &mut self.open else { return };
        let Some(folder) = crate::config::classifiers() else {
            tools.notices.tell("MEMORY_CITY_CONFIG is empty: nothing is kept");
            return;
        };
        let saved =
            script::save(&folder, &open.id, &open.text).and_then(|path| Ok((ClassifierScript::read(&path)?, path)));
        match saved {
            Ok((script, path)) => {
                let id = script.meta().id.to_string();
                match group::register(|registry| registry.define(script)) {
                    Ok(()) => {
                        tracing::debug!("script saved: {id}");
                        tools.notices.tell(format!("Saved: {id} can stand in any list"));
                        tools.changed(&[&id]);
                    }
                    Err(error) => {
                        let _ = std::fs::remove_file(&path);
                        tools.notices.tell(format!("{error}. Give it another name: // id: …"));
                        return;
                    }
                }
                open.id = id;
                open.saved = Some((path, open.text.clone()));
            }
            Err(error) => {
                tools.notices.tell(error.to_string());
                open.found = Some(Err(error));
            }
        }
        self.files = None;
    }

    fn delete(&mut self, id: &str, tools: &mut EditorTools<'_>) {
        let Some(file) = self.files().iter().find(|file| file.id == id) else { return };
        match std::fs::remove_file(&file.path) {
            Ok(()) => {
                group::register(|registry| {
                    registry.undefine(id);
                    Ok(())
                })
                .unwrap_or_default();
                tracing::debug!("script deleted: {id}");
                if self.open.as_ref().is_some_and(|open| open.id == id) {
                    self.open = None;
                }
            }
            Err(error) => tools.notices.tell(format!("{}: {error}", file.path.display())),
        }
        self.files = None;
    }
}

/// Draws it: files, code, properties of objects.
pub fn show(ui: &mut Ui, desk: &mut ScriptDesk, tools: &mut EditorTools<'_>) {
    let now = ui.input(|i| i.time);
    if let Some(open) = &mut desk.open {
        open.poll(now, tools);
    }
    let room = ui.available_size();
    let (left, right, gap) = (170.0, 232.0_f32.min(room.x * 0.3), 12.0);
    let middle = (room.x - left - right - 2.0 * gap).max(160.0);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let column = |ui: &mut Ui, width: f32, add: &mut dyn FnMut(&mut Ui)| {
            ui.allocate_ui_with_layout(egui::vec2(width, room.y), egui::Layout::top_down(egui::Align::Min), |ui| {
                ui.spacing_mut().item_spacing.x = 7.0;
                ui.set_width(width);
                add(ui);
            });
        };
        column(ui, left, &mut |ui| files(ui, desk, tools));
        column(ui, middle, &mut |ui| code(ui, desk, now, tools));
        column(ui, right, &mut |ui| properties(ui));
    });
}

fn files(ui: &mut Ui, desk: &mut ScriptDesk, tools: &mut EditorTools<'_>) {
    theme::heading(ui, "YOUR SCRIPTS");
    ui.menu_button("New…", |ui| {
        for (title, id, about, text) in TEMPLATES {
            if ui.button(title).on_hover_text(about).clicked() {
                desk.open = Some(OpenScript::new(&free_id(desk.files(), id), text.to_owned(), None));
                ui.close();
            }
        }
    })
    .response
    .on_hover_text("A new classifier or filter, empty or from an example");
    let (mut opened, mut deleted) = (None, None);
    let listed: Vec<(String, PathBuf, Option<String>)> = desk
        .files()
        .iter()
        .map(|f| (f.id.clone(), f.path.clone(), f.wrong.as_ref().map(ToString::to_string)))
        .collect();
    egui::ScrollArea::vertical().id_salt("scripts").auto_shrink([false, false]).show(ui, |ui| {
        if listed.is_empty() {
            let hint = "None yet. They are kept as files, and known on the command line too";
            widgets::lines(ui, RichText::new(hint).size(12.0).color(theme::QUIET));
        }
        for (id, path, wrong) in &listed {
            let chosen = desk.open.as_ref().is_some_and(|open| open.id == *id);
            if desk.deleting.as_ref() == Some(id) {
                widgets::card(ui, ui.id().with(("delete", id)), CardLook::default(), |ui| {
                    widgets::lines(ui, RichText::new(format!("Delete {id}?")).color(theme::WARNING));
                    ui.horizontal(|ui| {
                        if ui.button("Delete").clicked() {
                            deleted = Some(id.clone());
                            desk.deleting = None;
                        }
                        if ui.button("Keep").clicked() {
                            desk.deleting = None;
                        }
                    });
                });
                continue;
            }
            let response = widgets::card(ui, ui.id().with(id), CardLook { chosen, disabled: false }, |ui| {
                ui.horizontal(|ui| {
                    let colour = if wrong.is_some() { theme::ERROR } else { theme::TEXT };
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        if widgets::cross(ui, 16.0).on_hover_text("Deletes the file, after a question").clicked() {
                            desk.deleting = Some(id.clone());
                        }
                        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                            widgets::cut(ui, RichText::new(id).monospace().color(colour));
                        });
                    });
                });
            });
            let tip = wrong.clone().unwrap_or_else(|| path.display().to_string());
            if response.on_hover_text(tip).clicked() {
                opened = Some((id.clone(), path.clone()));
            }
        }
    });
    if let Some(id) = deleted {
        desk.delete(&id, tools);
    }
    if let Some((id, path)) = opened {
        match std::fs::read_to_string(&path) {
            Ok(text) => desk.open = Some(OpenScript::new(&id, text, Some(path))),
            Err(error) => tools.notices.tell(format!("{}: {error}", path.display())),
        }
    }
}

/// An id that no file has yet.
fn free_id(files: &[ScriptFile], id: &str) -> String {
    let numbered = (2..).map(|n| format!("{id}-{n}"));
    let mut all = std::iter::once(id.to_owned()).chain(numbered);
    all.find(|id| files.iter().all(|file| file.id != *id)).unwrap_or_default()
}

fn code(ui: &mut Ui, desk: &mut ScriptDesk, now: f64, tools: &mut EditorTools<'_>) {
    let Some(open) = &mut desk.open else {
        ui.add_space(40.0);
        let hint = "A script says what an object is: its last value is the name of a group, or true for a filter.\n\n\
                    Begin with New…: empty, or with collection health or instance health as an example. Your scripts \
                    stand in any list by their names, here and on the command line.";
        widgets::lines(ui, RichText::new(hint).color(theme::QUIET));
        return;
    };
    let (mut save, mut add) = (false, false);
    let wrong = open.wrong(tools.refusal.as_deref());
    let changed = open.is_changed();
    ui.horizontal(|ui| {
        theme::heading(ui, "NAME");
        let field = egui::TextEdit::singleline(&mut open.id).font(egui::TextStyle::Monospace).desired_width(150.0);
        let tip = "What it is called in lists, where the code does not say otherwise: // id: …";
        if ui.add(field).on_hover_text(tip).changed() {
            open.typed = Some(now);
        }
        let right = open.found.as_ref().is_some_and(Result::is_ok);
        let button = ui.add_enabled(changed && right, widgets::main_button("Save"));
        let why = if changed { "There is a mistake in it" } else { "It is saved" };
        let tip = "Saves it as a file, known at once here and on the command line  [Ctrl+S]";
        save |= button.on_hover_text(tip).on_disabled_hover_text(why).clicked();
        save |= changed && right && ui.input_mut(|i| i.consume_key(Modifiers::CTRL, Key::S));
        let button = ui.add_enabled(!changed, egui::Button::new("Add as a level"));
        add |=
            button.on_hover_text("Puts it into the list of levels").on_disabled_hover_text("Save it first").clicked();
    });
    let below = 58.0;
    let height = ui.available_height() - below;
    egui::ScrollArea::both()
        .id_salt("code")
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink([false, false])
        .show(ui, |ui| {
            let marked = wrong.clone().filter(|wrong| wrong.line > 0);
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                numbers(ui, &open.text, marked.as_ref().map(|wrong| wrong.line));
                let mut layouter =
                    |ui: &Ui, text: &dyn egui::TextBuffer, _: f32| coloured(ui, text.as_str(), marked.as_ref());
                let rows = (height / 15.0).max(4.0) as usize;
                let field = egui::TextEdit::multiline(&mut open.text)
                    .id(egui::Id::new("script code"))
                    .code_editor()
                    .desired_width(f32::INFINITY)
                    .desired_rows(rows)
                    .margin(egui::Margin::symmetric(6, 4))
                    .layouter(&mut layouter);
                if ui.add(field).changed() {
                    open.typed = Some(now);
                    open.found = None;
                }
            });
        });
    outcome(ui, open, wrong.as_ref());
    if save {
        desk.save(tools);
    } else if add {
        let id = open.id.clone();
        let registry = group::registry();
        let filter = registry.part(&id).is_some_and(|(kind, _)| kind == group::PartKind::Filter);
        tools.draft.insert(&registry, registry.new_level(&id), filter.then_some(0));
        tools.turn_to = Some(EditorPage::Levels);
    }
}

/// The sentence below the code: the error with its place, or the kind of script.
fn outcome(ui: &mut Ui, open: &OpenScript, wrong: Option<&ScriptError>) {
    let small = |text: String| RichText::new(text).size(12.0);
    match (wrong, &open.found) {
        (Some(wrong), _) => {
            let place = match (wrong.line, wrong.column) {
                (0, _) => String::new(),
                (line, 0) => format!("Line {line}: "),
                (line, column) => format!("Line {line}, column {column}: "),
            };
            let remedy = if wrong.remedy.is_empty() { String::new() } else { format!(". {}", wrong.remedy) };
            let whole = format!("{place}{}{remedy}", wrong.message);
            // The rest is in the tooltip.
            let mut text: String = whole.chars().take(MOST_SHOWN).collect();
            if text.len() < whole.len() {
                text.push('…');
            }
            widgets::lines(ui, small(text).color(theme::ERROR)).on_hover_text(wrong.to_string());
        }
        (None, Some(Ok(meta))) => {
            let kind = match meta.cardinality {
                Cardinality::Filter => "A filter".to_owned(),
                Cardinality::Transformer => "Parts of objects, in a row of their own".to_owned(),
                other => format!("A classifier of {}", other.title()),
            };
            let reads = if meta.reads.is_empty() { "nothing".to_owned() } else { meta.reads.names() };
            let text = format!("{kind}. It reads {reads}");
            widgets::lines(ui, small(text).color(theme::OUTGOING));
            let limits = ScriptLimits::default();
            let text = format!(
                "At most {} operations for an object, {} for a heap; texts of {} KiB, lists of {} entries",
                count_text(limits.operations),
                count_text(limits.operations_in_all),
                limits.text >> 10,
                count_text(limits.entries as u64),
            );
            widgets::lines(ui, small(text).color(theme::QUIET));
        }
        (None, _) => {
            widgets::lines(ui, small("Checking…".to_owned()).color(theme::QUIET));
        }
    }
}

/// The properties of objects, and the form of a header.
fn properties(ui: &mut Ui) {
    theme::heading(ui, "WHAT AN OBJECT o TELLS");
    egui::ScrollArea::vertical().id_salt("properties").auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for property in PROPERTIES {
            widgets::plain(
                ui,
                RichText::new(format!("o.{}", property.name)).monospace().size(12.0).color(theme::ACCENT),
            );
            widgets::lines(ui, RichText::new(property.description).size(11.5).color(theme::QUIET));
            ui.add_space(4.0);
        }
        ui.add_space(8.0);
        theme::heading(ui, "THE HEADER, ALL OPTIONAL");
        for (field, about) in [
            ("// id:", "the name in lists"),
            ("// name:", "for people; so are description and example"),
            ("// cardinality:", "one, many, hierarchy, hierarchies, parts, or filter"),
            ("// reads:", "the properties it looks at; otherwise found in the code"),
        ] {
            widgets::plain(ui, RichText::new(field).monospace().size(12.0).color(theme::ACCENT));
            widgets::lines(ui, RichText::new(about).size(11.5).color(theme::QUIET));
            ui.add_space(4.0);
        }
        let text = "The last value is the answer; () leaves the object out.";
        widgets::lines(ui, RichText::new(text).size(11.5).color(theme::QUIET));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_right() {
        for (title, id, about, text) in TEMPLATES {
            let script = ClassifierScript::parse(id, text).unwrap_or_else(|e| panic!("{title}: {e}"));
            assert!(!about.is_empty() && script.meta().id == id);
        }
    }
}
