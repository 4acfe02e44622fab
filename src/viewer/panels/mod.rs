//! What stands around and over the views (egui): the bar at the top, the time bar, cards and messages, the cheat sheet. One
//! file each. They read shared state and write wishes; they compute nothing about heaps.

pub mod chosen;
pub mod compare_card;
pub mod grouping_box;
pub mod grouping_editor;
pub mod help;
pub mod live_panel;
pub mod long_list;
pub mod numbers;
pub mod owners_panel;
#[cfg(target_os = "linux")]
pub mod recorder_card;
pub mod save;
pub mod sites_panel;
pub mod spinner;
pub mod status;
pub mod theme;
pub mod ticks;
pub mod time_bar;
pub mod tooltip;
pub mod top_bar;

use super::action::Action;
use super::clock::Clock;
use super::comparison::OpenComparison;
use super::document::Document;
use super::live::Listening;
use super::loading::{self, Loading, OpenRequest};
use super::notices::Notices;
use super::selection::{Selection, SharedFilter};
use super::settings::Settings;
use super::ways::Ways;
use super::{dock, palette, views};
use bevy::asset::AssetEventSystems;
use bevy::prelude::*;
use bevy::shader::Shader;
use bevy_egui::render::EGUI_SHADER_HANDLE;
use bevy_egui::{
    EguiContext, EguiInput, EguiPlugin, EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass,
    PrimaryEguiContext, egui,
};
use memory_city_views::city::colour;

/// Which panels are on.
#[derive(Resource, Clone, Copy, Debug)]
pub struct PanelState {
    /// The panels at all; caption and legend stand over the city otherwise.
    pub visible: bool,
    /// The cheat sheet.
    pub help: bool,
    /// A picture is being made without a window: no panel that is only for using.
    pub still: bool,
    /// Nothing at all over the city, for measuring.
    pub nothing: bool,
    /// The picture is of this view alone.
    pub only: Option<&'static str>,
}

impl Default for PanelState {
    fn default() -> Self {
        PanelState { visible: true, help: false, still: false, nothing: false, only: None }
    }
}

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
            .add_systems(Update, panel_actions.in_set(super::app::Stage::Act));
    }
}

/// bevy_egui says in every frame which modifier keys are held. egui asks for another frame after any event: a window would
/// never rest. What was said before is left out.
///
/// And keys that are actions stay away from it unless somebody writes, or the view that has the keyboard handles them itself: Tab
/// would give a button the keyboard, which then takes Space and Enter.
fn let_egui_rest(
    mut contexts: Query<(&mut EguiInput, &mut EguiContext)>,
    mut held: Local<egui::Modifiers>,
    mut typing: ResMut<Typing>,
    focus: Res<dock::Focus>,
) {
    typing.0 = false;
    for (mut input, mut context) in &mut contexts {
        let writes = context.bypass_change_detection().get_mut().text_edit_focused();
        typing.0 |= writes;
        input.bypass_change_detection().events.retain(|event| match event {
            egui::Event::ModifiersChanged(now) => std::mem::replace(&mut *held, *now) != *now,
            egui::Event::Key { key: egui::Key::Tab, .. } => writes,
            egui::Event::Key { key: egui::Key::Space, .. } => writes || focus.takes(KeyCode::Space),
            egui::Event::Key { key: egui::Key::Enter, .. } => writes || focus.takes(KeyCode::Enter),
            _ => true,
        });
    }
}

/// Whether somebody writes into a text field: it alone keeps keys for itself.
#[derive(Resource, Default)]
pub struct Typing(bool);

impl Typing {
    /// Whether a key belongs to the text: those of functions never do.
    pub fn takes(&self, key: KeyCode) -> bool {
        use KeyCode::{F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12};
        self.0 && ![F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12].contains(&key)
    }

    /// Whether somebody writes.
    pub fn goes_on(&self) -> bool {
        self.0
    }
}

