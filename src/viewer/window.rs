//! The window: its title and its camera, its size and that of its text. The window fits the screen, and keeps its size between runs. The
//! text's size follows the height of the screen unless a person sets it.
//!
//! Text is scaled by the window's own scale factor, so that everything that counts in points of the screen agrees.

use super::action::Action;
use super::city::Sharpness;
use super::document::Document;
use super::frame::Stage;
use super::keys;
use super::notices::Notices;
use super::panels::PanelState;
use super::scene::city_camera;
use super::settings::Settings;
use bevy::prelude::*;
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::view::Msaa;
use bevy::window::{Monitor, PresentMode, PrimaryMonitor, PrimaryWindow, WindowResolution};
use memory_city_heap::printable::line_text;

const NAME: &str = "Memory City";

/// The first size, pixels of a screen that is not scaled.
const FIRST: (u32, u32) = (1440, 900);
/// The smallest window that is asked for, points.
const LEAST: Vec2 = Vec2::new(480.0, 320.0);
/// Height of a screen, points, for which text was designed.
const DESIGNED_FOR: f32 = 1080.0;
/// Sizes of text that there are, in percent.
const STEPS: [u32; 12] = [50, 67, 75, 90, 100, 110, 125, 150, 175, 200, 250, 300];

/// The kept size of the window, physical pixels; `None` before the first choice.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowSize(pub Option<(u32, u32)>);

impl WindowSize {
    /// A window of this size, before the screen is known.
    pub(super) fn window(self) -> Window {
        let first = self.0.unwrap_or(FIRST);
        Window {
            title: NAME.to_owned(),
            name: Some("memory-city".to_owned()),
            resolution: WindowResolution::new(first.0, first.1),
            present_mode: PresentMode::AutoVsync,
            ..default()
        }
    }
}

/// Default scale of text on a screen of this height, points: 1 up to 1080, 2 at 2160; in steps of a quarter.
pub fn own_scale(height: f32) -> f32 {
    let scale = (height / DESIGNED_FOR * 4.0).floor() / 4.0;
    if scale.is_finite() { scale.clamp(1.0, 3.0) } else { 1.0 }
}

/// The size of a window on a screen, both in pixels: the kept size, else most of the screen; never larger than the screen. And whether it
/// wanted to be larger.
pub fn fitting(kept: Option<(u32, u32)>, screen: (u32, u32)) -> ((u32, u32), bool) {
    let first = |first: u32, screen: u32| first.max((f64::from(screen) * 0.8) as u32);
    let wanted = kept.unwrap_or((first(FIRST.0, screen.0), first(FIRST.1, screen.1)));
    let size = (wanted.0.clamp(1, screen.0.max(1)), wanted.1.clamp(1, screen.1.max(1)));
    (size, size != wanted)
}

/// The next size of text, larger or smaller.
fn step(now: f32, larger: bool) -> f32 {
    let now = (now * 100.0).round() as u32;
    let found = match larger {
        true => STEPS.iter().find(|step| **step > now).or(STEPS.last()),
        false => STEPS.iter().rev().find(|step| **step < now).or(STEPS.first()),
    };
    found.map_or(1.0, |percent| *percent as f32 / 100.0)
}

/// Fits the window to the screen once that is known, and scales its content.
fn fit(
    mut windows: Query<&mut Window, With<PrimaryWindow>>,
    monitors: Query<(&Monitor, Has<PrimaryMonitor>)>,
    kept: Res<WindowSize>,
    settings: Res<Settings>,
    mut fitted: Local<bool>,
) {
    let Ok(mut window) = windows.single_mut() else { return };
    let screen = monitors.iter().max_by_key(|(_, primary)| *primary).map(|(monitor, _)| monitor);
    if let Some(screen) = screen.filter(|_| !*fitted) {
        *fitted = true;
        let (size, full) = fitting(kept.0, (screen.physical_width, screen.physical_height));
        if (window.resolution.physical_width(), window.resolution.physical_height()) != size {
            window.resolution.set_physical_resolution(size.0, size.1);
        }
        if full {
            // With bars of the desktop around it there is less room than the screen has.
            window.set_maximized(true);
        }
        window.resize_constraints.min_width = LEAST.x;
        window.resize_constraints.min_height = LEAST.y;
        tracing::debug!("window: {}x{} on {}x{}", size.0, size.1, screen.physical_width, screen.physical_height);
    }
    let base = window.resolution.base_scale_factor();
    let own = screen.map_or(1.0, |screen| own_scale(screen.physical_height as f32 / base));
    let scale = settings.ui_scale.unwrap_or(own) * base;
    let wanted = Some(scale).filter(|scale| (scale - base).abs() > 1e-3);
    if window.resolution.scale_factor_override() != wanted {
        window.resolution.set_scale_factor_override(wanted);
        tracing::debug!("scale: {scale}");
    }
}

