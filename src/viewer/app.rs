//! Assembly of the viewer: its plugins and the order of their stages, for a window or without one.

use super::bookmarks::BookmarksPlugin;
use super::comparison::{CompareWish, ComparisonPlugin, OpenComparison};
use super::dock::DockPlugin;
use super::document::DocumentPlugin;
use super::finding::FindingPlugin;
use super::frame::{Awake, Drawn, Stage};
use super::live::{ListenOptions, Listening, LivePlugin};
use super::loading::{self, Loading, LoadingPlugin, OpenRequest};
use super::notices::NoticesPlugin;
use super::owners::OwnersPlugin;
use super::palette::PalettePlugin;
use super::panels::PanelState;
use super::panels::screen::PanelsPlugin;
use super::root_paths::RootPathsPlugin;
use super::run::RunPlugin;
use super::saved_settings::OthersSettings;
use super::scene::ScenePlugin;
use super::screenshot::ScreenshotPlugin;
use super::search::SearchPlugin;
use super::selection::SelectionPlugin;
use super::settings::{Settings, SettingsPlugin};
use super::sites::SitesPlugin;
use super::view::Views;
use super::view_file::{self, AwaitedView};
use super::views::{self, ViewsPlugin};
use super::window::{WindowPlugin, WindowSize};
use super::{clock::ClockPlugin, input::InputPlugin, trail};
use crate::saved_view::ViewReach;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use std::path::PathBuf;

/// Everything a document and its views need but a window.
pub struct ViewerPlugin {
    /// The views that there are.
    pub views: Views,
}

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
                RootPathsPlugin,
                RunPlugin,
                ScenePlugin,
                PanelsPlugin,
                DockPlugin,
                ViewsPlugin(self.views.clone()),
                SearchPlugin,
                BookmarksPlugin,
                PalettePlugin,
            ))
            .add_systems(Update, (trail::log_input, trail::log_changes).chain().in_set(Stage::Present).after(Drawn));
    }
}

/// Opens the window on `paths`; without any, the start card over the bundled sample. Compares them with `compare` and listens, if given.
/// Returns when the window is closed.
pub fn run(
    (paths, reach): (Vec<PathBuf>, ViewReach),
    settings: Settings,
    listen: Option<ListenOptions>,
    compare: Option<CompareWish>,
) -> AppExit {
    super::keys::read();
    let size = WindowSize(super::saved_settings::window_size());
    let mut app = window(views::all(), size);
    let listens = listen.is_some();
    let is_sample = paths.is_empty() && !listens;
    app.add_plugins((super::remembered::RememberedPlugin, super::recent::RecentPlugin))
        .insert_resource(settings)
        .insert_resource(PanelState {
            visible: super::saved_settings::panels(),
            start: is_sample && compare.is_none(),
            ..PanelState::default()
        })
        .add_systems(Startup, (super::dock::restore_layout, super::window::say_where_panels_are))
        .add_systems(
            Last,
            (
                super::dock::keep_layout,
                super::saved_settings::keep,
                super::saved_settings::keep_window,
                super::saved_settings::keep_panels,
            ),
        );
    app.insert_resource(Listening::at_once(listen));
    let first = match is_sample {
        true => loading::sample_path().map(|path| vec![path.to_path_buf()]),
        false => Some(paths).filter(|paths| !paths.is_empty()),
    };
    app.world_mut().resource_mut::<OpenComparison>().with_next = compare;
    if let Some(paths) = first {
        if reach == ViewReach::Anywhere {
            app.world_mut().resource_mut::<Loading>().allow_view(&paths);
        }
        app.world_mut().write_message(OpenRequest(paths));
    }
    app.run()
}

/// A window with some views and no document, which knows nothing of earlier runs. [`OpenRequest`] opens one.
pub fn window(views: Views, size: WindowSize) -> App {
    let mut app = App::new();
    let plugins = DefaultPlugins.build().disable::<LogPlugin>().set(render_plugin());
    app.add_plugins(plugins.set(bevy::window::WindowPlugin { primary_window: Some(size.window()), ..default() }))
        .add_plugins((ViewerPlugin { views }, WindowPlugin, super::rest::RestPlugin))
        .insert_resource(size);
    app
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
            .set(bevy::window::WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            }),
    )
    .add_plugins(ViewerPlugin { views: views::all() });
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
