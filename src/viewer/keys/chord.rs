//! Key chords as people write them, such as `Ctrl+S`: read from a file, and printed for the cheat sheet.

use bevy::prelude::KeyCode;

/// One key, with its modifier keys.
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

impl Chord {
    /// Chord of `?`. Its key differs between keyboards: the character decides, whichever key it comes from.
    pub const QUESTION: Chord = Chord { key: KeyCode::Slash, shift: true, control: false, alt: false };

    /// Text of the chord, as a person would write it.
    pub(super) fn printed(self) -> String {
        if self == Chord::QUESTION {
            return "?".to_owned();
        }
        let held = [(self.control, "Ctrl+"), (self.shift, "Shift+"), (self.alt, "Alt+")];
        let held: String = held.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        format!("{held}{}", printed(self.key))
    }
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
/// A chord as people write it: `Ctrl+Shift+P`, `F7`, `Space`.
pub(super) fn chord(text: &str) -> Result<Chord, String> {
    if text.trim() == "?" {
        return Ok(Chord::QUESTION);
    }
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
    Ok(Chord { key, shift, control, alt })
}

/// A key as a person would write it.
pub(super) fn printed(key: KeyCode) -> String {
    let letter = |at: usize, base: u8| char::from(base + at as u8).to_string();
    let named = || NAMES.iter().find(|(_, named)| *named == key).map(|(name, _)| name[..1].to_uppercase() + &name[1..]);
    LETTERS
        .iter()
        .position(|other| *other == key)
        .map(|at| letter(at, b'A'))
        .or_else(|| DIGITS.iter().position(|other| *other == key).map(|at| letter(at, b'0')))
        .or_else(|| FUNCTIONS.iter().position(|other| *other == key).map(|at| format!("F{}", at + 1)))
        .or_else(named)
        .unwrap_or_else(|| format!("{key:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/keys.md names every key that may be given, as it may be given.
    #[test]
    fn the_page_names_all_keys() {
        let page = include_str!("../../../docs/keys.md");
        let head = page.split("| name |").next().expect("what stands above the table");
        let words: Vec<&str> = head.split(|c: char| !c.is_alphanumeric()).collect();
        for (name, _) in NAMES {
            assert!(words.iter().any(|word| word.to_lowercase() == name), "docs/keys.md does not name {name}");
        }
    }
}
