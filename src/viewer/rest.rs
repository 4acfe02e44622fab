//! When the next frame is drawn: at once while something moves, later for what is awaited, and not at all at rest.

use super::frame::Awake;
use super::live::WindowWaker;
use bevy::prelude::*;
use bevy::window::{RequestRedraw, WindowEvent};
use bevy::winit::{EventLoopProxyWrapper, UpdateMode, WinitSettings};
use bevy_egui::{EguiFullOutput, EguiPostUpdateSet};
use std::time::Duration;

/// Time between frames that show the progress of something.
const WAITING: Duration = Duration::from_millis(100);
/// Time between frames until panels change by themselves: a third of what a tooltip takes to come. A wait that differed from frame to
/// frame would bring a frame each time.
const TOOLTIP: Duration = Duration::from_millis(170);
/// Time between frames at rest.
const RESTING: Duration = Duration::from_secs(60);
/// FramesLeft after the last change: it is drawn in one, submitted in the next, then shown.
const SHOWN: u32 = 3;

/// Draws frames only while something changes: a window at rest costs nothing.
pub(super) struct RestPlugin;

impl Plugin for RestPlugin {
    fn build(&self, app: &mut App) {
        let after_panels =
            when_panels_change.after(EguiPostUpdateSet::EndPass).before(EguiPostUpdateSet::ProcessOutput);
        app.add_systems(Startup, wake_for_results)
            .add_systems(PostUpdate, after_panels)
            .add_systems(Last, rest_when_nothing_moves);
    }
}

/// A window that only waits draws few frames: it hears of the end of work at once.
fn wake_for_results(proxy: Option<Res<EventLoopProxyWrapper>>) {
    let waker = WindowWaker::of(proxy.as_deref());
    super::job::when_one_ends(move || waker.wake());
}

/// Notes when panels need a frame: at once while they fade and scroll, later for a tooltip.
fn when_panels_change(outputs: Query<&EguiFullOutput>, mut awake: ResMut<Awake>) {
    let outputs = outputs.iter().filter_map(|output| output.0.as_ref());
    let delays = outputs.flat_map(|output| output.viewport_output.values()).map(|viewport| viewport.repaint_delay);
    awake.panels_after(delays.min().unwrap_or(Duration::MAX));
}

/// FramesLeft until a window rests.
#[derive(Default)]
struct FramesLeft {
    /// At full speed.
    moving: u32,
    /// At any speed.
    left: u32,
    drawn: u64,
    rests: bool,
}

fn rest_when_nothing_moves(
    mut awake: ResMut<Awake>,
    (keys, buttons): (Res<ButtonInput<KeyCode>>, Res<ButtonInput<MouseButton>>),
    mut events: MessageReader<WindowEvent>,
    mut requests: ResMut<Messages<RequestRedraw>>,
    mut winit: ResMut<WinitSettings>,
    mut frames: Local<FramesLeft>,
) {
    let input = events.read().count() > 0 || keys.get_pressed().len() > 0 || buttons.get_pressed().len() > 0;
    let Awake { moves, waits, panels } = std::mem::take(&mut *awake);
    // A tooltip that is to come later asks for a frame at once.
    requests.clear();
    let next = |is_new: bool, left: u32| if is_new { SHOWN } else { left.saturating_sub(1) };
    frames.moving = next(input || moves || panels.is_some_and(|delay| delay.is_zero()), frames.moving);
    frames.left = next(frames.moving == SHOWN || waits, frames.left);
    frames.drawn += 1;
    let rests = frames.left == 0 && panels.is_none();
    if frames.rests != rests {
        frames.rests = rests;
        tracing::debug!("{}: {} frames so far", if rests { "at rest" } else { "awake" }, frames.drawn);
    } else if rests {
        // As far as is known here there are none but one a minute.
        tracing::debug!("drawn while resting: {} frames so far", frames.drawn);
    }
    let mode = match () {
        () if frames.moving > 0 || frames.left > 0 && !waits => UpdateMode::Continuous,
        () if waits => UpdateMode::reactive_low_power(WAITING),
        () if panels.is_some() => UpdateMode::reactive_low_power(TOOLTIP),
        () => UpdateMode::reactive_low_power(RESTING),
    };
    if winit.focused_mode != mode {
        winit.focused_mode = mode;
        winit.unfocused_mode = mode;
    }
}
