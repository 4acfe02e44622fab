//! The line at the bottom of the editor: the grouping as text, as the command line takes it. It shows mistakes with their place,
//! completions, and the buttons that group and save.

use super::draft::DraftOutcome;
use super::tasks::TaskPage;
use super::{EditorTools, theme, widgets};
use bevy_egui::egui::text::{LayoutJob, TextFormat};
use bevy_egui::egui::{self, Align, FontId, Key, Layout, Modifiers, RichText, Stroke, Ui};
use memory_city_analysis::group::saved::{id_of, refused_title};
use memory_city_analysis::group::{self, Completion, ExpressionError};
use std::sync::Arc;

/// How many names are proposed at once.
const PROPOSED: usize = 8;

/// State of typing, beside the expression.
#[derive(Default)]
pub struct ExpressionLine {
    /// Name and description of a grouping that is about to be saved.
    naming: Option<(String, String)>,
    /// Completions for a text and a registry.
    proposed: (String, u64, Vec<Completion>),
}

impl ExpressionLine {
    fn proposals(&mut self, text: &str) -> &[Completion] {
        let revision = group::registry_revision();
        if (self.proposed.0.as_str(), self.proposed.1) != (text, revision) {
            let all = group::registry().complete(text).into_iter();
            let proposed = all.filter(|completion| completion.text != text).take(PROPOSED).collect();
            self.proposed = (text.to_owned(), revision, proposed);
        }
        &self.proposed.2
    }
}

/// Draws it.
pub fn show(ui: &mut Ui, line: &mut ExpressionLine, tasks: &mut TaskPage, tools: &mut EditorTools<'_>) {
    let id = egui::Id::new("grouping expression");
    let ready = matches!(tools.draft.outcome(), DraftOutcome::Ready(_));
    let shown = tools.draft.grouping().is_some_and(|drafted| {
        let registry = group::registry();
        registry.list_of(drafted) == registry.list_of(tools.current)
    });
    let (mut apply, mut save) = (false, false);
    let focused = ui.memory(|memory| memory.has_focus(id));
    ui.horizontal(|ui| {
        widgets::plain(ui, RichText::new("--grouping").monospace().color(theme::QUIET))
            .on_hover_text("The same expression as on the command line: memory-city report PATH --grouping '…'");
        let buttons = 168.0;
        let mut text = tools.draft.text().to_owned();
        // Tab takes the first proposal instead of leaving the field: the one for all of the text, also where some of it comes in the
        // same frame.
        let is_typing = ui.input(|i| i.events.iter().any(|event| matches!(event, egui::Event::Text(_))));
        let completes = focused
            && (is_typing || !line.proposals(&text).is_empty())
            && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Tab));
        let wrong = match tools.draft.outcome() {
            DraftOutcome::Wrong(error) if error.text == text => Some(error.clone()),
            _ => None,
        };
        let mut layouter = |ui: &Ui, text: &dyn egui::TextBuffer, _: f32| marked(ui, text.as_str(), wrong.as_ref());
        let field = egui::TextEdit::singleline(&mut text)
            .id(id)
            .font(egui::TextStyle::Monospace)
            .desired_width(ui.available_width() - buttons)
            .margin(egui::Margin::symmetric(6, 4))
            .lock_focus(true)
            .hint_text("package>type")
            .layouter(&mut layouter);
        let field = ui.add(field).on_hover_text(
            "Any list of classifiers: a>b divides the groups of a by b. Tab takes the first proposal, Enter groups so",
        );
        let proposal = if completes { line.proposals(&text).first().map(|first| first.text.clone()) } else { None };
        if let Some(first) = proposal {
            move_to_end(ui, id, &first);
            tools.draft.set_text(&group::registry(), first);
        } else if field.changed() {
            tools.draft.set_text(&group::registry(), text);
        }
        apply |= field.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        let offered = ready && !shown;
        let group_button = ui.add_enabled(offered, widgets::main_button("Group by this"));
        let tip = "Groups the heap so; what is shown stays until it is done  [Ctrl+Enter]";
        let why = match tools.draft.outcome() {
            DraftOutcome::Ready(_) => "The heap is grouped so",
            DraftOutcome::Refused(..) => "The input cannot be grouped so",
            DraftOutcome::Empty | DraftOutcome::Wrong(_) => "This is no grouping yet",
        };
        apply |= group_button.on_hover_text(tip).on_disabled_hover_text(why).clicked();
        let save_button = ui.add_enabled(tools.draft.grouping().is_some(), egui::Button::new("Save…"));
        let tip = "Saves this grouping under a name, for the window and the command line  [Ctrl+S]";
        save |= save_button.on_hover_text(tip).on_disabled_hover_text(why).clicked();
    });
    let shortcut = |key: Key| ui.input_mut(|i| i.consume_key(Modifiers::CTRL, key));
    apply |= shortcut(Key::Enter);
    save |= shortcut(Key::S) && tools.draft.grouping().is_some();
    if apply
        && ready
        && let Some(grouping) = tools.draft.grouping()
    {
        let id = grouping.id.clone();
        tools.group_by(&id);
    }
    if save {
        line.naming = Some(line.naming.take().unwrap_or_default());
        ui.memory_mut(|memory| memory.request_focus(egui::Id::new("grouping name")));
    }
    below(ui, line, tasks, tools, focused, shown);
}

