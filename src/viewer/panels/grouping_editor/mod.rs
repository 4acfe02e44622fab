//! The grouping editor: a window over the city in which people define how objects are grouped. Its pages are the groupings for tasks, all
//! parts that lists are made of, scripts, and the program's own packages.
//!
//! | module | is |
//! |---|---|
//! | `draft` | the grouping that is being written |
//! | `expression` | the line at the bottom: the same grouping as text, errors, what could follow |
//! | `tasks` | groupings with names: for tasks, saved, others |
//! | `levels`, `parts` | the levels, and all that levels can be |
//! | `scripts`, `code` | classifiers that people type, and how their code is shown |
//! | `packages` | the program's own packages |
//! | `bloat` | a grouping with a script that comes with the program |
//! | `widgets` | what several of them show |
//!
//! It writes the wish for a grouping into [`Settings`]; the job that groups is that of `loading`.

pub mod bloat;
mod code;
mod draft;
mod expression;
mod levels;
mod packages;
mod parts;
mod scripts;
mod tasks;
mod widgets;

use super::theme;
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::document::{Closed, Document, OpenDocument, Opened};
use crate::viewer::frame::{Awake, Stage};
use crate::viewer::loading::Loading;
use crate::viewer::notices::Notices;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use bevy_egui::egui::{self, Key, Modifiers, RichText};
use draft::GroupingDraft;
use memory_city_analysis::group::saved::SavedGroupings;
use memory_city_analysis::group::{self, Grouping};
use memory_city_heap::progress::Snapshot;

/// A page of the editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditorPage {
    /// Groupings with names.
    #[default]
    Tasks,
    /// The levels one by one.
    Levels,
    /// Classifiers that people type.
    Scripts,
    /// The program's own packages.
    Packages,
}

const PAGES: [(EditorPage, &str, &str); 4] = [
    (EditorPage::Tasks, "By task", "What do you want to find out? Groupings with names, those you saved among them"),
    (EditorPage::Levels, "Levels", "Any list of classifiers, filters and transformers, level by level"),
    (EditorPage::Scripts, "Your scripts", "Classifiers and filters of your own, typed here"),
    (EditorPage::Packages, "Own packages", "Which code is the program's own, and which a library's"),
];

/// The editor and all that is being written in it.
#[derive(Resource, Default)]
pub struct GroupingEditor {
    open: bool,
    page: EditorPage,
    draft: GroupingDraft,
    /// Id of the grouping that the draft began with.
    began_with: String,
    line: expression::ExpressionLine,
    tasks: tasks::TaskPage,
    parts: parts::PartList,
    levels: levels::LevelList,
    scripts: scripts::ScriptDesk,
    packages: packages::PackageDesk,
}

impl GroupingEditor {
    /// Whether it is on screen.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes the editor; unfinished text is there when it opens again.
    pub fn close(&mut self) {
        self.open = false;
    }

    fn toggle(&mut self, document: &Document, notices: &mut Notices) {
        self.open = !self.open && document.get().is_some();
        if document.get().is_none() {
            notices.tell("Open dumps or a trace first: there is nothing to be grouped");
        }
    }

    /// Begins with the grouping on screen, unless it has done so before.
    fn follow(&mut self, current: &Grouping) {
        if self.began_with != current.id {
            self.began_with.clone_from(&current.id);
            let registry = group::registry();
            let list = registry.list_of(current).to_owned();
            if self.draft.grouping().is_none_or(|drafted| registry.list_of(drafted) != list) {
                self.draft.set_text(&registry, list);
            }
        }
    }
}

/// Resources that the pages read and write.
struct EditorTools<'a> {
    open: &'a OpenDocument,
    time: usize,
    /// The grouping on screen.
    current: &'a Grouping,
    /// Changed copies are wishes.
    settings: &'a mut Settings,
    draft: &'a mut GroupingDraft,
    notices: &'a mut Notices,
    /// Whether the next frame is needed.
    awake: bool,
    /// Whether work goes on that is shown.
    waits: bool,
    /// The page to turn to.
    turn_to: Option<EditorPage>,
    /// Why the last wish could not be fulfilled.
    refusal: Option<String>,
    /// How far the grouping is.
    regrouping: Option<Snapshot>,
    cancel: bool,
}

impl EditorTools<'_> {
    /// Wishes for a grouping.
    fn group_by(&mut self, id: &str) {
        if self.refusal.is_some() && self.settings.grouping == id {
            // Once more: what it failed for may be right by now.
            self.settings.definitions += 1;
        }
        id.clone_into(&mut self.settings.grouping);
    }

    /// Follows a change to these classifiers: a grouping with any of them, on screen or just refused, is made anew.
    fn changed(&mut self, ids: &[&str]) {
        let wanted = group::grouping(&self.settings.grouping);
        let registry = group::registry();
        if registry.mentions(self.current, ids) || wanted.is_ok_and(|wanted| registry.mentions(&wanted, ids)) {
            self.settings.definitions += 1;
        }
    }
}

/// The grouping on screen, by its parts.
fn current(open: &OpenDocument) -> Grouping {
    let id = open.source.grouping_id();
    let known = group::grouping(&id).map(|grouping| (*grouping).clone());
    known.unwrap_or_else(|_| Grouping { title: open.source.grouping_title(), ..Grouping::new(id, Vec::new()) })
}

