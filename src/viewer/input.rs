//! Translation of keys to actions, through the table of [`super::action`] and [`super::keys`]. Keys typed into a text field stay there.

use super::action::Action;
use super::dock::Focus;
use super::frame::Stage;
use super::keys::Chord;
use super::panels::Typing;
use bevy::input::ButtonState;
use bevy::input::keyboard::{Key, KeyboardInput};
use bevy::prelude::*;
use std::collections::HashSet;

/// Shift, Control, Alt. The other Alt key is a shift on many keyboards.
const MODIFIERS: [KeyCode; 7] = [
    KeyCode::ShiftLeft,
    KeyCode::ShiftRight,
    KeyCode::ControlLeft,
    KeyCode::ControlRight,
    KeyCode::SuperLeft,
    KeyCode::SuperRight,
    KeyCode::AltLeft,
];

/// Whether letters of this frame may be those of a command: Control is held, or was within it.
pub fn is_command(keys: &ButtonInput<KeyCode>) -> bool {
    let control = &MODIFIERS[2..6];
    control.iter().any(|&key| keys.pressed(key) || keys.just_pressed(key) || keys.just_released(key))
}

/// Turns key presses into actions.
fn keys_to_actions(
    mut events: MessageReader<KeyboardInput>,
    held: Res<ButtonInput<KeyCode>>,
    (typing, focus): (Res<Typing>, Res<Focus>),
    mut actions: MessageWriter<Action>,
    mut modifiers: Local<HashSet<KeyCode>>,
) {
    for event in events.read() {
        // In the order in which they came: within a slow frame a modifier is pressed, used and let go.
        if MODIFIERS.contains(&event.key_code) {
            match event.state {
                ButtonState::Pressed => modifiers.insert(event.key_code),
                ButtonState::Released => modifiers.remove(&event.key_code),
            };
        }
        let is_held = |keys: &[KeyCode]| keys.iter().any(|key| modifiers.contains(key));
        let shift = is_held(&MODIFIERS[..2]);
        let control = is_held(&MODIFIERS[2..6]);
        let alt = is_held(&MODIFIERS[6..]);
        // The way back is there while somebody writes, too.
        let home = control && event.key_code == KeyCode::Home;
        if event.state != ButtonState::Pressed || typing.takes(event.key_code) && !home {
            continue;
        }
        // The view that has the keyboard handles some keys itself.
        if !control && !alt && focus.takes(event.key_code) {
            continue;
        }
        // Stepping may repeat while the key is held; switching may not.
        let repeats = |action: Action| matches!(action, Action::Next | Action::Previous);
        // Of `?` the character decides, not the key.
        let question = event.logical_key == Key::Character("?".into());
        let (key, shift) = if question { (Chord::QUESTION.key, true) } else { (event.key_code, shift) };
        let elsewhere = !question && key == Chord::QUESTION.key;
        if let Some(action) = super::keys::map().action(key, (shift, control, alt))
            && !elsewhere
            && (!event.repeat || repeats(action))
        {
            actions.write(action);
        }
    }
    // Who let go while another window had the keyboard did not say so.
    modifiers.retain(|key| held.pressed(*key));
}

/// Keys to actions.
pub struct InputPlugin;

impl Plugin for InputPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Action>().add_systems(Update, keys_to_actions.in_set(Stage::Input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters of Ctrl+D and the like also move the camera where they are alone.
    #[test]
    fn commands_are_told_from_letters_also_within_one_slow_frame() {
        let mut keys = ButtonInput::default();
        keys.press(KeyCode::KeyD);
        assert!(!is_command(&keys));
        keys.press(KeyCode::ControlLeft);
        assert!(is_command(&keys));
        keys.release(KeyCode::KeyD);
        keys.release(KeyCode::ControlLeft);
        assert!(is_command(&keys), "it was held when the letter came");
        keys.clear();
        keys.press(KeyCode::KeyD);
        assert!(!is_command(&keys));
    }

    /// Actions of keys that all come within one frame, in their order: `+` is pressed, `-` is let go, `?` comes as a character.
    fn done(keys: &[(char, KeyCode)]) -> Vec<Action> {
        let mut app = App::new();
        app.add_message::<KeyboardInput>()
            .add_message::<Action>()
            .init_resource::<ButtonInput<KeyCode>>()
            .init_resource::<Typing>()
            .init_resource::<Focus>()
            .add_systems(Update, keys_to_actions);
        for &(what, key_code) in keys {
            app.world_mut().write_message(KeyboardInput {
                key_code,
                logical_key: match what {
                    '?' => Key::Character("?".into()),
                    _ => Key::Unidentified(bevy::input::keyboard::NativeKey::Unidentified),
                },
                state: if what == '-' { ButtonState::Released } else { ButtonState::Pressed },
                text: None,
                repeat: false,
                window: Entity::PLACEHOLDER,
            });
        }
        app.update();
        app.world_mut().resource_mut::<Messages<Action>>().drain().collect()
    }

    /// On a German keyboard `?` is beside the zero, and the key that has it elsewhere is a dash.
    #[test]
    fn a_question_mark_asks_wherever_it_lies() {
        let shift = ('+', KeyCode::ShiftLeft);
        assert_eq!(done(&[shift, ('?', KeyCode::Minus)]), [Action::Help]);
        assert_eq!(done(&[shift, ('?', KeyCode::Slash)]), [Action::Help]);
        assert_eq!(done(&[shift, ('+', KeyCode::Slash)]), []);
        assert_eq!(done(&[('+', KeyCode::Slash)]), []);
    }

    #[test]
    fn keys_of_one_slow_frame_do_what_they_do_one_by_one() {
        let map = crate::viewer::keys::map();
        let alone = |key| map.action(key, (false, false, false)).into_iter().collect::<Vec<_>>();
        let commanded = |key| map.action(key, (false, true, false)).into_iter().collect::<Vec<_>>();
        for key in [KeyCode::KeyO, KeyCode::KeyF, KeyCode::KeyG] {
            assert_ne!(commanded(key), alone(key), "{key:?} tells them apart");
            let control = KeyCode::ControlLeft;
            let held = [('+', control), ('+', key), ('-', key), ('-', control)];
            assert_eq!(done(&held), commanded(key), "{key:?}");
            // Control is let go before the letter comes, and pressed after it was let go.
            assert_eq!(done(&[('+', control), ('-', control), ('+', key), ('-', key)]), alone(key), "{key:?}");
            assert_eq!(done(&[('+', key), ('-', key), ('+', control), ('-', control)]), alone(key), "{key:?}");
        }
    }
}
