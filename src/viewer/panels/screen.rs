//! All that egui draws, in its order: bars, dock, cards and messages; and the actions that switch panels.

use super::{PanelState, Typing, compare_card, grouping_editor, help, save, status, theme, time_bar, top_bar};
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::comparison::OpenComparison;
use crate::viewer::document::Document;
use crate::viewer::live::Listening;
use crate::viewer::loading::{self, Loading, OpenRequest};
use crate::viewer::notices::Notices;
use crate::viewer::recent::RecentInputs;
use crate::viewer::root_paths::RootPaths;
use crate::viewer::selection::{Pointing, Selection, SharedFilter};
use crate::viewer::settings::Settings;
use crate::viewer::view::{Views, draw_with};
use crate::viewer::{city, dock, palette};
use bevy::asset::AssetEventSystems;
use bevy::prelude::*;
use bevy::shader::Shader;
use bevy_egui::render::EGUI_SHADER_HANDLE;
use bevy_egui::{
    EguiContext, EguiInput, EguiPlugin, EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass,
    PrimaryEguiContext, egui,
};
use memory_city_views::city::colour;

/// Panels.
pub struct PanelsPlugin;

impl Plugin for PanelsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(EguiPlugin { bindless_mode_array_size: None });
        // In the place of the shader that comes with it: the same picture for less.
        let shader = Shader::from_wgsl(include_str!("../../../shaders/panels.wgsl"), "shaders/panels.wgsl");
        if let Err(error) = app.world_mut().resource_mut::<Assets<Shader>>().insert(&EGUI_SHADER_HANDLE, shader) {
            tracing::warn!("panels are drawn with the shader that is slower: {error}");
        }
        app.add_plugins((grouping_editor::GroupingEditorPlugin, save::SavePlugin, compare_card::CompareCardPlugin))
            .init_resource::<PanelState>()
            .init_resource::<Typing>()
            .add_systems(
                PreUpdate,
                let_egui_rest.after(EguiPreUpdateSet::ProcessInput).before(EguiPreUpdateSet::BeginPass),
            )
            // Letters that are new are in a texture by the end of the pass: it has to reach the GPU in the same frame. A font that
            // needs a larger one would leave a frame without any panels otherwise.
            .configure_sets(PostUpdate, AssetEventSystems.after(EguiPostUpdateSet::PostProcessOutput))
            .add_systems(EguiPrimaryContextPass, show)
            .add_systems(PostUpdate, theme::by_day.after(EguiPostUpdateSet::ProcessOutput))
            .add_systems(Update, panel_actions.in_set(crate::viewer::frame::Stage::Act));
    }
}

/// Leaves out repeated events: bevy_egui reports the held modifier keys in every frame, and egui asks for another frame after any event,
/// so a window would never rest.
///
/// Keys that are actions stay away from egui, unless a person writes or the view with the keyboard handles them itself. Tab would give a
/// button the keyboard, which then takes Space and Enter.
fn let_egui_rest(
    mut contexts: Query<(&mut EguiInput, &mut EguiContext)>,
    mut held: Local<egui::Modifiers>,
    mut typing: ResMut<Typing>,
    focus: Res<dock::Focus>,
) {
    typing.0 = false;
    for (mut input, mut context) in &mut contexts {
        let writes = context.get_mut().text_edit_focused();
        typing.0 |= writes;
        input.events.retain(|event| match event {
            egui::Event::ModifiersChanged(now) => std::mem::replace(&mut *held, *now) != *now,
            egui::Event::Key { key: egui::Key::Tab, .. } => writes,
            egui::Event::Key { key: egui::Key::Space, .. } => writes || focus.takes(KeyCode::Space),
            egui::Event::Key { key: egui::Key::Enter, .. } => writes || focus.takes(KeyCode::Enter),
            _ => true,
        });
    }
}

/// Cards that belong to others: Esc closes them.
#[derive(bevy::ecs::system::SystemParam)]
struct OtherCards<'w> {
    code: ResMut<'w, crate::viewer::editor::CodeEditor>,
    #[cfg(target_os = "linux")]
    jvms: ResMut<'w, crate::viewer::recording::WindowRecorder>,
}

impl OtherCards<'_> {
    /// Whether the list of JVMs is open.
    fn is_open(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.jvms.choosing.is_some();
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    /// Closes one. Returns whether there was one.
    fn escape(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        if self.jvms.choosing.take().is_some() {
            return true;
        }
        self.code.escape()
    }
}

