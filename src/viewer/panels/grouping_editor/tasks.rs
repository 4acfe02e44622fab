//! The page of named groupings: first those for tasks, each with a sentence, then those that people saved, then all others. Those that
//! the input cannot offer are listed too, with the reason.

use super::widgets::{self, CardLook};
use super::{EditorPage, EditorTools, bloat, saved, theme};
use bevy_egui::egui::{self, RichText, Ui};
use memory_city_analysis::group::saved::{SavedGroupings, refused_title};
use memory_city_analysis::group::{self, Grouping};
use std::sync::Arc;

/// The store of saved groupings, and unfinished changes to them.
#[derive(Default)]
pub struct TaskPage {
    /// Read when it is first needed, and after each failure.
    store: Option<Result<SavedGroupings, String>>,
    /// Id and new title of the one that is being renamed.
    renaming: Option<(String, String)>,
    /// Id of the one that is about to be forgotten.
    forgetting: Option<String>,
    /// Saved groupings as the trail last logged them.
    logged: String,
}

impl TaskPage {
    fn store(&mut self) -> &mut Result<SavedGroupings, String> {
        self.store.get_or_insert_with(saved)
    }

    /// Changes the store, and registers its groupings. Returns the result of the change.
    fn change<T>(
        &mut self,
        tools: &mut EditorTools<'_>,
        change: impl FnOnce(&mut SavedGroupings) -> memory_city_heap::error::Result<T>,
    ) -> Option<T> {
        let changed = match self.store() {
            Ok(store) => change(store).map_err(|error| error.to_string()).inspect(|_| {
                store.make_known();
            }),
            Err(why) => Err(why.clone()),
        };
        match changed {
            Ok(changed) => Some(changed),
            Err(why) => {
                tools.notices.tell(why);
                // Perhaps the file is right by then.
                self.store = None;
                None
            }
        }
    }

    /// Saves a list under a title. Returns whether it is saved.
    pub fn save(&mut self, title: &str, list: &str, description: &str, tools: &mut EditorTools<'_>) -> bool {
        let saved = self.change(tools, |store| store.save(title, list, description));
        if let Some(saved) = &saved {
            tracing::debug!("grouping saved: {} {}", saved.id, saved.list);
            tools.notices.tell(format!("Saved: {}  (--grouping {})", saved.title, saved.id));
            tools.turn_to = Some(EditorPage::Tasks);
            // One of that name that is on screen may be another list now.
            if tools.settings.grouping == saved.id {
                tools.settings.definitions += 1;
            }
        }
        saved.is_some()
    }
}

/// Draws it.
pub fn show(ui: &mut Ui, page: &mut TaskPage, tools: &mut EditorTools<'_>) {
    let (tasks, saved, others): (Vec<_>, Vec<_>, Vec<_>) = {
        let registry = group::registry();
        let all = |groupings: &mut dyn Iterator<Item = &Arc<Grouping>>| groupings.cloned().collect();
        (all(&mut registry.tasks()), all(&mut registry.saved()), all(&mut registry.plain()))
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        // What somebody has made is at hand; where there is nothing yet the tasks are.
        if !saved.is_empty() {
            saved_section(ui, page, &saved, tools);
            ui.add_space(8.0);
        }
        theme::heading(ui, "WHAT DO YOU WANT TO FIND OUT?");
        grid(ui, "tasks", &tasks, |ui, task| {
            let (title, _) = task.title.split_once(": ").unwrap_or((task.title.as_str(), ""));
            named(ui, task, title, tools, |_, _| ());
        });
        bloat_card(ui, tools);
        ui.add_space(8.0);
        if saved.is_empty() {
            saved_section(ui, page, &saved, tools);
        }
        ui.add_space(8.0);
        theme::heading(ui, "BY WHAT THEY ARE");
        grid(ui, "others", &others, |ui, other| named(ui, other, &other.title, tools, |_, _| ()));
    });
}

/// Groupings that a person has saved.
fn saved_section(ui: &mut Ui, page: &mut TaskPage, saved: &[Arc<Grouping>], tools: &mut EditorTools<'_>) {
    theme::heading(ui, "SAVED BY YOU");
    if let Err(why) = page.store() {
        widgets::lines(ui, RichText::new(why.as_str()).size(12.0).color(theme::WARNING));
    }
    if saved.is_empty() {
        let hint =
            "Nothing yet. Save… below keeps a grouping under a name, here and for --grouping on the command line";
        widgets::lines(ui, RichText::new(hint).size(12.0).color(theme::QUIET));
    }
    let mut places = Vec::new();
    grid(ui, "saved", saved, |ui, one| {
        let top = ui.cursor().min;
        saved_card(ui, page, one, tools);
        places.push(format!("{} {:.0},{:.0}", one.id, top.x + 30.0, top.y + 18.0));
    });
    let places = places.join("; ");
    if places != page.logged {
        tracing::debug!("saved groupings at [{places}]");
        page.logged = places;
    }
    broken(ui, page, saved, tools);
}