/// Cards that belong to others: Esc closes them.
#[derive(bevy::ecs::system::SystemParam)]
struct OtherCards<'w> {
    code: ResMut<'w, super::editor::CodeEditor>,
    #[cfg(target_os = "linux")]
    jvms: ResMut<'w, super::recording::WindowRecorder>,
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
        if self.jvms.bypass_change_detection().choosing.take().is_some() {
            return true;
        }
        self.code.bypass_change_detection().escape()
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
    mut ways: ResMut<Ways>,
    (mut editor, mut save): (ResMut<grouping_editor::GroupingEditor>, ResMut<save::SaveCard>),
    mut cards: OtherCards,
    (mut card, mut comparison): (ResMut<compare_card::CompareCard>, ResMut<OpenComparison>),
    (document, mut clock, mut filter): (Res<Document>, ResMut<Clock>, ResMut<SharedFilter>),
) {
    for action in actions.read() {
        match action {
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

/// Draws everything that egui draws.
fn show(world: &mut World, mut contexts: Local<Option<QueryState<&mut EguiContext, With<PrimaryEguiContext>>>>) {
    // A picture without a window is taken once: nothing may be on its way in.
    let animated = world.query::<&Window>().iter(world).next().is_some();
    let query = contexts.get_or_insert_with(|| world.query_filtered());
    let Ok(mut context) = query.single_mut(world) else { return };
    let ctx = context.get_mut().clone();
    theme::apply_once(&ctx, animated);
    let PanelState { visible, still, nothing, only, .. } = *world.resource::<PanelState>();
    if nothing {
        // The picture stays where it was.
        return;
    }
    views::hide(world);
    world.resource_mut::<Selection>().bypass_change_detection().pointed = None;
    if world.resource::<Document>().get().is_none() {
        views::fill(world, &ctx);
    } else if visible && !still {
        let builder = egui::UiBuilder::new().layer_id(egui::LayerId::background()).max_rect(ctx.content_rect());
        let mut window = egui::Ui::new(ctx.clone(), "window".into(), builder);
        let bar = theme::bar();
        egui::Panel::top("top bar").frame(bar).exact_size(top_bar::HEIGHT).show(&mut window, |ui| {
            views::draw_with(world, ui, top_bar::draw);
        });
        egui::Panel::bottom("time bar").frame(bar).exact_size(time_bar::HEIGHT).show(&mut window, |ui| {
            views::draw_with(world, ui, time_bar::draw);
        });
        egui::CentralPanel::no_frame().show(&mut window, |ui| dock::show(world, ui));
    } else if let Some(view) = only.and_then(|id| world.resource::<views::Views>().get(id).copied()) {
        let builder = egui::UiBuilder::new().layer_id(egui::LayerId::background()).max_rect(ctx.content_rect());
        (view.draw)(world, &mut egui::Ui::new(ctx.clone(), "view".into(), builder));
    } else {
        if !visible {
            world.resource_mut::<dock::Focus>().take_back();
        }
        views::alone(world, &ctx);
    }
    if world.resource::<grouping_editor::GroupingEditor>().is_open()
        && let Err(error) = world.run_system_cached_with(grouping_editor::show, ctx.clone())
    {
        tracing::error!("the grouping editor cannot be drawn: {error}");
    }
    if let Err(error) = world.run_system_cached_with(save::show, ctx.clone()) {
        tracing::error!("the card that saves cannot be drawn: {error}");
    }
    if let Err(error) = world.run_system_cached_with(super::editor::show, ctx.clone()) {
        tracing::error!("the card for the editor cannot be drawn: {error}");
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = world.run_system_cached_with(recorder_card::show, ctx.clone()) {
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
    document: Res<Document>,
    mut loading: ResMut<Loading>,
    (listening, notices): (Res<Listening>, Res<Notices>),
    cards: OtherCards,
    mut panels: ResMut<PanelState>,
    mut actions: MessageWriter<Action>,
    mut requests: MessageWriter<OpenRequest>,
) {
    let open = document.get().is_some();
    let sample = loading::sample_path();
    let answer = match loading.state() {
        loading::State::Opening { title, snapshot } => status::loading(&ctx, &title, &snapshot),
        loading::State::Failed { title, error } => status::failed(&ctx, &title, &error, open, sample.is_some()),
        loading::State::Busy { what, snapshot } => {
            status::busy(&ctx, &what, &snapshot);
            None
        }
        // The list of JVMs takes its place.
        loading::State::Idle if !open && cards.is_open() => None,
        loading::State::Idle if !open => {
            status::welcome(&ctx, sample.is_some(), listening.address().map(|(address, _)| address))
        }
        loading::State::Idle => None,
    };
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
        Some(status::Answer::OpenSample) => {
            if let Some(path) = sample {
                requests.write(OpenRequest(vec![path]));
            }
        }
        Some(status::Answer::Cancel | status::Answer::Dismiss) => {
            loading.escape();
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
