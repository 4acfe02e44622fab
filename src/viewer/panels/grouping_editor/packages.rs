//! The program's own packages: the guess with its reason, and a field to correct it. Groupings that depend on them are made anew.

use super::{EditorTools, theme, widgets};
use crate::viewer::job::Job;
use crate::viewer::panels::spinner::spinner;
use bevy_egui::egui::{self, Key, RichText, Ui};
use memory_city_analysis::analyses::{bytes_text, count_text};
use memory_city_analysis::group;
use memory_city_analysis::group::domain::{self, DomainGuess, DomainPackages};
use memory_city_heap::error::Result;
use std::sync::Arc;

/// The classifiers that go by them.
const USERS: [&str; 2] = ["domain", "domain-site"];

/// The guess for the open document, and the text being typed.
#[derive(Default)]
pub struct PackageDesk {
    job: Option<Job<Result<Vec<DomainGuess>>>>,
    guessed: Option<std::result::Result<Vec<DomainGuess>, String>>,
    /// Text of the field; `None`: the packages that are set.
    typed: Option<String>,
}

impl PackageDesk {
    /// Another program is open.
    pub fn forget(&mut self) {
        *self = PackageDesk::default();
    }

    fn poll(&mut self, tools: &mut EditorTools<'_>) {
        if self.guessed.is_none() && self.job.is_none() {
            if tools.open.source.heaps().is_none() {
                self.guessed = Some(Err("The input has trees, not objects: nothing can be guessed of it".to_owned()));
                return;
            }
            let (source, time) = (Arc::clone(&tools.open.source), tools.time);
            self.job = Some(Job::start(move |progress| {
                let heap = source.heaps().map(|history| history.heap(time, progress)).transpose()?;
                Ok(heap.map(|heap| domain::guess(&heap)).unwrap_or_default())
            }));
        }
        tools.waits |= self.job.is_some();
        if let Some(outcome) = self.job.as_ref().and_then(Job::poll) {
            self.job = None;
            self.guessed = Some(match outcome {
                Ok(Ok(guessed)) => Ok(guessed),
                Ok(Err(error)) => Err(error.to_string()),
                Err(panic) => Err(panic),
            });
        }
    }
}

/// Whether a package is among those of a list as people write it.
fn is_listed(list: &str, package: &str) -> bool {
    list.split([',', '+']).any(|one| one.trim() == package)
}

/// The list with a package more, or less.
fn switched(list: &str, package: &str) -> String {
    let mut all: Vec<&str> = list.split([',', '+']).map(str::trim).filter(|one| !one.is_empty()).collect();
    match all.iter().position(|one| *one == package) {
        Some(at) => drop(all.remove(at)),
        None => all.push(package),
    }
    all.join(", ")
}

/// The guessed packages as a list, in use until others are set.
fn own(guessed: &[DomainGuess]) -> String {
    let own = guessed.iter().filter(|guess| !guess.library).map(|guess| guess.package.as_str());
    own.collect::<Vec<_>>().join(", ")
}

