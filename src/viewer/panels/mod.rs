//! Panels around and over the views (egui): the bar at the top, the time bar, cards and messages, the cheat sheet. One file each. They
//! read shared state and write wishes; they compute nothing about heaps.

pub mod chosen;
pub mod compare_card;
pub mod glossary;
pub mod grouping_box;
pub mod grouping_editor;
pub mod help;
pub mod legend;
pub mod live_panel;
pub mod long_list;
pub mod numbers;
pub mod owners_panel;
#[cfg(target_os = "linux")]
pub mod recorder_card;
pub mod save;
pub mod screen;
pub mod sites_panel;
pub mod spinner;
pub mod status;
pub mod theme;
pub mod ticks;
pub mod time_bar;
pub mod tooltip;
pub mod top_bar;

use bevy::prelude::*;

/// The visible panels.
#[derive(Resource, Clone, Copy, Debug)]
pub struct PanelState {
    /// Whether there are panels; without them, caption and legend are over the city.
    pub visible: bool,
    /// The cheat sheet.
    pub help: bool,
    /// The start card over the sample, until something is chosen or done.
    pub start: bool,
    /// A picture is being made without a window: no panel that is only for using.
    pub still: bool,
    /// Leaves the city free of everything, for measuring.
    pub nothing: bool,
    /// The picture is of this view alone.
    pub only: Option<&'static str>,
}

impl Default for PanelState {
    fn default() -> Self {
        PanelState { visible: true, help: false, start: false, still: false, nothing: false, only: None }
    }
}

/// Whether a person types into a text field: it alone keeps keys for itself.
#[derive(Resource, Default)]
pub struct Typing(bool);

impl Typing {
    /// Whether a key belongs to the text: those of functions never do.
    pub fn takes(&self, key: KeyCode) -> bool {
        use KeyCode::{F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12};
        self.0 && ![F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12].contains(&key)
    }

    /// Whether a person types.
    pub fn goes_on(&self) -> bool {
        self.0
    }
}