/// The actions that switch panels and settings.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn panel_actions(
    mut actions: MessageReader<Action>,
    mut panels: ResMut<PanelState>,
    mut settings: ResMut<Settings>,
    mut selection: ResMut<Selection>,
    mut loading: ResMut<Loading>,
    mut ways: ResMut<RootPaths>,
    (mut editor, mut save): (ResMut<grouping_editor::GroupingEditor>, ResMut<save::SaveCard>),
    mut cards: OtherCards,
    (mut card, mut comparison): (ResMut<compare_card::CompareCard>, ResMut<OpenComparison>),
    (document, mut clock, mut filter): (Res<Document>, ResMut<Clock>, ResMut<SharedFilter>),
) {
    for action in actions.read() {
        let was_start = panels.start;
        panels.start &= keeps_start(*action);
        match action {
            // It was on top.
            Action::Escape if was_start => {}
            Action::Help => panels.help = !panels.help,
            Action::Panels => panels.visible = !panels.visible,
            // What lies over the city goes as well: it is to be seen.
            Action::Reset => panels.help = false,
            Action::Pointers => settings.show_pointers = !settings.show_pointers,
            Action::Colour => {
                // The key passes by what has to be found first: that is chosen in the settings or the palette.
                let modes: Vec<_> = colour::modes().iter().filter(|mode| mode.metric.is_none()).collect();
                let at = modes.iter().position(|m| m.id == settings.colour).unwrap_or(modes.len() - 1);
                settings.set_colour(modes[(at + 1) % modes.len()].id);
            }
            Action::Labels => settings.labels = !settings.labels,
            Action::Metric => {
                if let Some(timeline) = document.timeline() {
                    let next = settings.next_metric(timeline);
                    settings.set_metric(timeline, next);
                }
            }
            Action::AreaMode => {
                use memory_city_views::city::AreaMode::{Linear, Sqrt};
                settings.area_mode = match settings.area_mode {
                    Linear => Sqrt,
                    Sqrt => Linear,
                }
            }
            Action::Compare => {
                let other = Some(clock.time).filter(|time| settings.base != Some(*time) && clock.last() > 0);
                settings.compare_with(other);
            }
            Action::SwapBase => {
                if let Some(base) = settings.base.replace(clock.time) {
                    clock.step_to(base);
                } else {
                    settings.base = None;
                }
            }
            Action::Multiples => {
                settings.multiples = match settings.multiples {
                    0 => 4,
                    4 => 9,
                    9 => 16,
                    _ => 0,
                }
            }
            // Esc takes away what is on top, one thing at a time.
            Action::Escape => {
                if panels.help {
                    panels.help = false;
                } else if cards.escape() || save.escape() || card.escape() || comparison.escape() || loading.escape() {
                    // Work was stopped.
                } else if editor.is_open() {
                    editor.close();
                } else if settings.multiples > 0 {
                    settings.multiples = 0;
                } else if !ways.escape() {
                    // What is selected first, then what is looked for.
                    if selection.node().is_none() && !filter.0.is_empty() {
                        filter.0.clear();
                    }
                    selection.clear();
                }
            }
            _ => {}
        }
    }
}

/// Whether the start card stays: what is asked for may be cancelled.
fn keeps_start(action: Action) -> bool {
    matches!(action, Action::Help | Action::OpenFiles | Action::OpenFolder | Action::Record | Action::Listen)
}

