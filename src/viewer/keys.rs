//! Which keys do what: the table of [`super::action`], and what a person put in its place in the file `keys.json` of the folder of
//! settings. Read once, at the start, and with suspicion: what it says wrongly is told in the log, and the table stands.
//!
//! ```json
//! { "Play": ["Ctrl+P"], "Next": ["Period", "Right"], "Mark": [] }
//! ```

use super::action::{Action, BINDINGS};
use bevy::prelude::KeyCode;
use std::path::Path;
use std::sync::OnceLock;

const FILE: &str = "keys.json";
/// No such file is larger.
const MOST_BYTES: u64 = 1 << 16;

/// One key, with what is held beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    /// The key.
    pub key: KeyCode,
    /// Whether Shift must be held (otherwise it must not matter).
    pub shift: bool,
    /// Whether Control must be held.
    pub control: bool,
    /// Whether Alt must be held.
    pub alt: bool,
}

/// All chords with their actions, and how those of a person are printed.
pub struct KeyMap {
    chords: Vec<(Chord, Action)>,
    printed: Vec<(Action, String)>,
}

/// Names of keys beside letters, digits and F1 to F12.
const NAMES: [(&str, KeyCode); 21] = [
    ("space", KeyCode::Space),
    ("enter", KeyCode::Enter),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("escape", KeyCode::Escape),
    ("tab", KeyCode::Tab),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("left", KeyCode::ArrowLeft),
    ("right", KeyCode::ArrowRight),
    ("up", KeyCode::ArrowUp),
    ("down", KeyCode::ArrowDown),
    ("plus", KeyCode::Equal),
    ("minus", KeyCode::Minus),
    ("comma", KeyCode::Comma),
    ("period", KeyCode::Period),
    ("semicolon", KeyCode::Semicolon),
    ("quote", KeyCode::Quote),
];

/// By letter.
const LETTERS: [KeyCode; 26] = {
    use KeyCode::*;
    [
        KeyA, KeyB, KeyC, KeyD, KeyE, KeyF, KeyG, KeyH, KeyI, KeyJ, KeyK, KeyL, KeyM, KeyN, KeyO, KeyP, KeyQ, KeyR,
        KeyS, KeyT, KeyU, KeyV, KeyW, KeyX, KeyY, KeyZ,
    ]
};
const DIGITS: [KeyCode; 10] = {
    use KeyCode::*;
    [Digit0, Digit1, Digit2, Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9]
};
const FUNCTIONS: [KeyCode; 12] = {
    use KeyCode::*;
    [F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12]
};
/// Held to fly: they cannot be given to actions without Control or Alt.
const FLY: [KeyCode; 6] = [KeyCode::KeyW, KeyCode::KeyA, KeyCode::KeyS, KeyCode::KeyD, KeyCode::KeyQ, KeyCode::KeyE];

/// A chord as people write it: `Ctrl+Shift+P`, `F7`, `Space`.
fn chord(text: &str) -> Result<Chord, String> {
    let parts: Vec<String> = text.split('+').map(|part| part.trim().to_lowercase()).collect();
    let (last, held) = parts.split_last().ok_or_else(|| "it is empty".to_owned())?;
    let [mut shift, mut control, mut alt] = [false; 3];
    for part in held {
        match part.as_str() {
            "shift" => shift = true,
            "ctrl" | "control" => control = true,
            "alt" => alt = true,
            other => return Err(format!("`{other}` is none of Ctrl, Shift and Alt")),
        }
    }
    let byte = |base: u8| last.as_bytes().first().map(|b| usize::from(b.wrapping_sub(base)));
    let key = match last.len() {
        1 => byte(b'a').and_then(|at| LETTERS.get(at)).or(byte(b'0').and_then(|at| DIGITS.get(at))).copied(),
        _ => {
            let function = last.strip_prefix('f').and_then(|n| n.parse::<usize>().ok()).and_then(|n| n.checked_sub(1));
            let named = || NAMES.iter().find(|(name, _)| name == last).map(|(_, key)| *key);
            function.and_then(|at| FUNCTIONS.get(at)).copied().or_else(named)
        }
    };
    let key = key.ok_or_else(|| {
        format!("there is no key `{last}`: a letter, a digit, F1 to F12, Space, Enter, Left, Home and so on")
    })?;
    if FLY.contains(&key) && !control && !alt {
        return Err("W, A, S, D, Q and E are held to fly: with Ctrl or Alt they are free".to_owned());
    }
    Ok(Chord { key, shift, control, alt })
}

impl KeyMap {
    /// The table as it is.
    fn built_in() -> KeyMap {
        let chords = BINDINGS.iter().flat_map(|b| {
            b.keys.iter().map(|&key| (Chord { key, shift: b.shift, control: b.control, alt: b.alt }, b.action))
        });
        KeyMap { chords: chords.collect(), printed: Vec::new() }
    }