/// The task that takes a script, which becomes one of the person's own.
fn bloat_card(ui: &mut Ui, tools: &mut EditorTools<'_>) {
    let can = tools.open.source.heaps().is_some();
    let shown = tools.current.id == bloat::LIST;
    let response = widgets::card(ui, ui.id().with("bloat"), CardLook { chosen: shown, disabled: !can }, |ui| {
        ui.horizontal(|ui| {
            let colour = if can { theme::TEXT } else { theme::QUIET };
            widgets::plain(ui, RichText::new(bloat::TITLE).size(14.0).strong().color(colour));
            if shown {
                widgets::badge(ui, "on screen", theme::ACCENT);
            }
        });
        widgets::lines(ui, RichText::new(bloat::ABOUT).size(12.0).color(theme::QUIET));
        widgets::cut(ui, RichText::new(bloat::LIST).monospace().size(11.5).color(theme::QUIET));
        if !can {
            let why = format!("Not for this input: {}", bloat::NEEDS_OBJECTS);
            widgets::lines(ui, RichText::new(why).size(12.0).color(theme::WARNING));
        }
    });
    let tip =
        "Groups the heap so. The script in it is kept among yours, to be changed; on the command line it is known too";
    if can && response.on_hover_text(tip).clicked() {
        match bloat::make_known() {
            Ok(()) => {
                tools.group_by(bloat::LIST);
                tools.draft.set_text(&group::registry(), bloat::LIST.to_owned());
            }
            Err(why) => tools.notices.tell(why),
        }
    }
}

/// Two cards beside each other, as wide as there is room.
fn grid(ui: &mut Ui, salt: &str, all: &[Arc<Grouping>], mut add: impl FnMut(&mut Ui, &Arc<Grouping>)) {
    let columns = if ui.available_width() > 560.0 { 2 } else { 1 };
    for (row, pair) in all.chunks(columns).enumerate() {
        ui.push_id((salt, row), |ui| {
            ui.columns(columns, |uis| {
                for (ui, one) in uis.iter_mut().zip(pair) {
                    add(ui, one);
                }
            });
        });
    }
}

/// A grouping with its name: a click groups so.
fn named(
    ui: &mut Ui,
    grouping: &Grouping,
    title: &str,
    tools: &mut EditorTools<'_>,
    more: impl FnOnce(&mut Ui, &mut EditorTools<'_>),
) {
    let refused = tools.open.source.offers(grouping).err();
    let list = group::registry().list_of(grouping).to_owned();
    // By what they are made of: a task and a grouping of another name may be the same.
    let shown = tools.current.id == grouping.id || group::registry().list_of(tools.current) == list;
    let look = CardLook { chosen: shown, disabled: refused.is_some() };
    let response = widgets::card(ui, ui.id().with(&grouping.id), look, |ui| {
        ui.horizontal(|ui| {
            let colour = if refused.is_some() { theme::QUIET } else { theme::TEXT };
            widgets::plain(ui, RichText::new(title).size(14.0).strong().color(colour));
            if shown {
                widgets::badge(ui, "on screen", theme::ACCENT);
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let tip = "Opens its levels, to be changed; nothing is grouped yet";
                if ui.small_button("Change").on_hover_text(tip).clicked() {
                    tools.draft.set_text(&group::registry(), list.clone());
                    tools.turn_to = Some(EditorPage::Levels);
                }
                more(ui, tools);
            });
        });
        widgets::lines(ui, RichText::new(&grouping.description).size(12.0).color(theme::QUIET));
        widgets::cut(ui, RichText::new(&list).monospace().size(11.5).color(theme::QUIET));
        if let Some(why) = &refused {
            widgets::lines(ui, RichText::new(format!("Not for this input: {why}")).size(12.0).color(theme::WARNING));
        }
    });
    if refused.is_some() {
        return;
    }
    let tip = format!("Groups the heap so. On the command line: --grouping {}", grouping.id);
    if response.on_hover_text(tip).clicked() {
        tools.group_by(&grouping.id);
        tools.draft.set_text(&group::registry(), list);
    }
}