/// Draws everything that egui draws.
fn show(world: &mut World, mut contexts: Local<Option<QueryState<&mut EguiContext, With<PrimaryEguiContext>>>>) {
    // A picture without a window is taken once: nothing may be on its way in.
    let has_window = world.query::<&Window>().iter(world).next().is_some();
    let animated = has_window && !world.resource::<Settings>().reduced_motion;
    let query = contexts.get_or_insert_with(|| world.query_filtered());
    let Ok(mut context) = query.single_mut(world) else { return };
    let ctx = context.get_mut().clone();
    theme::apply_once(&ctx, animated);
    let PanelState { visible, still, nothing, only, .. } = *world.resource::<PanelState>();
    if nothing {
        // The picture stays where it was.
        return;
    }
    city::hide(world);
    world.resource_mut::<Pointing>().pointed = None;
    if world.resource::<Document>().get().is_none() {
        city::fill(world, &ctx);
    } else if visible && !still {
        let builder = egui::UiBuilder::new().layer_id(egui::LayerId::background()).max_rect(ctx.content_rect());
        let mut window = egui::Ui::new(ctx.clone(), "window".into(), builder);
        let bar = theme::bar();
        egui::Panel::top("top bar").frame(bar).exact_size(top_bar::HEIGHT).show(&mut window, |ui| {
            draw_with(world, ui, top_bar::draw);
        });
        egui::Panel::bottom("time bar").frame(bar).exact_size(time_bar::HEIGHT).show(&mut window, |ui| {
            draw_with(world, ui, time_bar::draw);
        });
        egui::CentralPanel::no_frame().show(&mut window, |ui| dock::show(world, ui));
    } else {
        if only.is_none() && !visible {
            world.resource_mut::<dock::Focus>().take_back();
        }
        let views = world.resource::<Views>();
        if let Some(view) = only.map_or_else(|| views.first(), |id| views.get(id)) {
            view.draw_alone(world, &ctx);
        }
    }
    if world.resource::<grouping_editor::GroupingEditor>().is_open()
        && let Err(error) = world.run_system_cached_with(grouping_editor::show, ctx.clone())
    {
        tracing::error!("the grouping editor cannot be drawn: {error}");
    }
    if let Err(error) = world.run_system_cached_with(save::show, ctx.clone()) {
        tracing::error!("the card that saves cannot be drawn: {error}");
    }
    if let Err(error) = world.run_system_cached_with(crate::viewer::editor::show, ctx.clone()) {
        tracing::error!("the card for the editor cannot be drawn: {error}");
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = world.run_system_cached_with(super::recorder_card::show, ctx.clone()) {
        tracing::error!("the list of JVMs cannot be drawn: {error}");
    }
    if let Err(error) = world.run_system_cached_with(compare_card::show, ctx.clone()) {
        tracing::error!("the card that compares cannot be drawn: {error}");
    }
    if let Err(error) = world.run_system_cached_with(palette::show, ctx.clone()) {
        tracing::error!("the palette cannot be drawn: {error}");
    }
    if let Err(error) = world.run_system_cached_with(overlays, ctx) {
        tracing::error!("messages cannot be drawn: {error}");
    }
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn overlays(
    In(ctx): In<egui::Context>,
    (document, recent): (Res<Document>, Option<Res<RecentInputs>>),
    mut loading: ResMut<Loading>,
    (listening, notices): (Res<Listening>, Res<Notices>),
    cards: OtherCards,
    mut panels: ResMut<PanelState>,
    mut actions: MessageWriter<Action>,
    mut requests: MessageWriter<OpenRequest>,
) {
    let open = document.get().is_some();
    let sample = loading::sample_path();
    // Another input has come in its place.
    panels.start &= loading::is_sample(loading.next_paths());
    let start = status::StartCard {
        has_sample: sample.is_some(),
        over_sample: panels.start,
        recent: recent.as_ref().map_or(&[], |recent| recent.there()),
        listening: listening.address().map(|(address, _)| address),
    };
    let answer = match loading.state() {
        // The list of JVMs takes its place.
        loading::State::Opening { .. } | loading::State::Idle if panels.start && cards.is_open() => None,
        loading::State::Opening { .. } | loading::State::Idle if panels.start => status::start(&ctx, &start),
        loading::State::Opening { title, snapshot } => status::loading(&ctx, &title, &snapshot),
        loading::State::Failed { title, error } => status::failed(&ctx, &title, &error, open, sample.is_some()),
        loading::State::Asks(question) => status::asks(&ctx, &question),
        loading::State::Busy { what, snapshot } => {
            status::busy(&ctx, &what, &snapshot);
            None
        }
        loading::State::Idle if open || cards.is_open() => None,
        loading::State::Idle => status::start(&ctx, &start),
    };
    let opened = match answer {
        Some(status::Answer::OpenRecent(at)) => start.recent.get(at).map(|input| input.paths.clone()),
        Some(status::Answer::OpenSample) if !panels.start => sample.map(|path| vec![path.to_path_buf()]),
        _ => None,
    };
    requests.write_batch(opened.map(OpenRequest));
    match answer {
        Some(status::Answer::OpenFiles) => {
            actions.write(Action::OpenFiles);
        }
        Some(status::Answer::OpenFolder) => {
            actions.write(Action::OpenFolder);
        }
        Some(status::Answer::Listen) => {
            actions.write(Action::Listen);
        }
        Some(status::Answer::Record) => {
            actions.write(Action::Record);
        }
        Some(status::Answer::OpenSample | status::Answer::OpenRecent(_)) => panels.start = false,
        Some(status::Answer::Cancel | status::Answer::Dismiss) => {
            loading.escape();
        }
        Some(status::Answer::Allow) => {
            if let Some(request) = loading.allow() {
                requests.write(request);
            }
        }
        None => {}
    }
    if !notices.is_empty() && !panels.still {
        status::notices(&ctx, notices.iter());
    }
    if panels.help && !help::show(&ctx) {
        panels.help = false;
    }
}
