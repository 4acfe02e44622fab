//! A frame: its stages, and whether another one has to follow.

use bevy::prelude::*;
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
    /// Values derived from the state: the thing under the mouse, the references of the selection.
    Derive,
    /// The state becomes a picture.
    Present,
}

/// Whether anything on screen changes by itself. Every animation, and every wait for a result, has to report in each frame.
#[derive(Resource, Default)]
pub struct Awake {
    pub(super) moves: bool,
    pub(super) waits: bool,
    /// After what time panels change by themselves; `None`: never.
    pub(super) panels: Option<Duration>,
}

impl Awake {
    /// Asks for the frame after this one. Callers are logged: `RUST_LOG=memory_city=trace` says why a window is awake.
    #[track_caller]
    pub fn keep_if(&mut self, moving: bool) {
        if moving {
            tracing::trace!("moves: {}", std::panic::Location::caller());
        }
        self.moves |= moving;
    }

    /// Asks for a frame after a time, for panels; [`Duration::MAX`] asks for none.
    pub(super) fn panels_after(&mut self, delay: Duration) {
        self.panels = Some(delay).filter(|delay| *delay < Duration::MAX);
    }

    /// Whether work goes on of which the frames since the last call show the progress.
    pub(super) fn has_waited(&mut self) -> bool {
        std::mem::take(self).waits
    }

    /// Asks for some frames a second, to show the progress of work. Its end brings a frame by itself ([`super::job::when_one_ends`]).
    /// Drawing all frames would take the processor from the work.
    #[track_caller]
    pub fn wait_if(&mut self, waiting: bool) {
        if waiting {
            tracing::trace!("waits: {}", std::panic::Location::caller());
        }
        self.waits |= waiting;
    }
}

/// The systems that turn the state into a picture.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub struct Drawn;
