//! Puts the viewer together: which plugins, which stages in which order, for a window or without one.

use super::action::Action;
use super::bookmarks::BookmarksPlugin;
use super::comparison::{CompareWish, ComparisonPlugin, OpenComparison};
use super::dock::DockPlugin;
use super::document::{Document, DocumentPlugin};
use super::finding::FindingPlugin;
use super::kept_settings::OthersSettings;
use super::live::{self, Listening, LivePlugin};
use super::loading::{self, LoadingPlugin, OpenRequest};
use super::notices::{Notices, NoticesPlugin};
use super::owners::OwnersPlugin;
use super::palette::PalettePlugin;
use super::panels::{PanelState, PanelsPlugin};
use super::run::RunPlugin;
use super::scene::{ScenePlugin, city_camera};
use super::screenshot::ScreenshotPlugin;
use super::search::SearchPlugin;
use super::selection::SelectionPlugin;
use super::settings::{Settings, SettingsPlugin};
use super::sites::SitesPlugin;
use super::view_file::{self, AwaitedView};
use super::views::{Sharpness, ViewsPlugin};
use super::ways::WaysPlugin;
use super::{clock::ClockPlugin, input::InputPlugin, keys, trail};
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::view::Msaa;
use bevy::window::{ExitCondition, PresentMode, WindowResolution};
use bevy::winit::{EventLoopProxyWrapper, UpdateMode, WinitPlugin, WinitSettings};
use std::path::PathBuf;
use std::time::Duration;

/// The stages of a frame, in order.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Keys and buttons become actions.
    Input,
    /// Inputs are opened, finished work is taken: the document changes here and nowhere else.
    Load,
    /// Actions change time, selection, settings, camera.
    Act,
    /// What the mouse points at; what the selection refers to.
    Derive,
    /// The state becomes a picture.
    Present,
}

/// Whether anything on screen changes by itself. Whoever animates or waits for a result says so in each frame.
#[derive(Resource, Default)]
pub struct Awake {
    moves: bool,
    waits: bool,
}

impl Awake {
    /// Asks for the frame after this one.
    pub fn keep_if(&mut self, moving: bool) {
        self.moves |= moving;
    }

    /// Whether work goes on of which the frames since the last call show the progress.
    pub(super) fn has_waited(&mut self) -> bool {
        std::mem::take(self).waits
    }

    /// Asks for some frames a second: work goes on whose progress is shown. Its end brings a frame by itself ([`super::job::when_one_ends`]);
    /// were all frames drawn, they would take the processor from what they wait for.
    pub fn wait_if(&mut self, waiting: bool) {
        self.waits |= waiting;
    }
}

/// Time between frames that show the progress of something.
const WAITING: Duration = Duration::from_millis(100);

/// Everything a document and its views need but a window.
pub struct ViewerPlugin;

impl Plugin for ViewerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Awake>()
            .init_resource::<AwaitedView>()
            .init_resource::<OthersSettings>()
            .add_systems(Update, view_file::show_awaited.in_set(Stage::Act))
            .configure_sets(Update, (Stage::Input, Stage::Load, Stage::Act, Stage::Derive, Stage::Present).chain());
        #[cfg(target_os = "linux")]
        app.add_plugins(super::recording::RecordingPlugin);
        app.add_plugins((super::editor::EditorPlugin, ScreenshotPlugin));
        app.add_plugins((SettingsPlugin, DocumentPlugin, ClockPlugin, SelectionPlugin, NoticesPlugin, InputPlugin))
            .add_plugins((
                LoadingPlugin,
                LivePlugin,
                ComparisonPlugin,
                FindingPlugin,
                (OwnersPlugin, SitesPlugin),
                WaysPlugin,
                RunPlugin,
                ScenePlugin,
                PanelsPlugin,
                DockPlugin,
                ViewsPlugin,
                SearchPlugin,
                BookmarksPlugin,
                PalettePlugin,
            ))
            .add_systems(
                Update,
                (trail::log_input, trail::log_changes).chain().in_set(Stage::Present).after(super::views::Drawn),
            );
    }
}

