//! Keys to actions, through the table of [`super::action`]. Keys typed into a panel stay there.

use super::action::{Action, BINDINGS};
use super::app::Stage;
use super::dock::Focus;
use bevy::input::ButtonState;
use bevy::input::keyboard::{Key, KeyboardInput};
use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;

/// Turns key presses into actions.
fn keys_to_actions(
    mut events: MessageReader<KeyboardInput>,
    held: Res<ButtonInput<KeyCode>>,
    (egui, focus): (Res<EguiWantsInput>, Res<Focus>),
    mut actions: MessageWriter<Action>,
) {
    // A key that was pressed and let go within a frame was held, too: frames may take long.
    let is_held = |keys: &[KeyCode]| keys.iter().any(|&key| held.pressed(key) || held.just_pressed(key));
    let shift = is_held(&[KeyCode::ShiftLeft, KeyCode::ShiftRight]);
    let control = is_held(&[KeyCode::ControlLeft, KeyCode::ControlRight, KeyCode::SuperLeft, KeyCode::SuperRight]);
    for event in events.read() {
        if event.state != ButtonState::Pressed || egui.wants_keyboard_input() {
            continue;
        }
        // The view that has the keyboard handles some keys itself.
        if !control && focus.takes(event.key_code) {
            continue;
        }
        // Stepping may repeat while the key is held; switching may not.
        let repeats = |action: Action| matches!(action, Action::Next | Action::Previous);
        // Where `?` lies differs between keyboards, so the character decides.
        if event.logical_key == Key::Character("?".into()) {
            if !event.repeat {
                actions.write(Action::Help);
            }
            continue;
        }
        let found = BINDINGS.iter().find(|b| {
            b.keys.contains(&event.key_code) && b.control == control && (b.shift == shift || !b.shift && !b.control)
        });
        if let Some(binding) = found
            && binding.keys != [KeyCode::Slash]
            && (!event.repeat || repeats(binding.action))
        {
            actions.write(binding.action);
        }
    }
}

/// Keys to actions.
pub struct InputPlugin;

impl Plugin for InputPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Action>().add_systems(Update, keys_to_actions.in_set(Stage::Input));
    }
}