/// The line below the text: one thing at a time.
fn below(
    ui: &mut Ui,
    line: &mut ExpressionLine,
    tasks: &mut TaskPage,
    tools: &mut EditorTools<'_>,
    focused: bool,
    shown: bool,
) {
    let small = |text: String| RichText::new(text).size(12.0);
    let height = 22.0;
    ui.allocate_ui_with_layout(egui::vec2(ui.available_width(), height), Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_height(height);
        if line.naming.is_some() {
            return naming(ui, line, tasks, tools);
        }
        if let Some(snapshot) = &tools.regrouping {
            let share = snapshot.done as f32 / snapshot.total.max(1) as f32;
            let bar = egui::ProgressBar::new(share).desired_width(260.0).text(small(snapshot.stage.clone()));
            ui.add(bar.animate(snapshot.total == 0));
            if ui.small_button("Cancel").on_hover_text("What is shown stays  [Esc]").clicked() {
                tools.cancel = true;
            }
            tools.awake = true;
            return;
        }
        match tools.draft.outcome() {
            DraftOutcome::Wrong(error) => {
                let nearest = error.nearest.as_ref().map(|n| format!(". Did you mean {n}?")).unwrap_or_default();
                let text = format!("Character {}: {}{nearest}", error.character(), error.message);
                widgets::cut(ui, small(text).color(theme::ERROR)).on_hover_text(error.to_string());
            }
            DraftOutcome::Refused(_, why) => {
                widgets::cut(ui, small(format!("Not for this input: {why}")).color(theme::WARNING));
            }
            _ if focused => {
                let mut taken = None;
                for completion in line.proposals(tools.draft.text()) {
                    let proposal = egui::Button::new(small(completion.name.clone()).color(theme::ACCENT));
                    let proposal = ui.add(proposal.frame(false)).on_hover_text(&completion.description);
                    if proposal.clicked() {
                        taken = Some(completion.text.clone());
                    }
                }
                if let Some(text) = taken {
                    let id = egui::Id::new("grouping expression");
                    ui.memory_mut(|memory| memory.request_focus(id));
                    move_to_end(ui, id, &text);
                    tools.draft.set_text(&group::registry(), text);
                }
            }
            DraftOutcome::Empty => {
                widgets::cut(ui, small("Choose a task, or add levels".into()).color(theme::QUIET));
            }
            DraftOutcome::Ready(grouping) => {
                if let Some(why) = tools.refusal.as_ref().filter(|_| tools.settings.grouping == grouping.id) {
                    widgets::cut(ui, small(why.clone()).color(theme::ERROR)).on_hover_text(why);
                    return;
                }
                let text = match shown {
                    true => format!("On screen: {}", grouping.title),
                    false => format!("{}. On screen: {}", grouping.title, tools.current.title),
                };
                widgets::cut(ui, small(text).color(theme::QUIET)).on_hover_text(grouping.description.as_str());
            }
        }
    });
}

/// A name for the grouping to save.
fn naming(ui: &mut Ui, line: &mut ExpressionLine, tasks: &mut TaskPage, tools: &mut EditorTools<'_>) {
    let Some((title, description)) = &mut line.naming else { return };
    widgets::plain(ui, RichText::new("Save as").size(12.0));
    let name = egui::TextEdit::singleline(title).id(egui::Id::new("grouping name")).desired_width(170.0);
    let name = ui.add(name.hint_text("Name"));
    let about =
        egui::TextEdit::singleline(description).desired_width(230.0).hint_text("What it is good for (optional)");
    let about = ui.add(about);
    let refused = refused_title(&group::registry(), title);
    let entered = (name.lost_focus() || about.lost_focus()) && ui.input(|i| i.key_pressed(Key::Enter));
    let button = ui.add_enabled(refused.is_none(), widgets::main_button("Save"));
    let saves = button.on_disabled_hover_text(refused.clone().unwrap_or_default()).clicked();
    let cancels = ui.button("Cancel").clicked() || ui.input(|i| i.key_pressed(Key::Escape));
    let (text, colour) = match &refused {
        Some(why) if !title.trim().is_empty() => (why.clone(), theme::WARNING),
        Some(_) => (String::new(), theme::QUIET),
        None => (format!("--grouping {}", id_of(title)), theme::QUIET),
    };
    widgets::cut(ui, RichText::new(text).monospace().size(11.5).color(colour));
    if (saves || entered) && refused.is_none() {
        let (title, description) = (title.clone(), description.clone());
        let list = tools.draft.grouping().map(|grouping| group::registry().list_of(grouping).to_owned());
        if tasks.save(&title, &list.unwrap_or_default(), &description, tools) {
            line.naming = None;
        }
    } else if cancels {
        line.naming = None;
    }
}

fn move_to_end(ui: &Ui, id: egui::Id, text: &str) {
    let mut state = egui::TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
    let end = egui::text::CCursor::new(text.chars().count());
    state.cursor.set_char_range(Some(egui::text::CCursorRange::one(end)));
    state.store(ui.ctx(), id);
}

/// The text, underlined where it goes wrong.
fn marked(ui: &Ui, text: &str, wrong: Option<&ExpressionError>) -> Arc<egui::Galley> {
    let font = FontId::monospace(12.5);
    let plain = TextFormat::simple(font.clone(), theme::TEXT);
    let mut job = LayoutJob::default();
    match wrong.filter(|error| error.text == text && text.is_char_boundary(error.at)) {
        Some(error) => {
            let (before, rest) = text.split_at(error.at);
            let name = rest.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).unwrap_or(rest.len());
            // Something is underlined, be it a single sign.
            let end = if name == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { name };
            let marked =
                TextFormat { underline: Stroke::new(1.5, theme::ERROR), ..TextFormat::simple(font, theme::ERROR) };
            job.append(before, 0.0, plain.clone());
            job.append(&rest[..end], 0.0, marked);
            job.append(&rest[end..], 0.0, plain);
        }
        None => job.append(text, 0.0, plain),
    }
    job.wrap.max_width = f32::INFINITY;
    ui.fonts_mut(|fonts| fonts.layout_job(job))
}