/// Opens the window on `paths`, or on the bundled sample when there are none, beside what `compare` says if that is given, and listens
/// if asked to. Returns when the window is closed.
pub fn run(
    paths: Vec<PathBuf>,
    settings: Settings,
    listen: Option<live::ListenOptions>,
    compare: Option<CompareWish>,
) -> AppExit {
    super::keys::read();
    let mut app = App::new();
    let size = super::kept_settings::window_size();
    let first = size.0.unwrap_or(super::window::FIRST);
    app.add_plugins(DefaultPlugins.build().disable::<LogPlugin>().set(render_plugin()).set(WindowPlugin {
        primary_window: Some(Window {
            title: "Memory City".to_owned(),
            name: Some("memory-city".to_owned()),
            resolution: WindowResolution::new(first.0, first.1),
            present_mode: PresentMode::AutoVsync,
            ..default()
        }),
        ..default()
    }))
    .add_plugins(ViewerPlugin)
    .add_plugins((super::window::WindowPlugin, super::remembered::RememberedPlugin))
    .insert_resource(size)
    .insert_resource(settings)
    .insert_resource(ClearColor(Color::srgb(0.05, 0.07, 0.11)))
    .insert_resource(PanelState { visible: super::kept_settings::panels(), ..PanelState::default() })
    .add_systems(Startup, (wake_for_results, spawn_window_camera, super::dock::restore_layout, say_where_panels_are))
    .add_systems(Update, title_window.in_set(Stage::Derive))
    .add_systems(
        Last,
        (
            super::dock::keep_layout,
            super::kept_settings::keep,
            super::kept_settings::keep_window,
            super::kept_settings::keep_panels,
            rest_when_nothing_moves,
        ),
    );
    let listens = listen.is_some();
    app.insert_resource(Listening::at_once(listen));
    let first = if paths.is_empty() && !listens {
        loading::sample_path().map(|p| vec![p])
    } else {
        Some(paths).filter(|paths| !paths.is_empty())
    };
    app.world_mut().resource_mut::<OpenComparison>().with_next = compare;
    if let Some(paths) = first {
        app.world_mut().write_message(OpenRequest(paths));
    }
    app.run()
}

/// An app without window or display that draws into images.
pub(super) fn headless() -> App {
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
    .add_plugins(ViewerPlugin);
    app
}

/// The native graphics interfaces, and the others only where those offer nothing.
fn backends() -> wgpu::Backends {
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

/// A window that only waits draws few frames: it hears of the end of work at once.
fn wake_for_results(proxy: Option<Res<EventLoopProxyWrapper>>) {
    let waker = live::WindowWaker::of(proxy.as_deref());
    super::job::when_one_ends(move || waker.wake());
}

/// Who left the window without panels may have forgotten how they come back.
fn say_where_panels_are(panels: Res<PanelState>, mut notices: ResMut<Notices>) {
    if !panels.visible {
        notices.tell(format!(
            "The panels are hidden, as they were when the window was closed: {} shows them",
            keys::key(Action::Panels)
        ));
    }
}

fn spawn_window_camera(
    mut commands: Commands,
    adapter: Res<RenderAdapterInfo>,
    mut settings: ResMut<Settings>,
    mut sharpness: ResMut<Sharpness>,
) {
    let software = adapter.device_type == wgpu::DeviceType::Cpu;
    tracing::info!("drawing with {} ({:?}, {:?})", adapter.name, adapter.device_type, adapter.backend);
    if software {
        // A processor that draws: every sample and every shadow costs what a graphics card gives for free.
        settings.shadows &= super::kept_settings::knows_shadows();
        sharpness.moving = Sharpness::SOFTWARE;
    }
    commands.spawn(city_camera(if software { Msaa::Off } else { Msaa::Sample4 }));
}

/// Names the window after what it shows.
fn title_window(document: Res<Document>, mut windows: Query<&mut Window>, mut named: Local<Option<u64>>) {
    if *named == Some(document.revision()) {
        return;
    }
    *named = Some(document.revision());
    let title = match document.get() {
        Some(open) => format!("{} · Memory City", open.title),
        None => "Memory City".to_owned(),
    };
    for mut window in &mut windows {
        if window.title != title {
            window.title.clone_from(&title);
        }
    }
}

/// Frames are drawn only while something changes: a window at rest costs nothing.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn rest_when_nothing_moves(
    mut awake: ResMut<Awake>,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    time: Res<Time>,
    mut events: MessageReader<bevy::window::WindowEvent>,
    mut settle: Local<f32>,
    mut winit: ResMut<WinitSettings>,
    (mut frames, mut rested): (Local<u64>, Local<bool>),
) {
    let input = events.read().count() > 0 || keys.get_pressed().len() > 0 || buttons.get_pressed().len() > 0;
    let Awake { moves, waits } = std::mem::take(&mut *awake);
    if input || moves {
        // Panels fade and scroll on for a moment after the last event.
        *settle = 0.6;
    } else {
        *settle = (*settle - time.delta_secs()).max(0.0);
    }
    *frames += 1;
    let rests = *settle <= 0.0;
    if *rested != (rests && !waits) {
        *rested = rests && !waits;
        tracing::debug!("{}: {} frames so far", if *rested { "at rest" } else { "awake" }, *frames);
    } else if *rested {
        // Nobody asked for it, as far as is known here: there are none but one a minute.
        tracing::debug!("drawn while resting: {} frames so far", *frames);
    }
    let mode = match (rests, waits) {
        (false, _) => UpdateMode::Continuous,
        (true, true) => UpdateMode::reactive_low_power(WAITING),
        (true, false) => UpdateMode::reactive_low_power(Duration::from_secs(60)),
    };
    if winit.focused_mode != mode {
        winit.focused_mode = mode;
        winit.unfocused_mode = mode;
    }
}
