//! Puts the viewer together: which plugins, which systems in which order, for a window or without one.

use super::action::Action;
use super::clock::{Clock, run_clock};
use super::fly::{self, CameraRig};
use super::input::keys_to_actions;
use super::live::{self, Listening};
use super::loading::{self, Loading, OpenRequest};
use super::notices::{Notices, fade_notices};
use super::panels::PanelsPlugin;
use super::picking::{Pointer, pick};
use super::present::{ConeCount, present};
use super::scene::{ScenePlugin, city_camera};
use super::screenshot;
use super::selection::{References, Selection, selection_actions, update_references};
use super::settings::Settings;
use super::shown::Shown;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::view::Msaa;
use bevy::window::{ExitCondition, PresentMode, WindowResolution};
use bevy::winit::{UpdateMode, WinitPlugin, WinitSettings};
use std::path::PathBuf;
use std::time::Duration;

/// The stages of a frame, in order.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Keys and buttons become actions.
    Input,
    /// Inputs are opened, finished work is taken.
    Load,
    /// Actions change time, selection, settings, camera.
    Act,
    /// What the mouse points at; what the selection refers to.
    Derive,
    /// The state becomes a scene.
    Present,
}

/// Everything a city needs but a window.
pub struct CityPlugin;

impl Plugin for CityPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((ScenePlugin, PanelsPlugin))
            .init_resource::<Shown>()
            .init_resource::<Settings>()
            .init_resource::<Clock>()
            .init_resource::<Selection>()
            .init_resource::<References>()
            .init_resource::<Loading>()
            .init_resource::<Listening>()
            .init_resource::<Notices>()
            .init_resource::<Pointer>()
            .init_resource::<CameraRig>()
            .init_resource::<ConeCount>()
            .add_message::<Action>()
            .add_message::<OpenRequest>()
            .configure_sets(Update, (Stage::Input, Stage::Load, Stage::Act, Stage::Derive, Stage::Present).chain())
            .add_systems(
                Update,
                (
                    keys_to_actions.in_set(Stage::Input),
                    (loading::start_opening, loading::take_cities, live::switch_listening, live::follow_live)
                        .chain()
                        .in_set(Stage::Load),
                    (fly::follow_size, fly::view_actions, fly::fly, run_clock, selection_actions, live::move_buildings)
                        .chain()
                        .in_set(Stage::Act),
                    (pick, update_references, fade_notices).chain().in_set(Stage::Derive),
                    (present, super::trail::log_changes).chain().in_set(Stage::Present),
                ),
            );
    }
}

/// Opens the window on `paths`, or on the bundled sample when there are none, and listens if asked to. Returns when the
/// window is closed.
pub fn run(paths: Vec<PathBuf>, settings: Settings, listen: Option<live::ListenOptions>) -> AppExit {
    let mut app = App::new();
    app.add_plugins(DefaultPlugins.build().disable::<LogPlugin>().set(render_plugin()).set(WindowPlugin {
        primary_window: Some(Window {
            title: "Memory City".to_owned(),
            name: Some("memory-city".to_owned()),
            resolution: WindowResolution::new(1440, 900),
            present_mode: PresentMode::AutoVsync,
            ..default()
        }),
        ..default()
    }))
    .add_plugins(CityPlugin)
    .insert_resource(settings)
    .insert_resource(ClearColor(Color::srgb(0.05, 0.07, 0.11)))
    .add_systems(Startup, spawn_window_camera)
    .add_systems(
        Update,
        (loading::title_window, screenshot::save_on_request, rest_when_nothing_moves).in_set(Stage::Derive),
    );
    let listens = listen.is_some();
    app.insert_resource(Listening::at_once(listen));
    let first = if paths.is_empty() && !listens {
        loading::sample_path().map(|p| vec![p])
    } else {
        Some(paths).filter(|paths| !paths.is_empty())
    };
    if let Some(paths) = first {
        app.world_mut().write_message(OpenRequest(paths));
    }
    app.run()
}

/// An app without window or display that draws into images.
pub fn headless() -> App {
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .build()
            .disable::<LogPlugin>()
            .disable::<WinitPlugin>()
            .disable::<PipelinedRenderingPlugin>()
            .set(render_plugin())
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() }),
    )
    .add_plugins(CityPlugin);
    app
}

/// The native graphics interfaces, and the others only where those offer nothing.
pub(super) fn backends() -> wgpu::Backends {
    let native = wgpu::Backends::PRIMARY;
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = native;
    let instance = wgpu::Instance::new(descriptor);
    let found = bevy::tasks::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    if found.is_ok() { native } else { wgpu::Backends::all() }
}

fn render_plugin() -> RenderPlugin {
    let settings = bevy::render::settings::WgpuSettings { backends: Some(backends()), ..default() };
    RenderPlugin { render_creation: settings.into(), synchronous_pipeline_compilation: true, ..default() }
}

fn spawn_window_camera(mut commands: Commands, adapter: Res<RenderAdapterInfo>, mut settings: ResMut<Settings>) {
    let software = adapter.device_type == wgpu::DeviceType::Cpu;
    tracing::info!("drawing with {} ({:?}, {:?})", adapter.name, adapter.device_type, adapter.backend);
    if software {
        // A processor that draws: every sample and every shadow costs what a graphics card gives for free.
        settings.shadows = false;
    }
    commands.spawn(city_camera(if software { Msaa::Off } else { Msaa::Sample4 }));
}

/// Frames are drawn only while something changes: a city that rests costs nothing.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn rest_when_nothing_moves(
    clock: Res<Clock>,
    rig: Res<CameraRig>,
    loading: Res<Loading>,
    references: Res<References>,
    (notices, listening): (Res<Notices>, Res<Listening>),
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    time: Res<Time>,
    mut events: MessageReader<bevy::window::WindowEvent>,
    mut settle: Local<f32>,
    mut winit: ResMut<WinitSettings>,
) {
    let input = events.read().count() > 0 || keys.get_pressed().len() > 0 || buttons.get_pressed().len() > 0;
    let busy = clock.moving()
        || rig.moving()
        || loading.active()
        || listening.active()
        || references.pending()
        || !notices.is_empty();
    if input || busy {
        // Panels fade and scroll on for a moment after the last event.
        *settle = 0.6;
    } else {
        *settle = (*settle - time.delta_secs()).max(0.0);
    }
    let mode =
        if *settle > 0.0 { UpdateMode::Continuous } else { UpdateMode::reactive_low_power(Duration::from_secs(60)) };
    if winit.focused_mode != mode {
        winit.focused_mode = mode;
        winit.unfocused_mode = mode;
    }
}