    /// The table with what a file says in place of some of it; and what is wrong with the file.
    fn with(text: &str) -> (KeyMap, Vec<String>) {
        let mut map = KeyMap::built_in();
        let mut wrong = Vec::new();
        let wished: serde_json::Map<String, serde_json::Value> = match serde_json::from_str(text) {
            Ok(wished) => wished,
            Err(error) => return (map, vec![format!("it is no object of actions with lists of keys: {error}")]),
        };
        for (name, keys) in &wished {
            let Some(action) = BINDINGS.iter().map(|b| b.action).find(|action| format!("{action:?}") == *name) else {
                wrong.push(format!("{name}: there is no such action"));
                continue;
            };
            let Some(keys) = keys.as_array() else {
                wrong.push(format!("{name}: its keys are to be a list of texts"));
                continue;
            };
            let mut chords = Vec::new();
            for key in keys {
                match key.as_str().ok_or_else(|| "it is no text".to_owned()).and_then(chord) {
                    Ok(chord) => chords.push(chord),
                    Err(why) => wrong.push(format!("{name}: {key}: {why}")),
                }
            }
            if chords.is_empty() && !keys.is_empty() {
                // None of them can be used: the action keeps its own.
                continue;
            }
            // The action has these keys and no others, and what they did before is done by them no more.
            map.chords.retain(|(chord, bound)| *bound != action && !chords.contains(chord));
            map.chords.extend(chords.into_iter().map(|chord| (chord, action)));
            let texts: Vec<&str> =
                keys.iter().filter_map(|key| key.as_str()).filter(|text| chord(text).is_ok()).collect();
            map.printed.retain(|(other, _)| *other != action);
            map.printed.push((action, texts.join("  ")));
        }
        (map, wrong)
    }

    /// The action of a key, with what is held.
    pub fn action(&self, key: KeyCode, (shift, control, alt): (bool, bool, bool)) -> Option<Action> {
        let fits = |c: &Chord| {
            c.key == key && (c.control, c.alt) == (control, alt) && (c.shift == shift || !c.shift && !c.control)
        };
        // Later ones are those of a person.
        self.chords.iter().rev().find(|(chord, _)| fits(chord)).map(|(_, action)| *action)
    }

    /// The keys of an action for people.
    pub fn printed(&self, action: Action) -> &str {
        let own = self.printed.iter().find(|(other, _)| *other == action).map(|(_, text)| text.as_str());
        own.unwrap_or(action.binding().printed)
    }

    /// Whether an action has the keys of the table.
    pub fn is_built_in(&self, action: Action) -> bool {
        self.printed.iter().all(|(other, _)| *other != action)
    }
}

static MAP: OnceLock<KeyMap> = OnceLock::new();

/// The keys of this run.
pub fn map() -> &'static KeyMap {
    MAP.get_or_init(KeyMap::built_in)
}

/// Reads the file of a person, before the first key is asked for.
pub fn read() {
    let Some(path) = crate::config::folder().map(|folder| folder.join(FILE)) else { return };
    if let Some((map, wrong)) = read_from(&path) {
        for why in wrong {
            tracing::warn!("{}: {why}. The other keys are as they were", path.display());
        }
        tracing::debug!("keys: read from {}", path.display());
        let _ = MAP.set(map);
    }
}

fn read_from(path: &Path) -> Option<(KeyMap, Vec<String>)> {
    let size = std::fs::metadata(path).ok()?.len();
    if size > MOST_BYTES {
        return Some((KeyMap::built_in(), vec![format!("{size} bytes are more than keys take")]));
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Some(KeyMap::with(&text)),
        Err(error) => Some((KeyMap::built_in(), vec![error.to_string()])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: (bool, bool, bool) = (false, false, false);

    #[test]
    fn keys_of_a_person_take_the_place_of_the_tables() {
        let (map, wrong) = KeyMap::with(r#"{"Play": ["Ctrl+P", "f7"], "Next": ["Space"], "Mark": []}"#);
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(map.action(KeyCode::KeyP, (false, true, false)), Some(Action::Play));
        assert_eq!(map.action(KeyCode::F7, NONE), Some(Action::Play));
        // What had the key before has it no more.
        assert_eq!(map.action(KeyCode::Space, NONE), Some(Action::Next));
        assert_eq!(map.action(KeyCode::KeyN, NONE), None);
        assert_eq!(map.action(KeyCode::KeyK, NONE), None, "an action may have no key");
        assert_eq!((map.printed(Action::Play), map.printed(Action::Reset)), ("Ctrl+P  f7", "R"));
        assert!(map.is_built_in(Action::Reset) && !map.is_built_in(Action::Play));
    }

    #[test]
    fn what_is_wrong_is_told_and_the_table_stands() {
        for text in [
            "[]",
            "",
            "{\"Play\": 7}",
            "{\"Play\": [7]}",
            "{\"Fly\": [\"X\"]}",
            "{\"Play\": [\"Hyper+X\"]}",
            "{\"Play\": [\"\"]}",
            "{\"Play\": [\"W\"]}",
            "{\"Play\": [\"f99\"]}",
            "{\"Play\": [\"é\"]}",
            "{\"Play\": [\"+\"]}",
        ] {
            let (map, wrong) = KeyMap::with(text);
            assert_eq!(wrong.len(), 1, "{text}: {wrong:?}");
            assert_eq!(map.action(KeyCode::Space, NONE), Some(Action::Play), "{text}");
        }
    }

    #[test]
    fn the_table_means_what_it_says() {
        let map = KeyMap::built_in();
        for binding in BINDINGS {
            for &key in binding.keys {
                let held = (binding.shift, binding.control, binding.alt);
                assert_eq!(map.action(key, held), Some(binding.action), "{key:?}");
            }
        }
        assert_eq!(map.action(KeyCode::KeyN, (true, false, false)), Some(Action::Next), "Shift does not matter to it");
        assert_eq!(map.action(KeyCode::KeyO, (true, true, false)), Some(Action::OpenFolder));
    }
}