/// The actions that change the size of text.
fn scale_actions(
    mut actions: MessageReader<Action>,
    mut settings: ResMut<Settings>,
    mut notices: ResMut<Notices>,
    windows: Query<&Window, With<PrimaryWindow>>,
) {
    let Ok(window) = windows.single() else {
        actions.clear();
        return;
    };
    for action in actions.read() {
        let now = settings.ui_scale.unwrap_or(window.resolution.scale_factor() / window.resolution.base_scale_factor());
        settings.ui_scale = match action {
            Action::Larger => Some(step(now, true)),
            Action::Smaller => Some(step(now, false)),
            Action::OwnScale => None,
            _ => continue,
        };
        notices.tell(match settings.ui_scale {
            Some(scale) => format!("Text and panels: {:.0} %", 100.0 * scale),
            None => "Text and panels: by the height of the screen".to_owned(),
        });
    }
}

/// Reminds a user who left the window without panels of the way to bring them back.
pub(super) fn say_where_panels_are(panels: Res<PanelState>, mut notices: ResMut<Notices>) {
    if !panels.visible {
        notices.tell(format!(
            "The panels are hidden, as they were when the window was closed: {} shows them",
            keys::key(Action::Panels)
        ));
    }
}

fn spawn_camera(
    mut commands: Commands,
    adapter: Res<RenderAdapterInfo>,
    mut settings: ResMut<Settings>,
    mut sharpness: ResMut<Sharpness>,
) {
    let software = adapter.device_type == wgpu::DeviceType::Cpu;
    tracing::info!("drawing with {} ({:?}, {:?})", adapter.name, adapter.device_type, adapter.backend);
    if software {
        // A processor that draws: every sample and every shadow costs what a graphics card gives for free.
        settings.shadows &= super::saved_settings::knows_shadows();
        sharpness.moving = Sharpness::SOFTWARE;
    }
    commands.spawn(city_camera(if software { Msaa::Off } else { Msaa::Sample4 }));
}

/// Sets the title to that of the document.
fn title(document: Res<Document>, mut windows: Query<&mut Window>) {
    let title = document.get().map_or(NAME.to_owned(), |open| format!("{} · {NAME}", line_text(&open.title)));
    for mut window in &mut windows {
        if window.title != title {
            window.title.clone_from(&title);
        }
    }
}

/// The camera and the title of a window, and its size and that of its text.
pub struct WindowPlugin;

impl Plugin for WindowPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<WindowSize>()
            .insert_resource(ClearColor(Color::srgb(0.05, 0.07, 0.11)))
            .add_systems(Startup, spawn_camera)
            .add_systems(Update, (scale_actions, fit).chain().in_set(Stage::Act))
            .add_systems(Update, title.in_set(Stage::Derive).run_if(resource_changed::<Document>));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_fit_the_screen_and_come_back() {
        assert_eq!(fitting(None, (1280, 720)), ((1280, 720), true));
        assert_eq!(fitting(None, (1440, 900)), ((1440, 900), false));
        assert_eq!(fitting(None, (1920, 1080)), ((1536, 900), false));
        assert_eq!(fitting(None, (3840, 2160)), ((3072, 1728), false));
        assert_eq!(fitting(Some((900, 600)), (1920, 1080)), ((900, 600), false));
        assert_eq!(fitting(Some((3000, 600)), (1920, 1080)), ((1920, 600), true));
    }

    #[test]
    fn text_is_twice_as_large_on_a_screen_twice_as_high() {
        for (height, scale) in
            [(600.0, 1.0), (1080.0, 1.0), (1200.0, 1.0), (1440.0, 1.25), (2160.0, 2.0), (f32::NAN, 1.0)]
        {
            assert!((own_scale(height) - scale).abs() < 1e-6, "{height}");
        }
        assert!((step(1.0, true) - 1.1).abs() < 1e-6 && (step(1.0, false) - 0.9).abs() < 1e-6);
        assert!((step(3.0, true) - 3.0).abs() < 1e-6 && (step(0.5, false) - 0.5).abs() < 1e-6);
    }
}