/// Opens and closes it.
fn act(
    mut actions: MessageReader<Action>,
    document: Res<Document>,
    mut editor: ResMut<GroupingEditor>,
    mut notices: ResMut<Notices>,
) {
    for action in actions.read() {
        if *action == Action::Groupings {
            editor.toggle(&document, &mut notices);
        }
    }
}

/// Draws it, if it is open.
pub fn show(
    In(ctx): In<egui::Context>,
    (document, clock): (Res<Document>, Res<Clock>),
    mut settings: ResMut<Settings>,
    mut editor: ResMut<GroupingEditor>,
    mut loading: ResMut<Loading>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let editor = &mut *editor;
    if document.is_changed() {
        (editor.draft.checked, editor.parts.known) = (None, None);
    }
    let Some(open) = document.get().filter(|_| editor.open) else {
        return;
    };
    let current = current(open);
    editor.follow(&current);
    let mut wanted = settings.clone();
    let refusal = loading.refusal(&wanted).map(str::to_owned);
    let mut stays = true;
    let mut tools = EditorTools {
        open,
        time: clock.time,
        current: &current,
        settings: &mut wanted,
        draft: &mut editor.draft,
        notices: &mut notices,
        awake: false,
        waits: false,
        turn_to: None,
        refusal,
        regrouping: loading.regrouping(),
        cancel: false,
    };
    tools.draft.check(&open.source);
    let room = ctx.content_rect().shrink(8.0);
    let height = (room.height() - 294.0).clamp(590.0, 760.0);
    let size = egui::vec2(940.0_f32.min(room.width()), height.min(room.height() - 60.0));
    let window = egui::Window::new("Grouping")
        .id(egui::Id::new("grouping editor"))
        .title_bar(false)
        .collapsible(false)
        .resizable(true)
        .default_size(size)
        .min_size([640.0, 380.0])
        .default_pos(room.center() - size / 2.0)
        .constrain_to(room)
        .frame(theme::frame().fill(theme::SOLID).inner_margin(egui::Margin::same(0)));
    let page = editor.page;
    window.show(&ctx, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        egui::Panel::top("editor pages").frame(widgets::margin(12, 8)).show(ui, |ui| {
            stays = head(ui, page, &mut tools);
        });
        egui::Panel::bottom("editor line").frame(widgets::margin(12, 10).fill(widgets::RAISED)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 5.0;
            expression::show(ui, &mut editor.line, &mut editor.tasks, &mut tools);
        });
        egui::CentralPanel::default().frame(widgets::margin(12, 8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 5.0;
            match page {
                EditorPage::Tasks => tasks::show(ui, &mut editor.tasks, &mut tools),
                EditorPage::Levels => {
                    levels::show(ui, &mut editor.levels, &mut editor.parts, &mut tools);
                }
                EditorPage::Scripts => scripts::show(ui, &mut editor.scripts, &mut tools),
                EditorPage::Packages => packages::show(ui, &mut editor.packages, &mut tools),
            }
        });
    });
    let EditorTools { turn_to, awake: moving, waits, cancel, .. } = tools;
    if let Some(page) = turn_to {
        editor.page = page;
        awake.keep_if(true);
    }
    if cancel {
        loading.escape();
    }
    awake.keep_if(moving);
    awake.wait_if(waits);
    editor.open = stays;
    if *settings != wanted {
        *settings = wanted;
    }
}

/// The choice of pages, and the button that closes the editor. Returns whether it stays open.
fn head(ui: &mut egui::Ui, page: EditorPage, tools: &mut EditorTools<'_>) -> bool {
    let mut stays = true;
    ui.horizontal(|ui| {
        ui.add(egui::Label::new(RichText::new("Grouping").heading().strong()).selectable(false));
        ui.add_space(14.0);
        for (number, (of, title, help)) in (1..).zip(PAGES) {
            let text = RichText::new(title).size(13.5);
            let key = [Key::Num1, Key::Num2, Key::Num3, Key::Num4][number - 1];
            let tab = ui.selectable_label(page == of, text).on_hover_text(format!("{help}  [Alt+{number}]"));
            if tab.clicked() || ui.input_mut(|i| i.consume_key(Modifiers::ALT, key)) {
                tools.turn_to = Some(of);
            }
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let tip = "Closes the editor; what you wrote is there when it comes back  [Esc]";
            if widgets::cross(ui, 22.0).on_hover_text(tip).clicked() {
                stays = false;
            }
        });
    });
    stays
}

/// The saved groupings, made known at once; `Err`: why there are none.
fn saved() -> Result<SavedGroupings, String> {
    let path = crate::config::groupings().ok_or("MEMORY_CITY_CONFIG is empty: nothing is kept")?;
    SavedGroupings::read(&path).map_err(|error| error.to_string())
}

/// The grouping editor.
pub struct GroupingEditorPlugin;

impl Plugin for GroupingEditorPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<GroupingEditor>()
            .add_systems(Update, act.in_set(Stage::Act))
            .add_observer(|_: On<Opened>, mut editor: ResMut<GroupingEditor>| editor.packages.forget())
            .add_observer(|_: On<Closed>, mut editor: ResMut<GroupingEditor>| editor.close());
    }
}