/// Draws it.
pub fn show(ui: &mut Ui, desk: &mut PackageDesk, tools: &mut EditorTools<'_>) {
    desk.poll(tools);
    let chosen = group::registry().domain().packages().map(|packages| packages.join(", "));
    let quiet = |text: String| RichText::new(text).size(12.0).color(theme::QUIET);
    theme::heading(ui, "WHICH CODE IS THE PROGRAM'S OWN");
    let state = match &chosen {
        Some(packages) => format!("Set by you: {packages}, with the packages in them"),
        None => format!(
            "Guessed: whatever none of {} known beginnings of library packages covers",
            tools.open.source.profile().packages.libraries.len()
        ),
    };
    widgets::lines(ui, RichText::new(state).strong());
    widgets::lines(
        ui,
        quiet(
            "The closest domain call site (domain-site), the filter domain, and “who allocates” go by them: frames of \
             libraries are folded until one of the program's own comes. On the command line: --packages com.acme,org.x"
                .to_owned(),
        ),
    );
    ui.add_space(6.0);
    let guessed = || desk.guessed.as_ref().and_then(|guessed| guessed.as_ref().ok()).map(|all| own(all));
    let mut text = desk.typed.clone().or_else(|| chosen.clone()).or_else(guessed).unwrap_or_default();
    let before = text.clone();
    let parsed = DomainPackages::parse(&text);
    ui.horizontal(|ui| {
        let field = egui::TextEdit::singleline(&mut text).font(egui::TextStyle::Monospace);
        let field = ui.add(field.desired_width((ui.available_width() - 240.0).max(160.0)).hint_text("com.acme, org.x"));
        let enter = field.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        let differs = chosen.as_deref() != Some(text.as_str());
        let usable = parsed.is_ok() && differs;
        let button = ui.add_enabled(usable, widgets::main_button("Use these"));
        let why = match &parsed {
            Err(_) if text.trim().is_empty() => "Tick packages below, or type some".to_owned(),
            Err(wrong) => wrong.clone(),
            Ok(_) => "They are in use".to_owned(),
        };
        let tip = "From now on groupings go by these; what is shown is grouped anew if it does";
        let clicked = button.on_hover_text(tip).on_disabled_hover_text(why).clicked();
        if (clicked || enter && usable)
            && let Ok(packages) = &parsed
        {
            set(packages.clone(), tools);
            desk.typed = None;
        }
        let back = ui.add_enabled(chosen.is_some(), egui::Button::new("Back to the guess"));
        if back.on_hover_text("Whatever no known library covers").clicked() {
            set(DomainPackages::default(), tools);
            desk.typed = None;
            text.clear();
        }
    });
    if let Err(wrong) = &parsed
        && !text.trim().is_empty()
    {
        widgets::lines(ui, RichText::new(wrong).size(12.0).color(theme::ERROR));
    }
    ui.add_space(8.0);
    match &desk.guessed {
        None => {
            ui.horizontal(|ui| {
                spinner(ui, 14.0);
                widgets::plain(ui, quiet("Looking at the classes of this state".to_owned()));
            });
        }
        Some(Err(why)) => {
            widgets::lines(ui, RichText::new(why).color(theme::WARNING));
        }
        Some(Ok(guessed)) if guessed.is_empty() => {
            widgets::lines(ui, quiet("No class of this state looks like the program's own".to_owned()));
        }
        Some(Ok(guessed)) => candidates(ui, guessed, &mut text),
    }
    if text != before {
        desk.typed = Some(text);
    }
}

fn set(packages: DomainPackages, tools: &mut EditorTools<'_>) {
    tracing::debug!("own packages: {}", packages.packages().map_or("guessed".to_owned(), |all| all.join(", ")));
    group::set_packages(packages);
    tools.changed(&USERS);
}

/// The packages that are guessed, each with why.
fn candidates(ui: &mut Ui, guessed: &[DomainGuess], text: &mut String) {
    theme::heading(ui, "GUESSED IN THE STATE THAT IS SHOWN");
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        egui::Grid::new("packages").num_columns(5).striped(true).spacing([18.0, 5.0]).show(ui, |ui| {
            for title in ["Package", "Classes", "Objects", "Bytes", "Why"] {
                widgets::plain(ui, RichText::new(title).size(11.5).strong().color(theme::QUIET));
            }
            ui.end_row();
            for guess in guessed {
                let mut listed = is_listed(text, &guess.package);
                let name = RichText::new(&guess.package).monospace();
                if ui.checkbox(&mut listed, name).on_hover_text("Puts it into the field, or takes it out").changed() {
                    *text = switched(text, &guess.package);
                }
                for number in
                    [count_text(guess.classes), count_text(guess.amount.objects), bytes_text(guess.amount.bytes)]
                {
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        widgets::plain(ui, RichText::new(number).size(12.0));
                    });
                }
                widgets::plain(ui, RichText::new(guess.reason()).size(12.0).color(theme::QUIET));
                ui.end_row();
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_put_in_and_taken_out() {
        let one = switched("", "com.acme");
        let two = switched(&one, "org.x");
        assert_eq!(two, "com.acme, org.x");
        assert!(is_listed("com.acme+org.x", "org.x") && !is_listed(&two, "org"));
        assert_eq!(switched(&two, "com.acme"), "org.x");
        assert_eq!(switched("org.x", "org.x"), "");
    }
}