fn saved_card(ui: &mut Ui, page: &mut TaskPage, one: &Arc<Grouping>, tools: &mut EditorTools<'_>) {
    if page.renaming.as_ref().is_some_and(|(id, _)| *id == one.id) {
        return rename(ui, page, one, tools);
    }
    if page.forgetting.as_ref() == Some(&one.id) {
        return forget(ui, page, &one.id, &one.title, tools);
    }
    named(ui, one, &one.title, tools, |ui, _| {
        if ui.small_button("Delete").on_hover_text("Forgets it, here and on the command line").clicked() {
            page.forgetting = Some(one.id.clone());
        }
        if ui.small_button("Rename").on_hover_text("Gives it another name, here and on the command line").clicked() {
            page.renaming = Some((one.id.clone(), one.title.clone()));
        }
    });
}

fn rename(ui: &mut Ui, page: &mut TaskPage, one: &Grouping, tools: &mut EditorTools<'_>) {
    let (mut done, mut cancelled) = (false, false);
    let mut title = page.renaming.as_ref().map(|(_, title)| title.clone()).unwrap_or_default();
    let refused = refused_title(&group::registry(), &title);
    widgets::card(ui, ui.id().with(("rename", &one.id)), CardLook::default(), |ui| {
        ui.horizontal(|ui| {
            let field = ui.add(egui::TextEdit::singleline(&mut title).desired_width(170.0));
            done |= field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
            let button = ui.add_enabled(refused.is_none(), widgets::main_button("Rename"));
            done |= button.on_disabled_hover_text(refused.clone().unwrap_or_default()).clicked();
            cancelled = ui.button("Cancel").clicked() || ui.input(|i| i.key_pressed(egui::Key::Escape));
        });
        if let Some(why) = &refused {
            widgets::lines(ui, RichText::new(why).size(12.0).color(theme::WARNING));
        }
    });
    page.renaming = Some((one.id.clone(), title.clone()));
    if cancelled {
        page.renaming = None;
    } else if done
        && refused.is_none()
        && let Some(renamed) = page.change(tools, |store| store.rename(&one.id, &title))
    {
        page.renaming = None;
        tracing::debug!("grouping renamed: {} to {}", one.id, renamed.id);
        if tools.settings.grouping == one.id {
            tools.settings.grouping = renamed.id;
        }
    }
}

fn forget(ui: &mut Ui, page: &mut TaskPage, id: &str, title: &str, tools: &mut EditorTools<'_>) {
    let mut answer = None;
    widgets::card(ui, ui.id().with(("forget", id)), CardLook::default(), |ui| {
        ui.horizontal(|ui| {
            widgets::plain(ui, RichText::new(format!("Forget {title}?")).color(theme::WARNING));
            if ui.button("Delete").clicked() {
                answer = Some(true);
            }
            if ui.button("Keep").clicked() || ui.input(|i| i.key_pressed(egui::Key::Escape)) {
                answer = Some(false);
            }
        });
    });
    let Some(delete) = answer else { return };
    page.forgetting = None;
    if !delete {
        return;
    }
    // What is on screen stays, by its list.
    let list = group::grouping(id).map(|grouping| group::registry().list_of(&grouping).to_owned());
    if page.change(tools, |store| store.remove(id)).is_some() {
        tracing::debug!("grouping deleted: {id}");
        if tools.settings.grouping == id
            && let Ok(list) = list
        {
            tools.settings.grouping = list;
        }
    }
}

/// Saved groupings that are none any more: a script of theirs is gone.
fn broken(ui: &mut Ui, page: &mut TaskPage, known: &[Arc<Grouping>], tools: &mut EditorTools<'_>) {
    let Ok(store) = page.store() else { return };
    let lost: Vec<_> = store.all().iter().filter(|one| known.iter().all(|k| k.id != one.id)).cloned().collect();
    for one in lost {
        if page.forgetting.as_ref() == Some(&one.id) {
            forget(ui, page, &one.id, &one.title, tools);
            continue;
        }
        let look = CardLook { disabled: true, ..CardLook::default() };
        widgets::card(ui, ui.id().with(("lost", &one.id)), look, |ui| {
            ui.horizontal(|ui| {
                widgets::plain(ui, RichText::new(&one.title).size(14.0).strong().color(theme::QUIET));
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    if ui.small_button("Change").on_hover_text("Opens its levels, to be put right").clicked() {
                        tools.draft.set_text(&group::registry(), one.list.clone());
                        tools.turn_to = Some(EditorPage::Levels);
                    }
                    if ui.small_button("Delete").clicked() {
                        page.forgetting = Some(one.id.clone());
                    }
                });
            });
            widgets::cut(ui, RichText::new(&one.list).monospace().size(11.5).color(theme::QUIET));
            let why = match group::grouping(&one.list) {
                Ok(_) => format!("{} is the name of something else now", one.id),
                Err(error) => error.message,
            };
            widgets::lines(ui, RichText::new(why).size(12.0).color(theme::WARNING));
        });
    }
}
